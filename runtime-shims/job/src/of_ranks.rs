//! The run time for ranks of OpenMP programs, where this process is one: the program's memory is that one's.

use std::ffi::CStr;
use std::sync::OnceLock;

use okl_abi::devices::{self, ForDevices};

/// What the run time for ranks does for others; `None` where this process is no rank, or not yet.
pub fn of_ranks() -> Option<&'static ForDevices> {
    static TABLE: OnceLock<Option<&'static ForDevices>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let name = CStr::from_bytes_with_nul(devices::NAME.as_bytes()).expect("it ends with NUL");
        // SAFETY: a look-up by name, and the function of that name.
        unsafe {
            let found = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
            if found.is_null() {
                return None;
            }
            let table: extern "C" fn() -> *const ForDevices = std::mem::transmute(found);
            Some(&*table())
        }
    });
    table.filter(|table| (table.rank)() >= 0)
}
