//! Names of kernels that are made to cost much, or at random.

use std::time::{Duration, Instant};

use cuda_ptx::KernelName;

#[test]
fn hostile_names_cost_little() {
    let units = [
        "P",
        "K",
        "F",
        "PF",
        "A4_",
        "M",
        "1aI",
        "N1aI",
        "Z",
        "L_Z1fI",
        "XadL_Z1fI",
        "cvT_I",
        "cvX",
        "cvI",
        "clcl",
        "srN",
        "Dp",
        "DT",
        "UlZN",
        "U1aI",
        "J",
        "S_",
        "T_",
        "DtstDTsz",
        "MGVdead",
        "tl",
        "il",
        "ilE",
        "\u{0}",
        "\u{fc}",
    ];
    for unit in units {
        for prefix in ["_Z", "_Z1f", "_ZN", "_Z1fI", "_Z1fIiEv", "_Z1fIX"] {
            for tail in ["", "E", "EE", "i", "EEvT_"] {
                for count in [7, 15, 22, 50, 95, 130, 3000] {
                    let symbol = format!("{prefix}{}{tail}", unit.repeat(count));
                    let start = Instant::now();
                    let name = KernelName::of(&symbol);
                    assert!(name.is_meant_by(&symbol));
                    let time = start.elapsed();
                    assert!(
                        time < Duration::from_secs(1),
                        "{time:?} for {unit} × {count} after {prefix}"
                    );
                }
            }
        }
    }
}

#[test]
fn names_that_double_with_each_step_end() {
    let mut symbol = String::from("_Z1f1aI1bE");
    for step in 0..30_u8 {
        let index = char::from(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[usize::from(step)]);
        symbol.push_str(&format!("1cIS{index}_S{index}_E"));
    }
    assert!(KernelName::of(&symbol).to_string().len() < 1 << 17);
}

/// Random strings of the grammar's words, and real names with random changes.
#[test]
fn random_names_never_panic() {
    let words = [
        "S_", "S0_", "St", "T_", "I", "E", "J", "N", "Z", "X", "L", "1a", "2bc", "P", "R", "K",
        "F", "A4_", "M", "DT", "Dp", "cv", "cl", "sr", "on", "pl", "st", "tl", "dt", "Ul", "Ut_",
        "Li1E", "i", "f", "v", "C1", "fp_", "GV", "_Z", "3foo", "99", "(", ")", "<", ">",
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap_or(0)
    };
    let real = [
        "_Z5scaleIfLi4EEvPT_S0_i",
        "_Z4ptrsPPfPKPKfPKS_PViPA4_iPFviEPKcPrS_",
        "_ZN2ns1kENS_1QEPS0_PKS0_",
    ];
    for round in 0..20_000 {
        let symbol = if round % 2 == 0 {
            let body: String = (0..random(60))
                .map(|_| words[random(words.len())])
                .collect();
            format!("_Z{body}")
        } else {
            let mut bytes = real[random(real.len())].as_bytes().to_vec();
            for _ in 0..=random(4) {
                let at = random(bytes.len());
                bytes[at] = b"SPKNIE_Z0123fivTL"[random(17)];
            }
            String::from_utf8(bytes).expect("ASCII")
        };
        let name = KernelName::of(&symbol);
        assert!(name.to_string().len() >= name.unqualified().len());
        assert!(name.is_meant_by(&symbol));
    }
}
