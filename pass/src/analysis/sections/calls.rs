//! What one instruction means for the declarations.

use okl_abi::{Effects, FOREIGN, OWN, REST, RuntimeFn, f};

use super::places::Places;
use super::{Access, Direct, Size, stays_within};
use crate::analysis::call_graph::{is_final, reached};
use crate::analysis::combine::touches_only_items;
use crate::analysis::library::{self, accesses_arguments_only, is_mathematics, known};
use crate::analysis::memory::base_of;
use crate::analysis::runtime;
use crate::llvm::{Call, Function, Instruction, Linkage, Module, Opcode, Reach, Value};
use crate::marks::{forwarded, gives_memory, is_undistributed_too};

/// What an instruction does.
pub(in crate::analysis) enum Effect<'m> {
    /// Nothing that matters.
    Nothing,
    /// It accesses memory.
    Accesses(Vec<Access<'m>>),
    /// It takes this thread's share of a loop: the loops around it are not hot.
    Shares,
    /// It may synchronise, so nothing may be declared across it.
    Synchronises,
    /// It calls a function of the program.
    Calls(Function<'m>),
    /// It calls a function of which only the run time may know what it does.
    Depends(Box<Dependence<'m>>),
    /// It cannot be declared: the end of a sentence that begins with "it".
    Spoils(String),
}

/// A call of a function of another file: it need not be declared if that one says that it accesses nothing that others do.
#[derive(Clone)]
pub struct Dependence<'m> {
    /// The call.
    pub at: Instruction<'m>,
    /// The function.
    pub callee: Function<'m>,
    /// Whether what arguments lead to is brought in first, unless the function is translated.
    pub is_forwarded: bool,
    /// As in [`okl_abi::SummaryCall::arguments`].
    pub arguments: [u8; REST + 1],
    /// What arguments lead to that is known when the region is forked.
    pub direct: Vec<Direct<'m>>,
    /// What keeps it from being declared, as the end of a sentence that begins with "it".
    pub reason: String,
}

impl<'m> Dependence<'m> {
    /// A call of a function, perhaps by way of another one.
    pub(in crate::analysis) fn of(
        places: &Places<'m>,
        call: Call<'m>,
        callee: Function<'m>,
        reason: String,
    ) -> Self {
        let mut found = Self {
            at: call.instruction(),
            callee,
            is_forwarded: is_forwarded(call),
            arguments: [FOREIGN; REST + 1],
            direct: Vec::new(),
            reason,
        };
        let ty = call.function_type();
        let named = match ty.is_variadic() {
            true => ty.parameters().len(),
            false => usize::MAX,
        };
        // What is not there leads nowhere, and a call may hand on what else it has been given.
        let hands_on = ty.is_variadic() && call.is_must_tail();
        found.arguments[REST] = if hands_on { REST as u8 } else { OWN };
        for (index, argument) in call.arguments().into_iter().enumerate() {
            let reached = match index < named || argument.ty().is_pointer() {
                true => found.reached(places, argument),
                false => OWN,
            };
            if index < named.min(REST) {
                found.arguments[index] = reached;
                continue;
            }
            let known = &mut found.arguments[REST];
            *known = match (*known, reached) {
                (OWN, other) | (other, OWN) => other,
                (one, other) if one == other => one,
                _ => FOREIGN,
            };
        }
        found
    }

    /// What an argument leads to. What is no pointer here may be one to the function, unless it is of variable arguments.
    fn reached(&mut self, places: &Places<'m>, argument: Value<'m>) -> u8 {
        if !argument.ty().is_pointer() {
            return FOREIGN;
        }
        if argument.is_null() || places.is_own(argument) {
            return OWN;
        }
        let base = base_of(argument);
        if let Some(size) = places.small_variable(base) {
            self.direct.push(Direct {
                object: base,
                offset: 0,
                size,
            });
            return OWN;
        }
        match places.parameter(base) {
            Some(index) => index.min(REST) as u8,
            None => FOREIGN,
        }
    }
}

/// Whether a call reaches its function by way of another one.
fn is_forwarded(call: Call<'_>) -> bool {
    let called = call.callee().through_alias().as_function();
    called.is_some_and(|one| forwarded(one).is_some())
}

/// Whether a call only writes numbers and text to a stream that is constant or the thread's own, or ends the program.
fn is_message<'m>(places: &Places<'m>, call: Call<'m>, name: &str) -> bool {
    let plain = library::plain(name);
    let stream = library::stream_argument(plain);
    let mut arguments = call.arguments().into_iter().enumerate();
    library::is_message(plain)
        && arguments.all(|(index, one)| {
            !one.ty().is_pointer()
                || Some(index) == stream
                || one.as_text().is_some()
                || places.is_own(one)
        })
}

/// What a function that only writes text to a stream, or ends the program, reads of the program's: its pointers, but for
/// the stream and for constant text. None where it is no such function.
pub(in crate::analysis) fn read_by_message<'m>(
    call: Call<'m>,
    name: &str,
) -> Option<Vec<Value<'m>>> {
    let plain = library::plain(name);
    let stream = match plain {
        "vfprintf" => Some(0),
        "vprintf" => None,
        _ if library::is_message(plain) => library::stream_argument(plain),
        _ => return None,
    };
    let arguments = call.arguments().into_iter().enumerate();
    let read = arguments.filter(|&(index, one)| {
        one.ty().is_pointer() && Some(index) != stream && one.as_text().is_none()
    });
    Some(read.map(|(_, one)| one).collect())
}

/// What an instruction does.
pub(in crate::analysis) fn effect<'m>(
    module: &'m Module,
    places: &Places<'m>,
    instruction: Instruction<'m>,
) -> Effect<'m> {
    match instruction.opcode() {
        Opcode::LLVMLoad | Opcode::LLVMStore => {
            let is_store = instruction.opcode() == Opcode::LLVMStore;
            let address = instruction.operand(usize::from(is_store));
            let ty = if is_store {
                instruction.operand(0).ty()
            } else {
                instruction.ty()
            };
            if places.is_own(address) {
                Effect::Nothing
            } else if instruction.is_volatile() {
                Effect::Spoils("accesses a volatile object".to_string())
            } else if instruction.is_atomic_access() {
                Effect::Spoils("has an atomic access".to_string())
            } else {
                Effect::Accesses(vec![Access {
                    address,
                    size: Size::Constant(module.store_size_of(ty) as i64),
                    is_write: is_store,
                    at: instruction,
                }])
            }
        }
        Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => {
            Effect::Spoils("has an atomic access".to_string())
        }
        Opcode::LLVMVAArg => Effect::Spoils("takes a variable argument".to_string()),
        Opcode::LLVMCallBr => Effect::Spoils("has inline assembly".to_string()),
        Opcode::LLVMCall | Opcode::LLVMInvoke => match (*instruction).as_call() {
            Some(call) => of_call(places, call),
            None => Effect::Nothing,
        },
        _ => Effect::Nothing,
    }
}

/// Whether what an instruction does that cannot be declared is nothing that code may do whose region declares its other
/// accesses: it is about other ways to access what threads share, or about their order.
pub(super) fn spoils_region(at: Instruction<'_>) -> bool {
    const OTHERWISE: Effects = Effects::ACQUIRES
        .and(Effects::UNPLAIN)
        .and(Effects::ATOMIC)
        .and(Effects::BARRIER)
        .and(Effects::REDUCES)
        .and(Effects::FLUSHES)
        .and(Effects::ORDERS)
        .and(Effects::YIELDS);
    if at.is_atomic_access() || at.opcode() == Opcode::LLVMCallBr {
        return true;
    }
    let Some(call) = (*at).as_call() else {
        return false;
    };
    let is_otherwise = |function: &RuntimeFn| {
        // Critical sections are seen to by themselves.
        !function
            .effects
            .has_some(Effects::ENTERS.and(Effects::LEAVES))
            && function.effects.has_some(OTHERWISE)
    };
    call.callee().as_inline_assembly().is_some()
        || runtime::function(call).is_some_and(is_otherwise)
}

/// What a call of a runtime function is to the user, as the end of a sentence that begins with "it".
fn in_words(function: &RuntimeFn) -> String {
    function.words.map_or_else(
        || format!("calls {}", function.short_name()),
        str::to_string,
    )
}

fn of_runtime_call<'m>(places: &Places<'m>, call: Call<'m>, function: &RuntimeFn) -> Effect<'m> {
    if function
        .effects
        .has_some(Effects::UPDATES.and(Effects::HIDDEN))
    {
        return Effect::Nothing;
    }
    if is_flag_operation(function) {
        let address = call.argument(0);
        return match address {
            Some(address) if places.is_own(address) => Effect::Nothing,
            Some(address) if places.whole_object(base_of(address)).is_none() => {
                Effect::Spoils(in_words(function))
            }
            _ => Effect::Synchronises,
        };
    }
    // What others ask this rank for it answers there.
    if function.name == f::okl_mpi_waits_here.name {
        return Effect::Synchronises;
    }
    // Memory that only this thread uses is there.
    let touches_own = || call.arguments().into_iter().all(|one| places.is_own(one));
    if function.name == f::okl_mpi_touch.name && touches_own() {
        return Effect::Nothing;
    }
    if function.has(Effects::ATOMIC) {
        let address = call.argument(0).filter(|one| one.ty().is_pointer());
        return match address {
            Some(address) if places.is_own(address) => Effect::Nothing,
            Some(address) if places.is_direct(address) => Effect::Accesses(vec![Access {
                address,
                size: Size::Constant(width(call)),
                is_write: true,
                at: call.instruction(),
            }]),
            _ => Effect::Spoils(in_words(function)),
        };
    }
    if function.has(Effects::QUIET) {
        // It says where the call was written.
        let ident = function.position("ident");
        let arguments = call.arguments().into_iter().enumerate();
        let mut pointers =
            arguments.filter(|(at, one)| Some(*at) != ident && one.ty().is_pointer());
        if pointers.all(|(_, one)| places.is_own(one)) {
            return match function.has(Effects::SHARES) {
                true => Effect::Shares,
                false => Effect::Nothing,
            };
        }
    }
    if function.has(Effects::REDUCES) && !is_shallow(call, function) {
        return Effect::Spoils("reduces a variable that holds pointers".to_string());
    }
    match function.has(Effects::SEPARATES) {
        true => Effect::Synchronises,
        false => Effect::Spoils(in_words(function)),
    }
}

fn is_flag_operation(function: &RuntimeFn) -> bool {
    [f::okl_mpi_flag_load.name, f::okl_mpi_flag_store.name].contains(&function.name)
}

/// The flags that an instruction loads or stores one of: an object that is known when the region is forked, and that nothing
/// else accesses. What the thread declared before is released, and what others did acquired, so nothing may be declared
/// across it.
pub(super) fn flags_of<'m>(places: &Places<'m>, at: Instruction<'m>) -> Option<Direct<'m>> {
    let call = (*at).as_call()?;
    runtime::function(call).filter(|one| is_flag_operation(one))?;
    let base = base_of(call.argument(0)?);
    places.whole_object(base)
}

/// Whether an instruction is a turn of a loop that only another thread can end.
pub(super) fn waits(at: Instruction<'_>) -> bool {
    let function = (*at).as_call().and_then(runtime::function);
    function.is_some_and(|one| one.name == f::okl_mpi_waits_here.name)
}

fn of_call<'m>(places: &Places<'m>, call: Call<'m>) -> Effect<'m> {
    let name = call.callee_name();
    if let Some(access) = copies(places, call, &name) {
        return access;
    }
    if let Some(function) = runtime::function(call) {
        return of_runtime_call(places, call, function);
    }
    let callee = call.callee_function();
    if call.callee().as_inline_assembly().is_some() {
        return match call.reach() {
            Reach::Nothing => Effect::Nothing,
            _ => Effect::Spoils("has inline assembly".to_string()),
        };
    }
    let Some(callee) = callee else {
        return Effect::Spoils("calls through a pointer".to_string());
    };
    if gives_memory(callee) {
        return Effect::Nothing;
    }
    let mut pointers = call
        .arguments()
        .into_iter()
        .filter(|one| one.ty().is_pointer());
    let harmless = stays_within(call.reach(), pointers.all(|one| places.is_own(one)));
    if harmless || callee.is_intrinsic() && is_marker(&name) {
        return Effect::Nothing;
    }
    let copies = call.arguments().into_iter().enumerate();
    let mut copies = copies.filter(|&(index, _)| call.is_by_value(index));
    if copies.any(|(_, object)| !places.is_own(object)) {
        return Effect::Spoils("passes a structure by value".to_string());
    }
    if library::terminates(&name) {
        return Effect::Nothing;
    }
    let depends = |callee: Function<'m>, what: &str| {
        let reason = format!("calls {}, {what}", crate::diagnostic::user_name(callee));
        Effect::Depends(Box::new(Dependence::of(places, call, callee, reason)))
    };
    if callee.is_declaration() {
        let mut pointers = call.arguments().into_iter();
        let mut all_own = || pointers.all(|one| !one.ty().is_pointer() || places.is_own(one));
        if is_mathematics(&name)
            || is_message(places, call, &name)
            || accesses_arguments_only(&name) && all_own()
        {
            return Effect::Nothing;
        }
        let shown = crate::llvm::demangle(&name);
        return match known(&name) {
            Some(_) => Effect::Spoils(format!("calls {shown}")),
            None if callee.is_intrinsic() => {
                Effect::Spoils(format!("calls {shown}, which is not known here"))
            }
            None => depends(callee, "which is not known here"),
        };
    }
    // Nothing may be declared in what a process runs that has all of the regions.
    if is_undistributed_too(callee) {
        let name = crate::diagnostic::user_name(callee);
        Effect::Spoils(format!("calls {name}, which is not known here"))
    } else if is_final(callee) {
        Effect::Calls(callee)
    } else {
        depends(callee, "which another module may replace")
    }
}

/// Bytes of an atomic access: its last argument.
fn width(call: Call<'_>) -> i64 {
    let last = call
        .arguments()
        .last()
        .and_then(|one| one.as_constant_int());
    last.filter(|bytes| (1..=8).contains(bytes)).unwrap_or(8)
}

/// Whether a reduction's function touches nothing but the items themselves: as the call says, or before it does.
fn is_shallow(call: Call<'_>, function: &RuntimeFn) -> bool {
    let argument = |name| call.argument(function.position(name)?);
    match argument("reach") {
        Some(reach) => reach.as_constant_int().is_some_and(|reach| reach <= 0),
        None => {
            let combine = argument("combine").and_then(|one| one.as_function());
            combine.is_some_and(touches_only_items)
        }
    }
}

/// Whether a function, which regions of other files may call, shares work or synchronises with all that it reaches, and begins
/// no region itself: others are not worth a closer look.
pub fn may_declare(function: Function<'_>) -> bool {
    const SHARED: Effects = Effects::SHARES
        .and(Effects::BARRIER)
        .and(Effects::SEPARATES);
    let reached = reached(function);
    let has = |at: Instruction<'_>, some| {
        let function = (*at).as_call().and_then(runtime::function);
        function.is_some_and(|one| one.effects.has_some(some))
    };
    let code = || reached.iter().flat_map(|one| one.instructions());
    !code().any(|at| has(at, Effects::FORKS)) && code().any(|at| has(at, SHARED))
}

/// Whether files of the program have copies of the function, of which the linker keeps one: perhaps another file's, in
/// which nothing is declared.
pub fn is_one_of_several(function: Function<'_>) -> bool {
    matches!(
        function.linkage(),
        Linkage::LLVMLinkOnceODRLinkage | Linkage::LLVMWeakODRLinkage
    )
}

/// Whether a function can be copied: the addresses of its blocks are not used.
pub(super) fn can_be_copied(function: Function<'_>) -> bool {
    let mut instructions = function.instructions().into_iter();
    instructions.all(|one| !matches!(one.opcode(), Opcode::LLVMIndirectBr | Opcode::LLVMCallBr))
}

fn is_marker(name: &str) -> bool {
    const MARKERS: [&str; 8] = [
        "llvm.lifetime.",
        "llvm.dbg.",
        "llvm.assume",
        "llvm.experimental.noalias",
        "llvm.stacksave",
        "llvm.stackrestore",
        "llvm.invariant.",
        "llvm.prefetch",
    ];
    MARKERS.iter().any(|prefix| name.starts_with(prefix))
}

/// `memset`, `memcpy` and `memmove`.
fn copies<'m>(places: &Places<'m>, call: Call<'m>, name: &str) -> Option<Effect<'m>> {
    let sets = name.starts_with("llvm.memset.");
    let copies = name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.");
    if !sets && !copies {
        return None;
    }
    let arguments = call.arguments();
    let length = arguments[2];
    let size = length
        .as_constant_int()
        .map_or(Size::Bytes(length), Size::Constant);
    let access = |position: usize, is_write| {
        (!places.is_own(arguments[position])).then(|| Access {
            address: arguments[position],
            size,
            is_write,
            at: call.instruction(),
        })
    };
    let source = copies.then(|| access(1, false)).flatten();
    let accesses: Vec<_> = access(0, true).into_iter().chain(source).collect();
    Some(if accesses.is_empty() {
        Effect::Nothing
    } else if arguments[3].as_constant_int() != Some(0) {
        Effect::Spoils("accesses a volatile object".to_string())
    } else {
        Effect::Accesses(accesses)
    })
}
