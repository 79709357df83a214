//! The tree of ranks: rank 0 is its root, and a rank's number without its lowest bit is the one above it.

/// The rank above `rank`, which is not 0.
pub fn parent(rank: u32) -> u32 {
    rank & (rank - 1)
}

/// The ranks below `rank` among so many: the one with the least below it first.
pub fn children(rank: u32, ranks: u32) -> impl DoubleEndedIterator<Item = u32> {
    let bits = if rank == 0 {
        u32::BITS - 1
    } else {
        rank.trailing_zeros()
    };
    (0..bits)
        .map(move |bit| rank | 1 << bit)
        .filter(move |&child| child < ranks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_is_a_child_of_the_one_above_it() {
        for rank in 1..200u32 {
            let bit = rank.trailing_zeros();
            assert_eq!(parent(rank) | 1 << bit, rank);
            let above = parent(rank);
            assert!(above == 0 || bit < above.trailing_zeros());
            assert!(children(above, 200).any(|child| child == rank));
        }
    }
}
