//! Elements of a loop that write the same: looked for where the program asks to be told much (`op_init` with 2 or more).
//!
//! Guarantee: what is told is the same on any number of ranks, and is told once for a loop and its maps.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Mutex,
};

use okl_abi::op2::access;

use crate::{
    distribute::Distribution,
    job,
    layout::{Arg, Map, Set},
    mesh,
    report::{text, warn},
    settings,
};

/// Two elements that write one target. In the order in which conflicts are told.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Conflict {
    second: i64,
    first: i64,
    target: i64,
    /// Position of the argument.
    argument: i64,
}

const NONE: Conflict = Conflict {
    second: i64::MAX,
    first: 0,
    target: 0,
    argument: 0,
};

impl Conflict {
    fn to_bytes(self) -> Vec<u8> {
        let numbers = [self.second, self.first, self.target, self.argument];
        numbers.into_iter().flat_map(i64::to_ne_bytes).collect()
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let number = |at: usize| {
            let bytes = bytes[at * size_of::<i64>()..][..size_of::<i64>()].try_into();
            i64::from_ne_bytes(bytes.expect("its bytes"))
        };
        Self {
            second: number(0),
            first: number(1),
            target: number(2),
            argument: number(3),
        }
    }
}

/// A column through which a loop writes: position of the argument, map, column.
type Writer = (usize, *const Map, usize);

/// Loops that have been looked at: their name, and positions of arguments with the maps and columns.
type Seen = HashSet<(String, Vec<(usize, i32, usize)>)>;

static SEEN: Mutex<Option<Seen>> = Mutex::new(None);

/// Forgets which loops have been looked at.
pub(crate) fn clear() {
    *SEEN.lock().expect("no panic while it is locked") = None;
}

/// Tells if elements of a loop write the same.
///
/// # Safety
/// The arguments are right for the loop over `set`.
pub(crate) unsafe fn tell(
    name: &str,
    set: *const Set,
    arguments: &[Arg],
    distribution: Option<&Distribution>,
) {
    if settings::diagnostics() < 2 {
        return;
    }
    // SAFETY: the caller's promise: dats, maps and sets are declared.
    unsafe {
        let mut dats: BTreeMap<i32, Vec<Writer>> = BTreeMap::new();
        for (at, one) in arguments.iter().enumerate() {
            if !one.is_indirect() || !matches!(one.acc, access::WRITE | access::RW) {
                continue;
            }
            let columns = match one.idx {
                ..0 => 0..-one.idx,
                column => column..column + 1,
            };
            let columns = columns.map(|column| (at, one.map.cast_const(), column as usize));
            dats.entry((*one.dat).index).or_default().extend(columns);
        }
        let all = dats.values().flatten();
        let key: Vec<_> = all
            .map(|&(at, map, column)| (at, (*map).index, column))
            .collect();
        let mut seen = SEEN.lock().expect("no panic while it is locked");
        let seen = seen.get_or_insert_with(Seen::new);
        if key.is_empty() || !seen.insert((name.to_owned(), key)) {
            return;
        }
        let here = dats
            .values()
            .map(|writers| first_conflict(set, writers, distribution));
        let here = here.min().unwrap_or(NONE);
        let found = match distribution {
            None => here,
            Some(_) => {
                let all = job::all_gather(&here.to_bytes());
                let all = all.chunks_exact(size_of::<Conflict>());
                all.map(Conflict::from_bytes).min().unwrap_or(NONE)
            }
        };
        if found == NONE {
            return;
        }
        let argument = &arguments[found.argument as usize];
        let base = i64::from(mesh::maps_base_index());
        warn(&format!(
            "op_par_loop {name}: arg{}: elements {} and {} of {} both write element {} of {} in {}: the result depends on their order",
            found.argument,
            found.first + base,
            found.second + base,
            text((*set).name),
            found.target + base,
            text((*(*argument.dat).set).name),
            text((*argument.dat).name),
        ));
    }
}

/// Of the targets that this rank owns the one whose second writer comes first.
///
/// # Safety
/// The maps are declared and start at `set`.
unsafe fn first_conflict(
    set: *const Set,
    writers: &[Writer],
    distribution: Option<&Distribution>,
) -> Conflict {
    // SAFETY: the caller's promise; maps have a row for each element that runs, with numbers of targets.
    unsafe {
        let to = (*writers[0].1).to;
        let (executed, owned) = match distribution {
            None => ((*set).whole as usize, (*to).whole as usize),
            Some(distribution) => (distribution.part(set).executed, distribution.part(to).owned),
        };
        let original = |set: *const Set, number: usize| match distribution {
            None => number as i64,
            Some(distribution) => i64::from(distribution.part(set).numbers[number]),
        };
        // The two first elements that write each target, and the arguments through which they do.
        let mut found = vec![[(i64::MAX, 0); 2]; owned];
        for element in 0..executed {
            let number = original(set, element);
            for &(at, map, column) in writers {
                let target = *(*map).map.add(element * (*map).dim as usize + column) as usize;
                let Some([first, second]) = found.get_mut(target) else {
                    continue;
                };
                if number < first.0 {
                    (*first, *second) = ((number, at), *first);
                } else if number != first.0 && number < second.0 {
                    *second = (number, at);
                }
            }
        }
        let conflicts = found.iter().enumerate();
        let conflicts = conflicts.filter(|(_, [_, second])| second.0 != i64::MAX);
        let conflicts = conflicts.map(|(target, [first, second])| Conflict {
            second: second.0,
            first: first.0,
            target: original(to, target),
            argument: second.1 as i64,
        });
        conflicts.min().unwrap_or(NONE)
    }
}
