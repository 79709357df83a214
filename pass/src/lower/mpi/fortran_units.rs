//! Statements that write text to Fortran's units: the runtime learns where they begin and end, and says which unit a
//! rank uses. flang's run-time library is linked into the program, so the module hands over the functions that the
//! runtime needs of it.

use okl_abi::{FortranUnits, f};

use crate::analysis::library::OUTPUT_STATEMENTS;
use crate::diagnostic::{Declined, Site};
use crate::llvm::{Builder, Call, Function, Global, Linkage, Module, Value};
use crate::lower::runtime_call::declare;
use crate::marks::is_lowered;

const END: &str = "_FortranAioEndIoStatement";
const OPEN: &str = "_FortranAioBeginOpen";

/// What the runtime calls, in the order of `FortranUnits` behind its first field.
const FUNCTIONS: [&str; 8] = [
    "_FortranAioBeginFlush",
    "_FortranAioBeginOpenNewUnit",
    "_FortranAioSetFile",
    "_FortranAioGetNewUnit",
    "_FortranAioBeginExternalFormattedOutput",
    "_FortranAioSetAdvance",
    "_FortranAioOutputAscii",
    END,
];

/// What an OPEN statement may say that changes the text that is written to the unit.
const CHANGES_TEXT: [(&str, &str); 7] = [
    ("_FortranAioSetDelim", "DELIM"),
    ("_FortranAioSetSign", "SIGN"),
    ("_FortranAioSetDecimal", "DECIMAL"),
    ("_FortranAioSetRound", "ROUND"),
    ("_FortranAioSetEncoding", "ENCODING"),
    ("_FortranAioSetRecl", "RECL"),
    ("_FortranAioSetCarriagecontrol", "CARRIAGECONTROL"),
];

/// The newest of the texts on their way to rank 0, on a page of its own. One for the whole program.
const MAIL: &str = "fortran.mail";
const PAGE: u64 = 4096;

/// The statements of a module.
pub struct Plan<'m> {
    statements: Vec<Statement<'m>>,
    /// An OPEN statement with something of [`CHANGES_TEXT`].
    special: Option<String>,
}

struct Statement<'m> {
    begin: Call<'m>,
    /// Index of the unit among its arguments.
    unit: usize,
    ends: Vec<Call<'m>>,
}

/// Adds the variable that is to be shared, where the module has such statements. True where it was added.
pub fn prepare(module: &Module) -> bool {
    let writes = OUTPUT_STATEMENTS.iter().any(|(name, _)| {
        let function = module.function(name);
        function.is_some_and(|function| function.is_declaration() && !function.is_unused())
    });
    if !writes || module.global(MAIL).is_some() {
        return false;
    }
    let ty = module.array(module.int(8), PAGE);
    let mail = module.add_global(MAIL, ty, Some(ty.zero()), Linkage::LLVMWeakAnyLinkage);
    mail.set_alignment(PAGE as u32);
    true
}

/// Finds the statements.
pub fn check<'m>(module: &'m Module, refused: &mut Vec<Declined<'m>>) -> Plan<'m> {
    let mut statements = Vec::new();
    for (name, unit) in OUTPUT_STATEMENTS {
        let function = module.function(name).filter(|one| one.is_declaration());
        let users = function.map_or(Vec::new(), |function| function.instruction_users());
        // What has been lowered keeps them.
        let users = users.into_iter();
        for user in users.filter(|user| !is_lowered(user.function())) {
            let begin = user
                .as_call()
                .filter(|call| call.callee_name() == name && call.invoke_targets().is_none());
            let ends = |begin: Call<'m>| -> Vec<Call<'m>> {
                let users = begin.instruction().users().into_iter();
                users
                    .filter_map(|user| user.as_call())
                    .filter(|call| call.callee_name() == END)
                    .collect()
            };
            match begin.map(|begin| (begin, ends(begin))) {
                Some((begin, ends)) if !ends.is_empty() => {
                    statements.push(Statement { begin, unit, ends })
                }
                _ => refused.push(Declined {
                    site: Site::Instruction(user),
                    reason: format!("this use of {name} is not understood"),
                }),
            }
        }
    }
    Plan {
        statements,
        special: special(module),
    }
}

fn special(module: &Module) -> Option<String> {
    CHANGES_TEXT.iter().find_map(|(name, word)| {
        let users = module.function(name)?.instruction_users();
        let open = users.into_iter().find(|user| {
            let statement = user.as_call().and_then(|call| call.argument(0)?.as_call());
            statement.is_some_and(|begin| begin.callee_name().starts_with(OPEN))
        })?;
        Some(format!("{word}= ({})", Site::Instruction(open)))
    })
}

/// Inserts the calls. Returns the `FortranUnits` of a module with such statements.
pub fn emit<'m>(module: &'m Module, plan: &Plan<'m>) -> Option<Global<'m>> {
    if plan.statements.is_empty() {
        return None;
    }
    for statement in &plan.statements {
        let at = statement.begin.instruction();
        let unit = statement.begin.arguments()[statement.unit];
        let callee = declare(module, &f::okl_mpi_fortran_begin);
        let unit = Builder::before(module, at).call(callee, &[unit]);
        at.set_operand(statement.unit, unit);
        for end in &statement.ends {
            let result = end.instruction();
            let behind = result.block().instructions().into_iter();
            let next = behind.skip_while(|one| *one != result).nth(1);
            let next = next.expect("a call ends no block");
            let callee = declare(module, &f::okl_mpi_fortran_end);
            Builder::before(module, next).call(callee, &[unit]);
        }
    }
    let special = match &plan.special {
        Some(text) => *module.add_text("okl.text", text),
        None => module.pointer().zero(),
    };
    let function = |name: &&str| -> Value<'m> { *declared(module, name) };
    let mail = module.global(MAIL).expect("prepared");
    let mut fields = vec![*mail, special];
    fields.extend(FUNCTIONS.iter().map(function));
    assert!(fields.len() == FortranUnits::FIELDS.len());
    Some(module.add_constant("okl.fortran.units", module.const_struct(&fields)))
}

fn declared<'m>(module: &'m Module, name: &str) -> Function<'m> {
    module.function(name).unwrap_or_else(|| {
        let ty = module.function_type(module.void(), &[]);
        module.add_function(name, ty, Linkage::LLVMExternalLinkage)
    })
}
