//! Fork, barrier and join: the points at which ranks exchange notices.
//!
//! Guarantee: between two synchronisations no rank's copy of a page changes but through its own
//! accesses, locks and atomics. A fork carries rank 0's notices, the captured values and the hottest
//! pages in one broadcast; every other synchronisation is one all-gather, with a second for notices
//! that do not fit the header, one for declarations of sections that are not like earlier ones, and a
//! barrier where changed bytes travel. Between nodes those without notices cost less: [`brief`].

pub(crate) mod brief;
mod news;

use std::ffi::{CStr, c_void};

use brief::Summary;
use news::{LISTS, News, UPDATES};
use okl_abi::{RegionDescriptor, region_flags};

use crate::{
    api::Icv, cancel, cell::ProgramCell, console, doacross, files, float_environment, fortran,
    interpose::exit, interpose::variables, layout, locale, memory, memory::coherence, mpi_job,
    observe, observe::Event, observe::Place, ordered, program, program_graph, report, sections,
    stack, stats, stream_format, tasks, team, threads, threads::Meeting, verify,
};
use okl_coherence::{PAGE, Page, Phase, geometry::signature::Signature};

/// Why a rank synchronises. All members of a team must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
enum Kind {
    Barrier = 1,
    Join = 2,
    /// A rank outside the team takes part in the exchange.
    Passive = 3,
    /// The barriers around `copyprivate`.
    Copyprivate = 4,
}

/// Words of a header: kind, payload, what stands for the rank's declared sections and the number of words
/// that describe them, the same for what it copied from other nodes, more about the sections, list lengths,
/// then as many words of the lists as fit.
const HEADER: usize = 38;
const HEADER_DECLARED: usize = 2;
const HEADER_DECLARATIONS: usize = 4;
const HEADER_COPIED: usize = 5;
const HEADER_COPIES: usize = 7;
/// Whether pages of the rank enter section mode, whether rows that it accesses lie apart, and whether its
/// signature is without claims.
const HEADER_FLAGS: usize = 8;
const ENTERS: u64 = 1;
const APART: u64 = 2;
const OMITS: u64 = 4;
/// How many of the words that describe sections are claims.
const HEADER_CLAIMS: usize = 9;
const HEADER_LENGTHS: usize = 10;
const HEADER_RUNS: usize = HEADER_LENGTHS + LISTS;

/// Words of a fork's message: kind and team size, region, numbers of values and of pages that follow, lists'
/// lengths, and what a thread inherits. Then come the captured values, the lists, and the carried pages.
const FORK_LENGTHS: usize = 3;
const FORK_FLOAT: usize = FORK_LENGTHS + LISTS;
/// Whether the name of a new locale follows.
const FORK_LOCALE: usize = FORK_FLOAT + 1;
const FORK_STREAMS: usize = FORK_LOCALE + 1;
const FORK_ICV: usize = FORK_STREAMS + stream_format::WORDS;
const FORK_BODY: usize = FORK_ICV + Icv::WORDS;
const FORK_REGION: u64 = 1;
const FORK_QUIT: u64 = 2;
/// A region, before which ranks take rank 0's standard output again.
const FORK_REGION_AND_OUTPUT: u64 = 3;

/// Most pages that travel with a fork.
const CARRIED: usize = 8;

/// The headers of the last synchronisation, kept for their memory.
static HEADERS: ProgramCell<Vec<u64>> = ProgramCell::new(Vec::new());

/// Takes this rank's blocks out of what a rank gave back.
fn take_back(returned: &[u64]) {
    if !returned.is_empty() {
        program::heap(|heap| heap.take_back(returned));
    }
}

/// Synchronises all ranks. The payloads of all, in rank order, and whether the whole team has joined.
fn synchronise(kind: Kind, payload: u64) -> (Vec<u64>, bool) {
    console::flush();
    stats::count(|counts| counts.synchronisations += 1);
    verify::exchange_changes();
    coherence(|coherence| coherence.combine());
    let ranks = mpi_job::ranks() as usize;
    let (declared, declarations, flags, (copied, copies)) = coherence(|coherence| {
        let signature = coherence.declared_signature();
        (
            signature,
            coherence.declarations_length(),
            u64::from(coherence.has_entering_pages()) * ENTERS
                + u64::from(coherence.omits_claims()) * OMITS,
            coherence.copied(),
        )
    });
    let mut header = [0; HEADER];
    header[0] = kind as u64;
    header[1] = payload;
    header[HEADER_DECLARED..HEADER_DECLARATIONS].copy_from_slice(&declared.to_words());
    header[HEADER_DECLARATIONS] = declarations.0 as u64;
    header[HEADER_CLAIMS] = declarations.1 as u64;
    header[HEADER_COPIED..HEADER_COPIES].copy_from_slice(&copied.to_words());
    header[HEADER_COPIES] = copies as u64;
    header[HEADER_FLAGS] = flags + u64::from(sections::take_rows_are_apart()) * APART;
    // At the end of a region updates can wait for the next fork, unless it turns out not to be the end.
    let is_brief = brief::is_expected();
    brief::arrive(is_brief);
    let mut news = match is_brief && kind == Kind::Join {
        true => News::without_updates(),
        false => News::collect(Phase::Parallel),
    };
    if is_brief {
        let (_, lengths) = news.flatten();
        header[HEADER_LENGTHS..HEADER_RUNS].copy_from_slice(&lengths);
        let all = brief::agree(summary(mpi_job::rank() as usize, &header));
        if all.is_all() {
            brief::note(false);
            all.apply();
            if !all.is_join() {
                sections::begin_pushes(None);
            }
            return (Vec::new(), all.is_join());
        }
        if kind == Kind::Join {
            news.add_updates(Phase::Parallel);
        }
    }
    let (runs, lengths) = news.flatten();
    header[HEADER_LENGTHS..HEADER_RUNS].copy_from_slice(&lengths);
    let inline = runs.len().min(HEADER - HEADER_RUNS);
    header[HEADER_RUNS..HEADER_RUNS + inline].copy_from_slice(&runs[..inline]);
    let mut headers = HEADERS.with(std::mem::take);
    headers.resize(HEADER * ranks, 0);
    observe::during(
        || Event::Waiting,
        || mpi_job::all_gather(&header, &mut headers),
    );
    stats::count(|counts| counts.sent.control(ranks - 1, 8 * HEADER));
    if mpi_job::has_tree() {
        let summaries = headers.chunks(HEADER).enumerate();
        let all = summaries
            .map(|(rank, header)| summary(rank, header))
            .reduce(Summary::and);
        brief::note(!all.expect("there are ranks").is_all());
    }

    let totals: Vec<usize> = headers
        .chunks(HEADER)
        .map(|header| header[HEADER_LENGTHS..HEADER_RUNS].iter().sum::<u64>() as usize)
        .collect();
    let news: Vec<News> = if totals.iter().any(|&total| total > HEADER - HEADER_RUNS) {
        let all = exchange_lists(&runs, &totals);
        headers
            .chunks(HEADER)
            .zip(cut(&all, &totals))
            .map(|(header, lists)| News::unflatten(lists, &header[HEADER_LENGTHS..HEADER_RUNS]))
            .collect()
    } else {
        headers
            .chunks(HEADER)
            .map(|header| {
                News::unflatten(&header[HEADER_RUNS..], &header[HEADER_LENGTHS..HEADER_RUNS])
            })
            .collect()
    };
    check_agreement(&headers, kind);
    stream_format::merge(news.iter().map(|news| &news.formats[..]));
    let mut notices = Vec::with_capacity(ranks);
    let mut updates = Vec::new();
    for mut news in news {
        updates.append(&mut news.updates);
        take_back(&news.returned);
        sections::learn_large_blocks(&news.allocated);
        if mpi_job::rank() == 0 {
            exit::register_for_others(&news.destructors);
        }
        notices.push(news.notices);
    }
    if coherence(|coherence| coherence.apply(&notices, Phase::Parallel)) {
        wait_for_all();
    }
    coherence(|coherence| coherence.apply_updates(&updates));
    learn_copies(&headers);
    apply_declared(&headers);
    let payloads = headers.chunks(HEADER).map(|header| header[1]).collect();
    let joined = headers
        .chunks(HEADER)
        .all(|header| header[0] == Kind::Join as u64 || header[0] == Kind::Passive as u64);
    if !joined {
        sections::begin_pushes(None);
    }
    HEADERS.with(|slot| *slot = headers);
    (payloads, joined)
}

/// Waits until all ranks are here: what they sent to each other's memory has arrived.
fn wait_for_all() {
    // A barrier of MPI takes about so many rounds.
    let rounds = mpi_job::ranks().next_power_of_two().ilog2();
    stats::count(|counts| counts.sent.control(rounds as usize, 0));
    mpi_job::barrier();
}

/// What a header comes to where there is no more to it.
fn summary(rank: usize, header: &[u64]) -> Summary {
    let signature = |at: usize| Signature::from_words([header[at], header[at + 1]]);
    let can_wait = |list: usize| list == UPDATES && header[0] == Kind::Join as u64;
    let has_news = (0..LISTS).any(|list| header[HEADER_LENGTHS + list] != 0 && !can_wait(list))
        || header[HEADER_FLAGS] & APART != 0
        || sections::are_too_many(header[HEADER_DECLARATIONS] as usize);
    let signatures = [signature(HEADER_DECLARED), signature(HEADER_COPIED)];
    Summary::of_rank(rank, header[0], has_news, signatures)
}

/// A field of every header.
fn lengths(headers: &[u64], field: usize) -> Vec<usize> {
    let headers = headers.chunks(HEADER);
    headers.map(|header| header[field] as usize).collect()
}

fn signatures(headers: &[u64], field: usize) -> Vec<Signature> {
    let headers = headers.chunks(HEADER);
    headers
        .map(|header| Signature::from_words([header[field], header[field + 1]]))
        .collect()
}

/// Hands lists of different lengths round. Those of all ranks, after one another.
fn exchange_lists(mine: &[u64], lengths: &[usize]) -> Vec<u64> {
    stats::count(|counts| counts.sent.control(lengths.len() - 1, 8 * mine.len()));
    mpi_job::all_gather_parts(mine, lengths)
}

fn cut<'a>(mut all: &'a [u64], lengths: &[usize]) -> Vec<&'a [u64]> {
    let lengths = lengths.iter();
    lengths
        .map(|&length| {
            let (own, others) = all.split_at(length);
            all = others;
            own
        })
        .collect()
}

/// Learns what the ranks copied from other nodes since the last synchronisation.
fn learn_copies(headers: &[u64]) {
    let lengths = lengths(headers, HEADER_COPIES);
    let copied = Signature::of_all(signatures(headers, HEADER_COPIED));
    if coherence(|coherence| coherence.note_copied(copied, &lengths)) {
        let mine = coherence(|coherence| coherence.copies());
        let all = exchange_lists(&mine, &lengths);
        coherence(|coherence| coherence.learn_copies(copied, &cut(&all, &lengths)));
    }
}

/// Applies what all ranks declared since the last synchronisation.
fn apply_declared(headers: &[u64]) {
    let claims = lengths(headers, HEADER_CLAIMS);
    let mut lengths = lengths(headers, HEADER_DECLARATIONS);
    let unclaimed = |lengths: &[usize]| -> Vec<usize> {
        let both = lengths.iter().zip(&claims);
        both.map(|(length, claims)| length - claims).collect()
    };
    sections::limit_declarations(&unclaimed(&lengths));
    let any = |flag| {
        let mut headers = headers.chunks(HEADER);
        headers.any(|header| header[HEADER_FLAGS] & flag != 0)
    };
    if any(APART) {
        sections::track_pages();
    }
    let declared = Signature::of_all(signatures(headers, HEADER_DECLARED));
    if coherence(|coherence| coherence.apply_declared(declared)) {
        return;
    }
    let enters = any(ENTERS);
    let is_too_much = |words: &[usize]| words.iter().copied().any(sections::are_too_many);
    let sends = is_too_much(&claims) || !enters && is_too_much(&lengths);
    let are_omitted = headers
        .chunks(HEADER)
        .all(|header| header[HEADER_CLAIMS] == 0 || header[HEADER_FLAGS] & OMITS != 0);
    let may_do_without_claims =
        sends && !enters && are_omitted && !is_too_much(&unclaimed(&lengths));
    let mut mine = coherence(|coherence| coherence.declarations());
    if sends {
        lengths = match enters || may_do_without_claims {
            true => unclaimed(&lengths),
            false => vec![0; lengths.len()],
        };
        mine.truncate(lengths[mpi_job::rank() as usize]);
    }
    let all = match lengths.iter().all(|&length| length == 0) {
        true => Vec::new(),
        false => exchange_lists(&mine, &lengths),
    };
    let all = cut(&all, &lengths);
    let does_without_claims =
        may_do_without_claims && !coherence(|coherence| coherence.claims_would_matter(&all));
    if sends && !does_without_claims {
        coherence(|coherence| coherence.send_to_owners(&all));
        return wait_for_all();
    }
    coherence(|coherence| coherence.apply_declarations(&all, any(OMITS)));
    if coherence(|coherence| coherence.deals_out_pieces()) {
        sections::declare_nothing();
        // There may be any number of synchronisations until it ends.
        if sections::stop_declaring() {
            wait_for_all();
        }
    }
}

/// Ends the job where the team's threads wait at different constructs. (Without an exchange of headers they
/// wait alike: [`Summary::is_all`].)
fn check_agreement(headers: &[u64], mine: Kind) {
    if mine == Kind::Passive {
        return;
    }
    for (rank, header) in headers.chunks(HEADER).enumerate() {
        let differs = header[0] != mine as u64 && header[0] != Kind::Passive as u64;
        // The threads of a cancelled region go to its end from where they are.
        if differs && !cancel::region_is_cancelled() {
            let name = |kind: u64| match kind {
                kind if kind == Kind::Join as u64 => "the end of the region",
                kind if kind == Kind::Copyprivate as u64 => "a single construct with copyprivate",
                _ => "a barrier",
            };
            report::fatal(&format!(
                "the threads of {} wait at different places: this one at {}, thread \
                 {rank} at {}; OpenMP demands that all threads of a team meet the same barriers",
                team::region(),
                name(mine as u64),
                name(header[0]),
            ));
        }
    }
}

/// `__kmpc_barrier`.
pub(crate) fn okl_mpi_kmpc_barrier(ident: *mut c_void, _gtid: i32) {
    threads::together(Meeting::Barrier, |_| {
        tasks::complete_all();
        if team::is_parallel() {
            let _span = observe::span(|| Event::Barrier(Place::of_construct(ident)));
            stats::count(|counts| counts.barriers += 1);
            synchronise(Kind::Barrier, 0);
            coherence(|coherence| coherence.begin_next_interval(ident as u64));
            cancel::pass_barrier();
        }
    });
}

/// `__kmpc_cancel_barrier`: 1 where the region is cancelled.
pub(crate) fn okl_mpi_kmpc_cancel_barrier(ident: *mut c_void, gtid: i32) -> i32 {
    okl_mpi_kmpc_barrier(ident, gtid);
    i32::from(cancel::region_is_cancelled())
}

/// `__kmpc_copyprivate`: `copy(own list, the list of the thread that ran the single)`.
pub(crate) fn okl_mpi_kmpc_copyprivate(
    ident: *mut c_void,
    _gtid: i32,
    _size: i64,
    data: *mut c_void,
    copy: *mut c_void,
    did_it: i32,
) {
    if !team::is_parallel() {
        return;
    }
    let _span = observe::span(|| Event::Barrier(Place::of_construct(ident)));
    let payload = if did_it != 0 { data as u64 } else { 0 };
    let (payloads, _) = synchronise(Kind::Copyprivate, payload);
    let source = payloads.iter().copied().find(|&list| list != 0);
    if let Some(source) = source
        && did_it == 0
    {
        // SAFETY: the compiler's copy function, called as libomp calls it. It reads the other rank's
        // private memory through faults.
        unsafe {
            let copy: extern "C" fn(*mut c_void, *mut c_void) = std::mem::transmute(copy);
            copy(data, source as *mut c_void);
        }
    }
    synchronise(Kind::Copyprivate, 0);
}

/// A region as it reaches every rank. Null is the one in which the threads end.
struct Fork {
    region: *mut RegionDescriptor,
    threads: i32,
    args: Vec<u64>,
    icv: Icv,
}

static FORK_SLOT: ProgramCell<Option<Fork>> = ProgramCell::new(None);

/// Where rank 0's frames on the shared stack are while it runs a region.
static FRAME: ProgramCell<usize> = ProgramCell::new(0);

/// `__kmpc_fork_call`.
pub(crate) fn okl_mpi_fork(region: *mut c_void, args: *mut c_void, count: i64) {
    let region: *mut RegionDescriptor = region.cast();
    if !mpi_job::has_started() {
        mpi_job::not_started(&format!("{}: this region", location_of(region)));
    }
    let size = team::take_team_size(threads::most_in(region));
    let threads = size.threads;
    // SAFETY: the pass emits the descriptor, and `count` captured values.
    let args: Vec<u64> =
        unsafe { std::slice::from_raw_parts(args.cast::<u64>(), count as usize) }.to_vec();
    // A nested team, and one of which the compiler or the run time has already said why it has one thread, is
    // never as large as asked.
    let is_outer = team::level() == 0 && !is_team_of_one(region);
    if is_outer && size.most < size.asked {
        threads::warn_of_few(region, location_of(region), size);
    }
    let alone = threads == 1 || !is_outer || stream_format::declines(location_of(region));
    if alone {
        sections::okl_mpi_serial_code();
        let _region = observe::span(|| Event::region(location_of(region), 0, 1));
        team::enter_one(Some(location_of(region)));
        invoke(region, args);
        tasks::complete_all();
        team::leave();
        return;
    }
    if threads < size.most {
        threads::warn_of_one(region, location_of(region), threads, size.most);
    }
    stats::count(|counts| counts.forks += 1);
    stats::regions::enter();
    FORK_SLOT.with(|slot| {
        *slot = Some(Fork {
            region,
            threads,
            args,
            icv: team::icv(|icv| *icv),
        })
    });
    variables::follow();
    FRAME.with(|frame| *frame = stack::pointer());
    stack::call_on(stack::region_stack_top(), fork_on_region_stack);
    // A region that declares all it accesses writes to no unit.
    // SAFETY: a descriptor that the pass emitted.
    if unsafe { (*region).flags } & region_flags::DECLARES_ALL == 0 {
        fortran::deliver();
    }
}

/// Rank 0, as the program ends: a region in which the threads end, if that is to be noticed.
pub(crate) fn end_threads() {
    if !exit::other_threads_have_destructors() {
        return;
    }
    FORK_SLOT.with(|slot| {
        *slot = Some(Fork {
            region: std::ptr::null_mut(),
            threads: mpi_job::ranks() as i32,
            args: Vec::new(),
            icv: team::icv(|icv| *icv),
        })
    });
    FRAME.with(|frame| *frame = stack::pointer());
    stack::call_on(stack::region_stack_top(), fork_on_region_stack);
}

/// The body of that region: one thread after the other, so that each sees what those before it did.
fn end_in_turn() {
    for rank in 1..mpi_job::ranks() {
        if rank == mpi_job::rank() {
            exit::end_thread();
        }
        okl_mpi_kmpc_barrier(std::ptr::null_mut(), 0);
    }
}

/// `__kmpc_fork_teams`: the initial thread runs the one team of the league.
pub(crate) fn okl_mpi_fork_teams(region: *mut c_void, args: *mut c_void, count: i64) {
    // SAFETY: as in `okl_mpi_fork`.
    let args = unsafe { std::slice::from_raw_parts(args.cast::<u64>(), count as usize) }.to_vec();
    sections::okl_mpi_serial_code();
    let outer = team::icv(|icv| *icv);
    team::icv(|icv| {
        let clause = std::mem::take(&mut icv.pushed_team_threads);
        let limit = if clause > 0 {
            clause
        } else {
            icv.teams_thread_limit
        };
        if limit > 0 {
            icv.thread_limit = limit;
        }
    });
    invoke(region.cast(), args);
    tasks::complete_all();
    team::icv(|icv| {
        *icv = Icv {
            pushed_team_threads: 0,
            ..outer
        }
    });
}

/// Whether the pass or the whole-program call graph declined the region.
fn is_team_of_one(region: *mut RegionDescriptor) -> bool {
    const DISTRIBUTE: i64 = 1;
    const ONE: i64 = 2;
    // SAFETY: descriptors are private to the process and used by the program's thread only.
    let region = unsafe { &mut *region };
    if region.decision == 0 {
        let declined =
            region.flags & region_flags::TEAM_OF_ONE != 0 || program_graph::declines(region);
        region.decision = if declined { ONE } else { DISTRIBUTE };
    }
    region.decision == ONE
}

fn location_of(region: *const RegionDescriptor) -> &'static str {
    if region.is_null() {
        return "the end of the program";
    }
    // SAFETY: the pass emits a NUL-terminated constant.
    unsafe { CStr::from_ptr((*region).location.cast()) }
        .to_str()
        .unwrap_or("an unnamed place")
}

/// Calls the region's body with this thread's number and `args`.
pub(crate) fn invoke(region: *const RegionDescriptor, mut args: Vec<u64>) {
    if region.is_null() {
        return end_in_turn();
    }
    let mut gtid = mpi_job::rank() as i32;
    let mut bound = team::thread_num();
    // SAFETY: the trampoline the pass emits, with the arguments it stored.
    unsafe {
        let body: extern "C" fn(*mut i32, *mut i32, *mut u64) =
            std::mem::transmute((*region).invoke);
        body(&mut gtid, &mut bound, args.as_mut_ptr());
    }
}

/// Rank 0: sends the fork and takes part in it.
extern "C" fn fork_on_region_stack() {
    console::flush();
    let fork = FORK_SLOT
        .with(Option::take)
        .expect("okl_mpi_fork stored it");
    sections::end_serial_code(fork.region);
    ordered::restart();
    doacross::restart();
    cancel::restart();
    // Before the news, which are what other ranks do not know by other ways.
    let streams = stream_format::agree();
    let carried = pages_to_carry(&fork.args);
    coherence(|coherence| coherence.make_room_for_updates(carried.len()));
    let news = News::collect(Phase::Serial);
    let (runs, lengths) = news.flatten();
    let mut message = vec![0; FORK_BODY];
    let output = console::offer();
    let kind = match output {
        Some(_) => FORK_REGION_AND_OUTPUT,
        None => FORK_REGION,
    };
    message[0] = kind | (fork.threads as u64) << 32;
    message[1] = fork.region as u64;
    message[2] = fork.args.len() as u64 | (carried.len() as u64) << 32;
    message[FORK_LENGTHS..FORK_FLOAT].copy_from_slice(&lengths);
    message[FORK_FLOAT] = float_environment::current();
    let mut new_locale = locale::changed();
    message[FORK_LOCALE] = new_locale.is_some().into();
    message[FORK_STREAMS..FORK_ICV].copy_from_slice(&streams);
    message[FORK_ICV..FORK_BODY].copy_from_slice(&fork.icv.to_words());
    message.extend(&fork.args);
    message.extend(runs);
    message.extend(carried.iter().map(|&page| u64::from(page)));
    let words = message.len();
    send_fork(message);
    let location = location_of(fork.region);
    observe::tell(|| Event::fork(location, fork.threads, carried.len(), 8 * words));
    if let Some(output) = output {
        console::give_again(output);
    }
    if let Some(name) = &mut new_locale {
        mpi_job::broadcast_bytes(name);
    }
    sections::learn_large_blocks(&news.allocated);
    apply_fork(&news, &carried);
    run_region(fork);
    files::end_region();
    make_frames_writable(FRAME.with(|frame| *frame));
}

/// On rank 0: sends a fork's message.
fn send_fork(mut words: Vec<u64>) {
    if mpi_job::has_tree() {
        return brief::send_fork(&words);
    }
    let others = mpi_job::ranks() as usize - 1;
    stats::count(|counts| counts.sent.control(others, 8 * words.len()));
    mpi_job::broadcast_list(&mut words);
}

/// On the other ranks: a fork's message.
fn receive_fork() -> Vec<u64> {
    if mpi_job::has_tree() {
        return brief::receive_fork();
    }
    let mut words = Vec::new();
    mpi_job::broadcast_list(&mut words);
    words
}

/// The pages that other ranks will read first: those of captured stack variables, and the few tracked
/// pages that serial code wrote.
fn pages_to_carry(args: &[u64]) -> Vec<Page> {
    coherence(|coherence| {
        let layout = layout::layout();
        let captured = args
            .iter()
            .filter_map(|&arg| Some((layout.page_of(arg as usize)?, arg as usize)))
            .filter(|&(page, _)| layout.is_stack(page) || layout.is_global(page))
            .filter(|&(page, arg)| coherence.can_travel(page) && !sections::is_large(arg))
            .map(|(page, _)| page);
        let hot = coherence.dirty_pages();
        let hot: &[Page] = if hot.len() <= CARRIED / 2 { hot } else { &[] };
        let mut pages: Vec<Page> = Vec::new();
        for page in captured.chain(hot.iter().copied()) {
            if pages.len() < CARRIED && !pages.contains(&page) && coherence.can_travel(page) {
                pages.push(page);
            }
        }
        pages
    })
}

/// Applies rank 0's notices and updates, and hands the carried pages round.
fn apply_fork(news: &News, carried: &[Page]) {
    let changes_under_way = coherence(|coherence| {
        let notices = std::slice::from_ref(&news.notices);
        let changes_under_way = coherence.apply(notices, Phase::Serial);
        coherence.apply_updates(&news.updates);
        changes_under_way
    });
    assert!(!changes_under_way, "serial code has one writer");
    if carried.is_empty() {
        return;
    }
    let mut contents = vec![0; carried.len() * PAGE];
    if mpi_job::rank() == 0 {
        coherence(|coherence| {
            for (&page, slot) in carried.iter().zip(contents.chunks_mut(PAGE)) {
                slot.copy_from_slice(coherence.contents(page));
            }
        });
    }
    mpi_job::broadcast_bytes(&mut contents);
    if mpi_job::rank() == 0 {
        stats::count(|counts| {
            counts
                .sent
                .data(mpi_job::ranks() as usize - 1, contents.len())
        });
    }
    coherence(|coherence| {
        for (&page, contents) in carried.iter().zip(contents.chunks(PAGE)) {
            coherence.receive(page, contents.try_into().expect("a page"));
        }
        coherence.apply_pending();
    });
}

/// Runs this rank's part of a region, up to and including the join.
fn run_region(fork: Fork) {
    brief::enter_region(fork.region as u64);
    let region = fork.region;
    let location = location_of(region);
    let first = threads::first_in(fork.threads);
    let number = first.unwrap_or(fork.threads);
    let _region = observe::span(|| Event::region(location, number, fork.threads));
    if sections::enter_region(region, &fork.args, fork.threads) {
        wait_for_all();
    }
    sections::begin_pushes(Some((fork.threads, &fork.args)));
    if let Some(first) = first {
        cancel::enter_region();
        team::enter(first, fork.threads, location, fork.icv);
        let identity = Signature::START.with(region as u64);
        coherence(|coherence| coherence.begin_first_interval(identity));
        threads::begin(region, &fork.args, first, fork.threads, location, fork.icv);
        invoke(fork.region, fork.args);
        threads::end();
        tasks::complete_all();
        let _span = observe::span(|| Event::Join(location));
        while !synchronise(Kind::Join, 0).1 {}
        coherence(|coherence| coherence.end_intervals());
        team::leave();
    } else {
        let _span = observe::span(|| Event::Join(location));
        while !synchronise(Kind::Passive, 0).1 {}
    }
    sections::leave_region(region);
    stats::regions::leave(location);
    coherence(|coherence| coherence.restart_sequences());
}

/// Ranks other than 0: runs regions until rank 0 ends the program.
pub(crate) fn serve_forks() {
    loop {
        let message = observe::during(|| Event::Idle, receive_fork);
        let half = |word: u64| (word as u32 as usize, (word >> 32) as usize);
        let (kind, threads) = half(message[0]);
        if kind as u64 == FORK_QUIT {
            return;
        }
        stats::count(|counts| counts.forks += 1);
        stats::regions::enter();
        doacross::restart();
        let (args, carried) = half(message[2]);
        let lengths = &message[FORK_LENGTHS..FORK_FLOAT];
        float_environment::adopt(message[FORK_FLOAT]);
        stream_format::adopt(&message[FORK_STREAMS..FORK_ICV]);
        let icv = Icv::from_words(
            message[FORK_ICV..FORK_BODY]
                .try_into()
                .expect("all variables"),
        );
        let runs = lengths.iter().sum::<u64>() as usize;
        let mut body = message[FORK_BODY..].to_vec();
        assert_eq!(body.len(), args + runs + carried);
        let news = News::unflatten(&body[args..args + runs], lengths);
        take_back(&news.returned);
        sections::learn_large_blocks(&news.allocated);
        let carried: Vec<Page> = body[args + runs..]
            .iter()
            .map(|&page| page as Page)
            .collect();
        body.truncate(args);
        if kind as u64 == FORK_REGION_AND_OUTPUT {
            console::take_again();
        }
        if message[FORK_LOCALE] != 0 {
            let mut name = [0; locale::BYTES];
            mpi_job::broadcast_bytes(&mut name);
            locale::adopt(&name);
        }
        apply_fork(&news, &carried);
        let region = message[1] as *mut RegionDescriptor;
        run_region(Fork {
            region,
            threads: threads as i32,
            args: body,
            icv,
        });
    }
}

/// Rank 0: tells the others that the program has ended.
pub(crate) fn quit() {
    send_fork(vec![FORK_QUIT]);
}

/// Rank 0, before it returns to the shared stack: the frames there are written at once, and system
/// calls of serial code, which cannot fault, write near them.
pub(crate) fn make_frames_writable(frame: usize) {
    const BELOW: usize = 256 << 10;
    const ABOVE: usize = 8 << 10;
    let stack = layout::layout().stack();
    let first = (frame - BELOW).max(stack.address);
    let end = (frame + ABOVE).min(stack.end());
    // Usually nothing has changed since the last time.
    static WRITABLE: ProgramCell<(usize, usize, u64)> = ProgramCell::new((0, 0, 0));
    let protections = || coherence(|coherence| coherence.counts.protections);
    if WRITABLE.with(|last| (last.0, last.1) != (first, end) || last.2 != protections()) {
        memory::touch(first, end - first, true);
        WRITABLE.with(|last| *last = (first, end, protections()));
    }
}
