//! What the optional parameters of INIT and INIT ACK say (RFC 9260, sections
//! 3.2.1 and 3.3.2.1; RFC 3758, section 3.1; RFC 5061, section 4.2.7; RFC 9653,
//! section 4).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bytes::Bytes;
use headway_sansio::Duration;
use smallvec::SmallVec;

use super::{Init, Parameter, parameter};

const IPV4_ADDRESS: u16 = 5;
const IPV6_ADDRESS: u16 = 6;
const COOKIE_PRESERVATIVE: u16 = 9;
const SUPPORTED_ADDRESS_TYPES: u16 = 12;
const ECN_CAPABLE: u16 = 0x8000;
const ZERO_CHECKSUM_ACCEPTABLE: u16 = 0x8001;
const SUPPORTED_EXTENSIONS: u16 = 0x8008;
const FORWARD_TSN_SUPPORTED: u16 = 0xc000;

/// The most addresses that are noted of a peer: more than there may be paths, and
/// few enough that an INIT full of them costs nobody anything.
const MOST_ADDRESSES: usize = 32;
/// The most bytes of unknown parameters that are handed back, so that an answer is
/// not much longer than what it answers, nor longer than a packet.
const MOST_REPORTED_BYTES: u32 = 512;

const TYPE_I_DATA: u8 = 64;
const TYPE_RECONFIG: u8 = 130;
const TYPE_FORWARD_TSN: u8 = 192;
const TYPE_I_FORWARD_TSN: u8 = 194;

/// Extensions of the protocol that one side offers, or that both know.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Extensions {
    /// FORWARD-TSN (RFC 3758).
    pub(crate) partial_reliability: bool,
    /// I-DATA, and with `partial_reliability` I-FORWARD-TSN (RFC 8260).
    pub(crate) interleaving: bool,
    /// RE-CONFIG (RFC 6525).
    pub(crate) reconfiguration: bool,
    /// The peer takes packets without a checksum because of what carries them
    /// (RFC 9653).
    pub(crate) zero_checksum: bool,
}

impl Extensions {
    pub(crate) const NONE: Self = Self {
        partial_reliability: false,
        interleaving: false,
        reconfiguration: false,
        zero_checksum: false,
    };

    pub(crate) const fn bits(self) -> u8 {
        self.partial_reliability as u8
            | (self.interleaving as u8) << 1
            | (self.reconfiguration as u8) << 2
            | (self.zero_checksum as u8) << 3
    }

    pub(crate) const fn from_bits(bits: u8) -> Self {
        Self {
            partial_reliability: bits & 1 != 0,
            interleaving: bits & 2 != 0,
            reconfiguration: bits & 4 != 0,
            zero_checksum: bits & 8 != 0,
        }
    }

    /// What both sides know.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self::from_bits(self.bits() & other.bits())
    }
}

/// What one side says of itself in optional parameters.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Announcement {
    pub(crate) addresses: SmallVec<[IpAddr; 2]>,
    pub(crate) extensions: Extensions,
    /// The method by which errors are found where checksums are zero (RFC 9653).
    pub(crate) error_detection: Option<u32>,
    pub(crate) cookie: Option<Bytes>,
    /// By how much the peer asks to lengthen the cookie's life.
    pub(crate) preserve: Duration,
    /// A host name in place of an address, which is forbidden.
    pub(crate) host_name: Option<Parameter>,
    /// Parameters that are unknown and ask to be reported.
    pub(crate) unrecognized: Vec<Parameter>,
}

/// An address as a parameter.
pub(crate) fn address_parameter(ip: IpAddr) -> Parameter {
    match ip {
        IpAddr::V4(v4) => Parameter {
            kind: IPV4_ADDRESS,
            value: v4.octets().to_vec().into(),
        },
        IpAddr::V6(v6) => Parameter {
            kind: IPV6_ADDRESS,
            value: v6.octets().to_vec().into(),
        },
    }
}

/// Asks for a longer life of the next cookie (section 3.3.2.1.3).
pub(crate) fn cookie_preservative(increment: Duration) -> Parameter {
    let millis = u32::try_from(increment.as_nanos() / 1_000_000).unwrap_or(u32::MAX);
    Parameter {
        kind: COOKIE_PRESERVATIVE,
        value: millis.to_be_bytes().to_vec().into(),
    }
}

impl Announcement {
    /// Adds the parameters that say this.
    pub(crate) fn add_to(&self, parameters: &mut Vec<Parameter>) {
        parameters.extend(self.addresses.iter().map(|&ip| address_parameter(ip)));
        let offered = self.extensions;
        let chunks: SmallVec<[u8; 4]> = [
            (offered.interleaving, TYPE_I_DATA),
            (offered.reconfiguration, TYPE_RECONFIG),
            (offered.partial_reliability, TYPE_FORWARD_TSN),
            (
                offered.partial_reliability && offered.interleaving,
                TYPE_I_FORWARD_TSN,
            ),
        ]
        .into_iter()
        .filter_map(|(wanted, kind)| wanted.then_some(kind))
        .collect();
        if !chunks.is_empty() {
            parameters.push(Parameter {
                kind: SUPPORTED_EXTENSIONS,
                value: Bytes::copy_from_slice(&chunks),
            });
        }
        if offered.partial_reliability {
            parameters.push(Parameter {
                kind: FORWARD_TSN_SUPPORTED,
                value: Bytes::new(),
            });
        }
        if let Some(method) = self.error_detection {
            parameters.push(Parameter {
                kind: ZERO_CHECKSUM_ACCEPTABLE,
                value: method.to_be_bytes().to_vec().into(),
            });
        }
    }
}

impl Init {
    /// Reads the optional parameters. `known` is what this side offers: what it
    /// does not is as unknown to it as any other parameter.
    pub(crate) fn announcement(&self, known: Extensions) -> Announcement {
        let mut said = Announcement::default();
        let mut reported = 0;
        let mut forwards_mixed = false;
        for parameter in &self.parameters {
            let value = &parameter.value;
            match parameter.kind {
                IPV4_ADDRESS => {
                    if let Ok(octets) = <[u8; 4]>::try_from(&value[..]) {
                        said.add_address(Ipv4Addr::from(octets).into());
                    }
                }
                IPV6_ADDRESS => {
                    if let Ok(octets) = <[u8; 16]>::try_from(&value[..]) {
                        said.add_address(Ipv6Addr::from(octets).into());
                    }
                }
                parameter::STATE_COOKIE => said.cookie = Some(value.clone()),
                parameter::UNRECOGNIZED_PARAMETER | SUPPORTED_ADDRESS_TYPES | ECN_CAPABLE => {}
                COOKIE_PRESERVATIVE => {
                    if let Ok(millis) = <[u8; 4]>::try_from(&value[..]) {
                        said.preserve = Duration::from_millis(u32::from_be_bytes(millis).into());
                    }
                }
                parameter::HOST_NAME_ADDRESS => said.host_name = Some(parameter.clone()),
                SUPPORTED_EXTENSIONS => {
                    said.extensions.interleaving |= value.contains(&TYPE_I_DATA);
                    said.extensions.reconfiguration |= value.contains(&TYPE_RECONFIG);
                    said.extensions.partial_reliability |=
                        known.partial_reliability && value.contains(&TYPE_FORWARD_TSN);
                    forwards_mixed |= value.contains(&TYPE_I_FORWARD_TSN);
                }
                FORWARD_TSN_SUPPORTED if known.partial_reliability => {
                    said.extensions.partial_reliability = true;
                }
                ZERO_CHECKSUM_ACCEPTABLE => {
                    if let Ok(method) = <[u8; 4]>::try_from(&value[..]) {
                        said.error_detection = Some(u32::from_be_bytes(method));
                    }
                }
                unknown => {
                    // Section 3.2.1: the second highest bit asks for a report, the
                    // highest says whether to go on.
                    reported += 4 + parameter.length_bytes();
                    if unknown & 0x4000 != 0 && reported <= MOST_REPORTED_BYTES {
                        said.unrecognized.push(parameter.clone());
                    }
                    if unknown & 0x8000 == 0 {
                        break;
                    }
                }
            }
        }
        // RFC 8260, section 2.3.1: with I-DATA it takes I-FORWARD-TSN.
        let mixed = known.interleaving && said.extensions.interleaving;
        said.extensions.partial_reliability &= !mixed || forwards_mixed;
        said
    }
}

impl Announcement {
    /// Notes an address to which a packet can be sent. Others the peer cannot
    /// mean (section 8.4, rule 1).
    fn add_address(&mut self, ip: IpAddr) {
        let broadcast = ip == IpAddr::V4(Ipv4Addr::BROADCAST);
        let unicast = !(ip.is_multicast() || ip.is_unspecified() || broadcast);
        let room = self.addresses.len() < MOST_ADDRESSES;
        if unicast && room && !self.addresses.contains(&ip) {
            self.addresses.push(ip);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tsn;

    const ALL: Extensions = Extensions {
        partial_reliability: true,
        interleaving: true,
        reconfiguration: true,
        zero_checksum: true,
    };

    fn init(parameters: Vec<Parameter>) -> Init {
        Init {
            initiate_tag: 1,
            a_rwnd: 1500,
            outbound_streams: 1,
            inbound_streams: 1,
            initial_tsn: Tsn(0),
            parameters,
        }
    }

    fn parameters(said: &Announcement) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        said.add_to(&mut parameters);
        parameters
    }

    fn unknown(kind: u16) -> Parameter {
        Parameter {
            kind,
            value: Bytes::from_static(&[1, 2, 3]),
        }
    }

    #[test]
    fn what_is_said_is_heard() {
        let mut said = Announcement {
            addresses: [
                IpAddr::from(Ipv4Addr::new(10, 0, 0, 1)),
                IpAddr::from(Ipv6Addr::LOCALHOST),
            ]
            .into_iter()
            .collect(),
            extensions: ALL,
            error_detection: Some(1),
            ..Announcement::default()
        };
        let heard = init(parameters(&said)).announcement(ALL);
        // Whether zero checksums may be sent depends on the method, which the
        // association judges.
        said.extensions.zero_checksum = false;
        assert_eq!(heard, said);
    }

    #[test]
    fn addresses_that_no_packet_can_reach_are_not_taken() {
        let addresses = [
            Ipv4Addr::BROADCAST,
            Ipv4Addr::UNSPECIFIED,
            Ipv4Addr::new(224, 0, 0, 1),
            Ipv4Addr::new(10, 0, 0, 1),
            Ipv4Addr::new(10, 0, 0, 1),
        ];
        let parameters = addresses.map(|ip| address_parameter(ip.into()));
        let heard = init(parameters.to_vec()).announcement(ALL);
        assert_eq!(&heard.addresses[..], [IpAddr::from(addresses[3])]);
    }

    #[test]
    fn the_high_bits_of_unknown_parameters() {
        // Kind, reported, the next is read.
        for (kind, reported, goes_on) in [
            (0x3fff, false, false),
            (0x7fff, true, false),
            (0xbfff, false, true),
            (0xffff, true, true),
        ] {
            let after = address_parameter(Ipv4Addr::new(10, 0, 0, 1).into());
            let heard = init(vec![unknown(kind), after]).announcement(ALL);
            assert_eq!(heard.unrecognized.len(), usize::from(reported), "{kind:x}");
            assert_eq!(heard.addresses.len(), usize::from(goes_on), "{kind:x}");
        }
    }

    #[test]
    fn an_init_full_of_parameters_is_read_in_part() {
        let many = (0..8_000u32).map(|n| address_parameter(Ipv4Addr::from(1 + n).into()));
        let heard = init(many.collect()).announcement(ALL);
        assert_eq!(heard.addresses.len(), MOST_ADDRESSES);
        let heard = init(vec![unknown(0xffff); 8_000]).announcement(ALL);
        // Each takes 4 bytes of header about the parameter of 7.
        assert_eq!(heard.unrecognized.len(), 512 / 11);
    }

    #[test]
    fn an_extension_that_this_side_has_not_is_unknown() {
        let offer = Announcement {
            extensions: ALL,
            ..Announcement::default()
        };
        let heard = init(parameters(&offer)).announcement(Extensions::NONE);
        assert_eq!(heard.unrecognized.len(), 1, "FORWARD-TSN supported");
        assert!(!heard.extensions.partial_reliability);
    }
}
