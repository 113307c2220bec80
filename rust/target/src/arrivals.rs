//! When probes arrived at each address, and how late they were.

use std::net::Ipv4Addr;
use std::time::Duration;

/// When each worker's probes arrived: the connection, and the first byte of the request on it.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    period: i64,
    probes: u64,
    accepted: Moments,
    first_bytes: Moments,
}

impl Arrivals {
    pub(crate) fn new(period: Duration) -> Self {
        let (accepted, first_bytes) = (Moments::default(), Moments::default());
        Self { period: nanoseconds(period).max(1), probes: 0, accepted, first_bytes }
    }

    /// Counts a probe: the target accepted a connection to `address`.
    pub(crate) fn note(&mut self, address: Ipv4Addr, at: Duration) {
        self.probes += 1;
        self.accepted.note(address, at);
    }

    /// Notes that the target read the first byte of a request to `address`.
    pub(crate) fn note_first_byte(&mut self, address: Ipv4Addr, at: Duration) {
        self.first_bytes.note(address, at);
    }

    pub(crate) fn forget(&mut self) {
        self.probes = 0;
        self.accepted.forget();
        self.first_bytes.forget();
    }

    /// Renders the same document as the C target. Over a protocol without requests, `first_byte_lateness_ms` is null.
    pub(crate) fn to_json(&self) -> String {
        let (accepted, first_bytes) = (self.accepted.lateness(self.period), self.first_bytes.lateness(self.period));
        format!(
            "{{\"schema\":\"probelet-target/1\",\"probes\":{},\"pods\":{},\"samples\":{},\"missed\":{},\
             \"lateness_ms\":{},\"first_byte_lateness_ms\":{}}}",
            self.probes,
            accepted.workers,
            accepted.late.len(),
            accepted.missed,
            accepted.quantiles(),
            if first_bytes.workers > 0 { first_bytes.quantiles() } else { "null".to_owned() },
        )
    }
}

/// One moment of each probe, by worker; nanoseconds on the target's own clock.
#[derive(Clone, Debug, Default)]
struct Moments(Vec<Vec<i64>>);

impl Moments {
    fn note(&mut self, address: Ipv4Addr, at: Duration) {
        let Some(worker) = u32::from(address).checked_sub(u32::from(FIRST)).map(|worker| worker as usize) else {
            return;
        };
        if worker >= WORKERS_MAX {
            return;
        }
        if worker >= self.0.len() {
            self.0.resize_with(worker + 1, Vec::new);
        }
        let times = &mut self.0[worker];
        if times.len() < TIMES_MAX {
            times.push(nanoseconds(at));
        }
    }

    fn forget(&mut self) {
        self.0.iter_mut().for_each(Vec::clear);
    }

    /// Returns how late each moment was. It leaves out workers with fewer than three probes: two points make no grid.
    fn lateness(&self, period: i64) -> Lateness {
        let mut lateness = Lateness::default();
        for times in self.0.iter().filter(|times| times.len() >= 3) {
            lateness.add(times, period);
        }
        lateness.late.sort_unstable();
        lateness
    }
}

/// How late the probes of all workers were.
#[derive(Debug, Default)]
struct Lateness {
    workers: usize,
    /// Periods that went by without a probe.
    missed: i64,
    /// Nanoseconds; one number for each probe.
    late: Vec<i64>,
}

impl Lateness {
    /// Adds one worker. The grid is the worker's own: its earliest probe, modulo the period, is on time.
    fn add(&mut self, times: &[i64], period: i64) {
        let (first, last) = (times[0], times[times.len() - 1]);
        let periods = |since: i64| (since + period / 2) / period;
        let offsets = times.iter().map(|at| at - first - periods(at - first) * period);
        let earliest = offsets.clone().min().unwrap_or(0);
        self.late.extend(offsets.map(|offset| offset - earliest));
        self.missed += (periods(last - first) + 1 - times.len() as i64).max(0);
        self.workers += 1;
    }

    fn quantiles(&self) -> String {
        let ms = |quantile: f64| {
            let index = (self.late.len().saturating_sub(1) as f64 * quantile) as usize;
            self.late.get(index).map_or(0.0, |late| *late as f64 / 1e6)
        };
        let (p50, p90, p99, max) = (ms(0.5), ms(0.9), ms(0.99), ms(1.0));
        format!("{{\"p50\":{p50:.3},\"p90\":{p90:.3},\"p99\":{p99:.3},\"max\":{max:.3}}}")
    }
}

fn nanoseconds(length: Duration) -> i64 {
    i64::try_from(length.as_nanos()).unwrap_or(i64::MAX)
}

/// The address of the first worker. Probes of lower addresses count in `probes` only.
pub(crate) const FIRST: Ipv4Addr = Ipv4Addr::new(127, 1, 0, 0);
/// 127.1.0.0 to 127.4.255.255.
const WORKERS_MAX: usize = 1 << 18;
/// More than an hour at one probe a second. Later probes count in `probes` only.
const TIMES_MAX: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(times: &[(u32, u64)]) -> String {
        let mut arrivals = Arrivals::new(Duration::from_secs(1));
        for (worker, ms) in times {
            arrivals.note(Ipv4Addr::from_bits(FIRST.to_bits() + worker), Duration::from_millis(*ms));
        }
        arrivals.to_json()
    }

    #[test]
    fn the_earliest_probe_of_a_worker_is_on_time() {
        let page = seen(&[(0, 100), (0, 1090), (0, 2095), (0, 3190)]);
        assert!(page.contains("\"missed\":0,\"lateness_ms\":{\"p50\":5.000,\"p90\":10.000,"), "{page}");
        assert!(page.ends_with("\"max\":100.000},\"first_byte_lateness_ms\":null}"), "{page}");
    }

    #[test]
    fn a_request_that_is_sent_late_shows_in_its_first_byte_alone() {
        let mut arrivals = Arrivals::new(Duration::from_secs(1));
        for (accepted, first_byte) in [(0, 1), (1_000, 1_001), (2_000, 2_151)] {
            arrivals.note(FIRST, Duration::from_millis(accepted));
            arrivals.note_first_byte(FIRST, Duration::from_millis(first_byte));
        }
        let page = arrivals.to_json();
        assert!(page.contains("\"lateness_ms\":{\"p50\":0.000,\"p90\":0.000,\"p99\":0.000,\"max\":0.000}"), "{page}");
        assert!(
            page.ends_with("\"first_byte_lateness_ms\":{\"p50\":0.000,\"p90\":0.000,\"p99\":0.000,\"max\":150.000}}"),
            "{page}"
        );
    }

    #[test]
    fn a_period_without_a_probe_is_missed() {
        assert!(seen(&[(7, 0), (7, 1000), (7, 4000)]).contains("\"pods\":1,\"samples\":3,\"missed\":2,"));
    }

    #[test]
    fn a_probe_of_an_address_below_the_first_worker_is_counted_without_lateness() {
        let mut arrivals = Arrivals::new(Duration::from_secs(1));
        arrivals.note(Ipv4Addr::LOCALHOST, Duration::ZERO);
        assert!(arrivals.to_json().contains("\"probes\":1,\"pods\":0,"));
    }
}
