//! Blocks of work items on the processor: each nest of inner loops runs as it is written, one work item after the other,
//! and one nest after the other, which is what barriers between nests ask for.
//!
//! A nest with barriers in it becomes one nest for each piece between them, around which the conditions and regular loops
//! are that the barriers stand in ([`split`]). A variable that a work item still needs behind a barrier or in another nest
//! becomes an array with an element for each ([`arrays`], and [`room`] where the program counts them). What is shared is a variable of the block as it is.
//!
//! Blocks whose items all do the same have a version of their own ([`whole`]), and what some items do alone stands behind the
//! loop over all of them ([`apart`]). LLVM is told that work items do not depend on each other, so that it may run several at
//! once ([`at_once`]), and loops end where a condition around all that a work item does fails for all that follow
//! ([`guards`]).

mod apart;
mod arrays;
mod at_once;
mod guards;
mod room;
mod split;
mod strides;
mod whole;

use std::collections::{HashMap, HashSet};

use crate::analysis::leaving::Leaving;
use crate::analysis::meeting::{self, ItemCode, Pieces, is_barrier};
use crate::analysis::variables::{is_destination, is_harmless};
use crate::diagnostic::{Declined, Site};
use crate::ir::{Counter, Extent, LocalKind, ParallelLoop, Region, Space};
use crate::llvm::{Block, Call, Function, Instruction, Module, NaturalLoop, Opcode, Value};
use crate::lower::cpu::exceptions;
use crate::marks::{LOWERED_KERNEL, OKL_BARRIER, is_okl_marker, mark_items};

use arrays::{ALIGNMENT, Array, MOST_BYTES, count_in, exclusive, private};
pub use split::Split;
use split::Turns;

/// What becomes of a loop whose iterations are blocks of work items.
pub struct Items<'m> {
    kernel: Function<'m>,
    over: whole::Over<'m>,
    nests: Vec<Nest<'m>>,
    arrays: Vec<Array<'m>>,
    /// Room for those whose size the compiler does not know.
    room: Option<room::Room<'m>>,
    shared: Vec<Instruction<'m>>,
    /// What runs outside of all iterations of outer loops.
    outside: HashSet<Block<'m>>,
}

/// Inner loops, one in the other: those around code of work items.
struct Nest<'m> {
    /// The outermost first.
    extents: Vec<Extent<'m>>,
    /// What stands for it in the program.
    site: Call<'m>,
    /// The blocks of an iteration of the innermost one, the first one first.
    body: Vec<Block<'m>>,
    /// The code of an iteration, or of its pieces.
    segments: Vec<Vec<Instruction<'m>>>,
    /// Where it is cut, if it has barriers.
    pieces: Option<Pieces<'m>>,
    /// The regular loops of a block that it is in.
    around: Vec<Vec<Block<'m>>>,
    /// Where exceptions go to, and nothing else, that leave it. Of one that is cut nothing is destroyed there: the program ends.
    leaving: Vec<Block<'m>>,
    /// Whether some of it is atomic.
    is_atomic: bool,
}

/// What is wrong, and where.
type Wrong<'m> = (Instruction<'m>, String);

impl<'m> Nest<'m> {
    fn of(
        site: Call<'m>,
        extents: &[Extent<'m>],
        natural: &[NaturalLoop<'m>],
        outer: &[Block<'m>],
    ) -> Result<Self, Wrong<'m>> {
        let mut nest = Nest {
            extents: extents.to_vec(),
            site,
            body: Vec::new(),
            segments: Vec::new(),
            pieces: None,
            around: Vec::new(),
            leaving: Vec::new(),
            is_atomic: false,
        };
        let outermost = nest.outermost();
        let header = outermost.decides.block();
        nest.leaving = Leaving::of(&outermost.blocks, header, outermost.exit).own;
        let innermost = nest.innermost();
        let end = innermost.steps.block();
        let is_other =
            |block: &Block<'m>| ![innermost.decides.block(), innermost.body].contains(block);
        let others = innermost.blocks.iter().copied().filter(is_other);
        let blocks: Vec<_> = [innermost.body].into_iter().chain(others).collect();
        let around = natural.iter().filter(|one| {
            one.header != header && one.blocks.contains(&header) && !outer.contains(&one.header)
        });
        nest.around = around.map(|one| one.blocks.clone()).collect();
        let code: Vec<_> = blocks
            .iter()
            .filter(|block| **block != end)
            .flat_map(|block| block.instructions())
            .collect();
        nest.is_atomic = code.iter().filter_map(|one| one.as_call()).any(|call| {
            let name = call.callee_name();
            is_okl_marker(&name) && name != OKL_BARRIER
        });
        nest.segments = match code.iter().any(|one| is_barrier(*one)) {
            false => vec![code],
            true => {
                let code = ItemCode {
                    blocks: &blocks,
                    end,
                    nest: &nest.outermost().blocks,
                };
                let pieces = meeting::cut(&code).map_err(|at| {
                    let told =
                        "it is not sure that all work items of the block come to this barrier";
                    (at, told.to_string())
                })?;
                let segments = pieces.pieces.iter();
                let segments = segments.map(|one| one.instructions().collect()).collect();
                nest.pieces = Some(pieces);
                segments
            }
        };
        nest.body = blocks.into_iter().filter(|block| *block != end).collect();
        Ok(nest)
    }

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
        self.pieces.is_some()
    }

    fn is_in_body(&self, at: Instruction<'m>) -> bool {
        self.body.contains(&at.block())
    }

    /// Whether a segment runs more than once for one that begins to exist at a place.
    fn repeats(&self, segment: usize, since: Instruction<'m>) -> bool {
        let is_around = |blocks: &Vec<Block<'m>>| !blocks.contains(&since.block());
        let pieces = self.pieces.as_ref();
        self.around.iter().any(is_around) || pieces.is_some_and(|pieces| pieces.repeats(segment))
    }

    /// Has the program end for exceptions that would leave it.
    fn end_for_exceptions(&self, module: &'m Module) {
        let mut pad = None;
        let blocks = &self.outermost().blocks;
        for block in &self.body {
            let end = block.terminator().expect("a complete block");
            let mut next = block.successors().into_iter();
            let leaves = |next: &Block<'m>| !blocks.contains(next);
            if end.opcode() == Opcode::LLVMInvoke
                && let Some(next) = next.rfind(leaves)
            {
                let pad = *pad.get_or_insert_with(|| exceptions::pad(module, end));
                block.turn(next, pad);
            }
        }
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
        let decides = extents.last().and_then(|one| one.counter.as_ref());
        let decides = decides.map(|one| one.decides);
        // The parts of an iteration between barriers have one nest.
        if !nests
            .iter()
            .any(|nest| Some(nest.innermost().decides) == decides)
        {
            nests.push(Nest::of(one.site, extents, &natural, &outer)?);
        }
    }
    for nest in nests.iter().filter(|nest| nest.is_split()) {
        can_be_split(nest, &nests)?;
    }
    too_large(module, region)?;
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
    let inside: Vec<_> = one.counters().flat_map(|one| &one.blocks).collect();
    let blocks = kernel.blocks().into_iter();
    let innermost = one.counters().next_back().expect("it has a loop");
    let over = whole::Over {
        header: innermost.decides.block(),
        steps: innermost.steps.block(),
        body: innermost.body,
    };
    let all = innermost.blocks.iter().copied().collect();
    Ok(Items {
        kernel,
        over,
        room: room::find(module, over, all, &nests, &arrays)?,
        nests,
        arrays,
        outside: blocks.filter(|block| !inside.contains(&block)).collect(),
        shared: of_kind(LocalKind::Shared).map(|one| one.variable).collect(),
    })
}

/// Checks that what the work items of a block share fits on the stack.
fn too_large<'m>(module: &Module, region: &Region<'m>) -> Result<(), Wrong<'m>> {
    let mut bytes = 0_u64;
    let shared = region.locals.iter();
    for local in shared.filter(|one| one.kind == LocalKind::Shared) {
        let size = local.variable.allocated_type().map(|ty| module.size_of(ty));
        bytes = bytes.saturating_add(size.unwrap_or(0));
        if bytes > MOST_BYTES {
            let told = format!(
                "the @shared variables of a block do not fit on the stack: up to this one they have {bytes} bytes, of at \
                 most {}",
                MOST_BYTES
            );
            return Err((local.site.instruction(), told));
        }
    }
    Ok(())
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
    let is_body = |one: &Instruction<'m>| nest.is_in_body(*one);
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
        let is_right = match one.opcode() {
            _ if is_harmless(one) => true,
            Opcode::LLVMBr => true,
            Opcode::LLVMLoad => is_variable(one.operand(0)) && !one.is_volatile_or_atomic(),
            Opcode::LLVMStore => {
                let variable = one.operand(1).as_op(Opcode::LLVMAlloca);
                is_variable(one.operand(1)) || variable.is_some_and(is_destination)
            }
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
    let pieces = nest.pieces.as_ref().expect("it is to be split");
    let cuts: Vec<_> = pieces.cuts.iter().map(|one| one.at).collect();
    let dead = pieces.left_to_cuts();
    // Where the end of a scope goes on is in one variable for all work items.
    for one in nest.segments.iter().flatten() {
        let variable = one
            .address()
            .and_then(|address| address.as_op(Opcode::LLVMAlloca));
        if let Some(variable) = variable.filter(|one| is_destination(*one)) {
            let mut pieces_of = pieces.pieces.iter();
            if pieces_of.any(|piece| piece.begins_with(variable, &pieces.cuts)) {
                return wrong(
                    *one,
                    "is the end of a scope that work items leave in different ways",
                );
            }
        }
    }
    for (at, segment) in nest.segments.iter().enumerate() {
        if segment[0].opcode() == Opcode::LLVMPHI {
            return wrong(
                segment[0],
                "is a value from before a barrier, or from several places",
            );
        }
        for one in segment {
            // What a cut is computed of is computed again there.
            let used = |user: &Instruction<'m>| {
                nest.segment_of(*user) != Some(at) && !cuts.contains(user) && !dead.contains(user)
            };
            if let Some(other) = one.instruction_users().into_iter().find(used) {
                return wrong(
                    other,
                    "uses a value from before a barrier, or of the loop around it, that is in no variable",
                );
            }
        }
    }
    Ok(())
}

/// Changes the kernels, but for what only says what their code is: [`finish`] comes after that is gone.
pub fn emit<'m>(module: &'m Module, items: &Items<'m>) -> Emitted<'m> {
    let kernel = items.kernel;
    for variable in &items.shared {
        variable.set_alignment(ALIGNMENT);
    }
    for nest in items.nests.iter().filter(|nest| nest.is_split()) {
        nest.end_for_exceptions(module);
    }
    let rooms = items.room.as_ref().map(|room| room.emit(module));
    // An iteration begins in a block of its own.
    let mut jumps = HashMap::new();
    let has_array = |at: usize| items.arrays.iter().any(|one| one.is_used_in(at));
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
    let arrays = items.arrays.iter();
    let rooms = rooms.as_ref();
    let arrays = arrays.map(|one| one.emit(module, kernel, &items.nests, &jumps, &counts, rooms));
    let shared = items.shared.iter().map(|one| **one);
    let common = arrays.chain(shared).collect();
    LOWERED_KERNEL.put_on(module, kernel);
    for counter in items.nests.iter().flat_map(|nest| nest.counters()) {
        mark_items(module, counter.steps.block());
    }
    let nests = items.nests.iter().enumerate();
    let parts = nests.map(|(at, nest)| match &nest.pieces {
        Some(pieces) => Part::Split(Split::of(nest, pieces, jumps[&at])),
        None => {
            let header = nest.outermost().decides;
            let beside = items.nests.iter();
            let mut beside = beside
                .filter(|one| one.outermost().decides == header)
                .skip(1);
            Part::Whole(Turns::of(nest, beside.next().is_none()))
        }
    });
    Emitted {
        kernel,
        over: items.over,
        parts: parts.collect(),
        common,
        outside: items.outside.clone(),
    }
}

/// A kernel, changed but for what needs the calls gone that only say what its code is.
pub struct Emitted<'m> {
    kernel: Function<'m>,
    over: whole::Over<'m>,
    parts: Vec<Part<'m>>,
    /// Variables of all work items, and arrays with an element for each.
    common: HashSet<Value<'m>>,
    /// What runs outside of all iterations of outer loops.
    outside: HashSet<Block<'m>>,
}

/// What becomes of a nest.
enum Part<'m> {
    Split(Split<'m>),
    Whole(Turns<'m>),
}

/// Does what is left to do.
pub fn finish<'m>(module: &'m Module, emitted: &[Emitted<'m>]) {
    let splits = |one: &'_ Emitted<'m>| {
        let parts = one.parts.iter();
        let splits = parts.filter_map(|part| match part {
            Part::Split(split) => Some(split.scopes().collect::<Vec<_>>()),
            Part::Whole(_) => None,
        });
        splits.flatten().collect::<Vec<_>>()
    };
    let scopes: HashSet<_> = emitted.iter().flat_map(splits).collect();
    for scope in scopes {
        scope.erase();
    }
    for one in emitted {
        let turns = one.parts.iter().flat_map(|part| match part {
            Part::Split(split) => split.emit(),
            Part::Whole(whole) => vec![whole.clone()],
        });
        let mut turns: Vec<_> = turns.collect();
        let mut common = one.common.clone();
        turns.extend(whole::emit(module, one.over, &turns, &mut common));
        let known = at_once::Known::of(module, one.kernel, &common, &one.outside);
        let mut turns_left = turns;
        while let Some(turns) = turns_left.pop() {
            let (header, steps) = turns.innermost();
            let natural = one.kernel.loops();
            let its = natural.iter().find(|one| one.header == header);
            // One that nothing reaches is none.
            let Some(its) = its else { continue };
            let body = its.blocks.iter().copied();
            let body: Vec<_> = body
                .filter(|block| ![header, steps].contains(block))
                .collect();
            let (body, more) = apart::emit(module, &turns, &body, &known);
            turns_left.extend(more);
            let mut others = natural.iter();
            let has_loops =
                others.any(|one| body.contains(&one.header) && !is_written_out(one.header));
            let is_bounded = guards::emit(module, &turns, &body, &common);
            at_once::emit(module, &turns, &body, &known, is_bounded, has_loops);
        }
    }
    for one in emitted {
        let is_split = |part: &Part<'m>| matches!(part, Part::Split(_));
        if one.parts.iter().any(is_split) {
            one.kernel.remove_unreachable_blocks();
        }
    }
}

/// Whether LLVM is expected to write out a loop before it vectorises.
fn is_written_out(header: Block<'_>) -> bool {
    let end = header.terminator().and_then(Instruction::branch_condition);
    let asks = end.and_then(|end| end.as_op(Opcode::LLVMICmp));
    let numbers = asks.map(|asks| asks.operands()).unwrap_or_default();
    let mut numbers = numbers.into_iter().filter_map(Value::as_constant_int);
    numbers.any(|number| number.abs() <= MOST_WRITTEN_OUT)
}

/// Turns of a loop that is.
const MOST_WRITTEN_OUT: i64 = 16;

impl Items<'_> {
    /// Bytes of the arrays that a block needs besides its variables.
    pub fn bytes(&self, module: &Module) -> u64 {
        let sizes = self.arrays.iter().map(|one| one.bytes(module));
        sizes.fold(0, u64::saturating_add)
    }
}
