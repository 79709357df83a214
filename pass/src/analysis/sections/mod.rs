//! What code accesses in shared memory, and where each thread can say so before it does.
//!
//! A *nest* is an outermost loop whose accesses can all be described in front of it, as sections
//! with values known there. Where an outer loop is no nest, the loops inside it may be; what stands
//! between them is declared right before it happens, or is *direct*: at an address that is known
//! when the region is forked. What can be declared in none of these ways spoils the function.
//!
//! A declaration holds up to the next one, so nothing is declared inside a nest.

mod calls;
mod merge;
mod places;
mod program;

use std::collections::HashMap;

use okl_abi::section_access::{ANYWHERE, BOUND, MAY, READ, WRITE};

use crate::llvm::{Block, Extent, Function, Instruction, Nests, Reach, Term, Value};
pub use calls::is_mathematics;
use calls::{Effect, effect};
use places::{Place, Places};

pub use program::{Program, Region};

/// Functions with more memory accesses are left to the pages.
const MOST_ACCESSES: usize = 20_000;
/// So are those where a nest has more sections than this.
const MOST_ENTRIES: usize = 256;

/// Why something cannot be declared.
#[derive(Clone)]
pub struct Spoiled<'m> {
    /// The access or call.
    pub at: Instruction<'m>,
    /// The end of a sentence that begins with "it".
    pub reason: String,
}

/// A value at run time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Quantity<'m> {
    /// A term of the function's analysis.
    Term(Term<'m>),
    /// A value of the program: an address or an integer.
    Value(Value<'m>),
    /// A number.
    Constant(i64),
}

/// One section.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry<'m> {
    /// `section_access`.
    pub access: i64,
    /// Bytes of an element.
    pub element: i64,
    /// Of the first element.
    pub address: Quantity<'m>,
    /// Stride in bytes and count, outer dimensions first.
    pub dimensions: Vec<(Quantity<'m>, Quantity<'m>)>,
    /// Name of the object; may be empty.
    pub object: String,
    /// An access.
    pub at: Instruction<'m>,
}

/// Something to declare.
pub struct Declaration<'m> {
    /// In front of this instruction.
    pub before: Instruction<'m>,
    /// Whether it is for a loop nest; otherwise for accesses that follow in the same block.
    pub is_nest: bool,
    /// What to declare.
    pub entries: Vec<Entry<'m>>,
}

/// An access at an address that is known when the region is forked.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Direct<'m> {
    /// A parameter of the function or a global variable.
    pub object: Value<'m>,
    /// Bytes from its start.
    pub offset: i64,
    /// Bytes accessed.
    pub size: i64,
}

/// What one function accesses.
pub struct FunctionSections<'m> {
    /// The function.
    pub function: Function<'m>,
    /// The analysis its terms belong to.
    pub nests: Nests<'m>,
    /// What to declare, and where.
    pub declarations: Vec<Declaration<'m>>,
    /// What is not declared because its address is known anyway.
    pub direct: Vec<Direct<'m>>,
    /// The functions it calls, with a call of each, that access memory on their own account.
    pub callees: Vec<(Function<'m>, Instruction<'m>)>,
    /// The first thing that cannot be declared.
    pub spoiled: Option<Spoiled<'m>>,
}

/// A memory access of one instruction.
struct Access<'m> {
    address: Value<'m>,
    size: Size<'m>,
    is_write: bool,
    at: Instruction<'m>,
}

#[derive(Clone, Copy)]
enum Size<'m> {
    Constant(i64),
    Bytes(Value<'m>),
}

/// Analyses a function. `leading` parameters point to variables of the runtime, which no other
/// thread uses; pointers in the others are known at the fork where it is the body of a region.
pub fn analyse<'m>(
    module: &'m crate::llvm::Module,
    function: Function<'m>,
    is_body: bool,
    declares: &dyn Fn(Function<'m>) -> bool,
) -> FunctionSections<'m> {
    let nests = Nests::open(function);
    let mut scan = Scan {
        places: Places::of(function, is_body),
        out: FunctionSections {
            function,
            nests,
            declarations: Vec::new(),
            direct: Vec::new(),
            callees: Vec::new(),
            spoiled: None,
        },
        effects: HashMap::new(),
        loops: Vec::new(),
    };
    let mut accesses = 0;
    for instruction in function.instructions() {
        let effect = effect(module, &scan.places, instruction, declares);
        match &effect {
            Effect::Nothing => continue,
            Effect::Accesses(list) => accesses += list.len(),
            Effect::Breaks(list) => {
                for access in list {
                    if let Place::Direct(one) = scan.place(access) {
                        scan.out.direct.push(one);
                    }
                }
            }
            Effect::Calls(callee) => scan.out.callees.push((*callee, instruction)),
            Effect::Spoils(reason) => scan.spoil(instruction, reason.clone()),
        }
        scan.effects.insert(instruction, effect);
    }
    if let Some((at, reason)) = scan.places.leaked() {
        scan.spoil(at, reason);
    }
    if accesses > MOST_ACCESSES
        && let Some(first) = function.instructions().first()
    {
        scan.spoil(*first, "has too many memory accesses".to_string());
    }
    if scan.out.spoiled.is_none() {
        scan.declare();
    }
    scan.out
}

struct Scan<'m> {
    places: Places<'m>,
    out: FunctionSections<'m>,
    /// Of every instruction that does something.
    effects: HashMap<Instruction<'m>, Effect<'m>>,
    loops: Vec<Loop<'m>>,
}

struct Loop<'m> {
    preheader: Option<Block<'m>>,
    blocks: Vec<Block<'m>>,
    children: Vec<usize>,
}

impl<'m> Scan<'m> {
    fn spoil(&mut self, at: Instruction<'m>, reason: String) {
        if self.out.spoiled.is_none() {
            self.out.spoiled = Some(Spoiled { at, reason });
        }
    }

    fn declare(&mut self) {
        let mut innermost: HashMap<Block<'m>, usize> = HashMap::new();
        let mut roots = Vec::new();
        for (index, one) in self.out.nests.loops().into_iter().enumerate() {
            match one.parent {
                Some(parent) => self.loops[parent].children.push(index),
                None => roots.push(index),
            }
            for &block in &one.blocks {
                innermost.insert(block, index);
            }
            self.loops.push(Loop {
                preheader: one.preheader,
                blocks: one.blocks,
                children: Vec::new(),
            });
        }
        // Blocks of loops that are no nests themselves.
        let mut open = Vec::new();
        let mut rest = roots;
        while let Some(index) = rest.pop() {
            match self.nest(index) {
                Ok(()) => {}
                Err(refused) => {
                    let one = &self.loops[index];
                    if let Some(spoiled) = refused
                        && one.children.is_empty()
                    {
                        self.spoil(spoiled.at, spoiled.reason);
                        return;
                    }
                    open.push(index);
                    rest.extend(&self.loops[index].children);
                }
            }
        }
        for block in self.out.function.blocks() {
            if innermost
                .get(&block)
                .is_none_or(|index| open.contains(index))
            {
                self.block(block);
            }
        }
    }

    /// Declares a loop as a nest. An error is what keeps it from being one: a call, or an access.
    fn nest(&mut self, index: usize) -> Result<(), Option<Spoiled<'m>>> {
        let one = &self.loops[index];
        let mut entries = Vec::new();
        let mut direct = Vec::new();
        for &block in &one.blocks {
            for instruction in block.instructions() {
                let list = match self.effects.get(&instruction) {
                    None | Some(Effect::Nothing) => continue,
                    Some(Effect::Accesses(list)) => list,
                    Some(Effect::Breaks(_) | Effect::Calls(_) | Effect::Spoils(_)) => {
                        return Err(None);
                    }
                };
                for access in list {
                    match self.place(access) {
                        Place::Own => {}
                        Place::Direct(one) => direct.push(one),
                        Place::Elsewhere => {
                            let entry = self.entry(access, block, index);
                            entries.push(entry.map_err(|reason| {
                                Some(Spoiled {
                                    at: access.at,
                                    reason,
                                })
                            })?);
                        }
                    }
                }
            }
        }
        let entries = merge::merge(&self.out.nests, entries);
        let before = one.preheader.and_then(Block::terminator).ok_or(None)?;
        if entries.len() > MOST_ENTRIES {
            return Err(Some(Spoiled {
                at: before,
                reason: "accesses too many sections".to_string(),
            }));
        }
        self.out.direct.extend(direct);
        if !entries.is_empty() {
            self.out.declarations.push(Declaration {
                before,
                is_nest: true,
                entries,
            });
        }
        Ok(())
    }

    fn place(&self, access: &Access<'m>) -> Place<'m> {
        let size = match access.size {
            Size::Constant(size) => Some(size),
            Size::Bytes(_) => None,
        };
        self.places.of_address(access.address, size)
    }

    fn entry(
        &self,
        access: &Access<'m>,
        block: Block<'m>,
        index: usize,
    ) -> Result<Entry<'m>, String> {
        let nests = &self.out.nests;
        let (element, length) = match access.size {
            Size::Constant(size) => (size, None),
            Size::Bytes(length) => (1, Some(length)),
        };
        let entry = |flags, element, address, dimensions| Entry {
            access: flags,
            element,
            address: Quantity::Term(address),
            dimensions,
            object: crate::llvm::demangle(&nests.object(address)),
            at: access.at,
        };
        match nests.extent(access.address, length, block, index) {
            Extent::Section(section) => {
                let flags = match (access.is_write, section.exact) {
                    (false, true) => READ,
                    (false, false) => READ | BOUND,
                    (true, true) => WRITE,
                    (true, false) => WRITE | MAY,
                };
                let dimensions = section.dimensions.into_iter();
                let dimensions = dimensions
                    .map(|(stride, count)| (Quantity::Term(stride), Quantity::Term(count)))
                    .collect();
                Ok(entry(flags, element, section.address, dimensions))
            }
            Extent::Anywhere(object) if !access.is_write => {
                Ok(entry(READ | ANYWHERE, 1, object, Vec::new()))
            }
            Extent::Anywhere(_) => Err("writes where cannot be told before the loop".to_string()),
            Extent::Unknown if access.is_write => {
                Err("writes to an object that is not known before the loop".to_string())
            }
            Extent::Unknown => {
                Err("reads from an object that is not known before the loop".to_string())
            }
        }
    }

    /// Declares what a block outside the nests accesses. Accesses share a declaration where their
    /// addresses are known in front of the first and nothing lies between.
    fn block(&mut self, block: Block<'m>) {
        let mut position = HashMap::new();
        let mut group: Option<(usize, Declaration<'m>)> = None;
        for (index, instruction) in block.instructions().into_iter().enumerate() {
            position.insert(instruction, index);
            let list = match self.effects.get(&instruction) {
                None | Some(Effect::Nothing) => continue,
                Some(Effect::Accesses(list)) => list,
                Some(_) => {
                    self.out
                        .declarations
                        .extend(group.take().map(|(_, one)| one));
                    continue;
                }
            };
            let mut entries = Vec::new();
            let mut direct = Vec::new();
            for access in list {
                match self.place(access) {
                    Place::Own => {}
                    Place::Direct(one) => direct.push(one),
                    Place::Elsewhere => entries.push(point(access)),
                }
            }
            self.out.direct.extend(direct);
            if entries.is_empty() {
                continue;
            }
            let known_at = |start: usize| {
                let values = entries.iter().flat_map(|entry| {
                    let dimensions = entry.dimensions.iter().flat_map(|&(a, b)| [a, b]);
                    dimensions.chain([entry.address])
                });
                values.into_iter().all(|value| match value {
                    Quantity::Value(value) => value
                        .as_instruction()
                        .and_then(|at| position.get(&at))
                        .is_none_or(|&at| at < start),
                    Quantity::Term(_) | Quantity::Constant(_) => true,
                })
            };
            match &mut group {
                Some((start, open)) if known_at(*start) => {
                    for entry in entries {
                        let same = |known: &Entry<'m>| {
                            known.access == entry.access
                                && known.element == entry.element
                                && known.address == entry.address
                                && known.dimensions == entry.dimensions
                        };
                        if !open.entries.iter().any(same) {
                            open.entries.push(entry);
                        }
                    }
                }
                _ => {
                    self.out
                        .declarations
                        .extend(group.take().map(|(_, one)| one));
                    group = Some((
                        index,
                        Declaration {
                            before: instruction,
                            is_nest: false,
                            entries,
                        },
                    ));
                }
            }
        }
        self.out.declarations.extend(group.map(|(_, one)| one));
    }
}

/// An access outside every nest.
fn point<'m>(access: &Access<'m>) -> Entry<'m> {
    let (element, dimensions) = match access.size {
        Size::Constant(size) => (size, Vec::new()),
        Size::Bytes(length) => (1, vec![(Quantity::Constant(1), Quantity::Value(length))]),
    };
    let (base, _) = access.address.strip_offset();
    Entry {
        access: if access.is_write { WRITE } else { READ },
        element,
        address: Quantity::Value(access.address),
        dimensions,
        object: crate::llvm::demangle(&base.source_name()),
        at: access.at,
    }
}

/// Whether a call is harmless for what lies behind pointers that only this thread has.
fn stays_within(reach: Reach, all_own: bool) -> bool {
    match reach {
        Reach::Nothing => true,
        Reach::Arguments => all_own,
        Reach::Anything => false,
    }
}
