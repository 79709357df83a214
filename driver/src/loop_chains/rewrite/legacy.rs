//! What legacy programs have of chains: loops in functions that chains call, and conditions at borders in loops.

use okl_chains::pragma::{CallNote, Position, Pragma as Says, Within, Written, write_marker};

use super::super::functions::{self, Called, Function};
use super::super::pragmas::Pragma;
use super::super::{WORD, twice};
use super::{Chain, Rewriting};
use crate::okl::edits::Edit;
use crate::okl::tokens::{Tokens, unescape};

impl Rewriting<'_> {
    /// The statements from a token on that are calls, also those in blocks.
    pub(super) fn called(&self, mut at: usize, limit: usize, found: &mut Vec<Called>) {
        while at < limit {
            if self.tokens.word(at) == "{" {
                at += 1;
                continue;
            }
            if let Some(call) = functions::call(self.tokens, at, limit) {
                at = call.end;
                found.push(call);
            } else {
                at = self.statement(at, limit, 0).unwrap_or(at + 1);
            }
        }
    }

    /// The function that a token is in.
    pub(super) fn around(&self, at: usize) -> Option<&Function> {
        let all = self.functions.get_or_init(|| functions::all(self.tokens));
        let next = all.partition_point(|one| one.open < at);
        all[..next].last().filter(|one| at < one.close)
    }

    /// Has the calls of functions that have loops say what stands for their parameters: those in chains, and those in other
    /// functions that are called by chains then.
    pub(super) fn mark_calls(&mut self) {
        let mut marked = Vec::new();
        for chain in self.chains.iter().filter(|chain| !chain.is_left) {
            marked.extend(
                chain
                    .calls
                    .iter()
                    .map(|call| (self.note(call, None), call.begins, call.end)),
            );
        }
        let mut at = 0;
        let mut seen = Vec::new();
        while let Some(callee) = self.callees.get(at).cloned() {
            at += 1;
            let mut callers = Vec::new();
            for function in self.functions.get_or_init(|| functions::all(self.tokens)) {
                let has_chain =
                    |chain: &Chain| (function.open..function.close).contains(&chain.open);
                if self.chains.iter().any(has_chain) {
                    continue;
                }
                for call in functions::calls(self.tokens, [function.open, function.close], |name| {
                    name == callee
                }) {
                    if seen.contains(&call.begins) {
                        continue;
                    }
                    seen.push(call.begins);
                    let within = Within {
                        name: function.name.clone(),
                        parameters: function.parameters.clone(),
                    };
                    marked.push((self.note(&call, Some(within)), call.begins, call.end));
                    callers.push(function.name.clone());
                }
            }
            for caller in callers {
                if !self.callees.contains(&caller) {
                    self.callees.push(caller);
                }
            }
        }
        for (marker, begins, end) in marked {
            self.insert(self.tokens.all[begins].start, marker);
            let last = self.tokens.all[end - 1];
            let place = self.tokens.position(last.start);
            let text = format!("# {} \"{}\" 3\n}}", place.line, place.quoted);
            self.insert(last.end, text);
        }
    }

    /// What stands in front of a call.
    fn note(&self, call: &Called, within: Option<Within>) -> String {
        let place = self.tokens.position(self.tokens.all[call.begins].start);
        let note = self.call_note(call, within);
        let at = note.at;
        let text = write_marker(&unescape(place.quoted), &Says::Call(note));
        self.marker_at((place.quoted, at), "__okl_omplc_call", &text, &[], "")
    }

    /// What stands for the parameters of a function that is called.
    pub(super) fn call_note(&self, call: &Called, within: Option<Within>) -> CallNote {
        let place = self.tokens.position(self.tokens.all[call.begins].start);
        let number = |number: usize| u32::try_from(number).unwrap_or(0);
        CallNote {
            at: Position::new(number(place.line), number(place.column)),
            callee: call.name.clone(),
            arguments: call.arguments.clone(),
            within,
        }
    }

    /// A condition that is the same for all iterations of a chain, which runs as it is written where it holds, or that tells
    /// iterations at borders from others. A call of a marker takes its place.
    pub(super) fn strip(&mut self, number: usize) {
        let pragma = &self.pragmas[number];
        let (at, begins) = (pragma.at, pragma.next);
        let open = begins + 1;
        let condition = self
            .tokens
            .partner(open)
            .filter(|_| self.tokens.word(open) == "(");
        let (Some(close), "if") = (condition, self.tokens.word(begins)) else {
            let message = format!(
                "'#pragma omplc strip' is not in front of an 'if': {}",
                self.behind(number)
            );
            return self.error(number, at, message);
        };
        let is_name = |at: usize| self.tokens.is_name(at);
        let declares = |at: usize| {
            self.tokens.word(at) == ";"
                || is_name(at) && is_name(at + 1) && self.tokens.word(at) != "not"
        };
        if (open + 1..close).any(declares) {
            let message =
                "the 'if' behind '#pragma omplc strip' declares something in its condition";
            return self.error(number, at, message.to_string());
        }
        let around = |chain: &&Chain| chain.open < begins && begins < chain.close;
        let chain = self.chains.iter().find(around);
        if chain.is_some_and(|chain| chain.is_left) {
            return;
        }
        let is_in = |one: &&(usize, usize)| one.0 < begins && begins < one.1;
        let Some(&(first, end)) = self.stripped.iter().find(is_in) else {
            let message = "'#pragma omplc strip' is in no loop with a '#pragma omplc for'";
            return self.error(number, at, message.to_string());
        };
        let (first, last) = match chain {
            Some(chain) => (chain.open, chain.close),
            None => (first, end - 1),
        };
        if !twice::can_be(self.tokens, first, last) {
            let message = "'#pragma omplc strip' has its loops be there twice, and what is 'static', a label or assembly is there \
                           once";
            return self.error(number, at, message.to_string());
        }
        let text = write_marker(&self.file(number), &Says::Strip(at));
        let value = Written {
            at,
            text: truth(self.tokens, open + 1, close),
        };
        let marker = self.marker(number, "__okl_omplc_strip", &text, &[value], "");
        let marker = marker.replacen("extern void", "extern long", 1);
        let edit = Edit {
            start: self.tokens.all[open].start,
            end: self.tokens.all[close].end,
            text: format!("(__extension__ (\n{marker} }}))"),
            at: None,
            is_line: true,
        };
        self.edits.push(edit);
    }
}

/// Whether a pragma says that a condition holds for none of the iterations.
pub(super) fn is_strip(pragma: &Pragma) -> bool {
    pragma.name == WORD && pragma.tokens.first().is_some_and(|one| one.text == "strip")
}

/// A condition between tokens as a number that is 0 or 1, which is computed without jumps.
fn truth(tokens: &Tokens, from: usize, to: usize) -> String {
    for (words, operator) in [(["||", "or"], "|"), (["&&", "and"], "&")] {
        let mut parts = Vec::new();
        let mut begins = from;
        loop {
            let end = tokens.find(begins, to, &words);
            parts.push((begins, end));
            if end == to {
                break;
            }
            begins = end + 1;
        }
        if parts.len() > 1 {
            let parts = parts.into_iter().map(|(from, to)| truth(tokens, from, to));
            return format!("({})", parts.collect::<Vec<_>>().join(operator));
        }
    }
    let is_whole =
        |from: usize| tokens.word(from) == "(" && tokens.partner(from) == to.checked_sub(1);
    if is_whole(from) {
        return truth(tokens, from + 1, to - 1);
    }
    if matches!(tokens.word(from), "!" | "not") && is_whole(from + 1) {
        return format!("!{}", truth(tokens, from + 2, to - 1));
    }
    format!("!!({})", tokens.plain(from, to))
}
