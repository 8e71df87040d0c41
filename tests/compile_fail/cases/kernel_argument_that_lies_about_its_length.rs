use bytemuck::NoUninit;
use cuda_driver::kernels::{__private, ReadArgument};

#[derive(Clone, Copy, NoUninit)]
#[repr(transparent)]
struct Address(u64);

impl __private::Len for Address {
    fn element_count(&self) -> usize {
        1 << 40
    }
}

impl ReadArgument<f32> for Address {}

impl __private::Nullable for Address {
    type Argument = Self;

    fn element_count(&self) -> Option<usize> {
        Some(1 << 40)
    }

    fn into_argument(self) -> Self {
        self
    }
}

impl __private::Integer for Address {
    fn to_u128(self) -> Option<u128> {
        None
    }
}

fn main() {}
