//! `thread_local` variables, and those that the OpenMP run time is asked for: each thread of a rank has a copy outside the
//! shared memory, which the code reaches through a pointer variable, itself one of each thread, that the runtime fills.
//!
//! The second kind is an ordinary variable, which only holds the initial value of the copies: several files may define
//! one (a common block), of which the linker keeps the one with a value. So each file defines the pointer to the copy.

use std::collections::HashMap;

use okl_abi::{RuntimeFn, openmp};

use crate::analysis::library::is_library_variable;
use crate::analysis::runtime::argument;
use crate::diagnostic::{Declined, Site};
use crate::llvm::{Builder, Call, Function, Global, Instruction, Linkage, Module, Opcode, Value};
use crate::marks::{
    RANKS, apart_name, image_name, is_for_ranks, is_ours, is_plain, name_of_plain, place_name,
    plain_name, slot_name, variable_apart, variable_of_slot,
};

/// Asks for the calling thread's copy of a variable.
const THREAD_PRIVATE: &RuntimeFn = &openmp::f::__kmpc_threadprivate_cached;

/// The variables of a module.
pub struct Plan<'m> {
    variables: Vec<Global<'m>>,
    /// Those that the run time is asked for.
    asked: Vec<Asked<'m>>,
}

struct Asked<'m> {
    variable: Global<'m>,
    size: u64,
    calls: Vec<Call<'m>>,
}

impl Plan<'_> {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.variables.is_empty() && self.asked.is_empty()
    }
}

/// A variable as the module table lists it.
pub struct ThreadPrivate<'m> {
    /// A function that returns the address of the pointer to the calling thread's copy.
    pub place: Function<'m>,
    /// The initial value.
    pub image: Global<'m>,
    /// Size in bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u32,
    /// Name of the variable.
    pub name: String,
}

/// Finds the variables.
pub fn check<'m>(module: &'m Module, refused: &mut Vec<Declined<'m>>) -> Plan<'m> {
    let mut variables = Vec::new();
    for global in module.globals() {
        let name = global.name();
        // Those of the C++ library belong to each rank as they are.
        if !global.is_thread_local()
            || is_ours(global)
            || is_library_variable(&name)
            || is_unused(global)
            || is_done(module, global)
        {
            continue;
        }
        if is_in_static_data(*global) {
            refused.push(Declined {
                site: Site::Global(global),
                reason: format!(
                    "the address of thread_local variable {} is in an initialiser",
                    crate::llvm::demangle(&name)
                ),
            });
        }
        variables.push(global);
    }
    let asked = asked(module, refused);
    Plan { variables, asked }
}

fn asked<'m>(module: &'m Module, refused: &mut Vec<Declined<'m>>) -> Vec<Asked<'m>> {
    let mut found: Vec<Asked<'m>> = Vec::new();
    let Some(function) = module.function(THREAD_PRIVATE.name) else {
        return found;
    };
    let users = function.instruction_users().into_iter();
    for user in users.filter(|user| !is_plain(user.function())) {
        let call = user.as_call().filter(|call| call.callee() == *function);
        let parts = call.and_then(|call| {
            let variable = argument(call, "data")?.as_global()?;
            let size = u64::try_from(argument(call, "size")?.as_constant_int()?).ok()?;
            (call.invoke_targets().is_none() && variable.name() != "")
                .then_some((call, variable, size))
        });
        let Some((call, variable, size)) = parts else {
            refused.push(Declined {
                site: Site::Instruction(user),
                reason: format!("this use of {} is not understood", THREAD_PRIVATE.name),
            });
            continue;
        };
        match found.iter_mut().find(|one| one.variable == variable) {
            Some(one) => {
                one.size = one.size.max(size);
                one.calls.push(call);
            }
            None => found.push(Asked {
                variable,
                size,
                calls: vec![call],
            }),
        }
    }
    for one in &found {
        let is_asked = |user: Instruction<'m>| {
            one.calls.iter().any(|&call| {
                call.instruction() == user && argument(call, "cache") != Some(*one.variable)
            })
        };
        let other = one
            .variable
            .instruction_users()
            .into_iter()
            .find(|user| !is_asked(*user) && !is_plain(user.function()));
        if other.is_some() || is_in_static_data(*one.variable) {
            refused.push(Declined {
                site: other.map_or(Site::Global(one.variable), Site::Instruction),
                reason: format!(
                    "threadprivate variable {} is also used as one that threads share",
                    crate::llvm::demangle(&one.variable.name())
                ),
            });
        }
    }
    found
}

/// Whether only versions for one rank still use it.
fn is_done(module: &Module, global: Global<'_>) -> bool {
    let name = global.name();
    let slot = module.global(&slot_name(name_of_plain(&name).unwrap_or(&name)));
    slot.is_some_and(|slot| global.is_declaration() || !slot.is_declaration())
}

fn is_unused(global: Global<'_>) -> bool {
    global.is_declaration() && global.is_unused()
}

/// Whether the address is part of another global's initial value, or of an alias.
fn is_in_static_data(value: Value<'_>) -> bool {
    value.users().into_iter().any(|user| {
        user.as_instruction().is_none()
            && !user
                .as_global()
                .is_some_and(|list| list.name().starts_with("llvm."))
            && (user.as_global().is_some() || user.is_alias() || is_in_static_data(user))
    })
}

/// Replaces the variables.
pub fn emit<'m>(module: &'m Module, plan: Plan<'m>) -> Vec<ThreadPrivate<'m>> {
    let mut entries = Vec::new();
    for variable in plan.variables {
        let slot = slot(module, variable);
        replace_uses(module, variable, slot);
        if !variable.is_declaration() {
            entries.push(entry(module, variable, slot));
        }
        leave_name(module, variable);
    }
    for one in plan.asked {
        let slot = slot_for_all(module, one.variable);
        for call in one.calls {
            let at = call.instruction();
            let copy = Builder::before(module, at).load(module.pointer(), *slot);
            at.replace_all_uses_with(copy);
            at.erase();
        }
        entries.push(ThreadPrivate {
            place: place(module, slot, &one.variable.name()),
            image: one.variable,
            size: one.size,
            align: one.variable.alignment().max(LARGEST_ALIGNMENT),
            name: one.variable.name(),
        });
    }
    entries
}

/// Takes the name from a variable, which versions for one rank use alone. Code that was compiled without the plugin would
/// find none of the copies by it: linkers miss it there, and where such code has a definition of its own they find that
/// it is another kind of variable here.
fn leave_name<'m>(module: &'m Module, variable: Global<'m>) {
    let name = variable.name();
    let is_in_several_files = !variable.is_declaration()
        && matches!(
            variable.linkage(),
            Linkage::LLVMWeakAnyLinkage
                | Linkage::LLVMWeakODRLinkage
                | Linkage::LLVMLinkOnceAnyLinkage
                | Linkage::LLVMLinkOnceODRLinkage
        );
    let no_variable = is_in_several_files.then(|| {
        let value = module.int(8).zero();
        let weak = Linkage::LLVMWeakAnyLinkage;
        let no_variable = module.add_global("", module.int(8), Some(value), weak);
        no_variable.copy_visibility_of(variable);
        no_variable.set_readonly();
        no_variable
    });
    if variable.is_unused() {
        variable.erase();
    } else if !variable.is_local() {
        let plain = plain_name(&name);
        variable.set_name(&plain);
        if variable.has_comdat() {
            variable.join_comdat(module, &plain);
        }
    }
    if let Some(no_variable) = no_variable {
        no_variable.set_name(&name);
    }
}

/// What no scalar exceeds.
const LARGEST_ALIGNMENT: u32 = 16;

/// A pointer that every file which uses the variable defines.
fn slot_for_all<'m>(module: &'m Module, variable: Global<'m>) -> Global<'m> {
    let linkage = match variable.linkage() {
        local @ (Linkage::LLVMInternalLinkage | Linkage::LLVMPrivateLinkage) => local,
        _ => Linkage::LLVMWeakAnyLinkage,
    };
    let name = slot_name(&variable.name());
    let slot = module.add_global(
        &name,
        module.pointer(),
        Some(module.pointer().zero()),
        linkage,
    );
    slot.set_thread_local();
    slot.copy_visibility_of(variable);
    slot.set_alignment(8);
    slot.set_externally_initialized();
    slot
}

/// A function that returns the address of the slot, which is another one on each thread.
fn place<'m>(module: &'m Module, slot: Global<'m>, variable: &str) -> Function<'m> {
    let ty = module.function_type(module.pointer(), &[]);
    let place = module.add_function(&place_name(variable), ty, Linkage::LLVMInternalLinkage);
    let block = place.append_block(module);
    Builder::at_end(module, block).ret(Some(*slot));
    RANKS.put_on(module, place);
    place
}

fn slot<'m>(module: &'m Module, variable: Global<'m>) -> Global<'m> {
    let name = slot_name(&variable.name());
    let pointer = module.pointer();
    let initial = (!variable.is_declaration()).then(|| pointer.zero());
    let linkage = match variable.linkage() {
        Linkage::LLVMCommonLinkage => Linkage::LLVMWeakAnyLinkage,
        other => other,
    };
    let slot = module.add_global(&name, pointer, initial, linkage);
    slot.set_thread_local();
    slot.copy_visibility_of(variable);
    slot.set_alignment(8);
    if !variable.is_declaration() {
        slot.set_externally_initialized();
        if variable.has_comdat() {
            slot.join_comdat(module, &name);
        }
    }
    slot
}

fn entry<'m>(module: &'m Module, variable: Global<'m>, slot: Global<'m>) -> ThreadPrivate<'m> {
    let initial = variable
        .initializer()
        .expect("a definition has an initial value");
    let name = variable.name();
    let ty = variable.value_type();
    let image = module.add_global(
        &image_name(&name),
        ty,
        Some(initial),
        Linkage::LLVMPrivateLinkage,
    );
    // A constant of zeros would take its size in the file.
    if !initial.is_null() {
        image.set_readonly();
    }
    ThreadPrivate {
        place: place(module, slot, &name),
        image,
        size: module.size_of(ty),
        align: variable.alignment().max(module.align_of(ty)),
        name,
    }
}

fn replace_uses<'m>(module: &'m Module, variable: Global<'m>, slot: Global<'m>) {
    variable.expand_constant_users();
    for user in variable.users() {
        let Some(instruction) = user
            .as_instruction()
            .filter(|one| !is_plain(one.function()))
        else {
            continue;
        };
        if is_address_intrinsic(instruction) {
            let copy = Builder::before(module, instruction).load(module.pointer(), *slot);
            instruction.replace_all_uses_with(copy);
            instruction.erase();
        } else {
            replace_operands(module, instruction, *variable, slot);
        }
    }
}

fn is_address_intrinsic(instruction: Instruction<'_>) -> bool {
    instruction
        .as_call()
        .is_some_and(|call| call.callee_name().starts_with("llvm.threadlocal.address"))
}

/// For code that names the variable without the intrinsic.
fn replace_operands<'m>(
    module: &'m Module,
    instruction: Instruction<'m>,
    variable: Value<'m>,
    slot: Global<'m>,
) {
    // A phi must get one value from a block that comes before it in several ways.
    let mut copies: Vec<(Instruction<'m>, Value<'m>)> = Vec::new();
    for (index, operand) in instruction.operands().into_iter().enumerate() {
        if operand != variable {
            continue;
        }
        let place = if instruction.opcode() == Opcode::LLVMPHI {
            let (_, from) = instruction.incoming()[index];
            from.terminator()
                .expect("a complete block has a terminator")
        } else {
            instruction
        };
        let made = copies
            .iter()
            .find(|(at, _)| *at == place)
            .map(|(_, copy)| *copy);
        let copy = made.unwrap_or_else(|| {
            let copy = Builder::before(module, place).load(module.pointer(), *slot);
            copies.push((place, copy));
            copy
        });
        instruction.set_operand(index, copy);
    }
}

/// Tells LLVM that the copies of different variables, and all other objects, are different objects, as it knows of the
/// variables themselves. True where there are any.
pub fn tell_apart(module: &Module) -> bool {
    let mut changed = false;
    for slot in module.globals() {
        let Some(variable) = variable_of_slot(slot) else {
            continue;
        };
        let is_copy = |user: &Instruction<'_>| {
            user.opcode() == Opcode::LLVMLoad && is_for_ranks(user.function())
        };
        let loads: Vec<_> = slot
            .instruction_users()
            .into_iter()
            .filter(is_copy)
            .collect();
        let mut copies: HashMap<Function<'_>, Value<'_>> = HashMap::new();
        for load in loads {
            let function = load.function();
            let copy = *copies.entry(function).or_insert_with(|| {
                let name = apart_name(&variable);
                let object = module.global(&name).unwrap_or_else(|| {
                    let bytes = module.array(module.int(8), 0);
                    let object =
                        module.add_global(&name, bytes, None, Linkage::LLVMExternalLinkage);
                    object.set_thread_local();
                    object
                });
                Builder::at_entry(module, function).call(address_intrinsic(module), &[*object])
            });
            load.replace_all_uses_with(copy);
            load.erase();
            changed = true;
        }
    }
    changed
}

/// Undoes what [`tell_apart`] did. True where there was anything.
pub fn restore(module: &Module) -> bool {
    let mut changed = false;
    for object in module.globals() {
        let variable = variable_apart(object);
        let slot = variable.and_then(|variable| module.global(&slot_name(&variable)));
        let Some(slot) = slot else {
            continue;
        };
        for address in object.instruction_users() {
            let copy = Builder::before(module, address).load(module.pointer(), *slot);
            address.replace_all_uses_with(copy);
            address.erase();
        }
        object.erase();
        changed = true;
    }
    changed
}

/// `llvm.threadlocal.address`.
fn address_intrinsic(module: &Module) -> Function<'_> {
    let name = "llvm.threadlocal.address.p0";
    module.function(name).unwrap_or_else(|| {
        let ty = module.function_type(module.pointer(), &[module.pointer()]);
        module.add_function(name, ty, Linkage::LLVMExternalLinkage)
    })
}
