//! Whether what an association counts as it goes is what it has.

use super::Association;
use super::state::State;
use crate::Event;

impl Association {
    /// Counts anew what is otherwise counted along the way: what is under way on which
    /// path, what waits, what the receive buffer holds; and sees whether a timer runs for
    /// what is under way. For tests and fuzzers, as it goes over all that is kept.
    ///
    /// # Errors
    /// Says which sum is wrong.
    pub fn check_books(&self) -> Result<(), String> {
        let count = self.paths.len();
        let places = self.control.iter().map(|(path, _)| *path);
        let places = places.chain([self.reply_path, self.paths.data(), self.paths.primary()]);
        if let Some(path) = places.into_iter().find(|&path| path >= count) {
            return Err(format!("path {path} of {count}"));
        }
        let content = |event: &Event| match event {
            Event::Message(message) => Some(message.payload.len() as u64),
            Event::Part(part) => Some(part.payload.len() as u64),
            _ => None,
        };
        let unread = || self.events.iter().filter_map(content);
        let (bytes, messages) = (unread().sum(), unread().count() as u64);
        self.inbound.check_books(bytes, messages)?;
        // Beside COOKIE ECHO DATA is under way as well.
        let timed = self.state.sends_data() || matches!(self.state, State::CookieEchoed { .. });
        self.outbound.check_books(&self.paths, timed)
    }
}
