//! Loops with `@tile`: each becomes a loop over blocks of its iterations and one over the iterations of a block, which are
//! `@outer` and `@inner` as the tile says. This comes before kernels are looked at; nothing behind knows of tiles.
//!
//! Guarantee: each iteration runs once, and no other, whatever the types and ends are: iterations are counted from 0, in
//! 64 bits and without a sign, and the iterator is computed from their number. In a tile with a check, a block has all of
//! its items, and those behind the last iteration do nothing. A module in which a tile is wrong stays as it is.
//!
//! Where one tile is in another, the `@outer` loop of the inner one comes before the `@inner` loop of the outer one. That is
//! right where the inner one counts the same in all iterations of the outer one, and where nothing stands between them but
//! what each iteration computes of its own, which it does again for each block of the inner tile.

mod emit;

use std::collections::HashSet;

use super::annotations::{self, Annotation, Kind, Tile, What};
use super::loops::{self, Wrong, WrongLoop, causes, check_axis};
use crate::analysis::meeting::is_barrier;
use crate::analysis::variables::{Does, is_destination, is_harmless, uses};
use crate::llvm::{Block, Call, Function, Instruction, Module, NaturalLoop, Opcode, Value};
use crate::marks::{LOWERED_KERNEL, OKL_TILE_SIZE};
use crate::recognise::counted::Form;

/// The tiles of a kernel, which are right.
pub struct Tiles<'m> {
    function: Function<'m>,
    tiled: Vec<Tiled<'m>>,
    /// Calls that say of loops that they are tiles with nothing to do for them.
    plain: Vec<Call<'m>>,
}

/// A loop that becomes two.
struct Tiled<'m> {
    site: Call<'m>,
    variable: Instruction<'m>,
    shape: Tile,
    form: Form<'m>,
    /// Iterations of a block.
    size: Size<'m>,
    marker: Option<Call<'m>>,
    /// What else is said of the iterator.
    said: Vec<(What, Call<'m>)>,
    /// What computes the end and the step, as it stands in the loop.
    ends: Vec<Instruction<'m>>,
    /// The tile around it, where its loop over blocks comes right inside of that one's.
    below: Option<Below<'m>>,
}

/// A tile in the items of another one.
struct Below<'m> {
    tile: usize,
    /// What computes its ends, step and size from what stays the same in the other one.
    computes: Vec<Instruction<'m>>,
}

#[derive(Clone, Copy)]
enum Size<'m> {
    Constant(i64),
    Computed(Value<'m>),
}

impl Size<'_> {
    fn constant(self) -> Option<i64> {
        match self {
            Size::Constant(size) => Some(size),
            Size::Computed(_) => None,
        }
    }
}

/// Takes all tiles of a module apart, where none of them is wrong. True where there are any.
pub fn prepare(module: &Module) -> bool {
    if !annotations::are_used(module) {
        return false;
    }
    let Ok(all) = check(module) else { return false };
    for one in &all {
        one.emit(module);
    }
    !all.is_empty()
}

/// The tiles of all kernels, or all that is wrong with them.
pub fn check(module: &Module) -> Result<Vec<Tiles<'_>>, Vec<Wrong<'_>>> {
    let kernels = annotations::kernels(module).into_iter();
    let kernels = kernels.map(|(function, _)| function);
    let kernels = kernels.filter(|one| !one.is_declaration() && !LOWERED_KERNEL.is_on(*one));
    let (mut all, mut wrong) = (Vec::new(), Vec::new());
    for function in kernels {
        match Tiles::of(function) {
            Ok(tiles) => all.extend(tiles),
            Err(more) => wrong.extend(more),
        }
    }
    match wrong.is_empty() {
        true => Ok(all),
        false => Err(wrong),
    }
}

impl<'m> Tiles<'m> {
    fn of(function: Function<'m>) -> Result<Option<Self>, Vec<Wrong<'m>>> {
        let said = annotations::of(function);
        let natural = function.loops();
        let (mut tiled, mut plain, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
        for one in &said {
            let What::Tile(shape) = &one.what else {
                continue;
            };
            let size = match size(one, shape) {
                Ok((_, marker)) if shape.kinds == [None, None] => {
                    plain.extend([Some(one.site), marker].into_iter().flatten());
                    continue;
                }
                size => size,
            };
            let of = |size| Tiled::of(one, shape, size, &natural, &said);
            match size.map_err(WrongLoop::from).and_then(of) {
                Ok(one) => tiled.push(one),
                Err(one) => wrong.push(one),
            }
        }
        let mut wrong = causes(wrong);
        if wrong.is_empty() {
            wrong = nest(&mut tiled);
        }
        match (wrong.is_empty(), tiled.is_empty() && plain.is_empty()) {
            (false, _) => Err(wrong),
            (true, true) => Ok(None),
            (true, false) => Ok(Some(Self {
                function,
                tiled,
                plain,
            })),
        }
    }
}

/// How many iterations a block has, and the call that is told of it where it is computed.
fn size<'m>(one: &Annotation<'m>, shape: &Tile) -> Result<(Size<'m>, Option<Call<'m>>), Wrong<'m>> {
    let site = one.site.instruction();
    let not_positive = || {
        let told = "the size of a @tile is a positive number";
        Err((site, told.to_string()))
    };
    let markers = markers(site, one.variable);
    let given = markers.last().copied();
    let size = match (shape.size, given.and_then(|call| call.argument(0))) {
        (0, Some(size)) => match size.as_constant_int() {
            Some(size) => Size::Constant(size),
            None => Size::Computed(size),
        },
        (size, _) => Size::Constant(size),
    };
    if markers.len() > 1 || given.is_some() && shape.size != 0 {
        return Err((site, "this @tile has two sizes".to_string()));
    }
    if given.is_some_and(|call| call.instruction().opcode() != Opcode::LLVMCall) {
        let told = "what tells the size of this @tile may fail";
        return Err((site, told.to_string()));
    }
    match size.constant().is_some_and(|size| size < 1) {
        true => not_positive(),
        false => Ok((size, given)),
    }
}

/// The calls that are told of a size, from where something is said of an iterator to where it gets its first value.
fn markers<'m>(site: Instruction<'m>, variable: Instruction<'m>) -> Vec<Call<'m>> {
    let mut found = Vec::new();
    let mut seen = HashSet::from([site.block()]);
    let mut rest = vec![site.block()];
    while let Some(block) = rest.pop() {
        let all = block.instructions().into_iter();
        let skipped = all.skip_while(|one| block == site.block() && *one != site);
        let is_first = |one: &Instruction<'m>| {
            one.opcode() == Opcode::LLVMStore && one.operand(1) == *variable
        };
        let mut is_given = false;
        for one in skipped {
            is_given |= is_first(&one);
            let call = one.as_call().filter(|_| !is_given);
            found.extend(call.filter(|call| call.callee_name() == OKL_TILE_SIZE));
        }
        if !is_given {
            let next = block.successors().into_iter();
            rest.extend(next.filter(|next| seen.insert(*next)));
        }
    }
    found
}

impl<'m> Tiled<'m> {
    fn of(
        one: &Annotation<'m>,
        shape: &Tile,
        (size, marker): (Size<'m>, Option<Call<'m>>),
        natural: &[NaturalLoop<'m>],
        said: &[Annotation<'m>],
    ) -> Result<Self, WrongLoop<'m>> {
        let site = one.site.instruction();
        for (kind, axis) in shape.kinds.into_iter().flatten() {
            check_axis(kind, axis).map_err(|told| (site, told))?;
        }
        if [shape.kind(0), shape.kind(1)] == [Some(Kind::Inner), Some(Kind::Outer)] {
            let told = "the first loop of this @tile, which is over blocks, is @inner, and the second one @outer: @outer \
                        loops are around @inner loops";
            return Err((site, told.to_string()).into());
        }
        let form = loops::form(one, "@tile", natural, said)?;
        let wrong = |told: &str| WrongLoop::from((site, format!("this @tile loop {told}")));
        let unknown = || wrong("has a condition, or a step, that is not understood");
        let ends = ends(&form, one.variable).ok_or_else(unknown)?;
        let others = said
            .iter()
            .filter(|other| other.variable == one.variable && other.site.instruction() != site);
        let tiled = Self {
            site: one.site,
            variable: one.variable,
            shape: shape.clone(),
            form,
            size,
            marker,
            said: others.map(|one| (one.what.clone(), one.site)).collect(),
            ends,
            below: None,
        };
        if let (false, Some(count), Some(size)) = (shape.checks, tiled.count(), size.constant())
            && count % size != 0
        {
            let told = format!(
                "has {count} iterations: a size of {size} does not divide them, as check=false says"
            );
            return Err(wrong(&told));
        }
        let barrier = || {
            let blocks = tiled.form.blocks.iter();
            let mut all = blocks.flat_map(|block| block.instructions());
            all.find(|one| is_barrier(*one))
        };
        if shape.kind(1) == Some(Kind::Inner)
            && tiled.has_check()
            && let Some(barrier) = barrier()
        {
            let told = "this barrier is inside of a @tile with a check: it is not sure that all work items of the last \
                        block come to it; where the size divides the number of iterations, check=false says so";
            return Err((barrier, told.to_string()).into());
        }
        Ok(tiled)
    }

    /// Iterations, where it is sure that there are so many.
    fn count(&self) -> Option<i64> {
        let count = self.form.count.filter(|(_, is_sure)| *is_sure);
        count.map(|(count, _)| count)
    }

    /// Whether the last block may have items that have nothing to do.
    fn has_check(&self) -> bool {
        let divides = self
            .count()
            .zip(self.size.constant())
            .is_some_and(|(count, size)| count % size == 0);
        self.shape.checks && !divides
    }

    fn first(&self) -> Value<'m> {
        self.form.begins.operand(0)
    }
}

/// What computes the end and the step of a loop inside of it, in its order. `None` where it does anything else there.
fn ends<'m>(form: &Form<'m>, variable: Instruction<'m>) -> Option<Vec<Instruction<'m>>> {
    if form.begins.block().successors() != [form.header] || form.exit.phis().next().is_some() {
        return None;
    }
    let asks = form.decides.branch_condition()?.as_instruction()?;
    let [a, b] = [asks.operand(0), asks.operand(1)];
    let iterator = if a == form.bound.value { b } else { a }.as_instruction()?;
    // A wider number at most: a narrower one is another iterator.
    let load = match iterator.opcode() {
        Opcode::LLVMSExt | Opcode::LLVMZExt => iterator.operand(0).as_instruction()?,
        _ => iterator,
    };
    let is_load = load.opcode() == Opcode::LLVMLoad && load.operand(0) == *variable;
    let counts = [asks, iterator, load, form.decides];
    let is_only = |one: &Instruction<'m>| {
        let users = one.instruction_users();
        users.iter().all(|user| counts.contains(user))
    };
    if !is_load || ![asks, iterator, load].iter().all(is_only) {
        return None;
    }
    let bits = |value: Value<'m>| value.ty().bits().is_some_and(|bits| bits <= 64);
    if !bits(form.bound.value) || !bits(form.step.value) {
        return None;
    }
    let is_inside = |one: Instruction<'m>| form.has(one.block());
    let needed = operands(&[form.bound.value, form.step.value], &is_inside);
    let is_right = |one: &Instruction<'m>| {
        one.only_computes()
            || is_harmless(*one)
            || one.opcode() == Opcode::LLVMStore
            || needed.contains(one)
    };
    let header = form.header.instructions().into_iter();
    let mut all: Vec<_> = header.filter(|one| !counts.contains(one)).collect();
    if !all.iter().all(is_right) {
        return None;
    }
    let steps = form.steps.block();
    if needed
        .iter()
        .any(|one| ![form.header, steps].contains(&one.block()))
    {
        return None;
    }
    let of_step = steps.instructions().into_iter();
    all.extend(of_step.filter(|one| needed.contains(one)));
    Some(all)
}

/// What values are computed from, where it is inside of something: operands first.
fn operands<'m>(
    of: &[Value<'m>],
    is_inside: &dyn Fn(Instruction<'m>) -> bool,
) -> Vec<Instruction<'m>> {
    let mut found: Vec<Instruction<'m>> = Vec::new();
    let mut seen = HashSet::new();
    let mut rest: Vec<(Value<'m>, bool)> = of.iter().map(|&one| (one, false)).collect();
    while let Some((value, is_done)) = rest.pop() {
        let Some(one) = value.as_instruction().filter(|one| is_inside(*one)) else {
            continue;
        };
        if is_done {
            found.push(one);
        } else if seen.insert(one) {
            rest.push((value, true));
            rest.extend(one.operands().into_iter().map(|one| (one, false)));
        }
    }
    found
}

/// Finds the tiles whose loops over blocks come below those of others, and what is wrong with that.
fn nest<'m>(tiled: &mut [Tiled<'m>]) -> Vec<Wrong<'m>> {
    let around = |at: usize| {
        let header = tiled[at].form.header;
        let all = (0..tiled.len()).filter(|&other| other != at && tiled[other].form.has(header));
        all.min_by_key(|&other| tiled[other].form.blocks.len())
    };
    // Outer ones come first.
    let below = |at: usize| {
        let other = around(at)?;
        let shape = &tiled[other].shape;
        let is_below = tiled[at].shape.kind(0) == Some(Kind::Outer)
            && shape.kind(0) == Some(Kind::Outer)
            && shape.kind(1) != Some(Kind::Outer);
        is_below.then_some(other)
    };
    let all: Vec<_> = (0..tiled.len()).map(below).collect();
    let mut wrong = Vec::new();
    for at in 0..tiled.len() {
        let Some(tile) = all[at] else { continue };
        let mut root = tile;
        while let Some(next) = all[root] {
            root = next;
        }
        let one = &tiled[at];
        match between(&tiled[tile], one).and_then(|()| computed_before(one, &tiled[root])) {
            Ok(computes) => tiled[at].below = Some(Below { tile, computes }),
            Err(one) => wrong.push(one),
        }
    }
    wrong
}

/// The variable that an address lies in.
fn variable_of<'m>(address: Value<'m>) -> Option<Instruction<'m>> {
    address.underlying_object().as_op(Opcode::LLVMAlloca)
}

/// Whether a loop may change a variable.
fn changes<'m>(form: &Form<'m>, variable: Instruction<'m>) -> bool {
    uses(variable).into_iter().any(|(at, does)| match does {
        Does::Read => false,
        Does::Write => form.has(at.block()),
        Does::Unknown => true,
    })
}

/// Checks that nothing is between a tile and one in it but what each iteration computes of its own.
fn between<'m>(outer: &Tiled<'m>, inner: &Tiled<'m>) -> Result<(), Wrong<'m>> {
    let told = |at: Instruction<'m>| {
        let told = "this stands between two tiles, one in the other, of which both @outer loops come first: only variables \
                    may be computed here, from variables that the inner tile does not change";
        (at, told.to_string())
    };
    let way = |from: Block<'m>, to: Block<'m>| {
        let mut way = vec![from];
        while let Some(&block) = way.last().filter(|block| **block != to) {
            match block.successors()[..] {
                [next] if outer.form.has(next) && !way.contains(&next) => way.push(next),
                _ => return Err(block.terminator().expect("a complete block")),
            }
        }
        Ok(way)
    };
    let before = way(outer.form.body, inner.form.begins.block()).map_err(told)?;
    let mut behind = way(inner.form.exit, outer.form.steps.block()).map_err(told)?;
    behind.pop();
    let said = inner.said.iter().map(|(_, site)| *site);
    let said: Vec<_> = said.chain([inner.site]).chain(inner.marker).collect();
    let is_first = |one: Instruction<'m>| {
        let call = one.as_call();
        one == inner.form.begins || call.is_some_and(|call| said.contains(&call))
    };
    for block in before {
        for one in block.instructions() {
            let is_right = match one.opcode() {
                _ if is_first(one) || is_harmless(one) => true,
                Opcode::LLVMBr => true,
                Opcode::LLVMLoad => {
                    let variable = variable_of(one.operand(0));
                    !one.is_volatile() && variable.is_some_and(|one| !changes(&inner.form, one))
                }
                Opcode::LLVMStore => variable_of(one.operand(1)).is_some() && !one.is_volatile(),
                _ => one.only_computes(),
            };
            if !is_right {
                return Err(told(one));
            }
        }
    }
    for block in behind {
        for one in block.instructions() {
            let is_right = match one.opcode() {
                Opcode::LLVMBr => true,
                Opcode::LLVMStore => variable_of(one.operand(1)).is_some_and(is_destination),
                _ => is_harmless(one),
            };
            if !is_right {
                return Err(told(one));
            }
        }
    }
    Ok(())
}

/// What computes the ends, step and size of a tile, which can be computed before another one around it.
fn computed_before<'m>(
    inner: &Tiled<'m>,
    root: &Tiled<'m>,
) -> Result<Vec<Instruction<'m>>, Wrong<'m>> {
    let mut all = vec![inner.first(), inner.form.bound.value, inner.form.step.value];
    if let Size::Computed(size) = inner.size {
        all.push(size);
    }
    let is_inside = |one: Instruction<'m>| root.form.has(one.block());
    let computes = operands(&all, &is_inside);
    let is_right = |one: &Instruction<'m>| match one.opcode() {
        Opcode::LLVMLoad => {
            let variable = variable_of(one.operand(0));
            !one.is_volatile() && variable.is_some_and(|one| !changes(&root.form, one))
        }
        _ => one.only_computes(),
    };
    match computes.iter().chain(&inner.ends).all(is_right) {
        true => Ok(computes),
        false => {
            let told = "the @outer loop of this @tile comes before the @inner loop of the tile around it: its first value, \
                        its end, its step and its size have to be computed from variables that do not change in there";
            Err((inner.site.instruction(), told.to_string()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::OwnModule;

    fn kernel(name: &str, size: i32) -> String {
        format!(
            "@args.{name} = private constant {{ i32, ptr, i32, ptr, i32, i32 }}
                {{ i32 {size}, ptr @outer, i32 -1, ptr @inner, i32 -1, i32 1 }}
            define void @{name}(i32 %n) {{
                %i = alloca i32
                call void @llvm.var.annotation.p0.p0(ptr %i, ptr @tile, ptr @tile, i32 1, ptr @args.{name})
                store i32 0, ptr %i
                br label %header
            header:
                %here = load i32, ptr %i
                %more = icmp slt i32 %here, %n
                br i1 %more, label %body, label %exit
            body:
                br label %step
            step:
                %before = load i32, ptr %i
                %after = add nsw i32 %before, 1
                store i32 %after, ptr %i
                br label %header
            exit:
                ret void
            }}
            "
        )
    }

    /// Whether a module with two kernels is changed, and how many blocks the first one has then.
    fn prepared(sizes: [i32; 2]) -> (bool, usize) {
        let entry = |name| {
            format!(
                "{{ ptr, ptr, ptr, i32, ptr }} {{ ptr @{name}, ptr @kernel, ptr @tile, i32 1, ptr null }}"
            )
        };
        let module = OwnModule::parse(&format!(
            "@tile = private constant [9 x i8] c\"okl.tile\\00\"
            @kernel = private constant [11 x i8] c\"okl.kernel\\00\"
            @outer = private constant [6 x i8] c\"outer\\00\"
            @inner = private constant [6 x i8] c\"inner\\00\"
            @llvm.global.annotations = appending global [2 x {{ ptr, ptr, ptr, i32, ptr }}] [{}, {}], section \"llvm.metadata\"
            declare void @llvm.var.annotation.p0.p0(ptr, ptr, ptr, i32, ptr)
            {}{}",
            entry("first"),
            entry("second"),
            kernel("first", sizes[0]),
            kernel("second", sizes[1]),
        ));
        let changed = prepare(&module);
        module.verify().expect("it is a module");
        let first = module.function("first").expect("it is there");
        (changed, first.blocks().len())
    }

    #[test]
    fn a_module_in_which_a_tile_is_wrong_stays_as_it_is() {
        assert_eq!(prepared([16, -1]), (false, 5));
        let (changed, blocks) = prepared([16, 8]);
        assert!(changed && blocks > 5);
    }
}
