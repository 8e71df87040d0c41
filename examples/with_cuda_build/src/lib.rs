//! Kernels that the build script compiled and declared: each method of [`Particles`] and [`Sums`] was made from a kernel.

use bytemuck::{Pod, Zeroable};

include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

/// `physics::Particle` of `kernels/particles.cu`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Particle {
    /// Metres.
    pub position: [f32; 3],
    /// Kilograms.
    pub mass: f32,
    /// Metres per second.
    pub velocity: [f32; 3],
    /// Coulombs.
    pub charge: f32,
}

/// `physics::Step` of `kernels/particles.cu`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Step {
    /// Its length.
    pub seconds: f32,
    /// Metres per second squared.
    pub gravity: [f32; 3],
}
