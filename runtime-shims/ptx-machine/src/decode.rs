//! From the tree of a text to a program. What is not known here is an error with its line, as is what instructions cannot
//! mean: a program that is decoded does what its text says.

mod instruction;
mod words;

use std::collections::HashMap;

use crate::parse::{self, Error, Module, Param, Space, Statement};
use crate::program::{Function, Instruction, Program, Register, Slot, What};
use crate::types::Type;

/// What a name of the module means.
#[derive(Clone, Copy, Debug)]
pub enum Symbol {
    /// A variable and its address: of the generic space, but for a block's, which has an offset.
    Variable(Space, u64),
    /// A function and its number.
    Function(usize),
}

type Result<T, E = Error> = std::result::Result<T, E>;

fn wrong<T>(line: u32, what: impl Into<String>) -> Result<T> {
    Err(Error {
        line,
        what: what.into(),
    })
}

/// What a name of a function means.
#[derive(Clone, Copy, Debug)]
enum Local {
    Register(Register, Type),
    /// In the frame.
    Slot(Slot),
    /// Among the parameters of the kernel.
    Parameter(Slot),
    /// A block's variable, by its address.
    Shared(u64),
}

/// Decodes the functions of `module`. `shared` are the sizes of a block's variables by their addresses, as they lie behind
/// each other; a function's own are added behind them.
pub fn decode(
    module: &Module,
    symbols: &HashMap<String, Symbol>,
    shared: &mut SharedLayout,
) -> Result<Program> {
    let mut program = Program {
        functions: Vec::new(),
        instructions: Vec::new(),
        places: Vec::new(),
        files: module.files.clone(),
        variables: Vec::new(),
    };
    for function in &module.functions {
        program.functions.push(declared(function));
    }
    let mut uses = Vec::new();
    for (index, function) in module.functions.iter().enumerate() {
        let mut own = Uses::default();
        if let Some(body) = &function.body {
            let mut decoder = Decoder {
                program: &mut program,
                module,
                symbols,
                shared,
                index,
                is_entry: function.is_entry,
                scopes: vec![HashMap::new()],
                registers: 0,
                carry: None,
                place: (0, 0),
                labels: HashMap::new(),
                targets: HashMap::new(),
                gotos: Vec::new(),
                uses: &mut own,
            };
            decoder.function(function, body)?;
        }
        uses.push(own);
    }
    // What a kernel's block has for its variables: those of all that it may call.
    for index in 0..uses.len() {
        let mut reached = vec![index];
        let mut at = 0;
        while let Some(one) = reached.get(at) {
            let callees = uses[*one].callees.clone();
            for callee in callees {
                if !reached.contains(&callee) {
                    reached.push(callee);
                }
            }
            at += 1;
        }
        let mut variables: Vec<u64> = Vec::new();
        for one in reached {
            variables.extend(&uses[one].shared);
        }
        variables.sort_unstable();
        variables.dedup();
        let sizes = variables.iter().map(|address| shared.size_of(*address));
        program.functions[index].shared = sizes.sum::<u64>() as u32;
    }
    Ok(program)
}

/// A block's variables, apart from each other, so that what lies between them is nobody's.
#[derive(Clone, Debug, Default)]
pub struct SharedLayout {
    /// Where each begins, and behind it.
    pub ranges: Vec<(u64, u64)>,
}

/// What is between two variables of a block: so many banks that conflicts are as if nothing were.
const BETWEEN: u64 = 128;

impl SharedLayout {
    /// A place for a variable.
    pub fn add(&mut self, size: usize, align: usize) -> u64 {
        let start = self.end(align);
        self.ranges.push((start, start + size as u64));
        start
    }

    /// Where what the launch adds begins.
    pub fn end(&self, align: usize) -> u64 {
        let last = self.ranges.last().map_or(0, |(_, end)| end + BETWEEN);
        last.next_multiple_of(BETWEEN.max(align as u64))
    }

    fn size_of(&self, address: u64) -> u64 {
        let range = self.ranges.iter().find(|(start, _)| *start == address);
        range.map_or(0, |(start, end)| (end - start).next_multiple_of(16))
    }
}

#[derive(Clone, Debug, Default)]
struct Uses {
    callees: Vec<usize>,
    shared: Vec<u64>,
}

fn placed(params: &[Param], at: &mut u32) -> Vec<Slot> {
    let place = |param: &Param| {
        let offset = at.next_multiple_of(param.align.max(1) as u32);
        *at = offset + param.size as u32;
        Slot {
            offset,
            bytes: param.size as u32,
        }
    };
    params.iter().map(place).collect()
}

/// What is known of a function without its body.
fn declared(function: &parse::Function) -> Function {
    let mut frame = 0;
    let params = placed(&function.params, &mut frame);
    if function.is_entry {
        frame = 0;
    }
    let returns = placed(&function.returns, &mut frame);
    Function {
        name: function.name.clone(),
        is_entry: function.is_entry,
        start: None,
        registers: 0,
        frame: frame.next_multiple_of(16),
        params,
        returns,
        shared: 0,
        local: 0,
        most_threads: function.most_threads,
        exactly: function.exactly,
    }
}

struct Decoder<'a> {
    program: &'a mut Program,
    module: &'a Module,
    symbols: &'a HashMap<String, Symbol>,
    shared: &'a mut SharedLayout,
    index: usize,
    is_entry: bool,
    scopes: Vec<HashMap<String, Local>>,
    registers: u32,
    carry: Option<Register>,
    place: (u32, u32),
    labels: HashMap<String, u32>,
    targets: HashMap<String, Vec<String>>,
    /// Branches whose labels are looked up at the end, with their lines.
    gotos: Vec<(u32, u32, Vec<String>)>,
    uses: &'a mut Uses,
}

impl Decoder<'_> {
    fn function(&mut self, function: &parse::Function, body: &[Statement]) -> Result<()> {
        self.place = (0, 0);
        let own = &mut self.program.functions[self.index];
        own.start = Some(self.program.instructions.len() as u32);
        let params = own.params.iter().copied();
        let params = function.params.iter().zip(params);
        let params: Vec<(String, Local)> = params
            .map(|(param, slot)| {
                let meaning = if function.is_entry {
                    Local::Parameter(slot)
                } else {
                    Local::Slot(slot)
                };
                (param.name.clone(), meaning)
            })
            .collect();
        let returns = own.returns.iter().copied();
        let returns = function.returns.iter().zip(returns);
        self.scopes[0].extend(returns.map(|(param, slot)| (param.name.clone(), Local::Slot(slot))));
        self.scopes[0].extend(params);
        // Targets stand behind or before what uses them.
        for statement in body {
            if let parse::What::Targets(name, labels) = &statement.what {
                self.targets.insert(name.clone(), labels.clone());
            }
        }
        for statement in body {
            self.statement(statement)?;
        }
        // Who gets to the end returns.
        self.emit(
            function.line,
            None,
            crate::program::Class::Control,
            What::Return,
        );
        for (at, line, labels) in std::mem::take(&mut self.gotos) {
            let targets = labels.iter().map(|label| match self.labels.get(label) {
                Some(target) => Ok(*target),
                None => wrong(line, format!("there is no label {label}")),
            });
            let targets = targets.collect::<Result<Vec<u32>>>()?;
            match &mut self.program.instructions[at as usize].what {
                What::Branch { target } => *target = targets[0],
                What::BranchIndexed { targets: all, .. } => *all = targets.into(),
                _ => {}
            }
        }
        let own = &mut self.program.functions[self.index];
        own.registers = self.registers.max(1);
        own.frame = own.frame.next_multiple_of(16);
        Ok(())
    }

    fn statement(&mut self, statement: &Statement) -> Result<()> {
        let line = statement.line;
        match &statement.what {
            parse::What::Label(name) => {
                let here = self.program.instructions.len() as u32;
                if self.labels.insert(name.clone(), here).is_some() {
                    return wrong(line, format!("the label {name} stands twice"));
                }
            }
            parse::What::Registers(of, names) => {
                for (name, count) in names {
                    match count {
                        None => self.register(name.clone(), *of),
                        Some(count) => {
                            for number in 0..*count {
                                self.register(format!("{name}{number}"), *of);
                            }
                        }
                    }
                }
            }
            parse::What::Variable(variable) => self.variable(variable, line)?,
            parse::What::Open => self.scopes.push(HashMap::new()),
            parse::What::Close => {
                self.scopes.pop();
            }
            // Line 0 is nobody's: what stands there belongs to the line before.
            parse::What::Place(_, 0) => {}
            parse::What::Place(file, row) => self.place = (*file, *row),
            parse::What::Targets(..) => {}
            parse::What::Instruction(one) => self.instruction(one, line)?,
        }
        Ok(())
    }

    fn register(&mut self, name: String, of: Type) {
        let number = self.registers;
        self.registers += 1;
        self.define(name, Local::Register(number, of));
    }

    fn define(&mut self, name: String, meaning: Local) {
        let scope = self.scopes.last_mut().expect("a function has a scope");
        scope.insert(name, meaning);
    }

    fn variable(&mut self, variable: &parse::Variable, line: u32) -> Result<()> {
        let meaning = match variable.space {
            Space::Local | Space::Param => {
                let own = &mut self.program.functions[self.index];
                let offset = own.frame.next_multiple_of(variable.align.max(1) as u32);
                own.frame = offset + variable.size as u32;
                if variable.space == Space::Local {
                    own.local += variable.size as u32;
                }
                Local::Slot(Slot {
                    offset,
                    bytes: variable.size as u32,
                })
            }
            Space::Shared if !variable.is_extern && variable.size > 0 => {
                let address = self.shared.add(variable.size, variable.align);
                Local::Shared(address)
            }
            _ => {
                return wrong(
                    line,
                    format!("the variable {} cannot be a function's", variable.name),
                );
            }
        };
        if !variable.initial.is_empty() {
            return wrong(line, "a variable of a function has no initial value");
        }
        self.define(variable.name.clone(), meaning);
        Ok(())
    }

    fn look_up(&self, name: &str) -> Option<Local> {
        let scopes = self.scopes.iter().rev();
        scopes.filter_map(|scope| scope.get(name)).next().copied()
    }

    fn emit(
        &mut self,
        line: u32,
        guard: Option<crate::program::Guard>,
        class: crate::program::Class,
        what: What,
    ) {
        self.program
            .instructions
            .push(Instruction { guard, class, what });
        self.program.places.push((line, self.place.0, self.place.1));
    }
}
