//! Loops whose data may lie component by component: what a parameter of the body points to is a copy of the element, or
//! a sum that begins at zero and is added to the element behind the body.
//!
//! Which data lie how is known when the program runs: a component's address is computed from the distances between
//! elements and between components.

use crate::ir::{Access, Argument, Columns, ParallelLoop, Place, Storage};
use crate::llvm::{Builder, Function, Module, Type, Value};

use super::{FIELD, SetLoop, Source, fill_range, new_range};

/// More components of all arguments are not worth their code.
const MOST_COMPONENTS: i64 = 256;

/// Whether data may lie component by component: an error says why they must not.
pub fn check(one: &ParallelLoop<'_>) -> Result<(), String> {
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
    match count(one) {
        count if count > MOST_COMPONENTS => Err(format!("its arguments have {count} components")),
        _ => Ok(()),
    }
}

/// The components of all data that may lie so.
fn count(one: &ParallelLoop<'_>) -> i64 {
    let counts = one.args.iter().map(|argument| match argument.storage {
        Storage::Either { .. } => {
            let components = argument.element.map_or(0, |element| element.components);
            components * columns(&argument.place)
        }
        Storage::ByElement | Storage::Unknown => 0,
    });
    counts.sum()
}

/// The range function of a loop that passed [`check`]; none where all data are sure to lie element by element.
pub fn range<'m>(module: &'m Module, set_loop: &SetLoop<'m>) -> Option<Function<'m>> {
    let one = &set_loop.one;
    if count(one) == 0 {
        return None;
    }
    let range = new_range(module, "okl.components", set_loop.kernel);
    fill_range(
        module,
        range,
        one,
        |builder, argument, at| {
            let source = Source::of(module, builder, argument, at);
            match argument.storage {
                Storage::Either { .. } => {
                    Passed::Copy(Copy::of(module, builder, argument, source, at))
                }
                _ => Passed::Address(source),
            }
        },
        |builder, passed, number| {
            let before = passed.iter().map(|one| match one {
                Passed::Address(source) => (source.address(module, builder, number), Vec::new()),
                Passed::Copy(copy) => copy.before(module, builder, number),
            });
            let before: Vec<_> = before.collect();
            let addresses: Vec<_> = before.iter().map(|(address, _)| *address).collect();
            builder.call(set_loop.kernel, &addresses);
            for (passed, (_, elements)) in passed.iter().zip(&before) {
                if let Passed::Copy(copy) = passed {
                    copy.behind(module, builder, elements);
                }
            }
        },
    );
    Some(range)
}

fn columns(place: &Place) -> i64 {
    match place {
        Place::Indirect {
            columns: Columns::First(count),
        } => i64::from(*count),
        _ => 1,
    }
}

/// What the body is called with.
enum Passed<'m> {
    /// The address itself.
    Address(Source<'m>),
    /// A copy.
    Copy(Copy<'m>),
}

/// Copies of the elements of an argument.
struct Copy<'m> {
    source: Source<'m>,
    access: Access,
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
        let size = builder.load(long, builder.offset(at, FIELD));
        Self {
            source: Source { size, ..source },
            access: argument.access,
            scalar: ty,
            bytes: scalar.bytes,
            components: element.components,
            columns,
            stride: builder.load(long, builder.offset(at, 7 * FIELD)),
            room: builder.alloca(module.array(ty, count), 16),
            nowhere: builder.alloca(ty, 16),
        }
    }

    fn is_sum(&self) -> bool {
        self.access == Access::Increment && matches!(self.source.place, Place::Indirect { .. })
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
    fn before(
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
            builder.store(copy, builder.offset(table, column * FIELD));
        }
        (or(table, none), elements)
    }

    /// Puts back what the body has changed.
    fn behind(&self, module: &'m Module, builder: &Builder<'m>, elements: &[Value<'m>]) {
        if self.access == Access::Read {
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
