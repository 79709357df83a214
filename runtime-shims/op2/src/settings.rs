//! What the program and its command line ask for, and whether it has begun.

use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicI32, Ordering::Relaxed},
};

use okl_job::{launcher, own_environment};

use crate::{job, report::fatal};

pub(crate) static KEEPS_USER_MEMORY: AtomicBool = AtomicBool::new(false);

#[unsafe(export_name = "OP_diags")]
pub(crate) static DIAGNOSTICS: AtomicI32 = AtomicI32::new(0);
#[unsafe(export_name = "OP_part_size")]
pub(crate) static PART_SIZE: AtomicI32 = AtomicI32::new(0);
#[unsafe(export_name = "OP_block_size")]
pub(crate) static BLOCK_SIZE: AtomicI32 = AtomicI32::new(512);
#[unsafe(export_name = "OP_auto_soa")]
pub(crate) static AUTO_SOA: AtomicI32 = AtomicI32::new(0);

/// How much the program wants to be told: see `op_init`.
pub(crate) fn diagnostics() -> i32 {
    DIAGNOSTICS.load(Relaxed)
}

/// Elements of a block as the program asks for it; 0 where it does not.
pub(crate) fn part_size() -> usize {
    usize::try_from(PART_SIZE.load(Relaxed)).unwrap_or(0)
}

/// Whether all data of several components are to be stored component by component.
pub(crate) fn auto_soa() -> bool {
    AUTO_SOA.load(Relaxed) != 0
}

/// Whether the program asks for its data to stay where it has them.
pub(crate) fn asks_for_user_memory() -> bool {
    KEEPS_USER_MEMORY.load(Relaxed)
}

/// Whether they do: of several ranks each keeps its part of them.
pub(crate) fn keeps_user_memory() -> bool {
    asks_for_user_memory() && job::ranks() == 1
}

/// Where the program is.
#[derive(Clone, Copy)]
enum Stage {
    Before,
    Started,
    Ended,
}

static STAGE: Mutex<Stage> = Mutex::new(Stage::Before);

fn stage() -> MutexGuard<'static, Stage> {
    STAGE.lock().expect("no panic while it is locked")
}

/// The program begins. Whether it has ended before.
pub(crate) fn start() -> bool {
    let before = std::mem::replace(&mut *stage(), Stage::Started);
    match before {
        Stage::Before => false,
        Stage::Started => fatal("op_init is called twice"),
        Stage::Ended => true,
    }
}

/// The program has called `op_exit`.
pub(crate) fn end() {
    *stage() = Stage::Ended;
}

/// Whether the program is between `op_init` and `op_exit`.
pub(crate) fn has_started() -> bool {
    matches!(*stage(), Stage::Started)
}

/// Ends the program if it does not call `function` between `op_init` and `op_exit`.
pub(crate) fn require_start(function: &str) {
    let stage = *stage();
    match stage {
        Stage::Before => fatal(&format!("{function} is called before op_init")),
        Stage::Started => {}
        Stage::Ended => fatal(&format!("{function} is called after op_exit")),
    }
}

/// The same where `function` needs other ranks: of them the launcher knows before, or MPI, and the job afterwards. A program
/// without others may call it at any time.
pub(crate) fn require_start_with_others(function: &str) {
    let stage = *stage();
    let are_others = match stage {
        Stage::Before => launcher::has_started(own_environment) || job::is_initialised(),
        Stage::Started => false,
        Stage::Ended => job::has_left_others(),
    };
    if are_others {
        require_start(function);
    }
}

static COMBINES: AtomicBool = AtomicBool::new(true);

/// Whether ranks combine global arguments.
pub(crate) fn combines() -> bool {
    COMBINES.load(Relaxed)
}

/// From now on global arguments stay as each process has them, or do not.
#[unsafe(no_mangle)]
pub extern "C" fn op_disable_mpi_reductions(disable: bool) {
    COMBINES.store(!disable, Relaxed);
}
