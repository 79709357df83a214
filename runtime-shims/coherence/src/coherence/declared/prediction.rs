//! What ranks copy from each other between two synchronisations, learned from what they copied before, and
//! which synchronisation follows which.
//!
//! A key stands for what all ranks know at a synchronisation; a context for less of that, without who owns what. After a
//! key that is new copies are foreseen by what was declared in its context. Guarantee: ranks that learn the same of the
//! same keys and contexts predict the same. A prediction may be wrong; after some wrong ones a key is given up.

use std::{
    collections::{BTreeMap, HashMap},
    rc::Rc,
};

use super::{
    early::MOST_ALONG,
    transition::Transition,
    trees::{self, Copies, Hop, Tree},
};
use crate::geometry::{
    ranges::{Range, Ranges},
    signature::{ByHalf, Signature},
};

/// So many times the ranks may copy something else than the last time before a key is given up.
const MOST_SURPRISES: u32 = 3;
/// A surprise is forgotten when they have copied the same so often again: what happens once in a while, where a rank was held
/// up, is no reason to expect nothing any more.
const FORGIVEN: u32 = 16;
/// Lists of copies longer than this on some rank are not exchanged.
const MOST_WORDS: usize = 1 << 19;
/// Largest message.
pub(super) const MOST_BYTES: u64 = 1 << 30;
/// Keys that are kept, and pieces of what leads from one to the next; when there are more all are forgotten.
const MOST_KEYS: usize = 4096;
const MOST_PIECES: usize = 1 << 20;
/// So often in a row a key must have come after another before it is expected there.
const USUAL: u32 = 2;

/// Ranges of bytes that travel in one message, after one another.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Packed {
    /// The other side.
    pub(super) rank: u32,
    pub(super) ranges: Ranges,
    /// Stands for them.
    pub(super) id: Signature,
    pub(super) bytes: usize,
    /// Of a message of trees. Others come from the owner.
    pub(super) leg: Option<Leg>,
}

/// A message's place in [trees].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Leg {
    /// It holds bytes that the sender passes on, and therefore comes after all between the two that do not.
    pub(super) is_relayed: bool,
    pub(super) round: u32,
    /// There is no other tree, and its messages are small: all of them.
    pub(super) alone: Option<Rc<Vec<Hop>>>,
}

/// One rank's messages between two synchronisations.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Messages {
    pub(super) sent: Vec<Rc<Packed>>,
    pub(super) received: Vec<Rc<Packed>>,
    /// All ranks copied only what the owners have whose bytes these are in section mode.
    pub(super) from_owners: bool,
}

/// Where the ranks are: what all know at a synchronisation, and what they knew at the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct At {
    before: Signature,
    pub(super) key: Signature,
}

impl At {
    /// At the first synchronisation of which anything is to be learned.
    pub(super) fn first(key: Signature) -> Self {
        let before = Signature::START;
        Self { before, key }
    }

    /// At the next one.
    #[must_use]
    pub(super) fn then(self, key: Signature) -> Self {
        let before = self.key;
        Self { before, key }
    }

    fn pair(self) -> Signature {
        self.key.with_signature(self.before)
    }
}

/// What came after a key, or after two in a row.
struct Next {
    key: Signature,
    passage: Passage,
    times: u32,
    /// So often in a row serial code in between wrote nothing in section mode.
    silent: u32,
    /// Something else did, too.
    varies: bool,
}

/// What came after each.
#[derive(Default)]
struct Followers {
    next: HashMap<Signature, Next, ByHalf>,
    /// In their passages.
    pieces: usize,
}

impl Followers {
    fn is_full(&self) -> bool {
        self.next.len() >= MOST_KEYS || self.pieces >= MOST_PIECES
    }

    fn clear(&mut self) {
        self.next.clear();
        self.pieces = 0;
    }

    fn usual(&self, key: Signature) -> Option<&Next> {
        self.next.get(&key).filter(|next| next.times >= USUAL)
    }

    /// Notes that `to` came after `from`. Whether that changes what is usual.
    fn note(&mut self, from: Signature, to: Signature, mut passage: Passage) -> bool {
        let silent = u32::from(std::mem::take(&mut passage.is_silent));
        match self.next.get_mut(&from) {
            Some(next) if next.key == to => {
                next.times += 1;
                next.silent = silent * (next.silent + 1);
                next.passage.is_silent = next.silent >= USUAL;
                next.times == USUAL
            }
            Some(next) => {
                let was_usual = next.times >= USUAL;
                self.pieces = self.pieces + passage.pieces() - next.passage.pieces();
                (next.key, next.passage, next.times) = (to, passage, 1);
                next.silent = silent;
                next.varies = true;
                was_usual
            }
            None => {
                self.pieces += passage.pieces();
                let next = Next {
                    key: to,
                    passage,
                    times: 1,
                    silent,
                    varies: false,
                };
                self.next.insert(from, next);
                false
            }
        }
    }
}

/// What lies between two keys.
#[derive(Clone, Default)]
pub(super) struct Passage {
    /// What followed from the declarations of all ranks, and from serial code.
    pub(super) transitions: Vec<Rc<Transition>>,
    /// The end of a region, serial code and a fork.
    pub(super) is_fork: bool,
    /// Then: the serial code wrote nothing in section mode; of what is usual, it usually does not.
    pub(super) is_silent: bool,
}

/// What is known of the copies that follow a key.
enum Known {
    /// Nothing but what follows from the declarations that are expected.
    Foreseen(Rc<Messages>),
    /// What stands for the copies of all ranks the last time; and what was foreseen before.
    Once(Signature, Option<Rc<Messages>>),
    /// They were the same twice.
    Twice(Signature, Rc<Messages>),
    GivenUp,
}

impl Passage {
    /// The bytes that any rank may have written.
    pub(super) fn changed(&self) -> Ranges {
        let all = self.transitions.iter();
        all.fold(Ranges::default(), |all, one| all.union(&one.changed().0))
    }

    fn pieces(&self) -> usize {
        self.transitions.iter().map(|one| one.pieces).sum()
    }

    pub(super) fn has_contributions(&self) -> bool {
        self.transitions.iter().any(|one| one.has_contributions())
    }
}

/// How often ranks copied something else after a key than the last time, and the same since then.
#[derive(Clone, Copy, Default)]
struct Surprises {
    count: u32,
    right: u32,
}

impl Surprises {
    fn note_same(&mut self) {
        self.right += 1;
        if self.right >= FORGIVEN {
            self.right = 0;
            self.count = self.count.saturating_sub(1);
        }
    }

    /// `had_expected`: something was predicted. What is never the same twice is one surprise, and so is what ranks copy once,
    /// though it is something else before and behind. Whether there are too many.
    fn note_other(&mut self, had_expected: bool) -> bool {
        self.right = 0;
        if had_expected || self.count == 0 {
            self.count += 1;
        }
        self.count > MOST_SURPRISES
    }
}

/// What all ranks copied after each key.
#[derive(Default)]
pub(super) struct Predictions {
    known: HashMap<Signature, (Known, Surprises), ByHalf>,
    /// What stands for what all ranks declared last in a context, and how often that was something else than before, less how
    /// often it was the same.
    declared: HashMap<Signature, (Signature, u32), ByHalf>,
    next: Followers,
    /// After two keys in a row, where after the second one alone it varies: in a cycle over the grids of a solver the same
    /// is known on the way down and on the way up.
    next_of_pairs: Followers,
    /// Counts changes of what is predicted.
    pub(super) changes: u64,
}

impl Predictions {
    /// The messages to expect after `key`.
    pub(super) fn after(&self, key: Signature) -> Option<Rc<Messages>> {
        match self.known.get(&key)? {
            (
                Known::Twice(_, messages)
                | Known::Foreseen(messages)
                | Known::Once(_, Some(messages)),
                _,
            ) => Some(Rc::clone(messages)),
            (Known::Once(_, None) | Known::GivenUp, _) => None,
        }
    }

    /// Whether `key` has not been there before, or once, and nothing was foreseen then.
    pub(super) fn is_new(&self, key: Signature) -> bool {
        match self.known.get(&key) {
            None => true,
            Some((Known::Once(copied, None), surprises)) if surprises.count == 0 => {
                *copied != Signature::NOTHING
            }
            Some(_) => false,
        }
    }

    /// What stands for what all ranks declared last in a context, where that is mostly the same.
    pub(super) fn declared_in(&self, context: Signature) -> Option<Signature> {
        let &(declared, surprises) = self.declared.get(&context)?;
        (surprises <= MOST_SURPRISES).then_some(declared)
    }

    /// Notes that.
    pub(super) fn note_declared(&mut self, contexts: [Signature; 2], declared: Signature) {
        self.limit();
        let [best, next] = contexts;
        for context in [Some(best), (next != best).then_some(next)]
            .into_iter()
            .flatten()
        {
            let (last, surprises) = self.declared.entry(context).or_insert((declared, 0));
            *surprises = match *last == declared {
                true => surprises.saturating_sub(1),
                false => *surprises + 1,
            };
            *last = declared;
        }
    }

    /// Foresees the copies of all ranks after `key`, which [is new](Predictions::is_new): in rank order, as words of [`push_copies`], all of what the
    /// owners have. `nodes` has the node of each rank.
    pub(super) fn foresee(&mut self, rank: u32, key: Signature, lists: &[&[u64]], nodes: &[u32]) {
        if let Some(messages) = Messages::of(rank, lists, true, nodes).map(Rc::new) {
            self.limit();
            self.changes += 1;
            let known = match self.known.get(&key) {
                Some((Known::Once(copied, _), _)) => Known::Once(*copied, Some(messages)),
                _ => Known::Foreseen(messages),
            };
            self.known.insert(key, (known, Surprises::default()));
        }
    }

    /// Before something is added: forgets all where there is too much.
    fn limit(&mut self) {
        let most = self.known.len().max(self.declared.len() / 2);
        if most >= MOST_KEYS || self.next.is_full() {
            self.known.clear();
            self.declared.clear();
            self.next.clear();
            self.next_of_pairs.clear();
            self.changes += 1;
        }
    }

    /// Where the ranks usually are next, what lies between, and what stands for both.
    pub(super) fn next(&self, at: At) -> Option<(At, &Passage, Signature)> {
        let of_pair = self.next_of_pairs.usual(at.pair());
        let (next, id) = match of_pair {
            Some(next) => (next, at.pair()),
            None => (self.next.usual(at.key)?, at.key),
        };
        Some((at.then(next.key), &next.passage, id))
    }

    /// Notes that `to` came after `from`.
    pub(super) fn note_next(&mut self, from: At, to: Signature, passage: Passage) {
        if !self.next.next.contains_key(&from.key) {
            self.limit();
        }
        let mut changes = self.next.note(from.key, to, passage.clone());
        if self.next.next[&from.key].varies {
            if self.next_of_pairs.is_full() {
                self.next_of_pairs.clear();
                changes = true;
            }
            changes |= self.next_of_pairs.note(from.pair(), to, passage);
        }
        self.changes += u64::from(changes);
    }

    /// Whether nothing can be said of `key`.
    pub(super) fn is_given_up(&self, key: Signature) -> bool {
        matches!(self.known.get(&key), Some((Known::GivenUp, _)))
    }

    /// Whether [`Predictions::note`] would ask for the lists.
    pub(super) fn would_ask(&self, key: Signature, copied: Signature) -> bool {
        copied != Signature::NOTHING
            && matches!(self.known.get(&key), Some((Known::Once(last, _), _)) if *last == copied)
    }

    /// Notes what stands for the copies of all ranks after `key`; [`Signature::NOTHING`] where there were
    /// none. Whether the lists of copies are needed: then [`Predictions::note_lists`] is to follow.
    #[must_use]
    pub(super) fn note(&mut self, key: Signature, copied: Signature) -> bool {
        if !self.known.contains_key(&key) {
            self.limit();
        }
        let Some((known, surprises)) = self.known.get_mut(&key) else {
            let once = Known::Once(copied, None);
            self.known.insert(key, (once, Surprises::default()));
            return false;
        };
        match known {
            Known::GivenUp => false,
            Known::Twice(last, _) if *last == copied => {
                surprises.note_same();
                false
            }
            Known::Foreseen(messages) => {
                let foreseen = (copied != Signature::NOTHING).then(|| Rc::clone(messages));
                self.changes += u64::from(foreseen.is_none());
                *known = Known::Once(copied, foreseen);
                false
            }
            Known::Once(last, _) if *last == copied => {
                if copied == Signature::NOTHING {
                    let none = Messages {
                        from_owners: true,
                        ..Messages::default()
                    };
                    *known = Known::Twice(copied, Rc::new(none));
                }
                copied != Signature::NOTHING
            }
            _ => {
                self.changes += 1;
                let had_expected = matches!(known, Known::Twice(..));
                *known = match surprises.note_other(had_expected) {
                    true => Known::GivenUp,
                    false => Known::Once(copied, None),
                };
                false
            }
        }
    }

    /// Notes the copies of all ranks after `key`, in rank order, as words of [`push_copies`]; and gives it
    /// up where they are too large. `nodes` has the node of each rank.
    pub(super) fn note_lists(
        &mut self,
        rank: u32,
        key: Signature,
        copied: Signature,
        lists: &[&[u64]],
        from_owners: bool,
        nodes: &[u32],
    ) {
        self.changes += 1;
        let known = match Messages::of(rank, lists, from_owners, nodes) {
            Some(messages) => Known::Twice(copied, Rc::new(messages)),
            None => Known::GivenUp,
        };
        self.known.entry(key).and_modify(|entry| entry.0 = known);
    }

    /// Gives a key up: the lists are too long to be exchanged.
    pub(super) fn give_up(&mut self, key: Signature) {
        self.known
            .entry(key)
            .and_modify(|entry| entry.0 = Known::GivenUp);
    }
}

/// Whether lists of so many words on each rank may be exchanged.
pub(super) fn may_exchange(words: &[usize]) -> bool {
    words.iter().all(|&words| words <= MOST_WORDS)
}

/// Appends copies from one owner.
pub(super) fn push_copies(words: &mut Vec<u64>, owner: u32, ranges: &[Range]) {
    words.extend([u64::from(owner), ranges.len() as u64]);
    words.extend(ranges.iter().flat_map(|&(start, end)| [start, end]));
}

/// Number of words of [`push_copies`].
pub(super) fn words_of_copies(ranges: &[Range]) -> usize {
    2 + 2 * ranges.len()
}

/// Owners and ranges of [`push_copies`].
pub(super) fn copies_in(
    mut words: &[u64],
) -> impl Iterator<Item = (u32, impl Iterator<Item = Range> + '_)> {
    std::iter::from_fn(move || {
        let (&[owner, count], rest) = words.split_first_chunk()?;
        let (own, rest) = rest.split_at(2 * count as usize);
        words = rest;
        let ranges = own.chunks_exact(2).map(|range| (range[0], range[1]));
        Some((owner as u32, ranges))
    })
}

impl Messages {
    /// The messages of `rank` where the copies of all ranks are known; `None` where one of any rank's is
    /// too large.
    fn of(rank: u32, lists: &[&[u64]], from_owners: bool, nodes: &[u32]) -> Option<Self> {
        let mut lists_of: BTreeMap<(u32, u32), Vec<Range>> = BTreeMap::new();
        for (reader, list) in (0..).zip(lists) {
            for (owner, ranges) in copies_in(list) {
                lists_of.entry((owner, reader)).or_default().extend(ranges);
            }
        }
        let copies = lists_of.into_iter();
        let copies: Copies = copies
            .map(|(pair, ranges)| (pair, Ranges::of(ranges)))
            .collect();
        if copies.values().any(|ranges| ranges.bytes() > MOST_BYTES) {
            return None;
        }
        let mut trees = match from_owners {
            true => trees::trees(&copies, nodes),
            false => Vec::new(),
        };
        if trees.iter().map(|tree| tree.ranges.bytes()).sum::<u64>() > MOST_BYTES {
            trees.clear();
        }
        let mut messages = Self {
            from_owners,
            ..Self::default()
        };
        for (&(owner, reader), ranges) in &copies {
            let (side, other) = match () {
                () if owner == rank => (&mut messages.sent, reader),
                () if reader == rank => (&mut messages.received, owner),
                () => continue,
            };
            let mut of_owner = trees.iter().filter(|tree| tree.owner == owner);
            let ranges = match of_owner.find(|tree| tree.reaches(reader)) {
                Some(tree) => ranges.minus(&tree.ranges),
                None => ranges.clone(),
            };
            if !ranges.is_empty() {
                side.push(Rc::new(Packed::of(other, &ranges, None)));
            }
        }
        messages.add_legs(rank, &trees);
        Some(messages)
    }

    /// Adds a rank's messages of trees: those to the same rank in one round are one.
    fn add_legs(&mut self, rank: u32, trees: &[Tree]) {
        let mut legs: BTreeMap<(bool, u32, u32), (Ranges, bool)> = BTreeMap::new();
        for tree in trees {
            for hop in &tree.hops {
                let (is_sent, other) = match () {
                    () if hop.from == rank => (true, hop.to),
                    () if hop.to == rank => (false, hop.from),
                    () => continue,
                };
                let leg = legs.entry((is_sent, other, hop.round)).or_default();
                leg.0 = leg.0.union(&tree.ranges);
                leg.1 |= hop.from != tree.owner;
            }
        }
        let alone = match trees {
            [tree] if tree.ranges.bytes() <= MOST_ALONG as u64 => Some(Rc::new(tree.hops.clone())),
            _ => None,
        };
        for ((is_sent, other, round), (ranges, is_relayed)) in legs {
            let leg = Leg {
                is_relayed,
                round,
                alone: alone.clone(),
            };
            let side = match is_sent {
                true => &mut self.sent,
                false => &mut self.received,
            };
            side.push(Rc::new(Packed::of(other, &ranges, Some(leg))));
        }
    }
}

impl Packed {
    pub(super) fn of(rank: u32, ranges: &Ranges, leg: Option<Leg>) -> Self {
        Self {
            rank,
            ranges: ranges.clone(),
            id: ranges.signature(),
            bytes: ranges.bytes() as usize,
            leg,
        }
    }

    /// Its sender passes on some of it.
    pub(super) fn is_relayed(&self) -> bool {
        self.leg.as_ref().is_some_and(|leg| leg.is_relayed)
    }

    /// The parts of `wanted` that are in the message, with their places there, and the parts that are not.
    /// Both lists are sorted.
    pub(super) fn split(&self, wanted: &[Range]) -> (Vec<(usize, Range)>, Vec<Range>) {
        let (mut inside, mut outside) = (Vec::with_capacity(wanted.len()), Vec::new());
        let mut ranges = self.ranges.as_slice().iter().peekable();
        let mut place = 0;
        for &(mut start, end) in wanted {
            while start < end {
                while let Some(&&(first, last)) = ranges.peek()
                    && last <= start
                {
                    place += (last - first) as usize;
                    ranges.next();
                }
                let (until, from) = match ranges.peek() {
                    Some(&&(first, last)) if first <= start => {
                        (last.min(end), Some(place + (start - first) as usize))
                    }
                    Some(&&(first, _)) => (first.min(end), None),
                    None => (end, None),
                };
                match from {
                    Some(from) => inside.push((from, (start, until))),
                    None => outside.push((start, until)),
                }
                start = until;
            }
        }
        (inside, outside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use okl_testing::Random;

    const KEY: Signature = Signature::START;

    fn signature(of: u64) -> Signature {
        Signature::START.with(of)
    }

    fn lists(copies: &[&[(u32, &[Range])]]) -> Vec<Vec<u64>> {
        copies
            .iter()
            .map(|copies| {
                let mut words = Vec::new();
                for (owner, ranges) in *copies {
                    let before = words.len();
                    push_copies(&mut words, *owner, ranges);
                    assert_eq!(words.len() - before, words_of_copies(ranges));
                }
                words
            })
            .collect()
    }

    fn borrowed(lists: &[Vec<u64>]) -> Vec<&[u64]> {
        lists.iter().map(Vec::as_slice).collect()
    }

    #[test]
    fn what_happened_twice_is_expected() {
        let mut predictions = Predictions::default();
        let copied = signature(1);
        let lists = lists(&[&[(1, &[(8, 16)])], &[]]);
        assert!(predictions.after(KEY).is_none());
        assert!(!predictions.note(KEY, copied));
        assert!(predictions.after(KEY).is_none());
        assert!(predictions.note(KEY, copied));
        predictions.note_lists(0, KEY, copied, &borrowed(&lists), true, &[0, 1, 2]);
        let messages = predictions.after(KEY).expect("it is known now");
        assert_eq!(messages.received[0].ranges.as_slice(), [(8, 16)]);
        assert!(!predictions.note(KEY, copied));
        assert!(predictions.after(KEY).is_some());
        assert!(predictions.after(signature(2)).is_none());
    }

    #[test]
    fn what_comes_next_may_depend_on_what_came_before() {
        let mut predictions = Predictions::default();
        let [down, up, grid, coarser, finer] = [1, 2, 3, 4, 5].map(signature);
        let next = |predictions: &Predictions, at: At| predictions.next(at).map(|(at, ..)| at.key);
        let cycle = [down, grid, coarser, up, grid, finer];
        let mut at = At::first(finer);
        let mut right = 0;
        for step in 0..60 {
            let to = cycle[step % cycle.len()];
            right += usize::from(next(&predictions, at) == Some(to));
            predictions.note_next(at, to, Passage::default());
            at = at.then(to);
        }
        assert!(right > 60 - 3 * cycle.len(), "{right}");
        // What stands for it differs, too.
        let of = |before| {
            predictions
                .next(At::first(before).then(grid))
                .expect("usual")
        };
        assert_ne!(of(down).2, of(up).2);
        let changes = predictions.changes;
        for _ in 0..3 {
            for to in cycle {
                predictions.note_next(at, to, Passage::default());
                at = at.then(to);
            }
        }
        assert_eq!(predictions.changes, changes, "nothing new");
    }

    #[test]
    fn pairs_that_never_come_again_are_not_kept() {
        let mut predictions = Predictions::default();
        for round in 0..10 * MOST_KEYS as u64 {
            let at = At::first(signature(round)).then(KEY);
            predictions.note_next(at, signature(round % 3), Passage::default());
            assert!(predictions.next_of_pairs.next.len() <= MOST_KEYS);
        }
        assert_eq!(predictions.next.next.len(), 1);
    }

    #[test]
    fn what_was_foreseen_counts_until_more_is_known() {
        let mut predictions = Predictions::default();
        let copied = signature(1);
        let lists = lists(&[&[(1, &[(8, 16)])], &[]]);
        let received = |predictions: &Predictions| {
            let messages = predictions.after(KEY).expect("foreseen");
            messages.received[0].ranges.iter().collect::<Vec<Range>>()
        };
        assert!(predictions.is_new(KEY));
        predictions.foresee(0, KEY, &borrowed(&lists), &[0, 1]);
        assert!(!predictions.is_new(KEY) && !predictions.would_ask(KEY, copied));
        assert_eq!(received(&predictions), [(8, 16)]);
        assert!(!predictions.note(KEY, copied));
        assert_eq!(received(&predictions), [(8, 16)]);
        assert!(predictions.note(KEY, copied));
        // Where it turns out that nothing is copied, that is foreseen no more.
        let other = signature(7);
        predictions.foresee(0, other, &borrowed(&lists), &[0, 1]);
        assert!(!predictions.note(other, Signature::NOTHING));
        assert!(predictions.after(other).is_none() && !predictions.is_new(other));
    }

    #[test]
    fn what_is_declared_in_a_context_is_expected_where_it_is_mostly_the_same() {
        let mut predictions = Predictions::default();
        let contexts = [signature(1), signature(2)];
        let [first, second] = [signature(3), signature(4)];
        assert!(predictions.declared_in(contexts[0]).is_none());
        for _ in 0..4 {
            predictions.note_declared(contexts, first);
            assert_eq!(
                contexts.map(|one| predictions.declared_in(one)),
                [Some(first); 2]
            );
        }
        for _ in 0..=MOST_SURPRISES {
            predictions.note_declared(contexts, second);
            predictions.note_declared([contexts[1]; 2], first);
        }
        assert_eq!(predictions.declared_in(contexts[0]), Some(second));
        assert_eq!(predictions.declared_in(contexts[1]), None);
    }

    #[test]
    fn where_nothing_is_copied_nothing_is_exchanged() {
        let mut predictions = Predictions::default();
        for _ in 0..3 {
            assert!(!predictions.note(KEY, Signature::NOTHING));
        }
        let known = predictions.after(KEY).expect("known");
        assert!(known.sent.is_empty() && known.received.is_empty());
    }

    #[test]
    fn a_wrong_prediction_is_dropped_and_irregular_copies_are_given_up() {
        let mut predictions = Predictions::default();
        let empty = lists(&[&[], &[]]);
        let mut exchanges = 0;
        for round in 0..40 {
            let copied = signature(1 + round / 4);
            let would_ask = predictions.would_ask(KEY, copied);
            let asks = predictions.note(KEY, copied);
            assert_eq!(asks, would_ask);
            if asks {
                exchanges += 1;
                predictions.note_lists(0, KEY, copied, &borrowed(&empty), true, &[0, 1]);
                assert!(predictions.after(KEY).is_some());
            } else if round % 4 == 0 {
                assert!(predictions.after(KEY).is_none(), "round {round}");
            }
        }
        assert!(predictions.is_given_up(KEY));
        assert_eq!(exchanges, 1 + MOST_SURPRISES);
    }

    #[test]
    fn rare_surprises_are_forgotten() {
        let mut predictions = Predictions::default();
        let empty = lists(&[&[], &[]]);
        let mut asked = 0;
        for round in 0..20 * FORGIVEN {
            // Once in a while they copy something else.
            let copied = signature(u64::from(round % (2 * FORGIVEN) == 0));
            if predictions.note(KEY, copied) {
                asked += 1;
                predictions.note_lists(0, KEY, copied, &borrowed(&empty), true, &[0, 1]);
            }
            assert!(!predictions.is_given_up(KEY), "round {round}");
        }
        assert_eq!(asked, 10);
        assert!(predictions.after(KEY).is_some());
    }

    #[test]
    fn both_sides_know_the_same_messages() {
        let lists = lists(&[
            &[(2, &[(10, 20), (40, 50)]), (1, &[(0, 4)]), (2, &[(20, 22)])],
            &[],
            &[(0, &[(100, 108)]), (1, &[(8, 9)])],
        ]);
        let sides: Vec<Messages> = (0..3)
            .map(|rank| Messages::of(rank, &borrowed(&lists), true, &[0, 1, 2]).expect("small"))
            .collect();
        let mut seen = 0;
        for (rank, side) in (0..).zip(&sides) {
            for one in &side.sent {
                let other = &sides[one.rank as usize].received;
                let other = other.iter().find(|other| other.rank == rank);
                let other = other.expect("it is received");
                assert_eq!((&one.ranges, one.bytes), (&other.ranges, other.bytes));
                seen += 1;
            }
        }
        assert_eq!(seen, 4);
        assert_eq!(sides[0].received[1].ranges.as_slice(), [(10, 22), (40, 50)]);
        assert_eq!(sides[0].received[1].bytes, 22);
    }

    /// Directly or by trees, readers get all they want, and each message is known to both its sides.
    #[test]
    fn what_is_wanted_is_received() {
        let mut random = Random(23);
        let mut relayed = 0;
        for _ in 0..300 {
            let ranks = 4 + random.below(5) as u32;
            let per_node = 1 + random.below(2) as u32;
            let nodes: Vec<u32> = (0..ranks).map(|rank| rank / per_node).collect();
            let owners: Vec<u32> = (0..ranks).filter(|_| random.chance(50)).collect();
            let wanted: Vec<Vec<u64>> = (0..ranks)
                .map(|reader| {
                    let mut words = Vec::new();
                    for &owner in owners
                        .iter()
                        .filter(|&&owner| owner / per_node != reader / per_node)
                    {
                        let start = u64::from(owner) << 32;
                        let mut ranges = vec![(start, start + 100)];
                        if random.chance(10) {
                            let first = start + 200 * u64::from(reader);
                            ranges.push((first + 200, first + 300));
                        }
                        push_copies(&mut words, owner, &ranges);
                    }
                    words
                })
                .collect();
            let sides: Vec<Messages> = (0..ranks)
                .map(|rank| Messages::of(rank, &borrowed(&wanted), true, &nodes).expect("small"))
                .collect();
            for (rank, side) in (0..).zip(&sides) {
                for one in &side.sent {
                    relayed += usize::from(one.is_relayed());
                    let other = sides[one.rank as usize].received.iter();
                    let same = |other: &&Rc<Packed>| {
                        other.rank == rank && (&other.ranges, &other.leg) == (&one.ranges, &one.leg)
                    };
                    assert_eq!(other.filter(same).count(), 1);
                }
                let received = side.received.iter().flat_map(|one| one.ranges.iter());
                let received = Ranges::of(received.collect());
                for (_, ranges) in copies_in(&wanted[rank as usize]) {
                    assert!(Ranges::of(ranges.collect()).minus(&received).is_empty());
                }
            }
            let messages = |side: fn(&Messages) -> &Vec<Rc<Packed>>| {
                sides.iter().map(|one| side(one).len()).sum::<usize>()
            };
            assert_eq!(messages(|one| &one.sent), messages(|one| &one.received));
        }
        assert!(relayed > 0);
    }

    #[test]
    fn a_message_too_large_for_one_is_not_expected() {
        let mut predictions = Predictions::default();
        let copied = signature(1);
        let lists = lists(&[&[(1, &[(0, MOST_BYTES + 1)])], &[], &[]]);
        assert!(!predictions.note(KEY, copied));
        assert!(predictions.note(KEY, copied));
        predictions.note_lists(2, KEY, copied, &borrowed(&lists), true, &[0, 1, 2]);
        assert!(predictions.is_given_up(KEY));
    }

    #[test]
    fn parts_are_found_in_messages() {
        let mut random = Random(3);
        let mut below = |bound: u64| random.below(bound as usize) as u64;
        for _ in 0..2000 {
            let mut sample = || {
                let ranges = (0..below(6)).map(|_| {
                    let start = below(60);
                    (start, start + below(9))
                });
                Ranges::of(ranges.collect())
            };
            let (sent, wanted) = (sample(), sample());
            let packed = Packed::of(0, &sent, None);
            let message: Vec<u64> = sent.iter().flat_map(|(start, end)| start..end).collect();
            let wanted_list: Vec<Range> = wanted.iter().collect();
            let (inside, outside) = packed.split(&wanted_list);
            let mut found = Vec::new();
            for (place, (start, end)) in inside {
                let part = &message[place..place + (end - start) as usize];
                assert!(part.iter().copied().eq(start..end));
                found.push((start, end));
            }
            assert_eq!(Ranges::of(found), wanted.intersection(&sent));
            assert_eq!(Ranges::of(outside), wanted.minus(&sent));
        }
    }
}
