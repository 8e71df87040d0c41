//! The attributes of devices: all of one kind of device, and what differs from it on others.

use cuda_sys::CUdevice_attribute;

/// The value of an attribute on devices of a compute capability.
pub(super) fn of(capability: (u32, u32), attribute: CUdevice_attribute) -> Option<i32> {
    let differs = differences(capability)
        .iter()
        .find(|(number, _)| *number == attribute.0);
    differs
        .map(|(_, value)| value)
        .or_else(|| H200.get(attribute.0.checked_sub(1)? as usize))
        .copied()
}

/// The attributes of an H200 under driver 13.0, from number 1 on. Where the software driver cannot do what the device can, the
/// attribute says so.
#[rustfmt::skip]
const H200: [i32; 147] = [
    /*   1 */ 1024, 1024, 1024, 64, i32::MAX, 65535, 65535, 49152, 65536, 32,
    /*  11 */ i32::MAX, 65536, 1_980_000, 512, 1, 132, 0, 0, 1, 0,
    /*  21 */ 131_072, 131_072, 65536, 16384, 16384, 16384, 32768, 32768, 2048, 512,
    /*  31 */ 1, 1, 0, 0, 0, 3_201_000, 6016, 62_914_560, 2048, 3,
    /*  41 */ 1, 32768, 2048, 1, 32768, 32768, 8192, 8192, 32768, 0,
    /*  51 */ 32, 32768, 32768, 2046, 32768, 131_072, 65536, 16384, 16384, 16384,
    /*  61 */ 32768, 2048, 32768, 32768, 2048, 32768, 32768, 2046, 268_435_456, 131_072,
    /*  71 */ 65000, 2_097_120, 32768, 32768, 9, 0, 32768, 1, 1, 1,
    /*  81 */ 233_472, 65536, 1, 0, 0, 0, 2, 0, 1, 1,
    /*  91 */ 1, 0, 0, 0, 1, 0, 232_448, 0, 1, 0,
    /* 101 */ 0, 1, 0, 0, 0, 32, 0, 39_321_600, 0, 0,
    /* 111 */ 1024, 0, 1, 0, 1, 0, 1, 100, 0, 0,
    /* 121 */ 0, 1, 1, 0, 0, 4, 0, 0, 0, 0,
    /* 131 */ -1, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    /* 141 */ 0, 0, 0, 0, 0, 0, 0,
];

/// What is not as on an H200: attribute and value.
fn differences(capability: (u32, u32)) -> &'static [(u32, i32)] {
    match capability {
        (..=7, _) => T4,
        (8, 0) => A100,
        (8, _) => RTX4090,
        (9, _) => &[],
        (10.., _) => B200,
    }
}

/// As on a T4.
#[rustfmt::skip]
const T4: &[(u32, i32)] = &[
    (13, 1_590_000), (36, 5_001_000), (37, 256), (38, 4_194_304), (39, 1024), (81, 65_536), (87, 32), (106, 16), (111, 0), (126, 1),
];

/// As on an A100 of 80 GB.
#[rustfmt::skip]
const A100: &[(u32, i32)] = &[
    (13, 1_410_000), (36, 1_593_000), (37, 5120), (38, 41_943_040), (81, 167_936), (126, 1),
];

/// As on a GeForce RTX 4090.
#[rustfmt::skip]
const RTX4090: &[(u32, i32)] = &[
    (13, 2_520_000), (32, 0), (36, 10_501_000), (37, 384), (38, 75_497_472), (39, 1536), (40, 2), (81, 102_400), (87, 64), (106, 24), (126, 1),
];

/// As on a B200.
#[rustfmt::skip]
const B200: &[(u32, i32)] = &[
    (13, 1_965_000), (36, 3_996_000), (37, 8192), (38, 132_644_864),
];
