//! The stack profiles as data, for reports.

use std::collections::BTreeMap;

use headway_sctp::{Config, Knob, PROFILES};

/// Every stack profile with its knobs, each with value and source.
#[must_use]
pub fn stack_profiles() -> BTreeMap<&'static str, Vec<Knob>> {
    PROFILES
        .iter()
        .filter_map(|name| Some((*name, Config::knobs(name).ok()?)))
        .collect()
}
