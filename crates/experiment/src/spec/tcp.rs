//! The key `transport` of a RunSpec for the kinds `tcp`, `tcp-parallel` and
//! `tcp-split`.

use headway_tcp::{Config, Overrides, Profile};
use serde::Deserialize;

use headway_apps::sip::Content;

use super::{SpecError, WorkloadSpec};

/// The keys of `transport` for messages over TCP, whatever the kind.
///
/// The kinds differ by what they divide: `tcp` nothing, `tcp-parallel` the
/// messages over connections, `tcp-split` each message into pieces. Where the
/// first is named the pieces may be set too, so that both go together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TcpTransport {
    /// Name of a stack profile.
    pub profile: String,
    /// Single knobs over the profile.
    pub tcp: Overrides,
    /// Bytes of framing before each piece; `None`: none for SIP, whose messages
    /// tell their own length (RFC 3261, section 18.3), and two for all else (RFC
    /// 4571).
    pub frame_bytes: Option<u32>,
    /// What becomes of a message that the send buffer has no room for.
    pub when_full: WhenFull,
    /// Above so many bytes waiting at the sender a new message is not sent at
    /// all (seed 4, section 8.2: proactive drop); `None`: never.
    pub drop_above_bytes: Option<u64>,
    /// Deliver messages that lie whole beyond a gap (seed 4, section 8.2).
    pub out_of_order: bool,
    /// Connections, for the kind `tcp-parallel`; `None`: five.
    pub connections: Option<u16>,
    /// Which connection a message takes.
    pub schedule: Schedule,
    /// Bring what comes over several connections into order again.
    pub resequence: bool,
    /// Pieces of each message; `None`: two for the kind `tcp-split`, else one.
    pub pieces: Option<u16>,
    /// Between the pieces of a message, in nanoseconds; zero: all at once.
    pub piece_gap_ns: u64,
}

/// The values of `transport.when_full`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// It waits in the application, as behind a blocking socket.
    #[default]
    Wait,
    /// It is dropped and counted, as a non-blocking socket makes it.
    Drop,
}

/// The values of `transport.schedule`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// All in turn, whatever their state (seed 4, section 7.2: blind).
    #[default]
    RoundRobin,
    /// The one with the least in its send buffer, of those not in a time-out
    /// (seed 4, section 7.2: intelligent).
    ShortestQueue,
}

impl Default for TcpTransport {
    fn default() -> Self {
        Self {
            profile: Profile::Rfc.name().into(),
            tcp: Overrides::default(),
            frame_bytes: None,
            when_full: WhenFull::default(),
            drop_above_bytes: None,
            out_of_order: false,
            connections: None,
            schedule: Schedule::default(),
            resequence: true,
            pieces: None,
            piece_gap_ns: 0,
        }
    }
}

/// Which of the kinds of TCP transports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TcpKind {
    /// Whole messages over one connection.
    Single,
    /// Over several.
    Parallel,
    /// In several pieces.
    Split,
}

/// RTP over TCP's framing (RFC 4571, section 2).
const RFC_4571: u32 = 2;
/// Ports of one host are taken in a row.
const MAX_CONNECTIONS: u16 = 64;
const MAX_PIECES: u16 = 64;

impl TcpTransport {
    /// The knobs of each connection.
    ///
    /// # Errors
    /// Where there is no such profile.
    pub fn config(&self) -> Result<Config, SpecError> {
        config(&self.profile, &self.tcp, "transport.profile")
    }

    /// Connections of this kind.
    #[must_use]
    pub fn connections(&self, kind: TcpKind) -> u16 {
        let usual = if kind == TcpKind::Parallel { 5 } else { 1 };
        self.connections.unwrap_or(usual)
    }

    /// Pieces of a message of this kind.
    #[must_use]
    pub fn pieces(&self, kind: TcpKind) -> u16 {
        let usual = if kind == TcpKind::Split { 2 } else { 1 };
        self.pieces.unwrap_or(usual)
    }

    /// Bytes of framing before each piece.
    #[must_use]
    pub fn frame(&self, sip: bool) -> u32 {
        self.frame_bytes.unwrap_or(if sip { 0 } else { RFC_4571 })
    }

    /// Checks the keys for the messages of a workload.
    pub(super) fn validate(&self, kind: TcpKind, workload: &WorkloadSpec) -> Result<(), SpecError> {
        let longest = workload.longest_message();
        self.config()?;
        let wrong =
            |key: &str, problem: String| Err(SpecError::new(format!("transport.{key}"), problem));
        let (connections, pieces) = (self.connections(kind), self.pieces(kind));
        if !(1..=MAX_CONNECTIONS).contains(&connections) {
            return wrong(
                "connections",
                format!("{connections}; it must be 1 to {MAX_CONNECTIONS}"),
            );
        }
        if kind != TcpKind::Parallel && connections != 1 {
            return wrong(
                "connections",
                "more than one is the kind tcp-parallel".into(),
            );
        }
        if !(1..=MAX_PIECES).contains(&pieces) {
            return wrong("pieces", format!("{pieces}; it must be 1 to {MAX_PIECES}"));
        }
        if kind == TcpKind::Single && pieces != 1 {
            return wrong("pieces", "more than one is the kind tcp-split".into());
        }
        let frame = self.frame(workload.is_sip());
        if !matches!(frame, 0 | 2 | 4) {
            return wrong(
                "frame_bytes",
                format!("{frame}; a length field has 0, 2 or 4 bytes"),
            );
        }
        if frame == 2 && longest > u32::from(u16::MAX) {
            return wrong("frame_bytes", format!("messages of {longest} bytes need 4"));
        }
        let full = workload.content() == Content::Full;
        if full && (connections != 1 || pieces != 1 || self.out_of_order) {
            return wrong(
                "kind",
                "messages with full content go whole, in order and over one connection".into(),
            );
        }
        Ok(())
    }
}

/// A profile of TCP with single knobs laid over it. `key` names the profile's.
pub(super) fn config(profile: &str, overrides: &Overrides, key: &str) -> Result<Config, SpecError> {
    let Some(profile) = Profile::by_name(profile) else {
        let known: Vec<&str> = Profile::ALL.iter().map(|p| p.name()).collect();
        return Err(SpecError::new(
            key,
            format!("no TCP profile {profile}; profiles: {}", known.join(", ")),
        ));
    };
    Ok(Config::new(profile, overrides))
}
