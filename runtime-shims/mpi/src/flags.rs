//! Flags: objects that threads load and store, and do nothing else with, to wait for each other. The compiler knows all
//! accesses to them.
//!
//! In a region a flag is a slot in the control area of the rank that accessed it first, which finds and names it in a table
//! on rank 0. As long as no other rank has accessed it, its threads use it as threads do, and nothing is released or
//! acquired; what that leaves undone is [owed](crate::owed) to a rank that accesses it later. From then on each store
//! releases and each load acquires. Guarantee: whoever loads a value sees what the thread that stored it wrote before. When
//! the region has ended, rank 0 writes the values to the program's memory.
//!
//! Where there are more flags than slots, the others are atomic objects like all.

use std::{
    cell::Cell,
    ffi::c_void,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
    time::{Duration, Instant},
};

use okl_abi::AtomicOp;

use crate::{
    atomics::{self, Place, place_of},
    control_area::{FLAG_NAMES, FLAG_SLOT_BYTES, FLAG_SLOTS, FLAGS_NAMED, MOST_FLAGS},
    control_words::{Patience, exchange_word, load_word},
    memory::{self, Words, control_words_of, update_control_word},
    mpi_job, owed, region,
    service::Atomic,
};

/// Words of a slot: the value; how often others were told to acquire for it; of what region and
/// size it is, and whether other ranks access it; and the number, from 1, of the rank on another node that looked at it last for
/// the first time.
const VALUE: usize = 0;
const VERSION: usize = 1;
const STATE: usize = 2;
const WATCHER: usize = 3;
const SLOT_WORDS: usize = 4;
/// In the slot of that number on other ranks: how often they were told that it is worth looking, in all regions.
const HINTS: usize = 4;
const _: () = assert!(8 * (HINTS + 1) <= FLAG_SLOT_BYTES);
const SHARED: u64 = 1;
const OF_SIZE: u32 = 1;
const OF_REGION: u32 = 8;

/// A name in the table: the address, and above it the number of the rank, from 1.
const ADDRESS_BITS: u32 = 48;
const MOST_RANKS: u32 = (1 << (64 - ADDRESS_BITS)) - 2;

/// So many places of the table are looked at for a flag.
const MOST_LOOKS: usize = 8;

/// Flags that a thread remembers.
const REMEMBERED: usize = 128;

/// Where a flag is, as a thread knows it.
#[derive(Clone, Copy)]
struct Known {
    address: u64,
    region: u64,
    owner: u32,
    slot: u32,
    /// What was released before this version was stored has been acquired.
    acquired: u64,
    /// The value that was seen then.
    value: u64,
    /// When this thread asked another node, and what it knew then.
    asked: Option<(Instant, Heard)>,
}

/// As long as that is the same a look at a flag may be as if it had been made a moment ago.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Heard {
    hints: u64,
    /// How often this rank has acquired something, and met others.
    acquires: u64,
    meetings: u64,
}

/// A flag on another node is asked for so often at least.
const REST: Duration = Duration::from_micros(100);

/// A flag that has no slot.
const NO_SLOT: u32 = u32::MAX;

const NONE: Known = Known {
    address: 0,
    region: 0,
    owner: 0,
    slot: NO_SLOT,
    acquired: 0,
    value: 0,
    asked: None,
};

thread_local! {
    /// Where this thread looked last, and how often it has looked at flags.
    static LOOKS: Cell<(usize, u32)> = const { Cell::new((0, 0)) };
    static KNOWN: [Cell<Known>; REMEMBERED] = const { [const { Cell::new(NONE) }; REMEMBERED] };
}

fn hash(address: u64) -> u64 {
    (address >> 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
}

fn remember(known: Known) {
    let place = hash(known.address) as usize % REMEMBERED;
    KNOWN.with(|all| all[place].set(known));
}

fn slot_at(slot: u32, word: usize) -> usize {
    FLAG_SLOTS + slot as usize * FLAG_SLOT_BYTES + 8 * word
}

/// The slot of a flag of this rank, or of one of its node.
fn near(known: Known) -> Option<&'static [AtomicU64]> {
    match control_words_of(known.owner, slot_at(known.slot, 0), SLOT_WORDS) {
        Words::Near(words) => Some(words),
        Words::Far => None,
    }
}

/// An operation on a word of a flag's slot. The old value.
fn change(known: Known, word: usize, operation: Atomic) -> u64 {
    update_control_word(known.owner, slot_at(known.slot, word), operation)
}

/// The flag at `address` of the region that runs.
fn find(address: usize, size: i32) -> Known {
    let region = region::number();
    let address = address as u64;
    let place = hash(address) as usize % REMEMBERED;
    let known = KNOWN.with(|all| all[place].get());
    if known.address == address && known.region == region {
        return known;
    }
    let known = look_up(address, region, size);
    remember(known);
    known
}

#[cold]
fn look_up(address: u64, region: u64, size: i32) -> Known {
    let me = mpi_job::rank();
    let mut known = Known {
        address,
        region,
        ..NONE
    };
    if mpi_job::ranks() > MOST_RANKS {
        return known;
    }
    let name_of = |rank: u32| address | u64::from(rank + 1) << ADDRESS_BITS;
    let first = hash(address) as usize;
    for look in 0..MOST_LOOKS {
        let slot = (first + look) % MOST_FLAGS;
        let at = FLAG_NAMES + 8 * slot;
        let mut name = load_word(at);
        if name == 0 {
            name = exchange_word(at, 0, name_of(me));
            if name == 0 {
                (known.owner, known.slot) = (me, slot as u32);
                begin(known, size);
                return known;
            }
        }
        if name & ((1 << ADDRESS_BITS) - 1) == address {
            known.owner = (name >> ADDRESS_BITS) as u32 - 1;
            known.slot = slot as u32;
            wait_for_beginning(known);
            if known.owner != me {
                change(known, STATE, Atomic::Update(AtomicOp::Or, SHARED));
                if near(known).is_none() {
                    let watcher = Atomic::Update(AtomicOp::Xchg, u64::from(me) + 1);
                    change(known, WATCHER, watcher);
                }
                owed::ask(known.owner);
            }
            return known;
        }
    }
    known
}

/// A flag of this rank begins with what the program's memory has.
fn begin(known: Known, size: i32) {
    update_control_word(0, FLAGS_NAMED, Atomic::Update(AtomicOp::Or, 1));
    let value = atomics::direct_load(known.address as usize, size);
    let words = near(known).expect("a rank reaches its own memory");
    words[VALUE].store(value, SeqCst);
    words[VERSION].store(1, SeqCst);
    words[WATCHER].store(0, SeqCst);
    words[STATE].store(known.region << OF_REGION | (size as u64) << OF_SIZE, SeqCst);
}

/// Waits until the rank that has named a flag has given it a value.
fn wait_for_beginning(known: Known) {
    let patience = Patience::new();
    while change(known, STATE, Atomic::Load) >> OF_REGION != known.region {
        patience.wait();
    }
}

/// `okl_mpi_flag_load`.
pub(crate) fn okl_mpi_flag_load(address: *mut c_void, size: i32) -> i64 {
    let at = address as usize;
    if matches!(place_of(at), Place::Direct) {
        return atomics::direct_load(at, size) as i64;
    }
    owed::answer();
    if is_waiting(at) {
        // It may have begun to send what another rank waits for before it sets the flag.
        memory::let_messages_go();
    }
    let known = find(at, size);
    if known.slot == NO_SLOT {
        let value = atomics::okl_mpi_atomic_load(address, size);
        atomics::okl_mpi_atomic_acquire();
        return value;
    }
    let Some(words) = near(known) else {
        return load_far(known);
    };
    // Who has stored it from another rank has said before that it is shared, and who has stored it at all has
    // counted the version before.
    let value = words[VALUE].load(SeqCst);
    if words[STATE].load(SeqCst) & SHARED != 0 {
        let version = words[VERSION].load(SeqCst);
        if version != known.acquired {
            atomics::okl_mpi_atomic_acquire();
            remember(Known {
                acquired: version,
                ..known
            });
        }
    }
    value as i64
}

/// Whether this thread, which is about to look at a flag, may be waiting: it has just looked at the same one, or has looked at
/// some for a while.
fn is_waiting(at: usize) -> bool {
    const SOME: u32 = 16;
    let (last, looks) = LOOKS.get();
    LOOKS.set((at, looks.wrapping_add(1)));
    last == at || looks.is_multiple_of(SOME)
}

/// The value of a flag of a rank on another node, in one round trip where nothing was stored since this thread looked last; as it
/// was then, where that was just now and nothing has been heard since.
fn load_far(known: Known) -> i64 {
    let mut heard = Heard {
        hints: own_word(known.slot, HINTS).load(SeqCst),
        acquires: memory::coherence(|coherence| coherence.counts.acquires),
        meetings: owed::meetings(),
    };
    if let Some((when, before)) = known.asked
        && before == heard
        && when.elapsed() < REST
    {
        return known.value as i64;
    }
    let when = Instant::now();
    let mut words = [0; 16];
    memory::read_control_words(known.owner, slot_at(known.slot, VALUE), &mut words);
    let [value, version] = *words.as_chunks().0 else {
        unreachable!("two words");
    };
    let (value, version) = (u64::from_le_bytes(value), u64::from_le_bytes(version));
    // The version may be older than the value, which then is new.
    if (value, version) != (known.value, known.acquired) {
        memory::acquiring(|coherence| coherence.acquire());
        heard.acquires += 1;
    }
    remember(Known {
        acquired: version,
        value,
        asked: Some((when, heard)),
        ..known
    });
    value as i64
}

/// A word of this rank's own slot of that number.
fn own_word(slot: u32, word: usize) -> &'static AtomicU64 {
    match control_words_of(mpi_job::rank(), slot_at(slot, word), 1) {
        Words::Near(words) => &words[0],
        Words::Far => unreachable!("a rank reaches its own memory"),
    }
}

/// `okl_mpi_flag_store`.
pub(crate) fn okl_mpi_flag_store(address: *mut c_void, value: i64, size: i32) {
    let at = address as usize;
    if matches!(place_of(at), Place::Direct) {
        return atomics::direct_store(at, value as u64, size);
    }
    owed::answer();
    let known = find(at, size);
    if known.slot == NO_SLOT {
        atomics::okl_mpi_atomic_release();
        return atomics::okl_mpi_atomic_store(address, value, size);
    }
    let value = value as u64 & atomics::mask(size);
    let words = near(known);
    if let Some(words) = words.filter(|_| known.owner == mpi_job::rank()) {
        let is_shared = || words[STATE].load(SeqCst) & SHARED != 0;
        if !is_shared() {
            // Who says so from now on asks behind that, and so hears of what this thread wrote before.
            owed::note();
            if !is_shared() {
                return words[VALUE].store(value, SeqCst);
            }
        }
    }
    atomics::okl_mpi_atomic_release();
    let Some(words) = near(known) else {
        // Whom this rank meets finds it done, and so does this thread when it looks.
        owed::note();
        remember(Known {
            asked: None,
            ..known
        });
        let steps = [(VERSION, AtomicOp::Add, 1), (VALUE, AtomicOp::Xchg, value)];
        let steps =
            steps.map(|(word, operation, with)| (slot_at(known.slot, word), operation, with));
        return memory::change_control_words(known.owner, &steps);
    };
    memory::settle();
    let before = words[VERSION].fetch_add(1, SeqCst);
    if before == known.acquired {
        // What was stored before has been acquired, and this itself need not be.
        remember(Known {
            acquired: before + 1,
            ..known
        });
    }
    words[VALUE].store(value, SeqCst);
    // Who waits on another node looks when it is told to.
    let watcher = words[WATCHER].load(SeqCst) as u32;
    if watcher != 0 && matches!(control_words_of(watcher - 1, 0, 1), Words::Far) {
        let hint = (slot_at(known.slot, HINTS), AtomicOp::Add, 1);
        memory::change_control_words(watcher - 1, &[hint]);
    }
}

/// Rank 0, when a region has ended: writes the flags to the program's memory, and forgets them.
pub(crate) fn end_region() {
    if load_word(FLAGS_NAMED) == 0 {
        return;
    }
    exchange_word(FLAGS_NAMED, 1, 0);
    let Words::Near(names) = control_words_of(0, FLAG_NAMES, MOST_FLAGS) else {
        unreachable!("a rank reaches its own memory");
    };
    for (slot, name) in names.iter().enumerate() {
        let name = name.swap(0, SeqCst);
        if name == 0 {
            continue;
        }
        let known = Known {
            address: name & ((1 << ADDRESS_BITS) - 1),
            owner: (name >> ADDRESS_BITS) as u32 - 1,
            slot: slot as u32,
            ..NONE
        };
        let (address, state) = (known.address as usize, change(known, STATE, Atomic::Load));
        let size = (state >> OF_SIZE & 0xf) as i32;
        let value = change(known, VALUE, Atomic::Load);
        if atomics::direct_load(address, size) != value {
            atomics::direct_store(address, value, size);
        }
    }
}
