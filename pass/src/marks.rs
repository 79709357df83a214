//! What a stage tells later ones about functions and variables, as questions. (What it tells them about loops and regions
//! is in `record.rs`.)
//!
//! Functions have string attributes. LLVM keeps none of ours for variables: those have names, and nothing but this file
//! knows how they begin.

use crate::llvm::{Block, Function, Global, Module, Value};

/// A string attribute of functions, and one of its values.
#[derive(Clone, Copy)]
pub struct Mark {
    /// The attribute.
    pub name: &'static str,
    /// Its value.
    pub value: &'static str,
}

impl Mark {
    /// Whether a function has this mark.
    pub fn is_on(self, function: Function<'_>) -> bool {
        function.mark_value(self.name).as_deref() == Some(self.value)
    }

    /// Gives a function this mark.
    pub fn put_on(self, module: &Module, function: Function<'_>) {
        function.mark(module, self.name, self.value);
    }
}

/// The attribute of a function whose regions have been distributed, or need not be: its value says for which kind of
/// process the function is.
const LOWERED: &str = "okl-lowered";

const fn lowered(value: &'static str) -> Mark {
    let name = LOWERED;
    Mark { name, value }
}

/// The version for one rank.
pub const PLAIN: Mark = lowered("plain");
/// The version for several ranks.
pub const RANKS: Mark = lowered("mpi");
/// What chooses between two versions.
pub const ENTRY: Mark = lowered("entry");
/// What both kinds of process run.
pub const SHARED: Mark = lowered("shared");

/// The function only hands its parameters on.
pub const FORWARDS: Mark = Mark {
    name: "okl-forwards",
    value: "",
};

/// The function runs blocks of work items: a region that the user wrote as a loop over them.
pub const BLOCKS: Mark = Mark {
    name: "okl-blocks",
    value: "",
};

/// The attribute of a function that runs blocks of a kernel whose costs are asked for: its value is the name of the
/// kernel's record.
const COSTS: &str = "okl-costs";

/// Says that a function runs blocks of the kernel with this record.
pub fn note_costs(module: &Module, function: Function<'_>, record: Global<'_>) {
    function.mark(module, COSTS, &record.name());
}

/// The record of the kernel whose blocks a function runs, if its costs are asked for.
pub fn costs_of<'m>(module: &'m Module, function: Function<'m>) -> Option<Global<'m>> {
    module.global(&function.mark_value(COSTS)?)
}

/// The attribute of a function of which is known what it stores: its value has the name of each type in a line, behind it
/// those of which it is a kind, and an empty line behind each type.
const STORES: &str = "okl-stores";

/// Says of which types all is that a function stores.
pub fn note_stored_types(module: &Module, function: Function<'_>, types: &[Vec<String>]) {
    let types = types.iter().map(|names| names.join("\n") + "\n\n");
    function.mark(module, STORES, &types.collect::<String>());
}

/// Of which types all is that a function stores: for each its name, and those of which it is a kind.
pub fn stored_types(function: Function<'_>) -> Option<Vec<Vec<String>>> {
    let value = function.mark_value(STORES)?;
    let types = value.split_terminator("\n\n");
    Some(
        types
            .map(|names| names.lines().map(str::to_string).collect())
            .collect(),
    )
}

/// What the region of this body accesses has been looked at.
pub const DECLARED: Mark = Mark {
    name: "okl-sections",
    value: "",
};

/// What the names of versions of functions end with: for several ranks, for one.
pub const VERSIONS: [&str; 2] = [".mpi", ".plain"];

/// The name of the version for several ranks of a function with this name.
pub fn name_for_ranks(function: &str) -> String {
    format!("{function}{}", VERSIONS[0])
}

/// The name of the version for one rank of a function with this name.
pub fn plain_name(function: &str) -> String {
    format!("{function}{}", VERSIONS[1])
}

/// What the function is called for that a function is a version of, on one rank.
pub fn name_of_plain(plain: &str) -> Option<&str> {
    plain.strip_suffix(VERSIONS[1])
}

/// What the functions are called by which ranks run the bodies of regions, up to the body's name.
pub const INVOKE: &str = "okl.invoke.";

/// Whether a function has been lowered, in whatever version.
pub fn is_lowered(function: Function<'_>) -> bool {
    function.has_mark(LOWERED)
}

/// Whether a function has been lowered, and a process that has all of the regions runs it, too.
pub fn is_undistributed_too(function: Function<'_>) -> bool {
    is_lowered(function) && !is_for_ranks(function)
}

/// Whether a function has been lowered, and runs on several ranks only.
pub fn is_for_ranks(function: Function<'_>) -> bool {
    RANKS.is_on(function)
}

/// Whether a function is the same for one rank and for several.
pub fn is_shared(function: Function<'_>) -> bool {
    SHARED.is_on(function)
}

/// Whether a function is a version for one rank.
pub fn is_plain(function: Function<'_>) -> bool {
    PLAIN.is_on(function)
}

/// What a forwarder hands its parameters to: see `lower/mpi/forwarder.rs`.
pub fn forwarded(function: Function<'_>) -> Option<Value<'_>> {
    if !FORWARDS.is_on(function) {
        return None;
    }
    let calls = function
        .instructions()
        .into_iter()
        .filter_map(|one| one.as_call());
    let mut last = calls.filter(|call| call.is_must_tail());
    last.next().map(|call| call.callee())
}

/// What the names of all functions and variables begin with that are ours and not the program's.
const OURS: &str = "okl.";
/// What those of the pointers to a thread's own copies of variables begin with.
const SLOT: &str = "okl.tp.";
/// What those of the initial values of these copies begin with.
const IMAGE: &str = "okl.tp.image.";
/// What those of the functions begin with that say where such a pointer is.
const PLACE: &str = "okl.place.";
/// What the name of what stands for such a copy while LLVM vectorises begins with.
const APART: &str = "okl.apart.";
/// What the names of the functions begin with that run loops of ours for a range of elements: one at a time, and several,
/// where data lie element by element, and component by component.
pub const RANGE: &str = "okl.range.";
/// See [`RANGE`].
pub const LANES: &str = "okl.lanes.";
/// See [`RANGE`].
pub const COMPONENTS: &str = "okl.components.";
/// See [`RANGE`].
pub const COMPONENT_LANES: &str = "okl.component_lanes.";

/// What the names of functions begin with that give a thread memory of its own, which they have of the kernel.
pub const THREAD_MEMORY: &str = "okl.chains.";

/// Whether a function gives a thread memory: whichever process it is in.
pub fn gives_memory(function: Function<'_>) -> bool {
    function.name().starts_with(THREAD_MEMORY)
}

/// Whether a variable is ours and not the program's.
pub fn is_ours(global: Global<'_>) -> bool {
    global.name().starts_with(OURS)
}

/// Whether a variable is a list or a table that LLVM or okl keep.
pub fn is_list(value: Value<'_>) -> bool {
    value
        .as_global()
        .is_some_and(|one| is_ours(one) || one.name().starts_with("llvm."))
}

/// The name of the pointer to a thread's own copy of a variable.
pub fn slot_name(variable: &str) -> String {
    format!("{SLOT}{variable}")
}

/// Whether a variable is the pointer to a thread's own copy of one of the program's.
pub fn is_slot(global: Global<'_>) -> bool {
    global.name().starts_with(SLOT) && !is_image(global)
}

/// The name of the variable whose copy such a pointer leads to.
pub fn variable_of_slot(global: Global<'_>) -> Option<String> {
    let name = global.name();
    let variable = name.strip_prefix(SLOT).filter(|_| !is_image(global));
    variable.map(str::to_string)
}

/// The name of the initial value of the copies of a variable.
pub fn image_name(variable: &str) -> String {
    format!("{IMAGE}{variable}")
}

/// Whether a variable is such an initial value. The run time fills the pointers, also that to a variable `image.x`.
fn is_image(global: Global<'_>) -> bool {
    let is_filled = global.is_declaration() || global.is_externally_initialized();
    global.name().starts_with(IMAGE) && !is_filled
}

/// The name of the function that returns the address of the pointer to a copy of a variable.
pub fn place_name(variable: &str) -> String {
    format!("{PLACE}{variable}")
}

/// The name of what stands for the copy of a variable while LLVM vectorises.
pub fn apart_name(variable: &str) -> String {
    format!("{APART}{variable}")
}

/// The name of the variable for whose copy this stands.
pub fn variable_apart(global: Global<'_>) -> Option<String> {
    global.name().strip_prefix(APART).map(str::to_string)
}

/// The kernel has been lowered: its loops are loops like others.
pub const LOWERED_KERNEL: Mark = Mark {
    name: "okl-kernel",
    value: "lowered",
};

/// The region that the function is the body of runs on a device, where there is one.
pub const ON_DEVICE: Mark = Mark {
    name: "okl-on-device",
    value: "",
};

/// The option of loops over work items.
const ITEMS: &str = "okl.items";

/// Says of the loop that this block closes that it is one over work items, or over rows of them.
pub fn mark_items(module: &Module, latch: Block<'_>) {
    let end = latch.terminator().expect("a complete block");
    if end.loop_option(module, ITEMS).is_none() {
        end.add_loop_option(ITEMS, None);
    }
}

/// Whether the loop that this block closes is one over work items, or over rows of them.
pub fn is_over_items(module: &Module, latch: Block<'_>) -> bool {
    let end = latch.terminator();
    end.is_some_and(|end| end.loop_option(module, ITEMS).is_some())
}

/// Takes back what was said of the loop that this block closes.
pub fn forget_items(module: &Module, latch: Block<'_>) {
    if is_over_items(module, latch) {
        let end = latch.terminator().expect("a complete block");
        end.remove_loop_option(module, ITEMS);
    }
}

/// The call at which the work items of a block meet.
pub const OKL_BARRIER: &str = "__okl_barrier";

/// The calls that stand around code that nobody is to see half done.
pub const OKL_ATOMIC: [&str; 2] = ["__okl_atomic_begin", "__okl_atomic_end"];

/// The call that is told how many iterations a block of the next loop has.
pub const OKL_TILE_SIZE: &str = "__okl_tile_size";

/// Noted of a variable of 64 bits that counts the iterations of a tile: there are 2^31 at most, and what it has fits into 32
/// bits without a sign.
pub const FEW_ITERATIONS: &str = "okl.few_iterations";

/// What the names of the functions begin with that only mark loop chains and the loops in them.
pub const CHAINS: &str = "__okl_omplc_";

/// Whether a function of this name only marks a place in a kernel.
pub fn is_okl_marker(name: &str) -> bool {
    [OKL_BARRIER, OKL_TILE_SIZE].contains(&name) || OKL_ATOMIC.contains(&name)
}

/// What the program's `main` is called where it runs on ranks.
pub const USER_MAIN: &str = "okl.main";

/// The constructor that hands over what the run time is told of a module.
pub const REGISTER: &str = "okl.register";

/// Where the run time finds what the functions of a module do with memory.
pub const SUMMARIES: &str = "okl.summaries";

/// What calls one of the program's constructors and destructors on a single rank.
pub const ON_ONE_RANK: &str = "okl.on_one_rank";

/// Whether a constructor or destructor is one of these two.
pub fn is_our_constructor(function: Function<'_>) -> bool {
    let name = function.name();
    is_lowered(function) && (name.starts_with(REGISTER) || name.starts_with(ON_ONE_RANK))
}

/// The symbol that says that a function is translated.
pub fn translated_name(function: &str) -> String {
    format!("okl.translated.{function}")
}

/// Whether a function that runs a loop for a range of elements was made by the stage that lowers, which leaves a record
/// at each call of it; OP2's headers have such functions of their own.
pub fn is_lowered_range(function: Function<'_>) -> bool {
    function.name().starts_with(RANGE)
}

/// Whether a function runs a loop of ours for a range of elements, one or several at a time.
pub fn runs_range(function: Function<'_>) -> bool {
    let name = function.name();
    let beginnings = [RANGE, LANES, COMPONENTS, COMPONENT_LANES];
    beginnings.iter().any(|one| name.starts_with(one))
}

/// The attribute of a function whose results depend on how long the vectors are that it was compiled for ahead of time: its
/// value is their bits.
const VECTOR_BITS: &str = "okl-vector-bits";

/// Says that a function works on as many elements at once as have room in so many bits.
pub fn set_vector_bits(module: &Module, function: Function<'_>, bits: i64) {
    function.mark(module, VECTOR_BITS, &bits.to_string());
}

/// In how many bits the elements have to have room that a function works on at once, where that is not the processor's choice.
pub fn vector_bits(function: Function<'_>) -> Option<u32> {
    function.mark_value(VECTOR_BITS)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::OwnModule;

    #[test]
    fn pointers_to_copies_are_told_from_initial_values() {
        let module = OwnModule::parse(
            "@okl.tp.x = externally_initialized global ptr null
            @okl.tp.image.x = private constant i32 1
            @okl.tp.image.y = externally_initialized global ptr null
            @okl.tp.image.z = external global ptr
            @okl.apart.x = external thread_local global [0 x i8]
            @x = global i32 0",
        );
        let global = |name: &str| module.global(name).expect("it is there");
        for (name, variable) in [
            ("okl.tp.x", Some("x")),
            ("okl.tp.image.x", None),
            // Of variables of the program that are called so.
            ("okl.tp.image.y", Some("image.y")),
            ("okl.tp.image.z", Some("image.z")),
            ("okl.apart.x", None),
            ("x", None),
        ] {
            let found = variable_of_slot(global(name));
            assert_eq!(found.as_deref(), variable, "{name}");
            assert_eq!(is_slot(global(name)), variable.is_some(), "{name}");
            assert_eq!(is_ours(global(name)), name != "x", "{name}");
        }
        assert_eq!(variable_apart(global("okl.apart.x")).as_deref(), Some("x"));
    }
}
