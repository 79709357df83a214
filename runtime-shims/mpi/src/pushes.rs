//! Messages that both sides know of before they are sent.
//!
//! Both sides begin the messages from one rank to another in the same order. Guarantee: neither side waits for
//! the other while it begins, so no order of ranks can block; what is sent is packed at once, and may be
//! written again.

use okl_coherence::Part;
use okl_job::mpi::{Communicator, Pending, Wait};

use crate::{meanwhile, mpi_job, scopes, traffic::Traffic, view::View};
use buffers::Buffers;

mod buffers;

/// So many messages that nobody waits for may be under way.
const MOST_FORGOTTEN: usize = 64;

/// Where a message is packed.
#[derive(Clone, Copy)]
struct Room(*mut u8);

// SAFETY: who writes what there is what `meanwhile` deals out.
unsafe impl Sync for Room {}

impl Room {
    fn at(&self, offset: usize) -> *mut u8 {
        self.0.wrapping_add(offset)
    }
}

/// A message under way. The buffer stays where it is until that is complete.
struct Transfer {
    number: u64,
    buffer: Vec<u8>,
    /// So many come into it.
    bytes: usize,
    pending: Pending,
}

/// This rank's side of the messages.
pub(crate) struct Pushes {
    communicator: Communicator,
    received: Vec<Transfer>,
    /// Those that nobody waits for: what was sent, and what was received and is not wanted any more.
    forgotten: Vec<Transfer>,
    /// Messages received so far.
    count: u64,
    buffers: Buffers,
    /// What was pushed.
    pub(crate) traffic: Traffic,
}

impl Pushes {
    /// Collective.
    pub(crate) fn start() -> Self {
        Self {
            communicator: mpi_job::duplicate(),
            received: Vec::new(),
            forgotten: Vec::new(),
            count: 0,
            buffers: Buffers::default(),
            traffic: Traffic::default(),
        }
    }

    /// Ranges of positions of `own`, after one another.
    pub(crate) fn pack(&mut self, own: View, ranges: &[(u64, u64)]) -> Vec<u8> {
        let bytes: u64 = ranges.iter().map(|(start, end)| end - start).sum();
        let mut buffer = self.buffer(bytes as usize);
        let room = Room(buffer.as_mut_ptr());
        let length = |item: usize| (ranges[item].1 - ranges[item].0) as usize;
        meanwhile::copy(ranges.len(), length, |part| {
            let from = own.at(ranges[part.item].0 as usize + part.skip);
            // SAFETY: within the file; the program's thread is here, and the rank's others wait or have not begun. The
            // buffer has room for all.
            unsafe { std::ptr::copy_nonoverlapping(from, room.at(part.before), part.bytes) };
        });
        // SAFETY: so many have been written.
        unsafe { buffer.set_len(bytes as usize) };
        buffer
    }

    /// The same, but for what lies in messages that have arrived.
    pub(crate) fn pack_again(&mut self, own: View, parts: &[Part]) -> Vec<u8> {
        let bytes: u64 = parts.iter().map(|((start, end), _)| end - start).sum();
        let mut buffer = self.buffer(bytes as usize);
        for &((start, end), from) in parts {
            let length = (end - start) as usize;
            match from {
                Some((_, number, place)) => {
                    buffer.extend_from_slice(&self.message(number)[place..place + length]);
                }
                // SAFETY: as above.
                None => buffer.extend_from_slice(unsafe {
                    std::slice::from_raw_parts(own.at(start as usize), length)
                }),
            }
        }
        buffer
    }

    /// Sends `buffer` to `rank`.
    pub(crate) fn push(&mut self, rank: u32, buffer: Vec<u8>) {
        self.traffic.data(1, buffer.len());
        // SAFETY: the buffer lives, unmoved, until it is complete.
        let pending = scopes::private(|| unsafe { self.communicator.start_send(&buffer, rank) });
        self.forgotten.push(Transfer {
            number: 0,
            buffer,
            bytes: 0,
            pending,
        });
    }

    /// Begins to receive `bytes` from `rank`. The message's number.
    pub(crate) fn expect(&mut self, rank: u32, bytes: usize) -> u64 {
        let mut buffer = self.buffer(bytes);
        let room = &mut buffer.spare_capacity_mut()[..bytes];
        // SAFETY: the buffer lives, unmoved, until it is complete.
        let pending = scopes::private(|| unsafe { self.communicator.start_receive(room, rank) });
        self.note(buffer, bytes, pending)
    }

    /// Expects a message that comes along with another one. Its number.
    pub(crate) fn expect_along(&mut self) -> u64 {
        self.note(Vec::new(), 0, Pending::NONE)
    }

    fn note(&mut self, buffer: Vec<u8>, bytes: usize, pending: Pending) -> u64 {
        self.count += 1;
        self.received.push(Transfer {
            number: self.count,
            buffer,
            bytes,
            pending,
        });
        self.count
    }

    /// It has come.
    pub(crate) fn arrived(&mut self, number: u64, bytes: &[u8]) {
        let mut buffer = self.buffer(bytes.len());
        buffer.extend_from_slice(bytes);
        let transfer = self.received.iter_mut().find(|one| one.number == number);
        transfer.expect("what comes was expected").buffer = buffer;
    }

    /// An empty one, with room for so many bytes.
    fn buffer(&mut self, bytes: usize) -> Vec<u8> {
        scopes::private(|| {
            let buffers = &mut self.buffers;
            let is_full = self.forgotten.len() >= MOST_FORGOTTEN;
            let mut wait = is_full;
            self.forgotten.retain_mut(|transfer| {
                if std::mem::take(&mut wait) {
                    transfer.pending.complete(Wait::Patiently);
                }
                let done = transfer.pending.is_complete();
                if done {
                    buffers.give_back(std::mem::take(&mut transfer.buffer));
                }
                !done
            });
            buffers.take(bytes)
        })
    }

    /// Whether a message has arrived.
    pub(crate) fn has_arrived(&mut self, number: u64) -> bool {
        let transfer = self.received.iter_mut().find(|one| one.number == number);
        let transfer = transfer.expect("what is passed on was expected");
        scopes::private(|| transfer.pending.is_complete())
    }

    /// Waits for a message.
    pub(crate) fn message(&mut self, number: u64) -> &[u8] {
        let transfer = self.received.iter_mut().find(|one| one.number == number);
        let transfer = transfer.expect("what is taken was expected");
        scopes::private(|| transfer.pending.complete(Wait::Patiently));
        if transfer.bytes > 0 {
            // SAFETY: so many have come, as what both sides know says; the buffer has room for them.
            unsafe { transfer.buffer.set_len(transfer.bytes) };
        }
        &transfer.buffer
    }

    /// A message is not wanted any more.
    pub(crate) fn forget(&mut self, number: u64) {
        let at = self.received.iter().position(|one| one.number == number);
        let transfer = self
            .received
            .remove(at.expect("what is forgotten was expected"));
        self.forgotten.push(transfer);
    }

    /// Returns when all messages have arrived.
    pub(crate) fn finish(&mut self) {
        scopes::private(|| {
            for mut transfer in self.received.drain(..).chain(self.forgotten.drain(..)) {
                transfer.pending.complete(Wait::Patiently);
            }
        });
    }
}
