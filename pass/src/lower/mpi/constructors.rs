//! Static constructors and destructors: the user's go into the module table, as only rank 0 of several runs
//! them. The C library calls the one that hands over the table, and for each of the user's a function that calls it
//! on a single rank.

use crate::diagnostic::{Declined, Site};
use crate::llvm::{Function, Linkage, Module, Value};
use crate::lower::mpi::twins::{Twins, add_choice};
use crate::marks::{ENTRY, ON_ONE_RANK, is_our_constructor};

const LISTS: [&str; 2] = ["llvm.global_ctors", "llvm.global_dtors"];

/// Priority of the constructor that hands over the table: before every other.
const FIRST: i64 = 0;

/// One constructor or destructor.
pub struct Entry<'m> {
    /// Smaller ones come first.
    pub priority: i64,
    /// The function.
    pub function: Value<'m>,
    /// The object that the linker drops it with, or null.
    of: Value<'m>,
}

/// The constructors and destructors of a module.
#[derive(Default)]
pub struct Plan<'m> {
    /// In the order of `llvm.global_ctors`.
    pub constructors: Vec<Entry<'m>>,
    /// In the order of `llvm.global_dtors`.
    pub destructors: Vec<Entry<'m>>,
    /// Entries that are already ours.
    kept_constructors: Vec<Entry<'m>>,
    kept_destructors: Vec<Entry<'m>>,
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
            let of = fields.get(2).copied();
            let entry = Entry {
                priority,
                function: *function,
                of: of.unwrap_or_else(|| module.pointer().zero()),
            };
            let kept = function.as_function().is_some_and(is_our_constructor);
            match (list, kept) {
                (true, true) => plan.kept_constructors.push(entry),
                (true, false) => plan.constructors.push(entry),
                (false, true) => plan.kept_destructors.push(entry),
                (false, false) => plan.destructors.push(entry),
            }
        }
    }
    plan
}

/// Writes the lists anew, with `register` and what was already ours.
pub fn emit<'m>(module: &'m Module, plan: Plan<'m>, register: Function<'m>, twins: &Twins<'m>) {
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
    let null = module.pointer().zero();
    let register = Entry {
        priority: FIRST,
        function: *register,
        of: null,
    };
    let on_one_rank = |entry: &Entry<'m>| {
        let function = entry.function.as_function()?;
        let plain = twins.plain(function);
        let choice = add_choice(module, ON_ONE_RANK, plain, plain, None, twins.flag);
        ENTRY.put_on(module, choice);
        Some(Entry {
            priority: entry.priority,
            function: *choice,
            of: entry.of,
        })
    };
    let constructors: Vec<_> = plan.constructors.iter().filter_map(on_one_rank).collect();
    let destructors: Vec<_> = plan.destructors.iter().filter_map(on_one_rank).collect();
    let constructors = [register].into_iter().chain(constructors);
    let lists = [
        (plan.kept_constructors.into_iter().chain(constructors)).collect::<Vec<_>>(),
        (plan.kept_destructors.into_iter().chain(destructors)).collect::<Vec<_>>(),
    ];
    for (name, entries) in LISTS.into_iter().zip(lists) {
        let entries = entries.iter().map(|entry| {
            let priority = module.const_i32(entry.priority as i32);
            module.const_struct(&[priority, entry.function, entry.of])
        });
        let entries: Vec<_> = entries.collect();
        let Some(first) = entries.first() else {
            continue;
        };
        let list = module.const_array(first.ty(), &entries);
        module.add_global(name, list.ty(), Some(list), Linkage::LLVMAppendingLinkage);
    }
}
