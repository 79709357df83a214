//! Which tasks a thread is in, and which still have to run or complete: bookkeeping only.
//!
//! Guarantee: nothing here calls the program or looks at its memory.

use std::{collections::VecDeque, ffi::c_void};

use crate::api::Icv;

/// A bit of libomp's `kmp_tasking_flags_t`: the task is final.
const FINAL: i32 = 1 << 1;

/// One entry of a `depend` clause: libomp's `kmp_depend_info_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Dependence {
    pub(super) address: usize,
    pub(super) length: usize,
    pub(super) kind: u8,
}

impl Dependence {
    pub(super) const IN: u8 = 1;
    const IN_OUT_SET: u8 = 8;
    const ALL_MEMORY: u8 = 0x80;

    /// Whether a task with this entry waits for an older one with `other`.
    pub(super) fn waits_for(&self, other: &Self) -> bool {
        if (self.kind | other.kind) & Self::ALL_MEMORY != 0 {
            return true;
        }
        let compatible =
            self.kind == other.kind && matches!(self.kind, Self::IN | Self::IN_OUT_SET);
        self.address == other.address && !compatible
    }
}

/// Who creates tasks and waits for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Creator {
    /// The explicit task, 0 for the implicit one of the region.
    pub(super) task: u64,
    /// The number of enclosing regions.
    pub(super) level: i32,
    pub(super) is_final: bool,
}

/// A task being run.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub(super) id: u64,
    pub(super) level: i32,
    pub(super) is_final: bool,
    pub(super) creator: Creator,
    /// Explicit tasks around it, wherever they run.
    pub(super) depth: u32,
    /// The control variables outside: a task has its own.
    pub(super) icv: Icv,
}

/// A task that waits for its turn because the stack is deep.
pub(super) struct Queued {
    pub(super) gtid: i32,
    pub(super) task: *mut c_void,
    pub(super) creator: Creator,
    pub(super) dependences: Vec<Dependence>,
}

/// A task with an event.
pub(super) struct Detached {
    pub(super) event: i64,
    pub(super) gtid: i32,
    pub(super) task: *mut c_void,
    pub(super) fulfilled: bool,
    /// Set when the task's body has run.
    pub(super) done: Option<Done>,
}

pub(super) struct Done {
    pub(super) id: u64,
    pub(super) creator: Creator,
    pub(super) dependences: Vec<Dependence>,
}

/// A `taskgroup` region.
pub(super) struct Group {
    pub(super) id: u64,
    /// Every task created in it has at least this number.
    pub(super) first_task: u64,
    pub(super) items: Vec<Item>,
}

/// A variable of a task reduction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    /// What the reduction goes into.
    pub(super) shared: usize,
    /// What the program calls it outside; the same, unless the construct made a private copy.
    pub(super) original: usize,
    pub(super) size: usize,
}

impl Item {
    /// The place in `shared` that `address` means.
    pub(super) fn find(&self, address: usize) -> Option<usize> {
        let within = |start: usize| {
            let offset = address.checked_sub(start)?;
            (offset < self.size.max(1)).then_some(self.shared + offset)
        };
        within(self.shared).or_else(|| within(self.original))
    }
}

/// The number of tasks inside one another that may be on the stack.
pub(super) const DEEPEST: usize = 256;

pub(super) struct Tasks {
    /// The tasks being run, the innermost last.
    pub(super) frames: Vec<Frame>,
    pub(super) groups: Vec<Group>,
    pub(super) queue: VecDeque<Queued>,
    pub(super) detached: Vec<Detached>,
    /// Tasks, groups and events so far.
    pub(super) numbers: u64,
}

impl Tasks {
    pub(super) const fn new() -> Self {
        Self {
            frames: Vec::new(),
            groups: Vec::new(),
            queue: VecDeque::new(),
            detached: Vec::new(),
            numbers: 0,
        }
    }

    pub(super) fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// The task region at nesting level `level`, which is the innermost.
    pub(super) fn creator(&self, level: i32) -> Creator {
        match self.frames.last() {
            Some(frame) if frame.level == level => Creator {
                task: frame.id,
                level,
                is_final: frame.is_final,
            },
            _ => Creator {
                task: 0,
                level,
                is_final: false,
            },
        }
    }

    pub(super) fn begin(&mut self, level: i32, flags: i32, creator: Creator, depth: u32, icv: Icv) {
        let id = self.number();
        let is_final = flags & FINAL != 0 || creator.is_final;
        self.frames.push(Frame {
            id,
            level,
            is_final,
            creator,
            depth,
            icv,
        });
    }

    /// Explicit tasks around one that is created now.
    pub(super) fn depth(&self) -> u32 {
        self.frames.last().map_or(0, |frame| frame.depth + 1)
    }

    /// Whether nothing that is known of the tasks around one that is created now ties it to this place.
    pub(super) fn may_defer(&self) -> bool {
        self.queue.is_empty() && self.groups.iter().all(|group| group.items.is_empty())
    }

    /// Whether a task created now has to wait for its turn.
    pub(super) fn is_too_deep(&self, creator: Creator) -> bool {
        self.frames.len() >= DEEPEST && !creator.is_final
    }

    /// Whether the tasks put off can run inside the innermost one, which has ended otherwise.
    pub(super) fn has_room_for_queue(&self) -> bool {
        self.frames.len() <= DEEPEST && !self.queue.is_empty()
    }

    /// Detached tasks whose bodies have run.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Done> {
        self.detached
            .iter()
            .filter(|task| !task.fulfilled)
            .filter_map(|task| task.done.as_ref())
    }

    /// Whether a task that `creator` creates has to wait for an event before it may run.
    pub(super) fn depends_on_event(&self, creator: Creator, dependences: &[Dependence]) -> bool {
        self.waiting()
            .filter(|done| done.creator == creator)
            .any(|done| {
                let conflicts =
                    |new: &Dependence| done.dependences.iter().any(|old| new.waits_for(old));
                dependences.iter().any(conflicts)
            })
    }

    /// Notes the end of the body of the innermost task. The frame, and whether the task is complete.
    pub(super) fn end(&mut self, event: i64, dependences: Vec<Dependence>) -> (Frame, bool) {
        let frame = self.frames.pop().expect("a task ends that began");
        let index = self.detached.iter().position(|task| task.event == event);
        let complete = match index {
            None => true,
            Some(index) if self.detached[index].fulfilled => {
                self.detached.swap_remove(index);
                true
            }
            Some(index) => {
                let done = Done {
                    id: frame.id,
                    creator: frame.creator,
                    dependences,
                };
                self.detached[index].done = Some(done);
                false
            }
        };
        (frame, complete)
    }

    /// Notes that an event is fulfilled. The task to complete, if its body has run.
    pub(super) fn fulfill(
        &mut self,
        event: i64,
    ) -> Result<Option<(i32, *mut c_void)>, UnknownEvent> {
        let known = |task: &Detached| task.event == event && !task.fulfilled;
        let index = self.detached.iter().position(known).ok_or(UnknownEvent)?;
        if self.detached[index].done.is_none() {
            self.detached[index].fulfilled = true;
            return Ok(None);
        }
        let task = self.detached.swap_remove(index);
        Ok(Some((task.gtid, task.task)))
    }

    /// The variable of a task reduction to use for `address`, from group `id` or the innermost on
    /// outwards; `address` itself where no group knows it.
    pub(super) fn reduction_item(&self, id: u64, address: usize) -> usize {
        let inner_first = self.groups.iter().rev();
        let known = inner_first.skip_while(|group| id != 0 && group.id != id);
        let mut items = known.flat_map(|group| &group.items);
        items.find_map(|item| item.find(address)).unwrap_or(address)
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnknownEvent;

/// Whether a taskloop has no iterations. Its bounds carry no sign: it is empty where they say so read
/// either way, or where the upper bound lies one step in front of the lower one.
pub(super) fn is_empty_taskloop(lower: u64, upper: u64, stride: i64) -> bool {
    let past = |lower: i128, upper: i128| {
        if stride > 0 {
            upper < lower
        } else {
            lower < upper
        }
    };
    let one_in_front = upper.wrapping_add(stride.signum() as u64) == lower;
    one_in_front
        || past(lower.into(), upper.into()) && past((lower as i64).into(), (upper as i64).into())
}

/// How a taskloop is cut into tasks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Grain {
    /// One task for the whole loop, where no clause says otherwise.
    Whole,
    /// `grainsize`: at least so many iterations in a task, and less than twice as many.
    Size(u64),
    /// `grainsize(strict: n)`: so many iterations in each but the last.
    Strict(u64),
    /// `num_tasks`: so many tasks, or as many as there are iterations.
    Tasks(u64),
    /// `num_tasks(strict: n)`: tasks of one size but the last.
    StrictTasks(u64),
}

impl Grain {
    /// The meaning of libomp's arguments.
    pub(super) fn of(schedule: i32, size: i64, modifier: i32) -> Self {
        let size = size.max(1) as u64;
        match (schedule, modifier) {
            (1, 0) => Self::Size(size),
            (1, _) => Self::Strict(size),
            (2, 0) => Self::Tasks(size),
            (2, _) => Self::StrictTasks(size),
            _ => Self::Whole,
        }
    }
}

/// The iterations of one task of a taskloop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) lower: u64,
    pub(super) upper: u64,
    /// The loop's last iteration is among them.
    pub(super) last: bool,
}

/// The tasks of a taskloop, in the loop's order.
pub(super) fn taskloop_parts(
    lower: u64,
    upper: u64,
    stride: i64,
    grain: Grain,
) -> impl Iterator<Item = Part> {
    let trips = if is_empty_taskloop(lower, upper, stride) {
        0
    } else {
        let span = match stride > 0 {
            true => upper.wrapping_sub(lower),
            false => lower.wrapping_sub(upper),
        };
        u128::from(span / stride.unsigned_abs()) + 1
    };
    let tasks = match grain {
        Grain::Whole => 1,
        Grain::Size(size) => (trips / u128::from(size)).max(1),
        Grain::Strict(size) => trips.div_ceil(size.into()),
        Grain::Tasks(tasks) => trips.min(tasks.into()),
        Grain::StrictTasks(tasks) => match trips.div_ceil(tasks.into()) {
            0 => 0,
            size => trips.div_ceil(size),
        },
    };
    let tasks = if trips == 0 { 0 } else { tasks };
    // The first iteration of a task, where sizes differ by at most 1 or all but the last are one.
    let first = move |task: u128| match grain {
        Grain::Strict(size) => (task * u128::from(size)).min(trips),
        Grain::StrictTasks(tasks) => (task * trips.div_ceil(tasks.into())).min(trips),
        _ => task * (trips / tasks) + task.min(trips % tasks),
    };
    let value =
        move |iteration: u128| lower.wrapping_add((iteration as u64).wrapping_mul(stride as u64));
    (0..tasks).map(move |task| Part {
        lower: value(first(task)),
        upper: value(first(task + 1) - 1),
        last: task + 1 == tasks,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUT: u8 = 3;

    fn on(address: usize, kind: u8) -> Dependence {
        Dependence {
            address,
            length: 8,
            kind,
        }
    }

    fn detached(event: i64) -> Detached {
        Detached {
            event,
            gtid: 0,
            task: std::ptr::null_mut(),
            fulfilled: false,
            done: None,
        }
    }

    /// Runs an empty task with `event`, created at `level` by whoever is innermost.
    fn run_empty(tasks: &mut Tasks, level: i32, event: i64, dependences: Vec<Dependence>) -> bool {
        let creator = tasks.creator(level);
        tasks.begin(level, 0, creator, 0, Icv::default());
        tasks.end(event, dependences).1
    }

    #[test]
    fn dependences_wait_for_each_other_unless_both_only_read() {
        let set = Dependence::IN_OUT_SET;
        let (input, mutex) = (Dependence::IN, 4);
        for (new, old, waits) in [
            (on(1, input), on(1, input), false),
            (on(1, input), on(1, OUT), true),
            (on(1, OUT), on(1, input), true),
            (on(1, OUT), on(2, OUT), false),
            (on(1, set), on(1, set), false),
            (on(1, set), on(1, input), true),
            (on(1, mutex), on(1, mutex), true),
            (on(0, Dependence::ALL_MEMORY), on(2, input), true),
            (on(2, input), on(0, Dependence::ALL_MEMORY), true),
        ] {
            assert_eq!(new.waits_for(&old), waits, "{new:?} {old:?}");
        }
    }

    #[test]
    fn final_is_inherited_by_children_but_not_by_regions() {
        let mut tasks = Tasks::new();
        assert!(!tasks.creator(0).is_final);
        tasks.begin(0, FINAL, tasks.creator(0), 0, Icv::default());
        assert!(tasks.creator(0).is_final);
        tasks.begin(0, 0, tasks.creator(0), 0, Icv::default());
        assert!(tasks.creator(0).is_final);
        assert!(!tasks.creator(1).is_final);
        tasks.end(0, Vec::new());
        tasks.end(0, Vec::new());
        assert!(!tasks.creator(0).is_final);
    }

    #[test]
    fn an_event_fulfilled_first_completes_the_task_at_its_end() {
        let mut tasks = Tasks::new();
        tasks.detached.push(detached(7));
        assert_eq!(tasks.fulfill(7), Ok(None));
        assert!(run_empty(&mut tasks, 0, 7, Vec::new()));
        assert_eq!(tasks.fulfill(7), Err(UnknownEvent));
        assert!(tasks.detached.is_empty());
    }

    #[test]
    fn an_event_open_holds_up_those_who_wait_for_the_task() {
        let mut tasks = Tasks::new();
        tasks.detached.push(detached(7));
        assert!(!run_empty(&mut tasks, 0, 7, vec![on(1, OUT)]));
        let creator = tasks.creator(0);
        assert!(tasks.depends_on_event(creator, &[on(1, Dependence::IN)]));
        assert!(!tasks.depends_on_event(creator, &[on(2, OUT)]));
        let other = Creator {
            task: 99,
            ..creator
        };
        assert!(!tasks.depends_on_event(other, &[on(1, OUT)]));
        assert_eq!(tasks.waiting().count(), 1);
        assert!(tasks.fulfill(7).unwrap().is_some());
        assert_eq!(tasks.waiting().count(), 0);
    }

    #[test]
    fn reduction_items_are_found_from_the_named_group_outwards() {
        let mut tasks = Tasks::new();
        let item = |shared, original, size| Item {
            shared,
            original,
            size,
        };
        tasks.groups.push(Group {
            id: 1,
            first_task: 1,
            items: vec![item(100, 500, 16)],
        });
        tasks.groups.push(Group {
            id: 2,
            first_task: 2,
            items: vec![item(900, 100, 8)],
        });
        assert_eq!(tasks.reduction_item(1, 100), 100);
        assert_eq!(tasks.reduction_item(1, 500 + 8), 108);
        assert_eq!(tasks.reduction_item(2, 100), 900);
        assert_eq!(tasks.reduction_item(0, 100), 900);
        assert_eq!(tasks.reduction_item(0, 108), 108);
        assert_eq!(tasks.reduction_item(2, 500), 100);
        assert_eq!(tasks.reduction_item(0, 77), 77);
    }

    #[test]
    fn deep_chains_are_put_off_except_in_final_tasks() {
        let mut tasks = Tasks::new();
        for _ in 0..DEEPEST {
            assert!(!tasks.is_too_deep(tasks.creator(0)));
            tasks.begin(0, 0, tasks.creator(0), 0, Icv::default());
        }
        assert!(tasks.is_too_deep(tasks.creator(0)));
        tasks.begin(0, FINAL, tasks.creator(0), 0, Icv::default());
        assert!(!tasks.is_too_deep(tasks.creator(0)));
    }

    #[test]
    fn empty_taskloops_are_recognised_without_knowing_the_sign() {
        for (lower, upper, stride, empty) in [
            (0, 0, 1, false),
            (0, u64::MAX, 1, true),
            (5, 4, 1, true),
            (5, 3, 2, true),
            (3, 5, -1, true),
            (3, 4, -1, true),
            (4, 3, -1, false),
            (0, 1 << 63, 1, false),
            (-5i64 as u64, 3, 1, false),
            (-5i64 as u64, -7i64 as u64, 1, true),
        ] {
            assert_eq!(
                is_empty_taskloop(lower, upper, stride),
                empty,
                "{lower} {upper} {stride}"
            );
        }
    }

    #[test]
    fn tasks_of_a_taskloop_are_as_long_as_asked() {
        for (lower, stride, trips) in [
            (0u64, 1i64, 1u64),
            (5, 3, 100),
            (u64::MAX - 99, 1, 100),
            (-7i64 as u64, 2, 100),
            (40, -4, 37),
        ] {
            let upper = lower.wrapping_add((stride as u64).wrapping_mul(trips - 1));
            for asked in [1, 2, 7, 30, 36, 99, 100, 101, 1000] {
                for grain in [
                    Grain::Whole,
                    Grain::Size(asked),
                    Grain::Strict(asked),
                    Grain::Tasks(asked),
                    Grain::StrictTasks(asked),
                ] {
                    let parts: Vec<_> = taskloop_parts(lower, upper, stride, grain).collect();
                    let length = |part: &Part| {
                        let span = part.upper.wrapping_sub(part.lower) as i64;
                        (span / stride) as u64 + 1
                    };
                    let what = format!("{lower} {stride} {trips} {grain:?}");
                    let mut next = lower;
                    for (index, part) in parts.iter().enumerate() {
                        assert_eq!(part.lower, next, "{what}");
                        next = part.upper.wrapping_add(stride as u64);
                        assert_eq!(part.last, index + 1 == parts.len(), "{what}");
                    }
                    assert_eq!(parts.last().unwrap().upper, upper, "{what}");
                    let (last, front) = parts.split_last().unwrap();
                    let right = match grain {
                        Grain::Whole => front.is_empty(),
                        Grain::Size(size) => parts
                            .iter()
                            .all(|part| (size.min(trips)..2 * size).contains(&length(part))),
                        Grain::Strict(size) => {
                            front.iter().all(|part| length(part) == size) && length(last) <= size
                        }
                        Grain::Tasks(tasks) => parts.len() as u64 == tasks.min(trips),
                        Grain::StrictTasks(tasks) => {
                            let size = trips.div_ceil(tasks);
                            front.iter().all(|part| length(part) == size) && length(last) <= size
                        }
                    };
                    assert!(right, "{what}: {parts:?}");
                }
            }
        }
        assert_eq!(taskloop_parts(3, 2, 1, Grain::Strict(1)).count(), 0);
    }
}
