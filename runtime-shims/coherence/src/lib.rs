//! The coherence protocol.

pub mod atomics_values;
mod coherence;
pub mod driver;
pub mod geometry;
mod layout;
mod page_table;
#[cfg(test)]
mod random;
mod sparse;

pub use coherence::{
    Change, Coherence, Counts, Event, Machine, Notices, Object, Part, Phase, Run, TooManyMappings,
    Violation,
    declared::{Accesses, Along, Declared, Mode},
};
pub use layout::{Layout, PAGE, Page, Segment, Sizes};
pub use page_table::{Access, PageTable};
