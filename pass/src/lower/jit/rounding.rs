//! What results are, bit for bit, whatever is known of the values they are computed from and on whichever processor.
//!
//! A product and a sum that the program lets become one operation do so on processors that have it: so it was decided where
//! the code was compiled ahead of time; where that was left to LLVM (`contract`) it is decided when the code is left, and for a processor without they did not.
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

/// Decides, for a processor that has the operation, which products and sums of a function become one where that is left to LLVM: all
/// of numbers that it has it for, and whose product nothing else uses. True where the function was changed.
pub fn contract(module: &Module, function: Function<'_>) -> bool {
    let may: Vec<_> = function
        .instructions()
        .into_iter()
        .filter(|one| one.may_contract())
        .collect();
    for &sum in &may {
        let is_sum = matches!(sum.opcode(), Opcode::LLVMFAdd | Opcode::LLVMFSub);
        if !is_sum || !sum.ty().is_float_or_double() {
            continue;
        }
        let product = |at: usize| {
            let found = sum.operand(at).as_op(Opcode::LLVMFMul)?;
            let is_alone = found.users().len() == 1 && sum.operand(0) != sum.operand(1);
            (found.may_contract() && is_alone).then_some((at, found))
        };
        let Some((at, product)) = product(1).or_else(|| product(0)) else {
            continue;
        };
        let builder = Builder::before(module, sum);
        let (mut a, b, mut c) = (product.operand(0), product.operand(1), sum.operand(1 - at));
        match (sum.opcode(), at) {
            (Opcode::LLVMFSub, 0) => c = builder.negate(c),
            (Opcode::LLVMFSub, _) => a = builder.negate(a),
            _ => {}
        }
        let both = builder.call_intrinsic(Intrinsic::named("llvm.fma"), &[a.ty()], &[a, b, c]);
        sum.replace_all_uses_with(both);
    }
    for one in &may {
        one.keep_apart();
    }
    // What became part of another operation is used no more.
    const PARTS: [Opcode; 3] = [Opcode::LLVMFAdd, Opcode::LLVMFSub, Opcode::LLVMFMul];
    let parts = may.iter().rev().filter(|one| PARTS.contains(&one.opcode()));
    for one in parts.filter(|one| one.is_unused()) {
        one.erase();
    }
    !may.is_empty()
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
            let is = |name| is_free(module.function(name).expect("it is there"), fuses);
            let expected = [false, true, false, false, true, fuses];
            assert_eq!(["f", "g", "h", "i", "j", "k"].map(is), expected);
        }
        let module = OwnModule::parse(CODE);
        let function = module.function("k").expect("it is there");
        assert!(contract(&module, function) && !is_free(function, true));
        let text = function.print();
        assert!(
            text.contains("llvm.fma.f64(double %a, double %a, double %a)"),
            "{text}"
        );
        assert!(!text.contains("fmul") && !text.contains("fadd"), "{text}");
        let module = OwnModule::parse(CODE);
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
