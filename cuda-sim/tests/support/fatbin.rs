//! Writes fatbins for the tests of their reader.

/// How an entry is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    Plain,
    Lz4,
    Zstd,
}

/// All of them.
pub(crate) const PACKINGS: [Packing; 3] = [Packing::Plain, Packing::Lz4, Packing::Zstd];

/// PTX, and a cubin.
pub(crate) const PTX: u16 = 1;
pub(crate) const CUBIN: u16 = 2;
/// Flags: for that architecture alone, and for its family.
pub(crate) const EXACT: u64 = 0x10_0000;
pub(crate) const FAMILY: u64 = 0x20_0000;

/// An entry with its header.
pub(crate) fn entry(
    kind: u16,
    architecture: u32,
    flags: u64,
    packing: Packing,
    content: &[u8],
) -> Vec<u8> {
    let packed = match packing {
        Packing::Plain => content.to_vec(),
        Packing::Lz4 => lz4_flex::block::compress(content),
        Packing::Zstd => {
            ruzstd::encoding::compress_to_vec(content, ruzstd::encoding::CompressionLevel::Fastest)
        }
    };
    let (flags, packed_size, size) = match packing {
        Packing::Plain => (flags, 0, 0),
        Packing::Lz4 => (flags | 0x2000, packed.len(), content.len()),
        Packing::Zstd => (flags | 0x8000, packed.len(), content.len()),
    };
    let mut entry = vec![0; 64];
    let mut put = |place: usize, bytes: &[u8]| {
        entry[place..place + bytes.len()].copy_from_slice(bytes);
    };
    put(0, &kind.to_le_bytes());
    put(2, &0x101u16.to_le_bytes());
    put(4, &64u32.to_le_bytes());
    put(8, &(packed.len().next_multiple_of(8) as u64).to_le_bytes());
    put(16, &(packed_size as u32).to_le_bytes());
    put(28, &architecture.to_le_bytes());
    put(40, &(flags | 0x11).to_le_bytes());
    put(56, &(size as u64).to_le_bytes());
    entry.extend(&packed);
    entry.resize(64 + packed.len().next_multiple_of(8), 0);
    entry
}

/// The text of a module as an entry.
pub(crate) fn ptx(architecture: u32, packing: Packing, text: &str) -> Vec<u8> {
    let mut content = text.as_bytes().to_vec();
    content.push(0);
    entry(PTX, architecture, 0, packing, &content)
}

/// A container of entries.
pub(crate) fn container(entries: &[Vec<u8>]) -> Vec<u8> {
    let content = entries.concat();
    let mut image = 0xba55_ed50_u32.to_le_bytes().to_vec();
    image.extend(1u16.to_le_bytes());
    image.extend(16u16.to_le_bytes());
    image.extend((content.len() as u64).to_le_bytes());
    image.extend(content);
    image
}
