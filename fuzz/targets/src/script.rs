//! What the fuzzer's bytes say, read from the front.

pub(crate) struct Script<'a>(pub(crate) &'a [u8]);

impl<'a> Script<'a> {
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// The next byte; zero where there is none.
    pub(crate) fn choice(&mut self) -> u8 {
        self.byte().unwrap_or(0)
    }

    pub(crate) fn take(&mut self, length: usize) -> &'a [u8] {
        let (head, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        head
    }
}
