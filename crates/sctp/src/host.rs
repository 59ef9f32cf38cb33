//! The addresses of this side, and which number stands for which IP address.

use core::fmt::Debug;
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use headway_sansio::Address;

use crate::path::Route;

/// Tells which number stands for which IP address.
///
/// A machine knows addresses as numbers ([`Address`]); INIT and INIT ACK carry
/// them as IP addresses (RFC 9260, sections 3.3.2.1.1 and 3.3.2.1.2), and so they
/// must be turned into each other. A driver that keeps a table of its sockets'
/// peers implements this over it; [`Numbered`] serves where there is none.
pub trait AddressBook: Debug + Send + Sync {
    /// The IP address behind a number, if it has one that a peer may use.
    fn ip(&self, address: Address) -> Option<IpAddr>;

    /// The number of a peer's IP address. Where the number stands for more, as
    /// for the UDP port of an encapsulation (RFC 6951), the rest is as in `like`,
    /// from where the peer has just been heard. `None` where there is no way to it.
    fn address(&self, ip: IpAddr, like: Address) -> Option<Address>;
}

/// Takes a number for the IPv4 address of the same 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Numbered;

impl AddressBook for Numbered {
    fn ip(&self, address: Address) -> Option<IpAddr> {
        Some(Ipv4Addr::from(address.0).into())
    }

    fn address(&self, ip: IpAddr, _like: Address) -> Option<Address> {
        match ip {
            IpAddr::V4(v4) => Some(Address(v4.into())),
            IpAddr::V6(_) => None,
        }
    }
}

/// This side's addresses.
#[derive(Clone, Debug)]
pub struct Host {
    /// Where this side can be reached. Peers are told of them where there are at
    /// least two; one alone they see as the source of its packets, which also
    /// works through network address translation.
    pub addresses: Vec<Address>,
    /// What the numbers stand for.
    pub book: Arc<dyn AddressBook>,
}

impl Default for Host {
    /// One address, the number zero.
    fn default() -> Self {
        Self::new(vec![Address::default()])
    }
}

impl Host {
    /// A host with these addresses, numbered as [`Numbered`] has it.
    #[must_use]
    pub fn new(addresses: Vec<Address>) -> Self {
        Self {
            addresses,
            book: Arc::new(Numbered),
        }
    }

    /// What INIT and INIT ACK say of the addresses.
    pub(crate) fn announced(&self) -> impl Iterator<Item = IpAddr> + '_ {
        let several = self.addresses.len() > 1;
        self.addresses
            .iter()
            .filter(move |_| several)
            .filter_map(|&address| self.book.ip(address))
    }

    /// The paths to a peer: `first`, where it was heard, and one to each of the
    /// other addresses that it listed. Each takes another address of this side
    /// while there are any, so that one failed interface does not cut off all.
    pub(crate) fn routes(&self, first: Route, listed: &[IpAddr]) -> Vec<Route> {
        let mut remotes = vec![first.remote];
        for &ip in listed {
            // The address that the peer was heard from may bear another number
            // than the book would give it, as behind an address translator.
            if self.book.ip(first.remote) == Some(ip) {
                continue;
            }
            if let Some(remote) = self.book.address(ip, first.remote)
                && !remotes.contains(&remote)
            {
                remotes.push(remote);
            }
        }
        self.pair(first.local, &remotes)
    }

    /// Pairs the peer's addresses with those of this side in turn, beginning with
    /// `local`; an address of IPv4 with one of IPv4, where there is one.
    pub(crate) fn pair(&self, local: Address, remotes: &[Address]) -> Vec<Route> {
        let others = self.addresses.iter().filter(|&&other| other != local);
        let mut locals: VecDeque<Address> =
            core::iter::once(&local).chain(others).copied().collect();
        let is_v4 = |address| self.book.ip(address).map(|ip| ip.is_ipv4());
        let mut next = |remote| {
            let alike = |&local: &Address| is_v4(local) == is_v4(remote);
            let place = locals.iter().position(alike).unwrap_or(0);
            let local = locals.remove(place).unwrap_or(local);
            locals.push_back(local);
            Route { local, remote }
        };
        remotes.iter().map(|&remote| next(remote)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_ipv4_addresses() {
        let ip = IpAddr::from([10, 0, 0, 1]);
        let address = Numbered.address(ip, Address(0)).unwrap();
        assert_eq!(Numbered.ip(address), Some(ip));
        let v6 = IpAddr::from([0u16, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(Numbered.address(v6, Address(0)), None);
    }

    #[test]
    fn paths_spread_over_the_interfaces() {
        let host = Host::new(vec![Address(1), Address(2)]);
        let first = Route {
            local: Address(2),
            remote: Address(10),
        };
        let listed = [10, 11, 12].map(|n| IpAddr::from(Ipv4Addr::from(n)));
        let routes = host.routes(first, &listed);
        let pairs: Vec<(u32, u32)> = routes.iter().map(|r| (r.local.0, r.remote.0)).collect();
        assert_eq!(pairs, [(2, 10), (1, 11), (2, 12)]);
    }

    /// Numbers from 100 on are addresses of IPv6.
    #[derive(Debug)]
    struct BothVersions;

    impl AddressBook for BothVersions {
        fn ip(&self, address: Address) -> Option<IpAddr> {
            Some(match address.0 {
                n if n >= 100 => IpAddr::from(u128::from(n).to_be_bytes()),
                n => IpAddr::from(n.to_be_bytes()),
            })
        }

        fn address(&self, _: IpAddr, _: Address) -> Option<Address> {
            None
        }
    }

    #[test]
    fn paths_stay_within_an_ip_version() {
        let host = Host {
            addresses: [1, 2, 100].map(Address).to_vec(),
            book: Arc::new(BothVersions),
        };
        let pairs = |remotes: &[u32]| {
            let remotes: Vec<Address> = remotes.iter().map(|&n| Address(n)).collect();
            let routes = host.pair(Address(1), &remotes);
            routes
                .iter()
                .map(|r| (r.local.0, r.remote.0))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            pairs(&[10, 110, 11, 111]),
            [(1, 10), (100, 110), (2, 11), (100, 111)]
        );
        assert_eq!(pairs(&[110, 10]), [(100, 110), (1, 10)]);
    }

    #[test]
    fn one_address_is_not_announced() {
        assert_eq!(Host::default().announced().count(), 0);
        assert_eq!(
            Host::new(vec![Address(1), Address(2)]).announced().count(),
            2
        );
    }
}
