//! The shape of crash-loop delays: where they begin, how they grow, when they start anew.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The shape of the delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Curve {
    /// The first delay.
    pub initial: Duration,
    /// The longest delay.
    pub max: Duration,
    /// A run, or the time since an entry's last start, that is strictly longer than this makes the delays start anew.
    pub reset: Duration,
    /// The factor by which every further start multiplies the delay, in thousandths; 2000 doubles it.
    pub factor_milli: u32,
    /// Whether a container without an entry starts again at once after its exit; if not, it waits the initial delay.
    pub first_free: bool,
}

impl Curve {
    /// 10 s doubling to 300 s, flat reset after 600 s (kubelet.go, 1.36).
    pub const TODAY: Self = Self {
        initial: Duration::from_secs(10),
        max: Duration::from_secs(300),
        reset: Duration::from_secs(600),
        factor_milli: 2_000,
        first_free: true,
    };

    /// 1 s doubling to 60 s: the curve under the gate ReduceDefaultCrashLoopBackOffDecay.
    pub const REDUCED: Self = Self { initial: Duration::from_secs(1), max: Duration::from_secs(60), ..Self::TODAY };

    /// The delay after this one.
    pub(super) fn grown(&self, delay: Duration) -> Duration {
        let factor = u64::from(self.factor_milli);
        if factor >= 1_000 && delay >= self.max {
            return self.max;
        }
        let nanos = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
        // A division of 64 bits is enough for delays of up to a hundred days.
        let grown = nanos.checked_mul(factor).map_or_else(
            || u64::try_from(u128::from(nanos) * u128::from(factor) / 1_000).unwrap_or(u64::MAX),
            |product| product / 1_000,
        );
        Duration::from_nanos(grown).min(self.max)
    }
}

impl Default for Curve {
    fn default() -> Self {
        Self::TODAY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_of_any_length_grows_or_shrinks_by_the_factor() {
        const DAY: Duration = Duration::from_secs(86_400);
        let grown = |factor_milli, delay| Curve { factor_milli, max: 200_000 * DAY, ..Curve::TODAY }.grown(delay);
        // From a hundred days on, delay and factor multiplied need more than 64 bits.
        for days in [1, 106, 107, 1_000, 50_000] {
            assert_eq!(grown(2_000, days * DAY), 2 * days * DAY, "{days} days");
            assert_eq!(grown(1_500, days * DAY), days * DAY * 3 / 2, "{days} days");
        }
        assert_eq!(grown(500, 200_000 * DAY), 100_000 * DAY, "a factor below 1 leaves the maximum");
        assert_eq!(grown(2_000, 150_000 * DAY), 200_000 * DAY);
        assert_eq!(
            Curve { factor_milli: 2_000, max: Duration::MAX, ..Curve::TODAY }.grown(Duration::MAX),
            Duration::MAX
        );
        let longest = Duration::from_nanos(u64::MAX);
        assert_eq!(Curve { factor_milli: 2_000, max: longest, ..Curve::TODAY }.grown(longest / 2 + DAY), longest);
    }
}
