//! Settings of SCTP out of bytes.

use headway_sctp::{Config, InitLimit, Scheduler};

pub(crate) const RECEIVE_BUFFER_BYTES: u32 = 1 << 14;
pub(crate) const SEND_BUFFER_BYTES: u32 = 1 << 16;

/// Chooses the profile by the low three bits (with few INITs let in where they name none
/// and the first ones are taken again), I-DATA by the fourth, partial
/// reliability and delivery in parts by the fifth, and the scheduler by the rest.
pub(crate) fn config(choice: u8) -> Config {
    let profiles = headway_sctp::PROFILES;
    let profile = profiles[usize::from(choice & 7) % profiles.len()];
    let mut config = Config::profile(profile).expect("a listed profile");
    if usize::from(choice & 7) >= profiles.len() {
        config.init_limit = Some(InitLimit {
            per_second: 1,
            burst: 2,
        });
    }
    config.interleaving = choice & 8 != 0;
    config.partial_reliability = choice & 16 != 0;
    config.partial_delivery = choice & 16 != 0;
    if choice >> 5 > 0 {
        config.scheduler = scheduler(choice >> 5);
    }
    config.outbound_streams = 4;
    config.send_buffer_bytes = SEND_BUFFER_BYTES;
    config.receive_buffer_bytes = RECEIVE_BUFFER_BYTES;
    config
}

pub(crate) fn scheduler(choice: u8) -> Scheduler {
    Scheduler::ALL[usize::from(choice) % Scheduler::ALL.len()]
}
