//! Static constructors and destructors: the user's go into the module table, as only rank 0 runs
//! them; the only constructor left is the one that hands over the table.

use crate::diagnostic::{Declined, Site};
use crate::llvm::{Function, Linkage, Module, Value};
use crate::lower::mpi::MARK;

const LISTS: [&str; 2] = ["llvm.global_ctors", "llvm.global_dtors"];

/// Priority of the constructor that hands over the table: before every other.
const FIRST: i32 = 0;

/// One constructor or destructor.
pub struct Entry<'m> {
    /// Smaller ones come first.
    pub priority: i64,
    /// The function.
    pub function: Value<'m>,
}

/// The constructors and destructors of a module.
#[derive(Default)]
pub struct Plan<'m> {
    /// In the order of `llvm.global_ctors`.
    pub constructors: Vec<Entry<'m>>,
    /// In the order of `llvm.global_dtors`.
    pub destructors: Vec<Entry<'m>>,
    /// Entries that are already ours.
    kept: Vec<Value<'m>>,
}

impl Plan<'_> {
    /// Whether the module has none.
    pub fn is_empty(&self) -> bool {
        self.constructors.is_empty() && self.destructors.is_empty()
    }
}

/// Reads both lists.
pub fn check<'m>(module: &'m Module, refused: &mut Vec<Declined<'m>>) -> Plan<'m> {
    let mut plan = Plan::default();
    for (name, list) in LISTS.into_iter().zip([true, false]) {
        let Some(global) = module.global(name) else {
            continue;
        };
        for entry in global
            .initializer()
            .map_or_else(Vec::new, |list| list.operands())
        {
            let fields = entry.operands();
            let (Some(priority), Some(function)) = (
                fields.first().and_then(|value| value.as_constant_int()),
                fields.get(1).filter(|function| !function.is_null()),
            ) else {
                refused.push(Declined {
                    site: Site::Global(global),
                    reason: format!("an entry of {name} is not understood"),
                });
                continue;
            };
            let ours = function.as_function().is_some_and(|f| f.has_mark(MARK));
            if ours && function.name().starts_with(REGISTER) {
                plan.kept.push(*function);
            } else if list {
                plan.constructors.push(Entry {
                    priority,
                    function: *function,
                });
            } else {
                plan.destructors.push(Entry {
                    priority,
                    function: *function,
                });
            }
        }
    }
    plan
}

/// Name of the constructor that hands over the table.
pub const REGISTER: &str = "okl.register";

/// Writes the list of constructors anew, with `register` and what was already ours.
pub fn emit<'m>(module: &'m Module, plan: Plan<'m>, register: Function<'m>) {
    for entry in plan.constructors.iter().chain(&plan.destructors) {
        // An initialiser of a template's or inline variable sits in the comdat of the variable, of
        // which the linker drops all copies but one. The table refers to every copy: they stay, and
        // the variable's guard lets the first one work.
        let function = entry.function.as_function();
        if let Some(function) = function.filter(|function| function.is_local()) {
            function.leave_comdat();
        }
    }
    for name in LISTS {
        if let Some(global) = module.global(name) {
            global.erase();
        }
    }
    let entries: Vec<_> = plan
        .kept
        .into_iter()
        .chain([*register])
        .map(|function| {
            let null = module.pointer().zero();
            module.const_struct(&[module.const_i32(FIRST), function, null])
        })
        .collect();
    let list = module.const_array(entries[0].ty(), &entries);
    module.add_global(
        LISTS[0],
        list.ty(),
        Some(list),
        Linkage::LLVMAppendingLinkage,
    );
}
