//! Libraries that a program has made while it runs, by another program, and kept as versions are.
//!
//! Guarantee: what is loaded is what was made of the same bytes, by the same compiler; nobody else can put a library in. Of
//! several processes that want one, one makes it, and the others wait for that.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::cache::{Cache, Key, Locked};
use crate::settings::settings;

/// How long a process waits for another one's.
const LONGEST: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(20);

/// A library made of these bytes, and by `compiler`, a file with a build id: from the cache, or else by `make`. It is open under the name that
/// is returned, and stays.
pub fn library(
    of: &[u8],
    compiler: &Path,
    make: impl FnOnce() -> Result<Vec<u8>, String>,
) -> Result<String, String> {
    let cache = settings().cache.as_ref();
    let cache = cache.and_then(|settings| Cache::open(settings, compiler).ok());
    let bytes = match cache {
        Some(cache) => kept(&cache, &cache.key_of(of), make)?,
        None => make()?,
    };
    opened(&bytes).map_err(|why| format!("what was made cannot be loaded: {why}"))
}

fn kept(
    cache: &Cache,
    key: &Key,
    make: impl FnOnce() -> Result<Vec<u8>, String>,
) -> Result<Vec<u8>, String> {
    let start = Instant::now();
    let held = loop {
        if let Some(bytes) = cache.bytes(key) {
            return Ok(bytes);
        }
        match cache.lock(key) {
            Locked::Here(held) => break held,
            Locked::Elsewhere if start.elapsed() < LONGEST => sleep(PAUSE),
            Locked::Elsewhere => break None,
        }
    };
    // Another process may just have made it.
    if let Some(bytes) = cache.bytes(key) {
        return Ok(bytes);
    }
    let bytes = make()?;
    // It is there all the same.
    let _ = cache.keep(key, &bytes);
    drop(held);
    Ok(bytes)
}

/// A file that nobody can change any more, by a name that no other library of this process has.
fn opened(bytes: &[u8]) -> std::io::Result<String> {
    // SAFETY: a name that lives through the call; the file is nobody else's.
    let mut file = unsafe {
        match libc::memfd_create(
            c"okl-kernel".as_ptr(),
            libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING,
        ) {
            -1 => return Err(std::io::Error::last_os_error()),
            file => File::from_raw_fd(file),
        }
    };
    file.write_all(bytes)?;
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_WRITE;
    // SAFETY: an open file.
    unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) };
    Ok(format!("/proc/self/fd/{}", file.into_raw_fd()))
}
