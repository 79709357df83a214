//! Regions that declare their accesses, whose ranks wait for each other between nests: each releases what it wrote and acquires
//! what others did, directly or by way of others, and no more is known of who was first.

use super::{
    nests::{nest, page_of, section},
    *,
};
use crate::coherence::declared::{Declared, Mode};

/// Some bytes that ranks access as one.
#[derive(Clone)]
struct Cell {
    start: usize,
    bytes: usize,
    /// On a page that the region accesses without telling.
    is_direct: bool,
    /// Who wrote it last and who read it since, with what these had released before.
    written: Option<(usize, usize)>,
    read: Vec<Option<usize>>,
}

/// What each rank knows of the others' releases, and said so when it released something itself.
struct Clocks {
    known: Vec<Vec<usize>>,
    released: Vec<Option<Vec<usize>>>,
    /// What each rank was told directly.
    told: Vec<Option<Vec<usize>>>,
}

impl Clocks {
    fn new(ranks: usize) -> Self {
        Self {
            known: vec![vec![0; ranks]; ranks],
            released: vec![None; ranks],
            told: vec![None; ranks],
        }
    }

    fn release(&mut self, rank: usize) {
        self.known[rank][rank] += 1;
        self.released[rank] = Some(self.known[rank].clone());
    }

    fn acquire(&mut self, rank: usize, from: usize) {
        let released = self.released[from].clone().expect("the caller looked");
        join(&mut self.known[rank], &released);
    }

    /// What was just released another rank is told directly.
    fn tell(&mut self, from: usize, to: usize) {
        let released = self.released[from].clone().expect("the caller released it");
        match &mut self.told[to] {
            Some(told) => join(told, &released),
            None => self.told[to] = Some(released),
        }
    }

    /// Whether there is anything that a rank was told directly, which it acquires then.
    fn acquire_directly(&mut self, rank: usize) -> bool {
        let told = self.told[rank].take();
        told.is_some_and(|told| {
            join(&mut self.known[rank], &told);
            true
        })
    }

    fn is_before(&self, (by, at): (usize, usize), rank: usize) -> bool {
        by == rank || self.known[rank][by] > at
    }

    fn may_read(&self, cell: &Cell, rank: usize) -> bool {
        cell.written.is_none_or(|one| self.is_before(one, rank))
    }

    fn may_write(&self, cell: &Cell, rank: usize) -> bool {
        let mut read = cell.read.iter().enumerate();
        self.may_read(cell, rank)
            && read.all(|(by, at)| at.is_none_or(|at| self.is_before((by, at), rank)))
    }
}

/// What was known is, and what was released.
fn join(known: &mut [usize], released: &[usize]) {
    for (known, &one) in known.iter_mut().zip(released) {
        *known = (*known).max(one);
    }
}

/// What one rank does next.
enum Step {
    Declare(usize, Vec<Declared>),
    /// Reads and writes cells, or some of them.
    Access(usize, Vec<usize>, Vec<usize>, bool),
    Release(usize),
    Acquire(usize),
    /// Tells another one directly.
    Tell(usize, usize),
    AcquireDirectly(usize),
    BeginStretch(usize),
    EndStretch(usize),
}

fn some_cells(job: &Job, random: &mut Random, direct: &[Page]) -> Vec<Cell> {
    let mut cells = Vec::new();
    let ranks = job.ranks.len();
    for _ in 0..3 {
        let first = random.below(job.used as usize - 1);
        let mut at = first * PAGE + random.below(200);
        let end = (first + 2) * PAGE;
        let largest = [40, 3000][random.below(2)];
        for _ in 0..8 {
            let mut bytes = 1 + random.below(largest);
            // Pages of the stack are in section mode only as a whole.
            if random.chance(10) {
                (at, bytes) = (at.next_multiple_of(PAGE), PAGE);
            }
            let is_taken = |cell: &Cell| cell.start < at + bytes && at < cell.start + cell.bytes;
            let pages = page_of(at)..=page_of(at + bytes - 1);
            let is_direct = |page: &Page| direct.contains(page);
            let some_direct = pages.clone().any(|page| is_direct(&page));
            if at + bytes <= end && !cells.iter().any(is_taken) {
                let all_direct = pages.clone().all(|page| is_direct(&page));
                if !some_direct || all_direct {
                    cells.push(Cell {
                        start: at,
                        bytes,
                        is_direct: some_direct,
                        written: None,
                        read: vec![None; ranks],
                    });
                }
            }
            at += bytes + random.below(20);
        }
    }
    cells
}

/// What happens between two synchronisations, in an order in which it may.
fn steps(cells: &[Cell], ranks: usize, stretches: bool, random: &mut Random) -> Vec<Step> {
    let mut cells = cells.to_vec();
    let mut clocks = Clocks::new(ranks);
    let mut steps = Vec::new();
    // What a rank has declared and yet to do.
    let mut pending: Vec<Option<Step>> = (0..ranks).map(|_| None).collect();
    let mut in_stretch = vec![false; ranks];
    for _ in 0..20 + random.below(60) {
        let rank = random.below(ranks);
        if let Some(step) = pending[rank].take() {
            steps.push(step);
            continue;
        }
        match random.below(10) {
            0 | 1 => {
                clocks.release(rank);
                steps.push(Step::Release(rank));
                let to = random.below(ranks);
                if to != rank && random.chance(70) {
                    clocks.tell(rank, to);
                    steps.push(Step::Tell(rank, to));
                }
            }
            2 if random.chance(70) => {
                if clocks.acquire_directly(rank) {
                    steps.push(Step::AcquireDirectly(rank));
                }
            }
            2 | 3 => {
                let from = random.below(ranks);
                if from != rank && clocks.released[from].is_some() {
                    clocks.acquire(rank, from);
                    steps.push(Step::Acquire(rank));
                }
            }
            4 if stretches => {
                in_stretch[rank] = !in_stretch[rank];
                steps.push(match in_stretch[rank] {
                    true => Step::BeginStretch(rank),
                    false => Step::EndStretch(rank),
                });
            }
            _ => {
                let now = clocks.known[rank][rank];
                let is_direct = random.chance(20);
                let (mut reads, mut writes, mut sections) = (Vec::new(), Vec::new(), Vec::new());
                let mut some = random.chance(25);
                some &= !in_stretch[rank] && !is_direct;
                for (index, cell) in cells.iter_mut().enumerate() {
                    if !random.chance(25) || cell.is_direct != is_direct {
                        continue;
                    }
                    let mut add = |mode| sections.push(section(mode, cell.start, cell.bytes, &[]));
                    let may_read = clocks.may_read(cell, rank);
                    let may_write = clocks.may_write(cell, rank);
                    match random.below(4) {
                        0 | 1 if may_read => {
                            add(Mode::Read);
                            reads.push(index);
                            cell.read[rank] = Some(now);
                        }
                        2 | 3 if may_write => {
                            if some || random.chance(30) {
                                add(Mode::Read);
                                reads.push(index);
                            }
                            add(if some { Mode::MayWrite } else { Mode::Write });
                            writes.push(index);
                            cell.written = Some((rank, now));
                            cell.read.fill(None);
                        }
                        // It reads none of it.
                        _ if random.chance(30) => add(Mode::MayRead),
                        _ => {}
                    }
                }
                let step = Step::Access(rank, reads, writes, some);
                if is_direct || in_stretch[rank] {
                    steps.push(step);
                } else {
                    steps.push(Step::Declare(rank, sections));
                    pending[rank] = Some(step);
                }
            }
        }
    }
    steps.extend(pending.into_iter().flatten());
    let open = in_stretch.iter().enumerate().filter(|(_, open)| **open);
    steps.extend(open.map(|(rank, _)| Step::EndStretch(rank)));
    steps
}

fn run(job: &mut Job, cells: &[Cell], step: &Step, random: &mut Random) {
    match step {
        Step::Declare(rank, sections) => {
            let nest = nest(sections.clone());
            job.ranks[*rank].declare(nest.signature(), || sections.clone());
        }
        Step::Access(rank, reads, writes, some) => {
            let positions = |cell: &Cell| {
                let all = cell.start..cell.start + cell.bytes;
                let last = all.end - 1;
                all.filter(move |at| at % 5 == 0 || *at == last)
            };
            let is_open = |job: &Job, at: usize, access| {
                if !job.in_stretch[*rank] {
                    job.expect_open(*rank, at, access);
                }
            };
            for cell in reads.iter().map(|&index| &cells[index]) {
                for at in positions(cell).chain([cell.start]) {
                    is_open(job, at, Access::Read);
                    job.check(*rank, page_of(at), at % PAGE, "between nests");
                }
            }
            for cell in writes.iter().map(|&index| &cells[index]) {
                for at in cell.start..cell.start + cell.bytes {
                    if !some || random.chance(30) {
                        is_open(job, at, Access::Write);
                        job.write(*rank, page_of(at), at % PAGE, random.below(256) as u8);
                    }
                }
            }
        }
        Step::Release(rank) => job.release(*rank),
        Step::Acquire(rank) => job.ranks[*rank].acquire(),
        Step::Tell(from, to) => job.tell(*from, *to),
        Step::AcquireDirectly(rank) => job.acquire_directly(*rank),
        Step::BeginStretch(rank) => {
            job.ranks[*rank].begin_stretch(7);
            job.in_stretch[*rank] = true;
        }
        Step::EndStretch(rank) => {
            job.ranks[*rank].end_stretch();
            job.in_stretch[*rank] = false;
        }
    }
}

/// A region, some of whose intervals are the same again and again, as often as it is entered. Whether pages of the stack were in section mode.
fn region(job: &mut Job, random: &mut Random, stretches: bool) -> bool {
    let ranks = job.ranks.len();
    let direct: Vec<Page> = (0..random.below(4))
        .map(|_| random.below(job.used as usize) as Page)
        .collect();
    let accesses = Accesses::Declared {
        direct: direct.clone(),
        contributions: random.chance(50),
    };
    let enter = |job: &mut Job| {
        job.enter_region(&accesses);
        job.ranks.each(|_, node| node.side.coherence.expect_flags());
    };
    enter(job);
    let cells = some_cells(job, random, &direct);
    let intervals: Vec<Vec<Step>> = (0..1 + random.below(2))
        .map(|_| steps(&cells, ranks, stretches && random.chance(50), random))
        .collect();
    let mut has_stack = false;
    for time in 0..1 + random.below(3) {
        if time > 0 {
            serial(job, random);
            enter(job);
        }
        let mut is_first = true;
        for _ in 0..1 + random.below(3) {
            for usual in &intervals {
                if !std::mem::take(&mut is_first) {
                    job.barrier();
                }
                let unusual = random
                    .chance(15)
                    .then(|| steps(&cells, ranks, stretches, random));
                for step in unusual.as_ref().unwrap_or(usual) {
                    run(job, &cells, step, random);
                }
            }
        }
        has_stack |= job.ranks[0].has_stack_sections();
        job.leave_region();
    }
    has_stack
}

fn random_pipelines(seed: u64, ranks: usize) -> (Counts, bool) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut job = Job::new(ranks, false, None);
    job.cluster.borrow_mut().per_node = 1 + seed as usize % ranks;
    let mut has_stack = false;
    for _ in 0..4 {
        serial(&mut job, &mut random);
        let stretches = random.chance(40);
        has_stack |= region(&mut job, &mut random, stretches);
    }
    for page in 0..job.used {
        for offset in (0..PAGE).step_by(61) {
            job.check(0, page, offset, "at the end");
        }
    }
    (job.counts(0), has_stack)
}

#[test]
fn what_was_released_between_nests_is_read_after_an_acquisition() {
    let (mut pulls, mut acquires, mut moves, mut stacks) = (0, 0, 0, 0);
    let mut along = 0;
    for seed in seeds(120) {
        for ranks in 2..=4 {
            let (counts, has_stack) = random_pipelines(seed, ranks);
            moves += counts.moves;
            stacks += usize::from(has_stack);
            pulls += counts.pulls;
            acquires += counts.acquires;
            along += counts.bytes_along;
        }
    }
    assert!(pulls > 0 && acquires > 0);
    assert!(along > 1000, "{along}");
    assert!(moves > 20 && stacks > 20, "{moves} {stacks}");
}

/// Two ranks write the same by turns, one in each interval, and tell each other by flags.
#[test]
fn what_is_written_between_nests_again_and_again_goes_nowhere() {
    let mut random = Random(5);
    let mut job = Job::new(2, false, None);
    job.cluster.borrow_mut().per_node = 1;
    serial(&mut job, &mut random);
    job.enter_region(&Accesses::Declared {
        direct: Vec::new(),
        contributions: false,
    });
    job.ranks.each(|_, node| node.side.coherence.expect_flags());
    let cells = [Cell {
        start: PAGE + 100,
        bytes: PAGE,
        is_direct: false,
        written: None,
        read: vec![None; 2],
    }];
    let mut sent = Vec::new();
    for turn in 0..10 {
        if turn > 0 {
            job.barrier();
        }
        let (writer, other) = (turn % 2, 1 - turn % 2);
        let write = section(Mode::Write, cells[0].start, cells[0].bytes, &[]);
        let read = section(Mode::Read, cells[0].start, cells[0].bytes, &[]);
        for step in [
            Step::Acquire(writer),
            Step::Declare(writer, vec![write]),
            Step::Access(writer, vec![], vec![0], false),
            Step::Release(writer),
            Step::Acquire(other),
            Step::Declare(other, vec![read]),
            Step::Access(other, vec![0], vec![], false),
        ] {
            run(&mut job, &cells, &step, &mut random);
        }
        sent.push(job.counts(0).diff_bytes + job.counts(1).diff_bytes);
    }
    job.leave_region();
    // At first nobody knows what follows what.
    assert_eq!(sent[3], sent[9], "{sent:?}");
    assert!(job.counts(0).moves >= 5);
}

/// A region whose first interval alone has a pipeline: what it declared there the last time is expected when it begins, so that
/// from the second time on what is read behind a flag comes along with it.
#[test]
fn what_a_region_reads_behind_its_first_flag_comes_along() {
    let mut random = Random(5);
    let mut job = Job::new(2, false, None);
    job.cluster.borrow_mut().per_node = 1;
    serial(&mut job, &mut random);
    let cells = [Cell {
        start: PAGE + 100,
        bytes: PAGE,
        is_direct: false,
        written: None,
        read: vec![None; 2],
    }];
    let mut counts = Vec::new();
    for turn in 0..6 {
        if turn > 0 {
            job.fork(&[]);
        }
        job.enter_region(&Accesses::Declared {
            direct: Vec::new(),
            contributions: false,
        });
        job.ranks.each(|_, node| node.side.coherence.expect_flags());
        let write = section(Mode::Write, cells[0].start, cells[0].bytes, &[]);
        let read = section(Mode::Read, cells[0].start, cells[0].bytes, &[]);
        for step in [
            Step::Declare(1, vec![write]),
            Step::Access(1, vec![], vec![0], false),
            Step::Release(1),
            Step::Tell(1, 0),
            Step::AcquireDirectly(0),
            Step::Declare(0, vec![read]),
            Step::Access(0, vec![0], vec![], false),
        ] {
            run(&mut job, &cells, &step, &mut random);
        }
        job.leave_region();
        let Counts {
            pulls, bytes_along, ..
        } = job.counts(0);
        counts.push((pulls, bytes_along));
    }
    let (last, before) = (counts[5], counts[4]);
    assert_eq!(last.0, before.0, "it asks for nothing: {counts:?}");
    assert_eq!(last.1, before.1 + PAGE as u64, "{counts:?}");
}
