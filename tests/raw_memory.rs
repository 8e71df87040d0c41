//! Memory functions that the safe layer does not wrap: the same codes and the same bytes on both drivers.

use std::ffi::c_void;
use std::ptr;

use cuda_driver::CurrentContext;
use cuda_sys::{
    CUDA_ARRAY_DESCRIPTOR, CUDA_MEMCPY2D, CUarray_format, CUdeviceptr, CUmem_advise,
    CUmem_range_attribute, CUmemLocation, CUmemLocationType, CUmemPool_attribute, CUmemPoolProps,
    CUmemorytype, CUpointer_attribute, CUstream,
};

use crate::support::Test;
use crate::support::bench::Bench;
use crate::support::raw::{code, good};

/// A bench whose context is current, with 64 KiB of device memory that are freed at the end.
struct Raw<'a> {
    bench: &'a Bench,
    device: CUdeviceptr,
    _current: CurrentContext<'a>,
}

impl<'a> Raw<'a> {
    fn new(bench: &'a Bench) -> Self {
        let current = bench.context().push().expect("the context can be pushed");
        let mut device = 0;
        good!(bench, cuMemAlloc_v2(&raw mut device, 1 << 16));
        good!(bench, cuMemsetD8_v2(device, 0, 1 << 16));
        good!(bench, cuCtxSynchronize());
        Self {
            bench,
            device,
            _current: current,
        }
    }

    fn bytes<const N: usize>(&self, address: CUdeviceptr) -> [u8; N] {
        let mut bytes = [0; N];
        good!(
            self.bench,
            cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), address, N)
        );
        bytes
    }
}

impl Drop for Raw<'_> {
    fn drop(&mut self) {
        good!(self.bench, cuMemFree_v2(self.device));
    }
}

/// Rows of 4 bytes from the host, 8 apart on the device.
fn rows(from: *const c_void, to: CUdeviceptr, height: usize) -> CUDA_MEMCPY2D {
    CUDA_MEMCPY2D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: from,
        srcPitch: 4,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstDevice: to,
        dstPitch: 8,
        WidthInBytes: 4,
        Height: height,
        ..CUDA_MEMCPY2D::default()
    }
}

#[test]
fn boxes_are_copied_and_filled() -> Test {
    let bench = Bench::new();
    let raw = Raw::new(&bench);
    let host: Vec<u8> = (1..=64).collect();
    let good = rows(host.as_ptr().cast(), raw.device, 3);
    let mut copy = good;
    (copy.dstXInBytes, copy.dstY) = (2, 1);
    good!(bench, cuMemcpy2D_v2(&raw const copy));
    let found = raw.bytes::<32>(raw.device);
    assert_eq!(found[8..16], [0, 0, 1, 2, 3, 4, 0, 0]);
    assert_eq!(found[16..24], [0, 0, 5, 6, 7, 8, 0, 0]);
    // No pitch: rows without gaps, as long as the box and what stands before it.
    let mut copy = good;
    (copy.srcPitch, copy.srcXInBytes) = (0, 2);
    good!(bench, cuMemcpy2D_v2(&raw const copy));
    assert_eq!(raw.bytes::<4>(raw.device + 8), [9, 10, 11, 12]);
    good!(bench, cuMemsetD2D16_v2(raw.device, 8, 0x0102, 1, 2));
    assert_eq!(raw.bytes::<12>(raw.device)[..3], [2, 1, 5]);
    assert_eq!(raw.bytes::<4>(raw.device + 8), [2, 1, 11, 12]);

    let refused: [fn(&mut CUDA_MEMCPY2D); 6] = [
        |copy| copy.dstPitch = 3,
        |copy| copy.dstXInBytes = 5,
        |copy| copy.Height = 1 << 20,
        |copy| copy.dstDevice = 0,
        |copy| copy.srcHost = ptr::null(),
        |copy| copy.srcMemoryType = CUmemorytype(0),
    ];
    for change in refused {
        let mut copy = good;
        change(&mut copy);
        assert_eq!(code!(bench, cuMemcpy2D_v2(&raw const copy)), 1);
    }
    assert_eq!(code!(bench, cuMemsetD2D8_v2(raw.device, 3, 1, 4, 2)), 1);
    assert_eq!(code!(bench, cuMemsetD2D32_v2(raw.device, 6, 1, 1, 2)), 1);
    Ok(())
}

#[test]
fn arrays_keep_their_rows() -> Test {
    let bench = Bench::new();
    let raw = Raw::new(&bench);
    let descriptor = CUDA_ARRAY_DESCRIPTOR {
        Width: 64,
        Height: 8,
        Format: CUarray_format::CU_AD_FORMAT_FLOAT,
        NumChannels: 1,
    };
    let mut array = ptr::null_mut();
    good!(
        bench,
        cuArrayCreate_v2(&raw mut array, &raw const descriptor)
    );
    let host: Vec<f32> = (0..512_u16).map(f32::from).collect();
    let mut copy = rows(host.as_ptr().cast(), 0, 8);
    (copy.srcPitch, copy.WidthInBytes) = (256, 256);
    copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    good!(bench, cuMemcpy2D_v2(&raw const copy));
    good!(bench, cuMemcpyAtoD_v2(raw.device, array, 8, 8));
    let found = raw.bytes::<8>(raw.device);
    assert_eq!(found[..4], 2f32.to_ne_bytes());
    for (offset, len) in [(0, 512), (4, 256), (300, 4)] {
        assert_eq!(
            code!(bench, cuMemcpyAtoD_v2(raw.device, array, offset, len)),
            1
        );
    }
    copy.Height = 9;
    assert_eq!(code!(bench, cuMemcpy2D_v2(&raw const copy)), 1);
    good!(bench, cuArrayDestroy(array));
    Ok(())
}

#[test]
fn managed_memory_is_one_for_both_sides() -> Test {
    let bench = Bench::new();
    let raw = Raw::new(&bench);
    let (mut managed, stream) = (0, bench.stream());
    for (size, flags) in [(0, 1), (64, 0), (64, 3), (64, 4)] {
        assert_eq!(
            code!(bench, cuMemAllocManaged(&raw mut managed, size, flags)),
            1
        );
    }
    good!(bench, cuMemAllocManaged(&raw mut managed, 8192, 1));
    let words: *mut u32 = ptr::with_exposed_provenance_mut(managed as usize);
    // SAFETY: the memory is managed, and no work is pending on it.
    unsafe { words.write(0x0403_0201) };
    good!(bench, cuMemcpyDtoD_v2(raw.device, managed, 4));
    assert_eq!(raw.bytes::<4>(raw.device), [1, 2, 3, 4]);

    let (mut flag, mut kind) = (9u32, 9u32);
    let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_MANAGED;
    good!(
        bench,
        cuPointerGetAttribute((&raw mut flag).cast(), attribute, managed)
    );
    let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    good!(
        bench,
        cuPointerGetAttribute((&raw mut kind).cast(), attribute, managed)
    );
    assert_eq!((flag, kind), (1, 2));

    let host = CUmemLocation {
        type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST,
        ..CUmemLocation::default()
    };
    let advice = CUmem_advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION;
    good!(bench, cuMemAdvise_v2(managed, 4096, advice, host));
    let mut preferred = 9i32;
    let attribute = CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION;
    let mut ask = |size, len| {
        let value = (&raw mut preferred).cast();
        code!(
            bench,
            cuMemRangeGetAttribute(value, size, attribute, managed, len)
        )
    };
    assert_eq!([ask(8, 4096), ask(4, 0), ask(4, 4096)], [1, 1, 0]);
    assert_eq!(preferred, -1);
    let stream = stream.as_raw();
    good!(bench, cuMemPrefetchAsync_v2(managed, 4096, host, 0, stream));
    assert_eq!(
        code!(bench, cuMemPrefetchAsync_v2(managed, 4096, host, 1, stream)),
        1
    );
    assert_eq!(
        code!(
            bench,
            cuMemPrefetchAsync_v2(raw.device, 64, host, 0, stream)
        ),
        1
    );
    good!(bench, cuStreamSynchronize(stream));
    assert_eq!(code!(bench, cuMemFree_v2(managed + 8)), 1);
    let reports = bench.take_reports();
    assert!(bench.is_real() || reports[0].message.contains("not the start"));
    good!(bench, cuMemFree_v2(managed));
    Ok(())
}

#[test]
fn pools_count_in_chunks() -> Test {
    let bench = Bench::new();
    let raw = Raw::new(&bench);
    let mut properties = CUmemPoolProps {
        allocType: cuda_sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        ..CUmemPoolProps::default()
    };
    properties.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    let mut pool = ptr::null_mut();
    good!(
        raw.bench,
        cuMemPoolCreate(&raw mut pool, &raw const properties)
    );
    let attribute = |number| {
        let (mut value, attribute) = (0u64, CUmemPool_attribute(number));
        good!(
            bench,
            cuMemPoolGetAttribute(pool, attribute, (&raw mut value).cast())
        );
        value
    };
    let stream = bench.stream();
    let mut memory = 0;
    good!(
        bench,
        cuMemAllocFromPoolAsync(&raw mut memory, 1000, pool, stream.as_raw())
    );
    assert_eq!(
        [5, 6, 7, 8].map(attribute),
        [32 << 20, 32 << 20, 1000, 1000]
    );
    good!(bench, cuMemFreeAsync(memory, stream.as_raw()));
    assert_eq!(code!(bench, cuMemFreeAsync(memory, stream.as_raw())), 1);
    let reports = bench.take_reports();
    assert!(bench.is_real() || reports[0].message.contains("released already"));
    stream.synchronize()?;
    assert_eq!([5, 6, 7, 8].map(attribute), [0, 32 << 20, 0, 1000]);
    good!(bench, cuMemPoolDestroy(pool));
    properties.reserved[0] = 1;
    assert_eq!(
        code!(bench, cuMemPoolCreate(&raw mut pool, &raw const properties)),
        1
    );
    Ok(())
}

#[test]
fn streams_wait_for_words() -> Test {
    let bench = Bench::new();
    let raw = Raw::new(&bench);
    let (waiter, writer) = (bench.stream(), bench.stream());
    let (waits, writes): (CUstream, CUstream) = (waiter.as_raw(), writer.as_raw());
    let word = raw.device;
    good!(bench, cuStreamWaitValue32_v2(waits, word, 1, 1));
    good!(bench, cuMemsetD8Async(word + 8, 7, 1, waits));
    assert_eq!(code!(bench, cuStreamQuery(waits)), 600);
    good!(bench, cuStreamWriteValue32_v2(writes, word, 1, 0));
    good!(bench, cuStreamSynchronize(waits));
    assert_eq!(raw.bytes::<9>(word)[8], 7);
    assert_eq!(
        code!(bench, cuStreamWaitValue32_v2(waits, word + 2, 1, 1)),
        1
    );
    assert_eq!(code!(bench, cuStreamWaitValue32_v2(waits, word, 1, 4)), 1);
    assert_eq!(code!(bench, cuStreamWriteValue32_v2(waits, word, 1, 2)), 1);
    assert_eq!(
        code!(bench, cuStreamWriteValue64_v2(waits, word + 4, 1, 0)),
        1
    );
    Ok(())
}
