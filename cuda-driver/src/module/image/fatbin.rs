//! Fat binaries: cubins and PTX for several architectures in one.

use super::cubin;
use super::field::Bytes;
use crate::error::count;

/// How a fat binary starts: `0xBA55ED50`.
pub(super) const MAGIC: &[u8] = &0xBA55_ED50_u32.to_le_bytes();
/// How the structure starts that holds the address of a fat binary.
pub(super) const WRAPPER_MAGIC: &[u8] = &0x4662_43B1_u32.to_le_bytes();

const VERSION: u16 = 1;
const HEADER: usize = 16;
/// The part of an entry's header that is read here.
const ENTRY: usize = 32;
const PTX: u16 = 1;
const CUBIN: u16 = 2;

/// Whether the fat binary and everything that it names lies in the slice; if not, what does not.
pub(super) fn check(bytes: &[u8]) -> Result<(), String> {
    entries(bytes).map(drop)
}

/// What is in the fat binary, such as `sm_90` and `compute_80`.
pub(super) fn entries(image: &[u8]) -> Result<Vec<String>, String> {
    let bytes = Bytes(image);
    let len = image.len();
    if !image.starts_with(MAGIC) {
        return Err("it is not a fat binary: it does not start with the magic number".into());
    }
    let (Some(version), Some(header), Some(size)) = (bytes.half(4), bytes.half(6), bytes.size(8))
    else {
        return Err(format!(
            "the fat binary is truncated: its header takes {HEADER} bytes, but there are {len}"
        ));
    };
    if version != VERSION {
        return Err(format!(
            "the fat binary has version {version}; version {VERSION} is known"
        ));
    }
    let header = usize::from(header);
    if header < HEADER {
        return Err(format!(
            "the fat binary's header claims to have {}",
            count(header, "byte")
        ));
    }
    let Some(end) = header.checked_add(size).filter(|&end| end <= len) else {
        return Err(format!(
            "the fat binary is truncated: its header takes {header} bytes and its content {size}, but there are {len}"
        ));
    };
    let content = Bytes(image.get(..end).unwrap_or(image));
    let mut found = Vec::new();
    let mut place = header;
    while place < end {
        let next = entry(content, place, found.len())?;
        found.push(next.0);
        place = next.1;
    }
    Ok(found)
}

/// The entry at `place`, and where the next one is.
fn entry(content: Bytes<'_>, place: usize, index: usize) -> Result<(String, usize), String> {
    let end = content.0.len();
    let truncated = |size: usize| {
        format!(
            "the fat binary is damaged: its entry {index} takes {} from byte {place} on, but it ends at {end}",
            count(size, "byte")
        )
    };
    if !content.has(place, ENTRY) {
        return Err(truncated(ENTRY));
    }
    let field = |offset| content.word(place + offset).unwrap_or(0);
    let kind = content.half(place).unwrap_or(0);
    let header = usize::try_from(field(4)).unwrap_or(usize::MAX);
    let payload = content.size(place + 8).unwrap_or(usize::MAX);
    let size = header.saturating_add(payload);
    if header < ENTRY || !content.has(place, size) {
        return Err(truncated(size));
    }
    let packed = Packed::of(content, place, header);
    if packed.is_some_and(|packed| !packed.is_possible(payload)) {
        return Err(format!(
            "the fat binary is damaged: its entry {index} claims to unpack more than its {payload} bytes can hold"
        ));
    }
    let architecture = field(28);
    let name = match kind {
        CUBIN => {
            // A compressed one does not start as an ELF file does.
            let start = place + header;
            let cubin = content.0.get(start..start + payload).unwrap_or(&[]);
            if packed.is_none() && cubin.starts_with(cubin::MAGIC) {
                cubin::check(cubin)
                    .map_err(|error| format!("in entry {index} of the fat binary, {error}"))?;
            }
            format!("sm_{architecture}")
        }
        PTX => format!("compute_{architecture}"),
        other => format!("kind {other} for {architecture}"),
    };
    Ok((name, place + size))
}

/// What the header of a compressed entry claims.
#[derive(Clone, Copy)]
struct Packed {
    /// Bytes of the entry that are to be unpacked.
    size: usize,
    /// Bytes when unpacked.
    content: usize,
    is_lz4: bool,
}

impl Packed {
    const LZ4: u32 = 0x2000;
    const ZSTD: u32 = 0x8000;
    /// The header of an entry that can be compressed.
    const HEADER: usize = 64;

    /// The claim of the entry at `place`, if it is compressed.
    fn of(bytes: Bytes<'_>, place: usize, header: usize) -> Option<Self> {
        let flags = bytes.word(place + 40).filter(|_| header >= Self::HEADER)?;
        (flags & (Self::LZ4 | Self::ZSTD) != 0).then(|| Self {
            size: bytes
                .word(place + 16)
                .and_then(|size| usize::try_from(size).ok())
                .unwrap_or(usize::MAX),
            content: bytes.size(place + 56).unwrap_or(usize::MAX),
            is_lz4: flags & Self::ZSTD == 0,
        })
    }

    /// Whether that much can come out of an entry of `payload` bytes.
    fn is_possible(self, payload: usize) -> bool {
        // A byte of LZ4 stands for 255 at most.
        self.size <= payload && (!self.is_lz4 || self.content / 255 <= self.size)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn entry_of(kind: u16, architecture: u32, payload: &[u8]) -> Vec<u8> {
        let mut entry = vec![0; 64];
        entry[..2].copy_from_slice(&kind.to_le_bytes());
        entry[4] = 64;
        let padded = payload.len().next_multiple_of(8);
        entry[8..16].copy_from_slice(&u64::try_from(padded).unwrap_or(0).to_le_bytes());
        entry[28..32].copy_from_slice(&architecture.to_le_bytes());
        entry.extend(payload);
        entry.resize(64 + padded, 0);
        entry
    }

    /// The same text of PTX as it is and in LZ4, of literals alone.
    pub(in super::super) fn compressed_sample() -> Vec<u8> {
        let text = b".version 8.0\n.target sm_80\n\0";
        let mut packed = vec![0xf0, u8::try_from(text.len() - 15).unwrap_or(0)];
        packed.extend(text);
        let mut entry = entry_of(PTX, 80, &packed);
        entry[16] = u8::try_from(packed.len()).unwrap_or(0);
        entry[41] = 0x20;
        entry[56] = u8::try_from(text.len()).unwrap_or(0);
        container(&[entry, entry_of(PTX, 80, text)].concat())
    }

    fn container(content: &[u8]) -> Vec<u8> {
        let mut image = MAGIC.to_vec();
        image.extend(VERSION.to_le_bytes());
        image.extend([16, 0]);
        image.extend(u64::try_from(content.len()).unwrap_or(0).to_le_bytes());
        image.extend(content);
        image
    }

    #[test]
    fn compressed_entries_claim_no_more_than_they_can_hold() {
        let image = compressed_sample();
        assert_eq!(check(&image), Ok(()));
        // The packed size, and the size when unpacked.
        for (place, byte) in [(16 + 17, 1), (16 + 16, 0xff), (16 + 58, 1), (16 + 63, 0x80)] {
            let mut hostile = image.clone();
            hostile[place] = byte;
            assert!(check(&hostile).is_err_and(|error| error.contains("claims to unpack")));
        }
    }

    /// A cubin for architecture 90 and PTX for 80.
    pub(in super::super) fn sample() -> Vec<u8> {
        let mut content = entry_of(CUBIN, 90, &cubin::tests::sample());
        content.extend(entry_of(PTX, 80, b".version 8.0\n.target sm_80\n\0"));
        container(&content)
    }

    #[test]
    fn entries_are_listed() {
        let entries = entries(&sample());
        assert_eq!(entries, Ok(vec!["sm_90".into(), "compute_80".into()]));
    }

    #[test]
    fn what_follows_is_not_looked_at() {
        let mut image = sample();
        image.extend([0xff; 100]);
        assert_eq!(check(&image), Ok(()));
    }

    #[test]
    fn every_truncation_is_found() {
        let image = sample();
        for len in 0..image.len() {
            let error = check(&image[..len]).expect_err("truncated");
            assert!(len < 4 || error.contains("truncated"), "{len}: {error}");
        }
    }

    #[test]
    fn hostile_headers_never_overflow() {
        let image = sample();
        for offset in 0..image.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut hostile = image.clone();
                let end = (offset + 8).min(hostile.len());
                hostile[offset..end].fill(value);
                // Whatever the answer is, it comes.
                let _answer = check(&hostile);
            }
        }
        let mut beyond = image.clone();
        beyond[24..32].fill(0xff);
        assert!(check(&beyond).is_err_and(|error| error.contains("entry 0")));
        let mut inner = image;
        inner[16 + 64 + 40] = 0xff;
        assert!(check(&inner).is_err_and(|error| error.contains("in entry 0")));
    }
}
