//! Which loops may run as one, whose elements each run all of them, one behind the other: loops that follow each other, and those
//! behind others that have nothing to do with them.
//!
//! This says which loops are worth to be asked for as one, at every call and so by looks alone. What proves that they may be is
//! the scheduler of loop chains, where their code is made (`pass/src/lower/jit/join.rs`): what it does not prove does not run as
//! one. A test compares both.
//!
//! Guarantee: with whichever elements run before others, each of them finds what it would find if the loops ran one after the
//! other.

use okl_abi::op2::access;

use crate::body::both_add;
use crate::layout::{Arg, Set, argtype};

/// Arguments that the one loop may have.
const MOST_ARGUMENTS: usize = 32;
/// Loops that it may be.
const MOST_LOOPS: usize = 16;

/// A loop that may be one with others, as far as it alone is concerned.
pub(crate) struct Candidate<'a> {
    pub(crate) set: *const Set,
    pub(crate) arguments: &'a [Arg],
}

/// Loops that run as one.
#[derive(Default)]
pub(crate) struct Together {
    /// Which they are, in order.
    pub(crate) numbers: Vec<usize>,
    /// For each the positions of its arguments among those of the one loop.
    pub(crate) places: Vec<Vec<usize>>,
    /// These.
    pub(crate) arguments: Vec<Arg>,
}

/// Which of them run as one, the first one among them. Those of others that are in between run behind them. None where the first
/// one is for itself.
pub(crate) fn together(loops: &[Candidate<'_>]) -> Together {
    let mut found = Together::default();
    let (mut before, mut left): (Vec<&Candidate<'_>>, Vec<&Candidate<'_>>) = Default::default();
    for (number, next) in loops.iter().enumerate() {
        let is_over = before.len() == MOST_LOOPS || before.last().is_some_and(|one| adds_up(one));
        if is_over || number > 0 && before.is_empty() {
            break;
        }
        let is_possible = (is_plain(next) || adds_up(next)) && needs_no_order(next);
        let is_one = is_possible
            && (number == 0 || may_follow(&before, next))
            && left.iter().all(|one| may_swap(one, next));
        let mut all = found.arguments.clone();
        let its = join(&mut all, next.arguments);
        if is_one && all.len() <= MOST_ARGUMENTS {
            found.numbers.push(number);
            found.places.push(its);
            found.arguments = all;
            before.push(next);
        } else {
            left.push(next);
        }
    }
    found
}

/// Data on a set.
fn is_data(one: &Arg) -> bool {
    one.argtype == argtype::DAT
}

fn is_written(one: &Arg) -> bool {
    one.acc != access::READ
}

/// Whether all its arguments are there, and it changes nothing but its own elements: nothing is added up then, in whichever
/// order.
fn is_plain(one: &Candidate<'_>) -> bool {
    let mut all = one.arguments.iter();
    all.all(|one| match one.argtype {
        argtype::DAT => one.opt != 0 && (!one.is_indirect() || !is_written(one)),
        argtype::GBL => one.opt != 0 && !is_written(one),
        argtype::IDX => true,
        _ => false,
    })
}

/// Whether it also adds to elements that others add to, or combines global arguments. It is the last one then of those that run
/// as one, which are worked on as it alone is, so that sums are the same.
pub(crate) fn adds_up(one: &Candidate<'_>) -> bool {
    let is_sum = |one: &&Arg| match one.argtype {
        argtype::DAT => one.is_indirect() && one.acc == access::INC,
        argtype::GBL => matches!(one.acc, access::INC | access::MIN | access::MAX),
        _ => false,
    };
    let (sums, others): (Vec<_>, Vec<_>) = one.arguments.iter().partition(is_sum);
    let others: Vec<_> = others.into_iter().copied().collect();
    let others = Candidate {
        set: one.set,
        arguments: &others,
    };
    !sums.is_empty() && sums.iter().all(|one| one.opt != 0) && is_plain(&others)
}

/// Whether its own elements may run in any order, but for sums.
fn needs_no_order(one: &Candidate<'_>) -> bool {
    let data = one.arguments.iter().filter(|one| is_data(one));
    data.clone().enumerate().all(|(at, one)| {
        let mut same = data.clone().take(at).filter(|other| other.dat == one.dat);
        same.all(|other| may_meet(other, one) || both_add(other, one))
    })
}

/// Whether a loop may be one with all in front of it, with one of which it has data in common: else nothing is gained.
fn may_follow(before: &[&Candidate<'_>], next: &Candidate<'_>) -> bool {
    let mut is_shared = false;
    let is_same_set = before.iter().all(|one| one.set == next.set);
    is_same_set
        && next.arguments.iter().filter(|one| is_data(one)).all(|one| {
            let all = before.iter().flat_map(|before| before.arguments);
            let mut same = all.filter(|other| is_data(other) && other.dat == one.dat);
            same.all(|other| {
                is_shared = true;
                may_meet(other, one)
            })
        })
        && is_shared
}

/// Whether a loop may run in front of another one: neither changes what the other one uses. Global arguments of loops that wait
/// are copies.
fn may_swap(one: &Candidate<'_>, other: &Candidate<'_>) -> bool {
    one.arguments.iter().filter(|one| is_data(one)).all(|one| {
        let mut same = other.arguments.iter();
        same.all(|other| {
            let both_read = !is_written(one) && !is_written(other);
            both_read || !is_data(other) || other.dat != one.dat
        })
    })
}

/// Whether what one loop does to data, and another one behind it does to the same, may be done element by element.
fn may_meet(one: &Arg, other: &Arg) -> bool {
    let both_read = !is_written(one) && !is_written(other);
    let is_own = !one.is_indirect() && !other.is_indirect();
    let is_same_form = one.dim == other.dim && one.size == other.size;
    both_read || is_own && is_same_form
}

/// For each argument the first one that has the same data.
pub(crate) fn data(arguments: &[Arg]) -> Vec<usize> {
    let all = arguments.iter().enumerate().map(|(at, one)| {
        let is_same = |other: &Arg| is_data(other) && other.dat == one.dat;
        let first = arguments.iter().position(is_same);
        first.filter(|_| is_data(one)).unwrap_or(at)
    });
    all.collect()
}

/// Adds the arguments of a loop, and says where they are: those of loops in front of it that are the same are one.
fn join(all: &mut Vec<Arg>, arguments: &[Arg]) -> Vec<usize> {
    let known = all.len();
    let its = arguments.iter().map(|one| {
        let is_same = |other: &Arg| {
            is_data(one)
                && is_data(other)
                && (one.dat, one.map, one.idx) == (other.dat, other.map, other.idx)
                && (one.dim, one.size) == (other.dim, other.size)
        };
        match all[..known].iter().position(is_same) {
            Some(at) => {
                // The first one may write a part of it, and the next one read another one.
                if is_written(one) || is_written(&all[at]) {
                    all[at].acc = access::RW;
                }
                at
            }
            None => {
                all.push(*one);
                all.len() - 1
            }
        }
    });
    its.collect()
}

#[cfg(test)]
mod tests {
    use okl_chains::dependences::dependences;
    use okl_chains::elements::{self, Does, Use};
    use okl_chains::isl::Isl;

    use super::*;
    use crate::random::Random;

    const SIZE: usize = 6;
    const DATS: usize = 4;

    /// What loops work on: data, and a global variable.
    #[derive(Clone, PartialEq, Debug)]
    struct Memory([[u64; SIZE]; DATS], u64);

    type Maps = [[usize; SIZE]; 2];

    /// The position of a thing that only its address tells from others.
    fn number<T>(one: *mut T) -> usize {
        one.addr() - 1
    }

    fn argument(random: &mut Random, used: &mut Vec<usize>) -> Arg {
        // SAFETY: all zeroes are an argument that nobody looks at.
        let mut one: Arg = unsafe { std::mem::zeroed() };
        (one.dim, one.size, one.idx, one.opt) = (1, 8, -1, 1);
        if random.below(9) == 0 {
            (one.argtype, one.acc) = (argtype::GBL, [access::READ, access::INC][random.below(2)]);
            return one;
        }
        one.argtype = argtype::DAT;
        one.acc = [
            access::READ,
            access::READ,
            access::WRITE,
            access::RW,
            access::INC,
        ][random.below(5)];
        if random.below(3) == 0 {
            (one.idx, one.map) = (0, std::ptr::without_provenance_mut(random.below(2) + 1));
        }
        let free: Vec<_> = (0..DATS).filter(|dat| !used.contains(dat)).collect();
        let dat = free[random.below(free.len())];
        used.push(dat);
        one.dat = std::ptr::without_provenance_mut(dat + 1);
        one
    }

    fn mixed(one: u64, other: u64) -> u64 {
        (one ^ other.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ one >> 31
    }

    /// Runs an element of a loop, whose kernel does everything that its arguments allow.
    fn run(memory: &mut Memory, maps: &Maps, arguments: &[Arg], element: usize) {
        let place = |one: &Arg| {
            let there = match one.map.is_null() {
                true => element,
                false => maps[number(one.map)][element],
            };
            (number(one.dat), there)
        };
        let mut found = element as u64;
        for one in arguments.iter().filter(|one| one.argtype == argtype::DAT) {
            let (dat, there) = place(one);
            let is_sum = one.acc == access::INC && one.is_indirect();
            if one.acc != access::WRITE && !is_sum {
                found = mixed(found, memory.0[dat][there]);
            }
        }
        for (at, one) in arguments.iter().enumerate() {
            let new = mixed(found, at as u64);
            match (one.argtype, one.acc) {
                (_, access::READ) => (),
                (argtype::GBL, _) => memory.1 = memory.1.wrapping_add(new),
                (_, access::INC) => {
                    let (dat, there) = place(one);
                    memory.0[dat][there] = memory.0[dat][there].wrapping_add(new);
                }
                _ => {
                    let (dat, there) = place(one);
                    memory.0[dat][there] = new;
                }
            }
        }
    }

    /// Loops as one, in some order of their elements.
    fn run_as_one(memory: &mut Memory, maps: &Maps, loops: &[Vec<Arg>], random: &mut Random) {
        let mut elements: Vec<_> = (0..SIZE).collect();
        for last in (1..SIZE).rev() {
            elements.swap(last, random.below(last + 1));
        }
        for element in elements {
            for one in loops {
                run(memory, maps, one, element);
            }
        }
    }

    #[test]
    fn what_runs_as_one_does_what_they_do_one_after_the_other() {
        let mut random = Random(5);
        let sets: [Set; 2] = [(); 2].map(|()| {
            // SAFETY: all zeroes are an empty set.
            unsafe { std::mem::zeroed() }
        });
        let (mut joined, mut over, mut kept_apart, mut would_differ) = (0, 0, 0, 0);
        for _ in 0..3000 {
            let maps = [(); 2].map(|()| [(); SIZE].map(|()| random.below(SIZE)));
            let mut memory = Memory([(); DATS].map(|()| [7; SIZE]), 0);
            let loops: Vec<Vec<Arg>> = (0..6)
                .map(|_| {
                    let mut used = Vec::new();
                    (0..1 + random.below(3))
                        .map(|_| argument(&mut random, &mut used))
                        .collect()
                })
                .collect();
            let candidates = loops.iter().map(|arguments| Candidate {
                set: &raw const sets[usize::from(random.below(8) == 0)],
                arguments,
            });
            let candidates: Vec<_> = candidates.collect();
            let mut at = 0;
            while at < loops.len() {
                let mut numbers = together(&candidates[at..]).numbers;
                let is_one = numbers.len() > 1;
                if !is_one && at + 1 < loops.len() && candidates[at].set == candidates[at + 1].set {
                    numbers = vec![0, 1];
                }
                let count = numbers.last().map_or(1, |last| last + 1);
                let these = &loops[at..at + count];
                let (picked, left): (Vec<_>, Vec<_>) =
                    (0..count).partition(|number| numbers.contains(number));
                let picked: Vec<_> = picked.into_iter().map(|one| these[one].clone()).collect();
                let mut as_one = memory.clone();
                run_as_one(&mut as_one, &maps, &picked, &mut random);
                for one in &left {
                    (0..SIZE).for_each(|element| run(&mut as_one, &maps, &these[*one], element));
                }
                for one in these {
                    (0..SIZE).for_each(|element| run(&mut memory, &maps, one, element));
                }
                if is_one {
                    joined += 1;
                    over += usize::from(!left.is_empty());
                    assert_eq!(memory, as_one, "{numbers:?}");
                } else if count > 1 {
                    kept_apart += 1;
                    would_differ += usize::from(memory != as_one);
                }
                at += count;
            }
        }
        // Others have nothing in common, or add something up.
        assert!(
            joined > 500 && over > 100 && would_differ * 4 > kept_apart,
            "{joined} {over} {would_differ} {kept_apart}"
        );
    }

    /// What the scheduler is told of loops.
    fn uses(loops: &[Vec<Arg>]) -> Vec<Vec<Use>> {
        let mut globals = DATS..;
        let mut each = |one: &Arg| {
            let is_own = is_data(one) && !one.is_indirect();
            let data = match is_data(one) {
                true => number(one.dat),
                false => globals.next().expect("there are more"),
            };
            let does = match one.acc {
                access::READ => Does::Read,
                access::WRITE => Does::Write,
                access::INC if !is_own => Does::Combine,
                _ => Does::Change,
            };
            Use { data, does, is_own }
        };
        let loops = loops.iter();
        loops
            .map(|one| one.iter().map(&mut each).collect())
            .collect()
    }

    #[test]
    fn the_scheduler_of_loop_chains_agrees() {
        if !Isl::is_installed() {
            eprintln!("skip the_scheduler_of_loop_chains_agrees: there is no isl");
            return;
        }
        let mut random = Random(11);
        let names: Vec<_> = (0..99).map(|at| format!("data {at}")).collect();
        let proved = |loops: &[Vec<Arg>]| {
            elements::prove_one(&elements::chain(&names, &uses(loops))).is_ok()
        };
        // SAFETY: all zeroes are an empty set.
        let set: Set = unsafe { std::mem::zeroed() };
        // Nothing of what is left behind depends on those that go in front of it.
        let may_go_first = |loops: &[Vec<Arg>], numbers: &[usize]| {
            let isl = Isl::new().expect("it is there");
            let chain = elements::chain(&names, &uses(loops));
            let all = dependences(&isl, &chain).expect("there are a few");
            let mut all = all.iter();
            all.all(|one| numbers.contains(&one.from) || !numbers.contains(&one.to))
        };
        let (mut joined, mut over, mut refused) = (0, 0, 0);
        for _ in 0..60 {
            let loops: Vec<Vec<Arg>> = (0..4)
                .map(|_| {
                    let mut used = Vec::new();
                    let count = 1 + random.below(3);
                    let its = (0..count).map(|_| {
                        // Now and then a loop has data twice.
                        used.truncate(
                            used.len() - usize::from(random.below(6) == 0).min(used.len()),
                        );
                        argument(&mut random, &mut used)
                    });
                    its.collect()
                })
                .collect();
            let candidates = loops.iter().map(|arguments| Candidate {
                set: &raw const set,
                arguments,
            });
            let candidates: Vec<_> = candidates.collect();
            for at in 0..loops.len() {
                let numbers = together(&candidates[at..]).numbers;
                let pick = |numbers: &[usize]| -> Vec<_> {
                    let all = numbers.iter().map(|one| loops[at + one].clone());
                    all.collect()
                };
                let count = numbers.last().map_or(0, |last| last + 1);
                if numbers.len() > 1 {
                    joined += 1;
                    assert!(proved(&pick(&numbers)));
                    over += usize::from(count > numbers.len());
                    assert!(may_go_first(&loops[at..at + count], &numbers));
                }
                // What is not one with them, next to them, would be illegal, is not worth it, or two loops add up.
                let next = (0..=count).find(|one| !numbers.contains(one));
                let next = next.expect("there is one behind them");
                let all: Vec<_> = (0..next).chain([next]).collect();
                let Some(last) = candidates.get(at + next) else {
                    continue;
                };
                let before = &candidates[at..at + next];
                let is_shared = |one: &Arg| {
                    let mut before = before.iter().flat_map(|one| one.arguments);
                    is_data(one) && before.any(|other| is_data(other) && other.dat == one.dat)
                };
                let is_wanted = before.is_empty()
                    || last.arguments.iter().any(is_shared) && !before.iter().any(adds_up);
                if is_wanted {
                    refused += 1;
                    assert!(!proved(&pick(&all)), "{:?}", uses(&pick(&all)));
                }
            }
        }
        assert!(
            joined > 20 && over > 3 && refused > 60,
            "{joined} {over} {refused}"
        );
    }

    #[test]
    fn arguments_that_are_the_same_are_one() {
        let make = |dat: usize, map: usize, idx, acc| {
            // SAFETY: all zeroes are an argument that nobody looks at.
            let mut one: Arg = unsafe { std::mem::zeroed() };
            (one.argtype, one.dim, one.size, one.opt) = (argtype::DAT, 2, 16, 1);
            one.dat = std::ptr::without_provenance_mut(dat);
            one.map = std::ptr::without_provenance_mut(map);
            (one.idx, one.acc) = (idx, acc);
            one
        };
        let first = [make(1, 0, -1, access::READ), make(2, 0, -1, access::WRITE)];
        let second = [
            make(2, 0, -1, access::READ),
            make(3, 7, 1, access::READ),
            make(1, 0, -1, access::READ),
        ];
        let third = [make(3, 7, 1, access::READ), make(3, 7, 0, access::READ)];
        let set = std::ptr::null();
        let loops = [&first[..], &second, &third].map(|arguments| Candidate { set, arguments });
        let found = together(&loops);
        assert_eq!(found.places, [vec![0, 1], vec![1, 2, 0], vec![2, 3]]);
        let accesses: Vec<_> = found.arguments.iter().map(|one| one.acc).collect();
        assert_eq!(
            accesses,
            [access::READ, access::RW, access::READ, access::READ]
        );
    }
}
