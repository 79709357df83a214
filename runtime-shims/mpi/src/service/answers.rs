//! What a rank answers to requests.
//!
//! Guarantee: it touches nothing but the runtime's view, so it never faults and needs no lock.

use okl_abi::AtomicOp;
use okl_job::report;

use super::{
    APPENDED, COMPARE_EXCHANGE, CONSOLE, CONTRIBUTION, CONTRIBUTION_OPERATION, CONTRIBUTION_SIZE,
    FILES, GET, HEADER, HEADER_PUTS, PULL, PUT, SETTLE, TELL, UPDATE, packed,
};
use crate::{
    directly,
    ring::{self, Ring},
    view::View,
};

/// What is asked of: this rank's memory, and where it writes what goes to files.
#[derive(Clone, Copy)]
pub(super) struct Answers {
    pub(super) own: View,
    pub(super) log: fn(&[u8]),
}

/// A contribution as [`super::Remote::combine`] packs it.
fn contribute(own: View, what: u64, value: u64) {
    let operation = AtomicOp::ALL[(what >> CONTRIBUTION_OPERATION & 0x7f) as usize];
    let size = 1 << (what >> CONTRIBUTION_SIZE & 0xf);
    let offset = what & ((1 << CONTRIBUTION_SIZE) - 1);
    own.update(offset as usize, size, operation, value);
}

impl Answers {
    /// Carries out what was put.
    fn put(self, mut data: &[u8]) {
        let own = self.own;
        while !data.is_empty() {
            let number =
                |at: usize| u64::from_le_bytes(data[at..at + 8].try_into().expect("8 bytes"));
            let (offset, length) = (number(0), number(8));
            let taken = match offset {
                _ if offset & CONTRIBUTION != 0 => {
                    contribute(own, offset, length);
                    16
                }
                _ if offset & APPENDED != 0 => {
                    let list = (offset & !APPENDED) as usize;
                    Ring(own.words(list, ring::WORDS)).append(length);
                    16
                }
                _ => {
                    let end = 16 + length as usize;
                    own.write(offset as usize, &data[16..end]);
                    end
                }
            };
            data = &data[taken..];
        }
    }

    /// Does what `message` of `rank` asks for, and replies if it asks for one.
    pub(super) fn answer(self, rank: u32, message: &[u8], mut reply: impl FnMut(&[u8])) {
        let Self { own, log } = self;
        let word =
            |i: usize| u64::from_le_bytes(message[8 * i..8 * i + 8].try_into().expect("8 bytes"));
        let (operation, offset, length) = (word(0), word(1) as usize, word(2) as usize);
        let (puts, data) = message[HEADER..].split_at(word(HEADER_PUTS) as usize);
        self.put(puts);
        match operation {
            GET => {
                // SAFETY: within the own file. The program may write other bytes of these pages at the
                // same time; the bytes a race-free program reads are stable.
                reply(unsafe { std::slice::from_raw_parts(own.at(offset), length) });
            }
            PULL => {
                let places = data.as_chunks::<16>().0.iter().map(|place| {
                    let number = |at: usize| {
                        u64::from_le_bytes(place[at..at + 8].try_into().expect("8 bytes")) as usize
                    };
                    (number(0), number(8))
                });
                // SAFETY: as for GET.
                let contents =
                    |at, length| unsafe { std::slice::from_raw_parts(own.at(at), length) };
                let mut packed = Vec::with_capacity(length);
                let marks = packed::pack(places, length, contents, &mut packed);
                if !marks.is_empty() {
                    reply(&marks);
                }
                if !packed.is_empty() {
                    reply(&packed);
                }
            }
            PUT => {}
            TELL => {
                if let Some(flag) = directly::receive(rank, data) {
                    let slot = own.words(offset, directly::SLOT_WORDS);
                    directly::store(slot, flag.value);
                }
                directly::wake();
            }
            COMPARE_EXCHANGE | UPDATE => {
                let old = match operation {
                    UPDATE => {
                        let operation = AtomicOp::ALL[word(3) as usize];
                        own.update(offset, length as u32, operation, word(4))
                    }
                    _ => own.compare_exchange(offset, word(3), word(4), length as u32),
                };
                let mut answer = old.to_le_bytes().to_vec();
                if let [list, from] = *data.as_chunks().0 {
                    let list = u64::from_le_bytes(list) as usize;
                    let list = Ring(own.words(list, ring::WORDS));
                    let copy = list.copy_from(u64::from_le_bytes(from));
                    answer.extend(copy.iter().flat_map(|word| word.to_le_bytes()));
                }
                reply(&answer);
            }
            SETTLE => reply(&[0; 8]),
            CONSOLE => {
                report::write_all(1, data);
                reply(&[0; 8]);
            }
            FILES => {
                log(data);
                reply(&[0; 8]);
            }
            _ => unreachable!("operation {operation} of rank {rank}"),
        }
    }
}
