//! Which memory an address lies in: the thread's own, at an address known at the fork, or elsewhere. Variables of a thread
//! that it hands over to functions stay its own in these.

use std::cell::RefCell;
use std::collections::HashMap;

use super::Direct;
use crate::analysis::access::follow;
use crate::analysis::memory::base_of;
use crate::analysis::nests::LARGE;
use crate::llvm::{Call, Function, Global, Instruction, Module, Opcode, Value};
use crate::marks::{gives_memory, image_name, is_ours, is_slot, variable_of_slot};

/// Where an access goes.
pub enum Place<'m> {
    /// To memory that only this thread uses, or that nobody writes.
    Own,
    /// To an address known when the region is forked.
    Direct(Direct<'m>),
    /// To anything else.
    Elsewhere,
}

/// The memory of a function.
pub struct Places<'m> {
    module: &'m Module,
    parameters: Vec<Value<'m>>,
    is_body: bool,
    leaked: Option<(Instruction<'m>, String)>,
    own: RefCell<HashMap<Value<'m>, bool>>,
    /// Parameters that are being looked at.
    asked: RefCell<Vec<Value<'m>>>,
}

/// A region's body begins with pointers to the thread's numbers.
const LEADING: usize = 2;

impl<'m> Places<'m> {
    /// Looks at the stack variables of a function.
    pub fn of(module: &'m Module, function: Function<'m>, is_body: bool) -> Self {
        let mut places = Self {
            module,
            parameters: function.parameters(),
            is_body,
            leaked: None,
            own: RefCell::new(HashMap::new()),
            asked: RefCell::default(),
        };
        let instructions = function.instructions();
        let variables = instructions
            .iter()
            .filter(|one| one.opcode() == Opcode::LLVMAlloca);
        places.leaked = variables
            .filter_map(|variable| places.leak(**variable))
            .next();
        places
    }

    /// A store through which other threads might find a variable of this one.
    pub fn leaked(&self) -> Option<(Instruction<'m>, String)> {
        self.leaked.clone()
    }

    fn leak(&self, variable: Value<'m>) -> Option<(Instruction<'m>, String)> {
        follow(variable, |address, instruction, rest| {
            match instruction.opcode() {
                Opcode::LLVMGetElementPtr
                | Opcode::LLVMPHI
                | Opcode::LLVMSelect
                | Opcode::LLVMFreeze => rest.push(*instruction),
                Opcode::LLVMLoad | Opcode::LLVMICmp => {}
                Opcode::LLVMStore if instruction.operand(0) != address => {}
                Opcode::LLVMStore if self.is_own(instruction.operand(1)) => {}
                // What becomes of an argument is the concern of the call.
                Opcode::LLVMCall | Opcode::LLVMInvoke => {}
                _ => {
                    let reason = "lets the address of a private variable escape";
                    return Some((instruction, reason.to_string()));
                }
            }
            None
        })
    }

    /// Whether only this thread uses the memory, or nobody writes it.
    pub fn is_own(&self, address: Value<'m>) -> bool {
        const MOST: usize = 64;
        let first = base_of(address);
        if let Some(&known) = self.own.borrow().get(&first) {
            return known;
        }
        // A choice of addresses is as private as all that are chosen from.
        let mut seen = vec![first];
        let mut next = 0;
        let mut own = true;
        while own && next < seen.len() {
            let base = seen[next];
            next += 1;
            let known = self.own.borrow().get(&base).copied();
            let choices = base.as_instruction().and_then(|one| match one.opcode() {
                Opcode::LLVMSelect => Some(vec![one.operand(1), one.operand(2)]),
                Opcode::LLVMPHI => {
                    let incoming = one.incoming().into_iter();
                    Some(incoming.map(|(value, _)| value).collect())
                }
                _ => None,
            });
            match (known, choices) {
                (Some(known), _) => own &= known,
                (None, Some(choices)) => {
                    for choice in choices.into_iter().map(base_of) {
                        if !seen.contains(&choice) {
                            seen.push(choice);
                        }
                    }
                }
                (None, None) => own &= self.is_own_object(base),
            }
            own &= seen.len() <= MOST;
        }
        let mut known = self.own.borrow_mut();
        if own {
            known.extend(seen.into_iter().map(|base| (base, true)));
        } else {
            known.insert(first, false);
        }
        own
    }

    fn is_own_object(&self, base: Value<'m>) -> bool {
        match base.as_instruction() {
            Some(one) => match one.opcode() {
                Opcode::LLVMAlloca => true,
                Opcode::LLVMLoad => one.operand(0).as_global().is_some_and(is_slot),
                Opcode::LLVMCall => {
                    let callee = one.as_call().and_then(|call| call.callee_function());
                    callee.is_some_and(gives_memory)
                }
                _ => false,
            },
            None => match base.as_global() {
                Some(global) => is_own_global(global),
                None => self.is_leading(base) || self.is_handed_over(base),
            },
        }
    }

    /// Whether it is a parameter for which all calls of a function of the module hand over memory that only the thread
    /// uses.
    fn is_handed_over(&self, base: Value<'m>) -> bool {
        const DEEPEST: usize = 8;
        let Some((function, index)) = base.as_parameter() else {
            return false;
        };
        let is_asked = self.asked.borrow().contains(&base);
        if is_asked || self.asked.borrow().len() >= DEEPEST || !function.is_local() {
            return false;
        }
        self.asked.borrow_mut().push(base);
        let mut users = function.users().into_iter();
        let is_own = users.all(|user| {
            let call = user.as_call().filter(|call| call.callee() == *function);
            call.is_some_and(|call| {
                let arguments = call.arguments();
                !arguments.contains(&*function)
                    && arguments.get(index).is_some_and(|&one| self.is_own(one))
            })
        });
        self.asked.borrow_mut().pop();
        is_own
    }

    /// Bytes of an array that only this thread has: a variable on its stack, of which only this function knows and only by
    /// its name, or its copy of a variable.
    pub fn own_array(&self, base: Value<'m>) -> Option<i64> {
        if let Some(variable) = base.as_op(Opcode::LLVMAlloca) {
            let count = variable.operand(0).as_constant_int()?;
            let bytes = self.module.size_of(variable.allocated_type()?);
            return is_only_accessed(base)
                .then(|| i64::try_from(bytes).ok()?.checked_mul(count))
                .flatten();
        }
        let variable = variable_of_slot(slot_of(base)?)?;
        let image = self.module.global(&image_name(&variable))?;
        i64::try_from(self.module.size_of(image.value_type())).ok()
    }

    /// Whether two addresses of which one is that of such an array are of the same one.
    pub fn is_same_array(&self, one: Value<'m>, other: Value<'m>) -> bool {
        let slot = slot_of(one);
        one == other || slot.is_some() && slot == slot_of(other)
    }

    /// The address of the first element, and the number of the one that is looked for, of an array with elements of so many
    /// bytes.
    pub fn element_of(&self, place: Instruction<'m>, bytes: i64) -> Option<(Value<'m>, Value<'m>)> {
        let element = place.source_element_type()?;
        let [base, index] = place.operands()[..] else {
            return None;
        };
        (self.module.size_of(element) == bytes as u64).then_some((base, index))
    }

    fn is_leading(&self, value: Value<'m>) -> bool {
        self.is_body
            && self
                .parameters
                .iter()
                .take(LEADING)
                .any(|one| *one == value)
    }

    /// Where an access of `size` bytes goes; the size may be unknown.
    pub fn of_address(&self, address: Value<'m>, size: Option<i64>) -> Place<'m> {
        if self.is_own(address) {
            return Place::Own;
        }
        let (object, offset) = address.constant_offset(self.module);
        size.and_then(|size| self.of_object(object, offset, size))
            .map_or(Place::Elsewhere, Place::Direct)
    }

    /// An access to an object that is known at the fork.
    pub fn of_object(&self, object: Value<'m>, offset: i64, size: i64) -> Option<Direct<'m>> {
        self.is_known_at_fork(object).then_some(Direct {
            object,
            offset,
            size,
        })
    }

    /// The size of a variable, if it is small: there is no more of it in other files, as of one that ends in an array of no
    /// length.
    pub fn small_variable(&self, object: Value<'m>) -> Option<i64> {
        let global = object.as_global().filter(|one| !one.is_thread_local())?;
        let has_end =
            global.value_type().is_sized() && !global.value_type().print().contains("[0 x ");
        let is_small = has_end && self.is_known_at_fork(object);
        is_small.then(|| self.size_at_fork(object) as i64)
    }

    /// All of an object, if it is small and its address is known when the region is forked.
    pub fn whole_object(&self, object: Value<'m>) -> Option<Direct<'m>> {
        self.of_object(object, 0, self.size_at_fork(object) as i64)
    }

    /// Which parameter of the function a value is; none of a region's body, whose parameters nobody else knows.
    pub fn parameter(&self, value: Value<'m>) -> Option<usize> {
        let mut parameters = self.parameters.iter();
        parameters
            .position(|one| *one == value)
            .filter(|_| !self.is_body)
    }

    /// Whether an object is small and its address is known when the region is forked. The pages of
    /// large ones are not to be tracked because of a single element.
    fn is_known_at_fork(&self, object: Value<'m>) -> bool {
        (1..LARGE).contains(&self.size_at_fork(object))
    }

    /// The size of an object whose address is known when the region is forked; 0 of others.
    fn size_at_fork(&self, object: Value<'m>) -> u64 {
        match object.as_global() {
            Some(global) if global.value_type().is_sized() => {
                self.module.size_of(global.value_type())
            }
            Some(_) => 0,
            None if self.is_body && self.parameters.contains(&object) => {
                object.dereferenceable_bytes()
            }
            None => 0,
        }
    }

    /// Whether an address is known when the region is forked.
    pub fn is_direct(&self, address: Value<'m>) -> bool {
        matches!(self.of_address(address, Some(0)), Place::Direct(_))
    }
}

fn is_own_global(global: Global<'_>) -> bool {
    global.is_readonly() || global.is_thread_local() || is_ours(global)
}

/// The slot that an address is loaded from.
pub(super) fn slot_of(base: Value<'_>) -> Option<Global<'_>> {
    let load = base.as_op(Opcode::LLVMLoad)?;
    load.operand(0).as_global().filter(|&one| is_slot(one))
}

/// Whether a variable on the stack is only accessed: its address goes nowhere.
fn is_only_accessed(variable: Value<'_>) -> bool {
    let other = follow(variable, |address, instruction, rest| {
        let is_access = match instruction.opcode() {
            Opcode::LLVMGetElementPtr => {
                rest.push(*instruction);
                true
            }
            Opcode::LLVMLoad => true,
            Opcode::LLVMStore => instruction.operand(0) != address,
            Opcode::LLVMCall => {
                let callee = (*instruction).as_call().and_then(Call::callee_function);
                callee.is_some_and(|callee| callee.is_declaration() && callee.is_intrinsic())
            }
            _ => false,
        };
        (!is_access).then_some(())
    });
    other.is_none()
}
