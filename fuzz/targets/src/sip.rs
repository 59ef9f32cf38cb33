//! SIP: the messages of a stream taken apart, and a live user agent whose peer is the
//! fuzzer.

use std::net::{IpAddr, Ipv4Addr};

use bytes::Bytes;
use headway_apps::sip::message::{message_length, parse_message};
use headway_apps::sip::transaction::Timers;
use headway_apps::sip::ua::{AnswerPlan, CallPlan, Pace, UaConfig, Uac, Uas};
use headway_apps::{Application, Incoming, Outgoing, Peer, Reliability};
use headway_sansio::{Duration, Payload, Seed, Time};

use crate::script::Script;

/// The most beginnings of a stream that are tried.
const BEGINNINGS: usize = 512;

/// Where the first message of a stream ends does not depend on how much of the stream
/// is there: once it is said, it is said of every longer beginning as well. Of a long
/// stream not every beginning is tried.
///
/// # Panics
/// Where that does not hold.
pub fn sip_stream(data: &[u8]) {
    let mut said: Option<usize> = None;
    let step = data.len() / BEGINNINGS + 1;
    for end in (0..data.len()).step_by(step).chain([data.len()]) {
        let now = message_length(&data[..end]);
        match (said, now) {
            (None, Ok(length)) => said = length,
            // Nothing more comes of a stream that cannot be divided.
            (None, Err(error)) => {
                assert!(!error.to_string().is_empty());
                return;
            }
            (Some(before), now) => assert_eq!(now.ok().flatten(), Some(before), "at {end}"),
        }
    }
    if let Some(length) = said
        && let Some(message) = data.get(..length)
    {
        // Whole messages are read or refused; nothing of the next one is looked at.
        let _ = parse_message(message);
    }
}

/// Who calls and who is called.
#[derive(Debug)]
enum Agent {
    Caller(Box<Uac>),
    Called(Box<Uas>),
}

impl Agent {
    fn new(choice: u8) -> Self {
        let udp = choice & 2 != 0;
        let config = UaConfig {
            user: "fuzz".to_owned(),
            host: "192.0.2.1:5060".to_owned(),
            via: if udp { "UDP" } else { "TCP" },
            reliability: if udp {
                Reliability::Unreliable
            } else {
                Reliability::Reliable
            },
            timers: Timers::default(),
            seed: Seed::new(1),
        };
        if choice & 1 == 0 {
            let plan = AnswerPlan {
                ringing: choice & 4 != 0,
                ring_time: Duration::from_millis(u64::from(choice >> 4) * 100),
                refuse: (choice & 8 != 0).then_some(486),
                max_open: MOST_CALLS,
            };
            return Self::Called(Box::new(Uas::new(config, plan)));
        }
        let plan = CallPlan {
            target: "sip:peer@192.0.2.2".to_owned(),
            peer: Peer(0),
            pace: Pace::Even(1.0),
            duration: Duration::from_secs(4),
            calls: MOST_CALLS as u32,
            talk_time: Duration::from_secs(1),
            patience: Duration::from_secs(if choice & 8 == 0 { 60 } else { 1 }),
            offer: choice & 4 != 0,
        };
        Self::Caller(Box::new(Uac::new(
            config,
            plan,
            Seed::new(2).stream("calls"),
        )))
    }

    fn application(&mut self) -> &mut dyn Application {
        match self {
            Self::Caller(agent) => &mut **agent,
            Self::Called(agent) => &mut **agent,
        }
    }

    fn has_no_transactions(&self) -> bool {
        match self {
            Self::Caller(agent) => agent.has_no_transactions(),
            Self::Called(agent) => agent.has_no_transactions(),
        }
    }
}

/// The most calls that are open at a time.
const MOST_CALLS: usize = 4;
/// In this time everything that an agent waits for has come or is given up.
const PATIENCE: Duration = Duration::from_secs(600);

struct Table {
    now: Time,
    agent: Agent,
    /// What the agent sent last: a request other than ACK, and a response.
    request: Option<Bytes>,
    response: Option<Bytes>,
    /// The message that the agent got last, and whether it is one.
    heard: Bytes,
    sound: bool,
}

/// Reads `data` as a conversation with a user agent: its first byte says which, and
/// zero bytes part what follows. A piece is a message; or, by its first byte, a
/// response to the agent's last request, a request that goes on from its last response,
/// the message before once more, a failure of the transport, or time. The agent must survive it and answer what is a SIP message
/// with nothing that is none; and after a while nothing of its transactions is left.
///
/// # Panics
/// Where that does not hold.
pub fn sip_agent(data: &[u8]) {
    let mut script = Script(data);
    let mut agent = Agent::new(script.choice());
    agent.application().start(Time::ZERO);
    let mut table = Table {
        now: Time::ZERO,
        agent,
        request: None,
        response: None,
        heard: Bytes::new(),
        sound: true,
    };
    table.drain();
    for piece in script.0.split(|&byte| byte == 0) {
        table.play(piece);
    }
    let end = table.now + PATIENCE;
    while let Some(at) = table.agent.application().poll_timeout() {
        if at > end {
            break;
        }
        table.now = table.now.max(at);
        table.timers();
    }
    assert!(table.agent.has_no_transactions(), "something never ends");
}

impl Table {
    fn play(&mut self, piece: &[u8]) {
        match piece {
            [1, rest @ ..] => {
                if let Some(response) = self.response(rest) {
                    self.hear(response);
                }
            }
            [2, ..] => self.hear(self.heard.clone()),
            [3, ..] => {
                let (now, peer) = (self.now, Peer(0));
                match &mut self.agent {
                    Agent::Caller(agent) => agent.handle_transport_error(now, peer),
                    Agent::Called(agent) => agent.handle_transport_error(now, peer),
                }
                self.drain();
            }
            [4, wait, ..] => {
                self.now += Duration::from_millis(u64::from(*wait) * 100);
                self.timers();
            }
            [5, ..] => {
                if let Some(at) = self.agent.application().poll_timeout() {
                    self.now = self.now.max(at);
                    self.timers();
                }
            }
            [6, how, rest @ ..] => {
                if let Some(request) = self.request(*how, rest) {
                    self.hear(request);
                }
            }
            piece => self.hear(Bytes::copy_from_slice(piece)),
        }
    }

    /// A response to the agent's last request, as far as the script leaves it so: its
    /// status code is what the first two bytes say, and the rest follows the headers
    /// that a response copies (RFC 3261, section 8.2.6.2).
    fn response(&self, script: &[u8]) -> Option<Bytes> {
        let (&[high, low], rest) = script.split_first_chunk()?;
        let code = u16::from(high % 7) * 100 + u16::from(low % 100);
        let request = self.request.as_ref()?;
        let mut out = format!("SIP/2.0 {code} Because\r\n").into_bytes();
        for line in request.split(|&byte| byte == b'\n') {
            let copied = ["Via:", "From:", "Call-ID:", "CSeq:", "To:"]
                .iter()
                .any(|name| line.starts_with(name.as_bytes()));
            if copied {
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                out.extend_from_slice(line);
                let has_tag = line.windows(5).any(|w| w == b";tag=");
                if line.starts_with(b"To:") && !has_tag && code > 100 {
                    out.extend_from_slice(b";tag=peer");
                }
                out.extend_from_slice(b"\r\n");
            }
        }
        out.extend_from_slice(rest);
        if rest.is_empty() {
            out.extend_from_slice(b"Contact: <sip:peer@192.0.2.2>\r\n\r\n");
        }
        Some(out.into())
    }

    /// A request in the dialog of the agent's last response, or in its transaction.
    fn request(&self, how: u8, script: &[u8]) -> Option<Bytes> {
        const METHODS: [&str; 8] = [
            "ACK", "BYE", "CANCEL", "INVITE", "OPTIONS", "INFO", "ACK", "BYE",
        ];
        let method = METHODS[usize::from(how & 7)];
        let (same_branch, no_tag, later) = (how & 8 == 0, how & 16 != 0, how >> 5);
        let response = core::str::from_utf8(self.response.as_ref()?).ok()?;
        let mut out = format!("{method} sip:fuzz@192.0.2.1:5060 SIP/2.0\r\nMax-Forwards: 70\r\n");
        for line in response.lines() {
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            match name {
                "Via" if same_branch => out.push_str(line),
                "Via" => out.push_str(&format!("{line}x")),
                "To" if no_tag => out.push_str(line.split(";tag=").next().unwrap_or(line)),
                "From" | "To" | "Call-ID" => out.push_str(line),
                "CSeq" => {
                    let number = value.split_whitespace().next()?.parse::<u32>().ok()?;
                    let number = number.wrapping_add(u32::from(later));
                    out.push_str(&format!("CSeq: {number} {method}"));
                }
                _ => continue,
            }
            out.push_str("\r\n");
        }
        let mut out = out.into_bytes();
        out.extend_from_slice(if script.is_empty() { b"\r\n" } else { script });
        Some(out.into())
    }

    fn hear(&mut self, message: Bytes) {
        self.heard = message.clone();
        self.sound = parse_message(&message).is_ok();
        let incoming = Incoming {
            id: None,
            from: Peer(0),
            payload: Payload::Bytes(message),
        };
        let address = IpAddr::from(Ipv4Addr::new(192, 0, 2, 2));
        match &mut self.agent {
            Agent::Caller(agent) => agent.handle_message_from(self.now, address, &incoming),
            Agent::Called(agent) => agent.handle_message_from(self.now, address, &incoming),
        }
        self.drain();
        self.sound = true;
    }

    fn timers(&mut self) {
        let now = self.now;
        let agent = self.agent.application();
        agent.handle_timeout(now);
        let next = agent.poll_timeout();
        assert!(next.is_none_or(|at| at > now), "a timeout in the past");
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(Outgoing { payload, .. }) = self.agent.application().poll_output() {
            let Payload::Bytes(bytes) = payload else {
                panic!("an agent writes text");
            };
            let read = parse_message(&bytes);
            // What refuses a broken message repeats what is broken in it.
            assert!(
                read.is_ok() || !self.sound,
                "{read:?} of {:?}",
                String::from_utf8_lossy(&bytes)
            );
            if bytes.starts_with(b"SIP/2.0") {
                self.response = Some(bytes);
            } else if !bytes.starts_with(b"ACK") {
                self.request = Some(bytes);
            }
        }
        let open = match &mut self.agent {
            Agent::Caller(agent) => {
                while agent.poll_record().is_some() {}
                agent.open_records().count()
            }
            Agent::Called(agent) => {
                while agent.poll_record().is_some() {}
                agent.open_records().count()
            }
        };
        assert!(open <= MOST_CALLS, "{open} calls");
    }
}
