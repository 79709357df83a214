//! Leaves code for the program to compile once more.
//!
//! Whoever runs it is handed a [`JitCode`]: the code that it has now, before it works on several elements at once, and what a
//! version of it may rest on. Of [loops over sets](loops) that are variables of the program that the loop's body reads and
//! cannot change, and how the elements of its arguments lie; of [regions](regions) variables that nothing writes while they
//! run, numbers in such and [behind] pointers of which that is so, and what they get by value. What is not left runs as it was compiled: a remark says why.

mod behind;
mod loops;
mod own;
mod regions;
mod steady;

use std::collections::HashSet;

use okl_abi::jit::{ENTRY, JitCode, JitValue, code_flags, value};
use okl_abi::{Effects, RuntimeFn};

use super::counts::Ends;
use super::{counts, declared, fold, rounding};
use crate::analysis::runtime::{effects_of, is_of_runtime};
use crate::llvm::{
    Builder, Call, Function, Global, Linkage, Module, OwnModule, Value, VectorUnit, Visibility,
    hash_bytes, pack,
};
use crate::lower::cpu::lanes::position;
use crate::lower::gpu::again;
use crate::lower::runtime_call::declare;
use crate::simplified::mentioned_by;

/// Code that is left.
pub struct Left<'m> {
    at: At<'m>,
    name: String,
    bitcode: Vec<u8>,
    addresses: Vec<Value<'m>>,
    values: Vec<Place<'m>>,
    flags: i64,
    vector_bits: i64,
    /// Exceptions may pass through it, or end in it.
    unwinds: bool,
}

/// Where it is run.
enum At<'m> {
    /// By what runs loops, which has a parameter for it.
    Loops(Vec<Call<'m>>),
    /// By what begins regions, or runs them on ranks; with the words for where, behind those that it may have versions.
    Regions(Vec<regions::Fork<'m>>, Option<&'static str>),
    /// By what launches kernels on devices, whose record names it.
    Launches,
}

/// A value that may be known.
#[derive(Clone, Copy)]
struct Place<'m> {
    kind: i64,
    place: i64,
    offset: i64,
    size: i64,
    variable: Option<Value<'m>>,
}

/// Leaves what of a lowered module can be left. True where the module was changed.
pub fn leave(module: &Module, unit: &VectorUnit<'_>) -> bool {
    let own = own::Functions::add(module);
    let left = check(module, unit);
    let is_left = emit(module, &left);
    own.erase_unused() || is_left
}

/// Finds what of a lowered module can be left.
fn check<'m>(module: &'m Module, unit: &VectorUnit<'_>) -> Vec<Left<'m>> {
    let mut found = loops::check(module, unit);
    found.extend(regions::check(module, unit));
    found
}

/// Leaves it. True where the module was changed.
fn emit<'m>(module: &'m Module, all: &[Left<'m>]) -> bool {
    /// Whoever wants one of several has all of them in memory.
    const MOST_BYTES: usize = 1 << 16;
    let mut rest = all;
    while !rest.is_empty() {
        let mut bytes = 0;
        let fits = rest.iter().take_while(|one| {
            bytes += one.bitcode.len();
            bytes <= MOST_BYTES
        });
        let (together, others) = rest.split_at(fits.count().max(1));
        let bitcode = Bitcode::of(module, together);
        for (number, left) in together.iter().enumerate() {
            left.emit(module, &bitcode, number);
        }
        rest = others;
    }
    !all.is_empty()
}

/// That of several, in the program: [`okl_abi::jit::codes`].
struct Bitcode<'m> {
    bytes: Value<'m>,
    length: i64,
}

impl<'m> Bitcode<'m> {
    fn of(module: &'m Module, all: &[Left<'m>]) -> Self {
        let each: Vec<_> = all.iter().map(|one| one.bitcode.as_slice()).collect();
        let packed = pack(&each);
        Self {
            bytes: *module.add_bytes("okl.jit.bitcode", &packed),
            length: packed.len() as i64,
        }
    }
}

/// Leaves a kernel for devices. Returns a [`JitCode`].
pub fn kernel<'m>(module: &'m Module, name: &str, kernel: &again::Left) -> Global<'m> {
    let values = kernel.values.iter().map(|one| Place {
        kind: one.kind,
        place: one.place,
        offset: 0,
        size: one.size,
        variable: None,
    });
    let left = Left {
        at: At::Launches,
        name: name.to_string(),
        bitcode: kernel.bitcode.clone(),
        addresses: Vec::new(),
        values: values.collect(),
        flags: kernel.flags,
        vector_bits: 0,
        unwinds: false,
    };
    let bitcode = Bitcode::of(module, std::slice::from_ref(&left));
    left.describe(module, &bitcode, 0)
}

impl<'m> Left<'m> {
    /// A [`JitCode`], with its number among those whose bitcode is there.
    fn describe(&self, module: &'m Module, bitcode: &Bitcode<'m>, at: usize) -> Global<'m> {
        let list = |name: &str, values: &[Value<'m>]| match values.first() {
            None => module.pointer().zero(),
            Some(first) => *module.add_constant(name, module.const_array(first.ty(), values)),
        };
        let (number, none) = (|value| module.const_i64(value), module.pointer().zero());
        let values = self.values.iter().map(|one| {
            let fields = JitValue::NAMES.iter().map(|&field| match field {
                "kind" => number(one.kind),
                "place" => number(one.place),
                "offset" => number(one.offset),
                "size" => number(one.size),
                "variable" => one.variable.unwrap_or(none),
                other => unreachable!("a value has no {other}"),
            });
            module.const_struct(&fields.collect::<Vec<_>>())
        });
        let values: Vec<_> = values.collect();
        let addresses: Vec<_> = match &self.at {
            At::Loops(_) | At::Launches => self.addresses.clone(),
            At::Regions(forks, _) => {
                let here = |one: &Value<'m>| forks[0].called_here(module, *one);
                self.addresses.iter().map(here).collect()
            }
        };
        let fields = JitCode::NAMES.iter().map(|&field| match field {
            "name" => *module.add_text("okl.jit.name", &self.name),
            "hash" => number(hash_bytes(&self.bitcode) as i64),
            "bitcode" => bitcode.bytes,
            "length" => number(bitcode.length),
            "number" => number(at as i64),
            "addresses" => list("okl.jit.addresses", &addresses),
            "address_count" => number(addresses.len() as i64),
            "values" => list("okl.jit.values", &values),
            "value_count" => number(values.len() as i64),
            "flags" => number(self.flags),
            "vector_bits" => number(self.vector_bits),
            "versions" => none,
            "unwinder" if self.unwinds => *unwinder(module),
            "unwinder" => none,
            other => unreachable!("code has no {other}"),
        });
        let code = module.const_struct(&fields.collect::<Vec<_>>());
        let linkage = Linkage::LLVMInternalLinkage;
        let global = module.add_global("okl.jit.code", code.ty(), Some(code), linkage);
        global.set_alignment(8);
        global
    }

    fn emit(&self, module: &'m Module, bitcode: &Bitcode<'m>, at: usize) {
        let global = self.describe(module, bitcode, at);
        match &self.at {
            At::Launches => {}
            At::Loops(sites) => {
                for &site in sites {
                    let site_position = position(site, "jit");
                    site.instruction().set_operand(site_position, *global);
                    tell(site, ("loop", ""), None);
                }
            }
            At::Regions(forks, place) => {
                for fork in forks {
                    fork.run_version(module, global, &self.values);
                    if let Some(place) = place {
                        tell(fork.site, (fork.what(), place), None);
                    }
                }
            }
        }
    }
}

/// What goes on with an exception behind a handler, if the program has that: the C++ ABI's, as LLVM calls it.
fn unwinder(module: &Module) -> Function<'_> {
    const NAME: &str = "_Unwind_Resume";
    module.function(NAME).unwrap_or_else(|| {
        let ty = module.function_type(module.void(), &[module.pointer()]);
        module.add_function(NAME, ty, Linkage::LLVMExternalWeakLinkage)
    })
}

/// Tells the user that something may have versions, and where, or why it has none.
pub fn tell(site: Call<'_>, (what, place): (&str, &str), why: Option<&str>) {
    let message = match why {
        None => format!("{what} may be compiled once more at run time{place}"),
        Some(why) => format!("{what} is not compiled once more at run time: {why}"),
    };
    site.instruction().remark("Jit", &message, why.is_some());
}

/// What functions reach, all of which can be moved.
struct Reached<'m> {
    all: HashSet<Value<'m>>,
    bodies: Vec<Function<'m>>,
}

impl<'m> Reached<'m> {
    fn by(roots: &[Function<'m>]) -> Result<Self, String> {
        Self::of(mentioned_by(roots, is_left))
    }

    /// What a function reaches without those whose addresses it hands to OpenMP's run time: other processes may be told of
    /// these, and know those of the program.
    fn by_calls(root: Function<'m>) -> Result<Self, String> {
        let mut told_of = HashSet::new();
        let all = mentioned_by(&[root], is_left);
        let code = all.iter().filter_map(|one| one.as_function());
        for one in code.flat_map(|one| one.instructions()) {
            let callee = one.as_call().map(Call::callee);
            let operands = one.operands().into_iter();
            let addresses = operands.filter(|operand| Some(*operand) != callee);
            told_of.extend(addresses.filter_map(Value::as_function));
        }
        let is_told = |one: Value<'m>| one.as_function().is_some_and(|one| told_of.contains(&one));
        Self::of(mentioned_by(&[root], |one| is_left(one) && !is_told(one)))
    }

    fn of(all: HashSet<Value<'m>>) -> Result<Self, String> {
        let functions = all.iter().filter_map(|one| one.as_function());
        let bodies = functions.filter(|one| !one.is_declaration() && !one.is_interposable());
        let bodies: Vec<_> = bodies.collect();
        for body in &bodies {
            can_be_moved(*body)?;
        }
        let tables = all.iter().filter_map(|one| one.as_global());
        let tables = tables.filter(|one| is_left(**one));
        let mut tables = tables.filter_map(|one| one.initializer());
        if tables.any(names_own_function) {
            return Err(TAKES_ADDRESS.to_string());
        }
        Ok(Self { all, bodies })
    }

    /// Whether all that is called is the same in versions: these know no functions for several numbers.
    fn calls_alike(&self, unit: &VectorUnit<'_>) -> Result<(), String> {
        match self.bodies.iter().any(|one| unit.is_called_by(*one)) {
            true => {
                Err("it calls a library's functions for several numbers (-fveclib)".to_string())
            }
            false => Ok(()),
        }
    }

    /// Whether exceptions may pass through it, or end in it.
    fn unwinds(&self) -> bool {
        let mut bodies = self.bodies.iter();
        bodies.any(|one| !one.has_attribute("nounwind") || one.personality().is_some())
    }

    /// Bits of [`code_flags`].
    fn flags(&self, function: Function<'_>, counts_lanes: bool, is_free: bool) -> i64 {
        let fuses = fuses(function);
        let mut bodies = self.bodies.iter();
        let is_free = is_free || bodies.any(|one| rounding::is_free(*one, fuses));
        let flags = [
            (code_flags::FUSED, fuses),
            (code_flags::COUNTS_LANES, counts_lanes),
            (code_flags::ROUNDS_FREELY, is_free),
        ];
        let bits = flags.iter().filter(|(_, is_set)| *is_set);
        bits.map(|(bit, _)| bit).sum()
    }
}

/// [`code_flags::COUNTS`], where some of these values decide in the code how often loops run.
fn counts_flag(code: &Module, values: &[Place<'_>]) -> i64 {
    let declared = declared(code);
    let values = values
        .iter()
        .map(|one| [one.kind, one.place, one.offset, one.size]);
    let roots = counts::roots(
        code,
        |place| declared.get(place).copied(),
        fold::region(code),
        values,
    );
    match Ends::of(code, roots).is_empty() {
        true => 0,
        false => code_flags::COUNTS,
    }
}

/// Where all is that such code declares, and those of these variables that consist of numbers and of which `is_known` says
/// that they may be known.
fn addresses<'m>(
    module: &'m Module,
    code: &Module,
    is_known: impl Fn(Global<'m>) -> bool,
) -> Result<(Vec<Value<'m>>, Vec<Place<'m>>), String> {
    let found = declared(code);
    let addresses: Option<Vec<_>> = found.iter().map(|one| address(module, *one)).collect();
    let addresses = addresses.ok_or("it uses something by a second name")?;
    let mut values = Vec::new();
    for (place, (own, there)) in found.iter().zip(&addresses).enumerate() {
        let variable = own.as_global().filter(|one| {
            one.is_declaration() && one.linkage() != Linkage::LLVMExternalWeakLinkage
        });
        let size = variable.and_then(|one| fold::size_of(module, one));
        let size = size.filter(|_| there.as_global().is_some_and(&is_known));
        values.extend(size.map(|size| Place {
            kind: value::VARIABLE,
            place: place as i64,
            offset: 0,
            size,
            variable: Some(*there),
        }));
    }
    Ok((addresses, values))
}

/// Whether what something is made of is left with it: not of variables that are written, which are the program's.
fn is_left(one: Value<'_>) -> bool {
    one.as_global().is_none_or(|one| one.is_readonly())
}

/// A copy of a function is at another address.
const TAKES_ADDRESS: &str = "it takes addresses of functions";

/// Functions that are told what to call in the end, and what the code has then.
const ENDS: [(&str, &str); 2] = [
    (
        "__cxa_atexit",
        "it has static variables whose type has a destructor",
    ),
    (
        "__cxa_thread_atexit",
        "it has variables of its thread whose type has a destructor",
    ),
];

/// Whether a constant has the address of a function of the file's.
fn names_own_function(constant: Value<'_>) -> bool {
    match constant.as_function() {
        Some(function) => !function.is_declaration(),
        None if constant.is_global_value() => false,
        None => constant.is_constant() && constant.operands().into_iter().any(names_own_function),
    }
}

/// Whether a function is the same elsewhere in the process.
fn can_be_moved(function: Function<'_>) -> Result<(), String> {
    if function.has_attribute("strictfp") {
        return Err("it may set how numbers are rounded".to_string());
    }
    for one in function.instructions() {
        let callee = one.as_call().map(Call::callee);
        // OpenMP's run time calls them, and does nothing else with them.
        let are_called = one
            .as_call()
            .is_some_and(|call| is_of_runtime(&call.callee_name()));
        for operand in one.operands() {
            if Some(operand) != callee && !are_called && names_own_function(operand) {
                let name = one.as_call().map(Call::callee_name).unwrap_or_default();
                let ends = ENDS.iter().find(|(function, _)| *function == name);
                return Err(ends.map_or(TAKES_ADDRESS, |(_, why)| why).to_string());
            }
            if operand.as_block_address().is_some() {
                return Err("it has addresses of labels".to_string());
            }
            if own::needs(one, operand) {
                return Err("it has variables of its thread".to_string());
            }
        }
        let Some(call) = one.as_call() else { continue };
        if call.callee().as_inline_assembly().is_some() {
            return Err("it has assembly".to_string());
        }
        // Where they are passed depends on the processor.
        let is_own = call.intrinsic().is_some();
        let vectors =
            || call.ty().is_vector() || call.arguments().iter().any(|one| one.ty().is_vector());
        if !is_own && vectors() {
            return Err("it passes vectors".to_string());
        }
    }
    Ok(())
}

/// What is reached, in a module of its own.
fn copy(module: &Module, reached: &HashSet<Value<'_>>) -> OwnModule {
    let mut code = OwnModule::copy_with(module, |global| {
        let is_kept = match global.as_global() {
            Some(one) => {
                let is_table = one.linkage() == Linkage::LLVMAppendingLinkage;
                one.is_readonly() && !one.is_thread_local() && !is_table
            }
            None => global.as_function().is_some(),
        };
        is_kept && reached.contains(&global) && !global.is_interposable()
    });
    own::ask(&code);
    code.declare_chosen_functions();
    code.strip_debug_info();
    code.detach();
    for function in code.functions() {
        // Versions are for the processor that they run on.
        for name in ["target-cpu", "target-features", "tune-cpu"] {
            function.unmark(name);
        }
        if !function.is_declaration() {
            function.set_linkage(Linkage::LLVMInternalLinkage);
            code.set_visibility(*function, Visibility::LLVMDefaultVisibility);
        }
    }
    for global in code.globals() {
        if !global.is_declaration() {
            // The program has it, too: there it is.
            global.set_linkage(Linkage::LLVMAvailableExternallyLinkage);
            code.set_visibility(*global, Visibility::LLVMDefaultVisibility);
        }
    }
    code
}

/// Gives it the function that hands over what becomes of it: it calls `runs`, whose first parameter is its own, and whose
/// others are these. Returns that call.
pub(super) fn add_entry<'c>(
    code: &'c Module,
    like: Function<'c>,
    runs: &RuntimeFn,
    operand: impl Fn(&str) -> Value<'c>,
) -> Call<'c> {
    let ty = code.function_type(code.void(), &[code.pointer()]);
    let entry = code.add_function(ENTRY, ty, Linkage::LLVMExternalLinkage);
    entry.compile_like(like);
    let builder = Builder::at_end(code, entry.append_block(code));
    let callee = declare(code, runs);
    let names = runs.param_names.iter().enumerate();
    let operands = names.map(|(at, &name)| match at {
        0 => entry.parameters()[0],
        _ => operand(name),
    });
    let call = builder.call(callee, &operands.collect::<Vec<_>>());
    builder.ret(None);
    call.as_call().expect("a call")
}

/// Deletes what a module declares and does not use.
pub fn erase_unused(module: &Module) {
    loop {
        let globals = module.globals().into_iter();
        let globals = globals.filter(|one| one.is_unused()).map(|one| one.erase());
        let functions = module.functions().into_iter();
        let functions = functions.filter(|one| one.is_declaration() && one.is_unused());
        if globals.count() + functions.map(|one| one.erase_unused_declaration()).count() == 0 {
            return;
        }
    }
}

/// Where something is that another module declares. What has the versions is replaced.
fn address<'m>(module: &'m Module, declared: Value<'_>) -> Option<Value<'m>> {
    let name = declared.name();
    if effects_of(&name).has(Effects::HAS_VERSIONS) {
        return Some(module.pointer().zero());
    }
    match declared.as_function() {
        Some(_) => module.function(&name).map(|one| *one),
        None => module.global(&name).map(|one| *one),
    }
}

/// Whether a function is compiled for a processor that adds a product in one operation. flang says of a processor's features
/// no more than its name.
fn fuses(function: Function<'_>) -> bool {
    const WITHOUT: [&str; 4] = ["", "generic", "x86-64", "x86-64-v2"];
    let features = function.mark_value("target-features");
    let processor = function.mark_value("target-cpu").unwrap_or_default();
    let has = match features {
        Some(features) => features
            .split(',')
            .any(|one| matches!(one, "+fma" | "+fma4")),
        None => !WITHOUT.contains(&processor.as_str()),
    };
    has || cfg!(target_arch = "aarch64")
}
