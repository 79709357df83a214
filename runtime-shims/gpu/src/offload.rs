//! A device with all that the program has there: modules, kernels, mirrors of its memory, and memory that it manages itself.
//!
//! Guarantee: a kernel finds at each address it is passed what the program wrote there last, and the program afterwards what
//! the kernel wrote. What cannot be done is an error that names the kernel and its place, and says what to do.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use okl_abi::gpu::Image;

use okl_job::{launcher, own_environment};

use crate::arena::Arena;
use crate::arrays;
use crate::costs::Cost;
use crate::described::{self, Described, code, processor, wanted};
use crate::device::{Device, Problem, Span};
use crate::given::Given;
use crate::mirrors::{Mirrors, Moved};
use crate::places::{self, Context};
use crate::table::{Address, Failure, Handle};

mod launch;
mod on_copies;
mod own;
mod times;

use on_copies::Kept;
pub use on_copies::{Copied, Copies, Part};
use times::Launched;

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
    spare: Vec<Room>,
    /// What is copied to the device for a launch, and what comes back: kept, as new memory has to be made by the system.
    buffers: [Vec<u8>; 2],
    /// Copies of memory that others keep, those that were used last behind the others.
    kept: Vec<Kept>,
    /// Of how many bytes this library may have copies for that.
    most_kept: usize,
    measures: bool,
    spans: Vec<Launched>,
    spare_spans: Vec<Span>,
    /// Where there is a timeline: a moment of the device's, and when that was.
    moment: Option<(Span, i64)>,
}

// SAFETY: handles of a driver, which may be used by any thread.
unsafe impl Send for Offload {}

/// What a device's memory is aligned to, at least.
const ALIGNMENT: usize = 256;

/// Memory of the device: bytes and address.
type Room = (usize, Address);

/// What the ranks of a machine may keep for copies that others keep: a part of its memory.
fn most_kept() -> usize {
    const PART: usize = 16;
    // SAFETY: asks for two numbers.
    let [pages, page] = [libc::_SC_PHYS_PAGES, libc::_SC_PAGESIZE]
        .map(|one| usize::try_from(unsafe { libc::sysconf(one) }).unwrap_or(0));
    let ranks = launcher::ranks_of_node(own_environment).unwrap_or(1).max(1);
    pages * page / PART / ranks as usize
}

/// Where an address of the program's leads to.
enum Place {
    /// As it is: nowhere, or to the device's memory.
    Same,
    /// A block of the heap, or a large variable.
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
            buffers: Default::default(),
            kept: Vec::new(),
            most_kept: most_kept(),
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
        let image = self
            .image(kernel)
            .map_err(|why| format!("{doing}: {why}"))?;
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

    /// The code for this device: of the newest generation that it has. An error is why there is none.
    pub fn image<'a>(&self, kernel: &Described<'a>) -> Result<&'a Image, String> {
        let (kind, own) = (self.device.driver.kind, &self.device.processor);
        let best = described::best(kernel.images, kind, own);
        best.map(|at| &kernel.images[at]).ok_or_else(|| {
            let of_kind = kernel.images.iter().filter(|image| image.form == kind.form);
            let all: Vec<_> = of_kind.map(processor).collect();
            format!(
                "its code is for {}, and {} is {own}: compile it for that one",
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
        if self.mirrors.is_some()
            && let Some(pages) = arrays::around(address)
        {
            return Place::Block(pages);
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
                    let kept = (!self.kept.is_empty()).then(|| self.kept.remove(0));
                    self.spare.extend(kept.map(Kept::into_room));
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

    /// Waits until all that was launched has run.
    pub fn wait(&mut self, doing: &str) -> Result<(), String> {
        let waited = self.device.enter().and_then(|()| self.device.wait());
        self.check(doing, waited)?;
        self.all_is_done();
        Ok(())
    }

    /// Memory for a copy.
    fn room(&mut self, doing: &str, bytes: usize) -> Result<Room, String> {
        let bytes = bytes.next_power_of_two();
        if let Some(at) = self.spare.iter().position(|(has, _)| *has == bytes) {
            return Ok(self.spare.swap_remove(at));
        }
        let address = self.allocate(doing, |this| this.device.allocate(bytes))?;
        Ok((bytes, address))
    }

    /// What the program does where it accesses memory.
    const ACCESS: &str = "copying data from the device";

    /// The host reads or writes at an address of a block; false where the device has nothing to do with that.
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

    /// The host reads or writes a range that begins in a block.
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
}
