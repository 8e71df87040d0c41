//! The special registers.

use super::forms::Type;
use super::operand::Wrong;
use crate::ScalarType;

/// A special register.
#[derive(Debug, Clone, Copy)]
pub(super) struct Special {
    /// 1 for a predicate.
    bits: usize,
    /// Whether 16-bit registers can read it too, as in the first versions of PTX.
    short: bool,
    /// Whether it is a vector, read without a component.
    vector: bool,
}

/// The special register of that name.
pub(super) fn find(name: &str) -> Option<Special> {
    let rest = name.strip_prefix('%')?;
    let scalar = |bits, short| {
        Some(Special {
            bits,
            short,
            vector: false,
        })
    };
    let (base, component) = match rest.split_once('.') {
        Some((base, component)) => (base, Some(component)),
        None => (rest, None),
    };
    if matches!(
        base,
        "tid"
            | "ntid"
            | "ctaid"
            | "nctaid"
            | "clusterid"
            | "nclusterid"
            | "cluster_ctaid"
            | "cluster_nctaid"
    ) {
        let vector = component.is_none();
        return match component {
            None | Some("x" | "y" | "z" | "w" | "r" | "g" | "b" | "a") => Some(Special {
                bits: 32,
                short: true,
                vector,
            }),
            Some(_) => None,
        };
    }
    match rest {
        "laneid" | "warpid" | "nwarpid" | "smid" | "nsmid" => scalar(32, true),
        "gridid" => scalar(64, true),
        "is_explicit_cluster" => scalar(1, false),
        "clock64" | "globaltimer" | "current_graph_exec" => scalar(64, false),
        "cluster_ctarank"
        | "cluster_nctarank"
        | "clock"
        | "clock_hi"
        | "globaltimer_lo"
        | "globaltimer_hi"
        | "lanemask_eq"
        | "lanemask_le"
        | "lanemask_lt"
        | "lanemask_ge"
        | "lanemask_gt"
        | "total_smem_size"
        | "aggr_smem_size"
        | "dynamic_smem_size"
        | "reserved_smem_offset_begin"
        | "reserved_smem_offset_end"
        | "reserved_smem_offset_cap" => scalar(32, false),
        _ => {
            let numbered = |prefix: &str, count: u32| {
                rest.strip_prefix(prefix)
                    .and_then(|number| number.parse().ok())
                    .is_some_and(|number: u32| number < count)
            };
            let performance_64 = rest
                .strip_suffix("_64")
                .and_then(|rest| rest.strip_prefix("pm"))
                .is_some_and(|number| matches!(number.parse(), Ok(0..8u32)));
            if performance_64 {
                scalar(64, false)
            } else if numbered("pm", 8)
                || numbered("envreg", 32)
                || numbered("reserved_smem_offset_", 2)
            {
                scalar(32, false)
            } else {
                None
            }
        }
    }
}

impl Special {
    /// Whether a source of that type can be this register; only moves and conversions of integers, which are `free`, read one.
    pub(super) fn read(self, name: &str, ty: Type, wider: bool, free: bool) -> Result<(), Wrong> {
        let predicate = ty == Type::Scalar(ScalarType::Pred);
        if !free || (!ty.is_integral() && !predicate) {
            return Err(format!(
                "the special register `{name}` must be read with a `mov` first"
            ));
        }
        if self.vector {
            return Err(format!(
                "`{name}` is a vector: name a component, such as `{name}.x`"
            ));
        }
        let fits = match self.bits {
            1 => predicate,
            // `%gridid` had 32 bits once.
            64 if self.short => matches!(ty.bits(), 32 | 64),
            _ => wider || ty.bits() == self.bits || self.short && ty.bits() == 16,
        };
        if fits {
            Ok(())
        } else {
            Err(format!("`{name}` has {} bits", self.bits))
        }
    }
}
