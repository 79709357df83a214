//! The host's memory, as calls of the driver name it, and its standard output.

/// The bytes at an address of the host.
pub fn read(address: usize, bytes: usize) -> Vec<u8> {
    let from = std::ptr::with_exposed_provenance::<u8>(address);
    // SAFETY: who calls the driver promises that so many bytes can be read there.
    unsafe { std::slice::from_raw_parts(from, bytes) }.to_vec()
}

/// Writes bytes to an address of the host.
pub fn write(address: usize, bytes: &[u8]) {
    let to = std::ptr::with_exposed_provenance_mut::<u8>(address);
    // SAFETY: who calls the driver promises that so many bytes can be written there.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
}

/// Prints what kernels print, by the C library's output, in whose order it stays.
pub fn print(text: &[u8]) {
    // SAFETY: a format and an argument that it asks for.
    unsafe { libc::printf(c"%.*s".as_ptr(), text.len() as libc::c_int, text.as_ptr()) };
}
