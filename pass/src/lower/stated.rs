//! Loops that the user's plug-ins state: a call that runs a function for each number below another one becomes OpenMP's region
//! of one loop, as a compiler makes it of `#pragma omp parallel for` around a call of that function. So all that is done with
//! regions is done with it.
//!
//! Guarantee: a call becomes a region where that can be; else it stays as it is, and why is a remark at its line.

use std::collections::HashMap;

use okl_abi::{LoopSchedule, f, openmp};

use crate::diagnostic::{Declined, Site, report};
use crate::llvm::{
    Builder, Call, Code, Comparison, Function, Heard, Instruction, IntPredicate, Linkage, Module,
    Severity, Stated, UserPlugin, Value,
};
use crate::lower::cpu::threads::{LOOP, PLAIN, ident};
use crate::lower::mpi::forwarder::TARGET;
use crate::lower::runtime_call::declare_openmp;

/// What plug-ins say of a module.
struct Collected<'m> {
    module: &'m Module,
    /// The plug-in.
    name: String,
    loops: Vec<Noted<'m>>,
    has_error: bool,
    strict: bool,
}

/// A loop that has been stated, at a call that has its number noted.
struct Noted<'m> {
    stated: Stated<'m>,
    /// Whether how often it runs, and what it gets, are constants: these stay.
    is_constant: [bool; 2],
}

/// What is noted at its call.
const NUMBER: &str = "okl.stated";

/// Has the plug-ins in these files work on a module. True where it was changed.
pub fn run(module: &Module, files: &[String], strict: bool) -> bool {
    let mut changed = false;
    for file in files {
        let error = |why: String| {
            let message = format!("plug-in {file}: {why}");
            module.diagnose(None, None, &message, Severity::Error);
        };
        let plugin = match UserPlugin::open(file) {
            Ok(plugin) => plugin,
            Err(why) => {
                error(why);
                continue;
            }
        };
        let mut heard = Collected {
            module,
            name: plugin.name.clone(),
            loops: Vec::new(),
            has_error: false,
            strict,
        };
        let ended = plugin.recognise(module, &mut heard);
        changed = true;
        if let Err(number) = ended {
            error(format!("it has failed, with {number}"));
            continue;
        }
        if let Err(why) = left(module) {
            error(why);
            return true;
        }
        if heard.has_error {
            continue;
        }
        match still_there(module, &heard.loops) {
            Ok(loops) => loops.into_iter().for_each(|one| emit(module, one)),
            Err(why) => error(why.to_owned()),
        }
    }
    changed
}

/// Checks what a plug-in has left. Nobody meets it where it is no valid module.
pub fn left(module: &Module) -> Result<(), String> {
    module.verify().map_err(|why| {
        module.delete_bodies();
        let first = why.lines().next().unwrap_or_default();
        format!("what it has left is no valid module: {first}")
    })
}

/// The stated loops as they are when the plug-in has returned. What it has erased is not looked at: calls are found by their
/// numbers, and the rest where it has to be.
fn still_there<'m>(
    module: &'m Module,
    loops: &[Noted<'m>],
) -> Result<Vec<Stated<'m>>, &'static str> {
    if loops.is_empty() {
        return Ok(Vec::new());
    }
    let functions = module.functions();
    let mut calls = HashMap::new();
    for at in functions.iter().flat_map(|one| one.instructions()) {
        let call = at.as_call();
        let noted = call.and_then(|call| Some((call.noted(NUMBER)?, call)));
        calls.extend(noted);
    }
    let there = loops.iter().enumerate().map(|(number, one)| {
        let Some(&call) = calls.get(&number.to_string()) else {
            return Err("it has erased a call that it has stated as a loop");
        };
        let caller = call.instruction().function();
        let (code, parameters) = (caller.instructions(), caller.parameters());
        let stated = Stated { call, ..one.stated };
        let is_known = |(value, is_constant): (Value<'m>, bool)| {
            is_constant
                || parameters.contains(&value)
                || code
                    .iter()
                    .find(|at| ***at == value)
                    .is_some_and(|at| Code::open(caller).is_before(*at, call.instruction()))
        };
        let mut given = [stated.count, stated.data].into_iter().zip(one.is_constant);
        match functions.contains(&stated.body) && given.all(is_known) {
            true => Ok(stated),
            false => Err("what it has stated of a loop is not known at the call"),
        }
    });
    there.collect()
}

impl<'m> Heard<'m> for Collected<'m> {
    fn is_stated(&self, call: Call<'m>) -> bool {
        call.noted(NUMBER).is_some()
    }

    fn parallel_for(&mut self, stated: Stated<'m>) -> Result<(), String> {
        check(stated)?;
        let number = self.loops.len().to_string();
        stated.call.note(self.module, NUMBER, &number);
        self.loops.push(Noted {
            stated,
            is_constant: [stated.count, stated.data].map(Value::is_constant),
        });
        Ok(())
    }

    fn told(&mut self, at: Option<Instruction<'m>>, text: &str, is_error: bool) {
        let site = at.map_or(Site::Module(self.module), Site::Instruction);
        let reason = match is_error {
            true => format!("{}: {text}", self.name),
            false => format!("{}: this call stays as it is: {text}", self.name),
        };
        let declined = Declined { site, reason };
        if is_error || self.strict {
            self.has_error = true;
            report(self.module, &declined, Severity::Error);
        } else if let Some(at) = at {
            at.remark("Declined", &declined.reason, true);
        }
    }
}

/// Why a call cannot become a region.
fn check(one: Stated<'_>) -> Result<(), String> {
    let ty = one.body.function_type();
    let parameters = ty.parameters();
    let is_number = |bits: Option<u32>| bits.is_some_and(|bits| bits <= 64);
    let fits = match parameters[..] {
        [number, data] => number.is_integer() && is_number(number.bits()) && data == one.data.ty(),
        _ => false,
    };
    let wrong = if one.call.invoke_targets().is_some() {
        "exceptions of what it calls are handled around it"
    } else if !one.call.instruction().is_unused() {
        "its result is used"
    } else if !one.count.ty().is_integer() || !is_number(one.count.ty().bits()) {
        "how often it runs is no integer of 64 bits or less"
    } else if !fits || !ty.result().is_void() || ty.is_variadic() {
        "what it runs is no function void(integer, pointer)"
    } else if !one.body.is_called_as_in_c() {
        "what it runs is called otherwise than functions of C are"
    } else if !one.body.has_attribute("nounwind") {
        "what it runs may throw an exception"
    } else {
        return Ok(());
    };
    Err(wrong.to_owned())
}

fn emit<'m>(module: &'m Module, one: Stated<'m>) {
    let call = one.call.instruction();
    let region = outlined(module, one);
    let builder = Builder::before(module, call);
    builder.stand_at(call);
    let count = builder.sign_extend(one.count, module.int(64));
    let fork = declare_openmp(module, &openmp::f::__kmpc_fork_call);
    let captured = module.const_i32(2);
    let passed = [ident(module, PLAIN), captured, *region, count, one.data];
    builder.call(fork, &passed);
    call.erase();
}

/// What the threads of the region run.
fn outlined<'m>(module: &'m Module, one: Stated<'m>) -> Function<'m> {
    let [short, long, pointer] = [module.int(32), module.int(64), module.pointer()];
    let caller = one.call.instruction().function();
    let ty = module.function_type(module.void(), &[pointer, pointer, long, one.data.ty()]);
    let name = format!("{}.omp_outlined", caller.name());
    let function = module.add_function(&name, ty, Linkage::LLVMInternalLinkage);
    for name in TARGET {
        function.copy_attribute(caller, name);
    }
    function.set_attribute(module, "nounwind");
    let [entry, some, header, inside, end, done] = [(); 6].map(|()| function.append_block(module));
    let at = |block| Builder::at_end(module, block);
    let parameters = function.parameters();
    let [thread, _, count, data] = parameters[..] else {
        unreachable!("it has four")
    };
    let [zero, step] = [0, 1].map(|number| module.const_i64(number));
    let ask = |builder: &Builder<'m>, predicate, a: Value<'m>, b: Value<'m>| {
        builder.ask(Comparison::Integer(predicate), a, b)
    };

    let builder = at(entry);
    let is_last = builder.alloca(short, 4);
    let [lower, upper, stride, number] = [(); 4].map(|()| builder.alloca(long, 8));
    let last = builder.plus(count, -1);
    let less = IntPredicate::LLVMIntSLT;
    builder.go_if(ask(&builder, less, zero, count), some, done);

    let builder = at(some);
    builder.store(zero, lower);
    builder.store(last, upper);
    builder.store(step, stride);
    builder.store(module.const_i32(0), is_last);
    let thread = builder.load(short, thread);
    let source = ident(module, LOOP);
    let init = declare_openmp(module, &f::okl_mpi_kmpc_for_static_init_8);
    let schedule = module.const_i32(LoopSchedule::STATIC);
    let its = [
        source, thread, schedule, is_last, lower, upper, stride, step, step,
    ];
    builder.call(init, &its);
    let until = builder.load(long, upper);
    let is_beyond = ask(&builder, IntPredicate::LLVMIntSGT, until, last);
    builder.store(builder.select(is_beyond, last, until), upper);
    builder.store(builder.load(long, lower), number);
    builder.go(header);

    let builder = at(header);
    let [here, until] = [number, upper].map(|one| builder.load(long, one));
    let goes_on = ask(&builder, IntPredicate::LLVMIntSLE, here, until);
    builder.go_if(goes_on, inside, end);

    let builder = at(inside);
    let here = builder.load(long, number);
    let index = builder.int_cast(here, one.body.function_type().parameters()[0]);
    builder.call(one.body, &[index, data]);
    let next = builder.plus(builder.load(long, number), 1);
    builder.store(next, number);
    builder.go(header);

    let builder = at(end);
    let fini = declare_openmp(module, &f::okl_mpi_kmpc_for_static_fini);
    builder.call(fini, &[source, thread]);
    builder.go(done);
    at(done).ret(None);
    function
}
