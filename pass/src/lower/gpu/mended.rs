//! What libclc computes wrongly, put right around its functions, as text of LLVM's.
//!
//! Guarantee: what a function here returns is what C's does but for the last bits, where libclc's own returns something else,
//! or reads memory that is not there; numbers of single precision that are not normalised may be 0.

use std::fmt::Write;

/// What is wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wrong {
    /// It looks into a table at a place computed from what is no number.
    NoNumber,
    /// It forgets the sign of 0.
    Zero,
    /// Single precision: infinity, or 0, where there is a number.
    Single,
    /// `tgamma`: infinity where the number is too small for double precision, and without a sign at 0; and single precision.
    Small,
    /// `pow`: anything, by what is too large to be multiplied with a logarithm.
    Large,
}

const WRONG: [(&str, Wrong); 14] = [
    ("asin", Wrong::Zero),
    ("atan", Wrong::Zero),
    ("cosh", Wrong::NoNumber),
    ("erf", Wrong::Zero),
    ("erfc", Wrong::Single),
    ("expm1", Wrong::Zero),
    ("fmod", Wrong::Single),
    ("lgamma", Wrong::Single),
    ("pow", Wrong::Large),
    ("remainder", Wrong::Single),
    ("sin", Wrong::Zero),
    ("sinh", Wrong::NoNumber),
    ("tan", Wrong::Zero),
    ("tgamma", Wrong::Small),
];

/// By so much `tgamma` is computed nearer to 0, where it would be too small in what it is computed of.
const STEPS: u32 = 16;

/// What a function of so many numbers is called when it is put right: that of libclc's name, and `f` or `d` for what it
/// computes with.
pub fn named(name: &str, letter: char, count: usize) -> Option<String> {
    let (_, wrong) = WRONG.iter().find(|(known, _)| *known == name)?;
    let is_double = letter == 'd';
    let is_wrong = match wrong {
        Wrong::Single => !is_double,
        Wrong::Large => is_double,
        _ => true,
    };
    is_wrong.then(|| format!("okl_mended_{name}_{letter}{count}"))
}

/// The functions of these names: those of libclc's that they call are declared.
pub fn text<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let mut text = String::new();
    let mut declared = Vec::new();
    for own in names {
        let Some(rest) = own.strip_prefix("okl_mended_") else {
            continue;
        };
        let Some((name, of)) = rest.rsplit_once('_') else {
            continue;
        };
        let Some((_, wrong)) = WRONG.iter().find(|(known, _)| *known == name) else {
            continue;
        };
        let is_double = of.starts_with('d');
        let count = if of.ends_with('2') { 2 } else { 1 };
        let by_double = !is_double && matches!(wrong, Wrong::Single | Wrong::Small);
        let (ty, letter) = match is_double || by_double {
            true => ("double", "d"),
            false => ("float", "f"),
        };
        let own_type = if is_double { "double" } else { "float" };
        let theirs = format!("_Z{}{name}{}", name.len(), letter.repeat(count));
        let types = |ty: &str| vec![ty; count].join(", ");
        let declaration = format!("declare {ty} @{theirs}({})\n", types(ty));
        if !declared.contains(&declaration) {
            text += &declaration;
            declared.push(declaration);
        }
        let parameters = ["%x", "%y"][..count]
            .iter()
            .map(|one| format!("{own_type} {one}"));
        let parameters: Vec<_> = parameters.collect();
        let _ = writeln!(
            text,
            "define {own_type} @{own}({}) alwaysinline nounwind willreturn memory(none) {{",
            parameters.join(", ")
        );
        if by_double {
            for one in &["x", "y"][..count] {
                let _ = writeln!(text, "  %wide.{one} = fpext float %{one} to double");
            }
        }
        let wide = if by_double { "wide." } else { "" };
        let (x, y) = (format!("%{wide}x"), format!("%{wide}y"));
        text += &match wrong {
            Wrong::NoNumber => format!(
                "  %none = fcmp uno {ty} %x, 0.0\n  \
                   %number = select i1 %none, {ty} 0.0, {ty} %x\n  \
                   %found = call {ty} @{theirs}({ty} %number)\n  \
                   %result = select i1 %none, {ty} %x, {ty} %found\n"
            ),
            Wrong::Zero => format!(
                "  %found = call {ty} @{theirs}({ty} %x)\n  \
                   %none = fcmp oeq {ty} %x, 0.0\n  \
                   %result = select i1 %none, {ty} %x, {ty} %found\n"
            ),
            Wrong::Single if count == 1 => {
                format!("  %result = call {ty} @{theirs}({ty} {x})\n")
            }
            Wrong::Single => {
                format!("  %result = call {ty} @{theirs}({ty} {x}, {ty} {y})\n")
            }
            // 2^64 is even, and its powers are 0, 1 or infinity, as those of all larger numbers are.
            Wrong::Large => format!(
                "  %size = call {ty} @llvm.fabs.f64({ty} %y)\n  \
                   %is.large = fcmp ogt {ty} %size, 0x43F0000000000000\n  \
                   %largest = call {ty} @llvm.copysign.f64({ty} 0x43F0000000000000, {ty} %y)\n  \
                   %by = select i1 %is.large, {ty} %largest, {ty} %y\n  \
                   %result = call {ty} @{theirs}({ty} %x, {ty} %by)\n"
            ),
            // Between two poles it has one sign, and the next one behind each. Far from 0 it is computed from what it is
            // some steps nearer to it.
            Wrong::Small => {
                let mut text = format!(
                    "  %is.far = fcmp olt {ty} {x}, -160.0\n  \
                     %moved = fadd {ty} {x}, {STEPS}.0\n  \
                     %at = select i1 %is.far, {ty} %moved, {ty} {x}\n  \
                     %there = call {ty} @{theirs}({ty} %at)\n  \
                     %product.0 = fadd {ty} {x}, 0.0\n"
                );
                for step in 1..STEPS {
                    let before = step - 1;
                    let _ = writeln!(
                        text,
                        "  %term.{step} = fadd {ty} {x}, {step}.0\n  \
                         %product.{step} = fmul {ty} %product.{before}, %term.{step}"
                    );
                }
                let last = STEPS - 1;
                text + &format!(
                    "  %divided = fdiv {ty} %there, %product.{last}\n  \
                     %found = select i1 %is.far, {ty} %divided, {ty} %there\n  \
                     %size = call {ty} @llvm.fabs.f64({ty} %found)\n  \
                     %is.infinite = fcmp oeq {ty} %size, 0x7FF0000000000000\n  \
                     %is.left = fcmp olt {ty} {x}, -1.0\n  \
                     %is.small = and i1 %is.infinite, %is.left\n  \
                     %whole = call {ty} @llvm.floor.f64({ty} {x})\n  \
                     %half = fmul {ty} %whole, 0.5\n  \
                     %lower = call {ty} @llvm.floor.f64({ty} %half)\n  \
                     %is.even = fcmp oeq {ty} %half, %lower\n  \
                     %none = select i1 %is.even, {ty} 0.0, {ty} -0.0\n  \
                     %right = select i1 %is.small, {ty} %none, {ty} %found\n  \
                     %is.near = fcmp olt {ty} {x}, 1.0\n  \
                     %is.between = xor i1 %is.left, %is.near\n  \
                     %is.pole = and i1 %is.infinite, %is.between\n  \
                     %pole = call {ty} @llvm.copysign.f64({ty} 0x7FF0000000000000, {ty} {x})\n  \
                     %result = select i1 %is.pole, {ty} %pole, {ty} %right\n"
                )
            }
        };
        if by_double {
            text += "  %narrow = fptrunc double %result to float\n  ret float %narrow\n}\n";
        } else {
            let _ = writeln!(text, "  ret {ty} %result\n}}");
        }
    }
    for name in ["fabs", "floor"] {
        text += &format!("declare double @llvm.{name}.f64(double)\n");
    }
    text + "declare double @llvm.copysign.f64(double, double)\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::OwnModule;

    #[test]
    fn what_is_put_right_can_be_read_by_llvm() {
        let names = WRONG.iter().flat_map(|(name, _)| {
            let count = if ["fmod", "pow", "remainder"].contains(name) {
                2
            } else {
                1
            };
            ['f', 'd'].map(|letter| named(name, letter, count))
        });
        let names: Vec<_> = names.flatten().collect();
        assert_eq!(names.len(), 23);
        let module = OwnModule::parse(&text(names.iter().map(String::as_str)));
        for name in &names {
            let function = module.function(name).expect("it is there");
            assert!(!function.is_declaration(), "{name}");
        }
        assert_eq!(named("expf", 'f', 1), None);
        assert_eq!(named("pow", 'f', 2), None);
    }
}
