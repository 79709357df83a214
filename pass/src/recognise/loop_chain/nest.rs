//! The nests of a chain.

use std::collections::HashSet;

use okl_chains::pragma::{Number, Pragma};

use super::straight::{Path, Stop, is_computation, loaded};
use super::{FOR, Here, NEXT, STRIP, Wrong, at, callees, is_marker, leads_to};
use crate::diagnostic::{Site, pragma};
use crate::ir::{Counter, Counting, Extent, Nest};
use crate::llvm::{Block, Call, Instruction, NaturalLoop, Opcode};
use crate::recognise::counted::{FORM, Form, Iterator};

const EXCEPTION: &str = "the loop chain stays as it is: an exception may leave it here";

impl<'m> Here<'m> {
    /// The nest that a call stands in front of, and what comes behind it.
    pub(super) fn nest(&self, site: Call<'m>) -> Result<(Nest<'m>, Path<'m>), Wrong<'m>> {
        let here = Site::Instruction(site.instruction());
        let lost = || Wrong::mistake(here, "the text of this loop of a chain cannot be read");
        let Some((_, Pragma::Loop(said))) = pragma(site) else {
            return Err(lost());
        };
        let values = super::values(site).ok_or_else(lost)?;
        let depth = said.domain.len();
        let numbers = said.domain.iter().flat_map(|one| [one.0, one.1]);
        let is_there = |one: Number| match one {
            Number::Constant(_) => true,
            Number::Value(number) => number < values.len(),
        };
        if depth == 0 || !{ numbers }.all(is_there) {
            return Err(lost());
        }
        let few = |has: usize| {
            let loops = if has == 1 { "loop" } else { "loops" };
            let told = format!(
                "its domain has {depth} dimensions, and {has} {loops} one right in the other are here"
            );
            Wrong::mistake(here, told)
        };
        let mut forms: Vec<(Iterator<'m>, Form<'m>)> = Vec::new();
        let mut path = Path::behind(site);
        for level in 0..depth {
            let natural = match path.follow(self) {
                Stop::Loop(natural) => natural,
                Stop::Other(one) if level > 0 && !is_alone(one, &forms) => {
                    // What a body has instead of a loop is no reason to look for one.
                    return Err(match self.has_loop(&forms[level - 1].1) {
                        true => inside(one, site),
                        false => few(level),
                    });
                }
                Stop::Marker(call) if call.callee_name() == NEXT => {
                    return Err(Wrong::mistake(here, "no loop stands behind this pragma"));
                }
                Stop::Marker(call) if level == 0 || call.callee_name() == FOR => {
                    let told = "this stands inside of a loop of a chain";
                    return Err(Wrong::mistake(Site::Instruction(call.instruction()), told));
                }
                Stop::Other(one) if level == 0 && one.as_call().is_some_and(callees::is_called) => {
                    return Err(super::between(one, site));
                }
                _ if level == 0 => {
                    let told = "the loop chain stays as it is: no loop that counts stands right behind this pragma, or \
                                OpenMP's threads share it already";
                    return Err(Wrong::declined(here, told));
                }
                _ => return Err(few(level)),
            };
            let (iterator, form) = counted(natural, &mut path, site)?;
            if let Some(&store) = path.stores.first() {
                return Err(inside(store, site));
            }
            path = Path::from(form.body);
            forms.push((iterator, form));
        }
        self.check_turns(&forms, site)?;
        let outermost = &forms[0].1;
        let marked = outermost.blocks.iter().flat_map(|one| one.instructions());
        let mut marked = marked.filter_map(|one| one.as_call());
        let is_wrong = |&call: &Call<'m>| is_marker(call) && call.callee_name() != STRIP;
        if let Some(call) = marked.find(is_wrong) {
            let told = "this stands inside of a loop of a chain";
            return Err(Wrong::mistake(Site::Instruction(call.instruction()), told));
        }
        check_exits(outermost, site)?;
        let mut path = Path::from(outermost.exit);
        if outermost.exit.predecessors().len() != 1 {
            return Err(jumps(outermost.decides, site));
        }
        let end = match path.follow(self) {
            Stop::Marker(call) if call.callee_name() == NEXT => call,
            Stop::Loop(_) => {
                let told = "the function that is called behind this pragma has several loops: the pragmas for them stand in it";
                return Err(Wrong::declined(
                    here,
                    format!("the loop chain stays as it is: {told}"),
                ));
            }
            Stop::Other(one) => return Err(super::between(one, site)),
            _ => return Err(Wrong::mistake(here, "the end of this loop is not found")),
        };
        if let Some(&store) = path.stores.first() {
            return Err(super::between(store, site));
        }
        let behind = Path::behind(end);
        let loops = forms.into_iter().enumerate();
        let loops = loops.map(|(level, (iterator, form))| extent(level, &iterator, form));
        let nest = Nest {
            site,
            end,
            said,
            values,
            loops: loops.collect(),
            strips: Vec::new(),
            lasts: Vec::new(),
        };
        Ok((nest, behind))
    }

    /// Whether another loop is in a loop.
    fn has_loop(&self, form: &Form<'m>) -> bool {
        let mut all = self.loops.iter();
        all.any(|one| one.header != form.header && form.has(one.header))
    }

    /// What each turn of the loops around others runs: these, and nothing else.
    fn check_turns(
        &self,
        forms: &[(Iterator<'m>, Form<'m>)],
        site: Call<'m>,
    ) -> Result<(), Wrong<'m>> {
        for (_, form) in forms {
            let mut header = form.header.instructions().into_iter();
            let is_plain = |one: &Instruction<'m>| {
                *one == form.decides
                    || one.opcode() == Opcode::LLVMLoad && one.is_plain_access()
                    || is_computation(*one)
            };
            if let Some(one) = header.find(|one| !is_plain(one)) {
                let told = "the loop chain stays as it is: this is run each time it is asked whether a loop has come to \
                            its end; keep it in a variable in front of the chain";
                return Err(Wrong::declined(at(one, site), told));
            }
        }
        for pair in forms.windows(2) {
            let [(_, outer), (_, inner)] = pair else {
                continue;
            };
            if inner.exit.predecessors().len() != 1 {
                return Err(jumps(inner.decides, site));
            }
            let mut path = Path::from(inner.exit);
            let wanted = outer.steps.block();
            let wrong = match path.until(self, Some(wanted)) {
                _ if path.block() == wanted => None,
                Stop::Block => None,
                Stop::Loop(other) => other.header.terminator(),
                Stop::Other(one) => Some(one),
                Stop::Marker(call) => Some(call.instruction()),
            };
            let wrong = wrong.or(path
                .stores
                .first()
                .copied()
                .filter(|one| *one != outer.steps));
            if let Some(one) = wrong {
                return Err(inside(one, site));
            }
        }
        Ok(())
    }
}

/// Whether what control stops at ends the turn of the innermost loop.
fn is_alone<'m>(at: Instruction<'m>, forms: &[(Iterator<'m>, Form<'m>)]) -> bool {
    forms
        .last()
        .is_some_and(|(_, form)| at.block() == form.steps.block())
}

/// How a loop counts, to which control has come.
pub(super) fn counted<'m>(
    natural: &NaturalLoop<'m>,
    path: &mut Path<'m>,
    site: Call<'m>,
) -> Result<(Iterator<'m>, Form<'m>), Wrong<'m>> {
    let decides = natural.header.terminator();
    let decides = decides.ok_or_else(|| form_wrong(natural, site.instruction(), site, FORM))?;
    let mut entries = natural.header.predecessors();
    entries.retain(|one| !natural.blocks.contains(one));
    if entries[..] != [path.block()] {
        return Err(jumps(decides, site));
    }
    let condition = decides.branch_condition();
    let asks = condition.and_then(|one| one.as_op(Opcode::LLVMICmp));
    let asks = asks.ok_or_else(|| form_wrong(natural, decides, site, FORM))?;
    let compared = asks.operands().into_iter().filter_map(loaded);
    let counts = |variable: &Instruction<'m>| {
        let mut stores = variable.instruction_users().into_iter();
        stores.any(|one| {
            let is_store = one.opcode() == Opcode::LLVMStore && one.operand(1) == **variable;
            is_store && natural.blocks.contains(&one.block())
        })
    };
    let variable = { compared }.find(counts);
    let variable = variable.ok_or_else(|| form_wrong(natural, decides, site, FORM))?;
    let wrong = |text: &str| form_wrong(natural, decides, site, text);
    let iterator = Iterator::of(variable).map_err(|why| wrong(&why.text))?;
    let is_first =
        |one: &Instruction<'m>| one.opcode() == Opcode::LLVMStore && one.operand(1) == *variable;
    let begins = path.stores.iter().rposition(is_first);
    let begins = begins
        .ok_or_else(|| wrong("has an iterator without a first value right in front of it"))?;
    let begins = path.stores.remove(begins);
    if Some(begins.operand(0).ty()) != variable.allocated_type() {
        return Err(wrong(FORM));
    }
    let form = Form::of(natural, &iterator, begins, true).map_err(|why| {
        match (why.is_left, unwinds_out(natural)) {
            (true, Some(call)) => Wrong::declined(at(call, site), EXCEPTION),
            (true, None) if decides.function().is_fortran() => wrong(FORM),
            // A `break` and its like leave the chain, or iterations of it.
            (true, None) => Wrong::mistake(
                at(decides, site),
                format!("this loop of a chain {}", why.text),
            ),
            (false, _) => wrong(&why.text),
        }
    })?;
    if form.by != Some(1) || !form.bound.is_above {
        let told = "does not count up by 1";
        return Err(wrong(told));
    }
    if !form.bound.is_whole(form.width) {
        return Err(wrong(FORM));
    }
    Ok((iterator, form))
}

/// A call in a loop whose exceptions go to a block outside of it.
fn unwinds_out<'m>(natural: &NaturalLoop<'m>) -> Option<Instruction<'m>> {
    let ends = natural.blocks.iter().filter_map(|block| block.terminator());
    let mut ends = ends.filter(|end| {
        let targets = end.as_call().and_then(|call| call.invoke_targets());
        targets.is_some_and(|(_, unwinds)| !natural.blocks.contains(&unwinds))
    });
    ends.next()
}

fn form_wrong<'m>(
    natural: &NaturalLoop<'m>,
    one: Instruction<'m>,
    site: Call<'m>,
    why: &str,
) -> Wrong<'m> {
    let why = match why == FORM && one.function().is_fortran() {
        true => super::do_loops::why_not(natural),
        false => why,
    };
    let told = format!("the loop chain stays as it is: this loop {why}");
    Wrong::declined(at(one, site), told)
}

fn jumps<'m>(one: Instruction<'m>, site: Call<'m>) -> Wrong<'m> {
    let told = "control comes into this loop of a chain by a `goto`, and not by its beginning only";
    Wrong::mistake(at(one, site), told)
}

/// What stands between the loops of a nest.
fn inside<'m>(one: Instruction<'m>, site: Call<'m>) -> Wrong<'m> {
    let told = "the loop chain stays as it is: this stands between the loops of a nest, whose domain has more dimensions";
    Wrong::declined(at(one, site), told)
}

/// By its end alone a nest is left.
fn check_exits<'m>(form: &Form<'m>, site: Call<'m>) -> Result<(), Wrong<'m>> {
    for &block in &form.blocks {
        for next in block.successors() {
            if form.has(next) || block == form.header && next == form.exit {
                continue;
            }
            let Some(end) = block.terminator() else {
                continue;
            };
            // Where control never comes to, as the compiler says of the ways in which a scope is left.
            let never = next.instructions().first().map(|one| one.opcode());
            if never == Some(Opcode::LLVMUnreachable) {
                continue;
            }
            let is_exception = end.as_call().is_some_and(|call| {
                call.invoke_targets()
                    .is_some_and(|(_, unwinds)| unwinds == next)
            });
            let told = match is_exception {
                true => EXCEPTION,
                false if leads_to(next, site.instruction().block()) || returns(next) => {
                    let told = "this leaves the loop chain, all of which has to run";
                    return Err(Wrong::mistake(at(end, site), told));
                }
                false => "the loop chain stays as it is: the program may end here",
            };
            return Err(Wrong::declined(at(end, site), told));
        }
    }
    Ok(())
}

/// Whether the function may return behind a block.
fn returns(block: Block<'_>) -> bool {
    let mut seen = HashSet::from([block]);
    let mut rest = vec![block];
    while let Some(block) = rest.pop() {
        let end = block.terminator();
        if end.is_some_and(|end| end.opcode() == Opcode::LLVMRet) {
            return true;
        }
        let next = block.successors().into_iter();
        rest.extend(next.filter(|one| seen.insert(*one)));
    }
    false
}

fn extent<'m>(level: usize, iterator: &Iterator<'m>, form: Form<'m>) -> Extent<'m> {
    Extent {
        last: None,
        most: None,
        width: iterator.width,
        signed: form.bound.counts_signed,
        counter: Some(Counter {
            axis: level,
            begins: form.begins,
            steps: form.steps,
            decides: form.decides,
            body: form.body,
            exit: form.exit,
            blocks: form.blocks,
            counting: Counting {
                compared: form.bound.iterator,
                end: form.bound.value,
                is_up: form.bound.is_above,
                is_last: form.bound.is_last,
                signed: form.bound.signed,
                step: form.step.value,
            },
        }),
    }
}
