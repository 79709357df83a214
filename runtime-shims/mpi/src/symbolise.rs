//! Source positions of code addresses, for messages.
//!
//! Guarantee: reads debug information from the files this process was loaded from, and changes nothing.
//! Too slow for anything but a last message or a report at the end.

use std::{
    ffi::{CStr, OsStr, c_int, c_void},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use addr2line::Loader;

/// The source position of the instruction at `address`: `file.c:12`, or `in function f (program)` where
/// there is no line. `None`: no code of a file. For a return address ask for the address before it.
pub(crate) fn location_of(address: usize) -> Option<String> {
    let object = object_with(address)?;
    let loader = Loader::new(&object.file).ok()?;
    let probe = address.wrapping_sub(object.base) as u64;
    if let Ok(Some(location)) = loader.find_location(probe)
        && let (Some(file), Some(line)) = (location.file, location.line)
    {
        return Some(format!("{}:{line}", name_of(file.as_ref())));
    }
    let symbol = loader.find_symbol(probe)?;
    let function = demangle(symbol);
    Some(format!(
        "in function {function} ({})",
        name_of(&object.file)
    ))
}

/// Whether it is code of this library, and none of the program's.
pub(crate) fn is_own(address: usize) -> bool {
    let base = |address| object_with(address).map(|object| object.base);
    base(address).is_some() && base(address) == base(is_own as *const () as usize)
}

/// The name that a C++, Rust or Fortran programmer wrote.
fn demangle(symbol: &str) -> String {
    let mut parts = Vec::new();
    if okl_abi::fortran_name(symbol, |part| parts.push(part)) && !parts.is_empty() {
        return parts.join("::");
    }
    addr2line::demangle_auto(symbol.into(), None).into_owned()
}

fn name_of(path: &Path) -> String {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}

/// An executable or shared library of this process.
struct Object {
    file: PathBuf,
    /// What was added to the addresses in the file.
    base: usize,
}

/// The object whose code or data `address` is in.
fn object_with(address: usize) -> Option<Object> {
    struct Search {
        address: usize,
        found: Option<Object>,
    }

    unsafe extern "C" fn visit(
        info: *mut libc::dl_phdr_info,
        _: usize,
        search: *mut c_void,
    ) -> c_int {
        // SAFETY: both pointers are valid for this call, the second is the one passed below.
        let (info, search) = unsafe { (&*info, &mut *search.cast::<Search>()) };
        // SAFETY: the loader's array of program headers of a loaded object.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        let base = info.dlpi_addr as usize;
        let offset = search.address.wrapping_sub(base) as u64;
        let inside = headers.iter().any(|header| {
            header.p_type == libc::PT_LOAD && offset.wrapping_sub(header.p_vaddr) < header.p_memsz
        });
        if !inside {
            return 0;
        }
        // SAFETY: the loader's name of the object, NUL-terminated.
        let name = unsafe { CStr::from_ptr(info.dlpi_name) };
        // The executable has no name here.
        let file = if name.is_empty() {
            std::env::current_exe().unwrap_or("/proc/self/exe".into())
        } else {
            PathBuf::from(OsStr::from_bytes(name.to_bytes()))
        };
        search.found = Some(Object { file, base });
        1
    }

    let mut search = Search {
        address,
        found: None,
    };
    // SAFETY: `visit` gets a pointer to `search`, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    search.found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_of_this_file_has_a_line() {
        let location = location_of(location_of as *const () as usize)
            .expect("this test has debug information");
        let (file, line) = location.split_once(':').expect("file:line");
        assert_eq!(file, "symbolise.rs");
        assert!(
            line.parse::<u32>()
                .is_ok_and(|line| (15..30).contains(&line)),
            "{location}"
        );
    }

    #[test]
    fn own_code_is_told_from_other_code() {
        assert!(is_own(location_of as *const () as usize));
        assert!(!is_own(libc::qsort as *const () as usize));
        // Memory, in which no file is.
        assert!(!is_own((&raw const *Box::new(0)).addr()));
    }

    #[test]
    fn a_function_of_the_c_library_is_found() {
        let location = location_of(libc::qsort as *const () as usize).expect("a symbol");
        assert!(location.contains("qsort"), "{location}");
    }

    #[test]
    fn data_and_nothing_have_no_position() {
        let local = 0_u8;
        assert_eq!(location_of(0), None);
        assert_eq!(location_of(&raw const local as usize), None);
    }
}
