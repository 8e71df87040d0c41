use cuda_driver::kernels;

kernels! {
    unsafe extern Kernels from ptx "nowhere.ptx" {
        unsafe fn k();
    }
}

fn main() {}
