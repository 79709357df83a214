//! Runs a loop's body for elements of a set, on this rank's threads.

use std::{
    ffi::{c_char, c_int, c_void},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use okl_abi::op2::{Parameter, access, kind};

use crate::{
    distribute::Distribution,
    layout::{Arg, Dat, Map, argtype},
    plan::{self, Column, Plan},
    private::{self, Private},
    settings,
    sums::Sums,
    team,
    times::Way,
};

/// Calls a kernel, its first argument, for the elements from the third argument up to the fourth.
pub(crate) type Range = unsafe extern "C-unwind" fn(*mut c_void, *mut Parameter, c_int, c_int);

/// What a loop's parameters need beside the data.
#[derive(Default)]
struct Scratch {
    /// Pointers to several elements.
    columns: Vec<*mut c_void>,
    /// The element's number.
    number: i32,
    /// An element of a map, for an argument that is not used: it leads from everywhere to element 0.
    nowhere: Vec<i32>,
}

fn strided(data: *mut c_char, size: i64, stride: i64) -> Parameter {
    Parameter {
        data: data.cast(),
        size,
        map: std::ptr::null_mut(),
        columns_at: std::ptr::null_mut(),
        arity: 0,
        columns: 0,
        kind: kind::STRIDED,
        stride,
    }
}

/// How the elements lie that `argument` stands for: what of its parameter is the same for all that runs a loop.
///
/// # Safety
/// The argument is right for the loop.
pub(crate) unsafe fn shape(argument: &Arg) -> Parameter {
    // SAFETY: the caller's promise: they are null or declared.
    let (map, dat) = unsafe { (argument.map.as_ref(), argument.dat.as_ref()) };
    let nowhere = std::ptr::null_mut();
    if argument.opt == 0 {
        return strided(nowhere, 0, 0);
    }
    let (size, stride) = dat.map_or((0, 0), Dat::steps);
    let data = strided(nowhere, size as i64, stride as i64);
    match (argument.argtype, map) {
        (argtype::DAT, None) => data,
        (argtype::DAT, Some(map)) if argument.idx < 0 => Parameter {
            arity: i64::from(map.dim),
            columns: i64::from(-argument.idx),
            kind: kind::COLUMNS,
            ..data
        },
        (argtype::DAT, Some(map)) => Parameter {
            arity: i64::from(map.dim),
            kind: kind::MAPPED,
            ..data
        },
        (argtype::IDX, None) => Parameter {
            kind: kind::NUMBER,
            ..strided(nowhere, 0, 0)
        },
        (argtype::IDX, Some(map)) => {
            let row = i64::from(map.dim) * size_of::<i32>() as i64;
            strided(nowhere, row, 0)
        }
        _ => strided(nowhere, 0, 0),
    }
}

/// What `argument` stands for.
///
/// # Safety
/// The argument is right for the loop; `scratch` stays where it is.
unsafe fn parameter(argument: &Arg, scratch: &mut Scratch) -> Parameter {
    // SAFETY: the caller's promise: it is null or declared.
    let (map, mut parameter) = unsafe { (argument.map.as_ref(), shape(argument)) };
    if argument.opt == 0 {
        // The loop's code may look up a map; the result is null all the same.
        let columns = argument.idx.unsigned_abs() as usize + 1;
        scratch.nowhere.resize(columns, 0);
        scratch.columns.resize(columns, std::ptr::null_mut());
        parameter.map = scratch.nowhere.as_mut_ptr().cast();
        parameter.columns_at = scratch.columns.as_mut_ptr().cast();
        return parameter;
    }
    // SAFETY: a column of the map.
    let column = |map: &Map| unsafe { map.map.add(argument.idx as usize) }.cast();
    parameter.data = match (argument.argtype, map) {
        (argtype::IDX, None) => (&raw mut scratch.number).cast(),
        (argtype::IDX, Some(map)) => column(map),
        _ => argument.data.cast(),
    };
    match (parameter.kind, map) {
        (kind::COLUMNS, Some(map)) => {
            let columns = &mut scratch.columns;
            columns.resize(-argument.idx as usize, std::ptr::null_mut());
            parameter.map = map.map.cast();
            parameter.columns_at = columns.as_mut_ptr().cast();
        }
        (kind::MAPPED, Some(map)) => parameter.map = column(map),
        _ => (),
    }
    parameter
}

/// What runs.
pub(crate) struct Body<'a> {
    pub(crate) name: &'a str,
    pub(crate) kernel: *mut c_void,
    pub(crate) range: Range,
    /// Whether nobody notices in which order elements run.
    pub(crate) any_order: bool,
    /// Whether the kernel may throw exceptions, as far as the compiler knows.
    pub(crate) may_throw: bool,
    /// Whether they run in their original order on however many ranks, and sums are exact.
    pub(crate) is_ordered: bool,
    pub(crate) original: Option<Original<'a>>,
}

/// The elements' numbers in the mesh that the program declared, where it is distributed.
pub(crate) struct Original<'a> {
    pub(crate) distribution: &'a Distribution,
    pub(crate) numbers: &'a [i32],
    /// Whether kernels are told the numbers of their elements.
    pub(crate) are_asked_for: bool,
}

/// Whether it is the number of the loop's element.
pub(crate) fn is_number(argument: &Arg) -> bool {
    argument.argtype == argtype::IDX && argument.map.is_null()
}

/// The parts of `range` in which the elements' numbers follow each other.
pub(crate) fn pieces(
    numbers: &[i32],
    range: std::ops::Range<usize>,
) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut next = range.start;
    numbers[range]
        .chunk_by(|one, other| one + 1 == *other)
        .map(move |piece| {
            let start = next;
            next += piece.len();
            start..next
        })
}

/// `parameter` for a loop that takes element n + `by` for element n.
fn shifted(parameter: &Parameter, by: i64) -> Parameter {
    let mut parameter = Parameter { ..*parameter };
    match parameter.kind {
        kind::STRIDED => {
            let bytes = (by * parameter.size) as isize;
            parameter.data = parameter.data.cast::<u8>().wrapping_offset(-bytes).cast();
        }
        kind::MAPPED | kind::COLUMNS => {
            let numbers = (by * parameter.arity) as isize;
            parameter.map = parameter.map.cast::<i32>().wrapping_offset(-numbers).cast();
        }
        _ => (),
    }
    parameter
}

// SAFETY: the functions of a loop may be called by any thread, as the caller of the loop promises where it
// allows several.
unsafe impl Sync for Body<'_> {}

/// Arguments that threads share.
struct Shared<'a>(&'a [Arg]);

// SAFETY: they are only read.
unsafe impl Sync for Shared<'_> {}

impl Body<'_> {
    /// Runs the ranges for one thread, which has its own copies of some arguments.
    ///
    /// # Safety
    /// The arguments are right for the loop.
    pub(crate) unsafe fn run(
        &self,
        arguments: &[Arg],
        copies: &[Private],
        thread: usize,
        ranges: impl FnOnce(&mut dyn FnMut(std::ops::Range<usize>)),
    ) {
        let mut scratch: Vec<_> = arguments.iter().map(|_| Scratch::default()).collect();
        let parameters = arguments.iter().zip(&mut scratch);
        // SAFETY: the caller's promise.
        let parameters = parameters.map(|(argument, scratch)| unsafe {
            let mut parameter = parameter(argument, scratch);
            if let (Some(original), argtype::IDX, Some(map)) =
                (&self.original, argument.argtype, argument.map.as_ref())
            {
                let rows = original.distribution.original_rows(map);
                parameter.data = rows.add(argument.idx as usize).cast_mut().cast();
            }
            parameter
        });
        let mut parameters: Vec<_> = parameters.collect();
        for copy in copies {
            parameters[copy.at()].data = copy.of(thread).cast();
        }
        let call = |parameters: &mut [Parameter], range: std::ops::Range<usize>, by: i64| {
            let (from, to) = (
                (range.start as i64 + by) as c_int,
                (range.end as i64 + by) as c_int,
            );
            // SAFETY: numbers of elements, and parameters of the loop.
            unsafe { (self.range)(self.kernel, parameters.as_mut_ptr(), from, to) };
        };
        match &self.original {
            Some(original) if original.are_asked_for => ranges(&mut |range| {
                for piece in pieces(original.numbers, range) {
                    let by = i64::from(original.numbers[piece.start]) - piece.start as i64;
                    let shifted = parameters.iter().map(|one| shifted(one, by));
                    call(&mut shifted.collect::<Vec<_>>(), piece, by);
                }
            }),
            _ => ranges(&mut |range| call(&mut parameters, range, 0)),
        }
    }
}

/// Runs the elements of `range`, on up to `most` threads. On one they run in their order. On several, a thread has
/// a contiguous part, or, where elements may write the same target, the blocks of a colour are shared out.
/// What is written so does not depend on the number of threads; reductions do.
///
/// # Safety
/// The arguments are right for the loop; where `most` is not 1, elements may run in any order.
pub(crate) unsafe fn run(
    body: &Body,
    elements: std::ops::Range<usize>,
    arguments: &[Arg],
    most: usize,
) -> Way {
    let size = elements.len();
    let one = Way {
        threads: 1,
        ..Way::default()
    };
    // SAFETY: the caller's promises.
    unsafe {
        let columns = written_columns(arguments);
        let block = match settings::part_size() {
            0 => plan::block_of(size),
            asked => asked,
        };
        let is_possible = most > 1
            && (columns.is_empty() || size > block)
            && may_have_threads(arguments)
            && private::can_be_combined(arguments, columns.is_empty());
        if !is_possible {
            body.run(arguments, &[], 0, |range| range(elements));
            return one;
        }
        let key = plan::Key {
            elements: elements.clone(),
            block,
            columns,
        };
        let plan = (!key.columns.is_empty()).then(|| plan::find(key));
        let copies = private::copies(arguments, most);
        let team_size = AtomicUsize::new(1);
        let shared = Shared(arguments);
        team::run(most, |member| {
            if member.number == 0 {
                team_size.store(member.of, Relaxed);
            }
            let shared = &shared;
            body.run(shared.0, &copies, member.number, |range| match &plan {
                None => {
                    let share = member.share_of_lines(size);
                    range(elements.start + share.start..elements.start + share.end);
                }
                Some((plan, _)) => {
                    for blocks in &plan.colours {
                        for &block in &blocks[member.share(blocks.len())] {
                            range(plan.key.block(block as usize));
                        }
                        member.wait();
                    }
                }
            });
        });
        let threads = team_size.into_inner();
        private::combine(arguments, &copies, threads, |_, thread| thread as i64);
        let seconds = |(plan, is_new): &(Arc<Plan>, bool)| if *is_new { plan.seconds } else { 0.0 };
        Way {
            threads,
            colours: plan.as_ref().map_or(0, |(plan, _)| plan.colours.len()),
            plan_seconds: plan.as_ref().map_or(0.0, seconds),
            ..one
        }
    }
}

/// Runs elements of a set that is not distributed, so that results are those of any number of ranks.
///
/// # Safety
/// The arguments are right for the loop.
pub(crate) unsafe fn run_reproducibly(
    body: &Body,
    elements: std::ops::Range<usize>,
    arguments: &[Arg],
) -> Way {
    // SAFETY: the caller's promise.
    unsafe {
        let mut sums = match private::can_be_combined(arguments, true) {
            true => Sums::new(arguments),
            false => Sums::default(),
        };
        let mut mine = arguments.to_vec();
        sums.redirect(&mut mine);
        body.run(&mine, &[], 0, |range| sums.each(elements, range));
        sums.finish(arguments, false);
    }
    Way {
        threads: 1,
        ..Way::default()
    }
}

/// The columns of maps through which a loop writes.
///
/// # Safety
/// The arguments are right for the loop.
pub(crate) unsafe fn written_columns(arguments: &[Arg]) -> Vec<Column> {
    let written = arguments.iter();
    let written = written.filter(|one| one.is_indirect() && one.acc != access::READ);
    let columns = written.flat_map(|one| {
        // SAFETY: the caller's promise: its map is declared, and the columns are the map's.
        unsafe {
            let (map, to) = (&*one.map, &*(*one.map).to);
            let columns = match one.idx {
                ..0 => 0..-one.idx,
                column => column..column + 1,
            };
            columns.map(|column| Column {
                start: map.map.add(column as usize).cast_const(),
                arity: map.dim as usize,
                set: to.index,
                targets: to.elements(),
            })
        }
    });
    columns.collect()
}

/// Whether no element that runs on one thread uses what one on another thread writes, but for the targets that
/// a plan keeps apart.
///
/// # Safety
/// The arguments are right for the loop.
pub(crate) unsafe fn may_have_threads(arguments: &[Arg]) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        every_meeting(arguments, |one, other| {
            let same_elements = !one.is_indirect() && !other.is_indirect() && one.dat == other.dat;
            same_elements && one.argtype == argtype::DAT || both_add(one, other)
        })
    }
}

/// Whether all arguments are there and no data that are written are those of another argument. Increments
/// through maps may meet: they are added one after the other.
///
/// # Safety
/// The arguments are right for the loop.
pub(crate) unsafe fn may_have_lanes(arguments: &[Arg]) -> bool {
    // SAFETY: the caller's promise.
    arguments.iter().all(|one| one.opt != 0) && unsafe { every_meeting(arguments, both_add) }
}

pub(crate) fn both_add(one: &Arg, other: &Arg) -> bool {
    let adds = |arg: &Arg| arg.acc == access::INC && arg.is_indirect();
    // Of one set: colours tell apart the elements of each set, not memory that two dats have in common.
    adds(one) && adds(other) && one.dat == other.dat
}

/// Whether two arguments that share memory, and do not both only read it, are always as `allowed` says.
///
/// # Safety
/// The arguments are right for the loop.
pub(crate) unsafe fn every_meeting(
    arguments: &[Arg],
    allowed: impl Fn(&Arg, &Arg) -> bool,
) -> bool {
    // SAFETY: the caller's promise.
    let all = arguments.iter().filter_map(|one| unsafe { used(one) });
    let all: Vec<_> = all.collect();
    all.iter().enumerate().all(|(at, (one, data))| {
        all[..at].iter().all(|(other, others_data)| {
            let is_read = |arg: &Arg| arg.acc == access::READ && arg.argtype != argtype::INFO;
            let meet = data.start < others_data.end && others_data.start < data.end;
            !meet || is_read(one) && is_read(other) || allowed(one, other)
        })
    })
}

/// The addresses of an argument's data, where it has any.
///
/// # Safety
/// The argument is right for the loop.
pub(crate) unsafe fn used(argument: &Arg) -> Option<(&Arg, std::ops::Range<usize>)> {
    // SAFETY: the caller's promise: it is null or declared.
    let dat = unsafe { argument.dat.as_ref() };
    let start = argument.data.addr();
    let bytes = match (argument.argtype, dat) {
        _ if argument.opt == 0 => return None,
        (argtype::IDX, _) => return None,
        // SAFETY: the same.
        (argtype::DAT, Some(dat)) => unsafe { dat.length() },
        _ => argument.size as usize,
    };
    Some((argument, start..start + bytes))
}
