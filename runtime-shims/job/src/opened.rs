//! Libraries that are opened when they are needed: a program that needs none of them runs without.

use std::ffi::{CStr, OsStr, c_void};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};

/// A library that is open, and stays so.
#[derive(Clone, Copy)]
pub struct Opened(*mut c_void);

impl Opened {
    /// What this library sees itself, of the program and of those it is linked with.
    pub const PROGRAM: Self = Self(libc::RTLD_DEFAULT);

    /// Opens it for those that ask here; why it cannot be, if it cannot.
    pub fn new(name: &CStr) -> Result<Self, String> {
        Self::open(name, RTLD_LOCAL)
    }

    /// Opens it for all that is opened later, too.
    pub fn for_all(name: &CStr) -> Result<Self, String> {
        Self::open(name, RTLD_GLOBAL)
    }

    fn open(name: &CStr, scope: i32) -> Result<Self, String> {
        let name = name
            .to_str()
            .map_err(|_| "its name is no UTF-8".to_owned())?;
        // SAFETY: runs initialisations, which may run at any time.
        let library = unsafe { Library::open(Some(name), RTLD_NOW | scope) };
        library
            .map(|library| Self(library.into_raw()))
            .map_err(|why| why.to_string())
    }

    /// A function or variable.
    ///
    /// # Safety
    /// It is of type `T`: a function's type, or a pointer to a variable's.
    pub unsafe fn symbol<T: Copy>(self, name: &CStr) -> Result<T, String> {
        // SAFETY: a library that is open, or what stands for the program; it is not closed.
        let library = ManuallyDrop::new(unsafe { Library::from_raw(self.0) });
        // SAFETY: the caller's promise.
        let symbol = unsafe { library.get::<T>(name.to_bytes_with_nul()) };
        match symbol {
            Ok(symbol) => Ok(*symbol),
            Err(_) => Err(format!("it has no {}", name.to_string_lossy())),
        }
    }

    fn find(self, name: &CStr) -> Option<*const c_void> {
        // SAFETY: an address is all that is asked.
        unsafe { self.symbol(name) }.ok()
    }

    /// Whether it has something of this name.
    pub fn has(self, name: &CStr) -> bool {
        self.find(name).is_some()
    }

    /// Ends in an error if what it calls of MPI is not what the program calls, where there is MPI.
    pub fn require_this_mpi(self) -> Result<(), String> {
        // A tool that measures a program's MPI has functions of other names only.
        let of = |library: Self| library.find(c"PMPI_Init");
        match of(Self::PROGRAM) {
            there if there.is_none() || there == of(self) => Ok(()),
            _ => Err("it is made for another MPI".to_owned()),
        }
    }
}

/// The folder of the library, or program, that this code is in, wherever links to it are.
pub fn own_folder() -> PathBuf {
    let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: an address of this code; the name that is found stays.
    let file = unsafe {
        libc::dladdr(own_folder as *const c_void, found.as_mut_ptr());
        let name = found.assume_init().dli_fname;
        match name.is_null() {
            true => return PathBuf::new(),
            false => OsStr::from_bytes(CStr::from_ptr(name).to_bytes()),
        }
    };
    let file = Path::new(file);
    let real = file.canonicalize();
    let folder = real.as_deref().unwrap_or(file).parent();
    folder.map(Path::to_path_buf).unwrap_or_default()
}

/// Declares a table of functions, which are found under their own names.
#[macro_export]
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
                        unsafe { library.symbol(name)? }
                    },)*
                })
            }
        }
    };
}
