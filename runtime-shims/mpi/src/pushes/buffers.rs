//! Buffers of messages, which are used again: memory that is new costs a page fault for each of its pages, and several times
//! as much as what is copied into it.
//!
//! Guarantee: what is taken has room for what was asked, and at most four times as much; where messages are as long as
//! earlier ones, and no more of them are under way, nothing is allocated.

/// A shorter buffer is not worth to be told from one of this length.
const LEAST: usize = 4 << 10;

/// Those that are not in use.
#[derive(Default)]
pub(super) struct Buffers(Vec<Vec<u8>>);

impl Buffers {
    /// An empty one with room for `bytes`.
    pub(super) fn take(&mut self, bytes: usize) -> Vec<u8> {
        let class = bytes.max(LEAST).next_power_of_two();
        let fits = |buffer: &Vec<u8>| (class..2 * class).contains(&buffer.capacity());
        // The last one that was used may still be in a cache.
        match self.0.iter().rposition(fits) {
            Some(at) => self.0.remove(at),
            None => Vec::with_capacity(class),
        }
    }

    /// One is not in use any more.
    pub(super) fn give_back(&mut self, mut buffer: Vec<u8>) {
        if buffer.capacity() >= LEAST {
            buffer.clear();
            self.0.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_as_long_as_earlier_ones_use_their_buffers() {
        let mut buffers = Buffers::default();
        let lengths = [0, 1, 5000, 70_000, 70_001, 3 << 20, 5000];
        let round = |buffers: &mut Buffers| {
            let all = lengths.map(|length| {
                let mut one = buffers.take(length);
                assert!(one.is_empty() && one.capacity() >= length);
                assert!(one.capacity() <= 4 * length.max(LEAST));
                one.resize(length, 7);
                one
            });
            let mut places: Vec<*const u8> = all.iter().map(|one| one.as_ptr()).collect();
            let mut all = all.map(Some);
            // Messages are not complete in the order in which they were begun.
            for at in [3, 0, 6, 5, 1, 4, 2] {
                buffers.give_back(all[at].take().expect("once each"));
            }
            places.sort_unstable();
            places
        };
        let first = round(&mut buffers);
        for _ in 0..3 {
            assert_eq!(round(&mut buffers), first);
        }
    }

    #[test]
    fn small_messages_do_not_take_large_buffers() {
        let mut buffers = Buffers::default();
        buffers.give_back(Vec::with_capacity(1 << 20));
        assert!(buffers.take(100).capacity() < 1 << 20);
        assert!(buffers.take(1 << 20).capacity() >= 1 << 20);
        assert!(buffers.0.is_empty());
    }
}
