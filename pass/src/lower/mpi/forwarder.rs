//! Forwarders: functions that only hand their parameters on, and return that.
//!
//! There is one for all calls of a function in a program, so its name is to say what is added to it.

use crate::llvm::{Builder, Call, Function, Linkage, Module, Place, Visibility, hash};
use crate::marks::FORWARDS;

/// What cannot be handed on.
const STAYING: [&str; 7] = [
    "byval",
    "inalloca",
    "preallocated",
    "nest",
    "swiftself",
    "swifterror",
    "swiftasync",
];

/// What is part of the calling convention, in LLVM's order.
const CONVENTION: [&str; 4] = ["inreg", "signext", "zeroext", "sret"];

/// What code is made for.
pub const TARGET: [&str; 5] = [
    "target-cpu",
    "target-features",
    "tune-cpu",
    "frame-pointer",
    "uwtable",
];

/// Has a call go through a function of this name, which is completed with the type. `None` where the parameters cannot be
/// handed on; nothing is changed then.
pub fn put_before<'m>(module: &'m Module, call: Call<'m>, name: &str) -> Option<Function<'m>> {
    let has = |name: &&str| {
        let mut places = call.places().chain([Place::Call]);
        places.any(|place| call.attribute(place, name).is_some())
    };
    let callee = call.callee().as_function();
    let returns_twice = call.attribute(Place::Call, "returns_twice").is_some()
        || callee.is_some_and(|callee| callee.has_attribute("returns_twice"));
    if STAYING.iter().any(has)
        || call.is_asm_goto()
        || call.is_must_tail()
        || call.has_bundles()
        || call.function_type().is_variadic()
        || returns_twice
    {
        return None;
    }
    let name = format!("{name}.{:x}", hash(&shape(call)));
    let found = module.function(&name);
    let forwarder = found.unwrap_or_else(|| add(module, call, &name));
    call.set_callee(*forwarder);
    Some(forwarder)
}

/// How what a call calls is called.
fn shape(call: Call<'_>) -> String {
    let attributes = |place: Place| {
        let texts = CONVENTION.iter().filter_map(|name| {
            let ty = call.attribute(place, name)?.ty();
            Some(ty.map_or(name.to_string(), |ty| format!("{name}({})", ty.reference())))
        });
        texts.collect::<Vec<_>>().join(" ")
    };
    let mut shape = format!("{} {}", call.function_type().print(), call.convention());
    for place in call.places().skip(1) {
        shape += &attributes(place);
        shape += ";";
    }
    shape += &attributes(Place::Result);
    // Vectors are passed as the processor can.
    let features = call.instruction().function().mark_value("target-features");
    shape + &features.unwrap_or_default()
}

fn add<'m>(module: &'m Module, call: Call<'m>, name: &str) -> Function<'m> {
    let ty = call.function_type();
    let forwarder = module.add_function(name, ty, Linkage::LLVMLinkOnceODRLinkage);
    module.set_visibility(*forwarder, Visibility::LLVMHiddenVisibility);
    forwarder.join_comdat(module, name);
    forwarder.set_convention_of(call);
    for place in call.places() {
        for attribute in CONVENTION
            .iter()
            .filter_map(|name| call.attribute(place, name))
        {
            forwarder.add_attribute(place, attribute);
        }
    }
    for name in TARGET {
        forwarder.copy_attribute(call.instruction().function(), name);
    }
    forwarder.set_attribute(module, "noinline");
    FORWARDS.put_on(module, forwarder);
    let builder = Builder::at_end(module, forwarder.append_block(module));
    let on = builder.call_typed(ty, call.callee(), &forwarder.parameters());
    on.follow(forwarder);
    on.set_must_tail();
    builder.ret((!ty.result().is_void()).then_some(*on));
    forwarder
}
