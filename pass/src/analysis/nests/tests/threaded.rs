//! Questions that LLVM leads control around: phis are what was asked, and loops behind such questions access just what they do.

use super::*;
use crate::analysis::nests::threaded;

/// Rows of `m - 2` elements, `t` of them, where `m` is at least `least`, which is asked after whether it is at least 7.
fn rows(least: i64) -> String {
    format!(
        "define void @f(ptr %a, i64 %n, i64 %m, i64 %t) {{
entry:
  br label %rows
rows:
  %row = phi i64 [ 0, %entry ], [ %row.next, %latch ]
  %few = icmp slt i64 %m, 7
  br i1 %few, label %maybe, label %many
many:
  %of.many = add nsw i64 %m, -2
  br label %work
maybe:
  %of.few = add i64 %m, -2
  %none = icmp slt i64 %m, {least}
  br i1 %none, label %skip, label %work
work:
  %count = phi i64 [ %of.many, %many ], [ %of.few, %maybe ]
  br label %join
skip:
  br label %join
join:
  %same = phi i64 [ %count, %work ], [ %of.few, %skip ]
  %was.none = phi i1 [ false, %work ], [ true, %skip ]
  br i1 %was.none, label %latch, label %columns
columns:
  %column = phi i64 [ 0, %join ], [ %column.next, %columns ]
  %of.row = mul nsw i64 %row, 100
  %index = add nsw i64 %of.row, %column
  %place = getelementptr inbounds double, ptr %a, i64 %index
  store double 0.0, ptr %place
  %column.next = add nsw i64 %column, 1
  %last = icmp eq i64 %column.next, %same
  br i1 %last, label %latch, label %columns
latch:
  %row.next = add nsw i64 %row, 1
  %again = icmp slt i64 %row.next, %t
  br i1 %again, label %rows, label %end
end:
  ret void
}}"
    )
}

#[test]
fn a_loop_behind_a_question_that_is_led_around_is_known_exactly() {
    let module = OwnModule::parse(&rows(3));
    let nests = Nests::open(&module, module.function("f").expect("it was written"));
    let Extent::Section(section) = extent_of(&nests, Scope::Loop(0)) else {
        panic!("it has a section");
    };
    assert!(section.exact);
    for (m, t) in (-1..12).flat_map(|m| (1..4).map(move |t| (m, t))) {
        let all = (0..t).flat_map(|row| (0..m - 2).map(move |column| 100 * row + column));
        let all: BTreeSet<_> = all.map(|index| ADDRESS + 8 * index).collect();
        let arguments = [ADDRESS, 0, m, t, 0, 0];
        assert_eq!(
            addresses(&nests, &section, &arguments),
            Some(all),
            "{m} {t}"
        );
    }
}

#[test]
fn a_question_that_is_not_answered_before_is_asked_of_nobody() {
    // With 7 or 8 the second answer would be another one than the first implies.
    let module = OwnModule::parse(&rows(9));
    let nests = Nests::open(&module, module.function("f").expect("it was written"));
    let is_exact = match extent_of(&nests, Scope::Loop(0)) {
        Extent::Section(section) => section.exact,
        _ => false,
    };
    assert!(!is_exact);
}

/// What ends a block: a question about `n`, and the blocks to which its answers lead.
#[derive(Debug)]
struct Asks {
    predicate: (&'static str, fn(i64, i64) -> bool),
    with: i64,
    yes: usize,
    no: usize,
}

const BITS: u32 = 8;

fn unsigned(one: i64) -> u64 {
    one as u64 & ((1 << BITS) - 1)
}

/// A predicate of `icmp`, and what it says.
type Predicate = (&'static str, fn(i64, i64) -> bool);

const PREDICATES: [Predicate; 10] = [
    ("eq", |a, b| a == b),
    ("ne", |a, b| a != b),
    ("slt", |a, b| a < b),
    ("sle", |a, b| a <= b),
    ("sgt", |a, b| a > b),
    ("sge", |a, b| a >= b),
    ("ult", |a, b| unsigned(a) < unsigned(b)),
    ("ule", |a, b| unsigned(a) <= unsigned(b)),
    ("ugt", |a, b| unsigned(a) > unsigned(b)),
    ("uge", |a, b| unsigned(a) >= unsigned(b)),
];

/// Whether the comparison that replaced a phi, or the phi, is the answer that a way to it had.
#[test]
fn phis_of_random_ways_stay_what_they_are() {
    const BLOCKS: usize = 6;
    let mut random = random_numbers();
    let mut replaced = 0;
    for _ in 0..6000 {
        let asks: Vec<_> = (0..BLOCKS)
            .map(|block| Asks {
                predicate: PREDICATES[random(PREDICATES.len())],
                with: random(5) as i64 - 2,
                yes: block + 1 + random(BLOCKS - block),
                no: block + 1 + random(BLOCKS - block),
            })
            .collect();
        // The last block, on the way there.
        let way = |n: i64| {
            let mut block = 0;
            loop {
                let one = &asks[block];
                let answer = one.predicate.1(n, one.with);
                let next = if answer { one.yes } else { one.no };
                if next == BLOCKS {
                    return block;
                }
                block = next;
            }
        };
        let numbers = -5..=5;
        // What is asked right before the first way into the end, so that the phi often is its answer.
        let ways = &asks;
        let is_before =
            |of: usize| (0..of).filter(move |&one| [ways[one].yes, ways[one].no].contains(&of));
        let Some(wanted) = is_before(BLOCKS)
            .next()
            .and_then(|first| is_before(first).next())
        else {
            continue;
        };
        let wanted = &asks[wanted];
        let into_end: Vec<_> = (0..BLOCKS)
            .filter(|&block| asks[block].yes == BLOCKS || asks[block].no == BLOCKS)
            .map(|block| {
                let some = numbers.clone().find(|&n| way(n) == block);
                (
                    block,
                    some.is_some_and(|n| wanted.predicate.1(n, wanted.with)),
                )
            })
            .collect();
        let mut text = format!("define i1 @f(i{BITS} %n) {{\n");
        for (block, one) in asks.iter().enumerate() {
            text += &format!(
                "b{block}:\n  %c{block} = icmp {} i{BITS} %n, {}\n  br i1 %c{block}, label %b{}, label %b{}\n",
                one.predicate.0, one.with, one.yes, one.no
            );
        }
        let incoming = into_end.iter().flat_map(|&(block, answer)| {
            let times =
                usize::from(asks[block].yes == BLOCKS) + usize::from(asks[block].no == BLOCKS);
            std::iter::repeat_n(format!("[ {answer}, %b{block} ]"), times)
        });
        let incoming: Vec<_> = incoming.collect();
        text += &format!(
            "b{BLOCKS}:\n  %p = phi i1 {}\n  ret i1 %p\n}}\n",
            incoming.join(", ")
        );
        let module = OwnModule::parse(&text);
        let function = module.function("f").expect("it was written");
        let code = Code::open(function);
        threaded::join(&module, &code);
        let end = function.blocks()[BLOCKS].terminator().expect("it returns");
        let Some(asked) = end.operand(0).as_op(Opcode::LLVMICmp) else {
            continue;
        };
        replaced += 1;
        let Some(Comparison::Integer(predicate)) = asked.comparison() else {
            panic!("it compares integers");
        };
        let name = format!("{predicate:?}").to_lowercase();
        let of = PREDICATES
            .iter()
            .find(|one| name == format!("llvmint{}", one.0));
        let with = asked.operand(1).as_constant_int().expect("a number");
        for n in numbers {
            let block = way(n);
            let before = into_end.iter().find(|one| one.0 == block);
            let after = of.map(|one| one.1(n, with));
            assert_eq!(before.map(|one| one.1), after, "{n} in {text}");
        }
    }
    assert!(replaced > 60, "{replaced} were replaced");
}
