//! Parallel regions and the statements in them.

use super::generator::{Accumulator, Generator};
use super::objects::{Object, Shape, Type};
use super::phase::{Protection, STDOUT, Use};
use super::tasks::tasks;
use super::worksharing::{
    barrier, described, doacross_loop, extras, head, iteration, ordered_loop, paired_loops,
    reduction_operator, schedule, sections, whole_object, worksharing_loop,
};
use super::{atomics, calls, exceptions};

/// A parallel region in `main` or in a function of its own.
pub(crate) fn region(g: &mut Generator) {
    g.phase.barrier();
    g.atoms.clear();
    if g.random.chance(40) {
        let (parameters, arguments) = g.local_parameters();
        // Or it is left by an exception, behind the region.
        let throws = g.has_exceptions() && g.random.chance(20);
        let name = g.function("void", &parameters, |g| {
            body_with_sums(g);
            if throws {
                let value = g.value(1);
                g.line(format!("throw wrong{{{value}}};"));
            }
        });
        if throws {
            g.line("try {");
            g.line(format!("{name}({arguments});"));
            g.line("} catch (const wrong &thrown) {");
            g.line("printf(\"%lx\\n\", thrown.what);");
            g.line("}");
        } else {
            g.line(format!("{name}({arguments});"));
        }
    } else {
        g.line("{");
        body_with_sums(g);
        g.line("}");
    }
    g.phase.barrier();
}

/// The region between the declaration and the use of a few stack variables it reduces into.
fn body_with_sums(g: &mut Generator) {
    g.plain = g.random.chance(45);
    g.visible = g.all_visible();
    let mut accumulators = Vec::new();
    for _ in 0..g.random.between(0, 3) {
        let element = Type::random(&mut g.random);
        let scalar = Object {
            name: g.name("sum"),
            element,
            shape: Shape::Scalar,
            len: 1,
        };
        let operator = reduction_operator(g, &scalar);
        let start = g.random.between(0, 9);
        g.line(format!("{} {} = {start};", element.name(), scalar.name));
        accumulators.push(Accumulator {
            name: scalar.name,
            element,
            operator,
        });
    }
    let mut clauses = String::new();
    for Accumulator { name, operator, .. } in &accumulators {
        clauses.push_str(&format!(" reduction({operator}: {name})"));
    }
    region_clauses(g, &mut clauses);
    g.accumulators = accumulators;
    if g.random.chance(if g.for_devices { 60 } else { 20 }) {
        worksharing_loop(g, "parallel for", &clauses);
    } else {
        g.line(format!("#pragma omp parallel{clauses}"));
        g.line("{");
        for _ in 0..g.random.between(1, 5) {
            statement(g, 0);
        }
        g.line("}");
    }
    g.phase.barrier();
    g.plain = false;
    g.visible = g.all_visible();
    g.atoms.clear();
    for accumulator in std::mem::take(&mut g.accumulators) {
        g.line(format!(
            "printf(\"{0} %lu\\n\", (u64){0});",
            accumulator.name
        ));
    }
}

fn region_clauses(g: &mut Generator, clauses: &mut String) {
    if g.random.chance(25) {
        clauses.push_str(&format!(" num_threads({})", g.random.between(1, 5)));
    }
    if g.random.chance(10) {
        let condition = g.value(1);
        clauses.push_str(&format!(" if({condition} & 1)"));
    }
    if g.random.chance(30) {
        let scalars: Vec<_> = g
            .visible
            .iter()
            .copied()
            .filter(|&object| g.objects[object].is_scalar())
            .collect();
        if !scalars.is_empty() {
            // In the region its name means the private copy, so nothing else may use it there.
            let scalar = scalars[g.random.between(0, scalars.len() - 1)];
            let name = g.objects[scalar].name.clone();
            g.visible.retain(|&object| object != scalar);
            clauses.push_str(&format!(" firstprivate({name})"));
            g.atoms.push(format!("(u64){name}"));
        }
    }
    if g.random.chance(if g.for_devices { 3 } else { 20 }) {
        let value = g.random.between(1, 1000);
        g.line(format!("copied_in = {value};"));
        clauses.push_str(" copyin(copied_in)");
        g.atoms.push("copied_in".to_owned());
    }
}

/// One statement that every thread of the team reaches.
pub(crate) fn statement(g: &mut Generator, depth: usize) {
    let deep = depth >= 2;
    let drawn = match g.for_devices && g.random.chance(90) {
        // What they have most: loops, with a barrier, a time loop, one thread's code or a reduction.
        true => g
            .random
            .one_of(&[0, 0, 0, 8, 11, 13, 19, 19, 22, 25, 25, 25]),
        false => g.random.between(0, 39),
    };
    match drawn {
        25..=27 => described(g),
        28 => upset_by_one(g),
        29 => timed(g, depth),
        30 if !deep => turns(g),
        31 | 35 if !g.plain => atomics::tickets(g),
        32 | 36 if !g.plain => atomics::claims(g),
        37 | 38 if !g.plain => atomics::histogram(g),
        33 | 34 if g.has_exceptions() && !deep && !g.in_orphan => exceptions::handled(g, depth),
        0..=6 => worksharing_loop(g, "for", ""),
        7 => sections(g),
        8 | 9 => one_thread(g),
        10 => by_thread_number(g),
        11 => private_sum(g),
        12 => threadprivate_sum(g),
        13 => barrier(g),
        14 | 15 => tasks(g),
        16 => ordered_loop(g),
        17 if !g.plain => doacross_loop(g),
        18 => paired_loops(g),
        19 if !deep => repeated(g, depth),
        20 if !deep => conditional(g, depth),
        21 if !deep && !g.in_orphan => orphan(g, depth),
        22 => sweeps(g),
        23 => copyprivate(g),
        39 => beside_each_other(g),
        24 if !g.plain => {
            g.line("#pragma omp flush");
            g.line("if (omp_get_thread_num() >= omp_get_num_threads() || omp_get_level() > 9) abort();");
        }
        _ => described(g),
    }
}

/// One thread calls a function that nothing is known of.
fn upset_by_one(g: &mut Generator) {
    let construct = g.random.pick(&["single", "single nowait", "master"]);
    g.line(format!("#pragma omp {construct}"));
    g.line("{");
    calls::upset(g);
    g.line("}");
    if construct == "single" {
        g.phase.barrier();
    }
}

/// A statement that the first thread takes the time of.
fn timed(g: &mut Generator, depth: usize) {
    let which = g.random.between(0, 2);
    let first = g
        .random
        .pick(&["#pragma omp master\n", "if (omp_get_thread_num() == 0) "]);
    g.is_timed = true;
    for line in [first.trim_end(), &format!("timer_start({which});")] {
        g.line(line);
    }
    if depth < 2 {
        statement(g, depth + 1);
    } else {
        described(g);
    }
    for line in [first.trim_end(), &format!("timer_stop({which});")] {
        g.line(line);
    }
}

/// What the compiler can describe and what it cannot, in turn.
fn turns(g: &mut Generator) {
    let (t, times) = (g.name("t"), g.random.between(2, 4));
    barrier(g);
    g.line(format!("for (u64 {t} = 0; {t} < {times}; {t}++) {{"));
    for _ in 0..g.random.between(1, 2) {
        described(g);
        upset_by_one(g);
        if g.random.chance(60) {
            barrier(g);
        }
        described(g);
        match g.random.between(0, 3) {
            0 => one_thread(g),
            1 => tasks(g),
            2 => worksharing_loop(g, "for", ""),
            _ => by_thread_number(g),
        }
    }
    barrier(g);
    g.line("}");
}

/// `single` or `master`, which may also print.
fn one_thread(g: &mut Generator) {
    let construct = g
        .random
        .pick(&["single", "single nowait", "master", "masked"]);
    g.line(format!("#pragma omp {construct}"));
    g.line("{");
    whole_object(g);
    if g.random.chance(40) && g.phase.may_write(STDOUT) {
        g.phase.note(STDOUT, Use::Written);
        let value = g.value(1);
        g.line(format!("printf(\"%lx\\n\", (u64)({value}));"));
    }
    g.line("}");
    if construct == "single" {
        g.phase.barrier();
    }
}

/// Iterations dealt out by hand, in blocks or round robin.
fn by_thread_number(g: &mut Generator) {
    let Some(target) = g.take_for_writing(|object| !object.is_scalar()) else {
        return barrier(g);
    };
    let object = g.objects[target].clone();
    let (i, len) = (g.name("i"), object.len);
    g.line("{");
    g.line("u64 me = omp_get_thread_num(), team = omp_get_num_threads();");
    if g.random.chance(50) {
        g.line(format!(
            "for (u64 {i} = {len} * me / team; {i} < {len} * (me + 1) / team; {i}++) {{"
        ));
    } else {
        g.line(format!("for (u64 {i} = me; {i} < {len}; {i} += team) {{"));
    }
    g.atoms.push(i.clone());
    // A nested region would change the meaning of the thread number, but not its value here.
    iteration(g, &object, &i);
    g.atoms.pop();
    g.line("}");
    g.line("}");
    if g.random.chance(60) {
        barrier(g);
    }
}

/// Every other thread stores to some elements of an array, while those between them read the rest of it.
fn beside_each_other(g: &mut Generator) {
    let Some(target) = g.take_for_writing(|object| object.len > 3 && !object.is_scalar()) else {
        return described(g);
    };
    let Some(results) = g.take_for_writing(|object| !object.is_scalar()) else {
        return barrier(g);
    };
    let (target, results) = (g.objects[target].clone(), g.objects[results].clone());
    let (i, len) = (g.name("i"), target.len);
    let permutation = g.permutation(len);
    g.line("{");
    g.line("u64 me = omp_get_thread_num(), team = omp_get_num_threads();");
    g.atoms.push(i.clone());
    // It takes them some time, so that what is read is fetched meanwhile.
    let times = if g.random.chance(50) { 300 } else { 1 };
    g.line("if (me % 2 == 0)");
    g.line(format!("for (u64 t = 0; t < {times}; t++)"));
    let writers = "(team + 1) / 2";
    g.line(format!(
        "for (u64 {i} = me / 2; {i} < {}; {i} += {writers}) {{",
        len / 2
    ));
    let value = g.value(2);
    let place = target.at(&format!("{permutation}[2 * {i}]"));
    let value = target.element.stored(&format!("{value} + t"));
    g.line(format!("{place} = {value};"));
    g.line("}");
    g.line("if (me % 2 == 1 || team == 1)");
    let readers = "(team < 2 ? 1 : team / 2)";
    g.line(format!(
        "for (u64 {i} = me / 2; {i} < {}; {i} += {readers}) {{",
        (len / 2).min(results.len)
    ));
    let value = g.value(1);
    let read = target.at(&format!("{permutation}[2 * {i} + 1]"));
    let sum = results
        .element
        .stored(&format!("(u64){read} * 3 + {value}"));
    g.line(format!("{} = {sum};", results.at(&i)));
    g.line("}");
    g.atoms.pop();
    g.line("}");
    if g.random.chance(60) {
        barrier(g);
    }
}

/// A sum each thread keeps on its stack and adds to a shared one in the end.
fn private_sum(g: &mut Generator) {
    add_up(g, |g| {
        let name = g.name("mine");
        g.line(format!("u64 {name} = 0;"));
        name
    });
}

/// The same with a threadprivate variable.
fn threadprivate_sum(g: &mut Generator) {
    add_up(g, |g| {
        g.line("collected = 0;");
        "collected".to_owned()
    });
}

fn add_up(g: &mut Generator, declare: impl FnOnce(&mut Generator) -> String) {
    let by_critical = g.plain || g.random.chance(50);
    let by = if by_critical {
        Protection::Critical
    } else {
        Protection::Atomic
    };
    g.line("{");
    let name = declare(g);
    let count = g.random.between(1, 500);
    let schedule = schedule(g);
    g.line(format!("#pragma omp for nowait{schedule}"));
    let (head, number) = head(g, count);
    g.line(head);
    g.atoms.push(number);
    let value = g.value(3);
    g.line(format!("{name} += {value};"));
    extras(g, count);
    g.atoms.pop();
    g.line("}");
    let sums = g.visible.iter().copied().find(|&object| {
        let unsigned = g.objects[object].element.updates().contains(&"-");
        unsigned && g.phase.may_update(object, "+", by)
    });
    if let Some(sum) = sums {
        let operator = "+";
        let protection = by;
        g.phase.note(
            sum,
            Use::Updated {
                operator,
                protection,
            },
        );
        let object = g.objects[sum].clone();
        let place = g.random.between(0, object.len - 1).to_string();
        let element = object.at(&place);
        if by_critical {
            g.line(format!("#pragma omp critical(of_{})", object.name));
            g.line(format!("{element} += {name};"));
        } else {
            atomics::update(g, &object, &element, operator, &name);
        }
    }
    g.line("}");
}

/// Statements in a sequential loop that all threads run together.
fn repeated(g: &mut Generator, depth: usize) {
    let t = g.name("t");
    let times = g.random.between(1, 3);
    // What the last statement does must not meet the first one of the next round.
    if !g.phase.is_empty() {
        barrier(g);
    }
    g.line(format!("for (u64 {t} = 0; {t} < {times}; {t}++) {{"));
    let atoms = g.atoms.len();
    g.atoms.push(t);
    for _ in 0..g.random.between(1, 3) {
        statement(g, depth + 1);
    }
    g.atoms.truncate(atoms);
    barrier(g);
    g.line("}");
}

/// Statements under a condition that is the same on every thread.
fn conditional(g: &mut Generator, depth: usize) {
    // The condition must not change while slower threads still read it.
    barrier(g);
    let condition = g.value(2);
    g.line(format!("if ({condition} & 3) {{"));
    barrier(g);
    let atoms = g.atoms.len();
    for _ in 0..g.random.between(1, 3) {
        statement(g, depth + 1);
    }
    g.atoms.truncate(atoms);
    g.line("}");
    barrier(g);
}

/// Statements in a function of their own, which serial code may call as well.
fn orphan(g: &mut Generator, depth: usize) {
    barrier(g);
    let visible = g.visible.clone();
    let atoms = std::mem::take(&mut g.atoms);
    let accumulators = std::mem::take(&mut g.accumulators);
    g.visible.retain(|&object| !g.objects[object].is_local());
    g.in_orphan = true;
    let name = g.function("void", "void", |g| {
        for _ in 0..g.random.between(1, 3) {
            statement(g, depth + 1);
        }
    });
    g.in_orphan = false;
    g.visible = visible;
    g.atoms = atoms;
    g.accumulators = accumulators;
    g.orphans.push(name.clone());
    for _ in 0..g.random.between(1, 2) {
        g.line(format!("{name}();"));
        barrier(g);
    }
}

/// A stencil over two arrays whose pointers one thread swaps after each sweep.
fn sweeps(g: &mut Generator) {
    let Some(first) = g.take_for_writing(|o| o.shape == Shape::Heap && o.len > 3) else {
        return worksharing_loop(g, "for", "");
    };
    let object = g.objects[first].clone();
    let (name, ty, len) = (&object.name, object.element.name(), object.len);
    let (other, i) = (g.name("other"), g.name("i"));
    barrier(g);
    // The second array: allocated by one thread, known to all, freed by one thread.
    g.line("{");
    g.line(format!("{ty} *{other};"));
    g.line(format!("#pragma omp single copyprivate({other})"));
    g.line(format!(
        "{other} = ({ty} *)malloc({len} * sizeof *{other});"
    ));
    let times = g.random.between(1, 4);
    g.line(format!("for (int t = 0; t < {times}; t++) {{"));
    let schedule = schedule(g);
    g.line(format!("#pragma omp for{schedule}"));
    g.line(format!("for (u64 {i} = 0; {i} < {len}; {i}++) {{"));
    let sum = format!(
        "(u64){name}[{i}] * 2 + (u64){name}[({i} + 1) % {len}] + (u64){name}[({i} + {}) % {len}]",
        len - 1
    );
    g.line(format!("{other}[{i}] = {};", object.element.stored(&sum)));
    g.line("}");
    g.line(format!("{ty} *old = {name};"));
    barrier(g);
    g.line("#pragma omp single");
    g.line(format!("{name} = {other};"));
    g.line(format!("{other} = old;"));
    g.line("}");
    g.line("#pragma omp single");
    g.line(format!("free({other});"));
    g.line("}");
    g.phase.barrier();
}

/// A value one thread computes and gives to all.
fn copyprivate(g: &mut Generator) {
    let name = g.name("told");
    let value = g.value(2);
    g.line(format!("u64 {name} = 0;"));
    g.line(format!("#pragma omp single copyprivate({name})"));
    g.line(format!("{name} = {value};"));
    g.phase.barrier();
    g.atoms.push(name);
}
