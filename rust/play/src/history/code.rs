//! An attempt in four bytes: from the highest bit on the time since the attempt before, duration, lateness, cause,
//! outcome.

use std::time::Duration;

use super::attempt::{OutcomeKind, PastAttempt};
use crate::cause::Cause;

/// A packed attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Code(u32);

impl Code {
    /// The code of an attempt that ended so long after the one before.
    #[inline]
    pub(super) fn of(attempt: &PastAttempt, since_ms: i64) -> Self {
        let since = SINCE.code(u64::try_from(since_ms).unwrap_or(0) / SINCE_UNIT_MS as u64);
        let duration = DURATION.code(micros(attempt.duration));
        let lateness = LATENESS.code(micros(attempt.lateness));
        let cause = u32::from(NUMBERS[attempt.cause as usize]);
        let mut code = since;
        code = code << DURATION.bits() | duration;
        code = code << LATENESS.bits() | lateness;
        code = code << CAUSE_BITS | cause;
        Self(code << OUTCOME_BITS | attempt.outcome as u32)
    }

    /// The attempt again, which ended at `at_ms`.
    pub(super) fn attempt(self, at_ms: i64) -> PastAttempt {
        let lateness = self.0 >> (OUTCOME_BITS + CAUSE_BITS);
        let duration = lateness >> LATENESS.bits();
        PastAttempt {
            at_ms,
            outcome: self.outcome(),
            cause: self.cause().expect("an attempt has a cause"),
            duration: Duration::from_micros(DURATION.middle(duration & DURATION.mask())),
            lateness: Duration::from_micros(LATENESS.middle(lateness & LATENESS.mask())),
        }
    }

    /// How long after the attempt before it ended, in milliseconds.
    pub(super) const fn since_ms(self) -> i64 {
        SINCE.least(self.0 >> (32 - SINCE.bits())) as i64 * SINCE_UNIT_MS
    }

    pub(super) const fn outcome(self) -> OutcomeKind {
        OutcomeKind::ALL[(self.0 & ((1 << OUTCOME_BITS) - 1)) as usize]
    }

    fn cause(self) -> Option<Cause> {
        CAUSES.get((self.0 >> OUTCOME_BITS & ((1 << CAUSE_BITS) - 1)) as usize).copied()
    }

    pub(super) const fn to_bytes(self) -> [u8; 4] {
        self.0.to_le_bytes()
    }

    /// None if no attempt has these bytes.
    pub(super) fn from_bytes(bytes: [u8; 4]) -> Option<Self> {
        let code = Self(u32::from_le_bytes(bytes));
        code.cause().map(|_| code)
    }
}

/// Whole numbers as floating-point numbers without a sign: numbers below 2 to the power of `fraction` are exact, and
/// larger ones keep so many bits behind their highest one.
struct Float {
    exponent: u32,
    fraction: u32,
}

impl Float {
    const fn bits(&self) -> u32 {
        self.exponent + self.fraction
    }

    const fn mask(&self) -> u32 {
        (1 << self.bits()) - 1
    }

    /// The code of a number, rounded down.
    #[inline]
    const fn code(&self, number: u64) -> u32 {
        let Some(shift) = (u64::BITS - number.leading_zeros()).checked_sub(self.fraction + 1) else {
            return number as u32;
        };
        let code = (shift << self.fraction) as u64 + (number >> shift);
        if code < self.mask() as u64 { code as u32 } else { self.mask() }
    }

    /// The smallest number with this code.
    const fn least(&self, code: u32) -> u64 {
        let highest = 1 << self.fraction;
        match code >> self.fraction {
            0 => code as u64,
            exponent => ((code & (highest - 1) | highest) as u64) << (exponent - 1),
        }
    }

    /// The number in the middle of those with this code.
    const fn middle(&self, code: u32) -> u64 {
        let exponent = code >> self.fraction;
        self.least(code) + if exponent > 1 { 1 << (exponent - 2) } else { 0 }
    }
}

/// Microseconds in 64 bits: the standard library counts them in 128, which takes longer than all else here.
#[inline]
pub(super) fn micros(length: Duration) -> u64 {
    length.as_secs().saturating_mul(1_000_000).saturating_add(length.subsec_micros().into())
}

const SINCE: Float = Float { exponent: 4, fraction: 6 };
const DURATION: Float = Float { exponent: 5, fraction: 3 };
const LATENESS: Float = Float { exponent: 5, fraction: 2 };
const CAUSE_BITS: u32 = 5;
const OUTCOME_BITS: u32 = 2;
const _: () = assert!(SINCE.bits() + DURATION.bits() + LATENESS.bits() + CAUSE_BITS + OUTCOME_BITS == u32::BITS);

/// The unit of the time between two attempts.
const SINCE_UNIT_MS: i64 = 16;

/// The longest time between two attempts.
pub(super) const SINCE_MS_MAX: i64 = SINCE.least(SINCE.mask()) as i64 * SINCE_UNIT_MS;

/// The place of a cause is its number in a journal. So a new cause has its place at the end, and none ever goes.
const CAUSES: [Cause; Cause::ALL.len()] = [
    Cause::Body,
    Cause::ConnectTimeout,
    Cause::Cri,
    Cause::Dns,
    Cause::Eof,
    Cause::ExecExit,
    Cause::ExecTimeout,
    Cause::GrpcStatus,
    Cause::HeaderTimeout,
    Cause::Http2,
    Cause::Malformed,
    Cause::Ok,
    Cause::Port,
    Cause::Redirect,
    Cause::Refused,
    Cause::Request,
    Cause::Reset,
    Cause::Starved,
    Cause::Status,
    Cause::Tls,
    Cause::Unreachable,
];
const _: () = assert!(CAUSES.len() <= 1 << CAUSE_BITS);

/// The number of each cause.
const NUMBERS: [u8; CAUSES.len()] = {
    let (mut numbers, mut number) = ([u8::MAX; CAUSES.len()], 0);
    while number < CAUSES.len() {
        let place = &mut numbers[CAUSES[number] as usize];
        assert!(*place == u8::MAX, "a cause has one number");
        *place = number as u8;
        number += 1;
    }
    numbers
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_grow_with_their_numbers_and_give_them_back_within_the_precision() {
        for float in [SINCE, DURATION, LATENESS] {
            let most = float.least(float.mask());
            for code in 0..=float.mask() {
                assert_eq!(float.code(float.least(code)), code);
                assert_eq!(float.code(float.middle(code)), code);
            }
            for number in (0..64).flat_map(|power| [(1_u64 << power) - 1, 1 << power, (1 << power) + 1]) {
                let code = float.code(number);
                let (least, middle) = (float.least(code), float.middle(code));
                assert!(least <= number, "{number}");
                assert!((number - least) << float.fraction <= number || number > most, "{number}");
                assert!(number.abs_diff(middle) << (float.fraction + 1) <= number || number > most, "{number}");
            }
        }
    }

    #[test]
    fn the_longest_values_are_those_of_the_table() {
        assert_eq!(SINCE_MS_MAX / 3_600_000, 9);
        assert_eq!(DURATION.least(DURATION.mask()) / 3_600_000_000, 4);
        assert_eq!(LATENESS.least(LATENESS.mask()) / 3_600_000_000, 2);
    }
}
