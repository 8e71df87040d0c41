//! Gives the library the name under which programs ask for it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        // What was linked with -lcuda asks for this name.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
        // The library has threads, which go on after the program closed it: it stays.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
