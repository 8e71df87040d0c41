::cuda_driver::kernels! {
    /// Kernels of `kernels/a.cu`.
    pub unsafe extern A from ptx concat!(env!("OUT_DIR"), "/cuda-build/a.ptx") {
        /// `vectorAdd(const float *a, const float *b, float *sum, unsigned int n)`
        #[name = "vectorAdd"]
        #[launch(for_len(sum))]
        pub safe fn vector_add(a: &[f32], b: &[f32; len(a)], sum: &mut [f32; len(a)], n: u32 = len(a));

        /// `apply(ns::Params params, float4 *points, const unsigned char *mask, bool inverted, long steps)`
        ///
        /// # Safety
        /// The kernel in `kernels/a.cu` is run: what it demands of its arguments and of its launch must hold.
        #[name = "_Z5applyN2ns6ParamsEP6float4PKhbl"]
        pub unsafe fn apply(params: crate::Params, points: &mut [[f32; 4]], mask: &[u8], inverted: bool, steps: i64);

        /// `scale<double, 2>(double *data, double by)`
        ///
        /// # Safety
        /// The kernel in `kernels/a.cu` is run: what it demands of its arguments and of its launch must hold.
        #[name = "_Z5scaleIdLi2EEvPT_S0_"]
        pub unsafe fn scale_double_2(data: &mut [f64], by: f64);

        /// `scale<float, 4>(float *data, float by)`
        ///
        /// # Safety
        /// The kernel in `kernels/a.cu` is run: what it demands of its arguments and of its launch must hold.
        #[name = "_Z5scaleIfLi4EEvPT_S0_"]
        pub unsafe fn scale_float_4(data: &mut [f32], by: f32);
    }
}
