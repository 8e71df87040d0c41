//! Lets particles fall for a second, and sums numbers; on the software driver where there is no GPU.

use cuda_driver::Driver;
use with_cuda_build::{Particle, Particles, Step, Sums};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::load_or_simulated()?;
    println!("driver: {driver}");
    let context = driver.device(0)?.primary_context()?;
    let stream = context.create_stream()?;
    let particles = Particles::load(&context)?;
    let sums = Sums::load(&context)?;

    let at_rest = Particle {
        position: [0.0, 0.0, 5.0],
        mass: 1.0,
        velocity: [0.0; 3],
        charge: 0.0,
    };
    let mut falling = stream.upload(&vec![at_rest; 1000])?;
    let step = Step {
        seconds: 0.01,
        gravity: [0.0, 0.0, -9.81],
    };
    for _ in 0..100 {
        particles.step(&stream, &mut falling, step)?;
    }
    let fallen: Vec<Particle> = falling.to_vec()?;
    println!("after one second: {:?}", fallen[0]);

    let numbers: Vec<f32> = (1..=1000_u16).map(f32::from).collect();
    let mut numbers = stream.upload(&numbers)?;
    particles.scale_float(&stream, &mut numbers, 2.0)?;
    let mut total = stream.zeroed::<f32>(1)?;
    sums.sum(&stream, &numbers, &mut total)?;
    println!("2 + 4 + … + 2000 = {}", total.to_vec()?[0]);
    Ok(())
}
