//! What a message holds: its index, then bytes that follow from both.

/// The index of the message that follows those that may be given up.
pub(crate) const LAST: u32 = u32::MAX;

/// The message of this index and size.
pub(crate) fn fill(index: u32, size: usize) -> Vec<u8> {
    let mut data: Vec<u8> = (0..size as u32)
        .map(|place| index.wrapping_mul(31).wrapping_add(place.wrapping_mul(7)) as u8)
        .collect();
    if let Some(head) = data.first_chunk_mut::<4>() {
        *head = index.to_be_bytes();
    }
    data
}

/// The index that a message carries, where it is long enough for one.
pub(crate) fn index_of(data: &[u8]) -> Option<u32> {
    data.first_chunk().map(|head| u32::from_be_bytes(*head))
}
