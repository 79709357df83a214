//! Blocks of work items on the processor: each nest of inner loops runs as it is written, one work item after the other,
//! and one nest after the other, which is what barriers between nests ask for.
//!
//! A nest with barriers in it becomes one nest for each part between them. A variable that a work item still needs behind
//! a barrier or in another nest becomes an array with an element for each. What is shared is a variable of the block as it
//! is.

use std::collections::HashMap;

use crate::analysis::variables::{Does, is_harmless, uses};
use crate::diagnostic::{Declined, Site};
use crate::ir::{Body, Code, Counter, Extent, LocalKind, ParallelLoop, Region, Space};
use crate::llvm::{
    Block, Builder, Call, Comparison, Function, Instruction, IntPredicate, Module, Opcode, Type,
    Value,
};
use crate::marks::LOWERED_KERNEL;

/// Alignment of what work items share or have one each of.
const ALIGNMENT: u32 = 64;
/// Bytes of the arrays of one variable: they are on the stack.
const MOST_BYTES: u64 = 4 << 20;
/// Directions of a block of work items.
const AXES: usize = ParallelLoop::MOST_EXTENTS;

/// What becomes of a loop whose iterations are blocks of work items.
pub struct Items<'m> {
    kernel: Function<'m>,
    nests: Vec<Nest<'m>>,
    arrays: Vec<Array<'m>>,
    shared: Vec<Instruction<'m>>,
}

/// Inner loops, one in the other: those around code of work items.
struct Nest<'m> {
    /// The outermost first.
    extents: Vec<Extent<'m>>,
    /// What stands for it in the program.
    site: Call<'m>,
    /// The code of an iteration between two barriers, in its order.
    segments: Vec<Vec<Instruction<'m>>>,
    /// Whether it runs more than once for a block.
    repeats: bool,
}

/// A variable of which each work item has one.
struct Array<'m> {
    variable: Instruction<'m>,
    /// Work items of a block.
    count: u64,
    /// The work items that there are room for, by direction.
    room: [i64; AXES],
    /// What mentions it, and the nest that that is in.
    users: Vec<(usize, Instruction<'m>)>,
    /// Behind these it is the same for all work items.
    fills: Vec<Instruction<'m>>,
}

/// What is wrong, and where.
type Wrong<'m> = (Instruction<'m>, String);

impl<'m> Nest<'m> {
    fn counters(&self) -> impl DoubleEndedIterator<Item = &Counter<'m>> {
        self.extents.iter().filter_map(|one| one.counter.as_ref())
    }

    fn innermost(&self) -> &Counter<'m> {
        self.counters().next_back().expect("it has a loop")
    }

    fn outermost(&self) -> &Counter<'m> {
        self.counters().next().expect("it has a loop")
    }

    fn is_split(&self) -> bool {
        self.segments.len() > 1
    }

    /// The part in which an instruction is.
    fn segment_of(&self, at: Instruction<'m>) -> Option<usize> {
        self.segments.iter().position(|one| one.contains(&at))
    }
}

/// What becomes of a loop whose body is a region of work items, or what keeps that from being right.
pub fn check<'m>(module: &Module, one: &ParallelLoop<'m>) -> Result<Items<'m>, Declined<'m>> {
    let region = one.region().expect("a loop over blocks");
    items(module, one, region).map_err(|(at, reason)| Declined {
        site: Site::Instruction(at),
        reason,
    })
}

fn items<'m>(
    module: &Module,
    one: &ParallelLoop<'m>,
    region: &Region<'m>,
) -> Result<Items<'m>, Wrong<'m>> {
    let kernel = region.body;
    let outer: Vec<_> = one.counters().map(|one| one.decides.block()).collect();
    let natural = kernel.loops();
    let mut nests: Vec<Nest<'m>> = Vec::new();
    for one in region.loops() {
        let Space::Range(extents) = &one.space else {
            return Err((one.site.instruction(), "work items are numbers".to_string()));
        };
        let mut nest = Nest {
            extents: extents.clone(),
            site: one.site,
            segments: Vec::new(),
            repeats: false,
        };
        let Body::Code(code) = &one.body else {
            return Err((one.site.instruction(), "its body is no code".to_string()));
        };
        let segment = body(&nest, code);
        let decides = nest.innermost().decides;
        let same = |other: &&mut Nest<'m>| other.innermost().decides == decides;
        match nests.iter_mut().find(same) {
            Some(other) => other.segments.push(segment),
            None => {
                let header = nest.outermost().decides.block();
                let repeats = natural.iter().any(|natural| {
                    let is_around = natural.header != header && natural.blocks.contains(&header);
                    is_around && !outer.contains(&natural.header)
                });
                nest.repeats = repeats;
                nest.segments.push(segment);
                nests.push(nest);
            }
        }
    }
    for nest in nests.iter().filter(|nest| nest.is_split()) {
        can_be_split(nest, &nests)?;
    }
    let mut arrays = Vec::new();
    let of_kind = |kind| region.locals.iter().filter(move |one| one.kind == kind);
    for local in of_kind(LocalKind::Exclusive) {
        arrays.extend(exclusive(module, local.variable, local.site, &nests)?);
    }
    for at in 0..nests.len() {
        if nests[at].is_split() {
            arrays.extend(private(module, kernel, at, &nests)?);
        }
    }
    Ok(Items {
        kernel,
        nests,
        arrays,
        shared: of_kind(LocalKind::Shared).map(|one| one.variable).collect(),
    })
}

/// The instructions of some code that are of an iteration, and not of the loops around it.
fn body<'m>(nest: &Nest<'m>, code: &Code<'m>) -> Vec<Instruction<'m>> {
    let innermost = nest.innermost();
    let counts = [innermost.decides.block(), innermost.steps.block()];
    let spans = code
        .spans
        .iter()
        .filter(|span| innermost.blocks.contains(&span.block) && !counts.contains(&span.block));
    spans.flat_map(|span| span.instructions()).collect()
}

/// Checks that the loops of a nest count the same a second time, and that nothing but variables leads from one part of the
/// body to another.
fn can_be_split<'m>(nest: &Nest<'m>, all: &[Nest<'m>]) -> Result<(), Wrong<'m>> {
    let site = nest.site.instruction();
    let wrong = |at: Instruction<'m>, why: &str| {
        Err((
            at,
            format!("this {why}: with a barrier in an @inner loop that is not understood"),
        ))
    };
    let header = nest.outermost().decides.block();
    if all
        .iter()
        .filter(|one| one.outermost().decides.block() == header)
        .count()
        > 1
    {
        return wrong(site, "loop has several @inner loops side by side in it");
    }
    let begins = nest.outermost().begins.block();
    if site.block() != begins || begins.successors() != [header] {
        return wrong(
            site,
            "loop has a first value that is computed with a condition",
        );
    }
    let is_body = |one: &Instruction<'m>| nest.segment_of(*one).is_some();
    let first = begins
        .instructions()
        .into_iter()
        .skip_while(|one| *one != site);
    let blocks = nest.outermost().blocks.iter();
    let counts = blocks.flat_map(|block| block.instructions());
    for one in first.chain(counts).filter(|one| !is_body(one)) {
        let is_variable = |address: Value<'m>| {
            let variable = address.as_op(Opcode::LLVMAlloca);
            let stores = |user: &Instruction<'m>| {
                user.opcode() == Opcode::LLVMStore && user.operand(1) == address && is_body(user)
            };
            variable.is_some_and(|one| !one.instruction_users().iter().any(stores))
        };
        let is_barrier = nest.segments.iter().skip(1).any(|segment| {
            let next = segment.first().map(|one| before(*one));
            next == Some(Some(one))
        });
        let is_right = match one.opcode() {
            _ if is_barrier || is_harmless(one) => true,
            Opcode::LLVMBr => true,
            Opcode::LLVMLoad => is_variable(one.operand(0)) && !one.is_volatile_or_atomic(),
            Opcode::LLVMStore => is_variable(one.operand(1)),
            _ => one.only_computes(),
        };
        if !is_right {
            return wrong(
                one,
                "stands between the loops of a nest, or decides how they count",
            );
        }
    }
    let ends = [nest.outermost().exit, nest.innermost().steps.block()];
    if ends.iter().any(|block| block.phis().next().is_some()) {
        return wrong(site, "loop ends with a value");
    }
    for (at, segment) in nest.segments.iter().enumerate() {
        for one in segment {
            let used = |user: &Instruction<'m>| nest.segment_of(*user) != Some(at);
            if let Some(other) = one.instruction_users().into_iter().find(used) {
                return wrong(
                    other,
                    "uses a value from before a barrier that is in no variable",
                );
            }
        }
    }
    Ok(())
}

/// The instruction in front of another one of its block.
fn before(one: Instruction<'_>) -> Option<Instruction<'_>> {
    let instructions = one.block().instructions();
    let at = instructions.iter().position(|other| *other == one)?;
    at.checked_sub(1).map(|at| instructions[at])
}

/// What mentions a variable.
fn users<'m>(variable: Instruction<'m>) -> Vec<Instruction<'m>> {
    let all = variable.instruction_users().into_iter();
    all.filter(|one| !is_harmless(*one)).collect()
}

fn nest_of<'m>(nests: &[Nest<'m>], at: Instruction<'m>) -> Option<usize> {
    nests.iter().position(|nest| nest.segment_of(at).is_some())
}

/// What becomes of a variable that each work item has: nothing where it does not outlive a nest.
fn exclusive<'m>(
    module: &Module,
    variable: Instruction<'m>,
    site: Call<'m>,
    nests: &[Nest<'m>],
) -> Result<Option<Array<'m>>, Wrong<'m>> {
    let mut inside = Vec::new();
    let mut outside: Vec<Instruction<'m>> = Vec::new();
    for one in users(variable) {
        match nest_of(nests, one) {
            Some(nest) => inside.push((nest, one)),
            None => outside.push(one),
        }
    }
    let counts = |one: &&Instruction<'m>| {
        let block = one.block();
        nests
            .iter()
            .any(|nest| nest.outermost().blocks.contains(&block))
    };
    if let Some(one) = outside.iter().find(counts) {
        let told = "an @exclusive variable is used inside of all @inner loops of a nest only";
        return Err((*one, told.to_string()));
    }
    let uses = uses(variable);
    let mut fills: Vec<Instruction<'m>> = Vec::new();
    for (one, _) in uses
        .iter()
        .filter(|(one, _)| nest_of(nests, *one).is_none())
    {
        let rest = one
            .block()
            .instructions()
            .into_iter()
            .skip_while(|other| other != one);
        if rest.clone().count() < 2 {
            let told = "what this @exclusive variable begins with is computed by what may fail";
            return Err((*one, told.to_string()));
        }
        let others = uses.iter().map(|(other, _)| *other);
        let mut others = others.filter(|other| other != one);
        // The last one of a block is enough.
        if !others.any(|other| rest.clone().any(|one| one == other)) && !fills.contains(one) {
            fills.push(*one);
        }
    }
    let mut places: Vec<_> = uses
        .iter()
        .filter_map(|(one, _)| {
            let nest = nest_of(nests, *one)?;
            Some((nest, nests[nest].segment_of(*one)))
        })
        .collect();
    places.sort_unstable();
    places.dedup();
    let is_unknown = uses.iter().any(|(_, does)| *does == Does::Unknown);
    let outlives = places.len() > 1
        || places.iter().any(|(nest, _)| nests[*nest].repeats)
        || is_unknown
        || !fills.is_empty();
    if !outlives || inside.is_empty() {
        return Ok(None);
    }
    array(module, variable, site.instruction(), nests, inside, fills).map(Some)
}

/// The variables of an iteration that are needed behind a barrier in it.
fn private<'m>(
    module: &Module,
    kernel: Function<'m>,
    nest: usize,
    nests: &[Nest<'m>],
) -> Result<Vec<Array<'m>>, Wrong<'m>> {
    let entry = kernel.blocks()[0].instructions().into_iter();
    let variables = entry.filter(|one| one.opcode() == Opcode::LLVMAlloca);
    let mut arrays = Vec::new();
    for variable in variables {
        let inside = users(variable);
        let is_here = |one: &Instruction<'m>| nests[nest].segment_of(*one).is_some();
        if inside.is_empty() || !inside.iter().all(is_here) || !is_own(variable) {
            continue;
        }
        let uses = uses(variable);
        let first = nests[nest].segment_of(inside[0]);
        let outlives = uses
            .iter()
            .any(|(one, does)| *does == Does::Unknown || nests[nest].segment_of(*one) != first);
        if outlives {
            let all = kernel.instructions();
            let at = |one: &Instruction<'m>| all.iter().position(|other| other == one);
            let site = *inside.iter().min_by_key(|one| at(one)).expect("it is used");
            let inside: Vec<_> = inside.into_iter().map(|one| (nest, one)).collect();
            arrays.push(array(module, variable, site, nests, inside, Vec::new())?);
        }
    }
    Ok(arrays)
}

/// Whether nothing is said of a variable: it is one of each iteration then.
fn is_own(variable: Instruction<'_>) -> bool {
    let mut users = variable.instruction_users().into_iter();
    let is_said = |one: Instruction<'_>| {
        let call = one.as_call();
        call.is_some_and(|call| call.callee_name().starts_with("llvm.var.annotation"))
    };
    !users.any(is_said)
}

fn array<'m>(
    module: &Module,
    variable: Instruction<'m>,
    site: Instruction<'m>,
    nests: &[Nest<'m>],
    users: Vec<(usize, Instruction<'m>)>,
    fills: Vec<Instruction<'m>>,
) -> Result<Array<'m>, Wrong<'m>> {
    let mut room = [1_i64; AXES];
    for (at, _) in &users {
        for extent in &nests[*at].extents {
            let last = extent.last.and_then(|last| last.as_constant_int());
            let Some(last) = last.or(extent.most) else {
                let told = "how many work items a block has is not known when the program is compiled, and each needs its \
                            own of this variable: @max_inner_dims says how many there are at most";
                return Err((site, told.to_string()));
            };
            let axis = extent.counter.as_ref().map_or(0, |one| one.axis);
            room[axis] = room[axis].max(last.saturating_add(1));
        }
    }
    let count = room.iter().try_fold(1_u64, |count, &room| {
        count.checked_mul(u64::try_from(room).ok()?)
    });
    let ty = variable.allocated_type();
    let size = |count: u64| module.size_of(ty?).checked_mul(count);
    match count.filter(|&count| size(count).is_some_and(|bytes| bytes <= MOST_BYTES)) {
        Some(count) => Ok(Array {
            variable,
            count,
            room,
            users,
            fills,
        }),
        None => {
            let told = "a variable for each work item of a block does not fit on the stack";
            Err((site, told.to_string()))
        }
    }
}

/// Changes the kernels, but for what only says what their code is: [`split`] comes after that is gone.
pub fn emit<'m>(module: &'m Module, items: &Items<'m>) -> Vec<Split<'m>> {
    let kernel = items.kernel;
    for variable in &items.shared {
        variable.set_alignment(ALIGNMENT);
    }
    // An iteration begins in a block of its own.
    let mut jumps = HashMap::new();
    let has_array = |at: usize| {
        items
            .arrays
            .iter()
            .any(|one| one.users.iter().any(|user| user.0 == at))
    };
    let mut counts: HashMap<Instruction<'m>, Value<'m>> = HashMap::new();
    for (at, nest) in items.nests.iter().enumerate() {
        if nest.is_split() || has_array(at) {
            let first = nest.innermost().body.first_insertion_point();
            first.expect("a complete block").split_before();
            let jump = nest.innermost().body.terminator();
            jumps.insert(at, jump.expect("a complete block"));
        }
        if has_array(at) {
            for counter in nest.counters() {
                let count = counts.entry(counter.steps);
                count.or_insert_with(|| count_in(module, kernel, counter));
            }
        }
    }
    for array in &items.arrays {
        array.emit(module, kernel, &items.nests, &jumps, &counts);
    }
    LOWERED_KERNEL.put_on(module, kernel);
    let nests = items.nests.iter().enumerate();
    let splits = nests.filter(|(_, nest)| nest.is_split()).map(|(at, nest)| {
        let entry = nest.site.instruction().split_before();
        let starts = nest.segments.iter().skip(1);
        let starts = starts.map(|segment| segment[0].split_before());
        Split {
            entry,
            starts: starts.collect(),
            jump: jumps[&at],
            header: nest.outermost().decides.block(),
            exit: nest.outermost().exit,
            steps: nest.innermost().steps.block(),
        }
    });
    splits.collect()
}

/// A variable that counts the iterations of a loop from 0.
fn count_in<'m>(module: &'m Module, kernel: Function<'m>, counter: &Counter<'m>) -> Value<'m> {
    let int = module.int(64);
    let count = Builder::at_entry(module, kernel).alloca(int, 8);
    let builder = Builder::before(module, counter.begins);
    builder.store(module.const_i64(0), count);
    let builder = Builder::before(module, counter.steps);
    let before = builder.load(int, count);
    builder.store(builder.plus(before, 1), count);
    count
}

impl Items<'_> {
    /// Bytes of the arrays that a block needs besides its variables.
    pub fn bytes(&self, module: &Module) -> u64 {
        let sizes = self.arrays.iter().map(|one| {
            let ty = one.variable.allocated_type();
            ty.map_or(0, |ty| module.size_of(ty))
                .saturating_mul(one.count)
        });
        sizes.fold(0, u64::saturating_add)
    }
}

impl<'m> Array<'m> {
    fn emit(
        &self,
        module: &'m Module,
        kernel: Function<'m>,
        nests: &[Nest<'m>],
        jumps: &HashMap<usize, Instruction<'m>>,
        counts: &HashMap<Instruction<'m>, Value<'m>>,
    ) {
        let ty = self.variable.allocated_type().expect("a stack variable");
        let entry = Builder::at_entry(module, kernel);
        let alignment = ALIGNMENT.max(self.variable.stack_alignment());
        let all = entry.alloca(module.array(ty, self.count), alignment);
        let mut addresses: HashMap<usize, Value<'m>> = HashMap::new();
        for &(at, user) in &self.users {
            let address = *addresses.entry(at).or_insert_with(|| {
                let jump = jumps[&at];
                let number = self.number(module, &nests[at], jump, counts);
                Builder::before(module, jump).element(ty, all, number)
            });
            for (operand, value) in user.operands().into_iter().enumerate() {
                if value == *self.variable {
                    user.set_operand(operand, address);
                }
            }
        }
        for &fill in &self.fills {
            self.fill(module, kernel, fill, all, ty);
        }
    }

    /// The number of a work item, in front of the code that it runs.
    fn number(
        &self,
        module: &'m Module,
        nest: &Nest<'m>,
        jump: Instruction<'m>,
        counts: &HashMap<Instruction<'m>, Value<'m>>,
    ) -> Value<'m> {
        let mut number = module.const_i64(0);
        for (axis, _) in self.room.iter().enumerate().rev() {
            let of_axis = nest.extents.iter().find_map(|extent| {
                let counter = extent.counter.as_ref().filter(|one| one.axis == axis)?;
                Some((extent, counts[&counter.steps]))
            });
            let Some((extent, count)) = of_axis else {
                continue;
            };
            let room = module.const_i64(self.room[axis]);
            let builder = Builder::before(module, jump);
            let count = builder.load(module.int(64), count);
            if extent.last.is_none() {
                let is_less = Comparison::Integer(IntPredicate::LLVMIntUGE);
                let then = jump.insert_if(builder.ask(is_less, count, room));
                Builder::before(module, then).trap();
            }
            let builder = Builder::before(module, jump);
            number = builder.sum(builder.multiply(number, room), count);
        }
        number
    }

    /// Gives all work items what the variable is behind an instruction.
    fn fill(
        &self,
        module: &'m Module,
        kernel: Function<'m>,
        behind: Instruction<'m>,
        all: Value<'m>,
        ty: Type<'m>,
    ) {
        let instructions = behind.block().instructions();
        let at = instructions.iter().position(|one| *one == behind);
        let next = instructions[at.expect("it stands in its block") + 1];
        let before = next.block();
        let after = next.split_before();
        let inside = kernel.append_block(module);
        let jump = before.terminator().expect("a complete block");
        jump.set_operand(0, inside.label());
        let builder = Builder::at_end_like(module, inside, behind);
        let number = builder.phi(module.int(64));
        let to = builder.element(ty, all, number);
        let align = module.align_of(ty);
        let bytes = module.size_of(ty) as i64;
        builder.copy_aligned(to, *self.variable, bytes, align);
        let more = builder.plus(number, 1);
        let count = module.const_i64(self.count as i64);
        let is_end = builder.compare(more, count, false);
        builder.go_if(is_end, after, inside);
        number.add_incoming(module.const_i64(0), before);
        number.add_incoming(more, inside);
    }
}

/// A nest that becomes one nest for each part of its body.
pub struct Split<'m> {
    /// What runs in front of it, each time.
    entry: Block<'m>,
    /// Where the parts begin, but for the first one.
    starts: Vec<Block<'m>>,
    /// Goes to where the first part begins.
    jump: Instruction<'m>,
    header: Block<'m>,
    exit: Block<'m>,
    /// Where an iteration ends.
    steps: Block<'m>,
}

impl<'m> Split<'m> {
    /// Does it.
    pub fn emit(&self) {
        let kernel = self.header.function();
        let loops = kernel.loops().into_iter();
        let mut its = loops.filter(|one| one.header == self.header);
        let blocks = its.next().expect("it is a loop").blocks;
        let blocks: Vec<_> = [self.entry].into_iter().chain(blocks).collect();
        let ends: Vec<_> = self
            .starts
            .iter()
            .map(|start| start.predecessors()[0])
            .collect();
        let first = self.jump.block();
        let begin = first.successors()[0];
        let copies: Vec<_> = self.starts.iter().map(|_| Block::copies(&blocks)).collect();
        let in_part = |part: usize, block: Block<'m>| match part {
            0 => block,
            _ => {
                let at = blocks.iter().position(|one| *one == block);
                copies[part - 1][at.expect("a block of the loop")]
            }
        };
        let turn = |from: Block<'m>, old: Block<'m>, new: Block<'m>| {
            let end = from.terminator().expect("a complete block");
            for (at, operand) in end.operands().into_iter().enumerate() {
                if operand == old.label() {
                    end.set_operand(at, new.label());
                }
            }
        };
        let parts = ends.into_iter().zip(&self.starts).enumerate();
        for (part, (end, &start)) in parts {
            let here = |block| in_part(part, block);
            let next = |block| in_part(part + 1, block);
            turn(here(end), here(start), here(self.steps));
            turn(here(self.header), self.exit, next(self.entry));
            turn(next(first), next(begin), next(start));
        }
    }
}
