//! The body of a loop over a set: what its addresses point to, and whether it keeps to its arguments.

use std::collections::{HashMap, HashSet};

use crate::analysis::library::is_mathematics;
use crate::ir::Parameter;
use crate::llvm::{Block, Function, Intrinsic, Module, Opcode, Type, Value};

/// What a body can address component by component.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Object<'m> {
    /// An element of an argument, by the numbers of the argument and of the map's column.
    Element(usize, i64),
    /// A variable of the body's own.
    Variable(Value<'m>),
}

/// What an address is computed from.
pub enum Root {
    /// Anything.
    Unknown,
    /// A variable of the body's own.
    Variable,
    /// A global variable.
    Global,
    /// An argument.
    Parameter(usize),
}

/// A body and what is known of its arguments.
pub struct Kernel<'a, 'm> {
    /// The module that it is in.
    pub module: &'m Module,
    /// The function.
    pub function: Function<'m>,
    /// What it gets.
    pub arguments: &'a [Parameter<'a>],
    parameters: HashMap<Value<'m>, usize>,
}

impl<'a, 'm> Kernel<'a, 'm> {
    /// A function of the module that gets these arguments.
    pub fn of(module: &'m Module, function: Function<'m>, arguments: &'a [Parameter<'a>]) -> Self {
        let parameters = function.parameters();
        assert!(parameters.len() == arguments.len());
        Self {
            module,
            function,
            arguments,
            parameters: parameters.into_iter().zip(0..).collect(),
        }
    }

    /// The argument that an object is an element of.
    pub fn argument(&self, object: Object<'m>) -> Option<&'a Parameter<'a>> {
        match object {
            Object::Element(at, _) => Some(&self.arguments[at]),
            Object::Variable(_) => None,
        }
    }

    /// The type of an object's components. Of what a variable consists, only its use says.
    pub fn type_of(&self, object: Object<'m>) -> Option<Type<'m>> {
        let argument = self.argument(object)?;
        Some(argument.element().scalar.ty(self.module))
    }

    /// The object that an address of the body points to, and the byte in it; nothing where that is not known.
    pub fn place(&self, pointer: Value<'m>) -> Option<(Object<'m>, i64)> {
        let (base, offset) = pointer.constant_offset(self.module);
        if let Some(&at) = self.parameters.get(&base) {
            let is_table = self.arguments[at].is_table();
            return (!is_table).then_some((Object::Element(at, 0), offset));
        }
        let instruction = base.as_instruction()?;
        match instruction.opcode() {
            Opcode::LLVMLoad => {
                let (table, slot) = instruction.operand(0).constant_offset(self.module);
                let &at = self.parameters.get(&table)?;
                let argument = &self.arguments[at];
                let column = slot / 8;
                let is_column = argument.is_table()
                    && slot % 8 == 0
                    && (0..argument.elements()).contains(&column);
                is_column.then_some((Object::Element(at, column), offset))
            }
            Opcode::LLVMAlloca => Some((Object::Variable(base), offset)),
            _ => None,
        }
    }

    /// What an address is computed from, wherever it points to.
    pub fn root(&self, pointer: Value<'m>) -> Root {
        let base = pointer.underlying_object();
        if base.is_global_value() {
            return Root::Global;
        }
        if let Some(&at) = self.parameters.get(&base) {
            return Root::Parameter(at);
        }
        let Some(instruction) = base.as_instruction() else {
            return Root::Unknown;
        };
        match instruction.opcode() {
            Opcode::LLVMAlloca => Root::Variable,
            Opcode::LLVMLoad => {
                let table = instruction.operand(0).underlying_object();
                match self.parameters.get(&table) {
                    Some(&at) if self.arguments[at].is_table() => Root::Parameter(at),
                    _ => Root::Unknown,
                }
            }
            _ => Root::Unknown,
        }
    }

    /// The blocks that control may come to, each behind those it follows where there are no loops.
    pub fn order(&self) -> Vec<Block<'m>> {
        in_order(self.function.blocks()[0])
    }

    /// Whether it changes nothing but its arguments, and does the same on every thread; and if not, why.
    pub fn keeps_to_arguments(&self) -> Result<(), String> {
        let is_own = |pointer| matches!(self.root(pointer), Root::Variable | Root::Parameter(_));
        for instruction in self.function.instructions() {
            // Functions that other files define too, as `inline` ones, have no attribute that says so of all.
            if instruction.may_throw() {
                return Err("the kernel may throw an exception".into());
            }
            if instruction.is_volatile_or_atomic() {
                return Err("the kernel accesses memory that others see change".into());
            }
            if let Some(call) = instruction.as_call() {
                let intrinsic = call.intrinsic().map(Intrinsic::name).unwrap_or_default();
                if intrinsic == "llvm.threadlocal.address" {
                    return Err("the kernel has variables of its thread".into());
                }
                if says_nothing(&intrinsic) {
                    continue;
                }
                let is_other = |one: &Value<'m>| one.ty().is_pointer() && !is_own(*one);
                let writes = call.writes_elsewhere()
                    || call.writes_arguments() && call.arguments().iter().any(is_other);
                if writes {
                    let callee = call.callee().as_function();
                    let callee = callee.map_or("a pointer".into(), |callee| callee.name());
                    return Err(format!("the kernel calls {callee}"));
                }
            } else if instruction.opcode() == Opcode::LLVMStore {
                if !is_own(instruction.operand(1)) {
                    return Err("the kernel writes memory that is not an argument".into());
                }
            } else if instruction.may_write() {
                let name = instruction.opcode_name();
                return Err(format!("the kernel has an instruction '{name}'"));
            }
        }
        Ok(())
    }

    /// Whether it reads nothing but its arguments and variables that it names, and if not, why. It keeps to its arguments.
    pub fn reads_known_memory(&self) -> Result<(), String> {
        let is_known = |pointer| !matches!(self.root(pointer), Root::Unknown);
        for instruction in self.function.instructions() {
            let Some(call) = instruction.as_call() else {
                let is_read = instruction.opcode() == Opcode::LLVMLoad;
                if is_read && !is_known(instruction.operand(0)) {
                    return Err("the kernel reads memory that is no argument".into());
                }
                continue;
            };
            let intrinsic = call.intrinsic().map(Intrinsic::name).unwrap_or_default();
            let name = call.callee_name();
            let reads_nothing = !call.accesses_memory()
                || says_nothing(&intrinsic)
                || is_mathematics(&name) && call.is_of_library();
            let mut operands = call.arguments().into_iter();
            let is_copy = Memory::of(&intrinsic).is_some()
                && operands.all(|one| !one.ty().is_pointer() || is_known(one));
            if !reads_nothing && !is_copy {
                return Err(format!("the kernel calls {name}"));
            }
        }
        Ok(())
    }
}

/// Whether an intrinsic only tells the optimiser or a debugger something.
pub fn says_nothing(intrinsic: &str) -> bool {
    matches!(
        intrinsic,
        "llvm.assume"
            | "llvm.experimental.noalias.scope.decl"
            | "llvm.lifetime.start"
            | "llvm.lifetime.end"
    ) || intrinsic.starts_with("llvm.dbg.")
}

/// What an intrinsic does to memory: copies or fills.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// From its second argument to its first one.
    Copies,
    /// Its first argument.
    Fills,
}

impl Memory {
    /// Of an intrinsic with this name.
    pub fn of(intrinsic: &str) -> Option<Self> {
        match intrinsic {
            "llvm.memcpy" | "llvm.memcpy.inline" | "llvm.memmove" => Some(Self::Copies),
            "llvm.memset" | "llvm.memset.inline" => Some(Self::Fills),
            _ => None,
        }
    }
}

fn in_order(entry: Block<'_>) -> Vec<Block<'_>> {
    let mut seen = HashSet::from([entry]);
    let mut open = vec![(entry, entry.successors().into_iter())];
    let mut order = Vec::new();
    while let Some((block, rest)) = open.last_mut() {
        match rest.next() {
            Some(next) if seen.insert(next) => open.push((next, next.successors().into_iter())),
            Some(_) => {}
            None => {
                order.push(*block);
                open.pop();
            }
        }
    }
    order.reverse();
    order
}
