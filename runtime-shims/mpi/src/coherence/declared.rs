//! Pages in section mode: coherence of what the compiler declared, byte by byte and without protection.
//!
//! A region that declares all its accesses tells, before each loop nest, what the nest reads and writes.
//! Guarantee: what a rank declared to read is current in its copy before the nest runs, and what it
//! declared to write is its own from then on.
//!
//! * A page of an object that declared writes span enters *section mode* at the next synchronisation. From then on
//!   the owner of each of its bytes is known to all ranks ([`Owners`]), and each rank knows which other
//!   bytes of its own copy are current (`valid`).
//! * A declaration copies from their owners the declared bytes that are not current here: in few
//!   messages, or none. The pages concerned are open for reading and writing: no fault, no twin.
//! * At a synchronisation each rank sends one [`Signature`] of what it declared. What follows from a
//!   state and the signatures of all ranks is computed once, from the declarations themselves, which the
//!   ranks exchange then; after that it is looked up. So an iteration like the one before costs nothing.
//! * Writes that may or may not happen are found by comparing with a twin, and are claimed byte by byte.
//! * In serial code rank 0's pages that are not wholly current are closed, and served by faults.
//! * A region that does not declare all its accesses cannot use such pages: they go back to a home.

use std::{
    collections::{BTreeMap, HashMap},
    rc::Rc,
};

use super::{
    Access, Coherence, Machine, READ_AHEAD, Run, Violation, WRITE_AHEAD, changed_ranges, runs_of,
};
use crate::{
    layout::{PAGE, Page},
    page_table::flag,
    sections::{
        owners::{Owned, Owners},
        ranges::{Range, Ranges},
        shape::Shape,
        signature::Signature,
    },
};

/// How a declared section is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It is read.
    Read,
    /// Some of it may be read.
    MayRead,
    /// All of it is written.
    Write,
    /// Some of it may be written.
    MayWrite,
}

/// A section that the program is about to access, in positions of the memory file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) mode: Mode,
    pub(crate) shape: Shape,
    /// The object it is a section of; just the section where no more is known. All accesses to pages
    /// inside the object are accesses to the object.
    pub(crate) object: Range,
}

impl Declared {
    /// Words of the description apart from the shape's.
    const WORDS: usize = 3;

    fn push_to(&self, words: &mut Vec<u64>) {
        words.extend([self.mode as u64, self.object.0, self.object.1]);
        self.shape.push_to(words);
    }
}

/// In an exchange: bytes that were written by a [`Mode::MayWrite`].
const CLAIMED: u64 = 4;

/// Plans and transitions kept; when there are more all are forgotten.
const MOST_PLANS: usize = 4096;
/// After so many returns from section mode the program's regions do not go together: pages serve it
/// better.
const MOST_COLLAPSES: u32 = 16;

/// What a declaration leads to in one state.
struct Plan {
    declared: Vec<Declared>,
    /// Words of their description.
    words: usize,
    /// Bytes to copy, by their owner.
    pulls: Vec<(u32, Vec<Range>)>,
    opened: Vec<Run>,
    /// Pages to be compared with a twin at the synchronisation.
    compared: Vec<Page>,
    valid: Rc<Ranges>,
    valid_id: Signature,
    written: Rc<Ranges>,
}

/// What a synchronisation leads to in one state.
struct Transition {
    owners: Rc<Owners>,
    owners_id: Signature,
    /// What became some rank's.
    claims: Vec<Ranges>,
    /// What each rank may have written. A copy of it made meanwhile may be of an intermediate value,
    /// although the bytes are as before in the end.
    unsteady: Vec<Ranges>,
}

/// What this rank declared since the last synchronisation.
#[derive(Default)]
struct Interval {
    signature: Option<Signature>,
    plans: Vec<Rc<Plan>>,
    written: Rc<Ranges>,
    compared: Vec<Page>,
    /// Bytes that the comparison found written.
    claimed: Ranges,
    /// Pages that will enter section mode at the synchronisation, as bytes.
    entering: Ranges,
    /// The bytes of these that are current here.
    current: Ranges,
}

/// The state of section mode on one rank.
pub(super) struct SectionMode {
    /// Never entered again where this is false.
    allowed: bool,
    /// The region that runs declares all it accesses.
    declaring: bool,
    /// Pages that it accesses undeclared, and what stands for them.
    direct: Vec<Page>,
    direct_id: Signature,
    owners: Rc<Owners>,
    owners_id: Signature,
    /// Bytes of other owners that are current here.
    valid: Rc<Ranges>,
    /// `None`: not computed since `valid` changed.
    valid_id: Option<Signature>,
    /// Stands for this rank's protections of pages in section mode.
    access_id: Signature,
    interval: Interval,
    plans: HashMap<Signature, Rc<Plan>>,
    transitions: HashMap<Signature, Rc<Transition>>,
    valid_after: HashMap<Signature, (Rc<Ranges>, Signature)>,
    closings: HashMap<Signature, Rc<Vec<(Run, Access)>>>,
    collapses: u32,
}

impl SectionMode {
    pub(super) fn new(allowed: bool) -> Self {
        let owners = Owners::default();
        Self {
            allowed,
            declaring: false,
            direct: Vec::new(),
            direct_id: Signature::START,
            owners_id: owners.signature(),
            owners: Rc::new(owners),
            valid: Rc::default(),
            valid_id: None,
            access_id: Signature::START,
            interval: Interval::default(),
            plans: HashMap::new(),
            transitions: HashMap::new(),
            valid_after: HashMap::new(),
            closings: HashMap::new(),
            collapses: 0,
        }
    }

    fn valid_id(&mut self) -> Signature {
        *self.valid_id.get_or_insert_with(|| self.valid.signature())
    }

    fn set_valid(&mut self, valid: Ranges) {
        self.valid = Rc::new(valid);
        self.valid_id = None;
    }

    fn set_owners(&mut self, owners: Owners) {
        self.owners_id = owners.signature();
        self.owners = Rc::new(owners);
    }
}

fn bytes_of(run: Run) -> Range {
    (position(run.first), position(run.first + run.count))
}

fn bytes_of_page(page: Page) -> Range {
    (position(page), position(page + 1))
}

fn position(page: Page) -> u64 {
    u64::from(page) * PAGE as u64
}

/// The pages that a range of bytes touches.
fn pages_touched((start, end): Range) -> std::ops::Range<Page> {
    (start / PAGE as u64) as Page..end.div_ceil(PAGE as u64) as Page
}

/// The pages that lie wholly in a range of bytes.
fn pages_inside((start, end): Range) -> std::ops::Range<Page> {
    let first = start.div_ceil(PAGE as u64) as Page;
    first..((end / PAGE as u64) as Page).max(first)
}

/// The pages that lie wholly in an object and that `span` touches.
fn pages_of_object(object: Range, span: Range) -> std::ops::Range<Page> {
    let (inside, touched) = (pages_inside(object), pages_touched(span));
    let first = inside.start.max(touched.start);
    first..inside.end.min(touched.end).max(first)
}

fn member(page: Page, access: Access) -> Signature {
    Signature::START.with(u64::from(page)).with(access as u64)
}

/// Keeps a map of plans small. All ranks do so at the same time where all have the same entries.
fn limit<T>(map: &mut HashMap<Signature, T>) {
    if map.len() >= MOST_PLANS {
        map.clear();
    }
}

impl<M: Machine> Coherence<M> {
    /// Ignores declarations from now on: pages alone keep memory coherent. Before the first region, on all
    /// ranks.
    pub(crate) fn ignore_declarations(&mut self) {
        self.sections.allowed = false;
    }

    // ---- Regions -------------------------------------------------------------------------------

    /// At a fork, after the notices: takes pages that the region accesses undeclared out of section mode;
    /// `declares_all` says that these are only the `direct` ones. Where it returns true, no rank may go on
    /// before all ranks have returned from here. All ranks decide alike.
    #[must_use]
    pub(crate) fn enter_region(&mut self, declares_all: bool, mut direct: Vec<Page>) -> bool {
        direct.sort_unstable();
        direct.dedup();
        let mode = &mut self.sections;
        mode.declaring = declares_all && mode.allowed;
        let bytes_under_way = if mode.owners.is_empty() {
            false
        } else if mode.declaring {
            let pages = direct
                .iter()
                .filter(|&&page| self.pages.has(page, flag::SECTION));
            let pages = Ranges::of(pages.map(|&page| bytes_of_page(page)).collect());
            !pages.is_empty() && self.leave_section_mode(&pages)
        } else {
            let all = mode.owners.all();
            self.leave_section_mode(&all)
        };
        self.sections.direct_id = direct
            .iter()
            .fold(Signature::START, |id, &page| id.with(u64::from(page)));
        self.sections.direct = direct;
        bytes_under_way
    }

    /// After the last synchronisation of a region.
    pub(crate) fn leave_region(&mut self) {
        self.sections.declaring = false;
    }

    /// Gives pages homes again: each to the rank that owns most of it.
    fn leave_section_mode(&mut self, bytes: &Ranges) -> bool {
        let owners = Rc::clone(&self.sections.owners);
        let mut bytes_under_way = false;
        let pieces = owners.within(bytes);
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
            let home = owner_of_most(&on_page);
            for piece in &on_page {
                bytes_under_way |= piece.owner != home;
                if piece.owner == self.rank && home != self.rank {
                    let start = (piece.start - position(page)) as usize;
                    let end = (piece.end - position(page)) as usize;
                    let contents = *self.machine.contents(page);
                    self.machine.put(page, start, &contents[start..end], home);
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
        let mode = &mut self.sections;
        mode.collapses += 1;
        mode.allowed &= mode.collapses < MOST_COLLAPSES;
        mode.set_owners(owners.without(bytes));
        mode.set_valid(mode.valid.minus(bytes));
        bytes_under_way
    }

    // ---- Declarations --------------------------------------------------------------------------

    /// Whether declarations count at present.
    pub(crate) fn is_declaring(&self) -> bool {
        self.sections.declaring
    }

    /// Prepares for the accesses that `declared` describes and `signature` stands for.
    pub(crate) fn declare(
        &mut self,
        signature: Signature,
        declared: impl FnOnce() -> Vec<Declared>,
    ) {
        if !self.sections.declaring {
            return;
        }
        self.counts.declarations += 1;
        let mode = &mut self.sections;
        let so_far = mode.interval.signature.unwrap_or(Signature::START);
        let so_far = so_far.with_signature(signature);
        mode.interval.signature = Some(so_far);
        let key = mode
            .owners_id
            .with_signature(mode.valid_id())
            .with_signature(mode.access_id)
            .with_signature(mode.direct_id)
            .with_signature(so_far);
        let plan = match mode.plans.get(&key) {
            Some(plan) => Rc::clone(plan),
            None => {
                self.counts.plans += 1;
                self.plan(key, declared())
            }
        };
        self.carry_out(&plan);
        self.sections.interval.plans.push(plan);
    }

    fn carry_out(&mut self, plan: &Plan) {
        for (owner, ranges) in &plan.pulls {
            self.machine.gather(*owner, ranges);
            self.counts.pulls += 1;
            self.counts.pulled_bytes += ranges.iter().map(|(start, end)| end - start).sum::<u64>();
            if !self.sections.interval.compared.is_empty() {
                self.update_twins(ranges);
            }
        }
        for &page in &plan.compared {
            if !self.pages.has_twin(page) {
                self.pages.make_twin(page, self.machine.contents(page));
                self.sections.interval.compared.push(page);
            }
        }
        for &run in &plan.opened {
            self.set_section_access(run, Access::Write);
        }
        let mode = &mut self.sections;
        mode.valid = Rc::clone(&plan.valid);
        mode.valid_id = Some(plan.valid_id);
        mode.interval.written = Rc::clone(&plan.written);
    }

    /// Works out what `declared` needs. The plan is kept for `key` where it depends on nothing else.
    fn plan(&mut self, key: Signature, declared: Vec<Declared>) -> Rc<Plan> {
        let bytes = |mode: Mode| {
            let those = declared.iter().filter(|one| one.mode == mode);
            those.fold(Ranges::default(), |all, one| all.union(&one.shape.ranges()))
        };
        let read = bytes(Mode::Read).union(&bytes(Mode::MayRead));
        let (written, maybe_written) = (bytes(Mode::Write), bytes(Mode::MayWrite));
        self.open_entering_pages(&declared);
        self.fetch_declared_pages(&declared);

        let mode = &self.sections;
        let interval = &mode.interval;
        let needed = read.union(&maybe_written).minus(&interval.written);
        let foreign = needed.minus(&mode.valid);
        let mut pulls = mode.owners.within(&foreign);
        pulls.retain(|piece| piece.owner != self.rank);
        let valid = mode.valid.union(&Ranges::of(
            pulls.iter().map(|piece| (piece.start, piece.end)).collect(),
        ));
        let from_homes = needed
            .intersection(&interval.entering)
            .minus(&interval.current);
        for range in from_homes.iter() {
            for page in pages_touched(range) {
                let owner = self.pages.home(page);
                if owner != self.rank {
                    let (start, end) = bytes_of_page(page);
                    pulls.push(Owned {
                        start: range.0.max(start),
                        end: range.1.min(end),
                        owner,
                        shared: false,
                    });
                }
            }
        }
        let written = interval.written.union(&written);
        let compared = self.section_pages(&maybe_written, |_| true);
        let hulls = Ranges::of(declared.iter().map(|one| one.shape.hull()).collect());
        let opened = self.section_pages(&hulls, |access| access != Access::Write);
        let is_repeatable = interval.entering.is_empty();
        self.sections.interval.current = self.sections.interval.current.union(&from_homes);
        let plan = Rc::new(Plan {
            words: declared
                .iter()
                .map(|one| Declared::WORDS + one.shape.words())
                .sum(),
            declared,
            pulls: by_owner(pulls),
            opened: runs_of(&mut opened.clone()),
            compared,
            valid_id: valid.signature(),
            valid: Rc::new(valid),
            written: Rc::new(written),
        });
        if is_repeatable {
            limit(&mut self.sections.plans);
            self.sections.plans.insert(key, Rc::clone(&plan));
        }
        plan
    }

    /// Pages in, or about to enter, section mode that `bytes` touches and whose protection `wanted` picks.
    fn section_pages(&self, bytes: &Ranges, wanted: impl Fn(Access) -> bool) -> Vec<Page> {
        let those = self
            .sections
            .owners
            .all()
            .union(&self.sections.interval.entering);
        let mut pages: Vec<Page> = bytes
            .intersection(&those)
            .iter()
            .flat_map(pages_touched)
            .filter(|&page| wanted(self.pages.access(page)))
            .collect();
        pages.dedup();
        pages
    }

    /// Opens the pages that a declared write covers: they will be in section mode.
    fn open_entering_pages(&mut self, declared: &[Declared]) {
        let writes = declared.iter().filter(|one| one.mode == Mode::Write);
        let pages = writes.flat_map(|one| pages_of_object(one.object, one.shape.hull()));
        let mut entering = Vec::new();
        let mut current = Vec::new();
        for page in pages {
            if self.can_enter(page) && self.pages.mark(page, flag::ENTERING) {
                entering.push(page);
                if self.pages.access(page) != Access::None {
                    current.push(page);
                }
            }
        }
        for run in runs_of(&mut entering.clone()) {
            for page in run.pages() {
                self.pages.set_access(page, Access::Write);
            }
            self.protect_now(run, Access::Write);
        }
        let bytes =
            |pages: &mut [Page]| Ranges::of(runs_of(pages).into_iter().map(bytes_of).collect());
        let interval = &mut self.sections.interval;
        interval.entering = interval.entering.union(&bytes(&mut entering));
        interval.current = interval.current.union(&bytes(&mut current));
    }

    fn can_enter(&self, page: Page) -> bool {
        !self.pages.has(page, flag::SECTION)
            && !self.pages.layout().is_private(page)
            // Later frames take the place of an array on the stack, unannounced.
            && !self.pages.layout().is_stack(page)
            && self.sections.direct.binary_search(&page).is_err()
    }

    /// Fetches at once the pages outside section mode that a declared read covers densely.
    fn fetch_declared_pages(&mut self, declared: &[Declared]) {
        for one in declared.iter().filter(|one| one.mode == Mode::Read) {
            for range in one.shape.ranges().iter() {
                for page in pages_inside(range) {
                    if !self.pages.has(page, flag::SECTION | flag::ENTERING) {
                        self.touch_page(page, false);
                    }
                }
            }
        }
    }

    /// Keeps twins from taking what was copied from other ranks for this rank's writes.
    fn update_twins(&mut self, ranges: &[Range]) {
        for &range in ranges {
            for page in pages_touched(range) {
                let contents = *self.machine.contents(page);
                if let Some(twin) = self.pages.twin(page) {
                    let (first, last) = bytes_of_page(page);
                    let start = (range.0.max(first) - first) as usize;
                    let end = (range.1.min(last) - first) as usize;
                    twin[start..end].copy_from_slice(&contents[start..end]);
                }
            }
        }
    }

    // ---- Synchronisation -----------------------------------------------------------------------

    /// What stands for the declarations of this rank since the last synchronisation, before its notices
    /// are collected.
    pub(crate) fn declared_signature(&mut self) -> Signature {
        let compared = std::mem::take(&mut self.sections.interval.compared);
        let mut claimed = Vec::new();
        for page in compared {
            let contents = *self.machine.contents(page);
            if let Some(twin) = self.pages.twin(page) {
                let at = position(page);
                claimed.extend(
                    changed_ranges(&contents, twin)
                        .map(|(start, end)| (at + start as u64, at + end as u64)),
                );
            }
            self.pages.drop_twin(page);
        }
        let interval = &mut self.sections.interval;
        interval.claimed = Ranges::of(claimed).minus(&interval.written);
        match interval.signature {
            None => Signature::NOTHING,
            Some(signature) => signature.with_signature(interval.claimed.signature()),
        }
    }

    /// Applies the declarations of all ranks, by their signatures, in rank order, after the notices. False
    /// where the declarations themselves are needed: then [`Coherence::apply_declarations`] is to follow.
    /// All ranks decide alike.
    pub(crate) fn apply_declared(&mut self, signatures: &[Signature]) -> bool {
        if signatures
            .iter()
            .all(|&signature| signature == Signature::NOTHING)
        {
            return true;
        }
        let key = self.transition_key(signatures);
        let Some(transition) = self.sections.transitions.get(&key).cloned() else {
            return false;
        };
        self.make_transition(key, &transition);
        self.forget_declarations();
        true
    }

    fn transition_key(&self, signatures: &[Signature]) -> Signature {
        let state = self
            .sections
            .owners_id
            .with_signature(self.sections.direct_id);
        signatures
            .iter()
            .fold(state, |key, &one| key.with_signature(one))
    }

    /// Number of words of [`Coherence::declarations`].
    pub(crate) fn declarations_length(&self) -> usize {
        let interval = &self.sections.interval;
        let declared = interval.plans.iter().map(|plan| plan.words);
        let claimed = interval.claimed.iter().count() * (Declared::WORDS + Shape::WORDS);
        declared.sum::<usize>() + claimed
    }

    /// This rank's declarations, for [`Coherence::apply_declarations`].
    pub(crate) fn declarations(&self) -> Vec<u64> {
        let mut words = Vec::new();
        let interval = &self.sections.interval;
        for one in interval.plans.iter().flat_map(|plan| &plan.declared) {
            one.push_to(&mut words);
        }
        for range in interval.claimed.iter() {
            words.extend([CLAIMED, range.0, range.1]);
            Shape::whole(range).push_to(&mut words);
        }
        words
    }

    /// Applies the declarations of all ranks, in rank order.
    pub(crate) fn apply_declarations(&mut self, signatures: &[Signature], declarations: &[&[u64]]) {
        self.counts.transitions += 1;
        let key = self.transition_key(signatures);
        let mut spans: BTreeMap<Range, Range> = BTreeMap::new();
        let mut claims = Vec::new();
        let mut reads = Vec::new();
        let mut unsteady = Vec::new();
        for mut words in declarations.iter().copied() {
            let (mut claimed, mut read, mut maybe_written) = (Vec::new(), Vec::new(), Vec::new());
            while let Some((&[mode, start, end], rest)) = words.split_first_chunk() {
                words = rest;
                let shape = Shape::take_from(&mut words);
                let is = |other: Mode| mode == other as u64;
                if is(Mode::Write) {
                    let hull = shape.hull();
                    let span = spans.entry((start, end)).or_insert(hull);
                    *span = (span.0.min(hull.0), span.1.max(hull.1));
                }
                if is(Mode::Write) || mode == CLAIMED {
                    claimed.extend(shape.ranges().iter());
                } else {
                    read.extend(shape.ranges().iter());
                }
                if is(Mode::MayWrite) {
                    maybe_written.extend(shape.ranges().iter());
                }
            }
            unsteady.push(Ranges::of(maybe_written));
            claims.push(Ranges::of(claimed));
            reads.push(Ranges::of(read));
        }
        let entered = self.enter_section_mode(&spans);
        let mut owners = match entered.is_empty() {
            true => Owners::clone(&self.sections.owners),
            false => {
                let with_homes = entered.iter().map(|&page| {
                    let bytes = bytes_of_page(page);
                    (bytes, self.pages.home(page))
                });
                self.sections.owners.with(with_homes)
            }
        };
        for (rank, claimed) in (0..).zip(&claims) {
            owners = owners.changed(claimed, |one| Owned {
                owner: rank,
                shared: false,
                ..one
            });
        }
        for (rank, read) in (0..).zip(&reads) {
            owners = owners.changed(read, |one| Owned {
                shared: one.shared || one.owner != rank,
                ..one
            });
        }
        let transition = Rc::new(Transition {
            owners_id: owners.signature(),
            owners: Rc::new(owners),
            claims,
            unsteady,
        });
        if entered.is_empty() {
            limit(&mut self.sections.transitions);
            self.sections
                .transitions
                .insert(key, Rc::clone(&transition));
        }
        self.make_transition(key, &transition);
        self.forget_declarations();
    }

    /// Puts the pages of objects that declared writes span into section mode. Those that were not yet.
    fn enter_section_mode(&mut self, spans: &BTreeMap<Range, Range>) -> Vec<Page> {
        let mut pages: Vec<Page> = spans
            .iter()
            .flat_map(|(&object, &span)| pages_of_object(object, span))
            .filter(|&page| self.can_enter(page))
            .collect();
        pages.sort_unstable();
        pages.dedup();
        for &page in &pages {
            self.leave_update_mode(page);
            self.pages.drop_twin(page);
            self.pages.mark(page, flag::SECTION);
            self.pages.set_exclusive(page, false);
            self.toggle_access(page);
        }
        pages
    }

    fn make_transition(&mut self, key: Signature, transition: &Transition) {
        let me = self.rank;
        let mode = &mut self.sections;
        let key = key.with_signature(mode.valid_id());
        let (valid, valid_id) = mode.valid_after.get(&key).cloned().unwrap_or_else(|| {
            let others = (0..).zip(&transition.unsteady);
            let others = others
                .filter(|&(rank, _)| rank != me)
                .map(|(_, bytes)| bytes);
            let stale = transition.claims.iter().chain(others);
            let valid = stale.fold(Ranges::clone(&mode.valid), |valid, bytes| {
                valid.minus(bytes)
            });
            let id = valid.signature();
            limit(&mut mode.valid_after);
            let valid = (Rc::new(valid), id);
            mode.valid_after.insert(key, valid.clone());
            valid
        });
        mode.valid = valid;
        mode.valid_id = Some(valid_id);
        mode.owners = Rc::clone(&transition.owners);
        mode.owners_id = transition.owners_id;
    }

    /// Forgets this rank's declarations: a new interval begins.
    fn forget_declarations(&mut self) {
        let interval = &mut self.sections.interval;
        if interval.signature.is_none() {
            return;
        }
        let entering = std::mem::take(&mut interval.entering);
        *interval = Interval::default();
        for page in entering.iter().flat_map(pages_touched) {
            self.pages.clear(page, flag::ENTERING);
        }
    }

    /// Applies rank 0's serial writes to pages in section mode.
    pub(super) fn apply_serial_writes(&mut self, pages: &mut [Page]) {
        if pages.is_empty() {
            return;
        }
        let written = Ranges::of(runs_of(pages).into_iter().map(bytes_of).collect());
        let key = self
            .sections
            .owners_id
            .with(u64::MAX)
            .with_signature(written.signature());
        let known = self.sections.transitions.get(&key).cloned();
        let transition = known.unwrap_or_else(|| {
            let owners = self.sections.owners.changed(&written, |one| Owned {
                owner: 0,
                shared: false,
                ..one
            });
            let transition = Rc::new(Transition {
                owners_id: owners.signature(),
                owners: Rc::new(owners),
                claims: vec![written],
                unsteady: Vec::new(),
            });
            limit(&mut self.sections.transitions);
            self.sections
                .transitions
                .insert(key, Rc::clone(&transition));
            transition
        });
        self.make_transition(key, &transition);
    }

    // ---- Serial code ---------------------------------------------------------------------------

    /// On rank 0, before serial code: closes the pages that are not wholly current, and makes writes to
    /// those noticed whose bytes other ranks hold or own.
    pub(crate) fn close_for_serial_code(&mut self) {
        let mode = &mut self.sections;
        if mode.owners.is_empty() {
            return;
        }
        let key = mode
            .owners_id
            .with_signature(mode.valid_id())
            .with_signature(mode.access_id);
        let changes = mode.closings.get(&key).cloned().unwrap_or_else(|| {
            let changes = Rc::new(self.serial_protections());
            limit(&mut self.sections.closings);
            self.sections.closings.insert(key, Rc::clone(&changes));
            changes
        });
        for &(run, access) in changes.iter() {
            self.set_section_access(run, access);
        }
    }

    /// The protections that differ from what serial code needs.
    fn serial_protections(&self) -> Vec<(Run, Access)> {
        let mode = &self.sections;
        let own = mode.owners.of(self.rank);
        let shared = mode
            .owners
            .iter()
            .filter(|one| one.owner == self.rank && one.shared);
        let shared = Ranges::of(shared.map(|one| (one.start, one.end)).collect());
        let current = own.union(&mode.valid);
        let whole_pages = |bytes: &Ranges| {
            let pages = bytes
                .iter()
                .map(pages_inside)
                .filter(|pages| !pages.is_empty());
            Ranges::of(
                pages
                    .map(|pages| (position(pages.start), position(pages.end)))
                    .collect(),
            )
        };
        let readable = whole_pages(&current);
        let noticed = Ranges::of(
            shared
                .iter()
                .map(|range| {
                    let pages = pages_touched(range);
                    (position(pages.start), position(pages.end))
                })
                .collect(),
        );
        let writable = whole_pages(&own).minus(&noticed);
        let closed = mode.owners.all().minus(&readable);
        let mut changes: Vec<(Run, Access)> = Vec::new();
        for (bytes, access) in [
            (closed, Access::None),
            (readable.minus(&writable), Access::Read),
            (writable, Access::Write),
        ] {
            for page in bytes.iter().flat_map(pages_touched) {
                if self.pages.access(page) == access {
                    continue;
                }
                match changes.last_mut() {
                    Some((run, last)) if *last == access && run.first + run.count == page => {
                        run.count += 1;
                    }
                    _ => changes.push((
                        Run {
                            first: page,
                            count: 1,
                        },
                        access,
                    )),
                }
            }
        }
        changes
    }

    /// Serves an access to a page in section mode that was not declared: in serial code, or a read in a
    /// region. The access is allowed afterwards.
    pub(super) fn access_section_page(&mut self, page: Page, write: bool) -> Result<(), Violation> {
        if self.pages.access(page) == Access::None {
            let most = self.reads.fault_at(page, READ_AHEAD);
            let run = self.section_run(page, most, Access::None);
            let wanted = Ranges::of(vec![bytes_of(run)]);
            let mode = &self.sections;
            let stale = wanted.minus(&mode.valid).minus(&mode.interval.written);
            let mut pieces = mode.owners.within(&stale);
            pieces.retain(|piece| piece.owner != self.rank);
            let copied = pieces.iter().map(|piece| (piece.start, piece.end));
            let valid = mode.valid.union(&Ranges::of(copied.collect()));
            for (owner, ranges) in by_owner(pieces) {
                self.machine.gather(owner, &ranges);
                self.update_twins(&ranges);
            }
            self.counts.pages_fetched += u64::from(run.count);
            self.sections.set_valid(valid);
            self.set_section_access(run, Access::Read);
            self.reads.next = page + run.count;
        }
        if write && self.pages.access(page) == Access::Read {
            if self.sections.declaring || self.rank != 0 {
                return Err(Violation::Undeclared);
            }
            let most = self.writes.fault_at(page, WRITE_AHEAD);
            let run = self.section_run(page, most, Access::Read);
            for written in run.pages() {
                if self.pages.mark(written, flag::DIRTY) {
                    self.dirty.push(written);
                }
            }
            self.set_section_access(run, Access::Write);
            self.writes.next = page + run.count;
        }
        Ok(())
    }

    /// At most `most` pages in section mode from `first` on that have the protection `access`.
    fn section_run(&self, first: Page, most: u32, access: Access) -> Run {
        let most = self.pages.layout().adjacent(first, most);
        let alike = |page: &Page| {
            self.pages.has(*page, flag::SECTION) && self.pages.access(*page) == access
        };
        let count = (first..first + most).take_while(alike).count() as u32;
        Run { first, count }
    }

    // ---- Protection ----------------------------------------------------------------------------

    fn set_section_access(&mut self, run: Run, access: Access) {
        for page in run.pages() {
            self.toggle_access(page);
            self.pages.set_access(page, access);
            self.toggle_access(page);
        }
        self.protect_now(run, access);
    }

    /// Takes a page's protection into the number that stands for all, or out of it.
    fn toggle_access(&mut self, page: Page) {
        if self.pages.has(page, flag::SECTION) {
            let member = member(page, self.pages.access(page));
            self.sections.access_id = self.sections.access_id.toggled(member);
        }
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

/// Ranges to copy, by their owner.
fn by_owner(mut pieces: Vec<Owned>) -> Vec<(u32, Vec<Range>)> {
    pieces.sort_unstable_by_key(|piece| (piece.owner, piece.start));
    let mut groups: Vec<(u32, Vec<Range>)> = Vec::new();
    for piece in pieces {
        let range = (piece.start, piece.end);
        match groups.last_mut() {
            Some((owner, ranges)) if *owner == piece.owner => match ranges.last_mut() {
                Some(last) if last.1 == range.0 => last.1 = range.1,
                _ => ranges.push(range),
            },
            _ => groups.push((piece.owner, vec![range])),
        }
    }
    groups
}
