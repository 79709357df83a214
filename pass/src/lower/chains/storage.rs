//! Temporary spaces in buffers of their own, where an order needs less of them than they have.
//!
//! An element's place in a buffer is the sum of what its numbers are more than the least ones, modulo as many as are kept of
//! each, times how far apart those are: the innermost ones are beside each other. Parts of an element that are accessed by
//! themselves each have a row of theirs, where the innermost number is kept whole.
//!
//! A buffer that is small for sure is a variable of the stack, of each thread where threads share loops. The others are
//! memory of the thread's own ([`MEMORY`]), which is kept for the next time. Where there is none, a chain runs as it is
//! written; a thread that shares loops says so and ends the program.
//!
//! Guarantee: whoever accesses an element in a buffer finds it there; what is accessed otherwise than element by element, by
//! instructions of the loops themselves, has none.

use okl_chains::code::{Code, Expression, For};
use okl_chains::model::Affine;
use okl_chains::storage::Buffer;

use super::code::{Writer, nests_of};
use crate::analysis::chains::{Accessing, Inside, Modelled};
use crate::ir::Chain;
use crate::llvm::{
    Block, Builder, Comparison, Function, Instruction, IntPredicate, Linkage, Module, Opcode, Type,
    Value,
};
use crate::lower::cpu::threads::{Why, not};
use crate::marks::gives_memory;

/// Buffers of so many bytes together are on the stack.
const MOST_ON_STACK: i64 = 32 << 10;
/// An element has at most so many bytes.
const MOST_OF_ELEMENT: i64 = 4096;
/// Parts of an element have rows of their own where there are at most so many.
const MOST_ROWS: i64 = 16;
/// Periods up to this one are rounded up to a power of two, where innermost loops count in them.
const MOST_ROUNDED: i64 = 8;
/// What is larger than this is never multiplied.
const MOST_FACTOR: i64 = 1 << 31;
/// What a size is that is too large.
const TOO_LARGE: i64 = 1 << 41;
/// Rows may begin with so many elements that are not used.
const MOST_FREE: i64 = 4;
/// Rows begin at multiples of it.
const ALIGNMENT: i64 = 64;

/// The function that says that there is no memory.
const NO_MEMORY: &str = "okl.chains.no_memory";

/// The memory of a thread: what is in front of it says how much it is. It is in no heap, which ranks share.
pub(super) const MEMORY: &str = include_str!("memory.ll");

/// A temporary space that can have a buffer.
pub struct Temporary<'m> {
    /// Bytes of an element, and of each of its parts, if it has some that are alike.
    element: i64,
    part: Option<i64>,
    /// The bytes of each access, if these are alike.
    unit: Option<i64>,
    /// What accesses it.
    accesses: Vec<Place<'m>>,
}

/// An access, and to what.
#[derive(Clone)]
pub struct Place<'m> {
    nest: usize,
    /// A load or store.
    pub at: Instruction<'m>,
    pub index: Vec<Affine>,
    pub inside: Inside<'m>,
    /// Whether every iteration accesses all of the element by it.
    pub covers: bool,
}

/// A space that has a buffer.
#[derive(Clone)]
pub struct Stored<'m> {
    buffer: Buffer,
    /// How much of each number is kept.
    numbers: Vec<Kept>,
    element: i64,
    /// Bytes of a part, where each part of an element has rows of its own.
    part: Option<i64>,
    /// The bytes of each access, if these are alike.
    unit: Option<i64>,
    accesses: Vec<Place<'m>>,
}

/// How much of a number is kept.
#[derive(Clone, Copy, PartialEq)]
enum Kept {
    /// One value at a time.
    One,
    /// So many.
    Some(i64),
    All,
}

/// Whether a space can have a buffer, or why it cannot: a sentence that begins with "it".
pub fn temporary<'m>(
    chain: &Chain<'m>,
    known: &Modelled<'m>,
    space: usize,
) -> Result<Temporary<'m>, Why> {
    let rank = known.model.spaces[space].rank;
    let element = known.elements[space].filter(|bytes| (1..=MOST_OF_ELEMENT).contains(bytes));
    let Some(element) = element else {
        return not("it is not known how large its elements are");
    };
    let all = || known.accessing.iter().enumerate();
    let mut accesses: Vec<Place<'m>> = Vec::new();
    // Whether all that is accessed are parts of one size, beside each other.
    let (mut part, mut are_alike) = (None, true);
    for (nest, one) in all().flat_map(|(nest, its)| its.iter().map(move |one| (nest, one))) {
        if one.space != space {
            continue;
        }
        let place = place(chain, nest, one, rank)?;
        let Inside { constant, counters } = &place.inside;
        if counters.is_empty() && !(0..=element - one.bytes).contains(constant) {
            return not("one access is to several of its elements");
        }
        let steps = counters.iter().map(|counter| counter.1);
        let mut places = steps.chain([*constant]);
        let bytes = *part.get_or_insert(one.bytes);
        are_alike &= bytes == one.bytes && places.all(|place| place % bytes == 0);
        let same = accesses.iter().find(|other| other.at == place.at);
        match same {
            Some(same) if same.index == place.index && same.inside == place.inside => {}
            Some(_) => return not("one access is to several of its elements"),
            None => accesses.push(place),
        }
    }
    let others = all()
        .flat_map(|(_, its)| its)
        .filter(|one| one.space != space);
    let has = |one: &Accessing<'m>| accesses.iter().any(|place| Some(place.at) == one.at);
    if { others }.any(has) {
        return not("an access to it may be one to another space");
    }
    if accesses.is_empty() {
        return not("it is not known what accesses it");
    }
    Ok(Temporary {
        element,
        unit: part.filter(|part| are_alike && element % part == 0),
        part: part.filter(|part| are_alike && *part < element && element % part == 0),
        accesses,
    })
}

/// What an access is to, where that can be somewhere else.
fn place<'m>(
    chain: &Chain<'m>,
    nest: usize,
    one: &Accessing<'m>,
    rank: usize,
) -> Result<Place<'m>, Why> {
    let (Some(at), Some(index), Some(inside)) = (one.at, &one.index, &one.inside) else {
        return not("it is not known of each access where it is");
    };
    let counter = chain.nests[nest].loops.last();
    let counter = counter.and_then(|one| one.counter.as_ref());
    if !counter.is_some_and(|counter| counter.blocks.contains(&at.block())) {
        return not("a function that an iteration calls accesses it");
    }
    let accesses = matches!(at.opcode(), Opcode::LLVMLoad | Opcode::LLVMStore);
    if !accesses || !at.is_plain_access() || one.bytes < 1 {
        return not("some of it is copied or filled as a whole");
    }
    let depends = |one: &Affine| one.parameters.iter().any(|factor| *factor != 0);
    if index.len() != rank || index.iter().any(depends) {
        return not("it is not known of each access where it is");
    }
    Ok(Place {
        nest,
        at,
        index: index.clone(),
        inside: inside.clone(),
        covers: one.covers,
    })
}

impl<'m> Stored<'m> {
    /// What has a buffer in an order of a chain.
    pub fn of(chain: &Chain<'m>, buffer: &Buffer, temporary: &Temporary<'m>) -> Self {
        let last = buffer.numbers.len().saturating_sub(1);
        // Whether innermost loops do not count a number: it is divided in front of them.
        let is_of_rows = |at: usize| {
            let mut all = temporary.accesses.iter();
            all.all(|place| {
                let innermost = chain.nests[place.nest].loops.len().saturating_sub(1);
                let factor = place.index[at].iterators.get(innermost);
                factor.is_none_or(|factor| *factor == 0)
            })
        };
        let rounded = |period: i64| Kept::Some(period.unsigned_abs().next_power_of_two() as i64);
        let kept = |(at, period): (usize, Option<i64>)| match period {
            None => Kept::All,
            Some(1) => Kept::One,
            Some(period) if is_of_rows(at) => Kept::Some(period),
            Some(period) if period <= MOST_ROUNDED => rounded(period),
            // Nothing is divided in an inner loop.
            Some(period) if at == 0 && last == 0 => rounded(period),
            Some(_) if at == last => Kept::All,
            Some(period) => Kept::Some(period),
        };
        let periods = buffer.numbers.iter().map(|number| number.period);
        let numbers: Vec<_> = periods.enumerate().map(kept).collect();
        let Temporary {
            element,
            part,
            unit,
            ..
        } = *temporary;
        let has_rows = numbers.last() == Some(&Kept::All);
        let part = part.filter(|part| has_rows && element / part <= MOST_ROWS);
        let accesses = temporary.accesses.iter();
        let accesses = accesses.filter(|place| buffer.nests.contains(&place.nest));
        Self {
            numbers,
            element,
            part,
            unit,
            accesses: accesses.cloned().collect(),
            buffer: buffer.clone(),
        }
    }

    /// Whether it is less than all, or has to be apart.
    pub fn is_worth_it(&self) -> bool {
        self.buffer.is_needed || self.numbers.iter().any(|one| *one != Kept::All)
    }

    /// Bytes of an element.
    pub fn element(&self) -> i64 {
        self.element
    }

    /// Bytes of each of its parts, which all accesses are to.
    pub fn unit(&self) -> Option<i64> {
        self.unit
    }

    /// How many accesses use it.
    pub fn uses(&self) -> usize {
        self.accesses.len()
    }

    /// What accesses it in a nest.
    pub fn accesses(&self, nest: usize) -> Vec<Place<'m>> {
        let its = self.accesses.iter().filter(|place| place.nest == nest);
        its.cloned().collect()
    }

    /// Of what types the values are by which an iteration finds elements: the address of the buffer, whether it has one, and
    /// numbers. The last ones are from where to where each number of elements in the buffer goes, and whether no element is
    /// elsewhere, where others may be read.
    pub fn values(&self, module: &'m Module) -> Vec<Type<'m>> {
        let kept = self.numbers.iter().filter(|one| **one != Kept::One);
        let count = 1 + 2 * kept.count() + usize::from(self.part.is_some()) + self.ends();
        let numbers = (0..count).map(|_| module.int(64));
        [module.pointer()].into_iter().chain(numbers).collect()
    }

    /// How many values say what is in the buffer.
    fn ends(&self) -> usize {
        match self.buffer.is_bounded {
            true => 2 * self.numbers.len() + 1,
            false => 0,
        }
    }

    /// Whether an element that is read is in the buffer; nothing where that is known.
    pub fn is_in(
        &self,
        builder: &Builder<'m>,
        place: &Place<'m>,
        values: &[Value<'m>],
        iteration: &[Value<'m>],
    ) -> Option<Value<'m>> {
        if !self.buffer.is_bounded || place.at.opcode() != Opcode::LLVMLoad {
            return None;
        }
        let at_least = Comparison::Integer(IntPredicate::LLVMIntSGE);
        let (ends, is_known) = self.split_ends(values);
        let inside = place.index.iter().zip(ends).map(|(index, ends)| {
            let number = number(builder, index, iteration);
            let [first, last] = [[number, ends[0]], [ends[1], number]];
            let [first, last] = [first, last].map(|[a, b]| builder.ask(at_least, a, b));
            builder.binary(Opcode::LLVMAnd, first, last)
        });
        let all = inside.reduce(|a, b| builder.binary(Opcode::LLVMAnd, a, b));
        let zero = builder.module().const_i64(0);
        let is_known =
            builder.not(builder.ask(Comparison::Integer(IntPredicate::LLVMIntEQ), is_known, zero));
        Some(builder.binary(Opcode::LLVMOr, is_known, all?))
    }

    /// Of the values of a bounded buffer, from where to where each number goes, and whether no other is read.
    fn split_ends<'v>(&self, values: &'v [Value<'m>]) -> (Vec<&'v [Value<'m>]>, Value<'m>) {
        let ends = &values[values.len() - self.ends()..];
        let (is_known, ends) = ends.split_last().expect("there is one");
        (ends.chunks(2).collect(), *is_known)
    }

    /// Where an element is in the buffer. `values` are the numbers by which it is found, `iteration` is the iteration's, and
    /// `counters` are those of the loops in it.
    pub fn address(
        &self,
        builder: &Builder<'m>,
        buffer: Value<'m>,
        place: &Place<'m>,
        values: &[Value<'m>],
        iteration: &[Value<'m>],
        counters: &[Value<'m>],
    ) -> Value<'m> {
        let module = builder.module();
        let unit = self.unit_of_inside();
        let mut inside = module.const_i64(place.inside.constant / unit);
        for ((_, bytes), &counter) in place.inside.counters.iter().zip(counters) {
            let more = builder.multiply(counter, module.const_i64(bytes / unit));
            inside = builder.sum(inside, more);
        }
        self.address_inside(builder, buffer, &place.index, inside, values, iteration)
    }

    /// The same of a byte of an element.
    pub fn address_of(
        &self,
        builder: &Builder<'m>,
        buffer: Value<'m>,
        index: &[Affine],
        byte: i64,
        values: &[Value<'m>],
        iteration: &[Value<'m>],
    ) -> Value<'m> {
        let inside = builder.module().const_i64(byte / self.unit_of_inside());
        self.address_inside(builder, buffer, index, inside, values, iteration)
    }

    /// What places in an element are counted in, in bytes: where each part has rows of its own, these are counted.
    fn unit_of_inside(&self) -> i64 {
        self.part.unwrap_or(1)
    }

    fn address_inside(
        &self,
        builder: &Builder<'m>,
        buffer: Value<'m>,
        index: &[Affine],
        mut inside: Value<'m>,
        values: &[Value<'m>],
        iteration: &[Value<'m>],
    ) -> Value<'m> {
        let module = builder.module();
        let mut sum = module.const_i64(0);
        let mut values = values.iter();
        let mut next = || *values.next().expect("there is a value for each");
        let mut innermost = None;
        let last = self.numbers.len() - 1;
        for (at, (kept, index)) in self.numbers.iter().zip(index).enumerate() {
            let period = match *kept {
                Kept::One => continue,
                Kept::Some(period) => Some(module.const_i64(period)),
                Kept::All => None,
            };
            let (first, stride) = (next(), next());
            let number = number(builder, index, iteration);
            if period.is_none() && at == last {
                sum = builder.difference(sum, builder.multiply(first, stride));
                innermost = Some(number);
                continue;
            }
            let mut number = builder.difference(number, first);
            if let Some(period) = period {
                // It is not negative.
                number = builder.binary(Opcode::LLVMURem, number, period);
            }
            sum = builder.sum(sum, builder.multiply(number, stride));
        }
        if self.part.is_some() {
            inside = builder.multiply(inside, next());
        }
        let byte = module.int(8);
        let row = builder.element(byte, buffer, builder.sum(sum, inside));
        match innermost {
            // LLVM sees then what two iterations that follow each other have in common.
            Some(number) => {
                let bytes = self.part.unwrap_or(self.element).unsigned_abs();
                builder.element(module.array(byte, bytes), row, number)
            }
            None => row,
        }
    }

    /// Whether elements that differ by a number that the innermost loop of a nest counts have places of their own.
    pub fn is_apart(&self, nest: usize, innermost: usize) -> bool {
        let its = self.accesses.iter().filter(|place| place.nest == nest);
        let mut numbers = its.flat_map(|place| place.index.iter().zip(&self.numbers));
        numbers.all(|(index, kept)| {
            let factor = index.iterators.get(innermost).copied().unwrap_or(0);
            factor == 0 || *kept == Kept::All
        })
    }

    /// To how many bytes an access is aligned at least.
    pub fn alignment(&self, place: &Place<'m>) -> u32 {
        let steps = place.inside.counters.iter().map(|counter| counter.1);
        let all = match self.part {
            Some(part) => part,
            None => steps.fold(self.element | place.inside.constant, |all, one| all | one),
        };
        1 << all.trailing_zeros().min(6)
    }
}

/// A number of an element.
fn number<'m>(builder: &Builder<'m>, index: &Affine, iteration: &[Value<'m>]) -> Value<'m> {
    let module = builder.module();
    let mut number = module.const_i64(index.constant);
    for (&factor, &value) in index.iterators.iter().zip(iteration) {
        if factor != 0 {
            let product = builder.multiply(value, module.const_i64(factor));
            number = builder.sum(product, number);
        }
    }
    number
}

/// Iterations of loops that are to use buffers.
impl<'m> Writer<'_, 'm> {
    /// The numbers by which elements of a buffer are found, and its size in bytes.
    fn layout(&self, builder: &Builder<'m>, stored: &Stored<'m>) -> (Vec<Value<'m>>, Value<'m>) {
        let module = self.module;
        let is = |how, a, b| builder.ask(Comparison::Integer(how), a, b);
        let mut rows = Vec::new();
        let mut size = module.const_i64(stored.part.unwrap_or(stored.element));
        let mut row = None;
        let numbers = stored.numbers.iter().zip(&stored.buffer.numbers);
        for (kept, number) in numbers.rev() {
            let most = match *kept {
                Kept::One => continue,
                Kept::Some(most) => Some(most),
                Kept::All => None,
            };
            let [mut first, last] =
                [&number.first, &number.last].map(|one| self.number(builder, one));
            // Addresses have no constant of their own then: LLVM sees that what an iteration reads the next one does.
            let constant = first.as_constant_int();
            let is_near = constant.is_some_and(|first| (0..=MOST_FREE).contains(&first));
            if rows.is_empty() && most.is_none() && is_near {
                first = module.const_i64(0);
            }
            let one = module.const_i64(1);
            let mut count = builder.plus(builder.difference(last, first), 1);
            count = builder.select(is(IntPredicate::LLVMIntSGT, count, one), count, one);
            if let Some(most) = most {
                count = builder.least(count, module.const_i64(most));
            }
            // Numbers in front of it are of rows.
            if !rows.is_empty() {
                size = rounded(builder, size);
            }
            rows.push([first, size]);
            size = self.product(builder, size, count);
            if let (Some(part), None) = (stored.part, row) {
                row = Some(rounded(builder, size));
                let parts = module.const_i64(stored.element / part);
                size = self.product(builder, rounded(builder, size), parts);
            }
        }
        let mut values: Vec<_> = rows.into_iter().rev().flatten().collect();
        values.extend(row);
        if stored.buffer.is_bounded {
            for number in &stored.buffer.numbers {
                values.extend([&number.first, &number.last].map(|one| self.number(builder, one)));
            }
            values.push(module.const_i64(0));
        }
        let most = module.const_i64(TOO_LARGE);
        (values, builder.least(rounded(builder, size), most))
    }

    /// A product, or something that is too large.
    fn product(&self, builder: &Builder<'m>, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        let most = self.module.const_i64(MOST_FACTOR);
        let is_more = Comparison::Integer(IntPredicate::LLVMIntUGT);
        let fits = |value| builder.not(builder.ask(is_more, value, most));
        let both = builder.binary(Opcode::LLVMAnd, fits(a), fits(b));
        let product = builder.multiply(a, b);
        builder.select(both, product, self.module.const_i64(1 << 62))
    }

    /// Gives iterations of nests buffers that lie one behind the other.
    fn hand(&mut self, base: &Builder<'m>, address: Value<'m>, all: &[(usize, Laid<'m>)]) {
        let mut at = address;
        for (number, (values, size)) in all {
            let has_it = self.module.const_i64(1);
            let values: Vec<_> = { [at, has_it].into_iter() }
                .chain(values.iter().copied())
                .collect();
            for (nest, iteration) in self.iterations.iter().enumerate() {
                let mut first = iteration.values.len();
                for (other, count) in &iteration.buffers {
                    if other == number {
                        self.handed[nest][first..first + count].copy_from_slice(&values);
                    }
                    first += count;
                }
            }
            at = base.element(self.module.int(8), at, *size);
        }
    }

    /// Says whether all that iterations read of bounded buffers is in them.
    pub fn set_inside(&mut self, is_inside: bool) {
        let value = self.module.const_i64(is_inside.into());
        for (iteration, handed) in self.iterations.iter().zip(&mut self.handed) {
            let mut end = iteration.values.len();
            for &(number, count) in &iteration.buffers {
                end += count;
                if self.stored[number].buffer.is_bounded {
                    handed[end - 1] = value;
                }
            }
        }
    }

    /// Of an innermost loop from a number to another one, those between which all that its iterations read of bounded buffers
    /// is in them; nothing where there is no such thing.
    pub fn inside(
        &mut self,
        builder: &Builder<'m>,
        one: &For,
        [first, end]: [Value<'m>; 2],
    ) -> Option<[Value<'m>; 2]> {
        let mut runs = Vec::new();
        if one.step != Expression::Constant(1) || !only_runs(&one.body, &mut runs) {
            return None;
        }
        let mut asked: Vec<(Expression, [Value<'m>; 2])> = Vec::new();
        for (nest, iteration) in runs {
            let mut start = self.iterations[nest].values.len();
            for &(number, count) in &self.iterations[nest].buffers {
                let stored = &self.stored[number];
                let values = &self.handed[nest][start..start + count];
                start += count;
                if !stored.buffer.is_bounded || values[0] == self.module.pointer().zero() {
                    continue;
                }
                let (ends, _) = stored.split_ends(values);
                let its = stored.accesses.iter().filter(|place| place.nest == nest);
                for place in its.filter(|place| place.at.opcode() == Opcode::LLVMLoad) {
                    for (index, ends) in place.index.iter().zip(&ends) {
                        let question = (Expression::of(index, iteration), [ends[0], ends[1]]);
                        if !asked.contains(&question) {
                            asked.push(question);
                        }
                    }
                }
            }
        }
        if asked.is_empty() {
            return None;
        }
        let is = |how, a, b| builder.ask(Comparison::Integer(how), a, b);
        let more = |a, b| builder.select(is(IntPredicate::LLVMIntSGT, a, b), a, b);
        let less = |a, b| builder.select(is(IntPredicate::LLVMIntSLT, a, b), a, b);
        let (mut from, mut to) = (first, end);
        let mut always = self.module.int(1).integer_constant(1);
        let around = self
            .variables
            .insert(one.variable, self.module.const_i64(0));
        let mut is_plain = true;
        for (number, [least, most]) in asked {
            let factor = factor(&number, one.variable);
            let number = self.number(builder, &number);
            match factor {
                Some(0) => {
                    let both = [[number, least], [most, number]];
                    for [a, b] in both {
                        let holds = is(IntPredicate::LLVMIntSGE, a, b);
                        always = builder.binary(Opcode::LLVMAnd, always, holds);
                    }
                }
                Some(1) => {
                    from = more(from, builder.difference(least, number));
                    let last = builder.difference(most, number);
                    to = less(to, builder.plus(last, 1));
                }
                _ => is_plain = false,
            }
        }
        self.restore(one.variable, around);
        let from = less(from, end);
        let to = more(from, to);
        let [from, to] = [from, to].map(|one| builder.select(always, one, end));
        is_plain.then_some([from, to])
    }

    /// The layouts of some buffers, and how large they are together.
    fn laid(&self, builder: &Builder<'m>, of: &[usize]) -> (Vec<(usize, Laid<'m>)>, Value<'m>) {
        let mut total = self.module.const_i64(0);
        let mut all = Vec::new();
        for &number in of {
            let laid = self.layout(builder, &self.stored[number]);
            total = builder.sum(total, laid.1);
            all.push((number, laid));
        }
        (all, total)
    }

    /// A variable of the stack for buffers, where they are small for sure.
    fn on_stack(&mut self, total: Value<'m>) -> Option<Value<'m>> {
        let bytes = total
            .as_constant_int()
            .filter(|bytes| *bytes <= MOST_ON_STACK)?;
        let ty = self.module.array(self.module.int(8), bytes.unsigned_abs());
        let entry = Builder::at_entry(self.module, self.function);
        let variable = entry.alloca(ty, ALIGNMENT as u32);
        self.own.extend(variable.as_instruction());
        Some(variable)
    }

    /// Takes the buffers that no loop has for itself, in front of the chain; `otherwise` is where it is as it is written.
    /// Returns where it goes on, and what is to be given back behind it.
    pub fn with_buffers(
        &mut self,
        block: Block<'m>,
        otherwise: Block<'m>,
    ) -> (Block<'m>, Option<Value<'m>>) {
        let all = self.stored.iter().enumerate();
        let its: Vec<_> = { all }
            .filter(|(_, one)| !one.buffer.is_private)
            .map(|(number, _)| number)
            .collect();
        if its.is_empty() {
            return (block, None);
        }
        let builder = self.at(block);
        let (all, total) = self.laid(&builder, &its);
        if let Some(variable) = self.on_stack(total) {
            self.hand(&builder, variable, &all);
            return (block, None);
        }
        let memory = builder.call(function(self.module, TAKE), &[total]);
        let inside = self.block();
        builder.go_if(self.is_none(&builder, memory), otherwise, inside);
        self.hand(&self.at(inside), memory, &all);
        (inside, Some(memory))
    }

    /// Gives it back.
    pub fn give_back(&self, block: Block<'m>, memory: Option<Value<'m>>) {
        if let Some(memory) = memory {
            self.at(block).call(function(self.module, GIVE), &[memory]);
        }
    }

    /// What a loop runs, with buffers where each of its iterations has them for itself.
    pub fn body(&mut self, one: &For, block: Block<'m>) -> Block<'m> {
        let mut nests = Vec::new();
        nests_of(&one.body, &mut nests);
        let is_its = |stored: &Stored<'m>| {
            let mut users = stored.buffer.nests.iter();
            let within = stored.buffer.within;
            stored.buffer.is_private
                && within.is_none_or(|variable| variable == one.variable)
                && users.any(|nest| nests.contains(nest))
        };
        let all = self.stored.iter().enumerate();
        let its: Vec<_> = { all }
            .filter(|(_, stored)| is_its(stored))
            .map(|(number, _)| number)
            .collect();
        if !one.is_parallel || self.has_private || its.is_empty() {
            return self.code(&one.body, block);
        }
        self.has_private = true;
        let handed = self.handed.clone();
        let builder = self.at(block);
        let (all, total) = self.laid(&builder, &its);
        let last = match self.on_stack(total) {
            Some(variable) => {
                self.hand(&builder, variable, &all);
                self.code(&one.body, block)
            }
            None => {
                let memory = builder.call(function(self.module, TAKE), &[total]);
                let [inside, without] = [(); 2].map(|()| self.block());
                builder.go_if(self.is_none(&builder, memory), without, inside);
                let builder = self.at(without);
                builder.call(no_memory(self.module), &[]);
                builder.unreachable();
                self.hand(&self.at(inside), memory, &all);
                let last = self.code(&one.body, inside);
                self.give_back(last, Some(memory));
                last
            }
        };
        self.handed = handed;
        self.has_private = false;
        last
    }

    fn is_none(&self, builder: &Builder<'m>, memory: Value<'m>) -> Value<'m> {
        let same = Comparison::Integer(IntPredicate::LLVMIntEQ);
        builder.ask(same, memory, self.module.pointer().zero())
    }
}

/// Whether code is nothing but iterations of nests, which are these.
pub(super) fn only_runs<'c>(code: &'c Code, runs: &mut Vec<(usize, &'c [Expression])>) -> bool {
    match code {
        Code::Sequence(all) => all.iter().all(|one| only_runs(one, runs)),
        Code::Run { nest, iteration } => {
            runs.push((*nest, iteration));
            true
        }
        Code::For(_) | Code::If(_) => false,
    }
}

/// What a variable is multiplied with in a number, where it is in it in no other way.
pub(super) fn factor(number: &Expression, variable: usize) -> Option<i64> {
    let of = |one: &Expression| factor(one, variable);
    match number {
        Expression::Constant(_) | Expression::Parameter(_) => Some(0),
        Expression::Variable(one) => Some((*one == variable).into()),
        Expression::Add(a, b) => of(a)?.checked_add(of(b)?),
        Expression::Subtract(a, b) => of(a)?.checked_sub(of(b)?),
        Expression::Multiply(a, b) => match (&**a, &**b) {
            (Expression::Constant(times), other) | (other, Expression::Constant(times)) => {
                of(other)?.checked_mul(*times)
            }
            _ => (of(a)? == 0 && of(b)? == 0).then_some(0),
        },
        Expression::FloorDivide(a, b) | Expression::Modulo(a, b) => {
            (of(a)? == 0 && of(b)? == 0).then_some(0)
        }
        Expression::Least(all) | Expression::Largest(all) => {
            all.iter().all(|one| of(one) == Some(0)).then_some(0)
        }
        Expression::Choose(..) => None,
    }
}

/// The numbers by which elements of a buffer are found, and its size.
type Laid<'m> = (Vec<Value<'m>>, Value<'m>);

/// The next multiple of the alignment.
fn rounded<'m>(builder: &Builder<'m>, bytes: Value<'m>) -> Value<'m> {
    let mask = builder.module().const_i64(-ALIGNMENT);
    builder.binary(Opcode::LLVMAnd, builder.plus(bytes, ALIGNMENT - 1), mask)
}

const TAKE: &str = "okl.chains.take";
const GIVE: &str = "okl.chains.give";

/// What a thread does that has no memory for a buffer, and cannot do without.
fn no_memory(module: &Module) -> Function<'_> {
    if let Some(known) = module.function(NO_MEMORY) {
        return known;
    }
    let [pointer, short, void] = [module.pointer(), module.int(32), module.void()];
    let prints = module.declared("dprintf", module.variadic_type(short, &[short, pointer]));
    let aborts = module.declared("abort", module.function_type(void, &[]));
    let ty = module.function_type(void, &[]);
    let ends = module.add_function(NO_MEMORY, ty, Linkage::LLVMInternalLinkage);
    for one in ["cold", "noinline", "nounwind", "noreturn"] {
        ends.set_attribute(module, one);
    }
    let text = "okl: no memory for the temporary spaces of a loop chain\n";
    let text = *module.add_text("okl.chains.no_memory.text", text);
    let builder = Builder::at_end(module, ends.append_block(module));
    builder.call(prints, &[module.const_i32(2), text]);
    builder.call(aborts, &[]);
    builder.unreachable();
    ends
}

/// A function of [`MEMORY`].
fn function<'m>(module: &'m Module, name: &str) -> Function<'m> {
    if module.function(TAKE).is_none() {
        module.add_functions(MEMORY);
        let functions = module.functions().into_iter();
        for one in functions.filter(|one| gives_memory(*one)) {
            one.set_linkage(Linkage::LLVMInternalLinkage);
        }
        if let Some(slot) = module.global("okl.chains.memory") {
            slot.set_linkage(Linkage::LLVMInternalLinkage);
        }
    }
    module.function(name).expect("it is in the text")
}

/// What is told of buffers: of each, whether the space shrinks, and how.
pub fn told(name: &str, stored: &Stored<'_>) -> String {
    let of = |kept: &Kept| match kept {
        Kept::One => "1".to_string(),
        Kept::Some(count) => count.to_string(),
        Kept::All => "*".to_string(),
    };
    let kept: Vec<_> = stored.numbers.iter().map(of).collect();
    let threads = match stored.buffer.is_private {
        true => ", for each thread",
        false => "",
    };
    format!("{name} shrinks to ({}){threads}", kept.join(","))
}
