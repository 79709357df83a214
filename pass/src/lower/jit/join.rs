//! The code of several loops over a set as that of one, which runs, for each element, one of them after the other: what one has
//! written and the next one reads is in registers then.
//!
//! Guarantee: names mean what they mean in the code of each, and the loops may be one: that is proved here, by the scheduler of
//! loop chains, of what is known of each and of which arguments have the same data. Whoever asks for the code sees to it that
//! they are over one set, that data are different where their numbers are, and that the arguments are there.

use okl_abi::Effects;
use okl_abi::jit::ENTRY;
use okl_abi::jit::joined::Joined;
use okl_abi::op2::f;
use okl_chains::elements::{self, Does, Use};

use super::declared;
use super::embed::add_entry;
use crate::analysis::runtime::effects;
use crate::ir::{Access, Base, Element, Kind, Mode, Parameter, Place, Storage};
use crate::llvm::{Builder, Call, Function, Linkage, Module, OwnModule, read_picked};
use crate::lower::cpu::lanes::operand;
use crate::lower::cpu::{fill_range, new_range};
use crate::marks::RANGE;
use crate::record::LoopRecord;

/// The code of them, and the names there of what is at their addresses.
pub fn join(joined: &Joined<'_>) -> Result<(OwnModule, Vec<String>), String> {
    let mut names = Vec::new();
    let mut all: Option<OwnModule> = None;
    for (number, part) in joined.parts.iter().enumerate() {
        let code = read_picked(part.bitcode)?;
        name_apart(&code, number, part.addresses, joined, &mut names)?;
        match &mut all {
            None => all = Some(code),
            Some(all) => {
                let is_linked = all.link(&code.bitcode());
                is_linked
                    .then_some(())
                    .ok_or("LLVM cannot link the loops")?;
            }
        }
    }
    let code = all.ok_or("there are no loops")?;
    write(&code, joined)?;
    Ok((code, names))
}

/// What hands over one of the loops.
fn entry_of(number: usize) -> String {
    format!("{ENTRY}.okl.{number}")
}

/// Gives what a part has names that no other part has, and what it declares the same as the others where it is the same.
fn name_apart(
    code: &Module,
    number: usize,
    addresses: usize,
    joined: &Joined<'_>,
    names: &mut Vec<String>,
) -> Result<(), String> {
    for function in code.functions() {
        if !function.is_declaration() {
            let name = function.name();
            function.set_name(&format!("{name}.okl.{number}"));
        }
    }
    let declared = declared(code);
    if declared.len() != addresses {
        return Err("the addresses are those of other code".to_string());
    }
    for one in declared {
        let (at, mut name) = (names.len(), one.name());
        let mut before = names.iter().zip(&joined.same);
        if before.any(|(its, same)| *its == name && *same != joined.same[at]) {
            name = format!("{name}.okl.{number}");
            one.set_name(&name);
        }
        if one.name() != name {
            return Err(format!("it has two symbols {name}"));
        }
        names.push(name);
    }
    Ok(())
}

/// Writes the one loop, and takes out what handed over each of them.
fn write(code: &Module, joined: &Joined<'_>) -> Result<(), String> {
    let mut loops = Vec::new();
    for (number, part) in joined.parts.iter().enumerate() {
        let entry = code.function(&entry_of(number)).ok_or("it has no entry")?;
        let instructions = entry.instructions().into_iter();
        let mut calls = instructions.filter_map(|one| one.as_call());
        let anchor = calls.find(|one| effects(*one).has(Effects::HAS_VERSIONS));
        let anchor = anchor.ok_or("it runs no loop")?;
        let record = LoopRecord::at(anchor).and_then(Result::ok);
        let record = record.ok_or("its record is lost")?;
        let kernel = operand(anchor, "kernel").as_function();
        let kernel = kernel.ok_or("it has no kernel")?;
        if record.kinds.len() != part.arguments.len() {
            return Err("it has other arguments".to_string());
        }
        loops.push((entry, record, kernel));
    }
    let records: Vec<_> = loops.iter().map(|(_, record, _)| record).collect();
    prove(joined, &records)?;
    let record = record(joined, &records)?;
    let ty = code.function_type(code.void(), &vec![code.pointer(); joined.data.len()]);
    let first = loops.first().ok_or("there are no loops")?.2;
    let kernel = code.add_function("okl.joined", ty, Linkage::LLVMInternalLinkage);
    kernel.compile_like(first);
    kernel.copy_attribute(first, "nounwind");
    let parameters = kernel.parameters();
    let builder = Builder::at_end(code, kernel.append_block(code));
    let mut calls: Vec<Call<'_>> = Vec::new();
    for ((_, _, its), part) in loops.iter().zip(&joined.parts) {
        let given = part.arguments.iter().map(|at| parameters[*at]);
        let call = builder.call(*its, &given.collect::<Vec<_>>());
        calls.extend(call.as_call());
    }
    builder.ret(None);
    for (call, (_, _, its)) in calls.into_iter().zip(&loops) {
        call.follow_convention(*its);
        // Where that is not possible it stays a call.
        call.inline();
    }
    let range = new_range(code, RANGE, kernel);
    fill_range(code, range, kernel, &record.parameters(), false);
    let (none, zero) = (code.pointer().zero(), code.const_i32(0));
    let anchor = add_entry(code, kernel, &f::okl_op2_par_loop_v8, |name| match name {
        "kernel" => *kernel,
        "range" => *range,
        "count" | "width" | "any_order" => zero,
        _ => none,
    });
    record.leave_at(code, anchor);
    let entries: Vec<Function<'_>> = loops.iter().map(|(entry, ..)| *entry).collect();
    for entry in entries {
        entry.set_linkage(Linkage::LLVMInternalLinkage);
        entry.erase_unused();
    }
    Ok(())
}

/// Proves that they may be one.
fn prove(joined: &Joined<'_>, loops: &[&LoopRecord<'_>]) -> Result<(), String> {
    let names = (0..joined.data.len()).map(|at| format!("argument {at}"));
    let chain = elements::chain(&names.collect::<Vec<_>>(), &uses(joined, loops)?);
    let proved = elements::prove_one(&chain);
    proved.map_err(|refused| format!("it is not proved that they may be one: {}", refused.why))
}

/// What they do with data, which have the number of the first argument of the one loop that has them.
fn uses(joined: &Joined<'_>, loops: &[&LoopRecord<'_>]) -> Result<Vec<Vec<Use>>, String> {
    let mut forms: Vec<Option<Option<Element>>> = vec![None; joined.data.len()];
    let mut in_one_form = vec![true; joined.data.len()];
    let mut all = Vec::new();
    for (record, part) in loops.iter().zip(&joined.parts) {
        let mut uses = Vec::new();
        for access in &record.accesses {
            let Base::Argument(at) = access.base else {
                return Err("it accesses more than its arguments".to_string());
            };
            let (kind, number) = (record.kinds.get(at), part.arguments.get(at));
            let (kind, number) = kind.zip(number).ok_or("it has other arguments")?;
            if *kind == Kind::Number {
                continue;
            }
            let data = joined.data[*number];
            let is_own = access.place == Place::Own;
            if is_own {
                // Elements of another size have other bytes.
                let form = *forms[data].get_or_insert(access.element);
                in_one_form[data] &= form.is_some() && form == access.element;
            }
            let does = match access.mode {
                Mode::Read => Does::Read,
                Mode::Write => Does::Write,
                Mode::Increment | Mode::Min | Mode::Max if !is_own => Does::Combine,
                Mode::ReadWrite | Mode::Increment | Mode::Min | Mode::Max => Does::Change,
            };
            uses.push(Use { data, does, is_own });
        }
        all.push(uses);
    }
    for one in all.iter_mut().flatten() {
        one.is_own &= in_one_form[one.data];
    }
    Ok(all)
}

/// What is known of it, from what is known of each of them.
fn record<'m>(joined: &Joined<'_>, loops: &[&LoopRecord<'m>]) -> Result<LoopRecord<'m>, String> {
    let mut all: Vec<Option<(Kind, Access<'m>)>> = vec![None; joined.data.len()];
    for (record, part) in loops.iter().zip(&joined.parts) {
        let mut captures = record.accesses.iter();
        if captures.any(|one| !matches!(one.base, Base::Argument(_))) {
            return Err("it accesses more than its arguments".to_string());
        }
        for (parameter, &to) in record.parameters().into_iter().zip(&part.arguments) {
            let access = renumbered(parameter, &part.arguments)?;
            let slot = &mut all[to];
            *slot = Some(match slot.take() {
                None => (parameter.kind, access),
                Some(before) => both(before, (parameter.kind, access))?,
            });
        }
    }
    let all: Option<Vec<_>> = all.into_iter().collect();
    let (kinds, accesses): (Vec<_>, Vec<_>) =
        all.ok_or("nobody uses an argument")?.into_iter().unzip();
    Access::verify_all(&accesses, &kinds)?;
    Ok(LoopRecord {
        origin: loops[0].origin,
        kinds,
        accesses,
    })
}

/// An access by an argument of a loop, by the numbers of the one loop's.
fn renumbered<'m>(parameter: Parameter<'_>, numbers: &[usize]) -> Result<Access<'m>, String> {
    let of = |access: &Access<'_>, base, place| Access {
        mode: access.mode,
        must: access.must,
        optional: access.optional,
        stated: access.stated,
        element: access.element,
        base,
        place,
    };
    let number = |at: usize| {
        let number = numbers.get(at);
        number.copied().ok_or("it has other arguments".to_string())
    };
    let access = parameter.access;
    let Base::Argument(at) = access.base else {
        return Err("it accesses more than its arguments".to_string());
    };
    let place = match &access.place {
        Place::Whole => Place::Whole,
        Place::Own => Place::Own,
        Place::Anywhere => Place::Anywhere,
        Place::Through(map, columns) => {
            let (Base::Map(of_argument), Place::Own) = (&map.base, &map.place) else {
                return Err("it goes through several maps".to_string());
            };
            let base = Base::Map(number(*of_argument)?);
            Place::Through(Box::new(of(map, base, Place::Own)), *columns)
        }
        Place::At(_) => return Err("it goes through values".to_string()),
    };
    Ok(of(access, Base::Argument(number(at)?), place))
}

/// What two loops do by the same argument, one after the other.
fn both<'m>(
    (kind, one): (Kind, Access<'m>),
    (other_kind, other): (Kind, Access<'m>),
) -> Result<(Kind, Access<'m>), String> {
    let is_same = one.element == other.element && one.place == other.place;
    if !is_same || one.element.is_none() {
        return Err("they have the same data in two forms".to_string());
    }
    let kinds = [kind, other_kind];
    let worst = [Kind::Data(Storage::Unknown), Kind::Data(Storage::ByElement)];
    let worst = worst.into_iter().find(|one| kinds.contains(one));
    let both_read = one.mode == Mode::Read && other.mode == Mode::Read;
    let access = Access {
        // The first one may write a part of it, and the next one read another one.
        mode: match both_read {
            true => Mode::Read,
            false => Mode::ReadWrite,
        },
        must: one.must && other.must,
        optional: one.optional || other.optional,
        stated: one.stated || other.stated,
        ..one
    };
    Ok((worst.unwrap_or(kind), access))
}

#[cfg(test)]
mod tests {
    use super::*;
    use okl_abi::jit::joined::Part;

    /// A record, and the numbers of its arguments.
    type Loop = (&'static str, &'static [usize]);

    /// Whether loops with such records may be one, whose arguments have these numbers among those of the one loop; `data` says
    /// which of those have the same data.
    fn proved(loops: &[Loop], data: &[usize]) -> Result<(), String> {
        let part = |(_, arguments): &Loop| Part {
            bitcode: &[],
            addresses: 0,
            arguments: arguments.to_vec(),
        };
        let joined = Joined {
            parts: loops.iter().map(part).collect(),
            data: data.to_vec(),
            same: Vec::new(),
        };
        let records = loops.iter().map(|(text, _)| {
            let text = format!("3; op_par_loop; {text}");
            text.parse::<LoopRecord<'_>>().expect("a record")
        });
        let records: Vec<_> = records.collect();
        prove(&joined, &records.iter().collect::<Vec<_>>())
    }

    /// It reads data of its own element, and writes others.
    const DIRECT: &str = "element element; may stated read argument:0 1xf64 own; must stated write argument:1 1xf64 own";
    /// It reads data through a map, and writes others.
    const PULL: &str = "element element; may stated read argument:0 1xf64 column:1 may stated read map:0 2xi32 own; must stated write argument:1 1xf64 own";
    /// It adds to data through a map what it reads of its own element.
    const PUSH: &str = "element element; may stated read argument:0 1xf64 own; may stated inc argument:1 1xf64 column:1 may stated read map:1 2xi32 own";
    /// It adds up what it reads of its own element, and knows that element's number.
    const SUM: &str = "number element element; may stated read argument:0 1xi32 own; may stated read argument:1 1xf64 own; may stated inc argument:2 1xf64 whole";
    /// It changes the same bytes as elements of another size.
    const WIDE: &str = "element; may stated rw argument:0 2xf64 own";

    #[test]
    fn loops_become_one_where_the_scheduler_proves_it() {
        if !okl_chains::isl::Isl::is_installed() {
            eprintln!("skip loops_become_one_where_the_scheduler_proves_it: there is no isl");
            return;
        }
        // The second one reads what the first one wrote of its own element, and the third one adds up.
        let legal: &[(&[Loop], &[usize])] = &[
            (
                &[(DIRECT, &[0, 1]), (DIRECT, &[1, 2]), (SUM, &[3, 2, 4])],
                &[0, 1, 2, 3, 4],
            ),
            (&[(PULL, &[0, 1]), (PULL, &[0, 2])], &[0, 1, 2]),
            (&[(DIRECT, &[0, 1]), (PUSH, &[1, 2])], &[0, 1, 2]),
            // One reads in elements of its own what the other reads through a map.
            (&[(DIRECT, &[0, 1]), (PULL, &[2, 3])], &[0, 1, 0, 3]),
        ];
        for (loops, data) in legal {
            assert_eq!(proved(loops, data), Ok(()), "{loops:?}");
        }
        let illegal: &[(&[Loop], &[usize], &str)] = &[
            // By the numbers of arguments alone they have nothing in common.
            (
                &[(DIRECT, &[0, 1]), (PULL, &[2, 3])],
                &[0, 1, 1, 3],
                "loop 2 reads what loop 1 writes of `argument 1`",
            ),
            (
                &[(PULL, &[0, 1]), (DIRECT, &[2, 3])],
                &[0, 1, 2, 0],
                "loop 2 overwrites what loop 1 reads of `argument 0`",
            ),
            (
                &[(PUSH, &[0, 1]), (PUSH, &[0, 1])],
                &[0, 1],
                "loop 2 overwrites what loop 1 writes of `argument 1`",
            ),
            (
                &[(DIRECT, &[0, 1]), (PUSH, &[0, 2])],
                &[0, 1, 1],
                "loop 2 overwrites what loop 1 writes of `argument 1`",
            ),
            (
                &[(DIRECT, &[0, 1]), (WIDE, &[2])],
                &[0, 1, 1],
                "loop 2 reads what loop 1 writes of `argument 1`",
            ),
        ];
        for (loops, data, why) in illegal {
            let told = proved(loops, data).expect_err("it is illegal");
            assert!(
                told.starts_with("it is not proved that they may be one: ") && told.contains(why),
                "{told}"
            );
        }
    }
}
