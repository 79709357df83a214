//! Numbers behind pointers: members of objects, and what a region gets by the address of a pointer or in a list of addresses.
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
use crate::llvm::{Function, Instruction, Module, Opcode};

/// What a region reads behind the pointers that it gets.
pub(super) struct Behind<'a, 'm> {
    module: &'m Module,
    code: &'a Code<'a, 'm>,
    own: &'a [Fork<'m>],
    body: Function<'m>,
    reads: Vec<Read<'m>>,
    /// What each thread comes to that runs the region.
    always: HashSet<Instruction<'m>>,
    /// Pointers that lead to numbers, with their paths.
    found: Vec<(Path, Place<'m>)>,
}

/// The number of a parameter, and how many bytes behind each of the pointers something is: see [`fold::path`]. Those of a pointer
/// that is the parameter are none.
type Path = (i64, Vec<i64>);

struct Read<'m> {
    load: Instruction<'m>,
    path: Path,
    size: i64,
}

impl<'a, 'm> Behind<'a, 'm> {
    pub(super) fn of(
        module: &'m Module,
        code: &'a Code<'a, 'm>,
        own: &'a [Fork<'m>],
        body: Function<'m>,
    ) -> Self {
        let loads = body.instructions().into_iter();
        let loads = loads.filter(|one| one.opcode() == Opcode::LLVMLoad);
        let reads = loads.filter_map(|load| {
            let path = fold::path(module, load)?;
            let is_own = path.0 >= Region::LEADING as i64;
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
            body,
            reads: reads.collect(),
            always: always_run(body),
            found: Vec::new(),
        }
    }

    /// The numbers behind a parameter that keep their values.
    pub(super) fn numbers(&mut self, parameter: usize) -> Vec<Place<'m>> {
        let read = self.reads.iter().filter_map(|one| {
            let size = fold::size_of_number(self.module, one.load.ty())?;
            (one.path.0 == parameter as i64).then(|| (one.path.clone(), size))
        });
        let mut read: Vec<_> = read.collect();
        read.sort();
        read.dedup();
        let numbers = read.into_iter();
        numbers
            .filter_map(|(path, size)| self.number(&path, size))
            .collect()
    }

    /// Those that lead to them. They come first among the values.
    pub(super) fn pointers(&self) -> Vec<Place<'m>> {
        self.found.iter().map(|(_, place)| *place).collect()
    }

    fn number(&mut self, path: &Path, size: i64) -> Option<Place<'m>> {
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
        if behind.1.is_empty() && self.is_given(path, size) {
            return Some(number(value::MEMBER, path.0, offset));
        }
        let sure = self.sure(&behind, offset, size)?;
        let through = Through { offset, sure };
        let pointer = self.pointer(&behind)?;
        Some(number(value::THROUGH, pointer, through.to_bits()))
    }

    /// The position of a pointer that keeps its value and is sure to be there.
    fn pointer(&mut self, path: &Path) -> Option<i64> {
        const SIZE: i64 = 8;
        if let Some(at) = self.found.iter().position(|(known, _)| known == path) {
            return Some(at as i64);
        }
        let (kind, place, offset) = match split(path) {
            None => (value::GIVEN, path.0, 0),
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
            variable: None,
        };
        self.found.push((path.clone(), place));
        Some(self.found.len() as i64 - 1)
    }

    /// Whether what is there keeps its value.
    fn keeps(&self, path: &Path, size: i64) -> bool {
        let reads = self.reads.iter();
        let loads = reads.filter(|one| one.path == *path && one.size == size);
        let loads: Vec<_> = loads.map(|one| one.load).collect();
        // The object is a variable of those who begin the region.
        let keeps_variable = || {
            let number = path.0 as usize;
            let parameter = self.body.parameters()[number];
            path.1.len() == 1
                && self.own.iter().all(|fork| {
                    let given = fork.given(number);
                    let is_variable = given.as_op(Opcode::LLVMAlloca).is_some();
                    is_variable && fork.hands_over_once(given) && self.code.keeps(given, parameter)
                })
        };
        self.code.keeps_loaded(&loads) || keeps_variable()
    }

    /// Whether those who begin the region are sure to have an object there, of which this is a part.
    fn is_given(&self, (number, offsets): &Path, size: i64) -> bool {
        self.own.iter().all(|fork| {
            let function = fork.site.instruction().function();
            let given = fork.given(*number as usize);
            has_bytes(self.module, function, given, offsets[0] + size)
        })
    }

    /// Where behind a pointer something is sure to be there: where this is asked for, if that is so, or what is nearest.
    fn sure(&self, behind: &Path, offset: i64, size: i64) -> Option<i64> {
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

/// The pointer that something is behind, and how far.
fn split((parameter, offsets): &Path) -> Option<(Path, i64)> {
    let (last, before) = offsets.split_last()?;
    Some(((*parameter, before.to_vec()), *last))
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
