//! What kernels cost on the device, and the table of it.

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

/// The table: the most expensive first. A row is a kernel's name, its place, and what it costs.
pub fn table(device: &str, mut kernels: Vec<(&str, &str, &Cost)>) -> String {
    kernels.sort_by(|one, other| other.2.milliseconds.total_cmp(&one.2.milliseconds));
    let megabytes = |bytes: u64| format!("{:.3}", bytes as f64 * 1e-6);
    let rows = kernels.into_iter().map(|(name, place, cost)| {
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
        assert_eq!(table("NVIDIA H100", rows), expected);
    }
}
