//! What ICMP reports about datagrams that a UDP socket sent.
//!
//! A socket that is connected to nobody hears of such reports only where it asks
//! for them (`IP_RECVERR`, see ip(7)). The kernel then queues each one with the
//! address that the datagram was for.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd};

use nix::errno::Errno;
use nix::libc::{SO_EE_ORIGIN_ICMP, SO_EE_ORIGIN_ICMP6, sock_extended_err};
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt,
};

/// Reports read at a time at most; a flood of them must not keep timers waiting.
const MOST: usize = 64;

/// Asks for reports about what a socket with the address `local` sends.
///
/// # Errors
/// Where the kernel has no such thing.
pub(super) fn ask_for_reports(socket: impl AsFd, local: SocketAddr) -> io::Result<()> {
    match local {
        SocketAddr::V4(_) => setsockopt(&socket, sockopt::Ipv4RecvErr, &true)?,
        SocketAddr::V6(_) => setsockopt(&socket, sockopt::Ipv6RecvErr, &true)?,
    }
    Ok(())
}

/// Takes reports off the socket's queue and appends whom they say nothing reaches.
/// Whether there was any report, of these or of others, is the answer.
///
/// # Errors
/// Where the socket is broken.
pub(super) fn read_reports(socket: impl AsFd, into: &mut Vec<SocketAddr>) -> io::Result<bool> {
    let mut control = nix::cmsg_space!(sock_extended_err, nix::libc::sockaddr_in6);
    let fd = socket.as_fd().as_raw_fd();
    let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
    for count in 0..MOST {
        // The payload, which is the datagram's own, is of no use.
        let report = match recvmsg::<SockaddrStorage>(fd, &mut [], Some(&mut control), flags) {
            Ok(report) => report,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(count > 0),
            Err(error) => return Err(error.into()),
        };
        let is_failure = report.cmsgs()?.any(|control| match control {
            ControlMessageOwned::Ipv4RecvErr(error, _)
            | ControlMessageOwned::Ipv6RecvErr(error, _) => {
                is_failure(error.ee_origin, error.ee_type, error.ee_code)
            }
            _ => false,
        });
        let to = report.address.as_ref().and_then(to_std);
        into.extend(to.filter(|_| is_failure));
    }
    Ok(true)
}

/// Whether RFC 3261 section 18.4 counts a report as a failure to send: unreachable
/// hosts, networks, ports and protocols, and parameter problems. Datagrams that
/// were too long for a link (RFC 792: type 3 code 4), source quench and exceeded
/// times are none.
#[must_use]
pub fn is_failure(origin: u8, kind: u8, code: u8) -> bool {
    match (origin, kind, code) {
        (SO_EE_ORIGIN_ICMP, 3, 4) => false,
        // RFC 792: destination unreachable, parameter problem.
        (SO_EE_ORIGIN_ICMP, 3 | 12, _) => true,
        // RFC 4443: the same.
        (SO_EE_ORIGIN_ICMP6, 1 | 4, _) => true,
        _ => false,
    }
}

fn to_std(address: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = address
        .as_sockaddr_in()
        .map(|it| SocketAddr::V4((*it).into()));
    v4.or_else(|| {
        address
            .as_sockaddr_in6()
            .map(|it| SocketAddr::V6((*it).into()))
    })
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::time::{Duration, Instant};

    use super::*;

    /// Reports about two datagrams to nobody and one to somebody.
    fn reports(host: &str) -> (Vec<SocketAddr>, [SocketAddr; 2]) {
        let bind = || UdpSocket::bind((host, 0)).unwrap();
        let (socket, somebody) = (bind(), bind());
        ask_for_reports(&socket, socket.local_addr().unwrap()).unwrap();
        let nobody = [bind(), bind()].map(|socket| socket.local_addr().unwrap());
        let mut to = Vec::new();
        assert!(!read_reports(&socket, &mut to).unwrap());
        let deadline = Instant::now() + Duration::from_secs(5);
        for target in [nobody[0], somebody.local_addr().unwrap(), nobody[1]] {
            // Each report also fails the next system call on the socket, once.
            while socket.send_to(b"hello", target).is_err() {}
            let wanted = to.len() + usize::from(nobody.contains(&target));
            while to.len() < wanted && Instant::now() < deadline {
                read_reports(&socket, &mut to).unwrap();
            }
        }
        assert_eq!(somebody.recv(&mut [0; 10]).unwrap(), 5);
        (to, nobody)
    }

    #[test]
    fn a_report_names_whom_the_datagram_was_for() {
        let (to, nobody) = reports("127.0.0.1");
        assert_eq!(to, nobody);
        // Where the machine has IPv6 at all.
        if UdpSocket::bind("[::1]:0").is_ok() {
            let (to, nobody) = reports("::1");
            assert_eq!(to, nobody);
        }
    }

    #[test]
    fn only_what_the_standard_names_is_a_failure() {
        let icmp = |kind, code| is_failure(SO_EE_ORIGIN_ICMP, kind, code);
        assert!((0..=3).all(|code| icmp(3, code)) && icmp(12, 0));
        assert!(!icmp(3, 4) && !icmp(4, 0) && !icmp(11, 0));
        let icmp6 = |kind, code| is_failure(SO_EE_ORIGIN_ICMP6, kind, code);
        assert!(icmp6(1, 4) && icmp6(4, 0) && !icmp6(2, 0) && !icmp6(3, 0));
        // Reports of this machine's own kernel come with the system call.
        assert!(!is_failure(nix::libc::SO_EE_ORIGIN_LOCAL, 3, 3));
    }
}
