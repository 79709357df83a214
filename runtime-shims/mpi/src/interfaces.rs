//! The addresses of this machine at which other ranks may reach it.

use std::{
    ffi::CStr,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

/// Which interfaces are used: names that begin with one of these, or, behind a `^`, the others. As NCCL's and Gloo's
/// variables of that name have it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choice {
    beginnings: Vec<String>,
    are_others: bool,
}

impl Choice {
    /// What `text` says; nothing: all interfaces.
    pub(crate) fn of(text: &str) -> Self {
        let (text, are_others) = match text.strip_prefix('^') {
            Some(text) => (text, true),
            None => (text, false),
        };
        let beginnings = text.split(',').map(str::trim).filter(|one| !one.is_empty());
        Self {
            beginnings: beginnings.map(str::to_owned).collect(),
            are_others,
        }
    }

    fn takes(&self, name: &str) -> bool {
        let mut beginnings = self.beginnings.iter();
        let is_named = beginnings.any(|beginning| name.starts_with(&**beginning));
        self.beginnings.is_empty() || is_named != self.are_others
    }
}

/// Most addresses of a rank that others are told.
pub(crate) const MOST: usize = 8;
/// Words of an address.
const WORDS: usize = 3;
/// Words of all of them.
pub(crate) const ALL_WORDS: usize = MOST * WORDS;

/// The addresses of the chosen interfaces that are up, those that only this machine reaches first.
pub(crate) fn addresses(choice: &Choice) -> io::Result<Vec<IpAddr>> {
    let mut list = std::ptr::null_mut();
    // SAFETY: room for a pointer.
    if unsafe { libc::getifaddrs(&mut list) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let (mut found, mut next) = (Vec::new(), list.cast_const());
    // SAFETY: null, or an entry of the list, which is there until it is freed.
    while let Some(entry) = unsafe { next.as_ref() } {
        next = entry.ifa_next;
        let wanted = (libc::IFF_UP | libc::IFF_RUNNING) as u32;
        // SAFETY: a name is a text.
        let name = unsafe { CStr::from_ptr(entry.ifa_name) };
        if entry.ifa_flags & wanted == wanted && choice.takes(&name.to_string_lossy()) {
            // SAFETY: null, or an address of the family it says.
            found.extend(unsafe { address_of(entry.ifa_addr) });
        }
    }
    // SAFETY: the list, which nothing refers to any more.
    unsafe { libc::freeifaddrs(list) };
    found.sort_by_key(|address| (!address.is_loopback(), address.is_ipv6()));
    found.dedup();
    found.truncate(MOST);
    Ok(found)
}

/// The address of IP in `address`, if it is one that needs no interface beside it.
///
/// # Safety
/// It is null, or an address of the family that it says.
unsafe fn address_of(address: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: the caller's promise.
    unsafe {
        match i32::from(address.as_ref()?.sa_family) {
            libc::AF_INET => {
                let number = (*address.cast::<libc::sockaddr_in>()).sin_addr.s_addr;
                Some(IpAddr::V4(Ipv4Addr::from(number.to_ne_bytes())))
            }
            libc::AF_INET6 => {
                let bytes = (*address.cast::<libc::sockaddr_in6>()).sin6_addr.s6_addr;
                let address = Ipv6Addr::from(bytes);
                (!address.is_unicast_link_local()).then_some(IpAddr::V6(address))
            }
            _ => None,
        }
    }
}

/// Addresses as words, of which there are always as many.
pub(crate) fn to_words(addresses: &[IpAddr]) -> [u64; ALL_WORDS] {
    let mut words = [0; ALL_WORDS];
    for (room, address) in words.as_chunks_mut::<WORDS>().0.iter_mut().zip(addresses) {
        let (kind, bits) = match address {
            IpAddr::V4(address) => (4, u128::from(address.to_bits())),
            IpAddr::V6(address) => (6, address.to_bits()),
        };
        *room = [kind, (bits >> 64) as u64, bits as u64];
    }
    words
}

/// The addresses that [`to_words`] was given.
pub(crate) fn from_words(words: &[u64]) -> Vec<IpAddr> {
    let address = |&[kind, high, low]: &[u64; WORDS]| match kind {
        4 => Some(IpAddr::V4(Ipv4Addr::from_bits(low as u32))),
        6 => {
            let bits = u128::from(high) << 64 | u128::from(low);
            Some(IpAddr::V6(Ipv6Addr::from_bits(bits)))
        }
        _ => None,
    };
    words.as_chunks().0.iter().filter_map(address).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_are_chosen_by_the_beginnings_of_their_names() {
        let taken = |text: &str| {
            let choice = Choice::of(text);
            let all = ["lo", "eth0", "eth1", "ib0"].into_iter();
            all.filter(|name| choice.takes(name)).collect::<Vec<_>>()
        };
        assert_eq!(taken(""), ["lo", "eth0", "eth1", "ib0"]);
        assert_eq!(taken("eth"), ["eth0", "eth1"]);
        assert_eq!(taken("ib0, eth1"), ["eth1", "ib0"]);
        assert_eq!(taken("^eth,lo"), ["ib0"]);
        assert_eq!(taken("none"), [""; 0]);
    }

    #[test]
    fn addresses_survive_as_words() {
        let text = ["127.0.0.1", "10.1.2.3", "::1", "fd00::2:3"];
        let all: Vec<IpAddr> = text.iter().map(|one| one.parse().unwrap()).collect();
        assert_eq!(from_words(&to_words(&all)), all);
        assert_eq!(from_words(&to_words(&[])), [] as [IpAddr; 0]);
    }

    #[test]
    fn none_is_found_of_an_interface_that_is_not_there() {
        assert_eq!(
            addresses(&Choice::of("no-such")).unwrap(),
            [] as [IpAddr; 0]
        );
    }
}
