//! Stores to computed places of an object, which mark what they write.
//!
//! Where all that a store writes while its innermost loop runs is known in front of that loop, it is marked
//! there, and the loop stays as it is; not at all where the nest writes all of that for sure, by what another entry says of
//! it when the program runs. Where counters say what it has written ([`super::counted`]), it is marked behind the
//! nest; and so may be what loops have written, in longer pieces where each goes on where the one before has ended.

use super::counted::exits;
use super::{Access, Counted, Entry, Exit, MOST_MARKS, Quantity, Scan, What};
use crate::analysis::library::is_mathematics;
use crate::analysis::nests::{Extent, Nests, Scope, Term};
use crate::llvm::{Block, Call, Instruction, Opcode, Value};

/// A store to a computed place of an object, which marks what it writes.
pub struct Mark<'m> {
    /// The store, or a copy of constant length.
    pub at: Instruction<'m>,
    /// Where it writes.
    pub address: Value<'m>,
    /// Bytes written.
    pub size: i64,
    /// It is of two stores, the first of which this is.
    pub joined: bool,
    /// The entry of the object.
    pub entry: usize,
    /// What it writes while its innermost loop runs, where that is known.
    pub run: Option<Run<'m>>,
    /// The entry of an exact write, which may be of all that: then that need not be marked.
    pub sure: Option<usize>,
    /// What it has written is found behind the nest, where counters say it. So it is, or it is [kept](Self::kept), for all
    /// stores to the object.
    pub counted: Option<Counted<'m>>,
    /// What it writes while its innermost loop runs may be marked later, at the latest where control leaves the nest: here.
    pub kept: Option<Vec<Exit<'m>>>,
}

/// What a store writes in all turns of a loop: so many times its size, without a gap.
pub struct Run<'m> {
    /// In front of the loop.
    pub before: Instruction<'m>,
    /// Where it writes first.
    pub address: Term<'m>,
    /// Times that it writes.
    pub count: Term<'m>,
    /// Whether it goes towards lower addresses.
    pub falls: bool,
}

impl<'m> Scan<'m> {
    /// What a store of `size` bytes, in a loop of the nest, writes while its innermost loop runs.
    pub(super) fn run(&self, access: &Access<'m>, size: i64, nest: usize) -> Option<Run<'m>> {
        let block = access.at.block();
        let index = self.innermost(block)?;
        let before = self.loops[index].preheader.and_then(Block::terminator)?;
        if index == nest || !self.ends(index) {
            return None;
        }
        let nests = &self.out.nests;
        let scope = Scope::Loop(index);
        let Extent::Section(section) = nests.extent(access.address, None, block, scope) else {
            return None;
        };
        let &[(stride, count)] = &section.dimensions[..] else {
            return None;
        };
        let stride = nests.constant(stride)?;
        let is_run = section.exact && stride.abs() == size && !nests.is_checked(count);
        is_run.then_some(Run {
            before,
            address: section.address,
            count,
            falls: stride < 0,
        })
    }

    /// Where control leaves a nest, if what a store of it writes in a loop may be marked as late as there.
    pub(super) fn kept(&self, run: &Run<'m>, nest: usize) -> Option<Vec<Exit<'m>>> {
        let may_be_late = !run.falls && self.ends(nest);
        may_be_late.then(|| exits(&self.loops[nest].blocks))?
    }

    /// Whether a loop ends as its conditions say: it calls nothing that may not return.
    pub(super) fn ends(&self, index: usize) -> bool {
        let blocks = self.loops[index].blocks.iter();
        let mut instructions = blocks.flat_map(|block| block.instructions());
        instructions.all(|one| match one.opcode() {
            Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr => {
                let callee = (*one).as_call().and_then(Call::callee_function);
                callee.is_some_and(|callee| {
                    callee.is_declaration()
                        && (callee.is_intrinsic() || is_mathematics(&callee.name()))
                })
            }
            _ => true,
        })
    }

    fn innermost(&self, block: Block<'m>) -> Option<usize> {
        let mut loops = self.loops.iter();
        loops.rposition(|one| one.blocks.contains(&block))
    }

    /// Whether a store goes where the program has just been: to the next element, or to one that it has
    /// loaded.
    pub(super) fn is_local(&self, access: &Access<'m>, block: Block<'m>) -> bool {
        let nests = &self.out.nests;
        let is_next = self.innermost(block).is_some_and(|index| {
            let extent = nests.extent(access.address, None, block, Scope::Loop(index));
            matches!(extent, Extent::Section(_))
        });
        let is_load =
            |one: &Instruction<'m>| one.opcode() == Opcode::LLVMLoad && one.block() == block;
        is_next || access.address.instruction_users().iter().any(is_load)
    }
}

/// A store to a computed place: the access, its size, the object that it is to, and whether it is of two stores.
pub(super) type Marked<'m> = (Access<'m>, i64, Quantity<'m>, bool);

/// Stores to neighbouring places, one behind the other in a block, are one of both: what fields of a structure get in the turns
/// of a loop has no gaps. `unit` is what has a mark in an object.
pub(super) fn join_neighbours<'m>(
    nests: &Nests<'m>,
    marked: Vec<Marked<'m>>,
    unit: impl Fn(Quantity<'m>) -> i64,
) -> Vec<Marked<'m>> {
    let mut joined: Vec<Marked<'m>> = Vec::new();
    for (access, size, object, _) in marked {
        let is_next = |(one, length, of, is_joined): &Marked<'m>| {
            !is_joined
                && (*of, *length) == (object, size)
                && 2 * size <= MOST_MARKS * unit(object)
                && nests.way(one.address, access.address) == Some(size)
                && follows(one.at, access.at)
        };
        match joined.iter_mut().find(|one| is_next(one)) {
            Some(one) => (one.1, one.3) = (2 * size, true),
            None => joined.push((access, size, object, false)),
        }
    }
    joined
}

/// Whether a store follows another one, come what may.
fn follows<'m>(first: Instruction<'m>, second: Instruction<'m>) -> bool {
    let is_store = |one: Instruction<'m>| one.opcode() == Opcode::LLVMStore;
    let all = first.block().instructions().into_iter();
    let mut behind = all.skip_while(|&one| one != first);
    let ends = behind.find(|&one| one == second || one.opcode() == Opcode::LLVMCall);
    is_store(first) && is_store(second) && ends == Some(second)
}

/// An exact write that may be of all that others write, which mark it.
pub(super) fn sure_entry(entries: &[Entry<'_>], object: usize) -> Option<usize> {
    let is_sure = |one: &Entry<'_>| {
        one.what.is_exact_write()
            && one.table.is_none()
            && !one.dimensions.is_empty()
            && one.object == entries[object].object
    };
    entries.iter().position(is_sure)
}

/// Objects all of whose stores are counted, or kept, are marked behind the nest, in long pieces: by bits.
pub(super) fn mark_later(entries: &mut [Entry<'_>], marks: &mut [Mark<'_>]) {
    for (index, entry) in entries.iter_mut().enumerate() {
        let What::Marked {
            by_bits, counted, ..
        } = &mut entry.what
        else {
            continue;
        };
        let mut own = marks.iter().filter(|mark| mark.entry == index);
        if own.all(|mark| mark.counted.is_some() || mark.kept.is_some()) {
            (*by_bits, *counted) = (true, true);
            continue;
        }
        for mark in marks.iter_mut().filter(|mark| mark.entry == index) {
            (mark.counted, mark.kept) = (None, None);
        }
    }
}

/// Marks that are all set only where something is not written for sure are bits: nearly always there is nothing but to look
/// through them.
pub(super) fn mark_rarely(entries: &mut [Entry<'_>], marks: &[Mark<'_>]) {
    for (index, entry) in entries.iter_mut().enumerate() {
        let mut own = marks.iter().filter(|mark| mark.entry == index);
        if let What::Marked { by_bits, .. } = &mut entry.what {
            *by_bits |= own.all(|mark| mark.sure.is_some());
        }
    }
}

/// A power of two that the address is known to be a multiple of.
pub(super) fn alignment(at: Instruction<'_>) -> i64 {
    match at.opcode() {
        Opcode::LLVMStore => i64::from(at.alignment()),
        _ => (*at).as_call().map_or(1, |call| call.alignment_of(0)),
    }
}
