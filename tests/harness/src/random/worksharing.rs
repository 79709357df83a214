//! Worksharing loops, sections, and what one iteration may do.

use super::generator::{Accumulator, Generator};
use super::objects::{Object, Type};
use super::phase::{Protection, Use};
use super::{atomics, calls, exceptions, nests};

/// A loop with a lock or a critical section in it has at most this many iterations: each of them
/// is a message.
const FEW: usize = 120;
/// The same for atomic updates.
const SOME: usize = 600;

/// The head of a `for` statement with `count` iterations in one of OpenMP's canonical forms, and
/// the expression that numbers the iterations from 0.
pub(crate) fn head(g: &mut Generator, count: usize) -> (String, String) {
    let i = g.name("i");
    let n = count;
    let (head, number) = match g.random.between(0, 7) {
        0 | 1 => (format!("int {i} = 0; {i} < {n}; {i}++"), i),
        2 => (format!("long {i} = {n} - 1; {i} >= 0; {i}--"), i),
        3 => (
            format!("unsigned {i} = 0; {i} < {}; {i} += 2", 2 * n),
            format!("({i} / 2)"),
        ),
        4 => (
            format!("u64 {i} = 5; {i} <= {}; {i}++", n + 4),
            format!("({i} - 5)"),
        ),
        5 => (
            format!("int {i} = -{n}; {i} != 0; {i}++"),
            format!("({i} + {n})"),
        ),
        6 => (format!("short {i} = 0; {i} < {n}; {i} += 1"), i),
        _ => (
            format!("i64 {i} = {}; {i} > 0; {i} -= 3", 3 * n),
            format!("({i} / 3 - 1)"),
        ),
    };
    (format!("for ({head}) {{"), format!("(u64){number}"))
}

/// A schedule clause, often none.
pub(crate) fn schedule(g: &mut Generator) -> String {
    let chunk = g.random.between(1, 40);
    match g.random.between(0, 10) {
        0 => " schedule(static)".to_owned(),
        1 | 2 => format!(" schedule(static, {chunk})"),
        3 => " schedule(dynamic)".to_owned(),
        4 => format!(" schedule(dynamic, {chunk})"),
        5 => format!(" schedule(guided, {chunk})"),
        6 => " schedule(auto)".to_owned(),
        7 => " schedule(runtime)".to_owned(),
        8 => format!(" schedule(nonmonotonic: dynamic, {chunk})"),
        _ => String::new(),
    }
}

/// The place iteration `number` writes: a bijection of `0..len`.
fn place(g: &mut Generator, number: &str, len: usize) -> String {
    match g.random.between(0, 6) {
        0 => format!("({} - {number})", len - 1),
        1 => format!("{}[{number}]", g.permutation(len)),
        2 => {
            let factor = coprime(g.random.between(1, 5000), len);
            let offset = g.random.between(0, 100);
            format!("(({number} * {factor} + {offset}) % {len})")
        }
        _ => number.to_owned(),
    }
}

/// The first number from `start` on that has no divisor in common with `len`.
fn coprime(start: usize, len: usize) -> usize {
    fn divisor(a: usize, b: usize) -> usize {
        if b == 0 { a } else { divisor(b, a % b) }
    }
    (start..).find(|&n| divisor(n, len) == 1).unwrap_or(1)
}

/// A worksharing loop that writes one object. `construct` is `for` or `parallel for`; only the
/// former may be `nowait`.
pub(crate) fn worksharing_loop(g: &mut Generator, construct: &str, clauses: &str) {
    if g.random.chance(if g.for_devices { 35 } else { 10 }) {
        return nests::rows(g, construct, clauses);
    }
    let Some(target) = g.take_for_writing(|object| !object.is_scalar()) else {
        if construct == "for" {
            barrier(g);
        }
        return;
    };
    let object = g.objects[target].clone();
    let mut schedule = schedule(g);
    let mut pragma = format!("#pragma omp {construct}{clauses}");
    let nowait = construct == "for" && g.random.chance(30);
    if nowait {
        pragma.push_str(" nowait");
    }
    let reduction = reduction_clause(g, &mut pragma);
    let last = last_clause(g, &mut pragma);
    if last.is_some() {
        // LLVM's libomp loses the last value when its threads steal chunks from each other.
        schedule = schedule
            .replace("nonmonotonic: ", "")
            .replace("dynamic", "monotonic: dynamic")
            .replace("guided", "monotonic: guided")
            .replace("auto", "static");
    }
    pragma.push_str(&schedule);
    let collapse = object.len > 3 && g.random.chance(20);
    let number = if collapse {
        let width = g.random.between(2, object.len.min(50));
        let (i, j) = (g.name("i"), g.name("j"));
        g.line(pragma + " collapse(2)");
        g.line(format!(
            "for (int {i} = 0; {i} < {}; {i}++)",
            object.len.div_ceil(width)
        ));
        g.line(format!("for (int {j} = 0; {j} < {width}; {j}++) {{"));
        let number = format!("(u64)({i} * {width} + {j})");
        // The rectangle may be larger than the object; the last iteration must exist all the same.
        if let Some(last) = &last {
            assign(g, last, &number);
        }
        g.line(format!("if ({number} >= {}) continue;", object.len));
        number
    } else {
        g.line(pragma);
        let (head, number) = head(g, object.len);
        g.line(head);
        if let Some(last) = &last {
            assign(g, last, &number);
        }
        number
    };
    g.atoms.push(number.clone());
    if let Some(accumulator) = &reduction {
        contribute(g, accumulator);
    }
    iteration(g, &object, &number);
    g.atoms.pop();
    g.line("}");
    if !nowait {
        g.phase.barrier();
    }
}

/// With some probability a scalar in a reduction clause.
fn reduction_clause(g: &mut Generator, pragma: &mut String) -> Option<Accumulator> {
    if !g.random.chance(25) {
        return None;
    }
    let scalar = g.take_for_writing(Object::is_scalar)?;
    let object = g.objects[scalar].clone();
    let accumulator = Accumulator {
        operator: reduction_operator(g, &object),
        name: object.name,
        element: object.element,
    };
    pragma.push_str(&format!(
        " reduction({}: {})",
        accumulator.operator, accumulator.name
    ));
    Some(accumulator)
}

pub(crate) fn reduction_operator(g: &mut Generator, object: &Object) -> &'static str {
    let operators: &[&str] = match object.element {
        Type::U8 | Type::U32 | Type::U64 => &["+", "*", "^", "&", "|", "max", "min", "&&", "||"],
        Type::U16 => &["+", "^", "&", "|", "max", "min", "&&", "||"],
        Type::I32 | Type::I64 => &["^", "&", "|", "max", "min", "&&", "||"],
        Type::F64 => &["+", "max", "min"],
    };
    operators[g.random.between(0, operators.len() - 1)]
}

/// Adds this iteration's contribution to `accumulator`.
pub(crate) fn contribute(g: &mut Generator, accumulator: &Accumulator) {
    let name = &accumulator.name;
    let value = g.value(2);
    let operand = accumulator.element.operand(&value);
    g.line(match accumulator.operator {
        "max" => format!("if ({name} < {operand}) {name} = {operand};"),
        "min" => format!("if ({name} > {operand}) {name} = {operand};"),
        "&&" => format!("{name} = {name} && ({value} & 7);"),
        "||" => format!("{name} = {name} || !({value} & 1023);"),
        operator => format!("{name} {operator}= {operand};"),
    });
}

/// With some probability a scalar in a lastprivate clause.
fn last_clause(g: &mut Generator, pragma: &mut String) -> Option<Object> {
    if !g.random.chance(15) {
        return None;
    }
    let scalar = g.take_for_writing(Object::is_scalar)?;
    let object = g.objects[scalar].clone();
    pragma.push_str(&format!(" lastprivate({})", object.name));
    Some(object)
}

fn assign(g: &mut Generator, scalar: &Object, number: &str) {
    g.atoms.push(number.to_owned());
    let value = g.value(1);
    g.atoms.pop();
    g.line(scalar.assignment("0", &value));
}

/// What iteration `number` does: it writes its own element of `object` and may add to others.
pub(crate) fn iteration(g: &mut Generator, object: &Object, number: &str) {
    let place = place(g, number, object.len);
    let element = object.at(&place);
    g.atoms.push(format!("(u64){element}"));
    let value = g.value(3);
    let store = |value: &str| format!("{element} = {};", object.element.stored(value));
    let drawn = match g.for_devices {
        true => g.random.one_of(&[2, 6, 7, 8, 10, 10, 10, 12]),
        false => g.random.between(0, 13),
    };
    match drawn {
        7 => {
            let call = calls::store(g, object, &place, &value);
            g.line(call);
        }
        8 if !g.plain => atomics::store(g, object, &element, &value),
        9 if g.random.chance(50) => {
            g.line(format!(
                "must_be({number} < {}, \"an iteration\");",
                object.len
            ));
            g.line(store(&value));
        }
        9..=11 if g.has_exceptions() => exceptions::store(g, object, &place, number, &value),
        0 => {
            g.line("{");
            g.line(format!("u64 work[6] = {{{value}}};"));
            g.line("for (int k = 1; k < 6; k++) work[k] = mix(work[k - 1] + k);");
            g.line("qsort(work, 6, sizeof(u64), compare_u64);");
            g.line(store("work[2] + work[5]"));
            g.line("}");
        }
        1 => {
            let size = g.random.between(1, 60);
            g.line("{");
            g.line(format!("u64 *work = (u64 *)malloc({size} * sizeof *work);"));
            g.line(format!(
                "for (int k = 0; k < {size}; k++) work[k] = {value} + k;"
            ));
            g.line(store(&format!("work[{}]", size / 2)));
            g.line("free(work);");
            g.line("}");
        }
        2 => {
            g.line(format!("if ({number} % 3 == 1) {{"));
            g.line(store(&value));
            g.line("} else {");
            let other = g.value(1);
            g.line(store(&other));
            g.line("}");
        }
        3 => g.line(store(&format!("table[{value} % 3]({number})"))),
        4 if object.len <= SOME && !g.plain => {
            // A region within a region: a team of one, or two threads where the outer region has
            // one; their threadprivate variables are not those of the outer thread.
            let atoms = g.atoms.clone();
            g.atoms.retain(|atom| atom != "copied_in");
            let value = g.value(3);
            g.atoms = atoms;
            g.line("{");
            g.line("u64 inner = 0;");
            g.line("#pragma omp parallel for reduction(+: inner) num_threads(2)");
            g.line(format!(
                "for (int k = 0; k < 5; k++) inner += mix({value} + k);"
            ));
            g.line(store("inner"));
            g.line("}");
        }
        5 if object.len <= SOME && !g.plain => {
            g.line("#pragma omp task");
            g.line("{");
            g.line(store(&value));
            g.line("}");
        }
        6 => {
            g.line("{");
            g.line("u64 sum = 0;");
            g.line("#pragma omp simd reduction(+: sum)");
            g.line(format!(
                "for (int k = 0; k < 8; k++) sum += {value} * (u64)k;"
            ));
            g.line(store("sum"));
            g.line("}");
        }
        _ => g.line(store(&value)),
    }
    g.atoms.pop();
    extras(g, object.len);
}

/// Contributions of an iteration to shared sums.
pub(crate) fn extras(g: &mut Generator, count: usize) {
    for accumulator in g.accumulators.clone() {
        if g.random.chance(50) {
            contribute(g, &accumulator);
        }
    }
    if count <= SOME && !g.plain && g.random.chance(25) {
        match g.random.chance(15) {
            true => atomics::maximum(g),
            false => update(g, Protection::Atomic),
        }
    }
    if count <= FEW && g.random.chance(if g.for_devices { 3 } else { 25 }) {
        let by = if g.plain || g.random.chance(50) {
            Protection::Critical
        } else {
            Protection::Lock
        };
        update(g, by);
    }
}

/// One protected update of some shared element.
pub(crate) fn update(g: &mut Generator, by: Protection) {
    let Some((target, operator)) = g.take_for_updates(by) else {
        return;
    };
    let object = g.objects[target].clone();
    let (place, value) = (g.value(1), g.value(2));
    let at = g.name("at");
    g.line("{");
    g.line(format!("u64 {at} = {place} % {};", object.len));
    let element = object.at(&at);
    // What is computed before a critical section leaves nothing there but the update.
    let value = if by == Protection::Critical && g.random.chance(60) {
        let before = g.name("value");
        g.line(format!("u64 {before} = {value};"));
        before
    } else {
        value
    };
    let operand = object.element.operand(&value);
    let plain = format!(
        "{element} = {};",
        match object.element {
            Type::F64 => format!("{element} {operator} {operand}"),
            _ => object
                .element
                .stored(&format!("(u64){element} {operator} (u64){operand}")),
        }
    );
    match by {
        Protection::Atomic => atomics::update(g, &object, &element, operator, &operand),
        Protection::Critical => {
            // One name for each object: two names do not exclude each other.
            g.line(format!("#pragma omp critical(of_{})", object.name));
            match g.random.between(0, 3) {
                0 => g.line(format!("{element} {operator}= {operand};")),
                // Several of one kind, in a loop.
                1 => {
                    let (k, n) = (g.name("k"), g.random.between(1, 5));
                    let element = object.at(&format!("({at} + {k}) % {}", object.len));
                    g.line(format!("for (u64 {k} = 0; {k} < {n}; {k}++)"));
                    g.line(format!("{element} {operator}= {operand};"));
                }
                // One that only reads makes all keep the lock.
                2 => {
                    g.line(plain);
                    g.line(format!("#pragma omp critical(of_{})", object.name));
                    g.line(format!("{{ u64 seen = (u64){element}; (void)seen; }}"));
                }
                _ => g.line(plain),
            }
        }
        Protection::Lock => {
            g.line(format!("omp_set_lock(&locks[{at} % 4]);"));
            g.line(plain);
            g.line(format!("omp_unset_lock(&locks[{at} % 4]);"));
        }
    }
    g.line("}");
}

/// A loop with an ordered part whose result depends on the order.
pub(crate) fn ordered_loop(g: &mut Generator) {
    let Some(scalar) = g.take_for_writing(Object::is_scalar) else {
        return barrier(g);
    };
    let scalar = g.objects[scalar].clone();
    let count = g.random.between(1, 40);
    // An ordered loop is monotonic.
    let schedule = schedule(g).replace("nonmonotonic: ", "");
    g.line(format!("#pragma omp for ordered{schedule}"));
    let (head, number) = head(g, count);
    g.line(head);
    g.atoms.push(number);
    let before = g.value(3);
    g.line(format!("u64 before = {before};"));
    g.line("#pragma omp ordered");
    let next = format!("(u64){} * 31 + before", scalar.name);
    g.line(scalar.assignment("0", &next));
    g.atoms.pop();
    g.line("}");
    g.phase.barrier();
}

/// A loop whose iterations wait for their predecessors.
pub(crate) fn doacross_loop(g: &mut Generator) {
    let Some(target) = g.take_for_writing(|object| object.len > 2 && object.len <= FEW) else {
        return ordered_loop(g);
    };
    let object = g.objects[target].clone();
    let i = g.name("i");
    g.line("#pragma omp for ordered(1) schedule(static, 3)");
    g.line(format!("for (int {i} = 1; {i} < {}; {i}++) {{", object.len));
    g.atoms.push(format!("(u64){i}"));
    let value = g.value(2);
    g.atoms.pop();
    g.line(format!("#pragma omp ordered depend(sink: {i} - 1)"));
    let next = format!("(u64){} * 5 + {value}", object.at(&format!("({i} - 1)")));
    g.line(object.assignment(&i, &next));
    g.line("#pragma omp ordered depend(source)");
    g.line("}");
    g.phase.barrier();
}

/// Sections that each write objects of their own.
pub(crate) fn sections(g: &mut Generator) {
    let nowait = g.random.chance(30);
    g.line(format!(
        "#pragma omp sections{}",
        if nowait { " nowait" } else { "" }
    ));
    g.line("{");
    for _ in 0..g.random.between(1, 5) {
        g.line("#pragma omp section");
        g.line("{");
        whole_object(g);
        g.line("}");
    }
    g.line("}");
    if !nowait {
        g.phase.barrier();
    }
}

/// Makes element `i` of `object` a new value, of the old one too; `number` is how the value may name `i`.
pub(crate) fn renew(g: &mut Generator, object: &Object, i: &str, number: String, depth: usize) {
    g.atoms.push(number);
    g.atoms.push(format!("(u64){}", object.at(i)));
    let value = g.value(depth);
    g.atoms.truncate(g.atoms.len() - 2);
    g.line(object.assignment(i, &value));
}

/// One thread writes a whole object.
pub(crate) fn whole_object(g: &mut Generator) {
    let Some(target) = g.take_for_writing(|_| true) else {
        return;
    };
    let object = g.objects[target].clone();
    let i = g.name("i");
    g.line(format!("for (u64 {i} = 0; {i} < {}; {i}++) {{", object.len));
    renew(g, &object, &i, i.clone(), 2);
    g.line("}");
}

/// An explicit barrier.
pub(crate) fn barrier(g: &mut Generator) {
    g.line("#pragma omp barrier");
    g.phase.barrier();
}

/// Two sweeps without a barrier between them: the same static schedule gives each thread the same
/// elements twice.
pub(crate) fn paired_loops(g: &mut Generator) {
    let Some(target) = g.take_for_writing(|object| !object.is_scalar()) else {
        return barrier(g);
    };
    let object = g.objects[target].clone();
    for clause in [" nowait", ""] {
        let i = g.name("i");
        g.line(format!("#pragma omp for schedule(static){clause}"));
        g.line(format!("for (int {i} = 0; {i} < {}; {i}++) {{", object.len));
        renew(g, &object, &i, format!("(u64){i}"), 2);
        g.line("}");
        // Both loops write it, so nothing else may between them.
        g.phase.note(target, Use::Written);
    }
    g.phase.barrier();
}

/// Loops over neighbours and rows, of which the compiler can say what they access; some in a function that is handed the
/// arrays.
pub(crate) fn described(g: &mut Generator) {
    let Some(target) = g.take_for_writing(|object| object.is_contiguous() && object.len > 8) else {
        return barrier(g);
    };
    let readable = g.visible.iter().copied().filter(|&other| {
        let object = &g.objects[other];
        object.is_contiguous() && object.len > 8 && g.phase.may_read(other)
    });
    let readable: Vec<_> = readable.collect();
    let to = g.objects[target].clone();
    let from = match readable.is_empty() {
        true => to.clone(),
        false => {
            let source = readable[g.random.between(0, readable.len() - 1)];
            g.phase.note(source, Use::Read);
            g.objects[source].clone()
        }
    };
    let nowait = g.random.chance(20);
    let own = from.name == to.name;
    let is_local = to.is_local() || from.is_local();
    if is_local || g.random.chance(60) {
        neighbours(g, (&to, &to.name), (&from, &from.name), own, nowait);
    } else {
        let parameters = format!(
            "{} *to, const {} *from",
            to.element.name(),
            from.element.name()
        );
        let name = g.apart(|g| {
            g.function("void", &parameters, |g| {
                neighbours(g, (&to, "to"), (&from, "from"), own, nowait);
            })
        });
        g.line(format!("{name}({}, {});", to.name, from.name));
    }
    if !nowait {
        g.phase.barrier();
    }
}

fn neighbours(
    g: &mut Generator,
    (object, to): (&Object, &str),
    (source, from): (&Object, &str),
    own: bool,
    nowait: bool,
) {
    let len = object.len.min(source.len);
    let width = g.random.between(2, 40).min(len / 4);
    let rows = len / width;
    let (i, j) = (g.name("i"), g.name("j"));
    let nowait = if nowait { " nowait" } else { "" };
    let chunk = g.random.between(1, 40);
    let schedule = match g.random.between(0, 4) {
        0 => " schedule(static)".to_owned(),
        1 => format!(" schedule(static, {chunk})"),
        _ => String::new(),
    };
    let mut pragma = format!("#pragma omp for{schedule}{nowait}");
    let salt = g.random.between(0, 99);
    // One that reads only itself has no neighbours.
    let [before, behind] = match own {
        true => ["", ""],
        false => [" - 1", " + 1"],
    };
    let at = match g.random.between(0, 3) {
        0 => {
            g.line(pragma);
            g.line(format!("for (int {i} = 1; {i} < {len} - 1; {i}++) {{"));
            let sum = format!("(u64){from}[{i}{before}] + (u64){from}[{i}{behind}] * 3");
            let sum = object.element.stored(&format!("{sum} + {salt}"));
            g.line(format!("{to}[{i}] = {sum};"));
            return g.line("}");
        }
        // Rows.
        1 => {
            g.line(pragma);
            g.line(format!("for (int {i} = 1; {i} < {rows} - 1; {i}++)"));
            g.line(format!("for (int {j} = 0; {j} < {width}; {j}++) {{"));
            i.clone()
        }
        2 => {
            pragma.push_str(" collapse(2)");
            g.line(pragma);
            g.line(format!("for (int {i} = 1; {i} < {rows} - 1; {i}++)"));
            g.line(format!("for (int {j} = 0; {j} < {width}; {j}++) {{"));
            i.clone()
        }
        // Columns.
        _ => {
            g.line(pragma);
            g.line(format!("for (int {j} = 0; {j} < {width}; {j}++)"));
            g.line(format!("for (int {i} = 1; {i} < {rows} - 1; {i}++) {{"));
            i.clone()
        }
    };
    let sum = format!(
        "(u64){from}[({at}{before}) * {width} + {j}] + (u64){from}[({at}{behind}) * {width} + {j}] * 5"
    );
    let sum = object.element.stored(&format!("{sum} + {salt}"));
    g.line(format!("{to}[{at} * {width} + {j}] = {sum};"));
    g.line("}");
}
