//! Where control may go in a function.

use std::collections::HashSet;

use crate::llvm::Block;

/// Some blocks, and all that steps lead to from them.
pub fn reached<'m>(
    from: Vec<Block<'m>>,
    step: impl Fn(Block<'m>) -> Vec<Block<'m>>,
) -> HashSet<Block<'m>> {
    let mut reached = HashSet::new();
    let mut rest = from;
    while let Some(block) = rest.pop() {
        if reached.insert(block) {
            rest.extend(step(block));
        }
    }
    reached
}
