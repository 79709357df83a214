//! Fork, barrier and join: where the team's ranks meet.
//!
//! What ranks exchange there, and in which order, is [`okl_coherence::driver`]'s; here is what OpenMP and the process
//! add to it.

mod this_rank;

use std::{
    ffi::{CStr, c_void},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Instant,
};

use okl_abi::{RegionDescriptor, region_flags};
use okl_coherence::{
    Machine, Page,
    driver::{Driver, Fork as Carried, Kind, Met, Region},
    geometry::signature::Signature,
};
use this_rank::{ThisRank, take_back};

use crate::{
    alone::{self, at_once, pipelines},
    api::Icv,
    cancel,
    cell::ProgramCell,
    console, devices, doacross, files, flags, float_environment, fortran,
    interpose::{exit, variables},
    layout, libomp, locale,
    memory::{self, coherence},
    mpi_job, objects,
    observe::{self, Event, Place},
    ordered, owed, program, program_graph,
    program_graph::Team,
    program_stacks, region, report, sections,
    settings::{Flags, settings},
    stack, stats, stream_format, summaries, tasks, team, threads,
    threads::Meeting,
    turns, verify,
};

/// The program's words of a fork: kind and team size, region, and what a thread inherits. Then come the captured
/// values.
const FORK_FLOAT: usize = 2;
/// Whether the name of a new locale follows.
const FORK_LOCALE: usize = FORK_FLOAT + 1;
const FORK_STREAMS: usize = FORK_LOCALE + 1;
const FORK_ICV: usize = FORK_STREAMS + stream_format::WORDS;
const FORK_ARGS: usize = FORK_ICV + Icv::WORDS;
const FORK_REGION: u64 = 1;
/// A region, before which ranks take rank 0's standard output again.
const FORK_REGION_AND_OUTPUT: u64 = 3;

/// Most pages that travel with a fork.
const CARRIED: usize = 8;

/// A region that describes what it accesses between two synchronisations in more words than this does so
/// in too small pieces: pages serve it better.
const MOST_WORDS: usize = 1 << 15;

/// What this rank's synchronisations remember of each other.
static DRIVER: ProgramCell<Option<Driver>> = ProgramCell::new(None);

/// From now on this rank can meet others.
pub(crate) fn start() {
    DRIVER.with(|slot| *slot = Some(Driver::new(MOST_WORDS)));
}

/// Drives this rank. It waits for others meanwhile, so what it remembers is not lent but taken.
///
/// # Panics
/// If a synchronisation is under way: what it remembers would be lost.
fn driver<R>(body: impl FnOnce(&mut Driver) -> R) -> R {
    let driver = DRIVER.with(Option::take);
    let mut driver = driver.expect("the job has started, and no synchronisation is under way");
    let result = body(&mut driver);
    DRIVER.with(|slot| *slot = Some(driver));
    result
}

/// Synchronises all ranks.
fn synchronise(kind: Kind, payload: u64) -> Met {
    console::flush();
    stats::count(|counts| counts.synchronisations += 1);
    let met = owed::while_meeting(|| {
        verify::exchange_changes();
        free_idle();
        driver(|driver| driver.synchronise(&mut ThisRank, kind, payload))
    });
    memory::make_room();
    met
}

/// Before a synchronisation: what the program has freed is to go back to the machine.
fn free_idle() {
    let idle = program::heap(|heap| heap.take_idle());
    if !idle.is_empty() {
        memory::free(&idle);
    }
}

/// `__kmpc_barrier`.
pub(crate) fn okl_mpi_kmpc_barrier(ident: *mut c_void, _gtid: i32) {
    tasks::complete_all();
    if !team::is_parallel() {
        return;
    }
    threads::together(Meeting::Barrier, |_| {
        if region::is_distributed() {
            let _span = observe::span(|| Event::Barrier(Place::of_construct(ident)));
            stats::count(|counts| counts.barriers += 1);
            region::beside_body(|| synchronise(Kind::Barrier, 0));
            coherence(|coherence| coherence.begin_next_interval(ident as u64));
            cancel::pass_barrier();
        }
    });
}

/// `__kmpc_cancel_barrier`: 1 where the region is cancelled.
pub(crate) fn okl_mpi_kmpc_cancel_barrier(ident: *mut c_void, gtid: i32) -> i32 {
    okl_mpi_kmpc_barrier(ident, gtid);
    i32::from(cancel::region_is_cancelled())
}

/// `__kmpc_copyprivate`: `copy(own list, the list of the thread that ran the single)`.
pub(crate) fn okl_mpi_kmpc_copyprivate(
    ident: *mut c_void,
    _gtid: i32,
    _size: i64,
    data: *mut c_void,
    copy: *mut c_void,
    did_it: i32,
) {
    /// The list of the thread that ran the single, which is the first of its rank.
    static SOURCE: AtomicU64 = AtomicU64::new(0);
    tasks::complete_all();
    if !team::is_parallel() {
        return;
    }
    let _span = observe::span(|| Event::Barrier(Place::of_construct(ident)));
    threads::together(Meeting::Copies, |_| {
        let mut source = if did_it != 0 { data as u64 } else { 0 };
        if region::is_distributed() {
            let payloads = synchronise(Kind::Exchange, source).payloads;
            source = payloads
                .iter()
                .copied()
                .find(|&list| list != 0)
                .unwrap_or(0);
        }
        SOURCE.store(source, Relaxed);
    });
    let source = SOURCE.load(Relaxed);
    if source != 0 && did_it == 0 {
        // SAFETY: the compiler's copy function, called as libomp calls it. It reads another rank's
        // private memory through faults.
        unsafe {
            let copy: extern "C" fn(*mut c_void, *mut c_void) = std::mem::transmute(copy);
            copy(data, source as *mut c_void);
        }
    }
    threads::together(Meeting::Copies, |_| {
        if region::is_distributed() {
            synchronise(Kind::Exchange, 0);
        }
    });
}

/// A region as it reaches every rank. Null is the one in which the threads end.
struct Fork {
    region: *mut RegionDescriptor,
    threads: i32,
    args: Vec<u64>,
    icv: Icv,
    location: &'static str,
}

static FORK_SLOT: ProgramCell<Option<Fork>> = ProgramCell::new(None);

/// Where rank 0's frames on the shared stack are while it runs a region.
static FRAME: ProgramCell<usize> = ProgramCell::new(0);

/// What a region captured: `count` values, of which there may be none.
fn captured(args: *mut c_void, count: i64) -> Vec<u64> {
    match count {
        0 => Vec::new(),
        // SAFETY: the pass stores so many.
        _ => unsafe { std::slice::from_raw_parts(args.cast::<u64>(), count as usize) }.to_vec(),
    }
}

/// `__kmpc_fork_call`.
pub(crate) fn okl_mpi_fork(region: *mut c_void, args: *mut c_void, count: i64) {
    let region: *mut RegionDescriptor = region.cast();
    if !mpi_job::has_started() {
        report::not_started(&format!("{}: this region", location_of(region)));
    }
    let size = team::take_team_size();
    let threads = size.threads;
    let args = captured(args, count);
    // A nested team, and one of which the compiler or the run time has already said why other ranks have no part in it,
    // is never as large as asked.
    let team = match team::level() {
        0 => team_of(region),
        _ => Team::OneThread,
    };
    let is_outer = team == Team::Ranks;
    if is_outer && size.threads < size.asked {
        threads::warn_of_few(region, location_of(region), size);
    }
    if team::level() == 0 {
        alone::end_window();
    }
    // What libraries call back as the process exits finds no other ranks.
    if threads == 1 || team == Team::OneThread || !program::is_running() {
        return run_alone(region, args);
    }
    let fork = Fork {
        region,
        threads,
        args,
        icv: team::icv(|icv| *icv),
        location: location_of(region),
    };
    if !is_outer || stream_format::declines(fork.location) {
        return run_here(fork);
    }
    let is_at_once = may_run_at_once(region, &fork);
    if is_at_once && at_once::is_to_run(region as usize) {
        return run_at_once(fork);
    }
    let is_pipeline = !is_at_once && is_pipeline(region);
    let on_devices = devices::is_used() && is_on_devices(region);
    let ranks = threads::ranks_in(threads);
    if is_pipeline
        && threads <= threads::most_at_once(fork.icv)
        && pipelines::is_to_run(region as usize)
    {
        return run_pipeline_here(fork, ranks);
    }
    let begun = Instant::now();
    let may_run_here = !is_at_once && !is_pipeline && !on_devices;
    let on_own_threads = may_run_here && may_run_on_own_threads(&fork);
    if on_own_threads && alone::is_to_run_all() && !program::heap(|heap| heap.has_idle()) {
        stats::count(|counts| counts.alone += 1);
        run_on_own_threads(fork);
        return alone::learn_alone(begun.elapsed());
    }
    let one_by_one = !on_devices && may_run_one_by_one(region, threads);
    let by_itself = match one_by_one {
        true => Some(threads as u32),
        false => on_own_threads.then(threads::machines),
    };
    // What the program has freed goes back at synchronisations.
    if let Some(longer) = by_itself
        && !program::heap(|heap| heap.has_idle())
        && alone::is_to_run(region as usize, longer, &fork.args)
    {
        stats::count(|counts| counts.alone += 1);
        return match one_by_one {
            true => run_one_by_one(fork),
            false => run_on_own_threads(fork),
        };
    }
    stats::count(|counts| counts.forks += 1);
    observe::regions::enter();
    FORK_SLOT.with(|slot| *slot = Some(fork));
    variables::follow();
    FRAME.with(|frame| *frame = stack::pointer());
    devices::serial_frames_begin_at(stack::pointer());
    stack::call_on(program_stacks::region_stack_top(), fork_on_region_stack);
    if is_at_once {
        at_once::learn_on_ranks(region as usize, begun.elapsed());
    }
    if is_pipeline {
        pipelines::learn_on_ranks(region as usize, begun.elapsed(), ranks);
    }
    if on_own_threads {
        alone::learn_on_ranks(region as usize, threads::machines(), begun.elapsed());
    }
    // What declares all it accesses writes to no unit.
    // SAFETY: a descriptor that the pass emitted.
    let flags = unsafe { (*region).flags };
    if flags & region_flags::DECLARES_ALL == 0 || flags & region_flags::STRETCHES != 0 {
        fortran::deliver();
    }
}

/// Runs a region in a team of one.
fn run_alone(region: *mut RegionDescriptor, args: Vec<u64>) {
    sections::okl_mpi_serial_code();
    let _region = observe::span(|| Event::region(location_of(region), 0, 1));
    team::enter_one(Some(location_of(region)));
    invoke(region, args);
    tasks::complete_all();
    team::leave_one();
}

/// Rank 0: runs a region that cannot be distributed, in a team of this rank's threads. To the other ranks it is serial code.
fn run_here(mut fork: Fork) {
    fork.threads = fork.threads.min(threads::most_here(fork.icv));
    if fork.threads == 1 {
        return run_alone(fork.region, fork.args);
    }
    run_on_own_threads(fork);
}

/// Whether threads of several ranks may wait for each other's flags in a region because that may be faster.
fn is_pipeline(region: *const RegionDescriptor) -> bool {
    // SAFETY: a descriptor that the pass emitted.
    let flags = unsafe { (*region).flags };
    settings().flags == Flags::OnNodes && waits_between_nests(flags)
}

/// Rank 0: runs such a region, in a team as large as on the ranks, which would be so many.
fn run_pipeline_here(fork: Fork, ranks: u32) {
    stats::count(|counts| counts.alone += 1);
    let region = fork.region as usize;
    let begun = Instant::now();
    run_on_own_threads(fork);
    // Ranks that share processors are no faster than one, and hand a flag over only when it is their turn.
    let ranks = if threads::have_processors() { ranks } else { 1 };
    pipelines::learn_here(region, begun.elapsed(), ranks);
}

/// Whether rank 0 may run a region by itself, in a team as large as on the ranks, for its atomic accesses.
fn may_run_at_once(region: *const RegionDescriptor, fork: &Fork) -> bool {
    // SAFETY: a descriptor that the pass emitted.
    let flags = unsafe { (*region).flags };
    let are_ranks_to =
        flags & region_flags::WAITS_FOR_FLAGS != 0 && settings().flags == Flags::OnRanks;
    flags & region_flags::AT_ONCE != 0
        && !are_ranks_to
        && fork.threads <= threads::most_at_once(fork.icv)
}

/// Whether rank 0 may run any region by itself, in a team as large as on the ranks: where these have one thread each.
fn may_run_on_own_threads(fork: &Fork) -> bool {
    threads::most() == mpi_job::ranks() as i32 && fork.threads <= threads::most_at_once(fork.icv)
}

/// Rank 0: runs such a region.
fn run_at_once(fork: Fork) {
    stats::count(|counts| counts.alone += 1);
    let (region, threads) = (fork.region as usize, fork.threads as u32);
    at_once::begin_here();
    let begun = Instant::now();
    run_on_own_threads(fork);
    at_once::learn_here(region, begun.elapsed(), threads, threads::machines());
}

/// Rank 0: runs a region in a team of this rank's threads.
fn run_on_own_threads(fork: Fork) {
    sections::okl_mpi_serial_code();
    FORK_SLOT.with(|slot| *slot = Some(fork));
    FRAME.with(|frame| *frame = stack::pointer());
    devices::serial_frames_begin_at(stack::pointer());
    stack::call_on(program_stacks::region_stack_top(), run_here_on_region_stack);
}

extern "C" fn run_here_on_region_stack() {
    let fork = FORK_SLOT.with(Option::take).expect("run_here stored it");
    let location = fork.location;
    let _region = observe::span(|| Event::region(location, 0, fork.threads));
    ordered::restart();
    doacross::restart();
    alone::in_body(|| run_share(&fork, 0, false));
    team::leave();
    make_frames_writable(FRAME.with(|frame| *frame));
}

/// Whether what the threads of a region share runs on devices, where ranks have some.
fn is_on_devices(region: *const RegionDescriptor) -> bool {
    // SAFETY: a descriptor that the pass emitted, if there is one.
    !region.is_null() && unsafe { (*region).flags } & region_flags::ON_DEVICES != 0
}

/// Whether rank 0 may run a region by itself, one thread after the other: where its ranks have one each.
fn may_run_one_by_one(region: *const RegionDescriptor, threads: i32) -> bool {
    // SAFETY: a descriptor that the pass emitted.
    let flags = unsafe { (*region).flags };
    flags & region_flags::ONE_BY_ONE != 0
        && threads <= mpi_job::ranks() as i32
        && threads::most() == mpi_job::ranks() as i32
        && !settings().verify
}

/// Rank 0: runs a region, one thread after the other. To the other ranks it is serial code.
fn run_one_by_one(fork: Fork) {
    sections::okl_mpi_serial_code();
    region::count_own();
    FORK_SLOT.with(|slot| *slot = Some(fork));
    FRAME.with(|frame| *frame = stack::pointer());
    devices::serial_frames_begin_at(stack::pointer());
    alone::in_body(|| stack::call_on(program_stacks::region_stack_top(), one_by_one));
    FORK_SLOT.with(|slot| *slot = None);
}

extern "C" fn one_by_one() {
    let (location, threads, icv) = FORK_SLOT.with(|slot| {
        let fork = slot.as_ref().expect("run_one_by_one stored it");
        (fork.location, fork.threads, fork.icv)
    });
    let _region = observe::span(|| Event::region(location, 0, threads));
    team::enter(0, threads, location, icv, false);
    alone::run(threads, |number| {
        let (region, args) = FORK_SLOT.with(|slot| {
            let fork = slot.as_ref().expect("as above");
            (fork.region, fork.args.clone())
        });
        match number {
            0 => invoke(region, args),
            _ => team::as_thread(number, || invoke(region, args)),
        }
    });
    team::leave();
    make_frames_writable(FRAME.with(|frame| *frame));
}

/// Runs what the threads of this rank do in a region, the first of which has the number `first`.
fn run_share(fork: &Fork, first: i32, is_distributed: bool) {
    threads::run(threads::Work {
        region: fork.region as usize,
        args: fork.args.clone(),
        first,
        threads: fork.threads,
        is_distributed,
        location: fork.location,
        icv: fork.icv,
        float_settings: float_environment::current(),
    });
}

/// Rank 0, as the program ends: a region in which the threads end, if that is to be noticed.
pub(crate) fn end_threads() {
    if !exit::other_threads_have_destructors() {
        return;
    }
    FORK_SLOT.with(|slot| {
        *slot = Some(Fork {
            region: std::ptr::null_mut(),
            threads: threads::most(),
            args: Vec::new(),
            icv: team::icv(|icv| *icv),
            location: location_of(std::ptr::null()),
        })
    });
    FRAME.with(|frame| *frame = stack::pointer());
    stack::call_on(program_stacks::region_stack_top(), fork_on_region_stack);
}

/// The body of that region: one thread after the other, so that each sees what those before it did.
fn end_in_turn() {
    for number in 1..team::num_threads() {
        if number == team::thread_num() {
            exit::end_thread();
        }
        okl_mpi_kmpc_barrier(std::ptr::null_mut(), 0);
    }
}

/// `__kmpc_fork_teams`: the initial thread runs the one team of the league.
pub(crate) fn okl_mpi_fork_teams(region: *mut c_void, args: *mut c_void, count: i64) {
    let args = captured(args, count);
    sections::okl_mpi_serial_code();
    let outer = team::icv(|icv| *icv);
    team::icv(|icv| {
        let clause = std::mem::take(&mut icv.pushed_team_threads);
        let limit = if clause > 0 {
            clause
        } else {
            icv.teams_thread_limit
        };
        if limit > 0 {
            icv.thread_limit = limit;
        }
    });
    invoke(region.cast(), args);
    tasks::complete_all();
    team::icv(|icv| {
        *icv = Icv {
            pushed_team_threads: 0,
            ..outer
        }
    });
}

/// Whose threads the pass and the whole-program call graph let the region have.
fn team_of(region: *mut RegionDescriptor) -> Team {
    const DISTRIBUTE: i64 = 1;
    const RANK_ZERO: i64 = 2;
    const ONE_THREAD: i64 = 3;
    // SAFETY: descriptors are private to the process and used by the program's thread only.
    let region = unsafe { &mut *region };
    if region.decision == 0 {
        let may_wait = may_wait_for_flags(region);
        let told = region.flags & region_flags::RANK_ZERO_ALONE != 0
            || region.flags & region_flags::WAITS_FOR_FLAGS != 0 && !may_wait;
        region.decision = match program_graph::team_of(region, told, may_wait) {
            Team::Ranks => DISTRIBUTE,
            Team::RankZero => RANK_ZERO,
            Team::OneThread => ONE_THREAD,
        };
    }
    match region.decision {
        DISTRIBUTE => Team::Ranks,
        RANK_ZERO => Team::RankZero,
        _ => Team::OneThread,
    }
}

/// Whether threads of several ranks may wait for each other's flags in a region. Where rank 0 lends its threads the processors of
/// all ranks nothing is gained. On several nodes it has a part of them, and where nests declare what they access a flag costs a
/// message.
fn may_wait_for_flags(region: &mut RegionDescriptor) -> bool {
    match settings().flags {
        Flags::Alone => false,
        Flags::OnRanks => true,
        Flags::OnNodes => {
            summaries::decide(region);
            waits_between_nests(region.flags)
        }
    }
}

/// Whether threads of ranks on several nodes wait for flags between nests that declare what they access. Ranks have one thread
/// each.
fn waits_between_nests(flags: i64) -> bool {
    const NEEDED: i64 =
        region_flags::WAITS_FOR_FLAGS | region_flags::FLAGS | region_flags::DECLARES_ALL;
    flags & NEEDED == NEEDED
        && threads::most() == mpi_job::ranks() as i32
        && coherence(|coherence| coherence.machine.spans_nodes())
}

fn location_of(region: *const RegionDescriptor) -> &'static str {
    if region.is_null() {
        return "the end of the program";
    }
    // SAFETY: the pass emits a NUL-terminated constant.
    unsafe { CStr::from_ptr((*region).location.cast()) }
        .to_str()
        .unwrap_or("an unnamed place")
}

/// What compiled code calls the number of the calling thread.
pub(crate) fn thread() -> i32 {
    match turns::are_several() {
        true => libomp::thread(),
        false => mpi_job::rank() as i32,
    }
}

/// `__kmpc_global_thread_num`.
pub(crate) fn okl_mpi_kmpc_global_thread_num(_ident: *mut c_void) -> i32 {
    thread()
}

/// Calls the region's body with this thread's number and `args`.
pub(crate) fn invoke(region: *const RegionDescriptor, mut args: Vec<u64>) {
    if region.is_null() {
        return end_in_turn();
    }
    let mut gtid = thread();
    let mut bound = team::thread_num();
    // SAFETY: the trampoline the pass emits, with the arguments it stored.
    unsafe {
        let body: extern "C" fn(*mut i32, *mut i32, *mut u64) =
            std::mem::transmute((*region).invoke);
        body(&mut gtid, &mut bound, args.as_mut_ptr());
    }
}

/// Rank 0: sends the fork and takes part in it.
extern "C" fn fork_on_region_stack() {
    console::flush();
    let fork = FORK_SLOT
        .with(Option::take)
        .expect("okl_mpi_fork stored it");
    sections::end_serial_code(fork.region);
    ordered::restart();
    doacross::restart();
    cancel::restart();
    tasks::restart();
    // Before the news, which are what other ranks do not know by other ways.
    let streams = stream_format::agree();
    free_idle();
    let carried = pages_to_carry(&fork.args);
    let carried = driver(|driver| driver.prepare_fork(&mut ThisRank, carried));
    let mut message = Vec::with_capacity(FORK_ARGS + fork.args.len());
    message.resize(FORK_ARGS, 0);
    let output = console::offer();
    let kind = match output {
        Some(_) => FORK_REGION_AND_OUTPUT,
        None => FORK_REGION,
    };
    message[0] = kind | (fork.threads as u64) << 32;
    message[1] = fork.region as u64;
    message[FORK_FLOAT] = float_environment::current();
    let mut new_locale = locale::changed();
    message[FORK_LOCALE] = new_locale.is_some().into();
    message[FORK_STREAMS..FORK_ICV].copy_from_slice(&streams);
    message[FORK_ICV..FORK_ARGS].copy_from_slice(&fork.icv.to_words());
    message.extend(&fork.args);
    if is_on_devices(fork.region) {
        message.push(FRAME.with(|frame| *frame) as u64);
    }
    let words = driver(|driver| driver.send_fork(&mut ThisRank, &carried, &message));
    let location = fork.location;
    let pages = carried.carried().len();
    observe::tell(|| Event::fork(location, fork.threads, pages, 8 * words));
    if let Some(output) = output {
        console::give_again(output);
    }
    if let Some(name) = &mut new_locale {
        mpi_job::broadcast_bytes(name);
    }
    let [_, _, _, allocated] = carried.enclosed();
    objects::learn_large_blocks(allocated);
    apply_fork(carried);
    run_region(fork);
    flags::end_region();
    files::end_region();
    make_frames_writable(FRAME.with(|frame| *frame));
}

/// Applies rank 0's notices and updates, and hands the carried pages round.
fn apply_fork(carried: Carried) {
    driver(|driver| driver.apply_fork(&mut ThisRank, &carried));
    memory::make_room();
}

/// The pages that other ranks will read first: those of captured stack variables, and the few tracked
/// pages that serial code wrote.
fn pages_to_carry(args: &[u64]) -> Vec<Page> {
    coherence(|coherence| {
        let layout = layout::layout();
        let captured = args
            .iter()
            .filter_map(|&arg| Some((layout.page_of(arg as usize)?, arg as usize)))
            .filter(|&(page, _)| layout.is_stack(page) || layout.is_global(page))
            .filter(|&(page, arg)| coherence.can_travel(page) && !objects::is_large(arg))
            .map(|(page, _)| page);
        let hot = coherence.dirty_pages();
        let hot: &[Page] = if hot.len() <= CARRIED / 2 { hot } else { &[] };
        let mut pages: Vec<Page> = Vec::new();
        for page in captured.chain(hot.iter().copied()) {
            if pages.len() < CARRIED && !pages.contains(&page) && coherence.can_travel(page) {
                pages.push(page);
            }
        }
        pages
    })
}

/// Runs this rank's part of a region, up to and including the join.
fn run_region(fork: Fork) {
    region::count();
    let region = fork.region;
    let location = fork.location;
    let first = threads::first_in(fork.threads);
    let number = first.unwrap_or(fork.threads);
    let _region = observe::span(|| Event::region(location, number, fork.threads));
    let accesses =
        sections::enter_region(region, &fork.args, threads::on_each_rank(fork.threads) == 1);
    let entered = Region {
        name: region as u64,
        threads: fork.threads as u64,
        values: &fork.args,
    };
    driver(|driver| driver.enter_region(&mut ThisRank, &entered, accesses));
    sections::begin_declarations();
    if let Some(first) = first {
        cancel::enter_region();
        let identity = Signature::START.with(region as u64);
        coherence(|coherence| coherence.begin_first_interval(identity));
        alone::in_body(|| run_share(&fork, first, true));
        let _span = observe::span(|| Event::Join(location));
        while !synchronise(Kind::Join, 0).joined {}
        coherence(|coherence| coherence.end_intervals());
        team::leave();
    } else {
        let _span = observe::span(|| Event::Join(location));
        while !synchronise(Kind::Passive, 0).joined {}
    }
    driver(|driver| driver.leave_region(&mut ThisRank));
    sections::leave_region(region);
    observe::regions::leave(location);
    coherence(|coherence| coherence.restart_sequences());
}

/// Ranks other than 0: runs regions until rank 0 ends the program.
pub(crate) fn serve_forks() {
    loop {
        let fork = observe::during(
            || Event::Idle,
            || driver(|driver| driver.receive_fork(&mut ThisRank)),
        );
        let Some((carried, message)) = fork else {
            return;
        };
        let (kind, threads) = (message[0] as u32, (message[0] >> 32) as i32);
        stats::count(|counts| counts.forks += 1);
        observe::regions::enter();
        doacross::restart();
        float_environment::adopt(message[FORK_FLOAT]);
        stream_format::adopt(&message[FORK_STREAMS..FORK_ICV]);
        let icv = Icv::from_words(
            message[FORK_ICV..FORK_ARGS]
                .try_into()
                .expect("all variables"),
        );
        let [returned, _, _, allocated] = carried.enclosed();
        take_back(returned);
        objects::learn_large_blocks(allocated);
        if u64::from(kind) == FORK_REGION_AND_OUTPUT {
            console::take_again();
        }
        if message[FORK_LOCALE] != 0 {
            let mut name = [0; locale::BYTES];
            mpi_job::broadcast_bytes(&mut name);
            locale::adopt(&name);
        }
        apply_fork(carried);
        let region = message[1] as *mut RegionDescriptor;
        let mut args = message[FORK_ARGS..].to_vec();
        if is_on_devices(region)
            && let Some(frame) = args.pop()
        {
            devices::serial_frames_begin_at(frame as usize);
        }
        run_region(Fork {
            region,
            threads,
            args,
            icv,
            location: location_of(region),
        });
    }
}

/// Rank 0: tells the others that the program has ended.
pub(crate) fn quit() {
    driver(|driver| driver.end(&mut ThisRank));
}

/// Rank 0, before it returns to the shared stack: the frames there are written at once, and system
/// calls of serial code, which cannot fault, write near them.
pub(crate) fn make_frames_writable(frame: usize) {
    const BELOW: usize = 256 << 10;
    const ABOVE: usize = 8 << 10;
    let stack = layout::layout().stack();
    let first = (frame - BELOW).max(stack.address);
    let end = (frame + ABOVE).min(stack.end());
    // Usually nothing has changed since the last time.
    static WRITABLE: ProgramCell<(usize, usize, u64)> = ProgramCell::new((0, 0, 0));
    let protections = || coherence(|coherence| coherence.counts.protections);
    if WRITABLE.with(|last| (last.0, last.1) != (first, end) || last.2 != protections()) {
        memory::touch(first, end - first, true);
        WRITABLE.with(|last| *last = (first, end, protections()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "no synchronisation is under way")]
    fn a_synchronisation_in_another_is_an_error() {
        start();
        driver(|_| ());
        driver(|_| driver(|_| ()));
    }
}
