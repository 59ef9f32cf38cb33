//! Nodes, links, addresses and routes.

use std::collections::VecDeque;

use core::fmt;

use headway_path::Link;
use headway_sansio::{Address, Time};

use crate::error::SimError;

/// Addresses index a table at every node.
const ADDRESSES: u32 = 1 << 16;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $inner:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub(crate) $inner);

        impl $name {
            /// Its number, counted from zero.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id!(
    /// A node of a network.
    NodeId, u32
);
id!(
    /// A link of a network: one direction between two nodes.
    LinkId, u32
);
id!(
    /// One emission of a datagram; numbers rise in the order of emission, so an
    /// observer can keep what it knows of packets in a vector.
    PacketId, u64
);

/// What a node does with datagrams that are not for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// Passes them on by its routes, like every node.
    Host,
    /// Hands them to its machine.
    Element,
}

/// A node and what the network knows of it.
#[derive(Clone, Debug)]
pub(crate) struct Site<N> {
    /// `None` for a router.
    pub(crate) machine: Option<N>,
    pub(crate) role: Role,
    /// The time of the node's only valid wake event; far future: none.
    pub(crate) wake: Time,
    /// When the machine wants to be called, as it said when last touched; far
    /// future: never.
    pub(crate) due: Time,
    /// Links by destination address.
    routes: Vec<Option<LinkId>>,
    default_route: Option<LinkId>,
}

/// A link and the nodes that it joins.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) link: Link,
}

/// Who is where.
#[derive(Clone, Debug)]
pub(crate) struct Topology<N> {
    pub(crate) sites: Vec<Site<N>>,
    pub(crate) edges: Vec<Edge>,
    /// Nodes by address.
    owners: Vec<Option<NodeId>>,
}

impl<N> Site<N> {
    /// The link towards an address.
    #[inline]
    pub(crate) fn route(&self, to: Address) -> Option<LinkId> {
        let own = self.routes.get(to.0 as usize).copied().flatten();
        own.or(self.default_route)
    }
}

impl<N> Topology<N> {
    pub(crate) const fn new() -> Self {
        Self {
            sites: Vec::new(),
            edges: Vec::new(),
            owners: Vec::new(),
        }
    }

    pub(crate) fn add_site(&mut self, machine: Option<N>, role: Role) -> NodeId {
        self.sites.push(Site {
            machine,
            role,
            wake: Time::FAR_FUTURE,
            due: Time::FAR_FUTURE,
            routes: Vec::new(),
            default_route: None,
        });
        NodeId((self.sites.len() - 1) as u32)
    }

    pub(crate) fn add_address(&mut self, node: NodeId, address: Address) -> Result<(), SimError> {
        if address.0 >= ADDRESSES {
            return Err(SimError::AddressTooLarge(address));
        }
        if self.sites[node.index()].machine.is_none() {
            return Err(SimError::AddressOfRouter(node, address));
        }
        let index = address.0 as usize;
        if self.owners.len() <= index {
            self.owners.resize(index + 1, None);
        }
        if self.owners[index].is_some() {
            return Err(SimError::AddressTaken(address));
        }
        self.owners[index] = Some(node);
        Ok(())
    }

    /// The node to which an address belongs.
    #[inline]
    pub(crate) fn owner(&self, address: Address) -> Option<NodeId> {
        self.owners.get(address.0 as usize).copied().flatten()
    }

    pub(crate) fn add_link(&mut self, from: NodeId, to: NodeId, link: Link) -> LinkId {
        assert!(
            from.index() < self.sites.len() && to.index() < self.sites.len(),
            "both nodes belong to this network"
        );
        self.edges.push(Edge { from, to, link });
        LinkId((self.edges.len() - 1) as u32)
    }

    pub(crate) fn add_route(
        &mut self,
        node: NodeId,
        to: Address,
        link: LinkId,
    ) -> Result<(), SimError> {
        self.starts_at(node, link)?;
        if to.0 >= ADDRESSES {
            return Err(SimError::AddressTooLarge(to));
        }
        let routes = &mut self.sites[node.index()].routes;
        let index = to.0 as usize;
        if routes.len() <= index {
            routes.resize(index + 1, None);
        }
        routes[index] = Some(link);
        Ok(())
    }

    pub(crate) fn set_default_route(&mut self, node: NodeId, link: LinkId) -> Result<(), SimError> {
        self.starts_at(node, link)?;
        self.sites[node.index()].default_route = Some(link);
        Ok(())
    }

    fn starts_at(&self, node: NodeId, link: LinkId) -> Result<(), SimError> {
        if self.edges[link.index()].from == node {
            return Ok(());
        }
        Err(SimError::RouteFromElsewhere(node, link))
    }

    /// Adds the missing routes over the fewest links, searched from each address
    /// backwards. Of equally short ways the one whose link was added first wins.
    pub(crate) fn route_shortest(&mut self) {
        for index in 0..self.owners.len() {
            let Some(owner) = self.owners[index] else {
                continue;
            };
            let address = Address(index as u32);
            let mut reached = vec![false; self.sites.len()];
            reached[owner.index()] = true;
            let mut frontier = VecDeque::from([owner]);
            while let Some(node) = frontier.pop_front() {
                for edge in 0..self.edges.len() {
                    let Edge { from, to, .. } = self.edges[edge];
                    if to != node || reached[from.index()] {
                        continue;
                    }
                    reached[from.index()] = true;
                    frontier.push_back(from);
                    if self.sites[from.index()].route(address).is_none() {
                        self.add_route(from, address, LinkId(edge as u32))
                            .expect("the link starts there and the address is owned");
                    }
                }
            }
        }
    }
}
