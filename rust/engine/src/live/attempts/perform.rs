//! Carries out one attempt, from what its worker's plan says to what the loop takes of it.

use std::time::Duration;

use probelet_play::cause::Cause;
use tokio::time::Instant;

use super::super::suspects::{PATIENCE, Word};
use super::attempt::{EndedAttempt, Start};
use super::plan::{Inside, Plan};
use super::task_context::TaskContext;
use crate::attempt::report::{Report, error};
use crate::attempt::starvation::Spent;
use crate::handler::{Buffers, Question, address_of, probe_driven, probe_plain, refused};
use crate::net::connect::Ahead;

/// Carries out an attempt over a socket. The attempt's time begins here, even if its connection was asked for ahead: the
/// prober causes the wait in between, so it is charged neither to the target's timeout nor to the attempt's duration.
pub(super) async fn perform(mut start: Start, buffers: &mut Buffers, context: &TaskContext) -> EndedAttempt {
    let moment = std::time::Instant::now();
    let began = context.clock.at(moment);
    let mut held = Duration::ZERO;
    if let Some((ahead, asked)) = start.ahead.take() {
        held = began.since(asked);
        buffers.ahead = Some(ahead);
    }
    let plan = &*start.plan;
    let overdue = context.overdue(began);
    let (mut report, over) = match &plan.plain {
        Some(plain) => {
            let report = probe_plain(plain, || plan.question(), moment.into(), plan.timeout_seconds, buffers).await;
            let over = began + report.timings.total();
            (report, over)
        }
        None => (perform_otherwise(plan, buffers).await, context.clock.now()),
    };
    let spent = Spent {
        timeout: Duration::from_secs(u64::try_from(plan.timeout_seconds).unwrap_or(0)),
        took: over.since(began),
        overdue: context.overdue(over).saturating_sub(overdue),
    };
    // Within a pod's own network nobody else can answer.
    let address = || {
        let Question { handler, ports, pod_ip, asker, namespace } = plan.question();
        if namespace.is_some() { None } else { address_of(handler, ports, pod_ip, asker.rules) }
    };
    if report.cause.is_answer()
        && let Some(address) = context.suspects.covers(address)
    {
        // Boxed, because few attempts wait, and the future of every attempt would be as large as this one.
        match Box::pin(context.suspects.word(address, PATIENCE, || context.bell.notify_one())).await {
            Word::Own => {}
            Word::Foreign(why) => {
                let Question { handler, asker, .. } = plan.question();
                let outcome = refused(handler, address, asker, plan.timeout_seconds, &why);
                report = Report { outcome, cause: Cause::Refused, ..report };
            }
            Word::Unknown(why) => {
                let text = format!("which program answers at {address} is unknown: {why}");
                report = Report { outcome: error(false, text, Cause::Cri), cause: Cause::Cri, ..report };
            }
        }
    }
    EndedAttempt { ticket: start.ticket, began, held, spent, report }
}

/// Carries out an attempt that has no ordinary request.
async fn perform_otherwise(plan: &Plan, buffers: &mut Buffers) -> Report {
    match plan.inside.as_deref() {
        Some(Inside::Namespace { namespace, plain: Some(plain) }) => {
            let address = plain.address;
            buffers.ahead = Some(Ahead { address, connection: namespace.connect(address).await });
            // The attempt's time begins with its connection: the wait for a socket is the prober's.
            probe_plain(plain, || plan.question(), Instant::now(), plan.timeout_seconds, buffers).await
        }
        Some(Inside::Closed(why)) => Report::not_begun(format!("{CLOSED}{why}"), Cause::Request),
        Some(Inside::Namespace { plain: None, .. }) | None => {
            probe_driven(plan.question(), plan.timeout_seconds, buffers).await
        }
    }
}

/// The text before the reason.
const CLOSED: &str = "the pod's network cannot be entered (network: pod): ";
