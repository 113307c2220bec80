//! The moments at which a worker runs.
//!
//! The kubelet runs a worker at start + k * period. So pods that start together, as in a rollout or after a drain, are
//! probed together for ever.
//!
//! With [`Phasing::Spread`] a worker has a phase, which is a hash of the pod's UID, the container's name and the
//! probe's type, rounded down to a grid of ten milliseconds. From its second attempt on, the worker runs at phase +
//! k * period on the prober's clock. A period is whole seconds, so all these moments lie on the grid, whatever the
//! periods are, and the workers of one moment share a wake-up.
//!
//! 1. The first attempt comes when the kubelet's would, to the nanosecond: until then the worker keeps the kubelet's
//!    grid, and with it `initialDelaySeconds` and the wait for a startup probe.
//! 2. The second attempt comes at the first moment of the phase that is at least a period later, so that no container
//!    gets less time than `failureThreshold` and `periodSeconds` give it.
//! 3. A manual trigger runs the worker at once and does not move its grid.
//! 4. A startup probe keeps the kubelet's grid, because it ends soon and the other probes wait for it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::worker::Worker;
use crate::spec::ProbeType;
use crate::time::Instant;

/// What decides when a worker runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phasing {
    /// The moment at which the worker started.
    #[default]
    Kubelet,
    /// From the second attempt on, a phase of the worker's own.
    Spread,
}

impl Phasing {
    /// Whether workers on their phases may run at `at`.
    pub(crate) fn is_on_grid(self, at: Instant) -> bool {
        self == Self::Spread && at.as_nanos().is_multiple_of(GRID_NS)
    }
}

impl Worker {
    /// Moves the worker's grid to its phase as its first attempt begins. Under the kubelet's phasing, and for a startup
    /// probe, the grid stays.
    pub(crate) fn take_phase(&mut self, phasing: Phasing, now: Instant) {
        if phasing == Phasing::Kubelet || self.is_phased || self.probe_type == ProbeType::Startup {
            return;
        }
        self.is_phased = true;
        let earliest = now.as_nanos().saturating_add(self.period_ns);
        let since_phase = (earliest - self.phase_ns()) % self.period_ns;
        let wait = if since_phase == 0 { 0 } else { self.period_ns - since_phase };
        self.next_tick = Instant::from_nanos(earliest) + Duration::from_nanos(wait);
    }

    /// Serves a manual trigger: begins a new grid at `now`, unless the worker is on its phase.
    pub(crate) fn take_trigger(&mut self, resets_ticker: bool, now: Instant) {
        if !self.is_phased {
            if resets_ticker {
                self.next_tick = now + self.period();
            }
        } else if self.next_tick <= now {
            self.take_tick(now);
        }
    }

    /// The worker's phase: nanoseconds into its period, on the grid and less than the period.
    fn phase_ns(&self) -> u64 {
        let parts = [self.object.uid.as_bytes(), self.container_name().as_bytes(), self.probe_type.name().as_bytes()];
        let hash = parts.iter().fold(FNV_BASIS, |hash, part| {
            part.iter().chain(&[PART_END]).fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME))
        });
        // FNV leaves the high bits of similar names alike, so SplitMix64's last step mixes them.
        let mixed = (hash ^ (hash >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let phase = ((u128::from(mixed ^ (mixed >> 31)) * u128::from(self.period_ns)) >> 64) as u64;
        phase - phase % GRID_NS
    }
}

/// The grid of the phases, a divisor of a second. At a thousand probes a second it saves five wake-ups of six; on a grid
/// of four milliseconds it would be three of six, and ten probes at a time still start within a quarter of a millisecond.
const GRID_NS: u64 = 10_000_000;
/// FNV-1a, 64 bits (draft-eastlake-fnv). It has no seed, so a worker has the same phase on every node and after every
/// restart.
const FNV_BASIS: u64 = 0xCBF2_9CE4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01B3;
/// Ends each part of the hash; no name holds this byte.
const PART_END: u8 = 0xFF;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::spec::{ContainerSpec, PodSpec};

    fn worker(probe_type: ProbeType) -> Worker {
        let mut container = ContainerSpec { name: "app".into(), ..ContainerSpec::default() };
        container.probes[probe_type as usize] = Some(Box::default());
        let uid = "00000000-0000-4000-8000-000000000001".into();
        let pod = PodSpec { uid, containers: vec![container], regular: 1, ..PodSpec::default() };
        Worker::new(0, &Arc::new(pod), 0, probe_type, false)
    }

    #[test]
    fn a_phase_is_the_same_on_every_node_and_in_every_release() {
        // Another program computed these values from the definition above, for a period of ten seconds: 177,124,355
        // and 4,646,823,227 before they are rounded.
        assert_eq!(worker(ProbeType::Readiness).phase_ns(), 170_000_000);
        assert_eq!(worker(ProbeType::Liveness).phase_ns(), 4_640_000_000);
    }

    #[test]
    fn the_second_run_is_on_the_phase_and_at_least_a_period_away() {
        for (now_ns, next_ns) in
            [(3_000_000_000, 20_170_000_000), (170_000_000, 10_170_000_000), (170_000_001, 20_170_000_000)]
        {
            let mut worker = worker(ProbeType::Readiness);
            worker.take_phase(Phasing::Spread, Instant::from_nanos(now_ns));
            assert_eq!(worker.next_tick, Instant::from_nanos(next_ns), "from {now_ns}");
        }
    }
}
