//! Which loops that follow each other may run as one, whose elements each run all of them, one behind the other.
//!
//! Guarantee: with whichever elements run before others, each of them finds what it would find if the loops ran one after the
//! other. What each loop itself may do to elements that others use, too, is not asked here.

use okl_abi::op2::access;

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

/// How many of them, from the first one on, run as one; and for each the positions of its arguments among those of the one loop,
/// and these.
pub(crate) fn leading(loops: &[Candidate<'_>]) -> (Vec<Vec<usize>>, Vec<Arg>) {
    let (mut places, mut all) = (Vec::new(), Vec::new());
    for (number, next) in loops.iter().enumerate().take(MOST_LOOPS) {
        let before = &loops[..number];
        let is_possible = is_plain(next) || adds_up(next);
        if !is_possible || number > 0 && (adds_up(&before[number - 1]) || !may_follow(before, next))
        {
            break;
        }
        let mut joined = all.clone();
        let its = join(&mut joined, next.arguments);
        if joined.len() > MOST_ARGUMENTS {
            break;
        }
        places.push(its);
        all = joined;
    }
    (places, all)
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

/// Whether a loop may be one with all in front of it, with one of which it has data in common: else nothing is gained.
fn may_follow(before: &[Candidate<'_>], next: &Candidate<'_>) -> bool {
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

/// Whether what one loop does to data, and another one behind it does to the same, may be done element by element.
fn may_meet(one: &Arg, other: &Arg) -> bool {
    let both_read = !is_written(one) && !is_written(other);
    let is_own = !one.is_indirect() && !other.is_indirect();
    let is_same_form = one.dim == other.dim && one.size == other.size;
    both_read || is_own && is_same_form
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
        let (mut joined, mut kept_apart, mut would_differ) = (0, 0, 0);
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
                let count = leading(&candidates[at..]).0.len().max(1);
                let together = |memory: &Memory, count: usize, random: &mut Random| {
                    let (mut apart, mut as_one) = (memory.clone(), memory.clone());
                    let these = &loops[at..at + count];
                    for one in these {
                        (0..SIZE).for_each(|element| run(&mut apart, &maps, one, element));
                    }
                    run_as_one(&mut as_one, &maps, these, random);
                    (apart, as_one)
                };
                if count > 1 {
                    joined += 1;
                    let (apart, as_one) = together(&memory, count, &mut random);
                    assert_eq!(apart, as_one, "{:?}", &loops[at..at + count].len());
                } else if at + 1 < loops.len() && candidates[at].set == candidates[at + 1].set {
                    kept_apart += 1;
                    let (apart, as_one) = together(&memory, 2, &mut random);
                    would_differ += usize::from(apart != as_one);
                }
                for one in &loops[at..at + count] {
                    (0..SIZE).for_each(|element| run(&mut memory, &maps, one, element));
                }
                at += count;
            }
        }
        // Others have nothing in common, or add something up.
        assert!(
            joined > 500 && would_differ * 4 > kept_apart,
            "{joined} {would_differ} {kept_apart}"
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
        let (places, all) = leading(&loops);
        assert_eq!(places, [vec![0, 1], vec![1, 2, 0], vec![2, 3]]);
        let accesses: Vec<_> = all.iter().map(|one| one.acc).collect();
        assert_eq!(
            accesses,
            [access::READ, access::RW, access::READ, access::READ]
        );
    }
}
