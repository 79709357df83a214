//! The layers of this library are those of the table in `ARCHITECTURE.md`, and hold.

use okl_testing::layers::Library;

#[test]
fn the_layers_of_the_table_hold() {
    let library = Library {
        folder: env!("CARGO_MANIFEST_DIR"),
        name: "runtime-shims/ptx-machine/src",
        circles: &[],
        not_below: &["libc"],
    };
    library.check();
}
