//! The driver of the tests: the software driver, or the one that `CUDA_TEST_DRIVER` chooses (`software`, `auto`, `real`).

use std::env;

use cuda_driver::{Context, Driver, Error, Stream};

/// A stream on the first device.
pub(crate) fn stream() -> Result<(Context, Stream), Error> {
    let driver = match env::var("CUDA_TEST_DRIVER").as_deref() {
        Ok("real") => Driver::load(),
        Ok("auto") => Driver::load_or_simulated(),
        _ => Driver::simulated(),
    }?;
    let context = driver.device(0)?.primary_context()?;
    let stream = context.create_stream()?;
    Ok((context, stream))
}
