//! How the elements of the arguments of a loop over a set are got at, whoever runs it: one element at a time ([`one`]), by a
//! work item of a device each, or several ([`lanes`](super::cpu::lanes)).
//!
//! Guarantee: where an element, a component of it and the one that a map leads to are, and what becomes of an element
//! when what has been computed for it comes back, is computed here alone. The body sees data as if they lay element by
//! element. What it increments and other elements of the set may increment, too, begins at what changes nothing, and is
//! added to the element in the end.

pub mod one;

use okl_abi::op2::Parameter as Passed;

use crate::ir::Kind::{Data, Number};
use crate::ir::{Form, Mode, ParallelLoop, Parameter, Storage};
use crate::llvm::{Builder, Comparison, IntPredicate, Opcode, RealPredicate, Type, Update, Value};

/// Bytes of a field of what the run time passes, of a pointer, and of an entry of a map.
const FIELD: i64 = 8;
const POINTER: i64 = 8;
const ENTRY: i64 = 4;

/// More components of all arguments are not worth their code.
const MOST_COMPONENTS: i64 = 256;

/// Whether data may lie component by component: an error says why they must not.
pub fn may_lie_by_component(one: &ParallelLoop<'_>) -> Result<(), String> {
    for (at, parameter) in one.parameters().iter().enumerate() {
        match (parameter.kind, parameter.access.element) {
            (Number | Data(Storage::ByElement), _) => (),
            (Data(Storage::Either { .. }), Some(_)) => (),
            (_, None) => return Err(format!("type or dimension of arg{at} is no literal")),
            (Data(Storage::Unknown), _) => {
                return Err(format!(
                    "what the kernel does to arg{at} cannot be done to a copy"
                ));
            }
        }
    }
    match components_of(one) {
        count if count > MOST_COMPONENTS => Err(format!("its arguments have {count} components")),
        _ => Ok(()),
    }
}

/// The components of all data that may lie so, of one element of the set.
pub fn components_of(one: &ParallelLoop<'_>) -> i64 {
    let all = one.parameters();
    let either = all.iter().filter(|one| one.is_either());
    let counts = either.map(|one| one.element().components * one.elements());
    counts.sum()
}

/// What the run time passes of an argument: an [`okl_abi::op2::Parameter`].
pub struct Fields<'a, 'm> {
    builder: &'a Builder<'m>,
    at: Value<'m>,
}

impl<'a, 'm> Fields<'a, 'm> {
    /// Of an argument, if those of all arguments are at `all`.
    pub fn of(builder: &'a Builder<'m>, all: Value<'m>, argument: usize) -> Self {
        let size = Passed::FIELDS.len() as i64 * FIELD;
        Self {
            at: builder.offset(all, argument as i64 * size),
            builder,
        }
    }

    fn load(&self, name: &str, ty: Type<'m>) -> Value<'m> {
        let position = Passed::NAMES.iter().position(|one| *one == name);
        let position = position.expect("there is a field of that name");
        let address = self.builder.offset(self.at, position as i64 * FIELD);
        self.builder.load(ty, address)
    }

    /// An address.
    pub fn address(&self, name: &str) -> Value<'m> {
        self.load(name, self.builder.module().pointer())
    }

    /// A number of 64 bits.
    pub fn number(&self, name: &str) -> Value<'m> {
        self.load(name, self.builder.module().int(64))
    }
}

/// Where the elements of an argument are, by values that are the same for all of them.
#[derive(Clone, Copy)]
pub struct Source<'m> {
    /// Where the data begin.
    pub data: Value<'m>,
    /// Bytes from one element to the next.
    pub size: Value<'m>,
    /// Bytes from one component to the next; none where they lie side by side.
    pub stride: Option<Value<'m>>,
    /// The first column in use of the map.
    pub map: Value<'m>,
    /// Entries of it from one element of the set to the next.
    pub arity: Value<'m>,
    /// Entries of it from one column to the next; none where these lie side by side.
    pub column: Option<Value<'m>>,
}

impl<'m> Source<'m> {
    /// The element with a number.
    pub fn element(&self, builder: &Builder<'m>, number: Value<'m>) -> Value<'m> {
        let byte = builder.module().int(8);
        builder.element(byte, self.data, builder.multiply(number, self.size))
    }

    /// The element that stands so many behind another one.
    pub fn element_behind(
        &self,
        builder: &Builder<'m>,
        element: Value<'m>,
        many: usize,
    ) -> Value<'m> {
        let module = builder.module();
        let distance = builder.multiply(module.const_i64(many as i64), self.size);
        builder.element(module.int(8), element, distance)
    }

    /// What an element of the set has in the map, from the first column in use on.
    pub fn row(&self, builder: &Builder<'m>, number: Value<'m>) -> Value<'m> {
        let int = builder.module().int(32);
        builder.element(int, self.map, builder.multiply(number, self.arity))
    }

    /// What the element has that stands so many behind the one of a row.
    pub fn row_behind(&self, builder: &Builder<'m>, row: Value<'m>, many: usize) -> Value<'m> {
        let module = builder.module();
        let distance = builder.multiply(module.const_i64(many as i64), self.arity);
        builder.element(module.int(32), row, distance)
    }

    /// The number of the element that a column leads to, counted from the first one in use.
    pub fn target(&self, builder: &Builder<'m>, row: Value<'m>, column: i64) -> Value<'m> {
        let module = builder.module();
        let entry = match self.column {
            None => builder.offset(row, column * ENTRY),
            Some(distance) => {
                let distance = builder.multiply(distance, module.const_i64(column));
                builder.element(module.int(32), row, distance)
            }
        };
        builder.sign_extend(builder.load(module.int(32), entry), module.int(64))
    }

    /// A component of an element.
    pub fn component(
        &self,
        builder: &Builder<'m>,
        ty: Type<'m>,
        element: Value<'m>,
        component: usize,
    ) -> Value<'m> {
        let Some(stride) = self.stride else {
            return builder.element_of(ty, element, component);
        };
        let module = builder.module();
        let distance = builder.multiply(stride, module.const_i64(component as i64));
        builder.element(module.int(8), element, distance)
    }
}

/// What has been added to a component comes to where it is, while others add to it, too, in no order.
pub fn add_at_once<'m>(
    builder: &Builder<'m>,
    parameter: &Parameter<'_>,
    address: Value<'m>,
    added: Value<'m>,
) {
    let scalar = parameter.element().scalar;
    let add = match scalar.form {
        Form::Floating => Update::LLVMAtomicRMWBinOpFAdd,
        Form::Signed | Form::Unsigned | Form::Unknown => Update::LLVMAtomicRMWBinOpAdd,
    };
    builder.update(add, address, added, scalar.bytes as u32);
}

/// What has been computed for components comes back to where they are; values and places are of one type, of one
/// component or of several that lie side by side.
pub fn put_back<'m>(
    builder: &Builder<'m>,
    parameter: &Parameter<'_>,
    address: Value<'m>,
    mut new: Value<'m>,
) {
    let bytes = parameter.element().scalar.bytes;
    if parameter.is_sum() {
        let old = builder.load_aligned(new.ty(), address, bytes);
        new = combined(builder, parameter, old, new);
    }
    builder.store_aligned(new, address, bytes);
}

/// What becomes of two values of a component of which each has been computed without the other one.
pub fn combined<'m>(
    builder: &Builder<'m>,
    parameter: &Parameter<'_>,
    old: Value<'m>,
    new: Value<'m>,
) -> Value<'m> {
    match (parameter.access.mode, parameter.element().scalar.form) {
        (Mode::Read | Mode::Write | Mode::ReadWrite, _) => new,
        (Mode::Increment, Form::Floating) => builder.binary(Opcode::LLVMFAdd, old, new),
        (Mode::Increment, _) => builder.binary(Opcode::LLVMAdd, old, new),
        (Mode::Min | Mode::Max, _) => {
            builder.select(is_better(builder, parameter, old, new), new, old)
        }
    }
}

/// Whether a value is less, or greater, than another one, whichever is sought.
pub fn is_better<'m>(
    builder: &Builder<'m>,
    parameter: &Parameter<'_>,
    old: Value<'m>,
    new: Value<'m>,
) -> Value<'m> {
    use IntPredicate::*;
    use RealPredicate::*;
    let is_less = parameter.access.mode == Mode::Min;
    let better = match (parameter.element().scalar.form, is_less) {
        (Form::Floating, true) => Comparison::Floating(LLVMRealOLT),
        (Form::Floating, false) => Comparison::Floating(LLVMRealOGT),
        (Form::Unsigned, true) => Comparison::Integer(LLVMIntULT),
        (Form::Unsigned, false) => Comparison::Integer(LLVMIntUGT),
        (Form::Signed | Form::Unknown, true) => Comparison::Integer(LLVMIntSLT),
        (Form::Signed | Form::Unknown, false) => Comparison::Integer(LLVMIntSGT),
    };
    builder.ask(better, new, old)
}
