//! Declarations: the names they declare, and the attributes that stand at them.
//!
//! What is a declaration is told by its first tokens, as far as that can be told without knowing all types.
//! A variable that is missed hides nothing; a text that is wrong the compiler complains about.

mod attributes;

use super::normalise::{Context, Normaliser};
use super::scopes::{Shape, Type, What};
use super::tokens::Kind;
use super::uses::Use;

/// What may stand before a type and says that this is a declaration.
const SPECIFIERS: &str = " static inline constexpr consteval constinit thread_local mutable virtual \
    friend register explicit typedef extern alignas ";
const QUALIFIERS: &str = " const volatile __restrict __restrict__ ";
const BUILTIN: &str = " void bool char wchar_t char8_t char16_t char32_t short int long float double signed \
    unsigned __int128 _Float16 __bf16 __fp16 ";
const CLASSES: &str = " struct class union enum ";
/// Names that begin no type and are no name of a variable.
const OTHERS: &str = " sizeof alignof new delete this nullptr true false operator not and or requires \
    static_cast const_cast reinterpret_cast dynamic_cast typeid noexcept return goto throw else case do \
    while for if switch break continue default using namespace template try catch asm public private \
    protected static_assert co_return co_yield co_await decltype typename ";

fn is_one_of(words: &str, word: &str) -> bool {
    !word.is_empty() && words.contains(&format!(" {word} "))
}

/// The beginning of a declaration.
#[derive(Default)]
struct Specifiers {
    /// The token behind.
    next: usize,
    is_typedef: bool,
    is_static: bool,
    /// A block of declarations follows.
    is_linkage: bool,
    /// Where the type begins.
    type_at: Option<usize>,
    /// What it is, if it has attributes.
    named: Option<Type>,
    shape: Shape,
    /// Whether it is `void`, if that can be told.
    is_void: Option<bool>,
    /// Whether this can be nothing but a declaration.
    is_certain: bool,
}

/// One declared name.
#[derive(Default)]
struct Declarator {
    /// The token behind.
    next: usize,
    name: Option<usize>,
    /// The names of a structured binding.
    others: Vec<usize>,
    /// The last `*`.
    star: Option<usize>,
    shape: Shape,
    /// An array of unknown size.
    is_open: bool,
    uses: Vec<Use>,
    /// The token at which its parameters begin.
    parameters: Option<usize>,
    /// The token behind the name and its brackets.
    behind: usize,
    /// The tokens of the initial value.
    initial: Option<(usize, usize)>,
}

/// What is told of a declaration.
pub(crate) struct Declaration {
    /// The token behind it.
    pub(crate) next: usize,
    /// The tokens of its names, and of their initial values.
    pub(crate) initials: Vec<(usize, Option<(usize, usize)>)>,
}

impl Normaliser<'_> {
    /// The token behind a name with the classes it is in, and their template arguments.
    fn path(&self, at: usize) -> usize {
        let tokens = &self.tokens;
        let mut next = at;
        if tokens.word(next) == "::" {
            next += 1;
        }
        loop {
            if !tokens.is_name(next) {
                return next;
            }
            next += 1;
            if tokens.word(next) == "<"
                && let Some(close) = tokens.template_end(next)
                && (tokens.may_follow_template(close + 1)
                    || matches!(tokens.word(close + 1), "," | ")" | ">" | "[" | ";" | "="))
            {
                next = close + 1;
            }
            if tokens.word(next) != "::" {
                return next;
            }
            next += 1;
            if matches!(tokens.word(next), "template" | "~" | "*") {
                next += 1;
            }
        }
    }

    fn is_type_name(&self, at: usize) -> bool {
        let word = self.tokens.word(at);
        let is_name = self.tokens.is_name(at) && !is_one_of(OTHERS, word);
        (is_name || word == "::" && self.tokens.is_name(at + 1))
            && ![SPECIFIERS, QUALIFIERS, BUILTIN, CLASSES]
                .iter()
                .any(|words| is_one_of(words, word))
    }

    /// The token behind `*`, `&` and `const`, and attributes among them, and whether there is `*` or `&`.
    fn behind_pointers(&self, mut at: usize, end: usize) -> (usize, bool) {
        let mut any = false;
        while at < end {
            let word = self.tokens.word(at);
            if self.is_attribute(at) {
                at = self.behind_attribute(at);
            } else if matches!(word, "*" | "&" | "&&") {
                any = true;
                at += 1;
            } else if is_one_of(QUALIFIERS, word) {
                at += 1;
            } else {
                break;
            }
        }
        (at, any)
    }

    /// Whether a declaration begins at a token; `end` is that of the statements around it, or of the head of
    /// a loop.
    pub(crate) fn is_declaration(&mut self, at: usize, end: usize, context: Context) -> bool {
        if at >= end {
            return false;
        }
        let found = self.specifiers(at, end, None);
        if found.is_linkage || context == Context::Parameter {
            return true;
        }
        if found.type_at.is_none() {
            return found.is_certain && found.next < end;
        }
        let (next, pointers) = self.behind_pointers(found.next, end);
        let word = self.tokens.word(next);
        if found.is_certain {
            // `int(x)` is a value.
            let is_cast = matches!(word, "(" | "{") && !pointers && found.next == at + 1;
            let inside = self.tokens.word(next + 1);
            return !is_cast || matches!(inside, "*" | "&");
        }
        if word == "(" {
            let inside = self.tokens.word(next + 1);
            let close = self.tokens.partner(next);
            return matches!(inside, "*" | "&")
                && close.is_some_and(|close| matches!(self.tokens.word(close + 1), "(" | "["));
        }
        if word == "operator" {
            return context != Context::Function;
        }
        if word == "[" {
            // A structured binding.
            return self.tokens.word(found.next - 1) == "auto";
        }
        if !self.is_type_name(next) {
            return false;
        }
        let name = next;
        let behind = self.path(name);
        let follows = if behind < end {
            self.tokens.word(behind)
        } else {
            ""
        };
        match follows {
            "(" => {
                let is_array = self
                    .scopes
                    .find(self.tokens.word(name))
                    .is_some_and(|one| matches!(one.what, What::Array(_)));
                let close = self.tokens.partner(behind);
                let after = close.map_or("", |close| self.tokens.word(close + 1));
                // `MACRO m(i, j) += 1`
                !(is_array && context != Context::File && (pointers || !matches!(after, ";" | ",")))
            }
            "=" | "{" | ":" if context == Context::Head => true,
            _ if context == Context::Head => false,
            "" => true,
            ";" | "=" | "," | "[" | "{" | ")" | "@" | "__attribute__" | "asm" => true,
            ":" => context == Context::Class,
            _ => false,
        }
    }

    /// Reads what a declaration begins with. Without a place for attributes nothing is changed or said.
    fn specifiers(&mut self, at: usize, end: usize, mut uses: Option<&mut Vec<Use>>) -> Specifiers {
        let mut found = Specifiers {
            next: at,
            ..Specifiers::default()
        };
        let mut macros = 0;
        while found.next < end {
            let next = found.next;
            let word = self.tokens.word(next);
            if self.is_attribute(next) {
                found.next = match uses.as_deref_mut() {
                    Some(uses) => self.attributes(next, uses, false),
                    None => self.behind_attribute(next),
                };
                continue;
            }
            if word == "extern" && self.tokens.is(next + 1, Kind::String) {
                found.is_certain = true;
                found.next = next + 2;
                if self.tokens.word(next + 2) == "{" {
                    found.is_linkage = true;
                    return found;
                }
            } else if is_one_of(SPECIFIERS, word) {
                found.is_certain = true;
                found.is_typedef |= word == "typedef";
                found.is_static |= word == "static";
                found.next = next + 1;
                if matches!(word, "explicit" | "alignas") {
                    found.next = self.behind_parentheses(found.next);
                }
            } else if is_one_of(QUALIFIERS, word) {
                found.is_certain = true;
                found.next = next + 1;
            } else if matches!(word, "__attribute__" | "__declspec") {
                found.next = self.behind_parentheses(next + 1);
            } else if word == "[" && self.tokens.word(next + 1) == "[" {
                found.next = self.tokens.partner(next).map_or(end, |close| close + 1);
            } else if is_one_of(BUILTIN, word) {
                found.is_certain = true;
                found.type_at.get_or_insert(next);
                found.shape = Shape::Scalar;
                found.is_void = Some(word == "void");
                found.next = next + 1;
            } else if found.type_at.is_some() {
                break;
            } else if is_one_of(CLASSES, word) {
                found.is_certain = true;
                found.type_at = Some(next);
                found.is_void = Some(false);
                found.next = self.class(next, end, uses.is_some());
            } else if matches!(word, "decltype" | "typeof" | "__typeof__") {
                found.is_certain = true;
                found.type_at = Some(next);
                found.next = self.behind_parentheses(next + 1);
            } else {
                let begin = if word == "typename" { next + 1 } else { next };
                if !self.is_type_name(begin) {
                    break;
                }
                let behind = self.path(begin);
                if begin == next && macros < 8 && self.is_macro(behind, end) {
                    macros += 1;
                    found.next = behind;
                    continue;
                }
                let (after, _) = self.behind_pointers(behind, end);
                // A constructor or a call.
                if behind >= end || self.tokens.word(behind) == "(" && after == behind {
                    let inside = self.tokens.word(behind + 1);
                    if !matches!(inside, "*" | "&" | "@") {
                        if found.is_certain && behind < end {
                            break;
                        }
                        if behind < end {
                            return found;
                        }
                    }
                }
                found.is_certain |= begin != next;
                found.type_at = Some(begin);
                let last = self.tokens.word(behind - 1);
                let name = match last {
                    ">" => self.tokens.word(begin),
                    last => last,
                };
                if let Some(What::Type(named)) = self.scopes.find(name).map(|one| &one.what) {
                    found.shape = named.shape;
                    found.named = Some(named.clone());
                }
                found.next = behind;
            }
        }
        found
    }

    /// Whether what stands before a token can only be a macro, because a type follows.
    fn is_macro(&self, at: usize, end: usize) -> bool {
        let mut next = at;
        while next < end && self.is_attribute(next) {
            next = self.behind_attribute(next);
        }
        let word = self.tokens.word(next);
        if next >= end {
            return false;
        }
        if is_one_of(CLASSES, word) || is_one_of(SPECIFIERS, word) {
            return true;
        }
        // `T unsigned x` is no declaration.
        if is_one_of(BUILTIN, word) {
            return true;
        }
        if !self.is_type_name(next) {
            return false;
        }
        let behind = self.path(next);
        let (name, _) = self.behind_pointers(behind, end);
        name < end && self.is_type_name(name)
    }

    fn behind_parentheses(&self, at: usize) -> usize {
        match self.tokens.partner(at) {
            Some(close) if self.tokens.word(at) == "(" => close + 1,
            _ => at,
        }
    }

    /// The token behind `struct NAME { ... }`, whose members are gone through if the declaration is read.
    fn class(&mut self, at: usize, end: usize, reads: bool) -> usize {
        let is_enum = self.tokens.word(at) == "enum";
        let mut next = at + 1;
        if is_enum && matches!(self.tokens.word(next), "class" | "struct") {
            next += 1;
        }
        while self.tokens.word(next) == "[" || self.tokens.word(next) == "alignas" {
            next = match self.tokens.word(next) {
                "[" => self.tokens.partner(next).map_or(end, |close| close + 1),
                _ => self.behind_parentheses(next + 1).max(next + 1),
            };
        }
        if self.is_type_name(next) {
            next = self.path(next);
        }
        if self.tokens.word(next) == "final" {
            next += 1;
        }
        if self.tokens.word(next) == ":" {
            next = self.tokens.find(next, end, &["{", ";"]);
        }
        let close = self.tokens.partner(next).filter(|close| *close <= end);
        let (Some(close), "{") = (close, self.tokens.word(next)) else {
            return next.min(end);
        };
        if reads && is_enum {
            self.enumerators(next + 1, close);
        } else if reads && self.enter(next) {
            self.scopes.push();
            self.block(next + 1, close, Context::Class);
            self.scopes.pop();
            self.leave();
        }
        close + 1
    }

    fn enumerators(&mut self, mut at: usize, end: usize) {
        while at < end {
            let stop = self.tokens.find(at, end, &[","]);
            if self.tokens.is_name(at) {
                let name = self.tokens.word(at);
                self.scopes
                    .declare(name, What::Plain, self.tokens.start(at));
            }
            self.expression(at, stop);
            at = stop + 1;
        }
    }

    /// Goes through a declaration; `uses` are the attributes before it. Returns where it ends.
    pub(crate) fn declaration(
        &mut self,
        at: usize,
        end: usize,
        context: Context,
        mut uses: Vec<Use>,
    ) -> Declaration {
        let mut done = Declaration {
            next: end,
            initials: Vec::new(),
        };
        if !self.enter(at) {
            return done;
        }
        let found = self.specifiers(at, end, Some(&mut uses));
        if found.is_linkage {
            uses.iter().for_each(|one| self.misplaced(one));
            let open = found.next;
            let close = self.tokens.partner(open).unwrap_or(end).min(end);
            self.block(open + 1, close, Context::File);
            self.leave();
            done.next = close + 1;
            return done;
        }
        let mut next = found.next;
        let mut declarators = Vec::new();
        loop {
            let declarator = self.declarator(next, end, context, &found, &uses);
            next = declarator.next.max(next);
            if let (Some(name), None) = (declarator.name, declarator.parameters) {
                done.initials.push((name, declarator.initial));
            }
            let is_body = declarator.parameters.is_some()
                && next > 0
                && self.tokens.word(next - 1) == "}"
                && next <= end;
            declarators.push(declarator);
            if is_body || context == Context::Parameter {
                break;
            }
            match self.tokens.word(next) {
                "," if next < end => next += 1,
                ";" if next < end => {
                    next += 1;
                    break;
                }
                _ => {
                    // Not understood; the compiler will say more.
                    let stop = self.tokens.find(next, end, &[";", "}"]);
                    self.expression(next, stop);
                    next = stop + usize::from(stop < end && self.tokens.word(stop) == ";");
                    break;
                }
            }
        }
        self.apply(&found, context, &uses, &declarators);
        self.leave();
        done.next = next;
        done
    }

    /// Reads a declared name and what belongs to it, and declares it.
    fn declarator(
        &mut self,
        at: usize,
        end: usize,
        context: Context,
        specifiers: &Specifiers,
        prefix: &[Use],
    ) -> Declarator {
        let mut found = Declarator {
            next: at,
            shape: specifiers.shape,
            ..Declarator::default()
        };
        self.pointers_and_name(&mut found, end, context);
        let mut is_declared = false;
        while found.next < end {
            let next = found.next;
            if self.is_attribute(next) {
                let mut uses = std::mem::take(&mut found.uses);
                found.next = self.attributes(next, &mut uses, false);
                found.uses = uses;
                continue;
            }
            match self.tokens.word(next) {
                "[" if self.tokens.word(next + 1) == "[" => {
                    found.next = self.tokens.partner(next).map_or(end, |close| close + 1);
                    continue;
                }
                "[" if found.parameters.is_none() => {
                    let Some(close) = self.tokens.partner(next).filter(|close| *close < end) else {
                        break;
                    };
                    self.expression(next + 1, close);
                    if found.shape != Shape::Array || close > next + 1 {
                        found.is_open |= close == next + 1 && found.shape != Shape::Array;
                    }
                    found.shape = Shape::Array;
                    found.next = close + 1;
                }
                "__attribute__" | "asm" | "__asm__" => {
                    found.next = self.behind_parentheses(next + 1);
                    continue;
                }
                "(" if found.parameters.is_none() => {
                    let Some(close) = self.tokens.partner(next).filter(|close| *close < end) else {
                        break;
                    };
                    if found.name.is_some() && !self.are_parameters(next, close, context) {
                        self.declare(&mut found, specifiers, prefix, false);
                        is_declared = true;
                        self.expression(next + 1, close);
                        found.initial = Some((next + 1, close));
                        found.next = close + 1;
                        break;
                    }
                    found.behind = next;
                    self.declare(&mut found, specifiers, prefix, !specifiers.is_typedef);
                    is_declared = true;
                    found.parameters = Some(next);
                    self.function(&mut found, next, close, end);
                    break;
                }
                _ => break,
            }
            found.behind = found.next;
        }
        if !is_declared {
            self.declare(&mut found, specifiers, prefix, false);
        }
        if found.parameters.is_none() {
            self.initial(&mut found, end, context);
        }
        found
    }

    /// The initial value of a variable, or the width of a field.
    fn initial(&mut self, found: &mut Declarator, end: usize, context: Context) {
        let next = found.next;
        if next >= end {
            return;
        }
        match self.tokens.word(next) {
            ":" if context == Context::Class => {
                let stop = self.tokens.find(next, end, &[",", ";", "="]);
                self.expression(next + 1, stop);
                found.next = stop;
                if self.tokens.word(stop) == "=" {
                    self.initial(found, end, Context::File);
                }
            }
            "=" => {
                let stop = self.tokens.find(next, end, &[",", ";"]);
                self.expression(next + 1, stop);
                found.initial = Some((next + 1, stop));
                found.next = stop;
            }
            "{" => {
                if let Some(close) = self.tokens.partner(next).filter(|close| *close < end) {
                    self.expression(next + 1, close);
                    found.initial = Some((next + 1, close));
                    found.next = close + 1;
                }
            }
            _ => {}
        }
    }

    /// `*`, `&`, `const`, attributes, and the name, perhaps in parentheses.
    fn pointers_and_name(&mut self, found: &mut Declarator, end: usize, context: Context) {
        let mut closes = Vec::new();
        while found.next < end {
            let next = found.next;
            let word = self.tokens.word(next);
            if self.is_attribute(next) {
                let mut uses = std::mem::take(&mut found.uses);
                found.next = self.attributes(next, &mut uses, false);
                found.uses = uses;
            } else if word == "*" {
                found.star = Some(next);
                found.shape = Shape::Pointer;
                found.next += 1;
            } else if matches!(word, "&" | "&&") {
                found.shape = Shape::Unknown;
                found.next += 1;
            } else if is_one_of(QUALIFIERS, word) || word == "..." {
                found.next += 1;
            } else if word == "(" && closes.len() < 8 {
                let inside = self.tokens.word(next + 1);
                let close = self.tokens.partner(next).filter(|close| *close < end);
                let (Some(close), "*" | "&" | "&&" | "@" | "(") = (close, inside) else {
                    break;
                };
                closes.push(close);
                found.next += 1;
            } else {
                break;
            }
        }
        found.behind = found.next;
        if found.next >= end {
            return;
        }
        let word = self.tokens.word(found.next);
        if word == "[" && context != Context::Parameter {
            if let Some(close) = self.tokens.partner(found.next).filter(|close| *close < end) {
                found.others = (found.next + 1..close)
                    .filter(|at| self.tokens.is_name(*at))
                    .collect();
                found.next = close + 1;
            }
        } else if word == "operator" || word == "~" {
            let open = self.tokens.find(found.next + 1, end, &["(", ";", "{"]);
            // `operator()`
            let open = match self.tokens.word(open + 1) {
                ")" if open == found.next + 1 => open + 2,
                _ => open,
            };
            found.name = Some(found.next);
            found.next = open.min(end);
        } else if self.is_type_name(found.next) {
            let behind = self.path(found.next).min(end);
            found.next = behind;
            found.name = Some(match self.tokens.word(behind - 1) {
                "operator" => behind - 1,
                _ if self.tokens.is_name(behind - 1) => behind - 1,
                _ => behind.saturating_sub(2),
            });
            if self.tokens.word(behind - 1) == "operator" {
                let open = self.tokens.find(behind, end, &["(", ";", "{"]);
                found.next = match self.tokens.word(open + 1) {
                    ")" if open == behind => open + 2,
                    _ => open,
                }
                .min(end);
            }
        }
        // What is in the parentheses of the declarator and belongs to the name.
        while let Some(close) = closes.pop() {
            if found.next < close {
                if self.tokens.word(found.next) == "("
                    && let Some(inner) = self.tokens.partner(found.next)
                    && inner < close
                {
                    self.scopes.push();
                    self.parameters(found.next, inner);
                    self.scopes.pop();
                    found.next = inner + 1;
                }
                self.expression(found.next, close);
            }
            found.next = found.next.max(close + 1);
        }
        found.behind = found.next;
    }

    /// Whether parentheses behind a declared name are those of parameters, and of no initial value.
    fn are_parameters(&mut self, open: usize, close: usize, context: Context) -> bool {
        if matches!(
            self.tokens.word(close + 1),
            "{" | "const" | "noexcept" | "->" | "override" | "requires"
        ) {
            return true;
        }
        if context == Context::Head {
            return false;
        }
        let first = open + 1;
        if first == close || self.tokens.word(first) == "..." || self.is_attribute(first) {
            return true;
        }
        let words = [QUALIFIERS, BUILTIN, CLASSES];
        let word = self.tokens.word(first);
        if words.iter().any(|words| is_one_of(words, word)) || word == "typename" {
            // `int(x)`
            return context != Context::Function
                || self.tokens.word(first + 1) != "("
                || matches!(self.tokens.word(first + 2), "*" | "&");
        }
        let stop = self.tokens.find(first, close, &[","]);
        if context != Context::Function && self.is_type_name(first) && self.path(first) >= stop {
            return true;
        }
        self.is_declaration(first, stop, Context::Function)
    }

    /// The parameters and the body of a function.
    fn function(&mut self, found: &mut Declarator, open: usize, close: usize, end: usize) {
        self.scopes.push();
        self.parameters(open, close);
        let mut next = close + 1;
        while next < end {
            if self.is_attribute(next) {
                let mut uses = std::mem::take(&mut found.uses);
                next = self.attributes(next, &mut uses, false);
                found.uses = uses;
                continue;
            }
            match self.tokens.word(next) {
                "noexcept" | "__attribute__" | "throw" => next = self.behind_parentheses(next + 1),
                "requires" => next = self.behind_requirement(next, end),
                "[" | "(" => next = self.tokens.partner(next).map_or(end, |close| close + 1),
                // What members begin with.
                ":" => next = self.body_behind_members(next + 1, end),
                "{" | ";" | "," | "=" | ")" | "}" => break,
                _ => next += 1,
            }
        }
        match self.tokens.word(next) {
            "{" if next < end => {
                let close = self.tokens.partner(next).unwrap_or(end).min(end);
                self.block(next + 1, close, Context::Function);
                found.next = (close + 1).min(end.max(close));
            }
            "=" if next < end => found.next = self.tokens.find(next, end, &[",", ";"]),
            _ => found.next = next.min(end),
        }
        self.scopes.pop();
    }

    /// The body behind `: member(value), member{value}`.
    fn body_behind_members(&mut self, mut at: usize, end: usize) -> usize {
        while at < end {
            let open = self.path(at).max(at);
            let (Some(close), "(" | "{") = (self.tokens.partner(open), self.tokens.word(open))
            else {
                return open;
            };
            self.expression(open + 1, close.min(end));
            at = close + 1;
            if self.tokens.word(at) == "..." {
                at += 1;
            }
            if self.tokens.word(at) != "," {
                return at;
            }
            at += 1;
        }
        end
    }

    /// Goes through parameters, which the innermost scope gets.
    pub(crate) fn parameters(&mut self, open: usize, close: usize) {
        let mut at = open + 1;
        while at < close {
            let stop = self.tokens.find(at, close, &[","]);
            self.declaration(at, stop, Context::Parameter, Vec::new());
            at = stop + 1;
        }
        self.scopes.resolve();
    }

    /// A constructor or destructor, or what looks like one; returns the token behind.
    pub(crate) fn function_without_type(
        &mut self,
        at: usize,
        end: usize,
        context: Context,
    ) -> Option<usize> {
        if context == Context::Function {
            return None;
        }
        let tilde = usize::from(self.tokens.word(at) == "~");
        if tilde == 0 && !self.is_type_name(at) {
            return None;
        }
        let open = self.path(at + tilde);
        let close = self.tokens.partner(open).filter(|close| *close < end)?;
        let is_function = self.tokens.word(open) == "("
            && (context == Context::Class || open >= 2 && self.tokens.word(open - 2) == "::")
            || matches!(self.tokens.word(close + 1), "{");
        if self.tokens.word(open) != "(" || !is_function || !self.enter(at) {
            return None;
        }
        let mut found = Declarator::default();
        self.function(&mut found, open, close, end);
        self.leave();
        let uses = std::mem::take(&mut found.uses);
        uses.iter().for_each(|one| self.misplaced(one));
        let next = found.next;
        Some(next + usize::from(next < end && self.tokens.word(next) == ";"))
    }

    /// `using NAME = TYPE;`, `using namespace ...;`; returns the token behind.
    pub(crate) fn alias(&mut self, at: usize, end: usize, context: Context) -> usize {
        let stop = self.tokens.find(at, end, &[";", "}"]);
        let equals = self.tokens.find(at, stop, &["="]);
        let name = at + 1;
        let next = stop + usize::from(stop < end && self.tokens.word(stop) == ";");
        if !self.tokens.is_name(name) || equals == stop {
            self.expression(at, stop);
            return next;
        }
        let mut uses = Vec::new();
        let behind = self.attributes(name + 1, &mut uses, false);
        self.expression(behind, equals);
        let mut found = self.specifiers(equals + 1, stop, Some(&mut uses));
        found.is_typedef = true;
        let mut declarator = Declarator {
            next: found.next,
            shape: found.shape,
            ..Declarator::default()
        };
        self.pointers_and_name(&mut declarator, stop, Context::Parameter);
        while declarator.next < stop && self.tokens.word(declarator.next) == "[" {
            let close = self.tokens.partner(declarator.next).unwrap_or(stop);
            declarator.shape = Shape::Array;
            self.expression(declarator.next + 1, close.min(stop));
            declarator.next = (close + 1).min(stop);
        }
        let mut own = std::mem::take(&mut declarator.uses);
        declarator.next = self.attributes(declarator.next, &mut own, false);
        self.expression(declarator.next.min(stop), stop);
        declarator.uses = own;
        declarator.name = Some(name);
        declarator.behind = declarator.next.min(stop);
        self.declare(&mut declarator, &found, &uses, false);
        self.apply(&found, context, &uses, &[declarator]);
        next
    }
}
