//! A nest of inner loops with barriers in it, which becomes one nest for each piece between its cuts.
//!
//! What control does from piece to piece stands around these nests and runs once for all work items, and not at all where
//! there are none: the cuts' stores, and the ends of blocks that decide how it goes on.

use std::collections::{HashMap, HashSet};

use super::Nest;
use crate::analysis::meeting::{Cut, Next, Pieces};
use crate::ir::Extent;
use crate::llvm::{Block, Instruction, Opcode, Value};

/// A nest that becomes one nest for each piece of its body.
pub struct Split<'m> {
    /// What runs in front of it, each time.
    entry: Block<'m>,
    /// Goes to where the first piece begins.
    jump: Instruction<'m>,
    exit: Block<'m>,
    /// The loops' first blocks and those in which they step, the outermost first.
    loops: Vec<(Block<'m>, Block<'m>)>,
    pieces: Vec<Part<'m>>,
    /// The blocks of the cuts, and where they go.
    cuts: Vec<(Block<'m>, Vec<Option<Next>>)>,
    first: Next,
    /// Whether it may have no work items, and does more than run pieces.
    may_be_empty: bool,
    /// What says where variables of an iteration begin and end: which they no longer do.
    scopes: HashSet<Instruction<'m>>,
    like: Turns<'m>,
}

/// A piece: its first block, and how it goes on.
struct Part<'m> {
    first: Block<'m>,
    next: Next,
    is_empty: bool,
}

/// Loops over work items as they are in the end.
#[derive(Clone)]
pub struct Turns<'m> {
    /// Their first blocks and those in which they step, the outermost first: only the innermost one where others are side by
    /// side in the one around them.
    pub loops: Vec<(Block<'m>, Block<'m>)>,
    /// How all of the nest count, the outermost first.
    pub axes: Vec<Axis<'m>>,
    /// How often that turns, where the compiler knows it.
    pub count: Option<i64>,
    /// Whether some of the code is atomic.
    pub is_atomic: bool,
}

/// How a loop over work items counts.
#[derive(Clone)]
pub struct Axis<'m> {
    /// Gives the iterator its first value.
    pub begins: Instruction<'m>,
    /// How far it is from the first item to the last one, where the compiler knows it.
    pub far: Option<i64>,
    /// The step, where it is a constant, of which the sign says nothing.
    pub step: Option<i64>,
    /// Whether the iterator has a sign.
    pub signed: bool,
}

impl<'m> Axis<'m> {
    fn of(extent: &Extent<'m>) -> Option<Self> {
        let counter = extent.counter.as_ref()?;
        let last = extent.last.and_then(|last| last.as_constant_int());
        let last = last.filter(|last| *last >= 0);
        let step = counter.counting.step.as_constant_int();
        let far = last.zip(step).and_then(|(last, step)| {
            let by = step.checked_abs()?.checked_mul(last)?;
            Some(if counter.counting.is_up { by } else { -by })
        });
        let limit = 1_i128 << (extent.width - 1);
        let fits = |far: &i64| match counter.begins.operand(0).as_constant_int() {
            Some(first) => {
                let end = i128::from(first) + i128::from(*far);
                let least = if extent.signed { -limit } else { 0 };
                [end, first.into()]
                    .iter()
                    .all(|one| (least..limit).contains(one))
            }
            None => extent.width >= 32,
        };
        Some(Self {
            begins: counter.begins,
            far: far.filter(fits),
            step,
            signed: extent.signed,
        })
    }

    /// The iterator.
    pub fn variable(&self) -> Value<'m> {
        self.begins.operand(1)
    }

    /// Its first value.
    pub fn first(&self) -> Value<'m> {
        self.begins.operand(0)
    }
}

impl<'m> Turns<'m> {
    /// The innermost loop: its first block, and that in which it steps.
    pub fn innermost(&self) -> (Block<'m>, Block<'m>) {
        self.loops[self.loops.len() - 1]
    }

    /// The iterator of the innermost loop.
    pub fn iterator(&self) -> Value<'m> {
        self.axes[self.axes.len() - 1].variable()
    }

    /// Of copies of their blocks, as they were made; other blocks are the same.
    pub fn copied(&self, copies: &HashMap<Block<'m>, Block<'m>>) -> Self {
        let copy = |block: Block<'m>| copies.get(&block).copied().unwrap_or(block);
        let loops = self.loops.iter();
        let axes = self.axes.iter().map(|axis| {
            let all = axis.begins.block().instructions();
            let at = all.iter().position(|one| *one == axis.begins);
            Axis {
                begins: copy(axis.begins.block()).instructions()[at.expect("it is there")],
                ..axis.clone()
            }
        });
        Self {
            loops: loops
                .map(|&(one, other)| (copy(one), copy(other)))
                .collect(),
            axes: axes.collect(),
            ..self.clone()
        }
    }

    /// Of a nest as it is.
    pub(super) fn of(nest: &Nest<'m>, is_alone: bool) -> Self {
        let loops = nest.counters();
        let mut loops: Vec<_> = loops
            .map(|one| (one.decides.block(), one.steps.block()))
            .collect();
        if !is_alone {
            loops.drain(..loops.len() - 1);
        }
        let last = nest.extents.last().and_then(|extent| extent.last);
        Self {
            loops,
            axes: nest.extents.iter().filter_map(Axis::of).collect(),
            count: last.and_then(|last| Some(last.as_constant_int()? + 1)),
            is_atomic: nest.is_atomic,
        }
    }
}

impl<'m> Split<'m> {
    /// Prepares it: cuts get blocks of their own, and compute themselves what they are computed of.
    pub(super) fn of(nest: &Nest<'m>, pieces: &Pieces<'m>, jump: Instruction<'m>) -> Self {
        let scopes = scopes(nest);
        let mut dead = pieces.left_to_cuts();
        let entry = nest.site.instruction().split_before();
        let cuts = pieces.cuts.iter();
        let mut copies = HashMap::new();
        let cuts = cuts.map(|cut| (stand_alone(cut, &mut copies), cut.next.clone()));
        let cuts: Vec<_> = cuts.collect();
        let parts = pieces.pieces.iter().map(|piece| Part {
            first: piece.runs[0][0].block(),
            next: piece.next,
            is_empty: piece.is_empty(),
        });
        let parts: Vec<_> = parts.collect();
        // The cuts have copies of it: what is left would be computed of what is in other pieces.
        while let Some(at) = dead.iter().rposition(|one| one.is_unused()) {
            dead.remove(at).erase();
        }
        let has_items = nest.extents.iter().all(|extent| {
            let last = extent.last.and_then(|last| last.as_constant_int());
            last.is_some_and(|last| last >= 0)
        });
        let is_barrier = |cut: &Cut<'m>| cut.at.opcode() == Opcode::LLVMCall;
        Self {
            entry,
            jump,
            exit: nest.outermost().exit,
            loops: Turns::of(nest, true).loops,
            pieces: parts,
            cuts,
            first: pieces.first,
            may_be_empty: !has_items && !pieces.cuts.iter().all(is_barrier),
            scopes,
            like: Turns::of(nest, true),
        }
    }

    /// What says where variables of an iteration begin and end: that is to be gone before.
    pub fn scopes(&self) -> impl Iterator<Item = Instruction<'m>> + '_ {
        self.scopes.iter().copied()
    }

    /// The blocks of the pieces, as they are by now: what is atomic may have become several.
    fn bodies(&self) -> Vec<Vec<Block<'m>>> {
        let cuts = self.cuts.iter().map(|(block, _)| *block);
        let firsts = self.pieces.iter().map(|piece| piece.first);
        let control = self
            .loops
            .iter()
            .flat_map(|&(header, steps)| [header, steps]);
        let ends: HashSet<_> = cuts.chain(firsts).chain(control).collect();
        let body = |piece: &Part<'m>| {
            let mut blocks = vec![piece.first];
            let mut at = 0;
            while at < blocks.len() {
                for next in blocks[at].successors() {
                    if !ends.contains(&next) && !blocks.contains(&next) {
                        blocks.push(next);
                    }
                }
                at += 1;
            }
            blocks
        };
        self.pieces.iter().map(body).collect()
    }

    /// Does it. Returns the loops that there are then.
    pub fn emit(&self) -> Vec<Turns<'m>> {
        let (header, _) = self.loops[0];
        let natural = header.function().loops().into_iter();
        let mut its = natural.filter(|one| one.header == header);
        let its = its.next().expect("it is a loop").blocks;
        let bodies = self.bodies();
        let cuts = self.cuts.iter().map(|(block, _)| block);
        let of_body: HashSet<_> = bodies.iter().flatten().chain(cuts).collect();
        let control = its.iter().filter(|block| !of_body.contains(block));
        let control: Vec<_> = [self.entry].into_iter().chain(control.copied()).collect();
        let before = self.entry.predecessors();
        let first = self.jump.block();
        let begin = first.successors()[0];

        // The first of them takes the loops that there are.
        let mut nests: Vec<Option<HashMap<Block<'m>, Block<'m>>>> = Vec::new();
        let mut is_taken = false;
        let copy = |blocks: &[Block<'m>]| -> HashMap<Block<'m>, Block<'m>> {
            let copies = Block::copies(blocks).into_iter();
            blocks.iter().copied().zip(copies).collect()
        };
        for (piece, body) in self.pieces.iter().zip(&bodies) {
            let blocks = control.iter().chain(body).copied();
            let blocks: Vec<_> = blocks.collect();
            nests.push(match (piece.is_empty, is_taken) {
                (true, _) => None,
                (false, true) => Some(copy(&blocks)),
                (false, false) => {
                    is_taken = true;
                    Some(blocks.into_iter().map(|block| (block, block)).collect())
                }
            });
        }
        let probe = self.may_be_empty.then(|| copy(&control));
        let leads_to = |next: Next| {
            let mut next = next;
            loop {
                match next {
                    Next::End => return self.exit,
                    Next::Cut(cut) => return self.cuts[cut].0,
                    Next::Piece(piece) => match &nests[piece] {
                        Some(nest) => return nest[&self.entry],
                        None => next = self.pieces[piece].next,
                    },
                }
            }
        };
        let (_, steps) = self.loops[self.loops.len() - 1];
        for ((piece, body), nest) in self.pieces.iter().zip(&bodies).zip(&nests) {
            let Some(nest) = nest else { continue };
            let left_for = match piece.next {
                Next::End => steps,
                Next::Cut(cut) => self.cuts[cut].0,
                Next::Piece(next) => self.pieces[next].first,
            };
            for block in body {
                if left_for != steps {
                    nest[block].turn(left_for, nest[&steps]);
                }
            }
            nest[&first].turn(begin, nest[&piece.first]);
            nest[&header].turn(self.exit, leads_to(piece.next));
        }
        for (block, next) in &self.cuts {
            let ways: Vec<_> = block.successors().into_iter().zip(next).collect();
            for (successor, next) in ways {
                if let Some(next) = *next {
                    block.turn(successor, leads_to(next));
                }
            }
        }
        let start = match &probe {
            // The first work item shows that there are some.
            Some(probe) => {
                probe[&first].turn(begin, leads_to(self.first));
                probe[&self.entry]
            }
            None => leads_to(self.first),
        };
        for block in before {
            block.turn(self.entry, start);
        }
        let nests = nests.into_iter().flatten();
        nests.map(|nest| self.like.copied(&nest)).collect()
    }
}

/// Gives a cut a block of its own. `copies` are of what cuts are computed of.
fn stand_alone<'m>(cut: &Cut<'m>, copies: &mut HashMap<Value<'m>, Value<'m>>) -> Block<'m> {
    let follow = |one: Instruction<'m>, copies: &HashMap<Value<'m>, Value<'m>>| {
        for (at, operand) in one.operands().into_iter().enumerate() {
            if let Some(&copy) = copies.get(&operand) {
                one.set_operand(at, copy);
            }
        }
    };
    let mut begins = None;
    for one in &cut.computes {
        let copy = one.copy_before(cut.at);
        follow(copy, copies);
        begins = begins.or(Some(copy));
        copies.insert(**one, *copy);
    }
    follow(cut.at, copies);
    let begins = begins.unwrap_or(cut.at);
    let mut block = begins.block();
    if block.instructions()[0] != begins {
        block = begins.split_before();
    }
    let mut rest = block
        .instructions()
        .into_iter()
        .skip_while(|one| *one != cut.at);
    if let Some(behind) = rest.nth(1) {
        behind.split_before();
    }
    block
}

/// All that says where variables begin and end of which that is said in the body of a nest.
fn scopes<'m>(nest: &Nest<'m>) -> HashSet<Instruction<'m>> {
    let is_scope = |one: &Instruction<'m>| {
        let call = one.as_call();
        call.is_some_and(|call| call.callee_name().starts_with("llvm.lifetime."))
    };
    let all = nest.body.iter().flat_map(|block| block.instructions());
    let mut found = HashSet::new();
    for one in all.filter(is_scope) {
        let operands = one.operands().into_iter();
        for variable in operands.filter_map(|one| one.as_op(Opcode::LLVMAlloca)) {
            found.extend(variable.instruction_users().into_iter().filter(is_scope));
        }
    }
    found
}
