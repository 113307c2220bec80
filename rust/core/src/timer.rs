//! Names for timers, so that a caller can cancel them on a wheel that cannot cancel.
//!
//! The wheel carries a [`TimerId`]; the table knows whether that timer is still armed. A cancelled timer stays in the
//! wheel as a dead entry until it fires, or until [`TimerTable::is_crowded`] says that a sweep is due.

use serde::{Deserialize, Serialize};

/// Names an armed timer. The name is dead for ever once the timer has fired or was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TimerId {
    key: u32,
    generation: u32,
}

impl TimerId {
    /// The name as one number, for a foreign interface.
    pub const fn to_bits(self) -> u64 {
        (self.generation as u64) << 32 | self.key as u64
    }

    /// The name that [`TimerId::to_bits`] gave.
    pub const fn from_bits(bits: u64) -> Self {
        Self { key: bits as u32, generation: (bits >> 32) as u32 }
    }
}

/// Maps the names of armed timers to their values.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TimerTable<V> {
    keys: Vec<Key<V>>,
    free: Vec<u32>,
    dead: usize,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Key<V> {
    generation: u32,
    value: Option<V>,
}

impl<V> TimerTable<V> {
    /// A table without names.
    pub const fn new() -> Self {
        Self { keys: Vec::new(), free: Vec::new(), dead: 0 }
    }

    /// Makes a name for a timer that the caller is about to arm.
    pub fn insert(&mut self, value: V) -> TimerId {
        let key = self.free.pop().unwrap_or_else(|| {
            self.keys.push(Key { generation: 0, value: None });
            u32::try_from(self.keys.len() - 1).expect("fewer than 2^32 timers")
        });
        let slot = &mut self.keys[key as usize];
        slot.value = Some(value);
        TimerId { key, generation: slot.generation }
    }

    /// Returns the value of a timer that came out of the wheel; None if it was cancelled.
    pub fn fire(&mut self, id: TimerId) -> Option<V> {
        let value = self.take(id);
        self.dead -= usize::from(value.is_none());
        value
    }

    /// Cancels a timer; returns false if it has fired or was cancelled before.
    pub fn cancel(&mut self, id: TimerId) -> bool {
        let live = self.take(id).is_some();
        self.dead += usize::from(live);
        live
    }

    /// Whether the named timer is armed.
    pub fn is_live(&self, id: TimerId) -> bool {
        self.keys.get(id.key as usize).is_some_and(|key| key.generation == id.generation && key.value.is_some())
    }

    /// How many named timers are armed.
    pub const fn len(&self) -> usize {
        self.keys.len() - self.free.len()
    }

    /// How many cancelled timers the wheel still holds.
    pub const fn dead(&self) -> usize {
        self.dead
    }

    /// Whether no named timer is armed.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the wheel holds so many dead entries that the caller should sweep it, then call [`TimerTable::swept`].
    pub const fn is_crowded(&self) -> bool {
        self.dead > self.len() + SWEEP_SLACK
    }

    /// Notes that the caller has dropped every dead entry from the wheel.
    pub const fn swept(&mut self) {
        self.dead = 0;
    }

    fn take(&mut self, id: TimerId) -> Option<V> {
        let key = self.keys.get_mut(id.key as usize).filter(|key| key.generation == id.generation)?;
        let value = key.value.take()?;
        key.generation = key.generation.wrapping_add(1);
        self.free.push(id.key);
        Some(value)
    }
}

impl<V> Default for TimerTable<V> {
    fn default() -> Self {
        Self::new()
    }
}

/// Up to this many dead entries, a sweep costs more than the memory it returns.
pub(crate) const SWEEP_SLACK: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Instant;
    use crate::wheel::TimerWheel;

    #[test]
    fn a_name_dies_with_its_timer() {
        let mut table = TimerTable::new();
        let (fired, cancelled) = (table.insert('f'), table.insert('c'));
        assert_eq!(table.fire(fired), Some('f'));
        assert!(table.cancel(cancelled));
        let again = table.insert('n');
        assert!(!table.cancel(fired) && !table.cancel(cancelled), "a key may be used again, a name may not");
        assert_eq!((table.fire(cancelled), table.fire(again)), (None, Some('n')));
    }

    #[test]
    fn endless_cancelling_needs_bounded_memory() {
        let (mut table, mut wheel) = (TimerTable::new(), TimerWheel::new());
        for n in 0..100_000_u64 {
            let id = table.insert(n);
            wheel.arm(Instant::from_nanos((n + 1) << 30), id);
            assert!(table.cancel(id));
            if table.is_crowded() {
                wheel.retain(|&id| table.is_live(id));
                table.swept();
            }
            assert!(wheel.len() <= SWEEP_SLACK + 1);
        }
        assert_eq!(table.keys.len(), 1);
    }

    #[test]
    fn a_name_survives_its_form_as_a_number() {
        let id = TimerId { key: 7, generation: 9 };
        assert_eq!(TimerId::from_bits(id.to_bits()), id);
    }
}
