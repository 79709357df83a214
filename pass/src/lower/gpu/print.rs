//! What kernels print, and what they assert: by functions that CUDA's devices have. What is printed is passed as a format and
//! the address of all that it shows, one number behind the other, as C has them in such calls.

use super::compile::declared;
use crate::llvm::{Builder, Call, Function, Module, Value};

/// Functions of C that devices may have, by the same or another name.
const KNOWN: [&str; 3] = ["printf", "puts", "__assert_fail"];
/// What prints on the device.
pub const PRINT: &str = "vprintf";
/// What ends the kernel with a message.
pub const ASSERT: &str = "__assertfail";

/// Whether a function is one that devices may have under another name.
pub fn is_known(name: &str) -> bool {
    KNOWN.contains(&name)
}

/// Whether code that has been changed calls a function that prints.
pub fn prints(function: Function<'_>) -> bool {
    let mut seen = vec![function];
    let mut at = 0;
    while let Some(&function) = seen.get(at) {
        for call in calls(function) {
            let Some(callee) = call.callee_function() else {
                continue;
            };
            if callee.name() == PRINT {
                return true;
            }
            if !callee.is_declaration() && !seen.contains(&callee) {
                seen.push(callee);
            }
        }
        at += 1;
    }
    false
}

fn calls(function: Function<'_>) -> Vec<Call<'_>> {
    let code = function.instructions().into_iter();
    code.filter_map(|one| one.as_call()).collect()
}

/// Has a module for devices call what these have.
pub fn rename(device: &Module) -> Result<(), String> {
    let functions = device.functions().into_iter();
    let code = functions
        .filter(|one| !one.is_declaration())
        .flat_map(calls);
    for call in code.collect::<Vec<_>>() {
        let name = call.callee_name();
        let is_other = call
            .callee_function()
            .is_none_or(|one| !one.is_declaration());
        if is_other || !is_known(&name) {
            continue;
        }
        let at = call.instruction();
        let builder = Builder::before(device, at);
        let passed = call.arguments();
        let result = match (&*name, &passed[..]) {
            ("printf", [format, shown @ ..]) => print(&builder, at.function(), *format, shown)?,
            ("puts", [text]) => {
                let format = device.add_text("okl.line", "%s\n");
                print(&builder, at.function(), *format, &[*text])?
            }
            ("__assert_fail", [text, file, line, function]) => {
                let (int, long, pointer) = (device.int(32), device.int(64), device.pointer());
                let types = [pointer, pointer, int, pointer, long];
                let ty = device.function_type(device.void(), &types);
                let asserts = declared(device, ASSERT, ty);
                let size = device.const_i64(1);
                builder.call(asserts, &[*text, *file, *line, *function, size]);
                at.erase();
                continue;
            }
            _ => return Err(format!("it calls {name} with other arguments than C has")),
        };
        at.replace_all_uses_with(result);
        at.erase();
    }
    Ok(())
}

fn print<'d>(
    builder: &Builder<'d>,
    function: Function<'d>,
    format: Value<'d>,
    shown: &[Value<'d>],
) -> Result<Value<'d>, String> {
    const WORD: u64 = 8;
    let module = builder.module();
    let mut places = Vec::new();
    let mut bytes = 0_u64;
    for one in shown {
        let size = module.size_of(one.ty());
        if ![4, 8].contains(&size) || one.ty().is_aggregate() {
            return Err("it prints what is no number of 4 or 8 bytes".to_string());
        }
        let at = bytes.next_multiple_of(size);
        places.push(at);
        bytes = at + size;
    }
    let words = module.array(module.int(64), bytes.div_ceil(WORD).max(1));
    let all = Builder::at_entry(module, function).alloca(words, WORD as u32);
    for (one, at) in shown.iter().zip(places) {
        builder.store(*one, builder.offset(all, at as i64));
    }
    let (int, pointer) = (module.int(32), module.pointer());
    let ty = module.function_type(int, &[pointer, pointer]);
    Ok(builder.call(declared(module, PRINT, ty), &[format, all]))
}
