//! How the body of a loop over a set gets at the elements of its arguments, one element of the set at a time: it is
//! given their addresses, or copies that are gathered before it and scattered behind it.
//!
//! Guarantee: the body sees data as if they lay element by element. Copies of what it increments begin at zero and are
//! added to the element.

use okl_abi::op2::Parameter;

use crate::ir::{Argument, Columns, Mode, ParallelLoop, Place, Storage};
use crate::llvm::{Builder, Module, Type, Value};

/// Bytes of a field of [`Parameter`], and of a pointer.
const FIELD: i64 = 8;
const POINTER: i64 = 8;

/// Where an argument's [`Parameter`] is, in bytes.
pub fn parameter_at(index: usize) -> i64 {
    index as i64 * Parameter::FIELDS.len() as i64 * FIELD
}

/// Where a field of a [`Parameter`] is, in bytes.
pub fn field(name: &str) -> i64 {
    let position = Parameter::NAMES.iter().position(|one| *one == name);
    position.expect("a parameter has the field") as i64 * FIELD
}

/// More components of all arguments are not worth their code.
const MOST_COMPONENTS: i64 = 256;

/// Whether data may lie component by component: an error says why they must not.
pub fn may_lie_by_component(one: &ParallelLoop<'_>) -> Result<(), String> {
    for (at, argument) in one.args.iter().enumerate() {
        match (argument.storage, argument.element) {
            (Storage::ByElement, _) | (Storage::Either { .. }, Some(_)) => (),
            (_, None) => return Err(format!("type or dimension of arg{at} is no literal")),
            (Storage::Unknown, _) => {
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
    let counts = one.args.iter().map(|argument| match argument.storage {
        Storage::Either { .. } => {
            let components = argument.element.map_or(0, |element| element.components);
            components * columns(&argument.place)
        }
        Storage::ByElement | Storage::Unknown => 0,
    });
    counts.sum()
}

fn columns(place: &Place) -> i64 {
    match place {
        Place::Indirect {
            columns: Columns::First(count),
        } => i64::from(*count),
        _ => 1,
    }
}

/// How the body gets at an argument.
pub enum Passed<'m> {
    /// By the address of the element.
    Address(Source<'m>),
    /// By that of a copy.
    Copy(Copy<'m>),
}

/// What the body is called with for one element of the set.
pub struct Gathered<'m> {
    /// The parameter.
    pub parameter: Value<'m>,
    /// The elements that a copy was made of.
    elements: Vec<Value<'m>>,
}

impl<'m> Passed<'m> {
    /// An argument whose [`Parameter`] is at `at`: by copies, if data may lie component by component and these may.
    pub fn of(
        module: &'m Module,
        builder: &Builder<'m>,
        argument: &Argument<'m>,
        at: Value<'m>,
        by_component: bool,
    ) -> Self {
        let source = Source::of(module, builder, argument, at);
        match argument.storage {
            Storage::Either { .. } if by_component => {
                Self::Copy(Copy::of(module, builder, argument, source, at))
            }
            _ => Self::Address(source),
        }
    }

    /// What the body gets for element `number`.
    pub fn gather(
        &self,
        module: &'m Module,
        builder: &Builder<'m>,
        number: Value<'m>,
    ) -> Gathered<'m> {
        let (parameter, elements) = match self {
            Self::Address(source) => (source.address(module, builder, number), Vec::new()),
            Self::Copy(copy) => copy.gather(module, builder, number),
        };
        Gathered {
            parameter,
            elements,
        }
    }

    /// Puts back what the body has changed.
    pub fn scatter(&self, module: &'m Module, builder: &Builder<'m>, gathered: &Gathered<'m>) {
        match self {
            Self::Address(_) => {}
            Self::Copy(copy) => copy.scatter(module, builder, &gathered.elements),
        }
    }
}

/// What a parameter of the body points to, by the values that are the same for all elements.
pub struct Source<'m> {
    place: Place,
    data: Value<'m>,
    size: Value<'m>,
    map: Value<'m>,
    arity: Value<'m>,
    columns_at: Value<'m>,
    is_optional: bool,
}

impl<'m> Source<'m> {
    fn of(
        module: &'m Module,
        builder: &Builder<'m>,
        argument: &Argument<'m>,
        at: Value<'m>,
    ) -> Self {
        let load = |name: &str, ty| builder.load(ty, builder.offset(at, field(name)));
        let (pointer, long) = (module.pointer(), module.int(64));
        Self {
            place: argument.place.clone(),
            data: load("data", pointer),
            size: match argument.element.and_then(|element| element.bytes()) {
                Some(bytes) => module.const_i64(bytes),
                None => load("size", long),
            },
            map: load("map", pointer),
            columns_at: load("columns_at", pointer),
            is_optional: argument.element.is_none_or(|element| element.optional),
            arity: load("arity", long),
        }
    }

    /// The element itself, or the one that a column of the map, counted from its first, leads to.
    fn element_of(
        &self,
        module: &'m Module,
        builder: &Builder<'m>,
        number: Value<'m>,
        column: u32,
    ) -> Value<'m> {
        let (byte, int, long) = (module.int(8), module.int(32), module.int(64));
        let mut index = builder.sign_extend(number, long);
        if matches!(self.place, Place::Indirect { .. }) {
            let first = builder.element(int, self.map, builder.multiply(index, self.arity));
            let target = builder.load(int, builder.offset(first, i64::from(column) * 4));
            index = builder.sign_extend(target, long);
        }
        builder.element(byte, self.data, builder.multiply(index, self.size))
    }

    /// The parameter for element `number`.
    fn address(&self, module: &'m Module, builder: &Builder<'m>, number: Value<'m>) -> Value<'m> {
        let element = |column| self.element_of(module, builder, number, column);
        match self.place {
            Place::Scalar => self.data,
            Place::Number { column: None } => {
                builder.store(number, self.data);
                self.data
            }
            Place::Section { .. } | Place::Number { column: Some(_) } => element(0),
            // The map begins at the column.
            Place::Indirect {
                columns: Columns::One(_),
            } => element(0),
            Place::Indirect {
                columns: Columns::First(count),
            } => {
                for column in 0..count {
                    let slot = builder.offset(self.columns_at, i64::from(column) * POINTER);
                    builder.store(element(column), slot);
                }
                // What is left out is null.
                if self.is_optional {
                    let none = module.pointer().zero();
                    let is_there = builder.compare(self.data, none, true);
                    return builder.select(is_there, self.columns_at, none);
                }
                self.columns_at
            }
        }
    }
}

/// Copies of the elements of an argument.
pub struct Copy<'m> {
    source: Source<'m>,
    access: Mode,
    scalar: Type<'m>,
    bytes: i64,
    components: i64,
    columns: i64,
    stride: Value<'m>,
    /// Room for the copies.
    room: Value<'m>,
    /// Room for a component that nobody looks at.
    nowhere: Value<'m>,
}

impl<'m> Copy<'m> {
    fn of(
        module: &'m Module,
        builder: &Builder<'m>,
        argument: &Argument<'m>,
        source: Source<'m>,
        at: Value<'m>,
    ) -> Self {
        let element = argument.element.expect("what is copied is known");
        let scalar = element.scalar;
        let ty = match scalar.floating {
            true => module.floating(scalar.bytes as u32 * 8),
            false => module.int(scalar.bytes as u32 * 8),
        };
        let columns = columns(&argument.place);
        let count = (element.components * columns) as u64;
        let long = module.int(64);
        let size = builder.load(long, builder.offset(at, field("size")));
        Self {
            source: Source { size, ..source },
            access: argument.access,
            scalar: ty,
            bytes: scalar.bytes,
            components: element.components,
            columns,
            stride: builder.load(long, builder.offset(at, field("stride"))),
            room: builder.alloca(module.array(ty, count), 16),
            nowhere: builder.alloca(ty, 16),
        }
    }

    fn is_sum(&self) -> bool {
        self.access == Mode::Increment && matches!(self.source.place, Place::Indirect { .. })
    }

    /// Each component's place in the copies and in the elements.
    fn components(
        &self,
        module: &'m Module,
        builder: &Builder<'m>,
        elements: &[Value<'m>],
    ) -> Vec<(Value<'m>, Value<'m>)> {
        let byte = module.int(8);
        let all = elements.iter().enumerate().flat_map(|(column, element)| {
            (0..self.components).map(move |component| {
                let at = (column as i64 * self.components + component) * self.bytes;
                let away = builder.multiply(self.stride, module.const_i64(component));
                let there = builder.element(byte, *element, away);
                (builder.offset(self.room, at), there)
            })
        });
        all.collect()
    }

    /// Fills the copies: the address that is passed, and those of the elements.
    fn gather(
        &self,
        module: &'m Module,
        builder: &Builder<'m>,
        number: Value<'m>,
    ) -> (Value<'m>, Vec<Value<'m>>) {
        let none = module.pointer().zero();
        // What is left out is null.
        let is_there =
            (self.source.is_optional).then(|| builder.compare(self.source.data, none, true));
        let or = |address, other| match is_there {
            Some(is_there) => builder.select(is_there, address, other),
            None => address,
        };
        let elements = (0..self.columns).map(|column| {
            let element = self
                .source
                .element_of(module, builder, number, column as u32);
            or(element, self.nowhere)
        });
        let elements: Vec<_> = elements.collect();
        for (copy, there) in self.components(module, builder, &elements) {
            let value = match self.is_sum() {
                true => self.scalar.neutral(),
                false => builder.load(self.scalar, there),
            };
            builder.store(value, copy);
        }
        let Place::Indirect {
            columns: Columns::First(count),
        } = self.source.place
        else {
            return (or(self.room, none), elements);
        };
        let table = self.source.columns_at;
        for column in 0..i64::from(count) {
            let copy = builder.offset(self.room, column * self.components * self.bytes);
            builder.store(copy, builder.offset(table, column * POINTER));
        }
        (or(table, none), elements)
    }

    /// Puts back what the body has changed.
    fn scatter(&self, module: &'m Module, builder: &Builder<'m>, elements: &[Value<'m>]) {
        if self.access == Mode::Read {
            return;
        }
        for (copy, there) in self.components(module, builder, elements) {
            let new = builder.load(self.scalar, copy);
            let new = match self.is_sum() {
                true => builder.sum(builder.load(self.scalar, there), new),
                false => new,
            };
            builder.store(new, there);
        }
    }
}
