use super::*;

#[path = "../../../tests/support/fatbin.rs"]
#[allow(dead_code, reason = "shared with the tests of the driver")]
mod writer;

use writer::{CUBIN, EXACT, FAMILY, PACKINGS, PTX, Packing, container, entry};

/// A text that compresses, with every byte value in it.
fn sample() -> Vec<u8> {
    (0..4000u32)
        .map(|index| ((index * index) >> 7) as u8)
        .collect()
}

#[test]
fn entries_come_in_order_with_what_they_hold() {
    for packing in PACKINGS {
        let image = container(&[
            entry(CUBIN, 80, 0, Packing::Plain, b"machine code"),
            entry(PTX, 75, 0, packing, &sample()),
            entry(PTX, 90, EXACT, packing, b"text"),
            entry(PTX, 100, FAMILY, packing, b""),
            entry(9, 0, 0, packing, b"later"),
        ]);
        let entries = entries(&image).expect("a sound container");
        let names: Vec<String> = entries.iter().map(ToString::to_string).collect();
        assert_eq!(
            names,
            [
                "machine code for sm_80",
                "PTX for sm_75",
                "PTX for sm_90a",
                "PTX for sm_100f",
                "an entry of the unknown kind 9"
            ]
        );
        let unpacked = entries[1].unpack().expect("a sound entry");
        assert_eq!(unpacked[..4000], sample(), "{packing:?}");
        assert_eq!(&entries[2].unpack().expect("a sound entry")[..4], b"text");
    }
}

#[test]
fn an_architecture_reaches_later_ones_its_family_or_itself() {
    let reached = |reach: Reach, architecture| {
        [75, 80, 86, 90, 100, 103, 120].map(|device| reach.includes(architecture, device))
    };
    assert_eq!(
        reached(Reach::Later, 86),
        [false, false, true, true, true, true, true]
    );
    assert_eq!(
        reached(Reach::Family, 100),
        [false, false, false, false, true, true, false]
    );
    assert_eq!(
        reached(Reach::Exact, 90),
        [false, false, false, true, false, false, false]
    );
}

#[test]
fn every_truncation_is_found() {
    for packing in PACKINGS {
        let image = container(&[
            entry(PTX, 75, 0, packing, &sample()[..200]),
            entry(PTX, 80, 0, packing, b"text"),
        ]);
        assert!(entries(&image).is_ok());
        for len in 0..image.len() {
            assert!(entries(&image[..len]).is_err(), "{packing:?} {len}");
        }
    }
}

/// Numbers that look random, the same each time.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn hostile_containers_are_refused_or_read_within_their_bounds() {
    let mut state = 0x9e37_79b9_7f4a_7c15;
    let (mut refused, mut unpacked, mut broken) = (0, 0, 0);
    for packing in PACKINGS {
        let sound = container(&[
            entry(PTX, 75, 0, packing, &sample()[..600]),
            entry(CUBIN, 90, 0, packing, b"machine code"),
        ]);
        for _ in 0..20_000 {
            let mut image = sound.clone();
            for _ in 0..=random(&mut state) % 4 {
                let place = random(&mut state) as usize % image.len();
                let byte = [0, 1, 0x7f, 0x80, 0xff, random(&mut state) as u8];
                image[place] = byte[random(&mut state) as usize % byte.len()];
            }
            image.truncate(image.len() - (random(&mut state) % 3) as usize * 7);
            let Ok(entries) = entries(&image) else {
                refused += 1;
                continue;
            };
            for entry in entries {
                match entry.unpack() {
                    Ok(_) => unpacked += 1,
                    Err(_) => broken += 1,
                }
            }
        }
    }
    assert!(refused > 1000 && unpacked > 1000 && broken > 1000);
}

#[test]
fn claims_beyond_the_packed_bytes_take_no_memory() {
    for packing in [Packing::Lz4, Packing::Zstd] {
        for size in [u64::MAX, 1 << 40, (1 << 28) + 1, 1 << 28, 5000] {
            let mut image = container(&[entry(PTX, 75, 0, packing, &sample())]);
            image[16 + 56..16 + 64].copy_from_slice(&size.to_le_bytes());
            let entries = entries(&image).expect("a sound container");
            let error = entries[0].unpack().expect_err("a wrong size");
            assert!(!error.is_empty(), "{packing:?} {size}: {error}");
        }
    }
}

#[test]
fn what_is_written_is_read() {
    for text in ["", "1234567", "12345678", ".version 8.0"] {
        let image = of_ptx(text, 90);
        let entries = entries(&image).expect("a sound container");
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].to_string(), "PTX for sm_90a");
        let unpacked = entries[0].unpack().expect("a sound entry");
        assert_eq!(unpacked[..=text.len()], [text.as_bytes(), &[0]].concat());
    }
}
