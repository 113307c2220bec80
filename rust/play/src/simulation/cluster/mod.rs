//! Containers that answer by a behaviour and share the load of Services: the answers of several simulations.
//!
//! Times are nanoseconds since t = 0. A caller tells the model what happens: a container starts or ends, its description
//! or that of a dependency changes, a Service gets another rate or other endpoints. Between two calls everything follows
//! in closed form, so the model has no deadlines of its own: it counts requests, and finds the answer to a probe, when it
//! is asked. Times of calls and of attempts never go back.

mod attempt_log;
mod container;
mod dependency;
mod flow;
mod meeting;
mod probe;
mod random;
mod service;
mod spread;
mod tally;
pub(super) mod text;

use std::collections::BTreeMap;
use std::fmt;

use probelet_core::prober::AttemptTarget;
use probelet_core::spec::ProbeType;
use serde::de::DeserializeOwned;

use self::container::Container;
use self::dependency::Dependencies;
use self::probe::Probe;
use self::random::seed_of;
use self::service::Services;
use super::answers::{Answer, Answers};
use crate::json::decode;

/// Why a call changes nothing; the text is one line.
#[derive(Debug)]
pub struct ModelError(String);

impl fmt::Display for ModelError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for ModelError {}

/// The containers, dependencies and Services of a cluster.
#[derive(Debug)]
pub struct ClusterModel {
    seed: u64,
    /// Counts the calls that may change an answer.
    version: u64,
    /// How many attempts are kept of each probe, at most and at present.
    attempts_max: usize,
    attempts_of_each: usize,
    containers: Vec<Container>,
    /// By the pod's UID and the container's name.
    numbers: BTreeMap<(Box<str>, Box<str>), usize>,
    dependencies: Dependencies,
    services: Services,
    probes: Vec<Probe>,
    /// By the container's number and the probe's type.
    probe_numbers: BTreeMap<(usize, ProbeType), u32>,
}

impl ClusterModel {
    /// An empty cluster, which keeps at most `attempts_max` attempts of each probe, and fewer if there are many probes.
    pub fn new(seed: u64, attempts_max: usize) -> Self {
        Self {
            seed,
            version: 0,
            attempts_max,
            attempts_of_each: attempts_max,
            containers: Vec::new(),
            numbers: BTreeMap::new(),
            dependencies: Dependencies::default(),
            services: Services::default(),
            probes: Vec::new(),
            probe_numbers: BTreeMap::new(),
        }
    }

    /// Adds a container that does not run yet; returns its number. Its random numbers come from the pod's name and its
    /// own.
    ///
    /// # Errors
    /// The description is none, or names an unknown dependency.
    pub fn add_container(&mut self, uid: &str, pod: &str, name: &str, description: &[u8]) -> Result<usize, ModelError> {
        let seed = seed_of(self.seed, &[pod, name]);
        let container = Container::new(seed, read(description)?, &self.dependencies).map_err(unknown)?;
        self.containers.push(container);
        let number = self.containers.len() - 1;
        self.numbers.insert((uid.into(), name.into()), number);
        Ok(number)
    }

    /// Describes a container anew.
    ///
    /// # Errors
    /// The description is none, names an unknown dependency, or there is no such container.
    pub fn describe(&mut self, now_ns: u64, number: usize, description: &[u8]) -> Result<(), ModelError> {
        let (container, services, dependencies) = self.part(number)?;
        container.count_until(now_ns, services, dependencies);
        container.describe(read(description)?, dependencies).map_err(unknown)
    }

    /// A container starts; `more_ns` is added to its start-up. Returns when it serves and when it ends by itself.
    ///
    /// # Errors
    /// There is no such container.
    pub fn start(&mut self, now_ns: u64, number: usize, more_ns: u64) -> Result<(u64, Option<u64>), ModelError> {
        let (container, services, dependencies) = self.part(number)?;
        container.count_until(now_ns, services, dependencies);
        Ok(container.start(now_ns, more_ns))
    }

    /// A container has ended.
    ///
    /// # Errors
    /// There is no such container.
    pub fn end(&mut self, now_ns: u64, number: usize) -> Result<(), ModelError> {
        let (container, services, dependencies) = self.part(number)?;
        container.count_until(now_ns, services, dependencies);
        container.end(now_ns, services, dependencies);
        Ok(())
    }

    /// A container stands still until it is started again.
    ///
    /// # Errors
    /// There is no such container.
    pub fn deadlock(&mut self, now_ns: u64, number: usize) -> Result<(), ModelError> {
        let (container, services, dependencies) = self.part(number)?;
        container.count_until(now_ns, services, dependencies);
        container.stick(now_ns, services, dependencies);
        Ok(())
    }

    /// Describes a dependency, a new one or one that is known.
    ///
    /// # Errors
    /// The description is none, or names an unknown dependency.
    pub fn dependency(&mut self, now_ns: u64, name: &str, description: &[u8]) -> Result<(), ModelError> {
        let given = read(description)?;
        self.version += 1;
        for container in &mut self.containers {
            container.count_until(now_ns, &mut self.services, &self.dependencies);
            container.forget_segment();
        }
        self.dependencies.describe(name, given).map_err(unknown)
    }

    /// Adds a Service without endpoints; returns its number.
    ///
    /// # Errors
    /// The description is none.
    pub fn add_service(&mut self, now_ns: u64, description: &[u8]) -> Result<usize, ModelError> {
        Ok(self.services.add(now_ns, read(description)?))
    }

    /// Describes a Service anew.
    ///
    /// # Errors
    /// The description is none, or there is no such Service.
    pub fn describe_service(&mut self, now_ns: u64, number: usize, description: &[u8]) -> Result<(), ModelError> {
        let given = read(description)?;
        let endpoints = self.count(number, now_ns)?;
        let service = self.services.get(number).ok_or_else(|| no_service(number))?;
        service.description = given;
        self.share(number, endpoints);
        Ok(())
    }

    /// Sends the requests of a Service to these containers from now on, in equal parts.
    ///
    /// # Errors
    /// There is no such Service or container.
    pub fn set_endpoints(&mut self, now_ns: u64, number: usize, endpoints: Vec<usize>) -> Result<(), ModelError> {
        if let Some(unknown) = endpoints.iter().find(|endpoint| **endpoint >= self.containers.len()) {
            return Err(no_container(*unknown));
        }
        for &endpoint in &endpoints {
            self.containers[endpoint].count_until(now_ns, &mut self.services, &self.dependencies);
        }
        for old in self.count(number, now_ns)? {
            set_share(&mut self.containers[old], number, 0.0);
        }
        self.share(number, endpoints);
        Ok(())
    }

    /// The requests of a Service until now, as JSON.
    ///
    /// # Errors
    /// There is no such Service.
    pub fn requests_json(&mut self, now_ns: u64, number: usize) -> Result<Vec<u8>, ModelError> {
        self.count(number, now_ns)?;
        // A container that is no endpoint any more still has what it was sent.
        for container in &mut self.containers {
            container.count_until(now_ns, &mut self.services, &self.dependencies);
        }
        let service = self.services.get(number).ok_or_else(|| no_service(number))?;
        Ok(serde_json::to_vec(&service.tally.document()).expect("plain data"))
    }

    /// Every probe and its attempts, as JSON.
    pub fn attempts_json(&self) -> Vec<u8> {
        let rows: Vec<_> = self.probes.iter().map(|probe| probe.document(&self.dependencies)).collect();
        serde_json::to_vec(&rows).expect("plain data")
    }

    /// Counts the requests of a Service until now; returns its endpoints.
    fn count(&mut self, number: usize, now_ns: u64) -> Result<Vec<usize>, ModelError> {
        let endpoints = self.services.get(number).ok_or_else(|| no_service(number))?.endpoints.clone();
        self.services.count_without_endpoint(number, now_ns);
        for &endpoint in &endpoints {
            self.containers[endpoint].count_until(now_ns, &mut self.services, &self.dependencies);
        }
        Ok(endpoints)
    }

    fn share(&mut self, number: usize, endpoints: Vec<usize>) {
        self.version += 1;
        let Some(service) = self.services.get(number) else {
            return;
        };
        let rate = service.description.rate / endpoints.len().max(1) as f64;
        for &endpoint in &endpoints {
            set_share(&mut self.containers[endpoint], number, rate);
        }
        service.endpoints = endpoints;
    }

    fn part(&mut self, number: usize) -> Result<(&mut Container, &mut Services, &Dependencies), ModelError> {
        self.version += 1;
        let container = self.containers.get_mut(number).ok_or_else(|| no_container(number))?;
        Ok((container, &mut self.services, &self.dependencies))
    }
}

impl Answers for ClusterModel {
    fn enrol(&mut self, target: &AttemptTarget<'_>) -> Option<u32> {
        let key = ((&*target.pod.uid).into(), (&*target.container().name).into());
        let container = *self.numbers.get(&key)?;
        if let Some(&known) = self.probe_numbers.get(&(container, target.probe_type)) {
            return Some(known);
        }
        let number = u32::try_from(self.probes.len()).ok()?;
        self.probes.push(Probe::new(self.seed, container, target));
        self.probe_numbers.insert((container, target.probe_type), number);
        self.attempts_of_each = self.attempts_max.min((ATTEMPTS_MAX / self.probes.len()).max(ATTEMPTS_LEAST));
        Some(number)
    }

    fn answer(&mut self, probe: u32, now_ns: u64) -> Answer {
        let probe = &mut self.probes[probe as usize];
        let container = &mut self.containers[probe.container];
        probe.answer(now_ns, container, &mut self.services, &self.dependencies, self.version, self.attempts_of_each)
    }
}

/// The attempts that are kept of all probes: 16 MB, and as many objects as a caller can still handle.
const ATTEMPTS_MAX: usize = 400_000;
/// The attempts that are kept of each probe, however many probes there are.
const ATTEMPTS_LEAST: usize = 64;

fn set_share(container: &mut Container, service: usize, rate: f64) {
    match container.shares.iter_mut().find(|(number, _)| *number == service) {
        Some(share) => share.1 = rate,
        None => container.shares.push((service, rate)),
    }
    container.forget_segment();
}

fn read<T: DeserializeOwned>(json: &[u8]) -> Result<T, ModelError> {
    decode(json).map_err(|error| ModelError(error.to_string()))
}

#[expect(clippy::needless_pass_by_value, reason = "it is an error's own text")]
fn unknown(name: Box<str>) -> ModelError {
    ModelError(format!("{name:?}: no such dependency"))
}

fn no_container(number: usize) -> ModelError {
    ModelError(format!("{number}: no such container"))
}

fn no_service(number: usize) -> ModelError {
    ModelError(format!("{number}: no such Service"))
}
