//! What drops report to the log.

use std::sync::{Mutex, Once, PoisonError};

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Collector;

impl log::Log for Collector {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        let line = format!("{}: {}", record.level(), record.args());
        eprintln!("log: {line}");
        LINES
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line);
    }

    fn flush(&self) {}
}

/// Collects the lines from now on.
pub(crate) fn collect() {
    static COLLECTOR: Collector = Collector;
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&COLLECTOR).expect("no other logger is set");
        log::set_max_level(log::LevelFilter::Info);
    });
}

/// Whether some test's line contains the text.
pub(crate) fn contain(text: &str) -> bool {
    let lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    lines.iter().any(|line| line.contains(text))
}
