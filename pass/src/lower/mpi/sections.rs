//! Calls that declare what each loop nest accesses, and the regions that declare everything.
//!
//! Runs on simplified code, just before vectorisation; what it does not find is left to the pages.

use std::collections::HashSet;

use okl_abi::{f, region_flags};

use super::globals;
use crate::analysis::memory::base_of;
use crate::analysis::nests::source_name;
use crate::analysis::sections::{
    Declaration, Direct, Entry, FunctionSections, MOST_MARKS, Quantity, Region, What,
    is_one_of_several, regions,
};
use crate::diagnostic::Site;
use crate::llvm::{Builder, Function, Global, Instruction, Linkage, Module, Opcode, Value};
use crate::lower::runtime_call::declare;
use crate::marks::{DECLARED, is_for_ranks};
use crate::record::RegionRecord;

/// The regions of a module that may be distributed, with the program around them.
pub struct Plan<'m> {
    forks: Vec<Fork<'m>>,
    /// One for each different body.
    regions: Vec<Region<'m>>,
}

/// A fork, and what it says of its region.
struct Fork<'m> {
    at: Instruction<'m>,
    record: RegionRecord<'m>,
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
    Plan {
        regions: regions(module, &bodies),
        forks,
    }
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
            found.push(Fork { at, record });
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
        for one in &self.forks {
            let region = self.region(one.record.body);
            match &region.spoiled {
                None => {
                    let count = section_count(region);
                    let plural = if count == 1 { "" } else { "s" };
                    one.at.remark(
                        "Declared",
                        &format!("region declares all its accesses ({count} section{plural})"),
                        false,
                    );
                    if let Some(obstacle) = &region.one_thread {
                        let message = format!(
                            "each rank runs this region with one thread: it {} ({})",
                            obstacle.reason,
                            Site::Instruction(obstacle.at)
                        );
                        one.at.remark("OneThread", &message, true);
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
        for one in &self.forks {
            let region = self.region(one.record.body);
            text += &format!("region at {}: ", Site::Instruction(one.at));
            match &region.spoiled {
                None => text += "complete\n",
                Some(spoiled) => {
                    let site = Site::Instruction(spoiled.at);
                    text += &format!("tracked, it {} ({site})\n", spoiled.reason);
                }
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
    declarations.map(|one| one.entries.len()).sum()
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

/// Where to point the user for a declaration: at its first access.
fn place<'m>(one: &Declaration<'m>) -> Instruction<'m> {
    one.entries[0].at
}

fn entry_text<'m>(sections: &FunctionSections<'m>, entry: &Entry<'m>) -> String {
    let show = |quantity: Quantity<'m>| match quantity {
        Quantity::Term(term) => sections.nests.text(term),
        Quantity::Value(value) => match source_name(value) {
            unknown if unknown.is_empty() => "a value".to_string(),
            name => name,
        },
        Quantity::Constant(number) => number.to_string(),
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
        What::Pointers { .. } | What::Numbers { .. } => "",
    };
    let object = if entry.object.is_empty() {
        "?"
    } else {
        &entry.object
    };
    let mut text = format!("{words} {object}");
    match entry.what {
        What::Marked { by_bits, .. } => {
            let kind = if by_bits { "bits" } else { "bytes" };
            return format!("{text} by {kind} of {} bytes", entry.element);
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
    let corners: Vec<_> = entry.corners().iter().map(corner).collect();
    let mut text = format!(" {} of {} bytes", corners.join(" and "), entry.element);
    let tables = entry.with_tables();
    for (index, table) in tables[..tables.len() - 1].iter().enumerate() {
        text += &format!(", t{index} in");
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
    let mut functions: Vec<&FunctionSections<'m>> = Vec::new();
    let mut done = HashSet::new();
    for sections in complete.flat_map(|one| &one.functions) {
        if done.insert(sections.function) {
            functions.push(sections);
        }
    }
    own(&functions);
    for sections in functions {
        emit_function(module, sections);
        sections.function.forget_memory_effects();
    }
    for one in &plan.forks {
        let region = plan.region(one.record.body);
        complete_record(module, &one.record, region);
        DECLARED.put_on(module, one.record.body);
    }
    let complete = plan.regions.iter().filter(|one| one.spoiled.is_none());
    let direct: Vec<_> = complete.map(|one| &one.direct).collect();
    if !direct.is_empty() {
        let direct = direct.into_iter().flatten();
        globals::set_apart(module, &direct.map(|one| one.object).collect());
    }
    !plan.forks.is_empty()
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

/// The values of a declaration's entries, one behind the other.
struct Values<'m> {
    /// What is computed in front of the nest: each quantity once, but for those of entries with marks, which the run
    /// time replaces.
    computed: Vec<(Option<Quantity<'m>>, Value<'m>)>,
    sources: Vec<Source<'m>>,
}

/// A value, as the sum of these.
struct Source<'m> {
    /// Place in [`Values::computed`].
    computed: Option<usize>,
    /// A variable, for its address.
    variable: Option<Value<'m>>,
    number: i64,
}

impl<'m> Values<'m> {
    /// Emits what computes them.
    fn compute(module: &'m Module, sections: &FunctionSections<'m>, one: &Declaration<'m>) -> Self {
        let mut values = Self {
            computed: Vec::new(),
            sources: Vec::new(),
        };
        for entry in one.entries.iter().flat_map(Entry::with_tables) {
            for quantity in quantities(entry) {
                let source = if is_marked(entry) {
                    values.computed_whole(module, sections, one, quantity)
                } else {
                    values.source(module, sections, one, quantity)
                };
                values.sources.push(source);
            }
        }
        values
    }

    /// A quantity in a place of its own.
    fn computed_whole(
        &mut self,
        module: &'m Module,
        sections: &FunctionSections<'m>,
        one: &Declaration<'m>,
        quantity: Quantity<'m>,
    ) -> Source<'m> {
        let value = compute(module, sections, one, quantity);
        self.computed.push((None, value));
        Source {
            computed: Some(self.computed.len() - 1),
            variable: None,
            number: 0,
        }
    }

    /// A quantity, of which only what is no constant and no variable's address is computed, once.
    fn source(
        &mut self,
        module: &'m Module,
        sections: &FunctionSections<'m>,
        one: &Declaration<'m>,
        quantity: Quantity<'m>,
    ) -> Source<'m> {
        let (rest, variable, number) = match quantity {
            Quantity::Constant(number) => (None, None, number),
            Quantity::Value(value) => match value.as_global() {
                Some(global) if !global.is_thread_local() => (None, Some(value), 0),
                _ => (Some(quantity), None, 0),
            },
            Quantity::Term(term) => {
                let (rest, variable, number) = sections.nests.split(term);
                (rest.map(Quantity::Term), variable, number)
            }
        };
        let mut known = self.computed.iter();
        let known = rest.and_then(|_| known.position(|one| one.0 == rest));
        let mut source = Source {
            computed: known,
            variable,
            number,
        };
        if let (Some(rest), None) = (rest, known) {
            let value = compute(module, sections, one, rest);
            match value.as_constant_int() {
                Some(more) => source.number = number.wrapping_add(more),
                None => {
                    source.computed = Some(self.computed.len());
                    self.computed.push((Some(rest), value));
                }
            }
        }
        source
    }

    /// As the table has them.
    fn constants(&self, module: &'m Module) -> Vec<Value<'m>> {
        let constant = |source: &Source<'m>| {
            let null = module.pointer().zero();
            module.const_struct(&[
                module.const_i64(source.computed.map_or(-1, |place| place as i64)),
                source.variable.unwrap_or(null),
                module.const_i64(source.number),
            ])
        };
        self.sources.iter().map(constant).collect()
    }
}

fn is_marked(entry: &Entry<'_>) -> bool {
    matches!(entry.what, What::Marked { .. })
}

/// As the ABI says it.
fn access_bits(what: What) -> i64 {
    use okl_abi::section_access::{
        ANYWHERE, BETWEEN, BITS, BOUND, MARKED, MAY, NUMBERS, OBJECT, READ, RELATIVE, SIGNED,
        TABLE, WRITE,
    };
    const { assert!(MOST_MARKS == okl_abi::section_access::MOST_MARKS) };
    let and = |bits, is_so| if is_so { bits } else { 0 };
    match what {
        What::Elements {
            is_write,
            exact,
            relative,
        } => {
            let bound = and(BOUND, !exact);
            let relative = and(RELATIVE, relative);
            match is_write {
                false => READ | bound | relative,
                true => WRITE | and(MAY, !exact) | bound | relative,
            }
        }
        What::Pointers { relative } => TABLE | and(RELATIVE, relative),
        What::Numbers { signed } => TABLE | NUMBERS | and(SIGNED, signed),
        What::Anywhere { of_variable } => READ | ANYWHERE | and(OBJECT, of_variable),
        What::Between { of_variable } => READ | ANYWHERE | BETWEEN | and(OBJECT, of_variable),
        What::Marked {
            by_bits,
            of_variable,
        } => WRITE | MARKED | and(BITS, by_bits) | and(OBJECT, of_variable),
    }
}

/// Emits what computes a quantity in front of a declaration, as an `i64`.
fn compute<'m>(
    module: &'m Module,
    sections: &FunctionSections<'m>,
    one: &Declaration<'m>,
    quantity: Quantity<'m>,
) -> Value<'m> {
    match quantity {
        Quantity::Term(term) => sections.nests.expand(term, one.before),
        Quantity::Value(value) => Builder::before(module, one.before).bits_of(value, 64),
        Quantity::Constant(number) => module.const_i64(number),
    }
}

/// The address, and stride and count of each dimension.
fn quantities<'m>(entry: &Entry<'m>) -> Vec<Quantity<'m>> {
    let dimensions = entry.dimensions.iter().flat_map(|&(a, b)| [a, b]);
    [entry.address].into_iter().chain(dimensions).collect()
}

fn emit_function<'m>(module: &'m Module, sections: &FunctionSections<'m>) {
    let compute = |one| Values::compute(module, sections, one);
    let all: Vec<_> = sections.declarations.iter().map(compute).collect();
    let Some(most) = all.iter().map(|values| values.computed.len()).max() else {
        return;
    };
    let room = module.array(module.int(64), most as u64);
    let room = Builder::at_entry(module, sections.function).alloca(room, 8);
    let callee = declare(module, &f::okl_mpi_sections);
    let mut calls = Vec::new();
    for (one, values) in sections.declarations.iter().zip(&all) {
        let builder = Builder::before(module, one.before);
        for (index, (_, value)) in values.computed.iter().enumerate() {
            builder.store(*value, builder.offset(room, index as i64 * 8));
        }
        calls.push(builder.call(callee, &[*table(module, one, values), room]));
        emit_marks(module, sections, one, values, room);
    }
    for call in calls {
        load_later(call, room);
    }
}

/// Moves what is loaded and computed in front of a declaration, though not for it, behind it: else it would be kept in
/// memory during the call. `room` is where the declared values are.
fn load_later<'m>(declaration: Value<'m>, room: Value<'m>) {
    let declaration = declaration.as_instruction().expect("it is a call");
    let all = declaration.block().instructions();
    let place = all.iter().position(|&one| one == declaration);
    let place = place.expect("it is in its block");
    let mut above = HashSet::from([declaration]);
    let mut before = all[place + 1];
    for &at in all[..place].iter().rev() {
        let is_for_it = at
            .instruction_users()
            .iter()
            .any(|user| above.contains(user));
        let of_room = at.address().is_some_and(|address| base_of(address) == room);
        let is_load = at.opcode() == Opcode::LLVMLoad;
        if is_for_it && at.only_computes() || of_room && !is_load {
            above.insert(at);
        } else if at.only_computes() && !of_room {
            at.move_before(before);
            before = at;
        } else {
            break;
        }
    }
}

/// Makes the stores of a declaration mark what they write, where the runtime says that marks go.
fn emit_marks<'m>(
    module: &'m Module,
    sections: &FunctionSections<'m>,
    one: &Declaration<'m>,
    values: &Values<'m>,
    room: Value<'m>,
) {
    let builder = Builder::before(module, one.before);
    let mut sources = &values.sources[..];
    for (index, entry) in one.entries.iter().enumerate() {
        let all = entry.with_tables();
        let count = all.iter().map(|one| quantities(one).len()).sum::<usize>();
        let (own, rest) = sources.split_at(count);
        sources = rest;
        if !is_marked(entry) {
            continue;
        }
        let first = own[0].computed;
        let first = first.expect("the values of such an entry are computed") as i64;
        let told = |place, ty| builder.load(ty, builder.offset(room, (first + place) * 8));
        let (start, mask) = (told(0, module.int(64)), told(2, module.int(64)));
        let marks = told(1, module.pointer());
        let number = |builder: &Builder<'m>, address| {
            let distance = builder.difference(address, start);
            let number = builder.shift_right(distance, entry.element.trailing_zeros());
            builder.and(number, mask)
        };
        let by_bits = matches!(entry.what, What::Marked { by_bits: true, .. });
        for mark in one.marks.iter().filter(|mark| mark.entry == index) {
            let size = module.const_i64(mark.size);
            let count = mark.size / entry.element;
            if let (Some(run), false) = (&mark.run, by_bits) {
                let address = sections.nests.expand(run.address, run.before);
                let times = sections.nests.expand(run.count, run.before);
                let builder = Builder::before(module, run.before);
                let lowest = match run.falls {
                    true => {
                        let way = builder.multiply(builder.plus(times, -1), size);
                        builder.difference(address, way)
                    }
                    false => address,
                };
                let number = number(&builder, lowest);
                // Nothing behind the last mark, as where marks go nowhere.
                let room = builder.plus(builder.difference(mask, number), 1);
                let count = builder.multiply(times, module.const_i64(count));
                let place = builder.element(module.int(8), marks, number);
                builder.fill(place, 1, builder.least(count, room));
                continue;
            }
            let builder = Builder::before(module, mark.at);
            let number = number(&builder, builder.bits_of(mark.address, 64));
            if by_bits {
                for more in 0..count {
                    builder.set_bit(marks, builder.plus(number, more));
                }
            } else {
                let place = builder.element(module.int(8), marks, number);
                builder.fill(place, 1, module.const_i64(count));
            }
        }
    }
}

fn table<'m>(module: &'m Module, one: &Declaration<'m>, values: &Values<'m>) -> Global<'m> {
    let text = |text: &str| -> Value<'m> { *module.add_text("okl.text", text) };
    let entries: Vec<_> = one
        .entries
        .iter()
        .flat_map(Entry::with_tables)
        .map(|entry| {
            module.const_struct(&[
                module.const_i64(access_bits(entry.what)),
                module.const_i64(entry.element),
                module.const_i64(entry.dimensions.len() as i64),
                text(&entry.object),
                text(&Site::Instruction(entry.at).to_string()),
            ])
        })
        .collect();
    let list = module.const_array(entries[0].ty(), &entries);
    let list = module.add_constant("okl.sections.entries", list);
    let values = values.constants(module);
    let value_list = module.const_array(values[0].ty(), &values);
    let value = module.const_struct(&[
        text(&Site::Instruction(place(one)).to_string()),
        *list,
        module.const_i64(entries.len() as i64),
        *module.add_constant("okl.sections.values", value_list),
        module.const_i64(values.len() as i64),
    ]);
    module.add_constant("okl.sections", value)
}

fn complete_record<'m>(module: &'m Module, record: &RegionRecord<'m>, region: &Region<'m>) {
    let mut flags = record.flags();
    let mut direct = None;
    if region.no_atomics {
        flags |= region_flags::NO_ATOMICS;
    }
    if region.spoiled.is_none() {
        flags |= region_flags::DECLARES_ALL | region_flags::SERIAL_CODE_ANNOUNCED;
        if region.one_thread.is_none() {
            flags |= region_flags::THREADS;
        }
        let list = direct_list(module, record, region);
        if let Some(first) = list.first() {
            let array = module.const_array(first.ty(), &list);
            direct = Some((*module.add_constant("okl.direct", array), list.len()));
        }
    }
    record.complete(module, flags, direct);
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
