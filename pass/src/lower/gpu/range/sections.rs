//! Which bytes of its arrays a kernel accesses that runs a share of a loop's iterations: as functions of what it is passed, by
//! which the run time for devices knows what to bring there, and what comes back.
//!
//! Guarantee: where an array has sections, the kernel accesses nothing of it but what is in one of them; at least as long as
//! no loop of it runs 2^32 times. What LLVM computes in 32 bits and what stands here are the same but for multiples of 2^32,
//! and the run time takes an array whole where that could matter ([`okl_abi::gpu::section`]). Numbers of which one is the
//! least or the largest are any of these here, as a number that has wrapped around compares otherwise.

use okl_abi::Effects;
use okl_abi::gpu::section;

use super::uniform::Evaluated;
use super::{Passed, calls};
use crate::analysis::iterations;
use crate::analysis::runtime::{self, effects};
use crate::analysis::variables::is_harmless;
use crate::ir::{Base, Body, Description, Mode, Number, Object, Part, Place, Region, Unknown};
use crate::llvm::{Code, Function, Instruction, Linkage, Module, Opcode, OwnModule, Value};
use crate::recognise;

/// What the names of values begin with.
const VALUE: &str = "okl.value.";

/// All that a kernel accesses of what it is passed addresses of.
#[derive(Clone)]
pub(super) struct Sections {
    all: Vec<Section>,
}

/// What is accessed of an array.
#[derive(Clone)]
struct Section {
    base: Evaluated,
    writes: bool,
    /// Bytes of an element, where the first one is, and for each row bytes from one to the next, and how many; none where it
    /// may be anything.
    elements: Option<(i64, Sum, Vec<[Sum; 2]>)>,
}

/// A sum of products, each with a number that it is multiplied with.
type Sum = Vec<(i64, Vec<Factor>)>;

#[derive(Clone)]
enum Factor {
    Iteration,
    Value(Evaluated),
    /// Any of these.
    One(Vec<Sum>),
    /// Any number from 0 to this one.
    Turn(Sum),
}

/// Those of the kernel of a region of a copy of its module. In front of all its code the region's body loads these values,
/// which it is passed, and nothing else. None where not all is known.
pub(super) fn find<'d>(
    device: &'d Module,
    body: Function<'d>,
    values: &[(Value<'d>, Passed)],
) -> Option<Sections> {
    let copy = OwnModule::copy_of(device);
    let body = copy.function(&body.name())?;
    let front = body.blocks().first()?.instructions().into_iter();
    let loads = front.filter(|one| one.opcode() == Opcode::LLVMLoad);
    let loads: Vec<_> = loads.collect();
    if loads.len() != values.len() {
        return None;
    }
    // They are constants to what looks at it.
    for (number, load) in loads.into_iter().enumerate() {
        let value = copy.add_global(
            &format!("{VALUE}{number}"),
            load.ty(),
            None,
            Linkage::LLVMExternalLinkage,
        );
        value.set_readonly();
        load.set_operand(0, *value);
    }
    let is_value = |passed: &Passed| match passed {
        Passed::Value(value) => Some(value.clone()),
        _ => None,
    };
    let values: Option<Vec<_>> = values.iter().map(|(_, passed)| is_value(passed)).collect();
    let values = Values(values?);
    // What is combined is no part of the kernel's loop.
    for call in calls(body) {
        if effects(call).has(Effects::REDUCES) {
            let zero = call.instruction().ty().zero();
            call.instruction().replace_all_uses_with(zero);
            call.instruction().erase();
        }
    }
    iterations::prepare_loops_of(&copy, body);
    let mut found = recognise::recognise(&copy).regions;
    let region = found.iter_mut().find(|one| one.body == body)?;
    iterations::describe_hulls(&copy, region);
    let code = Code::open(body);
    if (0..code.loops().len()).any(|one| code.exiting(one).len() != 1) {
        return None;
    }
    let mut all = Vec::new();
    let mut described = Vec::new();
    for part in region.steps.iter().flat_map(|step| &step.parts) {
        let (code, description) = match part {
            Part::Share(one) => match &one.body {
                Body::Code(code) => (code, &one.description),
                _ => return None,
            },
            Part::Each(code) => (code, code.description.as_ref()?),
            Part::One(..) => return None,
        };
        described.push(code);
        values.add(description, &mut all)?;
    }
    let is_described = |one: &Instruction<'_>| {
        !one.may_write() && one.opcode() != Opcode::LLVMLoad
            || is_harmless(*one)
            || described.iter().any(|code| code.has(*one))
            || is_own(*one)
            || one
                .as_call()
                .is_some_and(|call| runtime::function(call).is_some())
    };
    let is_all = body.instructions().iter().all(is_described);
    is_all.then_some(Sections { all })
}

/// Whether an instruction loads from a variable of the thread's, or stores there.
fn is_own(one: Instruction<'_>) -> bool {
    let address = match one.opcode() {
        Opcode::LLVMLoad => one.operand(0),
        Opcode::LLVMStore => one.operand(1),
        _ => return false,
    };
    let object = address.underlying_object();
    let is_number = (object.as_parameter()).is_some_and(|(_, index)| index < Region::LEADING);
    let is_value = (object.as_global()).is_some_and(|one| one.name().starts_with(VALUE));
    object.as_op(Opcode::LLVMAlloca).is_some() || is_number || is_value
}

/// What a region is passed.
struct Values(Vec<Evaluated>);

impl Values {
    fn base(&self, base: &Base<'_>) -> Option<Evaluated> {
        match base {
            Base::Capture(at) => Some(Evaluated::Capture(*at)),
            Base::Loaded(from) => self.loaded(from),
            Base::Global(_) | Base::Argument(_) | Base::Map(_) | Base::Parameter(_) => None,
        }
    }

    fn loaded(&self, from: &Object<'_>) -> Option<Evaluated> {
        let Base::Global(global) = &from.base else {
            return None;
        };
        let name = global.name();
        let number = name.strip_prefix(VALUE)?.parse::<usize>().ok()?;
        let is_it = from.offset.as_constant() == Some(0);
        self.0.get(number).filter(|_| is_it).cloned()
    }

    fn add(&self, description: &Description<'_>, all: &mut Vec<Section>) -> Option<()> {
        if description.unknown.is_some() {
            return None;
        }
        for one in &description.accesses {
            // Tables of constants are part of the kernel.
            if let Base::Global(global) = &one.base
                && global.is_readonly()
                && (!global.is_declaration() || global.name().starts_with(VALUE))
            {
                continue;
            }
            let elements = match &one.place {
                Place::At(elements) => {
                    let number = |number| self.number(number);
                    let rows = elements.rows.iter();
                    let rows = rows.map(|(stride, count)| Some([number(stride)?, number(count)?]));
                    let bytes = one.element.and_then(|element| element.bytes());
                    let rows: Option<Vec<_>> = rows.collect();
                    (|| Some((bytes?, number(&elements.offset)?, rows?)))()
                }
                Place::Anywhere => None,
                Place::Whole | Place::Own | Place::Through(..) => return None,
            };
            all.push(Section {
                base: self.base(&one.base)?,
                writes: one.mode != Mode::Read,
                elements,
            });
        }
        Some(())
    }

    fn number(&self, number: &Number<'_>) -> Option<Sum> {
        let term = |(factors, times): (&[Unknown<'_>], i64)| {
            let factors = factors
                .iter()
                .map(|one| self.factor(one))
                .collect::<Option<_>>()?;
            Some((times, factors))
        };
        number.terms().map(term).collect()
    }

    fn factor(&self, unknown: &Unknown<'_>) -> Option<Factor> {
        match unknown {
            Unknown::Iteration => Some(Factor::Iteration),
            Unknown::Capture(at) => Some(Factor::Value(Evaluated::Capture(*at))),
            Unknown::Loaded(from) => self.loaded(from).map(Factor::Value),
            Unknown::Least(all) | Unknown::Largest(all) => {
                let all = all.iter().map(|one| self.number(one));
                all.collect::<Option<_>>().map(Factor::One)
            }
            Unknown::Turn(last) => self.number(last).map(Factor::Turn),
            Unknown::First | Unknown::Parameter(_) => None,
        }
    }
}

impl Sections {
    /// As the run time reads them, of a kernel that is passed these values; empty where one of what it accesses is none of
    /// them.
    pub(super) fn numbers(&self, passed: &[Passed]) -> Vec<i64> {
        let mut all = Vec::new();
        for one in &self.all {
            let Some(parameter) = position(&one.base, passed) else {
                return Vec::new();
            };
            let described = one.elements.as_ref().and_then(|(bytes, offset, rows)| {
                let mut numbers = vec![parameter as i64, i64::from(one.writes), *bytes];
                push(&mut numbers, offset, passed)?;
                numbers.push(rows.len() as i64);
                for sum in rows.iter().flatten() {
                    push(&mut numbers, sum, passed)?;
                }
                Some(numbers)
            });
            let anywhere = || vec![parameter as i64, i64::from(one.writes), section::ANYWHERE];
            all.extend(described.unwrap_or_else(anywhere));
        }
        let place = |what: fn(&Passed) -> bool| passed.iter().position(what);
        let [from, to] = [
            place(|one| matches!(one, Passed::From)),
            place(|one| matches!(one, Passed::To)),
        ];
        match (from, to, all.is_empty()) {
            (Some(from), Some(to), false) => [vec![from as i64, to as i64], all].concat(),
            _ => Vec::new(),
        }
    }
}

/// Which parameter of a kernel a value is.
fn position(value: &Evaluated, passed: &[Passed]) -> Option<usize> {
    let is_it = |one: &Passed| matches!(one, Passed::Value(other) if other == value);
    passed.iter().position(is_it)
}

fn push(numbers: &mut Vec<i64>, sum: &Sum, passed: &[Passed]) -> Option<()> {
    numbers.push(sum.len() as i64);
    for (times, factors) in sum {
        numbers.extend([*times, factors.len() as i64]);
        for factor in factors {
            match factor {
                Factor::Iteration => numbers.push(section::ITERATION),
                Factor::Value(value) => numbers.push(position(value, passed)? as i64),
                Factor::Turn(last) => {
                    numbers.push(section::TURN);
                    push(numbers, last, passed)?;
                }
                Factor::One(all) => {
                    numbers.extend([section::ONE_OF, all.len() as i64]);
                    for sum in all {
                        push(numbers, sum, passed)?;
                    }
                }
            }
        }
    }
    Some(())
}
