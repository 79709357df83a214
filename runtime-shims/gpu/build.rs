//! Has the library stay where a host program closes the last object with kernels: blocks of its heap and pages that it
//! watches outlive them.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
