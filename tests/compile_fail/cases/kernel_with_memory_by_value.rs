use cuda_driver::{DeviceAllocation, DeviceSlice, In, Null, kernels};

type Reference = &'static DeviceAllocation<f32>;

#[derive(Clone, Copy)]
#[repr(C)]
struct Padded {
    small: u8,
    large: u32,
}

kernels! {
    unsafe extern Kernels {
        unsafe fn host(a: In<'static, f32>);
        unsafe fn slice(a: DeviceSlice<'static, f32>);
        unsafe fn reference(a: Reference);
        unsafe fn null(a: Null);
        unsafe fn padded(a: Padded);
    }
}

fn main() {}
