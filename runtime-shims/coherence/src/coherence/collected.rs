//! Contributions, atomic operations that commute and whose old value nobody asks for: collected, and combined with the
//! object in one go where the rank synchronises.
//!
//! Guarantee: at a synchronisation, a release or an acquisition, and before any other atomic access to the
//! page, what this rank collected has been combined with the objects at the ranks that hold them. Until
//! then this rank's own loads and stores see its contributions, and stand to them in the program's order:
//!
//! * its copy of the page is changed at once, and so is the twin: what the two differ in are stores alone,
//!   sent after what was collected, and
//! * a store since the last synchronisation says that no other rank accesses the object: a contribution after it
//!   is another store.
//!
//! What nobody has combined yet no other rank can have asked for: it would have to synchronise with this one.
//! What this rank holds itself it changes there. Integers come out exactly; floating-point numbers are
//! rounded as the sums of the ranks are, which are added as they come.

use std::collections::HashMap;

use okl_abi::AtomicOp;

use super::{Access, Coherence, Event, Machine, Run};
use crate::{
    atomics_values::apply,
    contents::Contents,
    geometry::{
        owners::Owned,
        ranges::{Range, Ranges},
    },
    layout::{PAGE, Page},
    page_table::flag,
};

/// Most pages for which contributions are collected at a time.
const MOST: usize = 4096;
/// Contributions are collected for words of this size, each with objects of one size and for one operation.
const WORD: usize = 8;
const WORDS: usize = PAGE / WORD;

/// An object of 1, 2, 4 or 8 bytes, aligned to them, in a page.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// The page it lies in.
    pub page: Page,
    /// Where in the page it begins.
    pub offset: usize,
    /// Its bytes.
    pub size: usize,
}

impl Object {
    /// Its place in a memory file.
    pub fn bytes(self) -> Range {
        let start = u64::from(self.page) * PAGE as u64 + self.offset as u64;
        (start, start + self.size as u64)
    }

    fn range(self) -> std::ops::Range<usize> {
        self.offset..self.offset + self.size
    }

    fn value_in(self, contents: &[u8; PAGE]) -> u64 {
        let mut word = [0; WORD];
        word[..self.size].copy_from_slice(&contents[self.range()]);
        u64::from_le_bytes(word)
    }

    fn set_in(self, contents: &mut [u8; PAGE], value: u64) {
        contents[self.range()].copy_from_slice(&value.to_le_bytes()[..self.size]);
    }

    /// Its value in the page itself.
    fn value_of(self, contents: &Contents) -> u64 {
        let mut word = [0; WORD];
        contents.read(self.offset, &mut word[..self.size]);
        u64::from_le_bytes(word)
    }

    /// The value that the object has now in the page itself.
    pub(super) fn contribute_to(self, contents: &Contents, operation: AtomicOp, value: u64) -> u64 {
        let new = apply(operation, self.value_of(contents), value, self.size as i32);
        contents.write(self.offset, &new.to_le_bytes()[..self.size]);
        new
    }

    /// The value that the object has now in a copy of its page.
    pub(super) fn contribute(
        self,
        contents: &mut [u8; PAGE],
        operation: AtomicOp,
        value: u64,
    ) -> u64 {
        let old = self.value_in(contents);
        let new = apply(operation, old, value, self.size as i32);
        self.set_in(contents, new);
        new
    }
}

/// What a rank has collected of a page.
struct CollectedOfPage {
    page: Page,
    /// Who holds what.
    owners: Vec<Owned>,
    /// Whether other bytes that differ from the twin cannot be there than `uncertain` ones.
    is_declared: bool,
    /// What this rank declared to write, and will hold from the next synchronisation on.
    written: Ranges,
    /// What it may have written.
    uncertain: Ranges,
    /// Words with contributions.
    words: Vec<u16>,
    /// For each of all words: operation and size of its objects, and which of them have a value; 0 for none.
    kinds: [u8; WORDS],
    filled: [u8; WORDS],
    values: [u64; WORDS],
}

/// What a rank has collected.
#[derive(Default)]
pub(super) struct Collected {
    pages: Vec<Box<CollectedOfPage>>,
    /// Where the collection of a page is.
    places: HashMap<Page, usize>,
    /// The one used last.
    last: usize,
    spare: Vec<Box<CollectedOfPage>>,
}

impl Collected {
    pub(super) fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    fn find(&mut self, page: Page) -> Option<usize> {
        if self
            .pages
            .get(self.last)
            .is_none_or(|last| last.page != page)
        {
            self.last = *self.places.get(&page)?;
        }
        Some(self.last)
    }

    fn add(&mut self, page: Page) -> &mut CollectedOfPage {
        let mut new = self.spare.pop().unwrap_or_else(|| {
            Box::new(CollectedOfPage {
                page,
                owners: Vec::new(),
                is_declared: false,
                written: Ranges::default(),
                uncertain: Ranges::default(),
                words: Vec::new(),
                kinds: [0; WORDS],
                filled: [0; WORDS],
                values: [0; WORDS],
            })
        });
        new.page = page;
        self.last = self.pages.len();
        self.places.insert(page, self.last);
        self.pages.push(new);
        &mut self.pages[self.last]
    }

    fn remove(&mut self, index: usize) -> Box<CollectedOfPage> {
        let removed = self.pages.swap_remove(index);
        self.places.remove(&removed.page);
        if let Some(moved) = self.pages.get(index) {
            self.places.insert(moved.page, index);
        }
        removed
    }

    fn keep(&mut self, mut used: Box<CollectedOfPage>) {
        for word in used.words.drain(..) {
            used.kinds[word as usize] = 0;
            used.filled[word as usize] = 0;
        }
        self.spare.push(used);
    }
}

/// What a contribution to an object is.
enum Contribution {
    /// One where it is held: here.
    Here,
    /// One to be collected, unless this rank has stored to the object.
    Elsewhere { may_be_store: bool },
    /// A store.
    Store,
    /// One of bytes of different kinds.
    InParts,
}

impl CollectedOfPage {
    fn kind_of(&self, object: Object, rank: u32) -> Contribution {
        let Some(owner) = self.owner(object) else {
            return Contribution::InParts;
        };
        if owner == rank {
            return Contribution::Here;
        }
        if !self.is_declared {
            return Contribution::Elsewhere { may_be_store: true };
        }
        let bytes = Ranges::of(vec![object.bytes()]);
        let among = |those: &Ranges| those.intersection(&bytes).bytes() as usize;
        match (among(&self.written), among(&self.uncertain)) {
            (0, 0) => Contribution::Elsewhere {
                may_be_store: false,
            },
            (0, some) if some == object.size => Contribution::Elsewhere { may_be_store: true },
            (some, _) if some == object.size => Contribution::Store,
            _ => Contribution::InParts,
        }
    }

    /// The rank that holds an object, if it is one.
    fn owner(&self, object: Object) -> Option<u32> {
        let (start, end) = object.bytes();
        let index = self.owners.partition_point(|piece| piece.end <= start);
        let piece = self.owners.get(index)?;
        (piece.start <= start && end <= piece.end).then_some(piece.owner)
    }

    /// Whether it could be collected: a word has objects of one size and for one operation.
    fn collect(&mut self, object: Object, operation: AtomicOp, value: u64) -> bool {
        let word = object.offset / WORD;
        let kind = (operation as u8) << 2 | object.size.ilog2() as u8;
        let at = object.offset % WORD;
        if self.filled[word] == 0 {
            self.words.push(word as u16);
            self.kinds[word] = kind;
            self.values[word] = 0;
        } else if self.kinds[word] != kind {
            return false;
        }
        let shift = 8 * at as u32;
        let mask = u64::MAX >> (64 - 8 * object.size as u32);
        let before = self.values[word] >> shift & mask;
        let after = match self.filled[word] & 1 << at {
            0 => value & mask,
            _ => apply(operation, before, value, object.size as i32),
        };
        self.filled[word] |= 1 << at;
        self.values[word] = self.values[word] & !(mask << shift) | after << shift;
        true
    }

    fn contributions(&self) -> impl Iterator<Item = (Object, AtomicOp, u64)> {
        self.words.iter().flat_map(move |&word| {
            let word = word as usize;
            let size = 1 << (self.kinds[word] & 3);
            let operation = AtomicOp::ALL[usize::from(self.kinds[word] >> 2)];
            let filled = (0..WORD).filter(move |at| self.filled[word] & 1 << at != 0);
            filled.map(move |at| {
                let object = Object {
                    page: self.page,
                    offset: word * WORD + at,
                    size,
                };
                (object, operation, self.values[word] >> (8 * at))
            })
        })
    }
}

impl<M: Machine> Coherence<M> {
    /// Collects the contribution of `value` to an object, by an operation that commutes. False where its bytes
    /// are held by several ranks: then [`Coherence::contribute_in_parts`] does it.
    pub fn collect(&mut self, object: Object, operation: AtomicOp, value: u64) -> bool {
        let rank = self.rank;
        let collected = match self.collected.find(object.page) {
            Some(index) => &mut self.collected.pages[index],
            None => self.begin_to_collect(object.page),
        };
        let may_be_store = match collected.kind_of(object, rank) {
            Contribution::InParts => return false,
            Contribution::Here => {
                self.machine
                    .combine(object.bytes().0, object.size, operation, value, rank);
                // Else it would seem to be a store.
                if let Some(twin) = self.pages.twin(object.page) {
                    object.contribute(twin, operation, value);
                }
                return true;
            }
            Contribution::Store => {
                object.contribute_to(self.machine.contents(object.page), operation, value);
                return true;
            }
            Contribution::Elsewhere { may_be_store } => may_be_store,
        };
        if self.contribute_to_copy(object, operation, value) && may_be_store {
            return true;
        }
        let collected = self.collected.find(object.page);
        let collected = &mut self.collected.pages[collected.expect("it has begun")];
        if !collected.collect(object, operation, value) {
            self.combine_page(object.page);
            let taken = self
                .begin_to_collect(object.page)
                .collect(object, operation, value);
            assert!(taken, "nothing has been collected yet");
        }
        true
    }

    /// Contributes to this rank's copy of an object. Whether there has been a store to it.
    fn contribute_to_copy(&mut self, object: Object, operation: AtomicOp, value: u64) -> bool {
        if self.pages.access(object.page) == Access::None {
            return false;
        }
        let contents = self.machine.contents(object.page);
        let old = object.value_of(contents);
        let new = object.contribute_to(contents, operation, value);
        let Some(twin) = self.pages.twin(object.page) else {
            return false;
        };
        let is_changed = object.value_in(twin) != old;
        if !is_changed {
            object.set_in(twin, new);
        }
        is_changed
    }

    fn begin_to_collect(&mut self, page: Page) -> &mut CollectedOfPage {
        if self.collected.pages.len() >= MOST {
            self.combine();
        }
        let start = u64::from(page) * PAGE as u64;
        let bytes = (start, start + PAGE as u64);
        if self.pages.has(page, flag::SECTION) {
            self.note_contribution(page);
        } else {
            self.note_change_at_home(page);
        }
        let owners = self.holders((start, start + PAGE as u64));
        let bytes = Ranges::of(vec![bytes]);
        let new = self.collected.add(page);
        new.owners = owners;
        new.is_declared = self.pages.has(page, flag::SECTION | flag::ENTERING);
        if new.is_declared {
            let (written, uncertain) = self.sections.may_have_written();
            new.written = written.intersection(&bytes);
            new.uncertain = uncertain.intersection(&bytes);
        }
        new
    }

    /// Who holds bytes of one page.
    fn holders(&self, (start, end): Range) -> Vec<Owned> {
        let page = (start / PAGE as u64) as Page;
        if self.pages.has(page, flag::SECTION) {
            return self
                .sections
                .owners()
                .recall(&Ranges::of(vec![(start, end)]));
        }
        vec![Owned {
            start,
            end,
            owner: self.pages.home(page),
            shared: true,
        }]
    }

    /// Combines all that has been collected with the objects.
    pub fn combine(&mut self) {
        if self.send_collected() {
            self.machine.settle();
        }
    }

    /// The same, but that it is complete after [`Machine::settle`]. Whether there was anything.
    pub(super) fn send_collected(&mut self) -> bool {
        let some = !self.collected.is_empty();
        while !self.collected.is_empty() {
            let page = self.collected.pages[self.collected.pages.len() - 1].page;
            self.send_collected_of(page);
        }
        some
    }

    /// Combines what has been collected for a page.
    pub(super) fn combine_page(&mut self, page: Page) {
        if self.send_collected_of(page) {
            self.machine.settle();
        }
    }

    /// Combines what has been collected for pages whose contents are fetched.
    pub(super) fn combine_pages(&mut self, run: Run) {
        if !self.collected.is_empty() {
            for page in run.pages() {
                self.combine_page(page);
            }
        }
    }

    /// Sends what has been collected for a page; combined after [`Machine::settle`]. Whether there was any.
    pub(super) fn send_collected_of(&mut self, page: Page) -> bool {
        let Some(index) = self.collected.find(page) else {
            return false;
        };
        let collected = self.collected.remove(index);
        let mut bytes = 0;
        let mut to = None;
        for (object, operation, value) in collected.contributions() {
            let owner = collected.owner(object).expect("it was collected");
            self.machine
                .combine(object.bytes().0, object.size, operation, value, owner);
            bytes += object.size;
            to.get_or_insert(owner);
        }
        self.collected.keep(collected);
        if let Some(to) = to {
            self.counts.diffs += 1;
            self.counts.diff_bytes += bytes as u64;
            M::tell(|| Event::Diff { page, bytes, to });
        }
        to.is_some()
    }

    /// Contributes to an object whose bytes several ranks hold, or of which this rank declared to write a part, and
    /// has done so, while no other rank does.
    pub fn contribute_in_parts(&mut self, object: Object, operation: AtomicOp, value: u64) {
        self.combine();
        let contents = self.machine.contents(object.page).copy();
        let (written, _) = self.sections.may_have_written();
        let first = object.bytes().0 - object.offset as u64;
        let mut foreign = self.holders(object.bytes());
        foreign.retain(|piece| piece.owner != self.rank);
        for piece in &foreign {
            for at in piece.start..piece.end {
                let offset = (at - first) as usize;
                let twin = self.pages.twin(object.page);
                let is_stored = twin.is_some_and(|twin| twin[offset] != contents[offset]);
                if !is_stored && !written.contains(at) {
                    self.machine.pull(piece.owner, &[(at, at + 1)]);
                }
            }
        }
        let contents = self.machine.contents(object.page);
        let new = object.contribute_to(contents, operation, value);
        let contents = contents.copy();
        if let Some(twin) = self.pages.twin(object.page) {
            object.set_in(twin, new);
        }
        for piece in foreign {
            let (start, end) = (piece.start - first, piece.end - first);
            let bytes = &contents[start as usize..end as usize];
            self.machine
                .put(object.page, start as usize, bytes, piece.owner);
        }
        self.machine.settle();
    }
}
