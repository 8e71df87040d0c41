//! The inputs of the compared forms: edge values against each other, then numbers that look random.

use crate::kinds::Kind;

/// Records of inputs for each form.
pub(crate) const COUNT: usize = 1024;

const I8: [u64; 8] = [0, 1, 2, 0x40, 0x7f, 0x80, 0x81, 0xff];
const I16: [u64; 16] = [
    0, 1, 2, 3, 7, 15, 16, 17, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0x8001, 0xffff,
];
const I32: [u64; 20] = [
    0,
    1,
    2,
    3,
    5,
    8,
    16,
    31,
    32,
    33,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x0080_0001,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_fffe,
    0xffff_ffff,
];
const I64: [u64; 20] = [
    0,
    1,
    2,
    3,
    31,
    32,
    63,
    64,
    65,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0x8000_0000_0000_0001,
    0xffff_ffff_ffff_ffff,
    0xffff_ffff_ffff_fffe,
    0x20_0000_0000_0001,
    0x8000_0000,
    0xffff_ffff_8000_0000,
    0x0123_4567_89ab_cdef,
];
/// Zeros, denormals, the smallest normal number, ones, halves, the largest, infinities, quiet and signalling NaN.
const F16: [u64; 26] = [
    0x7ff7, 0xfff7, 0x7fff, 0xffff, 0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x3800,
    0x3e00, 0x4100, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01, 0xfdff, 0x3c01, 0x1400,
    0x6400,
];
const BF16: [u64; 26] = [
    0x7ff7, 0xfff7, 0x7fff, 0xffff, 0, 0x8000, 1, 0x8001, 0x7f, 0x80, 0x3f80, 0xbf80, 0x3f00,
    0x3fc0, 0x4020, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81, 0xffbf, 0x3f81, 0x3c00,
    0x4780,
];
const F32: [u64; 27] = [
    0,
    0x8000_0000,
    1,
    0x8000_0001,
    0x007f_ffff,
    0x0080_0000,
    0x8080_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3f00_0000,
    0x3f80_0001,
    0x3fc0_0000,
    0x4020_0000,
    0xc020_0000,
    0x4b80_0001,
    0x4f00_0000,
    0xcf00_0000,
    0x4f80_0000,
    0x5f00_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0001,
    0xffc0_0000,
    0x7f80_0001,
    0xffbf_ffff,
];
const F64: [u64; 28] = [
    0,
    0x8000_0000_0000_0000,
    1,
    0x8000_0000_0000_0001,
    0x000f_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    0x3fe0_0000_0000_0000,
    0x3ff0_0000_0000_0001,
    0x4004_0000_0000_0000,
    0xc004_0000_0000_0000,
    0x3ff0_0000_1000_0000,
    0x3ff0_0000_3000_0000,
    0x47ef_ffff_f000_0000,
    0x36a0_0000_0000_0000,
    0x3810_0000_0000_0000,
    0x41e0_0000_0000_0000,
    0xc1e0_0000_0000_0000,
    0x43e0_0000_0000_0000,
    0x43f0_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0001,
    0xfff8_dead_beef_0000,
    0x7ff0_0000_0000_0001,
    0xfff4_0000_0000_0000,
];
const F8X2: [u64; 8] = [0, 0x8080, 0x0180, 0x7e7f, 0x7c7b, 0xfeff, 0x3c38, 0x0807];
const SMALL: [u64; 10] = [
    0,
    1,
    2,
    31,
    32,
    33,
    0xffff_ffff,
    0xffff_fffe,
    0xffff_ffe0,
    0x7fff_ffff,
];

fn edges(kind: Kind) -> &'static [u64] {
    match kind {
        Kind::Pred => &[0, 1],
        Kind::I8 => &I8,
        Kind::I16 => &I16,
        Kind::I32 => &I32,
        Kind::I64 => &I64,
        Kind::F16 | Kind::F16x2 | Kind::F16x4 => &F16,
        Kind::Bf16 | Kind::Bf16x2 | Kind::Bf16x4 => &BF16,
        Kind::F32 | Kind::F32x2 => &F32,
        Kind::F64 => &F64,
        Kind::F8x2 => &F8X2,
        Kind::Small => &SMALL,
    }
}

/// A sequence that is the same everywhere.
struct Sequence(u64);

impl Sequence {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// An edge value in the lowest part of a packed kind, others of them above.
    fn around(&mut self, kind: Kind, lowest: u64) -> u64 {
        let (part, count) = kind.parts();
        let edges = edges(part);
        (1..count).fold(lowest, |word, index| {
            word | edges[(self.next() % edges.len() as u64) as usize] << (index * part.bits())
        })
    }

    /// A number of that kind: any bits, or one of middling size.
    fn number(&mut self, kind: Kind) -> u64 {
        let (part, count) = kind.parts();
        if count > 1 {
            return (0..count).fold(0, |word, index| {
                word | self.number(part) << (index * part.bits())
            });
        }
        let bits = self.next();
        let middling = self.next() & 1 == 0;
        match kind {
            Kind::F16 if middling => (bits & 0x83ff) | (0x3000 + (bits >> 20 & 0xf) * 0x400),
            Kind::Bf16 if middling => (bits & 0x807f) | (0x3b00 + (bits >> 20 & 0x1f) * 0x80),
            Kind::F32 if middling => {
                (bits & 0x807f_ffff) | (0x3b00_0000 + (bits >> 40 & 0x1f) * 0x0080_0000)
            }
            Kind::F64 if middling => {
                (bits & 0x800f_ffff_ffff_ffff) | ((0x3f0 + (bits >> 54 & 0x3f)) << 52)
            }
            Kind::I32 if middling => bits & 0x3f,
            Kind::I64 if middling => bits >> (bits & 63),
            Kind::Small => (bits & 0x7f).wrapping_sub(64) & 0xffff_ffff,
            _ => bits & (u64::MAX >> (64 - kind.bits())),
        }
    }
}

/// [`COUNT`] records of four words: up to four inputs of these kinds.
pub(crate) fn for_kinds(kinds: &[Kind]) -> Vec<u64> {
    let seed = kinds.iter().fold(1u64, |seed, &kind| {
        seed.wrapping_mul(16).wrapping_add(kind as u64)
    });
    let mut sequence = Sequence(seed);
    let edges_of = |index: usize| kinds.get(index).map_or(&[0][..], |&kind| edges(kind));
    let pairs = edges_of(0)
        .iter()
        .flat_map(|&a| edges_of(1).iter().map(move |&b| (a, b)));
    let mut records = Vec::with_capacity(4 * COUNT);
    for (a, b) in pairs.take(COUNT) {
        let mut any = |index: usize| {
            let edges = edges_of(index);
            edges[(sequence.next() % edges.len() as u64) as usize]
        };
        let lowest = [a, b, any(2), any(3)];
        for (index, lowest) in lowest.into_iter().enumerate() {
            records.push(
                kinds
                    .get(index)
                    .map_or(0, |&kind| sequence.around(kind, lowest)),
            );
        }
    }
    while records.len() < 4 * COUNT {
        for index in 0..4 {
            records.push(kinds.get(index).map_or(0, |&kind| sequence.number(kind)));
        }
    }
    records
}

/// A number that changes when any result does.
pub(crate) fn digest(results: &[u64]) -> u64 {
    results.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &word| {
        word.to_le_bytes().iter().fold(hash, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    })
}
