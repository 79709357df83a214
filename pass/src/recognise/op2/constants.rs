//! Constants: what `op_decl_const` and the functions that make and declare data are told about their types, and stores to a
//! constant after it was declared.

use std::collections::HashSet;

use super::calls::{self, TYPES, storage_free};
use crate::analysis::call_graph::CallGraph;
use crate::diagnostic::{Declined, Site};
use crate::llvm::{Call, Function, Global, Instruction, Module, Opcode, Value};
use crate::recognise::Found;

/// A call that declares a constant.
struct Declaration<'m> {
    call: Call<'m>,
    components: Option<i64>,
    type_name: Option<String>,
    address: Value<'m>,
}

/// Adds what is wrong with the types of variables and data, and with constants.
pub fn check<'m>(module: &'m Module, found: &mut Found<'m>) {
    let mut constants = Vec::new();
    for function in module.functions() {
        if is_library(function) {
            continue;
        }
        for instruction in function.instructions() {
            let Some(call) = (*instruction).as_call() else {
                continue;
            };
            if let Some(what) = translated(call) {
                tell(&mut found.doubts, instruction, what);
            }
            let Some(api) = calls::api(call) else {
                continue;
            };
            match wrong_type(call, &api) {
                Some(what) => tell(&mut found.mistakes, instruction, what),
                None => constants.extend(Declaration::of(call, &api)),
            }
        }
    }
    for constant in &constants {
        constant.check(module, found);
    }
    changed_later(module, &constants, found);
}

fn tell<'m>(list: &mut Vec<Declined<'m>>, at: Instruction<'m>, reason: String) {
    list.push(Declined {
        site: Site::Instruction(at),
        reason,
    });
}

/// Whether it is one of the header's templates, which hand their parameters on.
pub fn is_library(function: Function<'_>) -> bool {
    let shown = crate::llvm::demangle(&function.name());
    let name = shown.split('<').next().unwrap_or_default();
    let name = name.rsplit([' ', '*']).next().unwrap_or_default();
    let hands_on = || shown.contains(" op_par_loop<");
    function.name().starts_with("_Z") && (name.starts_with("op_") || hands_on())
}

/// What is wrong with the name of a type, where the template says which one it is.
fn wrong_type(call: Call<'_>, api: &calls::Api) -> Option<String> {
    // Position of the name among the operands, without the result.
    let at = match api.name.as_str() {
        "op_decl_dat" | "op_decl_dat_temp" | "op_decl_const2" => 2,
        "op_arg_gbl" | "op_arg_info" => 3,
        "op_opt_arg_gbl" => 4,
        "op_decl_const" => 1,
        _ => return None,
    };
    let [is, ..] = &api.template_arguments[..] else {
        return None;
    };
    let is = is.strip_suffix(" const").unwrap_or(is);
    let name = call.argument(at)?.as_text()?;
    let is_named = TYPES
        .into_iter()
        .find(|(own, ..)| *own == storage_free(&name));
    let is_known = TYPES.into_iter().any(|(_, cpp, _)| cpp == is);
    let differs = match is_named {
        Some((_, cpp, _)) => cpp != is,
        // Others are the program's own.
        None => is_known,
    };
    differs.then(|| format!("{}: the data are of type {is}, not \"{name}\"", api.name))
}

/// What to do about a loop that OP2's translator has taken out of a program.
fn translated(call: Call<'_>) -> Option<String> {
    let callee = call.callee_function().filter(|one| one.is_declaration())?;
    let shown = crate::llvm::demangle(&callee.name());
    let (name, parameters) = shown.split_once('(')?;
    let is_stub = name.starts_with("op_par_loop_")
        && parameters.starts_with("char const*, op_set_core*, op_arg");
    is_stub.then(|| {
        format!(
            "{name} is a loop that OP2's translator has replaced: compile the original source, which calls op_par_loop"
        )
    })
}

impl<'m> Declaration<'m> {
    fn of(call: Call<'m>, api: &calls::Api) -> Option<Self> {
        let operands = call.arguments();
        let (components, type_name, address) = match (api.name.as_str(), operands.len()) {
            ("op_decl_const", 3) => (0, 1, 2),
            ("op_decl_const2", 4) => (1, 2, 3),
            // op_decl_const_char.
            ("op_decl_const", 5) => (0, 1, 3),
            _ => return None,
        };
        Some(Self {
            call,
            components: operands[components].as_constant_int(),
            type_name: operands[type_name].as_text(),
            address: operands[address],
        })
    }

    /// The variable, where it is one that kernels can see.
    fn global(&self, module: &'m Module) -> Option<Global<'m>> {
        self.address.base_and_offset(module).0.as_global()
    }

    fn check(&self, module: &'m Module, found: &mut Found<'m>) {
        let at = self.call.instruction();
        let (base, offset) = self.address.base_and_offset(module);
        if base.as_op(Opcode::LLVMAlloca).is_some() {
            let what = "op_decl_const: this is no global variable: kernels do not see it";
            tell(&mut found.doubts, at, what.to_string());
        }
        let type_name = self.type_name.as_deref().map(storage_free);
        let element = type_name.and_then(|name| TYPES.into_iter().find(|(own, ..)| *own == name));
        let is_defined = |global: &Global<'m>| !global.is_declaration();
        let (Some(global), Some(offset), Some(components), Some((name, _, scalar))) = (
            base.as_global().filter(is_defined),
            offset,
            self.components,
            element,
        ) else {
            return;
        };
        let there = (module.size_of(global.value_type()) as i64 - offset) / scalar.bytes;
        if components < 1 || components > there {
            let shown = crate::llvm::demangle(&global.name());
            let what = format!(
                "op_decl_const: {components} values of type \"{name}\", but {shown} has {there}"
            );
            tell(&mut found.mistakes, at, what);
        }
    }
}

/// Warns of stores that may follow the declaration of what they store to, unless that is declared again.
fn changed_later<'m>(module: &'m Module, constants: &[Declaration<'m>], found: &mut Found<'m>) {
    if constants.is_empty() {
        return;
    }
    let graph = CallGraph::of(module);
    let mut told = HashSet::new();
    for constant in constants {
        let Some(global) = constant.global(module) else {
            continue;
        };
        let again: Vec<_> = constants
            .iter()
            .filter(|other| other.global(module) == Some(global))
            .map(|other| other.call.instruction())
            .collect();
        let after = After::of(constant.call.instruction(), &graph);
        for store in stores(module, *global) {
            let is_declared_again = || {
                let later = After::of(store, &graph);
                again.iter().any(|one| later.contains(*one))
            };
            if !after.contains(store) || is_declared_again() || !told.insert(store) {
                continue;
            }
            let place = constant.call.instruction().source_location();
            let place = place.map_or(String::new(), |(file, line)| format!(" at {file}:{line}"));
            let name = crate::llvm::demangle(&global.name());
            let what = format!(
                "op_decl_const: {name} is changed here after it was declared constant{place}"
            );
            tell(&mut found.doubts, store, what);
        }
    }
}

/// The instructions that store to a variable.
fn stores<'m>(module: &'m Module, variable: Value<'m>) -> Vec<Instruction<'m>> {
    let mut stores = Vec::new();
    for function in module.functions() {
        for instruction in function.instructions() {
            let to = match instruction.opcode() {
                Opcode::LLVMStore => instruction.operand(1),
                Opcode::LLVMCall => {
                    let call = instruction.as_call();
                    let is_copy = call.is_some_and(|call| {
                        let name = call.callee_name();
                        name.starts_with("llvm.mem")
                    });
                    if !is_copy {
                        continue;
                    }
                    instruction.operand(0)
                }
                _ => continue,
            };
            if to.base_and_offset(module).0 == variable {
                stores.push(instruction);
            }
        }
    }
    stores
}

/// What may run after an instruction has: in its function, in those that are called there, and in those that have called
/// it.
struct After<'m> {
    instructions: HashSet<Instruction<'m>>,
    functions: HashSet<Function<'m>>,
}

impl<'m> After<'m> {
    fn of(instruction: Instruction<'m>, graph: &CallGraph<'m>) -> Self {
        let mut after = Self {
            instructions: HashSet::new(),
            functions: HashSet::new(),
        };
        let (mut rest, mut seen) = (vec![instruction], HashSet::from([instruction]));
        while let Some(point) = rest.pop() {
            after.add(point, graph);
            for user in point.function().users() {
                let is_call = |call: &Call<'m>| call.callee_function() == Some(point.function());
                if let Some(call) = user.as_call().filter(is_call)
                    && seen.insert(call.instruction())
                {
                    rest.push(call.instruction());
                }
            }
        }
        after
    }

    fn add(&mut self, point: Instruction<'m>, graph: &CallGraph<'m>) {
        let block = point.block().instructions();
        let rest = block.into_iter().skip_while(|one| *one != point).skip(1);
        let mut new: Vec<_> = rest.collect();
        let (mut blocks, mut seen) = (point.block().successors(), HashSet::new());
        while let Some(block) = blocks.pop() {
            if seen.insert(block) {
                new.extend(block.instructions());
                blocks.extend(block.successors());
            }
        }
        for instruction in new {
            if !self.instructions.insert(instruction) {
                continue;
            }
            for operand in instruction.operands() {
                if let Some(function) = operand.through_alias().as_function() {
                    self.functions.extend(graph.reachable(function));
                }
            }
        }
    }

    fn contains(&self, instruction: Instruction<'m>) -> bool {
        self.instructions.contains(&instruction) || self.functions.contains(&instruction.function())
    }
}
