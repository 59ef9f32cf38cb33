//! The state cookie (RFC 9260, section 5.1.3): all that a server would remember
//! of an INIT, signed and handed to the client to keep.

use core::fmt;

use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use headway_sansio::{Duration, RandomStream, Time};

use crate::Tsn;

const MAC_BYTES: usize = 32;
const BODY_BYTES: usize = 8 + 8 + 7 * 4 + 4 * 2;

/// The secret that signs cookies, in the form that starts a MAC.
#[derive(Clone)]
pub(crate) struct CookieKey(Hmac<Sha256>);

/// Content of a cookie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cookie {
    pub(crate) created: Time,
    pub(crate) lifetime: Duration,
    /// Tag of the side that made the cookie.
    pub(crate) local_tag: u32,
    pub(crate) peer_tag: u32,
    pub(crate) local_tsn: Tsn,
    pub(crate) peer_tsn: Tsn,
    pub(crate) peer_window: u32,
    /// Tags of the association that existed when the cookie was made; zero where
    /// there was none.
    pub(crate) local_tie_tag: u32,
    pub(crate) peer_tie_tag: u32,
    pub(crate) local_port: u16,
    pub(crate) peer_port: u16,
    /// Streams that the cookie's maker may send on, as agreed.
    pub(crate) outbound_streams: u16,
    pub(crate) inbound_streams: u16,
}

impl fmt::Debug for CookieKey {
    /// Keeps the secret out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CookieKey")
    }
}

impl CookieKey {
    pub(crate) fn random(random: &mut RandomStream) -> Self {
        let mut key = [0; 64];
        for part in key.chunks_exact_mut(8) {
            part.copy_from_slice(&random.bits().to_le_bytes());
        }
        Self(Hmac::new(&key.into()))
    }

    fn mac(&self, body: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        mac.update(body);
        mac
    }

    pub(crate) fn seal(&self, cookie: &Cookie) -> Bytes {
        let mut out = Vec::with_capacity(BODY_BYTES + MAC_BYTES);
        out.extend_from_slice(&cookie.created.as_nanos().to_be_bytes());
        out.extend_from_slice(&cookie.lifetime.as_nanos().to_be_bytes());
        for word in [
            cookie.local_tag,
            cookie.peer_tag,
            cookie.local_tsn.0,
            cookie.peer_tsn.0,
            cookie.peer_window,
            cookie.local_tie_tag,
            cookie.peer_tie_tag,
        ] {
            out.extend_from_slice(&word.to_be_bytes());
        }
        for half in [
            cookie.local_port,
            cookie.peer_port,
            cookie.outbound_streams,
            cookie.inbound_streams,
        ] {
            out.extend_from_slice(&half.to_be_bytes());
        }
        let mac = self.mac(&out).finalize();
        out.extend_from_slice(&mac.into_bytes());
        out.into()
    }

    /// Opens a cookie that this key sealed; anything else gives `None`. The
    /// comparison takes the same time whatever differs.
    pub(crate) fn open(&self, sealed: &[u8]) -> Option<Cookie> {
        let (body, mac) = sealed.split_at_checked(BODY_BYTES)?;
        self.mac(body).verify_slice(mac).ok()?;
        let long = |at: usize| body[at..at + 8].try_into().map(u64::from_be_bytes);
        let word = |n: usize| {
            let at = 16 + 4 * n;
            body[at..at + 4].try_into().map(u32::from_be_bytes)
        };
        let half = |n: usize| {
            let at = 44 + 2 * n;
            body[at..at + 2].try_into().map(u16::from_be_bytes)
        };
        Some(Cookie {
            created: Time::from_nanos(long(0).ok()?),
            lifetime: Duration::from_nanos(long(8).ok()?),
            local_tag: word(0).ok()?,
            peer_tag: word(1).ok()?,
            local_tsn: Tsn(word(2).ok()?),
            peer_tsn: Tsn(word(3).ok()?),
            peer_window: word(4).ok()?,
            local_tie_tag: word(5).ok()?,
            peer_tie_tag: word(6).ok()?,
            local_port: half(0).ok()?,
            peer_port: half(1).ok()?,
            outbound_streams: half(2).ok()?,
            inbound_streams: half(3).ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_sansio::Seed;

    #[test]
    fn opens_what_it_sealed_and_nothing_else() {
        let mut random = Seed::new(1).stream("cookie");
        let key = CookieKey::random(&mut random);
        let cookie = Cookie {
            created: Time::from_nanos(77),
            lifetime: Duration::from_secs(60),
            local_tag: 1,
            peer_tag: 2,
            local_tsn: Tsn(3),
            peer_tsn: Tsn(4),
            peer_window: 5,
            local_tie_tag: 6,
            peer_tie_tag: 7,
            local_port: 8,
            peer_port: 9,
            outbound_streams: 10,
            inbound_streams: 11,
        };
        let sealed = key.seal(&cookie);
        assert_eq!(key.open(&sealed), Some(cookie));
        for at in 0..sealed.len() {
            let mut forged = sealed.to_vec();
            forged[at] ^= 1;
            assert_eq!(key.open(&forged), None, "byte {at}");
            assert_eq!(key.open(&sealed[..at]), None, "cut at {at}");
        }
        assert_eq!(CookieKey::random(&mut random).open(&sealed), None);
    }
}
