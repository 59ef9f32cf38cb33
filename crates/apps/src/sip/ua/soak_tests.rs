//! Agents that run for long keep no more than their open calls need.

use std::net::IpAddr;

use headway_sansio::{Chance, Duration, Seed, Time};

use super::*;
use crate::pipe::Pipe;
use crate::sip::transaction::Timers;
use crate::{Application, Incoming, Outgoing, Peer, Reliability};

/// Short timers, so that many calls come and go: 64*T1 is 640 ms.
const TIMERS: Timers = Timers {
    t1: Duration::from_millis(10),
    t2: Duration::from_millis(40),
    t4: Duration::from_millis(50),
};

const CALLS: u32 = 4_000;

/// What a watched agent has beside the contract.
trait Agent: Application {
    fn deliver(&mut self, now: Time, address: IpAddr, message: &Incoming);
    fn entries(&self) -> usize;
    /// Whether a record was there, which is taken out.
    fn take_record(&mut self) -> bool;
}

impl Agent for Uac {
    fn deliver(&mut self, now: Time, address: IpAddr, message: &Incoming) {
        self.handle_message_from(now, address, message);
    }

    fn entries(&self) -> usize {
        Self::entries(self)
    }

    fn take_record(&mut self) -> bool {
        self.poll_record().is_some()
    }
}

impl Agent for Uas {
    fn deliver(&mut self, now: Time, address: IpAddr, message: &Incoming) {
        self.handle_message_from(now, address, message);
    }

    fn entries(&self) -> usize {
        Self::entries(self)
    }

    fn take_record(&mut self) -> bool {
        self.poll_record().is_some()
    }
}

/// An agent whose records are taken out as they come, and whose every message
/// comes from another address and peer.
struct Watched<A> {
    agent: A,
    /// Calls that begin per second.
    rate: f64,
    records: u32,
    messages: u32,
    /// The most entries while each quarter of the calls began, and after.
    most: [usize; 4],
}

impl<A: Agent> Watched<A> {
    fn new(agent: A, rate: f64) -> Self {
        Self {
            agent,
            rate,
            records: 0,
            messages: 0,
            most: [0; 4],
        }
    }

    fn look(&mut self, now: Time) {
        while self.agent.take_record() {
            self.records += 1;
        }
        let begun = now.since(Time::ZERO).as_secs_f64() * self.rate;
        let quarter = ((4.0 * begun / f64::from(CALLS)) as usize).min(3);
        self.most[quarter] = self.most[quarter].max(self.agent.entries());
    }
}

impl<A: Agent> Application for Watched<A> {
    fn start(&mut self, now: Time) {
        self.agent.start(now);
    }

    fn handle_message(&mut self, now: Time, message: Incoming) {
        self.messages += 1;
        let address = IpAddr::from(self.messages.to_be_bytes());
        let from = Peer(self.messages);
        let message = Incoming { from, ..message };
        self.agent.deliver(now, address, &message);
        self.look(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.agent.handle_timeout(now);
        self.look(now);
    }

    fn poll_output(&mut self) -> Option<Outgoing> {
        self.agent.poll_output()
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.agent.poll_timeout()
    }

    fn is_done(&self) -> bool {
        self.agent.is_done()
    }
}

fn config(name: &str, via: &'static str, reliability: Reliability) -> UaConfig {
    UaConfig {
        user: name.into(),
        host: format!("{name}.test"),
        via,
        reliability,
        timers: TIMERS,
        seed: Seed::new(9).derive(name),
    }
}

#[test]
fn state_does_not_grow_with_the_calls_that_were() {
    // A refused INVITE stays for timer D, which is 32 s whatever T1 is: a quarter
    // of those calls takes 40 s.
    for (via, reliability, loss, refuse, rate) in [
        ("UDP", Reliability::Unreliable, 0.05, None, 200.0),
        ("UDP", Reliability::Unreliable, 0.05, Some(486), 25.0),
        ("TCP", Reliability::Reliable, 0.0, None, 200.0),
    ] {
        let plan = CallPlan {
            target: "sip:bo@bo.test".into(),
            peer: Peer(0),
            pace: Pace::Even(rate),
            duration: Duration::MAX,
            calls: CALLS,
            talk_time: Duration::from_millis(300),
            // Longer than the test: what is left of this timer must go as well.
            patience: Duration::from_secs(3_600),
            offer: true,
        };
        let answer = AnswerPlan {
            ringing: true,
            ring_time: Duration::from_millis(100),
            refuse,
            max_open: usize::MAX,
        };
        let uac = Uac::new(
            config("ann", via, reliability),
            plan,
            Seed::new(4).stream("arrivals"),
        );
        let mut caller = Watched::new(uac, rate);
        let mut answerer = Watched::new(Uas::new(config("bo", via, reliability), answer), rate);
        let mut pipe = Pipe::new(Duration::from_millis(2), Seed::new(4).stream("pipe"));
        let chance = Chance::new(loss);
        pipe.loss = Box::new(move |random, _, _| random.happens(chance));
        pipe.run(&mut caller, &mut answerer);

        assert_eq!(caller.records, CALLS);
        let taken = if refuse.is_some() { 0 } else { CALLS };
        // Of a call whose every INVITE is lost the answerer hears nothing.
        assert!(
            taken - answerer.records.min(taken) <= 2,
            "{}",
            answerer.records
        );
        assert_eq!((caller.agent.entries(), answerer.agent.entries()), (0, 0));

        // The first quarter of the calls fills the tables; the others add nothing
        // but what chance makes of the number of open calls. A call that left one
        // entry behind would add a thousand in each quarter.
        for [first, rest @ ..] in [caller.most, answerer.most] {
            assert!(
                rest.iter().all(|most| *most < first + first / 4),
                "{first} {rest:?}"
            );
        }
    }
}
