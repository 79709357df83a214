//! `OKL_STATS=FILE.json`: what the job did, for programs to read. `okl-cc --okl-explain=FILE.json` does.
//!
//! An object: `okl` is the version of the file's form, `ns` how long the job took, `ranks` what each of them did, `regions`
//! and `lines` what these cost, the lines that moved most first.

use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    sync::Mutex,
};

use super::{clock, costs::Costs};
use okl_job::json::Object;
use okl_job::settings::Statistics;

use crate::report;

/// Raised when what a name stands for changes.
const VERSION: u32 = 1;

/// The file, open from the start of the job, and when that was.
pub(super) struct StatsFile {
    file: File,
    path: PathBuf,
    began: u64,
}

static FILE: Mutex<Option<StatsFile>> = Mutex::new(None);

/// Opens the file, if there is to be one. An error says that it cannot be written.
pub(super) fn create(statistics: &Statistics) -> Result<(), String> {
    let Statistics::Written(path) = statistics else {
        return Ok(());
    };
    let failed = |error| {
        format!(
            "OKL_STATS={}: cannot write the file: {error}",
            path.display()
        )
    };
    let file = File::create(path).map_err(failed)?;
    *FILE.lock().expect("nothing panics here") = Some(StatsFile {
        file,
        path: Path::to_owned(path),
        began: clock::now(),
    });
    Ok(())
}

/// The file, where there is one.
pub(super) fn take() -> Option<StatsFile> {
    FILE.lock().expect("nothing panics here").take()
}

impl StatsFile {
    /// Writes all of it.
    pub(super) fn write(
        mut self,
        columns: &[&str],
        table: &[u64],
        regions: &[(&str, Costs)],
        lines: &[(String, Costs)],
    ) {
        let of_rank = |row: &[u64]| {
            let all = columns.iter().zip(row);
            all.fold(Object::new(), |object, (name, &number)| {
                object.number(name, number)
            })
        };
        let object = Object::new()
            .number("okl", VERSION)
            .number("ns", clock::now().saturating_sub(self.began))
            .objects("ranks", table.chunks(columns.len()).map(of_rank))
            .objects(
                "regions",
                regions.iter().map(|(place, costs)| costs.json(place)),
            )
            .objects(
                "lines",
                lines.iter().map(|(place, costs)| costs.json(place)),
            );
        let text = object.finish() + "\n";
        if let Err(error) = self.file.write_all(text.as_bytes()) {
            let path = self.path.display();
            report::warn(&format!(
                "warning: the statistics {path} are not whole: {error}"
            ));
        }
    }
}
