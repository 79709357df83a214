//! Direct loops over the same set that follow each other, with `--okl-fuse`: one loop beside them runs the kernels of an
//! element one after the other, so that what one writes and the next one reads stays in registers.
//!
//! Guarantee: what the program has stays there, and runs, mistakes and all, where the run time, which is asked in front of
//! the loops, does not know that they may be one. What would have to be trusted is declined.

use std::collections::HashSet;

use okl_abi::op2::{ARGUMENT_BYTES, access, f};

use super::calls::{self, Dat, Made, api, is_same};
use super::kernels::Kernels;
use super::{Described, LEADING, is_forwarder};
use crate::analysis::memory::{base_of, private_variable};
use crate::analysis::variables::is_harmless;
use crate::ir::Mode;
use crate::llvm::{Block, Builder, Call, Function, Global, Instruction, Linkage, Module, Opcode};
use crate::llvm::{Value, demangle};
use crate::lower::runtime_call::declare;

/// What is called for loops that run as one until these are lowered. Its operands are those of `op_par_loop`.
pub const AS_ONE: &str = "okl.op2.as_one";

/// Bytes of an address.
const POINTER: i64 = 8;
/// Bytes of a number.
const INT: i64 = 4;
/// Instructions one behind the other by which an argument is computed, at most.
const MOST: usize = 16;

/// Whether a call stands for several loops.
pub fn is_as_one(call: Call<'_>) -> bool {
    call.callee_name() == AS_ONE
}

/// A loop that may be one with others, as far as it alone is concerned.
struct One<'a, 'm> {
    described: &'a Described<'m>,
    name: String,
    kernel: Function<'m>,
    /// The calls that make its arguments.
    makers: Vec<Call<'m>>,
    /// Of which arguments the kernel uses nothing but the element.
    inside: Vec<bool>,
    /// Variables that the kernel reads by their names.
    variables: Vec<Global<'m>>,
}

/// Writes loops of a module as one where that is right. True where the module was changed.
pub fn join(module: &Module) -> bool {
    let described = loops(module);
    if described.len() < 2 {
        return false;
    }
    let kernels = Kernels::of(module, &described);
    let mut changed = go_on(module, &described, &kernels);
    let described = loops(module);
    let runs = described.chunk_by(|one, next| block(one) == block(next));
    for run in runs.filter(|run| run.len() > 1) {
        let mut group: Vec<One<'_, '_>> = Vec::new();
        for (number, described) in run.iter().enumerate() {
            let one = One::of(module, described, &kernels);
            let next = one.map(|one| {
                let why = match group.is_empty() {
                    true => None,
                    false => follows(&group, &one).err(),
                };
                if let Some(why) = &why {
                    tell(described, "in front of it", why);
                }
                (one, why.is_none())
            });
            match next {
                Ok((one, true)) => group.push(one),
                Ok((one, false)) => {
                    changed |= write(module, &group);
                    group = vec![one];
                }
                Err(why) => {
                    changed |= write(module, &group);
                    group.clear();
                    let other = match number {
                        0 => "behind it",
                        _ => "in front of it",
                    };
                    tell(described, other, &why);
                }
            }
        }
        changed |= write(module, &group);
    }
    changed
}

/// The loops of a module.
fn loops(module: &Module) -> Vec<Described<'_>> {
    let instructions = module.functions().into_iter();
    let instructions = instructions.flat_map(|function| function.instructions());
    let described = instructions.filter_map(|one| {
        let call = (*one).as_call()?;
        let api = api(call).filter(|api| api.name == "op_par_loop" && !is_forwarder(call))?;
        Described::of(call, &api).ok()
    });
    described.collect()
}

/// Has loops be in a block where only exceptions would lead out of it that nobody throws: they are invoked where objects are
/// destroyed behind them. True where the module was changed.
fn go_on(module: &Module, loops: &[Described<'_>], kernels: &Kernels) -> bool {
    let is_invoke = |one: &Instruction<'_>| one.opcode() == Opcode::LLVMInvoke;
    let of: HashSet<_> = loops
        .iter()
        .map(|one| one.call.instruction().function())
        .collect();
    let functions = module.functions().into_iter();
    let functions = functions.filter(|one| of.contains(one));
    let makers = functions
        .flat_map(|function| function.instructions())
        .filter(|one| {
            let api = (*one).as_call().and_then(api);
            // The run time's own.
            api.is_some_and(|api| {
                api.name.starts_with("op_arg_") || api.name.starts_with("op_opt_arg_")
            })
        });
    let quiet = loops.iter().filter(|one| kernels.read_by_name(one).is_ok());
    let quiet = quiet.map(|one| one.call.instruction());
    let all: Vec<_> = makers.chain(quiet).filter(is_invoke).collect();
    all.iter().for_each(|one| one.throws_nothing());
    !all.is_empty()
}

/// Has loops run as the program has them where they were not lowered as one. True where the module was changed.
pub fn settle(module: &Module) -> bool {
    let Some(function) = module.function(AS_ONE) else {
        return false;
    };
    for call in function.users().into_iter().filter_map(Value::as_call) {
        let at = call.instruction();
        for before in at.block().predecessors() {
            let end = before.terminator().expect("a complete block");
            end.always_branch(module, false);
        }
        at.erase();
    }
    function.erase_unused_declaration();
    true
}

fn block<'m>(one: &Described<'m>) -> Block<'m> {
    one.call.instruction().block()
}

fn tell(one: &Described<'_>, other: &str, why: &str) {
    let name = one.name.as_text().unwrap_or_default();
    let told = format!("op_par_loop {name} is not run as one with that {other}: {why}");
    one.call.instruction().remark("Fused", &told, true);
}

impl<'a, 'm> One<'a, 'm> {
    fn of(
        module: &'m Module,
        described: &'a Described<'m>,
        kernels: &Kernels,
    ) -> Result<Self, String> {
        for (at, one) in described.arguments.iter().enumerate() {
            if one.made.map().is_some() {
                return Err(format!("arg{at} goes through a map"));
            }
            if matches!(one.made, Made::Information { .. }) {
                return Err(format!("arg{at} is an op_arg_info"));
            }
        }
        described.parallel_loop(kernels)?;
        let kernel = described.defined_kernel();
        let kernel = kernel.ok_or("the kernel is not defined in this file")?;
        let name = described.name.as_text();
        let name = name.ok_or("its name is not a literal")?;
        let call = described.call;
        if call.instruction().opcode() != Opcode::LLVMCall {
            return Err("objects are destroyed where it throws an exception".to_string());
        }
        let arguments = described.arguments.iter().enumerate();
        let makers = arguments.map(|(at, one)| {
            let maker = calls::made_by(one.value, call);
            let maker = maker.map(Call::instruction).filter(|maker| {
                let is_its = |user: &Instruction<'m>| {
                    user == maker || *user == call.instruction() || is_harmless(*user)
                };
                maker.opcode() == Opcode::LLVMCall
                    && maker.block() == call.instruction().block()
                    && one.value.users().iter().all(|user| {
                        let user = user.as_instruction();
                        user.is_some_and(|user| is_its(&user))
                    })
            });
            let maker = maker.and_then(|maker| (*maker).as_call());
            maker.ok_or_else(|| format!("arg{at} is not made for this loop alone"))
        });
        let makers = makers.collect::<Result<Vec<_>, _>>()?;
        let inside = 0..described.arguments.len();
        let inside = inside.map(|at| kernels.stays_inside(described, at));
        let variables = kernels.read_by_name(described)?;
        let variables = variables.iter().filter_map(|name| module.global(name));
        Ok(Self {
            described,
            name,
            kernel,
            makers,
            inside: inside.collect(),
            variables: variables.collect(),
        })
    }

    fn at(&self) -> Instruction<'m> {
        self.described.call.instruction()
    }

    /// The data on a set that an argument is, and whether the kernel writes them.
    fn dat(&self, at: usize) -> Option<(&'a Dat<'m>, bool)> {
        let one = &self.described.arguments[at];
        match &one.made {
            Made::Dat(dat) => Some((dat, one.mode() != Ok(Mode::Read))),
            _ => None,
        }
    }

    /// The addresses of its global arguments, with their numbers, and whether the loop writes them.
    fn globals(&self) -> impl Iterator<Item = (usize, Value<'m>, bool)> {
        let all = self.described.arguments.iter().enumerate();
        all.filter_map(|(at, one)| match &one.made {
            Made::Global { data, access, .. } => Some((at, *data, *access != Some(access::READ))),
            _ => None,
        })
    }

    /// The object of the program's that a variable is, where it is known that it is no other one.
    fn may_use(&self, variable: Value<'m>) -> bool {
        let by_name = || self.variables.iter().any(|one| **one == variable);
        let is_it = |data: Value<'m>| match is_object(base_of(data)) {
            true => base_of(data) == variable,
            false => private_variable(variable).is_none(),
        };
        by_name() || self.globals().any(|(_, data, _)| is_it(data))
    }

    /// The same of what the loop writes.
    fn may_write(&self, variable: Value<'m>) -> bool {
        self.globals().any(|(_, data, is_written)| {
            is_written
                && match is_object(base_of(data)) {
                    true => base_of(data) == variable,
                    false => private_variable(variable).is_none(),
                }
        })
    }
}

/// Whether two variables of this kind are the same only where the values are.
fn is_object(value: Value<'_>) -> bool {
    value.as_op(Opcode::LLVMAlloca).is_some() || value.as_global().is_some()
}

/// Whether a loop may be one with others in front of it, or else why not.
fn follows<'m>(group: &[One<'_, 'm>], one: &One<'_, 'm>) -> Result<(), String> {
    let first = &group[0];
    if !is_same(first.described.set, one.described.set) {
        return Err("it is over another set".to_string());
    }
    let last = group.last().expect("there is one");
    for at in between(last.at(), one.at()) {
        if let Some(what) = stays(at, group, one) {
            return Err(what);
        }
    }
    let segment: Vec<_> = between(first.at(), one.at()).collect();
    let inputs = one.makers.iter().flat_map(|maker| maker.arguments());
    let inputs = inputs.chain([one.described.set]);
    for value in inputs.filter(|value| !one.described.arguments.iter().any(|it| it.value == *value))
    {
        if !may_be_in_front(value, &segment, MOST) {
            return Err("its arguments depend on what is set between them".to_string());
        }
    }
    let mut is_shared = false;
    for at in 0..one.described.arguments.len() {
        let Some((dat, is_written)) = one.dat(at) else {
            continue;
        };
        for other in group {
            for with in 0..other.described.arguments.len() {
                let its = other.dat(with);
                let Some((its, too)) = its.filter(|(its, _)| is_same(its.dat, dat.dat)) else {
                    continue;
                };
                is_shared = true;
                if !is_written && !too {
                    continue;
                }
                if !is_same_form(its, dat) {
                    return Err(format!("arg{at} is the same data in another form"));
                }
                if !(one.inside[at] && other.inside[with]) {
                    return Err(format!(
                        "what the kernels use of arg{at} besides the element is not known"
                    ));
                }
            }
        }
    }
    if !is_shared {
        return Err("they have no data in common".to_string());
    }
    for other in group {
        for (at, data, is_written) in one.globals() {
            for (_, its, too) in other.globals() {
                let meet = base_of(data) == base_of(its) || is_same(data, its);
                if meet && (is_written || too) {
                    return Err(format!("arg{at} is a variable that both use"));
                }
            }
        }
        for (one, other) in [(one, other), (other, one)] {
            let written = one.globals().filter(|(.., is_written)| *is_written);
            let mut written = written.filter_map(|(_, data, _)| base_of(data).as_global());
            if let Some(it) = written.find(|it| other.variables.contains(it)) {
                let name = demangle(&it.name());
                return Err(format!(
                    "one writes {name}, which the other reads by its name"
                ));
            }
        }
    }
    Ok(())
}

/// Whether two arguments may be one.
fn is_same_form(one: &Dat<'_>, other: &Dat<'_>) -> bool {
    !one.optional
        && !other.optional
        && one.components.is_some()
        && one.components == other.components
        && one.type_name.is_some()
        && one.type_name == other.type_name
}

/// The instructions between two of a block.
fn between<'m>(
    from: Instruction<'m>,
    to: Instruction<'m>,
) -> impl Iterator<Item = Instruction<'m>> {
    let all = from.block().instructions().into_iter();
    let behind = all.skip_while(move |one| *one != from).skip(1);
    behind.take_while(move |one| *one != to)
}

/// Why an instruction between loops has to stay there, if it has.
fn stays<'m>(at: Instruction<'m>, group: &[One<'_, 'm>], one: &One<'_, 'm>) -> Option<String> {
    if is_harmless(at) || one.makers.iter().any(|maker| maker.instruction() == at) {
        return None;
    }
    let is_written = |variable: Value<'m>| group.iter().any(|one| one.may_write(variable));
    let is_used = |variable: Value<'m>| group.iter().any(|one| one.may_use(variable));
    let is_fine = match at.opcode() {
        Opcode::LLVMLoad => {
            let base = base_of(at.operand(0));
            let is_handle = at.ty().is_pointer() && !is_of_op2(at.operand(0));
            at.is_plain_access()
                && match is_object(base) {
                    true => !is_written(base),
                    false => is_handle,
                }
        }
        Opcode::LLVMStore => {
            let variable = at.operand(1);
            at.is_plain_access() && is_number(variable, at.operand(0)) && !is_used(variable)
        }
        _ => at.only_computes(),
    };
    if is_fine {
        return None;
    }
    Some(match at.as_call() {
        Some(call) => {
            let name = demangle(&call.callee_name());
            let name = name.split(['(', '<']).next().unwrap_or_default();
            let name = name.rsplit(' ').next().unwrap_or_default();
            match name {
                "" => "a function is called between them".to_string(),
                name => format!("{name} is called between them"),
            }
        }
        None => "what is between them uses what loops may write".to_string(),
    })
}

/// Whether an address is in a struct of OP2's own.
fn is_of_op2(address: Value<'_>) -> bool {
    let part = address.as_op(Opcode::LLVMGetElementPtr);
    let name = part.and_then(|part| part.source_element_type()?.struct_name());
    name.is_some_and(|name| name.starts_with("struct.op_"))
}

/// Whether a variable holds one value, of the type of this one.
fn is_number(variable: Value<'_>, value: Value<'_>) -> bool {
    let of_function = variable.as_op(Opcode::LLVMAlloca);
    let ty = of_function.and_then(Instruction::allocated_type);
    let ty = ty.or_else(|| variable.as_global().map(Global::value_type));
    ty == Some(value.ty())
}

/// Whether a value may be computed in front of a part of a block instead of in it.
fn may_be_in_front<'m>(value: Value<'m>, part: &[Instruction<'m>], deep: usize) -> bool {
    let Some(one) = value.as_instruction().filter(|one| part.contains(one)) else {
        return true;
    };
    if deep == 0 || !one.only_computes() {
        return false;
    }
    if one.opcode() == Opcode::LLVMLoad {
        let base = base_of(one.operand(0));
        let stores = part.iter().filter(|one| one.opcode() == Opcode::LLVMStore);
        let is_set = stores.into_iter().any(|store| match is_object(base) {
            true => store.operand(1) == base,
            false => private_variable(store.operand(1)).is_none(),
        });
        if is_set {
            return false;
        }
    }
    let operands = one.operands();
    operands
        .iter()
        .all(|one| may_be_in_front(*one, part, deep - 1))
}

/// Computes it there.
fn in_front<'m>(value: Value<'m>, part: &[Instruction<'m>], at: Instruction<'m>) -> Value<'m> {
    let Some(one) = value.as_instruction().filter(|one| part.contains(one)) else {
        return value;
    };
    let operands = one.operands().into_iter();
    let operands: Vec<_> = operands.map(|one| in_front(one, part, at)).collect();
    let copy = one.copy_before(at);
    for (number, operand) in operands.into_iter().enumerate() {
        copy.set_operand(number, operand);
    }
    *copy
}

/// An argument of loops that run as one.
struct Joined {
    /// The first loop that has it, and its number there.
    of: (usize, usize),
    /// `op_access`; none where that is what the loop says.
    access: Option<i32>,
}

/// The arguments of loops that run as one, and for each loop which its own are.
fn joined(group: &[One<'_, '_>]) -> (Vec<Joined>, Vec<Vec<usize>>) {
    let mut all: Vec<Joined> = Vec::new();
    let mut places = Vec::new();
    for (number, one) in group.iter().enumerate() {
        let count = one.described.arguments.len();
        let mut its = Vec::new();
        for at in 0..count {
            let known = one.dat(at).and_then(|(dat, _)| {
                all.iter().position(|other| {
                    let (of, with) = other.of;
                    let its = group[of].dat(with).filter(|_| of != number);
                    its.is_some_and(|(its, _)| is_same(its.dat, dat.dat) && is_same_form(its, dat))
                })
            });
            let Some(known) = known else {
                its.push(all.len());
                all.push(Joined {
                    of: (number, at),
                    access: None,
                });
                continue;
            };
            its.push(known);
            let (of, with) = all[known].of;
            let says = |one: &One<'_, '_>, at: usize| one.described.arguments[at].access();
            let both_read =
                says(one, at) == Some(access::READ) && says(&group[of], with) == Some(access::READ);
            // The first one may write a part of it, and the next one read another one.
            if !both_read {
                all[known].access = Some(access::RW);
            }
        }
        places.push(its);
    }
    (all, places)
}

/// Writes loops beside them as one. True where it was done.
fn write<'m>(module: &'m Module, group: &[One<'_, 'm>]) -> bool {
    let [first, .., last] = group else {
        return false;
    };
    let (begins, ends) = (first.at(), last.at());
    let part: Vec<_> = [begins]
        .into_iter()
        .chain(between(begins, ends))
        .chain([ends])
        .collect();
    let leaves = part.iter().any(|one| {
        let users = one.instruction_users();
        users.iter().any(|user| !part.contains(user))
    });
    if leaves {
        tell(
            last.described,
            "in front of it",
            "what is computed between them is used behind them",
        );
        return false;
    }
    let names: Vec<_> = group.iter().map(|one| one.name.as_str()).collect();
    let (last_name, others) = names.split_last().expect("there are two");
    let told = format!("the loops {} and {last_name} run as one", others.join(", "));
    for one in group {
        one.at().remark("Fused", &told, false);
    }
    let (arguments, places) = joined(group);
    let kernel = kernel(module, group, &places, arguments.len());

    let front = begins.block();
    let written = begins.split_before();
    let behind = between(ends, ends).next();
    let behind = behind.expect("a block has an end").split_before();
    let marked = Block::copies(&[written])[0];
    let jump = front.terminator().expect("a complete block");

    // In front of them: what they are given, whether they may be one, and what the one loop is given.
    let entry = Builder::at_entry(module, begins.function());
    let builder = Builder::before(module, jump);
    builder.stand_at(begins);
    let make = |maker: Call<'m>, to: Value<'m>| {
        let operands = maker.arguments();
        let given: Vec<_> = operands[1..]
            .iter()
            .map(|one| in_front(*one, &part, jump))
            .collect();
        let copy = maker.instruction().copy_before(jump);
        copy.set_operand(0, to);
        for (number, value) in given.into_iter().enumerate() {
            copy.set_operand(number + 1, value);
        }
        copy
    };
    let room = |bytes: i64| {
        let ty = module.array(module.int(8), bytes as u64);
        entry.alloca(ty, 16)
    };
    let argument = ARGUMENT_BYTES as i64;
    let count = |one: &One<'_, '_>| one.makers.len() as i64;
    let all: i64 = group.iter().map(count).sum();
    let loops = group.len() as i64;
    let (sets, counts) = (room(loops * POINTER), room(loops * INT));
    let (given, same) = (room(all * argument), room(all * INT));
    let mut beginnings = Vec::new();
    let mut next = 0;
    for (number, one) in group.iter().enumerate() {
        let at = number as i64;
        let set = in_front(one.described.set, &part, jump);
        builder.store(set, builder.offset(sets, at * POINTER));
        let its = module.const_i32(count(one) as i32);
        builder.store(its, builder.offset(counts, at * INT));
        beginnings.push(next);
        for (place, maker) in places[number].iter().zip(&one.makers) {
            make(*maker, builder.offset(given, next * argument));
            let (of, with) = arguments[*place].of;
            let same_as = module.const_i32((beginnings[of] + with as i64) as i32);
            builder.store(same_as, builder.offset(same, next * INT));
            next += 1;
        }
    }
    let mut variables: Vec<_> = group.iter().flat_map(|one| &one.variables).collect();
    variables.sort_by_key(|one| one.name());
    variables.dedup();
    let used = room((variables.len() as i64 * 2 * POINTER).max(POINTER));
    for (number, variable) in variables.iter().enumerate() {
        let at = number as i64 * 2 * POINTER;
        builder.store(***variable, builder.offset(used, at));
        let bytes = module.size_of(variable.value_type()) as i64;
        builder.store(module.const_i64(bytes), builder.offset(used, at + POINTER));
    }
    let answer = room(INT);
    let asked = [
        module.const_i32(loops as i32),
        sets,
        counts,
        given,
        same,
        module.const_i32(variables.len() as i32),
        used,
        answer,
    ];
    builder.call(declare(module, &f::okl_op2_may_be_one_v1), &asked);
    let answer = builder.load(module.int(32), answer);
    let asks = builder.compare(answer, module.const_i32(0), true);
    let name = *module.add_text("okl.loop", &names.join("+"));
    let set = in_front(first.described.set, &part, jump);
    let mut operands = vec![*kernel, name, set];
    for one in &arguments {
        let (of, with) = one.of;
        let to = room(argument);
        let maker = make(group[of].makers[with], to);
        if let Some(access) = one.access {
            let last = group[of].makers[with].arguments().len() - 1;
            maker.set_operand(last, module.const_i32(access));
        }
        operands.push(to);
    }
    assert!(operands.len() == LEADING + arguments.len());
    builder.go_if(asks, marked, written);
    jump.erase();
    assert!(marked.successors() == [behind], "it goes on behind them");

    // Beside them: what is between them, and the one loop.
    let loops = group
        .iter()
        .flat_map(|one| one.makers.iter().chain([&one.described.call]));
    let loops: HashSet<_> = loops.map(|one| one.instruction()).collect();
    let copies = marked.instructions();
    let end = marked.terminator().expect("a complete block");
    let builder = Builder::before(module, end);
    builder.stand_at(begins);
    let ty = module.variadic_type(module.void(), &[module.pointer(); LEADING]);
    builder.call(module.declared(AS_ONE, ty), &operands);
    for (one, copy) in part.iter().zip(copies) {
        if loops.contains(one) {
            copy.erase();
        }
    }
    true
}

/// A kernel that does for an element what those of several loops do, one after the other.
fn kernel<'m>(
    module: &'m Module,
    group: &[One<'_, 'm>],
    places: &[Vec<usize>],
    count: usize,
) -> Function<'m> {
    let names: Vec<_> = group.iter().map(|one| one.kernel.name()).collect();
    let name = format!("okl_as_one_{}", names.join("_"));
    let mut names = (0..).map(|number| match number {
        0 => name.clone(),
        number => format!("{name}_{number}"),
    });
    let name = names.find(|name| module.function(name).is_none());
    let name = name.expect("there are enough numbers");
    let ty = module.function_type(module.void(), &vec![module.pointer(); count]);
    let function = module.add_function(&name, ty, Linkage::LLVMInternalLinkage);
    let first = group[0].kernel;
    function.compile_like(first);
    for attribute in ["noinline", "optnone"] {
        if first.has_attribute(attribute) {
            function.set_attribute(module, attribute);
        }
    }
    let parameters = function.parameters();
    let builder = Builder::at_end(module, function.append_block(module));
    let mut calls = Vec::new();
    for (one, places) in group.iter().zip(places) {
        let given: Vec<_> = places.iter().map(|at| parameters[*at]).collect();
        calls.extend(builder.call(one.kernel, &given).as_call());
    }
    builder.ret(None);
    for call in calls {
        // Where that is not possible it stays a call.
        call.inline();
    }
    function
}
