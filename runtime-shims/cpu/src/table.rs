//! The kernels that programs find by their names.
//!
//! Guarantee: what is found has the name and the parameters that are asked for, and is the literal's own that asks for it, or
//! there is no other such kernel; all else is an error that says what there is.

use std::ffi::c_void;
use std::sync::Mutex;

use okl_abi::cpu::{AskedKernel, KernelInstance};

use crate::names::{Told, arguments, is_of_one_file, parameters, plain, text};
use crate::sources;

/// A kernel in the table.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    /// The variable that puts it there.
    key: usize,
    /// With its arguments, without blanks.
    name: String,
    /// As the compiler tells it.
    ty: String,
    code: usize,
    place: String,
    /// A literal at `place` names it, and gets it. Nobody else does: other files may have others of that name.
    is_literal: bool,
}

static TABLE: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

/// See [`okl_abi::cpu`].
///
/// # Safety
/// `kernel` is a kernel of the program's.
pub(crate) unsafe fn okl_cpu_add_kernel_v1(kernel: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { add(kernel, false) };
}

/// See [`okl_abi::cpu`].
///
/// # Safety
/// As `okl_cpu_add_kernel_v1`.
pub(crate) unsafe fn okl_cpu_add_literal_v1(kernel: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { add(kernel, true) };
}

/// # Safety
/// `kernel` is a kernel of the program's.
unsafe fn add(kernel: *mut c_void, is_literal: bool) {
    // SAFETY: the caller's promise.
    let entry = unsafe {
        let one = &*kernel.cast::<KernelInstance>();
        let (told, said, file) = (text(one.told), text(one.arguments), text(one.file));
        let told = Told::of(&told);
        // A literal is the name; else the compiler knows the namespaces.
        let name = match is_literal {
            true => said,
            false => [told.function.unwrap_or(""), arguments(&said)].concat(),
        };
        Entry {
            key: kernel.addr(),
            name: key_of(&name),
            ty: told.ty.to_owned(),
            code: one.code.expose_provenance(),
            place: format!("{file}:{}", one.line),
            is_literal,
        }
    };
    let mut table = TABLE.lock().expect("no panic while it is locked");
    table.push(entry);
}

/// A name as it is compared: plain, and from the outermost namespace on.
fn key_of(name: &str) -> String {
    let plain = plain(name);
    plain
        .strip_prefix("::")
        .map_or(plain.clone(), str::to_owned)
}

/// See [`okl_abi::cpu`].
///
/// # Safety
/// None: it is called as the others are.
pub(crate) unsafe fn okl_cpu_remove_kernel_v1(kernel: *mut c_void) {
    let mut table = TABLE.lock().expect("no panic while it is locked");
    table.retain(|one| one.key != kernel.addr());
}

/// See [`okl_abi::cpu`]. What was made of it goes with it.
///
/// # Safety
/// As `okl_cpu_remove_kernel_v1`.
pub(crate) unsafe fn okl_cpu_remove_source_v1(source: *mut c_void) {
    sources::remove(source.addr());
    // SAFETY: the caller's promise.
    unsafe { okl_cpu_remove_kernel_v1(source) };
}

/// See [`okl_abi::cpu`].
///
/// # Safety
/// `asked` is an `AskedKernel`.
pub(crate) unsafe fn okl_cpu_find_kernel_v1(asked: *mut c_void) -> *mut c_void {
    // SAFETY: the caller's promise.
    let (asked, name, told, file) = unsafe {
        let asked = &*asked.cast::<AskedKernel>();
        let texts = (text(asked.name), text(asked.told), text(asked.file));
        (asked, texts.0, texts.1, texts.2)
    };
    let ty = Told::of(&told).ty;
    let place = format!("{file}:{}", asked.line);
    let found = found(&name, ty, &place);
    let found = found.and_then(|found| found.map_or_else(|| made(&name, ty, &place), Ok));
    match found {
        Ok(code) => std::ptr::with_exposed_provenance_mut(code),
        Err(why) => {
            let message = format!("{place}: {why}");
            let room = usize::try_from(asked.room).unwrap_or(0);
            let mut length = message.len().min(room.saturating_sub(1));
            while !message.is_char_boundary(length) {
                length -= 1;
            }
            if room > 0 {
                let to = asked.message.cast::<u8>();
                // SAFETY: there is room for so many bytes.
                unsafe {
                    to.copy_from_nonoverlapping(message.as_ptr(), length);
                    to.add(length).write(0);
                }
            }
            std::ptr::null_mut()
        }
    }
}

/// What is in the table.
fn found(name: &str, ty: &str, place: &str) -> Result<Option<usize>, String> {
    let table = TABLE.lock().expect("no panic while it is locked");
    find(&table, name, ty, place)
}

/// An instance that is made now.
fn made(name: &str, ty: &str, place: &str) -> Result<usize, String> {
    let meanwhile = || found(name, ty, place).ok().flatten();
    match sources::instance(name, ty, meanwhile) {
        None => {
            let table = TABLE.lock().expect("no panic while it is locked");
            Err(unknown(&table, name.trim()))
        }
        Some(Err(why)) => Err(why),
        Some(Ok((code, key, place))) => {
            let entry = Entry {
                key,
                name: key_of(name),
                ty: ty.to_owned(),
                code,
                place,
                is_literal: false,
            };
            let mut table = TABLE.lock().expect("no panic while it is locked");
            if !table.contains(&entry) {
                table.push(entry);
            }
            Ok(code)
        }
    }
}

impl Entry {
    fn is_of(&self, ty: &str) -> bool {
        plain(&self.ty) == plain(ty)
    }
}

fn named<'t>(table: &'t [Entry], name: &str) -> Vec<&'t Entry> {
    let wanted = key_of(name);
    table.iter().filter(|one| one.name == wanted).collect()
}

/// The code of the kernel of this name and type that is asked for at `place`; nothing where none has the name.
fn find(table: &[Entry], name: &str, ty: &str, place: &str) -> Result<Option<usize>, String> {
    if is_of_one_file(ty) {
        return Err(format!(
            "a kernel whose parameters are of a type without a name outside of its file cannot be found by its name: '{}' with {}",
            name.trim(),
            parameters(ty)
        ));
    }
    let (mut own, named): (Vec<&Entry>, Vec<&Entry>) = named(table, name)
        .into_iter()
        .partition(|one| one.is_literal);
    own.retain(|one| one.place == place && one.is_of(ty));
    own.dedup_by_key(|one| one.code);
    let mut right: Vec<&Entry> = named.iter().copied().filter(|one| one.is_of(ty)).collect();
    right.dedup_by_key(|one| one.code);
    match (own.as_slice(), right.as_slice()) {
        // In a header the same place is in several files.
        ([one], _) | (_, [one]) => Ok(Some(one.code)),
        (_, [one, other, ..]) => Err(several(name, ty, one, other)),
        (_, []) if named.is_empty() => Ok(None),
        (_, []) => Err(others(name, ty, &named)),
    }
}

fn several(name: &str, ty: &str, one: &Entry, other: &Entry) -> String {
    format!(
        "there are several kernels '{}' with {}: at {} and at {}; name one with its namespace, or give it another name",
        name.trim(),
        parameters(ty),
        one.place,
        other.place
    )
}

/// What is said where all kernels of a name are of other types.
fn others(name: &str, ty: &str, named: &[&Entry]) -> String {
    let types = named
        .iter()
        .map(|one| format!("{} (at {})", parameters(&one.ty), one.place));
    format!(
        "the kernel '{}' takes {}, and is to be called with {}",
        name.trim(),
        types.collect::<Vec<_>>().join(" or "),
        parameters(ty)
    )
}

/// What is said of a name that no kernel has.
fn unknown(table: &[Entry], name: &str) -> String {
    const MOST: usize = 8;
    let base = |name: &str| {
        let path = name.len() - arguments(name).len();
        name[..path].rsplit("::").next().unwrap_or("").to_owned()
    };
    let wanted = base(&key_of(name));
    let all = || {
        let named = table.iter().filter(|one| !one.is_literal);
        named.map(|one| one.name.as_str())
    };
    let mut similar: Vec<&str> = all().filter(|one| base(one) == wanted).collect();
    if similar.is_empty() {
        similar = all().collect();
    }
    similar.sort_unstable();
    similar.dedup();
    let more = if similar.len() > MOST { ", ..." } else { "" };
    similar.truncate(MOST);
    let there = match similar.is_empty() {
        true => "no kernel has been named".to_owned(),
        false => format!("there are {}{more}", similar.join(", ")),
    };
    format!(
        "there is no kernel '{name}': {there}; 'template @kernel void NAME<ARGUMENTS>(PARAMETERS);' names one in an OKL file, \
         OKL_INSTANTIATE(NAME<ARGUMENTS>); in a C++ file"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, ty: &str, code: usize) -> Entry {
        Entry {
            key: code,
            name: name.to_owned(),
            ty: ty.to_owned(),
            code,
            place: format!("k.okl:{code}"),
            is_literal: false,
        }
    }

    #[test]
    fn what_is_found_has_the_name_and_the_type() {
        let (ints, floats) = ("void (*)(int *)", "void (*)(float *)");
        let table = [
            entry("add<int>", ints, 1),
            entry("add<float>", floats, 2),
            entry("add<float>", floats, 2),
            entry("twice", ints, 3),
            entry("twice", floats, 4),
            entry("both", ints, 5),
            entry("both", ints, 6),
        ];
        let find = |name: &str, ty| find(&table, name, ty, "");
        assert_eq!(find("add < int >", ints), Ok(Some(1)));
        assert_eq!(find("add<float>", "void(*)(float*)"), Ok(Some(2)));
        assert_eq!(find("::twice", floats), Ok(Some(4)));
        let wrong = |name: &str, ty| find(name, ty).unwrap_err();
        assert_eq!(
            wrong("add<int>", floats),
            "the kernel 'add<int>' takes (int *) (at k.okl:1), and is to be called with (float *)"
        );
        assert_eq!(
            wrong("both", ints),
            "there are several kernels 'both' with (int *): at k.okl:5 and at k.okl:6; name one with its namespace, or give it \
             another name"
        );
        assert_eq!(find("a::add<long>", ints), Ok(None));
        let none = unknown(&table, "a::add<long>");
        assert!(
            none.starts_with("there is no kernel 'a::add<long>': there are add<float>, add<int>; "),
            "{none}"
        );
        let none = unknown(&table, "mul");
        assert!(
            none.contains("there are add<float>, add<int>, both, twice; "),
            "{none}"
        );
        let local = wrong("add<int>", "void (*)((anonymous namespace)::T *)");
        assert!(
            local.contains("without a name outside of its file"),
            "{local}"
        );
    }

    #[test]
    fn literals_answer_at_their_places_alone() {
        let (ints, floats) = ("void (*)(int *)", "void (*)(float *)");
        let literal = |name: &str, ty, code| Entry {
            is_literal: true,
            ..entry(name, ty, code)
        };
        let in_header = |code| Entry {
            place: "k.hpp:1".to_owned(),
            ..literal("both<int>", ints, code)
        };
        let table = [
            literal("one<int>", ints, 1),
            literal("named<int>", ints, 2),
            entry("named<int>", ints, 3),
            literal("both<int>", ints, 4),
            literal("both<int>", ints, 5),
            in_header(6),
            in_header(7),
            literal("right<int>", ints, 8),
            entry("right<int>", floats, 9),
        ];
        let find = |name: &str, ty, place: &str| find(&table, name, ty, place);
        assert_eq!(find("one<int>", ints, "k.okl:1"), Ok(Some(1)));
        assert_eq!(find("one<int>", floats, "k.okl:1"), Ok(None));
        // Another file may have another one.
        assert_eq!(find("one<int>", ints, "m.okl:1"), Ok(None));
        assert_eq!(find("named<int>", ints, "k.okl:2"), Ok(Some(2)));
        assert_eq!(find("named<int>", ints, "m.okl:2"), Ok(Some(3)));
        assert_eq!(find("both<int>", ints, "k.okl:5"), Ok(Some(5)));
        assert_eq!(find("both<int>", ints, "k.hpp:1"), Ok(None));
        assert_eq!(find("right<int>", ints, "k.okl:8"), Ok(Some(8)));
        assert!(find("right<int>", ints, "m.okl:1").is_err());
        assert!(!unknown(&table, "one<long>").contains("one<int>"));
    }
}
