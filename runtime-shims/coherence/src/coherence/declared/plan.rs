//! Declarations: what a rank needs before a loop nest runs, worked out once for each state of what they concern.

use std::{
    borrow::Cow,
    cell::{Cell, RefCell},
    rc::{Rc, Weak},
};

use super::{
    Declared, Interval, Mode, between_nests::bytes_written, bytes_of, bytes_of_page, pages_around,
    pages_inside, pages_touched,
};
use crate::{
    coherence::{Access, Coherence, Machine, Run, room::run_of, runs_of},
    geometry::{
        owners::Owned,
        pieces::Step,
        ranges::{Range, Ranges},
        shape::Shape,
        signature::Signature,
    },
    layout::Page,
    page_table::flag,
};

/// What a declaration leads to in one state. Where it was carried out before, and nothing has to be done, no more is looked at
/// than what stands first: in a pipeline there are thousands of plans, of which the caches hold none until they are needed.
#[repr(C)]
pub(super) struct Plan {
    /// What followed it last, and its key.
    next: RefCell<Option<(Signature, Weak<Plan>)>>,
    written: Ranges,
    uncertain: Ranges,
    /// How often it served again.
    again: Cell<u32>,
    /// There is nothing to copy, to open or to compare, nor anything that is current then and was not.
    is_done: bool,
    /// Some of `fetched`.
    has_fetched: bool,
    /// Words of their description.
    pub(super) words: usize,
    pub(super) declared: Vec<Declared>,
    /// Pages outside section mode that may be written, and bytes in it, with what stands for them: where ranks wait for
    /// flags.
    pub(super) pages_written: Vec<Page>,
    pub(super) bytes_written: (Signature, Ranges),
    /// Bytes in section mode that are certainly written, with what stands for them: where ranks wait for flags.
    pub(super) certain: (Signature, Ranges),
    /// Bytes to copy, by their owner.
    pub(super) pulls: Vec<(u32, Vec<Range>)>,
    /// Stands for those of other nodes.
    pub(super) far_copies: Signature,
    opened: Vec<Run>,
    /// Notes them, and those that were open.
    noted_open: Rc<Step>,
    /// Pages to be compared with a twin at the synchronisation.
    compared: Vec<Page>,
    made_valid: Rc<Step>,
    /// Pages outside section mode that are read densely, and the number of closings until they were last looked at.
    fetched: Vec<Run>,
    fetched_at: Cell<u64>,
}

impl Plan {
    /// What follows it as a rule, where that is what `key` stands for: without a look at all that is known, of which little
    /// is in the processor's caches.
    fn next(&self, key: Signature) -> Option<Rc<Self>> {
        let next = self.next.borrow();
        let (known, plan) = next.as_ref()?;
        plan.upgrade().filter(|_| *known == key)
    }
}

/// What a rank declared in some modes since the last synchronisation, as far as it has been asked for.
#[derive(Default)]
pub(super) struct DeclaredBefore {
    /// So many plans of the interval are in it.
    plans: usize,
    bytes: Ranges,
}

impl DeclaredBefore {
    /// The same of all plans of the interval.
    fn of_all(&mut self, plans: &[Rc<Plan>], is_wanted: impl Fn(Mode) -> bool) -> &Ranges {
        let new = plans[self.plans..].iter().flat_map(|plan| &plan.declared);
        let new = new.filter(|one| is_wanted(one.mode));
        let new = new.flat_map(|one| one.shape.ranges().iter().collect::<Vec<Range>>());
        self.bytes = self.bytes.union(&Ranges::of(new.collect()));
        self.plans = plans.len();
        &self.bytes
    }
}

/// What has been declared so often again is likely to be so for longer.
const LASTING: u32 = 8;

impl<M: Machine> Coherence<M> {
    /// Whether declarations count at present.
    pub fn is_declaring(&self) -> bool {
        self.sections.declaring
    }

    /// Prepares for the accesses that `declared` describes and `signature` stands for.
    pub fn declare(&mut self, signature: Signature, declared: impl FnOnce() -> Vec<Declared>) {
        if !self.sections.declaring || self.sections.in_stretch {
            return;
        }
        self.counts.declarations += 1;
        let mode = &mut self.sections;
        mode.interval.is_reopened = true;
        let so_far = mode.interval.signature.unwrap_or(Signature::START);
        let mut so_far = so_far.with_signature(signature);
        if mode.read_undeclared_id != Signature::NOTHING {
            so_far = so_far.with_signature(mode.read_undeclared_id);
        }
        mode.interval.signature = Some(so_far);
        // What was declared before the last release, but that it was, is the same whenever that took place.
        let between_nests = &mut mode.interval.between_nests;
        between_nests.since = between_nests.since.or_start().with_signature(signature);
        let mut decode = Some(declared);
        let mut new = None;
        let key = match mode.has_flags || mode.interval.unnoticed {
            false => {
                let reach = match mode.reaches.get(signature) {
                    Some(reach) => reach.clone(),
                    None => {
                        let declared = decode.take().map(|decode| decode()).unwrap_or_default();
                        let reach = pages_around(declared.iter().map(|one| one.shape.hull()));
                        mode.reaches.insert(signature, reach.clone(), reach.len());
                        new = Some(declared);
                        reach
                    }
                };
                // What other declarations since the last synchronisation have led to is no more than what they say, and
                // what there was around them.
                let around = mode.state_around(&reach);
                let chain = mode.interval.chain.with_signature(signature);
                let chain = chain.with_signature(around);
                mode.interval.chain = chain.with_signature(mode.read_undeclared_id);
                mode.interval.chain.with_signature(mode.direct_id)
            }
            // What others write meanwhile, and what this rank wrote undeclared, counts as well.
            true => {
                let key = mode.state().with_signature(so_far);
                let key = key.with_signature(mode.direct_id);
                match mode.has_flags {
                    true => key.with_signature(mode.interval.between_nests.since),
                    false => key,
                }
            }
        };
        let before = mode.interval.plans.last();
        let known = before.and_then(|before| before.next(key)).or_else(|| {
            let plan = Rc::clone(mode.plans.get(key)?);
            if let Some(before) = before {
                *before.next.borrow_mut() = Some((key, Rc::downgrade(&plan)));
            }
            Some(plan)
        });
        let plan = match known {
            Some(plan) => {
                self.fetch_again(&plan);
                self.enlarge(&plan);
                plan
            }
            None => {
                self.counts.plans += 1;
                let declared = new.or_else(|| decode.map(|decode| decode()));
                self.plan(key, declared.unwrap_or_default())
            }
        };
        self.carry_out(&plan);
        self.sections.interval.plans.push(plan);
    }

    /// Whether `declared` copies something that it may but need not access to where this rank marks what it writes, by what
    /// it declared since the last synchronisation: another thread of the rank may just write there.
    pub fn copies_beside_marks(&self, mut declared: Vec<Declared>) -> bool {
        let mode = &self.sections;
        let marking = &mode.interval.marking;
        if !mode.declaring || mode.in_stretch || marking.is_empty() {
            return false;
        }
        self.declare_whole_pages(&mut declared);
        let may = |mode: Mode| matches!(mode, Mode::MayRead | Mode::MayWrite | Mode::Keep);
        let accessed = declared.iter().filter(|one| may(one.mode));
        let accessed = accessed.flat_map(|one| one.shape.ranges().iter().collect::<Vec<Range>>());
        let foreign = marking.intersection(&Ranges::of(accessed.collect()));
        let foreign = foreign.minus(&mode.valid.within(&foreign));
        let owned = mode.owners.within_of(&foreign, self.rank);
        !foreign.minus(&owned).is_empty()
    }

    fn carry_out(&mut self, plan: &Plan) {
        self.combine();
        if plan.is_done {
            return self.note_what_is_written(plan);
        }
        for (owner, ranges) in &plan.pulls {
            let ranges = &*self.not_marked(ranges);
            let missing = self.take_pushed(*owner, ranges);
            // What was sent when the interval began lacks contributions since then, and what was written before a lock was
            // released.
            let interval = &self.sections.interval;
            let missing = missing.filter(|_| interval.contributed.is_empty() && !interval.acquired);
            let missing = missing.as_deref().unwrap_or(ranges);
            let not_waiting = self.take_waiting(*owner, missing);
            let missing = not_waiting.as_deref().unwrap_or(missing);
            if !missing.is_empty() {
                self.machine.pull(*owner, missing);
                self.counts.pulls += 1;
                let bytes = missing.iter().map(|(start, end)| end - start);
                self.counts.pulled_bytes += bytes.sum::<u64>();
            }
            // A page that enters section mode may have a twin of before.
            let interval = &self.sections.interval;
            let may_enter = self.sections.has_flags && !interval.entering.is_empty();
            if may_enter || !interval.compared.is_empty() {
                self.refresh_twins(ranges);
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
        for one in &plan.declared {
            if one.mode == Mode::Marked {
                let bytes = Ranges::of(vec![one.shape.hull()]);
                mode.interval.marking = mode.interval.marking.union(&bytes);
            }
        }
        mode.note_copies(plan);
        mode.valid.follow(&plan.made_valid);
        mode.opened.follow(&plan.noted_open);
        self.note_what_is_written(plan);
    }

    fn note_what_is_written(&mut self, plan: &Plan) {
        let note = |noted: &mut Ranges, now: &Ranges| {
            if !noted.is_copy_of(now) {
                *noted = now.clone();
            }
        };
        let interval = &mut self.sections.interval;
        note(&mut interval.written, &plan.written);
        note(&mut interval.uncertain, &plan.uncertain);
    }

    /// `ranges`, which are sorted, without what this rank has marked as written since the last
    /// synchronisation.
    fn not_marked<'a>(&mut self, ranges: &'a [Range]) -> Cow<'a, [Range]> {
        let interval = &mut self.sections.interval;
        if interval.marking.is_empty() {
            return Cow::Borrowed(ranges);
        }
        let wanted = Ranges::of(ranges.to_vec());
        if interval.marking.intersection(&wanted).is_empty() {
            return Cow::Borrowed(ranges);
        }
        interval.marked = interval.marked.union(&self.machine.take_marked(false));
        Cow::Owned(wanted.minus(&interval.marked).iter().collect())
    }

    /// Works out what `declared` needs. The plan is kept for `key` where it depends on nothing else.
    fn plan(&mut self, key: Signature, mut declared: Vec<Declared>) -> Rc<Plan> {
        self.declare_whole_pages(&mut declared);
        // Of what it owns it reads what it may: there is nothing to copy.
        let owners = &self.sections.owners;
        let is_own = |bytes: Range| owners.is_one_of(self.rank, bytes, true);
        let bytes = |mode: Mode| {
            let those = declared.iter().filter(|one| one.mode == mode);
            those.fold(Ranges::default(), |all, one| {
                all.union(&match mode {
                    Mode::Write => one.shape.ranges(),
                    _ => one.shape.ranges_or_hulls(&is_own),
                })
            })
        };
        let written = bytes(Mode::Write);
        // What it writes for sure is its own, whatever else may have written it before or does so afterwards.
        // Where threads wait for flags others may have written it since then, who were told.
        let written_before = &self.sections.interval.written;
        let is_written_anew = !is_within(&written, written_before);
        let sure = with(written_before, &written);
        let maybe_written = bytes(Mode::MayWrite);
        let maybe_written = match self.sections.has_flags {
            true => maybe_written.minus(&written),
            false => maybe_written.minus(&sure),
        };
        let kept = bytes(Mode::Keep).minus(&written);
        let read = bytes(Mode::Read).union(&bytes(Mode::MayRead)).union(&kept);
        let entering = self.enter_pages(&declared);
        let fetched = self.fetch_declared_pages(&declared);
        let fetched_at = Cell::new(self.pages.times_closed());
        // What an earlier declaration said to be read may not have been yet, by a fault: of a page that is
        // opened now it has to be there.
        let read_before = match entering.is_empty() {
            true => Ranges::default(),
            false => {
                let Interval { read, plans, .. } = &mut self.sections.interval;
                let read = read.of_all(plans, |mode| matches!(mode, Mode::Read | Mode::MayRead));
                let entering = entering.iter().copied().map(bytes_of);
                read.intersection(&Ranges::of(entering.collect()))
            }
        };

        let mode = &self.sections;
        let interval = &mode.interval;
        let needed = read.union(&maybe_written).union(&read_before);
        let needed = needed.minus(&interval.written);
        let foreign = needed.minus(&mode.valid.within(&needed));
        let mut pulls = mode.owners.within(&foreign);
        pulls.retain(|piece| piece.owner != self.rank);
        let made_valid = mode.valid.add(&Ranges::of(
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
        // What this rank owns it may write: nobody else has to know whether it did.
        let uncertain = maybe_written.minus(&mode.owners.within_of(&maybe_written, self.rank));
        let compared = self.section_pages(&uncertain, |_| true);
        let uncertain = with(&interval.uncertain, &uncertain);
        let certain = match mode.has_flags {
            true => written.intersection(mode.owners.all()),
            false => Ranges::default(),
        };
        let hulls = Ranges::of(declared.iter().map(|one| one.shape.hull()).collect());
        let mut declared_pages = self.section_pages(&hulls, |_| true);
        let declared_pages = runs_of(&mut declared_pages).into_iter().map(bytes_of);
        let noted_open = self
            .sections
            .opened
            .add(&Ranges::of(declared_pages.collect()));
        let opened = self.section_pages(&hulls, |access| access != Access::Write);
        let opened = runs_of(&mut opened.clone()).into_iter().chain(entering);
        let is_repeatable = interval.entering.is_empty();
        self.sections.interval.current = self.sections.interval.current.union(&from_homes);
        let pulls = by_owner(pulls);
        let may_be_written = match self.sections.has_flags {
            true => bytes_written(&declared),
            false => Ranges::default(),
        };
        let in_sections = may_be_written.intersection(self.sections.owners.all());
        let outside = may_be_written.minus(&in_sections);
        let mut pages_written: Vec<Page> = outside.iter().flat_map(pages_touched).collect();
        pages_written.dedup();
        let opened: Vec<Run> = opened.collect();
        let is_marked = declared.iter().any(|one| one.mode == Mode::Marked);
        let is_done = pulls.is_empty()
            && opened.is_empty()
            && compared.is_empty()
            && made_valid.len() == 0
            && noted_open.len() == 0
            && !is_marked;
        let plan = Rc::new(Plan {
            far_copies: self.far_copies(&pulls),
            pages_written,
            bytes_written: (in_sections.signature(), in_sections),
            certain: (certain.signature(), certain),
            words: declared.iter().map(Declared::words).sum(),
            declared,
            pulls,
            opened,
            noted_open,
            compared,
            made_valid,
            written: sure,
            uncertain,
            has_fetched: !fetched.is_empty(),
            fetched,
            fetched_at,
            again: Cell::default(),
            is_done,
            next: RefCell::default(),
        });
        if is_repeatable {
            let pulled = plan.pulls.iter().map(|(_, ranges)| ranges.len());
            let pieces = pulled.sum::<usize>() + plan.made_valid.len();
            // What adds nothing has no set of its own.
            let written = if is_written_anew {
                plan.written.len()
            } else {
                0
            };
            let pieces = pieces + written + plan.uncertain.len();
            let pieces = pieces
                + plan.pages_written.len().div_ceil(4)
                + plan.bytes_written.1.len()
                + plan.certain.1.len()
                + plan.compared.len()
                + plan.opened.len()
                + plan.noted_open.len()
                + plan.fetched.len();
            self.sections.plans.insert(key, Rc::clone(&plan), pieces);
        }
        plan
    }

    /// Adds reads of the pages that `declared` opens and this rank also reads undeclared.
    fn declare_whole_pages(&self, declared: &mut Vec<Declared>) {
        let read_undeclared = &self.sections.read_undeclared;
        if read_undeclared.is_empty() {
            return;
        }
        let hulls = Ranges::of(declared.iter().map(|one| one.shape.hull()).collect());
        let pages = hulls.iter().flat_map(pages_touched).map(bytes_of_page);
        let pages = Ranges::of(pages.collect()).intersection(read_undeclared);
        declared.extend(pages.iter().map(|range| Declared {
            mode: Mode::MayRead,
            shape: Shape::whole(range),
            object: range,
        }));
    }

    fn far_copies(&self, pulls: &[(u32, Vec<Range>)]) -> Signature {
        let is_far = |(owner, _): &&(u32, _)| !self.machine.is_near(*owner);
        let mut all = Signature::NOTHING;
        for (owner, ranges) in pulls.iter().filter(is_far) {
            let ranges = Ranges::of(ranges.clone()).signature();
            all = all
                .or_start()
                .with(u64::from(*owner))
                .with_signature(ranges);
        }
        all
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

    /// Where an earlier declaration said that one of `pages`, which are opened now, may be written, and it may
    /// not have been yet, by a fault: tracks that before.
    fn track_uncertain_writes(&mut self, pages: &[Page]) {
        if pages.is_empty() {
            return;
        }
        let Interval {
            may_be_written,
            plans,
            ..
        } = &mut self.sections.interval;
        let uncertain = may_be_written.of_all(plans, |mode| mode == Mode::MayWrite);
        let uncertain = uncertain.clone();
        if uncertain.is_empty() {
            return;
        }
        for &page in pages {
            let bytes = Ranges::of(vec![bytes_of_page(page)]);
            if !uncertain.intersection(&bytes).is_empty() {
                self.touch_page(page, true);
            }
        }
    }

    /// Takes in the pages that a declared or marked write covers: they will be in section mode. They are to be
    /// opened when what is read from them is there.
    fn enter_pages(&mut self, declared: &[Declared]) -> Vec<Run> {
        let writes = declared
            .iter()
            .filter(|one| matches!(one.mode, Mode::Write | Mode::Marked));
        let pages: Vec<Page> = writes
            .flat_map(|one| self.pages_to_enter(one.shape.hull()))
            .collect();
        self.track_uncertain_writes(&pages);
        let mut entering = Vec::new();
        let mut current = Vec::new();
        for page in pages {
            if self.pages.mark(page, flag::ENTERING) {
                entering.push(page);
                // What rank 0 wrote there before is not to be told when all meet: this rank may write it after that.
                if self.sections.has_flags && self.pages.has(page, flag::UPDATED) {
                    self.mark_flushed(page);
                }
                if self.pages.access(page) != Access::None {
                    current.push(page);
                }
            }
        }
        for &page in &entering {
            self.pages.set_access(page, Access::Write);
        }
        let bytes =
            |pages: &mut [Page]| Ranges::of(runs_of(pages).into_iter().map(bytes_of).collect());
        let interval = &mut self.sections.interval;
        interval.entering = interval.entering.union(&bytes(&mut entering));
        interval.current = interval.current.union(&bytes(&mut current));
        runs_of(&mut entering)
    }

    /// Fetches at once the pages outside section mode that a declared read covers densely.
    fn fetch_declared_pages(&mut self, declared: &[Declared]) -> Vec<Run> {
        let mut pages = Vec::new();
        for one in declared.iter().filter(|one| one.mode == Mode::Read) {
            for range in one.shape.ranges().iter() {
                for page in pages_inside(range) {
                    if !self.pages.has(page, flag::SECTION | flag::ENTERING) {
                        self.touch_page(page, false);
                        pages.push(page);
                    }
                }
            }
        }
        pages.sort_unstable();
        pages.dedup();
        runs_of(&mut pages)
    }

    /// The same for a plan that was made before.
    fn fetch_again(&mut self, plan: &Plan) {
        let closed = self.pages.times_closed();
        if !plan.has_fetched || plan.fetched_at.replace(closed) == closed {
            return;
        }
        for page in plan.fetched.iter().flat_map(|run| run.pages()) {
            if !self.pages.has(page, flag::SECTION | flag::ENTERING) {
                self.touch_page(page, false);
            }
        }
    }

    /// Lets memory be had in large pages that is declared again and again; now and then, as there may not have been
    /// all of it before.
    fn enlarge(&mut self, plan: &Plan) {
        let again = plan.again.get().saturating_add(1);
        plan.again.set(again);
        if again < LASTING || !again.is_power_of_two() {
            return;
        }
        let large = self.pages.layout().large() as u64;
        let hulls = plan.declared.iter().map(|one| one.shape.hull()).collect();
        for (start, end) in Ranges::of(hulls).iter() {
            let (start, end) = (start.next_multiple_of(large), end / large * large);
            if start < end {
                self.machine.enlarge(run_of((start, end)));
            }
        }
    }

    /// Keeps twins from taking what was copied from other ranks for this rank's writes.
    pub(super) fn refresh_twins(&mut self, ranges: &[Range]) {
        for &range in ranges {
            for page in pages_touched(range) {
                if !self.pages.has_twin(page) {
                    continue;
                }
                let contents = self.machine.contents(page);
                if let Some(twin) = self.pages.twin(page) {
                    let (first, last) = bytes_of_page(page);
                    let start = (range.0.max(first) - first) as usize;
                    let end = (range.1.min(last) - first) as usize;
                    contents.read(start, &mut twin[start..end]);
                }
            }
        }
    }
}

/// Whether `bytes` are all in `others`.
fn is_within(bytes: &Ranges, others: &Ranges) -> bool {
    bytes.iter().all(|range| others.contains_all(range))
}

/// `all` and `more`.
fn with(all: &Ranges, more: &Ranges) -> Ranges {
    match is_within(more, all) {
        true => all.clone(),
        false => all.union(more),
    }
}

/// Ranges to copy, by their owner.
pub(super) fn by_owner(mut pieces: Vec<Owned>) -> Vec<(u32, Vec<Range>)> {
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
