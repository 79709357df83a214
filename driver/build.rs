//! Makes what lies beside `okl-cc` in the build folder.
//!
//! - `okl-c++`, which cargo cannot name, and `okl-fc`: they are `okl-cc`, which looks at its own name.
//! - `okl-link/libokl_mpi.so`, which programs are linked with: it has the name of the run-time library and
//!   the functions of the list, and nothing else. The library itself also has the C library's functions
//!   that it sees to (`malloc`, `read`, ...), and every program refers to one of these: linkers would take
//!   it to be needed by all. When a program starts, the loader takes the library itself.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The parts of `attributes` that are the pass's.
    println!("cargo::rustc-check-cfg=cfg(okl_pass)");
    // OUT_DIR is PROFILE/build/PACKAGE-HASH/out.
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let out = Path::new(&out);
    let profile = out
        .ancestors()
        .nth(3)
        .expect("OUT_DIR is four folders deep");

    for name in ["okl-c++", "okl-fc"] {
        let driver = profile.join(name);
        if fs::symlink_metadata(&driver).is_err()
            && let Err(error) = std::os::unix::fs::symlink("okl-cc", &driver)
        {
            println!("cargo::warning={}: {error}", driver.display());
        }
    }

    let source = out.join("functions.c");
    let names = okl_abi::ALL.iter().map(|one| one.name);
    let functions = names
        .chain(okl_abi::PLAIN_FORKS.map(|(_, name)| name))
        .map(|name| format!("void {name}(void) {{}}\n"));
    fs::write(&source, functions.collect::<String>()).expect("OUT_DIR can be written");
    let folder = profile.join("okl-link");
    fs::create_dir_all(&folder).expect("the build folder can be written");
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_string());
    let mut words = compiler.split_whitespace();
    let status = Command::new(words.next().unwrap_or("cc"))
        .args(words)
        .args([
            "-shared",
            "-fPIC",
            "-nostdlib",
            "-Wl,-soname,libokl_mpi.so",
            "-o",
        ])
        .arg(folder.join("libokl_mpi.so"))
        .arg(&source)
        .status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "{compiler} cannot make libokl_mpi.so"
    );
    println!("cargo::rerun-if-env-changed=CC");
}
