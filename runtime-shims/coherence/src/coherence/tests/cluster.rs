//! Machines for the protocol: the memory of all ranks in one process.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use okl_abi::AtomicOp;

use crate::{
    coherence::{Access, Event, Machine, Object, Part, TooManyMappings},
    geometry::ranges::Ranges,
    layout::{PAGE, Page},
};

/// Memory and protections of all ranks.
pub(super) struct Cluster {
    pub(super) memories: Vec<Vec<[u8; PAGE]>>,
    pub(super) protections: Vec<Vec<Access>>,
    /// Changed bytes and updates that have been sent but not yet arrived.
    pub(super) under_way: Vec<(usize, Page, usize, Sent)>,
    /// So many ranks share a node.
    pub(super) per_node: usize,
    /// What one rank pushed to another, and how many bytes the other expects of the one: message by message.
    /// What nobody will take any more is empty.
    pub(super) pushed: BTreeMap<(usize, usize), Vec<Vec<u8>>>,
    pub(super) expected: BTreeMap<(usize, usize), Vec<usize>>,
    /// How many bytes were pushed, and how many of them taken.
    pub(super) pushed_bytes: usize,
    pub(super) taken_bytes: usize,
    /// How many were pushed within a node, which ranks pass on.
    pub(super) near_bytes: usize,
    /// How many messages were passed on.
    pub(super) relayed: usize,
    /// What each rank has marked as written.
    pub(super) marked: Vec<Vec<(u64, u64)>>,
}

pub(super) enum Sent {
    Bytes(Vec<u8>),
    Value(AtomicOp, u64, usize),
}

impl Cluster {
    /// Notes that one rank sent bytes to another.
    pub(super) fn note_pushed(&mut self, (from, to): (usize, usize), bytes: usize) {
        self.pushed_bytes += bytes;
        let is_far = from / self.per_node != to / self.per_node;
        self.near_bytes += if is_far { 0 } else { bytes };
    }

    fn arrive(&mut self, rank: usize, page: Page, offset: usize, sent: Sent) {
        let memory = &mut self.memories[rank][page as usize];
        match sent {
            Sent::Bytes(bytes) => {
                memory[offset..offset + bytes.len()].copy_from_slice(&bytes);
            }
            Sent::Value(operation, value, size) => {
                let object = Object { page, offset, size };
                object.update(memory, operation, value);
            }
        }
    }
}

pub(super) struct Simulated {
    pub(super) rank: usize,
    pub(super) cluster: Rc<RefCell<Cluster>>,
    pub(super) mappings_left: Option<u32>,
    /// What came along with other messages.
    pub(super) along: Vec<Option<Vec<u8>>>,
}

/// Numbers of messages that come along with others begin here.
const FIRST_ALONG: u64 = 1 << 32;

impl Simulated {
    fn message(&self, owner: u32, number: u64) -> Vec<u8> {
        match number.checked_sub(FIRST_ALONG) {
            Some(along) => self.along[along as usize].clone().expect("it has come"),
            None => {
                let cluster = self.cluster.borrow();
                cluster.pushed[&(owner as usize, self.rank)][number as usize].clone()
            }
        }
    }
}

impl Machine for Simulated {
    fn protect(&mut self, first: Page, count: u32, access: Access) -> Result<(), TooManyMappings> {
        if let Some(left) = &mut self.mappings_left {
            if *left == 0 {
                *left = 60;
                return Err(TooManyMappings);
            }
            *left -= 1;
        }
        for page in first..first + count {
            self.cluster.borrow_mut().protections[self.rank][page as usize] = access;
        }
        Ok(())
    }

    fn fetch(&mut self, first: Page, count: u32, home: u32) {
        assert_ne!(home as usize, self.rank, "a rank fetches its own page");
        let mut cluster = self.cluster.borrow_mut();
        for page in first as usize..(first + count) as usize {
            cluster.memories[self.rank][page] = cluster.memories[home as usize][page];
        }
    }

    fn gather(&mut self, owner: u32, ranges: &[(u64, u64)]) {
        assert_ne!(owner as usize, self.rank, "a rank copies its own bytes");
        let mut cluster = self.cluster.borrow_mut();
        for at in ranges.iter().flat_map(|&(start, end)| start..end) {
            let (page, offset) = (at as usize / PAGE, at as usize % PAGE);
            cluster.memories[self.rank][page][offset] =
                cluster.memories[owner as usize][page][offset];
        }
    }

    fn take_marked(&mut self, _last: bool) -> Ranges {
        let marked = &mut self.cluster.borrow_mut().marked[self.rank];
        Ranges::of(std::mem::take(marked))
    }

    fn spans_nodes(&self) -> bool {
        let cluster = self.cluster.borrow();
        cluster.memories.len() > cluster.per_node
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
        cluster.pushed.entry(pair).or_default().push(bytes);
    }

    fn expect(&mut self, owner: u32, bytes: usize) -> u64 {
        let mut cluster = self.cluster.borrow_mut();
        let pair = (owner as usize, self.rank);
        let messages = cluster.expected.entry(pair).or_default();
        messages.push(bytes);
        messages.len() as u64 - 1
    }

    fn pack(&mut self, ranges: &[(u64, u64)]) -> Vec<u8> {
        let cluster = self.cluster.borrow();
        let bytes = ranges.iter().flat_map(|&(start, end)| start..end);
        let own = &cluster.memories[self.rank];
        bytes
            .map(|at| own[at as usize / PAGE][at as usize % PAGE])
            .collect()
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
        assert_eq!(messages[number as usize].len(), bytes, "{pair:?}");
        messages[number as usize].clear();
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
        for &(from, (start, end)) in parts {
            for (at, &byte) in (start..end).zip(&message[from..]) {
                cluster.memories[self.rank][at as usize / PAGE][at as usize % PAGE] = byte;
                cluster.taken_bytes += 1;
            }
        }
    }

    fn put(&mut self, page: Page, offset: usize, bytes: &[u8], home: u32) {
        self.cluster.borrow_mut().under_way.push((
            home as usize,
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
            cluster
                .under_way
                .push((owner as usize, page as Page, offset, value));
        }
    }

    fn settle(&mut self) {
        let mut cluster = self.cluster.borrow_mut();
        for (home, page, offset, sent) in std::mem::take(&mut cluster.under_way) {
            cluster.arrive(home, page, offset, sent);
        }
    }

    fn contents(&mut self, page: Page) -> &mut [u8; PAGE] {
        // The reference outlives the borrow of the cluster: one thread, and nobody resizes the memories.
        let cluster = self.cluster.as_ptr();
        // SAFETY: the cluster lives as long as `self`, and the protocol holds one page at a time.
        unsafe { &mut (&mut (*cluster).memories)[self.rank][page as usize] }
    }

    fn tell<'a>(_event: impl FnOnce() -> Event<'a>) {}
}
