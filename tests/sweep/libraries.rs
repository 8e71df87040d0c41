//! Libraries and their kernels.

use cuda_driver::{
    CacheConfig, JitOptions, LaunchConfig, Library, LibraryOptions, ModuleLoadingMode,
    SharedCarveout,
};

use super::{Operation, context};
use crate::support::kernels::{CONST_MEMORY, SHARED_DYNAMIC, VECTOR_ADD};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        items: &[
            "Context::create_linker",
            "Linker::add_ptx",
            "Linker::add_ptx_with",
            "Linker::add_cubin",
            "Linker::add_fatbin",
            "Linker::add_object",
            "Linker::add_archive",
            "Linker::add_file",
            "Linker::complete",
            "LinkedImage::link_time",
            "Context::load_linked",
            "Driver::load_library_linked",
        ],
        run: |driver| {
            let context = context(driver)?;
            let mut linker = context.create_linker(&JitOptions::new())?;
            linker.add_ptx("add", VECTOR_ADD)?;
            linker.add_ptx_with("constants", CONST_MEMORY, &JitOptions::new())?;
            #[allow(
                clippy::multiple_unsafe_ops_per_block,
                reason = "all for the same reason"
            )]
            // SAFETY: none of them is whole.
            unsafe {
                assert!(linker.add_cubin("none", &[]).is_err());
                assert!(linker.add_fatbin("none", &[]).is_err());
                assert!(linker.add_object("none", &[]).is_err());
                assert!(linker.add_archive("none", &[]).is_err());
                assert!(linker.add_file("/no such file").is_err());
            }
            let image = linker.complete()?;
            assert!(image.link_time().is_none_or(|time| !time.is_zero()));
            context.load_linked(&image)?.function("vector_add")?;
            let library = driver.load_library_linked(&image)?;
            library.function(&context, "polynomial").map(drop)
        },
    },
    Operation {
        items: &[
            "Driver::load_library_ptx",
            "Library::kernel",
            "Library::kernel_names",
            "Kernel::in_context",
            "Kernel::library",
            "Library::close",
        ],
        run: |driver| {
            let library = driver.load_library_ptx(VECTOR_ADD)?;
            assert_eq!(library.kernel_names()?, ["vector_add"]);
            let kernel = library.kernel("vector_add")?;
            assert!(kernel.library().is_same(&library));
            let context = context(driver)?;
            let stream = context.create_stream()?;
            let add = kernel.in_context(&context)?;
            let a = stream.upload(&[1.0_f32; 100])?;
            let mut sum = stream.zeroed::<f32>(100)?;
            let config = LaunchConfig::for_len(100);
            // SAFETY: the kernel reads `a` and writes `sum`, a hundred elements each.
            unsafe { add.launch(&stream, config, (&a, &a, &mut sum, 100_u32)) }?;
            assert_eq!(sum.to_vec()?, [2.0; 100]);
            drop((add, kernel));
            library.close().map_err(Into::into)
        },
    },
    Operation {
        items: &[
            "Driver::load_library_ptx_with",
            "Driver::load_library_binary",
            "Driver::load_library_file",
            "Library::from_raw",
        ],
        run: |driver| {
            let options = LibraryOptions::new().preserve_image();
            let library = driver.load_library_ptx_with(VECTOR_ADD, &options)?;
            library.kernel("vector_add")?;
            // SAFETY: the image is PTX of this repository.
            let other = unsafe { driver.load_library_binary(VECTOR_ADD.as_bytes(), &options) }?;
            other.kernel("vector_add")?;
            let path = concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/examples/kernels/vector_add.ptx"
            );
            // SAFETY: as before.
            let file = unsafe { driver.load_library_file(path, &options) }?;
            if let Some(raw) = file.as_raw() {
                std::mem::forget(file);
                // SAFETY: its only handle is forgotten.
                unsafe { Library::from_raw(driver, raw) }.kernel("vector_add")?;
            }
            Ok(())
        },
    },
    Operation {
        items: &[
            "Library::module",
            "Library::global",
            "Library::function",
            "Library::managed_address",
            "Library::unified_function",
            "Function::is_loaded",
            "Function::load",
            "Kernel::in_context_with",
            "Module::function_with",
        ],
        run: |driver| {
            let library = driver.load_library_ptx(CONST_MEMORY)?;
            let context = context(driver)?;
            let stream = context.create_stream()?;
            let coefficients = library.global::<[f32]>(&context, "coefficients")?;
            assert_eq!(coefficients.read(&stream)?, [1.0, 2.0, 3.0, 4.0]);
            let later = library.kernel("polynomial")?;
            let later = later.in_context_with(&context, ModuleLoadingMode::Lazy)?;
            later.load()?;
            assert!(later.is_loaded()?);
            let module = library.module(&context)?;
            module.function_with("count", ModuleLoadingMode::Lazy)?;
            library.function(&context, "count")?;
            assert!(library.managed_address(&context, "none").is_err());
            assert!(library.unified_function("none").is_err());
            Ok(())
        },
    },
    Operation {
        items: &[
            "Kernel::attributes",
            "Kernel::set_max_dynamic_shared_bytes",
            "Kernel::set_preferred_shared_carveout",
            "Kernel::set_cache_config",
        ],
        run: |driver| {
            let library = driver.load_library_ptx(SHARED_DYNAMIC)?;
            let names = library.kernel_names()?;
            let kernel = library.kernel(names.first().map_or("", |name| name))?;
            let device = driver.device(0)?;
            kernel.set_max_dynamic_shared_bytes(&device, 65536)?;
            assert_eq!(kernel.attributes(&device)?.max_dynamic_shared_bytes, 65536);
            kernel.set_preferred_shared_carveout(&device, SharedCarveout::MaxShared)?;
            kernel.set_cache_config(&device, CacheConfig::PreferShared)
        },
    },
];
