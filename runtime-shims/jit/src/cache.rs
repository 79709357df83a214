//! Versions on disk: what one process has had made, others of the user's load, at the same time and later.
//!
//! Guarantee: an image that is loaded is what this LLVM and this okl make of this code, for these values, flags, this processor
//! and the mathematical functions that are there: the file has all of that, of code a hash of 128 bits, and it is compared. A file that is damaged, that is of another user or that others can
//! write is none. Nobody reads what is half written, and what cannot be written is done without.
//!
//! All is asked of the folder that was looked at in the beginning, whatever becomes of its name, and a file is copied before it
//! is looked at. One process makes a version, and holds a lock meanwhile, which the system takes back when it ends. Others try
//! again later.

use std::collections::HashMap;
use std::ffi::CString;
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use okl_abi::jit::{JitValue, code_flags, codes};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::identity;
use crate::image::{Image, put, taken};
use crate::settings;

/// What versions are made of. It is a copy: the file with the code may be gone meanwhile.
pub(crate) struct Code {
    pub(crate) bitcode: Vec<u8>,
    pub(crate) addresses: Vec<usize>,
    pub(crate) values: Vec<JitValue>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) flags: i64,
    pub(crate) vector_bits: i64,
    /// Bits of the receiver's arguments: see `JitRequest`.
    pub(crate) unwanted: i64,
    pub(crate) unread: i64,
    /// See `JitCode`.
    pub(crate) unwinder: usize,
}

/// What there is in a file besides what it was made of.
#[derive(Debug, PartialEq)]
pub(crate) enum Kept {
    /// Machine code.
    Image(Image),
    /// Code for a device.
    Device(Vec<u8>),
}

/// What the file of a version is called, and what it begins with.
pub(crate) struct Key {
    name: String,
    bytes: Vec<u8>,
    is_for_device: bool,
}

/// A folder with versions.
pub(crate) struct Cache {
    path: PathBuf,
    folder: File,
    most: u64,
    processor: Vec<u8>,
    /// Whose mathematical functions LLVM computes with.
    mathematics: Vec<u8>,
    /// The build ids of what makes versions, and of each LLVM that is met.
    compiler: Vec<u8>,
    llvms: HashMap<PathBuf, Option<Vec<u8>>>,
}

/// Whether a process may make a version.
pub(crate) enum Locked {
    /// It may.
    Here(Option<Held>),
    /// Another one makes it.
    Elsewhere,
}

/// What other processes wait for.
pub(crate) struct Held {
    file: File,
    name: CString,
    folder: i32,
}

/// The first bytes of a file, with the version of its form.
const FORM: &[u8; 8] = b"okl-jit2";
const SUFFIXES: [&str; 3] = [IMAGE, LOCK, NEW];
const IMAGE: &str = ".okl-jit";
const LOCK: &str = ".okl-jit-lock";
const NEW: &str = ".okl-jit-new";
/// What processes that ended early have left is taken away then.
const LEFT: Duration = Duration::from_secs(3600);
/// When a file was used last is kept no more exactly.
const USED: Duration = Duration::from_secs(60);
/// Bits of rights of others.
const OTHERS_WRITE: u32 = 0o022;

impl Cache {
    /// Opens it, and makes the folder if there is none; `compiler` is the library that makes versions.
    pub(crate) fn open(settings: &settings::Cache, compiler: &Path) -> Result<Self, String> {
        let path = &settings.folder;
        let said = |why: io::Error| format!("{}: {why}", path.display());
        let processor = identity::processor();
        if processor.is_empty() {
            return Err("code for this processor is not kept".to_owned());
        }
        let mathematics = identity::mathematics();
        let mathematics =
            mathematics.ok_or("it has mathematical functions of unknown libraries")?;
        let compiler = identity::of_file(compiler)
            .ok_or_else(|| format!("{} is not there, or has no build id", compiler.display()))?;
        let mut maker = DirBuilder::new();
        maker
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(said)?;
        let mut opens = OpenOptions::new();
        opens.read(true).custom_flags(libc::O_DIRECTORY);
        let folder = opens.open(path).map_err(said)?;
        is_ours(&folder.metadata().map_err(said)?)
            .map_err(|why| format!("{} {why}", path.display()))?;
        Ok(Self {
            path: path.clone(),
            folder,
            most: settings.most,
            processor,
            mathematics,
            compiler,
            llvms: HashMap::new(),
        })
    }

    pub(crate) fn key(&self, code: &Code) -> Key {
        let mut bytes = Vec::new();
        put(&mut bytes, &self.processor);
        put(&mut bytes, &self.mathematics);
        put(&mut bytes, &self.compiler);
        let (values, addresses) = (code.values.len() as i64, code.addresses.len() as i64);
        let numbers = [
            code.flags,
            code.vector_bits,
            code.unwanted,
            code.unread,
            addresses,
            values,
        ];
        let values = code.values.iter();
        let values = values.flat_map(|one| [one.kind, one.place, one.offset, one.size]);
        bytes.extend(numbers.into_iter().chain(values).flat_map(i64::to_le_bytes));
        put(&mut bytes, &code.bytes);
        put(&mut bytes, &codes::identity(&code.bitcode));
        Key::of(bytes, code.flags & code_flags::DEVICE != 0)
    }

    /// That of what is made of these bytes, by what makes versions and on this processor.
    pub(crate) fn key_of(&self, of: &[u8]) -> Key {
        let mut bytes = Vec::new();
        put(&mut bytes, &self.processor);
        put(&mut bytes, &self.compiler);
        put(&mut bytes, of);
        Key::of(bytes, false)
    }

    /// That of what is known of the times of such versions: with as many threads.
    pub(crate) fn key_of_times(&self, code: &Code) -> Key {
        let mut bytes = b"times".to_vec();
        put(&mut bytes, &self.key(code).bytes);
        let threads = std::env::var_os("OMP_NUM_THREADS").unwrap_or_default();
        put(&mut bytes, threads.as_bytes());
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        bytes.extend((cores as u64).to_le_bytes());
        Key::of(bytes, false)
    }

    /// What is there for it.
    pub(crate) fn load(&mut self, key: &Key, addresses: usize) -> Option<Kept> {
        let (content, file) = self.content(key)?;
        let mut rest = content.as_slice();
        let llvm = Path::new(std::ffi::OsStr::from_bytes(taken(&mut rest)?));
        let id = taken(&mut rest)?;
        if self.id_of(llvm) != Some(id) {
            return None;
        }
        let kept = match key.is_for_device {
            false => Kept::Image(Image::decode(rest, addresses)?),
            true => Kept::Device(rest.to_vec()),
        };
        file.used();
        Some(kept)
    }

    /// The bytes that are there for it.
    pub(crate) fn bytes(&self, key: &Key) -> Option<Vec<u8>> {
        let (content, file) = self.content(key)?;
        file.used();
        Some(content)
    }

    /// What is in its file behind the key.
    fn content(&self, key: &Key) -> Option<(Vec<u8>, Used)> {
        let flags = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let file = self.open_file(&named(&key.name, IMAGE), flags).ok()?;
        let data = file.metadata().ok()?;
        is_ours(&data).ok()?;
        if !data.is_file() || data.len() > self.most {
            return None;
        }
        let mut content = Vec::with_capacity(data.len() as usize);
        (&file).take(self.most).read_to_end(&mut content).ok()?;
        let (form, rest) = content.split_first_chunk::<8>()?;
        let (sum, mut rest) = rest.split_first_chunk::<8>()?;
        if form != FORM || u64::from_le_bytes(*sum) != xxh3_64(rest) {
            return None;
        }
        if taken(&mut rest)? != key.bytes {
            return None;
        }
        let age = data.modified().ok().and_then(|then| then.elapsed().ok());
        Some((rest.to_vec(), Used { file, age }))
    }

    fn id_of(&mut self, llvm: &Path) -> Option<&[u8]> {
        let known = self.llvms.entry(llvm.to_owned());
        let id = known.or_insert_with(|| identity::of_file(llvm));
        id.as_deref()
    }

    /// Lets this process make a version, if no other one does.
    pub(crate) fn lock(&self, key: &Key) -> Locked {
        let name = named(&key.name, LOCK);
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_NOFOLLOW;
        let Ok(file) = self.open_file(&name, flags) else {
            return Locked::Here(None);
        };
        // SAFETY: an open file.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
            let folder = self.folder.as_raw_fd();
            return Locked::Here(Some(Held { file, name, folder }));
        }
        match io::Error::last_os_error().kind() {
            io::ErrorKind::WouldBlock => Locked::Elsewhere,
            // There are file systems without.
            _ => Locked::Here(None),
        }
    }

    /// Keeps a version; `compiler` and `llvm` are the libraries that made it. An error is told of.
    pub(crate) fn store(
        &mut self,
        key: &Key,
        kept: &Kept,
        compiler: &Path,
        llvm: &Path,
    ) -> Result<(), String> {
        // Somebody may have replaced the files since.
        let id = identity::of_loaded(llvm).filter(|_| self.is_loaded(compiler));
        let Some(id) = id else {
            return Err("the libraries that make versions have no build ids".to_owned());
        };
        let mut rest = Vec::new();
        put(&mut rest, llvm.as_os_str().as_bytes());
        put(&mut rest, &id);
        match kept {
            Kept::Image(image) => rest.extend(image.encode()),
            Kept::Device(code) => rest.extend(code),
        }
        self.keep(key, &rest)
    }

    /// Keeps bytes. An error is told of.
    pub(crate) fn keep(&self, key: &Key, bytes: &[u8]) -> Result<(), String> {
        let mut rest = Vec::new();
        put(&mut rest, &key.bytes);
        rest.extend(bytes);
        let content = [&FORM[..], &xxh3_64(&rest).to_le_bytes(), &rest].concat();
        if content.len() as u64 > self.most {
            return Err("it is larger than all versions may be".to_owned());
        }
        let said = |why| format!("{}: {why}", self.path.display());
        self.write(key, &content).map_err(said)?;
        self.make_room();
        Ok(())
    }

    fn is_loaded(&self, compiler: &Path) -> bool {
        identity::of_loaded(compiler).is_some_and(|id| id == self.compiler)
    }

    fn write(&self, key: &Key, content: &[u8]) -> io::Result<()> {
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let own = format!("{}-{}-{}", key.name, std::process::id(), now.as_nanos());
        let new = named(&own, NEW);
        let mut file = self.open_file(&new, libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL)?;
        let written = file.write_all(content).and_then(|()| {
            let (name, folder) = (named(&key.name, IMAGE), self.folder.as_raw_fd());
            // SAFETY: names that live through the call, in an open folder.
            match unsafe { libc::renameat(folder, new.as_ptr(), folder, name.as_ptr()) } {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        });
        if written.is_err() {
            remove(self.folder.as_raw_fd(), &new);
        }
        written
    }

    /// Takes away what was used least recently, down to three quarters of what there may be; and what others have left.
    fn make_room(&self) {
        let Ok(all) = std::fs::read_dir(&self.path) else {
            return;
        };
        let now = SystemTime::now();
        let mut images = Vec::new();
        for one in all.filter_map(Result::ok) {
            let name = one.file_name();
            let Some(text) = name.to_str() else { continue };
            let suffix = SUFFIXES.iter().find(|suffix| text.ends_with(**suffix));
            let (Some(suffix), Ok(data)) = (suffix, one.metadata()) else {
                continue;
            };
            let name = named(text, "");
            let used = data.modified().unwrap_or(now);
            let is_left = now.duration_since(used).is_ok_and(|age| age > LEFT);
            match *suffix == IMAGE {
                true => images.push((used, data.len(), name)),
                false if is_left => remove(self.folder.as_raw_fd(), &name),
                false => {}
            }
        }
        let mut size: u64 = images.iter().map(|one| one.1).sum();
        if size <= self.most {
            return;
        }
        images.sort();
        for (_, bytes, name) in images {
            if size <= self.most / 4 * 3 {
                return;
            }
            remove(self.folder.as_raw_fd(), &name);
            size -= bytes;
        }
    }

    fn open_file(&self, name: &CString, flags: i32) -> io::Result<File> {
        const OWN: libc::c_uint = 0o600;
        let (folder, flags) = (self.folder.as_raw_fd(), flags | libc::O_CLOEXEC);
        // SAFETY: a name that lives through the call, in an open folder; the file is nobody else's.
        unsafe {
            match libc::openat(folder, name.as_ptr(), flags, OWN) {
                -1 => Err(io::Error::last_os_error()),
                file => Ok(File::from_raw_fd(file)),
            }
        }
    }
}

impl Key {
    pub(crate) fn of(bytes: Vec<u8>, is_for_device: bool) -> Self {
        Self {
            name: format!("{:032x}", xxh3_128(&bytes)),
            bytes,
            is_for_device,
        }
    }
}

/// A file of the folder, and how long ago it was used.
struct Used {
    file: File,
    age: Option<Duration>,
}

impl Used {
    /// It is used now.
    fn used(&self) {
        if self.age.is_some_and(|age| age > USED) {
            let _ = self.file.set_modified(SystemTime::now());
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Who has the file open already finds what was made, and then nobody has it open.
        remove(self.folder, &self.name);
        // A process that was forked meanwhile has the file, too.
        // SAFETY: an open file.
        unsafe { libc::flock(self.file.as_raw_fd(), libc::LOCK_UN) };
    }
}

fn named(name: &str, suffix: &str) -> CString {
    CString::new([name, suffix].concat()).expect("names of files have no NUL")
}

fn remove(folder: i32, name: &CString) {
    // SAFETY: a name that lives through the call, in an open folder.
    unsafe { libc::unlinkat(folder, name.as_ptr(), 0) };
}

/// Whether only this user can write it.
fn is_ours(data: &Metadata) -> Result<(), &'static str> {
    // SAFETY: asks the system.
    let own = unsafe { libc::geteuid() };
    if data.uid() != own {
        return Err("belongs to another user");
    }
    if data.mode() & OTHERS_WRITE != 0 {
        return Err("can be written by others");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
