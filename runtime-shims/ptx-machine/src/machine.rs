//! The device: its memory, modules, streams and events, and the work that is queued. Work is done as late as its order
//! allows: when somebody waits for it, or for what comes behind it.
//!
//! What a check finds makes the launch fail, and with it, as on a device, all that follows.

use std::collections::{BTreeMap, HashMap};

use crate::counts::Counts;
use crate::grid::Launch;
use crate::host;
use crate::loaded::{Loaded, Refused};
use crate::memory::Memory;
use crate::settings::Settings;
use crate::surroundings::Shape;

/// CUDA's number of an error.
pub type Code = i32;

/// CUDA's errors.
pub mod codes {
    #![allow(missing_docs)]
    pub const INVALID_VALUE: i32 = 1;
    pub const OUT_OF_MEMORY: i32 = 2;
    pub const NOT_INITIALIZED: i32 = 3;
    pub const NO_DEVICE: i32 = 100;
    pub const INVALID_DEVICE: i32 = 101;
    pub const INVALID_CONTEXT: i32 = 201;
    pub const NO_BINARY_FOR_GPU: i32 = 209;
    pub const INVALID_PTX: i32 = 218;
    pub const UNSUPPORTED_PTX_VERSION: i32 = 222;
    pub const FILE_NOT_FOUND: i32 = 301;
    pub const INVALID_HANDLE: i32 = 400;
    pub const NOT_FOUND: i32 = 500;
    pub const NOT_READY: i32 = 600;
    pub const LAUNCH_OUT_OF_RESOURCES: i32 = 701;
    pub const LAUNCH_FAILED: i32 = 719;
    pub const UNKNOWN: i32 = 999;
}

type Result<T, E = Code> = std::result::Result<T, E>;

/// The stream that waits for all others, and for which they wait.
pub const DEFAULT_STREAM: u64 = 0;

#[derive(Clone, Copy, Debug)]
struct Stream {
    /// Whether the default stream and it wait for each other.
    blocks: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Event {
    /// The work that records it, if it was recorded.
    record: Option<u64>,
    /// When that was done, in warp instructions.
    time: Option<u64>,
}

/// Where bytes of the host come from.
#[derive(Debug)]
pub enum Source {
    /// They were taken when the copy was asked for.
    Taken(Vec<u8>),
    /// They lie in memory that the device reads by itself, when it comes to it.
    Pinned(usize, usize),
}

/// Work that is queued.
#[derive(Debug)]
pub enum What {
    /// From the host.
    CopyIn(u64, Source),
    /// To an address of the host.
    CopyOut(usize, u64, usize),
    /// From the device's memory to itself.
    CopyWithin(u64, u64, usize),
    /// A pattern, again and again.
    Set(u64, Vec<u8>, usize),
    /// A kernel: its handle, its shape, its parameters.
    Launch(u64, Shape, Vec<u8>),
    /// An event.
    Record(u64),
    /// For the record of an event.
    Wait(u64),
}

#[derive(Debug)]
struct Work {
    number: u64,
    stream: u64,
    what: What,
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    module: u64,
    index: u32,
    /// The most bytes that a launch may add to a block's memory.
    pub most_dynamic: u32,
    counts: Counts,
}

/// The device.
#[derive(Debug)]
pub struct Machine {
    /// What was asked for.
    pub settings: Settings,
    /// Its memory.
    pub memory: Memory,
    modules: BTreeMap<u64, Loaded>,
    kernels: BTreeMap<u64, Kernel>,
    streams: HashMap<u64, Stream>,
    events: HashMap<u64, Event>,
    queue: Vec<Work>,
    pinned: BTreeMap<usize, usize>,
    next: u64,
    next_segment: u32,
    launches: u64,
    clock: u64,
    failed: Option<Code>,
    /// What is told of checks, for tests.
    pub told: Vec<String>,
}

impl Machine {
    /// A device as the settings have it.
    pub fn new(settings: Settings) -> Self {
        let memory = Memory::new(settings.memory);
        Self {
            settings,
            memory,
            modules: BTreeMap::new(),
            kernels: BTreeMap::new(),
            streams: HashMap::new(),
            events: HashMap::new(),
            queue: Vec::new(),
            pinned: BTreeMap::new(),
            next: 0x1000,
            next_segment: 1,
            launches: 0,
            clock: 0,
            failed: None,
            told: Vec::new(),
        }
    }

    /// An error if the device failed before.
    pub fn check(&self) -> Result<()> {
        self.failed.map_or(Ok(()), Err)
    }

    fn number(&mut self) -> u64 {
        self.next += 0x10;
        self.next
    }

    fn tell(&mut self, text: String) {
        eprintln!("okl-ptx-machine: {text}");
        self.told.push(text);
    }

    /// Loads a module; otherwise the error and what the log says.
    pub fn load(&mut self, text: &str) -> Result<u64, (Code, String)> {
        let Settings {
            capability, driver, ..
        } = self.settings;
        match Loaded::load(text, capability, driver, &mut self.memory) {
            Ok(loaded) => {
                let number = self.number();
                self.modules.insert(number, loaded);
                Ok(number)
            }
            Err(Refused::Text(error)) => Err((
                codes::INVALID_PTX,
                format!("PTX line {}: {}", error.line, error.what),
            )),
            Err(Refused::Capability(wanted)) => Err((
                codes::NO_BINARY_FOR_GPU,
                format!("the module is for sm_{wanted}, the device is sm_{capability}"),
            )),
            Err(Refused::Version(version)) => Err((
                codes::UNSUPPORTED_PTX_VERSION,
                format!(
                    "PTX {}.{} is too new for a driver of CUDA {}.{}",
                    version / 10,
                    version % 10,
                    driver / 1000,
                    driver % 1000 / 10
                ),
            )),
            Err(Refused::Memory) => Err((
                codes::OUT_OF_MEMORY,
                "no memory for its variables".to_owned(),
            )),
        }
    }

    /// Gives a module back.
    pub fn unload(&mut self, module: u64) -> Result<()> {
        self.finish()?;
        let loaded = self.modules.remove(&module).ok_or(codes::INVALID_HANDLE)?;
        for (_, address) in loaded.program.variables {
            self.memory.free(address);
        }
        self.kernels.retain(|_, kernel| kernel.module != module);
        Ok(())
    }

    /// A kernel of a module by its name.
    pub fn kernel(&mut self, module: u64, name: &str) -> Result<u64> {
        let loaded = self.modules.get(&module).ok_or(codes::INVALID_HANDLE)?;
        let mut functions = loaded.program.functions.iter();
        let index = functions.position(|one| one.is_entry && one.name == name);
        let index = index.ok_or(codes::NOT_FOUND)? as u32;
        let mut known = self.kernels.iter();
        if let Some((number, _)) = known.find(|(_, one)| one.module == module && one.index == index)
        {
            return Ok(*number);
        }
        let shared = loaded.program.functions[index as usize].shared;
        let kernel = Kernel {
            module,
            index,
            most_dynamic: (48 << 10) - shared.min(48 << 10),
            counts: Counts::default(),
        };
        let number = self.number();
        self.kernels.insert(number, kernel);
        Ok(number)
    }

    /// A variable of a module: its address and size.
    pub fn variable(&self, module: u64, name: &str) -> Result<(u64, usize)> {
        let loaded = self.modules.get(&module).ok_or(codes::INVALID_HANDLE)?;
        let mut variables = loaded.program.variables.iter();
        let found = variables.find(|(variable, _)| variable.name == name);
        let (variable, address) = found.ok_or(codes::NOT_FOUND)?;
        Ok((*address, variable.size))
    }

    /// A kernel and what is known of its function.
    pub fn function(&mut self, kernel: u64) -> Result<(&mut Kernel, &crate::program::Function)> {
        let kernel = self.kernels.get_mut(&kernel).ok_or(codes::INVALID_HANDLE)?;
        let loaded = self
            .modules
            .get(&kernel.module)
            .ok_or(codes::INVALID_HANDLE)?;
        let index = kernel.index as usize;
        Ok((kernel, &loaded.program.functions[index]))
    }

    /// How often warps came to each line of the PTX, by the kernels' names: `LINE=COUNT` for lines they came to.
    pub fn lines(&self) -> Vec<(String, String)> {
        let mut all: BTreeMap<String, BTreeMap<u32, u64>> = BTreeMap::new();
        for kernel in self.kernels.values() {
            let program = &self.modules[&kernel.module].program;
            let name = program.functions[kernel.index as usize].name.clone();
            let lines = all.entry(name).or_default();
            for (place, count) in program.places.iter().zip(&kernel.counts.issued) {
                // Of several instructions that a line becomes here, each is reached as often, or less.
                let most = lines.entry(place.0).or_default();
                *most = (*most).max(*count);
            }
        }
        let written = |lines: BTreeMap<u32, u64>| {
            let reached = lines.into_iter().filter(|(_, count)| *count > 0);
            let words = reached.map(|(line, count)| format!("{line}={count}"));
            words.collect::<Vec<_>>().join(" ")
        };
        let all = all.into_iter();
        all.map(|(name, lines)| (name, written(lines))).collect()
    }

    /// What kernels cost, by name.
    pub fn counts(&self) -> Vec<(String, Counts)> {
        let mut all: BTreeMap<String, Counts> = BTreeMap::new();
        for kernel in self.kernels.values() {
            let loaded = &self.modules[&kernel.module];
            let name = loaded.program.functions[kernel.index as usize].name.clone();
            all.entry(name).or_default().add(&kernel.counts);
        }
        all.into_iter().collect()
    }

    /// The most bytes of shared memory that a kernel may ask for.
    pub fn most_shared(&self) -> u32 {
        match self.settings.capability {
            90.. => 227 << 10,
            80 | 87 => 163 << 10,
            75 => 64 << 10,
            70 | 72 => 96 << 10,
            _ => 99 << 10,
        }
    }

    /// A stream.
    pub fn create_stream(&mut self, blocks: bool) -> u64 {
        let number = self.number();
        self.streams.insert(number, Stream { blocks });
        number
    }

    /// Whether there is such a stream.
    pub fn check_stream(&self, stream: u64) -> Result<()> {
        // 1 and 2 are CUDA's names of the default stream, and of that of a thread.
        if stream == DEFAULT_STREAM || self.streams.contains_key(&stream) {
            Ok(())
        } else {
            Err(codes::INVALID_HANDLE)
        }
    }

    /// Destroys a stream, whose work is done before.
    pub fn destroy_stream(&mut self, stream: u64) -> Result<()> {
        self.synchronise(stream)?;
        self.streams
            .remove(&stream)
            .map(|_| ())
            .ok_or(codes::INVALID_HANDLE)
    }

    /// An event.
    pub fn create_event(&mut self) -> u64 {
        let number = self.number();
        self.events.insert(number, Event::default());
        number
    }

    /// Forgets an event.
    pub fn destroy_event(&mut self, event: u64) -> Result<()> {
        self.events
            .remove(&event)
            .map(|_| ())
            .ok_or(codes::INVALID_HANDLE)
    }

    /// Records an event behind what is queued in a stream.
    pub fn record(&mut self, event: u64, stream: u64) -> Result<()> {
        if !self.events.contains_key(&event) {
            return Err(codes::INVALID_HANDLE);
        }
        let number = self.queue(stream, What::Record(event))?;
        let record = Some(number);
        self.events.insert(event, Event { record, time: None });
        Ok(())
    }

    /// Has a stream wait for an event.
    pub fn wait(&mut self, stream: u64, event: u64) -> Result<()> {
        let event = self.events.get(&event).ok_or(codes::INVALID_HANDLE)?;
        match event.record {
            None => Ok(()),
            Some(record) => self.queue(stream, What::Wait(record)).map(|_| ()),
        }
    }

    /// Waits for an event.
    pub fn synchronise_event(&mut self, event: u64) -> Result<()> {
        self.check()?;
        let event = *self.events.get(&event).ok_or(codes::INVALID_HANDLE)?;
        event.record.map_or(Ok(()), |record| self.run_up_to(record))
    }

    /// Whether an event has happened.
    pub fn is_over(&self, event: u64) -> Result<bool> {
        let event = self.events.get(&event).ok_or(codes::INVALID_HANDLE)?;
        Ok(event.record.is_none() || event.time.is_some())
    }

    /// Milliseconds between two events, of a device that runs a warp instruction in a nanosecond.
    pub fn elapsed(&self, from: u64, to: u64) -> Result<f32> {
        let time = |event: u64| {
            let event = self.events.get(&event).ok_or(codes::INVALID_HANDLE)?;
            event.record.ok_or(codes::INVALID_HANDLE)?;
            event.time.ok_or(codes::NOT_READY)
        };
        let (from, to) = (time(from)?, time(to)?);
        Ok((to as f64 - from as f64) as f32 * 1e-6)
    }

    /// Queues work; its number.
    pub fn queue(&mut self, stream: u64, what: What) -> Result<u64> {
        self.check()?;
        self.check_stream(stream)?;
        let number = self.number();
        self.queue.push(Work {
            number,
            stream,
            what,
        });
        Ok(number)
    }

    /// Does work now, and what comes before it.
    pub fn now(&mut self, what: What) -> Result<()> {
        let number = self.queue(DEFAULT_STREAM, what)?;
        self.run_up_to(number)
    }

    /// Waits for all work of a stream.
    pub fn synchronise(&mut self, stream: u64) -> Result<()> {
        self.check()?;
        self.check_stream(stream)?;
        let last = self.queue.iter().rev().find(|work| work.stream == stream);
        match last.map(|work| work.number) {
            Some(number) => self.run_up_to(number),
            None if stream == DEFAULT_STREAM => {
                let last = self
                    .queue
                    .iter()
                    .rev()
                    .find(|work| self.blocks(work.stream));
                last.map(|work| work.number)
                    .map_or(Ok(()), |number| self.run_up_to(number))
            }
            None => Ok(()),
        }
    }

    /// Whether all work of a stream is done.
    pub fn is_idle(&self, stream: u64) -> bool {
        self.queue.iter().all(|work| work.stream != stream)
    }

    /// Waits for all work.
    pub fn finish(&mut self) -> Result<()> {
        self.check()?;
        for work in std::mem::take(&mut self.queue) {
            self.do_now(work)?;
        }
        Ok(())
    }

    fn blocks(&self, stream: u64) -> bool {
        stream == DEFAULT_STREAM || self.streams.get(&stream).is_some_and(|one| one.blocks)
    }

    /// Does a piece of work and all that has to be done before it.
    fn run_up_to(&mut self, number: u64) -> Result<()> {
        let Some(last) = self.queue.iter().position(|work| work.number == number) else {
            return self.check();
        };
        let mut needed = vec![false; last + 1];
        let mut streams: Vec<u64> = Vec::new();
        let mut records = vec![number];
        for at in (0..=last).rev() {
            let work = &self.queue[at];
            let is_ordered = |other: &u64| {
                let meet = *other == DEFAULT_STREAM || work.stream == DEFAULT_STREAM;
                *other == work.stream || (meet && self.blocks(*other) && self.blocks(work.stream))
            };
            if records.contains(&work.number) || streams.iter().any(is_ordered) {
                needed[at] = true;
                streams.push(work.stream);
                if let What::Wait(record) = work.what {
                    records.push(record);
                }
            }
        }
        let mut rest = Vec::new();
        let mut to_do = Vec::new();
        for (at, work) in std::mem::take(&mut self.queue).into_iter().enumerate() {
            if needed.get(at) == Some(&true) {
                to_do.push(work);
            } else {
                rest.push(work);
            }
        }
        self.queue = rest;
        for work in to_do {
            self.do_now(work)?;
        }
        Ok(())
    }

    fn do_now(&mut self, work: Work) -> Result<()> {
        self.check()?;
        let done = match work.what {
            What::CopyIn(to, Source::Taken(bytes)) => self.write(to, &bytes),
            What::CopyIn(to, Source::Pinned(from, count)) => {
                self.write(to, &host::read(from, count))
            }
            What::CopyOut(to, from, count) => self
                .read(from, count, true)
                .map(|bytes| host::write(to, &bytes)),
            What::CopyWithin(to, from, count) => self.copy_within(to, from, count),
            What::Set(to, pattern, count) => self.write(to, &pattern.repeat(count)),
            What::Launch(kernel, shape, params) => self.launch_now(kernel, shape, &params),
            What::Record(event) => {
                if let Some(event) = self.events.get_mut(&event)
                    && event.record == Some(work.number)
                {
                    event.time = Some(self.clock);
                }
                Ok(())
            }
            What::Wait(_) => Ok(()),
        };
        if let Err(code) = done {
            self.failed = Some(code);
            self.queue.clear();
        }
        done
    }

    /// An error if these bytes are not one allocation's.
    pub fn check_range(&self, address: u64, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.memory
            .find(address, bytes, 0)
            .map(|_| ())
            .map_err(|_| codes::INVALID_VALUE)
    }

    fn write(&mut self, to: u64, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let index = self
            .memory
            .find(to, bytes.len(), 0)
            .map_err(|_| codes::INVALID_VALUE)?;
        let allocation = self.memory.get(index);
        let at = (to - allocation.base) as usize;
        allocation.data[at..at + bytes.len()].copy_from_slice(bytes);
        allocation.known[at..at + bytes.len()].fill(!0);
        Ok(())
    }

    fn read(&mut self, from: u64, count: usize, is_output: bool) -> Result<Vec<u8>> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let index = self
            .memory
            .find(from, count, 0)
            .map_err(|_| codes::INVALID_VALUE)?;
        let allocation = self.memory.get(index);
        let at = (from - allocation.base) as usize;
        let unknown = allocation.unknown_in(at, count).map(str::to_owned);
        let bytes = allocation.data[at..at + count].to_vec();
        if let Some(unknown) = unknown.filter(|_| is_output) {
            self.tell(format!("{unknown}, and the host reads it"));
            return Err(codes::LAUNCH_FAILED);
        }
        Ok(bytes)
    }

    fn copy_within(&mut self, to: u64, from: u64, count: usize) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        let find = |memory: &Memory, address| {
            memory
                .find(address, count, 0)
                .map_err(|_| codes::INVALID_VALUE)
        };
        let source = find(&self.memory, from)?;
        let allocation = self.memory.get(source);
        let at = (from - allocation.base) as usize;
        let data = allocation.data[at..at + count].to_vec();
        let known = allocation.known[at..at + count].to_vec();
        let moved = allocation
            .unknown_stores
            .iter()
            .filter_map(|(offset, bytes, what)| {
                let is_in = *offset >= at && offset + bytes <= at + count;
                is_in.then(|| (offset - at, *bytes, what.clone()))
            });
        let moved: Vec<_> = moved.collect();
        let target = find(&self.memory, to)?;
        let allocation = self.memory.get(target);
        let at = (to - allocation.base) as usize;
        allocation.data[at..at + count].copy_from_slice(&data);
        allocation.known[at..at + count].copy_from_slice(&known);
        for (offset, bytes, what) in moved {
            allocation.note_unknown(at + offset, bytes, what);
        }
        Ok(())
    }

    /// Queues a launch.
    pub fn launch(
        &mut self,
        stream: u64,
        kernel: u64,
        shape: Shape,
        params: Vec<u8>,
    ) -> Result<()> {
        self.check()?;
        self.check_stream(stream)?;
        let most_shared = self.most_shared();
        let (own, function) = self.function(kernel)?;
        let size = shape
            .threads
            .iter()
            .map(|one| u64::from(*one))
            .product::<u64>();
        let [x, y, z] = shape.blocks;
        let [tx, ty, tz] = shape.threads;
        let is_wrong = size == 0
            || x == 0
            || y == 0
            || z == 0
            || x > i32::MAX as u32
            || y > 65_535
            || z > 65_535
            || tx > 1024
            || ty > 1024
            || tz > 64
            || size > 1024
            || shape.dynamic_shared > own.most_dynamic
            || function.shared + shape.dynamic_shared > most_shared;
        if is_wrong {
            return Err(codes::INVALID_VALUE);
        }
        let most: u64 = function
            .most_threads
            .iter()
            .map(|one| u64::from(*one))
            .product();
        if most > 0 && (size > most || (function.exactly && shape.threads != function.most_threads))
        {
            return Err(codes::LAUNCH_OUT_OF_RESOURCES);
        }
        let total_shared = function.shared + shape.dynamic_shared;
        let grid = self.number();
        let shape = Shape {
            total_shared,
            grid,
            ..shape
        };
        self.queue(stream, What::Launch(kernel, shape, params))
            .map(|_| ())
    }

    fn launch_now(&mut self, kernel: u64, shape: Shape, params: &[u8]) -> Result<()> {
        self.launches += 1;
        if self
            .settings
            .lost
            .is_some_and(|after| self.launches > after)
        {
            self.tell("the device is lost".to_owned());
            return Err(codes::UNKNOWN);
        }
        let own = self.kernels.get_mut(&kernel).ok_or(codes::INVALID_HANDLE)?;
        let loaded = &self.modules[&own.module];
        let mut print = |text: &[u8]| host::print(text);
        let launch = Launch {
            program: &loaded.program,
            function: own.index,
            layout: &loaded.layout,
            shape,
            params,
            seed: self.settings.seed,
            checks_races: self.settings.races,
            most_instructions: self.settings.instructions,
            next_segment: &mut self.next_segment,
            print: &mut print,
        };
        match launch.run(&mut self.memory) {
            Ok(counts) => {
                self.clock += counts.instructions.iter().sum::<u64>();
                own.counts.add(&counts);
                Ok(())
            }
            Err(finding) => {
                let name = &loaded.program.functions[own.index as usize].name;
                let place = loaded.program.place(finding.at);
                let text = format!("{name}, {place}: {}", finding.text);
                self.tell(text);
                Err(finding.code)
            }
        }
    }

    /// Memory of the host that the device reads by itself.
    pub fn pin(&mut self, address: usize, bytes: usize) {
        self.pinned.insert(address, bytes);
    }

    /// Gives it back; how many bytes it had.
    pub fn unpin(&mut self, address: usize) -> Result<usize> {
        self.finish()?;
        self.pinned.remove(&address).ok_or(codes::INVALID_VALUE)
    }

    /// Whether these bytes of the host are such memory.
    pub fn is_pinned(&self, address: usize, bytes: usize) -> bool {
        let before = self.pinned.range(..=address).next_back();
        before.is_some_and(|(start, count)| address + bytes <= start + count)
    }
}
