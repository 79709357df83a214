//! Where threads wait for flags between nests: bytes become their expected writer's when an interval begins.
//!
//! What a rank writes between nests goes to its owner whenever it releases or acquires something. So where ranks declared the
//! same before, after the same declarations, each byte that one rank alone wrote then becomes that rank's at the synchronisation
//! before it writes it again: it copies it from the owner before, all at once, and all wait until all have done so. What it
//! writes then goes nowhere before it is asked for. With that it copies what it is expected to read, and which nobody is expected
//! to write meanwhile: each nest would ask for a little of it.
//!
//! Guarantee: no byte changes its value; all ranks know alike who owns it. A wrong expectation costs time only.

use std::{collections::BTreeSet, rc::Rc};

use super::{Mode, SectionMode, plan::by_owner, transition::Exchanged};
use crate::{
    coherence::{Coherence, Machine},
    geometry::{
        cache::Cache,
        owners::Owned,
        pieces::Step,
        ranges::{Range, Ranges},
        signature::Signature,
    },
};

/// More ranks do not tell each other what they ask for: too many messages would be under way that nobody receives yet.
const MOST_RANKS: usize = if cfg!(test) { 3 } else { 16 };

/// What is expected of intervals in which ranks wait for flags.
#[derive(Default)]
pub(super) struct ExpectedWriters {
    /// Stands for what the ranks declared before the interval that runs, and where.
    context: Option<Signature>,
    /// What they declared after such.
    follows: Cache<Signature>,
    moves: Cache<Rc<Move>>,
}

impl ExpectedWriters {
    /// A region begins. What came before says nothing of its first interval, but that it was this region's: `place` stands for
    /// that.
    fn begin_region(&mut self, place: Signature) {
        self.context = Some(place);
    }

    /// Since the last synchronisation, or the fork, the ranks declared what `declared` stands for. They are in `context` now, if
    /// their region goes on.
    fn note(&mut self, declared: Signature, context: Option<Signature>) {
        if let Some(before) = std::mem::replace(&mut self.context, context) {
            self.follows.insert(before, declared, 0);
        }
    }

    /// What the ranks are expected to declare now.
    fn next(&self) -> Option<Signature> {
        self.follows.get(self.context?).copied()
    }
}

/// What becomes whose.
struct Move {
    /// The same on all ranks.
    is_any: bool,
    /// What this rank copies, by its owner: from ranks of its node, and from others.
    near: Vec<(u32, Vec<Range>)>,
    far: Vec<(u32, Vec<Range>)>,
    /// Those of the others that copy something from this one, or it from them, as far as all of them can tell; none where
    /// there are [many](MOST_RANKS).
    partners: Vec<u32>,
    owners: Rc<Step>,
    /// What is current here of other owners.
    valid: [Rc<Step>; 3],
}

/// What ranks are expected to do between nests.
struct Intentions {
    /// What each rank, and no other one, is sure to write.
    writers: Vec<Ranges>,
    /// What each rank reads, and no other one writes.
    reads: Vec<Ranges>,
}

/// Where all declare what they have exchanged; `None` where they do not wait for flags.
fn intentions(exchanged: &Exchanged) -> Option<Intentions> {
    let ranks = 0..exchanged.words.len();
    if !ranks
        .clone()
        .any(|rank| exchanged.tells(rank, Mode::HandedOver))
    {
        return None;
    }
    let bytes = |rank: usize, are_wanted: fn(Mode) -> bool| {
        let shapes = exchanged.shapes(rank, are_wanted);
        let ranges = shapes.flat_map(|shape| shape.ranges().iter().collect::<Vec<Range>>());
        Ranges::of(ranges.collect())
    };
    let may_be_written = |mode| {
        matches!(
            mode,
            Mode::Write | Mode::MayWrite | Mode::Marked | Mode::Contribute
        )
    };
    let may_be_written: Vec<Ranges> = ranks
        .clone()
        .map(|rank| bytes(rank, may_be_written))
        .collect();
    let not_written_by_others = |rank: usize, bytes: Ranges| {
        let others = ranks.clone().filter(|&other| other != rank);
        others.fold(bytes, |all, other| all.minus(&may_be_written[other]))
    };
    let writers = ranks
        .clone()
        .map(|rank| match exchanged.tells(rank, Mode::HandedOver) {
            true => not_written_by_others(rank, bytes(rank, |mode| mode == Mode::Write)),
            false => Ranges::default(),
        });
    let is_read = |mode| matches!(mode, Mode::Read | Mode::MayRead | Mode::MayWrite);
    let reads = ranks
        .clone()
        .map(|rank| not_written_by_others(rank, bytes(rank, is_read)));
    Some(Intentions {
        writers: writers.collect(),
        reads: reads.collect(),
    })
}

impl SectionMode {
    /// Notes what the ranks declared since the last synchronisation. What they are expected to declare next, where `place`
    /// stands for the region.
    fn expected_next(&mut self, place: Signature) -> Option<Signature> {
        let declared = self.exchanged_last;
        let exchanged = self.exchanged.get(declared);
        let accesses = exchanged.map_or(declared, |exchanged| exchanged.accesses);
        let context = place
            .with_signature(self.direct_id)
            .with_signature(accesses);
        self.expected_writers.note(declared, Some(context));
        self.expected_writers.next()
    }

    /// The first interval of a region begins, in which ranks wait for flags. Nothing becomes anybody's: the ranks do not wait
    /// for each other after a fork.
    pub(super) fn expect_first_interval(&mut self) {
        let Some(next) = self.expected_writers.next() else {
            return;
        };
        if self.exchanged.get(next).is_some() {
            self.directly.expect(next);
        }
    }
}

impl<M: Machine> Coherence<M> {
    /// On all ranks, after the fork of a region, which `place` stands for.
    pub(crate) fn begin_region_of_writers(&mut self, place: Signature) {
        let mode = &mut self.sections;
        let place = place.with_signature(mode.direct_id);
        mode.expected_writers.begin_region(place);
    }

    /// On all ranks, after the last synchronisation of a region.
    pub(crate) fn end_last_interval(&mut self) {
        let mode = &mut self.sections;
        if mode.has_flags && mode.declaring {
            mode.expected_writers.note(mode.exchanged_last, None);
        }
    }

    /// On all ranks, after a synchronisation of a region that goes on, when all is applied: bytes become their expected
    /// writers'. Where it returns true, no rank may go on before all ranks have returned from here. `place` stands for the
    /// region.
    #[must_use]
    pub(crate) fn move_to_writers(&mut self, place: Signature) -> bool {
        let mode = &mut self.sections;
        if !mode.has_flags || !mode.declaring || mode.owners.is_empty() {
            return false;
        }
        let Some(next) = mode.expected_next(place) else {
            return false;
        };
        // What all ranks remember alike says whether there is a move; how it is made each remembers for itself.
        let Some(exchanged) = mode.exchanged.get(next).cloned() else {
            return false;
        };
        mode.directly.expect(next);
        let key = mode.owners.signature().with_signature(next);
        let key = key.with_signature(mode.valid.signature());
        let known = mode.expected_writers.moves.get(key).cloned();
        let is_known = known.is_some();
        let change = known.unwrap_or_else(|| self.work_out_move(key, &exchanged));
        self.counts.moves += u64::from(change.is_any);
        for (owner, ranges) in &change.near {
            self.machine.pull(*owner, ranges);
        }
        match change.partners.is_empty() {
            true => {
                for (owner, ranges) in &change.far {
                    self.machine.pull(*owner, ranges);
                }
            }
            false => self.copy_from_partners(&change.far, &change.partners),
        }
        for (_, ranges) in change.near.iter().chain(&change.far) {
            self.counts.pulls += 1;
            let bytes = ranges.iter().map(|(start, end)| end - start);
            self.counts.pulled_bytes += bytes.sum::<u64>();
        }
        let mode = &mut self.sections;
        if is_known {
            mode.owners.follow(&change.owners);
            for step in &change.valid {
                mode.valid.follow(step);
            }
        }
        if change.is_any {
            // What goes early is packed by who owned it when it arrived.
            self.forget_early();
        }
        change.is_any
    }

    /// Works out what becomes whose, and notes it.
    fn work_out_move(&mut self, key: Signature, exchanged: &Exchanged) -> Rc<Move> {
        let mut moved: Vec<(u32, Vec<Owned>)> = Vec::new();
        let (writers, all_reads) =
            intentions(exchanged).map_or_else(Default::default, |all| (all.writers, all.reads));
        let partners = self.partners(&writers, &all_reads);
        let mode = &self.sections;
        for (rank, bytes) in (0..).zip(writers) {
            let mut pieces = mode.owners.within(&bytes);
            pieces.retain(|one| one.owner != rank);
            moved.push((rank, pieces));
        }
        let range = |one: &Owned| (one.start, one.end);
        let bytes_of = |pieces: &[Owned]| Ranges::of(pieces.iter().map(range).collect());
        let (mut got, mut lost) = (Vec::new(), Vec::new());
        for (rank, pieces) in &moved {
            match *rank == self.rank {
                true => got.extend(pieces),
                false => lost.extend(pieces.iter().filter(|one| one.owner == self.rank)),
            }
        }
        // What becomes another one's is asked for when that has it.
        let others = moved.iter().filter(|(rank, _)| *rank != self.rank);
        let reads = all_reads.get(self.rank as usize);
        let reads = reads.cloned().unwrap_or_default();
        let reads = others.fold(reads, |reads, (_, pieces)| reads.minus(&bytes_of(pieces)));
        let wanted = bytes_of(&got).union(&reads);
        let stale = wanted.minus(&mode.valid.within(&wanted));
        let mut pulls = mode.owners.within(&stale);
        pulls.retain(|one| one.owner != self.rank);
        let copied = Ranges::of(pulls.iter().map(range).collect()).minus(&bytes_of(&got));
        let sets: Vec<(Ranges, u32)> = moved
            .iter()
            .map(|(rank, pieces)| (bytes_of(pieces), *rank))
            .collect();
        let claims: Vec<_> = sets
            .iter()
            .map(|&(_, rank)| {
                move |one: Owned| Owned {
                    owner: rank,
                    shared: true,
                    ..one
                }
            })
            .collect();
        let changes = sets.iter().zip(&claims);
        let changes: Vec<(&Ranges, &dyn Fn(Owned) -> Owned)> = changes
            .map(|((bytes, _), claim)| (bytes, claim as &dyn Fn(Owned) -> Owned))
            .collect();
        let is_any = sets.iter().any(|(bytes, _)| !bytes.is_empty());
        let (near, far) = by_owner(pulls)
            .into_iter()
            .partition(|(owner, _)| self.machine.is_near(*owner));
        let mode = &mut self.sections;
        let change = Rc::new(Move {
            is_any,
            near,
            far,
            partners,
            owners: mode.owners.change(&changes),
            valid: [
                mode.valid.remove(&bytes_of(&got)),
                mode.valid.add(&bytes_of(&lost)),
                mode.valid.add(&copied),
            ],
        });
        let pulled = change.near.iter().chain(&change.far);
        let pulled = pulled.map(|(_, ranges)| ranges.len());
        let pieces = pulled.sum::<usize>() + change.owners.len();
        let pieces = pieces + change.valid.iter().map(|step| step.len()).sum::<usize>();
        let moves = &mut mode.expected_writers.moves;
        moves.insert(key, Rc::clone(&change), pieces);
        change
    }

    /// The ranks on other nodes that may have to copy something from this one, or it from them: as they find, too.
    fn partners(&self, writers: &[Ranges], reads: &[Ranges]) -> Vec<u32> {
        let mode = &self.sections;
        let me = self.rank;
        if writers.len() > MOST_RANKS {
            return Vec::new();
        }
        let asks = |rank: u32| {
            let at = rank as usize;
            mode.owners.within(&writers[at].union(&reads[at]))
        };
        let ranks = 0..writers.len() as u32;
        let own: BTreeSet<u32> = match writers.is_empty() {
            true => BTreeSet::new(),
            false => asks(me).iter().map(|one| one.owner).collect(),
        };
        let others = ranks.filter(|&other| other != me && !self.machine.is_near(other));
        let partners = others
            .filter(|other| own.contains(other) || asks(*other).iter().any(|one| one.owner == me));
        partners.collect()
    }
}
