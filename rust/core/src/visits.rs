//! How many entries of large tables a test has made the code look at: cost is counted, not timed.

use std::cell::Cell;

thread_local! {
    static VISITS: Cell<usize> = const { Cell::new(0) };
}

pub(crate) fn count(entries: usize) {
    VISITS.with(|visits| visits.set(visits.get() + entries));
}

pub(crate) fn reset() {
    VISITS.with(|visits| visits.set(0));
}

pub(crate) fn counted() -> usize {
    VISITS.with(Cell::get)
}
