//! Messages in a stream of bytes: each is its length, in a word, and so many bytes.
//!
//! Guarantee: in whatever pieces the bytes come, messages come out whole, in the order in which they were sent; and
//! whoever sends never waits: what the other end does not take now is kept. Streams are functions here, so that nothing
//! depends on what carries the bytes.

use std::{collections::VecDeque, io};

/// Bytes before a message: its length.
pub(crate) const PREFIX: usize = size_of::<u64>();

/// The length of a message, as it stands before it.
pub(crate) fn prefix(length: usize) -> [u8; PREFIX] {
    (length as u64).to_le_bytes()
}

fn length(prefix: [u8; PREFIX]) -> usize {
    u64::from_le_bytes(prefix) as usize
}

/// A message longer than this does not keep its room when it has gone.
const ROOM: usize = 1 << 20;

/// What has come of a message that is not whole yet.
#[derive(Default)]
pub(crate) struct Incoming {
    partial: Vec<u8>,
}

impl Incoming {
    /// Takes `bytes`, which came behind those of earlier calls, and calls `take` with each message that is whole now.
    pub(crate) fn feed<E>(
        &mut self,
        mut bytes: &[u8],
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            if self.partial.is_empty() {
                while let Some((message, rest)) = first(bytes) {
                    take(message)?;
                    bytes = rest;
                }
            }
            if bytes.is_empty() {
                return Ok(());
            }
            let part;
            (part, bytes) = bytes.split_at(self.missing().min(bytes.len()));
            self.partial.extend_from_slice(part);
            if self.missing() == 0 {
                take(&self.partial[PREFIX..])?;
                self.partial.clear();
                self.partial.shrink_to(ROOM);
            }
        }
    }

    /// Bytes up to the end of the length, or of the message where that is known.
    fn missing(&self) -> usize {
        let there = self.partial.len();
        match self.partial.first_chunk() {
            None => PREFIX - there,
            Some(&prefix) => length(prefix).saturating_sub(there - PREFIX),
        }
    }
}

/// The message that `bytes` begin with, if it is whole, and what follows.
fn first(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&prefix, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(length(prefix))
}

/// What was sent and not taken yet.
#[derive(Default)]
pub(crate) struct Outgoing {
    waiting: VecDeque<Vec<u8>>,
    /// Bytes of the first that have been taken.
    taken: usize,
}

impl Outgoing {
    /// Whether all has been taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Sends `bytes` behind all that was sent before. What `write` does not take now is kept for [`Outgoing::flush`].
    pub(crate) fn send(
        &mut self,
        mut bytes: &[u8],
        mut write: impl FnMut(&[u8]) -> io::Result<usize>,
    ) -> io::Result<()> {
        while self.is_empty() && !bytes.is_empty() {
            match now(|| write(bytes))? {
                Some(count) => bytes = &bytes[count..],
                None => break,
            }
        }
        if !bytes.is_empty() {
            self.waiting.push_back(bytes.to_vec());
        }
        Ok(())
    }

    /// Sends of what waits as much as is taken now.
    pub(crate) fn flush(
        &mut self,
        mut write: impl FnMut(&[u8]) -> io::Result<usize>,
    ) -> io::Result<()> {
        while let Some(bytes) = self.waiting.front() {
            let Some(count) = now(|| write(&bytes[self.taken..]))? else {
                return Ok(());
            };
            self.taken += count;
            if self.taken == bytes.len() {
                self.waiting.pop_front();
                self.taken = 0;
            }
        }
        Ok(())
    }
}

/// How many bytes an attempt to move some has moved; none where it would have to wait. A stream that has ended is an
/// error.
pub(crate) fn now(mut attempt: impl FnMut() -> io::Result<usize>) -> io::Result<Option<usize>> {
    loop {
        match attempt() {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => return Ok(Some(count)),
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted => {}
                io::ErrorKind::WouldBlock => return Ok(None),
                _ => return Err(error),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        io::{Read, Write},
        os::unix::net::UnixStream,
    };

    use okl_testing::Random;

    use super::*;

    /// A message whose bytes follow from its number.
    fn message(number: usize, length: usize) -> Vec<u8> {
        (0..length).map(|at| (number * 31 + at * 7) as u8).collect()
    }

    fn lengths(random: &mut Random, count: usize) -> Vec<usize> {
        let length = |random: &mut Random| match random.below(6) {
            0 => 0,
            1 => random.below(PREFIX + 2),
            2..=4 => random.below(300),
            _ => random.below(100_000),
        };
        (0..count).map(|_| length(random)).collect()
    }

    fn stream_of(lengths: &[usize]) -> Vec<u8> {
        let framed = lengths.iter().enumerate().flat_map(|(number, &length)| {
            let mut framed = prefix(length).to_vec();
            framed.extend(message(number, length));
            framed
        });
        framed.collect()
    }

    fn feed(incoming: &mut Incoming, bytes: &[u8], got: &mut Vec<Vec<u8>>) {
        let take = |message: &[u8]| {
            got.push(message.to_vec());
            Ok::<_, Infallible>(())
        };
        let Ok(()) = incoming.feed(bytes, take);
    }

    #[test]
    fn messages_come_out_whole_however_the_stream_is_cut() {
        for seed in 0..300 {
            let mut random = Random(seed + 1);
            let lengths = lengths(&mut random, 12);
            let stream = stream_of(&lengths);
            let longest = [1, 3, 20, 5_000, 200_000][seed as usize % 5];
            let (mut incoming, mut got, mut rest) = (Incoming::default(), Vec::new(), &stream[..]);
            while !rest.is_empty() {
                let count = 1 + random.below(longest.min(rest.len()));
                feed(&mut incoming, &rest[..count], &mut got);
                rest = &rest[count..];
            }
            let sent = lengths.iter().enumerate();
            let sent: Vec<_> = sent.map(|(number, &one)| message(number, one)).collect();
            assert!(got == sent, "seed {seed}");
            assert!(incoming.partial.is_empty(), "seed {seed}");
        }
    }

    #[test]
    fn what_is_not_taken_at_once_is_sent_later_and_in_order() {
        for seed in 0..200 {
            let mut random = Random(seed + 1);
            let (mut outgoing, mut sent, mut got) = (Outgoing::default(), Vec::new(), Vec::new());
            let mut write = |random: &mut Random, bytes: &[u8]| match random.below(4) {
                0 => Err(io::ErrorKind::WouldBlock.into()),
                1 => Err(io::ErrorKind::Interrupted.into()),
                _ => {
                    let count = 1 + random.below(bytes.len());
                    got.extend_from_slice(&bytes[..count]);
                    Ok(count)
                }
            };
            for number in 0..40 {
                let bytes = message(number, random.below(200));
                let mut side = Random(seed << 8 | (number as u64 + 1));
                outgoing
                    .send(&bytes, |part| write(&mut side, part))
                    .expect("it takes or waits");
                sent.extend(bytes);
            }
            while !outgoing.is_empty() {
                outgoing
                    .flush(|part| write(&mut random, part))
                    .expect("as above");
            }
            assert!(got == sent, "seed {seed}");
        }
    }

    /// Both ends send more than the sockets hold before either reads.
    #[test]
    fn two_that_send_at_once_do_not_wait_for_each_other() {
        let (left, right) = UnixStream::pair().expect("a pair of sockets");
        let mut random = Random(4);
        let mut ends = [left, right].map(|stream| {
            stream.set_nonblocking(true).expect("a socket");
            (stream, Outgoing::default(), Incoming::default(), Vec::new())
        });
        let all = lengths(&mut random, 400);
        let longest = stream_of(&all);
        assert!(longest.len() > 2 << 20, "{}", longest.len());
        for (stream, outgoing, _, _) in &mut ends {
            for (number, &length) in all.iter().enumerate() {
                for part in [&prefix(length)[..], &message(number, length)] {
                    outgoing
                        .send(part, |part| stream.write(part))
                        .expect("it is open");
                }
            }
            assert!(!outgoing.is_empty());
        }
        let mut room = vec![0; 1 << 16];
        while ends.iter().any(|(_, _, _, got)| got.len() < all.len()) {
            for (stream, outgoing, incoming, got) in &mut ends {
                outgoing
                    .flush(|part| stream.write(part))
                    .expect("it is open");
                if let Some(count) = now(|| stream.read(&mut room)).expect("it is open") {
                    feed(incoming, &room[..count], got);
                }
            }
        }
        for (_, outgoing, _, got) in &ends {
            assert!(outgoing.is_empty());
            let mut sent = got.iter().zip(&all).enumerate();
            assert!(sent.all(|(number, (got, &length))| *got == message(number, length)));
        }
    }

    #[test]
    fn a_stream_that_has_ended_is_an_error() {
        let (left, right) = UnixStream::pair().expect("a pair of sockets");
        drop(right);
        let mut room = [0; 8];
        let kind = now(|| (&left).read(&mut room)).map_err(|error| error.kind());
        assert_eq!(kind, Err(io::ErrorKind::UnexpectedEof));
    }
}
