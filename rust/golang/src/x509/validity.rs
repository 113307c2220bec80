//! The times between which a certificate holds (`parseValidity`). A probe checks their form alone.

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

/// The next time in seconds since the Unix epoch; None unless `check` has taken it.
pub(super) fn seconds(times: &mut Der<'_>) -> Option<i64> {
    let (tag, Der(text)) = times.any()?;
    let (year, text) = number(text, if tag == UTC_TIME { 2 } else { 4 })?;
    let year = if tag == UTC_TIME { full_year(year) } else { year };
    let (month, text) = number(text, 2)?;
    let (day, text) = number(text, 2)?;
    let (hours, text) = number(text, 2)?;
    let (minutes, text) = number(text, 2)?;
    let (seconds, zone) = number(text, 2).unwrap_or((0, text));
    let days =
        days_before(year) + (1..month).map(|month| i64::from(days(month, year))).sum::<i64>() + i64::from(day - 1);
    let of_day = i64::from(hours * 3600 + minutes * 60 + seconds);
    Some(days * 86_400 + of_day - offset(zone)?)
}

/// Seconds by which the clocks of a zone are ahead.
fn offset(zone: &[u8]) -> Option<i64> {
    let [sign @ (b'+' | b'-'), digits @ ..] = zone else { return Some(0) };
    let (hours, digits) = number(digits, 2)?;
    let ahead = i64::from(hours * 3600 + number(digits, 2)?.0 * 60);
    Some(if *sign == b'+' { ahead } else { -ahead })
}

/// Days from the Unix epoch to the first day of a year of the Gregorian calendar.
fn days_before(year: u32) -> i64 {
    let leap_days = |year: i64| year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let year = i64::from(year) - 1;
    year * 365 + leap_days(year) - (1969 * 365 + leap_days(1969))
}

/// The year that two digits mean (RFC 5280, 4.1.2.5.1).
const fn full_year(year: u32) -> u32 {
    if year >= 50 { 1900 + year } else { 2000 + year }
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
    fn seconds_since_the_epoch() {
        let utc = |text: &str| seconds(&mut Der(&[&[UTC_TIME, text.len() as u8], text.as_bytes()].concat()));
        for (text, wanted) in [
            ("700101000000Z", 0),
            ("691231235959Z", -1),
            ("000301000000Z", 951_868_800),
            ("491231235959Z", 2_524_607_999),
            ("500101000000Z", -631_152_000),
            ("2601010000Z", 1_767_225_600),
            ("260101013000+0130", 1_767_225_600),
            ("251231223000-0130", 1_767_225_600),
        ] {
            assert_eq!(utc(text), Some(wanted), "{text}");
        }
        let late = b"\x18\x0f99991231235959Z";
        assert_eq!(seconds(&mut Der(late)), Some(253_402_300_799));
    }

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
