//! The generated methods: right results, and refused calls.

mod support;

use cuda_driver::LaunchConfig;
use support::stream;
use with_cuda_build::{PARTICLES_PTX, Particle, Particles, SUMS_PTX, Step, Sums};

type Done = Result<(), Box<dyn std::error::Error>>;

#[test]
fn structs_go_by_value_and_in_memory() -> Done {
    let (context, stream) = stream()?;
    let kernels = Particles::load(&context)?.strict()?;
    let moving = |x: f32| Particle {
        position: [x, 0.0, 0.0],
        mass: 2.0,
        velocity: [1.0, 0.0, 0.0],
        charge: -1.0,
    };
    let mut particles = stream.upload(&[moving(0.0), moving(10.0)])?;
    let step = Step {
        seconds: 0.5,
        gravity: [0.0, 0.0, -2.0],
    };
    kernels.step(&stream, &mut particles, step)?;
    let expected = |x: f32| Particle {
        position: [x + 0.5, 0.0, -0.5],
        velocity: [1.0, 0.0, -1.0],
        ..moving(x)
    };
    assert_eq!(particles.to_vec()?, [expected(0.0), expected(10.0)]);
    Ok(())
}

#[test]
fn instances_of_a_template_are_methods() -> Done {
    let (context, stream) = stream()?;
    let kernels = Particles::load(&context)?;
    let mut floats = stream.upload(&[1.0_f32, 2.0, 3.0])?;
    let mut doubles = stream.upload(&[1.0_f64; 1000])?;
    kernels.scale_float(&stream, &mut floats, 2.0)?;
    kernels.scale_double(&stream, &mut doubles, 0.5)?;
    assert_eq!(floats.to_vec()?, [2.0, 4.0, 6.0]);
    assert_eq!(doubles.to_vec()?, [0.5; 1000]);
    Ok(())
}

/// Nobody vouched for it, so the caller does.
#[test]
fn kernels_are_unsafe_unless_vouched_for() -> Done {
    let (context, stream) = stream()?;
    let kernels = Particles::load(&context)?;
    let table = stream.upload(&[10.0_f32, 20.0, 30.0])?;
    let indices = stream.upload(&[2_u32, 0, 2, 1])?;
    let mut out = stream.zeroed::<f32>(4)?;
    let config = LaunchConfig::for_len(4);
    // SAFETY: every index is below the length of the table, and `n` is the length of `indices` and `out`.
    unsafe { kernels.gather(config, &stream, &table, &indices, &mut out, 4) }?;
    assert_eq!(out.to_vec()?, [30.0, 10.0, 30.0, 20.0]);
    Ok(())
}

#[test]
fn lengths_that_the_build_script_states_are_checked() -> Done {
    let (context, stream) = stream()?;
    let kernels = Sums::load(&context)?;
    let values = stream.upload(&[1.0_f32; 1000])?;
    let mut total = stream.zeroed::<f32>(1)?;
    kernels.sum(&stream, &values, &mut total)?;
    assert_eq!(total.to_vec()?, [1000.0]);
    let mut too_long = stream.zeroed::<f32>(2)?;
    let error = kernels
        .sum(&stream, &values, &mut too_long)
        .expect_err("two elements are not one");
    assert!(error.to_string().contains("total"), "{error}");
    Ok(())
}

#[test]
fn the_images_are_there_too() -> Done {
    let (context, _stream) = stream()?;
    for (image, kernel) in [(PARTICLES_PTX, "gather"), (SUMS_PTX, "sum")] {
        let module = context.load_ptx(image)?;
        assert_eq!(module.function(kernel)?.name(), kernel);
    }
    Ok(())
}
