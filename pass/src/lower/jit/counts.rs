//! How often loops run, where that is known: the values that say so are also left out of code, or told of in part.
//!
//! Guarantee: where a loop ends by a value that is known, the code asks for it in memory, where it is; all else that is computed
//! from it may be known all the same.
//!
//! Where LLVM knows how often a loop runs it writes out short ones before it works on several elements at once, which may be
//! much slower.

use std::collections::HashMap;

use okl_abi::jit::value;

use super::fold;
use crate::llvm::{Builder, Function, Instruction, Intrinsic, Module, Opcode, Value};

/// A value that is known, as a module has it.
#[derive(Clone, Copy)]
pub struct Root<'m> {
    /// The parameter that it is, or where it is in memory.
    pub value: Value<'m>,
    /// Its number among those that are known.
    pub number: usize,
    /// From which byte of what is there.
    pub offset: i64,
    /// Its bytes.
    pub size: i64,
    /// Whether it is in memory.
    pub is_behind: bool,
    /// The function of which alone that is known, if it is of one.
    pub within: Option<Function<'m>>,
}

/// What code may know of such values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// That they are positive, if they are.
    Nothing,
    /// Also that they are multiples of 2, 4 or 8, and that they are not small.
    Assumptions,
}

/// Comparisons that end loops, with the operands that rest on such values.
pub struct Ends<'m> {
    module: &'m Module,
    roots: Vec<Root<'m>>,
    found: Vec<(Instruction<'m>, usize)>,
    /// Whether what was met rests on one.
    rests: HashMap<Value<'m>, bool>,
    copies: HashMap<Value<'m>, Value<'m>>,
}

impl<'m> Ends<'m> {
    /// Those of a module.
    pub fn of(module: &'m Module, roots: Vec<Root<'m>>) -> Self {
        let mut ends = Self {
            module,
            roots,
            found: Vec::new(),
            rests: HashMap::new(),
            copies: HashMap::new(),
        };
        let functions = module.functions().into_iter();
        for comparison in functions.flat_map(ending) {
            for at in 0..2 {
                if ends.rests(comparison.operand(at)) {
                    ends.found.push((comparison, at));
                }
            }
        }
        ends
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Has the code ask for the values there, of which these are the bytes.
    pub fn ask(mut self, bytes: &[&[u8]], told: Told) {
        for (comparison, at) in std::mem::take(&mut self.found) {
            let asked = self.asked(comparison.function(), comparison.operand(at), bytes, told);
            comparison.set_operand(at, asked);
        }
    }

    /// Which of the values it is, and from which byte.
    fn known(&self, of: Value<'m>) -> Option<(usize, i64)> {
        of.ty()
            .bits()
            .filter(|bits| [8, 16, 32, 64].contains(bits))?;
        let mut roots = self.roots.iter();
        if of.as_parameter().is_some() {
            let root = roots.find(|root| !root.is_behind && root.value == of)?;
            return Some((root.number, 0));
        }
        let load = of.as_op(Opcode::LLVMLoad)?;
        if load.is_volatile_or_atomic() {
            return None;
        }
        let (base, offset) = load.operand(0).constant_offset(self.module);
        let root = roots.find(|root| {
            let bytes = root.offset..root.offset + root.size;
            let is_here = root.within.is_none_or(|one| one == load.function());
            root.is_behind && is_here && root.value == base && bytes.contains(&offset)
        })?;
        Some((root.number, offset - root.offset))
    }

    fn rests(&mut self, one: Value<'m>) -> bool {
        if let Some(&rests) = self.rests.get(&one) {
            return rests;
        }
        self.rests.insert(one, false);
        let rests = self.known(one).is_some()
            || one.as_instruction().is_some_and(|code| {
                let operands = is_arithmetic(code).then(|| code.operands());
                operands.is_some_and(|all| all.into_iter().any(|one| self.rests(one)))
            });
        self.rests.insert(one, rests);
        rests
    }

    /// The same number, computed from what is asked for.
    fn asked(
        &mut self,
        function: Function<'m>,
        one: Value<'m>,
        bytes: &[&[u8]],
        told: Told,
    ) -> Value<'m> {
        if let Some(&copy) = self.copies.get(&one) {
            return copy;
        }
        let copy = match (self.known(one), one.as_instruction()) {
            (Some((number, offset)), _) => {
                let size = one.ty().bits().expect("an integer") as usize / 8;
                let from = usize::try_from(offset).ok();
                let bytes = from.and_then(|from| bytes[number].get(from..from + size));
                bytes.map_or(one, |bytes| self.load(function, one, bytes, told))
            }
            (None, Some(code)) if self.rests(one) => {
                let copy = code.copy_before(code);
                for (at, operand) in code.operands().into_iter().enumerate() {
                    if self.rests(operand) {
                        copy.set_operand(at, self.asked(function, operand, bytes, told));
                    }
                }
                *copy
            }
            _ => one,
        };
        self.copies.insert(one, copy);
        copy
    }

    /// What is asked for in the place of a value of these bytes.
    fn load(&self, function: Function<'m>, like: Value<'m>, bytes: &[u8], told: Told) -> Value<'m> {
        let (module, ty) = (self.module, like.ty());
        let mut whole = [0; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        let unused = 64 - 8 * bytes.len() as u32;
        let number = i64::from_le_bytes(whole) << unused >> unused;
        let shift = match told {
            Told::Assumptions if number > 0 => number.trailing_zeros().min(MOST_SHIFTED),
            _ => 0,
        };
        let (number, least) = match told {
            Told::Assumptions if number > 0 => {
                let least = (1 << number.ilog2()).min(MOST_ASSUMED);
                (number >> shift, least >> shift)
            }
            _ => (number, 1),
        };
        let kept = module.const_bytes(&number.to_le_bytes()[..bytes.len()]);
        let kept = module.add_constant("okl.jit.asked", kept);
        kept.set_alignment(8);
        // LLVM takes it for what it does not know.
        kept.set_externally_initialized();
        let entry = Builder::at_entry(module, function);
        let load = entry.load(ty, *kept);
        if number > 0 {
            let end = i64::MAX >> unused >> shift;
            let load = load.as_instruction().expect("a load");
            load.set_numbers(module, least, end);
        }
        match shift {
            0 => load,
            _ => entry.binary(Opcode::LLVMShl, load, ty.integer_constant(i64::from(shift))),
        }
    }
}

/// A multiple of more than that is of no use: so many elements are worked on at once.
const MOST_SHIFTED: u32 = 3;
/// Nor a loop that runs more often.
const MOST_ASSUMED: i64 = 32;

/// The values that are known of a module, by their kinds, places, offsets and sizes: see [`okl_abi::jit::JitValue`]. `region` is what the
/// places of those are parameters of that are no variables.
pub fn roots<'m>(
    module: &'m Module,
    variable: impl Fn(usize) -> Option<Value<'m>>,
    region: Option<Function<'m>>,
    values: impl Iterator<Item = [i64; 4]>,
) -> Vec<Root<'m>> {
    let parameters = region.map(Function::parameters).unwrap_or_default();
    let values: Vec<_> = values.collect();
    let places: Vec<_> = values
        .iter()
        .map(|[kind, place, offset, _]| [*kind, *place, *offset])
        .collect();
    let mut roots = Vec::new();
    for (number, &[kind, place, offset, size]) in values.iter().enumerate() {
        let (there, offset) = match kind {
            value::VARIABLE => (Vec::from_iter(variable(place as usize)), offset),
            value::GIVEN | value::LOADED | value::NAMED => continue,
            value::THROUGH => {
                let loads = region
                    .map(|region| fold::loads_through(module, region, &variable, &places, number));
                let pointers = loads.into_iter().flatten().map(|(_, pointer)| pointer);
                let offset = value::Through::from_bits(offset).offset;
                (pointers.collect(), offset)
            }
            _ => {
                let parameter = parameters.get(place as usize).copied();
                (Vec::from_iter(parameter), offset)
            }
        };
        let is_behind = kind != value::PARAMETER;
        let within = region.filter(|_| kind == value::THROUGH);
        roots.extend(there.into_iter().map(|value| Root {
            value,
            number,
            offset,
            size,
            is_behind,
            within,
        }));
    }
    roots
}

/// The comparisons that decide whether loops of a function go on.
fn ending(function: Function<'_>) -> Vec<Instruction<'_>> {
    let mut found = Vec::new();
    for one in function.loops() {
        let leaves = one.blocks.iter().filter(|block| {
            let mut next = block.successors().into_iter();
            next.any(|next| !one.blocks.contains(&next))
        });
        let ends = leaves.filter_map(|block| block.terminator()?.branch_condition());
        let mut rest: Vec<_> = ends.collect();
        while let Some(condition) = rest.pop() {
            let Some(code) = condition.as_instruction() else {
                continue;
            };
            match code.opcode() {
                Opcode::LLVMICmp if !found.contains(&code) => found.push(code),
                Opcode::LLVMAnd | Opcode::LLVMOr | Opcode::LLVMXor | Opcode::LLVMSelect => {
                    rest.extend(code.operands());
                }
                _ => {}
            }
        }
    }
    found
}

/// Whether code computes a number, of its operands alone.
fn is_arithmetic(code: Instruction<'_>) -> bool {
    const FUNCTIONS: [&str; 5] = ["smax", "smin", "umax", "umin", "abs"];
    match code.opcode() {
        Opcode::LLVMAdd
        | Opcode::LLVMSub
        | Opcode::LLVMMul
        | Opcode::LLVMSDiv
        | Opcode::LLVMUDiv
        | Opcode::LLVMSRem
        | Opcode::LLVMURem
        | Opcode::LLVMShl
        | Opcode::LLVMLShr
        | Opcode::LLVMAShr
        | Opcode::LLVMAnd
        | Opcode::LLVMOr
        | Opcode::LLVMZExt
        | Opcode::LLVMSExt
        | Opcode::LLVMTrunc
        | Opcode::LLVMFreeze => true,
        Opcode::LLVMCall => {
            let intrinsic = code.as_call().and_then(|call| call.intrinsic());
            let name = intrinsic.map(Intrinsic::name).unwrap_or_default();
            let name = name.strip_prefix("llvm.").unwrap_or_default();
            FUNCTIONS.contains(&name)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::OwnModule;

    const CODE: &str = "
        define void @f(ptr %length, ptr %a) {
        entry:
            %n = load i32, ptr %length
            %some = icmp sgt i32 %n, 0
            br i1 %some, label %before, label %done
        before:
            %wide = zext nneg i32 %n to i64
            br label %turn
        turn:
            %i = phi i64 [ 0, %before ], [ %next, %turn ]
            %at = getelementptr i32, ptr %a, i64 %i
            store i32 %n, ptr %at
            %next = add i64 %i, 1
            %ends = icmp eq i64 %next, %wide
            br i1 %ends, label %done, label %turn
        done:
            ret void
        }";

    /// The code where so many turns are told of like that.
    fn asked(turns: i32, told: Told) -> String {
        let module = OwnModule::parse(CODE);
        let function = module.function("f").expect("it is there");
        let roots = roots(
            &module,
            |_| None,
            Some(function),
            [[value::BEHIND, 0, 0, 4]].into_iter(),
        );
        let ends = Ends::of(&module, roots);
        assert!(!ends.is_empty());
        ends.ask(&[&turns.to_le_bytes()], told);
        function.print()
    }

    #[test]
    fn loops_end_by_what_is_asked_for_and_all_else_is_known() {
        let text = asked(24, Told::Nothing);
        for there in [
            "load i32, ptr @okl.jit.asked, align 4, !range",
            "%some = icmp sgt i32 %n, 0",
            "store i32 %n",
        ] {
            assert!(text.contains(there), "{there}: {text}");
        }
        assert!(!text.contains("%ends = icmp eq i64 %next, %wide"), "{text}");
        assert!(!text.contains("shl"), "{text}");
    }

    #[test]
    fn what_is_assumed_is_so() {
        let shifted = |turns, by: Option<u32>| {
            let text = asked(turns, Told::Assumptions);
            let shift = text.contains("= shl i32");
            let which = by.is_none_or(|by| text.contains(&format!(", {by}\n")));
            assert!(shift == by.is_some() && which, "{turns}: {text}");
        };
        shifted(9, None);
        shifted(6, Some(1));
        shifted(48, Some(3));
        shifted(0, None);
        shifted(-8, None);
    }

    #[test]
    fn what_decides_nothing_is_none() {
        let module = OwnModule::parse(CODE);
        let function = module.function("f").expect("it is there");
        let others = [
            [value::BEHIND, 1, 0, 4],
            [value::PARAMETER, 0, 0, 8],
            [value::MEMBER, 0, 4, 4],
        ];
        let roots = roots(&module, |_| None, Some(function), others.into_iter());
        assert!(Ends::of(&module, roots).is_empty());
    }
}
