//! Bytes played as the lives of three pods: the laws of `rust/core/tests/laws.rs` hold for every input.

#[path = "../../../rust/core/tests/driver/mod.rs"]
mod driver;

use arbitrary::{Arbitrary, Result, Unstructured};
use probelet_core::restart::RestartPolicy;
use probelet_core::semantics::Semantics;
use probelet_core::spec::{ContainerSpec, PodSpec, ProbeSpec};

use self::driver::{Driver, Step};

const PODS: usize = 3;
/// How many steps a program may have; longer programs find nothing else.
const STEPS_MAX: usize = 200;

/// Plays one input.
pub fn play(bytes: &[u8]) {
    let Ok(program) = Unstructured::new(bytes).arbitrary::<Program>() else { return };
    let mut first = Driver::new(program.seed, program.semantics());
    let mut second = Driver::new(program.seed, program.semantics());
    for step in &program.steps {
        first.apply(&program.pods, step);
        second.apply(&program.pods, step);
    }
    assert_eq!(first.outputs, second.outputs, "same inputs, same outputs");
    first.end(&program.pods);
}

#[derive(Debug)]
struct Program {
    seed: u64,
    pods: Vec<PodSpec>,
    steps: Vec<Step>,
}

impl Program {
    /// Half of the seeds play by the rules of enhanced liveness. The seed decides, so that the corpus stays as it is.
    const fn semantics(&self) -> Semantics {
        if self.seed & 1 == 0 { Semantics::V1_36 } else { Semantics::ENHANCED }
    }
}

impl<'a> Arbitrary<'a> for Program {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        let seed = bytes.arbitrary()?;
        let pods = (0..PODS).map(|index| pod(index, bytes)).collect::<Result<_>>()?;
        let mut steps = Vec::new();
        while !bytes.is_empty() && steps.len() < STEPS_MAX {
            steps.push(step(bytes)?);
        }
        Ok(Self { seed, pods, steps })
    }
}

fn step(bytes: &mut Unstructured<'_>) -> Result<Step> {
    Ok(match bytes.int_in_range(0..=11)? {
        0 | 1 => {
            let generation = [bytes.int_in_range(0..=2)?, bytes.int_in_range(0..=2)?];
            Step::Sync { pod: bytes.choose_index(PODS)?, states: bytes.arbitrary()?, generation }
        }
        2 => Step::Terminate { pod: bytes.choose_index(PODS)? },
        3 => Step::Forget { pod: bytes.choose_index(PODS)? },
        4 => Step::Cleanup { keep: bytes.choose_index(PODS)? },
        11 => Step::Change { pod: bytes.choose_index(PODS)?, like: bytes.choose_index(PODS)? },
        5..=7 => Step::Wait { millis: bytes.int_in_range(0..=4_000)? },
        10 => {
            let nth = bytes.arbitrary::<u8>()?.into();
            match bytes.int_in_range(0..=9)? {
                9 => Step::Recheck { nth },
                outcome => Step::Land { nth, outcome },
            }
        }
        _ => Step::Land { nth: bytes.arbitrary::<u8>()?.into(), outcome: bytes.int_in_range(0..=9)? },
    })
}

fn pod(index: usize, bytes: &mut Unstructured<'_>) -> Result<PodSpec> {
    let (a, mut b) = (container("a", bytes)?, container("b", bytes)?);
    let is_sidecar = bytes.arbitrary()?;
    if is_sidecar {
        b.restart_policy = Some(RestartPolicy::Always);
    }
    Ok(PodSpec {
        uid: format!("u{index}").into(),
        name: format!("p{index}").into(),
        namespace: "ns".into(),
        restart_policy: *bytes.choose(&[RestartPolicy::Always, RestartPolicy::Never, RestartPolicy::OnFailure])?,
        containers: vec![a, b],
        regular: if is_sidecar { 1 } else { 2 },
        deleting: bytes.arbitrary()?,
        api_ready: bytes.arbitrary()?,
    })
}

fn container(name: &str, bytes: &mut Unstructured<'_>) -> Result<ContainerSpec> {
    Ok(ContainerSpec {
        name: name.into(),
        probes: [probe(bytes)?, probe(bytes)?, probe(bytes)?],
        ..ContainerSpec::default()
    })
}

/// A probe whose numbers may exceed what the API accepts, because the prober must take any.
fn probe(bytes: &mut Unstructured<'_>) -> Result<Option<Box<ProbeSpec>>> {
    if bytes.int_in_range(0..=4)? == 0 {
        return Ok(None);
    }
    Ok(Some(Box::new(ProbeSpec {
        initial_delay_seconds: bytes.int_in_range(-1..=3)?,
        period_seconds: bytes.int_in_range(0..=3)?,
        success_threshold: bytes.int_in_range(0..=2)?,
        failure_threshold: bytes.int_in_range(0..=3)?,
        initialization_failure_threshold: bytes.int_in_range(-1..=5)?,
        ..ProbeSpec::default()
    })))
}
