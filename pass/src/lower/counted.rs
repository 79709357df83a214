//! Stores that counters count are marked behind their nest, in runs, from what the counters were and what they are then:
//! the nest itself runs nearly as it is.
//!
//! Guarantee: behind the nest everything is marked that such a store has written, and nothing else. Where the run time says
//! so, where there are fewer turns than it is worth, and where the store might write to the counters, it is marked at each
//! store instead, before it is stored.
//!
//! Where counters may be anywhere, each is noted when it counts for the first time. There is room for one of each number
//! modulo [`ROOM`]; what others count is marked at each store.

use std::collections::HashMap;

use crate::analysis::sections::{Anywhere, Counted, Counters, Exit, FunctionSections, Mark};
use crate::llvm::{
    Block, Builder, Comparison, Function, Instruction, IntPredicate, Linkage, Module, Value,
};
use crate::lower::marks::MarksOf;

/// A power of two.
const ROOM: i64 = 1024;
/// In fewer turns than so many for each that there is room for, it costs more to look at all of them.
const LEAST_TURNS: i64 = 8;

/// A store of which is known, in front of its nest, how it will be marked.
pub struct Marking<'a, 'm> {
    mark: &'a Mark<'m>,
    counted: &'a Counted<'m>,
    place: MarksOf<'m>,
    /// Whether it is marked at each store.
    at_each: Value<'m>,
    /// Otherwise.
    is_behind: Value<'m>,
    state: State<'m>,
}

/// What is known of the counters.
enum State<'m> {
    /// Where they are, and what they were.
    Array { now: Value<'m>, before: Value<'m> },
    /// The addresses of those that have counted, and what they were before.
    Noted {
        of: Anywhere<'m>,
        addresses: Value<'m>,
        before: Value<'m>,
    },
}

/// Marks of the counters themselves, where these are marked whenever they change: those that are noted are marked already.
pub struct OfCounter<'m> {
    /// Where the counter changes.
    pub update: Instruction<'m>,
    /// Where its marks go.
    pub place: MarksOf<'m>,
    /// How many it has.
    pub count: i64,
}

fn ask<'m>(
    builder: &Builder<'m>,
    predicate: IntPredicate,
    a: Value<'m>,
    b: Value<'m>,
) -> Value<'m> {
    builder.ask(Comparison::Integer(predicate), a, b)
}

fn any<'m>(builder: &Builder<'m>, all: impl IntoIterator<Item = Value<'m>>) -> Value<'m> {
    let all = all.into_iter();
    let any = all.reduce(|any, one| builder.select(any, any, one));
    any.expect("there are some")
}

/// In front of the nest, before `in_front`: keeps what the counters are. `is_told` says whether the run time wants to have each
/// store marked.
pub fn begin<'a, 'm>(
    module: &'m Module,
    sections: &FunctionSections<'m>,
    in_front: Instruction<'m>,
    mark: &'a Mark<'m>,
    place: MarksOf<'m>,
    is_told: Value<'m>,
) -> Marking<'a, 'm> {
    let builder = &Builder::before(module, in_front);
    let counted = mark.counted.as_ref().expect("all of the entry's are");
    let number = |number| module.const_i64(number);
    let below = IntPredicate::LLVMIntULT;
    let room = |ty, count| {
        let room = module.array(ty, count);
        Builder::at_entry(module, sections.function).alloca(room, 8)
    };
    let array = |now| {
        let bytes = counted.count * counted.bytes;
        let before = room(module.int(64), (bytes as u64).div_ceil(8));
        builder.copy_as_it_is(before, now, bytes, counted.bytes as u32);
        // Where the counters lie in the object, the program changes them as it writes.
        let first = builder.difference(builder.bits_of(now, 64), place.start);
        let marked = builder.multiply(builder.plus(place.mask, 1), number(place.unit));
        let reasons = [
            is_told,
            ask(builder, below, first, marked),
            ask(builder, below, builder.plus(first, bytes - 1), marked),
        ];
        let state = State::Array { now, before };
        (any(builder, reasons), state, 2 * counted.count)
    };
    let (at_each, state, least) = match counted.counters {
        Counters::At(address) => array(address),
        Counters::Of(slot) => array(builder.load(module.pointer(), *slot)),
        Counters::Anywhere(of) => {
            let addresses = room(module.pointer(), ROOM as u64);
            builder.fill(addresses, 0, number(8 * ROOM));
            let before = room(module.int(64), ROOM as u64);
            let state = State::Noted {
                of,
                addresses,
                before,
            };
            (is_told, state, LEAST_TURNS * ROOM)
        }
    };
    let turns = sections.nests.expand(counted.turns, in_front);
    let at_each = any(
        builder,
        [at_each, ask(builder, below, turns, number(least))],
    );
    Marking {
        mark,
        counted,
        place,
        at_each,
        is_behind: builder.compare(at_each, at_each.ty().zero(), false),
        state,
    }
}

impl<'m> Marking<'_, 'm> {
    /// Where control leaves the nest.
    pub fn exits(&self) -> &[Exit<'m>] {
        &self.counted.exits
    }

    /// In the nest and behind it.
    pub fn emit(
        &self,
        module: &'m Module,
        of_counters: &[OfCounter<'m>],
        behind: &HashMap<&Exit<'m>, Block<'m>>,
    ) {
        let function = match self.state {
            State::Array { .. } => {
                let then = self.mark.at.insert_if(self.at_each);
                let builder = &Builder::before(module, then);
                self.mark_store(builder, builder.bits_of(self.mark.address, 64));
                self.write(module, "okl.counted", counted_array)
            }
            State::Noted {
                of,
                addresses,
                before,
            } => {
                let mut of_counters = of_counters.iter();
                let own = of_counters.find(|one| one.update == of.update);
                self.note(module, of, [addresses, before], own);
                self.write(module, "okl.noted", counted_anywhere)
            }
        };
        let (before, now) = match self.state {
            State::Array { now, before } => (before, now),
            State::Noted {
                addresses, before, ..
            } => (before, addresses),
        };
        for exit in self.exits() {
            let first = behind[exit].first_insertion_point();
            let first = first.expect("a block that control comes to");
            let then = first.insert_if(self.is_behind);
            let builder = Builder::before(module, then);
            let base = builder.bits_of(self.counted.base, 64);
            let MarksOf {
                start, marks, mask, ..
            } = self.place;
            builder.call(function, &[before, now, base, start, marks, mask]);
        }
    }

    fn mark_store(&self, builder: &Builder<'m>, address: Value<'m>) {
        let number = self.place.number(builder, address);
        let count = self.mark.size / self.place.unit;
        self.place
            .set(builder, number, builder.module().const_i64(count));
    }

    /// Where a counter is about to count that is not noted: notes it, or marks what is stored.
    fn note(
        &self,
        module: &'m Module,
        of: Anywhere<'m>,
        [addresses, before]: [Value<'m>; 2],
        own: Option<&OfCounter<'m>>,
    ) {
        let (word, pointer) = (module.int(64), module.pointer());
        let builder = &Builder::before(module, of.before);
        let slot = builder.and(of.number, module.const_i64(ROOM - 1));
        let noted = builder.element(pointer, addresses, slot);
        let known = builder.load(pointer, noted);
        let then = of
            .before
            .insert_if(builder.compare(known, of.address, true));

        let builder = &Builder::before(module, then);
        let address = builder.bits_of(of.address, 64);
        if let Some(own) = own {
            let number = own.place.number(builder, address);
            own.place.set(builder, number, module.const_i64(own.count));
        }
        // A counter in the object may be changed by what is stored.
        let is_in_object = |address| {
            let place = self.place.place(builder, address);
            ask(builder, IntPredicate::LLVMIntULE, place, self.place.mask)
        };
        let reasons = [
            self.at_each,
            builder.compare(known, pointer.zero(), true),
            is_in_object(address),
            is_in_object(builder.plus(address, self.counted.bytes - 1)),
        ];
        let is_marked = any(builder, reasons);
        let is_noted = builder.compare(is_marked, is_marked.ty().zero(), false);
        let value = builder.sign_extend(of.value, word);
        {
            let builder = &Builder::before(module, then.insert_if(is_marked));
            let element = builder.plus(value, self.counted.offset);
            let way = builder.multiply(element, module.const_i64(self.mark.size));
            let base = builder.bits_of(self.counted.base, 64);
            self.mark_store(builder, builder.sum(base, way));
        }
        let builder = &Builder::before(module, then.insert_if(is_noted));
        builder.store(of.address, noted);
        builder.store(value, builder.element(word, before, slot));
    }

    /// The function that marks, for each counter, the elements that were written.
    fn write(
        &self,
        module: &'m Module,
        name: &str,
        values: impl Fn(&Builder<'m>, &Counted<'m>, [Value<'m>; 2], Value<'m>) -> [Value<'m>; 2],
    ) -> Function<'m> {
        let counted = self.counted;
        let (size, unit) = (self.mark.size, self.place.unit);
        let (word, pointer) = (module.int(64), module.pointer());
        let parameters = [pointer, pointer, word, word, pointer, word];
        let ty = module.function_type(module.void(), &parameters);
        let function = module.add_function(name, ty, Linkage::LLVMInternalLinkage);
        let [before, after, base, start, marks, mask] = function.parameters()[..] else {
            unreachable!("it has six parameters")
        };
        let place = MarksOf {
            start,
            marks,
            mask,
            ..self.place
        };
        let all = match self.state {
            State::Array { .. } => counted.count,
            State::Noted { .. } => ROOM,
        };
        Builder::counted_loop(
            module,
            function,
            [module.const_i64(0), module.const_i64(all)],
            |_| (),
            |builder, (), index| {
                let [old, new] = values(builder, counted, [before, after], index);
                let (first, end) = match counted.grows {
                    true => (old, new),
                    false => (builder.plus(new, 1), builder.plus(old, 1)),
                };
                let times = builder.difference(end, first);
                let first = builder.plus(first, counted.offset);
                let address = builder.sum(base, builder.multiply(first, module.const_i64(size)));
                let number = place.number(builder, address);
                let count = builder.multiply(times, module.const_i64(size / unit));
                place.set(builder, number, place.clipped(builder, number, count));
            },
        );
        function
    }
}

/// What a counter is, as a number of 64 bits.
fn value<'m>(builder: &Builder<'m>, counted: &Counted<'m>, address: Value<'m>) -> Value<'m> {
    let module = builder.module();
    let value = builder.load(module.int(8 * counted.bytes as u32), address);
    match counted.bytes {
        8 => value,
        _ => builder.sign_extend(value, module.int(64)),
    }
}

/// What a counter of an array was, and what it is.
fn counted_array<'m>(
    builder: &Builder<'m>,
    counted: &Counted<'m>,
    [before, now]: [Value<'m>; 2],
    index: Value<'m>,
) -> [Value<'m>; 2] {
    let counter = builder.module().int(8 * counted.bytes as u32);
    [before, now].map(|of| value(builder, counted, builder.element(counter, of, index)))
}

/// What a counter that may be noted was, and what it is; the same where none is.
fn counted_anywhere<'m>(
    builder: &Builder<'m>,
    counted: &Counted<'m>,
    [before, addresses]: [Value<'m>; 2],
    index: Value<'m>,
) -> [Value<'m>; 2] {
    let module = builder.module();
    let (word, pointer) = (module.int(64), module.pointer());
    let address = builder.load(pointer, builder.element(pointer, addresses, index));
    let is_none = builder.compare(address, pointer.zero(), false);
    let before = builder.element(word, before, index);
    // What can be loaded, and is no matter.
    let address = builder.select(is_none, before, address);
    [builder.load(word, before), value(builder, counted, address)]
        .map(|value| builder.select(is_none, module.const_i64(0), value))
}
