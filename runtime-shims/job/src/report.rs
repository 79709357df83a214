//! What the run times tell the user: lines that begin with `okl:`, each in one piece, as launchers mix what ranks write, and
//! past the C library's buffers.

/// Tells `message`, which is the whole job's.
pub fn say(message: &str) {
    write_all(2, format!("okl: {message}\n").as_bytes());
}

/// Tells `message`, which is that of one rank.
pub fn say_of(rank: u32, message: &str) {
    say(&format!("rank {rank}: {message}"));
}

/// Writes all of `text` to `descriptor`. Where it cannot be written, nothing can.
pub fn write_all(descriptor: i32, text: &[u8]) {
    let mut rest = text;
    while !rest.is_empty() {
        // SAFETY: a live buffer.
        let written = unsafe { libc::write(descriptor, rest.as_ptr().cast(), rest.len()) };
        if written < 0 {
            if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted {
                continue;
            }
            return;
        }
        rest = &rest[written as usize..];
    }
}
