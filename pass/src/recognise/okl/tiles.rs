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

use std::collections::{HashMap, HashSet};

use super::annotations::{self, Annotation, Kind, Tile, What};
use super::loops::{Form, Wrong, check_axis};
use crate::analysis::meeting::is_barrier;
use crate::analysis::variables::{Does, is_destination, is_harmless, uses};
use crate::llvm::{
    Block, Builder, Call, Comparison, Function, Instruction, IntPredicate, Module, NaturalLoop,
    Opcode, Value,
};
use crate::marks::{LOWERED_KERNEL, OKL_TILE_SIZE};

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
            match size.and_then(|size| Tiled::of(one, shape, size, &natural, &said)) {
                Ok(one) => tiled.push(one),
                Err(one) => wrong.push(one),
            }
        }
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
    if markers.len() > 1 {
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
    ) -> Result<Self, Wrong<'m>> {
        let site = one.site.instruction();
        for (kind, axis) in shape.kinds.into_iter().flatten() {
            check_axis(kind, axis).map_err(|told| (site, told))?;
        }
        if [shape.kind(0), shape.kind(1)] == [Some(Kind::Inner), Some(Kind::Outer)] {
            let told = "the first loop of this @tile, which is over blocks, is @inner, and the second one @outer: @outer \
                        loops are around @inner loops";
            return Err((site, told.to_string()));
        }
        let form = Form::of(one, "@tile", natural, said)?;
        let wrong = |told: &str| (site, format!("this @tile loop {told}"));
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
            return Err((barrier, told.to_string()));
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

/// A number that is known, or a variable with one, of 64 bits.
#[derive(Clone, Copy)]
enum Number<'m> {
    Constant(i64),
    Variable(Value<'m>),
}

impl<'m> Number<'m> {
    fn get(self, builder: &Builder<'m>) -> Value<'m> {
        match self {
            Number::Constant(number) => builder.module().const_i64(number),
            Number::Variable(variable) => builder.load(builder.module().int(64), variable),
        }
    }
}

/// The numbers and variables of the two loops that a tile becomes.
struct Numbers<'m> {
    /// The first value of the iterator.
    first: Number<'m>,
    /// How far each step goes, up or down.
    step: Number<'m>,
    /// Items of a block.
    size: Number<'m>,
    /// Iterations of both loops.
    count: Number<'m>,
    /// The first item of the block.
    block: Value<'m>,
    /// The number of an item in its block.
    item: Value<'m>,
}

/// Has control go somewhere else where a block ends.
fn turn<'m>(end: Instruction<'m>, old: Block<'m>, new: Block<'m>) {
    for (at, operand) in end.operands().into_iter().enumerate() {
        if operand == old.label() {
            end.set_operand(at, new.label());
        }
    }
}

/// Deletes what computes something for nobody.
fn sweep(all: &[Instruction<'_>]) {
    for one in all.iter().rev() {
        if one.is_unused() && one.only_computes() {
            one.erase();
        }
    }
}

impl<'m> Tiles<'m> {
    fn emit(&self, module: &'m Module) {
        for call in self.plain.iter().rev() {
            call.instruction().erase();
        }
        let numbers: Vec<_> = self
            .tiled
            .iter()
            .map(|one| one.numbers(module, self.function))
            .collect();
        let roots = (0..self.tiled.len()).filter(|&at| self.tiled[at].below.is_none());
        for root in roots {
            let mut chain = vec![root];
            while let Some(next) = self.below(chain[chain.len() - 1]) {
                chain.push(next);
            }
            self.blocks(module, &chain, &numbers);
        }
        // What computed the first values of tiles below others is computed elsewhere.
        let starts = self.tiled.iter().flat_map(|one| {
            let computes = one.below.iter().flat_map(|below| &below.computes);
            let begins = one.form.begins.block();
            computes.filter(move |one| one.block() == begins)
        });
        let starts: Vec<_> = starts.copied().collect();
        for (one, numbers) in self.tiled.iter().zip(&numbers) {
            one.items(module, numbers);
        }
        for one in &self.tiled {
            let said = one.said.iter().map(|(_, site)| *site);
            for call in said.chain([one.site]).chain(one.marker) {
                call.instruction().erase();
            }
        }
        sweep(&starts);
    }

    /// The tile whose loop over blocks comes right inside of that of another one.
    fn below(&self, tile: usize) -> Option<usize> {
        let is_below = |one: &Tiled<'m>| one.below.as_ref().is_some_and(|below| below.tile == tile);
        self.tiled.iter().position(is_below)
    }

    /// Writes the loops over the blocks of tiles, one in the other, in front of the loop of the first one.
    fn blocks(&self, module: &'m Module, chain: &[usize], numbers: &[Numbers<'m>]) {
        let root = &self.tiled[chain[0]];
        let before = root.form.begins.block();
        let end = before.terminator().expect("a complete block");
        for one in &root.ends {
            one.move_before(end);
        }
        let (mut enter, mut exit) = (end, root.form.exit);
        let mut target = root.form.header;
        for &at in chain {
            let (one, its) = (&self.tiled[at], &numbers[at]);
            let like = one.site.instruction();
            let [starts, begins, asks, steps] =
                [(); 4].map(|()| self.function.append_block(module));
            turn(enter, target, starts);
            let builder = Builder::at_end_like(module, starts, like);
            one.compute(&builder, its, begins, self.function);
            let builder = Builder::at_end_like(module, begins, like);
            one.say(&builder, 0, its.block);
            builder.store(module.const_i64(0), its.block);
            builder.go(asks);
            let builder = Builder::at_end_like(module, asks, like);
            let block = builder.load(module.int(64), its.block);
            let is_less = Comparison::Integer(IntPredicate::LLVMIntULT);
            let goes_on = builder.ask(is_less, block, its.count.get(&builder));
            // Where it goes is what comes next in the chain.
            enter = builder.go_if(goes_on, begins, exit);
            let builder = Builder::at_end_like(module, steps, like);
            let block = builder.load(module.int(64), its.block);
            builder.store(builder.sum(block, its.size.get(&builder)), its.block);
            builder.go(asks);
            (target, exit) = (begins, steps);
        }
        let inside = self.function.append_block(module);
        turn(enter, target, inside);
        let builder = Builder::at_end_like(module, inside, root.site.instruction());
        root.say(&builder, 1, numbers[chain[0]].item);
        builder.store(module.const_i64(0), numbers[chain[0]].item);
        builder.go(root.form.header);
        turn(root.form.decides, root.form.exit, exit);
    }
}

impl<'m> Tiled<'m> {
    fn numbers(&self, module: &'m Module, function: Function<'m>) -> Numbers<'m> {
        let variable = || Builder::at_entry(module, function).alloca(module.int(64), 8);
        let number = |known: Option<i64>| match known {
            Some(number) => Number::Constant(number),
            None => Number::Variable(variable()),
        };
        Numbers {
            first: number(None),
            step: number(self.form.by.map(i64::wrapping_abs)),
            size: number(self.size.constant()),
            count: number(self.count()),
            block: variable(),
            item: variable(),
        }
    }

    /// Says of the iterator of one of the two loops what it is, and what else is said that belongs to it.
    fn say(&self, builder: &Builder<'m>, at: usize, variable: Value<'m>) {
        let module = builder.module();
        let [_, _, file, line, _] = self.site.arguments()[..] else {
            unreachable!("an annotation has five arguments");
        };
        if let Some((kind, axis)) = self.shape.kinds[at] {
            let name = match kind {
                Kind::Outer => "okl.outer",
                Kind::Inner => "okl.inner",
            };
            let name = module.add_text("okl.tile", name);
            // As clang's: it is in no object.
            name.set_section(SECTION);
            let values = axis.map(|axis| {
                let values = module.const_struct(&[module.const_i32(axis as i32)]);
                let values = module.add_constant("okl.tile", values);
                values.set_section(SECTION);
                *values
            });
            let values = values.unwrap_or(module.pointer().zero());
            builder.call_alike(self.site, &[variable, *name, file, line, values]);
        }
        for (what, call) in &self.said {
            let is_of_items = *what == What::NoBarrier && self.shape.kind(1) == Some(Kind::Inner);
            if is_of_items == (at == 1) {
                let mut arguments = call.arguments();
                arguments[0] = variable;
                builder.call_alike(*call, &arguments);
            }
        }
    }

    /// Computes how many iterations there are, and goes on in a block.
    fn compute(
        &self,
        builder: &Builder<'m>,
        numbers: &Numbers<'m>,
        then: Block<'m>,
        function: Function<'m>,
    ) {
        let module = builder.module();
        let mut copies: HashMap<Value<'m>, Value<'m>> = HashMap::new();
        for one in self.below.iter().flat_map(|below| &below.computes) {
            let of = one.operands().into_iter();
            let of: Vec<_> = of
                .map(|one| copies.get(&one).copied().unwrap_or(one))
                .collect();
            copies.insert(**one, builder.copy_of(*one, &of));
        }
        let here = |value: Value<'m>| copies.get(&value).copied().unwrap_or(value);
        let (form, int) = (&self.form, module.int(64));
        let wider = |value: Value<'m>, ty, signed| match signed {
            true => builder.sign_extend(value, ty),
            false => builder.int_cast(value, ty),
        };
        let bound = &form.bound;
        let (first, end) = (here(self.first()), here(bound.value));
        let asked = wider(first, end.ty(), bound.counts_signed);
        let asked = wider(asked, int, bound.signed);
        let end = wider(end, int, bound.signed);
        let put = |number: Number<'m>, value: Value<'m>| {
            if let Number::Variable(variable) = number {
                builder.store(value, variable);
            }
        };
        put(numbers.first, wider(first, int, bound.counts_signed));
        let predicate = match (bound.is_above, bound.is_last, bound.signed) {
            (true, false, true) => IntPredicate::LLVMIntSLT,
            (true, true, true) => IntPredicate::LLVMIntSLE,
            (true, false, false) => IntPredicate::LLVMIntULT,
            (true, true, false) => IntPredicate::LLVMIntULE,
            (false, false, true) => IntPredicate::LLVMIntSGT,
            (false, true, true) => IntPredicate::LLVMIntSGE,
            (false, false, false) => IntPredicate::LLVMIntUGT,
            (false, true, false) => IntPredicate::LLVMIntUGE,
        };
        let is_some = builder.ask(Comparison::Integer(predicate), asked, end);
        let distance = match bound.is_above {
            true => builder.difference(end, asked),
            false => builder.difference(asked, end),
        };
        // What is not positive is no step and no size: there is no right way to go on.
        let mut fails = None;
        let mut positive = |value: Value<'m>| {
            let one = module.const_i64(1);
            let less = IntPredicate::LLVMIntSLT;
            let is_less = builder.ask(Comparison::Integer(less), value, one);
            let before = fails.unwrap_or(module.int(1).zero());
            fails = Some(builder.binary(Opcode::LLVMOr, before, is_less));
            builder.select(is_less, one, value)
        };
        let step = match numbers.step {
            Number::Constant(step) => module.const_i64(step),
            Number::Variable(_) => {
                // Without a sign, a negative number is too large to be meant.
                positive(wider(here(form.step.value), int, true))
            }
        };
        let size = match self.size {
            Size::Constant(size) => module.const_i64(size),
            Size::Computed(size) => positive(wider(here(size), int, true)),
        };
        put(numbers.step, step);
        put(numbers.size, size);
        let last = match bound.is_last {
            true => distance,
            false => builder.plus(distance, -1),
        };
        let turns = builder.binary(Opcode::LLVMUDiv, last, step);
        let count = builder.select(is_some, builder.plus(turns, 1), module.const_i64(0));
        put(numbers.count, count);
        match fails {
            None => builder.go(then),
            Some(fails) => {
                let end = function.append_block(module);
                let fails = builder.binary(Opcode::LLVMAnd, is_some, fails);
                builder.go_if(fails, end, then);
                let builder = Builder::at_end_like(module, end, self.site.instruction());
                builder.trap();
                builder.go(then);
            }
        }
    }

    /// Makes the loop one over the items of a block.
    fn items(&self, module: &'m Module, numbers: &Numbers<'m>) {
        let (form, int) = (&self.form, module.int(64));
        let like = self.site.instruction();
        let header: Vec<_> = form.header.instructions();
        let steps = form.steps.block();
        let old_steps = steps.instructions();
        if self.below.is_some() {
            let builder = Builder::before(module, form.begins);
            builder.stand_at(like);
            self.say(&builder, 1, numbers.item);
            builder.store(module.const_i64(0), numbers.item);
        }
        let has_check = self.has_check();
        let is_less = Comparison::Integer(IntPredicate::LLVMIntULT);
        let builder = Builder::before(module, form.decides);
        builder.stand_at(like);
        let item = builder.load(int, numbers.item);
        let size = numbers.size.get(&builder);
        let most = match has_check && self.shape.kind(1).is_none() {
            true => {
                let block = builder.load(int, numbers.block);
                let left = builder.difference(numbers.count.get(&builder), block);
                builder.least(size, left)
            }
            false => size,
        };
        form.decides
            .set_branch_condition(builder.ask(is_less, item, most));
        let function = form.header.function();
        let begins = function.append_block(module);
        let builder = Builder::at_end_like(module, begins, like);
        let block = builder.load(int, numbers.block);
        let item = builder.load(int, numbers.item);
        let number = builder.sum(block, item);
        let inside = match has_check && self.shape.kind(1).is_some() {
            true => {
                let inside = function.append_block(module);
                let is_one = builder.ask(is_less, number, numbers.count.get(&builder));
                builder.go_if(is_one, inside, steps);
                inside
            }
            false => begins,
        };
        let builder = Builder::at_end_like(module, inside, like);
        let far = builder.binary(Opcode::LLVMMul, number, numbers.step.get(&builder));
        let first = numbers.first.get(&builder);
        let value = match form.bound.is_above {
            true => builder.sum(first, far),
            false => builder.difference(first, far),
        };
        let ty = self.variable.allocated_type().expect("a variable");
        let value = match form.width < 64 {
            true => builder.cast(Opcode::LLVMTrunc, value, ty),
            false => value,
        };
        // An iteration is between the ends, which are of the iterator's type.
        if form.bound.value.ty() == ty
            && let Some(narrow) = value.as_op(Opcode::LLVMTrunc)
        {
            narrow.promise_no_wrap(form.bound.counts_signed);
        }
        builder.store(value, *self.variable);
        builder.go(form.body);
        turn(form.decides, form.body, begins);
        let builder = Builder::before(module, form.steps);
        let item = builder.load(int, numbers.item);
        builder.store(builder.plus(item, 1), numbers.item);
        form.steps.erase();
        form.begins.erase();
        sweep(
            &old_steps
                .into_iter()
                .filter(|one| *one != form.steps)
                .collect::<Vec<_>>(),
        );
        sweep(
            &header
                .into_iter()
                .filter(|one| *one != form.decides)
                .collect::<Vec<_>>(),
        );
    }
}

/// Where clang puts what annotations say.
const SECTION: &str = "llvm.metadata";

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
