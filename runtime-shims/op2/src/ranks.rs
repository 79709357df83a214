//! A loop over a distributed set.
//!
//! Guarantee: each rank runs the elements it owns, and those of others that write, through maps, to what it owns.
//! What a loop reads of others has arrived before an element runs that needs it; elements that need nothing run
//! meanwhile. Global arguments are combined in the order of ranks, and are on all ranks what they would be if
//! each element ran once. Of several equal least or greatest values the one of the first element wins. A loop that is
//! ordered adds up what it does on one rank, bit by bit. An exception leaves a loop on all ranks or ends the job; after it
//! the ranks agree about which data are out of date.

use std::{ffi::c_char, ops::Range};

use okl_abi::op2::access;

use crate::{
    body::{self, Body, run},
    distribute::Distribution,
    exchange::{self, Exchange},
    halo::Part,
    job,
    layout::{Arg, Dat, Set, argtype},
    mirror::Use,
    private::{self, Private},
    report::{fatal, warn_once},
    settings,
    sums::Sums,
    times::Way,
    topology::Rank,
};

/// Whether elements of others run here.
pub(crate) fn executes_others(arguments: &[Arg]) -> bool {
    let mut all = arguments.iter();
    all.any(|one| one.is_indirect() && one.acc != access::READ)
}

/// Whether elements that run on two ranks need what all before them have left in a global argument, which only their owner
/// knows: such a loop runs on the whole mesh.
pub(crate) fn needs_all_elements(loop_name: &str, arguments: &[Arg]) -> bool {
    let is_updated = |one: &Arg| private::is_reduction(one) && one.acc == access::RW;
    let updated = arguments.iter().position(is_updated);
    let updated = updated.filter(|_| settings::combines() && executes_others(arguments));
    if let Some(at) = updated
        && settings::diagnostics() >= 2
    {
        warn_once(&format!(
            "op_par_loop {loop_name}: arg{at}, a global argument, is OP_RW, and the loop writes through maps: each rank gets and computes the whole mesh for it"
        ));
    }
    updated.is_some()
}

/// Data that the loop reads and of which what is here of others is out of date.
///
/// # Safety
/// The arguments are right for the loop.
pub(crate) unsafe fn stale(arguments: &[Arg]) -> Vec<*mut Dat> {
    let executes = executes_others(arguments);
    let mut dats = Vec::new();
    for one in arguments {
        let reads = one.argtype == argtype::DAT
            && one.opt != 0
            && matches!(one.acc, access::READ | access::RW)
            && (executes || one.is_indirect());
        // SAFETY: the caller's promise; what became something else has no dat.
        let is_stale = unsafe { one.dat.as_ref() }.is_some_and(|dat| dat.dirtybit != 0);
        if reads && is_stale && !dats.contains(&one.dat) {
            dats.push(one.dat);
        }
    }
    dats
}

/// What is here of data that the loop writes is out of date on other ranks.
///
/// # Safety
/// The arguments are right for the loop.
pub(crate) unsafe fn mark(arguments: &[Arg]) {
    for one in arguments {
        if one.argtype == argtype::DAT && one.opt != 0 && one.acc != access::READ {
            // SAFETY: the caller's promise; what became something else has no dat.
            if let Some(dat) = unsafe { one.dat.as_mut() } {
                dat.dirtybit = 1;
            }
        }
    }
}

/// Has the host have the data that a loop on it uses, and points to them, as below.
///
/// # Safety
/// The arguments are right for the loop.
pub(crate) unsafe fn bring(arguments: &mut [Arg]) {
    for one in arguments.iter() {
        let what = match one.acc {
            access::READ => Use::Read,
            _ => Use::Write,
        };
        // SAFETY: the caller's promise: they are null or declared.
        if let Some(dat) = unsafe { one.dat.as_ref() }
            && one.argtype == argtype::DAT
            && one.opt != 0
        {
            // SAFETY: the caller's promise; the loop does not run yet.
            unsafe { dat.come_home(what) };
        }
    }
    // SAFETY: the caller's promise.
    unsafe { refresh(arguments) };
}

/// Points to the data where they are now: arguments may be older than the distribution, or its end.
///
/// # Safety
/// The arguments are right for the loop.
pub(crate) unsafe fn refresh(arguments: &mut [Arg]) {
    for one in arguments {
        // SAFETY: the caller's promise: they are null or declared.
        unsafe {
            if let Some(dat) = one.dat.as_ref().filter(|_| one.argtype == argtype::DAT) {
                one.data = dat.start().cast();
            }
            if let Some(map) = one.map.as_ref() {
                one.map_data = map.map;
            }
        }
    }
}

/// Whether an argument gives something back to the program.
pub(crate) fn gives_back(argument: &Arg) -> bool {
    private::is_reduction(argument) || argument.argtype == argtype::INFO
}

/// Runs the loop on this rank.
///
/// # Safety
/// The arguments are right for the loop over `set`; where `most` is not 1, elements may run in any order.
pub(crate) unsafe fn run_distributed(
    body: &Body,
    set: *const Set,
    arguments: &[Arg],
    most: usize,
    distribution: &Distribution,
) -> Way {
    // SAFETY: the caller's promises.
    unsafe {
        let dats = stale(arguments);
        let exchange = (!dats.is_empty()).then(|| exchange::begin(distribution, dats, None));
        let mut here = Here {
            body,
            arguments,
            part: distribution.part(set),
            distribution,
            most,
            exchange,
            is_in_turn: false,
            has_ended: false,
            way: Way::default(),
        };
        if job::ranks() == 1 {
            // All elements are here, in an order that nobody may notice.
            match body.any_order && private::can_be_combined(arguments, false) {
                true => here.run(arguments),
                false => here.run_in_order(arguments, &mut [], &mut Sums::default()),
            }
        } else if !private::can_be_combined(arguments, true) && settings::combines() {
            // With what goes along with a value, the first element has to come first.
            let is_in_order =
                body.is_ordered || arguments.iter().any(|one| one.argtype == argtype::INFO);
            let turns = match is_in_order {
                true => distribution.turns(set),
                false => (0..job::ranks() as Rank)
                    .map(|rank| (rank, i32::MAX))
                    .collect(),
            };
            here.is_in_turn = true;
            in_turn(&mut here, arguments, &turns);
            here.has_ended = true;
        } else if settings::combines() {
            let copies = private::copies(arguments, job::ranks());
            let mut winners = Winner::all(arguments);
            let mut mine = arguments.to_vec();
            for copy in &copies {
                mine[copy.at()].data = copy.of(job::rank());
            }
            let mut sums = match body.is_ordered {
                true => Sums::new(arguments),
                false => Sums::default(),
            };
            sums.redirect(&mut mine);
            match winners.is_empty() && !body.is_ordered {
                true => here.run(&mine),
                false => here.run_in_order(&mine, &mut winners, &mut sums),
            }
            here.end();
            combine(arguments, &copies, winners);
            sums.finish(arguments, true);
        } else if body.is_ordered {
            here.run_in_order(arguments, &mut [], &mut Sums::default());
        } else {
            here.run(arguments);
        }
        here.end();
        mark(arguments);
        std::mem::take(&mut here.way)
    }
}

/// Runs the elements of a rank, up to a number, after those of another: `turns`. Each gets the global arguments as the one
/// before has left them.
///
/// # Safety
/// The arguments are right for the loop.
unsafe fn in_turn(here: &mut Here, arguments: &[Arg], turns: &[(Rank, i32)]) {
    let globals = || arguments.iter().filter(|one| gives_back(one));
    let mut bytes = vec![0u8; globals().map(|one| one.size as usize).sum()];
    let numbers = &here.part.numbers;
    let pieces = here.pieces(here.last(arguments));
    let mut rest = &pieces[..];
    // SAFETY: the caller's promise: global arguments have that many bytes.
    unsafe {
        let data = |one: &Arg| (one.data.cast::<u8>(), one.size as usize);
        let put = |bytes: &[u8]| {
            let mut rest = bytes;
            for (to, size) in globals().map(data) {
                to.copy_from_nonoverlapping(rest.as_ptr(), size);
                rest = &rest[size..];
            }
        };
        here.arrive();
        let ranks: Vec<_> = turns.iter().map(|&(rank, _)| rank).collect();
        job::in_turn(&ranks, &mut bytes, |turn, bytes| {
            if turn > 0 {
                put(bytes);
            }
            let (_, end) = turns[turn];
            let (now, later) =
                rest.split_at(rest.partition_point(|piece| numbers[piece.start] < end));
            rest = later;
            here.run_pieces(arguments, now, &mut [], &mut Sums::default());
            let mut room = bytes;
            for (from, size) in globals().map(data) {
                let (now, behind) = room.split_at_mut(size);
                now.copy_from_slice(std::slice::from_raw_parts(from, size));
                room = behind;
            }
        });
        here.run_pieces(arguments, rest, &mut [], &mut Sums::default());
        if !turns.is_empty() {
            put(&bytes);
        }
    }
}

/// A least or greatest value that something goes along with.
pub(crate) struct Winner {
    /// Positions of the value and of what goes along.
    positions: Vec<usize>,
    /// For each rank, the original number of the first element that had what the rank found to win. An element
    /// is known as the first of those that run without a break.
    firsts: Vec<i64>,
}

/// A rank's elements have not changed what wins.
const NEVER: i64 = i64::MAX;

impl Winner {
    /// The position of the value.
    pub(crate) fn value(&self) -> usize {
        self.positions[0]
    }

    /// On this rank, the element of that number was the first to have what wins; none, where nothing has changed.
    pub(crate) fn note(&mut self, first: Option<i32>) {
        self.firsts[job::rank()] = first.map_or(NEVER, i64::from);
    }

    pub(crate) fn all(arguments: &[Arg]) -> Vec<Self> {
        let along = |winner: usize| {
            let all = arguments.iter().enumerate();
            let along = all
                .filter(move |(_, one)| one.argtype == argtype::INFO && one.acc as usize == winner);
            along.map(|(at, _)| at)
        };
        let winners = (0..arguments.len()).filter(|&at| along(at).next().is_some());
        winners
            .map(|at| Self {
                positions: std::iter::once(at).chain(along(at)).collect(),
                firsts: vec![NEVER; job::ranks()],
            })
            .collect()
    }

    /// # Safety
    /// Global arguments have their bytes.
    unsafe fn state(&self, arguments: &[Arg]) -> Vec<u8> {
        let all = self.positions.iter().map(|&at| &arguments[at]);
        // SAFETY: the caller's promise.
        let bytes = all.flat_map(|one| unsafe {
            std::slice::from_raw_parts(one.data.cast::<u8>(), one.size as usize)
        });
        bytes.copied().collect()
    }
}

/// Gives all ranks what each has found, in one message, and combines it.
///
/// # Safety
/// The copies were made for the arguments and the ranks, and that of this rank is complete.
pub(crate) unsafe fn combine(arguments: &[Arg], copies: &[Private], mut winners: Vec<Winner>) {
    if copies.is_empty() {
        return;
    }
    let mut mine = Vec::new();
    for copy in copies {
        // SAFETY: a copy has that many bytes, and no thread uses it.
        mine.extend(unsafe {
            std::slice::from_raw_parts(copy.of(job::rank()).cast::<u8>(), copy.bytes())
        });
    }
    for winner in &winners {
        mine.extend(winner.firsts[job::rank()].to_ne_bytes());
    }
    let all = job::all_gather(&mine);
    for (rank, mut rest) in all.chunks_exact(mine.len()).enumerate() {
        for copy in copies {
            // SAFETY: as above.
            unsafe {
                let to = copy.of(rank).cast::<u8>();
                to.copy_from_nonoverlapping(rest.as_ptr(), copy.bytes());
            }
            rest = &rest[copy.bytes()..];
        }
        let firsts = rest.chunks_exact(size_of::<i64>());
        for (winner, first) in winners.iter_mut().zip(firsts) {
            winner.firsts[rank] = i64::from_ne_bytes(first.try_into().expect("its bytes"));
        }
    }
    let order = |value: usize, rank: usize| {
        let winner = winners.iter().find(|one| one.positions[0] == value);
        winner.map_or(NEVER, |one| one.firsts[rank])
    };
    // SAFETY: the caller's promises.
    unsafe { private::combine(arguments, copies, job::ranks(), order) };
}

/// A loop on this rank.
struct Here<'a> {
    body: &'a Body<'a>,
    /// As the program has made them.
    arguments: &'a [Arg],
    part: &'a Part,
    distribution: &'a Distribution,
    most: usize,
    exchange: Option<Exchange<'a>>,
    /// Whether other ranks wait for what this one leaves in global arguments.
    is_in_turn: bool,
    /// Whether all elements have run.
    has_ended: bool,
    way: Way,
}

impl Drop for Here<'_> {
    /// Here without having ended, an exception leaves the loop.
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        // SAFETY: no element runs any more; the arguments are right for the loop, whose caller has promised that.
        unsafe {
            self.arrive();
            self.agree(true);
            mark(self.arguments);
        }
    }
}

/// So often MPI is lent a hand while elements run that need nothing of others ...
const PIECES: usize = 8;
/// ... but not before so many of them have run.
const PIECE: usize = 4096;

impl Here<'_> {
    /// All elements have run, on this rank.
    fn end(&mut self) {
        if !self.has_ended {
            self.has_ended = true;
            if self.body.may_throw {
                self.agree(false);
            }
        }
    }

    /// Ends the job if an exception leaves the loop on some ranks and not on others. Collective, where it may do so.
    fn agree(&self, has_thrown: bool) {
        if job::ranks() == 1 {
            return;
        }
        let throws = |where_to: &str| -> ! {
            fatal(&format!(
                "op_par_loop {}: the kernel throws an exception on {where_to}: the ranks would go on differently",
                self.body.name
            ))
        };
        if has_thrown && (self.is_in_turn || !self.body.may_throw) {
            throws("this rank alone");
        }
        let all = job::all_gather(&[u8::from(has_thrown)]);
        let first = |is: u8| all.iter().position(|&one| one == is);
        if let (Some(with), Some(without)) = (first(1), first(0)) {
            throws(&format!("rank {with}, but not on rank {without}"));
        }
    }

    /// Runs all elements that are to run here.
    ///
    /// # Safety
    /// The arguments are right for the loop.
    unsafe fn run(&mut self, arguments: &[Arg]) {
        let (core, owned) = (self.part.core, self.part.owned);
        let last = self.last(arguments);
        // SAFETY: the caller's promise.
        unsafe {
            let mut begin = 0;
            if self.exchange.is_some() {
                let piece = match self.most {
                    1 => PIECE.max(core / PIECES).next_multiple_of(64),
                    _ => core.max(1),
                };
                while begin < core {
                    let end = (begin + piece).min(core);
                    self.elements(arguments, begin..end);
                    begin = end;
                    if let Some(exchange) = &mut self.exchange {
                        exchange.progress();
                    }
                }
                self.arrive();
            }
            // Elements of others run with the own ones if they can tell nobody.
            if arguments.iter().any(gives_back) {
                self.elements(arguments, begin..owned);
                self.run_others(arguments, owned..last);
            } else {
                self.elements(arguments, begin..last);
            }
        }
    }

    /// Where the elements end that run here.
    fn last(&self, arguments: &[Arg]) -> usize {
        match executes_others(arguments) {
            true => self.part.executed,
            false => self.part.owned,
        }
    }

    /// # Safety
    /// The arguments are right for the loop.
    unsafe fn elements(&mut self, arguments: &[Arg], range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        // SAFETY: the caller's promise.
        let way = unsafe { run(self.body, range, arguments, self.most) };
        self.way.threads = self.way.threads.max(way.threads);
        self.way.colours = self.way.colours.max(way.colours);
        self.way.plan_seconds += way.plan_seconds;
    }

    /// Runs elements of others: what they would give back, their owner gives.
    ///
    /// # Safety
    /// The arguments are right for the loop.
    unsafe fn run_others(&mut self, arguments: &[Arg], range: Range<usize>) {
        // SAFETY: the caller's promise.
        unsafe { self.elements(&Unheard::new(arguments).arguments, range) };
    }

    /// The elements up to `last` in their original order: pieces of consecutive numbers.
    fn pieces(&self, last: usize) -> Vec<Range<usize>> {
        let (numbers, owned) = (&self.part.numbers, self.part.owned);
        let own = body::pieces(numbers, 0..owned);
        let others = body::pieces(numbers, owned..last);
        let mut pieces: Vec<_> = own.chain(others).collect();
        pieces.sort_unstable_by_key(|piece| numbers[piece.start]);
        pieces
    }

    /// The same as `run` in the original order, on one thread. Notes which element is the first to have what wins, and
    /// what each adds to `sums`.
    ///
    /// # Safety
    /// The arguments are right for the loop.
    unsafe fn run_in_order(&mut self, arguments: &[Arg], winners: &mut [Winner], sums: &mut Sums) {
        let pieces = self.pieces(self.last(arguments));
        // SAFETY: the caller's promise.
        unsafe {
            self.arrive();
            self.run_pieces(arguments, &pieces, winners, sums);
        }
    }

    /// # Safety
    /// The arguments are right for the loop.
    unsafe fn run_pieces(
        &mut self,
        arguments: &[Arg],
        pieces: &[Range<usize>],
        winners: &mut [Winner],
        sums: &mut Sums,
    ) {
        let part = self.part;
        // SAFETY: the caller's promise.
        unsafe {
            let unheard = Unheard::new(arguments);
            let states = winners.iter().map(|winner| winner.state(arguments));
            let mut states: Vec<_> = states.collect();
            self.body.run(arguments, &[], 0, |own| {
                self.body.run(&unheard.arguments, &[], 0, |others| {
                    for piece in pieces {
                        if piece.start >= part.owned {
                            others(piece.clone());
                            continue;
                        }
                        sums.each(piece.clone(), own);
                        let first = i64::from(part.numbers[piece.start]);
                        for (winner, state) in winners.iter_mut().zip(&mut states) {
                            let now = winner.state(arguments);
                            if now != *state {
                                *state = now;
                                winner.firsts[job::rank()] = first;
                            }
                        }
                    }
                });
            });
        }
        self.way.threads = 1;
    }

    /// Waits for what the loop reads of others.
    ///
    /// # Safety
    /// No element runs.
    unsafe fn arrive(&mut self) {
        if let Some(exchange) = self.exchange.take() {
            // SAFETY: the caller's promise.
            self.way.traffic = unsafe { exchange.complete(self.distribution) };
        }
    }
}

/// Arguments whose global ones are copies that nobody looks at.
struct Unheard {
    arguments: Vec<Arg>,
    _copies: Vec<Vec<u64>>,
}

impl Unheard {
    /// # Safety
    /// Global arguments have their bytes.
    unsafe fn new(arguments: &[Arg]) -> Self {
        let mut arguments = arguments.to_vec();
        let mut copies = Vec::new();
        for one in arguments.iter_mut().filter(|one| gives_back(one)) {
            let bytes = one.size as usize;
            let mut copy = vec![0u64; bytes.div_ceil(size_of::<u64>())];
            let to = copy.as_mut_ptr().cast::<c_char>();
            // SAFETY: both have that many bytes.
            unsafe { to.copy_from_nonoverlapping(one.data, bytes) };
            one.data = to;
            copies.push(copy);
        }
        Self {
            arguments,
            _copies: copies,
        }
    }
}
