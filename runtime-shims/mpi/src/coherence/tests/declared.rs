//! Regions that declare what they access, among serial code and regions that do not.

use std::collections::HashSet;

use super::*;
use crate::{
    coherence::declared::{Accesses, Declared, Mode},
    sections::{ranges::Ranges, shape::Shape},
};

/// What a loop nest of one rank accesses.
#[derive(Clone)]
struct Nest {
    sections: Vec<Declared>,
    /// Of what it may write it writes only bytes whose position has this remainder, and reads no others.
    scattered: Option<(usize, usize)>,
}

/// A nest runs in several steps, between which other ranks and threads do theirs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Declare,
    First,
    Second,
}

impl Part {
    const ALL: [Self; 3] = [Self::Declare, Self::First, Self::Second];
}

impl Nest {
    fn signature(&self) -> Signature {
        let mut words = Vec::new();
        for one in &self.sections {
            words.extend([one.mode as u64, one.object.0, one.object.1]);
            one.shape.push_to(&mut words);
        }
        words.into_iter().fold(Signature::START, Signature::with)
    }

    fn bytes(&self, mode: Mode) -> Ranges {
        let those = self.sections.iter().filter(|one| one.mode == mode);
        those.fold(Ranges::default(), |all, one| all.union(&one.shape.ranges()))
    }

    /// Whether it has yet to store to a part of these 8 bytes: no program updates them before.
    fn stores_part_of(&self, page: Page, word: usize) -> bool {
        let start = (page as usize * PAGE + word) as u64;
        let bytes = Ranges::of(vec![(start, start + 8)]);
        (1..8).contains(&self.bytes(Mode::Write).intersection(&bytes).bytes())
    }
}

fn section(mode: Mode, start: usize, element: usize, dimensions: &[(usize, usize)]) -> Declared {
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
fn within(object: (usize, usize), mut sections: Vec<Declared>) -> Vec<Declared> {
    for one in &mut sections {
        one.object = (object.0 as u64, object.1 as u64);
    }
    sections
}

impl Job {
    /// Runs a nest on `rank`.
    fn run(&mut self, rank: usize, nest: &Nest, random: &mut Random) {
        for part in Part::ALL {
            self.run_part(rank, nest, part, random);
        }
    }

    /// Runs a part of a nest: what it reads is current, what it writes needs no fault in section mode.
    fn run_part(&mut self, rank: usize, nest: &Nest, part: Part, random: &mut Random) {
        if part == Part::Declare {
            return self.ranks[rank].declare(nest.signature(), || nest.sections.clone());
        }
        let is_now = |at: usize| (at / 64).is_multiple_of(2) == (part == Part::First);
        let read = nest.bytes(Mode::Read).union(&nest.bytes(Mode::MayRead));
        let written = nest.bytes(Mode::Write);
        let both = !read.intersection(&written).is_empty();
        let is_another_threads = |at: usize| {
            nest.scattered
                .is_some_and(|(remainder, divisor)| at % divisor != remainder)
        };
        for at in positions(&read) {
            if is_another_threads(at) {
                continue;
            }
            // What is written, too, is read before.
            if is_now(at) && !both || both && part == Part::First {
                self.expect_open(rank, at, Access::Read);
                self.check(rank, page_of(at), at % PAGE, "a declared read");
            }
        }
        for at in written.iter().flat_map(|(start, end)| start..end) {
            let at = at as usize;
            if is_now(at) {
                self.expect_open(rank, at, Access::Write);
                self.write(rank, page_of(at), at % PAGE, random.below(256) as u8);
            }
        }
        for at in positions(&nest.bytes(Mode::MayWrite)) {
            if is_now(at) && random.chance(40) && !is_another_threads(at) {
                self.expect_open(rank, at, Access::Write);
                self.write(rank, page_of(at), at % PAGE, random.below(256) as u8);
            }
        }
        for at in positions(&nest.bytes(Mode::Marked)) {
            if is_now(at) && random.chance(40) && !is_another_threads(at) {
                self.expect_open(rank, at, Access::Write);
                // Often the value that is there.
                let value = match random.chance(50) {
                    true => self.truth[page_of(at) as usize][at % PAGE],
                    false => random.below(256) as u8,
                };
                self.write(rank, page_of(at), at % PAGE, value);
                let mut cluster = self.cluster.borrow_mut();
                cluster.marked[rank].push((at as u64, at as u64 + 1));
            }
        }
    }

    fn expect_open(&self, rank: usize, at: usize, access: Access) {
        let page = page_of(at);
        let pages = self.ranks[rank].pages();
        if pages.has(page, flag::SECTION | flag::ENTERING) && !pages.is_closed(page) {
            let protection = self.cluster.borrow().protections[rank][page as usize];
            assert!(
                protection == access || protection == Access::Write,
                "rank {rank}: page {page} is not open for a declared access"
            );
        }
    }
}

fn nest(sections: Vec<Declared>) -> Nest {
    Nest {
        sections,
        scattered: None,
    }
}

fn page_of(at: usize) -> Page {
    (at / PAGE) as Page
}

fn positions(bytes: &Ranges) -> Vec<usize> {
    // Every byte of a few, a sample of many with the ends of every range.
    bytes
        .iter()
        .flat_map(|(start, end)| {
            (start..end)
                .filter(move |at| at % 13 == 0 || *at == start || *at == end - 1)
                .map(|at| at as usize)
        })
        .collect()
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
fn random_nests(job: &Job, threads: usize, random: &mut Random) -> Vec<(usize, Nest)> {
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
            // Threads that share a rank do not mark what they write.
            let marks = threads == job.ranks.len() && random.chance(60);
            let mode = if marks { Mode::Marked } else { Mode::MayWrite };
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
fn steps(nests: &[(usize, Nest)], random: &mut Random) -> Vec<(usize, usize, Part)> {
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

/// Who may update what while some nests run.
struct Words<'a> {
    nests: &'a [(usize, Nest)],
    /// What ranks access in fact.
    accessed: HashSet<usize>,
    written: Ranges,
    direct: &'a [Page],
    ranks: usize,
}

impl<'a> Words<'a> {
    fn of(nests: &'a [(usize, Nest)], direct: &'a [Page], ranks: usize) -> Self {
        let all = nests.iter().flat_map(|(_, nest)| &nest.sections);
        Self {
            nests,
            accessed: all.flat_map(|one| positions(&one.shape.ranges())).collect(),
            written: nests.iter().fold(Ranges::default(), |all, (_, nest)| {
                all.union(&nest.bytes(Mode::Write))
            }),
            direct,
            ranks,
        }
    }

    /// The rank that may update these 8 bytes, `ranks` for all; `None` where accesses would collide.
    fn owner(&self, page: Page, word: usize) -> Option<usize> {
        if self.direct.contains(&page) {
            return None;
        }
        let start = page as usize * PAGE + word;
        let bytes = Ranges::of(vec![(start as u64, start as u64 + 8)]);
        let is_written = !bytes.intersection(&self.written).is_empty();
        let is_accessed = (start..start + 8).any(|at| self.accessed.contains(&at));
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

/// `rounds` times the same, but for `surprises` of 100 intervals, on each rank with `per_rank` threads.
fn declaring_region(
    job: &mut Job,
    random: &mut Random,
    rounds: usize,
    surprises: usize,
    per_rank: usize,
) {
    let direct: Vec<Page> = (0..random.below(3))
        .map(|_| random.below(job.used as usize) as Page)
        .collect();
    // Regions with updates have one thread on each rank.
    let updates = per_rank == 1 && random.chance(60);
    job.enter_region(&Accesses::Declared {
        direct: direct.clone(),
        updates: updates && random.chance(50),
    });
    for rank in &mut job.ranks {
        rank.note_threads(per_rank > 1);
    }
    let threads = job.ranks.len() * per_rank;
    let nests = |job: &Job, random: &mut Random| {
        let mut nests = random_nests(job, threads, random);
        if updates {
            for (_, nest) in &mut nests {
                nest.sections.retain(|one| one.mode != Mode::Keep);
            }
        }
        nests
    };
    let intervals: Vec<Vec<(usize, Nest)>> = (0..1 + random.below(3))
        .map(|_| nests(job, random))
        .collect();
    let mut updated: Vec<Object> = Vec::new();
    for round in 0..rounds {
        for (index, usual) in intervals.iter().enumerate() {
            if (round, index) != (0, 0) {
                job.barrier();
            }
            if !updated.is_empty() && random.chance(20) {
                for _ in 0..3 {
                    let (start, end) = updated[random.below(updated.len())].bytes();
                    let rank = random.below(job.ranks.len());
                    let size = (end - start) as usize;
                    let sections = vec![section(Mode::Read, start as usize, size, &[])];
                    job.run(rank, &nest(sections), random);
                }
                job.barrier();
            }
            let unusual = match random.below(100) < surprises {
                true => Some(nests(job, random)),
                false => None,
            };
            let nests = unusual.as_ref().unwrap_or(usual);
            let words = Words::of(nests, &direct, job.ranks.len());
            let number = random.below(1 << 20);
            let touched: Vec<usize> = nests
                .iter()
                .flat_map(|(_, nest)| &nest.sections)
                .flat_map(|one| positions(&one.shape.ranges()))
                .map(|at| at / PAGE)
                .collect();
            let mut running = vec![None; threads];
            for (thread, nest, part) in steps(nests, random) {
                job.run_part(thread / per_rank, &nests[nest].1, part, random);
                running[thread] = (part != Part::Second).then_some(&nests[nest].1);
                for _ in 0..random.below(if updates { 4 } else { 1 }) {
                    let page = random.below(job.used as usize) as Page;
                    let word = random.below(PAGE / 8) * 8;
                    let rank = random.below(job.ranks.len());
                    if let Some(owner) = words.owner(page, word)
                        && !running[rank].is_some_and(|nest| nest.stores_part_of(page, word))
                    {
                        let of = (rank, owner);
                        let place = (page, word);
                        if let Some(object) =
                            accumulated::update_word(job, random, of, place, number)
                        {
                            updated.push(object);
                        }
                    }
                }
                for &page in &direct {
                    if !touched.contains(&(page as usize)) {
                        let offset = random.below(PAGE);
                        let owner = offset % job.ranks.len();
                        job.check(owner, page, offset, "undeclared in a declaring region");
                        job.write(owner, page, offset, random.below(256) as u8);
                    }
                }
            }
        }
    }
    for rank in &mut job.ranks {
        rank.note_threads(false);
    }
    if per_rank == 1 && random.chance(10) {
        job.stop_declaring();
        let pages = some_pages(job, random);
        for _ in 0..random.below(4) {
            interval(job, random, &pages, true, true);
            job.barrier();
            job.begin_next_interval();
        }
    }
    job.leave_region();
    for object in updated {
        job.check_object(0, object, "updated in a declaring region");
    }
}

fn random_mixture(seed: u64, ranks: usize, per_rank: usize, mappings: Option<u32>) -> Counts {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut job = Job::new(ranks, false, mappings);
    job.cluster.borrow_mut().per_node = 1 + seed as usize % ranks;
    for _ in 0..5 {
        serial(&mut job, &mut random);
        if random.chance(75) {
            let rounds = 1 + random.below(5);
            declaring_region(&mut job, &mut random, rounds, 10, per_rank);
        } else {
            let atomics = random.chance(30);
            job.enter_region(&Accesses::Tracked { atomics });
            let pages = some_pages(&job, &mut random);
            for _ in 0..1 + random.below(5) {
                interval(&mut job, &mut random, &pages, true, atomics);
                job.barrier();
                job.begin_next_interval();
            }
            job.barrier();
            job.leave_region();
        }
    }
    for page in 0..job.used {
        for offset in (0..PAGE).step_by(61) {
            job.check(0, page, offset, "at the end");
        }
    }
    job.ranks[0].counts
}

#[test]
fn declared_and_undeclared_accesses_see_one_memory() {
    let mut transitions = 0;
    let mut pulls = 0;
    let mut collapses = 0;
    for seed in 1..80 {
        for ranks in 1..=4 {
            let counts = random_mixture(seed, ranks, 1, None);
            transitions += counts.transitions;
            pulls += counts.pulls;
            collapses += counts.collapses;
        }
    }
    assert!(transitions > 0 && pulls > 0 && collapses > 0);
}

#[test]
fn a_limit_on_mappings_changes_nothing_for_sections() {
    for seed in 1..40 {
        random_mixture(seed, 3, 1, Some(20));
    }
}

#[test]
fn threads_of_a_rank_declare_while_others_compute() {
    for seed in 1..60 {
        for ranks in 1..=3 {
            random_mixture(seed, ranks, 2, None);
            random_mixture(seed, ranks, 3, None);
        }
        random_mixture(seed, 2, 2, Some(20));
    }
}

/// Ranks on several nodes learn what they copy from each other; sometimes they copy something else.
#[test]
fn pushes_change_nothing() {
    let (mut pushed, mut taken, mut surprised) = (0, 0, 0);
    for seed in 1..60u64 {
        for (ranks, per_node) in [(2, 1), (3, 1), (3, 2), (4, 1), (4, 2)] {
            let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
            let mut job = Job::new(ranks, false, None);
            job.cluster.borrow_mut().per_node = per_node;
            for _ in 0..3 {
                serial(&mut job, &mut random);
                let rounds = 3 + random.below(8);
                let surprises = [0, 20][random.below(2)];
                declaring_region(&mut job, &mut random, rounds, surprises, 1);
            }
            let cluster = job.cluster.borrow();
            pushed += cluster.pushed_bytes;
            taken += cluster.taken_bytes;
            surprised += usize::from(cluster.pushed_bytes > cluster.taken_bytes);
        }
    }
    assert!(taken > 0 && surprised > 0);
    assert!(pushed < 2 * taken, "{pushed} bytes pushed, {taken} taken");
}

/// A stencil on rows: after the first iterations an iteration makes no plan, no fault and no exchange,
/// and moves one row each way.
#[test]
fn an_iteration_like_the_one_before_moves_only_halos() {
    for per_node in [1, 2] {
        only_halos_move(per_node);
    }
}

fn only_halos_move(per_node: usize) {
    const ROW: usize = 1500;
    const ROWS: usize = 12;
    let ranks = 2;
    let mut job = Job::new(ranks, false, None);
    job.cluster.borrow_mut().per_node = per_node;
    let mut random = Random(77);
    let arrays = [100, 6 * PAGE + 40];
    assert!(arrays[1] + (ROWS + 2) * ROW < job.used as usize * PAGE);
    let mut steady = Counts::default();
    let mut taken_before = 0;
    for sweep in 0..12 {
        let (from, to) = (arrays[sweep % 2], arrays[(sweep + 1) % 2]);
        job.fork(&[]);
        job.enter_region(&Accesses::Declared {
            direct: vec![],
            updates: false,
        });
        for rank in 0..ranks {
            let first = 1 + rank * ROWS / 2;
            let last = (rank + 1) * ROWS / 2;
            let rows = last - first + 1;
            let nest = Nest {
                scattered: None,
                sections: [
                    within(
                        (from, from + (ROWS + 2) * ROW),
                        vec![section(
                            Mode::Read,
                            from + (first - 1) * ROW,
                            ROW,
                            &[(ROW, rows + 2)],
                        )],
                    ),
                    within(
                        (to, to + (ROWS + 2) * ROW),
                        vec![section(
                            Mode::Write,
                            to + first * ROW + 8,
                            ROW - 16,
                            &[(ROW, rows)],
                        )],
                    ),
                ]
                .concat(),
            };
            job.run(rank, &nest, &mut random);
        }
        job.leave_region();
        if sweep == 7 {
            steady = job.ranks[1].counts;
            taken_before = job.cluster.borrow().taken_bytes;
        }
    }
    let end = job.ranks[1].counts;
    assert_eq!(end.plans, steady.plans);
    assert_eq!(end.transitions, steady.transitions);
    assert_eq!(
        (end.read_faults, end.write_faults),
        (steady.read_faults, steady.write_faults)
    );
    assert_eq!(end.pulls - steady.pulls, 4);
    assert_eq!(
        end.pulled_bytes - steady.pulled_bytes,
        4 * (ROW as u64 - 16)
    );
    // Between nodes all of it is pushed.
    let cluster = job.cluster.borrow();
    let row = if per_node == 1 { ROW - 16 } else { 0 };
    assert_eq!(cluster.taken_bytes - taken_before, 8 * row);
    // Rank 1 sent its row for a sweep that did not come.
    assert_eq!(cluster.pushed_bytes, cluster.taken_bytes + row);
}

/// What one rank owns alone it writes without a fault in a region that declares nothing; what serial code
/// copied of it before is not taken for current.
#[test]
fn an_owner_writes_unnoticed_where_nobody_has_copies() {
    let mut job = Job::new(2, false, None);
    let mut random = Random(5);
    let page = job.layout.arena(0).page;
    let write = nest(vec![section(
        Mode::Write,
        page as usize * PAGE,
        2 * PAGE,
        &[],
    )]);
    job.fork(&[]);
    job.enter_region(&Accesses::Declared {
        direct: vec![],
        updates: false,
    });
    job.run(1, &write, &mut random);
    job.barrier();
    job.leave_region();
    job.check(0, page, 0, "in serial code");
    job.fork(&[]);
    job.enter_region(&Accesses::Tracked { atomics: false });
    let faults = job.ranks[1].counts.write_faults;
    job.write(1, page, 0, 7);
    job.write(1, page, 1, 8);
    assert_eq!(job.ranks[1].counts.write_faults, faults);
    job.barrier();
    job.check(0, page, 0, "after the owner wrote");
    job.barrier();
    // Now there is a copy, and the owner's writes are noticed.
    job.write(1, page, 0, 9);
    assert_eq!(job.ranks[1].counts.write_faults, faults + 1);
    job.barrier();
    job.check(0, page, 0, "after the owner wrote again");
    job.leave_region();
}

/// Rank 0 may write bytes of its own, changes them and changes them back. Rank 1 may write them as well, and
/// copies them in between: that copy must not count as current afterwards.
#[test]
fn a_copy_made_between_uncertain_writes_does_not_stay() {
    let object = (PAGE, 2 * PAGE);
    let on_object = |mode| nest(within(object, vec![section(mode, PAGE, 64, &[])]));
    let mut job = Job::new(2, false, None);
    let mut random = Random(3);
    job.fork(&[]);
    job.enter_region(&Accesses::Declared {
        direct: vec![],
        updates: false,
    });
    let whole = nest(within(object, vec![section(Mode::Write, PAGE, PAGE, &[])]));
    job.run(0, &whole, &mut random);
    job.barrier();
    let uncertain = on_object(Mode::MayWrite);
    let before = job.truth[1][0];
    for (rank, value) in [(0, !before), (1, before)] {
        job.ranks[rank].declare(uncertain.signature(), || uncertain.sections.clone());
        job.write(0, 1, 0, value);
    }
    job.barrier();
    job.run(1, &on_object(Mode::Read), &mut random);
    job.leave_region();
}

/// A thread reads, without a fault, what lies next to what another one writes in a page that was not here.
#[test]
fn a_page_that_one_thread_opens_is_current_for_what_another_reads() {
    let mut job = Job::new(2, false, None);
    let mut random = Random(7);
    for offset in 0..PAGE {
        job.write(0, 2, offset, offset as u8 | 1);
    }
    job.fork(&[]);
    job.enter_region(&Accesses::Declared {
        direct: vec![],
        updates: false,
    });
    job.ranks[1].note_threads(true);
    let object = (PAGE, 4 * PAGE);
    let reads = nest(within(
        object,
        vec![section(Mode::Read, 2 * PAGE + 8, 90, &[])],
    ));
    let writes = nest(within(
        object,
        vec![section(Mode::Write, 2 * PAGE + 200, PAGE, &[])],
    ));
    job.run_part(1, &reads, Part::Declare, &mut random);
    job.run(1, &writes, &mut random);
    job.run_part(1, &reads, Part::First, &mut random);
    job.run_part(1, &reads, Part::Second, &mut random);
    job.barrier();
    job.leave_region();
}

/// A program of regions and serial code that does nearly the same again and again, on several nodes.
fn repeated_program(seed: u64, ranks: usize, surprises: usize) -> (usize, usize) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut job = Job::new(ranks, false, None);
    job.cluster.borrow_mut().per_node = 1 + seed as usize % 2 * (ranks - 2).min(1);
    let regions: Vec<Vec<Vec<(usize, Nest)>>> = (0..1 + random.below(3))
        .map(|_| {
            (0..1 + random.below(3))
                .map(|_| random_nests(&job, ranks, &mut random))
                .collect()
        })
        .collect();
    // What serial code accesses each time.
    let places: Vec<Vec<(Page, usize, bool)>> = regions
        .iter()
        .map(|_| {
            (0..random.below(6))
                .map(|_| {
                    let page = random.below(job.used as usize) as Page;
                    (page, random.below(PAGE), random.chance(50))
                })
                .collect()
        })
        .collect();
    // What ranks update in each interval: mostly what others read in the next one.
    let with_updates = random.chance(50);
    let mut updates: Vec<Vec<(usize, Page, usize)>> = Vec::new();
    for intervals in &regions {
        for index in 0..intervals.len() {
            let next = &intervals[(index + 1) % intervals.len()];
            let sections = next.iter().flat_map(|(_, nest)| &nest.sections);
            let read: Vec<usize> = sections
                .filter(|one| matches!(one.mode, Mode::Read | Mode::MayRead))
                .flat_map(|one| positions(&one.shape.ranges()))
                .collect();
            let count = if with_updates { random.below(30) } else { 0 };
            let places = (0..count).map(|_| match read.is_empty() || random.chance(20) {
                true => random.below(job.used as usize * PAGE),
                false => read[random.below(read.len())],
            });
            let places: Vec<usize> = places.collect();
            let places = places.into_iter().map(|at| {
                let place = ((at / PAGE) as Page, (at % PAGE) & !7);
                (random.below(ranks), place.0, place.1)
            });
            updates.push(places.collect());
        }
    }
    for _ in 0..10 {
        let mut updates = updates.iter().enumerate();
        for (intervals, places) in regions.iter().zip(&places) {
            for &(page, offset, writes) in places {
                match writes {
                    true => job.write(0, page, offset, random.below(256) as u8),
                    false => job.check(0, page, offset, "in serial code"),
                }
            }
            if random.below(100) < surprises {
                serial(&mut job, &mut random);
            } else {
                job.fork(&[]);
            }
            if random.below(400) < surprises {
                let atomics = random.chance(20);
                job.enter_region(&Accesses::Tracked { atomics });
                let pages = some_pages(&job, &mut random);
                interval(&mut job, &mut random, &pages, true, atomics);
                job.leave_region();
                job.fork(&[]);
            }
            job.enter_region(&Accesses::Declared {
                direct: vec![],
                updates: with_updates,
            });
            for (index, usual) in intervals.iter().enumerate() {
                if index != 0 {
                    job.barrier();
                }
                let unusual =
                    (random.below(100) < surprises).then(|| random_nests(&job, ranks, &mut random));
                let nests = unusual.as_ref().unwrap_or(usual);
                for (rank, nest, part) in steps(nests, &mut random) {
                    job.run_part(rank, &nests[nest].1, part, &mut random);
                }
                let words = Words::of(nests, &[], ranks);
                let (interval, updates) = updates.next().expect("one for each interval");
                for &(rank, page, word) in updates {
                    if let Some(owner) = words.owner(page, word) {
                        let place = (page, word);
                        let of = (rank, owner);
                        accumulated::update_word(&mut job, &mut random, of, place, interval);
                    }
                }
            }
            job.leave_region();
        }
    }
    for page in 0..job.used {
        for offset in (0..PAGE).step_by(61) {
            job.check(0, page, offset, "at the end");
        }
    }
    let cluster = job.cluster.borrow();
    (cluster.pushed_bytes, cluster.taken_bytes)
}

#[test]
fn what_is_sent_early_changes_nothing() {
    let (mut pushed, mut taken) = (0, 0);
    for seed in 1..120u64 {
        for ranks in 2..=4 {
            for surprises in [0, 10] {
                let moved = repeated_program(seed, ranks, surprises);
                pushed += moved.0;
                taken += moved.1;
            }
        }
    }
    assert!(taken > 0);
    assert!(pushed < 2 * taken, "{pushed} bytes pushed, {taken} taken");
}
