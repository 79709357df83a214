//! Runs a loop on a device.
//!
//! Guarantee: as on the host; what it adds to elements through maps, and to global arguments, in another order. Elements that
//! write the same in another way than by adding do not run at the same time, nor do those that add where results are to be the
//! same in each run. What is not for the device the processor runs, and finds its data.

use std::{ffi::c_void, sync::Mutex};

use okl_abi::op2::{access, device as what};

use crate::{
    backend,
    body::{both_add, every_meeting, written_columns},
    device::{Kernel, Memory},
    distribute, job,
    layout::{Arg, Map, Set, argtype},
    mirror::{self, Use},
    plan, private, ranks,
    report::{fatal, warn_once},
    storage,
    times::Way,
};

/// The loop's name, its kernel and its arguments.
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

/// Where blocks put their values of global arguments; nobody else uses it at the same time.
static PARTIALS: Mutex<Option<Memory>> = Mutex::new(None);

/// Forgets what is on the device.
pub(crate) fn clear() {
    *PARTIALS.lock().expect("no panic while it is locked") = None;
}

/// Tells those who ask for a device of a loop that has no code for one.
pub(crate) fn tell_of_none(name: &str) {
    if backend::asks_for_device() {
        warn_once(&format!(
            "op_par_loop {name}: the processor runs it: it was not compiled for devices"
        ));
    }
}

impl Offload<'_> {
    /// Runs it; `None` where the processor is to.
    ///
    /// # Safety
    /// The arguments are right for the loop over the set, which is that of the kernel.
    pub(crate) unsafe fn run(&self) -> Option<Way> {
        if !backend::may_have_device() || !self.kernel.runs() {
            return None;
        }
        // SAFETY: the caller's promises.
        unsafe {
            match self.why_not() {
                None => Some(self.launch_all()),
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

    /// What is in the way.
    ///
    /// # Safety
    /// See [`Offload::run`].
    unsafe fn why_not(&self) -> Option<String> {
        let told = |why: &str| Some(why.to_owned());
        if job::ranks() > 1 {
            return told("several ranks share the mesh");
        }
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
                    return Some(format!("arg{at} is left out"));
                }
                let dat = one.dat.as_ref().filter(|_| one.argtype == argtype::DAT);
                if dat.is_some_and(|dat| dat.is_shared || dat.user_managed != 0) {
                    return Some(format!(
                        "the data of arg{at} are in memory of the program's, or of other data"
                    ));
                }
                if one.argtype == argtype::IDX && distribute::current().is_some() {
                    return Some(format!(
                        "arg{at} is a number of an element, and the mesh is renumbered"
                    ));
                }
            }
            if !every_meeting(&arguments, both_add) {
                return told("several of its arguments use the same data");
            }
            for value in self.kernel.values() {
                let one = &arguments[value.argument as usize];
                let is_so = match value.what {
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

    /// Whether elements that lead to the same target must not run at the same time.
    fn needs_colours(&self) -> bool {
        self.arguments.iter().any(|one| {
            one.is_indirect()
                && match one.acc {
                    access::READ => false,
                    access::INC => backend::is_reproducible(),
                    _ => true,
                }
        })
    }

    /// # Safety
    /// See [`Offload::run`]; nothing is in the way.
    unsafe fn launch_all(&self) -> Way {
        // SAFETY: the caller's promises.
        let (size, plan) = unsafe {
            let size = (*self.set).whole as usize;
            let plan = self.needs_colours().then(|| {
                plan::find(plan::Key {
                    elements: 0..size,
                    block: 1,
                    columns: written_columns(self.arguments),
                })
            });
            (size, plan)
        };
        // What runs one after the other: positions.
        let mut launches = Vec::new();
        let mut end = 0;
        match &plan {
            None => launches.push(0..size),
            Some((plan, _)) => launches.extend(plan.colours.iter().map(|colour| {
                let start = end;
                end += colour.len();
                start..end
            })),
        }
        let block = self.kernel.block();
        let blocks: usize = launches.iter().map(|one| one.len().div_ceil(block)).sum();
        let mut partials = PARTIALS.lock().expect("no panic while it is locked");
        // SAFETY: the caller's promises.
        let (mut values, ends) = unsafe {
            let (bytes, starts) = self.places(blocks);
            if bytes > 0 && partials.as_ref().is_none_or(|one| one.bytes() < bytes) {
                *partials = None;
                *partials = Some(Memory::new(bytes));
            }
            let at = partials.as_ref().map_or(0, Memory::address);
            (
                self.values(
                    at,
                    &starts,
                    plan.as_ref().map_or(0, |(plan, _)| plan.on_device()),
                ),
                (bytes, starts),
            )
        };
        for positions in &launches {
            let count = positions.len().div_ceil(block);
            if count == 0 {
                continue;
            }
            for (at, value) in self.kernel.values().iter().enumerate() {
                match value.what {
                    what::FROM => values.set(at, positions.start as u64),
                    what::TO => values.set(at, positions.end as u64),
                    _ => {}
                }
            }
            // SAFETY: the values are those of the kernel's parameters.
            unsafe { self.kernel.launch(count, &values.pointers()) };
            for (at, value) in self.kernel.values().iter().enumerate() {
                if value.what == what::PARTIALS {
                    values.add(at, count as u64 * value.size as u64);
                }
            }
        }
        // SAFETY: the caller's promises.
        unsafe {
            self.finish(partials.as_ref(), blocks, ends);
            ranks::mark(self.arguments);
        }
        let seconds = plan.as_ref().filter(|(_, is_new)| *is_new);
        Way {
            threads: 1,
            colours: plan.as_ref().map_or(0, |(plan, _)| plan.colours.len()),
            plan_seconds: seconds.map_or(0.0, |(plan, _)| plan.seconds),
            ..Way::default()
        }
    }

    /// How many bytes so many blocks need for global arguments, and where each of these begins.
    fn places(&self, blocks: usize) -> (usize, Vec<(usize, usize)>) {
        let mut end = 0;
        let mut starts = Vec::new();
        for value in self.kernel.values() {
            if value.what == what::PARTIALS {
                starts.push((value.argument as usize, end));
                end += (blocks * value.size as usize).next_multiple_of(8);
            }
        }
        (end, starts)
    }

    /// # Safety
    /// See [`Offload::run`].
    unsafe fn values(&self, partials: u64, starts: &[(usize, usize)], numbers: u64) -> Values {
        let mut values = Values {
            words: Vec::new(),
            starts: Vec::new(),
        };
        let arguments = self.arguments;
        for value in self.kernel.values() {
            let at = value.argument as usize;
            let one = &arguments[at];
            // SAFETY: the caller's promise: they are null or declared; values have as many bytes.
            unsafe {
                let data = || {
                    let use_ = match one.acc {
                        access::READ => Use::Read,
                        _ => Use::Write,
                    };
                    (*one.dat).on_device(use_)
                };
                match value.what {
                    what::FROM | what::TO => values.push(0),
                    what::NUMBERS => values.push(numbers),
                    what::DATA => values.push(data()),
                    what::STEP => values.push((*one.dat).steps_on_device().0 as u64),
                    what::STRIDE => values.push((*one.dat).steps_on_device().1 as u64),
                    what::MAP => values.push(columns(&*one.map).0),
                    what::COLUMN => values.push(columns(&*one.map).1 as u64),
                    what::VALUE => values.copy(one.data.cast(), value.size as usize),
                    what::VARIABLE => values.copy(value.variable.cast(), value.size as usize),
                    what::PARTIALS => {
                        let mut starts = starts.iter();
                        let start = starts.find(|(argument, _)| *argument == at);
                        values.push(partials + start.expect("it has a place").1 as u64);
                    }
                    _ => {}
                }
            }
        }
        values
    }

    /// Combines what blocks have made of global arguments.
    ///
    /// # Safety
    /// See [`Offload::run`].
    unsafe fn finish(
        &self,
        partials: Option<&Memory>,
        blocks: usize,
        (bytes, starts): (usize, Vec<(usize, usize)>),
    ) {
        let Some(partials) = partials.filter(|_| !starts.is_empty() && blocks > 0) else {
            return;
        };
        let mut all = vec![0; bytes];
        partials.get(&mut all);
        // SAFETY: the caller's promise; each copy has as many bytes.
        unsafe {
            let copies = private::copies(self.arguments, blocks);
            for copy in &copies {
                let start = starts.iter().find(|(argument, _)| *argument == copy.at());
                let (_, start) = start.expect("it is combined");
                for block in 0..blocks {
                    let from = all[start + block * copy.bytes()..].as_ptr().cast();
                    copy.of(block).copy_from_nonoverlapping(from, copy.bytes());
                }
            }
            private::combine(self.arguments, &copies, blocks, |_, block| block as i64);
        }
    }
}

/// Where a map is on the device, and how many entries its columns have.
///
/// # Safety
/// The map is declared.
unsafe fn columns(map: &Map) -> (u64, i64) {
    // SAFETY: the caller's promise: there is a row for each element of its set.
    let rows = unsafe {
        let entries = (*map.from).elements() * map.dim as usize;
        std::slice::from_raw_parts(map.map, entries)
    };
    mirror::columns(map.index, rows, map.dim as usize)
}

impl Values {
    fn push(&mut self, value: u64) {
        self.starts.push(self.words.len());
        self.words.push(value);
    }

    /// # Safety
    /// There are so many bytes.
    unsafe fn copy(&mut self, from: *const u8, bytes: usize) {
        // Aligned as any of them may be.
        self.words.resize(self.words.len().next_multiple_of(2), 0);
        let start = self.words.len();
        self.starts.push(start);
        self.words
            .resize(start + bytes.div_ceil(size_of::<u64>()), 0);
        // SAFETY: the caller's promise; there is room.
        unsafe {
            let to = self.words[start..].as_mut_ptr().cast::<u8>();
            to.copy_from_nonoverlapping(from, bytes);
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
