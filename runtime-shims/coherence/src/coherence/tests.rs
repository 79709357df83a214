//! The protocol on a simulated cluster: random race-free programs, random schedules, a reference memory.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use super::{
    declared::{Accesses, Along},
    *,
};
use crate::{
    geometry::signature::Signature,
    layout::{Layout, Sizes},
    random::Random,
};

mod accumulated;
mod cluster;
mod declared;
mod nests;

use cluster::{Cluster, Simulated};

struct Job {
    ranks: Vec<Coherence<Simulated>>,
    cluster: Rc<RefCell<Cluster>>,
    layout: Layout,
    /// What a single memory would hold.
    truth: Vec<[u8; PAGE]>,
    /// The pages programs use: globals, stack, arenas.
    used: u32,
    synchronisations: usize,
}

impl Job {
    fn new(ranks: usize, verify: bool, mappings: Option<u32>) -> Self {
        let sizes = Sizes {
            stack: 2 * PAGE,
            arena: 4 * PAGE,
            private: PAGE,
        };
        let layout = Layout::new(&[(0x40_0000, 0x40_3000)], sizes, ranks as u32);
        let pages = layout.pages() as usize;
        let tables = (0..ranks).map(|rank| PageTable::new(rank as u32, layout.clone(), verify));
        let protections = tables
            .map(|table| (0..pages as u32).map(|page| table.access(page)).collect())
            .collect();
        let cluster = Rc::new(RefCell::new(Cluster {
            memories: vec![vec![[0; PAGE]; pages]; ranks],
            protections,
            under_way: Vec::new(),
            per_node: ranks,
            pushed: BTreeMap::new(),
            expected: BTreeMap::new(),
            pushed_bytes: 0,
            taken_bytes: 0,
            near_bytes: 0,
            relayed: 0,
            marked: vec![Vec::new(); ranks],
        }));
        let ranks = (0..ranks)
            .map(|rank| {
                let machine = Simulated {
                    rank,
                    cluster: Rc::clone(&cluster),
                    mappings_left: mappings,
                    along: Vec::new(),
                };
                let table = PageTable::new(rank as u32, layout.clone(), verify);
                Coherence::new(rank as u32, table, machine, verify)
            })
            .collect();
        let used = layout.private_area(0).page;
        Self {
            ranks,
            cluster,
            layout,
            truth: vec![[0; PAGE]; pages],
            used,
            synchronisations: 0,
        }
    }

    fn read(&mut self, rank: usize, page: Page, offset: usize) -> u8 {
        if self.cluster.borrow().protections[rank][page as usize] == Access::None {
            self.ranks[rank]
                .fault(page, false)
                .expect("a page nobody may read");
        }
        let cluster = self.cluster.borrow();
        assert_ne!(
            cluster.protections[rank][page as usize],
            Access::None,
            "the fault was not served"
        );
        cluster.memories[rank][page as usize][offset]
    }

    fn write(&mut self, rank: usize, page: Page, offset: usize, value: u8) {
        if self.cluster.borrow().protections[rank][page as usize] != Access::Write {
            self.ranks[rank]
                .fault(page, true)
                .expect("a page nobody may write");
        }
        let mut cluster = self.cluster.borrow_mut();
        assert_eq!(
            cluster.protections[rank][page as usize],
            Access::Write,
            "the fault was not served"
        );
        cluster.memories[rank][page as usize][offset] = value;
        self.truth[page as usize][offset] = value;
    }

    fn check(&mut self, rank: usize, page: Page, offset: usize, when: &str) {
        let seen = self.read(rank, page, offset);
        let true_value = self.truth[page as usize][offset];
        assert_eq!(
            seen, true_value,
            "rank {rank}, page {page}, byte {offset}, {when}"
        );
    }

    /// A synchronisation after which the region goes on.
    fn barrier(&mut self) {
        self.synchronise(false);
        self.begin_pushes(None);
    }

    /// A barrier from which on a region that declares its accesses tells nothing.
    fn stop_declaring(&mut self) {
        self.synchronise(false);
        let waits: Vec<bool> = self
            .ranks
            .iter_mut()
            .map(|rank| rank.stop_declaring())
            .collect();
        assert!(waits.iter().all(|&wait| wait == waits[0]));
        assert!(self.cluster.borrow().under_way.is_empty());
        self.check_agreement();
        self.begin_pushes(None);
    }

    /// All ranks arrive at a synchronisation, where some data go along with other messages.
    fn arrive(&mut self) {
        self.synchronisations += 1;
        let (pattern, ranks) = (self.synchronisations % 4, self.ranks.len() as u32);
        let above = |rank: u32| rank & rank.wrapping_sub(1);
        let along = |from: u32, to: u32| match pattern {
            0 => None,
            1 => Some(Along::Arrival),
            _ if from != 0 && above(from) == to => Some(Along::Arrival),
            _ if to != 0 && above(to) == from => Some(Along::Departure),
            _ => None,
        };
        for rank in &mut self.ranks {
            rank.combine();
            rank.arrive(pattern == 1, along);
        }
        self.move_along(Along::Arrival);
        for pair in (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to))) {
            assert_eq!(
                self.ranks[pair.1 as usize].bytes_along(pair.0, Along::Arrival),
                0
            );
        }
    }

    /// All have arrived.
    fn depart(&mut self, ends_region: bool) {
        // Not every end of a region is known by these messages.
        let ends_region = ends_region && self.synchronisations % 4 == 3;
        for rank in &mut self.ranks {
            rank.depart(ends_region);
        }
        if !ends_region {
            self.move_along(Along::Departure);
        }
    }

    fn move_along(&mut self, with: Along) {
        for from in 0..self.ranks.len() {
            for to in 0..self.ranks.len() {
                let data = self.ranks[from].data_along(to as u32, with);
                let bytes = self.ranks[to].bytes_along(from as u32, with);
                assert_eq!(data.len(), bytes, "from {from} to {to}");
                if bytes != 0 {
                    self.cluster.borrow_mut().note_pushed((from, to), bytes);
                    self.ranks[to].receive_along(from as u32, with, &data);
                }
            }
        }
    }

    fn synchronise(&mut self, ends_region: bool) {
        self.arrive();
        let signatures: Vec<Signature> = self
            .ranks
            .iter_mut()
            .map(Coherence::declared_signature)
            .collect();
        let updates = self.ranks[0].take_updates(true);
        let notices: Vec<Notices> = self.ranks.iter_mut().map(Coherence::notices).collect();
        let decisions: Vec<bool> = self
            .ranks
            .iter_mut()
            .map(|rank| rank.apply(&notices, Phase::Parallel))
            .collect();
        assert!(
            decisions.iter().all(|&decision| decision == decisions[0]),
            "ranks decide differently"
        );
        if decisions[0] {
            self.ranks[0].machine.settle();
        }
        assert!(
            self.cluster.borrow().under_way.is_empty(),
            "bytes under way that nobody waits for"
        );
        for rank in &mut self.ranks {
            rank.apply_updates(&updates);
        }
        self.depart(ends_region);
        let declared = Signature::of_all(signatures);
        let learned = self.learn_copies(declared);
        let known = self.apply_declared(declared);
        assert!(known || !learned);
        self.check_agreement();
    }

    /// Begins to push what is expected to be copied.
    fn begin_pushes(&mut self, fork: Option<&[u64]>) {
        for rank in &mut self.ranks {
            rank.begin_pushes(Signature::START, fork);
        }
        self.relay();
        // Both sides of each message know it.
        let cluster = self.cluster.borrow();
        let lengths = |messages: &Vec<Vec<u8>>| messages.iter().map(Vec::len).collect();
        let pushed = cluster
            .pushed
            .iter()
            .map(|(pair, all)| (*pair, lengths(all)));
        let pushed: BTreeMap<(usize, usize), Vec<usize>> = pushed.collect();
        assert_eq!(pushed, cluster.expected);
    }

    /// Ranks pass on what comes to them, in some order, until nobody waits for anything.
    fn relay(&mut self) {
        let ranks = self.ranks.len();
        let pushed = |job: &Self| -> usize {
            let cluster = job.cluster.borrow();
            cluster.pushed.values().map(Vec::len).sum()
        };
        loop {
            let before = pushed(self);
            let first = self.synchronisations % ranks;
            let done = (0..ranks).filter(|at| self.ranks[(first + at) % ranks].relay());
            let is_done = done.count() == ranks;
            let relayed = pushed(self) - before;
            self.cluster.borrow_mut().relayed += relayed;
            if is_done {
                return;
            }
            assert_ne!(relayed, 0, "ranks wait for each other");
        }
    }

    /// Whether nothing was new.
    fn learn_copies(&mut self, declared: Signature) -> bool {
        let (copied, words): (Vec<Signature>, Vec<usize>) =
            self.ranks.iter().map(Coherence::copied).unzip();
        let copied = Signature::of_all(copied);
        let learned: Vec<bool> = self
            .ranks
            .iter()
            .map(|rank| rank.has_learned(declared, copied))
            .collect();
        assert!(learned.iter().all(|&one| one == learned[0]));
        let wanted: Vec<bool> = self
            .ranks
            .iter_mut()
            .map(|rank| rank.note_copied(copied, &words))
            .collect();
        assert!(wanted.iter().all(|&one| one == wanted[0]));
        assert!(!(wanted[0] && learned[0]));
        if !wanted[0] {
            return learned[0];
        }
        let all: Vec<Vec<u64>> = self.ranks.iter().map(Coherence::copies).collect();
        assert!(all.iter().map(Vec::len).eq(words));
        let all: Vec<&[u64]> = all.iter().map(Vec::as_slice).collect();
        for rank in &mut self.ranks {
            rank.learn_copies(copied, &all);
        }
        false
    }

    /// Whether it was known what follows.
    fn apply_declared(&mut self, declared: Signature) -> bool {
        let known: Vec<bool> = self
            .ranks
            .iter_mut()
            .map(|rank| rank.apply_declared(declared))
            .collect();
        assert!(
            known.iter().all(|&one| one == known[0]),
            "ranks know different transitions"
        );
        if known[0] {
            return true;
        }
        let enters = self.ranks.iter().any(Coherence::has_entering_pages);
        let is_too_much = |rank: &Coherence<Simulated>| {
            let (words, claims) = rank.declarations_length();
            claims > 90 || !enters && words > 60
        };
        let sends = self.ranks.iter().any(is_too_much);
        let may_do_without_claims = sends
            && !enters
            && self.ranks.iter().all(|rank| {
                let (words, claims) = rank.declarations_length();
                (claims == 0 || rank.omits_claims()) && words - claims <= 60
            });
        let mut all: Vec<Vec<u64>> = self.ranks.iter().map(Coherence::declarations).collect();
        for (rank, words) in self.ranks.iter().zip(&mut all) {
            let (length, claims) = rank.declarations_length();
            assert_eq!(length, words.len());
            match (sends, enters || may_do_without_claims) {
                (true, true) => words.truncate(length - claims),
                (true, false) => words.clear(),
                _ => {}
            }
        }
        let all: Vec<&[u64]> = all.iter().map(Vec::as_slice).collect();
        let does_without_claims = may_do_without_claims && {
            let matter = self.ranks.iter().map(|rank| rank.claims_would_matter(&all));
            let matter: Vec<bool> = matter.collect();
            assert!(matter.iter().all(|&one| one == matter[0]));
            !matter[0]
        };
        if sends && !does_without_claims {
            for rank in &mut self.ranks {
                rank.send_to_owners(&all);
            }
            return false;
        }
        let omitted = self.ranks.iter().any(Coherence::omits_claims);
        for rank in &mut self.ranks {
            rank.apply_declarations(&all, omitted);
        }
        false
    }

    /// Starts a region on all ranks.
    fn enter_region(&mut self, accesses: &Accesses) {
        let waits: Vec<bool> = self
            .ranks
            .iter_mut()
            .map(|rank| rank.enter_region(accesses.clone()))
            .collect();
        assert!(waits.iter().all(|&wait| wait == waits[0]));
        assert!(self.cluster.borrow().under_way.is_empty());
        self.check_agreement();
        let value = match accesses {
            Accesses::Declared { direct, .. } => direct.len(),
            Accesses::Tracked { .. } => 0,
        };
        self.begin_pushes(Some(&[value as u64]));
        for rank in &mut self.ranks {
            rank.begin_first_interval(Signature::START);
        }
    }

    fn begin_next_interval(&mut self) {
        for rank in &mut self.ranks {
            rank.begin_next_interval(0);
        }
    }

    /// Ends a region on all ranks with its join; serial code follows.
    fn leave_region(&mut self) {
        self.synchronise(true);
        for rank in &mut self.ranks {
            rank.end_intervals();
            rank.leave_region();
        }
        self.ranks[0].close_undeclared();
        self.check_agreement();
    }

    fn fork(&mut self, carried: &[Page]) {
        self.move_along(Along::Departure);
        let mut carried: Vec<Page> = carried
            .iter()
            .copied()
            .filter(|&page| self.ranks[0].can_travel(page))
            .collect();
        carried.sort_unstable();
        carried.dedup();
        self.ranks[0].make_room_for_updates(carried.len());
        let updates = self.ranks[0].take_updates(false);
        let notices = self.ranks[0].notices();
        for rank in &mut self.ranks {
            assert!(!rank.apply(std::slice::from_ref(&notices), Phase::Serial));
            rank.apply_updates(&updates);
        }
        for &page in &carried {
            let contents = *self.ranks[0].contents(page);
            for rank in &mut self.ranks {
                rank.receive(page, &contents);
                rank.apply_pending();
            }
        }
        self.check_agreement();
    }

    /// Homes and exclusiveness are the same everywhere, and protections are as noted.
    fn check_agreement(&self) {
        for page in 0..self.used {
            let first = self.ranks[0].pages();
            for (index, rank) in self.ranks.iter().enumerate() {
                assert_eq!(
                    rank.pages().home(page),
                    first.home(page),
                    "home of page {page}"
                );
                assert_eq!(
                    rank.pages().is_exclusive(page),
                    first.is_exclusive(page),
                    "page {page}"
                );
                let protection = self.cluster.borrow().protections[index][page as usize];
                let access = rank.pages().access(page);
                let expected = if rank.pages().is_closed(page) {
                    Access::None
                } else {
                    access
                };
                assert_eq!(protection, expected, "rank {index}, page {page}");
                let in_section_mode = rank.pages().has(page, flag::SECTION);
                assert_eq!(in_section_mode, first.has(page, flag::SECTION));
                if !in_section_mode
                    && rank.pages().is_exclusive(page)
                    && first.home(page) as usize != index
                {
                    assert_eq!(
                        access,
                        Access::None,
                        "rank {index} has an exclusive page {page}"
                    );
                }
            }
        }
    }
}

/// Bytes of the arena and globals that locks protect and atomics use: (first page's) last 64 bytes.
const GUARDED: usize = PAGE - 64;
const ATOMIC: usize = PAGE - 128;
/// Bytes before them in which objects are updated.
const UPDATED: usize = PAGE - 256;

fn random_program(seed: u64, ranks: usize, verify: bool, mappings: Option<u32>) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut job = Job::new(ranks, verify, mappings);
    for _ in 0..6 {
        serial(&mut job, &mut random);
        let pages = some_pages(&job, &mut random);
        for rank in &mut job.ranks {
            rank.begin_first_interval(Signature::START);
        }
        for _ in 0..1 + random.below(5) {
            interval(&mut job, &mut random, &pages, !verify, true);
            job.barrier();
            job.begin_next_interval();
        }
        job.barrier();
        for rank in &mut job.ranks {
            rank.end_intervals();
        }
    }
    let closings: u64 = job.ranks.iter().map(|rank| rank.counts.closings).sum();
    assert_eq!(
        closings > 0,
        mappings.is_some(),
        "closings happen where mappings are few"
    );
    for page in 0..job.used {
        for offset in (0..PAGE).step_by(61) {
            job.check(0, page, offset, "at the end");
        }
    }
}

fn serial(job: &mut Job, random: &mut Random) {
    for _ in 0..random.below(60) {
        let (page, offset) = (random.below(job.used as usize) as Page, random.below(PAGE));
        if random.chance(50) {
            job.write(0, page, offset, random.below(256) as u8);
        } else {
            job.check(0, page, offset, "in serial code");
        }
    }
    let carried: Vec<Page> = (0..random.below(3))
        .map(|_| random.below(job.used as usize) as Page)
        .collect();
    job.fork(&carried);
}

fn some_pages(job: &Job, random: &mut Random) -> Vec<Page> {
    (0..1 + random.below(6))
        .map(|_| random.below(job.used as usize) as Page)
        .collect()
}

/// What ranks do between two synchronisations: every byte has one writer, which others do not read.
fn interval(job: &mut Job, random: &mut Random, pages: &[Page], locks: bool, atomics: bool) {
    let ranks = job.ranks.len();
    // Byte `offset` of a page belongs to the rank that this says, or to readers.
    let grain = if random.chance(30) {
        PAGE
    } else {
        1 + random.below(40)
    };
    let shift = random.below(ranks + 1);
    let interval = random.below(1 << 20);
    let owner =
        move |page: Page, offset: usize| (offset / grain + page as usize + shift) % (ranks + 1);
    for _ in 0..random.below(300) {
        let rank = random.below(ranks);
        let page = pages[random.below(pages.len())];
        let offset = random.below(UPDATED);
        match random.below(20) {
            0 if locks => {
                job.ranks[rank].acquire();
                for _ in 0..random.below(6) {
                    let guarded = GUARDED + random.below(64);
                    job.check(rank, page, guarded, "under a lock");
                    job.write(rank, page, guarded, random.below(256) as u8);
                    let object = accumulated::object_in(random, page, guarded & !7);
                    let (operation, value) = accumulated::some_operation(random);
                    job.update(rank, object, operation, value);
                }
                job.ranks[rank].release();
            }
            1 if atomics => atomic(
                job,
                rank,
                page,
                ATOMIC + random.below(64),
                random.below(256) as u8,
            ),
            3..=6 => {
                let word = UPDATED + 8 * random.below((ATOMIC - UPDATED) / 8);
                let owner = (word / 8 + page as usize + shift) % (ranks + 1);
                let place = (page, word);
                accumulated::access_word(job, random, (rank, owner), place, interval, atomics);
            }
            2 => {
                let last = pages
                    .iter()
                    .copied()
                    .max()
                    .expect("not empty")
                    .min(page + 2);
                job.ranks[rank].touch(page, last, random.chance(50));
            }
            _ if owner(page, offset) == rank => {
                job.check(rank, page, offset, "its own byte");
                job.write(rank, page, offset, random.below(256) as u8);
            }
            _ if owner(page, offset) == ranks => {
                job.check(rank, page, offset, "a byte nobody writes")
            }
            _ => {}
        }
    }
}

fn atomic(job: &mut Job, rank: usize, page: Page, offset: usize, value: u8) {
    let home = job.ranks[rank].pages().home(page) as usize;
    job.ranks[rank].before_atomic(page);
    {
        let mut cluster = job.cluster.borrow_mut();
        assert_eq!(
            cluster.memories[home][page as usize][offset], job.truth[page as usize][offset],
            "an atomic sees the value before it"
        );
        cluster.memories[home][page as usize][offset] = value;
    }
    job.truth[page as usize][offset] = value;
    job.ranks[rank].after_atomic(page, offset, &[value], true);
}

#[test]
fn race_free_programs_see_one_memory() {
    for seed in 1..400 {
        for ranks in 1..=4 {
            random_program(seed, ranks, false, None);
        }
    }
}

#[test]
fn tracking_every_write_changes_nothing() {
    for seed in 1..150 {
        random_program(seed, 3, true, None);
    }
}

#[test]
fn a_limit_on_mappings_changes_nothing() {
    for seed in 1..150 {
        random_program(seed, 3, false, Some(20));
    }
}

#[test]
fn a_single_writer_takes_the_page_over_and_sends_nothing() {
    let mut job = Job::new(2, false, None);
    job.write(0, 0, 0, 1);
    job.fork(&[]);
    job.check(1, 0, 0, "first read");
    job.barrier();
    job.write(1, 0, 0, 2);
    job.barrier();
    assert_eq!(job.ranks[1].pages().home(0), 1);
    assert_eq!(job.ranks[1].counts.diffs, 0);
    assert!(job.ranks[1].pages().is_exclusive(0));
    job.check(0, 0, 0, "after the page moved");
}

#[test]
fn exclusive_pages_cost_no_faults() {
    let mut job = Job::new(2, false, None);
    job.fork(&[]);
    let arena = job.layout.arena(1).page;
    for round in 0..5 {
        job.write(1, arena, round, 1);
        job.write(0, 0, round, 1);
        job.barrier();
    }
    for rank in &job.ranks {
        assert_eq!((rank.counts.read_faults, rank.counts.write_faults), (0, 0));
    }
}

#[test]
fn sequential_readers_fetch_ahead() {
    let mut job = Job::new(2, false, None);
    job.fork(&[]);
    for page in job.layout.arena(0).page..job.layout.arena(0).page + 4 {
        job.check(1, page, 0, "sequential read");
    }
    assert_eq!(
        job.ranks[1].counts.read_faults, 3,
        "one page, then two, then the rest"
    );
}

#[test]
fn another_ranks_private_memory_can_be_read_but_not_written() {
    let mut job = Job::new(2, false, None);
    job.fork(&[]);
    let page = job.layout.private_area(0).page;
    job.check(1, page, 0, "a private page of rank 0");
    assert_eq!(job.ranks[1].fault(page, true), Err(Violation::PrivateWrite));
}

#[test]
fn changed_ranges_are_maximal() {
    let old = [0u8; PAGE];
    let mut new = old;
    for at in [0, 1, 63, 64, 65, 4095] {
        new[at] = 1;
    }
    let found: Vec<_> = changed_ranges(&new, &old).collect();
    assert_eq!(found, [(0, 2), (63, 66), (4095, 4096)]);
    assert_eq!(changed_ranges(&old, &old).count(), 0);
}

#[test]
fn runs_join_neighbours() {
    let run = |first, count| Run { first, count };
    assert_eq!(
        runs_of(&mut [5, 1, 2, 3, 9, 10]),
        [run(1, 3), run(5, 1), run(9, 2)]
    );
    assert!(runs_of(&mut []).is_empty());
}
