//! The large objects of the program: heap blocks and global variables.

use std::collections::BTreeMap;

use okl_coherence::PAGE;

use crate::{cell::ProgramCell, heap::NO_LARGE, program_graph};

/// Data start to end of every rank's large heap blocks, as far as synchronisations told.
static LARGE_BLOCKS: ProgramCell<BTreeMap<usize, usize>> = ProgramCell::new(BTreeMap::new());

/// Takes over what a rank allocated: start and end of each large block.
pub(crate) fn learn_large_blocks(words: &[u64]) {
    if words.is_empty() {
        return;
    }
    LARGE_BLOCKS.with(|blocks| {
        for block in words.chunks_exact(2) {
            let (start, end) = (block[0] as usize, block[1] as usize & !NO_LARGE);
            while let Some((&other, &other_end)) = blocks.range(..end).next_back()
                && other_end > start
            {
                blocks.remove(&other);
            }
            if block[1] as usize & NO_LARGE == 0 {
                blocks.insert(start, end);
            }
        }
    });
}

/// The large heap block that `address` lies in.
pub(crate) fn large_at(address: usize) -> Option<(usize, usize)> {
    LARGE_BLOCKS.with(|blocks| {
        let (&start, &end) = blocks.range(..=address).next_back()?;
        (address < end).then_some((start, end))
    })
}

/// The large heap block or global variable that `address` lies in.
pub(crate) fn object_at(address: usize) -> Option<(usize, usize)> {
    let large = large_at(address);
    if large.is_some() {
        return large;
    }
    program_graph::global_extent(address).map(|(start, length)| (start, start + length))
}

/// Whether `address` lies in an object of a page or more, as far as that is known.
pub(crate) fn is_large(address: usize) -> bool {
    object_at(address).is_some_and(|(start, end)| end - start >= PAGE)
}
