//! What the messages carry: bytes that can be told from all others.

use bytes::Bytes;
use headway_sansio::{RandomStream, Seed};

use crate::units;

/// Sizes of messages, in bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sizes {
    /// These in turn.
    List(Vec<u64>),
    /// At random, each as likely, both ends included.
    Range(u64, u64),
}

impl Sizes {
    /// `450B`, `1B..200kB` or `1B,2kB`; each size is 1 byte to 1 GiB.
    ///
    /// # Errors
    /// What is wrong with the text, for the user to read.
    pub fn parse(text: &str) -> Result<Self, String> {
        let size = |text: &str| match units::size(text)? {
            0 => Err("a message has at least one byte".to_owned()),
            size if size > 1 << 30 => Err(format!("\"{text}\" is above 1 GiB")),
            size => Ok(size),
        };
        if let Some((least, most)) = text.split_once("..") {
            let (least, most) = (size(least)?, size(most)?);
            if least > most {
                return Err(format!("\"{text}\" runs backwards"));
            }
            return Ok(Self::Range(least, most));
        }
        let list: Result<_, _> = text.split(',').map(size).collect();
        list.map(Self::List)
    }

    /// The longest of them.
    #[must_use]
    pub fn longest(&self) -> u64 {
        match self {
            Self::List(list) => list.iter().copied().max().unwrap_or_default(),
            Self::Range(_, most) => *most,
        }
    }

    /// The shortest of them.
    #[must_use]
    pub fn shortest(&self) -> u64 {
        match self {
            Self::List(list) => list.iter().copied().min().unwrap_or_default(),
            Self::Range(least, _) => *least,
        }
    }

    fn of(&self, number: u64, random: &mut RandomStream) -> u64 {
        match self {
            Self::List(list) => list[(number % list.len() as u64) as usize],
            Self::Range(least, most) => least + random.below(most - least + 1),
        }
    }
}

/// Makes the messages of one association, by their numbers.
#[derive(Clone, Debug)]
pub struct Payloads {
    sizes: Sizes,
    seed: u64,
}

impl Payloads {
    /// Messages of these sizes, whose contents follow from the seed.
    #[must_use]
    pub fn new(sizes: Sizes, seed: Seed) -> Self {
        Self {
            sizes,
            seed: seed.value(),
        }
    }

    /// The content of a message. It begins with the message's number, where there
    /// is room for it.
    #[must_use]
    pub fn content(&self, number: u64) -> Bytes {
        let mut random = Seed::new(self.seed ^ number).stream("payload");
        let size = self.sizes.of(number, &mut random) as usize;
        let mut content = Vec::with_capacity(size.next_multiple_of(8));
        if size >= 8 {
            content.extend_from_slice(&number.to_be_bytes());
        }
        while content.len() < size {
            content.extend_from_slice(&random.bits().to_be_bytes());
        }
        content.truncate(size);
        content.into()
    }

    /// The number that a message claims to have, if it is long enough to say so.
    #[must_use]
    pub fn number(content: &[u8]) -> Option<u64> {
        content
            .first_chunk()
            .map(|first| u64::from_be_bytes(*first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        let list = |sizes: &[u64]| Ok(Sizes::List(sizes.to_vec()));
        assert_eq!(Sizes::parse("450B"), list(&[450]));
        assert_eq!(Sizes::parse("1B,2kB"), list(&[1, 2000]));
        assert_eq!(Sizes::parse("1B..200kB"), Ok(Sizes::Range(1, 200_000)));
        for wrong in ["0B", "", "5", "2B..1B", "1B,", "2GiB"] {
            assert!(Sizes::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn contents_tell_their_numbers_and_differ() {
        let payloads = Payloads::new(Sizes::Range(1, 40), Seed::new(7));
        let mut seen = std::collections::BTreeSet::new();
        for number in 0..1000 {
            let content = payloads.content(number);
            assert!((1..=40).contains(&content.len()));
            seen.insert(content.len());
            assert_eq!(content, payloads.content(number));
            if content.len() >= 8 {
                assert_eq!(Payloads::number(&content), Some(number));
            }
        }
        assert_eq!(seen.len(), 40);
        let other = Payloads::new(Sizes::List(vec![40]), Seed::new(8)).content(3);
        let this = Payloads::new(Sizes::List(vec![40]), Seed::new(7)).content(3);
        assert_ne!(this, other);
    }
}
