//! Start and end of an OP2 program, and its command line.

use std::{
    ffi::{c_char, c_int, c_void},
    sync::atomic::Ordering::Relaxed,
};

use crate::{
    backend, choice, conflicts, distribute, foreign_loops, job, lazy, local, mesh, offload, packed,
    plan,
    report::{fatal, text},
    settings, staged, times, waiting,
};

/// The number behind `NAME=`, wherever it stands in `argument`.
fn number(argument: &str, name: &str) -> Option<i32> {
    let (_, value) = argument.split_once(name)?;
    match value.parse() {
        Ok(number) => Some(number),
        Err(_) => fatal(&format!("{argument}: {name} needs a whole number")),
    }
}

fn read_command_line(arguments: &[&str]) {
    for argument in arguments {
        if let Some(size) = number(argument, "OP_PART_SIZE=") {
            settings::PART_SIZE.store(size, Relaxed);
        }
        if let Some(size) = number(argument, "OP_BLOCK_SIZE=") {
            settings::BLOCK_SIZE.store(size, Relaxed);
        }
        if let Some(base) = number(argument, "OP_MAPS_BASE_INDEX=") {
            if !(0..=1).contains(&base) {
                fatal(&format!("{argument}: maps count from 0 or from 1"));
            }
            mesh::set_maps_base_index(base);
        }
        if argument.contains("OP_NO_REALLOC") {
            settings::KEEPS_USER_MEMORY.store(true, Relaxed);
        }
        if argument.contains("OP_AUTO_SOA") {
            settings::AUTO_SOA.store(1, Relaxed);
        }
    }
}

/// Begins. `diagnostics`: 0 silence, 2 or more what is declared, elements that write the same and
/// loops that need the whole mesh on each rank, 3 or more every loop.
///
/// # Safety
/// `arguments` are `count` strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_init(
    count: c_int,
    arguments: *const *const c_char,
    diagnostics: c_int,
) {
    // SAFETY: the caller's promise.
    unsafe { begin(count, arguments, diagnostics, None) };
}

/// # Safety
/// See [`op_init`].
unsafe fn begin(
    count: c_int,
    arguments: *const *const c_char,
    diagnostics: c_int,
    given: Option<job::Given>,
) {
    let begins_again = settings::start();
    if begins_again {
        times::clear();
    }
    settings::DIAGNOSTICS.store(diagnostics, Relaxed);
    // SAFETY: the caller's promise.
    let arguments: Vec<_> = (0..count as usize)
        .map(|at| unsafe { text(*arguments.add(at)) })
        .collect();
    read_command_line(&arguments);
    if std::env::var_os("OP_AUTO_SOA").is_some() {
        settings::AUTO_SOA.store(1, Relaxed);
    }
    backend::start(given, begins_again);
    distribute::start();
    lazy::start();
}

/// The same; where `soa` is not 0, data are stored component by component.
///
/// # Safety
/// See [`op_init`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_init_soa(
    count: c_int,
    arguments: *const *const c_char,
    diagnostics: c_int,
    soa: c_int,
) {
    // SAFETY: the caller's promise.
    unsafe { op_init(count, arguments, diagnostics) };
    ask_for_soa(soa);
}

/// What the environment asks for, the program does not take back.
fn ask_for_soa(soa: c_int) {
    if soa != 0 {
        settings::AUTO_SOA.store(1, Relaxed);
    }
}

/// Begins on the ranks of the communicator with the number `local` in Fortran, when MPI has begun; the others of `global`
/// do something else, and do not call it. Sizes are those of each rank's part.
///
/// # Safety
/// See [`op_init`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_mpi_init(
    count: c_int,
    arguments: *const *const c_char,
    diagnostics: c_int,
    global: c_int,
    local: c_int,
) {
    if !job::is_initialised() {
        fatal("op_mpi_init: MPI has not begun, so that there are no communicators");
    }
    local::okl_op2_sizes_are_local();
    // SAFETY: the caller's promise.
    unsafe {
        begin(
            count,
            arguments,
            diagnostics,
            Some(job::Given { local, global }),
        )
    };
}

/// The same; see [`op_init_soa`].
///
/// # Safety
/// See [`op_init`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_mpi_init_soa(
    count: c_int,
    arguments: *const *const c_char,
    diagnostics: c_int,
    global: c_int,
    local: c_int,
    soa: c_int,
) {
    // SAFETY: the caller's promise.
    unsafe { op_mpi_init(count, arguments, diagnostics, global, local) };
    ask_for_soa(soa);
}

/// Ends: frees all that is declared, and leaves the job. A program that has joined none may begin again.
#[unsafe(no_mangle)]
pub extern "C" fn op_exit() {
    settings::require_start("op_exit");
    waiting::run_for("op_exit");
    lazy::end();
    foreign_loops::require_end();
    plan::clear();
    staged::clear();
    offload::clear();
    packed::clear();
    conflicts::clear();
    distribute::clear();
    mesh::mesh().clear();
    choice::clear();
    settings::end();
    job::finalize();
}

/// The rank of this process.
///
/// # Safety
/// `rank` is a variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_rank(rank: *mut c_int) {
    // SAFETY: the caller's promise.
    unsafe { *rank = job::rank() as c_int };
}

/// Waits for all processes.
#[unsafe(no_mangle)]
pub extern "C" fn op_barrier() {
    waiting::run_for("op_barrier");
    settings::require_start_with_others("op_barrier");
    job::barrier();
}

/// The same by the name that it has in OP2's MPI library.
#[unsafe(no_mangle)]
pub extern "C" fn op_mpi_barrier() {
    waiting::run_for("op_mpi_barrier");
    settings::require_start_with_others("op_mpi_barrier");
    job::barrier();
}

/// Frees the plans of all loops: they are made again where they are needed.
#[unsafe(no_mangle)]
pub extern "C" fn op_rt_exit() {
    waiting::run_for("op_rt_exit");
    plan::clear();
    staged::clear();
}

/// There is no device: the host's data are the data.
#[unsafe(no_mangle)]
pub extern "C" fn op_upload_all() {}

/// See [`op_upload_all`].
#[unsafe(no_mangle)]
pub extern "C" fn op_upload_dat(_dat: *mut c_void) {}

/// See [`op_upload_all`].
#[unsafe(no_mangle)]
pub extern "C" fn op_download_dat(_dat: *mut c_void) {
    waiting::run_for("op_download_dat");
}

/// See [`op_upload_all`].
#[unsafe(no_mangle)]
pub extern "C" fn op_disable_device_execution(_disable: bool) {}

/// See [`op_upload_all`].
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub extern "C" fn deviceSync() {}
