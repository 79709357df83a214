//! Loops that wait until somebody needs what they do (`OKL_LAZY=1`), so that several of them can run as one,
//! compiled for that while the program goes on.
//!
//! Guarantee: results are those of loops that run at once, bit for bit, for a program that keeps to OP2's own rule: it sees data
//! through OP2's functions alone. What a loop reads of the program's memory it finds as it was when the loop was called.
//! A loop whose run the program could notice in another way runs at once, behind those that wait.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ffi::{CStr, CString, c_char, c_int, c_void},
    sync::{
        Mutex, MutexGuard, Once, OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use okl_abi::{
    jit::{
        JOINED, JitCode, JitValue, code_flags,
        joined::{Joined, Part},
        value,
    },
    op2::{Parameter, access},
};
use okl_job::{
    own_environment,
    settings::{Statistics, statistics, switch},
};
use okl_versions::{Tells, rounding};

use crate::{
    backend,
    body::{may_have_lanes, may_have_threads},
    distribute, job,
    join::{self, Candidate, Together},
    layout::{Arg, Set, argtype},
    local,
    one_loop::{Loop, run_now},
    report::{self, fatal, text, warn_of_program},
    settings, storage, times,
    versions::{self, Call, Functions},
    waiting,
};

/// More loops do not wait.
const MOST: usize = 64;
/// Bytes of a global argument of a loop that waits, at most: they are copied.
const MOST_BYTES: usize = 4096;

/// A loop that waits.
struct Waiting {
    name: &'static CStr,
    set: *mut Set,
    arguments: Vec<Arg>,
    /// What global arguments are copied to.
    _copies: Vec<Vec<Line>>,
    kernel: *mut c_void,
    functions: Functions,
    jit: *mut c_void,
    /// Where it was called.
    place: *mut c_char,
}

/// As aligned as the program's variables may be.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// A variable that loops that wait read, and what it was when they were called.
struct Variable {
    at: *mut u8,
    bytes: Box<[u8]>,
}

impl Variable {
    /// # Safety
    /// The program's file with the variable is loaded.
    unsafe fn now(&self) -> &[u8] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(self.at, self.bytes.len()) }
    }
}

#[derive(Default)]
struct Queue {
    loops: Vec<Waiting>,
    variables: Vec<Variable>,
    /// Code of loops that run as one, by that of each and by which arguments and data they have in common.
    joined: HashMap<Vec<usize>, Option<&'static AsOne>>,
    names: BTreeSet<&'static CStr>,
    counts: Counts,
}

// SAFETY: what loops point to is the program's, or the library's, and used by the thread that calls OP2's functions.
unsafe impl Send for Queue {}

/// Code of loops that run as one.
struct AsOne {
    code: JitCode,
    name: CString,
    /// Where it adds up, how many elements it works on at once; else 0.
    width: c_int,
}

// SAFETY: what it points to stays as it is, but for what the versions change in turn.
unsafe impl Sync for AsOne {}

#[derive(Default)]
struct Counts {
    waited: u64,
    /// Loops that ran as one with others, and as how many.
    joined: u64,
    as_one: u64,
    run_for: BTreeMap<String, u64>,
    /// Loops that do not wait, by name: how often, and why not.
    at_once: BTreeMap<String, (u64, &'static str)>,
}

static QUEUE: OnceLock<Mutex<Queue>> = OnceLock::new();

fn queue() -> MutexGuard<'static, Queue> {
    let queue = QUEUE.get_or_init(Mutex::default);
    queue.lock().expect("no panic while it is locked")
}

/// Whether the user asks for it, and it can be.
static IS_ON: AtomicBool = AtomicBool::new(false);

/// A loop runs that does not wait.
static RUNS: AtomicBool = AtomicBool::new(false);

/// As long as it is there a loop runs whose kernel may do anything: what it calls does not wait.
pub(crate) struct Running(bool);

impl Running {
    pub(crate) fn begin() -> Self {
        Self(RUNS.swap(true, Relaxed))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNS.store(self.0, Relaxed);
    }
}

/// The program begins.
pub(crate) fn start() {
    let is_on = switch(own_environment, "OKL_LAZY", false);
    let is_on = is_on.unwrap_or_else(|mistake| fatal(&mistake));
    let why_not = || {
        if job::ranks() > 1 || local::is_local() {
            return Some("on ranks");
        }
        (settings::diagnostics() > 1).then_some("where op_init is called with a level of 2 or more")
    };
    if let Some(where_) = is_on.then(why_not).flatten() {
        warn_of_program(&format!("OKL_LAZY=1 does nothing {where_}"));
        return;
    }
    IS_ON.store(is_on, Relaxed);
    if is_on && matches!(statistics(own_environment), Ok(Some(Statistics::Printed))) {
        static TOLD: Once = Once::new();
        TOLD.call_once(|| okl_versions::tell_at_end(&Told));
    }
}

/// It ends: nothing waits any more.
pub(crate) fn end() {
    IS_ON.store(false, Relaxed);
}

/// Whether a loop waits. Where it does not, those that do have run.
///
/// # Safety
/// The arguments are right for the loop, and all that it points to stays until the program ends, but for its arguments and what
/// global ones point to.
pub(crate) unsafe fn takes(one: &Loop<'_>) -> bool {
    if !IS_ON.load(Relaxed) || RUNS.load(Relaxed) {
        return false;
    }
    // SAFETY: the caller's promises.
    unsafe {
        let waits = may_wait(one).and_then(|waits| match queue().reads_what_is_written(one) {
            true => Err("a variable that it writes is also read"),
            false => Ok(waits),
        });
        let waits = waits.and_then(|waits| match waits || !queue().loops.is_empty() {
            true => Ok(waits),
            false => Err("it writes a global argument"),
        });
        if let Err(why) = waits {
            run_all(|| format!("op_par_loop {}", text(one.name)));
            let mut queue = queue();
            let name = text(one.name).to_owned();
            queue.counts.at_once.entry(name).or_insert((0, why)).0 += 1;
            return false;
        }
        if queue().have_changed() {
            run_all(|| "a variable that has changed".to_owned());
        }
        let mut locked = queue();
        locked.add(one);
        waiting::begin(run_for);
        let is_full = locked.loops.len() == MOST;
        drop(locked);
        if waits == Ok(false) {
            run_all(|| format!("op_par_loop {}", text(one.name)));
        } else if is_full {
            run_first();
        }
    }
    true
}

/// Whether a loop waits, or, where it changes variables of the program's, runs with those that do; or why it runs alone.
///
/// # Safety
/// The arguments are right for the loop.
unsafe fn may_wait(one: &Loop<'_>) -> Result<bool, &'static str> {
    if storage::is_looked_at() || distribute::is_looked_at() {
        return Err("a file of the program may look at op_dat->data or op_map->map");
    }
    if !one.device.is_null() && backend::may_have_device() {
        return Err("a device may run it");
    }
    // SAFETY: it is null, or code of the program's.
    let code = unsafe { one.jit.cast::<JitCode>().as_ref() };
    let code = code.ok_or("it cannot be compiled once more at run time")?;
    if code.flags & code_flags::MAY_WAIT == 0 || !one.any_order {
        return Err("its kernel may notice when it runs");
    }
    if !rounding::is_usual() {
        return Err("numbers are not rounded to the nearest one");
    }
    one.arguments.iter().try_fold(true, |waits, one| {
        // SAFETY: the caller's promise: it is null or declared.
        let dat = unsafe { one.dat.as_ref() };
        match one.argtype {
            argtype::DAT if one.opt == 0 => Ok(waits),
            argtype::DAT => match dat.is_some_and(|dat| !dat.is_shared && dat.user_managed == 0) {
                true => Ok(waits),
                false => Err("the program may see its data"),
            },
            argtype::GBL if one.opt == 0 => Ok(waits),
            argtype::GBL if one.acc != access::READ => Ok(false),
            argtype::GBL if one.size as usize > MOST_BYTES => Err("a global argument is large"),
            argtype::GBL | argtype::IDX => Ok(waits),
            _ => Err("it has an op_arg_info"),
        }
    })
}

/// See [`waiting::run_for`].
fn run_for(function: &str) {
    // SAFETY: the program calls a function of OP2's, and what loops use is there until it says that it is not.
    unsafe { run_all(|| function.to_owned()) }
}

/// Runs all that wait.
///
/// # Safety
/// What they use is still there.
unsafe fn run_all(for_what: impl FnOnce() -> String) {
    waiting::end();
    let mut locked = queue();
    if locked.loops.is_empty() {
        return;
    }
    let mut loops = std::mem::take(&mut locked.loops);
    let variables = std::mem::take(&mut locked.variables);
    locked.counts.waited += loops.len() as u64;
    *locked.counts.run_for.entry(for_what()).or_insert(0) += 1;
    drop(locked);
    let _usual = rounding::Usual::begin();
    // SAFETY: the caller's promise.
    unsafe {
        let _as_they_were = AsTheyWere::of(variables);
        while !loops.is_empty() {
            let these = as_many(&loops);
            run_some(&mut loops, these);
        }
    }
}

/// Runs those of a full queue that no loop behind it could be one with.
///
/// # Safety
/// What they use is still there.
unsafe fn run_first() {
    let mut locked = queue();
    let mut loops = std::mem::take(&mut locked.loops);
    *locked
        .counts
        .run_for
        .entry(format!("{MOST} that wait"))
        .or_insert(0) += 1;
    drop(locked);
    loop {
        let these = as_many(&loops);
        // There is room then.
        let is_open = these
            .numbers
            .last()
            .is_none_or(|last| last + 1 == loops.len());
        if is_open && loops.len() < MOST {
            break;
        }
        // SAFETY: the caller's promise; variables are what they were.
        unsafe { run_some(&mut loops, these) };
    }
    let mut locked = queue();
    locked.counts.waited += (MOST - loops.len()) as u64;
    locked.loops = loops;
    locked.forget_variables();
    waiting::begin(run_for);
}

/// Variables that are what they were when loops were called, as long as these run.
struct AsTheyWere(Vec<Variable>);

impl AsTheyWere {
    /// # Safety
    /// They are the program's, and nobody else uses them.
    unsafe fn of(variables: Vec<Variable>) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let mut changed = variables;
            changed.retain(|one| one.now() != &one.bytes[..]);
            let mut those = Self(changed);
            those.0.iter_mut().for_each(|one| one.swap());
            those
        }
    }
}

impl Variable {
    /// # Safety
    /// The program has changed it, so that it can be written.
    unsafe fn swap(&mut self) {
        // SAFETY: the caller's promise.
        let there = unsafe { std::slice::from_raw_parts_mut(self.at, self.bytes.len()) };
        there.swap_with_slice(&mut self.bytes);
    }
}

impl Drop for AsTheyWere {
    fn drop(&mut self) {
        // The last one first: they may have memory in common.
        for one in self.0.iter_mut().rev() {
            // SAFETY: as they were made.
            unsafe { one.swap() }
        }
    }
}

/// Which loops run as one, the first one of all among them; that one alone where these are not several. None of them, or between
/// them, is there twice: so where they are repeated it is the same ones each time.
fn as_many(loops: &[Waiting]) -> Together {
    let is_new = |at: &usize| loops[..*at].iter().all(|one| one.jit != loops[*at].jit);
    let count = (0..loops.len()).take_while(is_new).count();
    let candidates: Vec<_> = loops[..count].iter().map(Waiting::candidate).collect();
    let mut found = join::together(&candidates);
    let these: Vec<_> = found.numbers.iter().map(|one| &loops[*one]).collect();
    // SAFETY: loops that wait, whose arguments are there.
    if these.len() > 1 && unsafe { Sums::of(&these).is_none() } {
        let last = found.numbers.last().copied().unwrap_or_default();
        found = join::together(&candidates[..last]);
    }
    if found.numbers.is_empty() {
        found.numbers.push(0);
    }
    found
}

/// Runs [some](as_many) of the loops, as one where that is possible, and takes them out.
///
/// # Safety
/// What they use is still there.
unsafe fn run_some(loops: &mut Vec<Waiting>, some: Together) {
    let from_the_last_one = some.numbers.iter().rev();
    let these: Vec<_> = from_the_last_one.map(|one| loops.remove(*one)).collect();
    let these: Vec<_> = these.iter().rev().collect();
    // SAFETY: the caller's promise.
    unsafe {
        match &these[..] {
            [one] => one.run(),
            _ if storage::asks_for_components(&some.arguments) => {
                these.iter().for_each(|one| one.run());
            }
            _ => run_as_one(&these, &some.places, &some.arguments),
        }
    }
}

/// Runs loops as one if there is code for that, and if that is faster; else one after the other.
///
/// # Safety
/// They may be one: with these arguments, which each has at its `places`.
unsafe fn run_as_one(loops: &[&Waiting], places: &[Vec<usize>], arguments: &[Arg]) {
    // SAFETY: the caller's promise.
    let sums = unsafe { Sums::of(loops) };
    let as_one = sums.and_then(|sums| queue().as_one(loops, places, arguments, sums));
    let Some(as_one) = as_one else {
        // SAFETY: the caller's promise.
        loops.iter().for_each(|one| unsafe { one.run() });
        return;
    };
    let compiled = Functions {
        width: as_one.width,
        ..Functions::NONE
    };
    let start = times::now();
    let code = (&raw const as_one.code).cast_mut().cast::<c_void>();
    // SAFETY: the caller's promise; the code is of these loops.
    unsafe {
        let version = versions::find(code, arguments, compiled, false);
        let (functions, turn) = version.map(Call::begin).unzip();
        match functions.flatten() {
            Some(functions) => {
                let _place = report::at(loops[0].place);
                run_now(&Loop {
                    name: as_one.name.as_ptr(),
                    set: loops[0].set,
                    arguments,
                    kernel: std::ptr::null_mut(),
                    functions,
                    any_order: true,
                    device: std::ptr::null_mut(),
                    jit: std::ptr::null_mut(),
                });
                let mut queue = queue();
                queue.counts.joined += loops.len() as u64;
                queue.counts.as_one += 1;
            }
            None => loops.iter().for_each(|one| one.run()),
        }
        let size = (*loops[0].set).whole.max(1);
        if let Some((call, turn)) = version.zip(turn) {
            let seconds = times::now() - start;
            call.version().took(turn, seconds / f64::from(size));
        }
    }
}

/// What the last one of loops that run as one adds up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sums {
    Nothing,
    /// One element at a time.
    OneByOne,
}

impl Sums {
    /// None where they would not be the same as alone.
    ///
    /// # Safety
    /// The loops may be one.
    unsafe fn of(loops: &[&Waiting]) -> Option<Self> {
        let last = loops.last()?;
        if !join::adds_up(&last.candidate()) {
            return Some(Self::Nothing);
        }
        // SAFETY: the caller's promise.
        unsafe {
            let has_lanes = last.functions.width > 1
                && last.functions.lanes.is_some()
                && may_have_lanes(&last.arguments);
            let mut all = loops.iter();
            let has_threads = all.all(|one| may_have_threads(&one.arguments));
            // How lanes add up depends on what else the loop does.
            let is_same = has_threads && !has_lanes && !backend::is_reproducible();
            is_same.then_some(Self::OneByOne)
        }
    }
}

impl Waiting {
    fn candidate(&self) -> Candidate<'_> {
        Candidate {
            set: self.set,
            arguments: &self.arguments,
        }
    }

    fn code(&self) -> &JitCode {
        // SAFETY: loops that wait have code, which stays.
        unsafe { &*self.jit.cast::<JitCode>() }
    }

    /// # Safety
    /// What it uses is still there.
    unsafe fn run(&self) {
        let _place = report::at(self.place);
        // SAFETY: the caller's promise.
        unsafe {
            run_now(&Loop {
                name: self.name.as_ptr(),
                set: self.set,
                arguments: &self.arguments,
                kernel: self.kernel,
                functions: self.functions,
                any_order: true,
                device: std::ptr::null_mut(),
                jit: self.jit,
            });
        }
    }
}

impl Queue {
    /// Whether a variable is no longer what it was when loops were called.
    ///
    /// # Safety
    /// The program's files with these variables are loaded.
    unsafe fn have_changed(&self) -> bool {
        let mut all = self.variables.iter();
        // SAFETY: the caller's promise.
        all.any(|one| unsafe { one.now() != &one.bytes[..] })
    }

    /// Whether a loop writes a variable of the program's that one that waits reads by its name, or itself in any way.
    ///
    /// # Safety
    /// The loop has code.
    unsafe fn reads_what_is_written(&self, one: &Loop<'_>) -> bool {
        // SAFETY: the caller's promise.
        let values = unsafe { okl_versions::values(&*one.jit.cast::<JitCode>()) };
        let own = values.iter().filter(|one| one.kind == value::VARIABLE);
        let own = own.map(|one| (one.variable.addr(), one.size as usize));
        let globals = one.arguments.iter();
        let globals = globals.filter(|one| one.argtype == argtype::GBL && one.opt != 0);
        let (read, written): (Vec<&Arg>, Vec<&Arg>) =
            globals.partition(|one| one.acc == access::READ);
        let own = own.chain(read.iter().map(|one| (one.data.addr(), one.size as usize)));
        let others = self.variables.iter();
        let others = others.map(|one| (one.at.addr(), one.bytes.len()));
        let mut all = own.chain(others);
        all.any(|(start, size)| {
            written.iter().any(|one| {
                let at = one.data.addr();
                at < start + size && start < at + one.size as usize
            })
        })
    }

    /// Has a loop wait.
    ///
    /// # Safety
    /// See [`takes`].
    unsafe fn add(&mut self, one: &Loop<'_>) {
        // SAFETY: a string.
        let name = unsafe { CStr::from_ptr(one.name) };
        let known = self.names.get(name).copied();
        let name = known.unwrap_or_else(|| {
            let new: &'static CStr = Box::leak(name.to_owned().into_boxed_c_str());
            self.names.insert(new);
            new
        });
        let mut copies = Vec::new();
        let mut arguments = one.arguments.to_vec();
        for argument in &mut arguments {
            let is_read = argument.acc == access::READ;
            if argument.argtype == argtype::GBL && argument.opt != 0 && is_read {
                let bytes = argument.size as usize;
                let mut copy = vec![Line([0; 64]); bytes.div_ceil(64)];
                let to = copy.as_mut_ptr().cast::<c_char>();
                // SAFETY: a variable of that size, and as much room.
                unsafe { to.copy_from_nonoverlapping(argument.data, bytes) };
                argument.data = to;
                copies.push(copy);
            }
        }
        // SAFETY: a loop that waits has code.
        let values = unsafe { okl_versions::values(&*one.jit.cast::<JitCode>()) };
        for one in values.iter().filter(|one| one.kind == value::VARIABLE) {
            let (at, size) = (one.variable.cast::<u8>(), one.size as usize);
            let mut known = self.variables.iter();
            if !known.any(|one| one.at == at && one.bytes.len() == size) {
                // SAFETY: a variable of that size.
                let bytes = unsafe { std::slice::from_raw_parts(at, size) }.into();
                self.variables.push(Variable { at, bytes });
            }
        }
        self.loops.push(Waiting {
            name,
            set: one.set,
            arguments,
            _copies: copies,
            kernel: one.kernel,
            functions: one.functions,
            jit: one.jit,
            place: report::called_at(),
        });
    }

    /// Forgets variables of loops that no longer wait: their files may be gone by and by.
    fn forget_variables(&mut self) {
        let loops = self.loops.iter();
        // SAFETY: a loop that waits has code.
        let values = loops.flat_map(|one| unsafe { okl_versions::values(one.code()) });
        let read: BTreeSet<_> = values.map(|one| one.variable.addr()).collect();
        self.variables.retain(|one| read.contains(&one.at.addr()));
    }

    /// The code of loops as one that has these arguments; none where there can be none.
    fn as_one(
        &mut self,
        loops: &[&Waiting],
        places: &[Vec<usize>],
        arguments: &[Arg],
        sums: Sums,
    ) -> Option<&'static AsOne> {
        let each = loops.iter().zip(places);
        // Another library's code may come to be at the same address.
        let key = each.flat_map(|(one, its)| {
            let code = [one.jit.addr(), one.code().hash as usize];
            code.into_iter().chain(its.clone())
        });
        let data = join::data(arguments);
        let key = key.chain(data.iter().copied());
        let key = key.chain([usize::from(sums == Sums::OneByOne)]).collect();
        let known = self.joined.entry(key);
        *known.or_insert_with(|| as_one(loops, places, data, sums))
    }
}

/// See [`Queue::as_one`].
fn as_one(
    loops: &[&Waiting],
    places: &[Vec<usize>],
    data: Vec<usize>,
    sums: Sums,
) -> Option<&'static AsOne> {
    let last = loops.last()?.code();
    let is_fused = |one: &&Waiting| one.code().flags & code_flags::FUSED;
    if loops.iter().any(|one| is_fused(one) != is_fused(&loops[0])) {
        return None;
    }
    let mut addresses: Vec<*mut c_void> = Vec::new();
    let mut values: Vec<JitValue> = Vec::new();
    let mut bitcodes = Vec::new();
    for (one, its) in loops.iter().zip(places) {
        let code = one.code();
        let before = addresses.len() as i64;
        // SAFETY: the code of the program's has as many of each.
        bitcodes.push(unsafe {
            let count = code.address_count as usize;
            if count > 0 {
                let its = code.addresses.cast::<*mut c_void>();
                addresses.extend(std::slice::from_raw_parts(its, count));
            }
            okl_versions::picked(code)
        });
        // SAFETY: it is the program's.
        for value in unsafe { okl_versions::values(code) } {
            let new = match value.kind {
                value::VARIABLE => JitValue {
                    place: value.place + before,
                    ..*value
                },
                _ => {
                    const BYTES: i64 = size_of::<Parameter>() as i64;
                    let argument = its.get((value.offset / BYTES) as usize)?;
                    JitValue {
                        offset: *argument as i64 * BYTES + value.offset % BYTES,
                        ..*value
                    }
                }
            };
            let is_same = |other: &JitValue| {
                (other.kind, other.size, other.variable) == (new.kind, new.size, new.variable)
                    && (new.kind == value::VARIABLE || other.offset == new.offset)
            };
            if !values.iter().any(is_same) {
                values.push(new);
            }
        }
    }
    let same = addresses.iter().map(|one| {
        let first = addresses.iter().position(|other| other == one);
        first.expect("it is there")
    });
    let each = loops.iter().zip(places).zip(&bitcodes);
    let parts = each.map(|((one, its), bitcode)| Part {
        bitcode,
        addresses: one.code().address_count as usize,
        arguments: its.clone(),
    });
    let joined = Joined {
        parts: parts.collect(),
        data,
        same: same.collect(),
    };
    let bitcode = joined.write().leak();
    let (addresses, values) = (addresses.leak(), values.leak());
    let names = loops.iter().map(|one| one.name.to_bytes());
    let name = CString::new(names.collect::<Vec<_>>().join(&b'+')).expect("names have no NUL");
    let flags = loops.iter().fold(0, |flags, one| flags | one.code().flags);
    let mut unwinders = loops.iter().map(|one| one.code().unwinder);
    let unwinder = unwinders.find(|one| !one.is_null()).unwrap_or_default();
    let (counted, width) = match sums {
        // Each element's results are its own.
        Sums::Nothing => (0, 0),
        Sums::OneByOne => (code_flags::COUNTS_LANES, 0),
    };
    let told: &'static CStr = Box::leak(name.clone().into_boxed_c_str());
    Some(Box::leak(Box::new(AsOne {
        code: JitCode {
            name: told.as_ptr().cast_mut().cast(),
            hash: 0,
            bitcode: bitcode.as_mut_ptr().cast(),
            length: bitcode.len() as i64,
            addresses: addresses.as_mut_ptr().cast(),
            address_count: addresses.len() as i64,
            values: values.as_mut_ptr().cast(),
            value_count: values.len() as i64,
            flags: flags & !code_flags::COUNTS_LANES | counted,
            vector_bits: last.vector_bits,
            versions: std::ptr::null_mut(),
            number: JOINED,
            unwinder,
        },
        name,
        width,
    })))
}

/// What became of loops, for the user.
struct Told;

impl Tells for Told {
    fn tell(&self) -> String {
        queue().counts.text()
    }
}

impl Counts {
    fn text(&self) -> String {
        let Self {
            waited,
            joined,
            as_one,
            ..
        } = self;
        let mut text = format!(
            "okl: OKL_LAZY: {waited} loops have waited, {joined} of them ran as {as_one}\n"
        );
        for (what, times) in &self.run_for {
            text += &format!("okl:   run for {what}: {times}\n");
        }
        for (name, (times, why)) in &self.at_once {
            text += &format!("okl:   {name} ran at once, {times} times: {why}\n");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_loops_is_told() {
        let counts = Counts {
            waited: 9,
            joined: 6,
            as_one: 2,
            run_for: BTreeMap::from([("op_exit".to_owned(), 1)]),
            at_once: BTreeMap::from([("sum".to_owned(), (3, "it writes a global argument"))]),
        };
        let lines = [
            "okl: OKL_LAZY: 9 loops have waited, 6 of them ran as 2",
            "okl:   run for op_exit: 1",
            "okl:   sum ran at once, 3 times: it writes a global argument",
        ];
        assert_eq!(counts.text().lines().collect::<Vec<_>>(), lines);
    }
}
