//! How much an attempt reads before it lets other attempts run. All attempts share one thread, and a target that sends
//! for ever would otherwise keep it, because the reactor runs only when a read finds nothing.

/// Counts the reads of a connection against [`READS_MAX`].
#[derive(Debug, Default)]
pub(crate) struct ReadBudget {
    reads: u32,
}

impl ReadBudget {
    /// Counts one more read. True if the other attempts have to run before it.
    pub(crate) fn is_spent(&mut self) -> bool {
        self.reads += 1;
        let is_spent = self.reads > READS_MAX;
        if is_spent {
            self.reads = 0;
        }
        is_spent
    }
}

/// Reads in a row, each of a few KiB. A probe that goes well needs one or two; parsing so many reads of a flood takes
/// half a millisecond.
const READS_MAX: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_so_many_reads_the_others_come_first() {
        let mut budget = ReadBudget::default();
        for _ in 0..3 {
            assert!((0..READS_MAX).all(|_| !budget.is_spent()));
            assert!(budget.is_spent());
        }
    }
}
