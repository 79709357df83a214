//! What lanes expect of where the arguments of a loop over a set are. It is compared with what is passed before they run.

use crate::ir::{Mode, Parameter};

/// More arguments than a loop may have.
const MOST_COLUMNS: i64 = 32;

/// Why arguments are nothing for lanes, wherever they are.
pub fn check(parameters: &[Parameter<'_>]) -> Result<(), String> {
    for (at, parameter) in parameters.iter().enumerate() {
        let columns = parameter.elements();
        if columns > MOST_COLUMNS {
            return Err(format!("arg{at} stands for many elements"));
        }
        // They may be the same ones: then it matters which component of which is written last.
        if columns > 1 && parameter.access.mode == Mode::Write {
            return Err(format!("arg{at} is OP_WRITE of several elements"));
        }
    }
    Ok(())
}

/// The arguments of a loop, of which some lie component by component.
#[derive(Clone, Copy)]
pub struct Layout<'a> {
    /// The arguments.
    pub parameters: &'a [Parameter<'a>],
    /// Of which of them the components do not lie side by side.
    pub by_component: &'a [bool],
}

impl<'a> Layout<'a> {
    /// Whether any of them lies so.
    pub fn has_components(&self) -> bool {
        self.by_component.contains(&true)
    }

    /// The first argument that uses the same columns of the same map.
    pub fn leader(&self, at: usize) -> usize {
        let path = |one: &Parameter<'a>| one.path().map(|(map, columns)| (&map.base, columns));
        let own = path(&self.parameters[at]);
        let same = |other: &Parameter<'a>| own.is_some() && path(other) == own;
        self.parameters.iter().position(same).unwrap_or(at)
    }

    /// The columns that an argument's map seems to have: as declared, or as many as the loop uses.
    pub fn arity(&self, at: usize) -> Option<i64> {
        let (map, _) = self.parameters[at].path()?;
        let declared = map.element.map(|row| row.components);
        let paths = self.parameters.iter().filter_map(Parameter::path);
        let used = paths.filter(|(other, _)| other.base == map.base);
        let used = used.map(|(_, columns)| columns.least_arity());
        Some(declared.or_else(|| used.max()).unwrap_or(0))
    }

    /// Bytes from one element to the next, if there is more than one.
    pub fn size(&self, at: usize) -> Option<i64> {
        let parameter = &self.parameters[at];
        match self.by_component[at] {
            true => Some(self.bytes(at)),
            false => parameter
                .bytes()
                .filter(|&bytes| bytes > 0 && !parameter.is_whole()),
        }
    }

    /// Bytes of a component.
    pub fn bytes(&self, at: usize) -> i64 {
        self.parameters[at].element().scalar.bytes
    }

    /// Whether the values of a component lie side by side of elements that follow each other.
    pub fn is_contiguous(&self, at: usize) -> bool {
        self.parameters[at].columns().is_none() && self.size(at) == Some(self.bytes(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Access, Base, Columns, Element, Form, Kind, Place, Scalar, Storage};

    fn access(base: Base<'static>, place: Place<'static>, components: i64) -> Access<'static> {
        let (bytes, form) = match base {
            Base::Map(_) => (4, Form::Signed),
            _ => (8, Form::Floating),
        };
        Access {
            mode: Mode::Read,
            must: false,
            optional: false,
            stated: true,
            element: Some(Element {
                scalar: Scalar { bytes, form },
                components,
            }),
            base,
            place,
        }
    }

    /// Of the map that an argument is the first one to use.
    fn column(map: usize, columns: Columns, arity: Option<i64>) -> Place<'static> {
        let mut map = access(Base::Map(map), Place::Own, arity.unwrap_or(0));
        map.element = map.element.filter(|_| arity.is_some());
        Place::Through(Box::new(map), columns)
    }

    #[test]
    fn what_is_expected_follows_from_the_arguments() {
        let either = Kind::Data(Storage::Either {
            by_component: false,
        });
        let places = [
            (column(0, Columns::One(1), None), 3),
            (Place::Own, 3),
            (column(0, Columns::First(4), None), 2),
            (column(0, Columns::One(1), None), 1),
            (column(4, Columns::One(1), Some(2)), 1),
            (Place::Whole, 1),
            (Place::Own, 1),
        ];
        let each = places.into_iter().enumerate();
        let each =
            each.map(|(at, (place, components))| access(Base::Argument(at), place, components));
        let accesses: Vec<_> = each.collect();
        let parameters = Parameter::of(&[either; 7], &accesses);
        assert_eq!(check(&parameters), Ok(()));
        let layout = Layout {
            parameters: &parameters,
            by_component: &[false; 7],
        };
        let all = 0..parameters.len();
        let leaders: Vec<_> = all.clone().map(|at| layout.leader(at)).collect();
        assert_eq!(leaders, [0, 1, 2, 0, 4, 5, 6]);
        let arities: Vec<_> = all.clone().map(|at| layout.arity(at)).collect();
        let (found, none) = (Some(4), None);
        assert_eq!(arities, [found, none, found, found, Some(2), none, none]);
        let sizes: Vec<_> = all.clone().map(|at| layout.size(at)).collect();
        let [one, two, three] = [8, 16, 24].map(Some);
        assert_eq!(sizes, [three, three, two, one, one, none, one]);
        let side_by_side: Vec<_> = all.filter(|at| layout.is_contiguous(*at)).collect();
        assert_eq!(side_by_side, [6]);

        let layout = Layout {
            parameters: &parameters,
            by_component: &[false, true, false, false, false, false, false],
        };
        assert!(layout.has_components());
        assert_eq!((layout.size(0), layout.size(1)), (three, one));
        assert!(layout.is_contiguous(1) && !layout.is_contiguous(0));
    }

    #[test]
    fn what_lanes_would_get_wrong_is_refused() {
        let kind = Kind::Data(Storage::ByElement);
        for (mode, count, is_right) in [
            (Mode::Write, 1, true),
            (Mode::Write, 2, false),
            (Mode::Increment, 2, true),
            (Mode::Read, 32, true),
            (Mode::Read, 33, false),
        ] {
            let place = column(0, Columns::First(count), None);
            let access = Access {
                mode,
                ..access(Base::Argument(0), place, 1)
            };
            let parameters = Parameter::of(&[kind], std::slice::from_ref(&access));
            assert_eq!(check(&parameters).is_ok(), is_right, "{mode} {count}");
        }
    }
}
