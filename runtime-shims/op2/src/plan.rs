//! Which blocks of a loop's elements may run at the same time.
//!
//! Guarantee: no two blocks of a colour lead to the same target through the columns that a plan is made for.
//! A plan depends on nothing but what its key holds, and not on the number of threads.

use std::sync::{Arc, Mutex, OnceLock};

use crate::{device::Memory, mirror, times};

/// A column of a map through which a loop writes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Column {
    /// Where the column begins in memory.
    pub(crate) start: *const i32,
    /// Columns of the map.
    pub(crate) arity: usize,
    /// Number of the target set.
    pub(crate) set: i32,
    /// Elements of the target set.
    pub(crate) targets: usize,
}

// SAFETY: maps are only read.
unsafe impl Send for Column {}
// SAFETY: the same.
unsafe impl Sync for Column {}

impl Column {
    /// The target of an element.
    pub(crate) fn target(&self, element: usize) -> usize {
        // SAFETY: maps have that many columns for each element of their set, and numbers of targets in them.
        unsafe { *self.start.add(element * self.arity) as usize }
    }
}

/// What a plan depends on.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Key {
    /// Elements that run.
    pub(crate) elements: std::ops::Range<usize>,
    /// Elements of a block; the last one may have fewer.
    pub(crate) block: usize,
    /// In their order, each once.
    pub(crate) columns: Vec<Column>,
}

/// Blocks by colour.
pub(crate) struct Plan {
    pub(crate) key: Key,
    /// The blocks of each colour, in their order.
    pub(crate) colours: Vec<Vec<u32>>,
    /// What making it took.
    pub(crate) seconds: f64,
    /// See [`Plan::on_device`].
    on_device: OnceLock<Memory>,
}

static PLANS: Mutex<Vec<Arc<Plan>>> = Mutex::new(Vec::new());

/// Forgets all plans: the maps they are made for go.
pub(crate) fn clear() {
    PLANS.lock().expect("no panic while it is locked").clear();
    mirror::forget_maps();
}

/// The plan for a key, and whether it is new.
pub(crate) fn find(key: Key) -> (Arc<Plan>, bool) {
    find_among(&mut PLANS.lock().expect("no panic while it is locked"), key)
}

fn find_among(plans: &mut Vec<Arc<Plan>>, mut key: Key) -> (Arc<Plan>, bool) {
    key.columns.sort();
    key.columns.dedup();
    if let Some(plan) = plans.iter().find(|plan| plan.key == key) {
        return (plan.clone(), false);
    }
    let plan = Arc::new(Plan::new(key));
    plans.push(plan.clone());
    (plan, true)
}

/// Elements of a block where the program asks for no number: enough blocks to go round, whatever the number of
/// threads, whole vectors, and no more than caches hold.
pub(crate) fn block_of(size: usize) -> usize {
    (size / 256).clamp(64, 4096) / 64 * 64
}

/// Colours that are given out at a time: a bit for each. Few are needed as a rule, and what memory costs here is
/// to be touched for the first time.
const ROUND: usize = u8::BITS as usize;

impl Plan {
    fn new(key: Key) -> Self {
        let start = times::now();
        let colours = colour(&key);
        Self {
            key,
            colours,
            seconds: times::now() - start,
            on_device: OnceLock::new(),
        }
    }

    /// Where the numbers of the elements of all colours are on the device, one colour's behind the other's; of a plan with one
    /// element in a block.
    pub(crate) fn on_device(&self) -> u64 {
        let memory = self.on_device.get_or_init(|| {
            let first = self.key.elements.start as u32;
            let numbers = self.colours.iter().flatten();
            let bytes = numbers.flat_map(|one| (first + one).to_ne_bytes());
            Memory::with(&bytes.collect::<Vec<u8>>())
        });
        memory.address()
    }
}

impl Key {
    /// Number of blocks.
    pub(crate) fn blocks(&self) -> usize {
        self.elements.len().div_ceil(self.block)
    }

    /// The elements of a block.
    pub(crate) fn block(&self, block: usize) -> std::ops::Range<usize> {
        let start = self.elements.start + block * self.block;
        start..(start + self.block).min(self.elements.end)
    }

    /// The target sets: number and elements.
    fn sets(&self) -> Vec<(i32, usize)> {
        let sets = self
            .columns
            .iter()
            .map(|column| (column.set, column.targets));
        let mut sets: Vec<_> = sets.collect();
        sets.sort_unstable();
        sets.dedup();
        sets
    }
}

/// What a column leads to, by position in an array of `slots` targets.
struct Slots<'a> {
    column: &'a Column,
    /// Position of the target set.
    set: usize,
    /// Of each element that runs, where only some of the targets have a slot.
    numbered: Option<Vec<u32>>,
}

impl Slots<'_> {
    fn of(&self, key: &Key, element: usize) -> usize {
        match &self.numbered {
            None => self.column.target(element),
            Some(slots) => slots[element - key.elements.start] as usize,
        }
    }
}

/// A loop that leads to fewer than one target in so many does not pay for all of them.
const SPARSE: usize = 64;

/// The columns, and how many slots each set has.
fn slots(key: &Key) -> (Vec<Slots<'_>>, Vec<usize>) {
    let (mut all, mut sizes) = (Vec::new(), Vec::new());
    for (set, of) in key.sets().into_iter().enumerate() {
        let columns = key.columns.iter();
        let columns: Vec<_> = columns.filter(|one| (one.set, one.targets) == of).collect();
        let targets = |column: &'_ Column| {
            let column = column.clone();
            key.elements.clone().map(move |one| column.target(one))
        };
        let is_sparse = key.elements.len() * columns.len() < of.1 / SPARSE;
        let led_to = is_sparse.then(|| {
            let mut led_to: Vec<_> = columns.iter().flat_map(|one| targets(one)).collect();
            led_to.sort_unstable();
            led_to.dedup();
            led_to
        });
        sizes.push(led_to.as_ref().map_or(of.1, Vec::len));
        all.extend(columns.into_iter().map(|column| {
            let numbered = led_to.as_ref().map(|led_to| {
                let slot = |target| led_to.binary_search(&target).expect("it is listed") as u32;
                targets(column).map(slot).collect()
            });
            Slots {
                column,
                set,
                numbered,
            }
        }));
    }
    (all, sizes)
}

/// Gives each block the first colour that no block before it has with which it shares a target.
fn colour(key: &Key) -> Vec<Vec<u32>> {
    let (columns, sizes) = slots(key);
    let mut colours: Vec<Vec<u32>> = Vec::new();
    let mut rest: Vec<u32> = (0..key.blocks() as u32).collect();
    let mut first = 0;
    while !rest.is_empty() {
        // Which colours the blocks have that lead to a target.
        let taken = sizes.iter().map(|&size| vec![0u8; size]);
        let mut taken: Vec<_> = taken.collect();
        rest.retain(|&block| {
            let elements = key.block(block as usize);
            let mut used = 0;
            for column in &columns {
                let taken = &taken[column.set];
                for element in elements.clone() {
                    used |= taken[column.of(key, element)];
                }
            }
            let free = used.trailing_ones() as usize;
            if free == ROUND {
                return true;
            }
            for column in &columns {
                let taken = &mut taken[column.set];
                for element in elements.clone() {
                    taken[column.of(key, element)] |= 1 << free;
                }
            }
            let colour = first + free;
            if colours.len() <= colour {
                colours.resize(colour + 1, Vec::new());
            }
            colours[colour].push(block);
            false
        });
        first += ROUND;
    }
    colours
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn check(plan: &Plan) {
        let mut runs = vec![0; plan.key.elements.end];
        for blocks in &plan.colours {
            assert!(blocks.is_sorted());
            let mut owners = std::collections::HashMap::new();
            for &block in blocks {
                for element in plan.key.block(block as usize) {
                    runs[element] += 1;
                    for column in &plan.key.columns {
                        let target = (column.set, column.target(element));
                        let owner = *owners.entry(target).or_insert(block);
                        assert_eq!(owner, block, "two blocks of a colour meet");
                    }
                }
            }
        }
        assert!(
            runs[plan.key.elements.clone()]
                .iter()
                .all(|&times| times == 1)
        );
    }

    #[test]
    fn blocks_of_a_colour_never_meet() {
        let mut random = Random(7);
        for round in 0..300 {
            let size = random.below(700);
            let mut target_set = || (1 + random.below(300)) * [1, 1000][random.below(2)];
            let sets = [target_set(), target_set()];
            let local = random.below(2) == 0;
            let maps: Vec<_> = (0..1 + random.below(3))
                .map(|_| {
                    let (set, arity) = (random.below(2), 1 + random.below(4));
                    let end = sets[set];
                    let numbers = (0..size * arity).map(|at| match local {
                        true => ((at / arity * end / size.max(1)) + random.below(3)).min(end - 1),
                        false => random.below(end),
                    });
                    let numbers: Vec<_> = numbers.map(|number| number as i32).collect();
                    (set, arity, numbers)
                })
                .collect();
            let mut columns = Vec::new();
            for (set, arity, numbers) in &maps {
                for _ in 0..1 + random.below(*arity) {
                    columns.push(Column {
                        start: numbers[random.below(*arity).min(numbers.len())..].as_ptr(),
                        arity: *arity,
                        set: *set as i32,
                        targets: sets[*set],
                    });
                }
            }
            let block = 1 + random.below(40);
            let (plan, _) = find(Key {
                elements: random.below(size + 1)..size,
                block,
                columns,
            });
            check(&plan);
            let is_one = plan.key.blocks() <= 1;
            assert!(!is_one || plan.colours.len() <= 1, "round {round}");
            clear();
        }
    }

    /// Of a loop over so many elements as a map of one column leads to `targets`.
    fn plan_of(targets: &[i32], block: usize) -> Plan {
        let column = Column {
            start: targets.as_ptr(),
            arity: 1,
            set: 0,
            targets: 1 + *targets.iter().max().expect("some") as usize,
        };
        Plan::new(Key {
            elements: 0..targets.len(),
            block,
            columns: vec![column],
        })
    }

    #[test]
    fn a_plan_is_found_again_for_all_that_it_depends_on() {
        let numbers = [0, 1, 2, 0, 1, 2];
        let column = |start: usize, arity, set, targets| Column {
            start: numbers[start..].as_ptr(),
            arity,
            set,
            targets,
        };
        let key = |to, block, columns: &[Column]| Key {
            elements: 0..to,
            block,
            columns: columns.to_vec(),
        };
        let (one, other) = (column(0, 2, 0, 3), column(1, 2, 0, 3));
        let mut plans = Vec::new();
        let mut is_new = |key| find_among(&mut plans, key).1;
        assert!(is_new(key(3, 2, &[one.clone(), other.clone()])));
        // An optional argument that is left out; more elements on this rank; another map, set or size of blocks.
        assert!(is_new(key(3, 2, std::slice::from_ref(&one))));
        assert!(is_new(key(2, 2, &[one.clone(), other.clone()])));
        assert!(is_new(key(3, 1, &[one.clone(), other.clone()])));
        for changed in [column(0, 1, 0, 3), column(0, 2, 1, 3), column(0, 2, 0, 4)] {
            assert!(is_new(key(3, 2, &[changed, other.clone()])));
        }
        assert!(!is_new(key(3, 2, &[other.clone(), one.clone(), other])));
        assert!(!is_new(key(3, 2, &[one])));
    }

    #[test]
    fn more_colours_than_a_word_has_bits() {
        let all_the_same = vec![0; 500];
        let plan = plan_of(&all_the_same, 2);
        check(&plan);
        assert_eq!(plan.colours.len(), 250);
    }

    #[test]
    fn elements_that_do_not_meet_need_one_colour() {
        let own: Vec<i32> = (0..500).collect();
        assert_eq!(plan_of(&own, 64).colours.len(), 1);
    }
}
