//! Code that cannot be described, in regions whose other accesses are declared: the run time is told where it begins and
//! ends, and tracks pages meanwhile.
//!
//! A stretch is a loop, or a run of instructions of a block outside of all nests. A loop that hands out chunks of one such
//! loop, and declares nothing else, is one as a whole. Where it lies in what is called in a loop
//! that is to be a nest, the loop is one.

use super::calls::{Dependence, Effect};
use super::exceptions::resumes;
use super::places::Place;
use super::{Known, Scan, Spoiled};
use crate::analysis::control_flow;
use crate::analysis::library::{is_cxx_runtime, known};
use crate::llvm::{Block, Instruction, Opcode};

/// Code that declares nothing.
pub struct Stretch<'m> {
    /// It follows.
    pub before: Instruction<'m>,
    /// In front of these it has ended.
    pub ends: Vec<Instruction<'m>>,
    /// What cannot be declared.
    pub spoiled: Spoiled<'m>,
    /// Where it need not be tracked if these functions are known when the program starts: all else of it is declared.
    pub depends: Vec<Dependence<'m>>,
    /// Whether something is declared in front of it for all of it, so that nothing can be inside.
    pub is_nest: bool,
    /// Control does not return from it.
    pub(super) is_last: Last,
}

/// Where control comes to behind some code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    /// It may return from the function.
    No,
    /// An exception leaves the function.
    ByException,
    /// The program ends.
    Yes,
}

impl Stretch<'_> {
    /// Whether the program ends in it, unless it handles exceptions (`handles`).
    pub(super) fn ends_program(&self, handles: bool) -> bool {
        match self.is_last {
            Last::No => false,
            Last::ByException => !handles,
            Last::Yes => true,
        }
    }
}

impl<'m> Scan<'m> {
    pub(super) fn is_last(&self, block: Block<'m>) -> Last {
        match (self.out.nests.is_last(block), resumes(block)) {
            (false, _) => Last::No,
            (true, true) => Last::ByException,
            (true, false) => Last::Yes,
        }
    }

    /// Makes a loop that is entered in one way a stretch. Otherwise it spoils the function.
    pub(super) fn add_loop(&mut self, index: usize, spoiled: Spoiled<'m>) {
        let one = &self.loops[index];
        let Some(before) = one.preheader.and_then(Block::terminator) else {
            return self.spoil(spoiled.at, spoiled.reason);
        };
        let blocks = one.blocks.clone();
        let next = blocks.iter().flat_map(|block| block.successors());
        let mut behind: Vec<Block<'m>> = next.filter(|next| !blocks.contains(next)).collect();
        behind.dedup();
        behind.retain(|&block| !self.out.nests.is_last(block));
        self.add_stretch(before, behind, spoiled, Last::No);
        self.tracked.push(index);
    }

    /// Makes a nest a stretch as well, for where not all functions that it calls turn out to be known. `is_declared`: it
    /// accesses something itself.
    pub(super) fn add_dependent_loop(
        &mut self,
        index: usize,
        depends: Vec<Dependence<'m>>,
        is_declared: bool,
    ) {
        self.add_loop(index, spoiled_by(&depends));
        if let Some(added) = self.out.stretches.last_mut() {
            added.depends = depends;
            added.is_nest = is_declared;
        }
    }

    /// A stretch that ends where these blocks begin.
    fn add_stretch(
        &mut self,
        before: Instruction<'m>,
        behind: Vec<Block<'m>>,
        spoiled: Spoiled<'m>,
        is_last: Last,
    ) {
        let ends = behind.into_iter().filter_map(Block::first_insertion_point);
        let mut all: Vec<Instruction<'m>> = Vec::new();
        for end in ends {
            if !all.contains(&end) {
                all.push(end);
            }
        }
        self.out.stretches.push(Stretch {
            before,
            ends: all,
            spoiled,
            depends: Vec::new(),
            is_nest: false,
            is_last,
        });
    }

    /// The runs of instructions of a block that are stretches or parts of critical sections: the first, and the one behind
    /// the last, if that is no terminator. What lies between two that cannot be described belongs to their stretch, unless
    /// it shares work, synchronises or declares. Calls of functions that may turn out to be known are stretches of their own,
    /// which are not among them: what they access besides is declared.
    pub(super) fn stretches_of(
        &mut self,
        block: Block<'m>,
        known: &Known<'m>,
    ) -> Vec<(usize, usize)> {
        let all = block.instructions();
        let locked = self.locked_parts(&all);
        let mut runs: Vec<(usize, usize)> = Vec::new();
        let mut may_join = false;
        let mut found = Vec::new();
        let mut dependent = Vec::new();
        let is_last = self.is_last(block);
        for (index, at) in all.iter().enumerate() {
            if self.locked.contains(*at) {
                may_join = false;
                continue;
            }
            match self.effects.get(at) {
                None | Some(Effect::Nothing | Effect::Accesses(_)) => {}
                Some(Effect::Calls(callee)) => {
                    let callee = &known[callee];
                    may_join &= !callee.declares_itself();
                    match runs.last_mut() {
                        _ if callee.depends.is_empty() => {}
                        Some((_, end)) if may_join => *end = index + 1,
                        _ if is_last == Last::No => {
                            let is_declared = callee.summary.iter().any(|all| !all.is_empty());
                            dependent.push((index, callee.depends.clone(), is_declared));
                        }
                        _ => {
                            runs.push((index, index + 1));
                            found.push(spoiled_by(&callee.depends));
                            may_join = true;
                        }
                    }
                }
                Some(Effect::Depends(one)) => match runs.last_mut() {
                    Some((_, end)) if may_join => *end = index + 1,
                    _ => dependent.push((index, vec![(**one).clone()], false)),
                },
                Some(Effect::Shares | Effect::Synchronises) => may_join = false,
                Some(Effect::Spoils(reason)) => {
                    match runs.last_mut() {
                        Some((_, end)) if may_join => *end = index + 1,
                        _ => {
                            runs.push((index, index + 1));
                            found.push(Spoiled {
                                at: *at,
                                reason: reason.clone(),
                            });
                        }
                    }
                    may_join = true;
                }
            }
        }
        let certain = runs.iter().copied().zip(found);
        let certain = certain.map(|(run, spoiled)| (run, spoiled, Vec::new(), false));
        let dependent = dependent.into_iter().map(|(at, depends, is_declared)| {
            ((at, at + 1), spoiled_by(&depends), depends, is_declared)
        });
        for ((first, end), spoiled, depends, is_nest) in certain.chain(dependent) {
            let behind = match all.get(end) {
                Some(&next) => {
                    let ends = next.opcode() != Opcode::LLVMUnreachable;
                    let stretch = Stretch {
                        before: all[first],
                        ends: ends.then_some(next).into_iter().collect(),
                        spoiled,
                        depends,
                        is_nest,
                        is_last,
                    };
                    self.out.stretches.push(stretch);
                    continue;
                }
                None => all[end - 1].block().successors(),
            };
            let behind = behind.into_iter();
            let behind = behind.filter(|&next| !self.out.nests.is_last(next));
            self.add_stretch(all[first], behind.collect(), spoiled, is_last);
            if let Some(added) = self.out.stretches.last_mut() {
                added.depends = depends;
                added.is_nest = is_nest;
            }
        }
        runs.extend(locked);
        runs
    }

    /// Whether what the program does before it ends in a loop reads what threads share, perhaps what the loop has yet to
    /// write.
    pub(super) fn ends_reading(&self, index: usize, known: &Known<'m>) -> bool {
        let blocks = &self.loops[index].blocks;
        let mut calls = blocks.iter().flat_map(|block| block.instructions());
        let mut rest: Vec<Block<'m>> = blocks.iter().flat_map(|one| one.successors()).collect();
        rest.retain(|&next| self.out.nests.is_last(next));
        let mut last = control_flow::reached(rest, Block::successors).into_iter();
        if last.any(|block| self.reads_shared(block)) {
            return true;
        }
        calls.any(|at| match self.effects.get(&at) {
            Some(Effect::Calls(callee)) => known.get(callee).is_some_and(|one| one.reads_at_end),
            _ => false,
        })
    }

    /// Whether a block reads what threads share, but for what is known when the region is forked.
    pub(super) fn reads_shared(&self, block: Block<'m>) -> bool {
        let mut all = block.instructions().into_iter();
        all.any(|at| match self.effects.get(&at) {
            None | Some(Effect::Nothing | Effect::Shares | Effect::Synchronises) => false,
            Some(Effect::Accesses(list)) => {
                let mut list = list.iter();
                list.any(|access| {
                    !access.is_write && matches!(self.place(access), Place::Elsewhere)
                })
            }
            Some(Effect::Calls(_) | Effect::Depends(_)) => true,
            Some(Effect::Spoils(_)) => (*at).as_call().is_none_or(|call| {
                let name = call.callee_name();
                !is_cxx_runtime(&name) && known(&name).is_none()
            }),
        })
    }
}

/// What is said of code that may turn out to be known.
fn spoiled_by<'m>(depends: &[Dependence<'m>]) -> Spoiled<'m> {
    Spoiled {
        at: depends[0].at,
        reason: depends[0].reason.clone(),
    }
}
