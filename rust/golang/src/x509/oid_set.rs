//! The identifiers that have come so far.

use std::collections::BTreeSet;

/// A set of identifiers that allocates nothing for an ordinary certificate.
#[derive(Debug)]
pub(super) struct OidSet<'a> {
    first: [&'a [u8]; FEW],
    count: usize,
    /// The others, so that a certificate with thousands costs no more time for each.
    others: BTreeSet<&'a [u8]>,
}

impl<'a> OidSet<'a> {
    pub(super) fn new() -> Self {
        Self { first: [&[]; FEW], count: 0, others: BTreeSet::new() }
    }

    /// Whether the identifier was not in the set.
    pub(super) fn insert(&mut self, oid: &'a [u8]) -> bool {
        if self.first[..self.count].contains(&oid) {
            return false;
        }
        match self.first.get_mut(self.count) {
            Some(place) => {
                *place = oid;
                self.count += 1;
                true
            }
            None => self.others.insert(oid),
        }
    }
}

/// More than ordinary certificates have.
const FEW: usize = 32;
