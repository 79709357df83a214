//! Code that declares nothing, in regions that declare their accesses: on some ranks, between their nests and beside those
//! of others.

use std::collections::HashSet;

use super::{
    nests::{Nest, Part, Words, nest, random_nests, section, steps},
    *,
};
use crate::{
    coherence::declared::{Accesses, Declared, Mode},
    geometry::shape::Shape,
};

/// What the nests of one interval do.
struct Interval<'a> {
    nests: &'a [(usize, Nest)],
    /// How far each has come, and which have ended.
    parts: Vec<Option<Part>>,
    done: Vec<bool>,
    /// Stretches are other threads' than nests: these are in the midst of them, and stretches end where all threads meet.
    threads: bool,
    grain: usize,
    shift: usize,
    number: usize,
    /// Bytes that were accessed under a lock, although nests wrote them before: nobody accesses them without it.
    guarded: HashSet<usize>,
    /// What nests of a rank wrote that released a lock since.
    released: Vec<(usize, usize)>,
}

/// Whether a nest accesses a byte, and whether it writes it.
fn accesses(nest: &Nest, at: usize) -> (bool, bool) {
    if nest
        .scattered
        .is_some_and(|(remainder, divisor)| at % divisor != remainder)
    {
        return (false, false);
    }
    let those = nest.sections.iter().filter(|one| one.mode != Mode::Keep);
    let mut found = (false, false);
    for one in those.filter(|one| one.shape.ranges().contains(at as u64)) {
        found.0 = true;
        found.1 |= !matches!(one.mode, Mode::Read | Mode::MayRead);
    }
    found
}

impl Interval<'_> {
    /// Whether nests of other ranks, or of threads that are in them, access a byte, and whether they write it.
    fn others(&self, rank: usize, at: usize) -> (bool, bool) {
        let others = self.nests.iter().enumerate().filter(|(index, (other, _))| {
            *other != rank || self.threads && self.parts[*index].is_some() && !self.done[*index]
        });
        others.fold((false, false), |all, (_, (_, nest))| {
            let one = accesses(nest, at);
            (all.0 | one.0, all.1 | one.1)
        })
    }

    fn owner(&self, at: usize, ranks: usize) -> usize {
        (at / self.grain + self.shift) % (ranks + 1)
    }

    fn may_read(&self, rank: usize, at: usize, ranks: usize) -> bool {
        let owner = self.owner(at, ranks);
        (owner == rank || owner == ranks) && !self.others(rank, at).1 && !self.guarded.contains(&at)
    }

    fn may_write(&self, rank: usize, at: usize, ranks: usize) -> bool {
        self.owner(at, ranks) == rank && !self.others(rank, at).0 && !self.guarded.contains(&at)
    }

    /// Whether no nest accesses a byte.
    fn is_free(&self, at: usize) -> bool {
        self.nests.iter().all(|(_, nest)| !accesses(nest, at).0)
    }

    /// Whether no nest will access a byte any more.
    fn is_over(&self, at: usize) -> bool {
        let mut all = self.nests.iter().zip(&self.done);
        all.all(|((_, nest), done)| *done || !accesses(nest, at).0)
    }
}

/// A place in the pages that nests access, or in any.
fn some_place(job: &Job, interval: &Interval<'_>, random: &mut Random) -> usize {
    if interval.nests.is_empty() || random.chance(30) {
        return random.below(job.used as usize * PAGE);
    }
    let (_, nest) = &interval.nests[random.below(interval.nests.len())];
    let one = &nest.sections[random.below(nest.sections.len())];
    let (start, end) = one.shape.hull();
    let at = match random.below(3) {
        0 => start as usize / PAGE * PAGE + random.below(PAGE),
        1 => (end - 1) as usize / PAGE * PAGE + random.below(PAGE),
        _ => start as usize + random.below((end - start) as usize),
    };
    at.min(job.used as usize * PAGE - 1)
}

fn begin(job: &mut Job, rank: usize) {
    let place = job.forks % 2;
    job.ranks[rank].begin_stretch(place);
    job.in_stretch[rank] = true;
}

fn end(job: &mut Job, rank: usize) {
    job.ranks[rank].end_stretch();
    job.in_stretch[rank] = false;
}

/// A rank's other thread does what it has begun.
fn wait_for_nests(job: &mut Job, rank: usize, interval: &mut Interval<'_>) {
    job.wait_for_thread(rank);
    for (index, (by, _)) in interval.nests.iter().enumerate() {
        interval.done[index] |= *by == rank && interval.parts[index] == Some(Part::Second);
    }
}

/// What else a stretch does.
#[derive(Clone, Copy)]
struct Does {
    locks: bool,
    atomics: bool,
    contributions: bool,
}

fn run_some(
    job: &mut Job,
    rank: usize,
    interval: &mut Interval<'_>,
    does: Does,
    random: &mut Random,
) {
    let ranks = job.ranks.len();
    let plain = |at: usize| at % PAGE < UPDATED;
    for _ in 0..random.below(12) {
        let at = some_place(job, interval, random);
        let page = (at / PAGE) as Page;
        if job.frees.is_some() && random.chance(10) {
            job.ranks[rank].make_room(0);
        }
        match random.below(16) {
            0 if does.locks => {
                under_lock(job, rank, page, interval, random);
                if random.chance(30) {
                    read_in_nest(job, rank, interval, random);
                    begin(job, rank);
                }
            }
            1 if does.atomics => {
                let offset = ATOMIC + random.below(64);
                if interval.is_free(page as usize * PAGE + offset) {
                    atomic(job, rank, page, offset, random.below(256) as u8);
                }
            }
            2 => {
                let last = (page + random.below(3) as u32).min(job.used - 1);
                job.ranks[rank].touch(page, last, random.chance(50));
            }
            3 | 4 if does.contributions => {
                let word = UPDATED + 8 * random.below((ATOMIC - UPDATED) / 8);
                let words = Words::of(interval.nests, &[], ranks);
                let first = page as usize * PAGE + word;
                if (first..first + 8).all(|at| interval.is_free(at))
                    && let Some(owner) = words.owner(page, word)
                {
                    let place = (page, word);
                    let of = (rank, owner);
                    collected::contribute_to_word(job, random, of, place, interval.number);
                }
            }
            5..=8 if plain(at) && interval.may_write(rank, at, ranks) => {
                job.check(rank, page, at % PAGE, "in a stretch, before it is written");
                job.write(rank, page, at % PAGE, random.below(256) as u8);
                interval.released.retain(|&(_, other)| other != at);
            }
            9..=11 if plain(at) && interval.may_write(rank, at, ranks) => {
                job.write(rank, page, at % PAGE, random.below(256) as u8);
                interval.released.retain(|&(_, other)| other != at);
            }
            _ if plain(at) && interval.may_read(rank, at, ranks) => {
                job.check(rank, page, at % PAGE, "in a stretch");
            }
            _ => {}
        }
    }
}

fn under_lock(
    job: &mut Job,
    rank: usize,
    page: Page,
    interval: &mut Interval<'_>,
    random: &mut Random,
) {
    job.ranks[rank].acquire();
    for _ in 0..random.below(6) {
        let guarded = GUARDED + random.below(64);
        if interval.is_free(page as usize * PAGE + guarded) {
            job.check(rank, page, guarded, "under a lock");
            job.write(rank, page, guarded, random.below(256) as u8);
        }
        if !interval.released.is_empty() && random.chance(50) {
            let (by, at) = interval.released[random.below(interval.released.len())];
            let owner = interval.owner(at, job.ranks.len());
            let is_written_otherwise = owner != by && owner != job.ranks.len();
            if interval.is_over(at) && !is_written_otherwise {
                interval.guarded.insert(at);
                job.check(
                    rank,
                    page_of(at),
                    at % PAGE,
                    "what another rank handed over",
                );
                if random.chance(50) {
                    job.write(rank, page_of(at), at % PAGE, random.below(256) as u8);
                }
            }
        }
    }
    job.ranks[rank].release();
    let ended = interval.nests.iter().zip(&interval.done);
    for ((by, nest), done) in ended {
        if *by == rank && *done {
            let written = nest.bytes(Mode::Write).union(&nest.bytes(Mode::Marked));
            let all = written.iter().flat_map(|(start, end)| start..end);
            let some = all.step_by(37).map(|at| at as usize);
            interval
                .released
                .extend(some.filter(|&at| accesses(nest, at).1).map(|at| (rank, at)));
        }
    }
}

/// What another rank's nest wrote, before it released the lock that this one had since, is declared and read.
fn read_in_nest(job: &mut Job, rank: usize, interval: &mut Interval<'_>, random: &mut Random) {
    if !interval.threads {
        end(job, rank);
    }
    for _ in 0..random.below(4) {
        if interval.released.is_empty() {
            return;
        }
        let (by, at) = interval.released[random.below(interval.released.len())];
        let owner = interval.owner(at, job.ranks.len());
        let is_written_otherwise = owner != by && owner != job.ranks.len();
        if interval.guarded.contains(&at) || !interval.is_over(at) || is_written_otherwise {
            continue;
        }
        let bytes = (at as u64, at as u64 + 1);
        let read = Declared {
            mode: Mode::Read,
            shape: Shape::whole(bytes),
            object: bytes,
        };
        let signature = Signature::START.with(u64::MAX).with(at as u64);
        job.ranks[rank].declare(signature, || vec![read.clone()]);
        job.check(
            rank,
            page_of(at),
            at % PAGE,
            "a declared read of what a lock handed over",
        );
        // From here on nobody writes it.
        interval.guarded.insert(at);
        interval.released.retain(|&(_, other)| other != at);
    }
}

fn page_of(at: usize) -> Page {
    (at / PAGE) as Page
}

/// A region whose nests declare what they access, with stretches between them.
fn region(job: &mut Job, random: &mut Random, rounds: usize) {
    let ranks = job.ranks.len();
    let does = Does {
        locks: random.chance(40),
        atomics: random.chance(40),
        contributions: random.chance(40),
    };
    let often = [4, 30][random.below(2)];
    let threads = random.chance(50);
    job.enter_region(&Accesses::Declared {
        direct: vec![],
        contributions: does.contributions || does.atomics || random.chance(20),
    });
    let nests = |job: &Job, random: &mut Random| {
        let mut nests = random_nests(job, ranks, random);
        if does.contributions || does.atomics {
            for (_, nest) in &mut nests {
                nest.keep_nothing();
            }
        }
        if threads {
            for (_, nest) in &mut nests {
                nest.sections.retain(|one| one.mode != Mode::Marked);
            }
            nests.retain(|(_, nest)| !nest.sections.is_empty());
        }
        nests
    };
    let intervals: Vec<Vec<(usize, Nest)>> = (0..1 + random.below(3))
        .map(|_| nests(job, random))
        .collect();
    let mut is_first = true;
    for _ in 0..rounds {
        for usual in &intervals {
            if !std::mem::take(&mut is_first) {
                job.barrier();
            }
            let unusual = random.chance(10).then(|| nests(job, random));
            let nests = unusual.as_ref().unwrap_or(usual);
            let mut interval = Interval {
                nests,
                parts: vec![None; nests.len()],
                done: vec![false; nests.len()],
                threads,
                grain: [PAGE, 1 + random.below(40)][random.below(2)],
                shift: random.below(ranks + 1),
                number: random.below(1 << 20),
                guarded: HashSet::new(),
                released: Vec::new(),
            };
            let mut is_in_nest = vec![false; ranks];
            for (rank, nest, part) in steps(nests, random) {
                for (other, is_in_nest) in is_in_nest.iter().enumerate() {
                    if (threads || !is_in_nest) && random.chance(often) {
                        begin(job, other);
                        run_some(job, other, &mut interval, does, random);
                        if !threads && random.chance(70) {
                            end(job, other);
                        }
                    }
                }
                if !threads && part == Part::Declare && job.in_stretch[rank] && random.chance(70) {
                    end(job, rank);
                }
                is_in_nest[rank] = part != Part::Second;
                if threads {
                    if part == Part::Declare || random.chance(30) {
                        wait_for_nests(job, rank, &mut interval);
                    }
                    job.begin_part(rank, &nests[nest].1, part, random);
                } else {
                    job.run_part(rank, &nests[nest].1, part, random);
                    interval.done[nest] = part == Part::Second;
                }
                interval.parts[nest] = Some(part);
                let nest = &nests[nest].1;
                interval.released.retain(|&(_, at)| !accesses(nest, at).1);
            }
            for rank in 0..ranks {
                if random.chance(often) {
                    begin(job, rank);
                }
                if job.in_stretch[rank] {
                    run_some(job, rank, &mut interval, does, random);
                    wait_for_nests(job, rank, &mut interval);
                    if random.chance(60) {
                        end(job, rank);
                    }
                }
                wait_for_nests(job, rank, &mut interval);
            }
        }
    }
    job.leave_region();
    job.in_stretch.fill(false);
}

fn random_mixture(seed: u64, ranks: usize, mappings: Option<u32>) -> Counts {
    let (mut job, mut random) = random_job(seed, ranks, mappings);
    for _ in 0..4 {
        serial(&mut job, &mut random);
        if random.chance(80) {
            let rounds = 1 + random.below(5);
            region(&mut job, &mut random, rounds);
        } else {
            job.enter_region(&Accesses::Tracked { atomics: false });
            let pages = some_pages(&job, &mut random);
            for _ in 0..1 + random.below(3) {
                super::interval(&mut job, &mut random, &pages, true, false);
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
    job.counts(0)
}

#[test]
fn stretches_between_and_beside_nests_see_one_memory() {
    let (mut transitions, mut faults) = (0, 0);
    for seed in seeds(80) {
        for ranks in 1..=4 {
            let counts = random_mixture(seed, ranks, None);
            transitions += counts.transitions;
            faults += counts.write_faults;
        }
    }
    assert!(transitions > 0 && faults > 0);
}

#[test]
fn a_limit_on_mappings_changes_nothing_for_stretches() {
    for seed in seeds(80) {
        random_mixture(seed, 3, Some(20));
    }
}

/// Two ranks own every other page. Where a stretch begins, and at the synchronisation behind it, a rank closes them all at
/// once: not those of the other one piece by piece.
#[test]
fn own_pages_among_closed_ones_are_closed_with_them() {
    let mut job = Job::new(2, false, None);
    let mut random = Random(7);
    let first = job.layout.arena(0).page as usize;
    let pages = (job.used as usize - first) / 2 * 2;
    assert!(pages >= 8);
    job.fork(&[]);
    job.enter_region(&Accesses::Declared {
        direct: vec![],
        contributions: false,
    });
    let mut scatter = |job: &mut Job| {
        for rank in 0..2 {
            let start = (first + rank) * PAGE;
            let every_other = section(Mode::Write, start, PAGE, &[(2 * PAGE, pages / 2)]);
            job.run(rank, &nest(vec![every_other]), &mut random);
        }
        job.barrier();
    };
    for _ in 0..3 {
        scatter(&mut job);
        let before = job.counts(0).protections;
        begin(&mut job, 0);
        assert!(job.counts(0).protections <= before + 2);
        for page in first..first + pages {
            job.check(0, page as Page, 9, "in a stretch");
        }
        end(&mut job, 0);
        let before = job.counts(0).protections;
        job.barrier();
        assert!(job.counts(0).protections <= before + 2);
        begin(&mut job, 1);
        for page in (first..first + pages).rev() {
            job.check(1, page as Page, 9, "in a stretch behind another one");
        }
        end(&mut job, 1);
        job.barrier();
    }
    job.leave_region();
}
