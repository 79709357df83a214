//! The layers of this library are those of the table in `ARCHITECTURE.md`, and hold: no module uses one of a layer
//! above its own.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// The modules of each layer, from below.
fn layers() -> Vec<Vec<String>> {
    let page = fs::read_to_string(Path::new(HERE).join("../../ARCHITECTURE.md"));
    let page = page.expect("the page of the repository");
    let table = page
        .split_once("| layer | modules in `runtime-shims/mpi/src` |")
        .expect("the table of layers")
        .1;
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let modules = row.split('|').nth(2).expect("a second column");
        let names = modules.split('`').skip(1).step_by(2);
        names.map(str::to_owned).collect()
    })
    .collect()
}

/// The files of each module, without those of tests.
fn files() -> BTreeMap<String, Vec<PathBuf>> {
    fn collect(folder: &Path, module: Option<&str>, all: &mut BTreeMap<String, Vec<PathBuf>>) {
        for entry in fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("its entry").path();
            let name = path.file_stem().expect("a name").to_string_lossy();
            let module = module.unwrap_or(&name).to_owned();
            if path.is_dir() {
                collect(&path, Some(&module), all);
            } else if !["lib", "layers", "tests"].contains(&&*name) {
                all.entry(module).or_default().push(path.clone());
            }
        }
    }
    let mut all = BTreeMap::new();
    collect(&Path::new(HERE).join("src"), None, &mut all);
    all
}

/// The modules of this library that a source text names, but for its tests and comments.
fn used(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod tests {").next();
    let code: String = code
        .expect("a part before")
        .lines()
        .map(|line| line.split("//").next().expect("a part before"))
        .collect();
    let mut used = Vec::new();
    for rest in code.split("crate::").skip(1) {
        let name = |text: &str| {
            let text = text.trim_start();
            let end = text.find(|c: char| c != '_' && !c.is_alphanumeric());
            text[..end.unwrap_or(text.len())].to_owned()
        };
        let Some(group) = rest.strip_prefix('{') else {
            used.push(name(rest));
            continue;
        };
        let (mut depth, mut first) = (0, 0);
        for (at, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' | ',' if depth == 0 => {
                    used.push(name(&group[first..at]));
                    first = at + 1;
                    if c == '}' {
                        break;
                    }
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
    }
    used.retain(|name| !name.is_empty());
    used
}

#[test]
fn no_module_uses_one_of_a_layer_above() {
    let layers = layers();
    let layer_of = |module: &str| {
        let layers = layers.iter().enumerate();
        let mut those = layers.filter(|(_, modules)| modules.iter().any(|one| one == module));
        let layer = those.next().map(|(layer, _)| layer);
        assert!(those.next().is_none(), "{module} is in two layers");
        layer
    };
    let files = files();
    for module in layers.iter().flatten() {
        assert!(files.contains_key(module), "there is no module {module}");
    }
    let mut upward = Vec::new();
    for (module, files) in &files {
        let layer = layer_of(module);
        let layer = layer.unwrap_or_else(|| panic!("ARCHITECTURE.md has no layer for {module}"));
        for file in files {
            let text = fs::read_to_string(file).expect("a source file");
            for other in used(&text) {
                if layer_of(&other).is_some_and(|above| above > layer) {
                    upward.push(format!("{module} uses {other}, in {}", file.display()));
                }
            }
        }
    }
    assert!(upward.is_empty(), "{upward:#?}");
}

#[test]
fn what_a_text_uses_is_found() {
    let text = "//! [`crate::no`]\nuse crate::{\n    a::{self, b},\n    c, // d\n    e::F,\n};\n\
                pub(crate) use crate::g;\nfn h() { crate::i::j(); }\n#[cfg(test)]\nmod tests {\n    use crate::k;\n}\n";
    assert_eq!(used(text), ["a", "c", "e", "g", "i"]);
}
