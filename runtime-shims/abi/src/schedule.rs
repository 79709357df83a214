//! The codes of loop schedules: `enum sched_type` of LLVM's `kmp.h`.

/// How the iterations of a loop are dealt out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleKind {
    /// `static` with a chunk size.
    StaticChunked,
    /// `static`.
    Static,
    /// `dynamic`.
    Dynamic,
    /// `guided`.
    Guided,
    /// `runtime`: as `OMP_SCHEDULE` says.
    Runtime,
    /// `auto`.
    Auto,
    /// In chunks that shrink by the same number each.
    Trapezoidal,
    /// `static`, of which the last threads may get nothing.
    StaticGreedy,
    /// `static`, in shares that differ by one iteration at most.
    StaticBalanced,
    /// A way to compute the chunks of `guided`.
    GuidedIterative,
    /// Another one.
    GuidedAnalytical,
    /// `static` at first; who is done takes from others.
    StaticSteal,
    /// `static`, in shares that are multiples of a number of lanes.
    StaticBalancedChunked,
    /// `guided`, in multiples of a number of lanes.
    GuidedSimd,
    /// `runtime`, in multiples of a number of lanes.
    RuntimeSimd,
    /// `dist_schedule(static)` with a chunk size.
    DistributeChunked,
    /// `dist_schedule(static)`.
    Distribute,
}

/// What a code says of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopSchedule {
    /// How its iterations are dealt out.
    pub kind: ScheduleKind,
    /// Whether they take turns in an `ordered` part.
    pub ordered: bool,
}

/// The bits of `monotonic` and `nonmonotonic`.
const MODIFIERS: i64 = 3 << 29;

/// What has an unordered code, from `FIRST` on; the first ones have an ordered one, too.
const KINDS: [ScheduleKind; 15] = [
    ScheduleKind::StaticChunked,
    ScheduleKind::Static,
    ScheduleKind::Dynamic,
    ScheduleKind::Guided,
    ScheduleKind::Runtime,
    ScheduleKind::Auto,
    ScheduleKind::Trapezoidal,
    ScheduleKind::StaticGreedy,
    ScheduleKind::StaticBalanced,
    ScheduleKind::GuidedIterative,
    ScheduleKind::GuidedAnalytical,
    ScheduleKind::StaticSteal,
    ScheduleKind::StaticBalancedChunked,
    ScheduleKind::GuidedSimd,
    ScheduleKind::RuntimeSimd,
];
const FIRST: i64 = 33;
const FIRST_ORDERED: i64 = 65;
const LAST_ORDERED: i64 = 71;
const DISTRIBUTE_CHUNKED: i64 = 91;
const DISTRIBUTE: i64 = 92;
/// Codes for loops that are dealt out piece by piece on one thread, too.
const UNMERGED: core::ops::RangeInclusive<i64> = 161..=199;
const UNMERGED_OFFSET: i64 = 128;

impl LoopSchedule {
    /// The code of `static`.
    pub const STATIC: i32 = 34;

    /// What a code says; `None` where it is none that is known: such a loop may be ordered.
    pub fn of(code: i64) -> Option<Self> {
        let code = code & !MODIFIERS;
        let merged = match UNMERGED.contains(&code) {
            true => code - UNMERGED_OFFSET,
            false => code,
        };
        let (kind, ordered) = match merged {
            FIRST_ORDERED..=LAST_ORDERED => (kind(merged - FIRST_ORDERED)?, true),
            DISTRIBUTE_CHUNKED => (ScheduleKind::DistributeChunked, false),
            DISTRIBUTE => (ScheduleKind::Distribute, false),
            FIRST.. => (kind(merged - FIRST)?, false),
            _ => return None,
        };
        Some(Self { kind, ordered })
    }
}

fn kind(number: i64) -> Option<ScheduleKind> {
    KINDS.get(usize::try_from(number).ok()?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    use ScheduleKind::*;

    #[test]
    fn a_code_that_is_written_is_read_again() {
        let read = LoopSchedule::of(i64::from(LoopSchedule::STATIC)).unwrap();
        assert_eq!((read.kind, read.ordered), (Static, false));
    }

    /// `enum sched_type`, name by name.
    const CODES: [(i64, ScheduleKind, bool); 43] = [
        (33, StaticChunked, false),
        (34, Static, false),
        (35, Dynamic, false),
        (36, Guided, false),
        (37, Runtime, false),
        (38, Auto, false),
        (39, Trapezoidal, false),
        (40, StaticGreedy, false),
        (41, StaticBalanced, false),
        (42, GuidedIterative, false),
        (43, GuidedAnalytical, false),
        (44, StaticSteal, false),
        (45, StaticBalancedChunked, false),
        (46, GuidedSimd, false),
        (47, RuntimeSimd, false),
        (65, StaticChunked, true),
        (66, Static, true),
        (67, Dynamic, true),
        (68, Guided, true),
        (69, Runtime, true),
        (70, Auto, true),
        (71, Trapezoidal, true),
        (91, DistributeChunked, false),
        (92, Distribute, false),
        (161, StaticChunked, false),
        (162, Static, false),
        (163, Dynamic, false),
        (164, Guided, false),
        (165, Runtime, false),
        (166, Auto, false),
        (167, Trapezoidal, false),
        (168, StaticGreedy, false),
        (169, StaticBalanced, false),
        (170, GuidedIterative, false),
        (171, GuidedAnalytical, false),
        (172, StaticSteal, false),
        (193, StaticChunked, true),
        (194, Static, true),
        (195, Dynamic, true),
        (196, Guided, true),
        (197, Runtime, true),
        (198, Auto, true),
        (199, Trapezoidal, true),
    ];

    #[test]
    fn each_code_says_what_its_name_says_and_others_say_nothing() {
        let modifiers = [0, 1 << 29, 1 << 30];
        for code in -300..300 {
            let named = CODES.iter().find(|(number, ..)| *number == code);
            let expected = named.map(|&(_, kind, ordered)| LoopSchedule { kind, ordered });
            // These have no name, and mean the unordered ones to LLVM's run time.
            let is_extra = (173..=175).contains(&code);
            let expected = match is_extra {
                true => LoopSchedule::of(code - UNMERGED_OFFSET),
                false => expected,
            };
            for modifier in modifiers {
                assert_eq!(
                    LoopSchedule::of(code | modifier),
                    expected,
                    "{code} | {modifier}"
                );
            }
        }
    }

    #[test]
    fn numbers_that_no_code_has_say_nothing() {
        for code in [i64::MIN, i64::MAX, 33 | 1 << 28, 33 | 1 << 31, 33 | 1 << 32] {
            assert_eq!(LoopSchedule::of(code), None, "{code}");
        }
    }
}
