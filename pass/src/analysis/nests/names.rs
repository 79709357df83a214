//! Terms and objects in words: formulas as in C, with the names of the source.

use super::conditions::Question;
use super::hoist::asked_for;
use super::{Expression, Nests, Term};
use crate::llvm::{ExpressionKind as Kind, IntPredicate, Naming, Opcode, Value};

/// The name that a value has in the source; empty where it is not known.
pub fn source_name(value: Value<'_>) -> String {
    name_within(value, 0)
}

fn name_within(value: Value<'_>, depth: usize) -> String {
    let name = value.variable_name(Naming::Value);
    if !name.is_empty() || depth > 3 {
        return name;
    }
    if value.as_global().is_some() {
        return value.name();
    }
    if let Some(at) = value.as_instruction() {
        return match at.opcode() {
            Opcode::LLVMLoad => name_within(asked_for(at.operand(0)), depth + 1),
            _ if at.is_cast() => name_within(at.operand(0), depth + 1),
            _ => String::new(),
        };
    }
    if value.as_parameter().is_none() {
        return String::new();
    }
    // A captured variable: its address is the value of the debug record, dereferenced.
    let names = [Naming::Address, Naming::Through].map(|how| value.variable_name(how));
    let known = names.into_iter().find(|name| !name.is_empty());
    known.unwrap_or_else(|| value.name())
}

fn sign(predicate: IntPredicate) -> &'static str {
    use IntPredicate::*;
    match predicate {
        LLVMIntEQ => "eq",
        LLVMIntNE => "ne",
        LLVMIntUGT => "ugt",
        LLVMIntUGE => "uge",
        LLVMIntULT => "ult",
        LLVMIntULE => "ule",
        LLVMIntSGT => "sgt",
        LLVMIntSGE => "sge",
        LLVMIntSLT => "slt",
        LLVMIntSLE => "sle",
    }
}

fn formula(one: Expression<'_>) -> String {
    let operands = one.operands();
    let list = |between| {
        let operands: Vec<_> = operands.iter().map(|&one| formula(one)).collect();
        format!("({})", operands.join(between))
    };
    match one.kind() {
        Kind::Value => {
            let value = one.value();
            let name = value.map_or_else(String::new, source_name);
            match value {
                Some(value) if name.is_empty() => value.operand_text(),
                _ => name,
            }
        }
        Kind::Truncate | Kind::ZeroExtend | Kind::SignExtend | Kind::PointerToInteger => {
            formula(operands[0])
        }
        Kind::Add => list(" + "),
        Kind::Multiply => list(" * "),
        Kind::UnsignedDivide => list(" / "),
        Kind::UnsignedMin | Kind::SignedMin | Kind::SequentialMin => format!("min{}", list(", ")),
        Kind::UnsignedMax | Kind::SignedMax => format!("max{}", list(", ")),
        Kind::Constant | Kind::Recurrence | Kind::Other | Kind::Unknown => one.text(),
    }
}

impl<'m> Nests<'m> {
    /// A term as a formula.
    pub fn text(&self, term: Term<'m>) -> String {
        let (value, when) = self.parts(term);
        let guards = when.guards.iter().map(|guard| {
            let word = if guard.wanted { "if" } else { "unless" };
            let question = match guard.question {
                Question::Value(value) => value.operand_text(),
                Question::Comparison(predicate, a, b) => {
                    format!("{} {} {}", formula(a), sign(predicate), formula(b))
                }
            };
            format!("[{word} {question}] ")
        });
        guards.chain([formula(value)]).collect()
    }

    /// The source name of the object an address points into; empty where it is not known.
    pub fn object_name(&self, address: Term<'m>) -> String {
        self.base(address).map_or_else(String::new, source_name)
    }
}
