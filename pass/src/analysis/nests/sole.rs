//! Objects to which there is one way only: all pointers into them are computed from one value.
//!
//! Guarantee: through pointers that are computed from other values, no such object is accessed. So what calls may write
//! of variables of the module is known, where the code that they come to is.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::{intrinsic_name, is_lifetime, writes};
use crate::analysis::call_graph::{is_final, reached};
use crate::analysis::library::is_mathematics;
use crate::analysis::runtime;
use crate::analysis::stored_types::are_apart;
use crate::llvm::{Call, Function, Instruction, Module, Opcode, Value};
use crate::marks::is_list;
use crate::record::RegionRecord;
use okl_abi::Effects;

/// Bytes of a captured value.
const SLOT: i64 = 8;
/// Parameters of a region's body in front of the captured values.
const BEFORE_CAPTURED: usize = 2;

/// Whether pointers to an object are computed from this value only: a local variable of the module, or a captured variable
/// whose address goes nowhere else.
pub(super) fn is_sole_access<'m>(module: &'m Module, object: Value<'m>) -> bool {
    if let Some(global) = object.as_global() {
        return global.is_local() && stays_with_accesses(object, None);
    }
    if object.as_op(Opcode::LLVMAlloca).is_some() {
        return stays_with_accesses(object, None);
    }
    let Some((body, index)) = object.as_parameter() else {
        return false;
    };
    if index < BEFORE_CAPTURED || !stays_with_accesses(object, None) {
        return false;
    }
    let forks = forks_of(body);
    forks.is_some_and(|forks| {
        forks.into_iter().all(|fork| {
            let value = captured(module, fork, index - BEFORE_CAPTURED);
            let variable = value.and_then(|value| value.as_op(Opcode::LLVMAlloca));
            variable.is_some_and(|variable| is_only_captured(module, variable))
        })
    })
}

/// Whether so many bytes can be read behind an address that a region's body has captured, aligned to so many bytes: all who
/// start the region hand over stack variables, or what a parameter of theirs is said to point to, that are as large.
pub(super) fn can_read_captured<'m>(
    module: &'m Module,
    object: Value<'m>,
    bytes: u64,
    alignment: u64,
) -> bool {
    let Some((body, index)) = object.as_parameter() else {
        return false;
    };
    if index < BEFORE_CAPTURED {
        return false;
    }
    let forks = forks_of(body);
    forks.is_some_and(|forks| {
        forks.into_iter().all(|fork| {
            captured(module, fork, index - BEFORE_CAPTURED).is_some_and(|value| {
                value.ty().is_pointer() && can_read(module, value, bytes, alignment)
            })
        })
    })
}

fn can_read<'m>(module: &'m Module, address: Value<'m>, bytes: u64, alignment: u64) -> bool {
    let (base, offset) = address.offset_in_object(module);
    let variable = base.as_op(Opcode::LLVMAlloca);
    let (size, aligned) = match variable {
        Some(variable) => {
            let is_one = variable.operand(0).as_constant_int() == Some(1);
            let ty = variable.allocated_type().filter(|_| is_one);
            let size = ty.map_or(0, |ty| module.size_of(ty));
            (size, u64::from(variable.stack_alignment()))
        }
        None => (base.dereferenceable_bytes(), base.stated_alignment()),
    };
    let Ok(offset) = u64::try_from(offset) else {
        return false;
    };
    offset.saturating_add(bytes) <= size
        && aligned.is_multiple_of(alignment)
        && offset.is_multiple_of(alignment)
}

/// Whether every store of a variable's address is into the slots of forks, whose bodies keep it to themselves too.
fn is_only_captured<'m>(module: &'m Module, variable: Instruction<'m>) -> bool {
    let mut stores = Vec::new();
    if !stays_with_accesses(*variable, Some(&mut stores)) {
        return false;
    }
    stores.into_iter().all(|store| {
        let (slots, offset) = store.operand(1).constant_offset(module);
        if slots.as_op(Opcode::LLVMAlloca).is_none() {
            return false;
        }
        let users = slots.users().into_iter().filter_map(Value::as_call);
        let calls: Vec<_> = users
            .filter(|call| !is_lifetime(call.instruction()))
            .collect();
        !calls.is_empty()
            && calls.iter().all(|call| {
                let index = (offset / SLOT) as usize + BEFORE_CAPTURED;
                let parameters = RegionRecord::of(*call).map(|one| one.body.parameters());
                parameters.is_some_and(|parameters| {
                    let parameter = parameters.get(index);
                    parameter.is_some_and(|&one| stays_with_accesses(one, None))
                })
            })
    })
}

/// Whether nothing but loads, stores and our own tables use an address, so that it is in no other pointer. `stores` gets the
/// stores of the address itself; without it there may be none.
fn stays_with_accesses<'m>(
    address: Value<'m>,
    mut stores: Option<&mut Vec<Instruction<'m>>>,
) -> bool {
    const MOST_USERS: usize = 5000;
    let mut rest = vec![address];
    let mut seen = 0;
    while let Some(value) = rest.pop() {
        for user in value.users() {
            seen += 1;
            if seen > MOST_USERS {
                return false;
            }
            if let Some(at) = user.as_instruction() {
                match at.opcode() {
                    Opcode::LLVMLoad | Opcode::LLVMICmp => {}
                    Opcode::LLVMStore if at.operand(0) != value => {}
                    Opcode::LLVMStore => match &mut stores {
                        Some(stores) if value == address => stores.push(at),
                        _ => return false,
                    },
                    Opcode::LLVMGetElementPtr => rest.push(user),
                    _ if super::copies_or_fills(at) => {}
                    _ if user.as_call().is_some_and(keeps_no_pointer) => {}
                    _ => return false,
                }
            } else if user.is_constant_gep() {
                rest.push(user);
            } else if user.is_constant_aggregate() {
                // The runtime's list of shared variables.
                for table in user.users() {
                    if table.is_constant_aggregate() {
                        rest.push(user);
                    } else if !is_list(table) {
                        return false;
                    }
                }
            } else if !is_list(user) {
                return false;
            }
        }
    }
    true
}

fn keeps_no_pointer(call: Call<'_>) -> bool {
    let name = intrinsic_name(call.instruction());
    let effects = runtime::effects_of(&name);
    let keeps_none = Effects::QUIET.and(Effects::ATOMIC);
    effects.has_some(keeps_none.and(Effects::FORKS).and(Effects::FORKS_BODY))
        || name.starts_with("llvm.lifetime")
        || name.starts_with("llvm.dbg")
}

/// Whether a function is the body of a region, and nothing else.
pub(super) fn is_region(function: Function<'_>) -> bool {
    forks_of(function).is_some()
}

/// The forks of a region's body; `None` where it is run in another way too.
fn forks_of(body: Function<'_>) -> Option<Vec<Call<'_>>> {
    let mut forks = Vec::new();
    let (mut callers, mut invoked) = (Vec::new(), HashSet::new());
    for user in body.users() {
        if let Some(call) = user.as_call() {
            if call.callee() != *body {
                return None;
            }
            callers.push(call.instruction().function());
            continue;
        }
        if !user.is_constant_aggregate() {
            return None;
        }
        for descriptor in user.users() {
            if descriptor.as_global().is_none() {
                // Part of a list of functions.
                if !descriptor.is_constant_aggregate() {
                    return None;
                }
                continue;
            }
            for fork in descriptor.users().into_iter().filter_map(Value::as_call) {
                let record = RegionRecord::of(fork).filter(|record| record.body == body);
                if let Some(record) = record {
                    invoked.extend(record.invoke());
                    forks.push(fork);
                }
            }
        }
    }
    // What the run time calls with the captures of a fork.
    let is_forked = callers.iter().all(|caller| invoked.contains(caller));
    (is_forked && !forks.is_empty()).then_some(forks)
}

/// The value that a fork hands over under a number; `None` where that is not plain.
fn captured<'m>(module: &'m Module, fork: Call<'m>, index: usize) -> Option<Value<'m>> {
    let function = runtime::function(fork)?;
    let slots = fork.argument(function.position("args")?)?;
    slots.as_op(Opcode::LLVMAlloca)?;
    let place = index as i64 * SLOT;
    let mut found = None;
    let mut rest = vec![(slots, 0)];
    while let Some((value, offset)) = rest.pop() {
        for user in value.users() {
            let at = user.as_instruction();
            match at.map(Instruction::opcode) {
                Some(Opcode::LLVMStore) => {
                    let stored = user.operand(0);
                    if stored == value {
                        return None;
                    }
                    let bytes = module.store_size_of(stored.ty()) as i64;
                    if offset + bytes <= place || offset >= place + SLOT {
                        continue;
                    }
                    // A fork that LLVM copied stores the same value once more.
                    if found.is_some_and(|found| found != stored) || offset != place {
                        return None;
                    }
                    found = Some(stored);
                }
                Some(Opcode::LLVMGetElementPtr) => {
                    let (base, offset) = user.constant_offset(module);
                    if base != slots {
                        return None;
                    }
                    rest.push((user, offset));
                }
                _ => {
                    let call = user.as_call()?;
                    if !runtime::effects(call).has(Effects::FORKS)
                        && !is_lifetime(call.instruction())
                    {
                        return None;
                    }
                }
            }
        }
    }
    found
}

/// What the calls of a module may write.
#[derive(Default)]
pub(super) struct Callees<'m> {
    /// Of functions of which all is known that they come to.
    reach: HashMap<Function<'m>, Option<Reach<'m>>>,
    /// The functions in which an object is more than loaded.
    writers: HashMap<Value<'m>, Rc<HashSet<Function<'m>>>>,
}

/// What a function comes to.
struct Reach<'m> {
    functions: Vec<Function<'m>>,
    /// The types of what these store; `None` where some are not known.
    stored: Option<Vec<Vec<String>>>,
}

impl<'m> Callees<'m> {
    /// Whether a function cannot write a variable of the module to which there is one way only: it does not come to code
    /// that does.
    pub(super) fn spare(
        &mut self,
        function: Function<'m>,
        variable: Value<'m>,
        module: &'m Module,
    ) -> bool {
        let writers = self.writers(variable);
        let reach = self.reach(function, module);
        reach.is_some_and(|reach| reach.functions.iter().all(|one| !writers.contains(one)))
    }

    /// Whether anything in the module writes an object to which there is one way only.
    pub(super) fn is_written(&mut self, object: Value<'m>) -> bool {
        !self.writers(object).is_empty()
    }

    fn writers(&mut self, object: Value<'m>) -> Rc<HashSet<Function<'m>>> {
        let writers = self.writers.entry(object);
        let writers = writers.or_insert_with(|| Rc::new(writers_of(object)));
        writers.clone()
    }

    /// Whether a function, which is none of the run time's, may come to where threads synchronise.
    pub(super) fn may_synchronise(&mut self, function: Function<'m>, module: &'m Module) -> bool {
        match function.is_declaration() {
            true => !is_plain(function),
            false => self.reach(function, module).is_none(),
        }
    }

    /// Whether a function stores nothing of the type that a load has, in C and C++: what flang says of memory holds within
    /// a function, as a variable is data of another kind where it is an argument.
    pub(super) fn store_other_types(
        &mut self,
        function: Function<'m>,
        load: Instruction<'m>,
        module: &'m Module,
    ) -> bool {
        let stored = self.reach(function, module);
        let stored = stored.and_then(|reach| reach.stored.as_ref());
        stored
            .zip(load.noted_type(module))
            .is_some_and(|(stored, loaded)| are_apart(stored, &loaded))
    }

    fn reach(&mut self, function: Function<'m>, module: &'m Module) -> Option<&Reach<'m>> {
        let reach = self.reach.entry(function);
        reach
            .or_insert_with(|| known_reach(function, module))
            .as_ref()
    }
}

/// Whether the assignment of a structure cannot change what a load reads: none of its fields is of that type.
pub(super) fn copies_other_types<'m>(
    module: &'m Module,
    copy: Instruction<'m>,
    load: Instruction<'m>,
) -> bool {
    let fields = copy.noted_types_of_fields(module);
    let types = fields.zip(load.noted_type(module));
    types.is_some_and(|(fields, loaded)| are_apart(&fields, &loaded))
}

/// Whether a function of which there is no code here is known to do nothing but compute and move.
fn is_plain(function: Function<'_>) -> bool {
    function.is_intrinsic() || is_mathematics(&function.name())
}

/// What a function comes to; `None` where it calls what is not known, or comes to where threads meet.
fn known_reach<'m>(function: Function<'m>, module: &'m Module) -> Option<Reach<'m>> {
    let is_known = |call: Call<'_>| {
        let name = call.callee_name();
        let Some(callee) = call.callee_function() else {
            return false;
        };
        match runtime::function_of(&name) {
            Some(function) => function
                .effects
                .has_some(Effects::QUIET.and(Effects::UPDATES)),
            None if callee.is_declaration() => is_plain(callee),
            None => is_final(callee),
        }
    };
    if function.is_declaration() || !is_final(function) {
        return None;
    }
    let functions = reached(function);
    let instructions: Vec<_> = functions
        .iter()
        .flat_map(|one| one.instructions())
        .collect();
    let all_known = instructions.iter().all(|one| match (**one).as_call() {
        Some(call) => is_known(call),
        None => !one.is_atomic_access(),
    });
    let stored = || {
        let mut types: Vec<Vec<String>> = Vec::new();
        for &at in instructions.iter().filter(|&&one| writes(one)) {
            match (*at).as_call() {
                Some(call) if !call.callee_function()?.is_declaration() => {}
                Some(call) if is_mathematics(&call.callee_name()) => {}
                Some(_) if super::copies_or_fills(at) => {
                    types.extend(at.noted_types_of_fields(module)?);
                }
                Some(_) => return None,
                None if at.opcode() == Opcode::LLVMStore => {
                    let object = at.operand(1).underlying_object();
                    if object.as_op(Opcode::LLVMAlloca).is_none() {
                        types.push(at.noted_type(module)?);
                    }
                }
                None => return None,
            }
        }
        types.sort();
        types.dedup();
        Some(types)
    };
    all_known.then(|| Reach {
        stored: stored(),
        functions,
    })
}

/// The functions in which instructions use an address, or one computed from it, for more than to load from it.
fn writers_of(variable: Value<'_>) -> HashSet<Function<'_>> {
    let mut writers = HashSet::new();
    let mut rest = vec![variable];
    while let Some(value) = rest.pop() {
        for user in value.users() {
            match user.as_instruction() {
                Some(at) => match at.opcode() {
                    Opcode::LLVMLoad | Opcode::LLVMICmp => {}
                    Opcode::LLVMGetElementPtr => rest.push(user),
                    _ => {
                        writers.insert(at.function());
                    }
                },
                None if user.is_constant_gep() => rest.push(user),
                // A table of the run time's.
                None => {}
            }
        }
    }
    writers
}
