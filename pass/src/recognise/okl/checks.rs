//! What a kernel must be like: where its loops and variables may stand, what its loops may write, where its barriers are.

use super::Kernel;
use super::annotations::{Annotation, Kind, What};
use super::attributes;
use super::loops::{Wrong, above};
use crate::analysis::leaving::Leaving;
use crate::analysis::meeting::is_barrier;
use crate::analysis::variables::{Does, is_destination, is_of_exception, uses};
use crate::ir::LocalKind;
use crate::llvm::{Block, Function, Instruction, Opcode, Type, demangle};
use crate::marks::OKL_ATOMIC;

/// What is wrong with a kernel as a function.
pub fn function(function: Function<'_>) -> Option<String> {
    let is_outer = |one: &Annotation<'_>| matches!(one.what, What::Loop(Kind::Outer, _));
    let is_loop = |one: &Annotation<'_>| matches!(one.what, What::Loop(..));
    let said = super::annotations::of(function);
    if !function.function_type().result().is_void() {
        return Some("a kernel returns nothing: its type is void".to_string());
    }
    match said.iter().any(is_outer) {
        true => None,
        // The loop itself is told of.
        false if said.iter().any(is_loop) => None,
        false => Some("a kernel has an @outer loop, and an @inner loop in it".to_string()),
    }
}

/// Whose a variable is of which that is said.
pub fn local_kind(what: &What) -> Option<LocalKind> {
    match what {
        What::Shared => Some(LocalKind::Shared),
        What::Exclusive => Some(LocalKind::Exclusive),
        _ => None,
    }
}

fn is_exclusive<'m>(variable: Instruction<'m>, said: &[Annotation<'m>]) -> bool {
    let is_it = |one: &Annotation<'m>| one.variable == variable && one.what == What::Exclusive;
    said.iter().any(is_it)
}

/// What is wrong with what is said of a variable, wherever it is.
pub fn annotation<'m>(one: &Annotation<'m>, said: &[Annotation<'m>]) -> Option<Wrong<'m>> {
    let at = one.site.instruction();
    let ty = one.variable.allocated_type();
    let is_sized = one.variable.operand(0).as_constant_int() == Some(1);
    let told = match &one.what {
        What::Loop(..) | What::Tile(_) => None,
        What::Shared | What::Exclusive if !is_sized => {
            Some("the size of this variable is not known when the program is compiled")
        }
        What::Shared if !ty.is_some_and(|ty| ty.is_array()) => {
            Some("a @shared variable is an array: one of one element, if nothing else")
        }
        What::Shared if is_empty(ty) => Some("this @shared array has no elements"),
        What::Shared if is_exclusive(one.variable, said) => {
            Some("a variable is @shared, or each work item has its own: not both")
        }
        What::Shared | What::Exclusive => None,
        What::Attribute(row, arguments) => {
            return attributes::row(one, row, arguments, said).map(|told| (at, told));
        }
        What::Other(other) if other == "tile" => Some(
            "what this @tile says is not understood: a size, two kinds of loops with an axis each, and a check",
        ),
        What::Other(other) => return Some((at, format!("there is no @{other}"))),
    };
    told.map(|told| (at, told.to_string()))
}

/// Whether an object is destroyed.
fn is_destructor(one: Instruction<'_>) -> bool {
    let call = one.as_call();
    call.is_some_and(|call| demangle(&call.callee_name()).contains("::~"))
}

/// Whether an array has no elements.
fn is_empty(ty: Option<Type<'_>>) -> bool {
    let arrays = std::iter::successors(ty, |ty| ty.array_element());
    arrays.into_iter().any(|ty| ty.array_length() == Some(0))
}

impl<'m> Kernel<'m> {
    /// What is wrong with its loops and variables, the loops of which are one in the other as they may be.
    pub(super) fn check(&self) -> Vec<Wrong<'m>> {
        let mut wrong = self.depths();
        wrong.extend(self.too_many_blocks());
        wrong.extend(self.misplaced_locals());
        wrong.extend(self.written_from_inside());
        wrong.extend(self.misplaced_barriers());
        wrong.extend(self.atomic_loops());
        wrong
    }

    /// Atomic code with inner loops in it: whether one work item or all have the lock, nobody could say.
    fn atomic_loops(&self) -> Vec<Wrong<'m>> {
        let is_call = |one: &Instruction<'m>, name: &str| {
            let call = one.as_call();
            call.is_some_and(|call| call.callee_name() == name)
        };
        let all = self.function.instructions().into_iter();
        let begins = all.filter(|one| is_call(one, OKL_ATOMIC[0]));
        let has_loop = |begin: &Instruction<'m>| {
            let mut seen = vec![begin.block()];
            let mut at = 0;
            while let Some(&block) = seen.get(at) {
                let code = block.instructions().into_iter();
                let mut code = code.skip_while(|one| at == 0 && one != begin);
                let has_ended = code.any(|one| is_call(&one, OKL_ATOMIC[1]));
                if !has_ended {
                    let next = block.successors().into_iter();
                    let new: Vec<_> = next.filter(|next| !seen.contains(next)).collect();
                    seen.extend(new);
                }
                at += 1;
            }
            let mut inner = self.of_kind(Kind::Inner);
            inner.any(|inner| seen[1..].contains(&self.loops[inner].header))
        };
        let told =
            "this @atomic code has an @inner loop in it: it stands inside of all @inner loops";
        let outside = begins.filter(|one| self.kind_around(one.block()) != Some(Kind::Inner));
        let wrong = outside.filter(has_loop);
        wrong.map(|one| (one, told.to_string())).collect()
    }

    /// Loops that are not as deep as the others of one nest.
    fn depths(&self) -> Vec<Wrong<'m>> {
        let mut wrong = Vec::new();
        for outermost in self.outermost(Kind::Outer) {
            for kind in [Kind::Outer, Kind::Inner] {
                let inside = self.innermost(kind);
                let is_inside =
                    |at: usize| at == outermost || above(&self.loops, at).contains(&outermost);
                let inside: Vec<_> = inside.filter(|&at| is_inside(at)).collect();
                let depth = |at: usize| self.path(at).len();
                let name = kind.name();
                let other = inside.iter().find(|&&at| depth(at) != depth(inside[0]));
                if let Some(&other) = other {
                    let (one, two) = (depth(other), depth(inside[0]));
                    let told = format!(
                        "here {one} {name} loops are one in the other, and {two} elsewhere in the same @outer loop"
                    );
                    wrong.push((self.loops[other].site, told));
                }
            }
        }
        wrong
    }

    /// Outer loops that have more iterations together than can be counted.
    fn too_many_blocks(&self) -> Vec<Wrong<'m>> {
        let paths = self.innermost(Kind::Outer).map(|at| self.path(at));
        let wrong = paths.filter_map(|path| {
            let counts = path.iter().map(|&at| self.loops[at].count);
            let mut counts = counts.map(|count| count.unwrap_or(1));
            let product = counts.try_fold(1_i64, |product, count| product.checked_mul(count));
            let told = "these @outer loops have more iterations together than 64 bits can count";
            (product.is_none()).then(|| (self.loops[path[0]].site, told.to_string()))
        });
        wrong.collect()
    }

    fn kind_around(&self, block: Block<'m>) -> Option<Kind> {
        self.around(block).map(|at| self.loops[at].kind)
    }

    /// Variables of blocks and work items that are declared or used where there are none.
    fn misplaced_locals(&self) -> Vec<Wrong<'m>> {
        let mut wrong = Vec::new();
        for one in &self.said {
            let Some(kind) = local_kind(&one.what) else {
                continue;
            };
            let name = match kind {
                LocalKind::Shared => "@shared",
                LocalKind::Exclusive => "@exclusive",
            };
            let at = one.site.instruction();
            if self.kind_around(at.block()) != Some(Kind::Outer) {
                let told = format!(
                    "{name} variables are declared inside of an @outer loop and outside of any @inner loop"
                );
                wrong.push((at, told));
                continue;
            }
            // Each block has its own, as it begins.
            let mut innermost = self.innermost(Kind::Outer);
            let is_innermost = innermost.any(|outer| self.around(at.block()) == Some(outer));
            if kind == LocalKind::Exclusive && !is_innermost {
                let told = "@exclusive variables are declared inside of the innermost @outer loop";
                wrong.push((at, told.to_string()));
                continue;
            }
            let before = self.before_inner(at.block());
            let outside = uses(one.variable).into_iter().find(|(used, does)| {
                let is_first = kind == LocalKind::Exclusive && *does != Does::Read;
                self.kind_around(used.block()) != Some(Kind::Inner)
                    && !(is_first && before.contains(&used.block()))
            });
            if let Some((used, _)) = outside {
                let place =
                    |one: Instruction<'m>| Some((one.source_location()?, one.source_column()));
                // The variable is used where it is declared: by its initial value, or by that which its type has.
                if place(used).is_some() && place(used) == place(at) {
                    let told = format!(
                        "a {name} variable cannot have an initial value, also not by its type: work items write it"
                    );
                    wrong.push((at, told));
                } else if is_destructor(used) {
                    let told = format!(
                        "{name} variables cannot be of a type with a destructor: nobody says which work item runs it"
                    );
                    wrong.push((at, told));
                } else {
                    let told = format!("{name} variables are used inside of @inner loops only");
                    wrong.push((used, told));
                }
            }
        }
        wrong
    }

    /// The blocks that come behind one before any inner loop does, and not behind one.
    fn before_inner(&self, from: Block<'m>) -> Vec<Block<'m>> {
        let headers: Vec<_> = self.loops.iter().map(|one| one.header).collect();
        let reach = |from: Vec<Block<'m>>, not: Option<Block<'m>>| {
            let mut seen = from.clone();
            let mut rest = from;
            while let Some(block) = rest.pop() {
                for next in block.successors() {
                    if !headers.contains(&next) && Some(next) != not && !seen.contains(&next) {
                        seen.push(next);
                        rest.push(next);
                    }
                }
            }
            seen
        };
        let inner = self.of_kind(Kind::Inner);
        let exits: Vec<_> = inner.map(|at| self.loops[at].counter.exit).collect();
        let behind = reach(exits, Some(from));
        let mut before = reach(vec![from], None);
        before.retain(|one| *one == from || !behind.contains(one));
        before
    }

    /// Variables from outside of a loop that its iterations write: work items, or blocks of them, do not see each other's
    /// or do, as the machine has it.
    fn written_from_inside(&self) -> Vec<Wrong<'m>> {
        let entry = self.function.blocks()[0];
        let variables = entry.instructions().into_iter();
        let variables = variables.filter(|one| one.opcode() == Opcode::LLVMAlloca);
        let is_known = |one: &Instruction<'m>| self.said.iter().any(|said| said.variable == *one);
        let is_hidden = |one: Instruction<'m>| is_destination(one) || is_of_exception(one);
        let variables = variables.filter(|one| !is_known(one) && !is_hidden(*one));
        // What a block or a work item has is destroyed outside of the loop if there is an exception.
        let ends = self.loops.iter().map(|one| {
            let counter = &one.counter;
            Leaving::of(&counter.blocks, one.header, counter.exit).own
        });
        let ends: Vec<_> = ends.collect();
        variables
            .filter_map(|one| self.written_inside(one, &ends))
            .collect()
    }

    fn written_inside(
        &self,
        variable: Instruction<'m>,
        ends: &[Vec<Block<'m>>],
    ) -> Option<Wrong<'m>> {
        let uses = uses(variable);
        let writes = uses.iter().filter(|(_, does)| *does != Does::Read);
        let mut found = writes.filter_map(|(write, does)| {
            let innermost = self.around(write.block())?;
            let mut around = above(&self.loops, innermost);
            around.reverse();
            around.push(innermost);
            let mut is_common = around.into_iter().filter(|&at| {
                let one = &self.loops[at];
                uses.iter().any(|(other, _)| {
                    let block = other.block();
                    !one.has(block) && !ends[at].contains(&block)
                })
            });
            // In an inner loop that is what counts, in whatever else it is, too.
            let first = is_common.next()?;
            let kind = is_common.next_back().map(|at| self.loops[at].kind);
            let kind = kind.unwrap_or(self.loops[first].kind);
            Some((*write, *does, kind))
        });
        let (write, does, kind) = found.next()?;
        let (name, may) = (kind.name(), if does == Does::Unknown { "may " } else { "" });
        let instead = match kind {
            Kind::Outer => "inside of it",
            Kind::Inner => "inside of it, or as @shared or @exclusive",
        };
        let told = format!(
            "iterations of an {name} loop {may}write a variable from outside of it here: declare it {instead}"
        );
        Some((write, told))
    }

    /// Barriers outside of blocks of work items, and between inner loops.
    fn misplaced_barriers(&self) -> Vec<Wrong<'m>> {
        let all = self.function.instructions().into_iter();
        let mut wrong = Vec::new();
        for one in all.filter(|one| is_barrier(*one)) {
            let around = self.around(one.block());
            let mut leaves = self.innermost(Kind::Inner);
            let told = match around.map(|at| self.loops[at].kind) {
                None => {
                    "this barrier stands outside of any @outer loop: there are no work items that could meet"
                }
                Some(Kind::Outer) => continue,
                Some(Kind::Inner) if one.opcode() != Opcode::LLVMCall => {
                    "this barrier stands where variables have to be destroyed if it fails"
                }
                Some(Kind::Inner) if leaves.any(|leaf| Some(leaf) == around) => continue,
                Some(Kind::Inner) => {
                    "this barrier stands between two @inner loops, one in the other"
                }
            };
            wrong.push((one, told.to_string()));
        }
        wrong
    }
}
