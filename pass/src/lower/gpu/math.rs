//! Mathematical functions: what libraries that have them for devices call those of C and of LLVM.

use super::library::Library;
use crate::llvm::{Call, Function, Intrinsic, Linkage, Module, Type};
use crate::lower::jit::rounding;

/// Functions of numbers of one type: their name in C and in LLVM, that in libraries, and how many numbers they take.
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

/// The name in a library of a function of so many numbers of a type.
fn named(name: &str, ty: Type<'_>, count: usize, library: &Library) -> Option<String> {
    let known = FUNCTIONS.iter().find(|(known, ..)| *known == name);
    let (_, name, _) = known.filter(|(.., numbers)| *numbers == count)?;
    Some(library.named(name, letter(ty)?, count))
}

/// Of a type, where a function takes and returns nothing else.
fn only_type(ty: Type<'_>) -> Option<(Type<'_>, usize)> {
    let parameters = ty.parameters();
    let is_same = parameters.iter().all(|one| *one == ty.result());
    (is_same && !ty.is_variadic()).then(|| (ty.result(), parameters.len()))
}

/// The name in a library of a function that is declared.
fn of_function(function: Function<'_>, library: &Library) -> Option<String> {
    let name = function.name();
    let (ty, count) = only_type(function.function_type())?;
    let plain = match letter(ty)? {
        'f' => name.strip_suffix('f')?,
        _ => &name,
    };
    named(plain, ty, count, library)
}

/// The same of what an intrinsic does that devices have no code for.
fn of_intrinsic(call: Call<'_>, library: &Library) -> Option<String> {
    let name = call.intrinsic().map(Intrinsic::name)?;
    let plain = name.strip_prefix("llvm.")?;
    if plain != "tanh" && !INTRINSICS.contains(&plain) {
        return None;
    }
    let (ty, count) = only_type(call.function_type())?;
    named(plain, ty, count, library)
}

/// Whether libraries have a function that is declared.
pub fn has_function(function: Function<'_>) -> bool {
    of_function(function, &Library::Driver).is_some()
}

/// Whether a call is one of a function that they have: it computes something of its arguments and does nothing else on a device.
pub fn is_function(call: Call<'_>) -> bool {
    call.callee_function()
        .is_some_and(|callee| callee.is_declaration() && has_function(callee))
}

/// Whether they have what an intrinsic does that devices have no code for.
pub fn has_intrinsic(call: Call<'_>) -> bool {
    of_intrinsic(call, &Library::Driver).is_some()
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

/// Whether a function of that name is one of libclc's and OpenCL's whose results are not all exact, or rounded as they should be.
pub fn is_inexact(name: &str) -> bool {
    let plain = || {
        let rest = name.strip_prefix("_Z")?;
        let digits = rest.len()
            - rest
                .trim_start_matches(|one: char| one.is_ascii_digit())
                .len();
        rest[digits..].get(..rest[..digits].parse().ok()?)
    };
    is_library(name) && !plain().is_some_and(rounding::is_exact)
}

/// Has a module call a library's functions in place of those that are declared. Which it calls.
pub fn rename(module: &Module, library: &Library) -> Vec<String> {
    let functions = module.functions().into_iter();
    let functions: Vec<_> = functions.filter(|one| one.is_declaration()).collect();
    let mut called = Vec::new();
    for function in functions {
        let calls = function
            .users()
            .into_iter()
            .filter_map(|user| user.as_call());
        let calls: Vec<_> = calls.filter(|call| call.callee() == *function).collect();
        let name = match function.is_intrinsic() {
            true => calls.first().and_then(|call| of_intrinsic(*call, library)),
            false => of_function(function, library),
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
        called.push(name);
    }
    called
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::OwnModule;

    #[test]
    fn functions_of_c_and_of_llvm_have_names_in_libraries() {
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
        let libraries = [
            Library::Driver,
            Library::Libclc("nvptx64--.bc"),
            Library::Libdevice("libdevice.10.bc".into()),
        ];
        for (name, expected) in [
            ("sinf", ["_Z3sinf", "okl_mended_sin_f1", "__nv_sinf"]),
            ("sin", ["_Z3sind", "okl_mended_sin_d1", "__nv_sin"]),
            ("pow", ["_Z3powdd", "okl_mended_pow_d2", "__nv_pow"]),
            ("nearbyintf", ["_Z4rintf", "_Z4rintf", "__nv_rintf"]),
            ("fma", ["_Z3fmaddd", "_Z3fmaddd", "__nv_fma"]),
        ] {
            let function = module.function(name).expect("it is there");
            let found = libraries.each_ref().map(|one| of_function(function, one));
            assert_eq!(found, expected.map(|one| Some(one.to_string())), "{name}");
        }
        for name in ["sin.1", "lround", "ldexp"] {
            let function = module.function(name).expect("it is there");
            assert!(!has_function(function), "{name}");
        }
    }
}
