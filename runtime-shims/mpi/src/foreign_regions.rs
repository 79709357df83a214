//! Parts of the program that were not compiled with okl and fork OpenMP threads of their own, or that okl left as they
//! were, as they seemed to be part of no OpenMP program.
//!
//! Their threads would touch shared memory behind the protocol's back, and their variables would not be shared, so the
//! user is told before the program runs.

use std::{
    ffi::{CStr, OsStr, c_int, c_void},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use object::{Object, ObjectSection, ObjectSymbol};
use okl_abi::LEFT_ALONE_SECTION;

/// How compilers start a region: clang, flang and icx; gcc and gfortran.
const FORKS: [&str; 4] = [
    "__kmpc_fork_call",
    "__kmpc_fork_teams",
    "GOMP_parallel",
    "GOMP_parallel_start",
];

/// The OpenMP runtimes themselves name these functions too.
const RUNTIMES: [&str; 3] = ["libomp", "libgomp", "libiomp"];

/// An object with such parts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Foreign {
    pub(crate) file: PathBuf,
    /// By which function it forks threads.
    pub(crate) fork: Option<&'static str>,
    /// The first source file that was left as it was.
    pub(crate) left_alone: Option<String>,
    pub(crate) is_executable: bool,
}

/// The objects of this process with such parts.
pub(crate) fn find() -> Vec<Foreign> {
    loaded_files()
        .into_iter()
        .filter(|file| !is_runtime(file))
        .filter_map(|file| {
            let is_executable = file == Path::new("/proc/self/exe");
            let bytes = std::fs::read(&file).ok()?;
            let object = object::File::parse(&*bytes).ok()?;
            let (fork, left_alone) = (fork_used_in(&object), left_alone_in(&object));
            if fork.is_none() && left_alone.is_none() {
                return None;
            }
            let file = if is_executable {
                std::env::current_exe().unwrap_or(file)
            } else {
                file
            };
            Some(Foreign {
                file,
                fork,
                left_alone,
                is_executable,
            })
        })
        .collect()
}

fn is_runtime(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    RUNTIMES.iter().any(|runtime| name.starts_with(runtime))
}

fn left_alone_in(object: &object::File) -> Option<String> {
    let section = object.section_by_name(LEFT_ALONE_SECTION)?;
    let names = section.data().ok()?;
    let mut names = names.split(|&byte| byte == 0);
    let name = names.find(|name| !name.is_empty())?;
    Some(String::from_utf8_lossy(name).into_owned())
}

/// The function by which the object forks threads.
fn fork_used_in(object: &object::File) -> Option<&'static str> {
    object
        .dynamic_symbols()
        .filter(ObjectSymbol::is_undefined)
        .find_map(|symbol| FORKS.into_iter().find(|&fork| symbol.name() == Ok(fork)))
}

/// Which of these functions of the run time parts of the program call.
pub(crate) fn are_used<const N: usize>(functions: [&str; N]) -> [bool; N] {
    let mut used = [false; N];
    for file in loaded_files() {
        let Ok(bytes) = std::fs::read(&file) else {
            continue;
        };
        let Ok(object) = object::File::parse(&*bytes) else {
            continue;
        };
        for symbol in object.dynamic_symbols().filter(ObjectSymbol::is_undefined) {
            for (used, function) in used.iter_mut().zip(functions) {
                *used |= symbol.name() == Ok(function);
            }
        }
    }
    used
}

/// The files of this process: the executable, and all libraries that are loaded now.
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
