//! Releases and acquisitions between the loop nests of a region that declares its accesses: threads wait for flags that others
//! set, as in a pipeline, and what one declared to write before it sets a flag another one declares to read when it has
//! waited for that.
//!
//! Guarantee: a byte that a rank declares to read after an acquisition is as the last rank wrote it that released it before,
//! directly or by way of others; nothing is protected, and nothing compared, that its declarations alone would not be.
//!
//! * The owners are homes until the next synchronisation. A release, and an acquisition, sends what this rank declared to
//!   write since the last one to those who own it; of what it owns itself nothing moves.
//! * A release announces all that it declared to write since the last one, byte by byte, to all ranks, in one list. So who
//!   acquires what another rank released, and that has acquired before, hears of both. Of pages that are not in section mode
//!   yet it announces whole ones.
//! * An acquisition forgets what is valid here of what was announced. The next declaration of such bytes copies them from their
//!   owners: those that are read, and no others. What was pushed when the interval began is not taken for them any more.
//! * Pages that will enter section mode have homes that are owners in the same sense; what is current of them here is
//!   forgotten by every acquisition.
//! * What went to its owner is told as [`Mode::HandedOver`]: that was written last by who has claimed it, or by the only one
//!   who declared to, or stays with its owner. Neither what is declared nor how depends on when ranks hear of each other, so that
//!   intervals are alike.
//! * Of a stretch in the same interval nobody knows what it wrote: every page is announced then.
//!
//! A rank has one thread in such a region: nobody is in the midst of a nest when the rank releases or acquires something.

use std::rc::Rc;

use super::{Interval, Mode, SectionMode, bytes_of, plan::Plan};
use crate::{
    coherence::{Coherence, Heard, Machine, runs_of},
    geometry::{
        owners::Owned,
        ranges::{Range, Ranges},
        signature::Signature,
    },
    layout::Page,
    page_table::flag,
};

/// What happened between the nests of an interval.
#[derive(Default)]
pub(super) struct BetweenNests {
    /// Stands for what was declared since the last release or acquisition.
    pub(super) since: Signature,
    /// Something was handed over, which is yet to be told.
    handed_over: bool,
    /// So many of the interval's plans have been announced.
    announced: usize,
    /// So many there were when the rank first acquired something.
    before_flags: Option<usize>,
}

impl SectionMode {
    /// Whether this rank has waited for a flag in this interval.
    pub(super) fn is_behind_flag(&self) -> bool {
        self.interval.between_nests.before_flags.is_some()
    }

    /// Who owns what is handed over: pipelines hand over the same again, and to look for it means to note all that has changed
    /// hands since.
    pub(super) fn owners_of_handed_over(&mut self, bytes: &Ranges) -> Rc<Vec<Owned>> {
        let key = self.owners.signature();
        let key = key.with_signature(bytes.signature());
        if let Some(known) = self.handed_over.get(key) {
            return Rc::clone(known);
        }
        let owned = Rc::new(self.owners.within(bytes));
        self.handed_over.insert(key, Rc::clone(&owned), owned.len());
        owned
    }

    /// The interval's plans before it did.
    pub(super) fn plans_before_flags(&self) -> &[Rc<Plan>] {
        let plans = &self.interval.plans;
        let before = self.interval.between_nests.before_flags;
        &plans[..before.unwrap_or(plans.len())]
    }
}

impl Interval {
    /// At a synchronisation: tells what was handed over between nests.
    pub(super) fn tell_handed_over(&mut self) {
        if self.between_nests.handed_over && !self.handed_over {
            self.handed_over = true;
            self.tell_of_all(Mode::HandedOver);
        }
    }
}

/// What nests declare to write.
pub(super) fn bytes_written(declared: &[super::Declared]) -> Ranges {
    let written = declared
        .iter()
        .filter(|one| !matches!(one.mode, Mode::Read | Mode::MayRead | Mode::Keep));
    Ranges::of(
        written
            .flat_map(|one| one.shape.ranges().iter().collect::<Vec<Range>>())
            .collect(),
    )
}

/// Pages, and bytes with what stands for them.
type Written = (Vec<Page>, Option<(Signature, Ranges)>);

impl<M: Machine> Coherence<M> {
    /// Once a region is entered, on all ranks: threads of the region wait for flags between its nests.
    pub fn expect_flags(&mut self) {
        let mode = &mut self.sections;
        mode.has_flags = mode.declaring;
        if mode.has_flags {
            mode.expect_first_interval();
        }
    }

    /// Whether they do, in the region that runs: the same on all ranks.
    pub(crate) fn waits_for_flags(&self) -> bool {
        self.sections.has_flags
    }

    /// Whether this rank is between nests of such a region.
    pub(in crate::coherence) fn is_between_nests(&self) -> bool {
        let mode = &self.sections;
        mode.has_flags && mode.declaring && !mode.in_stretch
    }

    /// What this rank declared and wrote since the last release or acquisition, to be
    /// [sent](Coherence::send_handed_over).
    pub(super) fn hand_over_between_nests(&mut self) -> Ranges {
        self.look_at_marks();
        let mode = &mut self.sections;
        let interval = &mut mode.interval;
        interval.between_nests.since = Signature::NOTHING;
        let own = interval.own();
        if own.is_empty() {
            return own;
        }
        interval.between_nests.handed_over = true;
        mode.directly.forget(&own);
        interval.written = Default::default();
        let marked = std::mem::take(&mut interval.marked);
        if !marked.is_empty() {
            let so_far = interval.signature.unwrap_or(Signature::START);
            interval.signature = Some(so_far.with_signature(marked.signature()));
            interval.tell_may_have_written(&marked);
        }
        let owned = mode.owners_of_handed_over(&own);
        let own_before = owned.iter().filter(|one| one.owner == self.rank);
        let own_before = own_before.map(|one| (one.start, one.end));
        let foreign = own.minus(&Ranges::of(own_before.collect()));
        let interval = &mut mode.interval;
        if !foreign.is_empty() {
            interval.current = interval
                .current
                .union(&foreign.intersection(&interval.entering));
            mode.valid.add(&foreign.intersection(mode.owners.all()));
        }
        own
    }

    /// When this rank releases something: the pages, and the bytes in section mode, that others are to hear of; `None` where
    /// these may be any.
    pub(in crate::coherence) fn written_in_sections(&mut self) -> Option<Written> {
        let mode = &mut self.sections;
        if !mode.has_flags || !mode.declaring {
            return Some(Written::default());
        }
        let interval = &mut mode.interval;
        if interval.unnoticed || !interval.contributed.is_empty() {
            return None;
        }
        let from = std::mem::replace(&mut interval.between_nests.announced, interval.plans.len());
        let plans = &interval.plans[from..];
        mode.directly
            .note_release(plans.iter().map(|plan| &plan.certain));
        let pages = plans.iter().flat_map(|plan| &plan.pages_written);
        let pages = pages.copied().collect();
        let some = plans.iter().map(|plan| &plan.bytes_written);
        let some = some.filter(|(_, bytes)| !bytes.is_empty());
        let mut last = None;
        let id = some.clone().fold(Signature::NOTHING, |all, (id, _)| {
            match last.replace(id) == Some(id) {
                true => all,
                false => all.or_start().with_signature(*id),
            }
        });
        if id == Signature::NOTHING {
            return Some((pages, None));
        }
        let known = mode.written_between.get(id).cloned();
        let bytes = known.unwrap_or_else(|| {
            let ranges = some.flat_map(|(_, bytes)| bytes.iter());
            let bytes = Ranges::of(ranges.collect());
            mode.written_between.insert(id, bytes.clone(), bytes.len());
            bytes
        });
        Some((pages, Some((id, bytes))))
    }

    /// When this rank acquires something between nests: forgets what is valid here of what others have announced;
    /// `None` where these may be any pages.
    pub(in crate::coherence) fn forget_announced(&mut self, announced: Option<&Heard>) {
        if !self.is_between_nests() {
            return;
        }
        let mode = &mut self.sections;
        mode.interval.acquired = true;
        let plans = mode.interval.plans.len();
        mode.interval
            .between_nests
            .before_flags
            .get_or_insert(plans);
        // A stretch that follows does not find pages as one before left them.
        mode.interval.is_reopened = true;
        if !mode.interval.entering.is_empty() {
            mode.interval.current = Ranges::default();
        }
        let Some(Heard { pages, bytes }) = announced else {
            mode.valid.clear();
            return self.close_outdated(None);
        };
        let pages = pages.iter().copied();
        let mut pages: Vec<Page> = pages
            .filter(|&page| self.pages.has(page, flag::SECTION))
            .collect();
        if pages.is_empty() && bytes.is_empty() {
            return;
        }
        pages.sort_unstable();
        pages.dedup();
        let pages = Ranges::of(runs_of(&mut pages).into_iter().map(bytes_of).collect());
        let mode = &mut self.sections;
        let key = mode.valid.signature().with_signature(pages.signature());
        let key = bytes
            .iter()
            .fold(key, |key, (id, _)| key.with_signature(*id));
        match mode.announced.get(key) {
            Some(left) => mode.valid.follow(left),
            None => {
                let all = bytes.iter().flat_map(|(_, bytes)| bytes.iter());
                let left = mode
                    .valid
                    .remove(&Ranges::of(pages.iter().chain(all).collect()));
                let pieces = left.len();
                mode.announced.insert(key, left, pieces);
            }
        }
        if !self.sections.read_undeclared.is_empty() {
            self.close_outdated(None);
        }
    }
}
