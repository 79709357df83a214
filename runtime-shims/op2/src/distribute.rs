//! The mesh on several ranks: each declares all of it, and keeps its part, in an order of its own.
//!
//! Guarantee: what the program sees of its data through the library does not depend on where they are. As long as no
//! loop has run and `op_partition` was not called, every rank has everything, or, where each declares a part, all maps
//! and its part of the data. When sets or maps are declared later, every rank has everything until the next loop; a
//! program that declares parts does not see that.

use std::{
    borrow::Cow,
    collections::HashMap,
    ffi::c_void,
    sync::{Arc, Mutex},
};

use crate::{
    halo::{Part, Portion},
    job,
    layout::{Dat, Map, Set},
    local, memory,
    mesh::mesh,
    mirror::{Lists, Use},
    partition::Base,
    plan,
    report::{fatal, text, warn, warn_of_program},
    slabs::{self, Numbers},
    staged, storage,
    topology::{Links, Rank, Topology},
    waiting,
};

/// A distributed mesh.
pub(crate) struct Distribution {
    /// What is here.
    pub(crate) portion: Portion,
    /// How many elements of each set the ranks own.
    counts: Vec<Vec<usize>>,
    /// Number of the set whose owners the program has chosen.
    base: Option<usize>,
    renumbering: Option<usize>,
    /// Rows of maps in original numbers, by number of the map, for loops that ask for them.
    original_rows: Mutex<HashMap<i32, Box<[i32]>>>,
    /// Numbers of elements on a device.
    pub(crate) on_device: Lists,
}

/// How the program wants its mesh to be.
pub(crate) struct Wishes {
    /// The owners of a set.
    pub(crate) base: Option<Base>,
    /// Number of the map by which the elements get other local numbers.
    pub(crate) renumbering: Option<usize>,
}

impl Wishes {
    const NONE: Self = Self {
        base: None,
        renumbering: None,
    };
}

enum State {
    /// Each rank has the data that it has declared, and all maps.
    Parts(Wishes),
    /// Every rank has everything.
    Whole(Wishes),
    /// Each has its part; where there is one rank, all in another order.
    Distributed(Arc<Distribution>),
    /// Every rank has, and computes, everything.
    Everywhere,
}

static STATE: Mutex<State> = Mutex::new(State::Whole(Wishes::NONE));

fn state() -> std::sync::MutexGuard<'static, State> {
    STATE.lock().expect("no panic while it is locked")
}

/// The distribution, if the mesh is distributed.
pub(crate) fn current() -> Option<Arc<Distribution>> {
    match &*state() {
        State::Distributed(distribution) => Some(distribution.clone()),
        _ => None,
    }
}

/// The same; it is distributed now if it was not and can be.
pub(crate) fn for_loops() -> Option<Arc<Distribution>> {
    let mut state = state();
    let is_in_parts = matches!(*state, State::Parts(_));
    if let State::Parts(wishes) | State::Whole(wishes) = &mut *state
        && (job::ranks() > 1 || wishes.renumbering.is_some())
    {
        let wishes = std::mem::replace(wishes, Wishes::NONE);
        *state = distributed(wishes, is_in_parts);
    }
    match &*state {
        State::Distributed(distribution) => Some(distribution.clone()),
        _ => None,
    }
}

/// Whether the mesh may be in parts, or in another order.
pub(crate) fn is_possible() -> bool {
    !matches!(*state(), State::Everywhere)
}

/// Distributes the mesh, again if it is distributed, with other wishes.
pub(crate) fn change(change: impl FnOnce(&mut Wishes)) {
    end();
    let mut state = state();
    let is_in_parts = matches!(*state, State::Parts(_));
    if let State::Parts(wishes) | State::Whole(wishes) = &mut *state {
        let mut wishes = std::mem::replace(wishes, Wishes::NONE);
        change(&mut wishes);
        *state = distributed(wishes, is_in_parts);
    }
}

/// From now on each rank has the data that it declares, where that is a part. Called before the first set.
pub(crate) fn begin() {
    if local::is_local() && mesh().sets.is_empty() {
        *state() = State::Parts(Wishes::NONE);
    }
}

/// What a rank has as long as the mesh is not distributed: of a set of `whole` elements, or of the `declared` ones.
pub(crate) fn here_of_set(whole: i32, declared: i32) -> i32 {
    match *state() {
        State::Parts(_) => declared,
        _ => whole,
    }
}

/// Gives every rank everything.
pub(crate) fn make_whole() {
    end();
    let mut state = state();
    if let State::Parts(wishes) = &mut *state {
        let wishes = std::mem::replace(wishes, Wishes::NONE);
        let mesh = mesh();
        // SAFETY: what the lists hold is alive.
        unsafe {
            for entry in &mesh.dats {
                let dat = (**entry).dat;
                let whole = whole_of_parts(dat);
                replace_data(&mut *dat, &whole);
            }
            for &set in &mesh.sets {
                let set = &mut *set;
                (set.core_size, set.stride) = (set.whole, set.whole);
            }
        }
        *state = State::Whole(wishes);
    }
}

/// Distributes the mesh again where the program should not see it whole.
pub(crate) fn settle() {
    if local::is_local() {
        for_loops();
    }
}

/// Gives every rank everything, if the mesh is distributed.
pub(crate) fn end() {
    let mut state = state();
    if let State::Distributed(distribution) = &*state {
        let base = |set| Base {
            set,
            owners: distribution.owners(set),
        };
        let wishes = Wishes {
            base: distribution.base.map(base),
            renumbering: distribution.renumbering,
        };
        distribution.gather();
        *state = State::Whole(wishes);
    }
}

/// Gives every rank everything for good, because of `what`.
pub(crate) fn give_up(what: &str) {
    if !is_possible() {
        return;
    }
    let was_distributed = current().is_some();
    make_whole();
    *state() = State::Everywhere;
    if job::ranks() > 1 {
        warn(&format!(
            "{what} cannot be distributed: every rank computes the whole mesh"
        ));
    } else if was_distributed {
        warn(&format!(
            "{what} cannot be renumbered: the mesh is in the program's order again"
        ));
    }
}

/// Where the program looks at the mesh itself, and at what.
static LOOKS_AT_MESH: Mutex<Option<String>> = Mutex::new(None);

/// A file looks at `op_map->map` or `op_dat->data`.
///
/// # Safety
/// `what` is a string.
pub(crate) unsafe fn okl_op2_looks_at_mesh(what: *mut c_void) {
    // SAFETY: the caller's promise.
    let what = unsafe { text(what.cast()) };
    waiting::run_for("a file that looks at op_map->map or op_dat->data");
    let mut first = LOOKS_AT_MESH.lock().expect("no panic while it is locked");
    first.get_or_insert_with(|| what.to_owned());
}

/// Whether a file of the program looks at `op_map->map` or `op_dat->data`.
pub(crate) fn is_looked_at() -> bool {
    let looks = LOOKS_AT_MESH.lock().expect("no panic while it is locked");
    looks.is_some()
}

/// The ranks are known: a program that declares the whole mesh, and goes through it itself, finds it whole on each.
pub(crate) fn start() {
    let looks = LOOKS_AT_MESH.lock().expect("no panic while it is locked");
    if let Some(what) = looks.as_ref().filter(|_| !local::is_asked_for())
        && job::ranks() > 1
    {
        *state() = State::Everywhere;
        warn_of_program(&format!(
            "{what}: the program looks at it itself, but a rank has only a part of it: every rank computes the whole mesh; to distribute it, use op_fetch_data and loops, or declare a part of the mesh on each rank and include op_lib_mpi.h"
        ));
    }
}

/// Forgets everything.
pub(crate) fn clear() {
    *state() = State::Whole(Wishes::NONE);
}

/// The data that the ranks have declared. Collective.
///
/// # Safety
/// The dat is declared, and each rank has its part of it.
unsafe fn whole_of_parts(dat: *const Dat) -> Vec<u8> {
    // SAFETY: the caller's promise.
    unsafe {
        let (set, size) = (&*(*dat).set, (*dat).size as usize);
        (*dat).come_home(Use::Read);
        let mine = std::slice::from_raw_parts((*dat).data.cast(), set.declared as usize * size);
        let counts = integers(&job::all_gather(&set.declared.to_ne_bytes()));
        let counts: Vec<usize> = counts.into_iter().map(|one| one as usize).collect();
        job::all_gather_elements(mine, &counts, size)
    }
}

/// All data of a set, in the original order, on every rank. Collective.
///
/// # Safety
/// The dat is declared, and stays as it is while the bytes are used.
pub(crate) unsafe fn whole_data<'a>(dat: *const Dat) -> Cow<'a, [u8]> {
    // SAFETY: the caller's promise: there is an element for each that is here.
    unsafe {
        match &*state() {
            State::Distributed(distribution) => distribution.whole_data(dat).into(),
            State::Parts(_) => whole_of_parts(dat).into(),
            _ => match (*dat).turned() {
                Some(elements) => elements.into(),
                None => (*dat).stored().into(),
            },
        }
    }
}

/// The elements of a set that are here.
///
/// # Safety
/// The set is declared.
pub(crate) unsafe fn numbers_here(set: *const Set) -> Numbers {
    // SAFETY: the caller's promise.
    unsafe {
        match &*state() {
            State::Distributed(distribution) => Numbers::listed(&distribution.part(set).numbers),
            State::Parts(_) => Numbers::range((*set).declared()),
            _ => Numbers::range(0..(*set).whole as usize),
        }
    }
}

/// The elements of which this rank gives the data where they go to the first `writers` ranks, so that each is given once.
///
/// # Safety
/// The set is declared.
pub(crate) unsafe fn numbers_given(set: *const Set, writers: usize) -> Numbers {
    // SAFETY: the caller's promise.
    unsafe {
        match &*state() {
            State::Distributed(distribution) => {
                let part = distribution.part(set);
                Numbers::listed(&part.numbers[..part.owned])
            }
            State::Parts(_) => Numbers::range((*set).declared()),
            _ => given_of_all((*set).whole, writers),
        }
    }
}

/// The same where every rank has everything: nothing need be moved.
fn given_of_all(whole: i32, writers: usize) -> Numbers {
    Numbers::Range {
        rows: slabs::block(whole as usize, writers, job::rank()),
        first: 0,
    }
}

/// Rows of a map as the program declared them, and which of them this rank gives.
///
/// # Safety
/// The map is declared, and stays as it is while the rows are used.
pub(crate) unsafe fn rows<'a>(map: *const Map, writers: usize) -> (Numbers, Cow<'a, [i32]>) {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(distribution) = current() {
            let rows = distribution.rows_of(&*map).into_vec();
            return (numbers_given((*map).from, writers), rows.into());
        }
        let whole = (*(*map).from).whole;
        let count = whole as usize * (*map).dim as usize;
        let rows = std::slice::from_raw_parts((*map).map, count);
        (given_of_all(whole, writers), rows.into())
    }
}

/// What is here of `whole`, data with `size` bytes for each element of the set.
///
/// # Safety
/// The set is declared.
pub(crate) unsafe fn here<'a>(set: *const Set, whole: &'a [u8], size: usize) -> Cow<'a, [u8]> {
    // SAFETY: the caller's promise.
    unsafe {
        match &*state() {
            State::Distributed(distribution) => distribution.part(set).select(whole, size).into(),
            State::Parts(_) => local::declared(&*set, whole, size).into(),
            _ => whole.into(),
        }
    }
}

/// The whole mesh, as it is declared.
pub(crate) fn topology() -> Topology {
    let mesh = mesh();
    // SAFETY: what the lists hold is alive, and maps have a row for each element of their set.
    unsafe {
        let sizes = mesh.sets.iter().map(|&set| (*set).whole as usize);
        let maps = mesh.maps.iter().map(|&map| {
            let (map, from) = (&*map, &*(*map).from);
            let count = from.whole as usize * map.dim as usize;
            Links {
                from: from.index as usize,
                to: (*map.to).index as usize,
                arity: map.dim as usize,
                targets: std::slice::from_raw_parts(map.map, count).to_vec(),
            }
        });
        Topology {
            sizes: sizes.collect(),
            maps: maps.collect(),
        }
    }
}

/// Ends the job if ranks have declared different meshes. Collective.
pub(crate) fn require_same(topology: &Topology) {
    if let Some(rank) = job::first_that_differs(topology) {
        fatal(&format!(
            "rank {rank} has declared another mesh than rank 0: every rank declares all of it, unless the program includes okl's op_lib_mpi.h"
        ));
    }
}

/// `is_in_parts`: each rank has the data that it has declared.
fn distributed(wishes: Wishes, is_in_parts: bool) -> State {
    let topology = topology();
    require_same(&topology);
    let ranks = job::ranks();
    let base = wishes.base.as_ref().map(|base| base.set);
    let owners = match wishes.base {
        None if local::is_local() => local::owners(),
        base => topology.owners(base, ranks),
    };
    let positions = wishes.renumbering.map(|map| topology.positions(map));
    let portion = topology.portion(&owners, positions.as_deref(), ranks, job::rank() as Rank);
    plan::clear();
    staged::clear();
    storage::lay_all_by_element();
    let mesh = mesh();
    // SAFETY: what the lists hold is alive; data and maps are those of the whole mesh.
    unsafe {
        for entry in &mesh.dats {
            let dat = &mut *(**entry).dat;
            let (set, size) = ((*dat.set).index as usize, dat.size as usize);
            let whole: Cow<[u8]> = match is_in_parts {
                true => whole_of_parts(dat).into(),
                false => {
                    let bytes = topology.sizes[set] * size;
                    std::slice::from_raw_parts(dat.data.cast(), bytes).into()
                }
            };
            replace_data(dat, &portion.parts[set].select(&whole, size));
        }
        for (&map, links) in mesh.maps.iter().zip(&topology.maps) {
            let local = portion.parts[links.to].local_numbers(topology.sizes[links.to]);
            replace_rows(&mut *map, &portion.parts[links.from].rows(links, &local));
        }
        for (&set, part) in mesh.sets.iter().zip(&portion.parts) {
            let set = &mut *set;
            if local::is_local() {
                set.size = part.owned as i32;
            }
            set.core_size = part.core as i32;
            set.exec_size = (part.executed - part.owned) as i32;
            set.nonexec_size = (part.numbers.len() - part.executed) as i32;
            set.stride = part.numbers.len() as i32;
        }
    }
    let distribution = Distribution {
        portion,
        counts: owners.iter().map(|owners| counts(owners, ranks)).collect(),
        base,
        renumbering: wishes.renumbering,
        original_rows: Mutex::default(),
        on_device: Lists::default(),
    };
    State::Distributed(Arc::new(distribution))
}

/// How many elements each rank owns.
fn counts(owners: &[Rank], ranks: usize) -> Vec<usize> {
    let mut counts = vec![0; ranks];
    for &owner in owners {
        counts[owner as usize] += 1;
    }
    counts
}

/// # Safety
/// The data are the library's own, or the program's, and nobody uses them.
unsafe fn replace_data(dat: &mut Dat, bytes: &[u8]) {
    let data = memory::op_malloc(bytes.len().max(1)).cast::<u8>();
    // SAFETY: new memory of that length; the caller's promise.
    unsafe {
        data.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        if dat.user_managed == 0 {
            libc::free(dat.start().cast());
        }
    }
    (dat.data, dat.by_component) = (data.cast(), std::ptr::null_mut());
    dat.user_managed = 0;
    dat.dirtybit = 0;
    dat.mirror.take();
}

/// # Safety
/// The map is the library's own, and nobody uses it.
unsafe fn replace_rows(map: &mut Map, rows: &[i32]) {
    let numbers = memory::op_malloc(size_of_val(rows).max(1)).cast::<i32>();
    // SAFETY: new memory of that length; the caller's promise.
    unsafe {
        numbers.copy_from_nonoverlapping(rows.as_ptr(), rows.len());
        libc::free(map.map.cast());
    }
    map.map = numbers;
}

pub(crate) fn as_bytes(numbers: &[i32]) -> &[u8] {
    // SAFETY: integers have no padding.
    unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), size_of_val(numbers)) }
}

fn integers(bytes: &[u8]) -> Vec<i32> {
    let numbers = bytes.chunks_exact(size_of::<i32>());
    let numbers = numbers.map(|one| i32::from_ne_bytes(one.try_into().expect("four")));
    numbers.collect()
}

impl Distribution {
    /// What is here of a set.
    ///
    /// # Safety
    /// The set is declared.
    pub(crate) unsafe fn part(&self, set: *const Set) -> &Part {
        // SAFETY: the caller's promise.
        &self.portion.parts[unsafe { (*set).index } as usize]
    }

    /// Elements of a set on the ranks before this one.
    ///
    /// # Safety
    /// The set is declared.
    pub(crate) unsafe fn offset(&self, set: *const Set) -> usize {
        // SAFETY: the caller's promise.
        let counts = &self.counts[unsafe { (*set).index } as usize];
        counts[..job::rank()].iter().sum()
    }

    /// Who owns the elements of a set in their original order: a rank, and the number behind its last element, for each
    /// time that it is another one. Collective.
    ///
    /// # Safety
    /// The set is declared.
    pub(crate) unsafe fn turns(&self, set: *const Set) -> Vec<(Rank, i32)> {
        // SAFETY: the caller's promise.
        let owners = self.owners(unsafe { (*set).index } as usize);
        let mut end = 0;
        let turns = owners.chunk_by(|one, other| one == other).map(|turn| {
            end += turn.len() as i32;
            (turn[0], end)
        });
        turns.collect()
    }

    /// All data of a set, in the original order, on every rank. Collective.
    ///
    /// # Safety
    /// The dat is declared.
    pub(crate) unsafe fn whole_data(&self, dat: *const Dat) -> Vec<u8> {
        // SAFETY: the caller's promise.
        unsafe {
            let (set, size) = ((*(*dat).set).index as usize, (*dat).size as usize);
            match (*dat).turned() {
                Some(elements) => self.whole(set, size, &elements),
                None => self.whole(set, size, (*dat).stored()),
            }
        }
    }

    /// The same for any `local` bytes, `size` for each element that is here.
    fn whole(&self, set: usize, size: usize, local: &[u8]) -> Vec<u8> {
        let mine = &local[..self.portion.parts[set].owned * size];
        let all = job::all_gather_elements(mine, &self.counts[set], size);
        let mut whole = vec![0; all.len()];
        for (number, element) in self.numbers(set).into_iter().zip(all.chunks_exact(size)) {
            whole[number as usize * size..][..size].copy_from_slice(element);
        }
        whole
    }

    /// The original numbers of the elements that the ranks own, in the order of ranks. Collective: nobody keeps what
    /// is as large as the whole set.
    fn numbers(&self, set: usize) -> Vec<i32> {
        let part = &self.portion.parts[set];
        let mine = as_bytes(&part.numbers[..part.owned]);
        integers(&job::all_gather_elements(
            mine,
            &self.counts[set],
            size_of::<i32>(),
        ))
    }

    /// The owners of all elements of a set. Collective.
    fn owners(&self, set: usize) -> Vec<Rank> {
        let numbers = self.numbers(set);
        let mut owners = vec![0; numbers.len()];
        let mut rest = &numbers[..];
        for (rank, &count) in self.counts[set].iter().enumerate() {
            let (mine, behind) = rest.split_at(count);
            for &number in mine {
                owners[number as usize] = rank as Rank;
            }
            rest = behind;
        }
        owners
    }

    /// Rows of a map in original numbers.
    ///
    /// # Safety
    /// The map is declared.
    pub(crate) unsafe fn original_rows(&self, map: *const Map) -> *const i32 {
        // SAFETY: the caller's promise.
        let map = unsafe { &*map };
        let mut rows = self
            .original_rows
            .lock()
            .expect("no panic while it is locked");
        rows.entry(map.index)
            // SAFETY: the caller's promise.
            .or_insert_with(|| unsafe { self.rows_of(map) })
            .as_ptr()
    }

    /// # Safety
    /// The map is declared.
    unsafe fn rows_of(&self, map: &Map) -> Box<[i32]> {
        // SAFETY: the caller's promise: there is a row for each element that is executed.
        unsafe {
            let count = self.part(map.from).executed * map.dim as usize;
            let numbers = &self.part(map.to).numbers;
            let rows = std::slice::from_raw_parts(map.map, count);
            rows.iter().map(|&to| numbers[to as usize]).collect()
        }
    }

    /// All rows of a map, in the original order and numbers, on every rank. Collective.
    ///
    /// # Safety
    /// The map is declared.
    unsafe fn whole_rows(&self, map: *const Map) -> Vec<i32> {
        // SAFETY: the caller's promise.
        let (map, set) = unsafe { (&*map, (*(*map).from).index as usize) };
        // SAFETY: as above.
        let rows = unsafe { self.rows_of(map) };
        let size = map.dim as usize * size_of::<i32>();
        let whole = self.whole(set, size, as_bytes(&rows));
        integers(&whole)
    }

    /// Makes all data and maps whole.
    fn gather(&self) {
        plan::clear();
        staged::clear();
        let mesh = mesh();
        // SAFETY: what the lists hold is alive.
        unsafe {
            for entry in &mesh.dats {
                let dat = (**entry).dat;
                let whole = self.whole_data(dat);
                replace_data(&mut *dat, &whole);
            }
            for &map in &mesh.maps {
                let rows = self.whole_rows(map);
                replace_rows(&mut *map, &rows);
            }
            for &set in &mesh.sets {
                let set = &mut *set;
                (set.size, set.core_size, set.stride) = (set.declared, set.whole, set.whole);
                (set.exec_size, set.nonexec_size) = (0, 0);
            }
        }
    }
}
