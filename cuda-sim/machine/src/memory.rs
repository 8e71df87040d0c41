//! The global address space as the kernel sees it; the driver's state implements it and checks each access.

use std::borrow::Cow;
use std::fmt;

use crate::registers::Lane;

/// Lanes of a warp.
pub const WARP_SIZE: usize = 32;

/// First generic address of the window through which a thread sees its block's shared memory.
///
/// The windows lie above 2^47, where no device or host allocation can be.
pub const SHARED_WINDOW: u64 = 0x0053_0000_0000_0000;
/// First generic address of the window through which a thread sees its own local memory.
pub const LOCAL_WINDOW: u64 = 0x004c_0000_0000_0000;
/// First generic address of the window through which a thread sees the kernel's parameters.
pub const PARAM_WINDOW: u64 = 0x0050_0000_0000_0000;
/// Where functions have their addresses, unless the launch says otherwise; nothing can be read there.
pub const CODE_WINDOW: u64 = 0x0043_0000_0000_0000;
/// Bytes of each window.
pub const WINDOW_SIZE: u64 = 1 << 32;

/// Why the memory refused an access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryFault {
    /// First byte of the refused access.
    pub address: u64,
    /// Bytes of the refused access.
    pub size: usize,
    /// What is wrong with it, as a phrase that can follow "address 0x…, 4 bytes:".
    pub why: Cow<'static, str>,
}

impl fmt::Display for MemoryFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "address {:#x}, {} bytes: {}",
            self.address, self.size, self.why
        )
    }
}

impl std::error::Error for MemoryFault {}

/// A fault of one lane of a warp's access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneFault {
    /// Number of the lane, 0 to 31.
    pub lane: usize,
    /// What happened to it.
    pub fault: MemoryFault,
}

/// The addresses of one access by a warp.
#[derive(Debug, Clone, Copy)]
pub struct Lanes<'a> {
    /// Bit *i* is set when lane *i* takes part.
    pub mask: u32,
    /// Bytes that each lane accesses: 1, 2, 4, 8, 16 or 32. Each address is a multiple of it.
    pub size: usize,
    /// The address of each lane; meaningless where the mask has no bit.
    pub addresses: &'a [u64; WARP_SIZE],
}

impl Lanes<'_> {
    /// Where the lanes of the mask lie side by side, the address that lane 0 has or would have.
    #[inline(always)]
    #[must_use]
    pub fn contiguous_base(&self) -> Option<u64> {
        let first = self.mask.trailing_zeros() as usize % WARP_SIZE;
        let base = self.addresses[first].wrapping_sub((first * self.size) as u64);
        let mut apart = *self.addresses;
        for (lane, address) in apart.iter_mut().enumerate() {
            *address = address.wrapping_sub(base) ^ (lane * self.size) as u64;
        }
        (self.any(&apart) == 0).then_some(base)
    }

    /// The bits that are set in the active ones of some values.
    #[inline(always)]
    pub(crate) fn any(&self, values: &[u64; WARP_SIZE]) -> u64 {
        let mut bits = 0;
        if self.mask == u32::MAX {
            for value in values {
                bits |= value;
            }
        } else {
            let mut chosen = [0; WARP_SIZE];
            for lane in 0..WARP_SIZE {
                chosen[lane] = u64::choose(self.mask, lane, values[lane], 0);
            }
            for value in chosen {
                bits |= value;
            }
        }
        bits
    }

    /// The active lanes as few pieces: the first lane of each, and how many follow each other at consecutive addresses.
    pub fn pieces(&self) -> impl Iterator<Item = (usize, usize)> {
        let (mask, size, addresses) = (self.mask, self.size as u64, self.addresses);
        let mut next = 0;
        std::iter::from_fn(move || {
            let first = (next..WARP_SIZE).find(|lane| mask >> lane & 1 == 1)?;
            let mut end = first + 1;
            while end < WARP_SIZE
                && mask >> end & 1 == 1
                && addresses[end] == addresses[end - 1].wrapping_add(size)
            {
                end += 1;
            }
            next = end;
            Some((first, end - first))
        })
    }

    /// The address that all lanes of the mask have, where they have the same.
    #[inline]
    #[must_use]
    pub fn uniform_address(&self) -> Option<u64> {
        let first = self.addresses[self.mask.trailing_zeros() as usize % WARP_SIZE];
        let apart = self.addresses.map(|address| address ^ first);
        (self.any(&apart) == 0).then_some(first)
    }

    /// The numbers of the lanes that take part.
    pub fn active(&self) -> impl Iterator<Item = usize> + use<> {
        let mask = self.mask;
        (0..WARP_SIZE).filter(move |lane| mask >> lane & 1 == 1)
    }
}

/// What is known about bytes that were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// All of them had been written, as far as the memory knows.
    Written,
    /// Some of them had not.
    Unwritten {
        /// The index of the first of these.
        first: usize,
    },
}

/// Global memory, the constant bank and whatever else lies in the generic address space outside the windows.
///
/// Implementations check bounds, liveness and permissions; the machine has checked the alignment. An access either happens whole or,
/// when it is refused, not at all.
pub trait Memory: Sync {
    /// Reads `into.len()` bytes at `address`. That some of them were never written is no error: the kernel goes on with what they read as.
    ///
    /// # Errors
    /// The bytes are not all readable.
    fn load(&self, address: u64, into: &mut [u8]) -> Result<Contents, MemoryFault>;

    /// Writes `bytes` at `address`.
    ///
    /// # Errors
    /// The bytes are not all writable.
    fn store(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryFault>;

    /// Replaces the little-endian word of `size` bytes (2, 4 or 8) at `address` by `update(old)` as one indivisible step, and returns
    /// the old word, with what is known about it. `update` may be called more than once.
    ///
    /// # Errors
    /// The bytes are not all readable and writable.
    fn atomic(
        &self,
        address: u64,
        size: usize,
        update: &mut dyn FnMut(u64) -> u64,
    ) -> Result<(u64, Contents), MemoryFault>;

    /// Reads for a whole warp: lane *i* fills `into[i * size..][..size]`. What is known about the contents counts from the start of `into`.
    ///
    /// The default reads lanes that follow each other at consecutive addresses in one piece, and one address for all lanes once.
    ///
    /// # Errors
    /// The fault of the lowest lane that has one.
    fn load_lanes(&self, lanes: &Lanes<'_>, into: &mut [u8]) -> Result<Contents, LaneFault> {
        let size = lanes.size;
        let mut contents = Contents::Written;
        // Pieces come in ascending order: the first one with such a byte has the lowest.
        let mut found = |start: usize, loaded| {
            if let (Contents::Written, Contents::Unwritten { first }) = (contents, loaded) {
                contents = Contents::Unwritten {
                    first: start + first,
                };
            }
        };
        let first = lanes.mask.trailing_zeros() as usize;
        if let (Some(address), Some(into)) = (lanes.uniform_address(), into.get_mut(first * size..))
            && let Some((piece, rest)) = into.split_at_mut_checked(size)
        {
            let loaded = self
                .load(address, piece)
                .map_err(|fault| LaneFault { lane: first, fault })?;
            found(first * size, loaded);
            rest.chunks_exact_mut(size)
                .for_each(|copy| copy.copy_from_slice(piece));
            return Ok(contents);
        }
        for (first, count) in lanes.pieces() {
            let piece = &mut into[first * size..(first + count) * size];
            if let Ok(loaded) = self.load(lanes.addresses[first], piece) {
                found(first * size, loaded);
                continue;
            }
            for (lane, piece) in (first..).zip(piece.chunks_exact_mut(size)) {
                let loaded = self
                    .load(lanes.addresses[lane], piece)
                    .map_err(|fault| LaneFault { lane, fault })?;
                found(lane * size, loaded);
            }
        }
        Ok(contents)
    }

    /// Writes for a whole warp: lane *i* writes `bytes[i * size..][..size]`; of two lanes with one address the higher wins.
    ///
    /// The default writes lanes that follow each other at consecutive addresses in one piece.
    ///
    /// # Errors
    /// The fault of the lowest lane that has one; lower lanes have then written.
    fn store_lanes(&self, lanes: &Lanes<'_>, bytes: &[u8]) -> Result<(), LaneFault> {
        let size = lanes.size;
        for (first, count) in lanes.pieces() {
            let piece = &bytes[first * size..(first + count) * size];
            if self.store(lanes.addresses[first], piece).is_ok() {
                continue;
            }
            for (lane, piece) in (first..).zip(piece.chunks_exact(size)) {
                self.store(lanes.addresses[lane], piece)
                    .map_err(|fault| LaneFault { lane, fault })?;
            }
        }
        Ok(())
    }
}
