//! Regions: what the threads of a team run.

use okl_abi::cpu::{RegionCall, f};
use okl_abi::jit::value;
use okl_abi::{Effects, PLAIN_FORKS};

use super::behind::Behind;
use super::steady::Code;
use super::{
    At, Left, Place, Reached, add_entry, addresses, copy, counts_flag, erase_unused, fold, tell,
};
use crate::analysis::call_graph::is_final;
use crate::analysis::library::{changes_stream_only, is_mathematics};
use crate::analysis::runtime;
use crate::ir::Region;
use crate::llvm::{
    Block, Builder, Call, Function, Global, Instruction, Module, Opcode, OwnModule, Type, Value,
    VectorUnit, demangle,
};
use crate::lower::runtime_call::declare;
use crate::marks::{BLOCKS, INVOKE, is_lowered, is_plain, name_of_plain};
use crate::record::RegionRecord;
use crate::simplified::mentioned;

/// A call that begins a region, or runs one on a rank.
#[derive(Clone, Copy)]
pub(super) struct Fork<'m> {
    /// The call.
    pub(super) site: Call<'m>,
    /// What each thread runs.
    pub(super) body: Function<'m>,
    /// Which of its arguments is what the body gets behind the numbers of the thread.
    first: usize,
}

impl<'m> Fork<'m> {
    fn of(site: Call<'m>) -> Option<Self> {
        let function = runtime::function(site)?;
        let is_plain = function.name == PLAIN_FORKS[0].1;
        if !is_plain && !function.has(Effects::FORKS_BODY) {
            return None;
        }
        let body = runtime::argument(site, "body")?.as_function()?;
        let (given, first) = (site.arguments().len(), function.params.len());
        let parameters = body.parameters().len();
        // With a condition there is a pointer to captures even if it takes none.
        let takes_none = function.position("condition").is_some() && parameters == Region::LEADING;
        let fits = takes_none || parameters == given - first + Region::LEADING;
        fits.then_some(Self { site, body, first })
    }

    /// The parameter that an argument of the call becomes.
    pub(super) fn parameter(&self, at: usize) -> Option<Value<'m>> {
        let number = at.checked_sub(self.first)? + Region::LEADING;
        self.body.parameters().get(number).copied()
    }

    /// What the parameter of that number gets.
    pub(super) fn given(&self, number: usize) -> Value<'m> {
        self.site.arguments()[number - Region::LEADING + self.first]
    }

    /// Whether the body gets one address alone of a stack variable.
    pub(super) fn hands_over_once(&self, variable: Value<'m>) -> bool {
        let arguments = self.site.arguments().into_iter();
        let same = arguments.filter(|one| one.ty().is_pointer());
        same.filter(|one| may_be_in(*one, variable)).count() == 1
    }

    /// Why there are no versions for this call.
    fn declines(&self) -> Option<&'static str> {
        let function = runtime::function(self.site).expect("it begins a region");
        let is_league = function.has(Effects::LEAGUE);
        let is_invoke = self.site.instruction().opcode() != Opcode::LLVMCall;
        [
            (is_league, "its threads are teams"),
            (
                function.position("condition").is_some(),
                "how many threads it has depends on a condition",
            ),
            (is_invoke, "what begins it handles exceptions"),
        ]
        .iter()
        .find_map(|(declines, why)| declines.then_some(*why))
    }

    /// What it is to the user.
    pub(super) fn what(&self) -> &'static str {
        match BLOCKS.is_on(self.body) {
            true => "@outer loop",
            false => "region",
        }
    }

    /// Whether it is of a version of a function for one rank.
    fn is_lowered(&self) -> bool {
        is_lowered(self.site.instruction().function())
    }

    /// What is called in the place of a function there: such versions begin regions by other names in the end.
    pub(super) fn called_here(&self, module: &'m Module, address: Value<'m>) -> Value<'m> {
        let Some(function) = address.as_function().filter(|_| self.is_lowered()) else {
            return address;
        };
        let plain = PLAIN_FORKS
            .iter()
            .find(|(fork, _)| function.name() == *fork);
        plain.map_or(address, |(_, name)| {
            *module.declared(name, function.function_type())
        })
    }

    /// Has the threads run what the run time says in place of the body.
    pub(super) fn run_version(&self, module: &'m Module, code: Global<'m>, values: &[Place<'m>]) {
        let site = self.site.instruction();
        let entry = Builder::at_entry(module, site.function());
        let words = |count: usize| module.array(module.int(64), count as u64);
        let call = entry.alloca(words(RegionCall::FIELDS.len()), 8);
        let arguments = entry.alloca(words(self.body.parameters().len()), 8);
        let builder = Builder::before(module, site);
        const READ: [i64; 4] = [value::BEHIND, value::PARAMETER, value::MEMBER, value::GIVEN];
        for one in values.iter().filter(|one| READ.contains(&one.kind)) {
            let to = builder.offset(arguments, one.place * 8);
            builder.store(self.given(one.place as usize), to);
        }
        let asks = declare(module, &f::okl_cpu_version_v2);
        let version = builder.call(asks, &[call, *code, *self.body, arguments]);
        match runtime::function(self.site) {
            Some(function) => {
                let place = function.position("body").expect("it has a body");
                site.set_operand(place, version);
            }
            // A rank runs it.
            None => self.site.set_callee(version),
        }
        let behind = site.block().instructions().into_iter();
        let next = behind.skip_while(|one| *one != site).nth(1);
        let next = next.expect("a call is not the end of a block");
        let told = declare(module, &f::okl_cpu_ran_v1);
        Builder::before(module, next).call(told, &[call]);
    }
}

/// Finds those of a lowered module that can be left.
pub(super) fn check<'m>(module: &'m Module, unit: &VectorUnit<'_>) -> Vec<Left<'m>> {
    let functions = module.functions().into_iter();
    let code = functions.flat_map(|one| one.instructions());
    let forks = code.filter_map(|one| one.as_call().and_then(Fork::of));
    let forks: Vec<_> = forks.collect();
    let mut bodies: Vec<Function<'m>> = Vec::new();
    for fork in &forks {
        if !bodies.contains(&fork.body) {
            bodies.push(fork.body);
        }
    }
    let mut found = Vec::new();
    for body in bodies {
        let own = forks.iter().copied().filter(|one| one.body == body);
        let own: Vec<_> = own.collect();
        match of(module, unit, body, &own, &forks) {
            Ok(mut left) => {
                let shared = on_ranks(module, unit, body, &left);
                if shared.as_ref().is_some_and(Result::is_err) {
                    left.at = At::Regions(own, Some(", where one process runs it"));
                }
                found.push(left);
                found.extend(shared.and_then(Result::ok));
            }
            Err(why) => {
                for fork in own {
                    tell(fork.site, (fork.what(), ""), Some(&why));
                }
            }
        }
    }
    found
}

/// What ranks run of a region of which `plain` is left for one process: what keeps its value there does so here, since it is the
/// same region, and is known as far as it is there when the region begins. None where they do not share it.
fn on_ranks<'m>(
    module: &'m Module,
    unit: &VectorUnit<'_>,
    plain_body: Function<'m>,
    plain: &Left<'m>,
) -> Option<Result<Left<'m>, String>> {
    let body = match name_of_plain(&plain_body.name()).filter(|_| is_plain(plain_body)) {
        Some(name) => module.function(name)?,
        None => plain_body,
    };
    let calls = body.users().into_iter().filter_map(Value::as_call);
    let calls = calls.filter(|one| one.instruction().function().name().starts_with(INVOKE));
    let runs = calls.map(|site| Fork {
        site,
        body,
        first: Region::LEADING,
    });
    let runs: Vec<_> = runs.collect();
    (!runs.is_empty()).then(|| of_ranks(module, unit, runs, plain))
}

fn of_ranks<'m>(
    module: &'m Module,
    unit: &VectorUnit<'_>,
    runs: Vec<Fork<'m>>,
    plain: &Left<'m>,
) -> Result<Left<'m>, String> {
    let body = runs[0].body;
    let reached = without_exceptions(Reached::by_calls(body)?)?;
    reached.calls_alike(unit)?;
    let left = left(module, &reached, body)?;
    let functions = module.functions().into_iter();
    let code = functions.flat_map(|one| one.instructions());
    let records = code.filter_map(|one| RegionRecord::of(one.as_call()?));
    let records: Vec<_> = records.filter(|one| one.body == body).collect();
    // What comes later is not what others have written when it is asked what the values are.
    let is_there = |one: &Place<'m>| {
        let argument = match one.kind {
            value::VARIABLE => None,
            value::BEHIND => Some(one.place - Region::LEADING as i64),
            value::PARAMETER => return true,
            _ => return false,
        };
        let bytes = [one.offset, one.size];
        let there = |record: &RegionRecord<'m>| record.has_at_begin(argument, one.variable, bytes);
        !records.is_empty() && records.iter().all(there)
    };
    let values: Vec<_> = plain.values.iter().copied().filter(is_there).collect();
    let known = |one: Global<'m>| values.iter().any(|value| value.variable == Some(*one));
    let (addresses, mut variables) = addresses(module, &left, known)?;
    let parameters = values.iter().filter(|one| {
        let parameter = || body.parameters()[one.place as usize];
        one.kind != value::VARIABLE && !parameter().is_unused()
    });
    variables.extend(parameters);
    let values = variables;
    let may_reorder = reached.bodies.iter().any(|one| may_reorder(module, *one));
    Ok(Left {
        at: At::Regions(runs, None),
        name: plain.name.clone(),
        bitcode: left.bitcode(),
        addresses,
        flags: reached.flags(body, false, may_reorder) | counts_flag(&left, &values),
        values,
        vector_bits: i64::from(unit.bits(body)),
        unwinds: reached.unwinds(),
    })
}

/// What a region consists of, if it handles none.
fn without_exceptions<'m>(reached: Reached<'m>) -> Result<Reached<'m>, String> {
    let handles = |one: &Function<'m>| {
        let mut code = one.instructions().into_iter();
        code.any(|one| matches!(one.opcode(), Opcode::LLVMInvoke | Opcode::LLVMLandingPad))
    };
    match reached.bodies.iter().any(handles) {
        true => Err("it handles exceptions".to_string()),
        false => Ok(reached),
    }
}

fn of<'m>(
    module: &'m Module,
    unit: &VectorUnit<'_>,
    body: Function<'m>,
    own: &[Fork<'m>],
    forks: &[Fork<'m>],
) -> Result<Left<'m>, String> {
    if let Some(why) = own.iter().find_map(Fork::declines) {
        return Err(why.to_string());
    }
    if body.is_declaration() || !is_final(body) {
        return Err("it is defined or replaced in another file".to_string());
    }
    let reached = Reached::by(&[body])?;
    reached.calls_alike(unit)?;
    // What is known of one execution is not known of another one.
    let mut users = body
        .users()
        .into_iter()
        .filter_map(|one| one.as_instruction());
    if users.any(|user| reached.bodies.contains(&user.function())) {
        return Err("it may begin once more while it runs".to_string());
    }
    let code = Code::of(module, forks, &reached.bodies);
    let left = left(module, &reached, body)?;
    let (addresses, variables) = addresses(module, &left, |one| code.keeps_global(one))?;
    let mut behind = Behind::of(module, &code, own, body, &addresses);
    let mut given = Vec::new();
    for variable in behind.variables() {
        let is_whole = |one: &Place<'m>| one.variable == Some(variable);
        if !variables.iter().any(is_whole) {
            given.extend(behind.numbers(variable));
        }
    }
    for (number, parameter) in body.parameters().into_iter().enumerate() {
        if number >= Region::LEADING && !parameter.is_unused() {
            match place(module, &code, own, number, parameter) {
                Some(place) => given.push(place),
                None => given.extend(behind.numbers(parameter)),
            }
        }
    }
    let mut values = behind.pointers();
    values.extend(variables);
    values.extend(given);
    let may_reorder = reached.bodies.iter().any(|one| may_reorder(module, *one));
    Ok(Left {
        at: At::Regions(own.to_vec(), Some("")),
        name: name(own[0]),
        bitcode: left.bitcode(),
        addresses,
        flags: reached.flags(body, false, may_reorder) | counts_flag(&left, &values),
        values,
        vector_bits: i64::from(unit.bits(body)),
        unwinds: reached.unwinds(),
    })
}

/// What the user may call it.
fn name(fork: Fork<'_>) -> String {
    let name = fork.body.name();
    let name = demangle(name_of_plain(&name).unwrap_or(&name));
    let place = fork.site.instruction().source_location();
    match place {
        Some((file, line)) => format!("{name} at {file}:{line}"),
        None => name,
    }
}

/// What is reached, in a module of its own, and what runs it there.
fn left(module: &Module, reached: &Reached<'_>, body: Function<'_>) -> Result<OwnModule, String> {
    let code = copy(module, &reached.all);
    {
        let own = code.function(&body.name()).ok_or("it has no name")?;
        let none = code.pointer().zero();
        add_entry(&code, own, &f::okl_cpu_version_v2, |name| match name {
            "function" => *own,
            _ => none,
        });
    }
    erase_unused(&code);
    Ok(code)
}

/// What a parameter gets, where that may be known: a number, or the address of a variable that keeps its value.
fn place<'m>(
    module: &'m Module,
    code: &Code<'_, 'm>,
    own: &[Fork<'m>],
    number: usize,
    parameter: Value<'m>,
) -> Option<Place<'m>> {
    let (kind, size) = if parameter.ty().is_pointer() {
        let size = |fork: &Fork<'m>| {
            let given = fork.given(number);
            let variable = size_of(module, given)?;
            let keeps = fork.hands_over_once(given) && code.keeps(given, parameter);
            keeps.then_some(variable)
        };
        let sizes: Option<Vec<_>> = own.iter().map(size).collect();
        let sizes = sizes?;
        let size = *sizes.first()?;
        (
            value::BEHIND,
            sizes.iter().all(|one| *one == size).then_some(size)?,
        )
    } else {
        let size = fold::size_of_number(module, parameter.ty())?;
        let same = |fork: &Fork<'m>| fork.given(number).ty() == parameter.ty();
        (value::PARAMETER, own.iter().all(same).then_some(size)?)
    };
    Some(Place {
        kind,
        place: number as i64,
        offset: 0,
        size,
        variable: None,
    })
}

/// Whether as many bytes are sure to be where an address points to, in a function that begins a region.
pub(super) fn has_bytes(
    module: &Module,
    function: Function<'_>,
    address: Value<'_>,
    count: i64,
) -> bool {
    let (object, offset) = address.constant_offset(module);
    let bytes = match (object.as_op(Opcode::LLVMAlloca), object.as_global()) {
        (Some(variable), _) if variable.operand(0).as_constant_int() == Some(1) => {
            variable.allocated_type().map_or(0, |ty| module.size_of(ty))
        }
        (None, Some(global)) if !global.is_declaration() && !global.is_interposable() => {
            module.size_of(global.value_type())
        }
        _ => match object.dereferenceable_bytes() {
            0 => 0,
            _ if may_free(function) => 0,
            bytes => bytes,
        },
    };
    offset >= 0 && (offset + count) as u64 <= bytes
}

/// Whether an object that a function gets may be gone when it begins a region: what it calls, or its threads run, may free it.
fn may_free(function: Function<'_>) -> bool {
    let all = mentioned(&[function]).into_iter();
    let bodies = all.filter_map(Value::as_function);
    bodies.flat_map(Function::instructions).any(|one| {
        let Some(call) = one.as_call() else {
            return false;
        };
        if call.intrinsic().is_some() {
            return false;
        }
        let Some(callee) = call.callee_function() else {
            return true;
        };
        let name = callee.name();
        if runtime::function(call).is_some() || runtime::is_of_runtime(&name) {
            // Other tasks, which are not seen here, may run in these.
            return name.contains("free") || name.contains("task");
        }
        if !callee.is_declaration() {
            return !is_final(callee);
        }
        // Where it throws, a handler goes on.
        let throws = || !callee.has_attribute("nounwind") && !throws_alone(&name);
        let comes_back = !callee.has_attribute("noreturn") || throws();
        comes_back && !is_mathematics(&name) && !changes_stream_only(call)
    })
}

/// Whether all that a function of the C++ run time or library does is to throw.
fn throws_alone(name: &str) -> bool {
    let of_library = name
        .strip_prefix("_ZSt")
        .map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    of_library.is_some_and(|rest| rest.starts_with("__throw_"))
        || matches!(
            name,
            "__cxa_throw" | "__cxa_rethrow" | "__cxa_bad_cast" | "__cxa_bad_typeid"
        )
}

/// Bytes of a stack variable that may be known.
fn size_of(module: &Module, variable: Value<'_>) -> Option<i64> {
    let variable = variable.as_op(Opcode::LLVMAlloca)?;
    let is_one = variable.operand(0).as_constant_int() == Some(1);
    let is_aligned = variable.stack_alignment() <= fold::MOST_ALIGNED;
    let ty: Type<'_> = variable.allocated_type().filter(|_| is_one && is_aligned)?;
    fold::size_of_type(module, ty)
}

/// Whether an address is of this stack variable, whose address is nowhere in memory.
fn may_be_in(address: Value<'_>, variable: Value<'_>) -> bool {
    let object = address.underlying_object();
    let is_followed = object.as_op(Opcode::LLVMGetElementPtr).is_none();
    object == variable || !is_followed
}

/// Whether a loop adds numbers up in an order that is the compiler's to choose.
fn may_reorder(module: &Module, function: Function<'_>) -> bool {
    /// With the values that do not ask for it.
    const ASKS: [(&str, &[i64]); 2] = [
        ("llvm.loop.vectorize.enable", &[0]),
        ("llvm.loop.vectorize.width", &[0, 1]),
    ];
    let is_asked = |end: Instruction<'_>| {
        ASKS.iter().any(|(name, not)| {
            let value = end.loop_option(module, name).flatten();
            let number = value.and_then(Value::as_constant_int);
            number.is_some_and(|one| !not.contains(&one))
        })
    };
    let adds = |next: Block<'_>| {
        let mut all = next.instructions().into_iter();
        all.any(|one| one.opcode() == Opcode::LLVMPHI && one.ty().is_floating())
    };
    function.blocks().into_iter().any(|block| {
        block.terminator().is_some_and(is_asked) && block.successors().into_iter().any(adds)
    })
}
