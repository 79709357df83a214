//! Random arguments of loops, such that elements do not meet where they must not.

use super::kernel::{Access, Parameter, Scalar, What};
use super::program::{Dat, Program};

/// What a parameter stands for in a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    Direct(usize),
    /// Data, map, column.
    Column(usize, usize, usize),
    /// Data, map, number of columns.
    Row(usize, usize, usize),
    Global(usize),
    /// The number of the element, or of the one that a column of a map leads to.
    Number(Option<(usize, usize)>),
    Along(usize),
    Flags,
}

impl Bound {
    fn dat(self) -> Option<usize> {
        match self {
            Self::Direct(dat) | Self::Column(dat, ..) | Self::Row(dat, ..) => Some(dat),
            _ => None,
        }
    }

    fn map(self) -> Option<usize> {
        match self {
            Self::Column(_, map, _) | Self::Row(_, map, _) => Some(map),
            _ => None,
        }
    }
}

/// A loop.
pub(super) struct Call {
    pub(super) set: usize,
    pub(super) parameters: Vec<Parameter>,
    pub(super) bound: Vec<Bound>,
}

impl Call {
    /// One with parameters of its own.
    pub(super) fn random(program: &mut Program) -> Self {
        let mut call = Self::over_some_set(program);
        let mut flags = 0;
        for _ in 0..program.random.between(1, 6) {
            let Some(bound) = call.some_data(program, None) else {
                continue;
            };
            let dat = &program.dats[bound.dat().expect("it is data")];
            let (scalar, dim, is_kept) = (dat.scalar, dat.dim, dat.is_kept);
            let is_shared = bound.map().is_some_and(|map| !program.maps[map].is_own);
            let access = loop {
                let access = program.random.one_of(&[
                    Access::Read,
                    Access::Read,
                    Access::Write,
                    Access::ReadWrite,
                    Access::Increment,
                    Access::Increment,
                ]);
                let is_update = matches!(access, Access::Write | Access::ReadWrite);
                let is_wrong = is_kept
                    || is_update && is_shared
                    || access == Access::Increment && scalar == Scalar::Bool;
                if access == Access::Read || !is_wrong {
                    break access;
                }
            };
            let flag = program.random.chance(12).then_some(flags);
            let one = Parameter {
                what: match bound {
                    Bound::Row(.., columns) => What::Row(columns),
                    _ => What::Element,
                },
                scalar,
                dim,
                access,
                flag,
            };
            if call.may_have(program, bound, one) {
                flags += usize::from(flag.is_some());
                call.add(bound, one);
            }
        }
        call.add_others(program, flags);
        call
    }

    fn over_some_set(program: &mut Program) -> Self {
        let (one, other) = (
            program.random.between(0, program.sets.len() - 1),
            program.random.between(0, program.sets.len() - 1),
        );
        let is_larger = program.sets[one].size >= program.sets[other].size;
        Self {
            set: if is_larger { one } else { other },
            parameters: Vec::new(),
            bound: Vec::new(),
        }
    }

    fn add(&mut self, bound: Bound, one: Parameter) {
        self.bound.push(bound);
        self.parameters.push(one);
    }

    /// Global arguments, numbers, flags.
    fn add_others(&mut self, program: &mut Program, flags: usize) {
        let is_written = |one: &Parameter| one.access != Access::Read;
        let is_idle = !self.parameters.iter().any(is_written);
        let plain = |what, scalar, dim, access| Parameter {
            what,
            scalar,
            dim,
            access,
            flag: None,
        };
        let has_number = program.random.chance(20);
        let mut count = program.random.one_of(&[0, 0, 1, 1, 2]);
        if is_idle {
            count = count.max(1);
        }
        for at in 0..count {
            let scalar = loop {
                let scalar = Scalar::random(&mut program.random);
                if scalar != Scalar::Bool {
                    break scalar;
                }
            };
            let mut access = program.random.one_of(&[
                Access::Read,
                Access::Increment,
                Access::Increment,
                Access::Min,
                Access::Max,
            ]);
            if at == 0 && is_idle && access == Access::Read {
                access = Access::Increment;
            }
            if access == Access::Increment && program.random.chance(6) {
                access = Access::ReadWrite;
            }
            let is_extreme = matches!(access, Access::Min | Access::Max);
            let has_along = is_extreme && has_number && program.random.chance(60);
            let dim = if has_along {
                1
            } else {
                program.random.between(1, 5)
            };
            let used = self.used_globals();
            let global = program.global(scalar, dim, &used);
            self.add(
                Bound::Global(global),
                plain(What::Global, scalar, dim, access),
            );
            if has_along {
                let used = self.used_globals();
                let along = program.global(Scalar::Int, 1, &used);
                let along_with = plain(What::Along, Scalar::Int, 1, Access::Read);
                self.add(Bound::Along(along), along_with);
            }
        }
        if has_number {
            self.add(
                Bound::Number(None),
                plain(What::Number, Scalar::Int, 1, Access::Read),
            );
        }
        if program.random.chance(10)
            && let Some((map, column)) = self.some_column(program)
        {
            self.add(
                Bound::Number(Some((map, column))),
                plain(What::Number, Scalar::Int, 1, Access::Read),
            );
        }
        if flags > 0 {
            self.add(
                Bound::Flags,
                plain(What::Flags, Scalar::Int, flags, Access::Read),
            );
        }
    }

    fn used_globals(&self) -> Vec<usize> {
        let all = self.bound.iter();
        all.filter_map(|bound| match *bound {
            Bound::Global(global) | Bound::Along(global) => Some(global),
            _ => None,
        })
        .collect()
    }

    fn some_column(&self, program: &mut Program) -> Option<(usize, usize)> {
        let maps: Vec<_> = (0..program.maps.len())
            .filter(|&map| program.maps[map].from == self.set)
            .collect();
        (!maps.is_empty()).then(|| {
            let map = program.random.one_of(&maps);
            (map, program.random.between(0, program.maps[map].arity - 1))
        })
    }

    /// Data that the loop can reach, with the type, the dimension and the number of columns of `like`.
    fn some_data(&self, program: &mut Program, like: Option<&Parameter>) -> Option<Bound> {
        let wanted_columns = like.map(|one| match one.what {
            What::Row(columns) => columns,
            _ => 1,
        });
        let column = self
            .some_column(program)
            .filter(|_| program.random.chance(60));
        let column = column.or_else(|| match wanted_columns {
            Some(2..) => self.some_column(program),
            _ => None,
        });
        let set = column.map_or(self.set, |(map, _)| program.maps[map].to);
        let is_like = |dat: &Dat| {
            let is_same = like.is_none_or(|one| (one.scalar, one.dim) == (dat.scalar, dat.dim));
            dat.is_there && dat.set == set && is_same
        };
        let all: Vec<_> = (0..program.dats.len())
            .filter(|&at| is_like(&program.dats[at]))
            .collect();
        if all.is_empty() {
            return None;
        }
        let dat = program.random.one_of(&all);
        let Some((map, column)) = column else {
            return (wanted_columns.unwrap_or(1) == 1).then_some(Bound::Direct(dat));
        };
        let arity = program.maps[map].arity;
        match wanted_columns {
            None if arity > 1 && program.random.chance(30) => {
                Some(Bound::Row(dat, map, program.random.between(2, arity)))
            }
            None | Some(1) => Some(Bound::Column(dat, map, column)),
            Some(columns) => (columns <= arity).then_some(Bound::Row(dat, map, columns)),
        }
    }

    /// Whether an argument may stand beside those there are.
    fn may_have(&self, program: &mut Program, bound: Bound, one: Parameter) -> bool {
        let Some(dat) = bound.dat() else { return true };
        let is_own = bound.map().is_none_or(|map| program.maps[map].is_own);
        let is_updated = matches!(one.access, Access::Write | Access::ReadWrite);
        if one.access != Access::Read && program.dats[dat].is_kept || is_updated && !is_own {
            return false;
        }
        let is_rare = program.random.chance(12);
        self.bound
            .iter()
            .zip(&self.parameters)
            .all(|(other, others)| {
                if other.dat() != Some(dat) {
                    return true;
                }
                let both = |access| one.access == access && others.access == access;
                let are_direct = bound.map().is_none() && other.map().is_none();
                // Different elements, as no target of such a map is reached twice.
                let are_apart = match (bound, *other) {
                    (
                        Bound::Column(_, map, column),
                        Bound::Column(_, others_map, others_column),
                    ) => map == others_map && column != others_column && program.maps[map].is_own,
                    _ => false,
                };
                both(Access::Read) || both(Access::Increment) || are_direct && is_rare || are_apart
            })
    }

    /// One for the parameters of a kernel that there is.
    pub(super) fn of(program: &mut Program, parameters: &[Parameter]) -> Option<Self> {
        let mut call = Self::over_some_set(program);
        for one in parameters {
            let found = (0..20).find_map(|_| {
                let bound = call.some_bound(program, one)?;
                call.may_have(program, bound, *one).then_some(bound)
            });
            call.add(found?, *one);
        }
        Some(call)
    }

    fn some_bound(&self, program: &mut Program, like: &Parameter) -> Option<Bound> {
        match like.what {
            What::Element | What::Row(_) => self.some_data(program, Some(like)),
            What::Global | What::Along => {
                let global = program.global(like.scalar, like.dim, &self.used_globals());
                Some(match like.what {
                    What::Global => Bound::Global(global),
                    _ => Bound::Along(global),
                })
            }
            // What goes along is the number of the element itself.
            What::Number => Some(Bound::Number(None)),
            What::Flags => Some(Bound::Flags),
        }
    }

    /// The argument as it is written.
    pub(super) fn argument(&self, program: &mut Program, at: usize, label: &str) -> String {
        let one = self.parameters[at];
        let (name, dim, access) = (one.scalar.name(), one.dim, one.access.name());
        // Either order is the same type.
        let random = &mut program.random;
        let is_other_order = random.chance(8);
        let literal = |is_rare: bool, number: usize| match is_rare && (1..=6).contains(&number) {
            true => format!("dim{number}"),
            false => number.to_string(),
        };
        let shown_dim = literal(random.chance(3), dim);
        let data = |dat: usize, index: String, map: String| {
            let is_soa = program.dats[dat].is_soa != is_other_order;
            let order = if is_soa { ":soa" } else { "" };
            let rest = format!("d{dat}, {index}, {map}, {shown_dim}, \"{name}{order}\", {access})");
            match one.flag {
                Some(flag) => format!("op_opt_arg_dat(has_{label}[{flag}], {rest}"),
                None => format!("op_arg_dat({rest}"),
            }
        };
        match self.bound[at] {
            Bound::Direct(dat) => data(dat, "-1".to_string(), "OP_ID".to_string()),
            Bound::Column(dat, map, column) => {
                let index = literal(random.chance(2), column);
                data(dat, index, format!("m{map}"))
            }
            Bound::Row(dat, map, columns) => data(dat, format!("-{columns}"), format!("m{map}")),
            Bound::Global(global) => {
                format!("op_arg_gbl(g{global}, {shown_dim}, \"{name}\", {access})")
            }
            Bound::Number(None) => "op_arg_idx(-1, OP_ID)".to_string(),
            Bound::Number(Some((map, column))) => format!("op_arg_idx({column}, m{map})"),
            Bound::Along(global) => format!("op_arg_info(g{global}, 1, \"int\", {})", at - 1),
            Bound::Flags => format!("op_arg_gbl(has_{label}, {dim}, \"int\", OP_READ)"),
        }
    }
}
