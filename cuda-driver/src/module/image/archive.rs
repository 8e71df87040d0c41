//! Archives of objects (`.a`).

use crate::error::count;

/// How an archive starts.
pub(crate) const MAGIC: &[u8] = b"!<arch>\n";
const HEADER: usize = 60;

/// Whether every member that the archive's headers name lies in the slice; if not, which does not.
pub(super) fn check(bytes: &[u8]) -> Result<(), String> {
    if !bytes.starts_with(MAGIC) {
        return Err("it is not an archive: it does not start with `!<arch>`".into());
    }
    let mut place = MAGIC.len();
    let mut index = 0_usize;
    while place < bytes.len() {
        let header = bytes.get(place..place.saturating_add(HEADER)).ok_or_else(|| {
            format!(
                "the archive is truncated: the header of member {index} takes {HEADER} bytes from byte {place} on, but there \
                 are {}",
                bytes.len()
            )
        })?;
        let size = header
            .get(48..58)
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| digits.trim_end_matches(' ').parse::<usize>().ok())
            .filter(|_| header.ends_with(b"`\n"))
            .ok_or_else(|| format!("the archive is damaged: member {index} has no header"))?;
        let start = place + HEADER;
        let end = start.checked_add(size).filter(|&end| end <= bytes.len());
        let end = end.ok_or_else(|| {
            format!(
                "the archive is truncated: member {index} takes {} from byte {start} on, but there are {}",
 count(size, "byte"),
                bytes.len()
            )
        })?;
        // Members start at even places.
        place = end + end % 2;
        index += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        let mut archive = MAGIC.to_vec();
        for (name, content) in [("a.o/", &b"123"[..]), ("b.o/", b"4567")] {
            let size = content.len();
            let header = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 644);
            archive.extend(header.bytes());
            archive.extend(content);
            if archive.len() % 2 == 1 {
                archive.push(b'\n');
            }
        }
        archive
    }

    #[test]
    fn whole_ones_pass_and_truncated_ones_do_not() {
        let archive = sample();
        assert_eq!(check(&archive), Ok(()));
        assert_eq!(check(MAGIC), Ok(()));
        let second = archive.len() - 4 - HEADER;
        for len in 0..archive.len() {
            // Cut between members, or in the padding between them, it is whole again.
            let whole = [MAGIC.len(), second - 1, second].contains(&len);
            assert_eq!(check(&archive[..len]).is_ok(), whole, "{len}");
        }
    }

    #[test]
    fn hostile_headers_never_overflow() {
        let archive = sample();
        for place in 0..archive.len() {
            for byte in [0, b'9', b'-', 0xff] {
                let mut hostile = archive.clone();
                let end = (place + 10).min(hostile.len());
                hostile[place..end].fill(byte);
                // Whatever the answer is, it comes.
                let _answer = check(&hostile);
            }
        }
    }
}
