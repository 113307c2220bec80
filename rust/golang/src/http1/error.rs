//! Why the reader cannot continue with a response.

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
        Self { text: text.into(), fault: Fault::Malformed }
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
