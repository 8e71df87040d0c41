//! Fat binaries: PTX and machine code for several architectures in one container.
//!
//! A container has a header of 16 bytes and then entries, each with a header of its own. Everything here works on slices: what a header
//! claims is compared with what is there, and what is unpacked takes no more memory than it has bytes.

use std::borrow::Cow;
use std::fmt;
use std::io::Read;

/// How a container starts.
pub(crate) const MAGIC: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();
/// Bytes of a container's header.
pub(crate) const HEADER: usize = 16;
/// Bytes of the part of an entry's header that all entries have.
const ENTRY: usize = 64;
/// More than any container has.
const LARGEST_CONTAINER: u64 = 1 << 36;
/// More than any module's text has.
const LARGEST_TEXT: u64 = 1 << 28;

/// Bits of an entry's flags.
mod flag {
    pub(super) const LZ4: u64 = 0x2000;
    pub(super) const ZSTD: u64 = 0x8000;
    pub(super) const EXACT: u64 = 0x10_0000;
    pub(super) const FAMILY: u64 = 0x20_0000;
}

/// What an entry holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The text of a module.
    Ptx,
    /// A cubin.
    MachineCode,
    /// Something that later compilers write.
    Other(u16),
}

/// Which devices a text that was written for one architecture can be compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// That architecture and all later ones.
    Later,
    /// Those of the same family that are not older (`sm_100f`).
    Family,
    /// That one alone (`sm_90a`).
    Exact,
}

impl Reach {
    /// Whether text for `architecture` runs on `device`; both are `10 * major + minor`.
    pub(crate) fn includes(self, architecture: u32, device: u32) -> bool {
        match self {
            Self::Later => architecture <= device,
            Self::Family => architecture <= device && architecture / 10 == device / 10,
            Self::Exact => architecture == device,
        }
    }
}

/// How an entry is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    Plain,
    Lz4,
    Zstd,
}

/// One entry of a container.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) kind: Kind,
    /// `10 * major + minor`.
    pub(crate) architecture: u32,
    pub(crate) reach: Reach,
    packing: Packing,
    /// The packed bytes, without those that fill the entry up.
    payload: &'a [u8],
    /// Bytes when unpacked.
    size: u64,
}

fn number<const N: usize>(bytes: &[u8], place: usize) -> Option<u64> {
    let field = bytes.get(place..place.checked_add(N)?)?;
    Some(
        field
            .iter()
            .rev()
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
    )
}

/// Bytes of the container that starts with this header.
///
/// # Errors
/// What is wrong with the header.
pub(crate) fn extent(header: &[u8]) -> Result<usize, String> {
    let fields = (
        number::<2>(header, 4),
        number::<2>(header, 6),
        number::<8>(header, 8),
    );
    let (Some(version), Some(own), Some(content)) = fields else {
        return Err(format!("its header takes {HEADER} bytes"));
    };
    if !header.starts_with(&MAGIC) {
        return Err(String::from("it does not start with the magic number"));
    }
    if version != 1 {
        return Err(format!("it has version {version}; version 1 is known"));
    }
    if own < HEADER as u64 || content > LARGEST_CONTAINER {
        return Err(format!(
            "its header claims to take {own} bytes and its content {content}"
        ));
    }
    usize::try_from(own + content).map_err(|error| error.to_string())
}

/// The entries of a container in order.
///
/// # Errors
/// What is damaged.
pub(crate) fn entries(bytes: &[u8]) -> Result<Vec<Entry<'_>>, String> {
    let extent = extent(bytes)?;
    let content = bytes
        .get(..extent)
        .ok_or_else(|| format!("it is truncated: it has {} bytes of {extent}", bytes.len()))?;
    let mut place = number::<2>(content, 6).unwrap_or(0) as usize;
    let mut entries = Vec::new();
    while place < extent {
        let (entry, size) = content
            .get(place..)
            .and_then(entry)
            .ok_or_else(|| format!("its entry {} is damaged", entries.len()))?;
        entries.push(entry);
        place += size;
    }
    Ok(entries)
}

/// The entry at the start of the bytes, and how many it takes.
fn entry(bytes: &[u8]) -> Option<(Entry<'_>, usize)> {
    let kind = match number::<2>(bytes, 0)? {
        1 => Kind::Ptx,
        2 => Kind::MachineCode,
        other => Kind::Other(other as u16),
    };
    let header = usize::try_from(number::<4>(bytes, 4)?).ok()?;
    let padded = usize::try_from(number::<8>(bytes, 8)?).ok()?;
    let packed = usize::try_from(number::<4>(bytes, 16)?).ok()?;
    let end = header.checked_add(padded)?;
    let payload = bytes.get(header..end).filter(|_| header >= ENTRY)?;
    let flags = number::<8>(bytes, 40)?;
    let packing = match (flags & flag::LZ4 != 0, flags & flag::ZSTD != 0) {
        (_, true) => Packing::Zstd,
        (true, false) => Packing::Lz4,
        (false, false) => Packing::Plain,
    };
    let reach = match (flags & flag::EXACT != 0, flags & flag::FAMILY != 0) {
        (true, _) => Reach::Exact,
        (false, true) => Reach::Family,
        (false, false) => Reach::Later,
    };
    let (payload, size) = match packing {
        Packing::Plain => (payload, padded as u64),
        Packing::Lz4 | Packing::Zstd => (payload.get(..packed)?, number::<8>(bytes, 56)?),
    };
    let architecture = number::<4>(bytes, 28)? as u32;
    let entry = Entry {
        kind,
        architecture,
        reach,
        packing,
        payload,
        size,
    };
    Some((entry, end))
}

/// A container with the text of a module, for that architecture alone.
pub(crate) fn of_ptx(text: &str, architecture: u32) -> Vec<u8> {
    let size = (text.len() + 1).next_multiple_of(8);
    let mut entry = [0; ENTRY];
    let mut put = |place: usize, bytes: &[u8]| {
        if let Some(field) = entry.get_mut(place..place + bytes.len()) {
            field.copy_from_slice(bytes);
        }
    };
    put(0, &1u16.to_le_bytes());
    put(2, &0x101u16.to_le_bytes());
    put(4, &(ENTRY as u32).to_le_bytes());
    put(8, &(size as u64).to_le_bytes());
    put(28, &architecture.to_le_bytes());
    put(40, &flag::EXACT.to_le_bytes());
    let mut image = MAGIC.to_vec();
    image.extend(1u16.to_le_bytes());
    image.extend((HEADER as u16).to_le_bytes());
    image.extend(((ENTRY + size) as u64).to_le_bytes());
    image.extend(entry);
    image.extend(text.bytes());
    image.resize(HEADER + ENTRY + size, 0);
    image
}

impl fmt::Display for Entry<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.reach {
            Reach::Later => "",
            Reach::Family => "f",
            Reach::Exact => "a",
        };
        match self.kind {
            Kind::Ptx => write!(formatter, "PTX for sm_{}{suffix}", self.architecture),
            Kind::MachineCode => {
                write!(
                    formatter,
                    "machine code for sm_{}{suffix}",
                    self.architecture
                )
            }
            Kind::Other(number) => write!(formatter, "an entry of the unknown kind {number}"),
        }
    }
}

impl<'a> Entry<'a> {
    /// What it holds, unpacked.
    ///
    /// # Errors
    /// Why it cannot be unpacked.
    pub(crate) fn unpack(&self) -> Result<Cow<'a, [u8]>, String> {
        if self.packing == Packing::Plain {
            return Ok(Cow::Borrowed(self.payload));
        }
        let wanted = usize::try_from(self.size)
            .ok()
            .filter(|_| self.size <= LARGEST_TEXT)
            .ok_or_else(|| format!("it claims to have {} bytes when unpacked", self.size))?;
        let bytes = match self.packing {
            Packing::Lz4 => lz4(self.payload, wanted)?,
            Packing::Zstd => zstd(self.payload, wanted)?,
            Packing::Plain => Vec::new(),
        };
        if bytes.len() == wanted {
            Ok(Cow::Owned(bytes))
        } else {
            Err(format!(
                "it has {} bytes when unpacked, not {wanted}",
                bytes.len()
            ))
        }
    }
}

fn lz4(packed: &[u8], wanted: usize) -> Result<Vec<u8>, String> {
    // A byte of a block stands for 255 at most; a claim beyond that is refused before memory is taken for it.
    if wanted / 255 > packed.len() {
        return Err(format!(
            "{} bytes cannot hold the {wanted} that it claims",
            packed.len()
        ));
    }
    lz4_flex::block::decompress(packed, wanted).map_err(|error| error.to_string())
}

fn zstd(packed: &[u8], wanted: usize) -> Result<Vec<u8>, String> {
    let decoder =
        ruzstd::decoding::StreamingDecoder::new(packed).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    // One byte more than wanted is enough to see that there are too many.
    decoder
        .take(wanted as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
