//! Exchange of data between ranks.
//!
//! Guarantee: after it each rank has what the owners of its elements have. A rank sends each neighbour one
//! message with all data that are exchanged, or none if the neighbour needs nothing. Messages are the same wherever a rank
//! has its data.

use std::sync::Mutex;

use crate::{
    device::Kernel,
    distribute::Distribution,
    job::Messages,
    layout::Dat,
    packed,
    times::{self, Traffic},
};

/// An exchange that has begun.
pub(crate) struct Exchange<'a> {
    messages: Messages,
    dats: Vec<*mut Dat>,
    /// Of the loop that needs the data, where it runs on a device.
    kernel: Option<Kernel<'a>>,
    traffic: Traffic,
}

// SAFETY: used by the program's own thread only.
unsafe impl Send for Exchange<'_> {}

/// Memory of earlier messages.
static SPARE: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// Room of `length` bytes.
fn room(length: usize) -> Vec<u8> {
    let spare = SPARE.lock().expect("no panic while it is locked").pop();
    let mut room = spare.unwrap_or_default();
    room.resize(length, 0);
    room
}

/// Sends what others need of `dats`, and receives what is needed here, for a loop that runs on the processor, or on a device.
///
/// # Safety
/// The data are declared and distributed; those of others are not used before [`Exchange::complete`].
pub(crate) unsafe fn begin<'a>(
    distribution: &Distribution,
    dats: Vec<*mut Dat>,
    kernel: Option<Kernel<'a>>,
) -> Exchange<'a> {
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
    // SAFETY: the caller's promise.
    let packed = unsafe {
        match &kernel {
            None => pack(distribution, &dats),
            Some(kernel) => packed::pack(kernel, distribution, &dats, room),
        }
    };
    for (message, &rank) in packed.into_iter().zip(neighbours) {
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
        kernel,
        traffic,
    }
}

/// The message for each neighbour.
///
/// # Safety
/// See [`begin`].
unsafe fn pack(distribution: &Distribution, dats: &[*mut Dat]) -> Vec<Vec<u8>> {
    let neighbours = 0..distribution.portion.neighbours.len();
    let packed = neighbours.map(|at| {
        let mut message = room(0);
        for &dat in dats {
            // SAFETY: the caller's promise.
            unsafe {
                let (part, dat) = (distribution.part((*dat).set), &*dat);
                part.pack(at, dat.stored(), dat.order(), &mut message);
            }
        }
        message
    });
    packed.collect()
}

impl Exchange<'_> {
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
        // SAFETY: the caller's promise.
        unsafe {
            match &self.kernel {
                None => unpack(distribution, &self.dats, &incoming),
                Some(kernel) => packed::unpack(kernel, distribution, &self.dats, &incoming),
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

/// Puts what neighbours have sent where it belongs.
///
/// # Safety
/// See [`begin`].
unsafe fn unpack(distribution: &Distribution, dats: &[*mut Dat], incoming: &[(usize, Vec<u8>)]) {
    for (neighbour, message) in incoming {
        let mut rest = &message[..];
        for &dat in dats {
            // SAFETY: the caller's promise.
            unsafe {
                let (part, dat) = (distribution.part((*dat).set), &mut *dat);
                let (size, order) = (dat.size as usize, dat.order());
                rest = part.unpack(*neighbour, dat.stored_mut(), size, order, rest);
            }
        }
    }
}
