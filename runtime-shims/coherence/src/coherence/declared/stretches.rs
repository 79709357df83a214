//! Stretches of code, in regions that declare their accesses, that declare nothing: calls of functions of which nothing
//! is known, say.
//!
//! A stretch is a matter of the rank that runs it. Guarantee: what it reads is as current, and what it writes is as well
//! seen, as in a tracked region, whatever this rank declared before it since the last synchronisation and whatever
//! others declare meanwhile; nothing changes for them but what is told at the next synchronisation.
//!
//! * It begins with closed pages: open are only those that are wholly current here, and writable those of which
//!   nobody else has or owns bytes, or that this rank declared to write. What else it touches faults, as in
//!   [`super::tracked`].
//! * The first one of an interval tells [`Mode::Unnoticed`]: pages that the rank owned alone it may have written. Copies
//!   that others made of them since are dropped, and bytes of them are claimed only by who has certainly written them.
//! * Pages that are about to enter section mode are made wholly current, and compared with a twin.
//! * What faults did is told when the stretch ends, before anything else is declared: plans depend on it.
//! * What it touched when it was last run is made accessible when it begins: [`crate::coherence::learned`].
//! * Declarations are not heeded in a stretch. It may synchronise, and then goes on.
//! * Under locks what was declared and written before goes to its owners, too. It is [`Mode::HandedOver`] then: who owns it
//!   stays what it is, unless nobody else may have written it.
//! * Other threads of the rank may be in the midst of nests that they declared, before a stretch begins and all through it,
//!   but for such as mark what they write: these have ended.
//!   What they write then is declared; or, once that has been handed over, found as other writes are: pages are closed before
//!   their bytes are sent, and what is sent is put into twins.

use super::{Declared, Interval, Mode, bytes_of_page, pages_touched, position};
use crate::{
    coherence::{Access, Coherence, Machine},
    geometry::{
        ranges::{Range, Ranges},
        shape::Shape,
        signature::Signature,
    },
    layout::Page,
    page_table::flag,
};

impl Interval {
    /// Tells something that concerns no section.
    pub(super) fn tell_of_all(&mut self, mode: Mode) {
        const SOME: Range = (0, 1);
        let one = Declared {
            mode,
            shape: Shape::whole(SOME),
            object: SOME,
        };
        let so_far = self.signature.unwrap_or(Signature::START);
        self.signature = Some(so_far.with(mode as u64));
        self.tracked.push(one);
    }

    /// Tells of bytes that what was marked is found in. (What stands for all that is told does not change.)
    pub(super) fn tell_may_have_written(&mut self, marked: &Ranges) {
        self.tracked.extend(marked.iter().map(|range| Declared {
            mode: Mode::MayWrite,
            shape: Shape::whole(range),
            object: range,
        }));
    }

    /// The bytes that this rank has declared and written.
    pub(super) fn own(&self) -> Ranges {
        self.written.union(&self.marked)
    }
}

impl<M: Machine> Coherence<M> {
    /// In a region that declares its accesses: code follows that does not, until [`Coherence::end_stretch`]. `place` stands
    /// for it.
    pub fn begin_stretch(&mut self, place: u64) {
        if self.sections.declaring && !self.sections.in_stretch {
            self.combine();
            self.sections.in_stretch = true;
            let interval = &self.sections.interval;
            // Otherwise pages are as the one before left them.
            if interval.is_reopened || !interval.unnoticed {
                self.enter_stretch();
            }
            self.begin_learning(place);
        }
    }

    /// The region goes on with code that declares its accesses.
    pub fn end_stretch(&mut self) {
        if self.sections.in_stretch {
            self.combine();
            self.sections.in_stretch = false;
            self.end_learning();
            self.tell_faults();
        }
    }

    /// Where a stretch begins, or goes on after a synchronisation.
    pub(super) fn enter_stretch(&mut self) {
        self.look_at_marks();
        let interval = &mut self.sections.interval;
        interval.is_reopened = false;
        if !interval.unnoticed {
            interval.unnoticed = true;
            interval.tell_of_all(Mode::Unnoticed);
        }
        self.track_entering();
        self.close_undeclared();
    }

    /// Takes what this rank has marked as written so far.
    pub(super) fn look_at_marks(&mut self) {
        let interval = &mut self.sections.interval;
        if !interval.marking.is_empty() {
            interval.marked = interval.marked.union(&self.machine.take_marked(false));
        }
    }

    /// Makes pages that will enter section mode wholly current, and writes to them noticed.
    fn track_entering(&mut self) {
        let pages: Vec<Page> = self.pages_entering();
        self.fetch_entering(&pages);
        for page in pages {
            let is_noticed = self.pages.has_twin(page) || self.pages.has(page, flag::DIRTY);
            let is_exclusive = self.pages.home(page) == self.rank && self.pages.is_exclusive(page);
            let interval = &mut self.sections.interval;
            let is_compared = interval.compared.contains(&page);
            if is_exclusive || is_noticed && !is_compared {
                continue;
            }
            let bytes = Ranges::of(vec![bytes_of_page(page)]);
            interval.uncertain = interval.uncertain.union(&bytes);
            interval.opened.push(page);
            if !is_compared {
                interval.compared.push(page);
                self.pages.make_twin(page, self.machine.contents(page));
            }
        }
    }

    fn pages_entering(&self) -> Vec<Page> {
        let entering = self.sections.interval.entering.iter();
        entering.flat_map(pages_touched).collect()
    }

    /// Copies what is not current of pages that will enter section mode from their homes.
    fn fetch_entering(&mut self, pages: &[Page]) {
        for &page in pages {
            let home = self.pages.home(page);
            if home == self.rank {
                continue;
            }
            let interval = &mut self.sections.interval;
            let bytes = Ranges::of(vec![bytes_of_page(page)]);
            let stale = bytes.minus(&interval.own()).minus(&interval.current);
            interval.current = interval.current.union(&bytes);
            if !stale.is_empty() {
                let stale: Vec<Range> = stale.iter().collect();
                self.machine.pull(home, &stale);
                self.refresh_twins(&stale);
            }
        }
    }

    /// Who holds the bytes of an object, if that is one rank.
    pub fn holder(&self, page: Page, offset: usize, size: usize) -> Option<u32> {
        if !self.pages.has(page, flag::SECTION) {
            return Some(self.pages.home(page));
        }
        let start = position(page) + offset as u64;
        let pieces = self
            .sections
            .owners
            .recall(&Ranges::of(vec![(start, start + size as u64)]));
        match pieces[..] {
            [one] => Some(one.owner),
            _ => None,
        }
    }

    // ---- Locks ---------------------------------------------------------------------------------

    /// Under a lock in a stretch, or between nests of threads that wait for flags: what this rank declared and wrote so far goes to the owners, and from here on writes to it
    /// are found as others are. Returns it, to be [sent](Coherence::send_handed_over) when the pages are closed.
    pub(in crate::coherence) fn hand_over(&mut self) -> Ranges {
        if self.is_between_nests() {
            return self.hand_over_between_nests();
        }
        if !self.sections.in_stretch {
            return Ranges::default();
        }
        self.look_at_marks();
        let interval = &mut self.sections.interval;
        let own = interval.own();
        if own.is_empty() {
            return own;
        }
        interval.written = Ranges::default();
        let marked = std::mem::take(&mut interval.marked);
        interval.tell_may_have_written(&marked);
        if !interval.handed_over {
            interval.handed_over = true;
            interval.tell_of_all(Mode::HandedOver);
        }
        let so_far = interval.signature.unwrap_or(Signature::START);
        interval.signature = Some(so_far.with_signature(own.signature()));
        interval.current = interval
            .current
            .union(&own.intersection(&interval.entering));
        let mode = &mut self.sections;
        let foreign = own.intersection(mode.owners.all());
        let foreign = foreign.minus(&mode.owners.of(self.rank));
        mode.valid.add(&foreign);
        own
    }

    /// Sends what was handed over. Whether there is any.
    pub(in crate::coherence) fn send_handed_over(&mut self, own: &Ranges) -> bool {
        if own.is_empty() {
            return false;
        }
        let sent = self.send_home(own);
        match self.is_between_nests() {
            true => {
                let owned = self.sections.owners_of_handed_over(own);
                self.send_pieces(&owned) || sent
            }
            false => self.send_bytes(own) || sent,
        }
    }

    /// The same where a lock is released: closes the pages before.
    pub(super) fn hand_over_and_send(&mut self) -> bool {
        let own = self.hand_over();
        if own.is_empty() {
            return false;
        }
        if self.sections.in_stretch {
            self.close_undeclared();
        }
        self.send_handed_over(&own)
    }

    /// Sends bytes of pages that will enter section mode to their homes. Whether there are any.
    pub(super) fn send_home(&mut self, bytes: &Ranges) -> bool {
        let bytes = bytes.intersection(&self.sections.interval.entering);
        let mut sent = false;
        for range in bytes.iter() {
            for page in pages_touched(range) {
                let home = self.pages.home(page);
                self.note_change_at_home(page);
                if home != self.rank {
                    self.send_part(page, range, home);
                    sent = true;
                }
            }
        }
        sent
    }

    /// While all changes are sent, and what others have written is copied to pages that will enter section mode, other
    /// threads do not write there: closes these pages, and says how they were.
    pub(in crate::coherence) fn close_entering(&mut self) -> Vec<(Page, Access)> {
        let mut open = Vec::new();
        for page in self.pages_entering() {
            let access = self.pages.access(page);
            if access != Access::None {
                open.push((page, access));
                self.change_access(page, Access::None);
            }
        }
        self.apply_pending();
        open
    }

    /// Opens them again.
    pub(in crate::coherence) fn open_entering(&mut self, closed: Vec<(Page, Access)>) {
        for (page, access) in closed {
            self.change_access(page, access);
        }
        self.apply_pending();
    }

    /// When a lock is acquired in a stretch and all changes have been sent: what pages that will enter section mode hold
    /// is read anew.
    pub(super) fn renew_entering(&mut self) {
        let pages = self.pages_entering();
        let interval = &mut self.sections.interval;
        interval.acquired = true;
        interval.current = Ranges::default();
        self.fetch_entering(&pages);
    }

    // ---- Atomic accesses -----------------------------------------------------------------------

    /// Before an atomic access to bytes of a page in section mode, which is carried out where they are held: what this rank
    /// changed of them is there.
    pub(in crate::coherence) fn before_atomic_in_sections(&mut self, page: Page) {
        self.combine_page(page);
        let own = self.sections.interval.own();
        let declares_some = own.iter().any(|range| pages_touched(range).contains(&page));
        let mut sent = declares_some && self.hand_over_and_send();
        if self.pages.has(page, flag::SECTION) {
            sent |= self.send_changes_in_section(page);
        }
        if sent {
            self.machine.settle();
        }
        self.note_contribution(page);
    }
}
