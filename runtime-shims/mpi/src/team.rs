//! The team that the calling thread is in.
//!
//! Rank `r` is thread `r` of a distributed team, or has several consecutive threads of it: see
//! [`crate::threads`]. A region that cannot be distributed has a team of rank 0's threads. Everything nested in a region
//! runs in a team of one.

use std::mem::ManuallyDrop;

use crate::{
    api::Icv, cell::ProgramCell, libomp, loops::Dispatch, region, report, tasks, threads, turns,
};

/// One nesting level.
#[derive(Clone, Debug, Default)]
struct Level {
    thread_num: i32,
    num_threads: i32,
    dispatch: Dispatch,
    /// Where the region was entered, for messages.
    location: Option<&'static str>,
    /// The size asked for by a `num_threads` clause not yet used.
    pushed_num_threads: i32,
    /// Each level inherits the variables of the one around it; changes end with the region.
    icv: Icv,
}

#[derive(Default)]
struct State {
    /// The innermost level is last; there is always one.
    levels: Vec<Level>,
}

thread_local! {
    static STATE: ProgramCell<ManuallyDrop<Option<State>>> =
        const { ProgramCell::new(ManuallyDrop::new(None)) };
}

fn state<R>(body: impl FnOnce(&mut State) -> R) -> R {
    STATE.with(|cell| {
        cell.with_own(|state| match state.as_mut() {
            Some(state) => body(state),
            None => report::not_started("a file with OpenMP"),
        })
    })
}

fn innermost<R>(body: impl FnOnce(&mut Level) -> R) -> R {
    state(|state| body(state.levels.last_mut().expect("level 0 stays")))
}

/// Makes the calling thread an initial thread.
pub(crate) fn start(icv: Icv) {
    let initial = Level {
        num_threads: 1,
        icv,
        ..Level::default()
    };
    STATE.with(|cell| {
        cell.with_own(|state| {
            **state = Some(State {
                levels: vec![initial],
            })
        });
    });
}

/// This thread's number in the innermost team.
pub(crate) fn thread_num() -> i32 {
    innermost(|level| level.thread_num)
}

/// The size of the innermost team.
pub(crate) fn num_threads() -> i32 {
    innermost(|level| level.num_threads)
}

/// Number of enclosing parallel regions.
pub(crate) fn level() -> i32 {
    state(|state| state.levels.len() as i32 - 1)
}

/// Number of enclosing regions with more than one thread: 0 or 1.
pub(crate) fn active_level() -> i32 {
    state(|state| {
        state
            .levels
            .iter()
            .filter(|level| level.num_threads > 1)
            .count() as i32
    })
}

/// Whether the innermost team has more than one thread.
pub(crate) fn is_parallel() -> bool {
    num_threads() > 1
}

/// The thread number of this thread's ancestor at `level`, -1 where there is no such level.
pub(crate) fn ancestor_thread_num(level: i32) -> i32 {
    at_level(level, |level| level.thread_num)
}

/// The size of the team at `level`, -1 where there is no such level.
pub(crate) fn team_size(level: i32) -> i32 {
    at_level(level, |level| level.num_threads)
}

fn at_level(level: i32, field: impl FnOnce(&Level) -> i32) -> i32 {
    state(|state| {
        usize::try_from(level)
            .ok()
            .and_then(|level| state.levels.get(level))
            .map_or(-1, field)
    })
}

/// The internal control variables of the innermost level.
pub(crate) fn icv<R>(body: impl FnOnce(&mut Icv) -> R) -> R {
    innermost(|level| body(&mut level.icv))
}

/// The dispatch loop of the innermost team.
pub(crate) fn loop_state<R>(body: impl FnOnce(&mut Dispatch) -> R) -> R {
    innermost(|level| body(&mut level.dispatch))
}

/// The size of a team that is forked now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TeamSize {
    /// Threads it would have, were it distributed.
    pub(crate) threads: i32,
    /// Threads that the program has asked for; 0: any number, or what there are will do.
    pub(crate) asked: i32,
}

/// The size of a team forked now. Uses up a `num_threads` clause.
pub(crate) fn take_team_size() -> TeamSize {
    let clause = innermost(|level| std::mem::take(&mut level.pushed_num_threads));
    let icv = icv(|icv| *icv);
    if icv.max_active_levels == 0 {
        return TeamSize {
            threads: 1,
            asked: 0,
        };
    }
    let asked = if clause > 0 { clause } else { icv.num_threads };
    TeamSize {
        threads: icv.most_threads(clause, threads::most_in(icv)),
        asked: if icv.dynamic != 0 { 0 } else { asked },
    }
}

/// Enters a team of one. Where the rank has several threads the OpenMP run time has to know, too: whose tasks are whose.
pub(crate) fn enter_one(location: Option<&'static str>) {
    if turns::are_several() {
        // SAFETY: the caller is a thread of the run time's.
        unsafe {
            (libomp::functions().__kmpc_serialized_parallel)(libomp::place(), libomp::thread())
        };
    }
    let icv = icv(|icv| *icv);
    state(|state| {
        state.levels.push(Level {
            num_threads: 1,
            location,
            icv,
            ..Level::default()
        })
    });
    if location.is_some() {
        region::set_location(location);
    }
}

/// Enters the team of a region, which is distributed or one of rank 0's threads, with the control variables of the thread
/// that forked it.
pub(crate) fn enter(
    thread_num: i32,
    num_threads: i32,
    location: &'static str,
    icv: Icv,
    is_distributed: bool,
) {
    let location = Some(location);
    state(|state| {
        state.levels.push(Level {
            thread_num,
            num_threads,
            location,
            icv,
            ..Level::default()
        });
    });
    region::set_location(location);
    region::set_distributed(is_distributed);
}

/// Runs `body` as another thread of the innermost team.
pub(crate) fn as_thread(thread_num: i32, body: impl FnOnce()) {
    let own = innermost(|level| {
        let other = Level {
            thread_num,
            num_threads: level.num_threads,
            location: level.location,
            icv: level.icv,
            ..Level::default()
        };
        std::mem::replace(level, other)
    });
    body();
    innermost(|level| *level = own);
}

/// Leaves the team of one that was entered last.
pub(crate) fn leave_one() {
    leave();
    if turns::are_several() {
        // SAFETY: as in `enter_one`.
        unsafe {
            (libomp::functions().__kmpc_end_serialized_parallel)(libomp::place(), libomp::thread());
        }
    }
}

/// Leaves the innermost team.
pub(crate) fn leave() {
    state(|state| {
        assert!(
            state.levels.len() > 1,
            "a team is left that was not entered"
        );
        let left = state.levels.pop();
        if left.is_some_and(|left| left.location.is_some()) {
            let mut around = state.levels.iter().rev();
            region::set_location(around.find_map(|level| level.location));
        }
        if state.levels.len() == 1 {
            region::set_distributed(false);
        }
    });
}

/// `__kmpc_push_num_threads`.
pub(crate) fn okl_mpi_kmpc_push_num_threads(
    _ident: *mut std::ffi::c_void,
    _gtid: i32,
    threads: i32,
) {
    innermost(|level| level.pushed_num_threads = threads);
}

/// `__kmpc_serialized_parallel`.
pub(crate) fn okl_mpi_kmpc_serialized_parallel(_ident: *mut std::ffi::c_void, _gtid: i32) {
    take_team_size();
    enter_one(None);
}

/// `__kmpc_end_serialized_parallel`.
pub(crate) fn okl_mpi_kmpc_end_serialized_parallel(_ident: *mut std::ffi::c_void, _gtid: i32) {
    tasks::complete_all();
    leave_one();
}
