//! What each iteration of a worksharing loop does in memory that other threads may access too: relations, of which the
//! sections of a share are projections; reductions, and values that the last iteration leaves. And what the code around
//! such loops does there.
//!
//! It is asked of simplified code, and changes nothing but its loops' form. Nothing here depends on a target: that data go to
//! a device, that loops follow each other in a chain, and what a process's share accesses can be decided on it.
//!
//! Guarantee: what is not in a description is not accessed, if nothing is said to be unknown.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use okl_abi::Effects;

use super::nests::{InTurn, Nests, Turn, prepare};
use super::runtime;
use super::sections::calls::{Effect, effect};
use super::sections::places::Places;
use super::updates;
use crate::diagnostic::user_name;
use crate::ir::{
    Access, Body, Code, Description, Element, Mode, Object, Operation, ParallelLoop, Part, Place,
    Reduction, Region, Span,
};
use crate::llvm::{
    Block, Call, Comparison, Function, Instruction, IntPredicate, Module, Opcode, Value,
};

/// Brings the loops of a module's functions into the form in which [`describe`] looks at them.
pub fn prepare_loops(module: &Module) {
    for function in module.functions() {
        if !function.is_declaration() {
            prepare_loops_of(module, function);
        }
    }
}

/// The same for one function.
pub fn prepare_loops_of<'m>(module: &'m Module, function: Function<'m>) {
    prepare(module, function);
}

/// Describes what the parts of a region's steps do, after [`prepare_loops`] and what was recognised then.
pub fn describe<'m>(module: &'m Module, region: &mut Region<'m>) {
    describe_so(module, region, false);
}

/// The same, but that elements lie anywhere between places: see [`Turn::is_hull`].
pub fn describe_hulls<'m>(module: &'m Module, region: &mut Region<'m>) {
    describe_so(module, region, true);
}

fn describe_so<'m>(module: &'m Module, region: &mut Region<'m>, is_hull: bool) {
    let body = region.body;
    let parts = region.steps.iter().flat_map(|step| &step.parts);
    let spans = parts.filter_map(Part::code).flat_map(|code| &code.spans);
    let followed: Rc<HashSet<_>> = Rc::new(spans.map(|span| span.block.function()).collect());
    let mut known: HashMap<Function<'m>, Known<'m>> = HashMap::new();
    for part in region.steps.iter_mut().flat_map(|step| &mut step.parts) {
        let spans = part.code().into_iter().flat_map(|code| &code.spans);
        for function in spans.map(|span| span.block.function()) {
            known.entry(function).or_insert_with(|| Known {
                module,
                nests: Nests::prepared(module, function),
                places: Places::of(module, function, function == body),
                is_body: function == body,
                is_hull,
                followed: Rc::clone(&followed),
            });
        }
        match part {
            Part::Share(one) => {
                let Body::Code(code) = &one.body else {
                    continue;
                };
                let known = &known[&one.site.instruction().function()];
                one.description = known.of_loop(one, code);
            }
            Part::One(_, code) | Part::Each(code) => {
                code.description = Some(of_code(&known, code, body));
            }
        }
    }
}

/// What a thread does that runs some code once. Parameters mean something in one function only, the region's body where a
/// part of it is: of what others do nothing is known, if it matters.
fn of_code<'m>(
    known: &HashMap<Function<'m>, Known<'m>>,
    code: &Code<'m>,
    body: Function<'m>,
) -> Description<'m> {
    let mut found = Description::default();
    let functions = code.spans.iter().map(|span| span.block.function());
    let of = functions.clone().find(|&one| one == body);
    let Some(of) = of.or(functions.clone().next()) else {
        return found;
    };
    let here = &known[&of];
    let writers = here.writers(code);
    for (span, function) in code.spans.iter().zip(functions) {
        if function == of {
            let turn = Turn {
                nest: None,
                first: None,
                is_body: here.is_body,
                writers: &writers,
                is_hull: here.is_hull,
            };
            let always = here.nests.always_runs(span.block, None);
            here.add_accesses(span, turn, always, &mut found);
        } else {
            let mut all = span.instructions().into_iter();
            if let Some(at) = all.find(|&at| known[&function].matters(at)) {
                let reason = format!("calls {}", user_name(function));
                found.unknown.get_or_insert((at, reason));
            }
        }
    }
    found
}

struct Known<'m> {
    module: &'m Module,
    nests: Nests<'m>,
    places: Places<'m>,
    is_body: bool,
    is_hull: bool,
    /// Functions that parts of the region are in: each says for itself what it does.
    followed: Rc<HashSet<Function<'m>>>,
}

impl<'m> Known<'m> {
    /// Whether an instruction does something that has to be described.
    fn matters(&self, at: Instruction<'m>) -> bool {
        match effect(self.module, &self.places, at) {
            Effect::Nothing | Effect::Shares | Effect::Synchronises => false,
            Effect::Calls(callee) => !self.followed.contains(&callee),
            Effect::Accesses(_) | Effect::Depends(_) | Effect::Spoils(_) => true,
        }
    }

    /// What in some code may write what others see; what other threads write is seen after a barrier, which ends a step.
    fn writers(&self, code: &Code<'m>) -> Vec<Instruction<'m>> {
        let here = code
            .spans
            .iter()
            .filter(|span| span.block.function() == self.nests.function());
        let all = here.flat_map(|span| span.instructions());
        let is_call =
            |at: Instruction<'m>| matches!(effect(self.module, &self.places, at), Effect::Calls(_));
        all.filter(|&at| at.may_write() && (self.matters(at) || is_call(at)))
            .collect()
    }

    fn of_loop(&self, one: &ParallelLoop<'m>, code: &Code<'m>) -> Description<'m> {
        let mut found = Description::default();
        let argument =
            |call: Call<'m>, name: &str| call.argument(runtime::function(call)?.position(name)?);
        let calls = code.spans.iter().flat_map(|span| span.block.instructions());
        // Where iterations are dealt out, each chunk has a first one.
        let mut calls = [one.site]
            .into_iter()
            .chain(calls.filter_map(|at| at.as_call()));
        let first = calls.find_map(|call| {
            argument(call, "lower").filter(|first| first.as_op(Opcode::LLVMAlloca).is_some())
        });
        let nest_of = |block| self.nest_around(block, code, first);
        let nests: HashSet<_> =
            (code.spans.iter().filter_map(|span| nest_of(span.block))).collect();
        let writers = self.writers(code);
        for span in &code.spans {
            let nest = nest_of(span.block);
            // What every way to the iterations goes through is done for each of them.
            let leads = |&nest: &usize| {
                self.nests
                    .dominates(span.block, self.nests.loops()[nest].header)
            };
            let always = nest.is_some() || !nests.is_empty() && nests.iter().all(leads);
            let turn = Turn {
                nest,
                first,
                is_body: self.is_body,
                writers: &writers,
                is_hull: self.is_hull,
            };
            self.add_accesses(span, turn, always, &mut found);
        }
        match self.reductions(code) {
            Ok(reductions) => found.reductions = reductions,
            Err(at) => {
                let reason = "combines values in a way that is not understood".to_string();
                found.unknown.get_or_insert((at, reason));
            }
        }
        let last = argument(one.site, "last");
        match last.map_or(Ok(Vec::new()), |last| self.finals(last)) {
            Ok(finals) => found.finals = finals,
            Err(at) => {
                let reason = "stores the last value where that is not known".to_string();
                found.unknown.get_or_insert((at, reason));
            }
        }
        found
    }

    /// Adds what some instructions do in a turn; `always` says whether they run in every one.
    fn add_accesses(
        &self,
        span: &Span<'m>,
        turn: Turn<'_, 'm>,
        always: bool,
        found: &mut Description<'m>,
    ) {
        if let Some(leaked) = self.places.leaked() {
            found.unknown.get_or_insert(leaked);
        }
        for at in span.instructions() {
            let mut add = |address, (bytes, length), mode| {
                let place = self.nests.in_one_turn(address, length, span.block, turn);
                let Some(InTurn {
                    base,
                    elements,
                    must,
                }) = place
                else {
                    let reason = "accesses an object that is not known";
                    found.unknown.get_or_insert((at, reason.to_string()));
                    return;
                };
                let one = Access {
                    mode,
                    must: must && always,
                    optional: false,
                    stated: false,
                    element: Some(Element::of_bytes(bytes)),
                    base,
                    place: elements.map_or(Place::Anywhere, Place::At),
                };
                if !found.accesses.contains(&one) {
                    found.accesses.push(one);
                }
            };
            if at.is_atomic_update() {
                if !self.places.is_own(at.operand(0)) {
                    let bytes = self.module.store_size_of(at.ty()) as i64;
                    add(at.operand(0), (bytes, None), updates::atomic(at));
                }
                continue;
            }
            match effect(self.module, &self.places, at) {
                Effect::Nothing | Effect::Shares | Effect::Synchronises => {}
                Effect::Accesses(all) => {
                    for access in all {
                        let mode = match access.is_write {
                            true => Mode::Write,
                            false => Mode::Read,
                        };
                        add(access.address, access.size.element(), mode);
                    }
                }
                Effect::Calls(callee) if self.followed.contains(&callee) => {}
                Effect::Calls(callee) => {
                    let reason = format!("calls {}", user_name(callee));
                    found.unknown.get_or_insert((at, reason));
                }
                Effect::Depends(one) => {
                    found.unknown.get_or_insert((at, one.reason));
                }
                Effect::Spoils(reason) => {
                    found.unknown.get_or_insert((at, reason));
                }
            }
        }
    }

    /// The outermost loop around a block that goes through iterations of a share: its first one is not changed in it.
    fn nest_around(
        &self,
        block: Block<'m>,
        code: &Code<'m>,
        first: Option<Value<'m>>,
    ) -> Option<usize> {
        let inside: HashSet<Block<'m>> = code.spans.iter().map(|span| span.block).collect();
        let changes = |at: Instruction<'m>| {
            let is_store = at.opcode() == Opcode::LLVMStore && Some(at.operand(1)) == first;
            let call = at.as_call();
            is_store
                || call
                    .is_some_and(|call| call.arguments().into_iter().any(|one| Some(one) == first))
        };
        let is_of_share = |&of: &usize| {
            let blocks = &self.nests.loops()[of].blocks;
            blocks.iter().all(|block| {
                inside.contains(block) && !block.instructions().into_iter().any(changes)
            })
        };
        self.nests.loops_around(block).filter(is_of_share).last()
    }

    /// What is combined behind some code, before anything else is shared out. An error is what is not understood.
    fn reductions(&self, code: &Code<'m>) -> Result<Vec<Reduction<'m>>, Instruction<'m>> {
        let behind = code
            .spans
            .iter()
            .filter(|span| span.to < span.block.instructions().len());
        let mut rest: Vec<(Block<'m>, usize)> = behind.map(|span| (span.block, span.to)).collect();
        let mut seen: HashSet<Block<'m>> = rest.iter().map(|one| one.0).collect();
        while let Some((block, from)) = rest.pop() {
            let calls = block.instructions().into_iter().skip(from);
            let stop = calls.filter_map(|at| at.as_call()).find(|&call| {
                let effects = runtime::effects(call);
                [
                    Effects::REDUCES,
                    Effects::SHARES,
                    Effects::DEALS,
                    Effects::BARRIER,
                ]
                .iter()
                .any(|&one| effects.has(one))
            });
            match stop {
                Some(call) if runtime::effects(call).has(Effects::REDUCES) => {
                    return self.reduction(call);
                }
                Some(_) => {}
                None => {
                    let next = block.successors().into_iter();
                    rest.extend(next.filter(|one| seen.insert(*one)).map(|one| (one, 0)));
                }
            }
        }
        Ok(Vec::new())
    }

    /// What one thread combines into the variables, where the call says that it has to.
    fn reduction(&self, call: Call<'m>) -> Result<Vec<Reduction<'m>>, Instruction<'m>> {
        let at = call.instruction();
        let users = at.users().into_iter().filter_map(Value::as_instruction);
        let one_thread = users.filter_map(|user| match user.opcode() {
            Opcode::LLVMSwitch => {
                let (cases, _) = user.cases();
                let one = cases
                    .into_iter()
                    .find(|(case, _)| case.as_constant_int() == Some(1));
                one.map(|(_, block)| block)
            }
            _ => None,
        });
        let start = one_thread.into_iter().next().ok_or(at)?;
        let mut found: Vec<Reduction<'m>> = Vec::new();
        for block in self.nests.function().blocks() {
            if !self.nests.dominates(start, block) {
                continue;
            }
            for store in block.instructions() {
                if store.opcode() != Opcode::LLVMStore || self.places.is_own(store.operand(1)) {
                    continue;
                }
                let target = self
                    .nests
                    .fixed_place(store.operand(1), self.is_body)
                    .ok_or(at)?;
                let operation = self.operation(store);
                found.push(Reduction { target, operation });
            }
        }
        let count = runtime::function(call).and_then(|one| call.argument(one.position("items")?));
        match count.and_then(|count| count.as_constant_int()) {
            Some(count) if count == found.len() as i64 => Ok(found),
            _ => Err(at),
        }
    }

    /// What is stored if a share has the last iteration, as a variable says.
    fn finals(&self, last: Value<'m>) -> Result<Vec<Object<'m>>, Instruction<'m>> {
        let loads = last
            .users()
            .into_iter()
            .filter_map(|user| user.as_op(Opcode::LLVMLoad));
        let asked = loads
            .flat_map(|load| load.users())
            .filter_map(|user| user.as_op(Opcode::LLVMICmp));
        let mut found = Vec::new();
        for compare in asked {
            let is_zero = compare.operand(1).as_constant_int() == Some(0);
            let branch = compare
                .users()
                .into_iter()
                .find_map(|user| user.as_op(Opcode::LLVMBr));
            let Some(branch) = branch.filter(|_| is_zero) else {
                return Err(compare);
            };
            let successors = branch.block().successors();
            let chosen = match compare.comparison() {
                Some(Comparison::Integer(IntPredicate::LLVMIntNE)) => successors[0],
                Some(Comparison::Integer(IntPredicate::LLVMIntEQ)) => successors[1],
                _ => return Err(compare),
            };
            for block in self.nests.function().blocks() {
                if !self.nests.dominates(chosen, block) {
                    continue;
                }
                for store in block.instructions() {
                    let is_store = store.opcode() == Opcode::LLVMStore;
                    if is_store && !self.places.is_own(store.operand(1)) {
                        let place = self.nests.fixed_place(store.operand(1), self.is_body);
                        found.push(place.ok_or(store)?);
                    }
                }
            }
        }
        Ok(found)
    }

    /// How a store combines what it replaces with what this thread has computed.
    fn operation(&self, store: Instruction<'m>) -> Operation {
        let (value, target) = (store.operand(0), store.operand(1));
        let Some(at) = value.as_instruction() else {
            return Operation::Declared;
        };
        let loaded = |value: Value<'m>| value.as_op(Opcode::LLVMLoad)?.address();
        let is_old = |value| loaded(value) == Some(target);
        let is_own = |value| loaded(value).is_some_and(|from| self.places.is_own(from));
        let (operation, first) = match at.opcode() {
            Opcode::LLVMSelect => (compared(at), 1),
            _ => (updates::combined(at), 0),
        };
        let Some(operation) = operation else {
            return Operation::Declared;
        };
        match [first, first + 1].map(|part| at.operand(part)) {
            [a, b] if is_old(a) && is_own(b) || is_own(a) && is_old(b) => operation,
            _ => Operation::Declared,
        }
    }
}

/// Whether a choice is the smaller or the larger one of what it compares.
fn compared(select: Instruction<'_>) -> Option<Operation> {
    let compare = select.operand(0).as_instruction()?;
    let comparison = compare.comparison()?;
    let (yes, no) = (select.operand(1), select.operand(2));
    let is_mirrored = match (compare.operand(0), compare.operand(1)) {
        pair if pair == (yes, no) => false,
        pair if pair == (no, yes) => true,
        _ => return None,
    };
    updates::smaller_or_larger(comparison, is_mirrored)
}
