//! Pushes: messages between nodes that both sides know, because the ranks copied the same bytes before, or declared the
//! same in the same place while others owned what.
//!
//! Between two synchronisations the value of a byte that another rank may copy does not change, unless a lock passes it
//! on: what comes is of no use to a rank that has taken one since. So where
//! it is known at a synchronisation what will be copied, each owner sends it at once, in one message to
//! each rank, and no rank has to ask. What no rank is expected to write until some synchronisations later,
//! when it will be copied, is sent along: it travels while the ranks compute. A message is waited for where
//! what it holds is declared to be read, and nowhere else.
//!
//! What goes by [trees](super::trees) is sent in the same way, but for what a rank passes on: it does so when it
//! has come, before its program runs on. So the ranks wait for no more than what they are about to read.
//!
//! Where the owners are as they never were, the ranks are expected to declare what they declared the last time after the
//! same declarations; what a rank needs of that, as far as its owner can tell, is what nobody has copied since it was
//! written. All of that all ranks know, so nothing is exchanged for it.
//!
//! Guarantee: what one side sends the other side receives, since both take it from the same
//! [prediction](super::prediction) and know alike what is in flight; and what a rank takes out of a message
//! is what its own plan would have copied from the same owner, and what no rank has written since it was
//! sent. So a wrong prediction costs time only.

use std::{collections::BTreeMap, rc::Rc};

use super::{
    Mode, SectionMode,
    early::Between,
    plan::{Plan, by_owner},
    prediction::{self, At, Leg, MOST_BYTES, Packed, Passage},
    transition::{Exchanged, Transition},
};
use crate::{
    coherence::{Coherence, Event, Machine, Part},
    geometry::{
        ranges::{Range, Ranges},
        signature::Signature,
    },
};

/// Copies are foreseen over so many synchronisations.
const AHEAD: u32 = 3;

/// What was known at the last synchronisation, by which the next copies are noted.
pub(super) struct Expected {
    key: Signature,
    /// Stand for where it was, whoever owns what: what is known best of what follows, and what is known next best.
    contexts: [Signature; 2],
}

/// A message to begin.
pub(super) struct Sending {
    pub(super) packed: Rc<Packed>,
    pub(super) direction: Direction,
    /// It is of use for so many intervals between synchronisations.
    intervals: u32,
}

impl Sending {
    /// The sender.
    pub(super) fn owner(&self, me: u32) -> u32 {
        self.direction.owner(me, self.packed.rank)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Direction {
    Received,
    Sent,
}

impl Direction {
    /// The sender of a message between `me` and `other`.
    fn owner(self, me: u32, other: u32) -> u32 {
        match self {
            Self::Received => other,
            Self::Sent => me,
        }
    }
}

/// A message under way, or here and not forgotten.
pub(super) struct InFlight {
    packed: Rc<Packed>,
    direction: Direction,
    /// Of one that is received: its number.
    number: u64,
    /// What nobody has written since it was sent, and what stands for that.
    live: Ranges,
    live_id: Signature,
    intervals_left: u32,
}

impl InFlight {
    fn owner(&self, me: u32) -> u32 {
        self.direction.owner(me, self.packed.rank)
    }

    fn is_whole(&self) -> bool {
        self.live_id == self.packed.id
    }
}

impl SectionMode {
    /// What stands for the copies that a plan makes from other nodes.
    pub(super) fn note_copies(&mut self, plan: &Plan) {
        // What was waited for cannot be pushed when the interval begins.
        if self.is_behind_flag() {
            return;
        }
        if plan.far_copies != Signature::NOTHING {
            let copied = &mut self.interval.far_copied;
            *copied = copied.or_start().with_signature(plan.far_copies);
        }
    }

    fn far_copies<'a>(
        &'a self,
        is_far: impl Fn(u32) -> bool + 'a,
    ) -> impl Iterator<Item = (u32, &'a [Range])> + 'a {
        let all = self.plans_before_flags().iter();
        let all = all.flat_map(|plan| &plan.pulls);
        all.filter(move |(owner, _)| is_far(*owner))
            .map(|(owner, ranges)| (*owner, &ranges[..]))
    }
}

impl SectionMode {
    /// Notes what ranks wrote: it is not to be taken from messages sent before.
    pub(super) fn note_changes(&mut self, transition: &Rc<Transition>) {
        if self.at.is_some() {
            self.passage.transitions.push(Rc::clone(transition));
        }
        for one in &mut self.in_flight {
            // The others are forgotten before anything more is declared.
            if one.intervals_left > 1 {
                let (changed, changed_id) = transition.changed();
                let key = one.live_id.with_signature(*changed_id);
                let (live, live_id) = self.left_live.get(key).cloned().unwrap_or_else(|| {
                    let live = one.live.minus(changed);
                    let live_id = live.signature();
                    let pieces = live.len();
                    self.left_live.insert(key, (live.clone(), live_id), pieces);
                    (live, live_id)
                });
                (one.live, one.live_id) = (live, live_id);
            }
        }
    }

    /// What to send and to receive where the ranks are: what will be copied then, and what nobody is expected to
    /// write until it is copied; but for what is in flight.
    fn work_out_sendings(
        &self,
        rank: u32,
        mut at: At,
        in_flight: &[(Direction, u32, Ranges)],
    ) -> Vec<Sending> {
        let mut messages: BTreeMap<(Direction, u32), (Ranges, u32)> = BTreeMap::new();
        let owned = self.owners.all();
        let mut add = |after: Signature, intervals: u32, without: &Ranges, not_from_0: bool| {
            let Some(known) = self.predictions.after(after) else {
                return;
            };
            if intervals > 1 && !known.from_owners {
                return;
            }
            let received = known.received.iter().map(|one| (Direction::Received, one));
            let sent = known.sent.iter().map(|one| (Direction::Sent, one));
            for (direction, packed) in received.chain(sent) {
                // What goes by a tree does so where it is needed next.
                if packed.leg.is_some() || not_from_0 && direction.owner(rank, packed.rank) == 0 {
                    continue;
                }
                let mut ranges = packed.ranges.minus(without);
                if intervals > 1 {
                    // What happens to other bytes until then is not declared.
                    ranges = ranges.intersection(owned);
                }
                let message = messages.entry((direction, packed.rank)).or_default();
                let all = message.0.union(&ranges);
                if all != message.0 && (intervals == 1 || all.bytes() <= MOST_BYTES) {
                    *message = (all, intervals);
                }
            }
        };
        let mut changed = Ranges::default();
        let key = at.key;
        add(key, 1, &changed, false);
        let mut is_after_fork = false;
        for intervals in 2..=AHEAD {
            let Some((next, passage, _)) = self.predictions.next(at) else {
                break;
            };
            // Serial code may write what rank 0 alone has, unnoticed.
            is_after_fork |= passage.is_fork;
            changed = changed.union(&passage.changed());
            add(next.key, intervals, &changed, is_after_fork);
            at = next;
        }
        for (direction, other, live) in in_flight {
            if let Some(message) = messages.get_mut(&(*direction, *other)) {
                message.0 = message.0.minus(live);
            }
        }
        messages.retain(|_, (ranges, _)| !ranges.is_empty());
        let sendings = messages.into_iter();
        sendings
            .map(|((direction, rank), (ranges, intervals))| Sending {
                packed: Rc::new(Packed::of(rank, &ranges, None)),
                direction,
                intervals,
            })
            .chain(self.legs(key))
            .collect()
    }

    /// The messages of trees after `key`.
    fn legs(&self, key: Signature) -> Vec<Sending> {
        let Some(known) = self.predictions.after(key) else {
            return Vec::new();
        };
        let received = known.received.iter().map(|one| (Direction::Received, one));
        let sent = known.sent.iter().map(|one| (Direction::Sent, one));
        let all = received.chain(sent);
        let mut legs: Vec<Sending> = all
            .filter(|(_, packed)| packed.leg.is_some())
            .map(|(direction, packed)| Sending {
                packed: Rc::clone(packed),
                direction,
                intervals: 1,
            })
            .collect();
        // The order in which both sides begin the messages between them.
        legs.sort_by_key(|one| {
            let leg = one.packed.leg.as_ref();
            leg.map(|leg| (leg.is_relayed, leg.round))
        });
        legs
    }

    /// What stands for where the ranks are, and for what is expected then.
    fn expectation(&self, mut at: At) -> Signature {
        let mut id = at.key;
        for _ in 2..=AHEAD {
            let Some((next, _, step)) = self.predictions.next(at) else {
                break;
            };
            id = id.with_signature(step);
            at = next;
        }
        id
    }

    /// What to send and to receive now.
    fn sendings(&mut self, rank: u32, at: At) -> Rc<Vec<Sending>> {
        self.known_sendings(self.expectation(at), |mode| {
            let in_flight = mode.in_flight.iter();
            let in_flight: Vec<_> = in_flight
                .map(|one| (one.direction, one.packed.rank, one.live.clone()))
                .collect();
            mode.work_out_sendings(rank, at, &in_flight)
        })
    }

    /// What there will be to send and to receive where the ranks are expected next, with the key of that
    /// and what lies between; `None` where no rank can tell before.
    pub(super) fn next_sendings(
        &mut self,
        rank: u32,
        at: At,
    ) -> Option<(Signature, Between, Rc<Vec<Sending>>)> {
        let (next, passage, step) = self.predictions.next(at)?;
        let is_fork = passage.is_fork;
        let between = match (is_fork, passage.is_silent) {
            (false, _) => Between::Synchronisation,
            (true, false) => Between::SerialCode,
            (true, true) => Between::SilentCode,
        };
        // What others contribute to has its value when all have arrived.
        if !self.predictions.after(next.key)?.from_owners || passage.has_contributions() {
            return None;
        }
        let expected = step.with_signature(self.expectation(next));
        let sendings = self.known_sendings(expected, |mode| {
            let (_, passage, _) = mode.predictions.next(at).expect("as above");
            let changed = passage.changed();
            let stays =
                |one: &&InFlight| one.intervals_left > 1 && !(is_fork && one.owner(rank) == 0);
            let in_flight = mode.in_flight.iter().filter(stays);
            let in_flight: Vec<_> = in_flight
                .map(|one| (one.direction, one.packed.rank, one.live.minus(&changed)))
                .collect();
            mode.work_out_sendings(rank, next, &in_flight)
        });
        Some((next.key, between, sendings))
    }

    fn known_sendings(
        &mut self,
        key: Signature,
        work_out: impl FnOnce(&Self) -> Vec<Sending>,
    ) -> Rc<Vec<Sending>> {
        let in_flight = self.in_flight.iter().fold(Signature::START, |id, one| {
            id.with(one.direction as u64)
                .with(u64::from(one.packed.rank))
                .with(u64::from(one.intervals_left))
                .with_signature(one.live_id)
        });
        let key = key.with(self.predictions.changes).with_signature(in_flight);
        if let Some(known) = self.sendings.get(key) {
            return Rc::clone(known);
        }
        let sendings = Rc::new(work_out(self));
        let packed = sendings.iter().map(|one| one.packed.ranges.len());
        self.sendings
            .insert(key, Rc::clone(&sendings), packed.sum());
        sendings
    }
}

impl<M: Machine> Coherence<M> {
    /// On all ranks, before the program runs on after a fork or a synchronisation: begins to send and to
    /// receive what is known to be needed; [`Coherence::relay`] is to follow. `place` stands for the region;
    /// `fork`, where it begins, is what it was given, which counts where the place alone does not tell.
    pub(crate) fn begin_pushes(&mut self, place: Signature, fork: Option<&[u64]>) {
        let me = self.rank;
        self.forget_where(|one| {
            one.intervals_left -= 1;
            one.intervals_left == 0 || fork.is_some() && one.owner(me) == 0
        });
        let mode = &mut self.sections;
        mode.expected = None;
        let passage = std::mem::take(&mut mode.passage);
        if !mode.declaring || mode.owners.is_empty() || !self.machine.spans_nodes() {
            mode.at = None;
            self.forget_early();
            return;
        }
        let place = place.with_signature(mode.direct_id);
        let context = place.with_signature(mode.declared_last);
        let contexts = match fork {
            Some(_) => [context, place],
            // Several regions may call the same functions.
            None if mode.declared_last == Signature::NOTHING => [context; 2],
            None => [context, Signature::START.with_signature(mode.declared_last)],
        };
        let mut key = context.with_signature(mode.owners.signature());
        let values = fork.unwrap_or_default();
        if mode.predictions.is_given_up(key) && !values.is_empty() {
            key = values.iter().fold(key, |key, &value| key.with(value));
        }
        let passage = Passage {
            is_fork: fork.is_some(),
            ..passage
        };
        let is_silent = passage.is_silent;
        let at = match mode.at {
            Some(last) => {
                mode.predictions.note_next(last, key, passage);
                last.then(key)
            }
            None => At::first(key),
        };
        mode.at = Some(at);
        self.foresee(key, contexts);
        if !self.end_early(key, is_silent) {
            let sendings = self.sections.sendings(me, at);
            for one in sendings.iter() {
                let number = self.begin(one);
                self.note_begun(one, number);
            }
        }
        self.sections.expected = Some(Expected { key, contexts });
        self.expect_early(at);
    }

    /// Where little is known of `key`: foresees that the ranks declare what they last declared in such a context, and copy
    /// what of that nobody else has. All ranks know that of each other.
    fn foresee(&mut self, key: Signature, contexts: [Signature; 2]) {
        let mode = &self.sections;
        if !mode.predictions.is_new(key) {
            return;
        }
        let declared = contexts.map(|context| mode.predictions.declared_in(context));
        let declared = declared.into_iter().flatten().next();
        let Some(exchanged) = declared.and_then(|declared| mode.exchanged.get(declared)) else {
            return;
        };
        let lists: Vec<Vec<u64>> = (0..exchanged.words.len())
            .map(|reader| self.foreseen_copies(exchanged, reader))
            .collect();
        if lists.iter().all(Vec::is_empty) {
            return;
        }
        let lists: Vec<&[u64]> = lists.iter().map(|list| &list[..]).collect();
        let nodes = self.nodes(lists.len());
        let mode = &mut self.sections;
        mode.predictions.foresee(self.rank, key, &lists, &nodes);
    }

    /// What a rank copies from other nodes if it declares this: of the sections it reads the bytes of other owners, which
    /// nobody has copied since they were written. As words of [`prediction::push_copies`].
    fn foreseen_copies(&self, exchanged: &Exchanged, reader: usize) -> Vec<u64> {
        let mode = &self.sections;
        // What it owns it has.
        let is_own = |bytes: Range| mode.owners.is_one_of(reader as u32, bytes, true);
        let bytes = |are_wanted: fn(Mode) -> bool| {
            let shapes = exchanged.shapes(reader, are_wanted);
            shapes.fold(Ranges::default(), |all, one| {
                all.union(&one.ranges_or_hulls(&is_own))
            })
        };
        let kept = bytes(|mode| mode == Mode::Keep);
        let kept = match kept.is_empty() {
            true => kept,
            false => kept.minus(&bytes(|mode| mode == Mode::Write)),
        };
        let read = bytes(|mode| matches!(mode, Mode::Read | Mode::MayRead | Mode::MayWrite));
        let mut pieces = mode.owners.within(&read.union(&kept));
        let nodes = (self.machine.node(reader as u32), |rank| {
            self.machine.node(rank)
        });
        pieces.retain(|one| !one.shared && nodes.1(one.owner) != nodes.0);
        let mut words = Vec::new();
        for (owner, ranges) in by_owner(pieces) {
            prediction::push_copies(&mut words, owner, &ranges);
        }
        words
    }

    /// Notes what all ranks declared since the last synchronisation.
    pub(super) fn note_what_follows(&mut self, declared: Signature) {
        let mode = &mut self.sections;
        if let Some(expected) = &mode.expected {
            mode.predictions.note_declared(expected.contexts, declared);
        }
    }

    /// The node of each rank.
    fn nodes(&self, ranks: usize) -> Vec<u32> {
        let ranks = 0..ranks as u32;
        ranks.map(|rank| self.machine.node(rank)).collect()
    }

    /// Begins a message. The number of one that is received.
    pub(super) fn begin(&mut self, one: &Sending) -> u64 {
        let packed = &*one.packed;
        match one.direction {
            Direction::Received => self.machine.expect(packed.rank, packed.bytes),
            Direction::Sent if packed.is_relayed() => {
                self.sections.relays.push_back(Rc::clone(&one.packed));
                0
            }
            Direction::Sent => {
                let bytes = self.assemble(packed, &[]);
                self.machine.push(packed.rank, bytes);
                0
            }
        }
    }

    /// Passes on what came to this rank for others, as far as it has come. Whether that is all: only then the
    /// program may run on.
    pub(crate) fn relay(&mut self) -> bool {
        while let Some(packed) = self.sections.relays.front().cloned() {
            let in_flight = self.sections.in_flight.iter();
            let sources = in_flight.filter(|one| {
                let round = |leg: &Leg| leg.round;
                let own = packed.leg.as_ref().map(round);
                let leg = one.packed.leg.as_ref();
                one.direction == Direction::Received && leg.is_some() && leg.map(round) < own
            });
            let sources = sources.map(|one| (Rc::clone(&one.packed), one.number));
            let sources: Vec<(Rc<Packed>, u64)> = sources.collect();
            if !(sources.iter()).all(|(from, number)| self.machine.has_arrived(from.rank, *number))
            {
                return false;
            }
            let bytes = self.assemble(&packed, &sources);
            self.machine.push(packed.rank, bytes);
            self.sections.relays.pop_front();
        }
        true
    }

    /// A message's bytes: out of messages that have arrived, given with their numbers, and this rank's own.
    pub(super) fn assemble(&mut self, packed: &Packed, sources: &[(Rc<Packed>, u64)]) -> Vec<u8> {
        M::tell(|| Event::Send {
            to: packed.rank,
            ranges: packed.ranges.as_slice(),
        });
        if !packed.is_relayed() {
            return self.machine.pack(packed.ranges.as_slice());
        }
        let mut missing: Vec<Range> = packed.ranges.iter().collect();
        let mut parts: Vec<Part> = Vec::new();
        for (from, number) in sources {
            let (inside, outside) = from.split(&missing);
            parts.extend(
                inside
                    .into_iter()
                    .map(|part| (part.1, Some((from.rank, *number, part.0)))),
            );
            missing = outside;
        }
        parts.extend(missing.into_iter().map(|own| (own, None)));
        parts.sort_unstable_by_key(|(range, _)| *range);
        self.machine.pack_again(&parts)
    }

    /// Notes that from now on a message that was begun may be taken.
    pub(super) fn note_begun(&mut self, one: &Sending, number: u64) {
        if one.direction == Direction::Received {
            self.counts.pulls += 1;
            self.counts.pulled_bytes += one.packed.bytes as u64;
        }
        self.sections.in_flight.push(InFlight {
            packed: Rc::clone(&one.packed),
            direction: one.direction,
            number,
            live: one.packed.ranges.clone(),
            live_id: one.packed.id,
            intervals_left: one.intervals,
        });
    }

    fn forget_where(&mut self, is_forgotten: impl Fn(&mut InFlight) -> bool) {
        self.sections.in_flight.retain_mut(|one| {
            let is_forgotten = is_forgotten(one);
            if is_forgotten && one.direction == Direction::Received {
                self.machine.forget(one.packed.rank, one.number);
            }
            !is_forgotten
        });
    }

    /// On all ranks: what was sent before may not be taken any more.
    pub(super) fn forget_in_flight(&mut self) {
        self.forget_where(|_| true);
        self.forget_early();
        self.sections.at = None;
        self.sections.passage.transitions.clear();
    }

    /// Takes what was pushed out of `wanted`, which `owner` has. What is missing; `None` where nothing was
    /// pushed.
    pub(super) fn take_pushed(&mut self, owner: u32, wanted: &[Range]) -> Option<Vec<Range>> {
        let mut missing = None;
        for one in &self.sections.in_flight {
            let is_from_owner = one.packed.rank == owner || one.packed.leg.is_some();
            if one.direction != Direction::Received || !is_from_owner {
                continue;
            }
            let sought = missing.as_deref().unwrap_or(wanted);
            let (inside, outside) = match one.is_whole() {
                true => one.packed.split(sought),
                false => {
                    let sought = Ranges::of(sought.to_vec());
                    let there = sought.intersection(&one.live);
                    let (inside, _) = one.packed.split(there.as_slice());
                    (inside, sought.minus(&one.live).iter().collect())
                }
            };
            if !inside.is_empty() {
                self.machine.take(one.packed.rank, one.number, &inside);
            }
            missing = Some(outside);
        }
        missing
    }

    /// What stands for the copies that this rank made from other nodes since the last synchronisation, and
    /// the number of words of [`Coherence::copies`].
    pub(crate) fn copied(&self) -> (Signature, usize) {
        let mode = &self.sections;
        match mode.interval.far_copied {
            Signature::NOTHING => (Signature::NOTHING, 0),
            copied => {
                let copies = mode.far_copies(|owner| !self.machine.is_near(owner));
                let words = copies.map(|(_, ranges)| prediction::words_of_copies(ranges));
                (copied, words.sum())
            }
        }
    }

    /// These copies.
    pub(crate) fn copies(&self) -> Vec<u64> {
        let mut words = Vec::new();
        for (owner, ranges) in self
            .sections
            .far_copies(|owner| !self.machine.is_near(owner))
        {
            prediction::push_copies(&mut words, owner, ranges);
        }
        words
    }

    /// On all ranks, at a synchronisation, before [`Coherence::apply_declared`]: learns from what each rank
    /// copied since the last one. Whether the copies themselves are needed, `words` of each rank: then
    /// [`Coherence::learn_copies`] is to follow.
    #[must_use]
    pub(crate) fn note_copied(&mut self, copied: Signature, words: &[usize]) -> bool {
        let mode = &mut self.sections;
        let Some(expected) = &mode.expected else {
            return false;
        };
        let wanted = mode.predictions.note(expected.key, copied);
        if wanted && !prediction::may_exchange(words) {
            mode.predictions.give_up(expected.key);
            return false;
        }
        wanted
    }

    /// Whether all ranks know what follows from what they declared and copied, without a word more. The same
    /// on all ranks.
    pub(crate) fn has_learned(&mut self, declared: Signature, copied: Signature) -> bool {
        let mode = &self.sections;
        let expected = mode.expected.as_ref();
        let asks = expected.is_some_and(|one| mode.predictions.would_ask(one.key, copied));
        !asks && self.knows_what_follows(declared)
    }

    /// Learns the copies of all ranks, in rank order.
    pub(crate) fn learn_copies(&mut self, copied: Signature, lists: &[&[u64]]) {
        let mode = &mut self.sections;
        let expected = mode.expected.as_ref();
        let key = expected.expect("an interval ends that has begun").key;
        let from_owners =
            (lists.iter().copied().flat_map(prediction::copies_in)).all(|(owner, ranges)| {
                let ranges = Ranges::of(ranges.collect());
                let pieces = mode.owners.within(&ranges);
                let own = pieces.iter().filter(|piece| piece.owner == owner);
                own.map(|piece| piece.end - piece.start).sum::<u64>() == ranges.bytes()
            });
        let nodes = self.nodes(lists.len());
        let mode = &mut self.sections;
        mode.predictions
            .note_lists(self.rank, key, copied, lists, from_owners, &nodes);
    }
}
