//! Pragmas as the programmer writes them.
//!
//! ```text
//! chain := loopchain schedule( [item {, item}] ) [local( name {, name} )]
//! item  := fuse [( [shift {, shift}] )] | tile | serial | parallel | wavefront | auto
//! shift := ( [number {, number}] )
//! tile  := tile( (number {, number}), how, how [, overlap] ) | tile( (number {, number}), overlap )
//! how   := serial | parallel | wavefront | tile
//! strip := strip
//! loop  := for domain( number : number {, number : number} ) [with( name {, name} )] {access}
//! access := read|write name { place {, place} } {, name { place {, place} }}
//! place := ( [index {, index}] )
//! ```
//!
//! There may be commas between clauses. A number is an expression of the program's language; an index is an iterator of
//! `with` and a constant, or a constant. Where tiles only `overlap`, they run in parallel, and what is in them does not.

use super::tokens::{Token, joined};
use super::{
    AccessPragma, ChainPragma, Error, Index, Item, LoopPragma, Name, Number, Position, Pragma,
    Tile, What,
};

/// How deep tiles may be in each other.
const DEEPEST: usize = 8;

/// What a pragma says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// All but the values.
    pub pragma: Pragma,
    /// The numbers that are no constants, in the order of their numbers, each once.
    pub values: Vec<Written>,
}

/// An expression of the program's language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Where it is.
    pub at: Position,
    /// As it is written.
    pub text: String,
}

/// Reads what stands behind `#pragma omplc`, which is at a place, as macros have left it.
pub fn parse(tokens: &[Token], at: Position) -> Result<Said, Error> {
    let mut parser = Parser {
        tokens,
        at: 0,
        begins: at,
        values: Vec::new(),
        tiles: 0,
    };
    let pragma = match parser.word() {
        "loopchain" => {
            parser.at += 1;
            Pragma::Chain(parser.chain()?)
        }
        "for" => {
            parser.at += 1;
            Pragma::Loop(parser.one_loop()?)
        }
        "strip" => {
            parser.at += 1;
            match parser.word() {
                "" => Pragma::Strip(at),
                word => return parser.fail(format!("'{word}' cannot stand behind 'strip'")),
            }
        }
        "" => {
            let message = "'loopchain', 'for' or 'strip' is missing behind '#pragma omplc'";
            return parser.fail(message.to_string());
        }
        word => {
            return parser.fail(format!(
                "unknown pragma 'omplc {word}': there are 'omplc loopchain schedule(...)', in front of the block that the \
                 loops are in, 'omplc for domain(...)', in front of a loop, and 'omplc strip', in front of an 'if' in a loop"
            ));
        }
    };
    Ok(Said {
        pragma,
        values: parser.values,
    })
}

/// Goes through a pragma.
struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    /// Where the pragma is.
    begins: Position,
    values: Vec<Written>,
    /// How many tiles the next token is in.
    tiles: usize,
}

impl<'a> Parser<'a> {
    fn word(&self) -> &'a str {
        self.tokens.get(self.at).map_or("", |token| &token.text)
    }

    /// Where the next token is, or where one is missing.
    fn place(&self) -> Position {
        match (self.tokens.get(self.at), self.tokens.last()) {
            (Some(token), _) => token.at,
            (None, Some(last)) => {
                let length = u32::try_from(last.text.len()).unwrap_or(0);
                Position::new(last.at.line, last.at.column + length)
            }
            (None, None) => self.begins,
        }
    }

    fn fail<T>(&self, message: String) -> Result<T, Error> {
        Err(Error {
            at: self.place(),
            message,
        })
    }

    fn expected<T>(&self, what: &str) -> Result<T, Error> {
        match self.word() {
            "" => self.fail(format!("{what} is missing where the pragma ends")),
            word => self.fail(format!("{what} is missing in front of '{word}'")),
        }
    }

    fn take(&mut self, word: &str) -> bool {
        let is_here = self.word() == word;
        self.at += usize::from(is_here);
        is_here
    }

    fn expect(&mut self, word: &str, of: &str) -> Result<(), Error> {
        match self.take(word) {
            true => Ok(()),
            false => self.expected(&format!("'{word}' of {of}")),
        }
    }

    /// What stands in brackets, with commas between.
    fn list<T>(
        &mut self,
        [open, close]: [&str; 2],
        of: &str,
        mut one: impl FnMut(&mut Self) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        self.expect(open, of)?;
        let mut all = Vec::new();
        while !self.take(close) {
            if !all.is_empty() && !self.take(",") {
                return self.expected(&format!("',' or '{close}' of {of}"));
            }
            all.push(one(self)?);
        }
        Ok(all)
    }

    fn name(&mut self, what: &str) -> Result<Name, Error> {
        let token = self.tokens.get(self.at).filter(|token| token.is_name());
        let Some(token) = token else {
            return self.expected(what);
        };
        self.at += 1;
        Ok(Name {
            at: token.at,
            text: token.text.clone(),
        })
    }

    /// A name, which none of `known` has.
    fn new_name(&mut self, what: &str, known: &[Name]) -> Result<Name, Error> {
        let at = self.at;
        let name = self.name(what)?;
        if known.iter().any(|one| one.text == name.text) {
            self.at = at;
            return self.fail(format!("'{}' is named twice", name.text));
        }
        Ok(name)
    }

    /// Names that are all different: in parentheses, or, where they may be, without.
    fn names(&mut self, of: &str, may_be_plain: bool) -> Result<Vec<Name>, Error> {
        let mut all: Vec<Name> = Vec::new();
        if self.word() == "(" || !may_be_plain {
            self.list(["(", ")"], of, |this| {
                let name = this.new_name("a name", &all)?;
                all.push(name);
                Ok(())
            })?;
            if all.is_empty() {
                self.at -= 1;
                return self.expected(&format!("a name of {of}"));
            }
        } else {
            all.push(self.new_name("a name", &all)?);
            // A comma may also stand in front of another clause.
            while self.word() == "," && !self.is_clause(self.at + 1) {
                self.at += 1;
                all.push(self.new_name("a name", &all)?);
            }
        }
        Ok(all)
    }

    fn is_clause(&self, at: usize) -> bool {
        let word = |at: usize| self.tokens.get(at).map_or("", |token| token.text.as_str());
        word(at) == "schedule" && word(at + 1) == "("
    }

    fn chain(&mut self) -> Result<ChainPragma, Error> {
        let mut schedule = None;
        let mut locals: Vec<Name> = Vec::new();
        while !self.word().is_empty() {
            match self.word() {
                "schedule" if schedule.is_some() => {
                    return self.fail("there is a schedule already".to_string());
                }
                "schedule" => {
                    self.at += 1;
                    let items = self.list(["(", ")"], "'schedule'", Self::item)?;
                    let is_auto = |item: &&Item| item.what == What::Auto;
                    if let (Some(auto), 2..) = (items.iter().find(is_auto), items.len()) {
                        return Err(Error {
                            at: auto.at,
                            message: "'auto' stands alone in a schedule".to_string(),
                        });
                    }
                    schedule = Some(items);
                }
                "local" => {
                    self.at += 1;
                    let more = self.names("'local'", true)?;
                    if let Some(twice) = more
                        .iter()
                        .find(|one| locals.iter().any(|known| known.text == one.text))
                    {
                        return Err(Error {
                            at: twice.at,
                            message: format!("'{}' is named twice", twice.text),
                        });
                    }
                    locals.extend(more);
                }
                word => {
                    return self.fail(format!(
                        "unknown clause '{word}' of 'loopchain': there are schedule(...) and local(...)"
                    ));
                }
            }
            self.comma()?;
        }
        let Some(schedule) = schedule else {
            return self.fail(
                "'loopchain' has no schedule: write schedule(auto), schedule() for the order in which the loops are \
                 written, or what is to be done with them, such as schedule(fuse(), parallel)"
                    .to_string(),
            );
        };
        Ok(ChainPragma {
            at: self.begins,
            schedule,
            locals,
        })
    }

    /// What may stand between clauses.
    fn comma(&mut self) -> Result<(), Error> {
        if self.take(",") && self.word().is_empty() {
            return self.expected("a clause");
        }
        Ok(())
    }

    fn item(&mut self) -> Result<Item, Error> {
        let at = self.place();
        let what = match self.word() {
            "fuse" => {
                self.at += 1;
                What::Fuse(self.shifts()?)
            }
            "auto" => {
                self.at += 1;
                What::Auto
            }
            _ => return self.how("fuse, tile((...), ...), serial, parallel, wavefront and auto"),
        };
        Ok(Item { at, what })
    }

    /// How iterations, or tiles, follow each other.
    fn how(&mut self, all: &str) -> Result<Item, Error> {
        let at = self.place();
        let what = match self.word() {
            "serial" => What::Serial,
            "parallel" => What::Parallel,
            "wavefront" => What::Wavefront,
            "tile" if self.tiles == DEEPEST => {
                return self.fail(format!("tiles are in each other more than {DEEPEST} deep"));
            }
            "tile" => {
                self.at += 1;
                self.tiles += 1;
                let tile = self.tile()?;
                self.tiles -= 1;
                return Ok(Item {
                    at,
                    what: What::Tile(tile),
                });
            }
            "" | ")" | "," => {
                return self.expected(&format!("what is to be done (there are {all})"));
            }
            word => return self.fail(format!("'{word}' cannot stand here: there are {all}")),
        };
        self.at += 1;
        Ok(Item { at, what })
    }

    fn shifts(&mut self) -> Result<Option<Vec<Vec<Number>>>, Error> {
        if self.word() != "(" {
            return Ok(None);
        }
        let shifts = self.list(["(", ")"], "'fuse'", |this| {
            if this.word() != "(" {
                return this.expected(
                    "'(' of a shift (write one for each loop of the chain, such as fuse((0,0),(1,1)), or fuse() for those \
                     that are needed)",
                );
            }
            this.list(["(", ")"], "a shift", Self::number)
        })?;
        Ok(Some(shifts).filter(|all| !all.is_empty()))
    }

    fn tile(&mut self) -> Result<Tile, Error> {
        const HOWS: &str = "serial, parallel, wavefront and tile((...), ...)";
        self.expect("(", "'tile'")?;
        let at = self.at;
        if self.word() != "(" {
            return self
                .expected("'(' of the sizes of a tile (write tile((32,32), parallel, serial))");
        }
        let sizes = self.list(["(", ")"], "the sizes of a tile", |this| {
            let at = this.at;
            let size = this.number()?;
            if matches!(size, Number::Constant(..1)) {
                this.at = at;
                return this
                    .fail("a tile has at least one iteration in each dimension".to_string());
            }
            Ok(size)
        })?;
        if sizes.is_empty() {
            self.at = at + 1;
            return self.expected("the size of a tile in some dimension");
        }
        let place = self.place();
        let what = "',' and how tiles follow each other";
        if !self.take(",") {
            return self.expected(what);
        }
        let mut tile = Tile {
            sizes,
            over: Box::new(Item {
                at: place,
                what: What::Parallel,
            }),
            within: Box::new(Item {
                at: place,
                what: What::Serial,
            }),
            overlaps: self.take("overlap"),
        };
        if !tile.overlaps {
            *tile.over = self.how(HOWS)?;
            if !self.take(",") {
                return self.expected("',' and how the iterations of a tile follow each other");
            }
            *tile.within = self.how(HOWS)?;
            if self.take(",") && !self.take("overlap") {
                return self.expected("'overlap'");
            }
            tile.overlaps = self.tokens[self.at - 1].text == "overlap";
        }
        self.expect(")", "'tile'")?;
        Ok(tile)
    }

    /// An expression of the program's, up to a comma or a bracket that is not its own.
    fn number(&mut self) -> Result<Number, Error> {
        let end = self.end_of_number(&[","]);
        self.number_up_to(end)
    }

    fn number_up_to(&mut self, end: usize) -> Result<Number, Error> {
        let tokens = &self.tokens[self.at..end];
        if tokens.is_empty() {
            return self.expected("a number");
        }
        let at = self.place();
        self.at = end;
        let constant = Sum::of(tokens, &[]).ok().filter(Sum::is_constant);
        if let Some(sum) = constant {
            return Ok(Number::Constant(sum.constant));
        }
        let text = joined(tokens);
        let known = self.values.iter().position(|value| value.text == text);
        Ok(Number::Value(known.unwrap_or_else(|| {
            self.values.push(Written { at, text });
            self.values.len() - 1
        })))
    }

    /// The first of some tokens, or of brackets that close, that is in no brackets and in no conditional expression.
    fn end_of_number(&self, ends: &[&str]) -> usize {
        let (mut depth, mut conditions) = (0usize, 0usize);
        for at in self.at..self.tokens.len() {
            match self.tokens[at].text.as_str() {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" if depth == 0 => return at,
                ")" | "]" | "}" => depth -= 1,
                "?" if depth == 0 => conditions += 1,
                ":" if depth == 0 && conditions > 0 => conditions -= 1,
                word if depth == 0 && ends.contains(&word) => return at,
                _ => {}
            }
        }
        self.tokens.len()
    }

    fn one_loop(&mut self) -> Result<LoopPragma, Error> {
        let mut read = LoopPragma {
            at: self.begins,
            ..LoopPragma::default()
        };
        while !self.word().is_empty() {
            match self.word() {
                "domain" if !read.domain.is_empty() => {
                    return self.fail("there is a domain already".to_string());
                }
                "domain" => {
                    self.at += 1;
                    self.list(["(", ")"], "'domain'", |this| {
                        read.domain_at.push(this.place());
                        read.domain.push(this.bounds()?);
                        Ok(())
                    })?;
                    if read.domain.is_empty() {
                        self.at -= 1;
                        return self.expected("a range such as 0:n-1");
                    }
                }
                "with" if !read.iterators.is_empty() => {
                    return self.fail("the iterators are named already".to_string());
                }
                "with" => {
                    self.at += 1;
                    let at = self.place();
                    read.iterators = self.names("'with'", false)?;
                    if !read.domain.is_empty() && read.iterators.len() != read.domain.len() {
                        return Err(Error {
                            at,
                            message: numbers_differ(&read),
                        });
                    }
                }
                "read" | "write" => self.accesses(&mut read)?,
                word => {
                    return self.fail(format!(
                        "unknown clause '{word}' of 'for': there are domain(...), with(...), read NAME{{...}} and write NAME{{...}}"
                    ));
                }
            }
            self.comma()?;
        }
        if read.domain.is_empty() {
            return self.fail(
                "the loop has no domain: write from where to where it counts, both included, such as domain(0:n-1)"
                    .to_string(),
            );
        }
        if !read.iterators.is_empty() && read.iterators.len() != read.domain.len() {
            return Err(Error {
                at: read.iterators[0].at,
                message: numbers_differ(&read),
            });
        }
        Ok(read)
    }

    fn bounds(&mut self) -> Result<(Number, Number), Error> {
        if matches!(self.word(), "" | ")" | ",") {
            return self.expected("a range such as 0:n-1");
        }
        let colon = self.end_of_number(&[":", ","]);
        if self.tokens.get(colon).is_none_or(|one| one.text != ":") {
            self.at = colon;
            return self.expected("':' and the last value of an iterator");
        }
        let first = self.number_up_to(colon)?;
        self.at += 1;
        Ok((first, self.number()?))
    }

    /// `read` or `write`, and the spaces behind it.
    fn accesses(&mut self, read: &mut LoopPragma) -> Result<(), Error> {
        let at = self.place();
        let is_write = self.word() == "write";
        self.at += 1;
        loop {
            let space = self.name("the name of a data space")?;
            if self.word() != "{" {
                return self.expected(&format!(
                    "'{{' and the elements of '{0}', such as {0}{{(i),(i+1)}},",
                    space.text
                ));
            }
            let place = |this: &mut Self| {
                let place = this.place();
                let indices =
                    this.list(["(", ")"], "an element", |this| this.index(&read.iterators))?;
                Ok((place, indices))
            };
            let places = self.list(["{", "}"], "the elements of a data space", place)?;
            let Some(rank) = places.first().map(|one| one.1.len()) else {
                self.at -= 1;
                return self.expected("an element, such as (i),");
            };
            if let Some(other) = places.iter().find(|one| one.1.len() != rank) {
                let message = format!(
                    "'{}' has elements of {rank} and of {} indices",
                    space.text,
                    other.1.len()
                );
                return Err(Error {
                    at: other.0,
                    message,
                });
            }
            read.accesses.push(AccessPragma {
                at,
                is_write,
                space,
                places: places.into_iter().map(|one| one.1).collect(),
            });
            let word = |at: usize| self.tokens.get(at).map_or("", |token| token.text.as_str());
            if !(word(self.at) == "," && word(self.at + 2) == "{") {
                return Ok(());
            }
            self.at += 1;
        }
    }

    fn index(&mut self, iterators: &[Name]) -> Result<Index, Error> {
        let end = self.end_of_number(&[","]);
        let tokens = &self.tokens[self.at..end];
        if tokens.is_empty() {
            return self.expected("an index");
        }
        let example = iterators.first().map_or("i", |one| &one.text);
        let possible = format!(
            "an index is an iterator and a constant, such as {example}, {example}-1 or {example}+2, or a constant; \
             where that is not all, leave out 'with', 'read' and 'write' of this loop, and they are found out"
        );
        let sum = Sum::of(tokens, iterators).map_err(|wrong| {
            let token = &tokens[wrong.min(tokens.len() - 1)];
            let what = match (token.is_name(), iterators.is_empty()) {
                (true, true) => format!(
                    "'{}' is no iterator: name them in front of the accesses, such as with({example})",
                    token.text
                ),
                (true, false) => format!("'{}' is no iterator and no constant", token.text),
                (false, _) => format!("'{}' cannot stand here", token.text),
            };
            Error {
                at: token.at,
                message: format!("{what}; {possible}"),
            }
        })?;
        let mut factors = sum.factors.iter().enumerate().filter(|one| *one.1 != 0);
        let (first, second) = (factors.next(), factors.next());
        let iterator = match (first, second) {
            (None, _) => None,
            (Some((number, 1)), None) => Some(number),
            (Some((number, factor)), None) => {
                let name = &iterators[number].text;
                return self.fail(format!("'{name}' is multiplied by {factor}; {possible}"));
            }
            (Some((one, _)), Some((other, _))) => {
                let [one, other] = [one, other].map(|number| &iterators[number].text);
                return self.fail(format!(
                    "'{one}' and '{other}' are in one index; {possible}"
                ));
            }
        };
        self.at = end;
        Ok(Index {
            iterator,
            offset: sum.constant,
        })
    }
}

fn numbers_differ(read: &LoopPragma) -> String {
    let ranges = read.domain.len();
    let plural = if ranges == 1 { "" } else { "s" };
    format!(
        "'domain' has {ranges} range{plural}, and 'with' {}: each range has one iterator",
        read.iterators.len()
    )
}

/// A sum of multiples of iterators and a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sum {
    factors: Vec<i64>,
    constant: i64,
}

impl Sum {
    /// What tokens say; or the token that says something else.
    fn of(tokens: &[Token], iterators: &[Name]) -> Result<Sum, usize> {
        let mut at = 0;
        let sum = Self::terms(tokens, &mut at, iterators, 0)?;
        if at < tokens.len() { Err(at) } else { Ok(sum) }
    }

    fn is_constant(&self) -> bool {
        self.factors.iter().all(|factor| *factor == 0)
    }

    fn terms(
        tokens: &[Token],
        at: &mut usize,
        iterators: &[Name],
        depth: usize,
    ) -> Result<Sum, usize> {
        let mut sum = Self::product(tokens, at, iterators, depth)?;
        loop {
            let begins = *at;
            let sign = match tokens.get(*at).map(|token| token.text.as_str()) {
                Some("+") => 1,
                Some("-") => -1,
                _ => return Ok(sum),
            };
            *at += 1;
            let next = Self::product(tokens, at, iterators, depth)?;
            let next = next.times(sign).ok_or(begins)?;
            sum = sum.plus(&next).ok_or(begins)?;
        }
    }

    fn product(
        tokens: &[Token],
        at: &mut usize,
        iterators: &[Name],
        depth: usize,
    ) -> Result<Sum, usize> {
        let mut product = Self::one(tokens, at, iterators, depth)?;
        while tokens.get(*at).is_some_and(|token| token.text == "*") {
            let begins = *at;
            *at += 1;
            let next = Self::one(tokens, at, iterators, depth)?;
            let (sum, factor) = match product.is_constant() {
                true => (next, product.constant),
                false if next.is_constant() => (product, next.constant),
                false => return Err(begins),
            };
            product = sum.times(factor).ok_or(begins)?;
        }
        Ok(product)
    }

    fn one(
        tokens: &[Token],
        at: &mut usize,
        iterators: &[Name],
        depth: usize,
    ) -> Result<Sum, usize> {
        const DEEPEST: usize = 100;
        let begins = *at;
        let token = tokens.get(begins).ok_or(begins)?;
        *at += 1;
        let constant = |constant: i64| Sum {
            factors: vec![0; iterators.len()],
            constant,
        };
        match token.text.as_str() {
            _ if depth > DEEPEST => Err(begins),
            "(" => {
                let sum = Self::terms(tokens, at, iterators, depth + 1)?;
                match tokens.get(*at).map(|token| token.text.as_str()) {
                    Some(")") => {
                        *at += 1;
                        Ok(sum)
                    }
                    _ => Err(*at),
                }
            }
            "-" | "+" => {
                let sum = Self::one(tokens, at, iterators, depth + 1)?;
                sum.times(if token.text == "-" { -1 } else { 1 })
                    .ok_or(begins)
            }
            word if token.is_number() => integer(word).map(constant).ok_or(begins),
            word => {
                let number = iterators.iter().position(|one| one.text == word);
                let mut sum = constant(0);
                sum.factors[number.ok_or(begins)?] = 1;
                Ok(sum)
            }
        }
    }

    fn times(mut self, factor: i64) -> Option<Sum> {
        for one in self.factors.iter_mut().chain([&mut self.constant]) {
            *one = one.checked_mul(factor)?;
        }
        Some(self)
    }

    fn plus(mut self, other: &Sum) -> Option<Sum> {
        for (one, other) in self.factors.iter_mut().zip(&other.factors) {
            *one = one.checked_add(*other)?;
        }
        self.constant = self.constant.checked_add(other.constant)?;
        Some(self)
    }
}

/// The value of an integer that has a sign.
fn integer(text: &str) -> Option<i64> {
    let text = text.replace('\'', "").to_ascii_lowercase();
    let digits = text.trim_end_matches('l');
    let (digits, base) = match (digits.strip_prefix("0x"), digits.strip_prefix("0b")) {
        (Some(digits), _) => (digits, 16),
        (_, Some(digits)) => (digits, 2),
        _ if digits.len() > 1 && digits.starts_with('0') => (&digits[1..], 8),
        _ => (digits, 10),
    };
    i64::from_str_radix(digits, base).ok()
}

#[cfg(test)]
mod tests;
