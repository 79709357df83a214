//! Launches of kernels on the memory of this process.

use std::collections::BTreeMap;
use std::ops::Range;

use okl_abi::gpu::parameter;

use super::times::{Launched, MOST_SPANS};
use super::{ALIGNMENT, Offload, Place, Room, Values, words};
use crate::described::Described;
use crate::given::{self, Given};
use crate::mirrors::Moved;
use crate::places::{self, Context};
use crate::table::Address;
use crate::timeline;

/// What kernels leave, with where it goes.
pub type Results = Vec<(usize, Vec<u8>)>;

/// A kernel that is to run, its blocks, and the work items of a block. `None`: there is nothing to do.
pub type ToRun = (usize, Option<[[u32; 3]; 2]>);

/// Room for results.
pub struct Left {
    /// Where they go.
    to: usize,
    bytes: usize,
    room: Room,
}

/// A range of the program's memory that is copied for one launch.
struct Copy {
    range: Range<usize>,
    writes: bool,
    /// The memory of the device that it lies in.
    room: Room,
    /// Where it begins there.
    address: Address,
    /// As it was before the kernel.
    contents: Vec<u8>,
}

impl Offload {
    /// Has a kernel run. Where it changes memory that is copied, that is done when it returns; else it may still run.
    ///
    /// # Safety
    /// The values are those of the kernel's parameters.
    pub unsafe fn launch(
        &mut self,
        kernel: &Described,
        blocks: [i64; 3],
        items: [i64; 3],
        mut values: Values,
        context: Context,
    ) -> Result<(), String> {
        let doing = &words(kernel.name, kernel.place);
        let (number, sizes) = self.begin(doing, kernel, [blocks, items])?;
        let Some([blocks, items]) = sizes else {
            return Ok(());
        };
        // What each address leads to, once for all that lead to one object.
        let mut objects: BTreeMap<usize, (Range<usize>, bool)> = BTreeMap::new();
        let mut ranges = Vec::new();
        let mut at_place = Vec::new();
        for (at, parameter) in kernel.parameters.iter().enumerate() {
            let is_given = parameter.kind & parameter::OF_LIBRARY != 0;
            if is_given || parameter.kind & parameter::ADDRESS == 0 {
                continue;
            }
            let writes = parameter.kind & parameter::WRITTEN != 0;
            let address = values.address(at);
            match self.place_of(address, context) {
                Place::Same => continue,
                Place::Block(block) => {
                    objects
                        .entry(block.start)
                        .or_insert((block.clone(), false))
                        .1 |= writes;
                    at_place.push((at, address, Some(block.start)));
                }
                Place::Copied(range) => {
                    ranges.push((range, writes));
                    at_place.push((at, address, None));
                }
            }
        }
        let left = self.give_all(doing, number, kernel, blocks, &mut values)?;
        let mut addresses = BTreeMap::new();
        if let Some(mirrors) = &mut self.mirrors {
            mirrors.begin();
        }
        for (start, (block, _)) in &objects {
            let address = self.allocate(doing, |this| {
                let mirrors = this.mirrors.as_mut().expect("blocks are of its heap");
                mirrors.object(block, &this.device)
            })?;
            addresses.insert(*start, address);
        }
        let mut copies = Vec::new();
        for (range, writes) in places::joined(ranges) {
            // All in it is aligned as it is on the host.
            let before = range.start % ALIGNMENT;
            let room = self.room(doing, before + range.len())?;
            let copy = Copy {
                contents: places::snapshot(&range),
                address: room.1 + before as Address,
                range,
                writes,
                room,
            };
            let contents = &copy.contents;
            // SAFETY: as many bytes.
            let copied =
                unsafe { (self.device).upload(copy.address, contents.as_ptr(), contents.len()) };
            self.check(doing, copied)?;
            self.kernels[number].cost.moved.up += contents.len() as u64;
            copies.push(copy);
        }
        for (start, (_, writes)) in &objects {
            let mirrors = self.mirrors.as_mut().expect("blocks are of its heap");
            let moved = mirrors.before_kernel(*start, *writes, number, &self.device);
            let moved = self.check(doing, moved)?;
            self.moved(number, moved);
        }
        for (at, address, block) in at_place {
            let (start, on_device) = match block {
                Some(start) => (start, addresses[&start]),
                None => {
                    let of = |copy: &&Copy| (copy.range.start..=copy.range.end).contains(&address);
                    let copy = copies.iter().find(of).expect("its range was copied");
                    (copy.range.start, copy.address)
                }
            };
            // Where it is in front of the block, the distance is negative.
            values.set(
                at,
                on_device.wrapping_add(address.wrapping_sub(start) as u64),
            );
        }
        self.run(doing, number, kernel, blocks, items, &mut values)?;
        for (address, bytes) in self.results(doing, number, left)? {
            let to = std::ptr::with_exposed_provenance_mut::<u8>(address);
            // SAFETY: the program has room for as many bytes there.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        }
        for copy in copies {
            if copy.writes {
                let old = &copy.contents;
                let new = self.fetch(doing, number, copy.address, old.len())?;
                // SAFETY: what the kernel wrote the program may write.
                unsafe { places::write_changes(copy.range.start, old, &new) };
            }
            self.spare.push(copy.room);
        }
        Ok(())
    }

    /// Begins to run a kernel.
    pub(super) fn begin(
        &mut self,
        doing: &str,
        kernel: &Described,
        [blocks, items]: [[i64; 3]; 2],
    ) -> Result<ToRun, String> {
        let entered = self.device.enter();
        self.check(doing, entered)?;
        let number = self.meet(kernel)?;
        Ok((number, self.sizes(number, blocks, items)?))
    }

    /// What is the library's becomes values, and so does room for results.
    pub(super) fn give_all(
        &mut self,
        doing: &str,
        number: usize,
        kernel: &Described,
        blocks: [u32; 3],
        values: &mut Values,
    ) -> Result<Vec<Left>, String> {
        let mut left = Vec::new();
        for (at, parameter) in kernel.parameters.iter().enumerate() {
            if parameter.kind & parameter::OF_LIBRARY != 0 {
                self.give(doing, number, parameter.kind, at, values)?;
            } else if parameter.kind & parameter::RESULTS != 0 {
                let each = usize::try_from(parameter.size).unwrap_or(0);
                let count: usize = blocks.iter().map(|count| *count as usize).product();
                let bytes = each * count;
                let room = self.room(doing, bytes)?;
                left.push(Left {
                    to: values.address(at),
                    bytes,
                    room,
                });
                values.set(at, room.1);
            }
        }
        Ok(left)
    }

    /// What a kernel that has run leaves as results, with where it goes.
    pub(super) fn results(
        &mut self,
        doing: &str,
        number: usize,
        left: Vec<Left>,
    ) -> Result<Results, String> {
        let mut results = Vec::new();
        for Left { to, bytes, room } in left {
            results.push((to, self.fetch(doing, number, room.1, bytes)?));
            self.spare.push(room);
        }
        Ok(results)
    }

    /// What a kernel that has run leaves in memory of the device.
    pub(super) fn fetch(
        &mut self,
        doing: &str,
        number: usize,
        from: Address,
        bytes: usize,
    ) -> Result<Vec<u8>, String> {
        let mut contents = vec![0_u8; bytes];
        // SAFETY: as many bytes.
        let copied = unsafe { (self.device).download(contents.as_mut_ptr(), from, bytes) };
        self.check(doing, copied)?;
        let down = bytes as u64;
        self.moved(number, Moved { up: 0, down });
        Ok(contents)
    }

    /// What is the library's becomes a value.
    fn give(
        &mut self,
        doing: &str,
        kernel: usize,
        kind: i64,
        at: usize,
        values: &mut Values,
    ) -> Result<(), String> {
        let address = match self.kernels[kernel].given.items {
            Some(word) if kind & parameter::ITEMS != 0 => word,
            _ if kind & parameter::LOCK != 0 => match self.lock {
                Some(lock) => lock,
                None => {
                    let lock = self.allocate(doing, |this| given::word(&this.device))?;
                    *self.lock.insert(lock)
                }
            },
            _ => 0,
        };
        values.set(at, address);
        Ok(())
    }

    /// Waits for a kernel that leaves something for the library, or prints.
    fn ran(&mut self, doing: &str, number: usize, items: [u32; 3]) -> Result<(), String> {
        let Given {
            items: word,
            prints,
            ..
        } = self.kernels[number].given;
        if let Some(word) = word {
            let mut wanted = [0_u8; given::WORD];
            // SAFETY: as many bytes.
            let copied = unsafe { (self.device).download(wanted.as_mut_ptr(), word, given::WORD) };
            self.check(doing, copied)?;
            let wanted = u32::from_ne_bytes(wanted);
            if wanted > 0 {
                let most = items.map(|count| count.to_string()).join(" x ");
                return Err(format!(
                    "{doing}: a loop over work items has {wanted} iterations, and its blocks have {most} work items: use \
                     smaller blocks, or say with @max_inner_dims how they lie"
                ));
            }
        }
        match prints {
            true => self.wait(doing),
            false => Ok(()),
        }
    }

    pub(super) fn run(
        &mut self,
        doing: &str,
        number: usize,
        kernel: &Described,
        blocks: [u32; 3],
        items: [u32; 3],
        values: &mut Values,
    ) -> Result<(), String> {
        self.moment(doing)?;
        let asked = timeline::now();
        let span = match self.measures {
            true => Some(
                self.spare_spans
                    .pop()
                    .map_or_else(|| self.device.span(), Ok),
            ),
            false => None,
        };
        let span = span.transpose();
        let span = self.check(doing, span)?;
        let began = span.map_or(Ok(()), |span| self.device.begin(span));
        self.check(doing, began)?;
        let (function, shared) = (
            self.kernels[number].function,
            self.kernels[number].given.shared,
        );
        let parts = (self.kernels[number].given).parts(blocks, self.device.limits.blocks_of);
        if !self.under_way.contains(&number) {
            self.under_way.push(number);
        }
        for [first, blocks] in parts {
            for (at, one) in kernel.parameters.iter().enumerate() {
                match one.kind {
                    parameter::FIRST_Y => values.set(at, first[1].into()),
                    parameter::FIRST_Z => values.set(at, first[2].into()),
                    _ => {}
                }
            }
            let mut pointers = values.pointers();
            // SAFETY: the values are those of the kernel's parameters.
            let launched =
                unsafe { (self.device).launch(function, blocks, items, shared, &mut pointers) };
            self.check(doing, launched)?;
        }
        self.kernels[number].cost.launches += 1;
        if self.measures && self.kernels[number].cost.needs.is_none() {
            let needs = self.device.needs(function, items.iter().product(), shared);
            self.kernels[number].cost.needs = needs;
        }
        if let Some(span) = span {
            let ended = self.device.end(span);
            self.check(doing, ended)?;
            self.spans.push(Launched {
                kernel: number,
                sizes: [blocks, items],
                span,
                asked,
            });
            if self.spans.len() == MOST_SPANS {
                self.wait(doing)?;
            }
        }
        self.ran(doing, number, items)
    }
}
