//! Statements, and the attributes before them.

use super::attributes::{Form, LoopKind, Place, Tile};
use super::normalise::{Context, Normaliser};
use super::uses::Use;

/// What begins a statement that is no expression and no declaration.
const KEYWORDS: &str = " asm break case catch continue default do else for goto if namespace return \
    static_assert switch template throw try using while co_return co_yield co_await ";

impl Normaliser<'_> {
    /// Goes through statements or declarations.
    pub(crate) fn block(&mut self, mut at: usize, end: usize, context: Context) {
        while at < end {
            at = self.statement(at, end, context).max(at + 1);
        }
    }

    /// Goes through one statement; returns the token behind.
    fn statement(&mut self, at: usize, end: usize, context: Context) -> usize {
        if at >= end || !self.enter(at) {
            return end;
        }
        let mut scopes = 0;
        let mut next = at;
        // `else if` goes on here, so that long chains are not deep.
        while self.tokens.word(next) == "if" && next < end {
            scopes += 1;
            let has_else;
            (next, has_else) = self.condition(next, end, context);
            if !has_else || next >= end {
                break;
            }
            if self.tokens.word(next) != "if" {
                next = self.other_statement(next, end, context);
                break;
            }
        }
        if scopes == 0 {
            next = self.other_statement(at, end, context);
        }
        for _ in 0..scopes {
            self.scopes.pop();
        }
        self.leave();
        next
    }

    /// `if (...) STATEMENT` and `else`, if it is there. Returns the token behind, and whether it is. The scope
    /// that it begins goes on in what follows `else`.
    fn condition(&mut self, at: usize, end: usize, context: Context) -> (usize, bool) {
        let mut next = at + 1;
        while matches!(self.tokens.word(next), "constexpr" | "consteval" | "!") {
            next += 1;
        }
        self.scopes.push();
        if self.tokens.word(next) == "("
            && let Some(close) = self.tokens.partner(next).filter(|close| *close < end)
        {
            self.head(next + 1, close);
            next = close + 1;
        }
        next = self.statement(next, end, context);
        let has_else = self.tokens.word(next) == "else" && next < end;
        (next + usize::from(has_else), has_else)
    }

    /// Any statement but `if`.
    fn other_statement(&mut self, at: usize, end: usize, context: Context) -> usize {
        let word = self.tokens.word(at);
        if self.is_attribute(at) {
            let mut uses = Vec::new();
            let next = self.attributes(at, &mut uses, true);
            return match uses.is_empty() {
                true => self.statement(next, end, context),
                false => self.with_attributes(next, end, context, uses),
            };
        }
        match word {
            "{" => {
                let close = self.tokens.partner(at).unwrap_or(end).min(end);
                let inside = match context {
                    Context::Class => Context::Class,
                    _ => Context::Function,
                };
                self.scopes.push();
                self.block(at + 1, close, inside);
                self.scopes.pop();
                close + 1
            }
            "}" | ";" | ":" | "try" | "default" | "public" | "private" | "protected" => at + 1,
            "else" => self.statement(at + 1, end, context),
            "for" => self.for_loop(at, end, Vec::new()),
            "while" | "switch" | "catch" => {
                self.scopes.push();
                let mut next = at + 1;
                if self.tokens.word(next) == "("
                    && let Some(close) = self.tokens.partner(next).filter(|close| *close < end)
                {
                    match word {
                        "catch" => self.parameters(next, close),
                        _ => self.head(next + 1, close),
                    }
                    next = close + 1;
                }
                next = self.statement(next, end, context);
                self.scopes.pop();
                next
            }
            "do" => {
                let next = self.statement(at + 1, end, context);
                match self.tokens.word(next) {
                    "while" => self.plain_statement(next, end),
                    _ => next,
                }
            }
            "case" => {
                let colon = self.tokens.find(at, end, &[":", ";", "{"]);
                self.expression(at + 1, colon);
                colon + 1
            }
            "template" if self.tokens.word(at + 1) == "<" => self.behind_head(at + 1, end),
            "template" if self.is_attribute(at + 1) => self.instance(at, end),
            "namespace" => self.namespace(at, end),
            "inline" if self.tokens.word(at + 1) == "namespace" => self.namespace(at + 1, end),
            "using" => self.alias(at, end, context),
            _ if is_keyword(word) => self.plain_statement(at, end),
            _ if self.tokens.is_name(at) && self.tokens.word(at + 1) == ":" => at + 2,
            _ if self.is_declaration(at, end, context) => {
                self.declaration(at, end, context, Vec::new()).next
            }
            _ => self
                .function_without_type(at, end, context)
                .unwrap_or_else(|| self.plain_statement(at, end)),
        }
    }

    /// An expression up to `;`; returns the token behind.
    fn plain_statement(&mut self, at: usize, end: usize) -> usize {
        let stop = self.end_of_statement(at, end);
        self.expression(at, stop);
        stop + usize::from(self.tokens.word(stop) == ";" && stop < end)
    }

    /// Where an expression ends. What comes before attributes on a new line may be a macro that needs no `;`.
    fn end_of_statement(&self, at: usize, end: usize) -> usize {
        let mut next = at;
        while next < end {
            match self.tokens.word(next) {
                ";" | "}" => return next,
                "@" if next > at && self.tokens.is_first_on_line(next) => return next,
                "(" | "[" | "{" => {
                    next = self
                        .tokens
                        .partner(next)
                        .filter(|close| *close < end)
                        .unwrap_or(next);
                }
                _ => {}
            }
            next += 1;
        }
        end
    }

    /// The token behind the parameters of a template and what is required of them.
    fn behind_head(&mut self, at: usize, end: usize) -> usize {
        const LONGEST: usize = 2048;
        let mut depth = 0usize;
        let mut next = at;
        while next < end.min(at + LONGEST) {
            match self.tokens.word(next) {
                "<" => depth += 1,
                ">" if depth == 1 => return self.behind_requirement(next + 1, end),
                ">" => depth -= 1,
                "(" | "[" | "{" => next = self.tokens.partner(next).unwrap_or(next),
                ";" => break,
                _ => {}
            }
            next += 1;
        }
        at + 1
    }

    /// The token behind a requires-clause, if there is one: primary expressions between `&&` and `||`
    /// ([temp.pre] of C++20).
    pub(crate) fn behind_requirement(&self, at: usize, end: usize) -> usize {
        if self.tokens.word(at) != "requires" {
            return at;
        }
        let behind = |open: usize| self.tokens.partner(open).unwrap_or(open) + 1;
        let mut next = at + 1;
        while next < end {
            next = match self.tokens.word(next) {
                "::" | "template" => {
                    next += 1;
                    continue;
                }
                "requires" if self.tokens.word(next + 1) == "(" => behind(behind(next + 1)),
                "requires" => behind(next + 1),
                "(" => behind(next),
                _ => next + 1,
            };
            // A name with the classes it is in, and their arguments.
            while self.tokens.word(next) == "<" {
                next = self.tokens.template_end(next).unwrap_or(next) + 1;
            }
            if !matches!(self.tokens.word(next), "&&" | "||" | "::") {
                break;
            }
            next += 1;
        }
        next.min(end)
    }

    /// What it declares can be named outside by its path, and so it opens no scope.
    fn namespace(&mut self, at: usize, end: usize) -> usize {
        let open = self.tokens.find(at, end, &["{", ";"]);
        if self.tokens.word(open) != "{" {
            return open + 1;
        }
        let close = self.tokens.partner(open).unwrap_or(end).min(end);
        if self.enter(open) {
            self.block(open + 1, close, Context::File);
            self.leave();
        }
        close + 1
    }

    /// What stands in the parentheses of `if`, `while` and `switch`.
    fn head(&mut self, mut at: usize, end: usize) {
        while at < end {
            let stop = self.tokens.find(at, end, &[";"]);
            if self.is_declaration(at, stop, Context::Head) {
                self.declaration(at, stop, Context::Head, Vec::new());
            } else {
                self.expression(at, stop);
            }
            at = stop + 1;
        }
    }

    /// What stands behind attributes; returns the token behind it.
    fn with_attributes(
        &mut self,
        at: usize,
        end: usize,
        context: Context,
        uses: Vec<Use>,
    ) -> usize {
        let word = if at < end { self.tokens.word(at) } else { "" };
        match word {
            "for" => self.for_loop(at, end, uses),
            ";" => {
                let mut free = true;
                for one in &uses {
                    match &one.row.form {
                        Form::Call(name, words) if free && context == Context::Function => {
                            self.has_markers = true;
                            let word = one.arguments.first().map(|word| word.text.as_str());
                            let known = words.iter().find(|(known, _)| Some(*known) == word);
                            let number = known.map_or(0, |(_, number)| *number);
                            let text = format!("{}{name}({number})", one.rest);
                            self.edit(one.start, one.end, text);
                            free = false;
                        }
                        _ => self.misplaced(one),
                    }
                }
                at + 1
            }
            "{" => {
                self.around(at, end, context, Place::Block, &uses);
                self.statement(at, end, context)
            }
            _ => {
                let declares = |one: &Use| {
                    let at_statements = [Place::Loop, Place::Block, Place::Null, Place::Expression];
                    one.row
                        .places
                        .iter()
                        .any(|place| !at_statements.contains(place))
                };
                if uses.iter().any(declares) {
                    if is_keyword(word) && !matches!(word, "template" | "using") || word.is_empty()
                    {
                        uses.iter().for_each(|one| self.misplaced(one));
                        return self.statement(at, end, context);
                    }
                    return match word {
                        "template" if self.tokens.word(at + 1) == "<" => {
                            let next = self.behind_head(at + 1, end);
                            let mut uses = uses;
                            for one in &mut uses {
                                self.remove(one);
                                one.start = self.tokens.start(next);
                                one.end = one.start;
                                one.rest.clear();
                            }
                            self.declaration(next, end, context, uses).next
                        }
                        _ => self.declaration(at, end, context, uses).next,
                    };
                }
                let is_expression =
                    !word.is_empty() && !is_keyword(word) && !self.is_declaration(at, end, context);
                let place = if is_expression {
                    Place::Expression
                } else {
                    Place::Function
                };
                self.around(at, end, context, place, &uses);
                self.statement(at, end, context)
            }
        }
    }

    /// Attributes before an expression or a block.
    fn around(&mut self, at: usize, end: usize, context: Context, place: Place, uses: &[Use]) {
        for (number, one) in uses.iter().enumerate() {
            let fits =
                number == 0 && context == Context::Function && one.row.places.contains(&place);
            let Form::Around([begins, ends]) = one.row.form else {
                self.misplaced(one);
                continue;
            };
            if !fits {
                self.misplaced(one);
                continue;
            }
            let last = match place {
                Place::Block => self.tokens.partner(at).filter(|close| *close < end),
                _ => Some(self.end_of_statement(at, end))
                    .filter(|stop| self.tokens.word(*stop) == ";" && *stop < end),
            };
            let Some(last) = last else {
                let name = one.row.name;
                self.error(one.at, format!("what '@{name}' stands before has no end"));
                continue;
            };
            self.has_markers = true;
            let is_block = u8::from(place == Place::Block);
            let before = format!("{}{{ {begins}({is_block});", one.rest);
            self.edit(one.start, one.end, before);
            let byte = self.tokens.all[last].end;
            self.edit(byte, byte, format!(" {ends}(); }}"));
        }
    }

    /// A `for` loop with the attributes before it.
    fn for_loop(&mut self, at: usize, end: usize, mut uses: Vec<Use>) -> usize {
        let open = at + 1;
        let close = self.tokens.partner(open).filter(|close| *close < end);
        let (Some(close), "(") = (close, self.tokens.word(open)) else {
            uses.iter().for_each(|one| self.misplaced(one));
            return at + 1;
        };
        self.scopes.push();
        uses.iter().for_each(|one| self.remove(one));
        let mut semicolons = Vec::new();
        let mut from = open + 1;
        loop {
            let found = self.tokens.find(from, close, &[";"]);
            if found == close {
                break;
            }
            semicolons.push(found);
            from = found + 1;
        }
        let mut last = close;
        if let Some(third) = semicolons.get(2).copied() {
            self.fourth_clause(third, close, &mut uses);
            last = third;
        }
        self.check_loop(&mut uses);
        let form = |one: &Use| {
            format!(
                "the loop of '@{}' must have the form for (TYPE NAME = START; CONDITION; STEP)",
                one.row.name
            )
        };
        match semicolons[..] {
            [first, second, ..] => {
                if self.is_declaration(open + 1, first, Context::Head) {
                    let declared = self.declaration(open + 1, first, Context::Head, Vec::new());
                    if !uses.is_empty() {
                        self.annotate(open + 1, first, &declared.initials, &uses);
                    }
                } else {
                    if let Some(one) = uses.first() {
                        let message = form(one);
                        self.error(self.tokens.start(open + 1), message);
                    }
                    self.expression(open + 1, first);
                }
                for (begin, end) in [(first + 1, second), (second + 1, last)] {
                    if let Some(one) = uses.first().filter(|_| begin == end) {
                        let message = form(one);
                        self.error(self.tokens.start(end), message);
                    }
                    self.expression(begin, end);
                }
            }
            _ => {
                if let Some(one) = uses.first() {
                    let message = form(one);
                    self.error(self.tokens.start(open + 1), message);
                }
                let colon = self.tokens.find(open + 1, close, &[":"]);
                // C++20 has a declaration before that of the loop.
                let begin = semicolons.first().map_or(open + 1, |first| first + 1);
                self.head(open + 1, begin.saturating_sub(1).max(open + 1));
                if self.is_declaration(begin, colon + 1, Context::Head) {
                    self.declaration(begin, colon, Context::Head, Vec::new());
                    self.expression(colon, close);
                } else {
                    self.expression(begin, close);
                }
            }
        }
        let next = self.statement(close + 1, end, Context::Function);
        self.scopes.pop();
        next
    }

    /// The attributes behind the third `;`.
    fn fourth_clause(&mut self, third: usize, close: usize, uses: &mut Vec<Use>) {
        let mut fourth = Vec::new();
        let errors = self.errors.len();
        let next = self.attributes(third + 1, &mut fourth, false);
        if next < close {
            let message = "the fourth clause of 'for' takes nothing but attributes";
            self.error(self.tokens.start(next), message.to_owned());
        } else if fourth.is_empty() && self.errors.len() == errors {
            let message = "the fourth clause of 'for' has no attribute";
            self.error(self.tokens.start(close), message.to_owned());
        }
        self.edit(
            self.tokens.start(third),
            self.tokens.start(close),
            String::new(),
        );
        uses.append(&mut fourth);
    }

    /// Keeps those attributes of a loop that it may have together.
    fn check_loop(&mut self, uses: &mut Vec<Use>) {
        let makes = |one: &Use| one.row.makes(&one.arguments);
        let mut kept: Vec<Use> = Vec::new();
        for one in std::mem::take(uses) {
            let name = one.row.name;
            if !one.row.places.contains(&Place::Loop) {
                self.misplaced(&one);
            } else if kept.iter().any(|known| known.row.name == name) {
                self.error(one.at, format!("'@{name}' is given twice"));
            } else if let Some(other) = kept
                .iter()
                .find(|known| makes(known).is_some() && makes(&one).is_some())
            {
                let message = format!(
                    "'@{name}' cannot stand at a loop that has '@{}'",
                    other.row.name
                );
                self.error(one.at, message);
            } else {
                kept.push(one);
            }
        }
        let mut all = kept.iter();
        let made = all.find_map(|one| Some((one.row.name, makes(one)?)));
        let loops = match &made {
            Some((_, loops)) => &loops[..],
            None => &[LoopKind::Regular],
        };
        for one in kept
            .iter()
            .filter(|one| one.row.belongs_to(loops).is_none())
        {
            let (name, fits) = (one.row.name, one.row.loops);
            let message = match &made {
                Some((other, _)) if fits.contains(&LoopKind::Regular) => {
                    format!("'@{name}' cannot stand at a loop that has '@{other}'")
                }
                _ => {
                    let needed = fits.iter().map(|kind| format!("'{}'", kind.name()));
                    let needed: Vec<_> = needed.collect();
                    format!("'@{name}' needs {} at the same loop", needed.join(" or "))
                }
            };
            self.error(one.at, message);
        }
        *uses = kept;
    }

    /// Annotates the iterator of a loop, declared between two tokens; `initials` are the declared names,
    /// and the tokens of what they begin with.
    fn annotate(
        &mut self,
        first: usize,
        end: usize,
        initials: &[(usize, Option<(usize, usize)>)],
        uses: &[Use],
    ) {
        let name = uses[0].row.name;
        let (iterator, initial) = match initials {
            [(iterator, initial)] => (*iterator, *initial),
            [_, (second, _), ..] => {
                let message = format!("the loop of '@{name}' must have one iterator");
                self.error(self.tokens.start(*second), message);
                return;
            }
            [] => {
                let message = format!("the loop of '@{name}' declares no iterator");
                self.error(self.tokens.start(first), message);
                return;
            }
        };
        let Some((from, to)) = initial.filter(|(from, to)| from < to && *to <= end) else {
            let message = format!("the iterator of '@{name}' has no initial value");
            self.error(self.tokens.start(iterator), message);
            return;
        };
        let byte = self.tokens.start(first);
        for one in uses {
            if let Some(annotation) = one.row.annotation(&one.arguments) {
                self.edit_at(one.at, byte, byte, annotation + " ");
            }
        }
        let tile = uses.iter().find(|one| one.row.name == "tile");
        let tile = tile.and_then(|one| Tile::of(&one.arguments).ok());
        if let Some(size) = tile.and_then(|tile| tile.computed) {
            if self.tokens.word(from - 1) == "{" {
                let message = "the iterator of a loop with '@tile' must be initialised with '='";
                self.error(self.tokens.start(from - 1), message.to_owned());
                return;
            }
            self.has_markers = true;
            let byte = self.tokens.start(from);
            self.edit(byte, byte, format!("(__okl_tile_size({size}), "));
            let byte = self.tokens.all[to - 1].end;
            self.edit(byte, byte, ")".to_owned());
        }
    }
}

fn is_keyword(word: &str) -> bool {
    !word.is_empty() && KEYWORDS.contains(&format!(" {word} "))
}
