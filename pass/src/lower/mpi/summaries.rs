//! What functions do with memory, for regions of other files that call them: the run time joins it when the program starts.
//!
//! A summary is right for one definition of its function, whatever others the linker may take in its place: that one has
//! the summary's identity in front of its first instruction.

use std::collections::HashSet;

use okl_abi::{FunctionSummary, Summaries, summary_flags};

use super::external_calls;
use crate::analysis::sections::Region;
use crate::analysis::summaries::{Called, Leaf, leaf};
use crate::diagnostic::user_name;
use crate::llvm::{Function, Linkage, Module, Value, hash};
use crate::marks::{SUMMARIES, is_lowered, is_plain};

/// Bytes of an identity.
const IDENTITY: usize = 16;

/// What is known of a function.
enum Summary<'m> {
    Leaf(Leaf<'m>),
    Declares {
        objects: Vec<Value<'m>>,
        flags: i64,
        stretches: Vec<Value<'m>>,
    },
}

impl Summary<'_> {
    /// What it says, by name.
    fn text(&self) -> String {
        let names = |list: &[Value<'_>]| {
            let names = list.iter().filter_map(|one| Some(one.as_global()?.name()));
            names.collect::<Vec<_>>().join(" ")
        };
        match self {
            Self::Leaf(leaf) => {
                let calls = leaf.calls.iter();
                let calls = calls.map(|one| format!("{} {:?}", one.callee.name(), one.arguments));
                let calls: Vec<_> = calls.collect();
                let calls = calls.join(" ");
                format!("{} {}: {calls}", leaf.parameters, names(&leaf.objects))
            }
            Self::Declares {
                objects,
                flags,
                stretches,
            } => format!("{flags} {}: {}", names(objects), names(stretches)),
        }
    }
}

/// The summaries of a module.
pub struct Plan<'m> {
    found: Vec<(Function<'m>, Summary<'m>)>,
}

/// Finds the leaves among the functions of a module that others may call, and among those that these call; functions that
/// declare what they access are none.
pub fn check<'m>(module: &'m Module, declaring: &[Region<'m>]) -> Plan<'m> {
    let declaring: HashSet<_> = declaring.iter().map(|one| one.body).collect();
    let mut found = Vec::new();
    if !has_place(module) {
        return Plan { found };
    }
    let functions = module.functions().into_iter();
    let mut rest: Vec<_> = functions.filter(|one| is_public(*one)).collect();
    let mut seen: HashSet<_> = rest.iter().copied().collect();
    while let Some(function) = rest.pop() {
        if function.is_declaration() || is_plain(function) || !is_lowered(function) {
            continue;
        }
        if declaring.contains(&function) {
            continue;
        }
        let Some(leaf) = leaf(module, function) else {
            continue;
        };
        let called = leaf.calls.iter().map(|one| one.callee);
        rest.extend(called.filter(|one| seen.insert(*one)));
        found.push((function, Summary::Leaf(leaf)));
    }
    Plan { found }
}

fn is_public(function: Function<'_>) -> bool {
    matches!(
        function.linkage(),
        Linkage::LLVMExternalLinkage | Linkage::LLVMWeakAnyLinkage | Linkage::LLVMWeakODRLinkage
    )
}

/// Whether the run time looks for summaries in the module.
fn has_place(module: &Module) -> bool {
    module.global(SUMMARIES).is_some()
}

impl<'m> Plan<'m> {
    /// Adds a function that declares what it accesses, with its stretches that may turn out not to be any.
    pub fn add_declaring(&mut self, one: &Region<'m>, stretches: Vec<Value<'m>>) {
        let mut flags = summary_flags::DECLARES;
        if !one.stretches.is_empty() {
            flags |= summary_flags::STRETCHES;
        }
        if one.no_atomics_here {
            flags |= summary_flags::NO_ATOMICS;
        }
        let mut objects: Vec<_> = one.direct.iter().map(|one| one.object).collect();
        objects.sort_by_key(|one| one.as_global().map(|one| one.name()));
        objects.dedup();
        let declares = Summary::Declares {
            objects,
            flags,
            stretches,
        };
        self.found.push((one.body, declares));
    }

    /// The variables that functions access undeclared.
    pub fn objects(&self) -> Vec<Value<'m>> {
        let objects = self.found.iter().flat_map(|(_, one)| match one {
            Summary::Leaf(leaf) => &leaf.objects,
            Summary::Declares { objects, .. } => objects,
        });
        objects.copied().collect()
    }
}

/// Leaves the summaries where the run time finds them, and their identities in the functions. True where there are any.
pub fn emit<'m>(module: &'m Module, plan: Plan<'m>) -> bool {
    let Some(place) = module.global(SUMMARIES) else {
        return false;
    };
    let mut list = Vec::new();
    for (function, summary) in &plan.found {
        if let Some(identity) = identify(module, *function, summary) {
            list.push(emit_one(module, *function, summary, identity));
        }
    }
    let Some(first) = list.first() else {
        return false;
    };
    let array = module.const_array(first.ty(), &list);
    let array = *module.add_constant("okl.function_summaries", array);
    let fields = [array, module.const_i64(list.len() as i64)];
    assert!(fields.len() == Summaries::FIELDS.len());
    place.set_initializer(module.const_struct(&fields));
    true
}

fn emit_one<'m>(
    module: &'m Module,
    function: Function<'m>,
    summary: &Summary<'m>,
    identity: [u64; 2],
) -> Value<'m> {
    let (objects, calls, stretches, flags, parameters): (_, &[_], &[_], _, _) = match summary {
        Summary::Leaf(leaf) => {
            let flags = summary_flags::NO_ATOMICS;
            (&leaf.objects, &leaf.calls, &[], flags, leaf.parameters)
        }
        Summary::Declares {
            objects,
            flags,
            stretches,
        } => (objects, &[], stretches, *flags, 0),
    };
    let objects: Vec<_> = objects
        .iter()
        .filter_map(|one| {
            let size = module.size_of(one.as_global()?.value_type());
            Some(module.const_struct(&[*one, module.const_i64(size as i64)]))
        })
        .collect();
    let (objects, object_count) = array(module, "okl.objects", &objects);
    let (calls, call_count) = self::calls(module, calls.iter().copied());
    let (stretches, stretch_count) = array(module, "okl.stretches", stretches);
    let fields = FunctionSummary::NAMES.iter().map(|&field| match field {
        "address" => *function,
        "identity" => module.const_i64(identity[0] as i64),
        "identity_rest" => module.const_i64(identity[1] as i64),
        "flags" => module.const_i64(flags),
        "parameters" => module.const_i64(parameters.into()),
        "objects" => objects,
        "object_count" => module.const_i64(object_count),
        "calls" => calls,
        "call_count" => module.const_i64(call_count),
        "stretches" => stretches,
        "stretch_count" => module.const_i64(stretch_count),
        other => unreachable!("a summary has no {other}"),
    });
    module.const_struct(&fields.collect::<Vec<_>>())
}

/// A list of `SummaryCall`, and its length.
pub(super) fn calls<'m>(
    module: &'m Module,
    calls: impl Iterator<Item = Called<'m>>,
) -> (Value<'m>, i64) {
    let calls = calls.map(|one| {
        let callee = reference(module, one.callee);
        module.const_struct(&[
            callee,
            match one.is_forwarded {
                true => *external_calls::translated(module, &one.callee.name()),
                false => callee,
            },
            *module.add_text("okl.text", &user_name(one.callee)),
            module.const_i64(i64::from_le_bytes(one.arguments)),
        ])
    });
    array(module, "okl.calls", &calls.collect::<Vec<_>>())
}

/// A function that is called; an inline one may be defined nowhere, where every call of it is one of a copy.
fn reference<'m>(module: &'m Module, callee: Function<'m>) -> Value<'m> {
    match callee.linkage() == Linkage::LLVMAvailableExternallyLinkage {
        true => {
            let null = module.pointer().zero();
            module.weak_reference(callee).unwrap_or(null)
        }
        false => *callee,
    }
}

/// An array as a constant of its own, and its length; null where it is empty.
fn array<'m>(module: &'m Module, name: &str, values: &[Value<'m>]) -> (Value<'m>, i64) {
    let Some(first) = values.first() else {
        return (module.pointer().zero(), 0);
    };
    let value = module.const_array(first.ty(), values);
    (*module.add_constant(name, value), values.len() as i64)
}

/// Gives a definition an identity, if it can have one. Definitions may have the same, whose summaries say the same by name:
/// the run time then has both of them, and takes what either says.
fn identify<'m>(
    module: &'m Module,
    function: Function<'m>,
    summary: &Summary<'m>,
) -> Option<[u64; 2]> {
    if function.has_mark("patchable-function-prefix")
        || function.has_mark("patchable-function-entry")
    {
        return None;
    }
    let text = format!(
        "{}\n{}\n{}",
        module.source_file(),
        function.name(),
        summary.text()
    );
    let identity = [hash(&text), hash(&format!("{text}\n"))];
    // Where its alignment is greater, the identity is what is next to it.
    let bytes = (function.stated_alignment() as usize).max(IDENTITY);
    let words = bytes / 8 - 2;
    let mut data = vec![module.const_i64(0); words];
    data.extend(identity.map(|one| module.const_i64(one as i64)));
    let data = module.const_array(data[0].ty(), &data);
    function.put_in_front(data).then_some(identity)
}
