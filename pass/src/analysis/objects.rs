//! Which objects an address may lie in, seen through the variables that unsimplified code keeps
//! addresses in, through calls of functions of the module, and through forks.
//!
//! Guarantee: where two places cannot be the same by what is said here, no address of the one is one of
//! the other. What is not understood may be anything.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use okl_abi::Effects;

use crate::analysis::library::known;
use crate::analysis::runtime::effects_of;
use crate::ir::Region;
use crate::llvm::{Call, Function, Instruction, Module, Opcode, Value};

/// Most places one address may have.
const MOST_PLACES: usize = 16;
/// Most variables and parameters on the way to them.
const MOST_STEPS: usize = 64;
/// Most pointers in memory on the way.
const MOST_POINTERS: usize = 4;
/// Most users that are looked at of an object.
const MOST_USERS: usize = 5000;

/// Functions that return memory nothing else points to.
const ALLOCATES: [&str; 7] = [
    "malloc",
    "calloc",
    "aligned_alloc",
    "_Znwm",
    "_Znam",
    "_ZnwmRKSt9nothrow_t",
    "_ZnamRKSt9nothrow_t",
];

/// Library functions that keep no pointer they are given.
const KEEPS_NOTHING: &str = " free printf puts memcpy memmove memset memcmp _ZdlPv _ZdlPvm _ZdaPv _ZdaPvm atoi \
     atof snprintf sscanf strlen strcmp ";

/// An object.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Object<'m> {
    /// A variable, or what an allocation returned.
    Named(Value<'m>),
    /// What the pointer points to that is so many bytes behind the start of a variable.
    PointedToBy(Value<'m>, i64),
    /// One whose address comes from elsewhere: none that is [confined](Objects::is_confined).
    Foreign,
    /// Any object.
    Unknown,
}

/// Where an address may point.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Place<'m> {
    /// To which object.
    pub object: Object<'m>,
    /// How many bytes behind its start, where that is known.
    pub offset: Option<i64>,
    /// Whether it came from another thread or through memory.
    is_shared: bool,
}

/// What is known of the objects of a module.
pub struct Objects<'a, 'm> {
    module: &'m Module,
    regions: &'a [Region<'m>],
    confined: RefCell<HashMap<Value<'m>, bool>>,
    depth: Cell<usize>,
}

impl<'a, 'm> Objects<'a, 'm> {
    /// Of a module with these regions.
    pub fn new(module: &'m Module, regions: &'a [Region<'m>]) -> Self {
        Self {
            module,
            regions,
            confined: RefCell::default(),
            depth: Cell::default(),
        }
    }

    /// Every place that an address may point to; at least one.
    pub fn places(&self, address: Value<'m>) -> Vec<Place<'m>> {
        if self.depth.get() > MOST_POINTERS {
            return vec![UNKNOWN];
        }
        self.depth.set(self.depth.get() + 1);
        let mut search = Search::default();
        self.follow(address, Some(0), false, &mut search);
        self.depth.set(self.depth.get() - 1);
        if search.found.is_empty() || search.found.len() > MOST_PLACES {
            return vec![UNKNOWN];
        }
        if search.is_circular {
            // A pointer that is moved along.
            for place in &mut search.found {
                place.offset = None;
            }
        }
        search.found
    }

    fn follow(
        &self,
        address: Value<'m>,
        offset: Option<i64>,
        is_shared: bool,
        search: &mut Search<'m>,
    ) {
        let (base, more) = address.base_and_offset(self.module);
        let offset = offset.zip(more).map(|(one, other)| one + other);
        let place = |object, is_shared| Place {
            object,
            offset,
            is_shared,
        };
        if search.seen.len() > MOST_STEPS {
            return search.add(UNKNOWN);
        }
        if base.is_null() || base.is_undef() {
            return;
        }
        if let Some(global) = base.as_global() {
            return search.add(match global.is_thread_local() {
                true => FOREIGN,
                false => place(Object::Named(base), true),
            });
        }
        if let Some((function, index)) = base.as_parameter() {
            if search.is_new(base) {
                match self.arguments(function, index) {
                    Some(arguments) => {
                        for (argument, is_forked) in arguments {
                            self.follow(argument, offset, is_shared || is_forked, search);
                        }
                    }
                    // Others call it with what is not confined.
                    None if !function.is_local() => search.add(FOREIGN),
                    None => search.add(UNKNOWN),
                }
            }
            return;
        }
        let Some(instruction) = base.as_instruction() else {
            return search.add(FOREIGN);
        };
        match instruction.opcode() {
            Opcode::LLVMAlloca => search.add(place(Object::Named(base), is_shared)),
            Opcode::LLVMCall if is_allocation(base) => {
                search.add(place(Object::Named(base), is_shared));
            }
            Opcode::LLVMCall if is_thread_local(base) => {
                search.add(place(Object::Named(instruction.operand(0)), false));
            }
            Opcode::LLVMLoad if instruction.is_plain_access() => {
                let from = instruction.operand(0);
                if let Some(values) = plain_variable(from) {
                    if search.is_new(from) {
                        for value in values {
                            self.follow(value, offset, is_shared, search);
                        }
                    }
                    return;
                }
                search.add(match self.places(from)[..] {
                    [
                        Place {
                            object: Object::Named(variable),
                            offset: Some(within),
                            ..
                        },
                    ] => place(Object::PointedToBy(variable, within), true),
                    [
                        Place {
                            object: Object::Unknown,
                            ..
                        },
                    ] => UNKNOWN,
                    _ => FOREIGN,
                });
            }
            Opcode::LLVMSelect => {
                for index in 1..3 {
                    self.follow(instruction.operand(index), offset, is_shared, search);
                }
            }
            _ => search.add(FOREIGN),
        }
    }

    /// What a function's parameter may be, and whether it comes from another thread; none where the
    /// function may be called from elsewhere.
    fn arguments(&self, function: Function<'m>, index: usize) -> Option<Vec<(Value<'m>, bool)>> {
        if !function.is_local() {
            return None;
        }
        let mut arguments = Vec::new();
        for user in function.users() {
            let call = user.as_call()?;
            if call.callee() == *function && !call.arguments().contains(&function) {
                arguments.push((call.argument(index)?, false));
                continue;
            }
            let fork = self.fork(call).filter(|one| one.body == function)?;
            let captured = index.checked_sub(Region::LEADING)?;
            arguments.push((fork.captures.get(captured)?.value, true));
        }
        Some(arguments)
    }

    fn fork(&self, call: Call<'m>) -> Option<&'a Region<'m>> {
        self.regions.iter().find(|one| one.site == call)
    }

    /// Whether only the thread that asks accesses what lies at all these places: its own variables, and
    /// allocations whose address stays in those.
    pub fn are_private(&self, places: &[Place<'m>]) -> bool {
        places.iter().all(|place| match place.object {
            Object::Named(object) => {
                let is_variable = object.as_op(Opcode::LLVMAlloca).is_some()
                    || object.as_global().is_some_and(|one| one.is_thread_local());
                !place.is_shared
                    && (is_variable || object.as_global().is_none() && self.is_confined(object))
            }
            _ => false,
        })
    }

    /// Whether one of `size` bytes at a place may be one of `other_size` bytes at the other.
    pub fn may_meet(
        &self,
        one: &[Place<'m>],
        size: u64,
        other: &[Place<'m>],
        other_size: u64,
    ) -> bool {
        one.iter()
            .any(|a| other.iter().any(|b| self.meet(a, size, b, other_size)))
    }

    fn meet(&self, a: &Place<'m>, size: u64, b: &Place<'m>, other_size: u64) -> bool {
        use Object::*;
        match (a.object, b.object) {
            (Named(x), Named(y)) => x == y && !are_apart(a.offset, size, b.offset, other_size),
            (Unknown, _) | (_, Unknown) => true,
            (Named(object), _) | (_, Named(object)) => !self.is_confined(object),
            _ => true,
        }
    }

    /// Whether an address is computed from an object's name wherever the object is accessed, in a way that is
    /// followed here: no pointer to it is in memory, but where a function keeps its parameters and its own
    /// pointers.
    pub fn is_confined(&self, object: Value<'m>) -> bool {
        if let Some(&known) = self.confined.borrow().get(&object) {
            return known;
        }
        let is_hidden = object.as_global().is_none_or(|global| global.is_local());
        let confined = is_hidden && self.stays(object);
        self.confined.borrow_mut().insert(object, confined);
        confined
    }

    fn stays(&self, object: Value<'m>) -> bool {
        let mut rest = vec![object];
        let mut seen = HashSet::from([object]);
        let mut users = 0;
        while let Some(address) = rest.pop() {
            let mut next = Vec::new();
            for user in address.users() {
                users += 1;
                if users > MOST_USERS || !self.keeps(address, user, &mut next) {
                    return false;
                }
            }
            rest.extend(next.into_iter().filter(|one| seen.insert(*one)));
        }
        true
    }

    /// Whether a user of an address puts it only where it is followed: into `next`.
    fn keeps(&self, address: Value<'m>, user: Value<'m>, next: &mut Vec<Value<'m>>) -> bool {
        if user.is_constant_gep() {
            next.push(user);
            return true;
        }
        let Some(instruction) = user.as_instruction() else {
            return false;
        };
        match instruction.opcode() {
            Opcode::LLVMLoad | Opcode::LLVMICmp => true,
            // No others: an address from elsewhere than `follow` looks is taken for a foreign one.
            Opcode::LLVMGetElementPtr | Opcode::LLVMSelect => {
                next.push(user);
                true
            }
            Opcode::LLVMAtomicRMW => instruction.operand(1) != address,
            Opcode::LLVMStore if instruction.operand(0) != address => true,
            Opcode::LLVMStore => {
                let variable = instruction.operand(1);
                if plain_variable(variable).is_none() {
                    return false;
                }
                let loads = variable.users().into_iter();
                next.extend(loads.filter(|one| one.as_op(Opcode::LLVMLoad).is_some()));
                true
            }
            Opcode::LLVMCall | Opcode::LLVMInvoke => user
                .as_call()
                .is_some_and(|call| self.passes_on(address, call, next)),
            _ => false,
        }
    }

    fn passes_on(&self, address: Value<'m>, call: Call<'m>, next: &mut Vec<Value<'m>>) -> bool {
        let name = call.callee_name();
        let keeps_nothing = name.starts_with("llvm.lifetime.")
            || name.starts_with("llvm.mem")
            || name.starts_with("llvm.dbg.")
            || effects_of(&name).has(Effects::SHARES)
            || KEEPS_NOTHING.contains(&format!(" {name} "));
        let arguments = call.arguments();
        if keeps_nothing && is_outside(call) {
            // `memcpy` and its like return their argument.
            return call.instruction().is_unused();
        }
        if let Some(fork) = self.fork(call) {
            let parameters = fork.body.parameters();
            let at = |one: &crate::ir::Capture<'m>| one.value == address;
            let count = fork.captures.iter().filter(|one| at(one)).count();
            if count != arguments.iter().filter(|one| **one == address).count() {
                return false;
            }
            for (index, one) in fork.captures.iter().enumerate() {
                if at(one) {
                    next.push(parameters[index + Region::LEADING]);
                }
            }
            return true;
        }
        let Some(callee) = call.callee_function() else {
            return false;
        };
        let parameters = callee.parameters();
        if call.callee() == address || !callee.is_local() || parameters.len() != arguments.len() {
            return false;
        }
        for (argument, parameter) in arguments.into_iter().zip(parameters) {
            if argument == address {
                next.push(parameter);
            }
        }
        true
    }

    /// What a call of a function outside the module may access of these places: all that its arguments
    /// point to.
    pub fn call_may_meet(&self, call: Call<'m>, places: &[Place<'m>], size: u64) -> bool {
        let name = call.callee_name();
        if known(&name).is_none() && !name.starts_with("llvm.mem") {
            return !places.iter().all(|place| match place.object {
                Object::Named(object) => self.is_confined(object),
                _ => false,
            });
        }
        let pointers = call.arguments().into_iter();
        pointers
            .filter(|one| one.ty().is_pointer() && one.as_function().is_none())
            .any(|pointer| {
                let anywhere: Vec<_> = self
                    .places(pointer)
                    .into_iter()
                    .map(|place| Place {
                        offset: None,
                        ..place
                    })
                    .collect();
                self.may_meet(places, size, &anywhere, 1)
            })
    }
}

const FOREIGN: Place<'static> = Place {
    object: Object::Foreign,
    offset: None,
    is_shared: true,
};

const UNKNOWN: Place<'static> = Place {
    object: Object::Unknown,
    offset: None,
    is_shared: true,
};

/// What has been found while an address is followed.
#[derive(Default)]
struct Search<'m> {
    found: Vec<Place<'m>>,
    seen: HashSet<Value<'m>>,
    is_circular: bool,
}

impl<'m> Search<'m> {
    fn add(&mut self, place: Place<'m>) {
        if !self.found.contains(&place) {
            self.found.push(place);
        }
    }

    fn is_new(&mut self, value: Value<'m>) -> bool {
        let is_new = self.seen.insert(value);
        self.is_circular |= !is_new;
        is_new
    }
}

/// Whether two ranges of bytes of one object have none in common.
fn are_apart(a: Option<i64>, size: u64, b: Option<i64>, other_size: u64) -> bool {
    a.zip(b)
        .is_some_and(|(a, b)| a + size as i64 <= b || b + other_size as i64 <= a)
}

/// Whether two places are known to be of one object, and may have bytes in common.
pub fn are_the_same(one: &[Place<'_>], size: u64, other: &[Place<'_>], other_size: u64) -> bool {
    one.iter().any(|a| {
        other.iter().any(|b| {
            !matches!(a.object, Object::Foreign | Object::Unknown)
                && a.object == b.object
                && !are_apart(a.offset, size, b.offset, other_size)
        })
    })
}

/// Whether a value is the address of this thread's copy of a variable.
fn is_thread_local(value: Value<'_>) -> bool {
    value.as_call().is_some_and(|call| {
        call.callee_name().starts_with("llvm.threadlocal.address")
            && call
                .argument(0)
                .is_some_and(|one| one.as_global().is_some())
    })
}

fn is_allocation(value: Value<'_>) -> bool {
    value
        .as_call()
        .is_some_and(|call| is_outside(call) && ALLOCATES.contains(&call.callee_name().as_str()))
}

/// Whether a call is of a function that the module does not define: of one that it defines, a name of the library's says
/// nothing.
fn is_outside(call: Call<'_>) -> bool {
    let callee = call.callee_function();
    callee.is_some_and(|callee| callee.is_declaration())
}

/// The values stored to a stack variable of which nothing but loads and stores of all of it knows.
fn plain_variable<'m>(address: Value<'m>) -> Option<Vec<Value<'m>>> {
    address.as_op(Opcode::LLVMAlloca)?;
    let mut values = Vec::new();
    for user in address.users() {
        let instruction: Instruction<'m> = user.as_instruction()?;
        match instruction.opcode() {
            Opcode::LLVMLoad if instruction.is_plain_access() => {}
            Opcode::LLVMStore if instruction.operand(0) != address => {
                if !instruction.is_plain_access() {
                    return None;
                }
                if !values.contains(&instruction.operand(0)) {
                    values.push(instruction.operand(0));
                }
            }
            Opcode::LLVMCall => {
                let name = user.as_call()?.callee_name();
                if !name.starts_with("llvm.lifetime.") && !name.starts_with("llvm.dbg.") {
                    return None;
                }
            }
            _ => return None,
        }
    }
    Some(values)
}
