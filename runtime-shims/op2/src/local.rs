//! Programs that declare a part of the mesh on each rank: those that call `op_mpi_init`, or include `op_lib_mpi.h`.
//!
//! The parts follow each other in the order of the ranks, and maps have the numbers that elements have then; these are
//! put together where they are declared. Such a program sees what OP2's MPI library shows it: the data that it declares,
//! and what is fetched, are its part; once the mesh is distributed, sizes, offsets, data and the numbers of elements are
//! those of what the rank owns then, in an order of its own.

use std::{
    ffi::c_int,
    hash::{Hash, Hasher},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use crate::{job, layout::Set, mesh, report::fatal, topology::Rank};

static LOCAL: AtomicBool = AtomicBool::new(false);

/// Whether sizes are those of a rank's part, on one rank or several.
pub(crate) fn is_asked_for() -> bool {
    LOCAL.load(Relaxed)
}

/// Whether there are parts to be put together.
pub(crate) fn is_local() -> bool {
    is_asked_for() && job::ranks() > 1
}

/// The program's sizes are those of a part. Called before `main` by the code of programs that include `op_lib_mpi.h`.
#[unsafe(no_mangle)]
pub extern "C" fn okl_op2_sizes_are_local() {
    LOCAL.store(true, Relaxed);
}

/// What every rank has, in the order of ranks: `count` numbers for each, and what it is about, which is the same on all.
fn agree(what: &str, key: impl Hash, count: u64) -> Vec<usize> {
    let mut hasher = std::hash::DefaultHasher::new();
    (what, key).hash(&mut hasher);
    let mine = [hasher.finish(), count];
    let all = job::all_gather(&mine.map(u64::to_ne_bytes).concat());
    let all = all.as_chunks().0.iter().map(|&one| u64::from_ne_bytes(one));
    let all: Vec<u64> = all.collect();
    let mut ranks = all.chunks_exact(mine.len());
    if let Some(rank) = ranks.position(|one| one[0] != all[0]) {
        fatal(&format!(
            "{what}: rank {rank} declares something else than rank 0, where all declare their part of the same"
        ));
    }
    let counts = all.chunks_exact(mine.len()).map(|one| one[1] as usize);
    counts.collect()
}

/// Where a part of `size` elements begins, and the elements of all. Collective.
pub(crate) fn place(what: &str, size: i32) -> (i32, i32) {
    let counts = agree(what, (), size as u64);
    let whole: usize = counts.iter().sum();
    let Ok(whole) = i32::try_from(whole) else {
        fatal(&format!("{what}: a set of {whole} elements on all ranks"));
    };
    let first: usize = counts[..job::rank()].iter().sum();
    (first as i32, whole)
}

/// The elements of rank `rank`'s part of `whole` where the first ranks have one more if they cannot all have as many.
#[unsafe(no_mangle)]
pub extern "C" fn compute_local_size(whole: c_int, ranks: c_int, rank: c_int) -> c_int {
    if ranks < 1 {
        fatal(&format!("compute_local_size: {ranks} ranks"));
    }
    whole / ranks + c_int::from(rank < whole % ranks)
}

/// This rank's part of a set that the library reads: where it begins, and its size. It is as large as OP2 makes it.
pub(crate) fn share(whole: i32) -> (i32, i32) {
    let begin = |rank: usize| match rank == job::ranks() {
        true => whole,
        false => (f64::from(whole) * (rank as f64 / job::ranks() as f64)) as i32,
    };
    let (first, end) = (begin(job::rank()), begin(job::rank() + 1));
    (first, end - first)
}

/// The parts of all ranks, with `size` bytes for each element of the set. `key` is the same on all. Collective.
pub(crate) fn whole(what: &str, set: &Set, key: impl Hash, mine: &[u8], size: usize) -> Vec<u8> {
    let counts = agree(what, (set.index, size, key), set.declared as u64);
    job::all_gather_elements(mine, &counts, size)
}

/// What is of this rank's part in `whole`, data with `size` bytes for each element of the set.
pub(crate) fn declared<'a>(set: &Set, whole: &'a [u8], size: usize) -> &'a [u8] {
    let elements = set.declared();
    &whole[elements.start * size..elements.end * size]
}

/// Each rank owns what it has declared: owners of all sets. Collective.
pub(crate) fn owners() -> Vec<Vec<Rank>> {
    let mesh = mesh::mesh();
    // SAFETY: sets of the list are alive.
    let counts = mesh.sets.iter().map(|&set| unsafe { (*set).declared });
    let mine: Vec<u8> = counts.flat_map(i32::to_ne_bytes).collect();
    let all = job::all_gather(&mine);
    let all = all.as_chunks().0.iter().map(|&one| i32::from_ne_bytes(one));
    let all: Vec<i32> = all.collect();
    let owners = (0..mesh.sets.len()).map(|set| {
        let counts = all.iter().skip(set).step_by(mesh.sets.len());
        let owners = (0..).zip(counts);
        owners
            .flat_map(|(rank, &count)| std::iter::repeat_n(rank, count as usize))
            .collect()
    });
    owners.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_differ_by_one() {
        let parts: Vec<_> = (0..4).map(|rank| compute_local_size(10, 4, rank)).collect();
        assert_eq!(parts, [3, 3, 2, 2]);
    }

    #[test]
    fn one_rank_has_it_all() {
        assert_eq!(share(7), (0, 7));
        okl_op2_sizes_are_local();
        assert!(is_asked_for() && !is_local());
    }
}
