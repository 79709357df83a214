//! Reductions: the compiler's own combine function is applied to the ranks' private copies, in rank order, so
//! that any type and operator works and the result does not depend on timing. Before, a rank's first thread
//! does so with the copies of the rank's other threads, in their order.
//!
//! Where the compiler knows how large the items are, they go up a tree in one message from each rank.
//! Elsewhere rank 0 combines: a rank sends it the address of its list together with the pages that hold the
//! list and its items, as far as they are small; the combine function reads the rest through faults. Where it
//! may follow pointers out of the items, what the rank wrote goes home first.

use std::ffi::c_void;

use crate::{
    alone, layout, memory::coherence, mpi_job, observe, observe::Event, observe::Place, owed,
    program_stacks, region, scopes, stats, team, threads,
};
use okl_coherence::{PAGE, driver::tree};

/// Most pages that travel with a list.
const PAGES: usize = 4;

/// Most bytes of items that travel by themselves, each with room for the largest; and of an item where there are several.
const MOST_BYTES: usize = 1 << 14;
const MOST_BYTES_OF_EACH: usize = 1 << 10;

/// What a combine function may reach, as the ABI says it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Nothing but items of so many bytes at most.
    Small(usize),
    Items,
    Anywhere,
}

impl Reach {
    fn of(reach: i32, items: i32) -> Self {
        let bytes = reach.unsigned_abs() as usize;
        match reach {
            1.. => Self::Anywhere,
            0 => Self::Items,
            _ if items == 1 && bytes <= MOST_BYTES => Self::Small(bytes),
            _ if bytes <= MOST_BYTES_OF_EACH && bytes * items as usize <= MOST_BYTES => {
                Self::Small(bytes)
            }
            _ => Self::Items,
        }
    }
}

/// Part of a copy of an item: as aligned as any type wants it.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Chunk([u8; 64]);

type Combine = extern "C" fn(*mut c_void, *mut c_void);

/// Combines; 1 on the thread that then stores the result, 0 on the others.
fn reduce(
    ident: *mut c_void,
    items: i32,
    list: *mut c_void,
    combine: *mut c_void,
    reach: i32,
) -> i32 {
    if !team::is_parallel() {
        return 1;
    }
    // SAFETY: the compiler's combine function, called as libomp calls it.
    let combine: Combine = unsafe { std::mem::transmute(combine) };
    if alone::is_running() {
        let reach = Reach::of(reach, items);
        let stores = alone::reduce(team::thread_num(), list as usize, |lists| {
            as_on_ranks(lists, combine, reach);
        });
        return stores.into();
    }
    let stores = threads::together(threads::list(list), |others| {
        let reach = Reach::of(reach, items);
        if !region::is_distributed() {
            let all = std::iter::once(list as usize).chain(others.iter().copied());
            let all: Vec<usize> = scopes::private(|| all.collect());
            as_on_ranks(&all, combine, reach);
            scopes::private(|| drop(all));
            return 1;
        }
        for &other in others {
            combine(list, other as *mut c_void);
        }
        owed::while_meeting(|| between_ranks(ident, items, list, combine, reach))
    });
    stores.unwrap_or(0)
}

/// Combines the lists of all threads into that of the first, in the order in which ranks would.
fn as_on_ranks(lists: &[usize], combine: Combine, reach: Reach) {
    let threads = lists.len() as u32;
    let (ranks, each) = match threads::on_each_rank(threads as i32) {
        0 => return,
        each => (threads.div_ceil(each), each as usize),
    };
    for of_rank in lists.chunks(each) {
        for &other in &of_rank[1..] {
            combine(of_rank[0] as *mut c_void, other as *mut c_void);
        }
    }
    let combine = |to: u32, from: u32| {
        let list = |rank: u32| lists[rank as usize * each] as *mut c_void;
        combine(list(to), list(from));
    };
    match reach {
        // A rank sends what it has when it has that of its children: they have larger numbers.
        Reach::Small(_) => {
            for rank in (0..ranks).rev() {
                for child in tree::children(rank, ranks) {
                    combine(rank, child);
                }
            }
        }
        Reach::Items | Reach::Anywhere => (1..ranks).for_each(|rank| combine(0, rank)),
    }
}

/// Combines what the first threads of all ranks have. As [`reduce`].
fn between_ranks(
    ident: *mut c_void,
    items: i32,
    list: *mut c_void,
    combine: Combine,
    reach: Reach,
) -> i32 {
    stats::count(|counts| counts.reductions += 1);
    let _span = observe::span(|| Event::Reduction(Place::of_construct(ident)));
    let ranks = threads::ranks_in(team::num_threads());
    if let Reach::Small(bytes) = reach {
        return up_the_tree(pointers(list, items), bytes, list, combine, ranks);
    }
    let deep = reach == Reach::Anywhere;
    if mpi_job::rank() == 0 {
        for rank in 1..ranks {
            let theirs = receive_list(rank, deep);
            combine(list, theirs);
        }
        coherence(|coherence| coherence.drop_private_copies());
        for rank in 1..ranks {
            stats::count(|counts| counts.sent.control(1, 1));
            mpi_job::send(&[1], rank);
        }
        1
    } else {
        if deep {
            coherence(|coherence| coherence.release());
        }
        send_list(list, items);
        // The copies must live until they are combined.
        observe::during(|| Event::Waiting, || mpi_job::receive(0));
        0
    }
}

fn pointers<'a>(list: *mut c_void, items: i32) -> &'a [usize] {
    // SAFETY: the list has `items` pointers.
    unsafe { std::slice::from_raw_parts(list.cast::<usize>(), items as usize) }
}

/// Combines items of at most `bytes` bytes of the first `ranks` ranks. As [`reduce`].
fn up_the_tree(
    items: &[usize],
    bytes: usize,
    list: *mut c_void,
    combine: Combine,
    ranks: u32,
) -> i32 {
    let rank = mpi_job::rank();
    for child in tree::children(rank, ranks) {
        let message = observe::during(|| Event::Waiting, || mpi_job::receive(child));
        let mut copies: Vec<Vec<Chunk>> = scopes::private(|| {
            let copy = |item: &[u8]| {
                let chunk = |part: &[u8]| {
                    let mut chunk = Chunk([0; 64]);
                    chunk.0[..part.len()].copy_from_slice(part);
                    chunk
                };
                item.chunks(64).map(chunk).collect()
            };
            message.chunks(bytes).map(copy).collect()
        });
        let mut theirs: Vec<*mut Chunk> =
            scopes::private(|| copies.iter_mut().map(|copy| copy.as_mut_ptr()).collect());
        combine(list, theirs.as_mut_ptr().cast());
        scopes::private(|| drop((copies, theirs, message)));
    }
    if rank == 0 {
        return 1;
    }
    scopes::private(|| {
        let mut message = Vec::with_capacity(items.len() * bytes);
        let top = program_stacks::region_stack_top();
        for (index, &item) in items.iter().enumerate() {
            let room = top.checked_sub(item).filter(|&room| room > 0);
            let bytes_there = room.map_or(bytes, |room| room.min(bytes));
            // SAFETY: this thread's variable; what lies behind a smaller one is the stack's as well, as far as that goes.
            message.extend_from_slice(unsafe {
                std::slice::from_raw_parts(item as *const u8, bytes_there)
            });
            message.resize((index + 1) * bytes, 0);
        }
        stats::count(|counts| counts.sent.data(1, message.len()));
        mpi_job::send(&message, tree::parent(rank));
    });
    0
}

fn send_list(list: *mut c_void, items: i32) {
    let layout = layout::layout();
    let pointers = pointers(list, items);
    let mut pages: Vec<okl_coherence::Page> = Vec::new();
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
            message.extend_from_slice(&coherence.contents(page));
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
            let page =
                u64::from_le_bytes(part[..8].try_into().expect("8 bytes")) as okl_coherence::Page;
            coherence.install_private(page, part[8..].try_into().expect("a page"));
        }
    });
    word(0) as *mut c_void
}

/// `__kmpc_reduce`, with `reach`.
#[allow(clippy::too_many_arguments)]
pub(crate) fn okl_mpi_reduce(
    ident: *mut c_void,
    _gtid: i32,
    items: i32,
    _list_size: i64,
    list: *mut c_void,
    combine: *mut c_void,
    _lock: *mut c_void,
    reach: i32,
) -> i32 {
    reduce(ident, items, list, combine, reach)
}

/// `__kmpc_reduce_nowait`, with `reach`.
#[allow(clippy::too_many_arguments)]
pub(crate) fn okl_mpi_reduce_nowait(
    ident: *mut c_void,
    _gtid: i32,
    items: i32,
    _list_size: i64,
    list: *mut c_void,
    combine: *mut c_void,
    _lock: *mut c_void,
    reach: i32,
) -> i32 {
    reduce(ident, items, list, combine, reach)
}

/// `__kmpc_end_reduce`. The barrier of the blocking form is the construct's own.
pub(crate) fn okl_mpi_kmpc_end_reduce(_ident: *mut c_void, _gtid: i32, _lock: *mut c_void) {}

/// `__kmpc_end_reduce_nowait`.
pub(crate) fn okl_mpi_kmpc_end_reduce_nowait(_ident: *mut c_void, _gtid: i32, _lock: *mut c_void) {}
