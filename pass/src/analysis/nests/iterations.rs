//! What one turn of a loop accesses, as a function of its number: relations of which sections are projections.
//!
//! Guarantee: a number is what it is for the program's own, if none of these overflows.

use super::conditions::{Conditions, MOST_OPERATIONS};
use super::tables::TableWrites;
use super::{Expression, Nests, Scope};
use crate::ir::{Base, Elements, Number, Object, Region, Unknown, depends_on};
use crate::llvm::{Block, ExpressionKind as Kind, Instruction, Opcode, Value};
use crate::numbers::Polynomial;

/// What is computed in fewer bits is a remainder, which is meant to wrap around.
const NARROWEST: u32 = 32;

/// Where numbers are to be known.
#[derive(Clone, Copy)]
pub struct Turn<'a, 'm> {
    /// The loop whose turns are iterations; none where it is code outside of it.
    pub nest: Option<usize>,
    /// The variable that holds the number of the first iteration.
    pub first: Option<Value<'m>>,
    /// Whether the code is a region's body, whose parameters are what the region captures.
    pub is_body: bool,
    /// Of code outside of such a loop: what in it may write. What that may change is not what it was.
    pub writers: &'a [Instruction<'m>],
    /// Whether elements lie anywhere between those of any turns of the loops inside, and numbers of which one is the least or
    /// the largest are any of these. Then it is enough that the program's numbers are the same but for multiples of 2^32.
    pub is_hull: bool,
}

impl Turn<'_, '_> {
    /// Which captured value a parameter is, or else which parameter. None of the pointers to the thread's numbers.
    fn parameter<T>(
        self,
        index: usize,
        captured: fn(usize) -> T,
        other: fn(usize) -> T,
    ) -> Option<T> {
        match self.is_body {
            true => index.checked_sub(Region::LEADING).map(captured),
            false => Some(other(index)),
        }
    }
}

/// What is accessed in a turn.
pub struct InTurn<'m> {
    /// The object.
    pub base: Base<'m>,
    /// Where in it, if that is known.
    pub elements: Option<Elements<'m>>,
    /// Whether that is accessed in every turn, or whenever the block runs if that is outside of loops.
    pub must: bool,
}

impl<'m> Nests<'m> {
    /// What an instruction in `block` accesses at `pointer`, one element or `length` bytes, in a turn. `None` where not even
    /// the object is known.
    pub fn in_one_turn(
        &self,
        pointer: Value<'m>,
        length: Option<Value<'m>>,
        block: Block<'m>,
        turn: Turn<'_, 'm>,
    ) -> Option<InTurn<'m>> {
        let mut access = self.access(pointer, length, block)?;
        let whole = access.address;
        let is_left = match turn.nest {
            _ if turn.is_hull => true,
            Some(nest) => self.leave_loops(&mut access, Scope::Loop(nest), Some(nest)),
            None => true,
        };
        let (base, place) =
            self.object_and_place(if is_left { access.address } else { whole }, turn)?;
        let number = |one| {
            self.in_iterations(one, turn)
                .filter(|one| !mentions_first(one))
        };
        let rows = access.dimensions.iter().map(|row| {
            let (stride, count) = (number(row.stride)?, number(row.count)?);
            Some((stride, count))
        });
        // Not all checks are of overflow, and a relation has no place for them.
        let elements = place
            .filter(|place| is_left && access.when.checks.is_empty() && !mentions_first(place))
            .zip(rows.collect::<Option<_>>())
            .map(|(offset, rows)| Elements { offset, rows });
        let is_reached = match turn.nest {
            Some(nest) => self.always_runs(access.block, Some(nest)),
            None => self.loop_of(block).is_none(),
        };
        let must =
            !turn.is_hull && access.exact && access.when == Conditions::default() && is_reached;
        Some(InTurn {
            base,
            must: must && elements.is_some(),
            elements,
        })
    }

    /// The place of an address that is the same in all turns.
    pub fn fixed_place(&self, address: Value<'m>, is_body: bool) -> Option<Object<'m>> {
        let turn = Turn {
            nest: None,
            first: None,
            is_body,
            writers: &[],
            is_hull: false,
        };
        self.place_of(self.expression(address), turn)
    }

    fn place_of(&self, address: Expression<'m>, turn: Turn<'_, 'm>) -> Option<Object<'m>> {
        let (base, offset) = self.object_and_place(address, turn)?;
        Some(Object {
            base,
            offset: offset.filter(|one| !mentions_first(one))?,
        })
    }

    /// The object of an address, and the bytes from its beginning where they are known.
    fn object_and_place(
        &self,
        address: Expression<'m>,
        turn: Turn<'_, 'm>,
    ) -> Option<(Base<'m>, Option<Number<'m>>)> {
        let object = self.object(address).value()?;
        let base = match (object.as_parameter(), object.as_global()) {
            (Some((_, index)), _) => turn.parameter(index, Base::Capture, Base::Parameter)?,
            (None, Some(global)) => Base::Global(global),
            (None, None) => {
                let load = object.as_op(Opcode::LLVMLoad)?;
                Base::Loaded(Box::new(self.place_of_load(load, turn)?))
            }
        };
        Some((base, self.in_iterations(self.offset(address), turn)))
    }

    fn place_of_load(&self, load: Instruction<'m>, turn: Turn<'_, 'm>) -> Option<Object<'m>> {
        // What the loop itself changes is not what it was.
        match turn.nest {
            Some(nest) => drop(self.loaded_from(*load, nest, TableWrites::None)?),
            None if self.changing_in_turns(load, turn.writers).is_empty() => {}
            None => return None,
        }
        self.place_of(self.expression(load.address()?), turn)
    }

    /// An integer as a function of the number of the iteration.
    fn in_iterations(&self, one: Expression<'m>, turn: Turn<'_, 'm>) -> Option<Number<'m>> {
        let of = |one| self.in_iterations(one, turn);
        if one.size() > MOST_OPERATIONS {
            return None;
        }
        let operands = one.operands();
        let all = || {
            operands
                .iter()
                .map(|&one| of(one))
                .collect::<Option<Vec<_>>>()
        };
        match one.kind() {
            Kind::Constant => Some(Polynomial::constant(i64::try_from(one.constant()?).ok()?)),
            Kind::Value => self.value_in_iterations(one.value()?, turn),
            Kind::UnsignedDivide | Kind::PointerToInteger | Kind::Other | Kind::Unknown => None,
            _ if self.bits(one) < NARROWEST => None,
            Kind::Truncate | Kind::ZeroExtend | Kind::SignExtend => of(operands[0]),
            Kind::Add => {
                let all = all()?;
                all.iter()
                    .try_fold(Polynomial::constant(0), |sum, one| sum.plus(one))
            }
            Kind::Multiply => {
                let all = all()?;
                all.iter()
                    .try_fold(Polynomial::constant(1), |product, one| product.times(one))
            }
            // A negative number is among the largest without its sign, and no overflow.
            Kind::UnsignedMin | Kind::SequentialMin | Kind::UnsignedMax
                if !turn.is_hull && !operands.iter().all(|&one| self.has_no_sign(one)) =>
            {
                None
            }
            Kind::SignedMin | Kind::UnsignedMin | Kind::SequentialMin => {
                Some(Polynomial::of(Unknown::Least(all()?)))
            }
            Kind::SignedMax | Kind::UnsignedMax => Some(Polynomial::of(Unknown::Largest(all()?))),
            Kind::Recurrence => {
                let changes = self.recurrence(one)?;
                let is_inside = |nest| self.contains(nest, self.loops()[changes.of].header);
                let turns = if Some(changes.of) == turn.nest {
                    let [iteration, first] =
                        [Unknown::Iteration, Unknown::First].map(Polynomial::of);
                    iteration.minus(&first)?
                } else if turn.is_hull && turn.nest.is_some_and(is_inside) {
                    let last = of(self.backedges(changes.of)?)?;
                    Polynomial::of(Unknown::Turn(Box::new(last)))
                } else {
                    return None;
                };
                of(changes.start)?.plus(&of(changes.step)?.times(&turns)?)
            }
        }
    }

    /// Whether it is not negative, nor are the numbers in it that are extended without their signs.
    fn has_no_sign(&self, one: Expression<'m>) -> bool {
        let may_lose_sign = |part: Expression<'m>| {
            part.is(Kind::ZeroExtend) && !self.is_not_negative(part.operands()[0])
        };
        self.is_not_negative(one) && !one.contains(may_lose_sign)
    }

    fn value_in_iterations(&self, value: Value<'m>, turn: Turn<'_, 'm>) -> Option<Number<'m>> {
        if let Some((_, index)) = value.as_parameter() {
            let unknown = turn.parameter(index, Unknown::Capture, Unknown::Parameter);
            return Some(Polynomial::of(unknown?));
        }
        let load = value.as_op(Opcode::LLVMLoad)?;
        if load.address() == turn.first {
            return Some(Polynomial::of(Unknown::First));
        }
        let from = self.place_of_load(load, turn)?;
        Some(Polynomial::of(Unknown::Loaded(Box::new(from))))
    }
}

/// Whether it depends on where a thread's share begins.
fn mentions_first(one: &Number<'_>) -> bool {
    depends_on(one, &|unknown| matches!(unknown, Unknown::First))
}
