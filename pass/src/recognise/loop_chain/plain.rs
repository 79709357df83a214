//! A `parallel for` of OpenMP as a plain loop: what a team of one thread runs, between calls that mark it as the loop of a
//! chain.
//!
//! Guarantee: where it is made, the copy runs each iteration of the region once, in the order of their numbers, and nothing
//! else that anybody sees. What is more than a loop is declined.

mod collapsed;
mod ends;
mod inner;
mod last;
mod sums;

use std::collections::HashSet;

use okl_abi::{Effects, LoopSchedule, ScheduleKind};
use okl_chains::pragma::{
    Clause, LoopPragma, Name, Number, OpenMp, Position, Pragma, Sharing, write_marker,
};

use self::collapsed::{Numbers, in_front, is_signed, wide};
use self::ends::End;
use super::{FOR, Here, NEXT};
use crate::analysis::runtime::{self, effects};
use crate::analysis::variables::is_harmless;
use crate::llvm::{
    Block, Builder, Call, Comparison, Function, Instruction, IntPredicate, Module, NaturalLoop,
    Opcode, Value,
};
use crate::recognise::counted::{Form, Iterator};

/// Why a region is no such loop: the end of a sentence.
pub type Why = &'static str;

const MORE: Why = "it does more than share the iterations of one loop";
const FORM: Why = "its loop is not understood";

/// Loops one in the other of a chain, at most.
const DEEPEST: usize = 3;
/// Operations that a bound is computed by, at most.
const MOST: usize = 32;

/// Where a region stands in the program.
pub struct At {
    /// The file.
    pub file: String,
    /// The line; 0 where it is not known.
    pub line: u32,
}

/// A region as a plain loop.
pub struct Plain<'m> {
    /// A copy of the function that its threads run. It takes the same arguments.
    pub function: Function<'m>,
    /// Parameters, by their numbers, that are to be variables of nobody else: the loop leaves there the least or the largest of
    /// what it has found, which is to be combined with what the program has there. That stays if this comparison of it holds.
    pub chosen: Vec<(usize, Comparison)>,
}

/// A region as a plain loop.
pub fn plain<'m>(module: &'m Module, body: Function<'m>, at: &At) -> Result<Plain<'m>, Why> {
    let copy = body.copy();
    let made = Making { module, copy }.make(at);
    let made = made.inspect_err(|_| copy.erase())?;
    Ok(Plain {
        function: copy,
        chosen: made,
    })
}

/// A copy that is changed.
struct Making<'m> {
    module: &'m Module,
    copy: Function<'m>,
}

/// How the threads of a team get their parts of a loop.
struct Share<'m> {
    call: Call<'m>,
    signed: bool,
    lower: Instruction<'m>,
    upper: Instruction<'m>,
    /// Is other than 0 for the thread that has run the last iteration.
    is_last: Instruction<'m>,
}

impl<'m> Making<'m> {
    fn make(&self, at: &At) -> Result<Vec<(usize, Comparison)>, Why> {
        self.take_in_body();
        // What is handed on is kept twice.
        self.forward_parameters();
        self.forward_parameters();
        let sums = sums::put_in(self.module, self.copy)?;
        let share = self.share()?;
        last::put_in(self.module, self.copy, share.is_last)?;
        let form = self.form(&share)?;
        let conditions = self.conditions(share.call.instruction().block())?;
        let last = self.last(&share, &form)?;
        self.check_around(&share, &form)?;
        let levels = self.collapsed(&share, &form, last, &conditions)?;

        // Control comes to the loop, which has no iteration where it would not.
        let long = self.module.int(64);
        let init = share.call.instruction();
        let builder = Builder::before(self.module, init);
        let user = match levels {
            Some(_) => None,
            None => self.user_iterator(&form),
        };
        let iterator = form.begins.operand(1).as_instruction().ok_or(FORM)?;
        let numbers = Numbers::of(&form, iterator);
        let end = match levels {
            Some(_) => None,
            None => numbers.end(last, 1, &conditions),
        };
        let is_its = |end: &End<'m>| {
            let mut user = user.iter();
            user.all(|user| numbers.begins(user.first, end))
        };
        let end = end.filter(is_its);
        // Iterations may be counted without a sign where the iterator has one.
        let has_sign = || !conditions.is_empty() && conditions.iter().all(|one| is_signed(one.0));
        let (counter, first, signed, [first_number, last]) = match (&levels, &user) {
            (Some(levels), _) => {
                let level = &levels[0];
                let first = level.first(&builder);
                (level.variable, first, level.signed, level.ends(&builder))
            }
            (None, Some(user)) => {
                let signed = share.signed || has_sign();
                let first = user.first(&builder);
                let number = wide(&builder, first, signed);
                let last = match &end {
                    Some(end) => end.last(&builder),
                    None => builder.sum(number, wide(&builder, last, share.signed)),
                };
                (user.variable, first, signed, [number, last])
            }
            (None, None) => {
                let first = form.begins.operand(0).ty().zero();
                let number = wide(&builder, first, share.signed);
                let last = match &end {
                    Some(end) => end.more(&builder),
                    None => wide(&builder, last, share.signed),
                };
                (iterator, first, share.signed, [number, last])
            }
        };
        // Where a loop has no iteration its end says so as well.
        let said: Vec<usize> = match &levels {
            Some(levels) => levels
                .iter()
                .flat_map(|one| &one.end)
                .map(|one| one.condition)
                .collect(),
            None => end.iter().map(|one| one.condition).collect(),
        };
        let none = builder.plus(first_number, -1);
        let asked = conditions
            .iter()
            .enumerate()
            .filter(|one| !said.contains(&one.0));
        let last = asked.fold(last, |last, (_, (asks, holds))| match holds {
            true => builder.select(*asks, last, none),
            false => builder.select(*asks, none, last),
        });
        let keep = |number: Value<'m>| {
            let variable = Builder::at_entry(self.module, self.copy).alloca(long, 8);
            builder.store(number, variable);
            variable
        };
        let mut ends = vec![keep(last)];
        for level in levels.iter().flatten().skip(1) {
            ends.push(keep(level.ends(&builder)[1]));
        }
        builder.store(first, *counter);
        let block = init.block();
        init.split_before();
        let end_of = block.terminator().expect("a complete block");
        let begins = end_of.previous().expect("a store stands in front of it");
        let (header, inner) = match &levels {
            Some(levels) => self.nest(&form, levels, &ends),
            None => (form.header, Vec::new()),
        };
        Builder::before(self.module, end_of).go(header);
        end_of.erase();
        for (asks, to) in self.branches(begins.block()) {
            Builder::before(self.module, asks).go(to);
            asks.erase();
        }
        self.copy.remove_unreachable_blocks();

        // It counts by one, to its end.
        if levels.is_none() {
            let ty = counter.allocated_type().ok_or(FORM)?;
            let decides = form.header.terminator().ok_or(FORM)?;
            let builder = Builder::before(self.module, decides);
            let number = wide(&builder, builder.load(ty, *counter), signed);
            let until = builder.load(long, ends[0]);
            let goes_on = Comparison::Integer(IntPredicate::LLVMIntSLE);
            decides.set_branch_condition(builder.ask(goes_on, number, until));
        }
        if let Some(user) = &user {
            let builder = Builder::before(self.module, form.steps);
            let ty = counter.allocated_type().ok_or(FORM)?;
            let next = builder.plus(builder.load(ty, *counter), 1);
            builder.store(next, *counter);
            form.steps.erase();
            user.store.erase();
        }
        self.take_out_end();
        let mut front = vec![self.copy.blocks()[0]];
        while let [next] = front[front.len() - 1].successors()[..]
            && next != header
        {
            front.push(next);
        }
        self.forward_values(&front);
        self.clean();

        let void = self.module.function_type(self.module.void(), &[]);
        let next = self.module.declared(NEXT, void);
        let behind = form.exit.first_insertion_point().ok_or(FORM)?;
        Builder::before(self.module, behind).call(next, &[]);
        // What was loaded there may be another value now.
        let builder = Builder::before(self.module, begins);
        let mut numbers = Vec::new();
        let all = std::iter::once(&begins).chain(&inner);
        for (one, end) in all.zip(&ends) {
            let first = match *one == begins {
                true => one.operand(0),
                false => in_front(one.operand(0), &builder),
            };
            let mut stores = end.instruction_users();
            stores.retain(|one| one.opcode() == Opcode::LLVMStore);
            let [kept] = stores[..] else {
                return Err(FORM);
            };
            numbers.extend([wide(&builder, first, signed), kept.operand(0)]);
        }
        self.mark(begins, at, numbers, &sums.names)?;
        let chosen = sums.chosen.into_iter();
        chosen
            .map(|(own, shared, by)| {
                let (_, number) = shared.as_parameter().ok_or(FORM)?;
                for user in own.instruction_users() {
                    if is_harmless(user) {
                        user.erase();
                    }
                }
                own.replace_all_uses_with(shared);
                Ok((number, by))
            })
            .collect()
    }

    /// With debug information the compiler makes a function of the region's body, which the one that threads run calls.
    fn take_in_body(&self) {
        let calls = self.copy.instructions().into_iter();
        let calls = calls.filter_map(|one| one.as_call());
        let bodies: Vec<_> = calls
            .filter(|call| {
                let callee = call.callee_function();
                callee.is_some_and(|callee| {
                    let is_it = callee.name().contains(".omp_outlined_debug__");
                    is_it && callee.is_local() && !callee.is_declaration()
                })
            })
            .collect();
        if let [call] = bodies[..]
            && call.inline()
        {
            separate_steps(self.copy);
        }
        // Nobody asks any more what is at the thread's number.
        for one in self.copy.instructions() {
            let name = one.as_call().map(|call| call.callee_name());
            if name.is_some_and(|name| name.starts_with("llvm.experimental.noalias.scope.")) {
                one.erase();
            }
        }
    }

    /// What a parameter is stored in, and nothing else, is the parameter.
    fn forward_parameters(&self) {
        for parameter in self.copy.parameters() {
            let [store] = parameter.instruction_users()[..] else {
                continue;
            };
            if store.opcode() != Opcode::LLVMStore || store.operand(0) != parameter {
                continue;
            }
            let Some(slot) = store.operand(1).as_op(Opcode::LLVMAlloca) else {
                continue;
            };
            let mut users = slot.instruction_users();
            users.retain(|one| *one != store && !is_harmless(*one));
            let is_load = |one: &Instruction<'m>| is_plain_load(*one) && one.ty() == parameter.ty();
            if !users.iter().all(is_load) {
                continue;
            }
            for load in users {
                load.replace_all_uses_with(parameter);
                load.erase();
            }
            store.erase();
        }
    }

    /// The only call that asks for a thread's part of a loop.
    fn share(&self) -> Result<Share<'m>, Why> {
        let calls = self.copy.instructions().into_iter();
        let mut shares = None;
        for call in calls.filter_map(|one| one.as_call()) {
            if runtime::function(call).is_some_and(|one| one.begins_share()) {
                if shares.replace(call).is_some() {
                    return Err("it has several loops");
                }
            } else if effects(call).has(Effects::DEALS) {
                return Err("its schedule is not static");
            }
        }
        let call = shares.ok_or(MORE)?;
        let is_plain = |one: LoopSchedule| one.kind == ScheduleKind::Static && !one.ordered;
        if !runtime::schedule(call).is_some_and(is_plain) {
            return Err("its schedule is not static, in one part for each thread");
        }
        let function = runtime::function(call).ok_or(FORM)?;
        let variable = |name: &str| {
            let value = runtime::argument(call, name).ok_or(FORM)?;
            value.as_op(Opcode::LLVMAlloca).ok_or(FORM)
        };
        Ok(Share {
            call,
            signed: !function.has(Effects::UNSIGNED),
            lower: variable("lower")?,
            upper: variable("upper")?,
            is_last: variable("last")?,
        })
    }

    /// The loop that goes through a thread's part.
    fn form(&self, share: &Share<'m>) -> Result<Form<'m>, Why> {
        let loads = share.lower.instruction_users().into_iter();
        let loads = loads.filter(|one| one.opcode() == Opcode::LLVMLoad);
        let begins = loads.flat_map(|one| one.instruction_users());
        let begins: Vec<_> = begins
            .filter(|one| one.opcode() == Opcode::LLVMStore)
            .collect();
        let [begins] = begins[..] else {
            return Err(FORM);
        };
        let counter = begins.operand(1).as_op(Opcode::LLVMAlloca).ok_or(FORM)?;
        let loops = self.copy.loops();
        let mut loops = loops.iter();
        let natural = loops.find(|one| one.header.predecessors().contains(&begins.block()));
        let natural: &NaturalLoop<'m> = natural.ok_or(FORM)?;
        let iterator = Iterator::of(counter).map_err(|_| FORM)?;
        let form = Form::of(natural, &iterator, begins, false).map_err(|_| FORM)?;
        let bound = &form.bound;
        let is_upper = |value: Value<'m>| {
            let load = value.as_op(Opcode::LLVMLoad);
            load.is_some_and(|load| load.operand(0) == *share.upper)
        };
        // Without a sign it is compared with one more.
        let is_end = match bound.is_last {
            true => is_upper(bound.value),
            false => bound.value.as_op(Opcode::LLVMAdd).is_some_and(|sum| {
                is_upper(sum.operand(0)) && sum.operand(1).as_constant_int() == Some(1)
            }),
        };
        let is_whole = bound.is_above && bound.is_whole(form.width) && form.by == Some(1);
        let mut entries = form.header.predecessors();
        entries.retain(|one| *one != form.steps.block());
        match is_end && is_whole && entries == [begins.block()] {
            true => Ok(form),
            false => Err(FORM),
        }
    }

    /// What has to hold, or not, for control to come to a block.
    fn conditions(&self, block: Block<'m>) -> Result<Vec<(Value<'m>, bool)>, Why> {
        let mut all = Vec::new();
        let entry = self.copy.blocks()[0];
        let mut at = block;
        while at != entry {
            let [before] = at.predecessors()[..] else {
                return Err(FORM);
            };
            let end = before.terminator().ok_or(FORM)?;
            if let Some(asks) = end.branch_condition() {
                all.push((asks, before.successors()[0] == at));
            } else if end.opcode() != Opcode::LLVMBr {
                return Err(FORM);
            }
            at = before;
        }
        Ok(all)
    }

    /// The branches on the way to a block, and where they go on it.
    fn branches(&self, block: Block<'m>) -> Vec<(Instruction<'m>, Block<'m>)> {
        let mut all = Vec::new();
        let entry = self.copy.blocks()[0];
        let mut at = block;
        while at != entry {
            let before = at.predecessors()[0];
            let end = before.terminator().expect("a complete block");
            if end.branch_condition().is_some() {
                all.push((end, at));
            }
            at = before;
        }
        all
    }

    /// The number of the last iteration.
    fn last(&self, share: &Share<'m>, form: &Form<'m>) -> Result<Value<'m>, Why> {
        let stored = |variable: Instruction<'m>| -> Vec<Instruction<'m>> {
            let users = variable.instruction_users().into_iter();
            users
                .filter(|one| one.opcode() == Opcode::LLVMStore && one.operand(1) == *variable)
                .collect()
        };
        let block = share.call.instruction().block();
        let [first] = stored(share.lower)[..] else {
            return Err(FORM);
        };
        if first.block() != block || first.operand(0).as_constant_int() != Some(0) {
            return Err(FORM);
        }
        let mut all = stored(share.upper);
        all.retain(|one| one.block() == block);
        match all[..] {
            [one] if !form.has(block) => Ok(one.operand(0)),
            _ => Err(FORM),
        }
    }

    /// Around the loop nothing is run but what is computed and kept in variables of its own.
    fn check_around(&self, share: &Share<'m>, form: &Form<'m>) -> Result<(), Why> {
        for block in self.copy.blocks() {
            if form.has(block) {
                continue;
            }
            for one in block.instructions() {
                let is_kept = || {
                    let variable = one.operand(1).as_op(Opcode::LLVMAlloca);
                    one.is_plain_access() && variable.is_some()
                };
                let is_ours = || {
                    one.as_call().is_some_and(|call| {
                        let ends = runtime::function(share.call)
                            .zip(runtime::function(call))
                            .is_some_and(|(begins, ends)| ends.ends(begins));
                        ends || call == share.call
                    })
                };
                let is_known = match one.opcode() {
                    Opcode::LLVMBr | Opcode::LLVMRet | Opcode::LLVMAlloca | Opcode::LLVMPHI => true,
                    Opcode::LLVMLoad => one.is_plain_access(),
                    Opcode::LLVMStore => is_kept(),
                    _ => one.only_computes() || is_harmless(one) || is_ours(),
                };
                if !is_known {
                    return Err(MORE);
                }
            }
        }
        Ok(())
    }

    /// The iterator of the program, where it is one more each time, and nothing but that.
    fn user_iterator(&self, form: &Form<'m>) -> Option<User<'m>> {
        let counter = form.begins.operand(1).as_instruction()?;
        let is_counting = |one: &Instruction<'m>| {
            one.block() == form.header || one.block() == form.steps.block() || *one == form.begins
        };
        let mut others = counter.instruction_users();
        others.retain(|one| !is_counting(one) && !is_harmless(*one));
        let [load] = others[..] else {
            return None;
        };
        let only = |value: Instruction<'m>| match value.instruction_users()[..] {
            [one] => Some(one),
            _ => None,
        };
        // What is multiplied by one, or added to nothing, LLVM leaves out where it has copied it.
        let (mut value, mut next) = (load, only(load)?);
        if next.opcode() == Opcode::LLVMMul && next.operand(1).as_constant_int() == Some(1) {
            (value, next) = (next, only(next)?);
        }
        let mut first = value.ty().zero();
        if next.opcode() == Opcode::LLVMAdd {
            let operands = [next.operand(0), next.operand(1)];
            first = operands.into_iter().find(|one| *one != *value)?;
            (value, next) = (next, only(next)?);
        }
        let store = Some(next).filter(|one| one.opcode() == Opcode::LLVMStore)?;
        let variable = store.operand(1).as_op(Opcode::LLVMAlloca)?;
        if variable.allocated_type() != Some(value.ty()) || store.block() != form.body {
            return None;
        }
        let is_read = |one: &Instruction<'m>| {
            *one == store || is_plain_load(*one) && form.has(one.block()) || is_harmless(*one)
        };
        if !variable.instruction_users().iter().all(is_read) {
            return None;
        }
        // What stands in front of it in the body does not know it yet.
        let before = form.body.instructions().into_iter();
        let mut before = before.take_while(|one| *one != store);
        if before.any(|one| !one.only_computes() && !is_harmless(one)) {
            return None;
        }
        let kept = match first.as_instruction() {
            None => first.as_constant_int().map(|_| None)?,
            Some(load) => {
                let from = load.operand(0).as_op(Opcode::LLVMAlloca)?;
                let changes = |one: &Instruction<'m>| {
                    let is_load = is_plain_load(*one);
                    !is_load && !is_harmless(*one) && form.has(one.block())
                };
                let users = from.instruction_users();
                let is_plain = is_plain_load(load) && !users.iter().any(changes);
                Some(is_plain.then_some(load)?)
            }
        };
        Some(User {
            variable,
            store,
            first,
            kept,
        })
    }

    /// Takes the call away that ends the loop, and those that ask for the thread's number for that.
    fn take_out_end(&self) {
        for call in self.copy.instructions() {
            let is_end = call.as_call().is_some_and(|call| {
                runtime::function(call).is_some_and(|one| one.has(Effects::ENDS_SHARE))
            });
            if is_end {
                call.erase();
            }
        }
    }

    /// In front of the loop a variable that is given one value is that value.
    fn forward_values(&self, front: &[Block<'m>]) {
        let all: Vec<_> = front.iter().flat_map(|one| one.instructions()).collect();
        let place = |one: Instruction<'m>| all.iter().position(|other| *other == one);
        let is_store =
            |one: &&Instruction<'m>| one.opcode() == Opcode::LLVMStore && one.is_plain_access();
        let stores: Vec<_> = all.iter().filter(is_store).collect();
        for store in stores {
            let Some(variable) = store.operand(1).as_op(Opcode::LLVMAlloca) else {
                continue;
            };
            let mut users = variable.instruction_users();
            users.retain(|one| one != store && !is_harmless(*one));
            let is_read =
                |one: &Instruction<'m>| is_plain_load(*one) && one.ty() == store.operand(0).ty();
            if !users.iter().all(is_read) {
                continue;
            }
            let from = place(*store);
            for load in users.into_iter().filter(|one| place(*one) > from) {
                load.replace_all_uses_with(store.operand(0));
                load.erase();
            }
        }
    }

    /// Takes away what nobody has a use for any more.
    fn clean(&self) {
        loop {
            let mut is_done = true;
            for one in self.copy.instructions().into_iter().rev() {
                let is_kept = one.opcode() == Opcode::LLVMStore && one.is_plain_access();
                let dead = match is_kept {
                    true => {
                        let variable = one.operand(1).as_op(Opcode::LLVMAlloca);
                        variable.is_some_and(|variable| {
                            let users = variable.instruction_users().into_iter();
                            users.into_iter().all(|user| {
                                let is_store = user.opcode() == Opcode::LLVMStore;
                                is_harmless(user) || is_store && user.operand(1) == *variable
                            })
                        })
                    }
                    false => one.is_unused() && (one.only_computes() || is_plain_load(one)),
                };
                if dead {
                    one.erase();
                    is_done = false;
                }
            }
            if is_done {
                break;
            }
        }
    }

    /// Puts the call in front of the loop that says how far it goes, and the loops in it that do nothing but count. `values`: the
    /// first and the last one of those that are known.
    fn mark(
        &self,
        begins: Instruction<'m>,
        at: &At,
        mut values: Vec<Value<'m>>,
        sums: &[&str],
    ) -> Result<(), Why> {
        let module = self.module;
        let ty = module.variadic_type(module.void(), &[module.pointer()]);
        let function = module.declared(FOR, ty);
        let known = values.len() / 2;
        let text = self.text(at, known, sums);
        let put = |text: Value<'m>, values: &[Value<'m>]| {
            let arguments = [&[text], values].concat();
            let call = Builder::before(module, begins).call(function, &arguments);
            call.as_call().expect("it is a call")
        };
        let mut call = put(text, &values);
        let here = Here::of(self.copy);
        here.nest(call).map_err(|_| FORM)?;
        for depth in known + 1..=DEEPEST {
            let Some(more) = self.inner(&here, call, depth) else {
                break;
            };
            let known = values.len();
            values.extend(more.values);
            let text = self.text(at, depth, sums);
            let deeper = put(text, &values);
            call.instruction().erase();
            call = deeper;
            if here.nest(call).is_err() {
                values.truncate(known);
                let less = put(self.text(at, depth - 1, sums), &values);
                call.instruction().erase();
                call = less;
                break;
            }
        }
        match here.nest(call) {
            Ok(_) => Ok(()),
            Err(_) => Err(FORM),
        }
    }

    /// The text of that call, of so many loops one in the other.
    fn text(&self, at: &At, depth: usize, sums: &[&str]) -> Value<'m> {
        let place = Position::new(at.line, 1);
        let clause = |by: &&str| Clause {
            sharing: Sharing::Reduction(by.to_string()),
            variables: vec![Name {
                at: place,
                text: "sum".to_string(),
            }],
        };
        let numbers = (0..depth).map(|at| (Number::Value(2 * at), Number::Value(2 * at + 1)));
        let said = LoopPragma {
            at: place,
            domain: numbers.collect(),
            openmp: Some(OpenMp {
                at: place,
                is_parallel: true,
                is_shared: false,
                is_simd: false,
                clauses: sums.iter().map(clause).collect(),
            }),
            ..LoopPragma::default()
        };
        let text = write_marker(&at.file, &Pragma::Loop(said));
        *self.module.add_text("okl.fused", &text)
    }
}

/// The program's own iterator.
struct User<'m> {
    variable: Instruction<'m>,
    /// Gives it its value in the body.
    store: Instruction<'m>,
    /// Its first value.
    first: Value<'m>,
    /// The load that this is, if it is no constant.
    kept: Option<Instruction<'m>>,
}

impl<'m> User<'m> {
    /// Its first value in front of the loop.
    fn first(&self, builder: &Builder<'m>) -> Value<'m> {
        match self.kept {
            Some(load) => builder.load(load.ty(), load.operand(0)),
            None => self.first,
        }
    }
}

fn is_plain_load(one: Instruction<'_>) -> bool {
    one.opcode() == Opcode::LLVMLoad && one.is_plain_access()
}

/// Gives what counts a loop a block of its own again, where LLVM has made it one with what stands in front of it.
pub fn separate_steps(function: Function<'_>) {
    for natural in function.loops() {
        let mut latches = natural.header.predecessors();
        latches.retain(|one| natural.blocks.contains(one));
        let [latch] = latches[..] else {
            continue;
        };
        let all = latch.instructions();
        let [before @ .., store, _] = &all[..] else {
            continue;
        };
        if store.opcode() != Opcode::LLVMStore || latch.successors().len() != 1 {
            continue;
        }
        let mut needed = HashSet::from([*store]);
        let mut first = *store;
        for one in before.iter().rev() {
            let is_used = one
                .instruction_users()
                .iter()
                .any(|user| needed.contains(user));
            if !is_used {
                break;
            }
            needed.insert(*one);
            first = *one;
        }
        if all[0] != first {
            first.split_before();
        }
    }
}
