//! Conversions between all types.

use super::Form;

pub(super) fn conversions(forms: &mut Vec<Form>) {
    let types = [
        "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "f32", "f64",
    ];
    for to in types {
        for from in types {
            let (to_float, from_float) = (to.starts_with('f'), from.starts_with('f'));
            let bits = |ty: &str| ty[1..].parse::<u32>().unwrap();
            let roundings: &[&str] = match (from_float, to_float) {
                (false, false) => &[""],
                (true, false) => &[".rni", ".rzi", ".rmi", ".rpi"],
                (false, true) => &[".rn", ".rz", ".rm", ".rp"],
                (true, true) if bits(to) < bits(from) => &[".rn", ".rz", ".rm", ".rp"],
                (true, true) if to == from => &["", ".rni", ".rzi", ".rmi", ".rpi"],
                (true, true) => &[""],
            };
            let flushes: &[&str] = if (from == "f32" || to == "f32") && from != "f64" && to != "f64"
            {
                &["", ".ftz"]
            } else {
                &[""]
            };
            for rounding in roundings {
                for flush in flushes {
                    for saturate in ["", ".sat"] {
                        // Saturation that can never happen is not allowed to be written.
                        let signs = (to.starts_with('s'), from.starts_with('s'));
                        let never = match signs {
                            (true, true) | (false, false) => bits(from) <= bits(to),
                            (true, false) => bits(from) < bits(to),
                            (false, true) => false,
                        };
                        if !saturate.is_empty() && !to_float && !from_float && never {
                            continue;
                        }
                        forms.push(Form::new(
                            &format!("cvt{rounding}{flush}{saturate}.{to}.{from}"),
                            to,
                            &[from],
                        ));
                    }
                }
            }
        }
    }
}
