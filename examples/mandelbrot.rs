//! Teaches to compute an image: a kernel counts steps for each pixel, the host colours them and writes a PNG.
//!
//! `cargo run --example mandelbrot -- picture.png`; without a path, the picture goes to the system's directory for temporary
//! files.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use cuda_driver::{Driver, LaunchConfig};

const WIDTH: u32 = 640;
const HEIGHT: u32 = 480;
/// Points that are still inside after that many steps count as belonging to the set.
const LIMIT: u32 = 200;
/// The point in the middle of the picture, and the width of a pixel.
const CENTRE: (f32, f32) = (-0.6, 0.0);
const STEP: f32 = 3.2 / WIDTH as f32;

fn main() -> Result<(), Box<dyn Error>> {
    let path = match std::env::args_os().nth(1) {
        Some(path) => PathBuf::from(path),
        None => std::env::temp_dir().join("mandelbrot.png"),
    };
    let driver = Driver::load_or_simulated()?;
    let context = driver.device(0)?.primary_context()?;
    println!("{driver}: {}", context.device().name()?);

    let module = context.load_ptx(include_str!(env!("MANDELBROT_PTX")))?;
    let mandelbrot = module.function("mandelbrot")?;
    let stream = context.create_stream()?;
    let mut image = stream.zeroed::<u32>((WIDTH * HEIGHT) as usize)?;
    let config = LaunchConfig::new((WIDTH.div_ceil(32), HEIGHT.div_ceil(8)), (32, 8));
    let (x, y) = CENTRE;
    // SAFETY: the kernel writes one element of `image` for each of its WIDTH × HEIGHT pixels, whatever the grid is.
    unsafe {
        mandelbrot.launch(
            &stream,
            config,
            (&mut image, WIDTH, HEIGHT, x, y, STEP, LIMIT),
        )
    }?;

    let counts = image.to_vec()?;
    let pixels = || (0..HEIGHT).flat_map(|row| (0..WIDTH).map(move |column| (column, row)));
    let wrong = pixels()
        .zip(&counts)
        .filter(|((column, row), count)| steps(*column, *row) != **count)
        .count();
    if wrong != 0 {
        return Err(format!("{wrong} of {} pixels are wrong", counts.len()).into());
    }
    let inside = counts.iter().filter(|count| **count == LIMIT).count();
    write_png(&path, &counts)?;
    println!(
        "{WIDTH} × {HEIGHT} pixels are right, {inside} of them in the set: {}",
        path.display()
    );
    Ok(())
}

/// What the kernel computes for one pixel, with the same roundings: a fused multiplication and addition rounds once.
fn steps(column: u32, row: u32) -> u32 {
    let cx = (column as f32 - 0.5 * WIDTH as f32).mul_add(STEP, CENTRE.0);
    let cy = (row as f32 - 0.5 * HEIGHT as f32).mul_add(STEP, CENTRE.1);
    let (mut zx, mut zy) = (0.0_f32, 0.0_f32);
    let mut count = 0;
    while count < LIMIT && zx.mul_add(zx, zy * zy) <= 4.0 {
        let next = zx.mul_add(zx, (-zy).mul_add(zy, cx));
        zy = (2.0 * zx).mul_add(zy, cy);
        zx = next;
        count += 1;
    }
    count
}

/// Black for the set, and the brighter the longer a point took to leave the circle.
fn colour(count: u32) -> [u8; 3] {
    if count == LIMIT {
        return [0, 0, 0];
    }
    let brightness = (count as f32 / LIMIT as f32).sqrt();
    [0.6, 0.9, 1.5].map(|share: f32| (brightness * share * 255.0).min(255.0) as u8)
}

fn write_png(path: &Path, counts: &[u32]) -> Result<(), Box<dyn Error>> {
    let file = File::create(path);
    let file = file.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    let mut encoder = png::Encoder::new(BufWriter::new(file), WIDTH, HEIGHT);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    let bytes: Vec<u8> = counts.iter().flat_map(|count| colour(*count)).collect();
    writer.write_image_data(&bytes)?;
    writer.finish()?;
    Ok(())
}
