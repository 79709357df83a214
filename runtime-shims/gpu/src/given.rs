//! What a kernel is given that is the library's: a lock, a word in which it leaves how many work items it lacks, memory that
//! its blocks share, and, of a large grid, the first block of a part.

use okl_abi::gpu::{does, parameter};

use crate::described::Described;
use crate::device::{Device, Problem};
use crate::table::{Address, Handle};

/// Bytes of each word that is the library's.
pub const WORD: usize = 4;

/// That of a kernel.
pub struct Given {
    /// Bytes that its blocks share, besides what its code has.
    pub shared: u32,
    /// In which directions it may be launched in parts.
    pub is_in_parts: [bool; 3],
    /// Whether the program waits for it, for what it prints.
    pub prints: bool,
    /// Where it leaves how many work items it lacks.
    pub items: Option<Address>,
}

/// A part of a grid: its first block, and how many it has, in each direction.
pub type Part = [[u32; 3]; 2];

impl Given {
    /// For a kernel on a device, which has what is asked of it.
    pub fn of(kernel: &Described, device: &Device, function: Handle) -> Result<Self, Problem> {
        let has = |bit: i64| kernel.parameters.iter().any(|one| one.kind & bit != 0);
        let items = has(parameter::ITEMS).then(|| word(device)).transpose()?;
        let shared = match device.gives_memory() {
            true => u32::try_from(kernel.shared).unwrap_or(u32::MAX),
            false => 0,
        };
        if shared > 0 && device.limits.shared.is_none_or(|most| shared <= most) {
            device.share(function, shared)?;
        }
        Ok(Self {
            shared,
            is_in_parts: [false, has(parameter::FIRST_Y), has(parameter::FIRST_Z)],
            prints: kernel.does & does::PRINTS != 0,
            items,
        })
    }

    /// The parts of a grid.
    pub fn parts(&self, blocks: [u32; 3], most: [u32; 3]) -> Vec<Part> {
        let pieces = |at: usize| {
            let most = match self.is_in_parts[at] {
                true => most[at],
                false => u32::MAX,
            };
            let firsts = (0..blocks[at]).step_by(most as usize);
            firsts.map(move |first| (first, most.min(blocks[at] - first)))
        };
        let mut parts = Vec::new();
        for (z, deep) in pieces(2) {
            for (y, high) in pieces(1) {
                parts.push([[0, y, z], [blocks[0], high, deep]]);
            }
        }
        parts
    }
}

/// A new word on the device, which is 0.
pub fn word(device: &Device) -> Result<Address, Problem> {
    let address = device.allocate(WORD)?;
    let zero = [0_u8; WORD];
    // SAFETY: as many bytes.
    unsafe { device.upload(address, zero.as_ptr(), WORD) }?;
    Ok(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_is_launched_in_parts_where_a_kernel_is_told_its_first_block() {
        let given = |is_in_parts| Given {
            shared: 0,
            is_in_parts,
            prints: false,
            items: None,
        };
        let most = [100, 10, 4];
        let whole = given([false; 3]).parts([500, 25, 5], most);
        assert_eq!(whole, [[[0, 0, 0], [500, 25, 5]]]);
        let parts = given([false, true, true]).parts([500, 25, 5], most);
        assert_eq!(parts.len(), 6);
        assert_eq!(parts[0], [[0, 0, 0], [500, 10, 4]]);
        assert_eq!(parts[2], [[0, 20, 0], [500, 5, 4]]);
        assert_eq!(parts[5], [[0, 20, 4], [500, 5, 1]]);
        let blocks = |part: &Part| part[1].iter().product::<u32>();
        assert_eq!(parts.iter().map(blocks).sum::<u32>(), 500 * 25 * 5);
    }
}
