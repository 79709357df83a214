//! What lies where in the control area: words outside the program's memory that ranks reach in the
//! runtime's view. Except where said, rank 0's area is meant.

/// Bytes of the area.
pub(crate) const BYTES: usize = 44 << 20;

/// The counter of `ordered`.
pub(crate) const ORDERED: usize = 0;
/// The region that is cancelled, and the worksharing construct.
pub(crate) const CANCELLED_REGION: usize = 8;
pub(crate) const CANCELLED_WORKSHARING: usize = 16;
/// In the area of a node's first rank: which rank of the node tells the user why the job ends.
pub(crate) const LAST_WORDS: usize = 24;
/// In every rank's own area: a word that shows that another rank has mapped the right file.
pub(crate) const TOKEN: usize = 32;

/// The list of the program's environment variables, for other ranks.
pub(crate) const ENVIRONMENT: usize = 40;
/// Whether there are new pieces in the log of [`crate::files`]; its descriptor on rank 0; rank 0's standard streams.
pub(crate) const FILES: usize = 48;
pub(crate) const FILES_LOG: usize = 56;
pub(crate) const FILES_STANDARD: usize = 64;

/// The program's mappings that other ranks do not share.
pub(crate) const MAPPINGS_NOT_SHARED: usize = 4 << 10;
pub(crate) const MAPPING_BYTES: usize = 256;
pub(crate) const MOST_MAPPINGS: usize = 64;

/// The table of locks, and its own lock.
pub(crate) const LOCKS: usize = 64 << 10;
pub(crate) const LOCK_BYTES: usize = 8;
pub(crate) const MOST_LOCKS: usize = 1 << 20;
pub(crate) const LOCKS_IN_CHANGE: usize = 88;

/// The list of pages that ranks have announced.
pub(crate) const ANNOUNCED: usize = 12 << 20;
/// In every rank's own area: the list of its pages that others have copied.
pub(crate) const COPIED: usize = 14 << 20;
/// In every rank's own area: what is left of its threads' blocks of dynamic loops, each with a cache line of its own.
pub(crate) const LOOPS: usize = 16 << 20;
pub(crate) const LOOP_WORD_BYTES: usize = 64;
pub(crate) const MOST_LOOP_WORDS: usize = 8 << 10;

/// In every rank's own area: its slot of [`crate::exchange`].
pub(crate) const EXCHANGE: usize = 17 << 20;

/// In every rank's own area: tasks that its threads let others take; the first of rank 0 also how many threads wait for
/// tasks at a barrier.
pub(crate) const TASKS: usize = 18 << 20;
pub(crate) const TASK_WORDS: usize = 1 << 10;
pub(crate) const MOST_TASK_THREADS: usize = 256;

/// One bit for each iteration of doacross loops.
pub(crate) const DOACROSS: usize = 20 << 20;
pub(crate) const MOST_DOACROSS: usize = 8 * (FLAG_NAMES - DOACROSS);

/// The table of flags.
pub(crate) const FLAG_NAMES: usize = 32 << 20;
pub(crate) const MOST_FLAGS: usize = 1 << 12;
/// Whether there is something in it.
pub(crate) const FLAGS_NAMED: usize = 96;
/// In every rank's own area: its flags, and what it owes to others.
pub(crate) const FLAG_SLOTS: usize = 33 << 20;
pub(crate) const FLAG_SLOT_BYTES: usize = 64;
pub(crate) const OWED: usize = 128;
/// In every rank's own area: sets of bytes that it has announced.
pub(crate) const BYTE_SETS: usize = 36 << 20;

const _: () = assert!(FILES_STANDARD + 24 <= LOCKS_IN_CHANGE && LOCKS_IN_CHANGE < LOCKS);
const _: () = assert!(LOCKS_IN_CHANGE < FLAGS_NAMED && FLAGS_NAMED < OWED);
const _: () = assert!(OWED + 64 <= MAPPINGS_NOT_SHARED);
const _: () = assert!(FLAG_NAMES + 8 * MOST_FLAGS <= FLAG_SLOTS);
const _: () = assert!(FLAG_SLOTS + FLAG_SLOT_BYTES * MOST_FLAGS <= BYTE_SETS);
const _: () = assert!(BYTE_SETS + 8 * crate::byte_sets::WORDS <= BYTES);
const _: () = assert!(MAPPINGS_NOT_SHARED + MAPPING_BYTES * MOST_MAPPINGS <= LOCKS);
const _: () = assert!(LOCKS + LOCK_BYTES * MOST_LOCKS <= ANNOUNCED);
const _: () = assert!(ANNOUNCED + 8 * crate::ring::WORDS <= COPIED);
const _: () = assert!(COPIED + 8 * crate::ring::WORDS <= LOOPS);
const _: () = assert!(LOOPS + LOOP_WORD_BYTES * MOST_LOOP_WORDS <= EXCHANGE);
const _: () = assert!(EXCHANGE + 8 * crate::exchange::WORDS <= TASKS);
const _: () = assert!(TASKS + 8 * TASK_WORDS * MOST_TASK_THREADS <= DOACROSS);
