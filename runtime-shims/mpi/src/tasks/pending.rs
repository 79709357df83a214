//! Tasks that have been created and are not complete, in the order of their creation: bookkeeping only.
//!
//! Guarantee: none is said to be ready before all tasks that it depends on are complete. Nothing here calls the program or
//! looks at its memory. What a thread asks for at each task does not take longer where many others wait or run around it:
//! trees of tasks have thousands of both.

use std::collections::BTreeSet;

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
    /// Whether that is enough for another thread to take it.
    may_leave: bool,
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
        may_leave: bool,
    ) -> Self {
        Self {
            id,
            queued,
            moved,
            priority,
            takes,
            may_leave,
            place: Place::Kept,
            blocked: 0,
        }
    }

    fn is_ready(&self) -> bool {
        self.place == Place::Kept && self.blocked == 0
    }

    /// Among those that may go to other threads.
    fn turn(&self) -> (i64, u64) {
        (-self.priority, self.id)
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
pub(super) struct List {
    /// In the order of their numbers.
    all: Vec<Pending>,
    /// The turns of those that are ready and may leave.
    leaving: BTreeSet<(i64, u64)>,
    /// The numbers of those in slots, in order.
    in_slots: Vec<u64>,
    /// How many have a priority.
    with_priority: usize,
}

impl List {
    pub(super) const fn new() -> Self {
        Self {
            all: Vec::new(),
            leaving: BTreeSet::new(),
            in_slots: Vec::new(),
            with_priority: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn get(&self, id: u64) -> &Pending {
        &self.all[self.at(id)]
    }

    fn at(&self, id: u64) -> usize {
        let at = self.all.binary_search_by_key(&id, |one| one.id);
        at.expect("a task that is not complete")
    }

    /// Those created after the number `since`, the newest first.
    fn newer(&self, since: u64) -> impl Iterator<Item = &Pending> {
        let newest = self.all.iter().rev();
        newest.take_while(move |one| one.id > since)
    }

    pub(super) fn add(&mut self, mut new: Pending) {
        if !new.queued.dependences.is_empty() {
            let siblings = self.newer(new.queued.creator.task);
            new.blocked = siblings.filter(|older| new.waits_for(older)).count() as u32;
        }
        self.with_priority += usize::from(new.priority != 0);
        self.all.push(new);
        self.note(self.all.len() - 1);
    }

    /// Notes where a task is now.
    fn note(&mut self, at: usize) {
        let one = &self.all[at];
        if one.may_leave && one.is_ready() {
            self.leaving.insert(one.turn());
        }
        if matches!(one.place, Place::Offered { .. }) {
            let behind = self.in_slots.partition_point(|&id| id < one.id);
            self.in_slots.insert(behind, one.id);
        }
    }

    /// Before it is elsewhere.
    fn forget(&mut self, at: usize) {
        let one = &self.all[at];
        self.leaving.remove(&one.turn());
        if let Ok(at) = self.in_slots.binary_search(&one.id) {
            self.in_slots.remove(at);
        }
    }

    /// Whether all tasks created after the number `since` are complete.
    pub(super) fn none_since(&self, since: u64) -> bool {
        self.all.last().is_none_or(|last| last.id <= since)
    }

    /// Whether all children of a task are complete.
    pub(super) fn none_of(&self, creator: Creator) -> bool {
        let mut newer = self.newer(creator.task);
        newer.all(|one| one.queued.creator != creator)
    }

    /// Whether a task that `creator` would create with these dependences would be ready.
    pub(super) fn would_be_ready(&self, creator: Creator, dependences: &[Dependence]) -> bool {
        let conflicts = |one: &Pending| {
            one.queued.creator == creator && wait(dependences, &one.queued.dependences)
        };
        dependences.is_empty() || !self.newer(creator.task).any(conflicts)
    }

    /// The ready tasks that are kept and were created after `since`.
    fn kept(&self, since: u64) -> impl Iterator<Item = &Pending> {
        self.newer(since).filter(|one| one.is_ready())
    }

    /// The one of these that its own thread runs next: the newest, or of those with the highest priority the newest.
    pub(super) fn next(&self, since: u64) -> Option<&Pending> {
        let mut kept = self.kept(since);
        match self.with_priority {
            0 => kept.next(),
            _ => kept.max_by_key(|one| (one.priority, one.id)),
        }
    }

    /// How many ready tasks are kept that may leave.
    pub(super) fn leaving(&self) -> usize {
        self.leaving.len()
    }

    /// The numbers of these, in the order in which they are to go.
    pub(super) fn first_to_leave(&self) -> impl Iterator<Item = u64> {
        self.leaving.iter().map(|turn| turn.1)
    }

    /// The tasks created after `since` that are in slots, the newest first.
    pub(super) fn offered(&self, since: u64) -> impl Iterator<Item = &Pending> {
        let newest = self.in_slots.iter().rev();
        let newer = newest.take_while(move |&&id| id > since);
        newer.map(|&id| self.get(id))
    }

    pub(super) fn set_place(&mut self, id: u64, place: Place) {
        let at = self.at(id);
        self.forget(at);
        self.all[at].place = place;
        self.note(at);
    }

    /// A task is complete.
    pub(super) fn complete(&mut self, id: u64) -> Pending {
        let at = self.at(id);
        self.forget(at);
        let done = self.all.remove(at);
        self.with_priority -= usize::from(done.priority != 0);
        if !done.queued.dependences.is_empty() {
            for at in at..self.all.len() {
                if self.all[at].waits_for(&done) {
                    self.all[at].blocked -= 1;
                    self.note(at);
                }
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
        Pending::new(id, queued, moved, 0, None, true)
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
    fn those_with_priority_go_first_and_of_these_the_oldest() {
        let mut list = List::new();
        for (id, priority, may_leave) in [
            (1, 0, true),
            (2, 1, true),
            (3, 1, true),
            (4, 0, false),
            (5, 0, true),
        ] {
            let mut one = task(id, 0, &[]);
            (one.priority, one.may_leave) = (priority, may_leave);
            list.add(one);
        }
        let going = |list: &List| list.first_to_leave().collect::<Vec<u64>>();
        assert_eq!((going(&list), list.leaving()), (vec![2, 3, 1, 5], 4));
        assert_eq!(list.next(0).map(|one| one.id), Some(3));
        list.set_place(2, Place::Offered { slot: 1, word: 7 });
        list.set_place(3, Place::Running);
        assert_eq!(going(&list), [1, 5]);
        assert_eq!(list.next(0).map(|one| one.id), Some(5));
        list.set_place(1, Place::Offered { slot: 0, word: 8 });
        let offered = |list: &List| list.offered(0).map(|one| one.id).collect::<Vec<u64>>();
        assert_eq!(offered(&list), [2, 1]);
        list.complete(2);
        list.complete(3);
        assert_eq!((offered(&list), list.with_priority), (vec![1], 0));
        assert_eq!(list.next(0).map(|one| one.id), Some(5));
        list.complete(5);
        assert_eq!(list.next(0).map(|one| one.id), Some(4));
        assert_eq!((list.leaving(), list.len()), (0, 2));
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
