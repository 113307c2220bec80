//! How long something takes, as a distribution: a constant, uniform, or log-normal.

use std::f64::consts::SQRT_2;
use std::time::Duration;

use serde::Deserialize;

/// A spread as a caller writes it, in nanoseconds.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Given {
    shape: Form,
    /// The constant, the least, or the median.
    low_ns: u64,
    /// The most, or the 99th percentile.
    #[serde(default)]
    high_ns: u64,
    /// What is added for each day since t = 0.
    #[serde(default)]
    pub(super) per_day_ns: u64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Form {
    Constant,
    LogNormal,
    Uniform,
}

impl Given {
    /// The spread at t = 0.
    pub(super) fn spread(self) -> Spread {
        let (low, high) = (seconds(self.low_ns), seconds(self.high_ns));
        match self.shape {
            Form::Uniform if high > low => Spread { shift: low, shape: Shape::Uniform { width: high - low } },
            Form::LogNormal if high > low && low > 0.0 => {
                let shape = Shape::LogNormal { mu: low.ln(), sigma: (high / low).ln() / NORMAL_P99 };
                Spread { shift: 0.0, shape }
            }
            _ => Spread::constant(low),
        }
    }
}

/// How long something takes, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    /// What is added to each value of the shape.
    shift: f64,
    shape: Shape,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Constant,
    LogNormal { mu: f64, sigma: f64 },
    Uniform { width: f64 },
}

impl Spread {
    pub(super) const fn constant(seconds: f64) -> Self {
        Self { shift: seconds, shape: Shape::Constant }
    }

    pub(super) fn mean(&self) -> f64 {
        self.shift
            + match self.shape {
                Shape::Constant => 0.0,
                Shape::LogNormal { mu, sigma } => (sigma * sigma / 2.0 + mu).exp(),
                Shape::Uniform { width } => width / 2.0,
            }
    }

    fn variance(&self) -> f64 {
        match self.shape {
            Shape::Constant => 0.0,
            Shape::LogNormal { mu, sigma } => (sigma * sigma).exp_m1() * (sigma * sigma + 2.0 * mu).exp(),
            Shape::Uniform { width } => width * width / 12.0,
        }
    }

    /// The same, each value multiplied.
    pub(super) fn scaled(self, factor: f64) -> Self {
        let shape = match self.shape {
            Shape::Constant => Shape::Constant,
            Shape::LogNormal { mu, sigma } => Shape::LogNormal { mu: mu + factor.ln(), sigma },
            Shape::Uniform { width } => Shape::Uniform { width: width * factor },
        };
        Self { shift: self.shift * factor, shape }
    }

    /// The same, each value later by so many seconds.
    pub(super) fn later(self, seconds: f64) -> Self {
        Self { shift: self.shift + seconds, ..self }
    }

    /// One after the other. Where both vary, the sum is taken for log-normal with its own mean and variance.
    pub(super) fn then(self, other: Self) -> Self {
        match (self.shape, other.shape) {
            (_, Shape::Constant) => self.later(other.shift),
            (Shape::Constant, _) => other.later(self.shift),
            _ => {
                let shift = self.shift + other.shift;
                let mean = self.mean() + other.mean() - shift;
                let spread = (self.variance() + other.variance()) / (mean * mean);
                let sigma_squared = spread.ln_1p();
                let shape = Shape::LogNormal { mu: mean.ln() - sigma_squared / 2.0, sigma: sigma_squared.sqrt() };
                Self { shift, shape }
            }
        }
    }

    /// The share of values of at most `seconds`.
    pub(super) fn share_within(&self, seconds: f64) -> f64 {
        let rest = seconds - self.shift;
        match self.shape {
            Shape::Constant => f64::from(rest >= 0.0),
            Shape::LogNormal { .. } if rest <= 0.0 => 0.0,
            Shape::LogNormal { mu, sigma } => normal((rest.ln() - mu) / sigma),
            Shape::Uniform { width } => (rest / width).clamp(0.0, 1.0),
        }
    }

    /// The mean of how much a value is below `seconds`, a value above it counting as nothing: the integral of
    /// [`Spread::share_within`] from 0 to `seconds`.
    pub(super) fn mean_below(&self, seconds: f64) -> f64 {
        let rest = seconds - self.shift;
        if rest <= 0.0 {
            return 0.0;
        }
        match self.shape {
            Shape::Constant => rest,
            Shape::LogNormal { mu, sigma } => {
                let z = (rest.ln() - mu) / sigma;
                rest * normal(z) - (sigma * sigma / 2.0 + mu).exp() * normal(z - sigma)
            }
            Shape::Uniform { width } if rest < width => rest * rest / (2.0 * width),
            Shape::Uniform { width } => rest - width / 2.0,
        }
    }

    /// The value below which the share `u` of all lies, for a `u` between 0 and 1.
    pub(super) fn at(&self, u: f64) -> Duration {
        let value = match self.shape {
            Shape::Constant => 0.0,
            Shape::LogNormal { mu, sigma } => (mu + sigma * normal_inverse(u)).exp(),
            Shape::Uniform { width } => width * u,
        };
        Duration::from_secs_f64((self.shift + value).clamp(0.0, LONGEST))
    }

    /// Whether every value is the same.
    pub(super) const fn is_constant(&self) -> bool {
        matches!(self.shape, Shape::Constant)
    }
}

pub(super) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// The share of the standard normal distribution below `z`.
fn normal(z: f64) -> f64 {
    let tail = erfc(z.abs() / SQRT_2) / 2.0;
    if z < 0.0 { tail } else { 1.0 - tail }
}

/// The complementary error function for x >= 0, within 1.2e-7 (Press et al., Numerical Recipes, section 6.2).
fn erfc(x: f64) -> f64 {
    let t = 1.0 / (1.0 + x / 2.0);
    let sum = ERFC.iter().rev().fold(0.0, |sum, coefficient| sum * t + coefficient);
    t * (sum - x * x).exp()
}

/// The value of the standard normal distribution below which the share `u` lies, within 1.2e-9 (Acklam 2003).
fn normal_inverse(u: f64) -> f64 {
    let tail = |p: f64| {
        let q = (-2.0 * p.ln()).sqrt();
        polynomial(&INVERSE_TAIL, q) / (polynomial(&INVERSE_TAIL_BELOW, q) * q + 1.0)
    };
    let u = u.clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON);
    if u < INVERSE_SPLIT {
        return tail(u);
    }
    if u > 1.0 - INVERSE_SPLIT {
        return -tail(1.0 - u);
    }
    let q = u - 0.5;
    let r = q * q;
    polynomial(&INVERSE_MIDDLE, r) * q / (polynomial(&INVERSE_MIDDLE_BELOW, r) * r + 1.0)
}

fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

/// The 99th percentile of the standard normal distribution.
const NORMAL_P99: f64 = 2.326_347_874_040_841;
/// The longest value, in seconds: a year, far beyond every timeout.
const LONGEST: f64 = 365.0 * 86_400.0;

const ERFC: [f64; 10] = [
    -1.265_512_23,
    1.000_023_68,
    0.374_091_96,
    0.096_784_18,
    -0.186_288_06,
    0.278_868_07,
    -1.135_203_98,
    1.488_515_87,
    -0.822_152_23,
    0.170_872_77,
];

const INVERSE_SPLIT: f64 = 0.024_25;
const INVERSE_MIDDLE: [f64; 6] = [
    -39.696_830_286_653_76,
    220.946_098_424_520_5,
    -275.928_510_446_968_7,
    138.357_751_867_269,
    -30.664_798_066_147_16,
    2.506_628_277_459_239,
];
const INVERSE_MIDDLE_BELOW: [f64; 5] = [
    -54.476_098_798_224_06,
    161.585_836_858_040_9,
    -155.698_979_859_886_6,
    66.801_311_887_719_72,
    -13.280_681_552_885_72,
];
const INVERSE_TAIL: [f64; 6] = [
    -0.007_784_894_002_430_293,
    -0.322_396_458_041_136_5,
    -2.400_758_277_161_838,
    -2.549_732_539_343_734,
    4.374_664_141_464_968,
    2.938_163_982_698_783,
];
const INVERSE_TAIL_BELOW: [f64; 4] =
    [0.007_784_695_709_041_462, 0.322_467_129_070_039_8, 2.445_134_137_142_996, 3.754_408_661_907_416];

#[cfg(test)]
mod tests {
    use super::*;

    fn given(json: &str) -> Spread {
        serde_json::from_str::<Given>(json).unwrap().spread()
    }

    fn spreads() -> [Spread; 4] {
        let log_normal = given(r#"{"shape": "log_normal", "low_ns": 40000000, "high_ns": 300000000}"#);
        let uniform = given(r#"{"shape": "uniform", "low_ns": 10000000, "high_ns": 50000000}"#);
        [Spread::constant(0.04), log_normal, uniform, log_normal.then(uniform).scaled(3.0).later(0.01)]
    }

    #[test]
    fn percentiles_are_those_that_were_given() {
        let spread = given(r#"{"shape": "log_normal", "low_ns": 40000000, "high_ns": 300000000}"#);
        assert!((spread.share_within(0.04) - 0.5).abs() < 1e-6);
        assert!((spread.share_within(0.3) - 0.99).abs() < 1e-6);
        assert!((spread.at(0.99).as_secs_f64() - 0.3).abs() < 1e-6);
    }

    #[test]
    fn a_value_and_its_share_are_inverse() {
        for spread in spreads().into_iter().filter(|spread| !spread.is_constant()) {
            for percent in 1..100 {
                let u = f64::from(percent) / 100.0;
                let back = spread.share_within(spread.at(u).as_secs_f64());
                assert!((back - u).abs() < 1e-5, "{spread:?}: {u} {back}");
            }
        }
    }

    #[test]
    fn mean_below_is_the_integral_of_the_share() {
        for spread in spreads() {
            let (mut sum, step) = (0.0, 1e-5);
            for index in 0..100_000 {
                sum += spread.share_within((f64::from(index) + 0.5) * step) * step;
            }
            assert!((spread.mean_below(1.0) - sum).abs() < 2e-5, "{spread:?}");
        }
    }

    #[test]
    fn the_mean_is_that_of_many_values() {
        for spread in spreads() {
            let values = (0..100_000).map(|index| spread.at((f64::from(index) + 0.5) / 100_000.0).as_secs_f64());
            let mean = values.sum::<f64>() / 100_000.0;
            assert!((mean / spread.mean() - 1.0).abs() < 1e-3, "{spread:?}: {mean}");
        }
    }
}
