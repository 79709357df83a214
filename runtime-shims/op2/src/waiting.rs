//! Whether loops wait, and who runs them: whoever shows the program data, or changes what loops use, has that done before.

use std::sync::{
    OnceLock,
    atomic::{AtomicBool, Ordering::Relaxed},
};

static WAIT: AtomicBool = AtomicBool::new(false);
static RUN: OnceLock<fn(&str)> = OnceLock::new();

/// From now on loops wait, until `run` is called, which says that they do not any more.
pub(crate) fn begin(run: fn(&str)) {
    // It is always the same function.
    let _ = RUN.set(run);
    WAIT.store(true, Relaxed);
}

/// None waits any more.
pub(crate) fn end() {
    WAIT.store(false, Relaxed);
}

/// Loops that wait run now, as `function` of OP2's was called.
pub(crate) fn run_for(function: &str) {
    if WAIT.load(Relaxed)
        && let Some(run) = RUN.get()
    {
        run(function);
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    /// Functions of OP2's that see no data and change nothing that loops use.
    const OTHERS: &[&str] = &[
        "compare_sets",
        "compute_local_size",
        "deviceSync",
        "okl_mpi_plain_fork_call",
        "okl_mpi_plain_fork_teams",
        "okl_op2_sizes_are_local",
        "okl_op2_wrong_type",
        "op_arg_check",
        "op_arg_dat",
        "op_arg_gbl_char",
        "op_arg_idx",
        "op_arg_info_char",
        "op_calloc",
        "op_disable_device_execution",
        "op_disable_mpi_reductions",
        "op_free",
        "op_get_global_set_offset",
        "op_get_size",
        "op_halo_destroy",
        "op_init",
        "op_init_soa",
        "op_is_partitioned",
        "op_is_root",
        "op_malloc",
        "op_mpi_init",
        "op_mpi_init_soa",
        "op_mpi_perf_comms",
        "op_mpi_perf_time",
        "op_mpi_put_data",
        // In a loop, at whose beginning all have run.
        "op_mpi_set_dirtybit",
        "op_mpi_test_all",
        "op_mpi_wait_all",
        "op_opt_arg_dat",
        "op_opt_arg_gbl_char",
        "op_partition_destroy",
        "op_print",
        "op_printf",
        "op_rank",
        "op_realloc",
        "op_size_of_set",
        "op_timers_core",
        "op_type_equivalence",
        "op_upload_all",
        "op_upload_dat",
        "xcalloc",
        "xmalloc",
        "xrealloc",
    ];

    #[test]
    fn all_other_functions_have_loops_run() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let files = fs::read_dir(folder).expect("a folder");
        let files = files.map(|one| one.expect("an entry").path());
        let mut count = 0;
        // This file only names what begins such functions.
        let files = files.filter(|one| !one.ends_with("waiting.rs"));
        for file in files.filter(|one| one.extension().is_some_and(|one| one == "rs")) {
            let text = fs::read_to_string(&file).expect("a file");
            for (_, rest) in text
                .match_indices("#[unsafe(no_mangle)]")
                .map(|(at, found)| text.split_at(at + found.len()))
            {
                let function = rest.split("\n}").next().unwrap_or_default();
                let name = function.split(" fn ").nth(1).unwrap_or_default();
                let name = name.split('(').next().unwrap_or_default();
                if name.starts_with('$') || OTHERS.contains(&name) {
                    continue;
                }
                count += 1;
                assert!(
                    function.contains("waiting::run_for(\"op_"),
                    "{file:?}: {name}"
                );
            }
        }
        assert!(count > 40);
    }
}
