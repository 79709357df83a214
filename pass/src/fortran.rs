//! What is Fortran's in a module that flang made: its names, and OpenMP's functions by the names that a program calls
//! them by which has no interface of them (`omp_get_num_threads_`, arguments by reference).

use okl_abi::openmp::name_in_c;
use okl_abi::{AbiType, RuntimeFn, replacement_of};

use crate::diagnostic::user_name;
use crate::llvm::{Builder, Call, Function, Linkage, Module, Value};

/// Whether a function has a text argument, which in Fortran has no end of its own: its length follows the arguments.
fn has_text(function: &RuntimeFn) -> bool {
    function.position("format").is_some()
}

/// Whether a function fills a text, with blanks behind what there is to say.
fn fills_text(function: &RuntimeFn) -> bool {
    function.position("buffer").is_some()
}

/// What flang calls the main program.
pub const MAIN_PROGRAM: &str = "_QQmain";

/// Replaces calls of OpenMP's functions by their Fortran names with calls of C's, which have the same meaning in every
/// OpenMP run time. Uses that are no such calls stay, and are refused as unknown functions. True where the module was
/// changed.
pub fn call_by_c_names(module: &Module) -> bool {
    let mut changed = false;
    for function in module.functions() {
        let name = function.name();
        let c_name = name_in_c(&name).filter(|_| function.is_declaration());
        let replacement = c_name.and_then(|name| Some((name, replacement_of(name)?)));
        let Some((c_name, types)) = replacement else {
            continue;
        };
        for user in function.instruction_users() {
            let call = user.as_call().filter(|call| call.callee() == *function);
            match call.filter(|call| call.invoke_targets().is_none()) {
                Some(call) if fills_text(types) => {
                    changed |= fill_text(module, call, c_name, types);
                }
                Some(call) => changed |= call_by_c_name(module, call, c_name, types),
                None => {}
            }
        }
        if function.is_unused() {
            function.erase_unused_declaration();
            changed = true;
        }
    }
    changed
}

/// True where the module was changed.
fn call_by_c_name(module: &Module, call: Call<'_>, c_name: &str, types: &RuntimeFn) -> bool {
    let at = call.instruction();
    let arguments = call.arguments();
    let has_text = has_text(types);
    let result = module.abi_type(types.ret);
    if arguments.len() != types.params.len() + usize::from(has_text)
        || !(at.is_unused() || at.ty() == result)
        || !arguments[..types.params.len()]
            .iter()
            .all(|argument| argument.ty().is_pointer())
    {
        return false;
    }
    let parameters: Vec<_> = types.params.iter().map(|&ty| module.abi_type(ty)).collect();
    let ty = module.function_type(result, &parameters);
    let callee = match has_text {
        true => declared(module, &with_text(c_name), ty),
        false => declared(module, c_name, ty),
    };
    if callee.function_type() != ty {
        // Of another type it was there before.
        return false;
    }
    let builder = Builder::before(module, at);
    let mut values: Vec<_> = arguments
        .iter()
        .zip(types.params)
        .map(|(&argument, &ty)| match ty {
            AbiType::Ptr => argument,
            _ => builder.load(module.abi_type(ty), argument),
        })
        .collect();
    let text = has_text.then(|| copy_of_text(module, &builder, arguments[0], arguments[1]));
    values[..usize::from(has_text)].copy_from_slice(text.as_slice());
    let value = builder.call(callee, &values);
    if let Some(text) = text {
        free(module, &builder, text);
    }
    if !at.is_unused() {
        at.replace_all_uses_with(value);
    }
    at.erase();
    true
}

/// `omp_get_affinity_format(buffer)` and `omp_capture_affinity(buffer, format)`, whose lengths follow. True where the
/// module was changed.
fn fill_text(module: &Module, call: Call<'_>, c_name: &str, types: &RuntimeFn) -> bool {
    let at = call.instruction();
    let (pointer, long) = (module.pointer(), module.int(64));
    let arguments = call.arguments();
    let (buffer, length, format) = match arguments[..] {
        [buffer, length] => (buffer, length, None),
        [buffer, format, length, format_length] => (buffer, length, Some((format, format_length))),
        _ => return false,
    };
    if types.params.len() != 2 + usize::from(format.is_some())
        || !buffer.ty().is_pointer()
        || length.ty() != long
        || !(at.is_unused() || at.ty() == long)
    {
        return false;
    }
    let parameters: Vec<_> = types.params.iter().map(|&ty| module.abi_type(ty)).collect();
    let callee = declared(
        module,
        &with_text(c_name),
        module.function_type(long, &parameters),
    );
    let builder = Builder::before(module, at);
    let room = builder.plus(length, 1);
    let malloc = declared(module, "malloc", module.function_type(pointer, &[long]));
    let text = builder.call(malloc, &[room]);
    let format = format.map(|(format, length)| copy_of_text(module, &builder, format, length));
    let mut values = vec![text, room];
    values.extend(format);
    let needed = builder.call(callee, &values);
    builder.fill(buffer, i64::from(b' '), length);
    let memcpy = module.function_type(pointer, &[pointer, pointer, long]);
    let shown = builder.least(needed, length);
    builder.call(declared(module, "memcpy", memcpy), &[buffer, text, shown]);
    for text in [Some(text), format].into_iter().flatten() {
        free(module, &builder, text);
    }
    if !at.is_unused() {
        at.replace_all_uses_with(needed);
    }
    at.erase();
    true
}

/// The name by which LLVM's run time has C's version of a function with a text: without the `c` it is Fortran's.
fn with_text(c_name: &str) -> String {
    c_name.replacen("omp_", "ompc_", 1)
}

/// C's copy of a text of Fortran's, to be freed.
fn copy_of_text<'m>(
    module: &'m Module,
    builder: &Builder<'m>,
    text: Value<'m>,
    length: Value<'m>,
) -> Value<'m> {
    let (pointer, long) = (module.pointer(), module.int(64));
    let ty = module.function_type(pointer, &[pointer, long]);
    builder.call(declared(module, "strndup", ty), &[text, length])
}

fn free<'m>(module: &'m Module, builder: &Builder<'m>, text: Value<'m>) {
    let ty = module.function_type(module.void(), &[module.pointer()]);
    builder.call(declared(module, "free", ty), &[text]);
}

fn declared<'m>(module: &'m Module, name: &str, ty: crate::llvm::Type<'m>) -> Function<'m> {
    let linkage = Linkage::LLVMExternalLinkage;
    module
        .function(name)
        .unwrap_or_else(|| module.add_function(name, ty, linkage))
}

/// What flang calls every module.
const MODULE: &str = "FIRModule";

/// The source file of a module of flang's, as far as the module tells. `None`: a module of another compiler.
pub fn file_of(module: &Module) -> Option<String> {
    if module.source_name() != MODULE {
        return None;
    }
    let defined = || {
        module
            .functions()
            .into_iter()
            .filter(|one| !one.is_declaration())
    };
    let mut instructions = defined().flat_map(|one| one.instructions());
    if let Some((file, _)) = instructions.find_map(|one| one.source_location()) {
        return Some(file);
    }
    let name = match defined().next()? {
        main if main.name() == MAIN_PROGRAM => "the main program".to_string(),
        other => user_name(other),
    };
    Some(format!("the file of {name}"))
}

/// The name a Fortran programmer would give the thing that flang calls `name`: `model::step` for `_QMmodelPstep`. `None`:
/// no name of flang's.
pub fn demangle(name: &str) -> Option<String> {
    let mut shown = Vec::new();
    (okl_abi::fortran_name(name, |part| shown.push(part)) && !shown.is_empty())
        .then(|| shown.join("::"))
}
