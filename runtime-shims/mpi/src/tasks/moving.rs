//! Tasks that move: a thread that waits at a barrier, or for a task that another one runs, takes tasks that others have created
//! and not begun.
//!
//! Guarantee: each task runs once, after all that it depends on and with what its creator had written when it created it;
//! who waits for it (`taskwait`, `taskgroup`, a dependence, a barrier) reads afterwards what it wrote.
//!
//! A task that is created waits in its thread's list ([`List`]). The thread runs the newest when it comes to a construct that
//! waits; the oldest lie in slots ([`offers`]) where others take them: nearest first, threads of the same rank, of the same
//! machine, then others, and of these only tasks that take longer than it costs. Before it fills slots a rank releases what
//! it wrote; another one that takes a task acquires that, releases what the task wrote and says that it is complete, which the
//! creator acquires. That is how locks carry memory; what is on the creator's stack goes home too
//! ([`Coherence::begin_guest`]).
//!
//! A task that runs elsewhere is complete when all tasks are that it created. A thread that waits for one helps those that run
//! tasks which that one has created, but runs no others: what OpenMP demands of tied tasks, as the thread may hold locks.
//! At a barrier it takes any.
//!
//! All threads wait at a barrier until all have come and no task is left: each counts itself when it has come and the tasks
//! that it created are complete, among them those that others run. A thread that takes another task later does so from one
//! that has not counted itself. In regions without tasks threads soon wait so at few barriers ([`History`]).
//!
//! Programs whose tasks have events, or reductions where ranks have several threads, leave them to the OpenMP run time
//! there, and where they are created otherwise.
//!
//! [`Coherence::begin_guest`]: okl_coherence::Coherence::begin_guest

use std::{
    cell::Cell,
    mem::ManuallyDrop,
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use super::{
    begin, call,
    history::{History, Team},
    offers::{self, FIRST, SLOTS, Seen, State as Slot, Thread},
    pending::{Chain, List, MOST_GUESTS, Moved, Pending, Place},
    record::{self, Record},
    run,
    state::{Creator, Dependence, Queued},
    tasks,
};
use crate::{
    api::Icv,
    cell::ProgramCell,
    console,
    control_area::MOST_TASK_THREADS,
    foreign_regions,
    memory::{self, acquiring, coherence},
    mpi_job,
    observe::{self, Event},
    region, scopes, sections,
    settings::{ChunksMove, settings},
    stats, sync, team, threads,
};

/// So many tasks wait in a thread's list; others run when they are created.
const MOST_PENDING: usize = 256;
/// In microseconds: tasks that take less run when they are created, where ranks have one thread and where they have several.
const SHORT: u32 = 16;
const SHORT_HERE: u32 = 2;
/// Those that take less stay in their rank, or machine: powers of two.
const LEAST_NEAR: u32 = 128;
const LEAST_FAR: u32 = 256;
/// Most slots that are filled without need.
const MOST_UNASKED: usize = 16;
/// Threads on other machines that are asked at a time.
const MOST_ASKED: usize = 3;

struct State {
    list: List,
    /// Tasks that have been in a slot.
    tickets: u64,
    /// For each task of another thread that runs here, the innermost last: its name and those around it.
    guests: Vec<Chain>,
    /// It has created tasks since the last barrier at which threads waited for some.
    has_created: bool,
    /// The region that runs.
    team: Team,
    /// Threads of the team, and of each rank.
    threads: u32,
    per_rank: u32,
    /// How many threads have come to such barriers in this region, and how many had created tasks.
    arrived: (u32, u32),
    history: History,
}

thread_local! {
    /// Of the calling thread.
    static STATE: ProgramCell<ManuallyDrop<Option<State>>> =
        const { ProgramCell::new(ManuallyDrop::new(None)) };
    /// Whether its tasks may move in the region that it runs.
    static IS_ON: Cell<bool> = const { Cell::new(false) };
}

fn state<R>(body: impl FnOnce(&mut State) -> R) -> R {
    let start = || State {
        list: List::new(),
        tickets: 0,
        guests: Vec::new(),
        has_created: false,
        team: (0, 0),
        threads: 1,
        per_rank: 1,
        arrived: (0, 0),
        history: History::default(),
    };
    STATE.with(|cell| cell.with_own(|state| body(state.get_or_insert_with(start))))
}

/// What rank 0 was told.
static CHOICE: AtomicU8 = AtomicU8::new(ChunksMove::Never as u8);
/// Whether they do where ranks have several threads.
static BETWEEN_THREADS: AtomicBool = AtomicBool::new(false);

/// When the job starts: all ranks do the same. Collective.
pub(crate) fn start() {
    // Who fulfils an event must be on the rank of its task. Reductions are those of one thread.
    const FUNCTIONS: [&str; 4] = [
        "okl_mpi_kmpc_omp_task_alloc",
        "okl_mpi_kmpc_task_allow_completion_event",
        "okl_mpi_kmpc_taskred_init",
        "okl_mpi_kmpc_taskred_modifier_init",
    ];
    let mut choice = [ChunksMove::Never as u64, 0];
    if mpi_job::rank() == 0 && mpi_job::ranks() > 1 && !settings().verify {
        let [tasks, events, one, other] = scopes::private(|| foreign_regions::are_used(FUNCTIONS));
        if tasks && !events {
            choice = [settings().chunks_move as u64, (!one && !other).into()];
        }
    }
    mpi_job::broadcast(&mut choice);
    CHOICE.store(choice[0] as u8, Relaxed);
    BETWEEN_THREADS.store(choice[1] != 0, Relaxed);
}

/// On rank 0, before a fork.
pub(crate) fn restart() {
    if CHOICE.load(Relaxed) != ChunksMove::Never as u8 {
        offers::restart();
    }
}

/// A thread enters a region, which is not 0, of so many threads.
pub(crate) fn begin_region(region: usize, threads: i32, is_distributed: bool, icv: Icv) {
    let per_rank = threads::on_each_rank(threads);
    let is_on = CHOICE.load(Relaxed) != ChunksMove::Never as u8
        && is_distributed
        && region != 0
        && threads::ranks_in(threads) > 1
        && icv.cancellation == 0
        && match per_rank {
            1 => true,
            // Who declares something waits for those that do not.
            _ => {
                BETWEEN_THREADS.load(Relaxed)
                    && per_rank as usize <= MOST_TASK_THREADS
                    && !sections::are_expected()
            }
        };
    IS_ON.set(is_on);
    if is_on {
        state(|state| {
            assert!(state.list.none_since(0), "a region leaves no task behind");
            state.team = (region, threads);
            (state.threads, state.per_rank) = (threads as u32, per_rank);
            state.arrived = (0, 0);
            state.has_created = false;
        });
    }
}

/// All tasks of the region have run.
pub(crate) fn end_region() {
    IS_ON.set(false);
}

/// Whether the tasks of the region that the caller runs are seen to here.
#[inline]
pub(super) fn are_ours() -> bool {
    IS_ON.get()
}

/// Whether tasks that the caller creates may wait for their turn.
#[inline]
pub(super) fn is_on() -> bool {
    IS_ON.get() && team::level() == 1
}

/// In how many tasks a taskloop is cut that does not say: as in the OpenMP run time.
pub(super) fn tasks_of_a_loop() -> Option<u64> {
    const EACH: u32 = 10;
    is_on().then(|| state(|state| (EACH * state.threads).into()))
}

fn is_eager() -> bool {
    CHOICE.load(Relaxed) == ChunksMove::Always as u8
}

/// A task of this code, inside so many others, begins. The time, if it is to be noted what it takes.
#[inline]
pub(super) fn begins(routine: usize, depth: u32) -> Option<Instant> {
    let is_timed = is_on() && state(|state| state.history.begin(routine, depth));
    is_timed.then(Instant::now)
}

/// It took so long.
pub(super) fn note(routine: usize, depth: u32, took: Duration) {
    state(|state| {
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        state.history.note(routine, depth, took);
    });
}

/// Puts a task off, if that is worth it; it comes back otherwise. `must`: the stack is too deep.
pub(super) fn defer(queued: Queued, depth: u32, must: bool) -> Option<Queued> {
    // SAFETY: a record that has not run.
    let Record {
        routine, priority, ..
    } = unsafe { queued.task.cast::<Record>().read() };
    let routine = routine as usize;
    let (takes, is_worth) = state(|state| {
        state.has_created = true;
        let takes = state.history.takes(routine, depth);
        let short = if state.per_rank > 1 {
            SHORT_HERE
        } else {
            SHORT
        };
        let is_short = !is_eager() && takes.is_some_and(|takes| takes < short);
        (takes, !is_short && state.list.len() < MOST_PENDING)
    });
    if !must && !is_worth {
        return Some(queued);
    }
    let icv = team::icv(|icv| *icv);
    let id = tasks(|tasks| tasks.number());
    state(|state| {
        let moved = Moved {
            task: queued.task as usize,
            icv,
            depth,
            chain: state.guests.last().copied().unwrap_or_default(),
        };
        let least = if state.per_rank > 1 { 0 } else { LEAST_NEAR };
        let may_leave = is_long(takes, least);
        let new = Pending::new(id, queued, moved, priority, takes, may_leave);
        state.list.add(new);
    });
    offer(false);
    None
}

/// Whether a task that takes so long may move where that is to pay.
fn is_long(takes: Option<u32>, least: u32) -> bool {
    is_eager() || takes.is_none_or(|takes| takes >= least)
}

/// Lets others take some tasks, where few are on offer.
fn offer(is_waiting: bool) {
    let chosen = state(|state| state.to_offer(is_waiting));
    if chosen.is_empty() {
        return;
    }
    let may_leave = state(|state| {
        let takes = |&id: &u64| state.list.get(id).takes;
        chosen
            .iter()
            .map(takes)
            .any(|takes| is_long(takes, LEAST_NEAR))
    });
    if may_leave {
        console::flush();
        coherence(|coherence| coherence.release());
    }
    state(|state| {
        let mut slots = state.free_slots().into_iter();
        for id in chosen {
            let Some(slot) = slots.next() else {
                return;
            };
            state.tickets += 1;
            let one = state.list.get(id);
            let word = offers::offered(state.tickets, one.takes);
            offers::offer(slot, word, &one.moved);
            state.list.set_place(id, Place::Offered { slot, word });
        }
    });
}

impl State {
    /// The tasks to offer now, in their order.
    fn to_offer(&self, is_waiting: bool) -> Vec<u64> {
        let is_there = |one: &&Pending| match one.place {
            Place::Offered { slot, word } => offers::own_word(slot) == word,
            Place::Kept | Place::Running => false,
        };
        let offered = self.list.offered(0).filter(is_there).count();
        let low = (2 * (self.threads as usize - 1)).min(MOST_UNASKED);
        if !is_waiting && offered >= low {
            return Vec::new();
        }
        let kept = self.list.leaving();
        let most = match is_waiting {
            true => {
                let wanted = ((offered + kept) / 2).max(low);
                let missing = if 2 * offered >= wanted {
                    0
                } else {
                    wanted - offered
                };
                missing.min(kept.saturating_sub(usize::from(!is_eager())))
            }
            false => low - offered,
        };
        if most == 0 {
            return Vec::new();
        }
        let free = self.free_slots().len();
        self.list.first_to_leave().take(most.min(free)).collect()
    }

    fn free_slots(&self) -> Vec<usize> {
        let mut is_free = [true; SLOTS];
        for one in self.list.offered(0) {
            if let Place::Offered { slot, .. } = one.place {
                is_free[slot] = false;
            }
        }
        (0..SLOTS).filter(|&slot| is_free[slot]).collect()
    }

    /// The names of tasks created after `since` that other threads run.
    fn elsewhere(&self, since: u64) -> Vec<u64> {
        let offered = self.list.offered(since).filter_map(|one| match one.place {
            Place::Offered { slot, word } if offers::own_word(slot) != word => {
                Some(offers::name_of(Thread::here(), word))
            }
            _ => None,
        });
        offered.collect()
    }

    /// The next task of those created after `since` for this thread.
    fn next_own(&mut self, since: u64) -> Option<Own> {
        let kept = self.list.next(since);
        let next = kept.or_else(|| {
            self.list.offered(since).find(|one| match one.place {
                Place::Offered { slot, word } => offers::take_back(slot, word),
                Place::Kept | Place::Running => false,
            })
        })?;
        let own = Own {
            id: next.id,
            creator: next.queued.creator,
            moved: next.moved,
        };
        self.list.set_place(own.id, Place::Running);
        Some(own)
    }
}

/// A task of the list that runs.
struct Own {
    id: u64,
    creator: Creator,
    moved: Moved,
}

/// Frees what other threads have run. Whether there was any.
fn look_at_moved() -> bool {
    let done = state(|state| {
        let is_done = |one: &Pending| match one.place {
            Place::Offered { slot, .. } => {
                let now = offers::state_of(offers::own_word(slot));
                let is_done = matches!(now, Slot::Done | Slot::DoneHere);
                is_done.then_some((one.id, slot, now))
            }
            Place::Kept | Place::Running => None,
        };
        state
            .list
            .offered(0)
            .filter_map(is_done)
            .collect::<Vec<_>>()
    });
    if done.is_empty() {
        return false;
    }
    if done.iter().any(|one| one.2 == Slot::Done) {
        acquiring(|coherence| coherence.acquire());
    }
    // The heap notes in their records that they are free.
    threads::undeclared(|| {
        for (id, slot, _) in done {
            let complete = state(|state| {
                offers::free(slot);
                state.list.complete(id)
            });
            // SAFETY: it has run, and its private objects are gone.
            unsafe { record::free(complete.queued.task) };
        }
    });
    true
}

/// The number behind which tasks are created by the calling task and those that it created.
fn since() -> u64 {
    tasks(|tasks| tasks.frames.last().map_or(0, |frame| frame.id))
}

/// Waits for the children of a task.
pub(super) fn wait_for_children(creator: Creator) {
    if is_on() {
        wait_until(since(), |list| list.none_of(creator));
    }
}

/// Waits for all tasks created after the number `first`.
pub(super) fn wait_for_group(first: u64) {
    if is_on() {
        wait_until(since(), |list| list.none_since(first));
    }
}

/// Waits until a task with these dependences may run.
pub(super) fn wait_for_dependences(creator: Creator, dependences: &[Dependence]) {
    if !dependences.is_empty() && is_on() {
        wait_until(since(), |list| list.would_be_ready(creator, dependences));
    }
}

/// At a barrier of the team: runs all tasks, with the other threads.
pub(super) fn wait_at_barrier() {
    if !is_on() {
        return;
    }
    wait_until(0, |list| list.none_since(0));
    if state(|state| state.history.is_tried(state.team)) {
        wait_for_others();
    }
}

/// Runs tasks until `done`: of its own those created after `since`.
fn wait_until(since: u64, done: impl Fn(&List) -> bool) {
    if state(|state| done(&state.list)) {
        return;
    }
    let mut pause = Pause::new();
    let mut waiting = None;
    while !state(|state| done(&state.list)) {
        if look_at_moved() {
            pause.restart();
            continue;
        }
        offer(true);
        if let Some(own) = state(|state| state.next_own(since)) {
            waiting = None;
            run_own(&own);
            pause.restart();
            continue;
        }
        let elsewhere = state(|state| state.elsewhere(since));
        if let Some(taken) = take(Some(&elsewhere), pause.is_far_due(), |_| {}) {
            waiting = None;
            run_guest(&taken);
            pause.restart();
            continue;
        }
        waiting.get_or_insert_with(|| observe::span(|| Event::Waiting));
        pause.wait();
    }
}

/// Runs tasks of others until all threads of the team are here.
fn wait_for_others() {
    let (threads, before, has_created) = state(|state| {
        let has_created = std::mem::take(&mut state.has_created);
        (state.threads, state.arrived, has_created)
    });
    offers::arrive(has_created);
    let mut pause = Pause::new();
    let mut arrived = before;
    loop {
        arrived = match FIRST == Thread::here() {
            true => offers::look_at(FIRST).arrived(),
            false => seen_here(arrived),
        };
        let mut taken = None;
        if arrived.0 < before.0 + threads {
            let look = |seen: &Seen| {
                if seen.thread == FIRST {
                    arrived = seen_here(seen.arrived());
                }
            };
            taken = take(None, pause.is_far_due(), look);
        }
        if let Some(taken) = taken {
            run_guest(&taken);
            pause.restart();
        } else if arrived.0 >= before.0 + threads {
            break;
        } else {
            pause.wait();
        }
    }
    state(|state| {
        state.arrived = arrived;
        state.history.learn(state.team, arrived.1 > before.1);
    });
}

/// In which region, and how many threads this rank's have seen there to have come to barriers, and to have created tasks.
static SEEN: Mutex<(u64, (u32, u32))> = Mutex::new((0, (0, 0)));

/// What other threads of this rank have seen, when this one has seen so many.
fn seen_here(arrived: (u32, u32)) -> (u32, u32) {
    let mut seen = SEEN.lock().expect("a panic ends the job");
    if seen.0 != region::number() {
        *seen = (region::number(), (0, 0));
    }
    seen.1 = seen.1.max(arrived);
    seen.1
}

fn run_own(own: &Own) {
    let task = own.moved.task as *mut _;
    // SAFETY: the list holds tasks that have not run.
    unsafe {
        run(
            sync::thread(),
            task,
            own.creator,
            Vec::new(),
            own.moved.depth,
            Some(own.moved.icv),
        );
    }
    state(|state| state.list.complete(own.id));
}

/// A task that was taken from another thread.
struct Taken {
    thread: Thread,
    slot: usize,
    word: u64,
    moved: Moved,
}

/// Takes a task from another thread: one that one of these tasks has created, if they are named. Those on other machines are
/// asked where `may_ask`; `look` is told what was seen.
fn take(of: Option<&[u64]>, may_ask: bool, mut look: impl FnMut(&Seen)) -> Option<Taken> {
    if of.is_some_and(<[u64]>::is_empty) {
        return None;
    }
    let (threads, per_rank) = state(|state| (state.threads, state.per_rank));
    let me = Thread::here();
    let number = me.rank * per_rank + me.index;
    let others = (1..threads).map(|distance| (number + distance) % threads);
    let others = others.map(|number| Thread {
        rank: number / per_rank,
        index: number % per_rank,
    });
    let (here, others): (Vec<_>, Vec<_>) = others.partition(|one| one.rank == me.rank);
    let (near, mut far): (Vec<_>, Vec<_>) = others
        .into_iter()
        .partition(|one| offers::is_near(one.rank));
    for thread in here {
        let seen = offers::look_at(thread);
        look(&seen);
        if let Some(taken) = take_from(&seen, of, 0) {
            stats::count(|counts| counts.tasks_in_rank += 1);
            return Some(taken);
        }
    }
    for thread in near {
        let seen = offers::look_at(thread);
        look(&seen);
        if let Some(taken) = take_from(&seen, of, LEAST_NEAR) {
            stats::count(|counts| counts.tasks_near += 1);
            return Some(taken);
        }
    }
    if !may_ask {
        return None;
    }
    // The first thread of rank 0 also knows who waits.
    far.sort_by_key(|&thread| thread != FIRST);
    let fixed = usize::from(far.first() == Some(&FIRST));
    let rest = &mut far[fixed..];
    if !rest.is_empty() {
        rest.rotate_left(tasks(|tasks| tasks.number()) as usize % rest.len());
    }
    for thread in far.into_iter().take(MOST_ASKED) {
        let seen = offers::look_at(thread);
        look(&seen);
        if let Some(taken) = take_from(&seen, of, LEAST_FAR) {
            stats::count(|counts| counts.tasks_far += 1);
            return Some(taken);
        }
    }
    None
}

fn take_from(seen: &Seen, of: Option<&[u64]>, least: u32) -> Option<Taken> {
    let thread = seen.thread;
    for (slot, word) in seen.offers() {
        if !is_long(offers::takes(word), least) {
            continue;
        }
        let moved = offers::payload(thread, slot);
        if of.is_some_and(|names| !moved.chain.iter().any(|name| names.contains(name))) {
            continue;
        }
        if offers::take(thread, slot, word) {
            return Some(Taken {
                thread,
                slot,
                word,
                moved,
            });
        }
    }
    None
}

/// Runs a task of another thread, and all that it creates.
fn run_guest(taken: &Taken) {
    let Moved { chain, .. } = taken.moved;
    let mut names = [0; MOST_GUESTS];
    names[0] = offers::name_of(taken.thread, taken.word);
    names[1..].copy_from_slice(&chain[..MOST_GUESTS - 1]);
    state(|state| state.guests.push(names));
    match taken.thread.rank == mpi_job::rank() {
        true => threads::undeclared(|| run_with_children(taken.moved)),
        false => threads::undeclared(|| {
            acquiring(|coherence| coherence.begin_guest());
            run_with_children(taken.moved);
            console::flush();
            coherence(|coherence| coherence.end_guest());
        }),
    }
    state(|state| state.guests.pop());
    offers::tell_done(taken.thread, taken.slot, taken.word);
}

fn run_with_children(moved: Moved) {
    let task = moved.task as *mut std::ffi::c_void;
    let gtid = sync::thread();
    let creator = Creator {
        level: team::level(),
        ..Creator::default()
    };
    // SAFETY: the record of a task that nobody else runs, as its creator released it.
    unsafe {
        begin(task, creator, moved.depth);
        team::icv(|own| *own = moved.icv);
        let routine = (*task.cast::<Record>()).routine as usize;
        let began = begins(routine, moved.depth);
        call(gtid, task);
        if let Some(began) = began {
            note(routine, moved.depth, began.elapsed());
        }
        let first = since();
        wait_until(first, |list| list.none_since(first));
        let (frame, _) = tasks(|tasks| tasks.end(0, Vec::new()));
        record::destroy(gtid, task);
        team::icv(|own| *own = frame.icv);
    }
}

/// How a thread waits where it found nothing to do.
struct Pause {
    since: Instant,
    /// Between two times that ranks of other machines are asked.
    gap: Duration,
}

impl Pause {
    const SHORTEST: Duration = Duration::from_micros(50);
    const LONGEST: Duration = Duration::from_micros(500);

    fn new() -> Self {
        Self {
            since: Instant::now(),
            gap: Self::SHORTEST,
        }
    }

    fn restart(&mut self) {
        *self = Self::new();
    }

    /// Whether the caller is to ask ranks of other machines, again: ever less often, and one thread of its rank at a time, as
    /// the others' page faults wait meanwhile.
    fn is_far_due(&mut self) -> bool {
        static START: OnceLock<Instant> = OnceLock::new();
        /// When a thread of this rank asked last, in nanoseconds.
        static ASKED: AtomicU64 = AtomicU64::new(0);
        let now = START.get_or_init(Instant::now).elapsed().as_nanos() as u64;
        let asked = ASKED.load(Relaxed);
        let is_due = now.saturating_sub(asked) >= self.gap.as_nanos() as u64
            && ASKED.compare_exchange(asked, now, Relaxed, Relaxed).is_ok();
        if is_due {
            self.gap = (2 * self.gap).min(Self::LONGEST);
        }
        is_due
    }

    fn wait(&self) {
        const AT_ONCE: Duration = Duration::from_micros(50);
        const SOON: Duration = Duration::from_millis(1);
        memory::let_messages_go();
        match self.since.elapsed() {
            waited if waited < AT_ONCE && threads::have_processors() => std::hint::spin_loop(),
            waited if waited < SOON => std::thread::yield_now(),
            _ => std::thread::sleep(Duration::from_micros(20)),
        }
    }
}
