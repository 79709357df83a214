//! `okl_mpi_touch`: system calls cannot fault, so what an unknown function may hand to the kernel is
//! made present and writable first.

use std::ffi::c_void;

use crate::{cell::ProgramCell, layout, memory, mpi_job, program, program_graph, stats};

/// How much of rank 0's stack above a pointer an unknown function may use.
const STACK_WINDOW: usize = 64 << 10;
/// How much of another rank's heap block: its header says more only by a fault.
const HEAP_WINDOW: usize = 16 << 10;
/// Objects remembered as present since the last synchronisation.
const REMEMBERED: usize = 8;

/// Objects touched since synchronisation `epoch`.
struct Recent {
    epoch: u64,
    objects: [(usize, usize); REMEMBERED],
    next: usize,
}

static RECENT: ProgramCell<Recent> = ProgramCell::new(Recent {
    epoch: 0,
    objects: [(0, 0); REMEMBERED],
    next: 0,
});

/// Makes the object behind `pointer` present and writable.
pub(crate) fn okl_mpi_touch(pointer: *mut c_void) {
    let address = pointer as usize;
    let Some(layout) = layout::get() else { return };
    if mpi_job::ranks() == 1 || layout.page_of(address).is_none() {
        return;
    }
    let epoch = stats::synchronisations();
    let known = RECENT.with(|recent| {
        if recent.epoch != epoch {
            *recent = Recent {
                epoch,
                objects: [(0, 0); REMEMBERED],
                next: 0,
            };
        }
        recent
            .objects
            .iter()
            .any(|&(start, length)| (start..start + length).contains(&address))
    });
    if known {
        return;
    }
    let (start, length) = extent_of(address);
    memory::touch(start, length, true);
    RECENT.with(|recent| {
        recent.objects[recent.next] = (start, length);
        recent.next = (recent.next + 1) % REMEMBERED;
    });
}

fn extent_of(address: usize) -> (usize, usize) {
    let layout = layout::layout();
    if let Some(extent) = program_graph::global_extent(address) {
        return extent;
    }
    if let Some(extent) = program::heap(|heap| heap.extent_of(address)) {
        return extent;
    }
    let segment_end = |window: usize| {
        let end = layout
            .segments()
            .find(|s| (s.address..s.end()).contains(&address))
            .map_or(address, |s| s.end());
        (address, window.min(end - address))
    };
    if layout::is_arena_address(address) {
        segment_end(HEAP_WINDOW)
    } else {
        segment_end(STACK_WINDOW)
    }
}
