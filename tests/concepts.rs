//! The concepts of the driver, one file for each: the same program runs on the software driver and on a GPU.
//!
//! See `support` for the environment variables that choose between the two.

mod call_counts;
mod context;
mod context_settings;
mod copy;
mod copy_sizes;
mod current_context;
mod device;
mod device_runtime;
mod driver;
mod elements;
mod errors;
mod event;
mod execution;
mod failed_calls;
mod fill;
mod foreign_context;
mod foreign_memory;
mod functions;
mod grid_sync;
mod host_function;
mod kept_memory;
mod kernel_faults;
mod launch;
mod launch_arguments;
mod launch_limits;
mod memory;
mod mismatch;
mod module;
mod module_errors;
mod old_driver;
mod order;
mod order_drop;
mod order_threads;
mod pinned;
mod process;
mod raw_memory;
mod raw_parts;
mod send_sync;
mod slices;
mod stream;
mod stream_kinds;
mod support;
mod sweep;
mod with_raw;
