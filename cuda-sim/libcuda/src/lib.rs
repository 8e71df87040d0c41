#![doc = include_str!("../README.md")]

mod ending;
mod environment;
mod export;
mod journal;
mod process;
