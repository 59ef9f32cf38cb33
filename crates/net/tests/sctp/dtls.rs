//! SCTP in DTLS (RFC 8261): who is believed, and who is not.

use std::path::{Path, PathBuf};

use headway_net::sctp::{
    AssociationError, ConnectError, DtlsConfig, Endpoint, EndpointConfig, LostReason, Peer,
    Transport,
};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use super::common::{echo, fast, loopback, ping, soon};

/// Certificates of one test, in a folder that goes with it.
pub(crate) struct Papers {
    folder: PathBuf,
    authority: CertifiedIssuer<'static, KeyPair>,
}

impl Papers {
    pub(crate) fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("headway-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let authority = CertifiedIssuer::self_signed(params, key).unwrap();
        std::fs::write(folder.join("ca.pem"), authority.pem()).unwrap();
        Self { folder, authority }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A certificate and its key, signed by the authority or by itself.
    pub(crate) fn issue(&self, name: &str, by_authority: bool, expired: bool) {
        let mut params = CertificateParams::new(vec![format!("{name}.test")]).unwrap();
        if expired {
            params.not_before = rcgen::date_time_ymd(2001, 1, 1);
            params.not_after = rcgen::date_time_ymd(2002, 1, 1);
        }
        let key = KeyPair::generate().unwrap();
        let certificate = if by_authority {
            params.signed_by(&key, &self.authority).unwrap()
        } else {
            params.self_signed(&key).unwrap()
        };
        std::fs::write(self.path(&format!("{name}.pem")), certificate.pem()).unwrap();
        std::fs::write(self.path(&format!("{name}.key")), key.serialize_pem()).unwrap();
    }

    /// Who has this certificate and trusts those signed by the authority.
    pub(crate) fn by_authority(&self, name: &str) -> DtlsConfig {
        let path = |end: &str| self.path(&format!("{name}.{end}"));
        DtlsConfig::with_authorities(&path("pem"), &path("key"), &self.path("ca.pem")).unwrap()
    }

    /// Who has this certificate and trusts one other.
    fn by_peer(&self, name: &str, peer: &str) -> DtlsConfig {
        let path = |name: &str, end: &str| self.path(&format!("{name}.{end}"));
        DtlsConfig::with_peers(&path(name, "pem"), &path(name, "key"), &path(peer, "pem")).unwrap()
    }
}

impl Drop for Papers {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

pub(crate) fn endpoint(dtls: DtlsConfig, listen: bool) -> Endpoint {
    let config = EndpointConfig {
        transport: Transport::Dtls(dtls),
        listen: if listen { vec![7] } else { vec![] },
        ..EndpointConfig::udp(loopback()).sctp(fast())
    };
    Endpoint::bind(config).unwrap()
}

/// Whether the two come together.
async fn meet(server: DtlsConfig, client: DtlsConfig) -> bool {
    let server = endpoint(server, true);
    let target = Peer::new(server.local_addrs()[0], 7);
    echo(server);
    let client = endpoint(client, false);
    match soon(client.connect(target)).await {
        Ok(association) => {
            ping(&association, b"in confidence").await;
            let long: &'static [u8] = vec![7; 100_000].leak();
            ping(&association, long).await;
            soon(association.shutdown()).await.unwrap();
            true
        }
        Err(error) => {
            let lost = AssociationError::Lost(LostReason::HandshakeTimeout);
            assert_eq!(error, ConnectError::Failed(lost));
            false
        }
    }
}

#[tokio::test]
async fn certificates_of_the_authority_are_good() {
    let papers = Papers::new("authority");
    papers.issue("server", true, false);
    papers.issue("client", true, false);
    assert!(meet(papers.by_authority("server"), papers.by_authority("client")).await);
}

#[tokio::test]
async fn certificates_that_are_known_are_good() {
    let papers = Papers::new("known");
    papers.issue("server", false, false);
    papers.issue("client", false, false);
    papers.issue("other", false, false);
    assert!(
        meet(
            papers.by_peer("server", "client"),
            papers.by_peer("client", "server")
        )
        .await
    );
    // Either side may be the one that does not believe.
    for (server_knows, client_knows) in [("other", "server"), ("client", "other")] {
        let server = papers.by_peer("server", server_knows);
        let client = papers.by_peer("client", client_knows);
        assert!(!meet(server, client).await);
    }
}

#[tokio::test]
async fn strangers_and_expired_certificates_are_not() {
    let papers = Papers::new("strangers");
    papers.issue("good", true, false);
    papers.issue("stranger", false, false);
    papers.issue("expired", true, true);
    for bad in ["stranger", "expired"] {
        assert!(!meet(papers.by_authority("good"), papers.by_authority(bad)).await);
        assert!(!meet(papers.by_authority(bad), papers.by_authority("good")).await);
    }
}

#[tokio::test]
async fn a_peer_that_starts_anew_is_heard() {
    let papers = Papers::new("anew");
    papers.issue("server", true, false);
    papers.issue("client", true, false);
    let server = endpoint(papers.by_authority("server"), true);
    let target = Peer::new(server.local_addrs()[0], 7);
    echo(server);
    let local = std::net::UdpSocket::bind(loopback())
        .unwrap()
        .local_addr()
        .unwrap();
    // Two lives on one UDP port; the first ends without a word to the server.
    for life in 0..2_u16 {
        let dtls = Transport::Dtls(papers.by_authority("client"));
        let target = Peer {
            local_port: 5000 + life,
            ..target.clone()
        };
        let live = move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            let handles = runtime.block_on(async {
                let config = EndpointConfig {
                    transport: dtls,
                    ..EndpointConfig::udp(local).sctp(fast())
                };
                let client = Endpoint::bind(config).unwrap();
                let association = soon(client.connect(target)).await.unwrap();
                ping(&association, b"here I am").await;
                (association, client)
            });
            drop(runtime);
            drop(handles);
        };
        soon(tokio::task::spawn_blocking(live)).await.unwrap();
    }
}

#[tokio::test]
async fn plain_sctp_finds_no_way_in() {
    let papers = Papers::new("plain");
    papers.issue("server", true, false);
    let server = endpoint(papers.by_authority("server"), true);
    let target = Peer::new(server.local_addrs()[0], 7);
    let client = super::common::client(fast());
    assert!(soon(client.connect(target)).await.is_err());
    assert_eq!(server.stats().packets_received, 0);
}

#[test]
fn files_that_hold_something_else_are_named() {
    let papers = Papers::new("files");
    papers.issue("server", true, false);
    let wrong = |a: &Path, b: &Path, c: &Path| {
        DtlsConfig::with_authorities(a, b, c)
            .unwrap_err()
            .to_string()
    };
    let (pem, key, ca) = (
        papers.path("server.pem"),
        papers.path("server.key"),
        papers.path("ca.pem"),
    );
    assert!(wrong(&key, &key, &ca).contains("server.key"));
    assert!(wrong(&pem, &pem, &ca).contains("server.pem"));
    assert!(wrong(&pem, &key, Path::new("nowhere.pem")).contains("nowhere.pem"));
}
