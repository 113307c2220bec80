//! Identifiers of algorithms (`parseAI`).

use super::der::Der;
use super::error::ParseError;

/// An algorithm and its parameters.
#[derive(Debug)]
pub(super) struct Algorithm<'a> {
    pub(super) oid: &'a [u8],
    /// One element with its header; empty if there is none.
    pub(super) parameters: &'a [u8],
}

impl<'a> Algorithm<'a> {
    pub(super) fn parse(mut identifier: Der<'a>) -> Result<Self, ParseError> {
        let oid = identifier.oid().ok_or("x509: malformed OID")?;
        let before = identifier.0;
        if before.is_empty() {
            return Ok(Self { oid, parameters: &[] });
        }
        identifier.any().ok_or("x509: malformed parameters")?;
        Ok(Self { oid, parameters: &before[..before.len() - identifier.0.len()] })
    }
}
