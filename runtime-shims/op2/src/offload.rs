//! Runs a loop on a device.
//!
//! Guarantee: as on the host; what it adds to elements through maps, and to global arguments, in another order. Elements that
//! write the same in another way than by adding do not run at the same time, nor do those that add, or blocks of them, where that
//! is not done by atomic operations ([`increments`]): then results are the same in each run. What is not for the device the
//! processor runs, and finds its data. Of several ranks all run a loop on devices, or none; each runs on its device what it would
//! run itself, elements that need nothing of others while data of others are on their way.

use std::{
    collections::HashMap,
    ffi::c_void,
    ops::Range,
    sync::{Arc, Mutex},
};

use okl_abi::op2::{DeviceValue, access, device as what};

use crate::{
    backend,
    body::{both_add, every_meeting, written_columns},
    device::{Kernel, Memory, Runs},
    distribute::Distribution,
    exchange,
    increments::{self, Increments},
    job,
    layout::{Arg, Map, Set, argtype},
    local,
    mirror::{self, Leads, Of, Use},
    plan::{self, Plan},
    private,
    ranks::{self, Winner},
    report::{fatal, warn_once},
    settings,
    staged::{self, Staged},
    storage,
    times::Way,
};

/// The loop's name, its kernel and its arguments.
#[derive(Clone, Copy)]
pub(crate) struct Offload<'a> {
    pub(crate) name: &'a str,
    pub(crate) set: *const Set,
    pub(crate) kernel: Kernel<'a>,
    pub(crate) arguments: &'a [Arg],
}

/// What is passed, eight bytes each or more.
struct Values {
    words: Vec<u64>,
    starts: Vec<usize>,
}

/// Whether blocks leave something there, each as many bytes as the value has.
fn is_of_blocks(value: &DeviceValue) -> bool {
    matches!(value.what, what::PARTIALS | what::FIRSTS)
}

/// Where blocks put that.
#[derive(Default)]
struct Places {
    bytes: usize,
    /// Of each, by the position of the value.
    starts: Vec<(usize, usize)>,
}

/// Where blocks put their values of global arguments; nobody else uses it at the same time.
static PARTIALS: Mutex<Option<Memory>> = Mutex::new(None);

/// Forgets what is on the device.
pub(crate) fn clear() {
    *PARTIALS.lock().expect("no panic while it is locked") = None;
    *AGREED.lock().expect("no panic while it is locked") = None;
}

/// Tells those who ask for a device of a loop that has no code for one.
pub(crate) fn tell_of_none(name: &str) {
    if backend::asks_for_device() {
        warn_once(&format!(
            "op_par_loop {name}: the processor runs it: it was not compiled for devices"
        ));
    }
}

/// What runs a loop on this rank, as all have agreed, by its number.
static AGREED: Mutex<Option<HashMap<usize, Runs>>> = Mutex::new(None);

/// Elements that run together.
struct Run {
    elements: Range<usize>,
    /// Whether what they make of global arguments counts: elements of others do not.
    counts: bool,
    /// What keeps elements, or blocks, apart that must not run at the same time, and whether it is new.
    plan: Option<(Arc<Plan>, bool)>,
    /// What blocks add, where these are kept apart.
    staged: Option<Arc<Staged>>,
}

impl Run {
    /// What runs one after the other: positions of elements, or of blocks.
    fn launches(&self) -> Vec<Range<usize>> {
        let Some((plan, _)) = &self.plan else {
            return vec![self.elements.clone()];
        };
        let mut end = 0;
        let launches = plan.colours.iter().map(|colour| {
            let start = end;
            end += colour.len();
            start..end
        });
        launches.collect()
    }

    /// How many blocks run what is at these positions.
    fn blocks_of(&self, positions: &Range<usize>, block: usize) -> usize {
        match self.staged {
            Some(_) => positions.len(),
            None => positions.len().div_ceil(block),
        }
    }

    fn blocks(&self, block: usize) -> usize {
        let launches = self.launches();
        let launches = launches.iter();
        launches.map(|one| self.blocks_of(one, block)).sum()
    }
}

impl Offload<'_> {
    /// Runs it; `None` where the processor is to. Where the mesh is distributed, all ranks call this.
    ///
    /// # Safety
    /// The arguments are right for the loop over the set, which is that of the kernel.
    pub(crate) unsafe fn run(&self, distribution: Option<&Distribution>) -> Option<Way> {
        let Runs::Device { exchanges } = self.runs(distribution) else {
            return None;
        };
        // SAFETY: the caller's promises.
        unsafe {
            match self.why_not() {
                None => Some(self.launch_all(distribution, self.increments(exchanges))),
                Some(why) if self.kernel.has_processor() => {
                    warn_once(&format!(
                        "op_par_loop {}: the processor runs it: {why}",
                        self.name
                    ));
                    None
                }
                Some(why) => fatal(&format!(
                    "op_par_loop {}: a device cannot run it: {why}; compile it with cpu among its targets",
                    self.name
                )),
            }
        }
    }

    /// What runs it: a device where all ranks have one that share the mesh.
    fn runs(&self, distribution: Option<&Distribution>) -> Runs {
        let mine = || match backend::may_have_device() {
            true => self.kernel.runs(),
            false => Runs::Processor,
        };
        if distribution.is_none() || job::ranks() == 1 {
            return mine();
        }
        let mut agreed = AGREED.lock().expect("no panic while it is locked");
        let agreed = agreed.get_or_insert_default();
        *agreed.entry(self.kernel.number()).or_insert_with(|| {
            let mine = mine();
            let is_there = mine != Runs::Processor;
            let all = job::all(is_there);
            if is_there && !all {
                let why = "another rank has no device";
                match self.kernel.has_processor() {
                    true => warn_once(&format!(
                        "op_par_loop {}: the processor runs it: {why}",
                        self.name
                    )),
                    false => fatal(&format!(
                        "op_par_loop {}: a device cannot run it: {why}; compile it with cpu among its targets",
                        self.name
                    )),
                }
            }
            match all {
                true => mine,
                false => Runs::Processor,
            }
        })
    }

    /// What is in the way.
    ///
    /// # Safety
    /// See [`Offload::run`].
    unsafe fn why_not(&self) -> Option<String> {
        let told = |why: &str| Some(why.to_owned());
        if storage::is_looked_at() {
            return told(
                "a file of the program may look at op_dat->data, or was compiled without the plugin",
            );
        }
        let mut arguments = self.arguments.to_vec();
        // SAFETY: the caller's promises.
        unsafe {
            ranks::refresh(&mut arguments);
            for (at, one) in arguments.iter().enumerate() {
                if one.opt == 0 {
                    continue;
                }
                let dat = one.dat.as_ref().filter(|_| one.argtype == argtype::DAT);
                if dat.is_some_and(|dat| dat.is_shared || dat.user_managed != 0) {
                    return Some(format!(
                        "the data of arg{at} are in memory of the program's, or of other data"
                    ));
                }
            }
            // Whether data meet has to be the same on all ranks, and some may have none of them.
            let are_same = |one: &Arg, other: &Arg| {
                let has_data = |one: &Arg| one.argtype == argtype::DAT && one.opt != 0;
                let is_read = |one: &Arg| one.acc == access::READ;
                has_data(one)
                    && has_data(other)
                    && one.dat == other.dat
                    && !(is_read(one) && is_read(other) || both_add(one, other))
            };
            let mut rest = arguments.iter().enumerate();
            if rest.any(|(at, one)| arguments[..at].iter().any(|other| are_same(one, other)))
                || !every_meeting(&arguments, both_add)
            {
                return told("several of its arguments use the same data");
            }
            for value in self.kernel.values() {
                let one = &arguments[value.argument as usize];
                let is_so = match value.what {
                    _ if one.opt == 0 => true,
                    what::DATA => one
                        .dat
                        .as_ref()
                        .is_some_and(|dat| i64::from(dat.size) == value.size),
                    what::VALUE | what::PARTIALS => i64::from(one.size) == value.size,
                    what::SAME_MAP => one.map == arguments[value.size as usize].map,
                    _ => true,
                };
                if !is_so {
                    return Some(format!(
                        "arg{} is not what it was compiled for",
                        value.argument
                    ));
                }
            }
        }
        None
    }

    /// How what elements write through maps comes there, on a device that `exchanges`, or not.
    fn increments(&self, exchanges: bool) -> Increments {
        let is_written = |one: &&Arg| one.is_indirect() && one.acc != access::READ;
        let mut written = self.arguments.iter().filter(is_written).peekable();
        if written.peek().is_none() {
            return Increments::Atomics;
        }
        match increments::chosen(exchanges) {
            _ if written.any(|one| one.acc != access::INC) => Increments::Colours,
            // Of what is left out, too, its kernel is not only to add.
            _ if !self.kernel.adds_at_once() => Increments::Colours,
            Increments::Blocks if !self.can_be_staged() => Increments::Colours,
            chosen => chosen,
        }
    }

    /// Whether there is a kernel whose blocks add what their elements leave, and its groups are what it takes them for.
    fn can_be_staged(&self) -> bool {
        let members = |group: i64| {
            let all = self.kernel.values().iter();
            let all = all.filter(move |one| one.what == what::BESIDE && one.size == group);
            all.map(|one| &self.arguments[one.argument as usize])
        };
        // All of a group are reached as the first is.
        let is_like_first = |group: i64| {
            let first = &self.arguments[group as usize];
            let mut there = members(group).filter(|one| one.opt != 0);
            there.all(|one| first.opt != 0 && one.dat == first.dat)
        };
        let mut values = self.kernel.values().iter();
        self.kernel.can_be_staged()
            && values.all(|value| value.what != what::BESIDE || is_like_first(value.size))
    }

    /// What the blocks of the groups add to, of arguments that are there.
    ///
    /// # Safety
    /// See [`Offload::run`].
    unsafe fn groups(&self) -> Vec<staged::Group> {
        let values = self.kernel.values().iter();
        let firsts = values.filter(|value| value.what == what::ROWS);
        let groups = firsts.map(|first| {
            let values = self.kernel.values().iter();
            let members =
                values.filter(|value| value.what == what::BESIDE && value.size == first.argument);
            let columns = members.flat_map(|value| {
                let one = &self.arguments[value.argument as usize];
                // SAFETY: the caller's promise.
                let there = unsafe { written_columns(std::slice::from_ref(one)) };
                match there.is_empty() {
                    true => vec![None; columns_of_kernel(one)],
                    false => there.into_iter().map(Some).collect(),
                }
            });
            columns.collect()
        });
        groups.collect()
    }

    /// # Safety
    /// See [`Offload::run`]; nothing is in the way.
    unsafe fn launch_all(&self, distribution: Option<&Distribution>, adds: Increments) -> Way {
        // SAFETY: the caller's promises.
        unsafe {
            let combines = distribution.is_some() && job::ranks() > 1 && settings::combines();
            let way = match combines {
                false => self.launch_here(distribution, adds, &mut []),
                true => {
                    let copies = private::copies(self.arguments, job::ranks());
                    let mut winners = Winner::all(self.arguments);
                    let mut mine = self.arguments.to_vec();
                    for copy in &copies {
                        mine[copy.at()].data = copy.of(job::rank());
                    }
                    let here = Offload {
                        arguments: &mine,
                        ..*self
                    };
                    let way = here.launch_here(distribution, adds, &mut winners);
                    ranks::combine(self.arguments, &copies, winners);
                    way
                }
            };
            ranks::mark(self.arguments);
            way
        }
    }

    /// What runs on this rank: before data of others have come, and then.
    ///
    /// # Safety
    /// See [`Offload::run`].
    unsafe fn runs_here(
        &self,
        distribution: Option<&Distribution>,
        way: Increments,
        waits: bool,
    ) -> [Vec<Run>; 2] {
        let run = |elements: Range<usize>, counts| {
            let plan = (way != Increments::Atomics).then(|| {
                plan::find(plan::Key {
                    elements: elements.clone(),
                    block: match way {
                        Increments::Blocks => self.kernel.block(),
                        Increments::Atomics | Increments::Colours => 1,
                    },
                    // SAFETY: the caller's promise.
                    columns: unsafe { written_columns(self.arguments) },
                })
            });
            let staged = plan.as_ref().filter(|_| way == Increments::Blocks);
            Run {
                // SAFETY: the caller's promise.
                staged: staged.map(|(plan, _)| staged::find(plan, unsafe { self.groups() })),
                plan,
                elements,
                counts,
            }
        };
        // SAFETY: the caller's promise.
        let Some(part) = distribution.map(|one| unsafe { one.part(self.set) }) else {
            // SAFETY: as above.
            let size = unsafe { (*self.set).whole as usize };
            return [Vec::new(), vec![run(0..size, true)]];
        };
        let last = match ranks::executes_others(self.arguments) {
            true => part.executed,
            false => part.owned,
        };
        // Sums are to be added in the same order, whether anything is waited for or not.
        let core = match way {
            Increments::Atomics if !waits => 0,
            Increments::Colours => 0,
            Increments::Atomics | Increments::Blocks => part.core,
        };
        let mut rest = match self.arguments.iter().any(ranks::gives_back) {
            true => vec![run(core..part.owned, true), run(part.owned..last, false)],
            false => vec![run(core..last, true)],
        };
        rest.retain(|one| !one.elements.is_empty());
        match core {
            0 => [Vec::new(), rest],
            core => [vec![run(0..core, true)], rest],
        }
    }

    /// Launches what runs on this rank, and combines what that makes of global arguments; of `winners` it notes which element
    /// was the first to have the value.
    ///
    /// # Safety
    /// See [`Offload::run`].
    unsafe fn launch_here(
        &self,
        distribution: Option<&Distribution>,
        adds: Increments,
        winners: &mut [Winner],
    ) -> Way {
        // SAFETY: the caller's promise.
        unsafe {
            let dats = match distribution {
                None => Vec::new(),
                Some(_) => ranks::stale(self.arguments),
            };
            let mut exchange = distribution
                .filter(|_| !dats.is_empty())
                .map(|one| (one, exchange::begin(one, dats, Some(self.kernel))));
            let stages = self.runs_here(distribution, adds, exchange.is_some());
            let block = self.kernel.block();
            let blocks = |counts: bool| {
                let all = stages.iter().flatten();
                let all = all.filter(|one| one.counts == counts);
                all.map(|one| one.blocks(block)).sum::<usize>()
            };
            let counted = blocks(true);
            let counted_places = self.places(counted);
            let others = self.places(blocks(false));
            let mut partials = PARTIALS.lock().expect("no panic while it is locked");
            let needed = counted_places.bytes + others.bytes;
            if needed > 0 && partials.as_ref().is_none_or(|one| one.bytes() < needed) {
                *partials = None;
                *partials = Some(Memory::new(needed));
            }
            let at = partials.as_ref().map_or(0, Memory::address);
            let mut values = self.values(distribution);
            values.place(at, &counted_places);
            let mut way = Way {
                threads: 1,
                ..Way::default()
            };
            for (stage, runs) in stages.iter().enumerate() {
                if stage == 1
                    && let Some((distribution, exchange)) = exchange.take()
                {
                    way.traffic = exchange.complete(distribution);
                }
                for run in runs {
                    if !run.counts {
                        values.place(at + counted_places.bytes as u64, &others);
                    }
                    self.launch(run, &mut values);
                    if let Some((plan, is_new)) = &run.plan {
                        way.colours = way.colours.max(plan.colours.len());
                        way.plan_seconds += if *is_new { plan.seconds } else { 0.0 };
                    }
                }
            }
            self.finish(partials.as_ref(), counted, &counted_places, winners);
            way
        }
    }

    /// # Safety
    /// The values are those of the kernel's parameters.
    unsafe fn launch(&self, run: &Run, values: &mut Values) {
        let block = self.kernel.block();
        let (way, numbers) = match (&run.plan, &run.staged) {
            (_, Some(staged)) => (Increments::Blocks, staged.begins()),
            (Some((plan, _)), None) => (Increments::Colours, plan.on_device()),
            (None, None) => (Increments::Atomics, 0),
        };
        for positions in run.launches() {
            let count = run.blocks_of(&positions, block);
            if count == 0 {
                continue;
            }
            let end = match run.staged {
                Some(_) => run.elements.end,
                None => positions.end,
            };
            let mut group = 0;
            for (at, value) in self.kernel.values().iter().enumerate() {
                match (value.what, &run.staged) {
                    (what::FROM, _) => values.set(at, positions.start as u64),
                    (what::TO, _) => values.set(at, end as u64),
                    (what::NUMBERS, _) => values.set(at, numbers),
                    (what::ROWS, Some(staged)) => values.set(at, staged.list(group).rows),
                    (what::TARGETS, Some(staged)) => values.set(at, staged.list(group).targets),
                    (what::SLOTS, Some(staged)) => {
                        values.set(at, staged.list(group).slots);
                        group += 1;
                    }
                    _ => {}
                }
            }
            // SAFETY: the caller's promise; a plan keeps apart what has to be.
            unsafe { self.kernel.launch(way, count, &values.pointers()) };
            for (at, value) in self.kernel.values().iter().enumerate() {
                if is_of_blocks(value) {
                    values.add(at, count as u64 * value.size as u64);
                }
            }
        }
    }

    /// Where so many blocks put what they have made of global arguments.
    fn places(&self, blocks: usize) -> Places {
        let mut places = Places::default();
        for (at, value) in self.kernel.values().iter().enumerate() {
            if is_of_blocks(value) {
                places.starts.push((at, places.bytes));
                places.bytes += (blocks * value.size as usize).next_multiple_of(8);
            }
        }
        places
    }

    /// What is passed but for what differs between launches.
    ///
    /// # Safety
    /// See [`Offload::run`].
    unsafe fn values(&self, distribution: Option<&Distribution>) -> Values {
        let mut values = Values {
            words: Vec::new(),
            starts: Vec::new(),
        };
        // Where each rank declares a part, an element's number is that of its data on the rank.
        let told = distribution.filter(|_| !local::is_local());
        let arguments = self.arguments;
        for value in self.kernel.values() {
            let one = &arguments[value.argument as usize];
            let is_there = one.opt != 0;
            // SAFETY: the caller's promise: they are null or declared; values have as many bytes.
            unsafe {
                let data = || {
                    let use_ = match one.acc {
                        access::READ => Use::Read,
                        _ => Use::Write,
                    };
                    (*one.dat).on_device(use_)
                };
                let map = one.map.as_ref();
                match value.what {
                    what::FROM | what::TO | what::NUMBERS => values.push(0),
                    what::PARTIALS | what::FIRSTS => values.push(0),
                    what::ROWS | what::TARGETS | what::SLOTS => values.push(0),
                    what::IS_THERE => values.push(u64::from(is_there)),
                    what::DATA | what::STEP | what::STRIDE if !is_there => values.push(0),
                    what::DATA => values.push(data()),
                    what::STEP => values.push((*one.dat).steps_on_device().0 as u64),
                    what::STRIDE => values.push((*one.dat).steps_on_device().1 as u64),
                    what::MAP => values.push(map.map_or(0, |map| columns(map).0)),
                    what::COLUMN => values.push(map.map_or(0, |map| columns(map).1 as u64)),
                    what::ORIGINAL => values.push(told.map_or(0, |one| self.numbers(one))),
                    what::ORIGINAL_MAP => {
                        values.push(map.map_or(0, |map| original_columns(map, told)));
                    }
                    what::VALUE if !is_there => values.zeros(value.size as usize),
                    what::VALUE => values.copy(one.data.cast(), value.size as usize),
                    what::VARIABLE => values.copy(value.variable.cast(), value.size as usize),
                    _ => {}
                }
            }
        }
        values
    }

    /// Where the numbers are that the program knows the elements by that are here.
    ///
    /// # Safety
    /// See [`Offload::run`].
    unsafe fn numbers(&self, distribution: &Distribution) -> u64 {
        // SAFETY: the caller's promise.
        let (part, set) = unsafe { (distribution.part(self.set), (*self.set).index) };
        distribution.on_device.address(Of::Set(set), || {
            let numbers = part.numbers.iter();
            numbers.flat_map(|one| one.to_ne_bytes()).collect()
        })
    }

    /// Combines what blocks have made of global arguments.
    ///
    /// # Safety
    /// See [`Offload::run`].
    unsafe fn finish(
        &self,
        partials: Option<&Memory>,
        blocks: usize,
        places: &Places,
        winners: &mut [Winner],
    ) {
        let Some(partials) = partials.filter(|_| !places.starts.is_empty() && blocks > 0) else {
            return;
        };
        let mut all = vec![0; places.bytes];
        partials.get(&mut all);
        // Where those of an argument begin.
        let start = |what: i64, argument: usize| {
            let mut starts = places.starts.iter();
            let start = starts.find(|(at, _)| {
                let value = &self.kernel.values()[*at];
                (value.what, value.argument as usize) == (what, argument)
            });
            start.map(|(_, start)| *start)
        };
        let first = |argument: usize, block: usize| {
            let at = start(what::FIRSTS, argument)? + block * size_of::<i32>();
            let bytes = all[at..].first_chunk().expect("there are so many");
            Some(i32::from_ne_bytes(*bytes))
        };
        // SAFETY: the caller's promise; each copy has as many bytes.
        unsafe {
            let bytes_of = |argument: usize| {
                let one: &Arg = &self.arguments[argument];
                std::slice::from_raw_parts(one.data.cast::<u8>(), one.size as usize).to_vec()
            };
            let before = winners.iter().map(|one| bytes_of(one.value()));
            let before: Vec<_> = before.collect();
            let copies = private::copies(self.arguments, blocks);
            for copy in &copies {
                let start = start(what::PARTIALS, copy.at()).expect("it is combined");
                for block in 0..blocks {
                    let from = all[start + block * copy.bytes()..].as_ptr().cast();
                    copy.of(block).copy_from_nonoverlapping(from, copy.bytes());
                }
            }
            private::combine(self.arguments, &copies, blocks, |argument, block| {
                first(argument, block).map_or(block as i64, i64::from)
            });
            for (winner, before) in winners.iter_mut().zip(before) {
                let now = bytes_of(winner.value());
                let start = start(what::PARTIALS, winner.value()).expect("it is combined");
                let has_it = |block: &usize| all[start + block * now.len()..][..now.len()] == now;
                let firsts = (0..blocks)
                    .filter(has_it)
                    .filter_map(|block| first(winner.value(), block));
                winner.note(firsts.min().filter(|_| now != before));
            }
        }
    }
}

/// How many columns an argument has where it is there.
fn columns_of_kernel(one: &Arg) -> usize {
    match one.idx {
        ..0 => -one.idx as usize,
        _ => 1,
    }
}

/// Where a map is on the device, and how many entries its columns have.
///
/// # Safety
/// The map is declared.
unsafe fn columns(map: &Map) -> (u64, i64) {
    // SAFETY: the caller's promise.
    unsafe { columns_of(map, Leads::Here, map.map) }
}

/// Where it is with the numbers that the program knows elements by.
///
/// # Safety
/// The map is declared.
unsafe fn original_columns(map: &Map, distribution: Option<&Distribution>) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        match distribution {
            None => columns(map).0,
            Some(one) => columns_of(map, Leads::Program, one.original_rows(map)).0,
        }
    }
}

/// # Safety
/// The map is declared, and its rows are these.
unsafe fn columns_of(map: &Map, leads: Leads, rows: *const i32) -> (u64, i64) {
    // SAFETY: the caller's promise: there is a row for each element of its set that runs here.
    let rows = unsafe {
        let count = (*map.from).elements() - (*map.from).nonexec_size as usize;
        std::slice::from_raw_parts(rows, count * map.dim as usize)
    };
    mirror::columns(map.index, leads, rows, map.dim as usize)
}

impl Values {
    fn push(&mut self, value: u64) {
        self.starts.push(self.words.len());
        self.words.push(value);
    }

    /// So many bytes that are zero.
    fn zeros(&mut self, bytes: usize) {
        // Aligned as any of them may be.
        let start = self.words.len().next_multiple_of(2);
        self.starts.push(start);
        self.words
            .resize(start + bytes.div_ceil(size_of::<u64>()), 0);
    }

    /// # Safety
    /// There are so many bytes.
    unsafe fn copy(&mut self, from: *const u8, bytes: usize) {
        self.zeros(bytes);
        let start = self.starts[self.starts.len() - 1];
        // SAFETY: the caller's promise; there is room.
        unsafe {
            let to = self.words[start..].as_mut_ptr().cast::<u8>();
            to.copy_from_nonoverlapping(from, bytes);
        }
    }

    /// From now on blocks put what they have made of global arguments there, behind `at`.
    fn place(&mut self, at: u64, places: &Places) {
        for (which, start) in &places.starts {
            self.set(*which, at + *start as u64);
        }
    }

    fn set(&mut self, at: usize, value: u64) {
        self.words[self.starts[at]] = value;
    }

    fn add(&mut self, at: usize, more: u64) {
        self.words[self.starts[at]] += more;
    }

    fn pointers(&self) -> Vec<*const c_void> {
        let word = |start: &usize| (&raw const self.words[*start]).cast();
        self.starts.iter().map(word).collect()
    }
}
