//! The inputs of the compared forms: edge values against each other, then numbers that look random.

use super::forms::Kind;

/// Triples of inputs for each form.
pub(crate) const COUNT: usize = 1024;

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
const F16: [u64; 16] = [
    0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x3800, 0x3e00, 0x4100, 0x7bff, 0xfbff,
    0x7c00, 0xfc00, 0x7e00,
];
const F32: [u64; 24] = [
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
];
const F64: [u64; 24] = [
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
];

fn edges(kind: Kind) -> &'static [u64] {
    match kind {
        Kind::Pred => &[0, 1],
        Kind::I16 => &I16,
        Kind::I32 => &I32,
        Kind::I64 => &I64,
        Kind::F16 => &F16,
        Kind::F32 => &F32,
        Kind::F64 => &F64,
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

    /// A number of that kind: any bits, or one of middling size.
    fn number(&mut self, kind: Kind) -> u64 {
        let bits = self.next();
        let middling = self.next() & 1 == 0;
        match kind {
            Kind::F16 if middling => (bits & 0x83ff) | (0x3000 + (bits >> 20 & 0xf) * 0x400),
            Kind::F32 if middling => {
                (bits & 0x807f_ffff) | (0x3b00_0000 + (bits >> 40 & 0x1f) * 0x0080_0000)
            }
            Kind::F64 if middling => {
                (bits & 0x800f_ffff_ffff_ffff) | ((0x3f0 + (bits >> 54 & 0x3f)) << 52)
            }
            Kind::I32 if middling => bits & 0x3f,
            Kind::I64 if middling => bits >> (bits & 63),
            Kind::Pred => bits & 1,
            _ => bits & (u64::MAX >> (64 - kind.bits())),
        }
    }
}

/// [`COUNT`] records of four words: three inputs of these kinds, and one that is not used.
pub(crate) fn for_kinds(kinds: &[Kind]) -> Vec<u64> {
    let mut sequence = Sequence(kinds.iter().fold(1, |seed, kind| seed * 8 + *kind as u64));
    let first = edges(kinds[0]);
    let second = kinds.get(1).map_or(&[0][..], |&kind| edges(kind));
    let mut records = Vec::with_capacity(4 * COUNT);
    let pairs = first
        .iter()
        .flat_map(|&a| second.iter().map(move |&b| (a, b)));
    for (a, b) in pairs.take(COUNT) {
        let third = kinds.get(2).map_or(&[0][..], |&kind| edges(kind));
        records.extend([
            a,
            b,
            third[(sequence.next() % third.len() as u64) as usize],
            0,
        ]);
    }
    while records.len() < 4 * COUNT {
        let mut number = |index: usize| kinds.get(index).map_or(0, |&kind| sequence.number(kind));
        let record = [number(0), number(1), number(2), 0];
        records.extend(record);
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
