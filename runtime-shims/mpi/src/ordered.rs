//! `ordered`: iterations take turns by their number.
//!
//! A counter on rank 0 holds the number of the iteration whose turn it is, counted through all ordered
//! loops of a region. Entering waits for it and takes over what earlier iterations wrote.

use std::ffi::c_void;

use crate::{
    console, control_area,
    control_words::{Patience, exchange_word, load_word},
    memory::coherence,
    region, team,
};

/// Rank 0, before a fork: iterations count from 0.
pub(crate) fn restart() {
    let old = load_word(control_area::ORDERED);
    exchange_word(control_area::ORDERED, old, 0);
}

/// Waits for the turn of iteration `position` of the region's ordered loops.
pub(crate) fn enter(position: u64) {
    if team::is_parallel() {
        wait_for(position);
        if region::is_distributed() {
            coherence(|coherence| coherence.acquire());
        }
    }
}

/// Gives the turn to the iteration behind `position`, after waiting for the turn where the iteration
/// had no ordered region.
pub(crate) fn leave(position: u64) {
    if team::is_parallel() {
        wait_for(position);
        if region::is_distributed() {
            console::flush();
            coherence(|coherence| coherence.release_in_order());
        }
        exchange_word(control_area::ORDERED, position, position + 1);
    }
}

fn wait_for(position: u64) {
    let patience = Patience::new();
    while load_word(control_area::ORDERED) != position {
        patience.wait();
    }
}

/// `__kmpc_flush`: sends what this rank wrote, drops copies of what others did.
pub(crate) fn okl_mpi_kmpc_flush(_ident: *mut c_void) {
    if region::is_distributed() {
        coherence(|coherence| {
            coherence.release();
            coherence.acquire();
        });
    }
}
