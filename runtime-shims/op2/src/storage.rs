//! How data lie in memory: element by element, as the program declares them, or component by component where it asks
//! for that (`:soa`, `OP_AUTO_SOA`) and its loops can do so.
//!
//! Guarantee: loops alone ever see data component by component, and `op_dat->data` is null meanwhile, so that nobody
//! takes one for the other. What cannot do with such data gets them back element by element, and they stay so.

use std::{
    borrow::Cow,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use crate::{
    layout::{Arg, Dat, Wish, argtype},
    memory,
    mesh::mesh,
    mirror::{self, Mirror, Use},
    order::Order,
    report::{text, warn, warn_of_program},
    settings, waiting,
};

/// A line of cache.
const LINE: usize = 64;

impl Dat {
    /// Bytes from one element to the next, and from one component to the next.
    pub(crate) fn steps(&self) -> (usize, usize) {
        let component = (self.size / self.dim) as usize;
        match self.is_by_component() {
            true => (component, self.stride),
            false => (self.size as usize, component),
        }
    }

    /// Whether it lies component by component.
    pub(crate) fn is_by_component(&self) -> bool {
        !self.by_component.is_null()
    }

    /// Where its components lie.
    pub(crate) fn order(&self) -> Order {
        let (step, stride) = self.steps();
        match self.is_by_component() {
            true => Order {
                components: self.dim as usize,
                bytes: step,
                step,
                stride,
            },
            false => Order::by_element(step),
        }
    }

    /// Where it begins.
    pub(crate) fn start(&self) -> *mut u8 {
        match self.is_by_component() {
            true => self.by_component.cast(),
            false => self.data.cast(),
        }
    }

    /// The bytes of what is here.
    ///
    /// # Safety
    /// The dat is declared.
    pub(crate) unsafe fn length(&self) -> usize {
        match self.is_by_component() {
            true => self.stride * self.dim as usize,
            // SAFETY: the caller's promise.
            false => self.size as usize * unsafe { (*self.set).elements() },
        }
    }

    /// What is here, in its [`Dat::order`].
    ///
    /// # Safety
    /// The dat is declared, and nobody writes it meanwhile.
    pub(crate) unsafe fn stored(&self) -> &[u8] {
        // SAFETY: the caller's promise: there is an element for each that is here.
        unsafe {
            self.come_home(Use::Read);
            std::slice::from_raw_parts(self.start(), self.length())
        }
    }

    /// The host is going to use the data where they lie.
    ///
    /// # Safety
    /// The dat is declared, and no loop uses it.
    pub(crate) unsafe fn come_home(&self, what: Use) {
        let Some(mut mirror) = self.mirror.take() else {
            return;
        };
        // SAFETY: the caller's promise; there is an element for each that is here.
        unsafe {
            if let Some(elements) = mirror.on_host(what, (*self.set).elements()) {
                let stored = std::slice::from_raw_parts_mut(self.start(), self.length());
                self.order().put(stored, 0, &elements);
            }
        }
        self.mirror.set(Some(mirror));
    }

    /// How it lies on a device: component by component, unless a loop needs it element by element.
    ///
    /// # Safety
    /// The dat is declared.
    pub(crate) unsafe fn order_on_device(&self) -> Order {
        // SAFETY: the caller's promise.
        let count = unsafe { (*self.set).elements() };
        match self.wish {
            Wish::Never => Order::by_element(self.size as usize),
            Wish::WithAll | Wish::Always => {
                mirror::order(self.dim as usize, (self.size / self.dim) as usize, count)
            }
        }
    }

    /// Bytes from one element to the next on a device, and from one component to the next.
    ///
    /// # Safety
    /// The dat is declared.
    pub(crate) unsafe fn steps_on_device(&self) -> (usize, usize) {
        // SAFETY: the caller's promise.
        let order = unsafe { self.order_on_device() };
        match order.components {
            1 => (order.step, (self.size / self.dim) as usize),
            _ => (order.step, order.stride),
        }
    }

    /// A loop on the device is going to use the data: where they are there.
    ///
    /// # Safety
    /// The dat is declared, and no other loop uses it.
    pub(crate) unsafe fn on_device(&self, what: Use) -> u64 {
        // SAFETY: the caller's promise.
        let (count, wanted) = unsafe { ((*self.set).elements(), self.order_on_device()) };
        let mirror = self.mirror.take();
        let mut mirror = mirror.unwrap_or_else(|| Box::new(Mirror::new(wanted, count)));
        mirror.on_device(what, || {
            // SAFETY: the caller's promise.
            unsafe {
                let turned = self.turned();
                turned.map_or_else(|| self.stored().into(), Cow::from)
            }
        });
        let address = mirror.address();
        self.mirror.set(Some(mirror));
        address
    }

    /// The same, to be written.
    ///
    /// # Safety
    /// The dat is declared, and nobody uses it meanwhile.
    pub(crate) unsafe fn stored_mut(&mut self) -> &mut [u8] {
        // SAFETY: the caller's promise: there is an element for each that is here.
        unsafe {
            self.come_home(Use::Write);
            std::slice::from_raw_parts_mut(self.start(), self.length())
        }
    }

    /// What is here where it lies component by component, element by element.
    ///
    /// # Safety
    /// The dat is declared, and nobody writes it meanwhile.
    pub(crate) unsafe fn turned(&self) -> Option<Vec<u8>> {
        // SAFETY: the caller's promise.
        let (stored, count) = unsafe { (self.stored(), (*self.set).elements()) };
        self.is_by_component()
            .then(|| self.order().elements(stored, count))
    }

    /// Lays it component by component.
    ///
    /// # Safety
    /// The dat is declared, and nobody uses it meanwhile.
    unsafe fn lay_by_component(&mut self) {
        if self.is_by_component() {
            return;
        }
        // SAFETY: the caller's promise; new memory, and old memory that is the library's own.
        unsafe {
            let count = (*self.set).elements();
            let lines = (count * (self.size / self.dim) as usize).div_ceil(LINE);
            // An odd number of lines: components of one element are in different sets of a cache.
            let stride = (lines | 1) * LINE;
            let memory = memory::op_calloc(self.dim as usize, stride).cast::<u8>();
            let elements = self.stored().as_ptr();
            let elements = std::slice::from_raw_parts(elements, self.length());
            (self.by_component, self.stride) = (memory.cast(), stride);
            self.order().put(self.stored_mut(), 0, elements);
            libc::free(self.data.cast());
        }
        self.data = std::ptr::null_mut();
    }

    /// Lays it element by element.
    ///
    /// # Safety
    /// The dat is declared, and nobody uses it meanwhile.
    pub(crate) unsafe fn lay_by_element(&mut self) {
        // SAFETY: the caller's promise; new memory, and old memory that is the library's own.
        unsafe {
            let Some(elements) = self.turned() else {
                return;
            };
            let data = memory::op_malloc(elements.len().max(1));
            libc::memcpy(data, elements.as_ptr().cast(), elements.len());
            libc::free(self.by_component.cast());
            (self.by_component, self.data) = (std::ptr::null_mut(), data.cast());
        }
    }

    /// From now on it lies element by element, because of `why`.
    ///
    /// # Safety
    /// The dat is declared, and nobody uses it meanwhile.
    pub(crate) unsafe fn stay_by_element(&mut self, why: &str) {
        // SAFETY: the caller's promise.
        unsafe {
            if self.is_asked_for() {
                tell(&format!(
                    "{} is not stored component by component: {why}",
                    text(self.name)
                ));
            }
            self.lay_by_element();
        }
        // On a device, too.
        // SAFETY: the caller's promise.
        unsafe { self.come_home(Use::Write) };
        self.mirror.take();
        self.wish = Wish::Never;
    }

    /// Whether the program asks for it to lie component by component, and the library can do it.
    fn is_asked_for(&self) -> bool {
        let is_asked = match self.wish {
            Wish::Never => false,
            Wish::WithAll => settings::auto_soa(),
            Wish::Always => true,
        };
        if is_asked && LOOKS_AT_DATA.load(Relaxed) {
            if settings::diagnostics() > 0 && !TOLD.swap(true, Relaxed) {
                warn_of_program(
                    "no data are stored component by component: a file of the program may look at op_dat->data, or was compiled without the plugin",
                );
            }
            return false;
        }
        is_asked
    }
}

/// For those who want to know: what is asked for and cannot be.
fn tell(message: &str) {
    if settings::diagnostics() > 0 {
        warn(message);
    }
}

static LOOKS_AT_DATA: AtomicBool = AtomicBool::new(false);

/// Whether a file of the program may look at `op_dat->data`.
pub(crate) fn is_looked_at() -> bool {
    LOOKS_AT_DATA.load(Relaxed)
}

/// Whether the user has been told.
static TOLD: AtomicBool = AtomicBool::new(false);

/// A file may look at `op_dat->data`.
///
/// # Safety
/// It asks for nothing; the functions that compiled code calls are all declared so.
pub(crate) unsafe fn okl_op2_looks_at_data() {
    waiting::run_for("a file that looks at op_dat->data");
    LOOKS_AT_DATA.store(true, Relaxed);
    lay_all_by_element();
}

/// Lays all data element by element, until the next loop.
pub(crate) fn lay_all_by_element() {
    for &entry in &mesh().dats {
        // SAFETY: entries of the list are alive, and no loop runs.
        unsafe {
            (*(*entry).dat).come_home(Use::Read);
            (*(*entry).dat).lay_by_element();
        }
    }
}

/// The dats that the arguments stand for.
fn dats(arguments: &[Arg]) -> impl Iterator<Item = *mut Dat> {
    let used = arguments
        .iter()
        .filter(|one| one.argtype == argtype::DAT && one.opt != 0 && !one.dat.is_null());
    used.map(|one| one.dat)
}

/// Whether the program asks for data of a loop to lie component by component.
///
/// # Safety
/// The arguments are right for the loop.
pub(crate) unsafe fn asks_for_components(arguments: &[Arg]) -> bool {
    // SAFETY: the caller's promise.
    dats(arguments).any(|dat| unsafe { (*dat).is_asked_for() || (*dat).is_by_component() })
}

/// Lays the data of a loop as the program asks for it: the number of arguments that lie component by component. Where
/// the loop needs them element by element, `why_not` tells why.
///
/// # Safety
/// The arguments are right for the loop, which does not run yet.
pub(crate) unsafe fn lay(
    loop_name: &str,
    arguments: &[Arg],
    why_not: impl FnOnce() -> Option<&'static str>,
) -> usize {
    // SAFETY: the caller's promise.
    let (asked_for, others): (Vec<_>, Vec<_>) =
        dats(arguments).partition(|&dat| unsafe { (*dat).is_asked_for() });
    for dat in others {
        // What was asked for is no longer.
        // SAFETY: the caller's promise.
        unsafe { (*dat).lay_by_element() };
    }
    if asked_for.is_empty() {
        return 0;
    }
    let why = why_not().map(|why| format!("op_par_loop {loop_name} {why}"));
    let mut count = 0;
    for dat in asked_for {
        // SAFETY: the caller's promise.
        unsafe {
            match &why {
                // On any number of ranks, so that sums are the same.
                _ if settings::asks_for_user_memory() => {
                    (*dat).stay_by_element("OP_NO_REALLOC keeps the program's own memory");
                }
                Some(why) => (*dat).stay_by_element(why),
                None => {
                    (*dat).lay_by_component();
                    count += 1;
                }
            }
        }
    }
    count
}

/// Lays the data of a loop element by element, and they stay so.
///
/// # Safety
/// The arguments are right for the loop, which does not run yet.
pub(crate) unsafe fn lay_for_foreign_loop(arguments: &[Arg]) {
    for dat in dats(arguments) {
        // SAFETY: the caller's promise.
        unsafe {
            if (*dat).wish != Wish::Never {
                (*dat).stay_by_element("a loop is compiled without the plugin");
            }
        }
    }
}
