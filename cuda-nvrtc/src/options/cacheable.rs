//! Which options leave the result a function of what the cache looks at.

use super::CompileOptions;

/// Options that read and write no file, by their names without dashes; with `=`, a value may follow.
const PURE: &[&str] = &[
    "D",
    "U",
    "define-macro",
    "undefine-macro",
    "std",
    "ftz",
    "fmad",
    "prec-div",
    "prec-sqrt",
    "use_fast_math",
    "extra-device-vectorization",
    "fno-signed-zeros",
    "ffinite-math-only",
    "maxrregcount",
    "device-debug",
    "G",
    "generate-line-info",
    "lineinfo",
    "dopt",
    "Ofast-compile",
    "Ofc",
    "relocatable-device-code",
    "rdc",
    "device-c",
    "dc",
    "device-w",
    "dw",
    "extensible-whole-program",
    "ewp",
    "dlink-time-opt",
    "dlto",
    "gen-opt-lto",
    "restrict",
    "minimal",
    "device-as-default-execution-space",
    "default-device",
    "device-int128",
    "device-float128",
    "device-stack-protector",
    "builtin-move-forward",
    "builtin-initializer-list",
    "disable-warnings",
    "w",
    "Wreorder",
    "Wconversion",
    "warning-as-error",
    "Werror",
    "diag-error",
    "diag-suppress",
    "diag-warn",
    "display-error-number",
    "err-no",
    "no-display-error-number",
    "no-err-no",
    "brief-diagnostics",
    "brief-diag",
    "fmax-errors",
    "optimization-info",
    "opt-info",
    "split-compile",
    "jump-table-density",
    "jtd",
    "no-cache",
    "frandom-seed",
    "modify-stack-limit",
    "gpu-architecture",
    "arch",
];

impl CompileOptions {
    /// Why the result may depend on more than what the cache looks at, if it may.
    pub(crate) fn uncacheable(&self) -> Option<String> {
        let unknown = self.raw.iter().find(|option| !is_pure(option))?;
        Some(format!("the option `{unknown}` may read or write files"))
    }
}

fn is_pure(option: &str) -> bool {
    let Some(name) = option
        .strip_prefix("--")
        .or_else(|| option.strip_prefix('-'))
    else {
        return false;
    };
    let (name, _) = name.split_once('=').unwrap_or((name, ""));
    // `-DNAME` and `-UNAME` are written in one.
    let is_macro = !option.starts_with("--") && name.starts_with(['D', 'U']);
    is_macro || PURE.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_may_read_files_are_told_from_others() {
        for option in [
            "--ftz=true",
            "-ftz=true",
            "-DX",
            "-DX=include",
            "--device-int128",
            "-w",
            "--std=c++17",
        ] {
            assert_eq!(
                CompileOptions::new().raw(option).uncacheable(),
                None,
                "{option}"
            );
        }
        for option in [
            "-I/x",
            "--include-path=/x",
            "-include",
            "x.h",
            "--use-pch=x",
            "--pch",
            "--time=x",
            "@file",
            "",
            "-",
            "--new",
            "--Dx",
        ] {
            let reason = CompileOptions::new().raw("-w").raw(option).uncacheable();
            assert!(reason.unwrap().contains(&format!("`{option}`")));
        }
    }
}
