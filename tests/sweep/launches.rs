//! Launches.

use cuda_driver::{DynamicArgument, LaunchConfig};

use super::{Operation, context};
use crate::support::kernels::VECTOR_ADD;

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        items: &["Function::launch"],
        run: |driver| {
            let context = context(driver)?;
            let (home, other) = (context.create_stream()?, context.create_stream()?);
            let add = context.load_ptx(VECTOR_ADD)?.function("vector_add")?;
            let a = home.upload(&[1.0_f32; 100])?;
            let mut sum = home.zeroed::<f32>(100)?;
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
            let context = context(driver)?;
            let (home, other) = (context.create_stream()?, context.create_stream()?);
            let add = context.load_ptx(VECTOR_ADD)?.function("vector_add")?;
            let a = home.upload(&[1.0_f32; 100])?;
            let mut sum = home.zeroed::<f32>(100)?;
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
        items: &["Function::launch_dynamic"],
        run: |driver| {
            let context = context(driver)?;
            let (home, other) = (context.create_stream()?, context.create_stream()?);
            let add = context.load_ptx(VECTOR_ADD)?.function("vector_add")?;
            let a = home.upload(&[1.0_f32; 100])?;
            let mut sum = home.zeroed::<f32>(100)?;
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
];
