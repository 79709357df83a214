//! `okl-cc`, and `okl-c++` and `okl-fc` under those names.

use std::env;
use std::process::ExitCode;

use okl_driver::{command, language::Language};

fn main() -> ExitCode {
    let mut words = env::args_os();
    let language = Language::of_program(&words.next().unwrap_or_default());
    command::run(language, words.collect()).unwrap_or_else(|message| {
        eprintln!("{}: error: {message}", language.driver);
        ExitCode::FAILURE
    })
}
