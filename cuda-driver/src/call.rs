//! The choke point: every driver call of this crate, and of those who build on its checked tier, is one `call!`.

use cuda_sys::CUresult;

use crate::error::{Error, Result};

/// Calls any function of the driver: fetches it, calls it, checks its status and keeps its name for the error.
///
/// This is the *checked tier*: one line, no ownership, every function that the driver exports. The name is the exact
/// symbol (`cuMemGetInfo_v2`), the arguments are the C function's, and the result is `Result<()>`.
///
/// # Safety
/// The expansion calls a C function, so it stands in an `unsafe` block, whose duty is that function's documented
/// contract: valid pointers, live handles, and a current context where the function wants one
/// ([`Context::push`](crate::Context::push)).
///
/// # Errors
/// The function's status if it is not success; [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) if the
/// driver does not have the function.
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # #[cfg(feature = "simulator")] {
/// use cuda_driver::{Driver, call};
///
/// let driver = Driver::simulated()?;
/// let context = driver.device(0)?.primary_context()?;
/// let _current = context.push()?;
/// let (mut free, mut total) = (0, 0);
/// // SAFETY: both pointers are to live integers, and a context is current.
/// unsafe { call!(driver, cuMemGetInfo_v2(&raw mut free, &raw mut total)) }?;
/// assert!(free <= total);
/// # }
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! call {
    ($driver:expr, $name:ident($($argument:expr),* $(,)?)) => {
        match $crate::__private::function($driver.library().$name(), stringify!($name)) {
            Ok(function) => $crate::__private::check(stringify!($name), function($($argument),*)),
            Err(error) => Err(error),
        }
    };
}

/// The function to call, unless the driver lacks it or may not be called here.
///
/// # Errors
/// As the sentence says.
#[inline]
pub fn function<F>(
    found: std::result::Result<F, cuda_sys::MissingSymbol>,
    name: &'static str,
) -> Result<F> {
    crate::process::permit()?;
    found.map_err(|missing| Error::from_missing(name, missing))
}

/// Turns a status into a result.
///
/// # Errors
/// Any status other than success.
#[inline]
pub fn check(name: &'static str, status: CUresult) -> Result<()> {
    if status == CUresult::CUDA_SUCCESS {
        Ok(())
    } else {
        Err(Error::from_status(name, status))
    }
}
