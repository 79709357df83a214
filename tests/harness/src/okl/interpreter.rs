//! What a random program means: work items of a block run between two points at which all of them meet in any order.
//!
//! It shares nothing with the pass but the language. Arrays of which nothing is said to be the same for all work items
//! are theirs; the order in which work items run is drawn, so that a program whose result depends on it is found out.

use std::collections::HashMap;

use super::kernel::{
    Blocks, Border, Bound, Cell, Count, Expression, Host, Index, Nest, Operation, Phase, Program,
    REAL_BITS, SUMS, Statement, Tile,
};
use super::text::arrays;
use crate::random::text::Random;

/// What the program prints where work items run in an order that is drawn from a seed.
pub(super) fn output(program: &Program, order: u64) -> String {
    let arrays = arrays(program);
    let mut memory = Memory {
        arrays: arrays
            .iter()
            .map(|(name, cells)| (name.clone(), vec![1; *cells]))
            .collect(),
        real: [0; SUMS],
        seen: 0,
        names: HashMap::from([("n".to_owned(), program.n)]),
        random: Random::new(order),
    };
    memory.arrays.insert("a".to_owned(), program.input.clone());
    memory.run_kernel(program);
    for between in &program.between {
        between.iter().for_each(|one| memory.run_between(one));
        memory.run_kernel(program);
    }
    let mut text = String::new();
    for (name, _) in &arrays {
        for (at, value) in memory.arrays[name].iter().enumerate() {
            text.push_str(&format!("{name} {at} {value}\n"));
        }
    }
    for value in memory.real {
        text.push_str(&format!("real {value}\n"));
    }
    text.push_str(&format!("seen {}\n", memory.seen));
    text
}

/// What all work items see.
struct Memory {
    arrays: HashMap<String, Vec<u32>>,
    /// Whole numbers, though they are in floating point.
    real: [i64; SUMS],
    /// What the host has read.
    seen: u32,
    names: HashMap<String, i64>,
    random: Random,
}

/// What a work item has for itself.
#[derive(Default)]
struct Item {
    names: HashMap<String, i64>,
    arrays: HashMap<String, Vec<u32>>,
    /// Its number in its block.
    number: usize,
    /// Its cell, and the array that it is in.
    cell: (String, usize),
    is_done: bool,
}

/// What a work item keeps from one nest of loops to the next, by its indices.
type Kept = HashMap<Vec<usize>, Item>;

impl Memory {
    fn run_kernel(&mut self, program: &Program) {
        for turn in 0..program.turns.max(1) {
            self.names.insert("turn".to_owned(), turn);
            for (number, nest) in program.nests.iter().enumerate() {
                match nest {
                    Nest::Blocks(blocks) => self.run_blocks(blocks, number),
                    Nest::Tiles(tiles, body) => self.run_tiles(tiles, body, number),
                }
            }
        }
    }

    fn run_between(&mut self, one: &Host) {
        match one {
            Host::Change(name, at, times, plus) => {
                let cells = self.arrays.get_mut(name).expect("an array of the program");
                let cells = match at {
                    None => &mut cells[..],
                    Some(at) => &mut cells[*at..=*at],
                };
                for cell in cells {
                    *cell = cell.wrapping_mul(*times).wrapping_add(*plus);
                }
            }
            Host::Read(name, at) => {
                self.seen = self
                    .seen
                    .wrapping_mul(31)
                    .wrapping_add(self.arrays[name][*at]);
            }
        }
    }

    fn bound(&self, bound: &Bound) -> i64 {
        bound.of.as_ref().map_or(0, |name| self.names[name]) + bound.plus
    }

    /// The values of an iterator.
    fn values(&self, count: &Count) -> Vec<i64> {
        let limit = self.bound(&count.limit);
        let goes_on = |value: &i64| match (count.step > 0, count.is_inclusive) {
            (true, true) => *value <= limit,
            (true, false) => *value < limit,
            (false, true) => *value >= limit,
            (false, false) => *value > limit,
        };
        let next = |value: &i64| Some(value + count.step);
        let values = std::iter::successors(Some(self.bound(&count.first)), next);
        values.take_while(goes_on).collect()
    }

    /// All values of the iterators of loops that are one in the other, each with its number and their numbers.
    fn combinations(&mut self, counts: &[Count]) -> Vec<(Vec<i64>, usize, Vec<usize>)> {
        let Some((last, rest)) = counts.split_last() else {
            return vec![(Vec::new(), 0, Vec::new())];
        };
        let mut all = Vec::new();
        for (before, number, numbers) in self.combinations(rest) {
            for (count, value) in rest.iter().zip(&before) {
                self.names.insert(count.name.clone(), *value);
            }
            for (at, value) in self.values(last).into_iter().enumerate() {
                let mut values = before.clone();
                values.push(value);
                let mut numbers = numbers.clone();
                numbers.push(at);
                all.push((values, number * last.most + at, numbers));
            }
        }
        all
    }

    fn run_tiles(&mut self, tiles: &[Tile], body: &[Statement], nest: usize) {
        let counts: Vec<_> = tiles.iter().map(|tile| tile.count.clone()).collect();
        let mut all = self.combinations(&counts);
        self.random.shuffle(&mut all);
        for (values, number, _) in all {
            let mut item = Item {
                cell: (format!("out{nest}"), number),
                ..Item::default()
            };
            for (count, value) in counts.iter().zip(values) {
                item.names.insert(count.name.clone(), value);
            }
            self.run(body, &mut item);
        }
    }

    fn run_blocks(&mut self, blocks: &Blocks, nest: usize) {
        let mut all = self.combinations(&blocks.outer);
        self.random.shuffle(&mut all);
        for (values, number, _) in all {
            for (count, value) in blocks.outer.iter().zip(values) {
                self.names.insert(count.name.clone(), value);
            }
            for (at, cells) in blocks.shared.iter().enumerate() {
                // Whatever it begins with is written before it is read.
                self.arrays.insert(format!("shared{at}"), vec![77; *cells]);
            }
            for (at, value) in blocks.fixed.iter().enumerate() {
                let value = self.value(value, &Item::default());
                self.names.insert(format!("fixed{at}"), i64::from(value));
            }
            let mut kept = Kept::new();
            self.run_phases(blocks, &blocks.phases, nest, number, &mut kept);
        }
    }

    fn run_phases(
        &mut self,
        blocks: &Blocks,
        phases: &[Phase],
        nest: usize,
        block: usize,
        kept: &mut Kept,
    ) {
        for phase in phases {
            match phase {
                Phase::Items(shape, body, _) => {
                    self.run_items(blocks, *shape, body, nest, block, kept);
                }
                Phase::Repeat(name, times, phases) => {
                    for turn in 0..*times {
                        self.names.insert(name.clone(), turn);
                        self.run_phases(blocks, phases, nest, block, kept);
                    }
                }
                Phase::If(condition, phases) => {
                    if self.value(condition, &Item::default()) % 2 == 1 {
                        self.run_phases(blocks, phases, nest, block, kept);
                    }
                }
                Phase::Barrier => {}
            }
        }
    }

    fn run_items(
        &mut self,
        blocks: &Blocks,
        shape: usize,
        body: &[Statement],
        nest: usize,
        block: usize,
        kept: &mut Kept,
    ) {
        let counts = &blocks.shapes[shape];
        let mut items = Vec::new();
        for (values, number, mut numbers) in self.combinations(counts) {
            // By direction: the innermost loop is the first one.
            numbers.reverse();
            let mut item = kept
                .remove(&numbers)
                .unwrap_or_else(|| self.new_item(blocks));
            for (count, value) in counts.iter().zip(values) {
                item.names.insert(count.name.clone(), value);
            }
            item.number = number;
            let cell = (block * blocks.shapes.len() + shape) * blocks.most_items() + number;
            item.cell = (format!("out{nest}"), cell);
            item.is_done = false;
            items.push((numbers, item));
        }
        self.run_together(body, &mut items);
        kept.extend(items);
    }

    fn new_item(&self, blocks: &Blocks) -> Item {
        let mut item = Item::default();
        for (at, (cells, first)) in blocks.exclusive.iter().enumerate() {
            let name = format!("own{at}");
            let value = first
                .as_ref()
                .map(|first| self.value(first, &Item::default()));
            match cells {
                // What has no first value is written before it is read.
                None => {
                    let value = value.unwrap_or(55);
                    item.names.insert(name, i64::from(value));
                }
                Some(cells) => {
                    let mut all = vec![if value.is_some() { 0 } else { 55 }; *cells];
                    if let Some(value) = value {
                        all[0] = value;
                    }
                    item.arrays.insert(name, all);
                }
            }
        }
        item
    }

    /// Runs code with barriers for all work items of a block.
    fn run_together(&mut self, body: &[Statement], items: &mut Vec<(Vec<usize>, Item)>) {
        for part in body.chunk_by(|one, other| !meets(one) && !meets(other)) {
            match part {
                [Statement::Barrier] => {}
                [Statement::Together(name, times, body)] => {
                    for turn in 0..*times {
                        for (_, item) in items.iter_mut() {
                            item.names.insert(name.clone(), turn);
                        }
                        self.run_together(body, items);
                    }
                }
                part => {
                    let mut order: Vec<_> = (0..items.len()).collect();
                    self.random.shuffle(&mut order);
                    for at in order {
                        self.run(part, &mut items[at].1);
                    }
                }
            }
        }
    }

    fn run(&mut self, body: &[Statement], item: &mut Item) {
        for statement in body {
            if item.is_done {
                return;
            }
            match statement {
                Statement::Let(name, value) => {
                    let value = self.value(value, item);
                    item.names.insert(name.clone(), i64::from(value));
                }
                Statement::Array(name, cells) => {
                    item.arrays.insert(name.clone(), vec![0; *cells]);
                }
                Statement::Set(name, operation, value) => {
                    let value = self.value(value, item);
                    let old = item.names.get(name).map_or(0, |&old| old as u32);
                    let new = operation.apply(old, value);
                    item.names.insert(name.clone(), i64::from(new));
                }
                Statement::Store(cell, operation, value)
                | Statement::Atomic(cell, operation, value, _) => {
                    let value = self.value(value, item);
                    let place = self.cell(cell, item);
                    *place = operation.apply(*place, value);
                }
                Statement::Both(both) => self.run(&both[..], item),
                Statement::Accumulate(index, operation, value) => {
                    let index = self.value(index, item) as usize % SUMS;
                    let value = i64::from(self.value(value, item) & REAL_BITS);
                    match operation {
                        Operation::Subtract => self.real[index] -= value,
                        _ => self.real[index] += value,
                    }
                }
                Statement::If(condition, then, otherwise) => {
                    match self.value(condition, item) % 3 {
                        0 => self.run(otherwise, item),
                        _ => self.run(then, item),
                    }
                }
                Statement::Border(border, then, otherwise) => match self.is_within(border, item) {
                    true => self.run(then, item),
                    false => self.run(otherwise, item),
                },
                Statement::For(name, value, modulo, body) => {
                    // It is asked again for each iteration.
                    let mut turn = 0;
                    while turn < i64::from(self.value(value, item) % modulo) {
                        item.names.insert(name.clone(), turn);
                        self.run(body, item);
                        turn += 1;
                    }
                }
                Statement::Together(..) | Statement::Barrier => unreachable!("all items meet"),
                Statement::Skip(condition) => item.is_done = self.value(condition, item) % 4 == 1,
            }
        }
    }

    fn is_within(&self, border: &Border, item: &Item) -> bool {
        let number = |name: &String| item.names.get(name).unwrap_or_else(|| &self.names[name]);
        let sum: i64 = border.sum.iter().map(|(name, by)| number(name) * by).sum();
        let limit = self.bound(&border.limit);
        match border.sign {
            "<" => sum < limit,
            "<=" => sum <= limit,
            ">" => sum > limit,
            ">=" => sum >= limit,
            "==" => sum == limit,
            "!=" => sum != limit,
            _ => unreachable!("an operator of the generator"),
        }
    }

    fn place(&self, cell: &Cell, item: &Item) -> (String, usize) {
        match &cell.index {
            Index::Item => (cell.array.clone(), item.number),
            Index::ItemOfAll => item.cell.clone(),
            Index::Modulo(index, cells) => {
                let index = self.value(index, item) as usize % cells;
                (cell.array.clone(), index)
            }
        }
    }

    fn cell<'a>(&'a mut self, cell: &Cell, item: &'a mut Item) -> &'a mut u32 {
        let (array, at) = self.place(cell, item);
        let own = item.arrays.get_mut(&array);
        let array = own.or_else(|| self.arrays.get_mut(&array));
        &mut array.expect("an array of the program")[at]
    }

    fn value(&self, one: &Expression, item: &Item) -> u32 {
        let of = |one: &Expression| self.value(one, item);
        match one {
            Expression::Number(number) => *number,
            Expression::Name(name) => {
                let own = item.names.get(name);
                let value = own.or_else(|| self.names.get(name));
                *value.unwrap_or_else(|| panic!("no variable {name}")) as u32
            }
            Expression::Cell(cell) => {
                let (array, at) = self.place(cell, item);
                let own = item.arrays.get(&array);
                own.unwrap_or_else(|| &self.arrays[&array])[at]
            }
            Expression::Binary(sign, a, b) => {
                let (a, b) = (of(a), of(b));
                match *sign {
                    "+" => a.wrapping_add(b),
                    "-" => a.wrapping_sub(b),
                    "*" => a.wrapping_mul(b),
                    "^" => a ^ b,
                    "&" => a & b,
                    "|" => a | b,
                    _ => unreachable!("an operator of the generator"),
                }
            }
            Expression::Real(what, a, b) => what.apply(of(a), of(b)),
            Expression::Choose(parts) => {
                let [a, b, c, d] = parts.as_ref();
                if of(a) < of(b) { of(c) } else { of(d) }
            }
        }
    }
}

/// Whether all work items of a block come to a statement together.
fn meets(one: &Statement) -> bool {
    matches!(one, Statement::Barrier | Statement::Together(..))
}
