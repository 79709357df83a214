//! What attributes with a file of their own (`attributes`) see of a kernel: where each of them stands.
//!
//! Guarantee: they see what is as their rows have it, in kernels in which all else is right. They lower where nothing is wrong.

use super::annotations::{Annotation, What};
use super::loops::{Wrong, form};
use super::{Kernel, Kind};
use crate::attributes::{Attribute, LoopKind, Place, Values};
use crate::llvm::{Block, Instruction, NaturalLoop};

/// An attribute at a loop or a variable of a kernel.
pub struct Use<'m> {
    /// Which.
    pub attribute: &'static Attribute,
    /// Where what is wrong with it is told.
    pub site: Instruction<'m>,
    /// The variable, or the iterator of the loop.
    pub variable: Instruction<'m>,
    /// Its arguments.
    pub numbers: Vec<i64>,
    /// The loop, if it is one of loops.
    looped: Option<Looped<'m>>,
}

/// A loop at which an attribute stands.
struct Looped<'m> {
    header: Block<'m>,
    blocks: Vec<Block<'m>>,
    count: Option<i64>,
}

/// What is wrong with an attribute as its row has it: its arguments, and the kind of its loop.
pub fn row<'m>(
    one: &Annotation<'m>,
    row: &'static Attribute,
    arguments: &[Option<i64>],
    said: &[Annotation<'m>],
) -> Option<String> {
    let name = row.name;
    let loops = row.loops.iter().map(|kind| kind.name());
    if !row.loops.is_empty() && !row.loops.contains(&kind_of(one, said)) {
        let loops: Vec<_> = loops.collect();
        return Some(format!("@{name} is for {} loops", loops.join(" and ")));
    }
    let [least, most] = row.arguments;
    if !(least..=most).contains(&arguments.len()) {
        return Some(format!("@{name} takes {}", row.takes));
    }
    if let Values::Integers { are, must } = row.values
        && !arguments.iter().all(|one| one.is_some_and(are))
    {
        return Some(must.to_string());
    }
    let before = said.iter().take_while(|other| other.site != one.site);
    let mut before = before.filter(|other| other.variable == one.variable);
    let is_twice = row.places.contains(&Place::Loop) && before.any(|other| other.what.is(row));
    is_twice.then(|| format!("@{name} is given twice"))
}

/// What the loop is whose iterator something is said of.
fn kind_of<'m>(one: &Annotation<'m>, said: &[Annotation<'m>]) -> LoopKind {
    let mut of_it = said.iter().filter(|other| other.variable == one.variable);
    let kind = of_it.find_map(|other| match other.what {
        What::Loop(kind, _) => Some(kind.into()),
        _ => None,
    });
    kind.unwrap_or(LoopKind::Regular)
}

impl<'m> Use<'m> {
    /// Of what is said in a kernel, if it is an attribute of these.
    fn of(
        one: &Annotation<'m>,
        kernel: &Kernel<'m>,
        natural: &[NaturalLoop<'m>],
    ) -> Option<Result<Self, Wrong<'m>>> {
        let What::Attribute(attribute, arguments) = &one.what else {
            return None;
        };
        let mut found = Self {
            attribute,
            site: one.site.instruction(),
            variable: one.variable,
            numbers: arguments.iter().copied().flatten().collect(),
            looped: None,
        };
        if attribute.places.contains(&Place::Loop) {
            found.looped = Looped::of(one, kernel, natural, attribute.name);
            if found.looped.is_none() {
                let told = format!(
                    "there is no loop in which this iterator is used, and @{} is for loops",
                    attribute.name
                );
                return Some(Err((found.site, told)));
            }
        }
        Some(Ok(found))
    }

    /// The ends of blocks that close its loop: they have its options.
    pub fn ends(&self) -> Vec<Instruction<'m>> {
        let of = |looped: &Looped<'m>| {
            let blocks = looped.blocks.iter().copied();
            let closes = |block: &Block<'m>| block.successors().contains(&looped.header);
            let ends = blocks.filter(closes).filter_map(|block| block.terminator());
            ends.collect()
        };
        self.looped.as_ref().map(of).unwrap_or_default()
    }

    /// How often its loop turns, where the compiler knows it.
    pub fn count(&self) -> Option<i64> {
        self.looped.as_ref()?.count
    }

    /// Whether its loop has that of another one in it, or is the same.
    pub fn has(&self, other: &Self) -> bool {
        let header = other.looped.as_ref().map(|other| other.header);
        let has =
            |looped: &Looped<'m>| header.is_some_and(|header| looped.blocks.contains(&header));
        self.looped.as_ref().is_some_and(has)
    }
}

impl<'m> Looped<'m> {
    fn of(
        one: &Annotation<'m>,
        kernel: &Kernel<'m>,
        natural: &[NaturalLoop<'m>],
        name: &str,
    ) -> Option<Self> {
        let mut loops = kernel.loops.iter();
        if let Some(known) = loops.find(|known| known.variable == one.variable) {
            return Some(Self {
                header: known.header,
                blocks: known.counter.blocks.clone(),
                count: known.count,
            });
        }
        // The iterator is declared in front of the loop, and can be seen nowhere else.
        let users = one.variable.instruction_users();
        let site = one.site.instruction().block();
        let is_its = |natural: &&NaturalLoop<'m>| {
            let has = |block: &Block<'m>| natural.blocks.contains(block);
            !has(&site) && users.iter().any(|user| has(&user.block()))
        };
        let its = natural.iter().find(is_its)?;
        let counted = form(one, name, natural, &kernel.said);
        Some(Self {
            header: its.header,
            blocks: its.blocks.clone(),
            count: counted
                .ok()
                .and_then(|form| form.count)
                .map(|(count, _)| count),
        })
    }
}

impl<'m> Kernel<'m> {
    /// Finds where attributes stand, and what is wrong with them.
    pub(super) fn find_uses(&mut self, natural: &[NaturalLoop<'m>]) -> Vec<Wrong<'m>> {
        let found = self
            .said
            .iter()
            .filter_map(|one| Use::of(one, self, natural));
        let found: Vec<_> = found.collect();
        let mut wrong = Vec::new();
        let mut uses: Vec<Use<'m>> = Vec::new();
        for one in found {
            match one {
                Ok(one) => uses.push(one),
                Err(one) => wrong.push(one),
            }
        }
        self.uses = uses;
        for one in &self.uses {
            let told = (one.attribute.semantics.check)(self, one);
            wrong.extend(told.map(|told| (one.site, told)));
        }
        let mut rest: Vec<_> = self.uses.iter().collect();
        while let Some(first) = rest.first() {
            let attribute = first.attribute;
            let (all, others) = rest.into_iter().partition(|one| one.attribute == attribute);
            let all: Vec<_> = all;
            wrong.extend((attribute.semantics.check_kernel)(self, &all));
            rest = others;
        }
        wrong
    }

    /// Does what attributes ask for.
    pub fn lower_attributes(&self) {
        for one in &self.uses {
            (one.attribute.semantics.lower)(self, one);
        }
    }

    /// What is wrong with an attribute of outermost `@outer` loops that stands elsewhere.
    pub fn is_not_outermost(&self, one: &Use<'m>) -> Option<String> {
        let mut outermost = self.outermost(Kind::Outer);
        let is_outermost = outermost.any(|at| self.loops[at].variable == one.variable);
        (!is_outermost).then(|| "this belongs to the outermost @outer loop".to_string())
    }
}

#[cfg(test)]
mod tests {
    use crate::llvm::OwnModule;
    use crate::recognise;

    /// A kernel in which a variable has `@probe` with these arguments, each time that it is given.
    fn kernel(probes: &[&str]) -> OwnModule {
        let (mut numbers, mut calls) = (String::new(), String::new());
        for (at, numbers_of) in probes.iter().enumerate() {
            let ty = vec!["i32"; numbers_of.split(',').count()].join(", ");
            numbers += &format!("@args{at} = private constant {{ {ty} }} {{ {numbers_of} }}\n");
            calls += &format!(
                "call void @llvm.var.annotation.p0.p0(ptr %x, ptr @probe, ptr @file, i32 {at}, ptr @args{at})\n"
            );
        }
        OwnModule::parse(&format!(
            "@outer = private constant [10 x i8] c\"okl.outer\\00\"
            @inner = private constant [10 x i8] c\"okl.inner\\00\"
            @probe = private constant [10 x i8] c\"okl.probe\\00\"
            @file = private constant [2 x i8] c\"f\\00\"
            @kernel = private constant [11 x i8] c\"okl.kernel\\00\"
            {numbers}
            @llvm.global.annotations = appending global [1 x {{ ptr, ptr, ptr, i32, ptr }}]
                [{{ ptr, ptr, ptr, i32, ptr }} {{ ptr @k, ptr @kernel, ptr @file, i32 1, ptr null }}], section \"llvm.metadata\"
            declare void @llvm.var.annotation.p0.p0(ptr, ptr, ptr, i32, ptr)
            define void @k(i32 %n) {{
                %o = alloca i32
                %i = alloca i32
                %x = alloca i32
                call void @llvm.var.annotation.p0.p0(ptr %o, ptr @outer, ptr @file, i32 1, ptr null)
                store i32 0, ptr %o
                br label %outer.asks
            outer.asks:
                %o.is = load i32, ptr %o
                %o.more = icmp slt i32 %o.is, %n
                br i1 %o.more, label %outer.body, label %outer.exit
            outer.body:
                {calls}
                call void @llvm.var.annotation.p0.p0(ptr %i, ptr @inner, ptr @file, i32 1, ptr null)
                store i32 0, ptr %i
                br label %inner.asks
            inner.asks:
                %i.is = load i32, ptr %i
                %i.more = icmp slt i32 %i.is, 4
                br i1 %i.more, label %inner.body, label %outer.step
            inner.body:
                store i32 1, ptr %x
                br label %inner.step
            inner.step:
                %i.was = load i32, ptr %i
                %i.next = add nsw i32 %i.was, 1
                store i32 %i.next, ptr %i
                br label %inner.asks
            outer.step:
                %o.was = load i32, ptr %o
                %o.next = add nsw i32 %o.was, 1
                store i32 %o.next, ptr %o
                br label %outer.asks
            outer.exit:
                ret void
            }}"
        ))
    }

    #[test]
    fn what_is_wrong_with_attributes_of_variables_is_told() {
        for (probes, expected) in [
            (&["i32 4"][..], &[][..]),
            (&["i32 1, i32 2"], &[]),
            (&["i32 7"], &["7 is wrong"]),
            (&["i32 1, i32 7"], &["7 is wrong"]),
            (&["i32 4", "i32 5"], &["once is enough"]),
            (
                &["i32 7", "i32 7"],
                &["7 is wrong", "7 is wrong", "once is enough"],
            ),
            (
                &["i32 1, i32 0"],
                &["the arguments of '@probe' must be positive integers"],
            ),
            (
                &["i32 1, i32 2, i32 3"],
                &["@probe takes one or two numbers"],
            ),
        ] {
            let module = kernel(probes);
            let found = recognise::recognise(&module);
            let told: Vec<_> = found.mistakes.iter().map(|one| &one.reason[..]).collect();
            assert_eq!(told, expected, "{probes:?}");
            assert_eq!(found.kernels.len(), usize::from(expected.is_empty()));
        }
    }

    #[test]
    fn attributes_of_variables_are_lowered() {
        let module = kernel(&["i32 4"]);
        let found = recognise::recognise(&module);
        let one = &found.kernels[0].uses[0];
        assert_eq!((&one.numbers[..], one.ends().len()), (&[4][..], 0));
        let variable = one.variable;
        assert_eq!(variable.name(), "x");
        found.kernels[0].lower_attributes();
        assert_eq!(variable.name(), "probed");
    }
}
