//! Where everything lies in this job's address space: its [`Layout`], and the control words.
//!
//! The control area lies behind the shared pages of every rank's memory file: locks and counters, in the
//! runtime's view only.

use std::sync::OnceLock;

use okl_coherence::{Layout, PAGE};

use crate::{control_area, report};

/// First offset of the control words in a memory file.
pub(crate) fn control_offset(layout: &Layout) -> usize {
    layout.pages() as usize * PAGE
}

/// Bytes of a memory file.
pub(crate) fn file_bytes(layout: &Layout) -> usize {
    control_offset(layout) + control_area::BYTES
}

static LAYOUT: OnceLock<Layout> = OnceLock::new();

/// The layout of this job, once it has started.
pub(crate) fn get() -> Option<&'static Layout> {
    LAYOUT.get()
}

/// The layout of this job. A program that has not started one ends.
pub(crate) fn layout() -> &'static Layout {
    let started = LAYOUT.get();
    started.unwrap_or_else(|| report::not_started("a file with OpenMP"))
}

/// Fixes the layout of this job.
pub(crate) fn install(layout: Layout) {
    assert!(LAYOUT.set(layout).is_ok(), "one job starts once");
}

/// Whether `address` lies in some rank's heap.
pub(crate) fn is_arena_address(address: usize) -> bool {
    get().is_some_and(|layout| layout.is_arena_address(address))
}
