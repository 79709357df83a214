//! The layers of a library are those of its table in `ARCHITECTURE.md`, and hold: no module uses one of a layer above its
//! own, within a layer no modules use each other in a circle but those that are said to, and none but those that the page
//! names behind the table communicates.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// A library, by the folder of its `Cargo.toml`, which is two below that of the page.
#[derive(Clone, Copy, Debug)]
pub struct Library<'a> {
    /// The folder.
    pub folder: &'a str,
    /// Its name on the page.
    pub name: &'a str,
    /// The circles that there are, each in the order of the alphabet.
    pub circles: &'a [&'a [&'a str]],
    /// What modules of the first layer do not use, as it stands in their text.
    pub not_below: &'a [&'a str],
}

/// What modules that communicate do so with: the crate, and its module.
const MESSAGES: (&str, &str) = ("okl_job", "mpi");

/// A module, with the texts of its files, each with its depth below `src`.
type Modules = BTreeMap<String, Vec<(PathBuf, usize, String)>>;

impl Library<'_> {
    /// Ends the test in an error that says where the table does not hold.
    pub fn check(self) {
        let layers = self.layers();
        let modules = self.modules();
        let wrong = [
            not_in_one_layer(&layers, &modules),
            upward(&layers, &modules),
            self.below(&layers[0], &modules),
            self.other_circles(&modules),
            others_that_communicate(&communicating(&self.page().1), &modules),
        ];
        let wrong = wrong.concat();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    /// What stands on the page: the table of layers without its head, and what follows up to another one.
    fn page(self) -> (String, String) {
        let page = fs::read_to_string(Path::new(self.folder).join("../../ARCHITECTURE.md"));
        let page = page.expect("the page of the repository");
        let head = format!("| layer | modules in `{}` |", self.name);
        let table = page.split_once(&head).expect("the table of layers").1;
        let end = table.find("| layer |").unwrap_or(table.len());
        let (table, rest) = table[..end].split_once("\n\n").expect("a table's end");
        (table.to_owned(), rest.to_owned())
    }

    /// The modules of each layer, from below.
    fn layers(self) -> Vec<Vec<String>> {
        let table = self.page().0;
        let rows = table.lines().skip(2);
        rows.map(|row| names_in(row.split('|').nth(2).expect("a second column")))
            .collect()
    }

    /// The modules of the library, without their tests.
    fn modules(self) -> Modules {
        fn collect(folder: &Path, module: Option<&str>, depth: usize, all: &mut Modules) {
            for entry in fs::read_dir(folder).expect("a folder of sources") {
                let path = entry.expect("its entry").path();
                let name = path.file_stem().expect("a name").to_string_lossy();
                if ["lib", "layers", "tests"].contains(&&*name) {
                    continue;
                }
                let module = module.unwrap_or(&name).to_owned();
                if path.is_dir() {
                    collect(&path, Some(&module), depth + 1, all);
                } else {
                    let text = fs::read_to_string(&path).expect("a source file");
                    let files = all.entry(module).or_default();
                    files.push((path.clone(), depth, code_of(&text)));
                }
            }
        }
        let mut all = BTreeMap::new();
        collect(&Path::new(self.folder).join("src"), None, 0, &mut all);
        all
    }

    /// What the first layer uses and should not.
    fn below(self, first: &[String], modules: &Modules) -> Vec<String> {
        let files = first.iter().filter_map(|module| modules.get(module));
        let files = files.flatten();
        let uses = files.flat_map(|(file, _, code)| {
            let names = self.not_below.iter().filter(|name| code.contains(**name));
            names.map(move |name| {
                format!("{} uses {name}, and is of the first layer", file.display())
            })
        });
        uses.collect()
    }

    /// Circles that are not those that are said.
    fn other_circles(self, modules: &Modules) -> Vec<String> {
        let found = circles(&uses(modules));
        let said: BTreeSet<Vec<String>> = self
            .circles
            .iter()
            .map(|circle| circle.iter().map(|one| (*one).to_owned()).collect())
            .collect();
        let new = found.difference(&said);
        let new = new.map(|circle| format!("these use each other: {}", circle.join(", ")));
        let gone = said.difference(&found);
        let gone =
            gone.map(|circle| format!("these are no circle any more: {}", circle.join(", ")));
        new.chain(gone).collect()
    }
}

/// The names in a text of the page.
fn names_in(text: &str) -> Vec<String> {
    let names = text.split('`').skip(1).step_by(2);
    names.map(str::to_owned).collect()
}

/// The modules that the page says may communicate.
fn communicating(page: &str) -> Vec<String> {
    let end = format!(" may name `{}::{}`.", MESSAGES.0, MESSAGES.1);
    let mut lines = page.lines();
    let said = lines.find_map(|line| line.strip_prefix("Only ")?.strip_suffix(&end));
    said.map(names_in).unwrap_or_default()
}

/// Modules that communicate and are not said to, and those that are said to and do not.
fn others_that_communicate(said: &[String], modules: &Modules) -> Vec<String> {
    let root = format!("{}::", MESSAGES.0);
    // Under another name, or none, the crate hides what is used of it.
    let is_it = |name: &String| [MESSAGES.1, "self", "*"].contains(&&**name);
    let communicates = |files: &[(PathBuf, usize, String)]| {
        let mut codes = files.iter().map(|(_, _, code)| code);
        codes.any(|code| is_renamed(code, MESSAGES.0) || named(code, &root).iter().any(is_it))
    };
    let mut wrong = Vec::new();
    for (module, files) in modules {
        match (communicates(files), said.contains(module)) {
            (true, false) => wrong.push(format!("{module} communicates, and is not said to")),
            (false, true) => wrong.push(format!("{module} is said to communicate, and does not")),
            _ => {}
        }
    }
    wrong
}

/// Modules that are not in one layer, and names in the table that are no modules.
fn not_in_one_layer(layers: &[Vec<String>], modules: &Modules) -> Vec<String> {
    let named: Vec<&String> = layers.iter().flatten().collect();
    let there = modules.keys().filter_map(|module| {
        let count = named.iter().filter(|one| **one == module).count();
        (count != 1).then(|| format!("{module} is in {count} layers"))
    });
    let gone = named.iter().filter(|one| !modules.contains_key(**one));
    let gone = gone.map(|one| format!("there is no module {one}"));
    there.chain(gone).collect()
}

/// Uses of modules of a layer above.
fn upward(layers: &[Vec<String>], modules: &Modules) -> Vec<String> {
    let layer_of = |module: &String| layers.iter().position(|layer| layer.contains(module));
    let mut found = Vec::new();
    for (module, files) in modules {
        for (file, depth, code) in files {
            let above = used(code, *depth)
                .into_iter()
                .filter(|other| layer_of(other) > layer_of(module) && layer_of(module).is_some());
            found
                .extend(above.map(|other| format!("{module} uses {other}, in {}", file.display())));
        }
    }
    found
}

/// Which modules each one uses.
fn uses(modules: &Modules) -> BTreeMap<&str, BTreeSet<&str>> {
    let one = |(module, files): (&'_ String, &Vec<(PathBuf, usize, String)>)| {
        let names = files.iter().flat_map(|(_, depth, code)| used(code, *depth));
        names
            .filter(|name| name != module)
            .filter_map(|name| modules.get_key_value(&name))
            .map(|(name, _)| &**name)
            .collect()
    };
    let all = modules.iter().map(|all| (&**all.0, one(all)));
    all.collect()
}

/// The circles, as large as they are: modules of which each uses each, itself or by others.
fn circles(uses: &BTreeMap<&str, BTreeSet<&str>>) -> BTreeSet<Vec<String>> {
    let reached = |from: &str| {
        let (mut reached, mut next) = (BTreeSet::new(), vec![from.to_owned()]);
        while let Some(module) = next.pop() {
            let others = uses.get(&*module).into_iter().flatten();
            let new = others.filter(|other| reached.insert((**other).to_owned()));
            next.extend(new.map(|other| (*other).to_owned()));
        }
        reached
    };
    let all: BTreeMap<&str, BTreeSet<String>> = uses
        .keys()
        .map(|module| (*module, reached(module)))
        .collect();
    let circle = |(module, reached): (&&str, &BTreeSet<String>)| {
        let back = reached.iter().filter(|other| {
            let other = all.get(&***other);
            other.is_some_and(|others| others.contains(*module))
        });
        let circle: Vec<String> = back.cloned().collect();
        (circle.len() > 1).then_some(circle)
    };
    all.iter().filter_map(circle).collect()
}

/// A source text without its tests and comments.
fn code_of(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests {").next();
    let lines = code.expect("a part before").lines();
    let lines = lines.map(|line| line.split("//").next().expect("a part before"));
    lines.collect::<Vec<_>>().join("\n")
}

/// What a file that lies `depth` folders below `src` names of the crate's root: modules, if that is what they are.
fn used(code: &str, depth: usize) -> Vec<String> {
    let up = "super::".repeat(depth + 1);
    [named(code, "crate::"), named(code, &up)].concat()
}

/// Whether a text gives a crate another name.
fn is_renamed(code: &str, name: &str) -> bool {
    behind(code, name).any(|rest| {
        let rest = rest.trim_start().strip_prefix("as");
        rest.is_some_and(|rest| rest.starts_with(char::is_whitespace))
    })
}

/// What stands behind each `root` in a text that is the first of its path.
fn behind<'a>(code: &'a str, root: &'a str) -> impl Iterator<Item = &'a str> {
    code.match_indices(root).filter_map(move |(at, _)| {
        let before = &code[..at];
        // In front of a crate's name two colons say that it is one.
        let path = before.strip_suffix("::").unwrap_or(before);
        let is_first = !before.ends_with(is_of_name) && !path.ends_with(is_of_name);
        is_first.then(|| &code[at + root.len()..])
    })
}

fn is_of_name(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// What a text names of `root`.
fn named(code: &str, root: &str) -> Vec<String> {
    let mut named = Vec::new();
    for rest in behind(code, root) {
        add_names(rest, &mut named);
    }
    named.retain(|name| !name.is_empty());
    named
}

/// The first parts of the paths that `rest` begins with, a `*` among them: one, or those of a group.
fn add_names(rest: &str, used: &mut Vec<String>) {
    let name = |text: &str| {
        let text = text.trim_start();
        if text.starts_with('*') {
            return "*".to_owned();
        }
        let end = text.find(|c: char| !is_of_name(c));
        text[..end.unwrap_or(text.len())].to_owned()
    };
    let Some(group) = rest.strip_prefix('{') else {
        used.push(name(rest));
        return;
    };
    let (mut depth, mut first) = (0, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' | ',' if depth == 0 => {
                used.push(name(&group[first..at]));
                first = at + 1;
                if c == '}' {
                    return;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_text_uses_is_found() {
        let text = "//! [`crate::no`]\nuse crate::{\n    a::{self, b},\n    c, // d\n    e::F,\n};\n\
                    pub(crate) use crate::g;\nfn h() { crate::i::j(); }\nuse super::k;\n#[cfg(test)]\nmod tests {\n    \
                    use crate::l;\n}\n";
        let code = code_of(text);
        assert_eq!(used(&code, 0), ["a", "c", "e", "g", "i", "k"]);
        // A file of a folder names its own module so.
        assert_eq!(
            used("use super::a; use super::super::{b, c::d};", 1),
            ["b", "c"]
        );
    }

    #[test]
    fn who_communicates_is_who_is_said_to() {
        let page = "Text.\n\nOnly `a` and `b` may name `okl_job::mpi`.\n\nMore `c`.";
        assert_eq!(communicating(page), ["a", "b"]);
        assert!(communicating("Text `a`.").is_empty());
        let texts = [
            ("a", "use okl_job::{end, mpi::{self, Wait}};"),
            ("b", "use okl_job::{end, settings};"),
            ("c", "fn f() { okl_job::mpi::load(); }"),
            ("d", "use okl_job::{self as job, end};"),
            ("e", "use okl_job::{opened, end::mpi};"),
            ("f", "use okl_job as j;"),
            ("g", "use okl_job::*;"),
            ("h", "use okl_job::{end::{self, Speaker}, *};"),
            ("i", "use ::okl_job::mpi;"),
            ("j", "use {okl_job as job, std::fs};"),
            (
                "k",
                "use okl_job_mpi as j; use okl_job::end as last; use other::okl_job::mpi;",
            ),
            ("l", "fn f() { assert(okl_job::asked()); }"),
        ];
        let module = |(name, text): (&str, &str)| {
            let file = (PathBuf::new(), 0, text.to_owned());
            (name.to_owned(), vec![file])
        };
        let wrong = others_that_communicate(&communicating(page), &texts.map(module).into());
        let wrong: String = wrong.iter().map(|one| &one[..1]).collect();
        assert_eq!(wrong, "bcdfghij");
    }

    #[test]
    fn circles_are_as_large_as_they_are() {
        let found = |uses: &[(&'static str, &[&'static str])]| {
            let uses = uses
                .iter()
                .map(|(one, others)| (*one, others.iter().copied().collect()));
            circles(&uses.collect())
        };
        assert!(found(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])]).is_empty());
        let two = found(&[
            ("a", &["b"]),
            ("b", &["c"]),
            ("c", &["a"]),
            ("d", &["a", "e"]),
            ("e", &["d"]),
        ]);
        let two: Vec<String> = two.iter().map(|circle| circle.concat()).collect();
        assert_eq!(two, ["abc", "de"]);
    }
}
