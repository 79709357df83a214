//! The object that calls MPI: which file it is, and whether it is of this version of okl.

pub mod functions;

use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::opened::{Opened, own_folder};
use functions::{Functions, SYMBOL, VERSION};

/// The variable that names another file than [`FILE`].
pub(crate) const CHOICE: &str = "OKL_MPI";

/// The object, in the folder of the run time that asks for it.
const FILE: &str = "libokl_job_mpi.so";

static FUNCTIONS: OnceLock<&'static Functions> = OnceLock::new();

pub(crate) fn mpi() -> &'static Functions {
    FUNCTIONS.get().expect("MPI has been loaded")
}

/// Opens the object, if it is not open. An error says why it cannot be, and what to do.
pub fn load() -> Result<(), String> {
    if FUNCTIONS.get().is_some() {
        return Ok(());
    }
    let functions = find(std::env::var_os(CHOICE))?;
    let _ = FUNCTIONS.set(functions);
    Ok(())
}

/// The functions of the file that is `chosen`, or of the one beside this library; where there is none, of the one that the
/// system finds by its name.
fn find(chosen: Option<OsString>) -> Result<&'static Functions, String> {
    let chosen = chosen.filter(|file| !file.is_empty());
    let is_chosen = chosen.is_some();
    // A name without a folder is a file too, as it is for `okl-run`.
    let file = chosen.map_or_else(
        || own_folder().join(FILE),
        |file| std::path::absolute(&file).unwrap_or(PathBuf::from(file)),
    );
    let opened = match open(&file) {
        Err(why) if !is_chosen && !file.exists() => open(Path::new(FILE)).map_err(|_| why),
        opened => opened,
    };
    opened.map_err(|why| {
        format!(
            "ranks need MPI, which okl calls through {}: {why}; install okl again, or name one that is built for \
             your MPI with {CHOICE}=FILE",
            file.display()
        )
    })
}

fn open(file: &Path) -> Result<&'static Functions, String> {
    let name = CString::new(file.as_os_str().as_bytes()).map_err(|why| why.to_string())?;
    // What MPI loads itself looks for MPI's functions there.
    let library = Opened::for_all(&name)?;
    library
        .require_this_mpi()
        .map_err(|_| "the program calls another MPI".to_owned())?;
    // SAFETY: the table begins with a word in all versions, and is a constant of a library that stays open.
    let table = unsafe {
        let table = library.symbol::<*const Functions>(SYMBOL).ok();
        table.filter(|&table| is_of_this_version(table.cast()))
    };
    let table = table.ok_or("it is not of this version of okl")?;
    // SAFETY: as above.
    Ok(unsafe { &*table })
}

/// Whether what stands behind a table's first word is what [`Functions`] says.
///
/// # Safety
/// There is a word.
unsafe fn is_of_this_version(first: *const u64) -> bool {
    // SAFETY: the caller's promise; whoever has made the object may have placed it anywhere.
    unsafe { first.read_unaligned() == VERSION }
}

#[cfg(test)]
pub(crate) fn load_for_tests(functions: &'static Functions) {
    let _ = FUNCTIONS.set(functions);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_another_version_is_refused() {
        for (word, is_ours) in [(VERSION, true), (VERSION + 1, false), (1, false)] {
            // SAFETY: a word.
            assert_eq!(unsafe { is_of_this_version(&word) }, is_ours);
        }
    }

    #[test]
    fn what_is_wrong_with_a_file_is_told_with_its_whole_name() {
        let here = std::env::current_dir().unwrap();
        let why = find(Some("okl-none.so".into())).err().unwrap();
        let file = here.join("okl-none.so");
        let file = file.display();
        let head = format!("ranks need MPI, which okl calls through {file}: {file}: cannot open");
        assert!(why.starts_with(&head), "{why}");
        assert!(why.ends_with("with OKL_MPI=FILE"), "{why}");
    }

    #[test]
    fn the_object_is_looked_for_beside_this_code() {
        let program = std::env::current_exe().unwrap().canonicalize().unwrap();
        assert_eq!(own_folder(), program.parent().unwrap());
    }
}
