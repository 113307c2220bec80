//! The token bucket that limits events, restarts and requests.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::time::Instant;

/// A bucket of `burst` tokens that regains one every `interval`. It starts full. Rounding neither loses nor makes a
/// token.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TokenBucket {
    burst: u64,
    interval: u64,
    /// The bucket holds as many tokens as if it had been empty at this moment (nanoseconds) and had been filling since.
    empty_at: i128,
}

impl TokenBucket {
    /// A full bucket. A zero `interval` never limits. `burst` is at least one: without room for a token there would be
    /// none to take, however long one waits.
    pub fn new(burst: u32, interval: Duration) -> Self {
        debug_assert!(burst > 0, "a bucket has room for a token");
        let interval = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
        let burst = u64::from(burst);
        // Filling since this long before zero makes the bucket full at every possible `now`.
        Self { burst, interval, empty_at: -i128::from(burst) * i128::from(interval) }
    }

    /// Takes `tokens` and returns true if the bucket holds that many; otherwise takes none and returns false.
    pub fn take(&mut self, tokens: u32, now: Instant) -> bool {
        let tokens = u64::from(tokens);
        if tokens > self.available(now) {
            return false;
        }
        self.empty_at = self.empty_by(now) + i128::from(tokens) * i128::from(self.interval);
        true
    }

    /// Takes one token, which the bucket may not hold yet, and returns the moment at which it will. Callers get their
    /// tokens in the order of their calls.
    pub fn reserve(&mut self, now: Instant) -> Instant {
        let due = self.due(now);
        self.empty_at = self.empty_by(now) + i128::from(self.interval);
        due
    }

    /// The moment at which the bucket will hold a token if nobody takes one; `now` if it holds one already.
    pub fn due(&self, now: Instant) -> Instant {
        let end = (self.empty_by(now) + i128::from(self.interval)).clamp(0, i128::from(u64::MAX));
        Instant::from_nanos(end as u64).max(now)
    }

    /// `empty_at`, or the later moment since which a bucket that is full at `now` would have been filling.
    fn empty_by(&self, now: Instant) -> i128 {
        self.empty_at.max(i128::from(now.as_nanos()) - i128::from(self.burst) * i128::from(self.interval))
    }

    /// Whole tokens at `now`.
    pub fn available(&self, now: Instant) -> u64 {
        if self.interval == 0 {
            return self.burst;
        }
        let filling = i128::from(now.as_nanos()) - self.empty_at;
        u64::try_from(filling.max(0) / i128::from(self.interval)).unwrap_or(u64::MAX).min(self.burst)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Closed form: a bucket that is never full again gives at most burst + floor(elapsed / interval) tokens, and a
        /// caller that asks at every tick gets exactly that many.
        #[test]
        fn a_greedy_taker_gets_burst_plus_the_refill(burst in 1..50_u32, interval in 1..1_000_u64, elapsed in 0..100_000_u64) {
            let mut bucket = TokenBucket::new(burst, Duration::from_nanos(interval));
            let mut got = 0_u64;
            while bucket.take(1, Instant::ZERO) {
                got += 1;
            }
            prop_assert_eq!(got, u64::from(burst));
            for tick in 1..=elapsed / interval {
                if bucket.take(1, Instant::from_nanos(tick * interval)) {
                    got += 1;
                }
            }
            prop_assert_eq!(got, u64::from(burst) + elapsed / interval);
        }

        /// A naive model keeps the credit in nanoseconds and caps it at every step; the bucket must agree with it.
        #[test]
        fn agrees_with_a_credit_counter(burst in 1..20_u32, interval in 1..50_u64, takes in prop::collection::vec((0..100_u64, 1..4_u32), 0..100)) {
            let mut bucket = TokenBucket::new(burst, Duration::from_nanos(interval));
            let cap = u64::from(burst) * interval;
            let (mut credit, mut now) = (cap, 0_u64);
            for (wait, tokens) in takes {
                now += wait;
                credit = (credit + wait).min(cap);
                let expected = credit >= u64::from(tokens) * interval;
                if expected {
                    credit -= u64::from(tokens) * interval;
                }
                prop_assert_eq!(bucket.take(tokens, Instant::from_nanos(now)), expected);
                prop_assert_eq!(bucket.available(Instant::from_nanos(now)), credit / interval);
                let wait = interval.saturating_sub(credit);
                prop_assert_eq!(bucket.due(Instant::from_nanos(now)), Instant::from_nanos(now + wait));
            }
        }
    }

    #[test]
    fn a_token_after_the_end_of_the_clock_is_never_there() {
        let mut bucket = TokenBucket::new(1, Duration::from_nanos(u64::MAX));
        let reserved = [0; 3].map(|_| bucket.reserve(Instant::ZERO).as_nanos());
        assert_eq!(reserved, [0, u64::MAX, u64::MAX]);
    }

    #[test]
    fn each_reservation_waits_for_a_token_of_its_own() {
        let mut bucket = TokenBucket::new(2, Duration::from_secs(10));
        let at = |bucket: &mut TokenBucket, second: u64| {
            bucket.reserve(Instant::from_millis(second * 1_000)).as_nanos() / 1_000_000_000
        };
        assert_eq!([0; 4].map(|second| at(&mut bucket, second)), [0, 0, 10, 20]);
        assert_eq!(at(&mut bucket, 25), 30);
        assert_eq!([100; 3].map(|second| at(&mut bucket, second)), [100, 100, 110]);
    }

    #[test]
    fn the_kubelets_event_filter_gives_25_and_then_one_in_five_minutes() {
        let mut bucket = TokenBucket::new(25, Duration::from_secs(300));
        let passed =
            |bucket: &mut TokenBucket, second: u64| bucket.take(1, Instant::from_nanos(second * 1_000_000_000));
        assert_eq!((0..30).filter(|_| passed(&mut bucket, 0)).count(), 25);
        assert!(!passed(&mut bucket, 299));
        assert!(passed(&mut bucket, 300));
        assert!(!passed(&mut bucket, 301));
    }
}
