//! The MPI functions that okl's run times call, for the MPI that this object is built with: what
//! [`okl_job::mpi::functions`] declares.
//!
//! Guarantee: this is all of okl that is linked with MPI, and all it does is to call it. What it is given is as the table
//! says; that is the reason for all that is unsafe here.
#![allow(
    clippy::undocumented_unsafe_blocks,
    unsafe_op_in_unsafe_fn,
    reason = "see above"
)]

use std::mem::size_of;
use std::ptr::null_mut;

use mpi_sys::*;
use okl_job::mpi::functions::{self, Comm, Functions, Info, Request};

/// The table; its name is [`functions::SYMBOL`].
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "it is a symbol of C's")]
pub static okl_job_mpi: Functions = Functions {
    version: functions::VERSION,
    start,
    finalize,
    has_ended,
    world,
    of_fortran,
    no_communicator,
    no_info,
    duplicate,
    of_node,
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

const _: () = assert!(
    cfg!(target_endian = "little"),
    "a handle is at the beginning of its room"
);

/// A handle of MPI's, as it is handed on.
fn handle<T: Copy>(of: T) -> usize {
    const { assert!(size_of::<T>() <= size_of::<usize>()) };
    let mut room = 0_usize;
    unsafe { (&raw mut room).cast::<T>().write(of) };
    room
}

/// MPI's handle.
unsafe fn meant<T: Copy>(handle: usize) -> T {
    const { assert!(size_of::<T>() <= size_of::<usize>()) };
    (&raw const handle).cast::<T>().read()
}

unsafe fn comm(handle: Comm) -> MPI_Comm {
    meant(handle)
}

/// Room for MPI's request.
fn room(request: *mut Request) -> *mut MPI_Request {
    request.cast()
}

/// The type of elements of so many bytes.
unsafe fn elements(bytes: i32) -> MPI_Datatype {
    match bytes {
        1 => RSMPI_UINT8_T,
        8 => RSMPI_UINT64_T,
        _ => unreachable!("an element has 1 or 8 bytes"),
    }
}

unsafe extern "C" fn start(threads: i32, provided: *mut i32) -> i32 {
    let levels = [
        RSMPI_THREAD_SINGLE,
        RSMPI_THREAD_FUNNELED,
        RSMPI_THREAD_SERIALIZED,
        RSMPI_THREAD_MULTIPLE,
    ];
    let (mut is_there, mut level) = (0, 0);
    MPI_Initialized(&mut is_there);
    match is_there {
        0 => MPI_Init_thread(null_mut(), null_mut(), levels[threads as usize], &mut level),
        _ => MPI_Query_thread(&mut level),
    };
    let most = levels.iter().rposition(|&one| one <= level);
    *provided = most.unwrap_or(0) as i32;
    i32::from(is_there == 0)
}

unsafe extern "C" fn finalize() {
    if has_ended() == 0 {
        MPI_Finalize();
    }
}

unsafe extern "C" fn has_ended() -> i32 {
    let mut has_ended = 0;
    MPI_Finalized(&mut has_ended);
    i32::from(has_ended != 0)
}

unsafe extern "C" fn world() -> Comm {
    handle(RSMPI_COMM_WORLD)
}

unsafe extern "C" fn of_fortran(number: i32) -> Comm {
    handle(RSMPI_Comm_f2c(number))
}

unsafe extern "C" fn no_communicator() -> Comm {
    handle(RSMPI_COMM_NULL)
}

unsafe extern "C" fn no_info() -> Info {
    handle(RSMPI_INFO_NULL)
}

unsafe extern "C" fn duplicate(of: Comm) -> Comm {
    let mut new = RSMPI_COMM_NULL;
    MPI_Comm_dup(comm(of), &mut new);
    handle(new)
}

unsafe extern "C" fn of_node(of: Comm) -> Comm {
    let mut new = RSMPI_COMM_NULL;
    MPI_Comm_split_type(
        comm(of),
        RSMPI_COMM_TYPE_SHARED,
        rank(of),
        RSMPI_INFO_NULL,
        &mut new,
    );
    handle(new)
}

unsafe extern "C" fn free(communicator: Comm) {
    MPI_Comm_free(&mut comm(communicator));
}

unsafe extern "C" fn rank(of: Comm) -> i32 {
    let mut rank = 0;
    MPI_Comm_rank(comm(of), &mut rank);
    rank
}

unsafe extern "C" fn size(of: Comm) -> i32 {
    let mut size = 0;
    MPI_Comm_size(comm(of), &mut size);
    size
}

unsafe extern "C" fn abort(communicator: Comm, status: i32) {
    MPI_Abort(comm(communicator), status);
}

unsafe extern "C" fn barrier(communicator: Comm, request: *mut Request) {
    match request.is_null() {
        true => MPI_Barrier(comm(communicator)),
        false => MPI_Ibarrier(comm(communicator), room(request)),
    };
}

unsafe extern "C" fn all_gather(
    communicator: Comm,
    mine: *const u8,
    all: *mut u8,
    count: i32,
    bytes: i32,
    request: *mut Request,
) {
    let (communicator, ty) = (comm(communicator), elements(bytes));
    let (mine, all) = (mine.cast(), all.cast());
    match request.is_null() {
        true => MPI_Allgather(mine, count, ty, all, count, ty, communicator),
        false => MPI_Iallgather(mine, count, ty, all, count, ty, communicator, room(request)),
    };
}

unsafe extern "C" fn all_gather_parts(
    communicator: Comm,
    mine: *const u8,
    count: i32,
    all: *mut u8,
    counts: *const i32,
    starts: *const i32,
    bytes: i32,
    request: *mut Request,
) {
    let communicator = comm(communicator);
    let (mine, all) = (mine.cast(), all.cast());
    if !request.is_null() {
        let ty = elements(bytes);
        MPI_Iallgatherv(
            mine,
            count,
            ty,
            all,
            counts,
            starts,
            ty,
            communicator,
            room(request),
        );
        return;
    }
    let mut ty = RSMPI_DATATYPE_NULL;
    MPI_Type_contiguous(bytes, RSMPI_UINT8_T, &mut ty);
    MPI_Type_commit(&mut ty);
    MPI_Allgatherv(mine, count, ty, all, counts, starts, ty, communicator);
    MPI_Type_free(&mut ty);
}

unsafe extern "C" fn broadcast(
    communicator: Comm,
    data: *mut u8,
    count: i32,
    bytes: i32,
    from: i32,
    request: *mut Request,
) {
    let (communicator, ty, data) = (comm(communicator), elements(bytes), data.cast());
    match request.is_null() {
        true => MPI_Bcast(data, count, ty, from, communicator),
        false => MPI_Ibcast(data, count, ty, from, communicator, room(request)),
    };
}

unsafe extern "C" fn all_reduce(communicator: Comm, words: *mut u64, count: i32, operation: i32) {
    let operation = match operation {
        functions::SUM => RSMPI_SUM,
        functions::BITS => RSMPI_BOR,
        _ => unreachable!("an operation has a number"),
    };
    let mine = std::slice::from_raw_parts(words, count as usize).to_vec();
    let (mine, all, ty) = (mine.as_ptr().cast(), words.cast(), RSMPI_UINT64_T);
    MPI_Allreduce(mine, all, count, ty, operation, comm(communicator));
}

unsafe extern "C" fn send(
    communicator: Comm,
    data: *const u8,
    count: i32,
    bytes: i32,
    to: i32,
    tag: i32,
    request: *mut Request,
) {
    let (communicator, ty, data) = (comm(communicator), elements(bytes), data.cast());
    match request.is_null() {
        true => MPI_Send(data, count, ty, to, tag, communicator),
        false => MPI_Isend(data, count, ty, to, tag, communicator, room(request)),
    };
}

unsafe extern "C" fn receive(
    communicator: Comm,
    data: *mut u8,
    count: i32,
    bytes: i32,
    from: i32,
    tag: i32,
    request: *mut Request,
) {
    let (communicator, ty, data) = (comm(communicator), elements(bytes), data.cast());
    match request.is_null() {
        true => MPI_Recv(
            data,
            count,
            ty,
            from,
            tag,
            communicator,
            RSMPI_STATUS_IGNORE,
        ),
        false => MPI_Irecv(data, count, ty, from, tag, communicator, room(request)),
    };
}

unsafe extern "C" fn probe(
    communicator: Comm,
    from: i32,
    tag: i32,
    bytes: i32,
    waits: i32,
    sender: *mut i32,
    length: *mut i32,
) -> i32 {
    let from = match from {
        functions::ANY => RSMPI_ANY_SOURCE,
        from => from,
    };
    let (mut status, mut found) = (std::mem::zeroed::<MPI_Status>(), 1);
    match waits {
        0 => MPI_Iprobe(from, tag, comm(communicator), &mut found, &mut status),
        _ => MPI_Probe(from, tag, comm(communicator), &mut status),
    };
    if found != 0 {
        *sender = status.MPI_SOURCE;
        MPI_Get_count(&status, elements(bytes), length);
    }
    i32::from(found != 0)
}

unsafe extern "C" fn test(request: *mut Request) -> i32 {
    let mut done = 0;
    MPI_Test(room(request), &mut done, RSMPI_STATUS_IGNORE);
    i32::from(done != 0)
}

unsafe extern "C" fn wait(request: *mut Request) {
    MPI_Wait(room(request), RSMPI_STATUS_IGNORE);
}
