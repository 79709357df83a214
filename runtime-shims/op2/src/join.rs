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
        if !is_plain(next) || number > 0 && !may_follow(before, next) {
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

/// Whether all its arguments are there, and it changes nothing but its own elements: nothing is added up then, in which order
/// ever.
fn is_plain(one: &Candidate<'_>) -> bool {
    one.arguments.iter().all(|one| match one.argtype {
        argtype::DAT => one.opt != 0 && (!one.is_indirect() || !is_written(one)),
        argtype::GBL => one.opt != 0 && !is_written(one),
        argtype::IDX => true,
        _ => false,
    })
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
