//! Whom an endpoint over DTLS believes, and what it shows of itself.

use std::fmt;
use std::io;
use std::path::Path;

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, TrustAnchor, UnixTime};
use webpki::{EndEntityCert, KeyUsage};

/// This side's certificate and what it asks of the peers': both sides show one.
#[derive(Clone)]
pub struct DtlsConfig {
    pub(super) certificate: Vec<u8>,
    pub(super) key: Vec<u8>,
    pub(super) trust: Trust,
    pub(super) zero_checksum: bool,
}

/// Whose certificates are good.
#[derive(Clone)]
pub(super) enum Trust {
    /// These, and no others.
    Certificates(Vec<CertificateDer<'static>>),
    /// Those that one of these authorities has signed itself.
    Authorities(Vec<TrustAnchor<'static>>),
}

/// Which part the peer plays in the handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PeerRole {
    Server,
    Client,
}

impl DtlsConfig {
    /// A certificate and its private key, an ECDSA one on P-256 or P-384, from PEM
    /// files; the peer's certificate must be one of those in `peers`, byte for byte.
    ///
    /// # Errors
    /// Where a file cannot be read or holds something else.
    pub fn with_peers(certificate: &Path, key: &Path, peers: &Path) -> io::Result<Self> {
        let trust = Trust::Certificates(certificates(peers)?);
        Self::new(certificate, key, trust)
    }

    /// The same with any certificate good that one of the authorities in
    /// `authorities` has signed, without one between, and that is valid now. Who the
    /// peer is says the authority: let it sign for this purpose alone.
    ///
    /// # Errors
    /// Where a file cannot be read or holds something else.
    pub fn with_authorities(
        certificate: &Path,
        key: &Path,
        authorities: &Path,
    ) -> io::Result<Self> {
        let mut anchors = Vec::new();
        for der in certificates(authorities)? {
            let anchor = webpki::anchor_from_trusted_cert(&der)
                .map_err(|error| invalid(authorities, error))?;
            anchors.push(anchor.to_owned());
        }
        Self::new(certificate, key, Trust::Authorities(anchors))
    }

    fn new(certificate: &Path, key: &Path, trust: Trust) -> io::Result<Self> {
        let own = certificates(certificate)?.swap_remove(0);
        let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| invalid(key, error))?;
        Ok(Self {
            certificate: own.to_vec(),
            key: secret.secret_der().to_vec(),
            trust,
            zero_checksum: true,
        })
    }

    /// The same with SCTP's own checksum in all packets, both ways, although DTLS
    /// finds every error already. Otherwise peers are offered that they leave it out,
    /// and those that offer the same get packets without one (RFC 9653).
    #[must_use]
    pub fn with_checksums(self) -> Self {
        Self {
            zero_checksum: false,
            ..self
        }
    }
}

impl fmt::Debug for DtlsConfig {
    /// Keeps the key out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DtlsConfig")
    }
}

impl Trust {
    /// Whether a peer's certificate is good.
    pub(super) fn accepts(&self, role: PeerRole, certificate: &[u8]) -> bool {
        match self {
            Self::Certificates(known) => known.iter().any(|one| **one == *certificate),
            Self::Authorities(anchors) => {
                let der = CertificateDer::from(certificate);
                let usage = match role {
                    PeerRole::Server => KeyUsage::server_auth(),
                    PeerRole::Client => KeyUsage::client_auth(),
                };
                EndEntityCert::try_from(&der).is_ok_and(|certificate| {
                    certificate
                        .verify_for_usage(
                            webpki::ALL_VERIFICATION_ALGS,
                            anchors,
                            &[],
                            UnixTime::now(),
                            usage,
                            None,
                            None,
                        )
                        .is_ok()
                })
            }
        }
    }
}

/// At least one certificate.
fn certificates(path: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    let all = CertificateDer::pem_file_iter(path).map_err(|error| invalid(path, error))?;
    let all: Result<Vec<_>, _> = all.collect();
    let all = all.map_err(|error| invalid(path, error))?;
    if all.is_empty() {
        return Err(invalid(path, "there is no certificate in it"));
    }
    Ok(all)
}

fn invalid(path: &Path, error: impl fmt::Display) -> io::Error {
    let message = format!("{}: {error}", path.display());
    io::Error::new(io::ErrorKind::InvalidInput, message)
}
