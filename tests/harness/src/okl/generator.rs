//! Draws programs in which no result depends on the order of work items.
//!
//! Between two points at which all work items of a block meet, a cell of a shared array is written by one work item and
//! read by none other, or read only, or only added to; cells of global arrays are a work item's own, or are updated by
//! `@atomic` in one way that may happen in any order.

use super::kernel::{
    Blocks, Border, Bound, Cell, Count, Expression, Host, Index, Nest, Operation, Phase, Program,
    Real, SUMS, Statement, Tile,
};
use crate::random::text::Random;

/// The program of a seed.
pub(super) fn program(seed: u64) -> Program {
    let mut random = Random::new(seed ^ 0x0c1a);
    let n = random.between(20, 60) as i64;
    let input = (0..random.between(5, 40)).map(|_| random.between(0, 0xffff_ffff) as u32);
    let input: Vec<_> = input.collect();
    let kinds = [
        Operation::Add,
        Operation::Xor,
        Operation::Or,
        Operation::And,
        Operation::Multiply,
    ];
    let sums = (0..random.between(1, 2)).map(|_| random.one_of(&kinds));
    let sums: Vec<_> = sums.collect();
    let turns = if random.chance(25) { 2 } else { 0 };
    let [has_globals, locks] = [20, 15].map(|percent| random.chance(percent));
    let mut generator = Generator {
        random,
        locks,
        n,
        inputs: input.len(),
        sums,
        earlier: Vec::new(),
        names: vec!["n".to_owned()],
        counts: Vec::new(),
        variables: Vec::new(),
        cells: Vec::new(),
        states: Vec::new(),
        items: 1,
        is_first_shape: true,
        count: 0,
    };
    if turns > 0 {
        generator.names.push("turn".to_owned());
    }
    let mut nests = Vec::new();
    for _ in 0..generator.random.between(1, 3) {
        let marks = generator.mark();
        let nest = match generator.random.chance(35) {
            true => generator.tiles(),
            false => Nest::Blocks(generator.blocks()),
        };
        generator.forget(&marks);
        generator.states.clear();
        generator.earlier.push(nest.cells());
        nests.push(nest);
    }
    let between = generator.between(&nests);
    Program {
        n,
        has_globals,
        between,
        input,
        turns,
        nests,
        sums: generator.sums,
    }
}

/// What has happened to a shared array since all work items of the block met.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Untouched,
    Own,
    Read,
    Added,
}

struct Generator {
    random: Random,
    /// Whether several updates stand in one block of atomic code.
    locks: bool,
    n: i64,
    /// Cells of `a`.
    inputs: usize,
    sums: Vec<Operation>,
    /// Cells of the arrays of the nests before this one.
    earlier: Vec<usize>,
    /// What can be read here.
    names: Vec<String>,
    /// Loops around, those over work items last.
    counts: Vec<Count>,
    /// What can be written here, which can be read, too.
    variables: Vec<String>,
    /// Arrays that are a work item's own, with their cells.
    cells: Vec<(String, usize)>,
    /// Of the shared arrays.
    states: Vec<State>,
    /// Work items of the first shape.
    items: usize,
    /// Whether the code is for the first shape: exclusive variables are used in it.
    is_first_shape: bool,
    /// Names that were given.
    count: usize,
}

fn is_signed(ty: &str) -> bool {
    !ty.starts_with('u') && ty != "size_t"
}

/// What is visible at a place.
struct Mark([usize; 4]);

impl Generator {
    fn mark(&self) -> Mark {
        let [names, variables] = [self.names.len(), self.variables.len()];
        Mark([names, self.counts.len(), variables, self.cells.len()])
    }

    fn forget(&mut self, Mark([names, counts, variables, cells]): &Mark) {
        self.names.truncate(*names);
        self.counts.truncate(*counts);
        self.variables.truncate(*variables);
        self.cells.truncate(*cells);
    }

    /// What the host does between calls of the kernel.
    fn between(&mut self, nests: &[Nest]) -> Vec<Vec<Host>> {
        let mut arrays = vec![("a".to_owned(), self.inputs)];
        let nests = nests.iter().enumerate();
        arrays.extend(nests.map(|(number, nest)| (format!("out{number}"), nest.cells())));
        arrays.extend((0..self.sums.len()).map(|number| (format!("sum{number}"), SUMS)));
        let random = &mut self.random;
        let calls = random.one_of(&[0, 0, 0, 1, 2]);
        let one = |random: &mut Random| {
            let (name, cells) = arrays[random.between(0, arrays.len() - 1)].clone();
            let at = random.between(0, cells - 1);
            if random.chance(40) {
                return Host::Read(name, at);
            }
            let at = random.chance(50).then_some(at);
            let times = random.between(1, 3) as u32;
            Host::Change(name, at, times, random.between(0, 9) as u32)
        };
        let calls = (0..calls).map(|_| {
            let count = random.between(0, 4);
            (0..count).map(|_| one(random)).collect()
        });
        calls.collect()
    }

    fn new_name(&mut self, prefix: &str) -> String {
        self.count += 1;
        format!("{prefix}{}", self.count)
    }

    /// A loop of so many iterations, the bounds of which are relative to one of some variables or to nothing.
    fn count(
        &mut self,
        prefix: &str,
        iterations: usize,
        bases: &[String],
        constant: bool,
    ) -> Count {
        let random = &mut self.random;
        let mut ty = random.one_of(&["int", "int", "int", "long", "short", "unsigned", "size_t"]);
        let step: i64 = random.one_of(&[1, 1, 1, 2, 3, -1, -2]);
        let base = match bases.is_empty() || random.chance(60) {
            true => None,
            false => Some(bases[random.between(0, bases.len() - 1)].clone()),
        };
        let is_below_zero = !is_signed(ty) && base.as_deref().is_some_and(|of| of != "n");
        if constant && base.is_some() || is_below_zero {
            // In others the difference may be another one, for all that is known.
            ty = "long";
        }
        let random = &mut self.random;
        let first = match (step < 0, base.is_none() && is_signed(ty)) {
            (true, _) => iterations as i64 * -step + random.between(0, 20) as i64,
            (false, true) => random.between(0, 40) as i64 - 20,
            (false, false) => random.between(0, 5) as i64,
        };
        let is_inclusive = random.chance(30);
        let reached = first + step * (iterations as i64 - 1);
        let slack = random.between(0, step.unsigned_abs() as usize - 1) as i64 * step.signum();
        let limit = reached + slack + if is_inclusive { 0 } else { step.signum() };
        // Where it is no matter when the difference is known, one of both is relative to `n`.
        let mut limit = Bound {
            of: base.clone(),
            plus: limit,
        };
        if !constant && base.is_none() && random.chance(50) {
            limit = Bound {
                of: Some("n".to_owned()),
                plus: limit.plus - self.n,
            };
        }
        let is_flipped = random.chance(25);
        let first = Bound {
            of: base,
            plus: first,
        };
        Count {
            name: self.new_name(prefix),
            ty,
            first,
            limit,
            step,
            is_inclusive,
            is_flipped,
            axis: None,
            most: iterations.max(1),
        }
    }

    /// The same loop with a number of iterations that a loop over blocks says, if there is one that can: at most so many.
    fn varied(&mut self, one: &Count, outer: &[Count], most: usize) -> Option<Count> {
        let plain = |by: &&Count| by.first.of.is_none() && is_signed(by.ty);
        let by = outer.iter().find(plain)?;
        let far = by.first.plus + by.step * (by.most as i64 - 1);
        let [least, largest] = [by.first.plus.min(far), by.first.plus.max(far)];
        let iterations = self.random.between(1, most) as i64;
        // As many for the largest number; for smaller ones less, or none.
        let first = largest.min(least + iterations);
        let limit = Bound {
            of: Some(by.name.clone()),
            plus: iterations + first - largest,
        };
        Some(Count {
            ty: "long",
            first: Bound {
                of: None,
                plus: first,
            },
            limit,
            step: 1,
            is_inclusive: false,
            most: iterations as usize,
            ..one.clone()
        })
    }

    /// Names axes of loops that are one in the other, or not.
    fn name_axes(&mut self, counts: &mut [Count]) {
        if !self.random.chance(30) {
            return;
        }
        let mut axes: Vec<_> = (0..counts.len()).collect();
        self.random.shuffle(&mut axes);
        for (count, axis) in counts.iter_mut().zip(axes) {
            count.axis = Some(axis);
        }
    }

    fn tiles(&mut self) -> Nest {
        let depth = if self.random.chance(35) { 2 } else { 1 };
        let mut tiles = Vec::new();
        for _ in 0..depth {
            let most = if depth == 1 { 40 } else { 12 };
            let iterations = self.random.between(1, most);
            let count = self.count("t", iterations, &["n".to_owned()], false);
            let size = self.random.between(1, 9);
            let size = match self.random.chance(60) {
                true => (size, None),
                false => (size, Some("n".to_owned())),
            };
            let check = match self.random.between(0, 3) {
                0 => Some(true),
                1 if iterations.is_multiple_of(size.0) => Some(false),
                _ => None,
            };
            let plus = size.0 as i64 - size.1.as_ref().map_or(0, |_| self.n);
            self.names.push(count.name.clone());
            self.counts.push(count.clone());
            tiles.push(Tile {
                count,
                size: Bound { of: size.1, plus },
                check,
            });
        }
        self.is_first_shape = true;
        let mut body = Vec::new();
        for _ in 0..self.random.between(1, 5) {
            let statement = self.statement(2);
            body.push(statement);
        }
        if self.random.chance(25) {
            let at = self.random.between(0, body.len() - 1);
            let condition = Expression::Name(tiles[0].count.name.clone());
            body.insert(at, Statement::Skip(condition));
        }
        Nest::Tiles(tiles, body)
    }

    fn blocks(&mut self) -> Blocks {
        let mut outer = Vec::new();
        for _ in 0..self.random.one_of(&[1, 1, 1, 2, 2, 3]) {
            let iterations = self.random.between(1, 4);
            let count = self.count("o", iterations, &["n".to_owned()], false);
            outer.push(count);
        }
        self.name_axes(&mut outer);
        self.names.extend(outer.iter().map(|one| one.name.clone()));
        self.counts.extend(outer.iter().cloned());
        // Of what has a sign, differences are known.
        let signed = outer.iter().filter(|one| is_signed(one.ty));
        let mut bases: Vec<_> = signed.map(|one| one.name.clone()).collect();
        bases.push("n".to_owned());
        let depth = self.random.one_of(&[1, 1, 1, 2, 2, 3]);
        let mut shapes = Vec::new();
        for _ in 0..self.random.between(1, 2) {
            let mut shape = Vec::new();
            for _ in 0..depth {
                let most = [24, 6, 3][depth - 1];
                let iterations = self.random.between(1, most);
                // How many others have is counted when a block begins.
                let is_known = self.random.chance(70);
                let count = self.count("i", iterations, &bases, is_known);
                shape.push(count);
            }
            self.name_axes(&mut shape);
            shapes.push(shape);
        }
        let shared_count = self.random.between(0, 2);
        // Where nobody has cells of others', blocks may have different numbers of work items.
        if shared_count == 0 && self.random.chance(50) {
            let at = self.random.between(0, shapes.len() - 1);
            let level = self.random.between(0, depth - 1);
            if let Some(varied) = self.varied(&shapes[at][level], &outer, [24, 6, 3][depth - 1]) {
                shapes[at][level] = varied;
            }
        }
        let sizes = shapes
            .iter()
            .map(|shape| shape.iter().map(|one| one.most).product());
        let sizes: Vec<usize> = sizes.collect();
        self.items = sizes[0];
        let most = sizes.into_iter().max().unwrap_or(1);
        let shared = (0..shared_count).map(|_| most).collect::<Vec<_>>();
        let mut exclusive = Vec::new();
        let mut fixed = Vec::new();
        for _ in 0..self.random.between(0, 2) {
            let cells = self.random.chance(35).then(|| self.random.between(2, 4));
            let first = self.random.chance(50).then(|| self.value(1));
            exclusive.push((cells, first));
        }
        for at in 0..self.random.between(0, 2) {
            let value = self.value(2);
            fixed.push(value);
            self.names.push(format!("fixed{at}"));
        }
        self.states = vec![State::Untouched; shared.len()];
        let mut blocks = Blocks {
            outer,
            shapes,
            shared,
            exclusive,
            fixed,
            phases: Vec::new(),
        };
        let first = self.first_phase(&blocks);
        let mut phases = vec![first];
        let more = self.random.between(1, 3);
        self.phases(&blocks, more, 1, &mut phases);
        blocks.phases = phases;
        blocks
    }

    /// Gives all that is shared or exclusive a value.
    fn first_phase(&mut self, blocks: &Blocks) -> Phase {
        let marks = self.enter(blocks, 0);
        let mut body = Vec::new();
        // Nobody reads what has no value yet.
        self.states.fill(State::Added);
        for (at, (cells, first)) in blocks.exclusive.iter().enumerate() {
            let name = format!("own{at}");
            if first.is_some() {
                continue;
            }
            match cells {
                None => {
                    let value = self.value(2);
                    body.push(Statement::Set(name, Operation::Assign, value));
                }
                Some(cells) => {
                    for cell in 0..*cells {
                        let index =
                            Index::Modulo(Box::new(Expression::Number(cell as u32)), *cells);
                        let cell = Cell {
                            array: name.clone(),
                            index,
                        };
                        let value = self.value(1);
                        body.push(Statement::Store(cell, Operation::Assign, value));
                    }
                }
            }
        }
        self.enter_exclusive(blocks);
        for at in 0..blocks.shared.len() {
            let value = self.value(2);
            let cell = Cell {
                array: format!("shared{at}"),
                index: Index::Item,
            };
            body.push(Statement::Store(cell, Operation::Assign, value));
            self.states[at] = State::Own;
        }
        let statement = self.statement(1);
        body.push(statement);
        self.forget(&marks);
        self.meet();
        Phase::Items(0, body, false)
    }

    /// All work items of a block meet.
    fn meet(&mut self) {
        self.states.fill(State::Untouched);
    }

    /// The iterators of a shape can be read. Returns what was visible before.
    fn enter(&mut self, blocks: &Blocks, shape: usize) -> Mark {
        let marks = self.mark();
        let names = blocks.shapes[shape].iter().map(|one| one.name.clone());
        self.names.extend(names);
        self.counts.extend(blocks.shapes[shape].iter().cloned());
        self.is_first_shape = shape == 0;
        marks
    }

    /// So can exclusive variables.
    fn enter_exclusive(&mut self, blocks: &Blocks) {
        for (at, (cells, _)) in blocks.exclusive.iter().enumerate() {
            match cells {
                None => self.variables.push(format!("own{at}")),
                Some(cells) => self.cells.push((format!("own{at}"), *cells)),
            }
        }
    }

    fn phases(&mut self, blocks: &Blocks, count: usize, depth: usize, phases: &mut Vec<Phase>) {
        for at in 0..count {
            let is_last = at + 1 == count;
            let phase = match self.random.between(0, 9) {
                0 | 1 if depth > 0 => {
                    let name = self.new_name("r");
                    let times = self.random.between(1, 3) as i64;
                    let marks = self.mark();
                    self.names.push(name.clone());
                    let mut inside = self.settle();
                    let count = self.random.between(1, 2);
                    self.phases(blocks, count, depth - 1, &mut inside);
                    self.forget(&marks);
                    Phase::Repeat(name, times, inside)
                }
                2 if depth > 0 => {
                    // Blocks see nothing of what work items have.
                    let states = std::mem::take(&mut self.states);
                    let condition = self.value(1);
                    self.states = states;
                    let mut inside = self.settle();
                    self.phases(blocks, 1, depth - 1, &mut inside);
                    Phase::If(condition, inside)
                }
                3 => {
                    self.meet();
                    Phase::Barrier
                }
                _ => {
                    let shape = self.random.between(0, blocks.shapes.len() - 1);
                    let marks = self.enter(blocks, shape);
                    if shape == 0 {
                        self.enter_exclusive(blocks);
                    }
                    let body = self.body();
                    self.forget(&marks);
                    let no_barrier = !is_last && self.random.chance(15);
                    if !no_barrier {
                        self.meet();
                    }
                    Phase::Items(shape, body, no_barrier)
                }
            };
            phases.push(phase);
        }
        phases.extend(self.settle());
    }

    /// A barrier where one is needed before code that may run several times or not at all.
    fn settle(&mut self) -> Vec<Phase> {
        let is_settled = self.states.iter().all(|&state| state == State::Untouched);
        self.meet();
        match is_settled {
            true => Vec::new(),
            false => vec![Phase::Barrier],
        }
    }

    /// What a work item does, with barriers.
    fn body(&mut self) -> Vec<Statement> {
        let mut body = Vec::new();
        let iterator = self.names.last().cloned().expect("that of the loop");
        while self.random.chance(30) {
            self.part(&mut body, 2);
            if self.random.chance(35) {
                let name = self.new_name("r");
                let times = self.random.between(1, 4) as i64;
                let marks = self.mark();
                self.names.push(name.clone());
                let mut inside = Vec::new();
                self.part(&mut inside, 1);
                if self.random.chance(40) {
                    inside.push(Statement::Barrier);
                    self.meet();
                    self.part(&mut inside, 1);
                }
                inside.push(Statement::Barrier);
                self.meet();
                self.forget(&marks);
                body.push(Statement::Together(name, times, inside));
            } else {
                body.push(Statement::Barrier);
                self.meet();
            }
        }
        let at = body.len();
        self.part(&mut body, 2);
        if self.random.chance(15) {
            let at = self.random.between(at, body.len() - 1);
            body.insert(at, Statement::Skip(Expression::Name(iterator)));
        }
        body
    }

    fn part(&mut self, body: &mut Vec<Statement>, depth: usize) {
        for _ in 0..self.random.between(1, 3) {
            let statement = self.statement(depth);
            body.push(statement);
        }
    }

    fn statement(&mut self, depth: usize) -> Statement {
        let choice = self.random.between(0, 18);
        match choice {
            0 | 1 => {
                let value = self.value(2);
                let name = self.new_name("v");
                self.variables.push(name.clone());
                Statement::Let(name, value)
            }
            2 if depth > 0 => {
                let (name, cells) = (self.new_name("p"), self.random.between(2, 5));
                self.cells.push((name.clone(), cells));
                Statement::Array(name, cells)
            }
            3 | 4 if !self.variables.is_empty() => {
                let at = self.random.between(0, self.variables.len() - 1);
                let name = self.variables[at].clone();
                let (operation, value) = (self.operation(), self.value(2));
                Statement::Set(name, operation, value)
            }
            5 | 6 if !self.cells.is_empty() => {
                let cell = self.own_cell();
                let (operation, value) = (self.operation(), self.value(2));
                Statement::Store(cell, operation, value)
            }
            7 | 8 if !self.states.is_empty() => {
                let value = self.value(2);
                let at = self.random.between(0, self.states.len() - 1);
                let array = format!("shared{at}");
                match self.states[at] {
                    State::Untouched | State::Own
                        if self.is_first_shape || self.random.chance(50) =>
                    {
                        self.states[at] = State::Own;
                        let operation = match self.is_first_shape {
                            true => self.operation(),
                            false => Operation::Assign,
                        };
                        let index = Index::Item;
                        Statement::Store(Cell { array, index }, operation, value)
                    }
                    State::Untouched | State::Added => {
                        let index = Index::Modulo(Box::new(self.name()), self.items);
                        self.states[at] = State::Added;
                        Statement::Atomic(Cell { array, index }, Operation::Add, value, false)
                    }
                    _ => self.write(value),
                }
            }
            9 | 10 => {
                let at = self.random.between(0, self.sums.len() - 1);
                let operation = match self.sums[at] {
                    Operation::Add if self.random.chance(30) => Operation::Subtract,
                    operation => operation,
                };
                let index = Index::Modulo(Box::new(self.value(1)), SUMS);
                let array = format!("sum{at}");
                let (value, is_block) = (self.value(2), self.random.chance(10));
                let one = Statement::Atomic(Cell { array, index }, operation, value, is_block);
                if !self.locks || !self.random.chance(50) {
                    return one;
                }
                let at = self.random.between(0, self.sums.len() - 1);
                let (index, value) = (self.value(1), self.value(1));
                let index = Index::Modulo(Box::new(index), SUMS);
                let array = format!("sum{at}");
                let other = Statement::Atomic(Cell { array, index }, self.sums[at], value, true);
                Statement::Both(Box::new([one, other]))
            }
            17 => {
                let operation = self.random.one_of(&[Operation::Add, Operation::Subtract]);
                Statement::Accumulate(self.value(1), operation, self.value(2))
            }
            11 | 12 if depth > 0 => {
                let condition = self.value(1);
                let then = self.inside(depth - 1);
                let otherwise = match self.random.chance(40) {
                    true => self.inside(depth - 1),
                    false => Vec::new(),
                };
                Statement::If(condition, then, otherwise)
            }
            14 if depth > 0 => {
                let border = self.border();
                let then = self.inside(depth - 1);
                let otherwise = match self.random.chance(30) {
                    true => self.inside(depth - 1),
                    false => Vec::new(),
                };
                Statement::Border(border, then, otherwise)
            }
            13 if depth > 0 => {
                let (name, limit) = (self.new_name("r"), self.value(1));
                let modulo = self.random.between(1, 5) as u32;
                let marks = self.mark();
                self.names.push(name.clone());
                let body = self.inside(depth - 1);
                self.forget(&marks);
                Statement::For(name, limit, modulo, body)
            }
            _ => {
                let value = self.value(3);
                self.write(value)
            }
        }
    }

    /// A border near which there are items.
    fn border(&mut self) -> Border {
        let all = self.counts.len();
        // Mostly one of the innermost loop.
        let at = match self.random.chance(70) {
            true => all - 1,
            false => self.random.between(0, all - 1),
        };
        let one = self.counts[at].clone();
        let is_signed = is_signed(one.ty);
        let far = one.step * (one.most as i64 - 1);
        let mut range = [far.min(0), far.max(0)].map(|by| by + one.first.plus);
        let mut sum = vec![(one.name.clone(), 1)];
        let others = self.counts.iter().filter(|other| {
            let is_plain = other.first.of.is_none() && self::is_signed(other.ty);
            is_plain && other.name != one.name
        });
        let others: Vec<_> = others.cloned().collect();
        if is_signed && !others.is_empty() && self.random.chance(50) {
            let other = others[self.random.between(0, others.len() - 1)].clone();
            let by = self.random.one_of(&[1, 2, 4, -1]);
            let far = other.step * (other.most as i64 - 1);
            let ends = [0, far].map(|far| (other.first.plus + far) * by);
            range[0] += ends[0].min(ends[1]);
            range[1] += ends[0].max(ends[1]);
            sum.push((other.name, by));
        }
        let sign = ["<", "<=", ">", ">=", "==", "==", "!="];
        let sign = self.random.one_of(&sign);
        let wide = (range[1] - range[0] + 2) as usize;
        let limit = range[0] - 1 + self.random.between(0, wide) as i64;
        let limit = match (is_signed, &one.first.of) {
            // Without a sign, numbers are not negative.
            (false, _) => Bound {
                of: None,
                plus: limit.max(0) + if one.first.of.is_some() { self.n } else { 0 },
            },
            (true, None) if self.random.chance(40) => Bound {
                of: Some("n".to_owned()),
                plus: limit - self.n,
            },
            (true, of) => Bound {
                of: of.clone(),
                plus: limit,
            },
        };
        Border {
            sum,
            sign,
            limit,
            is_signed,
        }
    }

    fn inside(&mut self, depth: usize) -> Vec<Statement> {
        let marks = self.mark();
        let mut body = Vec::new();
        self.part(&mut body, depth);
        self.forget(&marks);
        body
    }

    /// Writes the work item's own cell of all.
    fn write(&mut self, value: Expression) -> Statement {
        let operation = self.operation();
        let cell = Cell {
            array: String::new(),
            index: Index::ItemOfAll,
        };
        Statement::Store(cell, operation, value)
    }

    fn operation(&mut self) -> Operation {
        self.random.one_of(&[
            Operation::Assign,
            Operation::Assign,
            Operation::Add,
            Operation::Subtract,
            Operation::Multiply,
            Operation::Xor,
        ])
    }

    fn own_cell(&mut self) -> Cell {
        let at = self.random.between(0, self.cells.len() - 1);
        let (array, cells) = self.cells[at].clone();
        let index = Index::Modulo(Box::new(self.name()), cells);
        Cell { array, index }
    }

    fn name(&mut self) -> Expression {
        let all = self.names.len() + self.variables.len();
        let at = self.random.between(0, all - 1);
        let name = match at.checked_sub(self.names.len()) {
            None => &self.names[at],
            Some(at) => &self.variables[at],
        };
        Expression::Name(name.clone())
    }

    fn input(&mut self, depth: usize) -> Expression {
        let index = self.value(depth.saturating_sub(1));
        Expression::Cell(Cell {
            array: "a".to_owned(),
            index: Index::Modulo(Box::new(index), self.inputs),
        })
    }

    /// A number that can be computed here.
    fn value(&mut self, depth: usize) -> Expression {
        if depth == 0 {
            return match self.random.chance(25) {
                true => Expression::Number(self.random.between(0, 99) as u32),
                false => self.name(),
            };
        }
        match self.random.between(0, 12) {
            12 => {
                let whats = [
                    Real::Halves,
                    Real::Product,
                    Real::Larger,
                    Real::Root,
                    Real::Eighths,
                ];
                let (a, b) = (self.value(depth - 1), self.value(depth - 1));
                Expression::Real(self.random.one_of(&whats), Box::new(a), Box::new(b))
            }
            0..=4 => {
                let sign = self.random.pick(&["+", "-", "*", "^", "&", "|"]);
                let (a, b) = (self.value(depth - 1), self.value(depth - 1));
                Expression::Binary(sign, Box::new(a), Box::new(b))
            }
            5 => {
                let parts = [(); 4].map(|()| self.value(depth - 1));
                Expression::Choose(Box::new(parts))
            }
            6 => self.input(depth),
            7 if !self.earlier.is_empty() => {
                let at = self.random.between(0, self.earlier.len() - 1);
                let cells = self.earlier[at];
                let index = self.value(depth - 1);
                Expression::Cell(Cell {
                    array: format!("out{at}"),
                    index: Index::Modulo(Box::new(index), cells),
                })
            }
            8 if !self.cells.is_empty() => Expression::Cell(self.own_cell()),
            9 | 10 if !self.states.is_empty() => {
                let at = self.random.between(0, self.states.len() - 1);
                let array = format!("shared{at}");
                match self.states[at] {
                    State::Own if self.is_first_shape => Expression::Cell(Cell {
                        array,
                        index: Index::Item,
                    }),
                    State::Untouched | State::Read => {
                        let index = self.value(0);
                        self.states[at] = State::Read;
                        Expression::Cell(Cell {
                            array,
                            index: Index::Modulo(Box::new(index), self.items),
                        })
                    }
                    _ => self.name(),
                }
            }
            _ => self.name(),
        }
    }
}
