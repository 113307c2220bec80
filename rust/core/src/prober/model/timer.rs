//! An entry of the prober's wheel.

use serde::{Deserialize, Serialize};

use crate::prober::output::WorkerId;
use crate::timer::TimerId;

/// One entry of the wheel in eight bytes: a number, a generation, and a bit that tells a driver's timer from a tick.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Timer(u64);

/// What a wheel entry stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Driver(TimerId),
    /// A worker's tick; dead if the worker has another generation by then.
    Tick {
        worker: WorkerId,
        generation: u32,
    },
}

impl Timer {
    pub(crate) fn new(kind: Kind) -> Self {
        let (bits, is_driver) = match kind {
            Kind::Driver(id) => (id.to_bits(), true),
            Kind::Tick { worker, generation } => (u64::from(generation) << 32 | u64::from(worker), false),
        };
        assert!(bits & OF_DRIVER == 0, "fewer than 2^31 workers and timers");
        Self(if is_driver { bits | OF_DRIVER } else { bits })
    }

    pub(crate) const fn kind(self) -> Kind {
        if self.0 & OF_DRIVER != 0 {
            Kind::Driver(TimerId::from_bits(self.0 & !OF_DRIVER))
        } else {
            Kind::Tick { worker: self.0 as WorkerId, generation: (self.0 >> 32) as u32 }
        }
    }
}

/// The number's highest bit marks a driver's timer.
const OF_DRIVER: u64 = 1 << 31;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Instant;

    #[test]
    fn a_timer_unpacks_to_what_was_packed_and_is_no_larger_than_its_deadline() {
        for (number, generation) in [(0, 0), (7, 9), (u32::MAX >> 1, u32::MAX)] {
            let id = TimerId::from_bits(u64::from(generation) << 32 | u64::from(number));
            for kind in [Kind::Driver(id), Kind::Tick { worker: number, generation }] {
                assert_eq!(Timer::new(kind).kind(), kind);
            }
        }
        assert_eq!(size_of::<Timer>(), size_of::<Instant>());
    }
}
