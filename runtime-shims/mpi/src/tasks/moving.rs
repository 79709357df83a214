//! Tasks that move: a rank that waits at a barrier, or for a task that another rank runs, takes tasks that others have created
//! and not begun.
//!
//! Guarantee: each task runs once, after all that it depends on and with what its creator had written when it created it;
//! who waits for it (`taskwait`, `taskgroup`, a dependence, a barrier) reads afterwards what it wrote.
//!
//! Where ranks have one thread a task that is created waits in its rank's list ([`List`]). The rank runs the newest when it
//! comes to a construct that waits; the oldest lie in slots ([`offers`]) where others take them: nearest first, ranks of the
//! same machine, then others, and of these only tasks that take longer than it costs. Before it fills slots a rank releases what
//! it wrote, who takes a task acquires that, releases what the task wrote and says that it is complete, which the creator
//! acquires. That is how locks carry memory; what is on the creator's stack goes home too ([`Coherence::begin_guest`]).
//!
//! A task that runs elsewhere is complete when all tasks are that it created. A rank that waits for one helps those that run
//! tasks which that one has created, but runs no others: what OpenMP demands of tied tasks, as the thread may hold locks.
//! At a barrier it takes any.
//!
//! All ranks wait at a barrier until all have come and no task is left: each counts itself when it has come and the tasks
//! that it created are complete, among them those that others run. A rank that takes another task later does so from one
//! that has not counted itself. Barriers at which there are no tasks are soon tried seldom ([`History`]).
//!
//! [`Coherence::begin_guest`]: okl_coherence::Coherence::begin_guest

use std::{
    sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed},
    time::{Duration, Instant},
};

use super::{
    begin, call,
    history::{History, Meeting},
    offers::{self, SLOTS, Seen, State as Slot},
    pending::{Chain, List, MOST_GUESTS, Moved, Pending, Place},
    record::{self, Record},
    run,
    state::{Creator, Dependence, Queued},
    tasks,
};
use crate::{
    api::Icv,
    cell::ProgramCell,
    console, foreign_regions,
    memory::{acquiring, coherence},
    mpi_job,
    observe::{self, Event},
    scopes, sections,
    settings::{ChunksMove, settings},
    stats, team, threads,
};

/// So many tasks wait in a rank's list; others run when they are created.
const MOST_PENDING: usize = 256;
/// In microseconds: tasks that take less run when they are created.
const SHORT: u32 = 20;
/// Those that take less stay in their rank, or machine.
const LEAST_NEAR: u32 = 100;
const LEAST_FAR: u32 = 300;
/// Most slots that are filled without need.
const MOST_UNASKED: usize = 16;
/// Ranks of other machines that are asked at a time.
const MOST_ASKED: usize = 3;

struct State {
    list: List,
    /// Tasks that have been in a slot.
    tickets: u64,
    /// For each task of another rank that runs here, the innermost last: its name and those around it.
    guests: Vec<Chain>,
    /// Since the last barrier at which ranks waited for tasks.
    has_created: bool,
    /// Ranks of the team.
    ranks: u32,
    /// How many ranks have come to such barriers in this region, and how many had created tasks.
    arrived: (u32, u32),
    history: History,
}

static STATE: ProgramCell<Option<State>> = ProgramCell::new(None);

fn state<R>(body: impl FnOnce(&mut State) -> R) -> R {
    let start = || State {
        list: List::new(),
        tickets: 0,
        guests: Vec::new(),
        has_created: false,
        ranks: 1,
        arrived: (0, 0),
        history: History::default(),
    };
    STATE.with(|state| body(state.get_or_insert_with(start)))
}

/// What rank 0 was told.
static CHOICE: AtomicU8 = AtomicU8::new(ChunksMove::Never as u8);
/// Whether tasks of the region that runs may move.
static IS_ON: AtomicBool = AtomicBool::new(false);

/// When the job starts: all ranks do the same. Collective.
pub(crate) fn start() {
    const NEEDED: &str = "okl_mpi_kmpc_omp_task_alloc";
    // Who fulfils an event must be on the rank of its task.
    const EXCLUDED: &str = "okl_mpi_kmpc_task_allow_completion_event";
    let mut choice = [ChunksMove::Never as u64];
    if mpi_job::rank() == 0 && mpi_job::ranks() > 1 && !settings().verify {
        let [has_tasks, has_events] =
            scopes::private(|| foreign_regions::are_used([NEEDED, EXCLUDED]));
        if has_tasks && !has_events {
            choice = [settings().chunks_move as u64];
        }
    }
    mpi_job::broadcast(&mut choice);
    CHOICE.store(choice[0] as u8, Relaxed);
}

/// On rank 0, before a fork.
pub(crate) fn restart() {
    if CHOICE.load(Relaxed) != ChunksMove::Never as u8 {
        offers::restart();
    }
}

/// A rank enters a region with so many threads.
pub(crate) fn begin_region(ranks: i32, is_distributed: bool, icv: Icv) {
    let is_on = CHOICE.load(Relaxed) != ChunksMove::Never as u8
        && is_distributed
        && ranks > 1
        && threads::on_each_rank(ranks) == 1
        && icv.cancellation == 0;
    IS_ON.store(is_on, Relaxed);
    if is_on {
        state(|state| {
            assert!(state.list.none_since(0), "a region leaves no task behind");
            state.ranks = ranks as u32;
            state.arrived = (0, 0);
            state.has_created = false;
        });
    }
}

/// All tasks of the region have run.
pub(crate) fn end_region() {
    IS_ON.store(false, Relaxed);
}

/// Whether tasks that the caller creates may wait for their turn.
#[inline]
pub(super) fn is_on() -> bool {
    IS_ON.load(Relaxed) && team::level() == 1
}

/// In how many tasks a taskloop is cut that does not say: as in the OpenMP run time.
pub(super) fn tasks_of_a_loop() -> Option<u64> {
    const EACH: u32 = 10;
    is_on().then(|| state(|state| (EACH * state.ranks).into()))
}

fn is_eager() -> bool {
    CHOICE.load(Relaxed) == ChunksMove::Always as u8
}

/// A task of this code, inside so many others, took so long.
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
    let icv = team::icv(|icv| *icv);
    let id = tasks(|tasks| tasks.number());
    let refused = state(|state| {
        state.has_created = true;
        let takes = state.history.takes(routine, depth);
        let is_short = !is_eager() && takes.is_some_and(|takes| takes < SHORT);
        if !must && (is_short || state.list.len() >= MOST_PENDING) {
            return Some(queued);
        }
        let moved = Moved {
            task: queued.task as usize,
            icv,
            depth,
            chain: state.guests.last().copied().unwrap_or_default(),
        };
        let new = Pending::new(id, queued, moved, priority, takes);
        state.list.add(new);
        None
    });
    if refused.is_none() {
        offer(false);
    }
    refused
}

/// Lets others take some tasks, where few are on offer.
fn offer(is_waiting: bool) {
    let chosen = state(|state| state.to_offer(is_waiting));
    if chosen.is_empty() {
        return;
    }
    console::flush();
    coherence(|coherence| coherence.release());
    state(|state| {
        let mut slots = state.free_slots().into_iter();
        for id in chosen {
            let Some(slot) = slots.next() else {
                return;
            };
            state.tickets += 1;
            let one = state.list.iter().find(|one| one.id == id);
            let one = one.expect("it was in the list");
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
        let low = (2 * (self.ranks as usize - 1)).min(MOST_UNASKED);
        if !is_waiting && offered >= low {
            return Vec::new();
        }
        let is_worth =
            |one: &Pending| is_eager() || one.takes.is_none_or(|takes| takes >= LEAST_NEAR);
        let mut kept = self.list.kept(0).filter(|one| is_worth(one));
        let mut kept: Vec<(i64, u64)> = kept.by_ref().map(|one| (-one.priority, one.id)).collect();
        let most = match is_waiting {
            true => {
                let wanted = ((offered + kept.len()) / 2).max(low);
                let missing = if 2 * offered >= wanted { 0 } else { wanted - offered };
                missing.min(kept.len().saturating_sub(usize::from(!is_eager())))
            }
            false => low - offered,
        };
        kept.sort_unstable();
        let free = self.free_slots().len();
        let chosen = kept.into_iter().take(most.min(free));
        chosen.map(|one| one.1).collect()
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

    /// The names of tasks created after `since` that other ranks run.
    fn elsewhere(&self, since: u64) -> Vec<u64> {
        let offered = self.list.offered(since).filter_map(|one| match one.place {
            Place::Offered { slot, word } if offers::own_word(slot) != word => {
                Some(offers::name_of(mpi_job::rank(), word))
            }
            _ => None,
        });
        offered.collect()
    }

    /// The next task of those created after `since` for this rank.
    fn next_own(&mut self, since: u64) -> Option<Own> {
        let kept = self.list.kept(since).max_by_key(|one| (one.priority, one.id));
        let next = kept.or_else(|| {
            self.list.offered(since).find(|one| match one.place {
                Place::Offered { slot, word } => offers::take_back(slot, word),
                Place::Kept | Place::Running => false,
            })
        })?;
        let own = Own {
            id: next.id,
            gtid: next.queued.gtid,
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
    gtid: i32,
    creator: Creator,
    moved: Moved,
}

/// Frees what other ranks have run. Whether there was any.
fn look_at_moved() -> bool {
    let done = state(|state| {
        let is_done = |one: &Pending| match one.place {
            Place::Offered { slot, .. } => {
                (offers::state_of(offers::own_word(slot)) == Slot::Done).then_some((one.id, slot))
            }
            Place::Kept | Place::Running => None,
        };
        state.list.offered(0).filter_map(is_done).collect::<Vec<_>>()
    });
    if done.is_empty() {
        return false;
    }
    acquiring(|coherence| coherence.acquire());
    for (id, slot) in done {
        let complete = state(|state| {
            offers::free(slot);
            state.list.complete(id)
        });
        // SAFETY: it has run, and its private objects are gone.
        unsafe { record::free(complete.queued.task) };
    }
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
    if is_on() && !dependences.is_empty() {
        wait_until(since(), |list| list.would_be_ready(creator, dependences));
    }
}

/// At a barrier of the team: runs all tasks, with the other ranks.
pub(super) fn wait_at_barrier(place: usize) {
    if !is_on() {
        return;
    }
    wait_until(0, |list| list.none_since(0));
    let meeting = (place, team::num_threads());
    if state(|state| state.history.is_tried(meeting)) {
        wait_for_others(meeting);
    }
}

/// Runs tasks until `done`: of its own those created after `since`.
fn wait_until(since: u64, done: impl Fn(&List) -> bool) {
    let mut pause = Pause::new();
    let mut waiting = None;
    loop {
        if state(|state| done(&state.list)) {
            return;
        }
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

/// Runs tasks of others until all ranks of the team are here.
fn wait_for_others(meeting: Meeting) {
    let (ranks, before, has_created) = state(|state| {
        let has_created = std::mem::take(&mut state.has_created);
        (state.ranks, state.arrived, has_created)
    });
    offers::arrive(has_created);
    let mut pause = Pause::new();
    let mut arrived = before;
    loop {
        if mpi_job::rank() == 0 {
            arrived = offers::look_at(0).arrived();
        }
        let mut taken = None;
        if arrived.0 < before.0 + ranks {
            let look = |seen: &Seen| {
                if seen.rank == 0 {
                    arrived = seen.arrived();
                }
            };
            taken = take(None, pause.is_far_due(), look);
        }
        if let Some(taken) = taken {
            run_guest(&taken);
            pause.restart();
        } else if arrived.0 >= before.0 + ranks {
            break;
        } else {
            pause.wait();
        }
    }
    state(|state| {
        state.arrived = arrived;
        state.history.learn(meeting, arrived.1 > before.1);
    });
}

fn run_own(own: &Own) {
    let task = own.moved.task as *mut _;
    // SAFETY: the list holds tasks that have not run.
    unsafe {
        run(
            own.gtid,
            task,
            own.creator,
            Vec::new(),
            own.moved.depth,
            Some(own.moved.icv),
        );
    }
    state(|state| state.list.complete(own.id));
}

/// A task that was taken from another rank.
struct Taken {
    rank: u32,
    slot: usize,
    word: u64,
    moved: Moved,
}

/// Takes a task from another rank: one that one of these tasks has created, if they are named. Ranks on other machines are
/// asked where `may_ask`; `look` is told what was seen.
fn take(of: Option<&[u64]>, may_ask: bool, mut look: impl FnMut(&Seen)) -> Option<Taken> {
    if of.is_some_and(<[u64]>::is_empty) {
        return None;
    }
    let ranks = state(|state| state.ranks);
    let me = mpi_job::rank();
    let others = || (1..ranks).map(move |distance| (me + distance) % ranks);
    for rank in others().filter(|&rank| offers::is_near(rank)) {
        let seen = offers::look_at(rank);
        look(&seen);
        if let Some(taken) = take_from(&seen, of, LEAST_NEAR) {
            stats::count(|counts| counts.tasks_near += 1);
            return Some(taken);
        }
    }
    if !may_ask {
        return None;
    }
    // Rank 0 also knows who waits.
    let mut far: Vec<u32> = others().filter(|&rank| !offers::is_near(rank)).collect();
    far.sort_by_key(|&rank| rank != 0);
    let turn = tasks(|tasks| tasks.number()) as usize;
    if let [first, rest @ ..] = &mut far[..]
        && !rest.is_empty()
        && *first == 0
    {
        rest.rotate_left(turn % rest.len());
    }
    for rank in far.into_iter().take(MOST_ASKED) {
        let seen = offers::look_at(rank);
        look(&seen);
        if let Some(taken) = take_from(&seen, of, LEAST_FAR) {
            stats::count(|counts| counts.tasks_far += 1);
            return Some(taken);
        }
    }
    None
}

fn take_from(seen: &Seen, of: Option<&[u64]>, least: u32) -> Option<Taken> {
    let rank = seen.rank;
    for (slot, word) in seen.offers() {
        let is_short = offers::takes(word).is_some_and(|takes| takes < least);
        if is_short && !is_eager() {
            continue;
        }
        let moved = offers::payload(rank, slot);
        if of.is_some_and(|names| !moved.chain.iter().any(|name| names.contains(name))) {
            continue;
        }
        if offers::take(rank, slot, word) {
            return Some(Taken {
                rank,
                slot,
                word,
                moved,
            });
        }
    }
    None
}

/// Runs a task of another rank, and all that it creates.
fn run_guest(taken: &Taken) {
    let Moved {
        task,
        icv,
        depth,
        chain,
    } = taken.moved;
    let task = task as *mut std::ffi::c_void;
    let mut names = [0; MOST_GUESTS];
    names[0] = offers::name_of(taken.rank, taken.word);
    names[1..].copy_from_slice(&chain[..MOST_GUESTS - 1]);
    state(|state| state.guests.push(names));
    sections::undeclared(|| {
        acquiring(|coherence| coherence.begin_guest());
        let gtid = mpi_job::rank() as i32;
        let creator = Creator {
            level: team::level(),
            ..Creator::default()
        };
        // SAFETY: the record of a task that nobody else runs, as its creator released it.
        unsafe {
            begin(task, creator, depth);
            team::icv(|own| *own = icv);
            let routine = (*task.cast::<Record>()).routine as usize;
            let began = Instant::now();
            call(gtid, task);
            note(routine, depth, began.elapsed());
            let first = since();
            wait_until(first, |list| list.none_since(first));
            let (frame, _) = tasks(|tasks| tasks.end(0, Vec::new()));
            record::destroy(gtid, task);
            team::icv(|own| *own = frame.icv);
        }
        console::flush();
        coherence(|coherence| coherence.end_guest());
    });
    state(|state| state.guests.pop());
    offers::tell_done(taken.rank, taken.slot, taken.word);
}

/// How a rank waits where it found nothing to do.
struct Pause {
    since: Instant,
    /// When ranks of other machines are asked next.
    asks_at: Instant,
    gap: Duration,
}

impl Pause {
    const SHORTEST: Duration = Duration::from_micros(50);
    const LONGEST: Duration = Duration::from_millis(1);

    fn new() -> Self {
        let now = Instant::now();
        Self {
            since: now,
            asks_at: now,
            gap: Self::SHORTEST,
        }
    }

    fn restart(&mut self) {
        *self = Self::new();
    }

    /// Whether ranks of other machines are to be asked again: ever less often.
    fn is_far_due(&mut self) -> bool {
        let now = Instant::now();
        if now < self.asks_at {
            return false;
        }
        self.asks_at = now + self.gap;
        self.gap = (2 * self.gap).min(Self::LONGEST);
        true
    }

    fn wait(&self) {
        const SOON: Duration = Duration::from_millis(1);
        match self.since.elapsed() < SOON {
            true => std::thread::yield_now(),
            false => std::thread::sleep(Duration::from_micros(20)),
        }
    }
}
