//! The functions, in files named after the groups of the C API.

mod array;
mod context;
mod context_deprecated;
mod copy;
mod copy_box;
mod device;
mod event;
mod function;
mod host_memory;
mod init;
mod kernel;
mod launch;
mod launch_deprecated;
mod library;
mod limit;
mod link;
mod managed;
mod memory;
mod module;
mod occupancy;
mod occupancy_cluster;
mod pointer;
mod pool;
mod primary_context;
mod set;
mod stream;
mod stream_capture;
mod transfer;
mod virtual_memory;
mod word;

use crate::table::Built;

/// All built functions.
pub(crate) fn groups() -> Vec<&'static [Built]> {
    vec![
        array::BUILT,
        context::BUILT,
        context_deprecated::BUILT,
        copy::BUILT,
        copy_box::BUILT,
        device::BUILT,
        event::BUILT,
        function::BUILT,
        host_memory::BUILT,
        init::BUILT,
        kernel::BUILT,
        launch::BUILT,
        launch_deprecated::BUILT,
        library::BUILT,
        limit::BUILT,
        link::BUILT,
        managed::BUILT,
        memory::BUILT,
        module::BUILT,
        occupancy::BUILT,
        occupancy_cluster::BUILT,
        pointer::BUILT,
        pool::BUILT,
        primary_context::BUILT,
        set::BUILT,
        stream::BUILT,
        stream_capture::BUILT,
        virtual_memory::BUILT,
        word::BUILT,
    ]
}

/// What every group's table needs.
pub(crate) mod prelude {
    pub(crate) use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ulonglong, c_ushort, c_void};

    pub(crate) use cuda_sys::CUresult;

    pub(crate) use crate::args::{In, Out, Text, handle, number};
    pub(crate) use crate::call::Call;
    pub(crate) use crate::code;
    pub(crate) use crate::slot::SLOTS;
    pub(crate) use crate::state::State;
    pub(crate) use crate::table::{Built, Pointer, built, checked, shared, shim, slots, tell};

    /// What a driver function answers.
    pub(crate) type Answer = Result<(), CUresult>;
}
