//! The key `competing` of a RunSpec: who else uses the path.

use headway_apps::web::WebWorkload;
use headway_tcp::{Config, Overrides, Profile};
use serde::Deserialize;

use super::SpecError;
use super::tcp::config;

/// Traffic that shares the path with the flows under study, in both its
/// directions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Competing {
    /// How long it goes on before the flows under study begin, in nanoseconds.
    pub settle_ns: u64,
    /// File transfers without end.
    pub bulk: Option<Bulk>,
    /// Users who surf.
    pub web: Option<Web>,
    /// Connections with a short message now and then.
    pub messages: Option<Messages>,
}

/// Where competing traffic goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Towards {
    /// As the first direction of the path.
    #[default]
    Forward,
    /// Against it.
    Reverse,
    /// The first, third, ... flow forward, the others in reverse.
    Both,
}

/// The TCP of competing traffic.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RivalTcp {
    /// Name of a stack profile.
    pub profile: String,
    /// Single knobs over the profile. The send buffer has room for all that is
    /// written unless `send_buffer_bytes` is among them.
    pub tcp: Overrides,
}

/// Bulk transfers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bulk {
    /// How many.
    pub flows: u32,
    /// Where the data go.
    pub direction: Towards,
    /// The receivers' buffer in bytes, which bounds what is under way; `None`:
    /// that of the profile.
    pub receive_window_bytes: Option<u64>,
    /// They begin at random within so many nanoseconds.
    pub start_spread_ns: u64,
    /// Their TCP.
    pub stack: RivalTcp,
}

/// Web surfing.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Web {
    /// What users do.
    pub users: WebWorkload,
    /// Where the pages go.
    pub direction: Towards,
    /// Their TCP.
    pub stack: RivalTcp,
}

/// Short messages at exponential intervals, each flow over one connection.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Messages {
    /// How many flows.
    pub flows: u32,
    /// Where the messages go.
    pub direction: Towards,
    /// Bytes of a message.
    pub message_bytes: u32,
    /// Mean time between messages of a flow, in nanoseconds.
    pub mean_interval_ns: u64,
    /// They begin at random within so many nanoseconds.
    pub start_spread_ns: u64,
    /// Their TCP.
    pub stack: RivalTcp,
}

const SECOND: u64 = 1_000_000_000;

impl Default for Competing {
    fn default() -> Self {
        Self {
            settle_ns: 10 * SECOND,
            bulk: None,
            web: None,
            messages: None,
        }
    }
}

impl Default for RivalTcp {
    fn default() -> Self {
        Self {
            profile: Profile::Rfc.name().into(),
            tcp: Overrides::default(),
        }
    }
}

impl Default for Bulk {
    fn default() -> Self {
        Self {
            flows: 1,
            direction: Towards::default(),
            receive_window_bytes: None,
            start_spread_ns: SECOND,
            stack: RivalTcp::default(),
        }
    }
}

impl Default for Messages {
    /// The web flows of seed 4 (section 5.3): 512 bytes every 50 ms on average.
    fn default() -> Self {
        Self {
            flows: 1,
            direction: Towards::default(),
            message_bytes: 512,
            mean_interval_ns: 50_000_000,
            start_spread_ns: SECOND,
            stack: RivalTcp::default(),
        }
    }
}

impl Towards {
    /// Whether flow `number` goes in reverse.
    #[must_use]
    pub fn reverse(self, number: u32) -> bool {
        match self {
            Self::Forward => false,
            Self::Reverse => true,
            Self::Both => number % 2 == 1,
        }
    }
}

impl RivalTcp {
    /// The knobs of a connection. `key` is that of the table.
    ///
    /// # Errors
    /// Where there is no such profile.
    pub fn config(&self, key: &str) -> Result<Config, SpecError> {
        let mut config = config(&self.profile, &self.tcp, &format!("{key}.stack.profile"))?;
        if self.tcp.send_buffer_bytes.is_none() {
            config.send_buffer_bytes = u64::MAX;
        }
        Ok(config)
    }
}

impl Bulk {
    /// The knobs of a connection.
    ///
    /// # Errors
    /// Where there is no such profile.
    pub fn config(&self) -> Result<Config, SpecError> {
        let mut config = self.stack.config("competing.bulk")?;
        if let Some(window) = self.receive_window_bytes {
            config.receive_buffer_bytes = window;
        }
        Ok(config)
    }
}

/// Each flow is two hosts with an address of their own.
const MAX_FLOWS: u32 = 10_000;

impl Competing {
    pub(super) fn validate(&self) -> Result<(), SpecError> {
        let wrong =
            |key: &str, problem: &str| Err(SpecError::new(format!("competing.{key}"), problem));
        if let Some(bulk) = &self.bulk {
            bulk.config()?;
            if bulk.flows > MAX_FLOWS {
                return wrong("bulk.flows", "must be at most 10000");
            }
            if bulk.receive_window_bytes == Some(0) {
                return wrong("bulk.receive_window_bytes", "must be above 0");
            }
        }
        if let Some(web) = &self.web {
            web.stack.config("competing.web")?;
            web.users
                .validate()
                .map_err(|e| SpecError::new(format!("competing.web.users.{}", e.key), e.problem))?;
            if web.direction == Towards::Both {
                return wrong("web.direction", "forward or reverse");
            }
        }
        if let Some(messages) = &self.messages {
            messages.stack.config("competing.messages")?;
            if messages.flows > MAX_FLOWS {
                return wrong("messages.flows", "must be at most 10000");
            }
            if messages.message_bytes == 0 {
                return wrong("messages.message_bytes", "must be above 0");
            }
            if messages.mean_interval_ns == 0 {
                return wrong("messages.mean_interval_ns", "must be above 0");
            }
        }
        Ok(())
    }
}
