//! Whether kernels do to their arguments what the loops say.
//!
//! Guarantee: what is told is true of the kernel in whichever way it is written: it is looked at as LLVM simplifies it,
//! on a copy, at every level of optimisation, and with its loops written out.

use super::calls::Made;
use super::{Described, DescribedArgument};
use crate::analysis::access::{
    Pointers, Touched, Uses, notices_place, outside, pointers, touched_of_each, uses,
};
use crate::analysis::increments;
use crate::analysis::kernel::Kernel;
use crate::ir::{Access, Element, Mode, Parameter, Place};
use crate::llvm::{Function, Module, OwnModule};
use crate::simplified::simplified;

/// The kernels of a module, simplified.
pub struct Kernels(Option<OwnModule>);

impl Kernels {
    /// Those of the loops of `module`.
    pub fn of<'m>(module: &'m Module, loops: &[Described<'m>]) -> Self {
        let mut kernels: Vec<_> = loops.iter().filter_map(Described::defined_kernel).collect();
        kernels.sort_by_key(|kernel| kernel.name());
        kernels.dedup();
        Self((!kernels.is_empty()).then(|| simplified(module, &kernels)))
    }

    /// What a kernel gets of an argument, where that can be told.
    fn handed<'a, 'm>(&'a self, described: &'a Described<'m>, at: usize) -> Option<Handed<'a, 'm>> {
        let (copy, original) = self.0.as_ref().zip(described.defined_kernel())?;
        let kernel = copy.function(&original.name())?;
        let parameters = kernel.parameters();
        if kernel.is_declaration() || parameters.len() != described.arguments.len() {
            return None;
        }
        let argument = &described.arguments[at];
        Some(Handed {
            described,
            at,
            argument,
            original,
            copy,
            kernel,
            pointers: pointers(copy, parameters[at], argument.is_several())?,
        })
    }

    /// Whether nobody notices if the kernel gets copies of an argument's elements, or where it increments them through
    /// a map, sums that begin at zero.
    pub fn may_have_copies(&self, described: &Described<'_>, at: usize) -> bool {
        let Some(one) = self.handed(described, at) else {
            return false;
        };
        let argument = one.argument;
        let is_shared = matches!(&argument.made, Made::Dat(dat) if !dat.map.is_null());
        let touched = one.touched();
        let uses_others = argument.made.element().zip(touched);
        let uses_others = uses_others.is_some_and(|(element, touched)| {
            touched
                .iter()
                .any(|one| outside(element, one.all()).is_some())
        });
        // Sums that begin at zero carry nothing from one component to the next.
        let piece = argument.made.element().map(|one| one.scalar.bytes);
        let piece = piece.filter(|_| is_shared && argument.mode() == Ok(Mode::Increment));
        match argument.mode() {
            _ if uses_others || one.notices_places(piece) => false,
            Ok(Mode::Read) => true,
            // What it has done before it throws would be lost.
            _ if may_throw(one.kernel, &mut Vec::new()) => false,
            Ok(Mode::Increment) if is_shared => {
                let done = one.uses();
                !done.escapes && one.only_adds(&done)
            }
            // Of several elements two may be the same one.
            _ => !argument.is_several(),
        }
    }

    /// Whether the kernel certainly changes nothing of an argument.
    pub fn only_reads(&self, described: &Described<'_>, at: usize) -> bool {
        let one = self.handed(described, at);
        one.is_some_and(|one| {
            let done = one.uses();
            !done.escapes && !changes(&done)
        })
    }

    /// Whether all that the kernel certainly does to an argument is to add to it.
    pub fn only_adds(&self, described: &Described<'_>, at: usize) -> bool {
        let one = self.handed(described, at);
        one.is_some_and(|one| {
            let done = one.uses();
            !done.escapes && one.only_adds(&done)
        })
    }

    /// Whether the kernel certainly uses nothing of an argument but its element.
    pub fn stays_inside(&self, described: &Described<'_>, at: usize) -> bool {
        let one = self.handed(described, at);
        one.is_some_and(|one| {
            let used = one.argument.made.element().zip(one.touched());
            used.is_some_and(|(element, touched)| {
                let mut all = touched.iter();
                all.all(|one| outside(element, one.all()).is_none())
            })
        })
    }

    /// The variables that the kernel reads by their names, if it writes its arguments alone, and reads nothing else: nobody
    /// sees then when an element runs.
    pub fn read_by_name(&self, described: &Described<'_>) -> Result<Vec<String>, String> {
        let one = (0..described.arguments.len()).find_map(|at| self.handed(described, at));
        let one = one.ok_or("what its kernel does is not known")?;
        let accesses = one.accesses();
        let parameters = one.parameters(&accesses);
        let kernel = Kernel::of(one.copy, one.kernel, &parameters);
        kernel.keeps_to_arguments()?;
        kernel.reads_known_memory()?;
        let mut names = Vec::new();
        let instructions = one.kernel.instructions().into_iter();
        let mut rest: Vec<_> = instructions.flat_map(|one| one.operands()).collect();
        while let Some(value) = rest.pop() {
            let value = value.through_alias();
            if let Some(variable) = value.as_global() {
                if variable.is_thread_local() {
                    return Err("the kernel has variables of its thread".to_string());
                }
                if !variable.is_readonly() {
                    names.push(variable.name());
                }
            } else if value.is_composite_constant() {
                rest.extend(value.operands());
            }
        }
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// What the kernel does to an argument that its access does not allow, and whether that is certainly wrong.
    pub fn misuses(&self, described: &Described<'_>, at: usize) -> Vec<(bool, String)> {
        let Some(one) = self.handed(described, at) else {
            return Vec::new();
        };
        let argument = one.argument;
        let misuse = one.misuse(&one.uses());
        let is_used_wrongly = misuse.is_some();
        let mut all: Vec<_> = misuse.into_iter().collect();
        if let Some(element) = argument.made.element() {
            let is_written = argument.mode() == Ok(Mode::Write) && !is_used_wrongly;
            let all_touched = one.touched().unwrap_or_default();
            // What follows other values of the program may be meant; what is left out is not used.
            let is_alone =
                matches!(argument.made, Made::Global { .. }) && argument.mode() == Ok(Mode::Read);
            let is_certain = |touched: &Touched| {
                let outside = outside(element, touched.surely.iter());
                outside.is_some() && !argument.made.is_optional() && !is_alone
            };
            let doubts = all_touched.iter().filter_map(|touched| {
                let what = doubt(element, touched, is_written)?;
                Some((is_certain(touched), what))
            });
            let doubts: Vec<_> = doubts.collect();
            let worst = doubts.iter().position(|(is_certain, _)| *is_certain);
            let told = doubts.into_iter().nth(worst.unwrap_or(0));
            all.extend(told.map(|(is_certain, what)| {
                let may_leave = || may_throw(one.kernel, &mut Vec::new());
                (is_certain && !may_leave(), what)
            }));
        }
        all
    }
}

impl<'m> Described<'m> {
    /// Where an argument's elements are; anywhere where the program does not say. How it accesses them is no part of it.
    fn whereabouts(&self, at: usize) -> Access<'m> {
        let place = self.place(at).unwrap_or(Place::Anywhere);
        self.access_in(at, Mode::ReadWrite, place)
    }
}

/// Whether a simplified function may throw an exception. `above` are the functions that have been looked at.
fn may_throw<'m>(function: Function<'m>, above: &mut Vec<Function<'m>>) -> bool {
    if function.has_attribute("nounwind") || above.contains(&function) {
        return false;
    }
    above.push(function);
    let calls = function.instructions().into_iter();
    let mut calls = calls.filter_map(|one| one.as_call());
    function.is_declaration()
        || calls.any(|call| {
            let callee = call.callee_function();
            callee.is_none_or(|callee| may_throw(callee, above))
        })
}

/// What is doubtful in the components that a kernel uses of an element.
fn doubt(element: Element, touched: &Touched, is_written: bool) -> Option<String> {
    let (bytes, components) = (element.scalar.bytes, element.components);
    if let Some(outside) = outside(element, touched.surely.iter().chain(touched.all())) {
        return Some(format!(
            "has dimension {components}, but the kernel uses component {outside}; they count from 0"
        ));
    }
    if !is_written {
        return None;
    }
    let is_left = |component: &i64| {
        let covers = |range: &&std::ops::Range<i64>| {
            range.start <= component * bytes && (component + 1) * bytes <= range.end
        };
        !touched.written.iter().any(|range| covers(&range))
    };
    let left: Vec<_> = (0..components).filter(is_left).collect();
    let (first, plural) = match left[..] {
        [] => return None,
        [one] => (one, ""),
        [one, ..] => (one, " and others"),
    };
    Some(format!(
        "is OP_WRITE, but the kernel leaves component {first}{plural} as it was; components count from 0"
    ))
}

/// What a kernel gets of an argument.
struct Handed<'a, 'm> {
    described: &'a Described<'m>,
    /// The argument's number, and the argument.
    at: usize,
    argument: &'a DescribedArgument<'m>,
    /// The function as it is written.
    original: Function<'m>,
    /// Where it is simplified, and that.
    copy: &'a Module,
    kernel: Function<'a>,
    pointers: Pointers<'a>,
}

impl<'m> Handed<'_, 'm> {
    fn uses(&self) -> Uses {
        let mut all = Uses::default();
        for pointer in self.pointers.iter().flat_map(|(_, pointers)| pointers) {
            all.add(uses(*pointer));
        }
        all
    }

    /// Whether the kernel may tell copies from the elements, or uses them in other pieces than of `bytes`, if these are
    /// given.
    fn notices_places(&self, bytes: Option<i64>) -> bool {
        let mut all = self.pointers.iter().flat_map(|(_, pointers)| pointers);
        all.any(|&pointer| notices_place(self.copy, pointer, bytes))
    }

    /// For each element what is touched of it; none where that is not known.
    fn touched(&self) -> Option<Vec<Touched>> {
        touched_of_each(self.copy, &self.pointers)
    }

    /// `done`: what the simplified kernel does.
    fn misuse(&self, done: &Uses) -> Option<(bool, String)> {
        if done.escapes {
            return None;
        }
        let changes = changes(done);
        // An element that no other iteration reaches may be changed in any way.
        let is_shared = match &self.argument.made {
            Made::Dat(dat) => !dat.map.is_null(),
            _ => true,
        };
        match self.argument.mode().ok()? {
            Mode::Read if changes => Some((true, "is OP_READ, but the kernel writes it".to_string())),
            Mode::Increment if is_shared && !self.only_adds(done) => Some((
                false,
                match self.assigns(done) {
                    true => "is OP_INC, but the kernel assigns to it: increments of other elements may be lost",
                    false => "is OP_INC, but the kernel reads it: its value depends on the order of the elements",
                }
                .to_string(),
            )),
            mode @ (Mode::Min | Mode::Max) if !increments::may_compare(done) => {
                let name = if mode == Mode::Min { "OP_MIN" } else { "OP_MAX" };
                let what = format!("is {name}, but the kernel assigns to it without comparing");
                Some((false, what))
            }
            Mode::Write if !changes => Some((
                false,
                "is OP_WRITE, but the kernel does not write it".to_string(),
            )),
            _ => None,
        }
    }

    /// What the kernel does as it is written, where it gets one element.
    fn as_written(&self) -> Option<Uses> {
        let is_one = !self.argument.is_several();
        let done = is_one.then(|| uses(self.original.parameters()[self.at]));
        done.filter(|uses| !uses.escapes)
    }

    /// What the kernel's parameters lead to.
    fn accesses(&self) -> Vec<Access<'m>> {
        let all = 0..self.described.arguments.len();
        all.map(|at| self.described.whereabouts(at)).collect()
    }

    /// The parameters, with that.
    fn parameters<'b>(&self, accesses: &'b [Access<'m>]) -> Vec<Parameter<'b>>
    where
        'm: 'b,
    {
        let kinds = self.described.arguments.iter().map(|one| one.made.kind());
        Parameter::of(&kinds.collect::<Vec<_>>(), accesses)
    }

    /// It is enough that this can be seen in one of its forms.
    fn only_adds(&self, done: &Uses) -> bool {
        let accesses = self.accesses();
        let parameters = self.parameters(&accesses);
        let kernel = Kernel::of(self.copy, self.kernel, &parameters);
        let as_written = self.as_written();
        let forms: Vec<_> = [done].into_iter().chain(&as_written).collect();
        increments::only_adds(&kernel, self.at, &forms)
    }

    /// As opposed to reading.
    fn assigns(&self, done: &Uses) -> bool {
        self.as_written().map_or(done.writes, |uses| uses.writes)
    }
}

fn changes(done: &Uses) -> bool {
    done.writes || done.increments || done.minimises || done.maximises
}
