//! What lanes expect of the arguments of a loop over a set. It is compared with what is passed before they run.

use crate::ir::{Access, Base, Columns, Mode, Parameter, Place};
use crate::lower::elements::{bytes_of, elements_of};
use crate::record::LoopRecord;

/// More arguments than a loop may have.
const MOST_COLUMNS: i64 = 32;

/// A parameter of a loop's body, and what is expected of it.
#[derive(Clone, Copy)]
pub struct LaneArgument<'a> {
    /// What the body gets.
    pub parameter: Parameter<'a>,
    /// The first argument that uses the same columns of the same map.
    pub leader: usize,
    /// Columns of its map.
    pub arity: Option<i64>,
    /// Bytes from one element to the next, if there is more than one.
    pub size: Option<i64>,
    /// Whether its components do not lie side by side.
    pub is_by_component: bool,
}

impl<'a> LaneArgument<'a> {
    /// Those of a loop, if they lie element by element, or why it has no lanes.
    pub fn of(record: &'a LoopRecord<'_>) -> Result<Vec<Self>, String> {
        let all = record.parameters();
        let each = all.iter().enumerate();
        each.map(|(at, one)| Self::of_one(&all, at, *one)).collect()
    }

    fn of_one(all: &[Parameter<'a>], at: usize, parameter: Parameter<'a>) -> Result<Self, String> {
        let columns = elements_of(&parameter);
        if columns > MOST_COLUMNS {
            return Err(format!("arg{at} stands for many elements"));
        }
        // They may be the same ones: then it matters which component of which is written last.
        if columns > 1 && parameter.access.mode == Mode::Write {
            return Err(format!("arg{at} is OP_WRITE of several elements"));
        }
        let path = path(&parameter);
        let same = |other: &Parameter<'a>| match (path, self::path(other)) {
            (Some((map, columns)), Some((other, others))) => {
                map.base == other.base && columns == others
            }
            _ => false,
        };
        Ok(Self {
            parameter,
            leader: all.iter().position(same).unwrap_or(at),
            arity: path.map(|(map, _)| arity(all, map)),
            size: bytes_of(&parameter).filter(|&bytes| bytes > 0 && !parameter.is_whole()),
            is_by_component: false,
        })
    }

    /// The same if its components lie apart.
    pub fn by_component(self) -> Self {
        Self {
            size: Some(self.bytes()),
            is_by_component: true,
            ..self
        }
    }

    /// Bytes of a component.
    pub fn bytes(&self) -> i64 {
        self.parameter.element().scalar.bytes
    }
}

/// The map that leads to a parameter's elements, and its columns.
fn path<'a>(parameter: &Parameter<'a>) -> Option<(&'a Access<'a>, Columns)> {
    let columns = parameter.columns()?;
    match &parameter.access.place {
        Place::Through(map, _) => Some((map, columns)),
        _ => None,
    }
}

/// The columns that a map seems to have: as declared, or as many as the loop uses.
fn arity(all: &[Parameter<'_>], map: &Access<'_>) -> i64 {
    let is_map = |base: &Base<'_>| *base == map.base;
    let used = all.iter().filter_map(path);
    let used = used.filter(|(other, _)| is_map(&other.base));
    let used = used.map(|(_, columns)| columns.least_arity());
    let declared = map.element.map(|row| row.components);
    declared.or_else(|| used.max()).unwrap_or(0)
}
