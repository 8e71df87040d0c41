//! Initial values of module variables.

use cuda_ptx::{Initial, Linkage, ScalarType, Variable};

use super::Names;
use crate::program::function_offset;
use crate::{Global, Relocation, RelocationTarget};

/// The largest variable that a module may have: 2 GiB, as compilers allow.
const LARGEST: usize = 1 << 31;

/// Why a variable cannot be placed as the module means it.
fn problem(variable: &Variable<'_>, names: &Names<'_, '_>) -> Option<String> {
    let name = variable.name;
    if variable.size().is_none_or(|size| size > LARGEST) {
        return Some(format!(
            "the variable `{name}` is larger than {LARGEST} bytes"
        ));
    }
    if matches!(
        variable.ty,
        ScalarType::TexRef | ScalarType::SamplerRef | ScalarType::SurfRef
    ) {
        return Some(format!(
            "`{name}` is a texture, sampler or surface, which are not implemented"
        ));
    }
    if variable.linkage == Linkage::Extern {
        return Some(format!(
            "the variable `{name}` is defined in another module"
        ));
    }
    variable.initial.iter().flatten().find_map(|part| match part {
        Initial::Address { mask: Some(_), .. } => {
            Some(format!("the initial value of `{name}` has single bytes of an address"))
        }
        Initial::Address { name: target, .. } if !names.globals.contains_key(target) && names.function(target).is_none() => {
            Some(format!("the initial value of `{name}` has the address of `{target}`, which is neither a variable nor a device function of the module"))
        }
        _ => None,
    })
}

/// Writes the initial bytes of a variable and notes the addresses in it; returns what is not implemented about it.
pub(super) fn fill(
    global: &mut Global,
    variable: &Variable<'_>,
    names: &Names<'_, '_>,
) -> Option<String> {
    let problem = problem(variable, names);
    if problem.is_some() {
        global.size = global.size.min(variable.element_size().max(1));
    }
    global.bytes = vec![0; global.size];
    if problem.is_none() {
        write(global, variable, names);
    }
    problem
}

fn write(global: &mut Global, variable: &Variable<'_>, names: &Names<'_, '_>) {
    let Some(initial) = &variable.initial else {
        return;
    };
    let element = variable.ty.size();
    // Bytes of one element of each level of braces: the whole, its rows, their rows …, single elements.
    let mut sizes = vec![global.size];
    for &extent in &variable.extents {
        let inner = sizes.last().copied().unwrap_or(0);
        let extent = if extent == 0 {
            inner / variable.element_size().max(1)
        } else {
            extent as usize
        };
        sizes.push(inner.checked_div(extent).unwrap_or(0));
    }
    let (mut at, mut starts) = (0usize, Vec::new());
    for part in initial {
        match part {
            Initial::Open => starts.push(at),
            Initial::Close => {
                // What the braces leave out is zero.
                let start = starts.pop().unwrap_or(0);
                let whole = sizes.get(starts.len()).copied().unwrap_or(element);
                at = at.max(start.saturating_add(whole));
            }
            Initial::Integer(value) => at = put(global, at, value.to_le_bytes(), element),
            Initial::Float32(bits) => {
                at = put(
                    global,
                    at,
                    float(f64::from(f32::from_bits(*bits)), variable.ty),
                    element,
                )
            }
            Initial::Float64(bits) => {
                at = put(
                    global,
                    at,
                    float(f64::from_bits(*bits), variable.ty),
                    element,
                )
            }
            Initial::Address { name, offset, .. } => {
                let variable = names.globals.get(name);
                let variable = variable.map(|&index| RelocationTarget::Variable(index));
                let function = || names.function(name).map(function_offset);
                if let Some(target) =
                    variable.or_else(|| function().map(RelocationTarget::Function))
                {
                    global.relocations.push(Relocation {
                        offset: at,
                        size: element,
                        target,
                        addend: *offset,
                    });
                }
                at = at.saturating_add(element);
            }
            Initial::Text(text) => {
                for byte in text.bytes() {
                    at = put(global, at, u64::from(byte).to_le_bytes(), element);
                }
            }
            Initial::Field(..) => {}
        }
    }
}

fn float(value: f64, ty: ScalarType) -> [u8; 8] {
    match ty {
        ScalarType::F32 => u64::from((value as f32).to_bits()).to_le_bytes(),
        _ => value.to_bits().to_le_bytes(),
    }
}

/// Writes one element, as far as the variable reaches; returns where the next one goes.
fn put(global: &mut Global, at: usize, bytes: [u8; 8], size: usize) -> usize {
    let end = at.saturating_add(size.min(8));
    if let Some(place) = global.bytes.get_mut(at..end) {
        place.copy_from_slice(&bytes[..size.min(8)]);
    }
    at.saturating_add(size)
}
