//! Memory of the device that the program manages itself.

use super::Offload;
use crate::mirrors::Moved;
use crate::table::Address;

impl Offload {
    /// Whether an address is in memory that the program manages itself.
    pub fn is_own(&self, address: usize) -> bool {
        let before = self.own.range(..=address as Address).next_back();
        before.is_some_and(|(start, bytes)| address as Address <= start + *bytes as Address)
    }

    /// Memory that the program manages itself.
    pub fn own_memory(&mut self, bytes: usize) -> Result<Address, String> {
        let doing = &format!("okl_malloc of {bytes} bytes");
        let entered = self.device.enter();
        self.check(doing, entered)?;
        if let Some(mirrors) = &mut self.mirrors {
            mirrors.begin();
        }
        let address = self.allocate(doing, |this| this.device.allocate(bytes))?;
        self.own.insert(address, bytes);
        Ok(address)
    }

    /// The program gives it back.
    pub fn free_own_memory(&mut self, address: Address) -> Result<(), String> {
        if self.own.remove(&address).is_none() {
            return Err(format!(
                "okl_free of {address:#x}, which is no memory of okl_malloc's"
            ));
        }
        let freed = self.device.enter().and_then(|()| self.device.free(address));
        self.check("okl_free", freed)
    }

    /// Copies, from and to either memory.
    ///
    /// # Safety
    /// Both have so many bytes.
    pub unsafe fn copy(&mut self, to: usize, from: usize, bytes: usize) -> Result<(), String> {
        const DOING: &str = "okl_copy";
        if bytes == 0 {
            return Ok(());
        }
        for address in [to, from] {
            if let Some((start, all)) = self.own.range(..=address as Address).next_back()
                && (address as Address) < start + *all as Address
                && bytes as Address > start + *all as Address - address as Address
            {
                return Err(format!(
                    "{DOING} of {bytes} bytes reaches beyond the {all} bytes of okl_malloc at {start:#x}"
                ));
            }
        }
        let entered = self.device.enter();
        self.check(DOING, entered)?;
        let [to_device, from_device] = [to, from].map(|address| self.is_own(address));
        if !from_device {
            self.touch_all(from..from + bytes, false)?;
        }
        if !to_device {
            self.touch_all(to..to + bytes, true)?;
        }
        let to_host = std::ptr::with_exposed_provenance_mut::<u8>(to);
        let from_host = std::ptr::with_exposed_provenance::<u8>(from);
        // SAFETY: the caller's promise; the host's memory is there, and not protected.
        let copied = unsafe {
            match (to_device, from_device) {
                (true, true) => self.device.copy(to as Address, from as Address, bytes),
                (true, false) => self.device.upload(to as Address, from_host, bytes),
                (false, true) => self.device.download(to_host, from as Address, bytes),
                (false, false) => {
                    std::ptr::copy(from_host, to_host, bytes);
                    Ok(())
                }
            }
        };
        self.check(DOING, copied)?;
        let of = |is_so: bool| if is_so { bytes as u64 } else { 0 };
        self.copies.launches += 1;
        self.copies.add(Moved {
            up: of(to_device && !from_device),
            down: of(from_device && !to_device),
        });
        if from_device && !to_device {
            self.all_is_done();
        }
        Ok(())
    }
}
