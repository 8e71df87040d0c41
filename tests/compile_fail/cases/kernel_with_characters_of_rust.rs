use cuda_driver::kernels;

kernels! {
    unsafe extern Kernels from ptx "../kernels/characters.ptx" {
        unsafe fn upper(from: &[char], to: &mut [char]);
    }
}

fn main() {}
