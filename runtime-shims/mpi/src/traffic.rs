//! What ranks send each other, counted.

/// Messages and their bytes, and of these the ones that carry the program's data. The others keep the
/// ranks in step, or ask for data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traffic {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    pub(crate) data_messages: u64,
    pub(crate) data_bytes: u64,
}

impl Traffic {
    /// Adds control messages of `bytes` each.
    pub(crate) fn control(&mut self, messages: usize, bytes: usize) {
        self.messages += messages as u64;
        self.bytes += (messages * bytes) as u64;
    }

    /// Adds a message of `bytes` of data and `others` that keep the ranks in step.
    pub(crate) fn data_along(&mut self, bytes: usize, others: usize) {
        self.data(1, bytes);
        self.bytes += others as u64;
    }

    /// Adds messages of `bytes` of data each.
    pub(crate) fn data(&mut self, messages: usize, bytes: usize) {
        self.control(messages, bytes);
        self.data_messages += messages as u64;
        self.data_bytes += (messages * bytes) as u64;
    }
}

impl std::ops::Add for Traffic {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            messages: self.messages + other.messages,
            bytes: self.bytes + other.bytes,
            data_messages: self.data_messages + other.data_messages,
            data_bytes: self.data_bytes + other.data_bytes,
        }
    }
}
