//! Mailboxes of RFC 2821, as Go takes them in constraints (`parseRFC2821Mailbox`).

use super::domain::is_domain;

pub(super) fn is_mailbox(text: &[u8]) -> bool {
    let after_local = match text {
        [b'"', quoted @ ..] => after_quoted(quoted),
        _ => after_atoms(text),
    };
    matches!(after_local, Some([b'@', domain @ ..]) if is_domain(domain))
}

/// What follows the quote that ends a quoted string.
fn after_quoted(mut rest: &[u8]) -> Option<&[u8]> {
    loop {
        let (&byte, after) = rest.split_first()?;
        rest = match byte {
            b'"' => return Some(after),
            b'\\' => {
                let (&escaped, after) = after.split_first()?;
                matches!(escaped, 1..=9 | 11 | 12 | 14..=127).then_some(after)?
            }
            1..=8 | 11 | 12 | 14..=33 | 35..=127 => after,
            _ => return None,
        };
    }
}

/// What follows atoms with single dots between them.
fn after_atoms(text: &[u8]) -> Option<&[u8]> {
    let (mut rest, mut local) = (text, Vec::new());
    while let Some((&byte, after)) = rest.split_first() {
        let (byte, after) = match byte {
            b'\\' => after.split_first().map(|(&escaped, after)| (escaped, after))?,
            _ if byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.".contains(&byte) => (byte, after),
            _ => break,
        };
        local.push(byte);
        rest = after;
    }
    let is_dotted_well = local.split(|&byte| byte == b'.').all(|atom| !atom.is_empty());
    (!local.is_empty() && is_dotted_well).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mailboxes_as_go_takes_them() {
        for text in ["a@b", "a.b@c.d", "\"a b\"@c", "a@", "a\\@b@c", "\"\\\"\"@c"] {
            assert!(is_mailbox(text.as_bytes()), "{text}");
        }
        for text in ["@b", ".a@b", "a.@b", "a..b@c", "a@b.", "a@.b", "a b@c", "\"a@b", "a\\", "a"] {
            assert!(!is_mailbox(text.as_bytes()), "{text}");
        }
    }
}
