//! Pushes: messages between nodes that both sides know, because the ranks copied the same bytes before.
//!
//! Between two synchronisations the value of a byte that another rank may copy does not change. So where
//! it is known at a synchronisation what will be copied, each owner sends it at once, in one message to
//! each rank, and no rank has to ask.
//!
//! Guarantee: what one side sends the other side receives, since both take it from the same
//! [prediction](super::prediction); and what a rank takes out of a message is what its own plan would have
//! copied from the same owner. So a wrong prediction costs time only.

use std::rc::Rc;

use super::{
    SectionMode,
    plan::Plan,
    prediction::{self, Messages},
};
use crate::{
    coherence::{Coherence, Machine},
    sections::{ranges::Range, signature::Signature},
};

/// What was predicted at the last synchronisation.
pub(super) struct Expected {
    /// What all ranks knew then.
    key: Signature,
    messages: Option<Rc<Messages>>,
}

impl SectionMode {
    /// What stands for the copies that a plan makes from other nodes.
    pub(super) fn note_copies(&mut self, plan: &Plan) {
        if plan.far_copies != Signature::NOTHING {
            let copied = &mut self.interval.far_copied;
            *copied = copied.or_start().with_signature(plan.far_copies);
        }
    }

    fn far_copies<'a>(
        &'a self,
        is_far: impl Fn(u32) -> bool + 'a,
    ) -> impl Iterator<Item = (u32, &'a [Range])> + 'a {
        let all = self.interval.plans.iter().flat_map(|plan| &plan.pulls);
        all.filter(move |(owner, _)| is_far(*owner))
            .map(|(owner, ranges)| (*owner, &ranges[..]))
    }
}

impl<M: Machine> Coherence<M> {
    /// On all ranks, before the program runs on after a fork or a synchronisation: begins to send and to
    /// receive what is known to be needed. `place` stands for the region, `values` for what it was given;
    /// these count where the place alone does not tell.
    pub(crate) fn begin_pushes(&mut self, place: Signature, values: &[u64]) {
        let mode = &mut self.sections;
        mode.expected = None;
        if !mode.declaring || mode.owners.is_empty() || !self.machine.spans_nodes() {
            return;
        }
        let mut key = place
            .with_signature(mode.owners_id)
            .with_signature(mode.direct_id)
            .with_signature(mode.declared_last);
        if mode.predictions.is_given_up(key) && !values.is_empty() {
            key = values.iter().fold(key, |key, &value| key.with(value));
        }
        let messages = mode.predictions.after(key);
        if let Some(messages) = &messages {
            for one in &messages.received {
                self.machine.expect(one.rank, one.bytes);
                self.counts.pulls += 1;
                self.counts.pulled_bytes += one.bytes as u64;
            }
            for one in &messages.sent {
                self.machine.push(one.rank, &one.ranges);
            }
        }
        self.sections.expected = Some(Expected { key, messages });
    }

    /// Takes what was pushed out of `wanted`, which `owner` has. What is missing.
    pub(super) fn take_pushed(&mut self, owner: u32, wanted: &[Range]) -> Option<Vec<Range>> {
        let expected = self.sections.expected.as_ref()?;
        let mut received = expected.messages.as_ref()?.received.iter();
        let packed = received.find(|one| one.rank == owner)?;
        let (inside, outside) = packed.split(wanted);
        if !inside.is_empty() {
            self.machine.take(owner, &inside);
        }
        Some(outside)
    }

    /// What stands for the copies that this rank made from other nodes since the last synchronisation, and
    /// the number of words of [`Coherence::copies`].
    pub(crate) fn copied(&self) -> (Signature, usize) {
        let mode = &self.sections;
        match mode.interval.far_copied {
            Signature::NOTHING => (Signature::NOTHING, 0),
            copied => {
                let copies = mode.far_copies(|owner| !self.machine.is_near(owner));
                let words = copies.map(|(_, ranges)| prediction::words_of_copies(ranges));
                (copied, words.sum())
            }
        }
    }

    /// These copies.
    pub(crate) fn copies(&self) -> Vec<u64> {
        let mut words = Vec::new();
        for (owner, ranges) in self
            .sections
            .far_copies(|owner| !self.machine.is_near(owner))
        {
            prediction::push_copies(&mut words, owner, ranges);
        }
        words
    }

    /// On all ranks, at a synchronisation, before [`Coherence::apply_declared`]: ends what was begun at the
    /// last one, and learns from what each rank copied. Whether the copies themselves are needed, `words`
    /// of each rank: then [`Coherence::learn_copies`] is to follow.
    #[must_use]
    pub(crate) fn end_pushes(&mut self, copied: Signature, words: &[usize]) -> bool {
        let mode = &mut self.sections;
        let Some(expected) = &mode.expected else {
            return false;
        };
        if expected.messages.is_some() {
            self.machine.finish_pushes();
        }
        let wanted = mode.predictions.note(expected.key, copied);
        if wanted && !prediction::may_exchange(words) {
            mode.predictions.give_up(expected.key);
            return false;
        }
        wanted
    }

    /// Whether all ranks know what follows from what they declared and copied, without a word more. The same
    /// on all ranks.
    pub(crate) fn has_learned(&self, declared: Signature, copied: Signature) -> bool {
        let mode = &self.sections;
        let expected = mode.expected.as_ref();
        let asks = expected.is_some_and(|one| mode.predictions.would_ask(one.key, copied));
        !asks && self.knows_transition(declared)
    }

    /// Learns the copies of all ranks, in rank order.
    pub(crate) fn learn_copies(&mut self, copied: Signature, lists: &[&[u64]]) {
        let mode = &mut self.sections;
        let expected = mode.expected.as_ref();
        let key = expected.expect("an interval ends that has begun").key;
        mode.predictions.note_lists(self.rank, key, copied, lists);
    }
}
