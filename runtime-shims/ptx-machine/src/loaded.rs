//! A module in the device's memory: its variables have places, its functions are decoded.

use std::collections::HashMap;

use crate::decode::{SharedLayout, Symbol, decode};
use crate::memory::Memory;
use crate::parse::{Error, Space, parse};
use crate::program::{Program, windows};

/// A module that can be launched.
#[derive(Debug)]
pub struct Loaded {
    /// What it does.
    pub program: Program,
    /// Where the variables of its blocks lie.
    pub layout: SharedLayout,
}

/// Why a module is not loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The text.
    Text(Error),
    /// The device cannot do that: `sm_NN`.
    Capability(u32),
    /// The driver does not know this version of PTX, times ten.
    Version(u32),
    /// There is no memory for its variables.
    Memory,
}

/// The driver from which on a version of PTX is known, as CUDA numbers it.
fn driver_of(version: u32) -> i32 {
    match version {
        0..=62 => 9000,
        63 => 10_000,
        64 => 10_010,
        65 => 10_020,
        70..=78 => 11_000 + (version as i32 - 70) * 10,
        80..=85 => 12_000 + (version as i32 - 80) * 10,
        86..=88 => 12_000 + (version as i32 - 79) * 10,
        _ => 13_000 + (version as i32 - 90) * 10,
    }
}

impl Loaded {
    /// Loads a text.
    pub fn load(
        text: &str,
        capability: u32,
        driver: i32,
        memory: &mut Memory,
    ) -> Result<Self, Refused> {
        let module = parse(text).map_err(Refused::Text)?;
        if module.capability > capability {
            return Err(Refused::Capability(module.capability));
        }
        if driver_of(module.version) > driver {
            return Err(Refused::Version(module.version));
        }
        let mut symbols = HashMap::new();
        let mut layout = SharedLayout::default();
        let mut variables = Vec::new();
        for (index, function) in module.functions.iter().enumerate() {
            let known = symbols.get(&function.name);
            let is_declared_again =
                matches!(known, Some(Symbol::Function(_))) && function.body.is_none();
            if !is_declared_again {
                symbols.insert(function.name.clone(), Symbol::Function(index));
            }
        }
        let mut dynamic = Vec::new();
        for variable in &module.variables {
            let symbol = match variable.space {
                Space::Shared if variable.is_extern || variable.size == 0 => {
                    dynamic.push(variable.name.clone());
                    continue;
                }
                Space::Shared => {
                    let address = layout.add(variable.size, variable.align);
                    Symbol::Variable(Space::Shared, address)
                }
                _ if variable.is_extern => {
                    return Err(Refused::Text(Error {
                        line: variable.line,
                        what: format!("the variable {} is not defined", variable.name),
                    }));
                }
                space => {
                    let address = memory.allocate(variable.size, variable.align);
                    let address = address.ok_or(Refused::Memory)?;
                    variables.push((variable.clone(), address));
                    Symbol::Variable(space, address)
                }
            };
            symbols.insert(variable.name.clone(), symbol);
        }
        let loaded = Self::decoded(&module, symbols, layout, dynamic, &variables, memory);
        match loaded {
            Ok(loaded) => Ok(loaded),
            Err(error) => {
                for (_, address) in variables {
                    memory.free(address);
                }
                Err(Refused::Text(error))
            }
        }
    }

    fn decoded(
        module: &crate::parse::Module,
        mut symbols: HashMap<String, Symbol>,
        mut layout: SharedLayout,
        dynamic: Vec<String>,
        variables: &[(crate::parse::Variable, u64)],
        memory: &mut Memory,
    ) -> Result<Self, Error> {
        // What the launch adds lies behind what functions declare, which gets the same places when they are decoded.
        let mut whole = layout.clone();
        for statement in module
            .functions
            .iter()
            .flat_map(|function| function.body.iter().flatten())
        {
            if let crate::parse::What::Variable(variable) = &statement.what
                && variable.space == Space::Shared
            {
                whole.add(variable.size, variable.align);
            }
        }
        for name in dynamic {
            symbols.insert(name, Symbol::Variable(Space::Shared, whole.end(128)));
        }
        let mut program = decode(module, &symbols, &mut layout)?;
        for (variable, address) in variables {
            let index = memory.find(*address, variable.size, 0);
            let allocation = memory.get(index.expect("it was allocated"));
            allocation.known.fill(!0);
            allocation.data[..variable.initial.len()].copy_from_slice(&variable.initial);
            allocation.name = Some(variable.name.clone());
            allocation.is_constant = variable.space == Space::Constant;
            for (at, name, offset, is_generic) in &variable.addresses {
                let value = match symbols.get(name) {
                    Some(Symbol::Variable(Space::Shared, address)) if *is_generic => {
                        windows::SHARED + *address
                    }
                    Some(Symbol::Variable(_, address)) => *address,
                    Some(Symbol::Function(index)) => windows::CODE | *index as u64,
                    None => {
                        return Err(Error {
                            line: variable.line,
                            what: format!("{name} is not defined"),
                        });
                    }
                };
                let value = value.wrapping_add_signed(*offset);
                allocation.data[*at..at + 8].copy_from_slice(&value.to_le_bytes());
            }
        }
        program.variables = variables.to_vec();
        Ok(Self { program, layout })
    }
}
