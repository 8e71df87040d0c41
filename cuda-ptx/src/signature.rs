//! What a kernel takes: its parameters' places from PTX, their types from PTX and from the mangled name.

mod ctype;
mod mangled;
mod name;

pub use ctype::{CScalar, CType};
pub use name::KernelName;

use crate::{Function, Param, Pointer, ScalarType, Tuning};

/// What is known of a kernel's interface.
///
/// ```
/// let module = cuda_ptx::Module::parse_signatures(
///     ".version 7.0 .target sm_52 .address_size 64
///      .visible .entry _Z5scalePKfPfj(.param .u64 from, .param .u64 to, .param .u32 n) { ret; }",
/// )?;
/// let entry = module.entries().next().ok_or("no kernel")?;
/// let signature = cuda_ptx::Signature::of(entry);
/// assert_eq!(signature.name.unqualified(), "scale");
/// let types: Vec<String> = signature.parameters.iter().map(|it| it.ty.to_string()).collect();
/// assert_eq!(types, ["const float *", "float *", "unsigned int"]);
/// assert_eq!(signature.parameters[2].offset, 16);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Signature {
    /// The name, in the image and in C++.
    pub name: KernelName,
    /// The parameters in their order.
    pub parameters: Vec<Parameter>,
    /// The limits that the kernel states for its launches.
    pub tuning: Tuning,
}

/// A parameter of a kernel. Sizes are in bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// First byte in the parameter buffer.
    pub offset: usize,
    /// Size.
    pub size: usize,
    /// Alignment.
    pub align: usize,
    /// The type, as far as it can be told.
    pub ty: CType,
    /// What PTX states of the memory that it points to (`.ptr`).
    pub pointer: Option<Pointer>,
}

impl Signature {
    /// The signature of a kernel. Where the mangled name and PTX contradict each other, PTX holds.
    #[must_use]
    pub fn of(entry: &Function<'_>) -> Self {
        let name = KernelName::of(entry.name);
        let named = name.parameters.as_deref().unwrap_or(&[]);
        let named = (named.len() == entry.params.len()).then_some(named);
        let parameters = entry.params.iter().enumerate().map(|(index, param)| {
            let named = named.and_then(|list| list.get(index));
            Parameter {
                offset: param.offset,
                size: param.size,
                align: param.align,
                ty: named
                    .filter(|ty| can_be(ty, param))
                    .cloned()
                    .unwrap_or_else(|| of_param(param)),
                pointer: param.pointer,
            }
        });
        Self {
            parameters: parameters.collect(),
            tuning: entry.tuning,
            name,
        }
    }
}

/// Whether a parameter can be of the type that the mangled name says.
fn can_be(ty: &CType, param: &Param<'_>) -> bool {
    let float = matches!(param.ty, ScalarType::F32 | ScalarType::F64);
    match ty {
        CType::Pointer { .. } => matches!(param.size, 4 | 8) && param.len.is_none() && !float,
        CType::Scalar(scalar) => {
            let bits = param.len.is_some() || param.ty.name().starts_with('b');
            scalar.may_have_size(param.size) && (bits || scalar.is_float() == is_float(param.ty))
        }
        CType::Vector { of, lanes } => {
            let size = param.size / usize::from((*lanes).max(1));
            of.may_have_size(size)
        }
        CType::Void => false,
        _ => true,
    }
}

fn is_float(ty: ScalarType) -> bool {
    use ScalarType as S;
    matches!(
        ty,
        S::F16 | S::BF16 | S::F16x2 | S::BF16x2 | S::TF32 | S::F32 | S::F64
    )
}

/// What PTX alone says: kinds of numbers, not their signs; addresses only where they are marked.
fn of_param(param: &Param<'_>) -> CType {
    use ScalarType as S;
    if param.pointer.is_some() {
        return CType::Pointer {
            to: Box::new(CType::Unknown),
            is_const: false,
        };
    }
    if param.len.is_some() || param.vector > 1 {
        return CType::Bytes;
    }
    match param.ty {
        S::F16 => CType::Scalar(CScalar::Half),
        S::BF16 => CType::Scalar(CScalar::BFloat16),
        S::F32 => CType::Scalar(CScalar::Float),
        S::F64 => CType::Scalar(CScalar::Double),
        S::U8 | S::U16 | S::U32 | S::U64 | S::S8 | S::S16 | S::S32 | S::S64 => CType::Integer,
        _ => CType::Unknown,
    }
}
