//! Via: the way of a request (RFC 3261 section 20.42).

use ezk_sip_types::header::typed::Via;
use ezk_sip_types::host::Host;
use ezk_sip_types::uri::params::{Param, Params};

use super::SipError;
use super::lexis::{Scan, is_token, number};
use super::uri::host_port;

/// What a branch begins with where it is unique (RFC 3261 section 8.1.1.7).
pub const MAGIC_COOKIE: &str = "z9hG4bK";

/// Reads the values of one Via line.
pub(super) fn read_list(value: &str, vias: &mut Vec<Via>) -> Result<(), SipError> {
    let mut scan = Scan::new(value);
    loop {
        vias.push(take(&mut scan)?);
        if !scan.eat_separator(b',') {
            return scan.end("something after a Via");
        }
    }
}

fn take(scan: &mut Scan<'_>) -> Result<Via, SipError> {
    let problem = "Via without protocol, version and transport";
    let mut protocol = [""; 3];
    for (index, part) in protocol.iter_mut().enumerate() {
        if index > 0 && !scan.eat_separator(b'/') {
            return Err(SipError::new(problem));
        }
        *part = scan.token(problem)?;
    }
    if !scan.skip_space() {
        return Err(SipError::new("Via without white space before its host"));
    }
    let host = match scan.peek() {
        Some(b'[') => {
            let open = scan.rest();
            let close = scan.take_until(b']').len();
            scan.eat(b']');
            open.get(..=close).unwrap_or_default()
        }
        _ => scan.take_while(|b| b.is_ascii_alphanumeric() || b"-.".contains(&b)),
    };
    let mut sent_by = host_port(host).ok_or(SipError::new("host of a Via"))?;
    if scan.eat_separator(b':') {
        let digits = scan.take_while(|b| b.is_ascii_digit());
        sent_by.port = Some(number(digits).ok_or(SipError::new("port of a Via"))?);
    }
    let mut params = Params::new();
    scan.parameters(|name, value| {
        check_parameter(&name, value)?;
        params.push(match value {
            Some(value) => Param::value(name, value),
            None => Param::name(name),
        });
        Ok(())
    })?;
    Ok(Via {
        transport: protocol[2].into(),
        sent_by,
        params,
    })
}

/// Length of the first Via in a line's value, which the reader has taken.
pub(super) fn first_length(value: &str) -> usize {
    let mut scan = Scan::new(value);
    match take(&mut scan) {
        Ok(_) => value.len() - scan.rest().len(),
        Err(_) => value.len(),
    }
}

fn check_parameter(name: &str, value: Option<&str>) -> Result<(), SipError> {
    let sound = match (name, value) {
        ("ttl", Some(value)) => number::<u8>(value).is_some(),
        ("maddr", Some(value)) => host_port(value).is_some_and(|host| host.port.is_none()),
        ("received", Some(value)) => is_address(value),
        // The cookie alone tells no transactions apart (RFC 4475 section 3.2.1).
        ("branch", Some(value)) => value.bytes().all(is_token) && value != MAGIC_COOKIE,
        ("ttl" | "maddr" | "received" | "branch", None) => false,
        _ => true,
    };
    if sound {
        Ok(())
    } else {
        Err(SipError::new("parameter of a Via"))
    }
}

/// An IP address; one of version 6 is often bracketed, against the grammar.
fn is_address(text: &str) -> bool {
    let bare = text.parse::<std::net::IpAddr>().is_ok();
    bare || host_port(text).is_some_and(|it| it.port.is_none() && matches!(it.host, Host::IP6(_)))
}
