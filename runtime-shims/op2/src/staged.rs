//! What blocks of a loop add to through maps, and in which order: lists for a device, of a loop whose blocks do not run at the
//! same time where they lead to the same element.
//!
//! Guarantee: each element that a block leads to through the columns of a group is once in the block's part of the list, in the
//! order of their numbers, and with it the slots of all that lead there, in the order of the block's elements and of the
//! columns. `okl_abi::op2::device` says what lists look like.

use std::sync::{Arc, Mutex};

use crate::{
    device::Memory,
    plan::{Column, Plan},
};

/// The columns of the arguments of a group, by which they add to the same data. An argument that is left out has none there.
pub(crate) type Group = Vec<Option<Column>>;

/// The lists of a plan, whose blocks are as large as those of a device.
pub(crate) struct Staged {
    plan: Arc<Plan>,
    groups: Vec<Group>,
    begins: Memory,
    lists: Vec<List<Memory, Memory, Memory>>,
}

/// Those of a group.
pub(crate) struct List<R, T, S> {
    pub(crate) rows: R,
    pub(crate) targets: T,
    pub(crate) slots: S,
}

static STAGED: Mutex<Vec<Arc<Staged>>> = Mutex::new(Vec::new());

/// Forgets all lists: the maps they are made for go.
pub(crate) fn clear() {
    STAGED.lock().expect("no panic while it is locked").clear();
}

/// The lists of a plan for these groups.
pub(crate) fn find(plan: &Arc<Plan>, groups: Vec<Group>) -> Arc<Staged> {
    let mut all = STAGED.lock().expect("no panic while it is locked");
    let is_it = |one: &&Arc<Staged>| Arc::ptr_eq(&one.plan, plan) && one.groups == groups;
    if let Some(found) = all.iter().find(is_it) {
        return found.clone();
    }
    let new = Arc::new(Staged::new(plan.clone(), groups));
    all.push(new.clone());
    new
}

impl Staged {
    fn new(plan: Arc<Plan>, groups: Vec<Group>) -> Self {
        let blocks: Vec<_> = plan.colours.iter().flatten().copied().collect();
        let begin = |block: &u32| plan.key.block(*block as usize).start as i32;
        let begins = blocks.iter().flat_map(|block| begin(block).to_ne_bytes());
        let begins = Memory::with(&begins.collect::<Vec<u8>>());
        let lists = groups.iter().map(|group| {
            let list = list(&plan, &blocks, group);
            let rows = list.rows.iter().flat_map(|one| one.to_ne_bytes());
            let targets = list.targets.iter().flat_map(|one| one.to_ne_bytes());
            let slots = list.slots.iter().flat_map(|one| one.to_ne_bytes());
            List {
                rows: Memory::with(&rows.collect::<Vec<u8>>()),
                targets: Memory::with(&targets.collect::<Vec<u8>>()),
                slots: Memory::with(&slots.collect::<Vec<u8>>()),
            }
        });
        let lists = lists.collect();
        Self {
            plan,
            groups,
            begins,
            lists,
        }
    }

    /// Where the elements are that blocks begin with, by position.
    pub(crate) fn begins(&self) -> u64 {
        self.begins.address()
    }

    /// The lists of a group.
    pub(crate) fn list(&self, group: usize) -> List<u64, u64, u64> {
        let list = &self.lists[group];
        List {
            rows: list.rows.address(),
            targets: list.targets.address(),
            slots: list.slots.address(),
        }
    }
}

/// Those of a group, for blocks in their order on the device.
fn list(plan: &Plan, blocks: &[u32], group: &Group) -> List<Vec<i32>, Vec<u64>, Vec<u16>> {
    let of_block = group.len() * plan.key.block;
    assert!(of_block <= usize::from(u16::MAX), "slots have 16 bits");
    let mut list = List {
        rows: Vec::new(),
        targets: Vec::new(),
        slots: Vec::new(),
    };
    let mut leads = Vec::new();
    for (position, block) in blocks.iter().enumerate() {
        list.rows.push(list.targets.len() as i32);
        leads.clear();
        for (item, element) in plan.key.block(*block as usize).enumerate() {
            for (at, column) in group.iter().enumerate() {
                if let Some(column) = column {
                    let slot = at * plan.key.block + item;
                    leads.push((column.target(element), slot as u16));
                }
            }
        }
        // Those that lead to the same stay in their order.
        leads.sort_by_key(|(target, _)| *target);
        let begin = position * of_block;
        list.slots.resize(begin, 0);
        for of_it in leads.chunk_by(|one, other| one.0 == other.0) {
            let (first, count) = ((list.slots.len() - begin) as u64, of_it.len() as u64);
            list.targets
                .push(of_it[0].0 as u64 | first << 32 | count << 48);
            list.slots.extend(of_it.iter().map(|(_, slot)| *slot));
        }
    }
    list.rows.push(list.targets.len() as i32);
    list.slots.resize(blocks.len() * of_block, 0);
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{self, Key};
    use crate::random::Random;

    #[test]
    fn a_block_adds_all_that_its_elements_leave_in_their_order() {
        let mut random = Random(11);
        for _ in 0..100 {
            let (size, targets) = (random.below(300), 1 + random.below(200));
            let arity = 1 + random.below(3);
            let numbers = (0..size * arity).map(|_| random.below(targets) as i32);
            let numbers: Vec<i32> = numbers.collect();
            let column = |at: usize| Column {
                start: numbers[at.min(numbers.len())..].as_ptr(),
                arity,
                set: 0,
                targets,
            };
            let mut group: Group = (0..arity).map(|at| Some(column(at))).collect();
            let all = group.iter().flatten().cloned().collect();
            if random.below(2) == 0 {
                group.insert(random.below(arity + 1), None);
            }
            let block = 1 + random.below(40);
            let from = random.below(size + 1);
            let (plan, _) = plan::find(Key {
                elements: from..size,
                block,
                columns: all,
            });
            let blocks: Vec<u32> = plan.colours.iter().flatten().copied().collect();
            let list = list(&plan, &blocks, &group);
            assert_eq!(list.rows.len(), blocks.len() + 1);
            // What each element of the set has added to which target, in which order.
            let mut found = vec![Vec::new(); targets];
            for (position, block_number) in blocks.iter().enumerate() {
                let row = list.rows[position] as usize..list.rows[position + 1] as usize;
                let mut before = None;
                for entry in &list.targets[row] {
                    let target = (entry & u64::from(u32::MAX)) as usize;
                    assert!(before.replace(target) < Some(target), "once, in order");
                    let first = (entry >> 32 & 0xffff) as usize;
                    let count = (entry >> 48) as usize;
                    assert!(count > 0);
                    let slots = position * group.len() * block + first;
                    for slot in &list.slots[slots..][..count] {
                        let (at, item) = (usize::from(*slot) / block, usize::from(*slot) % block);
                        let elements = plan.key.block(*block_number as usize);
                        let element = elements.start + item;
                        assert!(elements.contains(&element));
                        let column = group[at].as_ref().expect("it is there");
                        assert_eq!(column.target(element), target);
                        found[target].push((*block_number, element, at));
                    }
                }
            }
            for (target, of_it) in found.iter().enumerate() {
                let mut expected = 0;
                for element in from..size {
                    let columns = group.iter().flatten();
                    expected += columns.filter(|one| one.target(element) == target).count();
                }
                assert_eq!(of_it.len(), expected);
                let in_order = |one: &[(u32, usize, usize)]| one.is_sorted();
                assert!(of_it.chunk_by(|one, other| one.0 == other.0).all(in_order));
            }
            plan::clear();
        }
    }
}
