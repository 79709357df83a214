//! What the program and its command line ask for, and whether it has begun.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, Ordering::Relaxed};

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
#[repr(u8)]
enum Stage {
    Before,
    Started,
    Ended,
}

static STAGE: AtomicU8 = AtomicU8::new(Stage::Before as u8);

/// Ends the program if it has begun before. It begins once, on one rank too: MPI starts once.
pub(crate) fn start() {
    match STAGE.swap(Stage::Started as u8, Relaxed) {
        before if before == Stage::Before as u8 => {}
        before if before == Stage::Started as u8 => fatal("op_init is called twice"),
        _ => fatal("op_init is called after op_exit: a program begins once, as MPI does"),
    }
}

/// The program has called `op_exit`.
pub(crate) fn end() {
    STAGE.store(Stage::Ended as u8, Relaxed);
}

/// Ends the program if it does not call `function` between `op_init` and `op_exit`.
pub(crate) fn require_start(function: &str) {
    match STAGE.load(Relaxed) {
        stage if stage == Stage::Started as u8 => {}
        stage if stage == Stage::Before as u8 => {
            fatal(&format!("{function} is called before op_init"))
        }
        _ => fatal(&format!("{function} is called after op_exit")),
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
