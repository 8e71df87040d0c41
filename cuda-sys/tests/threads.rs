//! Many threads that look symbols up in one library at once.
#![cfg(unix)]

mod common;

use std::collections::BTreeSet;
use std::sync::Barrier;

use cuda_sys::{Library, MissingSymbol, SYMBOLS, Symbol};
use static_assertions::assert_impl_all;

assert_impl_all!(Library: Send, Sync, std::fmt::Debug);
assert_impl_all!(Symbol: Send, Sync);
assert_impl_all!(MissingSymbol: Send, Sync, Copy, std::error::Error);
assert_impl_all!(cuda_sys::LoadError: Send, Sync, std::error::Error);

#[test]
fn sixteen_threads_agree_on_every_symbol() {
    let path = common::empty_directory("threads").join("libcuda.so.1");
    // Every other symbol exists.
    let has = |index: usize, symbol: &Symbol| {
        index & 1 == 0 || ["cuInit", "cuDriverGetVersion"].contains(&symbol.as_str())
    };
    let mut source = common::driver_source(12020);
    for (index, symbol) in SYMBOLS.iter().enumerate() {
        if has(index, symbol)
            && !source.contains(&format!("{symbol}("))
            && symbol.base != "cuGetProcAddress"
        {
            source += &format!("int {symbol}(void) {{ return {index}; }}\n");
        }
    }
    common::build_library(&path, &source);
    // SAFETY: the library has no initialisers, and of its functions only the two real ones are called.
    let library = unsafe { Library::load_from(&path) }.unwrap();

    let barrier = Barrier::new(16);
    let answers: BTreeSet<Vec<Option<usize>>> = std::thread::scope(|scope| {
        let look_up = |start: usize| {
            barrier.wait();
            let mut found = vec![None; SYMBOLS.len()];
            for offset in 0..SYMBOLS.len() {
                let index = (start + offset) % SYMBOLS.len();
                found[index] = library
                    .resolve(&SYMBOLS[index])
                    .ok()
                    .map(|address| address.addr().get());
            }
            found
        };
        let threads: Vec<_> = (0..16)
            .map(|thread| scope.spawn(move || look_up(thread * 45)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(answers.len(), 1, "threads disagree");
    let answer = answers.into_iter().next().unwrap();
    for (index, symbol) in SYMBOLS.iter().enumerate() {
        let expected = has(index, symbol) && symbol.base != "cuGetProcAddress";
        assert_eq!(answer[index].is_some(), expected, "{symbol}");
    }
    assert_eq!(
        answer.iter().flatten().collect::<BTreeSet<_>>().len(),
        answer.iter().flatten().count()
    );
}
