//! When probes came, by the address they came to, and how late they were.

use std::net::Ipv4Addr;
use std::time::Duration;

/// When each worker's probes came.
#[derive(Clone, Debug)]
pub(super) struct Arrivals {
    period: i64,
    probes: u64,
    /// Nanoseconds on the target's own clock, by worker.
    times: Vec<Vec<i64>>,
}

impl Arrivals {
    pub(super) fn new(period: Duration) -> Self {
        Self { period: nanoseconds(period).max(1), probes: 0, times: Vec::new() }
    }

    /// A probe that came to `address`; the time is that of its connection.
    pub(super) fn note(&mut self, address: Ipv4Addr, at: Duration) {
        self.probes += 1;
        let Some(worker) = u32::from(address).checked_sub(u32::from(FIRST)).map(|worker| worker as usize) else {
            return;
        };
        if worker >= WORKERS_MAX {
            return;
        }
        if worker >= self.times.len() {
            self.times.resize_with(worker + 1, Vec::new);
        }
        let times = &mut self.times[worker];
        if times.len() < TIMES_MAX {
            times.push(nanoseconds(at));
        }
    }

    pub(super) fn forget(&mut self) {
        self.probes = 0;
        self.times.iter_mut().for_each(Vec::clear);
    }

    /// The same document as that of the C target.
    pub(super) fn to_json(&self) -> String {
        let (mut late, mut workers, mut missed) = (Vec::new(), 0, 0);
        // Two points make no grid.
        for times in self.times.iter().filter(|times| times.len() >= 3) {
            workers += 1;
            missed += self.lateness(times, &mut late);
        }
        late.sort_unstable();
        let ms = |quantile: f64| {
            let index = (late.len().saturating_sub(1) as f64 * quantile) as usize;
            late.get(index).map_or(0.0, |late| *late as f64 / 1e6)
        };
        format!(
            "{{\"schema\":\"probelet-target/1\",\"probes\":{},\"pods\":{workers},\"samples\":{},\"missed\":{missed},\
             \"lateness_ms\":{{\"p50\":{:.3},\"p90\":{:.3},\"p99\":{:.3},\"max\":{:.3}}}}}",
            self.probes,
            late.len(),
            ms(0.5),
            ms(0.9),
            ms(0.99),
            ms(1.0),
        )
    }

    /// How late each probe of a worker was. The grid is the worker's own: its earliest probe, modulo the period, is on
    /// time. Returns how many periods went by without a probe.
    fn lateness(&self, times: &[i64], late: &mut Vec<i64>) -> i64 {
        let (first, last) = (times[0], times[times.len() - 1]);
        let periods = |since: i64| (since + self.period / 2) / self.period;
        let offsets = times.iter().map(|at| at - first - periods(at - first) * self.period);
        let earliest = offsets.clone().min().unwrap_or(0);
        late.extend(offsets.map(|offset| offset - earliest));
        (periods(last - first) + 1 - times.len() as i64).max(0)
    }
}

fn nanoseconds(length: Duration) -> i64 {
    i64::try_from(length.as_nanos()).unwrap_or(i64::MAX)
}

/// The address of the first worker; those below it are counted by nobody.
pub(super) const FIRST: Ipv4Addr = Ipv4Addr::new(127, 1, 0, 0);
/// 127.1.0.0 to 127.4.255.255.
const WORKERS_MAX: usize = 1 << 18;
/// More than an hour at one probe a second; later ones are counted and not kept.
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
        assert!(page.ends_with("\"max\":100.000}}"), "{page}");
    }

    #[test]
    fn a_period_without_a_probe_is_missed() {
        assert!(seen(&[(7, 0), (7, 1000), (7, 4000)]).contains("\"pods\":1,\"samples\":3,\"missed\":2,"));
    }

    #[test]
    fn an_address_before_the_first_worker_is_counted_and_no_more() {
        let mut arrivals = Arrivals::new(Duration::from_secs(1));
        arrivals.note(Ipv4Addr::LOCALHOST, Duration::ZERO);
        assert!(arrivals.to_json().contains("\"probes\":1,\"pods\":0,"));
    }
}
