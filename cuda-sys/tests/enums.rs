//! Enumerations: named, unknown and combined values.

use core::mem::{align_of, size_of};

use cuda_sys::{
    CUCoredumpGenerationFlags, CUctx_flags, CUdevice_P2PAttribute, CUdeviceptr,
    CUmemAllocationHandleType, CUresult, CUshared_carveout, signatures,
};
use static_assertions::{assert_eq_size, assert_impl_all, const_assert_eq};

assert_eq_size!(CUresult, u32);
assert_eq_size!(CUshared_carveout, i32);
assert_eq_size!(CUdeviceptr, usize);
assert_eq_size!(signatures::cuInit, usize);
assert_eq_size!(Option<signatures::cuInit>, usize);
const_assert_eq!(align_of::<CUresult>(), 4);
const_assert_eq!(size_of::<CUctx_flags>(), 4);
assert_impl_all!(CUresult: Copy, Ord, core::hash::Hash, core::fmt::Debug, Send, Sync);

#[test]
fn known_values_show_their_c_names() {
    assert_eq!(
        format!("{:?}", CUresult::CUDA_ERROR_INVALID_VALUE),
        "CUDA_ERROR_INVALID_VALUE"
    );
    assert_eq!(format!("{:?}", CUresult::default()), "CUDA_SUCCESS");
    assert_eq!(
        format!("{:?}", CUshared_carveout(-1)),
        "CU_SHAREDMEM_CARVEOUT_DEFAULT"
    );
    assert_eq!(CUresult(34).name(), Some("CUDA_ERROR_STUB_LIBRARY"));
}

#[test]
fn an_unknown_value_is_a_value() {
    let status = CUresult(12345);
    assert_eq!(format!("{status:?}"), "CUresult(12345)");
    assert_eq!(status.name(), None);
    assert_ne!(status, CUresult::CUDA_SUCCESS);
    assert_eq!(
        format!("{:?}", CUshared_carveout(-7)),
        "CUshared_carveout(-7)"
    );
}

#[test]
fn enumerators_may_share_a_value() {
    let one = CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_ACCESS_ACCESS_SUPPORTED;
    assert_eq!(
        one,
        CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED
    );
}

#[test]
fn flags_can_be_combined_and_taken_apart() {
    let mut flags = CUctx_flags::CU_CTX_SCHED_YIELD | CUctx_flags::CU_CTX_MAP_HOST;
    assert_eq!(flags.0, 10);
    assert_eq!(format!("{flags:?}"), "CU_CTX_SCHED_YIELD | CU_CTX_MAP_HOST");
    flags |= CUctx_flags(0x4000);
    assert_eq!(
        format!("{flags:?}"),
        "CU_CTX_SCHED_YIELD | CU_CTX_MAP_HOST | CUctx_flags(0x4000)"
    );
    assert!(flags.contains(CUctx_flags::CU_CTX_MAP_HOST));
    assert!(!flags.contains(CUctx_flags::CU_CTX_SCHED_SPIN));
    assert_eq!(
        flags & CUctx_flags::CU_CTX_SCHED_MASK,
        CUctx_flags::CU_CTX_SCHED_YIELD
    );
    assert_eq!(
        format!("{:?}", CUmemAllocationHandleType(0)),
        "CU_MEM_HANDLE_TYPE_NONE"
    );
}

#[test]
fn the_highest_bit_is_a_flag_too() {
    let flags = CUCoredumpGenerationFlags::CU_COREDUMP_LOG_ONLY
        | CUCoredumpGenerationFlags::CU_COREDUMP_SKIP_ABORT;
    assert_eq!(flags.0, i32::MIN | 16);
    assert_eq!(
        format!("{flags:?}"),
        "CU_COREDUMP_SKIP_ABORT | CU_COREDUMP_LOG_ONLY"
    );
}
