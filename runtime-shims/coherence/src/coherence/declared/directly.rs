//! What a rank that releases something tells one other rank directly, where it knows that this one waits for it: all that it
//! has announced and heard since the interval began, and with it bytes that the other one is expected to read.
//!
//! Guarantee: who acquires what it was told directly is as if it had heard of all announcements before that release; what it
//! reads later is as it would have been copied from the owner. Nothing depends on what is expected but what moves.
//!
//! * What comes along are bytes that the sender owns, and that it has certainly written since it last told the same rank
//!   something: until that acquires them nobody else may write them, and it may not read them.
//! * They wait on the side until a declaration would copy them from that owner. They are valid then, as what is copied is; so
//!   nobody has bytes of which their owner does not know.
//! * They are not used any more when somebody is known to have written them since, as far as that is known: what a rank tells
//!   directly comes in order, so what is announced in any other way may be newer. Nor when this rank has written them itself,
//!   has contributed to anything, or runs or ran a stretch, of which nobody knows what it writes.
//! * They are forgotten when the interval ends.

use std::{
    collections::{BTreeMap, HashSet},
    rc::Rc,
};

use super::{Coherence, Machine, Mode, SectionMode, bytes_of, bytes_of_page, pages_touched};
use crate::{
    coherence::{Heard, runs_of},
    geometry::{
        cache::Cache,
        ranges::{Range, Ranges},
        signature::Signature,
    },
};

/// More is not sent unasked, nor in more pieces.
const MOST_BYTES: u64 = 1 << 16;
const MOST_RANGES: usize = 1 << 10;

/// So many releases are remembered for who was told nothing since.
const MOST_RELEASES: usize = 1 << 14;

/// What a rank is told directly.
#[derive(Debug)]
pub struct Message {
    /// The rank that tells it.
    pub from: u32,
    /// What that has announced; `None` where these may be any pages.
    pub own: Option<Heard>,
    /// What it has heard that others than the receiver announced; `None` as before.
    pub others: Option<Heard>,
    /// Bytes that it owns, in rising order, and has written.
    pub ranges: Vec<(u64, u64)>,
    /// What they are, one after another.
    pub bytes: Vec<u8>,
}

/// Bytes that came with a message.
struct Waiting {
    owner: u32,
    ranges: Vec<Range>,
    bytes: Vec<u8>,
    /// Those that may be used.
    live: Ranges,
}

/// What ranks tell each other directly, in the interval that runs.
#[derive(Default)]
pub(super) struct Directly {
    /// The number of the interval.
    interval: u64,
    /// Stands for what all ranks are expected to declare in it.
    expected: Option<Signature>,
    /// What this rank has certainly written at each release, with what stands for it, and how much of that each rank was told
    /// of.
    written: Vec<(Signature, Ranges)>,
    told: BTreeMap<u32, usize>,
    waiting: Vec<Waiting>,
    /// What was announced in another way; any bytes where that is not known.
    elsewhere: Ranges,
    known_elsewhere: HashSet<Signature>,
    is_any_elsewhere: bool,
    /// What ranks are expected to read, and what to send them.
    reads: Cache<Ranges>,
    to_send: Cache<Rc<Vec<Range>>>,
}

impl Directly {
    /// In the interval that runs all ranks are expected to declare what `expected` stands for.
    pub(super) fn expect(&mut self, expected: Signature) {
        self.expected = Some(expected);
    }

    /// This rank releases what it has certainly written.
    pub(super) fn note_release<'a>(
        &mut self,
        written: impl Iterator<Item = &'a (Signature, Ranges)>,
    ) {
        if self.expected.is_none() {
            return;
        }
        for one in written.filter(|(_, bytes)| !bytes.is_empty()) {
            if self.written.last().is_none_or(|(last, _)| *last != one.0) {
                self.written.push(one.clone());
            }
        }
        if self.written.len() > MOST_RELEASES {
            self.written.clear();
            self.told.clear();
        }
    }

    /// This rank has heard something otherwise than from who announced it.
    fn hear_elsewhere(&mut self, heard: Option<&Heard>) {
        let Some(Heard { pages, bytes }) = heard else {
            self.is_any_elsewhere = true;
            return self.waiting.clear();
        };
        let mut new = Ranges::default();
        if !pages.is_empty() {
            let runs = runs_of(&mut pages.clone());
            new = Ranges::of(runs.into_iter().map(bytes_of).collect());
        }
        for (id, bytes) in bytes {
            if self.known_elsewhere.insert(*id) {
                new = new.union(bytes);
            }
        }
        if !new.is_empty() {
            self.elsewhere = self.elsewhere.union(&new);
            self.forget(&new);
        }
    }

    /// Bytes that wait are not to be used any more.
    pub(super) fn forget(&mut self, bytes: &Ranges) {
        self.waiting.retain_mut(|one| {
            one.live = one.live.minus(bytes);
            !one.live.is_empty()
        });
    }

    /// Nor are any.
    pub(super) fn forget_all(&mut self) {
        self.waiting.clear();
    }
}

impl SectionMode {
    /// What `rank` is expected to read in the interval that runs.
    fn expected_reads(&mut self, rank: u32) -> Option<Ranges> {
        let expected = self.directly.expected?;
        let key = expected.with(u64::from(rank));
        if let Some(reads) = self.directly.reads.get(key) {
            return Some(reads.clone());
        }
        let exchanged = self.exchanged.get(expected)?;
        let is_read = |mode| matches!(mode, Mode::Read | Mode::MayRead | Mode::MayWrite);
        let shapes = exchanged.shapes(rank as usize, is_read);
        let ranges = shapes.flat_map(|shape| shape.ranges().iter().collect::<Vec<Range>>());
        let reads = Ranges::of(ranges.collect());
        let pieces = reads.len();
        self.directly.reads.insert(key, reads.clone(), pieces);
        Some(reads)
    }
}

impl<M: Machine> Coherence<M> {
    /// A region begins, or has gone on after a synchronisation: on all ranks.
    pub(crate) fn begin_direct_interval(&mut self) {
        let directly = &mut self.sections.directly;
        directly.interval += 1;
        directly.expected = None;
        directly.written.clear();
        directly.told.clear();
        directly.waiting.clear();
        directly.elsewhere = Ranges::default();
        directly.known_elsewhere.clear();
        directly.is_any_elsewhere = false;
    }

    /// The number of the interval that runs, the same on all ranks.
    pub fn interval(&self) -> u64 {
        self.sections.directly.interval
    }

    /// This rank has released something, and tells `rank` directly: what is to come along. It is told nothing of the same later.
    pub fn to_send_directly(&mut self, rank: u32) -> Rc<Vec<(u64, u64)>> {
        let mode = &mut self.sections;
        let all = mode.directly.written.len();
        let from = mode.directly.told.insert(rank, all).unwrap_or(0);
        let Some(expected) = mode.directly.expected.filter(|_| from < all) else {
            return Rc::default();
        };
        let key = expected
            .with(u64::from(rank))
            .with_signature(mode.owners.signature());
        let written = &mode.directly.written[from..];
        let key = written
            .iter()
            .fold(key, |key, (id, _)| key.with_signature(*id));
        if let Some(known) = mode.directly.to_send.get(key) {
            return Rc::clone(known);
        }
        let Some(reads) = mode.expected_reads(rank) else {
            return Rc::default();
        };
        let written = mode.directly.written[from..].iter();
        let wanted = written.fold(Ranges::default(), |all, (_, bytes)| {
            all.union(&bytes.intersection(&reads))
        });
        let wanted = mode.owners.within_of(&wanted, self.rank);
        let is_much = wanted.bytes() > MOST_BYTES || wanted.len() > MOST_RANGES;
        let wanted: Vec<Range> = match is_much {
            true => Vec::new(),
            false => wanted.iter().collect(),
        };
        let wanted = Rc::new(wanted);
        let to_send = &mut mode.directly.to_send;
        to_send.insert(key, Rc::clone(&wanted), wanted.len());
        wanted
    }

    /// As [`Coherence::acquire`], but of what other ranks have told this one directly, in order.
    pub fn acquire_directly(&mut self, messages: Vec<Message>) {
        self.counts.acquires_directly += 1;
        self.acquire_what(Some(messages));
    }

    /// What this rank hears when it acquires something: as [`Machine::announced`].
    pub(in crate::coherence) fn hear(
        &mut self,
        directly: Option<Vec<Message>>,
        has_copies: bool,
    ) -> Option<Heard> {
        let Some(messages) = directly else {
            let heard = self.machine.announced(has_copies);
            self.sections.directly.hear_elsewhere(heard.as_ref());
            return heard;
        };
        let is_usable = self.may_use_waiting() && self.is_between_nests();
        let directly = &mut self.sections.directly;
        let mut all = Some(Heard::default());
        for message in messages {
            let Message {
                from,
                own,
                others,
                ranges,
                bytes,
            } = message;
            directly.hear_elsewhere(others.as_ref());
            match &own {
                // It may not know itself what it has heard.
                None => directly.hear_elsewhere(None),
                Some(_) if directly.waiting.is_empty() => {}
                Some(own) => {
                    let sets = own.bytes.iter().flat_map(|(_, bytes)| bytes.iter());
                    let pages = own.pages.iter().map(|&page| bytes_of_page(page));
                    directly.forget(&Ranges::of(sets.chain(pages).collect()));
                }
            }
            if is_usable && !directly.is_any_elsewhere && !ranges.is_empty() {
                let live = Ranges::of(ranges.clone()).minus(&directly.elsewhere);
                directly.waiting.push(Waiting {
                    owner: from,
                    ranges,
                    bytes,
                    live,
                });
            }
            all = all.and_then(|mut all| {
                for heard in [own?, others?] {
                    all.pages.extend(heard.pages);
                    all.bytes.extend(heard.bytes);
                }
                Some(all)
            });
        }
        all
    }

    /// Whether what came with messages is as the owner has it.
    fn may_use_waiting(&self) -> bool {
        let interval = &self.sections.interval;
        interval.contributed.is_empty() && !interval.unnoticed
    }

    /// Takes what waits of `wanted`, which `owner` has. What is missing; `None` where nothing waits.
    pub(super) fn take_waiting(&mut self, owner: u32, wanted: &[Range]) -> Option<Vec<Range>> {
        if self.sections.directly.waiting.is_empty() {
            return None;
        }
        if !self.may_use_waiting() {
            self.sections.directly.forget_all();
            return None;
        }
        let mut missing = Ranges::of(wanted.to_vec());
        let mut waiting = std::mem::take(&mut self.sections.directly.waiting);
        for one in waiting.iter_mut().filter(|one| one.owner == owner) {
            let here = one.live.intersection(&missing);
            if here.is_empty() {
                continue;
            }
            missing = missing.minus(&here);
            self.counts.bytes_along += here.bytes();
            one.live = one.live.minus(&here);
            let mut before = 0;
            for &(start, end) in &one.ranges {
                for (first, last) in here.intersection(&Ranges::of(vec![(start, end)])).iter() {
                    let at = before + (first - start) as usize;
                    let bytes = &one.bytes[at..at + (last - first) as usize];
                    self.write_contents((first, last), bytes);
                }
                before += (end - start) as usize;
            }
        }
        waiting.retain(|one| !one.live.is_empty());
        self.sections.directly.waiting = waiting;
        Some(missing.iter().collect())
    }

    /// Writes `bytes` to this rank's copy.
    fn write_contents(&mut self, range: Range, mut bytes: &[u8]) {
        for page in pages_touched(range) {
            let (first, last) = bytes_of_page(page);
            let start = (range.0.max(first) - first) as usize;
            let end = (range.1.min(last) - first) as usize;
            let (here, rest) = bytes.split_at(end - start);
            self.machine.contents(page).write(start, here);
            bytes = rest;
        }
    }
}
