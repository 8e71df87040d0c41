//! The end of a library.

use std::sync::Arc;

use super::{Form, Library, LibraryCore};
use crate::close::CloseError;
use crate::error::{Doing, Error, ErrorKind};
use crate::process;

impl Library {
    /// Unloads the library and reports what that returns, which `Drop` cannot. It waits for the kernels that run.
    ///
    /// # Errors
    /// [`CloseError`] with the handle if other handles, kernels or functions still use the library; what the driver
    /// returns.
    #[doc(alias = "cuLibraryUnload")]
    pub fn close(self) -> Result<(), CloseError<Self>> {
        let doing = "unload the library";
        if let Err(error) = process::permit() {
            return Err(CloseError::new(error.doing(doing), Some(self)));
        }
        let mut core = Arc::try_unwrap(self.core).map_err(|core| {
            let reason = "other handles, kernels or functions of it still use it";
            let error = Error::new(ErrorKind::StillShared, reason).doing(doing);
            CloseError::new(error, Some(Self { core }))
        })?;
        let driver = core.driver.clone();
        let Form::Native(native) = &mut core.form else {
            return Ok(());
        };
        let result = crate::stream::relaxed(&driver, || native.unload(&driver));
        result
            .doing(|| doing)
            .map_err(|error| CloseError::new(error, None))
    }
}

impl Drop for LibraryCore {
    fn drop(&mut self) {
        let Form::Native(native) = &mut self.form else {
            return;
        };
        // A forked child has no driver.
        if native.is_unloaded() || process::is_forked() {
            return;
        }
        if process::in_host_function() {
            process::postpone(Box::new(Self {
                driver: self.driver.clone(),
                form: Form::Native(native.take()),
                facts: crate::module::Facts::unknown(),
                text: None,
                variables: Arc::from([]),
            }));
            return;
        }
        let driver = self.driver.clone();
        if let Err(error) = crate::stream::relaxed(&driver, || native.unload(&driver))
            && !error.is_silent_in_drops()
            && !error.is_sticky()
        {
            log::error!("cannot unload a library: {error}");
        }
    }
}
