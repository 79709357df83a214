//! Messages that both sides know of before they are sent.
//!
//! A rank pushes to another, and receives from it, at most one message at a time; both are begun at once
//! and [finished](Pushes::finish) before the next. Guarantee: neither side waits for the other while it
//! begins, so no order of ranks can block.

use mpi::{ffi, topology::SimpleCommunicator, traits::*};

use crate::{memory::View, mpi_job, program, stats::Traffic};

/// A message under way. The buffer stays where it is until the request is complete.
struct Transfer {
    rank: u32,
    buffer: Vec<u8>,
    request: ffi::MPI_Request,
    is_complete: bool,
}

impl Transfer {
    fn begun(rank: u32, buffer: Vec<u8>, request: ffi::MPI_Request) -> Self {
        Self {
            rank,
            buffer,
            request,
            is_complete: false,
        }
    }

    fn complete(&mut self) {
        if self.is_complete {
            return;
        }
        mpi_job::wait_until(|| {
            let mut done = 0;
            // SAFETY: a request that is not complete; the status is not wanted.
            unsafe {
                ffi::MPI_Test(&mut self.request, &mut done, ffi::RSMPI_STATUS_IGNORE);
            }
            done != 0
        });
        self.is_complete = true;
    }
}

/// This rank's side of the messages.
pub(crate) struct Pushes {
    communicator: SimpleCommunicator,
    sent: Vec<Transfer>,
    received: Vec<Transfer>,
    /// Buffers of earlier messages.
    spare: Vec<Vec<u8>>,
    /// What was pushed.
    pub(crate) traffic: Traffic,
}

impl Pushes {
    /// Collective.
    pub(crate) fn start() -> Self {
        Self {
            communicator: mpi_job::duplicate(),
            sent: Vec::new(),
            received: Vec::new(),
            spare: Vec::new(),
            traffic: Traffic::default(),
        }
    }

    /// Sends ranges of positions of `own`, packed, to `rank`.
    pub(crate) fn push(&mut self, own: View, rank: u32, ranges: &[(u64, u64)]) {
        let bytes: u64 = ranges.iter().map(|(start, end)| end - start).sum();
        let mut buffer = self.buffer(bytes as usize);
        for &(start, end) in ranges {
            // SAFETY: within the file; the program's thread is here, and the rank's others wait or have not begun.
            buffer.extend_from_slice(unsafe {
                std::slice::from_raw_parts(own.at(start as usize), (end - start) as usize)
            });
        }
        self.traffic.data(1, bytes as usize);
        // SAFETY: the buffer lives, unmoved, until the request is complete.
        let request = program::private(|| unsafe {
            let mut request = ffi::RSMPI_REQUEST_NULL;
            ffi::MPI_Isend(
                buffer.as_ptr().cast(),
                buffer.len() as i32,
                ffi::RSMPI_UINT8_T,
                rank as i32,
                0,
                self.communicator.as_raw(),
                &mut request,
            );
            request
        });
        self.sent.push(Transfer::begun(rank, buffer, request));
    }

    /// Begins to receive `bytes` from `rank`.
    pub(crate) fn expect(&mut self, rank: u32, bytes: usize) {
        let mut buffer = self.buffer(bytes);
        buffer.resize(bytes, 0);
        // SAFETY: the buffer lives, unmoved, until the request is complete.
        let request = program::private(|| unsafe {
            let mut request = ffi::RSMPI_REQUEST_NULL;
            ffi::MPI_Irecv(
                buffer.as_mut_ptr().cast(),
                bytes as i32,
                ffi::RSMPI_UINT8_T,
                rank as i32,
                0,
                self.communicator.as_raw(),
                &mut request,
            );
            request
        });
        self.received.push(Transfer::begun(rank, buffer, request));
    }

    fn buffer(&mut self, bytes: usize) -> Vec<u8> {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer.reserve(bytes);
        buffer
    }

    /// Waits for what `rank` pushes.
    pub(crate) fn message(&mut self, rank: u32) -> &[u8] {
        let transfer = self.received.iter_mut().find(|one| one.rank == rank);
        let transfer = transfer.expect("what is taken was expected");
        program::private(|| transfer.complete());
        &transfer.buffer
    }

    /// Returns when all messages have arrived.
    pub(crate) fn finish(&mut self) {
        program::private(|| {
            for mut transfer in self.received.drain(..).chain(self.sent.drain(..)) {
                transfer.complete();
                self.spare.push(transfer.buffer);
            }
        });
    }
}
