//! Blocks of work items on threads: the outer loops of a kernel become a function that OpenMP's run time calls on each of
//! its threads, in the form that clang gives `#pragma omp parallel for schedule(static)`.
//!
//! Loops that stand directly one in the other, and count the same each time, are counted through as one. How many
//! iterations there are is computed in front of them. What a thread writes is its own; of other variables it gets the
//! address, or, where they are optimised away, the value. An exception that is not caught in an iteration ends the program.
//!
//! What cannot be done so stays as it is written, on one thread, which is as right; the user is told why.

pub(in crate::lower) mod area;
mod combined;
mod outline;

use okl_abi::{LoopSchedule, f};

use crate::analysis::variables::is_harmless;
use crate::diagnostic::{Declined, Site};
use crate::ir::{Counter, ParallelLoop};
use crate::llvm::{
    Block, Builder, Call, Comparison, Function, Instruction, IntPredicate, Module, Opcode, Value,
};
use crate::lower::cpu::counted::{Copies, Counted, compares_whole, variable};
use crate::lower::runtime_call::declare_openmp;
use crate::marks::ON_DEVICE;

use area::{Area, is_read_from, is_slot};
pub use combined::{Combined, can_combine};
pub use outline::{LOOP, PLAIN, ident};
use outline::{fork, outline};

/// Bytes that blocks of a kernel may have on the stacks of threads.
const MOST_BYTES: u64 = 256 << 10;
/// What becomes of a nest of outer loops.
pub struct Nest<'m> {
    site: Call<'m>,
    how: Result<Shared<'m>, String>,
}

/// Outer loops whose iterations threads share.
struct Shared<'m> {
    /// The outermost first.
    loops: Vec<Counter<'m>>,
    /// Whether they are those of a kernel, of which a variable is a thread's own or is not changed. Threads share all
    /// variables of other loops but those that these count with.
    is_kernel: bool,
    /// What threads combine behind them.
    combined: Vec<Combined<'m>>,
}

/// Why something is not done: the end of a sentence.
pub(in crate::lower) type Why = String;

pub(in crate::lower) fn not<T>(why: &str) -> Result<T, Why> {
    Err(why.to_string())
}

/// What becomes of loops over blocks of work items, which need so many bytes besides their variables. Several may be of
/// one outermost loop. At most so many loops one in the other are counted through as one.
pub fn check<'m>(
    module: &Module,
    blocks: &[(ParallelLoop<'m>, u64)],
    most_loops: usize,
) -> Vec<Nest<'m>> {
    let mut nests: Vec<Nest<'m>> = Vec::new();
    for (one, _) in blocks {
        if nests.iter().any(|nest| nest.site == one.site) {
            continue;
        }
        let of_it = blocks.iter().filter(|(other, _)| other.site == one.site);
        let bytes = of_it.fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
        nests.push(nest(module, one, bytes, most_loops));
    }
    nests
}

fn nest<'m>(module: &Module, one: &ParallelLoop<'m>, bytes: u64, most_loops: usize) -> Nest<'m> {
    let counters: Vec<_> = one.counters().take(most_loops).cloned().collect();
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

/// The loops over blocks that count the same whatever runs before, and do nothing but count: the outermost, and those in it.
/// Their code is a function of variables that it only reads.
pub(in crate::lower) fn grid<'m>(one: &ParallelLoop<'m>) -> Result<Vec<Counter<'m>>, Why> {
    let counters: Vec<_> = one.counters().cloned().collect();
    let shared = shared(&counters)?;
    Area::of(&shared.loops[0]).check()?;
    Ok(shared.loops)
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
    Ok(Shared {
        loops,
        is_kernel: true,
        combined: Vec::new(),
    })
}

/// Has OpenMP's threads share a loop that was written for that: its iterations may run at the same time, what it computes its
/// numbers from is there in front of it, and of the code around it uses addresses and numbers of 64 bits. What they combine is
/// written into variables of its own by each, and each has its own of the variables `own`. Returns the function that each of
/// them runs.
pub(in crate::lower) fn share<'m>(
    module: &'m Module,
    counter: Counter<'m>,
    combined: Vec<Combined<'m>>,
    own: &[Instruction<'m>],
) -> Function<'m> {
    let shared = Shared {
        loops: vec![counter],
        is_kernel: false,
        combined,
    };
    shared.emit(module, None, own).body
}

/// The same of a loop whose iterations the threads of a region around share, each of which runs all of the code. They do not
/// wait for each other behind it.
pub(in crate::lower) fn share_in_team<'m>(module: &'m Module, counter: Counter<'m>) {
    let shared = Shared {
        loops: vec![counter],
        is_kernel: false,
        combined: Vec::new(),
    };
    shared.emit_in_team(module);
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
        // The compiler notes there how a scope is left.
        let notes = |one: Instruction<'m>| {
            let stored = one.opcode() == Opcode::LLVMStore && one.is_plain_access();
            let slot = stored.then(|| one.operand(1).as_op(Opcode::LLVMAlloca));
            let slot = slot.flatten().filter(|slot| is_slot(*slot));
            slot.is_some_and(|slot| !is_read_from(slot, outer.steps.block()))
        };
        let is_empty = rest.iter().all(|one| is_harmless(*one) || notes(*one));
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
    if !compares_whole(counter) {
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

    /// What is to be said of it where ranks should share it, and cannot.
    pub fn alone(&self) -> Option<Declined<'m>> {
        let why = self.how.as_ref().err()?;
        Some(Declined {
            site: Site::Instruction(self.site.instruction()),
            reason: format!("the blocks of this @outer loop run on rank 0: {why}"),
        })
    }

    /// Has threads share it, once all that only says what the code is is gone. What a thread has of some loops is launched on
    /// a device.
    pub fn emit(
        &self,
        module: &'m Module,
        launches: &[(Call<'m>, Launch<'m>)],
    ) -> Option<Outlined<'m>> {
        let launch = launches.iter().find(|(site, _)| *site == self.site);
        let launch = launch.map(|(_, launch)| launch);
        let shared = self.how.as_ref().ok()?;
        let outlined = shared.emit(module, launch, &[]);
        if launch.is_some() {
            ON_DEVICE.put_on(module, outlined.body);
        }
        Some(outlined)
    }
}

/// What launches a thread's part of a loop on a device.
pub struct Launch<'m> {
    /// A function of the number of the first iteration and how many there are, and of the values: not 0 where it ran there.
    pub function: Function<'m>,
    /// Numbers of 64 bits, from in front of the loop.
    pub values: Vec<Value<'m>>,
}

/// What threads share.
pub struct Outlined<'m> {
    /// The kernel that it is of.
    pub kernel: Function<'m>,
    /// What each of them runs.
    pub body: Function<'m>,
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
    /// The addresses of what it combines with what others have.
    list: Option<Value<'m>>,
}

impl<'m> Places<'m> {
    fn of(module: &'m Module, kernel: Function<'m>, combined: usize) -> Self {
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
            list: (combined > 0).then(|| {
                let ty = module.array(module.pointer(), combined as u64);
                entry.alloca(ty, 8)
            }),
        }
    }
}

impl<'m> Places<'m> {
    /// Those that are each thread's own.
    fn own(&self) -> impl Iterator<Item = Instruction<'m>> + use<'m> {
        let its = [
            self.is_last,
            self.lower,
            self.upper,
            self.stride,
            self.number,
        ];
        let its = its.into_iter().chain(self.list);
        its.filter_map(|one| one.as_instruction())
    }
}

impl<'m> Shared<'m> {
    fn outermost(&self) -> &Counter<'m> {
        &self.loops[0]
    }

    fn emit(
        &self,
        module: &'m Module,
        launch: Option<&Launch<'m>>,
        own: &[Instruction<'m>],
    ) -> Outlined<'m> {
        let kernel = self.outermost().decides.function();
        let places = Places::of(module, kernel, self.combined.len());
        let (counted, [count, last], thread) = self.counted(module);
        let like = thread.as_instruction().expect("a call");

        let (area, first) = self.part(module, &places, &counted, [count, last], launch, like);
        let own = (!self.is_kernel).then(|| {
            let counts = counted.iter().map(|one| one.variable);
            let combined = self.combined.iter().map(|one| one.own);
            let own = own.iter().copied();
            let counts = counts.chain(combined).chain(places.own());
            counts.chain(own).collect::<Vec<_>>()
        });
        let body = outline(module, area, &places, first, own.as_deref());
        let call = body.users().first().and_then(|user| user.as_call());
        let call = call.expect("it is called once").instruction();
        let several = |builder: &Builder<'m>| {
            let is_more = Comparison::Integer(IntPredicate::LLVMIntSGE);
            builder.ask(is_more, count, module.const_i64(2))
        };
        fork(module, call, &places, thread, several);
        Outlined { kernel, body }
    }

    /// How the loops count, how many iterations that are and the number of the last one, and the thread, in front of them.
    fn counted(&self, module: &'m Module) -> (Vec<Counted<'m>>, [Value<'m>; 2], Value<'m>) {
        let outermost = self.outermost();
        let known = Area::of(outermost).known;
        let mut copies = Copies::before(module, outermost.begins, known);
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
        (counted, [count, last], thread)
    }

    /// Has the threads of a region around share the loops, where they are.
    fn emit_in_team(&self, module: &'m Module) {
        let function = self.outermost().decides.function();
        let places = Places::of(module, function, 0);
        let (counted, ends, thread) = self.counted(module);
        let like = thread.as_instruction().expect("a call");
        let builder = Builder::before(module, self.outermost().begins);
        builder.stand_at(like);
        builder.store(thread, places.thread);
        builder.store(module.const_i32(0), places.bound);
        self.part(module, &places, &counted, ends, None, like);
    }

    /// Makes the loops one loop over a thread's part of their iterations. With the first instruction that reads no
    /// parameter.
    fn part(
        &self,
        module: &'m Module,
        places: &Places<'m>,
        counted: &[Counted<'m>],
        [count, last]: [Value<'m>; 2],
        launch: Option<&Launch<'m>>,
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
        self.combined.iter().for_each(|one| one.begin(&builder));
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
        let from = builder.load(long, lower);
        builder.store(from, number);
        let launches = launch.map(|_| kernel.append_block(module));
        match launch.zip(launches) {
            None => builder.go(header),
            Some((launch, block)) => {
                builder.go_if(builder.ask(more, from, until), header, block);
                let builder = at(block);
                let count = builder.plus(builder.difference(until, from), 1);
                let values = launch.values.iter().copied();
                let values: Vec<_> = [from, count].into_iter().chain(values).collect();
                let ran = builder.call(launch.function, &values);
                let is_done = builder.compare(ran, module.const_i32(0), true);
                builder.go_if(is_done, end, header);
            }
        }

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
            if counted.is_narrow {
                promise_no_wrap([by, value]);
            }
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
        let next = builder.plus(builder.load(long, number), 1);
        promise_no_wrap([next]);
        builder.store(next, number);

        let builder = at(end);
        let fini = declare_openmp(module, &f::okl_mpi_kmpc_for_static_fini);
        builder.call(fini, &[worksharing, thread]);
        let turns = match places.list {
            Some(list) => combined::end(&builder, &self.combined, list, thread, done).to_vec(),
            None => {
                builder.go(done);
                Vec::new()
            }
        };
        at(done).go(outermost.exit);
        for inner in &self.loops[1..] {
            let first = inside.instructions()[0];
            variable(inner).move_debug_records(&[], first);
        }
        kernel.remove_unreachable_blocks();
        let mut area = Area::of_loop(header, end);
        let blocks = [start, some].into_iter().chain(launches).chain(area.blocks);
        area.blocks = blocks.chain([end]).chain(turns).chain([done]).collect();
        area.known = area.blocks.iter().copied().collect();
        (area, first)
    }
}

/// Says of sums, differences and products that they do not overflow as numbers with a sign.
fn promise_no_wrap<'m, const COUNT: usize>(values: [Value<'m>; COUNT]) {
    for one in values.iter().filter_map(|one| one.as_instruction()) {
        one.promise_no_wrap(true);
    }
}

/// Deletes what a block does but for where it goes.
fn empty(block: Block<'_>) {
    for one in block.instructions().into_iter().rev().skip(1) {
        one.erase();
    }
}
