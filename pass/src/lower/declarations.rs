//! Calls by which the program tells a run time what a loop nest accesses before it does: tables, and the code that computes
//! their values. Which call it is the lowering says.

use std::collections::{HashMap, HashSet};

use crate::analysis::memory::base_of;
use crate::analysis::sections::{
    Counters, Declaration, Entry, Exit, FunctionSections, MOST_MARKS, Mark, Quantity, What,
};
use crate::diagnostic::Site;
use crate::llvm::{Builder, Comparison, Global, Instruction, IntPredicate, Module, Opcode, Value};
use crate::lower::marks::MarksOf;
use crate::lower::{counted, kept};
use okl_abi::section_access::AT_EACH_STORE;

/// Where to point the user for a declaration: at its first access.
pub fn place<'m>(one: &Declaration<'m>) -> Instruction<'m> {
    one.entries[0].at
}

/// The values of a declaration's entries, one behind the other.
struct Values<'m> {
    /// What is computed in front of the nest: each quantity once, but for those of entries with marks, which the run
    /// time replaces.
    computed: Vec<(Option<Quantity<'m>>, Value<'m>)>,
    sources: Vec<Source<'m>>,
    overflow: Overflow,
}

/// What becomes of sections where indices of the program overflow, which a program with indices of types with a sign does
/// not do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// They are larger than all memory, which the run time sees.
    Noticed,
    /// They are some sections: code that asks is much longer than the sections themselves.
    Ignored,
}

/// A value, as the sum of these.
struct Source<'m> {
    /// Place in [`Values::computed`].
    computed: Option<usize>,
    /// A variable, for its address.
    variable: Option<Value<'m>>,
    number: i64,
}

impl<'m> Values<'m> {
    /// Emits what computes them.
    fn compute(
        module: &'m Module,
        sections: &FunctionSections<'m>,
        one: &Declaration<'m>,
        overflow: Overflow,
    ) -> Self {
        let mut values = Self {
            computed: Vec::new(),
            sources: Vec::new(),
            overflow,
        };
        for entry in one.entries.iter().flat_map(Entry::with_tables) {
            for quantity in quantities(entry) {
                let source = if is_marked(entry) {
                    values.computed_whole(module, sections, one, quantity)
                } else {
                    values.source(module, sections, one, quantity)
                };
                values.sources.push(source);
            }
        }
        values
    }

    /// A quantity in a place of its own.
    fn computed_whole(
        &mut self,
        module: &'m Module,
        sections: &FunctionSections<'m>,
        one: &Declaration<'m>,
        quantity: Quantity<'m>,
    ) -> Source<'m> {
        let value = compute(module, sections, one, quantity, self.overflow);
        self.computed.push((None, value));
        Source {
            computed: Some(self.computed.len() - 1),
            variable: None,
            number: 0,
        }
    }

    /// A quantity, of which only what is no constant and no variable's address is computed, once.
    fn source(
        &mut self,
        module: &'m Module,
        sections: &FunctionSections<'m>,
        one: &Declaration<'m>,
        quantity: Quantity<'m>,
    ) -> Source<'m> {
        let (rest, variable, number) = match quantity {
            Quantity::Constant(number) => (None, None, number),
            Quantity::Places(address) => (None, Some(*sections.nests.write_places(address)), 0),
            Quantity::Value(value) => match value.as_global() {
                Some(global) if !global.is_thread_local() => (None, Some(value), 0),
                _ => (Some(quantity), None, 0),
            },
            Quantity::Term(term) => {
                let (rest, variable, number) = sections.nests.split(term);
                (rest.map(Quantity::Term), variable, number)
            }
        };
        let mut known = self.computed.iter();
        let known = rest.and_then(|_| known.position(|one| one.0 == rest));
        let mut source = Source {
            computed: known,
            variable,
            number,
        };
        if let (Some(rest), None) = (rest, known) {
            let value = compute(module, sections, one, rest, self.overflow);
            match value.as_constant_int() {
                Some(more) => source.number = number.wrapping_add(more),
                None => {
                    source.computed = Some(self.computed.len());
                    self.computed.push((Some(rest), value));
                }
            }
        }
        source
    }

    /// As the table has them.
    fn constants(&self, module: &'m Module) -> Vec<Value<'m>> {
        let constant = |source: &Source<'m>| {
            let null = module.pointer().zero();
            module.const_struct(&[
                module.const_i64(source.computed.map_or(-1, |place| place as i64)),
                source.variable.unwrap_or(null),
                module.const_i64(source.number),
            ])
        };
        self.sources.iter().map(constant).collect()
    }
}

fn is_marked(entry: &Entry<'_>) -> bool {
    matches!(entry.what, What::Marked { .. })
}

/// As the ABI says it.
fn access_bits(what: What) -> i64 {
    use okl_abi::section_access::{
        ANYWHERE, BETWEEN, BITS, BOUND, BY_ALL, COUNTED, MARKED, MAY, MINUS_ONE_UNUSED,
        NEGATIVE_UNUSED, NUMBERS, OBJECT, PLACES, READ, RELATIVE, SIGNED, TABLE, WRITE,
        ZERO_UNUSED,
    };
    const { assert!(MOST_MARKS == okl_abi::section_access::MOST_MARKS) };
    let and = |bits, is_so| if is_so { bits } else { 0 };
    match what {
        What::Elements {
            is_write,
            exact,
            relative,
        } => {
            let bound = and(BOUND, !exact);
            let relative = and(RELATIVE, relative);
            match is_write {
                false => READ | bound | relative,
                true => WRITE | and(MAY, !exact) | bound | relative,
            }
        }
        What::Pointers { relative } => TABLE | and(RELATIVE, relative),
        What::Numbers {
            signed,
            unused,
            between,
        } => {
            let part = between.map_or(0, |of_variable| {
                ANYWHERE | BETWEEN | and(OBJECT, of_variable)
            });
            let unused = and(NEGATIVE_UNUSED, unused.negative)
                | and(ZERO_UNUSED, unused.zero)
                | and(MINUS_ONE_UNUSED, unused.minus_one);
            TABLE | NUMBERS | and(SIGNED, signed) | unused | part
        }
        What::Places => TABLE | PLACES,
        What::ByAll => BY_ALL,
        What::Anywhere { of_variable } => READ | ANYWHERE | and(OBJECT, of_variable),
        What::Between { of_variable } => READ | ANYWHERE | BETWEEN | and(OBJECT, of_variable),
        What::Marked {
            by_bits,
            counted,
            of_variable,
        } => {
            let kind = and(BITS, by_bits) | and(COUNTED, counted);
            WRITE | MARKED | kind | and(OBJECT, of_variable)
        }
    }
}

/// Emits what computes a quantity in front of a declaration, as an `i64`.
fn compute<'m>(
    module: &'m Module,
    sections: &FunctionSections<'m>,
    one: &Declaration<'m>,
    quantity: Quantity<'m>,
    overflow: Overflow,
) -> Value<'m> {
    match quantity {
        Quantity::Term(term) => match overflow {
            Overflow::Noticed => sections.nests.expand(term, one.before),
            Overflow::Ignored => sections.nests.expand_unchecked(term, one.before),
        },
        Quantity::Value(value) => Builder::before(module, one.before).bits_of(value, 64),
        Quantity::Constant(number) => module.const_i64(number),
        Quantity::Places(_) => unreachable!("its address is a constant"),
    }
}

/// The address, and stride and count of each dimension.
fn quantities<'m>(entry: &Entry<'m>) -> Vec<Quantity<'m>> {
    let dimensions = entry.dimensions.iter().flat_map(|&(a, b)| [a, b]);
    [entry.address].into_iter().chain(dimensions).collect()
}

/// Declares what a function accesses: by calls that `declare` makes of a table and the values that are computed for it.
pub fn emit<'m>(
    module: &'m Module,
    sections: &FunctionSections<'m>,
    overflow: Overflow,
    declare: impl Fn(&Builder<'m>, Value<'m>, Value<'m>) -> Value<'m>,
) {
    let compute = |one| Values::compute(module, sections, one, overflow);
    let all: Vec<_> = sections.declarations.iter().map(compute).collect();
    let Some(most) = all.iter().map(|values| values.computed.len()).max() else {
        return;
    };
    let room = module.array(module.int(64), most as u64);
    let room = Builder::at_entry(module, sections.function).alloca(room, 8);
    let mut calls = Vec::new();
    let mut later = Later::default();
    for (one, values) in sections.declarations.iter().zip(&all) {
        let builder = Builder::before(module, one.before);
        for (index, (_, value)) in values.computed.iter().enumerate() {
            builder.store(*value, builder.offset(room, index as i64 * 8));
        }
        calls.push(declare(&builder, *table(module, one, values), room));
        emit_marks(module, sections, one, values, room, &mut later);
    }
    for call in calls {
        load_later(call, room);
    }
    later.emit(module);
    sections.function.forget_memory_effects();
}

/// Moves what is loaded and computed in front of a declaration, though not for it, behind it: else it would be kept in
/// memory during the call. `room` is where the declared values are.
fn load_later<'m>(declaration: Value<'m>, room: Value<'m>) {
    let declaration = declaration.as_instruction().expect("it is a call");
    let all = declaration.block().instructions();
    let place = all.iter().position(|&one| one == declaration);
    let place = place.expect("it is in its block");
    let mut above = HashSet::from([declaration]);
    let mut before = all[place + 1];
    for &at in all[..place].iter().rev() {
        let is_for_it = at
            .instruction_users()
            .iter()
            .any(|user| above.contains(user));
        let of_room = at.address().is_some_and(|address| base_of(address) == room);
        let is_load = at.opcode() == Opcode::LLVMLoad;
        if is_for_it && at.only_computes() || of_room && !is_load {
            above.insert(at);
        } else if at.only_computes() && !of_room {
            at.move_before(before);
            before = at;
        } else {
            break;
        }
    }
}

/// Marks that come with branches. These change the blocks, of which sections are made: they are emitted last.
#[derive(Default)]
struct Later<'a, 'm> {
    counted: Vec<counted::Marking<'a, 'm>>,
    of_counters: Vec<counted::OfCounter<'m>>,
    kept: Vec<kept::Keeping<'a, 'm>>,
    wanted: Vec<Wanted<'m>>,
}

impl<'m> Later<'_, 'm> {
    fn emit(&self, module: &'m Module) {
        let mut behind: HashMap<&Exit<'m>, _> = HashMap::new();
        let counted = self.counted.iter().flat_map(counted::Marking::exits);
        let kept = self.kept.iter().flat_map(kept::Keeping::exits);
        for exit in counted.chain(kept) {
            let split = || exit.to.split_edges(&exit.from);
            behind.entry(exit).or_insert_with(split);
        }
        for one in &self.counted {
            one.emit(module, &self.of_counters, &behind);
        }
        for one in &self.kept {
            one.emit(module, &behind);
        }
        for one in &self.wanted {
            let then = one.before.insert_if(one.is_wanted);
            one.set(&Builder::before(module, then));
        }
    }
}

/// Marks to be set, unless what they stand for is written for sure.
struct Wanted<'m> {
    before: Instruction<'m>,
    is_wanted: Value<'m>,
    place: MarksOf<'m>,
    /// Of the first.
    address: Value<'m>,
    count: Value<'m>,
    /// They are those of a loop: there may be no room for so many.
    of_loop: bool,
}

impl<'m> Wanted<'m> {
    fn set(&self, builder: &Builder<'m>) {
        let number = self.place.number(builder, self.address);
        let count = match self.of_loop {
            true => self.place.clipped(builder, number, self.count),
            false => self.count,
        };
        self.place.set(builder, number, count);
    }
}

/// Whether some of the bytes from an address lie outside of a [piece].
fn is_outside<'m>(
    builder: &Builder<'m>,
    [first, all]: [Value<'m>; 2],
    address: Value<'m>,
    bytes: Value<'m>,
) -> Value<'m> {
    let is_above = Comparison::Integer(IntPredicate::LLVMIntUGT);
    let begin = builder.difference(address, first);
    // What does not change in a loop is computed in front of it: nearly all of this.
    let is_larger = builder.ask(is_above, bytes, all);
    let ends = builder.ask(is_above, begin, builder.difference(all, bytes));
    builder.select(is_larger, is_larger, ends)
}

/// In front of a nest: where an entry begins, and how many bytes it has, or none where it is not in one piece. What the run time
/// takes it for is at least that.
fn piece<'m>(
    builder: &Builder<'m>,
    module: &'m Module,
    values: &Values<'m>,
    entry: &Entry<'m>,
    sources: &[Source<'m>],
) -> [Value<'m>; 2] {
    const MOST: i64 = 1 << 31;
    let number = |number| module.const_i64(number);
    let ask = |predicate, a, b| builder.ask(Comparison::Integer(predicate), a, b);
    let value = |source: &Source<'m>| {
        let parts = source.computed.map(|place| values.computed[place].1);
        let variable = source.variable.map(|one| builder.bits_of(one, 64));
        let parts = parts.into_iter().chain(variable);
        let sum = parts.reduce(|a, b| builder.sum(a, b));
        sum.map_or(number(source.number), |sum| {
            builder.plus(sum, source.number)
        })
    };
    let (mut bytes, mut is_one) = (number(entry.element), None);
    for dimension in sources[1..].chunks_exact(2).rev() {
        let [stride, count] = [&dimension[0], &dimension[1]].map(value);
        let answers = [
            ask(IntPredicate::LLVMIntEQ, stride, bytes),
            ask(IntPredicate::LLVMIntULT, count, number(MOST)),
        ];
        for answer in answers {
            let both = is_one.map(|all| builder.select(answer, all, answer));
            is_one = Some(both.unwrap_or(answer));
        }
        bytes = builder.multiply(bytes, count);
    }
    let bytes = is_one.map_or(bytes, |is_one| builder.select(is_one, bytes, number(0)));
    [value(&sources[0]), bytes]
}

/// Whether a store changes a counter, of which there may be any number, by which others are counted.
fn changes_counter<'m>(store: &Mark<'m>, others: &[Mark<'m>]) -> bool {
    let is_plain = store.run.is_none() && store.sure.is_none();
    let mut counted = others.iter().filter_map(|mark| mark.counted.as_ref());
    let is_update = |counters| matches!(counters, Counters::Anywhere(of) if of.update == store.at);
    is_plain && counted.any(|counted| is_update(counted.counters))
}

/// Makes the stores of a declaration mark what they write, where the runtime says that marks go. What comes with branches is
/// for `later`.
fn emit_marks<'a, 'm>(
    module: &'m Module,
    sections: &FunctionSections<'m>,
    one: &'a Declaration<'m>,
    values: &Values<'m>,
    room: Value<'m>,
    later: &mut Later<'a, 'm>,
) {
    let builder = Builder::before(module, one.before);
    let mut rest = &values.sources[..];
    let mut sources = Vec::new();
    for entry in &one.entries {
        let all = entry.with_tables();
        let count = all.iter().map(|one| quantities(one).len()).sum::<usize>();
        let (own, others) = rest.split_at(count);
        sources.push(own);
        rest = others;
    }
    let mut pieces = HashMap::new();
    for (index, entry) in one.entries.iter().enumerate() {
        let own = sources[index];
        if !is_marked(entry) {
            continue;
        }
        let first = own[0].computed;
        let first = first.expect("the values of such an entry are computed") as i64;
        let told = |place, ty| builder.load(ty, builder.offset(room, (first + place) * 8));
        let (start, told_mask) = (told(0, module.int(64)), told(2, module.int(64)));
        let What::Marked {
            by_bits, counted, ..
        } = entry.what
        else {
            unreachable!("it is marked");
        };
        let place = MarksOf {
            start,
            marks: told(1, module.pointer()),
            mask: match counted {
                true => builder.and(told_mask, module.const_i64(!AT_EACH_STORE)),
                false => told_mask,
            },
            unit: entry.element,
            by_bits,
        };
        let all = one.marks.iter().filter(|mark| mark.entry == index);
        if counted {
            let is_told = Comparison::Integer(IntPredicate::LLVMIntSLT);
            let is_told = builder.ask(is_told, told_mask, module.const_i64(0));
            for mark in all {
                let front = one.before;
                match mark.counted.is_some() {
                    true => later.counted.push(counted::begin(
                        module, sections, front, mark, place, is_told,
                    )),
                    false => later
                        .kept
                        .push(kept::begin(module, sections, front, mark, place, is_told)),
                }
            }
            continue;
        }
        for mark in all {
            let sure = mark.sure.map(|sure| {
                *pieces.entry(sure).or_insert_with(|| {
                    let builder = Builder::before(module, one.before);
                    piece(&builder, module, values, &one.entries[sure], sources[sure])
                })
            });
            let size = module.const_i64(mark.size);
            let count = mark.size / entry.element;
            if changes_counter(mark, &one.marks) {
                later.of_counters.push(counted::OfCounter {
                    update: mark.at,
                    place,
                    count,
                });
                continue;
            }
            let count = module.const_i64(count);
            if let Some(run) = &mark.run
                && (sure.is_some() || !mark.joined)
            {
                let address = sections.nests.expand(run.address, run.before);
                let times = sections.nests.expand(run.count, run.before);
                let builder = Builder::before(module, run.before);
                let lowest = match run.falls {
                    true => {
                        let way = builder.multiply(builder.plus(times, -1), size);
                        builder.difference(address, way)
                    }
                    false => address,
                };
                let count = builder.multiply(times, count);
                match sure {
                    None => {
                        let number = place.number(&builder, lowest);
                        let count = place.clipped(&builder, number, count);
                        place.set(&builder, number, count);
                    }
                    Some(sure) => later.wanted.push(Wanted {
                        before: run.before,
                        is_wanted: is_outside(
                            &builder,
                            sure,
                            lowest,
                            builder.multiply(times, size),
                        ),
                        place,
                        address: lowest,
                        count,
                        of_loop: true,
                    }),
                }
                continue;
            }
            let builder = Builder::before(module, mark.at);
            let address = builder.bits_of(mark.address, 64);
            match sure {
                None => place.set(&builder, place.number(&builder, address), count),
                Some(sure) => later.wanted.push(Wanted {
                    before: mark.at,
                    is_wanted: is_outside(&builder, sure, address, size),
                    place,
                    address,
                    count,
                    of_loop: false,
                }),
            }
        }
    }
}

fn table<'m>(module: &'m Module, one: &Declaration<'m>, values: &Values<'m>) -> Global<'m> {
    let text = |text: &str| -> Value<'m> { *module.add_text("okl.text", text) };
    let entries: Vec<_> = one
        .entries
        .iter()
        .flat_map(Entry::with_tables)
        .map(|entry| {
            module.const_struct(&[
                module.const_i64(access_bits(entry.what)),
                module.const_i64(entry.element),
                module.const_i64(entry.dimensions.len() as i64),
                text(&entry.object),
                text(&Site::Instruction(entry.at).to_string()),
            ])
        })
        .collect();
    let list = module.const_array(entries[0].ty(), &entries);
    let list = module.add_constant("okl.sections.entries", list);
    let values = values.constants(module);
    let value_list = module.const_array(values[0].ty(), &values);
    let value = module.const_struct(&[
        text(&Site::Instruction(place(one)).to_string()),
        *list,
        module.const_i64(entries.len() as i64),
        *module.add_constant("okl.sections.values", value_list),
        module.const_i64(values.len() as i64),
    ]);
    module.add_constant("okl.sections", value)
}
