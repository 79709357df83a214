//! The directives and statements of a text.

use super::lexer::{Token, words};
use super::{
    Error, Function, Instruction, Module, Operand, Param, Space, Statement, Variable, What,
};
use crate::types::Type;

/// What `text` declares.
pub fn parse(text: &str) -> Result<Module, Error> {
    let mut parser = Parser {
        words: words(text)?,
        at: 0,
    };
    let mut module = Module::default();
    while parser.peek_word().is_some() {
        parser.directive(&mut module)?;
    }
    if parser.at < parser.words.len() {
        return Err(parser.unexpected());
    }
    if module.version == 0 || module.capability == 0 {
        return Err(parser.wrong("there is no .version or no .target"));
    }
    Ok(module)
}

struct Parser {
    words: Vec<(u32, Token)>,
    at: usize,
}

type Result<T, E = Error> = std::result::Result<T, E>;

impl Parser {
    fn line(&self) -> u32 {
        let last = self.words.get(self.at).or(self.words.last());
        last.map_or(1, |(line, _)| *line)
    }

    fn wrong(&self, what: impl Into<String>) -> Error {
        Error {
            line: self.line(),
            what: what.into(),
        }
    }

    fn unexpected(&self) -> Error {
        let shown = match self.words.get(self.at) {
            None => "the end of the text".to_owned(),
            Some((_, Token::Word(word))) => format!("`{word}`"),
            Some((_, Token::Sign(sign))) => format!("`{sign}`"),
            Some((_, Token::Text(text))) => format!("\"{text}\""),
            Some((_, Token::Number(number))) => format!("`{number}`"),
            Some((_, Token::Float(..))) => "a number with a point".to_owned(),
        };
        self.wrong(format!("{shown} is not expected here"))
    }

    fn peek(&self) -> Option<&Token> {
        self.words.get(self.at).map(|(_, token)| token)
    }

    fn peek_word(&self) -> Option<&str> {
        match self.peek() {
            Some(Token::Word(word)) => Some(word),
            _ => None,
        }
    }

    fn is_sign(&self, sign: char) -> bool {
        self.peek() == Some(&Token::Sign(sign))
    }

    fn takes(&mut self, sign: char) -> bool {
        let is_it = self.is_sign(sign);
        self.at += usize::from(is_it);
        is_it
    }

    fn expect(&mut self, sign: char) -> Result<()> {
        if self.takes(sign) {
            Ok(())
        } else {
            Err(self.unexpected())
        }
    }

    fn word(&mut self) -> Result<String> {
        let word = self.peek_word().map(str::to_owned);
        let word = word.ok_or_else(|| self.unexpected())?;
        self.at += 1;
        Ok(word)
    }

    fn number(&mut self) -> Result<u64> {
        match self.peek() {
            Some(Token::Number(number)) => {
                let number = *number;
                self.at += 1;
                Ok(number)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn skip_behind(&mut self, sign: char) -> Result<()> {
        while self.at < self.words.len() {
            if self.takes(sign) {
                return Ok(());
            }
            self.at += 1;
        }
        Err(self.unexpected())
    }

    /// Numbers with commas between them.
    fn numbers(&mut self) -> Result<Vec<u64>> {
        let mut numbers = vec![self.number()?];
        while self.takes(',') {
            numbers.push(self.number()?);
        }
        Ok(numbers)
    }

    fn directive(&mut self, module: &mut Module) -> Result<()> {
        let line = self.line();
        let mut is_extern = false;
        loop {
            let word = self.word()?;
            match word.as_str() {
                ".version" => {
                    let Some(Token::Float(bits, 64)) = self.peek() else {
                        return Err(self.unexpected());
                    };
                    module.version = (f64::from_bits(*bits) * 10.0).round() as u32;
                    self.at += 1;
                }
                ".target" => {
                    let mut names = vec![self.word()?];
                    while self.takes(',') {
                        names.push(self.word()?);
                    }
                    let digits = names[0].strip_prefix("sm_").unwrap_or_default();
                    let digits = digits.trim_end_matches(|c: char| c.is_ascii_alphabetic());
                    module.capability = digits
                        .parse()
                        .map_err(|_| self.wrong("no target of the form sm_NN"))?;
                }
                ".address_size" => {
                    if self.number()? != 64 {
                        return Err(self.wrong("addresses have to have 64 bits"));
                    }
                }
                ".file" => self.file(module)?,
                ".section" => {
                    self.word()?;
                    self.expect('{')?;
                    self.skip_behind('}')?;
                }
                ".pragma" => self.skip_behind(';')?,
                ".visible" | ".weak" | ".common" => continue,
                ".extern" => {
                    is_extern = true;
                    continue;
                }
                ".entry" | ".func" => {
                    let function = self.function(word == ".entry", line)?;
                    module.functions.push(function);
                }
                ".global" | ".const" | ".shared" => {
                    let variable = self.variables(space_of(&word), is_extern, line)?;
                    module.variables.extend(variable);
                }
                _ => {
                    self.at -= 1;
                    return Err(self.unexpected());
                }
            }
            return Ok(());
        }
    }

    fn file(&mut self, module: &mut Module) -> Result<()> {
        let number = self.number()? as u32;
        let Some(Token::Text(name)) = self.peek() else {
            return Err(self.unexpected());
        };
        module.files.push((number, name.clone()));
        self.at += 1;
        while self.takes(',') {
            self.number()?;
        }
        Ok(())
    }

    /// What stands behind a space: variables, up to the semicolon.
    fn variables(&mut self, space: Space, is_extern: bool, line: u32) -> Result<Vec<Variable>> {
        let mut align = 0;
        let (mut vector, mut element) = (1, None);
        while let Some(word) = self.peek_word() {
            let Some(name) = word.strip_prefix('.') else {
                break;
            };
            match name {
                "align" => {
                    self.at += 1;
                    align = self.number()? as usize;
                    continue;
                }
                "v2" => vector = 2,
                "v4" => vector = 4,
                "attribute" => {
                    self.at += 1;
                    self.skip_behind(')')?;
                    continue;
                }
                // The spaces and alignments of pointers among a kernel's parameters.
                "ptr" | "global" | "shared" | "const" | "local" => {}
                _ => match Type::named(name) {
                    Some(found) => element = Some(found),
                    None => return Err(self.unexpected()),
                },
            }
            self.at += 1;
        }
        let Some(element) = element else {
            return Err(self.unexpected());
        };
        let bytes = element.bytes() * vector;
        let mut variables = Vec::new();
        loop {
            let name = self.word()?;
            let (mut count, mut is_open) = (1, false);
            while self.takes('[') {
                if self.takes(']') {
                    is_open = true;
                    continue;
                }
                count *= self.number()? as usize;
                self.expect(']')?;
            }
            let mut variable = Variable {
                name,
                space,
                align: if align == 0 { bytes } else { align }.max(1),
                size: if is_open { 0 } else { bytes * count },
                initial: Vec::new(),
                addresses: Vec::new(),
                is_extern,
                line,
            };
            if self.takes('=') {
                self.initial(&mut variable, element)?;
                variable.size = variable.size.max(variable.initial.len());
            }
            variables.push(variable);
            if !self.takes(',') {
                break;
            }
        }
        self.expect(';')?;
        Ok(variables)
    }

    /// What is in a variable.
    fn initial(&mut self, variable: &mut Variable, element: Type) -> Result<()> {
        if self.takes('{') {
            while !self.takes('}') {
                self.initial(variable, element)?;
                self.takes(',');
            }
            return Ok(());
        }
        let is_negative = self.takes('-');
        let bytes = element.bytes();
        let value = match self.peek().cloned() {
            Some(Token::Number(number)) => {
                self.at += 1;
                if is_negative {
                    number.wrapping_neg()
                } else {
                    number
                }
            }
            Some(Token::Float(bits, of)) => {
                self.at += 1;
                let value = float_bits(bits, of, element.bits.into());
                value ^ (u64::from(is_negative) << (element.bits - 1))
            }
            Some(Token::Word(name)) => {
                self.at += 1;
                let (mut name, mut is_generic) = (name, false);
                if name == "generic" {
                    self.expect('(')?;
                    name = self.word()?;
                    self.expect(')')?;
                    is_generic = true;
                } else if name.starts_with("mask") || self.is_sign('(') {
                    return Err(self.wrong("parts of addresses in a variable are not known"));
                }
                let offset = self.offset()?;
                if bytes != 8 {
                    return Err(self.wrong("an address has 8 bytes"));
                }
                let at = variable.initial.len();
                variable.addresses.push((at, name, offset, is_generic));
                0
            }
            _ => return Err(self.unexpected()),
        };
        variable.initial.extend(&value.to_le_bytes()[..bytes]);
        Ok(())
    }

    /// `+8`, `+-8`, `-8`, or nothing.
    fn offset(&mut self) -> Result<i64> {
        let mut sign = 1;
        if self.takes('+') {
            if self.takes('-') {
                sign = -1;
            }
        } else if self.takes('-') {
            sign = -1;
        } else {
            return Ok(0);
        }
        Ok((self.number()? as i64).wrapping_mul(sign))
    }

    fn params(&mut self) -> Result<Vec<Param>> {
        let mut params = Vec::new();
        while !self.takes(')') {
            self.takes(',');
            let word = self.word()?;
            if word != ".param" && word != ".reg" {
                self.at -= 1;
                return Err(self.unexpected());
            }
            if word == ".reg" {
                return Err(self.wrong("parameters in registers are not known"));
            }
            params.push(self.param()?);
        }
        Ok(params)
    }

    fn param(&mut self) -> Result<Param> {
        let (mut align, mut element, mut is_pointer) = (0, None, false);
        while let Some(name) = self.peek_word().and_then(|word| word.strip_prefix('.')) {
            match name {
                "align" => {
                    self.at += 1;
                    let number = self.number()? as usize;
                    // Behind `.ptr` it is that of what the pointer leads to.
                    if !is_pointer {
                        align = number;
                    }
                    continue;
                }
                "ptr" => is_pointer = true,
                "global" | "shared" | "const" | "local" => {}
                _ => match Type::named(name) {
                    Some(found) => element = Some(found),
                    None => return Err(self.unexpected()),
                },
            }
            self.at += 1;
        }
        let element = element.ok_or_else(|| self.unexpected())?;
        let name = self.word()?;
        let mut size = element.bytes();
        if self.takes('[') {
            size *= if self.is_sign(']') {
                0
            } else {
                self.number()? as usize
            };
            self.expect(']')?;
        }
        Ok(Param {
            name,
            align: if align == 0 { element.bytes() } else { align },
            size,
        })
    }

    fn function(&mut self, is_entry: bool, line: u32) -> Result<Function> {
        let mut returns = Vec::new();
        if !is_entry && self.takes('(') {
            returns = self.params()?;
        }
        let name = self.word()?;
        let mut params = Vec::new();
        if self.takes('(') {
            params = self.params()?;
        }
        let mut function = Function {
            name,
            is_entry,
            returns,
            params,
            most_threads: [0; 3],
            exactly: false,
            body: None,
            line,
        };
        loop {
            if self.takes(';') {
                return Ok(function);
            }
            if self.takes('{') {
                function.body = Some(self.body()?);
                return Ok(function);
            }
            let word = self.word()?;
            match word.as_str() {
                ".maxntid" | ".reqntid" => {
                    let numbers = self.numbers()?;
                    let mut most = [1; 3];
                    for (most, number) in most.iter_mut().zip(numbers) {
                        *most = number as u32;
                    }
                    function.most_threads = most;
                    function.exactly = word == ".reqntid";
                }
                ".minnctapersm" | ".maxnreg" | ".maxnctapersm" => {
                    self.number()?;
                }
                ".noreturn" => {}
                ".pragma" => self.skip_behind(';')?,
                _ => {
                    self.at -= 1;
                    return Err(self.unexpected());
                }
            }
        }
    }

    fn body(&mut self) -> Result<Vec<Statement>> {
        let mut statements = Vec::new();
        let mut depth = 0;
        loop {
            let line = self.line();
            let mut add = |what| statements.push(Statement { line, what });
            if self.takes('{') {
                depth += 1;
                add(What::Open);
                continue;
            }
            if self.takes('}') {
                if depth == 0 {
                    return Ok(statements);
                }
                depth -= 1;
                add(What::Close);
                continue;
            }
            if self.takes(';') {
                continue;
            }
            let mut guard = None;
            if self.takes('@') {
                let is_negated = self.takes('!');
                guard = Some((self.word()?, is_negated));
            }
            let word = self.word()?;
            match word.as_str() {
                ".reg" => add(self.registers()?),
                ".local" | ".shared" | ".param" | ".global" | ".const" => {
                    for variable in self.variables(space_of(&word), false, line)? {
                        add(What::Variable(variable));
                    }
                }
                ".loc" => {
                    let (file, row) = (self.number()? as u32, self.number()? as u32);
                    self.number()?;
                    add(What::Place(file, row));
                    while self.takes(',') {
                        match self.word()?.as_str() {
                            "function_name" => {
                                self.word()?;
                                self.offset()?;
                            }
                            "inlined_at" => {
                                self.number()?;
                                self.number()?;
                                self.number()?;
                            }
                            _ => return Err(self.unexpected()),
                        }
                    }
                }
                ".pragma" => self.skip_behind(';')?,
                _ if guard.is_none() && self.takes(':') => match self.peek_word() {
                    Some(".branchtargets") => {
                        self.at += 1;
                        let mut labels = vec![self.word()?];
                        while self.takes(',') {
                            labels.push(self.word()?);
                        }
                        self.expect(';')?;
                        add(What::Targets(word, labels));
                    }
                    Some(".callprototype") => self.skip_behind(';')?,
                    _ => add(What::Label(word)),
                },
                _ if word.starts_with('.') => {
                    self.at -= 1;
                    return Err(self.unexpected());
                }
                _ => {
                    let words = word.split('.').map(str::to_owned).collect();
                    let operands = self.operands(';')?;
                    add(What::Instruction(Instruction {
                        guard,
                        words,
                        operands,
                    }));
                }
            }
        }
    }

    fn registers(&mut self) -> Result<What> {
        let word = self.word()?;
        let found = word.strip_prefix('.').and_then(Type::named);
        let found = found.ok_or_else(|| self.wrong(format!("no registers are {word}")))?;
        let mut names = Vec::new();
        loop {
            let name = self.word()?;
            let count = if self.takes('<') {
                let count = self.number()? as u32;
                self.expect('>')?;
                Some(count)
            } else {
                None
            };
            names.push((name, count));
            if !self.takes(',') {
                break;
            }
        }
        self.expect(';')?;
        Ok(What::Registers(found, names))
    }

    /// Operands with commas between them, up to `end`.
    fn operands(&mut self, end: char) -> Result<Vec<Operand>> {
        let mut operands = Vec::new();
        while !self.takes(end) {
            if !operands.is_empty() {
                self.expect(',')?;
            }
            let operand = self.operand()?;
            if self.takes('|') {
                let other = self.operand()?;
                operands.push(Operand::Pair(Box::new(operand), Box::new(other)));
            } else {
                operands.push(operand);
            }
        }
        Ok(operands)
    }

    fn operand(&mut self) -> Result<Operand> {
        if self.takes('{') {
            return Ok(Operand::Vector(self.operands('}')?));
        }
        if self.takes('(') {
            return Ok(Operand::Group(self.operands(')')?));
        }
        if self.takes('!') {
            return Ok(Operand::Not(self.word()?));
        }
        if self.takes('[') {
            let operand = match self.peek() {
                Some(Token::Word(_)) => {
                    let name = self.word()?;
                    Operand::Address(Some(name), self.offset()?)
                }
                _ => Operand::Address(None, self.number()? as i64),
            };
            self.expect(']')?;
            return Ok(operand);
        }
        let is_negative = self.takes('-');
        match self.peek().cloned() {
            Some(Token::Number(number)) => {
                self.at += 1;
                Ok(Operand::Number(if is_negative {
                    number.wrapping_neg()
                } else {
                    number
                }))
            }
            Some(Token::Float(bits, of)) => {
                self.at += 1;
                let sign = u64::from(is_negative) << (of - 1);
                Ok(Operand::Float(bits ^ sign, of))
            }
            Some(Token::Word(name)) if !is_negative => {
                self.at += 1;
                Ok(match self.offset()? {
                    0 => Operand::Name(name),
                    offset => Operand::Sum(name, offset),
                })
            }
            _ => Err(self.unexpected()),
        }
    }
}

/// The bits of a number with a point, as one of so many bits.
pub fn float_bits(bits: u64, of: u32, to: u32) -> u64 {
    match (of, to) {
        (32, 64) => f64::from(f32::from_bits(bits as u32)).to_bits(),
        (64, 32) => u64::from((f64::from_bits(bits) as f32).to_bits()),
        _ => bits,
    }
}

fn space_of(word: &str) -> Space {
    match word {
        ".global" => Space::Global,
        ".const" => Space::Constant,
        ".shared" => Space::Shared,
        ".local" => Space::Local,
        _ => Space::Param,
    }
}
