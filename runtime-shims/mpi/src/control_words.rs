//! Control words on rank 0: what ranks agree on without meeting.

use std::time::{Duration, Instant};

use crate::{
    layout,
    memory::{self, coherence},
    owed,
    service::Atomic,
};
use okl_coherence::Machine;

/// Compare and exchange of a control word on rank 0.
pub(crate) fn exchange_word(offset: usize, expected: u64, desired: u64) -> u64 {
    let at = layout::control_offset(layout::layout()) + offset;
    coherence(|coherence| {
        let exchange = Atomic::Exchange(expected, desired);
        coherence.machine.atomic(at, 8, exchange, 0)
    })
}

/// A control word on rank 0.
pub(crate) fn load_word(offset: usize) -> u64 {
    let at = layout::control_offset(layout::layout()) + offset;
    coherence(|coherence| coherence.machine.load(at, 8, 0))
}

/// Waits between two looks at a word: a turn of the processor at first, then longer naps where asking
/// costs messages.
pub(crate) struct Patience {
    since: Instant,
    near: bool,
}

impl Patience {
    pub(crate) fn new() -> Self {
        let near = coherence(|coherence| coherence.machine.is_near(0));
        Self {
            since: Instant::now(),
            near,
        }
    }

    pub(crate) fn wait(&self) {
        memory::let_messages_go();
        owed::answer();
        let waited = self.since.elapsed();
        if self.near && waited < Duration::from_millis(1) {
            std::thread::yield_now();
        } else {
            std::thread::sleep(if self.near {
                Duration::from_micros(20)
            } else {
                Duration::from_micros(50)
            });
        }
    }
}
