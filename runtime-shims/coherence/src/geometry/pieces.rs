//! Pieces of memory with a word each, whose changes are remembered and made when somebody looks.
//!
//! What follows from a state, or from what there is in [some chunks](Parts), is looked up by the number that stands for it.
//! So a program that repeats itself goes from one known state to the next, and what these are in detail does not matter.
//! Guarantee: whoever looks finds the pieces as if every change had been made at once.

use std::{
    cell::{RefCell, RefMut},
    collections::{BTreeMap, HashMap},
    rc::Rc,
};

use super::{
    cache::Cache,
    parts::{Parts, chunks_around, start_of_chunk},
    ranges::{Range, Ranges},
    signature::{ByHalf, Signature},
};

/// Bytes, and the word that they have or `None`.
pub(crate) type Set = (Range, Option<u32>);

/// Pieces of bytes: sorted, disjoint, and neighbours that are alike are one.
#[derive(Debug, Default)]
struct Pieces {
    /// End and word, by the start.
    by_start: BTreeMap<u64, (u64, u32)>,
}

impl Pieces {
    fn put(&mut self, start: u64, end: u64, word: u32) {
        self.by_start.insert(start, (end, word));
    }

    fn take(&mut self, start: u64) {
        self.by_start.remove(&start);
    }

    /// Hands `sink` each of some chunks, with what stands for what lies there; whatever way led to it.
    fn chunks(&self, chunks: std::ops::Range<u64>, mut sink: impl FnMut(u64, Signature)) {
        let first = start_of_chunk(chunks.start);
        let before = self.by_start.range(..=first).next_back();
        let from = before.map_or(first, |(&start, _)| start);
        let mut pieces = self.by_start.range(from..).peekable();
        for chunk in chunks {
            let (first, last) = (start_of_chunk(chunk), start_of_chunk(chunk + 1));
            let mut signature = Signature::NOTHING;
            while let Some(&(&start, &(end, word))) = pieces.peek()
                && start < last
            {
                if end > first {
                    let (start, end) = (start.max(first), end.min(last));
                    signature = signature.with(start).with(end).with(word.into());
                }
                if end >= last {
                    break;
                }
                pieces.next();
            }
            sink(chunk, signature);
        }
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
    /// The chunks that it changes, each with what stood for it before and after.
    chunks: Vec<(u64, Signature, Signature)>,
}

impl Step {
    /// Number of pieces that it takes to remember it.
    pub(crate) fn len(&self) -> usize {
        self.sets.len() + self.chunks.len()
    }
}

#[derive(Debug, Default)]
struct State {
    pieces: Pieces,
    /// Stands for them.
    start: Signature,
    /// What has happened to them since, each with what stands for the contents after it.
    path: Vec<(Rc<Step>, Signature)>,
    /// How many steps of the path lead to what these numbers stand for.
    lengths: HashMap<Signature, usize, ByHalf>,
    /// Stand for the parts of what they are now.
    parts: Parts,
    /// Answers that were given before.
    answers: Cache<Rc<Vec<(Range, u32)>>>,
}

/// Pieces and the changes that have not been made yet.
#[derive(Debug, Default)]
pub(crate) struct Deferred(RefCell<State>);

impl Deferred {
    /// What stands for the contents.
    pub(crate) fn signature(&self) -> Signature {
        self.0.borrow().parts.all()
    }

    /// What stands for the contents of the chunks that `bytes` lie in.
    pub(crate) fn signature_around(&self, bytes: &Ranges) -> Signature {
        self.0.borrow().parts.around(bytes)
    }

    /// Changes the pieces as before. The chunks that change are what they were before the step was first made, or what
    /// they were after that.
    pub(crate) fn follow(&self, step: &Rc<Step>) {
        let state = &mut *self.0.borrow_mut();
        let mut chunks = step.chunks.iter();
        if chunks.all(|&(chunk, _, after)| state.parts.of(chunk) == after) {
            return;
        }
        for &(chunk, before, after) in &step.chunks {
            assert_eq!(
                state.parts.of(chunk),
                before,
                "a step leads on from where it was made"
            );
            state.parts.toggle(chunk, before.toggled(after));
        }
        let after = state.parts.all();
        // What comes back to a state that was left before did nothing since.
        let known = match after == state.start {
            true => Some(0),
            false => state.lengths.get(&after).copied(),
        };
        let Some(length) = known else {
            state.path.push((Rc::clone(step), after));
            state.lengths.insert(after, state.path.len());
            return;
        };
        for (_, left) in state.path.drain(length..) {
            state.lengths.remove(&left);
        }
    }

    fn now(&self) -> RefMut<'_, Pieces> {
        let mut state = self.0.borrow_mut();
        if !state.path.is_empty() {
            let State {
                pieces,
                start,
                path,
                lengths,
                parts,
                ..
            } = &mut *state;
            lengths.clear();
            for (step, _) in path.drain(..) {
                for &set in &step.sets {
                    pieces.set(set);
                }
            }
            *start = parts.all();
        }
        RefMut::map(state, |state| &mut state.pieces)
    }

    /// Changes the pieces.
    pub(crate) fn set(&self, sets: impl IntoIterator<Item = Set>) -> Rc<Step> {
        drop(self.now());
        let State {
            pieces,
            start,
            parts,
            ..
        } = &mut *self.0.borrow_mut();
        let sets: Vec<Set> = sets.into_iter().collect();
        let mut touched: Vec<std::ops::Range<u64>> = Vec::new();
        for &set in &sets {
            pieces.set(set);
            let chunks = chunks_around(set.0);
            match touched.last_mut() {
                Some(last) if last.start <= chunks.start && chunks.start <= last.end => {
                    last.end = last.end.max(chunks.end);
                }
                _ => touched.push(chunks),
            }
        }
        let mut changed = Vec::new();
        // A chunk that is looked at twice is the same the second time.
        for chunks in touched {
            pieces.chunks(chunks, |chunk, after| {
                let before = parts.of(chunk);
                if before != after {
                    parts.toggle(chunk, before.toggled(after));
                    changed.push((chunk, before, after));
                }
            });
        }
        *start = parts.all();
        Rc::new(Step {
            sets,
            chunks: changed,
        })
    }

    /// Hands `sink` the parts of `bytes` that have a word.
    pub(crate) fn within(&self, bytes: &Ranges, mut sink: impl FnMut(Range, u32)) {
        self.now().meet(bytes, |part, _, word| sink(part, word));
    }

    /// The word of all of `bytes`, where they lie in one piece.
    pub(crate) fn word_of(&self, (start, end): Range) -> Option<u32> {
        let pieces = self.now();
        let (_, &(last, word)) = pieces.by_start.range(..=start).next_back()?;
        (end <= last).then_some(word)
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

    /// The parts of `bytes` that have a word; without looking where this was asked before, while what is around them was the
    /// same.
    pub(crate) fn recall(&self, bytes: &Ranges) -> Rc<Vec<(Range, u32)>> {
        let key = self.signature_around(bytes);
        let key = key.with_signature(bytes.signature());
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

    /// As [`Deferred::signature_around`].
    pub(crate) fn signature_around(&self, bytes: &Ranges) -> Signature {
        self.pieces.signature_around(bytes)
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
        let key = self.signature_around(bytes);
        let key = key.with_signature(bytes.signature());
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

    /// Bytes of one number in the tests: several make a chunk, and there are several chunks.
    const SCALE: u64 = 24;

    fn scaled((start, end): Range) -> Range {
        (start * SCALE, end * SCALE)
    }

    fn contents(pieces: &Deferred) -> Vec<Option<u32>> {
        let mut seen = vec![None; 80];
        let mut last = (0, None);
        pieces.each(|(start, end), word| {
            assert!(start < end && (last.0 < start || last.0 == start && last.1 != Some(word)));
            last = (end, Some(word));
            seen[(start / SCALE) as usize..(end / SCALE) as usize].fill(Some(word));
        });
        seen
    }

    /// Random changes, of which those known from where there was the same before are only followed, whatever there is
    /// elsewhere.
    #[test]
    fn remembered_changes_are_made_when_somebody_looks() {
        let mut random = Random(11);
        for (few, is_local) in [(2, false), (5, false), (5, true), (40, false), (40, true)] {
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
                let around = changes[change].iter().map(|&(range, _)| scaled(range));
                let around = Ranges::of(around.collect());
                let key = match is_local {
                    true => (pieces.signature_around(&around), change),
                    false => (pieces.signature(), change),
                };
                if random.below(3) == 0 {
                    let bytes = Ranges::of(vec![scaled((10, 30)), scaled((40, 41))]);
                    let mut recalled = vec![None; 80];
                    for &((start, end), word) in &*pieces.recall(&bytes) {
                        recalled[(start / SCALE) as usize..(end / SCALE) as usize].fill(Some(word));
                    }
                    for (at, word) in recalled.into_iter().enumerate() {
                        let expected =
                            before_change[at].filter(|_| bytes.contains(at as u64 * SCALE));
                        assert_eq!(word, expected);
                    }
                }
                match known.get(&key) {
                    Some(step) => {
                        followed += 1;
                        pieces.follow(step);
                        // It has been made now.
                        pieces.follow(step);
                    }
                    None => {
                        let sets = changes[change].iter();
                        let sets = sets.map(|&(range, word)| (scaled(range), word));
                        let step = pieces.set(sets);
                        pieces.follow(&step);
                        known.insert(key, step);
                    }
                }
                let before = seen.insert(pieces.signature(), truth.clone());
                assert!(before.is_none_or(|before| before == truth));
                if random.below(20) == 0 {
                    assert_eq!(contents(&pieces), truth);
                    let start = random.below(60) as u64;
                    let bytes = vec![(start, start + 9), (start / 2, start / 2 + 3)];
                    let bytes = Ranges::of(bytes.into_iter().map(scaled).collect());
                    let mut inside = vec![None; 80];
                    pieces.within(&bytes, |(start, end), word| {
                        inside[(start / SCALE) as usize..(end / SCALE) as usize].fill(Some(word));
                    });
                    let (first, end) = (start as usize, start as usize + 9);
                    let is_one = truth[first..end].windows(2).all(|two| two[0] == two[1]);
                    let word = pieces.word_of(scaled((start, start + 9)));
                    assert_eq!(word, truth[first].filter(|_| is_one));
                    for (at, &word) in truth.iter().enumerate() {
                        let expected = word.filter(|_| bytes.contains(at as u64 * SCALE));
                        assert_eq!(inside[at], expected);
                    }
                }
            }
            // With many changes what there is around one is mostly new even so.
            let least = if few == 40 { 400 } else { 2000 };
            assert!(few == 40 && !is_local || followed > least, "{followed}");
        }
    }
}
