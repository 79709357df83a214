//! The regions of a module, with everything they reach.

use std::collections::HashMap;

use super::{Direct, FunctionSections, Spoiled, analyse};
use crate::llvm::{Function, Instruction, Module};

/// A region whose accesses are looked for.
pub struct Region<'m> {
    /// The outlined body.
    pub body: Function<'m>,
    /// What keeps it from declaring all its accesses.
    pub spoiled: Option<Spoiled<'m>>,
    /// Accesses it does not declare, where it declares all others.
    pub direct: Vec<Direct<'m>>,
    /// The functions it consists of, the body first.
    pub functions: Vec<Function<'m>>,
}

/// The regions and the functions they consist of.
pub struct Program<'m> {
    /// One for each body.
    pub regions: Vec<Region<'m>>,
    functions: HashMap<Function<'m>, FunctionSections<'m>>,
}

impl<'m> Program<'m> {
    /// Analyses the regions with these bodies.
    pub fn of(module: &'m Module, bodies: &[Function<'m>]) -> Self {
        // A function that declares what it accesses must not be called from within a nest, even
        // where the call as such would be harmless there. So the functions that are called
        // elsewhere are found first; each round can only find more.
        let mut declaring: Vec<Function<'m>> = Vec::new();
        loop {
            let functions = analyse_all(module, bodies, &declaring);
            let called: Vec<_> = functions.keys().copied().collect();
            let grown = called.len() > declaring.len();
            if grown {
                declaring = called;
                continue;
            }
            let regions = bodies
                .iter()
                .map(|&body| region(body, bodies, &functions))
                .collect();
            return Self { regions, functions };
        }
    }

    /// What a function of a region accesses.
    pub fn function(&self, function: Function<'m>) -> &FunctionSections<'m> {
        &self.functions[&function]
    }

    /// The functions of regions that declare everything.
    pub fn complete_functions(&self) -> Vec<Function<'m>> {
        let mut list = Vec::new();
        for region in &self.regions {
            if region.spoiled.is_none() {
                for &function in &region.functions {
                    if !list.contains(&function) {
                        list.push(function);
                    }
                }
            }
        }
        list
    }
}

fn analyse_all<'m>(
    module: &'m Module,
    bodies: &[Function<'m>],
    declaring: &[Function<'m>],
) -> HashMap<Function<'m>, FunctionSections<'m>> {
    let mut functions = HashMap::new();
    let mut rest = bodies.to_vec();
    while let Some(function) = rest.pop() {
        if functions.contains_key(&function) {
            continue;
        }
        let sections = analyse(module, function, bodies.contains(&function), &|callee| {
            declaring.contains(&callee)
        });
        rest.extend(sections.callees.iter().map(|(callee, _)| *callee));
        functions.insert(function, sections);
    }
    functions
}

fn region<'m>(
    body: Function<'m>,
    bodies: &[Function<'m>],
    functions: &HashMap<Function<'m>, FunctionSections<'m>>,
) -> Region<'m> {
    let mut region = Region {
        body,
        spoiled: None,
        direct: Vec::new(),
        functions: Vec::new(),
    };
    let mut rest: Vec<(Function<'m>, Option<Instruction<'m>>)> = vec![(body, None)];
    while let Some((function, call)) = rest.pop() {
        if region.functions.contains(&function) {
            continue;
        }
        region.functions.push(function);
        let sections = &functions[&function];
        if region.spoiled.is_none() {
            region.spoiled = match call {
                // Its parameters are not those of this region's fork.
                Some(at) if bodies.contains(&function) => Some(Spoiled {
                    at,
                    reason: "runs the body of another region".to_string(),
                }),
                _ => sections.spoiled.clone(),
            };
        }
        for one in &sections.direct {
            if !region.direct.contains(one) {
                region.direct.push(one.clone());
            }
        }
        let callees = sections.callees.iter().rev();
        rest.extend(callees.map(|&(callee, at)| (callee, Some(at))));
    }
    region
}
