//! What results are, bit for bit, whatever is known of the values they are computed from and on whichever processor.
//!
//! A product and a sum that the program lets become one operation do so on processors that have it: so it was decided where
//! the code was compiled ahead of time; where that was left to LLVM (`contract`), and for a processor without, they did not.
//! LLVM writes powers in another way where it knows an operand, and computes functions of numbers of less than double
//! precision, where it knows them, with the library's functions of double precision; of a quotient (`remquo`) it gives more
//! bits than the library. (What it computes in double precision it does with the library that the program has, and how numbers are rounded then is seen to by
//! who asks for versions.) Left open, as IEEE 754 and C do: the sign of what is no number, and which zero `fmin` and `fmax` give.

use crate::analysis::library::is_mathematics;
use crate::llvm::{Builder, Call, Function, Intrinsic, Module, Opcode};

/// Has products and sums be one operation wherever they may, or nowhere, and calls of the program's library be such.
pub fn fix(module: &Module, fused: bool) {
    for function in module.functions() {
        if !fused {
            for one in function.instructions() {
                one.keep_apart();
            }
        }
        for call in calls(function) {
            match call.intrinsic().map(Intrinsic::name).as_deref() {
                Some("llvm.fmuladd") => decide(module, call, fused),
                None if is_the_librarys(&call.callee_name()) => call.is_no_builtin(module),
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

/// Whether a function of the library is one whose results are other ones where LLVM knows an operand.
fn is_the_librarys(name: &str) -> bool {
    let plain = name.trim_end_matches(['f', 'l']);
    let is_power = matches!(plain, "pow" | "powi" | "exp10" | "pow10" | "__pow_finite");
    let single = name
        .strip_suffix('f')
        .filter(|single| is_mathematics(single));
    is_power || plain == "remquo" || single.is_some_and(|single| !is_exact(single))
}

/// Whether a function of mathematics has one right result, which is a number of the operands' precision.
pub fn is_exact(name: &str) -> bool {
    matches!(
        name,
        "sqrt"
            | "fabs"
            | "floor"
            | "ceil"
            | "trunc"
            | "rint"
            | "nearbyint"
            | "round"
            | "roundeven"
            | "lrint"
            | "llrint"
            | "lround"
            | "llround"
            | "copysign"
            | "fmod"
            | "fmin"
            | "fmax"
            | "fma"
    )
}

/// The functions that LLVM has itself, and computes as said above.
fn is_rounded_otherwise(intrinsic: &str, name: &str) -> bool {
    const ROUNDED: &str =
        " sin cos tan asin acos atan atan2 sinh cosh tanh exp exp2 log log2 log10 sincos ";
    let known = intrinsic.strip_prefix("llvm.");
    known.is_some_and(|known| ROUNDED.contains(&format!(" {known} "))) && !name.ends_with("f64")
}

/// Whether results of a function are left to the compiler, on a processor that `fuses` products and sums or does not, or it has
/// functions as LLVM's own whose results are other ones where LLVM knows an operand.
pub fn is_free(function: Function<'_>, fuses: bool) -> bool {
    let is_free = function
        .instructions()
        .into_iter()
        .any(|one| one.rounds_freely(fuses));
    is_free
        || calls(function).any(|call| {
            let name = call.intrinsic().map(Intrinsic::name).unwrap_or_default();
            matches!(name.as_str(), "llvm.pow" | "llvm.powi" | "llvm.exp10")
                || is_rounded_otherwise(&name, &call.callee_name())
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
        }
        define double @k(double %a) {
            %b = fmul contract double %a, %a
            %c = fadd contract double %b, %a
            ret double %c
        }
        declare double @llvm.sin.f64(double)
        declare float @llvm.sin.f32(float)
        define double @i(double %a) {
            %c = call double @llvm.sin.f64(double %a)
            ret double %c
        }
        define float @j(float %a) {
            %c = call float @llvm.sin.f32(float %a)
            ret float %c
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
        for fuses in [true, false] {
            let is_free = |name| is_free(module.function(name).expect("it is there"), fuses);
            let expected = [false, true, false, false, true, fuses];
            assert_eq!(["f", "g", "h", "i", "j", "k"].map(is_free), expected);
        }
        fix(&module, false);
        let text = module.function("k").expect("it is there").print();
        assert!(!text.contains("contract"), "{text}");
    }

    #[test]
    fn functions_of_single_precision_are_the_librarys() {
        let names = [
            "pow", "powf", "sinf", "erff", "log10f", "sinl", "sin", "erf", "sqrtf", "fabsf", "half",
        ];
        let found = names.map(is_the_librarys);
        let expected = [
            true, true, true, true, true, false, false, false, false, false, false,
        ];
        assert_eq!(found, expected);
    }
}
