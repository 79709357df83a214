//! The regions of a module, and the functions that regions of other files may reach, with everything that they reach.

use std::collections::HashSet;
use std::rc::Rc;

use super::plainness::has_no_atomics;
use super::{Direct, FunctionSections, Known, Scan, Spoiled, Stretch, can_be_copied};
use crate::analysis::call_graph::{is_final, reached};
use crate::llvm::{Call, Function, Instruction, Module};

/// Larger functions are not put in place of their calls.
const MOST_INSTRUCTIONS: usize = 600;

/// A region whose accesses are looked for, or a function that may be called in one of another file.
pub struct Region<'m> {
    /// The outlined body, or the function.
    pub body: Function<'m>,
    /// What keeps it from declaring all its accesses.
    pub spoiled: Option<Spoiled<'m>>,
    /// Whether its threads access shared memory by loads and stores alone.
    pub no_atomics: bool,
    /// The same, but for what functions do of other files that it calls.
    pub no_atomics_here: bool,
    /// Accesses it does not declare, where it declares all others.
    pub direct: Vec<Direct<'m>>,
    /// Code that declares nothing, and after which the program goes on.
    pub stretches: Vec<Spoiled<'m>>,
    /// Code of which it is known when the program starts whether it is such.
    pub dependent: Vec<Spoiled<'m>>,
    /// Whether all loop nests that are declared are in that, or in functions that it calls.
    pub nests_depend: bool,
    /// Whether its threads tell each other by flags how far they are.
    pub has_flags: bool,
    /// A read, if there is one, that it does not declare, where it declares all writes.
    pub reads_elsewhere: Option<Instruction<'m>>,
    /// The functions that declare something, the body first.
    pub functions: Vec<Rc<FunctionSections<'m>>>,
}

/// What has been found out of a module's functions.
pub struct Program<'m> {
    known: Known<'m>,
}

impl<'m> Program<'m> {
    /// Analyses regions with these bodies, and functions.
    pub fn of(module: &'m Module, bodies: &[Function<'m>], functions: &[Function<'m>]) -> Self {
        Self::with_reads_elsewhere(module, bodies, functions, &HashSet::new())
    }

    /// The same; regions that would track all pages, or have stretches, declare instead all but some reads where that is all
    /// they lack. Pages serve these reads: so what others have written must be known by synchronisations alone.
    pub fn of_ranks(
        module: &'m Module,
        bodies: &[Function<'m>],
        functions: &[Function<'m>],
    ) -> Self {
        let program = Self::of(module, bodies, functions);
        let lacks_something = |region: &Region<'m>| {
            region.spoiled.is_some() || !region.stretches.is_empty() || !region.dependent.is_empty()
        };
        let mut some: HashSet<_> = bodies.iter().copied().collect();
        some.retain(|&body| {
            let region = program.region(body);
            lacks_something(&region) && region.no_atomics && !region.has_flags
        });
        while !some.is_empty() {
            let others = bodies.iter().filter(|body| !some.contains(body));
            let by_others: HashSet<_> = others
                .chain(functions)
                .flat_map(|&one| reached(one))
                .collect();
            let mut functions_of_some: HashSet<_> =
                some.iter().flat_map(|&one| reached(one)).collect();
            functions_of_some.retain(|one| !by_others.contains(one));
            let with = Self::with_reads_elsewhere(module, bodies, functions, &functions_of_some);
            let before = some.len();
            some.retain(|&body| !lacks_something(&with.region(body)));
            if some.len() == before {
                return with;
            }
        }
        program
    }

    fn with_reads_elsewhere(
        module: &'m Module,
        bodies: &[Function<'m>],
        functions: &[Function<'m>],
        may_read_elsewhere: &HashSet<Function<'m>>,
    ) -> Self {
        let mut known = Known::new();
        for &one in bodies.iter().chain(functions) {
            let mut under_way = HashSet::new();
            analyse(
                module,
                bodies,
                may_read_elsewhere,
                one,
                &mut known,
                &mut under_way,
            );
        }
        Self { known }
    }

    /// Calls in loops of a region's body for which their functions should stand: in front of the loop it is known what these
    /// access, by what they load behind their parameters, or by what the loop does besides, but not where they are entered.
    pub fn dissolvable(&self, body: Function<'m>) -> Vec<Call<'m>> {
        let sections = &self.known[&body];
        if sections.spoiled.is_some() {
            return Vec::new();
        }
        let calls = sections.stretches.iter().filter_map(|one| {
            let call = (*one.spoiled.at).as_call()?;
            let callee = call.callee_function()?;
            (one.spoiled.at.function() == body && self.can_dissolve(callee)).then_some(call)
        });
        calls.collect()
    }

    fn can_dissolve(&self, function: Function<'m>) -> bool {
        self.known.get(&function).is_some_and(|one| {
            let describes_all = one.spoiled.is_none() && one.stretches.is_empty();
            describes_all
                && one.declares_itself()
                && one.depends.is_empty()
                && !one.synchronises
                && !one.shares
        }) && is_final(function)
            && can_be_copied(function)
            && !function.has_attribute("noinline")
            && function.instructions().len() <= MOST_INSTRUCTIONS
    }

    /// The region with this body.
    pub fn region(&self, body: Function<'m>) -> Region<'m> {
        let mut region = self.reached(body, false);
        if region.nests_depend && region.dependent.is_empty() && region.spoiled.is_none() {
            // There is nothing to declare apart from it.
            region.spoiled = region.stretches.first().cloned();
        }
        region
    }

    /// A function that regions of other files may call, if it declares what it accesses; they then need not. They may handle
    /// exceptions.
    pub fn declaring(&self, function: Function<'m>) -> Option<Region<'m>> {
        let sections = &self.known[&function];
        // What only its caller's loops call should not declare anything in each of their turns.
        let is_large = sections.synchronises || sections.shares;
        let declares = sections.spoiled.is_none()
            && is_large
            // The region has to know.
            && !sections.has_flags
            && sections.declares_itself()
            && !sections.leaves_in_nest;
        declares.then(|| self.reached(function, true))
    }

    fn reached(&self, body: Function<'m>, is_handled: bool) -> Region<'m> {
        let known = &self.known;
        let sections = &known[&body];
        let mut region = Region {
            body,
            spoiled: sections.spoiled.clone(),
            no_atomics: has_no_atomics(body, &HashSet::new()),
            no_atomics_here: false,
            direct: sections.direct.clone(),
            stretches: Vec::new(),
            dependent: Vec::new(),
            nests_depend: false,
            has_flags: sections.has_flags,
            reads_elsewhere: sections.reads_elsewhere,
            functions: Vec::new(),
        };
        let mut listed = HashSet::new();
        let mut rest = vec![body];
        while let Some(function) = rest.pop() {
            if listed.insert(function) {
                rest.extend(known[&function].callees.iter().rev());
                region.functions.push(Rc::clone(&known[&function]));
            }
        }
        let functions = region.functions.clone();
        let handles = is_handled || functions.iter().any(|one| !one.handlers.is_empty());
        let stretches = functions.iter().flat_map(|one| &one.stretches);
        let (dependent, certain): (Vec<_>, Vec<_>) =
            stretches.partition(|one| !one.depends.is_empty());
        let certain = certain.iter().filter(|one| !one.ends_program(handles));
        region.stretches = certain.map(|one| one.spoiled.clone()).collect();
        region.dependent = dependent.iter().map(|one| one.spoiled.clone()).collect();
        let depends = dependent.iter().flat_map(|one| &one.depends);
        let called: HashSet<_> = depends.map(|one| one.callee).collect();
        region.no_atomics_here = has_no_atomics(body, &called);
        let is_certain = |function: &FunctionSections<'m>| {
            let mut nests = function.declarations.iter().filter(|one| one.is_nest);
            let depends = |before| {
                let mut all = dependent.iter();
                all.any(|one: &&Stretch<'m>| one.is_nest && one.before == before)
            };
            nests.any(|one| !depends(one.before))
        };
        region.nests_depend = !functions.iter().any(|one| is_certain(one));
        region
    }
}

/// Analyses a function after those it calls.
fn analyse<'m>(
    module: &'m Module,
    bodies: &[Function<'m>],
    may_read_elsewhere: &HashSet<Function<'m>>,
    function: Function<'m>,
    known: &mut Known<'m>,
    under_way: &mut HashSet<Function<'m>>,
) {
    if known.contains_key(&function) || !under_way.insert(function) {
        return;
    }
    let may_read = may_read_elsewhere.contains(&function);
    let mut scan = Scan::of(module, function, bodies.contains(&function), may_read);
    for (callee, at) in scan.called.clone() {
        // Its parameters are not those of this region's fork.
        if bodies.contains(&callee) {
            scan.spoil(at, "runs the body of another region".to_string());
        }
        analyse(module, bodies, may_read_elsewhere, callee, known, under_way);
    }
    known.insert(function, Rc::new(scan.finish(known)));
    under_way.remove(&function);
}
