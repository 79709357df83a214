//! Where the plugin, the libraries, the headers and the compiler are.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::language::Language;

/// LLVM's version, which the plugin is for.
const LLVM: &str = "22";
const PLUGIN: &str = "libokl_pass.so";
const MPI: &str = "okl_mpi";
/// The run-time libraries. A program gets those that it needs.
const LIBRARIES: [&str; 3] = [MPI, "okl_op2", "okl_cpu"];
const LINK_FOLDER: &str = "okl-link";
/// The folders of headers: where they are installed below `include/okl`, and in the sources below `runtime-shims`.
const HEADERS: [(&str, &str); 2] = [("op2", "op2/include"), ("okl", "okl/include")];
/// What is read before each OKL input.
pub(crate) const IMPLICIT: &str = "okl_implicit.hpp";
/// Where the loader looks by itself.
const LOADER_LOOKS_IN: [&str; 4] = ["/lib", "/usr/lib", "/lib64", "/usr/lib64"];

/// An installed prefix, or a build folder.
#[derive(Debug)]
pub struct Installation {
    /// The folder of the plugin and the run-time libraries.
    pub libraries: PathBuf,
    /// The folders of OP2's and OKL's headers that are there.
    pub headers: Vec<PathBuf>,
}

impl Installation {
    /// Looks beside this program and in the `lib` beside its folder.
    pub fn find() -> Result<Installation, String> {
        let program = env::current_exe()
            .and_then(|path| path.canonicalize())
            .map_err(|error| format!("cannot tell where this program is: {error}"))?;
        let beside = program.parent().unwrap_or(Path::new("/"));
        let prefix = beside.parent().unwrap_or(Path::new("/"));
        let installed = prefix.join("lib");
        if installed.join(PLUGIN).is_file() {
            let folder = prefix.join("include/okl");
            return Ok(Installation {
                libraries: installed,
                headers: HEADERS
                    .map(|(name, _)| folder.join(name))
                    .into_iter()
                    .filter(|one| one.is_dir())
                    .collect(),
            });
        }
        if beside.join(PLUGIN).is_file() {
            let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime-shims");
            return Ok(Installation {
                libraries: beside.to_owned(),
                headers: HEADERS
                    .iter()
                    .filter_map(|(_, folder)| sources.join(folder).canonicalize().ok())
                    .collect(),
            });
        }
        let places = format!(
            "{PLUGIN}, in {} or {},",
            installed.display(),
            beside.display()
        );
        Err(missing(Path::new(&places)))
    }

    /// The plugin.
    pub fn plugin(&self) -> PathBuf {
        self.libraries.join(PLUGIN)
    }

    /// The folders in which a linker finds the run-time libraries, and their names. That of OpenMP comes from
    /// a folder of its own: see `build.rs`.
    pub fn runtimes(&self) -> Result<([PathBuf; 2], Vec<&'static str>), String> {
        let folders = [self.libraries.join(LINK_FOLDER), self.libraries.clone()];
        let file = |folder: &Path, name: &str| folder.join(format!("lib{name}.so"));
        let is_there = |name: &str| file(&self.libraries, name).is_file();
        let names: Vec<_> = LIBRARIES.into_iter().filter(|one| is_there(one)).collect();
        if names.is_empty() {
            return Err(missing(&file(&self.libraries, MPI)));
        }
        let linked = file(&folders[0], MPI);
        if is_there(MPI) && !linked.is_file() {
            return Err(missing(&linked));
        }
        Ok((folders, names))
    }

    /// Says so if what OKL inputs need is not there.
    pub fn require_okl_headers(&self) -> Result<(), String> {
        let is_there = |folder: &PathBuf| folder.join(IMPLICIT).is_file();
        match self.headers.iter().any(is_there) {
            true => Ok(()),
            false => Err(missing(Path::new(IMPLICIT))),
        }
    }

    /// Whether a program has to be told where the libraries are.
    pub fn needs_rpath(&self) -> bool {
        !LOADER_LOOKS_IN
            .iter()
            .any(|one| self.libraries == Path::new(one))
    }
}

fn missing(what: &Path) -> String {
    format!(
        "{} is missing: install okl again (./scripts/install --prefix DIR), or build it (cargo build --release)",
        what.display()
    )
}

/// The compiler, and what it has to be told first.
pub fn compiler(language: &Language) -> Result<(PathBuf, Option<&'static str>), String> {
    if let Some(named) = env::var_os(language.variable).filter(|named| !named.is_empty()) {
        return match in_path(&named) {
            Some(path) => Ok((path, language.mode)),
            None => Err(format!(
                "{}={}: there is no such program",
                language.variable,
                named.to_string_lossy()
            )),
        };
    }
    let [versioned, plain] = language.compilers;
    let own_folder = format!("/usr/lib/llvm-{LLVM}/bin/{plain}");
    let found = in_path(&versioned.into())
        .or_else(|| in_path(&own_folder.clone().into()))
        .or_else(|| in_path(&plain.into()).filter(|path| is_of_version(path)));
    found.map(|path| (path, None)).ok_or_else(|| {
        format!(
            "no {plain} {LLVM}: there is neither {versioned} nor {plain} of that version in PATH, nor \
             {own_folder}; install it (Debian: apt-get install {}), or set {} to it",
            language.package, language.variable
        )
    })
}

/// The folder of the compiler's OpenMP run time, if it is there.
pub fn openmp(compiler: &Path) -> Option<PathBuf> {
    beside(compiler, "lib", "libomp.so")
}

/// The folder of the compiler's interfaces of OpenMP, where it has to be told and they are there.
pub fn interfaces(language: &Language, compiler: &Path) -> Option<PathBuf> {
    let [folder, file] = language.interfaces?;
    beside(compiler, folder, file)
}

/// A folder below the compiler's prefix, if it has the file.
fn beside(compiler: &Path, folder: &str, file: &str) -> Option<PathBuf> {
    let compiler = compiler.canonicalize().ok()?;
    let folder = compiler.parent()?.parent()?.join(folder);
    folder.join(file).is_file().then_some(folder)
}

/// A program by its path, or by its name in `PATH`.
pub(crate) fn in_path(name: &OsString) -> Option<PathBuf> {
    let is_program = |path: &Path| {
        use std::os::unix::fs::PermissionsExt;
        path.metadata()
            .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    let path = Path::new(name);
    if path.components().count() > 1 {
        return is_program(path).then(|| path.to_owned());
    }
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders)
        .map(|folder| folder.join(path))
        .find(|path| is_program(path))
}

fn is_of_version(compiler: &Path) -> bool {
    let output = Command::new(compiler).arg("-dumpversion").output();
    output
        .is_ok_and(|output| String::from_utf8_lossy(&output.stdout).split('.').next() == Some(LLVM))
}
