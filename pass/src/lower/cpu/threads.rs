//! Blocks of work items on threads: the outer loops of a kernel become a function that OpenMP's run time calls on each of
//! its threads, in the form that clang gives `#pragma omp parallel for schedule(static)`.
//!
//! Loops that stand directly one in the other, and count the same each time, are counted through as one. How many
//! iterations there are is computed in front of them. What a thread writes is its own; of other variables it gets the
//! address, or, where they are optimised away, the value. An exception that is not caught in an iteration ends the program.
//!
//! What cannot be done so stays as it is written, on one thread, which is as right; the user is told why.

use std::collections::{HashMap, HashSet};

use okl_abi::{LoopSchedule, f, openmp};

use crate::analysis::variables::{Does, is_harmless, uses};
use crate::ir::{Counter, ParallelLoop, Region};
use crate::llvm::{
    Block, Builder, Call, Comparison, Function, Instruction, IntPredicate, Linkage, Module, Opcode,
    Type, Value,
};
use crate::lower::runtime_call::declare_openmp;

/// Bytes that blocks of a kernel may have on the stacks of threads.
const MOST_BYTES: u64 = 256 << 10;
/// What the name of the function that threads run ends with, behind that of the kernel.
const SUFFIX: &str = "omp_outlined";
/// How the C++ run time finds out who handles an exception.
const PERSONALITY: &str = "__gxx_personality_v0";
/// Ends the program, for an exception that nobody handles.
const TERMINATE: &str = "_ZSt9terminatev";

/// What becomes of a nest of outer loops.
pub struct Nest<'m> {
    site: Call<'m>,
    how: Result<Shared<'m>, String>,
}

/// Outer loops whose iterations threads share.
struct Shared<'m> {
    /// The outermost first.
    loops: Vec<Counter<'m>>,
}

/// Why something is not done: the end of a sentence.
type Why = String;

fn not<T>(why: &str) -> Result<T, Why> {
    Err(why.to_string())
}

/// What becomes of a loop over blocks of work items, which need so many bytes besides their variables.
pub fn check<'m>(module: &Module, one: &ParallelLoop<'m>, bytes: u64) -> Nest<'m> {
    let counters: Vec<_> = one.counters().cloned().collect();
    let how = shared(&counters).and_then(|shared| {
        let area = Area::of(&shared.loops[0]);
        area.check()?;
        let bytes = bytes.saturating_add(area.own_bytes(module)?);
        match bytes <= MOST_BYTES {
            true => Ok(shared),
            false => Err(format!(
                "a block needs {bytes} bytes on the stack, and threads have room for {MOST_BYTES}"
            )),
        }
    });
    Nest {
        site: one.site,
        how,
    }
}

/// The loops of a nest that threads can share as one: the outermost, and those in it.
fn shared<'m>(counters: &[Counter<'m>]) -> Result<Shared<'m>, Why> {
    let outermost = counters.first().expect("it has a loop");
    let area = Area::of(outermost);
    counts(outermost, &area, false)?;
    let mut loops = vec![outermost.clone()];
    for inner in &counters[1..] {
        let outer = loops.last().expect("it has a loop");
        if !is_alone(outer, inner) || counts(inner, &area, true).is_err() {
            break;
        }
        loops.push(inner.clone());
    }
    Ok(Shared { loops })
}

fn variable<'m>(counter: &Counter<'m>) -> Instruction<'m> {
    let variable = counter.begins.operand(1).as_op(Opcode::LLVMAlloca);
    variable.expect("a loop counts with a stack variable")
}

/// Whether an outer loop does nothing but run an inner one.
fn is_alone<'m>(outer: &Counter<'m>, inner: &Counter<'m>) -> bool {
    let first = outer.body;
    let header = inner.decides.block();
    if inner.begins.block() != first || first.successors() != [header] {
        return false;
    }
    let mut between = vec![first];
    let mut next = inner.exit;
    while next != outer.steps.block() && between.len() < 8 {
        let ends = next.instructions();
        let (last, rest) = ends.split_last().expect("a complete block");
        let is_empty = rest.iter().all(|one| is_harmless(*one));
        let (true, [after]) = (is_empty, &last.block().successors()[..]) else {
            return false;
        };
        between.push(next);
        next = *after;
    }
    let is_known = |block: &Block<'m>| {
        [outer.decides.block(), outer.steps.block()].contains(block)
            || between.contains(block)
            || inner.blocks.contains(block)
    };
    let counts = |one: &Instruction<'m>| {
        let is_counting = *one == inner.begins || is_harmless(*one) || one.only_computes();
        is_counting || one.opcode() == Opcode::LLVMBr
    };
    next == outer.steps.block()
        && outer.blocks.iter().all(is_known)
        && first.instructions().iter().all(counts)
        && stays_in(first, &[first, header])
}

/// Whether what a block computes is used in some blocks only.
fn stays_in<'m>(block: Block<'m>, blocks: &[Block<'m>]) -> bool {
    let users = |one: Instruction<'m>| one.instruction_users().into_iter();
    let mut users = block.instructions().into_iter().flat_map(users);
    users.all(|user| blocks.contains(&user.block()))
}

/// Checks that it can be computed in front of the loops what one of them counts. `is_inner`: it may be that the program
/// does not come to it.
fn counts<'m>(counter: &Counter<'m>, area: &Area<'m>, is_inner: bool) -> Result<(), Why> {
    let counting = &counter.counting;
    let variable = variable(counter);
    let compared = match counting.compared.as_instruction() {
        Some(cast) if matches!(cast.opcode(), Opcode::LLVMSExt | Opcode::LLVMZExt) => {
            cast.operand(0)
        }
        _ => counting.compared,
    };
    let load = compared.as_op(Opcode::LLVMLoad);
    if load.is_none_or(|load| load.operand(0) != *variable) {
        return not("it compares only a part of its iterator");
    }
    let is_simple = |one: &Instruction<'m>| one.only_computes() || one.opcode() == Opcode::LLVMBr;
    let header = counter.decides.block();
    if !header.instructions().iter().all(is_simple) {
        return not("its end is computed by a function");
    }
    let blocks = [header, counter.steps.block()];
    if !blocks.iter().all(|block| stays_in(*block, &[*block])) {
        return not("how it counts is used elsewhere");
    }
    if !is_inner {
        let block = counter.begins.block();
        let instructions = block.instructions().into_iter();
        let mut behind = instructions
            .skip_while(|one| *one != counter.begins)
            .skip(1);
        let is_last = |one: Instruction<'m>| is_harmless(one) || one.opcode() == Opcode::LLVMBr;
        if block.successors() != [header] || !behind.all(is_last) {
            return not(
                "its first value is computed with a condition, or with variables that are destroyed",
            );
        }
    } else {
        area.can_compute(counter.begins.operand(0), true)?;
    }
    if [counter.body, counter.exit]
        .iter()
        .any(|block| block.phis().next().is_some())
    {
        return not("it begins or ends with a value");
    }
    area.can_compute(counting.end, is_inner)?;
    area.can_compute(counting.step, true)
}

/// The code that threads run: a loop, and what is reached from it before the program ends.
struct Area<'m> {
    kernel: Function<'m>,
    header: Block<'m>,
    /// Where control goes in the end.
    exit: Block<'m>,
    blocks: Vec<Block<'m>>,
    /// Those that other code goes to, too: they end the program for an exception.
    others: Vec<Block<'m>>,
    /// As `blocks`.
    known: HashSet<Block<'m>>,
}

/// A stack variable that the code uses, and what it is to it.
struct Variable<'m> {
    variable: Instruction<'m>,
    is: Is,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Is {
    /// Nobody else uses it.
    Own,
    /// The compiler's own, in which nothing goes in or comes out.
    Slot,
    /// The code does not change it.
    Others,
}

impl<'m> Area<'m> {
    fn of(counter: &Counter<'m>) -> Self {
        Self::of_loop(counter.decides.block(), counter.exit)
    }

    fn of_loop(header: Block<'m>, exit: Block<'m>) -> Self {
        let kernel = header.function();
        let loops = kernel.loops().into_iter();
        let mut its = loops.filter(|one| one.header == header);
        let mut blocks = its.next().expect("it is a loop").blocks;
        let members: HashSet<_> = blocks.iter().copied().collect();
        let reach = |mut rest: Vec<Block<'m>>| {
            let mut seen: Vec<Block<'m>> = Vec::new();
            let mut known = HashSet::new();
            while let Some(block) = rest.pop() {
                if !members.contains(&block) && known.insert(block) {
                    seen.push(block);
                    rest.extend(block.successors());
                }
            }
            (seen, known)
        };
        let ends = blocks.iter().flat_map(|block| {
            let next = block.successors().into_iter();
            next.filter(move |next| *block != header || *next != exit)
        });
        let (ends, _) = reach(ends.collect());
        let (_, outside) = reach(vec![kernel.blocks()[0], exit]);
        let (others, own): (Vec<_>, Vec<_>) =
            ends.into_iter().partition(|block| outside.contains(block));
        blocks.extend(own);
        let known = blocks.iter().copied().collect();
        Self {
            kernel,
            header,
            exit,
            blocks,
            others,
            known,
        }
    }

    fn has(&self, one: Instruction<'m>) -> bool {
        self.known.contains(&one.block())
    }

    fn instructions(&self) -> impl Iterator<Item = Instruction<'m>> {
        self.blocks.iter().flat_map(|block| block.instructions())
    }

    /// Checks that a value of the code is the same in front of it. `is_strict`: computing it must do no harm either.
    fn can_compute(&self, value: Value<'m>, is_strict: bool) -> Result<(), Why> {
        let Some(one) = value.as_instruction().filter(|one| self.has(*one)) else {
            return Ok(());
        };
        if !one.only_computes() {
            return not("what it counts is computed with a condition or by a function");
        }
        if let Some(address) = one.address() {
            let variable = address.as_op(Opcode::LLVMAlloca);
            let changes = |user: &Instruction<'m>| {
                user.opcode() == Opcode::LLVMStore && user.operand(1) == address && self.has(*user)
            };
            if variable.is_some_and(|one| one.instruction_users().iter().any(changes)) {
                return not("what it counts changes while it runs");
            }
            if variable.is_none() && is_strict {
                return not("what it counts is not in a variable of the kernel");
            }
        }
        let divides = matches!(
            one.opcode(),
            Opcode::LLVMUDiv | Opcode::LLVMSDiv | Opcode::LLVMURem | Opcode::LLVMSRem
        );
        if divides && is_strict {
            let by = one.operand(1).as_constant_int();
            if by.is_none_or(|by| by == 0 || by == -1) {
                return not("what it counts is divided by what may be 0");
            }
        }
        let mut operands = one.operands().into_iter();
        operands.try_for_each(|operand| self.can_compute(operand, is_strict))
    }

    /// Checks that it can be a function.
    fn check(&self) -> Result<(), Why> {
        for block in &self.blocks {
            let mut users = block.label().users().into_iter();
            if users.any(|user| user.as_instruction().is_none()) {
                return not("the address of a label in it is taken");
            }
            for next in block.successors() {
                if self.others.contains(&next) {
                    only_fails(next)?;
                }
            }
        }
        let has_pads = self.instructions().any(|one| {
            one.opcode() == Opcode::LLVMLandingPad || one.may_throw() && one.as_call().is_some()
        });
        let personality = self.kernel.personality();
        if has_pads && personality.is_some_and(|one| one.name() != PERSONALITY) {
            return not("its exceptions are not those of C++");
        }
        for one in self.instructions() {
            use Opcode::*;
            let name = one
                .as_call()
                .map(|call| call.callee_name())
                .unwrap_or_default();
            let stays = ["llvm.eh.", "llvm.va_start", "llvm.localescape"];
            match one.opcode() {
                LLVMCatchSwitch | LLVMCatchPad | LLVMCleanupPad | LLVMIndirectBr | LLVMCallBr
                | LLVMVAArg => return not("it has code that belongs to its function"),
                _ if name.starts_with("llvm.eh.typeid") => {
                    return not("it catches exceptions of a type");
                }
                _ if stays.iter().any(|one| name.starts_with(one)) => {
                    return not("it has code that belongs to its function");
                }
                _ if one.as_call().is_some_and(|call| call.is_must_tail()) => {
                    return not("it has code that belongs to its function");
                }
                _ => {}
            }
            let is_outside = |user: Instruction<'m>| !self.has(user);
            if one.instruction_users().into_iter().any(is_outside) {
                return not("a value that it computes is used behind it");
            }
            for operand in one.operands() {
                let from = operand.as_instruction().filter(|from| !self.has(*from));
                let crosses = from.is_some() || operand.as_parameter().is_some();
                let ty = operand.ty();
                if crosses && !ty.is_pointer() && ty.bits() != Some(64) {
                    return not("it uses a value from in front of it that is in no variable");
                }
            }
        }
        self.variables().map(|_| ())
    }

    /// The stack variables that it uses, of those that functions have from their beginning.
    fn variables(&self) -> Result<Vec<Variable<'m>>, Why> {
        let entry = self.kernel.blocks()[0].instructions().into_iter();
        let is_fixed = |one: &Instruction<'m>| {
            one.opcode() == Opcode::LLVMAlloca && one.operand(0).as_constant_int().is_some()
        };
        let mut found = Vec::new();
        for variable in entry.filter(is_fixed) {
            let users = variable.instruction_users();
            if !users
                .iter()
                .any(|user| self.has(*user) && !is_harmless(*user))
            {
                continue;
            }
            let is_outside = |user: &Instruction<'m>| {
                let begins = user.opcode() == Opcode::LLVMStore && self.begins(*user, variable);
                !self.has(*user) && !is_harmless(*user) && !begins
            };
            let is = match users.iter().any(is_outside) {
                false => Is::Own,
                true if !self.writes(variable) => Is::Others,
                true if is_slot(variable) && !self.goes_on_with(variable) => Is::Slot,
                true => return not("it changes a variable from outside of it"),
            };
            found.push(Variable { variable, is });
        }
        Ok(found)
    }

    /// Whether a store gives the iterator of the loop its first value.
    fn begins(&self, store: Instruction<'m>, variable: Instruction<'m>) -> bool {
        let is_asked = self
            .header
            .instructions()
            .into_iter()
            .any(|one| one.opcode() == Opcode::LLVMLoad && one.operand(0) == *variable);
        is_asked
            && store.operand(1) == *variable
            && store.block().successors() == [self.header]
            && self.steps(variable)
    }

    /// Whether the loop counts with a variable.
    fn steps(&self, variable: Instruction<'m>) -> bool {
        let mut users = variable.instruction_users().into_iter();
        users.any(|user| {
            user.opcode() == Opcode::LLVMStore
                && user.operand(1) == *variable
                && user.block().successors() == [self.header]
                && self.has(user)
        })
    }

    /// Whether the loop itself writes a variable; what is destroyed for an exception may be another's.
    fn writes(&self, variable: Instruction<'m>) -> bool {
        let uses = uses(variable).into_iter();
        let mut writes = uses.filter(|(one, does)| *does != Does::Read && self.has(*one));
        writes.any(|(one, does)| does == Does::Write || !self.is_end(one.block()))
    }

    /// Whether the program does not go on behind a block.
    fn is_end(&self, block: Block<'m>) -> bool {
        let mut rest = vec![block];
        let mut seen = HashSet::from([block]);
        while let Some(block) = rest.pop() {
            if block == self.header {
                return false;
            }
            rest.extend(
                block
                    .successors()
                    .into_iter()
                    .filter(|next| seen.insert(*next)),
            );
        }
        true
    }

    /// Whether the value that a variable has in front of the loop, or behind it, may be used on the other side.
    fn goes_on_with(&self, variable: Instruction<'m>) -> bool {
        let reads = |from: Block<'m>| {
            let mut rest = vec![from];
            let mut seen = HashSet::from([from]);
            while let Some(block) = rest.pop() {
                let instructions = block.instructions().into_iter();
                let mut uses = instructions.filter(|one| one.operands().contains(&variable));
                match uses.next().map(Instruction::opcode) {
                    Some(Opcode::LLVMLoad) => return true,
                    Some(Opcode::LLVMStore) => {}
                    _ => {
                        let next = block.successors().into_iter();
                        rest.extend(next.filter(|next| seen.insert(*next)));
                    }
                }
            }
            false
        };
        reads(self.header) || reads(self.exit)
    }

    /// Bytes of the variables that each thread has.
    fn own_bytes(&self, module: &Module) -> Result<u64, Why> {
        let variables = self.variables()?.into_iter();
        let own = variables.filter(|one| one.is != Is::Others);
        let bytes = own.filter_map(|one| {
            let count = one.variable.operand(0).as_constant_int()?;
            let size = module.size_of(one.variable.allocated_type()?);
            Some(size.saturating_mul(u64::try_from(count).unwrap_or(u64::MAX)))
        });
        Ok(bytes.fold(0, u64::saturating_add))
    }
}

/// Whether a variable is the compiler's own: where a scope goes on, or the exception for which it is left.
fn is_slot(variable: Instruction<'_>) -> bool {
    variable
        .instruction_users()
        .into_iter()
        .all(|user| match user.opcode() {
            Opcode::LLVMLoad => true,
            Opcode::LLVMStore => {
                let value = user.operand(0);
                let is_part = value.as_op(Opcode::LLVMExtractValue).is_some();
                value != *variable && (is_part || value.as_constant_int().is_some())
            }
            _ => is_harmless(user),
        })
}

/// Checks that a block that others come to, too, does nothing but leave the function by an exception.
fn only_fails(block: Block<'_>) -> Result<(), Why> {
    if block.phis().next().is_some() {
        return not("it is left with a value");
    }
    if is_pad(block) {
        return Ok(());
    }
    let mut rest = vec![block];
    let mut seen = HashSet::from([block]);
    while let Some(block) = rest.pop() {
        let end = block.terminator().map(Instruction::opcode);
        let next = block.successors();
        if next.is_empty() && end != Some(Opcode::LLVMResume) {
            return not("it is left by a jump");
        }
        let unwinds = |next: &Block<'_>| is_pad(*next);
        rest.extend(
            next.into_iter()
                .filter(|next| !unwinds(next) && seen.insert(*next)),
        );
    }
    Ok(())
}

/// Whether exceptions come to a block.
fn is_pad(block: Block<'_>) -> bool {
    let first = block
        .first_insertion_point()
        .and_then(Instruction::previous);
    first.is_some_and(|one| one.opcode() == Opcode::LLVMLandingPad)
}

impl<'m> Nest<'m> {
    /// Tells the user what becomes of it.
    pub fn remark(&self) {
        let site = self.site.instruction();
        match &self.how {
            Ok(shared) => {
                let loops = match shared.loops.len() {
                    1 => String::new(),
                    count => format!("; {count} loops are counted through as one"),
                };
                let told = format!("threads share the blocks of this @outer loop{loops}");
                site.remark("Threads", &told, false);
            }
            Err(why) => {
                let told = format!("the blocks of this @outer loop run on one thread: {why}");
                site.remark("Threads", &told, true);
            }
        }
    }

    /// Whether both are about one loop.
    pub fn is_same(&self, other: &Self) -> bool {
        self.site == other.site
    }

    /// Has threads share it, once all that only says what the code is is gone.
    pub fn emit(&self, module: &'m Module) {
        if let Ok(shared) = &self.how {
            shared.emit(module);
        }
    }
}

/// What is computed of a loop in front of it, as integers of 64 bits.
struct Counted<'m> {
    variable: Instruction<'m>,
    first: Value<'m>,
    step: Value<'m>,
    count: Value<'m>,
}

/// Code of the loops that is computed in front of them.
struct Copies<'m> {
    builder: Builder<'m>,
    known: HashSet<Block<'m>>,
    copies: HashMap<Value<'m>, Value<'m>>,
}

impl<'m> Copies<'m> {
    fn value(&mut self, value: Value<'m>) -> Value<'m> {
        let inside = value.as_instruction();
        let Some(one) = inside.filter(|one| self.known.contains(&one.block())) else {
            return value;
        };
        if let Some(&copy) = self.copies.get(&value) {
            return copy;
        }
        let operands: Vec<_> = one
            .operands()
            .into_iter()
            .map(|one| self.value(one))
            .collect();
        let copy = self.builder.copy_of(one, &operands);
        self.copies.insert(value, copy);
        copy
    }

    /// How often a loop runs, exactly as it would find out itself.
    fn counted(&mut self, module: &'m Module, counter: &Counter<'m>) -> Counted<'m> {
        let counting = &counter.counting;
        let long = module.int(64);
        let first = self.value(counter.begins.operand(0));
        let end = self.value(counting.end);
        let narrow = first.ty();
        let step = match counting.step.as_constant_int() {
            Some(by) => {
                let bits = narrow.bits().expect("an integer");
                let mask = u64::MAX >> (64 - bits);
                module.const_i64(((by.unsigned_abs() & mask) as i64).max(1))
            }
            None => {
                let by = self.value(counting.step);
                let builder = &self.builder;
                let by = builder.int_cast(builder.int_cast(by, narrow), long);
                // A step of 0 has no meaning, and is to do no harm here.
                let is_zero = builder.compare(by, module.const_i64(0), false);
                builder.select(is_zero, module.const_i64(1), by)
            }
        };
        let builder = &self.builder;
        let compared = match counting.compared.as_instruction() {
            Some(cast) if cast.opcode() != Opcode::LLVMLoad => {
                builder.cast(cast.opcode(), first, end.ty())
            }
            _ => first,
        };
        use IntPredicate::*;
        let predicate = match (counting.is_up, counting.is_last, counting.signed) {
            (true, false, true) => LLVMIntSLT,
            (true, true, true) => LLVMIntSLE,
            (true, false, false) => LLVMIntULT,
            (true, true, false) => LLVMIntULE,
            (false, false, true) => LLVMIntSGT,
            (false, true, true) => LLVMIntSGE,
            (false, false, false) => LLVMIntUGT,
            (false, true, false) => LLVMIntUGE,
        };
        let is_some = builder.ask(Comparison::Integer(predicate), compared, end);
        let distance = match counting.is_up {
            true => builder.difference(end, compared),
            false => builder.difference(compared, end),
        };
        let distance = builder.int_cast(distance, long);
        let distance = match counting.is_last {
            true => distance,
            false => builder.plus(distance, -1),
        };
        let last = builder.binary(Opcode::LLVMUDiv, distance, step);
        let count = builder.plus(last, 1);
        Counted {
            variable: variable(counter),
            first: builder.int_cast(first, long),
            step,
            count: builder.select(is_some, count, module.const_i64(0)),
        }
    }
}

/// The variables of a thread's part of a loop, of which each thread has its own, but for the first two.
struct Places<'m> {
    /// What the run time calls the thread, and what it is bound to.
    thread: Value<'m>,
    bound: Value<'m>,
    is_last: Value<'m>,
    lower: Value<'m>,
    upper: Value<'m>,
    stride: Value<'m>,
    /// Of the iteration that runs, of all loops.
    number: Value<'m>,
}

impl<'m> Places<'m> {
    fn of(module: &'m Module, kernel: Function<'m>) -> Self {
        let entry = Builder::at_entry(module, kernel);
        let [short, long] = [32, 64].map(|bits| module.int(bits));
        let [thread, bound, is_last] = [(); 3].map(|()| entry.alloca(short, 4));
        let [lower, upper, stride, number] = [(); 4].map(|()| entry.alloca(long, 8));
        Self {
            thread,
            bound,
            is_last,
            lower,
            upper,
            stride,
            number,
        }
    }
}

impl<'m> Shared<'m> {
    fn outermost(&self) -> &Counter<'m> {
        &self.loops[0]
    }

    fn emit(&self, module: &'m Module) {
        let outermost = self.outermost();
        let kernel = outermost.decides.function();
        let places = Places::of(module, kernel);
        let mut copies = Copies {
            builder: Builder::before(module, outermost.begins),
            known: Area::of(outermost).known,
            copies: HashMap::new(),
        };
        let counted = self.loops.iter().map(|one| copies.counted(module, one));
        let counted: Vec<_> = counted.collect();
        let builder = copies.builder;
        // Without iterations of one loop there are none of all. What does not fit into 64 bits nobody lives to see.
        let counts = counted.iter().map(|one| one.count);
        let product = |a, b| builder.binary(Opcode::LLVMMul, a, b);
        let count = counts.reduce(product).expect("it has a loop");
        let last = builder.plus(count, -1);
        let asks = declare_openmp(module, &f::okl_mpi_kmpc_global_thread_num);
        let thread = builder.call(asks, &[ident(module, PLAIN)]);
        let like = thread.as_instruction().expect("a call");

        let (area, first) = self.part(module, &places, &counted, [count, last], like);
        let body = outline(module, area, &places, first);
        let call = body.users().first().and_then(|user| user.as_call());
        let call = call.expect("it is called once").instruction();
        let several = |builder: &Builder<'m>| {
            let is_more = Comparison::Integer(IntPredicate::LLVMIntSGE);
            builder.ask(is_more, count, module.const_i64(2))
        };
        fork(module, call, &places, thread, several);
    }

    /// Makes the loops one loop over a thread's part of their iterations. With the first instruction that reads no
    /// parameter.
    fn part(
        &self,
        module: &'m Module,
        places: &Places<'m>,
        counted: &[Counted<'m>],
        [count, last]: [Value<'m>; 2],
        like: Instruction<'m>,
    ) -> (Area<'m>, Instruction<'m>) {
        let outermost = self.outermost();
        let header = outermost.decides.block();
        let kernel = header.function();
        let long = module.int(64);
        let [zero, one] = [0, 1].map(|number| module.const_i64(number));
        let start = outermost.begins.split_before();
        let [some, inside, end, done] = [(); 4].map(|()| kernel.append_block(module));
        let at = |block| Builder::at_end_like(module, block, like);

        start.terminator().expect("a complete block").erase();
        outermost.begins.erase();
        let builder = match start.instructions().first() {
            Some(first) => Builder::before(module, *first),
            None => at(start),
        };
        builder.stand_at(like);
        // In this order they are the parameters of the function that it becomes.
        let thread = builder.load(module.int(32), places.thread);
        builder.load(module.int(32), places.bound);
        let builder = at(start);
        builder.store(zero, places.lower);
        builder.store(last, places.upper);
        builder.store(one, places.stride);
        builder.store(module.const_i32(0), places.is_last);
        let less = Comparison::Integer(IntPredicate::LLVMIntSLT);
        builder.go_if(builder.ask(less, zero, count), some, done);
        let first = start.instructions()[2];

        let builder = at(some);
        let worksharing = ident(module, LOOP);
        let init = declare_openmp(module, &f::okl_mpi_kmpc_for_static_init_8);
        let schedule = module.const_i32(LoopSchedule::STATIC);
        let Places {
            is_last,
            lower,
            upper,
            stride,
            number,
            ..
        } = *places;
        let its = [is_last, lower, upper, stride];
        let arguments = [worksharing, thread, schedule].into_iter().chain(its);
        let arguments: Vec<_> = arguments.chain([one, one]).collect();
        builder.call(init, &arguments);
        let until = builder.load(long, upper);
        let more = Comparison::Integer(IntPredicate::LLVMIntSGT);
        let until = builder.select(builder.ask(more, until, last), last, until);
        builder.store(until, upper);
        builder.store(builder.load(long, lower), number);
        builder.go(header);

        outermost.decides.always_branch(module, true);
        empty(header);
        let builder = Builder::before(module, outermost.decides);
        let up_to = Comparison::Integer(IntPredicate::LLVMIntSLE);
        let [here, until] = [number, upper].map(|one| builder.load(long, one));
        let goes_on = builder.ask(up_to, here, until);
        outermost.decides.set_branch_condition(goes_on);
        header.turn(outermost.body, inside);
        header.turn(outermost.exit, end);

        let builder = at(inside);
        let mut rest = builder.load(long, number);
        let loops = self.loops.iter().zip(counted).enumerate().rev();
        for (depth, (counter, counted)) in loops {
            let mut own = rest;
            if depth > 0 {
                own = builder.binary(Opcode::LLVMURem, rest, counted.count);
                rest = builder.binary(Opcode::LLVMUDiv, rest, counted.count);
            }
            let by = builder.binary(Opcode::LLVMMul, own, counted.step);
            let value = match counter.counting.is_up {
                true => builder.sum(counted.first, by),
                false => builder.difference(counted.first, by),
            };
            let variable = counted.variable;
            let ty = variable.allocated_type().expect("a stack variable");
            builder.store(builder.int_cast(value, ty), *variable);
        }
        builder.go(self.loops.last().expect("it has a loop").body);

        let steps = outermost.steps.block();
        for inner in &self.loops[1..] {
            let block = inner.steps.block();
            empty(block);
            block.turn(inner.decides.block(), steps);
        }
        empty(steps);
        let builder = Builder::before(module, steps.terminator().expect("a complete block"));
        builder.stand_at(like);
        builder.store(builder.plus(builder.load(long, number), 1), number);

        let builder = at(end);
        let fini = declare_openmp(module, &f::okl_mpi_kmpc_for_static_fini);
        builder.call(fini, &[worksharing, thread]);
        builder.go(done);
        at(done).go(outermost.exit);
        kernel.remove_unreachable_blocks();
        let mut area = Area::of_loop(header, end);
        let blocks = [start, some].into_iter().chain(area.blocks);
        area.blocks = blocks.chain([end, done]).collect();
        area.known = area.blocks.iter().copied().collect();
        (area, first)
    }
}

/// Deletes what a block does but for where it goes.
fn empty(block: Block<'_>) {
    for one in block.instructions().into_iter().rev().skip(1) {
        one.erase();
    }
}

/// Makes a function of the code. `first` stands behind what is to become its first parameters.
fn outline<'m>(
    module: &'m Module,
    area: Area<'m>,
    places: &Places<'m>,
    first: Instruction<'m>,
) -> Function<'m> {
    let mut own = Vec::new();
    for Variable { variable, is } in area.variables().expect("it was looked at before") {
        match is {
            _ if [places.thread, places.bound].contains(&variable) => {}
            Is::Own => {
                for user in variable.instruction_users() {
                    if !area.has(user) {
                        user.erase();
                    }
                }
                variable.move_debug_records(&area.blocks, first);
                own.push(variable);
            }
            Is::Slot => own.push(area.instead(module, variable)),
            Is::Others => own.extend(area.value_of(module, variable, first)),
        }
    }
    let mut blocks = area.blocks;
    keep_exceptions(module, area.kernel, &mut blocks);
    for variable in &own {
        variable.move_before(first);
    }
    let body = Block::extract(&blocks, SUFFIX).expect("it was looked at before");
    let entry = body.blocks()[0].terminator().expect("a complete block");
    for variable in own {
        variable.move_before(entry);
    }
    body.set_attribute(module, "nounwind");
    body
}

impl<'m> Area<'m> {
    /// A variable that it uses instead of another one.
    fn instead(&self, module: &'m Module, variable: Instruction<'m>) -> Instruction<'m> {
        let ty = variable.allocated_type().expect("a stack variable");
        let entry = Builder::at_entry(module, self.kernel);
        let new = entry.alloca(ty, variable.stack_alignment());
        variable.replace_uses_if(new, |one| {
            let user = one.user().as_instruction();
            user.is_some_and(|user| self.has(user))
        });
        new.as_instruction().expect("a stack variable")
    }

    /// Of a variable that it only reads, as anybody does: one with its value, where nobody looks at variables.
    fn value_of(
        &self,
        module: &'m Module,
        variable: Instruction<'m>,
        first: Instruction<'m>,
    ) -> Option<Instruction<'m>> {
        let ty = variable.allocated_type()?;
        let is_small =
            ty.is_pointer() || ty.is_float_or_double() || ty.bits().is_some_and(|bits| bits <= 64);
        let is_plain = |user: Instruction<'m>| match user.opcode() {
            Opcode::LLVMLoad => user.is_plain_access() && user.ty() == ty,
            Opcode::LLVMStore => user.operand(0) != *variable,
            _ => is_harmless(user) && !self.has(user),
        };
        let users = variable.instruction_users();
        if !is_small || !users.into_iter().all(is_plain) || self.kernel.has_attribute("optnone") {
            return None;
        }
        let front = self.blocks[0].predecessors()[0].terminator()?;
        let builder = Builder::before(module, front);
        let value = builder.load(ty, *variable);
        let passed = match ty.is_pointer() {
            true => value,
            false => builder.bits_of(value, 64),
        };
        let new = self.instead(module, variable);
        let builder = Builder::before(module, first);
        let value = match ty.is_pointer() {
            true => passed,
            false => builder.value_of_bits(passed, ty),
        };
        builder.store(value, *new);
        Some(new)
    }
}

/// Has the program end for an exception that would leave blocks.
fn keep_exceptions<'m>(module: &'m Module, kernel: Function<'m>, blocks: &mut Vec<Block<'m>>) {
    let known: HashSet<_> = blocks.iter().copied().collect();
    let throws = !kernel.has_attribute("nounwind");
    let all: Vec<_> = blocks
        .iter()
        .flat_map(|block| block.instructions())
        .collect();
    let ends = |builder: &Builder<'m>| {
        let ty = module.function_type(module.void(), &[]);
        builder.call(external(module, TERMINATE, ty), &[]);
        builder.unreachable();
    };
    let ends_for = |builder: &Builder<'m>, thrown: Value<'m>| {
        let ty = module.function_type(module.pointer(), &[module.pointer()]);
        builder.call(external(module, "__cxa_begin_catch", ty), &[thrown]);
        ends(builder);
    };
    // Where exceptions come to that nothing in the blocks handles.
    let mut pad = None;
    let mut added = Vec::new();
    let mut pad_like = |like: Instruction<'m>, added: &mut Vec<Block<'m>>| {
        *pad.get_or_insert_with(|| {
            if kernel.personality().is_none() {
                let ty = module.variadic_type(module.int(32), &[]);
                kernel.set_personality(external(module, PERSONALITY, ty));
            }
            let block = kernel.append_block(module);
            let builder = Builder::at_end_like(module, block, like);
            let thrown = builder.caught();
            ends_for(&builder, thrown);
            added.push(block);
            block
        })
    };
    for one in all {
        match one.opcode() {
            Opcode::LLVMCall if throws && one.may_throw() => {
                let pad = pad_like(one, &mut added);
                added.push(one.as_call().expect("a call").unwind_to(pad));
            }
            Opcode::LLVMLandingPad => one.catch_all(module),
            Opcode::LLVMResume => {
                let builder = Builder::before(module, one);
                let thrown = builder.extract(one.operand(0), 0);
                ends_for(&builder, thrown);
                one.erase();
            }
            Opcode::LLVMInvoke | Opcode::LLVMBr | Opcode::LLVMSwitch => {
                let block = one.block();
                // The last block goes on behind the loop.
                let is_left =
                    |next: &Block<'m>| !known.contains(next) && Some(&block) != blocks.last();
                for next in block.successors().into_iter().filter(is_left) {
                    // Calls in the block that are above may have been split from it.
                    if added.contains(&next) {
                        continue;
                    }
                    let instead = match is_pad(next) {
                        true => pad_like(one, &mut added),
                        false => {
                            let new = kernel.append_block(module);
                            ends(&Builder::at_end_like(module, new, one));
                            added.push(new);
                            new
                        }
                    };
                    block.turn(next, instead);
                }
            }
            _ => {}
        }
    }
    blocks.extend(added);
}

/// A function of another library.
fn external<'m>(module: &'m Module, name: &str, ty: Type<'m>) -> Function<'m> {
    let add = || module.add_function(name, ty, Linkage::LLVMExternalLinkage);
    module.function(name).unwrap_or_else(add)
}

/// Has all threads run what a call runs, where there is something for several, and else this thread.
fn fork<'m>(
    module: &'m Module,
    call: Instruction<'m>,
    places: &Places<'m>,
    thread: Value<'m>,
    several: impl FnOnce(&Builder<'m>) -> Value<'m>,
) {
    let kernel = call.function();
    let like = thread.as_instruction().expect("a call");
    let before = call.block();
    let serial = call.split_before();
    let jump = serial.terminator().expect("a complete block");
    let after = serial.successors()[0];
    let arguments = call.as_call().expect("it is one");
    let body = arguments.callee();
    let captures: Vec<_> = arguments
        .arguments()
        .into_iter()
        .skip(Region::LEADING)
        .collect();
    let source = ident(module, PLAIN);

    let forks = kernel.append_block(module);
    let builder = Builder::at_end_like(module, forks, like);
    let count = module.const_i32(captures.len() as i32);
    let passed: Vec<_> = [source, count, body].into_iter().chain(captures).collect();
    builder.call(
        declare_openmp(module, &openmp::f::__kmpc_fork_call),
        &passed,
    );
    builder.go(after);

    let begins = declare_openmp(module, &f::okl_mpi_kmpc_serialized_parallel);
    let ends = declare_openmp(module, &f::okl_mpi_kmpc_end_serialized_parallel);
    let builder = Builder::before(module, call);
    builder.stand_at(like);
    builder.call(begins, &[source, thread]);
    builder.store(thread, places.thread);
    builder.store(module.const_i32(0), places.bound);
    let builder = Builder::before(module, jump);
    builder.stand_at(like);
    builder.call(ends, &[source, thread]);

    before.terminator().expect("a complete block").erase();
    let builder = Builder::at_end_like(module, before, like);
    builder.go_if(several(&builder), forks, serial);
}

/// What OpenMP's run time is told of the source: `KMP_IDENT_KMPC`, and for a loop `KMP_IDENT_WORK_LOOP`.
pub const PLAIN: i32 = 2;
const LOOP: i32 = 2 | 0x200;

/// A place in the source, which is not told.
pub fn ident(module: &Module, flags: i32) -> Value<'_> {
    const UNKNOWN: &str = ";unknown;unknown;0;0;;";
    let name = format!("okl.ident.{flags}");
    if let Some(known) = module.global(&name) {
        return *known;
    }
    let text = module.global("okl.source");
    let text = text.unwrap_or_else(|| module.add_text("okl.source", UNKNOWN));
    let [zero, flags, size] = [0, flags, UNKNOWN.len() as i32].map(|one| module.const_i32(one));
    let value = module.const_struct(&[zero, flags, zero, size, *text]);
    let ident = module.add_constant(&name, value);
    ident.set_alignment(8);
    *ident
}
