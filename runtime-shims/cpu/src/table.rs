//! The kernels that programs find by their names.
//!
//! Guarantee: what is found has the name and the parameters that are asked for, and there is no other such kernel; all else is
//! an error that says what there is.

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
}

static TABLE: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

/// See [`okl_abi::cpu`].
///
/// # Safety
/// `kernel` is a kernel of the program's.
pub(crate) unsafe fn okl_cpu_add_kernel_v1(kernel: *mut c_void) {
    // SAFETY: the caller's promise.
    let entry = unsafe {
        let one = &*kernel.cast::<KernelInstance>();
        let (told, said, file) = (text(one.told), text(one.arguments), text(one.file));
        let told = Told::of(&told);
        Entry {
            key: kernel.addr(),
            name: plain(&[told.function.unwrap_or(""), arguments(&said)].concat()),
            ty: told.ty.to_owned(),
            code: one.code.expose_provenance(),
            place: format!("{file}:{}", one.line),
        }
    };
    let mut table = TABLE.lock().expect("no panic while it is locked");
    table.push(entry);
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
    let found = found(&name, ty).and_then(|found| found.map_or_else(|| made(&name, ty), Ok));
    match found {
        Ok(code) => std::ptr::with_exposed_provenance_mut(code),
        Err(why) => {
            let message = format!("{file}:{}: {why}", asked.line);
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
fn found(name: &str, ty: &str) -> Result<Option<usize>, String> {
    let table = TABLE.lock().expect("no panic while it is locked");
    find(&table, name, ty)
}

/// An instance that is made now.
fn made(name: &str, ty: &str) -> Result<usize, String> {
    let meanwhile = || found(name, ty).ok().flatten();
    match sources::instance(name, ty, meanwhile) {
        None => {
            let table = TABLE.lock().expect("no panic while it is locked");
            Err(unknown(&table, name.trim()))
        }
        Some(Err(why)) => Err(why),
        Some(Ok((code, key, place))) => {
            let entry = Entry {
                key,
                name: plain(name),
                ty: ty.to_owned(),
                code,
                place,
            };
            let mut table = TABLE.lock().expect("no panic while it is locked");
            if !table.contains(&entry) {
                table.push(entry);
            }
            Ok(code)
        }
    }
}

/// The code of the kernel of this name and type; nothing where none has the name.
fn find(table: &[Entry], name: &str, ty: &str) -> Result<Option<usize>, String> {
    let (wanted, shown) = (plain(name), name.trim());
    if is_of_one_file(ty) {
        return Err(format!(
            "a kernel whose parameters are of a type without a name outside of its file cannot be found by its name: '{shown}' \
             with {}",
            parameters(ty)
        ));
    }
    let named: Vec<&Entry> = table.iter().filter(|one| one.name == wanted).collect();
    let mut right: Vec<&&Entry> = named
        .iter()
        .filter(|one| plain(&one.ty) == plain(ty))
        .collect();
    right.dedup_by_key(|one| one.code);
    match (right.as_slice(), named.as_slice()) {
        ([one], _) => Ok(Some(one.code)),
        ([one, other, ..], _) => Err(format!(
            "there are several kernels '{shown}' with {}: at {} and at {}; name one with its namespace, or give it another name",
            parameters(ty),
            one.place,
            other.place
        )),
        ([], [_, ..]) => {
            let types = named
                .iter()
                .map(|one| format!("{} (at {})", parameters(&one.ty), one.place));
            Err(format!(
                "the kernel '{shown}' takes {}, and is to be called with {}",
                types.collect::<Vec<_>>().join(" or "),
                parameters(ty)
            ))
        }
        ([], []) => Ok(None),
    }
}

/// What is said of a name that no kernel has.
fn unknown(table: &[Entry], name: &str) -> String {
    const MOST: usize = 8;
    let base = |name: &str| {
        let path = name.len() - arguments(name).len();
        name[..path].rsplit("::").next().unwrap_or("").to_owned()
    };
    let wanted = base(&plain(name));
    let all = || table.iter().map(|one| one.name.as_str());
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
        let find = |name: &str, ty| find(&table, name, ty);
        assert_eq!(find("add < int >", ints), Ok(Some(1)));
        assert_eq!(find("add<float>", "void(*)(float*)"), Ok(Some(2)));
        assert_eq!(find("twice", floats), Ok(Some(4)));
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
}
