//! A device with all that the program has there: modules, kernels, mirrors of its memory, and memory that it manages itself.
//!
//! Guarantee: a kernel finds at each address it is passed what the program wrote there last, and the program afterwards what
//! the kernel wrote. What cannot be done is an error that names the kernel and its place, and says what to do.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::ffi::c_void;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use okl_abi::gpu::{DeviceParameter, Image, parameter};

use crate::arena::Arena;
use crate::costs::{self, Cost};
use crate::described::{Described, code, fits, processor, wanted};
use crate::device::{Device, Problem, Span};
use crate::given::{self, Given};
use crate::mirrors::{Mirrors, Moved};
use crate::places::{self, Context};
use crate::table::{Address, Failure, Handle};
use crate::timeline::{self, Event};

mod on_copies;

use on_copies::Kept;
pub use on_copies::{Copied, Copies, Part};

/// So many launches are measured before their times are asked for.
const MOST_SPANS: usize = 1024;

/// A kernel that the program has launched.
struct Kernel {
    name: String,
    place: String,
    function: Handle,
    /// Work items of a block at most.
    most_items: u32,
    given: Given,
    cost: Cost,
}

impl Kernel {
    fn words(&self) -> String {
        words(&self.name, &self.place)
    }
}

/// How a message about a kernel begins.
pub fn words(name: &str, place: &str) -> String {
    format!("{place}: kernel {name}")
}

/// See the module's text.
pub struct Offload {
    /// The device.
    pub device: Device,
    mirrors: Option<Mirrors>,
    modules: BTreeMap<u64, Handle>,
    kernels: Vec<Kernel>,
    /// What was launched since it was last known that all is done.
    under_way: Vec<usize>,
    /// Memory that the program manages itself: address and bytes.
    own: BTreeMap<Address, usize>,
    /// The lock of all kernels, where one has asked for it.
    lock: Option<Address>,
    /// Copies from and to that, and what was copied.
    copies: Cost,
    /// Memory for copies, which is not used at the moment: bytes and address.
    spare: Vec<(usize, Address)>,
    /// Copies of memory that others keep.
    kept: Vec<Kept>,
    measures: bool,
    spans: Vec<Launched>,
    spare_spans: Vec<Span>,
    /// Where there is a timeline: a moment of the device's, and when that was.
    moment: Option<(Span, i64)>,
}

/// A launch that is measured.
struct Launched {
    kernel: usize,
    /// Blocks, and work items of a block.
    sizes: [[u32; 3]; 2],
    span: Span,
    /// When it was asked for.
    asked: i64,
}

// SAFETY: handles of a driver, which may be used by any thread.
unsafe impl Send for Offload {}

/// Values that are passed to a kernel.
pub struct Values {
    words: Vec<u64>,
    /// Where each begins.
    starts: Vec<usize>,
}

impl Values {
    /// Copies them: the program may have them in memory that is protected.
    ///
    /// # Safety
    /// `arguments` points to an address of each, which has as many bytes as the parameter says.
    pub unsafe fn of(parameters: &[DeviceParameter], arguments: *const *const c_void) -> Self {
        let mut all = Self {
            words: Vec::new(),
            starts: Vec::new(),
        };
        for (at, parameter) in parameters.iter().enumerate() {
            let bytes = match parameter.kind & parameter::RESULTS {
                0 => usize::try_from(parameter.size).unwrap_or(0),
                _ => size_of::<usize>(),
            };
            // Numbers of 16 bytes are aligned as their type is.
            all.words.resize(all.words.len().next_multiple_of(2), 0);
            let start = all.words.len();
            all.starts.push(start);
            all.words.resize(start + bytes.div_ceil(8), 0);
            if parameter.kind & parameter::OF_LIBRARY != 0 {
                continue;
            }
            // SAFETY: the caller's promise; there is room.
            unsafe {
                let from = (*arguments.add(at)).cast::<u8>();
                let to = all.words[start..].as_mut_ptr().cast::<u8>();
                std::ptr::copy_nonoverlapping(from, to, bytes);
            }
        }
        all
    }

    /// That of an address.
    pub fn address(&self, at: usize) -> usize {
        self.words[self.starts[at]] as usize
    }

    /// That of a number of so many bytes, with its sign.
    pub fn number(&self, at: usize, bytes: i64) -> Option<i128> {
        let word = self.words[self.starts[at]];
        match bytes {
            1 => Some(i128::from(word as i8)),
            2 => Some(i128::from(word as i16)),
            4 => Some(i128::from(word as i32)),
            8 => Some(i128::from(word as i64)),
            _ => None,
        }
    }

    fn set(&mut self, at: usize, address: Address) {
        self.words[self.starts[at]] = address;
    }

    fn pointers(&mut self) -> Vec<*mut c_void> {
        // Of a vector the same words lie at the same place each time.
        let first = self.words.as_mut_ptr();
        self.starts
            .iter()
            .map(|&start| first.wrapping_add(start).cast())
            .collect()
    }
}

/// What a device's memory is aligned to, at least.
const ALIGNMENT: usize = 256;

/// A range of the program's memory that is copied for one launch.
struct Copy {
    range: Range<usize>,
    writes: bool,
    /// The memory of the device that it lies in: bytes and address.
    room: (usize, Address),
    /// Where it begins there.
    address: Address,
    /// As it was before the kernel.
    contents: Vec<u8>,
}

/// Where an address of the program's leads to.
enum Place {
    /// As it is: nowhere, or to the device's memory.
    Same,
    /// A block of the heap.
    Block(Range<usize>),
    /// What is copied.
    Copied(Range<usize>),
}

impl Offload {
    /// With nothing there yet.
    pub fn new(device: Device, arena: Option<&'static Arena>, measures: bool) -> Self {
        Self {
            device,
            mirrors: arena.map(Mirrors::new),
            modules: BTreeMap::new(),
            kernels: Vec::new(),
            under_way: Vec::new(),
            own: BTreeMap::new(),
            lock: None,
            copies: Cost::default(),
            spare: Vec::new(),
            kept: Vec::new(),
            measures,
            spans: Vec::new(),
            spare_spans: Vec::new(),
            moment: None,
        }
    }

    /// What a problem is to the user, who did what `doing` says.
    fn told(&self, doing: &str, problem: &Problem) -> String {
        let Problem { failure, text } = problem;
        let device = &self.device.name;
        // Kernels run while the program goes on: what they end in is told later.
        let culprit = match &self.under_way[..] {
            [] => None,
            [one] => Some(self.kernels[*one].words()),
            several => {
                let several = several.iter().map(|one| {
                    let kernel = &self.kernels[*one];
                    format!("{} ({})", kernel.name, kernel.place)
                });
                let several = several.collect::<Vec<_>>().join(", ");
                Some(format!("one of the kernels {several}"))
            }
        };
        match failure {
            Failure::Faulted(what) => {
                let advice = match self.device.driver.kind.advice {
                    "" => String::new(),
                    advice => format!("; {advice}"),
                };
                let culprit = culprit.unwrap_or_else(|| format!("{doing}: a kernel"));
                format!("{culprit} {what} ({text}){advice}")
            }
            Failure::OutOfMemory => {
                let of_blocks = self.mirrors.as_ref().map_or(0, Mirrors::bytes);
                let own: usize = self.own.values().sum();
                format!(
                    "{doing}: the memory of {device} is full ({text}); this program has {of_blocks} bytes of its heap \
                     there and {own} of okl_malloc: use smaller data, or more ranks with a device each"
                )
            }
            Failure::Lost => format!(
                "{}: {device} does not answer any more ({text}): it may have to be reset, or the machine started again",
                culprit.unwrap_or_else(|| doing.to_owned())
            ),
            Failure::Resources => format!(
                "{doing}: a block needs more registers or shared memory than {device} has ({text}): use smaller blocks"
            ),
            Failure::Missing => {
                format!("{doing}: the driver is too old, {text}: install a newer one")
            }
            Failure::NoDevice | Failure::Refused | Failure::Other => format!("{doing}: {text}"),
        }
    }

    /// The message of a result that is none.
    fn check<T>(&self, doing: &str, result: Result<T, Problem>) -> Result<T, String> {
        result.map_err(|problem| self.told(doing, &problem))
    }

    /// The number of a kernel, which has one, from 0 on.
    fn meet(&mut self, kernel: &Described) -> Result<usize, String> {
        if let Ok(number) = usize::try_from(kernel.number.load(Relaxed) - 1) {
            return Ok(number);
        }
        let doing = words(kernel.name, kernel.place);
        let image = self.image(kernel)?;
        let version = self.device.version;
        if let Some(needed) = (self.device.driver.kind.needed)(code(image))
            && needed > version
        {
            let [needed, version] = [needed, version].map(self.device.driver.kind.version);
            return Err(format!(
                "{doing}: its code needs a driver of {} {needed}, and this one has {version}: install a newer one",
                self.device.driver.kind.words
            ));
        }
        let mut hasher = DefaultHasher::new();
        (image.code.addr(), code(image)).hash(&mut hasher);
        let module = match self.modules.get(&hasher.finish()) {
            Some(&module) => module,
            None => {
                // SAFETY: an image of the program's; the compiler has put a NUL behind a text.
                let loaded = unsafe { self.device.load(code(image)) };
                let module = loaded.map_err(|(problem, log)| match problem.failure {
                    Failure::Refused if log.is_empty() => {
                        format!("{doing}: the driver refuses its code ({})", problem.text)
                    }
                    Failure::Refused => format!(
                        "{doing}: the driver refuses its code ({}):\n{log}",
                        problem.text
                    ),
                    _ => self.told(&doing, &problem),
                })?;
                self.modules.insert(hasher.finish(), module);
                module
            }
        };
        let (function, most_items) = self.check(
            &doing,
            self.device
                .function(module, kernel.entry, kernel.parameters),
        )?;
        let given = Given::of(kernel, &self.device, function);
        let given = self.check(&doing, given)?;
        if let Some(most) = self
            .device
            .limits
            .shared
            .filter(|most| given.shared > *most)
        {
            return Err(format!(
                "{doing}: its blocks share {} bytes, and {} has room for {most}: use smaller @shared arrays",
                given.shared, self.device.name
            ));
        }
        let said = u32::try_from(kernel.most_items)
            .ok()
            .filter(|most| *most > 0);
        let mosts = [said, most_items, Some(self.device.limits.items)];
        self.kernels.push(Kernel {
            name: kernel.name.to_owned(),
            place: kernel.place.to_owned(),
            function,
            most_items: mosts.into_iter().flatten().min().unwrap_or(0),
            given,
            cost: Cost::default(),
        });
        kernel.number.store(self.kernels.len() as i64, Relaxed);
        Ok(self.kernels.len() - 1)
    }

    /// The code for this device: of the newest generation that it has.
    fn image<'a>(&self, kernel: &Described<'a>) -> Result<&'a Image, String> {
        let (kind, own) = (self.device.driver.kind, &self.device.processor);
        let of_kind = kernel.images.iter().filter(|image| image.form == kind.form);
        let fitting = of_kind
            .clone()
            .filter_map(|image| Some((fits(&kind.processors, processor(image), own)?, image)));
        let best = fitting.max_by_key(|(how_well, _)| *how_well);
        best.map(|(_, image)| image).ok_or_else(|| {
            let all: Vec<_> = of_kind.map(processor).collect();
            format!(
                "{}: its code is for {}, and {} is {own}: compile it for that one",
                words(kernel.name, kernel.place),
                wanted(&kind.processors, &all),
                self.device.name
            )
        })
    }

    /// How many blocks and work items there are, as the device counts them. `None`: there is nothing to do.
    fn sizes(
        &self,
        kernel: usize,
        blocks: [i64; 3],
        items: [i64; 3],
    ) -> Result<Option<[[u32; 3]; 2]>, String> {
        if blocks.iter().chain(&items).any(|count| *count <= 0) {
            return Ok(None);
        }
        let (kernel, limits, device) = (
            &self.kernels[kernel],
            &self.device.limits,
            &self.device.name,
        );
        let all: i128 = items.iter().map(|count| i128::from(*count)).product();
        let text = |of: [i64; 3]| of.map(|count| count.to_string()).join(" x ");
        if all > i128::from(kernel.most_items) {
            return Err(format!(
                "{}: its blocks have {all} work items ({}), and {device} can run {} of it at most: use smaller blocks",
                kernel.words(),
                text(items),
                kernel.most_items
            ));
        }
        for (direction, name) in ["x", "y", "z"].into_iter().enumerate() {
            let (count, most) = (items[direction], limits.items_of[direction]);
            if count > i64::from(most) {
                return Err(format!(
                    "{}: its blocks have {} work items, and in direction {name} {device} can run {most} at most: use \
                     smaller blocks",
                    kernel.words(),
                    text(items)
                ));
            }
            let (count, most) = (blocks[direction], limits.blocks_of[direction]);
            let most = match kernel.given.is_in_parts[direction] {
                true => u32::MAX,
                false => most,
            };
            if count > i64::from(most) {
                return Err(format!(
                    "{}: it has {} blocks, and in direction {name} {device} can run {most} at most: have the longest \
                     loop over blocks be the innermost of them",
                    kernel.words(),
                    text(blocks)
                ));
            }
        }
        Ok(Some([blocks, items].map(|of| of.map(|count| count as u32))))
    }

    /// Whether an address is in memory that the program manages itself.
    pub fn is_own(&self, address: usize) -> bool {
        let before = self.own.range(..=address as Address).next_back();
        before.is_some_and(|(start, bytes)| address as Address <= start + *bytes as Address)
    }

    fn place_of(&self, address: usize, context: Context) -> Place {
        if address == 0 || self.is_own(address) {
            return Place::Same;
        }
        if let Some(mirrors) = &self.mirrors
            && mirrors.arena().contains(address)
        {
            let block = mirrors.arena().block_of(address);
            return block.map_or(Place::Same, Place::Block);
        }
        places::around(address, context).map_or(Place::Same, Place::Copied)
    }

    /// Memory of the device; other objects go home where there is none.
    fn allocate<T>(
        &mut self,
        doing: &str,
        mut attempt: impl FnMut(&mut Self) -> Result<T, Problem>,
    ) -> Result<T, String> {
        loop {
            match attempt(self) {
                Err(problem) if problem.failure == Failure::OutOfMemory => {
                    self.spare.extend(self.kept.pop().map(Kept::into_room));
                    if let Some((_, address)) = self.spare.pop() {
                        let freed = self.device.free(address);
                        self.check(doing, freed)?;
                        continue;
                    }
                    let Some((start, kernel)) = self.mirrors.as_ref().and_then(Mirrors::idle)
                    else {
                        return Err(self.told(doing, &problem));
                    };
                    self.remove(doing, start, kernel, true)?;
                }
                result => return self.check(doing, result),
            }
        }
    }

    /// The device has no object of a block any more.
    fn remove(
        &mut self,
        doing: &str,
        start: usize,
        kernel: usize,
        contents_matter: bool,
    ) -> Result<(), String> {
        let mirrors = self.mirrors.as_mut().expect("there is an object");
        let moved = mirrors.remove(start, contents_matter, &self.device);
        let moved = self.check(doing, moved)?;
        self.moved(kernel, moved);
        Ok(())
    }

    fn moved(&mut self, kernel: usize, moved: Moved) {
        if let Some(kernel) = self.kernels.get_mut(kernel) {
            kernel.cost.add(moved);
        }
        if moved.down > 0 {
            self.all_is_done();
        }
    }

    /// Nothing is under way any more.
    fn all_is_done(&mut self) {
        self.under_way.clear();
        for one in std::mem::take(&mut self.spans) {
            if let Ok(time) = self.device.milliseconds(one.span) {
                self.kernels[one.kernel].cost.milliseconds += f64::from(time);
                self.note(&one, f64::from(time));
            }
            self.spare_spans.push(one.span);
        }
        // What is far behind a moment is not known exactly.
        self.spare_spans
            .extend(self.moment.take().map(|(span, _)| span));
    }

    /// Puts a kernel that has run into the timeline.
    fn note(&self, one: &Launched, milliseconds: f64) {
        let (Some(timeline), Some((moment, when))) = (&self.device.timeline, self.moment) else {
            return;
        };
        let kernel = &self.kernels[one.kernel];
        let nanoseconds = |milliseconds: f64| (milliseconds * 1e6) as i64;
        let behind = self.device.behind(one.span, moment).map(f64::from);
        let start = behind.map_or(0, |behind| when + nanoseconds(behind));
        // It cannot have begun before it was asked for.
        let start = start.max(one.asked);
        let event = Event::Kernel {
            name: kernel.name.clone(),
            place: kernel.place.clone(),
            sizes: one.sizes,
        };
        let mut timeline = timeline.borrow_mut();
        timeline.keep(event, start, start + nanoseconds(milliseconds));
    }

    /// A moment of the device's, by which is known when kernels run.
    fn moment(&mut self, doing: &str) -> Result<(), String> {
        if self.device.timeline.is_none() || self.moment.is_some() {
            return Ok(());
        }
        let spare = self.spare_spans.pop();
        let span = spare.map_or_else(|| self.device.span(), Ok);
        let span = self.check(doing, span)?;
        let began = self.device.begin(span).and_then(|()| self.device.wait());
        self.check(doing, began)?;
        self.moment = Some((span, timeline::now()));
        Ok(())
    }

    /// Waits until all that was launched has run.
    pub fn wait(&mut self, doing: &str) -> Result<(), String> {
        let waited = self.device.enter().and_then(|()| self.device.wait());
        self.check(doing, waited)?;
        self.all_is_done();
        Ok(())
    }

    /// Memory for a copy.
    fn room(&mut self, doing: &str, bytes: usize) -> Result<(usize, Address), String> {
        let bytes = bytes.next_power_of_two();
        if let Some(at) = self.spare.iter().position(|(has, _)| *has == bytes) {
            return Ok(self.spare.swap_remove(at));
        }
        let address = self.allocate(doing, |this| this.device.allocate(bytes))?;
        Ok((bytes, address))
    }

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
        let entered = self.device.enter();
        self.check(doing, entered)?;
        let number = self.meet(kernel)?;
        let Some([blocks, items]) = self.sizes(number, blocks, items)? else {
            return Ok(());
        };
        // What each address leads to, once for all that lead to one object.
        let mut objects: BTreeMap<usize, (Range<usize>, bool)> = BTreeMap::new();
        let mut ranges = Vec::new();
        let mut at_place = Vec::new();
        for (at, parameter) in kernel.parameters.iter().enumerate() {
            if parameter.kind & parameter::OF_LIBRARY != 0 {
                self.give(doing, number, parameter.kind, at, &mut values)?;
                continue;
            }
            if parameter.kind & parameter::ADDRESS == 0 {
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
        let mut results = Vec::new();
        for (at, parameter) in kernel.parameters.iter().enumerate() {
            if parameter.kind & parameter::RESULTS != 0 {
                let each = usize::try_from(parameter.size).unwrap_or(0);
                let count: usize = blocks.iter().map(|count| *count as usize).product();
                let bytes = each * count;
                let room = self.room(doing, bytes)?;
                results.push((values.address(at), bytes, room));
                values.set(at, room.1);
            }
        }
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
        for (address, bytes, room) in results {
            let to = std::ptr::with_exposed_provenance_mut(address);
            // SAFETY: the program has room for as many bytes there.
            let copied = unsafe { (self.device).download(to, room.1, bytes) };
            self.check(doing, copied)?;
            let down = bytes as u64;
            self.moved(number, Moved { up: 0, down });
            self.spare.push(room);
        }
        for copy in copies {
            if copy.writes {
                let old = &copy.contents;
                let mut new = vec![0_u8; old.len()];
                // SAFETY: as many bytes.
                let copied =
                    unsafe { (self.device).download(new.as_mut_ptr(), copy.address, new.len()) };
                self.check(doing, copied)?;
                let down = new.len() as u64;
                self.moved(number, Moved { up: 0, down });
                // SAFETY: what the kernel wrote the program may write.
                unsafe { places::write_changes(copy.range.start, old, &new) };
            }
            self.spare.push(copy.room);
        }
        Ok(())
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

    fn run(
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

    /// What the program does where it accesses memory.
    const ACCESS: &str = "copying data from the device";

    /// The host reads or writes at an address of the heap; false where the device has nothing to do with that.
    pub fn touch(&mut self, address: usize, writes: bool) -> Result<bool, String> {
        let Some((start, kernel)) = self
            .mirrors
            .as_ref()
            .and_then(|mirrors| mirrors.find(address))
        else {
            return Ok(false);
        };
        let entered = self.device.enter();
        self.check(Self::ACCESS, entered)?;
        let mirrors = self.mirrors.as_mut().expect("it has the block");
        let moved = mirrors.touch(start, address, writes, &self.device);
        let moved = self.check(Self::ACCESS, moved)?;
        self.moved(kernel, moved);
        Ok(true)
    }

    /// The host reads or writes a range that begins in the heap.
    pub fn touch_all(&mut self, range: Range<usize>, writes: bool) -> Result<(), String> {
        let Some((start, kernel)) = self
            .mirrors
            .as_ref()
            .and_then(|mirrors| mirrors.find(range.start))
        else {
            return Ok(());
        };
        let entered = self.device.enter();
        self.check(Self::ACCESS, entered)?;
        let mirrors = self.mirrors.as_mut().expect("it has the block");
        let moved = mirrors.touch_all(start, range, writes, &self.device);
        let moved = self.check(Self::ACCESS, moved)?;
        self.moved(kernel, moved);
        Ok(())
    }

    /// The program gives a block back.
    pub fn forget_block(&mut self, start: usize) -> Result<(), String> {
        let found = self
            .mirrors
            .as_ref()
            .and_then(|mirrors| mirrors.find(start));
        let Some((start, kernel)) = found.filter(|(its_start, _)| *its_start == start) else {
            return Ok(());
        };
        let entered = self.device.enter();
        self.check("free", entered)?;
        self.remove("free", start, kernel, false)
    }

    /// The host has all that the device wrote, and no object is the device's alone any more.
    pub fn go_home(&mut self) -> Result<(), String> {
        let entered = self.device.enter();
        self.check(Self::ACCESS, entered)?;
        for (start, kernel) in self.mirrors.as_ref().map(Mirrors::all).unwrap_or_default() {
            self.remove(Self::ACCESS, start, kernel, true)?;
        }
        Ok(())
    }

    /// The device is not there any more, and nothing was its alone.
    pub fn forget_all(&mut self) {
        if let Some(mirrors) = &mut self.mirrors {
            mirrors.forget();
        }
    }

    /// Memory that the program manages itself.
    pub fn own_memory(&mut self, bytes: usize) -> Result<Address, String> {
        let doing = &format!("okl_malloc of {bytes} bytes");
        let entered = self.device.enter();
        self.check(doing, entered)?;
        if let Some(mirrors) = &mut self.mirrors {
            mirrors.begin();
        }
        let address = self.allocate(doing, |this| this.device.allocate(bytes))?;
        self.own.insert(address, bytes);
        Ok(address)
    }

    /// The program gives it back.
    pub fn free_own_memory(&mut self, address: Address) -> Result<(), String> {
        if self.own.remove(&address).is_none() {
            return Err(format!(
                "okl_free of {address:#x}, which is no memory of okl_malloc's"
            ));
        }
        let freed = self.device.enter().and_then(|()| self.device.free(address));
        self.check("okl_free", freed)
    }

    /// Copies, from and to either memory.
    ///
    /// # Safety
    /// Both have so many bytes.
    pub unsafe fn copy(&mut self, to: usize, from: usize, bytes: usize) -> Result<(), String> {
        const DOING: &str = "okl_copy";
        if bytes == 0 {
            return Ok(());
        }
        for address in [to, from] {
            if let Some((start, all)) = self.own.range(..=address as Address).next_back()
                && (address as Address) < start + *all as Address
                && bytes as Address > start + *all as Address - address as Address
            {
                return Err(format!(
                    "{DOING} of {bytes} bytes reaches beyond the {all} bytes of okl_malloc at {start:#x}"
                ));
            }
        }
        let entered = self.device.enter();
        self.check(DOING, entered)?;
        let [to_device, from_device] = [to, from].map(|address| self.is_own(address));
        if !from_device {
            self.touch_all(from..from + bytes, false)?;
        }
        if !to_device {
            self.touch_all(to..to + bytes, true)?;
        }
        let to_host = std::ptr::with_exposed_provenance_mut::<u8>(to);
        let from_host = std::ptr::with_exposed_provenance::<u8>(from);
        // SAFETY: the caller's promise; the host's memory is there, and not protected.
        let copied = unsafe {
            match (to_device, from_device) {
                (true, true) => self.device.copy(to as Address, from as Address, bytes),
                (true, false) => self.device.upload(to as Address, from_host, bytes),
                (false, true) => self.device.download(to_host, from as Address, bytes),
                (false, false) => {
                    std::ptr::copy(from_host, to_host, bytes);
                    Ok(())
                }
            }
        };
        self.check(DOING, copied)?;
        let of = |is_so: bool| if is_so { bytes as u64 } else { 0 };
        self.copies.launches += 1;
        self.copies.add(Moved {
            up: of(to_device && !from_device),
            down: of(from_device && !to_device),
        });
        if from_device && !to_device {
            self.all_is_done();
        }
        Ok(())
    }

    /// What a kernel has cost so far.
    #[cfg(test)]
    pub fn cost(&self, kernel: usize) -> &Cost {
        &self.kernels[kernel].cost
    }

    /// What kernels cost, when all have run.
    pub fn table(&mut self) -> String {
        let _ = self.wait("the end of the program");
        let rows = self
            .kernels
            .iter()
            .map(|one| (&*one.name, &*one.place, &one.cost));
        let copies = ("okl_copy", "", &self.copies);
        let copies = (self.copies.launches > 0).then_some(copies);
        costs::table(&self.device.name, rows.chain(copies).collect())
    }
}
