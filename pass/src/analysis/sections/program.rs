//! The regions of a module, with everything they reach.

use std::collections::HashSet;
use std::rc::Rc;

use super::plainness::has_no_atomics;
use super::{Direct, FunctionSections, Known, Scan, Spoiled};
use crate::llvm::{Function, Module};

/// A region whose accesses are looked for.
pub struct Region<'m> {
    /// The outlined body.
    pub body: Function<'m>,
    /// What keeps it from declaring all its accesses.
    pub spoiled: Option<Spoiled<'m>>,
    /// Whether its threads access shared memory by loads and stores alone.
    pub no_atomics: bool,
    /// Accesses it does not declare, where it declares all others.
    pub direct: Vec<Direct<'m>>,
    /// Code that declares nothing, and after which the program goes on.
    pub stretches: Vec<Spoiled<'m>>,
    /// The functions that declare something, the body first.
    pub functions: Vec<Rc<FunctionSections<'m>>>,
}

/// Analyses the regions with these bodies.
pub fn regions<'m>(module: &'m Module, bodies: &[Function<'m>]) -> Vec<Region<'m>> {
    let mut known = Known::new();
    for &body in bodies {
        analyse(module, bodies, body, &mut known, &mut HashSet::new());
    }
    bodies.iter().map(|body| region(*body, &known)).collect()
}

/// Analyses a function after those it calls.
fn analyse<'m>(
    module: &'m Module,
    bodies: &[Function<'m>],
    function: Function<'m>,
    known: &mut Known<'m>,
    under_way: &mut HashSet<Function<'m>>,
) {
    if known.contains_key(&function) || !under_way.insert(function) {
        return;
    }
    let mut scan = Scan::of(module, function, bodies.contains(&function));
    for (callee, at) in scan.called.clone() {
        // Its parameters are not those of this region's fork.
        if bodies.contains(&callee) {
            scan.spoil(at, "runs the body of another region".to_string());
        }
        analyse(module, bodies, callee, known, under_way);
    }
    known.insert(function, Rc::new(scan.finish(known)));
    under_way.remove(&function);
}

fn region<'m>(body: Function<'m>, known: &Known<'m>) -> Region<'m> {
    let sections = &known[&body];
    let mut region = Region {
        body,
        spoiled: sections.spoiled.clone(),
        no_atomics: has_no_atomics(body),
        direct: sections.direct.clone(),
        stretches: Vec::new(),
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
    let handles = region.functions.iter().any(|one| !one.handlers.is_empty());
    let stretches = region.functions.iter().flat_map(|one| &one.stretches);
    let stretches = stretches.filter(|one| !one.ends_program(handles));
    region.stretches = stretches.map(|one| one.spoiled.clone()).collect();
    let declarations = region.functions.iter().flat_map(|one| &one.declarations);
    if declarations.into_iter().all(|one| !one.is_nest) && region.spoiled.is_none() {
        // There is nothing to declare apart from it.
        region.spoiled = region.stretches.first().cloned();
    }
    region
}
