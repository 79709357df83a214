//! Whether a loop does what it says: its arguments against the declarations of what they are, the
//! kernel's parameters, and what the kernel does with them.
//!
//! What is wrong in every run is an error; what may be meant is a warning. Each is told at the line of the loop.

use okl_abi::op2::ACCESSES;
use okl_abi::op2::access::{MAX, MIN, READ, RW};

use super::calls::{self, Made, TYPES, declaration, storage_free};
use super::kernels::Kernels;
use super::{Described, DescribedArgument, globals};
use crate::diagnostic::{Declined, Site};
use crate::llvm::{Call, Value};
use crate::recognise::Found;

/// Adds what is wrong with a loop, and what is doubtful.
pub fn check<'m>(described: &Described<'m>, kernels: &Kernels, found: &mut Found<'m>) {
    for (at, one) in described.arguments.iter().enumerate() {
        let tell = |list: &mut Vec<Declined<'m>>, what: String| {
            list.push(Declined {
                site: Site::Instruction(calls::written_at(described.call)),
                reason: format!("op_par_loop: arg{at} {what}"),
            });
        };
        let mistakes = one.mistakes(described.set);
        if !mistakes.is_empty() {
            for mistake in mistakes {
                tell(&mut found.mistakes, mistake);
            }
            continue;
        }
        if one.is_only_read() {
            let what = "is OP_RW, but the kernel's parameter is const: OP_READ is enough";
            tell(&mut found.doubts, what.to_string());
        }
        if let Some((_, what)) = globals::used_by_name(described).filter(|(first, _)| *first == at)
        {
            tell(&mut found.doubts, what);
        }
        for (is_certain, what) in kernels.misuses(described, at) {
            let list = match is_certain {
                true => &mut found.mistakes,
                false => &mut found.doubts,
            };
            tell(list, what);
        }
    }
}

impl<'m> DescribedArgument<'m> {
    pub fn access(&self) -> Option<i32> {
        match &self.made {
            Made::Dat(dat) => dat.access,
            Made::Global { access, .. } => *access,
            Made::Number { .. } => Some(READ),
            Made::Information { .. } => None,
        }
    }

    /// Whether the loop says that the kernel writes it, and the parameter's type says that it does not. Nothing is wrong
    /// with the results of such a loop.
    fn is_only_read(&self) -> bool {
        self.access() == Some(RW) && bare(&self.type_name).1
    }

    /// What does not fit the declarations or the type of the kernel's parameter.
    fn mistakes(&self, set: Value<'m>) -> Vec<String> {
        let mut mistakes = Vec::new();
        let type_name = match &self.made {
            Made::Dat(dat) => {
                mistakes.extend(dat.mistakes(set));
                dat.type_name.as_deref()
            }
            Made::Global { type_name, .. } => type_name.as_deref(),
            Made::Number { map, .. } => {
                mistakes.extend(begins_elsewhere(*map, set));
                Some("int")
            }
            Made::Information { .. } => None,
        };
        let is_vector = self.is_several();
        let (pointee, is_const, depth) = bare(&self.type_name);
        let parameter = format!("{}*", self.type_name);
        let known = type_name.map(storage_free);
        let known = known.and_then(|name| TYPES.into_iter().find(|(own, ..)| *own == name));
        if let Some((own, cpp, _)) = known {
            let is_simple = TYPES.iter().any(|(_, cpp, _)| *cpp == pointee);
            if is_simple && pointee != cpp {
                mistakes.push(format!(
                    "is of type \"{own}\", but the kernel's parameter is {parameter}"
                ));
            }
        }
        if is_vector != (depth == 1) {
            mistakes.push(match is_vector {
                true => format!(
                    "stands for several elements, but the kernel's parameter is {parameter}, no array of pointers"
                ),
                false => format!("stands for one element, but the kernel's parameter is {parameter}"),
            });
        }
        if let Some(access) = self.access()
            && is_const
            && access != READ
            && access != RW
            && let Some(name) = usize::try_from(access)
                .ok()
                .and_then(|code| ACCESSES.get(code))
        {
            mistakes.push(format!("is {name}, but the kernel's parameter is const"));
        }
        mistakes
    }
}

/// The names of two sets, if it is known that they are different ones.
fn differs<'m>(one: Value<'m>, other: Value<'m>) -> Option<(String, String)> {
    let of = |set: Value<'m>| {
        let mut all = ["op_decl_set", "op_decl_set_hdf5"].into_iter();
        all.find_map(|name| declaration(set, name))
    };
    let name = |call: Call<'m>| {
        let name = call.argument(1).and_then(|name| name.as_text());
        name.map_or("another set".to_string(), |name| format!("set {name}"))
    };
    let (one, other) = (of(one)?, of(other)?);
    (one != other).then(|| (name(one), name(other)))
}

/// What is wrong with a map in a loop over `set`, if it begins at another one.
fn begins_elsewhere<'m>(map: Value<'m>, set: Value<'m>) -> Option<String> {
    let from = MAPS.iter().find_map(|name| declaration(map, name))?;
    let (from, set) = differs(from.argument(0)?, set)?;
    Some(format!(
        "has a map that begins at {from}, but the loop is over {set}"
    ))
}

/// What declares maps; their first operands are the sets.
const MAPS: [&str; 3] = ["op_decl_map", "op_decl_map_long", "op_decl_map_hdf5"];

impl<'m> calls::Dat<'m> {
    /// What does not fit the declarations of the data and of the map, in a loop over `set`.
    fn mistakes(&self, set: Value<'m>) -> Vec<String> {
        let mut mistakes = Vec::new();
        mistakes.extend(begins_elsewhere(self.map, set));
        let data = ["op_decl_dat", "op_decl_dat_temp", "op_decl_dat_hdf5"].iter();
        let mut data = data.filter_map(|name| declaration(self.dat, name)?.argument(0));
        let map = MAPS.iter().find_map(|name| declaration(self.map, name));
        if let Some(is_on) = data.next() {
            let led = map.and_then(|map| differs(is_on, map.argument(1)?));
            let direct = || differs(is_on, set).filter(|_| self.map.is_null());
            if let Some((is_on, to)) = led {
                mistakes.push(format!("is data on {is_on}, but its map leads to {to}"));
            } else if let Some((is_on, set)) = direct() {
                mistakes.push(format!(
                    "is data on {is_on} without a map, but the loop is over {set}"
                ));
            }
        }
        if let Some(access @ (MIN | MAX)) = self.access {
            let name = ACCESSES[access as usize];
            mistakes.push(format!("is data on a set, which cannot be {name}"));
        }
        if let Some(declared) = declaration(self.dat, "op_decl_dat") {
            let components = declared
                .argument(1)
                .and_then(|value| value.as_constant_int());
            if let (Some(here), Some(declared)) = (self.components, components)
                && here != declared
            {
                mistakes.push(format!(
                    "has dimension {here}, but the data were declared with {declared}"
                ));
            }
            let type_name = declared.argument(2).and_then(|value| value.as_text());
            if let (Some(here), Some(declared)) = (&self.type_name, &type_name)
                && storage_free(here) != storage_free(declared)
            {
                mistakes.push(format!(
                    "is of type \"{here}\", but the data were declared as \"{declared}\""
                ));
            }
        }
        if let (Some(declared), Some(index)) = (declaration(self.map, "op_decl_map"), self.index) {
            let arity = declared
                .argument(2)
                .and_then(|value| value.as_constant_int());
            if let Some(arity) = arity
                && !(0..arity).contains(&index)
                && !(-arity..-1).contains(&index)
            {
                mistakes.push(format!(
                    "has index {index}, but the map was declared with {arity} columns"
                ));
            }
        }
        mistakes
    }
}

/// A type as the demangler writes it: what it points to in the end, whether that is const, and through how
/// many pointers.
fn bare(type_name: &str) -> (&str, bool, usize) {
    let pointee = type_name.trim_end_matches(['*', ' ']);
    let pointers = type_name[pointee.len()..].matches('*').count();
    let constant = pointee.strip_suffix("const").map(str::trim_end);
    (constant.unwrap_or(pointee), constant.is_some(), pointers)
}
