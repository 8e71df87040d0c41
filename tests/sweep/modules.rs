//! Modules and functions.

use cuda_driver::{CacheConfig, JitOptions, LaunchConfig, Module, SharedCarveout, call};

use super::{Operation, context};
use crate::support::kernels::{CONST_MEMORY, PARAMS, SHARED_DYNAMIC, SPIN, VECTOR_ADD};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        items: &["Context::load_ptx", "Module::close"],
        run: |driver| {
            let module = context(driver)?.load_ptx(VECTOR_ADD)?;
            assert!(module.is_same(&module.clone()));
            module.close().map_err(Into::into)
        },
    },
    Operation {
        items: &["Context::load_ptx_with"],
        run: |driver| {
            let options = JitOptions::new().verbose_log().optimization_level(2);
            let module = context(driver)?.load_ptx_with(SPIN, &options)?;
            module.function("delay_then_add").map(drop)
        },
    },
    Operation {
        items: &["Context::load_file"],
        run: |driver| {
            let path = concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/examples/kernels/vector_add.ptx"
            );
            // SAFETY: the file is PTX of this repository.
            let module = unsafe { context(driver)?.load_file(path) }?;
            assert_eq!(module.function("vector_add")?.name(), "vector_add");
            Ok(())
        },
    },
    Operation {
        items: &["Context::load_fatbin"],
        run: |driver| {
            // SAFETY: the image is not run.
            let refused = unsafe { context(driver)?.load_fatbin(&[1; 64]) };
            assert!(refused.is_err());
            Ok(())
        },
    },
    Operation {
        items: &["Module::from_raw", "Module::from_borrowed_raw"],
        run: |driver| {
            let context = context(driver)?;
            let raw = context.load_ptx(VECTOR_ADD)?.into_raw()?;
            // SAFETY: the module was given away by the line before, and is live.
            let module = unsafe { Module::from_raw(&context, raw) };
            // SAFETY: it outlives what borrows it.
            let borrowed = unsafe { Module::from_borrowed_raw(&context, raw) };
            borrowed.function("vector_add")?;
            drop(borrowed);
            module.close().map_err(Into::into)
        },
    },
    Operation {
        items: &[
            "Module::function",
            "Module::function_names",
            "Module::global_address",
            "Function::parameters",
            "Function::attributes",
        ],
        run: |driver| {
            let context = context(driver)?;
            let module = context.load_ptx(PARAMS)?;
            assert!(module.function_names()?.contains(&String::from("scalars")));
            let function = module.function("scalars")?;
            assert!(function.parameters().is_none_or(|all| all.len() == 9));
            assert_eq!(function.attributes()?.static_shared_bytes, 0);
            let constants = context.load_ptx(CONST_MEMORY)?;
            assert!(constants.global_address("no such variable").is_err());
            drop(module);
            function.attributes().map(drop)
        },
    },
    Operation {
        items: &[
            "Module::global",
            "Global::read",
            "Global::write",
            "Global::read_range",
            "Global::write_at",
        ],
        run: |driver| {
            let context = context(driver)?;
            let (stream, other) = (context.create_stream()?, context.create_stream()?);
            let module = context.load_ptx(CONST_MEMORY)?;
            let polynomial = module.function("polynomial")?;
            let coefficients = module.global::<[f32]>("coefficients")?;
            coefficients.write(&stream, &[1.0, 0.0, 0.0, 1.0])?;
            coefficients.write_at(&other, 0, &[5.0])?;
            let x = stream.upload(&[2.0_f32; 8])?;
            let mut y = stream.zeroed::<f32>(8)?;
            let config = LaunchConfig::for_len(8);
            // SAFETY: the kernel reads the coefficients and `x`, and writes `y`.
            unsafe { polynomial.launch(&stream, config, (&x, &mut y, 8_u32)) }?;
            assert_eq!(coefficients.read_range(&other, 0..1)?, [5.0]);
            assert_eq!(coefficients.read(&other)?, [5.0, 0.0, 0.0, 1.0]);
            assert_eq!(y.to_vec()?, [13.0; 8]);
            Ok(())
        },
    },
    Operation {
        items: &[
            "Function::set_max_dynamic_shared_bytes",
            "Function::set_preferred_shared_carveout",
            "Function::set_cache_config",
        ],
        run: |driver| {
            let module = context(driver)?.load_ptx(SHARED_DYNAMIC)?;
            let names = module.function_names()?;
            let function = module.function(names.first().map_or("", |name| name))?;
            function.set_max_dynamic_shared_bytes(65536)?;
            assert_eq!(function.attributes()?.max_dynamic_shared_bytes, 65536);
            function.set_preferred_shared_carveout(SharedCarveout::MaxShared)?;
            function.set_cache_config(CacheConfig::PreferShared)
        },
    },
    Operation {
        items: &["Stream::with_raw"],
        run: |driver| {
            let context = context(driver)?;
            let (home, other) = (context.create_stream()?, context.create_stream()?);
            let source = home.upload(&[7_u32; 100])?;
            let mut target = home.zeroed::<u32>(100)?;
            let copy = |stream, (from, to)| {
                // SAFETY: both have 400 bytes, and the order is kept around it.
                unsafe { call!(driver, cuMemcpyDtoDAsync_v2(to, from, 400, stream)) }
            };
            // SAFETY: the copy reads the one and writes the other on the stream that it is given.
            unsafe { other.with_raw((&source, &mut target), copy) }??;
            assert_eq!(home.download(&target)?, [7; 100]);
            Ok(())
        },
    },
];
