//! Compiles the C++ shim against LLVM's headers and checks that they are of the version the crate
//! is written for.

use std::fs;
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
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .include("cxx")
        .flag("-isystem")
        .flag(ask(&config, "--includedir"))
        .flag("-fno-rtti")
        .flag("-fno-exceptions")
        .flag_if_supported("-fvisibility=hidden")
        .file(unit)
        .compile("okl_shim");
}

fn ask(config: &str, question: &str) -> String {
    let output = Command::new(config)
        .arg(question)
        .output()
        .unwrap_or_else(|e| panic!("cannot run {config} ({e}); install llvm-{MAJOR}-dev"));
    String::from_utf8_lossy(&output.stdout).trim().to_string()
}
