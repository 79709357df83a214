//! The layers of this library are those of the table in `ARCHITECTURE.md`, and hold.

use okl_testing::layers::Library;

#[test]
fn the_layers_of_the_table_hold() {
    let open_mp = [
        "api", "atomics", "cancel", "doacross", "flags", "fortran", "locks", "loops", "ordered",
        "sync", "tasks", "team", "threads", "waiting",
    ];
    let library = Library {
        folder: env!("CARGO_MANIFEST_DIR"),
        name: "runtime-shims/mpi/src",
        circles: &[&open_mp],
        not_below: &["okl_job::mpi", "okl_job::{", "okl_job::launcher"],
    };
    library.check();
}
