//! The locale, which belongs to the process: what serial code sets holds on every rank in the regions
//! that follow.

use std::ffi::{CStr, CString};

use crate::{cell::ProgramCell, scopes};

/// Bytes of a locale's name in a message, the terminating NUL included.
pub(crate) const BYTES: usize = 1024;

/// The name that all ranks have agreed on.
static AGREED: ProgramCell<Option<CString>> = ProgramCell::new(None);

/// The name of this process's locale, of all its categories.
fn current() -> CString {
    // SAFETY: a question; the answer is a NUL-terminated string of the C library.
    scopes::private(|| unsafe {
        let name = libc::setlocale(libc::LC_ALL, std::ptr::null());
        if name.is_null() {
            c"C".to_owned()
        } else {
            CStr::from_ptr(name).to_owned()
        }
    })
}

/// Rank 0, at a fork: the name as a message, if the program has set another locale since the last.
pub(crate) fn changed() -> Option<[u8; BYTES]> {
    let name = current();
    AGREED.with(|agreed| {
        if agreed.as_deref().unwrap_or(c"C") == name.as_c_str() {
            return None;
        }
        let bytes = name.as_bytes_with_nul();
        assert!(
            bytes.len() <= BYTES,
            "a locale's name of {} bytes",
            bytes.len()
        );
        let mut message = [0; BYTES];
        message[..bytes.len()].copy_from_slice(bytes);
        *agreed = Some(name);
        Some(message)
    })
}

/// The other ranks: takes over the locale named by rank 0.
pub(crate) fn adopt(message: &[u8; BYTES]) {
    // SAFETY: the name is NUL-terminated; ranks of one build find the same locales, or keep theirs.
    scopes::private(|| unsafe { libc::setlocale(libc::LC_ALL, message.as_ptr().cast()) });
}
