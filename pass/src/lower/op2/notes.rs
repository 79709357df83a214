//! What the run time is told of a program's text, so that its messages can name the place: where it calls OP2's functions,
//! and where it looks at the mesh itself.

use std::collections::HashMap;

use okl_abi::op2::f;

use crate::llvm::{Builder, Call, Instruction, Linkage, Module, Value, demangle};
use crate::lower::runtime_call::declare;
use crate::recognise::Note;

/// Tells it all of that. True where the module was changed.
pub fn tell(module: &Module, notes: &[Note<'_>]) -> bool {
    let told = say_what_is_looked_at(module, notes);
    let may_end = notes.iter().filter_map(|note| match *note {
        Note::MayEnd(call) => Some(call),
        Note::LooksAtData(_) | Note::LooksAtMaps(_) => None,
    });
    let may_end: Vec<_> = may_end.collect();
    say_where(module, &may_end);
    told || !may_end.is_empty()
}

/// Tells it before each call where that is, and after it that it is over.
fn say_where(module: &Module, calls: &[Call<'_>]) {
    let mut places: HashMap<String, Value<'_>> = HashMap::new();
    for call in calls {
        let at = call.instruction();
        let next = match call.invoke_targets() {
            Some((normal, _)) => normal.first_insertion_point(),
            None => {
                let rest = at.block().instructions().into_iter();
                rest.skip_while(|one| *one != at).nth(1)
            }
        };
        let callee = declare(module, &f::okl_op2_at);
        let place = places.entry(place(module, at));
        let place = *place.or_insert_with_key(|place| *module.add_text("okl.place", place));
        Builder::before(module, at).call(callee, &[place]);
        if let Some(next) = next {
            Builder::before(module, next).call(callee, &[module.pointer().zero()]);
        }
    }
}

/// Tells it before `main` at which data and maps the file looks itself. True where the module was changed.
fn say_what_is_looked_at(module: &Module, notes: &[Note<'_>]) -> bool {
    let data = notes.iter().find_map(|note| match *note {
        Note::LooksAtData(at) => Some(at),
        Note::LooksAtMaps(_) | Note::MayEnd(_) => None,
    });
    let mut changed = say_whether_data_are_looked_at(module, data.is_some());
    if let Some(at) = data {
        let message = "data stay element by element: the file looks at op_dat->data";
        at.remark("Storage", message, true);
    }
    for note in notes {
        let (at, what) = match *note {
            Note::LooksAtMaps(at) => (at, "op_map->map"),
            Note::LooksAtData(at) => (at, "op_dat->data"),
            Note::MayEnd(_) => continue,
        };
        changed = true;
        let ty = module.function_type(module.void(), &[]);
        let says = module.add_function("okl.looks_at_mesh", ty, Linkage::LLVMInternalLinkage);
        let builder = Builder::at_end(module, says.append_block(module));
        let text = format!("{}: {what}", place(module, at));
        let text = *module.add_text("okl.place", &text);
        builder.call(declare(module, &f::okl_op2_looks_at_mesh), &[text]);
        builder.ret(None);
        module.call_before_main(says);
    }
    changed
}

/// The run time takes it that a file looks at `op_dat->data` if the file says so: with a call in the header, or here.
/// True where the module was changed.
fn say_whether_data_are_looked_at(module: &Module, are_looked_at: bool) -> bool {
    let says = module.function(f::okl_op2_looks_at_data.name);
    match (says, are_looked_at) {
        (Some(says), false) => {
            let calls: Vec<_> = says
                .users()
                .into_iter()
                .filter_map(Value::as_call)
                .collect();
            for call in &calls {
                call.instruction().erase();
            }
            !calls.is_empty()
        }
        (None, true) => {
            let says = declare(module, &f::okl_op2_looks_at_data);
            module.call_before_main(says);
            true
        }
        _ => false,
    }
}

/// File and line, or the function where there is no debug information.
fn place(module: &Module, at: Instruction<'_>) -> String {
    if let Some((file, line)) = at.source_location() {
        return format!("{file}:{line}");
    }
    let function = demangle(&at.function().name());
    let name = function.split('(').next().unwrap_or_default();
    format!("{}: in {name}", module.source_file())
}
