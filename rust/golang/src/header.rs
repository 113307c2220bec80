//! Header fields as `net/http` keeps them: canonical names in order, each with its values (Go 1.26).

use std::borrow::Cow;

/// A probe's header fields. Most probes have two, and neither is copied.
#[derive(Clone, Debug, Default)]
pub struct Headers<'a> {
    fields: Vec<Field<'a>>,
}

#[derive(Clone, Debug)]
struct Field<'a> {
    name: Cow<'a, str>,
    values: Vec<Cow<'a, [u8]>>,
}

impl<'a> Headers<'a> {
    /// `Header.Add`.
    pub fn add(&mut self, name: &'a str, value: &'a [u8]) {
        let name = canonical(name);
        match self.fields.binary_search_by(|field| field.name.cmp(&name)) {
            Ok(index) => self.fields[index].values.push(value.into()),
            Err(index) => self.fields.insert(index, Field { name, values: vec![value.into()] }),
        }
    }

    /// `Header.Set`; `name` must be canonical.
    pub fn set(&mut self, name: &'static str, value: impl Into<Cow<'a, [u8]>>) {
        let values = vec![value.into()];
        match self.position(name) {
            Ok(index) => self.fields[index].values = values,
            Err(index) => self.fields.insert(index, Field { name: name.into(), values }),
        }
    }

    /// Removes all values of a field.
    pub fn remove(&mut self, name: &str) {
        if let Ok(index) = self.position(name) {
            self.fields.remove(index);
        }
    }

    /// Whether the field has a value.
    pub fn has(&self, name: &str) -> bool {
        self.position(name).is_ok()
    }

    /// The first value, or nothing. `Header.Get` does not tell nothing from an empty value either.
    pub fn first(&self, name: &str) -> &[u8] {
        self.all(name).first().map_or(&[], |value| value)
    }

    /// The values of a field, in the order in which they came.
    pub fn all(&self, name: &str) -> &[Cow<'a, [u8]>] {
        self.position(name).map_or(&[], |index| &self.fields[index].values)
    }

    /// Every line, in the order in which Go sends the fields.
    pub fn lines(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.fields.iter().flat_map(|field| field.values.iter().map(|value| (&*field.name, &**value)))
    }

    fn position(&self, name: &str) -> Result<usize, usize> {
        self.fields.binary_search_by(|field| (*field.name).cmp(name))
    }
}

/// `textproto.CanonicalMIMEHeaderKey`: a name with an invalid character stays as it is.
pub(crate) fn canonical(name: &str) -> Cow<'_, str> {
    if !name.bytes().all(is_token_byte) {
        return name.into();
    }
    let mut after_dash = true;
    let mut changed = false;
    let letters: String = name
        .chars()
        .map(|c| {
            let written = if after_dash { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
            after_dash = c == '-';
            changed |= written != c;
            written
        })
        .collect();
    if changed { letters.into() } else { name.into() }
}

/// Whether a byte may stand in a field's name (RFC 9110, 5.6.2).
pub const fn is_token_byte(byte: u8) -> bool {
    BYTES[byte as usize] & TOKEN != 0
}

/// Whether a byte may stand in a field's name as a response's reader takes it: Go lets a space pass.
pub(crate) const fn is_read_name_byte(byte: u8) -> bool {
    BYTES[byte as usize] & READ_NAME != 0
}

/// Whether a byte may stand in a field's value: anything but control characters other than the tab.
pub const fn is_value_byte(byte: u8) -> bool {
    BYTES[byte as usize] & VALUE != 0
}

const TOKEN: u8 = 1;
const VALUE: u8 = 2;
const READ_NAME: u8 = 4;
/// What each byte may stand in. A table, because heads are long and most of their bytes need only this look-up.
const BYTES: [u8; 256] = {
    let mut bytes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let c = byte as u8;
        if c.is_ascii_alphanumeric() || is_token_mark(c) {
            bytes[byte] |= TOKEN | READ_NAME;
        }
        if c == b' ' {
            bytes[byte] |= READ_NAME;
        }
        if !c.is_ascii_control() || c == b'\t' {
            bytes[byte] |= VALUE;
        }
        byte += 1;
    }
    bytes
};

const fn is_token_mark(byte: u8) -> bool {
    matches!(
        byte,
        b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~'
    )
}

/// Whether one of the values lists `word` (`httpguts.HeaderValuesContainsToken`).
pub fn lists<'v>(mut values: impl Iterator<Item = &'v [u8]>, word: &[u8]) -> bool {
    values.any(|value| value.split(|&byte| byte == b',').any(|item| trim(item).eq_ignore_ascii_case(word)))
}

/// Whether `value` has `word` between blanks and commas (`http.hasToken`).
pub fn has_word(value: &[u8], word: &[u8]) -> bool {
    value.split(|byte| b" ,\t".contains(byte)).any(|item| item.eq_ignore_ascii_case(word))
}

/// The text without blanks and tabs around it.
pub(crate) fn trim(text: &[u8]) -> &[u8] {
    let is_text = |byte: &u8| !matches!(byte, b' ' | b'\t');
    let start = text.iter().position(is_text).unwrap_or(text.len());
    let end = text.iter().rposition(is_text).map_or(start, |last| last + 1);
    &text[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_canonical() {
        for (written, name) in
            [("foo-bAR", "Foo-Bar"), ("HOST", "Host"), ("-x--y-", "-X--Y-"), ("x.a-b", "X.a-B"), ("a b", "a b")]
        {
            assert_eq!(canonical(written), name);
        }
        assert!(matches!(canonical("Accept"), Cow::Borrowed(_)));
    }

    #[test]
    fn values_of_one_name_keep_their_order() {
        let mut headers = Headers::default();
        headers.add("Zz", b"1");
        headers.add("accept", b"a");
        headers.add("Accept", b"b");
        let lines: Vec<_> = headers.lines().collect();
        assert_eq!(lines, [("Accept", &b"a"[..]), ("Accept", b"b"), ("Zz", b"1")]);
        assert_eq!(headers.first("Accept"), b"a");
        headers.set("Accept", &b"c"[..]);
        assert_eq!(headers.first("Accept"), b"c");
        headers.remove("Accept");
        assert!(!headers.has("Accept") && headers.has("Zz"));
    }

    #[test]
    fn words_in_lists() {
        assert!(lists([&b"a"[..], b"b , Upgrade\t"].into_iter(), b"upgrade"));
        assert!(!lists([&b"a b"[..]].into_iter(), b"b"));
        assert!(has_word(b"a b", b"B") && !has_word(b"ab", b"b"));
    }
}
