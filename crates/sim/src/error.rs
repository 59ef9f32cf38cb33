//! Why a network cannot be built or run on.

use core::fmt;

use headway_sansio::{Address, Time};

use crate::topology::{LinkId, NodeId};

/// A broken topology, or a machine that breaks its contract. A run that ends
/// with an error is void: its results must not be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SimError {
    /// Two nodes, or one twice, claim the same address.
    AddressTaken(Address),
    /// Addresses index tables, so they stay below 65,536.
    AddressTooLarge(Address),
    /// A router has no machine that an address could belong to.
    AddressOfRouter(NodeId, Address),
    /// A route of this node names a link that starts elsewhere.
    RouteFromElsewhere(NodeId, LinkId),
    /// A datagram stands at a node that has no route to its destination.
    NoRoute(NodeId, Address),
    /// A datagram has crossed too many links: routes form a circle.
    RoutingLoop(NodeId, Address),
    /// A machine still names a timeout at or before now, after `handle_timeout`
    /// was called many times (rule 4 of the machine contract).
    StuckTimer(NodeId, Time),
    /// Time does not advance: too many events or datagrams at one instant.
    StuckTime(Time),
    /// More events or datagrams under way than the event queue can number.
    TooManyEvents,
}

impl fmt::Display for SimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AddressTaken(a) => write!(f, "address {} is taken", a.0),
            Self::AddressTooLarge(a) => write!(f, "address {} is not below 65536", a.0),
            Self::AddressOfRouter(n, a) => {
                write!(f, "node {n} is a router and cannot own address {}", a.0)
            }
            Self::RouteFromElsewhere(n, l) => write!(f, "link {l} does not start at node {n}"),
            Self::NoRoute(n, a) => write!(f, "node {n} has no route to address {}", a.0),
            Self::RoutingLoop(n, a) => {
                write!(
                    f,
                    "the routes to address {} run in a circle by node {n}",
                    a.0
                )
            }
            Self::StuckTimer(n, t) => write!(f, "node {n} keeps a timer due at {t:?}"),
            Self::StuckTime(t) => write!(f, "time does not advance beyond {t:?}"),
            Self::TooManyEvents => write!(f, "too many events or datagrams under way"),
        }
    }
}

impl core::error::Error for SimError {}
