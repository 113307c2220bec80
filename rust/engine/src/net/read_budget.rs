//! How much an attempt reads before the others have their turn. All attempts share one thread, and a target that sends
//! for ever would otherwise have it to itself: the reactor only steps in where there is nothing to read.

/// Counts the reads of a connection.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    reads: u32,
}

impl Turn {
    /// One more read is wanted; whether the others come first.
    pub(crate) fn is_over(&mut self) -> bool {
        self.reads += 1;
        let is_over = self.reads > READS_MAX;
        if is_over {
            self.reads = 0;
        }
        is_over
    }
}

/// Reads in a row, each of a few KiB. A probe that goes well has one or two; what a flood brings in so many is parsed
/// within half a millisecond.
const READS_MAX: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_so_many_reads_the_others_come_first() {
        let mut turn = Turn::default();
        for _ in 0..3 {
            assert!((0..READS_MAX).all(|_| !turn.is_over()));
            assert!(turn.is_over());
        }
    }
}
