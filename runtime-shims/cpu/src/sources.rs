//! Instances of kernels that no file names: they are compiled while the program runs, by `okl-c++`, from the text of the file
//! that has the template.
//!
//! Guarantee: an instance is what the file would have if it named it, compiled with the same options; or there is an error.

use std::ffi::{CString, c_void};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Mutex;

use okl_abi::cpu::{INSTANCE, KernelSource};
use okl_job::opened::own_folder;
use okl_job::own_environment;

use crate::names::{arguments, in_word, plain, text, words};

/// The text of a file.
#[derive(Clone)]
struct Source {
    /// The variable that has it.
    key: usize,
    packed: &'static [u8],
    size: usize,
    /// The compiler that `okl-c++` called.
    compiler: String,
    words: Vec<String>,
    /// Its templates: what they are called, and where they stand.
    templates: Vec<(String, String)>,
}

static SOURCES: Mutex<Vec<Source>> = Mutex::new(Vec::new());

/// One instance is made at a time.
static MAKING: Mutex<()> = Mutex::new(());

/// What compiles: the variable that names it, and how it is called.
const VARIABLE: &str = "OKL_CXX";
const DRIVER: &str = "okl-c++";
/// What makes code of what it compiles.
const PLUGIN: &str = "libokl_pass.so";

/// See [`okl_abi::cpu`].
///
/// # Safety
/// `source` is one of the program's, which stays until it is removed.
pub(crate) unsafe fn okl_cpu_add_source_v1(source: *mut c_void) {
    // SAFETY: the caller's promise.
    let source = unsafe {
        let one = &*source.cast::<KernelSource>();
        let packed = one.packed.cast::<u8>().cast_const();
        let words = text(one.words);
        let names = text(one.names);
        let mut words = words.lines().map(str::to_owned);
        let names: Vec<&str> = names.lines().collect();
        let (names, _) = names.as_chunks::<2>();
        Source {
            key: source.addr(),
            packed: std::slice::from_raw_parts(packed, one.packed_size as usize),
            size: one.size as usize,
            compiler: words.next().unwrap_or_default(),
            words: words.collect(),
            templates: names
                .iter()
                .map(|[name, place]| (name.to_string(), place.to_string()))
                .collect(),
        }
    };
    let mut sources = SOURCES.lock().expect("no panic while it is locked");
    sources.push(source);
}

/// It is no longer part of the program.
pub(crate) fn remove(key: usize) {
    // Who makes an instance of it reads its text.
    let _making = MAKING.lock().expect("no panic while it is locked");
    let mut sources = SOURCES.lock().expect("no panic while it is locked");
    sources.retain(|one| one.key != key);
}

/// The code of an instance, and the variable with the text that it is made from. None where no file has such a template. `made`
/// says whether it was made meanwhile.
pub(crate) fn instance(
    name: &str,
    ty: &str,
    made: impl FnOnce() -> Option<usize>,
) -> Option<Result<(usize, usize, String), String>> {
    let shown = name.trim();
    let _making = MAKING.lock().expect("no panic while it is locked");
    let source = {
        let sources = SOURCES.lock().expect("no panic while it is locked");
        match the_one(&sources, &plain(name))? {
            Ok(found) => found,
            Err(why) => return Some(Err(why)),
        }
    };
    if let Some(code) = made() {
        return Some(Ok((code, source.0.key, source.1)));
    }
    let made = is_name(shown).and_then(|()| make(&source.0, shown, ty));
    let made = made.map(|code| (code, source.0.key, source.1.clone()));
    Some(made.map_err(|why| {
        format!(
            "no file names the kernel '{shown}', and it cannot be made of its template (at {}): {why}",
            source.1
        )
    }))
}

/// The file with the template of this name, and where it stands there.
fn the_one(sources: &[Source], name: &str) -> Option<Result<(Source, String), String>> {
    let path = &name[..name.len() - arguments(name).len()];
    let base = path.rsplit("::").next().unwrap_or(path);
    let shown = |place: &str| place.split('\t').next().unwrap_or_default().to_owned();
    let mut found: Vec<(&Source, &str)> = Vec::new();
    for source in sources {
        for (template, place) in &source.templates {
            // Several files may have it from the same header, and one may have several. Behind its place is what tells those
            // apart that are written otherwise, by macros.
            if template == base && !found.iter().any(|(_, known)| known == place) {
                found.push((source, place));
            }
        }
    }
    let key = found.first()?.0.key;
    if let Some((_, other)) = found.iter().find(|(source, _)| source.key != key) {
        return Some(Err(format!(
            "no file names the kernel '{name}', and there are several templates of that name: at {} and at {}",
            shown(found[0].1),
            shown(other)
        )));
    }
    Some(Ok((found[0].0.clone(), shown(found[0].1))))
}

/// What is no name would be other code.
fn is_name(name: &str) -> Result<(), String> {
    let path = name.len() - arguments(name).len();
    let is_piece = |(at, word): (usize, &str)| {
        let is_whole = word.len() > 2 && word.ends_with('\'');
        match word.chars().next() {
            Some('\'') => is_whole && at >= path,
            // A number may have `'` in it, and a character a prefix.
            Some(one) if in_word(one) => one.is_ascii_digit() || !word.contains('\'') || is_whole,
            _ if at < path => word == "::",
            _ => word
                .chars()
                .all(|one| "<>:,*&()[].+-=!|^%/~?".contains(one)),
        }
    };
    let is_one = path > 0 && path < name.len() && words(name).into_iter().all(is_piece);
    match is_one && !["//", "/*", "\n"].iter().any(|one| name.contains(one)) {
        true => Ok(()),
        false => Err("that is no name of an instance".to_owned()),
    }
}

fn make(source: &Source, name: &str, ty: &str) -> Result<usize, String> {
    // SAFETY: asks the system.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
        return Err("a program with more rights than its user has makes none".to_owned());
    }
    let driver = driver().map_err(|why| {
        format!("{why}, or name the instance in the file, 'template @kernel void {name}(...);'")
    })?;
    let asked = asked(name, ty);
    let of = identity(source, &driver, &asked);
    let compile = || {
        let text =
            miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(source.packed, source.size);
        let mut text = text.map_err(|why| format!("the text of its file is damaged: {why}"))?;
        text.extend(asked.into_bytes());
        compile(&driver, source, &text)
    };
    let library = okl_versions::library(&of, &own_folder().join(PLUGIN), compile)?;
    let library = CString::new(library).expect("names of files have no NUL");
    let variable = CString::new(INSTANCE).expect("it has no NUL");
    // SAFETY: a library that was made of a text of the program's; the variable has the address of its kernel.
    unsafe {
        let opened = libc::dlopen(library.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        if opened.is_null() {
            let why = std::ffi::CStr::from_ptr(libc::dlerror()).to_string_lossy();
            return Err(format!("it cannot be loaded: {why}"));
        }
        let found = libc::dlsym(opened, variable.as_ptr()).cast::<usize>();
        match found.is_null() {
            true => Err("what was compiled has no kernel".to_owned()),
            false => Ok(found.read()),
        }
    }
}

/// What is behind the text.
fn asked(name: &str, ty: &str) -> String {
    format!(
        "\n# 1 \"okl::kernel\"\nnamespace okl_kernels {{ template <class T> struct okl_same {{ typedef T type; }}; \
         typedef okl_same<{ty}>::type okl_asked; }}\n\
         extern \"C\" {{ extern __attribute__((visibility(\"default\"))) okl_kernels::okl_asked const {INSTANCE}; }}\n\
         # 1 \"okl::kernel\"\n\
         okl_kernels::okl_asked const {INSTANCE} = &{name};\n"
    )
}

/// `okl-c++`; or why it is not there, and what to do.
fn driver() -> Result<PathBuf, String> {
    let is_program = |path: &PathBuf| path.is_file();
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let in_path = |name: &Path| {
        let mut all = std::env::split_paths(&folders).map(|folder| folder.join(name));
        all.find(is_program)
    };
    let named = own_environment(VARIABLE).filter(|name| !name.is_empty());
    if let Some(named) = named {
        let named = PathBuf::from(named);
        // As where it is started.
        let (found, place) = match named.as_os_str().as_bytes().contains(&b'/') {
            true => (Some(named.clone()).filter(is_program), "is no file"),
            false => (in_path(&named), "is not in PATH"),
        };
        return found.ok_or_else(|| {
            format!(
                "{VARIABLE} names {}, which {place}; have it name {DRIVER}",
                named.display()
            )
        });
    }
    let own = own_folder();
    let beside = [own.join(DRIVER), own.join("../bin").join(DRIVER)];
    // By its name it knows what it is, so what it is a link to is not followed.
    let found = beside.into_iter().find(is_program);
    found.or_else(|| in_path(Path::new(DRIVER))).ok_or_else(|| {
        format!(
            "there is no {DRIVER} beside the library or in PATH, and {VARIABLE} names none; install okl here"
        )
    })
}

/// All that an instance is made of.
fn identity(source: &Source, driver: &Path, asked: &str) -> Vec<u8> {
    let mut all = b"an instance of a kernel".to_vec();
    let plugin = own_folder().join(PLUGIN);
    let clang = own_environment("OKL_CLANG").unwrap_or_default();
    for file in [
        driver,
        &plugin,
        Path::new(&source.compiler),
        Path::new(&clang),
    ] {
        let data = fs::metadata(file).ok();
        let told = data.map(|data| (data.size(), data.mtime(), data.mtime_nsec(), data.ino()));
        all.extend(format!("\n{} {told:?}", file.display()).into_bytes());
    }
    for word in &source.words {
        all.extend(format!("\n{word}").into_bytes());
    }
    all.extend(asked.as_bytes());
    all.extend(source.packed);
    all
}

/// A folder that goes away.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, String> {
        let now = std::time::SystemTime::UNIX_EPOCH
            .elapsed()
            .unwrap_or_default();
        let name = format!("okl-kernel-{}-{}", std::process::id(), now.as_nanos());
        let path = std::env::temp_dir().join(name);
        let made = fs::DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|why| format!("{}: {why}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Has a text compiled: the library that comes of it. What is wrong with the text the compiler says.
fn compile(driver: &Path, source: &Source, text: &[u8]) -> Result<Vec<u8>, String> {
    let folder = Folder::new()?;
    let [from, to] = ["kernel.ii", "kernel.so"].map(|name| folder.0.join(name));
    fs::write(&from, text).map_err(|why| format!("{}: {why}", from.display()))?;
    let mut command = Command::new(driver);
    command.args(&source.words);
    command.args(["-w", "-Rpass=^okl-places$", "-fno-lto", "-fPIC", "-shared"]);
    command
        .args(["-x", "c++-cpp-output"])
        .arg(&from)
        .arg("-o")
        .arg(&to);
    // What it was compiled for is among the words.
    command
        .env_remove("OKL_TARGET")
        .stdin(std::process::Stdio::null());
    let status = command.status();
    let status = status.map_err(|why| format!("{}: {why}", driver.display()))?;
    failure(status).map_or(Ok(()), Err)?;
    fs::read(&to).map_err(|why| match why.kind() {
        ErrorKind::NotFound => format!(
            "{} has ended without an error and has written nothing; is it {DRIVER}?",
            driver.display()
        ),
        _ => format!("{}: {why}", to.display()),
    })
}

/// How a compiler has failed, if it has: one that was stopped has said nothing. What `okl-c++` calls it tells as shells do.
fn failure(status: ExitStatus) -> Option<String> {
    let by_code = status.code().map(|code| code - 128);
    let stopped = status
        .signal()
        .or(by_code.filter(|code| (1..32).contains(code)));
    match (status.success(), stopped) {
        (true, _) => None,
        (false, Some(signal)) => Some(format!("{DRIVER} was stopped by signal {signal}")),
        (false, None) => Some(format!("{DRIVER} fails, and has said why")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_that_was_stopped_has_said_nothing() {
        for (status, told) in [
            (0, None),
            (1 << 8, Some("okl-c++ fails, and has said why")),
            (9, Some("okl-c++ was stopped by signal 9")),
            (137 << 8, Some("okl-c++ was stopped by signal 9")),
        ] {
            let status = ExitStatus::from_raw(status);
            assert_eq!(failure(status).as_deref(), told);
        }
    }

    fn source(key: usize, templates: &[(&str, &str)]) -> Source {
        let owned = |(name, place): &(&str, &str)| (name.to_string(), place.to_string());
        Source {
            key,
            packed: &[],
            size: 0,
            compiler: String::new(),
            words: Vec::new(),
            templates: templates.iter().map(owned).collect(),
        }
    }

    #[test]
    fn a_template_is_that_of_one_file() {
        let sources = [
            source(1, &[("add", "a.okl:1"), ("of_header", "h.hpp:1")]),
            source(2, &[("sub", "b.okl:1"), ("of_header", "h.hpp:1")]),
            source(3, &[("add", "c.okl:7")]),
            source(4, &[("same", "h.hpp:9\t1"), ("other", "h.hpp:12\t1")]),
            source(5, &[("same", "h.hpp:9\t1"), ("other", "h.hpp:12\t2")]),
        ];
        let found = |name: &str| the_one(&sources, name).map(|one| one.map(|one| one.1));
        assert_eq!(found("mul<int>"), None);
        assert_eq!(found("n::sub<int>"), Some(Ok("b.okl:1".to_owned())));
        assert_eq!(found("of_header<int>"), Some(Ok("h.hpp:1".to_owned())));
        let several = "no file names the kernel 'add<int>', and there are several templates of that name: at a.okl:1 and at c.okl:7";
        assert_eq!(found("add<int>"), Some(Err(several.to_owned())));
        assert_eq!(found("same<int>"), Some(Ok("h.hpp:9".to_owned())));
        let by_macros = "no file names the kernel 'other<int>', and there are several templates of that name: at h.hpp:12 and at h.hpp:12";
        assert_eq!(found("other<int>"), Some(Err(by_macros.to_owned())));
    }

    #[test]
    fn what_is_no_name_is_not_compiled() {
        for name in [
            "a::add<int, 4>",
            "::add<const float *, 'a'>",
            "g<(1 != 2), 1'000, (a ? 1 : ~2) % 3>",
            "lit<'>', L';', '\\'', '\"'>",
        ] {
            assert_eq!(is_name(name), Ok(()), "{name}");
        }
        for name in [
            "add",
            "add<int>; int x",
            "add<\"a\">",
            "add<int>\n",
            "a{}<b>",
            "add<x // >",
            "add<';>",
            "add<1> + b<2>",
            "add<x';', ';>",
            "<int>",
            "a'b'<int>",
            "/* <b>",
        ] {
            assert!(is_name(name).is_err(), "{name}");
        }
    }
}
