//! Little-endian numbers and ranges of a binary, read with the end in view.

/// The bytes of an image.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl Bytes<'_> {
    fn array<const N: usize>(self, offset: usize) -> Option<[u8; N]> {
        let end = offset.checked_add(N)?;
        self.0.get(offset..end)?.try_into().ok()
    }

    pub(super) fn byte(self, offset: usize) -> Option<u8> {
        self.0.get(offset).copied()
    }

    pub(super) fn half(self, offset: usize) -> Option<u16> {
        self.array(offset).map(u16::from_le_bytes)
    }

    pub(super) fn word(self, offset: usize) -> Option<u32> {
        self.array(offset).map(u32::from_le_bytes)
    }

    /// A 64-bit number, where it fits this machine's sizes; larger ones are beyond any slice.
    pub(super) fn size(self, offset: usize) -> Option<usize> {
        let number = self.array(offset).map(u64::from_le_bytes)?;
        Some(usize::try_from(number).unwrap_or(usize::MAX))
    }

    /// Whether that many bytes lie at the offset.
    pub(super) fn has(self, offset: usize, size: usize) -> bool {
        offset
            .checked_add(size)
            .is_some_and(|end| end <= self.0.len())
    }
}
