//! What other ranks have told this one directly, with a flag that it waits for.
//!
//! The service thread puts it here, and then sets the flag; a thread of the program takes it when it sees the flag. Guarantee:
//! what one rank tells is taken in the order in which it was told; who finds a flag changed so finds what was told with it
//! here, or that something was lost, where nobody has looked for long.

use std::{
    collections::HashMap,
    sync::{
        Condvar, Mutex, MutexGuard, OnceLock,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

/// So much is kept for who does not look.
const MOST_BYTES: usize = 1 << 22;
const MOST_MESSAGES: usize = 1 << 10;

/// Words of a flag's slot: the value; how often others were told to acquire for it; how often so by messages.
pub(crate) const VALUE: usize = 0;
pub(crate) const VERSION: usize = 1;
pub(crate) const STORES: usize = 2;
pub(crate) const SLOT_WORDS: usize = 3;

/// Words of a message before its lists: of the flag, of the interval, how much has been announced, and how long the lists are.
const HEAD: usize = 9;

/// A flag that was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flag {
    /// Its slot, and the region in which it has that.
    pub(crate) slot: u32,
    pub(crate) region: u64,
    /// Where the flag is the receiver's 0: it counts this one. Otherwise how often it had been stored, and how often so by
    /// messages.
    pub(crate) version: u64,
    pub(crate) stores: u64,
    pub(crate) value: u64,
}

/// What came with one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Arrived {
    pub(crate) from: u32,
    /// The interval in which it was told.
    pub(crate) interval: u64,
    /// How much ranks had announced then, as far as who told it knows.
    pub(crate) count: u64,
    /// What was announced, as in the list of that.
    pub(crate) announced: Vec<u64>,
    /// Bytes that came along.
    pub(crate) ranges: Vec<(u64, u64)>,
    pub(crate) bytes: Vec<u8>,
}

/// The last value of a flag of another rank that came so, its number among all messages, and the interval in which it was
/// told: messages of an earlier one may be behind what ranks met with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Latest {
    pub(crate) flag: Flag,
    pub(crate) number: u64,
    pub(crate) interval: u64,
}

#[derive(Default)]
struct Inbox {
    waiting: Vec<Arrived>,
    bytes: usize,
    is_lost: bool,
    flags: HashMap<u32, Latest>,
}

static COUNT: AtomicU64 = AtomicU64::new(0);
static NEW: Condvar = Condvar::new();

fn inbox() -> MutexGuard<'static, Inbox> {
    static INBOX: OnceLock<Mutex<Inbox>> = OnceLock::new();
    let inbox = INBOX.get_or_init(Mutex::default);
    inbox.lock().expect("a panic ends the job")
}

/// A message, as bytes.
pub(crate) fn pack(
    flag: Flag,
    interval: u64,
    count: u64,
    announced: &[u64],
    ranges: &[(u64, u64)],
    mut bytes: impl FnMut(&mut Vec<u8>, (u64, u64)),
) -> Vec<u8> {
    let head: [u64; HEAD] = [
        u64::from(flag.slot),
        flag.region,
        flag.version,
        flag.stores,
        flag.value,
        interval,
        count,
        announced.len() as u64,
        ranges.len() as u64,
    ];
    let ends = ranges.iter().flat_map(|&(start, end)| [start, end]);
    let words = head
        .into_iter()
        .chain(announced.iter().copied())
        .chain(ends);
    let mut message: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
    for &range in ranges {
        bytes(&mut message, range);
    }
    message
}

fn unpack(from: u32, message: &[u8]) -> (Flag, Arrived) {
    let words = message.as_chunks().0;
    let word = |at: usize| u64::from_le_bytes(words[at]);
    let flag = Flag {
        slot: word(0) as u32,
        region: word(1),
        version: word(2),
        stores: word(3),
        value: word(4),
    };
    let (announced, ranges) = (word(7) as usize, word(8) as usize);
    let first = HEAD + announced;
    let end = first + 2 * ranges;
    let arrived = Arrived {
        from,
        interval: word(5),
        count: word(6),
        announced: (HEAD..first).map(word).collect(),
        ranges: (first..end)
            .step_by(2)
            .map(|at| (word(at), word(at + 1)))
            .collect(),
        bytes: message[8 * end..].to_vec(),
    };
    (flag, arrived)
}

/// The service thread: a message of `from` has come. The flag that it is about, where that is one of this rank.
pub(crate) fn receive(from: u32, message: &[u8]) -> Option<Flag> {
    let (flag, arrived) = unpack(from, message);
    let interval = arrived.interval;
    let mut inbox = inbox();
    inbox.bytes += message.len();
    inbox.waiting.push(arrived);
    if inbox.bytes > MOST_BYTES || inbox.waiting.len() > MOST_MESSAGES {
        inbox.waiting.clear();
        inbox.bytes = 0;
        inbox.is_lost = true;
    }
    let number = COUNT.load(SeqCst) + 1;
    let is_own = flag.version == 0;
    let is_new = inbox.flags.get(&flag.slot).is_none_or(|latest| {
        (latest.flag.region, latest.flag.version) < (flag.region, flag.version)
    });
    if !is_own && is_new {
        let latest = Latest {
            flag,
            number,
            interval,
        };
        inbox.flags.insert(flag.slot, latest);
    }
    COUNT.store(number, SeqCst);
    is_own.then_some(flag)
}

/// The service thread: stores a flag of this rank, when what came with it can be taken. Who reads the value, then the stores
/// and then the version has counted all that the value came with.
pub(crate) fn store(slot: &[AtomicU64], value: u64) {
    slot[VERSION].fetch_add(1, SeqCst);
    slot[STORES].fetch_add(1, SeqCst);
    slot[VALUE].store(value, SeqCst);
}

/// The service thread: what has come is to be seen.
pub(crate) fn wake() {
    NEW.notify_all();
}

/// How many messages have come.
#[inline]
pub(crate) fn count() -> u64 {
    COUNT.load(SeqCst)
}

/// The last value of a flag in a region that another rank has told.
pub(crate) fn latest(slot: u32, region: u64) -> Option<Latest> {
    let latest = inbox().flags.get(&slot).copied();
    latest.filter(|latest| latest.flag.region == region)
}

/// Takes what was told in `interval`; `None` where something is lost. What was told before all know, and what will be told in a
/// later one stays.
pub(crate) fn take(interval: u64) -> Option<Vec<Arrived>> {
    let mut inbox = inbox();
    let waiting = std::mem::take(&mut inbox.waiting);
    let (later, now) = waiting.into_iter().partition(|one| one.interval > interval);
    inbox.waiting = later;
    inbox.bytes = 0;
    let now: Vec<Arrived> = now;
    let is_lost = std::mem::take(&mut inbox.is_lost);
    let current = now.into_iter().filter(|one| one.interval == interval);
    (!is_lost).then(|| current.collect())
}

/// Waits, not for long, until more messages than `seen` have come.
pub(crate) fn wait(seen: u64, most: Duration) {
    let inbox = inbox();
    if count() == seen {
        drop(NEW.wait_timeout(inbox, most).expect("a panic ends the job"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_as_it_was_written() {
        let flag = Flag {
            slot: 5,
            region: 6,
            version: 7,
            stores: 8,
            value: 9,
        };
        let ranges = [(16, 19), (40, 41)];
        let message = pack(
            flag,
            3,
            70,
            &[1 << 40, 2],
            &ranges,
            |message, (start, end)| {
                message.extend((start..end).map(|at| at as u8));
            },
        );
        let arrived = Arrived {
            from: 4,
            interval: 3,
            count: 70,
            announced: vec![1 << 40, 2],
            ranges: ranges.to_vec(),
            bytes: vec![16, 17, 18, 40],
        };
        assert_eq!(unpack(4, &message), (flag, arrived));
    }

    #[test]
    fn what_was_told_in_other_intervals_is_not_taken() {
        let send = |version, interval| {
            let flag = Flag {
                slot: 1,
                region: 2,
                version,
                stores: 0,
                value: version + 10,
            };
            receive(3, &pack(flag, interval, 0, &[], &[], |_, _| {}))
        };
        let own = |flag: Option<Flag>| flag.map(|flag| flag.value);
        assert_eq!(own(send(1, 4)), None);
        assert_eq!(own(send(0, 5)), Some(10));
        assert_eq!(own(send(2, 6)), None);
        let latest = |region| latest(1, region).map(|latest| latest.flag.value);
        assert_eq!((latest(2), latest(3)), (Some(12), None));
        let intervals = |taken: Option<Vec<Arrived>>| {
            taken.map(|all| all.iter().map(|one| one.interval).collect::<Vec<_>>())
        };
        assert_eq!(intervals(take(5)), Some(vec![5]));
        assert_eq!(intervals(take(5)), Some(vec![]));
        assert_eq!(intervals(take(6)), Some(vec![6]));
        // An older value that comes late is not the last one.
        assert_eq!(own(send(1, 6)), None);
        assert_eq!(latest(2), Some(12));
        for _ in 0..=MOST_MESSAGES {
            send(3, 6);
        }
        assert_eq!(intervals(take(6)), None);
        assert_eq!(intervals(take(6)), Some(vec![]));
    }
}
