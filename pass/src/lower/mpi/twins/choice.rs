//! Functions that choose between two by the flag.

use super::uses;
use crate::llvm::{Builder, Call, Function, Global, Instruction, Linkage, Module, Value};
use crate::marks::{Mark, name_for_ranks};

/// Whether the flag, a byte that stays as it is, is not 0: asked in front of an instruction.
pub fn is_set<'m>(module: &'m Module, flag: Global<'m>, at: Instruction<'m>) -> Value<'m> {
    ask(&Builder::before(module, at), flag)
}

fn ask<'m>(builder: &Builder<'m>, flag: Global<'m>) -> Value<'m> {
    // It has its value before anything of the program runs.
    let byte = builder.load_invariant(builder.module().int(8), *flag);
    builder.compare(byte, byte.ty().zero(), true)
}

/// A function that takes over the name of `ranks` and its uses, but for calls in functions with this mark, and chooses
/// by `flag`: `ranks` where it is 0, `plain` elsewhere.
pub fn add_entry<'m>(
    module: &'m Module,
    ranks: Function<'m>,
    plain: Function<'m>,
    flag: Global<'m>,
    mark: Mark,
) -> Function<'m> {
    let entry = module.add_function("", ranks.function_type(), ranks.linkage());
    entry.copy_attributes(ranks);
    entry.join_comdat_of(ranks);
    for name in ["presplitcoroutine", "alwaysinline", "naked"] {
        entry.remove_attribute(name);
    }
    entry.copy_metadata(module, ranks, &["type", "kcfi_type"]);
    entry.copy_subprogram(ranks);
    entry.take_name(*ranks);
    ranks.set_name(&name_for_ranks(&entry.name()));
    uses::put_in_front(entry, ranks, mark);
    choose(module, entry, flag, plain, Some((ranks, *ranks)));
    // LLVM takes dead variable arguments from functions that are only called, and leaves calls in tail position broken
    // where they hand theirs on.
    if ranks.function_type().is_variadic() {
        module.append_to_compiler_used(*ranks);
        module.append_to_compiler_used(*plain);
    }
    entry
}

/// A function of the type of `like` that chooses by `flag`: `ranks`, if there is one, which is called as `like` is, where
/// it is 0, `plain`, which may have fewer parameters, elsewhere.
pub fn add_choice<'m>(
    module: &'m Module,
    name: &str,
    like: Function<'m>,
    plain: Function<'m>,
    ranks: Option<Function<'m>>,
    flag: Global<'m>,
) -> Function<'m> {
    let ty = like.function_type();
    let choice = module.add_function(name, ty, Linkage::LLVMInternalLinkage);
    choice.follow_convention(like);
    choose(
        module,
        choice,
        flag,
        plain,
        ranks.map(|ranks| (like, *ranks)),
    );
    choice
}

/// The body of a function that chooses. For several ranks there is what to call, and what that is called like; nothing
/// is done there where there is none.
fn choose<'m>(
    module: &'m Module,
    function: Function<'m>,
    flag: Global<'m>,
    plain: Function<'m>,
    ranks: Option<(Function<'m>, Value<'m>)>,
) {
    let blocks = ["", "plain", "ranks"].map(|name| function.append_named_block(module, name));
    let [entry, on_one, on_several] = blocks.map(|block| {
        let builder = Builder::at_end(module, block);
        builder.stand_at_start_of(function);
        builder
    });
    entry.go_if(ask(&entry, flag), blocks[1], blocks[2]);
    let call = hand_on(&on_one, function, plain, *plain);
    finish(&on_one, function, Some(call));
    let call = ranks.map(|(like, callee)| {
        let call = hand_on(&on_several, function, like, callee);
        // What is added later to the version for ranks is added to the function that is marked so.
        call.inline_never(module);
        call
    });
    finish(&on_several, function, call);
}

/// Calls `callee` as `like` is called, with the parameters of a function, as far as it has so many.
fn hand_on<'m>(
    builder: &Builder<'m>,
    from: Function<'m>,
    like: Function<'m>,
    callee: Value<'m>,
) -> Call<'m> {
    let ty = like.function_type();
    let count = ty.parameters().len();
    let arguments: Vec<_> = from.parameters().into_iter().take(count).collect();
    let call = builder.call_typed(ty, callee, &arguments);
    call.follow(like);
    if ty == from.function_type() {
        call.set_must_tail();
    }
    call
}

/// Returns from a function: what a call returns, if that is what the function returns.
fn finish<'m>(builder: &Builder<'m>, function: Function<'m>, call: Option<Call<'m>>) {
    let ty = function.function_type().result();
    let result = call.map(|call| *call).filter(|call| call.ty() == ty);
    let result = (!ty.is_void()).then(|| result.unwrap_or_else(|| ty.zero()));
    builder.ret(result);
}
