//! C++ streams, which are told apart by the object a call is made on.
//!
//! The standard output is forwarded by the runtime, and a string stream of the function itself is
//! memory. Any other stream may be a file or the standard input, which one process has open.

use crate::analysis::memory::base_of;
use crate::llvm::{Call, Module, Opcode, Value};

const OUTPUT: [&str; 6] = [
    "_ZNSols",
    "_ZStls",
    "_ZNSo5write",
    "_ZNSo3put",
    "_ZNSo5flush",
    "_ZNSo9_M_insert",
];
const INPUT: [&str; 4] = ["_ZNSi", "_ZStrs", "_ZSt7getline", "_ZSt2ws"];
const NOT_INPUT: [&str; 2] = ["_ZNSiC", "_ZNSiD"];

/// Functions that change a stream in other ways than formats, and which argument it is. The result of
/// `imbue` comes first.
const CHANGES: [(&str, usize); 2] = [
    ("_ZNSt9basic_iosIcSt11char_traitsIcEE5rdbufE", 0),
    ("_ZNSt9basic_iosIcSt11char_traitsIcEE5imbueE", 1),
];
const OF_ALL_STREAMS: [&str; 2] = ["_ZNSt8ios_base15sync_with_stdioE", "_ZNSt6locale6globalE"];

/// The library's own functions, which are judged where user code calls them.
const LIBRARY: [&str; 6] = ["_ZSt", "_ZNSt", "_ZNKSt", "_ZNSo", "_ZNKSo", "_ZNSi"];

const STANDARD_OUTPUT: [&str; 3] = ["_ZSt4cout", "_ZSt4cerr", "_ZSt4clog"];
const STANDARD_INPUT: &str = "_ZSt3cin";

/// Whether the module works with streams on files. Without any, an output stream that is only known
/// by reference is taken for the standard output or a string.
pub fn has_file_streams(module: &Module) -> bool {
    const PREFIXES: [&str; 3] = [
        "_ZNSt14basic_ofstream",
        "_ZNSt13basic_fstream",
        "_ZNSt13basic_filebuf",
    ];
    let functions = module.functions();
    functions
        .into_iter()
        .any(|function| starts_with_one_of(&function.name(), &PREFIXES))
}

/// What is unsafe about a stream operation, as the end of a sentence that begins with "it".
pub fn reason(call: Call<'_>, has_file_streams: bool) -> Option<&'static str> {
    let caller = call.instruction().function().name();
    if starts_with_one_of(&caller, &LIBRARY) {
        return None;
    }
    let name = call.callee_name();
    let changes = |(function, index): &(&str, usize)| {
        name.starts_with(function) && !call.argument(*index).is_some_and(is_string_object)
    };
    if CHANGES.iter().any(changes) || starts_with_one_of(&name, &OF_ALL_STREAMS) {
        return Some("gives a C++ stream another buffer or locale, in one process only");
    }
    if is_output(call) {
        let safe = !has_file_streams || is_global(call, &STANDARD_OUTPUT) || is_string(call);
        return (!safe).then_some("writes to a C++ stream that may be a file");
    }
    if is_input(call) && !is_string(call) {
        return Some(if is_global(call, &[STANDARD_INPUT]) {
            "reads std::cin, the standard input"
        } else {
            "reads a C++ stream that may be a file"
        });
    }
    None
}

fn is_output(call: Call<'_>) -> bool {
    starts_with_one_of(&call.callee_name(), &OUTPUT)
}

fn is_input(call: Call<'_>) -> bool {
    let name = call.callee_name();
    starts_with_one_of(&name, &INPUT) && !starts_with_one_of(&name, &NOT_INPUT)
}

fn starts_with_one_of(name: &str, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| name.starts_with(prefix))
}

/// The object a stream operation works on. Operators return their stream, so that a chain of them
/// leads to its first one.
fn stream(call: Call<'_>) -> Option<Value<'_>> {
    let mut stream = call.argument(0)?;
    while let Some(inner) = stream
        .as_call()
        .filter(|inner| is_output(*inner) || is_input(*inner))
    {
        stream = inner.argument(0)?;
    }
    Some(base_of(stream))
}

fn is_global(call: Call<'_>, names: &[&str]) -> bool {
    stream(call)
        .and_then(|stream| stream.as_global())
        .is_some_and(|global| names.contains(&global.name().as_str()))
}

fn is_string(call: Call<'_>) -> bool {
    stream(call).is_some_and(is_string_object)
}

fn is_string_object(stream: Value<'_>) -> bool {
    base_of(stream)
        .as_op(Opcode::LLVMAlloca)
        .is_some_and(|variable| variable.print().contains("stringstream"))
}
