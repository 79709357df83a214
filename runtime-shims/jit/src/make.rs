//! Makes a version: from the cache, or by `libokl_jit.so`, which is opened when it is first needed, and kept in the cache then.

use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Instant, SystemTime};

use okl_abi::jit::{COMPILE, JitAnswer, JitRequest, LINKS, code_flags};
use okl_job::opened::{Opened, own_folder};

use crate::cache::{Cache, Code, Kept, Key, Locked};
use crate::image::{self, Entry, Image};
use crate::report::{self, Tells};
use crate::settings::settings;
use crate::trial::Verdict;

/// A version that has been made.
pub(crate) struct Made {
    pub(crate) what: What,
    pub(crate) how: How,
}

/// What it is.
pub(crate) enum What {
    /// A function that hands over what the version has become.
    Entry(Entry),
    /// Code for a device.
    Device(Vec<u8>),
}

/// How it was made, and how many seconds that took.
#[derive(Clone, Copy, Debug)]
pub(crate) enum How {
    /// To simplify the code, and to make machine code.
    Compiled([f64; 2]),
    /// To load it.
    Cached(f64),
}

impl What {
    /// # Safety
    /// An image is one of this code, made for this processor.
    unsafe fn of(kept: Kept, code: &Code, receiver: *mut c_void) -> Result<Self, String> {
        match kept {
            // SAFETY: the caller's promise.
            Kept::Image(image) => unsafe {
                image
                    .map(&code.addresses, receiver, code.unwinder != 0)
                    .map(Self::Entry)
            },
            Kept::Device(code) => Ok(Self::Device(code)),
        }
    }
}

/// What came of it.
pub(crate) enum Attempt {
    /// It is there, or why it is not.
    Done(Result<Made, String>),
    /// Another process makes it.
    Elsewhere,
}

type Compile = unsafe extern "C" fn(*const JitRequest, *mut JitAnswer);

/// What makes versions, as far as that was needed.
pub(crate) struct Maker {
    /// Is called when a library was opened.
    opened: fn(),
    library: Option<Result<Compile, String>>,
    cache: Option<Option<Cache>>,
}

/// What was made just now, and what of it is kept: with the file of the LLVM that made it.
struct Fresh {
    what: What,
    seconds: [f64; 2],
    kept: Option<(Kept, PathBuf)>,
}

impl Maker {
    pub(crate) fn new(opened: fn()) -> Self {
        Self {
            opened,
            library: None,
            cache: None,
        }
    }

    /// Makes one. Where it `waits`, not while another process does.
    pub(crate) fn attempt(&mut self, code: &Code, receiver: *mut c_void, waits: bool) -> Attempt {
        let start = Instant::now();
        if code.unwinder != 0 && code.unwinder != image::unwinder() {
            return Attempt::Done(Err(image::NOT_UNWOUND.to_owned()));
        }
        let Self {
            opened,
            library,
            cache,
        } = self;
        let mut compiled = |code, receiver| {
            let library = library.get_or_insert_with(|| open(*opened));
            compiled(library.clone()?, code, receiver)
        };
        let Some(cache) = cache.get_or_insert_with(open_cache) else {
            let fresh = compiled(code, receiver);
            return Attempt::Done(fresh.map(Fresh::made));
        };
        let key = cache.key(code);
        let load = |cache: &mut Cache| {
            let kept = cache.load(&key, code.addresses.len())?;
            // SAFETY: an image of this code, made for this processor.
            let what = unsafe { What::of(kept, code, receiver).ok()? };
            let how = How::Cached(start.elapsed().as_secs_f64());
            Some(Made { what, how })
        };
        if let Some(made) = load(cache) {
            return Attempt::Done(Ok(made));
        }
        let held = match cache.lock(&key) {
            Locked::Here(held) => held,
            Locked::Elsewhere if waits => return Attempt::Elsewhere,
            Locked::Elsewhere => None,
        };
        // Another process may just have made it.
        if held.is_some()
            && let Some(made) = load(cache)
        {
            return Attempt::Done(Ok(made));
        }
        let fresh = compiled(code, receiver);
        if let Ok(Fresh {
            kept: Some(kept), ..
        }) = &fresh
            && let Err(why) = cache.store(&key, &kept.0, &compiler(), &kept.1)
        {
            tell(why);
        }
        drop(held);
        Attempt::Done(fresh.map(Fresh::made))
    }
}

/// What earlier runs have found of versions for some values, and where that is kept.
pub(crate) struct Earlier {
    key: Key,
    pub(crate) verdict: Option<Verdict>,
}

#[cfg(test)]
impl Earlier {
    pub(crate) fn of(verdict: Option<Verdict>) -> Self {
        let key = Key::of(Vec::new(), false);
        Self { key, verdict }
    }
}

impl Maker {
    /// What they have found; none where nothing is kept.
    pub(crate) fn earlier(&mut self, code: &Code) -> Option<Earlier> {
        let cache = self.cache.get_or_insert_with(open_cache).as_ref()?;
        let key = cache.key_of_times(code);
        let kept = cache.bytes(&key);
        let verdict = kept.and_then(|bytes| Verdict::read(&bytes, SystemTime::now()));
        Some(Earlier { key, verdict })
    }

    /// Keeps what this one has found.
    pub(crate) fn tell_later_runs(&mut self, earlier: &Earlier, verdict: Verdict) {
        if let Some(Some(cache)) = &self.cache
            && let Err(why) = cache.keep(&earlier.key, &verdict.write(SystemTime::now()))
        {
            tell(why);
        }
    }
}

impl Fresh {
    fn made(self) -> Made {
        Made {
            what: self.what,
            how: How::Compiled(self.seconds),
        }
    }
}

/// The library that compiles.
fn compiler() -> PathBuf {
    own_folder().join("libokl_jit.so")
}

fn open_cache() -> Option<Cache> {
    let cache = Cache::open(settings().cache.as_ref()?, &compiler());
    cache.map_err(tell).ok()
}

/// Why versions are not kept, the first time.
static WHY: OnceLock<String> = OnceLock::new();

struct NotKept;

impl Tells for NotKept {
    fn tell(&self) -> String {
        let why = WHY.get().map_or("", String::as_str);
        format!("okl: versions are not kept: {why}\n")
    }
}

fn tell(why: String) {
    if WHY.set(why).is_ok() {
        report::add(&NotKept);
    }
}

fn open(opened: fn()) -> Result<Compile, String> {
    let file = compiler();
    let name = CString::new(file.as_os_str().as_bytes()).expect("names of files have no NUL");
    let function = CString::new(COMPILE).expect("it has no NUL");
    let start = Instant::now();
    // SAFETY: the name has the version of the function's type.
    let compile = unsafe { Opened::new(&name)?.symbol(&function)? };
    if OPENING.set(start.elapsed().as_secs_f64()).is_ok() {
        report::add(&WasOpened);
    }
    opened();
    Ok(compile)
}

/// Seconds that opening it took, with LLVM.
static OPENING: OnceLock<f64> = OnceLock::new();

struct WasOpened;

impl Tells for WasOpened {
    fn tell(&self) -> String {
        let milliseconds = OPENING.get().map_or(0.0, |seconds| seconds * 1e3);
        format!("okl: LLVM was opened in {milliseconds:.1} ms\n")
    }
}

/// Has it compiled, links it, and maps it.
fn compiled(compile: Compile, code: &Code, receiver: *mut c_void) -> Result<Fresh, String> {
    let request = JitRequest {
        bitcode: code.bitcode.as_ptr().cast_mut().cast(),
        length: code.bitcode.len() as i64,
        addresses: code.addresses.as_ptr().cast_mut().cast(),
        address_count: code.addresses.len() as i64,
        values: code.values.as_ptr().cast_mut().cast(),
        value_count: code.values.len() as i64,
        bytes: code.bytes.as_ptr().cast_mut().cast(),
        flags: code.flags,
        receiver,
        unwanted: code.unwanted,
        unread: code.unread,
        vector_bits: code.vector_bits,
    };
    let mut message = [0u8; 512];
    let none = std::ptr::null_mut;
    let mut answer = JitAnswer {
        object: none(),
        object_length: 0,
        names: none(),
        receiver: -1,
        llvm: none(),
        entry: none(),
        simplify: 0,
        generate: 0,
        message: message.as_mut_ptr().cast(),
        room: message.len() as i64,
    };
    // SAFETY: arrays of these lengths, of code that the pass has left, and room for a message.
    unsafe { compile(&request, &mut answer) };
    let mut seconds = [answer.simplify, answer.generate].map(|one| one as f64 * 1e-9);
    if !LINKS && !answer.entry.is_null() {
        // SAFETY: that is its type.
        let entry = unsafe { std::mem::transmute::<*mut c_void, Entry>(answer.entry) };
        let kept = None;
        return Ok(Fresh {
            what: What::Entry(entry),
            seconds,
            kept,
        });
    }
    if answer.object.is_null() {
        let text = CStr::from_bytes_until_nul(&message).unwrap_or_default();
        return Err(text.to_string_lossy().into_owned());
    }
    let start = Instant::now();
    // SAFETY: the answer's object, of that length, one name for each address, and the name of a file, until it is asked again;
    // the image is of this code, made for this processor.
    let (what, kept) = unsafe {
        let object = answer.object.cast::<u8>().cast_const();
        let object = std::slice::from_raw_parts(object, answer.object_length as usize);
        let llvm = CStr::from_ptr(answer.llvm.cast());
        let llvm = Path::new(OsStr::from_bytes(llvm.to_bytes())).to_owned();
        if code.flags & code_flags::DEVICE != 0 {
            return Ok(Fresh {
                what: What::Device(object.to_vec()),
                seconds,
                kept: Some((Kept::Device(object.to_vec()), llvm)),
            });
        }
        let mut at = answer.names.cast::<c_char>().cast_const();
        let names = code.addresses.iter().map(|_| {
            let name = CStr::from_ptr(at);
            at = at.add(name.count_bytes() + 1);
            name.to_str().unwrap_or_default()
        });
        let names: Vec<_> = names.collect();
        let image = Image::link(object, &names, usize::try_from(answer.receiver).ok());
        let image = image.map_err(|why| format!("it cannot be linked: {why}"))?;
        let what = What::Entry(image.map(&code.addresses, receiver, code.unwinder != 0)?);
        (what, Some((Kept::Image(image), llvm)))
    };
    seconds[1] += start.elapsed().as_secs_f64();
    Ok(Fresh {
        what,
        seconds,
        kept,
    })
}
