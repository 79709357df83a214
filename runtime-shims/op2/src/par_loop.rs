//! Runs a parallel loop.
//!
//! Guarantee: the kernel is called once for each element of the set, with pointers to what its arguments stand
//! for; in their order, if there is one thread. A loop whose arguments do not fit what is declared
//! does not run.

use std::{
    ffi::{c_char, c_int, c_void},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use okl_abi::op2::{Parameter, access, kind};

use crate::{
    argument::require_right,
    backend, conflicts,
    distribute::{self, Distribution},
    job,
    layout::{Arg, Dat, Set, argtype},
    local,
    plan::{self, Column, Plan},
    private::{self, Private},
    program, ranks,
    report::{self, print, text},
    storage,
    sums::{self, Sums},
    team,
    times::{self, Way},
};

/// Calls a kernel, its first argument, for the elements from the third argument up to the fourth.
type Range = unsafe extern "C-unwind" fn(*mut c_void, *mut Parameter, c_int, c_int);

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

/// What `argument` stands for.
///
/// # Safety
/// The argument is right for the loop; `scratch` stays where it is.
unsafe fn parameter(argument: &Arg, scratch: &mut Scratch) -> Parameter {
    // SAFETY: the caller's promise: they are null or declared.
    let (map, dat) = unsafe { (argument.map.as_ref(), argument.dat.as_ref()) };
    let (size, stride) = dat.map_or((0, 0), Dat::steps);
    let data = || strided(argument.data, size as i64, stride as i64);
    match (argument.argtype, map) {
        // The loop's code may look up a map; the result is null all the same.
        _ if argument.opt == 0 => {
            let columns = argument.idx.unsigned_abs() as usize + 1;
            scratch.nowhere.resize(columns, 0);
            scratch.columns.resize(columns, std::ptr::null_mut());
            Parameter {
                map: scratch.nowhere.as_mut_ptr().cast(),
                columns_at: scratch.columns.as_mut_ptr().cast(),
                ..strided(std::ptr::null_mut(), 0, 0)
            }
        }
        (argtype::DAT, None) => data(),
        (argtype::DAT, Some(map)) if argument.idx < 0 => {
            let columns = &mut scratch.columns;
            columns.resize(-argument.idx as usize, std::ptr::null_mut());
            Parameter {
                map: map.map.cast(),
                arity: i64::from(map.dim),
                columns_at: columns.as_mut_ptr().cast(),
                columns: columns.len() as i64,
                kind: kind::COLUMNS,
                ..data()
            }
        }
        (argtype::DAT, Some(map)) => Parameter {
            // SAFETY: a column of the map.
            map: unsafe { map.map.add(argument.idx as usize) }.cast(),
            arity: i64::from(map.dim),
            kind: kind::MAPPED,
            ..data()
        },
        (argtype::IDX, None) => Parameter {
            kind: kind::NUMBER,
            ..strided((&raw mut scratch.number).cast(), 0, 0)
        },
        (argtype::IDX, Some(map)) => strided(
            // SAFETY: a column of the map.
            unsafe { map.map.add(argument.idx as usize) }.cast(),
            i64::from(map.dim) * size_of::<i32>() as i64,
            0,
        ),
        _ => strided(argument.data, 0, 0),
    }
}

/// Calls `kernel` for each element of `set`.
///
/// # Safety
/// `arguments` are `count`, made by this library; `range`, and of `lanes`, `components` and `component_lanes`
/// those that are not null, call `kernel` with as many parameters of its types; `name` is a string.
#[expect(clippy::too_many_arguments, reason = "the boundary with compiled code")]
pub(crate) unsafe fn okl_op2_par_loop_v3(
    name: *mut c_void,
    set: *mut c_void,
    count: c_int,
    arguments: *mut c_void,
    kernel: *mut c_void,
    range: *mut c_void,
    lanes: *mut c_void,
    width: c_int,
    any_order: c_int,
    components: *mut c_void,
    component_lanes: *mut c_void,
) {
    let (name, set) = (name.cast::<c_char>().cast_const(), set.cast::<Set>());
    // SAFETY: the caller's promises.
    unsafe {
        let loop_name = text(name);
        program::require_start("op_par_loop");
        let arguments = std::slice::from_raw_parts(arguments.cast::<Arg>(), count as usize);
        require_right(loop_name, set, arguments);
        if program::diagnostics() > 2 {
            let with = match arguments.iter().any(Arg::is_indirect) {
                true => "with indirection",
                false => "w/o indirection",
            };
            print(&format!(" kernel routine {with}: {loop_name}"));
        }
        let start = times::now();
        let is_reproducible = backend::is_reproducible();
        let is_ordered = is_reproducible && sums::depend_on_order(arguments);
        if is_ordered && job::ranks() > 1 {
            sums::warn_of_updates(loop_name, arguments);
        }
        let may_have_lanes = |arguments: &[Arg]| {
            // What lanes add to an element, its own code may add in two steps.
            let adds = is_reproducible && arguments.iter().any(|one| one.acc == access::INC);
            !backend::is_sequential() && !is_ordered && !adds && may_have_lanes(arguments)
        };
        let needs_all = job::ranks() > 1 && ranks::needs_all_elements(loop_name, arguments);
        let settling = needs_all.then(|| {
            distribute::make_whole();
            Settling
        });
        let distribution = match needs_all {
            true => None,
            false => distribute::for_loops(),
        };
        let mut arguments = arguments.to_vec();
        ranks::refresh(&mut arguments);
        let by_component = storage::lay(loop_name, &arguments, || {
            if components.is_null() {
                return Some("was not compiled for that");
            }
            let are_separate = every_meeting(&arguments, both_add);
            (!are_separate).then_some("uses them through several arguments")
        });
        ranks::refresh(&mut arguments);
        let arguments = &arguments[..];
        let (range, lanes) = match by_component {
            0 => (range, lanes),
            _ => (components, component_lanes),
        };
        let range = std::mem::transmute::<*mut c_void, Range>(range);
        let lanes = std::mem::transmute::<*mut c_void, Option<Range>>(lanes);
        let lanes = lanes.filter(|_| width > 1 && may_have_lanes(arguments));
        conflicts::tell(loop_name, set, arguments, distribution.as_deref());
        // Where each rank declares a part, an element's number is that of its data on the rank.
        let told = distribution.as_ref().filter(|_| !local::is_local());
        let original = told.map(|distribution| Original {
            distribution,
            numbers: &distribution.part(set).numbers,
            are_asked_for: arguments.iter().any(is_number),
        });
        let body = Body {
            name: loop_name,
            kernel,
            range: lanes.unwrap_or(range),
            any_order: any_order != 0 && !is_ordered,
            may_throw: any_order == 0,
            is_ordered,
            original,
        };
        let size = match &distribution {
            None => (*set).whole as usize,
            Some(distribution) => distribution.part(set).owned,
        };
        let most = match body.any_order && size >= LEAST_SIZE && !backend::is_sequential() {
            true => team::most_threads(),
            false => 1,
        };
        let mut way = match &distribution {
            None if is_ordered => run_reproducibly(&body, 0..size, arguments),
            None => run(&body, 0..size, arguments, most),
            Some(distribution) => ranks::run_distributed(&body, set, arguments, most, distribution),
        };
        if lanes.is_some() {
            way.lanes = width as usize;
        }
        way.by_component = by_component;
        let seconds = times::now() - start - way.plan_seconds;
        times::add(name, seconds, bytes(size, arguments), way);
        drop(settling);
    }
}

/// Distributes the mesh again after a loop for which it was whole, also where an exception leaves that.
struct Settling;

impl Drop for Settling {
    fn drop(&mut self) {
        distribute::settle();
    }
}

pub(crate) use distribute::okl_op2_looks_at_mesh;
pub(crate) use report::okl_op2_at;
pub(crate) use storage::okl_op2_looks_at_data;

/// Smaller sets are not worth a second thread.
const LEAST_SIZE: usize = 512;

/// What runs.
pub(crate) struct Body<'a> {
    pub(crate) name: &'a str,
    kernel: *mut c_void,
    range: Range,
    /// Whether nobody notices in which order elements run.
    pub(crate) any_order: bool,
    /// Whether the kernel may throw exceptions, as far as the compiler knows.
    pub(crate) may_throw: bool,
    /// Whether they run in their original order on however many ranks, and sums are exact.
    pub(crate) is_ordered: bool,
    original: Option<Original<'a>>,
}

/// The elements' numbers in the mesh that the program declared, where it is distributed.
struct Original<'a> {
    distribution: &'a Distribution,
    numbers: &'a [i32],
    /// Whether kernels are told the numbers of their elements.
    are_asked_for: bool,
}

/// Whether it is the number of the loop's element.
fn is_number(argument: &Arg) -> bool {
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
        let block = match program::part_size() {
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
unsafe fn run_reproducibly(
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
unsafe fn written_columns(arguments: &[Arg]) -> Vec<Column> {
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
unsafe fn may_have_threads(arguments: &[Arg]) -> bool {
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
unsafe fn may_have_lanes(arguments: &[Arg]) -> bool {
    // SAFETY: the caller's promise.
    arguments.iter().all(|one| one.opt != 0) && unsafe { every_meeting(arguments, both_add) }
}

fn both_add(one: &Arg, other: &Arg) -> bool {
    let adds = |arg: &Arg| arg.acc == access::INC && arg.is_indirect();
    // Of one set: colours tell apart the elements of each set, not memory that two dats have in common.
    adds(one) && adds(other) && one.dat == other.dat
}

/// Whether two arguments that share memory, and do not both only read it, are always as `allowed` says.
///
/// # Safety
/// The arguments are right for the loop.
unsafe fn every_meeting(arguments: &[Arg], allowed: impl Fn(&Arg, &Arg) -> bool) -> bool {
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
unsafe fn used(argument: &Arg) -> Option<(&Arg, std::ops::Range<usize>)> {
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

/// Bytes that a loop over `size` elements moves if every datum is read or written once for each element, and twice
/// where it is both.
fn bytes(size: usize, arguments: &[Arg]) -> f64 {
    use okl_abi::op2::access::{INC, RW};
    let each = arguments
        .iter()
        .filter(|one| one.argtype == argtype::DAT && one.opt != 0);
    let each = each.map(|one| {
        let times = if matches!(one.acc, RW | INC) { 2 } else { 1 };
        let columns = if one.idx < -1 { -one.idx } else { 1 };
        f64::from(one.size) * f64::from(times * columns)
    });
    each.sum::<f64>() * size as f64
}
