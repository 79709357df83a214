//! Loop chains: their iterations in another order, as ordinary loops, which what comes behind takes like others.
//!
//! What an iteration runs becomes a function ([`bodies`]), the order becomes loops that call it ([`code`]), and the calls are
//! put in place. Loops that threads are to share become a region as the compiler makes one. Where what the order relies on
//! does not hold when the program runs, the loops run as they are written.
//!
//! Guarantee: each iteration does what it did, and behind the chain variables are what they were there.

mod asked;
mod bodies;
mod code;
mod costs;
mod independent;
mod parted;
mod registers;
mod storage;
mod sums;
mod threads;

use std::collections::HashSet;

use okl_abi::f;
use okl_chains::code::{Code, Condition, Expression, For};
use okl_chains::plan::Plan;
use okl_chains::sizes::{Limits, Small};

use crate::analysis::variables::is_harmless;
use crate::ir::{Asked, Chain};
use crate::llvm::{
    Block, Builder, Call, Comparison, Function, Instruction, IntPredicate, Module, Opcode, Value,
};
use crate::lower::cpu::counted::Copies;
use crate::lower::cpu::threads::{PLAIN, Why, ident, not, share, share_in_team};
use crate::lower::runtime_call::declare_openmp;
use crate::marks::CHAINS;

use bodies::{Around, Body, Iteration};
use code::{Writer, sums_of};
use independent::Accesses;
use registers::Register;
use storage::{Stored, told};
use sums::Sum;

pub use code::nests_of;
pub use costs::costs;
pub use independent::accesses;
pub use storage::{Temporary, temporary};
pub use sums::{Sums, sums};

/// Parameters of more than 32 bits are looked at: sums of them do not overflow then, nor do products of two of them where
/// there are such.
const MOST: [i64; 2] = [1 << 48, 1 << 30];
/// The largest number in an order: see above.
const MOST_CONSTANT: i64 = 1 << 12;
/// The largest number that is added, or compared with, there: no loop goes on for long where there is nothing.
const MOST_OFFSET: i64 = 1 << 32;
/// So many instructions may iterations be together, wherever they are called.
const MOST_INSTRUCTIONS: usize = 20_000;
/// So many may they be together with those of where the chain is small.
const MOST_OF_BOTH: usize = 4_000;

/// A chain, and the order in which it is to run.
pub struct Order<'m> {
    /// The chain.
    pub chain: Chain<'m>,
    /// The parameters of the order: numbers of 64 bits with a sign, of the code in front of the chain or computed in it from
    /// what it does not change.
    pub parameters: Vec<Value<'m>>,
    /// The order.
    pub plan: Plan,
    /// Spaces that can have buffers.
    pub temporaries: Vec<Option<Temporary<'m>>>,
    /// What spaces are called.
    pub names: Vec<String>,
    /// The loads and stores of each nest by which its iterations access spaces.
    pub accesses: Accesses<'m>,
    /// What the iterations of each nest only combine something with.
    pub sums: Sums<'m>,
    /// Where the chain begins as the program has it, if it is there twice.
    pub written: Option<Block<'m>>,
    /// What else has to hold.
    pub asked: Vec<Asked<'m>>,
    /// Whether the programmer has said that it does.
    pub is_said: bool,
}

/// What becomes of a chain.
pub struct Lowered<'m> {
    order: Order<'m>,
    around: Around<'m>,
    bodies: Vec<Body<'m>>,
    /// Of each nest, whether threads may share loops around it.
    shares: Vec<bool>,
    /// Why the loops that threads are to share run on one thread.
    pub alone: Option<Why>,
    /// Whether what its loops count with is read behind it.
    counts_on: bool,
    /// Temporary spaces that have buffers.
    stored: Vec<Stored<'m>>,
    /// What iterations of several nests pass on.
    registers: Vec<Register<'m>>,
    /// What is told of them.
    pub shrinks: Vec<String>,
}

/// What becomes of a chain, where that can be: else it runs as it is written.
pub fn check<'m>(module: &Module, mut order: Order<'m>) -> Result<Lowered<'m>, Why> {
    let around = Around::of(&order.chain);
    let nests = order.chain.nests.iter();
    let bodies: Result<Vec<_>, Why> = nests
        .map(|nest| Body::of(nest, &around).map_err(|why| format!("of one of its loops, {why}")))
        .collect();
    let mut bodies = bodies?;
    check_variables(&bodies, &around)?;
    check_parameters(&order, &around)?;
    let most = Numbers::of(&order.plan);
    let (number, limit) = match most.constant > MOST_CONSTANT {
        true => (most.constant, MOST_CONSTANT),
        false => (most.offset, MOST_OFFSET),
    };
    if number > limit {
        return Err(format!(
            "its order has the number {number}, and {limit} is the most: smaller tiles and shifts have smaller numbers, and \
             the size of a tile may be a variable"
        ));
    }
    let mut runs = Vec::new();
    nests_of(&order.plan.code, &mut runs);
    let parts = |nest: usize| match order.chain.nests[nest].strips.len() {
        0 => 1,
        _ => parted::USUAL,
    };
    let size = |runs: &[usize]| {
        let sizes = { runs.iter() }.map(|&nest| bodies[nest].size * parts(nest));
        sizes.sum::<usize>()
    };
    if size(&runs) > MOST_INSTRUCTIONS {
        return not("its order needs too much code");
    }
    if let Some(small) = &order.plan.small {
        nests_of(&small.code, &mut runs);
        if size(&runs) > MOST_OF_BOTH {
            order.plan.small = None;
        }
    }
    let (mut stored, mut shrinks) = (Vec::new(), Vec::new());
    for buffer in &order.plan.buffers {
        match &order.temporaries[buffer.space] {
            Some(temporary) => {
                let one = Stored::of(&order.chain, buffer, temporary);
                if one.is_worth_it() {
                    shrinks.push(told(&order.names[buffer.space], &one));
                    stored.push(one);
                }
            }
            None if buffer.is_needed => return not("what it relies on is not known"),
            None => {}
        }
    }
    let registers = Register::all(&order.plan, &stored);
    for (nest, body) in bodies.iter_mut().enumerate() {
        body.use_buffers(nest, &stored, &registers);
        body.combine(&order.sums.by[nest]);
    }
    let mut alone = None;
    if is_of_team(&order.chain) {
        // Each thread runs all of it, but for what they share.
    } else if is_region(around.function) {
        alone = Some("each thread of the region that it is in runs all of it".to_string());
    } else if !module.has_flag("openmp") {
        alone = Some("the file is not compiled with -fopenmp".to_string());
    }
    let may_share = |body: &Body<'m>| alone.is_none() && body.alone.is_none();
    let shares: Vec<_> = bodies.iter().map(may_share).collect();
    let has_parallel = asks(&order.plan.code, &|one| one.is_parallel);
    let sums: &[Vec<Sum<'m>>] = &order.sums.all;
    let is_of_team = is_of_team(&order.chain);
    let combines = asks(&order.plan.code, &|one| {
        let is_alone = is_of_team && !one.combines.is_empty();
        one.is_parallel && (is_alone || sums_of(one, sums).is_none())
    });
    let of_body = || bodies.iter().find_map(|body| body.alone.clone());
    let of_results =
        || combines.then(|| "what its iterations find is combined in one place".to_string());
    let alone = alone.or_else(of_body).or_else(of_results);
    let goes_on = |body: &Body<'m>| body.iterators().any(|one| around.goes_on_with(one));
    let counts_on = bodies.iter().any(goes_on);
    Ok(Lowered {
        alone: alone.filter(|_| has_parallel),
        order,
        around,
        bodies,
        shares,
        counts_on,
        stored,
        registers,
        shrinks,
    })
}

/// Checks that no loop uses what another one counts with, or what is an iteration's own in another one.
fn check_variables<'m>(bodies: &[Body<'m>], around: &Around<'m>) -> Result<(), Why> {
    let all = |body: &Body<'m>| body.iterators().collect::<Vec<_>>();
    let iterators: HashSet<_> = bodies.iter().flat_map(all).collect();
    type IsIts<'a, 'm> = &'a dyn Fn(&Body<'m>, Instruction<'m>) -> bool;
    let is_right = |variable: Instruction<'m>, is_its: IsIts<'_, 'm>| {
        let users = variable.instruction_users().into_iter();
        let mut users = users.filter(|user| around.has(*user) && !is_harmless(*user));
        users.all(|user| bodies.iter().any(|body| is_its(body, user)))
    };
    for variable in iterators {
        if !is_right(variable, &|body, user| {
            body.counts(variable) && body.is_around(user)
        }) {
            return not("one of its loops uses the variable that another one counts with");
        }
    }
    for &variable in bodies.iter().flat_map(|body| body.others()) {
        // What others write into it nobody reads.
        if !is_right(variable, &|body, user| {
            user.opcode() == Opcode::LLVMStore || body.has_own(variable, user)
        }) {
            return not("an iteration uses a variable that one of another loop gives a value");
        }
    }
    Ok(())
}

/// Checks that its parameters can be computed in front of it.
fn check_parameters(order: &Order<'_>, around: &Around<'_>) -> Result<(), Why> {
    let mut rest = order.parameters.clone();
    rest.extend(order.asked.iter().flat_map(asked::values));
    while let Some(value) = rest.pop() {
        let one = value.as_instruction().filter(|one| around.has(*one));
        let Some(one) = one else { continue };
        if !one.only_computes() {
            return not("how far its loops go is computed by a function");
        }
        rest.extend(one.operands());
    }
    Ok(())
}

/// The largest numbers of an order.
struct Numbers {
    /// What something is multiplied with.
    constant: i64,
    /// What stands anywhere else.
    offset: i64,
    /// Whether numbers are multiplied that are no constants.
    has_products: bool,
}

impl Numbers {
    fn of(plan: &Plan) -> Self {
        let mut numbers = Self {
            constant: 0,
            offset: 0,
            has_products: false,
        };
        numbers.code(&plan.code);
        for one in plan.buffers.iter().flat_map(|buffer| &buffer.numbers) {
            numbers.number(&one.first);
            numbers.number(&one.last);
        }
        numbers.condition(&plan.requires);
        if let Some(small) = &plan.small {
            // Where the chain is small is asked of numbers that have been made small enough to be multiplied.
            let products = numbers.has_products;
            for one in [&small.limits.is_small, &small.limits.is_little] {
                numbers.condition(one);
            }
            numbers.has_products = products;
            numbers.code(&small.code);
        }
        numbers
    }

    fn code(&mut self, code: &Code) {
        match code {
            Code::Sequence(all) => all.iter().for_each(|one| self.code(one)),
            Code::For(one) => {
                for number in [&one.first, &one.last, &one.step] {
                    self.number(number);
                }
                self.code(&one.body);
            }
            Code::If(one) => {
                self.condition(&one.condition);
                self.code(&one.then);
                one.otherwise.iter().for_each(|one| self.code(one));
            }
            Code::Run { iteration, .. } => iteration.iter().for_each(|one| self.number(one)),
        }
    }

    fn number(&mut self, one: &Expression) {
        let constant = |one: &Expression| matches!(one, Expression::Constant(_));
        match one {
            Expression::Parameter(_) | Expression::Variable(_) => {}
            Expression::Constant(number) => {
                self.offset = self.offset.max(number.saturating_abs());
            }
            Expression::Multiply(a, b) => {
                for one in [a, b] {
                    if let Expression::Constant(number) = **one {
                        self.constant = self.constant.max(number.saturating_abs());
                    }
                }
                self.has_products |= !constant(a) && !constant(b);
                [a, b].into_iter().for_each(|one| self.number(one));
            }
            Expression::Add(a, b)
            | Expression::Subtract(a, b)
            | Expression::FloorDivide(a, b)
            | Expression::Modulo(a, b) => {
                [a, b].into_iter().for_each(|one| self.number(one));
            }
            Expression::Least(all) | Expression::Largest(all) => {
                all.iter().for_each(|one| self.number(one));
            }
            Expression::Choose(condition, a, b) => {
                self.condition(condition);
                [a, b].into_iter().for_each(|one| self.number(one));
            }
        }
    }

    fn condition(&mut self, one: &Condition) {
        match one {
            Condition::Constant(_) => {}
            Condition::AtLeast(a, b) | Condition::Equal(a, b) => {
                [a, b].into_iter().for_each(|one| self.number(one));
            }
            Condition::All(all) | Condition::Any(all) => {
                all.iter().for_each(|one| self.condition(one));
            }
            Condition::Not(one) => self.condition(one),
        }
    }
}

/// Whether a number of 64 bits is one of 32 bits, and a constant at most.
fn is_small(value: Value<'_>) -> bool {
    let Some(one) = value.as_instruction() else {
        return value.as_constant_int().is_some();
    };
    match one.opcode() {
        Opcode::LLVMSExt | Opcode::LLVMZExt => one.operand(0).ty().bits() <= Some(32),
        _ => false,
    }
}

/// Whether the threads of a region around share the loops of a chain, each of which they all come to.
pub fn is_of_team(chain: &Chain<'_>) -> bool {
    let mut directives = chain
        .nests
        .iter()
        .filter_map(|one| one.said.openmp.as_ref());
    directives.any(|one| one.is_shared)
}

/// Whether a function is what the threads of a region run.
fn is_region(function: Function<'_>) -> bool {
    let mut users = function.users().into_iter();
    users.any(|user| {
        let name = user.as_call().map(|call| call.callee_name());
        name.is_some_and(|name| name.starts_with("__kmpc_fork_"))
    })
}

/// Whether that is so of one of the loops.
fn asks(code: &Code, what: &dyn Fn(&For) -> bool) -> bool {
    match code {
        Code::Sequence(all) => all.iter().any(|one| asks(one, what)),
        Code::For(one) => what(one) || asks(&one.body, what),
        Code::If(one) => {
            let mut both = [Some(&one.then), one.otherwise.as_ref()]
                .into_iter()
                .flatten();
            both.any(|one| asks(one, what))
        }
        Code::Run { .. } => false,
    }
}

impl<'m> Lowered<'m> {
    /// What is told of where the chain is small.
    pub fn told_of_small(&self) -> Option<String> {
        let limits = &self.order.plan.small.as_ref()?.limits;
        let row = limits.row.map_or_else(String::new, |row| {
            format!("a row has at most {row} elements, and ")
        });
        let all = match limits.shared.filter(|shared| *shared < limits.all) {
            Some(shared) => format!(
                "{shared} iterations, or {} where it has one thread",
                limits.all
            ),
            None => format!("{} iterations", limits.all),
        };
        Some(format!(
            "where {row}its loops have at most {all}, the loop chain runs row by row on one thread, with temporary spaces as \
             they are"
        ))
    }

    /// The call that stands in front of the chain.
    pub fn site(&self) -> Call<'m> {
        self.order.chain.site
    }

    /// Variables that go where its iterations go.
    pub fn own(&self) -> impl Iterator<Item = Instruction<'m>> + use<'_, 'm> {
        self.bodies
            .iter()
            .flat_map(|body| body.own().iter().copied())
    }

    /// Writes the loops.
    pub fn emit(self, module: &'m Module) {
        let chain = &self.order.chain;
        let function = self.around.function;
        let like = chain.site.instruction();
        let marked = like.split_before();
        let written = self.order.written.unwrap_or(marked);
        let behind = chain.end.instruction().split_before();
        let front = marked.predecessors()[0];
        let mut inside = self.around.blocks.clone();
        inside.insert(marked);

        let jump = front.terminator().expect("a complete block");
        let mut copies = Copies::before(module, jump, inside.clone());
        copies.builder.stand_at(like);
        let parameters = self.order.parameters.iter();
        let parameters: Vec<_> = parameters.map(|one| copies.value(*one)).collect();
        let iterations: Vec<_> = self
            .bodies
            .iter()
            .map(|body| body.extract(module))
            .collect();
        let counts = self
            .counts_on
            .then(|| copy_of_counting(module, [marked, behind], &iterations));

        let begins = function.append_block(module);
        let mut values = parameters.clone();
        if let Some(place) = self.order.plan.threads {
            assert_eq!(place, values.len(), "it is behind the chain's own");
            let builder = Builder::before(module, jump);
            builder.stand_at(like);
            let is_alone = self.alone.is_some();
            values.push(threads::count(module, &builder, is_alone));
        }
        let (shares, stored) = (&self.shares, &self.stored);
        let mut writer = Writer::before(module, jump, chain, &iterations, values, shares, stored);
        writer.sums = &self.order.sums.all;
        if is_of_team(chain) {
            let builder = Builder::before(module, jump);
            builder.stand_at(like);
            let asks = declare_openmp(module, &f::okl_mpi_kmpc_global_thread_num);
            let thread = builder.call(asks, &[ident(module, PLAIN)]);
            writer.team = Some(thread);
            // What stands in front may have handed iterations to threads in another way, and goes on.
            writer.wait(begins, thread);
        }
        let then = counts.unwrap_or(behind);
        let small = self.order.plan.small.as_ref();
        let small = small.map(|small| self.small(&mut writer, small, then));
        writer.independent.clone_from(&self.order.plan.independent);
        writer.joined = &self.order.plan.joined;
        writer.registers = &self.registers;
        let (inside, memory) = writer.with_buffers(begins, written);
        let last = writer.code(&self.order.plan.code, inside);
        writer.give_back(last, memory);
        Builder::at_end_like(module, last, like).go(then);
        // What is asked is computed without a look at overflow: parameters that are too large are no case of it.
        let mut first = begins;
        if let Some((small, limits)) = small {
            first = function.append_block(module);
            let builder = Builder::at_end_like(module, first, like);
            let is_small = writer.condition(&builder, &limits.is_small);
            let is_little = match limits.is_little {
                Condition::Constant(true) => is_small,
                ref limit => {
                    // Or no other threads would run some of it.
                    let is_little = writer.condition(&builder, limit);
                    let threads = threads::count(module, &builder, false);
                    let one = Comparison::Integer(IntPredicate::LLVMIntSLE);
                    let is_alone = builder.ask(one, threads, module.const_i64(1));
                    let is_little = builder.binary(Opcode::LLVMOr, is_little, is_alone);
                    builder.and(is_small, is_little)
                }
            };
            builder.go_if(is_little, small, begins);
        }
        if self.order.plan.requires != Condition::Constant(true) {
            let holding = first;
            first = function.append_block(module);
            let builder = Builder::at_end_like(module, first, like);
            let holds = writer.condition(&builder, &self.order.plan.requires);
            builder.go_if(holds, holding, written);
        }
        if !self.order.asked.is_empty() {
            copies.builder.stand_at(like);
            let blocks = [first, written];
            let (asked, is_said) = (&self.order.asked, self.order.is_said);
            first = asked::ask(module, &mut copies, asked, blocks, is_said);
        }
        let builder = Builder::before(module, jump);
        builder.stand_at(like);
        match self.fit(module, &builder, &parameters) {
            Some(fit) => {
                builder.go_if(fit, first, written);
            }
            None => builder.go(first),
        }
        for (nest, closing) in writer.closing.iter().enumerate() {
            let accesses = self.order.accesses.of(&[nest]);
            if !accesses.is_empty() && !closing.is_empty() {
                Instruction::mark_independent(&accesses, closing);
            }
        }
        for one in &writer.closing_joined {
            let mut accesses = self.order.accesses.of(&one.nests);
            if !accesses.is_empty() {
                accesses.retain(|access| !one.taken.contains(access));
                accesses.extend(&one.others);
                Instruction::mark_independent(&accesses, &[one.end]);
            }
        }
        jump.erase();
        let is_of_team = writer.team.is_some();
        let (shared, own) = (writer.shared, writer.own);
        take_out(module, chain);
        function.remove_unreachable_blocks();
        for counter in shared {
            let (counter, combined) = counter;
            match is_of_team {
                true => share_in_team(module, counter),
                false => drop(share(module, counter, combined, &own)),
            }
        }
        for one in &iterations {
            for call in one.function.users().into_iter().filter_map(Value::as_call) {
                call.inline();
            }
            if one.function.is_unused() {
                one.function.erase();
            }
        }
    }

    /// Writes what is run where the chain is small, and then goes on at a block. Returns where it begins, and where that is.
    fn small<'s>(
        &self,
        writer: &mut Writer<'_, 'm>,
        small: &'s Small,
        then: Block<'m>,
    ) -> (Block<'m>, &'s Limits) {
        writer.independent.clone_from(&small.independent);
        let begins = writer.block();
        // No iteration has been handed a buffer or a register so far.
        let last = writer.code(&small.code, begins);
        writer.at(last).go(then);
        (begins, &small.limits)
    }

    /// Whether parameters are so small that the order can be computed, where that is to be asked.
    fn fit(
        &self,
        module: &'m Module,
        builder: &Builder<'m>,
        parameters: &[Value<'m>],
    ) -> Option<Value<'m>> {
        let products = Numbers::of(&self.order.plan).has_products;
        let most = MOST[usize::from(products)];
        let is_large = |value: &&Value<'m>| match value.as_constant_int() {
            Some(number) => number.saturating_abs() >= most,
            None => products || !is_small(**value),
        };
        let below = Comparison::Integer(IntPredicate::LLVMIntULT);
        let asked = parameters.iter().filter(is_large).map(|value| {
            let from_least = builder.plus(*value, most);
            builder.ask(below, from_least, module.const_i64(2 * most))
        });
        asked.reduce(|a, b| builder.and(a, b))
    }
}

/// A copy of loops as they are written that does nothing but count: what their variables are behind them.
fn copy_of_counting<'m>(
    module: &'m Module,
    [first, behind]: [Block<'m>; 2],
    iterations: &[Iteration<'m>],
) -> Block<'m> {
    let mut blocks = vec![first];
    let mut seen = HashSet::from([first, behind]);
    let mut at = 0;
    while at < blocks.len() {
        let next = blocks[at].successors().into_iter();
        blocks.extend(next.filter(|next| seen.insert(*next)));
        at += 1;
    }
    let copies = Block::copies(&blocks);
    for call in copies.iter().flat_map(|copy| copy.instructions()) {
        let Some(call) = call.as_call() else { continue };
        let mut all = iterations.iter();
        if all.any(|one| call.callee_function() == Some(one.function)) || is_marker(call) {
            call.take_out(module);
        }
    }
    copies[0]
}

/// Whether a call only says something of a chain.
fn is_marker(call: Call<'_>) -> bool {
    call.callee_name().starts_with(CHAINS)
}

/// Deletes the calls that say what a chain is.
fn take_out<'m>(module: &'m Module, chain: &Chain<'m>) {
    let nests = chain.nests.iter().flat_map(|one| [one.site, one.end]);
    for call in [chain.site, chain.end].into_iter().chain(nests) {
        call.take_out(module);
    }
}

/// Deletes all calls that say what a chain is: loops run as they are written. True where there were some.
pub fn take_out_all(module: &Module) -> bool {
    let mut functions = module.functions();
    functions.retain(|one| one.name().starts_with(CHAINS));
    for one in &functions {
        for call in one.users().into_iter().filter_map(Value::as_call) {
            call.take_out(module);
        }
        if one.is_unused() && one.is_declaration() {
            one.erase_unused_declaration();
        }
    }
    !functions.is_empty()
}
