use cuda_driver::DynamicArgument;

fn argument<'a>() -> DynamicArgument<'a> {
    let mut results = vec![0.0_f32; 4];
    DynamicArgument::output(&mut results)
}

fn main() {}
