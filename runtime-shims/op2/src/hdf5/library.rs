//! The functions of the HDF5 library.
//!
//! Guarantee: a program that uses no HDF5 files needs no HDF5. The library is looked for at the first use: the one that
//! `OKL_HDF5` names, or the one that the program has itself, or that of the system, with or without MPI in it.

use std::{
    ffi::{CStr, CString, c_char, c_int, c_uint, c_void},
    sync::OnceLock,
};

use crate::report::text;

/// `hid_t`.
pub(super) type Id = i64;

/// `H5E_auto2_t`, which is only kept and given back.
pub(super) type Report = *mut c_void;

/// `H5T_conv_except_func_t`: kind, source and target type, source and target value, what was given with it.
pub(super) type OnConversion =
    unsafe extern "C" fn(c_int, Id, Id, *mut c_void, *mut c_void, *mut c_void) -> c_int;

/// `H5E_error2_t`.
#[repr(C)]
pub(super) struct Cause {
    class: Id,
    major: Id,
    minor: Id,
    line: c_uint,
    function: *const c_char,
    file: *const c_char,
    description: *const c_char,
}

macro_rules! library {
    (
        $($function:ident($($parameter:ty),*) -> $result:ty;)*
        = $($symbol:literal $id:ident;)*
    ) => {
        /// Its functions, and the identifiers it has from the beginning.
        #[expect(non_snake_case, reason = "HDF5's names")]
        pub(super) struct Library {
            $(pub(super) $function: unsafe extern "C" fn($($parameter),*) -> $result,)*
            $(pub(super) $id: Id,)*
        }

        impl Library {
            /// # Safety
            /// `library` is open, or is what stands for the whole program.
            unsafe fn of(library: *mut c_void) -> Result<Self, String> {
                let symbol = |name: &CStr| {
                    // SAFETY: the caller's promise.
                    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
                    match found.is_null() {
                        true => Err(format!("HDF5 has no {}", name.to_string_lossy())),
                        false => Ok(found),
                    }
                };
                // SAFETY: the functions have these signatures since HDF5 1.10, and the identifiers are there once H5open
                // has returned.
                unsafe {
                    let version: unsafe extern "C" fn(*mut c_uint, *mut c_uint, *mut c_uint) -> c_int =
                        std::mem::transmute(symbol(c"H5get_libversion")?);
                    let open: unsafe extern "C" fn() -> c_int =
                        std::mem::transmute(symbol(c"H5open")?);
                    let (mut major, mut minor, mut release) = (0, 0, 0);
                    if version(&mut major, &mut minor, &mut release) < 0 || open() < 0 {
                        return Err("HDF5 does not start".to_owned());
                    }
                    if (major, minor) < (1, 10) {
                        return Err(format!("HDF5 {major}.{minor}.{release} is too old: 1.10 is needed"));
                    }
                    Ok(Self {
                        $($function: std::mem::transmute::<
                            *mut c_void,
                            unsafe extern "C" fn($($parameter),*) -> $result,
                        >(symbol(const {
                            match CStr::from_bytes_with_nul(concat!(stringify!($function), "\0").as_bytes()) {
                                Ok(name) => name,
                                Err(_) => unreachable!(),
                            }
                        })?),)*
                        $($id: symbol($symbol)?.cast::<Id>().read(),)*
                    })
                }
            }
        }
    };
}

library! {
    H5Acreate2(Id, *const c_char, Id, Id, Id, Id) -> Id;
    H5Awrite(Id, Id, *const c_void) -> c_int;
    H5Dcreate2(Id, *const c_char, Id, Id, Id, Id, Id) -> Id;
    H5Dget_space(Id) -> Id;
    H5Dget_type(Id) -> Id;
    H5Dopen2(Id, *const c_char, Id) -> Id;
    H5Dread(Id, Id, Id, Id, Id, *mut c_void) -> c_int;
    H5Dwrite(Id, Id, Id, Id, Id, *const c_void) -> c_int;
    H5Eget_auto2(Id, *mut Report, *mut *mut c_void) -> c_int;
    H5Eset_auto2(Id, Report, *mut c_void) -> c_int;
    H5Ewalk2(Id, c_int, unsafe extern "C" fn(c_uint, *const Cause, *mut c_void) -> c_int, *mut c_void) -> c_int;
    H5Fclose(Id) -> c_int;
    H5Fcreate(*const c_char, c_uint, Id, Id) -> Id;
    H5Fopen(*const c_char, c_uint, Id) -> Id;
    H5Idec_ref(Id) -> c_int;
    H5Lexists(Id, *const c_char, Id) -> c_int;
    H5Pcreate(Id) -> Id;
    H5Pset_create_intermediate_group(Id, c_uint) -> c_int;
    H5Pset_type_conv_cb(Id, OnConversion, *mut c_void) -> c_int;
    H5Screate(c_int) -> Id;
    H5Screate_simple(c_int, *const u64, *const u64) -> Id;
    H5Sget_simple_extent_dims(Id, *mut u64, *mut u64) -> c_int;
    H5Sget_simple_extent_ndims(Id) -> c_int;
    H5Sselect_hyperslab(Id, c_int, *const u64, *const u64, *const u64, *const u64) -> c_int;
    H5Tcopy(Id) -> Id;
    H5Tget_class(Id) -> c_int;
    H5Tget_size(Id) -> usize;
    H5Tset_size(Id, usize) -> c_int;
    =
    c"H5P_CLS_LINK_CREATE_ID_g" link_creation;
    c"H5P_CLS_DATASET_XFER_ID_g" transfer;
    c"H5T_C_S1_g" string;
    c"H5T_NATIVE_DOUBLE_g" double;
    c"H5T_NATIVE_FLOAT_g" float;
    c"H5T_NATIVE_INT_g" int;
    c"H5T_NATIVE_UINT_g" unsigned;
    c"H5T_NATIVE_LLONG_g" long;
    c"H5T_NATIVE_ULLONG_g" unsigned_long;
    c"H5T_NATIVE_UINT8_g" byte;
}

/// Where the system may have it: Debian's and Ubuntu's names, and those of others.
const NAMES: [&CStr; 10] = [
    c"libhdf5_serial.so.103",
    c"libhdf5_serial.so.310",
    c"libhdf5_serial.so",
    c"libhdf5_openmpi.so.103",
    c"libhdf5_openmpi.so.310",
    c"libhdf5_openmpi.so",
    c"libhdf5.so.103",
    c"libhdf5.so.200",
    c"libhdf5.so.310",
    c"libhdf5.so",
];

const MISSING: &str = "the HDF5 library is missing: install the Debian package libhdf5-103-1 (libhdf5-310 from Debian 13 \
                       on), or let OKL_HDF5 name the library";

fn open(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: opening HDF5 runs its initialisation, which may run at any time.
    let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    (!library.is_null()).then_some(library)
}

fn find(asked: &str, names: &[&CStr]) -> Result<Library, String> {
    // SAFETY: what is open, or stands for the whole program.
    unsafe {
        if !asked.is_empty() {
            let name = CString::new(asked).map_err(|_| "OKL_HDF5 holds a zero byte".to_owned())?;
            let library = open(&name).ok_or_else(|| {
                let why = text(libc::dlerror());
                format!("OKL_HDF5: the library cannot be loaded: {why}")
            })?;
            return Library::of(library).map_err(|why| format!("OKL_HDF5={asked}: {why}"));
        }
        // Two of them in a program might take each other's functions.
        if !libc::dlsym(libc::RTLD_DEFAULT, c"H5open".as_ptr()).is_null() {
            return Library::of(libc::RTLD_DEFAULT);
        }
        let library = names.iter().find_map(|name| open(name));
        Library::of(library.ok_or(MISSING)?)
    }
}

/// The library; why there is none.
pub(super) fn library() -> Result<&'static Library, &'static str> {
    static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
    LIBRARY
        .get_or_init(|| find(&std::env::var("OKL_HDF5").unwrap_or_default(), &NAMES))
        .as_ref()
        .map_err(String::as_str)
}

impl Library {
    /// What went wrong in the call before, as the library sees it.
    pub(super) fn cause(&self) -> String {
        unsafe extern "C" fn note(_: c_uint, cause: *const Cause, to: *mut c_void) -> c_int {
            // SAFETY: what is passed below, and one of the library's entries.
            unsafe {
                let to = &mut *to.cast::<String>();
                if to.is_empty() {
                    text((*cause).description).clone_into(to);
                }
            }
            0
        }
        let mut cause = String::new();
        // From the innermost call (0) of the default stack (0) outwards.
        // SAFETY: `note` gets the string.
        unsafe { (self.H5Ewalk2)(0, 0, note, (&raw mut cause).cast()) };
        match cause.is_empty() {
            true => "HDF5 does not say why".to_owned(),
            false => cause,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let why = |asked: &str| find(asked, &[c"libnone.so"]).err().expect("there is none");
        assert_eq!(why(""), MISSING);
        assert!(
            why("/nowhere/libhdf5.so")
                .starts_with("OKL_HDF5: the library cannot be loaded: /nowhere/libhdf5.so: ")
        );
        assert_eq!(
            why("libm.so.6"),
            "OKL_HDF5=libm.so.6: HDF5 has no H5get_libversion"
        );
    }
}
