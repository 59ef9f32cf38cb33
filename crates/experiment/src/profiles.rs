//! The stack profiles as data, for reports.

use std::collections::BTreeMap;

use headway_sctp::{Config, Knob, PROFILES};
use headway_tcp::{Config as TcpConfig, Profile};
use serde_json::Value;

/// Every stack profile with its knobs, each with value and source. Profiles of
/// TCP are named `tcp:` and their name, because stacks of both protocols have
/// the same names.
#[must_use]
pub fn stack_profiles() -> BTreeMap<String, Vec<Knob>> {
    let sctp = PROFILES
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), Config::knobs(name).ok()?)));
    let tcp = Profile::ALL
        .into_iter()
        .map(|profile| (format!("tcp:{}", profile.name()), tcp_knobs(profile)));
    sctp.chain(tcp).collect()
}

fn tcp_knobs(profile: Profile) -> Vec<Knob> {
    // As a RunSpec spells the values.
    let config: TcpConfig = profile.config();
    let spelled = serde_json::to_value(config.to_overrides()).unwrap_or_default();
    profile
        .lines()
        .into_iter()
        .map(|line| Knob {
            name: line.knob,
            value: match spelled.get(line.knob) {
                Some(Value::String(word)) => word.clone(),
                Some(value) => value.to_string(),
                None => line.value,
            },
            source: line.source,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_protocols_have_their_stacks() {
        let profiles = stack_profiles();
        assert!(profiles.contains_key("lksctp-2.6.11"));
        for profile in Profile::ALL {
            let knobs = &profiles[&format!("tcp:{}", profile.name())];
            assert_eq!(knobs.len(), TcpConfig::KNOBS.len());
        }
        let rfc = &profiles["tcp:rfc"];
        let value = |name| {
            rfc.iter()
                .find(|k| k.name == name)
                .map(|k| k.value.as_str())
        };
        assert_eq!(value("ack_policy"), Some("delayed-full-sized"));
        assert_eq!(value("rto_min_ns"), Some("1000000000"));
        assert_eq!(value("sack"), Some("true"));
    }
}
