//! Brings loops into a form in which their bounds and addresses are known in front of them: loads go out of loops that do
//! not write what they load (LLVM leaves those behind inner loops' guards, and gives up in large loops), and what OpenMP
//! guarantees of worksharing loops is stated. Where a load might do harm in front of a loop, as not every turn comes to it,
//! the run time is asked whether it can be read.
//!
//! Guarantee: the code does what it did before.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use super::conditions::single_predecessor;
use super::sole::{Callees, can_read_captured, copies_other_types, is_region, is_sole_access};
use super::threaded;
use super::variables::load_at_entry;
use super::{copies_or_fills, intrinsic_name, is_lifetime, writes};
use crate::analysis::library::changes_stream_only;
use crate::analysis::{runtime, stored_types};
use crate::llvm::{
    Block, Builder, Call, Code, Comparison, Function, Instruction, IntPredicate, Module, Opcode,
    Value,
};
use okl_abi::{AtomicOp, Effects, f};

/// In a function with more questions about what may be written the rest stays where it is.
const MOST_QUESTIONS: usize = 400_000;
/// Instructions that are looked at in front of a place.
const MOST_STEPS: usize = 400;

/// Prepares the loops of a function.
pub(super) fn prepare<'m>(module: &'m Module, code: &Code<'m>) {
    let hoister = Hoister::of(module, code);
    load_at_entry(&hoister, module, code);
    if code.loops().is_empty() {
        return;
    }
    // Loads that are equal now may make addresses invariant that were not.
    for _ in 0..3 {
        if !hoister.hoist_all() {
            break;
        }
        merge_phis(code);
    }
    threaded::join(module, code);
    for of in 0..code.loops().len() {
        state_no_overflow(module, code, of);
    }
}

/// What is asked before loads are moved.
pub(super) struct Hoister<'a, 'm> {
    module: &'m Module,
    code: &'a Code<'m>,
    /// What may write in a loop.
    writers: RefCell<HashMap<usize, Vec<Instruction<'m>>>>,
    /// What instructions may write.
    known: RefCell<HashMap<Instruction<'m>, Writer<'m>>>,
    /// Whether there is one way only to an object.
    sole: RefCell<HashMap<Value<'m>, bool>>,
    callees: RefCell<Callees<'m>>,
    questions: Cell<usize>,
    /// What answers where can be loaded from, if that may be asked: the module has declared it, and threads share what this
    /// function does, so that it is not for small pieces of work.
    readable: Option<Function<'m>>,
}

impl<'a, 'm> Hoister<'a, 'm> {
    pub(super) fn of(module: &'m Module, code: &'a Code<'m>) -> Self {
        let readable = module.function(f::okl_mpi_readable.name);
        Self {
            readable: readable.filter(|_| is_shared(code.function())),
            module,
            code,
            writers: RefCell::default(),
            known: RefCell::default(),
            sole: RefCell::default(),
            callees: RefCell::default(),
            questions: Cell::new(0),
        }
    }

    /// Whether a variable of the module that a load reads stays what it is while a function runs, of which all is known.
    pub(super) fn stays_in(&self, function: Function<'m>, load: Instruction<'m>) -> bool {
        let read = load.operand(0).underlying_object();
        let mut callees = self.callees.borrow_mut();
        callees.store_other_types(function, load, self.module)
            || self.is_sole(read) && callees.spare(function, read, self.module)
    }

    fn hoist_all(&self) -> bool {
        let mut changed = false;
        for block in reverse_post_order(self.code.function()) {
            for at in block.instructions() {
                if at.opcode() == Opcode::LLVMLoad && at.is_plain_access() {
                    changed |= self.hoist(at);
                }
            }
        }
        changed
    }

    /// Out of the outermost loop that allows it.
    fn hoist(&self, load: Instruction<'m>) -> bool {
        let mut around: Vec<usize> = self.code.loops_around(load.block()).collect();
        around.reverse();
        let pointer = load.operand(0);
        for of in around {
            let preheader = self.code.loops()[of].preheader;
            let Some(at) = preheader.and_then(Block::terminator) else {
                continue;
            };
            if !self.is_movable(pointer, of, 0) {
                continue;
            }
            let is_harmless = self.can_load_at(load, at);
            let readable = self.readable.filter(|_| self.may_ask(load, of));
            if !is_harmless && readable.is_none() || self.is_written(load, of) {
                continue;
            }
            self.move_out(pointer, of, at);
            let equal = self.value_before(load, at);
            let asked = readable.filter(|_| equal.is_none() && !is_harmless);
            let equal = equal.or_else(|| Some(self.load_where_readable(load, asked?, at)));
            match equal {
                Some(equal) => {
                    load.replace_all_uses_with(equal);
                    load.erase();
                }
                None => load.move_out(at),
            }
            return true;
        }
        false
    }

    /// Whether a load may go to where it is asked first what can be read: it is of a number or a pointer, and the loop is
    /// outermost but for those in which threads share loops or meet.
    fn may_ask(&self, load: Instruction<'m>, of: usize) -> bool {
        const MOST_BITS: u32 = 64;
        let (ty, loops) = (load.ty(), self.code.loops());
        let is_word = ty.is_pointer() || ty.bits().is_some_and(|bits| bits <= MOST_BITS);
        let is_outer = |of: usize| {
            let blocks = loops[of].blocks.iter();
            blocks.flat_map(|block| block.instructions()).any(shares)
        };
        let parents = std::iter::successors(loops[of].parent, |&of| loops[of].parent);
        // There is another way then to an object to which there was one.
        is_word
            && parents.into_iter().all(is_outer)
            && !self.is_sole(load.operand(0).underlying_object())
    }

    /// What a load loads if it is reached. If it is not, it may be anything, and nobody uses it.
    fn load_where_readable(
        &self,
        load: Instruction<'m>,
        readable: Function<'m>,
        at: Instruction<'m>,
    ) -> Value<'m> {
        let build = Builder::before(self.module, at);
        let bytes = self.module.store_size_of(load.ty());
        let bytes = self.module.int(super::WORD).integer_constant(bytes as i64);
        let address = build.call(readable, &[load.operand(0), bytes]);
        let value = build.load(load.ty(), address);
        if let Some(one) = value.as_instruction() {
            one.limit_alignment(load.alignment());
        }
        value
    }

    /// What was loaded or stored there just before an instruction.
    fn value_before(&self, load: Instruction<'m>, at: Instruction<'m>) -> Option<Value<'m>> {
        let is_same = |one: Instruction<'m>, value: Value<'m>| {
            one.is_plain_access()
                && value.ty() == load.ty()
                && one
                    .address()
                    .is_some_and(|a| is_same_pointer(asked_for(a), load.operand(0)))
        };
        let mut at = at;
        for _ in 0..MOST_STEPS {
            at = at
                .previous()
                .or_else(|| single_predecessor(at.block())?.terminator())?;
            let value = match at.opcode() {
                Opcode::LLVMLoad => Some(*at),
                Opcode::LLVMStore => Some(at.operand(0)),
                _ => None,
            };
            if let Some(value) = value.filter(|&value| is_same(at, value)) {
                return Some(value);
            }
            if at.may_write() && self.may_write(at, load) {
                return None;
            }
        }
        None
    }

    /// Whether an address is computed from what is known in front of the loop, without danger.
    fn is_movable(&self, value: Value<'m>, of: usize, depth: usize) -> bool {
        let inside = value.as_instruction();
        let Some(at) = inside.filter(|at| self.code.contains(of, at.block())) else {
            return true;
        };
        depth <= 4
            && (at.opcode() == Opcode::LLVMGetElementPtr || at.is_cast())
            && at
                .operands()
                .into_iter()
                .all(|operand| self.is_movable(operand, of, depth + 1))
    }

    fn move_out(&self, value: Value<'m>, of: usize, before: Instruction<'m>) {
        let inside = value.as_instruction();
        let Some(at) = inside.filter(|at| self.code.contains(of, at.block())) else {
            return;
        };
        for operand in at.operands() {
            self.move_out(operand, of, before);
        }
        at.move_out(before);
    }

    /// Whether the load does no harm at a place, whether or not it would have been reached.
    fn can_load_at(&self, load: Instruction<'m>, at: Instruction<'m>) -> bool {
        if self.code.can_load_at(load, at) {
            return true;
        }
        // Inside an object that has been accessed further on before.
        if load.ty().is_vector() {
            return false;
        }
        let (base, first) = load.operand(0).offset_in_object(self.module);
        if first < 0 {
            return false;
        }
        let size = |one: Instruction<'m>| self.module.store_size_of(one.ty()) as i64;
        // Or inside one that whoever starts the region knows: C++'s `this` says nothing of itself in its body.
        let alignment = u64::from(load.alignment());
        if first % i64::from(load.alignment()) == 0
            && can_read_captured(self.module, base, (first + size(load)) as u64, alignment)
        {
            return true;
        }
        let accesses =
            base.users()
                .into_iter()
                .flat_map(|user| match user.as_op(Opcode::LLVMGetElementPtr) {
                    Some(address) => address.users(),
                    None => vec![user],
                });
        let earlier = accesses.filter_map(|one| one.as_op(Opcode::LLVMLoad));
        earlier
            .filter(|&one| one != load && one.function() == load.function())
            .any(|one| {
                if !self.code.is_before(one, at) {
                    return false;
                }
                let (other, place) = one.operand(0).offset_in_object(self.module);
                other == base
                    && place + size(one) >= first + size(load)
                    && one.alignment() >= load.alignment()
                    && (place - first) % i64::from(load.alignment()) == 0
            })
    }

    /// Whether the loop may write what is loaded.
    pub(super) fn is_written(&self, load: Instruction<'m>, of: usize) -> bool {
        let mut writers = self.writers.borrow_mut();
        let writers = writers.entry(of).or_insert_with(|| {
            let blocks = self.code.loops()[of].blocks.iter();
            let all = blocks.flat_map(|block| block.instructions());
            all.filter(|&one| writes(one)).collect()
        });
        writers.iter().any(|&writer| self.may_write(writer, load))
    }

    /// Whether a call cannot get at the variable that a load reads. The code that the call comes to stores other types only,
    /// or there is one way only to the variable: then it is one of this function, or a captured one, and no argument leads
    /// there, or one of the module, and that code does not write it.
    fn is_out_of_reach(&self, at: Instruction<'m>, load: Instruction<'m>) -> bool {
        let read = load.operand(0).underlying_object();
        let Some(call) = at.as_call() else {
            return false;
        };
        if is_quiet_elsewhere(call, read) {
            return true;
        }
        if let Some(callee) = call.callee_function() {
            let mut callees = self.callees.borrow_mut();
            if callees.store_other_types(callee, load, self.module) {
                return true;
            }
            if read.as_global().is_some() {
                return self.is_sole(read) && callees.spare(callee, read, self.module);
            }
        }
        if read.as_global().is_some() {
            return false;
        }
        let mut arguments = call.arguments().into_iter();
        arguments.all(|one| !one.ty().is_pointer() || one.underlying_object() != read)
            && self.is_sole(read)
            && !(self.shows_stores_of_others(call) && self.is_stored_by_threads(read))
    }

    /// Whether this thread may see behind a call what other threads have stored in front of what they have synchronised by.
    fn shows_stores_of_others(&self, call: Call<'m>) -> bool {
        const SHOWS_NONE: Effects = Effects::QUIET
            .and(Effects::HIDDEN)
            .and(Effects::UPDATES)
            .and(Effects::SHARES)
            .and(Effects::DEALS)
            .and(Effects::ENDS_SHARE)
            .and(Effects::ENDS_DEAL)
            .and(Effects::CHOOSES)
            .and(Effects::ENDS_CHOICE);
        let name = intrinsic_name(call.instruction());
        if let Some(function) = runtime::function_of(&name) {
            return !function.effects.has_some(SHOWS_NONE);
        }
        call.callee_function().is_none_or(|callee| {
            let mut callees = self.callees.borrow_mut();
            callees.may_synchronise(callee, self.module)
        })
    }

    /// Whether the body of a region stores to a variable that its threads share, to which there is one way only.
    fn is_stored_by_threads(&self, variable: Value<'m>) -> bool {
        let mut callees = self.callees.borrow_mut();
        variable.as_parameter().is_some() && callees.is_written(variable)
    }

    fn is_sole(&self, object: Value<'m>) -> bool {
        let known = self.sole.borrow().get(&object).copied();
        known.unwrap_or_else(|| {
            let is_sole = is_sole_access(self.module, object);
            self.sole.borrow_mut().insert(object, is_sole);
            is_sole
        })
    }

    fn writer(&self, at: Instruction<'m>) -> Writer<'m> {
        let known = self.known.borrow().get(&at).copied();
        known.unwrap_or_else(|| {
            let writer = Writer::of(at);
            self.known.borrow_mut().insert(at, writer);
            writer
        })
    }

    fn may_write(&self, at: Instruction<'m>, load: Instruction<'m>) -> bool {
        self.questions.set(self.questions.get() + 1);
        if self.questions.get() > MOST_QUESTIONS {
            return true;
        }
        let (to, object, update) = match self.writer(at) {
            Writer::Nothing => return false,
            Writer::Anything => {
                return !self.is_out_of_reach(at, load) && self.code.may_change(at, load);
            }
            Writer::Into { to, object, update } => (to, object, update),
        };
        let read = load.operand(0).underlying_object();
        if read != object && (self.is_sole(read) || self.is_sole(object)) {
            return false;
        }
        match update {
            Some(update) => {
                !is_of_another_type(self.module, update, load) && self.code.may_read_from(load, to)
            }
            None => {
                !copies_other_types(self.module, at, load)
                    && !stored_types::fills_others(self.module, at, load)
                    && self.code.may_change(at, load)
            }
        }
    }
}

/// What an instruction may write.
#[derive(Clone, Copy)]
enum Writer<'m> {
    Nothing,
    Anything,
    Into {
        to: Value<'m>,
        object: Value<'m>,
        /// The call, if it changes nothing but that object.
        update: Option<Call<'m>>,
    },
}

impl<'m> Writer<'m> {
    fn of(at: Instruction<'m>) -> Self {
        let into = |to: Value<'m>, update| Self::Into {
            to,
            object: to.underlying_object(),
            update,
        };
        if at.opcode() == Opcode::LLVMStore {
            return into(at.operand(1), None);
        }
        let Some(call) = at.as_call() else {
            return Self::Anything;
        };
        if is_lifetime(at) || call.only_reads_memory() || changes_stream_only(call) {
            return Self::Nothing;
        }
        if copies_or_fills(at) {
            return into(at.operand(0), None);
        }
        let is_update = runtime::effects_of(&intrinsic_name(at)).has(Effects::UPDATES);
        match call.argument(0) {
            Some(to) if is_update => into(to, Some(call)),
            _ => Self::Anything,
        }
    }
}

/// Whether a call of the run time accesses only variables that the function has made itself, and others of the module, but
/// not what another pointer leads to that was there before.
fn is_quiet_elsewhere<'m>(call: Call<'m>, read: Value<'m>) -> bool {
    let is_elsewhere = |one: Value<'m>| {
        let object = one.underlying_object();
        object != read
            && (object.as_op(Opcode::LLVMAlloca).is_some() || object.as_global().is_some())
    };
    let is_apart = |one: Value<'m>| match one.underlying_object().as_global() {
        // A parameter may lead to it.
        Some(variable) => read.as_global().is_some() || variable.is_readonly(),
        None => true,
    };
    let mut arguments = call.arguments().into_iter();
    runtime::effects(call).has(Effects::QUIET)
        && (read.as_parameter().is_some() || read.as_global().is_some())
        && arguments.all(|one| !one.ty().is_pointer() || is_elsewhere(one) && is_apart(one))
}

/// Where it was asked whether it can be read, where an address is the answer.
pub(super) fn asked_for(address: Value<'_>) -> Value<'_> {
    let call = address.as_call();
    let call = call.filter(|call| call.callee_name() == f::okl_mpi_readable.name);
    call.and_then(|call| call.argument(0)).unwrap_or(address)
}

/// Whether an instruction has this thread take its share of a loop, or meet others.
fn shares(at: Instruction<'_>) -> bool {
    let effects = runtime::effects_of(&intrinsic_name(at));
    effects.has_some(Effects::SHARES.and(Effects::DEALS).and(Effects::BARRIER))
}

/// Whether a function is a region's body, or has a loop that threads share.
fn is_shared(function: Function<'_>) -> bool {
    is_region(function) || function.instructions().into_iter().any(shares)
}

/// Whether these are the same address if there is an access to each: then neither overflows, whatever it says of that.
fn is_same_pointer<'m>(a: Value<'m>, b: Value<'m>) -> bool {
    let both = a.as_instruction().zip(b.as_instruction());
    a == b || both.is_some_and(|(a, b)| a.is_same_address(b))
}

/// Whether an atomic update cannot be one of an object of the type that a load has: clang says the types of loads where the
/// program may not access an object as if it were of another.
fn is_of_another_type<'m>(module: &'m Module, update: Call<'m>, load: Instruction<'m>) -> bool {
    let number = |name| {
        let position = runtime::function(update)?.position(name)?;
        update.argument(position)?.as_constant_int()
    };
    let (Some(operation), Some(bytes)) = (number("operation"), number("size")) else {
        return false;
    };
    let Some(names) = load.noted_type(module) else {
        return false;
    };
    let Some(name) = names.first().map(String::as_str) else {
        return false;
    };
    let is_floating = matches!(name, "double" | "float");
    let is_integer = matches!(name, "short" | "int" | "long" | "long long");
    let is_pointer = names.iter().any(|name| name == "any pointer");
    if operation >= AtomicOp::FAdd as i64 {
        return is_pointer || is_integer;
    }
    // A byte may be a part of anything, and C++ adds to atomic pointers as to integers.
    bytes > 1 && (is_floating || (is_pointer && bytes != super::POINTER))
}

/// The blocks that control gets to, each before those it leads to, but for the ways back of loops.
fn reverse_post_order(function: Function<'_>) -> Vec<Block<'_>> {
    let Some(&entry) = function.blocks().first() else {
        return Vec::new();
    };
    let mut order = Vec::new();
    let mut seen = HashSet::from([entry]);
    let mut open = vec![(entry, entry.successors().into_iter())];
    while let Some((block, rest)) = open.last_mut() {
        match rest.find(|&next| seen.insert(next)) {
            Some(next) => open.push((next, next.successors().into_iter())),
            None => {
                order.push(*block);
                open.pop();
            }
        }
    }
    order.reverse();
    order
}

/// Replaces phis that are the same value on every path: LLVM carries loaded bounds around loops.
fn merge_phis(code: &Code<'_>) {
    let blocks = code.function().blocks();
    let phis: Vec<_> = blocks
        .into_iter()
        .flat_map(|block| block.phis().collect::<Vec<_>>())
        .collect();
    // Absent: nothing known to the contrary yet; the phi itself: several values.
    let mut same: HashMap<Value<'_>, Value<'_>> = HashMap::new();
    let mut changed = true;
    while changed {
        changed = false;
        for phi in &phis {
            let mut value = None;
            for (incoming, _) in phi.incoming() {
                let incoming = match incoming.as_op(Opcode::LLVMPHI) {
                    Some(other) => same.get(&*other).copied(),
                    None => Some(incoming),
                };
                match (incoming, value) {
                    (None, _) => {}
                    (Some(incoming), None) => value = Some(incoming),
                    (Some(incoming), Some(known)) if incoming == known => {}
                    _ => {
                        value = Some(**phi);
                        break;
                    }
                }
            }
            let known = same.get(&**phi).copied();
            if known != Some(**phi)
                && known != value
                && let Some(new) = if known.is_some() { Some(**phi) } else { value }
            {
                same.insert(**phi, new);
                changed = true;
            }
        }
    }
    for phi in phis {
        let Some(&value) = same.get(&*phi) else {
            continue;
        };
        if value.as_op(Opcode::LLVMPHI).is_some() {
            continue;
        }
        // Values leave their loops through phis.
        let of = value
            .as_instruction()
            .and_then(|at| code.loop_of(at.block()));
        if of.is_none_or(|of| code.contains(of, phi.block())) {
            phi.replace_all_uses_with(value);
            phi.erase();
        }
    }
}

/// The induction variable of a worksharing loop that counts iterations from the start of a share, without a sign.
fn iteration_number<'m>(code: &Code<'m>, of: usize) -> Option<Instruction<'m>> {
    let this = &code.loops()[of];
    let preheader = this.preheader?;
    this.header.phis().find(|phi| {
        let start = phi.incoming().into_iter().find(|one| one.1 == preheader);
        let start = start.and_then(|(value, _)| value.as_op(Opcode::LLVMLoad));
        let lower = start.and_then(|start| start.operand(0).as_op(Opcode::LLVMAlloca));
        lower.is_some_and(|lower| {
            let calls = lower.users().into_iter().filter_map(Value::as_call);
            calls.into_iter().any(|call| {
                let function = runtime::function_of(&intrinsic_name(call.instruction()));
                function.is_some_and(|one| {
                    let position = one.position("lower");
                    one.has(Effects::SHARES.and(Effects::UNSIGNED))
                        && position.and_then(|at| call.argument(at)) == Some(*lower)
                })
            })
        })
    })
}

/// Uses what OpenMP guarantees of a loop whose iterations are counted without a sign: their number can be represented. "The
/// next is beyond the last" becomes "this one is the last".
fn state_no_overflow<'m>(module: &'m Module, code: &Code<'m>, of: usize) {
    let Some(number) = iteration_number(code, of) else {
        return;
    };
    let Some(latch) = code.loops()[of].latch else {
        return;
    };
    let next = number.incoming().into_iter().find(|one| one.1 == latch);
    let next = next.and_then(|(value, _)| value.as_op(Opcode::LLVMAdd));
    let branch = latch
        .terminator()
        .filter(|end| end.opcode() == Opcode::LLVMBr);
    let exit = branch.and_then(|branch| branch.branch_condition()?.as_op(Opcode::LLVMICmp));
    let (Some(next), Some(exit)) = (next, exit) else {
        return;
    };
    if next.operand(0) != *number || next.operand(1).as_constant_int() != Some(1) {
        return;
    }
    let last = exit.operand(1);
    let is_fixed = last
        .as_instruction()
        .is_none_or(|at| !code.contains(of, at.block()));
    if exit.users().len() != 1 || exit.operand(0) != *next || !is_fixed {
        return;
    }
    let predicate = match exit.comparison() {
        Some(Comparison::Integer(IntPredicate::LLVMIntUGT)) => IntPredicate::LLVMIntUGE,
        Some(Comparison::Integer(IntPredicate::LLVMIntULE)) => IntPredicate::LLVMIntULT,
        _ => return,
    };
    exit.ask_instead(module, predicate, *number, last);
}
