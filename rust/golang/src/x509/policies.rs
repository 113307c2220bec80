//! The extensions about certificate policies.

use super::der::{Der, OBJECT_IDENTIFIER, SEQUENCE, context};
use super::oid_set::OidSet;

/// Different policies, each named by an identifier (`parseCertificatePoliciesExtension`).
pub(super) fn check(mut value: Der<'_>) -> Option<()> {
    let mut policies = value.element(SEQUENCE)?;
    let mut seen = OidSet::new();
    while !policies.is_empty() {
        let oid = policies.element(SEQUENCE)?.element(OBJECT_IDENTIFIER)?.0;
        if !seen.insert(oid) || !is_oid(oid) {
            return None;
        }
    }
    Some(())
}

/// Whether the octets are an identifier; its numbers may have any length (`newOIDFromDER`).
fn is_oid(octets: &[u8]) -> bool {
    let is_end = |octet: &u8| octet & 0x80 == 0;
    octets.last().is_some_and(is_end) && octets.split_inclusive(is_end).all(|number| number[0] != 0x80)
}

/// Pairs of policies.
pub(super) fn check_mappings(mut value: Der<'_>) -> Option<()> {
    let mut mappings = value.element(SEQUENCE)?;
    while !mappings.is_empty() {
        let mut pair = mappings.element(SEQUENCE)?;
        pair.element(OBJECT_IDENTIFIER)?;
        pair.element(OBJECT_IDENTIFIER)?;
    }
    Some(())
}

/// Two numbers, either of which may be missing.
pub(super) fn check_constraints(mut value: Der<'_>) -> Option<()> {
    let mut numbers = value.element(SEQUENCE)?;
    for tag in [context(0), context(1)] {
        if numbers.has(tag) {
            numbers.int64(tag)?;
        }
    }
    Some(())
}
