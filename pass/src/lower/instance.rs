//! Files that are compiled while a program runs, for one instance of a kernel template: a variable of a known name has the
//! address of the instance, and all else of the file the program has already.
//!
//! Guarantee: the instance is as it would be in the program, or there is an error at the line where it is not: it would have
//! variables of its own where the program has others, or calls what is in other files. Nothing else of the file is left: no
//! constructors run.
//!
//! Instances that the driver adds for literals are part of the program's file. Such a one is an error where the file would be
//! linked no more, or be another one: where it needs anything of other files but what each C++ program is linked with, or
//! variables that nothing else in the file uses, which may have constructors. The driver then does without.

use std::collections::HashSet;

use okl_abi::cpu::{INSTANCE, LITERAL};

use crate::analysis::library;
use crate::diagnostic::{Declined, Site, report};
use crate::llvm::{Function, Global, Instruction, Linkage, Module, Opcode, Severity, Value};
use crate::marks::is_okl_marker;

/// What says of functions and variables what they are.
const ANNOTATIONS: &str = "llvm.global.annotations";

/// Leaves of a module that is one what the instance reaches. True where it is one.
pub fn run(module: &Module) -> bool {
    let root = module.global(INSTANCE);
    let Some(root) = root.filter(|root| !root.is_declaration()) else {
        return false;
    };
    let mut reached = Reached::default();
    reached.visit(*root, None);
    for one in &reached.wrong {
        let reason = format!(
            "an instance of a kernel that is made while the program runs {}: name the instance in the file, \
             'template @kernel void NAME<ARGUMENTS>(PARAMETERS);'",
            one.what
        );
        let declined = Declined {
            site: one.site,
            reason,
        };
        report(module, &declined, Severity::Error);
    }
    // An alias stays, with what it stands for; nobody calls it.
    let mut kept = Reached::default();
    for function in module.functions() {
        if function.users().iter().any(|user| user.is_alias()) {
            kept.visit(*function, None);
        }
    }
    if let Some(annotations) = module.global(ANNOTATIONS) {
        kept.texts(*annotations);
    }
    let has = |one: &Value<'_>| reached.seen.contains(one) || kept.seen.contains(one);
    for function in module.functions() {
        if function.is_declaration() {
            continue;
        }
        function.leave_comdat();
        match has(&function) {
            true if reached.seen.contains(&*function) => {
                function.set_linkage(Linkage::LLVMInternalLinkage);
            }
            true => {}
            false => function.delete_body(),
        }
    }
    for global in module.globals() {
        let is_kept = global.name() == ANNOTATIONS || *global == *root || has(&global);
        if !is_kept && !global.is_declaration() {
            global.replace_all_uses_with(global.ty().zero());
            global.erase();
        }
    }
    // What others add later may have the same name, and a body.
    for function in module.functions() {
        if function.is_declaration() && function.is_unused() {
            function.erase();
        }
    }
    true
}

/// Says which instances that literals ask for cannot be part of the program. Changes nothing.
pub fn check_literals(module: &Module) {
    let mut literals = module.globals();
    literals.retain(|one| one.name().contains(LITERAL) && !one.is_declaration());
    if literals.is_empty() {
        return;
    }
    // What is in the object in any case. Constructors keep what they make, and annotations nothing.
    let mut others = Reached::default();
    others.seen.extend(literals.iter().map(|one| **one));
    for function in module.functions() {
        if !function.is_declaration() && !may_go(function.linkage()) {
            others.visit(*function, None);
        }
    }
    for global in module.globals() {
        let is_kept = !global.name().starts_with("llvm.") && !may_go(global.linkage());
        if !global.is_declaration() && is_kept {
            others.visit(*global, None);
        }
    }
    for literal in literals {
        let mut reached = Reached::default();
        reached.visit(*literal, None);
        let name = literal.name();
        let number = name.rsplit('_').next().unwrap_or_default();
        let decline = |site, what: &str| {
            let reason = format!("the instance okl::kernel:{number}: {what}");
            report(module, &Declined { site, reason }, Severity::Error);
        };
        let wrong = |one: &&Wrong| one.is_elsewhere || !others.seen.contains(&one.value);
        for one in reached.wrong.iter().filter(wrong) {
            decline(one.site, &one.what);
        }
        for one in &reached.seen {
            if let Some(function) = one.as_function() {
                if function.is_declaration() && !is_linked_always(function) {
                    decline(Site::Function(function), "needs what may not be linked");
                }
                let mut code = function.instructions().into_iter();
                if let Some(one) = code.find(|one| is_call_of_library(module, *one)) {
                    decline(Site::Instruction(one), "may need a library for atomics");
                }
            } else if let Some(global) = one.as_global().filter(|one| one.is_declaration())
                && !global.name().starts_with("_ZTVN10__cxxabiv1")
            {
                decline(Site::Global(global), "needs what may not be linked");
            }
        }
    }
}

/// Functions of the C library that each C++ program has, but for those of numbers.
const LINKED_ALWAYS: &str = "memcpy memmove memset memcmp strlen strcmp printf puts putchar malloc calloc realloc free abort \
    abs labs llabs __gxx_personality_v0 _Unwind_Resume __assert_fail _ZSt9terminatev _Znwm _Znam _ZdlPv _ZdaPv _ZdlPvm _ZdaPvm";

/// Functions of numbers, of C's standard (ISO C11, 7.12), that are there for `float` and `long double` as well.
const OF_NUMBERS: &str = "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim \
    floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nearbyint \
    nextafter pow remainder remquo rint round scalbln scalbn sin sinh sqrt tan tanh tgamma trunc";

/// Whether a function that is only declared is there in each C++ program, or says something to the plugin alone.
fn is_linked_always(function: Function<'_>) -> bool {
    let name = function.name();
    let of_numbers = |name: &str| OF_NUMBERS.split_whitespace().any(|one| one == name);
    function.is_intrinsic()
        || is_okl_marker(&name)
        || name.starts_with("__cxa_")
        || LINKED_ALWAYS.split_whitespace().any(|one| one == name)
        || of_numbers(&name)
        || name.strip_suffix(['f', 'l']).is_some_and(of_numbers)
}

/// Whether an instruction becomes a call of a library that programs need not be linked with.
fn is_call_of_library(module: &Module, one: Instruction<'_>) -> bool {
    const LARGEST: u64 = 8;
    let large = |value: Value<'_>| module.store_size_of(value.ty()) > LARGEST;
    one.is_atomic_access()
        && match one.opcode() {
            Opcode::LLVMLoad => large(*one),
            Opcode::LLVMStore => large(one.operand(0)),
            _ => large(one.operand(1)),
        }
}

/// Whether what nothing refers to is left out.
fn may_go(linkage: Linkage) -> bool {
    matches!(
        linkage,
        Linkage::LLVMInternalLinkage
            | Linkage::LLVMPrivateLinkage
            | Linkage::LLVMLinkOnceAnyLinkage
            | Linkage::LLVMLinkOnceODRLinkage
            | Linkage::LLVMAvailableExternallyLinkage
    )
}

/// What code and variables refer to.
#[derive(Default)]
struct Reached<'m> {
    seen: HashSet<Value<'m>>,
    wrong: Vec<Wrong<'m>>,
}

/// What another copy of the code would not have as the program does.
struct Wrong<'m> {
    value: Value<'m>,
    /// It is only declared.
    is_elsewhere: bool,
    site: Site<'m>,
    what: String,
}

impl<'m> Reached<'m> {
    /// All that a value refers to, which an instruction uses.
    fn visit(&mut self, value: Value<'m>, at: Option<Instruction<'m>>) {
        let mut left = vec![(value, at)];
        while let Some((value, at)) = left.pop() {
            if value.is_alias() {
                left.push((value.through_alias(), at));
                continue;
            }
            let is_of_module = value.as_function().is_some() || value.as_global().is_some();
            if !is_of_module && !value.is_constant() || !self.seen.insert(value) {
                continue;
            }
            if let Some(function) = value.as_function() {
                self.function(function, at, &mut left);
            } else if let Some(global) = value.as_global() {
                self.global(global, at);
                left.extend(global.initializer().map(|one| (one, at)));
            } else {
                left.extend(value.operands().into_iter().map(|one| (one, at)));
            }
        }
    }

    fn function(
        &mut self,
        function: Function<'m>,
        at: Option<Instruction<'m>>,
        left: &mut Vec<(Value<'m>, Option<Instruction<'m>>)>,
    ) {
        if !function.is_declaration() {
            for one in function.instructions() {
                let operands = one.operands().into_iter();
                left.extend(operands.map(|operand| (operand, Some(one))));
            }
            left.extend(function.personality().map(|one| (one, at)));
            return;
        }
        let name = function.name();
        let is_of_library = function.is_intrinsic()
            || name.starts_with("__")
            || name.starts_with("omp_")
            || library::is_cxx_runtime(&name)
            || library::is_of_libm(&name)
            || library::known(&name).is_some();
        if !is_of_library {
            let name = crate::llvm::demangle(&name);
            self.wrong.push(Wrong {
                value: *function,
                is_elsewhere: true,
                site: function_site(at, function),
                what: format!("calls {name}, which is not in the file of the kernel"),
            });
        }
    }

    fn global(&mut self, global: Global<'m>, at: Option<Instruction<'m>>) {
        let name = global.name();
        let is_fixed = match global.is_declaration() {
            true => library::is_library_variable(&name) || name.starts_with("__"),
            false => global.is_readonly() && !global.is_thread_local(),
        };
        // The instance's own address.
        if is_fixed || name == INSTANCE {
            return;
        }
        let name = crate::llvm::demangle(&name);
        self.wrong.push(Wrong {
            value: *global,
            is_elsewhere: global.is_declaration(),
            site: at.map_or(Site::Global(global), Site::Instruction),
            what: format!("uses the variable {name}, which the program has already"),
        });
    }

    /// What annotations refer to but for what they are about.
    fn texts(&mut self, annotations: Value<'m>) {
        let initial = annotations.as_global().and_then(|one| one.initializer());
        let entries = initial.map(|one| one.operands()).unwrap_or_default();
        for entry in entries {
            for text in entry.operands().into_iter().skip(1) {
                self.visit(text, None);
            }
        }
    }
}

fn function_site<'m>(at: Option<Instruction<'m>>, function: Function<'m>) -> Site<'m> {
    at.map_or(Site::Function(function), Site::Instruction)
}
