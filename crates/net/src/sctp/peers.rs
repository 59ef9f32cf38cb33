//! Which number stands for which address, as the machine asks and as packets
//! come in.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};

use headway_sansio::Address;
use headway_sctp::AddressBook;

use crate::AddressTable;

/// Strangers remembered by their addresses: those who sent something and have no
/// association.
const STRANGERS: usize = 1 << 16;

/// This side's addresses, numbered from zero, and everybody else's.
pub(super) struct Peers {
    local: Vec<SocketAddr>,
    both_versions: bool,
    table: Mutex<AddressTable>,
}

impl Peers {
    /// `both_versions`: peers of either IP version are reached from any of `local`.
    pub(super) fn new(local: Vec<SocketAddr>, both_versions: bool) -> Self {
        // An endpoint has a handful of addresses.
        let first = Address(local.len() as u32);
        Self {
            local,
            both_versions,
            table: Mutex::new(AddressTable::new(first, STRANGERS)),
        }
    }

    pub(super) fn table(&self) -> MutexGuard<'_, AddressTable> {
        // No call leaves the table halfway when it panics.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The socket address behind a number, of either side.
    pub(super) fn socket(&self, address: Address) -> Option<SocketAddr> {
        match self.local.get(address.0 as usize) {
            Some(local) => Some(*local),
            None => self.table().socket(address),
        }
    }

    /// Whether this side can send to an address of this kind.
    pub(super) fn reaches(&self, ip: IpAddr) -> bool {
        let mut local = self.local.iter();
        self.both_versions || local.any(|local| local.is_ipv4() == ip.is_ipv4())
    }
}

impl fmt::Debug for Peers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peers")
            .field("local", &self.local)
            .finish_non_exhaustive()
    }
}

impl AddressBook for Peers {
    fn ip(&self, address: Address) -> Option<IpAddr> {
        let ip = self.socket(address)?.ip();
        (!ip.is_unspecified()).then_some(ip)
    }

    /// A peer's further addresses are reached at the UDP port of the one from which
    /// it was heard, until it is heard from them (RFC 6951, section 5.4).
    fn address(&self, ip: IpAddr, like: Address) -> Option<Address> {
        if ip.is_multicast() || ip.is_unspecified() || !self.reaches(ip) {
            return None;
        }
        let mut table = self.table();
        let port = table.socket(like)?.port();
        table.number(SocketAddr::new(ip, port))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_addresses_take_the_port_of_the_first() {
        let peers = Peers::new(vec!["10.0.0.1:9899".parse().unwrap()], false);
        let heard = "10.0.0.2:4000".parse().unwrap();
        let first = peers.table().number(heard).unwrap();
        assert_eq!(peers.ip(Address(0)), Some([10, 0, 0, 1].into()));
        assert_eq!(peers.ip(first), Some([10, 0, 0, 2].into()));
        let second = peers.address([10, 0, 1, 2].into(), first).unwrap();
        assert_eq!(peers.socket(second), "10.0.1.2:4000".parse().ok());
        for senseless in ["224.0.0.1", "0.0.0.0", "fe80::1"] {
            assert_eq!(peers.address(senseless.parse().unwrap(), first), None);
        }
    }
}
