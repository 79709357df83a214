//! The host's side: code for devices as data of the file, and in front of each loop that has some, its launch.

use okl_abi::gpu::{DeviceKernel, DeviceParameter, Image as Record, f};

use super::kernel::{Kernel, Passed};
use super::shape::Extent;
use super::{Image, Nest, Plan};
use crate::diagnostic::{Site, user_name};
use crate::llvm::{Builder, Comparison, Global, IntPredicate, Linkage, Module, Value};
use crate::lower::cpu::counted::{Copies, Counted};
use crate::lower::cpu::threads::area::Area;
use crate::lower::runtime_call::declare;
use crate::marks::LOWERED_KERNEL;

/// Has loops run on a device, where there is one. What the processor does instead is still to be lowered, and what it is not
/// to do, to be taken out by [`finish`].
pub fn emit<'m>(module: &'m Module, plan: &Plan<'m>) -> bool {
    if plan.nests.is_empty() {
        return false;
    }
    let images = images(module, &plan.images);
    for nest in &plan.nests {
        let record = record(module, nest, images, plan.images.len());
        launch(module, nest, record, plan.has_cpu);
        LOWERED_KERNEL.put_on(module, nest.function);
        nest.site.instruction().remark(
            "Device",
            "the blocks of this @outer loop run on a device, where there is one",
            false,
        );
    }
    true
}

/// Takes out what the processor does not run.
pub fn finish(plan: &Plan<'_>) {
    if !plan.has_cpu {
        for nest in &plan.nests {
            nest.function.remove_unreachable_blocks();
        }
    }
}

fn text<'m>(module: &'m Module, text: &str) -> Value<'m> {
    *module.add_text("okl.text", text)
}

/// A constant array of structs.
fn table<'m>(module: &'m Module, name: &str, rows: &[Value<'m>]) -> Value<'m> {
    let Some(first) = rows.first() else {
        return module.pointer().zero();
    };
    let table = module.add_constant(name, module.const_array(first.ty(), rows));
    table.set_alignment(8);
    *table
}

fn images<'m>(module: &'m Module, images: &[Image]) -> Value<'m> {
    let rows = images.iter().map(|image| {
        let fields = Record::NAMES.iter().map(|&field| match field {
            "form" => module.const_i64(image.target.form),
            "processor" => text(module, image.target.processor.name),
            "code" => {
                let code = module.add_text("okl.device.code", &image.code);
                code.set_alignment(16);
                *code
            }
            "size" => module.const_i64(image.code.len() as i64),
            other => unreachable!("an image has no {other}"),
        });
        module.const_struct(&fields.collect::<Vec<_>>())
    });
    table(module, "okl.device.images", &rows.collect::<Vec<_>>())
}

fn record<'m>(
    module: &'m Module,
    nest: &Nest<'m>,
    images: Value<'m>,
    image_count: usize,
) -> Global<'m> {
    let Kernel { entry, parameters } = &nest.kernel;
    let rows = parameters.iter().map(|one| {
        let fields = DeviceParameter::NAMES.iter().map(|&field| match field {
            "kind" => module.const_i64(one.kind),
            "size" => module.const_i64(one.size),
            other => unreachable!("a parameter has no {other}"),
        });
        module.const_struct(&fields.collect::<Vec<_>>())
    });
    let rows = table(module, "okl.device.parameters", &rows.collect::<Vec<_>>());
    let most = nest.shape.constant_items();
    let fields = DeviceKernel::NAMES.iter().map(|&field| match field {
        "name" => text(module, &user_name(nest.function)),
        "place" => {
            let site = Site::Instruction(nest.site.instruction());
            text(module, &site.to_string())
        }
        "entry" => text(module, entry),
        "images" => images,
        "image_count" => module.const_i64(image_count as i64),
        "parameters" => rows,
        "parameter_count" => module.const_i64(parameters.len() as i64),
        "most_items" => module.const_i64(most.map_or(0, |items| items.iter().product())),
        "state" => module.const_i64(0),
        other => unreachable!("a kernel of a device has no {other}"),
    });
    let value = module.const_struct(&fields.collect::<Vec<_>>());
    let linkage = Linkage::LLVMInternalLinkage;
    let record = module.add_global("okl.device.kernel", value.ty(), Some(value), linkage);
    record.set_alignment(8);
    record
}

/// Puts the launch in front of a loop.
fn launch<'m>(module: &'m Module, nest: &Nest<'m>, record: Global<'m>, has_cpu: bool) {
    let outermost = &nest.grid[0];
    let begins = outermost.begins;
    let known = Area::of(outermost).known;
    let mut copies = Copies::before(module, begins, known);
    let counted: Vec<_> = nest
        .grid
        .iter()
        .map(|one| copies.counted(module, one))
        .collect();
    let items: Vec<_> = nest
        .shape
        .extents
        .iter()
        .map(|extents| {
            let counts = extents.iter().map(|one| match one {
                Extent::Constant(count) => module.const_i64(*count),
                Extent::Computed(counter) => copies.counted(module, counter).count,
            });
            counts.collect::<Vec<_>>()
        })
        .collect();
    let builder = copies.builder;
    let [zero, one] = [0, 1].map(|number| module.const_i64(number));
    let more = Comparison::Integer(IntPredicate::LLVMIntSGT);
    let most = |counts: &Vec<Value<'m>>| {
        counts.iter().fold(one, |most, &count| {
            builder.select(builder.ask(more, count, most), count, most)
        })
    };
    let items: Vec<_> = items.iter().map(most).collect();
    let is_some = counted
        .iter()
        .map(|loop_| builder.ask(more, loop_.count, zero));
    let is_some = is_some.reduce(|a, b| builder.and(a, b));
    let is_some = is_some.expect("it has a loop");
    let mut blocks = [one; 3];
    for (counter, counted) in nest.grid.iter().zip(&counted) {
        blocks[counter.axis] = counted.count;
    }

    let front = begins.block();
    let start = begins.split_before();
    let launches = nest.function.append_block(module);
    front.terminator().expect("a complete block").erase();
    let builder = Builder::at_end_like(module, front, begins);
    builder.go_if(is_some, launches, outermost.exit);

    let builder = Builder::at_end_like(module, launches, begins);
    let entry = Builder::at_entry(module, nest.function);
    let long = module.int(64);
    let array = |values: &[Value<'m>]| {
        let array = entry.alloca(module.array(long, values.len() as u64), 8);
        for (at, value) in values.iter().enumerate() {
            builder.store(*value, builder.offset(array, 8 * at as i64));
        }
        array
    };
    let blocks = array(&blocks);
    let items = array(&items);
    let parameters = &nest.kernel.parameters;
    let count = parameters.len().max(1) as u64;
    let arguments = entry.alloca(module.array(module.pointer(), count), 8);
    for (at, one) in parameters.iter().enumerate() {
        let value = passed(nest, one.value, &counted, &entry, &builder);
        builder.store(value, builder.offset(arguments, 8 * at as i64));
    }
    let launch = declare(module, &f::okl_gpu_launch_v1);
    let may = module.const_i32(i32::from(has_cpu));
    let ran = builder.call(launch, &[*record, blocks, items, arguments, may]);
    match has_cpu {
        true => {
            let is_done = builder.compare(ran, module.const_i32(0), true);
            builder.go_if(is_done, outermost.exit, start);
        }
        false => builder.go(outermost.exit),
    }
}

/// The address of a copy of what is passed: what the kernel has stays its own for those that optimise it.
fn passed<'m>(
    nest: &Nest<'m>,
    what: Passed,
    counted: &[Counted<'m>],
    entry: &Builder<'m>,
    builder: &Builder<'m>,
) -> Value<'m> {
    let (module, function, variables) = (builder.module(), nest.function, &nest.variables);
    let keep = |value: Value<'m>| {
        let ty = value.ty();
        let copy = entry.alloca(ty, module.align_of(ty));
        builder.store(value, copy);
        copy
    };
    let (address, ty) = match what {
        Passed::First(at) => return keep(counted[at].first),
        Passed::Step(at) => return keep(counted[at].step),
        Passed::Variable(at) => {
            let variable = variables[at];
            let ty = variable.allocated_type();
            (*variable, ty.expect("a stack variable"))
        }
        Passed::Object(at) => {
            let ty = function.copied_parameter(at);
            (
                function.parameters()[at],
                ty.expect("it is passed as a copy"),
            )
        }
    };
    if !ty.is_aggregate() {
        return keep(builder.load(ty, address));
    }
    let align = module.align_of(ty);
    let copy = entry.alloca(ty, align);
    builder.copy_aligned(copy, address, module.size_of(ty) as i64, align);
    copy
}
