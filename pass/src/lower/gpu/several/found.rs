//! What is known of a loop of a region of several: which code is its, what is done with the variables that each thread has for
//! itself, and what all threads find the same.

use std::collections::HashSet;

use okl_abi::Effects;

use super::is_thread_number;
use super::told::Told;
use crate::analysis::runtime::{self, effects};
use crate::analysis::variables::{self, Does, is_harmless};
use crate::llvm::{
    Block, Call, Comparison, Function, Instruction, IntPredicate, Module, Opcode, Value,
};
use crate::lower::gpu::flow::{self, Goes, code_from, comes_to, next_of};
use crate::lower::gpu::range::{self, Why, why};

/// A loop with all that belongs to it: from its first instruction to the one behind it.
pub(super) struct Piece<'m> {
    pub first: Instruction<'m>,
    pub behind: Instruction<'m>,
    /// All of it.
    pub all: HashSet<Instruction<'m>>,
}

const NOT_CLOSED: &str = "its loop is left or entered in several places";

impl<'m> Piece<'m> {
    fn of(first: Instruction<'m>, behind: Instruction<'m>) -> Result<Self, Why> {
        let mut all = HashSet::new();
        let mut blocks = HashSet::new();
        let mut rest = vec![first];
        while let Some(start) = rest.pop() {
            for at in code_from(start) {
                if at == behind {
                    break;
                }
                if !all.insert(at) || at.opcode() == Opcode::LLVMRet {
                    return why(Some(first), NOT_CLOSED);
                }
                if Some(at) == at.block().terminator() {
                    for next in at.block().successors() {
                        // Whoever comes to its first block again has left it.
                        let start = next.instructions()[0];
                        if next == first.block() && start != behind {
                            return why(Some(first), NOT_CLOSED);
                        }
                        if start != behind && blocks.insert(next) {
                            rest.push(start);
                        }
                    }
                }
            }
        }
        let entered = blocks.iter().flat_map(|block| block.predecessors());
        for from in entered {
            let end = from.terminator().expect("a complete block");
            if !all.contains(&end) {
                return why(Some(first), NOT_CLOSED);
            }
        }
        Ok(Self { first, behind, all })
    }

    pub fn has(&self, at: Instruction<'m>) -> bool {
        self.all.contains(&at)
    }
}

/// Where the loop ends that a call begins: all ways from there lead to the call that ends it.
pub(super) fn end_of<'m>(site: Call<'m>) -> Result<Instruction<'m>, Why> {
    let begins = runtime::function(site).expect("it is one");
    let mut found = None;
    let other = flow::search(next_of(site.instruction()), |at| {
        let function = at.as_call().and_then(runtime::function);
        match function.is_some_and(|one| one.ends(begins)) {
            false => Goes::On,
            true if found.is_some_and(|known| known != at) => Goes::Found,
            true => {
                found = Some(at);
                Goes::NoFurther
            }
        }
    });
    match (other, found) {
        (None, Some(end)) => Ok(end),
        (other, _) => why(other.or(Some(site.instruction())), NOT_CLOSED),
    }
}

/// What stands behind a loop and what is combined and kept of its iterations.
fn behind_all<'m>(site: Call<'m>, end: Instruction<'m>) -> Instruction<'m> {
    let last = runtime::argument(site, "last").or_else(|| {
        // That of a loop whose shares are dealt out is told with them.
        let code = site.instruction().function().instructions().into_iter();
        let mut calls = code.filter_map(|one| one.as_call());
        calls.find_map(|call| {
            let is_share = effects(call).has(Effects::SHARES)
                && !runtime::function(call).is_some_and(|one| one.begins_share());
            let last = runtime::argument(call, "last").filter(|_| is_share)?;
            comes_to(site.instruction(), call.instruction(), Some(end)).then_some(last)
        })
    });
    let mut behind = next_of(end);
    let mut at = behind;
    loop {
        let mut next = None;
        if let Some(call) = at.as_call() {
            let combines = effects(call).has(Effects::REDUCES) && !is_end_of_reduction(call);
            let switch = at.instruction_users().into_iter();
            let mut switch = switch.filter(|one| one.opcode() == Opcode::LLVMSwitch);
            match switch.next() {
                Some(switch) if combines => {
                    let (_, others) = switch.cases();
                    next = others.instructions().first().copied();
                }
                _ if is_harmless(at) || range::tells_only(call) => {}
                _ => break,
            }
        } else if at.opcode() == Opcode::LLVMLoad && last == Some(at.operand(0)) {
            next = not_last(at);
            if next.is_none() {
                break;
            }
        } else if at.opcode() == Opcode::LLVMBr && at.branch_condition().is_none() {
            // Only to what nothing else comes to.
            let to = at.block().successors()[0];
            if to.predecessors().len() > 1 {
                break;
            }
            at = to.instructions()[0];
            continue;
        } else if at.may_write() && at.opcode() != Opcode::LLVMStore
            || Some(at) == at.block().terminator()
        {
            break;
        }
        match next {
            Some(next) => (at, behind) = (next, next),
            None => at = next_of(at),
        }
    }
    behind
}

pub(super) fn is_end_of_reduction(call: Call<'_>) -> bool {
    call.callee_name().starts_with("__kmpc_end_reduce")
}

/// Where a thread goes on that does not have the last iteration, as it finds by this load.
fn not_last<'m>(load: Instruction<'m>) -> Option<Instruction<'m>> {
    let [asked] = load.instruction_users()[..] else {
        return None;
    };
    let [branch] = asked.instruction_users()[..] else {
        return None;
    };
    if branch.branch_condition() != Some(*asked) {
        return None;
    }
    let [yes, no] = branch.block().successors()[..] else {
        return None;
    };
    let goes = match asked.comparison()? {
        _ if asked.operand(1).as_constant_int() != Some(0) => return None,
        Comparison::Integer(IntPredicate::LLVMIntEQ) => yes,
        Comparison::Integer(IntPredicate::LLVMIntNE) => no,
        _ => return None,
    };
    goes.first_insertion_point()
}

/// What is done with a stack variable.
pub(super) struct Used<'m> {
    pub variable: Instruction<'m>,
    pub reads: HashSet<Instruction<'m>>,
    pub writes: HashSet<Instruction<'m>>,
    /// Behind these nothing is left of what it was.
    renewed: HashSet<Instruction<'m>>,
}

impl<'m> Used<'m> {
    fn of(module: &'m Module, variable: Instruction<'m>) -> Self {
        let mut one = Self {
            variable,
            reads: HashSet::new(),
            writes: HashSet::new(),
            renewed: HashSet::new(),
        };
        for (at, does) in variables::uses(variable) {
            if does != Does::Write {
                one.reads.insert(at);
            }
            if does != Does::Read {
                one.writes.insert(at);
            }
        }
        let size = match variable.operand(0).as_constant_int() {
            Some(1) => variable.allocated_type().map(|ty| module.size_of(ty)),
            _ => None,
        };
        for at in variable.instruction_users() {
            let is_whole = |bytes: u64| size.is_some_and(|size| bytes >= size);
            let renews = match at.opcode() {
                Opcode::LLVMStore => {
                    at.operand(1) == *variable && is_whole(module.store_size_of(at.operand(0).ty()))
                }
                _ => at.as_call().is_some_and(|call| {
                    let name = call.callee_name();
                    let bytes = call.argument(2).and_then(Value::as_constant_int);
                    name.starts_with("llvm.lifetime.start")
                        || name.starts_with("llvm.mem")
                            && call.arguments()[0] == *variable
                            && bytes.is_some_and(|bytes| is_whole(bytes as u64))
                }),
            };
            if renews {
                one.renewed.insert(at);
            }
        }
        one
    }

    /// What may read behind a place what is left there.
    pub fn read_behind(&self, behind: Instruction<'m>) -> Option<Instruction<'m>> {
        flow::search(behind, |at| match self.reads.contains(&at) {
            // A copy within it reads first.
            true => Goes::Found,
            false if self.renewed.contains(&at) => Goes::NoFurther,
            false => Goes::On,
        })
    }
}

/// What stands in front of a loop and belongs to it: from there on nothing is done but to prepare what its threads have for
/// themselves.
pub(super) fn find<'m>(
    module: &'m Module,
    site: Call<'m>,
    end: Instruction<'m>,
) -> Result<(Piece<'m>, Vec<Used<'m>>), Why> {
    let behind = behind_all(site, end);
    let at = site.instruction();
    let code = at.block().instructions();
    let position = code.iter().position(|one| *one == at);
    let front = &code[..position.expect("it stands in its block")];
    let prepares = |one: &&Instruction<'m>| {
        let is_own = |to: Value<'m>| to.underlying_object().as_op(Opcode::LLVMAlloca).is_some();
        let writes = range::written(**one);
        match one.opcode() {
            Opcode::LLVMPHI | Opcode::LLVMAlloca => false,
            _ if is_harmless(**one) || one.as_call().is_some_and(range::tells_only) => true,
            _ if one.is_volatile() || one.is_atomic_access() => false,
            _ => match writes {
                Some(to) => is_own(to),
                None => !one.may_write() && (one.as_call().is_none() || one.only_computes()),
            },
        }
    };
    let count = front.iter().rev().take_while(prepares).count();
    let mut from = front.len() - count;
    'all: loop {
        let first = front.get(from).copied().unwrap_or(at);
        let piece = Piece::of(first, behind)?;
        let mut used: Vec<Used<'m>> = Vec::new();
        for one in &piece.all {
            for operand in one.operands() {
                let object = operand
                    .ty()
                    .is_pointer()
                    .then(|| operand.underlying_object());
                let Some(variable) = object.and_then(|one| one.as_op(Opcode::LLVMAlloca)) else {
                    continue;
                };
                if piece.has(variable) || used.iter().any(|known| known.variable == variable) {
                    continue;
                }
                used.push(Used::of(module, variable));
            }
        }
        for (number, one) in front.iter().enumerate().skip(from) {
            let is_used_behind = || {
                let users = one.instruction_users();
                users.iter().any(|user| !piece.has(*user))
            };
            let to = range::written(*one).map(Value::underlying_object);
            let is_left = || {
                let variable = used.iter().find(|known| Some(*known.variable) == to);
                variable.is_some_and(|known| known.read_behind(behind).is_some())
            };
            if is_used_behind() || is_left() {
                from = number + 1;
                continue 'all;
            }
        }
        return Ok((piece, used));
    }
}

pub(super) const NOT_THE_SAME: &str =
    "each thread may find something of its own in front of the loop";

/// What is the same for all threads of a region, whichever of them finds it out: the one that there is does so for all.
pub(super) struct Same<'m> {
    told: Told<'m>,
    /// Which values and what writes of these depend on where a thread went, which is not the same for all.
    differ: HashSet<Instruction<'m>>,
}

impl<'m> Same<'m> {
    /// Of a copy of a region's body, with its loops and what depends on the number of threads.
    pub fn of(team: Function<'m>, loops: &[Piece<'m>], told: Told<'m>) -> Self {
        let mut same = Self {
            told,
            differ: HashSet::new(),
        };
        let ends = team.blocks().into_iter().filter_map(Block::terminator);
        let ends = ends.filter(|one| !loops.iter().any(|piece| piece.has(*one)));
        let mut rest: Vec<_> = ends
            .filter_map(|one| Some((one, one.branch_condition()?)))
            .collect();
        while let Some(at) = rest.iter().position(|(_, asked)| !same.has(*asked)) {
            let (branch, _) = rest.swap_remove(at);
            let (blocks, join) = flow::decided(branch);
            same.differ
                .extend(blocks.into_iter().flat_map(Block::instructions));
            let joined = join.into_iter().flat_map(Block::instructions);
            let is_phi = |one: &Instruction<'_>| one.opcode() == Opcode::LLVMPHI;
            same.differ.extend(joined.take_while(is_phi));
        }
        same
    }

    /// Whether a value is: it is computed of what all threads are given, and of memory that they share.
    pub fn has(&self, value: Value<'m>) -> bool {
        value.as_instruction().is_some_and(is_thread_number)
            || self.follows(value, &mut HashSet::new())
    }

    fn follows(&self, value: Value<'m>, seen: &mut HashSet<Instruction<'m>>) -> bool {
        let Some(at) = value.as_instruction() else {
            return true;
        };
        if !seen.insert(at) {
            return true;
        }
        let computes = match at.opcode() {
            _ if self.told.contains(&at) => false,
            Opcode::LLVMPHI if self.differ.contains(&at) => false,
            Opcode::LLVMAlloca | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => false,
            Opcode::LLVMCall => at.as_call().is_some_and(|call| {
                let name = call.callee_name();
                let is_address = name.starts_with("llvm.threadlocal");
                name.starts_with("llvm.") && !is_address && at.only_computes()
            }),
            Opcode::LLVMInvoke => false,
            Opcode::LLVMLoad => !at.is_atomic_access(),
            _ => !at.may_write(),
        };
        computes && at.operands().into_iter().all(|one| self.follows(one, seen))
    }

    /// What gives a variable of each thread's something else for each of them, in front of a loop.
    pub fn differs_in(
        &self,
        one: &Used<'m>,
        piece: &HashSet<Instruction<'m>>,
    ) -> Option<Instruction<'m>> {
        let mut writes = one.writes.iter().filter(|at| !piece.contains(at));
        let is_same = |at: &Instruction<'m>| match at.opcode() {
            _ if is_harmless(*at) => true,
            _ if self.differ.contains(at) => false,
            Opcode::LLVMStore => self.follows(at.operand(0), &mut HashSet::new()),
            Opcode::LLVMCall => at.as_call().is_some_and(|call| {
                let name = call.callee_name();
                let passed = call.arguments();
                name.starts_with("llvm.memset.")
                    || name.starts_with("llvm.mem") && self.follows(passed[1], &mut HashSet::new())
            }),
            _ => false,
        };
        writes.find(|at| !is_same(at)).copied()
    }
}
