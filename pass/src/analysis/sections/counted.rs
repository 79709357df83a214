//! Stores to places that counters of the thread say, `to[next[key]++] = value`: so programs sort by buckets.
//!
//! Guarantee: what such a store writes while the nest runs is, for each counter, just the elements from its value in front of
//! the nest to its value behind it. Nothing else in the nest changes the counters, unless they lie in the object that the
//! store writes to, which whoever uses it has to find out.
//!
//! Counters need not be an array of the thread's own: they may be anywhere, a row of a table that threads share, say. Then
//! it is not known which there are, and only what has just been counted by is looked at: others may be other threads'.

use super::places::slot_of;
use super::{Access, Scan};
use crate::analysis::memory::base_of;
use crate::analysis::nests::Term;
use crate::llvm::{Block, Call, Global, Instruction, Opcode, Value};

/// Larger arrays of counters are not looked at twice for each nest.
const MOST_BYTES: i64 = 1 << 14;

/// An array of counters.
#[derive(Clone, Copy)]
pub enum Counters<'m> {
    /// Its address, which is known in front of the nest.
    At(Value<'m>),
    /// It is the thread's copy of a variable; its address is here.
    Of(Global<'m>),
    /// There may be any number of them, anywhere.
    Anywhere(Anywhere<'m>),
}

/// A counter of which is known where it is only when it counts.
#[derive(Clone, Copy)]
pub struct Anywhere<'m> {
    /// Its address.
    pub address: Value<'m>,
    /// A number that others of the same array do not have.
    pub number: Value<'m>,
    /// Its value before, as it is loaded.
    pub value: Value<'m>,
    /// Where it changes.
    pub update: Instruction<'m>,
    /// In front of this it is known, the store is yet to come, and so is the change.
    pub before: Instruction<'m>,
}

/// Where a store writes, as counters say.
pub struct Counted<'m> {
    /// The counters.
    pub counters: Counters<'m>,
    /// How many there are, but for those [`Anywhere`](Counters::Anywhere).
    pub count: i64,
    /// Bytes of one; they have a sign.
    pub bytes: i64,
    /// Whether one more is counted each time, or one less.
    pub grows: bool,
    /// The number of the element that is written, less the counter's value before.
    pub offset: i64,
    /// Where the element with the number 0 is.
    pub base: Value<'m>,
    /// How often the nest's outermost loop runs.
    pub turns: Term<'m>,
    /// Where control leaves the nest.
    pub exits: Vec<Exit<'m>>,
}

/// Some ways out of a loop.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Exit<'m> {
    /// From these blocks of the loop.
    pub from: Vec<Block<'m>>,
    /// To this one behind it.
    pub to: Block<'m>,
}

/// An element's number, and the counter that it comes from.
struct Update<'m> {
    base: Value<'m>,
    offset: i64,
    load: Instruction<'m>,
    store: Instruction<'m>,
    step: i64,
}

impl<'m> Scan<'m> {
    /// How a store of `size` bytes, in a nest, is counted.
    pub(super) fn counted(
        &self,
        access: &Access<'m>,
        size: i64,
        nest: usize,
    ) -> Option<Counted<'m>> {
        let blocks = &self.loops[nest].blocks;
        let is_outside = |value: Value<'m>| {
            let at = value.as_instruction();
            at.is_none_or(|at| !blocks.contains(&at.block()))
        };
        let update = self.update(access.at, size)?;
        let (array, number, bytes) = self.counter(&update)?;
        let own = self.places.own_array(array);
        let (counters, count) = match (own, slot_of(array)) {
            (Some(all), slot) => {
                let is_array = (bytes..=MOST_BYTES).contains(&all) && all % bytes == 0;
                let counters = match slot {
                    Some(slot) => Counters::Of(slot),
                    None => Counters::At(is_outside(array).then_some(array)?),
                };
                (counters, is_array.then_some(all / bytes)?)
            }
            (None, None) => (self.anywhere(&update, number, access.at, bytes)?, 0),
            (None, Some(_)) => return None,
        };
        if !is_outside(update.base) || !self.ends(nest) {
            return None;
        }
        let mut writes = blocks.iter().flat_map(|block| block.instructions());
        let leaves = |at| self.leaves_counters(at, array, own.is_some(), &update, access.at);
        if !writes.all(|at| !at.may_write() || leaves(at)) {
            return None;
        }
        Some(Counted {
            counters,
            count,
            bytes,
            grows: update.step > 0,
            offset: update.offset,
            base: update.base,
            turns: self.out.nests.turns(nest)?,
            exits: exits(blocks)?,
        })
    }

    /// Counters that may be anywhere.
    fn anywhere(
        &self,
        update: &Update<'m>,
        number: Value<'m>,
        counting: Instruction<'m>,
        bytes: i64,
    ) -> Option<Counters<'m>> {
        let (load, store) = (update.load, update.store);
        let is_whole = |at: Instruction<'m>| i64::from(at.alignment()) >= bytes;
        let all = counting.block().instructions().into_iter();
        let before = all
            .skip_while(|&at| at != load)
            .find(|&at| at == store || at == counting)?;
        let is_known = number.ty().bits() == Some(64) && is_whole(load) && is_whole(store);
        is_known.then_some(Counters::Anywhere(Anywhere {
            address: load.address()?,
            number,
            value: *load,
            update: store,
            before,
        }))
    }

    /// What a store of `size` bytes has to do with a counter: it writes the next element, as often as that changes.
    fn update(&self, at: Instruction<'m>, size: i64) -> Option<Update<'m>> {
        if at.opcode() != Opcode::LLVMStore || !at.is_plain_access() {
            return None;
        }
        let place = at.address()?.as_op(Opcode::LLVMGetElementPtr)?;
        let (base, index) = self.places.element_of(place, size)?;
        let index = index
            .as_op(Opcode::LLVMSExt)
            .map_or(index, |one| one.operand(0));
        // Numbers of 64 bits wrap around as addresses do.
        let is_wide = index.ty().bits() == Some(64);
        let (loaded, offset) = match index.as_op(Opcode::LLVMAdd) {
            None => (index, 0),
            Some(sum) if is_wide || sum.has_no_signed_wrap() => {
                (sum.operand(0), sum.operand(1).as_constant_int()?)
            }
            Some(_) => return None,
        };
        let load = loaded.as_op(Opcode::LLVMLoad)?;
        let address = load.address()?;
        let is_store =
            |one: &Instruction<'m>| one.opcode() == Opcode::LLVMStore && one.operand(1) == address;
        let users = address.instruction_users();
        let mut stores = users.into_iter().filter(is_store);
        let (Some(store), None) = (stores.next(), stores.next()) else {
            return None;
        };
        let more = store.operand(0).as_op(Opcode::LLVMAdd)?;
        let step = more.operand(1).as_constant_int()?;
        let is_update = more.operand(0) == *load
            && matches!(step, 1 | -1)
            && (is_wide || more.has_no_signed_wrap())
            && store.is_plain_access()
            && load.is_plain_access();
        let is_one_block = [load.block(), store.block()] == [at.block(); 2];
        (is_update && is_one_block).then_some(Update {
            base,
            offset,
            load,
            store,
            step,
        })
    }

    /// The array that a counter is in, its number there, and the bytes of a counter.
    fn counter(&self, update: &Update<'m>) -> Option<(Value<'m>, Value<'m>, i64)> {
        let bytes = match update.load.ty().bits()? {
            32 => 4,
            64 => 8,
            _ => return None,
        };
        let address = update.load.address()?;
        let place = address.as_op(Opcode::LLVMGetElementPtr)?;
        let (counters, number) = self.places.element_of(place, bytes)?;
        Some((counters, number, bytes))
    }

    /// Whether what may write leaves the counters as they are, or changes one as the update says. `counting` is the store
    /// that is counted; `are_own` says whether the counters are an array of the thread's own.
    fn leaves_counters(
        &self,
        at: Instruction<'m>,
        counters: Value<'m>,
        are_own: bool,
        update: &Update<'m>,
        counting: Instruction<'m>,
    ) -> bool {
        if at == update.store {
            return true;
        }
        if at.opcode() != Opcode::LLVMStore {
            let name = (*at).as_call().map(Call::callee_name).unwrap_or_default();
            let harmless = ["llvm.lifetime.", "llvm.dbg.", "llvm.assume"];
            return harmless.iter().any(|one| name.starts_with(one));
        }
        let Some(base) = at.address().map(base_of) else {
            return false;
        };
        if self.places.is_same_array(base, counters) {
            return false;
        }
        if !are_own {
            // Anything may point to counters, but to variables on the stack of which nobody has an address.
            let is_variable = base.as_op(Opcode::LLVMAlloca).is_some();
            let is_elsewhere = is_variable && self.places.own_array(base).is_some();
            return at.is_plain_access() && (is_elsewhere || at == counting);
        }
        // Nobody has an address of a variable on the stack; that of a thread's copy of a variable others may have.
        let is_of_stack = counters.as_op(Opcode::LLVMAlloca).is_some();
        let is_elsewhere = is_of_stack || self.places.own_array(base).is_some();
        at.is_plain_access() && (is_elsewhere || at == counting)
    }
}

/// Where control leaves a loop: from some of its blocks to one behind it. `None` where it goes to addresses of blocks, between
/// which nothing can be put.
pub(super) fn exits<'m>(blocks: &[Block<'m>]) -> Option<Vec<Exit<'m>>> {
    let is_plain = |block: &Block<'m>| {
        let end = block.terminator().map(Instruction::opcode);
        matches!(end, Some(Opcode::LLVMBr | Opcode::LLVMSwitch))
    };
    if !blocks.iter().all(is_plain) {
        return None;
    }
    let mut exits: Vec<Exit<'m>> = Vec::new();
    for &from in blocks {
        for to in from.successors() {
            if blocks.contains(&to) {
                continue;
            }
            match exits.iter_mut().find(|exit| exit.to == to) {
                Some(exit) if exit.from.contains(&from) => {}
                Some(exit) => exit.from.push(from),
                None => exits.push(Exit {
                    from: vec![from],
                    to,
                }),
            }
        }
    }
    Some(exits)
}
