//! Draws the ratios and the times, for each number of ranks, as SVG.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::measure::{Results, Timing};
use crate::statistics::Spread;
use crate::tools::Variant;

/// One bar, with its spread.
struct Bar {
    series: usize,
    spread: Spread,
}

/// The bars of one program.
struct Group<'a> {
    name: &'a str,
    bars: Vec<Bar>,
    /// Where they should end, at most.
    aim: Option<f64>,
}

/// One figure: for each program a group of bars over a logarithmic scale.
struct Figure<'a> {
    title: String,
    unit: &'a str,
    series: &'a [(&'a str, RGBColor)],
    groups: Vec<Group<'a>>,
    /// From where bars go up or down; without it they start at the bottom.
    base: Option<f64>,
}

const BLUE: RGBColor = RGBColor(0x3b, 0x6f, 0xb6);
const ORANGE: RGBColor = RGBColor(0xe0, 0x8a, 0x2c);
const GREEN: RGBColor = RGBColor(0x3f, 0x9b, 0x6c);
const TEAL: RGBColor = RGBColor(0x5f, 0xb8, 0xc4);
const RED: RGBColor = RGBColor(0xc0, 0x30, 0x30);
const GREY: RGBColor = RGBColor(0x99, 0x99, 0x99);
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);

/// Writes `ratios-N.svg` and `times-N.svg` for every number of ranks.
pub(crate) fn draw(results: &Results, folder: &Path) -> Result<(), String> {
    let mut ranks: Vec<u32> = results.timings.iter().map(|timing| timing.ranks).collect();
    ranks.sort_unstable();
    ranks.dedup();
    for ranks in ranks {
        let timings: Vec<&Timing> = results
            .timings
            .iter()
            .filter(|timing| timing.ranks == ranks)
            .collect();
        let noun = if ranks == 1 { "rank" } else { "ranks" };
        let ratios = Figure {
            title: format!("Time of okl relative to the other two, {ranks} {noun}"),
            unit: "ratio",
            series: &[
                ("okl as nodes : hand MPI", GREEN),
                ("okl : hand MPI", ORANGE),
                ("okl : OpenMP", BLUE),
            ],
            groups: timings
                .iter()
                .map(|timing| {
                    group(
                        timing,
                        &[
                            timing.nodes_to_hand_mpi(),
                            timing.to_hand_mpi(),
                            timing.to_openmp(),
                        ],
                        Some(timing.benchmark.kind.bound()),
                    )
                })
                .collect(),
            base: Some(1.0),
        };
        ratios.draw(&folder.join(format!("ratios-{ranks}.svg")))?;
        let times = Figure {
            title: format!("Time per iteration, {ranks} {noun}"),
            unit: "microseconds",
            series: &[
                ("OpenMP", BLUE),
                ("hand MPI", ORANGE),
                ("okl as nodes", TEAL),
                ("okl", GREEN),
            ],
            groups: timings
                .iter()
                .map(|timing| {
                    let variants = [
                        Variant::OpenMp,
                        Variant::HandMpi,
                        Variant::OklNodes,
                        Variant::Okl,
                    ];
                    let spreads = variants.map(|variant| timing.spread(variant).map(microseconds));
                    group(timing, &spreads, None)
                })
                .collect(),
            base: None,
        };
        times.draw(&folder.join(format!("times-{ranks}.svg")))?;
    }
    Ok(())
}

/// A figure of ratios to something, as others give them.
pub(crate) struct Bars {
    pub(crate) title: String,
    pub(crate) unit: &'static str,
    pub(crate) series: [&'static str; 4],
    /// The name of each group, and its bars, in the order of the series.
    pub(crate) groups: Vec<(String, [Option<Spread>; 4])>,
}

/// Draws bars that go up or down from 1.
pub(crate) fn draw_bars(path: &Path, bars: &Bars) -> Result<(), String> {
    const COLOURS: [RGBColor; 4] = [GREY, ORANGE, BLUE, GREEN];
    let series: Vec<_> = bars.series.into_iter().zip(COLOURS).collect();
    let figure = Figure {
        title: bars.title.clone(),
        unit: bars.unit,
        series: &series,
        groups: bars
            .groups
            .iter()
            .map(|(name, spreads)| Group {
                name,
                bars: spreads
                    .iter()
                    .enumerate()
                    .filter_map(|(series, spread)| {
                        let spread = (*spread)?;
                        Some(Bar { series, spread })
                    })
                    .collect(),
                aim: None,
            })
            .collect(),
        base: Some(1.0),
    };
    figure.draw(path)
}

fn microseconds(spread: Spread) -> Spread {
    Spread {
        least: spread.least * 1e6,
        lower_quartile: spread.lower_quartile * 1e6,
        median: spread.median * 1e6,
        upper_quartile: spread.upper_quartile * 1e6,
        most: spread.most * 1e6,
    }
}

fn group<'a>(timing: &'a Timing, spreads: &[Option<Spread>], aim: Option<f64>) -> Group<'a> {
    let bars = spreads.iter().enumerate().filter_map(|(series, spread)| {
        let spread = (*spread)?;
        Some(Bar { series, spread })
    });
    Group {
        name: timing.benchmark.name,
        bars: bars.collect(),
        aim,
    }
}

/// What the bars of a figure share.
struct Scale {
    least: f64,
    most: f64,
    top: f64,
    bottom: f64,
}

impl Scale {
    /// From one power of ten, or two or five times one, to another.
    fn around(values: impl Iterator<Item = f64>, top: i32, bottom: i32) -> Self {
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        for value in values.filter(|value| value.is_finite() && *value > 0.0) {
            least = least.min(value);
            most = most.max(value);
        }
        if least > most {
            (least, most) = (1.0, 1.0);
        }
        let below = ticks(least / 10.0, least * 0.95).pop();
        let above = ticks(most * 1.05, most * 10.0).into_iter().next();
        Self {
            least: below.unwrap_or(least / 10.0),
            most: above.unwrap_or(most * 10.0),
            top: f64::from(top),
            bottom: f64::from(bottom),
        }
    }

    fn at(&self, value: f64) -> i32 {
        let part = (value / self.least).ln() / (self.most / self.least).ln();
        (self.bottom - part.clamp(0.0, 1.0) * (self.bottom - self.top)).round() as i32
    }
}

/// 1, 2 and 5 times powers of ten between two values.
fn ticks(from: f64, to: f64) -> Vec<f64> {
    let mut found = Vec::new();
    for power in -9..12 {
        for digit in [1.0, 2.0, 5.0] {
            let tick = digit * 10_f64.powi(power);
            if tick >= from * 0.999_999 && tick <= to * 1.000_001 {
                found.push(tick);
            }
        }
    }
    found
}

impl Figure<'_> {
    fn draw(&self, path: &Path) -> Result<(), String> {
        self.draw_on(path)
            .map_err(|error| format!("cannot draw {}: {error}", path.display()))
    }

    fn draw_on(&self, path: &Path) -> Result<(), Box<dyn std::error::Error>> {
        const LEFT: i32 = 70;
        const TOP: i32 = 70;
        const BOTTOM: i32 = 330;
        const BAR: i32 = 15;
        let group = BAR * self.series.len() as i32 + 30;
        let right = LEFT + group * self.groups.len().max(3) as i32;
        let width = (right + 30).max(850) as u32;
        let area = SVGBackend::new(path, (width, 430)).into_drawing_area();
        area.fill(&WHITE)?;
        text(&area, &self.title, (LEFT, 18), 17)?;
        for (i, (name, colour)) in self.series.iter().enumerate() {
            let x = LEFT + 170 * i as i32;
            area.draw(&Rectangle::new([(x, 45), (x + 11, 56)], colour.filled()))?;
            text(&area, name, (x + 17, 44), 13)?;
        }
        let x = LEFT + 170 * self.series.len() as i32;
        text(&area, self.unit, (x, 44), 13)?;

        let bars = self.groups.iter().flat_map(|group| &group.bars);
        let values = bars.flat_map(|bar| [bar.spread.least, bar.spread.most]);
        let scale = Scale::around(values.chain(self.base), TOP, BOTTOM);
        let all = ticks(scale.least, scale.most);
        let crowded = all.len() > 9;
        for tick in all {
            let decade = (tick.log10() - tick.log10().round()).abs() < 1e-9;
            if crowded && !decade {
                continue;
            }
            let y = scale.at(tick);
            area.draw(&PathElement::new(
                vec![(LEFT, y), (right, y)],
                GREY.mix(0.4),
            ))?;
            let label = tick.to_string();
            text(
                &area,
                &label,
                (LEFT - 8 - 7 * label.len() as i32, y - 7),
                13,
            )?;
        }
        if let Some(base) = self.base {
            let y = scale.at(base);
            area.draw(&PathElement::new(
                vec![(LEFT, y), (right, y)],
                INK.stroke_width(2),
            ))?;
        }
        let foot = self.base.map_or(BOTTOM, |base| scale.at(base));
        for (i, Group { name, bars, aim }) in self.groups.iter().enumerate() {
            let left = LEFT + group * i as i32 + 15;
            for bar in bars {
                let x = left + BAR * bar.series as i32;
                let middle = x + BAR / 2 - 1;
                let colour = self.series[bar.series].1;
                let top = scale.at(bar.spread.median);
                area.draw(&Rectangle::new(
                    [(x, top.min(foot)), (x + BAR - 3, top.max(foot))],
                    colour.filled(),
                ))?;
                area.draw(&PathElement::new(
                    vec![
                        (middle, scale.at(bar.spread.least)),
                        (middle, scale.at(bar.spread.most)),
                    ],
                    INK,
                ))?;
            }
            let right = left + BAR * self.series.len() as i32 - 3;
            if let Some(aim) = aim {
                let y = scale.at(*aim);
                area.draw(&PathElement::new(
                    vec![(left - 6, y), (right + 6, y)],
                    RED.stroke_width(2),
                ))?;
            }
            // Names are longer than groups are wide.
            let y = BOTTOM + 8 + 18 * (i as i32 % 3);
            let style = ("sans-serif", 13).into_font().color(&INK);
            let style = style.pos(Pos::new(HPos::Center, VPos::Top));
            let middle = (left + right) / 2;
            area.draw(&Text::new((*name).to_owned(), (middle, y), style))?;
        }
        let aims = match self.groups.iter().any(|group| group.aim.is_some()) {
            true => "; red: the aim for both : hand MPI",
            false => "",
        };
        let note = format!("bars: medians; lines: least to most; logarithmic scale{aims}");
        text(&area, &note, (LEFT, 400), 12)?;
        area.present()?;
        Ok(())
    }
}

fn text(
    area: &DrawingArea<SVGBackend, Shift>,
    words: &str,
    at: (i32, i32),
    size: i32,
) -> Result<(), Box<dyn std::error::Error>> {
    let style = ("sans-serif", size).into_font().color(&INK);
    area.draw(&Text::new(words.to_owned(), at, style))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_ends_at_round_numbers_around_its_values() {
        let scale = Scale::around([0.97, 1.3, 36.0].into_iter(), 0, 100);
        assert_eq!((scale.least, scale.most), (0.5, 50.0));
        assert_eq!((scale.at(50.0), scale.at(5.0), scale.at(0.5)), (0, 50, 100));
        assert_eq!(scale.at(1e9), 0);
    }

    #[test]
    fn ticks_are_ones_twos_and_fives() {
        assert_eq!(ticks(0.5, 10.0), [0.5, 1.0, 2.0, 5.0, 10.0]);
    }
}
