//! Marks that a program sets for what it writes at computed places, where the run time has told it to.
//!
//! Guarantee: what is set are just the marks asked for, and none that is not the object's.

use crate::analysis::sections::MOST_MARKS;
use crate::llvm::{Builder, Function, Linkage, Module, Opcode, Value};

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
    /// Whether a mark is a bit, instead of a byte.
    pub by_bits: bool,
}

impl<'m> MarksOf<'m> {
    /// The number of the mark for an address, as it is.
    pub fn place(&self, builder: &Builder<'m>, address: Value<'m>) -> Value<'m> {
        let distance = builder.difference(address, self.start);
        builder.shift_right(distance, self.unit.trailing_zeros())
    }

    /// The number of the mark for an address, which is one of the object's.
    pub fn number(&self, builder: &Builder<'m>, address: Value<'m>) -> Value<'m> {
        builder.and(self.place(builder, address), self.mask)
    }

    /// So many marks, but not more than there are behind a number: fewer where marks go nowhere.
    pub fn clipped(&self, builder: &Builder<'m>, number: Value<'m>, count: Value<'m>) -> Value<'m> {
        let room = builder.plus(builder.difference(self.mask, number), 1);
        builder.least(count, room)
    }

    /// Sets so many marks from a number on.
    pub fn set(&self, builder: &Builder<'m>, number: Value<'m>, count: Value<'m>) {
        let module = builder.module();
        match (self.by_bits, count.as_constant_int()) {
            (false, _) => {
                let first = builder.element(module.int(8), self.marks, number);
                builder.fill(first, 1, count);
            }
            (true, Some(count @ 0..=MOST_MARKS)) => {
                for more in 0..count {
                    builder.set_bit(self.marks, builder.plus(number, more));
                }
            }
            (true, _) => {
                builder.call(set_bits(module), &[self.marks, number, count]);
            }
        }
    }
}

/// The function that sets any number of bits, from one on.
fn set_bits(module: &Module) -> Function<'_> {
    const NAME: &str = "okl.set_bits";
    if let Some(known) = module.function(NAME) {
        return known;
    }
    let (word, byte, pointer) = (module.int(64), module.int(8), module.pointer());
    let ty = module.function_type(module.void(), &[pointer, word, word]);
    let function = module.add_function(NAME, ty, Linkage::LLVMInternalLinkage);
    let [bits, first, count] = function.parameters()[..] else {
        unreachable!("it has three parameters")
    };
    let builder = &Builder::at_end(module, function.append_block(module));
    let number = |number| module.const_i64(number);
    let (none, all) = (number(0), number(255));
    let is_none = builder.compare(count, none, false);
    let last = builder.sum(first, builder.select(is_none, number(1), count));
    let last = builder.plus(last, -1);
    let [begin, end] = [first, last].map(|bit| builder.shift_right(bit, 3));
    let [low, high] = [first, last].map(|bit| builder.and(bit, number(7)));
    // Of the first byte, and of the last one.
    let low = builder.binary(Opcode::LLVMShl, all, low);
    let high = builder.binary(Opcode::LLVMLShr, all, builder.difference(number(7), high));
    let is_one = builder.compare(begin, end, false);
    let both = builder.and(low, high);
    let set = |at, mask| {
        let mask = builder.select(is_one, both, mask);
        let mask = builder.select(is_none, none, mask);
        let place = builder.element(byte, bits, at);
        let before = builder.load(byte, place);
        let mask = builder.int_cast(mask, byte);
        builder.store(builder.binary(Opcode::LLVMOr, before, mask), place);
    };
    set(begin, low);
    let behind = builder.plus(begin, 1);
    let between = builder.select(is_one, none, builder.difference(end, behind));
    builder.fill(builder.element(byte, bits, behind), 255, between);
    set(end, high);
    builder.ret(None);
    function
}
