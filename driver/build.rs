//! Cargo cannot name a program `okl-c++`. It is `okl-cc`, which looks at its own name: in the build
//! folder a link beside it.

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // OUT_DIR is PROFILE/build/PACKAGE-HASH/out.
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let Some(profile) = Path::new(&out).ancestors().nth(3) else {
        return;
    };
    let link = profile.join("okl-c++");
    if fs::symlink_metadata(&link).is_err()
        && let Err(error) = std::os::unix::fs::symlink("okl-cc", &link)
    {
        println!("cargo::warning={}: {error}", link.display());
    }
}
