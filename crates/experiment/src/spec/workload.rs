//! The key `workload` of a RunSpec.

use headway_apps::media::MediaWorkload;
use headway_apps::sip::{Content, MessageKind, SipTransactions, SipWorkload};
use headway_apps::trace::{TraceError, TraceWorkload};
use serde::Deserialize;

use super::SpecError;

/// The source under study.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum WorkloadSpec {
    /// SIP signalling between two proxies.
    Sip(SipWorkload),
    /// INVITE transactions one after another.
    SipTransactions(SipTransactions),
    /// Media flows.
    Media(MediaWorkload),
    /// A recorded conversation.
    Trace(TraceWorkload),
}

impl WorkloadSpec {
    pub(super) fn validate(&self) -> Result<(), SpecError> {
        let at = |key: &str, problem| SpecError::new(format!("workload.{key}"), problem);
        match self {
            Self::Sip(sip) => sip.validate().map_err(|e| at(e.key, e.problem)),
            Self::SipTransactions(sip) => sip.validate().map_err(|e| at(e.key, e.problem)),
            Self::Media(media) => media.validate().map_err(|e| at(e.key, e.problem)),
            Self::Trace(trace) => trace
                .validate()
                .map_err(|e| at(TraceError::KEY, e.to_string())),
        }
    }

    /// Whether the messages are SIP.
    #[must_use]
    pub fn is_sip(&self) -> bool {
        matches!(self, Self::Sip(_) | Self::SipTransactions(_))
    }

    /// What the messages consist of.
    #[must_use]
    pub fn content(&self) -> Content {
        match self {
            Self::Sip(sip) => sip.content,
            Self::SipTransactions(sip) => sip.content,
            Self::Media(_) | Self::Trace(_) => Content::Size,
        }
    }

    /// Length of the longest message in bytes.
    pub(super) fn longest_message(&self) -> u32 {
        let longest = |bytes_of: &dyn Fn(MessageKind) -> u32| {
            MessageKind::ALL.into_iter().map(bytes_of).max()
        };
        match self {
            Self::Sip(sip) => longest(&|kind| sip.bytes_of(kind)),
            Self::SipTransactions(sip) => longest(&|kind| sip.bytes_of(kind)),
            Self::Media(media) => Some(media.packet_bytes().max(media.filler_bytes())),
            Self::Trace(trace) => trace.messages.iter().map(|message| message.1).max(),
        }
        .unwrap_or(0)
    }
}
