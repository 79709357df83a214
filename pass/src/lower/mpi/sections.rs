//! Calls that declare what each loop nest accesses, and the regions that declare everything.
//!
//! Runs on simplified code, just before vectorisation; what it does not find is left to the pages.

use std::collections::{HashMap, HashSet};

use okl_abi::{f, region_flags};

use super::{globals, stretches, summaries};
use crate::analysis::at_once;
use crate::analysis::nests::source_name;
use crate::analysis::sections::{
    Declaration, Direct, Entry, FunctionSections, Program, Quantity, Region, What,
    is_one_of_several, may_declare,
};
use crate::diagnostic::{Site, user_name};
use crate::llvm::{Call, Function, Instruction, Linkage, Module, Value};
use crate::lower::declarations::{self, Overflow, place};
use crate::lower::runtime_call::declare;
use crate::marks::{DECLARED, ENTRY, is_for_ranks};
use crate::record::RegionRecord;

/// So often functions are put in place of their calls, which may show more such calls.
const MOST_ROUNDS: usize = 3;

/// The regions of a module that may be distributed, with the program around them.
pub struct Plan<'m> {
    forks: Vec<Fork<'m>>,
    /// One for each different body.
    regions: Vec<Region<'m>>,
    /// Functions that regions of other files may call.
    functions: Vec<Region<'m>>,
}

/// A fork, and what it says of its region.
struct Fork<'m> {
    at: Instruction<'m>,
    record: RegionRecord<'m>,
    /// An atomic access for which rank 0 had better run the region by itself.
    at_once: Option<Instruction<'m>>,
}

/// Analyses the regions of a module that have not been looked at.
pub fn check(module: &Module) -> Plan<'_> {
    let forks = forks(module);
    let mut bodies: Vec<Function<'_>> = Vec::new();
    for one in &forks {
        if !bodies.contains(&one.record.body) {
            bodies.push(one.record.body);
        }
    }
    if !bodies.is_empty() {
        // Loads are moved in front of loops that might not come to them.
        declare(module, &f::okl_mpi_readable);
    }
    let others = others(module);
    let mut program = Program::of_ranks(module, &bodies, &others);
    for _ in 0..MOST_ROUNDS {
        let mut calls: Vec<Call<'_>> = Vec::new();
        for call in bodies.iter().flat_map(|body| program.dissolvable(*body)) {
            if !calls.contains(&call) {
                calls.push(call);
            }
        }
        if calls.is_empty() {
            break;
        }
        drop(program);
        for call in calls {
            call.inline();
        }
        program = Program::of_ranks(module, &bodies, &others);
    }
    let functions = others.iter().filter_map(|one| program.declaring(*one));
    Plan {
        regions: bodies.iter().map(|body| program.region(*body)).collect(),
        functions: functions.collect(),
        forks,
    }
}

/// The functions that other files may call in their regions, as they are for several ranks: of these there is one in the
/// program, and they have not been looked at.
fn others(module: &Module) -> Vec<Function<'_>> {
    let functions = module.functions().into_iter();
    let entries =
        functions.filter(|one| ENTRY.is_on(*one) && one.linkage() == Linkage::LLVMExternalLinkage);
    let instructions = entries.flat_map(|one| one.instructions());
    let called = instructions.filter_map(|at| at.as_call()?.callee_function());
    let is_other = |one: &Function<'_>| {
        is_for_ranks(*one)
            && !one.is_declaration()
            && !is_one_of_several(*one)
            && !DECLARED.is_on(*one)
            && may_declare(*one)
    };
    called.filter(is_other).collect()
}

/// The forks whose regions may be distributed and have not been looked at, one for each region.
fn forks(module: &Module) -> Vec<Fork<'_>> {
    let mut found: Vec<Fork<'_>> = Vec::new();
    let functions = module.functions().into_iter();
    for at in functions.flat_map(|function| function.instructions()) {
        let Some(record) = at.as_call().and_then(RegionRecord::of) else {
            continue;
        };
        let body = record.body;
        let is_new = || found.iter().all(|one| one.record.global != record.global);
        let wanted = !record.is_alone()
            && !body.is_declaration()
            && is_for_ranks(body)
            && !DECLARED.is_on(body);
        if wanted && is_new() {
            found.push(Fork {
                at,
                record,
                at_once: at_once::first(body),
            });
        }
    }
    // As they stand in the source.
    let globals = module.globals();
    found.sort_by_key(|one| {
        globals
            .iter()
            .position(|global| *global == one.record.global)
    });
    found
}

impl<'m> Plan<'m> {
    fn region(&self, body: Function<'m>) -> &Region<'m> {
        let found = self.regions.iter().find(|one| one.body == body);
        found.expect("every fork's body has been analysed")
    }

    /// Tells for each region what came out.
    pub fn remark(&self) {
        let mut told = HashSet::new();
        for one in &self.forks {
            let region = self.region(one.record.body);
            if let Some(access) = one.at_once {
                let what = match access.as_call().is_some_and(at_once::takes_lock) {
                    true => "critical sections or locks",
                    false => "atomic accesses",
                };
                let message = format!(
                    "rank 0 runs this region by itself, on as many threads: its {what} ({}) follow on each other too fast \
                     to go to other ranks",
                    Site::Instruction(access)
                );
                one.at.remark("AtOnce", &message, true);
            }
            match &region.spoiled {
                None => {
                    let count = section_count(region);
                    let plural = if count == 1 { "" } else { "s" };
                    let what = match (&region.stretches[..], &region.dependent[..]) {
                        ([], []) if region.reads_elsewhere.is_some() => format!(
                            "region declares its accesses ({count} section{plural}), but for some reads"
                        ),
                        ([], []) => {
                            format!("region declares all its accesses ({count} section{plural})")
                        }
                        ([], _) => format!(
                            "region declares all its accesses ({count} section{plural} here), if the functions of other files \
                             that it calls can be described"
                        ),
                        _ => format!(
                            "region declares its accesses ({count} section{plural}), but for those of code that cannot \
                             be described"
                        ),
                    };
                    one.at.remark("Declared", &what, false);
                    if let Some(read) = region.reads_elsewhere
                        && told.insert(Site::Instruction(read).to_string())
                    {
                        let message = "pages are fetched as this reads them, and the region's other accesses are declared: it \
                                       reads from an object that is not known before the loop";
                        read.remark("Elsewhere", message, true);
                    }
                    for stretch in &region.dependent {
                        if told.insert(Site::Instruction(stretch.at).to_string()) {
                            let reason = &stretch.reason;
                            let message = format!(
                                "pages are tracked while this runs, unless it turns out when the program starts that the \
                                 other file describes it: it {reason}"
                            );
                            stretch.at.remark("Depends", &message, true);
                        }
                    }
                    for stretch in &region.stretches {
                        if told.insert(Site::Instruction(stretch.at).to_string()) {
                            let reason = &stretch.reason;
                            let message = format!(
                                "pages are tracked while this runs, and the region's other accesses are declared: it {reason}"
                            );
                            stretch.at.remark("Tracked", &message, true);
                        }
                    }
                }
                Some(spoiled) => {
                    let message = format!(
                        "pages of this region are tracked: it {} ({})",
                        spoiled.reason,
                        Site::Instruction(spoiled.at)
                    );
                    one.at.remark("Tracked", &message, true);
                }
            }
        }
    }

    /// The regions and their nests as text.
    pub fn print(&self) -> String {
        let mut text = String::new();
        for one in &self.functions {
            text += &format!("function {}: declares\n", user_name(one.body));
            for one in &one.direct {
                text += &format!("  direct {}\n", direct_text(one));
            }
            for sections in &one.functions {
                for declaration in &sections.declarations {
                    text += &declaration_text(sections, declaration);
                }
            }
        }
        for one in &self.forks {
            let region = self.region(one.record.body);
            text += &format!("region at {}: ", Site::Instruction(one.at));
            if let Some(access) = one.at_once {
                text += &format!("at once for {}, ", Site::Instruction(access));
            }
            match &region.spoiled {
                None if region.stretches.is_empty() && region.dependent.is_empty() => {
                    text += "complete";
                    if let Some(read) = region.reads_elsewhere {
                        text += &format!(" but for reads ({})", Site::Instruction(read));
                    }
                    text += "\n";
                }
                None => text += "complete but for\n",
                Some(spoiled) => {
                    let site = Site::Instruction(spoiled.at);
                    text += &format!("tracked, it {} ({site})\n", spoiled.reason);
                }
            }
            for one in region.stretches.iter().filter(|_| region.spoiled.is_none()) {
                let site = Site::Instruction(one.at);
                text += &format!("  tracked, it {} ({site})\n", one.reason);
            }
            for one in region.dependent.iter().filter(|_| region.spoiled.is_none()) {
                let site = Site::Instruction(one.at);
                text += &format!(
                    "  tracked unless another file describes it, it {} ({site})\n",
                    one.reason
                );
            }
            for one in &region.direct {
                text += &format!("  direct {}\n", direct_text(one));
            }
            for sections in &region.functions {
                for declaration in &sections.declarations {
                    text += &declaration_text(sections, declaration);
                }
            }
        }
        text
    }
}

fn section_count(region: &Region<'_>) -> usize {
    let functions = region.functions.iter();
    let declarations = functions.flat_map(|sections| &sections.declarations);
    let entries = declarations.flat_map(|one| &one.entries);
    entries.filter(|one| one.what != What::ByAll).count()
}

fn direct_text(one: &Direct<'_>) -> String {
    let name = crate::llvm::demangle(&source_name(one.object));
    let name = if name.is_empty() { "argument" } else { &name };
    format!("{name}+{}, {} bytes", one.offset, one.size)
}

fn declaration_text<'m>(sections: &FunctionSections<'m>, one: &Declaration<'m>) -> String {
    let kind = if one.is_nest { "nest" } else { "accesses" };
    let mut text = format!("  {kind} {}\n", Site::Instruction(place(one)));
    for entry in &one.entries {
        text += &format!("    {}\n", entry_text(sections, entry));
    }
    text
}

fn entry_text<'m>(sections: &FunctionSections<'m>, entry: &Entry<'m>) -> String {
    let show = |quantity: Quantity<'m>| match quantity {
        Quantity::Term(term) => sections.nests.text(term),
        Quantity::Value(value) => match source_name(value) {
            unknown if unknown.is_empty() => "a value".to_string(),
            name => name,
        },
        Quantity::Constant(number) => number.to_string(),
        Quantity::Places(_) => "its place".to_string(),
    };
    let words = match entry.what {
        What::Elements {
            is_write, exact, ..
        } => match (is_write, exact) {
            (false, true) => "read",
            (false, false) => "read bound",
            (true, true) => "write",
            (true, false) => "write may bound",
        },
        What::Anywhere { .. } => "read anywhere",
        What::Between { .. } => "read between",
        What::Marked { .. } => "write marked",
        What::ByAll => "all threads write",
        What::Pointers { .. } | What::Numbers { .. } | What::Places => "",
    };
    let object = if entry.object.is_empty() {
        "?"
    } else {
        &entry.object
    };
    let mut text = format!("{words} {object}");
    match entry.what {
        What::Marked {
            by_bits, counted, ..
        } => {
            let when = if counted { " behind the nest" } else { "" };
            let kind = if by_bits { "bits" } else { "bytes" };
            return format!("{text}{when} by {kind} of {} bytes", entry.element);
        }
        What::Between { .. } => return text + &between_text(entry, show),
        _ => {}
    }
    for &(stride, count) in &entry.dimensions {
        text += &format!(" [{} x {}]", show(count), show(stride));
    }
    if !matches!(entry.what, What::Anywhere { .. }) {
        text += &format!(" of {} bytes at {}", entry.element, show(entry.address));
    }
    let mut table = &entry.table;
    if let Some(one) = table.as_ref().filter(|one| one.what == What::Places) {
        let turns = one.dimensions.first().map(|&(turns, _)| show(turns));
        let turns = turns.unwrap_or_default();
        return text + &format!(", {} bytes in each of {turns} turns", one.element);
    }
    while let Some(one) = table {
        text += " from each pointer in";
        for &(stride, count) in &one.dimensions {
            text += &format!(" [{} x {}]", show(count), show(stride));
        }
        text += &format!(" at {}", show(one.address));
        table = &one.table;
    }
    text
}

/// The corners of an entry that has such, and the tables that they are made of.
fn between_text<'m>(entry: &Entry<'m>, show: impl Fn(Quantity<'m>) -> String) -> String {
    let corner = |values: &Vec<Quantity<'m>>| {
        let products = values[1..]
            .iter()
            .enumerate()
            .map(|(table, &factor)| (show(factor), format!("t{table}")));
        let sum: Vec<_> = [(show(values[0]), String::new())]
            .into_iter()
            .chain(products)
            .filter(|(number, _)| number != "0")
            .map(|(number, table)| match &table[..] {
                "" => number,
                table => format!("{number} * {table}"),
            })
            .collect();
        format!("({})", sum.join(" + "))
    };
    let corners = |entry: &Entry<'m>| {
        let corners: Vec<_> = entry.corners().iter().map(corner).collect();
        corners.join(" and ")
    };
    let mut text = format!(" {} of {} bytes", corners(entry), entry.element);
    let tables = entry.with_tables();
    for (index, table) in tables[..tables.len() - 1].iter().enumerate() {
        let What::Numbers {
            unused, between, ..
        } = table.what
        else {
            unreachable!("a table of numbers");
        };
        let but = [
            (unused.negative, " but negative ones"),
            (unused.zero, " but 0"),
            (unused.minus_one && !unused.negative, " but -1"),
        ];
        let but = but.iter().filter(|one| one.0).map(|one| one.1);
        text += &format!(", t{index}{}", but.collect::<String>());
        if between.is_some() {
            let bytes = table.element;
            text += &format!(" between {} of {bytes} bytes", corners(table));
            continue;
        }
        text += " in";
        for &(stride, count) in &table.dimensions {
            text += &format!(" [{} x {}]", show(count), show(stride));
        }
        text += &format!(" at {}", show(table.address));
    }
    text
}

/// Inserts the calls of the regions that declare everything, and says so in their descriptors. True
/// where there are any.
pub fn emit<'m>(module: &'m Module, plan: &Plan<'m>) -> bool {
    let complete = plan.regions.iter().filter(|one| one.spoiled.is_none());
    let complete = || complete.clone().chain(&plan.functions);
    let mut functions: Vec<&FunctionSections<'m>> = Vec::new();
    let mut done = HashSet::new();
    for sections in complete().flat_map(|one| &one.functions) {
        if done.insert(sections.function) {
            functions.push(sections);
        }
    }
    // As they are before what is inserted now.
    let mut leaves = summaries::check(module, &plan.functions);
    own(&functions);
    let mut dependent: HashMap<Function<'m>, Vec<Value<'m>>> = HashMap::new();
    for sections in functions {
        // Declarations in the same place come behind.
        let list = stretches::emit(module, sections);
        dependent.insert(sections.function, list);
        declarations::emit(
            module,
            sections,
            Overflow::Noticed,
            |builder, table, values| {
                builder.call(declare(module, &f::okl_mpi_sections), &[table, values])
            },
        );
    }
    for one in &plan.forks {
        let region = plan.region(one.record.body);
        complete_record(module, one, region, &stretches_of(region, &dependent));
        DECLARED.put_on(module, one.record.body);
    }
    for one in &plan.functions {
        leaves.add_declaring(one, stretches_of(one, &dependent));
        DECLARED.put_on(module, one.body);
    }
    let direct: Vec<_> = complete().map(|one| &one.direct).collect();
    let others = leaves.objects();
    if !direct.is_empty() || !others.is_empty() {
        let direct = direct.into_iter().flatten().map(|one| one.object);
        globals::set_apart(module, &direct.chain(others).collect());
    }
    let summarised = summaries::emit(module, leaves);
    !plan.forks.is_empty() || !plan.functions.is_empty() || summarised
}

/// The stretches of a region that may turn out not to be any.
fn stretches_of<'m>(
    region: &Region<'m>,
    dependent: &HashMap<Function<'m>, Vec<Value<'m>>>,
) -> Vec<Value<'m>> {
    let functions = region.functions.iter().map(|one| one.function);
    let lists = functions.filter_map(|one| dependent.get(&one));
    lists.flatten().copied().collect()
}

/// Gives the regions of this module functions of their own where the linker would choose among those of several files.
fn own(functions: &[&FunctionSections<'_>]) {
    let all: Vec<_> = functions.iter().map(|one| one.function).collect();
    for &function in all.iter().filter(|one| is_one_of_several(**one)) {
        become_own(function, &all);
    }
}

/// Makes a function of which the linker keeps one file's copy one of this module, for the calls in `callers`. A copy of it
/// takes its name and all its other uses.
fn become_own<'m>(function: Function<'m>, callers: &[Function<'m>]) {
    let shared = function.copy();
    shared.join_comdat_of(function);
    shared.take_name(*function);
    function.set_name(&format!("{}.okl", shared.name()));
    function.leave_comdat();
    function.set_linkage(Linkage::LLVMInternalLinkage);
    function.replace_uses_if(*shared, |one| {
        let caller = one.user().as_instruction().filter(|_| one.is_callee());
        !caller.is_some_and(|caller| callers.contains(&caller.function()))
    });
}

fn complete_record<'m>(
    module: &'m Module,
    fork: &Fork<'m>,
    region: &Region<'m>,
    stretches: &[Value<'m>],
) {
    let record = &fork.record;
    let mut flags = record.flags();
    let mut direct = Vec::new();
    if fork.at_once.is_some() {
        flags |= region_flags::AT_ONCE;
    }
    if region.no_atomics {
        flags |= region_flags::NO_ATOMICS;
    }
    if region.spoiled.is_none() {
        if region.no_atomics_here {
            flags |= region_flags::NO_ATOMICS_HERE;
        }
        flags |= region_flags::DECLARES_ALL | region_flags::SERIAL_CODE_ANNOUNCED;
        if !region.stretches.is_empty() {
            flags |= region_flags::STRETCHES;
        }
        if region.has_flags {
            flags |= region_flags::FLAGS;
        }
        if region.reads_elsewhere.is_some() {
            flags |= region_flags::READS_ELSEWHERE;
        }
        if region.nests_depend {
            flags |= region_flags::NESTS_DEPEND;
        }
        direct = direct_list(module, record, region);
        return record.complete(module, flags, &direct, stretches);
    }
    record.complete(module, flags, &direct, &[]);
}

fn direct_list<'m>(
    module: &'m Module,
    record: &RegionRecord<'m>,
    region: &Region<'m>,
) -> Vec<Value<'m>> {
    let parameters = record.body.parameters();
    let entry = |access: &Direct<'m>| {
        // Without the two pointers every body begins with.
        let argument = parameters
            .iter()
            .position(|parameter| *parameter == access.object);
        let object = match argument {
            Some(_) => module.pointer().zero(),
            None => access.object,
        };
        module.const_struct(&[
            module.const_i64(argument.map_or(-1, |index| index as i64 - 2)),
            object,
            module.const_i64(access.offset),
            module.const_i64(access.size),
        ])
    };
    region.direct.iter().map(entry).collect()
}
