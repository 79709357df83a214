//! Libraries that are opened when they are needed: a program that needs none of them runs without.

use std::ffi::{CStr, c_void};

use crate::report::text;

/// A library that is open, and stays so.
#[derive(Clone, Copy)]
pub(crate) struct Opened(*mut c_void);

impl Opened {
    /// What this library sees itself, of the program and of those it is linked with.
    pub(crate) const PROGRAM: Self = Self(libc::RTLD_DEFAULT);

    /// Why it cannot be, if it cannot.
    pub(crate) fn new(name: &CStr) -> Result<Self, String> {
        // SAFETY: runs initialisations, which may run at any time; then reads what went wrong.
        unsafe {
            let library = libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
            match library.is_null() {
                true => Err(text(libc::dlerror()).to_owned()),
                false => Ok(Self(library)),
            }
        }
    }

    fn find(self, name: &CStr) -> *mut c_void {
        // SAFETY: an open library and a string.
        unsafe { libc::dlsym(self.0, name.as_ptr()) }
    }

    pub(crate) fn has(self, name: &CStr) -> bool {
        !self.find(name).is_null()
    }

    /// Where that is.
    pub(crate) fn symbol(self, name: &CStr) -> Result<*mut c_void, String> {
        let found = self.find(name);
        match found.is_null() {
            true => Err(format!("it has no {}", name.to_string_lossy())),
            false => Ok(found),
        }
    }

    /// Ends in an error if what it calls of MPI is not what this library calls.
    pub(crate) fn require_this_mpi(self) -> Result<(), String> {
        // A tool that measures a program's MPI has functions of other names only.
        let of = |library: Self| library.find(c"PMPI_Init");
        match of(self) == of(Self::PROGRAM) {
            true => Ok(()),
            false => Err("it is made for another MPI".to_owned()),
        }
    }
}

/// Declares a table of functions, which are found under their own names.
macro_rules! functions {
    ($(#[$doc:meta])* $table:ident { $($name:ident($($param:ty),*) $(-> $result:ty)?;)* }) => {
        $(#[$doc])*
        #[allow(non_snake_case, reason = "they are called so")]
        pub(crate) struct $table {
            $(pub(crate) $name: unsafe extern "C" fn($($param),*) $(-> $result)?,)*
        }

        impl $table {
            /// # Safety
            /// The library's functions of these names have these signatures.
            pub(crate) unsafe fn of(library: $crate::opened::Opened) -> Result<Self, String> {
                Ok(Self {
                    $($name: {
                        let name = concat!(stringify!($name), "\0").as_bytes();
                        let name = std::ffi::CStr::from_bytes_with_nul(name).expect("one zero");
                        // SAFETY: the caller's promise.
                        unsafe {
                            std::mem::transmute::<
                                *mut std::ffi::c_void,
                                unsafe extern "C" fn($($param),*) $(-> $result)?,
                            >(library.symbol(name)?)
                        }
                    },)*
                })
            }
        }
    };
}
pub(crate) use functions;
