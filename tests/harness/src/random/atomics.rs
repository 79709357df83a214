//! Atomic accesses whose results do not depend on their order.

use super::generator::Generator;
use super::objects::{Object, Shape, Type};
use super::phase::{Protection, Use};
use super::worksharing::{self, barrier, head, schedule};
use crate::tools::Language;

/// So many iterations that each access something atomically.
const SOME: usize = 300;

/// One atomic update of `element` of `object`.
pub(crate) fn update(
    g: &mut Generator,
    object: &Object,
    element: &str,
    operator: &str,
    operand: &str,
) {
    if object.shape == Shape::Atomic {
        return g.line(format!("{element} {operator}= {operand};"));
    }
    let ty = object.element.name();
    match (g.random.between(0, 6), builtin(operator)) {
        (0, _) => {
            g.line("u64 seen;");
            g.line("#pragma omp atomic capture");
            g.line(format!("seen = {element} {operator}= {operand};"));
            g.line("(void)seen;");
        }
        (1, _) => {
            g.line("#pragma omp atomic update seq_cst");
            g.line(format!("{element} = {element} {operator} {operand};"));
        }
        (2, Some(name)) if object.element != Type::F64 => {
            let order = g.random.pick(&["RELAXED", "ACQ_REL", "SEQ_CST"]);
            g.line(format!(
                "__atomic_fetch_{name}(&{element}, {operand}, __ATOMIC_{order});"
            ));
        }
        (3, Some(name)) if object.element != Type::F64 => {
            g.line(format!("__sync_fetch_and_{name}(&{element}, {operand});"));
        }
        (4, Some(name)) if object.element != Type::F64 && g.language() == Language::Cxx => {
            g.line(format!(
                "reinterpret_cast<std::atomic<{ty}> *>(&{element})->fetch_{name}({operand});"
            ));
        }
        // Bits that are set stay set, for every thread; and the other way round.
        (5, _) if matches!(operator, "|" | "&") => {
            g.line("#pragma omp atomic");
            g.line(format!("{element} {operator}= {operand};"));
            g.line(format!("{ty} first, second;"));
            for seen in ["first", "second"] {
                g.line("#pragma omp atomic read");
                g.line(format!("{seen} = {element};"));
            }
            let (earlier, later) = match operator {
                "|" => ("first", "second"),
                _ => ("second", "first"),
            };
            g.line(format!(
                "if ({earlier} & ~{later}) printf(\"bits went back\\n\");"
            ));
        }
        _ => {
            g.line("#pragma omp atomic");
            g.line(format!("{element} {operator}= {operand};"));
        }
    }
}

fn builtin(operator: &str) -> Option<&'static str> {
    Some(match operator {
        "+" => "add",
        "-" => "sub",
        "^" => "xor",
        "|" => "or",
        "&" => "and",
        _ => return None,
    })
}

/// Stores `value` to `element`, which no other thread accesses.
pub(crate) fn store(g: &mut Generator, object: &Object, element: &str, value: &str) {
    let stored = object.element.stored(value);
    if object.shape == Shape::Atomic {
        return g.line(format!("{element} = {stored};"));
    }
    g.line("{");
    g.line(format!("{} stored = {stored};", object.element.name()));
    if object.element == Type::F64 || g.random.chance(50) {
        g.line("#pragma omp atomic write");
        g.line(format!("{element} = stored;"));
    } else {
        g.line(format!(
            "__atomic_store_n(&{element}, stored, __ATOMIC_RELEASE);"
        ));
    }
    g.line("}");
}

/// A loop of nothing but atomic updates.
pub(crate) fn histogram(g: &mut Generator) {
    let nowait = if g.random.chance(50) { " nowait" } else { "" };
    let (schedule, count) = (schedule(g), g.random.between(1, SOME));
    g.line(format!("#pragma omp for{nowait}{schedule}"));
    let (head, number) = head(g, count);
    g.line(head);
    g.atoms.push(number);
    for _ in 0..g.random.between(1, 3) {
        match g.random.chance(25) {
            true => maximum(g),
            false => worksharing::update(g, Protection::Atomic),
        }
    }
    g.atoms.pop();
    g.line("}");
    if nowait.is_empty() {
        g.phase.barrier();
    }
}

/// The largest of many values, by compare and exchange.
pub(crate) fn maximum(g: &mut Generator) {
    let by = Protection::Atomic;
    let target = g.visible.iter().copied().find(|&object| {
        let it = &g.objects[object];
        it.element.is_unsigned()
            && it.shape != Shape::Atomic
            && g.phase.may_update(object, "max", by)
    });
    let Some(target) = target else {
        return;
    };
    let (operator, protection) = ("max", by);
    g.phase.note(
        target,
        Use::Updated {
            operator,
            protection,
        },
    );
    let object = g.objects[target].clone();
    let (at, value) = (g.value(1), g.value(2));
    let element = object.at("at");
    g.line("{");
    g.line(format!("u64 at = ({at}) % {};", object.len));
    let ty = object.element.name();
    g.line(format!("{ty} value = {};", object.element.operand(&value)));
    g.line(format!(
        "{ty} old = __atomic_load_n(&{element}, __ATOMIC_RELAXED);"
    ));
    g.line("while (old < value) {");
    g.line(format!(
        "if (__atomic_compare_exchange_n(&{element}, &old, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) break;"
    ));
    g.line("}");
    g.line("}");
}

/// Iterations draw tickets, each of which is a place in an array that is sorted in the end.
pub(crate) fn tickets(g: &mut Generator) {
    let array = g.take_for_writing(|o| o.is_contiguous() && o.element == Type::U64);
    let counts = |o: &Object| {
        o.shape == Shape::Scalar && matches!(o.element, Type::U32 | Type::U64 | Type::I64)
    };
    let (Some(array), Some(counter)) = (array, g.take_for_writing(counts)) else {
        return barrier(g);
    };
    let (array, counter) = (g.objects[array].clone(), g.objects[counter].clone());
    let (name, count) = (&counter.name, array.len.min(SOME));
    // Slower threads may still read what it was.
    barrier(g);
    g.line("#pragma omp single");
    g.line(format!("{name} = 0;"));
    let schedule = schedule(g);
    g.line(format!("#pragma omp for{schedule}"));
    let (head, number) = head(g, count);
    g.line(head);
    g.line("u64 ticket;");
    match g.random.between(0, 2) {
        0 => {
            g.line("#pragma omp atomic capture");
            g.line(format!("ticket = {name}++;"));
        }
        1 => g.line(format!(
            "ticket = __atomic_fetch_add(&{name}, 1, __ATOMIC_SEQ_CST);"
        )),
        _ => g.line(format!("ticket = __sync_fetch_and_add(&{name}, 1);")),
    }
    let salt = g.random.between(0, 1000);
    g.line(format!("{}[ticket] = mix({number} + {salt});", array.name));
    g.line("}");
    g.line("#pragma omp single");
    g.line(format!(
        "qsort({}, {count}, sizeof(u64), compare_u64);",
        array.name
    ));
    g.phase.barrier();
}

/// Iterations claim elements, each of which one of them gets.
pub(crate) fn claims(g: &mut Generator) {
    let array = g.take_for_writing(|o| !o.is_scalar() && o.element != Type::F64);
    let counter = g.take_for_writing(|o| o.shape == Shape::Scalar && o.element.is_unsigned());
    let (Some(array), Some(counter)) = (array, counter) else {
        return barrier(g);
    };
    let (array, counter) = (g.objects[array].clone(), g.objects[counter].clone());
    let (ty, len) = (array.element.name(), array.len);
    barrier(g);
    g.line("#pragma omp single");
    g.line("{");
    g.line(format!("{} = 0;", counter.name));
    g.line(format!(
        "for (u64 i = 0; i < {len}; i++) {} = 0;",
        array.at("i")
    ));
    g.line("}");
    let (schedule, count) = (schedule(g), g.random.between(1, SOME));
    g.line(format!("#pragma omp for{schedule}"));
    let (head, number) = head(g, count);
    g.line(head);
    g.line(format!("u64 at = mix({number}) % {len};"));
    let element = array.at("at");
    g.line(format!("{ty} expected = 0, mine = ({ty})(at * 2 + 1);"));
    let won = match (g.random.between(0, 2), array.shape, g.language()) {
        (_, Shape::Atomic, Language::Cxx) => {
            format!("{element}.compare_exchange_strong(expected, mine)")
        }
        (_, Shape::Atomic, _) => format!(
            "__c11_atomic_compare_exchange_strong(&{element}, &expected, mine, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)"
        ),
        (0, ..) => format!("__sync_bool_compare_and_swap(&{element}, expected, mine)"),
        (1, _, Language::Cxx) => format!(
            "reinterpret_cast<std::atomic<{ty}> *>(&{element})->compare_exchange_strong(expected, mine)"
        ),
        _ => format!(
            "__atomic_compare_exchange_n(&{element}, &expected, mine, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)"
        ),
    };
    g.line(format!("if ({won}) {{"));
    g.line("#pragma omp atomic");
    g.line(format!("{}++;", counter.name));
    g.line("}");
    g.line("}");
    g.phase.barrier();
}
