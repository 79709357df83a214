//! Pages in section mode: coherence of what the compiler declared, byte by byte and without protection.
//!
//! A region that declares all its accesses tells, before each loop nest, what the nest reads and writes.
//! Guarantee: what a rank declared to read is current in its copy before the nest runs, and what it
//! declared to write is its own from then on.
//!
//! * A page of an object that declared writes span enters *section mode* at the next synchronisation.
//!   From then on the owner of each of its bytes is known to all ranks ([`Owners`]), and each rank knows
//!   which other bytes of its own copy are current (`valid`).
//! * A declaration copies from their owners the declared bytes that are not current here: in few
//!   messages, or none. The pages concerned are open for reading and writing: no fault, no twin.
//! * At a synchronisation each rank sends one [`Signature`] of what it declared. What follows from a
//!   state and the signatures of all ranks is computed once, from the declarations themselves, which the
//!   ranks exchange where they have not done so in any state before: [`transition`]. After that it is looked up. So an
//!   iteration like the one before costs nothing.
//! * What a declaration, or a synchronisation, leads to depends on the state of the pages between the first and the last byte
//!   of its sections, and is looked up by that: with the same there it is the same, whatever there is elsewhere.
//! * Between nodes, copies that were the same before, or of what was declared in the same place before, are not asked for:
//!   [`pushes`]. What many ranks copy goes
//!   from one to the other: [`trees`].
//! * Bytes that a rank only may have written become its own where it is their owner, or nobody else may
//!   have written them. Others are compared with a twin, and are claimed byte by byte. Where no rank may write
//!   what another one may write claims make no difference, and stay out of the signature.
//! * Writes that the program marks are its own byte by byte: they need neither a twin nor a current copy.
//! * In serial code rank 0's pages that are not wholly current are closed, and served by faults. So are
//!   those of every rank in a region that does not declare all its accesses: [`tracked`].
//! * What a region that declares its accesses reads undeclared even so is copied by a fault. That is told as a
//!   read, and from then on the page is open on this rank only where it is wholly current.
//! * Where such a region runs code that declares nothing, that is [`stretches`].
//! * Where threads wait for each other between two nests, by flags, that is [`between_nests`]; what they write there is theirs
//!   before, as far as that is expected: [`expected_writers`], copied as [`asked`] for. What is read behind a flag comes along with it: [`directly`].
//! * Atomic accesses to pages in section mode are carried out where the bytes are held, and told as contributions.

mod asked;
mod between_nests;
pub(crate) mod directly;
mod early;
mod expected_writers;
mod plan;
mod prediction;
mod pushes;
mod stretches;
mod tracked;
mod transition;
mod trees;

use std::{
    collections::{HashSet, VecDeque},
    rc::Rc,
};

use super::{Access, Coherence, Event, Machine, Run};
use crate::{
    geometry::{
        cache::Cache,
        owners::{Owned, Owners},
        parts::{Parts, chunks_around},
        pieces::{Bytes, Step},
        ranges::{Range, Ranges},
        shape::Shape,
        signature::Signature,
    },
    layout::{PAGE, Page},
    page_table::flag,
};
use asked::Asked;
use between_nests::BetweenNests;
use directly::Directly;
pub(crate) use early::Along;
use early::Early;
use expected_writers::ExpectedWriters;
use plan::{DeclaredBefore, Plan};
use prediction::{At, Packed, Passage, Predictions};
use pushes::{Expected, InFlight, Sending};
use tracked::Closing;
use transition::{Balance, Exchanged, KnownSets, Told, Transition};

/// How a declared section is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It is read.
    Read,
    /// Some of it may be read.
    MayRead,
    /// All of it is written.
    Write,
    /// Some of it may be written.
    MayWrite,
    /// Some of it may be written, and the program marks what is.
    Marked,
    /// Some of it may be contributed to where it is held: its owners stay what they are.
    Contribute,
    /// With a [`Mode::Write`] of the same hull: what is not written of it is read, so that it becomes this
    /// rank's too, where no other rank may have written it. Then what a rank owns is in few pieces. Not in
    /// regions with contributions.
    Keep,
    /// Pages of which this rank alone has bytes it may write without telling: of any section.
    Unnoticed,
    /// What this rank declared to write went to its owners, and may have been written by others since: of any section.
    HandedOver,
}

impl Mode {
    const ALL: [Self; 9] = [
        Self::Read,
        Self::MayRead,
        Self::Write,
        Self::MayWrite,
        Self::Marked,
        Self::Contribute,
        Self::Keep,
        Self::Unnoticed,
        Self::HandedOver,
    ];
}

/// A section that the program is about to access, in positions of the memory file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// How it is accessed.
    pub mode: Mode,
    /// Its bytes.
    pub shape: Shape,
    /// The object it is a section of; just the section where no more is known. All accesses to pages
    /// inside the object are accesses to the object.
    pub object: Range,
}

impl Declared {
    /// Words of the description apart from the shape's.
    const WORDS: usize = 3;

    fn words(&self) -> usize {
        Self::WORDS + self.shape.words()
    }

    fn push_to(&self, words: &mut Vec<u64>) {
        words.extend([self.mode as u64, self.object.0, self.object.1]);
        self.shape.push_to(words);
    }
}

/// After so many returns from section mode the program's regions do not go together: pages serve it
/// better.
const MOST_COLLAPSES: u32 = 16;

/// How a region accesses memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Accesses {
    /// As it declares.
    Declared {
        /// But for these pages.
        direct: Vec<Page>,
        /// There may be contributions.
        contributions: bool,
    },
    /// Without telling.
    Tracked {
        /// All pages go back to homes, where atomic accesses are carried out. (Those to pages in section mode are where
        /// their bytes are held.)
        atomics: bool,
    },
}

/// What this rank declared since the last synchronisation.
#[derive(Default)]
struct Interval {
    signature: Option<Signature>,
    /// Stands for what was declared, each together with what this rank knew of the bytes that it concerns.
    chain: Signature,
    plans: Vec<Rc<Plan>>,
    /// Of these: what was to be read, and what may have been written.
    read: DeclaredBefore,
    may_be_written: DeclaredBefore,
    /// Stands for what was copied from other nodes.
    far_copied: Signature,
    written: Ranges,
    /// Bytes of other owners that it may have written.
    uncertain: Ranges,
    compared: Vec<Page>,
    /// Those that the comparison found written, and what was marked.
    claimed: Ranges,
    /// These are left out of what stands for the declarations.
    omits_claims: bool,
    /// In which it may mark what it writes, and what it was known to have marked when it last mattered.
    marking: Ranges,
    marked: Ranges,
    /// Pages that will enter section mode at the synchronisation, as bytes.
    entering: Ranges,
    /// The bytes of these that are current here.
    current: Ranges,
    /// In a tracked region: pages in section mode that were opened for writing.
    opened: Vec<Page>,
    /// Bytes of other owners that faults copied.
    copied: Ranges,
    /// Pages in section mode with contributions.
    contributed: Vec<Page>,
    /// Something has been declared since a stretch began.
    is_reopened: bool,
    /// It has told these two of all.
    unnoticed: bool,
    handed_over: bool,
    /// It has taken a lock: what was sent when the interval began may have been written since by who had that before.
    acquired: bool,
    between_nests: BetweenNests,
    /// What stands for these in an exchange.
    tracked: Vec<Declared>,
}

/// The state of section mode on one rank.
pub(super) struct SectionMode {
    /// Never entered again where this is false.
    allowed: bool,
    /// The region that runs declares all it accesses.
    declaring: bool,
    /// The region that runs declares nothing, but may access pages in section mode.
    tracking: bool,
    /// The region that runs declares all it accesses, but for what runs now on this rank.
    in_stretch: bool,
    /// Its threads wait for flags between its nests.
    has_flags: bool,
    /// On rank 0: serial code may have written something in section mode since the last region.
    serial_code_wrote: bool,
    /// Some pages of the stack of serial code are in section mode.
    has_stack: bool,
    /// Pages that it accesses undeclared, and what stands for them.
    direct: Vec<Page>,
    direct_id: Signature,
    /// Pages that some region accessed undeclared, or serial code may unannounced: they do not enter.
    barred: HashSet<Page>,
    owners: Owners,
    /// Bytes of other owners that are current here.
    valid: Bytes,
    /// Stands for this rank's protections of pages in section mode.
    access: Parts,
    /// Pages that declarations opened here: of these only what was declared is current.
    opened: Bytes,
    /// Pages that this rank read undeclared in a region that declares its accesses, and what stands for them.
    /// They are open only where they are wholly current.
    read_undeclared: Ranges,
    read_undeclared_id: Signature,
    /// What these are in other regions, in one that may read anywhere.
    reads_elsewhere: Option<(Ranges, Signature)>,
    interval: Interval,
    /// Stands for what all ranks declared before the last synchronisation.
    declared_last: Signature,
    /// The same as it is known by where it has been exchanged: perhaps without claims that matter.
    exchanged_last: Signature,
    predictions: Predictions,
    /// `None`: nothing is predicted.
    expected: Option<Expected>,
    in_flight: Vec<InFlight>,
    /// Messages that wait for what this rank is to pass on.
    relays: VecDeque<Rc<Packed>>,
    early: Option<Early>,
    expected_writers: ExpectedWriters,
    asked: Asked,
    directly: Directly,
    /// What all ranks knew at the last synchronisation that had a key, and what has happened since.
    at: Option<At>,
    passage: Passage,
    /// Messages to begin, by a key and what is in flight.
    sendings: Cache<Rc<Vec<Sending>>>,
    plans: Cache<Rc<Plan>>,
    /// The bytes whose state a declaration depends on.
    reaches: Cache<Ranges>,
    transitions: Cache<Rc<Transition>>,
    /// What all ranks have declared, by what stands for that alone. What is new only in this state they need not exchange.
    exchanged: Cache<Rc<Exchanged>>,
    /// What was last looked for there, by its transition's key, and what it comes to.
    recalled: Option<(Signature, Option<Rc<Told>>)>,
    known_sets: KnownSets,
    /// What of `valid` is left after a transition.
    left_valid: Cache<Rc<Step>>,
    /// What of a message may be taken after one, and what stands for that.
    left_live: Cache<(Ranges, Signature)>,
    /// The same after others announced something.
    announced: Cache<Rc<Step>>,
    /// What nests were declared to write between two releases, by what stands for each.
    written_between: Cache<Ranges>,
    /// The owners of what was handed over between nests.
    handed_over: Cache<Rc<Vec<Owned>>>,
    closings: Cache<Rc<Closing>>,
    /// Pages to close at a synchronisation of a region that declares its accesses.
    outdated: Cache<Rc<Vec<Run>>>,
    /// Pages in section mode that do not go with contributions.
    split: Cache<Rc<Vec<Page>>>,
    collapses: u32,
    /// Declarations of this rank, each with owners, where claims make a difference.
    claims_matter: Cache<()>,
    balance: Balance,
}

impl SectionMode {
    pub(super) fn new(allowed: bool) -> Self {
        Self {
            allowed,
            declaring: false,
            tracking: false,
            in_stretch: false,
            has_flags: false,
            serial_code_wrote: true,
            has_stack: false,
            direct: Vec::new(),
            direct_id: Signature::START,
            barred: HashSet::new(),
            owners: Owners::default(),
            valid: Bytes::default(),
            access: Parts::default(),
            opened: Bytes::default(),
            read_undeclared: Ranges::default(),
            read_undeclared_id: Signature::NOTHING,
            reads_elsewhere: None,
            interval: Interval::default(),
            declared_last: Signature::NOTHING,
            exchanged_last: Signature::NOTHING,
            predictions: Predictions::default(),
            expected: None,
            in_flight: Vec::new(),
            relays: VecDeque::new(),
            early: None,
            expected_writers: ExpectedWriters::default(),
            asked: Asked::default(),
            directly: Directly::default(),
            at: None,
            passage: Passage::default(),
            sendings: Cache::default(),
            plans: Cache::default(),
            reaches: Cache::default(),
            transitions: Cache::default(),
            exchanged: Cache::default(),
            recalled: None,
            known_sets: KnownSets::default(),
            left_live: Cache::default(),
            left_valid: Cache::default(),
            announced: Cache::default(),
            written_between: Cache::default(),
            handed_over: Cache::default(),
            closings: Cache::default(),
            outdated: Cache::default(),
            split: Cache::default(),
            collapses: 0,
            claims_matter: Cache::default(),
            balance: Balance::default(),
        }
    }

    /// Stands for who owns what, what is current here, and how the pages are protected and were opened.
    #[inline]
    fn state(&self) -> Signature {
        let who = self.owners.signature();
        who.with_signature(self.valid.signature())
            .with_signature(self.access.all())
            .with_signature(self.opened.signature())
    }

    /// The same of what lies around some bytes. What follows from that is the same whatever there is elsewhere.
    fn state_around(&self, bytes: &Ranges) -> Signature {
        let who = self.owners.signature_around(bytes);
        who.with_signature(self.valid.signature_around(bytes))
            .with_signature(self.access.around(bytes))
            .with_signature(self.opened.signature_around(bytes))
    }

    #[inline]
    pub(super) fn owners(&self) -> &Owners {
        &self.owners
    }

    /// What this rank declared to write since the last synchronisation, and bytes of other owners that it
    /// may have written.
    pub(super) fn may_have_written(&self) -> (Ranges, Ranges) {
        let interval = &self.interval;
        (interval.written.clone(), interval.uncertain.clone())
    }
}

#[inline]
pub(super) fn bytes_of(run: Run) -> Range {
    (position(run.first), position(run.first + run.count))
}

#[inline]
pub(super) fn bytes_of_page(page: Page) -> Range {
    (position(page), position(page + 1))
}

#[inline]
fn position(page: Page) -> u64 {
    u64::from(page) * PAGE as u64
}

/// The pages that a range of bytes touches.
#[inline]
fn pages_touched((start, end): Range) -> std::ops::Range<Page> {
    (start / PAGE as u64) as Page..end.div_ceil(PAGE as u64) as Page
}

/// The pages that ranges of bytes touch; some may be there twice.
pub(super) fn pages_of(bytes: &Ranges) -> Vec<Page> {
    bytes.iter().flat_map(pages_touched).collect()
}

/// The pages that lie wholly in a range of bytes.
#[inline]
fn pages_inside((start, end): Range) -> std::ops::Range<Page> {
    let first = start.div_ceil(PAGE as u64) as Page;
    first..((end / PAGE as u64) as Page).max(first)
}

/// Where a page counts in what stands for protections.
#[inline]
fn chunk_of(page: Page) -> u64 {
    chunks_around(bytes_of_page(page)).start
}

/// The pages that ranges of bytes touch, as bytes; many ranges are taken for one.
fn pages_around(bytes: impl Iterator<Item = Range>) -> Ranges {
    const MANY: usize = 256;
    let pages = bytes.map(|range| {
        let pages = pages_touched(range);
        (position(pages.start), position(pages.end))
    });
    let pages = Ranges::of(pages.collect());
    match pages.len() > MANY {
        true => Ranges::of(vec![pages.hull()]),
        false => pages,
    }
}

#[inline]
fn member(page: Page, access: Access) -> Signature {
    Signature::START.with(u64::from(page)).with(access as u64)
}

impl<M: Machine> Coherence<M> {
    /// Ignores declarations from now on: pages alone keep memory coherent. Before the first region, on all
    /// ranks.
    pub fn ignore_declarations(&mut self) {
        self.sections.allowed = false;
    }

    /// Keeps pages out of section mode. Before the first region, on all ranks.
    pub fn keep_out(&mut self, pages: impl Iterator<Item = Page>) {
        self.sections.barred.extend(pages);
    }

    // ---- Regions -------------------------------------------------------------------------------

    /// At a fork, after the notices: takes pages out of section mode that the region accesses in ways that
    /// do not go with it. Where it returns true, no rank may go on before all ranks have returned from
    /// here. All ranks decide alike.
    #[must_use]
    pub(crate) fn enter_region(&mut self, accesses: Accesses) -> bool {
        let mode = &mut self.sections;
        mode.end_undeclared_reads();
        mode.recalled = None;
        mode.in_stretch = false;
        mode.has_flags = false;
        mode.declaring = mode.allowed && matches!(accesses, Accesses::Declared { .. });
        mode.tracking = mode.allowed && accesses == Accesses::Tracked { atomics: false };
        let (mut direct, contributions) = match accesses {
            Accesses::Declared {
                direct,
                contributions,
            } => (direct, contributions),
            Accesses::Tracked { .. } => (Vec::new(), false),
        };
        direct.sort_unstable();
        direct.dedup();
        if !mode.declaring {
            self.forget_in_flight();
        }
        let mode = &mut self.sections;
        let bytes_under_way = if mode.owners.is_empty() {
            false
        } else if mode.tracking {
            self.begin_tracking();
            false
        } else if mode.declaring {
            let pages = direct.iter().copied();
            let pages: Vec<Page> = pages
                .filter(|&page| self.pages.has(page, flag::SECTION))
                .collect();
            mode.barred.extend(&pages);
            let split = match contributions {
                true => mode.pages_with_split_words(),
                false => Rc::default(),
            };
            let pages = pages.into_iter().chain(split.iter().copied());
            let bytes = Ranges::of(pages.map(bytes_of_page).collect());
            !bytes.is_empty() && self.leave_section_mode(&bytes)
        } else {
            mode.collapses += 1;
            mode.allowed &= mode.collapses < MOST_COLLAPSES;
            let all = mode.owners.all().clone();
            self.leave_section_mode(&all)
        };
        self.sections.direct_id = direct
            .iter()
            .fold(Signature::START, |id, &page| id.with(u64::from(page)));
        self.sections.direct = direct;
        bytes_under_way
    }

    /// After a synchronisation of a region that declares all its accesses and has one thread on each rank: it
    /// runs on as one that tells nothing. To be heeded as [`Coherence::enter_region`].
    #[must_use]
    pub(crate) fn stop_declaring(&mut self) -> bool {
        self.enter_region(Accesses::Tracked { atomics: true })
    }

    /// On all ranks, when they have entered a region that declares its accesses, but reads what it does not declare, too: all
    /// pages that are open in it are current as a whole.
    pub fn expect_undeclared_reads(&mut self) {
        let mode = &mut self.sections;
        if !mode.declaring {
            return;
        }
        let everything = Ranges::of(vec![(0, u64::MAX)]);
        let id = everything.signature();
        let before = std::mem::replace(&mut mode.read_undeclared, everything);
        let id_before = std::mem::replace(&mut mode.read_undeclared_id, id);
        mode.reads_elsewhere = Some((before, id_before));
        self.close_outdated(None);
    }

    /// Whether pages of a stack are in section mode: the same on all ranks.
    pub(crate) fn has_stack_sections(&self) -> bool {
        self.sections.has_stack
    }

    /// On all ranks, when a region has ended, before serial code goes on: takes the pages of the stack out of section mode,
    /// on which it runs. To be heeded as [`Coherence::enter_region`].
    #[must_use]
    pub(crate) fn leave_stack(&mut self) -> bool {
        if !self.sections.has_stack {
            return false;
        }
        let bytes = Ranges::of(vec![self.stack_bytes()]).intersection(self.sections.owners.all());
        // Whether bytes go to rank 0, all ranks know alike.
        self.leave_section_mode(&bytes)
    }

    /// After the last synchronisation of a region.
    pub fn leave_region(&mut self) {
        // What threads that waited for flags have forgotten may be open yet, and later it is looked at only where something
        // changes.
        if self.sections.has_flags {
            self.close_outdated(None);
        }
        self.sections.end_undeclared_reads();
        self.sections.declaring = false;
        self.sections.has_flags = false;
        self.sections.tracking = false;
        self.sections.serial_code_wrote = false;
        self.sections.expected = None;
        if std::mem::take(&mut self.sections.in_stretch) {
            self.forget_declarations();
        }
    }

    /// Gives pages homes again: each to the rank that owns most of it.
    fn leave_section_mode(&mut self, bytes: &Ranges) -> bool {
        self.forget_in_flight();
        let mut bytes_under_way = false;
        let pieces = self.sections.owners.within(bytes);
        let mut pieces = pieces.iter().copied().peekable();
        let mut on_page: Vec<Owned> = Vec::new();
        for page in bytes.iter().flat_map(pages_touched) {
            on_page.clear();
            let end = position(page + 1);
            while let Some(piece) = pieces.peek_mut()
                && piece.start < end
            {
                on_page.push(Owned {
                    end: piece.end.min(end),
                    ..*piece
                });
                if piece.end > end {
                    piece.start = end;
                } else {
                    pieces.next();
                }
            }
            let home = match self.pages.layout().is_stack(page) {
                true => self.pages.layout().first_home(page),
                false => owner_of_most(&on_page),
            };
            for piece in &on_page {
                bytes_under_way |= piece.owner != home;
                if piece.owner == self.rank && home != self.rank {
                    let start = (piece.start - position(page)) as usize;
                    let end = (piece.end - position(page)) as usize;
                    let contents = self.machine.contents(page).copy();
                    self.machine.put(page, start, &contents[start..end], home);
                    self.counts.diffs += 1;
                    self.counts.diff_bytes += (end - start) as u64;
                }
            }
            self.toggle_access(page);
            self.pages.clear(page, flag::SECTION);
            self.pages.set_home(page, home);
            self.pages.set_exclusive(page, true);
            let access = if home == self.rank {
                Access::Write
            } else {
                Access::None
            };
            self.change_access(page, access);
        }
        self.apply_pending();
        self.machine.settle();
        self.counts.collapses += 1;
        let stack = self.stack_bytes();
        let mode = &mut self.sections;
        M::tell(|| Event::Leave {
            bytes,
            some: mode.declaring,
            last: !mode.allowed,
        });
        mode.remove(bytes, stack);
        bytes_under_way
    }

    /// On all ranks: takes pages out of section mode whose contents nobody needs any more.
    pub(super) fn forget_sections(&mut self, bytes: &Ranges) {
        let bytes = bytes.intersection(self.sections.owners.all());
        if bytes.is_empty() {
            return;
        }
        self.forget_in_flight();
        for page in bytes.iter().flat_map(pages_touched) {
            self.toggle_access(page);
            self.pages.clear(page, flag::SECTION);
        }
        let stack = self.stack_bytes();
        self.sections.remove(&bytes, stack);
    }

    /// All pages of the stack on which serial code runs, as bytes.
    fn stack_bytes(&self) -> Range {
        let stack = self.pages.layout().stack();
        bytes_of(Run {
            first: stack.page,
            count: stack.pages,
        })
    }

    /// Pages in section mode, as bytes, of which this rank owns bytes, or has declared since the last synchronisation that
    /// it accesses some: a later declaration may open them again, and take what was declared before for current.
    pub(super) fn own_in_sections(&self, runs: &[Run]) -> Ranges {
        let mode = &self.sections;
        let all = Ranges::of(runs.iter().copied().map(bytes_of).collect());
        let interval = &mode.interval;
        let written = [
            &interval.written,
            &interval.uncertain,
            &interval.marked,
            &interval.marking,
            &interval.claimed,
        ];
        let declared = interval.plans.iter().flat_map(|plan| &plan.declared);
        let declared = Ranges::of(declared.map(|one| one.shape.hull()).collect());
        let own = mode.owners.within_of(&all, self.rank);
        let own = own.union(&declared.intersection(&all));
        let own = written
            .into_iter()
            .fold(own, |own, bytes| own.union(&bytes.intersection(&all)));
        let pages = own.iter().map(|bytes| {
            let pages = pages_touched(bytes);
            (position(pages.start), position(pages.end))
        });
        Ranges::of(pages.collect())
    }

    /// Closes pages in section mode; what was current of them is not any more.
    pub(super) fn forget_copies_of_sections(&mut self, runs: &[Run]) {
        for &run in runs {
            self.set_section_access(run, Access::None);
        }
        if !runs.is_empty() {
            let bytes = Ranges::of(runs.iter().copied().map(bytes_of).collect());
            self.sections.valid.remove(&bytes);
        }
    }

    /// The pages of `span` that may enter section mode.
    fn pages_to_enter(&self, span: Range) -> Vec<Page> {
        let pages = pages_touched(span);
        pages.filter(|&page| self.can_enter(page)).collect()
    }

    fn can_enter(&self, page: Page) -> bool {
        !self.pages.has(page, flag::SECTION)
            && !self.pages.layout().is_private(page)
            // Later frames take the place of an array on the stack, unannounced. Where threads wait for flags, which would
            // look for what changed there at each, its pages leave section mode with the region.
            && (self.sections.has_flags || !self.pages.layout().is_stack(page))
            && self.sections.direct.binary_search(&page).is_err()
            && !self.sections.barred.contains(&page)
    }

    // ---- Protection ----------------------------------------------------------------------------

    fn set_section_access(&mut self, run: Run, access: Access) {
        // Pages next to each other are mostly in one chunk.
        let (mut chunk, mut changes) = (0, Signature::NOTHING);
        for page in run.pages() {
            if self.pages.has(page, flag::SECTION) {
                let before = member(page, self.pages.access(page));
                let own = chunk_of(page);
                if own != chunk {
                    self.sections.access.toggle(chunk, changes);
                    (chunk, changes) = (own, Signature::NOTHING);
                }
                changes = changes.toggled(before).toggled(member(page, access));
            }
            self.pages.set_access(page, access);
        }
        self.sections.access.toggle(chunk, changes);
        self.protect_now(run, access);
    }

    /// Takes a page's protection into the number that stands for all, or out of it.
    fn toggle_access(&mut self, page: Page) {
        if self.pages.has(page, flag::SECTION) {
            let member = member(page, self.pages.access(page));
            self.sections.access.toggle(chunk_of(page), member);
        }
    }
}

impl SectionMode {
    /// After a region that may read anywhere.
    fn end_undeclared_reads(&mut self) {
        if let Some((before, id)) = self.reads_elsewhere.take() {
            self.read_undeclared = before;
            self.read_undeclared_id = id;
        }
    }

    /// Forgets all about bytes of pages that leave section mode.
    fn remove(&mut self, bytes: &Ranges, stack: Range) {
        self.owners.remove(bytes);
        let all = self.owners.all();
        self.has_stack &= !all.intersection(&Ranges::of(vec![stack])).is_empty();
        self.valid.remove(bytes);
        self.opened.remove(bytes);
    }

    /// The pages in which ranks own parts of what is likely to be one object: comparisons with twins find
    /// the bytes that changed. Contributions to such objects would take long.
    fn pages_with_split_words(&mut self) -> Rc<Vec<Page>> {
        const WORD: u64 = 4;
        let key = self.owners.signature();
        if let Some(known) = self.split.get(key) {
            return Rc::clone(known);
        }
        let pieces = self.owners.pieces();
        let pairs = pieces.iter().zip(pieces.iter().skip(1));
        let split = pairs.filter(|(one, next)| {
            one.end == next.start && one.owner != next.owner && one.end % WORD != 0
        });
        let mut pages: Vec<Page> = split
            .map(|(one, _)| (one.end / PAGE as u64) as Page)
            .collect();
        pages.dedup();
        let pages = Rc::new(pages);
        self.split.insert(key, Rc::clone(&pages), pages.len());
        pages
    }
}

/// The rank that owns most bytes of a page, the lowest of several.
fn owner_of_most(pieces: &[Owned]) -> u32 {
    let owned = |rank: u32| -> u64 {
        let own = pieces.iter().filter(|piece| piece.owner == rank);
        own.map(|piece| piece.end - piece.start).sum()
    };
    pieces
        .iter()
        .map(|piece| piece.owner)
        .max_by_key(|&rank| (owned(rank), std::cmp::Reverse(rank)))
        .expect("a page in section mode has owners")
}
