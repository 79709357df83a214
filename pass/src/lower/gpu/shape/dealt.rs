//! How work items get the iterations of loops of which nobody knows in front of all blocks how many they have.
//!
//! Such a block gets a number of work items that is chosen here. Where nothing that an iteration of a loop leaves belongs to
//! its work item, they go through the iterations in rounds, however many there are. Else each has one, and a block that needs
//! more work items than there are says so.

use std::collections::HashSet;

use super::{Extent, Shape};
use crate::analysis::meeting::is_barrier;
use crate::analysis::variables::{Does, is_destination, is_harmless, uses};
use crate::ir::{Counter, LocalKind, Region};
use crate::llvm::{Block, Instruction, Opcode};

/// Work items of a block, where their number is chosen and they go through iterations in rounds.
const IN_ROUNDS: i64 = 256;
/// The same where each has one iteration.
const AT_MOST: i64 = 1024;
/// In the third direction.
const DEEPEST: i64 = 64;

/// How work items get the iterations of a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Dealt {
    /// There are as many work items as iterations, or more.
    Once,
    /// The same, unless there are too many iterations: then that is said.
    Checked,
    /// By turns, as long as there are any.
    Rounds,
}

fn constant(extent: &Extent<'_>) -> Option<i64> {
    match extent {
        Extent::Constant(count) => Some(*count),
        Extent::Computed(_) | Extent::Unknown(_) => None,
    }
}

/// How many work items a block of these sizes has, where it may have so many.
fn count(items: [i64; 3]) -> Option<i64> {
    let [x, y, z] = items;
    let all = x.checked_mul(y)?.checked_mul(z)?;
    (z <= DEEPEST && all <= AT_MOST).then_some(all)
}

impl<'m> Shape<'m> {
    /// Chooses numbers of work items where there is a loop whose iterations are not known in front of all blocks.
    pub(super) fn deal(&mut self, region: &Region<'m>) -> Result<(), String> {
        self.dealt = vec![Dealt::Once; self.inner.len()];
        let is_unknown = |extent: &Extent<'m>| matches!(extent, Extent::Unknown(_));
        if !self.extents.iter().flatten().any(is_unknown) {
            return Ok(());
        }
        let free = self.free(region);
        for (at, counter) in self.inner.iter().enumerate() {
            let header = counter.decides.block();
            let mut nests = self.outermost.iter().zip(&free);
            let is_free = nests.any(|(nest, free)| *free && nest.blocks.contains(&header));
            self.dealt[at] = match (self.is_constant[at], is_free) {
                (true, _) => Dealt::Once,
                (false, true) => Dealt::Rounds,
                (false, false) => Dealt::Checked,
            };
        }
        let most = match self.dealt.contains(&Dealt::Checked) {
            true => AT_MOST,
            false => IN_ROUNDS,
        };
        // What is said of them, or known of others in the same direction.
        let mut items = [1; 3];
        let mut open = Vec::new();
        let mut grows = Vec::new();
        for (axis, extents) in self.extents.iter().enumerate() {
            let said = extents.iter().map(|one| match one {
                Extent::Unknown(most) => *most,
                other => constant(other),
            });
            let said: Option<Vec<_>> = said.collect();
            let all = said.clone().unwrap_or_default().into_iter();
            let known = extents.iter().filter_map(constant);
            items[axis] = all.chain(known).max().unwrap_or(1).max(1);
            if extents.iter().any(|one| constant(one).is_none()) {
                open.push(axis);
                grows.extend(said.is_none().then_some(axis));
            }
        }
        if count(items).is_none() {
            return Err(
                "how many work items a block has is not known in front of all blocks, and it may be more than 1024"
                    .to_string(),
            );
        }
        if most == AT_MOST && grows.len() > 1 {
            return Err(
                "how many work items a block has is not known in front of all blocks, in more than one direction: say it with @max_inner_dims"
                    .to_string(),
            );
        }
        // The smallest of them grows first.
        while let Some(at) = (0..grows.len()).min_by_key(|&at| items[grows[at]]) {
            let mut more = items;
            let larger = (items[grows[at]] as u64 + 1).next_power_of_two();
            more[grows[at]] = larger as i64;
            match count(more).is_some_and(|count| count <= most) {
                true => items = more,
                false => drop(grows.swap_remove(at)),
            }
        }
        for axis in open {
            self.extents[axis].retain(|one| constant(one).is_some());
            self.extents[axis].push(Extent::Constant(items[axis]));
        }
        Ok(())
    }

    /// For each nest of loops over work items whether all that an iteration leaves is what others see, too.
    fn free(&self, region: &Region<'m>) -> Vec<bool> {
        let of_kind = |kind: LocalKind| {
            let all = region.locals.iter().filter(move |one| one.kind == kind);
            all.map(|one| one.variable).collect::<HashSet<_>>()
        };
        let (shared, exclusive) = (of_kind(LocalKind::Shared), of_kind(LocalKind::Exclusive));
        let nest_of = |block: Block<'m>| {
            let mut nests = self.outermost.iter();
            nests.position(|nest| nest.blocks.contains(&block))
        };
        let meets = |nest: &Counter<'m>| {
            let mut code = nest.blocks.iter().flat_map(|block| block.instructions());
            code.any(is_barrier)
        };
        let mut free: Vec<_> = self.outermost.iter().map(|nest| !meets(nest)).collect();
        let Some(first) = self.outermost.first() else {
            return free;
        };
        let entry = first.decides.function().blocks()[0].instructions();
        let is_own = |one: &Instruction<'m>| !shared.contains(one) && !is_destination(*one);
        let variables = entry
            .into_iter()
            .filter(|one| one.opcode() == Opcode::LLVMAlloca && is_own(one));
        for variable in variables {
            let begins = |one: Instruction<'m>| self.inner.iter().any(|inner| inner.begins == one);
            let uses = uses(variable).into_iter();
            let its = uses.filter(|(one, _)| !is_harmless(*one) && !begins(*one));
            let its: Vec<_> = its
                .map(|(one, does)| (nest_of(one.block()), does))
                .collect();
            let is_changed = its
                .iter()
                .any(|(nest, does)| nest.is_some() && *does != Does::Read);
            for (nest, is_free) in free.iter_mut().enumerate() {
                let is_used = its.iter().any(|(at, _)| *at == Some(nest));
                let is_elsewhere = its.iter().any(|(at, _)| *at != Some(nest));
                let is_left = exclusive.contains(&variable) || is_changed && is_elsewhere;
                *is_free &= !(is_used && is_left);
            }
        }
        free
    }

    /// How work items get the iterations of a loop.
    pub fn dealt(&self, counter: &Counter<'m>) -> Dealt {
        let mut all = self.inner.iter().zip(&self.dealt);
        let found = all.find(|(one, _)| one.decides == counter.decides);
        *found.expect("a loop over work items").1
    }
}
