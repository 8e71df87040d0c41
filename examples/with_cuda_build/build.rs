//! Compiles the kernels and declares them; where there is no compiler, the committed PTX is taken.

use cuda_build::{Build, Kernel, Source};

fn main() {
    // What is vouched for here was read in the kernels: each index is below `n`, and each thread writes its own element.
    let step = Kernel::new("step")
        .doc("Moves each particle by one step of time.")
        .value("n", "len(particles)")
        .vouch("for_len(particles), block <= 1024");
    // This holds for all instances of the template.
    let scale = Kernel::new("scale")
        .doc("`data[i] *= by`")
        .value("n", "len(data)")
        .vouch("for_len(data), block <= 1024");
    // One block walks over all values; it has as many threads as its shared memory has places.
    let sum = Kernel::new("sum")
        .doc("The sum of all values, in one block.")
        .len("total", "1")
        .value("count", "len(values)")
        .vouch("grid = 1, block = 256");
    Build::new()
        .file(
            Source::new("kernels/particles.cu")
                .kernel(step)
                .kernel(scale),
        )
        .file(Source::new("kernels/sums.cu").type_name("Sums").kernel(sum))
        .file("kernels/types.cu")
        .rust_type("Particle", "crate::Particle")
        .rust_type("Step", "crate::Step")
        .committed("kernels/ptx")
        .run();
}
