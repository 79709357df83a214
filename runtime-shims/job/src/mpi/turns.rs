//! Threads that call MPI in turn, where it was started for one at a time (`MPI_THREAD_SERIALIZED`).
//!
//! Guarantee: from [`take_turns`] on at most one thread is inside MPI, and none stays there to wait for another rank. A
//! call that ends the job is no turn: it comes at any time.

use std::{
    ops::Deref,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use crate::object::{self, functions::Functions};

static ARE_TAKEN: AtomicBool = AtomicBool::new(false);
static TURN: Mutex<()> = Mutex::new(());

/// From now on another thread than the caller's calls MPI, too. The caller starts it afterwards.
pub fn take_turns() {
    ARE_TAKEN.store(true, Relaxed);
}

pub(super) fn are_taken() -> bool {
    ARE_TAKEN.load(Relaxed)
}

/// MPI's functions, for one call: as long as this lives, which is to the end of a statement, no other thread calls them.
pub(super) struct Call {
    functions: &'static Functions,
    _turn: Option<MutexGuard<'static, ()>>,
}

impl Deref for Call {
    type Target = Functions;

    fn deref(&self) -> &Functions {
        self.functions
    }
}

/// MPI's functions, when it is the caller's turn.
pub(super) fn mpi() -> Call {
    let turn = are_taken().then(|| TURN.lock().expect("a panic ends the job"));
    Call {
        functions: object::mpi(),
        _turn: turn,
    }
}
