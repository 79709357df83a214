//! Start and end of an OP2 program, its command line, and memory.

use std::{
    ffi::{c_char, c_int, c_void},
    sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed},
};

use crate::{
    backend, conflicts, distribute, foreign_loops, job, local, mesh, plan,
    report::{fatal, text},
};

static STARTED: AtomicBool = AtomicBool::new(false);
static KEEPS_USER_MEMORY: AtomicBool = AtomicBool::new(false);

#[unsafe(export_name = "OP_diags")]
static DIAGNOSTICS: AtomicI32 = AtomicI32::new(0);
#[unsafe(export_name = "OP_part_size")]
static PART_SIZE: AtomicI32 = AtomicI32::new(0);
#[unsafe(export_name = "OP_block_size")]
static BLOCK_SIZE: AtomicI32 = AtomicI32::new(512);
#[unsafe(export_name = "OP_auto_soa")]
static AUTO_SOA: AtomicI32 = AtomicI32::new(0);

/// How much the program wants to be told: see `op_init`.
pub(crate) fn diagnostics() -> i32 {
    DIAGNOSTICS.load(Relaxed)
}

/// Elements of a block as the program asks for it; 0 where it does not.
pub(crate) fn part_size() -> usize {
    usize::try_from(PART_SIZE.load(Relaxed)).unwrap_or(0)
}

/// Whether all data of several components are to be stored component by component.
pub(crate) fn auto_soa() -> bool {
    AUTO_SOA.load(Relaxed) != 0
}

/// Whether the program asks for its data to stay where it has them.
pub(crate) fn asks_for_user_memory() -> bool {
    KEEPS_USER_MEMORY.load(Relaxed)
}

/// Whether they do: of several ranks each keeps its part of them.
pub(crate) fn keeps_user_memory() -> bool {
    asks_for_user_memory() && job::ranks() == 1
}

/// Ends the program if it calls `function` before `op_init`.
pub(crate) fn require_start(function: &str) {
    if !STARTED.load(Relaxed) {
        fatal(&format!("{function} is called before op_init"));
    }
}

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
            PART_SIZE.store(size, Relaxed);
        }
        if let Some(size) = number(argument, "OP_BLOCK_SIZE=") {
            BLOCK_SIZE.store(size, Relaxed);
        }
        if let Some(base) = number(argument, "OP_MAPS_BASE_INDEX=") {
            if !(0..=1).contains(&base) {
                fatal(&format!("{argument}: maps count from 0 or from 1"));
            }
            mesh::set_maps_base_index(base);
        }
        if argument.contains("OP_NO_REALLOC") {
            KEEPS_USER_MEMORY.store(true, Relaxed);
        }
        if argument.contains("OP_AUTO_SOA") {
            AUTO_SOA.store(1, Relaxed);
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
    if STARTED.swap(true, Relaxed) {
        fatal("op_init is called twice");
    }
    DIAGNOSTICS.store(diagnostics, Relaxed);
    // SAFETY: the caller's promise.
    let arguments: Vec<_> = (0..count as usize)
        .map(|at| unsafe { text(*arguments.add(at)) })
        .collect();
    read_command_line(&arguments);
    if std::env::var_os("OP_AUTO_SOA").is_some() {
        AUTO_SOA.store(1, Relaxed);
    }
    backend::start(given);
    distribute::start();
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
        AUTO_SOA.store(1, Relaxed);
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

/// Ends: frees all that is declared, and leaves the job.
#[unsafe(no_mangle)]
pub extern "C" fn op_exit() {
    require_start("op_exit");
    foreign_loops::require_end();
    plan::clear();
    conflicts::clear();
    distribute::clear();
    mesh::mesh().clear();
    STARTED.store(false, Relaxed);
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
    job::barrier();
}

/// The same by the name that it has in OP2's MPI library.
#[unsafe(no_mangle)]
pub extern "C" fn op_mpi_barrier() {
    job::barrier();
}

/// Frees the plans of all loops: they are made again where they are needed.
#[unsafe(no_mangle)]
pub extern "C" fn op_rt_exit() {
    plan::clear();
}

static COMBINES: AtomicBool = AtomicBool::new(true);

/// Whether ranks combine global arguments.
pub(crate) fn combines() -> bool {
    COMBINES.load(Relaxed)
}

/// From now on global arguments stay as each process has them, or do not.
#[unsafe(no_mangle)]
pub extern "C" fn op_disable_mpi_reductions(disable: bool) {
    COMBINES.store(!disable, Relaxed);
}

/// There is no device: the host's data are the data.
#[unsafe(no_mangle)]
pub extern "C" fn op_upload_all() {}

/// See [`op_upload_all`].
#[unsafe(no_mangle)]
pub extern "C" fn op_upload_dat(_dat: *mut c_void) {}

/// See [`op_upload_all`].
#[unsafe(no_mangle)]
pub extern "C" fn op_download_dat(_dat: *mut c_void) {}

/// See [`op_upload_all`].
#[unsafe(no_mangle)]
pub extern "C" fn op_disable_device_execution(_disable: bool) {}

/// See [`op_upload_all`].
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub extern "C" fn deviceSync() {}

/// `size` bytes at a multiple of 64, which `free` takes back. Works before `op_init`.
#[unsafe(no_mangle)]
pub extern "C" fn op_malloc(size: usize) -> *mut c_void {
    let mut memory = std::ptr::null_mut();
    // SAFETY: writes the address of new memory.
    if unsafe { libc::posix_memalign(&mut memory, 64, size) } != 0 {
        fatal(&format!("there is no memory for {size} bytes"));
    }
    memory
}

/// The same, all zero.
#[unsafe(no_mangle)]
pub extern "C" fn op_calloc(count: usize, size: usize) -> *mut c_void {
    let Some(size) = count.checked_mul(size) else {
        fatal(&format!(
            "there is no memory for {count} times {size} bytes"
        ));
    };
    let memory = op_malloc(size);
    // SAFETY: new memory of that size.
    unsafe { libc::memset(memory, 0, size) }
}

/// The same with what `memory` holds, which is freed.
///
/// # Safety
/// `memory` is null or comes from one of these functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_realloc(memory: *mut c_void, size: usize) -> *mut c_void {
    let new = op_malloc(size);
    if !memory.is_null() {
        // SAFETY: the caller's promise; no more is copied than both hold.
        unsafe {
            let held = libc::malloc_usable_size(memory);
            libc::memcpy(new, memory, held.min(size));
            libc::free(memory);
        }
    }
    new
}

/// The same as `op_malloc`; null for 0 bytes.
#[unsafe(no_mangle)]
pub extern "C" fn xmalloc(size: usize) -> *mut c_void {
    match size {
        0 => std::ptr::null_mut(),
        _ => op_malloc(size),
    }
}

/// The same as `op_calloc`; null for elements of 0 bytes.
#[unsafe(no_mangle)]
pub extern "C" fn xcalloc(count: usize, size: usize) -> *mut c_void {
    match size {
        0 => std::ptr::null_mut(),
        _ => op_calloc(count, size),
    }
}

/// The same as `op_realloc`; with 0 bytes it frees.
///
/// # Safety
/// See [`op_realloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn xrealloc(memory: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe {
        if size == 0 {
            op_free(memory);
            return std::ptr::null_mut();
        }
        op_realloc(memory, size)
    }
}

/// Frees it.
///
/// # Safety
/// As for `free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn op_free(memory: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { libc::free(memory) };
}
