//! The list of devices, and which of them are visible.

use cuda_sys::CUdevice_attribute;

use super::value;
use crate::builder::MAX_DEVICES;
use crate::device::DeviceConfig;

/// All devices that `text` describes.
pub(super) fn parse(text: &str) -> Result<Vec<DeviceConfig>, String> {
    let mut devices = Vec::new();
    for description in split(text, |c| c == ',') {
        let words: Vec<&str> = split(description, char::is_whitespace)
            .filter(|word| !word.is_empty())
            .collect();
        let (count, words) = match words.as_slice() {
            [] => return Err(String::from("a description between commas is empty")),
            [count, rest @ ..] if count.bytes().all(|c| c.is_ascii_digit()) => {
                (value::number::<usize>(count)?, rest)
            }
            words => (1, words),
        };
        if count > MAX_DEVICES - devices.len() {
            return Err(format!("there can be {MAX_DEVICES} devices at most"));
        }
        let device = one(words)?;
        devices.extend(std::iter::repeat_n(device, count));
    }
    Ok(devices)
}

/// A preset and settings.
fn one(words: &[&str]) -> Result<DeviceConfig, String> {
    let (mut device, settings) = match words {
        [preset, rest @ ..] if !preset.contains('=') => {
            let device = DeviceConfig::preset(&preset.to_ascii_lowercase());
            let unknown =
                || format!("`{preset}` is no device: there are h200, b200, a100, rtx4090 and t4");
            (device.ok_or_else(unknown)?, rest)
        }
        settings => (DeviceConfig::h200(), settings),
    };
    for setting in settings {
        let (key, value) = setting
            .split_once('=')
            .ok_or_else(|| format!("`{setting}` is no setting like memory=4G"))?;
        let value = value.trim_matches('"');
        set(&mut device, key, value).map_err(|reason| format!("in `{setting}`: {reason}"))?;
    }
    Ok(device)
}

fn set(device: &mut DeviceConfig, key: &str, value: &str) -> Result<(), String> {
    let bytes = || {
        let bytes = value::bytes(value)?;
        u32::try_from(bytes).map_err(|_| String::from("that is too much"))
    };
    match key {
        "name" => device.name = value.to_owned(),
        "cc" => {
            device.compute_capability =
                value::pair(value).ok_or("write a compute capability like 8.6")?;
        }
        "memory" => device.total_memory = value::bytes(value)?,
        "multiprocessors" => device.multiprocessors = value::number(value)?,
        "shared_memory" => device.shared_memory_per_block = bytes()?,
        "shared_memory_optin" => device.shared_memory_per_block_optin = bytes()?,
        "pci" => device.pci = Some(pci(value).ok_or("write an address like 0000:17:00")?),
        "uuid" => {
            let uuid = uuid(value).ok_or("write GPU- and 32 hexadecimal digits")?;
            device.uuid = Some(uuid);
        }
        _ => device
            .attributes
            .push((attribute(key)?, value::number(value)?)),
    }
    Ok(())
}

/// An attribute by its number or its name.
fn attribute(key: &str) -> Result<CUdevice_attribute, String> {
    if let Ok(number) = key.parse() {
        return Ok(CUdevice_attribute(number));
    }
    let named = |attribute: &CUdevice_attribute| {
        let name = attribute.name().unwrap_or_default();
        name.strip_prefix("CU_DEVICE_ATTRIBUTE_") == Some(key)
    };
    let mut all = (1..CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX.0).map(CUdevice_attribute);
    all.find(named)
        .ok_or_else(|| format!("there is neither a setting nor an attribute `{key}`"))
}

fn pci(text: &str) -> Option<(u32, u32, u32)> {
    let text = text.split_once('.').map_or(text, |(address, _)| address);
    let mut parts = text
        .split(':')
        .map(|part| u32::from_str_radix(part, 16).ok());
    let address = (parts.next()??, parts.next()??, parts.next()??);
    parts.next().is_none().then_some(address)
}

fn uuid(text: &str) -> Option<[u8; 16]> {
    let digits = text.strip_prefix("GPU-").unwrap_or(text).replace('-', "");
    let number = u128::from_str_radix(&digits, 16).ok();
    number.filter(|_| digits.len() == 32).map(u128::to_be_bytes)
}

/// The identifier as programs write it.
fn uuid_text(bytes: [u8; 16]) -> String {
    let digits = format!("{:032x}", u128::from_be_bytes(bytes));
    let part = |from, to| digits.get(from..to).unwrap_or_default();
    let parts = [
        part(0, 8),
        part(8, 12),
        part(12, 16),
        part(16, 20),
        part(20, 32),
    ];
    format!("GPU-{}", parts.join("-"))
}

/// The devices that a list of ordinals or identifiers shows, in its order: it ends at the first that is none of them, and one that
/// names a device twice shows none.
pub(super) fn visible(mut all: Vec<DeviceConfig>, list: &str) -> Vec<DeviceConfig> {
    for (ordinal, device) in all.iter_mut().enumerate() {
        device.pci = Some(device.pci_address(ordinal));
        device.uuid = Some(device.uuid_bytes(ordinal));
    }
    let mut chosen = Vec::new();
    for entry in list.split(',').map(str::trim) {
        let is_prefix = |device: &DeviceConfig| {
            let uuid = device.uuid.map(uuid_text).unwrap_or_default();
            uuid.to_ascii_lowercase()
                .starts_with(&entry.to_ascii_lowercase())
        };
        let ordinal = if entry.starts_with("GPU-") {
            let mut found = (0..all.len()).filter(|index| all.get(*index).is_some_and(is_prefix));
            found.next().filter(|_| found.next().is_none())
        } else {
            entry.parse().ok().filter(|ordinal| *ordinal < all.len())
        };
        let Some(ordinal) = ordinal else { break };
        if chosen.contains(&ordinal) {
            return Vec::new();
        }
        chosen.push(ordinal);
    }
    let devices = chosen.into_iter().filter_map(|it| all.get(it).cloned());
    devices.collect()
}

/// The parts of a text between separators, none of which is one inside quotation marks.
fn split(text: &str, is_separator: impl Fn(char) -> bool) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    text.split(move |c: char| {
        quoted ^= c == '"';
        !quoted && is_separator(c)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_counts_presets_and_settings() {
        let devices = parse("2, 3 t4, a100 memory=4G name=\"A, B and C\" cc=8.6").expect("right");
        assert_eq!(devices.len(), 6);
        let last = devices.last().expect("six");
        assert_eq!(last.name, "A, B and C");
        assert_eq!(last.total_memory, 4 << 30);
        assert_eq!(last.compute_capability, (8, 6));
        assert_eq!(parse("0"), Ok(Vec::new()));
    }

    #[test]
    fn every_setting_is_taken() {
        let text = "multiprocessors=8 shared_memory=16K shared_memory_optin=64K pci=0001:17:02.0 CONCURRENT_KERNELS=0 10=64 \
                    uuid=GPU-00112233-4455-6677-8899-aabbccddeeff";
        let devices = parse(text).expect("right");
        let device = devices.first().expect("one");
        assert_eq!(device.multiprocessors, 8);
        assert_eq!(device.shared_memory_per_block, 16 << 10);
        assert_eq!(device.shared_memory_per_block_optin, 64 << 10);
        assert_eq!(device.pci, Some((1, 0x17, 2)));
        assert_eq!(device.attribute(31, 0), Some(0));
        assert_eq!(device.attribute(10, 0), Some(64));
        assert_eq!(
            device.uuid.map(uuid_text).as_deref(),
            Some("GPU-00112233-4455-6677-8899-aabbccddeeff")
        );
    }

    #[test]
    fn mistakes_say_what_is_wrong() {
        for (text, part) in [
            ("voodoo", "`voodoo` is no device"),
            ("h200, ,t4", "empty"),
            ("h200 fast", "`fast` is no setting"),
            ("h200 memory=lots", "`memory=lots`"),
            ("h200 shared_memory=9G", "too much"),
            ("h200 cc=9", "compute capability"),
            ("h200 pci=1:2:3:4", "address"),
            ("h200 uuid=GPU-12", "32 hexadecimal digits"),
            ("h200 COFFEE=1", "nor an attribute `COFFEE`"),
            ("17", "16 devices at most"),
            ("99999999999999999999999", "number"),
        ] {
            let reason = parse(text).expect_err(text);
            assert!(reason.contains(part), "{text}: {reason}");
        }
    }
}
