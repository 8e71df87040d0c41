//! Global variables that declared kernels touch.

use cuda_driver::kernels;

use crate::support::bench::Bench;

kernels! {
    /// Kernels of `const_memory.cu`.
    unsafe extern Counting from ptx env!("CONST_MEMORY_PTX") {
        /// A polynomial with coefficients in constant memory.
        #[launch(for_len(y), globals(coefficients))]
        safe fn polynomial(x: &[f32], y: &mut [f32; len(x)], n: u32 = len(x));

        /// Counts a block of threads in global memory.
        #[launch(grid = 1, block = 12, globals(mut counters, second_row))]
        safe fn count(out: &mut [i32; 7]);
    }
}

#[test]
fn what_is_written_to_a_constant_is_there_when_a_kernel_reads_it() {
    let bench = Bench::new();
    let kernels = Counting::load(bench.context()).expect("the kernels are as declared");
    let module = kernels.polynomial_function().module();
    let coefficients = module.global::<[f32]>("coefficients").expect("it is there");
    let (writer, reader) = (bench.stream(), bench.stream());
    let x = reader.upload(&[2.0_f32; 1000]).expect("memory");
    for round in 0..bench.repeats() {
        let constant = round as f32;
        coefficients
            .write(&writer, &[constant, 1.0, 0.0, 0.0])
            .expect("it is copied");
        let mut y = reader.zeroed::<f32>(1000).expect("memory");
        kernels
            .polynomial(&reader, &x, &mut y)
            .expect("it is enqueued");
        coefficients
            .write(&writer, &[-1.0; 4])
            .expect("it is copied");
        assert_eq!(y.to_vec().expect("it ran"), [constant + 2.0; 1000]);
    }
}

#[test]
fn kernels_that_write_a_variable_wait_for_each_other() {
    let bench = Bench::new();
    let kernels = Counting::load(bench.context()).expect("the kernels are as declared");
    let streams = [bench.stream(), bench.stream(), bench.stream()];
    let mut results = Vec::new();
    for stream in &streams {
        let mut out = stream.zeroed::<i32>(7).expect("memory");
        kernels.count(stream, &mut out).expect("it is enqueued");
        results.push(out);
    }
    // Each launch counts 12 threads into three counters, and is not disturbed by another one.
    let firsts: Vec<i32> = results
        .iter()
        .map(|out| out.to_vec().expect("it ran")[0])
        .collect();
    assert_eq!(firsts, [5, 9, 13]);
}
