//! Where control goes from a loop, but for where it goes on in the end: what the program does for an exception, or to end.

use std::collections::HashSet;

use crate::llvm::Block;

/// The blocks outside of a loop that control comes to from it, other than through its exit.
pub struct Leaving<'m> {
    /// Those that it comes to from nowhere else.
    pub own: Vec<Block<'m>>,
    /// The others.
    pub others: Vec<Block<'m>>,
}

impl<'m> Leaving<'m> {
    /// Of a loop of these blocks, which goes on from its header to its exit.
    pub fn of(blocks: &[Block<'m>], header: Block<'m>, exit: Block<'m>) -> Self {
        let members: HashSet<_> = blocks.iter().copied().collect();
        let reach = |mut rest: Vec<Block<'m>>| {
            let mut seen = Vec::new();
            let mut known = HashSet::new();
            while let Some(block) = rest.pop() {
                if !members.contains(&block) && known.insert(block) {
                    seen.push(block);
                    rest.extend(block.successors());
                }
            }
            (seen, known)
        };
        let ends = blocks.iter().flat_map(|block| {
            let next = block.successors().into_iter();
            next.filter(move |next| *block != header || *next != exit)
        });
        let (ends, _) = reach(ends.collect());
        let (_, outside) = reach(vec![header.function().blocks()[0], exit]);
        let (others, own) = ends.into_iter().partition(|block| outside.contains(block));
        Self { own, others }
    }
}
