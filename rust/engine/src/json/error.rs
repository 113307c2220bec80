//! JSON that cannot be read.

/// JSON that does not say what it should.
#[derive(Debug)]
pub struct JsonError(serde_json::Error);

impl JsonError {
    /// JSON that says more than is taken.
    pub(super) fn of(message: impl std::fmt::Display) -> Self {
        Self(serde::de::Error::custom(message))
    }
}

impl std::fmt::Display for JsonError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(formatter)
    }
}

impl std::error::Error for JsonError {}

impl From<serde_json::Error> for JsonError {
    fn from(error: serde_json::Error) -> Self {
        Self(error)
    }
}
