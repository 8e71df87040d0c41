//! What the software driver's constructors are without the feature `simulator`: errors when the program is compiled, which name the feature
//! instead of denying that there is such a function.

use super::Driver;
use crate::error::Result;

/// What [`Driver`] is not without the feature: a bound on it makes a call an error that says so.
#[diagnostic::on_unimplemented(
    message = "the software driver needs the feature `simulator` of `cuda-driver`",
    label = "the feature is off",
    note = "in Cargo.toml: `cuda-driver = {{ …, features = [\"simulator\"] }}`; without it there is `Driver::load`"
)]
trait FeatureSimulator {}

impl Driver {
    /// Needs the feature `simulator`.
    ///
    /// ```compile_fail,E0277
    /// let driver = cuda_driver::Driver::simulated()?;
    /// # Ok::<(), cuda_driver::Error>(())
    /// ```
    ///
    /// # Errors
    /// It cannot be called.
    #[doc(hidden)]
    #[expect(private_bounds, reason = "nobody is to implement it")]
    pub fn simulated() -> Result<Self>
    where
        for<'off> Self: FeatureSimulator,
    {
        Self::load()
    }

    /// Needs the feature `simulator`.
    ///
    /// ```compile_fail,E0277
    /// let driver = cuda_driver::Driver::load_or_simulated()?;
    /// # Ok::<(), cuda_driver::Error>(())
    /// ```
    ///
    /// # Errors
    /// It cannot be called.
    #[doc(hidden)]
    #[expect(private_bounds, reason = "nobody is to implement it")]
    pub fn load_or_simulated() -> Result<Self>
    where
        for<'off> Self: FeatureSimulator,
    {
        Self::load()
    }

    /// Needs the feature `simulator`.
    ///
    /// ```compile_fail,E0277
    /// let driver = cuda_driver::Driver::simulated_by(&())?;
    /// # Ok::<(), cuda_driver::Error>(())
    /// ```
    ///
    /// # Errors
    /// It cannot be called.
    #[doc(hidden)]
    #[expect(private_bounds, reason = "nobody is to implement it")]
    pub fn simulated_by<T: ?Sized>(_: &T) -> Result<Self>
    where
        for<'off> Self: FeatureSimulator,
    {
        Self::load()
    }
}
