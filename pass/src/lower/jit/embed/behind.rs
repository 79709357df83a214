//! Numbers behind pointers: members of objects, and what a region gets by the address of a pointer or in a list of addresses. The
//! objects may be variables of the program, and the pointers in such.
//!
//! Guarantee: all that is read to find such a number is there when the region begins, or the number is on the page of what is
//! there; and nothing writes the number, nor a pointer on the way to it, while the region runs.

use std::collections::HashSet;

use okl_abi::jit::value::{self, Through};

use super::regions::{Fork, has_bytes};
use super::steady::Code;
use super::{Place, fold};
use crate::analysis::runtime::is_of_runtime;
use crate::ir::Region;
use crate::llvm::{Function, Instruction, Linkage, Module, Opcode, Value};
use fold::Path;

/// What a region reads behind the pointers that it gets.
pub(super) struct Behind<'a, 'm> {
    module: &'m Module,
    code: &'a Code<'a, 'm>,
    own: &'a [Fork<'m>],
    /// Of what the code that is left declares.
    addresses: &'a [Value<'m>],
    reads: Vec<Read<'m>>,
    /// What each thread comes to that runs the region.
    always: HashSet<Instruction<'m>>,
    /// Pointers that lead to numbers, with their paths: of one that is a parameter, or to a variable, without numbers.
    found: Vec<(Path<'m>, Place<'m>)>,
}

struct Read<'m> {
    load: Instruction<'m>,
    path: Path<'m>,
    size: i64,
}

/// Of a variable with more numbers none are known: each call compares them.
const MOST_OF_VARIABLE: usize = 32;

impl<'a, 'm> Behind<'a, 'm> {
    pub(super) fn of(
        module: &'m Module,
        code: &'a Code<'a, 'm>,
        own: &'a [Fork<'m>],
        body: Function<'m>,
        addresses: &'a [Value<'m>],
    ) -> Self {
        let loads = body.instructions().into_iter();
        let loads = loads.filter(|one| one.opcode() == Opcode::LLVMLoad);
        let reads = loads.filter_map(|load| {
            let path = fold::path(module, load)?;
            let is_own = match path.0.as_parameter() {
                Some((_, number)) => number >= Region::LEADING,
                None => addresses.contains(&path.0) && is_defined(path.0),
            };
            let is_in_order = path.1.iter().all(|one| (0..Through::END).contains(one));
            (is_own && is_in_order).then(|| Read {
                load,
                path,
                size: module.store_size_of(load.ty()) as i64,
            })
        });
        Self {
            module,
            code,
            own,
            addresses,
            reads: reads.collect(),
            always: always_run(body),
            found: Vec::new(),
        }
    }

    /// The variables of the program in which, or behind which, numbers are.
    pub(super) fn variables(&self) -> Vec<Value<'m>> {
        let mut found = Vec::new();
        for base in self.reads.iter().map(|one| one.path.0) {
            if base.as_global().is_some() && !found.contains(&base) {
                found.push(base);
            }
        }
        found
    }

    /// The numbers behind a parameter, or in a variable and behind it, that keep their values.
    pub(super) fn numbers(&mut self, base: Value<'m>) -> Vec<Place<'m>> {
        let read = self.reads.iter().filter_map(|one| {
            let size = fold::size_of_number(self.module, one.load.ty())?;
            (one.path.0 == base).then(|| (one.path.1.clone(), size))
        });
        let mut read: Vec<_> = read.collect();
        read.sort();
        read.dedup();
        if base.as_global().is_some() && read.len() > MOST_OF_VARIABLE {
            return Vec::new();
        }
        let numbers = read.into_iter();
        numbers
            .filter_map(|(offsets, size)| self.number(&(base, offsets), size))
            .collect()
    }

    /// Those that lead to them. They come first among the values.
    pub(super) fn pointers(&self) -> Vec<Place<'m>> {
        self.found.iter().map(|(_, place)| *place).collect()
    }

    fn number(&mut self, path: &Path<'m>, size: i64) -> Option<Place<'m>> {
        let (behind, offset) = split(path)?;
        let number = |kind, place, offset| Place {
            kind,
            place,
            offset,
            size,
            variable: None,
        };
        if !self.keeps(path, size) {
            return None;
        }
        let is_given = behind.1.is_empty() && self.is_given(path, size);
        if let Some((_, parameter)) = path.0.as_parameter().filter(|_| is_given) {
            return Some(number(value::MEMBER, parameter as i64, offset));
        }
        let sure = match is_given {
            true => offset,
            false => self.sure(&behind, offset, size)?,
        };
        let through = Through { offset, sure };
        let pointer = self.pointer(&behind)?;
        Some(number(value::THROUGH, pointer, through.to_bits()))
    }

    /// The position of a pointer that keeps its value and is sure to be there.
    fn pointer(&mut self, path: &Path<'m>) -> Option<i64> {
        const SIZE: i64 = 8;
        if let Some(at) = self.found.iter().position(|(known, _)| known == path) {
            return Some(at as i64);
        }
        let (kind, place, offset) = match split(path) {
            None => match path.0.as_parameter() {
                Some((_, parameter)) => (value::GIVEN, parameter as i64, 0),
                None => {
                    let place = self.addresses.iter().position(|one| *one == path.0)?;
                    (value::NAMED, place as i64, 0)
                }
            },
            Some((behind, offset)) => {
                let is_there = behind.1.is_empty() && self.is_given(path, SIZE)
                    || self.sure(&behind, offset, SIZE) == Some(offset);
                if !is_there || !self.keeps(path, SIZE) {
                    return None;
                }
                (value::LOADED, self.pointer(&behind)?, offset)
            }
        };
        let place = Place {
            kind,
            place,
            offset,
            size: 0,
            variable: (kind == value::NAMED).then_some(path.0),
        };
        self.found.push((path.clone(), place));
        Some(self.found.len() as i64 - 1)
    }

    /// Whether what is there keeps its value.
    fn keeps(&self, path: &Path<'m>, size: i64) -> bool {
        let reads = self.reads.iter();
        let loads = reads.filter(|one| one.path == *path && one.size == size);
        let loads: Vec<_> = loads.map(|one| one.load).collect();
        if let Some(variable) = path.0.as_global().filter(|_| path.1.len() == 1) {
            return self.code.keeps_part(variable, &loads);
        }
        // The object is a variable of those who begin the region.
        let keeps_variable = || {
            let Some((_, number)) = path.0.as_parameter() else {
                return false;
            };
            let parameter = path.0;
            path.1.len() == 1
                && self.own.iter().all(|fork| {
                    let given = fork.given(number);
                    let is_variable = given.as_op(Opcode::LLVMAlloca).is_some();
                    is_variable && fork.hands_over_once(given) && self.code.keeps(given, parameter)
                })
        };
        self.code.keeps_loaded(&loads) || keeps_variable()
    }

    /// Whether a variable, or what those who begin the region are sure to have there, is an object of which this is a part.
    fn is_given(&self, (base, offsets): &Path<'m>, size: i64) -> bool {
        if let Some(variable) = base.as_global() {
            let bytes = self.module.size_of(variable.value_type());
            return (offsets[0] + size) as u64 <= bytes;
        }
        let (_, number) = base.as_parameter().expect("else it is a parameter");
        self.own.iter().all(|fork| {
            let function = fork.site.instruction().function();
            let given = fork.given(number);
            has_bytes(self.module, function, given, offsets[0] + size)
        })
    }

    /// Where behind a pointer something is sure to be there: where this is asked for, if that is so, or what is nearest.
    fn sure(&self, behind: &Path<'m>, offset: i64, size: i64) -> Option<i64> {
        /// What lies between two bytes of as many is on the pages of these.
        const PAGE: i64 = 4096;
        let always = self.reads.iter().filter_map(|one| {
            let (pointer, at) = split(&one.path)?;
            let is_sure = pointer == *behind && self.always.contains(&one.load);
            is_sure.then_some((at, at + one.size))
        });
        let always: Vec<_> = always.collect();
        let first = always.iter().map(|one| one.0);
        let first = first.filter(|at| *at <= offset).max();
        let last = always.iter().map(|one| one.1);
        let last = last.filter(|at| *at >= offset + size).min();
        let is_between = first
            .zip(last)
            .is_some_and(|(first, last)| last - first <= PAGE);
        let nearest = always
            .iter()
            .map(|one| one.0)
            .min_by_key(|at| (at - offset).abs())?;
        Some(if is_between { offset } else { nearest })
    }
}

/// Whether a variable is sure to be one: it is there if the program is.
fn is_defined(variable: Value<'_>) -> bool {
    let linkage = variable.as_global().map(|one| one.linkage());
    linkage.is_some_and(|one| one != Linkage::LLVMExternalWeakLinkage)
}

/// The pointer that something is behind, and how far.
fn split<'m>((base, offsets): &Path<'m>) -> Option<(Path<'m>, i64)> {
    let (last, before) = offsets.split_last()?;
    Some(((*base, before.to_vec()), *last))
}

/// What runs whenever a function does: its beginning, as far as nothing is decided in it, and nothing may stay away.
fn always_run(function: Function<'_>) -> HashSet<Instruction<'_>> {
    let mut found = HashSet::new();
    let mut block = function.blocks().first().copied();
    let mut seen = HashSet::new();
    while let Some(one) = block.filter(|one| seen.insert(*one)) {
        for instruction in one.instructions() {
            let comes_back = instruction.as_call().is_none_or(|call| {
                call.intrinsic().is_some() || is_of_runtime(&call.callee_name())
            });
            if !comes_back {
                return found;
            }
            found.insert(instruction);
        }
        let next = one.successors();
        block = match next[..] {
            [next] => Some(next),
            _ => None,
        };
    }
    found
}
