//! Serial code between regions.

use super::generator::Generator;
use super::objects::Shape;
use super::worksharing;

/// Fills `object` with values that depend on the place.
pub(crate) fn fill(g: &mut Generator, object: usize) {
    let object = g.objects[object].clone();
    let seed = g.random.between(1, 1000);
    // Functions of the prelude: most of the code would be loops like this one.
    if object.is_contiguous() && g.random.chance(80) {
        let (name, ty) = (&object.name, object.element.name());
        return g.line(format!("fill_{ty}({name}, {}, {seed});", object.len));
    }
    let value = object.element.stored(&format!("mix(i + {seed})"));
    g.line(format!(
        "for (u64 i = 0; i < {}; i++) {} = {value};",
        object.len,
        object.at("i")
    ));
}

/// One serial action.
pub(crate) fn step(g: &mut Generator) {
    g.phase.barrier();
    match g.random.between(0, 8) {
        0 => {
            let object = g.random.between(0, g.objects.len() - 1);
            fill(g, object);
        }
        1 => update(g),
        2 => copy(g),
        3 => clear(g),
        4 => swap_or_move(g),
        5 => reallocate(g),
        6 => sort(g),
        7 => {
            let value = g.value(1);
            g.line("{");
            g.line("struct node *n = (struct node *)malloc(sizeof *n);");
            g.line(format!("n->value = {value};"));
            g.line("n->next = list[3].next;");
            g.line("list[3].next = n;");
            g.line("}");
        }
        _ => {
            if g.orphans.is_empty() {
                let threads = g.random.between(1, 5);
                g.line(format!("omp_set_num_threads({threads});"));
            } else {
                let orphan = g.orphans[g.random.between(0, g.orphans.len() - 1)].clone();
                g.line(format!("{orphan}();"));
            }
        }
    }
    g.phase.barrier();
}

/// A loop over an object that reads others.
fn update(g: &mut Generator) {
    let Some(target) = g.take_for_writing(|_| true) else {
        return;
    };
    let object = g.objects[target].clone();
    g.line(format!("for (u64 i = 0; i < {}; i++) {{", object.len));
    worksharing::renew(g, &object, "i", "i".to_owned(), 3);
    g.line("}");
}

/// `memcpy` between two arrays of one element type, or `memmove` within one.
fn copy(g: &mut Generator) {
    let Some(to) = g.take_for_writing(|object| object.is_contiguous()) else {
        return;
    };
    let to = g.objects[to].clone();
    let from = g.take_for_writing(|from| from.is_contiguous() && from.element == to.element);
    let (name, bytes) = (&to.name, to.element.name());
    match from {
        Some(from) => {
            let from = g.objects[from].clone();
            let len = from.len.min(to.len);
            g.line(format!(
                "memcpy({name}, {}, {len} * sizeof({bytes}));",
                from.name
            ));
        }
        None => g.line(format!(
            "memmove({name} + {0}, {name}, {1} * sizeof({bytes}));",
            to.len / 3,
            to.len - to.len / 3
        )),
    }
}

fn clear(g: &mut Generator) {
    let Some(target) = g.take_for_writing(|object| object.is_contiguous()) else {
        return;
    };
    let object = g.objects[target].clone();
    let half = object.len / 2;
    g.line(format!(
        "memset({} + {half}, 0, {} * sizeof({}));",
        object.name,
        object.len - half,
        object.element.name()
    ));
}

/// Swaps two heap arrays or two rows, or gives a heap array new memory.
fn swap_or_move(g: &mut Generator) {
    let Some(first) =
        g.take_for_writing(|object| matches!(object.shape, Shape::Heap | Shape::Rows { .. }))
    else {
        return;
    };
    let object = g.objects[first].clone();
    let (name, ty) = (&object.name, object.element.name());
    match object.shape {
        Shape::Rows { width } => {
            let rows = object.len / width;
            let other = g.random.between(0, rows - 1);
            g.line(format!(
                "{{ {ty} *t = {name}[0]; {name}[0] = {name}[{other}]; {name}[{other}] = t; }}"
            ));
        }
        Shape::Heap => {
            let twin = g.take_for_writing(|other| {
                other.shape == Shape::Heap
                    && other.element == object.element
                    && other.len == object.len
            });
            match twin {
                Some(twin) => {
                    let twin = &g.objects[twin].name.clone();
                    g.line(format!(
                        "{{ {ty} *t = {name}; {name} = {twin}; {twin} = t; }}"
                    ));
                }
                None => {
                    g.line(format!("free({name});"));
                    g.line(format!(
                        "{name} = ({ty} *)calloc({}, sizeof *{name});",
                        object.len
                    ));
                }
            }
        }
        Shape::Scalar
        | Shape::Global
        | Shape::Static
        | Shape::Stack
        | Shape::Vla
        | Shape::Atomic
        | Shape::Field => {}
    }
}

fn reallocate(g: &mut Generator) {
    let Some(target) = g.take_for_writing(|object| object.shape == Shape::Heap) else {
        return;
    };
    let object = g.objects[target].clone();
    let more = g.random.between(1, 9000);
    g.line(format!(
        "{0} = ({2} *)realloc({0}, {1} * sizeof *{0});",
        object.name,
        object.len + more,
        object.element.name()
    ));
}

/// Sorts an array of `u64` with the C library's `qsort`.
fn sort(g: &mut Generator) {
    let target = g.take_for_writing(|object| {
        object.is_contiguous() && object.element == super::objects::Type::U64
    });
    match target {
        Some(target) => {
            let object = g.objects[target].clone();
            g.line(format!(
                "qsort({}, {}, sizeof(u64), compare_u64);",
                object.name, object.len
            ));
        }
        None => clear(g),
    }
}
