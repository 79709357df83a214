//! Loops over sets on the processor: for each a function that calls the body for a range of elements.
//!
//! What each parameter of the body points to is known here, so that LLVM sees plain address arithmetic
//! around the body and inlines it. The run time decides which ranges run, where and when.
//!
//! Once LLVM has simplified the body, a second function is made that works on several elements at once: [`lanes`].

pub mod calls;
mod components;
pub mod lanes;

use std::collections::HashMap;

use okl_abi::op2::{ARGUMENT_ACCESS, ARGUMENT_BYTES, Parameter, access, f};

use crate::analysis::sections::is_final;
use crate::diagnostic::{Declined, Site};
use crate::ir::{Access, Argument, Columns, ParallelLoop, Place, Space};
use crate::llvm::{Builder, Function, Linkage, Module, Value};
use crate::lower::runtime_call::declare;
use crate::record::LoopRecord;

/// Bytes of an `op_arg`.
const ARGUMENT: i64 = ARGUMENT_BYTES as i64;
/// Bytes of a field of [`Parameter`].
const FIELD: i64 = 8;

/// A loop over a set.
pub struct SetLoop<'m> {
    /// The loop.
    one: ParallelLoop<'m>,
    /// Its body.
    kernel: Function<'m>,
    set: Value<'m>,
    /// Why its data cannot lie component by component.
    stays_by_element: Option<String>,
}

/// The loops that are lowered, and those that are not, which stay as they are.
pub fn check<'m>(loops: Vec<ParallelLoop<'m>>) -> (Vec<SetLoop<'m>>, Vec<Declined<'m>>) {
    let mut plan = Vec::new();
    let mut declined = Vec::new();
    for one in loops {
        let Some((kernel, &Space::Set { set })) = one.kernel().zip(Some(&one.space)) else {
            declined.push(Declined {
                site: Site::Instruction(one.site.instruction()),
                reason: format!("{} stays as it is: it is no loop over a set", one.origin),
            });
            continue;
        };
        plan.push(SetLoop {
            kernel,
            set,
            stays_by_element: components::check(&one).err(),
            one,
        });
    }
    (plan, declined)
}

/// Replaces the loops.
pub fn emit(module: &Module, loops: &[SetLoop<'_>]) {
    let mut sizes = HashMap::new();
    for set_loop in loops {
        inline_calls(module, set_loop.kernel, &mut Vec::new(), &mut sizes);
        let range = range(module, set_loop);
        let components = match &set_loop.stays_by_element {
            None => components::range(module, set_loop),
            Some(reason) => {
                let origin = set_loop.one.origin;
                let message = format!("{origin} needs its data element by element: {reason}");
                let site = set_loop.one.site.instruction();
                site.remark("Storage", &message, true);
                None
            }
        };
        call(module, set_loop, range, components);
    }
}

/// Has the functions that a body calls inlined where it is optimised: lanes do without calls. `above` are the functions
/// that lead to this one: one that calls itself stays what it is. Returns the instructions that it comes to.
fn inline_calls<'m>(
    module: &Module,
    function: Function<'m>,
    above: &mut Vec<Function<'m>>,
    sizes: &mut HashMap<Function<'m>, usize>,
) -> usize {
    if let Some(&size) = sizes.get(&function) {
        return size;
    }
    let instructions = function.instructions();
    let mut size = instructions.len();
    if !function.has_attribute("optnone") {
        above.push(function);
        for call in instructions.into_iter().filter_map(|one| one.as_call()) {
            let callee = call.callee_function().filter(|callee| {
                let is_kept = ["optnone", "noinline"].iter();
                let is_kept = is_kept.copied().any(|name| callee.has_attribute(name));
                is_final(*callee) && !callee.is_declaration() && !is_kept && !above.contains(callee)
            });
            if let Some(callee) = callee {
                let more = inline_calls(module, callee, above, sizes);
                if size + more <= MOST_INLINED {
                    call.inline_always(module);
                    size += more;
                }
            }
        }
        above.pop();
    }
    sizes.insert(function, size);
    size
}

/// Instructions of a body; with more, compiling it takes longer than its calls.
const MOST_INLINED: usize = 10_000;

/// Hands the loop to the run time in the place of the template.
fn call<'m>(
    module: &'m Module,
    set_loop: &SetLoop<'m>,
    range: Function<'m>,
    components: Option<Function<'m>>,
) {
    let one = &set_loop.one;
    let site = one.site.instruction();
    let count = one.args.len();
    let entry = Builder::at_entry(module, site.function());
    let bytes = module.array(module.int(8), count as u64 * ARGUMENT as u64);
    let arguments = entry.alloca(bytes, 8);
    let builder = Builder::before(module, site);
    for (at, argument) in one.args.iter().enumerate() {
        let to = builder.offset(arguments, at as i64 * ARGUMENT);
        builder.copy(to, argument.value, ARGUMENT);
        // The program may have said that more is done.
        if argument.access == Access::Read {
            let read = module.const_i32(access::READ);
            builder.store(read, builder.offset(to, ARGUMENT_ACCESS as i64));
        }
    }
    let name = one.site.arguments()[1];
    let callee = declare(module, &f::okl_op2_par_loop_v3);
    let count = module.const_i32(count as i32);
    let (none, width) = (module.pointer().zero(), module.const_i32(0));
    let body = *set_loop.kernel;
    let in_order = module.const_i32(0);
    let components = components.map_or(none, |components| *components);
    let operands = [
        name,
        set_loop.set,
        count,
        arguments,
        body,
        *range,
        none,
        width,
        in_order,
        components,
        none,
    ];
    let anchor = builder.call_like(one.site, callee, &operands);
    if let Some(anchor) = anchor.as_call() {
        LoopRecord::of(one).leave_at(module, anchor);
    }
    site.erase();
}

/// `void range(void *kernel, Parameter *parameters, int from, int to)`, which has no blocks yet.
fn new_range<'m>(module: &'m Module, prefix: &str, kernel: Function<'m>) -> Function<'m> {
    let (pointer, int) = (module.pointer(), module.int(32));
    let ty = module.function_type(module.void(), &[pointer, pointer, int, int]);
    let name = format!("{prefix}.{}", kernel.name());
    let range = module.add_function(&name, ty, Linkage::LLVMInternalLinkage);
    range.compile_like(kernel);
    range
}

/// Where the [`Parameter`] of an argument is.
fn at_argument<'m>(builder: &Builder<'m>, parameters: Value<'m>, index: usize) -> Value<'m> {
    let bytes = index as i64 * Parameter::FIELDS.len() as i64 * FIELD;
    builder.offset(parameters, bytes)
}

/// Fills a range function: `passed` makes something of each argument, given where its [`Parameter`] is, and `call` calls
/// the body for an element with it.
fn fill_range<'m, T>(
    module: &'m Module,
    range: Function<'m>,
    one: &ParallelLoop<'m>,
    passed: impl Fn(&Builder<'m>, &Argument<'m>, Value<'m>) -> T,
    call: impl FnOnce(&Builder<'m>, &Vec<T>, Value<'m>),
) {
    let [_, parameters, from, to] = range.parameters()[..] else {
        unreachable!("four parameters");
    };
    let all = |builder: &Builder<'m>| {
        let each = one.args.iter().enumerate();
        each.map(|(index, argument)| {
            passed(builder, argument, at_argument(builder, parameters, index))
        })
        .collect()
    };
    Builder::counted_loop(module, range, [from, to], all, call);
}

/// A range function for data that lie element by element.
fn range<'m>(module: &'m Module, set_loop: &SetLoop<'m>) -> Function<'m> {
    let one = &set_loop.one;
    let range = new_range(module, "okl.range", set_loop.kernel);
    fill_range(
        module,
        range,
        one,
        |builder, argument, at| Source::of(module, builder, argument, at),
        |builder, sources, number| {
            let addresses: Vec<_> = sources
                .iter()
                .map(|source| source.address(module, builder, number))
                .collect();
            builder.call(set_loop.kernel, &addresses);
        },
    );
    range
}

/// What a parameter of the body points to, by the values that are the same for all elements.
struct Source<'m> {
    place: Place,
    data: Value<'m>,
    size: Value<'m>,
    map: Value<'m>,
    arity: Value<'m>,
    columns_at: Value<'m>,
    is_optional: bool,
}

impl<'m> Source<'m> {
    fn of(
        module: &'m Module,
        builder: &Builder<'m>,
        argument: &Argument<'m>,
        at: Value<'m>,
    ) -> Self {
        // In the order of the struct.
        let load = |field: i64, ty| builder.load(ty, builder.offset(at, field * FIELD));
        let (pointer, long) = (module.pointer(), module.int(64));
        Self {
            place: argument.place.clone(),
            data: load(0, pointer),
            size: match argument.element.and_then(|element| element.bytes()) {
                Some(bytes) => module.const_i64(bytes),
                None => load(1, long),
            },
            map: load(2, pointer),
            columns_at: load(3, pointer),
            is_optional: argument.element.is_none_or(|element| element.optional),
            arity: load(4, long),
        }
    }

    /// The element itself, or the one that a column of the map, counted from its first, leads to.
    fn element_of(
        &self,
        module: &'m Module,
        builder: &Builder<'m>,
        number: Value<'m>,
        column: u32,
    ) -> Value<'m> {
        let (byte, int, long) = (module.int(8), module.int(32), module.int(64));
        let mut index = builder.sign_extend(number, long);
        if matches!(self.place, Place::Indirect { .. }) {
            let first = builder.element(int, self.map, builder.multiply(index, self.arity));
            let target = builder.load(int, builder.offset(first, i64::from(column) * 4));
            index = builder.sign_extend(target, long);
        }
        builder.element(byte, self.data, builder.multiply(index, self.size))
    }

    /// The parameter for element `number`.
    fn address(&self, module: &'m Module, builder: &Builder<'m>, number: Value<'m>) -> Value<'m> {
        let element = |column| self.element_of(module, builder, number, column);
        match self.place {
            Place::Scalar => self.data,
            Place::Number { column: None } => {
                builder.store(number, self.data);
                self.data
            }
            Place::Section { .. } | Place::Number { column: Some(_) } => element(0),
            // The map begins at the column.
            Place::Indirect {
                columns: Columns::One(_),
            } => element(0),
            Place::Indirect {
                columns: Columns::First(count),
            } => {
                for column in 0..count {
                    let slot = builder.offset(self.columns_at, i64::from(column) * FIELD);
                    builder.store(element(column), slot);
                }
                // What is left out is null.
                if self.is_optional {
                    let none = module.pointer().zero();
                    let is_there = builder.compare(self.data, none, true);
                    return builder.select(is_there, self.columns_at, none);
                }
                self.columns_at
            }
        }
    }
}
