//! Exceptions, in programs that are C++.

use super::generator::Generator;
use super::objects::Object;
use super::region::statement;
use super::worksharing::barrier;

/// What is thrown, how it is caught, and what is known of it then.
const KINDS: [(&str, &str, &str); 4] = [
    ("(u64)WHAT", "u64 thrown", "thrown"),
    ("wrong{WHAT}", "const wrong &thrown", "thrown.what"),
    (
        "std::runtime_error(\"odd\")",
        "const std::exception &thrown",
        "strlen(thrown.what())",
    ),
    ("(int)((WHAT) & 15)", "...", "77u"),
];

/// Stores `value` or, where an exception is thrown, something else: all within an iteration.
pub(crate) fn store(g: &mut Generator, object: &Object, place: &str, number: &str, value: &str) {
    let (throws, catches, thrown) = g.random.one_of(&KINDS);
    let store = |value: &str| object.assignment(place, value);
    let modulus = g.random.between(2, 9);
    match g.random.between(0, 2) {
        // Here.
        0 => {
            g.line("try {");
            let throws = throws.replace("WHAT", number);
            g.line(format!("if ({number} % {modulus} == 1) throw {throws};"));
            g.line(store(value));
            g.line(format!("}} catch ({catches}) {{"));
            g.line(store(thrown));
            g.line("}");
        }
        // By a function.
        1 => {
            let name = g.function("u64", "u64 a", |g| {
                let throws = throws.replace("WHAT", "a + 3");
                g.line(format!("if (mix(a) % {modulus} == 0) throw {throws};"));
                g.line("return a * 3;");
            });
            g.line("try {");
            g.line(store(&format!("{name}({value})")));
            g.line(format!("}} catch ({catches}) {{"));
            g.line(store(thrown));
            g.line("}");
        }
        // Past an object that is destroyed.
        _ => {
            g.line("{");
            g.line("u64 count = 0;");
            g.line("try {");
            g.line("passing one{&count};");
            g.line("std::vector<u64> work(7, count);");
            g.line(format!("work.push_back({value});"));
            let throws = throws.replace("WHAT", "work.back()");
            g.line(format!("if (work[7] % {modulus} == 0) throw {throws};"));
            g.line("count += 5;");
            g.line(format!("}} catch ({catches}) {{"));
            g.line(format!("count += {thrown};"));
            g.line("}");
            g.line(store(&format!("count + {value}")));
            g.line("}");
        }
    }
}

/// A function that may throw between its loops, on every thread of the team, to a handler in the region.
pub(crate) fn handled(g: &mut Generator, depth: usize) {
    barrier(g);
    let (throws, catches, thrown) = g.random.one_of(&KINDS);
    let name = g.apart(|g| {
        g.in_orphan = true;
        let name = g.function("void", "u64 round", |g| {
            g.atoms.push("round".to_owned());
            statement(g, depth + 1);
            barrier(g);
            let condition = g.value(2);
            g.line(format!("u64 stop = ({condition}) & 1;"));
            // What it depends on must not change while others still read it.
            barrier(g);
            g.line(format!(
                "if (stop) throw {};",
                throws.replace("WHAT", "round + 7")
            ));
            g.atoms.truncate(1);
            for _ in 0..g.random.between(1, 2) {
                statement(g, depth + 1);
            }
        });
        g.in_orphan = false;
        name
    });
    let (round, times) = (g.name("round"), g.random.between(1, 3));
    let seen = g.name("seen");
    g.line(format!("u64 {seen} = 1;"));
    g.line(format!(
        "for (u64 {round} = 0; {round} < {times}; {round}++) {{"
    ));
    g.line("try {");
    g.line(format!("{name}({round});"));
    g.line(format!("}} catch ({catches}) {{"));
    g.line(format!("{seen} = {seen} * 3 + {thrown};"));
    if g.random.chance(25) {
        barrier(g);
        let atoms = g.atoms.len();
        statement(g, depth + 1);
        g.atoms.truncate(atoms);
    }
    g.line("}");
    barrier(g);
    g.line("}");
    // All threads have met the same exceptions.
    g.atoms.push(seen);
}
