//! Flags: objects that threads load and store, and do nothing else with, to wait for each other. The compiler knows all
//! accesses to them.
//!
//! In a region a flag is a slot in the control area of the rank that accessed it first, which finds and names it in a table
//! on rank 0. As long as no other rank has accessed it, its threads use it as threads do, and nothing is released or
//! acquired; what that leaves undone is [owed](crate::owed) to a rank that accesses it later. From then on each store
//! releases and each load acquires. A store between nodes goes to the flag's owner, or to who has looked at it there, in one
//! message with [what comes along](directly): who waits looks at what has come, and asks the owner only where nothing comes.
//! Guarantee: whoever loads a value sees what the thread that stored it wrote before. When the region has ended, rank 0 writes
//! the values to the program's memory.
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
    alone::pipelines,
    atomics::{self, Place, place_of},
    control_area::{FLAG_NAMES, FLAG_SLOT_BYTES, FLAG_SLOTS, FLAGS_NAMED, MOST_FLAGS},
    control_words::{Patience, exchange_word, load_word},
    directly::{self, Flag, Latest, STORES, VALUE, VERSION},
    memory::{self, Words, control_words_of, update_control_word},
    mpi_job, owed, region, scopes,
    service::Atomic,
};

/// Words of a slot behind those of [`directly`]: of what region and size it is, and whether other ranks access it; which ranks on
/// other nodes have looked at it, one bit for each of the first; and, where there are two ranks, the last version that the other
/// one was told directly.
const STATE: usize = directly::SLOT_WORDS;
const WATCHERS: usize = STATE + 1;
const TOLD: usize = STATE + 2;
const SLOT_WORDS: usize = STATE + 3;
/// In the slot of that number on other ranks: of what region it is, and how often that rank has stored the flag.
const OWN_STORES: usize = SLOT_WORDS;
const _: () = assert!(8 * (OWN_STORES + 1) <= FLAG_SLOT_BYTES);
const SHARED: u64 = 1;
const OF_SIZE: u32 = 1;
const OF_REGION: u32 = 8;
/// So many ranks can be told directly.
const MOST_WATCHERS: u32 = u64::BITS;
/// Bits of [`OWN_STORES`] that count.
const COUNTING: u32 = 40;

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
    /// What was released before this version was stored has been acquired. So often the flag had been stored by messages.
    acquired: u64,
    stores: u64,
    /// The value that was seen then.
    value: u64,
    /// When this thread asked another node, and what it knew then.
    asked: Option<(Instant, Heard)>,
    /// How many messages had come when this thread looked whether one is about this flag, and the number of the last one that
    /// is. Whether it was that by which it was seen to change.
    seen: u64,
    taken: u64,
    is_told: bool,
    /// It has looked in vain since.
    looks: bool,
}

/// As long as that is the same a look at a flag may be as if it had been made a moment ago.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Heard {
    own_stores: u64,
    /// How often this rank has acquired something, and met others.
    acquires: u64,
    meetings: u64,
}

/// A flag on another node is asked for so often at least; where its owner tells of it, only for the case that it does not.
const REST: Duration = Duration::from_micros(100);
const REST_OF_TOLD: Duration = Duration::from_millis(1);

/// After so long a thread that looks at such a flag leaves its processor to others for a while.
const LOOKS: Duration = Duration::from_micros(100);
const NAP: Duration = Duration::from_micros(200);

/// A flag that has no slot.
const NO_SLOT: u32 = u32::MAX;

const NONE: Known = Known {
    address: 0,
    region: 0,
    owner: 0,
    slot: NO_SLOT,
    acquired: 0,
    stores: 0,
    value: 0,
    asked: None,
    seen: 0,
    taken: 0,
    is_told: false,
    looks: false,
};

thread_local! {
    /// Where this thread looked last, and how often it has looked at flags.
    static LOOKED: Cell<(usize, u32)> = const { Cell::new((0, 0)) };
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
                if near(known).is_none() && me < MOST_WATCHERS {
                    change(known, WATCHERS, Atomic::Update(AtomicOp::Or, 1 << me));
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
    for word in [STORES, WATCHERS, TOLD] {
        words[word].store(0, SeqCst);
    }
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
    let waits = is_waiting(at);
    if waits {
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
        return load_far(known, waits);
    };
    // Who has stored it from another rank has said before that it is shared, and who has stored it at all has
    // counted the version before.
    let value = words[VALUE].load(SeqCst);
    if words[STATE].load(SeqCst) & SHARED != 0 {
        let stores = words[STORES].load(SeqCst);
        let version = words[VERSION].load(SeqCst);
        if version != known.acquired {
            // Messages are counted as versions before they are counted as such.
            let by_messages = stores - known.stores;
            let is_told = known.owner == mpi_job::rank()
                && known.acquired != 0
                && version - known.acquired == by_messages;
            acquire(is_told);
            remember(Known {
                acquired: version,
                stores,
                ..known
            });
        } else if waits {
            leave_processor();
        }
    }
    value as i64
}

/// What others released before they stored the flag is read anew: what they told with it, or all.
fn acquire(is_told: bool) {
    match is_told {
        true => memory::acquire_directly(),
        false => memory::acquiring(|coherence| coherence.acquire()),
    }
}

/// Whether this thread, which is about to look at a flag, may be waiting: it has just looked at the same one, or has looked at
/// some for a while.
fn is_waiting(at: usize) -> bool {
    const SOME: u32 = 16;
    let (last, looks) = LOOKED.get();
    LOOKED.set((at, looks.wrapping_add(1)));
    last == at || looks.is_multiple_of(SOME)
}

/// A thread waits that has not seen a flag change: now and then others run on its processor, if there are any.
fn leave_processor() {
    const SOME: u32 = 16;
    if LOOKED.get().1.is_multiple_of(SOME) {
        std::thread::yield_now();
    }
}

/// The value of a flag of a rank on another node: what that has told; else in one round trip where nothing was stored since this
/// thread looked last; as it was then, where that was just now and nothing has been heard since.
fn load_far(mut known: Known, waits: bool) -> i64 {
    let are_two = mpi_job::ranks() == 2;
    let stored = known;
    let heard = || {
        let counts = memory::coherence(|coherence| coherence.counts);
        // What comes from the only other rank comes in order.
        let told = if are_two { counts.acquires_directly } else { 0 };
        Heard {
            own_stores: own_stores(stored),
            acquires: counts.acquires - told,
            meetings: owed::meetings(),
        }
    };
    let before = heard();
    let count = directly::count();
    if count != known.seen {
        known.seen = count;
        let latest = scopes::undisturbed(|| directly::latest(known.slot, known.region));
        let current = memory::coherence(|coherence| coherence.interval());
        if let Some(Latest {
            flag,
            number,
            interval,
        }) = latest
            && number != known.taken
        {
            // What was stored before ranks met may come behind what was stored last. A message may be older than what this rank has stored itself, or has been told when it asked.
            let is_new = match are_two {
                true => flag.stores == before.own_stores && flag.version >= known.acquired,
                false => {
                    let asked = known.asked.map(|(_, heard)| heard.own_stores);
                    asked == Some(before.own_stores) && flag.version > known.acquired
                }
            };
            known.taken = number;
            if is_new && interval == current {
                acquire(true);
                remember(Known {
                    acquired: flag.version,
                    stores: flag.stores,
                    value: flag.value,
                    asked: Some((Instant::now(), heard())),
                    is_told: true,
                    looks: false,
                    ..known
                });
                return flag.value as i64;
            }
        }
        remember(known);
    }
    if let Some((when, heard)) = known.asked
        && heard == before
    {
        let rest = if known.is_told { REST_OF_TOLD } else { REST };
        // What the only other rank tells comes, unless it is about something else.
        let begins = are_two && known.is_told && !known.looks;
        if begins {
            remember(Known {
                looks: true,
                asked: Some((Instant::now(), heard)),
                ..known
            });
        }
        let since = when.elapsed();
        if begins || since < rest {
            if waits && !begins && since > LOOKS {
                scopes::undisturbed(|| directly::wait(known.seen, NAP.min(rest)));
            } else if waits {
                leave_processor();
            }
            return known.value as i64;
        }
    }
    let when = Instant::now();
    let mut words = [0; 8 * SLOT_WORDS];
    memory::read_control_words(known.owner, slot_at(known.slot, 0), &mut words);
    let word = |at: usize| u64::from_le_bytes(words.as_chunks().0[at]);
    let (value, version) = (word(VALUE), word(VERSION));
    let stores = word(STORES);
    let latest = scopes::undisturbed(|| directly::latest(known.slot, known.region));
    let has_come = latest.is_some_and(|latest| latest.number != known.taken);
    let is_under_way = word(TOLD) > latest.map_or(0, |latest| latest.flag.version);
    // As it was before ranks met it may not be.
    let has_met = known
        .asked
        .is_none_or(|(_, heard)| heard.meetings != before.meetings);
    if !has_met && (has_come || is_under_way) {
        // It is here by now, or under way, and what was released before may be, too.
        remember(Known {
            asked: Some((when, before)),
            ..known
        });
        return known.value as i64;
    }
    // The version may be older than the value, which then is new. Where there are two ranks what was stored by messages was this
    // one's.
    let own = if are_two { stores - known.stores } else { 0 };
    let is_new = value != known.value || version - known.acquired != own;
    if is_new {
        acquire(false);
    }
    remember(Known {
        acquired: version,
        stores,
        value,
        is_told: known.is_told && !is_new,
        asked: Some((when, if is_new { heard() } else { before })),
        ..known
    });
    value as i64
}

/// How often this rank has stored a flag of another node.
fn own_stores(known: Known) -> u64 {
    let word = own_word(known.slot, OWN_STORES).load(SeqCst);
    match word >> COUNTING == known.region & (u64::MAX >> COUNTING) {
        true => word & ((1 << COUNTING) - 1),
        false => 0,
    }
}

/// It does so once more.
fn count_own_store(known: Known) {
    let word = own_word(known.slot, OWN_STORES);
    let region = known.region << COUNTING;
    let mut before = word.load(SeqCst);
    loop {
        let count = match before >> COUNTING == region >> COUNTING {
            true => before & ((1 << COUNTING) - 1),
            false => 0,
        };
        match word.compare_exchange(before, region | (count + 1), SeqCst, SeqCst) {
            Ok(_) => return,
            Err(now) => before = now,
        }
    }
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
    pipelines::count_store(at);
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
    let stored = |version, stores| Flag {
        slot: known.slot,
        region: known.region,
        version,
        stores,
        value,
    };
    let slot = slot_at(known.slot, 0);
    let Some(words) = near(known) else {
        // Whom this rank meets finds it done.
        owed::note();
        count_own_store(known);
        memory::tell_directly(stored(0, 0), slot, known.owner);
        let is_known = mpi_job::ranks() == 2;
        return remember(Known {
            value: if is_known { value } else { known.value },
            looks: false,
            // With more ranks only the owner knows who was last.
            asked: known.asked.filter(|_| is_known).map(|(when, heard)| {
                let own_stores = own_stores(known);
                (
                    when,
                    Heard {
                        own_stores,
                        ..heard
                    },
                )
            }),
            ..known
        });
    };
    let is_far = |rank: u32| matches!(control_words_of(rank, 0, 1), Words::Far);
    let watchers = words[WATCHERS].load(SeqCst);
    let ranks = 0..mpi_job::ranks().min(MOST_WATCHERS);
    let told = ranks.filter(|rank| watchers >> rank & 1 != 0 && is_far(*rank));
    // Where there is one other rank, which was told, it takes what comes in order.
    let is_all = mpi_job::ranks() == 2 && watchers != 0;
    if !is_all {
        memory::settle();
    }
    let before = words[VERSION].fetch_add(1, SeqCst);
    if before == known.acquired {
        // What was stored before has been acquired, and this itself need not be.
        remember(Known {
            acquired: before + 1,
            ..known
        });
    }
    let stores = words[STORES].load(SeqCst);
    if is_all {
        // Who asks meanwhile waits for the message.
        words[TOLD].fetch_max(before + 1, SeqCst);
    }
    // Who is told may store it at once.
    words[VALUE].store(value, SeqCst);
    for rank in told {
        memory::tell_directly(stored(before + 1, stores), slot, rank);
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
