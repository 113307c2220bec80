//! The timer wheel: every deadline of a node, in one structure without a clock.
//!
//! **Theory.** Time is cut into ticks of 2^20 ns (about a millisecond). Level 0 has one slot per tick for the next 64
//! ticks, level 1 one slot per 64 ticks, and so on; eight levels cover all of `u64` nanoseconds. A deadline goes to the
//! level of the highest six-bit group in which its tick differs from the current one, so within a level every occupied
//! slot lies ahead and the first occupied slot of the lowest occupied level holds the earliest deadlines. When the
//! current tick reaches a slot of a higher level, its entries are placed again, lower (they *cascade*). When it reaches
//! a slot of level 0, that slot becomes the *due list*, sorted by deadline.
//!
//! **Promise.** Timers fire in order of (deadline, arm order), to the nanosecond, whatever cascaded in between; the
//! property test below compares the wheel with a sorted map. The wheel need not store the order: two entries with one
//! deadline are always in one slot, in the order in which they were armed. The second one cannot have been placed lower
//! than the first, because a slot is emptied downwards at the very moment from which lower levels are used for its
//! ticks.
//!
//! **Cost.** An entry is a deadline and a value, inline in its slot's vector. A slot that is emptied gives its vector
//! to the next slot of its level: if each slot kept its own, all of them would in the end keep the room that one of
//! them once needed. The wheel cannot cancel: a caller that needs it puts a generation into the value, ignores a dead
//! entry when it fires ([`crate::timer`] does), and calls [`TimerWheel::retain`] once dead entries outnumber live ones.
//! Arming and firing are O(1) amortised.

use serde::{Deserialize, Serialize};

use crate::time::Instant;

/// A hierarchical timer wheel of values `T`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TimerWheel<T> {
    slots: Vec<Vec<Entry<T>>>,
    occupied: [u64; LEVELS],
    /// Every entry whose tick is at or before this one is in `due`.
    tick: u64,
    due: Vec<Entry<T>>,
    cursor: usize,
    len: usize,
    /// The earliest deadline of each occupied slot.
    earliest: Vec<Instant>,
    /// Vectors of emptied slots, by level. The next slot of that level that fills takes one.
    #[serde(skip, default = "no_spares")]
    spare: [Vec<Vec<Entry<T>>>; LEVELS],
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Entry<T> {
    deadline: Instant,
    value: T,
}

impl<T: Copy> TimerWheel<T> {
    /// An empty wheel at the clock's zero.
    pub fn new() -> Self {
        Self {
            slots: (0..LEVELS * SLOTS).map(|_| Vec::new()).collect(),
            occupied: [0; LEVELS],
            tick: 0,
            due: Vec::new(),
            cursor: 0,
            len: 0,
            earliest: vec![Instant::ZERO; LEVELS * SLOTS],
            spare: no_spares(),
        }
    }

    /// How many timers are armed.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether no timer is armed.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Arms a timer. A deadline in the past fires at the next [`TimerWheel::pop`].
    pub fn arm(&mut self, deadline: Instant, value: T) {
        self.len += 1;
        self.place(Entry { deadline, value });
    }

    /// Takes the next timer that is due at `now`; returns its deadline and value.
    #[inline] // Without it, and that of `open`, a timer costs a tenth more: the compiler then calls what it had inlined.
    pub fn pop(&mut self, now: Instant) -> Option<(Instant, T)> {
        loop {
            if let Some(entry) = self.due.get(self.cursor) {
                if entry.deadline > now {
                    return None;
                }
                self.cursor += 1;
                self.len -= 1;
                return Some((entry.deadline, entry.value));
            }
            self.due.clear();
            self.cursor = 0;
            let (level, slot) = self.first_slot()?;
            let start = self.slot_start(level, slot);
            if start > tick_of(now) {
                return None;
            }
            self.open(level, slot, start);
        }
    }

    /// The earliest deadline.
    pub fn next_deadline(&self) -> Option<Instant> {
        if let Some(entry) = self.due.get(self.cursor) {
            return Some(entry.deadline);
        }
        let (level, slot) = self.first_slot()?;
        Some(self.earliest[level * SLOTS + slot])
    }

    /// The values of timers that are due at `now`, in no order: those of the next slot, which are all unless the caller is
    /// late.
    pub fn due(&self, now: Instant) -> impl Iterator<Item = &T> {
        let ahead = self.first_slot().into_iter().flat_map(|(level, slot)| &self.slots[level * SLOTS + slot]);
        let due = self.due[self.cursor..].iter().chain(ahead);
        due.filter(move |entry| entry.deadline <= now).map(|entry| &entry.value)
    }

    /// Keeps only the timers for which `keep` returns true.
    pub fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        self.due.drain(..self.cursor);
        self.cursor = 0;
        self.due.retain(|entry| keep(&entry.value));
        self.len = self.due.len();
        for (index, slot) in self.slots.iter_mut().enumerate() {
            slot.retain(|entry| keep(&entry.value));
            self.len += slot.len();
            match slot.iter().map(|entry| entry.deadline).min() {
                Some(earliest) => self.earliest[index] = earliest,
                None => self.occupied[index / SLOTS] &= !(1 << (index % SLOTS)),
            }
        }
    }

    /// The first occupied slot of the lowest occupied level; no other slot holds an earlier deadline.
    fn first_slot(&self) -> Option<(usize, usize)> {
        let level = self.occupied.iter().position(|&slots| slots != 0)?;
        Some((level, self.occupied[level].trailing_zeros() as usize))
    }

    /// The first tick of a slot. All its entries share the current tick's groups above `level`.
    const fn slot_start(&self, level: usize, slot: usize) -> u64 {
        let shift = level * GROUP_BITS;
        let above = self.tick >> (shift + GROUP_BITS) << (shift + GROUP_BITS);
        above | (slot as u64) << shift
    }

    /// Moves the current tick to a slot and places the slot's entries again.
    #[inline]
    fn open(&mut self, level: usize, slot: usize, start: u64) {
        self.tick = start;
        self.occupied[level] &= !(1 << slot);
        let index = level * SLOTS + slot;
        let mut entries = std::mem::take(&mut self.slots[index]);
        if level == 0 {
            std::mem::swap(&mut self.due, &mut entries);
        } else {
            for entry in entries.drain(..) {
                if tick_of(entry.deadline) <= start {
                    self.due.push(entry);
                } else {
                    self.place(entry);
                }
            }
        }
        self.spare[level].push(entries);
        // Periodic timers are armed in the order in which they fire, so there is seldom anything to sort. The sort must
        // be stable to keep the order of equal deadlines.
        if !self.due.is_sorted_by_key(|entry| entry.deadline) {
            self.due.sort_by_key(|entry| entry.deadline);
        }
    }

    fn place(&mut self, entry: Entry<T>) {
        let tick = tick_of(entry.deadline);
        if tick <= self.tick {
            let ahead = &self.due[self.cursor..];
            let at = ahead.partition_point(|other| other.deadline <= entry.deadline);
            self.due.insert(self.cursor + at, entry);
            return;
        }
        let level = (tick ^ self.tick).ilog2() as usize / GROUP_BITS;
        let slot = (tick >> (level * GROUP_BITS)) as usize % SLOTS;
        let index = level * SLOTS + slot;
        let is_first = self.occupied[level] & 1 << slot == 0;
        if is_first || entry.deadline < self.earliest[index] {
            self.earliest[index] = entry.deadline;
        }
        if self.slots[index].capacity() == 0
            && let Some(spare) = self.spare[level].pop()
        {
            self.slots[index] = spare;
        }
        self.occupied[level] |= 1 << slot;
        self.slots[index].push(entry);
    }
}

impl<T: Copy> Default for TimerWheel<T> {
    fn default() -> Self {
        Self::new()
    }
}

fn no_spares<T>() -> [Vec<Vec<Entry<T>>>; LEVELS] {
    std::array::from_fn(|_| Vec::new())
}

const fn tick_of(deadline: Instant) -> u64 {
    deadline.as_nanos() >> TICK_BITS
}

/// 2^20 ns: finer than any probe needs, and a slot at 10^6 timers of 10 s still holds only a hundred entries to sort.
const TICK_BITS: u32 = 20;
const GROUP_BITS: usize = 6;
const SLOTS: usize = 1 << GROUP_BITS;
/// Eight groups of six bits and the tick's twenty cover more than the 64 bits of a deadline.
const LEVELS: usize = 8;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Arm(u64),
        Fire(u64),
        KeepOdd,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        // Short, long and absurd distances reach every level and the end of the clock; some deadlines are equal.
        let distance =
            prop_oneof![0..3_u64, Just(1_u64 << 30), 0..1_u64 << 22, 0..1_u64 << 34, 0..1_u64 << 50, Just(u64::MAX)];
        let step = prop_oneof![
            8 => distance.clone().prop_map(Step::Arm),
            6 => distance.prop_map(|distance| Step::Fire(distance.min(1 << 52))),
            1 => Just(Step::KeepOdd),
        ];
        prop::collection::vec(step, 1..400)
    }

    /// How many entries the wheel has allocated room for.
    fn room(wheel: &TimerWheel<u32>) -> usize {
        let spare = wheel.spare.iter().flatten();
        wheel.slots.iter().chain(spare).chain([&wheel.due]).map(Vec::capacity).sum()
    }

    #[test]
    fn memory_grows_with_the_timers_and_not_with_time() {
        const TIMERS: u32 = 10_000;
        let period = Duration::from_secs(10);
        let mut wheel = TimerWheel::new();
        for number in 0..TIMERS {
            wheel.arm(Instant::ZERO + period / TIMERS * number, number);
        }
        let mut most = 0;
        for second in 1..=600 {
            let now = Instant::ZERO + Duration::from_secs(second);
            while let Some((deadline, number)) = wheel.pop(now) {
                wheel.arm(deadline + period, number);
            }
            most = most.max(room(&wheel));
        }
        assert!(most <= 6 * TIMERS as usize, "room for {most}");
    }

    proptest! {
        #[test]
        fn fires_like_a_sorted_map(steps in steps()) {
            let mut wheel = TimerWheel::new();
            let mut model: BTreeMap<(u64, u64), ()> = BTreeMap::new();
            let (mut now, mut order) = (0_u64, 0_u64);
            for step in steps {
                match step {
                    Step::Arm(distance) => {
                        let deadline = now.saturating_add(distance);
                        order += 1;
                        wheel.arm(Instant::from_nanos(deadline), order);
                        model.insert((deadline, order), ());
                    }
                    Step::KeepOdd => {
                        wheel.retain(|order| order % 2 == 1);
                        model.retain(|(_, order), ()| order % 2 == 1);
                    }
                    Step::Fire(distance) => {
                        now = now.saturating_add(distance);
                        let ahead: Vec<u64> = wheel.due(Instant::from_nanos(now)).copied().collect();
                        let due = model.keys().take_while(|(deadline, _)| *deadline <= now);
                        let due: Vec<u64> = due.map(|(_, order)| *order).collect();
                        prop_assert!(ahead.iter().all(|order| due.contains(order)));
                        prop_assert!(due.first().is_none_or(|first| ahead.contains(first)));
                        while let Some((deadline, value)) = wheel.pop(Instant::from_nanos(now)) {
                            let ((expected, order), ()) = model.pop_first().expect("the model has one too");
                            prop_assert_eq!((deadline.as_nanos(), value), (expected, order));
                        }
                        prop_assert!(model.first_key_value().is_none_or(|((deadline, _), ())| *deadline > now));
                    }
                }
                prop_assert_eq!(wheel.len(), model.len());
                let earliest = model.first_key_value().map(|((deadline, _), ())| Instant::from_nanos(*deadline));
                prop_assert_eq!(wheel.next_deadline(), earliest);
            }
        }
    }

    #[test]
    fn a_timer_armed_while_its_own_tick_drains_fires_in_its_place() {
        let mut wheel = TimerWheel::new();
        wheel.arm(Instant::from_nanos(10), 'a');
        wheel.arm(Instant::from_nanos(30), 'c');
        assert_eq!(wheel.pop(Instant::from_nanos(20)), Some((Instant::from_nanos(10), 'a')));
        wheel.arm(Instant::from_nanos(20), 'b');
        let rest: Vec<_> = std::iter::from_fn(|| wheel.pop(Instant::from_nanos(99))).map(|fired| fired.1).collect();
        assert_eq!(rest, ['b', 'c']);
    }
}
