//! What kernels cost on the device: as a table, and as JSON for programs to read (`OKL_STATS=FILE.json`).

use okl_job::json::Object;
use okl_job::report;

use crate::mirrors::Moved;

/// What a kernel costs.
#[derive(Clone, Debug, Default)]
pub struct Cost {
    /// How often it was launched.
    pub launches: u64,
    /// What that took on the device.
    pub milliseconds: f64,
    /// Registers of a work item, and which part of the work items that the device could run at the same time it ran in the
    /// first launch.
    pub needs: Option<(u32, f64)>,
    /// What was copied for it to the device, and of what it wrote from it.
    pub moved: Moved,
}

impl Cost {
    /// More was copied.
    pub fn add(&mut self, moved: Moved) {
        self.moved.up += moved.up;
        self.moved.down += moved.down;
    }
}

/// Columns behind the kernel's name, and their widths.
const COLUMNS: [(&str, usize); 7] = [
    ("launches", 9),
    ("milliseconds", 13),
    ("MB to device", 13),
    ("MB from device", 14),
    ("registers", 9),
    ("occupancy", 9),
    ("at", 0),
];

/// A kernel's name, its place, and what it costs.
pub type Row<'a> = (&'a str, &'a str, &'a Cost);

/// Raised when what a name in the file stands for changes.
const VERSION: u32 = 1;

/// The most expensive first.
fn sorted(mut kernels: Vec<Row<'_>>) -> Vec<Row<'_>> {
    kernels.sort_by(|one, other| other.2.milliseconds.total_cmp(&one.2.milliseconds));
    kernels
}

/// An object: `okl` is the version of its form, and `devices` has one element, whose `kernels` are as in the table. What is not
/// known of a kernel is not there.
pub fn json(device: &str, rank: u32, kernels: Vec<Row<'_>>) -> String {
    let kernels = sorted(kernels).into_iter().map(|(name, place, cost)| {
        let nanoseconds = (cost.milliseconds * 1e6).round() as i128;
        let object = Object::new().text("name", name).text("at", place);
        let object = object.number("launches", cost.launches);
        let object = object.number("ns", nanoseconds);
        let object = object.number("bytes to device", cost.moved.up);
        let object = object.number("bytes from device", cost.moved.down);
        match cost.needs {
            Some((registers, part)) => object
                .number("registers", registers)
                .number("occupancy percent", (100.0 * part).round() as i128),
            None => object,
        }
    });
    let device = Object::new().text("name", device).number("rank", rank);
    let device = device.objects("kernels", kernels);
    let all = Object::new().number("okl", VERSION);
    all.objects("devices", [device].into_iter()).finish() + "\n"
}

/// The table.
pub fn table(device: &str, kernels: Vec<Row<'_>>) -> String {
    let megabytes = |bytes: u64| format!("{:.3}", bytes as f64 * 1e-6);
    let rows = sorted(kernels).into_iter().map(|(name, place, cost)| {
        let cells = [
            cost.launches.to_string(),
            format!("{:.3}", cost.milliseconds),
            megabytes(cost.moved.up),
            megabytes(cost.moved.down),
            cost.needs
                .map_or("?".to_owned(), |(registers, _)| registers.to_string()),
            cost.needs
                .map_or("?".to_owned(), |(_, part)| format!("{:.0}%", 100.0 * part)),
            place.to_owned(),
        ];
        (name, cells)
    });
    let rows: Vec<_> = rows.collect();
    report::table(&format!("kernels on {device}"), COLUMNS, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_most_expensive_first() {
        let cost = |launches, milliseconds, up, down| Cost {
            launches,
            milliseconds,
            needs: (launches == 10).then_some((42, 0.625)),
            moved: Moved { up, down },
        };
        let costs = [cost(10, 1.5, 8_000_000, 0), cost(2, 20.25, 0, 4096)];
        let rows = vec![
            ("add", "k.okl:3", &costs[0]),
            ("gather", "k.okl:9", &costs[1]),
        ];
        let expected = "okl: kernels on NVIDIA H100\n  \
             kernel  launches  milliseconds  MB to device MB from device registers occupancy at\n  \
             gather         2        20.250         0.000          0.004         ?         ? k.okl:9\n  \
             add           10         1.500         8.000          0.000        42       62% k.okl:3\n";
        assert_eq!(table("NVIDIA H100", rows.clone()), expected);
        let expected = "{\"okl\":1,\"devices\":[{\"name\":\"NVIDIA H100\",\"rank\":2,\"kernels\":[\
             {\"name\":\"gather\",\"at\":\"k.okl:9\",\"launches\":2,\"ns\":20250000,\
             \"bytes to device\":0,\"bytes from device\":4096},\n\
             {\"name\":\"add\",\"at\":\"k.okl:3\",\"launches\":10,\"ns\":1500000,\
             \"bytes to device\":8000000,\"bytes from device\":0,\"registers\":42,\"occupancy percent\":63}]}]}\n";
        assert_eq!(json("NVIDIA H100", 2, rows), expected);
    }
}
