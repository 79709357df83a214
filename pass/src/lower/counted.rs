//! Stores that counters count are marked behind their nest, in runs, from what the counters were and what they are then:
//! the nest itself runs nearly as it is.
//!
//! Guarantee: behind the nest everything is marked that such a store has written, and nothing else. Where the run time says
//! so, where there are fewer turns than it is worth, and where the store might write to the counters, it is marked at each
//! store instead, before it is stored.

use std::collections::HashMap;

use crate::analysis::sections::{Counted, Counters, Exit, FunctionSections, Mark};
use crate::llvm::{
    Block, Builder, Comparison, Function, Instruction, IntPredicate, Linkage, Module, Value,
};
use okl_abi::section_access::AT_EACH_STORE;

/// Where the marks of an object go, as the run time has told the program.
#[derive(Clone, Copy)]
pub struct MarksOf<'m> {
    /// The address from which marks count.
    pub start: Value<'m>,
    /// The first mark.
    pub marks: Value<'m>,
    /// For the number of a mark.
    pub mask: Value<'m>,
    /// Bytes that have one mark.
    pub unit: i64,
}

/// A store of which is known, in front of its nest, how it will be marked.
pub struct Marking<'a, 'm> {
    mark: &'a Mark<'m>,
    counted: &'a Counted<'m>,
    place: MarksOf<'m>,
    /// Whether it is marked at each store.
    at_each: Value<'m>,
    /// Otherwise.
    is_behind: Value<'m>,
    counters: Value<'m>,
    /// What they were.
    before: Value<'m>,
}

fn ask<'m>(
    builder: &Builder<'m>,
    predicate: IntPredicate,
    a: Value<'m>,
    b: Value<'m>,
) -> Value<'m> {
    builder.ask(Comparison::Integer(predicate), a, b)
}

/// In front of the nest, before `in_front`: keeps what the counters are.
pub fn begin<'a, 'm>(
    module: &'m Module,
    sections: &FunctionSections<'m>,
    in_front: Instruction<'m>,
    mark: &'a Mark<'m>,
    told: &MarksOf<'m>,
) -> Marking<'a, 'm> {
    let builder = &Builder::before(module, in_front);
    let counted = mark.counted.as_ref().expect("all of the entry's are");
    let bytes = counted.count * counted.bytes;
    let room = module.array(module.int(64), (bytes as u64).div_ceil(8));
    let before = Builder::at_entry(module, sections.function).alloca(room, 8);
    let counters = match counted.counters {
        Counters::At(address) => address,
        Counters::Of(slot) => builder.load(module.pointer(), *slot),
    };
    builder.copy_as_it_is(before, counters, bytes, counted.bytes as u32);
    let number = |number| module.const_i64(number);
    let place = MarksOf {
        mask: builder.and(told.mask, number(!AT_EACH_STORE)),
        ..*told
    };
    // Where the counters lie in the object, the program changes them as it writes.
    let first = builder.difference(builder.bits_of(counters, 64), told.start);
    let marked = builder.multiply(builder.plus(place.mask, 1), number(told.unit));
    let below = IntPredicate::LLVMIntULT;
    let turns = sections.nests.expand(counted.turns, in_front);
    let reasons = [
        ask(builder, IntPredicate::LLVMIntSLT, told.mask, number(0)),
        ask(builder, below, first, marked),
        ask(builder, below, builder.plus(first, bytes - 1), marked),
        ask(builder, below, turns, number(2 * counted.count)),
    ];
    let any = reasons
        .into_iter()
        .reduce(|any, one| builder.select(any, any, one));
    let at_each = any.expect("there are some");
    Marking {
        mark,
        counted,
        place,
        at_each,
        is_behind: builder.compare(at_each, at_each.ty().zero(), false),
        counters,
        before,
    }
}

/// In the nests and behind them. No other declaration may be emitted after this one: blocks are no longer those that were
/// analysed.
pub fn emit<'m>(module: &'m Module, all: &[Marking<'_, 'm>]) {
    let mut behind: HashMap<&Exit<'m>, Block<'m>> = HashMap::new();
    for exit in all.iter().flat_map(|one| &one.counted.exits) {
        let split = || exit.to.split_edges(&exit.from);
        behind.entry(exit).or_insert_with(split);
    }
    for one in all {
        emit_one(module, one, &behind);
    }
}

fn emit_one<'m>(module: &'m Module, one: &Marking<'_, 'm>, behind: &HashMap<&Exit<'m>, Block<'m>>) {
    let (mark, counted, place) = (one.mark, one.counted, one.place);
    let then = mark.at.insert_if(one.at_each);
    let builder = Builder::before(module, then);
    let number = number_of(&builder, builder.bits_of(mark.address, 64), &place);
    let to = builder.element(module.int(8), place.marks, number);
    builder.fill(to, 1, module.const_i64(mark.size / place.unit));

    let function = write(module, counted, mark.size, place.unit);
    for exit in &counted.exits {
        let first = behind[exit].first_insertion_point();
        let first = first.expect("a block that control comes to");
        let then = first.insert_if(one.is_behind);
        let builder = Builder::before(module, then);
        let base = builder.bits_of(counted.base, 64);
        let arguments = [
            one.before,
            one.counters,
            base,
            place.start,
            place.marks,
            place.mask,
        ];
        builder.call(function, &arguments);
    }
}

fn number_of<'m>(builder: &Builder<'m>, address: Value<'m>, place: &MarksOf<'m>) -> Value<'m> {
    let distance = builder.difference(address, place.start);
    let number = builder.shift_right(distance, place.unit.trailing_zeros());
    builder.and(number, place.mask)
}

/// The function that marks, for each counter, the elements that were written.
fn write<'m>(module: &'m Module, counted: &Counted<'m>, size: i64, unit: i64) -> Function<'m> {
    let (word, pointer) = (module.int(64), module.pointer());
    let parameters = [pointer, pointer, word, word, pointer, word];
    let ty = module.function_type(module.void(), &parameters);
    let function = module.add_function("okl.counted", ty, Linkage::LLVMInternalLinkage);
    let [before, after, base, start, marks, mask] = function.parameters()[..] else {
        unreachable!("it has six parameters")
    };
    let place = MarksOf {
        start,
        marks,
        mask,
        unit,
    };
    let to = module.const_i64(counted.count);
    let counter = module.int(8 * counted.bytes as u32);
    Builder::counted_loop(
        module,
        function,
        [module.const_i64(0), to],
        |_| (),
        |builder, (), index| {
            let value = |of| {
                let value = builder.load(counter, builder.element(counter, of, index));
                match counted.bytes {
                    8 => value,
                    _ => builder.sign_extend(value, word),
                }
            };
            let (old, new) = (value(before), value(after));
            let (first, end) = match counted.grows {
                true => (old, new),
                false => (builder.plus(new, 1), builder.plus(old, 1)),
            };
            let times = builder.difference(end, first);
            let first = builder.plus(first, counted.offset);
            let address = builder.sum(base, builder.multiply(first, module.const_i64(size)));
            let number = number_of(builder, address, &place);
            // Nothing behind the last mark, as where marks go nowhere.
            let room = builder.plus(builder.difference(mask, number), 1);
            let count = builder.multiply(times, module.const_i64(size / unit));
            let to = builder.element(module.int(8), marks, number);
            builder.fill(to, 1, builder.least(count, room));
        },
    );
    function
}
