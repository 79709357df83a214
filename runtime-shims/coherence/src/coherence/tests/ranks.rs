//! The ranks of a simulated job: threads that run one at a time, and ahead of each other.
//!
//! Guarantee: a job runs the same in every run. Only who has the turn runs, be it a rank or the test itself, and a
//! rank gives it back only where it waits for another one or has nothing left to do; who has it next, a sequence
//! of numbers says.
//!
//! What the test asks of a rank is queued. A rank falls behind the others until the test looks at it, or until
//! they wait for it: meanwhile they may have applied what it has yet to apply, and have gone on.

use std::{
    cell::{Cell, RefCell, UnsafeCell},
    collections::VecDeque,
    ops::{Index, IndexMut},
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread::{self, JoinHandle, Thread},
};

use okl_testing::Random;

use crate::{coherence::Coherence, driver::Driver};

use super::cluster::{Side, Simulated};

/// One rank: its side of the job, and what its synchronisations remember.
pub(super) struct Node {
    pub(super) side: Side,
    pub(super) driver: Driver,
}

/// Something that a rank is to do.
type Task = Box<dyn FnOnce(&mut Node)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It can go on.
    Ready,
    /// It has looked for what it waits for when so many things had happened.
    Waits(u64),
}

/// What ranks and the test have in common.
pub(super) struct Turns {
    tasks: RefCell<Vec<VecDeque<Task>>>,
    states: RefCell<Vec<State>>,
    nodes: RefCell<Vec<Rc<UnsafeCell<Node>>>>,
    panic: RefCell<Option<Box<dyn std::any::Any + Send>>>,
    /// So many things have happened that a rank may wait for.
    happened: Cell<u64>,
    /// So many things a rank had yet to do, at most, when another one had done them.
    furthest_behind: Cell<usize>,
    random: RefCell<Random>,
    ends: Cell<bool>,
    /// Ranks whose threads run nothing any more.
    ended: RefCell<Vec<bool>>,
    baton: Arc<Baton>,
}

/// Says whose turn it is.
struct Baton {
    turn: AtomicUsize,
    /// The test's thread, and that of each rank.
    test: Thread,
    ranks: RefCell<Vec<Thread>>,
}

/// The turn is the test's.
const TEST: usize = usize::MAX;

/// A job's common parts on their way to a rank's thread.
struct Shared(Rc<Turns>);

// SAFETY: the test's thread and those of the ranks reach what is behind it, even the counts of references, one at a
// time: who has the turn. It is handed on by an atomic variable, so each sees what those before it did.
unsafe impl Send for Shared {}
// SAFETY: as above; the list of threads is complete before the first rank gets the turn.
unsafe impl Sync for Baton {}
// SAFETY: as above.
unsafe impl Send for Baton {}

/// What unwinds a rank that waits when the job ends.
struct Ended;

impl Baton {
    fn hand_to(&self, to: usize) {
        self.turn.store(to, SeqCst);
        match to {
            TEST => self.test.unpark(),
            rank => self.ranks.borrow()[rank].unpark(),
        }
    }

    fn wait_for(&self, me: usize) {
        while self.turn.load(SeqCst) != me {
            thread::park();
        }
    }
}

thread_local! {
    /// The rank whose thread this is.
    static ME: Cell<usize> = const { Cell::new(TEST) };
}

impl Turns {
    /// Something has happened that a rank may wait for.
    pub(super) fn note(&self) {
        self.happened.set(self.happened.get() + 1);
    }

    /// Waits until `done` is, while others run.
    pub(super) fn wait_until(&self, mut done: impl FnMut() -> bool) {
        while !done() {
            match ME.get() {
                TEST => assert!(self.run_one(), "the test waits for ranks that wait"),
                me => {
                    self.states.borrow_mut()[me] = State::Waits(self.happened.get());
                    self.give_turn_back(me);
                }
            }
        }
    }

    fn give_turn_back(&self, me: usize) {
        self.baton.hand_to(TEST);
        self.baton.wait_for(me);
        if self.ends.get() {
            resume_unwind(Box::new(Ended));
        }
    }

    /// On the test's thread: lets a rank run that can. Whether there was one.
    fn run_one(&self) -> bool {
        let happened = self.happened.get();
        let can_run: Vec<usize> = {
            let (tasks, states) = (self.tasks.borrow(), self.states.borrow());
            let has_work = (0..tasks.len()).filter(|&rank| !tasks[rank].is_empty());
            has_work
                .filter(|&rank| states[rank] != State::Waits(happened))
                .collect()
        };
        if can_run.is_empty() {
            return false;
        }
        let rank = can_run[self.random.borrow_mut().below(can_run.len())];
        self.run(rank);
        true
    }

    fn run(&self, rank: usize) {
        {
            let tasks = self.tasks.borrow();
            let most = tasks.iter().map(VecDeque::len).max().unwrap_or(0);
            let behind = most.saturating_sub(tasks[rank].len());
            self.furthest_behind
                .set(behind.max(self.furthest_behind.get()));
        }
        self.baton.hand_to(rank);
        self.baton.wait_for(TEST);
        if let Some(panic) = self.panic.borrow_mut().take() {
            resume_unwind(panic);
        }
    }

    /// The life of a rank's thread.
    fn serve(&self, me: usize) {
        ME.set(me);
        let node = Rc::clone(&self.nodes.borrow()[me]);
        self.baton.wait_for(me);
        while !self.ends.get() {
            let task = self.tasks.borrow_mut()[me].front_mut().map(|task| {
                // It stays in the queue, as a mark that it is not done.
                std::mem::replace(task, Box::new(|_| ()))
            });
            let Some(task) = task else {
                self.baton.hand_to(TEST);
                self.baton.wait_for(me);
                continue;
            };
            // SAFETY: the test does not look at a rank that has something to do.
            let done = catch_unwind(AssertUnwindSafe(|| task(unsafe { &mut *node.get() })));
            if let Err(panic) = done {
                if !panic.is::<Ended>() {
                    *self.panic.borrow_mut() = Some(panic);
                }
                break;
            }
            self.tasks.borrow_mut()[me].pop_front();
            self.states.borrow_mut()[me] = State::Ready;
            self.baton.hand_to(TEST);
            self.baton.wait_for(me);
        }
        self.ended.borrow_mut()[me] = true;
    }
}

/// The ranks of a job.
pub(super) struct Ranks {
    turns: Rc<Turns>,
    threads: Vec<JoinHandle<()>>,
}

thread_local! {
    /// Jobs of one test differ in who runs ahead.
    static JOBS: Cell<u64> = const { Cell::new(0) };
}

impl Ranks {
    /// Ranks that `make` makes.
    pub(super) fn new(ranks: usize, make: impl Fn(usize, &Rc<Turns>) -> Node) -> Self {
        JOBS.set(JOBS.get() + 1);
        let seed = JOBS.get().wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let turns = Rc::new(Turns {
            tasks: RefCell::new((0..ranks).map(|_| VecDeque::new()).collect()),
            states: RefCell::new(vec![State::Ready; ranks]),
            nodes: RefCell::default(),
            panic: RefCell::new(None),
            happened: Cell::new(0),
            furthest_behind: Cell::new(0),
            random: RefCell::new(Random(seed)),
            ends: Cell::new(false),
            ended: RefCell::new(vec![false; ranks]),
            baton: Arc::new(Baton {
                turn: AtomicUsize::new(TEST),
                test: thread::current(),
                ranks: RefCell::default(),
            }),
        });
        for rank in 0..ranks {
            let node = Rc::new(UnsafeCell::new(make(rank, &turns)));
            turns.nodes.borrow_mut().push(node);
        }
        let threads: Vec<JoinHandle<()>> = (0..ranks)
            .map(|rank| {
                let baton = Arc::clone(&turns.baton);
                let shared = Shared(Rc::clone(&turns));
                thread::spawn(move || {
                    let shared = shared;
                    baton.wait_for(rank);
                    shared.0.serve(rank);
                    // Before the turn goes back: the counts of references are of one thread at a time.
                    drop(shared);
                    baton.hand_to(TEST);
                })
            })
            .collect();
        let those = threads.iter().map(|thread| thread.thread().clone());
        turns.baton.ranks.borrow_mut().extend(those);
        Self { turns, threads }
    }

    pub(super) fn len(&self) -> usize {
        self.threads.len()
    }

    /// True in so many of 100 cases.
    pub(super) fn chance(&self, percent: usize) -> bool {
        self.turns.random.borrow_mut().chance(percent)
    }

    /// Asks the same of all ranks, some of which do it at once.
    pub(super) fn each(&self, task: impl Fn(usize, &mut Node) + Clone + 'static) {
        for rank in 0..self.len() {
            let task = task.clone();
            self.turns.tasks.borrow_mut()[rank].push_back(Box::new(move |node| task(rank, node)));
        }
        let steps = self.turns.random.borrow_mut().below(3 * self.len() + 1);
        for _ in 0..steps {
            if !self.turns.run_one() {
                break;
            }
        }
    }

    /// So many things a rank had yet to do, at most, when another one had done them.
    pub(super) fn furthest_behind(&self) -> usize {
        self.turns.furthest_behind.get()
    }

    /// Lets `rank` do all that was asked of it, and others what it waits for.
    pub(super) fn catch_up(&self, rank: usize) {
        loop {
            let is_done = self.turns.tasks.borrow()[rank].is_empty();
            if is_done {
                return;
            }
            let happened = self.turns.happened.get();
            let waits = self.turns.states.borrow()[rank] == State::Waits(happened);
            if waits {
                assert!(
                    self.turns.run_one(),
                    "rank {rank} waits for ranks that wait"
                );
            } else {
                self.turns.run(rank);
            }
        }
    }

    /// Lets all ranks do what they can without another word of the test. Whether nothing is left to do: at the end
    /// of a region ranks may wait for the next one.
    pub(super) fn catch_all_up(&self) -> bool {
        while self.turns.run_one() {}
        self.turns.tasks.borrow().iter().all(VecDeque::is_empty)
    }

    /// A rank as far as it has come.
    pub(super) fn as_it_is(&self, rank: usize) -> &Coherence<Simulated> {
        let node = self.turns.nodes.borrow()[rank].get();
        // SAFETY: the turn is the test's, and a rank that waits does not hold its part of the protocol.
        unsafe { &(*node).side.coherence }
    }

    /// How many messages of the tree, one after the other, led to where a rank is, and how many collective operations it
    /// has begun.
    pub(super) fn rounds(&self, rank: usize) -> (usize, usize) {
        self.catch_up(rank);
        let node = self.turns.nodes.borrow()[rank].get();
        // SAFETY: the rank has nothing to do, so only the test looks at it.
        let side = unsafe { &(*node).side };
        (side.rounds, side.operations)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Coherence<Simulated>> {
        (0..self.len()).map(|rank| &self[rank])
    }
}

impl Index<usize> for Ranks {
    type Output = Coherence<Simulated>;

    fn index(&self, rank: usize) -> &Coherence<Simulated> {
        self.catch_up(rank);
        self.as_it_is(rank)
    }
}

impl IndexMut<usize> for Ranks {
    fn index_mut(&mut self, rank: usize) -> &mut Coherence<Simulated> {
        self.catch_up(rank);
        let node = self.turns.nodes.borrow()[rank].get();
        // SAFETY: the rank has nothing to do, so only the test looks at it.
        unsafe { &mut (*node).side.coherence }
    }
}

impl Drop for Ranks {
    fn drop(&mut self) {
        self.turns.ends.set(true);
        for (rank, thread) in self.threads.drain(..).enumerate() {
            if !self.turns.ended.borrow()[rank] {
                self.turns.baton.hand_to(rank);
                self.turns.baton.wait_for(TEST);
            }
            let _ = thread.join();
        }
        // They refer to the turns, too.
        self.turns.tasks.borrow_mut().clear();
        self.turns.nodes.borrow_mut().clear();
    }
}
