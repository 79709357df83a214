//! Instructions that access memory: where, in which order with others, and how many elements.

use super::{NONE, Operands};
use crate::decode::words::Words;
use crate::decode::{Decoder, Local, Result, Symbol, wrong};
use crate::parse::{self, Space};
use crate::program::{Address, Class, Operand, Order, Update, What};
use crate::types::{Kind, Type};

impl Decoder<'_> {
    pub(super) fn address(&mut self, operands: &mut Operands, space: Space) -> Result<Address> {
        let operand = operands.next()?;
        self.address_in(operand, space, operands.line)
    }

    pub(super) fn address_in(
        &mut self,
        operand: &parse::Operand,
        space: Space,
        line: u32,
    ) -> Result<Address> {
        let parse::Operand::Address(name, offset) = operand else {
            return wrong(line, "an address is expected");
        };
        let offset = *offset;
        // Parameters of functions, and what calls are given, lie in the frame.
        let in_function = if space == Space::Param && !self.is_entry {
            Space::Local
        } else {
            space
        };
        let Some(name) = name else {
            return Ok(Address {
                space: in_function,
                base: NONE,
                offset,
                in_frame: false,
            });
        };
        let at = |space, address, in_frame| Address {
            space,
            base: Operand::Immediate(address),
            offset,
            in_frame,
        };
        Ok(match self.look_up(name) {
            Some(Local::Register(register, _)) => Address {
                space: in_function,
                base: Operand::Register(register),
                offset,
                in_frame: false,
            },
            Some(Local::Slot(slot)) => at(Space::Local, slot.offset.into(), true),
            Some(Local::Parameter(slot)) => at(Space::Param, slot.offset.into(), false),
            Some(Local::Shared(address)) => {
                self.uses.shared.push(address);
                at(Space::Shared, address, false)
            }
            None => match self.symbols.get(name) {
                Some(Symbol::Variable(space, address)) => {
                    if *space == Space::Shared {
                        self.uses.shared.push(*address);
                    }
                    at(*space, *address, false)
                }
                _ => return wrong(line, format!("{name} is no variable")),
            },
        })
    }

    pub(super) fn order(words: &mut Words) -> Order {
        let is_volatile = words.has("volatile");
        let relaxed = words.has("relaxed");
        words.has("weak");
        let acquires = words.has("acquire");
        let releases = words.has("release");
        let both = words.has("acq_rel") | words.has("sc");
        words.has("mmio");
        words.scope();
        Order {
            is_atomic: is_volatile || relaxed || acquires || releases || both,
            acquires: acquires || both,
            releases: releases || both,
        }
    }

    pub(super) fn class_of_access(space: Space, is_load: bool) -> Class {
        match (space, is_load) {
            (Space::Generic | Space::Global, true) => Class::GlobalLoad,
            (Space::Generic | Space::Global, false) => Class::GlobalStore,
            (Space::Shared, true) => Class::SharedLoad,
            (Space::Shared, false) => Class::SharedStore,
            (Space::Local, _) => Class::Local,
            (Space::Constant | Space::Param, _) => Class::Parameter,
        }
    }

    pub(super) fn count(words: &mut Words) -> usize {
        if words.has("v2") {
            2
        } else if words.has("v4") {
            4
        } else if words.has("v8") {
            8
        } else {
            1
        }
    }

    /// What a load or a store says: its order, where it goes, how many values, and what they are.
    fn accessed(words: &mut Words) -> Result<(Order, Space, usize, Type)> {
        let order = Self::order(words);
        let space = words.space();
        words.caching();
        let count = Self::count(words);
        Ok((order, space, count, words.one_type()?))
    }

    pub(super) fn load(
        &mut self,
        words: &mut Words,
        operands: &mut Operands,
    ) -> Result<(Class, What)> {
        let (order, space, count, of) = Self::accessed(words)?;
        let line = operands.line;
        let target = operands.next()?;
        let parts = match target {
            parse::Operand::Vector(parts) => &parts[..],
            other => std::slice::from_ref(other),
        };
        if parts.len() != count {
            return wrong(line, "a load has as many registers as parts");
        }
        let mut to = Vec::new();
        for part in parts {
            if matches!(part, parse::Operand::Name(name) if name == "_") {
                to.push(None);
            } else {
                let (register, of) = self.register_of(part, line)?;
                to.push(Some((register, of.width())));
            }
        }
        let address = self.address(operands, space)?;
        let class = Self::class_of_access(
            if space == Space::Param {
                space
            } else {
                address.space
            },
            true,
        );
        Ok((
            class,
            What::Load {
                address,
                of,
                to: to.into(),
                order,
            },
        ))
    }

    pub(super) fn store(
        &mut self,
        words: &mut Words,
        operands: &mut Operands,
    ) -> Result<(Class, What)> {
        let (order, space, count, of) = Self::accessed(words)?;
        let line = operands.line;
        let address = self.address(operands, space)?;
        let source = operands.next()?;
        let parts = match source {
            parse::Operand::Vector(parts) => &parts[..],
            other => std::slice::from_ref(other),
        };
        if parts.len() != count {
            return wrong(line, "a store has as many values as parts");
        }
        let from = parts.iter().map(|part| self.value_of(part, of, line));
        let from = from.collect::<Result<Vec<_>>>()?;
        let class = Self::class_of_access(
            if space == Space::Param {
                space
            } else {
                address.space
            },
            false,
        );
        Ok((
            class,
            What::Store {
                address,
                of,
                from: from.into(),
                order,
            },
        ))
    }

    pub(super) fn update(words: &mut Words) -> Option<Update> {
        words.find(|word| {
            Some(match word {
                "add" => Update::Add,
                "min" => Update::Min,
                "max" => Update::Max,
                "and" => Update::And,
                "or" => Update::Or,
                "xor" => Update::Xor,
                "exch" => Update::Exchange,
                "cas" => Update::CompareAndSwap,
                "inc" => Update::Increment,
                "dec" => Update::Decrement,
                _ => return None,
            })
        })
    }

    pub(super) fn atomic(
        &mut self,
        name: &str,
        words: &mut Words,
        operands: &mut Operands,
    ) -> Result<(Class, What)> {
        let mut order = Self::order(words);
        order.is_atomic = true;
        let space = words.space();
        let Some(op) = Self::update(words) else {
            return words.unknown();
        };
        words.has("noftz");
        let of = words.one_type()?;
        // As PTX says of the device's memory; a block's keeps denormals.
        let flushes = of.kind == Kind::Float && of.bits == 32;
        let line = operands.line;
        let is_known = match of.kind {
            Kind::Float => op == Update::Add,
            Kind::Brain | Kind::Predicate => false,
            _ => matches!(of.width(), 16 | 32 | 64),
        };
        if !is_known {
            return words.unknown();
        }
        let to = if name == "atom" {
            let operand = operands.next()?;
            self.perhaps_to(operand, line)?
        } else {
            None
        };
        let address = self.address(operands, space)?;
        let value = self.value(operands, of)?;
        let other = if op == Update::CompareAndSwap {
            self.value(operands, of)?
        } else {
            NONE
        };
        let what = What::Atomic {
            address,
            op,
            of,
            flushes,
            to,
            value,
            other,
            order,
        };
        Ok((Class::Atomic, what))
    }

    pub(super) fn copy(
        &mut self,
        words: &mut Words,
        operands: &mut Operands,
    ) -> Result<(Class, What)> {
        if !words.has("async") {
            return words.unknown();
        }
        if words.has("commit_group") {
            return Ok((Class::GlobalLoad, What::CopyCommit));
        }
        if words.has("wait_all") {
            return Ok((
                Class::Barrier,
                What::CopyWait {
                    but: 0,
                    is_all: true,
                },
            ));
        }
        let number = Type::named("u32").expect("a type");
        if words.has("wait_group") {
            let Operand::Immediate(but) = self.value(operands, number)? else {
                return wrong(
                    operands.line,
                    "how many groups may be left has to be a number",
                );
            };
            return Ok((Class::Barrier, What::CopyWait { but, is_all: false }));
        }
        words.caching();
        let (is_to, is_from) = (
            words.has("shared") | words.has("shared::cta"),
            words.has("global"),
        );
        if !is_to || !is_from {
            return words.unknown();
        }
        let to = self.address(operands, Space::Shared)?;
        let from = self.address(operands, Space::Global)?;
        let Operand::Immediate(bytes) = self.value(operands, number)? else {
            return wrong(operands.line, "the size of a copy has to be a number");
        };
        if !matches!(bytes, 4 | 8 | 16) {
            return wrong(operands.line, "a copy has 4, 8 or 16 bytes");
        }
        let source_bytes = if operands.left() > 0 {
            self.value(operands, number)?
        } else {
            Operand::Immediate(bytes)
        };
        let bytes = bytes as u32;
        Ok((
            Class::GlobalLoad,
            What::CopyAsync {
                to,
                from,
                bytes,
                source_bytes,
            },
        ))
    }
}
