//! A driver that is none: it does late what may be done late, and nothing that a driver would refuse. Kernels are functions.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::{Arc, Mutex};

use crate::cuda::CUDA;
use crate::device::{Device, Driver};
use crate::table::{Address, Functions, Handle, Status};

const ILLEGAL_ADDRESS: Status = 700;

/// What a kernel does, with the device's memory, blocks, work items, and the bytes of its arguments.
pub type Body =
    dyn Fn(&mut Memory, [u32; 3], [u32; 3], &[Vec<u8>]) -> Result<(), Status> + Send + Sync;

/// The device's memory: its pieces lie where nothing of the host's is.
#[derive(Default)]
pub struct Memory {
    pieces: BTreeMap<Address, Vec<u8>>,
    next: Address,
}

impl Memory {
    fn bytes(&mut self, address: Address, bytes: usize) -> Result<&mut [u8], Status> {
        let piece = self.pieces.range_mut(..=address).next_back();
        let (start, piece) = piece.ok_or(ILLEGAL_ADDRESS)?;
        let at = (address - start) as usize;
        piece.get_mut(at..at + bytes).ok_or(ILLEGAL_ADDRESS)
    }

    fn number(&mut self, address: Address) -> Result<&mut [u8], Status> {
        match address.is_multiple_of(8) {
            true => self.bytes(address, 8),
            false => Err(716),
        }
    }

    /// A number.
    pub fn read(&mut self, address: Address) -> Result<f64, Status> {
        Ok(f64::from_ne_bytes(
            (*self.number(address)?).try_into().unwrap(),
        ))
    }

    /// Writes one.
    pub fn write(&mut self, address: Address, value: f64) -> Result<(), Status> {
        self.number(address)?.copy_from_slice(&value.to_ne_bytes());
        Ok(())
    }
}

enum Queued {
    Copy(Address, Address, usize),
    Launch(Arc<Body>, [[u32; 3]; 2], Vec<Vec<u8>>),
}

struct Kernel {
    sizes: Vec<usize>,
    body: Arc<Body>,
}

/// The driver of the calling thread.
#[derive(Default)]
pub struct Fake {
    /// The names of functions that were called.
    pub calls: Vec<&'static str>,
    /// What a function returns from its next call on, in place of doing something.
    pub fails: BTreeMap<&'static str, Status>,
    /// Bytes of the device's memory.
    pub room: usize,
    /// What is told of a module that is refused.
    pub log: String,
    /// Its devices.
    pub devices: c_int,
    pub memory: Memory,
    kernels: BTreeMap<String, Kernel>,
    queue: Vec<Queued>,
    modules: BTreeSet<usize>,
    has_started: bool,
    is_entered: bool,
    broken: Status,
}

thread_local! {
    static FAKE: RefCell<Arc<Mutex<Fake>>> = RefCell::new(Arc::new(Mutex::new(Fake {
        room: 1 << 30,
        devices: 1,
        ..Fake::default()
    })));
}

/// Works with the calling thread's.
pub fn fake<R>(body: impl FnOnce(&mut Fake) -> R) -> R {
    let fake = mine();
    let mut fake = fake.lock().unwrap();
    body(&mut fake)
}

/// The calling thread's.
pub fn mine() -> Arc<Mutex<Fake>> {
    FAKE.with(|fake| fake.borrow().clone())
}

/// From now on the calling thread's is another one's.
pub fn share(other: &Arc<Mutex<Fake>>) {
    FAKE.with(|fake| fake.replace(other.clone()));
}

/// From now on there is a kernel of that name, with parameters of these sizes.
pub fn kernel(
    name: &str,
    sizes: &[usize],
    body: impl Fn(&mut Memory, [u32; 3], [u32; 3], &[Vec<u8>]) -> Result<(), Status>
    + Send
    + Sync
    + 'static,
) {
    let kernel = Kernel {
        sizes: sizes.to_vec(),
        body: Arc::new(body),
    };
    fake(|fake| fake.kernels.insert(name.to_owned(), kernel));
}

impl Fake {
    fn called(&mut self, name: &'static str, needs_context: bool) -> Result<(), Status> {
        self.calls.push(name);
        if let Some(&status) = self.fails.get(name) {
            return Err(status);
        }
        match () {
            () if !self.has_started && name != "start" => Err(3),
            () if needs_context && !self.is_entered => Err(201),
            () if needs_context && self.broken != 0 => Err(self.broken),
            () => Ok(()),
        }
    }

    /// Does what was queued.
    fn finish(&mut self) -> Result<(), Status> {
        for queued in std::mem::take(&mut self.queue) {
            let done = match queued {
                Queued::Copy(to, from, bytes) => {
                    let copy = self.memory.bytes(from, bytes).map(|from| from.to_vec());
                    copy.and_then(|copy| {
                        self.memory
                            .bytes(to, bytes)
                            .map(|to| to.copy_from_slice(&copy))
                    })
                }
                Queued::Launch(body, [blocks, items], arguments) => {
                    body(&mut self.memory, blocks, items, &arguments)
                }
            };
            if let Err(status) = done {
                self.broken = status;
                return Err(status);
            }
        }
        Ok(())
    }
}

fn status(result: Result<(), Status>) -> Status {
    result.err().unwrap_or(0)
}

macro_rules! functions {
    ($($name:ident($($param:ident: $type:ty),*), $needs_context:literal, |$fake:ident| $body:expr;)*) => {
        mod calls {
            use super::*;

            $(#[allow(unused_variables, unused_unsafe, reason = "not all need all")]
            pub(super) unsafe extern "C" fn $name($($param: $type),*) -> Status {
                super::fake(|$fake| {
                    status($fake.called(stringify!($name), $needs_context).and_then(|()| {
                        // SAFETY: what the table demands of callers.
                        unsafe { $body }
                    }))
                })
            })*
        }

        /// The driver's functions.
        pub fn functions() -> Functions {
            Functions { $($name: Some(calls::$name),)* error_name: Some(error_name), error_text: None, processor: None, parameters: None }
        }
    };
}

functions! {
    start(flags: c_uint), false, |fake| { fake.has_started = flags == 0; Ok(()) };
    version(version: *mut c_int), false, |fake| { *version = 12_000; Ok(()) };
    count(count: *mut c_int), false, |fake| { *count = fake.devices; Ok(()) };
    device(device: *mut c_int, number: c_int), false, |fake| {
        *device = 100 + number;
        if number < fake.devices { Ok(()) } else { Err(101) }
    };
    name(to: *mut c_char, length: c_int, device: c_int), false, |fake| {
        std::ptr::copy_nonoverlapping(c"Fake 1".as_ptr(), to, 7);
        Ok(())
    };
    attribute(value: *mut c_int, which: c_int, device: c_int), false, |fake| {
        *value = match which {
            1 | 2 => 1024,
            3 => 512,
            4 => 64,
            5 => i32::MAX,
            6 | 7 => 65535,
            39 => 1536,
            75 => 8,
            76 => 6,
            _ => return Err(1),
        };
        Ok(())
    };
    context(context: *mut Handle, device: c_int), false, |fake| {
        fake.modules.clear();
        *context = std::ptr::without_provenance_mut(0xc0);
        Ok(())
    };
    enter(context: Handle), false, |fake| {
        fake.is_entered = context.addr() == 0xc0;
        Ok(())
    };
    stream(stream: *mut Handle, flags: c_uint), true, |fake| {
        *stream = std::ptr::without_provenance_mut(0x50);
        Ok(())
    };
    wait(stream: Handle), true, |fake| { assert_eq!(stream.addr(), 0x50); fake.finish() };
    allocate(address: *mut Address, bytes: usize), true, |fake| {
        let used: usize = fake.memory.pieces.values().map(Vec::len).sum();
        if used + bytes > fake.room {
            return Err(2);
        }
        // Far apart, so that what is beyond an end is noticed.
        *address = 0x7000_0000_0000_0000 + fake.memory.next;
        fake.memory.next += (bytes as u64 + (1 << 20)).next_multiple_of(4096);
        fake.memory.pieces.insert(*address, vec![0xdd; bytes]);
        Ok(())
    };
    free(address: Address), true, |fake| {
        fake.finish()?;
        fake.memory.pieces.remove(&address).map(drop).ok_or(1)
    };
    upload(to: Address, from: *const c_void, bytes: usize), true, |fake| {
        fake.finish()?;
        let to = fake.memory.bytes(to, bytes).map_err(|_| 1)?;
        std::ptr::copy_nonoverlapping(from.cast(), to.as_mut_ptr(), bytes);
        Ok(())
    };
    download(to: *mut c_void, from: Address, bytes: usize, stream: Handle), true, |fake| {
        fake.finish()?;
        let from = fake.memory.bytes(from, bytes).map_err(|_| 1)?;
        std::ptr::copy_nonoverlapping(from.as_ptr(), to.cast(), bytes);
        Ok(())
    };
    copy(to: Address, from: Address, bytes: usize, stream: Handle), true, |fake| {
        fake.queue.push(Queued::Copy(to, from, bytes));
        Ok(())
    };
    load(module: *mut Handle, image: *const c_void, count: c_uint, options: *mut c_int, values: *mut *mut c_void), true, |fake| {
        let options = std::slice::from_raw_parts(options, count as usize);
        assert_eq!(options, [5, 6]);
        let text = CStr::from_ptr(image.cast());
        if !text.to_bytes().starts_with(b".version") {
            let log = fake.log.as_bytes();
            std::ptr::copy_nonoverlapping(log.as_ptr(), (*values).cast(), log.len());
            return Err(218);
        }
        assert!(fake.modules.insert(image.addr()), "loaded once");
        *module = image.cast_mut();
        Ok(())
    };
    function(function: *mut Handle, module: Handle, name: *const c_char), true, |fake| {
        assert!(fake.modules.contains(&module.addr()));
        let name = CStr::from_ptr(name).to_str().unwrap();
        match fake.kernels.get(name) {
            Some(kernel) => *function = std::ptr::from_ref(kernel).cast_mut().cast(),
            None => return Err(500),
        }
        Ok(())
    };
    function_attribute(value: *mut c_int, which: c_int, function: Handle), true, |fake| {
        *value = if which == 4 { 40 } else { 1024 };
        Ok(())
    };
    set_function_attribute(function: Handle, which: c_int, value: c_int), true, |fake| {
        assert_eq!(which, 8);
        Ok(())
    };
    occupancy(blocks: *mut c_int, function: Handle, items: c_int, shared: usize), true, |fake| {
        assert_eq!(shared, 0);
        *blocks = 768 / items;
        Ok(())
    };
    launch(
        function: Handle, bx: c_uint, by: c_uint, bz: c_uint, ix: c_uint, iy: c_uint, iz: c_uint, shared: c_uint,
        stream: Handle, arguments: *mut *mut c_void, extra: *mut *mut c_void
    ), true, |fake| {
        assert!(extra.is_null() && shared == 0 && stream.addr() == 0x50);
        assert!(by <= 65535 && bz <= 65535 && bx * by * bz > 0 && (1..=1024).contains(&(ix * iy * iz)));
        let kernel = &*function.cast::<Kernel>();
        let arguments = kernel.sizes.iter().enumerate().map(|(at, size)| {
            let address = (*arguments.add(at)).cast::<u8>();
            std::slice::from_raw_parts(address, *size).to_vec()
        });
        let arguments = arguments.collect();
        fake.queue.push(Queued::Launch(kernel.body.clone(), [[bx, by, bz], [ix, iy, iz]], arguments));
        Ok(())
    };
    event(event: *mut Handle, flags: c_uint), true, |fake| {
        *event = std::ptr::without_provenance_mut(0xe0);
        Ok(())
    };
    record(event: Handle, stream: Handle), true, |fake| Ok(());
    elapsed(milliseconds: *mut f32, start: Handle, end: Handle), true, |fake| {
        assert!(fake.queue.is_empty(), "it has ended");
        *milliseconds = 0.5;
        Ok(())
    };
}

unsafe extern "C" fn error_name(error: Status, text: *mut *const c_char) -> Status {
    let name = match error {
        2 => c"OUT_OF_MEMORY",
        46 => c"DEVICE_UNAVAILABLE",
        100 => c"NO_DEVICE",
        214 => c"ECC_UNCORRECTABLE",
        218 => c"INVALID_PTX",
        500 => c"NOT_FOUND",
        700 => c"ILLEGAL_ADDRESS",
        701 => c"LAUNCH_OUT_OF_RESOURCES",
        _ => c"UNKNOWN",
    };
    // SAFETY: where the caller wants it.
    unsafe { *text = name.as_ptr() };
    0
}

/// The driver.
pub fn driver() -> Driver {
    Driver::with(&CUDA, functions())
}

/// Its device.
pub fn device() -> Device {
    let driver = driver();
    driver.count().unwrap();
    Device::open(driver, 0).unwrap()
}
