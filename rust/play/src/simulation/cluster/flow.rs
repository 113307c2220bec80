//! The load of one replica as a flow: how many requests wait, and how long a request that arrives now will wait.
//!
//! While nothing changes, a replica is offered `offered` requests a second and can serve `capacity`, which is its
//! workers over the mean time of a request. Requests beyond the capacity fill the queue, one for one; spare capacity
//! empties it. Below saturation requests wait too, because they come at random. At utilisation `r` = offered / capacity
//! there wait, on average, `r ^ sqrt(2 (workers + 1)) / (1 - r)` (Sakasegawa 1977; with one worker the formula of M/M/1).
//! This holds for a load that lasts. From `r` = 0.95 on it would be reached later than most loads last, so the formula
//! takes `r` for at most 0.95 and the queue's own growth counts beyond. The larger of the two numbers waits, and never
//! more than the queue holds. A request that comes now waits for as many, at the capacity.

/// What a replica meets for a time in which nothing changes. Rates are requests a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Conditions {
    pub(super) offered: f64,
    /// Infinite if load never slows the replica.
    pub(super) capacity: f64,
    pub(super) workers: f64,
    /// How many requests the queue holds.
    pub(super) queue: f64,
    /// Seconds from the beginning on until the process goes on; in this time it serves nothing. At least as long as the
    /// time in which nothing changes.
    pub(super) pause: Option<f64>,
}

/// A part of that time in which the wait changes evenly.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// Seconds since the beginning.
    pub(super) from: f64,
    pub(super) to: f64,
    /// The share of offered requests that the queue takes.
    pub(super) taken: f64,
    /// The wait of a request that comes at the beginning of the piece, and at its end.
    pub(super) wait: (f64, f64),
}

impl Conditions {
    /// How many requests wait because they come at random.
    pub(super) fn waiting_by_chance(&self) -> f64 {
        if self.capacity.is_infinite() || self.offered <= 0.0 {
            return 0.0;
        }
        let used = (self.offered / self.capacity).min(USED_MAX);
        (used.powf((2.0 * (self.workers + 1.0)).sqrt()) / (1.0 - used)).min(self.queue)
    }

    /// How long a request waits that comes when `queued` requests wait, without a pause.
    pub(super) fn wait(&self, queued: f64) -> f64 {
        if self.capacity.is_infinite() { 0.0 } else { queued.max(self.waiting_by_chance()) / self.capacity }
    }

    /// The share of requests that a full queue takes.
    pub(super) fn taken_when_full(&self) -> f64 {
        let served = if self.pause.is_some() { 0.0 } else { self.capacity };
        if self.offered > served { served / self.offered } else { 1.0 }
    }

    /// Goes through `length` seconds that begin with `queued` requests in the queue; returns how many are in it at the
    /// end.
    pub(super) fn play(&self, queued: f64, length: f64, mut each: impl FnMut(Piece)) -> f64 {
        let paused = |at: f64| self.pause.map_or(0.0, |pause| (pause - at).max(0.0));
        if self.capacity.is_infinite() {
            each(Piece { from: 0.0, to: length, taken: 1.0, wait: (paused(0.0), paused(length)) });
            return 0.0;
        }
        let growth = self.offered - if self.pause.is_some() { 0.0 } else { self.capacity };
        let by_chance = self.waiting_by_chance();
        let limit = if growth > 0.0 { self.queue } else { 0.0 };
        let reached = if growth == 0.0 { length } else { ((limit - queued) / growth).clamp(0.0, length) };
        // From here on the queue is as long as chance has it, or until here it was.
        let crossing = if growth == 0.0 { 0.0 } else { ((by_chance - queued) / growth).clamp(0.0, reached) };
        let wait = |at: f64| (growth.mul_add(at, queued)).max(by_chance).min(self.queue) / self.capacity + paused(at);
        for (from, to) in [(0.0, crossing), (crossing, reached)] {
            if to > from {
                each(Piece { from, to, taken: 1.0, wait: (wait(from), wait(to)) });
            }
        }
        if reached < length {
            let taken = if growth > 0.0 { self.taken_when_full() } else { 1.0 };
            let still = limit.max(by_chance) / self.capacity;
            each(Piece { from: reached, to: length, taken, wait: (still + paused(reached), still + paused(length)) });
            return limit;
        }
        growth.mul_add(length, queued).clamp(0.0, self.queue)
    }
}

/// The utilisation up to which the formula of the steady state is used: about twenty requests wait there.
const USED_MAX: f64 = 0.95;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn conditions() -> impl Strategy<Value = (Conditions, f64)> {
        let pause = prop_oneof![3 => Just(None), 1 => (10.0..20.0).prop_map(Some)];
        let numbers = (0.0..500.0, 1.0..500.0, 1_u32..64, 0.0..200.0, pause, 0.0..1.0);
        numbers.prop_map(|(offered, capacity, workers, queue, pause, filled): (_, _, _, f64, _, f64)| {
            (Conditions { offered, capacity, workers: f64::from(workers), queue, pause }, filled * queue)
        })
    }

    /// The same in small steps.
    fn in_steps(conditions: &Conditions, mut queued: f64, length: f64, steps: u32) -> (f64, f64, f64) {
        let step = length / f64::from(steps);
        let (mut taken, mut waited) = (0.0, 0.0);
        for index in 0..steps {
            let served = if conditions.pause.is_some() { 0.0 } else { conditions.capacity };
            let next = (conditions.offered - served).mul_add(step, queued);
            let over = (next - conditions.queue).max(0.0);
            let share = if conditions.offered > 0.0 { 1.0 - over / (conditions.offered * step) } else { 1.0 };
            let middle = (queued + next.clamp(0.0, conditions.queue)) / 2.0;
            let pause = conditions.pause.map_or(0.0, |pause| pause - (f64::from(index) + 0.5) * step);
            taken += share * step;
            waited += (conditions.wait(middle) + pause) * step;
            queued = next.clamp(0.0, conditions.queue);
        }
        (taken, waited, queued)
    }

    proptest! {
        #[test]
        fn the_closed_form_is_the_sum_of_small_steps((conditions, queued) in conditions(), length in 0.01..10.0) {
            let (mut taken, mut waited, mut until) = (0.0, 0.0, 0.0);
            let left = conditions.play(queued, length, |piece| {
                assert!((piece.from - until).abs() < 1e-9 && piece.to > piece.from && (0.0..=1.0).contains(&piece.taken));
                until = piece.to;
                taken += piece.taken * (piece.to - piece.from);
                waited += f64::midpoint(piece.wait.0, piece.wait.1) * (piece.to - piece.from);
            });
            prop_assert!((until - length).abs() < 1e-9);
            let (taken_in_steps, waited_in_steps, left_in_steps) = in_steps(&conditions, queued, length, 20_000);
            prop_assert!((taken - taken_in_steps).abs() < 2e-3 * length, "{taken} {taken_in_steps}");
            prop_assert!((waited - waited_in_steps).abs() < 2e-3 * (1.0 + waited_in_steps), "{waited} {waited_in_steps}");
            prop_assert!((left - left_in_steps).abs() < 1e-6 * (1.0 + left), "{left} {left_in_steps}");
        }

        #[test]
        fn more_load_or_fewer_workers_never_shorten_the_wait(
            (conditions, queued) in conditions(), more in 0.0..500.0, factor in 0.1..1.0
        ) {
            let wait = conditions.wait(queued);
            let busier = Conditions { offered: conditions.offered + more, ..conditions };
            prop_assert!(busier.wait(queued) >= wait);
            let slower = Conditions { capacity: conditions.capacity * factor, ..conditions };
            prop_assert!(slower.wait(queued) >= wait);
            prop_assert!(conditions.wait(queued + more) >= wait);
        }
    }

    #[test]
    fn one_worker_at_four_fifths_has_as_many_waiting_as_the_formula_of_one_server_says() {
        let conditions = Conditions { offered: 80.0, capacity: 100.0, workers: 1.0, queue: 100.0, pause: None };
        assert!((conditions.waiting_by_chance() - 3.2).abs() < 1e-9);
        assert!((conditions.wait(0.0) - 0.032).abs() < 1e-9);
    }
}
