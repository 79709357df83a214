//! Critical sections outside of all nests, in regions that declare their other accesses: what they access travels with
//! their locks, page by page, and they are stretches.
//!
//! Those in loops make the loops stretches, as whatever cannot be described there.

use std::collections::HashSet;

use okl_abi::Effects;

use super::stretches::{Last, Stretch};
use super::{Effect, Scan, Spoiled};
use crate::analysis::critical::body_of;
use crate::analysis::runtime::effects;
use crate::llvm::{Call, Instruction};

/// The critical sections of a function.
#[derive(Default)]
pub(super) struct Locked<'m> {
    /// What belongs to them, with the calls that enter and leave them.
    all: HashSet<Instruction<'m>>,
}

impl<'m> Locked<'m> {
    pub(super) fn contains(&self, at: Instruction<'m>) -> bool {
        self.all.contains(&at)
    }
}

/// The call that enters a critical section.
fn as_enter(at: Instruction<'_>) -> Option<Call<'_>> {
    (*at)
        .as_call()
        .filter(|call| effects(*call).has(Effects::ENTERS))
}

impl<'m> Scan<'m> {
    /// Finds them; one of which the end is not clear spoils the function.
    pub(super) fn find_locked(&mut self) {
        for at in self.out.function.instructions() {
            let Some(enter) = as_enter(at) else {
                continue;
            };
            match body_of(enter) {
                Ok(body) => {
                    let is_divided = |one: &Instruction<'m>| {
                        let effect = self.effects.get(one);
                        matches!(effect, Some(Effect::Synchronises | Effect::Shares))
                    };
                    if let Some(&one) = body.instructions.iter().find(|one| is_divided(one)) {
                        self.spoil(one, "synchronises in a critical section".to_string());
                    }
                    let leave = body.leave.iter().map(|call| call.instruction());
                    self.locked
                        .all
                        .extend(leave.chain(body.instructions).chain([at]));
                }
                Err(reason) => self.spoil(at, format!("has a critical section that {reason}")),
            }
        }
    }

    /// The parts of a block that belong to critical sections. Those that are entered here become stretches, but for one
    /// in another one.
    pub(super) fn locked_parts(&mut self, all: &[Instruction<'m>]) -> Vec<(usize, usize)> {
        let mut parts: Vec<(usize, usize)> = Vec::new();
        let mut around: HashSet<Instruction<'m>> = HashSet::new();
        for (index, &at) in all.iter().enumerate() {
            if !self.locked.contains(at) {
                continue;
            }
            match parts.last_mut() {
                Some((_, end)) if *end == index => *end += 1,
                _ => parts.push((index, index + 1)),
            }
            let body = as_enter(at).and_then(|enter| body_of(enter).ok());
            if let Some(body) = body.filter(|_| !around.contains(&at)) {
                let behind = body.leave.iter().filter_map(|call| {
                    let leave = call.instruction();
                    let all = leave.block().instructions().into_iter();
                    all.skip_while(|&one| one != leave).nth(1)
                });
                self.out.stretches.push(Stretch {
                    before: at,
                    ends: behind.collect(),
                    spoiled: Spoiled {
                        at,
                        reason: "has a critical section".to_string(),
                    },
                    depends: Vec::new(),
                    is_nest: false,
                    is_last: Last::No,
                });
                around.extend(body.instructions);
            }
        }
        parts
    }
}
