//! Pushes that begin when a rank arrives at a synchronisation, before it knows that the others do.
//!
//! What a rank wrote does not change after it has arrived. So where it is known at a synchronisation what is
//! usually pushed after the next one, each owner sends it on its way there, and what goes between two ranks
//! that exchange a message at the synchronisation anyway may go along with that. Rank 0 goes on after the end of
//! a region, with serial code: what it pushes after the fork goes no earlier than with the fork, unless serial code there
//! usually writes nothing in section mode. It tells with the fork whether that was so: if not, all begins anew. What ranks pass
//! on for others goes along where all of that goes down with one synchronisation, and otherwise when all is known.
//!
//! Guarantee: all ranks know at the synchronisation before what goes early, whatever they do in between; and
//! it counts only where all comes as expected. Then its sender is its owner, and had its value on arrival:
//! pages that enter section mode, whose contents may still be on the way to their home, end it. What others contribute to,
//! or write under locks in stretches, has its value later: after such an interval nothing goes early.

use std::rc::Rc;

use super::{
    prediction::{At, Packed},
    pushes::{Direction, Sending},
    trees::Hop,
};
use crate::{
    coherence::{Coherence, Machine},
    geometry::signature::Signature,
};

/// More bytes (in tests, whose memory is small, fewer) do not go along with another message: a message of their own, which its receiver has room for when it
/// comes, costs less than that they hold up the next one, and are copied into and out of it.
pub(super) const MOST_ALONG: usize = if cfg!(test) { 1 << 10 } else { 1 << 14 };

/// A message of the ranks' synchronisation that data may go along with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Along {
    /// Sent by each rank when it arrives.
    Arrival,
    /// Sent when all have arrived; at the end of a region, with the next fork.
    Departure,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Not begun.
    Waits,
    /// It goes, or comes, along; the number of one that is received.
    Along(Along, u64),
    /// It has gone, or come or will come; the number as above.
    Begun(u64),
}

/// What is expected to lie between a synchronisation and where a region goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Between {
    /// The synchronisation alone.
    Synchronisation,
    /// The end of a region, serial code and a fork.
    SerialCode,
    /// The same, and the serial code writes nothing in section mode.
    SilentCode,
}

/// What is expected to be pushed after the next synchronisation.
pub(super) struct Early {
    key: Signature,
    between: Between,
    sendings: Rc<Vec<Sending>>,
    states: Vec<State>,
}

impl Early {
    /// What has come that may be passed on along with other messages.
    fn sources(&self) -> Vec<(Rc<Packed>, u64)> {
        let all = self.sendings.iter().zip(&self.states);
        all.filter(|(one, _)| one.direction == Direction::Received && one.packed.leg.is_some())
            .filter_map(|(one, state)| match state {
                State::Begun(number) => Some((Rc::clone(&one.packed), *number)),
                _ => None,
            })
            .collect()
    }
}

impl<M: Machine> Coherence<M> {
    /// On all ranks, after a synchronisation: what is expected of the next one.
    pub(super) fn expect_early(&mut self, at: At) {
        let next = self.sections.next_sendings(self.rank, at);
        self.sections.early = next.map(|(key, between, sendings)| Early {
            key,
            between,
            states: vec![State::Waits; sendings.len()],
            sendings,
        });
    }

    /// On rank 0, at a fork: whether serial code since the last region wrote nothing in section mode.
    pub(crate) fn is_serial_code_silent(&self) -> bool {
        !self.sections.serial_code_wrote
    }

    /// On all ranks, at a fork: whether that was so.
    pub(crate) fn note_serial_code(&mut self, is_silent: bool) {
        self.sections.passage.is_silent = is_silent;
    }

    /// Whether a synchronisation is expected next after which the region goes on. The same on all ranks.
    pub(crate) fn expects_barrier(&self) -> bool {
        let early = self.sections.early.as_ref();
        early.is_some_and(|early| early.between == Between::Synchronisation)
    }

    /// Where this rank arrives at a synchronisation, once: begins what goes early. `along` says which message
    /// from one rank to another data may go along with; all ranks say the same.
    pub(crate) fn arrive(&mut self, along: impl Fn(u32, u32) -> Option<Along>) {
        let Some(mut early) = self.sections.early.take() else {
            return;
        };
        let sendings = Rc::clone(&early.sendings);
        // What a rank passes on goes along where all of it comes and goes down with the same messages.
        let goes_down = |one: &Sending| {
            let alone = one.packed.leg.as_ref().and_then(|leg| leg.alone.as_ref());
            let is_down = |hop: &Hop| along(hop.from, hop.to) == Some(Along::Departure);
            alone.is_some_and(|hops| hops.iter().all(is_down))
        };
        for (one, state) in sendings.iter().zip(&mut early.states) {
            let along = match one.direction {
                Direction::Received => along(one.packed.rank, self.rank),
                Direction::Sent => along(self.rank, one.packed.rank),
            };
            let along = along.filter(|_| one.packed.bytes <= MOST_ALONG);
            let goes_on = early.between == Between::SerialCode && one.owner(self.rank) == 0;
            let is_relayed = one.packed.is_relayed();
            *state = match (along, one.direction) {
                _ if is_relayed && !goes_down(one) => State::Waits,
                (None | Some(Along::Arrival), _) if goes_on => State::Waits,
                (None, _) => State::Begun(self.begin(one)),
                (Some(with), Direction::Received) => {
                    State::Along(with, self.machine.expect_along(one.packed.rank))
                }
                (Some(with), Direction::Sent) => State::Along(with, 0),
            };
        }
        self.sections.early = Some(early);
    }

    /// Whether a region ends when all ranks have arrived. What was to go with the next fork, and there is
    /// none, does not.
    pub(crate) fn depart(&mut self, ends_region: bool) {
        let Some(early) = &mut self.sections.early else {
            return;
        };
        if early.between == Between::Synchronisation || ends_region {
            return;
        }
        for (one, state) in early.sendings.iter().zip(&mut early.states) {
            if let State::Along(Along::Departure, number) = *state {
                if one.direction == Direction::Received {
                    self.machine.forget(one.packed.rank, number);
                }
                *state = State::Waits;
            }
        }
    }

    /// What goes to `rank` along with such a message.
    pub(crate) fn data_along(&mut self, rank: u32, with: Along) -> Vec<u8> {
        let mut data = Vec::new();
        let Some(mut early) = self.sections.early.take() else {
            return data;
        };
        for at in 0..early.states.len() {
            let one = &early.sendings[at];
            if (one.packed.rank, one.direction) == (rank, Direction::Sent)
                && matches!(early.states[at], State::Along(along, _) if along == with)
            {
                data.extend(self.assemble(&one.packed, &early.sources()));
                early.states[at] = State::Begun(0);
            }
        }
        self.sections.early = Some(early);
        data
    }

    /// Number of bytes that come from `rank` along with such a message.
    pub(crate) fn bytes_along(&self, rank: u32, with: Along) -> usize {
        let Some(early) = &self.sections.early else {
            return 0;
        };
        let all = early.sendings.iter().zip(&early.states);
        all.filter(|(one, state)| {
            (one.packed.rank, one.direction) == (rank, Direction::Received)
                && matches!(state, State::Along(along, _) if *along == with)
        })
        .map(|(one, _)| one.packed.bytes)
        .sum()
    }

    /// Takes over what came from `rank` along with such a message.
    pub(crate) fn receive_along(&mut self, rank: u32, with: Along, mut data: &[u8]) {
        let Some(early) = &mut self.sections.early else {
            return;
        };
        for (one, state) in early.sendings.iter().zip(&mut early.states) {
            if let State::Along(along, number) = *state
                && (one.packed.rank, one.direction, along) == (rank, Direction::Received, with)
            {
                let (own, rest) = data.split_at(one.packed.bytes);
                data = rest;
                self.machine.arrived(number, own);
                *state = State::Begun(number);
            }
        }
    }

    /// After a synchronisation, where `key` stands for what all ranks know, and serial code, if there was some, `is_silent`:
    /// whether all came as expected. Then what went early can be taken, and the rest begins.
    pub(super) fn end_early(&mut self, key: Signature, is_silent: bool) -> bool {
        let is_expected =
            |early: &Early| early.key == key && (is_silent || early.between != Between::SilentCode);
        match &self.sections.early {
            Some(early) if is_expected(early) => {}
            _ => {
                self.forget_early();
                return false;
            }
        }
        let early = self.sections.early.take().expect("as above");
        for (one, state) in early.sendings.iter().zip(early.states) {
            let number = match state {
                State::Begun(number) => number,
                State::Waits => self.begin(one),
                State::Along(..) => panic!("data went along with a message that was not sent"),
            };
            self.note_begun(one, number);
        }
        true
    }

    /// On all ranks: what went early is not to be taken.
    pub(super) fn forget_early(&mut self) {
        let Some(early) = self.sections.early.take() else {
            return;
        };
        for (one, state) in early.sendings.iter().zip(early.states) {
            if let State::Begun(number) | State::Along(_, number) = state
                && one.direction == Direction::Received
            {
                self.machine.forget(one.packed.rank, number);
            }
        }
    }
}
