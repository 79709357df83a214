//! What functions of other files do with memory: summaries that the pass left, joined over the program.
//!
//! Guarantee: code that is taken for known accesses, apart from what it declares, nothing but memory of the calling
//! thread's own and the variables that are listed here, whichever definitions the linker chose. A function without a
//! summary may do anything.
//!
//! All ranks decide the same: they run the same code.

use std::{
    collections::{HashMap, HashSet},
    ffi::c_void,
    sync::OnceLock,
};

use okl_abi::{
    FunctionSummary, OWN, REST, RegionDescriptor, Stretch, SummaryCall, SummaryObject,
    region_flags, summary_flags,
};

use crate::{
    cell::ProgramCell,
    observe,
    program_graph::{self, array, text},
    scopes,
};

/// The decision on a stretch.
const KNOWN: i64 = 1;
const TRACKED: i64 = 2;

/// Whether what a stretch runs is known: it need not be tracked.
pub(crate) fn is_known(stretch: &Stretch) -> bool {
    stretch.decision == KNOWN
}

/// Variables, start and end.
type Objects = Vec<(usize, usize)>;

/// For each region that has some, the variables that functions of other files access undeclared.
static OBJECTS: ProgramCell<Vec<(usize, Objects)>> = ProgramCell::new(Vec::new());

/// The variables that functions of other files access undeclared in a region that has been decided on.
pub(crate) fn objects(region: *const RegionDescriptor) -> Objects {
    OBJECTS.with(|all| {
        let found = all.iter().find(|one| one.0 == region as usize);
        found.map(|one| one.1.clone()).unwrap_or_default()
    })
}

/// Before a region is entered: decides, once, which of its stretches are any, and what follows for all of it.
pub(crate) fn decide(region: *mut RegionDescriptor) {
    // SAFETY: null, or a descriptor that the pass emitted, which is writable and private to the process.
    let Some(descriptor) = (unsafe { region.as_mut() }) else {
        return;
    };
    if descriptor.flags & region_flags::DECIDED != 0 {
        return;
    }
    descriptor.flags |= region_flags::DECIDED;
    if descriptor.stretch_count == 0 {
        return;
    }
    let found = scopes::private(|| {
        // SAFETY: the pass emits the list with its length.
        let stretches =
            unsafe { array::<*mut Stretch>(descriptor.stretches, descriptor.stretch_count) };
        functions().decide(stretches)
    });
    let flags = &mut descriptor.flags;
    if found.has_stretches {
        *flags |= region_flags::STRETCHES;
    }
    if *flags & region_flags::NESTS_DEPEND != 0 && found.some_tracked && !found.declares {
        *flags &= !region_flags::DECLARES_ALL;
    }
    if *flags & region_flags::NO_ATOMICS_HERE != 0 && !found.some_tracked && found.no_atomics {
        *flags |= region_flags::NO_ATOMICS;
    }
    OBJECTS.with(|all| all.push((region as usize, found.objects)));
}

/// What is found out about the stretches of a region.
struct Found {
    /// Some of it is tracked, for whatever reason.
    has_stretches: bool,
    /// Some of the stretches are tracked that might not have been.
    some_tracked: bool,
    /// Some loop nest is declared in those that are not.
    declares: bool,
    no_atomics: bool,
    objects: Objects,
}

/// The summaries of the functions that the program has, by address. There are several of one that several files have the
/// same definition of: what it does is what one of them says.
struct Functions(HashMap<usize, Vec<&'static FunctionSummary>>);

// SAFETY: summaries are constants of the loaded program.
unsafe impl Send for Functions {}
// SAFETY: as above.
unsafe impl Sync for Functions {}

/// All of the program: after it has started no file of it is added.
fn functions() -> &'static Functions {
    static FUNCTIONS: OnceLock<Functions> = OnceLock::new();
    FUNCTIONS.get_or_init(|| {
        let code = code();
        let mut all: HashMap<usize, Vec<&'static FunctionSummary>> = HashMap::new();
        let modules = program_graph::modules().into_iter();
        for summary in modules.flat_map(|module| module.summaries()) {
            if is_of_definition(summary, &code) {
                all.entry(summary.address as usize)
                    .or_default()
                    .push(summary);
            }
        }
        Functions(all)
    })
}

/// The parts of the address space that code was loaded to, start and end.
fn code() -> Vec<(usize, usize)> {
    unsafe extern "C" fn add(
        object: *mut libc::dl_phdr_info,
        _size: usize,
        to: *mut c_void,
    ) -> libc::c_int {
        const READABLE_CODE: u32 = libc::PF_R | libc::PF_X;
        // SAFETY: the C library describes a loaded object, and `to` is what `code` hands it.
        let (object, to) = unsafe { (&*object, &mut *to.cast::<Vec<(usize, usize)>>()) };
        for at in 0..usize::from(object.dlpi_phnum) {
            // SAFETY: it has so many headers.
            let header = unsafe { &*object.dlpi_phdr.add(at) };
            if header.p_type == libc::PT_LOAD && header.p_flags & READABLE_CODE == READABLE_CODE {
                let start = object.dlpi_addr as usize + header.p_vaddr as usize;
                to.push((start, start + header.p_filesz as usize));
            }
        }
        0
    }
    let mut found: Vec<(usize, usize)> = Vec::new();
    // SAFETY: `add` gets the vector back while this function waits.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut found).cast()) };
    found
}

/// Whether the definition that the linker chose is the one that a summary is of.
fn is_of_definition(summary: &FunctionSummary, code: &[(usize, usize)]) -> bool {
    let address = summary.address as usize;
    let Some(start) = address.checked_sub(2 * size_of::<i64>()) else {
        return false;
    };
    let is_readable = code
        .iter()
        .any(|&(first, end)| first <= start && address <= end);
    // SAFETY: these bytes are code, or what lies in front of it.
    let identity = || unsafe { std::ptr::read_unaligned(start as *const [i64; 2]) };
    is_readable && identity() == [summary.identity, summary.identity_rest]
}

/// What code does that calls functions of other files.
#[derive(Default)]
struct Joined {
    objects: Objects,
    /// Those of functions that declare what they access.
    stretches: Vec<*mut Stretch>,
    has_stretches: bool,
    declares: bool,
    has_atomics: bool,
}

fn calls_of(summary: &FunctionSummary) -> &'static [SummaryCall] {
    // SAFETY: the pass emits the list with its length.
    unsafe { array(summary.calls, summary.call_count) }
}

/// Why it is not known what code accesses.
#[derive(PartialEq)]
struct Unknown {
    /// A function that is called.
    function: &'static str,
    /// What it does: the rest of a sentence.
    why: &'static str,
}

impl Unknown {
    fn through_pointer(call: &SummaryCall) -> Self {
        Self {
            function: text(call.name),
            why: "which accesses what a pointer leads to that it is given",
        }
    }
}

fn is_declaring(summary: &FunctionSummary) -> bool {
    summary.flags & summary_flags::DECLARES != 0
}

impl Functions {
    fn decide(&self, stretches: &[*mut Stretch]) -> Found {
        let mut found = Found {
            has_stretches: false,
            some_tracked: false,
            declares: false,
            no_atomics: true,
            objects: Vec::new(),
        };
        let mut rest = stretches.to_vec();
        let mut seen: HashSet<*mut Stretch> = rest.iter().copied().collect();
        while let Some(stretch) = rest.pop() {
            // SAFETY: the pass emitted it; it is writable, private to the process, and nobody else uses it now.
            let stretch = unsafe { &mut *stretch };
            let is_nest = stretch.is_nest != 0;
            // SAFETY: the pass emits the list with its length.
            let calls = unsafe { array(stretch.calls, stretch.call_count) };
            let joined = match self.join(calls, is_nest) {
                Ok(joined) => joined,
                Err(Unknown { function, why }) => {
                    observe::unknown::note(text(stretch.location), || {
                        format!("it calls {function}, {why}")
                    });
                    stretch.decision = TRACKED;
                    found.some_tracked = true;
                    found.has_stretches = true;
                    continue;
                }
            };
            stretch.decision = KNOWN;
            found.has_stretches |= joined.has_stretches;
            found.declares |= is_nest || joined.declares;
            found.no_atomics &= !joined.has_atomics;
            found.objects.extend(joined.objects);
            rest.extend(joined.stretches.into_iter().filter(|one| seen.insert(*one)));
        }
        found.objects.sort_unstable();
        found.objects.dedup();
        found
    }

    /// What these calls do; an error where it is not known, or is more than callers may leave undeclared. In a nest nothing can
    /// be declared.
    fn join(&self, calls: &[SummaryCall], is_nest: bool) -> Result<Joined, Unknown> {
        let mut joined = Joined::default();
        let mut rest: Vec<&SummaryCall> = calls.iter().collect();
        let mut reached: HashMap<usize, &[&'static FunctionSummary]> = HashMap::new();
        while let Some(call) = rest.pop() {
            let unknown = |why| Unknown {
                function: text(call.name),
                why,
            };
            let address = call.callee as usize;
            let summaries = self.0.get(&address).filter(|_| !call.direct.is_null());
            let summaries =
                summaries.ok_or(unknown("of which it is not known what it accesses"))?;
            if reached.contains_key(&address) {
                continue;
            }
            reached.insert(address, summaries);
            for summary in summaries {
                // SAFETY: the pass emits the lists with their lengths.
                let (objects, stretches) = unsafe {
                    (
                        array::<SummaryObject>(summary.objects, summary.object_count),
                        array::<*mut Stretch>(summary.stretches, summary.stretch_count),
                    )
                };
                let objects = objects.iter();
                joined.objects.extend(objects.map(|one| {
                    let start = one.address as usize;
                    (start, start + one.size as usize)
                }));
                if is_declaring(summary) {
                    if is_nest {
                        return Err(unknown("which shares loops or synchronises, in a loop"));
                    }
                    joined.declares = true;
                    joined.has_stretches |= summary.flags & summary_flags::STRETCHES != 0;
                    joined.stretches.extend(stretches);
                }
                joined.has_atomics |= summary.flags & summary_flags::NO_ATOMICS == 0;
                rest.extend(calls_of(summary));
            }
        }
        let parameters = parameters(&reached)?;
        let is_own = |call: &SummaryCall| passed(call, &parameters) == Ok(0);
        match calls.iter().find(|call| !is_own(call)) {
            Some(call) => Err(Unknown::through_pointer(call)),
            None => Ok(joined),
        }
    }
}

/// Through which of their parameters functions access memory, with all that they call.
fn parameters(
    reached: &HashMap<usize, &[&'static FunctionSummary]>,
) -> Result<HashMap<usize, u8>, Unknown> {
    let mut all: HashMap<usize, u8> = reached.keys().map(|&address| (address, 0)).collect();
    loop {
        let mut changed = false;
        for (address, summaries) in reached {
            let mut bits = all[address];
            for summary in *summaries {
                bits |= summary.parameters as u8;
                for call in calls_of(summary) {
                    bits |= passed(call, &all)?;
                }
            }
            changed |= all.insert(*address, bits) != Some(bits);
        }
        if !changed {
            return Ok(all);
        }
    }
}

/// The parameters of the caller that a call accesses memory through; an error where it accesses other memory through an
/// argument.
fn passed(call: &SummaryCall, parameters: &HashMap<usize, u8>) -> Result<u8, Unknown> {
    let accessed = parameters[&(call.callee as usize)];
    let arguments = call.arguments.to_le_bytes().into_iter().enumerate();
    let arguments = arguments.filter(|(at, _)| accessed & 1 << at != 0);
    arguments
        .map(|(_, one)| one)
        .try_fold(0, |bits, argument| match argument {
            OWN => Ok(bits),
            number if usize::from(number) <= REST => Ok(bits | 1 << number),
            _ => Err(Unknown::through_pointer(call)),
        })
}
