//! Launches.

use cuda_driver::{
    DeviceAllocation, Driver, DynamicArgument, Function, In, InOut, LaunchChecking, LaunchConfig,
    OccupancyFlags, Out, Result, Stream, kernels,
};

use super::{Operation, context};
use crate::support::kernels::{SHARED_DYNAMIC, VECTOR_ADD};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        items: &["Function::launch"],
        run: |driver| {
            let Addition {
                mut sum,
                a,
                add,
                home,
                other,
            } = Addition::of_ones(driver)?;
            for stream in [&home, &other] {
                let config = LaunchConfig::for_len(100);
                // SAFETY: the kernel reads `a` and writes `sum`, a hundred elements each.
                unsafe { add.launch(stream, config, (&a, &a, &mut sum, 100_u32)) }?;
            }
            assert_eq!(sum.to_vec()?, [2.0; 100]);
            Ok(())
        },
    },
    Operation {
        items: &["Function::launch"],
        run: |driver| {
            let Addition {
                mut sum,
                a,
                add,
                home,
                other,
            } = Addition::of_ones(driver)?;
            let plain = LaunchConfig::for_len(100);
            for config in [plain.cooperative(), plain.with_cluster(1).with_priority(0)] {
                for stream in [&home, &other] {
                    // SAFETY: the kernel reads `a` and writes `sum`, a hundred elements each.
                    unsafe { add.launch(stream, config, (&a, &a, &mut sum, 100_u32)) }?;
                }
            }
            assert_eq!(sum.to_vec()?, [2.0; 100]);
            Ok(())
        },
    },
    Operation {
        items: &["In", "Out", "InOut"],
        run: |driver| {
            let context = context(driver)?;
            let stream = context.create_stream()?;
            let add = context.load_ptx(VECTOR_ADD)?.function("vector_add")?;
            let a = vec![1.0_f32; 100];
            let (mut sum, mut both) = (vec![7.0_f32; 100], vec![1.0_f32; 100]);
            let config = LaunchConfig::for_len(100);
            let arguments = (In(&a), InOut(&mut both), Out(&mut sum), 100_u32);
            // SAFETY: the kernel reads the first two and writes `sum`, a hundred elements each.
            let result = unsafe { add.launch(&stream, config, arguments) };
            // Either all of it or nothing.
            assert_eq!(sum, [if result.is_ok() { 2.0 } else { 7.0 }; 100]);
            result
        },
    },
    Operation {
        items: &["In", "Out"],
        run: |driver| {
            // The device without memory pools, and a stream that the program does not own.
            let context = driver.device(2)?.primary_context()?;
            let stream = context.per_thread_stream();
            let add = context.load_ptx(VECTOR_ADD)?.function("vector_add")?;
            let mut sum = [7.0_f32; 100];
            let arguments = (
                In(&[1.0_f32; 100]),
                In(&[1.0_f32; 100]),
                Out(&mut sum),
                100_u32,
            );
            // SAFETY: the kernel reads the first two and writes `sum`, a hundred elements each.
            let result = unsafe { add.launch(&stream, LaunchConfig::for_len(100), arguments) };
            assert_eq!(sum, [if result.is_ok() { 2.0 } else { 7.0 }; 100]);
            result
        },
    },
    Operation {
        items: &["Function::launch", "Context::set_launch_checking"],
        run: |driver| {
            let Addition {
                mut sum,
                a,
                add,
                home,
                other,
            } = Addition::of_ones(driver)?;
            context(driver)?.set_launch_checking(LaunchChecking::EachLaunch);
            for stream in [&home, &other] {
                let config = LaunchConfig::for_len(100);
                // SAFETY: the kernel reads `a` and writes `sum`, a hundred elements each.
                unsafe { add.launch(stream, config, (&a, &a, &mut sum, 100_u32)) }?;
            }
            assert_eq!(sum.to_vec()?, [2.0; 100]);
            Ok(())
        },
    },
    Operation {
        items: &["kernels!"],
        run: |driver| {
            let context = context(driver)?;
            let (home, other) = (context.create_stream()?, context.create_stream()?);
            let kernels = Polynomial::load(&context)?;
            let launch: PolynomialLaunch = kernels.polynomial_prepare(LaunchConfig::for_len(64))?;
            let coefficients = launch.function().module().global::<[f32]>("coefficients")?;
            let x = home.upload(&[1.0_f32; 64])?;
            let mut y = home.zeroed::<f32>(64)?;
            for (stream, value) in [(&home, 1.0), (&other, 2.0)] {
                coefficients.write(stream, &[value; 4])?;
                // On the other stream than the one that writes the variable.
                let reader = if value == 1.0 { &other } else { &home };
                launch.launch(reader, &x, &mut y)?;
                assert_eq!(home.download(&y)?, [4.0 * value; 64]);
            }
            Ok(())
        },
    },
    Operation {
        items: &["Function::prepare", "PreparedLaunch::launch"],
        run: |driver| {
            let context = context(driver)?;
            let (home, other) = (context.create_stream()?, context.create_stream()?);
            let reverse = context
                .load_ptx(SHARED_DYNAMIC)?
                .function("reverse_blocks")?;
            let config = LaunchConfig::new(1, 32).with_dynamic_shared_bytes(60_000);
            let mut data = home.upload(&[7_u32; 32])?;
            let plain = reverse.prepare(config)?;
            let cooperative = reverse.prepare(config.cooperative().with_priority(0))?;
            for stream in [&home, &other] {
                // SAFETY: the kernel reverses 32 numbers.
                unsafe { plain.launch(stream, (&mut data,)) }?;
                // SAFETY: as above.
                unsafe { cooperative.launch(stream, (&mut data,)) }?;
            }
            assert_eq!(data.to_vec()?, [7; 32]);
            Ok(())
        },
    },
    Operation {
        items: &[
            "Function::active_blocks_per_multiprocessor",
            "Function::active_blocks_per_multiprocessor_with",
            "Function::available_dynamic_shared_bytes",
            "Function::potential_block_size",
            "Function::potential_block_size_with",
            "Function::max_cluster_size",
            "Function::max_active_clusters",
            "LaunchConfig::for_kernel",
            "Function::allow_non_portable_clusters",
        ],
        run: |driver| {
            let add = context(driver)?
                .load_ptx(VECTOR_ADD)?
                .function("vector_add")?;
            let flags = OccupancyFlags::DEFAULT;
            let blocks = add.active_blocks_per_multiprocessor(128, 0)?;
            assert_eq!(
                add.active_blocks_per_multiprocessor_with(128, 0, flags)?,
                blocks
            );
            assert!(add.available_dynamic_shared_bytes(1, 128)? > 0);
            let best = add.potential_block_size(|_| 0)?;
            assert_eq!(add.potential_block_size_with(0, flags, |_| 0)?, best);
            let config = LaunchConfig::for_kernel(&add, 100)?;
            assert_eq!(config.block.x, best.block);
            add.allow_non_portable_clusters()?;
            let config = LaunchConfig::new(8, 128).with_cluster(2);
            assert!(add.max_cluster_size(config)? > 0 && add.max_active_clusters(config)? > 0);
            Ok(())
        },
    },
    Operation {
        items: &["Function::launch_dynamic"],
        run: |driver| {
            let Addition {
                mut sum,
                a,
                add,
                home,
                other,
            } = Addition::of_ones(driver)?;
            let arguments = [
                DynamicArgument::read(&a),
                DynamicArgument::read(&a),
                DynamicArgument::write(&mut sum),
                DynamicArgument::value(&100_u32),
            ];
            // SAFETY: the kernel reads `a` and writes `sum`, a hundred elements each.
            unsafe { add.launch_dynamic(&other, LaunchConfig::for_len(100), &arguments) }?;
            assert_eq!(home.download(&sum)?, [2.0; 100]);
            Ok(())
        },
    },
    Operation {
        items: &["kernels!"],
        run: |driver| {
            let context = context(driver)?;
            let kernels = Kernels::load(&context)?.strict()?;
            let stream = context.create_stream()?;
            let a = stream.upload(&[1.0_f32; 100])?;
            let mut sum = stream.zeroed::<f32>(100)?;
            kernels.vector_add(&stream, &a, &a, &mut sum)?;
            let config = LaunchConfig::for_len_with_block(100, 32);
            let module = kernels.vector_add_function().module();
            // SAFETY: it is the module that was loaded for these kernels.
            let kernels = unsafe { Kernels::from_module(&module) }?;
            kernels.vector_add_with(config, &stream, &a, &a, &mut sum)?;
            assert_eq!(sum.to_vec()?, [2.0; 100]);
            Ok(())
        },
    },
    Operation {
        items: &["kernels!"],
        run: |driver| {
            let context = context(driver)?;
            let (home, other) = (context.create_stream()?, context.create_stream()?);
            let config = LaunchConfig::for_len(100);
            let kernels = Kernels::load(&context)?;
            let plain: VectorAdd = kernels.vector_add_prepare(config)?;
            let attributes: VectorAdd = kernels.vector_add_prepare(config.with_priority(0))?;
            drop(kernels);
            let a = home.upload(&[1.0_f32; 100])?;
            let mut sum = home.zeroed::<f32>(100)?;
            for stream in [&home, &other] {
                plain.launch(stream, &a, &a, &mut sum)?;
                attributes.launch(stream, &a, &a, &mut sum)?;
            }
            assert_eq!(sum.to_vec()?, [2.0; 100]);
            let mut host = [7.0; 100];
            let result = plain.launch(&other, In(&[1.0; 100]), &a, Out(&mut host));
            assert_eq!(host, [if result.is_ok() { 2.0 } else { 7.0 }; 100]);
            result
        },
    },
];

/// What the launches of `vector_add` work with, a hundred elements each.
struct Addition {
    sum: DeviceAllocation<f32>,
    a: DeviceAllocation<f32>,
    add: Function,
    home: Stream,
    other: Stream,
}

impl Addition {
    /// The memory is at home on the first of the two streams; `a` holds ones.
    fn of_ones(driver: &Driver) -> Result<Self> {
        let context = context(driver)?;
        let (home, other) = (context.create_stream()?, context.create_stream()?);
        let add = context.load_ptx(VECTOR_ADD)?.function("vector_add")?;
        let a = home.upload(&[1.0_f32; 100])?;
        let sum = home.zeroed::<f32>(100)?;
        Ok(Self {
            sum,
            a,
            add,
            home,
            other,
        })
    }
}

kernels! {
    unsafe extern Kernels from ptx "../../examples/kernels/vector_add.ptx" {
        #[launch(for_len(sum), block <= 1024)]
        #[prepared(VectorAdd)]
        safe fn vector_add(a: &[f32], b: &[f32; len(a)], sum: &mut [f32; len(a)], n: u32 = len(a));
    }
}

kernels! {
    unsafe extern Polynomial from ptx "../kernels/const_memory.ptx" {
        #[launch(for_len(y), block <= 1024, globals(coefficients))]
        #[prepared(PolynomialLaunch)]
        safe fn polynomial(x: &[f32], y: &mut [f32; len(x)], n: u32 = len(x));
    }
}
