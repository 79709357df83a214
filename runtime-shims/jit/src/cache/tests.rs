//! Nothing but what was stored for the same key is loaded, whatever becomes of files and folders.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::*;
use crate::forked;

/// A folder that is gone afterwards.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Relaxed);
        let name = format!("okl-cache-{}-{number}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    fn open(&self) -> Cache {
        self.opened(1 << 20).expect("a cache")
    }

    fn opened(&self, most: u64) -> Result<Cache, String> {
        let folder = self.0.clone();
        Cache::open(&settings::Cache { folder, most }, &library())
    }

    fn file(&self, key: &Key) -> PathBuf {
        self.0.join(format!("{}{IMAGE}", key.name))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The C library: it has a build id, and is loaded.
fn library() -> PathBuf {
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: an address of its; the name that is found stays.
    let name = unsafe {
        libc::dladdr(libc::malloc as *const std::ffi::c_void, found.as_mut_ptr());
        std::ffi::CStr::from_ptr(found.assume_init().dli_fname)
    };
    Path::new(std::ffi::OsStr::from_bytes(name.to_bytes())).to_owned()
}

fn code(number: u8) -> Code {
    let value = JitValue {
        kind: 1,
        place: 1,
        offset: 16,
        size: 1,
        variable: std::ptr::null_mut(),
    };
    Code {
        bitcode: b"bitcode".to_vec(),
        addresses: vec![1, 2],
        values: vec![value],
        bytes: vec![number],
        flags: 1,
        vector_bits: 128,
        unwanted: 2,
        unread: 3,
        unwinder: 0,
    }
}

fn image() -> Kept {
    Kept::Image(crate::image::tests::receives())
}

fn store(cache: &mut Cache, key: &Key) -> Result<(), String> {
    cache.store(key, &image(), &library(), &library())
}

fn is_there(cache: &mut Cache, key: &Key) -> bool {
    cache.load(key, 2).is_some_and(|one| one == image())
}

/// A cache in which one version is.
fn with_one() -> (Temporary, Cache, Key) {
    let folder = Temporary::new();
    let mut cache = folder.open();
    let key = cache.key(&code(0));
    assert!(cache.load(&key, 2).is_none());
    assert_eq!(store(&mut cache, &key), Ok(()));
    assert!(is_there(&mut cache, &key));
    (folder, cache, key)
}

#[test]
fn another_process_loads_what_one_stored() {
    let (folder, _, key) = with_one();
    let mut other = folder.open();
    assert!(is_there(&mut other, &key));
    let rights = fs::metadata(folder.file(&key))
        .expect("a file")
        .permissions();
    assert_eq!(rights.mode() & 0o777, 0o600);
    let rights = fs::metadata(&folder.0).expect("a folder").permissions();
    assert_eq!(rights.mode() & 0o777, 0o700);
}

#[test]
fn code_for_devices_is_kept_as_it_is() {
    let folder = Temporary::new();
    let mut cache = folder.open();
    let mut of_device = code(0);
    of_device.flags |= code_flags::DEVICE;
    let key = cache.key(&of_device);
    let text = Kept::Device(b".version 7.0".to_vec());
    assert_eq!(cache.store(&key, &text, &library(), &library()), Ok(()));
    assert_eq!(folder.open().load(&key, 2), Some(text));
    assert!(cache.load(&cache.key(&code(0)), 2).is_none());
}

#[test]
fn what_is_known_of_times_is_kept_beside_versions() {
    let (folder, cache, key) = with_one();
    let times = cache.key_of_times(&code(0));
    assert!(times.name != key.name && cache.bytes(&times).is_none());
    assert_eq!(cache.keep(&times, b"fast"), Ok(()));
    assert_eq!(folder.open().bytes(&times).as_deref(), Some(&b"fast"[..]));
    assert!(cache.bytes(&cache.key_of_times(&code(1))).is_none());
    let file = folder.file(&times);
    let content = fs::read(&file).expect("a file");
    fs::write(&file, &content[..content.len() - 1]).expect("it can be written");
    assert!(cache.bytes(&times).is_none());
}

#[test]
fn the_key_has_all_that_code_rests_on() {
    let (_folder, cache, key) = with_one();
    let changes: [fn(&mut Code); 11] = [
        |code| code.bitcode[0] ^= 1,
        |code| code.addresses.push(3),
        |code| code.values[0].offset += 8,
        |code| code.values[0].size += 1,
        |code| code.values[0].place += 1,
        |code| code.values[0].kind += 1,
        |code| code.bytes[0] ^= 1,
        |code| code.flags ^= 8,
        |code| code.vector_bits *= 2,
        |code| code.unwanted ^= 1,
        |code| code.unread ^= 4,
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut other = code(0);
        change(&mut other);
        let other = cache.key(&other);
        assert!(
            other.bytes != key.bytes && other.name != key.name,
            "{number}"
        );
    }
    // Where it is loaded is not what code is made of.
    let mut moved = code(0);
    moved.addresses = vec![7, 8];
    assert!(cache.key(&moved).bytes == key.bytes);
    let changes: [fn(&mut Cache); 3] = [
        |cache| cache.processor[4] ^= 1,
        |cache| cache.compiler[0] ^= 1,
        |cache| cache.mathematics[0] ^= 1,
    ];
    for change in changes {
        let mut other = Temporary::new().open();
        change(&mut other);
        assert!(other.key(&code(0)).name != key.name);
    }
}

#[test]
fn what_another_llvm_made_is_not_loaded() {
    let (folder, _, key) = with_one();
    for id in [None, Some(vec![0; 20])] {
        let mut cache = folder.open();
        cache.llvms.insert(library(), id);
        assert!(cache.load(&key, 2).is_none());
    }
}

#[test]
fn damaged_files_are_not_loaded() {
    let (folder, mut cache, key) = with_one();
    let file = folder.file(&key);
    let right = fs::read(&file).expect("a file");
    // There are file systems that wait for a disk where a file is written over.
    let write = |bytes: &[u8]| {
        fs::remove_file(&file).expect("it is ours");
        fs::write(&file, bytes).expect("it can be written");
    };
    for length in 0..right.len() {
        write(&right[..length]);
        assert!(cache.load(&key, 2).is_none(), "{length}");
    }
    for at in 0..right.len() {
        let mut wrong = right.clone();
        wrong[at] ^= 1 << (at % 8);
        write(&wrong);
        assert!(cache.load(&key, 2).is_none(), "{at}");
    }
    write(&[&right[..], b"x"].concat());
    assert!(cache.load(&key, 2).is_none());
    // What is right in itself may still say what is not there.
    for at in 16..right.len() {
        let mut wrong = right.clone();
        wrong[at] = 0xff;
        let sum = xxh3_64(&wrong[16..]);
        wrong[8..16].copy_from_slice(&sum.to_le_bytes());
        write(&wrong);
        let _ = cache.load(&key, 2);
    }
    assert_eq!(store(&mut cache, &key), Ok(()));
    assert!(is_there(&mut cache, &key));
}

#[test]
fn a_file_under_the_name_of_another_one_is_not_loaded() {
    let (folder, mut cache, key) = with_one();
    let other = cache.key(&code(1));
    fs::copy(folder.file(&key), folder.file(&other)).expect("it can be copied");
    assert!(cache.load(&other, 2).is_none());
}

#[test]
fn what_others_can_write_is_not_loaded() {
    let (folder, mut cache, key) = with_one();
    let file = folder.file(&key);
    let allow = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    for mode in [0o620, 0o602, 0o666] {
        allow(&file, mode);
        assert!(cache.load(&key, 2).is_none(), "{mode:o}");
    }
    allow(&file, 0o644);
    assert!(is_there(&mut cache, &key));
    for mode in [0o770, 0o707, 0o1777] {
        allow(&folder.0, mode);
        let why = folder.opened(1 << 20).err().expect("an error");
        assert_eq!(
            why,
            format!("{} can be written by others", folder.0.display())
        );
    }
    allow(&folder.0, 0o755);
    assert!(is_there(&mut folder.open(), &key));
}

#[test]
fn what_is_of_another_user_is_not_loaded() {
    // SAFETY: asks the system.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("skip what_is_of_another_user_is_not_loaded: it takes root to give a file away");
        return;
    }
    const OTHER: Option<u32> = Some(65534);
    let (folder, mut cache, key) = with_one();
    std::os::unix::fs::chown(folder.file(&key), OTHER, None).expect("root may");
    assert!(cache.load(&key, 2).is_none());
    std::os::unix::fs::chown(&folder.0, OTHER, None).expect("root may");
    let why = folder.opened(1 << 20).err().expect("an error");
    assert_eq!(
        why,
        format!("{} belongs to another user", folder.0.display())
    );
}

#[test]
fn links_are_not_followed() {
    let (folder, mut cache, key) = with_one();
    let (file, elsewhere) = (folder.file(&key), folder.0.join("elsewhere"));
    fs::rename(&file, &elsewhere).expect("it is there");
    symlink(&elsewhere, &file).expect("a link");
    assert!(cache.load(&key, 2).is_none());
    let before = fs::read(&elsewhere).expect("it is there");
    assert_eq!(store(&mut cache, &key), Ok(()));
    assert!(is_there(&mut cache, &key));
    assert_eq!(fs::read(&elsewhere).ok(), Some(before));
    // A lock is made nowhere else, either.
    let lock = folder.0.join(format!("{}{LOCK}", key.name));
    symlink(folder.0.join("victim"), &lock).expect("a link");
    assert!(matches!(cache.lock(&key), Locked::Here(None)));
    assert!(!folder.0.join("victim").exists());
    // No file at all.
    fs::remove_file(&file).expect("it is there");
    fs::create_dir(&file).expect("a folder");
    assert!(cache.load(&key, 2).is_none());
    assert!(store(&mut cache, &key).is_err());
    let left = fs::read_dir(&folder.0)
        .expect("a folder")
        .filter_map(Result::ok);
    let left = left.filter(|one| one.file_name().to_string_lossy().ends_with(NEW));
    assert_eq!(left.count(), 0);
}

#[test]
fn where_nothing_can_be_written_nothing_is_kept() {
    let nowhere = Temporary(PathBuf::from("/dev/null/okl"));
    let why = nowhere.opened(1 << 20).err().expect("an error");
    assert!(why.starts_with("/dev/null/okl: "), "{why}");
    let (folder, mut cache, key) = with_one();
    // As on a full disk: a file ends early.
    let is_told = forked(|| {
        let little = libc::rlimit {
            rlim_cur: 100,
            rlim_max: 100,
        };
        // SAFETY: changes this process alone.
        unsafe {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            libc::setrlimit(libc::RLIMIT_FSIZE, &little);
        }
        let other = cache.key(&code(1));
        store(&mut cache, &other).is_err() && cache.load(&other, 2).is_none()
    });
    assert_eq!(is_told, Some(true));
    assert_eq!(fs::read_dir(&folder.0).expect("a folder").count(), 1);
    fs::remove_dir_all(&folder.0).expect("it is ours");
    assert!(store(&mut cache, &key).is_err());
    assert!(matches!(cache.lock(&key), Locked::Here(None)));
}

#[test]
fn who_loads_while_others_store_gets_all_or_nothing() {
    let (folder, ..) = with_one();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut cache = folder.open();
                for _ in 0..100 {
                    let key = cache.key(&code(0));
                    assert_eq!(store(&mut cache, &key), Ok(()));
                    assert!(is_there(&mut cache, &key));
                }
            });
        }
    });
    assert_eq!(fs::read_dir(&folder.0).expect("a folder").count(), 1);
}

#[test]
fn one_process_makes_a_version() {
    let (folder, cache, key) = with_one();
    let other = folder.open();
    let held = cache.lock(&key);
    assert!(matches!(held, Locked::Here(Some(_))));
    assert!(matches!(other.lock(&key), Locked::Elsewhere));
    let another = other.key(&code(1));
    assert!(matches!(other.lock(&another), Locked::Here(Some(_))));
    drop(held);
    assert!(matches!(other.lock(&key), Locked::Here(Some(_))));
    // Nobody waits for a process that has ended.
    let ended = forked(|| {
        let held = folder.open().lock(&key);
        let is_held = matches!(held, Locked::Here(Some(_)));
        std::mem::forget(held);
        is_held
    });
    assert_eq!(ended, Some(true));
    assert!(matches!(other.lock(&key), Locked::Here(Some(_))));
    // Nor for one that was forked meanwhile, and goes on.
    let held = cache.lock(&key);
    // SAFETY: the process waits until it is ended.
    let process = unsafe {
        match libc::fork() {
            0 => {
                libc::pause();
                libc::_exit(0)
            }
            process => process,
        }
    };
    drop(held);
    let is_free = matches!(other.lock(&key), Locked::Here(Some(_)));
    // SAFETY: our own process.
    unsafe {
        libc::kill(process, libc::SIGKILL);
        libc::waitpid(process, std::ptr::null_mut(), 0);
    }
    assert!(is_free);
}

#[test]
fn what_was_used_least_recently_goes() {
    let folder = Temporary::new();
    let mut cache = folder.open();
    let key = cache.key(&code(0));
    assert_eq!(store(&mut cache, &key), Ok(()));
    let each = fs::metadata(folder.file(&key)).expect("a file").len();
    let mut cache = folder.opened(10 * each).expect("a cache");
    fs::write(folder.0.join("not-ours"), vec![0; 20 * each as usize]).expect("a file");
    let long_ago = SystemTime::now() - 10 * LEFT;
    let touch = |file: &Path, when| {
        let file = File::options().write(true).open(file).expect("a file");
        file.set_modified(when).expect("it is ours");
    };
    for left in [LOCK, NEW] {
        let file = folder.0.join(format!("0{left}"));
        fs::write(&file, "").expect("a file");
        touch(&file, long_ago);
    }
    let keys: Vec<_> = (0..10).map(|number| cache.key(&code(number))).collect();
    for (number, key) in keys.iter().enumerate() {
        assert_eq!(store(&mut cache, key), Ok(()));
        touch(
            &folder.file(key),
            long_ago + Duration::from_secs(number as u64),
        );
    }
    // It is used: that makes it the newest.
    assert!(is_there(&mut cache, &keys[0]));
    let last = cache.key(&code(10));
    assert_eq!(store(&mut cache, &last), Ok(()));
    let there: Vec<_> = keys
        .iter()
        .map(|key| cache.load(key, 2).is_some())
        .collect();
    let gone = [1, 2, 3, 4];
    assert_eq!(
        there,
        (0..10).map(|one| !gone.contains(&one)).collect::<Vec<_>>()
    );
    assert!(is_there(&mut cache, &last));
    assert!(folder.0.join("not-ours").exists());
    assert_eq!(fs::read_dir(&folder.0).expect("a folder").count(), 8);
    let mut small = folder.opened(each - 1).expect("a cache");
    assert!(small.load(&last, 2).is_none());
    assert!(store(&mut small, &last).is_err());
}
