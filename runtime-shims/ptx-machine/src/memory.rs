//! The device's memory: allocations with their bounds, and of each bit whether it was ever written. Addresses are used once,
//! so that what is freed is known as such.

use crate::check::Accesses;
use crate::program::windows;

/// What lies between two allocations, at least.
const BETWEEN: u64 = 4096;

/// An allocation.
#[derive(Debug)]
pub struct Allocation {
    /// Where it begins.
    pub base: u64,
    /// What is in it.
    pub data: Vec<u8>,
    /// Bits that are set say that those of `data` have been written.
    pub known: Vec<u8>,
    /// Who accessed it.
    pub accesses: Accesses,
    /// Whether kernels only read it.
    pub is_constant: bool,
    /// A variable's name.
    pub name: Option<String>,
    /// Where kernels stored values that are not known: bytes, and what was said of the store.
    pub unknown_stores: Vec<(usize, usize, String)>,
}

/// So many stores of unknown values are remembered of an allocation.
const MOST_UNKNOWN_STORES: usize = 64;

impl Allocation {
    fn end(&self) -> u64 {
        self.base + self.data.len() as u64
    }

    /// Whether another store of an unknown value is remembered.
    pub fn has_room_for_unknown(&self) -> bool {
        self.unknown_stores.len() < MOST_UNKNOWN_STORES
    }

    /// Remembers that a value that is not known was stored.
    pub fn note_unknown(&mut self, offset: usize, bytes: usize, what: String) {
        if self.has_room_for_unknown() {
            self.unknown_stores.push((offset, bytes, what));
        }
    }

    /// What was said of a store of an unknown value that is still in these bytes.
    pub fn unknown_in(&self, offset: usize, bytes: usize) -> Option<&str> {
        let stores = self.unknown_stores.iter();
        let mut there = stores.filter(|(at, count, _)| {
            let (first, last) = ((*at).max(offset), (at + count).min(offset + bytes));
            first < last && self.known[first..last].iter().all(|known| *known == 0)
        });
        there.next().map(|(_, _, what)| what.as_str())
    }
}

/// All allocations.
#[derive(Debug)]
pub struct Memory {
    allocations: Vec<Allocation>,
    freed: Vec<(u64, u64)>,
    next: u64,
    /// How many bytes there are in all.
    pub total: u64,
    used: u64,
}

impl Memory {
    /// A memory of so many bytes.
    pub fn new(total: u64) -> Self {
        Self {
            allocations: Vec::new(),
            freed: Vec::new(),
            next: windows::GLOBAL + (1 << 20),
            total,
            used: 0,
        }
    }

    /// How many bytes are not allocated.
    pub fn free_bytes(&self) -> u64 {
        self.total - self.used
    }

    /// Allocates; nothing where there is not enough.
    pub fn allocate(&mut self, bytes: usize, align: usize) -> Option<u64> {
        if bytes as u64 > self.free_bytes() {
            return None;
        }
        let base = self.next.next_multiple_of((align as u64).max(256));
        self.next = (base + bytes as u64).next_multiple_of(BETWEEN) + BETWEEN;
        self.used += bytes as u64;
        self.allocations.push(Allocation {
            base,
            data: vec![0; bytes],
            known: vec![0; bytes],
            accesses: Accesses::default(),
            is_constant: false,
            name: None,
            unknown_stores: Vec::new(),
        });
        Some(base)
    }

    /// Frees what begins at `base`.
    pub fn free(&mut self, base: u64) -> bool {
        let Ok(at) = self.allocations.binary_search_by_key(&base, |one| one.base) else {
            return false;
        };
        let one = self.allocations.remove(at);
        self.used -= one.data.len() as u64;
        self.freed.push((one.base, one.end()));
        true
    }

    /// The number of the allocation that has these bytes; `hint` is looked at first. Otherwise what is there.
    pub fn find(&self, address: u64, bytes: usize, hint: usize) -> Result<usize, String> {
        let has = |one: &Allocation| address >= one.base && address + bytes as u64 <= one.end();
        if self.allocations.get(hint).is_some_and(has) {
            return Ok(hint);
        }
        let behind = self.allocations.partition_point(|one| one.base <= address);
        match behind.checked_sub(1).map(|at| (at, &self.allocations[at])) {
            Some((at, one)) if address.checked_add(bytes as u64).is_some() && has(one) => Ok(at),
            _ => Err(self.what_is_at(address)),
        }
    }

    /// An allocation.
    pub fn get(&mut self, index: usize) -> &mut Allocation {
        &mut self.allocations[index]
    }

    /// Forgets who accessed what.
    pub fn forget_accesses(&mut self) {
        for one in &mut self.allocations {
            one.accesses.clear();
        }
    }

    fn what_is_at(&self, address: u64) -> String {
        if address < 4096 {
            return "a null pointer".to_owned();
        }
        if address >> 48 == 0 {
            return "an address of the host".to_owned();
        }
        let mut freed = self.freed.iter();
        if freed.any(|(base, end)| (*base..*end).contains(&address)) {
            return "memory that was freed".to_owned();
        }
        let size = |one: &Allocation| match &one.name {
            Some(name) => format!("{name} of {} bytes", one.data.len()),
            None => format!("an allocation of {} bytes", one.data.len()),
        };
        let behind = self.allocations.partition_point(|one| one.base <= address);
        let before = behind.checked_sub(1).map(|at| &self.allocations[at]);
        let after = self.allocations.get(behind);
        match (before, after) {
            (Some(one), _) if address < one.end() => format!("over the end of {}", size(one)),
            (Some(one), other)
                if other.is_none_or(|other| address - one.end() < other.base - address) =>
            {
                format!("{} bytes behind {}", address - one.end(), size(one))
            }
            (_, Some(other)) => format!("{} bytes before {}", other.base - address, size(other)),
            _ => "no memory".to_owned(),
        }
    }
}
