//! Whether loops that follow each other may be one.
//!
//! Guarantee: only loops that are right may be one, over one set, where an element needs nothing of the loops in front of
//! its own but what these do to it, and where nobody sees in which order elements run.

use std::{
    ffi::{c_int, c_void},
    ops::Range,
};

use okl_abi::op2::access;

use crate::{
    argument::mistake_of_any,
    layout::{Arg, Set, argtype},
    settings,
};

/// See the list of these functions.
///
/// # Safety
/// Lists are as long as is said, and `arguments` were made by this library.
#[expect(clippy::too_many_arguments, reason = "the boundary with compiled code")]
pub(crate) unsafe fn okl_op2_may_be_one_v1(
    loops: c_int,
    sets: *mut c_void,
    counts: *mut c_void,
    arguments: *mut c_void,
    same: *mut c_void,
    variables: c_int,
    used: *mut c_void,
    answer: *mut c_void,
) {
    // SAFETY: the caller's promises.
    unsafe {
        let list =
            |at: *mut c_void, count: usize| std::slice::from_raw_parts(at.cast::<c_int>(), count);
        let counts = list(counts, loops as usize);
        let sets = std::slice::from_raw_parts(sets.cast::<*const Set>(), loops as usize);
        let count = counts.iter().sum::<c_int>() as usize;
        let arguments = std::slice::from_raw_parts(arguments.cast::<Arg>(), count);
        let used = std::slice::from_raw_parts(used.cast::<(usize, usize)>(), variables as usize);
        let asked = Loops {
            sets,
            counts,
            arguments,
            same: list(same, count),
            used,
        };
        *answer.cast::<c_int>() = c_int::from(settings::has_started() && asked.may_be_one());
    }
}

/// Loops that follow each other.
struct Loops<'a> {
    sets: &'a [*const Set],
    counts: &'a [c_int],
    arguments: &'a [Arg],
    /// For each argument the first one that seems to have the same data.
    same: &'a [c_int],
    /// Variables that kernels read by name: addresses, and how many bytes.
    used: &'a [(usize, usize)],
}

impl Loops<'_> {
    /// # Safety
    /// Arguments and sets are null, or declared.
    unsafe fn may_be_one(&self) -> bool {
        let set = self.sets[0];
        if set.is_null() || self.sets.iter().any(|one| *one != set) {
            return false;
        }
        let mut rest = self.arguments;
        let mut loops = Vec::new();
        for (number, &count) in self.counts.iter().enumerate() {
            let (its, others) = rest.split_at(count as usize);
            rest = others;
            // SAFETY: the caller's promise.
            if unsafe { mistake_of_any(set, its) }.is_some() {
                return false;
            }
            loops.extend(its.iter().map(|_| number));
        }
        // SAFETY: the caller's promise.
        let is_alone = |one: &Arg| unsafe {
            let dat = one.dat.as_ref().filter(|_| is_data(one));
            dat.is_none_or(|dat| !dat.is_shared && dat.user_managed == 0)
        };
        self.arguments.iter().all(|one| {
            let is_direct = one.map.is_null() && one.argtype != argtype::INFO;
            is_direct && is_alone(one) && (!writes_variable(one) || !self.is_used(one))
        }) && (0..self.arguments.len())
            .all(|at| (0..at).all(|before| loops[at] == loops[before] || self.may_meet(before, at)))
    }

    /// Whether an argument is one of those variables.
    fn is_used(&self, one: &Arg) -> bool {
        let mut used = self.used.iter();
        used.any(|&(start, bytes)| meet(&place(one), &(start..start + bytes)))
    }

    /// Whether arguments of two loops are such that the other one may run in between.
    fn may_meet(&self, before: usize, at: usize) -> bool {
        let (one, other) = (&self.arguments[before], &self.arguments[at]);
        let seem_same = self.same[before] == self.same[at];
        let both_read = one.acc == access::READ && other.acc == access::READ;
        match (one.argtype, other.argtype) {
            (argtype::DAT, argtype::DAT) if is_data(one) && is_data(other) => {
                (one.dat == other.dat) == seem_same || !seem_same && both_read
            }
            (argtype::GBL, argtype::GBL) => both_read || !meet(&place(one), &place(other)),
            _ => !seem_same,
        }
    }
}

fn is_data(one: &Arg) -> bool {
    one.argtype == argtype::DAT && one.opt != 0
}

fn writes_variable(one: &Arg) -> bool {
    one.argtype == argtype::GBL && one.acc != access::READ
}

/// Where a variable of the program's is.
fn place(one: &Arg) -> Range<usize> {
    let bytes = if one.opt != 0 { one.size as usize } else { 0 };
    one.data.addr()..one.data.addr() + bytes
}

fn meet(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::argument::op_arg_gbl_char;

    /// Two loops over a set, each with one global argument.
    fn may_be_one(
        one: (&mut [f64], i32),
        other: (&mut [f64], i32),
        used: &[(usize, usize)],
    ) -> bool {
        // SAFETY: all zeroes are an empty set.
        let set: Set = unsafe { std::mem::zeroed() };
        let make = |(data, acc): (&mut [f64], i32)| {
            let (dim, data) = (data.len() as c_int, data.as_mut_ptr().cast());
            // SAFETY: a variable of that length.
            unsafe { op_arg_gbl_char(data, dim, c"double".as_ptr(), 8, acc) }
        };
        let arguments = [make(one), make(other)];
        let asked = Loops {
            sets: &[&raw const set; 2],
            counts: &[1, 1],
            arguments: &arguments,
            same: &[0, 1],
            used,
        };
        // SAFETY: made for a set that is there.
        unsafe { asked.may_be_one() }
    }

    #[test]
    fn variables_of_two_loops_do_not_meet_where_one_is_written() {
        let mut data = [0.0; 8];
        let start = data.as_ptr().addr();
        let (one, other) = data.split_at_mut(4);
        assert!(may_be_one((one, access::INC), (other, access::READ), &[]));
        assert!(may_be_one(
            (one, access::INC),
            (other, access::READ),
            &[(start + 32, 8)]
        ));
        assert!(!may_be_one(
            (one, access::INC),
            (other, access::READ),
            &[(start + 24, 8)]
        ));
        let both = |acc: i32, data: &mut [f64]| {
            let (at, count) = (data.as_mut_ptr(), data.len());
            // SAFETY: nobody uses it but by its address.
            let other = unsafe { std::slice::from_raw_parts_mut(at, count) };
            may_be_one((data, acc), (other, access::READ), &[])
        };
        assert!(both(access::READ, &mut data));
        assert!(!both(access::INC, &mut data));
    }
}
