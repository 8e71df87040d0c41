//! Raw bindings to the CUDA driver API, resolved at run time.
