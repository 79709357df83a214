//! One instruction: its name and words, its operands, and what it does then.

mod arithmetic;
mod memory;
mod together;

use super::words::Words;
use super::{Decoder, Local, Result, Symbol, wrong};
use crate::float::Rounding;
use crate::parse::{self, Space};
use crate::program::{
    Callee, Class, Comparison, Floating, Guard, Mode, Operand, Register, Slot, Special, What,
    Whole2, windows,
};
use crate::types::{Kind, Type, ones};

/// The operands of an instruction, of which each is taken once.
struct Operands<'a> {
    all: &'a [parse::Operand],
    at: usize,
    line: u32,
}

impl<'a> Operands<'a> {
    fn next(&mut self) -> Result<&'a parse::Operand> {
        let next = self.all.get(self.at);
        self.at += 1;
        next.map_or_else(|| wrong(self.line, "an operand is missing"), Ok)
    }

    fn left(&self) -> usize {
        self.all.len().saturating_sub(self.at)
    }
}

const NONE: Operand = Operand::Immediate(0);

fn class_of(of: Type) -> Class {
    match (of.kind, of.bits) {
        (Kind::Float, 64) => Class::Double,
        (Kind::Float, 32) => Class::Single,
        (Kind::Float | Kind::Brain, _) => Class::Half,
        _ => Class::Integer,
    }
}

impl Decoder<'_> {
    /// Decodes one.
    pub fn instruction(&mut self, one: &parse::Instruction, line: u32) -> Result<()> {
        let guard = match &one.guard {
            None => None,
            Some((name, is_negated)) => Some(Guard {
                register: self.predicate(name, line)?,
                is_negated: *is_negated,
            }),
        };
        let mut words = Words::of(&one.words, line);
        let mut operands = Operands {
            all: &one.operands,
            at: 0,
            line,
        };
        let at = self.program.instructions.len() as u32;
        let (class, what) = self.decoded(&one.words[0], &mut words, &mut operands, line)?;
        words.end()?;
        if operands.left() > 0 {
            return wrong(line, "there are too many operands");
        }
        match &one.operands[..] {
            [parse::Operand::Name(label)] if matches!(what, What::Branch { .. }) => {
                self.gotos.push((at, line, vec![label.clone()]));
            }
            [_, parse::Operand::Name(list)] if matches!(what, What::BranchIndexed { .. }) => {
                let Some(labels) = self.targets.get(list) else {
                    return wrong(line, format!("there is no list of labels {list}"));
                };
                self.gotos.push((at, line, labels.clone()));
            }
            _ => {}
        }
        self.emit(line, guard, class, what);
        Ok(())
    }

    fn decoded(
        &mut self,
        name: &str,
        words: &mut Words,
        operands: &mut Operands,
        line: u32,
    ) -> Result<(Class, What)> {
        Ok(match name {
            "mov" => self.moved(words, operands)?,
            "add" | "sub" | "addc" | "subc" => self.sum(name, words, operands)?,
            "mul" | "mul24" => self.product(name, words, operands)?,
            "mad" | "madc" | "fma" | "mad24" => self.product_and_sum(name, words, operands)?,
            "div" | "rem" | "min" | "max" | "and" | "or" | "xor" | "shl" | "shr" => {
                self.two(name, words, operands)?
            }
            "neg" | "abs" | "not" | "cnot" | "popc" | "clz" | "brev" | "bfind" => {
                self.one(name, words, operands)?
            }
            "sqrt" | "rcp" | "rsqrt" | "ex2" | "lg2" | "sin" | "cos" | "tanh" | "copysign"
            | "testp" => self.function_of(name, words, operands)?,
            "sad" | "shf" | "bfe" | "bfi" | "prmt" | "lop3" => self.bits(name, words, operands)?,
            "setp" | "set" => self.comparison(name, words, operands)?,
            "selp" | "slct" => self.selection(name, words, operands)?,
            "cvt" => self.conversion(words, operands)?,
            "cvta" => self.address_conversion(words, operands)?,
            "isspacep" => {
                let space = words.space();
                let to = self.to(operands)?.0;
                let from = self.value(operands, Type::named("u64").expect("a type"))?;
                (Class::Compare, What::IsIn { to, from, space })
            }
            "ld" | "ldu" => self.load(words, operands)?,
            "st" => self.store(words, operands)?,
            "atom" | "red" => self.atomic(name, words, operands)?,
            "cp" => self.copy(words, operands)?,
            "bra" => {
                words.has("uni");
                operands.next()?;
                (Class::Control, What::Branch { target: 0 })
            }
            "brx" => {
                if !words.has("idx") {
                    return words.unknown();
                }
                words.has("uni");
                let index = self.value(operands, Type::named("u32").expect("a type"))?;
                operands.next()?;
                let targets = Box::default();
                (Class::Control, What::BranchIndexed { targets, index })
            }
            "call" => self.call(words, operands, line)?,
            "ret" => {
                words.has("uni");
                (Class::Control, What::Return)
            }
            "exit" => (Class::Control, What::Exit),
            "trap" => (Class::Control, What::Trap),
            "bar" | "barrier" => self.barrier(words, operands)?,
            "membar" | "fence" => {
                for word in [
                    "gl", "cta", "sys", "gpu", "cluster", "acq_rel", "sc", "acquire", "release",
                ] {
                    words.has(word);
                }
                (Class::Barrier, What::Fence)
            }
            "shfl" => self.shuffle(words, operands)?,
            "vote" => self.vote(words, operands)?,
            "match" => self.matched(words, operands)?,
            "redux" => self.reduction(words, operands)?,
            "activemask" => {
                words.one_type()?;
                let to = self.to(operands)?.0;
                (Class::Lanes, What::ActiveMask { to })
            }
            "nanosleep" => {
                let of = words.one_type()?;
                self.value(operands, of)?;
                (Class::Control, What::Sleep)
            }
            "prefetch" | "prefetchu" => {
                words.space();
                for word in ["L1", "L2", "L2::evict_last", "L2::evict_normal"] {
                    words.has(word);
                }
                operands.next()?;
                (Class::Control, What::Nothing)
            }
            _ => return words.unknown(),
        })
    }

    fn predicate(&self, name: &str, line: u32) -> Result<Register> {
        match self.look_up(name) {
            Some(Local::Register(register, of)) if of.kind == Kind::Predicate => Ok(register),
            _ => wrong(line, format!("{name} is no predicate")),
        }
    }

    /// A register that is written, and its type.
    fn to(&self, operands: &mut Operands) -> Result<(Register, Type)> {
        self.register_of(operands.next()?, operands.line)
    }

    fn register_of(&self, operand: &parse::Operand, line: u32) -> Result<(Register, Type)> {
        if let parse::Operand::Name(name) = operand
            && let Some(Local::Register(register, of)) = self.look_up(name)
        {
            return Ok((register, of));
        }
        wrong(line, "a register is expected")
    }

    /// A register for what nobody wants.
    fn sink(&mut self) -> Register {
        self.registers += 1;
        self.registers - 1
    }

    /// A register to write, or `_`.
    fn perhaps_to(&mut self, operand: &parse::Operand, line: u32) -> Result<Option<Register>> {
        if matches!(operand, parse::Operand::Name(name) if name == "_") {
            return Ok(None);
        }
        Ok(Some(self.register_of(operand, line)?.0))
    }

    fn value(&mut self, operands: &mut Operands, of: Type) -> Result<Operand> {
        let operand = operands.next()?;
        self.value_of(operand, of, operands.line)
    }

    fn value_of(&mut self, operand: &parse::Operand, of: Type, line: u32) -> Result<Operand> {
        let width = of.width();
        Ok(match operand {
            parse::Operand::Name(name) if name == "WARP_SZ" => Operand::Immediate(32),
            parse::Operand::Name(name) => match self.look_up(name) {
                Some(Local::Register(register, _)) => Operand::Register(register),
                _ => return wrong(line, format!("{name} is no register")),
            },
            parse::Operand::Number(number) => Operand::Immediate(number & ones(width)),
            parse::Operand::Float(bits, from) => {
                Operand::Immediate(parse::float_bits(*bits, *from, width))
            }
            _ => return wrong(line, "a value is expected"),
        })
    }

    fn guard_of(&self, operand: &parse::Operand, line: u32) -> Result<Guard> {
        let (name, is_negated) = match operand {
            parse::Operand::Name(name) => (name, false),
            parse::Operand::Not(name) => (name, true),
            _ => return wrong(line, "a predicate is expected"),
        };
        Ok(Guard {
            register: self.predicate(name, line)?,
            is_negated,
        })
    }

    fn mode(words: &mut Words) -> Mode {
        Mode {
            flushes: words.has("ftz"),
            saturates: words.has("sat"),
            is_approximate: words.has("approx") | words.has("full"),
            rounding: words.rounding().unwrap_or(Rounding::Nearest),
        }
    }

    fn floating(
        &mut self,
        op: Floating,
        of: Type,
        mode: Mode,
        count: u8,
        operands: &mut Operands,
    ) -> Result<(Class, What)> {
        let to = self.to(operands)?.0;
        let mut values = [NONE; 3];
        for value in &mut values[..usize::from(count)] {
            *value = self.value(operands, of)?;
        }
        let class = if mode.is_approximate {
            Class::Special
        } else {
            class_of(of)
        };
        if of.bits == 64 && op == Floating::Fma && mode.rounding != Rounding::Nearest {
            return wrong(operands.line, "a 64-bit fma is known only as .rn");
        }
        let what = What::Floating {
            op,
            of,
            mode,
            to,
            operands: values,
            count,
        };
        Ok((class, what))
    }

    fn whole2(
        &mut self,
        op: Whole2,
        of: Type,
        saturates: bool,
        operands: &mut Operands,
    ) -> Result<(Class, What)> {
        let to = self.to(operands)?.0;
        let a = self.value(operands, of)?;
        let by = match op {
            Whole2::ShiftLeft | Whole2::ShiftRight => Type::named("u32").expect("a type"),
            _ => of,
        };
        let b = self.value(operands, by)?;
        Ok((
            Class::Integer,
            What::Whole2 {
                op,
                of,
                saturates,
                to,
                a,
                b,
            },
        ))
    }

    fn special(name: &str) -> Option<Special> {
        let dimension = |rest: &str| match rest {
            "x" => Some(0),
            "y" => Some(1),
            "z" => Some(2),
            _ => None,
        };
        let name = name.strip_prefix('%')?;
        if let Some((first, rest)) = name.split_once('.') {
            let dimension = dimension(rest)?;
            return Some(match first {
                "tid" => Special::Thread(dimension),
                "ntid" => Special::Threads(dimension),
                "ctaid" => Special::Block(dimension),
                "nctaid" => Special::Blocks(dimension),
                _ => return None,
            });
        }
        Some(match name {
            "laneid" => Special::Lane,
            "warpid" => Special::Warp,
            "nwarpid" => Special::Warps,
            "lanemask_eq" => Special::LaneMask(Comparison::Equal),
            "lanemask_lt" => Special::LaneMask(Comparison::Less),
            "lanemask_le" => Special::LaneMask(Comparison::LessEqual),
            "lanemask_gt" => Special::LaneMask(Comparison::Greater),
            "lanemask_ge" => Special::LaneMask(Comparison::GreaterEqual),
            "smid" => Special::Processor,
            "nsmid" => Special::Processors,
            "gridid" => Special::Grid,
            "clock" => Special::Clock { bits: 32 },
            "clock64" => Special::Clock { bits: 64 },
            "globaltimer" => Special::Time,
            "dynamic_smem_size" => Special::DynamicShared,
            "total_smem_size" => Special::TotalShared,
            _ => return None,
        })
    }

    fn moved(&mut self, words: &mut Words, operands: &mut Operands) -> Result<(Class, What)> {
        let of = words.one_type()?;
        let line = operands.line;
        let (target, from) = (operands.next()?, operands.next()?);
        if let parse::Operand::Vector(parts) = target {
            let parts = parts.iter().map(|part| self.perhaps_to(part, line));
            let parts: Box<[Option<Register>]> = parts.collect::<Result<_>>()?;
            let from = self.value_of(from, of, line)?;
            let bits = of.width() / parts.len().max(1) as u32;
            return Ok((Class::Move, What::Unpack { parts, bits, from }));
        }
        let to = self.register_of(target, line)?.0;
        let what = match from {
            parse::Operand::Vector(parts) => {
                let bits = of.width() / parts.len().max(1) as u32;
                let part_type = Type {
                    kind: Kind::Bits,
                    bits: bits as u8,
                    packed: 1,
                };
                let parts = parts
                    .iter()
                    .map(|part| self.value_of(part, part_type, line));
                let parts: Box<[Operand]> = parts.collect::<Result<_>>()?;
                What::Pack { to, bits, parts }
            }
            parse::Operand::Name(name) | parse::Operand::Sum(name, _) => {
                let offset = match from {
                    parse::Operand::Sum(_, offset) => *offset,
                    _ => 0,
                };
                if let Some(which) = Self::special(name) {
                    What::Special { to, which }
                } else if name == "WARP_SZ" {
                    What::Special {
                        to,
                        which: Special::WarpSize,
                    }
                } else {
                    self.address_of(name, offset, to, line)?
                }
            }
            _ => What::Move {
                to,
                from: self.value_of(from, of, line)?,
            },
        };
        Ok((Class::Move, what))
    }

    /// A register's value, or the address of what a name means.
    fn address_of(&mut self, name: &str, offset: i64, to: Register, line: u32) -> Result<What> {
        let immediate = |address: u64| What::Move {
            to,
            from: Operand::Immediate(address.wrapping_add_signed(offset)),
        };
        Ok(match self.look_up(name) {
            Some(Local::Register(register, _)) => What::Move {
                to,
                from: Operand::Register(register),
            },
            Some(Local::Slot(slot)) => What::FrameAddress {
                to,
                offset: u64::from(slot.offset).wrapping_add_signed(offset),
            },
            Some(Local::Parameter(slot)) => immediate(slot.offset.into()),
            Some(Local::Shared(address)) => {
                self.uses.shared.push(address);
                immediate(address)
            }
            None => match self.symbols.get(name) {
                Some(Symbol::Variable(space, address)) => {
                    if *space == Space::Shared {
                        self.uses.shared.push(*address);
                    }
                    immediate(*address)
                }
                Some(Symbol::Function(index)) => {
                    self.uses.callees.push(*index);
                    immediate(windows::CODE | *index as u64)
                }
                None => return wrong(line, format!("{name} is not defined")),
            },
        })
    }

    fn conversion(&mut self, words: &mut Words, operands: &mut Operands) -> Result<(Class, What)> {
        let whole = words.whole_rounding();
        let mut mode = Self::mode(words);
        let types = words.types();
        let [into, of] = types[..] else {
            return words.unknown();
        };
        if of.packed > 1 || of.kind == Kind::Predicate || into.kind == Kind::Predicate {
            return words.unknown();
        }
        let is_rounded_to_whole = whole.is_some();
        if let Some(rounding) = whole {
            mode.rounding = rounding;
        }
        if of.is_float() && into.is_whole() && !is_rounded_to_whole {
            return wrong(
                operands.line,
                "a conversion to a whole number has to say how to round",
            );
        }
        let to = self.to(operands)?.0;
        let first = self.value(operands, of)?;
        // Of two packed values the first is the upper one.
        let (from, upper) = if into.packed > 1 {
            (self.value(operands, of)?, Some(first))
        } else {
            (first, None)
        };
        let what = What::Convert {
            to,
            from,
            into,
            of,
            mode,
            is_rounded_to_whole,
            upper,
        };
        Ok((Class::Convert, what))
    }

    fn address_conversion(
        &mut self,
        words: &mut Words,
        operands: &mut Operands,
    ) -> Result<(Class, What)> {
        let is_from = words.has("to");
        let space = words.space();
        let of = words.one_type()?;
        let line = operands.line;
        let to = self.to(operands)?.0;
        let operand = operands.next()?;
        if is_from {
            let from = self.value_of(operand, of, line)?;
            return Ok((Class::Move, What::FromGeneric { to, from, space }));
        }
        let (name, offset) = match operand {
            parse::Operand::Name(name) => (Some(name), 0),
            parse::Operand::Sum(name, offset) => (Some(name), *offset),
            _ => (None, 0),
        };
        let (from, in_frame) = match name {
            None => (self.value_of(operand, of, line)?, false),
            Some(name) => match self.address_of(name, offset, to, line)? {
                What::Move { from, .. } => (from, false),
                What::FrameAddress { offset, .. } => (Operand::Immediate(offset), true),
                _ => return words.unknown(),
            },
        };
        // In functions parameters lie in the frame.
        let space = if space == Space::Param && !self.is_entry {
            Space::Local
        } else {
            space
        };
        Ok((
            Class::Move,
            What::ToGeneric {
                to,
                from,
                in_frame,
                space,
            },
        ))
    }

    fn call(
        &mut self,
        words: &mut Words,
        operands: &mut Operands,
        line: u32,
    ) -> Result<(Class, What)> {
        words.has("uni");
        let mut operand = operands.next()?;
        let results = match operand {
            parse::Operand::Group(results) => {
                operand = operands.next()?;
                self.slots(results, line)?
            }
            _ => Box::default(),
        };
        let parse::Operand::Name(name) = operand else {
            return wrong(line, "a function is expected");
        };
        let mut arguments = Box::default();
        while operands.left() > 0 {
            match operands.next()? {
                parse::Operand::Group(all) => arguments = self.slots(all, line)?,
                // The prototype of an indirect call.
                parse::Operand::Name(_) => {}
                _ => return wrong(line, "arguments are expected"),
            }
        }
        let callee = match (self.look_up(name), self.symbols.get(name)) {
            (Some(Local::Register(register, _)), _) => Callee::Register(register),
            (_, Some(Symbol::Function(index))) => {
                let callee = &self.module.functions[*index];
                if callee.body.is_some() {
                    self.uses.callees.push(*index);
                    let callee = &self.program.functions[*index];
                    let sizes =
                        |slots: &[Slot]| slots.iter().map(|slot| slot.bytes).collect::<Vec<_>>();
                    if sizes(&callee.params) != sizes(&arguments)
                        || (!results.is_empty() && sizes(&callee.returns) != sizes(&results))
                    {
                        return wrong(
                            line,
                            format!("{name} is called with other parameters than its own"),
                        );
                    }
                    Callee::Function(*index as u32)
                } else if name == "vprintf" {
                    Callee::Print
                } else if name == "__assertfail" {
                    Callee::Assert
                } else {
                    return wrong(line, format!("the function {name} is not defined"));
                }
            }
            _ => return wrong(line, format!("the function {name} is not defined")),
        };
        Ok((
            Class::Control,
            What::Call {
                callee,
                arguments,
                results,
            },
        ))
    }

    fn slots(&self, names: &[parse::Operand], line: u32) -> Result<Box<[Slot]>> {
        let slots = names.iter().map(|name| match name {
            parse::Operand::Name(name) => match self.look_up(name) {
                Some(Local::Slot(slot)) => Ok(slot),
                _ => wrong(line, format!("{name} is no parameter of a call")),
            },
            _ => wrong(line, "a parameter of a call is expected"),
        });
        slots.collect()
    }
}
