//! Synchronisations: what follows for the owners of bytes from the declarations of all ranks.
//!
//! Guarantee: all ranks decide alike whether declarations are exchanged, and apply the same. What a rank declared is told
//! by its signature, whoever owns what; so what has been exchanged once is remembered by the signatures alone, on all ranks
//! the same, and is forgotten at the same time. It serves in every later state of the owners, also where serial code has
//! dealt all memory out anew. What follows from it in a state depends on nothing but the owners, the pages in section mode
//! and those that the region accesses undeclared, which all ranks know. It does not serve
//!
//! * where pages would enter section mode: which these are depends on what objects there are by now;
//! * where a rank left claims out of its signature, and they would make a difference in this state;
//! * after stretches: what these touch is hardly the same twice, and not all of it is in the signature.
//!
//! A transition that is worked out is remembered by the state, too, and only looked up when that comes again: the state of what
//! the declarations reach, from where to where each section lies and what pages may enter section mode for it. So it serves
//! whatever there is elsewhere. How far they reach all ranks know of what they have exchanged; all else is remembered by the
//! state of all memory, and so is what follows in tracked regions, where pages are written unnoticed.

use std::{cell::OnceCell, collections::BTreeMap, rc::Rc};

use super::{
    Declared, Interval, Mode, SectionMode, bytes_of, bytes_of_page, pages_around, pages_touched,
    position,
};
use crate::{
    coherence::{Coherence, Machine, changed_ranges, runs_of},
    geometry::{
        cache::{Cache, MOST_PIECES},
        owners::Owned,
        pieces::Step,
        ranges::{Range, Ranges},
        shape::Shape,
        signature::Signature,
    },
    layout::Page,
    page_table::flag,
};

/// So many new changes of the owners, less those that were known, with so many pieces to be remembered in all,
/// are too many. A program that makes them deals memory out anew again and again, in small pieces; finding out
/// about them takes about a second then.
const MOST_NEW: usize = 64;
const MOST_NEW_PIECES: usize = MOST_PIECES / 2;

/// What it took to find out about new changes of the owners, less what it saved to know others.
#[derive(Default)]
pub(super) struct Balance {
    changes: usize,
    pieces: usize,
    /// Of the changes, those after code that declares nothing ran. What that touches comes by faults and is hardly the same
    /// twice: pieces or not, as many changes cost more than pages do.
    after_stretches: usize,
}

impl Balance {
    fn note_new(&mut self, pieces: usize, is_after_stretch: bool) {
        self.changes += 1;
        self.pieces += pieces;
        self.after_stretches += usize::from(is_after_stretch);
    }

    fn note_known(&mut self, pieces: usize) {
        self.changes = self.changes.saturating_sub(1);
        self.pieces = self.pieces.saturating_sub(pieces);
        self.after_stretches = self.after_stretches.saturating_sub(1);
    }

    /// Whether it is not bad after another new change, whatever that is.
    fn bears_another(&self) -> bool {
        self.changes + 1 < MOST_NEW
    }

    fn is_bad(&self) -> bool {
        self.after_stretches >= MOST_NEW
            || self.changes >= MOST_NEW && self.pieces >= MOST_NEW_PIECES
    }
}

/// In an exchange: bytes that were written by a [`Mode::MayWrite`] or [`Mode::Marked`].
const CLAIMED: u64 = 16;

/// Stands for claims that make no difference.
const OMITTED: u64 = u64::MAX;

/// Takes a declaration off an exchange: mode, object and shape.
fn take_declaration(words: &mut &[u64]) -> Option<(u64, Range, Shape)> {
    let (&[mode, start, end], rest) = words.split_first_chunk()?;
    *words = rest;
    Some((mode, (start, end), Shape::take_from(words)))
}

/// Whether a rank told this of all.
fn tells(mut words: &[u64], of_all: Mode) -> bool {
    while let Some((mode, ..)) = take_declaration(&mut words) {
        if mode == of_all as u64 {
            return true;
        }
    }
    false
}

/// From where to where each section lies that a rank declared.
fn hulls(mut words: &[u64]) -> Ranges {
    let mut hulls = Vec::new();
    while let Some((.., shape)) = take_declaration(&mut words) {
        hulls.push(shape.hull());
    }
    Ranges::of(hulls)
}

/// The pages that ranks declared something of, and those that it may make enter section mode, as bytes.
fn reach(words: &[Vec<u64>]) -> Ranges {
    let mut spans = BTreeMap::new();
    let mut hulls = Vec::new();
    for mut words in words.iter().map(|words| &words[..]) {
        while let Some((mode, object, shape)) = take_declaration(&mut words) {
            note_span(&mut spans, mode, object, &shape);
            hulls.push(shape.hull());
        }
    }
    pages_around(hulls.into_iter().chain(spans.into_values()))
}

/// Stands for what ranks declared that they are sure to access.
fn accesses(words: &[Vec<u64>]) -> Signature {
    let mut all = Signature::START;
    for (rank, mut words) in words.iter().map(|words| &words[..]).enumerate() {
        all = all.with(rank as u64);
        while let Some((mode, _, shape)) = take_declaration(&mut words) {
            if mode == Mode::Read as u64 || mode == Mode::Write as u64 {
                let (start, end) = shape.hull();
                all = all.with(mode).with(start).with(end);
            }
        }
    }
    all
}

/// Notes what part of an object is written, where pages that it spans enter section mode.
fn note_span(spans: &mut BTreeMap<Range, Range>, mode: u64, object: Range, shape: &Shape) {
    if mode == Mode::Write as u64 || mode == Mode::Marked as u64 {
        let hull = shape.hull();
        let span = spans.entry(object).or_insert(hull);
        *span = (span.0.min(hull.0), span.1.max(hull.1));
    }
}

/// What all ranks declared once, in rank order: what it leads to in any state they can find out without a word more.
pub(super) struct Exchanged {
    /// Without the claims that `omits_claims` is about.
    pub(super) words: Vec<Vec<u64>>,
    /// The pages on whose state it depends what it leads to, as bytes.
    pub(super) reach: Ranges,
    /// Stands for what loop nests are sure to access: not for claims, which are told or not as owners are, nor for what ranks
    /// happened to read undeclared.
    pub(super) accesses: Signature,
    /// What stands for some rank's declarations is without its claims.
    omits_claims: bool,
}

impl Exchanged {
    /// Whether a rank told this of all.
    pub(super) fn tells(&self, rank: usize, of_all: Mode) -> bool {
        tells(&self.words[rank], of_all)
    }

    /// What each rank declared in modes that `are_wanted`, as shapes.
    pub(super) fn shapes(
        &self,
        rank: usize,
        are_wanted: impl Fn(Mode) -> bool,
    ) -> impl Iterator<Item = Shape> {
        let wanted: Vec<u64> = Mode::ALL
            .into_iter()
            .filter(|&mode| are_wanted(mode))
            .map(|mode| mode as u64)
            .collect();
        let mut words = &self.words[rank][..];
        std::iter::from_fn(move || take_declaration(&mut words))
            .filter(move |(mode, ..)| wanted.contains(mode))
            .map(|(.., shape)| shape)
    }
}

/// What all ranks declared, by rank.
pub(super) struct Told {
    /// Stands for all claims.
    claims: Signature,
    /// Some rank ran code that declares nothing.
    has_stretches: bool,
    /// Where objects were written.
    spans: BTreeMap<Range, Range>,
    certain: Vec<Ranges>,
    reads: Vec<Ranges>,
    unsteady: Vec<Ranges>,
    contributed: Ranges,
    /// Without what is contested.
    kept: Vec<Ranges>,
    /// What ranks may have written unnoticed.
    unnoticed: Ranges,
    /// What several ranks wrote, may have written or keep, and what was contributed to.
    contested: Ranges,
}

/// What a synchronisation leads to in one state.
pub(super) struct Transition {
    owners: Rc<Step>,
    /// What became some rank's.
    claimed: Ranges,
    /// What each rank may have written. A copy of it made meanwhile may be of an intermediate value,
    /// although the bytes are as before in the end.
    unsteady: Vec<Ranges>,
    /// What ranks may have contributed to where it is held: no copy is current.
    contributed: Ranges,
    /// What its owner may have written unnoticed: no copy is current.
    unnoticed: Ranges,
    /// Some rank ran code that declares nothing, under a lock perhaps: what it wrote there it sent to the owners.
    has_stretches: bool,
    /// The bytes that any rank may have written or contributed to, and what stands for them, when somebody has asked.
    changed: OnceCell<(Ranges, Signature)>,
    /// Number of pieces that it takes to remember it: without those of sets that other transitions have, too. The
    /// same on all ranks.
    pub(super) pieces: usize,
}

/// Sets of bytes that transitions consist of. Loops of a program write the same ones again and again.
#[derive(Default)]
pub(super) struct KnownSets(Cache<Ranges>);

impl KnownSets {
    /// The same set, of which there is one copy, and the number of its pieces if that is new.
    fn one(&mut self, bytes: Ranges) -> (Ranges, usize) {
        let key = bytes.signature();
        if let Some(known) = self.0.get(key) {
            return (known.clone(), 0);
        }
        let pieces = bytes.len();
        self.0.insert(key, bytes.clone(), pieces);
        (bytes, pieces)
    }

    /// A transition that makes these changes.
    fn transition(
        &mut self,
        owners: Rc<Step>,
        claimed: Ranges,
        unsteady: Vec<Ranges>,
        [contributed, unnoticed]: [Ranges; 2],
        has_stretches: bool,
    ) -> Rc<Transition> {
        let mut pieces = owners.len();
        let mut one = |bytes| {
            let (bytes, new) = self.one(bytes);
            pieces += new;
            bytes
        };
        Rc::new(Transition {
            owners,
            claimed: one(claimed),
            unsteady: unsteady.into_iter().map(&mut one).collect(),
            contributed: one(contributed),
            unnoticed: one(unnoticed),
            has_stretches,
            changed: OnceCell::new(),
            pieces,
        })
    }
}

impl Transition {
    /// The bytes that any rank may have written or contributed to, and what stands for them.
    pub(super) fn changed(&self) -> &(Ranges, Signature) {
        self.changed.get_or_init(|| {
            let unsteady = self.unsteady.iter();
            let others = self.contributed.union(&self.unnoticed);
            let all = unsteady.fold(self.claimed.union(&others), |all, one| all.union(one));
            let id = all.signature();
            (all, id)
        })
    }

    /// Whether ranks may have contributed to what others hold, or written it under locks: that has its value when all have
    /// arrived.
    pub(super) fn has_contributions(&self) -> bool {
        self.has_stretches || !self.contributed.is_empty()
    }
}

impl SectionMode {
    /// In a tracked region: copies of bytes that their owner may have written unnoticed.
    pub(super) fn unnoticed_copies(&self) -> Ranges {
        match self.tracking {
            true => self.valid.ranges().minus(&self.owners.shared()),
            false => Ranges::default(),
        }
    }
}

impl<M: Machine> Coherence<M> {
    /// What stands for the declarations of this rank since the last synchronisation, before its notices
    /// are collected.
    pub(crate) fn declared_signature(&mut self) -> Signature {
        self.tell_faults();
        self.sections.interval.tell_handed_over();
        let compared = std::mem::take(&mut self.sections.interval.compared);
        let mut claimed = Vec::new();
        for page in compared {
            let contents = self.machine.contents(page).copy();
            if let Some(twin) = self.pages.twin(page) {
                let at = position(page);
                claimed.extend(
                    changed_ranges(&contents, twin)
                        .map(|(start, end)| (at + start as u64, at + end as u64)),
                );
            }
            self.pages.drop_twin(page);
        }
        let mode = &mut self.sections;
        let interval = &mut mode.interval;
        let claimed = Ranges::of(claimed).intersection(&interval.uncertain);
        let marked = match interval.marking.is_empty() {
            true => Ranges::default(),
            false => interval.marked.union(&self.machine.take_marked(true)),
        };
        interval.claimed = match interval.handed_over {
            // Nothing of it is certain any more.
            true => claimed.union(&marked).union(&interval.written),
            false => claimed.union(&marked).minus(&interval.written),
        };
        let Some(signature) = interval.signature else {
            return Signature::NOTHING;
        };
        let key = mode.owners.signature().with_signature(signature);
        interval.omits_claims = !mode.tracking
            && !interval.unnoticed
            && (!interval.uncertain.is_empty() || interval.handed_over)
            && interval.marking.is_empty()
            && !mode.claims_matter.contains(key);
        match interval.omits_claims {
            true => signature.with(OMITTED),
            false => signature.with_signature(interval.claimed.signature()),
        }
    }

    /// Whether what this rank may have written and did write is not in [`Coherence::declared_signature`].
    pub(crate) fn omits_claims(&self) -> bool {
        self.sections.interval.omits_claims
    }

    /// Applies the declarations of all ranks, by what stands for them, after the notices. False where the
    /// declarations themselves are needed: then [`Coherence::apply_declarations`] is to follow. All ranks
    /// decide alike.
    pub(crate) fn apply_declared(&mut self, declared: Signature) -> bool {
        self.sections.declared_last = declared;
        self.sections.exchanged_last = declared;
        if declared == Signature::NOTHING {
            return true;
        }
        self.note_what_follows(declared);
        let key = self.transition_key(declared);
        if let Some(transition) = self.sections.transitions.get(key).cloned() {
            self.sections.balance.note_known(transition.pieces);
            let reach = self.reach_of(declared);
            self.finish_transition(key, reach.as_ref(), &transition, None);
            return true;
        }
        let Some(told) = self.recall_told(declared) else {
            return false;
        };
        self.sections.recalled = None;
        // Claims were left out only where they make no difference.
        let reach = self.reach_of(declared);
        self.apply_told(key, reach.as_ref(), &told, false);
        true
    }

    /// Whether all ranks know what follows from what they declared, and that it is no reason to declare nothing any more.
    pub(super) fn knows_what_follows(&mut self, declared: Signature) -> bool {
        declared == Signature::NOTHING
            || (self.sections.transitions).contains(self.transition_key(declared))
            || self.sections.balance.bears_another() && self.recall_told(declared).is_some()
    }

    /// What all ranks declared, where they have exchanged the same before, and it says in this state what follows: no pages
    /// enter section mode, which may have more to be told, and claims that were left out make no difference. The same on
    /// all ranks.
    fn recall_told(&mut self, declared: Signature) -> Option<Rc<Told>> {
        let key = self.transition_key(declared);
        if let Some((known, recalled)) = &self.sections.recalled
            && *known == key
        {
            return recalled.clone();
        }
        let recalled = self.work_out_told(declared);
        self.sections.recalled = Some((key, recalled.clone()));
        recalled
    }

    fn work_out_told(&self, declared: Signature) -> Option<Rc<Told>> {
        let exchanged = Rc::clone(self.sections.exchanged.get(declared)?);
        let words: Vec<&[u64]> = exchanged.words.iter().map(|words| &words[..]).collect();
        let told = self.told(&words);
        let mut spans = told.spans.values();
        let enters = spans.any(|&span| pages_touched(span).any(|page| self.can_enter(page)));
        let lacks_claims = exchanged.omits_claims && may_overlap(&told.unsteady, &told.contested);
        (!enters && !lacks_claims).then(|| Rc::new(told))
    }

    /// After an exchange: remembers what all ranks declared, in rank order, each with whether its claims were left out of
    /// what stands for it and how many words these are.
    fn remember_exchanged(
        &mut self,
        declared: Signature,
        words: &[&[u64]],
        omitted: &[Option<usize>],
    ) {
        let words: Vec<Vec<u64>> = words
            .iter()
            .zip(omitted)
            .map(|(words, claims)| words[..words.len() - claims.unwrap_or(0)].to_vec())
            .collect();
        let pieces = words.iter().map(Vec::len).sum();
        let exchanged = Rc::new(Exchanged {
            reach: reach(&words),
            accesses: accesses(&words),
            words,
            omits_claims: omitted.iter().any(Option::is_some),
        });
        let known = &mut self.sections.exchanged;
        known.insert(declared, exchanged, pieces);
    }

    /// The bytes on whose owners it depends what follows from what all ranks declared; `None`: all. The same on all ranks.
    fn reach_of(&self, declared: Signature) -> Option<Ranges> {
        let mode = &self.sections;
        // What is written unnoticed may be anywhere.
        let exchanged = mode.exchanged.get(declared).filter(|_| !mode.tracking);
        exchanged.map(|exchanged| exchanged.reach.clone())
    }

    fn transition_key(&self, declared: Signature) -> Signature {
        let owners = &self.sections.owners;
        let owners = match self.reach_of(declared) {
            Some(reach) => Signature::START.with_signature(owners.signature_around(&reach)),
            None => owners.signature(),
        };
        owners
            .with_signature(self.sections.direct_id)
            .with(u64::from(self.sections.tracking))
            .with_signature(declared)
    }

    /// Instead of [`Coherence::apply_declarations`], where there are too many: sends what this rank wrote to
    /// the owners, who stay what they are. No rank may go on before all have returned from here. Where pages
    /// are about to enter section mode the declarations of all ranks are needed, without claims.
    pub(crate) fn send_to_owners(&mut self, declarations: &[&[u64]]) {
        let mut spans = BTreeMap::new();
        for mut words in declarations.iter().copied() {
            while let Some((mode, object, shape)) = take_declaration(&mut words) {
                note_span(&mut spans, mode, object, &shape);
            }
        }
        self.enter(&spans);
        let mode = &self.sections;
        let interval = &mode.interval;
        let written = interval.written.union(&interval.claimed);
        self.send_bytes(&written);
        self.machine.settle();
        self.forget_in_flight();
        let mode = &mut self.sections;
        mode.owners.change(&[(mode.owners.all(), &alone)]);
        mode.valid.clear();
        self.forget_declarations();
        if self.sections.tracking {
            self.close_undeclared();
        } else {
            self.close_outdated(None);
        }
        self.go_on_with_stretch();
    }

    fn go_on_with_stretch(&mut self) {
        if self.sections.in_stretch {
            self.enter_stretch();
        }
    }

    /// Whether pages of this rank enter section mode at the synchronisation.
    pub(crate) fn has_entering_pages(&self) -> bool {
        !self.sections.interval.entering.is_empty()
    }

    /// Number of words of [`Coherence::declarations`], and how many of them are claims: the last ones.
    pub(crate) fn declarations_length(&self) -> (usize, usize) {
        let interval = &self.sections.interval;
        let tracked = interval.tracked.iter().map(Declared::words);
        let declared = interval.plans.iter().map(|plan| plan.words).chain(tracked);
        let claimed = interval.claimed.iter().count() * (Declared::WORDS + Shape::WORDS);
        (declared.sum::<usize>() + claimed, claimed)
    }

    /// This rank's declarations, for [`Coherence::apply_declarations`].
    pub(crate) fn declarations(&self) -> Vec<u64> {
        let mut words = Vec::new();
        let interval = &self.sections.interval;
        let declared = interval.plans.iter().flat_map(|plan| &plan.declared);
        for one in declared.chain(&interval.tracked) {
            one.push_to(&mut words);
        }
        for range in interval.claimed.iter() {
            words.extend([CLAIMED, range.0, range.1]);
            Shape::whole(range).push_to(&mut words);
        }
        words
    }

    /// Takes the declarations of all ranks in.
    fn told(&self, declarations: &[&[u64]]) -> Told {
        let mut claims = Signature::START;
        let mut spans: BTreeMap<Range, Range> = BTreeMap::new();
        let mut certain = Vec::new();
        let mut reads = Vec::new();
        let mut unsteady = Vec::new();
        let mut contributed = Vec::new();
        let mut kept = Vec::new();
        let unnoticed_of: Vec<u32> = (0..)
            .zip(declarations)
            .filter_map(|(rank, words)| tells(words, Mode::Unnoticed).then_some(rank))
            .collect();
        let hulls: Vec<Ranges> = declarations.iter().map(|words| hulls(words)).collect();
        let owners = &self.sections.owners;
        for (rank, mut words) in (0..).zip(declarations.iter().copied()) {
            let is_handed_over = tells(words, Mode::HandedOver);
            // What a rank reads of what it owns changes nothing.
            let is_own = |bytes: Range| owners.is_one_of(rank, bytes, true);
            // Nor does what it writes of what nobody else has or declared anything of, but that messages under way are
            // old. So rows that are written at their ends do not count one by one.
            let is_own_alone = |bytes: Range| {
                let others = (0..).zip(&hulls).filter(|(other, _)| *other != rank);
                owners.is_one_of(rank, bytes, false)
                    && others
                        .map(|(_, hulls)| hulls)
                        .all(|hulls| !hulls.contains_some(bytes))
            };
            let (mut claimed, mut read, mut maybe_written) = (Vec::new(), Vec::new(), Vec::new());
            let mut current = Ranges::default();
            while let Some((mode, object, shape)) = take_declaration(&mut words) {
                let is = |other: Mode| mode == other as u64;
                note_span(&mut spans, mode, object, &shape);
                if is(Mode::Marked) || is(Mode::HandedOver) || is(Mode::Unnoticed) {
                    // What it wrote of it is claimed.
                } else if is(Mode::Write) && is_handed_over {
                    read.extend(shape.ranges().iter());
                    maybe_written.extend(shape.ranges().iter());
                } else if is(Mode::Write) || mode == CLAIMED {
                    if mode == CLAIMED {
                        claims = claims.with(object.0).with(object.1);
                    }
                    claimed.extend(shape.ranges_or_hulls(&is_own_alone).iter());
                } else if is(Mode::Contribute) {
                    contributed.extend(shape.ranges().iter());
                } else if is(Mode::Keep) && is_handed_over {
                    read.extend(shape.ranges().iter());
                } else if is(Mode::Keep) {
                    current = current.union(&self.kept(&shape, unnoticed_of.is_empty()));
                } else {
                    read.extend(shape.ranges_or_hulls(&is_own).iter());
                }
                if is(Mode::MayWrite) {
                    maybe_written.extend(shape.ranges().iter());
                }
            }
            unsteady.push(Ranges::of(maybe_written));
            certain.push(Ranges::of(claimed));
            reads.push(Ranges::of(read));
            kept.push(current);
        }
        let contributed = Ranges::of(contributed);
        let unnoticed = self.sections.owners.unnoticed(unnoticed_of.iter().copied());
        let contested = contested(&certain, &unsteady, &kept, &contributed).union(&unnoticed);
        let mut all = declarations.iter();
        let is_handed_over = all.any(|words| tells(words, Mode::HandedOver));
        let has_stretches = !unnoticed_of.is_empty() || is_handed_over && !contested.is_empty();
        Told {
            claims,
            has_stretches,
            spans,
            certain,
            reads,
            unsteady,
            contributed,
            kept: kept.iter().map(|one| one.minus(&contested)).collect(),
            unnoticed,
            contested,
        }
    }

    /// Where no pages enter section mode: whether what follows from the declarations of all ranks, given
    /// without claims, depends on these. Otherwise they can do without in [`Coherence::apply_declarations`].
    pub(crate) fn claims_would_matter(&self, declarations: &[&[u64]]) -> bool {
        let told = self.told(declarations);
        may_overlap(&told.unsteady, &told.contested)
    }

    /// Applies the declarations of all ranks, in rank order. `omitted` has for each rank whose signature is without its
    /// claims how many of the words these are.
    pub(crate) fn apply_declarations(
        &mut self,
        declarations: &[&[u64]],
        omitted: &[Option<usize>],
    ) {
        self.counts.transitions += 1;
        let declared = self.sections.declared_last;
        let told = self.told(declarations);
        // What code does that declares nothing is hardly the same twice.
        if !told.has_stretches {
            self.remember_exchanged(declared, declarations, omitted);
        }
        // What is known of it from now on is part of the key.
        let key = self.transition_key(declared);
        let reach = self.reach_of(declared);
        let is_omitted = omitted.iter().any(Option::is_some);
        self.apply_told(key, reach.as_ref(), &told, is_omitted);
    }

    /// Applies what all ranks declared; `omitted` where some rank's signature is without its claims.
    fn apply_told(&mut self, key: Signature, reach: Option<&Ranges>, told: &Told, omitted: bool) {
        let owned_before = self.sections.owners.all().clone();
        let owners_before = self.sections.owners.signature();
        let any_entered = self.enter(&told.spans);
        // Otherwise all that a rank may have written is its own now, whatever it did write.
        let claims_matter = any_entered || may_overlap(&told.unsteady, &told.contested);
        if omitted && claims_matter {
            let mode = &mut self.sections;
            mode.declared_last = mode.declared_last.with_signature(told.claims);
            if let Some(signature) = mode.interval.signature
                && !any_entered
            {
                let key = owners_before.with_signature(signature);
                mode.claims_matter.insert(key, (), 0);
            }
        }
        let possible = self.possible_claims(owned_before.minus(&told.contested), &told.unsteady);
        let ranks = 0..told.reads.len() as u32;
        let claim: Vec<_> = ranks.clone().map(claim_for).collect();
        let read_by: Vec<_> = ranks.map(read_by).collect();
        let mut changes: Vec<(&Ranges, &dyn Fn(Owned) -> Owned)> = Vec::new();
        let mut claimed = Ranges::default();
        for claims in [&told.kept, &possible, &told.certain] {
            for (bytes, claim) in claims.iter().zip(&claim) {
                changes.push((bytes, claim));
                claimed = claimed.union(bytes);
            }
        }
        changes.push((&told.contributed, &alone));
        for (bytes, read) in told.reads.iter().zip(&read_by) {
            changes.push((bytes, read));
        }
        let unnoticed = self.sections.unnoticed_copies();
        let mode = &mut self.sections;
        let owners = mode.owners.change(&changes);
        let transition = mode.known_sets.transition(
            owners,
            claimed,
            told.unsteady.clone(),
            [told.contributed.clone(), told.unnoticed.clone()],
            told.has_stretches,
        );
        mode.balance.note_new(transition.pieces, told.has_stretches);
        if !(any_entered || omitted && claims_matter) {
            let transitions = &mut mode.transitions;
            transitions.insert(key, Rc::clone(&transition), transition.pieces);
        } else {
            self.forget_early();
        }
        self.finish_transition(key, reach, &transition, Some(unnoticed));
    }

    /// After declarations were applied: whether declarations cost more than they save, so that pages
    /// serve the region that runs better. All ranks decide alike.
    pub(crate) fn deals_out_pieces(&mut self) -> bool {
        let mode = &mut self.sections;
        let many = mode.balance.is_bad();
        if many {
            mode.balance = Balance::default();
        }
        many
    }

    fn finish_transition(
        &mut self,
        key: Signature,
        reach: Option<&Ranges>,
        transition: &Rc<Transition>,
        unnoticed: Option<Ranges>,
    ) {
        self.make_transition(key, reach, transition, unnoticed);
        self.forget_declarations();
        if self.sections.tracking {
            self.close_undeclared();
        } else {
            // Flags may have outdated copies elsewhere.
            self.close_outdated(reach.filter(|_| !self.sections.has_flags));
        }
        self.go_on_with_stretch();
    }

    /// For each rank, of what it only may have written: what is its own where no other rank certainly
    /// wrote it. In its copy this is current, written or not, but where others may have contributed to it.
    /// Pages that enter section mode now are not `uncontested`: nobody made the rest of them current.
    fn possible_claims(&self, mut uncontested: Ranges, maybe_written: &[Ranges]) -> Vec<Ranges> {
        let owners = &self.sections.owners;
        if self.sections.tracking {
            let ranks = 0..maybe_written.len() as u32;
            uncontested = uncontested.minus(&owners.unnoticed(ranks));
        }
        (0..)
            .zip(maybe_written)
            .map(|(rank, maybe)| match maybe.is_empty() {
                true => Ranges::default(),
                false => {
                    let own = owners.within_of(maybe, rank);
                    maybe.intersection(&uncontested).union(&own)
                }
            })
            .collect()
    }

    /// Of what a rank declared to keep: what it made current, in section mode or in pages that it took in, where
    /// nobody may have written these without a declaration.
    fn kept(&self, shape: &Shape, all_is_declared: bool) -> Ranges {
        let entering = match all_is_declared {
            true => self.pages_to_enter(shape.hull()),
            false => Vec::new(),
        };
        let entering = Ranges::of(entering.into_iter().map(bytes_of_page).collect());
        let current = self.sections.owners.all().union(&entering);
        shape.ranges().intersection(&current)
    }

    /// Puts the pages of objects that declared writes span into section mode, owned by their homes. Whether
    /// there are any.
    fn enter(&mut self, spans: &BTreeMap<Range, Range>) -> bool {
        let mut pages: Vec<Page> = spans
            .values()
            .flat_map(|&span| self.pages_to_enter(span))
            .collect();
        pages.sort_unstable();
        pages.dedup();
        for &page in &pages {
            self.leave_update_mode(page);
            self.pages.drop_twin(page);
            self.pages.mark(page, flag::SECTION);
            self.pages.set_exclusive(page, false);
            self.toggle_access(page);
            self.sections.has_stack |= self.pages.layout().is_stack(page);
        }
        let homes = pages.iter();
        let homes = homes.map(|&page| (bytes_of_page(page), self.pages.home(page)));
        self.sections.owners.add(homes);
        !pages.is_empty()
    }

    /// Makes a transition, which `key` stands for where the state around `reach`, or all of it, is the same. `unnoticed` are
    /// the bytes of [`SectionMode::unnoticed_copies`] before, where they are known.
    fn make_transition(
        &mut self,
        key: Signature,
        reach: Option<&Ranges>,
        transition: &Rc<Transition>,
        unnoticed: Option<Ranges>,
    ) {
        let me = self.rank;
        let mode = &mut self.sections;
        mode.note_changes(transition);
        let valid = match reach {
            Some(reach) => mode.valid.signature_around(reach),
            None => mode.valid.signature(),
        };
        let key = key.with_signature(valid);
        if let Some(left) = mode.left_valid.get(key) {
            mode.valid.follow(left);
        } else {
            let others = (0..).zip(&transition.unsteady);
            let others = others
                .filter(|&(rank, _)| rank != me)
                .map(|(_, bytes)| bytes);
            let changed_at_owners = [&transition.contributed, &transition.unnoticed];
            let stale = others
                .chain(changed_at_owners)
                .fold(transition.claimed.clone(), |all, one| all.union(one));
            let unnoticed = unnoticed.unwrap_or_else(|| mode.unnoticed_copies());
            let left = mode.valid.remove(&stale.union(&unnoticed));
            let pieces = left.len();
            mode.left_valid.insert(key, left, pieces);
        }
        mode.owners.follow(&transition.owners);
    }

    /// Forgets this rank's declarations: a new interval begins.
    pub(super) fn forget_declarations(&mut self) {
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
    pub(in crate::coherence) fn apply_serial_writes(&mut self, pages: &mut [Page]) {
        if pages.is_empty() {
            return;
        }
        let written = Ranges::of(runs_of(pages).into_iter().map(bytes_of).collect());
        let mode = &mut self.sections;
        // Copies elsewhere may be unnoticed ones.
        let reach = (!mode.tracking).then(|| pages_around(written.iter()));
        let key = match &reach {
            Some(reach) => Signature::START.with_signature(mode.owners.signature_around(reach)),
            None => mode.owners.signature(),
        };
        let key = key.with(u64::MAX).with_signature(written.signature());
        let mut unnoticed = None;
        let known = mode.transitions.get(key).cloned();
        let transition = known.unwrap_or_else(|| {
            unnoticed = Some(mode.unnoticed_copies());
            let owners = mode.owners.change(&[(&written, &claim_for(0))]);
            let nothing = Ranges::default();
            let transition = mode.known_sets.transition(
                owners,
                written,
                Vec::new(),
                [nothing.clone(), nothing],
                false,
            );
            let transitions = &mut mode.transitions;
            transitions.insert(key, Rc::clone(&transition), transition.pieces);
            transition
        });
        self.make_transition(key, reach.as_ref(), &transition, unnoticed);
        if self.rank != 0 {
            self.close_outdated(reach.as_ref());
        }
    }
}

/// What a rank wrote.
fn claim_for(rank: u32) -> impl Fn(Owned) -> Owned {
    move |one| Owned {
        owner: rank,
        shared: false,
        ..one
    }
}

/// What a rank read.
fn read_by(rank: u32) -> impl Fn(Owned) -> Owned {
    move |one| Owned {
        shared: one.shared || one.owner != rank,
        ..one
    }
}

/// What nobody but its owner has any more.
fn alone(one: Owned) -> Owned {
    Owned {
        shared: false,
        ..one
    }
}

fn may_overlap(some: &[Ranges], others: &Ranges) -> bool {
    let mut some = some.iter();
    some.any(|one| !one.intersection(others).is_empty())
}

/// What several ranks wrote, may have written or keep, and what was contributed to.
fn contested(
    certain: &[Ranges],
    maybe_written: &[Ranges],
    kept: &[Ranges],
    contributed: &Ranges,
) -> Ranges {
    let (mut seen, mut contested) = (Ranges::default(), contributed.clone());
    for ((certain, maybe), kept) in certain.iter().zip(maybe_written).zip(kept) {
        let bytes = certain.union(maybe).union(kept);
        contested = contested.union(&seen.intersection(&bytes));
        seen = seen.union(&bytes);
    }
    contested
}
