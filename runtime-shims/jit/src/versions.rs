//! The versions of some code, by the values that they are for.
//!
//! A call compares the values that are there with those of the version that ran last: only if they differ it looks further.
//! Where there come to be many versions, the values in which they differ are given up: they are not put in any more.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU64, Ordering::*};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use okl_abi::jit::{JOINED, JitCode, JitValue, code_flags, codes, value};
use xxhash_rust::xxh3::xxh3_64;

use crate::cache::Code;
use crate::compiler::{self, Job, Message, Question, Receiver, text};
use crate::lock::Lock;
use crate::make::{Earlier, How, What};
use crate::report::{self, Tells};
use crate::rounding;
use crate::settings::{Mode, Settings, settings};
use crate::trial::{COMPILED, Trial, Turn, Verdict};

/// More versions are not made for values that change.
const MOST: usize = 8;

/// What is made of some code for some values, in this order: with all of them put in; without them where they decide how often
/// loops run; and with what may be assumed of them there. With these bits of flags.
const CANDIDATES: [(i64, &str); 3] = [
    (0, ""),
    (code_flags::ASKS_COUNTS, ", not for how often loops run"),
    (
        code_flags::ASSUMES_COUNTS,
        ", in part for how often loops run",
    ),
];

/// What a version became, of type `E`: functions that run instead of those that were compiled ahead of time.
pub struct Version<E: 'static> {
    /// The values that it is for, by their numbers, and their bytes.
    kept: Arc<[usize]>,
    /// How many these are without pointers, which have no bytes.
    numbers: usize,
    key: Box<[u8]>,
    unwanted: i64,
    /// When these values were there for the first time.
    since: Instant,
    candidates: [Candidate<E>; CANDIDATES.len()],
    asked: AtomicU64,
    /// The candidate that is to be made next, if any, by its number from 1.
    wanted: AtomicU8,
    trial: Trial,
    /// What earlier runs have found, and where that is kept; nothing where it is not.
    earlier: OnceLock<Earlier>,
}

/// One of [`CANDIDATES`].
struct Candidate<E: 'static> {
    became: OnceLock<Result<Became<E>, WhyNot>>,
    /// Where it is handed over.
    room: UnsafeCell<MaybeUninit<E>>,
    calls: AtomicU64,
}

// SAFETY: what is handed over is written by one thread, before `became` says so.
unsafe impl<E: Send + Sync> Sync for Candidate<E> {}

struct Became<E> {
    functions: E,
    how: How,
    /// Seconds from the first call with these values on.
    after: f64,
}

/// Why there is no version.
enum WhyNot {
    Failed(String),
    /// It could be used, but shall not be.
    NotUsed(String),
}

/// A call of code that may have a version.
#[derive(Clone, Copy)]
pub struct Call<E: 'static> {
    version: &'static Version<E>,
    /// Tells calls apart that may differ in length.
    class: u32,
}

impl<E: Copy> Call<E> {
    /// What is to run now, if it is not what was compiled ahead of time; what runs is to be told by
    /// [`took`](Version::took).
    pub fn begin(self) -> (Option<E>, Turn) {
        self.version.begin(settings().mode, self.class)
    }

    /// The version, which stays.
    pub fn version(self) -> &'static Version<E> {
        self.version
    }
}

impl<E: Copy> Version<E> {
    fn begin(&self, mode: Mode, class: u32) -> (Option<E>, Turn) {
        let turn = match mode {
            Mode::Sync => Turn::of(1),
            Mode::InTurns => {
                let made = (1..).zip(&self.candidates);
                let made = made.filter(|(_, one)| one.functions().is_some());
                let made: Vec<u8> = made.map(|(number, _)| number).collect();
                let call = self.asked.load(Relaxed) as usize % made.len().max(1);
                Turn::of(made.get(call).copied().unwrap_or(COMPILED))
            }
            Mode::Meanwhile | Mode::Off => self.trial.next(class),
        };
        let Some(number) = usize::from(turn.candidate).checked_sub(1) else {
            return (None, turn);
        };
        let candidate = &self.candidates[number];
        match candidate.functions() {
            None => (None, Turn::of(COMPILED)),
            Some(functions) => {
                candidate.calls.fetch_add(1, Relaxed);
                (Some(functions), turn)
            }
        }
    }

    /// A call took so long for each element.
    pub fn took(&'static self, turn: Turn, seconds: f64) {
        if self.trial.took(turn, seconds) {
            self.want_next();
            self.tell_later_runs();
        }
    }

    /// There is a verdict on what was made: what else may be tried is made when it is asked for again.
    fn want_next(&self) {
        let next = self.tried();
        if next < CANDIDATES.len() {
            self.wanted.store(next as u8 + 1, Relaxed);
        }
    }

    /// How many candidates were tried, here or earlier: one after the other.
    fn tried(&self) -> usize {
        let made = |one: &Candidate<E>| one.became.get().is_some();
        let next = self.candidates.iter().position(|one| !made(one));
        next.unwrap_or(CANDIDATES.len())
    }

    fn tell_later_runs(&'static self) {
        let Some(earlier) = self.earlier.get() else {
            return;
        };
        let verdict = Verdict {
            fastest: self.trial.fastest(),
            compared: self.tried() as u8,
        };
        if earlier.verdict != Some(verdict) {
            compiler::request(Message::Tell(earlier, verdict));
        }
    }

    /// The candidate that is to be made first, by its number, if any is: that which was the fastest in an earlier run.
    fn first(&self, earlier: Option<Earlier>) -> Option<usize> {
        let earlier = earlier.map(|one| self.earlier.get_or_init(|| one));
        let Some(verdict) = earlier.and_then(|one| one.verdict) else {
            return Some(0);
        };
        let fastest = usize::from(verdict.fastest);
        let why = match verdict.fastest {
            COMPILED => "the code as it was compiled was faster in an earlier run",
            _ => "another one was faster in an earlier run",
        };
        let tried = self.candidates.iter().take(usize::from(verdict.compared));
        for (_, one) in (1..).zip(tried).filter(|(number, _)| *number != fastest) {
            // Nobody else says what it became.
            let _ = one.became.set(Err(WhyNot::NotUsed(why.to_owned())));
        }
        let first = fastest.checked_sub(1).filter(|one| *one < CANDIDATES.len());
        if first.is_none() {
            self.want_next();
        }
        first
    }

    fn is_for(&self, values: &Values<'_>) -> bool {
        let mut rest = &self.key[..];
        let is_wanted = self.unwanted == values.unwanted;
        is_wanted
            && self.kept.iter().all(|&at| {
                let now = values.bytes(at);
                let is_same = rest.starts_with(now);
                rest = &rest[now.len().min(rest.len())..];
                is_same
            })
    }
}

impl<E> Candidate<E> {
    fn new() -> Self {
        Self {
            became: OnceLock::new(),
            room: UnsafeCell::new(MaybeUninit::uninit()),
            calls: AtomicU64::new(0),
        }
    }
}

impl<E: Copy> Candidate<E> {
    fn functions(&self) -> Option<E> {
        let became = self.became.get()?.as_ref().ok()?;
        Some(became.functions)
    }
}

/// The versions of some code, and which values are put in.
struct Table<E: 'static> {
    kept: Arc<[usize]>,
    all: Vec<&'static Version<E>>,
    /// Those for values that were given up.
    before: Vec<&'static Version<E>>,
}

struct Versions<E: 'static> {
    name: String,
    /// The one that was asked for last, or null.
    last: AtomicPtr<Version<E>>,
    table: Lock<Table<E>>,
    /// How often code was asked for that could have versions.
    asked: AtomicU64,
    /// How often a value may not have been there.
    passed: AtomicU64,
}

/// Has a device load its code: on the thread that makes versions. The code has a NUL behind it, where it is a text.
pub type Load<E> = Box<dyn FnOnce(&[u8]) -> Result<E, String> + Send>;

/// What is asked for.
pub struct Asked<'a, E> {
    /// The code, a variable of the program's.
    pub code: *mut JitCode,
    /// Where a value is now that is behind a parameter, or is one.
    pub place: &'a dyn Fn(&JitValue) -> *const u8,
    /// Gets a version: it writes an `E` to its first argument.
    pub receiver: Receiver,
    /// Of code for devices, what gets a version instead.
    pub load: Option<&'a dyn Fn() -> Load<E>>,
    /// Bits of its arguments that are not wanted: they are null.
    pub unwanted: i64,
    /// What the code was compiled to ahead of time.
    pub compiled: E,
    /// What of a version may be used beside that, by the code's flags and the request's; an error is why nothing.
    pub accepts: fn(E, E, i64) -> Result<E, String>,
}

/// The values of some code as they are now.
struct Values<'a> {
    all: &'a [JitValue],
    place: &'a dyn Fn(&JitValue) -> *const u8,
    unwanted: i64,
}

impl Values<'_> {
    fn bytes(&self, at: usize) -> &[u8] {
        let one = &self.all[at];
        let from = match one.kind {
            value::VARIABLE => one.variable.cast::<u8>().cast_const(),
            _ => (self.place)(one),
        };
        // SAFETY: a value that the code reads, of that size, and that nobody changes meanwhile.
        unsafe { std::slice::from_raw_parts(from, one.size as usize) }
    }

    /// What tells calls apart that may differ in length, where only these values are put in.
    fn class(&self, kept: &[usize]) -> u32 {
        if kept.len() == self.all.len() {
            return 0;
        }
        let others = (0..self.all.len()).filter(|at| !kept.contains(at));
        let bytes: Vec<u8> = others.flat_map(|at| self.bytes(at).to_vec()).collect();
        xxh3_64(&bytes) as u32
    }
}

/// The version for the values that are there now, where there is one; it may have failed, or not be made yet.
///
/// # Safety
/// The code is one of the program's, or null; where its values are, as they are asked for, they can be read; `E` is what the
/// receiver gets.
pub unsafe fn find<E: Copy + Send + Sync + 'static>(asked: &Asked<'_, E>) -> Option<Call<E>> {
    let settings = settings();
    // SAFETY: the caller's promises.
    unsafe {
        let versions = Versions::<E>::that_may_be(asked.code, settings)?;
        versions.find(asked, &*asked.code, settings)
    }
}

/// Counts a call in which a value may not be there: the code runs as it was compiled.
///
/// # Safety
/// The code is one of the program's, or null, all of whose versions are of this type.
pub unsafe fn pass<E: Copy + Send + Sync + 'static>(code: *mut JitCode) {
    // SAFETY: the caller's promise.
    if let Some(versions) = unsafe { Versions::<E>::that_may_be(code, settings()) } {
        versions.asked.fetch_add(1, Relaxed);
        versions.passed.fetch_add(1, Relaxed);
    }
}

impl<E: Copy + Send + Sync + 'static> Versions<E> {
    /// Those of code that may have versions now.
    ///
    /// # Safety
    /// The code is one of the program's, or null, all of whose versions are of this type.
    unsafe fn that_may_be(code: *mut JitCode, settings: &Settings) -> Option<&'static Self> {
        // SAFETY: the caller's promise.
        let is_free = unsafe { code.as_ref()?.flags } & code_flags::ROUNDS_FREELY != 0;
        if settings.mode == Mode::Off || is_free && !settings.loose || !rounding::is_usual() {
            return None;
        }
        // SAFETY: the caller's promise.
        Some(unsafe { Self::of(code) })
    }

    /// # Safety
    /// The code is one of the program's, all of whose versions are of this type.
    unsafe fn of(code: *mut JitCode) -> &'static Self {
        // SAFETY: nothing else writes that field; what is there stays.
        unsafe {
            let there = AtomicPtr::from_ptr(
                (&raw mut (*code).versions)
                    .cast::<*mut Self>()
                    .as_mut()
                    .expect("a field"),
            );
            if let Some(versions) = there.load(Acquire).as_ref() {
                return versions;
            }
            let new = Box::into_raw(Box::new(Self {
                name: text((*code).name),
                last: AtomicPtr::new(std::ptr::null_mut()),
                table: Lock::new(Table {
                    kept: (0..(*code).value_count as usize).collect(),
                    all: Vec::new(),
                    before: Vec::new(),
                }),
                asked: AtomicU64::new(0),
                passed: AtomicU64::new(0),
            }));
            match there.compare_exchange(std::ptr::null_mut(), new, AcqRel, Acquire) {
                Ok(_) => {
                    report::add(&*new);
                    &*new
                }
                Err(other) => {
                    drop(Box::from_raw(new));
                    &*other
                }
            }
        }
    }

    /// # Safety
    /// What is asked for is right for this code.
    unsafe fn find(
        &self,
        asked: &Asked<'_, E>,
        code: &JitCode,
        settings: &Settings,
    ) -> Option<Call<E>> {
        self.asked.fetch_add(1, Relaxed);
        let values = Values {
            // SAFETY: the caller's promise.
            all: unsafe { self::values(code) },
            place: asked.place,
            unwanted: asked.unwanted,
        };
        // SAFETY: versions stay.
        let last = unsafe { self.last.load(Acquire).as_ref() };
        let version = match last.filter(|one| one.is_for(&values)) {
            Some(last) => last,
            None => self.table.hold()?.find(&values),
        };
        self.last
            .store(std::ptr::from_ref(version).cast_mut(), Release);
        let has_counts = code.flags & code_flags::COUNTS != 0;
        // Meanwhile, code for values that are there once is not worth the work.
        let first = match settings.mode {
            Mode::Sync | Mode::InTurns => 0,
            Mode::Meanwhile | Mode::Off => 1,
        };
        let asked_before = version.asked.fetch_add(1, Relaxed);
        let is_next = || version.wanted.load(Relaxed) != 0;
        let wanted = match (asked_before == first, settings.mode) {
            (true, Mode::InTurns) if has_counts => 1..=CANDIDATES.len(),
            (true, _) => 1..=1,
            (false, _) if has_counts && is_next() => {
                let next = usize::from(version.wanted.swap(0, Relaxed));
                next..=next
            }
            (false, _) => 0..=0,
        };
        for candidate in wanted.filter(|one| *one > 0) {
            // SAFETY: the caller's promise; each is asked for once.
            unsafe { version.make(candidate - 1, asked, code, values.all, settings) };
        }
        let class = match version.trial.compares() {
            true => values.class(&version.kept),
            false => 0,
        };
        Some(Call { version, class })
    }
}

impl<E: Copy + Send + Sync + 'static> Table<E> {
    /// The version for values.
    fn find(&mut self, values: &Values<'_>) -> &'static Version<E> {
        if let Some(found) = self.all.iter().find(|one| one.is_for(values)) {
            return found;
        }
        if self.all.len() == MOST {
            self.give_up(values);
        }
        let bytes = self
            .kept
            .iter()
            .flat_map(|&at| values.bytes(at).iter().copied());
        let kept = self.kept.iter();
        let numbers = kept.filter(|at| !values.bytes(**at).is_empty());
        let new = Box::leak(Box::new(Version {
            kept: self.kept.clone(),
            numbers: numbers.count(),
            key: bytes.collect(),
            unwanted: values.unwanted,
            since: Instant::now(),
            candidates: std::array::from_fn(|_| Candidate::new()),
            asked: AtomicU64::new(0),
            wanted: AtomicU8::new(0),
            trial: Trial::new(),
            earlier: OnceLock::new(),
        }));
        self.all.push(new);
        new
    }

    /// Puts in no more the values in which versions differ.
    fn give_up(&mut self, values: &Values<'_>) {
        let mut at = 0;
        let kept = self.kept.iter().copied().filter(|&number| {
            let place = at..at + values.bytes(number).len();
            at = place.end;
            let first = &self.all[0].key[place.clone()];
            self.all.iter().all(|one| one.key[place.clone()] == *first)
        });
        self.kept = kept.collect();
        self.before.append(&mut self.all);
    }
}

impl<E: Copy + Send + Sync + 'static> Version<E> {
    /// # Safety
    /// What is asked for is right for this code, and nobody else has this candidate made.
    unsafe fn make(
        &'static self,
        number: usize,
        asked: &Asked<'_, E>,
        code: &JitCode,
        values: &[JitValue],
        settings: &Settings,
    ) {
        let loose = match settings.loose {
            true => code_flags::LOOSE,
            false => 0,
        };
        let (accepts, compiled) = (asked.accepts, asked.compiled);
        let is_compared = settings.mode == Mode::Meanwhile;
        let load = asked.load.map(|make| make());
        let (told, tell) = std::sync::mpsc::channel();
        // SAFETY: the code has as many of each.
        let (bitcode, addresses) = unsafe {
            (
                picked(code),
                slice::<usize>(code.addresses.cast(), code.address_count),
            )
        };
        let code = Code {
            bitcode,
            addresses: addresses.to_vec(),
            values: self.kept.iter().map(|&at| values[at]).collect(),
            bytes: self.key.to_vec(),
            flags: code.flags | loose,
            vector_bits: code.vector_bits,
            unwanted: self.unwanted,
            unread: asked.receiver.unread,
            unwinder: match code.flags & code_flags::DEVICE {
                0 => code.unwinder.addr(),
                _ => 0,
            },
        };
        let receiver = asked.receiver;
        let job = move |number: usize, code: Code| {
            let flags = code.flags | CANDIDATES[number].0;
            let candidate = &self.candidates[number];
            Job {
                code: Code { flags, ..code },
                receiver,
                then: Box::new(move |made| {
                    let became = made.map_err(WhyNot::Failed).and_then(|made| {
                        let functions = match made.what {
                            What::Entry(hand_over) => {
                                let room = candidate.room.get();
                                // SAFETY: that writes an `E` there, and nobody else accesses it.
                                unsafe {
                                    hand_over(room.cast::<c_void>());
                                    (*room).assume_init()
                                }
                            }
                            What::Device(mut code) => {
                                code.push(0);
                                let load = load.ok_or_else(|| {
                                    WhyNot::Failed("it is for a device".to_owned())
                                })?;
                                load(&code).map_err(WhyNot::Failed)?
                            }
                        };
                        let functions = accepts(functions, compiled, flags);
                        Ok(Became {
                            functions: functions.map_err(WhyNot::NotUsed)?,
                            how: made.how,
                            after: self.since.elapsed().as_secs_f64(),
                        })
                    });
                    // Nobody else says what it became.
                    let is_made = became.is_ok();
                    let _ = candidate.became.set(became);
                    match (is_made, is_compared) {
                        (true, true) => self.trial.begin(number as u8 + 1),
                        (false, true) => self.want_next(),
                        (_, false) => {}
                    }
                    let _ = told.send(());
                }),
            }
        };
        let is_awaited = !is_compared && compiler::answers();
        compiler::request(match number {
            0 if is_compared && settings.cache.is_some() => Message::Ask(Question {
                code,
                then: Box::new(move |code, earlier| Some(job(self.first(earlier)?, code))),
            }),
            _ => Message::Make(job(number, code)),
        });
        if is_awaited {
            // Where there is no thread, nobody tells.
            let _ = tell.recv();
        }
    }
}

/// The values that some code says.
///
/// # Safety
/// It is a program's.
pub unsafe fn values(code: &JitCode) -> &[JitValue] {
    // SAFETY: it has as many.
    unsafe { slice(code.values.cast(), code.value_count) }
}

/// The code itself, apart from that of others of its file. It is a copy.
///
/// # Safety
/// It is a program's.
pub unsafe fn picked(code: &JitCode) -> Vec<u8> {
    // SAFETY: it has as many bytes.
    let all = unsafe { slice::<u8>(code.bitcode.cast(), code.length) };
    match code.number {
        JOINED => all.to_vec(),
        number => codes::pick(number as usize, all),
    }
}

/// # Safety
/// There are so many, if any.
unsafe fn slice<'a, T>(first: *const T, count: i64) -> &'a [T] {
    match count {
        0 => &[],
        // SAFETY: the caller's promise.
        _ => unsafe { std::slice::from_raw_parts(first, count as usize) },
    }
}

impl<E> Candidate<E> {
    /// What became of it, if it was made.
    fn tell(&self, number: u8, trial: &Trial) -> Option<String> {
        let became = match self.became.get()? {
            Ok(became) => became,
            Err(WhyNot::Failed(why)) => return Some(format!("warning: failed: {why}")),
            Err(WhyNot::NotUsed(why)) => return Some(format!("not used: {why}")),
        };
        let how = match became.how {
            How::Compiled(seconds) => {
                let [simplify, generate] = seconds.map(|one| one * 1e3);
                format!("made in {simplify:.1} + {generate:.1} ms")
            }
            How::Cached(seconds) => format!("from the cache in {:.2} ms", seconds * 1e3),
        };
        let verdict = match trial.verdict_on(number) {
            None | Some(None) => "",
            Some(Some(COMPILED)) => ", slower than the code as it was",
            Some(Some(_)) => ", slower than another one",
        };
        let (after, calls) = (became.after * 1e3, self.calls.load(Relaxed));
        Some(format!(
            "{how}, there after {after:.1} ms, {calls} calls{verdict}"
        ))
    }
}

impl<E: Copy + Send + Sync + 'static> Tells for Versions<E> {
    fn tell(&self) -> String {
        let Some(table) = self.table.hold() else {
            return String::new();
        };
        let asked = self.asked.load(Relaxed);
        let mut lines = format!("okl: versions of {}: {asked} calls\n", self.name);
        for one in table.before.iter().chain(&table.all) {
            let candidates = one.candidates.iter().zip(CANDIDATES).enumerate();
            for (number, (candidate, (_, how))) in candidates {
                let what = candidate.tell(number as u8 + 1, &one.trial);
                if let Some(what) = what.or_else(|| (number == 0).then(|| "not made".to_owned())) {
                    lines += &format!("okl:   {} values{how}: {what}\n", one.numbers);
                }
            }
        }
        let passed = self.passed.load(Relaxed);
        if passed > 0 {
            lines += &format!("okl:   {passed} calls in which a value may not have been there\n");
        }
        if !table.before.is_empty() {
            lines += "okl:   values that change often are given up\n";
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three values of 4 bytes.
    fn list() -> Vec<JitValue> {
        let one = |offset| JitValue {
            kind: value::BEHIND,
            place: 1,
            offset,
            size: 4,
            variable: std::ptr::null_mut(),
        };
        [0, 4, 8].map(one).to_vec()
    }

    fn table() -> Table<u32> {
        Table {
            kept: (0..3).collect(),
            all: Vec::new(),
            before: Vec::new(),
        }
    }

    fn find(table: &mut Table<u32>, now: [u32; 3], unwanted: i64) -> &'static Version<u32> {
        let start = now.as_ptr().cast::<u8>();
        let place = |one: &JitValue| start.wrapping_add(one.offset as usize);
        table.find(&Values {
            all: &list(),
            place: &place,
            unwanted,
        })
    }

    #[test]
    fn the_same_values_have_the_same_version() {
        let mut table = table();
        let first = find(&mut table, [1, 2, 3], 0);
        let other = find(&mut table, [1, 2, 4], 0);
        assert!(!std::ptr::eq(first, other));
        assert!(std::ptr::eq(first, find(&mut table, [1, 2, 3], 0)));
        assert!(!std::ptr::eq(first, find(&mut table, [1, 2, 3], 1)));
        assert_eq!((table.all.len(), first.key.len()), (3, 12));
    }

    #[test]
    fn a_value_that_changes_often_is_given_up() {
        let mut table = table();
        for at in 0..MOST as u32 {
            find(&mut table, [1, at, 3], 0);
        }
        let without = find(&mut table, [1, 1000, 3], 0);
        assert_eq!(*without.kept, [0, 2]);
        assert_eq!((table.all.len(), table.before.len()), (1, MOST));
        for at in 0..100 {
            assert!(std::ptr::eq(without, find(&mut table, [1, at, 3], 0)));
        }
        // The others are still what versions differ in.
        assert!(!std::ptr::eq(without, find(&mut table, [2, 1, 3], 0)));
    }

    #[test]
    fn what_failed_and_what_is_not_made_yet_is_not_used() {
        let mut table = table();
        let version = find(&mut table, [1, 2, 3], 0);
        let runs = || version.begin(Mode::Meanwhile, 0).0;
        assert_eq!(runs(), None);
        assert!(
            version.candidates[0]
                .became
                .set(Err(WhyNot::Failed("it has no code".to_owned())))
                .is_ok()
        );
        assert_eq!(runs(), None);
    }

    #[test]
    fn what_was_the_fastest_in_an_earlier_run_is_made_first() {
        // What is made first then, what is not made, and what may be made next.
        let cases = [
            (None, Some(0), &[][..], 0),
            (Some([1, 1]), Some(0), &[], 0),
            (Some([1, 3]), Some(0), &[1, 2], 0),
            (Some([2, 3]), Some(1), &[0, 2], 0),
            (Some([3, 3]), Some(2), &[0, 1], 0),
            (Some([0, 1]), None, &[0], 2),
            (Some([0, 3]), None, &[0, 1, 2], 0),
            (Some([9, 9]), None, &[0, 1, 2], 0),
        ];
        let mut table = table();
        for (number, (verdict, first, not_made, next)) in cases.into_iter().enumerate() {
            let version = find(&mut table, [number as u32, 0, 0], 0);
            let verdict = verdict.map(|[fastest, compared]| Verdict { fastest, compared });
            assert_eq!(version.first(Some(Earlier::of(verdict))), first);
            let is_set = |at: &usize| version.candidates[*at].became.get().is_some();
            let set: Vec<_> = (0..CANDIDATES.len()).filter(is_set).collect();
            assert_eq!((&set[..], version.wanted.load(Relaxed)), (not_made, next));
            if number == MOST - 1 {
                table.all.clear();
            }
        }
        assert_eq!(find(&mut table, [99, 0, 0], 0).first(None), Some(0));
    }

    #[test]
    fn what_became_of_versions_is_told() {
        let mut table = table();
        let became = |functions, how| {
            Ok(Became {
                functions,
                how,
                after: 0.05,
            })
        };
        let all = [
            None,
            Some(Err(WhyNot::Failed("it has no code".to_owned()))),
            Some(Err(WhyNot::NotUsed("it has other lanes".to_owned()))),
            Some(became(1, How::Compiled([0.0012, 0.034]))),
            Some(became(2, How::Cached(0.000_321))),
        ];
        for (number, one) in all.into_iter().enumerate() {
            let version = find(&mut table, [1, 2, number as u32], 0);
            if let Some(one) = one {
                assert!(version.candidates[0].became.set(one).is_ok());
            }
        }
        let versions = Versions {
            name: "loop()".to_owned(),
            last: AtomicPtr::new(std::ptr::null_mut()),
            table: Lock::new(table),
            asked: AtomicU64::new(9),
            passed: AtomicU64::new(2),
        };
        let lines = [
            "okl: versions of loop(): 9 calls",
            "okl:   3 values: not made",
            "okl:   3 values: warning: failed: it has no code",
            "okl:   3 values: not used: it has other lanes",
            "okl:   3 values: made in 1.2 + 34.0 ms, there after 50.0 ms, 0 calls",
            "okl:   3 values: from the cache in 0.32 ms, there after 50.0 ms, 0 calls",
            "okl:   2 calls in which a value may not have been there",
        ];
        assert_eq!(versions.tell().lines().collect::<Vec<_>>(), lines);
    }
}
