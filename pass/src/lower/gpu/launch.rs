//! What a kernel of any front end's is to the host: code for devices as data of the file, and a record of each kernel.
//!
//! What is evaluated in front of a launch, and where control goes then, is the business of what the kernel was made of.

use okl_abi::gpu::{DeviceKernel, DeviceParameter, Image as Record};

use super::{Going, Host, Image, Plan, blocks, range, sets, several};
use crate::diagnostic::{Site, user_name};
use crate::llvm::{Call, Global, Linkage, Module, Value};
use crate::marks::LOWERED_KERNEL;

/// What the host knows of a kernel.
pub struct Kernel {
    /// Its name in the code.
    pub entry: String,
    /// What is passed to it.
    pub parameters: Vec<Parameter>,
    /// The work items of a block in each direction, where they are known.
    pub items: Option<[i64; 3]>,
}

/// What is passed to a kernel.
pub struct Parameter {
    /// See [`okl_abi::gpu::parameter`].
    pub kind: i64,
    /// Bytes of it.
    pub size: i64,
    /// Whether nothing else leads to what it points to, as the program says.
    pub is_alone: bool,
    /// What it is to the user, where the kernel must not change it.
    pub stays: Option<String>,
}

/// Has loops run on a device, where there is one. What the processor does instead is still to be lowered, and what it is not
/// to do, to be taken out by [`finish`]. What the run time is told of loops that it launches is returned.
pub fn emit<'m>(module: &'m Module, plan: &Plan<'m>) -> Vec<(Call<'m>, Value<'m>)> {
    let mut told = Vec::new();
    if plan.going.is_empty() {
        several::finish(module, &[], plan.has_cpu);
        return told;
    }
    let mut of_regions = Vec::new();
    let images = images(module, &plan.images);
    for going in &plan.going {
        let record = record(module, going, images, plan.images.len());
        let what = match &going.host {
            Host::Blocks(nest) => {
                blocks::launch(module, nest, record, plan.has_cpu);
                LOWERED_KERNEL.put_on(module, nest.function);
                "the blocks of this @outer loop run on a device, where there is one"
            }
            Host::Sets(_, passed) => {
                let record = sets::record(module, *record, passed, plan.has_cpu);
                told.push((going.site, record));
                "the elements of this loop run on a device, where there is one"
            }
            Host::Range(fork) => {
                range::launch(module, fork, record, plan.has_cpu);
                range::mark(module, fork.body);
                of_regions.push((fork.body.name(), record));
                "the loop of this region runs on a device, where there is one"
            }
        };
        going.site.instruction().remark("Device", what, false);
    }
    several::finish(module, &of_regions, plan.has_cpu);
    told
}

/// Takes out what the processor does not run.
pub fn finish(plan: &Plan<'_>) {
    if !plan.has_cpu {
        for going in &plan.going {
            match &going.host {
                Host::Blocks(nest) => nest.function.remove_unreachable_blocks(),
                // Others are there where nothing says how often the loop runs.
                Host::Range(_) | Host::Sets(..) => {}
            }
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
                let code = module.add_bytes("okl.device.code", &image.code);
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
    going: &Going<'m>,
    images: Value<'m>,
    image_count: usize,
) -> Global<'m> {
    let Kernel {
        entry,
        parameters,
        items,
    } = &going.kernel;
    let rows = parameters.iter().map(|one| {
        let fields = DeviceParameter::NAMES.iter().map(|&field| match field {
            "kind" => module.const_i64(one.kind),
            "size" => module.const_i64(one.size),
            other => unreachable!("a parameter has no {other}"),
        });
        module.const_struct(&fields.collect::<Vec<_>>())
    });
    let rows = table(module, "okl.device.parameters", &rows.collect::<Vec<_>>());
    let fields = DeviceKernel::NAMES.iter().map(|&field| match field {
        "name" => {
            let name = user_name(going.function());
            // What a body is passed the loop says.
            let end = match &going.host {
                Host::Blocks(_) | Host::Range(_) => None,
                Host::Sets(..) => name.find('('),
            };
            text(module, &name[..end.unwrap_or(name.len())])
        }
        "place" => {
            let site = Site::Instruction(going.site.instruction());
            text(module, &site.to_string())
        }
        "entry" => text(module, entry),
        "images" => images,
        "image_count" => module.const_i64(image_count as i64),
        "parameters" => rows,
        "parameter_count" => module.const_i64(parameters.len() as i64),
        "most_items" => module.const_i64(items.map_or(0, |items| items.iter().product())),
        "state" => module.const_i64(0),
        other => unreachable!("a kernel of a device has no {other}"),
    });
    let value = module.const_struct(&fields.collect::<Vec<_>>());
    let linkage = Linkage::LLVMInternalLinkage;
    let record = module.add_global("okl.device.kernel", value.ty(), Some(value), linkage);
    record.set_alignment(8);
    record
}
