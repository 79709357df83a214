//! Addresses and counts as expressions of 64 bits. Where the program computes an index in a narrow type LLVM must reckon with
//! overflow; here it is computed as if numbers were unbounded, and checks at run time make sure that every value of a narrow
//! type is one. What is then still no section has a hull: the least and the largest address.

use super::conditions::{Check, add};
use super::extents::Access;
use super::{Expression, Nests, Scope, Section, WORD};
use crate::llvm::{ExpressionKind as Kind, Opcode, Recurrence, Value};

/// What is extended from no more bits is a remainder, which is meant to wrap around.
const NARROW: u32 = 16;
/// In which products of numbers of 64 bits do not overflow.
const WIDE: u32 = 128;
const DEEPEST: usize = 24;

/// Computed in [`WIDE`] bits.
#[derive(Clone, Copy)]
struct Interval<'m> {
    low: Expression<'m>,
    high: Expression<'m>,
}

/// A value that must be one of a type of that width.
#[derive(Clone, Copy, PartialEq)]
struct Need<'m> {
    value: Expression<'m>,
    bits: u32,
    signed: bool,
}

struct Widening<'a, 'm> {
    nests: &'a Nests<'m>,
    scope: Scope<'m>,
    /// What is the same everywhere in the scope is computed so, too: then more of it cancels out.
    is_deep: bool,
    needs: Vec<Need<'m>>,
    checks: Vec<Check<'m>>,
}

impl<'a, 'm> Widening<'a, 'm> {
    fn new(nests: &'a Nests<'m>, scope: Scope<'m>, is_deep: bool) -> Self {
        Self {
            nests,
            scope,
            is_deep,
            needs: Vec::new(),
            checks: Vec::new(),
        }
    }

    fn number(&self, value: i64) -> Expression<'m> {
        self.nests.number(WIDE, value)
    }

    fn wide(&self, one: Expression<'m>) -> Expression<'m> {
        self.nests.with_sign(one, WIDE)
    }

    fn need(&mut self, value: Expression<'m>, bits: u32, signed: bool) -> Expression<'m> {
        add(
            &mut self.needs,
            Need {
                value,
                bits,
                signed,
            },
        );
        value
    }

    /// A value that stands for one of a narrow type.
    fn fitting(&mut self, value: Expression<'m>, like: Expression<'m>) -> Expression<'m> {
        match self.nests.bits(like) {
            bits if bits < WORD => self.need(value, bits, true),
            _ => value,
        }
    }

    fn not_negative(&mut self, value: Expression<'m>, bits: u32) -> Expression<'m> {
        let value = match self.is_deep {
            true => self.spread(value, 0),
            false => value,
        };
        self.need(value, bits - 1, false)
    }

    /// On the condition that it does not overflow.
    fn fits(&mut self, value: Expression<'m>) -> Expression<'m> {
        self.need(value, WORD, true)
    }

    /// The value of an integer, taken as signed, in 64 bits; `None` where that is not known.
    fn widen(&mut self, one: Expression<'m>, depth: usize) -> Option<Expression<'m>> {
        let nests = self.nests;
        let bits = one.ty().bits().filter(|&bits| bits <= WORD)?;
        if depth > DEEPEST {
            return None;
        }
        let is_computed = |one: Expression<'m>| {
            matches!(one.kind(), Kind::SignExtend | Kind::Add | Kind::Multiply)
        };
        let is_computed =
            is_computed(one) || one.is(Kind::ZeroExtend) && is_computed(one.operands()[0]);
        if nests.is_fixed(one, self.scope) && !(self.is_deep && is_computed) {
            return Some(nests.with_sign(one, WORD));
        }
        let operands = one.operands();
        match one.kind() {
            Kind::SignExtend => self.widen(operands[0], depth + 1),
            Kind::ZeroExtend => match nests.bits(operands[0]) {
                narrow if narrow <= NARROW => Some(nests.without_sign(one, WORD)),
                bits => {
                    let value = self.widen(operands[0], depth + 1)?;
                    Some(self.not_negative(value, bits))
                }
            },
            Kind::Truncate => {
                let value = self.widen(operands[0], depth + 1)?;
                Some(self.fitting(value, one))
            }
            Kind::UnsignedDivide => {
                let value = self.widen(operands[0], depth + 1)?;
                let value = self.not_negative(value, bits);
                let divisor = nests.with_sign(operands[1], WORD);
                if divisor.constant().is_none() {
                    if !nests.is_fixed(divisor, self.scope) {
                        return None;
                    }
                    self.not_negative(nests.more(divisor, -1), bits);
                    let divisor = nests.choice(Kind::UnsignedMax, &[divisor, nests.word(1)]);
                    return Some(nests.quotient(value, divisor));
                }
                let number = divisor.constant().filter(|&number| number > 0)?;
                let exact = self.exact_quotient(value, number);
                Some(exact.unwrap_or_else(|| nests.quotient(value, divisor)))
            }
            kind @ (Kind::UnsignedMin | Kind::UnsignedMax) => {
                // Of numbers that are not negative the sign does not matter.
                let mut parts = Vec::new();
                for &operand in operands {
                    let part = self.widen(operand, depth + 1)?;
                    parts.push(self.not_negative(part, bits));
                }
                Some(match kind {
                    Kind::UnsignedMin => nests.least(&parts),
                    _ => nests.largest(&parts),
                })
            }
            kind @ (Kind::Add
            | Kind::Multiply
            | Kind::SignedMin
            | Kind::SignedMax
            | Kind::Recurrence) => {
                let mut parts = Vec::new();
                for &operand in operands {
                    parts.push(self.widen(operand, depth + 1)?);
                }
                let value = match kind {
                    Kind::Add => nests.sum(&parts),
                    Kind::Multiply => nests.product(&parts),
                    Kind::Recurrence => nests.recurring(&parts, nests.recurrence(one)?.of),
                    _ => {
                        for &part in &parts {
                            self.need(part, bits, true);
                        }
                        return Some(nests.choice(kind, &parts));
                    }
                };
                Some(self.fitting(value, one))
            }
            Kind::Value => self.widen_value(one, depth),
            _ => None,
        }
    }

    /// A quotient of numbers that do not overflow which is whole, whatever its parts are: LLVM keeps only the upper bits of
    /// an index where it knows that the lower ones are zero.
    fn exact_quotient(&self, value: Expression<'m>, divisor: i128) -> Option<Expression<'m>> {
        let nests = self.nests;
        if let Some(number) = value.constant() {
            let quotient = i64::try_from(number / divisor).ok()?;
            return (number % divisor == 0).then(|| nests.word(quotient));
        }
        let all = |operands: &[Expression<'m>]| -> Option<Vec<_>> {
            let parts = operands.iter();
            parts
                .map(|&one| self.exact_quotient(one, divisor))
                .collect()
        };
        let operands = value.operands();
        Some(match value.kind() {
            Kind::Multiply => {
                let (&factor, rest) = operands.split_first()?;
                let factor = self.exact_quotient(factor, divisor)?;
                nests.product(&[&[factor], rest].concat())
            }
            Kind::Add => nests.sum(&all(operands)?),
            Kind::Recurrence => nests.recurring(&all(operands)?, nests.recurrence(value)?.of),
            kind @ (Kind::SignedMin | Kind::SignedMax) => nests.choice(kind, &all(operands)?),
            _ => return None,
        })
    }

    /// What LLVM writes in another way: an index of 32 bits times the size of an element is an exact shift to the right of
    /// the index in the upper half.
    fn widen_value(&mut self, one: Expression<'m>, depth: usize) -> Option<Expression<'m>> {
        const HALF: i64 = 32;
        let nests = self.nests;
        let shift = one.value()?.as_op(Opcode::LLVMAShr);
        if let Some(shift) = shift.filter(|one| one.is_exact() && one.ty().bits() == Some(WORD))
            && let Some(by) = shift
                .operand(1)
                .as_constant_int()
                .filter(|by| (0..=HALF).contains(by))
            && let Some(index) = self.upper_half(nests.expression(shift.operand(0)), HALF, depth)
        {
            let index = self.need(index, HALF as u32, true);
            return Some(nests.product(&[index, nests.word(1 << (HALF - by))]));
        }
        Some(nests.with_sign(one, WORD))
    }

    /// What stands in the upper half of a value whose lower half is zero; `None` where that is not plain.
    fn upper_half(
        &mut self,
        one: Expression<'m>,
        half: i64,
        depth: usize,
    ) -> Option<Expression<'m>> {
        let nests = self.nests;
        if let Some(value) = one.constant() {
            let is_upper = i64::from(value.trailing_zeros()) >= half;
            return is_upper.then(|| nests.word((value >> half) as i64));
        }
        let operands = one.operands();
        match one.kind() {
            Kind::Multiply => {
                operands[0].constant()?;
                let mut parts = vec![self.upper_half(operands[0], half, depth)?];
                for &operand in &operands[1..] {
                    parts.push(self.widen(operand, depth + 1)?);
                }
                Some(nests.product(&parts))
            }
            kind @ (Kind::Add | Kind::Recurrence) => {
                let mut parts = Vec::new();
                for &operand in operands {
                    parts.push(self.upper_half(operand, half, depth)?);
                }
                Some(match kind {
                    Kind::Add => nests.sum(&parts),
                    _ => nests.recurring(&parts, nests.changes_in(one)?),
                })
            }
            _ => None,
        }
    }

    /// The values that an integer of 64 bits has while control is in the scope, computed as if numbers were unbounded.
    fn interval(&mut self, one: Expression<'m>, depth: usize) -> Option<Interval<'m>> {
        if depth > DEEPEST {
            return None;
        }
        let value = match self.nests.is_fixed(one, self.scope) {
            true => {
                let value = self.fixed(one, depth)?;
                Interval {
                    low: value,
                    high: value,
                }
            }
            false => self.variable_interval(one, depth)?,
        };
        // So that it can be multiplied again.
        let can_be = self.check(value.low, WORD, true) && self.check(value.high, WORD, true);
        can_be.then_some(value)
    }

    /// What is the same everywhere in the scope, computed as if numbers were unbounded: sums and products that nobody computes
    /// in the program may overflow where those that it computes do not.
    fn fixed(&mut self, one: Expression<'m>, depth: usize) -> Option<Expression<'m>> {
        let nests = self.nests;
        let kind = one.kind();
        match kind {
            Kind::Add | Kind::Multiply | Kind::SignedMin | Kind::SignedMax if depth <= DEEPEST => {
                let mut parts = Vec::new();
                for &operand in one.operands() {
                    parts.push(self.fixed(operand, depth + 1)?);
                }
                let (&first, rest) = parts.split_first()?;
                match kind {
                    Kind::Add => Some(nests.sum(&parts)),
                    // Each can be multiplied again.
                    Kind::Multiply => rest.iter().try_fold(first, |product, &factor| {
                        let can_be = self.check(product, WORD, true);
                        can_be.then(|| nests.product(&[product, factor]))
                    }),
                    _ => Some(nests.choice(kind, &parts)),
                }
            }
            // From where it started, which may have been made of other numbers.
            Kind::Recurrence => {
                let start = one.operands()[0];
                let way = self.wide(nests.minus(one, start));
                Some(nests.sum(&[self.fixed(start, depth + 1)?, way]))
            }
            _ => Some(self.wide(one)),
        }
    }

    fn variable_interval(&mut self, one: Expression<'m>, depth: usize) -> Option<Interval<'m>> {
        let nests = self.nests;
        let operands = one.operands();
        match one.kind() {
            // What a bound has in common with what is subtracted from it cancels out only so.
            Kind::Add if operands.iter().any(|&part| is_choice(part)) => {
                let value = self.spread(one, 0);
                self.interval(value, depth + 1)
            }
            Kind::Add => {
                let (mut low, mut high) = (self.number(0), self.number(0));
                for &operand in operands {
                    let value = self.interval(operand, depth + 1)?;
                    low = nests.sum(&[low, value.low]);
                    high = nests.sum(&[high, value.high]);
                }
                Some(Interval { low, high })
            }
            Kind::Multiply => {
                let (low, high) = (self.number(1), self.number(1));
                let mut product = Interval { low, high };
                for &operand in operands {
                    let value = self.interval(operand, depth + 1)?;
                    product = self.times(product, value);
                    if !self.check(product.low, WORD, true) || !self.check(product.high, WORD, true)
                    {
                        return None;
                    }
                }
                Some(product)
            }
            Kind::Recurrence => {
                let recurrence = nests.recurrence(one)?;
                let backedges = self.widen(nests.backedges(recurrence.of)?, 0)?;
                if let Some(value) = self.counted(&recurrence, backedges, depth) {
                    return Some(value);
                }
                let start = self.interval(recurrence.start, depth + 1)?;
                let step = self.interval(recurrence.step, depth + 1)?;
                let turns = self.interval(backedges, depth + 1)?;
                // From no turn to the largest number of turns.
                let turns = Interval {
                    low: self.number(0),
                    high: turns.high,
                };
                let way = self.times(step, turns);
                Some(Interval {
                    low: nests.sum(&[start.low, way.low]),
                    high: nests.sum(&[start.high, way.high]),
                })
            }
            Kind::UnsignedDivide => {
                let value = self.interval(operands[0], depth + 1)?;
                let divisor = self.wide(operands[1]);
                Some(Interval {
                    low: nests.quotient(value.low, divisor),
                    high: nests.quotient(value.high, divisor),
                })
            }
            kind @ (Kind::SignedMin | Kind::SignedMax) => {
                let (mut low, mut high) = (Vec::new(), Vec::new());
                for &operand in operands {
                    let value = self.interval(operand, depth + 1)?;
                    low.push(value.low);
                    high.push(value.high);
                }
                Some(Interval {
                    low: nests.choice(kind, &low),
                    high: nests.choice(kind, &high),
                })
            }
            Kind::ZeroExtend => match nests.bits(operands[0]) {
                bits if bits <= NARROW => Some(Interval {
                    low: self.number(0),
                    high: self.number((1 << bits) - 1),
                }),
                _ => None,
            },
            Kind::SignExtend => self.interval_of_value(operands[0].value()?, depth),
            Kind::Value => self.interval_of_value(one.value()?, depth),
            _ => None,
        }
    }

    /// Of what a loop counts from a number of its steps on that changes outside of it: what that has in common with how often
    /// the loop runs cancels out, as of rows from one minimum up to another one.
    fn counted(
        &mut self,
        recurrence: &Recurrence<'m>,
        backedges: Expression<'m>,
        depth: usize,
    ) -> Option<Interval<'m>> {
        let nests = self.nests;
        let step = recurrence.step;
        if !nests.is_fixed(step, self.scope) {
            return None;
        }
        let terms = match recurrence.start.is(Kind::Add) {
            true => recurrence.start.operands(),
            false => std::slice::from_ref(&recurrence.start),
        };
        let (mut first, mut rest) = (Vec::new(), Vec::new());
        for &term in terms {
            match divided(nests, term, step) {
                Some(times) => first.push(times),
                None => rest.push(term),
            }
        }
        let first = match first[..] {
            [] => return None,
            _ => nests.sum(&first),
        };
        if nests.is_fixed(first, self.scope) {
            return None;
        }
        let first = self.fits(first);
        let behind = self.fits(nests.sum(&[first, backedges]));
        let behind = self.spread(behind, 0);
        let (first, behind) = (
            self.interval(first, depth + 1)?,
            self.interval(behind, depth + 1)?,
        );
        let step = self.interval(step, depth + 1)?;
        let rest = match rest[..] {
            [] => {
                let (low, high) = (self.number(0), self.number(0));
                Interval { low, high }
            }
            _ => self.interval(nests.sum(&rest), depth + 1)?,
        };
        let way = Interval {
            low: first.low,
            high: nests.largest(&[first.high, behind.high]),
        };
        let way = self.times(step, way);
        Some(Interval {
            low: nests.sum(&[rest.low, way.low]),
            high: nests.sum(&[rest.high, way.high]),
        })
    }

    /// Of what ScalarEvolution does not look into.
    fn interval_of_value(&mut self, value: Value<'m>, depth: usize) -> Option<Interval<'m>> {
        let nests = self.nests;
        let operation = value.as_instruction()?;
        let part = |this: &mut Self, index| {
            let wide = this.widen(nests.expression(operation.operand(index)), depth + 1)?;
            this.interval(wide, depth + 1)
        };
        let opcode = operation.opcode();
        if opcode == Opcode::LLVMSelect {
            let (a, b) = (part(self, 1)?, part(self, 2)?);
            return Some(Interval {
                low: nests.least(&[a.low, b.low]),
                high: nests.largest(&[a.high, b.high]),
            });
        }
        use Opcode::{LLVMAnd, LLVMSDiv, LLVMSRem, LLVMURem};
        if !matches!(opcode, LLVMSDiv | LLVMSRem | LLVMURem | LLVMAnd) {
            return None;
        }
        let number = operation
            .operand(1)
            .as_constant_int()
            .filter(|&one| one > 0)?;
        let up_to = |low, high| Interval { low, high };
        Some(match opcode {
            LLVMSDiv => {
                let value = part(self, 0)?;
                // Rounded towards zero.
                let positive = |end| {
                    let end = nests.largest(&[end, self.number(0)]);
                    nests.quotient(end, self.number(number))
                };
                let negative = nests.least(&[value.low, self.number(0)]);
                up_to(
                    nests.sum(&[positive(value.low), negative]),
                    positive(value.high),
                )
            }
            LLVMSRem => up_to(self.number(1 - number), self.number(number - 1)),
            LLVMURem => up_to(self.number(0), self.number(number - 1)),
            _ => up_to(self.number(0), self.number(number)),
        })
    }

    fn times(&self, a: Interval<'m>, b: Interval<'m>) -> Interval<'m> {
        let nests = self.nests;
        if let Some(factor) = a.low.constant().filter(|_| a.low == a.high) {
            let ends = [b.low, b.high].map(|end| nests.product(&[a.low, end]));
            let [low, high] = match factor < 0 {
                true => [ends[1], ends[0]],
                false => ends,
            };
            return Interval { low, high };
        }
        let pairs = [
            (a.low, b.low),
            (a.low, b.high),
            (a.high, b.low),
            (a.high, b.high),
        ];
        let products = pairs.map(|(a, b)| nests.product(&[a, b]));
        Interval {
            low: nests.least(&products),
            high: nests.largest(&products),
        }
    }

    /// A sum with a minimum or a maximum, as that of the sums with its operands.
    fn spread(&mut self, one: Expression<'m>, depth: usize) -> Expression<'m> {
        if depth > 4 {
            return one;
        }
        let nests = self.nests;
        if one.is(Kind::Add)
            && let Some(&choice) = one.operands().iter().find(|&&part| is_choice(part))
        {
            let rest = one
                .operands()
                .iter()
                .copied()
                .filter(|&part| part != choice);
            let rest: Vec<_> = rest.collect();
            let mut parts = Vec::new();
            for &operand in choice.operands() {
                let sum = nests.sum(&[&rest[..], &[operand]].concat());
                let sum = self.fits(sum);
                parts.push(self.spread(sum, depth + 1));
            }
            return nests.choice(choice.kind(), &parts);
        }
        if !is_choice(one) {
            return one;
        }
        let mut parts = Vec::new();
        for &operand in one.operands() {
            parts.push(self.spread(operand, depth + 1));
        }
        nests.choice(one.kind(), &parts)
    }

    /// Adds the checks that make widened values and intervals right; false where there are none.
    fn add_checks(&mut self, into: &mut Vec<Check<'m>>) -> bool {
        // Computing intervals may widen more.
        let mut next = 0;
        while let Some(&Need {
            value,
            bits,
            signed,
        }) = self.needs.get(next)
        {
            let is_checked = self.interval(value, 0).is_some_and(|value| {
                self.check(value.low, bits, signed) && self.check(value.high, bits, signed)
            });
            if !is_checked {
                return false;
            }
            next += 1;
        }
        for &one in &self.checks {
            add(into, one);
        }
        true
    }

    /// Of an end of an interval, on the condition of the checks.
    fn narrow(&self, end: Expression<'m>) -> Expression<'m> {
        self.nests.with_sign(end, WORD)
    }

    /// Makes sure that a value is one of a type of that width; false where it never is.
    fn check(&mut self, value: Expression<'m>, bits: u32, signed: bool) -> bool {
        if let Some(number) = value.constant() {
            return is_one_of(number, bits, signed);
        }
        // Extended from no more bits.
        if signed && value.is(Kind::SignExtend) && self.nests.bits(value.operands()[0]) <= bits {
            return true;
        }
        let is_usable = self.nests.is_usable(value, self.scope);
        if is_usable {
            add(
                &mut self.checks,
                Check {
                    value,
                    bits,
                    signed,
                },
            );
        }
        is_usable
    }
}

/// What a product has besides the factors of another one; `None` where it does not have all of them.
fn divided<'m>(
    nests: &Nests<'m>,
    product: Expression<'m>,
    by: Expression<'m>,
) -> Option<Expression<'m>> {
    let factors = |one: &Expression<'m>| match one.is(Kind::Multiply) {
        true => one.operands().to_vec(),
        false => vec![*one],
    };
    let mut rest = factors(&product);
    let mut constant = 1;
    for factor in factors(&by) {
        match factor.constant() {
            Some(number) => constant = number,
            None => {
                let at = rest.iter().position(|&one| one == factor)?;
                rest.remove(at);
            }
        }
    }
    if constant != 1 {
        let (at, number) = { rest.iter().enumerate() }
            .find_map(|(at, one)| Some((at, one.constant()?)))
            .filter(|(_, number)| constant != 0 && number % constant == 0)?;
        rest[at] = nests.word(i64::try_from(number / constant).ok()?);
    }
    match rest[..] {
        [] => Some(nests.word(1)),
        _ => Some(nests.product(&rest)),
    }
}

fn is_choice(one: Expression<'_>) -> bool {
    matches!(one.kind(), Kind::SignedMin | Kind::SignedMax)
}

/// Whether a number is one of a type of that width.
pub(super) fn is_one_of(number: i128, bits: u32, signed: bool) -> bool {
    let shift = i128::BITS - bits;
    match signed {
        true => number << shift >> shift == number,
        false => ((number as u128) << shift >> shift) as i128 == number,
    }
}

impl<'m> Nests<'m> {
    /// `more - less`, or `more` where there is nothing to subtract, in 64 bits and as if numbers were unbounded, on the
    /// condition of the checks; `None` where that is not known. Minima and maxima are outermost.
    pub(super) fn unbounded(
        &self,
        more: Expression<'m>,
        less: Option<Expression<'m>>,
        scope: Scope<'m>,
        checks: &mut Vec<Check<'m>>,
    ) -> Option<Expression<'m>> {
        let mut wide = Widening::new(self, scope, true);
        let mut value = wide.widen(more, 0)?;
        if let Some(less) = less {
            let less = wide.widen(less, 0)?;
            value = wide.fits(self.minus(value, less));
        }
        let value = wide.spread(value, 0);
        wide.add_checks(checks).then_some(value)
    }

    /// The section of an access, or its hull, if indices do not overflow.
    pub(super) fn widened(&self, access: &Access<'m>, scope: Scope<'m>) -> Option<Section<'m>> {
        let mut wide = Widening::new(self, scope, false);
        let (object, offset, mut whole) = self.without_overflow(&mut wide, access)?;
        if let Some(section) = self.affine(whole.clone(), scope) {
            return Some(section);
        }
        let hull = wide.interval(offset, 0)?;
        let length = self.minus(hull.high, hull.low);
        if !access.dimensions.is_empty()
            || !wide.check(length, WORD - 1, true)
            || !wide.add_checks(&mut whole.when.checks)
        {
            return None;
        }
        let address = self.sum(&[object, wide.narrow(hull.low)]);
        let count = self.more(wide.narrow(length), 1);
        if !self.is_usable(address, scope) || !self.is_usable(count, scope) {
            return None;
        }
        Some(Section {
            address: self.term(address),
            dimensions: vec![(self.term(self.word(1)), self.term_when(count, whole.when))],
            exact: false,
        })
    }

    /// The section of an access if indices do not overflow. A hull would not do.
    pub(super) fn widened_section(
        &self,
        access: &Access<'m>,
        scope: Scope<'m>,
    ) -> Option<Section<'m>> {
        let mut wide = Widening::new(self, scope, false);
        let (_, _, whole) = self.without_overflow(&mut wide, access)?;
        self.affine(whole, scope)
    }

    /// The object of an access, its offset there as if indices did not overflow, and the access there, on these conditions.
    fn without_overflow(
        &self,
        wide: &mut Widening<'_, 'm>,
        access: &Access<'m>,
    ) -> Option<(Expression<'m>, Expression<'m>, Access<'m>)> {
        let object = self.object(access.address);
        if matches!(wide.scope, Scope::At(_))
            || !object.is(Kind::Value)
            || !self.is_usable(object, wide.scope)
        {
            return None;
        }
        let offset = wide.widen(self.offset(access.address), 0)?;
        let mut whole = access.clone();
        if !wide.add_checks(&mut whole.when.checks) {
            return None;
        }
        whole.address = self.sum(&[object, offset]);
        Some((object, offset, whole))
    }
}
