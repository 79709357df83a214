//! Pieces of memory with a word each, whose changes are remembered and made when somebody looks.
//!
//! What follows from a state is looked up by the number that stands for it. So a program that repeats itself
//! goes from one known state to the next, and what these are in detail does not matter. Guarantee: whoever
//! looks finds the pieces as if every change had been made at once.

use std::{
    cell::{RefCell, RefMut},
    collections::{BTreeMap, HashMap},
    rc::Rc,
};

use super::{
    cache::Cache,
    ranges::{Range, Ranges},
    signature::{ByHalf, Signature},
};

/// Bytes, and the word that they have or `None`.
pub(crate) type Set = (Range, Option<u32>);

/// Pieces of bytes: sorted, disjoint, and neighbours that are alike are one.
#[derive(Debug)]
struct Pieces {
    /// End and word, by the start.
    by_start: BTreeMap<u64, (u64, u32)>,
    /// Stands for the contents; the same whatever way led to them.
    signature: Signature,
}

impl Default for Pieces {
    fn default() -> Self {
        Self {
            by_start: BTreeMap::new(),
            signature: Signature::START,
        }
    }
}

impl Pieces {
    fn put(&mut self, start: u64, end: u64, word: u32) {
        self.by_start.insert(start, (end, word));
        self.toggle(start, end, word);
    }

    fn take(&mut self, start: u64) {
        let (end, word) = self.by_start.remove(&start).expect("it is there");
        self.toggle(start, end, word);
    }

    fn toggle(&mut self, start: u64, end: u64, word: u32) {
        let member = Signature::START.with(start).with(end).with(word.into());
        self.signature = self.signature.toggled(member);
    }

    fn set(&mut self, ((mut start, mut end), word): Set) {
        if let Some((&first, &(last, other))) = self.by_start.range(..start).next_back()
            && last >= start
        {
            if Some(other) == word {
                if last >= end {
                    return;
                }
                self.take(first);
                start = first;
            } else if last > start {
                self.take(first);
                self.put(first, start, other);
                if last > end {
                    self.put(end, last, other);
                }
            }
        }
        while let Some((&first, &(last, other))) = self.by_start.range(start..=end).next() {
            let is_alike = Some(other) == word;
            if first == end && !is_alike {
                break;
            }
            self.take(first);
            if is_alike {
                end = end.max(last);
            } else if last > end {
                self.put(end, last, other);
            }
        }
        if let Some(word) = word {
            self.put(start, end, word);
        }
    }

    /// Hands `sink` the parts of `bytes` that lie in a piece, with that piece.
    fn meet(&self, bytes: &Ranges, mut sink: impl FnMut(Range, Range, u32)) {
        // Many ranges often lie in one piece, or in one gap.
        let (mut around, mut gap) = ((0, 0, 0), (0, 0));
        for (start, end) in bytes.iter() {
            if around.0 <= start && end <= around.1 {
                sink((start, end), (around.0, around.1), around.2);
                continue;
            }
            if gap.0 <= start && end <= gap.1 {
                continue;
            }
            let before = self.by_start.range(..=start).next_back();
            let first = before.map_or(start, |(&first, _)| first);
            let (mut met, mut next) = (start, u64::MAX);
            for (&first, &(last, word)) in self.by_start.range(first..) {
                if first >= end {
                    next = first;
                    break;
                }
                if last > start {
                    sink((first.max(start), last.min(end)), (first, last), word);
                    around = (first, last, word);
                    met = last;
                }
            }
            gap = (met, next);
        }
    }
}

/// A change of pieces that was made once.
#[derive(Debug)]
pub(crate) struct Step {
    sets: Vec<Set>,
    /// What stands for the pieces after it.
    after: Signature,
}

impl Step {
    /// Number of pieces that it changes.
    pub(crate) fn len(&self) -> usize {
        self.sets.len()
    }
}

#[derive(Debug, Default)]
struct State {
    pieces: Pieces,
    /// What has happened to them since.
    path: Vec<Rc<Step>>,
    /// How many steps of the path lead to what these numbers stand for.
    lengths: HashMap<Signature, usize, ByHalf>,
    /// Answers that were given before.
    answers: Cache<Rc<Vec<(Range, u32)>>>,
}

/// Pieces and the changes that have not been made yet.
#[derive(Debug, Default)]
pub(crate) struct Deferred(RefCell<State>);

impl Deferred {
    /// What stands for the contents.
    pub(crate) fn signature(&self) -> Signature {
        let state = self.0.borrow();
        let last = state.path.last();
        last.map_or(state.pieces.signature, |last| last.after)
    }

    /// Changes the pieces as before. They are what they were before the step was first made.
    pub(crate) fn follow(&self, step: &Rc<Step>) {
        let state = &mut *self.0.borrow_mut();
        // What comes back to a state that was left before did nothing since.
        let known = match step.after == state.pieces.signature {
            true => Some(0),
            false => state.lengths.get(&step.after).copied(),
        };
        let Some(length) = known else {
            state.path.push(Rc::clone(step));
            state.lengths.insert(step.after, state.path.len());
            return;
        };
        for left in state.path.drain(length..) {
            state.lengths.remove(&left.after);
        }
    }

    fn now(&self) -> RefMut<'_, Pieces> {
        let mut state = self.0.borrow_mut();
        if !state.path.is_empty() {
            let State {
                pieces,
                path,
                lengths,
                ..
            } = &mut *state;
            lengths.clear();
            for step in path.drain(..) {
                for &set in &step.sets {
                    pieces.set(set);
                }
                assert_eq!(pieces.signature, step.after, "steps lead where they led");
            }
        }
        RefMut::map(state, |state| &mut state.pieces)
    }

    /// Changes the pieces.
    pub(crate) fn set(&self, sets: impl IntoIterator<Item = Set>) -> Rc<Step> {
        let mut pieces = self.now();
        let sets: Vec<Set> = sets.into_iter().collect();
        for &set in &sets {
            pieces.set(set);
        }
        let after = pieces.signature;
        Rc::new(Step { sets, after })
    }

    /// Hands `sink` the parts of `bytes` that have a word.
    pub(crate) fn within(&self, bytes: &Ranges, mut sink: impl FnMut(Range, u32)) {
        self.now().meet(bytes, |part, _, word| sink(part, word));
    }

    /// The pieces, whole, that any of `bytes` lie in.
    pub(crate) fn touching(&self, bytes: &Ranges) -> Vec<(Range, u32)> {
        let mut found: Vec<(Range, u32)> = Vec::new();
        self.now().meet(bytes, |_, piece, word| {
            if found.last().is_none_or(|&(last, _)| last != piece) {
                found.push((piece, word));
            }
        });
        found
    }

    /// The parts of `bytes` that have a word; without looking where this was asked in the same state before.
    pub(crate) fn recall(&self, bytes: &Ranges) -> Rc<Vec<(Range, u32)>> {
        let key = self.signature().with_signature(bytes.signature());
        if let Some(known) = self.0.borrow().answers.get(key) {
            return Rc::clone(known);
        }
        let mut found = Vec::new();
        self.within(bytes, |range, word| found.push((range, word)));
        let found = Rc::new(found);
        let answers = &mut self.0.borrow_mut().answers;
        answers.insert(key, Rc::clone(&found), found.len());
        found
    }

    /// Hands `sink` all pieces.
    pub(crate) fn each(&self, mut sink: impl FnMut(Range, u32)) {
        for (&start, &(end, word)) in &self.now().by_start {
            sink((start, end), word);
        }
    }
}

/// A set of bytes that changes.
#[derive(Debug, Default)]
pub(crate) struct Bytes {
    pieces: Deferred,
    /// What was added before.
    added: RefCell<Cache<Rc<Step>>>,
}

impl Bytes {
    pub(crate) fn signature(&self) -> Signature {
        self.pieces.signature()
    }

    /// All of them.
    pub(crate) fn ranges(&self) -> Ranges {
        let mut all = Vec::new();
        self.pieces.each(|range, _| all.push(range));
        Ranges::of(all)
    }

    /// Those of `bytes` that are in the set; as [`Deferred::recall`].
    pub(crate) fn recall(&self, bytes: &Ranges) -> Ranges {
        let inside = self.pieces.recall(bytes);
        Ranges::of(inside.iter().map(|&(range, _)| range).collect())
    }

    /// Adds bytes; without looking where the same were added in the same state before.
    pub(crate) fn add_again(&self, bytes: &Ranges) {
        let key = self.signature().with_signature(bytes.signature());
        let known = self.added.borrow().get(key).cloned();
        match known {
            Some(step) => self.pieces.follow(&step),
            None => {
                let step = self.add(bytes);
                let pieces = step.len();
                self.added.borrow_mut().insert(key, step, pieces);
            }
        }
    }

    /// Those of `bytes` that are in the set.
    pub(crate) fn within(&self, bytes: &Ranges) -> Ranges {
        let mut inside = Vec::new();
        self.pieces.within(bytes, |range, _| inside.push(range));
        Ranges::of(inside)
    }

    /// Adds bytes. The step makes the same change again.
    pub(crate) fn add(&self, bytes: &Ranges) -> Rc<Step> {
        let new = bytes.minus(&self.within(bytes));
        self.pieces.set(new.iter().map(|range| (range, Some(0))))
    }

    /// Takes bytes out. The step makes the same change again.
    pub(crate) fn remove(&self, bytes: &Ranges) -> Rc<Step> {
        let old = self.within(bytes);
        self.pieces.set(old.iter().map(|range| (range, None)))
    }

    /// As [`Deferred::follow`].
    pub(crate) fn follow(&self, step: &Rc<Step>) {
        self.pieces.follow(step);
    }

    pub(crate) fn clear(&mut self) {
        self.pieces = Deferred::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use okl_testing::Random;

    fn contents(pieces: &Deferred) -> Vec<Option<u32>> {
        let mut seen = vec![None; 80];
        let mut last = (0, None);
        pieces.each(|(start, end), word| {
            assert!(start < end && (last.0 < start || last.0 == start && last.1 != Some(word)));
            last = (end, Some(word));
            seen[start as usize..end as usize].fill(Some(word));
        });
        seen
    }

    /// Random changes, of which those known from the same state before are only followed.
    #[test]
    fn remembered_changes_are_made_when_somebody_looks() {
        let mut random = Random(11);
        for few in [2, 5, 40] {
            let mut truth: Vec<Option<u32>> = vec![None; 80];
            let pieces = Deferred::default();
            let mut known: HashMap<(Signature, usize), Rc<Step>> = HashMap::new();
            let mut seen: HashMap<Signature, Vec<Option<u32>>> = HashMap::new();
            let changes: Vec<Vec<Set>> = (0..few)
                .map(|_| {
                    (0..1 + random.below(3))
                        .map(|_| {
                            let start = random.below(60) as u64;
                            let word = Some(random.below(3) as u32).filter(|&word| word < 2);
                            ((start, start + 1 + random.below(15) as u64), word)
                        })
                        .collect()
                })
                .collect();
            let mut followed = 0;
            for _ in 0..3000 {
                let change = random.below(few);
                let before_change = truth.clone();
                for &((start, end), word) in &changes[change] {
                    truth[start as usize..end as usize].fill(word);
                }
                let key = (pieces.signature(), change);
                if random.below(3) == 0 {
                    let bytes = Ranges::of(vec![(10, 30), (40, 41)]);
                    let mut recalled = vec![None; 80];
                    for &((start, end), word) in &*pieces.recall(&bytes) {
                        recalled[start as usize..end as usize].fill(Some(word));
                    }
                    for (at, word) in recalled.into_iter().enumerate() {
                        let expected = before_change[at].filter(|_| bytes.contains(at as u64));
                        assert_eq!(word, expected);
                    }
                }
                match known.get(&key) {
                    Some(step) => {
                        followed += 1;
                        pieces.follow(step);
                    }
                    None => {
                        known.insert(key, pieces.set(changes[change].iter().copied()));
                    }
                }
                let before = seen.insert(pieces.signature(), truth.clone());
                assert!(before.is_none_or(|before| before == truth));
                if random.below(20) == 0 {
                    assert_eq!(contents(&pieces), truth);
                    let start = random.below(60) as u64;
                    let bytes = Ranges::of(vec![(start, start + 9), (start / 2, start / 2 + 3)]);
                    let mut inside = vec![None; 80];
                    pieces.within(&bytes, |(start, end), word| {
                        inside[start as usize..end as usize].fill(Some(word));
                    });
                    for (at, &word) in truth.iter().enumerate() {
                        assert_eq!(inside[at], word.filter(|_| bytes.contains(at as u64)));
                    }
                }
            }
            assert!(few == 40 || followed > 2000, "{followed}");
        }
    }
}
