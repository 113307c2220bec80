//! The extensions of a certificate: their form, and what Go reads in them (`processExtensions`).

use super::der::{BOOLEAN, Der, INTEGER, OCTET_STRING, SEQUENCE, constructed, context, dotted};
use super::error::ParseError;
use super::general_name::URI;
use super::oid_set::OidSet;
use super::{alternative_names, constraints, policies};

/// An extension.
struct Extension<'a> {
    oid: &'a [u8],
    is_critical: bool,
    value: Der<'a>,
}

/// Checks the form of all extensions before the content of any, as Go does.
pub(super) fn check(extensions: Der<'_>) -> Result<(), ParseError> {
    let mut seen = OidSet::new();
    let mut rest = extensions;
    while !rest.is_empty() {
        let extension = next(&mut rest)?;
        if !seen.insert(extension.oid) {
            let oid = dotted(extension.oid);
            return Err(format!("x509: certificate contains duplicate extension with OID \"{oid}\"").into());
        }
    }
    rest = extensions;
    while !rest.is_empty() {
        check_content(&next(&mut rest)?)?;
    }
    Ok(())
}

fn next<'a>(extensions: &mut Der<'a>) -> Result<Extension<'a>, ParseError> {
    let mut fields = extensions.element(SEQUENCE).ok_or("x509: malformed extension")?;
    let oid = fields.oid().ok_or("x509: malformed extension OID field")?;
    let is_critical = match fields.has(BOOLEAN) {
        true => fields.boolean().ok_or("x509: malformed extension critical field")?,
        false => false,
    };
    let value = fields.element(OCTET_STRING).ok_or("x509: malformed extension value field")?;
    Ok(Extension { oid, is_critical, value })
}

fn check_content(extension: &Extension<'_>) -> Result<(), ParseError> {
    let &Extension { oid, is_critical, mut value } = extension;
    match oid {
        SUBJECT_KEY_ID if is_critical => Err("x509: subject key identifier incorrectly marked critical".into()),
        SUBJECT_KEY_ID => done(value.element(OCTET_STRING), "x509: invalid subject key identifier"),
        KEY_USAGE => done(value.bit_string(), "x509: invalid key usage"),
        ALTERNATIVE_NAMES => alternative_names::check(value),
        BASIC_CONSTRAINTS => done(basic_constraints(value), "x509: invalid basic constraints"),
        NAME_CONSTRAINTS => constraints::check(value),
        DISTRIBUTION_POINTS => distribution_points(value),
        POLICIES => done(policies::check(value), "x509: invalid certificate policies"),
        POLICY_MAPPINGS => done(policies::check_mappings(value), "x509: invalid policy mappings extension"),
        AUTHORITY_KEY_ID if is_critical => Err("x509: authority key identifier incorrectly marked critical".into()),
        AUTHORITY_KEY_ID => done(authority_key_id(value), "x509: invalid authority key identifier"),
        POLICY_CONSTRAINTS => done(policies::check_constraints(value), "x509: invalid policy constraints extension"),
        KEY_PURPOSES => done(key_purposes(value), "x509: invalid extended key usages"),
        INHIBIT_ANY_POLICY => done(value.int64(INTEGER), "x509: invalid inhibit any policy extension"),
        AUTHORITY_INFORMATION if is_critical => Err("x509: authority info access incorrectly marked critical".into()),
        AUTHORITY_INFORMATION => done(authority_information(value), "x509: invalid authority info access"),
        _ => Ok(()),
    }
}

fn done<T>(read: Option<T>, error: &'static str) -> Result<(), ParseError> {
    read.map(|_| ()).ok_or(error.into())
}

/// An authority or not, and the length of the path.
fn basic_constraints(mut value: Der<'_>) -> Option<()> {
    let mut fields = value.element(SEQUENCE)?;
    if fields.has(BOOLEAN) {
        fields.boolean()?;
    }
    if fields.has(INTEGER) {
        fields.int64(INTEGER).filter(|&length| length >= 0)?;
    }
    Some(())
}

fn distribution_points(mut value: Der<'_>) -> Result<(), ParseError> {
    let mut points = value.element(SEQUENCE).ok_or("x509: invalid CRL distribution points")?;
    while !points.is_empty() {
        distribution_point(&mut points).ok_or("x509: invalid CRL distribution point")?;
    }
    Ok(())
}

fn distribution_point(points: &mut Der<'_>) -> Option<()> {
    let mut point = points.element(SEQUENCE)?;
    let Some(mut name) = point.optional(constructed(0))? else { return Some(()) };
    let mut names = name.element(constructed(0))?;
    while names.has(URI) {
        names.element(URI)?;
    }
    Some(())
}

fn authority_key_id(mut value: Der<'_>) -> Option<()> {
    value.element(SEQUENCE)?.optional(context(0)).map(|_| ())
}

fn key_purposes(mut value: Der<'_>) -> Option<()> {
    let mut purposes = value.element(SEQUENCE)?;
    while !purposes.is_empty() {
        purposes.oid()?;
    }
    Some(())
}

fn authority_information(mut value: Der<'_>) -> Option<()> {
    let mut entries = value.element(SEQUENCE)?;
    while !entries.is_empty() {
        let mut entry = entries.element(SEQUENCE)?;
        entry.oid()?;
        entry.optional(URI)?;
    }
    Some(())
}

// 2.5.29.x, and 1.3.6.1.5.5.7.1.1.
const SUBJECT_KEY_ID: &[u8] = &[0x55, 0x1d, 14];
const KEY_USAGE: &[u8] = &[0x55, 0x1d, 15];
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 17];
const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 19];
const NAME_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 30];
const DISTRIBUTION_POINTS: &[u8] = &[0x55, 0x1d, 31];
const POLICIES: &[u8] = &[0x55, 0x1d, 32];
const POLICY_MAPPINGS: &[u8] = &[0x55, 0x1d, 33];
const AUTHORITY_KEY_ID: &[u8] = &[0x55, 0x1d, 35];
const POLICY_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 36];
const KEY_PURPOSES: &[u8] = &[0x55, 0x1d, 37];
const INHIBIT_ANY_POLICY: &[u8] = &[0x55, 0x1d, 54];
const AUTHORITY_INFORMATION: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 1, 1];
