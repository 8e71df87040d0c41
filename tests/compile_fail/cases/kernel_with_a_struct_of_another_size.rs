use cuda_driver::kernels;

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Wide {
    all: [f32; 3],
}

kernels! {
    unsafe extern Kernels from ptx "../../../examples/kernels/typed_kernels.ptx" {
        #[launch(for_len(data))]
        safe fn clamp(window: Wide, data: &mut [f32], outside: Option<&mut [u32]>, n: u32 = len(data));
    }
}

fn main() {}
