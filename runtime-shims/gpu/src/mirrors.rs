//! Blocks of the program's heap, and large variables of its, that the device has, too.
//!
//! Guarantee: all addresses that lead to one block, as both are called here, lead to one object of the device, as far apart as on the host; and each
//! byte has, on the side that accesses it, what was written last ([`crate::pages`]).

use std::collections::BTreeMap;
use std::ops::Range;
use std::ptr;

use crate::arena::Arena;
use crate::arrays;
use crate::device::{Device, Problem};
use crate::pages::{Access, Machine, PAGE, Pages};
use crate::table::{Address, Failure};

/// Bytes that went to the device, and that came back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// To the device.
    pub up: u64,
    /// From it.
    pub down: u64,
}

struct Mirror {
    end: usize,
    address: Address,
    /// From the block to the library's view of it.
    view: usize,
    pages: Pages,
    /// The kernel that wrote it last, or else read it: whose bytes are those that come back.
    kernel: usize,
    /// When it was used last.
    turn: u64,
}

/// The device's objects, by the addresses of their blocks.
pub struct Mirrors {
    arena: &'static Arena,
    all: BTreeMap<usize, Mirror>,
    turn: u64,
}

/// Host and device, for one block.
struct Sides<'a> {
    arena: &'a Arena,
    device: &'a Device,
    start: usize,
    address: Address,
    /// From the block to the library's view.
    view: usize,
    moved: Moved,
}

impl Sides<'_> {
    fn view(&self, at: usize) -> *mut u8 {
        ptr::with_exposed_provenance_mut((self.start + at).wrapping_add(self.view))
    }
}

impl Machine for Sides<'_> {
    type Problem = Problem;

    fn protect(&mut self, pages: Range<usize>, access: Access) -> bool {
        let range = self.start + pages.start * PAGE..self.start + pages.end * PAGE;
        range.is_empty() || self.arena.protect(range, access)
    }

    fn upload(&mut self, pages: Range<usize>) -> Result<(), Problem> {
        let (at, bytes) = (pages.start * PAGE, pages.len() * PAGE);
        self.moved.up += bytes as u64;
        let from = self.view(at);
        // SAFETY: pages of the block.
        unsafe { (self.device).upload(self.address + at as u64, from, bytes) }
    }

    fn download(&mut self, pages: Range<usize>) -> Result<(), Problem> {
        let (at, bytes) = (pages.start * PAGE, pages.len() * PAGE);
        self.moved.down += bytes as u64;
        let to = self.view(at);
        // SAFETY: pages of the block.
        unsafe { (self.device).download(to, self.address + at as u64, bytes) }
    }

    fn too_many_mappings(&mut self) -> Problem {
        no_mapping()
    }
}

fn no_mapping() -> Problem {
    Problem {
        failure: Failure::Other,
        text: "this process has no mapping left to watch its memory with: raise the limit vm.max_map_count"
            .to_owned(),
    }
}

impl Mirrors {
    /// None yet, of blocks of this heap.
    pub fn new(arena: &'static Arena) -> Self {
        Self {
            arena,
            all: BTreeMap::new(),
            turn: 0,
        }
    }

    /// The heap.
    pub fn arena(&self) -> &'static Arena {
        self.arena
    }

    /// A launch begins: what it does not use may make room for what it does.
    pub fn begin(&mut self) {
        self.turn += 1;
    }

    /// The device's object of a block, for this launch. It is made where there is none.
    pub fn object(&mut self, block: &Range<usize>, device: &Device) -> Result<Address, Problem> {
        if let Some(mirror) = self.all.get_mut(&block.start) {
            mirror.turn = self.turn;
            return Ok(mirror.address);
        }
        let address = device.allocate(block.len())?;
        let view = match self.arena.contains(block.start) {
            true => self
                .arena
                .view(block.start)
                .addr()
                .wrapping_sub(block.start),
            false => match arrays::share(block.start) {
                Some(view) => view,
                None => {
                    device.free(address)?;
                    return Err(Problem {
                        failure: Failure::Other,
                        text: "the system has no memory file for a large variable, which the device is to have, too: raise the \
                               limits of open files (ulimit -n) and mappings (vm.max_map_count)"
                            .to_owned(),
                    });
                }
            },
        };
        let mirror = Mirror {
            end: block.end,
            address,
            view,
            pages: Pages::new(block.len() / PAGE),
            kernel: usize::MAX,
            turn: self.turn,
        };
        self.all.insert(block.start, mirror);
        self.arena.watch(block.start, true);
        Ok(address)
    }

    /// Does something with the pages of a block that has an object; what moved.
    fn with(
        &mut self,
        start: usize,
        device: &Device,
        body: impl FnOnce(&mut Mirror, &mut Sides) -> Result<(), Problem>,
    ) -> Result<Moved, Problem> {
        let mirror = self.all.get_mut(&start).expect("an object of the device");
        let mut sides = Sides {
            arena: self.arena,
            device,
            start,
            address: mirror.address,
            view: mirror.view,
            moved: Moved::default(),
        };
        body(mirror, &mut sides)?;
        Ok(sides.moved)
    }

    /// A kernel is to run that may access the block.
    pub fn before_kernel(
        &mut self,
        start: usize,
        writes: bool,
        kernel: usize,
        device: &Device,
    ) -> Result<Moved, Problem> {
        self.with(start, device, |mirror, sides| {
            if writes || mirror.kernel == usize::MAX {
                mirror.kernel = kernel;
            }
            mirror.pages.before_kernel(writes, sides)
        })
    }

    /// The block with an object that an address is in: where it starts, and the kernel that wrote it last.
    pub fn find(&self, address: usize) -> Option<(usize, usize)> {
        let (&start, mirror) = self.all.range(..=address).next_back()?;
        (address < mirror.end).then_some((start, mirror.kernel))
    }

    /// The host reads or writes at an address in that block.
    pub fn touch(
        &mut self,
        start: usize,
        address: usize,
        writes: bool,
        device: &Device,
    ) -> Result<Moved, Problem> {
        let page = (address - start) / PAGE;
        self.with(start, device, |mirror, sides| {
            mirror.pages.touch(page, writes, sides)
        })
    }

    /// The host reads or writes a range, as far as it is in that block.
    pub fn touch_all(
        &mut self,
        start: usize,
        range: Range<usize>,
        writes: bool,
        device: &Device,
    ) -> Result<Moved, Problem> {
        self.with(start, device, |mirror, sides| {
            let first = (range.start.max(start) - start) / PAGE;
            let end = (range.end.min(mirror.end) - start).div_ceil(PAGE);
            mirror.pages.touch_all(first..end, writes, sides)
        })
    }

    /// The device has no object of the block any more; where the contents matter the host has them.
    pub fn remove(
        &mut self,
        start: usize,
        contents_matter: bool,
        device: &Device,
    ) -> Result<Moved, Problem> {
        let moved = self.with(start, device, |mirror, sides| {
            if contents_matter {
                mirror.pages.go_home(sides)
            } else {
                mirror.pages.abandon(sides)
            }
        })?;
        if !self.leave(start) {
            return Err(no_mapping());
        }
        let mirror = self.all.remove(&start).expect("an object of the device");
        device.free(mirror.address)?;
        Ok(moved)
    }

    /// All that there are: where their blocks start, and the kernels that wrote them last.
    pub fn all(&self) -> Vec<(usize, usize)> {
        self.all
            .iter()
            .map(|(&start, mirror)| (start, mirror.kernel))
            .collect()
    }

    /// Of these, the one that is not used in this launch, and was not for the longest time.
    pub fn idle(&self) -> Option<(usize, usize)> {
        let idle = self
            .all
            .iter()
            .filter(|(_, mirror)| mirror.turn < self.turn);
        let first = idle.min_by_key(|(_, mirror)| mirror.turn)?;
        Some((*first.0, first.1.kernel))
    }

    /// The contents are the host's alone, without the device: it is not there any more, as in a process that was forked.
    pub fn forget(&mut self) {
        for (start, _) in std::mem::take(&mut self.all) {
            self.leave(start);
        }
    }

    /// Nothing has to be known any more of a block that the host alone has. False: it stays watched.
    fn leave(&self, start: usize) -> bool {
        if self.arena.contains(start) {
            self.arena.watch(start, false);
            return true;
        }
        arrays::separate(start)
    }

    /// Bytes of the device that these have.
    pub fn bytes(&self) -> usize {
        self.all
            .iter()
            .map(|(start, mirror)| mirror.end - start)
            .sum()
    }
}
