//! Declared sections: what the compiler found that a loop nest reads and writes.
//!
//! Here declarations come in from the program, in addresses; [`okl_coherence`] keeps
//! memory coherent by them. `entry` says what they mean in positions of the memory file, `rows`, `between` and `places`
//! what of them is known only when tables have been read; `stretches` is for code that declares nothing.

mod between;
mod entry;
mod places;
mod rows;
mod stretches;

use std::{
    ffi::c_void,
    sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU64, AtomicUsize,
        Ordering::{Acquire, Relaxed},
    },
};

use okl_abi::{DirectAccess, RegionDescriptor, SectionTable, region_flags, section_access};

use crate::{
    cell::ProgramCell, layout, marks, memory::coherence, mpi_job, names, objects, observe,
    observe::Event, program_graph, program_graph::text, program_stacks, region, report,
    settings::settings, summaries, turns,
};
use between::Numbers;
use entry::{
    Entry, declare, decode, decode_rows, entries, in_file, shapes_of, shared_parts,
    written_by_others,
};
use okl_coherence::geometry::declaration::{self, entry_list, value_count, value_list};
use okl_coherence::geometry::ranges::{Range, Ranges};
use okl_coherence::geometry::shape::Shape;
use okl_coherence::geometry::signature::Signature;
use okl_coherence::{Accesses, Change, Declared, Mode, PAGE, Page};
use rows::Behind;
pub(crate) use stretches::{
    begin_stretch_for, change_stretch, leave_nest, needs_stretch, nobody_marks, threads_have_met,
};

/// Whether declarations are taken: the region that runs declares all it accesses.
static DECLARING: AtomicBool = AtomicBool::new(false);

/// Whether what runs meanwhile declares nothing. Where a rank has several threads, one of them may run such code while
/// others are in the midst of what they have declared: pages are tracked from there on until all of them meet.
static IN_STRETCH: AtomicBool = AtomicBool::new(false);

/// Counts the regions that this rank has entered.
static REGIONS: AtomicU64 = AtomicU64::new(0);

/// With `OKL_VERIFY`: whether something has run since the last synchronisation that declares nothing.
static HAD_STRETCH: AtomicBool = AtomicBool::new(false);

/// On rank 0: from before a region that declares all it accesses until after it.
static HANDLERS_WAIT: AtomicBool = AtomicBool::new(false);

/// On rank 0: a region has ended, and pages are as it left them.
static BEFORE_SERIAL_CODE: AtomicBool = AtomicBool::new(false);

/// Then: a page, as its address by the size of a page, that is known not to be in section mode; or 0.
static HARMLESS_PAGE: AtomicUsize = AtomicUsize::new(0);

/// Since the last synchronisation the region accessed rows that lie apart.
static ROWS_ARE_APART: AtomicBool = AtomicBool::new(false);

/// The region that runs.
static REGION: AtomicPtr<RegionDescriptor> = AtomicPtr::new(std::ptr::null_mut());

/// What it accesses without a declaration.
static DIRECT: ProgramCell<Vec<Range>> = ProgramCell::new(Vec::new());

/// With `OKL_VERIFY`, in a region that declares all it accesses: the writes that it declared since the last
/// synchronisation.
static RECORD: ProgramCell<Option<Vec<Range>>> = ProgramCell::new(None);

/// At a fork: how the region, of which each rank `has_one_thread` at most, accesses memory; `None` where every write is
/// tracked anyway. [`begin_declarations`] is to follow, when the ranks know.
pub(crate) fn enter_region(
    region: *mut RegionDescriptor,
    args: &[u64],
    has_one_thread: bool,
) -> Option<Accesses> {
    REGION.store(region, Relaxed);
    IN_STRETCH.store(false, Relaxed);
    REGIONS.fetch_add(1, Relaxed);
    stretches::begin_region();
    HAD_STRETCH.store(false, Relaxed);
    BEFORE_SERIAL_CODE.store(false, Relaxed);
    summaries::decide(region);
    let flags = flags_of(region);
    // SAFETY: the pass emits the descriptor, and `direct_count` constant entries. The runtime's own region
    // at the end of the program has no descriptor, and declares nothing.
    let direct: &[DirectAccess] = unsafe {
        match region.as_ref() {
            Some(region) if region.direct_count != 0 => {
                std::slice::from_raw_parts(region.direct.cast(), region.direct_count as usize)
            }
            _ => &[],
        }
    };
    // Threads of a rank declare by turns, and would wait for one that waits for a flag.
    let waits = flags & region_flags::FLAGS != 0;
    let declares_all = flags & region_flags::DECLARES_ALL != 0 && (has_one_thread || !waits);
    let mut undeclared = Vec::new();
    if declares_all {
        for one in direct {
            let object = match usize::try_from(one.argument) {
                Ok(argument) => args[argument] as usize,
                Err(_) => one.object as usize,
            };
            let start = object.wrapping_add_signed(one.offset as isize);
            undeclared.extend(in_file((start, start + one.size.max(1) as usize)));
        }
        undeclared.extend(summaries::objects(region).into_iter().filter_map(in_file));
    }
    let pages = undeclared
        .iter()
        .flat_map(|(start, end)| (start / PAGE as u64) as Page..=((end - 1) / PAGE as u64) as Page);
    let pages = pages.collect();
    DIRECT.with(|direct| *direct = undeclared);
    if settings().verify {
        DECLARING.store(declares_all, Relaxed);
        RECORD.with(|record| *record = declares_all.then(Vec::new));
        return None;
    }
    Some(match declares_all {
        true => Accesses::Declared {
            direct: pages,
            contributions: flags & region_flags::NO_ATOMICS == 0,
        },
        // Where it has locks or atomic accesses, pages that one rank has cost it nothing, and parts of pages that it
        // owns would go to their owners at each: NPB's FT is three times as fast.
        false => Accesses::Tracked {
            atomics: flags & region_flags::NO_ATOMICS == 0,
        },
    })
}

/// When the ranks have entered the region: declarations are taken from here on, if they are of use.
pub(crate) fn begin_declarations() {
    if !settings().verify {
        let region = REGION.load(Relaxed);
        let flags = flags_of(region);
        let is_declaring = coherence(|coherence| {
            if flags & region_flags::FLAGS != 0 {
                coherence.expect_flags();
            }
            if flags & region_flags::READS_ELSEWHERE != 0 {
                coherence.expect_undeclared_reads();
            }
            coherence.is_declaring()
        });
        DECLARING.store(is_declaring, Relaxed);
    }
}

/// What the region that runs accesses without a declaration.
fn direct() -> Ranges {
    DIRECT.with(|direct| Ranges::of(direct.clone()))
}

/// With `OKL_VERIFY`, at a synchronisation: ends the job where the region changed what it had not declared,
/// and no rank changed with an atomic operation (`atomic`).
pub(crate) fn check_changes(changes: &[Change], atomic: &Ranges) {
    let Some(declared) = RECORD.with(|record| Some(std::mem::take(record.as_mut()?))) else {
        return;
    };
    let declared = Ranges::of(declared).union(&marks::take(true));
    if HAD_STRETCH.swap(IN_STRETCH.load(Relaxed), Relaxed) {
        return;
    }
    let layout = layout::layout();
    let changed = changes
        .iter()
        .filter(|change| !layout.is_private(change.page))
        .map(|change| {
            let at = u64::from(change.page) * PAGE as u64;
            (at + u64::from(change.start), at + u64::from(change.end))
        });
    let undeclared = Ranges::of(changed.collect())
        .minus(&declared)
        .minus(&direct())
        .minus(atomic);
    if let Some((start, end)) = undeclared.iter().next() {
        let address = layout.address_of((start / PAGE as u64) as Page) + start as usize % PAGE;
        report::fatal(&format!(
            "the parallel region at {} wrote {} bytes at {address:#x} ({}) that okl had not found it to write: \
             an error in okl, please report it",
            region::location(),
            end - start,
            program_graph::object_at(address),
        ));
    }
}

/// From its next execution on the region that runs declares nothing. On all ranks.
pub(crate) fn declare_nothing() {
    let sections = region_flags::DECLARES_ALL | region_flags::NO_ATOMICS;
    // SAFETY: a region runs; descriptors are writable and private to the process.
    unsafe { (*REGION.load(Relaxed)).flags &= !sections };
}

/// At a synchronisation, on all ranks: pages serve the region from here on.
pub(crate) fn stop_declaring() {
    DECLARING.store(false, Relaxed);
    IN_STRETCH.store(false, Relaxed);
}

/// In a region, where this rank ends the job: what it did not declare can be accessed.
pub(crate) fn prepare_for_exit() {
    if DECLARING.swap(false, Relaxed) {
        coherence(|coherence| coherence.prepare_for_exit());
    }
}

/// Whether this rank accessed, since the last synchronisation, rows that lie apart.
pub(crate) fn take_rows_are_apart() -> bool {
    ROWS_ARE_APART.swap(false, Relaxed)
}

/// From its next execution on the pages of the region that runs are tracked, as those of a region whose
/// accesses are not known. On all ranks.
pub(crate) fn track_pages() {
    // SAFETY: as above.
    unsafe {
        (*REGION.load(Relaxed)).flags &= !region_flags::DECLARES_ALL;
    }
}

/// After the last synchronisation of a region.
pub(crate) fn leave_region(region: *const RegionDescriptor) {
    DECLARING.store(false, Relaxed);
    IN_STRETCH.store(false, Relaxed);
    RECORD.with(|record| *record = None);
    coherence(|coherence| coherence.leave_region());
    if mpi_job::rank() == 0 {
        BEFORE_SERIAL_CODE.store(true, Relaxed);
        HARMLESS_PAGE.store(0, Relaxed);
        if flags_of(region) & region_flags::SERIAL_CODE_ANNOUNCED == 0 {
            okl_mpi_serial_code();
        }
        HANDLERS_WAIT.store(false, Relaxed);
    }
}

/// `okl_mpi_serial_code`: closes on rank 0 what is not wholly current there. Serial code that runs without
/// it, until the next region, touches none of that.
pub(crate) fn okl_mpi_serial_code() {
    // Most calls find nothing to do, on one rank all of them, in several threads.
    if BEFORE_SERIAL_CODE.load(Relaxed) && BEFORE_SERIAL_CODE.swap(false, Relaxed) {
        coherence(|coherence| coherence.close_undeclared());
    }
}

/// `okl_mpi_serial_access`: the same, where an access is not one that can be without it.
pub(crate) fn okl_mpi_serial_access(address: *mut c_void, bytes: i64, writes: i32) {
    if !BEFORE_SERIAL_CODE.load(Relaxed) {
        return;
    }
    let start = address as usize;
    let end = start.wrapping_add(bytes as usize);
    let page = start / PAGE;
    if page == HARMLESS_PAGE.load(Relaxed) && page == end.wrapping_sub(1) / PAGE {
        return;
    }
    // What the ranks do not share is not in section mode.
    let is_harmless = in_file((start, end)).is_none_or(|range| {
        coherence(|coherence| {
            if !coherence.is_in_section_mode(range) {
                HARMLESS_PAGE.store(page, Relaxed);
                return true;
            }
            coherence.may_access_unannounced(range, writes != 0)
        })
    });
    if !is_harmless {
        okl_mpi_serial_code();
    }
}

/// Whether the program's signal handlers have to wait: what declares all it accesses knows nothing of
/// theirs.
pub(crate) fn handlers_wait() -> bool {
    HANDLERS_WAIT.load(Relaxed) && !IN_STRETCH.load(Relaxed)
}

/// The flags of a region; none of the runtime's own region at the end of the program.
fn flags_of(region: *const RegionDescriptor) -> i64 {
    // SAFETY: null, or a descriptor that the pass emitted.
    unsafe { region.as_ref() }.map_or(0, |region| region.flags)
}

/// On rank 0, before what serial code wrote is collected for `region`.
pub(crate) fn end_serial_code(region: *mut RegionDescriptor) {
    summaries::decide(region);
    HANDLERS_WAIT.store(flags_of(region) & region_flags::DECLARES_ALL != 0, Relaxed);
}

/// Whether the region that runs declares what it accesses: the same on all threads of the team when they enter it.
pub(crate) fn are_expected() -> bool {
    DECLARING.load(Relaxed)
}

/// Whether declarations are taken: what runs declares all it accesses.
#[inline]
pub(crate) fn are_taken() -> bool {
    DECLARING.load(Relaxed) && !are_in_stretch()
}

/// Whether code runs, or has run since the threads have met, that declares nothing.
#[inline]
pub(crate) fn are_in_stretch() -> bool {
    IN_STRETCH.load(Acquire)
}

/// A declaration that is not taken: nothing is marked.
pub(crate) fn leave_declaration(table: *mut c_void, computed: *mut c_void) {
    replace_marked(table, computed, |_| marks::nowhere());
}

/// Tells the program where the marks of each marked entry go.
fn replace_marked(
    table: *mut c_void,
    computed: *mut c_void,
    place: impl Fn(&Entry<'_>) -> marks::Place,
) {
    // SAFETY: as in `take_declaration`.
    let table = unsafe { &*table.cast::<SectionTable>() };
    let mut at = 0;
    for entry in entry_list(table) {
        if entry.access & section_access::MARKED != 0 {
            let first = value_list(table)[at].computed as usize;
            // SAFETY: the values of such an entry are computed, its own, and next to each other; nothing else refers
            // to them now.
            let own = unsafe {
                let first = computed.cast::<i64>().add(first);
                std::slice::from_raw_parts_mut(first, value_count(entry))
            };
            let one = Entry {
                entry,
                address: own[0] as u64,
                dimensions: &[],
            };
            let place = place(&one);
            // What another thread copies in the midst of the nest must not be in place of what has been written.
            let is_asked_for = entry.access & section_access::COUNTED != 0 && turns::are_several();
            let at_each = match is_asked_for {
                true => section_access::AT_EACH_STORE,
                false => 0,
            };
            let mask = place.mask as i64 | at_each;
            own.copy_from_slice(&[place.start as i64, place.marks as i64, mask]);
        }
        at += value_count(entry);
    }
}

/// Takes a declaration, when it is this thread's turn. `None`: that has to wait until [`nobody_marks`].
#[must_use]
pub(crate) fn take_declaration(raw_table: *mut c_void, computed: *mut c_void) -> Option<()> {
    // Another thread may have begun such code meanwhile.
    if !are_taken() {
        leave_declaration(raw_table, computed);
        return Some(());
    }
    // The values lie on this rank's stack, whose pages may have to be written first.
    program_stacks::make_next_frames_writable();
    // SAFETY: the pass emits the table.
    let table = unsafe { &*raw_table.cast::<SectionTable>() };
    if entry_list(table)
        .iter()
        .all(|entry| entry.access & BEHIND_TABLES == 0)
    {
        take_known(table, computed)?;
        end_declaration(raw_table, computed);
        return Some(());
    }
    // SAFETY: the pass computes as many values as the table refers to.
    let values: Vec<i64> = unsafe { declaration::values(table, computed) }.collect();
    let values = &values[..];
    let accesses = rows::with_tables(entries(table, values));
    let (known, behind): (Vec<_>, Vec<_>) = accesses.into_iter().partition(|one| one.depth() == 0);
    let mut signature = Signature::START.with(std::ptr::from_ref(table) as u64);
    for &value in values {
        signature = signature.with(value as u64);
    }
    for Behind { entry: one, .. } in &known {
        if let Some((start, end)) = one.object() {
            names::declares(start, one.entry);
            signature = signature.with(start as u64).with(end as u64);
        }
    }
    take_sections(table, signature, || {
        let mut declared = Vec::new();
        let mut places = Vec::new();
        let by_others = written_by_others(known.iter().map(|one| &one.entry));
        for one in &known {
            match places::of(one) {
                Some(some) => places.extend(some),
                None => decode(&one.entry, &by_others, &mut declared),
            }
        }
        places::declare(places, &mut declared);
        declared
    })?;
    // Tables are current when what is behind their pointers, or between their numbers, is declared.
    let (between, mut behind): (Vec<_>, Vec<_>) = behind.into_iter().partition(Behind::is_between);
    if !between.is_empty() && !settings().verify {
        take_between(table, signature, &between, &known, &behind)?;
    }
    behind.sort_by_key(Behind::depth);
    let mut read = rows::Read::default();
    for level in behind.chunk_by(|a, b| a.depth() == b.depth()) {
        take_rows(table, signature, level, &mut read)?;
    }
    end_declaration(raw_table, computed);
    Some(())
}

/// When its sections are taken: the program is told where it marks what it writes.
fn end_declaration(raw_table: *mut c_void, computed: *mut c_void) {
    // SAFETY: as in `take_declaration`.
    let table = unsafe { &*raw_table.cast::<SectionTable>() };
    if !has_marks(table) {
        return;
    }
    replace_marked(raw_table, computed, |one| {
        let object = one
            .object()
            .and_then(|object| Some((object, in_file(object)?)));
        object.map_or_else(marks::nowhere, |((start, _), bytes)| {
            marks::of(start, bytes, one.entry)
        })
    });
    if turns::are_several() {
        stretches::enter_nest();
    }
}

/// Such entries are known only when tables have been read, or say so of another one.
const BEHIND_TABLES: i64 = section_access::TABLE | section_access::PLACES | section_access::BETWEEN;

/// Takes a declaration of which all is known: as the others, but without lists that have to be made for it. Rows of a
/// pipeline declare little, and often.
fn take_known(table: &SectionTable, computed: *mut c_void) -> Option<()> {
    // SAFETY: the pass computes as many values as the table refers to.
    let values = || unsafe { declaration::values(table, computed) };
    let signature = Signature::START.with(std::ptr::from_ref(table) as u64);
    let mut signature = values().fold(signature, |all, value| all.with(value as u64));
    let mut addresses = values();
    for entry in entry_list(table) {
        let address = addresses.next().expect("an entry has an address") as u64;
        addresses
            .by_ref()
            .take(value_count(entry) - 1)
            .for_each(drop);
        let one = Entry {
            entry,
            address,
            dimensions: &[],
        };
        if let Some((start, end)) = one.object() {
            names::declares(start, entry);
            signature = signature.with(start as u64).with(end as u64);
        }
    }
    take_sections(table, signature, || {
        let values: Vec<i64> = values().collect();
        let all: Vec<Entry<'_>> = entries(table, &values).collect();
        let by_others = written_by_others(all.iter());
        let mut declared = Vec::new();
        for one in &all {
            decode(one, &by_others, &mut declared);
        }
        declared
    })
}

/// Whether the region that runs may run code that declares nothing.
fn has_stretches() -> bool {
    flags_of(REGION.load(Relaxed)) & region_flags::STRETCHES != 0
}

fn has_marks(table: &SectionTable) -> bool {
    let mut entries = entry_list(table).iter();
    entries.any(|entry| entry.access & section_access::MARKED != 0)
}

/// Takes the parts of objects whose bounds can be read now; `signature` stands for all else that is known of them.
fn take_between<'a>(
    table: &SectionTable,
    mut signature: Signature,
    between: &[Behind<'a>],
    known: &[Behind<'a>],
    behind: &[Behind<'a>],
) -> Option<()> {
    let is_write = |one: &&Behind<'_>| one.entry.entry.access & section_access::WRITE != 0;
    let written = match behind.iter().any(|one| is_write(&one)) {
        true => Ranges::of(vec![(0, u64::MAX)]),
        false => {
            let shapes = known
                .iter()
                .filter(is_write)
                .flat_map(|one| shapes_of(&one.entry).0);
            let hulls = shapes.map(|shape| shape.hull()).collect();
            Ranges::of(hulls).union(&direct())
        }
    };
    let mut numbers = Numbers::default();
    let mut levels: Vec<&Behind<'a>> = between.iter().collect();
    levels.sort_by_key(|one| between::level(one));
    // What is read of a table at one level is current when it is looked at for the next one.
    for level in levels.chunk_by(|a, b| between::level(a) == between::level(b)) {
        let parts: Vec<_> = level
            .iter()
            .map(|one| {
                let (start, end) = one.entry.object()?;
                names::declares(start, one.entry.entry);
                numbers.part(one, (start as u64, end as u64), &written)
            })
            .collect();
        signature = signature.with(between::level(level[0]) as u64);
        for part in &parts {
            let (start, end) = part.unwrap_or((0, 0));
            signature = signature.with(start).with(end);
        }
        take_sections(table, signature, || {
            let mut declared = Vec::new();
            for (one, part) in level.iter().zip(&parts) {
                if let Some((start, end)) = part
                    && let Some(at) = in_file((*start as usize, *end as usize))
                {
                    declare(&one.entry, Shape::whole(at), false, &mut declared);
                }
            }
            declared
        })?;
    }
    Some(())
}

/// Takes the accesses behind pointers that can be read now; `signature` stands for all else that is known of
/// them.
fn take_rows<'a, 'b>(
    table: &SectionTable,
    signature: Signature,
    level: &'b [Behind<'a>],
    read: &mut rows::Read<'b, 'a>,
) -> Option<()> {
    let mut signature = signature
        .with(level[0].depth() as u64)
        .with(u64::from(may_keep()));
    let pointers: Vec<_> = level.iter().map(|one| read.pointers(one)).collect();
    for (one, pointers) in level.iter().zip(&pointers) {
        let runs = pointers.as_ref().map_or(&[][..], |runs| &runs[..]);
        signature = signature.with(runs.len() as u64);
        for run in runs {
            signature = signature.with(run.start);
            for &(stride, count) in &run.dimensions {
                signature = signature.with(stride as u64).with(count as u64);
            }
            let address = one.entry.address.wrapping_add(run.start);
            if let Some((start, end)) = objects::object_at(address as usize) {
                names::declares(start, one.entry.entry);
                signature = signature.with(start as u64).with(end as u64);
            }
        }
        if !settings().verify && Behind::is_apart(pointers) {
            ROWS_ARE_APART.store(true, Relaxed);
        }
    }
    take_sections(table, signature, || {
        let mut declared = Vec::new();
        for (one, pointers) in level.iter().zip(&pointers) {
            match pointers {
                Ok(runs) if settings().verify || !Behind::is_apart(pointers) => {
                    for run in runs.iter() {
                        decode_rows(&one.entry, run, &mut declared);
                    }
                }
                _ => {
                    for (start, end) in one.around(pointers) {
                        for shape in shared_parts(start as usize, end as usize) {
                            declare(&one.entry, shape, false, &mut declared);
                        }
                    }
                }
            }
        }
        declared
    })
}

/// Hands a declaration on; `signature` stands for what `decode` finds it to say. `None`: not while another thread of the
/// rank marks what it writes, in whose place something would be copied.
fn take_sections(
    table: &SectionTable,
    signature: Signature,
    decode: impl Fn() -> Vec<Declared>,
) -> Option<()> {
    if settings().verify {
        let written = decode()
            .into_iter()
            .filter(|one| matches!(one.mode, Mode::Write | Mode::MayWrite))
            .flat_map(|one| one.shape.ranges().iter().collect::<Vec<Range>>());
        RECORD.with(|record| {
            let record = record.as_mut().expect("made when the region began");
            record.extend(written);
        });
        return Some(());
    }
    let _span = observe::span(|| Event::Declaration(text(table.location)));
    coherence(|coherence| {
        let must_wait = !nobody_marks() && coherence.copies_beside_marks(decode());
        (!must_wait).then(|| coherence.declare(signature, decode))
    })
}

/// Whether what lies between written rows may be declared.
fn may_keep() -> bool {
    !settings().verify && flags_of(REGION.load(Relaxed)) & region_flags::NO_ATOMICS != 0
}
