//! Exceptions, which end code before it has accessed all that it has declared.

use super::calls::Effect;
use super::{Known, Scan};
use crate::analysis::control_flow;
use crate::diagnostic::user_name;
use crate::llvm::{Block, Call, Instruction, Opcode};

impl<'m> Scan<'m> {
    /// Exceptions that end the program are no matter. Where one is handled, all that was declared before it was thrown
    /// has to have been accessed.
    pub(super) fn look_at_handlers(&mut self, known: &Known<'m>) {
        let calls = self.out.function.instructions().into_iter();
        let invokes = calls.filter_map(|at| Some((at, (*at).as_call()?.invoke_targets()?.1)));
        let handled = invokes.filter(|(_, handler)| !self.out.nests.is_last(*handler));
        for (at, _) in handled.collect::<Vec<_>>() {
            if let Some(Effect::Calls(callee)) = self.effects.get(&at)
                && known
                    .get(callee)
                    .is_some_and(|callee| callee.leaves_in_nest)
            {
                let reason = format!("may leave {} by an exception", user_name(*callee));
                self.effects.insert(at, Effect::Spoils(reason));
            }
        }
    }

    /// Where exceptions are handled, whatever was thrown out of is over, unless it is all in one stretch.
    pub(super) fn find_handlers(&mut self) {
        let nests = &self.out.nests;
        let is_tracked = |block: Block<'m>| {
            let mut around = nests.loops_around(block);
            around.any(|one| self.tracked.contains(&one))
        };
        for at in self.out.function.instructions() {
            if let Some((_, pad)) = (*at).as_call().and_then(Call::invoke_targets)
                && !nests.is_last(pad)
                && !is_tracked(pad)
                && let Some(first) = pad.first_insertion_point()
                && !self.out.handlers.contains(&first)
            {
                self.out.handlers.push(first);
            }
        }
    }

    /// Finds out whether an exception may leave the function where it, or its caller, has declared more than has been
    /// accessed.
    pub(super) fn note_throws(&mut self) {
        let is_summarised = self.out.summary.is_some();
        let nests = &self.out.nests;
        let is_in_nest = |one: &Instruction<'m>| {
            let mut around = nests.loops_around(one.block());
            is_summarised || around.any(|index| !self.open.contains(&index))
        };
        let instructions = self.out.function.instructions().into_iter();
        // No exception leaves a function whose accesses another file describes.
        let depends =
            |one: &Instruction<'m>| matches!(self.effects.get(one), Some(Effect::Depends(_)));
        let mut in_nests = instructions.filter(|one| is_in_nest(one) && !depends(one));
        self.out.leaves_in_nest |= in_nests.any(may_leave);
    }
}

/// Whether an exception that comes to an instruction may leave the function.
fn may_leave(at: Instruction<'_>) -> bool {
    match (*at).as_call().and_then(Call::invoke_targets) {
        Some((_, pad)) => resumes(pad),
        None => at.opcode() == Opcode::LLVMCall && at.may_throw(),
    }
}

/// Whether control may come from a block to where the function is left by an exception.
pub(super) fn resumes(pad: Block<'_>) -> bool {
    let ends = control_flow::reached(vec![pad], Block::successors).into_iter();
    let mut ends = ends.filter_map(Block::terminator);
    ends.any(|end| end.opcode() == Opcode::LLVMResume)
}
