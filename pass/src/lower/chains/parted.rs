//! Innermost loops that are split where conditions of their bodies change: each part knows the answers, so that nothing is asked
//! in it.
//!
//! Guarantee: the parts run the same iterations in the same order. Where no answer is known iterations ask themselves.

use okl_chains::code::{Expression, For};

use super::bodies::ASKS;
use super::code::Writer;
use super::storage::{factor, only_runs};
use crate::ir::Nest;
use crate::llvm::{Block, Builder, Comparison, IntPredicate, Value};

/// Questions that are answered for a loop, one in the other, at most.
const MOST: usize = 4;
/// Parts that a loop usually has.
pub const USUAL: usize = 3;

/// Of each nest, of each condition, and of each border that it names, whether iterations are behind it.
pub type Sides = Vec<Vec<Vec<Option<bool>>>>;

/// Nothing is known of them.
pub fn sides(nests: &[Nest<'_>]) -> Sides {
    let nest = |nest: &Nest<'_>| {
        let strips = nest.strips.iter();
        strips.map(|one| vec![None; one.borders.len()]).collect()
    };
    nests.iter().map(nest).collect()
}

/// A border that parts a loop.
struct Parting<'c, 'm> {
    /// What is compared, as the loop's variable and the rest, or as what is the same in all of it.
    number: &'c Expression,
    is_its: bool,
    base: Option<Value<'m>>,
    constant: i64,
}

impl<'m> Writer<'_, 'm> {
    /// What is known of the conditions of a nest, as an iteration is told.
    pub fn answers(&self, nest: usize) -> Vec<Value<'m>> {
        let strips = self.nests[nest].strips.iter().zip(&self.sides[nest]);
        let answer = strips.map(|(strip, sides)| {
            let answer = strip.holds.answer(sides);
            self.module.const_i64(answer.map_or(ASKS, i64::from))
        });
        answer.collect()
    }

    /// A loop from a number to another one that is not reached, in parts.
    pub fn parted(&mut self, one: &For, ends: [Value<'m>; 3], block: Block<'m>) -> Block<'m> {
        let mut runs = Vec::new();
        let has_strips = |runs: &[(usize, &[Expression])]| {
            let mut all = runs.iter();
            all.any(|one| !self.nests[one.0].strips.is_empty())
        };
        match only_runs(&one.body, &mut runs) && has_strips(&runs) {
            true => self.part(one, &runs, ends, MOST, block),
            false => self.between_borders(one, ends, block),
        }
    }

    fn part(
        &mut self,
        one: &For,
        runs: &[(usize, &[Expression])],
        [first, end, step]: [Value<'m>; 3],
        most: usize,
        block: Block<'m>,
    ) -> Block<'m> {
        let parting = self.parting(one, runs).filter(|_| most > 0);
        let Some(parting) = parting else {
            return self.between_borders(one, [first, end, step], block);
        };
        let builder = self.at(block);
        let around = self
            .variables
            .insert(one.variable, self.module.const_i64(0));
        let number = self.number(&builder, parting.number);
        self.restore(one.variable, around);
        let constant = self.module.const_i64(parting.constant);
        let border = match parting.base {
            Some(base) => builder.sum(base, constant),
            None => constant,
        };
        let before = self.sides.clone();
        let last = match parting.is_its {
            true => {
                let at = builder.difference(border, number);
                let at = pick(&builder, IntPredicate::LLVMIntSLT, at, end);
                let at = pick(&builder, IntPredicate::LLVMIntSGT, at, first);
                self.suppose(runs, &parting, false);
                let block = self.part(one, runs, [first, at, step], most - 1, block);
                self.sides.clone_from(&before);
                self.suppose(runs, &parting, true);
                self.part(one, runs, [at, end, step], most - 1, block)
            }
            false => {
                let is_behind = Comparison::Integer(IntPredicate::LLVMIntSGE);
                let is_behind = builder.ask(is_behind, number, border);
                let blocks = [(); 3].map(|()| self.block());
                builder.go_if(is_behind, blocks[0], blocks[1]);
                for (block, is_behind) in [(blocks[0], true), (blocks[1], false)] {
                    self.suppose(runs, &parting, is_behind);
                    let last = self.part(one, runs, [first, end, step], most - 1, block);
                    self.at(last).go(blocks[2]);
                    self.sides.clone_from(&before);
                }
                blocks[2]
            }
        };
        self.sides = before;
        last
    }

    /// A border of which it has to be known on which side an iteration is: one that is the same for all of the loop first.
    fn parting<'c>(
        &self,
        one: &For,
        runs: &[(usize, &'c [Expression])],
    ) -> Option<Parting<'c, 'm>> {
        let counts_by_one = one.step == Expression::Constant(1);
        let mut found = None;
        for &(nest, iteration) in runs {
            for (strip, sides) in self.nests[nest].strips.iter().zip(&self.sides[nest]) {
                if strip.holds.answer(sides).is_some() {
                    continue;
                }
                for (border, side) in strip.borders.iter().zip(sides) {
                    let number = &iteration[border.level];
                    let factor = factor(number, one.variable);
                    let is_its = factor == Some(1) && counts_by_one;
                    if side.is_some() || !is_its && factor != Some(0) {
                        continue;
                    }
                    let parting = Parting {
                        number,
                        is_its,
                        base: border.base,
                        constant: border.constant,
                    };
                    if !is_its {
                        return Some(parting);
                    }
                    found.get_or_insert(parting);
                }
            }
        }
        found
    }

    /// Iterations are behind a border, or are not: so it is with others that are as far off, or further.
    fn suppose(&mut self, runs: &[(usize, &[Expression])], at: &Parting<'_, 'm>, is_behind: bool) {
        let (base, constant) = at.number.split();
        for &(nest, iteration) in runs {
            let strips = self.nests[nest].strips.iter().zip(&mut self.sides[nest]);
            for (border, side) in strips.flat_map(|(strip, sides)| strip.borders.iter().zip(sides))
            {
                let (number, offset) = iteration[border.level].split();
                if number != base || border.base != at.base {
                    continue;
                }
                let [this, that] = [(border.constant, offset), (at.constant, constant)]
                    .map(|(constant, offset)| i128::from(constant) - i128::from(offset));
                if is_behind && this <= that || !is_behind && this >= that {
                    *side = Some(is_behind);
                }
            }
        }
    }
}

/// The one of two numbers that a comparison says.
fn pick<'m>(builder: &Builder<'m>, is: IntPredicate, a: Value<'m>, b: Value<'m>) -> Value<'m> {
    builder.select(builder.ask(Comparison::Integer(is), a, b), a, b)
}
