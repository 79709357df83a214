//! What OP2's run time is handed: loops over sets, which it runs, and what it has to know of the program's text.

pub mod notes;

use okl_abi::op2::{ARGUMENT_ACCESS, ARGUMENT_BYTES, access, f};

use crate::ir::{Mode, ParallelLoop, Space};
use crate::llvm::{Builder, Function, Module, Value};
use crate::lower::runtime_call::declare;
use crate::record::LoopRecord;

/// Bytes of an `op_arg`.
const ARGUMENT: i64 = ARGUMENT_BYTES as i64;

/// The call that runs a loop over a set.
pub struct Call<'m> {
    /// What the run time calls the loop.
    name: Value<'m>,
    set: Value<'m>,
}

/// What it calls.
pub struct Functions<'m> {
    /// The loop's body.
    pub kernel: Function<'m>,
    /// Calls the body for a range of elements.
    pub range: Function<'m>,
    /// The same where data lie component by component.
    pub components: Option<Function<'m>>,
    /// What is known of it as a kernel of a device's.
    pub device: Option<Value<'m>>,
}

impl<'m> Call<'m> {
    /// Of a loop, or why the run time cannot be handed it.
    pub fn of(one: &ParallelLoop<'m>) -> Result<Self, String> {
        let Space::Set { set, name } = one.space else {
            return Err("it is no loop over a set".to_string());
        };
        Ok(Self { name, set })
    }

    /// Puts it in the place of the loop.
    pub fn emit(&self, module: &'m Module, one: &ParallelLoop<'m>, functions: Functions<'m>) {
        let site = one.site.instruction();
        let count = one.arguments.len();
        let entry = Builder::at_entry(module, site.function());
        let bytes = module.array(module.int(8), count as u64 * ARGUMENT as u64);
        let arguments = entry.alloca(bytes, 8);
        let builder = Builder::before(module, site);
        let each = one.arguments.iter().zip(one.parameters());
        for (at, (argument, parameter)) in each.enumerate() {
            let to = builder.offset(arguments, at as i64 * ARGUMENT);
            builder.copy(to, argument.value, ARGUMENT);
            // The program may have said that more is done.
            if parameter.access.mode == Mode::Read {
                let read = module.const_i32(access::READ);
                builder.store(read, builder.offset(to, ARGUMENT_ACCESS as i64));
            }
        }
        let callee = declare(module, &f::okl_op2_par_loop_v8);
        let count = module.const_i32(count as i32);
        let (none, width) = (module.pointer().zero(), module.const_i32(0));
        let body = *functions.kernel;
        let in_order = module.const_i32(0);
        let components = functions.components.map_or(none, |components| *components);
        let operands = [
            self.name,
            self.set,
            count,
            arguments,
            body,
            *functions.range,
            none,
            width,
            in_order,
            components,
            none,
            functions.device.unwrap_or(none),
            none,
        ];
        let anchor = builder.call_like(one.site, callee, &operands);
        if let Some(anchor) = anchor.as_call() {
            LoopRecord::of(one).leave_at(module, anchor);
        }
        site.erase();
    }
}
