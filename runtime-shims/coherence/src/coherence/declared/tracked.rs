//! Accesses to pages in section mode that were not declared: serial code on rank 0, and regions that
//! declare nothing. Protections find them.
//!
//! What a rank owns and nobody else has copies of it reads and writes freely: only its owner can change
//! it, and it stays the owner. What is current here can be read; all else faults. In a tracked region the
//! faults since the last synchronisation are told as uncertain writes and reads of whole pages, so that
//! [`super::transition`] need not know of them. So are the reads that a region did not declare which declares
//! its accesses, and all accesses of its [`super::stretches`].

use std::rc::Rc;

use super::{
    Declared, Mode, bytes_of, bytes_of_page, pages_inside, pages_touched, plan::by_owner, position,
};
use crate::{
    coherence::{Access, Coherence, Machine, Run, Violation, WRITE_AHEAD, changed_ranges, runs_of},
    geometry::{
        owners::{Owned, Owners},
        pieces::Step,
        ranges::{Range, Ranges},
        shape::Shape,
        signature::Signature,
    },
    layout::{PAGE, Page},
    page_table::flag,
};

/// What it takes to close pages before accesses that are not declared.
pub(super) struct Closing {
    protections: Vec<(Run, Access)>,
    /// No page is open by a declaration any more.
    none_opened: Rc<Step>,
}

impl<M: Machine> Coherence<M> {
    /// Before accesses that are not declared, on rank 0 before serial code: closes the pages that are not
    /// wholly current, and makes writes to those noticed whose bytes other ranks hold or own.
    pub fn close_undeclared(&mut self) {
        let mode = &mut self.sections;
        mode.serial_code_wrote = true;
        if mode.owners.is_empty() {
            return;
        }
        let key = mode.state();
        // What was declared before a stretch since the last synchronisation.
        let key = match mode.interval.signature.filter(|_| mode.in_stretch) {
            Some(declared) => key.with_signature(declared),
            None => key,
        };
        let key = match mode.has_flags {
            true => key.with_signature(mode.interval.between_nests.since),
            false => key,
        };
        let is_known = !mode.in_stretch || mode.interval.marking.is_empty();
        let known = mode.closings.get(key).filter(|_| is_known).cloned();
        let closing = known.unwrap_or_else(|| {
            let opened = &self.sections.opened;
            let closing = Rc::new(Closing {
                protections: self.undeclared_protections(),
                none_opened: opened.remove(&opened.ranges()),
            });
            let pieces = closing.protections.len() + closing.none_opened.len();
            if is_known {
                let closings = &mut self.sections.closings;
                closings.insert(key, Rc::clone(&closing), pieces);
            }
            closing
        });
        for &(run, access) in &closing.protections {
            self.set_section_access(run, access);
        }
        self.sections.opened.follow(&closing.none_opened);
    }

    /// After a change of the owners, where the region declares its accesses: closes the pages that are open
    /// for reads it did not declare and are no longer wholly current. Pages become so only where something changed: in
    /// `changed`, or anywhere.
    pub(super) fn close_outdated(&mut self, changed: Option<&Ranges>) {
        let mode = &self.sections;
        if mode.owners.is_empty() {
            return;
        }
        let key = match changed {
            Some(bytes) => mode.state_around(bytes).with_signature(bytes.signature()),
            None => mode.state(),
        };
        let key = key.with_signature(mode.read_undeclared_id);
        let outdated = mode.outdated.get(key).cloned().unwrap_or_else(|| {
            let outdated = Rc::new(self.outdated_pages(changed));
            let pieces = outdated.len();
            let known = &mut self.sections.outdated;
            known.insert(key, Rc::clone(&outdated), pieces);
            outdated
        });
        for &run in outdated.iter() {
            self.set_section_access(run, Access::None);
        }
        #[cfg(test)]
        assert_eq!(
            self.outdated_pages(None),
            [],
            "after changes of {changed:?}"
        );
    }

    /// Whether a read of `page` that is not declared may find it open and old: the first one, where a
    /// declaration has opened the page.
    #[cfg(test)]
    pub(in crate::coherence) fn is_open_by_declaration(&self, page: Page) -> bool {
        let mode = &self.sections;
        let at = position(page);
        self.pages.has(page, flag::ENTERING)
            || mode.opened.ranges().contains(at) && !mode.read_undeclared.contains(at)
    }

    fn outdated_pages(&self, changed: Option<&Ranges>) -> Vec<Run> {
        let mode = &self.sections;
        let within = match changed {
            Some(bytes) => mode.owners.all().intersection(bytes),
            None => mode.owners.all().clone(),
        };
        let opened = match changed {
            Some(_) => mode.opened.within(&within),
            None => mode.opened.ranges(),
        };
        let others = within.minus(&opened.minus(&mode.read_undeclared));
        let pages = others.iter().flat_map(pages_touched);
        let mut open: Vec<Page> = pages
            .filter(|&page| self.pages.access(page) != Access::None)
            .collect();
        let open = Ranges::of(runs_of(&mut open).into_iter().map(bytes_of).collect());
        // These are few as a rule, and the owners of all there is many pieces.
        let own = mode.owners.within_of(&open, self.rank);
        let current = whole_pages(&own.union(&mode.valid.within(&open)));
        let outdated = open.minus(&current);
        let (_, outdated) = without_many_islands(current.intersection(&open), outdated);
        let mut pages: Vec<Page> = outdated.iter().flat_map(pages_touched).collect();
        runs_of(&mut pages)
    }

    /// The protections that differ from what undeclared accesses need.
    fn undeclared_protections(&self) -> Vec<(Run, Access)> {
        let mode = &self.sections;
        let own = mode.owners.of(self.rank);
        let shared = mode.owners.shared().intersection(&own);
        let declared = match mode.in_stretch {
            true => mode.interval.own().intersection(mode.owners.all()),
            false => Ranges::default(),
        };
        let current = own.union(&mode.valid.ranges()).union(&declared);
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
        let writable = match mode.in_stretch {
            true => {
                writable.union(&whole_pages(&mode.interval.written).intersection(mode.owners.all()))
            }
            false => writable,
        };
        let readable = readable.minus(&writable);
        let closed = mode.owners.all().minus(&writable).minus(&readable);
        let (writable, readable) = without_islands(writable, readable);
        let (readable, closed) = without_islands(readable, closed);
        let (writable, closed) = without_many_islands(writable, closed);
        let mut changes: Vec<(Run, Access)> = Vec::new();
        for (bytes, access) in [
            (closed, Access::None),
            (readable, Access::Read),
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

    /// Whether some of `bytes` is in section mode.
    pub fn is_in_section_mode(&self, bytes: Range) -> bool {
        pages_touched(bytes).any(|page| self.pages.has(page, flag::SECTION))
    }

    /// On rank 0 after a region, before [`Coherence::close_undeclared`]: whether an access to `bytes` in
    /// section mode does what it then would do without a fault. A read finds what is current here, and
    /// nobody misses a write to what nobody else has a copy of.
    pub fn may_access_unannounced(&mut self, bytes: Range, write: bool) -> bool {
        self.sections.serial_code_wrote |= write;
        let mode = &self.sections;
        let is_open = |page| match self.pages.access(page) {
            Access::None => false,
            Access::Read => !write,
            Access::Write => true,
        };
        let is_valid = || {
            mode.valid
                .recall(&Ranges::of(vec![bytes]))
                .contains_all(bytes)
        };
        let is_own = || {
            let one = mode.owners.around(bytes);
            one.is_some_and(|one| one.owner == self.rank && !(write && one.shared))
        };
        pages_touched(bytes).all(is_open) && (is_own() || !write && is_valid())
    }

    /// At a fork, where tracked accesses follow.
    pub(super) fn begin_tracking(&mut self) {
        // Serial code may have copied what its owner can now write unnoticed.
        let mode = &mut self.sections;
        let key = Signature::START
            .with_signature(mode.owners.signature())
            .with_signature(mode.valid.signature());
        match mode.left_valid.get(key) {
            Some(left) => mode.valid.follow(left),
            None => {
                let unnoticed = mode.unnoticed_copies();
                let left = mode.valid.remove(&unnoticed);
                let pieces = left.len();
                mode.left_valid.insert(key, left, pieces);
            }
        }
        self.close_undeclared();
    }

    /// In a region that declares its accesses, on a rank that ends the job: what was not declared can be read.
    pub fn prepare_for_exit(&mut self) {
        let marked = self.machine.take_marked(true);
        let mode = &mut self.sections;
        let interval = &mode.interval;
        let own = interval.written.union(&interval.uncertain);
        let current = own.union(&interval.marked).union(&marked);
        mode.valid.add(&current);
        mode.declaring = false;
        mode.tracking = true;
        self.close_undeclared();
    }

    /// At a synchronisation: puts what faults did in a region, and contributions, into words of declarations.
    pub(super) fn tell_faults(&mut self) {
        let interval = &mut self.sections.interval;
        if interval.opened.is_empty()
            && interval.copied.is_empty()
            && interval.contributed.is_empty()
        {
            return;
        }
        let whole = |mode, range: Range| Declared {
            mode,
            shape: Shape::whole(range),
            object: range,
        };
        interval.opened.sort_unstable();
        interval.opened.dedup();
        let opened = runs_of(&mut interval.opened);
        let opened = opened
            .into_iter()
            .map(|run| whole(Mode::MayWrite, bytes_of(run)));
        let copied = interval.copied.iter();
        let copied = copied.map(|range| whole(Mode::MayRead, range));
        interval.contributed.sort_unstable();
        interval.contributed.dedup();
        let contributed = runs_of(&mut interval.contributed);
        let contributed = contributed
            .into_iter()
            .map(|run| whole(Mode::Contribute, bytes_of(run)));
        let mut words = Vec::new();
        let told: Vec<Declared> = opened.chain(copied).chain(contributed).collect();
        for one in told {
            one.push_to(&mut words);
            interval.tracked.push(one);
        }
        interval.opened.clear();
        interval.copied = Ranges::default();
        let so_far = interval.signature.unwrap_or(Signature::START);
        interval.signature = Some(words.into_iter().fold(so_far, Signature::with));
    }

    /// Notes that a page in section mode is contributed to where its bytes are held.
    pub(in crate::coherence) fn note_contribution(&mut self, page: Page) {
        const MANY: usize = 4096;
        if self.announces_sections() {
            self.unannounced.note(page);
        }
        let contributed = &mut self.sections.interval.contributed;
        contributed.push(page);
        if contributed.len() >= MANY && contributed.len().is_power_of_two() {
            contributed.sort_unstable();
            contributed.dedup();
        }
    }

    /// In a tracked region or stretch, when a lock is released: sends what this rank changed to the owners. Whether it
    /// sent anything.
    pub(in crate::coherence) fn send_section_changes(&mut self) -> bool {
        let mut sent = self.hand_over_and_send();
        sent |= self.send_compared();
        sent
    }

    /// The same of pages that are compared with twins.
    pub(in crate::coherence) fn send_compared(&mut self) -> bool {
        let mut sent = false;
        for index in 0..self.sections.interval.compared.len() {
            sent |= self.send_changes_in_section(self.sections.interval.compared[index]);
        }
        sent
    }

    /// The same of one page that is compared with a twin.
    pub(super) fn send_changes_in_section(&mut self, page: Page) -> bool {
        let contents = self.machine.contents(page).copy();
        let Some(twin) = self.pages.twin(page) else {
            return false;
        };
        let at = position(page);
        let changed = changed_ranges(&contents, twin)
            .map(|(start, end)| (at + start as u64, at + end as u64));
        let changed = Ranges::of(changed.collect());
        twin.copy_from_slice(&contents);
        let sent = self.send_bytes(&changed);
        if sent && self.announces_sections() {
            self.unannounced.note(page);
        }
        self.send_home(&changed) || sent
    }

    /// Sends bytes to their owners; complete after [`Machine::settle`]. Whether there are any.
    pub(super) fn send_bytes(&mut self, bytes: &Ranges) -> bool {
        let pieces = self.sections.owners.within(bytes);
        self.send_pieces(&pieces)
    }

    /// The same of bytes with their owners.
    pub(super) fn send_pieces(&mut self, pieces: &[Owned]) -> bool {
        let rank = self.rank;
        let mut sent = false;
        for piece in pieces.iter().filter(|piece| piece.owner != rank) {
            let range = (piece.start, piece.end);
            for page in pages_touched(range) {
                self.send_part(page, range, piece.owner);
            }
            sent = true;
        }
        sent
    }

    /// Sends what lies in a page of `range` to a rank. Each byte is looked at once, for the message and the twin.
    pub(super) fn send_part(&mut self, page: Page, range: Range, rank: u32) {
        let (first, last) = bytes_of_page(page);
        let start = (range.0.max(first) - first) as usize;
        let end = (range.1.min(last) - first) as usize;
        // Most are short and many: room for a page costs more than they do.
        const SHORT: usize = 64;
        let (mut short, mut long): ([u8; SHORT], [u8; PAGE]);
        let bytes = match end - start {
            length @ ..=SHORT => {
                short = [0; SHORT];
                &mut short[..length]
            }
            length => {
                long = [0; PAGE];
                &mut long[..length]
            }
        };
        self.machine.contents(page).read(start, bytes);
        if let Some(twin) = self.pages.twin(page) {
            twin[start..end].copy_from_slice(bytes);
        }
        self.machine.put(page, start, bytes, rank);
        self.counts.diff_bytes += (end - start) as u64;
    }

    /// Whether ranks announce what they write in section mode when they release something: all do so, or none.
    pub(in crate::coherence) fn announces_sections(&self) -> bool {
        let mode = &self.sections;
        mode.tracking && !mode.owners.is_empty()
    }

    /// The next write to a page in section mode, of which this rank owns some, faults.
    pub(in crate::coherence) fn close_for_writing_in_sections(&mut self, page: Page) {
        if self.pages.access(page) == Access::Write {
            let run = Run {
                first: page,
                count: 1,
            };
            self.set_section_access(run, Access::Read);
        }
    }

    /// In a tracked region or stretch, when a lock is acquired: closes every page that is not wholly this rank's own, and
    /// that others have announced to have `changed`, where they do announce. [`Coherence::forget_section_copies`] is to
    /// follow, with what was closed or may be out of date, when what changed in them has been sent.
    pub(in crate::coherence) fn close_section_copies(
        &mut self,
        changed: Option<&[Page]>,
    ) -> Option<Ranges> {
        let mode = &self.sections;
        if !(mode.tracking || mode.in_stretch) || mode.owners.is_empty() {
            return None;
        }
        let outdated = match changed.filter(|_| self.announces_sections()) {
            Some(pages) => {
                let in_sections = pages.iter().copied();
                let in_sections = in_sections.filter(|&page| self.pages.has(page, flag::SECTION));
                let mut in_sections: Vec<Page> = in_sections.collect();
                let runs = runs_of(&mut in_sections);
                let changed = Ranges::of(runs.into_iter().map(bytes_of).collect());
                if changed.is_empty() {
                    return Some(changed);
                }
                let own = whole_pages(&mode.owners.within_of(&changed, self.rank));
                changed.minus(&own)
            }
            None => {
                let own = whole_pages(&mode.owners.of(self.rank));
                mode.owners.all().minus(&own)
            }
        };
        let mut outdated: Vec<Page> = outdated.iter().flat_map(pages_touched).collect();
        let outdated = runs_of(&mut outdated);
        let pages = outdated.iter().flat_map(|run| run.pages());
        let mut open: Vec<Page> = pages
            .filter(|&page| self.pages.access(page) != Access::None)
            .collect();
        for run in runs_of(&mut open) {
            self.set_section_access(run, Access::None);
        }
        Some(Ranges::of(outdated.into_iter().map(bytes_of).collect()))
    }

    /// Nothing that other ranks own of what is `outdated` is current here any more. What this rank owns of the pages that were
    /// closed stays in its memory.
    pub(in crate::coherence) fn forget_section_copies(&mut self, outdated: Option<&Ranges>) {
        if self.sections.in_stretch {
            self.renew_entering();
        }
        let Some(outdated) = outdated.filter(|outdated| !outdated.is_empty()) else {
            return;
        };
        let announces = self.announces_sections();
        let mode = &mut self.sections;
        if announces {
            mode.valid.remove(outdated);
        } else {
            mode.valid.clear();
        }
        let entering = &mode.interval.entering;
        let compared = std::mem::take(&mut mode.interval.compared);
        let (compared, dropped): (Vec<Page>, Vec<Page>) = compared.into_iter().partition(|&page| {
            entering.contains(position(page)) || !outdated.contains(position(page))
        });
        mode.interval.compared = compared;
        for page in dropped {
            self.pages.drop_twin(page);
        }
    }

    /// Serves an access to a page in section mode that was not declared: in serial code, a read in a
    /// region, or any in a tracked region or stretch. The access is allowed afterwards.
    pub(in crate::coherence) fn access_section_page(
        &mut self,
        page: Page,
        write: bool,
    ) -> Result<(), Violation> {
        if self.pages.access(page) == Access::None {
            let run = self.run_around(page, |pages, other| {
                pages.has(other, flag::SECTION) && pages.access(other) == Access::None
            });
            self.make_current(&[run]);
        }
        if write && self.pages.access(page) == Access::Read {
            let mode = &self.sections;
            let may_write = match mode.declaring {
                true => mode.in_stretch,
                false => mode.tracking || self.rank == 0,
            };
            if !may_write {
                return Err(Violation::Undeclared);
            }
            let most = self.writes.fault_at(page, WRITE_AHEAD);
            let run = self.section_run(page, most, Access::Read);
            self.open_section_pages(run);
            self.writes.next = page + run.count;
        }
        Ok(())
    }

    /// As if each of the pages had faulted, in a tracked region.
    pub(in crate::coherence) fn access_section_pages(&mut self, runs: &[Run], write: bool) {
        let stale = self.runs_with(runs, Access::None);
        if !stale.is_empty() {
            self.make_current(&stale);
        }
        if write {
            for run in self.runs_with(runs, Access::Read) {
                self.open_section_pages(run);
            }
        }
    }

    /// Copies what is not current of closed pages, and opens them for reading.
    fn make_current(&mut self, runs: &[Run]) {
        for &run in runs {
            self.combine_pages(run);
        }
        self.look_at_marks();
        let wanted = Ranges::of(runs.iter().copied().map(bytes_of).collect());
        let mode = &self.sections;
        let stale = wanted
            .minus(&mode.valid.recall(&wanted))
            .minus(&mode.interval.own());
        let mut pieces = mode.owners.recall(&stale);
        pieces.retain(|piece| piece.owner != self.rank);
        let copied = pieces.iter().map(|piece| (piece.start, piece.end));
        let copied = Ranges::of(copied.collect());
        mode.valid.add_again(&copied);
        if mode.declaring && !mode.in_stretch {
            let mode = &mut self.sections;
            let all = mode.read_undeclared.union(&wanted);
            if all != mode.read_undeclared {
                mode.read_undeclared_id = all.signature();
                mode.read_undeclared = all;
            }
        }
        let mode = &self.sections;
        if mode.tracking || mode.declaring {
            let interval = &mut self.sections.interval;
            interval.copied = interval.copied.union(&copied);
        }
        self.counts.fetched_bytes += copied.bytes();
        let announces = self.announces_sections();
        for (owner, ranges) in by_owner(pieces) {
            if announces {
                let mut pages: Vec<Page> =
                    ranges.iter().flat_map(|&one| pages_touched(one)).collect();
                for run in runs_of(&mut pages) {
                    self.machine.note_copies(run.first, run.count, owner);
                }
            }
            self.machine.pull(owner, &ranges);
            self.refresh_twins(&ranges);
        }
        for &run in runs {
            self.counts.pages_fetched += u64::from(run.count);
            self.learned.note(run, false);
            self.note_fetched(run);
            self.set_section_access(run, Access::Read);
        }
    }

    /// Opens current pages for writing in serial code, a tracked region or a stretch.
    fn open_section_pages(&mut self, run: Run) {
        if self.sections.tracking || self.sections.in_stretch {
            self.learned.note(run, true);
            self.note_tracked_writes(run);
        } else {
            for written in run.pages() {
                if self.pages.mark(written, flag::DIRTY) {
                    self.dirty.push(written);
                }
            }
        }
        self.set_section_access(run, Access::Write);
    }

    /// Before pages, all of them current, are opened for writing in a tracked region or stretch.
    fn note_tracked_writes(&mut self, run: Run) {
        self.combine_pages(run);
        let bytes = Ranges::of(vec![bytes_of(run)]);
        let mode = &mut self.sections;
        let interval = &mut mode.interval;
        let mut pieces = mode.owners.recall(&bytes);
        pieces.retain(|piece| piece.owner == self.rank);
        for piece in &pieces {
            for page in pages_touched((piece.start, piece.end)) {
                self.unannounced.open_in_sections(page);
            }
        }
        let own = pieces.iter().map(|piece| (piece.start, piece.end));
        let foreign = bytes.minus(&Ranges::of(own.collect()));
        interval.uncertain = interval.uncertain.union(&foreign);
        interval.opened.extend(run.pages());
        let mut compared: Vec<Page> = foreign.iter().flat_map(pages_touched).collect();
        compared.dedup();
        // One that it may write, as it declared before, has one.
        compared.retain(|&page| !self.pages.has_twin(page));
        for page in compared {
            self.pages.make_twin(page, self.machine.contents(page));
            self.sections.interval.compared.push(page);
        }
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
}

/// Fewer pages next to some that allow less are protected like these: a fault now and then costs less than
/// many changes of protection.
const LEAST: u64 = 16 * PAGE as u64;

/// So few of a rank's own pages among closed ones are let open even so: a fault at each interval costs more.
const FEW_ISLANDS: usize = if cfg!(test) { 1 } else { 64 };

/// The small ranges among pages that allow more, next to some that allow less.
fn islands(more: &Ranges, less: &Ranges) -> Vec<Range> {
    let is_island = |&(start, end): &Range| {
        end - start < LEAST && (less.contains(start.wrapping_sub(1)) || less.contains(end))
    };
    more.iter().filter(is_island).collect()
}

/// Moves the small ranges among pages that allow more to those next to them that allow less.
fn without_islands(more: Ranges, less: Ranges) -> (Ranges, Ranges) {
    let islands = Ranges::of(islands(&more, &less));
    (more.minus(&islands), less.union(&islands))
}

/// The same where the others allow nothing, and such ranges are many.
fn without_many_islands(more: Ranges, less: Ranges) -> (Ranges, Ranges) {
    match islands(&more, &less).len() > FEW_ISLANDS {
        true => without_islands(more, less),
        false => (more, less),
    }
}

/// The pages that lie wholly in `bytes`.
fn whole_pages(bytes: &Ranges) -> Ranges {
    let pages = bytes.iter().map(pages_inside);
    let pages = pages.filter(|pages| !pages.is_empty());
    Ranges::of(
        pages
            .map(|pages| (position(pages.start), position(pages.end)))
            .collect(),
    )
}

impl Owners {
    /// The pages that one rank, their owner, can write unnoticed in a tracked region.
    pub(super) fn unnoticed(&self, ranks: impl Iterator<Item = u32>) -> Ranges {
        let mut ranks = ranks.peekable();
        if ranks.peek().is_none() {
            return Ranges::default();
        }
        let shared: Vec<Range> = self
            .shared()
            .iter()
            .flat_map(pages_touched)
            .map(bytes_of_page)
            .collect();
        let shared = Ranges::of(shared);
        ranks.fold(Ranges::default(), |all, rank| {
            all.union(&whole_pages(&self.of(rank)).minus(&shared))
        })
    }
}
