//! Matrix instructions: each shape against a plain product, through the places that the ISA's figures give to the elements.

#[path = "../support/mod.rs"]
mod support;

mod elements;
mod faults;
mod forms;
mod fragments;
mod kernels;
mod mma;
mod quarters;
mod rounding;
mod rows;
