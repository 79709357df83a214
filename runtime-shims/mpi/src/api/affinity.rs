//! `OMP_AFFINITY_FORMAT` and the functions that print by it (OpenMP 5.2, sections 18.3.7 to 18.3.10).

use std::ffi::{CStr, c_char, c_void};

use crate::{cell::ProgramCell, team};

const DEFAULT_FORMAT: &str = "OMP: pid %P tid %i thread %n bound to OS proc set {%A}";

/// affinity-format-var; `None`: neither the program nor this file has asked for it yet.
static FORMAT: ProgramCell<Option<Vec<u8>>> = ProgramCell::new(None);

/// affinity-format-var.
pub(super) fn current_format() -> Vec<u8> {
    let from_user = || std::env::var_os("OMP_AFFINITY_FORMAT");
    let initial = || {
        use std::os::unix::ffi::OsStringExt;
        from_user().map_or_else(|| DEFAULT_FORMAT.into(), OsStringExt::into_vec)
    };
    FORMAT.with(|format| format.get_or_insert_with(initial).clone())
}

/// A text of the program.
///
/// # Safety
/// `text` is NUL-terminated or null.
unsafe fn text_of(text: *const c_void) -> Option<Vec<u8>> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller's text.
    let bytes = unsafe { CStr::from_ptr(text.cast::<c_char>()) }.to_bytes();
    (!bytes.is_empty()).then(|| bytes.to_vec())
}

/// Copies as much of `text` as there is room for, with a NUL; the length of all of it.
///
/// # Safety
/// `buffer` has room for `size` bytes, or `size` is 0.
unsafe fn hand_out(text: &[u8], buffer: *mut c_void, size: i64) -> i64 {
    let size = usize::try_from(size).unwrap_or(0);
    if size > 0 && !buffer.is_null() {
        let length = text.len().min(size - 1);
        let buffer = buffer.cast::<u8>();
        // SAFETY: `length + 1 <= size`.
        unsafe {
            buffer.copy_from_nonoverlapping(text.as_ptr(), length);
            *buffer.add(length) = 0;
        }
    }
    text.len() as i64
}

/// `omp_set_affinity_format`.
///
/// # Safety
/// `format` is a NUL-terminated text.
pub(crate) unsafe fn okl_mpi_omp_set_affinity_format(format: *mut c_void) {
    // SAFETY: the caller's text.
    let format = unsafe { text_of(format) }.unwrap_or_default();
    FORMAT.with(|current| *current = Some(format));
}

/// `omp_get_affinity_format`.
///
/// # Safety
/// `buffer` has room for `size` bytes.
pub(crate) unsafe fn okl_mpi_omp_get_affinity_format(buffer: *mut c_void, size: i64) -> i64 {
    // SAFETY: the caller's buffer.
    unsafe { hand_out(&current_format(), buffer, size) }
}

/// `omp_capture_affinity`.
///
/// # Safety
/// `buffer` has room for `size` bytes; `format` is a NUL-terminated text or null.
pub(crate) unsafe fn okl_mpi_omp_capture_affinity(
    buffer: *mut c_void,
    size: i64,
    format: *mut c_void,
) -> i64 {
    // SAFETY: the caller's text and buffer.
    unsafe {
        let format = text_of(format).unwrap_or_else(current_format);
        hand_out(&expand(&format, value_of), buffer, size)
    }
}

/// `omp_display_affinity`.
///
/// # Safety
/// `format` is a NUL-terminated text or null.
pub(crate) unsafe fn okl_mpi_omp_display_affinity(format: *mut c_void) {
    // SAFETY: the caller's text.
    let format = unsafe { text_of(format) }.unwrap_or_else(current_format);
    let mut line = expand(&format, value_of);
    line.push(0);
    // SAFETY: a NUL-terminated text. The C library's buffer keeps it in step with the program's output.
    unsafe { libc::puts(line.as_ptr().cast()) };
}

/// Replaces the fields `%[[[0].]size]type` of a format. A size pads, on the left where a dot precedes
/// it, there with zeros after `0.`.
fn expand(format: &[u8], value_of: impl Fn(&str) -> Option<String>) -> Vec<u8> {
    let mut text = Vec::with_capacity(2 * format.len());
    let mut rest = format;
    while let Some((&first, behind)) = rest.split_first() {
        rest = behind;
        if first != b'%' {
            text.push(first);
            continue;
        }
        if let Some(behind) = rest.strip_prefix(b"%") {
            text.push(b'%');
            rest = behind;
            continue;
        }
        let zeros = rest.strip_prefix(b"0");
        rest = zeros.unwrap_or(rest);
        let dot = rest.strip_prefix(b".");
        rest = dot.unwrap_or(rest);
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let width = rest[..digits].iter().fold(0usize, |width, digit| {
            width
                .saturating_mul(10)
                .saturating_add(usize::from(digit - b'0'))
        });
        rest = &rest[digits..];
        let Some(name) = field_name(&mut rest) else {
            break;
        };
        let value = value_of(&name)
            .unwrap_or_else(|| "undefined".to_owned())
            .into_bytes();
        let fill = width.min(1024).saturating_sub(value.len());
        match (dot, zeros) {
            (Some(_), Some(_)) => text.resize(text.len() + fill, b'0'),
            (Some(_), None) => text.resize(text.len() + fill, b' '),
            (None, _) => {}
        }
        text.extend_from_slice(&value);
        if dot.is_none() {
            text.resize(text.len() + fill, b' ');
        }
    }
    text
}

/// A field's one letter or its name in braces; `None` at the end of the format.
fn field_name(rest: &mut &[u8]) -> Option<String> {
    let length = match rest.first()? {
        b'{' => rest
            .iter()
            .position(|&byte| byte == b'}')
            .map_or(rest.len(), |end| end + 1),
        _ => 1,
    };
    let (name, behind) = rest.split_at(length);
    *rest = behind;
    let name = String::from_utf8_lossy(name);
    Some(
        name.trim_start_matches('{')
            .trim_end_matches('}')
            .to_owned(),
    )
}

/// The value of a field, by its letter or name.
fn value_of(name: &str) -> Option<String> {
    let value = match name {
        "t" | "team_num" => 0.to_string(),
        "T" | "num_teams" => 1.to_string(),
        "L" | "nesting_level" => team::level().to_string(),
        "n" | "thread_num" => team::thread_num().to_string(),
        "N" | "num_threads" => team::num_threads().to_string(),
        "a" | "ancestor_tnum" => match team::level() {
            0 => (-1).to_string(),
            level => super::okl_mpi_omp_get_ancestor_thread_num(level - 1).to_string(),
        },
        "H" | "host" => host(),
        "P" | "process_id" => std::process::id().to_string(),
        // SAFETY: no arguments.
        "i" | "native_thread_id" => unsafe { libc::gettid() }.to_string(),
        "A" | "thread_affinity" => processors(),
        _ => return None,
    };
    Some(value)
}

fn host() -> String {
    let mut name = [0u8; 256];
    // SAFETY: a live buffer, one byte of which stays 0.
    unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let end = name
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(name.len());
    String::from_utf8_lossy(&name[..end]).into_owned()
}

/// The processors this rank may run on.
fn processors() -> String {
    // SAFETY: a set of processors is plain data, and the call fills at most its size.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set);
        set
    };
    // SAFETY: numbers below the size of the set.
    let contains = |&number: &usize| unsafe { libc::CPU_ISSET(number, &set) };
    let numbers: Vec<usize> = (0..libc::CPU_SETSIZE as usize).filter(contains).collect();
    ranges(&numbers)
}

/// `0-3,8,9`: three and more in a row become a range.
fn ranges(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let parts: Vec<String> = runs
        .map(|run| match run {
            [first, .., last] if run.len() > 2 => format!("{first}-{last}"),
            _ => run
                .iter()
                .map(usize::to_string)
                .collect::<Vec<_>>()
                .join(","),
        })
        .collect();
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(format: &str) -> String {
        let value = |name: &str| match name {
            "n" | "thread_num" => Some("7".to_owned()),
            "H" | "host" => Some("vm".to_owned()),
            _ => None,
        };
        String::from_utf8(expand(format.as_bytes(), value)).unwrap()
    }

    #[test]
    fn fields_are_padded_as_libomp_pads_them() {
        for (format, text) in [
            (
                "x %n|%5n|%.5n|%05n|%0.8n|",
                "x 7|7    |    7|7    |00000007|",
            ),
            ("%{thread_num} %.10{host}", "7         vm"),
            ("100%% %q %{foo}", "100% undefined undefined"),
            ("end %", "end "),
            ("end %0.3", "end "),
            ("%{host", "vm"),
            ("", ""),
        ] {
            assert_eq!(expanded(format), text, "{format}");
        }
    }

    #[test]
    fn text_is_cut_to_the_buffer() {
        let mut buffer = [b'?'; 6];
        // SAFETY: 5 of 6 bytes.
        let length = unsafe { hand_out(b"abcdefgh", buffer.as_mut_ptr().cast(), 5) };
        assert_eq!((length, &buffer), (8, b"abcd\0?"));
        // SAFETY: no room is claimed.
        assert_eq!(unsafe { hand_out(b"abc", std::ptr::null_mut(), 0) }, 3);
    }

    #[test]
    fn processor_sets_are_short() {
        assert_eq!(ranges(&[0, 1]), "0,1");
        assert_eq!(ranges(&[0, 1, 2, 3, 8, 9, 12]), "0-3,8,9,12");
        assert_eq!(ranges(&[]), "");
    }
}
