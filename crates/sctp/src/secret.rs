//! Numbers that nobody else can foretell: tags, initial TSNs, keys and nonces
//! (RFC 9260, sections 5.1.3, 5.3.1 and 5.4; RFC 4086).

use core::fmt;

use headway_sansio::RandomStream;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// An endless row of unforeseeable bytes from one secret: HMAC-SHA256 over a
/// counter, which whoever sees a part of cannot continue or trace back.
#[derive(Clone)]
pub(crate) struct Secret {
    mac: Hmac<Sha256>,
    counter: u64,
    block: [u8; 32],
    /// Bytes of `block` that are given out.
    used: usize,
}

impl fmt::Debug for Secret {
    /// Keeps the secret out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    pub(crate) fn new(seed: &[u8; 32]) -> Self {
        let mut key = [0; 64];
        key[..32].copy_from_slice(seed);
        Self {
            mac: Hmac::new(&key.into()),
            counter: 0,
            block: [0; 32],
            used: 32,
        }
    }

    /// The next `N` bytes; `N` divides 32.
    pub(crate) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        if self.used + N > self.block.len() {
            let mut mac = self.mac.clone();
            mac.update(&self.counter.to_be_bytes());
            self.block = mac.finalize().into_bytes().into();
            self.counter += 1;
            self.used = 0;
        }
        let mut out = [0; N];
        out.copy_from_slice(&self.block[self.used..self.used + N]);
        self.used += N;
        out
    }

    pub(crate) fn word(&mut self) -> u32 {
        u32::from_be_bytes(self.bytes())
    }

    /// A tag is never zero (section 5.3.1).
    pub(crate) fn tag(&mut self) -> u32 {
        loop {
            let tag = self.word();
            if tag != 0 {
                return tag;
            }
        }
    }

    /// A random stream for what only has to differ, such as jitter.
    pub(crate) fn stream(&mut self) -> RandomStream {
        headway_sansio::Seed::new(u64::from_be_bytes(self.bytes())).stream("association")
    }
}

/// A heartbeat's nonce from a draw of a random stream. Passing it through a hash
/// keeps the peer, who sees nonces, from working out the stream and with it the
/// nonces of addresses that it does not own.
pub(crate) fn nonce(drawn: u64, salt: u64) -> u64 {
    let mut hash = Sha256::new();
    hash.update(drawn.to_be_bytes());
    hash.update(salt.to_be_bytes());
    let digest: [u8; 32] = hash.finalize().into();
    let (first, _) = digest
        .split_first_chunk()
        .expect("32 bytes are more than 8");
    u64::from_be_bytes(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_new_and_follows_from_the_seed() {
        let mut one = Secret::new(&[7; 32]);
        let mut other = Secret::new(&[7; 32]);
        let drawn: Vec<u32> = (0..100).map(|_| one.word()).collect();
        assert_eq!(drawn, (0..100).map(|_| other.word()).collect::<Vec<_>>());
        let mut sorted = drawn.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), 100);
        assert_ne!(Secret::new(&[8; 32]).word(), drawn[0]);
        assert_ne!(nonce(1, 2), nonce(2, 1));
    }
}
