//! What LLVM's linker makes of an object for a device.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::{fs, process};

/// Where it is, the first choice first.
const LINKERS: [&str; 3] = ["ld.lld-22", "/usr/lib/llvm-22/bin/ld.lld", "ld.lld"];

/// A shared object. An error says why there is none, as the end of a message.
pub fn shared(object: &[u8]) -> Result<Vec<u8>, String> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Relaxed);
    let folder = std::env::temp_dir().join(format!("okl-{}-{number}", process::id()));
    let result = fs::create_dir(&folder)
        .map_err(|why| format!("{} cannot be made: {why}", folder.display()))
        .and_then(|()| {
            let [from, to] = ["object.o", "object.so"].map(|name| folder.join(name));
            fs::write(&from, object).map_err(|why| format!("{}: {why}", from.display()))?;
            let mut command = |linker: &&str| {
                let mut command = Command::new(linker);
                let command = command
                    .args(["-shared", "--no-undefined", "-o"])
                    .arg(&to)
                    .arg(&from);
                command.stdin(Stdio::null()).output().ok()
            };
            let output = LINKERS.iter().find_map(&mut command).ok_or(
                "its code needs LLVM's linker, and ld.lld-22 is not there: install lld-22",
            )?;
            match output.status.success() {
                true => fs::read(&to).map_err(|why| format!("{}: {why}", to.display())),
                false => {
                    let told = String::from_utf8_lossy(&output.stderr);
                    Err(format!("LLVM's linker refuses its code: {}", told.trim()))
                }
            }
        });
    let _ = fs::remove_dir_all(&folder);
    result
}
