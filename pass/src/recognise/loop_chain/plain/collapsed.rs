//! Loops one in the other that threads share as one (`collapse`), as they are without that: clang counts their iterations through,
//! and computes of such a number which iteration of each loop it is.
//!
//! Guarantee: what is found counts, one in the other, through the same values in the same order. Each of the program's iterators is
//! written there only.

use std::collections::HashSet;

use super::ends::End;
use super::{FORM, Making, Share, Why, is_plain_load};
use crate::analysis::variables::is_harmless;
use crate::llvm::{Block, Builder, Comparison, Instruction, IntPredicate, Opcode, Value};
use crate::recognise::counted::Form;

/// Loops one in the other, at most.
const DEEPEST: usize = 3;
/// Operations one behind the other in which two numbers are compared.
pub const MOST: usize = 24;

/// One of the loops.
pub struct Level<'m> {
    /// The program's iterator.
    pub variable: Instruction<'m>,
    /// Gives it its value in the body.
    pub store: Instruction<'m>,
    /// Whether it has a sign.
    pub signed: bool,
    /// Its first value: a constant, or what a load loads that is the same in front of the loops.
    first: Value<'m>,
    /// How many iterations it has, in front of the loops.
    count: Count<'m>,
    /// Where it ends, where that is known otherwise.
    pub end: Option<End<'m>>,
}

#[derive(Clone, Copy)]
enum Count<'m> {
    Constant(i64),
    Value(Value<'m>),
}

/// What is multiplied.
#[derive(Clone, Default)]
struct Product<'m> {
    times: i64,
    factors: Vec<Factor<'m>>,
}

/// A number, and whether it has a sign where it is made wider.
#[derive(Clone, Copy)]
struct Factor<'m> {
    core: Value<'m>,
    signed: bool,
}

/// The number of an iteration of a collapsed loop, in what is left of it behind some of the loops.
pub struct Numbers<'a, 'm> {
    form: &'a Form<'m>,
    counter: Instruction<'m>,
    /// By what it is divided for each of the loops so far.
    by: Vec<Value<'m>>,
}

/// A first value in front of the loops: a constant, or loaded there, too.
pub fn in_front<'m>(first: Value<'m>, builder: &Builder<'m>) -> Value<'m> {
    match first.as_op(Opcode::LLVMLoad) {
        Some(load) => builder.load(load.ty(), load.operand(0)),
        None => first,
    }
}

impl<'m> Level<'m> {
    /// Its first value in front of the loops, as long as they are what they were.
    pub fn first(&self, builder: &Builder<'m>) -> Value<'m> {
        in_front(self.first, builder)
    }

    /// Goes on to the next value.
    fn step(&self, builder: &Builder<'m>) {
        let ty = self.store.operand(0).ty();
        let more = builder.plus(builder.load(ty, *self.variable), 1);
        builder.store(more, *self.variable);
    }

    /// The first value and the last one, of 64 bits.
    pub fn ends(&self, builder: &Builder<'m>) -> [Value<'m>; 2] {
        let first = wide(builder, self.first(builder), self.signed);
        let last = match (&self.end, self.count) {
            (Some(end), _) => end.last(builder),
            (None, Count::Constant(count)) => builder.plus(first, count - 1),
            (None, Count::Value(count)) => builder.plus(builder.sum(first, count), -1),
        };
        [first, last]
    }
}

impl<'m> Making<'m> {
    /// The loops of a collapsed one; none where it is only one. `last`: the number of its last iteration.
    pub fn collapsed(
        &self,
        share: &Share<'m>,
        form: &Form<'m>,
        last: Value<'m>,
        conditions: &[(Value<'m>, bool)],
    ) -> Result<Option<Vec<Level<'m>>>, Why> {
        let counter = form.begins.operand(1).as_instruction().ok_or(FORM)?;
        let body = form.body.instructions();
        let stores = body.iter().copied();
        let stores =
            stores.filter(|one| one.opcode() == Opcode::LLVMStore && one.is_plain_access());
        let mut numbers = Numbers::of(form, counter);
        let mut found = Vec::new();
        for store in stores.take(DEEPEST) {
            let Some((first, by)) = numbers.iterator(store) else {
                return Ok(None);
            };
            found.push((store, first));
            match by {
                Some(by) => numbers.by.push(by),
                None => break,
            }
        }
        // The innermost one is what is left.
        if found.len() < 2 || numbers.by.len() + 1 != found.len() {
            return Ok(None);
        }
        let counts = numbers.counts(last).ok_or(FORM)?;
        // What ends elsewhere than at a constant is asked whether it has any iteration.
        let asked = counts.iter().filter(|one| one.is_err()).count();
        let signed = conditions.iter().all(|one| is_signed(one.0));
        let is_mixed = !signed && conditions.iter().any(|one| is_signed(one.0));
        if is_mixed || !(share.signed && signed) && asked != conditions.len() {
            return Err("it is collapsed, and only some of its iterators have a sign");
        }
        let known: HashSet<_> = found.iter().map(|one| one.0).collect();
        let mut levels = Vec::new();
        for ((store, first), count) in found.into_iter().zip(counts) {
            let variable = store.operand(1).as_op(Opcode::LLVMAlloca).ok_or(FORM)?;
            let ty = store.operand(0).ty();
            let is_read = |one: &Instruction<'m>| {
                *one == store || is_plain_load(*one) && form.has(one.block()) || is_harmless(*one)
            };
            let is_right = ty.bits().is_some_and(|bits| bits >= 32)
                && variable.allocated_type() == Some(ty)
                && variable.instruction_users().iter().all(is_read);
            let first = numbers.first(first, store).filter(|_| is_right);
            let mut end = None;
            let count = match count {
                // Nobody asks whether they have a sign: those that have one are these numbers as well.
                Ok(constant) if share.signed && signed => Count::Constant(constant),
                Ok(constant) => {
                    let begin = first.and_then(|first| first.as_constant_int());
                    let end = begin.filter(|begin| *begin >= 0);
                    let end = end.and_then(|begin| begin.checked_add(constant));
                    end.filter(|end| *end <= i64::from(i32::MAX)).ok_or(FORM)?;
                    Count::Constant(constant)
                }
                Err(factor) => {
                    let builder = Builder::before(self.module, share.call.instruction());
                    let known = numbers.end(factor.core, 0, conditions);
                    end = known.filter(|end| first.is_some_and(|first| numbers.begins(first, end)));
                    if end.is_none() && !(share.signed && signed) {
                        return Err(FORM);
                    }
                    Count::Value(wide(&builder, factor.core, factor.signed))
                }
            };
            levels.push(Level {
                variable,
                store,
                signed,
                first: first.ok_or(FORM)?,
                count,
                end,
            });
        }
        // What stands between does not know them yet, and nothing else looks at the number.
        let innermost = levels.last().expect("there are two").store;
        let before = body.into_iter().take_while(|one| *one != innermost);
        let before: Vec<_> = before.collect();
        let is_quiet = |one: &Instruction<'m>| {
            let is_early =
                is_plain_load(*one) && levels.iter().any(|level| one.operand(0) == *level.variable);
            known.contains(one) || !is_early && (one.only_computes() || is_harmless(*one))
        };
        let is_counted = |one: &Instruction<'m>| {
            let counts = one.block() == form.header || one.block() == form.steps.block();
            counts || *one == form.begins || before.contains(one) || is_harmless(*one)
        };
        let is_all =
            before.iter().all(is_quiet) && counter.instruction_users().iter().all(is_counted);
        is_all.then_some(Some(levels)).ok_or(FORM)
    }

    /// Has the loop that threads share be the innermost one of these, in the others. `ends`: variables with the numbers of 64 bits
    /// at which they end. Returns where the outermost one begins, and what gives the others their first values.
    pub fn nest(
        &self,
        form: &Form<'m>,
        levels: &[Level<'m>],
        ends: &[Value<'m>],
    ) -> (Block<'m>, Vec<Instruction<'m>>) {
        let module = self.module;
        let long = module.int(64);
        let around = levels.len() - 1;
        let blocks = (0..around).map(|_| [(); 3].map(|()| self.copy.append_block(module)));
        let blocks: Vec<_> = blocks.collect();
        let like = form.decides;
        // Each is left to where the one around it counts.
        let exit = |at: usize| match at {
            0 => form.exit,
            inner => blocks[inner - 1][2],
        };
        let header = |at: usize| blocks.get(at).map_or(form.header, |one| one[0]);
        let counts = |builder: &Builder<'m>, at: usize, into: Block<'m>| {
            let variable = levels[at].variable;
            let number = builder.load(levels[at].store.operand(0).ty(), *variable);
            let number = wide(builder, number, levels[at].signed);
            let until = builder.load(long, ends[at]);
            let goes_on = Comparison::Integer(IntPredicate::LLVMIntSLE);
            builder.go_if(builder.ask(goes_on, number, until), into, exit(at));
        };
        let mut begin = Vec::new();
        for (at, &[asks, enters, steps]) in blocks.iter().enumerate() {
            counts(&Builder::at_end_like(module, asks, like), at, enters);
            let builder = Builder::at_end_like(module, enters, like);
            let next = &levels[at + 1];
            builder.store(next.first(&builder), *next.variable);
            begin.extend(enters.instructions().last());
            builder.go(header(at + 1));
            let builder = Builder::at_end_like(module, steps, like);
            levels[at].step(&builder);
            builder.go(asks);
        }
        counts(&Builder::before(module, like), around, form.body);
        like.erase();
        levels[around].step(&Builder::before(module, form.steps));
        form.steps.erase();
        levels.iter().for_each(|one| one.store.erase());
        (header(0), begin)
    }
}

impl<'a, 'm> Numbers<'a, 'm> {
    /// Of a loop that a variable counts.
    pub fn of(form: &'a Form<'m>, counter: Instruction<'m>) -> Self {
        Self {
            form,
            counter,
            by: Vec::new(),
        }
    }

    /// Of a store into an iterator, its first value, if that is not 0, and what the number is divided by for it, if it is not the
    /// innermost loop's.
    #[allow(clippy::type_complexity)]
    fn iterator(&self, store: Instruction<'m>) -> Option<(Option<Value<'m>>, Option<Value<'m>>)> {
        let value = store.operand(0);
        let value = value
            .as_op(Opcode::LLVMTrunc)
            .map_or(value, |one| one.operand(0));
        if let Some(by) = self.position(value) {
            return Some((None, by));
        }
        let sum = value.as_op(Opcode::LLVMAdd)?;
        let [one, other] = [sum.operand(0), sum.operand(1)];
        match (self.position(other), self.position(one)) {
            (Some(by), _) => Some((Some(one), by)),
            (None, Some(by)) => Some((Some(other), by)),
            (None, None) => None,
        }
    }

    /// What the number is divided by, if by anything, so that a value is the number of an iteration of the next loop.
    fn position(&self, value: Value<'m>) -> Option<Option<Value<'m>>> {
        let value = match value.as_op(Opcode::LLVMMul) {
            Some(one) if one.operand(1).as_constant_int() == Some(1) => one.operand(0),
            _ => value,
        };
        let deep = self.by.len();
        if self.is_rest(value, deep) {
            return Some(None);
        }
        let division = value.as_instruction().filter(|one| divides(*one))?;
        self.is_rest(division.operand(0), deep)
            .then(|| Some(division.operand(1)))
    }

    /// Whether a value is what is left of the number behind so many loops.
    fn is_rest(&self, value: Value<'m>, deep: usize) -> bool {
        let Some(around) = deep.checked_sub(1) else {
            let load = value.as_op(Opcode::LLVMLoad);
            return load.is_some_and(|one| is_plain_load(one) && one.operand(0) == *self.counter);
        };
        let taken = || {
            let rest = value.as_op(Opcode::LLVMSub)?;
            let product = rest.operand(1).as_op(Opcode::LLVMMul)?;
            let division = product.operand(0).as_instruction()?;
            Some((rest, product, division))
        };
        taken().is_some_and(|(rest, product, division)| {
            let by = self.by[around];
            divides(division)
                && self.is_rest(rest.operand(0), around)
                && self.is_rest(division.operand(0), around)
                && self.is_same(product.operand(1), by, MOST)
                && self.is_same(division.operand(1), by, MOST)
        })
    }

    /// What is kept in a variable that is written once, in front of the loop, is that.
    pub fn kept(&self, value: Value<'m>) -> Value<'m> {
        let variable = || {
            let load = value
                .as_op(Opcode::LLVMLoad)
                .filter(|one| is_plain_load(*one))?;
            let variable = load.operand(0).as_op(Opcode::LLVMAlloca)?;
            let mut users = variable.instruction_users();
            users.retain(|one| !is_plain_load(*one) && !is_harmless(*one));
            let [store] = users[..] else {
                return None;
            };
            let is_store = store.opcode() == Opcode::LLVMStore && store.operand(1) == *variable;
            let kept = store.operand(0);
            let is_it = is_store && kept.ty() == value.ty() && self.is_front(store.block());
            is_it.then_some(kept)
        };
        match variable() {
            Some(kept) => self.kept(kept),
            None => value,
        }
    }

    /// Whether control comes to the loop by a block only.
    fn is_front(&self, block: Block<'m>) -> bool {
        let mut at = self.form.begins.block();
        let mut seen = HashSet::new();
        while at != block && seen.insert(at) {
            at = match at.predecessors()[..] {
                [before] => before,
                // A choice between two values.
                [one, other] if one.predecessors() == other.predecessors() => one,
                _ => return false,
            };
        }
        at == block
    }

    pub fn is_same(&self, a: Value<'m>, b: Value<'m>, deep: usize) -> bool {
        let (a, b) = (self.kept(a), self.kept(b));
        if a == b {
            return true;
        }
        let (Some(one), Some(other)) = (a.as_instruction(), b.as_instruction()) else {
            return false;
        };
        let (these, those) = (one.operands(), other.operands());
        deep > 0
            && one.only_computes()
            && one.address().is_none()
            && one.is_same_operation(other, false)
            && these.len() == those.len()
            && { these.iter().zip(&those) }.all(|(&a, &b)| self.is_same(a, b, deep - 1))
    }

    /// How many iterations the loops have: constants, or what is known in front of them.
    fn counts(&self, last: Value<'m>) -> Option<Vec<Result<i64, Factor<'m>>>> {
        let last = self.kept(last);
        let mut rest = match (last.as_constant_int(), last.as_instruction()) {
            (Some(last), _) => Product {
                times: last.checked_add(1)?,
                factors: Vec::new(),
            },
            (None, Some(one)) => {
                let less = one.operand(1).as_constant_int();
                let is_less = match one.opcode() {
                    Opcode::LLVMSub => less == Some(1),
                    Opcode::LLVMAdd => less == Some(-1),
                    _ => false,
                };
                self.product(one.operand(0)).filter(|_| is_less)?
            }
            _ => return None,
        };
        let mut counts = Vec::new();
        for &by in &self.by {
            let by = self.product(by)?;
            let mut left = rest.factors;
            let mut factors = Vec::new();
            for one in &by.factors {
                let is_it = |other: &Factor<'m>| {
                    other.signed == one.signed && self.is_same(other.core, one.core, MOST)
                };
                factors.push(left.remove(left.iter().position(is_it)?));
            }
            if by.times <= 0 || rest.times % by.times != 0 {
                return None;
            }
            counts.push(count(rest.times / by.times, &left)?);
            rest = Product {
                times: by.times,
                factors,
            };
        }
        counts.push(count(rest.times, &rest.factors)?);
        Some(counts)
    }

    fn product(&self, value: Value<'m>) -> Option<Product<'m>> {
        let value = self.kept(value);
        if let Some(times) = value.as_constant_int() {
            return Some(Product {
                times,
                factors: Vec::new(),
            });
        }
        let factor = |core: Value<'m>, signed: bool| Product {
            times: 1,
            factors: vec![Factor { core, signed }],
        };
        let one = value.as_instruction()?;
        match one.opcode() {
            Opcode::LLVMMul => {
                let [one, other] = [0, 1].map(|at| self.product(one.operand(at)));
                let (mut one, other) = (one?, other?);
                one.times = one.times.checked_mul(other.times)?;
                one.factors.extend(other.factors);
                // What is narrower may overflow.
                let is_one = one.factors.len() == 1 && one.times == 1;
                (value.ty().bits() == Some(64) || is_one).then_some(one)
            }
            Opcode::LLVMSExt | Opcode::LLVMZExt => {
                let mut product = self.product(one.operand(0))?;
                let signed = one.opcode() == Opcode::LLVMSExt;
                product
                    .factors
                    .iter_mut()
                    .for_each(|one| one.signed = signed);
                Some(product)
            }
            Opcode::LLVMSDiv | Opcode::LLVMUDiv if one.operand(1).as_constant_int() == Some(1) => {
                self.product(one.operand(0))
            }
            Opcode::LLVMTrunc => None,
            _ => Some(factor(value, true)),
        }
    }

    /// A first value that can be computed in front of the loops, too.
    fn first(&self, value: Option<Value<'m>>, store: Instruction<'m>) -> Option<Value<'m>> {
        let ty = store.operand(0).ty();
        let Some(value) = value else {
            return Some(ty.zero());
        };
        if let Some(constant) = value.as_constant_int() {
            return Some(ty.integer_constant(constant));
        }
        let one = value.as_instruction()?;
        let load = match one.opcode() {
            Opcode::LLVMSExt | Opcode::LLVMZExt => one.operand(0).as_instruction()?,
            _ => one,
        };
        let variable = load.operand(0).as_op(Opcode::LLVMAlloca);
        let is_plain = is_plain_load(load) && load.ty() == ty;
        let variable = variable.filter(|_| is_plain)?;
        let changes = |one: &Instruction<'m>| {
            !is_plain_load(*one) && !is_harmless(*one) && self.form.has(one.block())
        };
        let is_kept = !variable.instruction_users().iter().any(changes);
        is_kept.then_some(*load)
    }
}

fn count<'m>(times: i64, factors: &[Factor<'m>]) -> Option<Result<i64, Factor<'m>>> {
    match factors {
        [] => Some(Ok(times)),
        [one] if times == 1 => Some(Err(*one)),
        _ => None,
    }
}

fn divides(one: Instruction<'_>) -> bool {
    matches!(one.opcode(), Opcode::LLVMSDiv | Opcode::LLVMUDiv)
}

/// A number in 64 bits.
pub fn wide<'m>(builder: &Builder<'m>, number: Value<'m>, signed: bool) -> Value<'m> {
    let long = builder.module().int(64);
    match signed {
        _ if number.ty() == long => number,
        true => builder.sign_extend(number, long),
        false => builder.cast(Opcode::LLVMZExt, number, long),
    }
}

/// Whether what is asked compares numbers with a sign.
pub fn is_signed(asked: Value<'_>) -> bool {
    use IntPredicate::*;
    let comparison = asked.as_instruction().and_then(Instruction::comparison);
    matches!(
        comparison,
        Some(Comparison::Integer(
            LLVMIntSLT | LLVMIntSLE | LLVMIntSGT | LLVMIntSGE
        ))
    )
}
