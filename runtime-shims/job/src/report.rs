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

/// A table of what kernels cost: a line of its title, one of the columns, each with its width, and one for each kernel, whose
/// name comes first.
pub fn table<const N: usize>(
    title: &str,
    columns: [(&str, usize); N],
    kernels: &[(&str, [String; N])],
) -> String {
    let mut text = format!("okl: {title}\n");
    let names = kernels.iter().map(|(name, _)| name.chars().count());
    let widest = names.max().unwrap_or(0).clamp(6, 40);
    let mut row = |name: &str, cells: [&str; N]| {
        let mut line = format!("  {name:<widest$}");
        for (cell, (_, width)) in cells.iter().zip(columns) {
            line += &format!(" {cell:>width$}");
        }
        text += line.trim_end();
        text.push('\n');
    };
    row("kernel", columns.map(|(name, _)| name));
    for (name, cells) in kernels {
        row(name, cells.each_ref().map(String::as_str));
    }
    text
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
