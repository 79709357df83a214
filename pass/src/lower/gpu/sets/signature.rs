//! What a kernel of a loop over a set is passed, and how its body gets at the loop's arguments by that.

use std::collections::HashMap;

use okl_abi::gpu::parameter;
use okl_abi::op2::device as what;

use super::{Passed, along_of};
use crate::ir::{Along, Base, Columns, Kind, Mode, ParallelLoop, Parameter, Place};
use crate::llvm::{Module, Type};
use crate::lower::gpu::launch::Parameter as Given;
use crate::lower::gpu::target::GpuTarget;

/// The parameters of a kernel in the making.
pub(super) struct Signature<'d> {
    device: &'d Module,
    target: &'static GpuTarget,
    pub(super) types: Vec<Type<'d>>,
    /// Of those that are copies, what is copied, and its alignment.
    pub(super) copied: Vec<Option<(Type<'d>, u32)>>,
    pub(super) given: Vec<Given>,
    pub(super) passed: Vec<Passed>,
    /// What has to hold.
    pub(super) holds: Vec<Passed>,
}

impl<'d> Signature<'d> {
    pub(super) fn new(device: &'d Module, target: &'static GpuTarget) -> Self {
        Self {
            device,
            target,
            types: Vec::new(),
            copied: Vec::new(),
            given: Vec::new(),
            passed: Vec::new(),
            holds: Vec::new(),
        }
    }

    /// Bytes of all that is passed, however it is aligned.
    pub(super) fn bytes(&self) -> i64 {
        let sizes = self.given.iter().map(|one| one.size.saturating_add(8));
        sizes.fold(0, i64::saturating_add)
    }

    fn add(
        &mut self,
        ty: Type<'d>,
        copied: Option<(Type<'d>, u32)>,
        given: Given,
        passed: Passed,
    ) -> usize {
        self.types.push(ty);
        self.copied.push(copied);
        self.given.push(given);
        self.passed.push(passed);
        self.types.len() - 1
    }

    /// A number of so many bits.
    pub(super) fn number(&mut self, what: i64, argument: usize, bits: u32) -> usize {
        let given = Given {
            kind: 0,
            size: i64::from(bits / 8),
            is_alone: false,
            stays: None,
        };
        let passed = Passed::of(what, argument, 0);
        self.add(self.device.int(bits), None, given, passed)
    }

    /// An address of the device's memory, of elements of so many bytes. `is_alone`: what it leads to stays as it is while the
    /// kernel runs.
    pub(super) fn address(
        &mut self,
        what: i64,
        argument: usize,
        size: i64,
        is_alone: bool,
    ) -> usize {
        let given = Given {
            kind: parameter::ADDRESS,
            size: 8,
            is_alone,
            stays: None,
        };
        let ty = self.device.pointer_into(self.target.global_space);
        self.add(ty, None, given, Passed::of(what, argument, size))
    }

    /// A copy of an object, which is to stay as it is.
    pub(super) fn copy(
        &mut self,
        (ty, align): (Type<'d>, u32),
        name: String,
        passed: Passed,
    ) -> usize {
        let given = Given {
            kind: 0,
            size: self.device.size_of(ty) as i64,
            is_alone: false,
            stays: Some(name),
        };
        let align = align.max(self.device.align_of(ty));
        let pointer = match self.target.object_space {
            Some(space) => self.device.pointer_into(space),
            None => self.device.pointer(),
        };
        self.add(pointer, Some((ty, align)), given, passed)
    }
}

impl Passed {
    pub(super) fn of(what: i64, argument: usize, size: i64) -> Self {
        Self {
            what,
            argument,
            size,
            variable: None,
        }
    }
}

/// Which parameters of the kernel an argument of the loop has: how the body gets at it, and whether it is there, where it may
/// be left out.
pub(super) struct Has {
    pub(super) how: How,
    pub(super) is_there: Option<usize>,
}

/// How the body gets at an argument.
pub(super) enum How {
    /// Its elements, and how they lie where that is not known.
    Data {
        data: usize,
        order: Option<[usize; 2]>,
        map: Option<Map>,
    },
    /// The number of the element as the program knows it, by the one that it has here; or what a map has that leads to such
    /// numbers.
    Number {
        numbers: usize,
    },
    MappedNumber(Map),
    /// Its value.
    Value(usize),
    /// Where blocks put their values, and what these begin with where it is not zero.
    Partials {
        to: usize,
        first: Option<usize>,
    },
    /// The same of a value with which others go along: where blocks put the number of the element that has it, and where the
    /// numbers are that the program knows elements by.
    Winner {
        to: usize,
        first: usize,
        firsts: usize,
        numbers: usize,
    },
    /// What goes along with the value of argument `winner`.
    Along {
        to: usize,
        first: usize,
        winner: usize,
        bytes: i64,
    },
}

/// A map, and which column of it.
#[derive(Clone, Copy)]
pub(super) struct Map {
    pub(super) entries: usize,
    pub(super) column: usize,
    pub(super) which: i64,
}

/// The parameters that an argument has.
pub(super) fn has(
    signature: &mut Signature<'_>,
    maps: &mut HashMap<usize, (usize, usize)>,
    one: &ParallelLoop<'_>,
    at: usize,
    argument: &Parameter<'_>,
) -> Has {
    let optional = argument.access.optional;
    let is_there = optional.then(|| signature.number(what::IS_THERE, at, 32));
    let how = match along_of(one, at) {
        Some(along) => how_along(signature, along),
        None => how(signature, maps, at, argument),
    };
    let how = match how {
        How::Partials {
            to,
            first: Some(first),
        } if one.description.along.iter().any(|one| one.winner == at) => How::Winner {
            to,
            first,
            firsts: signature.address(what::FIRSTS, at, 4, false),
            numbers: signature.address(what::ORIGINAL, at, 4, true),
        },
        how => how,
    };
    Has { how, is_there }
}

fn how_along(signature: &mut Signature<'_>, along: Along) -> How {
    let Along {
        argument,
        winner,
        bytes,
    } = along;
    let module = signature.device;
    let values = module.array(module.int(8), bytes as u64);
    let name = format!("arg{argument}, which is op_arg_info");
    How::Along {
        first: signature.copy((values, 8), name, Passed::of(what::VALUE, argument, bytes)),
        to: signature.address(what::PARTIALS, argument, bytes, false),
        winner,
        bytes,
    }
}

fn how(
    signature: &mut Signature<'_>,
    maps: &mut HashMap<usize, (usize, usize)>,
    at: usize,
    argument: &Parameter<'_>,
) -> How {
    let mode = argument.access.mode;
    let is_number = argument.kind == Kind::Number;
    let map = match &argument.access.place {
        Place::Through(map, columns) => {
            let Base::Map(first) = map.base else {
                unreachable!("maps are of arguments");
            };
            let which = match columns {
                Columns::One(column) => i64::from(*column),
                Columns::First(_) => 0,
            };
            let (entries, column) = match is_number {
                true => (
                    signature.address(what::ORIGINAL_MAP, at, 4, true),
                    signature.number(what::COLUMN, at, 64),
                ),
                false => {
                    if first != at {
                        let same = Passed::of(what::SAME_MAP, at, first as i64);
                        signature.holds.push(same);
                    }
                    *maps.entry(first).or_insert_with(|| {
                        let entries = signature.address(what::MAP, first, 4, true);
                        (entries, signature.number(what::COLUMN, first, 64))
                    })
                }
            };
            Some(Map {
                entries,
                column,
                which,
            })
        }
        _ => None,
    };
    if is_number {
        return match map {
            Some(map) => How::MappedNumber(map),
            None => How::Number {
                numbers: signature.address(what::ORIGINAL, at, 4, true),
            },
        };
    }
    let element = argument.element();
    let bytes = element.bytes().unwrap_or(0);
    if !argument.is_whole() {
        let data = signature.address(what::DATA, at, bytes, mode == Mode::Read);
        let order = argument
            .is_either()
            .then(|| [what::STEP, what::STRIDE].map(|what| signature.number(what, at, 64)));
        return How::Data { data, order, map };
    }
    let module = signature.device;
    let values = module.array(element.scalar.ty(module), element.components as u64);
    let mut value = || {
        let passed = Passed::of(what::VALUE, at, bytes);
        signature.copy((values, 1), format!("arg{at}, which is OP_READ"), passed)
    };
    match mode {
        Mode::Read => How::Value(value()),
        Mode::Increment => How::Partials {
            first: None,
            to: signature.address(what::PARTIALS, at, bytes, false),
        },
        _ => How::Partials {
            first: Some(value()),
            to: signature.address(what::PARTIALS, at, bytes, false),
        },
    }
}
