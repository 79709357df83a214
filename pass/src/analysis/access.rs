//! What a function does through its pointer parameters.

use std::{collections::HashSet, ops::Range};

use super::updates;
use crate::analysis::memory::private_variable;
use crate::ir::{Element, Mode};
use crate::llvm::{Block, Call, Instruction, Module, Opcode, Value};

/// What a body does through a pointer parameter.
#[derive(Default)]
pub struct Uses {
    /// Loads, but for those of updates.
    pub reads: bool,
    /// Stores, but for those of updates.
    pub writes: bool,
    /// Adds to what is there.
    pub increments: bool,
    /// Replaces what is there by the smaller of it and another value.
    pub minimises: bool,
    /// Replaces what is there by the larger of it and another value.
    pub maximises: bool,
    /// The pointer goes where it is not followed: the other answers are the worst.
    pub escapes: bool,
}

/// Calls `visit` with an address, an instruction that uses it, and the list of addresses to go on with, until it returns
/// something; begins with the users of `root`, and takes each address once.
pub fn follow<'m, R>(
    root: Value<'m>,
    mut visit: impl FnMut(Value<'m>, Instruction<'m>, &mut Vec<Value<'m>>) -> Option<R>,
) -> Option<R> {
    let mut rest = vec![root];
    let mut seen = Vec::new();
    while let Some(address) = rest.pop() {
        if seen.contains(&address) {
            continue;
        }
        seen.push(address);
        let users = address.users().into_iter();
        for instruction in users.filter_map(Value::as_instruction) {
            if let Some(found) = visit(address, instruction, &mut rest) {
                return Some(found);
            }
        }
    }
    None
}

/// What a body does through a pointer parameter.
pub fn uses(parameter: Value<'_>) -> Uses {
    let mut uses = Uses::default();
    follow(parameter, |address, instruction, rest| {
        note(&mut uses, rest, address, instruction);
        None::<()>
    });
    uses
}

fn note<'m>(
    uses: &mut Uses,
    rest: &mut Vec<Value<'m>>,
    address: Value<'m>,
    instruction: Instruction<'m>,
) {
    match instruction.opcode() {
        Opcode::LLVMLoad => {
            // A load that only feeds the store of an increment is part of the increment.
            let feeds_increment = |user: &Value<'m>| {
                user.users().iter().all(|store| {
                    store.as_op(Opcode::LLVMStore).is_some_and(|store| {
                        is_same_place(store.operand(1), address) && is_increment(store, address)
                    })
                }) && !user.is_unused()
            };
            uses.reads |= !instruction.users().iter().all(feeds_increment);
        }
        Opcode::LLVMStore if instruction.operand(0) == address => {
            // At -O0 a parameter is first kept in a variable of its own.
            match private_variable(instruction.operand(1)) {
                Some(variable) => rest.extend(
                    variable
                        .users()
                        .into_iter()
                        .filter(|user| user.as_op(Opcode::LLVMLoad).is_some()),
                ),
                None => uses.escape(),
            }
        }
        Opcode::LLVMStore if is_increment(instruction, address) => uses.increments = true,
        Opcode::LLVMStore => uses.writes = true,
        Opcode::LLVMGetElementPtr => {
            rest.push(*instruction);
        }
        Opcode::LLVMAtomicRMW => match updates::atomic(instruction) {
            Mode::Increment => uses.increments = true,
            Mode::Max => uses.maximises = true,
            Mode::Min => uses.minimises = true,
            Mode::Read | Mode::Write | Mode::ReadWrite => uses.escape(),
        },
        Opcode::LLVMICmp => {}
        Opcode::LLVMCall if copied(instruction).is_some() => {
            let operands = instruction.operands();
            uses.writes |= operands[0] == address;
            uses.reads |= operands[1] == address;
        }
        Opcode::LLVMCall | Opcode::LLVMInvoke => match handed_to(address, instruction) {
            Some(parameters) => rest.extend(parameters),
            None => uses.escape(),
        },
        _ => uses.escape(),
    }
}

/// The bytes that an instruction copies or sets, if that is what it does: how many, where they are known.
fn copied(instruction: Instruction<'_>) -> Option<Option<i64>> {
    const NAMES: [&str; 3] = ["llvm.memset.", "llvm.memcpy.", "llvm.memmove."];
    let call: Call<'_> = (*instruction).as_call()?;
    let name = call.callee_name();
    let is_copy = NAMES.iter().any(|prefix| name.starts_with(prefix));
    is_copy.then(|| call.argument(2)?.as_constant_int())
}

/// The bytes behind an address that are read and written, each range once for each instruction.
#[derive(Default)]
pub struct Touched {
    /// Bytes that loads and copies read.
    pub read: Vec<Range<i64>>,
    /// Bytes that stores and copies may write.
    pub written: Vec<Range<i64>>,
    /// Those of both in blocks through which every way to the function's end leads.
    pub surely: Vec<Range<i64>>,
}

impl Touched {
    /// All that is read or written.
    pub fn all(&self) -> impl Iterator<Item = &Range<i64>> {
        self.read.iter().chain(&self.written)
    }
}

/// Whether every way from the beginning of a function to an end leads through a block.
fn is_always_passed(block: Block<'_>) -> bool {
    let blocks = block.terminator().map(|end| end.function().blocks());
    let Some(entry) = blocks.and_then(|blocks| blocks.first().copied()) else {
        return false;
    };
    let (mut rest, mut seen) = (vec![entry], HashSet::from([entry, block]));
    while let Some(one) = rest.pop().filter(|_| entry != block) {
        let next = one.successors();
        if next.is_empty() {
            return false;
        }
        rest.extend(next.into_iter().filter(|one| seen.insert(*one)));
    }
    true
}

/// What a simplified function touches through a pointer; none where that depends on what it computes.
pub fn touched<'m>(module: &'m Module, root: Value<'m>) -> Option<Touched> {
    let mut touched = Touched::default();
    let mut rest = vec![root];
    while let Some(address) = rest.pop() {
        let (base, offset) = address.base_and_offset(module);
        let start = offset.filter(|_| base == root)?;
        let range = |bytes: i64| start..start + bytes;
        for user in address.users() {
            let instruction = user.as_instruction()?;
            let before = (touched.read.len(), touched.written.len());
            match instruction.opcode() {
                Opcode::LLVMLoad => {
                    let bytes = module.store_size_of(instruction.ty());
                    touched.read.push(range(bytes as i64));
                }
                Opcode::LLVMStore if instruction.operand(0) != address => {
                    let bytes = module.store_size_of(instruction.operand(0).ty());
                    touched.written.push(range(bytes as i64));
                }
                Opcode::LLVMGetElementPtr => rest.push(user),
                Opcode::LLVMICmp => {}
                Opcode::LLVMCall => {
                    let bytes = copied(instruction)??;
                    let operands = instruction.operands();
                    if operands[0] == address {
                        touched.written.push(range(bytes));
                    }
                    if operands[1] == address {
                        touched.read.push(range(bytes));
                    }
                }
                _ => return None,
            }
            let read = touched.read[before.0..].iter();
            let new = read.chain(&touched.written[before.1..]).cloned();
            let new: Vec<_> = new.collect();
            if !new.is_empty() && is_always_passed(instruction.block()) {
                touched.surely.extend(new);
            }
        }
    }
    Some(touched)
}

/// For each element the pointers that a simplified kernel has to it by a parameter, with the element's number.
pub type Pointers<'m> = Vec<(i64, Vec<Value<'m>>)>;

/// Of a parameter that points to an element, or to pointers to several; none where it is used in another way.
pub fn pointers<'m>(
    module: &'m Module,
    parameter: Value<'m>,
    is_several: bool,
) -> Option<Pointers<'m>> {
    if !is_several {
        return Some(vec![(0, vec![parameter])]);
    }
    let mut pointers: Pointers<'m> = Vec::new();
    let mut rest = vec![parameter];
    while let Some(address) = rest.pop() {
        for user in address.users() {
            let instruction = user.as_instruction()?;
            match instruction.opcode() {
                Opcode::LLVMGetElementPtr => rest.push(user),
                Opcode::LLVMLoad => {
                    // Any of them: what is done is done to one of them.
                    let (_, column) = address.base_and_offset(module);
                    let column = column.unwrap_or(-1);
                    match pointers.iter_mut().find(|(one, _)| *one == column) {
                        Some((_, all)) => all.push(user),
                        None => pointers.push((column, vec![user])),
                    }
                }
                _ => return None,
            }
        }
    }
    Some(pointers)
}

/// For each element what is touched of it; none where that is not known.
pub fn touched_of_each<'m>(module: &'m Module, pointers: &Pointers<'m>) -> Option<Vec<Touched>> {
    let each = pointers.iter().map(|(column, pointers)| {
        let mut all = Touched::default();
        for pointer in pointers {
            let one = touched(module, *pointer).filter(|_| *column >= 0)?;
            all.read.extend(one.read);
            all.written.extend(one.written);
            all.surely.extend(one.surely);
        }
        Some(all)
    });
    each.collect()
}

/// A component that a kernel uses of an element, and that it does not have.
pub fn outside<'a>(
    element: Element,
    mut used: impl Iterator<Item = &'a std::ops::Range<i64>>,
) -> Option<i64> {
    let (bytes, components) = (element.scalar.bytes, element.components);
    used.find_map(|range| {
        if range.start < 0 {
            return Some(range.start.div_euclid(bytes));
        }
        (range.end > bytes * components).then(|| (range.start / bytes).max(components))
    })
}

/// Whether a simplified function may notice where an address is, as opposed to what is there: keeps it, compares it with
/// another one, or hands it to what is not known. With `bytes`, also whether it loads or stores another number of them at
/// once.
pub fn notices_place<'m>(module: &'m Module, root: Value<'m>, bytes: Option<i64>) -> bool {
    let is_other = |value: Value<'m>| {
        bytes.is_some_and(|bytes| module.store_size_of(value.ty()) as i64 != bytes)
    };
    let is_within = |one: Value<'m>| one.is_null() || one.base_and_offset(module).0 == root;
    let noticed = follow(root, |address, instruction, rest| {
        match instruction.opcode() {
            Opcode::LLVMLoad if !is_other(*instruction) => {}
            Opcode::LLVMStore
                if instruction.operand(0) != address && !is_other(instruction.operand(0)) => {}
            Opcode::LLVMGetElementPtr | Opcode::LLVMPHI | Opcode::LLVMSelect => {
                rest.push(*instruction);
            }
            Opcode::LLVMICmp if instruction.operands().into_iter().all(is_within) => {}
            Opcode::LLVMCall if copied(instruction).is_some() => {}
            Opcode::LLVMCall | Opcode::LLVMInvoke => match handed_to(address, instruction) {
                Some(parameters) => rest.extend(parameters),
                None => return Some(()),
            },
            _ => return Some(()),
        }
        None
    });
    noticed.is_some()
}

/// The parameters of a function of this module that an address becomes in a call.
fn handed_to<'m>(address: Value<'m>, call: Instruction<'m>) -> Option<Vec<Value<'m>>> {
    let call = (*call).as_call()?;
    let callee = call.callee_function()?;
    let parameters = callee.parameters();
    let arguments = call.arguments();
    if callee.is_declaration() || parameters.len() != arguments.len() {
        return None;
    }
    let pairs = arguments.into_iter().zip(parameters);
    let handed = pairs.filter(|(argument, _)| *argument == address);
    Some(handed.map(|(_, parameter)| parameter).collect())
}

impl Uses {
    /// What is done through another pointer to the same is done, too.
    pub fn add(&mut self, other: Uses) {
        let Uses {
            reads,
            writes,
            increments,
            minimises,
            maximises,
            escapes,
        } = other;
        self.reads |= reads;
        self.writes |= writes;
        self.increments |= increments;
        self.minimises |= minimises;
        self.maximises |= maximises;
        self.escapes |= escapes;
    }

    /// Whether nothing is done but to add.
    pub fn only_increments(&self) -> bool {
        !(self.reads || self.writes || self.minimises || self.maximises)
    }

    fn escape(&mut self) {
        self.escapes = true;
        self.reads = true;
        self.writes = true;
    }
}

/// Whether a store puts back what it loaded from the same place plus or minus something.
fn is_increment(store: Instruction<'_>, address: Value<'_>) -> bool {
    let Some(sum) = store.operand(0).as_instruction() else {
        return false;
    };
    let is_old = |value: Value<'_>| {
        value
            .as_op(Opcode::LLVMLoad)
            .is_some_and(|load| is_same_place(load.operand(0), address))
    };
    let operands = sum.operands();
    let mut olds = (0..operands.len()).filter(|at| is_old(operands[*at]));
    let old = olds.next().filter(|at| updates::added_to(sum).contains(at));
    old.is_some() && olds.next().is_none()
}

/// Whether two addresses are the same value, loads of the same private variable, or the same number of bytes behind such.
fn is_same_place(a: Value<'_>, b: Value<'_>) -> bool {
    const ELEMENT: Opcode = Opcode::LLVMGetElementPtr;
    if let (Some(one), Some(other)) = (a.as_op(ELEMENT), b.as_op(ELEMENT)) {
        let (places, others) = (one.operands(), other.operands());
        let is_constant = |index: &Value<'_>| index.as_constant_int().is_some();
        if one.source_element_type() == other.source_element_type()
            && places[1..] == others[1..]
            && places[1..].iter().all(is_constant)
        {
            return is_same_place(places[0], others[0]);
        }
    }
    a == b || kept_in(a).is_some_and(|variable| kept_in(b) == Some(variable))
}

fn kept_in(address: Value<'_>) -> Option<Instruction<'_>> {
    private_variable(address.as_op(Opcode::LLVMLoad)?.operand(0))
}
