//! Sets of bytes and who has them, in positions of the memory file.

pub(crate) mod cache;
pub mod declaration;
pub(crate) mod owners;
pub(crate) mod parts;
pub(crate) mod pieces;
pub mod ranges;
pub mod shape;
pub mod signature;
