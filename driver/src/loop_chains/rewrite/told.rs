//! What a tuner is told of a chain, and what tells it from others: its text and its loops, with those of functions that it calls.

use std::fmt::Write;

use okl_chains::pragma::{LoopPragma, Name, Pragma as Says, Within};

use super::super::functions::{self, Called, Function};
use super::{Chain, Rewriting};

/// Calls in functions that are called, of which loops are looked for, one in the other.
const DEEPEST_CALLS: usize = 8;

impl Rewriting<'_> {
    /// Tells a tuner of a chain.
    pub(super) fn tell(&self, chain: &Chain) -> Result<(), String> {
        let Some(tuned) = self.tuned else {
            return Ok(());
        };
        let text = self.text([chain.open, chain.close], &chain.said.locals);
        let loops = self.loops_of(chain);
        let loops: Vec<_> = loops.iter().collect();
        let place = (&*self.file(chain.pragma), chain.said.at.line);
        tuned.tell(place, &text, chain.is_auto, self.facts.has_openmp, &loops)
    }

    /// All that a chain is, and the functions of this text that it calls, but for its schedule and for how it is laid out.
    pub(super) fn text(&self, brackets: [usize; 2], locals: &[Name]) -> String {
        let mut text = String::new();
        for name in locals {
            let _ = write!(text, "{} ", name.text);
        }
        self.add_text(brackets, &mut text);
        for function in self.reached(brackets) {
            let _ = write!(
                text,
                "\n{}({}) ",
                function.name,
                function.parameters.join(", ")
            );
            self.add_text([function.open, function.close], &mut text);
        }
        text
    }

    /// What stands between brackets, and its pragmas.
    fn add_text(&self, [open, close]: [usize; 2], text: &mut String) {
        for at in open..=close {
            let _ = write!(text, "{} ", self.tokens.word(at));
        }
        for pragma in self
            .pragmas
            .iter()
            .filter(|one| (open + 1..=close).contains(&one.next))
        {
            let _ = write!(text, "\n{} {}", pragma.next - open, pragma.name);
            for token in &pragma.tokens {
                let _ = write!(text, " {}", token.text);
            }
        }
    }

    /// The functions of the text that statements between two brackets call, and those that these call.
    fn reached(&self, [open, close]: [usize; 2]) -> Vec<&Function> {
        let mut calls = Vec::new();
        self.called(open + 1, close, &mut calls);
        let all = self.functions.get_or_init(|| functions::all(self.tokens));
        let mut found: Vec<&Function> = Vec::new();
        let mut at = 0;
        while at < calls.len() {
            let its = all.iter().filter(|one| one.name == calls[at].name);
            for function in its.collect::<Vec<_>>() {
                if !found.iter().any(|one| one.open == function.open) {
                    found.push(function);
                    self.called(function.open + 1, function.close, &mut calls);
                }
            }
            at += 1;
        }
        found
    }

    /// The loops of a chain, also those in functions that it calls, in the order in which they run, by the chain's own names.
    fn loops_of(&self, chain: &Chain) -> Vec<LoopPragma> {
        let loops = chain.loops.iter();
        let loops = loops.map(|(pragma, said)| (self.pragmas[*pragma].next, vec![said.clone()]));
        let calls = chain.calls.iter();
        let calls = calls.map(|call| (call.begins, self.loops_behind(call, None, 0)));
        let mut all: Vec<_> = loops.chain(calls).collect();
        all.sort_by_key(|one| one.0);
        all.into_iter().flat_map(|one| one.1).collect()
    }

    /// Those of a function that is called, by the names of what calls it.
    fn loops_behind(&self, call: &Called, within: Option<Within>, depth: usize) -> Vec<LoopPragma> {
        let all = self.functions.get_or_init(|| functions::all(self.tokens));
        let mut found: Vec<(usize, Vec<LoopPragma>)> = Vec::new();
        let its = |one: &&Function| one.name == call.name && depth < DEEPEST_CALLS;
        for function in all.iter().filter(its) {
            let is_inside = |at: usize| function.open < at && at < function.close;
            let own = self.in_functions.iter().filter(|one| is_inside(one.0));
            found.extend(own.map(|(at, said)| (*at, vec![said.clone()])));
            let mut calls = Vec::new();
            self.called(function.open + 1, function.close, &mut calls);
            let within = Within {
                name: function.name.clone(),
                parameters: function.parameters.clone(),
            };
            for inner in &calls {
                let its = self.loops_behind(inner, Some(within.clone()), depth + 1);
                found.push((inner.begins, its));
            }
            // Of functions that are called alike the first one with loops.
            if found.iter().any(|one| !one.1.is_empty()) {
                break;
            }
        }
        found.sort_by_key(|one| one.0);
        let note = self.call_note(call, within);
        let loops = found.into_iter().flat_map(|one| one.1);
        let bound = loops.map(|said| {
            let mut says = Says::Loop(said);
            let is_bound = note.bind(&mut says);
            let Says::Loop(mut said) = says else {
                unreachable!("it is a loop's");
            };
            if !is_bound {
                said.accesses.clear();
            }
            said
        });
        bound.collect()
    }
}
