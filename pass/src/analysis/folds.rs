//! Objects with which code only combines something, by sums, products, bits, comparisons or truth values, wherever it does that
//! and however often.
//!
//! Guarantee: what is found to be such makes of what is in the object and of values that do not depend on it what the
//! operation makes of them, and nothing else depends on it: not where control goes, but to the object's own stores, and not
//! what else is accessed. So parts may be combined for themselves, in any order, as far as the operation allows that.

use std::collections::HashSet;

use okl_abi::AtomicOp;

use super::updates;
use crate::ir::Operation;
use crate::llvm::{Block, Comparison, Instruction, Opcode, RealPredicate, Type, Value};

/// Blocks that are looked at between one place and another one.
const MOST_BLOCKS: usize = 16;
/// Steps in which two values are compared.
const MOST_STEPS: usize = 12;

/// How something is combined with what is in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// It is added.
    Add,
    /// It is multiplied with.
    Multiply,
    /// The bits that both have.
    And,
    /// The bits that one of them has.
    Or,
    /// The bits that they differ in.
    Xor,
    /// Whether both are true.
    All,
    /// Whether one of them is true.
    Any,
    /// One of the two is chosen by a comparison.
    Choice(AtomicOp),
    /// A constant takes its place.
    Put(i16),
}

/// The first number that stands for a constant in a model.
const PUT: u32 = 1 << 16;

impl Fold {
    /// The number that stands for it in a model.
    pub fn number(self) -> u32 {
        match self {
            Self::Add => 0,
            Self::Multiply => 1,
            Self::And => 2,
            Self::Or => 3,
            Self::Xor => 4,
            Self::All => 5,
            Self::Any => 6,
            Self::Choice(operation) => 16 + operation as u32,
            Self::Put(constant) => PUT + u32::from(constant as u16),
        }
    }

    /// What a number stands for.
    pub fn of_number(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::Add,
            1 => Self::Multiply,
            2 => Self::And,
            3 => Self::Or,
            4 => Self::Xor,
            5 => Self::All,
            6 => Self::Any,
            PUT.. => Self::Put(u16::try_from(number - PUT).ok()? as i16),
            _ => Self::Choice(*AtomicOp::ALL.get(number.checked_sub(16)? as usize)?),
        })
    }
}

/// What code does with an object.
pub struct Uses<'a, 'm> {
    /// What reads all of it.
    pub loads: &'a [Instruction<'m>],
    /// What writes all of it.
    pub stores: &'a [Instruction<'m>],
    /// What only marks a place, or a value.
    pub is_mark: &'a dyn Fn(Instruction<'m>) -> bool,
    /// Whether nothing in the code writes what a load reads.
    pub is_settled: &'a dyn Fn(Instruction<'m>) -> bool,
}

/// What is found.
pub struct Found {
    /// The operation.
    pub fold: Fold,
    /// Whether what is in the object decides what is read.
    pub guards: bool,
}

/// In which way code combines something with an object, where it does nothing else with it.
pub fn found<'m>(uses: &Uses<'_, 'm>) -> Option<Found> {
    let ty = uses.stores.first()?.operand(0).ty();
    let is_its = |one: &Instruction<'m>| match one.opcode() {
        Opcode::LLVMLoad => one.ty() == ty,
        Opcode::LLVMStore => one.operand(0).ty() == ty && one.operand(0) != one.operand(1),
        _ => false,
    };
    if !(ty.is_integer() || ty.is_floating()) || !uses.loads.iter().chain(uses.stores).all(is_its) {
        return None;
    }
    if uses.loads.is_empty() {
        return put(uses.stores);
    }
    let mut search = Search {
        uses,
        carried: Vec::new(),
        apart: Vec::new(),
        comparisons: Vec::new(),
        guards: Vec::new(),
        matched: HashSet::new(),
        followed: 0,
        fold: None,
        is_truth: false,
        is_narrow: false,
        fits: true,
        ty,
        is_kept: true,
    };
    uses.loads
        .iter()
        .for_each(|load| search.carry(**load, Form::Number));
    search.follow_all()?;
    for at in 0.. {
        let Some(&(branch, form)) = search.guards.get(at) else {
            break;
        };
        search.guard(branch, form)?;
        search.follow_all()?;
    }
    search.check()
}

/// The constant that takes the place of what is in an object, wherever anything does.
fn put(stores: &[Instruction<'_>]) -> Option<Found> {
    let constant = |store: &Instruction<'_>| {
        let constant = store.operand(0).as_constant_int()?;
        i16::try_from(constant).ok()
    };
    let first = constant(stores.first()?)?;
    let is_one = stores.iter().all(|one| constant(one) == Some(first));
    is_one.then_some(Found {
        fold: Fold::Put(first),
        guards: false,
    })
}

/// What a value is of what is in the object, combined with others.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// The number.
    Number,
    /// Whether it is true.
    Truth,
    /// Whether it is not.
    Lie,
}

struct Search<'a, 'm> {
    uses: &'a Uses<'a, 'm>,
    /// Values that are what is in the object combined with others.
    carried: Vec<(Value<'m>, Form)>,
    /// Values that may not be such.
    apart: Vec<Value<'m>>,
    /// Comparisons of such a value.
    comparisons: Vec<(Instruction<'m>, Value<'m>)>,
    /// Branches by one.
    guards: Vec<(Instruction<'m>, Form)>,
    /// Choices of which it is known what they are.
    matched: HashSet<Instruction<'m>>,
    /// So many of the values that are carried have been followed.
    followed: usize,
    fold: Option<Fold>,
    is_truth: bool,
    /// Whether integers of other widths are computed with.
    is_narrow: bool,
    /// Whether all numbers that are compared fit in the object.
    fits: bool,
    /// What is in the object.
    ty: Type<'m>,
    /// Whether each number with more bits becomes one with those of the object again, and none has fewer in between.
    is_kept: bool,
}

impl<'m> Search<'_, 'm> {
    fn carry(&mut self, value: Value<'m>, form: Form) {
        if !self.carried.contains(&(value, form)) {
            self.carried.push((value, form));
        }
    }

    fn carries(&self, value: Value<'m>) -> bool {
        self.carried.iter().any(|one| one.0 == value)
    }

    fn is(&mut self, fold: Fold) -> Option<()> {
        let is_same = self.fold.is_none_or(|known| known == fold);
        self.fold = Some(fold);
        is_same.then_some(())
    }

    fn follow_all(&mut self) -> Option<()> {
        while let Some(&(value, form)) = self.carried.get(self.followed) {
            self.followed += 1;
            for user in value.instruction_users() {
                self.follow(user, value, form)?;
            }
        }
        Some(())
    }

    /// What uses a value that is carried.
    fn follow(&mut self, user: Instruction<'m>, value: Value<'m>, form: Form) -> Option<()> {
        if (self.uses.is_mark)(user) {
            return Some(());
        }
        let is_number = form == Form::Number;
        let operands = user.operands();
        let is_true = user.ty().bits() == Some(1);
        match user.opcode() {
            Opcode::LLVMStore => {
                let is_its = self.uses.stores.contains(&user) && operands[0] == value;
                (is_its && is_number).then_some(())
            }
            Opcode::LLVMPHI => {
                self.carry(*user, form);
                for (one, _) in user.incoming() {
                    match truth(one).filter(|_| form == Form::Truth) {
                        Some(true) => self.is(Fold::Any)?,
                        Some(false) => self.is(Fold::All)?,
                        None => {}
                    }
                }
                Some(())
            }
            Opcode::LLVMSelect if operands[0] == value => {
                let (yes, no) = match form {
                    Form::Number => return None,
                    Form::Truth => (operands[1], operands[2]),
                    Form::Lie => (operands[2], operands[1]),
                };
                let (fold, other) = match (truth(yes), truth(no)) {
                    (_, Some(false)) => (Fold::All, yes),
                    (Some(true), _) => (Fold::Any, no),
                    _ => return None,
                };
                self.apart.push(other);
                self.matched.insert(user);
                self.carry(*user, Form::Truth);
                self.is(fold).filter(|()| is_true)
            }
            Opcode::LLVMSelect => {
                self.carry(*user, form);
                self.apart.push(operands[0]);
                for &one in operands[1..].iter().filter(|_| form == Form::Truth) {
                    match truth(one) {
                        Some(true) => self.is(Fold::Any)?,
                        Some(false) => self.is(Fold::All)?,
                        None => {}
                    }
                }
                Some(())
            }
            Opcode::LLVMZExt if form == Form::Truth => {
                self.carry(*user, Form::Number);
                Some(())
            }
            Opcode::LLVMTrunc if is_true && is_number => {
                self.is_truth = true;
                self.carry(*user, Form::Truth);
                Some(())
            }
            Opcode::LLVMZExt | Opcode::LLVMSExt | Opcode::LLVMTrunc if is_number => {
                self.is_narrow = true;
                self.is_kept &= match user.opcode() {
                    Opcode::LLVMTrunc => user.ty() == self.ty,
                    _ => value.ty() == self.ty,
                };
                self.carry(*user, form);
                Some(())
            }
            Opcode::LLVMFPExt | Opcode::LLVMFPTrunc => {
                self.carry(*user, form);
                Some(())
            }
            Opcode::LLVMICmp if is_number && operands[1].as_constant_int() == Some(0) => {
                use crate::llvm::IntPredicate::{LLVMIntEQ, LLVMIntNE};
                let form = match user.comparison()? {
                    Comparison::Integer(LLVMIntNE) => Form::Truth,
                    Comparison::Integer(LLVMIntEQ) => Form::Lie,
                    _ => {
                        self.comparisons.push((user, value));
                        return Some(());
                    }
                };
                self.is_truth = true;
                self.carry(*user, form);
                Some(())
            }
            Opcode::LLVMICmp | Opcode::LLVMFCmp if is_number => {
                self.comparisons.push((user, value));
                Some(())
            }
            Opcode::LLVMBr if !is_number => {
                self.guards.push((user, form));
                Some(())
            }
            Opcode::LLVMXor if !is_number && truth(operands[1]) == Some(true) => {
                let other = match form {
                    Form::Truth => Form::Lie,
                    _ => Form::Truth,
                };
                self.carry(*user, other);
                Some(())
            }
            Opcode::LLVMAnd | Opcode::LLVMOr if form == Form::Truth => {
                self.others(&operands, value)?;
                self.carry(*user, Form::Truth);
                self.is(match user.opcode() {
                    Opcode::LLVMAnd => Fold::All,
                    _ => Fold::Any,
                })
            }
            Opcode::LLVMAnd | Opcode::LLVMOr
                if is_number && operands.iter().all(|one| is_bit(*one)) =>
            {
                self.others(&operands, value)?;
                self.carry(*user, form);
                self.is(match user.opcode() {
                    Opcode::LLVMAnd => Fold::All,
                    _ => Fold::Any,
                })
            }
            _ if is_number => {
                let place = self.others(&operands, value)?;
                let fold = match updates::added_to(user).contains(&place) {
                    true => Fold::Add,
                    false => combined(user)?,
                };
                self.fits &= !matches!(fold, Fold::Choice(_));
                self.carry(*user, form);
                self.is(fold)
            }
            _ => None,
        }
    }

    /// The place of a value among operands where it is one of them only; the others are apart from it.
    fn others(&mut self, operands: &[Value<'m>], value: Value<'m>) -> Option<usize> {
        let mut places = operands.iter().enumerate().filter(|one| *one.1 == value);
        let (Some((place, _)), None) = (places.next(), places.next()) else {
            return None;
        };
        let others = operands.iter().filter(|one| **one != value);
        self.apart.extend(others.copied());
        Some(place)
    }

    fn check(mut self) -> Option<Found> {
        for (comparison, value) in self.comparisons.clone() {
            self.choices(comparison, value)?;
        }
        let fold = self.fold?;
        let is_logical = matches!(fold, Fold::All | Fold::Any);
        let is_right = |&(value, form): &(Value<'m>, Form)| {
            let Some(one) = value
                .as_instruction()
                .filter(|one| !self.matched.contains(one))
            else {
                return true;
            };
            let is_its = |one: &Value<'m>| {
                let absorbs = form == Form::Truth && truth(*one) == Some(fold == Fold::Any);
                self.carried.contains(&(*one, form)) || absorbs && is_logical
            };
            match one.opcode() {
                Opcode::LLVMPHI => one.incoming().iter().all(|(one, _)| is_its(one)),
                Opcode::LLVMSelect => one.operands()[1..].iter().all(is_its),
                _ => true,
            }
        };
        let is_whole = match fold {
            Fold::Choice(_) => !self.is_narrow || self.fits,
            _ => !self.is_narrow || !is_logical,
        };
        let is_stored = |store: &Instruction<'m>| {
            self.carried.contains(&(store.operand(0), Form::Number)) || self.matched.contains(store)
        };
        let is_all = is_whole
            && self.is_kept
            && self.is_truth == is_logical
            && !self.apart.iter().any(|one| self.carries(*one))
            && self.carried.iter().all(is_right)
            && self.uses.stores.iter().all(is_stored);
        is_all.then_some(Found {
            fold,
            guards: !self.guards.is_empty(),
        })
    }

    /// What is chosen by a comparison of a value that is carried with another one.
    fn choices(&mut self, comparison: Instruction<'m>, old: Value<'m>) -> Option<()> {
        let (a, b) = (comparison.operand(0), comparison.operand(1));
        let is_first = a == old;
        let new = if is_first { b } else { a };
        if a == b || self.carries(new) {
            return None;
        }
        let as_narrow = self.as_narrow(old, new);
        self.fits &= as_narrow.is_some();
        for user in comparison.instruction_users() {
            let takes_if = match user.opcode() {
                Opcode::LLVMSelect => {
                    let taken = self.taken(user.operand(1), user.operand(2), old, new)?;
                    self.matched.insert(user);
                    self.carry(*user, Form::Number);
                    taken
                }
                Opcode::LLVMBr => self.by_branch(user, old, new)?,
                _ => return None,
            };
            let operation = choice(comparison.comparison()?, is_first, takes_if)?;
            let operation = match (operation, as_narrow) {
                (AtomicOp::Max, Some(false)) => AtomicOp::UMax,
                (AtomicOp::Min, Some(false)) => AtomicOp::UMin,
                _ => operation,
            };
            self.is(Fold::Choice(operation))?;
        }
        Some(())
    }

    /// Of what is in an object with fewer bits than it is compared with, and a new number that is one with so many bits as
    /// well: whether they have a sign.
    fn as_narrow(&self, old: Value<'m>, new: Value<'m>) -> Option<bool> {
        let (read, signed) = widened(old)?;
        let bits = read.ty().bits()?;
        self.uses
            .loads
            .contains(&read.as_op(Opcode::LLVMLoad)?)
            .then_some(())?;
        let fits = match (widened(new), new.as_constant_int()) {
            (Some((one, with_sign)), _) => {
                let its = one.ty().bits()?;
                its < bits && !with_sign || its <= bits && with_sign == signed
            }
            (None, Some(constant)) => {
                let room = 1_i64.checked_shl(bits - u32::from(signed))?;
                (if signed { -room } else { 0 }..room).contains(&constant)
            }
            _ => false,
        };
        fits.then_some(signed)
    }

    /// Of the old value and a new one, whether the new one comes first.
    fn taken(&self, yes: Value<'m>, no: Value<'m>, old: Value<'m>, new: Value<'m>) -> Option<bool> {
        if self.is_same(yes, new, 0) && self.is_state(no, old) {
            return Some(true);
        }
        (self.is_state(yes, old) && self.is_same(no, new, 0)).then_some(false)
    }

    /// Whether a value is what is in the object, as another one is that has been read before.
    fn is_state(&self, value: Value<'m>, old: Value<'m>) -> bool {
        let load = |value: Value<'m>| {
            let read = value
                .as_op(Opcode::LLVMFPExt)
                .map_or(value, |one| one.operand(0));
            let read = widened(read).map_or(read, |one| one.0);
            let read = read.as_op(Opcode::LLVMLoad)?;
            self.uses.loads.contains(&read).then_some(read)
        };
        let is_alike = match (widened(value), widened(old)) {
            (Some(one), Some(other)) => one.1 == other.1,
            _ => true,
        };
        if value == old || !is_alike {
            return value == old;
        }
        match (load(value), load(old)) {
            (Some(one), Some(first)) => value.ty() == old.ty() && self.is_quiet(first, one),
            _ => false,
        }
    }

    /// The branch around a store, or to the two values of which one is taken. Whether the new value is taken where its
    /// condition holds.
    fn by_branch(
        &mut self,
        branch: Instruction<'m>,
        old: Value<'m>,
        new: Value<'m>,
    ) -> Option<bool> {
        let from = branch.block();
        let [yes, no] = from.successors()[..] else {
            return None;
        };
        for (inside, behind, takes_if) in [(yes, no, true), (no, yes, false)] {
            let is_around = inside.predecessors() == [from] && inside.successors() == [behind];
            let mut stores = inside.instructions();
            stores.retain(|one| self.uses.stores.contains(one));
            if let ([store], true) = (&stores[..], is_around && behind != inside) {
                let stored = store.operand(0);
                let stored = stored
                    .as_op(Opcode::LLVMFPTrunc)
                    .map_or(stored, |one| one.operand(0));
                let read = self.load_of(old)?;
                let is_its = (self.is_same(stored, new, 0) || self.is_narrowed(stored, new))
                    && self.is_quiet(read, *store)
                    && self.is_pure(inside, Some(*store))
                    && behind.phis().next().is_none();
                self.matched.insert(*store);
                return is_its.then_some(takes_if);
            }
        }
        let is_way = |one: &Block<'m>| one.predecessors() == [from] && self.is_pure(*one, None);
        let (behind, ends) = match (yes.successors()[..] == [no], no.successors()[..] == [yes]) {
            (true, false) if is_way(&yes) => (no, [yes, from]),
            (false, true) if is_way(&no) => (yes, [from, no]),
            _ => {
                let [behind] = yes.successors()[..] else {
                    return None;
                };
                let is_one = no.successors() == [behind] && is_way(&yes) && is_way(&no);
                is_one.then_some((behind, [yes, no]))?
            }
        };
        let mut phis = behind.phis();
        let (Some(phi), None) = (phis.next(), phis.next()) else {
            return None;
        };
        let incoming = phi.incoming();
        let of = |end: Block<'m>| incoming.iter().find(|one| one.1 == end).map(|one| one.0);
        let taken = self.taken(of(ends[0])?, of(ends[1])?, old, new)?;
        if incoming.len() != 2 {
            return None;
        }
        self.matched.insert(phi);
        self.carry(*phi, Form::Number);
        Some(taken)
    }

    /// Whether what is stored is a number with fewer bits, and another one the same with more of them.
    fn is_narrowed(&self, stored: Value<'m>, new: Value<'m>) -> bool {
        let wide = stored
            .as_op(Opcode::LLVMTrunc)
            .map_or(stored, |one| one.operand(0));
        let (whole, part) = (widened(wide), widened(new));
        let is_alike = whole
            .zip(part)
            .is_some_and(|(one, other)| one.1 == other.1 && self.is_same(one.0, other.0, 0));
        is_alike
            || self.is_same(wide, new, 0)
            || part.is_some_and(|other| self.is_same(stored, other.0, 0))
    }

    fn load_of(&self, old: Value<'m>) -> Option<Instruction<'m>> {
        let read = old
            .as_op(Opcode::LLVMFPExt)
            .map_or(old, |one| one.operand(0));
        let read = widened(read).map_or(read, |one| one.0);
        let read = read.as_op(Opcode::LLVMLoad)?;
        self.uses.loads.contains(&read).then_some(read)
    }

    /// A branch by what is in the object: around what computes with what it is combined.
    fn guard(&mut self, branch: Instruction<'m>, form: Form) -> Option<()> {
        let from = branch.block();
        let [yes, no] = from.successors()[..] else {
            return None;
        };
        let [on_truth, on_lie] = match form {
            Form::Truth => [yes, no],
            _ => [no, yes],
        };
        let ends = |behind: Block<'m>, value: bool| {
            let mut phis = behind.phis();
            let (Some(phi), None) = (phis.next(), phis.next()) else {
                return None;
            };
            let incoming = phi.incoming();
            let (direct, _) = *incoming.iter().find(|one| one.1 == from)?;
            (truth(direct) == Some(value)).then_some((phi, direct))
        };
        let (fold, inside, behind, (phi, direct)) =
            match (ends(on_lie, false), ends(on_truth, true)) {
                (Some(end), None) => (Fold::All, on_truth, on_lie, end),
                (None, Some(end)) => (Fold::Any, on_lie, on_truth, end),
                _ => return None,
            };
        let mut blocks = vec![inside];
        let mut at = 0;
        while let Some(&block) = blocks.get(at) {
            if !self.is_pure(block, None) || block == from || blocks.len() > MOST_BLOCKS {
                return None;
            }
            let next = block.successors().into_iter();
            let next: Vec<_> = next
                .filter(|next| *next != behind && !blocks.contains(next))
                .collect();
            blocks.extend(next);
            at += 1;
        }
        let comes_from = |one: &Block<'m>| *one == from || blocks.contains(one);
        let is_closed = |one: &Block<'m>| one.predecessors().iter().all(comes_from);
        if !blocks.iter().all(is_closed) || !is_closed(&behind) {
            return None;
        }
        let incoming = phi.incoming().into_iter().map(|one| one.0);
        self.apart.extend(incoming.filter(|one| *one != direct));
        self.matched.insert(phi);
        self.carry(*phi, Form::Truth);
        self.is(fold)
    }

    /// Whether a block does nothing but compute and read, but for one store, and go on.
    fn is_pure(&self, block: Block<'m>, store: Option<Instruction<'m>>) -> bool {
        block
            .instructions()
            .into_iter()
            .all(|one| match one.opcode() {
                Opcode::LLVMLoad => one.is_plain_access(),
                Opcode::LLVMBr | Opcode::LLVMPHI => true,
                Opcode::LLVMCall => {
                    (self.uses.is_mark)(one) || !one.may_write() && !one.may_throw()
                }
                _ => one.only_computes() || Some(one) == store,
            })
    }

    /// Whether nothing is stored into the object from one instruction until another one behind it.
    fn is_quiet(&self, from: Instruction<'m>, to: Instruction<'m>) -> bool {
        let mut block = to.block();
        let mut before = block.instructions();
        let place = before.iter().position(|one| *one == to);
        before.truncate(place.unwrap_or(0));
        for _ in 0..MOST_BLOCKS {
            for one in before.iter().rev() {
                if *one == from {
                    return true;
                }
                if self.uses.stores.contains(one) {
                    return false;
                }
            }
            let [only] = block.predecessors()[..] else {
                return false;
            };
            block = only;
            before = block.instructions();
        }
        false
    }

    /// Whether two values are the same.
    fn is_same(&self, one: Value<'m>, other: Value<'m>, depth: usize) -> bool {
        if one == other {
            return true;
        }
        let (Some(a), Some(b)) = (one.as_instruction(), other.as_instruction()) else {
            return false;
        };
        let is_load = a.opcode() == Opcode::LLVMLoad
            && [a, b].iter().all(|one| {
                let is_its = self.uses.loads.contains(one);
                one.is_plain_access() && !is_its && (self.uses.is_settled)(*one)
            });
        let is_call = || {
            let name = a.as_call().map(|call| call.callee_name());
            let is_known = name.is_some_and(|name| super::library::is_mathematics(&name));
            is_known || a.opcode() == Opcode::LLVMCall && a.only_computes()
        };
        let computes = a.opcode() != Opcode::LLVMCall && a.only_computes();
        let (from, to) = (a.operands(), b.operands());
        depth < MOST_STEPS
            && a.opcode() == b.opcode()
            && a.opcode() != Opcode::LLVMPHI
            && one.ty() == other.ty()
            && from.len() == to.len()
            && a.comparison() == b.comparison()
            && a.source_element_type() == b.source_element_type()
            && (is_load || computes || is_call())
            && from
                .into_iter()
                .zip(to)
                .all(|(a, b)| self.is_same(a, b, depth + 1))
    }
}

/// A number with fewer bits that an integer is, and whether it has a sign.
fn widened(value: Value<'_>) -> Option<(Value<'_>, bool)> {
    let one = value.as_instruction()?;
    match one.opcode() {
        Opcode::LLVMSExt => Some((one.operand(0), true)),
        Opcode::LLVMZExt => Some((one.operand(0), false)),
        _ => None,
    }
}

/// A truth value that is a constant.
fn truth(value: Value<'_>) -> Option<bool> {
    let is_one = value.ty().bits() == Some(1);
    let number = value.as_constant_int().filter(|_| is_one)?;
    Some(number != 0)
}

/// Whether a number is a truth value.
fn is_bit(value: Value<'_>) -> bool {
    let widened = value.as_op(Opcode::LLVMZExt);
    widened.is_some_and(|one| one.operand(0).ty().bits() == Some(1))
}

/// What an instruction makes of two values that may change places.
fn combined(at: Instruction<'_>) -> Option<Fold> {
    if let Some(call) = at.as_call() {
        match call.callee_name().as_str() {
            "fmax" | "fmaxf" => return Some(Fold::Choice(AtomicOp::FMax)),
            "fmin" | "fminf" => return Some(Fold::Choice(AtomicOp::FMin)),
            _ => {}
        }
    }
    Some(match updates::combined(at)? {
        Operation::Add => Fold::Add,
        Operation::Multiply => Fold::Multiply,
        Operation::And => Fold::And,
        Operation::Or => Fold::Or,
        Operation::Xor => Fold::Xor,
        Operation::Min | Operation::Max => Fold::Choice(updates::arithmetic(at)?.0),
        Operation::Declared => return None,
    })
}

/// The operation that takes a new value where a comparison of it with the old one says so, whichever of equal ones is taken.
fn choice(comparison: Comparison, is_old_first: bool, takes_if: bool) -> Option<AtomicOp> {
    use RealPredicate::*;
    let (strict, takes_if) = match comparison {
        Comparison::Integer(_) => return updates::choice(comparison, is_old_first, takes_if),
        Comparison::Floating(predicate) => match predicate {
            LLVMRealOGT | LLVMRealOGE => (LLVMRealOGT, takes_if),
            LLVMRealOLT | LLVMRealOLE => (LLVMRealOLT, takes_if),
            LLVMRealUGT | LLVMRealUGE => (LLVMRealOLT, !takes_if),
            LLVMRealULT | LLVMRealULE => (LLVMRealOGT, !takes_if),
            _ => return None,
        },
    };
    updates::choice(Comparison::Floating(strict), is_old_first, takes_if)
}
