::cuda_driver::kernels! {
    /// Kernels of `kernels/a_test.cu`.
    pub unsafe extern ATest from ptx "a_test.ptx" {
        /// `sum[i] = a[i] + b[i]`
        ///
        /// `vectorAdd(const float *a, const float *b, float *sum, unsigned int n)`
        #[name = "vectorAdd"]
        #[launch(for_len(sum), block <= 1024)]
        pub safe fn vector_add(a: &[f32], b: &[f32; len(a)], sum: &mut [f32; len(a)], n: u32 = len(a));

        /// `ns::scale<double, 2>(double *data, double by)`
        ///
        /// # Safety
        /// The kernel in `kernels/a_test.cu` is run: what it demands of its arguments and of its launch must hold.
        #[name = "_ZN2ns5scaleIdLi2EEEvPT_S1_"]
        pub unsafe fn scale_double_2(data: &mut [f64], by: f64);

        /// `ns::scale<float, 4>(float *data, float by)`
        ///
        /// # Safety
        /// The kernel in `kernels/a_test.cu` is run: what it demands of its arguments and of its launch must hold.
        #[name = "_ZN2ns5scaleIfLi4EEEvPT_S1_"]
        pub unsafe fn scale_float_4(data: &mut [f32], by: f32);

        /// `steps(ns::Particle *particles, ns::Params in, float4 wind, bool on, Color type, unsigned long numRows, char p6)`
        ///
        /// `ns::Particle` in memory is declared as bytes: name its type in Rust with `rust_type("ns::Particle", …)` in the build script.
        /// `ns::Params` is passed as 24 bytes: name its type in Rust with `rust_type("ns::Params", …)` in the build script.
        ///
        /// # Safety
        /// The kernel in `kernels/a_test.cu` is run: what it demands of its arguments and of its launch must hold.
        #[name = "_Z5stepsPN2ns8ParticleENS_6ParamsE6float4b5Colormc"]
        pub unsafe fn steps(particles: &mut [u8], in_: [u64; 3], wind: [f32; 4], on: bool, type_: u32, num_rows: u64, p6: i8);

        /// `nothing()`
        ///
        /// # Safety
        /// The kernel in `kernels/a_test.cu` is run: what it demands of its arguments and of its launch must hold.
        pub unsafe fn nothing();
    }
}
