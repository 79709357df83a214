//! The steps of a region: what its barriers separate, in its body and in the functions that it calls.
//!
//! What separates, and what the parts of a step are, a front end says ([`Rules`]). Code that is cut is a function, or some
//! of its blocks, such as the body of a loop.
//!
//! Guarantee: instructions of different steps do not run at the same time on threads of one team, but for those of
//! functions that a step with something unknown may call. A barrier separates what comes before it from what comes
//! behind it only where no other way leads from the one to the other: a barrier that a condition passes by joins them.
//! That is what it means to threads of OpenMP. Where all of the team have to meet, the front end asks for the
//! [`Barrier`]s, and for the conditions that they stand under ([`crate::analysis::meeting`]).
//! A function with barriers or with loops that the team shares is looked at anew for each call.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use crate::analysis::call_graph::CallGraph;
use crate::analysis::library::{calls_back, known};
use crate::analysis::runtime::is_of_runtime;
use crate::diagnostic::user_name;
use crate::ir::{Code, Edge, Part, Span, Step, Sync};
use crate::llvm::{Block, Call, Function, Instruction, Opcode, demangle};
use crate::marks::is_okl_marker;

/// Most spans of a region; in a larger one calls are no longer followed.
const MOST_NODES: usize = 20_000;

/// What a front end says of the code of one kind of team.
#[derive(Clone, Copy)]
pub struct Rules<'a, 'm> {
    /// Whether all of the team meet at an instruction.
    pub separates: &'a dyn Fn(Instruction<'m>) -> bool,
    /// Where control may go from the end of a block for one of the team.
    pub next: &'a dyn Fn(Block<'m>) -> Vec<Block<'m>>,
    /// The constructs that begin in some blocks of a function, in the order of their beginnings.
    pub constructs: &'a dyn Fn(&[Block<'m>]) -> Vec<Construct<'m>>,
}

/// A construct in a function: what becomes a part of a step.
pub struct Construct<'m> {
    /// Where it begins.
    pub begins: Instruction<'m>,
    /// What it is, or why that is not clear: the end of a sentence that begins with "it".
    pub part: Result<Part<'m>, String>,
}

/// What some code was cut into.
pub struct Steps<'m> {
    /// What nothing separates, in the order in which it is first reached.
    pub steps: Vec<Step<'m>>,
    /// How control goes from step to step.
    pub edges: Vec<Edge>,
    /// The places at which the team meets: those of functions that are called once for each call.
    pub barriers: Vec<Barrier<'m>>,
}

/// A place at which the team meets.
pub struct Barrier<'m> {
    /// The calls that lead to it, one in the other, and the barrier itself.
    pub path: Vec<Instruction<'m>>,
}

/// What is remembered of functions from one region to the next.
pub struct Callees<'a, 'm> {
    graph: &'a CallGraph<'m>,
    rules: Rules<'a, 'm>,
    has_parts: HashMap<Function<'m>, bool>,
    unknown: HashMap<Function<'m>, Option<(Instruction<'m>, String)>>,
}

impl<'a, 'm> Callees<'a, 'm> {
    /// Nothing yet.
    pub fn new(graph: &'a CallGraph<'m>, rules: Rules<'a, 'm>) -> Self {
        Self {
            graph,
            rules,
            has_parts: HashMap::new(),
            unknown: HashMap::new(),
        }
    }

    /// Whether a function, or one that it calls, meets the team or divides work among its threads.
    fn has_parts(&mut self, function: Function<'m>) -> bool {
        if let Some(&known) = self.has_parts.get(&function) {
            return known;
        }
        // Of one that is being asked for further up: it is the other calls that decide.
        self.has_parts.insert(function, false);
        let mut instructions = function.instructions().into_iter();
        let answer = instructions.any(|one| (self.rules.separates)(one))
            || !(self.rules.constructs)(&function.blocks()).is_empty()
            || calls(function)
                .into_iter()
                .filter_map(defined)
                .any(|callee| self.has_parts(callee));
        self.has_parts.insert(function, answer);
        answer
    }

    /// The first call, in a function or in one that it calls, of which nobody knows here whether it meets the team.
    fn unknown(&mut self, function: Function<'m>) -> Option<(Instruction<'m>, String)> {
        if let Some(known) = self.unknown.get(&function) {
            return known.clone();
        }
        self.unknown.insert(function, None);
        let mut all = calls(function).into_iter();
        let answer = all.find_map(|call| match defined(call) {
            Some(callee) => self.unknown(callee),
            None => {
                let mut handed = handed_over(call).into_iter();
                unknown_call(call).or_else(|| handed.find_map(|one| self.unknown(one)))
            }
        });
        self.unknown.insert(function, answer.clone());
        answer
    }
}

fn calls(function: Function<'_>) -> Vec<Call<'_>> {
    let all = function.instructions().into_iter();
    all.filter_map(|one| one.as_call()).collect()
}

fn defined<'m>(call: Call<'m>) -> Option<Function<'m>> {
    call.callee_function()
        .filter(|callee| !callee.is_declaration())
}

/// The functions that are handed to a runtime or a library, which may call them.
fn handed_over<'m>(call: Call<'m>) -> Vec<Function<'m>> {
    let functions = call.arguments().into_iter();
    let functions = functions.filter_map(|one| one.through_alias().as_function());
    functions.filter(|one| !one.is_declaration()).collect()
}

/// Why nobody knows what a call of a function of no definition here does to the team.
fn unknown_call<'m>(call: Call<'m>) -> Option<(Instruction<'m>, String)> {
    let reason = match call.callee_function() {
        None if call.callee().as_inline_assembly().is_some() => return None,
        None => "calls through a pointer".to_string(),
        Some(callee) => {
            let name = callee.name();
            let calls_unknown = calls_back(&name) && handed_over(call).is_empty();
            let is_known = callee.is_intrinsic() || is_of_runtime(&name) || is_okl_marker(&name);
            if is_known || known(&name).is_some() {
                return calls_unknown
                    .then(|| (call.instruction(), "calls through a pointer".to_string()));
            }
            format!("calls {}, which is not known here", demangle(&name))
        }
    };
    Some((call.instruction(), reason))
}

/// The steps of some blocks of a function, and the ways between them. The first block is where the team enters them; it
/// leaves them where it returns, where it goes to other blocks, and where it goes back to the first one.
pub fn find<'m>(blocks: &[Block<'m>], callees: &mut Callees<'_, 'm>) -> Steps<'m> {
    let mut cut = Cut {
        callees,
        nodes: Vec::new(),
        joined: Vec::new(),
        barriers: Vec::new(),
        constructs: Vec::new(),
        above: Vec::new(),
        path: Vec::new(),
    };
    let passage = cut.blocks(blocks);
    cut.steps(&passage)
}

/// A span of a function that is looked at.
struct Node<'m> {
    span: Span<'m>,
    /// What it calls that has no parts.
    called: Vec<Function<'m>>,
    unknown: Option<(Instruction<'m>, String)>,
}

/// How control goes through some blocks of a function: its first node, and those at whose ends it leaves them.
struct Passage {
    entry: usize,
    exits: Vec<usize>,
}

struct Cut<'a, 'c, 'm> {
    callees: &'a mut Callees<'c, 'm>,
    nodes: Vec<Node<'m>>,
    /// A node that belongs to the same step, or itself.
    joined: Vec<usize>,
    /// The calls that lead to a barrier and itself, what ends there, and what begins there.
    barriers: Vec<(Vec<Instruction<'m>>, usize, usize)>,
    /// With the node that each of them begins in.
    constructs: Vec<(Construct<'m>, usize)>,
    /// The functions that are being looked at.
    above: Vec<Function<'m>>,
    /// The calls of them.
    path: Vec<Instruction<'m>>,
}

impl<'m> Cut<'_, '_, 'm> {
    fn add(&mut self, span: Span<'m>) -> usize {
        self.nodes.push(Node {
            span,
            called: Vec::new(),
            unknown: None,
        });
        self.joined.push(self.joined.len());
        self.joined.len() - 1
    }

    fn leader(&mut self, mut node: usize) -> usize {
        while self.joined[node] != node {
            self.joined[node] = self.joined[self.joined[node]];
            node = self.joined[node];
        }
        node
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.leader(one), self.leader(other));
        // The one that is reached first stands for both.
        self.joined[one.max(other)] = one.min(other);
    }

    fn note(&mut self, node: usize, unknown: Option<(Instruction<'m>, String)>) {
        let known = &mut self.nodes[node].unknown;
        *known = known.take().or(unknown);
    }

    fn blocks(&mut self, blocks: &[Block<'m>]) -> Passage {
        self.above.push(blocks[0].instructions()[0].function());
        let mut ends = HashMap::new();
        let mut exits = Vec::new();
        let mut pieces = Vec::new();
        for &block in blocks {
            let instructions = block.instructions();
            let span = |from, to| Span { block, from, to };
            let first = self.add(span(0, instructions.len()));
            let mut node = first;
            for (at, &instruction) in instructions.iter().enumerate() {
                let behind = match (self.callees.rules.separates)(instruction) {
                    true => Some(Behind::Barrier),
                    false => instruction.as_call().and_then(|call| self.call(call, node)),
                };
                if let Some(behind) = behind {
                    self.nodes[node].span.to = at + 1;
                    pieces.push(node);
                    node = self.add(span(at + 1, instructions.len()));
                    match behind {
                        Behind::Barrier => {
                            let mut path = self.path.clone();
                            path.push(instruction);
                            self.barriers.push((path, node_before(&pieces), node));
                        }
                        Behind::Callee(passage) => {
                            self.join(node_before(&pieces), passage.entry);
                            for exit in passage.exits {
                                self.join(exit, node);
                            }
                        }
                    }
                }
            }
            pieces.push(node);
            ends.insert(block, (first, node));
            if instructions
                .last()
                .is_some_and(|end| end.opcode() == Opcode::LLVMRet)
            {
                exits.push(node);
            }
        }
        for &block in blocks {
            let last = ends[&block].1;
            for next in (self.callees.rules.next)(block) {
                match ends.get(&next).filter(|_| next != blocks[0]) {
                    Some(&(first, _)) => self.join(last, first),
                    None => exits.push(last),
                }
            }
        }
        for construct in (self.callees.rules.constructs)(blocks) {
            let begins = construct.begins;
            let is_there = |node: &&usize| self.nodes[**node].span.has(begins);
            if let Some(&node) = pieces.iter().find(is_there) {
                self.constructs.push((construct, node));
            }
        }
        self.above.pop();
        Passage {
            entry: ends[&blocks[0]].0,
            exits,
        }
    }

    /// What follows on a call that ends a node.
    fn call(&mut self, call: Call<'m>, node: usize) -> Option<Behind> {
        let Some(callee) = defined(call) else {
            self.note(node, unknown_call(call));
            for function in handed_over(call) {
                let unknown = self.callees.unknown(function);
                self.note(node, unknown);
                self.nodes[node].called.push(function);
            }
            return None;
        };
        if !self.callees.has_parts(callee) {
            let unknown = self.callees.unknown(callee);
            self.note(node, unknown);
            self.nodes[node].called.push(callee);
            return None;
        }
        if self.above.contains(&callee) || self.nodes.len() > MOST_NODES {
            let reason = format!("calls {}, which is recursive", user_name(callee));
            self.note(node, Some((call.instruction(), reason)));
            return None;
        }
        self.path.push(call.instruction());
        let passage = self.blocks(&callee.blocks());
        self.path.pop();
        Some(Behind::Callee(passage))
    }

    fn steps(mut self, passage: &Passage) -> Steps<'m> {
        // Numbers in the order in which control reaches them.
        let mut number: HashMap<usize, usize> = HashMap::new();
        let entry = self.leader(passage.entry);
        let mut rest = vec![entry];
        let barriers: Vec<_> = std::mem::take(&mut self.barriers)
            .into_iter()
            .map(|(path, from, to)| (path, self.leader(from), self.leader(to)))
            .collect();
        while let Some(next) = rest.pop() {
            if number.contains_key(&next) {
                continue;
            }
            number.insert(next, number.len());
            let follow = barriers.iter().rev().filter(|(_, from, _)| *from == next);
            rest.extend(follow.map(|(_, _, to)| *to));
        }
        let mut steps: Vec<Step<'m>> = number.iter().map(|_| Step::default()).collect();
        let step_of: Vec<_> = (0..self.nodes.len())
            .map(|node| number.get(&self.leader(node)).copied())
            .collect();
        let mut taken: HashMap<usize, Vec<Span<'m>>> = HashMap::new();
        for (construct, node) in std::mem::take(&mut self.constructs) {
            let Some(step) = step_of[node] else { continue };
            match construct.part {
                Ok(part) => {
                    let spans = part.code().into_iter().flat_map(|code| &code.spans);
                    taken.entry(step).or_default().extend(spans);
                    steps[step].parts.push(part);
                }
                Err(reason) => {
                    let unknown = &mut steps[step].unknown;
                    *unknown = unknown.take().or(Some((construct.begins, reason)));
                }
            }
        }
        for (at, step) in steps.iter_mut().enumerate() {
            let own = (0..self.nodes.len()).filter(|&node| step_of[node] == Some(at));
            let mut code = Code::default();
            let mut called = HashSet::new();
            for node in own {
                let node = &self.nodes[node];
                step.unknown = step.unknown.take().or(node.unknown.clone());
                let others = taken.get(&at).map_or(&[][..], Vec::as_slice);
                code.spans.extend(node.span.without(others));
                for &function in &node.called {
                    if called.insert(function) {
                        for one in self.callees.graph.reachable(function) {
                            called.insert(one);
                        }
                    }
                }
            }
            step.called = called;
            if !code.spans.is_empty() {
                step.parts.push(Part::Each(code));
            }
        }
        let mut edges = vec![Edge {
            from: None,
            sync: Sync::Fork,
            to: Some(0),
        }];
        for (_, from, to) in &barriers {
            let (from, to) = (number.get(from).copied(), number.get(to).copied());
            let edge = Edge {
                from,
                sync: Sync::Barrier,
                to,
            };
            if from.is_some() && !edges.contains(&edge) {
                edges.push(edge);
            }
        }
        for &exit in &passage.exits {
            let edge = Edge {
                from: step_of[exit],
                sync: Sync::Join,
                to: None,
            };
            if edge.from.is_some() && !edges.contains(&edge) {
                edges.push(edge);
            }
        }
        let barriers = barriers.into_iter();
        let barriers = barriers.map(|(path, ..)| Barrier { path });
        Steps {
            steps,
            edges,
            barriers: barriers.collect(),
        }
    }
}

enum Behind {
    Barrier,
    Callee(Passage),
}

fn node_before(pieces: &[usize]) -> usize {
    *pieces.last().expect("the node that has just ended")
}
