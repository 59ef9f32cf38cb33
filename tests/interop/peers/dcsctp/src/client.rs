//! The client: sends, and compares what comes back.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use dcsctp::api::{DcSctpSocket, Message, PpId, SendOptions, StreamId};

use crate::content::{LAST, fill, index_of};
use crate::link::{Link, bind};
use crate::settings::Settings;

struct Client<'a> {
    settings: &'a Settings,
    link: Link,
    sent: u32,
    echoed: u32,
    bad: u32,
    /// The index that the next ordered echo on each stream must have.
    next: Vec<u32>,
    last_came: bool,
}

pub(crate) fn connect(settings: &Settings) -> io::Result<()> {
    let remote = SocketAddr::from((Ipv4Addr::LOCALHOST, settings.remote_udp));
    let mut link = Link::new(settings, bind(settings)?, remote);
    link.tick();
    link.socket.connect();
    while !link.up && link.ended.is_none() {
        link.step(Duration::from_secs(1))?;
    }
    if !link.up {
        println!(
            r#"{{"stack":"dcsctp","role":"connect","sent":0,"echoed":0,"bad":0,"ended":"refused"}}"#
        );
        return Ok(());
    }
    println!(r#"{{"stack":"dcsctp","up":true}}"#);
    let interleaving = link.interleaves();
    let mut client = Client {
        settings,
        link,
        sent: 0,
        echoed: 0,
        bad: 0,
        next: (0..u32::from(settings.streams)).collect(),
        last_came: false,
    };
    client.send_all()?;
    if settings.reset && client.is_alive() {
        client.reset_streams()?;
        client.send_all()?;
    }
    client.finish()?;
    println!(
        r#"{{"stack":"dcsctp","role":"connect","sent":{},"echoed":{},"bad":{},"interleaving":{interleaving},"resets_out":{},"last_came":{},"ended":"{}"}}"#,
        client.sent,
        client.echoed,
        client.bad,
        client.link.resets_out,
        client.last_came,
        client.link.ended.as_deref().unwrap_or_default(),
    );
    if settings.linger {
        // A peer that has not heard of the end is still answered.
        loop {
            client.link.step(Duration::from_secs(1))?;
        }
    }
    Ok(())
}

impl Client<'_> {
    fn is_alive(&self) -> bool {
        self.link.ended.is_none()
    }

    fn step(&mut self, longest: Duration) -> io::Result<()> {
        self.link.step(longest)?;
        while let Some(message) = self.link.socket.get_next_message() {
            self.check(&message);
        }
        // Reading opens the window; the next packet tells the peer.
        self.link.drain();
        Ok(())
    }

    fn steps(&mut self, time: Duration) -> io::Result<()> {
        let until = Instant::now() + time;
        while self.is_alive() && Instant::now() < until {
            self.step(until - Instant::now())?;
        }
        Ok(())
    }

    fn check(&mut self, message: &Message) {
        let settings = self.settings;
        let data = &message.payload;
        if data.len() == 8 && settings.size != 8 && *data == fill(LAST, 8) {
            self.last_came = true;
            return;
        }
        let stream = message.stream_id.0;
        let Some(next) = self.next.get_mut(usize::from(stream)) else {
            self.bad += 1;
            return;
        };
        let index = if settings.size >= 4 {
            index_of(data).unwrap_or(LAST)
        } else {
            *next
        };
        let ordered = !settings.unordered && !settings.is_partial();
        let good = *data == fill(index, settings.size)
            && index % u32::from(settings.streams) == u32::from(stream)
            && (!ordered || index == *next);
        self.bad += u32::from(!good);
        *next = index.wrapping_add(settings.streams.into());
        self.echoed += 1;
    }

    fn send(&mut self, index: u32, size: usize, stream: u16, reliable: bool) -> bool {
        let options = SendOptions {
            unordered: self.settings.unordered,
            lifetime: self.settings.ttl.filter(|_| !reliable),
            max_retransmissions: self.settings.max_rtx.filter(|_| !reliable),
            lifecycle_id: None,
        };
        let message = Message::new(StreamId(stream), PpId(53), fill(index, size));
        self.link.tick();
        let sent = self.link.socket.send(message, &options).is_ok();
        self.link.drain();
        sent
    }

    fn send_all(&mut self) -> io::Result<()> {
        let settings = self.settings;
        let until = self.sent + settings.count;
        while self.sent < until && self.is_alive() {
            if settings.is_partial() {
                self.steps(Duration::from_millis(1))?;
            } else if self.sent - self.echoed >= settings.window {
                self.step(Duration::from_secs(1))?;
                continue;
            }
            let stream = (self.sent % u32::from(settings.streams)) as u16;
            if self.send(self.sent, settings.size, stream, false) {
                self.sent += 1;
            } else {
                self.step(Duration::from_millis(1))?;
            }
        }
        if settings.is_partial() {
            // What follows reliably shows that the association lives.
            self.send(LAST, 8, 0, true);
            while self.is_alive() && !self.last_came {
                self.step(Duration::from_secs(1))?;
            }
            return Ok(());
        }
        while self.is_alive() && self.echoed < self.sent {
            self.step(Duration::from_secs(1))?;
        }
        Ok(())
    }

    /// Resets every stream; the numbers on them then begin at zero.
    fn reset_streams(&mut self) -> io::Result<()> {
        let streams: Vec<_> = (0..self.settings.streams).map(StreamId).collect();
        self.link.tick();
        if let Err(error) = self.link.socket.reset_streams(&streams) {
            self.link.end(&format!("reset: {error}"));
        }
        self.link.drain();
        while self.is_alive() && self.link.resets_out < streams.len() {
            self.step(Duration::from_secs(1))?;
        }
        for place in 0..u32::from(self.settings.streams) {
            let index = self.sent + place;
            self.next[(index % u32::from(self.settings.streams)) as usize] = index;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.link.tick();
        match self.settings.end.as_str() {
            "abort" if self.is_alive() => {
                self.link.end("own abort");
                self.link.socket.close();
                self.link.drain();
            }
            "shutdown" if self.is_alive() => self.link.socket.shutdown(),
            // The other end does it.
            _ => {}
        }
        while self.is_alive() {
            self.step(Duration::from_secs(1))?;
        }
        Ok(())
    }
}
