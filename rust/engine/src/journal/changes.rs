//! What a write adds to a journal.

use super::record::Record;

/// Changes, or everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Whether the records are all that the journal is to say, because nobody knows what has changed.
    pub is_all: bool,
    /// At most one record of each worker and of each back-off entry, so that a write that is cut short leaves each of
    /// them as it was or as it is.
    pub records: Vec<Record>,
}

impl Changes {
    /// Takes in changes that came later.
    pub fn extend(&mut self, later: Self) {
        if later.is_all {
            *self = later;
        } else {
            self.records.extend(later.records);
        }
    }
}

impl<R: IntoIterator<Item = Record>> From<R> for Changes {
    fn from(records: R) -> Self {
        Self { is_all: false, records: records.into_iter().collect() }
    }
}
