//! Regions that rank 0 runs by itself because that is faster: a region of a few microseconds, of which a program starts a
//! hundred thousand.
//!
//! Guarantee: the team is as large as it would be on the ranks, and its threads do what they would do there; the items of
//! a reduction are combined in the same order. So results do not depend on where a region runs, which times decide
//! ([`history`]). Rank 0 decides; the others wait for a fork meanwhile, and are sent nothing.
//!
//! Where its threads may run one after the other ([`ONE_BY_ONE`](okl_abi::region_flags::ONE_BY_ONE)) they do so here until one
//! is at the reduction. It runs the next ones there, so that all have their copies when the last one is; that one combines
//! them. Other regions run on as many threads of rank 0's, as those that are [`at_once`]'s do; and so do all where page faults
//! take too much of the program ([`whole_program`]). Where threads wait for flags [`pipelines`] decides.

pub(crate) mod at_once;
mod history;
pub(crate) mod pipelines;
mod whole_program;

use std::{
    collections::HashMap,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

use history::Histories;
use okl_coherence::geometry::signature::Signature;
use whole_program::{Cost, WholeProgram};

use crate::{
    cell::ProgramCell,
    memory, program, region, scopes,
    settings::{RegionsAlone, settings},
    stack,
};

/// A region whose cost is being found out: from its fork to the next one, which pays for what it left behind.
struct Window {
    region: usize,
    values: Signature,
    place: Place,
    /// By itself rank 0's threads take so many times as long as one on the ranks.
    longer: u32,
    begun: Instant,
    /// What rank 0 spent in the region's body.
    body: Duration,
}

struct State {
    /// By the address of the region's descriptor.
    known: Option<HashMap<usize, Histories>>,
    window: Option<Window>,
    whole_program: Option<WholeProgram>,
    /// Of the last region's body.
    last: Cost,
}

static STATE: ProgramCell<State> = ProgramCell::new(State {
    known: None,
    window: None,
    whole_program: None,
    last: Cost {
        body: Duration::ZERO,
        whole: Duration::ZERO,
        faults: Duration::ZERO,
        serial: Duration::ZERO,
    },
});

/// Where regions run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Ranks,
    Alone,
}

impl Place {
    fn other(self) -> Self {
        match self {
            Self::Ranks => Self::Alone,
            Self::Alone => Self::Ranks,
        }
    }
}

/// The first executions of a region at a place bring memory there, and make plans.
const FIRST: u32 = 4;
/// A trial is worth one part in so many of the time since the last one.
const SHARE: u32 = 50;
/// A trial that failed so often waits no longer than before.
const MOST_FAILED: u32 = 10;

/// Whether rank 0 is to run a region by itself: where the user leaves that open, if it `is_here`. `decided` counts how often
/// that was asked.
fn is_to_run_here(decided: &AtomicU64, is_here: impl FnOnce() -> bool) -> bool {
    let decided = decided.fetch_add(1, Relaxed);
    match settings().regions_alone {
        RegionsAlone::Never => false,
        RegionsAlone::Always => true,
        // Each place twice in a row.
        RegionsAlone::Alternate => decided & 2 == 0,
        RegionsAlone::WhereFaster => is_here(),
    }
}

/// On rank 0, at every fork of the initial thread: the region before has cost what it has cost.
pub(crate) fn end_window() {
    scopes::private(|| {
        STATE.with(|state| {
            let Some(window) = state.window.take() else {
                return;
            };
            if let Some(histories) = state.known.get_or_insert_default().get_mut(&window.region) {
                let cost = window.begun.elapsed();
                let history = histories.of(window.values);
                history.learn(window.place, window.longer, window.body, cost);
            }
        });
    });
}

/// Whether rank 0 is to run this region by itself, whose body takes `longer` times what a thread's share takes on the ranks
/// then. `values` are what the program captured.
pub(crate) fn is_to_run(region: usize, longer: u32, values: &[u64]) -> bool {
    match settings().regions_alone {
        RegionsAlone::Never => return false,
        RegionsAlone::Always => return true,
        RegionsAlone::WhereFaster | RegionsAlone::Alternate => {}
    }
    scopes::private(|| {
        STATE.with(|state| {
            let values = values
                .iter()
                .fold(Signature::START, |so_far, &one| so_far.with(one));
            let histories = state.known.get_or_insert_default().entry(region);
            let history = histories.or_default().of(values);
            let place = match settings().regions_alone {
                RegionsAlone::Alternate => history.alternate(),
                _ => history.place(),
            };
            state.window = Some(Window {
                region,
                values,
                place,
                longer,
                begun: Instant::now(),
                body: Duration::ZERO,
            });
            place == Place::Alone
        })
    })
}

/// On rank 0: runs the body of the region that was decided on last.
pub(crate) fn in_body(body: impl FnOnce()) {
    region::take_beside_body();
    let serial = region::take_faults();
    let begun = Instant::now();
    body();
    let took = begun.elapsed().saturating_sub(region::take_beside_body());
    STATE.with(|state| {
        state.last = Cost {
            body: took,
            serial,
            faults: serial + region::take_faults(),
            whole: Duration::ZERO,
        };
        if let Some(window) = &mut state.window {
            window.body = took;
        }
    });
}

/// Whether rank 0 is to run all regions by itself.
pub(crate) fn is_to_run_all() -> bool {
    settings().regions_alone == RegionsAlone::WhereFaster
        && STATE.with(|state| {
            let program = state.whole_program.as_ref();
            program.is_some_and(WholeProgram::is_alone)
        })
}

/// On rank 0: a region that it could have run by itself took so long on the ranks, which are on so many machines.
pub(crate) fn learn_on_ranks(region: usize, machines: u32, took: Duration) {
    if settings().regions_alone != RegionsAlone::WhereFaster {
        return;
    }
    scopes::private(|| {
        STATE.with(|state| {
            let whole = Cost {
                whole: took,
                ..state.last
            };
            let program = state.whole_program.get_or_insert_default();
            program.learn_on_ranks(region, machines, whole, has_room_for_all);
        });
    });
}

/// Whether rank 0 has memory left.
fn has_room() -> bool {
    memory::coherence(|coherence| coherence.machine.has_room(0))
}

/// Whether all that the program has allocated on rank 0 fits there.
fn has_room_for_all() -> bool {
    let live = program::heap(|heap| heap.bytes_live());
    memory::coherence(|coherence| coherence.machine.has_room(live.max(0) as u64))
}

/// On rank 0: it has run a region by itself, as all others.
pub(crate) fn learn_alone(took: Duration) {
    scopes::private(|| {
        STATE.with(|state| {
            state
                .whole_program
                .get_or_insert_default()
                .learn_alone(took, has_room)
        });
    });
}

/// A region that runs one thread after the other.
struct Running {
    threads: i32,
    next: i32,
    /// Runs the share of a thread.
    share: fn(i32),
    /// Where the frames of the first thread begin.
    stack: usize,
    /// The lists of the threads that are at the reduction.
    lists: Vec<usize>,
    /// There is no room for the frames of all: each thread stores what it has.
    apart: bool,
}

static RUNNING: ProgramCell<Option<Running>> = ProgramCell::new(None);

/// Whether the team's threads run one after the other.
pub(crate) fn is_running() -> bool {
    RUNNING.with(|running| running.is_some())
}

/// Runs the shares of `threads` threads.
pub(crate) fn run(threads: i32, share: fn(i32)) {
    RUNNING.with(|running| {
        *running = Some(Running {
            threads,
            next: 0,
            share,
            stack: stack::pointer(),
            lists: Vec::new(),
            apart: false,
        });
    });
    run_rest();
    scopes::private(|| RUNNING.with(|running| *running = None));
}

/// Runs the threads that have not begun.
fn run_rest() {
    let next = || {
        RUNNING.with(|running| {
            let running = running.as_mut()?;
            let number = running.next;
            running.next += 1;
            (number < running.threads).then_some((running.share, number))
        })
    };
    while let Some((share, number)) = next() {
        share(number);
    }
}

/// Thread `number` is at the reduction, with its list of items; `fold` combines the lists of all. Whether the thread stores
/// the result.
pub(crate) fn reduce(number: i32, list: usize, fold: impl FnOnce(&[usize])) -> bool {
    let most = settings().stack_bytes / 2;
    let (apart, is_last) = RUNNING.with(|running| {
        let running = running.as_mut().expect("its threads run one by one");
        if number == 0 {
            let frames = running.stack.abs_diff(stack::pointer());
            running.apart = frames.saturating_mul(running.threads as usize) > most;
        }
        scopes::private(|| running.lists.push(list));
        (running.apart, running.next == running.threads)
    });
    if apart {
        return true;
    }
    match is_last {
        false => run_rest(),
        true => {
            let lists = RUNNING.with(|running| {
                let running = running.as_mut().expect("as above");
                std::mem::take(&mut running.lists)
            });
            fold(&lists);
            scopes::private(|| drop(lists));
        }
    }
    number == 0
}
