//! Chains that the driver has written twice: with calls of markers, and as the program has them, with the directives of OpenMP
//! in whose place a schedule stands. A call asks which of the two is run.
//!
//! ```text
//! if (__okl_omplc_scheduled()) { ..calls of markers.. } else { ..as the program has it.. }
//! ```
//!
//! Both do the same, so that what is true of variables where the one is run is true where the other one is. So nobody has to
//! look at the second one: while chains are looked at and written it uses none of the function's variables.

use std::collections::HashSet;

use crate::llvm::{
    Block, Builder, Call, Function, Global, Instruction, Linkage, Module, Opcode, Value,
};

/// Asks whether a chain runs as scheduled.
pub(super) const SCHEDULED: &str = "__okl_omplc_scheduled";

/// A chain that is there twice.
pub struct Choice<'m> {
    /// What asks.
    pub(super) call: Call<'m>,
    branch: Instruction<'m>,
    /// Blocks of the chain with calls of markers.
    pub(super) marked: HashSet<Block<'m>>,
    /// Where the chain begins as the program has it, and all of that.
    first: Block<'m>,
    written: HashSet<Block<'m>>,
    /// Functions that nobody else may have a use for.
    functions: Vec<Function<'m>>,
    /// Numbers of which none is other than 0 where it runs as scheduled.
    pub(super) unless: Vec<Value<'m>>,
}

/// Whether a call asks that.
pub fn is_asked(call: Call<'_>) -> bool {
    call.callee_name() == SCHEDULED
}

/// The chains of a module that are there twice, and the loops in functions that they call.
pub fn choices(module: &Module) -> Vec<Choice<'_>> {
    let asks = module.function(SCHEDULED).into_iter();
    let calls = asks.flat_map(|one| one.users());
    let calls = calls.filter_map(Value::as_call);
    calls.filter_map(Choice::of).collect()
}

/// Leaves of each such chain of a module the one with calls of markers.
pub fn keep_marked(module: &Module) {
    let all = choices(module).into_iter();
    decide(module, all.map(|one| (one, true)).collect());
}

/// Of each chain, whether it runs as scheduled; else it does as the program has it. What is not run, and to where nothing else
/// leads, is deleted.
pub fn decide<'m>(module: &'m Module, all: Vec<(Choice<'m>, bool)>) {
    let mut rest = Vec::new();
    for (choice, is_scheduled) in all {
        let to = choice.branch.block().successors()[usize::from(!is_scheduled)];
        let function = choice.branch.function();
        let builder = Builder::before(module, choice.branch);
        let numbers = choice.unless.iter().copied();
        match numbers
            .reduce(|sum, one| builder.sum(sum, one))
            .filter(|_| is_scheduled)
        {
            Some(sum) => {
                let holds = builder.compare(sum, sum.ty().zero(), true);
                builder.go_if(holds, choice.first, to);
            }
            None => builder.go(to),
        }
        choice.branch.erase();
        choice.call.take_out(module);
        function.remove_unreachable_blocks();
        rest.extend(choice.functions);
    }
    let asks = module.function(SCHEDULED).into_iter();
    for other in asks.flat_map(|one| one.users()) {
        other.replace_all_uses_with(other.ty().zero());
    }
    // What the blocks alone have called.
    let mut seen = HashSet::new();
    rest.retain(|one| seen.insert(*one));
    while let Some(at) = rest.iter().position(|one| one.is_unused()) {
        let one = rest.swap_remove(at);
        let used = one.instructions().into_iter();
        let used = used.flat_map(|one| one.operands());
        let used: Vec<_> = used.filter_map(Value::as_function).collect();
        one.erase();
        let is_new = |used: &Function<'m>| *used != one && used.is_local() && seen.insert(*used);
        rest.extend(used.into_iter().filter(is_new));
    }
}

impl<'m> Choice<'m> {
    fn of(call: Call<'m>) -> Option<Self> {
        let [branch] = call.instruction().instruction_users()[..] else {
            return None;
        };
        let is_branch = branch.opcode() == Opcode::LLVMBr;
        let condition = is_branch.then(|| branch.branch_condition()).flatten();
        condition.filter(|condition| *condition == *call.instruction())?;
        let [marked, first] = branch.block().successors()[..] else {
            return None;
        };
        let [marked, written] = [marked, first].map(only_behind);
        let all = marked.iter().chain(&written);
        let used = all.flat_map(|block| block.instructions());
        let used = used.flat_map(|one| one.operands());
        let functions: HashSet<_> = used.filter_map(Value::as_function).collect();
        Some(Self {
            call,
            branch,
            marked,
            first,
            written,
            functions: functions.into_iter().filter(|one| one.is_local()).collect(),
            unless: early(call),
        })
    }

    /// Whether it is that of a chain, and not that of a loop in a function.
    pub(super) fn is_chain(&self) -> bool {
        let all = self.marked.iter().flat_map(|one| one.instructions());
        let mut all = all.filter_map(|one| one.as_call());
        all.any(|one| one.callee_name() == super::BEGINS)
    }

    /// Whether it is that of the chain which begins with a call.
    pub fn is_of(&self, site: Call<'m>) -> bool {
        self.marked.contains(&site.instruction().block())
    }

    /// Whether something is run where the chain is as the program has it.
    pub fn has(&self, one: Call<'m>) -> bool {
        self.written.contains(&one.instruction().block())
    }

    /// Where the chain begins as the program has it.
    pub fn written(&self) -> Block<'m> {
        self.first
    }
}

/// What tells in front of a chain that a function returns in front of its loops.
fn early(asks: Call<'_>) -> Vec<Value<'_>> {
    let all = asks.instruction().block().instructions();
    let all = all.into_iter().take_while(|one| *one != asks.instruction());
    let calls = all.filter_map(|one| one.as_call());
    let calls = calls.filter(|call| call.callee_name() == super::EARLY);
    calls.filter_map(|call| call.argument(0)).collect()
}

/// The blocks to which control comes through a block only.
fn only_behind(block: Block<'_>) -> HashSet<Block<'_>> {
    let reached = |without: Option<Block<'_>>| {
        let first = block.function().blocks()[0];
        let mut seen = HashSet::from([first]);
        let mut rest = vec![first];
        while let Some(block) = rest.pop() {
            let next = block.successors().into_iter();
            let next = next.filter(|next| Some(*next) != without);
            rest.extend(next.filter(|next| seen.insert(*next)));
        }
        seen
    };
    let mut all = reached(None);
    let others = reached(Some(block));
    all.retain(|one| !others.contains(one));
    all
}

/// Variables of functions, of which chains as the program has them make no use for a while.
pub struct Hidden<'m> {
    /// What stands for which variable.
    all: Vec<(Global<'m>, Instruction<'m>)>,
}

impl<'m> Hidden<'m> {
    /// Begins that.
    pub fn of(module: &'m Module, choices: &[Choice<'m>]) -> Self {
        let mut all = Vec::new();
        for choice in choices {
            let entry = choice.branch.function().blocks()[0].instructions();
            let is_written = |user: &Instruction<'m>| choice.written.contains(&user.block());
            for variable in entry {
                if variable.opcode() != Opcode::LLVMAlloca {
                    continue;
                }
                let users = variable.instruction_users();
                if users.iter().all(is_written) || !users.iter().any(is_written) {
                    continue;
                }
                let name = format!("okl.hidden.{}", all.len());
                let byte = module.int(8);
                let linkage = Linkage::LLVMExternalLinkage;
                let instead = module.add_global(&name, byte, None, linkage);
                variable.replace_uses_if(*instead, |one| {
                    let user = one.user().as_instruction();
                    user.is_some_and(|user| is_written(&user))
                });
                all.push((instead, variable));
            }
        }
        Self { all }
    }

    /// The others use variables of their own in place of one that is about to go: what is in it in front of a chain no chain
    /// reads, nor anybody behind it what a chain leaves in it.
    pub fn part_from(&mut self, module: &'m Module, variable: Instruction<'m>) {
        for (_, known) in self.all.iter_mut().filter(|one| one.1 == variable) {
            let entry = Builder::at_entry(module, variable.function());
            let ty = variable.allocated_type().expect("a stack variable");
            let own = entry.alloca(ty, variable.stack_alignment());
            *known = own.as_instruction().expect("a stack variable");
        }
    }

    /// Ends it.
    pub fn end(self) {
        for (instead, variable) in self.all {
            instead.replace_all_uses_with(*variable);
            instead.erase();
        }
    }
}
