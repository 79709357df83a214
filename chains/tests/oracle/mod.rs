//! What is right, found by looking at each iteration: an order runs each one once, what is written first in front of what
//! depends on it, and nothing that depends on each other at the same time.

// Each of the files of tests that share it uses a part.
#![allow(dead_code)]

use std::collections::HashMap;

use okl_chains::code::{self, Code, Turn};
use okl_chains::model::{Access, Affine, Bounds, Chain, Mode, Nest, Space};
use okl_chains::plan::Plan;
use okl_chains::pragma::{Item, Number, Position, Tile, What};
use okl_chains::storage::Buffer;

/// Iterations of a nest, with the outermost variable first.
pub type Iteration = (usize, Vec<i64>);

fn value(of: &Affine, iteration: &[i64], parameters: &[i64]) -> i64 {
    let times = |factors: &[i64], values: &[i64]| -> i64 {
        factors
            .iter()
            .zip(values)
            .map(|(factor, value)| factor * value)
            .sum()
    };
    of.constant + times(&of.iterators, iteration) + times(&of.parameters, parameters)
}

/// All iterations in the order in which they are written.
pub fn iterations(chain: &Chain, parameters: &[i64]) -> Vec<Iteration> {
    fn inside(
        number: usize,
        nest: &Nest,
        outer: &mut Vec<i64>,
        parameters: &[i64],
        all: &mut Vec<Iteration>,
    ) {
        let Some(bounds) = nest.bounds.get(outer.len()) else {
            all.push((number, outer.clone()));
            return;
        };
        let (first, last) = (
            value(&bounds.first, outer, parameters),
            value(&bounds.last, outer, parameters),
        );
        for at in first..=last {
            outer.push(at);
            inside(number, nest, outer, parameters, all);
            outer.pop();
        }
    }
    let mut all = Vec::new();
    for (number, nest) in chain.nests.iter().enumerate() {
        inside(number, nest, &mut Vec::new(), parameters, &mut all);
    }
    all
}

/// The order in which code runs iterations, each with the parallel loops around.
pub fn order(code: &Code, parameters: &[i64]) -> Vec<(Iteration, Vec<Turn>)> {
    let mut all = Vec::new();
    let is_known = code::run(code, parameters, &mut |nest, iteration, turns| {
        all.push(((nest, iteration.to_vec()), turns.to_vec()));
    });
    assert!(
        is_known,
        "a number has no value, or loops have the same variable: {code:?}"
    );
    all
}

/// What parallel loops combine, by their variables.
fn combines(code: &Code, all: &mut HashMap<usize, Vec<usize>>) {
    match code {
        Code::Sequence(parts) => parts.iter().for_each(|one| combines(one, all)),
        Code::For(looped) => {
            all.entry(looped.variable)
                .or_default()
                .extend(&looped.combines);
            combines(&looped.body, all);
        }
        Code::If(choice) => {
            combines(&choice.then, all);
            choice.otherwise.iter().for_each(|one| combines(one, all));
        }
        Code::Run { .. } => {}
    }
}

/// Whether a plan is right for these parameters, or says itself that it is not for them; whatever threads there are.
pub fn check(chain: &Chain, plan: &Plan, parameters: &[i64]) -> Result<(), String> {
    let Some(place) = plan.threads else {
        return check_all(chain, plan, parameters);
    };
    assert_eq!(place, parameters.len());
    [1, 2, 3, 5, 0].iter().try_for_each(|&threads| {
        let parameters = [parameters, &[threads]].concat();
        check_all(chain, plan, &parameters)
    })
}

fn check_all(chain: &Chain, plan: &Plan, parameters: &[i64]) -> Result<(), String> {
    match plan.requires.holds(parameters, &[]) {
        Some(true) => {
            check_with(chain, &plan.code, &plan.buffers, parameters)?;
            if !plan.joined.is_empty() {
                let code = at_once(plan.code.clone(), &plan.joined);
                check_with(chain, &code, &plan.buffers, parameters)?;
            }
            check_buffers(chain, plan, parameters)
        }
        Some(false) => Ok(()),
        None => Err("what it requires has no answer".to_string()),
    }
}

/// Code that runs iterations of these loops at the same time.
fn at_once(code: Code, loops: &[usize]) -> Code {
    match code {
        Code::Sequence(all) => {
            Code::Sequence(all.into_iter().map(|one| at_once(one, loops)).collect())
        }
        Code::For(mut one) => {
            one.is_parallel |= loops.contains(&one.variable);
            one.body = at_once(one.body, loops);
            Code::For(one)
        }
        Code::If(mut one) => {
            one.then = at_once(one.then, loops);
            one.otherwise = one.otherwise.map(|one| at_once(one, loops));
            Code::If(one)
        }
        run => run,
    }
}

/// When an iteration is run, and what it accesses how.
type Accessed = (usize, Mode, Option<Vec<i64>>);

/// Whether code is right for these parameters.
pub fn check_code(chain: &Chain, code: &Code, parameters: &[i64]) -> Result<(), String> {
    check_with(chain, code, &[], parameters)
}

/// The buffer that a nest has in place of a space.
fn buffer_of(buffers: &[Buffer], nest: usize, space: usize) -> Option<usize> {
    let is_its = |buffer: &Buffer| buffer.space == space && buffer.nests.contains(&nest);
    buffers.iter().position(is_its)
}

fn check_with(
    chain: &Chain,
    code: &Code,
    buffers: &[Buffer],
    parameters: &[i64],
) -> Result<(), String> {
    let written = iterations(chain, parameters);
    let ran = order(code, parameters);
    let numbers: HashMap<_, _> = written
        .iter()
        .enumerate()
        .map(|(at, one)| (one, at))
        .collect();
    let mut times = vec![0; written.len()];
    for (iteration, _) in &ran {
        let Some(&number) = numbers.get(iteration) else {
            return Err(format!(
                "{iteration:?} is run, but is none of {parameters:?}"
            ));
        };
        times[number] += 1;
    }
    // What an iteration finds in buffers of its thread alone may be found again, or not at all: whether that is right is seen
    // where it is read.
    let is_own = |nest: usize, space: usize| {
        let buffer = buffer_of(buffers, nest, space).map(|buffer| &buffers[buffer]);
        buffer.is_some_and(|buffer| buffer.is_needed && buffer.is_private)
    };
    let may_be_again = |nest: usize| {
        let accesses = chain.nests[nest].accesses.iter();
        let mut changes = accesses
            .filter(|access| access.mode != Mode::Read)
            .peekable();
        changes.peek().is_some() && changes.all(|access| is_own(nest, access.space))
    };
    for (number, times) in times.into_iter().enumerate() {
        if times != 1 && !may_be_again(written[number].0) {
            return Err(format!(
                "{:?} is run {times} times with {parameters:?}",
                written[number]
            ));
        }
    }
    let mut combined = HashMap::new();
    combines(code, &mut combined);
    // Buffers that the order relies on are apart from their spaces.
    let count = chain.spaces.len();
    let mut accesses: Vec<Vec<Accessed>> = vec![Vec::new(); count + buffers.len()];
    let place = |nest: usize, space: usize| match buffer_of(buffers, nest, space) {
        Some(buffer) if buffers[buffer].is_needed => count + buffer,
        _ => space,
    };
    for (time, ((nest, iteration), _)) in ran.iter().enumerate() {
        let own = chain.nests[*nest].accesses.iter();
        let bounds = &chain.nests[*nest].bounds;
        let is_last = bounds
            .iter()
            .zip(iteration)
            .all(|(one, at)| value(&one.last, iteration, parameters) == *at);
        let own = own.filter(|access| is_last || !access.at_last);
        for access in own.filter(|access| !is_own(*nest, access.space)) {
            let of = |one: &Affine| value(one, iteration, parameters);
            let element = access
                .index
                .as_ref()
                .map(|index| index.iter().map(of).collect());
            accesses[place(*nest, access.space)].push((time, access.mode, element));
        }
    }
    for (place, accesses) in accesses.iter().enumerate() {
        let space = match place < count {
            true => place,
            false => buffers[place - count].space,
        };
        for (at, (earlier, one, element)) in accesses.iter().enumerate() {
            for (later, other, another) in &accesses[at + 1..] {
                let is_same = element.is_none() || another.is_none() || element == another;
                if earlier == later || !is_same || (*one == Mode::Read && *other == Mode::Read) {
                    continue;
                }
                let is_combined = one == other && matches!(one, Mode::Reduce(_));
                let (first, second) = (&ran[*earlier], &ran[*later]);
                let said = |what: &str| {
                    Err(format!(
                        "{what}: {:?} and {:?} access `{}` {element:?} with {parameters:?}",
                        first.0, second.0, chain.spaces[space].name
                    ))
                };
                if !is_combined && numbers[&first.0] > numbers[&second.0] {
                    return said("the later one is first");
                }
                let turns = first.1.iter().zip(&second.1);
                let apart = turns.take_while(|(one, other)| one.run == other.run);
                for (turn, _) in apart.filter(|(one, other)| one.value != other.value) {
                    if !is_combined {
                        return said("at the same time");
                    }
                    if !combined[&turn.variable].contains(&space) {
                        return said("combined at the same time");
                    }
                }
            }
        }
    }
    Ok(())
}

/// Which iteration has written something, to which element; None where it was there before the chain.
type Value = Option<(Iteration, Vec<i64>)>;

/// A place in a buffer: that of an iteration of a parallel loop, where each has its own.
type Slot = (usize, Option<Turn>, Vec<i64>);

/// Where an element of a buffer is in an iteration of parallel loops, for one that reads or writes it.
type Places<'p> = dyn Fn(usize, &[Turn], &[i64], bool) -> Slot + 'p;

/// What each iteration that is run reads of spaces that have buffers, by the iterations that have written it, where elements have the
/// places that `place` says.
fn values_read(
    chain: &Chain,
    plan: &Plan,
    order: &[(Iteration, Vec<Turn>)],
    parameters: &[i64],
    place: &Places<'_>,
) -> Vec<(Iteration, Vec<Value>)> {
    let mut memory: HashMap<Slot, (Iteration, Vec<i64>)> = HashMap::new();
    let mut all = Vec::new();
    for (iteration, turns) in order {
        let mut values = Vec::new();
        let ours = |writes: bool| {
            let accesses = chain.nests[iteration.0].accesses.iter();
            let accesses = accesses.filter(move |access| match access.mode {
                Mode::Read => !writes,
                Mode::Write => writes,
                Mode::Reduce(_) => true,
            });
            accesses.filter_map(|access| {
                let buffer = buffer_of(&plan.buffers, iteration.0, access.space)?;
                let index = access.index.as_ref()?.iter();
                let element: Vec<_> = index
                    .map(|one| value(one, &iteration.1, parameters))
                    .collect();
                Some((buffer, element))
            })
        };
        for (buffer, element) in ours(false) {
            values.push(memory.get(&place(buffer, turns, &element, false)).cloned());
        }
        for (buffer, element) in ours(true) {
            let slot = place(buffer, turns, &element, true);
            memory.insert(slot, (iteration.clone(), element));
        }
        all.push((iteration.clone(), values));
    }
    all
}

/// Whether what is read in buffers is what is read as it is written.
fn check_buffers(chain: &Chain, plan: &Plan, parameters: &[i64]) -> Result<(), String> {
    if plan.buffers.is_empty() {
        return Ok(());
    }
    let whole =
        |buffer: usize, _: &[Turn], element: &[i64], _: bool| (buffer, None, element.to_vec());
    let some = |buffer: usize, turns: &[Turn], element: &[i64], writes: bool| {
        let buffer_of = &plan.buffers[buffer];
        let mut variables = Vec::new();
        for turn in turns {
            variables.resize(variables.len().max(turn.variable + 1), None);
            variables[turn.variable] = Some(turn.value);
        }
        // Where there is no parallel loop around, nobody has one of his own.
        let turn = match buffer_of.within {
            Some(variable) => turns.iter().find(|turn| turn.variable == variable),
            None => turns.first(),
        };
        let turn = turn.copied().filter(|_| buffer_of.is_private);
        assert!(
            buffer_of.is_private || turns.is_empty(),
            "threads share a buffer"
        );
        // It is in the space itself.
        let elsewhere = (plan.buffers.len() + buffer, None, element.to_vec());
        if buffer_of.within.is_some() && turn.is_none() {
            return elsewhere;
        }
        let end =
            |one: &code::Expression| one.value(parameters, &variables).expect("ends have values");
        let numbers = || buffer_of.numbers.iter().zip(element);
        let is_inside =
            numbers().all(|(number, at)| (end(&number.first)..=end(&number.last)).contains(at));
        if !is_inside {
            assert!(
                buffer_of.is_bounded && !writes,
                "{element:?} is not in {buffer_of:?}"
            );
            return elsewhere;
        }
        let place =
            numbers().map(|(number, &at)| number.period.map_or(at, |period| at.rem_euclid(period)));
        (buffer, turn, place.collect())
    };
    let written = iterations(chain, parameters).into_iter();
    let written: Vec<_> = written.map(|one| (one, Vec::new())).collect();
    let ran = order(&plan.code, parameters);
    let expected = values_read(chain, plan, &written, parameters, &whole);
    let expected: HashMap<_, _> = expected.into_iter().collect();
    let found = values_read(chain, plan, &ran, parameters, &some);
    for (iteration, values) in &found {
        if *values != expected[iteration] {
            return Err(format!(
                "{iteration:?} reads {values:?} in place of {:?} with {parameters:?}, {:?}",
                expected[iteration], plan.buffers
            ));
        }
    }
    Ok(())
}

/// A parameter and a constant.
pub fn parameter(number: usize, constant: i64) -> Affine {
    Affine::parameter(number).plus(&Affine::constant(constant))
}

/// A chain that is put together.
#[derive(Default)]
pub struct Builder(pub Chain);

impl Builder {
    pub fn new(parameters: &[&str], spaces: &[(&str, usize)]) -> Self {
        let space = |&(name, rank): &(&str, usize)| Space {
            name: name.to_string(),
            rank,
            is_local: false,
        };
        Self(Chain {
            parameters: parameters.iter().map(|name| name.to_string()).collect(),
            spaces: spaces.iter().map(space).collect(),
            ..Chain::default()
        })
    }

    /// A nest whose line is ten times its number. Accesses are of iteration variables, in their order, and these offsets.
    pub fn nest(
        mut self,
        bounds: &[(Affine, Affine)],
        accesses: &[(Mode, usize, &[&[i64]])],
    ) -> Self {
        let bounds = bounds.iter().map(|(first, last)| Bounds {
            first: first.clone(),
            last: last.clone(),
        });
        let mut all = Vec::new();
        for &(mode, space, places) in accesses {
            for place in places {
                let index = place
                    .iter()
                    .enumerate()
                    .map(|(at, &offset)| Affine::iterator(at, offset));
                all.push(Access {
                    space,
                    mode,
                    must: true,
                    at_last: false,
                    index: Some(index.collect()),
                });
            }
        }
        self.0.nests.push(Nest {
            line: 10 * (self.0.nests.len() as u32 + 1),
            bounds: bounds.collect(),
            accesses: all,
        });
        self
    }
}

/// From a constant to a parameter and a constant.
pub fn range(first: i64, last: (usize, i64)) -> (Affine, Affine) {
    (Affine::constant(first), parameter(last.0, last.1))
}

/// From a constant to a constant.
pub fn constants(first: i64, last: i64) -> (Affine, Affine) {
    (Affine::constant(first), Affine::constant(last))
}

/// Items at columns 1, 2, .. of line 1; those in tiles at the columns behind the tile's.
pub fn schedule(items: Vec<What>) -> Vec<Item> {
    fn placed(what: What, column: &mut u32) -> Item {
        *column += 1;
        let at = Position {
            line: 1,
            column: *column,
        };
        let what = match what {
            What::Tile(tile) => What::Tile(Tile {
                over: Box::new(placed(tile.over.what, column)),
                within: Box::new(placed(tile.within.what, column)),
                ..tile
            }),
            what => what,
        };
        Item { at, what }
    }
    let mut column = 0;
    items
        .into_iter()
        .map(|what| placed(what, &mut column))
        .collect()
}

pub fn tile(sizes: &[i64], over: What, within: What) -> What {
    tile_of(
        sizes.iter().map(|&size| Number::Constant(size)).collect(),
        over,
        within,
    )
}

pub fn tile_of(sizes: Vec<Number>, over: What, within: What) -> What {
    let item = |what| {
        Box::new(Item {
            at: Position::default(),
            what,
        })
    };
    What::Tile(Tile {
        sizes,
        over: item(over),
        within: item(within),
        overlaps: false,
    })
}

/// Tiles that overlap.
pub fn overlapping(sizes: Vec<Number>) -> What {
    match tile_of(sizes, What::Parallel, What::Serial) {
        What::Tile(tile) => What::Tile(Tile {
            overlaps: true,
            ..tile
        }),
        other => other,
    }
}

pub fn fuse_by(shifts: &[&[i64]]) -> What {
    let shift = |shift: &&[i64]| shift.iter().map(|&one| Number::Constant(one)).collect();
    What::Fuse(Some(shifts.iter().map(shift).collect()))
}
