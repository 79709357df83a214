//! The layers of this library are those of the table in `ARCHITECTURE.md`, and hold.

use okl_testing::layers::Library;

#[test]
fn the_layers_of_the_table_hold() {
    let library = Library {
        folder: env!("CARGO_MANIFEST_DIR"),
        name: "runtime-shims/gpu/src",
        circles: &[],
        not_below: &["okl_abi", "okl_job", "okl_versions", "libc"],
    };
    library.check();
}
