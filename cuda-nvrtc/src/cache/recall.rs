//! From a program and the state of its files to the key of its entry, so that headers are not read again.

use std::ffi::OsStr;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::{Cache, Key, write_whole};
use crate::includes::{Expected, Signature, Snapshot};

/// What every note begins with.
const MARK: &[u8; 16] = b"cuda-nvrtc inc 2";

/// Stands for a directory of which only the names tell.
const UNKNOWN: Signature = [0; 5];
/// Between the names that are not in a directory; in no name.
const SEPARATOR: &str = "/";

impl Cache {
    /// The key that was noted for `program`, if the files and directories are as they were.
    pub(crate) fn recall(&self, program: &Key) -> Option<Key> {
        let inner = self.inner.as_deref()?;
        let bytes = super::read_trusted(inner, &note_name(program))?;
        let (digest, body) = bytes.strip_prefix(MARK)?.split_at_checked(32)?;
        if digest != Sha256::digest(body).as_slice() {
            return None;
        }
        let (owner, rest) = body.split_first_chunk::<32>()?;
        let (key, mut rest) = rest.split_first_chunk::<32>()?;
        if *owner != program.0 {
            return None;
        }
        while !rest.is_empty() {
            let mut signature: Signature = [0; 5];
            for number in &mut signature {
                *number = take_number(&mut rest)?;
            }
            let path = Path::new(take_text(&mut rest)?);
            let names = take_text(&mut rest)?.split(SEPARATOR);
            let absent = names.filter(|it| !it.is_empty()).map(OsStr::new).collect();
            let signature = Some(signature).filter(|it| *it != UNKNOWN);
            let expected = Expected {
                path,
                signature,
                absent,
            };
            if !expected.is_unchanged() {
                return None;
            }
        }
        Some(Key(*key))
    }

    /// Notes the key of a program, unless one of its files has just changed. What cannot be noted costs time only.
    pub(crate) fn note(&self, program: &Key, key: &Key, snapshot: &Snapshot) {
        let (Some(inner), Some(seen)) = (self.inner.as_deref(), snapshot.settled()) else {
            return;
        };
        let mut body = [program.0, key.0].concat();
        for it in seen {
            let names: Option<Vec<&str>> = it.absent.iter().map(|name| name.to_str()).collect();
            let (Some(path), Some(names)) = (it.path.to_str(), names) else {
                return;
            };
            for number in it.signature.unwrap_or(UNKNOWN) {
                body.extend_from_slice(&number.to_le_bytes());
            }
            push_text(&mut body, path);
            push_text(&mut body, &names.join(SEPARATOR));
        }
        let mut bytes = MARK.to_vec();
        bytes.extend_from_slice(&Sha256::digest(&body));
        bytes.append(&mut body);
        let entries = inner.entries();
        if let Err(error) = write_whole(&entries, &entries.join(note_name(program)), &bytes) {
            log::debug!("cannot note which files a program includes: {error}");
        }
    }
}

fn note_name(program: &Key) -> String {
    format!("{program}{}", super::evict::NOTE)
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let (number, rest) = bytes.split_first_chunk::<8>()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*number))
}

fn take_text<'a>(bytes: &mut &'a [u8]) -> Option<&'a str> {
    let length = usize::try_from(take_number(bytes)?).ok()?;
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    std::str::from_utf8(text).ok()
}

fn push_text(body: &mut Vec<u8>, text: &str) {
    body.extend_from_slice(&(text.len() as u64).to_le_bytes());
    body.extend_from_slice(text.as_bytes());
}
