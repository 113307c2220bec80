//! The names and addresses of a certificate's owner (`parseSANExtension`).

use super::der::{Der, SEQUENCE};
use super::domain::is_domain;
use super::error::ParseError;
use super::general_name::{DNS, EMAIL, IP, URI};
use crate::text::quote;
use crate::url::Url;

pub(super) fn check(mut value: Der<'_>) -> Result<(), ParseError> {
    let mut names = value.element(SEQUENCE).ok_or("x509: invalid subject alternative names")?;
    while !names.is_empty() {
        let (tag, name) = names.any().ok_or("x509: invalid subject alternative name")?;
        check_name(tag, name.0)?;
    }
    Ok(())
}

fn check_name(tag: u8, name: &[u8]) -> Result<(), ParseError> {
    match tag {
        EMAIL if !name.is_ascii() => Err("x509: SAN rfc822Name is malformed".into()),
        DNS if !name.is_ascii() => Err("x509: SAN dNSName is malformed".into()),
        URI if !name.is_ascii() => Err("x509: SAN uniformResourceIdentifier is malformed".into()),
        URI => {
            let error = |why: &str| format!("x509: cannot parse URI {}: {why}", quote(name));
            let url = Url::parse(name).map_err(|why| error(&why))?;
            if is_domain(&url.host) { Ok(()) } else { Err(error("invalid domain").into()) }
        }
        IP if !matches!(name.len(), 4 | 16) => {
            Err(format!("x509: cannot parse IP address of length {}", name.len()).into())
        }
        _ => Ok(()),
    }
}
