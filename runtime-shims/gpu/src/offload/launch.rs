//! Launches of kernels on the memory of this process.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;

use okl_abi::gpu::parameter;

use super::times::{Launched, MOST_SPANS};
use super::{ALIGNMENT, Offload, Place, Room, words};
use crate::accessed;
use crate::described::Described;
use crate::given::{self, Given};
use crate::mirrors::Moved;
use crate::places::{self, Context};
use crate::table::Address;
use crate::timeline;
use crate::values::Values;
use crate::versions::Version;

/// What kernels leave, with where it goes.
pub type Results = Vec<(usize, Vec<u8>)>;

/// A kernel that is to run, its blocks, and the work items of a block. `None`: there is nothing to do.
pub type ToRun = (usize, Option<[[u32; 3]; 2]>);

/// Room for what the library copies for one launch.
pub struct Left {
    room: Option<Room>,
    /// Behind all that is there.
    end: usize,
    /// Where they go, and where they are in it.
    results: Vec<(usize, Range<usize>)>,
}

impl Left {
    /// Where something is on the device that is so far behind where it begins.
    fn address(&self, at: usize) -> Address {
        self.room.map_or(0, |(_, start)| start) + at as Address
    }
}

/// A part of the program's memory that is copied for one launch.
struct Part {
    range: Range<usize>,
    writes: bool,
    /// Where it begins in the room for copies.
    at: usize,
}

impl Part {
    /// Where it is in the room for copies.
    fn place(&self) -> Range<usize> {
        self.at..self.at + self.range.len()
    }
}

/// What is copied for one launch.
#[derive(Default)]
struct Copies {
    parts: Vec<Part>,
    /// Objects that addresses lead to, the part that is copied first of each, and where that is in the room.
    objects: Vec<(Range<usize>, usize, usize)>,
    end: usize,
}

/// So many bytes are rather copied without need than left out between two that are copied.
const MOST_BETWEEN: usize = 16 << 10;

/// So many bytes of buffers are kept for the next launch.
const MOST_KEPT: usize = 1 << 20;

/// Ranges that lie that near as one.
fn near(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut all: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match all.last_mut() {
            Some(last) if range.start <= last.end + MOST_BETWEEN => {
                last.end = last.end.max(range.end);
            }
            _ => all.push(range),
        }
    }
    all
}

impl Copies {
    /// Of objects the parts that are accessed, each of which is in one of them. In an object all is as far apart as it is on the
    /// host, and aligned as it is there.
    fn of(objects: Vec<(Range<usize>, bool)>, parts: Vec<(Range<usize>, bool)>) -> Self {
        let mut all = Self::default();
        let mut parts = places::joined(parts).into_iter().peekable();
        for (object, _) in places::joined(objects) {
            let Some(first) = parts.peek().map(|(part, _)| part.start) else {
                break;
            };
            let start = all.end.next_multiple_of(ALIGNMENT) + first % ALIGNMENT;
            while let Some((range, writes)) = parts.next_if(|(part, _)| part.start < object.end) {
                let at = start + (range.start - first);
                all.end = at + range.len();
                all.parts.push(Part { range, writes, at });
            }
            if all.end > start {
                all.objects.push((object, first, start));
            }
        }
        all
    }

    /// Where an address is in the room, be it in front of what is copied; `None`: nothing is of its object.
    fn place(&self, address: usize) -> Option<usize> {
        let mut objects = self.objects.iter();
        let of = objects.find(|(object, ..)| (object.start..=object.end).contains(&address));
        of.map(|(_, first, start)| start.wrapping_add(address.wrapping_sub(*first)))
    }
}

impl Offload {
    /// Has a kernel run. Where it changes memory that is copied, that is done when it returns; else it may still run.
    ///
    /// # Safety
    /// The values are those of the kernel's parameters.
    pub unsafe fn launch(
        &mut self,
        kernel: &Described,
        sizes: [[i64; 3]; 2],
        mut values: Values,
        version: Option<Version>,
        context: Context,
    ) -> Result<(), String> {
        let doing = &words(kernel.name, kernel.place);
        let (number, sizes) = self.begin(doing, kernel, sizes)?;
        let Some([blocks, items]) = sizes else {
            return Ok(());
        };
        // What each address leads to, once for all that lead to one object.
        let mut objects: BTreeMap<usize, (Range<usize>, bool)> = BTreeMap::new();
        let accessed = OnceCell::new();
        let (mut ranges, mut parts) = (Vec::new(), Vec::new());
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
                Place::Copied(object) => {
                    let accessed = accessed.get_or_init(|| accessed::all(kernel, &values));
                    let said = accessed.iter().filter(|one| one.parameter == at);
                    let mut said = said.peekable();
                    if said.peek().is_none() {
                        parts.push((object.clone(), writes));
                    }
                    parts.extend(said.filter_map(|one| {
                        let part = one.of(&object, address);
                        // What is in no word is accessed nowhere.
                        let words = places::in_words(part.clone());
                        (!part.is_empty()).then_some((words, one.writes && writes))
                    }));
                    ranges.push((object, writes));
                    at_place.push((at, address, None));
                }
            }
        }
        let copies = Copies::of(ranges, parts);
        let left = self.give_all(doing, number, kernel, blocks, &mut values, copies.end)?;
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
        let [mut contents, mut after] = std::mem::take(&mut self.buffers);
        contents.clear();
        contents.resize(copies.end, 0);
        for part in &copies.parts {
            places::snapshot_into(&part.range, &mut contents[part.place()]);
        }
        for place in near(copies.parts.iter().map(Part::place).collect()) {
            let (to, from) = (left.address(place.start), &contents[place]);
            // SAFETY: as many bytes.
            let copied = unsafe { self.device.upload(to, from.as_ptr(), from.len()) };
            self.check(doing, copied)?;
            self.kernels[number].cost.moved.up += from.len() as u64;
        }
        for (start, (_, writes)) in &objects {
            let mirrors = self.mirrors.as_mut().expect("blocks are of its heap");
            let moved = mirrors.before_kernel(*start, *writes, number, &self.device);
            let moved = self.check(doing, moved)?;
            self.moved(number, moved);
        }
        for (at, address, block) in at_place {
            let on_device = match block {
                // Where it is in front of the block, the distance is negative.
                Some(start) => addresses[&start].wrapping_add(address.wrapping_sub(start) as u64),
                None => match copies.place(address) {
                    Some(place) => left.address(0).wrapping_add(place as u64),
                    None => continue,
                },
            };
            values.set(at, on_device);
        }
        self.run(
            doing,
            (number, version),
            kernel,
            [blocks, items],
            &mut values,
        )?;
        let written = copies.parts.iter().filter(|part| part.writes);
        let places = written.clone().map(Part::place).collect();
        let results = self.results(doing, number, left, places, &mut after)?;
        for (address, bytes) in results {
            let to = std::ptr::with_exposed_provenance_mut::<u8>(address);
            // SAFETY: the program has room for as many bytes there.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        }
        for part in written {
            let place = part.place();
            // SAFETY: what the kernel wrote the program may write.
            unsafe {
                places::write_changes(part.range.start, &contents[place.clone()], &after[place])
            };
        }
        self.buffers = [contents, after];
        for buffer in &mut self.buffers {
            buffer.truncate(MOST_KEPT);
            buffer.shrink_to(MOST_KEPT);
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

    /// What is the library's becomes values, and so does room for results, which is behind so many bytes for copies.
    pub(super) fn give_all(
        &mut self,
        doing: &str,
        number: usize,
        kernel: &Described,
        blocks: [u32; 3],
        values: &mut Values,
        copies: usize,
    ) -> Result<Left, String> {
        let mut left = Left {
            room: None,
            end: copies,
            results: Vec::new(),
        };
        let mut results = Vec::new();
        for (at, parameter) in kernel.parameters.iter().enumerate() {
            if parameter.kind & parameter::OF_LIBRARY != 0 {
                self.give(doing, number, parameter.kind, at, values)?;
            } else if parameter.kind & parameter::RESULTS != 0 {
                let each = usize::try_from(parameter.size).unwrap_or(0);
                let count: usize = blocks.iter().map(|count| *count as usize).product();
                let start = left.end.next_multiple_of(ALIGNMENT);
                left.end = start + each * count;
                left.results.push((values.address(at), start..left.end));
                results.push((at, start));
            }
        }
        if left.end > 0 || !results.is_empty() {
            left.room = Some(self.room(doing, left.end)?);
        }
        for (at, start) in results {
            values.set(at, left.address(start));
        }
        Ok(left)
    }

    /// What a kernel that has run leaves as results, with where it goes; and in `contents` what is in the room, as far as it is
    /// results or one of these places.
    pub(super) fn results(
        &mut self,
        doing: &str,
        number: usize,
        left: Left,
        mut places: Vec<Range<usize>>,
        contents: &mut Vec<u8>,
    ) -> Result<Results, String> {
        places.extend(left.results.iter().map(|(_, place)| place.clone()));
        places.retain(|place| !place.is_empty());
        if !places.is_empty() {
            // What is not copied is not looked at.
            contents.resize(left.end, 0);
            let places = near(places);
            let ranges = places.iter().map(|place| {
                let to = contents[place.clone()].as_mut_ptr();
                (to, left.address(place.start), place.len())
            });
            let ranges: Vec<_> = ranges.collect();
            // SAFETY: as many bytes.
            let copied = unsafe { self.device.download_all(&ranges) };
            self.check(doing, copied)?;
            let down = places.iter().map(|place| place.len() as u64).sum();
            self.moved(number, Moved { up: 0, down });
        }
        self.spare.extend(left.room);
        let of = |(to, place): (usize, Range<usize>)| match contents.get(place) {
            Some(bytes) => (to, bytes.to_vec()),
            None => (to, Vec::new()),
        };
        Ok(left.results.into_iter().map(of).collect())
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
        (number, version): (usize, Option<Version>),
        kernel: &Described,
        [blocks, items]: [[u32; 3]; 2],
        values: &mut Values,
    ) -> Result<(), String> {
        self.moment(doing)?;
        let asked = timeline::now();
        let tried = version.filter(Version::is_tried);
        let span = match self.measures || tried.is_some() {
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
        let shared = self.kernels[number].given.shared;
        let function = version.and_then(|one| one.function());
        let function = function.unwrap_or(self.kernels[number].function);
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
                version: tried,
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
