//! Session descriptions of calls without media: offer and answer (RFC 3264,
//! RFC 8866), written and read by the library `sdp-types`.

use sdp_types::{AddrType, Attribute, Connection, Media, NetType, Origin, Session, Time};

/// The discard port: nothing is sent, and nobody listens.
const PORT: u16 = 9;

/// An offer of one audio stream that carries nothing.
pub(super) fn offer(id: u64, host: &str) -> Vec<u8> {
    let mut session = session(id, host);
    session.medias.push(Media {
        attributes: vec![Attribute::new("inactive")],
        ..Media::new(
            sdp_types::MediaType::Audio,
            PORT,
            sdp_types::TransportProto::RtpAvp,
            "0",
        )
    });
    write(&session)
}

/// The answer to an offer: as many streams in the same order, the first audio
/// stream kept but inactive, the others refused by port zero (RFC 3264 section 6).
/// `None` where the offer is no session description.
pub(super) fn answer(offer: &[u8], id: u64, host: &str) -> Option<Vec<u8>> {
    let offer = Session::parse(offer).ok()?;
    let mut session = session(id, host);
    let mut kept = false;
    for media in &offer.medias {
        let keep = !kept && media.media == "audio" && media.port != 0;
        kept |= keep;
        session.medias.push(Media {
            media: media.media.clone(),
            port: if keep { PORT } else { 0 },
            num_ports: None,
            proto: media.proto.clone(),
            fmt: media.fmt.clone(),
            media_title: None,
            connections: Vec::new(),
            bandwidths: Vec::new(),
            key: None,
            attributes: keep
                .then(|| Attribute::new("inactive"))
                .into_iter()
                .collect(),
        });
    }
    Some(write(&session))
}

fn session(id: u64, host: &str) -> Session {
    let address = host_of(host);
    let kind = if address.contains(':') {
        AddrType::Ip6
    } else {
        AddrType::Ip4
    };
    // The numbers of a session are decimal and of 62 bits here, which every
    // reader's integers hold.
    let number = id >> 2;
    let origin = Origin::new(number, number, NetType::In, kind.clone(), address);
    let mut session = Session::new(origin, "-");
    session.connection = Some(Connection::new(NetType::In, kind, address));
    session.times.push(Time::new(0, 0));
    session
}

/// The host without its port and without the brackets of an IPv6 address.
fn host_of(host: &str) -> &str {
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split(']').next().unwrap_or(rest);
    }
    host.split(':').next().unwrap_or(host)
}

fn write(session: &Session) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing into memory does not fail.
    let _ = session.write(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_and_its_answer() {
        let offer = offer(8, "192.0.2.1:5060");
        let text = String::from_utf8(offer.clone()).unwrap();
        assert!(text.contains("o=- 2 2 IN IP4 192.0.2.1\r\n"), "{text}");
        assert!(
            text.contains("m=audio 9 RTP/AVP 0\r\na=inactive\r\n"),
            "{text}"
        );
        let answer = answer(&offer, 16, "[2001:db8::1]:5060").unwrap();
        let text = String::from_utf8(answer).unwrap();
        assert!(text.contains("o=- 4 4 IN IP6 2001:db8::1\r\n"), "{text}");
        assert!(
            text.contains("m=audio 9 RTP/AVP 0\r\na=inactive\r\n"),
            "{text}"
        );
    }

    #[test]
    fn an_answer_has_the_offers_streams_in_order() {
        let offer = b"v=0\r\no=- 1 1 IN IP4 h\r\ns=-\r\nt=0 0\r\n\
            m=video 5000 RTP/AVP 31\r\nm=audio 0 RTP/AVP 0\r\nm=audio 6000 RTP/AVP 8 0\r\n\
            m=audio 7000 RTP/AVP 0\r\n";
        let answer = Session::parse(&answer(offer, 0, "h").unwrap()).unwrap();
        let streams: Vec<(&str, u16, &str)> = answer
            .medias
            .iter()
            .map(|media| (&*media.media, media.port, &*media.fmt))
            .collect();
        let expected = [
            ("video", 0, "31"),
            ("audio", 0, "0"),
            ("audio", 9, "8 0"),
            ("audio", 0, "0"),
        ];
        assert_eq!(streams, expected);
        assert_eq!(super::answer(b"no session", 0, "h"), None);
    }
}
