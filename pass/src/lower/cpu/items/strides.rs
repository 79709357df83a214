//! How far apart the accesses of work items are that follow on each other, and whether LLVM may move them.
//!
//! Of a loop whose turns are said not to depend on each other LLVM looks at no dependences at all, not even at those within
//! a turn; yet it brings several accesses of one turn together where neighbouring turns access an object at a distance,
//! such as the fields of structs. So nothing is said where one of them may be moved across another access that it depends
//! on.

use std::collections::HashSet;

use crate::analysis::variables::{Does, uses};
use crate::llvm::{Block, Instruction, Module, Opcode, Type, Value};

/// A loop over work items.
pub(super) struct Strides<'a, 'm> {
    pub(super) module: &'m Module,
    /// All of the loop.
    pub(super) blocks: HashSet<Block<'m>>,
    /// In which it steps.
    pub(super) steps: Block<'m>,
    /// Variables of all work items, and arrays with an element for each.
    pub(super) common: &'a HashSet<Value<'m>>,
}

/// Computations that are followed.
const DEEPEST: usize = 24;

impl<'m> Strides<'_, 'm> {
    /// Whether what an iteration does stays in order whatever LLVM brings together.
    pub(super) fn stay_in_order(&self, accesses: &[Instruction<'m>]) -> bool {
        let of = |one: &Instruction<'m>| {
            let address = one.address().expect("an access");
            (self.object(address), one.opcode() == Opcode::LLVMStore)
        };
        let all: Vec<_> = accesses.iter().map(of).collect();
        let far = accesses
            .iter()
            .zip(&all)
            .filter(|(one, _)| self.is_far(**one));
        let far: Vec<_> = far
            .map(|(_, (object, is_store))| (*object, *is_store))
            .collect();
        far.iter().all(|&(object, _)| {
            let same = far.iter().filter(|(other, _)| {
                let is_one = |value| self.is_object(value);
                *other == object || !is_one(object) || !is_one(*other)
            });
            let writes = same.clone().any(|(_, is_store)| *is_store);
            let touches = |(other, is_store): &(Value<'m>, bool)| {
                (writes || *is_store) && self.may_be_same(object, *other)
            };
            same.count() < 2 || !all.iter().any(touches)
        })
    }

    /// Whether neighbouring work items access what is neither the same nor side by side.
    fn is_far(&self, one: Instruction<'m>) -> bool {
        let address = one.address().expect("an access");
        let ty = match one.opcode() {
            Opcode::LLVMStore => one.operand(0).ty(),
            _ => (*one).ty(),
        };
        let size = self.module.size_of(ty) as i64;
        let stride = self.of_address(address, 0);
        stride.is_none_or(|stride| stride != 0 && stride.checked_abs() != Some(size))
    }

    /// What an address is computed of: a parameter, if that is where a variable has it from.
    fn object(&self, address: Value<'m>) -> Value<'m> {
        let mut at = address;
        for _ in 0..DEEPEST {
            let (base, _) = at.base_and_offset(self.module);
            let load = base.as_op(Opcode::LLVMLoad);
            match load.and_then(|load| self.only_value(load.operand(0))) {
                Some(value) => at = value,
                None => return base,
            }
        }
        at
    }

    /// The value of a variable that is written once.
    fn only_value(&self, variable: Value<'m>) -> Option<Value<'m>> {
        let uses = uses(variable.as_op(Opcode::LLVMAlloca)?);
        let mut writes = uses.iter().filter(|(_, does)| *does != Does::Read);
        match (writes.next(), writes.next()) {
            (Some((one, Does::Write)), None) if one.opcode() == Opcode::LLVMStore => {
                Some(one.operand(0)).filter(|_| one.operand(1) == variable)
            }
            _ => None,
        }
    }

    /// Whether it is known which object that is: what a pointer leads to that is one of several may be any.
    fn is_object(&self, value: Value<'m>) -> bool {
        let is_given = value.as_parameter().is_some() || value.as_global().is_some();
        is_given || self.common.contains(&value)
    }

    fn may_be_same(&self, one: Value<'m>, other: Value<'m>) -> bool {
        if !self.is_object(one) || !self.is_object(other) {
            return true;
        }
        let is_own = |value: Value<'m>| self.common.contains(&value);
        let is_restricted = |value: Value<'m>| {
            let parameter = value.as_parameter();
            parameter.is_some_and(|(function, at)| function.has_parameter_attribute(at, "noalias"))
        };
        let is_global = |value: Value<'m>| value.as_global().is_some();
        let are_others = is_own(one)
            || is_own(other)
            || is_restricted(one)
            || is_restricted(other)
            || is_global(one) && is_global(other);
        one == other || !are_others
    }

    /// Bytes from the address of a work item to that of the next one.
    fn of_address(&self, address: Value<'m>, depth: usize) -> Option<i64> {
        if depth > DEEPEST {
            return None;
        }
        if address.is_constant() || address.as_parameter().is_some() {
            return Some(0);
        }
        let one = address.as_instruction()?;
        match one.opcode() {
            Opcode::LLVMAlloca => Some(0),
            Opcode::LLVMLoad => self.of_variable(one, depth, Self::of_address),
            Opcode::LLVMGetElementPtr => {
                let mut ty: Option<Type<'m>> = one.source_element_type();
                let mut sum = self.of_address(one.operand(0), depth + 1)?;
                for (at, index) in one.operands().into_iter().skip(1).enumerate() {
                    if at > 0 {
                        ty = ty.and_then(Type::array_element);
                    }
                    let by = self.of_number(index, depth + 1)?;
                    if by != 0 {
                        sum += by.checked_mul(self.module.size_of(ty?) as i64)?;
                    }
                }
                Some(sum)
            }
            _ => None,
        }
    }

    /// By how much a number grows from one work item to the next.
    fn of_number(&self, number: Value<'m>, depth: usize) -> Option<i64> {
        if depth > DEEPEST {
            return None;
        }
        if number.is_constant() || number.as_parameter().is_some() {
            return Some(0);
        }
        let one = number.as_instruction()?;
        let of = |at: usize| self.of_number(one.operand(at), depth + 1);
        let constant = |at: usize| one.operand(at).as_constant_int();
        match one.opcode() {
            Opcode::LLVMLoad => self.of_variable(one, depth, Self::of_number),
            Opcode::LLVMSExt | Opcode::LLVMZExt | Opcode::LLVMTrunc => of(0),
            Opcode::LLVMAdd => of(0)?.checked_add(of(1)?),
            Opcode::LLVMSub => of(0)?.checked_sub(of(1)?),
            Opcode::LLVMMul => match (of(0)?, of(1)?) {
                (0, 0) => Some(0),
                (by, 0) => by.checked_mul(constant(1)?),
                (0, by) => by.checked_mul(constant(0)?),
                _ => None,
            },
            _ => {
                let mut all = (0..one.operands().len()).map(of);
                (one.only_computes() && all.all(|by| by == Some(0))).then_some(0)
            }
        }
    }

    /// The same of what a variable holds.
    fn of_variable(
        &self,
        load: Instruction<'m>,
        depth: usize,
        of: fn(&Self, Value<'m>, usize) -> Option<i64>,
    ) -> Option<i64> {
        let variable = load.operand(0);
        if self.common.contains(&variable) {
            return None;
        }
        let uses = uses(variable.as_op(Opcode::LLVMAlloca)?);
        let writes = uses.iter().filter(|(_, does)| *does != Does::Read);
        let mut inside = writes.filter(|(one, _)| self.blocks.contains(&one.block()));
        let Some((write, does)) = inside.next() else {
            return Some(0);
        };
        if inside.next().is_some()
            || *does != Does::Write
            || write.opcode() != Opcode::LLVMStore
            || write.operand(1) != variable
        {
            return None;
        }
        if write.block() != self.steps {
            return of(self, write.operand(0), depth + 1);
        }
        // What counts is as much as is added to it.
        let sum = write.operand(0).as_instruction();
        let is_sum =
            |sum: &Instruction<'m>| [Opcode::LLVMAdd, Opcode::LLVMSub].contains(&sum.opcode());
        let sum = sum.filter(is_sum)?;
        let is_it = |value: Value<'m>| {
            value
                .as_op(Opcode::LLVMLoad)
                .is_some_and(|load| load.operand(0) == variable)
        };
        match (sum.opcode(), [sum.operand(0), sum.operand(1)]) {
            (Opcode::LLVMAdd, [one, by] | [by, one]) if is_it(one) => by.as_constant_int(),
            (Opcode::LLVMSub, [one, by]) if is_it(one) => by.as_constant_int()?.checked_neg(),
            _ => None,
        }
    }
}
