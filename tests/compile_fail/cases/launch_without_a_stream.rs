use cuda_driver::{Context, Function, LaunchConfig};

fn main() {}

fn launches(context: &Context, kernel: &Function) {
    let _ = unsafe { kernel.launch(context, LaunchConfig::new(1, 1), ()) };
}
