//! The start and the end of a job.
//!
//! Guarantee: when the first line of the user's program runs, all ranks run the same build at the same
//! addresses, share the program's memory, and wait for regions. When the program ends, however it ends,
//! all ranks end.

use std::{
    ffi::{c_char, c_void},
    os::fd::AsRawFd,
};

use okl_abi::ConstructorEntry;

use crate::{
    api, api::Icv, build_id, cell::ProgramCell, console, control_area, devices, exchange, fault,
    files, foreign_regions, interpose, interpose::mapping, interpose::variables, kernel, layout,
    loops, memory, memory::Memory, memory::Peer, mpi_job, mpi_job::Nodes, names, observe, process,
    program, program_graph, program_stacks, region, report, service::Remote, settings,
    settings::Settings, settings::settings, stack, stats, stream_format, sync, tasks, team,
    thread_privates, threads, turns, view::View, waiting,
};
use okl_coherence::{Coherence, Layout, PAGE, PageTable, Sizes};
use okl_job::{agree, launcher, own_environment};

/// Set in the environment of the second start, so that there is no third.
const REEXECUTED: &str = "OKL_REEXECUTED";
/// Address space between the private memory of two ranks, without address randomisation.
const PRIVATE_SHIFT: usize = 16 << 30;
/// The kernel counts a growing heap as memory in use, so it is moved in steps that are given back.
const HEAP_STEP: usize = 1 << 30;
/// Rank 0's heap is as large as serial code may want: of the whole machine, with room for what is free in between.
const FIRST_ARENA_MOST: usize = 4 << 40;
const ARENA_MOST: usize = 1 << 40;
/// What regions allocate on other ranks is less, as a rule.
const ARENA_LEAST: usize = 4 << 30;
/// Where many ranks on a machine leave no room for more.
const ARENA_LEAST_OF_MANY: usize = 1 << 30;
/// Address space that all views together may take, and that those of other ranks' heaps take of it if that is to be had.
const VIEWS_MOST: usize = 64 << 40;
const OTHERS_MOST: usize = 16 << 40;
/// What page numbers are enough for, and other areas leave.
const ARENAS_MOST: usize = 12 << 40;

/// What `main` was called with.
struct Entry {
    user_main: *mut c_void,
    argc: i32,
    argv: *mut *mut c_char,
    envp: *mut *mut c_char,
}

static ENTRY: ProgramCell<Option<Entry>> = ProgramCell::new(None);

/// `okl_mpi_main`: the whole life of a process.
pub(crate) fn okl_mpi_main(
    user_main: *mut c_void,
    argc: i32,
    argv: *mut c_void,
    envp: *mut c_void,
) -> i32 {
    let randomised = !disable_randomisation(argv.cast());
    install_panic_message();
    interpose::resolve();
    let chosen = Settings::read(own_environment).unwrap_or_else(|error| report::fatal(&error));
    settings::install(chosen);
    let mut icv =
        Icv::from_environment(own_environment).unwrap_or_else(|error| report::fatal(&error));
    // As in every hybrid MPI program OMP_NUM_THREADS counts the threads of a rank, not those of a team.
    let threads_per_rank = std::mem::take(&mut icv.num_threads);
    mpi_job::load().unwrap_or_else(|error| report::fatal(&error));
    separate_private_memory(randomised);
    let may_span_nodes = may_span_nodes();
    yield_when_idle(may_span_nodes);
    let per_node = settings().ranks_per_node;
    let Nodes {
        several: several_nodes,
        processors,
    } = mpi_job::start(threads_per_rank > 1, per_node)
        .unwrap_or_else(|error| report::fatal(&error));
    let ranks_here = processors.len() as u32;
    compare_builds(user_main, randomised);
    if let Err(error) = observe::start(names::object_at, stats::so_far) {
        report::fatal(&error);
    }
    // Their initial values may be those of shared variables.
    let variables = thread_privates::find();
    let threads = threads::start(threads_per_rank, &processors);
    if variables.is_empty() {
        threads::lend(processors, several_nodes);
    }
    loops::start();
    tasks::start();
    share_memory(several_nodes, threads, ranks_here);
    program_stacks::divide(threads);
    thread_privates::fill(variables, threads);
    thread_privates::adopt();
    sync::start();
    team::start(icv);
    if icv.display_env != 0 && mpi_job::rank() == 0 {
        api::okl_mpi_omp_display_env(i32::from(icv.display_env == 2));
    }
    console::start_cpp_streams();
    stream_format::find();
    program_graph::close();
    mapping::find_program();
    if mpi_job::rank() == 0 {
        report_foreign_regions();
    }
    fault::install();
    waiting::note_threads();
    files::start(console::is_far());
    program::start(layout::layout(), mpi_job::rank());
    mpi_job::barrier();
    // SAFETY: registers a function that lives as long as the process.
    unsafe { on_exit(at_exit, std::ptr::null_mut()) };
    if mpi_job::rank() == 0 {
        ENTRY.with(|entry| {
            *entry = Some(Entry {
                user_main,
                argc,
                argv: argv.cast(),
                envp: envp.cast(),
            })
        });
        stack::call_on(program_stacks::serial_stack_top(), run_program);
    } else {
        stack::call_on(program_stacks::region_stack_top(), serve);
    }
    unreachable!("both end the process")
}

unsafe extern "C" {
    fn on_exit(function: extern "C" fn(i32, *mut c_void), argument: *mut c_void) -> i32;
}

/// Starts the program again without address randomisation. Whether addresses are fixed: false where
/// the system forbids it.
fn disable_randomisation(argv: *const *const c_char) -> bool {
    const QUERY: libc::c_ulong = 0xffff_ffff;
    // SAFETY: plain system calls; `argv` is what `main` got.
    unsafe {
        let persona = libc::personality(QUERY);
        if persona >= 0 && persona & libc::ADDR_NO_RANDOMIZE != 0 {
            std::env::remove_var(REEXECUTED);
            return true;
        }
        if std::env::var_os(REEXECUTED).is_some() {
            std::env::remove_var(REEXECUTED);
            return false;
        }
        if persona < 0
            || libc::personality((persona | libc::ADDR_NO_RANDOMIZE) as libc::c_ulong) < 0
        {
            return false;
        }
        std::env::set_var(REEXECUTED, "1");
        libc::execv(c"/proc/self/exe".as_ptr(), argv);
        std::env::remove_var(REEXECUTED);
        false
    }
}

/// A panic of the runtime ends the job with a message.
fn install_panic_message() {
    std::panic::set_hook(Box::new(|info| {
        let message = info
            .payload()
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| info.payload().downcast_ref::<&str>().copied())
            .unwrap_or("unknown");
        let place = info
            .location()
            .map(|l| format!(" ({}:{})", l.file(), l.line()))
            .unwrap_or_default();
        report::fatal(&format!("internal error: {message}{place}"));
    }));
}

/// Without randomisation the private heaps of all ranks would coincide, and a private pointer that
/// leaks would read another rank's own bytes. Shifts this process's heap and later mappings by its rank.
fn separate_private_memory(randomised: bool) {
    let rank = launcher::rank(own_environment).unwrap_or(0) as usize;
    if randomised || rank == 0 {
        return;
    }
    let shift = rank * PRIVATE_SHIFT;
    // SAFETY: reserves address space that nothing uses, and returns most of it.
    unsafe {
        // Mappings are placed downwards: what is reserved at the top pushes later ones down.
        kernel::mmap(
            std::ptr::null_mut(),
            shift,
            libc::PROT_NONE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        );
        for _ in 0..shift / HEAP_STEP {
            let old_break = libc::sbrk(HEAP_STEP as isize);
            if old_break as isize == -1 {
                break;
            }
            let first = (old_break as usize).next_multiple_of(PAGE);
            kernel::munmap(first as *mut c_void, HEAP_STEP / PAGE * PAGE - PAGE);
        }
    }
}

/// Whether some ranks may be on another node than this one, as far as the launcher tells: MPI says it when it has
/// started, and has to know before how to wait.
fn may_span_nodes() -> bool {
    let ranks = launcher::size(own_environment).map(|(_, ranks)| ranks);
    let here = launcher::ranks_of_node(own_environment);
    match (ranks, here, settings().ranks_per_node) {
        (Some(ranks), _, Some(per_node)) => ranks > per_node,
        (Some(ranks), Some(here), None) => ranks > here,
        (Some(ranks), None, None) => ranks > 1,
        (None, _, _) => launcher::is_mentioned(own_environment),
    }
}

/// Whether this node has more ranks than processors, as far as the launcher tells.
fn is_crowded() -> bool {
    let here = launcher::ranks_of_node(own_environment).unwrap_or(1);
    // SAFETY: asks for a number.
    i64::from(here) > unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }
}

/// Ranks that wait must leave the processor to others where there are more threads than processors.
fn yield_when_idle(service_thread: bool) {
    if service_thread || is_crowded() {
        // SAFETY: no other thread runs yet.
        unsafe { std::env::set_var("OMPI_MCA_mpi_yield_when_idle", "1") };
    }
}

/// All ranks must run the same program at the same addresses.
fn compare_builds(user_main: *mut c_void, randomised: bool) {
    let differs = |what: &dyn Fn() -> u64| agree::first_that_differs(what(), mpi_job::gathered);
    if let Some(rank) = differs(&build_id::of_program) {
        report::fatal(&format!(
            "rank 0 and rank {rank} run different builds of the program"
        ));
    }
    let addresses = || agree::hash((user_main as usize, program_graph::shared_ranges()));
    if let Some(rank) = differs(&addresses) {
        let reason = if randomised {
            "address randomisation cannot be switched off here (the personality system call is denied); link \
             the program with -no-pie"
        } else {
            "the program was loaded differently"
        };
        report::fatal(&format!(
            "rank 0 and rank {rank} have the program at different addresses: {reason}"
        ));
    }
    if let Err(error) = program_graph::check_variables() {
        report::fatal(&error);
    }
}

/// Parts of the program that fork threads themselves: wrong in the executable, doubtful in a library. Parts that were
/// left as they were are wrong in either.
fn report_foreign_regions() {
    for found in foreign_regions::find() {
        if let Some(source) = found.left_alone {
            report::fatal(&format!(
                "{source} was compiled without -fopenmp, and left as it was: compile all of the program's sources with \
                 -fopenmp, or with -mllvm -okl-target=mpi (okl-cc --okl-target=mpi)"
            ));
        }
        let Some(fork) = found.fork else { continue };
        let what = format!(
            "{} contains OpenMP regions that were not compiled with okl (it calls {fork})",
            found.file.display(),
        );
        if found.is_executable {
            report::fatal(&format!(
                "{what}: compile all of the program's sources with the plugin, and OKL kernels with --okl-target=mpi"
            ));
        }
        report::warn(&format!(
            "warning: {what}: its threads must not touch memory that the ranks share"
        ));
    }
}

/// Lays out shared memory, maps this rank's file and the other ranks', and starts the protocol.
fn share_memory(several_nodes: bool, threads: usize, ranks_here: u32) {
    let (rank, ranks) = (mpi_job::rank(), mpi_job::ranks());
    let shared = Layout::new(
        &program_graph::shared_ranges(),
        agree_on_sizes(threads, ranks_here),
        ranks,
    );
    let bytes = layout::file_bytes(&shared);
    // SAFETY: creates a descriptor; the result is checked.
    let file = unsafe { libc::memfd_create(c"okl".as_ptr(), libc::MFD_CLOEXEC) };
    // SAFETY: as above.
    if file < 0 || unsafe { libc::ftruncate(file, bytes as i64) } != 0 {
        let error = std::io::Error::last_os_error();
        report::fatal(&format!(
            "no file of {} GiB for shared memory: {error}",
            bytes >> 30
        ));
    }
    let own = View::map(file, bytes).unwrap_or_else(|error| no_address_space(bytes, &error));
    if rank == 0 {
        for segment in shared.globals() {
            let length = segment.pages as usize * PAGE;
            // SAFETY: the program's own variables, before anything of it runs.
            let values =
                unsafe { std::slice::from_raw_parts(segment.address as *const u8, length) };
            own.write(segment.page as usize * PAGE, values);
        }
    }
    map_program_view(&shared, file, rank);
    let peers = map_peers(&shared, file, own, several_nodes);
    if !several_nodes {
        let at = layout::control_offset(&shared) + control_area::EXCHANGE;
        let slots = peers.iter().map(|peer| match peer {
            Peer::Mapped(view) => view.words(at, exchange::WORDS),
            Peer::Remote => unreachable!("there is one node"),
        });
        mpi_job::share_memory(slots.collect(), is_crowded());
    }
    let nodes = number_nodes(&peers);
    let all_are_near = peers.iter().all(|peer| matches!(peer, Peer::Mapped(_)));
    let remote = (!agree::all(all_are_near, mpi_job::gathered)).then(|| {
        let choice = &settings().interfaces;
        Remote::start(own, files::log_pieces, &nodes, choice, is_crowded())
    });
    let table = PageTable::new(rank, shared.clone(), settings().verify);
    layout::install(shared.clone());
    memory::install(Coherence::new(
        rank,
        table,
        Memory::new(shared, rank, file, own, peers, nodes, remote),
        settings().verify,
    ));
    let pages = program_graph::unannounced().filter_map(|at| layout::layout().page_of(at));
    memory::coherence(|coherence| coherence.keep_out(pages));
    // A single rank has nothing to keep coherent.
    if !settings().sections || ranks == 1 {
        memory::coherence(|coherence| coherence.ignore_declarations());
    }
}

fn no_address_space(bytes: usize, error: &std::io::Error) -> ! {
    report::fatal(&format!(
        "no address space for {} GiB of shared memory: {error}; is it limited (ulimit -v)?",
        bytes >> 30
    ))
}

/// Bytes of rank 0's heap and of each other rank's, where machines have `memory` and at most `ranks_here` of the ranks, which
/// map each other's memory.
fn arenas(memory: usize, ranks: usize, ranks_here: usize) -> (usize, usize) {
    let wanted = (2 * memory).next_power_of_two();
    // This rank's memory is mapped twice.
    let views = ranks_here + 1;
    let others = ranks - 1;
    let mut first = wanted.clamp(ARENA_LEAST, FIRST_ARENA_MOST);
    let mut arena = wanted.clamp(ARENA_LEAST, ARENA_MOST);
    while arena > ARENA_LEAST && arena * others > (OTHERS_MOST / views).min(ARENAS_MOST / 2) {
        arena /= 2;
    }
    let fits = |first: usize, arena: usize| {
        first + arena * others <= (VIEWS_MOST / views).min(ARENAS_MOST)
    };
    while arena > ARENA_LEAST_OF_MANY && !fits(first, arena) {
        arena /= 2;
    }
    while first > ARENA_LEAST && !fits(first, arena) {
        first /= 2;
    }
    (first, arena)
}

/// Sizes that hold the largest node's needs, with `threads` threads on each of `ranks_here` ranks of this one; all ranks
/// get the same.
fn agree_on_sizes(threads: usize, ranks_here: u32) -> Sizes {
    let ranks = mpi_job::ranks() as usize;
    // SAFETY: asks for two numbers and a limit.
    let (memory, stack_limit) = unsafe {
        let memory =
            libc::sysconf(libc::_SC_PHYS_PAGES) as u64 * libc::sysconf(libc::_SC_PAGESIZE) as u64;
        let mut limit = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        libc::getrlimit(libc::RLIMIT_STACK, &mut limit);
        (memory, limit.rlim_cur)
    };
    let thread_privates: u64 = program_graph::modules()
        .iter()
        .flat_map(|module| module.thread_privates())
        .map(|variable| (variable.size + 2 * variable.align) as u64)
        .sum();
    let mine = [
        memory,
        stack_limit.min(16 << 30),
        settings().stack_bytes as u64 + thread_privates,
        ranks_here.into(),
    ];
    let most = agree::most(mine, mpi_job::gathered).map(|most| most as usize);
    let [memory, stack, private, ranks_here] = most;
    let (first_arena, arena) = arenas(memory, ranks, ranks_here);
    let round = |bytes: usize| bytes.next_multiple_of(1 << 20);
    Sizes {
        stack: round(stack.max(256 << 20)),
        first_arena,
        arena,
        private: (round(private) + program_stacks::GUARD_BYTES) * threads,
        large: kernel::LARGE,
    }
}

/// Puts the memory file under the program's addresses, with the protections of the start.
fn map_program_view(shared: &Layout, file: i32, rank: u32) {
    for segment in shared.segments() {
        let own = segment.home == rank;
        let alone = mpi_job::ranks() == 1;
        let protection = if !own {
            libc::PROT_NONE
        } else if settings().verify && !alone && !shared.is_private(segment.page) {
            libc::PROT_READ
        } else {
            libc::PROT_READ | libc::PROT_WRITE
        };
        // The program's variables are replaced where they are; everything else must be free.
        let place = if shared.is_global(segment.page) {
            libc::MAP_FIXED
        } else {
            libc::MAP_FIXED_NOREPLACE
        };
        let bytes = segment.pages as usize * PAGE;
        if bytes == 0 {
            continue;
        }
        // SAFETY: global segments hold nothing but the program's shared variables, whose values rank 0
        // has copied; other segments replace nothing.
        let mapped = unsafe {
            kernel::mmap(
                segment.address as *mut c_void,
                bytes,
                protection,
                libc::MAP_SHARED | libc::MAP_NORESERVE | place,
                file,
                (segment.page as usize * PAGE) as i64,
            )
        };
        if mapped as usize != segment.address {
            no_address_space(bytes, &std::io::Error::last_os_error());
        }
    }
}

/// Maps the memory files of the ranks on this node. Collective.
fn map_peers(shared: &Layout, file: i32, own: View, several_nodes: bool) -> Vec<Peer> {
    let (rank, ranks) = (mpi_job::rank(), mpi_job::ranks());
    // A word that a rank can only read in the right file.
    let token_at = layout::control_offset(shared) + control_area::TOKEN;
    let token =
        std::process::id() as u64 ^ (build_id::of_program() << 32) ^ (u64::from(rank) << 48);
    own.write(token_at, &token.to_le_bytes());
    let host = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let host = agree::hash(host);
    let node = |of: u32| {
        settings()
            .ranks_per_node
            .map_or(0, |per_node| of / per_node)
    };
    let (process, parent) = process::own();
    let mine = [host, process as u64, file as u64, token, parent as u64];
    let all = mpi_job::gathered(&mine);
    process::adopt(all[1] as i32, all[4] as i32);
    let peers: Vec<Peer> = (0..ranks)
        .map(|peer| {
            let theirs = &all[mine.len() * peer as usize..][..mine.len()];
            if peer == rank {
                return Peer::Mapped(own);
            }
            if theirs[0] != host || node(peer) != node(rank) {
                return Peer::Remote;
            }
            let opened = open_file_of(theirs[1], theirs[2]).and_then(|file| {
                let view = View::map(file.as_raw_fd(), layout::file_bytes(shared))
                    .unwrap_or_else(|error| no_address_space(layout::file_bytes(shared), &error));
                let mut seen = [0; 8];
                view.read(token_at, &mut seen);
                (u64::from_le_bytes(seen) == theirs[3]).then_some(view)
            });
            opened.map_or(Peer::Remote, Peer::Mapped)
        })
        .collect();
    if !several_nodes && peers.iter().any(|peer| matches!(peer, Peer::Remote)) {
        report::fatal(
            "a rank cannot open the memory of another on its node (different containers?): set OKL_RANKS_PER_NODE=1",
        );
    }
    let first_here = peers.iter().find_map(|peer| match peer {
        Peer::Mapped(view) => Some(*view),
        Peer::Remote => None,
    });
    let first_here = first_here.expect("this rank's own memory is mapped");
    // SAFETY: a word of a file of zeros, which stays mapped.
    unsafe {
        let at = layout::control_offset(shared) + control_area::LAST_WORDS;
        report::share_last_words(first_here.at(at).cast());
    }
    mpi_job::barrier();
    share_console(all[3], &peers);
    peers
}

/// The node of each rank: the first rank whose memory is mapped there. Collective.
fn number_nodes(peers: &[Peer]) -> Vec<u32> {
    let first = peers
        .iter()
        .position(|peer| matches!(peer, Peer::Mapped(_)));
    let all = mpi_job::gathered(&[first.unwrap_or(0) as u64]);
    all.into_iter().map(|first| first as u32).collect()
}

fn open_file_of(process: u64, descriptor: u64) -> Option<std::fs::File> {
    std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(format!("/proc/{process}/fd/{descriptor}"))
        .ok()
}

/// Makes every rank's standard output rank 0's. Collective.
fn share_console(token: u64, peers: &[Peer]) {
    let near = matches!(peers[0], Peer::Mapped(_));
    let takers: Vec<u32> = {
        let all = mpi_job::gathered(&[u64::from(near)]);
        (1..)
            .zip(&all[1..])
            .filter(|(_, near)| **near != 0)
            .map(|(rank, _)| rank)
            .collect()
    };
    console::note_sharing(token, takers.len(), near && mpi_job::rank() != 0);
    let socket = console::Handover::new(token, mpi_job::rank() == 0 && !takers.is_empty());
    mpi_job::barrier();
    if mpi_job::rank() == 0 {
        socket.give(takers.len());
    } else if near {
        socket.take();
    } else {
        console::collect();
    }
}

/// Rank 0, on the shared stack: constructors, `main`, exit.
extern "C" fn run_program() {
    let entry = ENTRY.with(Option::take).expect("okl_mpi_main stored it");
    // SAFETY: what `main` got; regions read arguments, so they move to shared memory.
    let (argv, envp) = unsafe { (copy_strings(entry.argv), copy_strings(entry.envp)) };
    // SAFETY: `environ` now names the copies, as `setenv` expects of it.
    unsafe { variables::give_program(envp) };
    type Main = extern "C" fn(i32, *mut *mut c_char, *mut *mut c_char) -> i32;
    for constructor in in_order(program_graph::Module::constructors) {
        // SAFETY: the constructors of the program, called as the C library calls them.
        let run: Main = unsafe { std::mem::transmute(constructor.function) };
        run(entry.argc, argv, envp);
    }
    // SAFETY: the user's `main`; a C function may be called with more arguments than it takes.
    let main: Main = unsafe { std::mem::transmute(entry.user_main) };
    let status = main(entry.argc, argv, envp);
    // SAFETY: ends the program as returning from `main` does.
    unsafe { libc::exit(status) }
}

/// Constructors or destructors of all modules: libraries first, by priority within each.
fn in_order(
    list: impl Fn(program_graph::Module) -> &'static [ConstructorEntry],
) -> Vec<ConstructorEntry> {
    let modules = program_graph::modules();
    let mut objects: Vec<usize> = Vec::new();
    for module in &modules {
        if !objects.contains(&module.dso()) {
            objects.push(module.dso());
        }
    }
    let mut ordered = Vec::new();
    for object in objects {
        let mut own: Vec<ConstructorEntry> = modules
            .iter()
            .filter(|module| module.dso() == object)
            .flat_map(|&module| list(module))
            .copied()
            .collect();
        own.sort_by_key(|entry| entry.priority);
        ordered.extend(own);
    }
    ordered
}

/// Copies a null-terminated array of strings into memory that program code may own.
///
/// # Safety
/// `strings` is such an array.
unsafe fn copy_strings(strings: *mut *mut c_char) -> *mut *mut c_char {
    // SAFETY: the caller's promise; `strdup` and `malloc` are called from program code's stack.
    unsafe {
        let mut count = 0;
        while !(*strings.add(count)).is_null() {
            count += 1;
        }
        let copy: *mut *mut c_char = libc::malloc((count + 1) * size_of::<*mut c_char>()).cast();
        for index in 0..count {
            *copy.add(index) = libc::strdup(*strings.add(index));
        }
        *copy.add(count) = std::ptr::null_mut();
        copy
    }
}

/// Ranks other than 0: regions until the program ends.
extern "C" fn serve() {
    sync::serve_forks();
    finish();
    // SAFETY: ends the process without the program's exit handlers, which are rank 0's.
    unsafe { libc::_exit(0) }
}

/// The process exits, after the program's own exit handlers.
extern "C" fn at_exit(status: i32, _: *mut c_void) {
    if mpi_job::rank() != 0 || region::is_distributed() {
        console::flush();
        mpi_job::abort(status);
    }
    for destructor in in_order(program_graph::Module::destructors)
        .into_iter()
        .rev()
    {
        // SAFETY: the destructors of the program, called as the C library calls them.
        let run: extern "C" fn() = unsafe { std::mem::transmute(destructor.function) };
        run();
    }
    console::flush();
    // In a region of this rank's threads, which run on.
    if turns::are_several() {
        mpi_job::abort(status);
    }
    sync::end_threads();
    // Afterwards no rank is left from which a page of this stack could be fetched.
    sync::make_frames_writable(stack::pointer());
    sync::quit();
    finish();
}

/// What was collected, then the end of MPI. Collective.
fn finish() {
    let asked = observe::stop();
    if asked & settings::asked::STATS != 0 {
        stats::tell();
    }
    devices::end();
    observe::finish(asked);
    mpi_job::barrier();
    program::stop();
    // MPI reads the environment as it ends, when pages of other ranks can no longer be fetched.
    variables::take_from_program();
    memory::coherence(|coherence| coherence.machine.stop());
    mpi_job::finalize();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_0_has_room_for_the_memory_of_its_machine() {
        for memory in [16, 64, 256].map(|gib| gib << 30) {
            for ranks_here in [1, 2, 8, 32, 64, 128] {
                for nodes in [1, 2, 8] {
                    // Of more no process could map all.
                    if ranks_here == 128 && nodes > 1 {
                        continue;
                    }
                    let ranks = ranks_here * nodes;
                    let (first, arena) = arenas(memory, ranks, ranks_here);
                    assert!(first >= memory, "{memory} on {ranks}: {first}");
                    assert!(arena >= ARENA_LEAST_OF_MANY);
                    let all = first + arena * (ranks - 1);
                    assert!(all <= ARENAS_MOST && all * (ranks_here + 1) <= VIEWS_MOST);
                }
            }
        }
    }
}
