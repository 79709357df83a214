//! Exchange of data between ranks.
//!
//! Guarantee: after it each rank has what the owners of its elements have. A rank sends each neighbour one
//! message with all data that are exchanged, or none if the neighbour needs nothing.

use std::sync::Mutex;

use crate::{
    distribute::Distribution,
    job::Messages,
    layout::Dat,
    times::{self, Traffic},
};

/// An exchange that has begun.
pub(crate) struct Exchange {
    messages: Messages,
    dats: Vec<*mut Dat>,
    traffic: Traffic,
}

// SAFETY: used by the program's own thread only.
unsafe impl Send for Exchange {}

/// Memory of earlier messages.
static SPARE: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// Room of `length` bytes.
fn room(length: usize) -> Vec<u8> {
    let spare = SPARE.lock().expect("no panic while it is locked").pop();
    let mut room = spare.unwrap_or_default();
    room.resize(length, 0);
    room
}

/// Sends what others need of `dats`, and receives what is needed here.
///
/// # Safety
/// The data are declared and distributed; those of others are not used before [`Exchange::complete`].
pub(crate) unsafe fn begin(distribution: &Distribution, dats: Vec<*mut Dat>) -> Exchange {
    let mut messages = Messages::default();
    let mut traffic = Traffic::default();
    let neighbours = &distribution.portion.neighbours;
    for (at, &rank) in neighbours.iter().enumerate() {
        let length = |&dat: &*mut Dat| {
            // SAFETY: the caller's promise.
            let (part, size) = unsafe { (distribution.part((*dat).set), (*dat).size as usize) };
            part.exchanges[at].imported() * size
        };
        let length = dats.iter().map(length).sum();
        if length > 0 {
            messages.receive(room(length), at, rank as usize);
        }
    }
    for (at, &rank) in neighbours.iter().enumerate() {
        let mut message = room(0);
        for &dat in &dats {
            // SAFETY: the caller's promise.
            unsafe {
                let (part, dat) = (distribution.part((*dat).set), &*dat);
                part.pack(at, dat.stored(), dat.order(), &mut message);
            }
        }
        if message.is_empty() {
            continue;
        }
        traffic.messages += 1;
        traffic.bytes += message.len() as u64;
        messages.send(message, rank as usize);
    }
    Exchange {
        messages,
        dats,
        traffic,
    }
}

impl Exchange {
    /// Lends MPI a hand.
    pub(crate) fn progress(&mut self) {
        self.messages.progress();
    }

    /// Waits for what comes, and puts it where it belongs: what this took.
    ///
    /// # Safety
    /// See [`begin`].
    pub(crate) unsafe fn complete(mut self, distribution: &Distribution) -> Traffic {
        let start = times::now();
        let (outgoing, incoming) = self.messages.complete();
        self.traffic.waiting = times::now() - start;
        for (neighbour, message) in &incoming {
            let mut rest = &message[..];
            for &dat in &self.dats {
                // SAFETY: the caller's promise.
                unsafe {
                    let (part, dat) = (distribution.part((*dat).set), &mut *dat);
                    let (size, order) = (dat.size as usize, dat.order());
                    rest = part.unpack(*neighbour, dat.stored_mut(), size, order, rest);
                }
            }
        }
        for &dat in &self.dats {
            // SAFETY: the caller's promise.
            unsafe { (*dat).dirtybit = 0 };
        }
        let mut spare = SPARE.lock().expect("no panic while it is locked");
        spare.extend(outgoing);
        spare.extend(incoming.into_iter().map(|(_, room)| room));
        self.traffic
    }
}
