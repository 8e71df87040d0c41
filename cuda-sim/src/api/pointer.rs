//! What the driver knows of an address: `CUDA_UNIFIED`.

use cuda_sys::{CUcontext, CUdeviceptr, CUmemoryPool, CUmemorytype, CUpointer_attribute};

use super::prelude::*;
use crate::state::space::Origin;

built! {
    cuPointerGetAttribute => attribute, (value: Out<c_void>, attribute: CUpointer_attribute, address: CUdeviceptr);
    cuPointerGetAttributes => attributes, (
        count: c_uint, attributes: In<CUpointer_attribute>, values: In<*mut c_void>, address: CUdeviceptr
    );
    cuPointerSetAttribute => set_attribute, (value: In<c_void>, attribute: CUpointer_attribute, address: CUdeviceptr);
}

/// The value of an attribute.
enum Value {
    Context(u64),
    Kind(CUmemorytype),
    Address(u64),
    Size(usize),
    Int(c_int),
    Flag(bool),
    Id(u64),
    Pool(u64),
}

impl Value {
    fn store(&self, into: Out<c_void>) {
        match *self {
            Self::Context(number) => into.cast::<CUcontext>().set(handle(number)),
            Self::Kind(kind) => into.cast().set(kind),
            Self::Address(address) => into.cast::<CUdeviceptr>().set(address),
            Self::Size(size) => into.cast().set(size),
            Self::Int(number) => into.cast().set(number),
            // Truth values are written as ints.
            Self::Flag(flag) => into.cast::<c_uint>().set(c_uint::from(flag)),
            Self::Id(id) => into.cast::<c_ulonglong>().set(id),
            Self::Pool(number) => into.cast::<CUmemoryPool>().set(handle(number)),
        }
    }
}

/// Why an address has no such attribute.
enum Missing {
    /// The driver does not know the address, or knows that this does not apply to it.
    NotApplicable,
    /// There is no such attribute.
    Unknown,
}

fn look_up(state: &State, attribute: CUpointer_attribute, address: u64) -> Result<Value, Missing> {
    let (block, allocation) = state.space.allocation(address).ok_or(match attribute.0 {
        1..=4 | 6..=21 => Missing::NotApplicable,
        _ => Missing::Unknown,
    })?;
    let (host, managed) = (block.is_host(), block.is_managed());
    let kind = if host && !managed {
        CUmemorytype::CU_MEMORYTYPE_HOST
    } else {
        CUmemorytype::CU_MEMORYTYPE_DEVICE
    };
    let pool = match block.origin {
        Origin::Pool(pool) => Some(pool),
        _ => None,
    };
    Ok(match attribute {
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_CONTEXT if pool.is_some() => Value::Context(0),
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_CONTEXT => {
            Value::Context(allocation.context.handle)
        }
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE => Value::Kind(kind),
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_POINTER => Value::Address(address),
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_HOST_POINTER if host => Value::Address(address),
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS => {
            Value::Flag(allocation.sync_memops || !host || managed)
        }
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_BUFFER_ID => Value::Id(allocation.id),
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_MANAGED => Value::Flag(managed),
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL => {
            Value::Int(state.device_handle(block.device))
        }
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE => Value::Flag(false),
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR => Value::Address(block.address),
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_RANGE_SIZE => Value::Size(allocation.size),
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_MAPPED => Value::Flag(true),
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES => Value::Id(0),
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE => Value::Flag(false),
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_ACCESS_FLAGS => Value::Int(3),
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE => Value::Pool(pool.unwrap_or(0)),
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_MAPPING_SIZE => Value::Size(block.capacity),
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR => {
            Value::Address(block.address)
        }
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID => Value::Id(allocation.id),
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE => Value::Flag(false),
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_HOST_POINTER
        | CUpointer_attribute::CU_POINTER_ATTRIBUTE_P2P_TOKENS => {
            return Err(Missing::NotApplicable);
        }
        _ => return Err(Missing::Unknown),
    })
}

fn attribute(
    call: &Call<'_>,
    value: Out<c_void>,
    attribute: CUpointer_attribute,
    address: CUdeviceptr,
) -> Answer {
    let value = value.check()?;
    let state = call.state();
    let found = look_up(&state, attribute, address).map_err(|_| code::INVALID_VALUE)?;
    found.store(value);
    Ok(())
}

fn attributes(
    call: &Call<'_>,
    count: c_uint,
    attributes: In<CUpointer_attribute>,
    values: In<*mut c_void>,
    address: CUdeviceptr,
) -> Answer {
    if count == 0 || attributes.is_null() || values.is_null() {
        return Err(code::INVALID_VALUE);
    }
    let state = call.state();
    let known = state.space.allocation(address).is_some();
    for index in 0..count as usize {
        let (attribute, place) = (attributes.at(index)?, Out::from_pointer(values.at(index)?));
        match look_up(&state, attribute, address) {
            Ok(value) => value.store(place),
            Err(Missing::Unknown) => return Err(code::INVALID_VALUE),
            // Of an address that the driver does not know all is zero; the call succeeds.
            Err(Missing::NotApplicable) => zero(attribute, place, address, known),
        }
    }
    Ok(())
}

/// What stands for an attribute that an address does not have. An address that the driver does not know counts as the host's.
fn zero(attribute: CUpointer_attribute, place: Out<c_void>, address: u64, known: bool) {
    let value = match attribute {
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR
        | CUpointer_attribute::CU_POINTER_ATTRIBUTE_RANGE_SIZE => return,
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_HOST_POINTER if !known => Value::Address(address),
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE => Value::Kind(CUmemorytype(0)),
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL => Value::Int(-2),
        CUpointer_attribute::CU_POINTER_ATTRIBUTE_ACCESS_FLAGS
        | CUpointer_attribute::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
        | CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_MANAGED
        | CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE
        | CUpointer_attribute::CU_POINTER_ATTRIBUTE_MAPPED
        | CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE
        | CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE => Value::Flag(false),
        _ => Value::Id(0),
    };
    value.store(place);
}

fn set_attribute(
    call: &Call<'_>,
    value: In<c_void>,
    attribute: CUpointer_attribute,
    address: CUdeviceptr,
) -> Answer {
    let value = value.cast::<c_uint>().get()?;
    let mut state = call.state();
    if attribute != CUpointer_attribute::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS {
        return Err(code::INVALID_VALUE);
    }
    let start = state
        .space
        .allocation(address)
        .ok_or(code::INVALID_VALUE)?
        .0
        .address;
    if let Some(allocation) = state
        .space
        .at_mut(start)
        .and_then(|block| block.allocation.as_mut())
    {
        allocation.sync_memops = value != 0;
    }
    Ok(())
}
