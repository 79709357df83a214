//! Reductions: rank 0 applies the compiler's own combine function to the other ranks' private copies,
//! in rank order, so that any type and operator works and the result does not depend on timing. Before, a
//! rank's first thread does so with the copies of the rank's other threads, in their order.
//!
//! A rank sends the address of its list together with the pages that hold the list and its items, as
//! far as they are small; the combine function reads the rest through faults. Where it may follow
//! pointers out of the items (`deep`), what the rank wrote goes home first.

use std::ffi::c_void;

use crate::{
    layout,
    layout::PAGE,
    memory::coherence,
    mpi_job,
    observe::{self, Event, Place},
    stats, team, threads,
};

/// Most pages that travel with a list.
const PAGES: usize = 4;

type Combine = extern "C" fn(*mut c_void, *mut c_void);

/// Combines; 1 on the thread that then stores the result, 0 on the others.
fn reduce(
    ident: *mut c_void,
    items: i32,
    list: *mut c_void,
    combine: *mut c_void,
    deep: i32,
) -> i32 {
    if !team::is_parallel() {
        return 1;
    }
    // SAFETY: the compiler's combine function, called as libomp calls it.
    let combine: Combine = unsafe { std::mem::transmute(combine) };
    let stores = threads::together(threads::list(list), |others| {
        for &other in others {
            combine(list, other as *mut c_void);
        }
        between_ranks(ident, items, list, combine, deep)
    });
    stores.unwrap_or(0)
}

/// Combines what the first threads of all ranks have. As [`reduce`].
fn between_ranks(
    ident: *mut c_void,
    items: i32,
    list: *mut c_void,
    combine: Combine,
    deep: i32,
) -> i32 {
    stats::count(|counts| counts.reductions += 1);
    let _span = observe::span(|| Event::Reduction(Place::of_construct(ident)));
    let ranks = threads::ranks_in(team::num_threads());
    if mpi_job::rank() == 0 {
        for rank in 1..ranks {
            let theirs = receive_list(rank, deep != 0);
            combine(list, theirs);
        }
        coherence(|coherence| coherence.drop_private_copies());
        for rank in 1..ranks {
            stats::count(|counts| counts.sent.control(1, 1));
            mpi_job::send(&[1], rank);
        }
        1
    } else {
        if deep != 0 {
            coherence(|coherence| coherence.release());
        }
        send_list(list, items);
        // The copies must live until they are combined.
        observe::during(|| Event::Waiting, || mpi_job::receive(0));
        0
    }
}

fn send_list(list: *mut c_void, items: i32) {
    let layout = layout::layout();
    // SAFETY: the list has `items` pointers.
    let pointers = unsafe { std::slice::from_raw_parts(list.cast::<usize>(), items as usize) };
    let mut pages: Vec<layout::Page> = Vec::new();
    for &address in std::iter::once(&(list as usize)).chain(pointers) {
        if let Some(page) = layout.page_of(address)
            && layout.is_private(page)
            && !pages.contains(&page)
            && pages.len() < PAGES
        {
            pages.push(page);
        }
    }
    let mut message = (list as u64).to_le_bytes().to_vec();
    coherence(|coherence| {
        for &page in &pages {
            message.extend_from_slice(&u64::from(page).to_le_bytes());
            message.extend_from_slice(coherence.contents(page));
        }
    });
    stats::count(|counts| counts.sent.data(1, message.len()));
    mpi_job::send(&message, 0);
}

/// Receives the list of `rank` and makes its pages readable here; with `deep`, so is everything that
/// `rank` wrote. The list's address.
fn receive_list(rank: u32, deep: bool) -> *mut c_void {
    let message = observe::during(|| Event::Waiting, || mpi_job::receive(rank));
    if deep {
        // Not before: a page read for the rank before may hold this one's writes, too.
        coherence(|coherence| coherence.acquire());
    }
    let word = |at: usize| u64::from_le_bytes(message[at..at + 8].try_into().expect("8 bytes"));
    coherence(|coherence| {
        for part in message[8..].chunks(8 + PAGE) {
            let page = u64::from_le_bytes(part[..8].try_into().expect("8 bytes")) as layout::Page;
            coherence.install_private(page, part[8..].try_into().expect("a page"));
        }
    });
    word(0) as *mut c_void
}

/// `__kmpc_reduce`, with `deep`.
#[allow(clippy::too_many_arguments)]
pub(crate) fn okl_mpi_reduce(
    ident: *mut c_void,
    _gtid: i32,
    items: i32,
    _list_size: i64,
    list: *mut c_void,
    combine: *mut c_void,
    _lock: *mut c_void,
    deep: i32,
) -> i32 {
    reduce(ident, items, list, combine, deep)
}

/// `__kmpc_reduce_nowait`, with `deep`.
#[allow(clippy::too_many_arguments)]
pub(crate) fn okl_mpi_reduce_nowait(
    ident: *mut c_void,
    _gtid: i32,
    items: i32,
    _list_size: i64,
    list: *mut c_void,
    combine: *mut c_void,
    _lock: *mut c_void,
    deep: i32,
) -> i32 {
    reduce(ident, items, list, combine, deep)
}

/// `__kmpc_end_reduce`. The barrier of the blocking form is the construct's own.
pub(crate) fn okl_mpi_kmpc_end_reduce(_ident: *mut c_void, _gtid: i32, _lock: *mut c_void) {}

/// `__kmpc_end_reduce_nowait`.
pub(crate) fn okl_mpi_kmpc_end_reduce_nowait(_ident: *mut c_void, _gtid: i32, _lock: *mut c_void) {}
