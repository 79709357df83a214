//! What becomes of loops with `@tile` that are right: the blocks of both loops, their numbers, and what is said of them.

use std::collections::HashMap;

use super::super::annotations::{Kind, What};
use super::{Size, Tiled, Tiles};
use crate::llvm::{
    Asks, Block, Builder, Comparison, Function, Instruction, IntPredicate, Module, Opcode, Value,
};
use crate::marks::FEW_ITERATIONS;

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

/// Deletes what computes something for nobody.
fn sweep(all: &[Instruction<'_>]) {
    for one in all.iter().rev() {
        if one.is_unused() && one.only_computes() {
            one.erase();
        }
    }
}

impl<'m> Tiles<'m> {
    /// Makes the loops.
    pub(super) fn emit(&self, module: &'m Module) {
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
            enter.block().turn(target, starts);
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
        enter.block().turn(target, inside);
        let builder = Builder::at_end_like(module, inside, root.site.instruction());
        root.say(&builder, 1, numbers[chain[0]].item);
        builder.store(module.const_i64(0), numbers[chain[0]].item);
        builder.go(root.form.header);
        // Where the loop over items ends is in the block: more may come to stand there.
        let behind = self.function.append_block(module);
        Builder::at_end_like(module, behind, root.site.instruction()).go(exit);
        root.form.decides.block().turn(root.form.exit, behind);
    }
}

impl<'m> Tiled<'m> {
    fn numbers(&self, module: &'m Module, function: Function<'m>) -> Numbers<'m> {
        let variable = || Builder::at_entry(module, function).alloca(module.int(64), 8);
        let number = |known: Option<i64>| match known {
            Some(number) => Number::Constant(number),
            None => Number::Variable(variable()),
        };
        let counter = || {
            let variable = variable();
            if self.has_few_iterations() {
                let noted = variable.as_op(Opcode::LLVMAlloca).expect("it was made");
                noted.note(FEW_ITERATIONS);
            }
            variable
        };
        let first = self.first().as_constant_int();
        let first = first.map(|first| match self.form.bound.counts_signed {
            true => first,
            false => first & (u64::MAX >> (64 - self.form.width)) as i64,
        });
        Numbers {
            first: number(first),
            step: number(self.form.by.map(i64::wrapping_abs)),
            size: number(self.size.constant()),
            count: match self.count() {
                Some(count) => Number::Constant(count),
                None => Number::Variable(counter()),
            },
            block: counter(),
            item: variable(),
        }
    }

    /// Whether the last block ends at a number of 32 bits without a sign, whatever the ends are.
    fn has_few_iterations(&self) -> bool {
        const MOST_ITEMS: i64 = 1 << 20;
        let bound = &self.form.bound;
        let is_narrow = |value: Value<'m>| value.ty().bits().is_some_and(|bits| bits <= 32);
        let is_from_zero = self
            .first()
            .as_constant_int()
            .is_some_and(|first| first >= 0);
        let goes_up = bound.is_above && bound.signed && bound.counts_signed;
        let size = self.size.constant();
        is_from_zero
            && goes_up
            && is_narrow(self.first())
            && is_narrow(bound.value)
            && size.is_some_and(|size| size <= MOST_ITEMS)
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
            let belongs_to = match what {
                What::Attribute(row, _) => row.belongs_to(&self.shape.loops()),
                _ => None,
            };
            if belongs_to.unwrap_or(0) == at {
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
        let asks = Asks {
            is_up: bound.is_above,
            is_last: bound.is_last,
            signed: bound.signed,
        };
        let [is_some, count] = builder.iterations(asks, asked, end, step);
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
        // A block that comes so late nobody lives to see.
        if let Some(sum) = number.as_op(Opcode::LLVMAdd) {
            sum.promise_no_wrap(false);
        }
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
        form.decides.block().turn(form.body, begins);
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
