//! Objects that fork OpenMP threads of their own: parts of the program that were not compiled with okl.
//!
//! Their threads would touch shared memory behind the protocol's back, so the user is told before the
//! program runs.

use std::{
    ffi::{CStr, OsStr, c_int, c_void},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use object::{Object, ObjectSymbol};

/// How compilers start a region: clang, flang and icx; gcc and gfortran.
const FORKS: [&str; 4] = [
    "__kmpc_fork_call",
    "__kmpc_fork_teams",
    "GOMP_parallel",
    "GOMP_parallel_start",
];

/// The OpenMP runtimes themselves name these functions too.
const RUNTIMES: [&str; 3] = ["libomp", "libgomp", "libiomp"];

/// An object that forks threads, and by which function.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ForeignRegions {
    pub(crate) file: PathBuf,
    pub(crate) function: &'static str,
    pub(crate) is_executable: bool,
}

/// The objects of this process that fork OpenMP threads.
pub(crate) fn find() -> Vec<ForeignRegions> {
    loaded_files()
        .into_iter()
        .filter(|file| !is_runtime(file))
        .filter_map(|file| {
            let is_executable = file == Path::new("/proc/self/exe");
            let bytes = std::fs::read(&file).ok()?;
            let function = fork_used_in(&bytes)?;
            let file = if is_executable {
                std::env::current_exe().unwrap_or(file)
            } else {
                file
            };
            Some(ForeignRegions {
                file,
                function,
                is_executable,
            })
        })
        .collect()
}

fn is_runtime(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    RUNTIMES.iter().any(|runtime| name.starts_with(runtime))
}

/// The function by which the object in `bytes` forks threads.
fn fork_used_in(bytes: &[u8]) -> Option<&'static str> {
    let object = object::File::parse(bytes).ok()?;
    object
        .dynamic_symbols()
        .filter(ObjectSymbol::is_undefined)
        .find_map(|symbol| FORKS.into_iter().find(|&fork| symbol.name() == Ok(fork)))
}

/// The files of this process: the executable, and the libraries that no MPI or C library brings along.
pub(crate) fn loaded_files() -> Vec<PathBuf> {
    unsafe extern "C" fn visit(
        info: *mut libc::dl_phdr_info,
        _: usize,
        files: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader passes a valid structure, and the pointer given below.
        let (name, files) = unsafe {
            (
                CStr::from_ptr((*info).dlpi_name),
                &mut *files.cast::<Vec<PathBuf>>(),
            )
        };
        files.push(PathBuf::from(OsStr::from_bytes(name.to_bytes())));
        0
    }
    let mut files: Vec<PathBuf> = Vec::new();
    // SAFETY: `visit` fits, and `files` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut files).cast()) };
    // The loader names the executable by the empty string.
    files
        .iter_mut()
        .filter(|file| file.as_os_str().is_empty())
        .for_each(|file| *file = "/proc/self/exe".into());
    files
}
