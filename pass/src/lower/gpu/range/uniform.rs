//! Values of a region's body that are the same for all threads, and that the host can evaluate in front of it.
//!
//! Guarantee: what is evaluated there is what each thread finds when it computes or loads it, at any time in the region.

use std::collections::HashMap;

use crate::analysis::runtime;
use crate::analysis::variables::is_harmless;
use crate::ir::{Code as Spans, Region};
use crate::llvm::{
    Builder, Code, Comparison, Function, Instruction, IntPredicate, Module, Opcode, Type, Value,
};

use super::{steps, written};
use crate::lower::gpu::math;

/// Parts of what the host computes, at most.
const MOST_PARTS: usize = 300;

/// How the host computes a value: in no module's terms.
#[derive(Clone, PartialEq)]
pub enum Evaluated {
    /// A captured value.
    Capture(usize),
    /// The address of a variable of the program's.
    Variable(String),
    /// A number of so many bits.
    Constant(i64, u32),
    /// What stands so many bytes behind an address.
    Loaded(Box<Evaluated>, i64, Plain),
    /// So many bytes behind an address.
    Behind(Box<Evaluated>, i64),
    /// An operation of two numbers.
    Binary(Opcode, Box<[Evaluated; 2]>),
    /// A number as one of so many bits.
    Cast(Opcode, Box<Evaluated>, u32),
    /// One of two values, as two others compare.
    Choice(IntPredicate, Box<[Evaluated; 4]>),
}

/// A type of single values.
#[derive(Clone, Copy, PartialEq)]
pub enum Plain {
    /// An integer of so many bits.
    Int(u32),
    /// A floating-point number of so many bits.
    Floating(u32),
    /// An address.
    Pointer,
}

impl Plain {
    fn of(ty: Type<'_>) -> Option<Self> {
        if ty.is_pointer() {
            return Some(Self::Pointer);
        }
        if ty.is_integer() {
            return ty
                .bits()
                .filter(|bits| [8, 16, 32, 64].contains(bits))
                .map(Self::Int);
        }
        match ty.print().as_str() {
            "float" => Some(Self::Floating(32)),
            "double" => Some(Self::Floating(64)),
            _ => None,
        }
    }

    fn ty(self, module: &Module) -> Type<'_> {
        match self {
            Self::Int(bits) => module.int(bits),
            Self::Floating(bits) => module.floating(bits),
            Self::Pointer => module.pointer(),
        }
    }
}

impl Evaluated {
    /// The value, in front of the region.
    pub fn emit<'m>(&self, builder: &Builder<'m>, captures: &[Value<'m>]) -> Value<'m> {
        let module = builder.module();
        let of = |one: &Self| one.emit(builder, captures);
        match self {
            Self::Capture(at) => captures[*at],
            Self::Variable(name) => *module.global(name).expect("the copy had it"),
            Self::Constant(number, bits) => {
                builder.int_cast(module.const_i64(*number), module.int(*bits))
            }
            Self::Loaded(from, bytes, ty) => {
                builder.load(ty.ty(module), builder.offset(of(from), *bytes))
            }
            Self::Behind(from, bytes) => builder.offset(of(from), *bytes),
            Self::Binary(opcode, two) => {
                let [a, b] = &**two;
                builder.binary(*opcode, of(a), of(b))
            }
            Self::Cast(opcode, from, bits) => builder.cast(*opcode, of(from), module.int(*bits)),
            Self::Choice(predicate, all) => {
                let [a, b, yes, no] = &**all;
                let asked = builder.ask(Comparison::Integer(*predicate), of(a), of(b));
                builder.select(asked, of(yes), of(no))
            }
        }
    }
}

/// What is uniform in a body.
pub struct Uniform<'d> {
    module: &'d Module,
    /// The body.
    pub code: Code<'d>,
    writers: Vec<Instruction<'d>>,
    alone: Vec<bool>,
    spans: Vec<crate::llvm::Block<'d>>,
}

impl<'d> Uniform<'d> {
    /// Of a body; `alone` are the captures that nothing else leads to, `spans` the code of its loop.
    pub fn of(
        module: &'d Module,
        body: Function<'d>,
        alone: &[bool],
        spans: Option<&Spans<'d>>,
    ) -> Self {
        let code = Code::open(body);
        let is_runtime = |one: &Instruction<'d>| {
            one.as_call()
                .is_some_and(|call| runtime::function(call).is_some())
        };
        let computes = |one: &Instruction<'d>| one.as_call().is_some_and(math::is_function);
        let writers = body.instructions().into_iter();
        let writers = writers.filter(|one| {
            one.may_write() && !is_harmless(*one) && !is_runtime(one) && !computes(one)
        });
        let spans = spans.map(|code| code.spans.iter().map(|span| span.block).collect());
        Self {
            module,
            writers: writers.collect(),
            code,
            alone: alone.to_vec(),
            spans: spans.unwrap_or_default(),
        }
    }

    /// Loads that the host can do instead, those of one value together. `has_turns`: the host goes there only where the
    /// loop has iterations.
    pub fn loads(&self, has_turns: bool) -> Vec<(Vec<Instruction<'d>>, Evaluated)> {
        let mut found: Vec<(Vec<Instruction<'d>>, Evaluated)> = Vec::new();
        let mut known = HashMap::new();
        for one in self.code.function().instructions() {
            if one.opcode() != Opcode::LLVMLoad {
                continue;
            }
            let Some(value) = self.load(one, &mut known) else {
                continue;
            };
            if !self.is_safe(one, has_turns) {
                continue;
            }
            match found.iter_mut().find(|(_, known)| *known == value) {
                Some((loads, _)) => loads.push(one),
                None => found.push((vec![one], value)),
            }
        }
        found
    }

    /// Whether nothing can go wrong when the host does a load.
    fn is_safe(&self, load: Instruction<'d>, has_turns: bool) -> bool {
        let (base, bytes) = load.operand(0).offset_in_object(self.module);
        let end = bytes as u64 + self.module.store_size_of(load.ty());
        if let Some(global) = base.as_global() {
            return bytes >= 0 && end <= self.module.size_of(global.value_type());
        }
        if base.as_parameter().is_some() && bytes >= 0 && base.dereferenceable_bytes() >= end {
            return true;
        }
        if let Some(inner) = base.as_op(Opcode::LLVMLoad)
            && !self.is_safe(inner, has_turns)
        {
            return false;
        }
        if self.runs_always(load) {
            return true;
        }
        // Whoever runs an iteration does it.
        let around = self.code.loops_around(load.block());
        let is_of_share = |&of: &usize| {
            self.code.loops()[of]
                .blocks
                .iter()
                .all(|block| self.spans.contains(block))
        };
        let outermost = around.filter(is_of_share).last();
        has_turns
            && match outermost {
                Some(of) => self.code.loops()[of]
                    .latch
                    .is_some_and(|latch| self.code.dominates(load.block(), latch)),
                None => false,
            }
    }

    /// Whether each thread comes there.
    fn runs_always(&self, at: Instruction<'d>) -> bool {
        let function = self.code.function();
        let ends = function.blocks().into_iter().filter(|block| {
            block
                .terminator()
                .is_some_and(|end| end.opcode() == Opcode::LLVMRet)
        });
        let mut ends = ends.peekable();
        ends.peek().is_some() && ends.all(|end| self.code.dominates(at.block(), end))
    }

    /// What a load gets, where that does not change in the region.
    fn load(
        &self,
        one: Instruction<'d>,
        known: &mut HashMap<Instruction<'d>, Option<Evaluated>>,
    ) -> Option<Evaluated> {
        if let Some(known) = known.get(&one) {
            return known.clone();
        }
        known.insert(one, None);
        let found = self.new_load(one, known);
        known.insert(one, found.clone());
        found
    }

    fn new_load(
        &self,
        one: Instruction<'d>,
        known: &mut HashMap<Instruction<'d>, Option<Evaluated>>,
    ) -> Option<Evaluated> {
        if !one.is_plain_access() {
            return None;
        }
        let ty = Plain::of(one.ty())?;
        let (base, bytes) = one.operand(0).offset_in_object(self.module);
        let from = match base.as_op(Opcode::LLVMLoad) {
            Some(inner) => self.load(inner, known)?,
            None => self.root(base)?,
        };
        let mut writers = self.code.changing_in_turns(one, &self.writers);
        let alone = base.as_parameter().filter(|(_, at)| {
            let capture = at.checked_sub(Region::LEADING);
            capture.is_some_and(|at| self.alone.get(at) == Some(&true))
        });
        if alone.is_some() {
            writers.retain(|writer| !self.is_elsewhere(*writer, base));
        }
        writers
            .is_empty()
            .then(|| Evaluated::Loaded(Box::new(from), bytes, ty))
    }

    /// Whether a writer writes no variable that nothing but this parameter leads to.
    fn is_elsewhere(&self, writer: Instruction<'d>, parameter: Value<'d>) -> bool {
        let Some(object) = written(writer).map(steps::object) else {
            return false;
        };
        let is_known = object.as_parameter().is_some()
            || object.as_global().is_some()
            || object.as_op(Opcode::LLVMAlloca).is_some()
            || object.as_op(Opcode::LLVMLoad).is_some();
        is_known && object != parameter
    }

    /// An address that does not change.
    fn root(&self, base: Value<'d>) -> Option<Evaluated> {
        if let Some((_, at)) = base.as_parameter() {
            return at.checked_sub(Region::LEADING).map(Evaluated::Capture);
        }
        let global = base.as_global()?;
        let is_table = global.is_readonly() && !global.is_declaration();
        (!global.is_thread_local() && !is_table).then(|| Evaluated::Variable(global.name()))
    }

    /// How the host computes a value; `None` where it cannot.
    pub fn evaluated(&self, value: Value<'d>) -> Option<Evaluated> {
        self.evaluated_in(value, &mut { MOST_PARTS })
    }

    /// The same, of so many parts at most, with those that are there twice.
    fn evaluated_in(&self, value: Value<'d>, left: &mut usize) -> Option<Evaluated> {
        *left = left.checked_sub(1)?;
        if let Some(number) = value.as_constant_int() {
            return Some(Evaluated::Constant(number, value.ty().bits()?));
        }
        if value.ty().is_pointer() {
            let (base, bytes) = value.offset_in_object(self.module);
            let base = match base.as_op(Opcode::LLVMLoad) {
                Some(load) => self.evaluated_load(load)?,
                None => self.root(base)?,
            };
            return Some(Evaluated::Behind(Box::new(base), bytes));
        }
        if value.as_parameter().is_some() {
            return self.root(value);
        }
        let one = value.as_instruction()?;
        let mut of = |at: usize| self.evaluated_in(one.operand(at), left);
        match one.opcode() {
            Opcode::LLVMLoad => self.evaluated_load(one),
            Opcode::LLVMAdd
            | Opcode::LLVMSub
            | Opcode::LLVMMul
            | Opcode::LLVMShl
            | Opcode::LLVMLShr
            | Opcode::LLVMAShr
            | Opcode::LLVMAnd
            | Opcode::LLVMOr
            | Opcode::LLVMXor => Some(Evaluated::Binary(one.opcode(), Box::new([of(0)?, of(1)?]))),
            Opcode::LLVMSDiv | Opcode::LLVMUDiv => {
                let by = one.operand(1).as_constant_int();
                by.filter(|by| ![0, -1].contains(by))?;
                Some(Evaluated::Binary(one.opcode(), Box::new([of(0)?, of(1)?])))
            }
            Opcode::LLVMSExt | Opcode::LLVMZExt | Opcode::LLVMTrunc => {
                let bits = one.ty().bits()?;
                Some(Evaluated::Cast(one.opcode(), Box::new(of(0)?), bits))
            }
            Opcode::LLVMSelect => {
                let asked = one.operand(0).as_op(Opcode::LLVMICmp)?;
                let Comparison::Integer(predicate) = asked.comparison()? else {
                    return None;
                };
                if !asked.operand(0).ty().is_integer() {
                    return None;
                }
                let all = [
                    asked.operand(0),
                    asked.operand(1),
                    one.operand(1),
                    one.operand(2),
                ];
                let all = all.into_iter().map(|one| self.evaluated_in(one, left));
                let all: Option<Vec<_>> = all.collect();
                let all: [Evaluated; 4] = all?.try_into().ok()?;
                Some(Evaluated::Choice(predicate, Box::new(all)))
            }
            Opcode::LLVMCall => {
                let call = one.as_call()?;
                let predicate = match call.intrinsic()?.name().as_str() {
                    "llvm.smin" => IntPredicate::LLVMIntSLT,
                    "llvm.smax" => IntPredicate::LLVMIntSGT,
                    "llvm.umin" => IntPredicate::LLVMIntULT,
                    "llvm.umax" => IntPredicate::LLVMIntUGT,
                    _ => return None,
                };
                let before = *left;
                let two = [one.operand(0), one.operand(1)];
                let [a, b] = two.map(|one| self.evaluated_in(one, left));
                let [a, b] = [a?, b?];
                *left = left.checked_sub(before - *left)?;
                Some(Evaluated::Choice(
                    predicate,
                    Box::new([a.clone(), b.clone(), a, b]),
                ))
            }
            _ => None,
        }
    }

    /// What is only evaluated where that does no harm, even where the loop has no iterations.
    fn evaluated_load(&self, load: Instruction<'d>) -> Option<Evaluated> {
        match self.is_safe(load, false) {
            true => self.load(load, &mut HashMap::new()),
            false => None,
        }
    }
}
