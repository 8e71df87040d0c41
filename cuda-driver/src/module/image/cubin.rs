//! Cubins: ELF files with code for one architecture.

use super::field::Bytes;
use crate::error;

/// How every ELF file starts.
pub(super) const MAGIC: &[u8] = b"\x7fELF";

/// `EM_CUDA`: the machine number of cubins.
const MACHINE: u16 = 190;
const HEADER: usize = 64;
const SECTION: usize = 64;
const SEGMENT: usize = 56;
/// Sections without bytes in the file.
const NULL: u32 = 0;
const NO_BITS: u32 = 8;

/// What stands for a number of a section that is too large for its field.
const MANY_SECTIONS: usize = 0xffff;

/// Where the tables of an ELF file are.
struct Tables {
    /// The section with the names of sections.
    names: usize,
    sections: (usize, usize),
    segments: (usize, usize),
}

/// Whether everything that the file's headers name lies in the slice; if not, what does not.
pub(super) fn check(bytes: &[u8]) -> Result<(), String> {
    check_tables(bytes, &header(bytes)?)
}

/// The same for an object file of the host.
pub(super) fn check_object(bytes: &[u8]) -> Result<(), String> {
    check_tables(bytes, &header_of(bytes, None)?)
}

fn check_tables(bytes: &[u8], tables: &Tables) -> Result<(), String> {
    let len = bytes.len();
    let bytes = Bytes(bytes);
    let truncated = |what: String, offset: usize, size: usize| {
        Err(format!(
            "the file is truncated: {what} takes {} from byte {offset} on, but there are {len}",
            error::count(size, "byte")
        ))
    };
    let (offset, count) = tables.sections;
    let size = count.saturating_mul(SECTION);
    if !bytes.has(offset, size) {
        return truncated(format!("the table of {count} sections"), offset, size);
    }
    for index in 0..count {
        let entry = offset + index * SECTION;
        let kind = bytes.word(entry + 4).unwrap_or(NULL);
        let (start, size) = range(bytes, entry + 24, entry + 32);
        if kind != NULL && kind != NO_BITS && !bytes.has(start, size) {
            return truncated(format!("section {index}"), start, size);
        }
    }
    if count > 0 && tables.names >= count && tables.names != MANY_SECTIONS {
        return Err(format!(
            "the file is damaged: its section {} is to hold the names of sections, but there are {count}",
            tables.names
        ));
    }
    let (offset, count) = tables.segments;
    let size = count.saturating_mul(SEGMENT);
    if !bytes.has(offset, size) {
        return truncated(format!("the table of {count} segments"), offset, size);
    }
    for index in 0..count {
        let entry = offset + index * SEGMENT;
        let (start, size) = range(bytes, entry + 8, entry + 32);
        if !bytes.has(start, size) {
            return truncated(format!("segment {index}"), start, size);
        }
    }
    Ok(())
}

fn range(bytes: Bytes<'_>, offset: usize, size: usize) -> (usize, usize) {
    let end = usize::MAX;
    (
        bytes.size(offset).unwrap_or(end),
        bytes.size(size).unwrap_or(end),
    )
}

/// Reads the header of a cubin.
fn header(image: &[u8]) -> Result<Tables, String> {
    header_of(image, Some(MACHINE))
}

/// Reads the header of an ELF file, for that machine or for any.
fn header_of(image: &[u8], wanted: Option<u16>) -> Result<Tables, String> {
    let bytes = Bytes(image);
    if !image.starts_with(MAGIC) {
        let what = if wanted.is_some() {
            "a cubin"
        } else {
            "an object"
        };
        return Err(format!(
            "it is not {what}: it does not start as an ELF file does"
        ));
    }
    let len = image.len();
    let short =
        || format!("the file is truncated: its header takes {HEADER} bytes, but there are {len}");
    if bytes.byte(4).ok_or_else(short)? != 2 {
        return Err("it is a 32-bit ELF file; drivers take 64-bit cubins".into());
    }
    if bytes.byte(5).ok_or_else(short)? != 1 {
        return Err("it is a big-endian ELF file, which no cubin is".into());
    }
    let machine = bytes.half(18).ok_or_else(short)?;
    if wanted.is_some_and(|wanted| machine != wanted) {
        return Err(format!(
            "it is an ELF file for machine {machine}, not for a GPU ({MACHINE}); a host program or object holds its \
             GPU code inside, and `cuobjdump` takes it out"
        ));
    }
    if !bytes.has(0, HEADER) {
        return Err(short());
    }
    let half = |offset| bytes.half(offset).map_or(0, usize::from);
    let (segments, sections) = range(bytes, 32, 40);
    let (segment_count, mut section_count) = (half(56), half(60));
    if (segment_count > 0 && half(54) != SEGMENT) || (section_count > 0 && half(58) != SECTION) {
        return Err("the file's tables have entries of an unknown size".into());
    }
    if section_count == 0 && sections != 0 {
        // More than 65,279 sections: their number stands in the first one.
        section_count = sections
            .checked_add(32)
            .and_then(|place| bytes.size(place))
            .unwrap_or(usize::MAX);
    }
    Ok(Tables {
        names: half(62),
        sections: (sections, section_count),
        segments: (segments, segment_count),
    })
}

/// The names of the symbols that are objects: variables of the device.
///
/// The file has passed [`check`]; what does not fit all the same gives no name.
pub(super) fn objects(image: &[u8]) -> Vec<Box<str>> {
    const SYMBOL: usize = 24;
    const SYMBOL_TABLE: u32 = 2;
    const OBJECT: u8 = 1;
    let bytes = Bytes(image);
    let Ok(Tables {
        sections: (table, count),
        ..
    }) = header(image)
    else {
        return Vec::new();
    };
    let section = |index: usize| Some(table + index.checked_mul(SECTION)?);
    let content = |index: usize| {
        let entry = section(index).filter(|_| index < count)?;
        let (start, size) = range(bytes, entry + 24, entry + 32);
        image.get(start..start.checked_add(size)?)
    };
    let mut names = Vec::new();
    for index in 0..count {
        let Some(entry) = section(index).filter(|it| bytes.word(it + 4) == Some(SYMBOL_TABLE))
        else {
            continue;
        };
        let strings = bytes
            .word(entry + 40)
            .and_then(|it| usize::try_from(it).ok());
        let (Some(symbols), Some(strings)) = (content(index), strings.and_then(content)) else {
            continue;
        };
        for symbol in symbols.chunks_exact(SYMBOL) {
            let symbol = Bytes(symbol);
            let defined = symbol.half(6).is_some_and(|section| section != 0);
            if !defined || symbol.byte(4).is_none_or(|info| info & 0xf != OBJECT) {
                continue;
            }
            let name = symbol.word(0).and_then(|it| usize::try_from(it).ok());
            let name = name.and_then(|start| strings.get(start..));
            let name = name.and_then(|it| it.split(|&byte| byte == 0).next());
            if let Some(name) = name.filter(|name| !name.is_empty()) {
                names.push(String::from_utf8_lossy(name).into());
            }
        }
    }
    names
}

/// The number of the architecture that the code is for, such as 90.
pub(super) fn architecture(bytes: &[u8]) -> Option<u32> {
    let bytes = Bytes(bytes);
    let flags = bytes.word(48)?;
    // The place of the number moved with version 8 of the binary interface.
    let number = if bytes.byte(8)? >= 8 {
        flags >> 8
    } else {
        flags
    };
    Some(number & 0xff).filter(|&number| number != 0)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// One section with 16 bytes and one segment with the same, for architecture 90.
    pub(in super::super) fn sample() -> Vec<u8> {
        let mut image = vec![0; HEADER];
        image[..4].copy_from_slice(MAGIC);
        image[4..9].copy_from_slice(&[2, 1, 1, 0x41, 8]);
        image[18..20].copy_from_slice(&MACHINE.to_le_bytes());
        image[32..40].copy_from_slice(&208_u64.to_le_bytes());
        image[40..48].copy_from_slice(&80_u64.to_le_bytes());
        image[48..52].copy_from_slice(&0x0600_5a04_u32.to_le_bytes());
        image[54..56].copy_from_slice(&56_u16.to_le_bytes());
        image[56] = 1;
        image[58..60].copy_from_slice(&64_u16.to_le_bytes());
        image[60] = 2;
        image.extend([0xcc; 16]);
        image.extend([0; SECTION]);
        let mut section = [0; SECTION];
        section[4] = 1;
        section[24] = 64;
        section[32] = 16;
        image.extend(section);
        let mut segment = [0; SEGMENT];
        segment[0] = 1;
        segment[8] = 64;
        segment[32] = 16;
        image.extend(segment);
        image
    }

    #[test]
    fn whole_ones_pass() {
        assert_eq!(check(&sample()), Ok(()));
        assert_eq!(architecture(&sample()), Some(90));
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
    fn hostile_headers_are_refused_and_never_overflow() {
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
        beyond[144 + 24..144 + 32].fill(0xff);
        assert!(check(&beyond).is_err_and(|error| error.contains("section 1")));
        let mut segment = image.clone();
        segment[208 + 32..208 + 40].fill(0xff);
        assert!(check(&segment).is_err_and(|error| error.contains("segment 0")));
    }

    #[test]
    fn the_number_of_many_sections_stands_in_the_first() {
        let mut image = sample();
        image[60] = 0;
        image[80 + 32] = 2;
        assert_eq!(check(&image), Ok(()));
        image[80 + 32] = 200;
        assert!(check(&image).is_err_and(|error| error.contains("200 sections")));
    }

    #[test]
    fn host_programs_are_told_apart() {
        let mut image = sample();
        image[18..20].copy_from_slice(&62_u16.to_le_bytes());
        assert!(check(&image).is_err_and(|error| error.contains("machine 62")));
    }

    #[test]
    fn the_architecture_of_older_cubins() {
        let mut image = sample();
        image[8] = 7;
        image[48..52].copy_from_slice(&0x0050_0550_u32.to_le_bytes());
        assert_eq!(architecture(&image), Some(80));
    }
}
