//! What code accesses in shared memory, and where each thread can say so before it does.
//!
//! A *nest* is an outermost loop whose accesses can all be described in front of it, as sections
//! with values known there. What stands between nests is declared right before it happens, or is
//! *direct*: at an address that is known when the region is forked. A function whose accesses can be
//! described by its parameters has a *summary*; its callers declare them.
//!
//! Nothing is declared inside a loop that does not synchronise: it would be declared over and over.
//! What is left are *stretches* of code that declare nothing; some of it spoils the function, and with it the region.

mod by_all;
pub(super) mod calls;
mod counted;
mod describe;
mod entry;
mod exceptions;
mod locked;
mod marks;
mod merge;
pub(super) mod places;
mod plainness;
mod program;
mod stretches;

use std::collections::HashMap;
use std::rc::Rc;

use crate::analysis::nests::{Extent, Nests, Scope, Section, Term};
use crate::analysis::runtime;
use crate::diagnostic::user_name;
use crate::llvm::{Block, Function, Instruction, Module, Reach, Value};
use calls::can_be_copied;
pub use calls::{Dependence, is_one_of_several, may_declare};
use calls::{Effect, effect, flags_of, spoils_region, waits};
pub use counted::{Anywhere, Counted, Counters, Exit};
use describe::Found;
pub use entry::{Entry, Quantity, What};
use entry::{entry_of, point};
use locked::Locked;
pub use marks::Mark;
use marks::Marked;
use okl_abi::Effects;
use places::{Place, Places};

pub use program::{Program, Region};
pub use stretches::Stretch;

/// Functions with more memory accesses are left to the pages.
const MOST_ACCESSES: usize = 20_000;
/// So are those where a nest has more sections than this.
const MOST_ENTRIES: usize = 256;
/// Bytes of a pointer.
const POINTER: i64 = 8;
/// Most marks that one store sets.
pub const MOST_MARKS: i64 = 8;
/// A function with more declares them itself.
const MOST_IN_SUMMARY: usize = 48;

/// Why something cannot be declared.
#[derive(Clone)]
pub struct Spoiled<'m> {
    /// The access or call.
    pub at: Instruction<'m>,
    /// The end of a sentence that begins with "it".
    pub reason: String,
}

/// Something to declare.
pub struct Declaration<'m> {
    /// In front of this instruction.
    pub before: Instruction<'m>,
    /// Whether it is for a loop nest; otherwise for accesses that follow in the same block.
    pub is_nest: bool,
    /// What to declare.
    pub entries: Vec<Entry<'m>>,
    /// The stores that mark what they write.
    pub marks: Vec<Mark<'m>>,
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

/// What one function accesses, with everything it calls.
pub struct FunctionSections<'m> {
    /// The function.
    pub function: Function<'m>,
    /// The analysis its terms belong to.
    pub nests: Nests<'m>,
    /// What to declare, and where.
    pub declarations: Vec<Declaration<'m>>,
    /// What it accesses, for its callers to declare: sections known where it is entered.
    summary: Option<Summary<'m>>,
    /// Under which conditions that is all.
    depends: Vec<Dependence<'m>>,
    /// What is not declared because its address is known anyway.
    pub direct: Vec<Direct<'m>>,
    /// What is neither, and is told to the run time.
    pub stretches: Vec<Stretch<'m>>,
    /// Where it handles exceptions, in front of the first instruction.
    pub handlers: Vec<Instruction<'m>>,
    /// The functions it calls that declare what they access.
    pub callees: Vec<Function<'m>>,
    /// Whether it may synchronise.
    synchronises: bool,
    /// Whether it has a worksharing loop.
    shares: bool,
    /// Whether its threads tell each other by flags how far they are.
    has_flags: bool,
    /// Whether an exception may leave it while it is in the middle of what it has declared, or its callers.
    leaves_in_nest: bool,
    /// Whether it reads what threads share before the program ends in it.
    reads_at_end: bool,
    /// A read in a nest, if there is one, of which the nest does not say where it is.
    pub reads_elsewhere: Option<Instruction<'m>>,
    /// The first thing that cannot be declared.
    pub spoiled: Option<Spoiled<'m>>,
}

/// What a function accesses, as known where it is entered.
#[derive(Default)]
struct Summary<'m> {
    entries: Vec<Entry<'m>>,
    /// Objects that it writes somewhere: such calls can be described where these are the thread's own.
    written: Vec<(Term<'m>, Instruction<'m>)>,
    /// A read of which it is not known where it is.
    elsewhere: Option<Instruction<'m>>,
}

impl Summary<'_> {
    fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.written.is_empty() && self.elsewhere.is_none()
    }
}

impl FunctionSections<'_> {
    /// Whether it neither synchronises nor accesses anything that has to be declared.
    fn is_quiet(&self) -> bool {
        !self.synchronises
            && self.spoiled.is_none()
            && self.declarations.is_empty()
            && self.stretches.is_empty()
            && self.callees.is_empty()
            && self.depends.is_empty()
            && self.summary.as_ref().is_none_or(Summary::is_empty)
    }

    /// Whether it, or what it calls, has declarations or stretches of its own.
    fn says_something(&self) -> bool {
        let says_nothing =
            self.declarations.is_empty() && self.stretches.is_empty() && self.callees.is_empty();
        !self.is_quiet() && (self.declares_itself() || !says_nothing)
    }

    /// Whether calls of it need no declaration by the caller.
    fn declares_itself(&self) -> bool {
        self.summary.is_none()
    }
}

/// Functions that have been analysed.
type Known<'m> = HashMap<Function<'m>, Rc<FunctionSections<'m>>>;

/// A memory access of one instruction.
#[derive(Clone, Copy)]
pub(super) struct Access<'m> {
    pub(super) address: Value<'m>,
    pub(super) size: Size<'m>,
    pub(super) is_write: bool,
    at: Instruction<'m>,
}

#[derive(Clone, Copy)]
pub(super) enum Size<'m> {
    Constant(i64),
    Bytes(Value<'m>),
}

impl<'m> Size<'m> {
    /// Bytes of an element, and the number of elements where that is not one.
    pub(super) fn element(self) -> (i64, Option<Value<'m>>) {
        match self {
            Self::Constant(size) => (size, None),
            Self::Bytes(length) => (1, Some(length)),
        }
    }
}

/// A function, half analysed: what each of its instructions does.
struct Scan<'m> {
    places: Places<'m>,
    is_body: bool,
    /// Whether its nests may read where they do not say.
    may_read_elsewhere: bool,
    out: FunctionSections<'m>,
    /// Of every instruction that does something.
    effects: HashMap<Instruction<'m>, Effect<'m>>,
    /// Every function of the program that it calls, with the first call.
    called: Vec<(Function<'m>, Instruction<'m>)>,
    loops: Vec<Loop<'m>>,
    /// Those that are no nests: what is inside them is declared there.
    open: Vec<usize>,
    /// Those that are stretches.
    tracked: Vec<usize>,
    /// Its critical sections.
    locked: Locked<'m>,
}

struct Loop<'m> {
    preheader: Option<Block<'m>>,
    blocks: Vec<Block<'m>>,
    children: Vec<usize>,
}

impl<'m> Scan<'m> {
    /// Looks at every instruction of a function; `is_body` says that it is the body of a region, and `may_read_elsewhere` that
    /// the regions it runs in see to reads of which nests do not say where they are.
    fn of(
        module: &'m Module,
        function: Function<'m>,
        is_body: bool,
        may_read_elsewhere: bool,
    ) -> Self {
        let nests = Nests::open(module, function);
        let mut scan = Scan {
            places: Places::of(module, function, is_body),
            is_body,
            may_read_elsewhere,
            out: FunctionSections {
                function,
                nests,
                declarations: Vec::new(),
                summary: None,
                depends: Vec::new(),
                direct: Vec::new(),
                stretches: Vec::new(),
                handlers: Vec::new(),
                callees: Vec::new(),
                synchronises: false,
                shares: false,
                has_flags: false,
                leaves_in_nest: false,
                reads_at_end: false,
                reads_elsewhere: None,
                spoiled: None,
            },
            effects: HashMap::new(),
            called: Vec::new(),
            loops: Vec::new(),
            open: Vec::new(),
            tracked: Vec::new(),
            locked: Locked::default(),
        };
        let mut accesses = 0;
        let mut first = None;
        for instruction in function.instructions() {
            first.get_or_insert(instruction);
            let mut effect = effect(module, &scan.places, instruction);
            // What comes before the end of the program is no matter.
            if let Effect::Depends(one) = effect {
                effect = match scan.out.nests.is_last(instruction.block()) {
                    true => Effect::Spoils(one.reason),
                    false => Effect::Depends(one),
                };
            }
            match &effect {
                Effect::Nothing => continue,
                Effect::Accesses(list) => accesses += list.len(),
                Effect::Shares => scan.out.shares = true,
                Effect::Synchronises => {
                    scan.out.synchronises = true;
                    scan.out.has_flags |= waits(instruction);
                    if let Some(flags) = flags_of(&scan.places, instruction) {
                        add_new(&mut scan.out.direct, flags);
                        scan.out.has_flags = true;
                    }
                }
                Effect::Calls(callee) => {
                    if scan.called.iter().all(|(known, _)| known != callee) {
                        scan.called.push((*callee, instruction));
                    }
                }
                Effect::Spoils(reason) if spoils_region(instruction) => {
                    scan.spoil(instruction, reason.clone());
                }
                Effect::Depends(_) | Effect::Spoils(_) => {}
            }
            scan.effects.insert(instruction, effect);
        }
        scan.find_locked();
        if let Some((at, reason)) = scan.places.leaked() {
            scan.spoil(at, reason);
        }
        if let Some(first) = first
            && accesses > MOST_ACCESSES
        {
            scan.spoil(first, "has too many memory accesses".to_string());
        }
        scan
    }

    /// Finds out what to declare; every called function has been analysed, but those that are
    /// being analysed now.
    fn finish(mut self, known: &Known<'m>) -> FunctionSections<'m> {
        for (callee, _) in self.called.clone() {
            let Some(callee) = known.get(&callee) else {
                let reason = format!("calls {}, which is recursive", user_name(callee));
                self.spoil_calls(callee, &reason);
                continue;
            };
            if self.out.spoiled.is_none() {
                self.out.spoiled.clone_from(&callee.spoiled);
            }
            self.out.synchronises |= callee.synchronises;
            self.out.shares |= callee.shares;
            self.out.has_flags |= callee.has_flags;
            self.out.leaves_in_nest |= callee.leaves_in_nest;
            self.out.reads_at_end |= callee.reads_at_end;
            self.note_elsewhere(callee.reads_elsewhere);
            for one in &callee.direct {
                add_new(&mut self.out.direct, one.clone());
            }
            if callee.says_something() {
                if is_one_of_several(callee.function) && !can_be_copied(callee.function) {
                    let name = user_name(callee.function);
                    let reason = format!("calls {name}, of which other files have a copy");
                    self.spoil_calls(callee.function, &reason);
                    continue;
                }
                self.out.callees.push(callee.function);
            }
        }
        self.look_at_handlers(known);
        if self.out.spoiled.is_none() && !self.summarise(known) {
            self.declare(known);
        }
        self.find_handlers();
        self.note_throws();
        let mut blocks = self.out.function.blocks().into_iter();
        self.out.reads_at_end |=
            blocks.any(|block| self.out.nests.is_last(block) && self.reads_shared(block));
        self.out
    }

    /// No call of a function can be described.
    fn spoil_calls(&mut self, of: Function<'m>, reason: &str) {
        for effect in self.effects.values_mut() {
            if matches!(effect, Effect::Calls(callee) if *callee == of) {
                *effect = Effect::Spoils(reason.to_string());
            }
        }
    }

    fn spoil(&mut self, at: Instruction<'m>, reason: String) {
        if self.out.spoiled.is_none() {
            self.out.spoiled = Some(Spoiled { at, reason });
        }
    }

    /// Describes all accesses by the parameters, where that is possible.
    fn summarise(&mut self, known: &Known<'m>) -> bool {
        let mut callees = self.out.callees.iter();
        let declare_themselves = callees.any(|callee| known[callee].declares_itself());
        if self.is_body || self.out.synchronises || self.out.shares || declare_themselves {
            return false;
        }
        let blocks = self.out.function.blocks().into_iter();
        let (last, blocks): (Vec<_>, Vec<_>) =
            blocks.partition(|&block| self.out.nests.is_last(block));
        match self.describe(&blocks, Scope::Function, known, None) {
            // Where a call turns out to be unknown, nothing of its callers' sections holds: only it should not.
            Ok(found) if !found.depends.is_empty() && !self.out.nests.loops().is_empty() => false,
            Ok(found) if found.all.entries.len() <= MOST_IN_SUMMARY => {
                self.out.summary = Some(found.all);
                self.out.depends = found.depends;
                self.add_direct(found.direct);
                self.note_elsewhere(self.out.summary.as_ref().and_then(|one| one.elsewhere));
                for block in last {
                    if let Err(refused) = self.block(block, known) {
                        self.spoil(refused.at, refused.reason);
                    }
                }
                true
            }
            _ => false,
        }
    }

    fn note_elsewhere(&mut self, read: Option<Instruction<'m>>) {
        self.out.reads_elsewhere = self.out.reads_elsewhere.or(read);
    }

    fn add_direct(&mut self, direct: Vec<Direct<'m>>) {
        for one in direct {
            add_new(&mut self.out.direct, one);
        }
    }

    fn declare(&mut self, known: &Known<'m>) {
        let mut innermost: HashMap<Block<'m>, usize> = HashMap::new();
        let mut rest = Vec::new();
        for (index, one) in self.out.nests.loops().iter().enumerate() {
            match one.parent {
                Some(parent) => self.loops[parent].children.push(index),
                None => rest.push(index),
            }
            for &block in &one.blocks {
                innermost.insert(block, index);
            }
            self.loops.push(Loop {
                preheader: one.preheader,
                blocks: one.blocks.clone(),
                children: Vec::new(),
            });
        }
        for index in rest {
            self.declare_loop(index, known);
        }
        for block in self.out.function.blocks() {
            if innermost
                .get(&block)
                .is_none_or(|index| self.open.contains(index))
                && let Err(refused) = self.block(block, known)
            {
                self.spoil(refused.at, refused.reason);
                return;
            }
        }
    }

    /// Makes a loop a nest or a stretch, or what is inside it where it is around worksharing loops or synchronisations.
    fn declare_loop(&mut self, index: usize, known: &Known<'m>) {
        let one = &self.loops[index];
        if self.locked.contains(one.blocks[0].instructions()[0]) {
            return;
        }
        let (children, has_front) = (one.children.clone(), one.preheader.is_some());
        let Err(refused) = self.nest(index, known) else {
            return;
        };
        if !self.is_outer(index, known) {
            return self.add_loop(index, refused);
        }
        let declared = self.out.declarations.len();
        let (opened, tracked) = (self.open.len(), self.tracked.len());
        let stretches = self.out.stretches.len();
        for child in children {
            self.declare_loop(child, known);
        }
        // A stretch for each chunk of a loop would close its pages, and forget what it has read, again and again.
        let is_one = has_front
            && self.out.declarations.len() == declared
            && matches!(&self.out.stretches[stretches..], [one] if one.depends.is_empty())
            && self.only_shares(index, known);
        if is_one && let Some(inner) = self.out.stretches.pop() {
            self.open.truncate(opened);
            self.tracked.truncate(tracked);
            return self.add_loop(index, inner.spoiled);
        }
        self.open.push(index);
    }

    /// Whether a loop shares work and does not synchronise, nor calls what has something of its own to say.
    fn only_shares(&self, index: usize, known: &Known<'m>) -> bool {
        let blocks = &self.loops[index].blocks;
        let mut all = blocks.iter().flat_map(|block| block.instructions());
        all.all(|at| match self.effects.get(&at) {
            // It may only ask for the next chunk.
            Some(Effect::Synchronises) => {
                let effects = (*at).as_call().map(runtime::effects);
                effects.is_some_and(|effects| effects.has(Effects::SHARES))
            }
            Some(Effect::Calls(callee)) => known.get(callee).is_some_and(|callee| {
                !callee.synchronises && !callee.shares && !callee.says_something()
            }),
            _ => true,
        })
    }

    /// Whether a loop is around worksharing loops or synchronisations, so that what is declared
    /// inside it is declared for a large piece of work.
    fn is_outer(&self, index: usize, known: &Known<'m>) -> bool {
        let instructions = self.loops[index]
            .blocks
            .iter()
            .flat_map(|block| block.instructions());
        instructions
            .into_iter()
            .any(|instruction| match self.effects.get(&instruction) {
                Some(Effect::Synchronises | Effect::Shares) => true,
                Some(Effect::Calls(callee)) => {
                    let callee = known.get(callee);
                    callee.is_some_and(|callee| callee.synchronises || callee.shares)
                }
                _ => false,
            })
    }

    /// Declares a loop as a nest. An error is what keeps it from being one.
    fn nest(&mut self, index: usize, known: &Known<'m>) -> Result<(), Spoiled<'m>> {
        let one = &self.loops[index];
        let first = one.blocks[0].instructions()[0];
        let before = one.preheader.and_then(Block::terminator);
        let before = before.ok_or_else(|| Spoiled {
            at: first,
            reason: "enters a loop in more than one way".to_string(),
        })?;
        let scope = Scope::Loop(index);
        let mut marked = Vec::new();
        let blocks = one.blocks.clone();
        let found = self.describe(&blocks, scope, known, Some(&mut marked))?;
        let mut entries = found.all.entries;
        if self.ends_reading(index, known) {
            entries.extend(entries.clone().iter().filter_map(Entry::as_read));
        }
        if entries.len() > MOST_ENTRIES {
            return Err(Spoiled {
                at: entries[0].at,
                reason: "accesses too many sections".to_string(),
            });
        }
        let of_all = self.written_by_all(&entries, index);
        self.note_elsewhere(found.all.elsewhere);
        self.add_direct(found.direct);
        if !found.depends.is_empty() {
            self.add_dependent_loop(index, found.depends, !entries.is_empty());
        }
        let entry_of = |object| {
            let is_its =
                |one: &Entry<'m>| matches!(one.what, What::Marked { .. }) && one.address == object;
            entries.iter().position(is_its)
        };
        let mark = |(access, size, object, joined): Marked<'m>| {
            let entry = entry_of(object).expect("entries of the same object are one");
            let run = self.run(&access, size, index);
            let sure = marks::sure_entry(&entries, entry);
            let may_be_kept = sure.is_none() && !joined;
            let kept = run.as_ref().filter(|_| may_be_kept);
            Mark {
                at: access.at,
                address: access.address,
                size,
                joined,
                entry,
                kept: kept.and_then(|run| self.kept(run, index)),
                run,
                sure,
                counted: self.counted(&access, size, index),
            }
        };
        let is_counted =
            |(access, size, ..): &Marked<'m>| self.counted(access, *size, index).is_some();
        let marked = marked.into_iter();
        let marked = marked.map(|(access, size, object)| (access, size, object, false));
        let marked: Vec<Marked<'m>> = marked.collect();
        let unit = |object| entry_of(object).map_or(1, |entry| entries[entry].element);
        let joined = match marked.iter().any(is_counted) {
            true => marked,
            false => marks::join_neighbours(&self.out.nests, marked, unit),
        };
        let mut marks: Vec<Mark<'m>> = joined.into_iter().map(mark).collect();
        marks::mark_later(&mut entries, &mut marks);
        marks::mark_rarely(&mut entries, &marks);
        entries.extend(of_all);
        if !entries.is_empty() {
            self.out.declarations.push(Declaration {
                before,
                is_nest: true,
                entries,
                marks,
            });
        }
        Ok(())
    }

    fn add_declaration(&mut self, before: Instruction<'m>, entries: Vec<Entry<'m>>) {
        if !entries.is_empty() {
            self.out.declarations.push(Declaration {
                before,
                is_nest: false,
                entries,
                marks: Vec::new(),
            });
        }
    }

    /// Notes which calls in a block outside the nests access what cannot be described.
    fn spoil_unknown_calls(&mut self, block: Block<'m>, known: &Known<'m>) {
        for at in block.instructions() {
            let Some(Effect::Calls(callee)) = self.effects.get(&at) else {
                continue;
            };
            let callee = &*known[callee];
            if !callee.declares_itself()
                && let Err(refused) = self.call(callee, at, Scope::At(at), &mut Found::default())
            {
                self.effects.insert(at, Effect::Spoils(refused.reason));
            }
        }
    }

    /// Declares what a block outside the nests accesses. Accesses share a declaration where their
    /// addresses are known in front of the first and nothing lies between.
    fn block(&mut self, block: Block<'m>, known: &Known<'m>) -> Result<(), Spoiled<'m>> {
        self.spoil_unknown_calls(block, known);
        let stretches = self.stretches_of(block, known);
        let mut position = HashMap::new();
        let mut group: Option<Group<'m>> = None;
        for (index, at) in block.instructions().into_iter().enumerate() {
            position.insert(at, index);
            if stretches
                .iter()
                .any(|&(first, end)| (first..end).contains(&index))
            {
                self.add_group(group.take());
                continue;
            }
            let mut found = Found::default();
            let mut accesses = Vec::new();
            let is_access = match self.effects.get(&at) {
                None | Some(Effect::Nothing) => continue,
                Some(Effect::Accesses(list)) => {
                    for access in list {
                        match self.place(access) {
                            Place::Own => {}
                            Place::Direct(one) => found.direct.push(one),
                            Place::Elsewhere => accesses.push(*access),
                        }
                    }
                    true
                }
                Some(Effect::Calls(callee)) => {
                    let callee = &*known[callee];
                    if !callee.declares_itself() {
                        let scope = Scope::At(at);
                        self.call(callee, at, scope, &mut found)?;
                        let entries = &mut found.all.entries;
                        *entries = merge::merge(&self.out.nests, std::mem::take(entries));
                    }
                    false
                }
                Some(Effect::Depends(one)) => {
                    found.direct.extend(one.direct.iter().cloned());
                    false
                }
                Some(Effect::Shares) => continue,
                Some(Effect::Synchronises | Effect::Spoils(_)) => false,
            };
            self.add_direct(found.direct);
            if !is_access {
                self.add_group(group.take());
                self.add_declaration(at, found.all.entries);
                continue;
            }
            if accesses.is_empty() {
                continue;
            }
            let known_at = |entries: &[Entry<'m>], start: usize| {
                let values = entries.iter().flat_map(|entry| {
                    let dimensions = entry.dimensions.iter().flat_map(|&(a, b)| [a, b]);
                    dimensions.chain([entry.address])
                });
                values.into_iter().all(|value| match value {
                    Quantity::Value(value) => value
                        .as_instruction()
                        .and_then(|at| position.get(&at))
                        .is_none_or(|&at| at < start),
                    Quantity::Term(_) | Quantity::Constant(_) | Quantity::Places(_) => true,
                })
            };
            let entries: Vec<_> = accesses.iter().map(point).collect();
            if let Some(open) = &mut group
                && known_at(&entries, open.start)
            {
                open.add(accesses, entries);
            } else if let Some(open) = &mut group
                && let Some(ahead) = self.ahead(&accesses, block, open.before)
            {
                open.add(accesses, ahead);
                open.is_ahead = true;
            } else {
                self.add_group(group.take());
                group = Some(Group {
                    start: index,
                    before: at,
                    accesses,
                    entries,
                    is_ahead: false,
                });
            }
        }
        self.add_group(group);
        Ok(())
    }

    /// What accesses of a block are to be declared as in front of an instruction before them, where their addresses can be
    /// computed there.
    fn ahead(
        &self,
        accesses: &[Access<'m>],
        block: Block<'m>,
        before: Instruction<'m>,
    ) -> Option<Vec<Entry<'m>>> {
        let nests = &self.out.nests;
        let entries = accesses.iter().map(|access| {
            let Size::Constant(element) = access.size else {
                return None;
            };
            match nests.extent(access.address, None, block, Scope::At(before)) {
                extent @ Extent::Section(Section { exact: true, .. }) => {
                    entry_of(nests, extent, access.is_write, element, access.at).ok()
                }
                _ => None,
            }
        });
        entries.collect()
    }

    /// Declares accesses of a block together.
    fn add_group(&mut self, group: Option<Group<'m>>) {
        let Some(group) = group else {
            return;
        };
        let mut entries = group.entries;
        // As terms accesses next to each other become one.
        if group.is_ahead
            && let Some(ahead) = self.ahead(&group.accesses, group.before.block(), group.before)
        {
            entries = merge::merge(&self.out.nests, ahead);
        }
        self.add_declaration(group.before, entries);
    }
}

/// Accesses of a block that are declared together.
struct Group<'m> {
    /// The first of them, and its place in the block.
    before: Instruction<'m>,
    start: usize,
    accesses: Vec<Access<'m>>,
    entries: Vec<Entry<'m>>,
    /// The addresses of some are computed in front of the first.
    is_ahead: bool,
}

impl<'m> Group<'m> {
    fn add(&mut self, accesses: Vec<Access<'m>>, entries: Vec<Entry<'m>>) {
        self.accesses.extend(accesses);
        for entry in entries {
            if !self
                .entries
                .iter()
                .any(|known| known.is_same_section(&entry))
            {
                self.entries.push(entry);
            }
        }
    }
}

fn add_new<T: PartialEq>(list: &mut Vec<T>, one: T) {
    if !list.contains(&one) {
        list.push(one);
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
