//! The parameters of a launch, in whichever form they are passed.

use cuda_sim_machine::Kernel;

use super::super::prelude::*;

/// `CU_LAUNCH_PARAM_BUFFER_POINTER` and `CU_LAUNCH_PARAM_BUFFER_SIZE`; 0 ends the list.
const BUFFER_POINTER: u64 = 1;
const BUFFER_SIZE: u64 = 2;

/// Where a kernel's parameters are.
#[derive(Debug, Clone, Copy)]
pub(in crate::api) enum Params<'a> {
    /// What a launch was called with: an address for each, or a list that names a buffer.
    Passed {
        params: In<*mut c_void>,
        extra: In<*mut c_void>,
    },
    /// The first bytes of the parameter buffer; what is missing is zero.
    Bytes(&'a [u8]),
}

impl Params<'_> {
    /// The parameter buffer.
    ///
    /// # Errors
    /// `INVALID_VALUE` for none, for both forms and for lists that say too little; `LAUNCH_OUT_OF_RESOURCES` for more than the kernel takes.
    pub(super) fn read(self, kernel: &Kernel) -> Result<Vec<u8>, CUresult> {
        let mut bytes = vec![0; kernel.params_size()];
        match self {
            Self::Bytes(given) => fill(&mut bytes, given)?,
            Self::Passed { params, extra } => match (params.is_null(), extra.is_null()) {
                (true, true) if kernel.params().is_empty() => {}
                (false, true) => each(kernel, params, &mut bytes)?,
                (true, false) => {
                    let (buffer, size) = buffer(extra)?;
                    fill(&mut bytes, buffer.bytes(size)?)?;
                }
                _ => return Err(code::INVALID_VALUE),
            },
        }
        Ok(bytes)
    }
}

/// Copies what was given; a shorter buffer is accepted.
fn fill(bytes: &mut [u8], given: &[u8]) -> Answer {
    let place = bytes
        .get_mut(..given.len())
        .ok_or(code::LAUNCH_OUT_OF_RESOURCES)?;
    place.copy_from_slice(given);
    Ok(())
}

/// Copies each parameter from its own address.
fn each(kernel: &Kernel, params: In<*mut c_void>, bytes: &mut [u8]) -> Answer {
    for (index, param) in kernel.params().iter().enumerate() {
        let source = In::from_pointer(params.at(index)?.cast::<u8>().cast_const());
        let place = bytes
            .get_mut(param.offset..param.offset + param.size)
            .ok_or(code::INVALID_VALUE)?;
        place.copy_from_slice(source.bytes(param.size)?);
    }
    Ok(())
}

/// The buffer that a list names.
fn buffer(extra: In<*mut c_void>) -> Result<(In<u8>, usize), CUresult> {
    let (mut buffer, mut size) = (None, None);
    for index in (0..).step_by(2) {
        let value = || extra.at(index + 1).map(<*mut c_void>::cast_const);
        match number(extra.at(index)?) {
            0 => break,
            BUFFER_POINTER => buffer = Some(In::from_pointer(value()?.cast())),
            BUFFER_SIZE => size = Some(In::from_pointer(value()?.cast::<usize>()).get()?),
            _ => return Err(code::INVALID_VALUE),
        }
    }
    match (buffer, size) {
        (Some(buffer), Some(size)) if size > 0 => Ok((buffer, size)),
        _ => Err(code::INVALID_VALUE),
    }
}
