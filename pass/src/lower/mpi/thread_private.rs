//! `thread_local` variables: each rank has a copy outside the shared memory, which the code reaches
//! through a pointer variable that the runtime fills.

use crate::analysis::library::is_library_variable;
use crate::diagnostic::{Declined, Site};
use crate::llvm::{Builder, Global, Instruction, Linkage, Module, Opcode, Value};

/// The variables of a module.
pub struct Plan<'m> {
    variables: Vec<Global<'m>>,
}

impl Plan<'_> {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }
}

/// A variable as the module table lists it.
pub struct ThreadPrivate<'m> {
    /// The pointer to this rank's copy.
    pub slot: Global<'m>,
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
        if !global.is_thread_local() || is_library_variable(&name) || is_unused(global) {
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
    Plan { variables }
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
        variable.erase();
    }
    entries
}

fn slot<'m>(module: &'m Module, variable: Global<'m>) -> Global<'m> {
    let name = format!("okl.tp.{}", variable.name());
    let pointer = module.pointer();
    let initial = (!variable.is_declaration()).then(|| pointer.zero());
    let linkage = match variable.linkage() {
        Linkage::LLVMCommonLinkage => Linkage::LLVMWeakAnyLinkage,
        other => other,
    };
    let slot = module.add_global(&name, pointer, initial, linkage);
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
        &format!("okl.tp.image.{name}"),
        ty,
        Some(initial),
        Linkage::LLVMPrivateLinkage,
    );
    // A constant of zeros would take its size in the file.
    if !initial.is_null() {
        image.set_readonly();
    }
    ThreadPrivate {
        slot,
        image,
        size: module.size_of(ty),
        align: variable.alignment().max(module.align_of(ty)),
        name,
    }
}

fn replace_uses<'m>(module: &'m Module, variable: Global<'m>, slot: Global<'m>) {
    variable.expand_constant_users();
    for user in variable.users() {
        let Some(instruction) = user.as_instruction() else {
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
    // What is left are mentions in llvm.used and its like, which do not keep the new variables.
    if !variable.is_unused() {
        variable.replace_all_uses_with(*slot);
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
