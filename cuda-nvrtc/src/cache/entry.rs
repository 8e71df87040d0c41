//! The form of an entry: a mark, a checksum of the rest, the key, and the parts, each preceded by its length.

use cuda_driver::Version;
use sha2::{Digest, Sha256};

use super::Key;
use crate::compiled::Parts;
use crate::options::Output;

/// What every entry begins with.
const MARK: &[u8; 16] = b"cuda-nvrtc ent 1";
/// Where the checksummed part begins.
const BODY: usize = MARK.len() + 32;

pub(super) fn encode(parts: &Parts, key: &Key) -> Vec<u8> {
    let mut body = Vec::with_capacity(parts.image.len() + parts.log.len() + 256);
    body.extend_from_slice(&key.0);
    body.push(match parts.output {
        Output::Ptx => 0,
        Output::Cubin => 1,
        Output::LtoIr => 2,
    });
    let architecture = parts.architecture.map(|it| it.to_string());
    push(&mut body, architecture.unwrap_or_default().as_bytes());
    body.extend_from_slice(&parts.version.major.to_le_bytes());
    body.extend_from_slice(&parts.version.minor.to_le_bytes());
    push(&mut body, &parts.image);
    push(&mut body, parts.log.as_bytes());
    body.extend_from_slice(&(parts.names.len() as u64).to_le_bytes());
    for (expression, name) in &parts.names {
        push(&mut body, expression.as_bytes());
        push(&mut body, name.as_bytes());
    }
    let mut entry = Vec::with_capacity(BODY + body.len());
    entry.extend_from_slice(MARK);
    entry.extend_from_slice(&Sha256::digest(&body));
    entry.append(&mut body);
    entry
}

fn push(body: &mut Vec<u8>, part: &[u8]) {
    body.extend_from_slice(&(part.len() as u64).to_le_bytes());
    body.extend_from_slice(part);
}

/// The parts, if the entry is whole and of that key.
pub(super) fn decode(entry: &[u8], key: &Key) -> Option<Parts> {
    let (head, body) = entry.split_at_checked(BODY)?;
    let digest = head.strip_prefix(MARK)?;
    if digest != Sha256::digest(body).as_slice() {
        return None;
    }
    let mut reader = Reader(body);
    if reader.take(32)? != key.0 {
        return None;
    }
    let output = match reader.take(1)? {
        [0] => Output::Ptx,
        [1] => Output::Cubin,
        [2] => Output::LtoIr,
        _ => return None,
    };
    let architecture = match reader.text()?.as_str() {
        "" => None,
        text => Some(text.parse().ok()?),
    };
    let version = Version {
        major: u32::from_le_bytes(reader.array()?),
        minor: u32::from_le_bytes(reader.array()?),
    };
    let image = reader.part()?.to_vec();
    let log = reader.text()?;
    let mut names = Vec::new();
    for _ in 0..u64::from_le_bytes(reader.array()?) {
        names.push((reader.text()?, reader.text()?));
    }
    reader.0.is_empty().then_some(Parts {
        output,
        architecture,
        version,
        image,
        names,
        log,
    })
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn part(&mut self) -> Option<&'a [u8]> {
        let length = u64::from_le_bytes(self.array()?);
        self.take(usize::try_from(length).ok()?)
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.part()?.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> Parts {
        Parts {
            output: Output::Cubin,
            architecture: "90a".parse().ok(),
            version: Version {
                major: 13,
                minor: 0,
            },
            image: (0..=255).collect(),
            names: vec![
                ("f<int>".into(), "_Z1fIiEvv".into()),
                (String::new(), "g".into()),
            ],
            log: "x.cu(1): warning: é".into(),
        }
    }

    #[test]
    fn an_entry_is_read_as_it_was_written() {
        let key = Key([7; 32]);
        let entry = encode(&parts(), &key);
        assert!(decode(&entry, &key) == Some(parts()));
        assert!(decode(&entry, &Key([8; 32])).is_none());
    }

    #[test]
    fn every_change_of_a_byte_and_every_truncation_is_noticed() {
        let key = Key([7; 32]);
        let entry = encode(&parts(), &key);
        for at in 0..entry.len() {
            let mut damaged = entry.clone();
            damaged[at] ^= 0x20;
            assert!(decode(&damaged, &key).is_none(), "byte {at}");
            assert!(decode(&entry[..at], &key).is_none(), "length {at}");
        }
        let mut longer = entry;
        longer.push(0);
        assert!(decode(&longer, &key).is_none());
    }

    #[test]
    fn a_body_that_lies_about_lengths_is_refused_even_with_its_checksum() {
        let key = Key([7; 32]);
        let entry = encode(&parts(), &key);
        for at in BODY + 32..entry.len() {
            let mut forged = entry.clone();
            forged[at] = 0xff;
            let digest = Sha256::digest(&forged[BODY..]);
            forged[MARK.len()..BODY].copy_from_slice(&digest);
            // It reads as something else or not at all; it never reads out of bounds or asks for absurd memory.
            drop(decode(&forged, &key));
        }
    }
}
