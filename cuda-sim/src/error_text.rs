//! The names of result codes as C strings.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::sync::OnceLock;

use cuda_sys::CUresult;

/// Codes are smaller than this.
const CODES: u32 = 1_000;

struct Texts {
    name: CString,
    description: CString,
}

fn texts() -> &'static BTreeMap<u32, Texts> {
    static TEXTS: OnceLock<BTreeMap<u32, Texts>> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let known = |value: u32| {
            let name = CUresult(value).name()?;
            let words = name
                .trim_start_matches("CUDA_")
                .trim_start_matches("ERROR_")
                .replace('_', " ")
                .to_lowercase();
            let texts = Texts {
                name: CString::new(name).ok()?,
                description: CString::new(words).ok()?,
            };
            Some((value, texts))
        };
        (0..CODES).filter_map(known).collect()
    })
}

/// The enumerator's name.
pub(crate) fn name(code: CUresult) -> Option<&'static CStr> {
    texts().get(&code.0).map(|texts| texts.name.as_c_str())
}

/// The name in words.
pub(crate) fn description(code: CUresult) -> Option<&'static CStr> {
    texts()
        .get(&code.0)
        .map(|texts| texts.description.as_c_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_names_and_words() {
        assert_eq!(name(CUresult(1)), Some(c"CUDA_ERROR_INVALID_VALUE"));
        assert_eq!(description(CUresult(700)), Some(c"illegal address"));
        assert_eq!(description(CUresult(0)), Some(c"success"));
        assert_eq!(name(CUresult(998)), None);
    }
}
