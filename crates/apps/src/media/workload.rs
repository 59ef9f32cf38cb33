//! What media flows send: the `workload` keys of a run of the kind `media`.

use headway_sansio::{Duration, RandomStream};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::pace::Pace;

/// Which ends of a flow send.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MediaDirection {
    /// The first one.
    #[default]
    Forward,
    /// Both, independently.
    Both,
}

/// A codec, by what loss costs with it (ITU-T G.113, Appendix I).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Codec {
    /// G.711 without concealment of losses.
    G711,
    /// G.711 with the concealment of its Appendix I.
    G711Plc,
    /// G.729A with voice activity detection.
    G729a,
}

/// Speech with pauses: talk spurts and silences of exponential lengths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Silence {
    /// Mean length of a talk spurt in nanoseconds.
    pub talk_mean_ns: u64,
    /// Mean length of a silence in nanoseconds.
    pub silence_mean_ns: u64,
    /// Between the packets that keep the window open in a silence; `None`: none
    /// are sent. Seed 4 (section 8.2) asks for three in a round-trip time.
    pub filler_interval_ns: Option<u64>,
    /// Payload of such a packet in bytes. Seed 4: one will do.
    pub filler_payload_bytes: u32,
}

impl Default for Silence {
    /// The artificial conversational speech of ITU-T P.59, Table 1: talk spurts
    /// of 1.004 s and pauses of 1.587 s on average.
    fn default() -> Self {
        Self {
            talk_mean_ns: 1_004_000_000,
            silence_mean_ns: 1_587_000_000,
            filler_interval_ns: None,
            filler_payload_bytes: 1,
        }
    }
}

/// Media flows: the `workload` keys of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MediaWorkload {
    /// Flows under study, each with a transport of its own.
    pub flows: u32,
    /// Which ends send.
    pub direction: MediaDirection,
    /// Sound or picture in a packet, in bytes.
    pub payload_bytes: u32,
    /// Header before it, in bytes: that of RTP (RFC 3550, section 5.1). The
    /// framing that a byte stream needs is the transport's.
    pub header_bytes: u32,
    /// Between packets, in nanoseconds.
    pub interval_ns: u64,
    /// Pauses, where there are any.
    pub silence: Option<Silence>,
    /// When a packet is played, counted from when it was handed over, in
    /// nanoseconds; `None`: 1.5 round-trip times of the empty path and three
    /// intervals, as seed 4 advises (section 6.6).
    pub playout_ns: Option<u64>,
    /// The codec, where the flows are voice and are to be rated.
    pub codec: Option<Codec>,
}

impl Default for MediaWorkload {
    /// Seed 4's voice: 160 bytes every 20 ms, one way.
    fn default() -> Self {
        Self {
            flows: 1,
            direction: MediaDirection::Forward,
            payload_bytes: 160,
            header_bytes: 12,
            interval_ns: 20_000_000,
            silence: None,
            playout_ns: None,
            codec: None,
        }
    }
}

/// A workload key with a value that no run can have.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("workload.{key}: {problem}")]
pub struct MediaError {
    /// The key, as a RunSpec spells it.
    pub key: &'static str,
    /// What is wrong and what would be right.
    pub problem: String,
}

/// Flows are numbered with 16 bits, and a run of more would not end.
const MAX_FLOWS: u32 = 1000;
/// Longest packet in bytes: what fits a UDP datagram over IPv4, and the length
/// field of RFC 4571.
const MAX_PACKET_BYTES: u32 = 65_507;

impl MediaWorkload {
    /// Checks every value.
    ///
    /// # Errors
    /// The first key whose value no run can have.
    pub fn validate(&self) -> Result<(), MediaError> {
        let wrong = |key, problem: String| Err(MediaError { key, problem });
        if !(1..=MAX_FLOWS).contains(&self.flows) {
            return wrong(
                "flows",
                format!("{}; it must be 1 to {MAX_FLOWS}", self.flows),
            );
        }
        let silent = self.silence.map_or(1, |s| s.filler_payload_bytes);
        for (key, payload) in [
            ("payload_bytes", self.payload_bytes),
            ("silence.filler_payload_bytes", silent),
        ] {
            let packet = payload.saturating_add(self.header_bytes);
            if packet == 0 || packet > MAX_PACKET_BYTES {
                return wrong(
                    key,
                    format!(
                        "a packet of {packet} bytes with its header; it must be 1 to {MAX_PACKET_BYTES}"
                    ),
                );
            }
        }
        if self.interval_ns == 0 {
            return wrong("interval_ns", "must be above 0".into());
        }
        if let Some(silence) = &self.silence {
            if silence.talk_mean_ns == 0 {
                return wrong("silence.talk_mean_ns", "must be above 0".into());
            }
            if silence.filler_interval_ns == Some(0) {
                return wrong("silence.filler_interval_ns", "must be above 0".into());
            }
        }
        Ok(())
    }

    /// Length of a packet in bytes, as the transport gets it.
    #[must_use]
    pub fn packet_bytes(&self) -> u32 {
        self.header_bytes + self.payload_bytes
    }

    /// Length of a packet of a silence in bytes.
    #[must_use]
    pub fn filler_bytes(&self) -> u32 {
        self.header_bytes + self.silence.map_or(0, |s| s.filler_payload_bytes)
    }

    /// Between packets.
    #[must_use]
    pub fn interval(&self) -> Duration {
        Duration::from_nanos(self.interval_ns)
    }

    /// The times at which an end sends, for `duration` from its start.
    #[must_use]
    pub fn pace(&self, duration: Duration, random: RandomStream) -> Pace {
        match self.silence {
            None => Pace::regular(self.interval(), duration, random),
            Some(silence) => Pace::with_pauses(self.interval(), silence, duration, random),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flows_of_seed_4() {
        // Table of flow types: payload over interval; the packet with 2 bytes of
        // framing is 174, 724 and 1448.
        for (payload, packet, kbps) in [(160, 174, 64.0), (710, 724, 284.0), (1434, 1448, 573.6)] {
            let flow = MediaWorkload {
                payload_bytes: payload,
                ..MediaWorkload::default()
            };
            assert_eq!(flow.packet_bytes() + 2, packet);
            let rate = f64::from(payload) * 8.0 / flow.interval().as_secs_f64() / 1e3;
            assert!((rate - kbps).abs() < 1e-9);
            assert_eq!(flow.validate(), Ok(()));
        }
    }

    #[test]
    fn impossible_values_are_named() {
        let key = |change: fn(&mut MediaWorkload)| {
            let mut workload = MediaWorkload::default();
            change(&mut workload);
            workload.validate().unwrap_err().key
        };
        assert_eq!(key(|w| w.flows = 0), "flows");
        assert_eq!(key(|w| w.interval_ns = 0), "interval_ns");
        assert_eq!(key(|w| w.payload_bytes = 70_000), "payload_bytes");
        let silence = |change: fn(&mut Silence)| {
            let mut silence = Silence::default();
            change(&mut silence);
            let workload = MediaWorkload {
                silence: Some(silence),
                ..MediaWorkload::default()
            };
            workload.validate().unwrap_err().key
        };
        assert_eq!(silence(|s| s.talk_mean_ns = 0), "silence.talk_mean_ns");
        assert_eq!(
            silence(|s| s.filler_interval_ns = Some(0)),
            "silence.filler_interval_ns"
        );
    }
}
