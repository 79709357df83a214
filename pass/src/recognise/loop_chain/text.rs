//! What the calls that mark a chain say.

use okl_chains::pragma::{ChainPragma, LoopPragma, Position};

use crate::llvm::Call;

/// What one says.
pub struct Text {
    /// The file that the pragma is in.
    pub file: String,
    /// What it is.
    pub what: What,
}

/// What a pragma is.
pub enum What {
    /// `loopchain`.
    Chain(ChainPragma),
    /// `for`.
    Loop(LoopPragma),
}

impl What {
    fn at(&self) -> Position {
        match self {
            What::Chain(said) => said.at,
            What::Loop(said) => said.at,
        }
    }
}

/// Reads one.
pub fn read(_call: Call<'_>) -> Option<Text> {
    None
}

/// Where the pragma stands of which a call says something: the file, and the line and the column.
pub fn place(call: Call<'_>) -> Option<(String, Position)> {
    let text = read(call)?;
    Some((text.file, text.what.at()))
}
