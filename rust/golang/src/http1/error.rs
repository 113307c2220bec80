//! Why the reader cannot continue with a response.

use crate::text::quote;

/// Why the reader cannot continue.
#[derive(Debug, PartialEq, Eq)]
pub enum ReadError {
    /// The reader needs more input.
    NeedsInput,
    /// The response is wrong.
    Failed(ResponseError),
}

/// What is wrong with a response.
#[derive(Debug, PartialEq, Eq)]
pub struct ResponseError {
    /// Go's error text.
    pub text: String,
    /// Go's text before Go 1.26, if that is another one.
    before_1_26: Option<String>,
    /// What the text means.
    pub fault: Fault,
}

/// Where the mistake of a response lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The connection broke; its owner knows why.
    Connection,
    /// The peer closed the connection.
    Eof,
    /// The response is not HTTP.
    Malformed,
}

/// The window cannot answer before the caller reads more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NeedsInput;

impl ResponseError {
    /// The peer sent something that is not what it should be.
    pub(super) fn malformed(text: impl Into<String>) -> Self {
        Self::new(text, Fault::Malformed)
    }

    pub(super) fn new(text: impl Into<String>, fault: Fault) -> Self {
        Self { text: text.into(), before_1_26: None, fault }
    }

    /// A line is no field. Before Go 1.26 the text does not quote it (`textproto.readMIMEHeader`), and bytes that are no
    /// UTF-8 are lost here.
    pub(super) fn malformed_field(what: &str, line: &[u8]) -> Self {
        let before_1_26 = Some(format!("{what}: {}", String::from_utf8_lossy(line)));
        Self { before_1_26, ..Self::malformed(format!("{what}: {}", quote(line))) }
    }

    /// Puts `what` before the text.
    pub(super) fn within(self, what: &str) -> Self {
        let within = |text: String| format!("{what}: {text}");
        Self { text: within(self.text), before_1_26: self.before_1_26.map(within), fault: self.fault }
    }

    /// The error with the text that Go before 1.26 has for it.
    #[must_use]
    pub fn before_1_26(self) -> Self {
        let text = self.before_1_26.unwrap_or(self.text);
        Self { text, before_1_26: None, fault: self.fault }
    }
}

impl From<ResponseError> for ReadError {
    fn from(error: ResponseError) -> Self {
        Self::Failed(error)
    }
}

impl From<NeedsInput> for ReadError {
    fn from(_: NeedsInput) -> Self {
        Self::NeedsInput
    }
}

/// Go's text for an input that ends too early (`io.ErrUnexpectedEOF`).
pub const UNEXPECTED_EOF: &str = "unexpected EOF";
