//! Single values.

use std::str::FromStr;

/// A number.
pub(super) fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| String::from("it is no number, or too large a one"))
}

/// A number of bytes.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.char_indices().next_back() {
        Some((end, 'K' | 'k')) => (text.get(..end), 10),
        Some((end, 'M' | 'm')) => (text.get(..end), 20),
        Some((end, 'G' | 'g')) => (text.get(..end), 30),
        Some((end, 'T' | 't')) => (text.get(..end), 40),
        _ => (Some(text), 0),
    };
    let number = digits.and_then(|digits| digits.trim().parse::<u64>().ok());
    number
        .and_then(|number| number.checked_mul(1 << shift))
        .ok_or_else(|| {
            format!("`{text}` is no number of bytes; write one like 1073741824, 512M or 4G")
        })
}

/// A truth value.
pub(super) fn switch(text: &str) -> Result<bool, String> {
    match text {
        "1" | "on" | "yes" | "true" => Ok(true),
        "0" | "off" | "no" | "false" => Ok(false),
        _ => Err(String::from("write 1 or 0")),
    }
}

/// Two numbers with a point between them.
pub(super) fn pair(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The version of a driver, as 12.4 or as 12040.
pub(super) fn version(text: &str) -> Result<i32, String> {
    let version = match pair(text) {
        Some((major, minor)) if minor < 10 => {
            major.checked_mul(1000).map(|major| major + 10 * minor)
        }
        Some(_) => None,
        None => text.parse().ok(),
    };
    version
        .filter(|version| (2_000..1_000_000).contains(version))
        .map(u32::cast_signed)
        .ok_or_else(|| String::from("it is no version of CUDA; write one like 12.4 or 12040"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_versions_and_switches() {
        assert_eq!(bytes("4G"), Ok(4 << 30));
        assert_eq!(bytes("12"), Ok(12));
        assert!(bytes("99999999999T").is_err());
        assert!(bytes("G").is_err() && bytes("").is_err() && bytes("-1").is_err());
        assert_eq!(version("12.4"), Ok(12_040));
        assert_eq!(version("13000"), Ok(13_000));
        assert!(version("12.44").is_err() && version("12").is_err());
        assert!(version("4294968.1").is_err());
        assert_eq!(switch("no"), Ok(false));
        assert!(switch("maybe").is_err());
    }
}
