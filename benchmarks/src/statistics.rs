//! Medians and the spread around them.

/// Where the values of several repetitions lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) least: f64,
    pub(crate) lower_quartile: f64,
    pub(crate) median: f64,
    pub(crate) upper_quartile: f64,
    pub(crate) most: f64,
}

impl Spread {
    /// None of no values.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        Some(Self {
            least: *sorted.first()?,
            lower_quartile: quantile(&sorted, 0.25),
            median: quantile(&sorted, 0.5),
            upper_quartile: quantile(&sorted, 0.75),
            most: *sorted.last()?,
        })
    }

    /// Of `above[i] / below[i]`: both were measured one after the other in repetition `i`. A
    /// repetition that lacks one of the two does not count.
    pub(crate) fn of_ratios(above: &[Option<f64>], below: &[Option<f64>]) -> Option<Self> {
        let ratios: Vec<f64> = above
            .iter()
            .zip(below)
            .filter_map(|(a, b)| Some((*a)? / (*b)?))
            .collect();
        Self::of(&ratios)
    }
}

/// None of no values, which are above 0.
pub(crate) fn geometric_mean(values: &[f64]) -> Option<f64> {
    let logarithms: f64 = values.iter().map(|value| value.ln()).sum();
    (!values.is_empty()).then(|| (logarithms / values.len() as f64).exp())
}

/// Linear between the two nearest values.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * (sorted.len() - 1) as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    sorted[below] + (sorted[above] - sorted[below]) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_values_does_not_matter() {
        let spread = Spread::of(&[5.0, 1.0, 4.0, 2.0, 3.0]).unwrap();
        let wanted = Spread {
            least: 1.0,
            lower_quartile: 2.0,
            median: 3.0,
            upper_quartile: 4.0,
            most: 5.0,
        };
        assert_eq!(spread, wanted);
    }

    #[test]
    fn an_even_number_of_values_is_interpolated() {
        let spread = Spread::of(&[1.0, 2.0, 4.0, 8.0]).unwrap();
        assert_eq!(spread.median, 3.0);
        assert_eq!(spread.lower_quartile, 1.75);
        assert_eq!(spread.upper_quartile, 5.0);
    }

    #[test]
    fn one_value_is_everything_and_none_is_nothing() {
        let spread = Spread::of(&[7.0]).unwrap();
        assert_eq!((spread.least, spread.median, spread.most), (7.0, 7.0, 7.0));
        assert_eq!(Spread::of(&[]), None);
    }

    #[test]
    fn a_geometric_mean_takes_twice_and_half_for_one() {
        let mean = geometric_mean(&[2.0, 0.5, 8.0]).unwrap();
        assert!((mean - 2.0).abs() < 1e-12, "{mean}");
        assert_eq!(geometric_mean(&[]), None);
    }

    #[test]
    fn ratios_are_those_of_each_repetition() {
        // Divided as medians they would give 1; each repetition says 2, 0.5 and nothing.
        let above = [Some(2.0), Some(1.0), None];
        let below = [Some(1.0), Some(2.0), Some(9.0)];
        let spread = Spread::of_ratios(&above, &below).unwrap();
        assert_eq!((spread.least, spread.most), (0.5, 2.0));
        assert_eq!(Spread::of_ratios(&[None], &[Some(1.0)]), None);
    }
}
