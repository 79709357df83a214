//! A driver's functions, under names of ours: what launches kernels knows no others. Another kind of device is another
//! [`Kind`], a constant of data; functions of its driver that are called in another way have adapters.
//!
//! Guarantee: a function that a library lacks is an error where it is needed, and nothing before.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use okl_abi::gpu::DeviceParameter;
use okl_job::opened::Opened;

/// What a function returns: 0 where it did what it was asked.
pub type Status = c_int;
/// An address in the device's memory.
pub type Address = u64;
/// Something of the driver's: a context, a module, a function, a stream, an event.
pub type Handle = *mut c_void;

macro_rules! table {
    ($($(#[$doc:meta])* $name:ident($($param:ident: $type:ty),*);)*) => {
        /// The functions.
        #[derive(Clone, Copy, Default)]
        pub struct Functions {
            $($(#[$doc])* pub $name: Option<unsafe extern "C" fn($($type),*) -> Status>,)*
        }

        /// What a library calls them; empty where it has nothing like it.
        pub struct Names {
            $(#[doc = concat!("That of [`Functions::", stringify!($name), "`].")] pub $name: &'static CStr,)*
        }

        impl Functions {
            /// Those that the library has.
            ///
            /// # Safety
            /// Its functions of these names have these signatures.
            pub unsafe fn of(library: Opened, names: &Names) -> Self {
                Self {
                    $($name: match names.$name.is_empty() {
                        true => None,
                        // SAFETY: the caller's promise.
                        false => unsafe { library.symbol(names.$name) }.ok(),
                    },)*
                }
            }
        }
    };
}

table! {
    /// Starts the driver; flags are 0.
    start(flags: c_uint);
    /// Which version of its interface it has.
    version(version: *mut c_int);
    /// How many devices there are.
    count(count: *mut c_int);
    /// The device of a number.
    device(device: *mut c_int, number: c_int);
    /// Writes its name, with a NUL, into so many bytes.
    name(to: *mut c_char, length: c_int, device: c_int);
    /// One of its numbers.
    attribute(value: *mut c_int, which: c_int, device: c_int);
    /// Writes the name of its processor, with a NUL, into so many bytes.
    processor(to: *mut c_char, length: c_int, device: c_int);
    /// The context that all of a process share.
    context(context: *mut Handle, device: c_int);
    /// Has the calling thread work in a context.
    enter(context: Handle);
    /// A stream; flags are 0.
    stream(stream: *mut Handle, flags: c_uint);
    /// Waits until all is done that was queued there.
    wait(stream: Handle);
    /// Memory.
    allocate(address: *mut Address, bytes: usize);
    /// Gives it back, when all is done that was queued.
    free(address: Address);
    /// Copies to the device, when all is done that was queued. (What queues such copies may read the host's memory later, where
    /// the device can read it by itself.)
    upload(to: Address, from: *const c_void, bytes: usize);
    /// Queues a copy from the device.
    download(to: *mut c_void, from: Address, bytes: usize, stream: Handle);
    /// Queues a copy on the device.
    copy(to: Address, from: Address, bytes: usize, stream: Handle);
    /// Loads an image, with options.
    load(module: *mut Handle, image: *const c_void, count: c_uint, options: *mut c_int, values: *mut *mut c_void);
    /// A kernel of a module.
    function(function: *mut Handle, module: Handle, name: *const c_char);
    /// Says what it is passed: so many parameters. Drivers that know that have nothing like it.
    parameters(function: Handle, count: c_uint, parameters: *const DeviceParameter);
    /// One of its numbers.
    function_attribute(value: *mut c_int, which: c_int, function: Handle);
    /// Changes one of its numbers.
    set_function_attribute(function: Handle, which: c_int, value: c_int);
    /// How many blocks of so many work items a processor of the device runs at the same time; more shared memory.
    occupancy(blocks: *mut c_int, function: Handle, items: c_int, shared: usize);
    /// Queues it: blocks, work items of a block, bytes of shared memory, stream, addresses of arguments, nothing.
    launch(
        function: Handle, blocks_x: c_uint, blocks_y: c_uint, blocks_z: c_uint, items_x: c_uint, items_y: c_uint,
        items_z: c_uint, shared: c_uint, stream: Handle, arguments: *mut *mut c_void, extra: *mut *mut c_void
    );
    /// An event; flags are 0.
    event(event: *mut Handle, flags: c_uint);
    /// Queues that it happens.
    record(event: Handle, stream: Handle);
    /// Milliseconds between two that have happened.
    elapsed(milliseconds: *mut f32, start: Handle, end: Handle);
    /// The name of an error.
    error_name(error: Status, text: *mut *const c_char);
    /// What it is, in words.
    error_text(error: Status, text: *mut *const c_char);
}

/// What an error means to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// There is no device that can be used.
    NoDevice,
    /// The device's memory is full.
    OutOfMemory,
    /// The image is not for this device, or this driver.
    Refused,
    /// A kernel did something wrong: what, as the end of "it ...".
    Faulted(&'static str),
    /// A block needs more registers or shared memory than there are.
    Resources,
    /// The device does not answer any more.
    Lost,
    /// The library has no such function.
    Missing,
    /// Nothing of that.
    Other,
}

/// Numbers by which a driver is asked for those of a device; [`Attributes::NOTHING`] where it has nothing like it.
pub struct Attributes {
    /// Work items of a block.
    pub items: c_int,
    /// The same in each direction.
    pub items_of: [c_int; 3],
    /// Blocks in each direction.
    pub blocks_of: [c_int; 3],
    /// Of a function: work items of a block.
    pub items_of_function: c_int,
    /// Of a function: registers of a work item.
    pub registers_of_function: c_int,
    /// Work items that a processor of the device runs at the same time.
    pub items_at_once: c_int,
    /// Bytes of memory that a block can be given, in all.
    pub shared: c_int,
    /// Of a function: those that it may be given, which can be changed.
    pub shared_of_function: c_int,
    /// Whether it computes with numbers of single precision as IEEE 754 says, the smallest ones, too; else all do.
    pub single: c_int,
}

impl Attributes {
    /// No driver's number.
    pub const NOTHING: c_int = -1;
}

/// By what it is known whether a device runs an image.
pub enum Processors {
    /// By generations, `sm_90`: it runs those of older ones, too. Two of its numbers say which it is.
    Generations([c_int; 2]),
    /// By the name that [`Functions::processor`] tells.
    Names,
    /// It runs all.
    All,
}

/// A kind of driver.
pub struct Kind {
    /// What it is called in texts.
    pub words: &'static str,
    /// How to get it, as the end of "... or ".
    pub remedy: &'static str,
    /// The word of `OKL_BACKEND`.
    pub backend: &'static str,
    /// The form of its images.
    pub form: i64,
    /// The library; one in the folder of this library comes first where `is_ours`.
    pub library: &'static CStr,
    /// Whether it comes with okl.
    pub is_ours: bool,
    /// What it calls its functions.
    pub names: &'static Names,
    /// The functions that it has.
    ///
    /// # Safety
    /// As of [`Functions::of`].
    pub functions: unsafe fn(Opened, &Names) -> Functions,
    /// Which images its devices run.
    pub processors: Processors,
    /// What finds out more of a kernel that fails, as the end of "...; ".
    pub advice: &'static str,
    /// What its errors mean.
    pub failure: fn(Status) -> Failure,
    /// The numbers of its devices.
    pub attributes: &'static Attributes,
    /// Options of loading: a text into which it writes what is wrong, and its bytes; and the bytes of the image, where it
    /// has to be told.
    pub options: &'static [c_int],
    /// What a driver has to be at least for an image.
    pub needed: fn(&[u8]) -> Option<c_int>,
    /// A version in words.
    pub version: fn(c_int) -> String,
}
