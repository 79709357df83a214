//! Loop chains.

use crate::llvm::{self, Run};
use crate::recognise::loop_chain;

/// Prints the chains of a module.
pub fn print(run: &Run<'_>) -> bool {
    let found = loop_chain::recognise(run.module);
    for one in &found.chains {
        llvm::print(&one.to_string());
    }
    for (what, list) in [("wrong", &found.mistakes), ("declined", &found.declined)] {
        for one in list {
            llvm::print(&format!("{what} at {}: {}\n", one.site, one.reason));
        }
    }
    false
}
