//! Mathematical functions: what libclc, which has them for devices, calls those of C and of LLVM.

use crate::llvm::{Call, Function, Intrinsic, Linkage, Module, Type};

/// Functions of numbers of one type: their name in C, that in libclc, and how many numbers they take.
const FUNCTIONS: [(&str, &str, usize); 47] = [
    ("acos", "acos", 1),
    ("acosh", "acosh", 1),
    ("asin", "asin", 1),
    ("asinh", "asinh", 1),
    ("atan", "atan", 1),
    ("atan2", "atan2", 2),
    ("atanh", "atanh", 1),
    ("cbrt", "cbrt", 1),
    ("ceil", "ceil", 1),
    ("copysign", "copysign", 2),
    ("cos", "cos", 1),
    ("cosh", "cosh", 1),
    ("erf", "erf", 1),
    ("erfc", "erfc", 1),
    ("exp", "exp", 1),
    ("exp10", "exp10", 1),
    ("exp2", "exp2", 1),
    ("expm1", "expm1", 1),
    ("fabs", "fabs", 1),
    ("fdim", "fdim", 2),
    ("floor", "floor", 1),
    ("fma", "fma", 3),
    ("fmax", "fmax", 2),
    ("fmin", "fmin", 2),
    ("fmod", "fmod", 2),
    ("hypot", "hypot", 2),
    ("lgamma", "lgamma", 1),
    ("log", "log", 1),
    ("log10", "log10", 1),
    ("log1p", "log1p", 1),
    ("log2", "log2", 1),
    ("logb", "logb", 1),
    ("nearbyint", "rint", 1),
    ("nextafter", "nextafter", 2),
    ("pow", "pow", 2),
    ("remainder", "remainder", 2),
    ("rint", "rint", 1),
    ("round", "round", 1),
    ("rsqrt", "rsqrt", 1),
    ("sin", "sin", 1),
    ("sinh", "sinh", 1),
    ("sqrt", "sqrt", 1),
    ("tan", "tan", 1),
    ("tanh", "tanh", 1),
    ("tgamma", "tgamma", 1),
    ("trunc", "trunc", 1),
    ("maxnum", "fmax", 2),
];

/// Those of LLVM's that devices have no code for.
const INTRINSICS: [&str; 16] = [
    "acos", "asin", "atan", "atan2", "cos", "cosh", "exp", "exp10", "exp2", "log", "log10", "log2",
    "pow", "sin", "sinh", "tan",
];

fn letter(ty: Type<'_>) -> Option<char> {
    match ty.print().as_str() {
        "float" => Some('f'),
        "double" => Some('d'),
        _ => None,
    }
}

/// The name in libclc of a function of so many numbers of a type.
fn named(name: &str, ty: Type<'_>, count: usize) -> Option<String> {
    let known = FUNCTIONS.iter().find(|(known, ..)| *known == name);
    let (_, name, _) = known.filter(|(.., numbers)| *numbers == count)?;
    let letters: String = std::iter::repeat_n(letter(ty)?, count).collect();
    Some(format!("_Z{}{name}{letters}", name.len()))
}

/// Of a type, where a function takes and returns nothing else.
fn only_type(ty: Type<'_>) -> Option<(Type<'_>, usize)> {
    let parameters = ty.parameters();
    let is_same = parameters.iter().all(|one| *one == ty.result());
    (is_same && !ty.is_variadic()).then(|| (ty.result(), parameters.len()))
}

/// The name in libclc of a function that is declared.
pub fn of_function(function: Function<'_>) -> Option<String> {
    let name = function.name();
    let (ty, count) = only_type(function.function_type())?;
    let plain = match letter(ty)? {
        'f' => name.strip_suffix('f')?,
        _ => &name,
    };
    named(plain, ty, count)
}

/// The name in libclc of what an intrinsic does that devices have no code for.
pub fn of_intrinsic(call: Call<'_>) -> Option<String> {
    let name = call.intrinsic().map(Intrinsic::name)?;
    let plain = name.strip_prefix("llvm.")?;
    if plain != "tanh" && !INTRINSICS.contains(&plain) {
        return None;
    }
    let (ty, count) = only_type(call.function_type())?;
    named(plain, ty, count)
}

/// Whether a function of C has that name, of numbers of one type.
pub fn is_known(name: &str) -> bool {
    let plain = name.strip_suffix('f').unwrap_or(name);
    let mut all = FUNCTIONS.iter();
    all.any(|(known, ..)| *known == plain || *known == name)
}

/// Whether a function of libclc's and OpenCL's has that name.
pub fn is_library(name: &str) -> bool {
    FUNCTIONS.iter().any(|(_, known, count)| {
        ["f", "d"].iter().any(|letter| {
            let letters = letter.repeat(*count);
            name == format!("_Z{}{known}{letters}", known.len())
        })
    })
}

/// Has a module call libclc's functions in place of those that are declared. Whether it calls any.
pub fn rename(module: &Module) -> bool {
    let functions = module.functions().into_iter();
    let functions: Vec<_> = functions.filter(|one| one.is_declaration()).collect();
    let mut is_any = false;
    for function in functions {
        let calls = function
            .users()
            .into_iter()
            .filter_map(|user| user.as_call());
        let calls: Vec<_> = calls.filter(|call| call.callee() == *function).collect();
        let name = match function.is_intrinsic() {
            true => calls.first().and_then(|call| of_intrinsic(*call)),
            false => of_function(function),
        };
        let Some(name) = name else { continue };
        let ty = function.function_type();
        let add = || {
            let added = module.add_function(&name, ty, Linkage::LLVMExternalLinkage);
            for known in ["nounwind", "willreturn", "memory"] {
                added.set_attribute(module, known);
            }
            added
        };
        let instead = module.function(&name).unwrap_or_else(add);
        for call in calls {
            call.set_callee(*instead);
        }
        is_any = true;
    }
    is_any
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::OwnModule;

    #[test]
    fn functions_of_c_and_of_llvm_have_names_in_libclc() {
        let module = OwnModule::parse(
            "declare float @sinf(float)
            declare double @sin(double)
            declare double @pow(double, double)
            declare float @nearbyintf(float)
            declare double @fma(double, double, double)
            declare double @llvm.exp.f64(double)
            declare double @llvm.sqrt.f64(double)
            declare float @sin.1(float)
            declare i32 @lround(double)
            declare double @ldexp(double, i32)",
        );
        for (name, expected) in [
            ("sinf", Some("_Z3sinf")),
            ("sin", Some("_Z3sind")),
            ("pow", Some("_Z3powdd")),
            ("nearbyintf", Some("_Z4rintf")),
            ("fma", Some("_Z3fmaddd")),
            ("sin.1", None),
            ("lround", None),
            ("ldexp", None),
        ] {
            let function = module.function(name).expect("it is there");
            assert_eq!(of_function(function).as_deref(), expected, "{name}");
        }
    }
}
