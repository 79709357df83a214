//! What functions load from variables of the module that nothing changes while they run: pointers to arrays and their
//! extents, mostly. Where a function is entered they are known as its parameters are, and where it is called they are
//! loaded.
//!
//! Guarantee: a load that is known where its function is entered has the value that the variable has there.

use std::collections::{HashMap, HashSet};

use super::hoist::Hoister;
use super::{Nests, Scope, writes};
use crate::llvm::{Builder, Code, Instruction, Module, Opcode, Type, Value};

/// Bits of what is computed with.
const WIDEST: u32 = 64;
/// Bytes from which an object is large: a page. What is loaded from those has to be declared.
pub const LARGE: u64 = 4096;

/// Whether it loads a number or a pointer, whatever happens, from within a variable of which all threads see one.
fn is_of_variable<'m>(module: &'m Module, load: Instruction<'m>) -> bool {
    let address = load.operand(0);
    if !load.is_plain_access() || address.as_instruction().is_some() {
        return false;
    }
    let is_word = load.ty().is_pointer() || load.ty().bits().is_some_and(|bits| bits <= WIDEST);
    let (base, offset) = address.offset_in_object(module);
    is_word
        && base.as_global().is_some_and(|variable| {
            let size = module.store_size_of(variable.value_type());
            size < LARGE
                && !variable.is_declaration()
                && !variable.is_thread_local()
                && (0..=size as i64 - module.store_size_of(load.ty()) as i64).contains(&offset)
        })
}

/// Moves loads of variables that nothing changes while a function runs to where it is entered, each once.
pub(super) fn load_at_entry<'m>(hoister: &Hoister<'_, 'm>, module: &'m Module, code: &Code<'m>) {
    let function = code.function();
    let loads = function.instructions().into_iter();
    let loads = loads.filter(|&at| at.opcode() == Opcode::LLVMLoad && is_of_variable(module, at));
    let unchanged: Vec<_> = loads.filter(|&at| hoister.stays_in(function, at)).collect();
    let Some(first) = function.blocks()[0].first_insertion_point() else {
        return;
    };
    let mut known: HashMap<(Value<'m>, Type<'m>), Instruction<'m>> = HashMap::new();
    for load in unchanged {
        match known.get(&(load.operand(0), load.ty())) {
            Some(&same) => {
                load.replace_all_uses_with(*same);
                load.erase();
            }
            None => {
                known.insert((load.operand(0), load.ty()), load);
                if load != first {
                    load.move_out(first);
                }
            }
        }
    }
}

/// The loads of a function in front of everything that it may write.
pub(super) fn known_at_entry<'m>(module: &'m Module, code: &Code<'m>) -> HashSet<Value<'m>> {
    let blocks = code.function().blocks();
    let first = blocks
        .first()
        .map_or(Vec::new(), |block| block.instructions());
    let first = first.into_iter().take_while(|&at| !writes(at));
    let loads = first.filter(|&at| at.opcode() == Opcode::LLVMLoad && is_of_variable(module, at));
    loads.map(|at| *at).collect()
}

impl<'m> Nests<'m> {
    /// What a variable holds while control is in the scope, around a call of a function that loads it where it is
    /// entered. `None` where it may change meanwhile.
    pub(super) fn loaded_for(
        &self,
        load: Value<'m>,
        scope: Scope<'m>,
        call: Instruction<'m>,
    ) -> Option<Value<'m>> {
        let load = load.as_instruction()?;
        let front = match scope {
            Scope::Loop(nest) | Scope::Turns(nest, _) => self.front_of(nest)?,
            Scope::At(at) => at,
            Scope::Function => self.function().blocks()[0].first_insertion_point()?,
        };
        let key = (load.operand(0), load.ty(), front);
        if let Some(&known) = self.loaded.borrow().get(&key) {
            return known;
        }
        let build = Builder::before(self.module, front);
        let here = build.load(load.ty(), load.operand(0)).as_instruction()?;
        here.limit_alignment(load.alignment());
        let hoister = Hoister::of(self.module, self);
        let stays = match scope {
            Scope::Loop(nest) | Scope::Turns(nest, _) => !hoister.is_written(here, nest),
            Scope::At(at) => at == call,
            Scope::Function => hoister.stays_in(self.function(), here),
        };
        let value = match stays {
            true => Some(*here),
            false => {
                here.erase();
                None
            }
        };
        if let (Scope::Function, Some(value)) = (scope, value) {
            self.at_entry.borrow_mut().insert(value);
        }
        self.loaded.borrow_mut().insert(key, value);
        value
    }
}
