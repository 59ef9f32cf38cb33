//! A connection that sends, and a peer whose every acknowledgement is written by
//! hand. Segments are numbered from zero and all of the MSS's length.
#![allow(dead_code, reason = "each test file uses a part")]

use headway_sansio::{Duration, Payload, Seed, Time};
use headway_tcp::{
    Config, Connection, Flags, IdleRestart, Nagle, Options, Overrides, Profile, SackBlock, Segment,
    SeqNumber, WindowUnit,
};

pub(crate) const MSS: u32 = 1000;

pub(crate) struct Scripted {
    pub(crate) now: Time,
    pub(crate) tcp: Connection,
    first: SeqNumber,
    peer: SeqNumber,
}

/// Segments counted, a fixed window to start with, no Nagle: what the examples
/// of the RFCs assume.
pub(crate) fn config(window_segments: u32, overrides: &Overrides) -> Config {
    let mut config = Config {
        mss_bytes: MSS,
        nagle: Nagle::Off,
        window_unit: WindowUnit::Segments,
        idle_restart: IdleRestart::Off,
        initial_window_segments: window_segments,
        // No slow start.
        initial_ssthresh_segments: window_segments,
        send_buffer_bytes: u64::MAX,
        ..Profile::Rfc.config()
    };
    overrides.apply(&mut config);
    config
}

impl Scripted {
    pub(crate) fn new(config: Config) -> Self {
        let mut random = Seed::new(1).stream("client");
        let now = Time::ZERO;
        let sack = config.sack;
        let mut tcp = Connection::connect(now, config, &mut random, 1, 2);
        let syn = tcp.poll_transmit().expect("SYN");
        let mut scripted = Self {
            now,
            tcp,
            first: syn.seq.plus(1),
            peer: SeqNumber(7000),
        };
        scripted.wait(100);
        let mut answer = scripted.bare(0);
        answer.flags = Flags::SYN.with(Flags::ACK);
        answer.seq = SeqNumber(6999);
        answer.options = Options {
            mss: Some(MSS as u16),
            window_scale: Some(7),
            sack_permitted: sack,
            ..Options::default()
        };
        scripted.tcp.handle_input(scripted.now, &answer);
        assert_eq!(scripted.drain(), ".");
        // The window of later ACKs, so that none of them seems to change it.
        assert_eq!(scripted.ack(0, &[]), "");
        scripted
    }

    pub(crate) fn wait(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
    }

    fn bare(&self, segment: u64) -> Segment {
        Segment {
            source_port: 2,
            destination_port: 1,
            seq: self.peer,
            ack: self.first.at(segment * u64::from(MSS)),
            flags: Flags::ACK,
            window: 60_000,
            options: Options::default(),
            payload: Payload::Sized(0),
            offset: 0,
            retransmission: false,
        }
    }

    /// Writes so many full segments; returns what leaves.
    pub(crate) fn write(&mut self, segments: u32) -> String {
        self.write_bytes(segments * MSS)
    }

    pub(crate) fn write_bytes(&mut self, bytes: u32) -> String {
        self.tcp.write(self.now, Payload::Sized(bytes));
        self.drain()
    }

    /// An ACK that expects segment `next` and holds the segments of `held`;
    /// returns what leaves.
    pub(crate) fn ack(&mut self, next: u64, held: &[(u64, u64)]) -> String {
        let mut segment = self.bare(next);
        for &(start, end) in held {
            segment.options.sack.push(SackBlock {
                start: self.first.at(start * u64::from(MSS)),
                end: self.first.at(end * u64::from(MSS)),
            });
        }
        self.tcp.handle_input(self.now, &segment);
        self.drain()
    }

    /// As [`Scripted::ack`], in bytes.
    pub(crate) fn ack_bytes(&mut self, next: u64, held: &[(u64, u64)]) -> String {
        let mut segment = self.bare(0);
        segment.ack = self.first.at(next);
        for &(start, end) in held {
            segment.options.sack.push(SackBlock {
                start: self.first.at(start),
                end: self.first.at(end),
            });
        }
        self.tcp.handle_input(self.now, &segment);
        self.drain()
    }

    /// Goes to the next timer; returns milliseconds passed and what leaves.
    pub(crate) fn timer(&mut self) -> (u64, String) {
        let at = self.tcp.poll_timeout().expect("a timer runs");
        let ms = at.since(self.now).as_nanos() / 1_000_000;
        self.now = at;
        self.tcp.handle_timeout(at);
        (ms, self.drain())
    }

    /// What leaves: N and the number of a new segment, R of one sent again, a
    /// dot for an ACK alone.
    pub(crate) fn drain(&mut self) -> String {
        let mut out = Vec::new();
        while let Some(segment) = self.tcp.poll_transmit() {
            let number = segment.offset / u64::from(MSS);
            out.push(match (segment.payload.is_empty(), segment.retransmission) {
                (true, _) => ".".to_owned(),
                (false, true) => format!("R{number}"),
                (false, false) => format!("N{number}"),
            });
        }
        while self.tcp.poll_event().is_some() {}
        out.join(" ")
    }

    pub(crate) fn cwnd(&self) -> u64 {
        self.tcp.cwnd_segments()
    }

    pub(crate) fn ssthresh(&self) -> u64 {
        self.tcp.ssthresh_bytes().unwrap_or(0) / u64::from(self.tcp.mss_bytes())
    }
}
