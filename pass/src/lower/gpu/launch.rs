//! What a kernel of any front end's is to the host: code for devices as data of the file, and a record of each kernel.
//!
//! What is evaluated in front of a launch, and where control goes then, is the business of what the kernel was made of.

use std::collections::HashMap;

use okl_abi::gpu::{DeviceKernel, DeviceParameter, Image as Record, does, parameter};

use super::{Going, Host, Image, Plan, again, blocks, halo, range, sets, several};
use crate::diagnostic::{Site, user_name};
use crate::llvm::{Call, Global, Linkage, Module, Value, jit_option};
use crate::lower::cpu::threads::Launch;
use crate::lower::jit::embed;
use crate::marks::LOWERED_KERNEL;

/// What the name of the section begins with that has the code for a processor.
const CODE: &str = ".okl.device.";

/// What the host knows of a kernel.
#[derive(Clone, Default)]
pub struct Kernel {
    /// Its name in the code.
    pub entry: String,
    /// What is passed to it.
    pub parameters: Vec<Parameter>,
    /// The work items of a block in each direction, where they are known.
    pub items: Option<[i64; 3]>,
    /// Bytes that a block shares and is given when it is launched.
    pub shared: u64,
    /// Whether it writes to the standard output.
    pub prints: bool,
    /// The additions of [`does`].
    pub adds: i64,
    /// Which bytes it accesses: see [`okl_abi::gpu::section`].
    pub sections: Vec<i64>,
}

/// What is passed to a kernel.
#[derive(Clone)]
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

impl Kernel {
    /// Takes over what another one of the same loop does, which is for another device; `false` where the host has to do
    /// something else for that.
    pub fn joins(&mut self, other: &Self) -> bool {
        const ACCESSES: i64 = parameter::READ | parameter::WRITTEN;
        let of_host = |one: &Parameter| (one.kind & !ACCESSES, one.size);
        let is_same = self.items == other.items
            && (self.parameters.iter().map(of_host)).eq(other.parameters.iter().map(of_host));
        for (one, other) in self.parameters.iter_mut().zip(&other.parameters) {
            one.kind |= other.kind & ACCESSES;
        }
        self.shared = self.shared.max(other.shared);
        self.prints |= other.prints;
        self.adds |= other.adds;
        // What is accessed the code for each device may say otherwise.
        if self.sections != other.sections {
            self.sections.clear();
        }
        is_same
    }
}

/// What is known of launches where the processor's code of loops is made.
#[derive(Default)]
pub struct Launches<'m> {
    /// What the run time is told of loops over sets, which it launches itself.
    pub sets: Vec<(Call<'m>, Value<'m>)>,
    /// What launches the part that a thread has of blocks, where ranks share them.
    pub blocks: Vec<(Call<'m>, Launch<'m>)>,
}

/// Has loops run on a device, where there is one. What the processor does instead is still to be lowered, and what it is not
/// to do, to be taken out by [`finish`].
pub fn emit<'m>(module: &'m Module, plan: &Plan<'m>) -> Launches<'m> {
    let mut told = Launches::default();
    if plan.going.is_empty() {
        several::finish(module, &[], plan.has_cpu);
        return told;
    }
    let mut of_regions = Vec::new();
    let images = images(module, &plan.images);
    // Most kernels are in all of them.
    let mut lists = HashMap::new();
    let mut list_of = |which: &[usize]| {
        let list = lists.entry(which.to_vec()).or_insert_with(|| {
            let rows: Vec<_> = which.iter().map(|at| images[*at]).collect();
            table(module, "okl.device.images", &rows)
        });
        List {
            images: *list,
            which: which.iter().map(|at| &plan.images[*at]).collect(),
        }
    };
    let halo = (!plan.halo.is_empty()).then(|| {
        let place = Site::Instruction(plan.going[0].site.instruction());
        let name = "op_par_loop, halos";
        let kernel = halo::described();
        let list = list_of(&plan.halo);
        *record(module, &kernel, name, place, &list)
    });
    for going in &plan.going {
        let name = user_name(going.function());
        // What a body is passed the loop says.
        let end = match &going.host {
            Host::Blocks(_) | Host::Range(_) => None,
            Host::Sets(..) => name.find('('),
        };
        let name = &name[..end.unwrap_or(name.len())];
        let place = Site::Instruction(going.site.instruction());
        let kernel = &going.kernel;
        let list = list_of(&going.images);
        let left = list
            .which
            .iter()
            .any(|one| one.left(&kernel.entry).is_some());
        // What runs is told by these names.
        let adding = |way: &str| format!("{name}, {way}");
        let first = match &going.host {
            Host::Sets(_, of_it) if of_it.adds_at_once() => adding("atomics"),
            _ => name.to_string(),
        };
        let record = record(module, kernel, &first, place, &list);
        let what = match &going.host {
            Host::Blocks(nest) if plan.on_ranks => {
                let launch = blocks::launch_parts(module, nest, record, plan.has_cpu);
                told.blocks.push((going.site, launch));
                LOWERED_KERNEL.put_on(module, nest.function);
                "what a rank has of the blocks of this @outer loop runs on its device, where there is one"
            }
            Host::Blocks(nest) => {
                blocks::launch(module, nest, record, plan.has_cpu);
                LOWERED_KERNEL.put_on(module, nest.function);
                "the blocks of this @outer loop run on a device, where there is one"
            }
            Host::Sets(_, of_it) => {
                let [apart, staged] = of_it.others().map(|(entry, way)| {
                    let kernel = Kernel {
                        entry: entry?.to_string(),
                        adds: 0,
                        ..kernel.clone()
                    };
                    Some(*self::record(module, &kernel, &adding(way), place, &list))
                });
                let kernels = [Some(*record), apart, staged];
                let record = sets::record(module, kernels, halo, of_it, plan.has_cpu);
                told.sets.push((going.site, record));
                "the elements of this loop run on a device, where there is one"
            }
            Host::Range(fork) => {
                range::launch(module, fork, record, plan.has_cpu);
                range::mark(module, fork.body);
                of_regions.push((fork.body.name(), record));
                fork.described()
            }
        };
        going.site.instruction().remark("Device", what, false);
        if jit_option() {
            let why = (!left).then_some(again::WHY_NOT);
            let words = (noun(going), ", on a device");
            embed::tell(going.site, words, why);
        }
    }
    several::finish(module, &of_regions, plan.has_cpu);
    told
}

/// The images that a kernel is in.
struct List<'a, 'm> {
    /// As the run time gets them.
    images: Value<'m>,
    which: Vec<&'a Image>,
}

/// What a loop or a region is to the user.
fn noun(going: &Going<'_>) -> &'static str {
    match going.host {
        Host::Blocks(_) => "@outer loop",
        Host::Sets(..) => "loop",
        Host::Range(_) => "region",
    }
}

impl Image {
    /// What is left of a kernel.
    fn left(&self, entry: &str) -> Option<&again::Left> {
        self.left.iter().find(|one| one.entry == entry)
    }
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

/// A struct for each image.
fn images<'m>(module: &'m Module, images: &[Image]) -> Vec<Value<'m>> {
    let rows = images.iter().map(|image| {
        let fields = Record::NAMES.iter().map(|&field| match field {
            "form" => module.const_i64(image.target.form),
            "processor" => text(module, image.target.processor.name),
            "code" => {
                let code = module.add_bytes("okl.device.code", &image.code);
                code.set_alignment(16);
                code.set_section(&format!("{CODE}{}", image.target.processor.name));
                *code
            }
            "size" => module.const_i64(image.code.len() as i64),
            "adds" => module.const_i64(image.target.atomics.adds),
            other => unreachable!("an image has no {other}"),
        });
        module.const_struct(&fields.collect::<Vec<_>>())
    });
    rows.collect()
}

/// Of a kernel.
fn record<'m>(
    module: &'m Module,
    kernel: &Kernel,
    name: &str,
    place: Site<'m>,
    list: &List<'_, 'm>,
) -> Global<'m> {
    let Kernel {
        entry,
        parameters,
        items,
        shared,
        prints,
        adds,
        sections,
    } = kernel;
    let rows = parameters.iter().map(|one| {
        let fields = DeviceParameter::NAMES.iter().map(|&field| match field {
            "kind" => module.const_i64(one.kind),
            "size" => module.const_i64(one.size),
            other => unreachable!("a parameter has no {other}"),
        });
        module.const_struct(&fields.collect::<Vec<_>>())
    });
    let rows = table(module, "okl.device.parameters", &rows.collect::<Vec<_>>());
    let numbers: Vec<_> = sections.iter().map(|one| module.const_i64(*one)).collect();
    let numbers = table(module, "okl.device.sections", &numbers);
    let none = module.pointer().zero();
    let code = |one: &&Image| {
        let left = one.left(entry)?;
        let name = format!("{name} on {}, {place}", one.target.described());
        Some(*embed::kernel(module, &name, left))
    };
    let codes: Vec<_> = list.which.iter().map(code).collect();
    let codes = match codes.iter().any(Option::is_some) {
        true => {
            let rows: Vec<_> = codes.into_iter().map(|one| one.unwrap_or(none)).collect();
            table(module, "okl.device.codes", &rows)
        }
        false => none,
    };
    let fields = DeviceKernel::NAMES.iter().map(|&field| match field {
        "name" => text(module, name),
        "place" => text(module, &place.to_string()),
        "entry" => text(module, entry),
        "images" => list.images,
        "image_count" => module.const_i64(list.which.len() as i64),
        "codes" => codes,
        "parameters" => rows,
        "parameter_count" => module.const_i64(parameters.len() as i64),
        "most_items" => module.const_i64(items.map_or(0, |items| items.iter().product())),
        "shared" => module.const_i64(*shared as i64),
        "does" => module.const_i64(adds | if *prints { does::PRINTS } else { 0 }),
        "sections" => numbers,
        "section_count" => module.const_i64(sections.len() as i64),
        "state" => module.const_i64(0),
        other => unreachable!("a kernel of a device has no {other}"),
    });
    let value = module.const_struct(&fields.collect::<Vec<_>>());
    let linkage = Linkage::LLVMInternalLinkage;
    let record = module.add_global("okl.device.kernel", value.ty(), Some(value), linkage);
    record.set_alignment(8);
    record
}
