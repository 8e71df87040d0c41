//! Hostile images: truncated at every length, with random bytes in random places.
//!
//! What passes our checks is handed to the software driver in memory of exactly its size, after a judge of its own has found
//! every range that the headers name within the slice. Nothing may panic; what is refused must be refused with a reason.

use cuda_sim::Simulator;

use super::image::{Image, sample_compressed_fatbin, sample_cubin, sample_fatbin};
use super::*;

const PTX: &str = "\
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 counter[3] = {1, 2, 3};
.visible .entry scale(.param .u64 to, .param .u32 n)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r1, [n];
    cvta.to.global.u64 %rd2, %rd1;
    st.global.u32 [%rd2], %r1;
    ret;
}
";

/// Numbers that look random, the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).unwrap_or(0)
    }
}

/// A few bytes of an image changed, and sometimes its end cut off.
fn mutated(image: &[u8], random: &mut Random) -> Vec<u8> {
    let mut hostile = image.to_vec();
    for _ in 0..=random.below(4) {
        let place = random.below(hostile.len());
        let byte = u8::try_from(random.below(256)).unwrap_or(0);
        hostile[place] = [0, 1, 0x7f, 0x80, 0xff, b'{', b'\n', byte][random.below(8)];
    }
    if random.below(4) == 0 {
        hostile.truncate(random.below(hostile.len() + 1));
    }
    hostile
}

fn number(bytes: &[u8], place: usize, size: usize) -> u128 {
    let field = &bytes[place..place + size];
    let fold = |sum, byte: &u8| sum << 8 | u128::from(*byte);
    field.iter().rev().fold(0, fold)
}

/// Demands that all that an ELF file names is within it, whatever the checks of the crate say.
fn judge_elf(bytes: &[u8]) {
    let len = bytes.len() as u128;
    for (table, count, entry, start, size) in [(40, 60, 64_u128, 24, 32), (32, 56, 56, 8, 32)] {
        let (table, mut count) = (number(bytes, table, 8), number(bytes, count, 2));
        if entry == 64 && count == 0 && table != 0 {
            let first = usize::try_from(table).expect("within the slice");
            count = number(bytes, first + 32, 8);
        }
        assert!(count == 0 || table + count * entry <= len, "a table");
        for index in 0..count {
            let place = usize::try_from(table + index * entry).expect("within the slice");
            let has_bytes = entry == 56 || ![0, 8].contains(&number(bytes, place + 4, 4));
            let end = number(bytes, place + start, 8) + number(bytes, place + size, 8);
            assert!(
                !has_bytes || end <= len,
                "entry {index} ends at {end} of {len}"
            );
        }
    }
}

/// The same of a fat binary.
fn judge_fatbin(bytes: &[u8]) {
    let end = number(bytes, 6, 2) + number(bytes, 8, 8);
    assert!(end <= bytes.len() as u128, "the container ends at {end}");
    let mut place = number(bytes, 6, 2);
    while place < end {
        let at = usize::try_from(place).expect("within the slice");
        let (header, payload) = (number(bytes, at + 4, 4), number(bytes, at + 8, 8));
        let next = place + header + payload;
        assert!(
            next <= end && header >= 32,
            "an entry ends at {next} of {end}"
        );
        if header >= 64 && number(bytes, at + 40, 4) & 0xa000 != 0 {
            assert!(number(bytes, at + 16, 4) <= payload, "a packed entry");
        } else if number(bytes, at, 2) == 2 {
            let start = usize::try_from(place + header).expect("within the slice");
            let cubin = &bytes[start..usize::try_from(next).expect("within the slice")];
            if cubin.starts_with(b"\x7fELF") {
                judge_elf(cubin);
            }
        }
        place = next;
    }
}

/// Tries to load an image; returns whether it came as far as the driver.
fn attempt(context: &Context, bytes: &[u8]) -> bool {
    let image = match Image::detect(bytes) {
        Ok(image) => image,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    match &image {
        Image::Ptx(text) => assert!(!text.to_bytes().contains(&0)),
        Image::Cubin(_) => judge_elf(bytes),
        Image::Fatbin(_) => judge_fatbin(bytes),
    }
    // What errors say of it is read from hostile bytes as well.
    let (facts, names) = (image.facts(), image.variables());
    assert!(!facts.made_for.is_empty() && names.iter().all(|name| !name.is_empty()));
    let exact: Box<[u8]> = bytes.into();
    // SAFETY: the software driver bounds what it reads of an image by the headers, which the judge found within the slice.
    match unsafe { context.load_binary(&exact) } {
        Ok(module) => drop(module.function_names()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    true
}

fn samples() -> [Vec<u8>; 4] {
    [
        PTX.into(),
        sample_cubin(),
        sample_fatbin(),
        sample_compressed_fatbin(),
    ]
}

fn context() -> Context {
    let driver = Driver::simulated_by(&Simulator::new());
    let device = driver.and_then(|driver| driver.device(0));
    let context = device.and_then(|device| device.primary_context());
    context.expect("a context")
}

/// Tries that many mutations of each sample, and demands that some are refused by us and some by the driver.
fn mutations(count: usize, seed: u64) {
    let context = context();
    let mut random = Random(seed);
    for sample in samples() {
        let mut reached = 0;
        for _ in 0..count {
            let hostile = mutated(&sample, &mut random);
            reached += usize::from(attempt(&context, &hostile));
        }
        assert!(reached > 0 && reached < count, "{reached} of {count}");
    }
}

#[test]
fn truncated_images_are_refused_or_compiled_at_every_length() {
    let context = context();
    for sample in samples() {
        let is_text = sample.starts_with(b".");
        for len in 0..sample.len() {
            let reached = attempt(&context, &sample[..len]);
            assert!(is_text || !reached, "{len} bytes of {}", sample.len());
        }
        assert!(attempt(&context, &sample));
    }
}

#[test]
fn mutated_images_never_name_what_is_not_there() {
    mutations(2_000, 0x9e37_79b9_7f4a_7c15);
}

#[test]
#[ignore = "takes minutes; run it with `--release`"]
fn many_mutated_images_never_name_what_is_not_there() {
    for seed in 1..=20 {
        mutations(20_000, seed);
    }
}
