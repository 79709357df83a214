//! What an iteration of a nest runs, as a function of its iteration variables, as numbers of 64 bits, and of what it uses of
//! the code around.
//!
//! Guarantee: an iteration does what it did. Iteration variables are its own, and so is what it writes before it reads it,
//! where nobody reads that behind it; what the chain does not change it gets as a value.

use std::collections::HashSet;

use okl_chains::model::Affine;

use crate::analysis::leaving::Leaving;
use crate::analysis::variables::{Does, is_harmless, uses};
use crate::ir::{Chain, Counter, Extent, Nest};
use crate::llvm::{
    Block, Builder, Comparison, Function, Instruction, IntPredicate, Module, Opcode, Type, Value,
};
use crate::lower::cpu::counted::variable;
use crate::lower::cpu::threads::area::{Area, is_read_from};
use crate::lower::cpu::threads::{Why, not};

use super::registers::Register;
use super::storage::{Place, Stored};

/// What the name of such a function ends with.
const SUFFIX: &str = "okl_iteration";

/// What stands for the answer of a condition, 0 or 1, where an iteration is to find out.
pub const ASKS: i64 = 2;

/// The code of a chain.
pub struct Around<'m> {
    /// The function that it is in.
    pub function: Function<'m>,
    /// Its blocks, without what stands in front of it or behind it, but for the last one.
    pub blocks: HashSet<Block<'m>>,
    /// The calls in front of it and behind it.
    ends: [Instruction<'m>; 2],
}

/// What becomes a function.
pub struct Body<'m> {
    /// The innermost loop around it.
    counter: Counter<'m>,
    /// The blocks of the outermost one, and what begins each of them.
    loops: HashSet<Block<'m>>,
    begins: Vec<Instruction<'m>>,
    /// Its blocks.
    blocks: Vec<Block<'m>>,
    /// The iteration variables, the outermost first, and whether they have a sign.
    iteration: Vec<(Instruction<'m>, bool)>,
    /// Conditions whose answers it may be handed.
    strips: Vec<Value<'m>>,
    /// What the last iteration alone stores.
    lasts: Vec<Instruction<'m>>,
    /// Variables that the chain does not change.
    values: Vec<Instruction<'m>>,
    /// Variables that nothing else uses.
    own: Vec<Instruction<'m>>,
    /// Variables that others use, and give a value of their own before.
    others: Vec<Instruction<'m>>,
    /// The buffers that it uses, by their numbers.
    buffers: Vec<Used<'m>>,
    /// Variables of the program that it only combines something with, and what does that.
    combined: Vec<(Value<'m>, Instruction<'m>)>,
    /// Why several threads cannot run iterations at the same time although their order does not matter.
    pub alone: Option<Why>,
    /// Instructions.
    pub size: usize,
}

/// A buffer that is used in place of a temporary space.
struct Used<'m> {
    number: usize,
    stored: Stored<'m>,
    accesses: Vec<Place<'m>>,
    /// Numbers of elements that may be in registers.
    registers: Vec<Vec<Affine>>,
}

/// What has become a function.
pub struct Iteration<'m> {
    /// The function: of the iteration variables, of conditions' [answers](ASKS), of the values of variables, of those by which elements in buffers are found,
    /// and of other values.
    pub function: Function<'m>,
    /// Variables whose values it is handed.
    pub values: Vec<Instruction<'m>>,
    /// The buffers that it can use, by their numbers, and how many values each of them has. Where the second one, behind its
    /// address, is 0 it uses the space itself.
    pub buffers: Vec<(usize, usize)>,
    /// Elements of buffers that can be in variables of the stack, whose addresses come next: null where they are not.
    pub registers: Vec<(usize, Vec<Affine>)>,
    /// Other values, which are there in front of the chain.
    pub others: Vec<Value<'m>>,
}

impl<'m> Around<'m> {
    pub fn of(chain: &Chain<'m>) -> Self {
        let ends = [chain.site, chain.end].map(|one| one.instruction());
        let [first, behind] = ends.map(|one| one.block());
        let mut blocks = HashSet::new();
        let mut rest = first.successors();
        while let Some(block) = rest.pop() {
            if block != behind && blocks.insert(block) {
                rest.extend(block.successors());
            }
        }
        blocks.insert(behind);
        Self {
            function: first.function(),
            blocks,
            ends,
        }
    }

    /// Whether an instruction is a part of it.
    pub fn has(&self, one: Instruction<'m>) -> bool {
        let [site, end] = self.ends;
        let comes = |first: Instruction<'m>, second: Instruction<'m>| {
            let mut all = first.block().instructions().into_iter();
            all.find(|it| [first, second].contains(it)) == Some(first)
        };
        match one.block() {
            block if block == site.block() => comes(site, one),
            block if block == end.block() => comes(one, end),
            block => self.blocks.contains(&block),
        }
    }

    /// Whether a value that a variable is given in the chain may be read behind it.
    pub fn goes_on_with(&self, variable: Instruction<'m>) -> bool {
        is_read_from(variable, self.ends[1].block())
    }

    /// Whether a variable is used in nothing but plain accesses to all of it, and the chain does not change it.
    fn only_reads(&self, variable: Instruction<'m>) -> bool {
        let is_store = |one: &Instruction<'m>| one.opcode() == Opcode::LLVMStore;
        let mut users = variable.instruction_users().into_iter();
        is_plain(variable) && !users.any(|one| is_store(&one) && self.has(one))
    }
}

/// Whether a variable is a number or an address, and used in nothing but plain accesses to all of it.
fn is_plain(variable: Instruction<'_>) -> bool {
    let Some(ty) = variable.allocated_type() else {
        return false;
    };
    let is_one = |user: Instruction<'_>| match user.opcode() {
        Opcode::LLVMLoad => user.is_plain_access() && user.ty() == ty,
        Opcode::LLVMStore => {
            let stored = user.operand(0);
            stored != *variable && user.is_plain_access() && stored.ty() == ty
        }
        _ => is_harmless(user),
    };
    fits(ty) && variable.instruction_users().into_iter().all(is_one)
}

/// Whether a value of a type can be handed over in 64 bits.
pub fn fits(ty: Type<'_>) -> bool {
    ty.is_pointer() || ty.is_float_or_double() || ty.bits().is_some_and(|bits| bits <= 64)
}

impl<'m> Body<'m> {
    /// What an iteration of a nest runs, where that can be a function.
    pub fn of(nest: &Nest<'m>, around: &Around<'m>) -> Result<Self, Why> {
        let counter_of = |one: &Extent<'m>| one.counter.clone();
        let counters: Option<Vec<_>> = nest.loops.iter().map(counter_of).collect();
        let counters = counters.filter(|all| !all.is_empty());
        let Some(counters) = counters else {
            return not("how it counts is not known");
        };
        let counter = counters.last().expect("there is one").clone();
        let iteration: Vec<_> = counters.iter().map(variable).collect();
        let (header, steps) = (counter.decides.block(), counter.steps.block());
        let leaving = Leaving::of(&counter.blocks, header, counter.exit);
        if !leaving.others.is_empty() {
            return not("an iteration may leave it");
        }
        let area = Area::of_loop(header, counter.exit);
        area.can_be_function()?;
        if [counter.body, steps]
            .iter()
            .any(|block| block.phis().next().is_some())
        {
            return not("an iteration begins or ends with a value");
        }
        let mut blocks = counter.blocks.clone();
        blocks.extend(leaving.own);
        blocks.retain(|block| *block != header && *block != steps);
        if !blocks.contains(&counter.body) {
            return not("nothing is done in it");
        }
        let mut body = Self {
            loops: counters[0].blocks.iter().copied().collect(),
            begins: counters.iter().map(|one| one.begins).collect(),
            counter,
            blocks,
            iteration: Vec::new(),
            strips: nest.strips.iter().map(|one| one.value).collect(),
            lasts: nest.lasts.clone(),
            values: Vec::new(),
            own: Vec::new(),
            others: Vec::new(),
            buffers: Vec::new(),
            combined: Vec::new(),
            alone: None,
            size: 0,
        };
        let signs = nest.loops.iter().map(|one| one.signed);
        body.iteration = iteration.into_iter().zip(signs).collect();
        body.size = body.instructions().count();
        body.check_values(around)?;
        body.check_variables(around)?;
        Ok(body)
    }

    /// Has it use buffers, by their numbers, where it accesses them.
    pub fn use_buffers(&mut self, nest: usize, all: &[Stored<'m>], registers: &[Register<'m>]) {
        let used = all.iter().enumerate().map(|(number, stored)| {
            let its = registers.iter().filter(|one| one.buffer == number);
            let mut indices: Vec<Vec<Affine>> = Vec::new();
            for index in its.flat_map(|one| one.indices(nest)) {
                if !indices.contains(index) {
                    indices.push(index.clone());
                }
            }
            Used {
                number,
                stored: stored.clone(),
                accesses: stored.accesses(nest),
                registers: indices,
            }
        });
        self.buffers = used.filter(|one| !one.accesses.is_empty()).collect();
    }

    /// Has it be handed the addresses of variables of the program that it accesses by these instructions.
    pub fn combine(&mut self, by: &[(Value<'m>, Instruction<'m>)]) {
        self.combined = by.to_vec();
    }

    /// Its instructions.
    pub fn instructions(&self) -> impl Iterator<Item = Instruction<'m>> {
        self.blocks.iter().flat_map(|block| block.instructions())
    }

    /// Whether an instruction is one of them.
    pub fn has(&self, one: Instruction<'m>) -> bool {
        self.blocks.contains(&one.block())
    }

    /// Whether it counts with a variable.
    pub fn counts(&self, variable: Instruction<'m>) -> bool {
        self.iteration.iter().any(|one| one.0 == variable)
    }

    /// The iteration variables.
    pub fn iterators(&self) -> impl Iterator<Item = Instruction<'m>> {
        self.iteration.iter().map(|one| one.0)
    }

    /// Whether an instruction belongs to its loops.
    pub fn is_around(&self, one: Instruction<'m>) -> bool {
        self.loops.contains(&one.block()) || self.begins.contains(&one)
    }

    /// Variables that nothing else uses.
    pub fn own(&self) -> &[Instruction<'m>] {
        &self.own
    }

    /// Variables that are its own, although others use them.
    pub fn others(&self) -> &[Instruction<'m>] {
        &self.others
    }

    /// Whether an instruction uses a variable that is its own, although others use it.
    pub fn has_own(&self, variable: Instruction<'m>, user: Instruction<'m>) -> bool {
        self.others.contains(&variable) && self.has(user)
    }

    /// Checks that what it uses is there in front of the chain, and that nobody uses what it computes.
    fn check_values(&mut self, around: &Around<'m>) -> Result<(), Why> {
        for one in self.instructions().collect::<Vec<_>>() {
            let users = one.instruction_users().into_iter();
            if users.into_iter().any(|user| !self.has(user)) {
                return not("what an iteration computes is used behind it");
            }
            for operand in one.operands() {
                let from = operand.as_instruction();
                let from = from.filter(|from| !self.has(*from));
                if from.is_some_and(|from| around.has(from)) {
                    return not("an iteration uses what is computed in the loops around");
                }
                let crosses = from.is_some() || operand.as_parameter().is_some();
                if crosses && !fits(operand.ty()) {
                    self.alone = Some("it uses a value that is too large".to_string());
                }
            }
        }
        Ok(())
    }

    /// Finds out whose the variables are that it uses.
    fn check_variables(&mut self, around: &Around<'m>) -> Result<(), Why> {
        let entry = around.function.blocks()[0].instructions().into_iter();
        let is_fixed = |one: &Instruction<'m>| {
            one.opcode() == Opcode::LLVMAlloca && one.operand(0).as_constant_int().is_some()
        };
        for variable in entry.filter(is_fixed) {
            let users = variable.instruction_users();
            let (inside, outside): (Vec<_>, Vec<_>) =
                users.into_iter().partition(|user| self.has(*user));
            if inside.iter().all(|user| is_harmless(*user)) || self.counts(variable) {
                continue;
            }
            let is_use = |user: &&Instruction<'m>| !is_harmless(**user);
            if { inside.iter() }
                .filter(is_use)
                .all(|user| self.lasts.contains(user))
            {
                continue;
            }
            if around.only_reads(variable) {
                self.values.push(variable);
                continue;
            }
            let is_mine = outside.iter().all(|user| is_harmless(*user));
            let begins = |user: &Instruction<'m>| {
                let name = user.as_call().map(|call| call.callee_name());
                name.is_some_and(|name| name.starts_with("llvm.lifetime.start"))
            };
            let is_fresh =
                inside.iter().any(begins) || is_plain(variable) && !self.reads_first(variable);
            match (is_fresh, is_mine) {
                (true, true) => self.own.push(variable),
                (true, false) if is_plain(variable) && !around.goes_on_with(variable) => {
                    self.others.push(variable);
                }
                (true, false) if is_plain(variable) => {
                    return not(
                        "a variable that an iteration gives a value is read behind the chain",
                    );
                }
                _ if is_mine && self.writes(variable) => {
                    self.alone = Some("it may keep something in a variable of its own".to_string());
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn writes(&self, variable: Instruction<'m>) -> bool {
        let uses = uses(variable).into_iter();
        let mut its = uses.filter(|(one, _)| self.has(*one));
        its.any(|(_, does)| does != Does::Read)
    }

    /// Whether it reads a variable that it has not written before.
    fn reads_first(&self, variable: Instruction<'m>) -> bool {
        let mut rest = vec![self.counter.body];
        let mut seen = HashSet::from([self.counter.body]);
        while let Some(block) = rest.pop() {
            let instructions = block.instructions().into_iter();
            let mut uses = instructions.filter(|one| one.operands().contains(&variable));
            match uses.find(|one| !is_harmless(*one)).map(Instruction::opcode) {
                Some(Opcode::LLVMStore) => {}
                Some(_) => return true,
                None => {
                    let next = block.successors().into_iter();
                    let next = next.filter(|next| self.blocks.contains(next));
                    rest.extend(next.filter(|next| seen.insert(*next)));
                }
            }
        }
        false
    }

    /// Makes a function of it, and calls that in its place.
    pub fn extract(&self, module: &'m Module) -> Iteration<'m> {
        let header = self.counter.decides.block();
        let function = header.function();
        let [before, first] = [(); 2].map(|()| function.append_block(module));
        let like = self.counter.decides;
        let allocas = Builder::at_entry(module, function);
        let outer = Builder::at_end_like(module, before, like);
        let inner = Builder::at_end_like(module, first, like);
        let long = module.int(64);
        header.turn(self.counter.body, before);
        // Uses of variables like others.
        let counters: Vec<_> = self
            .buffers
            .iter()
            .map(|one| one.counters(module))
            .collect();

        let mut moved = Vec::new();
        let mut instead = |variable: Instruction<'m>| {
            let ty = variable.allocated_type().expect("a stack variable");
            let new = allocas.alloca(ty, variable.stack_alignment());
            variable.replace_uses_if(new, |one| {
                let user = one.user().as_instruction();
                user.is_some_and(|user| self.has(user))
            });
            moved.push(new.as_instruction().expect("a stack variable"));
            new
        };
        // In this order they are the first parameters.
        let mut wide = Vec::new();
        for &(variable, signed) in &self.iteration {
            let ty = variable.allocated_type().expect("a stack variable");
            let passed = outer.load(ty, *variable);
            let passed = match signed {
                true => outer.sign_extend(passed, long),
                false => outer.int_cast(passed, long),
            };
            let own = instead(variable);
            let value = inner.int_cast(passed, ty);
            // A loop that is written so has no other numbers.
            if let Some(narrow) = value.as_op(Opcode::LLVMTrunc) {
                narrow.promise_no_wrap(signed);
            }
            inner.store(value, own);
            wide.push((own, passed, signed));
        }
        let mut answers = Vec::new();
        for &condition in &self.strips {
            let [none, new] = [(); 2].map(|()| allocas.alloca(long, 8));
            answers.push(new.as_instruction().expect("a stack variable"));
            outer.store(module.const_i64(ASKS), none);
            inner.store(outer.load(long, none), new);
            let users = condition
                .as_instruction()
                .map(|one| one.instruction_users());
            for user in users.into_iter().flatten() {
                let builder = Builder::before(module, user);
                let answer = builder.load(long, new);
                let asks = builder.compare(answer, module.const_i64(ASKS), false);
                let value = builder.select(asks, condition, answer);
                for at in 0..user.operands().len() {
                    if user.operand(at) == condition {
                        user.set_operand(at, value);
                    }
                }
            }
        }
        for &variable in &self.values {
            let ty = variable.allocated_type().expect("a stack variable");
            let passed = outer.load(ty, *variable);
            inner.store(passed, instead(variable));
        }
        for &variable in &self.others {
            instead(variable);
        }
        moved.extend(answers);
        // Where loops run as they are written nobody has buffers.
        let mut found = Vec::new();
        for one in &self.buffers {
            let mut own = Vec::new();
            for ty in one.stored.values(module) {
                let align = 8;
                let [none, new] = [(); 2].map(|()| allocas.alloca(ty, align));
                moved.push(new.as_instruction().expect("a stack variable"));
                outer.store(ty.zero(), none);
                inner.store(outer.load(ty, none), new);
                own.push((new, ty));
            }
            found.push(own);
        }
        let mut registers = Vec::new();
        for index in self.buffers.iter().flat_map(|one| &one.registers) {
            let ty = module.pointer();
            let [none, new] = [(); 2].map(|()| allocas.alloca(ty, 8));
            moved.push(new.as_instruction().expect("a stack variable"));
            outer.store(ty.zero(), none);
            inner.store(outer.load(ty, none), new);
            registers.push((index, new));
        }
        let mut rest = &registers[..];
        outer.go(first);
        inner.go(self.counter.body);
        self.widen(module, &wide);
        let iteration: Vec<_> = wide.iter().map(|one| one.1).collect();
        for ((one, own), counters) in self.buffers.iter().zip(&found).zip(&counters) {
            let (its, others) = rest.split_at(one.registers.len());
            rest = others;
            one.redirect(module, own, its, &iteration, counters);
        }

        // As variables of the function they become parameters.
        let mut stand_ins: Vec<(Value<'m>, Value<'m>)> = Vec::new();
        for &(variable, at) in &self.combined {
            let known = stand_ins.iter().find(|one| one.0 == variable);
            let stand_in = known.map_or_else(|| allocas.alloca(module.int(64), 8), |one| one.1);
            if known.is_none() {
                stand_ins.push((variable, stand_in));
            }
            let operand = usize::from(at.opcode() == Opcode::LLVMStore);
            at.set_operand(operand, stand_in);
        }

        let place = first.instructions()[0];
        let mut blocks = vec![first];
        blocks.extend(&self.blocks);
        for &variable in &self.own {
            for user in variable.instruction_users() {
                if is_harmless(user) && !blocks.contains(&user.block()) {
                    user.erase();
                }
            }
            variable.move_debug_records(&blocks, place);
            moved.push(variable);
        }
        for variable in &moved {
            variable.move_before(place);
        }
        let made = Block::extract(&blocks, SUFFIX).expect("it was looked at before");
        let entry = made.blocks()[0].terminator().expect("a complete block");
        for variable in moved {
            variable.move_before(entry);
        }
        if !made.instructions().into_iter().any(Instruction::may_throw) {
            made.set_attribute(module, "nounwind");
        }
        let call = made.users().first().and_then(|user| user.as_call());
        let call = call.expect("it is called once");
        for (at, argument) in call.arguments().into_iter().enumerate() {
            if let Some((variable, _)) = stand_ins.iter().find(|one| one.1 == argument) {
                call.instruction().set_operand(at, *variable);
            }
        }
        let buffers = self.buffers.iter().zip(&found);
        let buffers: Vec<_> = buffers.map(|(one, own)| (one.number, own.len())).collect();
        let of_buffers: usize = buffers.iter().map(|one| one.1).sum();
        let of_registers = registers.len();
        let of_variables = self.iteration.len() + self.strips.len() + self.values.len();
        let known = of_variables + of_buffers + of_registers;
        let registers = self.buffers.iter().flat_map(|one| {
            let its = one.registers.iter();
            its.map(|index| (one.number, index.clone()))
        });
        Iteration {
            function: made,
            values: self.values.clone(),
            buffers,
            registers: registers.collect(),
            others: call.arguments().into_iter().skip(known).collect(),
        }
    }

    /// Computes in 64 bits what is computed of iteration variables and then made as wide: that is the same number where the
    /// computation does not overflow, and places in memory are plainly those of 64 bits then.
    fn widen(&self, module: &'m Module, variables: &[(Value<'m>, Value<'m>, bool)]) {
        let widening = Widening { module, variables };
        for one in self.instructions().collect::<Vec<_>>() {
            let signed = match one.opcode() {
                Opcode::LLVMSExt => true,
                Opcode::LLVMZExt => false,
                _ => continue,
            };
            let narrow = one.operand(0);
            if one.ty().bits() == Some(64) && widening.depends(narrow, signed) {
                let value = widening.value(&Builder::before(module, one), narrow, signed);
                one.replace_all_uses_with(value);
                one.erase();
            }
        }
    }
}

impl<'m> Used<'m> {
    /// What loops in an iteration count with, where each access is.
    fn counters(&self, module: &'m Module) -> Vec<Vec<Value<'m>>> {
        let of = |place: &Place<'m>| {
            let builder = Builder::before(module, place.at);
            let counters = place.inside.counters.iter();
            let load = |(variable, _): &(Instruction<'m>, i64)| {
                let ty = variable.allocated_type().expect("a stack variable");
                builder.sign_extend(builder.load(ty, **variable), module.int(64))
            };
            counters.map(load).collect()
        };
        self.accesses.iter().map(of).collect()
    }

    /// Has accesses go to the buffer, where there is one. `own` are variables that have the values by which elements are
    /// found, and variables with the addresses of registers.
    fn redirect(
        &self,
        module: &'m Module,
        own: &[(Value<'m>, Type<'m>)],
        registers: &[(&Vec<Affine>, Value<'m>)],
        iteration: &[Value<'m>],
        counters: &[Vec<Value<'m>>],
    ) {
        for (place, counters) in self.accesses.iter().zip(counters) {
            let builder = Builder::before(module, place.at);
            let values = own.iter().map(|&(variable, ty)| builder.load(ty, variable));
            let values: Vec<_> = values.collect();
            let [buffer, has_it, values @ ..] = &values[..] else {
                unreachable!("it has an address, and may have none");
            };
            let mut kept = self
                .stored
                .address(&builder, *buffer, place, values, iteration, counters);
            let operand = match place.at.opcode() {
                Opcode::LLVMStore => 1,
                _ => 0,
            };
            let as_written = place.at.operand(operand);
            if let Some(is_in) = self.stored.is_in(&builder, place, values, iteration) {
                kept = builder.select(is_in, kept, as_written);
            }
            let same = Comparison::Integer(IntPredicate::LLVMIntEQ);
            let is_none = builder.ask(same, *has_it, module.const_i64(0));
            let mut address = builder.select(is_none, as_written, kept);
            if let Some((_, own)) = registers.iter().find(|one| *one.0 == place.index) {
                let register = builder.load(module.pointer(), *own);
                let mut inside = module.const_i64(place.inside.constant);
                for ((_, bytes), &counter) in place.inside.counters.iter().zip(counters) {
                    let more = builder.multiply(counter, module.const_i64(*bytes));
                    inside = builder.sum(inside, more);
                }
                let part = builder.element(module.int(8), register, inside);
                let is_none = builder.ask(same, register, module.pointer().zero());
                address = builder.select(is_none, address, part);
            }
            place.at.limit_alignment(self.stored.alignment(place));
            place.at.set_operand(operand, address);
        }
    }
}

/// How numbers are computed in 64 bits.
struct Widening<'a, 'm> {
    module: &'m Module,
    /// The iteration variables, what they are, and whether they have a sign.
    variables: &'a [(Value<'m>, Value<'m>, bool)],
}

impl<'m> Widening<'_, 'm> {
    /// What is loaded, where that is an iteration variable.
    fn iterator(&self, value: Value<'m>, signed: bool) -> Option<Value<'m>> {
        let load = value.as_op(Opcode::LLVMLoad)?;
        let mut variables = self.variables.iter();
        let found = variables.find(|one| one.0 == load.operand(0) && one.2 == signed)?;
        (load.is_plain_access()).then_some(found.1)
    }

    /// The instruction that computes a number without overflow.
    fn sum(&self, value: Value<'m>, signed: bool) -> Option<Instruction<'m>> {
        let one = value.as_instruction().filter(|_| signed)?;
        let computes = matches!(
            one.opcode(),
            Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMMul
        );
        (computes && one.has_no_signed_wrap()).then_some(one)
    }

    /// Whether a number depends on iteration variables in such a way.
    fn depends(&self, value: Value<'m>, signed: bool) -> bool {
        if self.iterator(value, signed).is_some() {
            return true;
        }
        if let Some(inner) = value.as_op(Opcode::LLVMSExt).filter(|_| signed) {
            return self.depends(inner.operand(0), signed);
        }
        let operands = self.sum(value, signed).map(|sum| sum.operands());
        let mut operands = operands.into_iter().flatten();
        operands.any(|one| self.depends(one, signed))
    }

    fn value(&self, builder: &Builder<'m>, value: Value<'m>, signed: bool) -> Value<'m> {
        if let Some(known) = self.iterator(value, signed) {
            return known;
        }
        if self.depends(value, signed) {
            if let Some(inner) = value.as_op(Opcode::LLVMSExt) {
                return self.value(builder, inner.operand(0), signed);
            }
            let one = self.sum(value, signed).expect("it depends on them");
            let [a, b] = [0, 1].map(|at| self.value(builder, one.operand(at), signed));
            let wide = builder.binary(one.opcode(), a, b);
            if let Some(wide) = wide.as_instruction() {
                wide.promise_no_wrap(true);
            }
            return wide;
        }
        let long = self.module.int(64);
        match signed {
            true => builder.sign_extend(value, long),
            false => builder.int_cast(value, long),
        }
    }
}
