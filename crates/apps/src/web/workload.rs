//! How users surf: the keys `competing.web` of a run.

use headway_sansio::{Duration, RandomStream};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::media::Pace;

/// When sessions begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// At a fixed interval, as the load generator httperf does by itself.
    #[default]
    Regular,
    /// As a Poisson process.
    Poisson,
}

/// How long a connection lasts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Connections {
    /// One for each session (HTTP/1.1, persistent).
    #[default]
    Session,
    /// One for each page.
    Page,
    /// One for each object (HTTP/1.0).
    Object,
}

/// Web surfing. Seed 0 tells pages, objects and their size, pauses and the rate
/// of sessions; how 85 kB divide over the objects, the law of arrivals, the
/// length of a request and the version of HTTP are not told.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WebWorkload {
    /// Mean number of sessions that begin in a second.
    pub session_rate: f64,
    /// When they begin.
    pub arrivals: Arrivals,
    /// Pages of a session.
    pub pages: u32,
    /// From the end of one page to the request of the next, in nanoseconds.
    pub think_time_ns: u64,
    /// Bytes of a page, divided evenly over its objects.
    pub page_bytes: u32,
    /// Objects of a page. The first is asked for alone, the others at once when
    /// it is there.
    pub objects: u32,
    /// Bytes of a request.
    pub request_bytes: u32,
    /// How long a connection lasts.
    pub connections: Connections,
}

impl Default for WebWorkload {
    fn default() -> Self {
        Self {
            session_rate: 1.0,
            arrivals: Arrivals::default(),
            pages: 3,
            think_time_ns: 10_000_000_000,
            page_bytes: 85_000,
            objects: 3,
            request_bytes: 100,
            connections: Connections::default(),
        }
    }
}

/// A key with a value that no run can have.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{key}: {problem}")]
pub struct WebError {
    /// The key, as a RunSpec spells it.
    pub key: &'static str,
    /// What is wrong and what would be right.
    pub problem: String,
}

const MAX_RATE: f64 = 1e4;

impl WebWorkload {
    /// Checks every value.
    ///
    /// # Errors
    /// The first key whose value no run can have.
    pub fn validate(&self) -> Result<(), WebError> {
        let wrong = |key, problem: String| Err(WebError { key, problem });
        if !(self.session_rate > 0.0 && self.session_rate <= MAX_RATE) {
            return wrong(
                "session_rate",
                format!(
                    "{} sessions per second; it must be above 0 and at most {MAX_RATE}",
                    self.session_rate
                ),
            );
        }
        for (key, value) in [
            ("pages", self.pages),
            ("objects", self.objects),
            ("request_bytes", self.request_bytes),
        ] {
            if value == 0 {
                return wrong(key, "must be at least 1".into());
            }
        }
        if self.page_bytes < self.objects {
            return wrong("page_bytes", "an object has at least 1 byte".into());
        }
        Ok(())
    }

    /// Length in bytes of object `number` of a page.
    #[must_use]
    pub fn object_bytes(&self, number: u32) -> u32 {
        let rest = self.page_bytes % self.objects;
        self.page_bytes / self.objects + u32::from(number < rest)
    }

    /// Time to think.
    #[must_use]
    pub fn think_time(&self) -> Duration {
        Duration::from_nanos(self.think_time_ns)
    }

    pub(super) fn pace(&self, duration: Duration, random: RandomStream) -> Pace {
        let gap = Duration::from_secs_f64(1.0 / self.session_rate);
        match self.arrivals {
            Arrivals::Regular => Pace::regular(gap, duration, random),
            Arrivals::Poisson => Pace::exponential(gap, duration, random),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_make_up_the_page() {
        for (page_bytes, objects) in [(85_000, 3), (100, 7), (5, 5)] {
            let web = WebWorkload {
                page_bytes,
                objects,
                ..WebWorkload::default()
            };
            let sum: u32 = (0..objects).map(|n| web.object_bytes(n)).sum();
            assert_eq!(sum, page_bytes);
        }
    }

    #[test]
    fn impossible_values_are_named() {
        let key = |change: fn(&mut WebWorkload)| {
            let mut web = WebWorkload::default();
            change(&mut web);
            web.validate().unwrap_err().key
        };
        assert_eq!(WebWorkload::default().validate(), Ok(()));
        assert_eq!(key(|w| w.session_rate = 0.0), "session_rate");
        assert_eq!(key(|w| w.session_rate = f64::NAN), "session_rate");
        assert_eq!(key(|w| w.objects = 0), "objects");
        assert_eq!(key(|w| w.page_bytes = 2), "page_bytes");
    }
}
