//! Worksharing loops: the entry points through which compiled code asks for its iterations.
//!
//! Guarantee: the threads of a team run every iteration once, and whole chunks where the schedule has a
//! chunk size. `dynamic`, `guided`, `auto` and `runtime` loops are dealt out in blocks of chunks, one for each thread, as
//! if the threads had asked for them in that order, and then chunks move to threads that are done (`moving`), unless the
//! schedule is `monotonic`, or `auto`, which leaves it to okl: data stay where they are then; ordered loops are dealt out chunk by chunk, so that the threads take turns.

use std::{ffi::c_void, time::Instant};

use okl_abi::{LoopSchedule, ScheduleKind as Kind};

use crate::{region, report, team};

mod moving;
mod share;

use moving::Moving;
use share::{LoopType, Mapping, Member, Piece, Space, distributed_share, piece, share};

/// `omp_sched_static`, the kind of `OMP_SCHEDULE` that may have chunks here.
const RUN_TIME_STATIC: i32 = 1;
/// `omp_sched_auto`.
const RUN_TIME_AUTO: i32 = 4;
/// The bit of `omp_sched_monotonic`.
const RUN_TIME_MONOTONIC: i32 = i32::MIN;

/// How a loop whose bounds are handed out once is dealt out; `None` for a schedule that has none.
fn static_mapping(schedule: i32, chunk: i128) -> Option<Mapping> {
    match LoopSchedule::of(schedule.into())?.kind {
        Kind::Static | Kind::StaticGreedy | Kind::StaticBalanced => Some(Mapping::Blocks),
        Kind::StaticChunked => Some(Mapping::Chunks(chunk)),
        Kind::StaticBalancedChunked => Some(Mapping::BlocksOfMultiples(chunk)),
        _ => None,
    }
}

/// How a loop whose bounds are handed out piece by piece is dealt out, and whether it is ordered.
/// `run_time` is the kind and chunk of `schedule(runtime)`.
fn dispatch_mapping(schedule: i32, chunk: i128, run_time: (i32, i32)) -> Option<(Mapping, bool)> {
    let LoopSchedule { kind, ordered } = LoopSchedule::of(schedule.into())?;
    // Ordered iterations take turns: the smaller the pieces, the more threads are at work. A static
    // schedule without a chunk size keeps its blocks, on which a program may count.
    let balanced = |chunk: i128| {
        if ordered {
            Mapping::Chunks(chunk)
        } else {
            Mapping::BlocksOfChunks(chunk)
        }
    };
    let mapping = match kind {
        Kind::StaticChunked => Mapping::Chunks(chunk),
        Kind::Static | Kind::StaticGreedy | Kind::StaticBalanced => Mapping::Blocks,
        Kind::StaticBalancedChunked => Mapping::BlocksOfMultiples(chunk),
        Kind::Dynamic
        | Kind::Guided
        | Kind::Auto
        | Kind::Trapezoidal
        | Kind::GuidedIterative
        | Kind::GuidedAnalytical
        | Kind::StaticSteal
        | Kind::GuidedSimd => balanced(chunk),
        // `chunk` is the number of lanes, of which a chunk of `OMP_SCHEDULE` is a multiple.
        Kind::RuntimeSimd => match (run_time.0 & !RUN_TIME_MONOTONIC, i128::from(run_time.1)) {
            (RUN_TIME_STATIC, ..=0) => Mapping::BlocksOfMultiples(chunk),
            (RUN_TIME_STATIC, chunks) => Mapping::Chunks(chunks * chunk.max(1)),
            (_, chunks) => balanced(chunks.max(1) * chunk.max(1)),
        },
        Kind::Runtime => match (run_time.0 & !RUN_TIME_MONOTONIC, i128::from(run_time.1)) {
            (RUN_TIME_STATIC, ..=0) => Mapping::Blocks,
            (RUN_TIME_STATIC, chunk) => Mapping::Chunks(chunk),
            (_, chunk) => balanced(chunk),
        },
        Kind::DistributeChunked | Kind::Distribute => return None,
    };
    Some((mapping, ordered))
}

/// The bits of `nonmonotonic` and `monotonic`. The compiler says the former of schedules that have no modifier.
const NONMONOTONIC: i32 = 1 << 30;
const MONOTONIC: i32 = 1 << 29;

/// Whether threads may run chunks of a loop that is dealt out in blocks of them in any order.
fn may_move(schedule: i32, run_time: (i32, i32)) -> bool {
    let says_so = match LoopSchedule::of(schedule.into()).map(|one| one.kind) {
        Some(Kind::Runtime | Kind::RuntimeSimd) => {
            let (kind, _) = run_time;
            kind & RUN_TIME_MONOTONIC == 0 && kind != RUN_TIME_AUTO
        }
        Some(Kind::Auto) => false,
        _ => true,
    };
    says_so && schedule & (NONMONOTONIC | MONOTONIC) == NONMONOTONIC
}

/// The loop of a team that is being dealt out piece by piece.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dispatch {
    space: Space,
    trips: u128,
    mapping: Mapping,
    member: Member,
    /// Pieces handed out so far.
    pieces: u128,
    /// Set in an ordered loop of several threads.
    ordered: Option<Turn>,
    /// Iterations of the region's ordered loops so far, this one included.
    ordered_iterations: u64,
    /// Set where chunks may move. Then it deals them out.
    moving: Option<Moving>,
    /// Loops of the region so far whose chunks may move, this one included.
    loops: u32,
}

/// Where an ordered loop is.
#[derive(Clone, Copy, Debug)]
struct Turn {
    /// Ordered iterations of the region before this loop.
    base: u64,
    /// The current iteration, counted from the start of the region.
    position: u64,
    /// Whether the iteration has gone through its ordered construct.
    passed: bool,
}

impl Dispatch {
    /// Starts a loop. Every thread of the team does, also one that will get no iteration.
    fn start(&mut self, space: Space, mapping: Mapping, ordered: bool, member: Member) {
        let base = self.ordered_iterations;
        let trips = space.trip_count();
        let ordered = ordered && member.threads > 1;
        if ordered {
            self.ordered_iterations = base.wrapping_add(trips as u64);
        }
        *self = Self {
            space,
            trips,
            mapping: if member.threads == 1 {
                Mapping::Blocks
            } else {
                mapping
            },
            member,
            pieces: 0,
            ordered: ordered.then_some(Turn {
                base,
                position: base,
                passed: false,
            }),
            ordered_iterations: self.ordered_iterations,
            moving: None,
            loops: self.loops,
        };
    }

    /// The next bounds for this thread, and whether they hold the loop's last iteration.
    fn next(&mut self) -> Option<(i128, i128, bool)> {
        if self.trips == 0 {
            return None;
        }
        let Piece { first, count } = piece(self.mapping, self.trips, self.member, self.pieces)?;
        self.pieces += 1;
        if let Some(turn) = &mut self.ordered {
            turn.position = turn.base.wrapping_add(first as u64);
            turn.passed = false;
        }
        let (lower, upper) = (self.space.value(first), self.space.value(first + count - 1));
        Some((lower, upper, first + count == self.trips))
    }

    /// Ends an iteration of an ordered loop: the position to leave, where that has not happened.
    fn end_iteration(&mut self) -> Option<u64> {
        let turn = self.ordered.as_mut()?;
        let left = (!turn.passed).then_some(turn.position);
        turn.position = turn.position.wrapping_add(1);
        turn.passed = false;
        left
    }
}

/// Lets chunks of the loop that the calling thread has begun move, where they are of this size and others may take them.
fn let_move(place: *mut c_void, chunk: i128) {
    let (space, trips, member, number) = team::loop_state(|dispatch| {
        dispatch.loops = dispatch.loops.saturating_add(1);
        let member = dispatch.member;
        (dispatch.space, dispatch.trips, member, dispatch.loops)
    });
    if member.threads > 1 {
        let key = (place as usize, space.lower, space.upper, space.step, chunk);
        let moving = Moving::begin(number, key, trips, chunk, member);
        team::loop_state(|dispatch| dispatch.moving = moving);
    }
}

/// The next bounds for the calling thread, whether they hold the loop's last iteration, and its increment. `asks_for_last`:
/// the thread asks which piece that is.
fn next(asks_for_last: bool) -> Option<(i128, i128, bool, i128)> {
    let Some((mut moving, space, trips)) = team::loop_state(|dispatch| {
        let moving = dispatch.moving.take()?;
        Some((moving, dispatch.space, dispatch.trips))
    }) else {
        return team::loop_state(|dispatch| {
            let (first, last, is_last) = dispatch.next()?;
            Some((first, last, is_last, dispatch.space.step))
        });
    };
    // It may ask other ranks: the loop's state is not borrowed meanwhile.
    let Some(Piece { first, count }) = moving.next(asks_for_last) else {
        team::loop_state(|dispatch| dispatch.trips = 0);
        return None;
    };
    team::loop_state(|dispatch| dispatch.moving = Some(moving));
    let (lower, upper) = (space.value(first), space.value(first + count - 1));
    Some((lower, upper, first + count == trips, space.step))
}

/// Whether the calling thread is in a loop whose chunks may move.
pub(crate) fn are_moving() -> bool {
    team::loop_state(|dispatch| dispatch.moving.as_ref().is_some_and(Moving::is_moving))
}

/// In such a loop: makes a declaration, which is part of what it costs that chunks move.
pub(crate) fn declare(body: impl FnOnce()) {
    let since = Instant::now();
    body();
    team::loop_state(|dispatch| {
        if let Some(moving) = &mut dispatch.moving {
            moving.note_declaration(since.elapsed());
        }
    });
}

/// When the job starts. Collective.
pub(crate) fn start() {
    moving::start();
}

/// On the rank's first thread, before its threads run a region.
pub(crate) fn begin_region() {
    moving::begin_region();
}

/// On each of them, behind it.
pub(crate) fn end_region() {
    moving::end_region();
}

fn member() -> Member {
    Member {
        thread: team::thread_num() as u32,
        threads: team::num_threads().max(1) as u32,
    }
}

fn check_step(step: i128) {
    if step == 0 {
        report::fatal(&format!(
            "a worksharing loop in {} has an increment of 0",
            region::name()
        ));
    }
}

fn unknown_schedule(schedule: i32) -> ! {
    report::fatal(&format!(
        "a worksharing loop in {} has schedule {schedule}, which this version of \
         the runtime does not know",
        region::name()
    ))
}

/// What `ordered` does before its body: waits for the turn of the current iteration.
pub(crate) fn okl_mpi_kmpc_ordered(_ident: *mut c_void, _gtid: i32) {
    if let Some(position) = team::loop_state(|dispatch| dispatch.ordered.map(|turn| turn.position))
    {
        crate::ordered::enter(position);
    }
}

/// What `ordered` does after its body: hands the turn on.
pub(crate) fn okl_mpi_kmpc_end_ordered(_ident: *mut c_void, _gtid: i32) {
    let position = team::loop_state(|dispatch| {
        let turn = dispatch.ordered.as_mut()?;
        turn.passed = true;
        Some(turn.position)
    });
    if let Some(position) = position {
        crate::ordered::leave(position);
    }
}

fn end_iteration() {
    if let Some(position) = team::loop_state(Dispatch::end_iteration) {
        crate::ordered::leave(position);
    }
}

/// `__kmpc_for_static_fini`.
pub(crate) fn okl_mpi_kmpc_for_static_fini(_ident: *mut c_void, _gtid: i32) {}

/// `__kmpc_dispatch_deinit`.
pub(crate) fn okl_mpi_kmpc_dispatch_deinit(_ident: *mut c_void, _gtid: i32) {}

/// The entry points for one type of loop variable.
macro_rules! entry_points {
    (
        $loop_type:expr, $value:ty, $signed:ty,
        $static_init:ident, $dist_init:ident, $dispatch_init:ident, $dispatch_next:ident,
        $dispatch_fini:ident
    ) => {
        /// `__kmpc_for_static_init_*`.
        ///
        /// # Safety
        /// `lower`, `upper` and `stride` point to variables of the loop's type, `last` to an `i32` or
        /// nowhere.
        #[allow(clippy::too_many_arguments)]
        pub(crate) unsafe fn $static_init(
            _ident: *mut c_void,
            _gtid: i32,
            schedule: i32,
            last: *mut c_void,
            lower: *mut c_void,
            upper: *mut c_void,
            stride: *mut c_void,
            increment: $signed,
            chunk: $signed,
        ) {
            let (lower, upper) = (lower.cast::<$value>(), upper.cast::<$value>());
            // SAFETY: the caller's variables.
            let space = unsafe {
                Space::passed(
                    (*lower).into(),
                    (*upper).into(),
                    increment.into(),
                    $loop_type,
                )
            };
            check_step(space.step);
            let kind = LoopSchedule::of(schedule.into()).map(|schedule| schedule.kind);
            let (mapping, member) = match kind {
                // There is one team, which gets the whole of a distributed loop.
                Some(Kind::DistributeChunked | Kind::Distribute) => (
                    Mapping::Blocks,
                    Member {
                        thread: 0,
                        threads: 1,
                    },
                ),
                _ => match static_mapping(schedule, chunk.into()) {
                    Some(mapping) => (mapping, member()),
                    None => unknown_schedule(schedule),
                },
            };
            let share = share(space, $loop_type, mapping, member);
            // SAFETY: the caller's variables.
            unsafe {
                *lower = share.lower as $value;
                *upper = share.upper as $value;
                *stride.cast::<$signed>() = share.stride as $signed;
                if !last.is_null() {
                    *last.cast::<i32>() = share.last.into();
                }
            }
        }

        /// `__kmpc_dist_for_static_init_*`.
        ///
        /// # Safety
        /// `lower`, `upper`, `upper_dist` and `stride` point to variables of the loop's type, `last`
        /// to an `i32` or nowhere.
        #[allow(clippy::too_many_arguments)]
        pub(crate) unsafe fn $dist_init(
            _ident: *mut c_void,
            _gtid: i32,
            schedule: i32,
            last: *mut c_void,
            lower: *mut c_void,
            upper: *mut c_void,
            upper_dist: *mut c_void,
            stride: *mut c_void,
            increment: $signed,
            chunk: $signed,
        ) {
            let (lower, upper) = (lower.cast::<$value>(), upper.cast::<$value>());
            // SAFETY: the caller's variables.
            let space = unsafe {
                Space::passed(
                    (*lower).into(),
                    (*upper).into(),
                    increment.into(),
                    $loop_type,
                )
            };
            check_step(space.step);
            let Some(mapping) = static_mapping(schedule, chunk.into()) else {
                unknown_schedule(schedule)
            };
            let (share, team_upper) = distributed_share(space, $loop_type, mapping, member());
            // SAFETY: the caller's variables.
            unsafe {
                *lower = share.lower as $value;
                *upper = share.upper as $value;
                *upper_dist.cast::<$value>() = team_upper as $value;
                *stride.cast::<$signed>() = share.stride as $signed;
                if !last.is_null() {
                    *last.cast::<i32>() = share.last.into();
                }
            }
        }

        /// `__kmpc_dispatch_init_*`.
        pub(crate) fn $dispatch_init(
            ident: *mut c_void,
            _gtid: i32,
            schedule: i32,
            lower: $signed,
            upper: $signed,
            stride: $signed,
            chunk: $signed,
        ) {
            let (lower, upper) = ((lower as $value).into(), (upper as $value).into());
            let space = Space::passed(lower, upper, stride.into(), $loop_type);
            check_step(space.step);
            let run_time = team::icv(|icv| (icv.schedule_kind, icv.schedule_chunk));
            let Some((mapping, ordered)) = dispatch_mapping(schedule, chunk.into(), run_time)
            else {
                unknown_schedule(schedule)
            };
            let member = member();
            team::loop_state(|dispatch| dispatch.start(space, mapping, ordered, member));
            if let Mapping::BlocksOfChunks(chunk) = mapping
                && may_move(schedule, run_time)
            {
                let_move(ident, chunk);
            }
        }

        /// `__kmpc_dispatch_next_*`: 0 when there are no more iterations.
        ///
        /// # Safety
        /// `lower`, `upper` and `stride` point to variables of the loop's type, `last` to an `i32`;
        /// `last` and `stride` may be null.
        pub(crate) unsafe fn $dispatch_next(
            _ident: *mut c_void,
            _gtid: i32,
            last: *mut c_void,
            lower: *mut c_void,
            upper: *mut c_void,
            stride: *mut c_void,
        ) -> i32 {
            let Some((first, end, is_last, step)) = next(!last.is_null()) else {
                return 0;
            };
            // SAFETY: the caller's variables.
            unsafe {
                *lower.cast::<$value>() = first as $value;
                *upper.cast::<$value>() = end as $value;
                if !stride.is_null() {
                    *stride.cast::<$signed>() = step as $signed;
                }
                if !last.is_null() {
                    *last.cast::<i32>() = is_last.into();
                }
            }
            1
        }

        /// `__kmpc_dispatch_fini_*`: the end of one iteration of an ordered loop.
        pub(crate) fn $dispatch_fini(_ident: *mut c_void, _gtid: i32) {
            end_iteration();
        }
    };
}

entry_points!(
    LoopType::I32,
    i32,
    i32,
    okl_mpi_kmpc_for_static_init_4,
    okl_mpi_kmpc_dist_for_static_init_4,
    okl_mpi_kmpc_dispatch_init_4,
    okl_mpi_kmpc_dispatch_next_4,
    okl_mpi_kmpc_dispatch_fini_4
);
entry_points!(
    LoopType::U32,
    u32,
    i32,
    okl_mpi_kmpc_for_static_init_4u,
    okl_mpi_kmpc_dist_for_static_init_4u,
    okl_mpi_kmpc_dispatch_init_4u,
    okl_mpi_kmpc_dispatch_next_4u,
    okl_mpi_kmpc_dispatch_fini_4u
);
entry_points!(
    LoopType::I64,
    i64,
    i64,
    okl_mpi_kmpc_for_static_init_8,
    okl_mpi_kmpc_dist_for_static_init_8,
    okl_mpi_kmpc_dispatch_init_8,
    okl_mpi_kmpc_dispatch_next_8,
    okl_mpi_kmpc_dispatch_fini_8
);
entry_points!(
    LoopType::U64,
    u64,
    i64,
    okl_mpi_kmpc_for_static_init_8u,
    okl_mpi_kmpc_dist_for_static_init_8u,
    okl_mpi_kmpc_dispatch_init_8u,
    okl_mpi_kmpc_dispatch_next_8u,
    okl_mpi_kmpc_dispatch_fini_8u
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_mapped_as_the_file_says() {
        let mapping = |schedule, chunk| dispatch_mapping(schedule, chunk, (RUN_TIME_STATIC, 0));
        for schedule in [34, 37, 40, 41] {
            let blocks = Some((Mapping::Blocks, false));
            assert_eq!(mapping(schedule, 5), blocks, "{schedule}");
        }
        for schedule in [35 | NONMONOTONIC, 36, 38, 39, 42, 43, 44, 46] {
            let chunks = Some((Mapping::BlocksOfChunks(5), false));
            assert_eq!(mapping(schedule, 5), chunks, "{schedule}");
        }
        assert_eq!(mapping(47, 8), Some((Mapping::BlocksOfMultiples(8), false)));
        assert_eq!(mapping(33, 5), Some((Mapping::Chunks(5), false)));
        assert_eq!(mapping(45, 8), Some((Mapping::BlocksOfMultiples(8), false)));
        assert_eq!(mapping(65, 5), Some((Mapping::Chunks(5), true)));
        assert_eq!(mapping(66, 1), Some((Mapping::Blocks, true)));
        assert_eq!(mapping(67, 5), Some((Mapping::Chunks(5), true)));
        assert_eq!(mapping(0, 1), None);
        assert_eq!(mapping(92, 1), None);
    }

    #[test]
    fn chunks_move_where_the_schedule_leaves_their_order_open() {
        let (dynamic, runtime, auto) = (35, 37, 38);
        let unchunked = (RUN_TIME_STATIC, 0);
        assert!(may_move(dynamic | NONMONOTONIC, unchunked));
        assert!(!may_move(dynamic | MONOTONIC, unchunked));
        assert!(!may_move(auto | NONMONOTONIC, unchunked));
        assert!(may_move(runtime | NONMONOTONIC, unchunked));
        assert!(!may_move(runtime | NONMONOTONIC, (RUN_TIME_AUTO, 0)));
        assert!(!may_move(
            runtime | NONMONOTONIC,
            (RUN_TIME_STATIC | RUN_TIME_MONOTONIC, 0)
        ));
    }

    #[test]
    fn runtime_schedules_follow_the_variable() {
        for (run_time, expected) in [
            ((1, 0), Mapping::Blocks),
            ((1, 7), Mapping::Chunks(7)),
            ((1 | RUN_TIME_MONOTONIC, 7), Mapping::Chunks(7)),
            ((2, 7), Mapping::BlocksOfChunks(7)),
            ((4, 1), Mapping::BlocksOfChunks(1)),
        ] {
            assert_eq!(dispatch_mapping(37, 1, run_time), Some((expected, false)));
        }
        for (run_time, expected) in [
            ((1, 3), Mapping::Chunks(24)),
            ((2, 3), Mapping::BlocksOfChunks(24)),
            ((3, 0), Mapping::BlocksOfChunks(8)),
        ] {
            assert_eq!(dispatch_mapping(47, 8, run_time), Some((expected, false)));
        }
        assert_eq!(
            dispatch_mapping(69, 1, (2, 7)),
            Some((Mapping::Chunks(7), true))
        );
    }

    /// Runs an ordered loop on one thread of several; the positions it takes.
    fn positions(dispatch: &mut Dispatch, space: Space, chunk: i128, member: Member) -> Vec<u64> {
        dispatch.start(space, Mapping::Chunks(chunk), true, member);
        let mut taken = Vec::new();
        while let Some((lower, upper, _)) = dispatch.next() {
            let mut value = lower;
            while (value <= upper) == (space.step > 0) || value == upper {
                taken.push(dispatch.end_iteration().unwrap());
                value += space.step;
            }
        }
        taken
    }

    #[test]
    fn ordered_loops_of_a_region_share_one_numbering() {
        let mut all = Vec::new();
        for thread in 0..3 {
            let member = Member { thread, threads: 3 };
            let mut dispatch = Dispatch::default();
            for (chunk, space) in [
                (
                    2,
                    Space {
                        lower: 0,
                        upper: 10,
                        step: 1,
                    },
                ),
                (
                    1,
                    Space {
                        lower: 5,
                        upper: -4,
                        step: -3,
                    },
                ),
                (
                    1,
                    Space {
                        lower: 1,
                        upper: 0,
                        step: 1,
                    },
                ),
                (
                    4,
                    Space {
                        lower: 0,
                        upper: 5,
                        step: 1,
                    },
                ),
            ] {
                let taken = positions(&mut dispatch, space, chunk, member);
                assert!(taken.is_sorted());
                all.extend(taken);
            }
        }
        all.sort_unstable();
        assert_eq!(all, (0..11 + 4 + 6).collect::<Vec<u64>>());
    }

    #[test]
    fn a_team_of_one_gets_the_loop_in_one_piece_and_no_turns() {
        let mut dispatch = Dispatch::default();
        let space = Space {
            lower: 0,
            upper: 9,
            step: 1,
        };
        dispatch.start(
            space,
            Mapping::Chunks(1),
            true,
            Member {
                thread: 0,
                threads: 1,
            },
        );
        assert_eq!(dispatch.next(), Some((0, 9, true)));
        assert_eq!(dispatch.end_iteration(), None);
        assert_eq!(dispatch.next(), None);
    }

    #[test]
    fn an_ordered_construct_leaves_the_turn_once() {
        let mut dispatch = Dispatch::default();
        let space = Space {
            lower: 0,
            upper: 3,
            step: 1,
        };
        dispatch.start(
            space,
            Mapping::Chunks(1),
            true,
            Member {
                thread: 1,
                threads: 2,
            },
        );
        assert!(dispatch.next().is_some());
        dispatch.ordered.as_mut().unwrap().passed = true;
        assert_eq!(dispatch.end_iteration(), None);
        assert!(dispatch.next().is_some());
        assert_eq!(dispatch.end_iteration(), Some(3));
        assert!(dispatch.next().is_none());
    }
}
