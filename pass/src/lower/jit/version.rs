//! Makes machine code of what `embed` has left, in the program, for values that are known.

use std::time::Instant;

use okl_abi::Effects;
use okl_abi::jit::joined::Joined;
use okl_abi::jit::{ENTRY, JitValue, LINKS, code_flags};

use super::counts::{Ends, Told};
use super::fold::{self, Known};
use super::{counts, declared, join, ranges, rounding};
use crate::analysis::runtime::{effects, effects_of};
use crate::llvm::{
    Function, Linked, Machine, Module, OwnModule, in_program, own_targets, read_picked,
};
pub use crate::llvm::{employ, llvm_file, work};
use crate::lower::gpu::again;
pub use crate::lower::gpu::again::make_apart;
use crate::marks::set_vector_bits;

/// What is asked: see [`okl_abi::jit::JitRequest`].
pub struct Request<'a> {
    /// The code, as it was [picked](okl_abi::jit::codes::pick), or that of [joined](okl_abi::jit::joined) loops.
    pub bitcode: &'a [u8],
    /// Where what it declares is.
    pub addresses: &'a [u64],
    /// Which values are known.
    pub values: &'a [JitValue],
    /// Their bytes.
    pub bytes: &'a [u8],
    /// Bits of [`code_flags`].
    pub flags: i64,
    /// What is called in place of what runs the code.
    pub receiver: u64,
    /// Bits of the receiver's arguments that are to be null.
    pub unwanted: i64,
    /// Bits of those that it does not look at.
    pub unread: i64,
    /// Bits of the vectors that the code was compiled for.
    pub vector_bits: i64,
}

/// Machine code.
pub enum Made {
    /// What calls the receiver, where it is: see [`okl_abi::jit::JitAnswer::entry`].
    Linked(*mut std::ffi::c_void),
    /// An object, and how it calls what is at the addresses; the receiver's number among these.
    Object {
        /// See [`okl_abi::jit::JitAnswer::object`].
        bytes: Vec<u8>,
        /// See [`okl_abi::jit::JitAnswer::names`].
        names: Vec<String>,
        /// See [`okl_abi::jit::JitAnswer::receiver`].
        receiver: Option<usize>,
    },
}

/// A version.
pub struct Version {
    /// Its code.
    pub made: Made,
    /// Nanoseconds that simplifying it took, and making machine code.
    pub nanoseconds: [u64; 2],
}

/// Makes one, or says what failed.
pub fn make(request: &Request<'_>) -> Result<Version, String> {
    // The program's handlers of signals stay what they are.
    in_program();
    match request.flags & code_flags::DEVICE {
        0 => for_processor(request),
        _ => for_device(request),
    }
}

/// What the driver of a device loads; there are no names in it.
fn for_device(request: &Request<'_>) -> Result<Version, String> {
    let start = Instant::now();
    let (bytes, simplified) = again::make(request.bitcode, &known(request)?)?;
    let all = start.elapsed().as_nanos() as u64;
    Ok(Version {
        made: Made::Object {
            bytes,
            names: Vec::new(),
            receiver: None,
        },
        nanoseconds: [simplified, all - simplified],
    })
}

fn for_processor(request: &Request<'_>) -> Result<Version, String> {
    let start = Instant::now();
    own_targets();
    let own = Machine::own().ok_or("this LLVM has no code for the processor")?;
    let (machine, [processor, features]) = own;
    let (mut code, names) = read(request.bitcode)?;
    code.tell_nobody();
    code.place_anywhere();
    let mut symbols = Vec::new();
    let known = known(request)?;
    drop_arguments(&code, request.unwanted)?;
    ranges::write(&code)?;
    {
        if names.len() != request.addresses.len() {
            return Err("the addresses are those of other code".to_string());
        }
        for (name, &address) in names.into_iter().zip(request.addresses) {
            let has_versions = effects_of(&name).has(Effects::HAS_VERSIONS);
            let address = if has_versions {
                request.receiver
            } else {
                address
            };
            symbols.push((name, address));
        }
        let has = |flag: i64| request.flags & flag != 0;
        let told = match (
            has(code_flags::ASKS_COUNTS),
            has(code_flags::ASSUMES_COUNTS),
        ) {
            (_, true) => Some(Told::Assumptions),
            (asks, false) => asks.then_some(Told::Nothing),
        };
        let variable = |place: usize| code.global(&symbols.get(place)?.0).map(|one| *one);
        if let Some(told) = told {
            let values = request.values.iter();
            let values = values.map(|one| [one.kind, one.place, one.offset, one.size]);
            let roots = counts::roots(&code, variable, fold::region(&code), values);
            let bytes: Vec<_> = known.iter().map(|one| one.bytes).collect();
            Ends::of(&code, roots).ask(&bytes, told);
        }
        fold::variables(&code, &symbols, &known);
        fold::parameters(&code, variable, &known);
        fold::behind_parameters(&code, &known);
        if !has(code_flags::LOOSE) {
            rounding::fix(&code, has(code_flags::FUSED));
        }
        for function in code.functions() {
            if function.is_declaration() {
                continue;
            }
            function.unmark("tune-cpu");
            function.mark(&code, "target-cpu", &processor);
            function.mark(&code, "target-features", &features);
            if has(code_flags::COUNTS_LANES) && !has(code_flags::LOOSE) {
                set_vector_bits(&code, function, request.vector_bits);
            }
        }
    }
    machine.simplify_again(&mut code);
    fold::behind_parameters(&code, &known);
    drop_arguments(&code, request.unread)?;
    machine.vectorise(&mut code);
    code.verify()?;
    if code.function(ENTRY).is_none_or(|one| one.is_declaration()) {
        return Err("a stage failed".to_string());
    }
    let simplified = start.elapsed().as_nanos() as u64;
    let object = machine.compile(&mut code, false);
    let object = object.ok_or("LLVM has no machine code for it")?;
    let made = match LINKS {
        false => Made::Linked(Linked::of(&object, &symbols)?.address(ENTRY)?),
        true => Made::Object {
            bytes: object,
            receiver: symbols.iter().position(|one| one.1 == request.receiver),
            names: symbols.into_iter().map(|(name, _)| name).collect(),
        },
    };
    let all = start.elapsed().as_nanos() as u64;
    Ok(Version {
        made,
        nanoseconds: [simplified, all - simplified],
    })
}

/// Has some of the receiver's arguments be null, and takes out what nothing reaches then.
fn drop_arguments(code: &Module, which: i64) -> Result<(), String> {
    let entry = code.function(ENTRY).ok_or("it has no entry")?;
    let calls = entry
        .instructions()
        .into_iter()
        .filter_map(|one| one.as_call());
    for call in calls.filter(|one| effects(*one).has(Effects::HAS_VERSIONS)) {
        for (at, argument) in call.arguments().into_iter().enumerate() {
            if which >> at & 1 != 0 {
                call.instruction().set_operand(at, argument.ty().zero());
            }
        }
    }
    let is_left_over = |one: &Function<'_>| one.is_local() && one.is_unused();
    while let Some(one) = code.functions().into_iter().find(is_left_over) {
        one.erase_unused();
    }
    Ok(())
}

/// The code, and the names there of what is at its addresses.
fn read(bitcode: &[u8]) -> Result<(OwnModule, Vec<String>), String> {
    if let Some(joined) = Joined::read(bitcode) {
        return join::join(&joined);
    }
    let code = read_picked(bitcode)?;
    let names = declared(&code).into_iter().map(|one| one.name()).collect();
    Ok((code, names))
}

fn known<'a>(request: &Request<'a>) -> Result<Vec<Known<'a>>, String> {
    let mut rest = request.bytes;
    let mut all = Vec::new();
    for at in request.values {
        let parts = rest.split_at_checked(at.size as usize);
        let (bytes, behind) = parts.ok_or("values are missing")?;
        rest = behind;
        all.push(Known { at, bytes });
    }
    Ok(all)
}
