//! What results are, bit for bit, whatever is known of the values they are computed from and on whichever processor.
//!
//! A product and a sum that the program lets become one operation do so on processors that have it: so it was decided where
//! the code was compiled ahead of time. And LLVM writes powers in another way where it knows an operand.

use crate::llvm::{Builder, Call, Function, Intrinsic, Module, Opcode};

/// Has products and sums be one operation wherever they may, or nowhere, and calls of the program's library be such.
pub fn fix(module: &Module, fused: bool) {
    for function in module.functions() {
        for call in calls(function) {
            match call.intrinsic().map(Intrinsic::name).as_deref() {
                Some("llvm.fmuladd") => decide(module, call, fused),
                None if is_power(&call.callee_name()) => call.is_no_builtin(module),
                _ => {}
            }
        }
    }
}

fn calls(function: Function<'_>) -> impl Iterator<Item = Call<'_>> {
    let all = function.instructions().into_iter();
    all.filter_map(|one| one.as_call())
}

fn decide(module: &Module, call: Call<'_>, fused: bool) {
    let builder = Builder::before(module, call.instruction());
    let [a, b, c] = call.arguments()[..] else {
        unreachable!("it multiplies two numbers and adds a third");
    };
    let result = match fused {
        true => builder.call_intrinsic(Intrinsic::named("llvm.fma"), &[a.ty()], &[a, b, c]),
        false => builder.binary(Opcode::LLVMFAdd, builder.binary(Opcode::LLVMFMul, a, b), c),
    };
    call.replace_all_uses_with(result);
    call.instruction().erase();
}

/// Whether a function of the library is one that LLVM writes in another way where it knows an operand, with another result.
fn is_power(name: &str) -> bool {
    let name = name.trim_end_matches(['f', 'l']);
    matches!(name, "pow" | "powi" | "exp10" | "pow10" | "__pow_finite")
}

/// Whether results of a function are left to the compiler, or it has powers as LLVM's own.
pub fn is_free(function: Function<'_>) -> bool {
    let is_free = function
        .instructions()
        .into_iter()
        .any(|one| one.rounds_freely());
    is_free
        || calls(function).any(|call| {
            let name = call.intrinsic().map(Intrinsic::name).unwrap_or_default();
            matches!(name.as_str(), "llvm.pow" | "llvm.powi" | "llvm.exp10")
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::OwnModule;

    const CODE: &str = "
        declare double @llvm.fmuladd.f64(double, double, double)
        declare double @pow(double, double)
        define double @f(double %a, double %b) {
            %c = call double @llvm.fmuladd.f64(double %a, double %b, double %a)
            %d = call double @pow(double %c, double %b)
            ret double %d
        }
        define double @g(double %a) {
            %c = fadd reassoc double %a, %a
            ret double %c
        }
        define double @h(double %a) {
            %c = fadd nnan double %a, %a
            ret double %c
        }";

    #[test]
    fn products_and_sums_are_what_they_were() {
        for (fused, there, not) in [(true, "llvm.fma.f64", "fmul"), (false, "fmul", "llvm.fma.")] {
            let module = OwnModule::parse(CODE);
            fix(&module, fused);
            let text = module.function("f").expect("it is there").print();
            assert!(text.contains(there) && !text.contains(not), "{text}");
            assert!(!text.contains("fmuladd"), "{text}");
            let builtin = calls(module.function("f").expect("it is there"))
                .any(|call| call.callee_name() == "pow" && call.is_of_library());
            assert!(!builtin);
        }
    }

    #[test]
    fn results_are_free_where_the_program_says_so() {
        let module = OwnModule::parse(CODE);
        let is_free = |name| is_free(module.function(name).expect("it is there"));
        assert_eq!(["f", "g", "h"].map(is_free), [false, true, false]);
    }
}
