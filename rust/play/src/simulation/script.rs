//! Scripted outcomes of exec attempts: what a container would have answered.

use std::time::Duration;

use probelet_core::prober::Outcome;
use serde::Deserialize;

use crate::json::{JsonError, decode};

/// One entry of a script, used for `repeat` attempts; the last entry repeats for ever.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    outcome: Kind,
    #[serde(default)]
    repeat: Option<u64>,
    delay_ms: Option<u64>,
    hang_ms: Option<u64>,
    #[serde(default)]
    ignore_timeout: bool,
    #[serde(default)]
    output: String,
    output_repeat: Option<usize>,
    error: Option<String>,
    exit_code: Option<i32>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Error,
    Failure,
    Hang,
    #[default]
    Success,
    Timeout,
}

/// Decodes the outcomes of a script.
///
/// # Errors
/// The first place where the JSON is not a list of outcomes.
pub fn decode_steps(json: &[u8]) -> Result<Vec<Step>, JsonError> {
    decode(json)
}

/// A script and how far it was played.
#[derive(Clone, Debug, Default)]
pub struct Script {
    steps: Vec<Step>,
    position: usize,
    used: u64,
    attempts: u64,
}

/// What an attempt will come to.
#[derive(Debug)]
pub struct Played {
    /// The number of the attempt in its script, from 1.
    pub number: u64,
    /// How long it takes.
    pub takes: Duration,
    /// The word of the recordings: success, failure, error or timeout.
    pub word: &'static str,
    /// How it ends.
    pub outcome: Outcome,
}

impl Script {
    /// A script from its start.
    pub const fn new(steps: Vec<Step>) -> Self {
        Self { steps, position: 0, used: 0, attempts: 0 }
    }

    /// How long each further attempt takes, if all of them succeed without a word; the default if the script does not say.
    pub fn steady(&self, delay: Duration) -> Option<Duration> {
        match self.steps.get(self.position) {
            None => Some(delay),
            Some(step) => {
                let is_last = self.position + 1 == self.steps.len();
                let takes = step.delay_ms.map_or(delay, Duration::from_millis);
                (is_last && step.outcome == Kind::Success).then_some(takes)
            }
        }
    }

    /// Plays the next attempt. `timeout` is the probe's, `late` its output if nobody answers in that time, `delay` the
    /// time an answer takes by default.
    pub fn play(&mut self, late: impl FnOnce() -> String, timeout: Duration, delay: Duration) -> Played {
        self.attempts += 1;
        let number = self.attempts;
        let Some(step) = self.advance() else {
            return Played { number, takes: delay, word: "success", outcome: Outcome::Success };
        };
        let takes = step.delay_ms.map_or(delay, Duration::from_millis);
        let (takes, kind) = match step.outcome {
            Kind::Timeout => (timeout, Kind::Timeout),
            Kind::Hang => {
                let hang = Duration::from_millis(step.hang_ms.unwrap_or_default());
                if hang >= timeout && !step.ignore_timeout { (timeout, Kind::Timeout) } else { (hang, Kind::Success) }
            }
            kind => (takes, kind),
        };
        let (word, outcome) = match kind {
            Kind::Hang | Kind::Success => ("success", Outcome::Success),
            Kind::Failure if step.exit_code == Some(0) => ("success", Outcome::Success),
            Kind::Failure => ("failure", Outcome::Failure { output: step.cut_output() }),
            Kind::Timeout => ("timeout", Outcome::Failure { output: late().into_bytes().into() }),
            Kind::Error => {
                let error = step.error.as_deref().unwrap_or(DEFAULT_ERROR);
                ("error", Outcome::Error { failure: false, error: error.into(), own: false })
            }
        };
        Played { number, takes, word, outcome }
    }

    fn advance(&mut self) -> Option<&Step> {
        while self.position + 1 < self.steps.len() {
            let repeat = self.steps[self.position].repeat.unwrap_or(1);
            if self.used < repeat {
                break;
            }
            self.position += 1;
            self.used = 0;
        }
        self.used += 1;
        self.steps.get(self.position)
    }
}

impl Step {
    fn cut_output(&self) -> Box<[u8]> {
        let enough = MAX_OUTPUT.div_ceil(self.output.len().max(1));
        let mut output = self.output.repeat(self.output_repeat.unwrap_or(1).min(enough)).into_bytes();
        output.truncate(MAX_OUTPUT);
        output.into()
    }
}

/// Bytes of an exec probe's output that are kept (kubelet prober.go:maxRespBodyLength, 1.36).
const MAX_OUTPUT: usize = 10 * 1024;

const DEFAULT_ERROR: &str = "rpc error: code = Unknown desc = scripted runtime error";
