//! Blocks of work items on the processor: each nest of inner loops runs as it is written, one work item after the other,
//! and one nest after the other, which is what barriers between nests ask for.
//!
//! A nest with barriers in it becomes one nest for each piece between them, around which the conditions and regular loops
//! are that the barriers stand in ([`split`]). A variable that a work item still needs behind a barrier or in another nest
//! becomes an array with an element for each. What is shared is a variable of the block as it
//! is.
//!
//! LLVM is told that work items do not depend on each other, so that it may run several at once ([`at_once`]), and loops end
//! where a condition around all that a work item does fails for all that follow ([`guards`]).

mod at_once;
mod guards;
mod split;
mod strides;

use std::collections::{HashMap, HashSet};

use crate::analysis::meeting::{self, ItemCode, Pieces, is_barrier};
use crate::analysis::variables::{Does, is_destination, is_harmless, uses};
use crate::diagnostic::{Declined, Site};
use crate::ir::{Counter, Extent, LocalKind, ParallelLoop, Region, Space};
use crate::llvm::{
    Block, Builder, Call, Comparison, Function, Instruction, IntPredicate, Module, NaturalLoop,
    Opcode, Type, Value,
};
use crate::marks::{LOWERED_KERNEL, OKL_BARRIER, is_okl_marker};

pub use split::Split;
use split::Turns;

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
    /// Whether some of it is atomic.
    is_atomic: bool,
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
            is_atomic: false,
        };
        let innermost = nest.innermost();
        let end = innermost.steps.block();
        let is_other =
            |block: &Block<'m>| ![innermost.decides.block(), innermost.body].contains(block);
        let others = innermost.blocks.iter().copied().filter(is_other);
        let blocks: Vec<_> = [innermost.body].into_iter().chain(others).collect();
        let header = nest.outermost().decides.block();
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
    Ok(Items {
        kernel,
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
                 most {MOST_BYTES}"
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
        || places.iter().any(|&(nest, segment)| {
            let since = site.instruction();
            segment.is_some_and(|segment| nests[nest].repeats(segment, since))
        })
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
    let mut reached = HashSet::new();
    let mut rest = vec![kernel.blocks()[0]];
    while let Some(block) = rest.pop() {
        if reached.insert(block) {
            rest.extend(block.successors());
        }
    }
    let entry = kernel.blocks()[0].instructions().into_iter();
    let variables = entry.filter(|one| one.opcode() == Opcode::LLVMAlloca);
    let mut arrays = Vec::new();
    for variable in variables {
        let mut inside = users(variable);
        inside.retain(|one| reached.contains(&one.block()));
        let here = &nests[nest];
        let is_here = |one: &Instruction<'m>| here.segment_of(*one).is_some();
        if inside.is_empty() || !inside.iter().all(is_here) || !is_own(variable) {
            continue;
        }
        let uses = uses(variable);
        let first = here.segment_of(inside[0]).expect("it is there");
        let pieces = here.pieces.as_ref().expect("it is split");
        let lives_on =
            pieces.repeats(first) && pieces.pieces[first].begins_with(variable, &pieces.cuts);
        let outlives = lives_on
            || uses.iter().any(|(one, does)| {
                let is_reached = reached.contains(&one.block());
                *does == Does::Unknown || is_reached && here.segment_of(*one) != Some(first)
            });
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
    let size = |count: u64| stride(module, variable)?.checked_mul(count);
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

/// Changes the kernels, but for what only says what their code is: [`finish`] comes after that is gone.
pub fn emit<'m>(module: &'m Module, items: &Items<'m>) -> Emitted<'m> {
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
    let arrays = items.arrays.iter();
    let arrays = arrays.map(|one| one.emit(module, kernel, &items.nests, &jumps, &counts));
    let shared = items.shared.iter().map(|one| **one);
    let common = arrays.chain(shared).collect();
    LOWERED_KERNEL.put_on(module, kernel);
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
        parts: parts.collect(),
        common,
        outside: items.outside.clone(),
    }
}

/// A kernel, changed but for what needs the calls gone that only say what its code is.
pub struct Emitted<'m> {
    kernel: Function<'m>,
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
        let turns: Vec<_> = turns.collect();
        let known = at_once::Known::of(module, one.kernel, &one.common, &one.outside);
        let natural = one.kernel.loops();
        for turns in &turns {
            let (header, steps) = turns.loops[turns.loops.len() - 1];
            let its = natural.iter().find(|one| one.header == header);
            // One that nothing reaches is none.
            let Some(its) = its else { continue };
            let body = its.blocks.iter().copied();
            let body: Vec<_> = body
                .filter(|block| ![header, steps].contains(block))
                .collect();
            let mut others = natural.iter();
            let has_loops = others.any(|one| body.contains(&one.header));
            let is_bounded = guards::emit(module, turns, &body, &one.common);
            at_once::emit(module, turns, &body, &known, is_bounded, has_loops);
        }
    }
    for one in emitted {
        let is_split = |part: &Part<'m>| matches!(part, Part::Split(_));
        if one.parts.iter().any(is_split) {
            one.kernel.remove_unreachable_blocks();
        }
    }
}

/// Bytes of an array for each work item: as many as keep the alignment that the variable's users rely on.
fn stride(module: &Module, variable: Instruction<'_>) -> Option<u64> {
    let size = module.size_of(variable.allocated_type()?);
    Some(size.next_multiple_of(u64::from(variable.stack_alignment()).max(1)))
}

/// What an array has for each work item.
fn element<'m>(module: &'m Module, variable: Instruction<'m>) -> Option<Type<'m>> {
    let ty = variable.allocated_type()?;
    let stride = stride(module, variable)?;
    Some(match stride == module.size_of(ty) {
        true => ty,
        false => module.array(module.int(8), stride),
    })
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
            let stride = stride(module, one.variable).unwrap_or(0);
            stride.saturating_mul(one.count)
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
    ) -> Value<'m> {
        let ty = element(module, self.variable).expect("a stack variable");
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
            self.fill(module, kernel, fill, all);
        }
        all
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
    ) {
        let ty = self.variable.allocated_type().expect("a stack variable");
        let element = element(module, self.variable).expect("a stack variable");
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
        let to = builder.element(element, all, number);
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
