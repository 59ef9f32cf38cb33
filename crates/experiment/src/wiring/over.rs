//! Two applications over whichever transport the spec names. A new transport
//! is one more arm here.

use headway_apps::Application;
use headway_apps::sip::Content;

use super::pair::{Ended, run_pair};
use super::run::RunError;
use super::{sctp, udp};
use crate::spec::{RunSpec, TransportSpec};

/// Runs the applications over the transport of the spec. `content` says what
/// their messages consist of.
pub(super) fn run_over<A: Application, B: Application>(
    spec: &RunSpec,
    apps: (A, B),
    content: Content,
) -> Result<Ended<A, B>, RunError> {
    match &spec.transport {
        TransportSpec::Sctp(transport) => {
            let (ends, traces) = sctp::ends(spec, transport, content)?;
            run_pair(spec, apps, ends, traces)
        }
        TransportSpec::Udp(_) => {
            let (ends, traces) = udp::ends(spec);
            run_pair(spec, apps, ends, traces)
        }
    }
}
