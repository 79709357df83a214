//! A device, and what it is asked to do: one stream, in which all is done in the order in which it is asked for.
//!
//! Guarantee: nothing panics, and nothing is asked of a driver before it is known to have it. What the host reads is there
//! when a function returns; kernels may still run.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use okl_abi::gpu::{DeviceParameter, form};
use okl_job::opened::{Opened, own_folder};

use crate::table::{Address, Attributes, Failure, Functions, Handle, Kind, Processors, Status};
use crate::timeline::{Copied, Event, Timeline, now};

/// What a driver did not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What that means.
    pub failure: Failure,
    /// The function, and what it says: `cuInit: CUDA_ERROR_NO_DEVICE, no CUDA-capable device is detected`.
    pub text: String,
}

/// A driver that is open.
#[derive(Clone, Copy)]
pub struct Driver {
    /// What it is one of.
    pub kind: &'static Kind,
    functions: Functions,
}

// SAFETY: functions of a library that stays open; drivers are called from any thread.
unsafe impl Send for Driver {}
// SAFETY: as above.
unsafe impl Sync for Driver {}

/// Calls a function of the table, with arguments that are as it demands.
macro_rules! call {
    ($driver:expr, $function:ident($($argument:expr),* $(,)?)) => {{
        let (driver, name): (&Driver, &CStr) = (&$driver, $driver.kind.names.$function);
        match driver.functions.$function {
            // SAFETY: the arguments are of the table's types; pointers among them are to what lives longer.
            Some(function) => driver.check(name, unsafe { function($($argument),*) }),
            None => Err(driver.missing(name)),
        }
    }};
}

impl Driver {
    /// Opens the library. An error says why it cannot be.
    pub fn open(kind: &'static Kind) -> Result<Self, String> {
        let name = kind.library.to_string_lossy();
        let beside = own_folder().join(Path::new(&*name));
        let opened = match kind.is_ours && beside.exists() {
            true => {
                let beside = CString::new(beside.as_os_str().as_bytes());
                Opened::new(&beside.map_err(|why| why.to_string())?)
            }
            false => Opened::new(kind.library),
        };
        // SAFETY: the names are those of functions with the table's signatures.
        let functions = unsafe { (kind.functions)(opened?, kind.names) };
        Ok(Self::with(kind, functions))
    }

    /// One of these functions.
    pub fn with(kind: &'static Kind, functions: Functions) -> Self {
        Self { kind, functions }
    }

    fn missing(&self, name: &CStr) -> Problem {
        Problem {
            failure: Failure::Missing,
            text: format!("it has no {}", name.to_string_lossy()),
        }
    }

    fn check(&self, name: &CStr, status: Status) -> Result<(), Problem> {
        match status {
            0 => Ok(()),
            _ => Err(Problem {
                failure: (self.kind.failure)(status),
                text: format!("{}: {}", name.to_string_lossy(), self.words(status)),
            }),
        }
    }

    /// What it says of an error.
    fn words(&self, status: Status) -> String {
        let text =
            |function: Option<unsafe extern "C" fn(Status, *mut *const c_char) -> Status>| {
                let mut text = ptr::null();
                // SAFETY: writes where a text is that stays.
                let told = unsafe { function?(status, &mut text) };
                // SAFETY: as above.
                (told == 0 && !text.is_null())
                    .then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy())
            };
        match (
            text(self.functions.error_name),
            text(self.functions.error_text),
        ) {
            (Some(name), Some(words)) => format!("{name}, {words}"),
            (Some(words), None) | (None, Some(words)) => words.into_owned(),
            (None, None) => format!("error {status}"),
        }
    }

    /// Starts it; how many devices there are, which is not 0.
    pub fn count(&self) -> Result<usize, Problem> {
        call!(self, start(0))?;
        let mut count: c_int = 0;
        call!(self, count(&mut count))?;
        match usize::try_from(count) {
            Ok(count) if count > 0 => Ok(count),
            _ => Err(Problem {
                failure: Failure::NoDevice,
                text: "the driver finds none".to_owned(),
            }),
        }
    }
}

/// How large what is launched may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Work items that a processor of it runs at the same time.
    pub items_at_once: Option<c_int>,
    /// Bytes of memory that a block can be given.
    pub shared: Option<u32>,
    /// Work items of a block.
    pub items: u32,
    /// The same in each direction.
    pub items_of: [u32; 3],
    /// Blocks in each direction.
    pub blocks_of: [u32; 3],
}

/// Two moments of the stream.
#[derive(Clone, Copy)]
pub struct Span {
    start: Handle,
    end: Handle,
}

/// A device as far as it loads code, which any thread may have it do.
#[derive(Clone, Copy)]
pub struct Loader {
    /// Whose it is.
    pub driver: Driver,
    /// Whether it computes with numbers of single precision as IEEE 754 says.
    pub is_exact: bool,
    context: Handle,
}

// SAFETY: handles of a driver, which may be used by any thread in whose context they are.
unsafe impl Send for Loader {}

impl Loader {
    /// Loads an image, behind which there is a NUL where it is a text. An error has what the driver says of the image with it.
    ///
    /// # Safety
    /// It is an image.
    unsafe fn load(&self, image: &[u8]) -> Result<Handle, (Problem, String)> {
        const LOG: usize = 8192;
        let mut log = vec![0_u8; LOG];
        let mut options = self.driver.kind.options.to_vec();
        let mut values: [*mut c_void; 3] = [
            log.as_mut_ptr().cast(),
            ptr::without_provenance_mut(LOG),
            ptr::without_provenance_mut(image.len()),
        ];
        let mut module = ptr::null_mut();
        let loaded = call!(
            self.driver,
            load(
                &mut module,
                image.as_ptr().cast(),
                options.len() as c_uint,
                options.as_mut_ptr(),
                values.as_mut_ptr()
            )
        );
        loaded.map(|()| module).map_err(|problem| {
            log[LOG - 1] = 0;
            let text = CStr::from_bytes_until_nul(&log).map_or("".into(), CStr::to_string_lossy);
            (problem, text.trim().to_owned())
        })
    }

    /// A kernel of a module.
    fn function(
        &self,
        module: Handle,
        name: &CStr,
        parameters: &[DeviceParameter],
    ) -> Result<Handle, Problem> {
        let mut function = ptr::null_mut();
        call!(self.driver, function(&mut function, module, name.as_ptr()))?;
        if self.driver.functions.parameters.is_some() {
            let count = parameters.len() as c_uint;
            call!(
                self.driver,
                parameters(function, count, parameters.as_ptr())
            )?;
        }
        Ok(function)
    }

    /// A kernel of an image that was made while the program runs, with a NUL behind it, whose blocks have so many work items, and
    /// may be given so many bytes. The thread works with the device from now on.
    pub fn load_kernel(
        &self,
        image: &[u8],
        name: &CStr,
        parameters: &[DeviceParameter],
        (items, shared): (u32, u32),
    ) -> Result<Handle, String> {
        let told = |problem: Problem| format!("the driver refuses it: {}", problem.text);
        call!(self.driver, enter(self.context)).map_err(told)?;
        let image = match self.driver.kind.form {
            form::PTX => image,
            // It is no text.
            _ => &image[..image.len() - 1],
        };
        // SAFETY: an image that the compiler made.
        let module = unsafe { self.load(image) };
        let module = module.map_err(|(problem, log)| format!("{}\n{log}", told(problem)))?;
        let function = self.function(module, name, parameters).map_err(told)?;
        if let Some(most) = self.most_items(function).filter(|most| *most < items) {
            return Err(format!(
                "its blocks have {items} work items, and may have {most}"
            ));
        }
        if shared > 0 && self.gives_memory() {
            self.share(function, shared).map_err(told)?;
        }
        Ok(function)
    }

    /// How many work items a block of a kernel may have, where that is known.
    fn most_items(&self, function: Handle) -> Option<u32> {
        let mut most: c_int = 0;
        let which = self.driver.kind.attributes.items_of_function;
        call!(self.driver, function_attribute(&mut most, which, function)).ok()?;
        u32::try_from(most).ok().filter(|most| *most > 0)
    }

    fn gives_memory(&self) -> bool {
        !self.driver.kind.names.set_function_attribute.is_empty()
    }

    fn share(&self, function: Handle, bytes: u32) -> Result<(), Problem> {
        let which = self.driver.kind.attributes.shared_of_function;
        let bytes = c_int::try_from(bytes).unwrap_or(c_int::MAX);
        call!(self.driver, set_function_attribute(function, which, bytes))
    }
}

/// A device, in whose context this process works.
pub struct Device {
    /// Whose it is.
    pub driver: Driver,
    /// Its name.
    pub name: String,
    /// The driver's version.
    pub version: c_int,
    /// What it is called where code is made for it: `sm_90`, `gfx942`; empty where any code is for it.
    pub processor: String,
    /// What it can be asked.
    pub limits: Limits,
    /// Whether it computes with numbers of single precision as IEEE 754 says.
    pub is_exact: bool,
    /// Where it is noted when something was done, if the user wants that.
    pub timeline: Option<RefCell<Timeline>>,
    context: Handle,
    stream: Handle,
}

// SAFETY: handles of a driver, which may be used by any thread in whose context they are.
unsafe impl Send for Device {}

impl Device {
    /// The device of a number.
    pub fn open(driver: Driver, number: usize) -> Result<Self, Problem> {
        let mut device: c_int = 0;
        call!(driver, device(&mut device, number as c_int))?;
        let mut context = ptr::null_mut();
        call!(driver, context(&mut context, device))?;
        call!(driver, enter(context))?;
        let mut stream = ptr::null_mut();
        call!(driver, stream(&mut stream, 0))?;
        let mut name = [0_u8; 256];
        let named = call!(driver, name(name.as_mut_ptr().cast(), 255, device));
        let name = match named.is_ok() {
            true => CStr::from_bytes_until_nul(&name).map_or("".into(), CStr::to_string_lossy),
            false => "".into(),
        };
        let mut version: c_int = 0;
        call!(driver, version(&mut version))?;
        let number_of = |which: c_int| {
            let mut value: c_int = 0;
            call!(driver, attribute(&mut value, which, device)).map(|()| value)
        };
        let of = driver.kind.attributes;
        let limit = |which, usual| {
            number_of(which)
                .ok()
                .and_then(|one| u32::try_from(one).ok())
                .filter(|one| *one > 0)
                .unwrap_or(usual)
        };
        let limits = Limits {
            items_at_once: number_of(of.items_at_once).ok(),
            shared: number_of(of.shared)
                .ok()
                .and_then(|one| u32::try_from(one).ok()),
            items: limit(of.items, 1024),
            items_of: [
                limit(of.items_of[0], 1024),
                limit(of.items_of[1], 1024),
                limit(of.items_of[2], 64),
            ],
            blocks_of: [
                limit(of.blocks_of[0], i32::MAX as u32),
                limit(of.blocks_of[1], 65535),
                limit(of.blocks_of[2], 65535),
            ],
        };
        let is_exact = match of.single {
            Attributes::NOTHING => true,
            which => number_of(which).is_ok_and(|one| one != 0),
        };
        let processor = match driver.kind.processors {
            Processors::Generations([major, minor]) => {
                format!("sm_{}", 10 * number_of(major)? + number_of(minor)?)
            }
            Processors::Names => {
                let mut name = [0_u8; 256];
                call!(driver, processor(name.as_mut_ptr().cast(), 255, device))?;
                let name = CStr::from_bytes_until_nul(&name).unwrap_or_default();
                // Behind it stand what can be turned on and off; code that does not say how runs with either.
                let name = name.to_string_lossy();
                name.split(':').next().unwrap_or_default().to_owned()
            }
            Processors::All => String::new(),
        };
        let name = match name.trim() {
            "" => format!("{} device {number}", driver.kind.words),
            name => name.to_owned(),
        };
        Ok(Self {
            driver,
            name,
            version,
            processor,
            limits,
            is_exact,
            timeline: None,
            context,
            stream,
        })
    }

    /// Has the calling thread work with it.
    pub fn enter(&self) -> Result<(), Problem> {
        call!(self.driver, enter(self.context))
    }

    /// So many bytes of its memory.
    pub fn allocate(&self, bytes: usize) -> Result<Address, Problem> {
        let mut address = 0;
        let allocated = call!(self.driver, allocate(&mut address, bytes.max(1)));
        allocated.map_err(|problem| Problem {
            text: format!("for {bytes} bytes, {}", problem.text),
            ..problem
        })?;
        Ok(address)
    }

    /// Gives memory back.
    pub fn free(&self, address: Address) -> Result<(), Problem> {
        call!(self.driver, free(address))
    }

    /// Copies to the device, when all is done that was asked for before; what is copied may change afterwards.
    ///
    /// # Safety
    /// `from` has so many bytes.
    pub unsafe fn upload(&self, to: Address, from: *const u8, bytes: usize) -> Result<(), Problem> {
        self.noted(Copied::Up, bytes, || {
            call!(self.driver, upload(to, from.cast(), bytes))
        })
    }

    /// Copies from the device, when all is done that was asked for before.
    ///
    /// # Safety
    /// `to` has so many bytes.
    pub unsafe fn download(&self, to: *mut u8, from: Address, bytes: usize) -> Result<(), Problem> {
        self.noted(Copied::Down, bytes, || {
            call!(self.driver, download(to.cast(), from, bytes, self.stream))?;
            self.wait()
        })
    }

    /// The same of several ranges, each with where it goes; waits once.
    ///
    /// # Safety
    /// There are as many bytes.
    pub unsafe fn download_all(&self, ranges: &[(*mut u8, Address, usize)]) -> Result<(), Problem> {
        for &(to, from, bytes) in ranges {
            match self.timeline {
                // SAFETY: the caller's promise.
                Some(_) => unsafe { self.download(to, from, bytes)? },
                None => call!(self.driver, download(to.cast(), from, bytes, self.stream))?,
            }
        }
        match ranges.is_empty() || self.timeline.is_some() {
            true => Ok(()),
            false => self.wait(),
        }
    }

    /// Copies on the device.
    pub fn copy(&self, to: Address, from: Address, bytes: usize) -> Result<(), Problem> {
        self.noted(Copied::Within, bytes, || {
            call!(self.driver, copy(to, from, bytes, self.stream))
        })
    }

    /// Copies, and notes when. Then it begins when all is done that was asked for before.
    fn noted(
        &self,
        way: Copied,
        bytes: usize,
        copy: impl FnOnce() -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let Some(timeline) = &self.timeline else {
            return copy();
        };
        self.wait()?;
        let start = now();
        copy()?;
        if way == Copied::Within {
            self.wait()?;
        }
        let mut timeline = timeline.borrow_mut();
        timeline.keep(Event::Copy(way, bytes), start, now());
        Ok(())
    }

    /// Waits until all is done that was asked for.
    pub fn wait(&self) -> Result<(), Problem> {
        call!(self.driver, wait(self.stream))
    }

    /// See [`Loader`].
    pub fn loader(&self) -> Loader {
        Loader {
            driver: self.driver,
            is_exact: self.is_exact,
            context: self.context,
        }
    }

    /// Loads an image, behind which there is a NUL where it is a text. An error has what the driver says of the image with it.
    ///
    /// # Safety
    /// It is an image.
    pub unsafe fn load(&self, image: &[u8]) -> Result<Handle, (Problem, String)> {
        // SAFETY: the caller's promise.
        unsafe { self.loader().load(image) }
    }

    /// A kernel of a module, and how many work items a block of it may have, where that is known.
    pub fn function(
        &self,
        module: Handle,
        name: &CStr,
        parameters: &[DeviceParameter],
    ) -> Result<(Handle, Option<u32>), Problem> {
        let loader = self.loader();
        let function = loader.function(module, name, parameters)?;
        Ok((function, loader.most_items(function)))
    }

    /// What a kernel needs of the device in blocks of so many work items: registers of each, and which part of the work items
    /// that the device could run at the same time it does run. `None` where that is not known: an emulated one does not
    /// allocate registers.
    pub fn needs(&self, function: Handle, items: u32, shared: u32) -> Option<(u32, f64)> {
        if self.driver.kind.is_ours {
            return None;
        }
        let of = self.driver.kind.attributes;
        let (mut registers, mut blocks): (c_int, c_int) = (0, 0);
        let asked = call!(
            self.driver,
            function_attribute(&mut registers, of.registers_of_function, function)
        );
        asked.ok()?;
        let items = c_int::try_from(items).ok()?;
        let shared = shared as usize;
        call!(self.driver, occupancy(&mut blocks, function, items, shared)).ok()?;
        let most = self.limits.items_at_once.filter(|most| *most > 0)?;
        let part = f64::from(blocks) * f64::from(items) / f64::from(most);
        Some((u32::try_from(registers).ok()?, part))
    }

    /// Whether blocks are given memory when they are launched; else they have what their code says.
    pub fn gives_memory(&self) -> bool {
        self.loader().gives_memory()
    }

    /// Allows that blocks of a kernel are given so many bytes.
    pub fn share(&self, function: Handle, bytes: u32) -> Result<(), Problem> {
        self.loader().share(function, bytes)
    }

    /// Has a kernel run, whose blocks are given so many bytes.
    ///
    /// # Safety
    /// The arguments are those of the kernel.
    pub unsafe fn launch(
        &self,
        function: Handle,
        blocks: [u32; 3],
        items: [u32; 3],
        shared: u32,
        arguments: &mut [*mut c_void],
    ) -> Result<(), Problem> {
        let ([bx, by, bz], [ix, iy, iz]) = (blocks, items);
        call!(
            self.driver,
            launch(
                function,
                bx,
                by,
                bz,
                ix,
                iy,
                iz,
                shared,
                self.stream,
                arguments.as_mut_ptr(),
                ptr::null_mut()
            )
        )
    }

    /// Two events, for moments to come.
    pub fn span(&self) -> Result<Span, Problem> {
        let (mut start, mut end) = (ptr::null_mut(), ptr::null_mut());
        call!(self.driver, event(&mut start, 0))?;
        call!(self.driver, event(&mut end, 0))?;
        Ok(Span { start, end })
    }

    /// It begins now.
    pub fn begin(&self, span: Span) -> Result<(), Problem> {
        call!(self.driver, record(span.start, self.stream))
    }

    /// It ends now.
    pub fn end(&self, span: Span) -> Result<(), Problem> {
        call!(self.driver, record(span.end, self.stream))
    }

    /// How many milliseconds it begins behind another one, when both have begun.
    pub fn behind(&self, span: Span, first: Span) -> Result<f32, Problem> {
        let mut time = 0.0;
        call!(self.driver, elapsed(&mut time, first.start, span.start))?;
        Ok(time)
    }

    /// Its milliseconds, when it has ended.
    pub fn milliseconds(&self, span: Span) -> Result<f32, Problem> {
        let mut time = 0.0;
        call!(self.driver, elapsed(&mut time, span.start, span.end))?;
        Ok(time)
    }
}
