//! The times between which a certificate holds. Only their form matters: a probe checks no date (`parseValidity`).

use super::der::Der;
use super::error::ParseError;

pub(super) fn check(mut validity: Der<'_>) -> Result<(), ParseError> {
    check_time(&mut validity)?;
    check_time(&mut validity)
}

fn check_time(times: &mut Der<'_>) -> Result<(), ParseError> {
    let (is_valid, why): (fn(&[u8]) -> bool, _) = match times.0.first() {
        Some(&UTC_TIME) => (is_utc_time, "x509: malformed UTCTime"),
        Some(&GENERALIZED_TIME) => (is_generalized_time, "x509: malformed GeneralizedTime"),
        _ => return Err("x509: unsupported time format".into()),
    };
    match times.any() {
        Some((_, text)) if is_valid(text.0) => Ok(()),
        _ => Err(why.into()),
    }
}

/// YYMMDDhhmm, perhaps seconds, and a zone.
fn is_utc_time(text: &[u8]) -> bool {
    let Some((year, rest)) = number(text, 2) else { return false };
    is_moment(if year >= 69 { 1900 + year } else { 2000 + year }, rest, true)
}

/// YYYYMMDDhhmmss and a zone.
fn is_generalized_time(text: &[u8]) -> bool {
    number(text, 4).is_some_and(|(year, rest)| is_moment(year, rest, false))
}

/// What follows the year.
fn is_moment(year: u32, text: &[u8], may_lack_seconds: bool) -> bool {
    let moment = || {
        let (month, text) = number(text, 2).filter(|(month, _)| (1..=12).contains(month))?;
        let (_, text) = number(text, 2).filter(|(day, _)| (1..=days(month, year)).contains(day))?;
        let (_, text) = number(text, 2).filter(|&(hour, _)| hour < 24)?;
        let (_, text) = number(text, 2).filter(|&(minute, _)| minute < 60)?;
        match number(text, 2) {
            Some((seconds, text)) => (seconds < 60).then_some(text),
            None => may_lack_seconds.then_some(text),
        }
    };
    moment().is_some_and(is_zone)
}

/// `Z`, or hours and minutes as Go would write them again: at most a day, and not zero.
fn is_zone(text: &[u8]) -> bool {
    let offset = |digits| {
        let (hours, rest) = number(digits, 2)?;
        let (minutes, rest) = number(rest, 2)?;
        Some(rest.is_empty() && hours <= 24 && minutes < 60 && hours + minutes > 0)
    };
    match text {
        b"Z" => true,
        [b'+' | b'-', digits @ ..] => offset(digits).unwrap_or(false),
        _ => false,
    }
}

/// A number of so many digits, and what follows it.
fn number(text: &[u8], digits: usize) -> Option<(u32, &[u8])> {
    let (number, rest) = text.split_at_checked(digits)?;
    let value = |value, digit: &u8| digit.is_ascii_digit().then(|| value * 10 + u32::from(digit - b'0'));
    Some((number.iter().try_fold(0, value)?, rest))
}

const fn days(month: u32, year: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

const UTC_TIME: u8 = 23;
const GENERALIZED_TIME: u8 = 24;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_go_reads_them() {
        for text in ["260131235959Z", "2601312359Z", "000229000000Z", "260131235959+0100", "2601312359-2459"] {
            assert!(is_utc_time(text.as_bytes()), "{text}");
        }
        for text in ["260230000000Z", "260131240000Z", "26013123595Z", "260131235959", "260131235959+0000", "2601Z", ""]
        {
            assert!(!is_utc_time(text.as_bytes()), "{text}");
        }
        assert!(is_generalized_time(b"99991231235959Z"));
        assert!(!is_generalized_time(b"999912312359Z"));
        assert!(!is_generalized_time(b"19000229000000Z"));
        assert!(!is_generalized_time(b"20260101000000.5Z"));
    }
}
