//! The protocol on a simulated cluster: random race-free programs, random schedules, a reference memory.

use std::{
    cell::{Ref, RefCell},
    collections::{BTreeMap, HashMap, VecDeque},
    rc::Rc,
    sync::Arc,
};

use super::{declared::Accesses, *};
use okl_testing::{Random, seeds};

use crate::{
    driver::{self, Driver, Kind, Region},
    geometry::signature::Signature,
    layout::{Layout, Sizes},
};

mod advice;
mod cluster;
mod collected;
mod declared;
mod growth;
mod meetings;
mod nests;
mod pipelines;
mod ranks;
mod remembered;
mod room;
mod sent_early;
mod stretches;
mod threads;

use cluster::{Cluster, Memory, Shortage, Side, Simulated, Wires};
use ranks::{Node, Ranks};

/// Declarations in more words are too many.
const MOST_WORDS: usize = 60;

struct Job {
    ranks: Ranks,
    cluster: Rc<RefCell<Cluster>>,
    layout: Layout,
    /// What a single memory would hold.
    truth: Vec<[u8; PAGE]>,
    /// The pages programs use: globals, stack, arenas.
    used: u32,
    forks: u64,
    /// The ranks that run code which declares nothing, in a region that declares its accesses.
    in_stretch: Vec<bool>,
    /// Bytes that a rank has changed atomically since it released something: others must not read them otherwise.
    racing: BTreeMap<(Page, usize), usize>,
    /// Where memory is freed now and then.
    frees: Option<Random>,
    /// Serial code is announced where it first touches something that it may not, and whether it has yet to be.
    announces: bool,
    unannounced: bool,
}

impl Job {
    fn new(ranks: usize, verify: bool, mappings: Option<u32>) -> Self {
        let count = ranks;
        let sizes = Sizes {
            stack: 2 * PAGE,
            first_arena: 4 * PAGE,
            arena: 4 * PAGE,
            private: PAGE,
            large: PAGE,
        };
        let layout = Layout::new(&[(0x40_0000, 0x40_3000)], sizes, ranks as u32);
        let pages = layout.pages() as usize;
        let tables = (0..ranks).map(|rank| PageTable::new(rank as u32, layout.clone(), verify));
        let memories: Arc<[Memory]> = tables
            .map(|table| Memory::new((0..pages as u32).map(|page| table.access(page)).collect()))
            .collect();
        let cluster = Rc::new(RefCell::new(Cluster {
            memories: Arc::clone(&memories),
            under_way: Vec::new(),
            per_node: ranks,
            pushed: BTreeMap::new(),
            expected: BTreeMap::new(),
            forgotten: BTreeMap::new(),
            in_tree: 0,
            gathers: 0,
            sent_in_tree: vec![(0, 0); ranks],
            pushed_bytes: 0,
            pushed_to: BTreeMap::new(),
            taken_bytes: 0,
            asked_bytes: 0,
            near_bytes: 0,
            relayed: 0,
            marked: vec![Vec::new(); ranks],
            advised: vec![0; ranks],
            has_stopped: vec![false; ranks],
            announced: Vec::new(),
            known_bytes: HashMap::new(),
            heard: vec![0; ranks],
            journal: vec![Vec::new(); ranks],
            told: BTreeMap::new(),
            messages: (0..ranks).map(|_| Vec::new()).collect(),
            copied: vec![Vec::new(); ranks],
            threads: (0..ranks).map(|_| VecDeque::new()).collect(),
            has_threads: false,
            random: Random(1 + ranks as u64),
        }));
        let wires = Rc::new(RefCell::new(Wires::default()));
        let ranks = Ranks::new(ranks, |rank, turns| {
            let machine = Simulated {
                rank,
                memories: Arc::clone(&memories),
                cluster: Rc::clone(&cluster),
                turns: Rc::clone(turns),
                mappings_left: mappings,
                shortage: None,
                along: Vec::new(),
            };
            let table = PageTable::new(rank as u32, layout.clone(), verify);
            let side = Side {
                rank: rank as u32,
                ranks: ranks as u32,
                coherence: Coherence::new(rank as u32, table, machine, verify),
                cluster: Rc::clone(&cluster),
                wires: Rc::clone(&wires),
                turns: Rc::clone(turns),
                operations: 0,
                rounds: 0,
                enclosed: Default::default(),
                opened: Vec::new(),
                is_apart: false,
            };
            let driver = Driver::new(MOST_WORDS);
            Node { side, driver }
        });
        let used = layout.private_area(0).page;
        Self {
            ranks,
            cluster,
            layout,
            truth: vec![[0; PAGE]; pages],
            used,
            forks: 0,
            in_stretch: vec![false; count],
            racing: BTreeMap::new(),
            frees: None,
            announces: false,
            unannounced: false,
        }
    }

    /// From now on memory is freed, and used again, and what ranks have copies of they give up, now and then.
    fn be_short_of_memory(&mut self, seed: u64) {
        let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) | 1);
        for rank in 0..self.ranks.len() {
            let sometimes = Random(random.0 ^ rank as u64);
            self.ranks[rank].machine.shortage = Some(Shortage::Sometimes(sometimes));
        }
        random.below(2);
        self.frees = Some(random);
    }

    /// Now and then: a rank, or some one, frees some of its heap right before a synchronisation.
    fn free_some(&mut self, rank: Option<usize>) -> Vec<(usize, Run)> {
        let mut freed = Vec::new();
        let Some(random) = &mut self.frees else {
            return freed;
        };
        if !random.chance(20) {
            return freed;
        }
        for _ in 0..1 + random.below(2) {
            let rank = rank.unwrap_or_else(|| random.below(self.ranks.len()));
            let arena = self.layout.arena(rank as u32);
            let first = random.below(arena.pages as usize) as u32;
            let run = Run {
                first: arena.page + first,
                count: 1 + random.below((arena.pages - first) as usize) as u32,
            };
            self.ranks[rank].free(run);
            freed.push((rank, run));
        }
        freed
    }

    /// What was freed gets new contents.
    fn use_again(&mut self, freed: &[(usize, Run)]) {
        let mut random = self.frees.take().expect("some was freed");
        for &(rank, run) in freed {
            for page in run.pages() {
                if random.chance(70) {
                    // Others go on meanwhile, or not.
                    self.ranks[rank].make_room(0);
                }
                // The rest without a look at each byte: the page is open.
                self.write(rank, page, 0, 0);
                let contents = std::array::from_fn(|_| random.below(256) as u8);
                self.cluster.borrow().memories[rank].set(page, 0, &contents);
                self.truth[page as usize] = contents;
            }
        }
        self.frees = Some(random);
    }

    fn memories(&self) -> Arc<[Memory]> {
        Arc::clone(&self.cluster.borrow().memories)
    }

    /// Before serial code touches a byte.
    fn announce(&mut self, rank: usize, page: Page, offset: usize, write: bool) {
        if rank == 0 && self.unannounced {
            let at = u64::from(page) * PAGE as u64 + offset as u64;
            let coherence = &mut self.ranks[0];
            let is_harmless = !coherence.is_in_section_mode((at, at + 1))
                || coherence.may_access_unannounced((at, at + 1), write);
            if !is_harmless {
                coherence.close_undeclared();
                self.unannounced = false;
            }
        }
    }

    fn read(&mut self, rank: usize, page: Page, offset: usize) -> u8 {
        self.ranks.catch_up(rank);
        self.announce(rank, page, offset, false);
        let memories = self.memories();
        if let Some(byte) = memories[rank].load(page, offset) {
            return byte;
        }
        self.ranks[rank]
            .fault(page, false)
            .expect("a page nobody may read");
        let byte = memories[rank].load(page, offset);
        byte.expect("the fault is served")
    }

    fn write(&mut self, rank: usize, page: Page, offset: usize, value: u8) {
        self.ranks.catch_up(rank);
        self.announce(rank, page, offset, true);
        let memories = self.memories();
        if !memories[rank].store(page, offset, value) {
            self.ranks[rank]
                .fault(page, true)
                .expect("a page nobody may write");
            let is_served = memories[rank].store(page, offset, value);
            assert!(is_served, "the fault was not served");
        }
        self.truth[page as usize][offset] = value;
    }

    fn release(&mut self, rank: usize) {
        self.ranks[rank].release();
        self.racing.retain(|_, writer| *writer != rank);
    }

    /// A rank that has released something tells another one directly.
    fn tell(&mut self, from: usize, to: usize) {
        let ranges = self.ranks[from].to_send_directly(to as u32);
        let mut cluster = self.cluster.borrow_mut();
        let bytes = cluster.memories[from].bytes(&ranges);
        let (mut message, words) = cluster.tell((from, to));
        message.bytes = bytes;
        message.ranges = ranges.to_vec();
        cluster.messages[to].push((message, words));
    }

    /// A rank acquires what it was told directly.
    fn acquire_directly(&mut self, rank: usize) {
        let messages = self.cluster.borrow_mut().take_messages(rank);
        self.ranks[rank].acquire_directly(messages);
    }

    /// Under a lock: what another rank changed atomically before it released something.
    fn check_atomic(&mut self, rank: usize, page: Page, offset: usize) {
        let writer = self.racing.get(&(page, offset));
        if writer.is_none_or(|&writer| writer == rank) {
            self.check(rank, page, offset, "changed atomically before");
        }
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
        let freed = self.free_some(None);
        self.meet();
        if !freed.is_empty() {
            self.use_again(&freed);
            self.meet();
        }
    }

    fn meet(&mut self) {
        self.racing.clear();
        self.ranks.each(|_, node| {
            let met = node.driver.synchronise(&mut node.side, Kind::Barrier, 0);
            assert!(!met.joined);
        });
        self.look();
    }

    /// A barrier from which on a region that declares its accesses tells nothing.
    fn stop_declaring(&mut self) {
        self.barrier();
        self.ranks
            .each(|_, node| driver::stop_declaring(&mut node.side));
        self.look();
    }

    /// Starts a region on all ranks.
    fn enter_region(&mut self, accesses: &Accesses) {
        let value = match accesses {
            Accesses::Declared { direct, .. } => direct.len(),
            Accesses::Tracked { .. } => 0,
        };
        let accesses = accesses.clone();
        self.ranks.each(move |_, node| {
            let region = Region {
                name: 1,
                threads: 0,
                values: &[value as u64],
            };
            let accesses = Some(accesses.clone());
            node.driver.enter_region(&mut node.side, &region, accesses);
        });
        self.look();
        self.begin_first_interval();
    }

    fn begin_first_interval(&mut self) {
        self.ranks
            .each(|_, node| node.side.coherence.begin_first_interval(Signature::START));
    }

    fn begin_next_interval(&mut self) {
        self.ranks
            .each(|_, node| node.side.coherence.begin_next_interval(0));
    }

    fn end_intervals(&mut self) {
        self.ranks
            .each(|_, node| node.side.coherence.end_intervals());
    }

    /// Ends a region on all ranks with its join; serial code follows.
    fn leave_region(&mut self) {
        let mut freed = self.free_some(None);
        freed.iter_mut().for_each(|one| one.0 = 0);
        self.join();
        if !freed.is_empty() {
            self.use_again(&freed);
        }
    }

    fn join(&mut self) {
        self.racing.clear();
        self.unannounced = self.announces;
        let closes = !self.announces;
        self.ranks.each(move |rank, node| {
            while !node
                .driver
                .synchronise(&mut node.side, Kind::Join, 0)
                .joined
            {}
            node.driver.leave_region(&mut node.side);
            let coherence = &mut node.side.coherence;
            coherence.end_intervals();
            coherence.leave_region();
            if rank == 0 && closes {
                coherence.close_undeclared();
            }
        });
        self.look();
    }

    fn fork(&mut self, carried: &[Page]) {
        let freed = self.free_some(Some(0));
        if !freed.is_empty() {
            self.begin(carried);
            self.enter_region(&Accesses::Tracked { atomics: false });
            self.use_again(&freed);
            self.join();
        }
        self.begin(carried);
    }

    fn begin(&mut self, carried: &[Page]) {
        let carried = carried.to_vec();
        self.forks += 1;
        self.unannounced = false;
        let number = self.forks;
        self.ranks.each(move |rank, node| {
            let side = &mut node.side;
            let fork = if rank == 0 {
                let carried = carried.iter().copied();
                let mut carried: Vec<Page> = carried
                    .filter(|&page| side.coherence.can_travel(page))
                    .collect();
                carried.sort_unstable();
                carried.dedup();
                let fork = node.driver.prepare_fork(side, carried);
                node.driver.send_fork(side, &fork, &[number]);
                fork
            } else {
                let (fork, words) = node.driver.receive_fork(side).expect("there are more");
                assert_eq!(words, [number]);
                fork
            };
            node.driver.apply_fork(side, &fork);
        });
        self.look();
    }

    /// The program ends: ranks that wait for regions do not any more.
    fn end(&mut self) {
        self.ranks.each(|rank, node| match rank {
            0 => node.driver.end(&mut node.side),
            _ => assert!(node.driver.receive_fork(&mut node.side).is_none()),
        });
        assert!(self.ranks.catch_all_up());
        self.check_messages();
    }

    /// Now and then: waits for all ranks, if they can go on without another word, and looks at them.
    fn look(&mut self) {
        if self.ranks.chance(30) && self.ranks.catch_all_up() {
            self.check_agreement();
        }
    }

    /// What a rank has done, when the ranks have done what they can.
    fn counts(&self, rank: usize) -> Counts {
        self.ranks.catch_all_up();
        self.ranks.as_it_is(rank).counts
    }

    /// The machines, when the ranks have done what they can.
    fn cluster(&self) -> Ref<'_, Cluster> {
        self.ranks.catch_all_up();
        self.cluster.borrow()
    }

    /// Nothing is under way, and both sides of each message know it.
    fn check_messages(&self) {
        let cluster = self.cluster.borrow();
        assert!(
            cluster.under_way.is_empty(),
            "bytes under way that nobody waits for"
        );
        let lengths = |messages: &Vec<Vec<u8>>| messages.iter().map(Vec::len).collect();
        let pushed = cluster.pushed.iter();
        let pushed = pushed.map(|(pair, all)| (*pair, lengths(all)));
        let pushed: BTreeMap<(usize, usize), Vec<usize>> = pushed.collect();
        assert_eq!(pushed, cluster.expected);
        assert!(cluster.forgotten.is_empty());
    }

    /// Homes and exclusiveness are the same everywhere, and protections are as noted.
    fn check_agreement(&self) {
        self.check_messages();
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
                let protection = self.cluster.borrow().memories[index].access(page);
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
    if seed.is_multiple_of(2) {
        job.be_short_of_memory(seed);
    }
    for _ in 0..6 {
        serial(&mut job, &mut random);
        let pages = some_pages(&job, &mut random);
        job.begin_first_interval();
        for _ in 0..1 + random.below(5) {
            interval(&mut job, &mut random, &pages, !verify, true);
            job.barrier();
            job.begin_next_interval();
        }
        job.barrier();
        job.end_intervals();
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

/// A job that `seed` draws, on as many nodes and with as much memory as it says, and what draws the rest.
fn random_job(seed: u64, ranks: usize, mappings: Option<u32>) -> (Job, Random) {
    let random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut job = Job::new(ranks, false, mappings);
    job.cluster.borrow_mut().per_node = 1 + seed as usize % ranks;
    if seed.is_multiple_of(2) {
        job.be_short_of_memory(seed);
    }
    (job, random)
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
        if job.frees.is_some() && random.chance(10) {
            job.ranks[rank].make_room(0);
        }
        match random.below(20) {
            0 if locks => {
                job.ranks[rank].acquire();
                let (contributes, some) = (random.chance(30), [4, 64][random.below(2)]);
                for _ in 0..random.below(6) {
                    let guarded = GUARDED + random.below(some);
                    job.check(rank, page, guarded, "under a lock");
                    job.write(rank, page, guarded, random.below(256) as u8);
                    if random.chance(20) {
                        // Another lock, which is released before.
                        job.ranks[rank].acquire();
                    }
                    if contributes {
                        let object = collected::object_in(random, page, guarded & !7);
                        let (operation, value) = collected::some_operation(random);
                        job.contribute(rank, object, operation, value);
                    }
                    if atomics {
                        job.check_atomic(rank, page, ATOMIC + random.below(64));
                    }
                }
                job.release(rank);
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
                collected::access_word(job, random, (rank, owner), place, interval, atomics);
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
    let Some(home) = job.ranks[rank].holder(page, offset, 1) else {
        return;
    };
    let home = home as usize;
    job.ranks[rank].before_atomic(page);
    {
        let memories = job.memories();
        assert_eq!(
            memories[home].byte(page, offset),
            job.truth[page as usize][offset],
            "an atomic sees the value before it"
        );
        memories[home].set(page, offset, &[value]);
    }
    job.truth[page as usize][offset] = value;
    job.racing.insert((page, offset), rank);
    job.ranks[rank].after_atomic(page, offset, &[value], true);
}

#[test]
fn race_free_programs_see_one_memory() {
    for seed in seeds(400) {
        for ranks in 1..=4 {
            random_program(seed, ranks, false, None);
        }
    }
}

#[test]
fn tracking_every_write_changes_nothing() {
    for seed in seeds(150) {
        random_program(seed, 3, true, None);
    }
}

#[test]
fn a_limit_on_mappings_changes_nothing() {
    for seed in seeds(150) {
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
fn an_acquisition_keeps_what_nobody_changed() {
    let mut job = Job::new(3, false, None);
    for page in 0..3 {
        job.write(0, page, 0, 1);
    }
    job.fork(&[]);
    let mut fetched = 0;
    for round in 0..5 {
        for page in [2, 0, 1] {
            job.check(1, page, 0, "in a critical section");
        }
        job.ranks[1].release();
        let now = job.ranks[1].counts.pages_fetched;
        let new = std::mem::replace(&mut fetched, now);
        assert_eq!(now - new, if round == 0 { 3 } else { 1 }, "round {round}");
        job.ranks[2].acquire();
        job.write(2, 1, 0, round);
        job.ranks[2].release();
        job.ranks[1].acquire();
    }
    job.barrier();
    for page in 0..3 {
        job.check(1, page, 0, "after the region");
    }
}

#[test]
fn what_was_sent_at_an_acquisition_is_announced_later() {
    let mut job = Job::new(3, false, None);
    job.write(0, 0, 0, 1);
    job.fork(&[]);
    for rank in 1..3 {
        job.check(rank, 0, 0, "a copy");
        job.ranks[rank].acquire();
    }
    job.write(1, 0, 1, 2);
    job.write(2, 0, 2, 3);
    job.ranks[2].release();
    // It loses its copy, so that what it wrote goes home.
    job.ranks[1].acquire();
    job.check(2, 0, 0, "a copy again");
    job.ranks[1].release();
    job.ranks[2].acquire();
    job.check(2, 0, 1, "released by rank 1");
    job.check(2, 0, 2, "its own");
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
    for rank in job.ranks.iter() {
        assert_eq!((rank.counts.read_faults, rank.counts.write_faults), (0, 0));
    }
}

/// What rank 0 sets and the others read, as the result of a reduction, costs faults until that is known, and again where it
/// is not what it was: large, or another rank's.
#[test]
fn what_rank_0_sets_for_all_costs_no_faults() {
    let mut job = Job::new(3, false, None);
    let page = job.layout.arena(0).page;
    job.fork(&[]);
    let faults = |job: &Job| -> u64 {
        (0..3)
            .map(|rank| job.counts(rank).read_faults + job.counts(rank).write_faults)
            .sum()
    };
    let step = |job: &mut Job, writer: usize, bytes: usize| {
        let before = faults(job);
        for offset in 0..bytes {
            let value = job.read(writer, page, 100 + offset).wrapping_add(1);
            job.write(writer, page, 100 + offset, value);
        }
        job.barrier();
        for rank in 0..3 {
            job.check(rank, page, 100, "set before the barrier");
        }
        job.barrier();
        faults(job) - before
    };
    let first: Vec<u64> = (0..2).map(|_| step(&mut job, 0, 8)).collect();
    assert!(first.iter().all(|&faults| faults > 0), "{first:?}");
    for _ in 0..20 {
        assert_eq!(step(&mut job, 0, 8), 0);
    }
    assert!(step(&mut job, 0, 2000) > 0, "too much");
    let again: Vec<u64> = (0..10).map(|_| step(&mut job, 0, 8)).collect();
    assert_eq!(again.last(), Some(&0), "{again:?}");
    assert!(step(&mut job, 1, 8) > 0, "another rank's");
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

/// Ranks in turn run tasks of each other, which write a private page of rank 0, while that writes it too.
#[test]
fn guests_write_other_ranks_private_memory() {
    for seed in 0..20 {
        let mut random = Random(seed + 1);
        let mut job = Job::new(3, false, None);
        job.fork(&[]);
        let stack = job.layout.private_area(0).page;
        let pages = [stack, 0, job.layout.arena(1).page];
        for _ in 0..200 {
            let guest = 1 + random.below(2);
            job.release(0);
            job.ranks[guest].begin_guest();
            for _ in 0..random.below(4) {
                let page = pages[random.below(3)];
                // Rank 0 and the guests have different bytes between two meetings.
                let offset = 2 * random.below(20);
                job.check(guest, page, offset, "in a guest");
                job.write(guest, page, offset, random.below(3) as u8);
                let value = random.below(3) as u8;
                job.write(0, stack, 2 * random.below(20) + 1, value);
                if random.below(5) == 0 {
                    job.release(guest);
                    job.ranks[guest].acquire();
                }
            }
            job.ranks[guest].end_guest();
            job.ranks[0].acquire();
            for page in pages {
                job.check(0, page, 2 * random.below(20), "when a guest has gone");
                job.write(0, page, 2 * random.below(20), random.below(3) as u8);
            }
            if random.below(20) == 0 {
                job.barrier();
            }
        }
        assert_eq!(
            job.ranks[1].fault(stack, true),
            Err(Violation::PrivateWrite)
        );
        job.barrier();
        for rank in 0..3 {
            (0..40).for_each(|offset| job.check(rank, stack, offset, "at the end"));
        }
    }
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
