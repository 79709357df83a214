//! What crosses between the run times and the object that calls MPI for them, which is built for one MPI: a table of
//! functions, whose first word is its version.
//!
//! Numbers of elements and ranks are those of MPI's C functions. Where there is room for a request, a function returns at
//! once, and what it reads and writes stays as it is until [`Functions::test`] or [`Functions::wait`] says that it is done;
//! where it is null, it returns when that is so. Errors end the job, as MPI does it.

/// A communicator, as MPI's C functions take it: in a register, as a pointer or a number is.
pub type Comm = usize;

/// What MPI's functions may be told besides, in the same way.
pub type Info = usize;

/// An operation under way: room for an `MPI_Request`.
pub type Request = usize;

/// The symbol of the table.
pub const SYMBOL: &std::ffi::CStr = c"okl_job_mpi";

use xxhash_rust::const_xxh3;

macro_rules! values {
    (
        $(#[$about_all:meta])* enum $enum:ident {
            $($(#[$about_one:meta])* $variant:ident = $number:literal,)*
        }
        $($(#[$about:meta])* const $name:ident = $value:literal;)*
    ) => {
        $($(#[$about])* pub const $name: i32 = $value;)*

        $(#[$about_all])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(i32)]
        pub enum $enum {
            $($(#[$about_one])* $variant = $number,)*
        }

        /// What stands for what in the functions' parameters.
        const VALUES: &str = concat!(
            $(stringify!($name), "=", stringify!($value), ";",)*
            $(stringify!($variant), "=", stringify!($number), ";",)*
        );
    };
}

values! {
    /// Which threads call MPI (MPI 4.1, section 11.6): for [`Functions::start`].
    enum Threads {
        /// There are no others.
        Single = 0,
        /// The one that has started it.
        Funneled = 1,
        /// Several, one at a time.
        Serialized = 2,
        /// Several.
        Multiple = 3,
    }

    /// As [`Functions::all_reduce`]'s operation: sums.
    const SUM = 0;
    /// As [`Functions::all_reduce`]'s operation: bits that one has.
    const BITS = 1;

    /// In place of a rank: any.
    const ANY = -1;
}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($parameter:ident: $ty:ty),*) $(-> $result:ty)?;)*) => {
        /// What the table says, word by word: an object of another version says something else, were it of what a function
        /// does.
        const TEXT: &str = concat!(
            $($(stringify!($doc), "\n",)* stringify!($name($($parameter: $ty),*) $(-> $result)?), ";\n",)*
        );

        /// The functions. Bytes of an element are 1 or 8, but for [`all_gather_parts`](Self::all_gather_parts).
        #[repr(C)]
        pub struct Functions {
            /// [`VERSION`], where the object was built.
            pub version: u64,
            $($(#[$doc])* pub $name: unsafe extern "C" fn($($parameter: $ty),*) $(-> $result)?,)*
        }
    };
}

/// The version of the table: it is another one as soon as a line of it is, or a value.
pub const VERSION: u64 = version(TEXT, VALUES);

const fn version(text: &str, values: &str) -> u64 {
    const_xxh3::xxh3_64_with_seed(text.as_bytes(), const_xxh3::xxh3_64(values.as_bytes()))
}

functions! {
    /// Starts MPI, where it is not there, for as many threads as a [`Threads`] says, and says for how many it is
    /// there. 1 where it was not there.
    start(threads: i32, provided: *mut i32) -> i32;
    /// Ends MPI, where it has not ended.
    finalize();
    /// `MPI_Finalized`: 1 where MPI has ended.
    has_ended() -> i32;
    /// `MPI_COMM_WORLD`.
    world() -> Comm;
    /// That of a number in Fortran.
    of_fortran(number: i32) -> Comm;
    /// `MPI_COMM_NULL`.
    no_communicator() -> Comm;
    /// `MPI_INFO_NULL`.
    no_info() -> Info;
    /// `MPI_Comm_dup`.
    duplicate(of: Comm) -> Comm;
    /// Its ranks with which this one shares memory (MPI 4.1, section 7.4.2).
    of_node(of: Comm) -> Comm;
    /// `MPI_Comm_free`.
    free(communicator: Comm);
    /// `MPI_Comm_rank`.
    rank(of: Comm) -> i32;
    /// `MPI_Comm_size`.
    size(of: Comm) -> i32;
    /// `MPI_Abort`.
    abort(communicator: Comm, status: i32);
    /// `MPI_Barrier`, `MPI_Ibarrier`.
    barrier(communicator: Comm, request: *mut Request);
    /// `MPI_Allgather`, `MPI_Iallgather`.
    all_gather(
        communicator: Comm, mine: *const u8, all: *mut u8, count: i32, bytes: i32, request: *mut Request
    );
    /// `MPI_Allgatherv`, `MPI_Iallgatherv`. The latter with elements of 1 or 8 bytes.
    all_gather_parts(
        communicator: Comm, mine: *const u8, count: i32, all: *mut u8, counts: *const i32, starts: *const i32, bytes: i32,
        request: *mut Request
    );
    /// `MPI_Bcast`, `MPI_Ibcast`.
    broadcast(communicator: Comm, data: *mut u8, count: i32, bytes: i32, from: i32, request: *mut Request);
    /// `MPI_Allreduce` in place.
    all_reduce(communicator: Comm, words: *mut u64, count: i32, operation: i32);
    /// `MPI_Send`, `MPI_Isend`.
    send(
        communicator: Comm, data: *const u8, count: i32, bytes: i32, to: i32, tag: i32, request: *mut Request
    );
    /// `MPI_Recv`, `MPI_Irecv`.
    receive(
        communicator: Comm, data: *mut u8, count: i32, bytes: i32, from: i32, tag: i32, request: *mut Request
    );
    /// `MPI_Iprobe`, and where it has to wait `MPI_Probe`: 1 if there is a message, with the rank that sent it, and its
    /// elements.
    probe(
        communicator: Comm, from: i32, tag: i32, bytes: i32, waits: i32, sender: *mut i32, count: *mut i32
    ) -> i32;
    /// `MPI_Test`: 1 if it is done; the room is then for another.
    test(request: *mut Request) -> i32;
    /// `MPI_Wait`.
    wait(request: *mut Request);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_part_of_the_version() {
        let threads = "Single=0;Funneled=1;Serialized=2;Multiple=3;";
        assert_eq!(VALUES, format!("SUM=0;BITS=1;ANY=-1;{threads}"));
        assert_ne!(version(TEXT, &VALUES.replace("BITS=1", "BITS=2")), VERSION);
    }
}
