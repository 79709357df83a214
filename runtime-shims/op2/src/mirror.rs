//! Data and maps on a device.
//!
//! Guarantee: whoever uses data finds what was written last, on the host or on the device, and nothing is copied that is there
//! already. On the device data lie component by component, where that is possible, and maps column by column: neighbouring work
//! items access neighbouring values.

use std::{borrow::Cow, collections::HashMap, sync::Mutex};

use crate::{device::Memory, order::Order};

/// Where the newest data are.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) enum Newest {
    /// On the host alone.
    #[default]
    Host,
    /// On both.
    Both,
    /// On the device alone.
    Device,
}

/// What somebody is going to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Use {
    Read,
    /// Perhaps of some elements only.
    Write,
}

impl Newest {
    /// The host is going to use the data: whether they have to be copied before, and where they are then.
    fn on_host(self, what: Use) -> (bool, Self) {
        match (self, what) {
            (Self::Device, Use::Read) => (true, Self::Both),
            (before, Use::Read) => (false, before),
            (before, Use::Write) => (before == Self::Device, Self::Host),
        }
    }

    /// The same of the device.
    fn on_device(self, what: Use) -> (bool, Self) {
        match (self, what) {
            (Self::Host, Use::Read) => (true, Self::Both),
            (before, Use::Read) => (false, before),
            (before, Use::Write) => (before == Self::Host, Self::Device),
        }
    }
}

/// Data on the device.
pub(crate) struct Mirror {
    newest: Newest,
    memory: Memory,
    order: Order,
}

/// Elements that lie together, at least: components begin at multiples of that.
const TOGETHER: usize = 32;

/// How `count` elements of so many components lie on the device.
pub(crate) fn order(components: usize, bytes: usize, count: usize) -> Order {
    Order {
        components,
        bytes,
        step: bytes,
        stride: count.next_multiple_of(TOGETHER) * bytes,
    }
}

impl Mirror {
    /// Of `count` elements, which the host has.
    pub(crate) fn new(order: Order, count: usize) -> Self {
        let bytes = match order.components {
            1 => count * order.step,
            components => components * order.stride,
        };
        Self {
            newest: Newest::Host,
            memory: Memory::new(bytes),
            order,
        }
    }

    /// Where they are.
    pub(crate) fn address(&self) -> u64 {
        self.memory.address()
    }

    /// The device is going to use them; `elements` are those of the host, side by side.
    pub(crate) fn on_device<'a>(&mut self, what: Use, elements: impl FnOnce() -> Cow<'a, [u8]>) {
        let (is_copied, newest) = self.newest.on_device(what);
        self.newest = newest;
        if !is_copied {
            return;
        }
        let elements = elements();
        match self.order.components {
            1 => self.memory.set(&elements),
            _ => {
                let mut turned = vec![0; self.memory.bytes()];
                self.order.put(&mut turned, 0, &elements);
                self.memory.set(&turned);
            }
        }
    }

    /// The host is going to use them: `count` elements, side by side, where it does not have them.
    pub(crate) fn on_host(&mut self, what: Use, count: usize) -> Option<Vec<u8>> {
        let (is_copied, newest) = self.newest.on_host(what);
        self.newest = newest;
        is_copied.then(|| {
            let mut bytes = vec![0; self.memory.bytes()];
            self.memory.get(&mut bytes);
            self.order.elements(&bytes, count)
        })
    }
}

/// A map on the device.
struct Columns {
    memory: Memory,
    entries: usize,
}

/// Which numbers a map leads to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Leads {
    /// Those that elements have here.
    Here,
    /// Those that the program knows them by.
    Program,
}

static MAPS: Mutex<Option<HashMap<(i32, Leads), Columns>>> = Mutex::new(None);

/// Where the map of a number is on the device, and how many entries its columns have: `rows` are `dim` entries each.
pub(crate) fn columns(index: i32, leads: Leads, rows: &[i32], dim: usize) -> (u64, i64) {
    let mut maps = MAPS.lock().expect("no panic while it is locked");
    let maps = maps.get_or_insert_default();
    let known = maps.entry((index, leads)).or_insert_with(|| {
        let columns = (0..dim).flat_map(|column| rows.iter().skip(column).step_by(dim));
        let bytes: Vec<u8> = columns.flat_map(|one| one.to_ne_bytes()).collect();
        Columns {
            memory: Memory::with(&bytes),
            entries: rows.len() / dim,
        }
    });
    (known.memory.address(), known.entries as i64)
}

/// What a list is of: all elements of a set that are here, or those that a neighbour has, too.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Of {
    Set(i32),
    Exported(i32, usize),
}

/// Lists of elements' numbers on the device.
#[derive(Default)]
pub(crate) struct Lists(Mutex<HashMap<Of, Memory>>);

impl Lists {
    /// Where one is.
    pub(crate) fn address(&self, of: Of, bytes: impl FnOnce() -> Vec<u8>) -> u64 {
        let mut lists = self.0.lock().expect("no panic while it is locked");
        let known = lists.entry(of).or_insert_with(|| Memory::with(&bytes()));
        known.address()
    }
}

/// Maps change, or go.
pub(crate) fn forget_maps() {
    *MAPS.lock().expect("no panic while it is locked") = None;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_copied_that_is_there() {
        use Newest::{Both, Device, Host};
        for (before, what, on_host, on_device) in [
            (Host, Use::Read, (false, Host), (true, Both)),
            (Both, Use::Read, (false, Both), (false, Both)),
            (Device, Use::Read, (true, Both), (false, Device)),
            // Elements that are not written stay what they were.
            (Host, Use::Write, (false, Host), (true, Device)),
            (Both, Use::Write, (false, Host), (false, Device)),
            (Device, Use::Write, (true, Host), (false, Device)),
        ] {
            assert_eq!(before.on_host(what), on_host, "{before:?} {what:?}");
            assert_eq!(before.on_device(what), on_device, "{before:?} {what:?}");
        }
    }

    #[test]
    fn whoever_reads_finds_what_was_written_last() {
        // Versions instead of data: which one each side has.
        let mut random = crate::random::Random(3);
        for _ in 0..200 {
            let (mut newest, mut host, mut device, mut last) = (Newest::Host, 0, -1, 0);
            for step in 1..40 {
                let what = [Use::Read, Use::Write][random.below(2)];
                let is_host = random.below(2) == 0;
                let (is_copied, after) = match is_host {
                    true => newest.on_host(what),
                    false => newest.on_device(what),
                };
                let (mine, others) = match is_host {
                    true => (&mut host, device),
                    false => (&mut device, host),
                };
                if is_copied {
                    assert_ne!(*mine, others, "it was there");
                    *mine = others;
                }
                assert_eq!(*mine, last);
                if what == Use::Write {
                    (*mine, last) = (step, step);
                }
                newest = after;
            }
        }
    }
}
