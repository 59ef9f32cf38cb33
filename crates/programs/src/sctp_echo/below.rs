//! What lies below SCTP and how the stack is set: arguments of both sides.

use std::net::SocketAddr;
use std::path::PathBuf;

use headway_net::sctp::{Config, DtlsConfig, Overrides, Transport};

use crate::failure::Failure;

/// What lies below SCTP, where it is not UDP alone.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Below SCTP")]
pub(super) struct BelowArgs {
    /// Directly over IP, as protocol 132, without UDP; needs root or CAP_NET_RAW
    #[arg(long, conflicts_with_all = ["udp_encap", "dtls"])]
    raw: bool,
    /// Over DTLS (RFC 8261), with this certificate (PEM); the peer must show one as well
    #[arg(long, value_name = "FILE", requires = "key", requires = "trust")]
    dtls: Option<PathBuf>,
    /// The certificate's private key (PEM)
    #[arg(long, value_name = "FILE", requires = "dtls")]
    key: Option<PathBuf>,
    /// The peer's certificate must be one of these (PEM)
    #[arg(long, value_name = "FILE", requires = "dtls", group = "trust")]
    peer_cert: Option<PathBuf>,
    /// The peer's certificate must be signed by one of these (PEM)
    #[arg(long, value_name = "FILE", requires = "dtls", group = "trust")]
    ca: Option<PathBuf>,
    /// Keep SCTP's own checksum in DTLS; otherwise packets go without where the peer takes them
    /// so (RFC 9653)
    #[arg(long, requires = "dtls")]
    with_checksums: bool,
}

impl BelowArgs {
    /// # Errors
    /// Where a file cannot be used.
    pub(super) fn transport(&self) -> Result<Transport, Failure> {
        if self.raw {
            return Ok(Transport::RawIp);
        }
        let (Some(certificate), Some(key)) = (&self.dtls, &self.key) else {
            return Ok(Transport::Udp);
        };
        let config = match (&self.peer_cert, &self.ca) {
            (Some(peers), _) => DtlsConfig::with_peers(certificate, key, peers),
            (None, Some(authorities)) => {
                DtlsConfig::with_authorities(certificate, key, authorities)
            }
            // The arguments are checked before.
            (None, None) => return Ok(Transport::Udp),
        };
        let config = config.map_err(|error| Failure::Input(error.to_string()))?;
        Ok(Transport::Dtls(if self.with_checksums {
            config.with_checksums()
        } else {
            config
        }))
    }

    /// Addresses as they are told to people: without ports where there are none.
    pub(super) fn show(&self, addresses: &[SocketAddr]) -> String {
        let shown = addresses.iter().map(|address| {
            if self.raw {
                address.ip().to_string()
            } else {
                address.to_string()
            }
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    /// What it is called.
    pub(super) fn name(&self) -> &'static str {
        match (self.raw, &self.dtls) {
            (true, _) => "IP",
            (false, Some(_)) => "DTLS",
            (false, None) => "UDP",
        }
    }
}

/// Settings of the stack.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Stack")]
pub(super) struct StackArgs {
    /// Stack profile, as in studies
    #[arg(long, default_value = "rfc9260")]
    profile: String,
    /// A knob over the profile, as in a RunSpec: rto_min_ns=100000000; may be repeated
    #[arg(long, value_name = "KNOB=VALUE")]
    set: Vec<String>,
    /// Offer I-DATA: a long message lets those of other streams pass (RFC 8260)
    #[arg(long)]
    interleave: bool,
    /// Which stream sends next (RFC 8260): first-come, round-robin, fair-bandwidth...
    #[arg(long, value_name = "RULE")]
    scheduler: Option<String>,
    /// Offer that messages may be given up (RFC 3758)
    #[arg(long)]
    partial_reliability: bool,
    /// Offer that streams may be reset (RFC 6525)
    #[arg(long)]
    reconfiguration: bool,
}

impl StackArgs {
    /// # Errors
    /// Where a profile or knob is unknown or a value makes no sense.
    pub(super) fn config(&self) -> Result<Config, Failure> {
        let input = |error: &dyn std::fmt::Display| Failure::Input(error.to_string());
        let mut config = Config::profile(&self.profile).map_err(|error| input(&error))?;
        for setting in &self.set {
            let (name, value) = setting.split_once('=').ok_or_else(|| {
                Failure::Input(format!(
                    "--set: \"{setting}\" is not of the form KNOB=VALUE"
                ))
            })?;
            let knob = knob(name, value)
                .map_err(|error| Failure::Input(format!("--set {setting}: {error}")))?;
            knob.apply(&mut config);
        }
        if let Some(rule) = &self.scheduler {
            let knob = knob("scheduler", rule)
                .map_err(|error| Failure::Input(format!("--scheduler {rule}: {error}")))?;
            knob.apply(&mut config);
        }
        config.interleaving |= self.interleave;
        config.partial_reliability |= self.partial_reliability;
        config.reconfiguration |= self.reconfiguration;
        config.check().map_err(|error| input(&error))?;
        Ok(config)
    }
}

/// One knob, as a user writes it.
fn knob(name: &str, value: &str) -> Result<Overrides, String> {
    // Numbers and true or false stand as they are, words need quotes.
    toml::from_str(&format!("{name} = {value}"))
        .or_else(|_| toml::from_str(&format!("{name} = \"{value}\"")))
        .map_err(|error| error.message().to_owned())
}
