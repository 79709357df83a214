//! What is known of numbers and places in the copy, as numbers and addresses of the program itself, in front of its chain.
//!
//! Guarantee: nothing is loaded there that the program might not load.

use super::numbers::{Base, Number, Place, Unknown};
use super::single::Single;
use super::{Domain, Found};
use crate::ir::{Address, Amount, Bytes, Chain, Front, Run, Start};
use crate::llvm::{Instruction, Linkage, Module, Opcode, Value};
use crate::numbers::Polynomial;

/// Accesses of an object, at most.
const MOST_RUNS: usize = 24;

/// What stands for what.
pub struct Fronts<'a, 'c, 'm> {
    pub module: &'m Module,
    pub chain: &'a Chain<'m>,
    pub single: &'a Single<'c>,
}

impl<'c, 'm> Fronts<'_, 'c, 'm> {
    /// A number.
    pub fn number(&self, number: &Number<'c>) -> Option<Amount<'m>> {
        let mut sum = Polynomial::constant(0);
        for (factors, times) in number.terms() {
            let mut product = Polynomial::constant(times);
            for one in factors {
                product = product.times(&Polynomial::of(self.unknown(one)?))?;
            }
            sum = sum.plus(&product)?;
        }
        Some(sum)
    }

    fn unknown(&self, unknown: &Unknown<'c>) -> Option<Front<'m>> {
        match unknown {
            Unknown::Value(value, signed) => {
                let known = self.known(*value);
                let variable = || self.variable(*value);
                known
                    .map(|value| Front::Value(value, *signed))
                    .or_else(|| Some(Front::Variable(variable()?, *signed)))
            }
            Unknown::Loaded(place, bits, signed) => Some(Front::Loaded(
                Box::new(self.address(place)?),
                *bits,
                *signed,
            )),
            Unknown::Computed(how, operands, bits, signed) => {
                use Opcode::*;
                let is_simple = matches!(
                    how,
                    LLVMAdd | LLVMSub | LLVMMul | LLVMAnd | LLVMOr | LLVMXor | LLVMTrunc
                );
                let operands = operands.iter().map(|one| self.number(one));
                let operands = operands.collect::<Option<_>>()?;
                is_simple.then_some(Front::Computed(*how, operands, *bits, *signed))
            }
            _ => None,
        }
    }

    /// A value that is one in the program, too.
    fn known(&self, value: Value<'c>) -> Option<Value<'m>> {
        let function = self.chain.site.instruction().function();
        if let Some((_, at)) = value.as_parameter() {
            return function.parameters().get(at).copied();
        }
        let nests = self.single.nests.iter().zip(&self.chain.nests);
        let of_nests = nests.flat_map(|(one, nest)| one.values.iter().zip(&nest.values));
        let of_chain = self.single.values.iter().zip(&self.chain.values);
        let mut all = of_chain.chain(of_nests);
        all.find(|one| *one.0 == value).map(|one| *one.1)
    }

    /// The variable that has a value in front of the chain.
    fn variable(&self, value: Value<'c>) -> Option<Instruction<'m>> {
        let mut all = self.single.variables.iter();
        let (_, at) = all.find(|one| one.0 == value)?;
        let function = self.chain.site.instruction().function();
        super::single::variables(function).nth(*at)
    }

    /// Where an object begins.
    fn object(&self, base: &Base<'c>) -> Option<Start<'m>> {
        match base {
            Base::Value(value) => {
                if let Some(global) = value.as_global() {
                    return Some(Start::Value(*self.module.global(&global.name())?));
                }
                match value.as_parameter() {
                    Some(_) => self.known(*value).map(Start::Value),
                    None => self.variable(*value).map(Start::Variable),
                }
            }
            Base::Loaded(place) => Some(Start::Loaded(Box::new(self.address(place)?))),
            Base::Rows(_) | Base::Unknown => None,
        }
    }

    /// An address from which something can be loaded whether an iteration runs or not.
    fn address(&self, place: &Place<'c>) -> Option<Address<'m>> {
        let Base::Value(value) = &place.base else {
            return None;
        };
        let is_there = match value.as_parameter() {
            Some((function, at)) => function.has_parameter_attribute(at, "dereferenceable"),
            None => value.as_global().is_some_and(|one| {
                one.linkage() != Linkage::LLVMExternalWeakLinkage && !one.is_thread_local()
            }),
        };
        let is_near = |offset: &&Number<'c>| offset.as_constant().is_some();
        let offset = place.offset.as_ref().filter(|_| is_there);
        let offset = offset.filter(is_near)?;
        Some(Address {
            object: self.object(&place.base)?,
            offset: self.number(offset)?,
        })
    }

    /// The bytes of an object that iterations access.
    pub fn span(
        &self,
        base: &Base<'c>,
        found: &[Vec<Found<'c>>],
        domains: &[Domain<'c>],
    ) -> Option<Bytes<'m>> {
        let mut runs: Vec<Run<'m>> = Vec::new();
        for (found, domain) in found.iter().zip(domains) {
            for access in found.iter().filter(|one| one.place.base == *base) {
                let run = self.run(access, domain)?;
                if !runs.contains(&run) {
                    runs.push(run);
                }
            }
        }
        let object = self.object(base)?;
        let is_few = (1..=MOST_RUNS).contains(&runs.len());
        is_few.then_some(Bytes { object, runs })
    }

    fn run(&self, access: &Found<'c>, domain: &Domain<'c>) -> Option<Run<'m>> {
        let split = access.split.as_ref().filter(|one| one.bytes > 0)?;
        let mut steps = Vec::new();
        let mut loops = Vec::new();
        for (factor, (first, last)) in split.factors.iter().zip(domain) {
            let [first, last] = [self.number(first)?, self.number(last)?];
            if factor.as_constant() != Some(0) {
                steps.push([self.number(factor)?, first.clone(), last.clone()]);
            }
            loops.push([first, last]);
        }
        for part in &split.parts {
            let last = part.count.minus(&Polynomial::constant(1))?;
            let [first, last] = [Polynomial::constant(0), self.number(&last)?];
            steps.push([self.number(&part.stride)?, first.clone(), last.clone()]);
            loops.push([first, last]);
        }
        Some(Run {
            first: self.number(&split.rest)?,
            bytes: split.bytes,
            steps,
            loops,
        })
    }

    /// The bytes that something is loaded from.
    pub fn loaded(&self, place: &Place<'c>) -> Option<Bytes<'m>> {
        // No pointer or number has more than eight bytes.
        Some(Bytes {
            object: self.object(&place.base)?,
            runs: vec![Run {
                first: self.number(place.offset.as_ref()?)?,
                bytes: 8,
                steps: Vec::new(),
                loops: Vec::new(),
            }],
        })
    }
}
