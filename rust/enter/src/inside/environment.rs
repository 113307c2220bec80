//! The environment of a command, as runc prepares it (`env.go:prepareEnv`): the last value of a name counts, and HOME
//! comes from the container's /etc/passwd if the specification has none.

use std::ffi::CString;

use probelet_enter_protocol::answer::Step;

use super::home::home_of;
use super::report::Failed;

pub(super) fn environment<'a>(
    variables: impl Iterator<Item = &'a [u8]> + Clone,
    uid: u32,
) -> Result<Vec<CString>, Failed> {
    prepared(variables, || home_of(uid)).ok_or(Failed::because(Step::Environment, libc::EINVAL))
}

/// None if a variable has no name or no value: runc refuses it with a text of its own.
fn prepared<'a>(
    variables: impl Iterator<Item = &'a [u8]> + Clone,
    home: impl FnOnce() -> Option<Vec<u8>>,
) -> Option<Vec<CString>> {
    let all: Vec<(&[u8], &[u8])> = variables.map(pair).collect::<Option<_>>()?;
    let mut kept: Vec<CString> = Vec::with_capacity(all.len() + 1);
    for (at, (name, value)) in all.iter().enumerate() {
        let is_last = !all[at + 1..].iter().any(|(later, _)| later == name);
        if is_last && !(*name == b"HOME" && value.is_empty()) {
            kept.push(joined(name, value)?);
        }
    }
    if value_of(&kept, b"HOME").is_none() {
        kept.push(joined(b"HOME", &home()?)?);
    }
    Some(kept)
}

/// The value of a variable.
pub(super) fn value_of<'a>(environment: &'a [CString], name: &[u8]) -> Option<&'a [u8]> {
    environment.iter().find_map(|variable| variable.as_bytes().strip_prefix(name)?.strip_prefix(b"="))
}

fn pair(variable: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = variable.iter().position(|byte| *byte == b'=')?;
    (at > 0).then(|| (&variable[..at], &variable[at + 1..]))
}

fn joined(name: &[u8], value: &[u8]) -> Option<CString> {
    CString::new([name, b"=", value].concat()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(variables: &[&str]) -> Option<Vec<String>> {
        let variables = variables.iter().map(|text| text.as_bytes());
        let found = prepared(variables, || Some(b"/srv/of/passwd".to_vec()))?;
        Some(found.into_iter().map(|text| text.into_string().unwrap()).collect())
    }

    fn expected(variables: &[&str]) -> Option<Vec<String>> {
        Some(variables.iter().map(|text| (*text).to_owned()).collect())
    }

    #[test]
    fn the_last_value_of_a_name_counts() {
        assert_eq!(outcome(&["A=1", "HOME=/", "A=2=3"]), expected(&["HOME=/", "A=2=3"]));
    }

    #[test]
    fn a_home_that_is_missing_or_empty_is_that_of_passwd() {
        assert_eq!(outcome(&["A="]), expected(&["A=", "HOME=/srv/of/passwd"]));
        assert_eq!(outcome(&["HOME=", "A=1"]), expected(&["A=1", "HOME=/srv/of/passwd"]));
        // As runc: an empty value that comes last hides an earlier one.
        assert_eq!(outcome(&["HOME=/a", "HOME="]), expected(&["HOME=/srv/of/passwd"]));
    }

    #[test]
    fn a_variable_without_a_name_or_a_value_is_left_to_the_runtime() {
        assert_eq!(outcome(&["A"]), None);
        assert_eq!(outcome(&["=b"]), None);
    }
}
