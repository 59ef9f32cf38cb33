//! The state cookie (RFC 9260, section 5.1.3): all that a server would remember
//! of an INIT, signed and handed to the client to keep.

mod keys;
#[cfg(test)]
mod tests;

pub(crate) use keys::{KeyRing, Opened};

use std::net::IpAddr;

use smallvec::SmallVec;

use headway_sansio::{Address, Duration, Time};

use crate::Tsn;
use crate::packet::Extensions;

/// What every cookie has.
const HEAD_BYTES: usize = 8 + 8 + 5 * 4 + 4 * 2;
const TIE_TAGS_BYTES: usize = 2 * 4;
/// In the byte of the extensions: tie tags follow.
const TIED: u8 = 0x80;

/// Content of a cookie.
#[derive(Clone, PartialEq, Eq, Debug)]
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
    /// Where the INIT came from: the only address that the peer has shown to own
    /// (section 5.4, rule 2).
    pub(crate) source: Address,
    /// What both sides know.
    pub(crate) extensions: Extensions,
    /// The addresses that the peer listed.
    pub(crate) addresses: SmallVec<[IpAddr; 2]>,
}

impl Cookie {
    /// Length of what [`Self::encode`] writes.
    fn length_bytes(&self) -> usize {
        if self.is_plain() {
            return HEAD_BYTES + TIE_TAGS_BYTES;
        }
        let ties = if self.has_ties() { TIE_TAGS_BYTES } else { 0 };
        let address = |ip: &IpAddr| if ip.is_ipv4() { 5 } else { 17 };
        HEAD_BYTES + 5 + ties + self.addresses.iter().map(address).sum::<usize>()
    }

    /// Where it came from, what both sides know and which addresses there are says
    /// nothing. A cookie is as small as possible (section 5.1.3), so it is left out
    /// then.
    fn is_plain(&self) -> bool {
        self.source == Address::default()
            && self.extensions == Extensions::NONE
            && self.addresses.is_empty()
    }

    /// Tie tags are written out. An endpoint, which many strangers ask for cookies,
    /// leaves zeros out: with an address of IPv4 the rest fits into one block of
    /// SHA-256.
    fn has_ties(&self) -> bool {
        self.source == Address::default() || self.local_tie_tag != 0 || self.peer_tie_tag != 0
    }

    fn encode_ties(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.local_tie_tag.to_be_bytes());
        out.extend_from_slice(&self.peer_tie_tag.to_be_bytes());
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.created.as_nanos().to_be_bytes());
        out.extend_from_slice(&self.lifetime.as_nanos().to_be_bytes());
        for word in [
            self.local_tag,
            self.peer_tag,
            self.local_tsn.0,
            self.peer_tsn.0,
            self.peer_window,
        ] {
            out.extend_from_slice(&word.to_be_bytes());
        }
        for half in [
            self.local_port,
            self.peer_port,
            self.outbound_streams,
            self.inbound_streams,
        ] {
            out.extend_from_slice(&half.to_be_bytes());
        }
        if self.is_plain() {
            return self.encode_ties(out);
        }
        out.extend_from_slice(&self.source.0.to_be_bytes());
        if self.has_ties() {
            out.push(self.extensions.bits() | TIED);
            self.encode_ties(out);
        } else {
            out.push(self.extensions.bits());
        }
        for address in &self.addresses {
            match address {
                IpAddr::V4(v4) => {
                    out.push(4);
                    out.extend_from_slice(&v4.octets());
                }
                IpAddr::V6(v6) => {
                    out.push(16);
                    out.extend_from_slice(&v6.octets());
                }
            }
        }
    }

    /// When the cookie with this body claims to have been made.
    fn created(body: &[u8]) -> Option<Time> {
        body.first_chunk()
            .map(|bytes| Time::from_nanos(u64::from_be_bytes(*bytes)))
    }

    /// Reads what [`Self::encode`] wrote.
    fn decode(body: &[u8]) -> Option<Self> {
        let mut body = Fields(body);
        let mut cookie = Self {
            created: Time::from_nanos(body.long()?),
            lifetime: Duration::from_nanos(body.long()?),
            local_tag: body.word()?,
            peer_tag: body.word()?,
            local_tsn: Tsn(body.word()?),
            peer_tsn: Tsn(body.word()?),
            peer_window: body.word()?,
            local_tie_tag: 0,
            peer_tie_tag: 0,
            local_port: body.half()?,
            peer_port: body.half()?,
            outbound_streams: body.half()?,
            inbound_streams: body.half()?,
            source: Address::default(),
            extensions: Extensions::NONE,
            addresses: SmallVec::new(),
        };
        // No other form leaves as many bytes here.
        let plain = body.0.len() == TIE_TAGS_BYTES;
        let mut bits = TIED;
        if !plain {
            cookie.source = Address(body.word()?);
            [bits] = body.take()?;
            cookie.extensions = Extensions::from_bits(bits);
        }
        if bits & TIED != 0 {
            cookie.local_tie_tag = body.word()?;
            cookie.peer_tie_tag = body.word()?;
        }
        while !body.0.is_empty() {
            cookie.addresses.push(match body.take::<1>()? {
                [4] => IpAddr::from(body.take::<4>()?),
                [16] => IpAddr::from(body.take::<16>()?),
                _ => return None,
            });
        }
        Some(cookie)
    }
}

/// Takes numbers off the front.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*head)
    }

    fn long(&mut self) -> Option<u64> {
        self.take().map(u64::from_be_bytes)
    }

    fn word(&mut self) -> Option<u32> {
        self.take().map(u32::from_be_bytes)
    }

    fn half(&mut self) -> Option<u16> {
        self.take().map(u16::from_be_bytes)
    }
}
