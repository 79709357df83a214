//! Tasks that have been created and are not complete, in the order of their creation: bookkeeping only.
//!
//! Guarantee: none is said to be ready before all tasks that it depends on are complete. Nothing here calls the program or
//! looks at its memory.

use super::state::{Creator, Dependence, Queued};
use crate::api::Icv;

/// The names of tasks around one that were taken from other threads, the innermost first; 0 for none.
pub(super) type Chain = [u64; MOST_GUESTS];
/// As many of those are known.
pub(super) const MOST_GUESTS: usize = 4;

/// What a thread that runs a task of another one has to know of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moved {
    /// Its record.
    pub(super) task: usize,
    /// The control variables of its creator.
    pub(super) icv: Icv,
    /// Tasks around it.
    pub(super) depth: u32,
    /// The moved tasks around it.
    pub(super) chain: Chain,
}

/// Where a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// With its thread.
    Kept,
    /// In a slot, with a word there, so that others may take it.
    Offered { slot: usize, word: u64 },
    /// On its thread's stack.
    Running,
}

/// A task that is not complete.
pub(super) struct Pending {
    /// Its number among tasks and groups of its thread.
    pub(super) id: u64,
    pub(super) queued: Queued,
    pub(super) moved: Moved,
    pub(super) priority: i64,
    /// What a run of its code takes in microseconds, as far as that is known.
    pub(super) takes: Option<u32>,
    pub(super) place: Place,
    /// Older tasks that it waits for.
    blocked: u32,
}

impl Pending {
    pub(super) fn new(
        id: u64,
        queued: Queued,
        moved: Moved,
        priority: i64,
        takes: Option<u32>,
    ) -> Self {
        Self {
            id,
            queued,
            moved,
            priority,
            takes,
            place: Place::Kept,
            blocked: 0,
        }
    }

    fn waits_for(&self, older: &Self) -> bool {
        self.queued.creator == older.queued.creator
            && wait(&self.queued.dependences, &older.queued.dependences)
    }
}

/// Whether a task with the dependences `new` waits for one with `old`.
fn wait(new: &[Dependence], old: &[Dependence]) -> bool {
    new.iter()
        .any(|new| old.iter().any(|old| new.waits_for(old)))
}

/// All of them.
#[derive(Default)]
pub(super) struct List(Vec<Pending>);

impl List {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Pending> {
        self.0.iter()
    }

    pub(super) fn add(&mut self, mut new: Pending) {
        if !new.queued.dependences.is_empty() {
            new.blocked = self.0.iter().filter(|older| new.waits_for(older)).count() as u32;
        }
        self.0.push(new);
    }

    /// Whether all tasks created after the number `since` are complete.
    pub(super) fn none_since(&self, since: u64) -> bool {
        self.0.last().is_none_or(|last| last.id <= since)
    }

    /// Whether all children of a task are complete.
    pub(super) fn none_of(&self, creator: Creator) -> bool {
        self.0.iter().all(|one| one.queued.creator != creator)
    }

    /// Whether a task that `creator` would create with these dependences would be ready.
    pub(super) fn would_be_ready(&self, creator: Creator, dependences: &[Dependence]) -> bool {
        let conflicts = |one: &Pending| {
            one.queued.creator == creator && wait(dependences, &one.queued.dependences)
        };
        dependences.is_empty() || !self.0.iter().any(conflicts)
    }

    /// The ready tasks that are kept and were created after `since`.
    pub(super) fn kept(&self, since: u64) -> impl Iterator<Item = &Pending> {
        let newer = self.0.iter().rev().take_while(move |one| one.id > since);
        newer.filter(|one| one.place == Place::Kept && one.blocked == 0)
    }

    /// The tasks created after `since` that are in slots, the newest first.
    pub(super) fn offered(&self, since: u64) -> impl Iterator<Item = &Pending> {
        let newer = self.0.iter().rev().take_while(move |one| one.id > since);
        newer.filter(|one| matches!(one.place, Place::Offered { .. }))
    }

    pub(super) fn set_place(&mut self, id: u64, place: Place) {
        let one = self.0.iter_mut().find(|one| one.id == id);
        one.expect("a task that is not complete").place = place;
    }

    /// A task is complete.
    pub(super) fn complete(&mut self, id: u64) -> Pending {
        let at = self.0.iter().position(|one| one.id == id);
        let done = self.0.remove(at.expect("a task that is not complete"));
        if !done.queued.dependences.is_empty() {
            for one in self.0.iter_mut().filter(|one| one.id > id) {
                one.blocked -= u32::from(one.waits_for(&done));
            }
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUT: u8 = 3;

    fn task(id: u64, creator: u64, on: &[(usize, u8)]) -> Pending {
        let creator = Creator {
            task: creator,
            ..Creator::default()
        };
        let one = |&(address, kind): &(usize, u8)| Dependence {
            address,
            length: 8,
            kind,
        };
        let queued = Queued {
            gtid: 0,
            task: std::ptr::null_mut(),
            creator,
            dependences: on.iter().map(one).collect(),
        };
        let moved = Moved {
            task: 0,
            icv: Icv::default(),
            depth: 0,
            chain: Chain::default(),
        };
        Pending::new(id, queued, moved, 0, None)
    }

    fn ready(list: &List, since: u64) -> Vec<u64> {
        list.kept(since).map(|one| one.id).collect()
    }

    #[test]
    fn a_task_is_ready_when_those_it_depends_on_are_complete() {
        let mut list = List::new();
        list.add(task(1, 0, &[(8, OUT)]));
        list.add(task(2, 0, &[(8, Dependence::IN)]));
        list.add(task(3, 0, &[(8, Dependence::IN)]));
        list.add(task(4, 0, &[(8, OUT)]));
        list.add(task(5, 9, &[(8, OUT)]));
        assert_eq!(ready(&list, 0), [5, 1]);
        list.complete(5);
        let first = Creator::default();
        let on = |address| Dependence {
            address,
            length: 8,
            kind: Dependence::IN,
        };
        assert!(!list.would_be_ready(first, &[on(8)]) && list.would_be_ready(first, &[on(9)]));
        list.set_place(1, Place::Running);
        assert!(ready(&list, 0).is_empty());
        list.complete(1);
        assert_eq!(ready(&list, 0), [3, 2]);
        assert_eq!(ready(&list, 2), [3]);
        list.complete(3);
        assert_eq!(ready(&list, 0), [2]);
        list.complete(2);
        assert_eq!(ready(&list, 0), [4]);
        list.complete(4);
        assert!(list.none_since(0));
    }

    #[test]
    fn what_is_in_a_slot_is_not_kept() {
        let mut list = List::new();
        (1..4).for_each(|id| list.add(task(id, 0, &[])));
        list.set_place(2, Place::Offered { slot: 0, word: 9 });
        assert_eq!(ready(&list, 0), [3, 1]);
        let offered: Vec<u64> = list.offered(0).map(|one| one.id).collect();
        assert_eq!(offered, [2]);
        assert_eq!(list.offered(2).count(), 0);
    }

    #[test]
    fn children_and_younger_tasks_are_told_apart() {
        let mut list = List::new();
        list.add(task(1, 0, &[]));
        list.add(task(3, 2, &[]));
        let of = |task| Creator {
            task,
            ..Creator::default()
        };
        assert!(list.none_of(of(7)) && !list.none_of(of(2)) && !list.none_of(of(0)));
        assert!(list.none_since(3) && !list.none_since(2));
        assert!(list.would_be_ready(of(0), &[]));
    }
}
