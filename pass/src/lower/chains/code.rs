//! Loops that are data, as code: numbers have 64 bits, what bounds are is computed in front of their loop, and an iteration
//! is a call, which is put in place once the loops are there.
//!
//! A loop that threads are to share is written as the compiler would, with a variable on the stack, for
//! [`threads`](crate::lower::cpu::threads) to take; the others have their variable as a value.

use std::collections::HashMap;

use okl_abi::f;
use okl_chains::code::{Code, Condition, Expression, For, If};

use super::asks;
use super::bodies::Iteration;
use super::parted::{self, Sides};
use super::registers::{Register, taken_by};
use super::storage::Stored;
use super::sums::Sum;
use crate::ir::{Chain, Counter, Counting, Nest};
use crate::llvm::{
    Block, Builder, Call, Comparison, Function, Instruction, IntPredicate, Module, Opcode, Type,
    Value,
};
use crate::lower::cpu::threads::{Combined, PLAIN, ident};
use crate::lower::runtime_call::declare_openmp;

/// The code that is written.
pub struct Writer<'a, 'm> {
    pub module: &'m Module,
    pub function: Function<'m>,
    /// What stands where it stands in the source.
    like: Instruction<'m>,
    /// The loops of the nests, which loops stand like that run nothing else.
    pub nests: &'a [Nest<'m>],
    /// Loops around.
    depth: usize,
    /// What iterations of the nests are.
    pub iterations: &'a [Iteration<'m>],
    /// The values of variables that they are handed, and what else they are, where code stands.
    pub handed: Vec<Vec<Value<'m>>>,
    /// The parameters, of 64 bits.
    parameters: Vec<Value<'m>>,
    /// The variables of loops around.
    pub variables: HashMap<usize, Value<'m>>,
    /// Of each nest, whether threads may share loops around it.
    shares: &'a [bool],
    /// Whether threads share a loop around, or one of them runs the code.
    is_shared: bool,
    /// The thread, where the threads of a region around run all of the code and share its loops.
    pub team: Option<Value<'m>>,
    /// Of each nest, what its iterations combine.
    pub sums: &'a [Vec<Sum<'m>>],
    /// Loops that threads share, and what they combine behind them.
    pub shared: Vec<(Counter<'m>, Vec<Combined<'m>>)>,
    /// The calls of iterations.
    pub calls: Vec<Call<'m>>,
    /// Nests no iteration of whose innermost loop depends on another one, and what closes such loops, of each nest.
    pub independent: Vec<usize>,
    pub closing: Vec<Vec<Instruction<'m>>>,
    /// Variables of loops whose iterations of several nests are as independent, and what closes such loops.
    pub joined: &'a [usize],
    pub closing_joined: Vec<Closing<'m>>,
    /// What iterations of such loops pass on.
    pub registers: &'a [Register<'m>],
    /// Temporary spaces that have buffers.
    pub stored: &'a [Stored<'m>],
    /// Whether a loop around has buffers for each of its iterations.
    pub has_private: bool,
    /// Buffers on the stack, of which each thread has its own.
    pub own: Vec<Instruction<'m>>,
    /// What is known of the borders where code stands.
    pub sides: Sides,
}

/// What closes a loop of several nests, none of whose iterations depends on another one by these loads and stores.
pub struct Closing<'m> {
    pub nests: Vec<usize>,
    pub end: Instruction<'m>,
    /// Accesses of nests that are to the stack.
    pub taken: Vec<Instruction<'m>>,
    /// Those of no nest.
    pub others: Vec<Instruction<'m>>,
}

impl<'a, 'm> Writer<'a, 'm> {
    /// In front of an instruction, where the parameters are known.
    pub fn before(
        module: &'m Module,
        at: Instruction<'m>,
        chain: &'a Chain<'m>,
        iterations: &'a [Iteration<'m>],
        parameters: Vec<Value<'m>>,
        shares: &'a [bool],
        stored: &'a [Stored<'m>],
    ) -> Self {
        let like = chain.site.instruction();
        let builder = Builder::before(module, at);
        builder.stand_at(like);
        let handed = iterations.iter().map(|one| {
            let load = |variable: &Instruction<'m>| {
                let ty = variable.allocated_type().expect("a stack variable");
                builder.load(ty, **variable)
            };
            let values: Vec<_> = one.values.iter().map(load).collect();
            let buffers =
                { one.buffers.iter() }.flat_map(|&(number, _)| stored[number].values(module));
            let registers = one.registers.iter().map(|_| module.pointer());
            let none: Vec<_> = buffers.chain(registers).map(|ty| ty.zero()).collect();
            [values, none, one.others.clone()].concat()
        });
        Self {
            module,
            function: at.function(),
            like,
            nests: &chain.nests,
            depth: 0,
            iterations,
            handed: handed.collect(),
            parameters,
            variables: HashMap::new(),
            shares,
            is_shared: false,
            team: None,
            sums: &[],
            shared: Vec::new(),
            calls: Vec::new(),
            independent: Vec::new(),
            closing: vec![Vec::new(); chain.nests.len()],
            joined: &[],
            closing_joined: Vec::new(),
            registers: &[],
            stored,
            has_private: false,
            own: Vec::new(),
            sides: parted::sides(&chain.nests),
        }
    }

    pub fn at(&self, block: Block<'m>) -> Builder<'m> {
        Builder::at_end_like(self.module, block, self.like)
    }

    pub fn block(&self) -> Block<'m> {
        self.function.append_block(self.module)
    }

    /// Writes code at the end of a block. Returns the block in which it goes on.
    pub fn code(&mut self, code: &Code, block: Block<'m>) -> Block<'m> {
        let is_sequence = matches!(code, Code::Sequence(_));
        if let (Some(thread), false, false) = (self.team, self.is_shared, is_sequence)
            && !self.has_shared(code)
        {
            return self.by_one(code, thread, block);
        }
        match code {
            Code::Sequence(all) => all.iter().fold(block, |block, one| self.code(one, block)),
            Code::For(one) => {
                let like = self.like;
                self.like = self.like_of(one).unwrap_or(like);
                self.depth += 1;
                let last = match self.is_shared(one) {
                    true => self.shared(one, block),
                    false => self.counted(one, block),
                };
                self.depth -= 1;
                self.like = like;
                last
            }
            Code::If(one) => self.choice(one, block),
            Code::Run { nest, iteration } => {
                let builder = self.at(block);
                let numbers = iteration.iter().map(|one| self.number(&builder, one));
                let numbers: Vec<_> = numbers.collect();
                let answers = self.answers(*nest);
                let arguments = [numbers, answers, self.handed[*nest].clone()].concat();
                let call = builder.call(self.iterations[*nest].function, &arguments);
                self.calls.push(call.as_call().expect("a call"));
                block
            }
        }
    }

    /// Whether threads share a loop of some code.
    fn has_shared(&self, code: &Code) -> bool {
        asks(code, &|one| self.is_shared(one))
    }

    /// Has one thread of a team run code for which the others wait.
    fn by_one(&mut self, code: &Code, thread: Value<'m>, block: Block<'m>) -> Block<'m> {
        let [inside, behind] = [(); 2].map(|()| self.block());
        let builder = self.at(block);
        let arguments = [ident(self.module, PLAIN), thread];
        let begins = declare_openmp(self.module, &f::okl_mpi_kmpc_master);
        let is_first = builder.call(begins, &arguments);
        let is_first = builder.compare(is_first, self.module.const_i32(0), true);
        builder.go_if(is_first, inside, behind);
        self.is_shared = true;
        let last = self.code(code, inside);
        self.is_shared = false;
        let builder = self.at(last);
        let ends = declare_openmp(self.module, &f::okl_mpi_kmpc_end_master);
        builder.call(ends, &arguments);
        builder.go(behind);
        self.wait(behind, thread);
        behind
    }

    /// Has the threads of a team wait for each other at the end of a block.
    pub fn wait(&self, block: Block<'m>, thread: Value<'m>) {
        let barrier = declare_openmp(self.module, &f::okl_mpi_kmpc_barrier);
        self.at(block)
            .call(barrier, &[ident(self.module, PLAIN), thread]);
    }

    /// What a loop stands like in the source: the loop of the nest at that depth, if it runs one nest only.
    fn like_of(&self, one: &For) -> Option<Instruction<'m>> {
        let mut nests = Vec::new();
        nests_of(&one.body, &mut nests);
        let first = *nests.first()?;
        let is_alone = nests.iter().all(|&nest| nest == first);
        let loops = &self.nests[first].loops;
        let at = self.depth.min(loops.len().checked_sub(1)?);
        let counter = loops[at].counter.as_ref().filter(|_| is_alone)?;
        Some(counter.decides)
    }

    /// Whether threads share a loop.
    fn is_shared(&self, one: &For) -> bool {
        let mut nests = Vec::new();
        nests_of(&one.body, &mut nests);
        let may_share = nests.iter().all(|&nest| self.shares[nest]);
        // What a team combines is in no variable of the function.
        let is_alone = self.team.is_some() && !one.combines.is_empty();
        one.is_parallel
            && !is_alone
            && sums_of(one, self.sums).is_some()
            && !self.is_shared
            && !self.has_private
            && may_share
    }

    /// The ends of a loop: its first number, and the first one behind it. And its step.
    fn ends(&self, builder: &Builder<'m>, one: &For) -> [Value<'m>; 3] {
        let first = self.number(builder, &one.first);
        let last = self.number(builder, &one.last);
        let end = exact(builder, Opcode::LLVMAdd, last, self.module.const_i64(1));
        [first, end, self.number(builder, &one.step)]
    }

    fn counted(&mut self, one: &For, block: Block<'m>) -> Block<'m> {
        let ends = self.ends(&self.at(block), one);
        self.parted(one, ends, block)
    }

    /// A loop whose iterations are at no border that its own variable tells.
    pub fn between_borders(
        &mut self,
        one: &For,
        [first, end, step]: [Value<'m>; 3],
        block: Block<'m>,
    ) -> Block<'m> {
        let builder = self.at(block);
        let Some([from, to]) = self.inside(&builder, one, [first, end]) else {
            return self.counting(one, [first, end, step], block);
        };
        // Where nothing is to be asked of what is read, nothing keeps it from being vectorised.
        let block = self.counting(one, [first, from, step], block);
        self.set_inside(true);
        let block = self.counting(one, [from, to, step], block);
        self.set_inside(false);
        self.counting(one, [to, end, step], block)
    }

    /// A loop from a number to another one that is not reached.
    fn counting(
        &mut self,
        one: &For,
        [first, end, step]: [Value<'m>; 3],
        block: Block<'m>,
    ) -> Block<'m> {
        let [header, body, exit] = [(); 3].map(|()| self.block());
        let builder = self.at(block);
        builder.go(header);
        let builder = self.at(header);
        let variable = builder.phi(self.module.int(64));
        variable.add_incoming(first, block);
        let less = Comparison::Integer(IntPredicate::LLVMIntSLT);
        builder.go_if(builder.ask(less, variable, end), body, exit);

        let around = self.variables.insert(one.variable, variable);
        let taken = self.take_registers(one);
        let last = self.body(one, body);
        let others = self.keep_registers(one, &taken, last);
        self.restore(one.variable, around);
        let builder = self.at(last);
        let next = exact(&builder, Opcode::LLVMAdd, variable, step);
        builder.go(header);
        let end = last.terminator().expect("it has just been made");
        match &self.independent(one)[..] {
            [] => {}
            [nest] => self.closing[*nest].push(end),
            nests => {
                let taken = nests
                    .iter()
                    .flat_map(|&nest| taken_by(&taken, self.stored, nest));
                let closing = Closing {
                    nests: nests.to_vec(),
                    end,
                    taken: taken.collect(),
                    others,
                };
                self.closing_joined.push(closing);
            }
        }
        variable.add_incoming(next, last);
        exit
    }

    pub fn restore(&mut self, variable: usize, value: Option<Value<'m>>) {
        match value {
            Some(value) => self.variables.insert(variable, value),
            None => self.variables.remove(&variable),
        };
    }

    /// A loop that threads share. What they are handed are addresses and numbers of 64 bits.
    fn shared(&mut self, one: &For, block: Block<'m>) -> Block<'m> {
        let [header, body, steps, exit] = [(); 4].map(|()| self.block());
        let long = self.module.int(64);
        let entry = Builder::at_entry(self.module, self.function);
        let variable = entry.alloca(long, 8);
        let sums = sums_of(one, self.sums).expect("it was looked at before");
        let builder = self.at(block);
        let combined = sums.into_iter().map(|sum| {
            let own = entry.alloca(sum.ty, 16);
            Combined {
                target: sum.variable,
                own: own.as_instruction().expect("a stack variable"),
                operation: sum.operation,
                first: Combined::first(&builder, sum.variable, sum.operation, sum.ty),
            }
        });
        let combined: Vec<_> = combined.collect();
        let [first, end, step] = self.ends(&builder, one);
        let handed = self.handed.clone();
        let passed: Vec<Vec<_>> = handed
            .iter()
            .map(|values| {
                let pass = |value: &Value<'m>| match is_passed(value.ty()) {
                    true => *value,
                    false => builder.bits_of(*value, 64),
                };
                values.iter().map(pass).collect()
            })
            .collect();
        builder.store(first, variable);
        let begins = *block.instructions().last().expect("the store");
        builder.go(header);

        let builder = self.at(header);
        let compared = builder.load(long, variable);
        let less = Comparison::Integer(IntPredicate::LLVMIntSLT);
        let decides = builder.go_if(builder.ask(less, compared, end), body, exit);

        let builder = self.at(body);
        let number = builder.load(long, variable);
        for (values, passed) in self.handed.iter_mut().zip(passed) {
            for (value, passed) in values.iter_mut().zip(passed) {
                if !is_passed(value.ty()) {
                    *value = builder.value_of_bits(passed, value.ty());
                }
            }
        }
        for value in self.handed.iter_mut().flatten() {
            let own = combined.iter().find(|one| one.target == *value);
            *value = own.map_or(*value, |one| *one.own);
        }
        let around = self.variables.insert(one.variable, number);
        self.is_shared = true;
        let last = self.body(one, body);
        self.is_shared = false;
        self.restore(one.variable, around);
        self.handed = handed;
        self.at(last).go(steps);

        let builder = self.at(steps);
        let next = exact(
            &builder,
            Opcode::LLVMAdd,
            builder.load(long, variable),
            step,
        );
        builder.store(next, variable);
        let next = *steps.instructions().last().expect("the store");
        builder.go(header);
        let counter = Counter {
            axis: 0,
            begins,
            steps: next,
            decides,
            body,
            exit,
            // Whoever takes the loop finds them.
            blocks: Vec::new(),
            counting: Counting {
                compared,
                end,
                is_up: true,
                is_last: false,
                signed: true,
                step,
            },
        };
        self.shared.push((counter, combined));
        if let Some(thread) = self.team {
            self.wait(exit, thread);
        }
        exit
    }

    fn choice(&mut self, one: &If, block: Block<'m>) -> Block<'m> {
        let [yes, after] = [(); 2].map(|()| self.block());
        let no = one.otherwise.as_ref().map(|_| self.block());
        let builder = self.at(block);
        let condition = self.condition(&builder, &one.condition);
        builder.go_if(condition, yes, no.unwrap_or(after));
        let last = self.code(&one.then, yes);
        self.at(last).go(after);
        if let Some((code, no)) = one.otherwise.as_ref().zip(no) {
            let last = self.code(code, no);
            self.at(last).go(after);
        }
        after
    }

    /// A number.
    pub fn number(&self, builder: &Builder<'m>, one: &Expression) -> Value<'m> {
        let module = self.module;
        let of = |one: &Expression| self.number(builder, one);
        let choose = |all: &[Expression], is: IntPredicate| {
            let numbers = all.iter().map(of);
            let better = |a, b| builder.select(builder.ask(Comparison::Integer(is), a, b), a, b);
            numbers.reduce(better).expect("there is one")
        };
        match one {
            Expression::Constant(number) => module.const_i64(*number),
            Expression::Parameter(at) => self.parameters[*at],
            Expression::Variable(at) => self.variables[at],
            Expression::Add(a, b) => exact(builder, Opcode::LLVMAdd, of(a), of(b)),
            Expression::Subtract(a, b) => exact(builder, Opcode::LLVMSub, of(a), of(b)),
            Expression::Multiply(a, b) => exact(builder, Opcode::LLVMMul, of(a), of(b)),
            Expression::FloorDivide(a, b) => self.divide(builder, of(a), of(b)).0,
            Expression::Modulo(a, b) => self.divide(builder, of(a), of(b)).1,
            Expression::Least(all) => choose(all, IntPredicate::LLVMIntSLT),
            Expression::Largest(all) => choose(all, IntPredicate::LLVMIntSGT),
            Expression::Choose(condition, yes, no) => {
                let condition = self.condition(builder, condition);
                builder.select(condition, of(yes), of(no))
            }
        }
    }

    /// The quotient rounded down, and what is left. Where it is asked in vain the divisor may be anything.
    fn divide(&self, builder: &Builder<'m>, a: Value<'m>, b: Value<'m>) -> (Value<'m>, Value<'m>) {
        let [zero, one] = [0, 1].map(|number| self.module.const_i64(number));
        let is = Comparison::Integer;
        let b = match b.as_constant_int() {
            Some(_) => b,
            None => {
                let is_more = builder.ask(is(IntPredicate::LLVMIntSGT), b, one);
                builder.select(is_more, b, one)
            }
        };
        let quotient = builder.binary(Opcode::LLVMSDiv, a, b);
        let left = builder.binary(Opcode::LLVMSRem, a, b);
        let is_below = builder.ask(is(IntPredicate::LLVMIntSLT), left, zero);
        let less = builder.plus(quotient, -1);
        let more = builder.sum(left, b);
        (
            builder.select(is_below, less, quotient),
            builder.select(is_below, more, left),
        )
    }

    /// A truth value.
    pub fn condition(&self, builder: &Builder<'m>, one: &Condition) -> Value<'m> {
        let truth = self.module.int(1);
        let ask = |is: IntPredicate, a: &Expression, b: &Expression| {
            let [a, b] = [a, b].map(|one| self.number(builder, one));
            builder.ask(Comparison::Integer(is), a, b)
        };
        let join = |all: &[Condition], how: Opcode, none: bool| {
            let none = truth.integer_constant(none.into());
            let all = all.iter().map(|one| self.condition(builder, one));
            all.fold(none, |a, b| builder.binary(how, a, b))
        };
        match one {
            Condition::Constant(answer) => truth.integer_constant((*answer).into()),
            Condition::AtLeast(a, b) => ask(IntPredicate::LLVMIntSGE, a, b),
            Condition::Equal(a, b) => ask(IntPredicate::LLVMIntEQ, a, b),
            Condition::All(all) => join(all, Opcode::LLVMAnd, true),
            Condition::Any(all) => join(all, Opcode::LLVMOr, false),
            Condition::Not(one) => builder.not(self.condition(builder, one)),
        }
    }
}

/// What iterations of a loop combine at the same places, where all of that is known.
pub fn sums_of<'m>(one: &For, of_nests: &[Vec<Sum<'m>>]) -> Option<Vec<Sum<'m>>> {
    let mut found: Vec<Sum<'m>> = Vec::new();
    if one.combines.is_empty() {
        return Some(found);
    }
    let mut nests = Vec::new();
    nests_of(&one.body, &mut nests);
    let of_loop = nests.iter().flat_map(|&nest| &of_nests[nest]);
    for sum in of_loop.filter(|sum| one.combines.contains(&sum.space)) {
        match found.iter().find(|one| one.variable == sum.variable) {
            Some(known) if known != sum => return None,
            Some(_) => {}
            None => found.push(*sum),
        }
    }
    let is_known = |space: &usize| found.iter().any(|sum| sum.space == *space);
    one.combines.iter().all(is_known).then_some(found)
}

/// The numbers of the nests that code runs.
pub fn nests_of(code: &Code, found: &mut Vec<usize>) {
    match code {
        Code::Sequence(all) => all.iter().for_each(|one| nests_of(one, found)),
        Code::For(one) => nests_of(&one.body, found),
        Code::If(one) => {
            nests_of(&one.then, found);
            one.otherwise.iter().for_each(|one| nests_of(one, found));
        }
        Code::Run { nest, .. } => found.push(*nest),
    }
}

/// Whether threads are handed values of a type as they are.
fn is_passed(ty: Type<'_>) -> bool {
    ty.is_pointer() || ty.bits() == Some(64)
}

/// A sum, difference or product that does not overflow.
fn exact<'m>(builder: &Builder<'m>, how: Opcode, a: Value<'m>, b: Value<'m>) -> Value<'m> {
    let value = builder.binary(how, a, b);
    if let Some(one) = value.as_instruction() {
        one.promise_no_wrap(true);
    }
    value
}
