use cuda_driver::DeviceAllocation;
use cuda_driver::kernels::{
    NullableReadArgument, NullableWriteArgument, ReadArgument, WriteArgument,
};

struct Particle([f32; 8]);

impl ReadArgument<Particle> for &DeviceAllocation<u8> {}
impl WriteArgument<Particle> for &DeviceAllocation<Particle> {}
impl NullableReadArgument<Particle> for &DeviceAllocation<u8> {}
impl NullableWriteArgument<Particle> for &DeviceAllocation<Particle> {}

fn main() {}
