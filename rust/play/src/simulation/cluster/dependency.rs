//! Named services outside the manifests that containers ask.

use serde::Deserialize;

use super::spread::{Given, Spread, seconds};

/// Whether a dependency answers.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub(super) enum Health {
    #[default]
    Up,
    /// A request or probe that asks it fails at once.
    Refuses,
    /// A request or probe that asks it waits.
    Hangs,
}

/// A dependency as a caller writes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Description {
    latency: Given,
    asks: Vec<Box<str>>,
    #[serde(default)]
    health: Health,
}

/// A dependency.
#[derive(Debug)]
pub(super) struct Dependency {
    pub(super) name: Box<str>,
    latency: Given,
    asks: Vec<usize>,
    health: Health,
}

/// What asking dependencies comes to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reply {
    pub(super) health: Health,
    /// How long the slowest dependency takes.
    pub(super) takes: Spread,
    /// The dependency that takes longest or does not answer.
    pub(super) slowest: Option<usize>,
    /// Whether `takes` grows with time.
    pub(super) drifts: bool,
}

/// All dependencies; one may ask others that were described before it.
#[derive(Debug, Default)]
pub(super) struct Dependencies(Vec<Dependency>);

impl Dependencies {
    /// The number of a dependency; None if it was not described.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|dependency| &*dependency.name == name)
    }

    /// Takes a new description; Err has the name of a dependency that is not known.
    pub(super) fn describe(&mut self, name: &str, given: Description) -> Result<(), Box<str>> {
        let asks = self.numbers(&given.asks)?;
        let described = Dependency { name: name.into(), latency: given.latency, asks, health: given.health };
        match self.find(name) {
            Some(number) => self.0[number] = described,
            None => self.0.push(described),
        }
        Ok(())
    }

    /// The numbers of dependencies; Err has the name of one that is not known.
    pub(super) fn numbers(&self, names: &[Box<str>]) -> Result<Vec<usize>, Box<str>> {
        names.iter().map(|name| self.find(name).ok_or_else(|| name.clone())).collect()
    }

    pub(super) fn name(&self, number: usize) -> &str {
        &self.0[number].name
    }

    /// What asking all of `numbers` at the same time comes to at `now_ns`; a dependency that `is_cut` hangs.
    pub(super) fn ask(&self, numbers: &[usize], now_ns: u64, is_cut: &impl Fn(usize) -> bool) -> Reply {
        let mut reply = Reply { health: Health::Up, takes: Spread::constant(0.0), slowest: None, drifts: false };
        for &number in numbers {
            let one = self.ask_one(number, now_ns, is_cut(number));
            reply.drifts |= one.drifts;
            let is_worse = one.health > reply.health;
            let is_slower = one.health == reply.health && one.takes.mean() > reply.takes.mean();
            if is_worse || is_slower || reply.slowest.is_none() {
                reply = Reply { drifts: reply.drifts, ..one };
            }
        }
        reply
    }

    fn ask_one(&self, number: usize, now_ns: u64, is_cut: bool) -> Reply {
        let Dependency { latency, asks, health, .. } = &self.0[number];
        let behind = self.ask(asks, now_ns, &|_| false);
        let own = latency.spread().later(drift(latency.per_day_ns, now_ns));
        let health = if is_cut { Health::Hangs } else { (*health).max(behind.health) };
        let drifts = latency.per_day_ns > 0 || behind.drifts;
        Reply { health, takes: own.then(behind.takes), slowest: Some(number), drifts }
    }
}

/// What a drift adds at `now_ns`, in seconds.
pub(super) fn drift(per_day_ns: u64, now_ns: u64) -> f64 {
    seconds(per_day_ns) * (seconds(now_ns) / 86_400.0)
}
