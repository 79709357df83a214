//! The threads of a rank, where `OMP_NUM_THREADS` asks for more than one.
//!
//! The program's own thread is thread 0 of its rank; the others are those of the OpenMP run time ([`libomp`]), which also
//! runs tasks on them. Guarantee:
//!
//! * In a team of `n` threads each rank has `ceil(n / ranks)` consecutive ones, the last ranks what is
//!   left; so no rank has two while another has none, and a team of at most one per rank is as it would
//!   be without threads. A region that cannot be distributed has rank 0's threads; where all ranks are on one machine, as
//!   many as all of them have, since the others' processors are idle meanwhile: [`lend`].
//! * What concerns the whole rank (barriers, reductions between ranks, the end of the region) its first
//!   thread does while the others wait: [`together`].
//! * Page faults and declarations change the rank's state while other threads compute; one thread at a
//!   time does that: [`turns::alone`].
//! * The threads declare in an order that does not depend on time, by turns: [`in_turn`]. A rank's
//!   declarations are so the same in every iteration of a program, and known ones need no new plan. From when one of
//!   them runs code that declares nothing ([`okl_mpi_undeclared`]) until all meet, none is taken.
//!
//! What the other threads run of the program they run on stacks in the rank's private area ([`program_stacks`]), which
//! other ranks can read; those on lent processors on stacks that no other rank looks at.

use std::{
    cell::Cell,
    ffi::c_void,
    sync::{
        Mutex, MutexGuard, OnceLock,
        atomic::{
            AtomicBool, AtomicU32, AtomicU64,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    time::Duration,
};

use okl_abi::RegionDescriptor;

use crate::{
    alone::at_once, alternate_stack, api::Icv, cell::ProgramCell, doacross, float_environment,
    interpose::signals, interpose::threads as interposed, libomp, loops, meanwhile, mpi_job,
    processors::Processors, program_stacks, region, report, rounds::Rounds, scopes, sections,
    settings::settings, stack, sync, tasks, team, thread_privates, turns, waiting,
};

/// Threads of each rank.
static PER_RANK: AtomicU32 = AtomicU32::new(1);
/// Whether every thread of the ranks on this node may have a processor.
static HAVE_PROCESSORS: AtomicBool = AtomicBool::new(false);
/// Threads of rank 0 in a region that it runs by itself, and the processors of the ranks that lend it theirs.
static OF_RANK_ZERO: AtomicU32 = AtomicU32::new(1);
static LENT: OnceLock<Vec<Processors>> = OnceLock::new();
/// Threads of rank 0 in a region that it runs by itself though others could share it, and the machines of the job.
static AT_ONCE: AtomicU32 = AtomicU32::new(0);
static MACHINES: AtomicU32 = AtomicU32::new(1);
/// The processors of the ranks on this node, and whether rank 0 runs more threads on them now.
static PROCESSORS: AtomicU32 = AtomicU32::new(1);
static IS_CROWDED: AtomicBool = AtomicBool::new(false);

/// Why threads of a rank wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meeting {
    Barrier,
    /// The copies of private variables, where a `single` ends: its tasks have run, as at a barrier.
    Copies,
    /// A reduction, with the address of the thread's list of items. It is no barrier for tasks.
    Reduction(usize),
    /// The end of the region.
    End,
}

impl Meeting {
    fn name(self) -> &'static str {
        match self {
            Self::Barrier => "a barrier",
            Self::Copies => "a copyprivate clause",
            Self::Reduction(_) => "a reduction",
            Self::End => "the end of the region",
        }
    }

    fn is_like(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

/// A region as it is handed to the threads.
#[derive(Clone)]
pub(crate) struct Work {
    pub(crate) region: usize,
    pub(crate) args: Vec<u64>,
    /// The team's number of the rank's first thread.
    pub(crate) first: i32,
    /// Threads of the team.
    pub(crate) threads: i32,
    /// Whether other ranks have threads in it, or could.
    pub(crate) is_distributed: bool,
    pub(crate) location: &'static str,
    pub(crate) icv: Icv,
    pub(crate) float_settings: u64,
}

impl Work {
    /// The calling thread enters the team.
    pub(crate) fn enter_team(&self) {
        team::enter(
            self.first + turns::index() as i32,
            self.threads,
            self.location,
            self.icv,
            self.is_distributed,
        );
    }

    /// Threads that this rank has in the team.
    fn threads_here(&self) -> u32 {
        match self.is_distributed {
            true => on_each_rank(self.threads).min((self.threads - self.first) as u32),
            false => self.threads as u32,
        }
    }
}

/// In which the rank's own threads declare.
fn rounds() -> &'static Rounds {
    static ROUNDS: OnceLock<Rounds> = OnceLock::new();
    ROUNDS.get_or_init(|| Rounds::of(per_rank()))
}

/// What the threads of a rank tell each other.
struct State {
    /// What each waits at.
    waits_at: Vec<Option<Meeting>>,
    work: Option<Work>,
}

static STATE: Mutex<State> = Mutex::new(State {
    waits_at: Vec::new(),
    work: None,
});
/// Meetings that have ended.
static MEETINGS: AtomicU64 = AtomicU64::new(0);

/// Most threads of a team.
const MOST_THREADS: u64 = 1 << 17;

fn state() -> MutexGuard<'static, State> {
    STATE.lock().expect("a panic ends the job")
}

/// How long a thread waits for others of its rank before it sleeps.
fn patience() -> Duration {
    match HAVE_PROCESSORS.load(Relaxed) && !IS_CROWDED.load(Relaxed) {
        true => Duration::from_millis(2),
        false => Duration::ZERO,
    }
}

/// Fixes the number of threads of each rank: what rank 0 was told. With `OKL_VERIFY` it is one, so that
/// what a rank wrote is what a thread wrote. The ranks on this node have these `processors`. Collective.
pub(crate) fn start(asked: i32, processors: &[Processors]) -> usize {
    let mut threads = [if settings().verify {
        1
    } else {
        asked.max(1) as u64
    }];
    mpi_job::broadcast(&mut threads);
    let ranks = u64::from(mpi_job::ranks());
    if ranks * threads[0] > MOST_THREADS {
        report::fatal(&format!(
            "OMP_NUM_THREADS={}: with {ranks} ranks a team would have more than {MOST_THREADS} threads",
            threads[0]
        ));
    }
    PER_RANK.store(threads[0] as u32, Relaxed);
    OF_RANK_ZERO.store(threads[0] as u32, Relaxed);
    let wanted = processors.len() as u64 * threads[0];
    let enough = wanted <= Processors::count(processors).into();
    HAVE_PROCESSORS.store(enough, Relaxed);
    threads[0] as usize
}

/// Lets rank 0 have more threads than its own where it runs a region by itself; the others wait meanwhile. Where all ranks are
/// on one machine, as many as these have processors, on which they run. In a region that others could share
/// ([`most_at_once`]) it has as many threads as the team has on the ranks, on whatever processors there are, if they are not
/// too many for these. What the threads run of the program only they see, and they have no copies of `thread_local` variables,
/// so that there must be none.
pub(crate) fn lend(processors: Vec<Processors>, several_nodes: bool) {
    /// Threads on a processor.
    const MOST: u32 = 8;
    let here = Processors::count(&processors);
    PROCESSORS.store(here, Relaxed);
    if !mpi_job::may_take_turns() || settings().verify || !libomp::is_there() {
        return;
    }
    let team = most() as u32;
    let lent = match several_nodes {
        true => per_rank(),
        false => here.min(team),
    };
    let may_all = team <= MOST.saturating_mul(here);
    let threads = if may_all { team } else { lent };
    if threads > per_rank() && mpi_job::rank() == 0 {
        program_stacks::add((threads - per_rank()) as usize, settings().stack_bytes);
    }
    AT_ONCE.store(if may_all { team } else { 0 }, Relaxed);
    MACHINES.store(mpi_job::ranks() / processors.len() as u32, Relaxed);
    if lent > per_rank() {
        OF_RANK_ZERO.store(lent, Relaxed);
        assert!(LENT.set(processors).is_ok(), "one job starts once");
    }
}

/// Whether every thread of the ranks on this node may have a processor.
pub(crate) fn have_processors() -> bool {
    HAVE_PROCESSORS.load(Relaxed)
}

fn per_rank() -> u32 {
    PER_RANK.load(Relaxed)
}

/// The most threads a team can have.
pub(crate) fn most() -> i32 {
    (mpi_job::ranks() * per_rank()) as i32
}

/// The most threads a team can have that is forked with these control variables. Threads of one rank may not leave a
/// construct at different places, as they do where one is cancelled.
pub(crate) fn most_in(icv: Icv) -> i32 {
    match icv.cancellation {
        0 => most(),
        _ => mpi_job::ranks() as i32,
    }
}

/// The same, of a team that is not distributed.
pub(crate) fn most_here(icv: Icv) -> i32 {
    match icv.cancellation {
        0 => OF_RANK_ZERO.load(Relaxed) as i32,
        _ => 1,
    }
}

/// The same, of a team that could be distributed, and is to be as large as it would be then; 0 where rank 0 cannot have so
/// many threads.
pub(crate) fn most_at_once(icv: Icv) -> i32 {
    match icv.cancellation {
        0 => AT_ONCE.load(Relaxed) as i32,
        _ => 0,
    }
}

/// On how many machines the ranks are, about.
pub(crate) fn machines() -> u32 {
    MACHINES.load(Relaxed).max(1)
}

/// Threads of each rank but the last ones, in a team of `threads`.
pub(crate) fn on_each_rank(threads: i32) -> u32 {
    (threads as u32).div_ceil(mpi_job::ranks())
}

/// Ranks that have a thread in a team of `threads`.
pub(crate) fn ranks_in(threads: i32) -> u32 {
    (threads as u32).div_ceil(on_each_rank(threads))
}

/// The number of this rank's first thread in a team of `threads`, where the rank has any.
pub(crate) fn first_in(threads: i32) -> Option<i32> {
    let first = (mpi_job::rank() * on_each_rank(threads)) as i32;
    (first < threads).then_some(first)
}

/// On the program's thread: runs its own share of a region, and lets the rank's other threads of the team run theirs.
pub(crate) fn run(work: Work) {
    let active = work.threads_here();
    if !work.is_distributed {
        region::count_own();
    }
    let is_crowded = !work.is_distributed && active > PROCESSORS.load(Relaxed);
    IS_CROWDED.store(is_crowded, Relaxed);
    loops::begin_region();
    if active == 1 {
        return run_share(work);
    }
    scopes::private(|| create(active.max(per_rank())));
    turns::set_active(active);
    scopes::private(|| {
        let mut state = state();
        state.waits_at = vec![None; active as usize];
        state.work = Some(work);
        rounds().restart();
    });
    libomp::fork(active as i32, |index| {
        if index == 0 {
            share_of_this_thread();
        } else {
            become_thread(index);
            stack::call_on(program_stacks::region_stack_top(), share_of_this_thread);
        }
    });
    turns::set_active(1);
}

/// Runs the calling thread's share of the region that runs.
extern "C" fn share_of_this_thread() {
    let work = scopes::private(|| state().work.clone());
    run_share(work.expect("a region runs"));
    if turns::index() >= per_rank() as usize {
        // The processor is its owner's again: the thread sleeps at once.
        // SAFETY: a setting of the calling thread's, until the region ends.
        unsafe { (libomp::functions().kmp_set_blocktime)(0) };
    }
    // Before the stack is left: tasks may be run here.
    together(Meeting::End, |_| {});
}

fn run_share(work: Work) {
    if turns::is_other() {
        float_environment::adopt(work.float_settings);
        team::start(work.icv);
        doacross::begin();
    }
    work.enter_team();
    tasks::begin_region(work.region, work.threads, work.is_distributed, work.icv);
    sync::invoke(work.region as *const RegionDescriptor, work.args);
    loops::end_region();
    tasks::complete_all();
    tasks::end_region();
    at_once::end_share();
}

/// At a synchronisation of the team: the rank's first thread does what `body` does for all of them, when
/// all are there, and returns its result; the others wait until it has. `body` gets the lists of their
/// reductions, in the order of the threads. But for reductions it is a barrier: all tasks are run, so that what these
/// access without a declaration is over.
pub(crate) fn together<R>(meeting: Meeting, body: impl FnOnce(&[usize]) -> R) -> Option<R> {
    if !turns::are_several() {
        return Some(body(&[]));
    }
    let before = announce(meeting);
    let runs_tasks = !matches!(meeting, Meeting::Reduction(_));
    if runs_tasks {
        libomp::barrier();
    }
    if turns::is_other() {
        meanwhile::wait_until(patience(), || MEETINGS.load(Acquire) != before);
        return None;
    }
    if !runs_tasks {
        let all_are_there = || state().waits_at.iter().all(Option::is_some);
        meanwhile::wait_until(patience(), all_are_there);
    }
    let lists = scopes::private(|| lists_of(meeting));
    if runs_tasks {
        sections::threads_have_met();
    }
    let result = body(&lists);
    scopes::private(|| drop(lists));
    state().waits_at.fill(None);
    rounds().restart();
    MEETINGS.fetch_add(1, Release);
    meanwhile::tell();
    Some(result)
}

/// The calling thread is at a meeting. How many have ended.
fn announce(meeting: Meeting) -> u64 {
    sections::leave_nest();
    let me = turns::index();
    let ended = MEETINGS.load(Relaxed);
    state().waits_at[me] = Some(meeting);
    rounds().meet();
    meanwhile::tell();
    ended
}

/// The lists of the rank's other threads, which are all at a meeting.
fn lists_of(meeting: Meeting) -> Vec<usize> {
    let state = state();
    let met: Vec<Meeting> = state.waits_at[1..].iter().copied().flatten().collect();
    if let Some((index, &other)) = (1..).zip(&met).find(|(_, other)| !meeting.is_like(**other)) {
        report::fatal(&format!(
            "the threads of {} wait at different places: thread {} at {}, thread {} at {}; OpenMP demands \
             that all threads of a team meet the same barriers",
            region::name(),
            team::thread_num(),
            meeting.name(),
            team::thread_num() + index,
            other.name(),
        ));
    }
    let lists = met.iter().filter_map(|one| match one {
        Meeting::Reduction(list) => Some(*list),
        Meeting::Barrier | Meeting::Copies | Meeting::End => None,
    });
    lists.collect()
}

/// Runs `body`, a declaration, [`turns::alone`] and when it is its turn: after all that threads before the
/// caller have made as many times, and all that others have made less often. A thread that waits at a
/// meeting makes none before that ends, so somebody's turn always comes.
///
/// `body` must not wait for what another thread of this rank, or of another, does after it.
///
/// Where it yields nothing, that is tried again when `sections::nobody_marks`.
pub(crate) fn in_turn<R>(mut body: impl FnMut() -> Option<R>) -> R {
    if !turns::are_several() {
        return body().expect("no other thread marks");
    }
    let body = || when_it_may(&mut body);
    // Where another thread has begun what declares nothing, declarations are not taken any more.
    rounds().in_turn(patience(), sections::are_in_stretch, body)
}

/// Runs `body` [`turns::alone`], again and again until it yields something; in between, until no other thread of the rank is
/// in a nest that marks what it writes, which ends whatever other threads do.
fn when_it_may<R>(mut body: impl FnMut() -> Option<R>) -> R {
    loop {
        if let Some(result) = turns::alone(&mut body) {
            return result;
        }
        wait_until(&sections::nobody_marks);
    }
}

/// Runs `body`, which may find that declarations are not taken any more until all threads meet: then nobody waits for his
/// turn.
fn telling_of_stretch<R>(body: impl FnOnce() -> R) -> R {
    let before = sections::are_in_stretch();
    let result = body();
    if turns::are_several() && !before && sections::are_in_stretch() {
        meanwhile::tell();
    }
    result
}

/// Waits for what other threads of the rank tell.
fn wait_until(done: &dyn Fn() -> bool) {
    meanwhile::wait_until(patience(), done);
}

/// `okl_mpi_undeclared`.
pub(crate) fn okl_mpi_undeclared(now: i32, stretch: *mut c_void) -> i32 {
    telling_of_stretch(|| sections::change_stretch(now, stretch, wait_until))
}

/// Runs code of the program that the runtime calls, and nothing is known of.
pub(crate) fn undeclared<R>(body: impl FnOnce() -> R) -> R {
    let before = okl_mpi_undeclared(1, std::ptr::null_mut());
    let result = body();
    okl_mpi_undeclared(before, std::ptr::null_mut());
    result
}

/// `okl_mpi_sections`.
pub(crate) fn okl_mpi_sections(table: *mut c_void, computed: *mut c_void) {
    match sections::are_taken() {
        true if sections::needs_stretch(table) => {
            telling_of_stretch(|| sections::begin_stretch_for(table, wait_until));
            sections::leave_declaration(table, computed);
        }
        // Who runs which chunk, and when, depends on time: there are no turns.
        true if loops::are_moving() => {
            let declare = || when_it_may(|| sections::take_declaration(table, computed));
            telling_of_stretch(|| loops::declare(declare));
        }
        true => in_turn(|| sections::take_declaration(table, computed)),
        false => sections::leave_declaration(table, computed),
    }
}

// ---- The other threads ---------------------------------------------------------------------------

/// Has the run time create the rank's other threads, if there are not yet so many. On the rank's first thread.
fn create(threads: u32) {
    static CREATED: AtomicU32 = AtomicU32::new(1);
    if CREATED.load(Relaxed) >= threads {
        return;
    }
    if CREATED.swap(threads, Relaxed) == 1 {
        let functions = libomp::functions();
        // SAFETY: settings. Threads that wait must leave the processor to others where there are more than processors.
        unsafe {
            (functions.omp_set_dynamic)(0);
            if !HAVE_PROCESSORS.load(Relaxed) {
                (functions.kmp_set_blocktime)(0);
            }
        }
    }
    interposed::create_own(|| {
        waiting::note_created(|| libomp::fork(threads as i32, |_| {}));
    });
}

/// The calling thread, one of the run time's, is from now on this rank's thread `index`.
fn become_thread(index: usize) {
    thread_local! {
        static IS_KNOWN: Cell<bool> = const { Cell::new(false) };
    }
    if !IS_KNOWN.replace(true) {
        block_signals();
        alternate_stack::install();
    } else if turns::index() == index {
        return;
    }
    turns::set_index(index as u32);
    if let Some(processors) = LENT.get() {
        processors[index / per_rank() as usize].run_on();
    }
    thread_privates::adopt();
}

/// Signals to the process are the program's thread's; what a thread itself does wrong reaches it.
fn block_signals() {
    const OWN: [i32; 6] = [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGFPE,
        libc::SIGILL,
        libc::SIGTRAP,
        libc::SIGSYS,
    ];
    let mut others = signals::all_but_page_faults();
    // SAFETY: changes a set of our own, and this thread's signal mask.
    unsafe {
        for signal in OWN {
            libc::sigdelset(&mut others, signal);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &others, std::ptr::null_mut());
    }
}

/// On rank 0, at a region that asks for more threads than a team has: says so once, as libomp does.
pub(crate) fn warn_of_few(region: *const RegionDescriptor, location: &str, size: team::TeamSize) {
    static WARNED: Regions = Regions::new(Vec::new());
    if is_first(&WARNED, region) {
        report::warn(&format!(
            "warning: the parallel region {} asks for {} threads and gets {}: no team has more",
            report::at(location),
            size.asked,
            size.threads
        ));
    }
}

/// Regions of which something has been said.
type Regions = ProgramCell<Vec<usize>>;

/// Whether a region is not yet among `regions`; it is from now on.
fn is_first(regions: &Regions, region: *const RegionDescriptor) -> bool {
    regions.with(|regions| {
        let is_new = !regions.contains(&(region as usize));
        if is_new {
            regions.push(region as usize);
        }
        is_new
    })
}

/// The address of a list of reduced items, for [`Meeting::Reduction`].
pub(crate) fn list(items: *mut c_void) -> Meeting {
    Meeting::Reduction(items as usize)
}
