//! The body of a loop over a set: what it accesses by its parameters.

use std::collections::{HashMap, HashSet};

use crate::ir::Parameter;
use crate::llvm::{Block, Function, Instruction, Intrinsic, Module, Opcode, Type, Value};
use crate::lower::elements::{elements_of, type_of};

/// A component of an object: its values of the element of each lane.
#[derive(Clone, Copy, Default)]
pub struct Cell<'m> {
    /// A vector; nothing before the first use.
    pub now: Option<Value<'m>>,
    /// Of a reduction: the phi of its value before these elements.
    pub carried: Option<Value<'m>>,
    pub is_written: bool,
    /// Written by some lanes only.
    pub is_conditional: bool,
}

/// What the body can address: the element of an argument, or a variable of its own.
pub struct Object<'m> {
    /// Nothing of a variable of the body's own.
    pub argument: Option<usize>,
    pub column: i64,
    /// Of each cell. What a variable is made of, its use says.
    pub ty: Option<Type<'m>>,
    pub cells: Vec<Cell<'m>>,
}

/// What an address is computed from.
enum Root {
    Unknown,
    Variable,
    Global,
    Parameter(usize),
}

/// A body and what is known of its arguments.
pub struct Body<'a, 'm> {
    pub module: &'m Module,
    pub kernel: Function<'m>,
    pub arguments: Vec<Parameter<'a>>,
    /// Its blocks, each behind those it follows, but for loops.
    pub order: Vec<Block<'m>>,
    pub objects: Vec<Object<'m>>,
    /// The `alloca`s that are objects.
    pub of_variable: HashMap<Value<'m>, usize>,
    of_argument: HashMap<(usize, i64), usize>,
    parameters: HashMap<Value<'m>, usize>,
}

const NOT_ONLY_ADDED: &str = "it does more than add to what it shall increment";

impl<'a, 'm> Body<'a, 'm> {
    pub fn of(module: &'m Module, kernel: Function<'m>, arguments: Vec<Parameter<'a>>) -> Self {
        let parameters = kernel.parameters();
        assert!(parameters.len() == arguments.len());
        Self {
            module,
            kernel,
            arguments,
            order: in_order(kernel.blocks()[0]),
            objects: Vec::new(),
            of_variable: HashMap::new(),
            of_argument: HashMap::new(),
            parameters: parameters.into_iter().zip(0..).collect(),
        }
    }

    /// The argument of an object.
    pub fn argument(&self, object: usize) -> Option<Parameter<'a>> {
        self.objects[object].argument.map(|at| self.arguments[at])
    }

    /// The object that an address of the body points to, and the byte in it; nothing where that is not known.
    pub fn place(&mut self, pointer: Value<'m>) -> Option<(usize, i64)> {
        let (base, offset) = pointer.constant_offset(self.module);
        if let Some(&at) = self.parameters.get(&base) {
            let is_table = self.arguments[at].is_table();
            return (!is_table).then(|| (self.object(at, 0), offset));
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
                    && (0..elements_of(argument)).contains(&column);
                is_column.then(|| (self.object(at, column), offset))
            }
            Opcode::LLVMAlloca => {
                let objects = &mut self.objects;
                let object = *self.of_variable.entry(base).or_insert_with(|| {
                    objects.push(Object {
                        argument: None,
                        column: 0,
                        ty: None,
                        cells: Vec::new(),
                    });
                    objects.len() - 1
                });
                Some((object, offset))
            }
            _ => None,
        }
    }

    fn object(&mut self, at: usize, column: i64) -> usize {
        let (module, element) = (self.module, self.arguments[at].element());
        let objects = &mut self.objects;
        *self.of_argument.entry((at, column)).or_insert_with(|| {
            objects.push(Object {
                argument: Some(at),
                column,
                ty: Some(type_of(module, element.scalar)),
                cells: vec![Cell::default(); element.components as usize],
            });
            objects.len() - 1
        })
    }

    fn root(&self, pointer: Value<'m>) -> Root {
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

    /// Whether it changes nothing but its arguments, and does the same on every thread; and if not, why.
    pub fn keeps_to_arguments(&self) -> Result<(), String> {
        let is_own = |pointer| matches!(self.root(pointer), Root::Variable | Root::Parameter(_));
        for instruction in self.kernel.instructions() {
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

    /// Whether all that it does to an argument is to add to it: then what it adds to zero can be added later.
    pub fn only_increments(&mut self, at: usize) -> Result<(), String> {
        let mut sums = Sums {
            at,
            of: HashMap::new(),
        };
        for block in self.order.clone() {
            for instruction in block.instructions() {
                if !sums.follow(self, instruction) {
                    return Err(NOT_ONLY_ADDED.into());
                }
            }
        }
        // What comes together is the same sum on every way, or none.
        for block in &self.order {
            for phi in block.phis() {
                let of = sums.of.get(&*phi);
                if phi.incoming().iter().any(|(one, _)| sums.of.get(one) != of) {
                    return Err(NOT_ONLY_ADDED.into());
                }
            }
        }
        Ok(())
    }
}

/// Whether an intrinsic only tells the optimiser or a debugger something.
pub fn says_nothing(intrinsic: &str) -> bool {
    matches!(
        intrinsic,
        "llvm.assume" | "llvm.lifetime.start" | "llvm.lifetime.end"
    ) || intrinsic.starts_with("llvm.dbg.")
}

/// What an intrinsic does to memory: copies or fills.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    Copies,
    Fills,
}

impl Memory {
    pub fn of(intrinsic: &str) -> Option<Self> {
        match intrinsic {
            "llvm.memcpy" | "llvm.memcpy.inline" | "llvm.memmove" => Some(Self::Copies),
            "llvm.memset" | "llvm.memset.inline" => Some(Self::Fills),
            _ => None,
        }
    }
}

/// Values that are what an argument was before, and what was added to it.
struct Sums<'m> {
    /// The argument.
    at: usize,
    /// The object and the byte in it that each is a sum of.
    of: HashMap<Value<'m>, (usize, i64)>,
}

impl<'m> Sums<'m> {
    /// Where in the argument an address is, or nothing where it is in none of it. `Err` where it may be in it and its
    /// place is not known.
    fn shared(
        &self,
        body: &mut Body<'_, 'm>,
        pointer: Value<'m>,
    ) -> Result<Option<(usize, i64)>, ()> {
        if let Some(place) = body.place(pointer) {
            let is_own = body.objects[place.0].argument == Some(self.at);
            return Ok(is_own.then_some(place));
        }
        match body.root(pointer) {
            Root::Unknown => Err(()),
            Root::Parameter(at) if at == self.at => Err(()),
            _ => Ok(None),
        }
    }

    /// Whether an instruction only adds.
    fn follow(&mut self, body: &mut Body<'_, 'm>, instruction: Instruction<'m>) -> bool {
        let value = *instruction;
        match instruction.opcode() {
            Opcode::LLVMLoad => {
                return match self.shared(body, instruction.operand(0)) {
                    Ok(Some(place)) => {
                        self.of.insert(value, place);
                        true
                    }
                    Ok(None) => true,
                    Err(()) => value.ty().is_pointer(),
                };
            }
            Opcode::LLVMStore => match self.shared(body, instruction.operand(1)) {
                Ok(None) => {}
                Ok(place) => return self.of.get(&instruction.operand(0)).copied() == place,
                Err(()) => return false,
            },
            _ => {}
        }
        let call = instruction.as_call();
        let intrinsic = call.and_then(|call| call.intrinsic());
        let intrinsic = intrinsic.map(Intrinsic::name).unwrap_or_default();
        if let Some(call) = call {
            let pointers: Vec<_> = match Memory::of(&intrinsic) {
                Some(Memory::Copies) => call.arguments()[..2].to_vec(),
                Some(Memory::Fills) => call.arguments()[..1].to_vec(),
                None if intrinsic.starts_with("llvm.lifetime.") => Vec::new(),
                None => call.arguments(),
            };
            let mut pointers = pointers.into_iter().filter(|one| one.ty().is_pointer());
            if pointers.any(|one| self.shared(body, one) != Ok(None)) {
                return false;
            }
        }
        let operands = instruction.operands();
        let used = operands.iter().filter_map(|one| self.of.get(one).copied());
        let used: Vec<_> = used.collect();
        let Some(&first) = used.first() else {
            return true;
        };
        let is_sum = |at: usize| self.of.contains_key(&operands[at]);
        let is_first = |at: usize| self.of.get(&operands[at]) == Some(&first);
        let is_right = match instruction.opcode() {
            Opcode::LLVMFAdd | Opcode::LLVMAdd => used.len() == 1,
            Opcode::LLVMFSub | Opcode::LLVMSub => used.len() == 1 && is_sum(0),
            // A sum in another type, as where a double is added to a float.
            Opcode::LLVMFPExt | Opcode::LLVMSExt | Opcode::LLVMZExt => true,
            // Where as many bits are left as the argument has, what is lost is lost again with the next sum.
            Opcode::LLVMFPTrunc | Opcode::LLVMTrunc => {
                let of = body.objects[first.0].ty;
                let bits = |ty: Type<'m>| match ty.bits() {
                    Some(bits) => u64::from(bits),
                    None => body.module.store_size_of(ty) * 8,
                };
                of.is_some_and(|of| bits(value.ty()) >= bits(of))
            }
            Opcode::LLVMSelect => is_first(1) && is_first(2),
            // What comes from the end of a loop is known later.
            Opcode::LLVMPHI => true,
            Opcode::LLVMCall => {
                matches!(&*intrinsic, "llvm.fmuladd" | "llvm.fma") && used.len() == 1 && is_sum(2)
            }
            _ => false,
        };
        self.of.insert(value, first);
        is_right
    }
}

/// The blocks that control may come to, each behind those it follows where there are no loops.
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
