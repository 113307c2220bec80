//! JSON that cannot be read.

use serde::Deserialize;

/// JSON that does not say what it should. The text is one line that begins with the path of the mistake, if it has one.
#[derive(Debug)]
pub struct JsonError(String);

impl JsonError {
    /// JSON that says more than is taken.
    pub(crate) fn of(message: impl std::fmt::Display) -> Self {
        Self(message.to_string())
    }
}

impl std::fmt::Display for JsonError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for JsonError {}

/// Decodes JSON. Only a document that was refused is decoded with its paths, because that takes longer.
pub(crate) fn decode<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, JsonError> {
    serde_json::from_slice(json)
        .map_err(|error| JsonError(printable(&located::<T>(json).unwrap_or_else(|| error.to_string()))))
}

/// The mistake with its path; None for text that is no JSON and for a mistake of the whole document.
fn located<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Option<String> {
    let error = serde_path_to_error::deserialize::<_, T>(&mut serde_json::Deserializer::from_slice(json)).err()?;
    let path = error.path().to_string();
    let error = error.into_inner();
    let text = error.to_string();
    // The path says where, so the text need not repeat it as a line and a column.
    let message = text.strip_suffix(&format!(" at line {} column {}", error.line(), error.column())).unwrap_or(&text);
    (error.is_data() && path != ".").then(|| format!("{path}: {message}"))
}

/// A key of a document may hold line breaks and terminal commands.
fn printable(text: &str) -> String {
    text.chars().flat_map(|char| if char.is_control() { char.escape_default().collect() } else { vec![char] }).collect()
}

#[cfg(test)]
mod tests {
    use crate::json::{decode_pod, decode_status};

    #[test]
    fn a_mistake_has_its_path_and_one_line() {
        for (json, text) in [
            (
                r#"{"metadata": {}, "spec": {"containers": [{}, {"livenesProbe": {}}]}}"#,
                "spec.containers[1].livenesProbe: unknown field `livenesProbe`, expected one of `name`,",
            ),
            (r#"{"metadata": {"uid": 1}}"#, "metadata.uid: invalid type: integer `1`, expected a string"),
            ("{\"metadata\": {\"a\\nb\": 1}}", "metadata.a\\nb: unknown field `a\\nb`"),
            ("[]", "invalid length 0, expected struct Pod"),
            ("{", "EOF while parsing an object at line 1 column 1"),
        ] {
            let error = decode_pod(json.as_bytes()).expect_err(json).to_string();
            assert!(error.starts_with(text) && !error.contains('\n'), "{json}: {error}");
        }
    }

    #[test]
    fn a_status_is_read_as_it_is_written() {
        let written = br#"{"phase": "Running", "ready": true, "initialized": true, "containers": []}"#;
        assert!(decode_status(written).is_ok());
        let error = decode_status(br#"{"container": []}"#).expect_err("an unknown key").to_string();
        assert!(error.starts_with("container: unknown field `container`, expected one of `phase`"), "{error}");
    }
}
