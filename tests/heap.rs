//! A launch of up to 16 arguments allocates nothing on the heap.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use cuda_driver::{DeviceAllocation, Driver, LaunchConfig, Null};

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: all memory comes from the system's allocator, which keeps the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _counted = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations_of(body: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    body();
    ALLOCATIONS.get() - before
}

/// A driver whose launch does nothing, so that only this side allocates: the simulator behind it, but for the launch.
fn driver_with_empty_launch() -> Driver {
    unsafe extern "system" fn launch(
        _: cuda_sys::CUfunction,
        _: u32,
        _: u32,
        _: u32,
        _: u32,
        _: u32,
        _: u32,
        _: u32,
        _: cuda_sys::CUstream,
        _: *mut *mut std::ffi::c_void,
        _: *mut *mut std::ffi::c_void,
    ) -> cuda_sys::CUresult {
        cuda_sys::CUresult::CUDA_SUCCESS
    }
    unsafe extern "system" fn launch_extended(
        _: *const cuda_sys::CUlaunchConfig,
        _: cuda_sys::CUfunction,
        _: *mut *mut std::ffi::c_void,
        _: *mut *mut std::ffi::c_void,
    ) -> cuda_sys::CUresult {
        cuda_sys::CUresult::CUDA_SUCCESS
    }
    let simulator = cuda_sim::Simulator::new();
    let table = simulator.library();
    let resolver = move |name: &std::ffi::CStr| {
        if name == c"cuLaunchKernel" {
            let launch: unsafe extern "system" fn(_, _, _, _, _, _, _, _, _, _, _) -> _ = launch;
            return std::ptr::NonNull::new(launch as *mut std::ffi::c_void);
        }
        if name == c"cuLaunchKernelEx" {
            let launch: unsafe extern "system" fn(_, _, _, _) -> _ = launch_extended;
            return std::ptr::NonNull::new(launch as *mut std::ffi::c_void);
        }
        let symbol = cuda_sys::Symbol::by_name(name.to_str().ok()?)?;
        table.resolve(symbol).ok()
    };
    // SAFETY: the functions are the software driver's, and two of the same signatures.
    let library = unsafe { cuda_sys::Library::from_resolver(resolver) };
    // SAFETY: as above.
    unsafe { Driver::from_library(library) }.expect("it initialises")
}

const SUM: &str = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry sum(\
    .param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u32 e, .param .u32 f, .param .u32 g, .param .u32 h,\
    .param .u64 i, .param .u64 j, .param .u64 k, .param .u64 l, .param .u32 m, .param .u32 n, .param .u32 o, .param .u32 p\
    ) { ret; }";

#[test]
fn a_launch_of_up_to_16_arguments_allocates_nothing() -> cuda_driver::Result<()> {
    let context = driver_with_empty_launch().device(0)?.primary_context()?;
    let stream = context.create_stream()?;
    let sum = context.load_ptx(SUM)?.function("sum")?;
    let nothing = context
        .load_ptx(
            ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry nothing() { ret; }",
        )?
        .function("nothing")?;
    let a = stream.zeroed::<u32>(10)?;
    let mut b = stream.zeroed::<u32>(10)?;
    let config = LaunchConfig::new(1, 32);
    let attributes = config.with_priority(-1).cooperative();
    let prepared = sum.prepare(config)?;
    let extended = nothing.prepare(attributes)?;
    let allocations = allocations_of(|| {
        for _ in 0..10 {
            let arguments = (
                &a, &a, &a, &a, 1_u32, 2_u32, 3_u32, 4_u32, &a, &a, &a, &mut b, 5_u32, 6_u32,
                7_u32, 8_u32,
            );
            // SAFETY: the kernel does nothing.
            unsafe { sum.launch(&stream, config, arguments) }.expect("it is enqueued");
            // SAFETY: as above.
            unsafe { nothing.launch(&stream, config, ()) }.expect("it is enqueued");
            // SAFETY: as above.
            unsafe { nothing.launch(&stream, attributes, ()) }.expect("it is enqueued");
            let arguments = (
                &a, &a, &a, &a, 1_u32, 2_u32, 3_u32, 4_u32, &a, &a, &a, &mut b, 5_u32, 6_u32,
                7_u32, 8_u32,
            );
            // SAFETY: as above.
            unsafe { prepared.launch(&stream, arguments) }.expect("it is enqueued");
            // SAFETY: as above.
            unsafe { extended.launch(&stream, ()) }.expect("it is enqueued");
        }
    });
    assert_eq!(allocations, 0);
    // The counter counts.
    assert!(allocations_of(|| drop(std::hint::black_box(vec![1_u8]))) > 0);
    Ok(())
}

cuda_driver::kernels! {
    unsafe extern Typed {
        /// Sixteen parameters, of which lengths are checked and one is filled in.
        #[launch(for_len(b), block <= 64)]
        #[prepared(Sum)]
        safe fn sum(
            a: &[u32], c: &[u32; len(a)], d: &[u32; len(a)..], e: Option<&[u32; len(a)]>, f: u32, g: u32, h: u32, i: u32 = 2 * len(a),
            j: &[u32], k: &[u32], l: &[u32], b: &mut [u32; len(a)], m: u32, n: u32, o: u32, p: u32 = len(b),
        );
    }
}

#[test]
fn a_call_of_a_declared_kernel_allocates_nothing() -> cuda_driver::Result<()> {
    let context = driver_with_empty_launch().device(0)?.primary_context()?;
    let stream = context.create_stream()?;
    // SAFETY: the kernel does nothing.
    let kernels = unsafe { Typed::from_module(&context.load_ptx(SUM)?) }?;
    let a = stream.zeroed::<u32>(10)?;
    let mut b = stream.zeroed::<u32>(10)?;
    let config = LaunchConfig::for_len_with_block(10, 32);
    let prepared: Sum = kernels.sum_prepare(config)?;
    let allocations = allocations_of(|| {
        for _ in 0..10 {
            prepared
                .launch(
                    &stream, &a, &a, &a, Null, 1, 2, 3, &a, &a, &a, &mut b, 4, 5, 6,
                )
                .expect("it is enqueued");
            kernels
                .sum(
                    &stream, &a, &a, &a, &a, 1, 2, 3, &a, &a, &a, &mut b, 4, 5, 6,
                )
                .expect("it is enqueued");
            kernels
                .sum_with(
                    config,
                    &stream,
                    &a,
                    &a,
                    &a,
                    None::<&DeviceAllocation<u32>>,
                    1,
                    2,
                    3,
                    &a,
                    &a,
                    &a,
                    &mut b,
                    4,
                    5,
                    6,
                )
                .expect("it is enqueued");
        }
    });
    assert_eq!(allocations, 0);
    Ok(())
}

#[test]
fn clones_of_handles_and_slices_of_memory_allocate_nothing() -> cuda_driver::Result<()> {
    let context = driver_with_empty_launch().device(0)?.primary_context()?;
    let stream = context.create_stream()?;
    let mut memory = stream.zeroed::<u32>(10)?;
    let allocations = allocations_of(|| {
        let clones = (context.clone(), stream.clone(), context.driver().clone());
        let (left, right) = memory
            .as_mut_slice()
            .split_at_mut(5)
            .expect("there are ten");
        assert_eq!((left.len(), right.len()), (5, 5));
        drop(clones);
    });
    assert_eq!(allocations, 0);
    Ok(())
}
