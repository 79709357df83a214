//! Data of other ranks on a device: packed there into what is sent, and unpacked there.
//!
//! Guarantee: messages are those that the host would send, and nothing moves between host and device but them. They move in one
//! piece each way, however many neighbours and data there are.

use std::{ffi::c_void, sync::Mutex};

use okl_abi::op2::halo;

use crate::{
    device::{Kernel, Memory},
    distribute::Distribution,
    halo::Part,
    layout::Dat,
    mirror::{Of, Use},
    order::Order,
};

/// What is sent, and what has come, on the device; nobody else uses it at the same time.
static BUFFER: Mutex<Option<Memory>> = Mutex::new(None);

/// Forgets what is on the device.
pub(crate) fn clear() {
    *BUFFER.lock().expect("no panic while it is locked") = None;
}

/// Has the buffer have so many bytes.
fn with_buffer(bytes: usize, does: impl FnOnce(&Memory)) {
    let mut buffer = BUFFER.lock().expect("no panic while it is locked");
    if buffer.as_ref().is_none_or(|one| one.bytes() < bytes) {
        *buffer = None;
        *buffer = Some(Memory::new(bytes));
    }
    does(buffer.as_ref().expect("it was just made"));
}

/// Elements that move between data and the buffer.
struct Moved {
    data: u64,
    order: Order,
    /// Where they are in the buffer.
    buffer: u64,
    takes: bool,
    /// Where the numbers of the elements are; or none, and the first of those that follow each other.
    numbers: u64,
    first: usize,
    count: usize,
}

impl Moved {
    /// # Safety
    /// All are there, on the device.
    unsafe fn launch(&self, kernel: &Kernel) {
        let Order {
            components,
            bytes,
            step,
            stride,
        } = self.order;
        let places = [self.buffer as i64, bytes as i64, step as i64, stride as i64];
        let mut pieces = halo::PIECES.iter();
        let fits = |piece: &&i64| places.iter().all(|place| place % **piece == 0);
        let &piece = pieces.find(fits).expect("a byte fits");
        let of_component = bytes as i64 / piece;
        let of_element = of_component * components as i64;
        let blocks = (self.count * of_element as usize).div_ceil(halo::BLOCK as usize);
        if blocks == 0 {
            return;
        }
        let addresses: [u64; halo::ADDRESSES] = [self.data, self.buffer, self.numbers];
        let ints: [i32; halo::INTS] = [i32::from(self.takes), self.first as i32];
        let numbers: [i64; halo::NUMBERS] = [
            self.count as i64,
            piece,
            of_component,
            of_element,
            step as i64,
            stride as i64,
        ];
        let mut arguments: Vec<*const c_void> = Vec::new();
        arguments.extend(addresses.iter().map(|one| std::ptr::from_ref(one).cast()));
        arguments.extend(ints.iter().map(|one| std::ptr::from_ref(one).cast()));
        arguments.extend(numbers.iter().map(|one| std::ptr::from_ref(one).cast()));
        // SAFETY: the caller's promise; values are those of the kernel's parameters.
        unsafe { kernel.launch_halo(blocks, &arguments) }
    }
}

/// The message for each neighbour, in `room` of its length.
///
/// # Safety
/// The data are declared and distributed, and those of others are not used yet.
pub(crate) unsafe fn pack(
    kernel: &Kernel,
    distribution: &Distribution,
    dats: &[*mut Dat],
    room: impl Fn(usize) -> Vec<u8>,
) -> Vec<Vec<u8>> {
    // SAFETY: the caller's promise.
    let parts = dats.iter().map(|&dat| unsafe {
        let part = distribution.part((*dat).set);
        let imports = part.exchanges.iter().any(|one| one.imported() > 0);
        let what = if imports { Use::Write } else { Use::Read };
        (part, &*dat, (*dat).on_device(what))
    });
    let parts: Vec<(&Part, &Dat, u64)> = parts.collect();
    let neighbours = distribution.portion.neighbours.len();
    let lengths = (0..neighbours).map(|at| {
        let lengths = parts.iter();
        let lengths =
            lengths.map(|(part, dat, _)| part.exchanges[at].exports.len() * dat.size as usize);
        lengths.sum::<usize>()
    });
    let lengths: Vec<usize> = lengths.collect();
    let mut all = vec![0; lengths.iter().sum()];
    if !all.is_empty() {
        with_buffer(all.len(), |buffer| {
            let mut end = buffer.address();
            for neighbour in 0..neighbours {
                for (part, dat, data) in &parts {
                    let exports = &part.exchanges[neighbour].exports;
                    if exports.is_empty() {
                        continue;
                    }
                    // SAFETY: the caller's promise.
                    unsafe {
                        let of = Of::Exported((*dat.set).index, neighbour);
                        let numbers = distribution.on_device.address(of, || {
                            exports.iter().flat_map(|one| one.to_ne_bytes()).collect()
                        });
                        let moved = Moved {
                            data: *data,
                            order: dat.order_on_device(),
                            buffer: end,
                            takes: false,
                            numbers,
                            first: 0,
                            count: exports.len(),
                        };
                        moved.launch(kernel);
                    }
                    end += (exports.len() * dat.size as usize) as u64;
                }
            }
            buffer.get(&mut all);
        });
    }
    let mut rest = &all[..];
    let messages = lengths.into_iter().map(|length| {
        let (message, behind) = rest.split_at(length);
        rest = behind;
        let mut packed = room(length);
        packed.copy_from_slice(message);
        packed
    });
    messages.collect()
}

/// Puts what neighbours have sent where it belongs.
///
/// # Safety
/// See [`pack`], which was called before.
pub(crate) unsafe fn unpack(
    kernel: &Kernel,
    distribution: &Distribution,
    dats: &[*mut Dat],
    incoming: &[(usize, Vec<u8>)],
) {
    let messages = incoming.iter().map(|(_, message)| &message[..]);
    let all = messages.collect::<Vec<_>>().concat();
    if all.is_empty() {
        return;
    }
    with_buffer(all.len(), |buffer| {
        buffer.set(&all);
        let mut end = buffer.address();
        for (neighbour, _) in incoming {
            for &dat in dats {
                // SAFETY: the caller's promise.
                unsafe {
                    let part = distribution.part((*dat).set);
                    for range in &part.exchanges[*neighbour].imports {
                        if range.is_empty() {
                            continue;
                        }
                        let moved = Moved {
                            data: (*dat).on_device(Use::Write),
                            order: (*dat).order_on_device(),
                            buffer: end,
                            takes: true,
                            numbers: 0,
                            first: range.start,
                            count: range.len(),
                        };
                        moved.launch(kernel);
                        end += (range.len() * (*dat).size as usize) as u64;
                    }
                }
            }
        }
    });
}
