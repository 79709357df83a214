//! Loop nests that declare what they access, in the simulated cluster: each runs in several steps, between
//! which other ranks and threads do theirs.

use std::cell::OnceCell;

use super::*;
use crate::{
    coherence::declared::{Declared, Mode},
    geometry::{ranges::Ranges, shape::Shape},
};

/// What a loop nest of one rank accesses.
#[derive(Clone)]
pub(super) struct Nest {
    pub(super) sections: Vec<Declared>,
    /// Of what it may write it writes only bytes whose position has this remainder, and reads no others.
    pub(super) scattered: Option<(usize, usize)>,
}

/// A nest runs in several steps, between which other ranks and threads do theirs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Declare,
    First,
    Second,
}

impl Part {
    const ALL: [Self; 3] = [Self::Declare, Self::First, Self::Second];
}

/// One access of a program to one byte.
pub(super) struct Single {
    pub(super) at: usize,
    pub(super) what: What,
}

pub(super) enum What {
    /// This is what it finds.
    Read(u8),
    /// It may mark what it writes.
    Write { value: u8, marked: bool },
}

impl Nest {
    pub(super) fn signature(&self) -> Signature {
        let mut words = Vec::new();
        for one in &self.sections {
            words.extend([one.mode as u64, one.object.0, one.object.1]);
            one.shape.push_to(&mut words);
        }
        words.into_iter().fold(Signature::START, Signature::with)
    }

    pub(super) fn bytes(&self, mode: Mode) -> Ranges {
        let those = self.sections.iter().filter(|one| one.mode == mode);
        those.fold(Ranges::default(), |all, one| all.union(&one.shape.ranges()))
    }

    /// As in regions with contributions.
    pub(super) fn keep_nothing(&mut self) {
        self.sections.retain(|one| one.mode != Mode::Keep);
    }

    /// Whether it has yet to store to a part of these 8 bytes, or to read one: no program contributes to them before. (Where
    /// a part of an object is current, what a contribution carries into it is not.)
    pub(super) fn accesses_part_of(&self, page: Page, word: usize) -> bool {
        let start = (page as usize * PAGE + word) as u64;
        let bytes = Ranges::of(vec![(start, start + 8)]);
        let read = self.bytes(Mode::Read).union(&self.bytes(Mode::MayRead));
        let is_part = |those: &Ranges| (1..8).contains(&those.intersection(&bytes).bytes());
        is_part(&self.bytes(Mode::Write)) || is_part(&read)
    }
}

pub(super) fn section(
    mode: Mode,
    start: usize,
    element: usize,
    dimensions: &[(usize, usize)],
) -> Declared {
    let dimensions = dimensions
        .iter()
        .map(|&(stride, count)| (stride as i64, count as i64));
    let shape = Shape::new(start as u64, element as i64, dimensions)
        .expect("small")
        .expect("not empty");
    Declared {
        mode,
        object: shape.hull(),
        shape,
    }
}

/// The same as sections of an object.
pub(super) fn within(object: (usize, usize), mut sections: Vec<Declared>) -> Vec<Declared> {
    for one in &mut sections {
        one.object = (object.0 as u64, object.1 as u64);
    }
    sections
}

impl Job {
    /// Runs a nest on `rank`.
    pub(super) fn run(&mut self, rank: usize, nest: &Nest, random: &mut Random) {
        for part in Part::ALL {
            self.run_part(rank, nest, part, random);
        }
    }

    /// Runs a part of a nest: what it reads is current, what it writes needs no fault in section mode.
    pub(super) fn run_part(&mut self, rank: usize, nest: &Nest, part: Part, random: &mut Random) {
        if part == Part::Declare {
            return self.ranks[rank].declare(nest.signature(), || nest.sections.clone());
        }
        // Nothing closes a page meanwhile: where it was open a moment ago, it is.
        let mut open = None;
        let memories = self.memories();
        for one in self.accesses_of(rank, nest, part, random) {
            let (page, offset) = (page_of(one.at), one.at % PAGE);
            let memory = &memories[rank];
            match (one.what, open) {
                (What::Read(value), Some((before, _))) if before == page => {
                    assert_read(rank, one.at, memory.byte(page, offset), value);
                }
                (What::Write { value, marked }, Some((before, true))) if before == page => {
                    memory.set_byte(page, offset, value);
                    self.truth[page as usize][offset] = value;
                    self.note_written(rank, one.at, marked);
                }
                (what, _) => {
                    let writes = matches!(what, What::Write { .. });
                    self.perform(rank, Single { at: one.at, what });
                    // What serial code does is announced, byte by byte.
                    open = (rank != 0 || !self.unannounced).then_some((page, writes));
                }
            }
        }
    }

    /// The same, but that the accesses are made while the protocol goes on, by another thread of the rank, or when it is
    /// [waited for](Job::wait_for_thread).
    pub(super) fn begin_part(&mut self, rank: usize, nest: &Nest, part: Part, random: &mut Random) {
        if part == Part::Declare {
            return self.run_part(rank, nest, part, random);
        }
        let all = self.accesses_of(rank, nest, part, random);
        self.cluster.borrow_mut().threads[rank].extend(all);
    }

    /// A rank's other thread makes the accesses that it has yet to make.
    pub(super) fn wait_for_thread(&mut self, rank: usize) {
        loop {
            let next = self.cluster.borrow_mut().threads[rank].pop_front();
            match next {
                Some(one) => self.perform(rank, one),
                None => return,
            }
        }
    }

    fn perform(&mut self, rank: usize, one: Single) {
        let (page, offset) = (page_of(one.at), one.at % PAGE);
        match one.what {
            What::Read(value) => {
                self.expect_open(rank, one.at, Access::Read);
                let seen = self.read(rank, page, offset);
                assert_read(rank, one.at, seen, value);
            }
            What::Write { value, marked } => {
                self.expect_open(rank, one.at, Access::Write);
                self.write(rank, page, offset, value);
                self.note_written(rank, one.at, marked);
            }
        }
    }

    fn note_written(&self, rank: usize, at: usize, marked: bool) {
        if marked {
            let bytes = (at as u64, at as u64 + 1);
            self.cluster.borrow_mut().marked[rank].push(bytes);
        }
    }

    /// What a part of a nest accesses, in order.
    pub(super) fn accesses_of(
        &mut self,
        rank: usize,
        nest: &Nest,
        part: Part,
        random: &mut Random,
    ) -> Vec<Single> {
        let mut all = Vec::new();
        let is_now = |at: usize| (at / 64).is_multiple_of(2) == (part == Part::First);
        let read = nest.bytes(Mode::Read).union(&nest.bytes(Mode::MayRead));
        let written = nest.bytes(Mode::Write);
        let both = !read.intersection(&written).is_empty();
        let is_another_threads = |at: usize| {
            nest.scattered
                .is_some_and(|(remainder, divisor)| at % divisor != remainder)
        };
        for at in positions(&read) {
            // What is written, too, is read before.
            let is_due = is_now(at) && !both || both && part == Part::First;
            if is_due && !is_another_threads(at) {
                let what = What::Read(self.truth[page_of(at) as usize][at % PAGE]);
                all.push(Single { at, what });
            }
        }
        let mut write = |job: &mut Self, at: usize, value: u8, marked: bool| {
            job.truth[page_of(at) as usize][at % PAGE] = value;
            let what = What::Write { value, marked };
            all.push(Single { at, what });
        };
        for at in written.iter().flat_map(|(start, end)| start..end) {
            if is_now(at as usize) {
                write(self, at as usize, random.below(256) as u8, false);
            }
        }
        for at in positions(&nest.bytes(Mode::MayWrite)) {
            if is_now(at) && random.chance(40) && !is_another_threads(at) {
                write(self, at, random.below(256) as u8, false);
            }
        }
        for at in positions(&nest.bytes(Mode::Marked)) {
            if is_now(at) && random.chance(40) && !is_another_threads(at) {
                // Often the value that is there.
                let value = match random.chance(50) {
                    true => self.truth[page_of(at) as usize][at % PAGE],
                    false => random.below(256) as u8,
                };
                let marked = !self.in_stretch[rank];
                write(self, at, value, marked);
            }
        }
        all
    }

    pub(super) fn expect_open(&self, rank: usize, at: usize, access: Access) {
        let page = page_of(at);
        let pages = self.ranks[rank].pages();
        if self.in_stretch[rank] {
            return;
        }
        if pages.has(page, flag::SECTION | flag::ENTERING) && !pages.is_closed(page) {
            let protection = self.cluster.borrow().memories[rank].access(page);
            assert!(
                protection == access || protection == Access::Write,
                "rank {rank}: page {page} is not open for a declared access"
            );
        }
    }
}

fn assert_read(rank: usize, at: usize, seen: u8, value: u8) {
    let (page, offset) = (page_of(at), at % PAGE);
    assert_eq!(
        seen, value,
        "rank {rank}, page {page}, byte {offset}, a declared read"
    );
}

pub(super) fn nest(sections: Vec<Declared>) -> Nest {
    Nest {
        sections,
        scattered: None,
    }
}

pub(super) fn page_of(at: usize) -> Page {
    (at / PAGE) as Page
}

pub(super) fn positions(bytes: &Ranges) -> Vec<usize> {
    // Every byte of a few, a sample of many with the ends of every range.
    let mut positions = Vec::new();
    for (start, end) in bytes.iter() {
        let (start, last) = (start as usize, end as usize - 1);
        positions.push(start);
        positions.extend(((start + 1).next_multiple_of(13)..last).step_by(13));
        positions.extend((last != start).then_some(last));
    }
    positions
}

/// Start, element, and (stride, count) of each dimension.
type Share = (usize, usize, Vec<(usize, usize)>);

/// A share of `bytes` from `start` for each rank: blocks, cyclic rows, or columns.
fn shares(random: &mut Random, ranks: usize, start: usize, bytes: usize) -> Vec<Vec<Share>> {
    match random.below(3) {
        0 => {
            let mut borders: Vec<usize> = (0..ranks - 1).map(|_| random.below(bytes)).collect();
            borders.extend([0, bytes]);
            borders.sort_unstable();
            borders
                .windows(2)
                .map(|pair| {
                    let length = pair[1] - pair[0];
                    let gap = random.below(9);
                    if length <= gap {
                        vec![]
                    } else {
                        vec![(start + pair[0], length - gap, vec![])]
                    }
                })
                .collect()
        }
        1 => {
            let row = 1 + random.below(700);
            let count = bytes / (row * ranks);
            (0..ranks)
                .map(|rank| match count {
                    0 => vec![],
                    _ => vec![(start + rank * row, row, vec![(row * ranks, count)])],
                })
                .collect()
        }
        _ => {
            let row = 64 * (1 + random.below(20));
            let rows = bytes / row;
            let width = row / ranks;
            (0..ranks)
                .map(|rank| match rows {
                    0 => vec![],
                    _ => vec![(
                        start + rank * width,
                        1 + random.below(width),
                        vec![(row, rows)],
                    )],
                })
                .collect()
        }
    }
}

/// The nests of `threads` threads, each with its thread, between two synchronisations.
pub(super) fn random_nests(job: &Job, threads: usize, random: &mut Random) -> Vec<(usize, Nest)> {
    let used = job.used as usize;
    let first = random.below(used - 1);
    let pages = 1 + random.below((used - first).min(6));
    let start = first * PAGE + random.below(300);
    let bytes = (first + pages) * PAGE - start - random.below(300);
    let written = (first, first + pages);
    // Sometimes what they write is known to be one object.
    let object = random.chance(50).then_some((start, start + bytes));
    let mut nests = Vec::new();
    if random.chance(20) {
        // All may write all of it.
        for thread in 0..threads {
            let scattered = |mode| {
                let sections = vec![section(mode, start, bytes, &[])];
                let sections = match object {
                    Some(object) => within(object, sections),
                    None => sections,
                };
                let scattered = Some((thread, threads));
                (
                    thread,
                    Nest {
                        sections,
                        scattered,
                    },
                )
            };
            let marks = random.chance(60);
            let mode = if marks { Mode::Marked } else { Mode::MayWrite };
            // One of a rank's threads may read while another one writes.
            if random.chance(20) {
                nests.push(scattered(Mode::MayRead));
            }
            nests.push(scattered(mode));
            if random.chance(40) {
                nests.push(scattered(Mode::MayRead));
                nests.push(scattered(mode));
            }
        }
        return nests;
    }
    let shares = shares(random, threads, start, bytes);
    for (thread, share) in shares.iter().enumerate() {
        let mode = if random.chance(25) {
            Mode::MayWrite
        } else {
            Mode::Write
        };
        for (start, element, dimensions) in share {
            let mut sections = vec![section(mode, *start, *element, dimensions)];
            if random.chance(50) {
                sections.push(section(Mode::Read, *start, *element, dimensions));
            }
            if mode == Mode::Write && random.chance(40) {
                let (first, end) = sections[0].shape.hull();
                let (first, size) = (first as usize, (end - first) as usize);
                sections.push(section(Mode::Keep, first, size, &[]));
            }
            if let Some(object) = object {
                sections = within(object, sections);
            }
            nests.push((thread, nest(sections)));
            if random.chance(40) {
                // Reads its own results, and what it may have left as it was.
                let sections = vec![section(Mode::Read, *start, *element, dimensions)];
                nests.push((thread, nest(sections)));
            }
        }
    }
    let all = nests.iter().flat_map(|(_, nest)| &nest.sections);
    let taken = all.fold(Ranges::default(), |all, one| all.union(&one.shape.ranges()));
    let pages_of_all = (first * PAGE) as u64..((first + pages) * PAGE) as u64;
    let left = Ranges::of(vec![(pages_of_all.start, pages_of_all.end)]).minus(&taken);
    let left: Vec<(u64, u64)> = left.iter().collect();
    for thread in 0..threads {
        // What lies in the written pages between what is written.
        if !left.is_empty() && random.chance(50) {
            let (from, to) = left[random.below(left.len())];
            let sections = vec![section(
                Mode::Read,
                from as usize,
                (to - from) as usize,
                &[],
            )];
            nests.push((thread, nest(sections)));
        }
        for _ in 0..random.below(3) {
            let page = random.below(used);
            if (written.0..written.1).contains(&page) {
                continue;
            }
            // Not into the written pages, nor beyond the end.
            let end = if page < written.0 { written.0 } else { used };
            let room = (end - page) * PAGE;
            let element = 1 + random.below(500);
            let stride = 1 + random.below(3000);
            let count = 1 + random.below((room - element) / stride + 1).min(8);
            let sections = vec![section(
                Mode::Read,
                page * PAGE,
                element,
                &[(stride, count)],
            )];
            nests.push((thread, nest(sections)));
        }
    }
    // All, or nearly all, read about the same.
    if threads > 2 && random.chance(30) {
        let page = random.below(used);
        if !(written.0..written.1).contains(&page) {
            let end = if page < written.0 { written.0 } else { used };
            let size = 50 + random.below((end - page).min(5) * PAGE - 50);
            for thread in 0..threads {
                let less =
                    [0, random.below(9), random.below(size)][random.below(20).saturating_sub(17)];
                if random.chance(95) {
                    let sections = vec![section(Mode::Read, page * PAGE, size - less, &[])];
                    nests.push((thread, nest(sections)));
                }
            }
        }
    }
    // Some threads read before others write.
    for _ in 0..nests.len() {
        let at = random.below(nests.len().max(2) - 1);
        if at + 1 < nests.len() && nests[at].0 != nests[at + 1].0 {
            nests.swap(at, at + 1);
        }
    }
    nests
}

/// The steps of nests, with their threads and the numbers of the nests. Threads run at different speeds, but
/// each in its own order.
pub(super) fn steps(nests: &[(usize, Nest)], random: &mut Random) -> Vec<(usize, usize, Part)> {
    let mut waiting: Vec<Vec<(usize, usize, Part)>> = Vec::new();
    for (index, &(thread, _)) in nests.iter().enumerate() {
        waiting.resize(waiting.len().max(thread + 1), Vec::new());
        waiting[thread].extend(Part::ALL.map(|part| (thread, index, part)));
    }
    let mut steps = Vec::new();
    while waiting.iter().any(|steps| !steps.is_empty()) {
        let thread = random.below(waiting.len());
        if !waiting[thread].is_empty() {
            steps.push(waiting[thread].remove(0));
        }
    }
    steps
}

/// Who may contribute to what while some nests run.
pub(super) struct Words<'a> {
    nests: &'a [(usize, Nest)],
    /// What ranks access in fact, in order.
    accessed: OnceCell<Vec<usize>>,
    written: Ranges,
    direct: &'a [Page],
    ranks: usize,
}

impl<'a> Words<'a> {
    pub(super) fn of(nests: &'a [(usize, Nest)], direct: &'a [Page], ranks: usize) -> Self {
        Self {
            nests,
            accessed: OnceCell::new(),
            written: nests.iter().fold(Ranges::default(), |all, (_, nest)| {
                all.union(&nest.bytes(Mode::Write))
            }),
            direct,
            ranks,
        }
    }

    /// The rank that may contribute to these 8 bytes, `ranks` for all; `None` where accesses would collide.
    pub(super) fn owner(&self, page: Page, word: usize) -> Option<usize> {
        if self.direct.contains(&page) {
            return None;
        }
        let start = page as usize * PAGE + word;
        let bytes = Ranges::of(vec![(start as u64, start as u64 + 8)]);
        let is_written = !bytes.intersection(&self.written).is_empty();
        let accessed = self.accessed.get_or_init(|| {
            let all = self.nests.iter().flat_map(|(_, nest)| &nest.sections);
            let all = all.flat_map(|one| positions(&one.shape.ranges()));
            let mut all: Vec<usize> = all.collect();
            all.sort_unstable();
            all
        });
        let next = accessed.partition_point(|&at| at < start);
        let is_accessed = (accessed.get(next)).is_some_and(|&at| at < start + 8);
        if !is_written && !is_accessed {
            return Some(self.ranks);
        }
        let touches = |nest: &Nest| {
            let mut sections = nest.sections.iter();
            sections.any(|one| !one.shape.ranges().intersection(&bytes).is_empty())
        };
        let mut those = self.nests.iter().filter(|(_, nest)| touches(nest));
        let first = those.next()?.0;
        those.all(|&(rank, _)| rank == first).then_some(first)
    }
}
