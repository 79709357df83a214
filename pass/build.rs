//! Compiles the C++ shim against LLVM's headers and checks that they are of the version the crate
//! is written for.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::process::Command;

const MAJOR: u32 = 22;

fn main() {
    // The same look-up rule as llvm-sys.
    let prefix_variable = format!("LLVM_SYS_{MAJOR}1_PREFIX");
    println!("cargo:rerun-if-env-changed={prefix_variable}");
    let config = match std::env::var(&prefix_variable) {
        Ok(prefix) => format!("{prefix}/bin/llvm-config"),
        Err(_) => format!("llvm-config-{MAJOR}"),
    };
    let version = ask(&config, "--version");
    assert!(
        version.starts_with(&format!("{MAJOR}.")),
        "{config} is LLVM {version}; okl-pass needs LLVM {MAJOR}"
    );

    // The parts of `attributes` that the driver does not see.
    println!("cargo::rustc-check-cfg=cfg(okl_pass)");
    println!("cargo::rustc-cfg=okl_pass");
    println!("cargo:rerun-if-changed=cxx");
    // Clippy has a build script of its own, and links nothing.
    if cfg!(clippy) {
        return;
    }
    // LLVM symbols stay undefined: they bind to the compiler that loads the plugin. Only unit tests link the library.
    let libraries = ask(&config, "--libdir");
    println!("cargo:rustc-link-search=native={libraries}");
    // One unit: most of the time goes into LLVM's headers, which all of them include.
    let files = [
        "shim",
        "stages",
        "code",
        "copies",
        "device",
        "expressions",
        "extract",
        "kernels",
        "jit",
        "ptxas",
        "retarget",
        "vectors",
    ];
    let unit = PathBuf::from(std::env::var("OUT_DIR").expect("cargo sets it")).join("okl_shim.cpp");
    let text: String = files
        .iter()
        .map(|name| format!("#include \"{name}.cpp\"\n"))
        .collect();
    fs::write(&unit, text).expect("the build's folder can be written");
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++17")
        .opt_level(2)
        .include("cxx")
        .flag("-isystem")
        .flag(ask(&config, "--includedir"))
        .flag("-fno-rtti")
        .flag("-fno-exceptions")
        .flag_if_supported("-fvisibility=hidden")
        // What debuggers are told of LLVM's headers is a hundred times as large as the code.
        .flag_if_supported("-g1")
        .file(unit);
    compile_once(&build, &version);
}

/// Compiles it, where that was not done before: profiles and features of Rust's have a build script each, and the same C++.
fn compile_once(build: &cc::Build, version: &str) {
    let own = PathBuf::from(std::env::var("OUT_DIR").expect("cargo sets it"));
    let mut hash = DefaultHasher::new();
    let compiler = build.get_compiler();
    (version, compiler.path(), compiler.args()).hash(&mut hash);
    let mut sources: Vec<_> = fs::read_dir("cxx")
        .expect("it is there")
        .flatten()
        .collect();
    sources.sort_by_key(|one| one.file_name());
    for one in sources {
        fs::read(one.path())
            .expect("it can be read")
            .hash(&mut hash);
    }
    let (archive, name) = (
        own.join("libokl_shim.a"),
        format!("okl-shim-{:016x}.a", hash.finish()),
    );
    let kept = own.ancestors().nth(2).expect("cargo's folder").join(name);
    if fs::copy(&kept, &archive).is_ok() {
        println!("cargo:rustc-link-lib=static=okl_shim");
        println!("cargo:rustc-link-search=native={}", own.display());
        println!("cargo:rustc-link-lib=stdc++");
        return;
    }
    build.compile("okl_shim");
    // Another one may do so now: nobody sees half of it.
    let new = own.join("okl_shim.new");
    if fs::copy(&archive, &new).is_ok() {
        let _ = fs::rename(&new, &kept);
    }
}

fn ask(config: &str, question: &str) -> String {
    let output = Command::new(config)
        .arg(question)
        .output()
        .unwrap_or_else(|e| panic!("cannot run {config} ({e}); install llvm-{MAJOR}-dev"));
    String::from_utf8_lossy(&output.stdout).trim().to_string()
}
