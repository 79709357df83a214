//! What stands above the table of functions, over one that has no MPI under it: a job of three ranks, of which this is
//! number 1, and the others have and send what they are expected to.

use std::cell::{Cell, RefCell};

use super::functions::{Functions, VERSION};
use super::*;

const RANKS: i32 = 3;
const RANK: i32 = 1;
const WORLD: Comm = 7;
const NONE: Comm = 0;

/// A request is done when it has been tested so often.
const TESTS: Request = 3;

thread_local! {
    /// Messages that were sent: the receiver, the tag, and the bytes.
    static SENT: RefCell<Vec<(i32, i32, Vec<u8>)>> = const { RefCell::new(Vec::new()) };
    /// The communicator that was freed last.
    static FREED: Cell<Comm> = const { Cell::new(NONE) };
    /// How often it was asked whether something is done, or there.
    static TESTED: Cell<usize> = const { Cell::new(0) };
    /// Whether MPI has ended.
    static HAS_ENDED: Cell<bool> = const { Cell::new(false) };
}

fn under_way(request: *mut Request) {
    // SAFETY: null, or room for a request.
    if let Some(request) = unsafe { request.as_mut() } {
        *request = TESTS;
    }
}

unsafe extern "C" fn start(threads: i32, provided: *mut i32) -> i32 {
    // SAFETY: room for a number.
    unsafe { *provided = threads.min(2) };
    1
}
unsafe extern "C" fn finalize() {
    HAS_ENDED.set(true);
}
unsafe extern "C" fn has_ended() -> i32 {
    i32::from(HAS_ENDED.get())
}
unsafe extern "C" fn world() -> Comm {
    WORLD
}
unsafe extern "C" fn of_fortran(number: i32) -> Comm {
    number as Comm
}
unsafe extern "C" fn none() -> Comm {
    NONE
}
unsafe extern "C" fn another(of: Comm) -> Comm {
    of + 1
}
unsafe extern "C" fn free(communicator: Comm) {
    FREED.set(communicator);
}
unsafe extern "C" fn rank(_: Comm) -> i32 {
    RANK
}
unsafe extern "C" fn size(_: Comm) -> i32 {
    RANKS
}
unsafe extern "C" fn abort(_: Comm, _: i32) {}
unsafe extern "C" fn barrier(_: Comm, request: *mut Request) {
    under_way(request);
}

/// All ranks have what this one has.
unsafe extern "C" fn all_gather(
    _: Comm,
    mine: *const u8,
    all: *mut u8,
    count: i32,
    bytes: i32,
    request: *mut Request,
) {
    let length = (count * bytes) as usize;
    for rank in 0..RANKS as usize {
        // SAFETY: there is room for as much of each rank.
        unsafe { all.add(rank * length).copy_from(mine, length) };
    }
    under_way(request);
}

/// The others have zeros.
unsafe extern "C" fn all_gather_parts(
    _: Comm,
    mine: *const u8,
    count: i32,
    all: *mut u8,
    counts: *const i32,
    starts: *const i32,
    bytes: i32,
    request: *mut Request,
) {
    // SAFETY: a count and a start of each rank, and room for what they say.
    unsafe {
        assert_eq!(*counts.add(RANK as usize), count);
        let start = (*starts.add(RANK as usize) * bytes) as usize;
        all.add(start).copy_from(mine, (count * bytes) as usize);
    }
    under_way(request);
}

unsafe extern "C" fn broadcast(
    _: Comm,
    data: *mut u8,
    count: i32,
    bytes: i32,
    from: i32,
    request: *mut Request,
) {
    if from != RANK {
        // SAFETY: room for as much.
        unsafe { data.write_bytes(from as u8, (count * bytes) as usize) };
    }
    under_way(request);
}

/// All ranks have what this one has.
unsafe extern "C" fn all_reduce(_: Comm, words: *mut u64, count: i32, operation: i32) {
    // SAFETY: as many words.
    let words = unsafe { std::slice::from_raw_parts_mut(words, count as usize) };
    if operation == SUM {
        words.iter_mut().for_each(|word| *word *= RANKS as u64);
    }
}

unsafe extern "C" fn send(
    _: Comm,
    data: *const u8,
    count: i32,
    bytes: i32,
    to: i32,
    tag: i32,
    request: *mut Request,
) {
    // SAFETY: as many bytes.
    let sent = unsafe { std::slice::from_raw_parts(data, (count * bytes) as usize) };
    SENT.with_borrow_mut(|all| all.push((to, tag, sent.to_vec())));
    under_way(request);
}

/// A rank has sent as many bytes as its number, times eight; [`ANY`] is rank 2.
unsafe extern "C" fn receive(
    _: Comm,
    data: *mut u8,
    count: i32,
    bytes: i32,
    from: i32,
    _: i32,
    request: *mut Request,
) {
    // SAFETY: room for as many bytes.
    unsafe { data.write_bytes(from as u8, (count * bytes) as usize) };
    under_way(request);
}

unsafe extern "C" fn probe(
    _: Comm,
    from: i32,
    _: i32,
    bytes: i32,
    waits: i32,
    sender: *mut i32,
    count: *mut i32,
) -> i32 {
    let tested = TESTED.get();
    TESTED.set(tested + 1);
    if waits == 0 && tested == 0 {
        return 0;
    }
    let from = if from == ANY { 2 } else { from };
    // SAFETY: room for two numbers.
    unsafe { (*sender, *count) = (from, 8 * from / bytes) };
    1
}

unsafe extern "C" fn test(request: *mut Request) -> i32 {
    TESTED.set(TESTED.get() + 1);
    // SAFETY: room for a request.
    let request = unsafe { &mut *request };
    *request -= 1;
    i32::from(*request == 0)
}

unsafe extern "C" fn wait(request: *mut Request) {
    // SAFETY: room for a request.
    unsafe { *request = 0 };
}

static FAKE: Functions = Functions {
    version: VERSION,
    start,
    finalize,
    has_ended,
    world,
    of_fortran,
    no_communicator: none,
    no_info: none,
    duplicate: another,
    of_node: another,
    free,
    rank,
    size,
    abort,
    barrier,
    all_gather,
    all_gather_parts,
    broadcast,
    all_reduce,
    send,
    receive,
    probe,
    test,
    wait,
};

fn job() -> Communicator {
    object::load_for_tests(&FAKE);
    SENT.take();
    TESTED.set(0);
    Communicator::world()
}

#[test]
fn a_launcher_of_another_mpi_is_told() {
    assert_eq!(require_all(None, 1), Ok(()));
    assert_eq!(require_all(Some(("PMI_SIZE", 1)), 1), Ok(()));
    // Several jobs of one launcher.
    assert_eq!(require_all(Some(("PMI_SIZE", 4)), 2), Ok(()));
    let why = require_all(Some(("PMI_SIZE", 4)), 1).unwrap_err();
    let head = "the launcher has started 4 ranks (PMI_SIZE), and MPI has found 1: ";
    assert!(why.starts_with(head), "{why}");
}

#[test]
fn threads_are_those_that_mpi_gives() {
    job();
    let started = super::start(Threads::Multiple).unwrap();
    assert!(started.is_ours && started.threads == Threads::Serialized);
    assert_eq!(
        super::start(Threads::Single).unwrap().threads,
        Threads::Single
    );
    assert_eq!(end::rank(), RANK as u32);
}

#[test]
fn a_job_is_there_until_mpi_ends() {
    job();
    super::start(Threads::Single).unwrap();
    assert_eq!(end::job(), Some(WORLD));
    // The program has ended it.
    HAS_ENDED.set(true);
    assert_eq!(end::job(), None);
    HAS_ENDED.set(false);
    assert_eq!(end::job(), Some(WORLD));
    super::finalize();
    assert_eq!(end::job(), None);
}

#[test]
fn what_is_not_waited_for_is_done_when_mpi_says_so() {
    let job = job();
    // SAFETY: a constant.
    let mut sending = unsafe { job.tagged(5).start_send(b"abc", 2) };
    assert!(!sending.is_complete() && !sending.is_complete());
    assert!(sending.is_complete() && sending.is_complete());
    assert_eq!(TESTED.get(), TESTS);
    assert_eq!(SENT.take(), [(2, 5, b"abc".to_vec())]);
    let mut room = Vec::with_capacity(4);
    // SAFETY: the room stays.
    let mut receiving = unsafe { job.start_receive(&mut room.spare_capacity_mut()[..4], 2) };
    receiving.complete(Wait::InMpi);
    // SAFETY: so many have come.
    unsafe { room.set_len(4) };
    assert_eq!((TESTED.get(), &room[..]), (TESTS, &[2; 4][..]));
    let mut none = Pending::NONE;
    assert!(none.is_complete());
}

#[test]
fn collectives_wait_as_they_are_told() {
    for (wait, tests) in [(Wait::InMpi, 0), (Wait::Patiently, TESTS)] {
        let job = job();
        job.barrier(wait);
        assert_eq!(TESTED.get(), tests);
        assert_eq!(job.gathered(&[3_u64, 4], wait), [3, 4, 3, 4, 3, 4]);
        assert_eq!(TESTED.get(), 2 * tests);
        assert_eq!(job.gathered::<u8>(&[], wait), []);
        let parts = job.all_gather_parts(&[5_u64, 6], &[1, 2, 0], 8, wait);
        assert_eq!(parts, [0, 5, 6]);
        // Elements of more bytes than a number.
        let parts = job.all_gather_parts(&[1_u8, 2, 3], &[2, 1, 0], 3, wait);
        assert_eq!(parts, [0, 0, 0, 0, 0, 0, 1, 2, 3]);
        let mut bytes = [9_u8; 3];
        job.broadcast(&mut bytes, 2, wait);
        assert_eq!(bytes, [2; 3]);
        job.broadcast(&mut bytes, RANK as u32, wait);
        assert_eq!(bytes, [2; 3]);
    }
}

#[test]
fn messages_are_as_long_as_they_are() {
    for wait in [Wait::InMpi, Wait::Patiently] {
        let job = job();
        assert_eq!(job.receive::<u64>(2, wait), [0x0202_0202_0202_0202; 2]);
        assert_eq!(job.receive::<u8>(1, wait), [1; 8]);
        let mut room = [0_u8; 3];
        job.receive_into(&mut room, 2, wait);
        assert_eq!(room, [2; 3]);
    }
    let job = job();
    assert_eq!(job.sender(), None);
    assert_eq!(job.sender(), Some(2));
    assert_eq!(job.send_and_receive(&[1_u64], 2).len(), 2);
    assert_eq!(SENT.take(), [(2, 0, 1_u64.to_ne_bytes().to_vec())]);
}

#[test]
fn communicators_are_freed_where_they_were_made_for_one_use() {
    let job = job();
    assert_eq!(job.on_node(Communicator::handle), WORLD + 1);
    assert_eq!(FREED.get(), WORLD + 1);
    assert_eq!(job.duplicate().handle(), WORLD + 1);
    assert!(Communicator::of_fortran(NONE as i32).is_none());
    assert_eq!(Communicator::of_fortran(9).unwrap().handle(), 9);
}

#[test]
fn sums_and_bits_are_those_of_all() {
    let job = job();
    let mut words = [1, 6];
    job.all_add(&mut words);
    assert_eq!(words, [3, 18]);
    job.all_or(&mut words);
    assert_eq!(words, [3, 18]);
}

#[test]
fn what_is_too_long_for_mpi_is_no_message() {
    assert_eq!(number((1 << 31) - 1), Ok(i32::MAX));
    let why = number(1 << 31).unwrap_err();
    let whole = "a message of 2147483648 elements is too long: MPI's numbers end at 2147483647";
    assert_eq!(why, whole);
}
