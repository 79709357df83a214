//! How the body of a loop over a set gets at the elements of its arguments, one element of the set at a time: it is
//! given their addresses, or copies that are gathered before it and scattered behind it.

use super::{Fields, POINTER, Source, add_at_once, put_back};
use crate::ir::{Element, Mode, Parameter};
use crate::llvm::{Builder, Type, Value};

/// How the body gets at an argument.
pub enum Passed<'a, 'm> {
    /// By the address of the element.
    Address(Address<'a, 'm>),
    /// By that of a copy.
    Copy(Copy<'a, 'm>),
}

/// How what a work item of a device adds to elements comes there, to which others add, too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Adds {
    /// At once with what others add.
    AtOnce,
    /// Nobody else adds to the same elements meanwhile.
    Apart,
    /// The block does that, with what its work items have [`left`](Passed::left).
    Staged,
}

/// What the body is called with for one element of the set.
pub struct Gathered<'m> {
    /// The parameter.
    pub parameter: Value<'m>,
    /// The elements that a copy was made of.
    elements: Vec<Value<'m>>,
}

impl<'m> Gathered<'m> {
    /// The same with another parameter.
    pub fn instead(self, parameter: Value<'m>) -> Self {
        Self { parameter, ..self }
    }
}

impl<'a, 'm> Passed<'a, 'm> {
    /// An argument of which `fields` are passed: by copies, if data may lie component by component and these may.
    pub fn of(
        builder: &Builder<'m>,
        parameter: Parameter<'a>,
        fields: &Fields<'_, 'm>,
        by_component: bool,
    ) -> Self {
        let mut address = Address::of(builder, parameter, fields);
        match by_component && parameter.is_either() {
            true => {
                address.source.size = fields.number("size");
                address.source.stride = Some(fields.number("stride"));
                Self::Copy(Copy::of(builder, address))
            }
            false => Self::Address(address),
        }
    }

    /// An argument whose elements are at `source`, for a work item, beside which others run: by a copy where data may lie
    /// component by component, or where others add to an element, too, which comes there as `adds` says. `columns_at` has room
    /// for the addresses of several elements.
    pub fn of_item(
        builder: &Builder<'m>,
        parameter: Parameter<'a>,
        source: Source<'m>,
        columns_at: Value<'m>,
        adds: Adds,
    ) -> Self {
        let address = Address {
            of: parameter,
            source,
            columns_at,
            is_optional: false,
        };
        let is_sum = parameter.is_sum() && !parameter.is_whole();
        match parameter.is_either() || is_sum {
            true => Self::Copy(Copy {
                adds,
                ..Copy::of(builder, address)
            }),
            false => Self::Address(address),
        }
    }

    /// What the body gets for element `number`.
    pub fn gather(&self, builder: &Builder<'m>, number: Value<'m>) -> Gathered<'m> {
        let (parameter, elements) = match self {
            Self::Address(address) => (address.parameter(builder, number), Vec::new()),
            Self::Copy(copy) => copy.gather(builder, number),
        };
        Gathered {
            parameter,
            elements,
        }
    }

    /// Whether anything is put back.
    pub fn is_scattered(&self) -> bool {
        match self {
            Self::Address(_) => false,
            Self::Copy(copy) => copy.is_put_back(),
        }
    }

    /// Where what the body has added to a component of the element that a column leads to is, of an argument that others add
    /// to, too.
    pub fn left(&self, builder: &Builder<'m>, column: i64, component: i64) -> Value<'m> {
        let Self::Copy(copy) = self else {
            unreachable!("it has a copy of what it adds");
        };
        let Element { scalar, components } = copy.address.of.element();
        builder.offset(copy.room, (column * components + component) * scalar.bytes)
    }

    /// A component of the element of a number, which is one of its data.
    pub fn component(&self, builder: &Builder<'m>, number: Value<'m>, component: i64) -> Value<'m> {
        let Self::Copy(copy) = self else {
            unreachable!("it has a copy of what it adds");
        };
        let source = &copy.address.source;
        let element = source.element(builder, number);
        source.component(builder, copy.scalar, element, component as usize)
    }

    /// Puts back what the body has changed for element `number`, where what was found of it is known no more.
    pub fn scatter_anew(&self, builder: &Builder<'m>, number: Value<'m>) {
        if let Self::Copy(copy) = self {
            copy.scatter(builder, &copy.elements(builder, number));
        }
    }

    /// Puts back what the body has changed.
    pub fn scatter(&self, builder: &Builder<'m>, gathered: &Gathered<'m>) {
        match self {
            Self::Address(_) => {}
            Self::Copy(copy) => copy.scatter(builder, &gathered.elements),
        }
    }
}

/// What a parameter of the body points to.
pub struct Address<'a, 'm> {
    of: Parameter<'a>,
    source: Source<'m>,
    /// Room for the addresses of the elements.
    columns_at: Value<'m>,
    is_optional: bool,
}

impl<'a, 'm> Address<'a, 'm> {
    fn of(builder: &Builder<'m>, of: Parameter<'a>, fields: &Fields<'_, 'm>) -> Self {
        let (data, is_optional) = (fields.address("data"), of.access.optional);
        let size = match of.bytes().filter(|_| !is_optional) {
            Some(bytes) => builder.module().const_i64(bytes),
            None => fields.number("size"),
        };
        let map = fields.address("map");
        let columns_at = fields.address("columns_at");
        let source = Source {
            data,
            size,
            stride: None,
            map,
            arity: fields.number("arity"),
            column: None,
        };
        Self {
            of,
            source,
            columns_at,
            // So may be what is not known.
            is_optional: is_optional || of.access.element.is_none(),
        }
    }

    /// The element itself, or the one that a column of the map leads to, counted from the first one in use.
    fn element(&self, builder: &Builder<'m>, number: Value<'m>, column: i64) -> Value<'m> {
        let mut number = builder.sign_extend(number, builder.module().int(64));
        if self.of.columns().is_some() {
            let row = self.source.row(builder, number);
            number = self.source.target(builder, row, column);
        }
        self.source.element(builder, number)
    }

    /// The parameter for element `number`.
    fn parameter(&self, builder: &Builder<'m>, number: Value<'m>) -> Value<'m> {
        if self.of.is_own_number() {
            builder.store(number, self.source.data);
        }
        if self.of.is_own_number() || self.of.is_whole() {
            return self.source.data;
        }
        if !self.of.is_table() {
            return self.element(builder, number, 0);
        }
        for column in 0..self.of.elements() {
            let slot = builder.offset(self.columns_at, column * POINTER);
            builder.store(self.element(builder, number, column), slot);
        }
        or_else(builder, self.is_there(builder), self.columns_at, None)
    }

    /// Whether there are any elements, where that is not certain.
    fn is_there(&self, builder: &Builder<'m>) -> Option<Value<'m>> {
        let none = builder.module().pointer().zero();
        (self.is_optional).then(|| builder.compare(self.source.data, none, true))
    }
}

/// An address where there are elements, and another one where there are none: null, as the body expects it.
fn or_else<'m>(
    builder: &Builder<'m>,
    is_there: Option<Value<'m>>,
    address: Value<'m>,
    other: Option<Value<'m>>,
) -> Value<'m> {
    let other = other.unwrap_or_else(|| builder.module().pointer().zero());
    match is_there {
        Some(is_there) => builder.select(is_there, address, other),
        None => address,
    }
}

/// Copies of the elements of an argument.
pub struct Copy<'a, 'm> {
    address: Address<'a, 'm>,
    scalar: Type<'m>,
    /// Room for the copies.
    room: Value<'m>,
    /// Room for a component that nobody looks at.
    nowhere: Value<'m>,
    adds: Adds,
}

impl<'a, 'm> Copy<'a, 'm> {
    fn of(builder: &Builder<'m>, address: Address<'a, 'm>) -> Self {
        let module = builder.module();
        let element = address.of.element();
        let scalar = element.scalar.ty(module);
        let count = element.components * address.of.elements();
        Self {
            address,
            adds: Adds::Apart,
            scalar,
            room: builder.alloca(module.array(scalar, count as u64), 16),
            nowhere: builder.alloca(scalar, 16),
        }
    }

    /// Each component's place in the copies and in the elements.
    fn components(
        &self,
        builder: &Builder<'m>,
        elements: &[Value<'m>],
    ) -> Vec<(Value<'m>, Value<'m>)> {
        let Element { scalar, components } = self.address.of.element();
        let all = elements.iter().enumerate().flat_map(|(column, element)| {
            (0..components).map(move |component| {
                let at = (column as i64 * components + component) * scalar.bytes;
                let source = &self.address.source;
                let there = source.component(builder, self.scalar, *element, component as usize);
                (builder.offset(self.room, at), there)
            })
        });
        all.collect()
    }

    /// The elements of element `number` of the set.
    fn elements(&self, builder: &Builder<'m>, number: Value<'m>) -> Vec<Value<'m>> {
        let is_there = self.address.is_there(builder);
        let elements = (0..self.address.of.elements()).map(|column| {
            let element = self.address.element(builder, number, column);
            or_else(builder, is_there, element, Some(self.nowhere))
        });
        elements.collect()
    }

    /// Fills the copies: the address that is passed, and those of the elements.
    fn gather(&self, builder: &Builder<'m>, number: Value<'m>) -> (Value<'m>, Vec<Value<'m>>) {
        let Address { of, columns_at, .. } = self.address;
        let is_there = self.address.is_there(builder);
        let elements = self.elements(builder, number);
        for (copy, there) in self.components(builder, &elements) {
            let value = match of.is_sum() {
                true => self.scalar.neutral(),
                false => builder.load(self.scalar, there),
            };
            builder.store(value, copy);
        }
        if !of.is_table() {
            return (or_else(builder, is_there, self.room, None), elements);
        }
        let Element { scalar, components } = of.element();
        for column in 0..of.elements() {
            let copy = builder.offset(self.room, column * components * scalar.bytes);
            builder.store(copy, builder.offset(columns_at, column * POINTER));
        }
        (or_else(builder, is_there, columns_at, None), elements)
    }

    /// Puts back what the body has changed.
    fn scatter(&self, builder: &Builder<'m>, elements: &[Value<'m>]) {
        if !self.is_put_back() {
            return;
        }
        for (copy, there) in self.components(builder, elements) {
            let new = builder.load(self.scalar, copy);
            match self.adds == Adds::AtOnce && self.address.of.is_sum() {
                true => add_at_once(builder, &self.address.of, there, new),
                false => put_back(builder, &self.address.of, there, new),
            }
        }
    }

    /// Whether a work item puts back what it has.
    fn is_put_back(&self) -> bool {
        match self.address.of.access.mode {
            Mode::Read => false,
            _ => self.adds != Adds::Staged || !self.address.of.is_sum(),
        }
    }
}
