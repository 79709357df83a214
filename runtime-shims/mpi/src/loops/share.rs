//! Which iterations of a worksharing loop each thread runs: arithmetic only.
//!
//! Guarantee: over the threads of a team every iteration is run once, and the last one by the thread
//! that is told so. The shares are libomp's (`kmp_sched.cpp`), so that programs that count on its
//! partition find it. Values are `i128`: nothing overflows, whatever the bounds of a 32- or 64-bit
//! loop. Where libomp's own arithmetic overflows, the result differs from it.

/// The type of a loop variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoopType {
    I32,
    U32,
    I64,
    U64,
}

impl LoopType {
    fn range(self) -> std::ops::RangeInclusive<i128> {
        match self {
            LoopType::I32 => i32::MIN.into()..=i32::MAX.into(),
            LoopType::U32 => 0..=u32::MAX.into(),
            LoopType::I64 => i64::MIN.into()..=i64::MAX.into(),
            LoopType::U64 => 0..=u64::MAX.into(),
        }
    }
}

/// A loop from `lower` to `upper`, both included, by `step`, which is not 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Space {
    pub(crate) lower: i128,
    pub(crate) upper: i128,
    pub(crate) step: i128,
}

impl Space {
    /// The loop whose bounds compiled code passes in variables of `loop_type`. An unsigned one from 0 to the largest
    /// value there is has no iterations: LLVM's OpenMPIRBuilder, which flang uses, numbers them from 0 and passes
    /// their number less one, which wraps around. (More iterations than the type has numbers no compiler passes.)
    pub(crate) fn passed(lower: i128, upper: i128, step: i128, loop_type: LoopType) -> Self {
        let is_unsigned = *loop_type.range().start() == 0;
        if is_unsigned && step == 1 && (lower..=upper) == loop_type.range() {
            return Self {
                lower: 1,
                upper: 0,
                step,
            };
        }
        Self { lower, upper, step }
    }

    /// The number of iterations: at most 2^64.
    pub(crate) fn trip_count(self) -> u128 {
        let span = if self.step > 0 {
            self.upper - self.lower
        } else {
            self.lower - self.upper
        };
        if span < 0 {
            0
        } else {
            span as u128 / self.step.unsigned_abs() + 1
        }
    }

    /// The loop variable in an iteration.
    pub(crate) fn value(self, iteration: u128) -> i128 {
        self.lower + iteration as i128 * self.step
    }

    /// The smallest step in the direction of the loop.
    fn unit(self) -> i128 {
        self.step.signum()
    }

    /// The stride by which a loop that runs in one piece steps past its end.
    fn whole_stride(self) -> i128 {
        self.upper - self.lower + self.unit()
    }
}

/// A thread and the size of its team.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) thread: u32,
    pub(crate) threads: u32,
}

/// Consecutive iterations, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) first: u128,
    pub(crate) count: u128,
}

/// How iterations are dealt out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mapping {
    /// One piece for each thread, sizes differing by at most 1: `schedule(static)`.
    #[default]
    Blocks,
    /// Pieces of a given size, in turn: `schedule(static, size)`.
    Chunks(i128),
    /// One piece for each thread, sizes a multiple of the number: `schedule(simd: static)`.
    BlocksOfMultiples(i128),
    /// One piece for each thread, of whole chunks of the given size but for the loop's last one, their
    /// numbers differing by at most 1 (of units, where there are very many): `schedule(dynamic, size)`.
    BlocksOfChunks(i128),
}

/// A thread's part of a loop as the compiler expects it: it runs `lower..=upper`, then adds `stride`
/// to both until `lower` is past the end of the loop. `last`: the loop's last iteration is among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) lower: i128,
    pub(crate) upper: i128,
    pub(crate) stride: i128,
    pub(crate) last: bool,
}

/// The share of a thread, for a loop whose bounds are handed out once.
pub(crate) fn share(space: Space, loop_type: LoopType, mapping: Mapping, member: Member) -> Share {
    let Space { lower, upper, step } = space;
    let trips = space.trip_count();
    if trips == 0 {
        return Share {
            lower,
            upper,
            stride: step,
            last: false,
        };
    }
    if member.threads == 1 {
        return Share {
            lower,
            upper,
            stride: space.whole_stride(),
            last: true,
        };
    }
    match mapping {
        Mapping::Chunks(chunk) => chunked(space, trips, loop_type, chunk, member),
        Mapping::Blocks | Mapping::BlocksOfMultiples(_) | Mapping::BlocksOfChunks(_) => {
            let own = piece(mapping, trips, member, 0);
            one_piece(space, loop_type, trips, own, trips as i128)
        }
    }
}

/// The shares of `distribute` and the loop in it, where there is one team: this thread's share, and
/// the upper bound of the team's.
pub(crate) fn distributed_share(
    space: Space,
    loop_type: LoopType,
    mapping: Mapping,
    member: Member,
) -> (Share, i128) {
    let trips = space.trip_count();
    if trips == 0 {
        let Space { lower, upper, .. } = space;
        return (
            Share {
                lower,
                upper,
                stride: upper - lower,
                last: false,
            },
            upper,
        );
    }
    let own = match mapping {
        Mapping::Chunks(chunk) => chunked(space, trips, loop_type, chunk, member),
        Mapping::Blocks | Mapping::BlocksOfMultiples(_) | Mapping::BlocksOfChunks(_) => {
            let own = piece(mapping, trips, member, 0);
            one_piece(space, loop_type, trips, own, space.upper - space.lower)
        }
    };
    (own, space.value(trips - 1))
}

/// The `index`-th piece of a thread, `None` where it has no more.
pub(crate) fn piece(mapping: Mapping, trips: u128, member: Member, index: u128) -> Option<Piece> {
    let (thread, threads) = (u128::from(member.thread), u128::from(member.threads));
    let block = |things: u128| {
        let (size, longer) = (things / threads, things % threads);
        let first = thread * size + thread.min(longer);
        (first + index * things, size + u128::from(thread < longer))
    };
    let (first, count) = match mapping {
        Mapping::Blocks => block(trips),
        Mapping::BlocksOfChunks(chunk) => {
            let unit = unit_size(chunk, trips);
            let (first, count) = block(trips.div_ceil(unit));
            (first * unit, count * unit)
        }
        Mapping::Chunks(chunk) => {
            let chunk = chunk_size(chunk, trips);
            ((thread + index * threads) * chunk, chunk)
        }
        Mapping::BlocksOfMultiples(of) => {
            let size = trips
                .div_ceil(threads)
                .next_multiple_of(chunk_size(of, u128::MAX));
            (thread * size + index * trips, size)
        }
    };
    (first < trips && count > 0).then(|| Piece {
        first,
        count: count.min(trips - first),
    })
}

pub(super) fn chunk_size(asked: i128, trips: u128) -> u128 {
    (asked.max(1) as u128).min(trips.max(1))
}

/// Most units of a loop that is dealt out in blocks of chunks.
pub(super) const MOST_UNITS: u32 = (1 << 20) - 1;

/// Iterations of a unit of such a loop, so many whole chunks that there are not too many units.
pub(super) fn unit_size(chunk: i128, trips: u128) -> u128 {
    let chunk = chunk_size(chunk, trips);
    chunk * trips.div_ceil(chunk).div_ceil(MOST_UNITS.into()).max(1)
}

fn one_piece(
    space: Space,
    loop_type: LoopType,
    trips: u128,
    own: Option<Piece>,
    stride: i128,
) -> Share {
    match own {
        None => {
            let (lower, upper) = nothing(space, loop_type);
            Share {
                lower,
                upper,
                stride,
                last: false,
            }
        }
        Some(Piece { first, count }) => Share {
            lower: space.value(first),
            upper: space.value(first + count - 1),
            stride,
            last: first + count == trips,
        },
    }
}

/// Bounds with no iteration between them.
fn nothing(space: Space, loop_type: LoopType) -> (i128, i128) {
    let past = space.upper + space.unit();
    if loop_type.range().contains(&past) {
        (past, space.upper)
    } else {
        (space.upper, space.upper - space.unit())
    }
}

fn chunked(space: Space, trips: u128, loop_type: LoopType, chunk: i128, member: Member) -> Share {
    let (thread, threads) = (u128::from(member.thread), u128::from(member.threads));
    let chunk = chunk_size(chunk, trips);
    let chunks = trips.div_ceil(chunk);
    let span = chunk as i128 * space.step;
    let stride = span * chunks.min(threads) as i128;
    // The compiler's loop stops when it sees a lower bound past the end. Where adding the stride
    // would wrap around first, each thread gets its chunks in one block, and a stride to just past the end.
    let last_lower = space.value((chunks - 1) * chunk);
    if !loop_type.range().contains(&(last_lower + stride)) {
        let own = piece(Mapping::BlocksOfChunks(chunk as i128), trips, member, 0);
        let block = one_piece(space, loop_type, trips, own, 0);
        return Share {
            stride: space.upper + space.unit() - block.lower,
            ..block
        };
    }
    if thread >= chunks {
        let (lower, upper) = nothing(space, loop_type);
        return Share {
            lower,
            upper,
            stride,
            last: false,
        };
    }
    let lower = space.value(thread * chunk);
    Share {
        lower,
        upper: lower + span - space.step,
        stride,
        last: thread == (chunks - 1) % threads,
    }
}

#[cfg(test)]
mod tests {
    use okl_testing::Random;

    use super::*;

    fn below(random: &mut Random, bound: i128) -> i128 {
        i128::from(random.word()) % bound
    }

    const TYPES: [LoopType; 4] = [LoopType::I32, LoopType::U32, LoopType::I64, LoopType::U64];

    /// The value a variable of the type holds after `value` was stored in it.
    fn wrap(loop_type: LoopType, value: i128) -> i128 {
        match loop_type {
            LoopType::I32 => value as i32 as i128,
            LoopType::U32 => value as u32 as i128,
            LoopType::I64 => value as i64 as i128,
            LoopType::U64 => value as u64 as i128,
        }
    }

    /// The pieces that code compiled by clang runs when handed `share`, as (lower, upper).
    fn compiled(
        space: Space,
        loop_type: LoopType,
        share: Share,
        repeat: bool,
    ) -> Vec<(i128, i128)> {
        let past = |a: i128, b: i128| if space.step > 0 { a > b } else { a < b };
        let mut pieces = Vec::new();
        let (mut lower, mut upper) = (wrap(loop_type, share.lower), wrap(loop_type, share.upper));
        loop {
            if past(upper, space.upper) {
                upper = space.upper;
            }
            if past(lower, upper) {
                return pieces;
            }
            pieces.push((lower, upper));
            assert!(
                pieces.len() < 10_000,
                "{space:?} {loop_type:?} {share:?}: no end"
            );
            if !repeat {
                return pieces;
            }
            lower = wrap(loop_type, lower + share.stride);
            upper = wrap(loop_type, upper + share.stride);
        }
    }

    /// Iteration numbers of pieces of loop values.
    fn numbers(space: Space, pieces: &[(i128, i128)]) -> Vec<Piece> {
        let number = |value: i128| {
            let (span, step) = (value - space.lower, space.step);
            assert!(span / step >= 0, "{space:?}: {value}");
            (span / step) as u128
        };
        let piece = |&(lower, upper): &(i128, i128)| {
            assert_eq!(
                (lower - space.lower) % space.step,
                0,
                "{space:?}: {lower} is no iteration"
            );
            Piece {
                first: number(lower),
                count: number(upper) - number(lower) + 1,
            }
        };
        pieces.iter().map(piece).collect()
    }

    fn assert_exact_cover(what: &str, trips: u128, threads: &[(Vec<Piece>, bool)]) {
        let mut all: Vec<Piece> = threads
            .iter()
            .flat_map(|(pieces, _)| pieces.clone())
            .collect();
        all.sort_by_key(|piece| piece.first);
        let mut next = 0;
        for piece in all {
            assert_eq!(piece.first, next, "{what}: a gap or an overlap");
            next += piece.count;
        }
        assert_eq!(next, trips, "{what}");
        for (thread, (pieces, last)) in threads.iter().enumerate() {
            let runs_last = pieces
                .iter()
                .any(|piece| piece.first + piece.count == trips);
            assert_eq!(
                *last,
                trips > 0 && runs_last,
                "{what}: the last flag of thread {thread}"
            );
        }
    }

    /// A loop that a compiler can express: its variable can step past the end.
    fn random_space(random: &mut Random, loop_type: LoopType) -> Space {
        let (least, most) = (*loop_type.range().start(), *loop_type.range().end());
        let anywhere = |random: &mut Random| least + below(random, most - least);
        let step_range = if most > u32::MAX.into() {
            i64::MAX as i128
        } else {
            i32::MAX as i128
        };
        let magnitude = match below(random, 4) {
            0 => 1,
            1 => 1 + below(random, 10),
            2 => 1 + below(random, 1000),
            _ => 1 + below(random, step_range),
        };
        let step = if below(random, 3) == 0 {
            -magnitude
        } else {
            magnitude
        };
        let lower = match below(random, 4) {
            0 => 0,
            1 => {
                if step > 0 {
                    least
                } else {
                    most
                }
            }
            _ => anywhere(random),
        };
        let upper = match below(random, 5) {
            0 => anywhere(random),
            1 => {
                if step > 0 {
                    most
                } else {
                    least
                }
            }
            _ => {
                lower
                    + step.signum() * (below(random, 100) - 3) * below(random, magnitude + 1).max(1)
            }
        };
        let clamp = |value: i128, least: i128, most: i128| value.max(least).min(most);
        let upper = if step > 0 {
            clamp(upper, least, most - 1)
        } else {
            clamp(upper, least + 1, most)
        };
        Space { lower, upper, step }
    }

    fn random_chunk(random: &mut Random, trips: u128) -> i128 {
        match below(random, 4) {
            0 => below(random, 3) - 1,
            1 => 1 + below(random, 8),
            // At most some hundred chunks, so that the simulation ends soon.
            _ => (trips / (1 + below(random, 300) as u128)) as i128,
        }
    }

    fn cases(mut check: impl FnMut(&mut Random, LoopType, Space, u32)) {
        let mut random = Random(2024);
        for _ in 0..20_000 {
            for loop_type in TYPES {
                let space = random_space(&mut random, loop_type);
                let threads = 1 + below(&mut random, 9) as u32;
                check(&mut random, loop_type, space, threads);
            }
        }
    }

    fn members(threads: u32) -> impl Iterator<Item = Member> {
        (0..threads).map(move |thread| Member { thread, threads })
    }

    #[test]
    fn one_less_than_no_iterations_wraps_around() {
        for loop_type in TYPES {
            let (least, most) = loop_type.range().into_inner();
            let trips = Space::passed(0, most, 1, loop_type).trip_count();
            assert_eq!(trips == 0, least == 0, "{loop_type:?}");
            assert_ne!(Space::passed(1, most, 1, loop_type).trip_count(), 0);
            assert_ne!(Space::passed(0, most - 1, 1, loop_type).trip_count(), 0);
        }
    }

    #[test]
    fn static_shares_cover_the_loop_once() {
        cases(|random, loop_type, space, threads| {
            let trips = space.trip_count();
            let of = 1 << below(random, 5);
            for mapping in [Mapping::Blocks, Mapping::BlocksOfMultiples(of)] {
                let shares: Vec<_> = members(threads)
                    .map(|member| {
                        let share = share(space, loop_type, mapping, member);
                        let pieces = compiled(space, loop_type, share, false);
                        (numbers(space, &pieces), share.last)
                    })
                    .collect();
                let what = format!("{space:?} {loop_type:?} {mapping:?} {threads} threads");
                assert_exact_cover(&what, trips, &shares);
            }
        });
    }

    #[test]
    fn chunked_shares_cover_the_loop_once() {
        cases(|random, loop_type, space, threads| {
            let trips = space.trip_count();
            let chunk = random_chunk(random, trips);
            if trips / chunk.max(1) as u128 > 1000 {
                return;
            }
            let mapping = Mapping::Chunks(chunk);
            let shares: Vec<_> = members(threads)
                .map(|member| {
                    let share = share(space, loop_type, mapping, member);
                    let pieces = compiled(space, loop_type, share, true);
                    (numbers(space, &pieces), share.last)
                })
                .collect();
            let what = format!("{space:?} {loop_type:?} {mapping:?} {threads} threads");
            assert_exact_cover(&what, trips, &shares);
        });
    }

    #[test]
    fn distributed_shares_cover_the_loop_once() {
        cases(|random, loop_type, space, threads| {
            let trips = space.trip_count();
            let chunk = random_chunk(random, trips);
            for mapping in [Mapping::Blocks, Mapping::Chunks(chunk)] {
                let repeat = mapping != Mapping::Blocks;
                if repeat && trips / chunk.max(1) as u128 > 1000 {
                    continue;
                }
                let mut shares = Vec::new();
                for member in members(threads) {
                    let (share, team_upper) = distributed_share(space, loop_type, mapping, member);
                    if trips > 0 {
                        assert_eq!(team_upper, space.value(trips - 1));
                    }
                    let pieces = compiled(space, loop_type, share, repeat);
                    shares.push((numbers(space, &pieces), share.last));
                }
                let what = format!("{space:?} {loop_type:?} {mapping:?} {threads} threads");
                assert_exact_cover(&what, trips, &shares);
            }
        });
    }

    #[test]
    fn dispatched_pieces_cover_the_loop_once_and_in_order() {
        cases(|random, loop_type, space, threads| {
            let trips = space.trip_count();
            let chunk = random_chunk(random, trips);
            for mapping in [
                Mapping::Blocks,
                Mapping::Chunks(chunk),
                Mapping::BlocksOfMultiples(8),
                Mapping::BlocksOfChunks(chunk),
            ] {
                if mapping == Mapping::Chunks(chunk) && trips / chunk.max(1) as u128 > 1000 {
                    continue;
                }
                let shares: Vec<_> = members(threads)
                    .map(|member| {
                        let next = |index| piece(mapping, trips, member, index);
                        let pieces: Vec<_> = (0..).map_while(next).collect();
                        assert!(pieces.is_sorted_by_key(|piece| piece.first));
                        if mapping == Mapping::BlocksOfChunks(chunk) {
                            let chunk = chunk_size(chunk, trips);
                            assert!(pieces.iter().all(|piece| piece.first % chunk == 0));
                        }
                        let last = pieces.last().is_some_and(|p| p.first + p.count == trips);
                        (pieces, last)
                    })
                    .collect();
                let what = format!("{space:?} {loop_type:?} {mapping:?} {threads} threads");
                assert_exact_cover(&what, trips, &shares);
            }
        });
    }

    /// `__kmpc_for_static_init` of libomp for `kmp_sch_static` (balanced) and
    /// `kmp_sch_static_chunked`, restated without overflow.
    fn libomp(space: Space, chunk: Option<i128>, member: Member) -> Share {
        let Space {
            mut lower,
            mut upper,
            step,
        } = space;
        let (thread, threads) = (i128::from(member.thread), i128::from(member.threads));
        let trips = space.trip_count() as i128;
        let (stride, last);
        match chunk {
            None => {
                if trips < threads {
                    if thread < trips {
                        lower += thread * step;
                        upper = lower;
                    } else {
                        lower = upper + step.signum();
                    }
                    last = thread == trips - 1;
                } else {
                    let (small, extras) = (trips / threads, trips % threads);
                    lower += step * (thread * small + thread.min(extras));
                    upper = lower + small * step - if thread < extras { 0 } else { step };
                    last = thread == threads - 1;
                }
                stride = trips;
            }
            Some(chunk) => {
                let chunk = if chunk < 1 { 1 } else { chunk.min(trips) };
                let chunks = trips / chunk + i128::from(trips % chunk != 0);
                let span = chunk * step;
                if chunks < threads {
                    stride = span * chunks;
                    if thread < chunks {
                        lower += span * thread;
                        upper = lower + span - step;
                    } else {
                        lower = upper + step.signum();
                    }
                } else {
                    stride = span * threads;
                    lower += span * thread;
                    upper = lower + span - step;
                }
                last = thread == (chunks - 1) % threads;
            }
        }
        Share {
            lower,
            upper,
            stride,
            last,
        }
    }

    #[test]
    fn shares_are_those_of_libomp_where_it_does_not_overflow() {
        let mut compared = 0;
        cases(|random, loop_type, space, threads| {
            let trips = space.trip_count();
            if trips == 0 || threads == 1 {
                return;
            }
            for chunk in [None, Some(random_chunk(random, trips))] {
                let mapping = chunk.map_or(Mapping::Blocks, Mapping::Chunks);
                for member in members(threads) {
                    let expected = libomp(space, chunk, member);
                    let highest = space.value(trips - 1) + expected.stride;
                    if chunk.is_some() && !loop_type.range().contains(&highest) {
                        continue;
                    }
                    compared += 1;
                    let found = share(space, loop_type, mapping, member);
                    assert_eq!(
                        found, expected,
                        "{space:?} {loop_type:?} {mapping:?} {member:?}"
                    );
                }
            }
        });
        assert!(compared > 100_000, "{compared}");
    }

    #[test]
    fn full_ranges_do_not_overflow() {
        for (loop_type, space, trips) in [
            (
                LoopType::I64,
                Space {
                    lower: i64::MIN.into(),
                    upper: i64::MAX.into(),
                    step: 1,
                },
                1 << 64,
            ),
            (
                LoopType::U64,
                Space {
                    lower: 0,
                    upper: u64::MAX.into(),
                    step: 1,
                },
                1 << 64,
            ),
            (
                LoopType::I32,
                Space {
                    lower: i32::MAX.into(),
                    upper: i32::MIN.into(),
                    step: -1,
                },
                1 << 32,
            ),
            (
                LoopType::U64,
                Space {
                    lower: 0,
                    upper: u64::MAX.into(),
                    step: i64::MAX.into(),
                },
                3,
            ),
        ] {
            assert_eq!(space.trip_count(), trips);
            for threads in [1, 2, 3, 7] {
                let shares: Vec<_> = members(threads)
                    .map(|member| {
                        let share = share(space, loop_type, Mapping::Blocks, member);
                        let pieces = compiled(space, loop_type, share, false);
                        (numbers(space, &pieces), share.last)
                    })
                    .collect();
                assert_exact_cover(&format!("{space:?} {threads}"), trips, &shares);
            }
        }
    }
}
