//! The keys that sign cookies (RFC 9260, section 5.1.3): secret, random, and
//! changed from time to time.

use core::fmt;

use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use headway_sansio::{Duration, RandomStream, Time};

use super::Cookie;

pub(super) const MAC_BYTES: usize = 32;

/// One secret, in the form that starts a MAC.
#[derive(Clone)]
struct CookieKey(Hmac<Sha256>);

impl CookieKey {
    fn mac(&self, body: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        mac.update(body);
        mac
    }
}

/// The key of now and the one before it, with which cookies that are still good
/// may have been signed.
#[derive(Clone)]
pub(crate) struct KeyRing {
    current: CookieKey,
    previous: Option<CookieKey>,
    renewed: Time,
}

impl fmt::Debug for KeyRing {
    /// Keeps the secrets out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyRing")
    }
}

/// What opening a cookie gave.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Opened {
    Good(Box<Cookie>),
    /// Genuine, but its life was over so long ago.
    Stale(Box<Cookie>, Duration),
}

impl KeyRing {
    pub(crate) fn new(key: [u8; 64]) -> Self {
        Self {
            current: CookieKey(Hmac::new(&key.into())),
            previous: None,
            renewed: Time::ZERO,
        }
    }

    pub(crate) fn random(random: &mut RandomStream) -> Self {
        let mut key = [0; 64];
        for part in key.chunks_exact_mut(8) {
            part.copy_from_slice(&random.bits().to_le_bytes());
        }
        Self::new(key)
    }

    /// Whether the key is older than `lifetime`.
    pub(crate) fn is_due(&self, now: Time, lifetime: Duration) -> bool {
        now.since(self.renewed) >= lifetime
    }

    /// Signs with a new key from now on. Cookies signed with the one before are
    /// still known.
    pub(crate) fn renew(&mut self, now: Time, key: [u8; 64]) {
        let next = CookieKey(Hmac::new(&key.into()));
        self.previous = Some(core::mem::replace(&mut self.current, next));
        self.renewed = now;
    }

    pub(crate) fn seal(&self, cookie: &Cookie) -> Bytes {
        // Of the right size from the beginning: so it becomes `Bytes` as it is.
        let mut out = Vec::with_capacity(cookie.length_bytes() + MAC_BYTES);
        cookie.encode(&mut out);
        let mac = self.current.mac(&out).finalize();
        out.extend_from_slice(&mac.into_bytes());
        out.into()
    }

    /// Opens a cookie that this side sealed; anything else gives `None`. The
    /// comparison takes the same time whatever differs.
    pub(crate) fn open(&self, now: Time, sealed: &[u8]) -> Option<Opened> {
        let (body, mac) = sealed.split_at_checked(sealed.len().checked_sub(MAC_BYTES)?)?;
        // The time is only believed once the key that goes with it has verified it.
        let key = if Cookie::created(body)? >= self.renewed {
            &self.current
        } else {
            self.previous.as_ref()?
        };
        key.mac(body).verify_slice(mac).ok()?;
        let cookie = Box::new(Cookie::decode(body)?);
        let age = now.since(cookie.created);
        Some(if age > cookie.lifetime {
            let late = age.saturating_sub(cookie.lifetime);
            Opened::Stale(cookie, late)
        } else {
            Opened::Good(cookie)
        })
    }
}
