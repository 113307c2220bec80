//! What the engine's thread has seen and the writer has not taken yet. It is bounded: a disk may hang for hours.

use probelet_play::recording::{Attempt, Entry, Event, Start};

/// Entries that wait for the writer.
#[derive(Debug, Default)]
pub struct Pending {
    entries: Vec<Entry>,
    /// From here on, calls have no time yet (0): they get that of the next turn of the engine, because only then something
    /// follows from them.
    untimed: usize,
    /// When the engine made its last turn.
    turned_us: u64,
    /// Entries that were lost since the last segment began.
    lost: u64,
    /// Entries that were lost before.
    lost_before: u64,
    /// Whether an entry was lost, so that nothing counts until another segment begins.
    is_gapped: bool,
}

impl Pending {
    /// Appends an attempt. If the list is full, the attempt is lost.
    #[inline]
    pub fn attempt(&mut self, attempt: Attempt) {
        if self.has_room() {
            self.entries.push(Entry::Attempt(attempt));
        }
    }

    /// Appends an event of this moment.
    pub fn event(&mut self, at_us: u64, event: Event) {
        if self.has_room() {
            self.entries.push(Entry::Event { at_us, event: Box::new(event) });
        }
    }

    /// Appends what a caller said since the engine's last turn. Its time is that of the next one.
    pub fn call(&mut self, event: Event) {
        let is_first = self.entries[self.untimed..].iter().all(|entry| !is_untimed(entry));
        if is_first {
            self.event(self.turned_us, Event::Turned);
        }
        self.event(UNTIMED, event);
    }

    /// The engine makes a turn, in which it does what follows from the calls so far.
    pub fn turn(&mut self, now_us: u64) {
        for entry in &mut self.entries[self.untimed..] {
            match entry {
                Entry::Event { at_us, .. } if *at_us == UNTIMED => *at_us = now_us,
                _ => {}
            }
        }
        (self.untimed, self.turned_us) = (self.entries.len(), now_us);
    }

    /// Begins a segment; entries count again. Every event has its time by now.
    pub fn begin(&mut self, mut start: Start) {
        start.lost = std::mem::take(&mut self.lost);
        self.lost_before += start.lost;
        self.is_gapped = false;
        self.entries.push(Entry::Segment(Box::new(start)));
        self.untimed = self.entries.len();
    }

    /// Takes the entries, and keeps an emptied list for those to come.
    pub fn take(&mut self, emptied: Vec<Entry>) -> Vec<Entry> {
        debug_assert!(emptied.is_empty());
        self.untimed = 0;
        std::mem::replace(&mut self.entries, emptied)
    }

    /// Loses what waits, and `more` entries that were taken and could not be written.
    pub fn lose(&mut self, more: u64) {
        self.lost += more + self.entries.len() as u64;
        self.is_gapped = true;
        self.entries.clear();
        self.untimed = 0;
    }

    /// Whether entries were lost, so that a segment must begin before others count.
    pub const fn is_gapped(&self) -> bool {
        self.is_gapped
    }

    /// How many entries were lost so far.
    pub const fn lost(&self) -> u64 {
        self.lost_before + self.lost
    }

    /// How many entries wait.
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no entry waits.
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether so many entries wait that they should be handed over at once.
    pub const fn is_crowded(&self) -> bool {
        self.entries.len() >= ENTRIES_MAX / 4
    }

    #[inline]
    const fn has_room(&mut self) -> bool {
        if self.is_gapped || self.entries.len() >= ENTRIES_MAX {
            self.is_gapped = true;
            self.lost += 1;
            return false;
        }
        true
    }
}

fn is_untimed(entry: &Entry) -> bool {
    matches!(entry, Entry::Event { at_us: UNTIMED, .. })
}

/// The time of a call before the engine's next turn; the engine's clock begins at a day.
const UNTIMED: u64 = 0;

/// Entries that wait at most, three megabytes: six seconds of ten thousand attempts a second.
const ENTRIES_MAX: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use probelet_play::cause::Cause;
    use probelet_play::recording::End;

    use super::*;

    fn attempt(ended_us: u64) -> Attempt {
        let (scheduled_us, began_us) = (ended_us, ended_us);
        Attempt { worker: 1, end: End::Success, cause: Cause::Ok, scheduled_us, began_us, ended_us }
    }

    #[test]
    fn what_does_not_fit_is_counted_and_nothing_counts_until_a_segment_begins() {
        let mut pending = Pending::default();
        for time in 0..ENTRIES_MAX as u64 + 5 {
            pending.attempt(attempt(time));
        }
        assert_eq!((pending.len(), pending.lost(), pending.is_gapped()), (ENTRIES_MAX, 5, true));
        assert_eq!(pending.take(Vec::new()).len(), ENTRIES_MAX);
        pending.event(5, Event::Wall(1));
        assert_eq!((pending.len(), pending.lost()), (0, 6), "there is room, and the gap stays");
        pending.begin(Start::default());
        pending.attempt(attempt(9));
        let entries = pending.take(Vec::new());
        assert!(matches!(&entries[..], [Entry::Segment(start), Entry::Attempt(_)] if start.lost == 6), "{entries:?}");
    }

    #[test]
    fn a_call_has_the_time_of_the_turn_after_it_and_knows_the_one_before() {
        let mut pending = Pending::default();
        pending.turn(5);
        pending.call(Event::Wall(1));
        pending.attempt(attempt(7));
        pending.event(8, Event::Wall(2));
        pending.call(Event::Wall(3));
        pending.turn(9);
        pending.call(Event::Wall(4));
        pending.turn(12);
        let times = pending.take(Vec::new()).into_iter().map(|entry| match entry {
            Entry::Event { at_us, event } => (at_us, (*event != Event::Turned).then_some(*event)),
            Entry::Attempt(attempt) => (attempt.ended_us, None),
            Entry::Segment(_) => (0, None),
        });
        let wall = |number| Some(Event::Wall(number));
        let expected = [(5, None), (9, wall(1)), (7, None), (8, wall(2)), (9, wall(3)), (9, None), (12, wall(4))];
        assert_eq!(times.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_could_not_be_written_is_lost_with_what_came_after_it() {
        let mut pending = Pending::default();
        pending.attempt(attempt(1));
        pending.lose(10);
        assert_eq!((pending.lost(), pending.is_gapped(), pending.is_empty()), (11, true, true));
    }

    #[test]
    fn an_entry_is_small() {
        assert!(size_of::<Entry>() <= 40, "{}", size_of::<Entry>());
    }
}
