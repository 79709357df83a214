//! OKL's kernels, as C++ with annotations: functions with `okl.kernel`, loops whose iterators have `okl.outer` or
//! `okl.inner`, variables with `okl.shared` or `okl.exclusive`, and calls that mark barriers. The driver makes it of OKL's
//! text.
//!
//! A nest of outer loops is a parallel loop, which runs a block of work items for each iteration: a region. Outer loops side
//! by side in one are a part of the region of that one, which runs their blocks one after the other. What is written in it and not in an inner loop each work item runs; the inner loops they share, one iteration for each. They
//! meet at the end of a nest of inner loops and at barriers, also inside of one, where each of them stands at one iteration:
//! under a condition or in a loop only where that is the same for all of them.
//!
//! A kernel in which anything is wrong is a mistake in the program: run in the order in which it is written it may compute
//! something else.

mod annotations;
mod attributes;
mod checks;
mod loops;
mod races;
mod tiles;

use crate::analysis::call_graph::CallGraph;
use crate::analysis::meeting::{self, ItemCode, is_barrier};
use crate::attributes::Place;
use crate::attributes::max_inner_dims::MAX_INNER_DIMS;
use crate::diagnostic::{Declined, Site};
use crate::ir::{
    Body, Code, Description, Local, Origin, ParallelLoop, Part, Region, Schedule, Space, Span, Team,
};
use crate::llvm::{Block, Function, Instruction, Module};
use crate::marks::LOWERED_KERNEL;
use crate::recognise::steps::{self, Callees, Construct, Rules, Steps};
use crate::recognise::{Found, KeepsThreads};

use annotations::{Annotation, What};
use loops::{Loop, above};

pub use annotations::{Kind, entry_of};
pub use attributes::Use;
pub use loops::Wrong;

/// Makes two loops of each loop that is a tile, where all of them are right. True where there are any.
pub fn prepare(module: &Module) -> bool {
    tiles::prepare(module)
}

fn is_tile(one: &Annotation<'_>) -> bool {
    matches!(one.what, What::Tile(_))
}

/// Adds the kernels of a module.
pub fn recognise<'m>(module: &'m Module, found: &mut Found<'m>) {
    if !annotations::are_used(module) {
        return;
    }
    let kernels = annotations::kernels(module);
    found.markers.extend(annotations::markers(module));
    for (variable, what, place) in annotations::globals(module) {
        let told = "exists once in the program: it is declared in a kernel, and not static";
        let told = match variable.source_location().is_empty() {
            true => format!("{place}: this @{what} variable {told}"),
            false => format!("this @{what} variable {told}"),
        };
        found.mistakes.push(Declined {
            site: Site::Global(variable),
            reason: told,
        });
    }
    let mut with_inner = Vec::new();
    let functions = module.functions().into_iter();
    for function in functions.filter(|one| !kernels.iter().any(|(kernel, _)| kernel == one)) {
        let said = annotations::of(function);
        for one in &said {
            let is_loop = |other: &&Annotation<'m>| {
                matches!(other.what, What::Loop(..) | What::Tile(_))
                    && other.variable == one.variable
            };
            let what = match &one.what {
                What::Loop(kind, _) => format!("{} loop", kind.name()),
                // The loop itself is told of.
                What::Attribute(..) if said.iter().any(|other| is_loop(&other)) => continue,
                What::Attribute(row, _) if row.places.contains(&Place::Loop) => {
                    format!("@{} loop", row.name)
                }
                What::Attribute(row, _) => format!("@{} variable", row.name),
                What::Tile(_) => "@tile loop".to_string(),
                What::Shared => "@shared variable".to_string(),
                What::Exclusive => "@exclusive variable".to_string(),
                What::Other(_) => continue,
            };
            if matches!(one.what, What::Loop(Kind::Inner, _)) {
                with_inner.push(function);
            }
            let told = format!("this {what} is in a function that is no kernel");
            add(found, vec![(one.site.instruction(), told)]);
        }
    }
    if kernels.iter().any(|(one, _)| !one.is_declaration()) {
        // What was lowered before has regions, too.
        found.keeps_threads.get_or_insert(KeepsThreads {
            why: "the file has OKL kernels",
            unless_asked: true,
        });
    }
    let is_left =
        |(one, _): &(Function<'m>, String)| !one.is_declaration() && !LOWERED_KERNEL.is_on(*one);
    let mut kernels = kernels.into_iter().filter(is_left).peekable();
    if kernels.peek().is_none() {
        return;
    }
    if let Err(wrong) = tiles::check(module) {
        add(found, wrong);
    }
    let graph = CallGraph::of(module);
    for (function, place) in kernels {
        // Its loops are not yet what they are to be: a tile is wrong, here or in another kernel.
        if annotations::of(function).iter().any(is_tile) {
            continue;
        }
        if let Some(told) = checks::function(function) {
            found.mistakes.push(Declined {
                site: Site::Function(function),
                reason: told,
            });
            continue;
        }
        let kernel = Kernel::of(module, function, place);
        match kernel.and_then(|kernel| Ok((kernel.parallel_loops(&graph)?, kernel))) {
            Ok((loops, kernel)) => {
                found.loops.extend(loops);
                found.kernels.push(kernel);
            }
            Err(mut wrong) => {
                // They are told of where they are.
                let calls = || {
                    function
                        .instructions()
                        .into_iter()
                        .filter_map(|one| one.as_call())
                };
                let mut called = calls().filter_map(|call| call.callee_function());
                if called.any(|callee| with_inner.contains(&callee)) {
                    wrong.retain(|(_, told)| told != loops::NO_INNER);
                }
                add(found, wrong);
            }
        }
    }
}

/// Adds mistakes, each once: what two loops of one tile have in common is one.
fn add<'m>(found: &mut Found<'m>, wrong: Vec<Wrong<'m>>) {
    for (at, reason) in wrong {
        let site = Site::Instruction(at);
        let is_known = |known: &Declined<'m>| match known.site {
            Site::Instruction(other) => {
                known.reason == reason
                    && known.site.to_string() == site.to_string()
                    && other.source_column() == at.source_column()
            }
            _ => false,
        };
        if !found.mistakes.iter().any(is_known) {
            found.mistakes.push(Declined { site, reason });
        }
    }
}

/// A kernel, whose loops are where they may be.
pub struct Kernel<'m> {
    /// The module that it is in.
    pub module: &'m Module,
    /// Its code.
    pub function: Function<'m>,
    /// `file:line`; empty where nothing says so.
    pub place: String,
    said: Vec<Annotation<'m>>,
    /// Its `@outer` and `@inner` loops.
    pub loops: Vec<Loop<'m>>,
    /// The direction of each loop.
    pub axes: Vec<usize>,
    /// Where attributes stand that have files of their own.
    uses: Vec<Use<'m>>,
}

/// Code of an inner nest that nothing separates: of the innermost loop of these.
struct Segment<'m> {
    /// The loops, the outermost first.
    path: Vec<usize>,
    begins: Instruction<'m>,
    code: Code<'m>,
}

impl<'m> Kernel<'m> {
    fn of(
        module: &'m Module,
        function: Function<'m>,
        place: String,
    ) -> Result<Self, Vec<Wrong<'m>>> {
        let natural = function.loops();
        let said = annotations::of(function);
        let (mut wrong, mut wrong_loops) = (Vec::new(), Vec::new());
        let mut loops = Vec::new();
        for one in &said {
            wrong.extend(checks::annotation(one, &said));
            if let What::Loop(kind, axis) = one.what {
                match Loop::of(one, kind, axis, &natural, &said) {
                    Ok(one) => loops.push(one),
                    Err(one) => wrong_loops.push(one),
                }
            }
        }
        wrong.extend(loops::causes(wrong_loops));
        if wrong.is_empty() {
            wrong = loops::nest(&mut loops, &natural);
        }
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let axes = loops::axes(&loops).map_err(|one| vec![one])?;
        let mut kernel = Self {
            module,
            function,
            place,
            said,
            loops,
            axes,
            uses: Vec::new(),
        };
        let mut wrong = kernel.check();
        wrong.extend(kernel.find_uses(&natural));
        match wrong.is_empty() {
            true => Ok(kernel),
            false => Err(wrong),
        }
    }

    /// The loops of a kind.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = usize> {
        (0..self.loops.len()).filter(move |&at| self.loops[at].kind == kind)
    }

    /// The loops of a kind that are in none of their kind.
    pub fn outermost(&self, kind: Kind) -> impl Iterator<Item = usize> {
        self.of_kind(kind).filter(move |&at| {
            let parent = self.loops[at].parent;
            parent.is_none_or(|parent| self.loops[parent].kind != kind)
        })
    }

    /// The loops of a kind in which none of their kind are.
    fn innermost(&self, kind: Kind) -> impl Iterator<Item = usize> {
        self.of_kind(kind).filter(move |&at| {
            let mut of_kind = self.of_kind(kind);
            !of_kind.any(|other| self.loops[other].parent == Some(at))
        })
    }

    /// A loop, and those of its kind around it, the outermost first.
    fn path(&self, to: usize) -> Vec<usize> {
        let kind = self.loops[to].kind;
        let around = above(&self.loops, to).into_iter();
        let mut path: Vec<_> = around.filter(|&at| self.loops[at].kind == kind).collect();
        path.insert(0, to);
        path.reverse();
        path
    }

    /// The innermost of the loops that an instruction is in.
    fn around(&self, block: Block<'m>) -> Option<usize> {
        let has = |&at: &usize| self.loops[at].has(block);
        let inside = (0..self.loops.len()).filter(has);
        inside.min_by_key(|&at| self.loops[at].counter.blocks.len())
    }

    /// The blocks of an iteration, the first one first.
    fn body(&self, of: usize) -> Vec<Block<'m>> {
        let one = &self.loops[of];
        let is_other =
            |block: &Block<'m>| one.has(*block) && ![one.header, one.counter.body].contains(block);
        let others = self.function.blocks().into_iter().filter(is_other);
        [one.counter.body].into_iter().chain(others).collect()
    }

    /// So many work items there are at most in a direction of a block, as the program says it of the outermost loop around
    /// them.
    pub fn most_items(&self, outermost: usize, axis: usize) -> Option<i64> {
        let of_it = |one: &&Use<'m>| {
            one.variable == self.loops[outermost].variable && *one.attribute == MAX_INNER_DIMS
        };
        let said = self.uses.iter().find(of_it)?;
        // What is not named is one.
        Some(said.numbers.get(axis).copied().unwrap_or(1))
    }

    /// The outermost loop around one, which may be itself.
    pub fn outermost_of(&self, at: usize) -> usize {
        above(&self.loops, at).last().copied().unwrap_or(at)
    }

    fn parallel_loops(
        &self,
        graph: &CallGraph<'m>,
    ) -> Result<Vec<ParallelLoop<'m>>, Vec<Wrong<'m>>> {
        let leaves: Vec<_> = self.innermost(Kind::Inner).collect();
        let mut segments = Vec::new();
        let mut wrong = Vec::new();
        for leaf in leaves {
            match self.segments(leaf, graph) {
                Ok(some) => {
                    wrong.extend(some.iter().flat_map(|one| races::of(self, one)));
                    segments.extend(some);
                }
                Err(one) => wrong.push(one),
            }
        }
        wrong.extend(races::between(self, &segments));
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let all = self
            .outermost(Kind::Outer)
            .map(|outer| self.blocks_of(outer));
        let all = all.map(|outer| self.parallel_loop(outer, &segments, graph));
        Ok(all.collect())
    }

    /// The innermost of the outer loops that all inner loops of an outermost one are in: those side by side in it, and those
    /// in another loop, are part of its blocks.
    fn blocks_of(&self, outermost: usize) -> usize {
        let mut innermost = outermost;
        loop {
            let of_kind = self.of_kind(Kind::Outer);
            let mut inside = of_kind.filter(|&at| self.loops[at].parent == Some(innermost));
            match (inside.next(), inside.next()) {
                (Some(one), None) if !self.loops[one].is_apart => innermost = one,
                _ => return innermost,
            }
        }
    }

    /// What barriers separate in the iterations of an innermost inner loop.
    fn segments(&self, leaf: usize, graph: &CallGraph<'m>) -> Result<Vec<Segment<'m>>, Wrong<'m>> {
        let rules = Rules {
            separates: &is_barrier,
            next: &|block| block.successors(),
            constructs: &|_| Vec::new(),
        };
        let blocks = self.body(leaf);
        let Steps {
            steps, barriers, ..
        } = steps::find(&blocks, &mut Callees::new(graph, rules));
        if let Some(one) = barriers.iter().find(|one| one.path.len() > 1) {
            let told = "the function that is called here has a barrier: inside of an @inner loop barriers stand in the \
                        loop itself";
            return Err((one.path[0], told.to_string()));
        }
        let path = self.path(leaf);
        let nest = &self.loops[path[0]].counter.blocks;
        let code = ItemCode {
            blocks: &blocks,
            end: self.loops[leaf].counter.steps.block(),
            nest,
        };
        if !barriers.is_empty()
            && let Err(at) = meeting::cut(&code)
        {
            let told = "this barrier stands under a condition or in a loop inside of an @inner loop that may differ between \
                        work items: it is not sure that all work items of the block come to it";
            return Err((at, told.to_string()));
        }
        // The code that counts runs for each part.
        let counts = nest.iter().copied().filter(|block| !blocks.contains(block));
        let counts: Vec<_> = counts.map(whole).collect();
        let first = self.loops[leaf].header.instructions()[0];
        let code = steps.into_iter().map(|step| {
            let parts = step.parts.into_iter();
            let spans = parts.filter_map(|part| Some(part.code()?.spans.clone()));
            spans.flatten().collect::<Vec<_>>()
        });
        let segments = code.enumerate().map(|(at, spans)| {
            let has = |one: &Instruction<'m>| spans.iter().any(|span| span.has(*one));
            let mut behind = barriers.iter().map(|one| behind(one.path[0]));
            let begins = match at {
                0 => first,
                _ => behind.find(has).expect("a step begins behind a barrier"),
            };
            // The place at which it begins comes first.
            let (own, others): (Vec<_>, Vec<_>) =
                spans.into_iter().partition(|one| one.has(begins));
            let spans = own.into_iter().chain(others).chain(counts.iter().copied());
            Segment {
                path: path.clone(),
                begins,
                code: Code {
                    spans: spans.collect(),
                    description: None,
                },
            }
        });
        Ok(segments.collect())
    }

    fn parallel_loop(
        &self,
        outer: usize,
        segments: &[Segment<'m>],
        graph: &CallGraph<'m>,
    ) -> ParallelLoop<'m> {
        let path = self.path(outer);
        let is_inside =
            |segment: &&Segment<'m>| above(&self.loops, segment.path[0]).contains(&outer);
        let segments: Vec<_> = segments.iter().filter(is_inside).collect();
        let constructs = |blocks: &[Block<'m>]| {
            let here = segments
                .iter()
                .filter(|one| blocks.contains(&one.begins.block()));
            let all = here.map(|one| Construct {
                begins: one.begins,
                part: Ok(Part::Share(self.inner(path[0], one))),
            });
            all.collect()
        };
        // A work item runs one iteration of an inner loop, the end of which is its end of the loop.
        let inner: Vec<_> = self
            .of_kind(Kind::Inner)
            .map(|at| &self.loops[at])
            .collect();
        let next = |block: Block<'m>| {
            let of_header = inner.iter().find(|one| one.header == block);
            let of_step = inner.iter().find(|one| one.counter.steps.block() == block);
            match (of_header, of_step) {
                (Some(one), _) => vec![one.counter.body],
                (None, Some(one)) => vec![one.counter.exit],
                (None, None) => block.successors(),
            }
        };
        let ends: Vec<_> = self
            .outermost(Kind::Inner)
            .map(|at| &self.loops[at])
            .collect();
        let separates = |one: Instruction<'m>| {
            is_barrier(one)
                || ends.iter().any(|inner| {
                    let block = inner.counter.steps.block();
                    !inner.no_barrier && one.block() == block && block.terminator() == Some(one)
                })
        };
        let rules = Rules {
            separates: &separates,
            next: &next,
            constructs: &constructs,
        };
        let Steps { steps, edges, .. } =
            steps::find(&self.body(outer), &mut Callees::new(graph, rules));
        let site = self.loops[path[0]].site;
        let call = site.as_call().expect("an annotation is a call");
        let region = Region {
            origin: Origin::OklOuter,
            site: call,
            body: self.function,
            team: Team::Items,
            condition: None,
            captures: Vec::new(),
            locals: self.locals(path[0]),
            steps,
            edges,
        };
        ParallelLoop {
            space: self.space(&path, path[0]),
            body: Body::Region(Box::new(region)),
            ..self.plain(Origin::OklOuter, site)
        }
    }

    /// What work items share of an inner nest between two barriers.
    fn inner(&self, outermost: usize, segment: &Segment<'m>) -> ParallelLoop<'m> {
        let site = self.loops[segment.path[0]].site;
        ParallelLoop {
            space: self.space(&segment.path, outermost),
            body: Body::Code(segment.code.clone()),
            ..self.plain(Origin::OklInner, site)
        }
    }

    fn plain(&self, origin: Origin, site: Instruction<'m>) -> ParallelLoop<'m> {
        ParallelLoop {
            origin,
            site: site.as_call().expect("an annotation is a call"),
            space: Space::Range(Vec::new()),
            body: Body::Code(Code::default()),
            arguments: Vec::new(),
            schedule: Schedule::Any,
            chunk: None,
            ordered: Some(false),
            description: Description::unseen(site),
        }
    }

    fn space(&self, path: &[usize], outermost: usize) -> Space<'m> {
        let extents = path.iter().map(|&at| {
            let (one, axis) = (&self.loops[at], self.axes[at]);
            let most = self.most_items(outermost, axis);
            one.extent(axis, most.filter(|_| one.kind == Kind::Inner))
        });
        Space::Range(extents.collect())
    }

    /// The variables that are declared in an outermost outer loop.
    fn locals(&self, outermost: usize) -> Vec<Local<'m>> {
        let is_inside = |one: &&Annotation<'m>| {
            let block = one.site.instruction().block();
            self.loops[outermost].has(block)
        };
        let said = self.said.iter().filter(is_inside);
        let locals = said.filter_map(|one| {
            Some(Local {
                variable: one.variable,
                kind: checks::local_kind(&one.what)?,
                site: one.site,
            })
        });
        locals.collect()
    }
}

fn whole(block: Block<'_>) -> Span<'_> {
    Span {
        block,
        from: 0,
        to: block.instructions().len(),
    }
}

/// The instruction behind another one that does not end its block.
fn behind(one: Instruction<'_>) -> Instruction<'_> {
    let instructions = one.block().instructions();
    let at = instructions.iter().position(|other| *other == one);
    instructions[at.expect("it stands in its block") + 1]
}
