//! The answer to an INIT (RFC 9260, sections 5.1 and 5.2): an INIT ACK with a
//! cookie in which everything is, so that nothing is kept; or a refusal.

use std::net::IpAddr;

use headway_sansio::{Address, Time};

use crate::cookie::{Cookie, KeyRing};
use crate::host::Host;
use crate::packet::{Announcement, Extensions, parameter};
use crate::{Cause, Chunk, Config, Init, Parameter, Tsn};

/// The least window that a peer may announce (section 3.3.2).
const LEAST_WINDOW: u32 = 1500;
/// By how much a peer may have a cookie's life lengthened (section 5.2.6: it asks
/// for no more than a second beyond the round trip).
const MOST_PRESERVED: headway_sansio::Duration = headway_sansio::Duration::from_secs(10);

/// Who answers.
#[derive(Clone, Copy)]
pub(crate) struct Welcome<'a> {
    pub(crate) config: &'a Config,
    pub(crate) host: &'a Host,
    pub(crate) keys: &'a KeyRing,
    pub(crate) local_port: u16,
}

/// What an INIT ACK says of this side.
#[derive(Clone, Copy)]
pub(crate) struct Identity {
    pub(crate) tag: u32,
    pub(crate) tsn: Tsn,
    /// Tags of the association that exists already, if any.
    pub(crate) tie_tags: (u32, u32),
}

/// From whom an INIT is.
#[derive(Clone, Copy)]
pub(crate) struct Caller {
    pub(crate) address: Address,
    pub(crate) port: u16,
}

/// INIT or INIT ACK of one side, with these parameters first.
pub(crate) fn introduce(
    config: &Config,
    host: &Host,
    (tag, tsn): (u32, Tsn),
    extensions: Extensions,
    more: impl IntoIterator<Item = Parameter>,
) -> Init {
    let announcement = Announcement {
        addresses: host.announced().collect(),
        extensions,
        error_detection: config.zero_checksum_method,
        ..Announcement::default()
    };
    let mut parameters: Vec<Parameter> = more.into_iter().collect();
    announcement.add_to(&mut parameters);
    Init {
        initiate_tag: tag,
        a_rwnd: config.receive_buffer_bytes,
        outbound_streams: config.outbound_streams.max(1),
        inbound_streams: config.inbound_streams.max(1),
        initial_tsn: tsn,
        parameters,
    }
}

/// What is wrong with the fixed part of an INIT or INIT ACK, if anything.
pub(crate) fn fault(init: &Init) -> Option<Cause> {
    let absurd =
        init.outbound_streams == 0 || init.inbound_streams == 0 || init.a_rwnd < LEAST_WINDOW;
    absurd.then(|| Cause::new(Cause::INVALID_PARAMETER))
}

/// The refusal of a host name in place of an address (section 3.3.2.1.4).
pub(crate) fn unresolvable(name: &Parameter) -> Cause {
    let information = parameter::encoded(core::slice::from_ref(name));
    Cause::with(Cause::UNRESOLVABLE_ADDRESS, information)
}

/// ABORT in answer to an INIT, to the tag that the INIT brought.
pub(crate) fn refusal(cause: Cause) -> Chunk {
    Chunk::Abort {
        reflected_tag: false,
        causes: vec![cause],
    }
}

impl Config {
    /// The extensions that this side offers.
    pub(crate) const fn extensions(&self) -> Extensions {
        Extensions {
            partial_reliability: self.partial_reliability,
            interleaving: self.interleaving,
            reconfiguration: self.reconfiguration,
            // Which this side takes from anybody depends on what carries the packets.
            zero_checksum: false,
        }
    }

    /// The extensions that both sides know.
    pub(crate) fn agreed(&self, said: &Announcement) -> Extensions {
        let method = self.zero_checksum_method;
        Extensions {
            zero_checksum: method.is_some() && method == said.error_detection,
            ..self.extensions().and(said.extensions)
        }
    }
}

impl Welcome<'_> {
    /// The address of an INIT, unless there is only one peer, without a number.
    fn source_ip(&self, caller: Caller) -> Option<IpAddr> {
        let numbered = caller.address != Address::default();
        self.host.book.ip(caller.address).filter(|_| numbered)
    }

    /// Answers an INIT whose tag is not zero. `said` is what its parameters say.
    pub(crate) fn answer(
        &self,
        now: Time,
        caller: Caller,
        init: &Init,
        said: Announcement,
        identity: Identity,
    ) -> Chunk {
        if let Some(cause) = fault(init) {
            return refusal(cause);
        }
        if let Some(name) = &said.host_name {
            return refusal(unresolvable(name));
        }
        let extensions = self.config.agreed(&said);
        // The last one is that of the INIT itself, by which the caller is known again
        // where its number has been forgotten meanwhile.
        let mut addresses = said.addresses;
        if let Some(ip) = self.source_ip(caller) {
            addresses.retain(|listed| *listed != ip);
            addresses.push(ip);
        }
        let cookie = Cookie {
            created: now,
            lifetime: self.config.cookie_lifetime + said.preserve.min(MOST_PRESERVED),
            local_tag: identity.tag,
            peer_tag: init.initiate_tag,
            local_tsn: identity.tsn,
            peer_tsn: init.initial_tsn,
            peer_window: init.a_rwnd,
            local_tie_tag: identity.tie_tags.0,
            peer_tie_tag: identity.tie_tags.1,
            local_port: self.local_port,
            peer_port: caller.port,
            outbound_streams: init.inbound_streams,
            inbound_streams: init.outbound_streams,
            source: caller.address,
            extensions,
            addresses,
        };
        let mut parameters = Vec::with_capacity(4);
        parameters.push(Parameter {
            kind: parameter::STATE_COOKIE,
            value: self.keys.seal(&cookie),
        });
        parameters.extend(said.unrecognized.iter().map(|unknown| Parameter {
            kind: parameter::UNRECOGNIZED_PARAMETER,
            value: parameter::encoded(core::slice::from_ref(unknown)),
        }));
        let answer = introduce(
            self.config,
            self.host,
            (identity.tag, identity.tsn),
            self.config.extensions(),
            parameters,
        );
        Chunk::InitAck(Box::new(answer))
    }
}
