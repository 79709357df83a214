//! The normal form of pragmas: what the marker of a pragma says.
//!
//! ```text
//! "FILE" @LINE:COLUMN loopchain schedule(@3:30 fuse((0,0),(1,$0)), @3:50 tile((64,$1), @3:60 parallel, @3:70 serial, overlap))
//!     local(@4:7 A, @4:10 B)
//! "FILE" @LINE:COLUMN for domain(@5:20 1:$0, @5:25 0:99) with(@5:35 i, @5:37 j) @5:40 write @5:46 A{(i,j)}
//!     @5:60 read @5:65 B{(i-1,j),(i+1,3)} @6:9 omp parallel for simd private(@6:40 x) reduction(+:@6:55 s,@6:57 a[0:n])
//! ```
//!
//! in one line. Where a place is left out it is 0:0. Of a loop in a function that chains call there is `in(f, a, b)` behind its
//! domain: the function and its parameters; and of a call of it
//!
//! ```text
//! "FILE" @LINE:COLUMN call(f, x, "y + 1") in(g, x)
//! ```

use std::fmt::{self, Write};

use super::tokens::{Token, joined, tokens};
use super::{
    AccessPragma, CallNote, ChainPragma, Clause, Error, Index, Item, LoopPragma, Name, Number,
    OpenMp, Position, Pragma, Sharing, Tile, What, Within, is_plain,
};

/// A pragma of a file as text.
pub fn write_marker(file: &str, pragma: &Pragma) -> String {
    format!("{} {pragma}", quoted(file))
}

/// A text as a string.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{text}\"")
}

/// A name, or whatever stands in its place.
fn word(text: &str) -> String {
    match is_plain(text) {
        true => text.to_string(),
        false => quoted(text),
    }
}

/// What a string says.
fn unquoted(string: &str) -> Option<String> {
    let inside = string.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::new();
    let mut characters = inside.chars();
    while let Some(one) = characters.next() {
        text.extend(match one {
            '\\' => characters.next(),
            one => Some(one),
        });
    }
    Some(text)
}

/// The file and the pragma that a text was written from.
pub fn read_marker(text: &str) -> Result<(String, Pragma), Error> {
    let tokens = tokens(text, Position::new(1, 1));
    let mut reader = Reader {
        tokens: &tokens,
        at: 0,
    };
    let pragma = reader.marker()?;
    match reader.word() {
        "" => Ok(pragma),
        _ => reader.fail("the end"),
    }
}

impl fmt::Display for Pragma {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Pragma::Chain(chain) => chain.fmt(to),
            Pragma::Loop(one) => one.fmt(to),
            Pragma::Strip(at) => write!(to, "@{at} strip"),
            Pragma::Call(call) => call.fmt(to),
        }
    }
}

impl fmt::Display for ChainPragma {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        let schedule = list(&self.schedule, ", ");
        write!(to, "@{} loopchain schedule({schedule})", self.at)?;
        if !self.locals.is_empty() {
            write!(to, " local({})", list(&self.locals, ", "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        write!(to, "@{} {}", self.at, self.text)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Number::Constant(number) => write!(to, "{number}"),
            Number::Value(number) => write!(to, "${number}"),
        }
    }
}

impl fmt::Display for Item {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        write!(to, "@{} {}", self.at, self.what)
    }
}

impl fmt::Display for What {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        match self {
            What::Fuse(None) => to.write_str("fuse"),
            What::Fuse(Some(shifts)) => {
                let shifts = shifts.iter().map(|one| format!("({})", list(one, ",")));
                write!(to, "fuse({})", list(&shifts.collect::<Vec<_>>(), ","))
            }
            What::Tile(tile) => {
                let Tile { over, within, .. } = tile;
                write!(to, "tile(({}), {over}, {within}", list(&tile.sizes, ","))?;
                to.write_str(if tile.overlaps { ", overlap)" } else { ")" })
            }
            What::Serial => to.write_str("serial"),
            What::Parallel => to.write_str("parallel"),
            What::Wavefront => to.write_str("wavefront"),
            What::Auto => to.write_str("auto"),
        }
    }
}

impl fmt::Display for CallNote {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        let words = [&self.callee].into_iter().chain(&self.arguments);
        let words: Vec<_> = words.map(|one| word(one)).collect();
        write!(to, "@{} call({})", self.at, list(&words, ", "))?;
        write_within(self.within.as_ref(), to)
    }
}

fn write_within(within: Option<&Within>, to: &mut fmt::Formatter) -> fmt::Result {
    let Some(within) = within else {
        return Ok(());
    };
    let words = [&within.name].into_iter().chain(&within.parameters);
    let words: Vec<_> = words.map(|one| word(one)).collect();
    write!(to, " in({})", list(&words, ", "))
}

impl fmt::Display for LoopPragma {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        let bounds = self.domain.iter().enumerate().map(|(at, (first, last))| {
            let at = self.domain_at.get(at).copied().unwrap_or_default();
            format!("@{at} {first}:{last}")
        });
        let bounds = list(&bounds.collect::<Vec<_>>(), ", ");
        write!(to, "@{} for domain({bounds})", self.at)?;
        write_within(self.within.as_ref(), to)?;
        if !self.iterators.is_empty() {
            write!(to, " with({})", list(&self.iterators, ", "))?;
        }
        for access in &self.accesses {
            let mode = if access.is_write { "write" } else { "read" };
            let space = &access.space;
            write!(
                to,
                " @{} {mode} @{} {}{{",
                access.at,
                space.at,
                word(&space.text)
            )?;
            for (number, place) in access.places.iter().enumerate() {
                let mut indices = String::new();
                for index in place {
                    indices += if indices.is_empty() { "" } else { "," };
                    self.write_index(*index, &mut indices)?;
                }
                write!(to, "{}({indices})", if number > 0 { "," } else { "" })?;
            }
            to.write_char('}')?;
        }
        match &self.openmp {
            Some(openmp) => write!(to, " {openmp}"),
            None => Ok(()),
        }
    }
}

impl LoopPragma {
    fn write_index(&self, index: Index, to: &mut String) -> fmt::Result {
        let iterator = index.iterator.and_then(|number| self.iterators.get(number));
        match (iterator, index.offset) {
            (None, offset) => write!(to, "{offset}"),
            (Some(iterator), 0) => write!(to, "{}", iterator.text),
            (Some(iterator), offset) => write!(to, "{}{offset:+}", iterator.text),
        }
    }
}

impl fmt::Display for OpenMp {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        write!(to, "@{} omp", self.at)?;
        to.write_str(match (self.is_parallel, self.is_shared) {
            (true, _) => " parallel for",
            (false, true) => " for",
            (false, false) => "",
        })?;
        to.write_str(if self.is_simd { " simd" } else { "" })?;
        for clause in &self.clauses {
            let variables = list(&clause.variables, ",");
            match &clause.sharing {
                Sharing::Private => write!(to, " private({variables})")?,
                Sharing::FirstPrivate => write!(to, " firstprivate({variables})")?,
                Sharing::LastPrivate => write!(to, " lastprivate({variables})")?,
                Sharing::Reduction(by) => write!(to, " reduction({by}:{variables})")?,
            }
        }
        Ok(())
    }
}

/// Some things with `between` between them.
fn list(all: &[impl ToString], between: &str) -> String {
    let all: Vec<_> = all.iter().map(ToString::to_string).collect();
    all.join(between)
}

/// Reads what is written here.
struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
}

impl Reader<'_> {
    fn word(&self) -> &str {
        self.tokens.get(self.at).map_or("", |token| &token.text)
    }

    fn fail<T>(&self, wanted: &str) -> Result<T, Error> {
        let at = self.tokens.get(self.at).or(self.tokens.last());
        Err(Error {
            at: at.map_or(Position::new(1, 1), |token| token.at),
            message: format!("expected {wanted} in the text of a loop chain's marker"),
        })
    }

    fn take(&mut self, word: &str) -> bool {
        let is_here = self.word() == word;
        self.at += usize::from(is_here);
        is_here
    }

    fn expect(&mut self, word: &str) -> Result<(), Error> {
        match self.take(word) {
            true => Ok(()),
            false => self.fail(&format!("'{word}'")),
        }
    }

    /// What stands in parentheses, with commas between.
    fn list<T>(
        &mut self,
        one: impl Fn(&mut Self) -> Result<T, Error>,
        [open, close]: [&str; 2],
    ) -> Result<Vec<T>, Error> {
        self.expect(open)?;
        let mut all = Vec::new();
        while !self.take(close) {
            if !all.is_empty() {
                self.expect(",")?;
            }
            all.push(one(self)?);
        }
        Ok(all)
    }

    fn name(&mut self) -> Result<String, Error> {
        let token = self.tokens.get(self.at).filter(|token| token.is_name());
        let Some(token) = token else {
            return self.fail("a name");
        };
        self.at += 1;
        Ok(token.text.clone())
    }

    fn unsigned<T: std::str::FromStr>(&mut self) -> Result<T, Error> {
        match self.word().parse() {
            Ok(number) => {
                self.at += 1;
                Ok(number)
            }
            Err(_) => self.fail("a number"),
        }
    }

    fn signed(&mut self) -> Result<i64, Error> {
        let is_negative = self.take("-");
        let digits = self.word();
        let number = match is_negative {
            true => format!("-{digits}").parse(),
            false => digits.parse(),
        };
        match number {
            Ok(number) => {
                self.at += 1;
                Ok(number)
            }
            Err(_) => self.fail("a number"),
        }
    }

    fn position(&mut self) -> Result<Position, Error> {
        if !self.take("@") {
            return Ok(Position::default());
        }
        let line = self.unsigned()?;
        self.expect(":")?;
        Ok(Position::new(line, self.unsigned()?))
    }

    fn named(&mut self) -> Result<Name, Error> {
        Ok(Name {
            at: self.position()?,
            text: self.name()?,
        })
    }

    fn number(&mut self) -> Result<Number, Error> {
        Ok(match self.take("$") {
            true => Number::Value(self.unsigned()?),
            false => Number::Constant(self.signed()?),
        })
    }

    fn marker(&mut self) -> Result<(String, Pragma), Error> {
        let Some(file) = unquoted(self.word()) else {
            return self.fail("the name of a file");
        };
        self.at += 1;
        let at = self.position()?;
        let pragma = if self.take("loopchain") {
            Pragma::Chain(self.chain(at)?)
        } else if self.take("for") {
            Pragma::Loop(self.one_loop(at)?)
        } else if self.take("strip") {
            Pragma::Strip(at)
        } else if self.take("call") {
            let (callee, arguments) = self.words()?;
            Pragma::Call(CallNote {
                at,
                callee,
                arguments,
                within: self.within()?,
            })
        } else {
            return self.fail("'loopchain', 'for', 'strip' or 'call'");
        };
        Ok((file, pragma))
    }

    /// A name, or what stands in its place.
    fn text(&mut self) -> Result<String, Error> {
        match unquoted(self.word()) {
            Some(text) => {
                self.at += 1;
                Ok(text)
            }
            None => self.name(),
        }
    }

    /// A function, and what belongs to its parameters.
    fn words(&mut self) -> Result<(String, Vec<String>), Error> {
        let mut all = self.list(Self::text, ["(", ")"])?;
        match all.is_empty() {
            true => self.fail("a function"),
            false => Ok((all.remove(0), all)),
        }
    }

    fn within(&mut self) -> Result<Option<Within>, Error> {
        Ok(match self.take("in") {
            true => {
                let (name, parameters) = self.words()?;
                Some(Within { name, parameters })
            }
            false => None,
        })
    }

    fn chain(&mut self, at: Position) -> Result<ChainPragma, Error> {
        self.expect("schedule")?;
        let schedule = self.list(Self::item, ["(", ")"])?;
        let locals = match self.take("local") {
            true => self.list(Self::named, ["(", ")"])?,
            false => Vec::new(),
        };
        Ok(ChainPragma {
            at,
            schedule,
            locals,
        })
    }

    fn item(&mut self) -> Result<Item, Error> {
        let at = self.position()?;
        let place = self.at;
        let what = match self.name()?.as_str() {
            "fuse" if self.word() == "(" => {
                let numbers = |this: &mut Self| this.list(Self::number, ["(", ")"]);
                What::Fuse(Some(self.list(numbers, ["(", ")"])?))
            }
            "fuse" => What::Fuse(None),
            "tile" => {
                self.expect("(")?;
                let sizes = self.list(Self::number, ["(", ")"])?;
                self.expect(",")?;
                let over = Box::new(self.item()?);
                self.expect(",")?;
                let within = Box::new(self.item()?);
                let overlaps = self.take(",");
                if overlaps {
                    self.expect("overlap")?;
                }
                self.expect(")")?;
                What::Tile(Tile {
                    sizes,
                    over,
                    within,
                    overlaps,
                })
            }
            "serial" => What::Serial,
            "parallel" => What::Parallel,
            "wavefront" => What::Wavefront,
            "auto" => What::Auto,
            _ => {
                self.at = place;
                return self.fail("an item of a schedule");
            }
        };
        Ok(Item { at, what })
    }

    fn one_loop(&mut self, at: Position) -> Result<LoopPragma, Error> {
        self.expect("domain")?;
        let bounds = self.list(
            |this| {
                let at = this.position()?;
                let first = this.number()?;
                this.expect(":")?;
                Ok((at, (first, this.number()?)))
            },
            ["(", ")"],
        )?;
        let (domain_at, domain) = bounds.into_iter().unzip();
        let mut read = LoopPragma {
            at,
            domain,
            domain_at,
            within: self.within()?,
            ..LoopPragma::default()
        };
        if self.take("with") {
            read.iterators = self.list(Self::named, ["(", ")"])?;
        }
        while !self.word().is_empty() {
            let at = self.position()?;
            if self.take("omp") {
                read.openmp = Some(self.openmp(at)?);
                break;
            }
            let is_write = self.take("write");
            if !is_write {
                self.expect("read")?;
            }
            let index = |this: &mut Self| this.index(&read.iterators);
            let access = AccessPragma {
                at,
                is_write,
                space: Name {
                    at: self.position()?,
                    text: self.text()?,
                },
                places: self.list(|this| this.list(index, ["(", ")"]), ["{", "}"])?,
            };
            read.accesses.push(access);
        }
        Ok(read)
    }

    fn index(&mut self, iterators: &[Name]) -> Result<Index, Error> {
        let iterator = iterators.iter().position(|one| one.text == self.word());
        self.at += usize::from(iterator.is_some());
        let has_sign = matches!(self.word(), "+" | "-");
        let offset = match iterator {
            Some(_) if !has_sign => 0,
            _ => {
                self.take("+");
                self.signed()?
            }
        };
        Ok(Index { iterator, offset })
    }

    fn openmp(&mut self, at: Position) -> Result<OpenMp, Error> {
        let is_parallel = self.take("parallel");
        if is_parallel {
            self.expect("for")?;
        }
        let mut read = OpenMp {
            at,
            is_parallel,
            is_shared: !is_parallel && self.take("for"),
            is_simd: self.take("simd"),
            clauses: Vec::new(),
        };
        while !self.word().is_empty() {
            let place = self.at;
            let sharing = match self.name()?.as_str() {
                "private" => Sharing::Private,
                "firstprivate" => Sharing::FirstPrivate,
                "lastprivate" => Sharing::LastPrivate,
                "reduction" => Sharing::Reduction(String::new()),
                _ => {
                    self.at = place;
                    return self.fail("a clause");
                }
            };
            self.expect("(")?;
            let sharing = match sharing {
                Sharing::Reduction(_) => Sharing::Reduction(self.plain(&[":"])),
                other => other,
            };
            if matches!(sharing, Sharing::Reduction(_)) {
                self.expect(":")?;
            }
            let mut variables = Vec::new();
            while !self.take(")") {
                if !variables.is_empty() {
                    self.expect(",")?;
                }
                let at = self.position()?;
                let text = self.plain(&[",", ")"]);
                if text.is_empty() {
                    return self.fail("a variable");
                }
                variables.push(Name { at, text });
            }
            read.clauses.push(Clause { sharing, variables });
        }
        Ok(read)
    }

    /// The text up to one of some tokens that is in no brackets.
    fn plain(&mut self, ends: &[&str]) -> String {
        let first = self.at;
        let mut depth = 0usize;
        while let Some(token) = self.tokens.get(self.at) {
            match token.text.as_str() {
                word if depth == 0 && ends.contains(&word) => break,
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
        }
        joined(&self.tokens[first..self.at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look like any.
    struct Any(u64);

    impl Any {
        fn below(&mut self, bound: u64) -> usize {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            usize::try_from((self.0 >> 33) % bound).unwrap()
        }

        fn flag(&mut self) -> bool {
            self.below(2) == 1
        }

        fn all<T>(&mut self, most: u64, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
            (0..self.below(most + 1)).map(|_| one(self)).collect()
        }

        fn position(&mut self) -> Position {
            let mut number = || u32::try_from(self.below(3000)).unwrap();
            Position::new(number(), number())
        }

        fn name(&mut self) -> Name {
            let all = [
                "i", "A", "read", "write", "with", "omp", "_x1", "größe", "schedule", "e",
            ];
            Name {
                at: self.position(),
                text: all[self.below(10)].to_string(),
            }
        }

        /// A name or an expression.
        fn text(&mut self) -> String {
            let all = ["u.data()", "&a[0]", "", "\"\\x\"", "a + 1", "in"];
            match self.flag() {
                true => self.name().text,
                false => all[self.below(6)].to_string(),
            }
        }

        fn within(&mut self) -> Option<Within> {
            self.flag().then(|| Within {
                name: self.text(),
                parameters: self.all(3, Self::text),
            })
        }

        fn integer(&mut self) -> i64 {
            let small = i64::try_from(self.below(9)).unwrap() - 4;
            [small, small, i64::MIN, i64::MAX][self.below(4)]
        }

        fn number(&mut self) -> Number {
            match self.flag() {
                true => Number::Constant(self.integer()),
                false => Number::Value(self.below(12)),
            }
        }

        fn item(&mut self, depth: u64) -> Item {
            let numbers = |any: &mut Self| any.all(3, Self::number);
            let what = match self.below(6 + depth) {
                0 => What::Fuse(None),
                1 => What::Fuse(Some(self.all(3, numbers))),
                2 => What::Serial,
                3 => What::Parallel,
                4 => What::Wavefront,
                5 => What::Auto,
                _ => What::Tile(Tile {
                    sizes: self.all(3, Self::number),
                    over: Box::new(self.item(depth - 1)),
                    within: Box::new(self.item(depth - 1)),
                    overlaps: self.flag(),
                }),
            };
            let at = self.position();
            Item { at, what }
        }

        fn index(&mut self, iterators: u64) -> Index {
            let iterator = (iterators > 0 && self.flag()).then(|| self.below(iterators));
            let offset = self.integer();
            Index { iterator, offset }
        }

        fn openmp(&mut self) -> OpenMp {
            let is_parallel = self.flag();
            let is_shared = !is_parallel && self.flag();
            OpenMp {
                at: self.position(),
                is_parallel,
                is_shared,
                is_simd: !is_parallel && !is_shared || self.flag(),
                clauses: self.all(3, |any| {
                    let by = ["+", "&&", "max", "::mine::sum", "-"][any.below(5)];
                    let mut variables = any.all(3, Self::name);
                    let sharing = match any.below(4) {
                        0 => Sharing::Private,
                        1 => Sharing::FirstPrivate,
                        2 => Sharing::LastPrivate,
                        _ => {
                            let of_array = |one: &mut Name| one.text += "[0:f(n, 2)][:m->k]";
                            variables.iter_mut().take(1).for_each(of_array);
                            Sharing::Reduction(by.to_string())
                        }
                    };
                    Clause { sharing, variables }
                }),
            }
        }

        fn one_loop(&mut self) -> LoopPragma {
            let domain = self.all(3, |any| (any.number(), any.number()));
            let iterators = ["i", "read", "omp"].map(str::to_string);
            let iterators = iterators.into_iter().take(self.below(4)).map(|text| {
                let at = Position::default();
                Name { at, text }
            });
            let iterators: Vec<_> = iterators.collect();
            let count = u64::try_from(iterators.len()).unwrap();
            let place = |any: &mut Self| any.all(3, |any| any.index(count));
            LoopPragma {
                at: self.position(),
                domain_at: domain.iter().map(|_| self.position()).collect(),
                domain,
                iterators,
                accesses: self.all(3, |any| AccessPragma {
                    at: any.position(),
                    is_write: any.flag(),
                    space: Name {
                        text: any.text(),
                        ..any.name()
                    },
                    places: any.all(3, place),
                }),
                openmp: self.flag().then(|| self.openmp()),
                within: self.within(),
            }
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let mut any = Any(1);
        for _ in 0..20_000 {
            let pragma = match any.below(4) {
                3 => Pragma::Strip(any.position()),
                0 => Pragma::Loop(any.one_loop()),
                1 => Pragma::Call(CallNote {
                    at: any.position(),
                    callee: any.text(),
                    arguments: any.all(3, Any::text),
                    within: any.within(),
                }),
                _ => Pragma::Chain(ChainPragma {
                    at: any.position(),
                    schedule: any.all(3, |any| any.item(2)),
                    locals: any.all(3, Any::name),
                }),
            };
            let file = ["a.c", "", "/x y/\"q\\\".h", "C:\\d\\", "für.c"][any.below(5)];
            let text = write_marker(file, &pragma);
            assert_eq!(read_marker(&text), Ok((file.to_string(), pragma)), "{text}");
        }
    }

    #[test]
    fn a_caller_s_names_take_the_place_of_parameters() {
        let read = |text: &str| read_marker(&format!("\"a.c\" {text}")).unwrap().1;
        let mut inner = read(
            "for domain(1:2) in(smooth, from, to, with, own) with(i) read from{(i)} read weights{(i)} \
             write to{(i)} write own{(i)}",
        );
        let Pragma::Call(in_pair) =
            read("@7:3 call(smooth, a, \"b.data()\", \"3\") in(pair, b, a)")
        else {
            unreachable!()
        };
        let Pragma::Call(in_chain) = read("call(pair, \"u + 1\", c)") else {
            unreachable!()
        };
        assert!(!in_chain.bind(&mut inner));
        assert!(in_pair.bind(&mut inner));
        let bound = "for domain(@0:0 1:2) in(pair, b, a) with(@0:0 i) @0:0 read @0:0 a{(i)} @0:0 read @0:0 weights{(i)} \
                     @0:0 write @0:0 \"b.data()\"{(i)} @0:0 write @0:0 \"'own' of 7:3\"{(i)}";
        assert_eq!(inner.to_string(), format!("@0:0 {bound}"));
        assert!(in_chain.bind(&mut inner));
        let bound = bound
            .replace(" in(pair, b, a)", "")
            .replace("b.data()", "(u + 1).data()");
        let bound = bound.replace("7:3", "7:3, 0:0").replace(" a{", " c{");
        assert_eq!(inner.to_string(), format!("@0:0 {bound}"));
    }

    #[test]
    fn places_may_be_left_out() {
        let text = "\"a.c\" for domain(1:$0, 0:9) with(i, j) write A{(i,j)} read B{(j-1,3)}";
        let (_, pragma) = read_marker(text).unwrap();
        assert_eq!(
            write_marker("a.c", &pragma),
            "\"a.c\" @0:0 for domain(@0:0 1:$0, @0:0 0:9) with(@0:0 i, @0:0 j) \
             @0:0 write @0:0 A{(i,j)} @0:0 read @0:0 B{(j-1,3)}"
        );
        let text = "\"a.c\" loopchain schedule(fuse, tile((64,$1), parallel, serial)) local(X)";
        let (_, pragma) = read_marker(text).unwrap();
        assert_eq!(pragma.to_string().replace("@0:0 ", ""), text[6..]);
    }

    #[test]
    fn other_texts_are_refused() {
        for (text, message) in [
            ("", "1:1 the name of a file"),
            ("\"a\" @1:2", "1:8 'loopchain', 'for', 'strip' or 'call'"),
            ("\"a\" for domain(1:2) with(i) read A{(k)}", "1:37 a number"),
            (
                "\"a\" loopchain schedule(fuze)",
                "1:24 an item of a schedule",
            ),
            ("\"a\" loopchain schedule() x", "1:26 the end"),
            ("\"a\" for domain(1:99999999999999999999)", "1:18 a number"),
            ("\"a\" for domain(1:2) omp simd private(", "1:37 a variable"),
        ] {
            let error = read_marker(text).unwrap_err();
            let said = format!("{} {}", error.at, error.message);
            let (at, wanted) = message.split_once(' ').unwrap();
            let whole = format!("{at} expected {wanted} in the text of a loop chain's marker");
            assert_eq!(said, whole, "{text}");
        }
    }
}
