//! Machines for the protocol, and ways between ranks: the memory of all ranks in one process.

use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap, VecDeque},
    rc::Rc,
    sync::{Arc, RwLock},
    thread,
};

use okl_abi::AtomicOp;
use okl_testing::Random;

use super::{
    nests::{Single, What},
    ranks::Turns,
};
use crate::{
    coherence::{
        Access, Coherence, Event, Heard, Machine, Object, Part, Run, TooManyMappings,
        declared::directly::Message,
    },
    contents::Contents,
    driver::{Collectives, Enclosed, Kind, Rank, Waits},
    geometry::{ranges::Ranges, signature::Signature},
    layout::{PAGE, Page},
};

/// One rank's memory, and what its program may access of it. Threads of the program reach it at any time.
pub(super) struct Memory {
    pages: Vec<Contents>,
    /// Who accesses memory has looked before, and no protection changes between: as with the kernel's.
    accesses: RwLock<Vec<Access>>,
}

impl Memory {
    pub(super) fn new(accesses: Vec<Access>) -> Self {
        Self {
            pages: accesses.iter().map(|_| Contents::zeros()).collect(),
            accesses: RwLock::new(accesses),
        }
    }

    pub(super) fn access(&self, page: Page) -> Access {
        self.accesses.read().expect("no panic")[page as usize]
    }

    fn protect(&self, first: Page, count: u32, access: Access) {
        let pages = first as usize..(first + count) as usize;
        self.accesses.write().expect("no panic")[pages].fill(access);
    }

    /// What the program reads, if the page is open.
    pub(super) fn load(&self, page: Page, offset: usize) -> Option<u8> {
        let accesses = self.accesses.read().expect("no panic");
        (accesses[page as usize] != Access::None).then(|| self.byte(page, offset))
    }

    /// The program writes, if the page is open for that. Whether it was.
    pub(super) fn store(&self, page: Page, offset: usize, value: u8) -> bool {
        let accesses = self.accesses.read().expect("no panic");
        let is_open = accesses[page as usize] == Access::Write;
        if is_open {
            self.set_byte(page, offset, value);
        }
        is_open
    }

    /// A byte, whatever the protection.
    pub(super) fn byte(&self, page: Page, offset: usize) -> u8 {
        self.pages[page as usize].byte(offset)
    }

    /// Puts a byte there, whatever the protection.
    pub(super) fn set_byte(&self, page: Page, offset: usize, value: u8) {
        self.pages[page as usize].set_byte(offset, value);
    }

    /// The bytes of these ranges one after the other, whatever the protection.
    pub(super) fn bytes(&self, ranges: &[(u64, u64)]) -> Vec<u8> {
        let mut bytes =
            vec![0; ranges.iter().map(|(start, end)| end - start).sum::<u64>() as usize];
        let mut rest = &mut bytes[..];
        for (page, offset, length) in in_pages(ranges) {
            let (these, others) = rest.split_at_mut(length);
            self.pages[page as usize].read(offset, these);
            rest = others;
        }
        bytes
    }

    /// Puts bytes into these ranges one after the other, whatever the protection.
    pub(super) fn set_bytes(&self, ranges: &[(u64, u64)], mut bytes: &[u8]) {
        for (page, offset, length) in in_pages(ranges) {
            let (these, others) = bytes.split_at(length);
            self.set(page, offset, these);
            bytes = others;
        }
    }

    /// Puts bytes there, whatever the protection.
    pub(super) fn set(&self, page: Page, offset: usize, bytes: &[u8]) {
        self.pages[page as usize].write(offset, bytes);
    }
}

/// The ranges page by page: page, offset and length.
fn in_pages(ranges: &[(u64, u64)]) -> impl Iterator<Item = (Page, usize, usize)> {
    ranges.iter().flat_map(|&(start, end)| {
        let (mut at, end) = (start as usize, end as usize);
        std::iter::from_fn(move || {
            let length = (end - at).min(PAGE - at % PAGE);
            let part = ((at / PAGE) as Page, at % PAGE, length);
            at += length;
            (length != 0).then_some(part)
        })
    })
}

/// What the ranks have, and what is between them.
pub(super) struct Cluster {
    pub(super) memories: Arc<[Memory]>,
    /// Changed bytes and contributions that have been sent but not yet arrived: sender, target, and place.
    pub(super) under_way: Vec<((usize, usize), Page, usize, Sent)>,
    /// So many ranks share a node.
    pub(super) per_node: usize,
    /// What one rank pushed to another, and how many bytes the other expects of the one: message by message.
    /// What nobody will take any more is empty.
    pub(super) pushed: BTreeMap<(usize, usize), Vec<Vec<u8>>>,
    pub(super) expected: BTreeMap<(usize, usize), Vec<usize>>,
    /// Messages that nobody will take any more, with their bytes, which the sender has yet to send.
    pub(super) forgotten: BTreeMap<((usize, usize), usize), usize>,
    /// How many bytes were pushed, and how many of them taken.
    pub(super) pushed_bytes: usize,
    pub(super) taken_bytes: usize,
    /// How many one rank pushed to another.
    pub(super) pushed_to: BTreeMap<(usize, usize), usize>,
    /// How many declared bytes a rank asked another node for.
    pub(super) asked_bytes: usize,
    /// How many were pushed within a node, which ranks pass on.
    pub(super) near_bytes: usize,
    /// How many messages were passed on.
    pub(super) relayed: usize,
    /// How many messages went up, down and across the tree, and how many all-gathers there were.
    pub(super) in_tree: usize,
    pub(super) gathers: usize,
    /// How many messages each rank has sent there, and words besides the program's bytes.
    pub(super) sent_in_tree: Vec<(usize, usize)>,
    /// What each rank has marked as written.
    pub(super) marked: Vec<Vec<(u64, u64)>>,
    /// How often each rank was told that the region that runs is to access memory otherwise from its next execution
    /// on.
    pub(super) advised: Vec<usize>,
    pub(super) has_stopped: Vec<bool>,
    /// What ranks have announced, and how much of it each has heard.
    pub(super) announced: Vec<(usize, Announced)>,
    /// Sets of bytes that some rank has announced.
    pub(super) known_bytes: HashMap<Signature, Ranges>,
    pub(super) heard: Vec<usize>,
    /// What each rank has announced and heard since the interval began, and how much of that it has told another one
    /// directly.
    pub(super) journal: Vec<Journal>,
    pub(super) told: BTreeMap<(usize, usize), usize>,
    /// What each rank was told so, and has not acquired.
    pub(super) messages: Vec<Vec<(Message, Journal)>>,
    /// What others have copied of each rank's pages since it looked.
    pub(super) copied: Vec<Vec<Run>>,
    /// What another thread of each rank is about to access: it does so whenever the rank's machine is used, as far as pages
    /// are open.
    pub(super) threads: Vec<VecDeque<Single>>,
    /// Threads of the operating system run the program.
    pub(super) has_threads: bool,
    pub(super) random: Random,
}

/// What a rank is told of how much memory there is.
pub(super) enum Shortage {
    /// Now and then too little.
    Sometimes(Random),
    /// Too little for more pages than these.
    Beyond(usize),
}

/// What was announced, and by which ranks.
pub(super) type Journal = Vec<(usize, Announced)>;

/// What a rank announces.
#[derive(Clone, Copy)]
pub(super) enum Announced {
    Page(Page),
    Bytes(Signature),
    /// Any page.
    All,
}

pub(super) enum Sent {
    Bytes(Vec<u8>),
    Value(AtomicOp, u64, usize),
}

impl Cluster {
    /// Notes that one rank sent bytes to another.
    pub(super) fn note_pushed(&mut self, (from, to): (usize, usize), bytes: usize) {
        self.pushed_bytes += bytes;
        if bytes != 0 {
            *self.pushed_to.entry((from, to)).or_default() += bytes;
        }
        let is_far = from / self.per_node != to / self.per_node;
        self.near_bytes += if is_far { 0 } else { bytes };
    }

    /// Another thread of a rank goes on for a while, or until a page is closed.
    fn let_thread_run(&mut self, rank: usize) {
        if self.has_threads {
            return thread::yield_now();
        }
        if self.threads[rank].is_empty() || self.random.chance(50) {
            return;
        }
        for _ in 0..1 + self.random.below(40) {
            let Some(one) = self.threads[rank].front() else {
                return;
            };
            let (page, offset) = ((one.at / PAGE) as Page, one.at % PAGE);
            let memory = &self.memories[rank];
            match one.what {
                What::Read(value) => match memory.load(page, offset) {
                    Some(seen) => assert_eq!(seen, value, "rank {rank}, byte {}", one.at),
                    None => return,
                },
                What::Write { value, marked } => {
                    if !memory.store(page, offset, value) {
                        return;
                    }
                    if marked {
                        let bytes = (one.at as u64, one.at as u64 + 1);
                        self.marked[rank].push(bytes);
                    }
                }
            }
            self.threads[rank].pop_front();
        }
    }

    /// A rank knows what it has announced from that number on.
    fn note_in_journal(&mut self, rank: usize, from: usize) {
        let own = self.announced[from..].iter();
        self.journal[rank].extend(own.copied());
    }

    fn heard_of<'a>(&self, all: impl Iterator<Item = &'a (usize, Announced)>) -> Option<Heard> {
        let mut heard = Heard::default();
        for (_, one) in all {
            match *one {
                Announced::Page(page) => heard.pages.push(page),
                Announced::Bytes(id) => heard.bytes.push((id, self.known_bytes[&id].clone())),
                Announced::All => return None,
            }
        }
        Some(heard)
    }

    /// What one rank tells another directly, without the bytes that come along. What it will have heard then is the
    /// receiver's to note.
    pub(super) fn tell(&mut self, (from, to): (usize, usize)) -> (Message, Journal) {
        let all = self.journal[from].len();
        let before = self.told.insert((from, to), all).unwrap_or(0);
        let words = self.journal[from][before..].to_vec();
        let own = words.iter().filter(|(by, _)| *by == from);
        let others = words.iter().filter(|(by, _)| *by != from && *by != to);
        let message = Message {
            from: from as u32,
            own: self.heard_of(own),
            others: self.heard_of(others),
            ranges: Vec::new(),
            bytes: Vec::new(),
        };
        (message, words)
    }

    /// What a rank acquires of that.
    pub(super) fn take_messages(&mut self, rank: usize) -> Vec<Message> {
        let messages = std::mem::take(&mut self.messages[rank]);
        let (messages, words): (Vec<Message>, Vec<_>) = messages.into_iter().unzip();
        let others = words.into_iter().flatten().filter(|(by, _)| *by != rank);
        self.journal[rank].extend(others);
        messages
    }

    fn is_held(&self, rank: usize, page: Page) -> bool {
        !self.memories[rank].pages[page as usize].is(&[GIVEN_UP; PAGE])
    }

    /// How many pages take memory of a rank.
    pub(super) fn held(&self, rank: usize) -> usize {
        let pages = 0..self.memories[rank].pages.len() as Page;
        pages.filter(|&page| self.is_held(rank, page)).count()
    }

    fn arrive(&mut self, rank: usize, page: Page, offset: usize, sent: Sent) {
        let memory = &self.memories[rank];
        match sent {
            Sent::Bytes(bytes) => memory.set(page, offset, &bytes),
            Sent::Value(operation, value, size) => {
                let object = Object { page, offset, size };
                object.contribute_to(&memory.pages[page as usize], operation, value);
            }
        }
    }
}

pub(super) struct Simulated {
    pub(super) rank: usize,
    pub(super) memories: Arc<[Memory]>,
    pub(super) cluster: Rc<RefCell<Cluster>>,
    pub(super) turns: Rc<Turns>,
    pub(super) mappings_left: Option<u32>,
    pub(super) shortage: Option<Shortage>,
    /// What came along with other messages.
    pub(super) along: Vec<Option<Vec<u8>>>,
}

/// Who has missed more announcements, or more notes of copies, does not know which they were.
const MOST_ANNOUNCED: usize = 30;

/// There is room for so many sets of bytes that ranks announce.
const MOST_KNOWN: usize = 40;
const MOST_COPIED: usize = 8;

/// What memory holds that was given up.
const GIVEN_UP: u8 = 0xdb;

/// Numbers of messages that come along with others begin here.
const FIRST_ALONG: u64 = 1 << 32;

impl Simulated {
    fn memory(&self) -> &Memory {
        &self.memories[self.rank]
    }

    fn let_thread_run(&self) {
        self.cluster.borrow_mut().let_thread_run(self.rank);
    }

    /// A message from `owner`, which may have yet to send it.
    fn message(&self, owner: u32, number: u64) -> Vec<u8> {
        match number.checked_sub(FIRST_ALONG) {
            Some(along) => self.along[along as usize].clone().expect("it has come"),
            None => {
                let pair = (owner as usize, self.rank);
                let number = number as usize;
                let sent = || {
                    let cluster = self.cluster.borrow();
                    let messages = cluster.pushed.get(&pair);
                    messages.is_some_and(|messages| messages.len() > number)
                };
                self.turns.wait_until(sent);
                self.cluster.borrow().pushed[&pair][number].clone()
            }
        }
    }
}

impl Machine for Simulated {
    fn protect(&mut self, first: Page, count: u32, access: Access) -> Result<(), TooManyMappings> {
        self.let_thread_run();
        if let Some(left) = &mut self.mappings_left {
            if *left == 0 {
                *left = 60;
                return Err(TooManyMappings);
            }
            *left -= 1;
        }
        self.memory().protect(first, count, access);
        Ok(())
    }

    fn fetch(&mut self, first: Page, count: u32, home: u32) {
        self.let_thread_run();
        assert_ne!(home as usize, self.rank, "a rank fetches its own page");
        for page in first..first + count {
            let contents = self.memories[home as usize].pages[page as usize].copy();
            self.memory().set(page, 0, &contents);
        }
    }

    fn pull(&mut self, owner: u32, ranges: &[(u64, u64)]) {
        self.let_thread_run();
        assert_ne!(owner as usize, self.rank, "a rank copies its own bytes");
        let is_far = !self.is_near(owner);
        let bytes = self.memories[owner as usize].bytes(ranges);
        self.memory().set_bytes(ranges, &bytes);
        self.cluster.borrow_mut().asked_bytes += if is_far { bytes.len() } else { 0 };
        self.let_thread_run();
    }

    fn take_marked(&mut self, _last: bool) -> Ranges {
        self.let_thread_run();
        let marked = &mut self.cluster.borrow_mut().marked[self.rank];
        Ranges::of(std::mem::take(marked))
    }

    fn spans_nodes(&self) -> bool {
        self.memories.len() > self.cluster.borrow().per_node
    }

    fn is_near(&self, rank: u32) -> bool {
        let per_node = self.cluster.borrow().per_node;
        self.rank / per_node == rank as usize / per_node
    }

    fn node(&self, rank: u32) -> u32 {
        (rank as usize / self.cluster.borrow().per_node) as u32
    }

    fn push(&mut self, rank: u32, bytes: Vec<u8>) {
        let pair = (self.rank, rank as usize);
        let mut cluster = self.cluster.borrow_mut();
        cluster.note_pushed(pair, bytes.len());
        let number = cluster.pushed.entry(pair).or_default().len();
        let bytes = match cluster.forgotten.remove(&(pair, number)) {
            Some(expected) => {
                assert_eq!(bytes.len(), expected, "{pair:?}");
                Vec::new()
            }
            None => bytes,
        };
        cluster.pushed.entry(pair).or_default().push(bytes);
        self.turns.note();
    }

    fn expect(&mut self, owner: u32, bytes: usize) -> u64 {
        let mut cluster = self.cluster.borrow_mut();
        let pair = (owner as usize, self.rank);
        let messages = cluster.expected.entry(pair).or_default();
        messages.push(bytes);
        messages.len() as u64 - 1
    }

    fn received(&mut self, owner: u32, number: u64) -> Vec<u8> {
        self.message(owner, number)
    }

    fn pack(&mut self, ranges: &[(u64, u64)]) -> Vec<u8> {
        self.memory().bytes(ranges)
    }

    fn expect_along(&mut self, _owner: u32) -> u64 {
        self.along.push(None);
        FIRST_ALONG + self.along.len() as u64 - 1
    }

    fn arrived(&mut self, number: u64, bytes: &[u8]) {
        self.along[(number - FIRST_ALONG) as usize] = Some(bytes.to_vec());
    }

    fn forget(&mut self, owner: u32, number: u64) {
        if number >= FIRST_ALONG {
            return;
        }
        let mut cluster = self.cluster.borrow_mut();
        let pair = (owner as usize, self.rank);
        let bytes = std::mem::take(&mut cluster.expected.get_mut(&pair).unwrap()[number as usize]);
        assert_ne!(bytes, 0, "forgotten twice");
        // The other side knows it, too, sooner or later.
        let messages = cluster.pushed.entry(pair).or_default();
        match messages.get_mut(number as usize) {
            Some(message) => {
                assert_eq!(message.len(), bytes, "{pair:?}");
                message.clear();
            }
            None => {
                cluster.forgotten.insert((pair, number as usize), bytes);
            }
        }
    }

    fn has_arrived(&mut self, owner: u32, number: u64) -> bool {
        match number.checked_sub(FIRST_ALONG) {
            Some(along) => self.along[along as usize].is_some(),
            None => {
                let cluster = self.cluster.borrow();
                let messages = cluster.pushed.get(&(owner as usize, self.rank));
                messages.is_some_and(|messages| messages.len() > number as usize)
            }
        }
    }

    fn pack_again(&mut self, parts: &[Part]) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.cluster.borrow_mut().relayed += 1;
        for &((start, end), from) in parts {
            bytes.extend(match from {
                Some((rank, number, place)) => {
                    let message = self.message(rank, number);
                    message[place..place + (end - start) as usize].to_vec()
                }
                None => self.pack(&[(start, end)]),
            });
        }
        bytes
    }

    fn take(&mut self, owner: u32, number: u64, parts: &[(usize, (u64, u64))]) {
        let message = self.message(owner, number);
        let mut cluster = self.cluster.borrow_mut();
        for &(from, range) in parts {
            let length = (range.1 - range.0) as usize;
            self.memory()
                .set_bytes(&[range], &message[from..from + length]);
            cluster.taken_bytes += length;
        }
    }

    fn put(&mut self, page: Page, offset: usize, bytes: &[u8], home: u32) {
        self.let_thread_run();
        self.cluster.borrow_mut().under_way.push((
            (self.rank, home as usize),
            page,
            offset,
            Sent::Bytes(bytes.to_vec()),
        ));
    }

    fn combine(&mut self, at: u64, size: usize, operation: AtomicOp, value: u64, owner: u32) {
        let (page, offset) = (at as usize / PAGE, at as usize % PAGE);
        let value = Sent::Value(operation, value, size);
        let mut cluster = self.cluster.borrow_mut();
        if owner as usize == self.rank {
            cluster.arrive(self.rank, page as Page, offset, value);
        } else {
            let pair = (self.rank, owner as usize);
            cluster.under_way.push((pair, page as Page, offset, value));
        }
    }

    fn settle(&mut self) {
        self.let_thread_run();
        let mut cluster = self.cluster.borrow_mut();
        let under_way = std::mem::take(&mut cluster.under_way);
        for (pair, page, offset, sent) in under_way {
            if pair.0 == self.rank {
                cluster.arrive(pair.1, page, offset, sent);
            } else {
                cluster.under_way.push((pair, page, offset, sent));
            }
        }
    }

    fn announce(&mut self, pages: Option<&[Page]>) {
        self.settle();
        let mut cluster = self.cluster.borrow_mut();
        let before = cluster.announced.len();
        match pages {
            Some(pages) => {
                let pages = pages.iter().map(|&page| (self.rank, Announced::Page(page)));
                cluster.announced.extend(pages);
            }
            None => cluster.announced.push((self.rank, Announced::All)),
        }
        cluster.note_in_journal(self.rank, before);
    }

    fn announce_bytes(&mut self, id: Signature, bytes: &Ranges) -> bool {
        self.settle();
        let mut cluster = self.cluster.borrow_mut();
        // There is room for some.
        let known = &mut cluster.known_bytes;
        if known.len() >= MOST_KNOWN && !known.contains_key(&id) {
            return false;
        }
        let known = known.insert(id, bytes.clone());
        assert!(known.is_none_or(|before| before == *bytes));
        let before = cluster.announced.len();
        cluster.announced.push((self.rank, Announced::Bytes(id)));
        cluster.note_in_journal(self.rank, before);
        true
    }

    fn announced(&mut self, _has_copies: bool) -> Option<Heard> {
        self.let_thread_run();
        let mut cluster = self.cluster.borrow_mut();
        let all = cluster.announced.len();
        let heard = std::mem::replace(&mut cluster.heard[self.rank], all);
        let new = cluster.announced[heard..].to_vec();
        let others = new.into_iter().filter(|(rank, _)| *rank != self.rank);
        cluster.journal[self.rank].extend(others);
        if all - heard > MOST_ANNOUNCED {
            return None;
        }
        let others = cluster.announced[heard..].iter();
        let others = others.filter(|(rank, _)| *rank != self.rank);
        cluster.heard_of(others)
    }

    fn note_copies(&mut self, first: Page, count: u32, home: u32) {
        let mut cluster = self.cluster.borrow_mut();
        cluster.copied[home as usize].push(Run { first, count });
    }

    fn copied(&mut self) -> Option<Vec<Run>> {
        let mut cluster = self.cluster.borrow_mut();
        let copied = std::mem::take(&mut cluster.copied[self.rank]);
        (copied.len() <= MOST_COPIED).then_some(copied)
    }

    fn forget_announcements(&mut self) {
        let mut cluster = self.cluster.borrow_mut();
        cluster.heard[self.rank] = cluster.announced.len();
        let rank = self.rank;
        cluster.journal[rank].clear();
        cluster.messages[rank].clear();
        cluster.told.retain(|pair, _| pair.0 != rank);
        cluster.copied[self.rank].clear();
    }

    fn order(&mut self) {
        self.settle();
    }

    fn enlarge(&mut self, _: Run) {}

    fn discard(&mut self, first: Page, count: u32) {
        for page in first..first + count {
            self.memory().set(page, 0, &[GIVEN_UP; PAGE]);
        }
    }

    fn held(&mut self, from: Page) -> Option<Run> {
        let cluster = self.cluster.borrow();
        let mut pages = from..self.memory().pages.len() as Page;
        let first = pages.find(|&page| cluster.is_held(self.rank, page))?;
        Some(Run { first, count: 1 })
    }

    fn surplus(&mut self, more: u32) -> u32 {
        match &mut self.shortage {
            None => 0,
            Some(Shortage::Sometimes(random)) => match random.below(3) {
                0 => random.below(8) as u32,
                _ => 0,
            },
            Some(Shortage::Beyond(most)) => {
                let cluster = self.cluster.borrow();
                (cluster.held(self.rank) + more as usize).saturating_sub(*most) as u32
            }
        }
    }

    fn contents(&mut self, page: Page) -> &Contents {
        self.let_thread_run();
        &self.memory().pages[page as usize]
    }

    fn tell<'a>(_event: impl FnOnce() -> Event<'a>) {}
}

/// A message, and how many one after the other led to it.
type InTree = (usize, Vec<u64>);

/// What ranks tell each other.
#[derive(Default)]
pub(super) struct Wires {
    /// What each rank told in a collective operation, by the number of that.
    collective: Vec<Vec<Option<Vec<u64>>>>,
    /// Messages from one rank to another.
    tree: BTreeMap<(u32, u32), VecDeque<InTree>>,
}

/// A rank's side of the job.
pub(super) struct Side {
    pub(super) rank: u32,
    pub(super) ranks: u32,
    pub(super) coherence: Coherence<Simulated>,
    pub(super) cluster: Rc<RefCell<Cluster>>,
    pub(super) wires: Rc<RefCell<Wires>>,
    pub(super) turns: Rc<Turns>,
    /// Collective operations begun.
    pub(super) operations: usize,
    /// How many messages in the tree, one after the other, led to where this rank is.
    pub(super) rounds: usize,
    /// What the program's side of this rank tells next, and what it was told.
    pub(super) enclosed: Enclosed,
    pub(super) opened: Vec<Enclosed>,
    /// Sections that this rank accesses lie apart.
    pub(super) is_apart: bool,
}

impl Side {
    /// Begins a collective operation, in which this rank tells `words`. Its number.
    fn begin(&mut self, words: Vec<u64>) -> usize {
        let number = self.operations;
        self.operations += 1;
        let mut wires = self.wires.borrow_mut();
        if wires.collective.len() == number {
            let nothing = vec![None; self.ranks as usize];
            wires.collective.push(nothing);
        }
        wires.collective[number][self.rank as usize] = Some(words);
        self.turns.note();
        number
    }

    /// What `rank` tells in an operation, when it does.
    fn read(&self, number: usize, rank: u32) -> Vec<u64> {
        let told = || self.wires.borrow().collective[number][rank as usize].clone();
        self.turns.wait_until(|| told().is_some());
        told().expect("as above")
    }
}

impl Collectives for Side {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn all_gather(&mut self, mine: &[u64], all: &mut [u64]) {
        self.cluster.borrow_mut().gathers += usize::from(self.rank == 0);
        let lengths = vec![mine.len(); self.ranks as usize];
        all.copy_from_slice(&self.all_gather_parts(mine, &lengths));
    }

    fn all_gather_parts(&mut self, mine: &[u64], lengths: &[usize]) -> Vec<u64> {
        assert_eq!(mine.len(), lengths[self.rank as usize]);
        let number = self.begin(mine.to_vec());
        let all = (0..self.ranks).zip(lengths).flat_map(|(rank, &length)| {
            let part = self.read(number, rank);
            assert_eq!(
                part.len(),
                length,
                "ranks disagree about what they exchange"
            );
            part
        });
        all.collect()
    }

    fn broadcast(&mut self, words: &mut Vec<u64>) {
        assert!(!self.has_tree());
        let number = self.begin(words.clone());
        *words = self.read(number, 0);
    }

    fn broadcast_pages(&mut self, contents: &mut [u8]) {
        let words = contents.iter().map(|&byte| u64::from(byte)).collect();
        let number = self.begin(words);
        for (byte, word) in contents.iter_mut().zip(self.read(number, 0)) {
            *byte = word as u8;
        }
    }

    fn barrier(&mut self) {
        let number = self.begin(Vec::new());
        for rank in 0..self.ranks {
            self.read(number, rank);
        }
    }

    fn has_tree(&self) -> bool {
        self.coherence.machine.spans_nodes()
    }

    fn send(&mut self, words: &[u64], data: usize, rank: u32) {
        let mut cluster = self.cluster.borrow_mut();
        cluster.in_tree += 1;
        let sent = &mut cluster.sent_in_tree[self.rank as usize];
        *sent = (sent.0 + 1, sent.1 + words.len() - data.div_ceil(8));
        cluster.note_pushed((self.rank as usize, rank as usize), data);
        let mut wires = self.wires.borrow_mut();
        let messages = wires.tree.entry((self.rank, rank)).or_default();
        messages.push_back((self.rounds + 1, words.to_vec()));
        self.turns.note();
    }

    fn receive(&mut self, rank: u32) -> Vec<u64> {
        let mut came = None;
        self.turns.wait_until(|| {
            let mut wires = self.wires.borrow_mut();
            let messages = wires.tree.get_mut(&(rank, self.rank));
            came = messages.and_then(VecDeque::pop_front);
            came.is_some()
        });
        let (rounds, words) = came.expect("as above");
        self.rounds = self.rounds.max(rounds);
        words
    }

    fn exchange(&mut self, words: &[u64], data: usize, rank: u32) -> Vec<u64> {
        self.send(words, data, rank);
        self.receive(rank)
    }
}

impl Rank for Side {
    type Machine = Simulated;

    fn coherence<R>(&mut self, body: impl FnOnce(&mut Coherence<Simulated>) -> R) -> R {
        body(&mut self.coherence)
    }

    fn waiting<R>(&mut self, body: impl FnOnce(&mut Self) -> (R, Waits)) -> R {
        body(self).0
    }

    fn wait_until(&mut self, mut done: impl FnMut(&mut Self) -> bool) {
        let turns = Rc::clone(&self.turns);
        turns.wait_until(|| done(self));
    }

    fn enclose(&mut self) -> Enclosed {
        std::mem::take(&mut self.enclosed)
    }

    fn open(&mut self, all: &[Enclosed]) {
        self.opened.extend_from_slice(all);
    }

    fn check(&mut self, mine: Kind, all: &[Kind]) {
        let is_in_team = |kind: &&Kind| **kind != Kind::Passive;
        assert!(mine == Kind::Passive || all.iter().filter(is_in_team).all(|&kind| kind == mine));
    }

    fn take_apart(&mut self) -> bool {
        std::mem::take(&mut self.is_apart)
    }

    fn declare_nothing(&mut self) {
        self.cluster.borrow_mut().advised[self.rank as usize] += 1;
    }

    fn track_pages(&mut self) {
        self.cluster.borrow_mut().advised[self.rank as usize] += 1;
    }

    fn stop_declaring(&mut self) {
        self.cluster.borrow_mut().has_stopped[self.rank as usize] = true;
    }
}
