//! Tasks: independent ones, chains ordered by dependences, task loops, task groups, recursion.

use super::generator::Generator;
use super::objects::Object;
use super::worksharing::{barrier, head, renew, whole_object};

/// One thread creates tasks of some kind.
pub(crate) fn tasks(g: &mut Generator) {
    let nowait = g.random.chance(25);
    let construct = g.random.pick(&["single", "single", "master"]);
    let has_barrier = construct == "single" && !nowait;
    g.line(match (construct, nowait) {
        ("single", true) => "#pragma omp single nowait".to_owned(),
        (construct, _) => format!("#pragma omp {construct}"),
    });
    g.line("{");
    match g.random.between(0, 5) {
        0 => pieces(g),
        1 => chain(g),
        2 => loop_of_tasks(g),
        3 => group(g),
        4 => recursion(g),
        _ => {
            for _ in 0..g.random.between(1, 4) {
                let clause = g
                    .random
                    .pick(&["", " untied", " if(0)", " final(1)", " mergeable"]);
                g.line(format!("#pragma omp task{clause}"));
                g.line("{");
                whole_object(g);
                g.line("}");
            }
        }
    }
    g.line("}");
    if has_barrier {
        g.phase.barrier();
    } else if g.random.chance(60) {
        // Otherwise the tasks are complete only at a later barrier.
        barrier(g);
    }
}

/// An array cut into pieces, one task each.
fn pieces(g: &mut Generator) {
    let Some(target) = g.take_for_writing(|object| !object.is_scalar()) else {
        return;
    };
    let object = g.objects[target].clone();
    let size = g
        .random
        .between(1, object.len.min(300))
        .max(object.len / 40 + 1);
    let (start, i) = (g.name("start"), g.name("i"));
    g.line(format!(
        "for (u64 {start} = 0; {start} < {}; {start} += {size}) {{",
        object.len
    ));
    let clause = g
        .random
        .pick(&["", " untied", " priority(1)", " mergeable"]);
    g.line(format!("#pragma omp task firstprivate({start}){clause}"));
    g.line(format!(
        "for (u64 {i} = {start}; {i} < {start} + {size} && {i} < {}; {i}++) {{",
        object.len
    ));
    renew(g, &object, &i, i.clone(), 2);
    g.line("}");
    g.line("}");
    if g.random.chance(40) {
        g.line("#pragma omp taskwait");
    }
}

/// Tasks whose dependences force the order they were created in.
fn chain(g: &mut Generator) {
    let Some(scalar) = g.take_for_writing(Object::is_scalar) else {
        return;
    };
    let scalar = g.objects[scalar].clone();
    let other = g.take_for_writing(Object::is_scalar);
    for _ in 0..g.random.between(2, 5) {
        let value = g.value(1);
        g.line(format!("#pragma omp task depend(inout: {})", scalar.name));
        let next = format!("(u64){} * 7 + {value}", scalar.name);
        g.line(scalar.assignment("0", &next));
        if let Some(other) = other
            && g.random.chance(50)
        {
            let other = g.objects[other].clone();
            g.line(format!(
                "#pragma omp task depend(in: {}) depend(out: {})",
                scalar.name, other.name
            ));
            let copy = other.element.stored(&format!("(u64){} + 1", scalar.name));
            g.line(format!("{} = {copy};", other.name));
        }
    }
}

fn loop_of_tasks(g: &mut Generator) {
    let Some(target) = g.take_for_writing(|object| !object.is_scalar()) else {
        return;
    };
    let object = g.objects[target].clone();
    let size = g.random.between(1, 50).max(object.len / 40 + 1);
    let clause = match g.random.between(0, 3) {
        0 => format!(" grainsize({size})"),
        1 => format!(" num_tasks({})", g.random.between(1, 20)),
        2 => " nogroup".to_owned(),
        _ => String::new(),
    };
    let scalar = if clause == " nogroup" || g.random.chance(60) {
        None
    } else {
        // Only unsigned addition is both exact and free of overflow.
        g.take_for_writing(|object| object.is_scalar() && object.element.updates().contains(&"-"))
    };
    let reduction = scalar.map_or(String::new(), |scalar| {
        format!(" reduction(+: {})", g.objects[scalar].name)
    });
    g.line(format!("#pragma omp taskloop{clause}{reduction}"));
    let (head, number) = head(g, object.len);
    g.line(head);
    g.atoms.push(number.clone());
    let value = g.value(2);
    g.line(object.assignment(&number, &value));
    if let Some(scalar) = scalar {
        let scalar = g.objects[scalar].clone();
        let value = g.value(1);
        g.line(format!(
            "{} += {};",
            scalar.name,
            scalar.element.operand(&value)
        ));
    }
    g.atoms.pop();
    g.line("}");
}

fn group(g: &mut Generator) {
    let scalar =
        g.take_for_writing(|object| object.is_scalar() && object.element.updates().contains(&"-"));
    match scalar {
        Some(scalar) => {
            let scalar = g.objects[scalar].clone();
            let name = &scalar.name;
            g.line(format!("#pragma omp taskgroup task_reduction(+: {name})"));
            g.line("{");
            for _ in 0..g.random.between(1, 5) {
                let value = g.value(2);
                g.line(format!("#pragma omp task in_reduction(+: {name})"));
                g.line(format!("{name} += {};", scalar.element.operand(&value)));
            }
            g.line("}");
        }
        None => {
            g.line("#pragma omp taskgroup");
            g.line("{");
            pieces(g);
            g.line("}");
        }
    }
}

fn recursion(g: &mut Generator) {
    let Some(target) = g.take_for_writing(|_| true) else {
        return;
    };
    let object = g.objects[target].clone();
    let place = g.random.between(0, object.len - 1).to_string();
    let size = g.random.between(1, 150);
    g.line(object.assignment(&place, &format!("tree(0, {size})")));
}
