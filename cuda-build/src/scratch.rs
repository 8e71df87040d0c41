//! A folder for one test, which removes it at its end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("cuda-build-{}-{number}", process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file, and the folders around it.
    pub(crate) fn write(&self, name: &str, contents: &str) -> PathBuf {
        let path = self.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, contents).unwrap();
        path
    }

    /// Writes a program in the language of the shell.
    ///
    /// Another process writes it: a file that this one holds open for writing, as a child that is just being started by another test does
    /// for a moment, cannot be executed.
    #[cfg(unix)]
    pub(crate) fn script(&self, name: &str, body: &str) -> PathBuf {
        use std::io::Write as _;
        use std::process::{Command, Stdio};
        let path = self.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut shell = Command::new("/bin/sh")
            .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
            .arg(&path)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = shell.stdin.take().unwrap();
        write!(input, "#!/bin/sh\n{body}\n").unwrap();
        drop(input);
        assert!(shell.wait().unwrap().success());
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}
