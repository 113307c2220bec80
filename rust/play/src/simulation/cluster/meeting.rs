//! What a probe of a container meets.

use std::time::Duration;

use probelet_core::rng::Rng;
use probelet_core::spec::ProbeType;

use super::container::{Container, Description};
use super::dependency::{Dependencies, Health};
use super::random::between_0_and_1;
use super::service::Services;
use super::spread::{Spread, seconds};

/// What a probe meets.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meeting {
    /// Nobody listens.
    Refused(Why),
    /// The connection is not taken.
    Dropped,
    /// An answer after so long; the reason is what took longest.
    Answer(Duration, Why),
    /// A bad answer after so long.
    BadAnswer(Duration, Why),
    /// No answer at all.
    Silence(Why),
}

/// Why a probe met what it met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    Nothing,
    Starting,
    Exited,
    Deadlock,
    Load,
    Pause,
    Leak,
    Latency,
    Prober,
    Dependency(usize),
}

impl Container {
    /// Whether every probe that asks as this one did meets the same until a caller changes the model, because nothing
    /// varies with time or by chance.
    pub(super) fn is_steady(&self, now_ns: u64, probe_type: ProbeType, dependencies: &Dependencies) -> bool {
        let Description { latency, probe_latency, pause, leak, .. } = &self.description;
        let given = probe_latency.unwrap_or(*latency);
        let asked = self.ask(self.asks.of(probe_type), now_ns, dependencies);
        let is_plain = |spread: Spread, drifts: bool| spread.is_constant() && !drifts;
        self.life.is_some_and(|life| now_ns >= life.serves_ns)
            && self.shares.is_empty()
            && pause.is_none()
            && leak.is_none()
            && is_plain(given.spread(), given.per_day_ns > 0)
            && is_plain(asked.takes, asked.drifts)
    }

    /// What a probe meets that comes now. `is_tcp`: it only connects, which the kernel answers while there is room for
    /// connections. `is_exec`: nobody has to listen.
    pub(super) fn meet(
        &mut self,
        now_ns: u64,
        probe_type: ProbeType,
        (is_tcp, is_exec): (bool, bool),
        rng: &mut Rng,
        services: &mut Services,
        dependencies: &Dependencies,
    ) -> Meeting {
        let Some(life) = self.life else {
            return Meeting::Refused(Why::Exited);
        };
        if now_ns < life.serves_ns {
            return Meeting::Refused(Why::Starting);
        }
        let mut wait = 0.0;
        if !self.description.apart && !is_exec && !self.shares.is_empty() && !life.is_stuck {
            self.count_until(now_ns, services, dependencies);
            let conditions = self.segment_at(now_ns, services, dependencies).conditions;
            if self.queued >= conditions.queue && between_0_and_1(rng) >= conditions.taken_when_full() {
                return Meeting::Dropped;
            }
            wait = conditions.wait(self.queued);
        }
        if is_tcp {
            return Meeting::Answer(Duration::ZERO, Why::Nothing);
        }
        if life.is_stuck {
            return Meeting::Silence(Why::Deadlock);
        }
        let asks = self.asks.of(probe_type);
        let given = self.description.probe_latency.unwrap_or(self.description.latency);
        let own = self.own(given, &life, now_ns);
        let own = if own.is_constant() { own.mean() } else { own.at(between_0_and_1(rng)).as_secs_f64() };
        let mut parts = [(own, Why::Latency), (wait, Why::Load), (0.0, Why::Pause), (0.0, Why::Nothing)];
        let leaked = self.leaked(&life, now_ns) * self.description.factor;
        if leaked * 2.0 > own {
            parts[0].1 = Why::Leak;
        }
        if !asks.is_empty() {
            let reply = self.ask(asks, now_ns, dependencies);
            let why = reply.slowest.map_or(Why::Nothing, Why::Dependency);
            match reply.health {
                Health::Hangs => return Meeting::Silence(why),
                Health::Refuses => return Meeting::BadAnswer(self.paused(now_ns, own + wait, &mut parts[2].0), why),
                Health::Up if reply.takes.is_constant() => parts[3] = (reply.takes.mean(), why),
                Health::Up => parts[3] = (reply.takes.at(between_0_and_1(rng)).as_secs_f64(), why),
            }
        }
        let takes = self.paused(now_ns, own + wait + parts[3].0, &mut parts[2].0);
        let longest =
            parts.iter().copied().fold((-1.0, Why::Nothing), |best, part| if part.0 > best.0 { part } else { best });
        Meeting::Answer(takes, longest.1)
    }

    /// How long something takes that needs `busy` seconds of a process that is not paused.
    fn paused(&self, now_ns: u64, busy: f64, waits: &mut f64) -> Duration {
        let busy = Duration::try_from_secs_f64(busy).unwrap_or(Duration::MAX);
        if self.description.pause.is_none() {
            return busy;
        }
        let (mut at, mut left_ns) = (now_ns, u64::try_from(busy.as_nanos()).unwrap_or(u64::MAX / 4));
        loop {
            let (end, edge) = self.pause_at(at);
            if let Some(end) = end {
                *waits += seconds(end - at);
                at = end;
            } else if left_ns <= edge - at {
                return Duration::from_nanos(at + left_ns - now_ns);
            } else {
                left_ns -= edge - at;
                at = edge;
            }
        }
    }
}
