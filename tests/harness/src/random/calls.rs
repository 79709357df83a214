//! Functions of either unit that expressions and statements call.

use super::generator::Generator;
use super::objects::{Object, Shape};
use super::source::Unit;

/// A program has so many functions of their arguments alone.
const PURE: usize = 4;

/// A call that yields a value.
pub(crate) fn value(g: &mut Generator) -> String {
    let argument = match g.atoms.last() {
        Some(atom) => atom.clone(),
        None => g.random.between(0, 1000).to_string(),
    };
    let other = g.random.between(0, 1000);
    if !g.in_callee && g.random.chance(25) {
        let name = reading(g);
        return format!("{name}({argument}, {other})");
    }
    if !g.in_callee && g.pure.len() < PURE && g.random.chance(50) {
        pure(g);
    }
    let unit = g.unit;
    let here = |of: &Unit| *of == Unit::Second || unit == Unit::First;
    let known = g.pure.iter().filter(|(_, of)| here(of));
    let known: Vec<_> = known.map(|(name, _)| name.clone()).collect();
    match known.is_empty() {
        true => format!("mix({argument} + {other})"),
        false => format!(
            "{}({argument}, {other})",
            known[g.random.between(0, known.len() - 1)]
        ),
    }
}

/// A function of its two arguments, from which loops may be.
fn pure(g: &mut Generator) {
    let mut unit = g.unit;
    let name = callee(g, |g| {
        unit = g.unit;
        g.visible.clear();
        returns(g);
    });
    g.pure.push((name, unit));
}

/// A function that also reads what may be read at the call.
fn reading(g: &mut Generator) -> String {
    callee(g, returns)
}

fn callee(g: &mut Generator, body: impl FnOnce(&mut Generator)) -> String {
    g.apart(|g| {
        g.in_callee = true;
        g.atoms = vec!["a".to_owned(), "b".to_owned()];
        let name = g.function("u64", "u64 a, u64 b", body);
        g.in_callee = false;
        name
    })
}

fn returns(g: &mut Generator) {
    let value = g.value(2);
    if g.random.chance(20) {
        let times = g.random.between(1, 6);
        g.line(format!("for (u64 k = 0; k < {times}; k++) a = mix(a + k);"));
    }
    if g.random.chance(20) {
        g.line("must_be(b < 5000, \"small\");");
    }
    g.line(format!("return {value};"));
}

/// The statement by which a function stores `value` to element `place` of `object`.
pub(crate) fn store(g: &mut Generator, object: &Object, place: &str, value: &str) -> String {
    let by_name = !object.is_local() && object.is_visible_in(Unit::Second) && g.random.chance(50);
    if by_name || object.shape == Shape::Atomic {
        let name = g.function("void", "u64 at, u64 value", |g| {
            g.line(object.assignment("at", "value"));
        });
        return format!("{name}({place}, {value});");
    }
    let parameters = format!("{} *to, u64 value", object.element.name());
    let name = g.function("void", &parameters, |g| {
        g.line(format!("*to = {};", object.element.stored("value")));
    });
    format!("{name}(&{}, {value});", object.at(place))
}

/// A function that makes an object new values, at places that depend on what is in it.
pub(crate) fn upset(g: &mut Generator) {
    let Some(target) = g.take_for_writing(|o| !o.is_local() && o.is_visible_in(Unit::Second))
    else {
        return;
    };
    let object = g.objects[target].clone();
    let len = object.len;
    let name = g.apart(|g| {
        g.function("void", "void", |g| {
            let times = g.random.between(1, 40);
            // In an object of one element, too.
            g.line(format!("u64 at = 1 % {len};"));
            g.line("struct node *from = list;");
            g.line(format!("for (int t = 0; t < {times}; t++) {{"));
            let element = object.at("at");
            g.line(format!(
                "at = (at * 5 + (u64){element} + from->value) % {len};"
            ));
            g.line("from = from->next ? from->next : list;");
            g.line(object.assignment("at", &format!("(u64){} + at + t", object.at("at"))));
            g.line("}");
        })
    });
    g.line(format!("{name}();"));
}
