//! Where the components of elements lie in data.

use std::ops::Range;

/// Where the components of elements lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Order {
    pub(crate) components: usize,
    /// Bytes of a component.
    pub(crate) bytes: usize,
    /// Bytes from one element to the next.
    pub(crate) step: usize,
    /// Bytes from one component of an element to the next.
    pub(crate) stride: usize,
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
    pub(crate) fn elements(&self, data: &[u8], count: usize) -> Vec<u8> {
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

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: usize = 64;

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
}
