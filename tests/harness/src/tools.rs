//! Where the compiler, the plugin and the runtime are.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use crate::Common;

/// Paths every mode needs.
pub(crate) struct Tools {
    /// LLVM 22's programs, among them FileCheck.
    llvm_bin: PathBuf,
    /// `libokl_pass.so`.
    pub(crate) plugin: PathBuf,
    /// Folder of the run-time libraries.
    pub(crate) runtime_dir: PathBuf,
    /// Folder of `op_seq.h`.
    pub(crate) op2_include: PathBuf,
}

impl Tools {
    /// Finds LLVM through llvm-config-22 and our libraries in `--build-dir`.
    pub(crate) fn find(common: &Common) -> Result<Self, String> {
        let output = Command::new("llvm-config-22")
            .arg("--bindir")
            .output()
            .map_err(|error| format!("cannot run llvm-config-22: {error}"))?;
        if !output.status.success() {
            return Err(format!("llvm-config-22 --bindir: {}", output.status));
        }
        let llvm_bin = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        let build_dir = match &common.build_dir {
            Some(dir) => dir.canonicalize(),
            None => std::env::current_exe().map(|exe| exe.parent().unwrap().to_owned()),
        }
        .map_err(|error| format!("build folder: {error}"))?;
        Ok(Self {
            llvm_bin,
            plugin: build_dir.join("libokl_pass.so"),
            runtime_dir: build_dir,
            op2_include: Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../../runtime-shims/op2/include"),
        })
    }

    /// Says so if the plugin or the runtime has not been built.
    pub(crate) fn require_libraries(&self) -> Result<(), String> {
        let runtimes = ["mpi", "op2", "cpu", "job_mpi"]
            .map(|name| self.runtime_dir.join(format!("libokl_{name}.so")));
        for library in runtimes.iter().chain([&self.plugin]) {
            if !library.is_file() {
                return Err(format!(
                    "{} is missing: run cargo build --release or give --build-dir",
                    library.display()
                ));
            }
        }
        Ok(())
    }

    /// `$PATH` with LLVM's programs first.
    pub(crate) fn path(&self) -> OsString {
        let mut path = self.llvm_bin.clone().into_os_string();
        if let Some(rest) = std::env::var_os("PATH") {
            path.push(":");
            path.push(rest);
        }
        path
    }

    /// The first of `names`, of commands and libraries, and of `libdevice`, that a test requires in vain.
    pub(crate) fn missing<'a>(&self, names: &'a [String]) -> Option<&'a str> {
        let is_missing = |name: &&String| match name.as_str() {
            "libdevice" => libdevice().is_none(),
            _ => missing(std::slice::from_ref(*name), &self.path()).is_some(),
        };
        names.iter().find(is_missing).map(String::as_str)
    }

    /// The compiler of a language.
    pub(crate) fn compiler(&self, language: Language) -> Command {
        match language {
            Language::Okl => self.driver(language.compiler()),
            _ => Command::new(self.llvm_bin.join(language.compiler())),
        }
    }

    /// One of our drivers.
    pub(crate) fn driver(&self, name: &str) -> Command {
        Command::new(self.runtime_dir.join(name))
    }

    /// Compiles a shared library of equipment for tests, whose source is below the harness's folder.
    pub(crate) fn library(&self, source: &str, to: &Path) -> Result<(), String> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
        let mut compile = self.compiler(Language::C);
        compile.args(["-shared", "-fPIC", "-O1"]).arg(source);
        compile.arg("-o").arg(to);
        match compile.output() {
            Ok(done) if done.status.success() => Ok(()),
            Ok(done) => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Why files of a language cannot be compiled here.
    pub(crate) fn lacks(&self, language: Language) -> Option<String> {
        let compiler = language.compiler();
        let missing = !self.llvm_bin.join(compiler).is_file();
        (language == Language::Fortran && missing).then(|| format!("{compiler}-22 is missing"))
    }
}

/// NVIDIA's functions for devices: what `scripts/nvidia-tools` has installed, or else a CUDA toolkit.
pub(crate) fn libdevice() -> Option<PathBuf> {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build/nvidia/nvidia/cuda_nvcc");
    let named = ["CUDA_PATH", "CUDA_HOME"].map(std::env::var_os);
    let folders = [tools]
        .into_iter()
        .chain(named.into_iter().flatten().map(PathBuf::from))
        .chain([PathBuf::from("/usr/local/cuda")]);
    let mut files = folders.map(|folder| folder.join("nvvm/libdevice/libdevice.10.bc"));
    files.find(|file| file.is_file())
}

/// The first of `names` that this machine lacks. One that begins with `lib` is a library, of any
/// version, another one a command on `path`.
pub(crate) fn missing<'a>(names: &'a [String], path: &OsStr) -> Option<&'a str> {
    let found = |name: &str| match name.starts_with("lib") {
        true => LIBRARIES
            .lines()
            .any(|line| line.trim_start().starts_with(name)),
        false => std::env::split_paths(path).any(|folder| folder.join(name).is_file()),
    };
    names.iter().map(String::as_str).find(|name| !found(name))
}

/// What the loader finds, one library in a line.
static LIBRARIES: LazyLock<String> = LazyLock::new(|| {
    let list = |program| Command::new(program).arg("-p").output();
    list("ldconfig")
        .or_else(|_| list("/sbin/ldconfig"))
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default()
});

/// A language of test programs, in the order in which one's compiler links files of those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Language {
    C,
    Okl,
    Cxx,
    Fortran,
}

impl Language {
    /// By the file's extension.
    pub(crate) fn of(file: &Path) -> Option<Self> {
        match file.extension()?.to_str()? {
            "c" => Some(Self::C),
            "okl" => Some(Self::Okl),
            "cpp" => Some(Self::Cxx),
            "f90" | "F90" | "F" => Some(Self::Fortran),
            _ => None,
        }
    }

    /// What links a program of these files, and what else it needs: flang does not know of the C++ library.
    pub(crate) fn linker(files: &[PathBuf]) -> (Self, &'static [&'static str]) {
        let languages: Vec<_> = files.iter().filter_map(|file| Self::of(file)).collect();
        let last = match languages.iter().copied().max() {
            Some(Self::Okl) => Self::Cxx,
            last => last.unwrap_or(Self::C),
        };
        let with_cxx = last == Self::Fortran && languages.contains(&Self::Cxx);
        (last, if with_cxx { &["-lstdc++"] } else { &[] })
    }

    fn compiler(self) -> &'static str {
        match self {
            Self::C => "clang",
            Self::Okl => "okl-c++",
            Self::Cxx => "clang++",
            Self::Fortran => "flang",
        }
    }
}

/// A source file by its extension.
pub(crate) fn is_source(file: &Path) -> bool {
    Language::of(file).is_some()
}
