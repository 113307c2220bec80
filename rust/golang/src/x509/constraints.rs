//! The names that an authority may give, or must not (`parseNameConstraintsExtension`).

use super::der::{Der, SEQUENCE, constructed};
use super::domain::is_domain;
use super::error::ParseError;
use super::general_name::{DNS, EMAIL, IP, URI};
use super::mailbox::is_mailbox;
use crate::netip;
use crate::text::quote;

pub(super) fn check(value: Der<'_>) -> Result<(), ParseError> {
    let (permitted, excluded) = subtrees(value).ok_or(INVALID)?;
    if permitted.is_empty() && excluded.is_empty() {
        return Err("x509: empty name constraints extension".into());
    }
    check_subtrees(permitted)?;
    check_subtrees(excluded)
}

fn subtrees(mut value: Der<'_>) -> Option<(Der<'_>, Der<'_>)> {
    let mut fields = value.element(SEQUENCE).filter(|_| value.is_empty())?;
    let permitted = fields.optional(constructed(0))?;
    let excluded = fields.optional(constructed(1))?;
    fields.is_empty().then(|| (permitted.unwrap_or(Der(&[])), excluded.unwrap_or(Der(&[]))))
}

fn check_subtrees(mut subtrees: Der<'_>) -> Result<(), ParseError> {
    while !subtrees.is_empty() {
        let (tag, base) = subtrees.element(SEQUENCE).and_then(|mut subtree| subtree.any()).ok_or(INVALID)?;
        check_base(tag, base.0)?;
    }
    Ok(())
}

fn check_base(tag: u8, base: &[u8]) -> Result<(), ParseError> {
    if matches!(tag, DNS | EMAIL | URI) && !base.is_ascii() {
        let why = format!("x509: {} cannot be encoded as an IA5String", quote(base));
        return Err(format!("x509: invalid constraint value: {why}").into());
    }
    let failed = |kind: &str| Err(format!("x509: failed to parse {kind} constraint {}", quote(base)).into());
    match tag {
        DNS if !is_constraint(base) => failed("dnsName"),
        IP => check_range(base),
        EMAIL if base.contains(&b'@') && !is_mailbox(base) => failed("rfc822Name"),
        EMAIL if !base.contains(&b'@') && !is_constraint(base) => failed("rfc822Name"),
        URI if netip::parse(base).is_ok_and(|(_, zone)| zone.is_empty()) => {
            let text = format!("x509: failed to parse URI constraint {}: cannot be IP address", quote(base));
            Err(text.into())
        }
        URI if !is_constraint(base) => failed("URI"),
        _ => Ok(()),
    }
}

/// An address and a mask of the same length.
fn check_range(base: &[u8]) -> Result<(), ParseError> {
    if !matches!(base.len(), 8 | 32) {
        return Err(format!("x509: IP constraint contained value of length {}", base.len()).into());
    }
    let mask = &base[base.len() / 2..];
    let ones: u32 = mask.iter().map(|byte| byte.count_ones()).sum();
    if ones == leading_ones(mask) {
        return Ok(());
    }
    let digits: String = mask.iter().map(|byte| format!("{byte:02x}")).collect();
    Err(format!("x509: IP constraint contained invalid mask {digits}").into())
}

fn leading_ones(mask: &[u8]) -> u32 {
    let whole = mask.iter().take_while(|&&byte| byte == 0xff).count();
    8 * whole as u32 + mask.get(whole).map_or(0, |byte| byte.leading_ones())
}

/// A domain, perhaps with a dot before it.
fn is_constraint(text: &[u8]) -> bool {
    text.is_empty() || is_domain(text.strip_prefix(b".").unwrap_or(text)) && text != b"."
}

const INVALID: &str = "x509: invalid NameConstraints extension";
