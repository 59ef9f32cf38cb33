//! Whether what is counted with every chunk is what stands there: for tests and fuzzers.

use super::Inbound;
use crate::books;

impl Inbound {
    /// Goes over all that is kept and adds up. So much the user has not read.
    pub(crate) fn check_books(
        &self,
        unread_bytes: u64,
        unread_messages: u64,
    ) -> Result<(), String> {
        let (bytes, messages) = self.streams.count_held();
        books::equal("held bytes", self.streams.held_bytes().into(), bytes)?;
        let held = self.streams.held_messages().into();
        books::equal("held messages", held, messages)?;
        let (bytes, pieces) = self.reassembly.count();
        books::equal("bytes of DATA", self.reassembly.bytes().into(), bytes)?;
        books::equal("pieces of DATA", self.reassembly.pieces().into(), pieces)?;
        let (bytes, pieces) = self.interleaved.count();
        books::equal("bytes of I-DATA", self.interleaved.bytes().into(), bytes)?;
        books::equal("pieces of I-DATA", self.interleaved.pieces().into(), pieces)?;
        books::equal("unread bytes", self.unread.into(), unread_bytes)?;
        let messages = self.unread_messages.into();
        books::equal("unread messages", messages, unread_messages)
    }
}
