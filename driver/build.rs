//! Makes what lies beside `okl-cc` in the build folder.
//!
//! - `okl-c++`, which cargo cannot name, and `okl-fc`: they are `okl-cc`, which looks at its own name.
//! - `okl-link/libokl_mpi.so` and `libokl_gpu.so`, which programs are linked with: they have the names of the
//!   run-time libraries and the functions of the lists, and nothing else. The libraries themselves also have
//!   the C library's functions that they see to (`malloc`, `read`, ...), and every program refers to one of
//!   these: linkers would take them to be needed by all. When a program starts, the loader takes the libraries
//!   themselves.

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

    let folder = profile.join("okl-link");
    fs::create_dir_all(&folder).expect("the build folder can be written");
    let of_openmp = okl_abi::ALL.iter().map(|one| one.name);
    let plain = okl_abi::PLAIN_FORKS.map(|(_, name)| name);
    link_with(&folder, out, "libokl_mpi.so", of_openmp.chain(plain));
    let of_kernels = okl_abi::gpu::ALL.iter().map(|one| one.name);
    link_with(
        &folder,
        out,
        "libokl_gpu.so",
        of_kernels.chain(DEVICE_MEMORY),
    );
    println!("cargo::rerun-if-env-changed=CC");
}

/// What `okl_device.h` declares.
const DEVICE_MEMORY: [&str; 4] = ["okl_malloc", "okl_free", "okl_copy", "okl_sync"];

/// Makes the library of that name in `folder`, with these functions.
fn link_with(folder: &Path, out: &Path, library: &str, names: impl Iterator<Item = &'static str>) {
    let source = out.join(library).with_extension("c");
    let functions = names.map(|name| format!("void {name}(void) {{}}\n"));
    fs::write(&source, functions.collect::<String>()).expect("OUT_DIR can be written");
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_string());
    let mut words = compiler.split_whitespace();
    let status = Command::new(words.next().unwrap_or("cc"))
        .args(words)
        .args(["-shared", "-fPIC", "-nostdlib"])
        .arg(format!("-Wl,-soname,{library}"))
        .arg("-o")
        .arg(folder.join(library))
        .arg(&source)
        .status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "{compiler} cannot make {library}"
    );
}
