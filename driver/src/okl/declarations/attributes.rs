//! What declarations declare, and the attributes that stand at them: whether they may, and what becomes of them.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::super::attributes::{Form, Place};
use super::super::normalise::{Context, Normaliser};
use super::super::occa::Kernel;
use super::super::scopes::{Shape, What};
use super::super::tokens::unescape;
use super::super::uses::Use;
use super::{Declarator, Specifiers};

/// Whether it says whose a variable of a block of work items is.
fn is_of_items(name: &str) -> bool {
    matches!(name, "shared" | "exclusive")
}

impl Normaliser<'_> {
    /// Declares the name of a declarator.
    pub(super) fn declare(
        &mut self,
        found: &mut Declarator,
        specifiers: &Specifiers,
        prefix: &[Use],
        is_function: bool,
    ) {
        let named = specifiers.named.as_ref();
        let inherited = named.and_then(|named| named.dimensions.as_ref());
        let uses: Vec<Use> = prefix.iter().chain(&found.uses).cloned().collect();
        let dimensions = match is_function {
            true => None,
            false => self.dimensions(inherited, uses.iter()),
        };
        for other in &found.others {
            let name = self.tokens.word(*other);
            self.scopes
                .declare(name, What::Plain, self.tokens.start(*other));
        }
        let Some(name) = found.name else {
            return;
        };
        let what = if specifiers.is_typedef {
            let mut named = specifiers.named.clone().unwrap_or_default();
            named.shape = found.shape;
            named.dimensions = dimensions;
            for one in &uses {
                let annotation = one.row.annotation(&one.arguments);
                let annotation = annotation.map(|text| (one.row.name, text));
                if let Some(annotation) = annotation
                    && !named.annotations.contains(&annotation)
                {
                    named.annotations.push(annotation);
                }
            }
            What::Type(named)
        } else {
            dimensions.map_or(What::Plain, What::Array)
        };
        self.scopes
            .declare(self.tokens.word(name), what, self.tokens.start(name));
    }

    /// What a declarator is.
    pub(super) fn place(found: &Specifiers, context: Context, declarator: &Declarator) -> Place {
        if found.is_typedef {
            return Place::Typedef;
        }
        if declarator.parameters.is_some() && context != Context::Parameter {
            return Place::Function;
        }
        match context {
            Context::File => Place::Global,
            Context::Class if found.is_static => Place::Global,
            Context::Class => Place::Field,
            Context::Function | Context::Head => Place::Variable,
            Context::Parameter => Place::Parameter,
        }
    }

    /// Puts what the attributes of a declaration become into the text.
    pub(super) fn apply(
        &mut self,
        found: &Specifiers,
        context: Context,
        prefix: &[Use],
        declarators: &[Declarator],
    ) {
        let named: Vec<_> = declarators
            .iter()
            .filter(|one| one.name.is_some() || context == Context::Parameter)
            .collect();
        for declarator in declarators {
            let uses: Vec<_> = prefix.iter().chain(&declarator.uses).collect();
            self.check_together(found, &uses);
        }
        for one in prefix {
            let place = named
                .first()
                .map(|first| Self::place(found, context, first));
            let Some(place) = place.filter(|place| one.row.places.contains(place)) else {
                self.misplaced(one);
                continue;
            };
            match one.row.annotation(&one.arguments) {
                Some(annotation) if is_annotated(place) => {
                    let space = if one.start == one.end { " " } else { "" };
                    let text = format!("{annotation}{space}");
                    let name = named.first().and_then(|first| first.name);
                    let at = name.map_or(one.at, |name| self.tokens.start(name));
                    self.edit_at(at, one.start, one.end, one.rest.clone() + &text);
                }
                _ => self.remove(one),
            }
            for declarator in &named {
                let place = Self::place(found, context, declarator);
                self.at_declarator(found, declarator, place, one);
            }
        }
        for declarator in declarators {
            let place = Self::place(found, context, declarator);
            for one in &declarator.uses {
                // A function that has a body takes no attributes behind its parameters.
                let is_late = place == Place::Function && matches!(one.row.form, Form::Annotation);
                if !one.row.places.contains(&place) || is_late {
                    self.misplaced(one);
                    continue;
                }
                self.remove(one);
                let annotation = one.row.annotation(&one.arguments);
                if let Some(annotation) = annotation.filter(|_| is_annotated(place)) {
                    let byte = self.byte_behind(declarator);
                    self.edit(byte, byte, format!(" {annotation}"));
                }
                self.at_declarator(found, declarator, place, one);
            }
        }
        self.inherited(found, context, &named);
        let uses = named.first().map_or([].iter(), |first| first.uses.iter());
        let is_kernel = prefix
            .iter()
            .chain(uses)
            .any(|one| one.row.name == "kernel");
        if is_kernel && context == Context::File {
            self.kernel(found, &named);
        }
    }

    /// Says what attributes of one name cannot stand together, or with its specifiers.
    fn check_together(&mut self, found: &Specifiers, uses: &[&Use]) {
        for (number, one) in uses.iter().enumerate() {
            let name = one.row.name;
            let mut before = uses[..number].iter().map(|known| known.row.name);
            if before.clone().any(|known| known == name) {
                self.error(one.at, format!("'@{name}' is given twice"));
            } else if is_of_items(name)
                && let Some(known) = before.find(|known| is_of_items(known))
            {
                let message = format!("'@{name}' cannot stand at a variable that has '@{known}'");
                self.error(one.at, message);
            }
            if is_of_items(name) && found.is_static && !found.is_typedef {
                self.error(
                    one.at,
                    format!("'@{name}' cannot stand at a static variable"),
                );
            }
        }
    }

    /// Remembers a kernel that is defined.
    fn kernel(&mut self, found: &Specifiers, declarators: &[&Declarator]) {
        let [one] = declarators else { return };
        let (Some(name), Some(open), Some(begin)) = (one.name, one.parameters, found.type_at)
        else {
            return;
        };
        let close = self.tokens.partner(open).unwrap_or(open);
        let before = |at: &usize| !matches!(self.tokens.word(*at), ";" | "}" | "{" | ">");
        let first = (0..begin).rev().take_while(before).last().unwrap_or(begin);
        let is_template = first > 0 && self.tokens.word(first - 1) == ">";
        if self.tokens.word(one.next.saturating_sub(1)) != "}" {
            return;
        }
        if is_template {
            let place = self.tokens.position(self.tokens.start(name));
            // Another file may have another one there, by its macros.
            let mut digest = DefaultHasher::new();
            self.tokens.plain(first, one.next).hash(&mut digest);
            let place = format!(
                "{}:{}\t{:016x}",
                unescape(place.quoted),
                place.line,
                digest.finish()
            );
            self.templates
                .push((self.tokens.word(name).to_owned(), place));
            return;
        }
        let mut parameters = Vec::new();
        let mut at = open + 1;
        while at < close && (close > open + 2 || self.tokens.word(at) != "void") {
            let next = self.tokens.find(at, close, &[","]);
            let begin = at + if self.tokens.word(at) == "@" { 2 } else { 0 };
            let end = self.tokens.find(begin, next, &["@", "=", "["]);
            let name = (at..end).rev().find(|at| self.tokens.is_name(*at));
            parameters.push(name.map_or("", |at| self.tokens.word(at)).to_owned());
            at = next + 1;
        }
        self.kernels.push(Kernel { name, parameters });
    }

    /// Where something can be put behind a declared name and its brackets.
    pub(super) fn byte_behind(&self, declarator: &Declarator) -> usize {
        let last = declarator.behind.saturating_sub(1);
        let brackets = self.tokens.all[last].end;
        // Attributes may stand between, which are taken out.
        declarator
            .uses
            .iter()
            .map(|one| one.end)
            .fold(brackets, usize::max)
    }

    /// What the type's own attributes mean for variables of it.
    pub(super) fn inherited(
        &mut self,
        found: &Specifiers,
        context: Context,
        declarators: &[&Declarator],
    ) {
        let (Some(named), Some(type_at), false) = (&found.named, found.type_at, found.is_typedef)
        else {
            return;
        };
        for (name, annotation) in named.annotations.clone() {
            let byte = self.tokens.start(type_at);
            for declarator in declarators {
                if Self::place(found, context, declarator) == Place::Variable {
                    let name_at = declarator.name.unwrap_or(type_at);
                    self.check_array(name, declarator, self.tokens.start(name_at));
                } else {
                    let word = self.tokens.word(type_at);
                    let message = format!(
                        "the type '{word}' has '@{name}', which is for variables in a kernel"
                    );
                    self.error(byte, message);
                }
            }
            let name_at = declarators.first().and_then(|first| first.name);
            let at = name_at.map_or(byte, |name| self.tokens.start(name));
            self.edit_at(at, byte, byte, annotation + " ");
        }
    }

    /// What is shared is an array.
    pub(super) fn check_array(&mut self, attribute: &str, declarator: &Declarator, at: usize) {
        if attribute != "shared" {
            return;
        }
        if declarator.initial.is_some() {
            let message = "a '@shared' variable cannot have an initial value: work items write it";
            self.error(at, message.to_owned());
        } else if declarator.is_open {
            let message = "the size of a '@shared' array must be known";
            self.error(at, message.to_owned());
        } else if matches!(declarator.shape, Shape::Scalar | Shape::Pointer) {
            self.error(at, "'@shared' needs an array".to_owned());
        }
    }

    /// What an attribute means for one of the names that are declared.
    pub(super) fn at_declarator(
        &mut self,
        found: &Specifiers,
        declarator: &Declarator,
        place: Place,
        one: &Use,
    ) {
        match one.row.form {
            Form::Annotation => {
                if place == Place::Variable {
                    self.check_array(one.row.name, declarator, one.at);
                }
                if one.row.name == "kernel" && self.returns_something(found, declarator) {
                    self.error(one.at, "a '@kernel' must return void".to_owned());
                }
            }
            Form::Restrict => match declarator.star {
                Some(star) => {
                    let byte = self.tokens.all[star].end;
                    let touches =
                        self.tokens.is_name(star + 1) && self.tokens.start(star + 1) == byte;
                    let space = if touches { " " } else { "" };
                    self.edit(byte, byte, format!(" __restrict{space}"));
                }
                None if declarator.shape == Shape::Scalar || declarator.shape == Shape::Array => {
                    self.error(one.at, "'@restrict' needs a pointer".to_owned());
                }
                None => {
                    let at = declarator.name.unwrap_or(declarator.behind);
                    let is_alias = declarator.name.is_some_and(|name| name < found.next);
                    let byte = if is_alias {
                        self.byte_behind(declarator)
                    } else {
                        self.tokens.start(at)
                    };
                    self.edit(byte, byte, " __restrict ".to_owned());
                }
            },
            Form::Sizes if declarator.shape == Shape::Scalar => {
                self.error(one.at, "'@dim' needs a pointer or an array".to_owned());
            }
            _ => {}
        }
    }

    /// Whether a function is known not to return `void`.
    pub(super) fn returns_something(&self, found: &Specifiers, declarator: &Declarator) -> bool {
        declarator.star.is_some()
            || found.is_void == Some(false)
            || found.is_void.is_none() && found.shape != Shape::Unknown
    }
}

/// Whether what is declared gets an annotation: a type has none itself, and of parameters there is nothing to say.
fn is_annotated(place: Place) -> bool {
    !matches!(place, Place::Typedef | Place::Parameter)
}
