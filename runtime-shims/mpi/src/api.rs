//! The OpenMP API that programs call themselves, locks, tasks and allocators apart, and the small
//! entry points that only note or report something.
//!
//! Guarantee: OpenMP 5.2's meaning for this machine: a team has at most `OMP_NUM_THREADS` threads per rank, regions
//! inside a region are teams of one, there is one league of one team, and there are no devices and no
//! places. A request beyond that is reduced to it, and the query functions tell the truth about it.

use std::{
    ffi::{CStr, c_char, c_void},
    io::Write as _,
};

use crate::{mpi_job, region, report, team, threads};

mod affinity;
mod environment;

pub(crate) use affinity::{
    okl_mpi_omp_capture_affinity, okl_mpi_omp_display_affinity, okl_mpi_omp_get_affinity_format,
    okl_mpi_omp_set_affinity_format,
};
pub(crate) use environment::Icv;

/// The most levels with more than one thread.
const SUPPORTED_ACTIVE_LEVELS: i32 = 1;
/// The device number of the machine the program runs on, and the number of other devices.
const INITIAL_DEVICE: i32 = 0;

const SCHEDULE_STATIC: i32 = 1;
const SCHEDULE_DYNAMIC: i32 = 2;
const SCHEDULE_GUIDED: i32 = 3;
const SCHEDULE_AUTO: i32 = 4;
/// The bit of `omp_sched_monotonic`.
const SCHEDULE_MONOTONIC: i32 = i32::MIN;

const SEVERITY_WARNING: i32 = 1;

/// Where a construct stands in the source, as `file:line`, from the `ident_t` the compiler passes.
///
/// # Safety
/// `ident` points to an `ident_t` or nowhere.
pub(crate) unsafe fn source_of(ident: *const c_void) -> String {
    /// libomp's `ident_t`.
    #[repr(C)]
    struct Ident {
        reserved: [i32; 4],
        source: *const c_char,
    }
    let unknown = || region::location().to_owned();
    let ident = ident.cast::<Ident>();
    if ident.is_null() {
        return unknown();
    }
    // SAFETY: the compiler's constant; its text is NUL-terminated.
    let text = unsafe {
        let source = (*ident).source;
        if source.is_null() {
            return unknown();
        }
        CStr::from_ptr(source).to_string_lossy()
    };
    place_in(&text).unwrap_or_else(unknown)
}

/// `file:line` from `;file;function;line;column;;`.
fn place_in(text: &str) -> Option<String> {
    let mut fields = text.split(';').skip(1);
    let file = fields.next()?;
    let line = fields.nth(1)?;
    let known = !file.is_empty() && file != "unknown" && line != "0";
    known.then(|| format!("{file}:{line}"))
}

/// `omp_set_num_threads`.
pub(crate) fn okl_mpi_omp_set_num_threads(threads: i32) {
    team::icv(|icv| icv.num_threads = threads.max(1));
}

/// `omp_get_num_threads`.
pub(crate) fn okl_mpi_omp_get_num_threads() -> i32 {
    team::num_threads()
}

/// `omp_get_max_threads`: the size of the next team, were it not nested. Many programs share work out
/// by this number, so it never exceeds what a team gets.
pub(crate) fn okl_mpi_omp_get_max_threads() -> i32 {
    team::icv(|icv| icv.most_threads(0, threads::most()))
}

/// `omp_get_thread_num`.
pub(crate) fn okl_mpi_omp_get_thread_num() -> i32 {
    team::thread_num()
}

/// `omp_get_num_procs`.
pub(crate) fn okl_mpi_omp_get_num_procs() -> i32 {
    threads::most()
}

/// `omp_in_parallel`.
pub(crate) fn okl_mpi_omp_in_parallel() -> i32 {
    i32::from(team::active_level() > 0)
}

/// `omp_set_dynamic`.
pub(crate) fn okl_mpi_omp_set_dynamic(dynamic: i32) {
    team::icv(|icv| icv.dynamic = i32::from(dynamic != 0));
}

/// `omp_get_dynamic`.
pub(crate) fn okl_mpi_omp_get_dynamic() -> i32 {
    team::icv(|icv| icv.dynamic)
}

/// `omp_set_nested`: no effect, since nested regions are teams of one.
pub(crate) fn okl_mpi_omp_set_nested(_nested: i32) {}

/// `omp_get_nested`.
pub(crate) fn okl_mpi_omp_get_nested() -> i32 {
    0
}

/// `omp_get_thread_limit`.
pub(crate) fn okl_mpi_omp_get_thread_limit() -> i32 {
    team::icv(|icv| icv.thread_limit_of(threads::most()))
}

/// `omp_get_supported_active_levels`.
pub(crate) fn okl_mpi_omp_get_supported_active_levels() -> i32 {
    SUPPORTED_ACTIVE_LEVELS
}

/// `omp_set_max_active_levels`: a negative number has no effect, one too large means the most.
pub(crate) fn okl_mpi_omp_set_max_active_levels(levels: i32) {
    if levels >= 0 {
        team::icv(|icv| icv.max_active_levels = levels.min(SUPPORTED_ACTIVE_LEVELS));
    }
}

/// `omp_get_max_active_levels`.
pub(crate) fn okl_mpi_omp_get_max_active_levels() -> i32 {
    team::icv(|icv| icv.max_active_levels)
}

/// `omp_get_level`.
pub(crate) fn okl_mpi_omp_get_level() -> i32 {
    team::level()
}

/// `omp_get_active_level`.
pub(crate) fn okl_mpi_omp_get_active_level() -> i32 {
    team::active_level()
}

/// `omp_get_ancestor_thread_num`: -1 outside `0..=omp_get_level()`.
pub(crate) fn okl_mpi_omp_get_ancestor_thread_num(level: i32) -> i32 {
    match level {
        0 => 0,
        _ if (0..=team::level()).contains(&level) => team::ancestor_thread_num(level),
        _ => -1,
    }
}

/// `omp_get_team_size`: -1 outside `0..=omp_get_level()`.
pub(crate) fn okl_mpi_omp_get_team_size(level: i32) -> i32 {
    match level {
        0 => 1,
        _ if (0..=team::level()).contains(&level) => team::team_size(level),
        _ => -1,
    }
}

/// A kind and chunk as `omp_set_schedule` and `OMP_SCHEDULE` leave them.
fn checked_schedule(kind: i32, chunk: i32) -> (i32, i32) {
    match kind & !SCHEDULE_MONOTONIC {
        SCHEDULE_STATIC => (kind, chunk.max(0)),
        SCHEDULE_DYNAMIC | SCHEDULE_GUIDED => (kind, chunk.max(1)),
        SCHEDULE_AUTO => (kind, 1),
        // A schedule of another implementation: any schedule is right.
        _ => (SCHEDULE_STATIC, 0),
    }
}

/// `omp_set_schedule`.
pub(crate) fn okl_mpi_omp_set_schedule(kind: i32, chunk: i32) {
    let (kind, chunk) = checked_schedule(kind, chunk);
    team::icv(|icv| (icv.schedule_kind, icv.schedule_chunk) = (kind, chunk));
}

/// `omp_get_schedule`.
///
/// # Safety
/// Both pointers lead to `i32` variables.
pub(crate) unsafe fn okl_mpi_omp_get_schedule(kind: *mut c_void, chunk: *mut c_void) {
    let found = team::icv(|icv| (icv.schedule_kind, icv.schedule_chunk));
    // SAFETY: the caller's variables.
    unsafe { (*kind.cast::<i32>(), *chunk.cast::<i32>()) = found };
}

/// `omp_get_proc_bind`: what `OMP_PROC_BIND` says. `mpirun` binds the ranks.
pub(crate) fn okl_mpi_omp_get_proc_bind() -> i32 {
    team::icv(|icv| icv.proc_bind)
}

/// `omp_get_num_places`.
pub(crate) fn okl_mpi_omp_get_num_places() -> i32 {
    0
}

/// `omp_get_place_num`.
pub(crate) fn okl_mpi_omp_get_place_num() -> i32 {
    -1
}

/// `omp_get_partition_num_places`.
pub(crate) fn okl_mpi_omp_get_partition_num_places() -> i32 {
    0
}

/// `omp_get_place_num_procs`.
pub(crate) fn okl_mpi_omp_get_place_num_procs(_place: i32) -> i32 {
    0
}

/// `omp_get_place_proc_ids`: there are none to write.
pub(crate) fn okl_mpi_omp_get_place_proc_ids(_place: i32, _ids: *mut c_void) {}

/// `omp_get_partition_place_nums`: there are none to write.
pub(crate) fn okl_mpi_omp_get_partition_place_nums(_nums: *mut c_void) {}

/// `omp_set_default_device`.
pub(crate) fn okl_mpi_omp_set_default_device(device: i32) {
    team::icv(|icv| icv.default_device = device);
}

/// `omp_get_default_device`.
pub(crate) fn okl_mpi_omp_get_default_device() -> i32 {
    team::icv(|icv| icv.default_device)
}

/// `omp_get_num_devices`.
pub(crate) fn okl_mpi_omp_get_num_devices() -> i32 {
    INITIAL_DEVICE
}

/// `omp_get_device_num`.
pub(crate) fn okl_mpi_omp_get_device_num() -> i32 {
    INITIAL_DEVICE
}

/// `omp_get_initial_device`.
pub(crate) fn okl_mpi_omp_get_initial_device() -> i32 {
    INITIAL_DEVICE
}

/// `omp_is_initial_device`.
pub(crate) fn okl_mpi_omp_is_initial_device() -> i32 {
    1
}

/// `omp_get_num_teams`.
pub(crate) fn okl_mpi_omp_get_num_teams() -> i32 {
    1
}

/// `omp_get_team_num`.
pub(crate) fn okl_mpi_omp_get_team_num() -> i32 {
    0
}

/// `omp_set_num_teams`.
pub(crate) fn okl_mpi_omp_set_num_teams(teams: i32) {
    if teams > 0 {
        team::icv(|icv| icv.num_teams = teams);
    }
}

/// `omp_get_max_teams`: the number asked for, 0 where none was.
pub(crate) fn okl_mpi_omp_get_max_teams() -> i32 {
    team::icv(|icv| icv.num_teams)
}

/// `omp_set_teams_thread_limit`.
pub(crate) fn okl_mpi_omp_set_teams_thread_limit(limit: i32) {
    if limit > 0 {
        team::icv(|icv| icv.teams_thread_limit = limit);
    }
}

/// `omp_get_teams_thread_limit`: the number asked for, 0 where none was.
pub(crate) fn okl_mpi_omp_get_teams_thread_limit() -> i32 {
    team::icv(|icv| icv.teams_thread_limit)
}

/// `omp_get_max_task_priority`.
pub(crate) fn okl_mpi_omp_get_max_task_priority() -> i32 {
    team::icv(|icv| icv.max_task_priority)
}

/// `omp_pause_resource`: 0 where the request is valid. There is nothing a rank could give up.
pub(crate) fn okl_mpi_omp_pause_resource(kind: i32, device: i32) -> i32 {
    let outside = device != INITIAL_DEVICE;
    i32::from(outside || okl_mpi_omp_pause_resource_all(kind) != 0)
}

/// `omp_pause_resource_all`.
pub(crate) fn okl_mpi_omp_pause_resource_all(kind: i32) -> i32 {
    const RESUME: i32 = 0;
    const STOP_TOOL: i32 = 3;
    i32::from(!(RESUME..=STOP_TOOL).contains(&kind) || team::level() > 0)
}

/// `omp_get_wtime`: seconds of a clock that does not jump.
pub(crate) fn okl_mpi_omp_get_wtime() -> f64 {
    seconds(|time| {
        // SAFETY: `time` is a live variable.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, time) };
    })
}

/// `omp_get_wtick`: that clock's resolution.
pub(crate) fn okl_mpi_omp_get_wtick() -> f64 {
    seconds(|time| {
        // SAFETY: `time` is a live variable.
        unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC, time) };
    })
}

fn seconds(read: impl FnOnce(&mut libc::timespec)) -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    read(&mut time);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// `omp_display_env`.
pub(crate) fn okl_mpi_omp_display_env(verbose: i32) {
    let format = affinity::current_format();
    let format = String::from_utf8_lossy(&format);
    let (ranks, most) = (mpi_job::ranks() as i32, threads::most());
    let text = team::icv(|icv| icv.display(verbose != 0, ranks, most, &format));
    // Nothing can be done where standard error is closed.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// `__kmpc_push_proc_bind`: `mpirun` binds the ranks.
pub(crate) fn okl_mpi_kmpc_push_proc_bind(_ident: *mut c_void, _gtid: i32, _bind: i32) {}

/// `__kmpc_push_num_teams`: the league has one team; `threads` limits it.
pub(crate) fn okl_mpi_kmpc_push_num_teams(
    _ident: *mut c_void,
    _gtid: i32,
    _teams: i32,
    threads: i32,
) {
    team::icv(|icv| icv.pushed_team_threads = threads.max(0));
}

/// `__kmpc_push_num_teams_51`: the league has one team; `threads` limits it.
pub(crate) fn okl_mpi_kmpc_push_num_teams_51(
    ident: *mut c_void,
    gtid: i32,
    _lower: i32,
    upper: i32,
    threads: i32,
) {
    okl_mpi_kmpc_push_num_teams(ident, gtid, upper, threads);
}

/// `__kmpc_set_thread_limit`: the limit of the current task.
pub(crate) fn okl_mpi_kmpc_set_thread_limit(_ident: *mut c_void, _gtid: i32, limit: i32) {
    if limit > 0 {
        team::icv(|icv| icv.thread_limit = limit);
    }
}

/// `__kmpc_error`: `#pragma omp error at(execution)`.
///
/// # Safety
/// `ident` as in [`source_of`]; `message` is a NUL-terminated text or null.
pub(crate) unsafe fn okl_mpi_kmpc_error(ident: *mut c_void, severity: i32, message: *mut c_void) {
    let message = if message.is_null() {
        "no message".into()
    } else {
        // SAFETY: the caller's text.
        unsafe { CStr::from_ptr(message.cast()) }.to_string_lossy()
    };
    // SAFETY: the caller's `ident_t`.
    let source = unsafe { source_of(ident) };
    if severity == SEVERITY_WARNING {
        report::warn(&format!("{source}: warning of the program: {message}"));
    } else {
        report::fatal(&format!("{source}: error of the program: {message}"));
    }
}

/// `__kmpc_scope`.
pub(crate) fn okl_mpi_kmpc_scope(_ident: *mut c_void, _gtid: i32, _reserved: *mut c_void) {}

/// `__kmpc_end_scope`.
pub(crate) fn okl_mpi_kmpc_end_scope(_ident: *mut c_void, _gtid: i32, _reserved: *mut c_void) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_normalised_as_libomp_does() {
        for (set, got) in [
            ((2, -3), (2, 1)),
            ((1, 0), (1, 0)),
            ((1, 7), (1, 7)),
            ((4, 7), (4, 1)),
            ((3 | SCHEDULE_MONOTONIC, 7), (3 | SCHEDULE_MONOTONIC, 7)),
            ((9, 7), (1, 0)),
        ] {
            assert_eq!(checked_schedule(set.0, set.1), got);
        }
    }

    #[test]
    fn places_come_from_the_compilers_text() {
        assert_eq!(place_in(";a.c;main;33;2;;"), Some("a.c:33".into()));
        for text in [";unknown;unknown;0;0;;", "", ";a.c", ";;f;1;1;;"] {
            assert_eq!(place_in(text), None, "{text}");
        }
    }
}
