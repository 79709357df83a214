//! Pieces of memory with a word each, whose changes are remembered and made when somebody looks.
//!
//! What follows from a state, or from what there is in [some chunks](Parts), is looked up by the number that stands for it.
//! So a program that repeats itself goes from one known state to the next, and what these are in detail does not matter.
//! Guarantee: whoever looks finds the pieces as if every change had been made at once.

use std::{
    cell::{RefCell, RefMut},
    collections::HashMap,
    rc::Rc,
};

use super::{
    cache::Cache,
    parts::{Parts, chunks_around, start_of_chunk},
    ranges::{Range, Ranges, gallop},
    signature::{ByHalf, Signature},
};

/// Bytes, and the word that they have or `None`.
pub(crate) type Set = (Range, Option<u32>);

/// Bytes, and the word that they have.
type Piece = (Range, u32);

/// So many pieces are a block.
const BLOCK: usize = if cfg!(test) { 4 } else { 128 };

/// Pieces of bytes: sorted, disjoint, and neighbours that are alike are one. They lie in blocks: one piece changes without
/// moving many others, and many change in one pass.
#[derive(Debug, Default)]
struct Pieces {
    /// None of them is empty, nor of more than twice as many pieces as a [`BLOCK`].
    blocks: Vec<Vec<Piece>>,
}

/// The place of a piece: its block, and which it is there.
type Place = (usize, usize);

impl Pieces {
    fn iter(&self) -> impl Iterator<Item = Piece> + '_ {
        self.blocks.iter().flatten().copied()
    }

    fn at(&self, (block, index): Place) -> Option<Piece> {
        self.blocks.get(block)?.get(index).copied()
    }

    /// The place of the first piece that ends behind `position`, which is not before `from`.
    fn behind(&self, (mut block, mut index): Place, position: u64) -> Place {
        let ends_before = |&((_, end), _): &Piece| end <= position;
        let is_done = |block: &Vec<Piece>| block.last().is_none_or(ends_before);
        let blocks = &self.blocks[block..];
        if blocks.first().is_none_or(is_done) {
            block += gallop(blocks, is_done);
            index = 0;
        }
        if let Some(block) = self.blocks.get(block) {
            index += gallop(&block[index..], ends_before);
        }
        (block, index)
    }

    /// The pieces that end behind `position`.
    fn from(&self, position: u64) -> impl Iterator<Item = Piece> + '_ {
        let (block, index) = self.behind((0, 0), position);
        let blocks = self.blocks[block..].iter().flatten();
        blocks.skip(index).copied()
    }

    /// Hands `sink` each of some chunks, with what stands for what lies there; whatever way led to it.
    fn chunks(&self, chunks: std::ops::Range<u64>, mut sink: impl FnMut(u64, Signature)) {
        let mut pieces = self.from(start_of_chunk(chunks.start)).peekable();
        for chunk in chunks {
            let (first, last) = (start_of_chunk(chunk), start_of_chunk(chunk + 1));
            let mut signature = Signature::NOTHING;
            while let Some(&((start, end), word)) = pieces.peek()
                && start < last
            {
                let (from, to) = (start.max(first), end.min(last));
                signature = signature.with(from).with(to).with(word.into());
                if end > last {
                    break;
                }
                pieces.next();
            }
            sink(chunk, signature);
        }
    }

    /// Makes changes one after another.
    fn set(&mut self, mut sets: &[Set]) {
        while !sets.is_empty() {
            let pairs = sets.windows(2);
            let sorted = pairs.take_while(|pair| pair[0].0.1 <= pair[1].0.0).count();
            let (now, later) = sets.split_at(sorted + 1);
            self.set_sorted(now);
            sets = later;
        }
    }

    /// Makes changes that are sorted and disjoint.
    fn set_sorted(&mut self, mut sets: &[Set]) {
        while let Some(&((start, _), _)) = sets.first() {
            // What ends where these begin may be alike.
            let starts_before = |block: &Vec<Piece>| block[0].0.0 < start;
            let mut first = self.blocks.partition_point(starts_before).saturating_sub(1);
            let mut last = (first + 1).min(self.blocks.len());
            let mut count = 0;
            let next_start = |last: usize| self.blocks.get(last).map(|block| block[0].0.0);
            for &((start, end), _) in sets {
                if count > 0 && next_start(last).is_some_and(|next| next <= start) {
                    break;
                }
                count += 1;
                while next_start(last).is_some_and(|next| next <= end) {
                    last += 1;
                }
            }
            let (now, later) = sets.split_at(count);
            let mut pieces = changed(self.blocks[first..last].iter().flatten().copied(), now);
            if pieces.len() < BLOCK / 2 && first > 0 {
                first -= 1;
                let mut more = std::mem::take(&mut self.blocks[first]);
                more.append(&mut pieces);
                pieces = more;
            }
            match pieces.len() {
                0 => drop(self.blocks.drain(first..last)),
                count if count <= 2 * BLOCK => {
                    self.blocks.splice(first..last, [pieces]);
                }
                _ => {
                    let blocks = pieces.chunks(BLOCK).map(<[Piece]>::to_vec);
                    self.blocks.splice(first..last, blocks);
                }
            }
            sets = later;
        }
    }

    /// Hands `sink` the parts of `bytes` that lie in a piece, with that piece.
    fn meet(&self, bytes: &Ranges, mut sink: impl FnMut(Range, Range, u32)) {
        let mut place = (0, 0);
        for (start, end) in bytes.iter() {
            place = self.behind(place, start);
            while let Some((piece, word)) = self.at(place)
                && piece.0 < end
            {
                sink((piece.0.max(start), piece.1.min(end)), piece, word);
                if piece.1 > end {
                    break;
                }
                place = self.behind(place, piece.1);
            }
        }
    }
}

/// What `pieces` become by changes that are sorted and disjoint.
fn changed(pieces: impl Iterator<Item = Piece>, sets: &[Set]) -> Vec<Piece> {
    let mut changed: Vec<Piece> = Vec::with_capacity(pieces.size_hint().0 + 2 * sets.len());
    let mut put = |(start, end): Range, word: u32| match changed.last_mut() {
        _ if start >= end => {}
        Some((last, other)) if last.1 == start && *other == word => last.1 = end,
        _ => changed.push(((start, end), word)),
    };
    let mut sets = sets.iter().copied().peekable();
    // All before is done.
    let mut from = 0;
    for ((start, end), word) in pieces {
        while let Some((bytes, new)) = sets.next_if(|&((first, _), _)| first < end) {
            put((start.max(from), bytes.0), word);
            if let Some(new) = new {
                put(bytes, new);
            }
            from = bytes.1;
        }
        put((start.max(from), end), word);
    }
    for (bytes, new) in sets {
        if let Some(new) = new {
            put(bytes, new);
        }
    }
    changed
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
                pieces.set(&step.sets);
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
        pieces.set(&sets);
        for &(bytes, _) in &sets {
            let chunks = chunks_around(bytes);
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
        let ((first, last), word) = pieces.from(start).next()?;
        (first <= start && end <= last).then_some(word)
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
        for (range, word) in self.now().iter() {
            sink(range, word);
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
