//! What functions do with memory that can be told by themselves: *leaves* access memory of the calling thread's own, what
//! their parameters lead to, and a few small variables; and they call others, of which the run time finds out the same. They
//! synchronise nothing, and no exception leaves them unless it leaves one that they call.

use std::collections::HashSet;

use okl_abi::{Effects, REST};

use super::memory::base_of;
use super::runtime;
use super::sections::Dependence;
use super::sections::calls::{Effect, effect, read_by_message};
use super::sections::places::Places;
use crate::llvm::{Call, Function, Instruction, Module, Opcode, Value};
use crate::marks::{ENTRY, is_for_ranks, is_plain, name_for_ranks};

/// A function that accesses more variables may access anything.
const MOST_OBJECTS: usize = 64;
/// Most addresses that one is chosen from.
const MOST_CHOICES: usize = 32;

/// What a leaf does.
pub struct Leaf<'m> {
    /// Bits: the parameters through which it accesses memory; the bit [`REST`] stands for all from there on.
    pub parameters: u8,
    /// Variables that it may access.
    pub objects: Vec<Value<'m>>,
    /// What it calls.
    pub calls: Vec<Called<'m>>,
}

/// A function that is called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Called<'m> {
    /// The function.
    pub callee: Function<'m>,
    /// See [`Dependence::is_forwarded`].
    pub is_forwarded: bool,
    /// See [`Dependence::arguments`].
    pub arguments: [u8; REST + 1],
}

impl<'m> Called<'m> {
    /// Of a call.
    pub fn of(one: &Dependence<'m>) -> Self {
        Self {
            callee: one.callee,
            is_forwarded: one.is_forwarded,
            arguments: one.arguments,
        }
    }
}

/// What a function does, if it is a leaf.
pub fn leaf<'m>(module: &'m Module, function: Function<'m>) -> Option<Leaf<'m>> {
    if let Some(version) = version_for_ranks(function) {
        return Some(Leaf {
            parameters: 0,
            objects: Vec::new(),
            calls: vec![Called {
                callee: version,
                is_forwarded: false,
                arguments: std::array::from_fn(|index| index as u8),
            }],
        });
    }
    let places = Places::of(module, function, false);
    if places.leaked().is_some() {
        return None;
    }
    let mut found = Finder {
        module,
        places,
        leaf: Leaf {
            parameters: 0,
            objects: Vec::new(),
            calls: Vec::new(),
        },
    };
    for at in function.instructions() {
        found.look_at(at)?;
    }
    (found.leaf.objects.len() <= MOST_OBJECTS).then_some(found.leaf)
}

/// What a function that chooses between two versions calls on several ranks, whatever has been inlined for one.
fn version_for_ranks(function: Function<'_>) -> Option<Function<'_>> {
    if !ENTRY.is_on(function) {
        return None;
    }
    let instructions = function.instructions().into_iter();
    let callees = instructions.filter_map(|at| at.as_call()?.callee_function());
    let name = name_for_ranks(&function.name());
    let mut versions = callees.filter(|one| is_for_ranks(*one) && one.name() == name);
    versions.next()
}

struct Finder<'m> {
    module: &'m Module,
    places: Places<'m>,
    leaf: Leaf<'m>,
}

impl<'m> Finder<'m> {
    /// `None` where an instruction is not of a leaf.
    fn look_at(&mut self, at: Instruction<'m>) -> Option<()> {
        let call = (*at).as_call();
        if let Some(call) = call {
            // A process on several ranks does not run it.
            if call.callee_function().is_some_and(is_plain) {
                return Some(());
            }
            if let Some(function) = runtime::function(call) {
                return match function.has(Effects::QUIET) {
                    true => self.access_all(call.arguments()),
                    false if function.name == okl_abi::f::okl_mpi_touch.name => {
                        self.access_all(call.arguments())
                    }
                    false => None,
                };
            }
        }
        match effect(self.module, &self.places, at) {
            Effect::Nothing => Some(()),
            Effect::Accesses(list) => {
                let mut list = list.iter();
                list.try_for_each(|one| self.access(one.address))
            }
            Effect::Depends(one) => self.add(*one),
            Effect::Calls(_) => self.call(call?),
            Effect::Shares | Effect::Synchronises => None,
            Effect::Spoils(_) => {
                let call = call?;
                match call.callee_function()?.is_declaration() {
                    true => self.library(call),
                    false => self.call(call),
                }
            }
        }
    }

    /// A function of this module.
    fn call(&mut self, call: Call<'m>) -> Option<()> {
        let arguments = call.arguments().into_iter().enumerate();
        for (index, argument) in arguments {
            if call.is_by_value(index) {
                self.access(argument)?;
            }
        }
        let callee = call.callee_function()?;
        self.add(Dependence::of(&self.places, call, callee, String::new()))
    }

    /// A function of the C library.
    fn library(&mut self, call: Call<'m>) -> Option<()> {
        let callee = call.callee_function()?;
        let name = callee.name();
        if name.starts_with("llvm.va_start") || name.starts_with("llvm.va_end") {
            return self.access_all(call.arguments());
        }
        if let Some(read) = read_by_message(call, &name) {
            if name.starts_with('v') {
                // What the variable arguments lead to.
                self.leaf.parameters |= 1 << REST;
            }
            return self.access_all(read);
        }
        super::library::accesses_arguments_only(&name).then_some(())?;
        self.access_all(call.arguments())
    }

    fn access_all(&mut self, addresses: Vec<Value<'m>>) -> Option<()> {
        let mut pointers = addresses.into_iter().filter(|one| one.ty().is_pointer());
        pointers.try_for_each(|one| self.access(one))
    }

    /// Notes that memory is accessed.
    fn access(&mut self, address: Value<'m>) -> Option<()> {
        let mut seen = HashSet::new();
        let mut rest = vec![address];
        while let Some(address) = rest.pop() {
            if self.places.is_own(address) || address.is_null() || !seen.insert(address) {
                continue;
            }
            if seen.len() > MOST_CHOICES {
                return None;
            }
            let base = base_of(address);
            if let Some(index) = self.places.parameter(base) {
                self.leaf.parameters |= 1 << index.min(REST);
                continue;
            }
            if base.as_global().is_some() {
                self.places.small_variable(base)?;
                self.add_object(base);
                continue;
            }
            let at = base.as_instruction()?;
            match at.opcode() {
                Opcode::LLVMSelect => rest.extend([at.operand(1), at.operand(2)]),
                Opcode::LLVMPHI => rest.extend(at.incoming().into_iter().map(|(one, _)| one)),
                _ => return None,
            }
        }
        Some(())
    }

    fn add_object(&mut self, object: Value<'m>) {
        if !self.leaf.objects.contains(&object) {
            self.leaf.objects.push(object);
        }
    }

    fn add(&mut self, one: Dependence<'m>) -> Option<()> {
        for direct in &one.direct {
            self.add_object(direct.object);
        }
        let call = Called::of(&one);
        if !self.leaf.calls.contains(&call) {
            self.leaf.calls.push(call);
        }
        Some(())
    }
}
