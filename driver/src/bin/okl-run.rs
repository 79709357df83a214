//! `okl-run`.

use std::env;
use std::process::ExitCode;

fn main() -> ExitCode {
    okl_driver::launch::run(env::args_os().collect()).unwrap_or_else(|message| {
        eprintln!("okl-run: error: {message}");
        ExitCode::FAILURE
    })
}
