//! The list of fields of one message: counted and checked whole, kept as far as somebody reads it
//! (`Framer.readMetaFrame`).

use super::hpack::{Emit, Field};
use super::text::Text;

/// What a handler keeps of a message's fields. Go keeps all of them; a server could so make an attempt hold megabytes.
pub trait Fields: Default {
    /// Takes the next field. References make this call cheap for the peer: it must not cost more for a longer field.
    fn add(&mut self, field: &Field);
}

/// The fields of a message that have come so far.
#[derive(Debug)]
pub(super) struct List<F> {
    fields: F,
    bytes_max: usize,
    pub(super) bytes_left: usize,
    is_truncated: bool,
    has_regular: bool,
    pseudo: Pseudo,
    pub(super) wrong: Option<String>,
}

/// A complete list.
#[derive(Debug, PartialEq, Eq)]
pub struct FieldList<F> {
    /// What is kept of them.
    pub fields: F,
    /// How much the fields count against the limit.
    pub bytes: usize,
    /// Whether fields are missing, because they exceed the limit.
    pub is_truncated: bool,
    /// Whether a field is a pseudo-header. If so, the first one is.
    pub has_pseudo: bool,
}

impl<F: Fields> List<F> {
    /// `bytes_max` limits the list (`Framer.MaxHeaderListSize`).
    pub(super) fn new(bytes_max: usize) -> Self {
        Self {
            fields: F::default(),
            bytes_max,
            bytes_left: bytes_max,
            is_truncated: false,
            has_regular: false,
            pseudo: Pseudo::default(),
            wrong: None,
        }
    }

    /// Ends the list; the error says which field is wrong.
    pub(super) fn end(self) -> Result<FieldList<F>, String> {
        if let Some(wrong) = self.wrong.or_else(|| self.pseudo.wrong()) {
            return Err(wrong);
        }
        let bytes = self.bytes_max - self.bytes_left;
        let Self { fields, is_truncated, pseudo, .. } = self;
        Ok(FieldList { fields, bytes, is_truncated, has_pseudo: pseudo.seen > 0 })
    }

    fn why_wrong(&mut self, field: &Field) -> Option<String> {
        if is_pseudo(&field.name) {
            if self.has_regular {
                return Some("pseudo header field after regular".to_owned());
            }
        } else {
            self.has_regular = true;
            if !field.name.is_name() {
                return Some(format!("invalid header field name {:?}", shown(&field.name)));
            }
        }
        (!field.value.is_value()).then(|| format!("invalid header field value for {:?}", shown(&field.name)))
    }
}

impl<F: Fields> Emit for List<F> {
    fn is_wanted(&self) -> bool {
        self.wrong.is_none() && !self.is_truncated
    }

    fn emit(&mut self, field: &Field) {
        self.wrong = self.why_wrong(field);
        if self.wrong.is_some() {
            return;
        }
        let Some(left) = self.bytes_left.checked_sub(field.size()) else {
            (self.is_truncated, self.bytes_left) = (true, 0);
            return;
        };
        self.bytes_left = left;
        if is_pseudo(&field.name) {
            self.pseudo.add(&field.name);
        }
        self.fields.add(field);
    }
}

/// The pseudo-headers of a message (`MetaHeadersFrame.checkPseudos`).
#[derive(Debug, Default)]
struct Pseudo {
    /// One bit for each of [`PSEUDO`].
    seen: u8,
    wrong: Option<String>,
}

impl Pseudo {
    fn add(&mut self, name: &Text) {
        if self.wrong.is_some() {
            return;
        }
        match PSEUDO.iter().position(|known| known.as_bytes() == name.bytes()) {
            Some(index) if self.seen & 1 << index == 0 => self.seen |= 1 << index,
            Some(_) => self.wrong = Some(format!("duplicate pseudo-header {:?}", shown(name))),
            None => self.wrong = Some(format!("invalid pseudo-header {:?}", shown(name))),
        }
    }

    fn wrong(&self) -> Option<String> {
        let is_mixed = self.seen & OF_RESPONSE != 0 && self.seen & !OF_RESPONSE != 0;
        let mixed = is_mixed.then(|| "mix of request and response pseudo headers".to_owned());
        self.wrong.clone().or(mixed)
    }
}

fn is_pseudo(name: &Text) -> bool {
    name.bytes().starts_with(b":")
}

fn shown(name: &Text) -> String {
    String::from_utf8_lossy(name.bytes()).into_owned()
}

const PSEUDO: [&str; 6] = [":status", ":method", ":path", ":scheme", ":authority", ":protocol"];
/// The bit of `:status`.
const OF_RESPONSE: u8 = 1;
