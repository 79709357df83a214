//! The whole program as its modules describe it: shared variables, constructors, and who calls whom.
//!
//! Guarantee: a region from which a construct is reachable that is wrong in a team of several ranks, or
//! a function that was not compiled with okl, runs on rank 0 alone, in whatever source file that is.
//! The pass sees one module at a time; here all of them are known.

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
    ffi::{CStr, c_void},
    sync::{Mutex, OnceLock},
};

use okl_abi::{
    ConstructorEntry, ExternGlobalEntry, FunctionEntry, FunctionSummary, GlobalEntry,
    LARGEST_UNANNOUNCED, ModuleTable, RegionDescriptor, SharedSectionBounds, Summaries,
    ThreadPrivateEntry, UnsafeSite, function_flags,
};

use okl_job::opened::Opened;

use crate::{layout, mpi_job, region, report, scopes};
use okl_coherence::PAGE;

/// A registered module.
#[derive(Clone, Copy)]
pub(crate) struct Module(&'static ModuleTable);

// SAFETY: tables are constants of the loaded program.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

static REGISTERED: Mutex<Vec<Module>> = Mutex::new(Vec::new());
static GRAPH: OnceLock<Graph> = OnceLock::new();

/// An array of a table.
///
/// # Safety
/// `first` points to `count` live values of `T`, or `count` is 0.
pub(crate) unsafe fn array<T>(first: *mut c_void, count: i64) -> &'static [T] {
    if count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(first.cast(), count as usize) }
}

/// A constant text of a module.
pub(crate) fn text(pointer: *mut c_void) -> &'static str {
    if pointer.is_null() {
        return "?";
    }
    // SAFETY: the pass emits NUL-terminated constants.
    unsafe { CStr::from_ptr(pointer.cast()) }
        .to_str()
        .unwrap_or("?")
}

// SAFETY of the accessors: the pass emits each array with its length.
impl Module {
    pub(crate) fn source_file(self) -> &'static str {
        text(self.0.source_file)
    }

    pub(crate) fn dso(self) -> usize {
        self.0.dso_handle as usize
    }

    /// A page of each shared section of its executable or library, and the section's end.
    pub(crate) fn shared_sections(self) -> [(usize, usize); 2] {
        // SAFETY: see above.
        let bounds = unsafe { &*self.0.sections.cast::<SharedSectionBounds>() };
        [
            (bounds.data_pad as usize, bounds.data_end as usize),
            (bounds.bss_pad as usize, bounds.bss_end as usize),
        ]
    }

    pub(crate) fn globals(self) -> &'static [GlobalEntry] {
        // SAFETY: see above.
        unsafe { array(self.0.globals, self.0.global_count) }
    }

    pub(crate) fn externs(self) -> &'static [ExternGlobalEntry] {
        // SAFETY: see above.
        unsafe { array(self.0.externs, self.0.extern_count) }
    }

    pub(crate) fn thread_privates(self) -> &'static [ThreadPrivateEntry] {
        // SAFETY: see above.
        unsafe { array(self.0.thread_privates, self.0.thread_private_count) }
    }

    pub(crate) fn constructors(self) -> &'static [ConstructorEntry] {
        // SAFETY: see above.
        unsafe { array(self.0.constructors, self.0.constructor_count) }
    }

    pub(crate) fn destructors(self) -> &'static [ConstructorEntry] {
        // SAFETY: see above.
        unsafe { array(self.0.destructors, self.0.destructor_count) }
    }

    /// What its functions do with memory.
    pub(crate) fn summaries(self) -> &'static [FunctionSummary] {
        // SAFETY: see above.
        unsafe {
            let all = &*self.0.summaries.cast::<Summaries>();
            array(all.functions, all.function_count)
        }
    }

    fn functions(self) -> &'static [FunctionEntry] {
        // SAFETY: see above.
        unsafe { array(self.0.functions, self.0.function_count) }
    }
}

/// Looks at what the pass says of a module.
pub(crate) fn module_of(table: &'static ModuleTable) -> Module {
    let module = Module(table);
    if table.abi_hash != okl_abi::ABI_HASH as i64 {
        report::fatal(&format!(
            "{} was compiled with another version of okl than libokl_mpi.so: rebuild it",
            module.source_file()
        ));
    }
    module
}

/// A module of the program is loaded.
pub(crate) fn register(module: Module) {
    if GRAPH.get().is_some() {
        report::fatal(&format!(
            "a library with {} was loaded after the program started: its variables cannot be shared any \
             more; link the library instead",
            module.source_file()
        ));
    }
    REGISTERED
        .lock()
        .expect("registering does not panic")
        .push(module);
}

/// The modules, in the order of their registration: libraries before what uses them.
pub(crate) fn modules() -> Vec<Module> {
    REGISTERED
        .lock()
        .expect("registering does not panic")
        .clone()
}

/// The functions and variables of all modules by address.
struct Graph {
    /// Start and size of each shared variable, sorted.
    globals: Vec<(usize, usize)>,
    functions: HashMap<usize, FunctionEntry>,
    /// Functions that an indirect call may reach.
    address_taken: Vec<usize>,
}

// SAFETY: the entries point to constants.
unsafe impl Send for Graph {}
// SAFETY: as above.
unsafe impl Sync for Graph {}

/// Builds the graph; no module may register afterwards.
pub(crate) fn close() {
    let globals = modules().into_iter().flat_map(Module::globals);
    let mut globals: Vec<(usize, usize)> = globals
        .map(|global| (global.address as usize, global.size as usize))
        .collect();
    globals.sort_unstable_by_key(|&(start, size)| (start, Reverse(size)));
    globals.dedup_by_key(|&mut (start, _)| start);
    let mut graph = Graph {
        globals,
        functions: HashMap::new(),
        address_taken: Vec::new(),
    };
    for function in modules().iter().flat_map(|module| module.functions()) {
        graph.functions.insert(function.address as usize, *function);
        if function.flags & function_flags::ADDRESS_TAKEN != 0 {
            graph.address_taken.push(function.address as usize);
        }
    }
    assert!(GRAPH.set(graph).is_ok(), "one job starts once");
}

/// Whose threads a region's team may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Team {
    Ranks,
    RankZero,
    /// The compiler took for granted of a function what is not so, and may have left out that threads exclude each other.
    OneThread,
}

/// What team `region` may have, where ranks may wait for flags if it `may_wait`. If it must run on rank 0 alone the user is told
/// why, unless he was `told`.
pub(crate) fn team_of(region: &RegionDescriptor, told: bool, may_wait: bool) -> Team {
    let Some(graph) = GRAPH.get() else {
        return if told { Team::RankZero } else { Team::Ranks };
    };
    let obstacles = scopes::private(|| graph.obstacles(region.body as usize, may_wait));
    let Obstacles { first, is_mistaken } = obstacles;
    if let (Some(reason), false) = (&first, told) {
        report::warn(&format!(
            "warning: the parallel region {} runs on rank 0 alone: it {reason}",
            report::at(text(region.location))
        ));
    }
    match (is_mistaken, told || first.is_some()) {
        (true, _) => Team::OneThread,
        (false, true) => Team::RankZero,
        (false, false) => Team::Ranks,
    }
}

/// What keeps code from running in a team of several ranks.
#[derive(Default)]
struct Obstacles {
    first: Option<String>,
    /// It calls a function of the program that the compiler took for one of the C library.
    is_mistaken: bool,
}

impl Graph {
    /// Those of the code reachable from `body`, which may wait for flags if it `may_wait`.
    fn obstacles(&self, body: usize, may_wait: bool) -> Obstacles {
        let mut found = Obstacles::default();
        let first = &mut found.first;
        let mut seen = HashSet::from([body]);
        let mut open = vec![body];
        let mut calls_indirectly = false;
        while let Some(address) = open.pop() {
            let Some(function) = self.functions.get(&address) else {
                continue;
            };
            if !function.unsafe_site.is_null() {
                // SAFETY: the pass emits the site as a constant.
                let site = unsafe { &*function.unsafe_site.cast::<UnsafeSite>() };
                first.get_or_insert_with(|| {
                    format!("{} ({})", text(site.reason), text(site.location))
                });
            }
            if function.flags & function_flags::WAITS_FOR_FLAGS != 0 && !may_wait {
                first.get_or_insert_with(|| {
                    format!(
                        "waits for a flag that another thread sets (in {}); on several nodes the ranks run it where that pays, and everywhere with OKL_FLAGS=ranks",
                        text(function.name)
                    )
                });
            }
            if function.flags & function_flags::CALLS_INDIRECTLY != 0 && !calls_indirectly {
                calls_indirectly = true;
                open.extend(
                    self.address_taken
                        .iter()
                        .copied()
                        .filter(|&taken| seen.insert(taken)),
                );
            }
            // SAFETY: the pass emits both arrays with this length.
            let (callees, names) = unsafe {
                (
                    array::<*mut c_void>(function.callees, function.callee_count),
                    array::<*mut c_void>(function.callee_names, function.callee_count),
                )
            };
            // Those after one without a name were taken for functions of the C library.
            let mut is_of_library = false;
            for (&callee, &name) in callees.iter().zip(names) {
                is_of_library |= name.is_null();
                let callee = callee as usize;
                let is_defined = self.functions.contains_key(&callee);
                if is_of_library && is_defined {
                    found.is_mistaken = true;
                    first.get_or_insert_with(|| {
                        format!(
                            "calls {} (in {}), which the program defines and okl took for the C library's: give it \
                             another name",
                            text(name),
                            text(function.name)
                        )
                    });
                }
                if callee == 0 || !seen.insert(callee) {
                    continue;
                }
                if is_defined {
                    open.push(callee);
                } else if first.is_none() {
                    *first = untranslated(callee, text(name), text(function.name));
                }
            }
        }
        found
    }
}

/// Libraries whose functions keep no state that a region could see, beyond what the pass knows by name.
const SYSTEM_LIBRARIES: [&str; 13] = [
    "libc.so",
    "libc-",
    "libm.so",
    "libm-",
    "libmvec",
    "libstdc++.so",
    "libc++.so",
    "libc++abi.so",
    "libgcc_s.so",
    "libatomic.so",
    "libquadmath.so",
    "libokl_mpi.so",
    "ld-linux",
];

/// Why a function outside all translated modules cannot be called in a team of several ranks.
fn untranslated(address: usize, name: &str, caller: &str) -> Option<String> {
    let object = object_of_symbol(name).or_else(|| object_of_address(address))?;
    let file = object.rsplit('/').next().unwrap_or(&object);
    let known = SYSTEM_LIBRARIES
        .iter()
        .any(|library| file.starts_with(library));
    (!known).then(|| {
        format!("calls {name} (in {caller}), which was not compiled with okl and may keep state of its own ({file})")
    })
}

/// The file that defines the dynamic symbol `name`.
fn object_of_symbol(name: &str) -> Option<String> {
    let name = std::ffi::CString::new(name).ok()?;
    // SAFETY: an address is all that is asked.
    let address = unsafe { Opened::PROGRAM.symbol::<*const c_void>(&name) };
    object_of_address(address.ok()? as usize)
}

/// The file that the code at `address` was loaded from.
fn object_of_address(address: usize) -> Option<String> {
    // SAFETY: `dladdr` fills the structure or fails.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address as *const c_void, &mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        Some(
            CStr::from_ptr(info.dli_fname)
                .to_string_lossy()
                .into_owned(),
        )
    }
}

/// `okl_mpi_unsafe_here`: stops the job in a team of several ranks.
pub(crate) fn okl_mpi_unsafe_here(site: *mut c_void) {
    if !region::is_distributed() {
        return;
    }
    // SAFETY: the pass emits the site as a constant.
    let site = unsafe { &*site.cast::<UnsafeSite>() };
    report::fatal(&format!(
        "{} {} ({}), which cannot be right on several ranks; it was reached through a \
         call the compiler could not see",
        region::name(),
        text(site.reason),
        text(site.location)
    ));
}

/// The object at `address`, in words.
pub(crate) fn object_at(address: usize) -> String {
    for module in modules() {
        for global in module.globals() {
            let start = global.address as usize;
            if (start..start + global.size as usize).contains(&address) {
                return format!(
                    "{} + {} of {}",
                    text(global.name),
                    address - start,
                    module.source_file()
                );
            }
        }
    }
    layout::layout().describe(address)
}

/// The addresses of the first and last bytes of shared variables that serial code accesses unannounced.
pub(crate) fn unannounced() -> impl Iterator<Item = usize> {
    let globals = modules().into_iter().flat_map(Module::globals);
    let small = globals.filter(|global| global.size <= LARGEST_UNANNOUNCED);
    small.flat_map(|global| {
        let start = global.address as usize;
        [start, start + global.size as usize - 1]
    })
}

/// The whole shared variable at `address`.
pub(crate) fn global_extent(address: usize) -> Option<(usize, usize)> {
    let after = match GRAPH.get() {
        Some(graph) => &graph.globals,
        None => return None,
    };
    let index = after.partition_point(|&(start, _)| start <= address);
    let (start, size) = after[index.checked_sub(1)?];
    (address < start + size).then_some((start, size))
}

/// Checks that each variable has room for what every file makes of it: common blocks may have several lengths, and the
/// linker takes the first it meets of those of okl's, not the longest. The complaint, if not.
fn check_room(shared: &[(usize, usize)]) -> Result<(), String> {
    struct Variable {
        start: usize,
        size: usize,
        module: Module,
        name: *mut c_void,
    }
    let mut variables = Vec::new();
    for module in modules() {
        variables.extend(module.globals().iter().map(|global| Variable {
            start: global.address as usize,
            size: global.size as usize,
            module,
            name: global.name,
        }));
    }
    variables.sort_by_key(|variable| (variable.start, variable.size));
    for (index, variable) in variables.iter().enumerate() {
        let same = |other: &&Variable| other.start == variable.start;
        let shortest = variables[..index].iter().rev().take_while(same).last();
        let Some(shortest) = shortest.filter(|shortest| shortest.size < variable.size) else {
            continue;
        };
        let section = shared
            .iter()
            .find(|(start, end)| (*start..*end).contains(&variable.start));
        let next = variables[index + 1..].iter().find(|other| !same(other));
        let room = section
            .map(|(_, end)| *end)
            .into_iter()
            .chain(next.map(|next| next.start))
            .min();
        if room.is_some_and(|room| variable.start + variable.size > room) {
            return Err(format!(
                "common block {} has {} bytes in {} and {} in {}, and the linker took the first length that it met: give it the \
                 same length in every file, or name the file with the longest first when linking",
                text(variable.name).trim_end_matches('_'),
                variable.size,
                variable.module.source_file(),
                shortest.size,
                shortest.module.source_file(),
            ));
        }
    }
    Ok(())
}

/// Checks that variables shared between modules are shared between ranks. The complaint, if not.
pub(crate) fn check_variables() -> Result<(), String> {
    let shared: Vec<(usize, usize)> = shared_ranges();
    check_room(&shared)?;
    let is_shared = |address: usize| {
        shared
            .iter()
            .any(|&(start, end)| (start..end).contains(&address))
    };
    for module in modules() {
        for global in module.globals() {
            if !is_shared(global.address as usize) {
                return Err(format!(
                    "variable {} of {} is defined by an object that was not compiled with okl as well: compile all \
                     of the program's sources with the plugin",
                    text(global.name),
                    module.source_file()
                ));
            }
        }
        for global in module.externs() {
            let address = global.address as usize;
            if address == 0 || is_shared(address) {
                continue;
            }
            let file = object_of_symbol(text(global.name)).or_else(|| object_of_address(address));
            let file = file
                .as_deref()
                .and_then(|path| path.rsplit('/').next())
                .unwrap_or("?")
                .to_owned();
            if !SYSTEM_LIBRARIES
                .iter()
                .any(|library| file.starts_with(library))
                && mpi_job::rank() == 0
            {
                report::warn(&format!(
                    "warning: variable {} used in {} is defined in {file} by an object that was not compiled with \
                     okl: other ranks do not see its changes",
                    text(global.name),
                    module.source_file()
                ));
            }
        }
    }
    Ok(())
}

/// The page-aligned ranges of shared variables, sorted.
pub(crate) fn shared_ranges() -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    let mut objects: Vec<usize> = Vec::new();
    for module in modules() {
        if objects.contains(&module.dso()) {
            continue;
        }
        objects.push(module.dso());
        ranges.extend(ranges_of_object(module));
    }
    ranges.sort_unstable();
    ranges
}

/// The shared ranges of the executable or library that `module` is part of. The pads end each range;
/// the lowest variable begins it, at a page of its own because a pad is aligned to pages.
fn ranges_of_object(module: Module) -> [(usize, usize); 2] {
    let sections = module.shared_sections();
    let base = base_of(module.dso());
    let variables: Vec<usize> = modules()
        .iter()
        .filter(|other| other.dso() == module.dso())
        .flat_map(|other| other.globals())
        .map(|global| global.address as usize)
        // A definition in another object may have taken this one's place.
        .filter(|&address| base_of(address) == base)
        .chain(sections.map(|(pad, _)| pad))
        .collect();
    let mut ends = sections.map(|(_, end)| end);
    ends.sort_unstable();
    let [lower, upper] = ends;
    let range = |from: usize, end: usize| {
        let first = variables
            .iter()
            .copied()
            .filter(|address| (from..end).contains(address))
            .min();
        (first.map_or(end, |first| first / PAGE * PAGE), end)
    };
    [range(0, lower), range(lower, upper)]
}

/// Where the object that contains `address` was loaded.
fn base_of(address: usize) -> usize {
    // SAFETY: `dladdr` fills the structure or fails.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        libc::dladdr(address as *const c_void, &mut info);
        info.dli_fbase as usize
    }
}
