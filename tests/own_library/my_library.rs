//! A library with one function.

use cuda_driver::{Context, LaunchConfig, Result};

use crate::support::kernels::VECTOR_ADD;

/// Twice each number.
pub(crate) fn double(context: &Context, numbers: &[f32]) -> Result<Vec<f32>> {
    let stream = context.create_stream()?;
    let add = context.load_ptx(VECTOR_ADD)?.function("vector_add")?;
    let x = stream.upload(numbers)?;
    let mut sum = stream.zeroed::<f32>(x.len())?;
    let n = u32::try_from(x.len())?;
    // SAFETY: the kernel reads `x` twice and writes `sum`, each at indices below `n`, which is the length of both.
    unsafe {
        add.launch(
            &stream,
            LaunchConfig::for_len(x.len()),
            (&x, &x, &mut sum, n),
        )
    }?;
    sum.to_vec()
}
