//! How data lie in memory: element by element, as the program declares them, or component by component where it asks
//! for that (`:soa`, `OP_AUTO_SOA`) and its loops can do so.
//!
//! Guarantee: loops alone ever see data component by component, and `op_dat->data` is null meanwhile, so that nobody
//! takes one for the other. What cannot do with such data gets them back element by element, and they stay so.

use std::{
    ops::Range,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use crate::{
    layout::{Arg, Dat, argtype},
    mesh::mesh,
    program,
    report::{text, warn, warn_of_program},
    value::Value,
};

/// Where the components of elements lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Order {
    components: usize,
    /// Bytes of a component.
    bytes: usize,
    /// Bytes from one element to the next.
    step: usize,
    /// Bytes from one component of an element to the next.
    stride: usize,
}

impl Order {
    /// Of elements of `size` bytes, one after the other.
    pub(crate) fn by_element(size: usize) -> Self {
        Self {
            components: 1,
            bytes: size,
            step: size,
            stride: size,
        }
    }

    /// The bytes of an element are added to `to`.
    pub(crate) fn append(&self, data: &[u8], element: usize, to: &mut Vec<u8>) {
        for component in 0..self.components {
            to.extend_from_slice(&data[self.place(element, component)]);
        }
    }

    /// The elements from `first` on become those of `elements`, which lie side by side.
    pub(crate) fn put(&self, data: &mut [u8], first: usize, elements: &[u8]) {
        match (self.components, self.bytes) {
            (1, _) => data[first * self.step..][..elements.len()].copy_from_slice(elements),
            (_, 8) => self.put_components::<8>(data, first, elements),
            (_, 4) => self.put_components::<4>(data, first, elements),
            (_, _) => self.put_components::<1>(data, first, elements),
        }
    }

    /// The same for components of that many bytes.
    fn put_components<const BYTES: usize>(&self, data: &mut [u8], first: usize, elements: &[u8]) {
        assert_eq!((self.bytes, self.step), (BYTES, BYTES));
        let (values, _) = elements.as_chunks::<BYTES>();
        let count = values.len() / self.components;
        for component in 0..self.components {
            let (to, _) = data[self.place(first, component).start..].as_chunks_mut::<BYTES>();
            let from = values.iter().skip(component).step_by(self.components);
            for (to, from) in to[..count].iter_mut().zip(from) {
                *to = *from;
            }
        }
    }

    /// `count` elements, side by side.
    fn elements(&self, data: &[u8], count: usize) -> Vec<u8> {
        match (self.components, self.bytes) {
            (1, _) => data[..count * self.step].to_vec(),
            (_, 8) => self.take_components::<8>(data, count),
            (_, 4) => self.take_components::<4>(data, count),
            (_, _) => self.take_components::<1>(data, count),
        }
    }

    /// The same for components of that many bytes.
    fn take_components<const BYTES: usize>(&self, data: &[u8], count: usize) -> Vec<u8> {
        assert_eq!((self.bytes, self.step), (BYTES, BYTES));
        let mut all = vec![0; count * self.components * BYTES];
        let (values, _) = all.as_chunks_mut::<BYTES>();
        for component in 0..self.components {
            let (from, _) = data[self.place(0, component).start..].as_chunks::<BYTES>();
            let to = values.iter_mut().skip(component).step_by(self.components);
            for (to, from) in to.zip(from) {
                *to = *from;
            }
        }
        all
    }

    fn place(&self, element: usize, component: usize) -> Range<usize> {
        let start = element * self.step + component * self.stride;
        start..start + self.bytes
    }
}

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
        unsafe { std::slice::from_raw_parts(self.start(), self.length()) }
    }

    /// The same, to be written.
    ///
    /// # Safety
    /// The dat is declared, and nobody uses it meanwhile.
    pub(crate) unsafe fn stored_mut(&mut self) -> &mut [u8] {
        // SAFETY: the caller's promise: there is an element for each that is here.
        unsafe { std::slice::from_raw_parts_mut(self.start(), self.length()) }
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
            let memory = program::op_calloc(self.dim as usize, stride).cast::<u8>();
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
            let data = program::op_malloc(elements.len().max(1));
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
        self.wish = Wish::Never;
    }

    /// Whether the program asks for it to lie component by component, and the library can do it.
    fn is_asked_for(&self) -> bool {
        let is_asked = match self.wish {
            Wish::Never => false,
            Wish::WithAll => program::auto_soa(),
            Wish::Always => true,
        };
        if is_asked && LOOKS_AT_DATA.load(Relaxed) {
            if program::diagnostics() > 0 && !TOLD.swap(true, Relaxed) {
                warn_of_program(
                    "no data are stored component by component: a file of the program may look at op_dat->data, or was compiled without the plugin",
                );
            }
            return false;
        }
        is_asked
    }
}

/// When data are to lie component by component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Wish {
    /// Of one component, of types of the program's own, or needed element by element.
    Never,
    /// Where the program asks for all.
    WithAll,
    /// The program says so of them.
    Always,
}

impl Wish {
    /// That of data of a type with `dim` components of that many bytes.
    pub(crate) fn of(type_name: &str, dim: i32, component: i32) -> Self {
        if dim < 2 || Value::of(type_name).map(Value::bytes) != usize::try_from(component).ok() {
            return Self::Never;
        }
        match type_name.ends_with(":soa") {
            true => Self::Always,
            false => Self::WithAll,
        }
    }
}

/// For those who want to know: what is asked for and cannot be.
fn tell(message: &str) {
    if program::diagnostics() > 0 {
        warn(message);
    }
}

static LOOKS_AT_DATA: AtomicBool = AtomicBool::new(false);
/// Whether the user has been told.
static TOLD: AtomicBool = AtomicBool::new(false);

/// A file may look at `op_dat->data`.
///
/// # Safety
/// It asks for nothing; the functions that compiled code calls are all declared so.
pub(crate) unsafe fn okl_op2_looks_at_data() {
    LOOKS_AT_DATA.store(true, Relaxed);
    lay_all_by_element();
}

/// Lays all data element by element, until the next loop.
pub(crate) fn lay_all_by_element() {
    for &entry in &mesh().dats {
        // SAFETY: entries of the list are alive, and no loop runs.
        unsafe { (*(*entry).dat).lay_by_element() };
    }
}

/// The dats that the arguments stand for.
fn dats(arguments: &[Arg]) -> impl Iterator<Item = *mut Dat> {
    let used = arguments
        .iter()
        .filter(|one| one.argtype == argtype::DAT && one.opt != 0 && !one.dat.is_null());
    used.map(|one| one.dat)
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
                _ if program::asks_for_user_memory() => {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_come_back() {
        for bytes in [1, 4, 8] {
            let (count, components) = (5, 3);
            let order = Order {
                components,
                bytes,
                step: bytes,
                stride: LINE,
            };
            let elements: Vec<u8> = (0..count * components * bytes).map(|n| n as u8).collect();
            let mut stored = vec![0xff; components * LINE];
            order.put(&mut stored, 0, &elements);
            assert_eq!(order.elements(&stored, count), elements);
            // The second component of the third element.
            let at = LINE + 2 * bytes;
            let value = (2 * components + 1) * bytes;
            assert_eq!(stored[at..][..bytes], elements[value..][..bytes]);
            let two = [[7; 24], [9; 24]].concat();
            order.put(
                &mut stored,
                3,
                &two[24 - components * bytes..][..2 * components * bytes],
            );
            let mut found = Vec::new();
            order.append(&stored, 3, &mut found);
            order.append(&stored, 4, &mut found);
            assert_eq!(
                found,
                two[24 - components * bytes..][..2 * components * bytes]
            );
            assert_eq!(stored[count * bytes], 0xff);
        }
    }

    #[test]
    fn no_elements_are_fine() {
        let order = Order {
            components: 2,
            bytes: 8,
            step: 8,
            stride: LINE,
        };
        let mut stored = vec![0; 2 * LINE];
        order.put(&mut stored, 0, &[]);
        assert!(order.elements(&stored, 0).is_empty());
    }

    #[test]
    fn only_numbers_have_components() {
        assert_eq!(Wish::of("double:soa", 2, 8), Wish::Always);
        assert_eq!(Wish::of("bool", 3, 1), Wish::WithAll);
        assert_eq!(Wish::of("double:soa", 1, 8), Wish::Never);
        assert_eq!(Wish::of("double", 2, 4), Wish::Never);
        assert_eq!(Wish::of("point:soa", 2, 16), Wish::Never);
    }
}
