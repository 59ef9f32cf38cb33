//! The size of packets that a path takes (RFC 9260, section 7.3), found by probes
//! that no DATA depends on (RFC 8899): a HEARTBEAT filled up with PAD (RFC 4820).

use headway_sansio::{Duration, Time};

use crate::Config;

/// What every path is thought to take (BASE_PLPMTU, RFC 8899, section 5.1.2).
const BASE_BYTES: u32 = 1200;
/// Losses after which a size counts as too large (MAX_PROBES, section 5.1.2).
const MAX_PROBES: u8 = 3;
/// How long an answer to a probe may take (PROBE_TIMER, section 5.1.1).
const PROBE_TIMER: Duration = Duration::from_secs(15);
/// When to try larger sizes again (PMTU_RAISE_TIMER, section 5.1.1).
const RAISE_TIMER: Duration = Duration::from_secs(600);
/// Sizes closer than this are not told apart.
const GRAIN_BYTES: u32 = 16;
/// Expiries of T3-rtx in a row that suggest that packets of this size have ceased
/// to get through (section 4.3).
const BLACK_HOLE: u32 = 3;

/// The path MTU as far as it is known, IP header included.
#[derive(Debug)]
pub(crate) struct PathMtu {
    /// What is used.
    current: u32,
    /// The least size that is known, or thought, not to get through.
    too_large: u32,
    /// The local interface takes no more.
    most: u32,
    /// The probe that is under way: nonce, size, and how often it was lost.
    probe: Option<Probe>,
    lost: u8,
    /// When a probe is lost, or the next one goes.
    pub(crate) due: Time,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Probe {
    nonce: u64,
    bytes: u32,
}

impl PathMtu {
    pub(crate) fn new(config: &Config) -> Self {
        let most = config.mtu_bytes;
        Self {
            current: if config.mtu_discovery {
                most.min(BASE_BYTES)
            } else {
                most
            },
            too_large: most + 1,
            most,
            probe: None,
            lost: 0,
            due: Time::FAR_FUTURE,
        }
    }

    pub(crate) const fn bytes(&self) -> u32 {
        self.current
    }

    /// Begins to look for the largest size.
    pub(crate) fn search(&mut self, now: Time) {
        self.too_large = self.most + 1;
        self.lost = 0;
        self.probe = None;
        self.due = if self.is_found() {
            Time::FAR_FUTURE
        } else {
            now
        };
    }

    pub(crate) fn stop(&mut self) {
        self.due = Time::FAR_FUTURE;
        self.probe = None;
    }

    const fn is_found(&self) -> bool {
        self.too_large - self.current <= GRAIN_BYTES || self.current >= self.most
    }

    /// The size to try next: the most there can be, and then always the middle.
    const fn candidate(&self) -> u32 {
        if self.too_large > self.most {
            self.most
        } else {
            (self.current + (self.too_large - self.current) / 2) & !3
        }
    }

    /// The timer expired: a probe is lost, or one is to go. Says of how many bytes.
    pub(crate) fn timeout(&mut self, now: Time, nonce: u64) -> Option<u32> {
        if let Some(probe) = self.probe.take() {
            self.lost += 1;
            if self.lost >= MAX_PROBES {
                self.lost = 0;
                self.too_large = probe.bytes;
            }
        }
        if self.is_found() {
            self.rest(now);
            return None;
        }
        let bytes = self.candidate();
        self.probe = Some(Probe { nonce, bytes });
        self.due = now + PROBE_TIMER;
        Some(bytes)
    }

    /// All is known for now; a path that is narrower than the interface may
    /// become wider.
    fn rest(&mut self, now: Time) {
        self.due = if self.current >= self.most {
            Time::FAR_FUTURE
        } else {
            now + RAISE_TIMER
        };
        self.too_large = self.most + 1;
    }

    /// An answer came. Says whether it was to the probe.
    pub(crate) fn answered(&mut self, now: Time, nonce: u64) -> bool {
        let Some(probe) = self.probe.filter(|probe| probe.nonce == nonce) else {
            return false;
        };
        self.probe = None;
        self.lost = 0;
        self.current = self.current.max(probe.bytes);
        if self.is_found() {
            self.rest(now);
        } else {
            self.due = now;
        }
        true
    }

    /// A router said that no packet above `bytes` gets through (section 4.6.1; no
    /// smaller than IPv4's least, RFC 1191). Says whether that is news.
    pub(crate) fn too_big(&mut self, now: Time, bytes: u32) -> bool {
        let probed = self.probe.map_or(0, |probe| probe.bytes);
        if bytes < 68 || bytes >= self.current.max(probed) {
            return false;
        }
        self.current = self.current.min(bytes);
        self.too_large = bytes + 1;
        self.probe = None;
        self.lost = 0;
        self.due = now + RAISE_TIMER;
        true
    }

    /// T3-rtx expired so often in a row: perhaps large packets vanish.
    pub(crate) fn suspect(&mut self, now: Time, errors: u32) -> bool {
        if errors < BLACK_HOLE || self.current <= BASE_BYTES {
            return false;
        }
        self.current = BASE_BYTES;
        self.search(now + PROBE_TIMER);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches on a path that takes `width` bytes; gives the size found and the
    /// probes sent.
    fn search(width: u32, most: u32) -> (u32, Vec<u32>) {
        let config = Config {
            mtu_bytes: most,
            mtu_discovery: true,
            ..Config::default()
        };
        let mut mtu = PathMtu::new(&config);
        let mut now = Time::ZERO;
        mtu.search(now);
        let mut probes = Vec::new();
        while mtu.due < Time::ZERO + Duration::from_secs(500) {
            now = now.max(mtu.due);
            let nonce = probes.len() as u64;
            if let Some(bytes) = mtu.timeout(now, nonce) {
                probes.push(bytes);
                if bytes <= width {
                    assert!(!mtu.answered(now, nonce + 1));
                    assert!(mtu.answered(now, nonce));
                }
            }
        }
        (mtu.bytes(), probes)
    }

    #[test]
    fn the_widest_is_found_at_once() {
        assert_eq!(search(1500, 1500), (1500, vec![1500]));
        assert_eq!(search(9000, 9000), (9000, vec![9000]));
    }

    #[test]
    fn a_narrow_path_is_found_by_halving() {
        let (found, probes) = search(1400, 1500);
        assert!((1400 - GRAIN_BYTES..=1400).contains(&found), "{found}");
        assert_eq!(probes[..4], [1500, 1500, 1500, 1348]);
        let (found, _) = search(1200, 1500);
        assert_eq!(found, 1200);
    }

    #[test]
    fn routers_and_black_holes_are_believed() {
        let mut mtu = PathMtu::new(&Config::default());
        assert_eq!(mtu.bytes(), 1500);
        assert!(!mtu.too_big(Time::ZERO, 1500) && !mtu.too_big(Time::ZERO, 20));
        assert!(mtu.too_big(Time::ZERO, 1400));
        assert_eq!(mtu.bytes(), 1400);
        assert!(!mtu.suspect(Time::ZERO, 2));
        assert!(mtu.suspect(Time::ZERO, 3) && !mtu.suspect(Time::ZERO, 4));
        assert_eq!(mtu.bytes(), BASE_BYTES);
    }
}
