//! The server: every message goes back on its stream.

use std::collections::VecDeque;
use std::io;
use std::net::UdpSocket;
use std::time::Duration;

use dcsctp::api::{DcSctpSocket, Message, SendOptions, SocketState};

use crate::link::{Link, bind, is_temporary};
use crate::settings::Settings;

/// Chunk type of INIT (RFC 9260, section 3.3.2).
const INIT: u8 = 1;

pub(crate) fn serve(settings: &Settings) -> io::Result<()> {
    let udp = bind(settings)?;
    println!(r#"{{"stack":"dcsctp","ready":true}}"#);
    loop {
        udp.set_read_timeout(None)?;
        let mut buffer = [0; 65_536];
        let (length, from) = match udp.recv_from(&mut buffer) {
            Ok(read) => read,
            Err(error) if is_temporary(&error) => continue,
            Err(error) => return Err(error),
        };
        // Only INIT begins an association; the rest belongs to an old one.
        if buffer[..length].get(12) != Some(&INIT) {
            continue;
        }
        let mut link = Link::new(settings, udp.try_clone()?, from);
        link.input(&buffer[..length]);
        serve_one(settings, link, &udp)?;
    }
}

fn serve_one(settings: &Settings, mut link: Link, _udp: &UdpSocket) -> io::Result<()> {
    let (mut received, mut bytes) = (0_u32, 0);
    let mut interleaving = false;
    let mut waiting = VecDeque::new();
    // dcsctp does not tell whether a message came unordered.
    let options = SendOptions {
        unordered: settings.unordered,
        ..SendOptions::default()
    };
    while link.ended.is_none() {
        link.step(Duration::from_secs(1))?;
        interleaving |= link.interleaves();
        while let Some(message) = link.socket.get_next_message() {
            received += 1;
            bytes += message.payload.len();
            waiting.push_back(message);
        }
        while let Some(message) = waiting.pop_front() {
            let copy = Message::new(message.stream_id, message.ppid, message.payload.clone());
            if link.socket.send(copy, &options).is_err() {
                if link.socket.state() == SocketState::Connected {
                    waiting.push_front(message);
                }
                break;
            }
        }
        let streams = std::mem::take(&mut link.reset_by_peer);
        if !streams.is_empty() {
            // What the peer resets is reset the other way too (RFC 8831).
            let _ = link.socket.reset_streams(&streams);
        }
        link.drain();
        if settings.end_after > 0 && received == settings.end_after && waiting.is_empty() {
            if settings.end == "abort" {
                link.end("own abort");
                link.socket.close();
                link.drain();
            } else if link.socket.state() == SocketState::Connected {
                link.socket.shutdown();
            }
        }
    }
    println!(
        r#"{{"stack":"dcsctp","role":"serve","received":{received},"bytes":{bytes},"interleaving":{interleaving},"resets_in":{},"restarts":{},"ended":"{}"}}"#,
        link.resets_in,
        link.restarts,
        link.ended.unwrap_or_default(),
    );
    Ok(())
}
