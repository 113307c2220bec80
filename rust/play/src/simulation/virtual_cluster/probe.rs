//! One probe of a container: the answer to each attempt, and the attempts so far.

use std::sync::Arc;
use std::time::Duration;

use probelet_core::prober::AttemptTarget;
use probelet_core::rng::Rng;
use probelet_core::semantics::GrpcConnect;
use probelet_core::spec::{Handler, ProbeType};
use serde::Serialize;

use super::attempt_log::AttemptLog;
use super::container::Container;
use super::dependency::Dependencies;
use super::meeting::{Meeting, Why};
use super::random::seed_of;
use super::service::Services;
use crate::cause::Cause;
use crate::simulation::answers::Answer;

/// A probe. It outlives its worker: a restart of the prober makes another one.
#[derive(Debug)]
pub(super) struct Probe {
    pub(super) container: usize,
    uid: Arc<str>,
    name: Arc<str>,
    probe_type: ProbeType,
    kind: Kind,
    timeout: Duration,
    rng: Rng,
    log: AttemptLog,
    /// How long every attempt takes, and as of which version of the model, once all of them succeed.
    steady: Option<(Duration, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Exec,
    /// gRPC, which connects again until its time is over.
    PatientGrpc,
    Grpc,
    Http,
    Tcp,
}

/// A probe and its attempts as a document.
#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    uid: &'a str,
    container: &'a str,
    r#type: &'static str,
    made: u64,
    failed: u64,
    /// When it began and how long it took, in nanoseconds, its outcome, cause, and why.
    attempts: Vec<(u64, u128, &'static str, &'static str, &'a str)>,
}

impl Probe {
    pub(super) fn new(seed: u64, container: usize, target: &AttemptTarget<'_>) -> Self {
        let kind = match (&target.probe().handler, target.rules.grpc_connect) {
            (Handler::Exec { .. }, _) => Kind::Exec,
            (Handler::Grpc { .. }, GrpcConnect::UntilTimeout) => Kind::PatientGrpc,
            (Handler::Grpc { .. }, GrpcConnect::Once) => Kind::Grpc,
            (Handler::TcpSocket { .. }, _) => Kind::Tcp,
            (Handler::HttpGet(_) | Handler::None, _) => Kind::Http,
        };
        let names = [&*target.pod.name, &*target.container().name, target.probe_type.name()];
        Self {
            container,
            uid: Arc::clone(&target.pod.uid),
            name: Arc::clone(&target.container().name),
            probe_type: target.probe_type,
            kind,
            timeout: Duration::from_secs(target.probe().timeout_seconds.max(0).unsigned_abs().into()),
            rng: Rng::new(seed_of(seed, &names)),
            log: AttemptLog::default(),
            steady: None,
        }
    }

    /// The answer to an attempt that begins now.
    pub(super) fn answer(
        &mut self,
        now_ns: u64,
        container: &mut Container,
        services: &mut Services,
        dependencies: &Dependencies,
        version: u64,
        attempts_max: usize,
    ) -> Answer {
        if let Some((takes, _)) = self.steady.filter(|(_, found_at)| *found_at == version) {
            let overdue = container.read_late();
            return self.noted(
                now_ns,
                Answer { takes, cause: Cause::Ok, overdue, is_news: false },
                Why::Nothing,
                attempts_max,
            );
        }
        let ways = (self.kind == Kind::Tcp, self.kind == Kind::Exec);
        let meeting = container.meet(now_ns, self.probe_type, ways, &mut self.rng, services, dependencies);
        let silent = match self.kind {
            Kind::Exec => Cause::ExecTimeout,
            Kind::Tcp => Cause::ConnectTimeout,
            Kind::Grpc | Kind::PatientGrpc | Kind::Http => Cause::HeaderTimeout,
        };
        let (mut takes, mut cause, mut why) = match meeting {
            Meeting::Answer(takes, why) => (takes, Cause::Ok, why),
            Meeting::BadAnswer(takes, why) => (takes, self.bad_answer(), why),
            Meeting::Refused(why) if self.kind == Kind::Exec => (AT_ONCE, Cause::ExecExit, why),
            Meeting::Refused(why) if self.kind == Kind::PatientGrpc => (self.timeout, Cause::ConnectTimeout, why),
            Meeting::Refused(why) => (AT_ONCE, Cause::Refused, why),
            Meeting::Dropped => (self.timeout, Cause::ConnectTimeout, Why::Load),
            Meeting::Silence(why) => (self.timeout, silent, why),
        };
        takes = whole(takes);
        let late = container.read_late();
        if takes >= self.timeout && cause == Cause::Ok {
            (takes, cause) = (self.timeout, silent);
        } else if !late.is_zero() && takes + late >= self.timeout {
            (takes, cause, why) = (self.timeout, Cause::Starved, Why::Prober);
        } else {
            takes = (takes + late).min(self.timeout);
        }
        self.steady = None;
        if cause == Cause::Ok {
            why = Why::Nothing;
            let is_steady = container.is_steady(now_ns, self.probe_type, dependencies);
            self.steady = is_steady.then_some((takes, version));
        }
        self.noted(now_ns, Answer { takes, cause, overdue: late, is_news: false }, why, attempts_max)
    }

    fn noted(&mut self, now_ns: u64, answer: Answer, why: Why, attempts_max: usize) -> Answer {
        let is_news = self.log.add(now_ns, answer.takes, answer.cause, why.number(), attempts_max);
        Answer { is_news, ..answer }
    }

    const fn bad_answer(&self) -> Cause {
        match self.kind {
            Kind::Exec => Cause::ExecExit,
            Kind::Grpc | Kind::PatientGrpc => Cause::GrpcStatus,
            Kind::Http | Kind::Tcp => Cause::Status,
        }
    }

    pub(super) fn document<'a>(&'a self, dependencies: &'a Dependencies) -> Document<'a> {
        let rows = self.log.rows().iter();
        let word = |why| Why::word(why, dependencies);
        Document {
            uid: &self.uid,
            container: &self.name,
            r#type: self.probe_type.name(),
            made: self.log.made,
            failed: self.log.failed,
            attempts: rows
                .map(|row| (row.at_ns, row.took().as_nanos(), outcome_word(row.cause), row.cause.name(), word(row.why)))
                .collect(),
        }
    }
}

/// Whole milliseconds, at least one: as exact as a history shows an attempt.
fn whole(takes: Duration) -> Duration {
    let rounded = takes.saturating_add(Duration::from_micros(500)).as_millis();
    Duration::from_millis(u64::try_from(rounded).unwrap_or(u64::MAX)).max(AT_ONCE)
}

impl Why {
    fn number(self) -> u16 {
        match self {
            Self::Nothing => 0,
            Self::Starting => 1,
            Self::Exited => 2,
            Self::Deadlock => 3,
            Self::Load => 4,
            Self::Pause => 5,
            Self::Leak => 6,
            Self::Latency => 7,
            Self::Prober => 8,
            Self::Dependency(number) => u16::try_from(number + WORDS.len()).unwrap_or(u16::MAX),
        }
    }

    fn word(number: u16, dependencies: &Dependencies) -> &str {
        let number = usize::from(number);
        WORDS.get(number).map_or_else(|| dependencies.name(number - WORDS.len()), |word| *word)
    }
}

const fn outcome_word(cause: Cause) -> &'static str {
    match cause {
        Cause::Ok => "success",
        Cause::ConnectTimeout | Cause::ExecTimeout | Cause::HeaderTimeout | Cause::Starved => "timeout",
        _ => "failure",
    }
}

const WORDS: [&str; 9] = ["", "starting", "exited", "deadlock", "load", "pause", "leak", "latency", "prober"];
/// A connection that is refused, and the quickest answer, take so long.
const AT_ONCE: Duration = Duration::from_millis(1);
