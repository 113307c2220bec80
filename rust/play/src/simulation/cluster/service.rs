//! Services: how many requests they are offered, and what becomes of them.

use serde::Deserialize;

use super::flow::Piece;
use super::spread::{Spread, seconds};
use super::tally::{Counts, Loss, Tally};

/// A Service as a caller writes it.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Description {
    /// How long a client waits.
    timeout_ns: u64,
    /// A request that takes longer is late.
    slo_ns: u64,
    /// Requests a second.
    pub(super) rate: f64,
}

/// A Service.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) description: Description,
    pub(super) endpoints: Vec<usize>,
    counted_ns: u64,
    pub(super) tally: Tally,
}

/// All Services.
#[derive(Debug, Default)]
pub(super) struct Services(Vec<Service>);

impl Services {
    pub(super) fn add(&mut self, now_ns: u64, description: Description) -> usize {
        let tally = Tally::new();
        self.0.push(Service { description, endpoints: Vec::new(), counted_ns: now_ns, tally });
        self.0.len() - 1
    }

    pub(super) fn get(&mut self, number: usize) -> Option<&mut Service> {
        self.0.get_mut(number)
    }

    /// Counts the requests up to now that no endpoint takes.
    pub(super) fn count_without_endpoint(&mut self, number: usize, now_ns: u64) {
        let from_ns = std::mem::replace(&mut self.0[number].counted_ns, now_ns);
        if self.0[number].endpoints.is_empty() {
            self.lose(number, from_ns, now_ns, self.0[number].description.rate, Loss::NoEndpoint);
        }
    }

    pub(super) fn longest_timeout(&self, shares: &[(usize, f64)]) -> f64 {
        let timeouts = shares.iter().map(|(service, _)| seconds(self.0[*service].description.timeout_ns));
        timeouts.fold(0.0, f64::max)
    }

    /// Counts requests of which none is served.
    pub(super) fn lose(&mut self, number: usize, from_ns: u64, to_ns: u64, rate: f64, loss: Loss) {
        let offered = rate * seconds(to_ns.saturating_sub(from_ns));
        if offered > 0.0 {
            self.0[number].tally.add(from_ns, to_ns, Counts { offered, ..Counts::default() }, loss);
        }
    }

    /// Counts the requests of a piece of time that began at `zero_ns`.
    pub(super) fn serve(&mut self, number: usize, zero_ns: u64, rate: f64, piece: &Piece, takes: &Spread) {
        if rate <= 0.0 {
            return;
        }
        let Service { description, tally, .. } = &mut self.0[number];
        let (from_ns, to_ns) = (moment(zero_ns, piece.from), moment(zero_ns, piece.to));
        let (timeout, slo) = (seconds(description.timeout_ns), seconds(description.slo_ns));
        let changes = piece.wait.0 != piece.wait.1;
        let mut at = from_ns;
        // Where the wait changes, each step of the tally gets what came in it.
        loop {
            let width = tally.width_ns();
            let until = if changes { ((at / width + 1) * width).min(to_ns) } else { to_ns };
            let part = |ns: u64| {
                let share = (ns - from_ns) as f64 / (to_ns - from_ns).max(1) as f64;
                (piece.wait.1 - piece.wait.0).mul_add(share, piece.wait.0)
            };
            let wait = (part(at), part(until));
            let length = if to_ns > from_ns {
                (piece.to - piece.from) * ((until - at) as f64 / (to_ns - from_ns) as f64)
            } else {
                piece.to - piece.from
            };
            let offered = rate * length;
            let taken = offered * piece.taken;
            let served = taken * within(takes, timeout, wait);
            let in_time = taken * within(takes, slo.min(timeout), wait);
            let late = (served - in_time).max(0.0);
            let refused = offered - taken;
            if refused > 0.0 {
                tally.add(at, until, Counts { offered: refused, ..Counts::default() }, Loss::QueueFull);
            }
            tally.add(at, until, Counts { offered: taken, served: served.min(taken), late }, Loss::Timeout);
            if until >= to_ns {
                break;
            }
            at = until;
        }
    }

    /// Takes back what was counted of `held` requests, which waited `wait` and ended with their container.
    pub(super) fn take_back(&mut self, number: usize, now_ns: u64, held: f64, wait: f64, takes: &Spread) {
        let Service { description, tally, .. } = &mut self.0[number];
        let (timeout, slo) = (seconds(description.timeout_ns), seconds(description.slo_ns));
        let served = held * takes.share_within(timeout - wait);
        let in_time = held * takes.share_within(slo.min(timeout) - wait);
        tally.take_back(now_ns, served, (served - in_time).max(0.0));
    }
}

/// The share of requests that are answered within `limit`, while their wait changes evenly from one value to another.
fn within(takes: &Spread, limit: f64, wait: (f64, f64)) -> f64 {
    let (first, last) = wait;
    if (last - first).abs() < EVEN {
        return takes.share_within(limit - f64::midpoint(first, last));
    }
    let share = (takes.mean_below(limit - first) - takes.mean_below(limit - last)) / (last - first);
    share.clamp(0.0, 1.0)
}

fn moment(zero_ns: u64, seconds: f64) -> u64 {
    zero_ns + (seconds * 1e9).round() as u64
}

/// A wait that changes by less than this, in seconds, is taken for its mean.
const EVEN: f64 = 1e-7;
