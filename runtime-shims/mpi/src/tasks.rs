//! Tasks. They move between threads and ranks ([`moving`]). Where they may not, and a rank has several threads, they are the
//! OpenMP run time's, which shares them out among the rank's threads; elsewhere each runs at once, on the thread that creates it.
//!
//! Guarantee of those that run at once: an order that OpenMP allows. Such a task has run before its creator goes on, so
//! siblings run in the order of their creation, which fulfils every dependence; reductions go straight into the
//! original variable. Two things are left for later: the children of a chain of tasks so deep that the
//! stack might not hold it, run before any construct that waits for them; and the completion of a
//! detached task, which waits for its event. An event that is needed and not fulfilled stops the
//! program, because no other thread will fulfil it.

use std::{ffi::c_void, mem::ManuallyDrop};

use crate::{
    api::{Icv, source_of},
    cell::ProgramCell,
    libomp, mpi_job, region, report, team, threads, turns,
};

mod history;
mod moving;
mod offers;
mod pending;
mod record;
mod state;

pub(crate) use moving::{begin_region, end_region, restart, start};
use record::{Duplicate, Record, Routine, allocate, copy_of, dispose, header_of};
use state::{
    Creator, Dependence, Detached, Grain, Group, Item, Queued, Tasks, UnknownEvent, taskloop_parts,
};

thread_local! {
    static TASKS: ProgramCell<ManuallyDrop<Tasks>> =
        const { ProgramCell::new(ManuallyDrop::new(Tasks::new())) };
}

/// The tasks of the calling thread.
fn tasks<R>(body: impl FnOnce(&mut Tasks) -> R) -> R {
    TASKS.with(|cell| cell.with_own(|tasks| body(tasks)))
}

/// What runs the tasks of ranks with several threads, where this is one and does not itself.
fn of_several() -> Option<&'static libomp::Functions> {
    (turns::are_several() && !moving::are_ours()).then(libomp::functions)
}

/// A list of dependences of the program.
///
/// # Safety
/// `list` points to `count` entries.
unsafe fn dependences(count: i32, list: *mut c_void) -> Vec<Dependence> {
    if count <= 0 || list.is_null() {
        return Vec::new();
    }
    // SAFETY: the caller's array.
    unsafe { std::slice::from_raw_parts(list.cast::<Dependence>(), count as usize) }.to_vec()
}

/// Stops the program where something waits for an event.
fn event_missing(place: &str, construct: &str) -> ! {
    report::fatal(&format!(
        "{place}: {construct} waits for a detached task whose event is not fulfilled; each task runs on \
         the thread that creates it, so no other thread can fulfil the event in the meantime"
    ))
}

/// Runs a task, or puts it off: where the stack is deep, or where it may move and `may_wait`.
///
/// # Safety
/// As [`okl_mpi_kmpc_omp_task_with_deps`].
unsafe fn submit(
    ident: *mut c_void,
    gtid: i32,
    task: *mut c_void,
    dependences: Vec<Dependence>,
    may_wait: bool,
) {
    // SAFETY: a record with its header.
    let header = unsafe { &mut *header_of(task) };
    if header.running {
        header.resubmitted = true;
        return;
    }
    let level = team::level();
    let event = header.event;
    let (creator, is_too_deep, depth, may_defer) = tasks(|tasks| {
        let creator = tasks.creator(level);
        let is_too_deep = tasks.is_too_deep(creator);
        (creator, is_too_deep, tasks.depth(), tasks.may_defer())
    });
    let mut queued = Queued {
        gtid,
        task,
        creator,
        dependences,
    };
    if may_wait && may_defer && event == 0 && !creator.is_final && moving::is_on() {
        match moving::defer(queued, depth, is_too_deep) {
            None => return,
            Some(refused) => queued = refused,
        }
    }
    moving::wait_for_dependences(creator, &queued.dependences);
    if is_too_deep {
        tasks(|tasks| tasks.queue.push_back(queued));
        return;
    }
    let dependences = queued.dependences;
    if !dependences.is_empty() && tasks(|tasks| tasks.depends_on_event(creator, &dependences)) {
        // SAFETY: the caller's `ident_t`.
        event_missing(&unsafe { source_of(ident) }, "a task with this dependence");
    }
    // SAFETY: the caller hands the record over.
    unsafe { run(gtid, task, creator, dependences, depth, None) };
}

/// Runs a task, inside so many others and with these control variables or the caller's, and all its parts; and frees it
/// unless it waits for an event.
///
/// # Safety
/// `task` is a record whose routine is not being called.
unsafe fn run(
    gtid: i32,
    task: *mut c_void,
    creator: Creator,
    dependences: Vec<Dependence>,
    depth: u32,
    icv: Option<Icv>,
) {
    // Records lie in the program's memory, beside what declared accesses may have closed.
    threads::undeclared(|| {
        // SAFETY: as for this function.
        unsafe {
            begin(task, creator, depth);
            if let Some(icv) = icv {
                team::icv(|own| *own = icv);
            }
            let routine = (*task.cast::<Record>()).routine as usize;
            let began = moving::begins(routine, depth);
            call(gtid, task);
            if let Some(began) = began {
                moving::note(routine, depth, began.elapsed());
            }
            if tasks(|tasks| tasks.has_room_for_queue()) {
                run_queue();
            }
            end(gtid, task, dependences);
        }
    });
}

/// # Safety
/// As [`run`].
unsafe fn begin(task: *mut c_void, creator: Creator, depth: u32) {
    let (level, icv) = (team::level(), team::icv(|icv| *icv));
    // SAFETY: a record with its header.
    let header = unsafe { &mut *header_of(task) };
    header.running = true;
    let flags = header.flags;
    tasks(|tasks| tasks.begin(level, flags, creator, depth, icv));
}

/// Calls the routine once, and again as long as the task hands itself in again.
///
/// # Safety
/// As [`run`], after [`begin`].
unsafe fn call(gtid: i32, task: *mut c_void) {
    // SAFETY: the record and its header stay until the task ends.
    unsafe {
        let (header, record) = (header_of(task), task.cast::<Record>());
        loop {
            (*header).resubmitted = false;
            ((*record).routine)(gtid, task);
            if !(*header).resubmitted {
                return;
            }
        }
    }
}

/// Ends the innermost task. Whether it is complete.
///
/// # Safety
/// `task` is the innermost task; after this the record belongs to its event or is gone.
unsafe fn end(gtid: i32, task: *mut c_void, dependences: Vec<Dependence>) -> bool {
    // SAFETY: a record with its header.
    let event = unsafe {
        let header = &mut *header_of(task);
        header.running = false;
        header.event
    };
    let (frame, complete) = tasks(|tasks| tasks.end(event, dependences));
    if complete {
        // SAFETY: the body has run and no event is open. Destructors still belong to the task.
        unsafe { dispose(gtid, task) };
    }
    team::icv(|icv| *icv = frame.icv);
    complete
}

/// Runs the tasks that were put off, in the order of their creation, and those they put off.
fn run_queue() {
    while let Some(next) = tasks(|tasks| tasks.queue.pop_front()) {
        let Queued {
            gtid,
            task,
            creator,
            dependences,
        } = next;
        if tasks(|tasks| tasks.depends_on_event(creator, &dependences)) {
            event_missing(region::location(), "a task with a dependence");
        }
        let depth = tasks(|tasks| tasks.depth());
        // SAFETY: the queue holds records that have not run.
        unsafe { run(gtid, task, creator, dependences, depth, None) };
    }
}

/// Completes the tasks of this thread before a barrier or the end of a region.
pub(crate) fn complete_all() {
    // The threads' barrier does so.
    if of_several().is_some() {
        return;
    }
    run_queue();
    moving::wait_at_barrier();
    let level = team::level();
    if tasks(|tasks| tasks.waiting().any(|done| done.creator.level == level)) {
        event_missing(
            region::location(),
            "a barrier, or the end of the parallel region,",
        );
    }
}

/// `__kmpc_omp_task_alloc`.
///
/// # Safety
/// `entry` is the task's routine.
pub(crate) unsafe fn okl_mpi_kmpc_omp_task_alloc(
    ident: *mut c_void,
    gtid: i32,
    flags: i32,
    task_size: i64,
    shareds_size: i64,
    entry: *mut c_void,
) -> *mut c_void {
    if let Some(libomp) = of_several() {
        // SAFETY: the caller's arguments.
        return unsafe {
            (libomp.__kmpc_omp_task_alloc)(
                ident,
                gtid,
                flags,
                task_size as usize,
                shareds_size as usize,
                entry,
            )
        };
    }
    const SHAREDS_ALIGNMENT: usize = 16;
    let (task_size, shareds_size) = (task_size as usize, shareds_size as usize);
    let shareds_offset = task_size
        .max(size_of::<Record>())
        .next_multiple_of(SHAREDS_ALIGNMENT);
    let task = allocate(shareds_offset.saturating_add(shareds_size));
    // SAFETY: the block has room for the record and, behind it, the shareds; `entry` is a routine.
    unsafe {
        (*header_of(task)).flags = flags;
        let shareds = if shareds_size > 0 {
            task.byte_add(shareds_offset)
        } else {
            std::ptr::null_mut()
        };
        let routine = std::mem::transmute::<*mut c_void, Routine>(entry);
        let record = Record {
            shareds,
            routine,
            part: 0,
            destructors: None,
            priority: 0,
        };
        task.cast::<Record>().write(record);
    }
    task
}

/// `__kmpc_omp_task`.
///
/// # Safety
/// `task` comes from [`okl_mpi_kmpc_omp_task_alloc`].
pub(crate) unsafe fn okl_mpi_kmpc_omp_task(
    ident: *mut c_void,
    gtid: i32,
    task: *mut c_void,
) -> i32 {
    if let Some(libomp) = of_several() {
        // SAFETY: the caller's arguments.
        return unsafe { (libomp.__kmpc_omp_task)(ident, gtid, task) };
    }
    // SAFETY: the caller hands the record over.
    unsafe { submit(ident, gtid, task, Vec::new(), true) };
    0
}

/// `__kmpc_omp_task_with_deps`.
///
/// # Safety
/// `task` comes from [`okl_mpi_kmpc_omp_task_alloc`]; the lists have the lengths given.
pub(crate) unsafe fn okl_mpi_kmpc_omp_task_with_deps(
    ident: *mut c_void,
    gtid: i32,
    task: *mut c_void,
    count: i32,
    deps: *mut c_void,
    noalias_count: i32,
    noalias_deps: *mut c_void,
) -> i32 {
    if let Some(libomp) = of_several() {
        // SAFETY: the caller's arguments.
        return unsafe {
            (libomp.__kmpc_omp_task_with_deps)(
                ident,
                gtid,
                task,
                count,
                deps,
                noalias_count,
                noalias_deps,
            )
        };
    }
    // SAFETY: the caller's lists and record.
    unsafe {
        let mut all = dependences(count, deps);
        all.extend(dependences(noalias_count, noalias_deps));
        submit(ident, gtid, task, all, true);
    }
    0
}

/// `__kmpc_omp_task_begin_if0`: the program calls the routine itself.
///
/// # Safety
/// `task` comes from [`okl_mpi_kmpc_omp_task_alloc`].
pub(crate) unsafe fn okl_mpi_kmpc_omp_task_begin_if0(
    ident: *mut c_void,
    gtid: i32,
    task: *mut c_void,
) {
    if let Some(libomp) = of_several() {
        // SAFETY: the caller's arguments.
        return unsafe { (libomp.__kmpc_omp_task_begin_if0)(ident, gtid, task) };
    }
    let level = team::level();
    let (creator, depth) = tasks(|tasks| (tasks.creator(level), tasks.depth()));
    // SAFETY: the caller's record.
    unsafe { begin(task, creator, depth) };
}

/// `__kmpc_omp_task_complete_if0`.
///
/// # Safety
/// `task` is the innermost task, begun by [`okl_mpi_kmpc_omp_task_begin_if0`].
pub(crate) unsafe fn okl_mpi_kmpc_omp_task_complete_if0(
    ident: *mut c_void,
    gtid: i32,
    task: *mut c_void,
) {
    if let Some(libomp) = of_several() {
        // SAFETY: the caller's arguments.
        return unsafe { (libomp.__kmpc_omp_task_complete_if0)(ident, gtid, task) };
    }
    // SAFETY: the caller's record and `ident_t`.
    unsafe {
        if (*header_of(task)).resubmitted {
            call(gtid, task);
        }
        if !end(gtid, task, Vec::new()) {
            event_missing(&source_of(ident), "the creator of an undeferred task");
        }
    }
}

/// Waits until no event stands before a task with these dependences.
///
/// # Safety
/// The lists have the lengths given.
unsafe fn wait_for_dependences(ident: *mut c_void, lists: [(i32, *mut c_void); 2]) {
    run_queue();
    let level = team::level();
    for (count, list) in lists {
        // SAFETY: the caller's lists and `ident_t`.
        unsafe {
            let list = dependences(count, list);
            moving::wait_for_dependences(tasks(|tasks| tasks.creator(level)), &list);
            if tasks(|tasks| tasks.depends_on_event(tasks.creator(level), &list)) {
                event_missing(&source_of(ident), "a construct with this dependence");
            }
        }
    }
}

/// `__kmpc_omp_wait_deps`.
///
/// # Safety
/// The lists have the lengths given.
pub(crate) unsafe fn okl_mpi_kmpc_omp_wait_deps(
    ident: *mut c_void,
    gtid: i32,
    count: i32,
    deps: *mut c_void,
    noalias_count: i32,
    noalias_deps: *mut c_void,
) {
    if let Some(libomp) = of_several() {
        // SAFETY: the caller's arguments.
        return unsafe {
            (libomp.__kmpc_omp_wait_deps)(ident, gtid, count, deps, noalias_count, noalias_deps)
        };
    }
    // SAFETY: the caller's lists.
    unsafe { wait_for_dependences(ident, [(count, deps), (noalias_count, noalias_deps)]) };
}

/// `__kmpc_omp_taskwait_deps_51`.
///
/// # Safety
/// The lists have the lengths given.
#[allow(clippy::too_many_arguments)]
pub(crate) unsafe fn okl_mpi_kmpc_omp_taskwait_deps_51(
    ident: *mut c_void,
    gtid: i32,
    count: i32,
    deps: *mut c_void,
    noalias_count: i32,
    noalias_deps: *mut c_void,
    no_wait: i32,
) {
    if let Some(libomp) = of_several() {
        // SAFETY: the caller's arguments.
        return unsafe {
            (libomp.__kmpc_omp_taskwait_deps_51)(
                ident,
                gtid,
                count,
                deps,
                noalias_count,
                noalias_deps,
                no_wait,
            )
        };
    }
    // SAFETY: the caller's lists.
    unsafe { wait_for_dependences(ident, [(count, deps), (noalias_count, noalias_deps)]) };
}

/// `__kmpc_omp_taskwait`.
///
/// # Safety
/// `ident` points to an `ident_t` or nowhere.
pub(crate) unsafe fn okl_mpi_kmpc_omp_taskwait(ident: *mut c_void, gtid: i32) -> i32 {
    if let Some(libomp) = of_several() {
        // SAFETY: the caller's arguments.
        return unsafe { (libomp.__kmpc_omp_taskwait)(ident, gtid) };
    }
    run_queue();
    let level = team::level();
    let creator = tasks(|tasks| tasks.creator(level));
    moving::wait_for_children(creator);
    let waits = tasks(|tasks| tasks.waiting().any(|done| done.creator == creator));
    if waits {
        // SAFETY: the caller's `ident_t`.
        event_missing(&unsafe { source_of(ident) }, "taskwait");
    }
    0
}

/// `__kmpc_omp_taskyield`.
pub(crate) fn okl_mpi_kmpc_omp_taskyield(ident: *mut c_void, gtid: i32, end_part: i32) -> i32 {
    if let Some(libomp) = of_several() {
        // SAFETY: the caller's arguments.
        return unsafe { (libomp.__kmpc_omp_taskyield)(ident, gtid, end_part) };
    }
    0
}

/// `__kmpc_taskgroup`.
pub(crate) fn okl_mpi_kmpc_taskgroup(ident: *mut c_void, gtid: i32) {
    if let Some(libomp) = of_several() {
        // SAFETY: the caller's arguments.
        return unsafe { (libomp.__kmpc_taskgroup)(ident, gtid) };
    }
    tasks(|tasks| {
        let id = tasks.number();
        tasks.groups.push(Group {
            id,
            first_task: id,
            items: Vec::new(),
        });
    });
}

/// `__kmpc_end_taskgroup`.
///
/// # Safety
/// `ident` points to an `ident_t` or nowhere.
pub(crate) unsafe fn okl_mpi_kmpc_end_taskgroup(ident: *mut c_void, gtid: i32) {
    if let Some(libomp) = of_several() {
        // SAFETY: the caller's arguments.
        return unsafe { (libomp.__kmpc_end_taskgroup)(ident, gtid) };
    }
    run_queue();
    let first = tasks(|tasks| tasks.groups.last().map_or(0, |group| group.first_task));
    moving::wait_for_group(first);
    let waits = tasks(|tasks| {
        let group = tasks.groups.pop().expect("a taskgroup ends that began");
        tasks.waiting().any(|done| done.id > group.first_task)
    });
    if waits {
        // SAFETY: the caller's `ident_t`.
        event_missing(&unsafe { source_of(ident) }, "the end of a taskgroup");
    }
}

/// `__kmpc_taskloop`.
///
/// # Safety
/// `task` is a record made for this loop, `lower` and `upper` its bounds in the record.
#[allow(clippy::too_many_arguments)]
pub(crate) unsafe fn okl_mpi_kmpc_taskloop(
    ident: *mut c_void,
    gtid: i32,
    task: *mut c_void,
    if_value: i32,
    lower: *mut c_void,
    upper: *mut c_void,
    stride: i64,
    no_group: i32,
    schedule: i32,
    grain_size: i64,
    duplicate: *mut c_void,
) {
    // SAFETY: the caller's arguments.
    unsafe {
        okl_mpi_kmpc_taskloop_5(
            ident, gtid, task, if_value, lower, upper, stride, no_group, schedule, grain_size, 0,
            duplicate,
        );
    }
}

/// `__kmpc_taskloop_5`.
///
/// # Safety
/// As [`okl_mpi_kmpc_taskloop`].
#[allow(clippy::too_many_arguments)]
pub(crate) unsafe fn okl_mpi_kmpc_taskloop_5(
    ident: *mut c_void,
    gtid: i32,
    task: *mut c_void,
    if_value: i32,
    lower: *mut c_void,
    upper: *mut c_void,
    stride: i64,
    no_group: i32,
    schedule: i32,
    grain_size: i64,
    modifier: i32,
    duplicate: *mut c_void,
) {
    if let Some(libomp) = of_several() {
        // SAFETY: the caller's arguments.
        return unsafe {
            (libomp.__kmpc_taskloop_5)(
                ident, gtid, task, if_value, lower, upper, stride, no_group, schedule, grain_size,
                modifier, duplicate,
            )
        };
    }
    // SAFETY: the caller's record and bounds, and copies of them.
    unsafe {
        if no_group == 0 {
            okl_mpi_kmpc_taskgroup(ident, gtid);
        }
        let bounds = (*lower.cast::<u64>(), *upper.cast::<u64>());
        let mut grain = Grain::of(schedule, grain_size, modifier);
        if let (Grain::Whole, Some(tasks)) = (grain, moving::tasks_of_a_loop()) {
            grain = Grain::Tasks(tasks);
        }
        // Where the bounds lie in a record.
        let (low_at, high_at) = (lower.byte_offset_from(task), upper.byte_offset_from(task));
        for part in taskloop_parts(bounds.0, bounds.1, stride, grain) {
            let copy = copy_of(task);
            *copy.byte_offset(low_at).cast::<u64>() = part.lower;
            *copy.byte_offset(high_at).cast::<u64>() = part.upper;
            if !duplicate.is_null() {
                let duplicate = std::mem::transmute::<*mut c_void, Duplicate>(duplicate);
                duplicate(copy, task, part.last.into());
            }
            submit(ident, gtid, copy, Vec::new(), if_value != 0);
        }
        dispose(gtid, task);
        if no_group == 0 {
            okl_mpi_kmpc_end_taskgroup(ident, gtid);
        }
    }
}

/// `__kmpc_taskred_init`: the group to name when a task asks for its items.
///
/// # Safety
/// `data` points to `items` descriptions.
pub(crate) unsafe fn okl_mpi_kmpc_taskred_init(
    gtid: i32,
    items: i32,
    data: *mut c_void,
) -> *mut c_void {
    if let Some(libomp) = of_several() {
        // SAFETY: the caller's arguments.
        return unsafe { (libomp.__kmpc_taskred_init)(gtid, items, data) };
    }
    /// libomp's `kmp_taskred_input_t`.
    #[repr(C)]
    struct Description {
        shared: usize,
        original: usize,
        size: usize,
        initialise: usize,
        finish: usize,
        combine: usize,
        flags: u32,
    }
    // SAFETY: the caller's array.
    let list: &[Description] = match items {
        ..=0 => &[],
        // SAFETY: the caller's array.
        _ => unsafe { std::slice::from_raw_parts(data.cast(), items as usize) },
    };
    let item = |item: &Description| Item {
        shared: item.shared,
        original: if item.original == 0 {
            item.shared
        } else {
            item.original
        },
        size: item.size,
    };
    let new: Vec<Item> = list.iter().map(item).collect();
    tasks(|tasks| {
        let group = tasks
            .groups
            .last_mut()
            .expect("a task reduction belongs to a taskgroup");
        group.items.extend(new);
        std::ptr::without_provenance_mut(group.id as usize)
    })
}

/// `__kmpc_taskred_modifier_init`: `reduction(task, ...)` of a parallel or worksharing construct.
///
/// # Safety
/// As [`okl_mpi_kmpc_taskred_init`].
pub(crate) unsafe fn okl_mpi_kmpc_taskred_modifier_init(
    ident: *mut c_void,
    gtid: i32,
    worksharing: i32,
    items: i32,
    data: *mut c_void,
) -> *mut c_void {
    if let Some(libomp) = of_several() {
        // SAFETY: the caller's arguments.
        return unsafe {
            (libomp.__kmpc_taskred_modifier_init)(ident, gtid, worksharing, items, data)
        };
    }
    okl_mpi_kmpc_taskgroup(ident, gtid);
    // SAFETY: the caller's array.
    unsafe { okl_mpi_kmpc_taskred_init(gtid, items, data) }
}

/// `__kmpc_task_reduction_get_th_data`: where a task reduces into. Tasks of a group run one after the
/// other, so that is the variable itself.
pub(crate) fn okl_mpi_kmpc_task_reduction_get_th_data(
    gtid: i32,
    group: *mut c_void,
    item: *mut c_void,
) -> *mut c_void {
    if let Some(libomp) = of_several() {
        // SAFETY: the caller's arguments.
        return unsafe { (libomp.__kmpc_task_reduction_get_th_data)(gtid, group, item) };
    }
    let found = tasks(|tasks| tasks.reduction_item(group.addr() as u64, item.addr()));
    item.with_addr(found)
}

/// `__kmpc_task_reduction_modifier_fini`.
///
/// # Safety
/// `ident` points to an `ident_t` or nowhere.
pub(crate) unsafe fn okl_mpi_kmpc_task_reduction_modifier_fini(
    ident: *mut c_void,
    gtid: i32,
    worksharing: i32,
) {
    if let Some(libomp) = of_several() {
        // SAFETY: the caller's arguments.
        return unsafe { (libomp.__kmpc_task_reduction_modifier_fini)(ident, gtid, worksharing) };
    }
    // SAFETY: the caller's `ident_t`.
    unsafe { okl_mpi_kmpc_end_taskgroup(ident, gtid) };
}

/// `__kmpc_omp_reg_task_with_affinity`: a hint.
pub(crate) fn okl_mpi_kmpc_omp_reg_task_with_affinity(
    _ident: *mut c_void,
    _gtid: i32,
    _task: *mut c_void,
    _count: i32,
    _list: *mut c_void,
) -> i32 {
    0
}

/// The bits of an event that number it; the rank stands above them. The last one is set: events of the OpenMP run time, which
/// are addresses, are even.
const EVENT_BITS: u32 = 40;

/// `__kmpc_task_allow_completion_event`: the event of a task with a `detach` clause.
///
/// # Safety
/// `task` comes from [`okl_mpi_kmpc_omp_task_alloc`] and has not run.
pub(crate) unsafe fn okl_mpi_kmpc_task_allow_completion_event(
    ident: *mut c_void,
    gtid: i32,
    task: *mut c_void,
) -> *mut c_void {
    if let Some(libomp) = of_several() {
        // SAFETY: the caller's arguments.
        return unsafe { (libomp.__kmpc_task_allow_completion_event)(ident, gtid, task) };
    }
    // SAFETY: a record with its header.
    let header = unsafe { &mut *header_of(task) };
    if header.event == 0 {
        let rank = i64::from(mpi_job::rank()) + 1;
        header.event = tasks(|tasks| {
            let event = rank << EVENT_BITS | (tasks.number() as i64) << 1 | 1;
            tasks.detached.push(Detached {
                event,
                gtid,
                task,
                fulfilled: false,
                done: None,
            });
            event
        });
    }
    std::ptr::without_provenance_mut(header.event as usize)
}

/// `omp_fulfill_event`.
pub(crate) fn okl_mpi_omp_fulfill_event(event: i64) {
    // A task of serial code may be waiting for it.
    let is_ours = event & 1 != 0;
    if let Some(libomp) = of_several().filter(|_| !is_ours) {
        // SAFETY: the caller's arguments.
        return unsafe { (libomp.omp_fulfill_event)(event) };
    }
    match tasks(|tasks| tasks.fulfill(event)) {
        Ok(None) => {}
        // SAFETY: the body has run, and this was what the task's completion waited for.
        Ok(Some((gtid, task))) => unsafe { dispose(gtid, task) },
        Err(UnknownEvent) => {
            let owner = (event >> EVENT_BITS) - 1;
            let message = if owner == i64::from(mpi_job::rank()) {
                match turns::is_other() {
                    true => "the event belongs to a task of rank 0's first thread, and only that can fulfil it".to_owned(),
                    false => "the event is fulfilled already".to_owned(),
                }
            } else if (0..i64::from(mpi_job::ranks())).contains(&owner) {
                format!(
                    "the event belongs to a task of rank {owner}, and only that rank can fulfil it"
                )
            } else {
                format!("{event:#x} is no event")
            };
            report::fatal(&format!(
                "omp_fulfill_event ({}): {message}",
                region::location()
            ));
        }
    }
}

/// `omp_in_final`.
pub(crate) fn okl_mpi_omp_in_final() -> i32 {
    if let Some(libomp) = of_several() {
        // SAFETY: the caller's arguments.
        return unsafe { (libomp.omp_in_final)() };
    }
    let level = team::level();
    tasks(|tasks| tasks.creator(level).is_final.into())
}

/// `omp_in_explicit_task`.
pub(crate) fn okl_mpi_omp_in_explicit_task() -> i32 {
    if let Some(libomp) = of_several() {
        // SAFETY: the caller's arguments.
        return unsafe { (libomp.omp_in_explicit_task)() };
    }
    let level = team::level();
    tasks(|tasks| (tasks.creator(level).task != 0).into())
}
