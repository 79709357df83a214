//! What a kernel costs: calls by which `libokl_cpu.so` learns when one begins and ends, and, once LLVM has simplified them,
//! what the functions that its threads run read and write. What is measured, and whether, is up to the user when the program
//! runs (`OKL_STATS=1`).
//!
//! An exception that leaves a kernel leaves it out.

use okl_abi::cpu::{Kernel as Record, f};

use crate::analysis::sections::{FunctionSections, Program};
use crate::analysis::variables::is_harmless;
use crate::diagnostic::user_name;
use crate::llvm::{Builder, Function, Global, Instruction, Linkage, Module, Opcode};
use crate::lower::declarations::{self, Overflow};
use crate::lower::runtime_call::declare;
use crate::marks::{DECLARED, costs_of, note_costs};
use crate::recognise::okl::Kernel;

/// What the names of records begin with.
const RECORD: &str = "okl.kernel.";

/// Has a kernel tell when it begins and ends; `bodies` are the functions that its threads run.
pub fn emit<'m>(module: &'m Module, kernel: &Kernel<'m>, bodies: &[Function<'m>]) {
    let function = kernel.function;
    let record = record(module, kernel);
    let begin = declare(module, &f::okl_cpu_begin_kernel_v1);
    let end = declare(module, &f::okl_cpu_end_kernel_v1);
    let code = function.blocks()[0].instructions().into_iter();
    let is_variable = |one: &Instruction<'m>| one.opcode() == Opcode::LLVMAlloca;
    let mut code = code.skip_while(|one| is_variable(one) || is_harmless(*one));
    let builder = Builder::before(module, code.next().expect("a complete block"));
    builder.stand_at_start_of(function);
    let since = builder.call(begin, &[*record]);
    let code = function.instructions().into_iter();
    for returns in code.filter(|one| one.opcode() == Opcode::LLVMRet) {
        Builder::before(module, returns).call(end, &[*record, since]);
    }
    for &body in bodies {
        note_costs(module, body, record);
    }
}

fn record<'m>(module: &'m Module, kernel: &Kernel<'m>) -> Global<'m> {
    let text = |text: &str| *module.add_text("okl.text", text);
    let fields = Record::NAMES.iter().map(|&field| match field {
        "name" => text(&user_name(kernel.function)),
        "place" => text(&kernel.place),
        "number" => module.const_i64(0),
        other => unreachable!("a kernel's record has no {other}"),
    });
    let value = module.const_struct(&fields.collect::<Vec<_>>());
    let name = format!("{RECORD}{}", kernel.function.name());
    let linkage = Linkage::LLVMInternalLinkage;
    let record = module.add_global(&name, value.ty(), Some(value), linkage);
    record.set_alignment(8);
    record
}

/// What the functions that threads run access, of kernels whose costs may be asked for.
pub struct Plan<'m>(Vec<Part<'m>>);

/// A function that threads run.
struct Part<'m> {
    function: Function<'m>,
    record: Global<'m>,
    /// None where some of it is not known.
    sections: Option<std::rc::Rc<FunctionSections<'m>>>,
}

/// Finds out what they access.
pub fn check(module: &Module) -> Plan<'_> {
    let functions = module.functions().into_iter();
    let bodies = functions.filter(|one| !one.is_declaration() && !DECLARED.is_on(*one));
    let bodies = bodies.filter_map(|one| Some((one, costs_of(module, one)?)));
    let (bodies, records): (Vec<_>, Vec<_>) = bodies.unzip();
    let program = Program::of(module, &bodies, &[]);
    let found = bodies.iter().map(|body| program.region(*body));
    let parts = found.zip(records).map(|(region, record)| {
        let declarations = region.functions.iter().flat_map(|one| &one.declarations);
        let has_marks = declarations.into_iter().any(|one| !one.marks.is_empty());
        // What is called says nothing.
        let is_known = region.spoiled.is_none()
            && region.stretches.is_empty()
            && region.dependent.is_empty()
            && region.functions.len() == 1
            && !has_marks;
        Part {
            function: region.body,
            record,
            sections: region.functions.into_iter().next().filter(|_| is_known),
        }
    });
    Plan(parts.collect())
}

/// Has them say so. True where there are any.
pub fn declare_accesses<'m>(module: &'m Module, plan: &Plan<'m>) -> bool {
    for part in &plan.0 {
        let says = |builder: &Builder<'m>, table, values| {
            let says = declare(module, &f::okl_cpu_accesses_v1);
            builder.call(says, &[*part.record, table, values])
        };
        match &part.sections {
            Some(sections) => declarations::emit(module, sections, Overflow::Ignored, says),
            None => {
                let builder = Builder::at_entry(module, part.function);
                builder.stand_at_start_of(part.function);
                let nothing = module.pointer().zero();
                says(&builder, nothing, nothing);
                part.function.forget_memory_effects();
            }
        }
        DECLARED.put_on(module, part.function);
    }
    !plan.0.is_empty()
}
