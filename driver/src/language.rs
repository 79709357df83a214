//! What differs between the drivers: one line of a table for each.

use std::ffi::OsStr;
use std::path::Path;

/// A driver and the compiler that it calls.
#[derive(Debug, PartialEq, Eq)]
pub struct Language {
    /// The name of the driver.
    pub driver: &'static str,
    /// The names of the compiler, the one that names its version first.
    pub compilers: [&'static str; 2],
    /// The environment variable that names another compiler.
    pub variable: &'static str,
    /// What that one has to be told, where the variable is for several languages.
    pub mode: Option<&'static str>,
    /// The option that hands the next word to the compiler proper, and to no assembler or linker.
    pub proper: &'static str,
    /// The options between which the compiler does not mind options that it has no use for.
    pub unused: Option<[&'static str; 2]>,
    /// Whether the headers of OP2 are for it.
    pub headers: bool,
    /// Where the compiler has interfaces of OpenMP that it does not find by itself, below its prefix, and one of them.
    pub interfaces: Option<[&'static str; 2]>,
    /// The package of Debian that has the compiler.
    pub package: &'static str,
}

/// The drivers; the first is what a program of another name is.
pub const LANGUAGES: [Language; 3] = [
    Language {
        driver: "okl-cc",
        compilers: ["clang-22", "clang"],
        variable: "OKL_CLANG",
        mode: None,
        proper: "-Xclang",
        unused: Some(["--start-no-unused-arguments", "--end-no-unused-arguments"]),
        headers: true,
        interfaces: None,
        package: "clang-22",
    },
    Language {
        driver: "okl-c++",
        compilers: ["clang++-22", "clang++"],
        variable: "OKL_CLANG",
        mode: Some("--driver-mode=g++"),
        proper: "-Xclang",
        unused: Some(["--start-no-unused-arguments", "--end-no-unused-arguments"]),
        headers: true,
        interfaces: None,
        package: "clang-22",
    },
    Language {
        driver: "okl-fc",
        compilers: ["flang-22", "flang"],
        variable: "OKL_FLANG",
        mode: None,
        proper: "-Xflang",
        unused: None,
        headers: false,
        interfaces: Some(["include/flang", "omp_lib.h"]),
        package: "flang-22",
    },
];

impl Language {
    /// The driver that a program of this name is.
    pub fn of_program(name: &OsStr) -> &'static Language {
        let name = Path::new(name).file_name().unwrap_or(name);
        let found = LANGUAGES.iter().find(|one| name == one.driver);
        found.unwrap_or(&LANGUAGES[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_what_its_name_says() {
        let driver = |name: &str| Language::of_program(OsStr::new(name)).driver;
        assert_eq!(driver("/opt/okl/bin/okl-c++"), "okl-c++");
        assert_eq!(driver("okl-cc"), "okl-cc");
        assert_eq!(driver("./okl-fc"), "okl-fc");
        assert_eq!(driver("cc"), "okl-cc");
    }
}
