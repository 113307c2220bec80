//! Carries out one attempt, from what its worker's plan says to what the loop takes of it.

use std::time::Duration;

use probelet_play::cause::Cause;

use super::super::doubts::{PATIENCE, Word};
use super::attempt::{EndedAttempt, Start};
use super::desk::Desk;
use crate::attempt::report::{Report, error};
use crate::attempt::starvation::Spent;
use crate::handler::{Buffers, Question, address_of, probe_driven, probe_plain, refused};

/// Carries out an attempt over a socket. The attempt's time begins here, even if its connection was asked for ahead: the
/// prober causes the wait in between, so it is charged neither to the target's timeout nor to the attempt's duration.
pub(super) async fn perform(mut start: Start, buffers: &mut Buffers, desk: &Desk) -> EndedAttempt {
    let moment = std::time::Instant::now();
    let began = desk.clock.at(moment);
    let mut held = Duration::ZERO;
    if let Some((ahead, asked)) = start.ahead.take() {
        held = began.since(asked);
        buffers.ahead = Some(ahead);
    }
    let plan = &*start.plan;
    let overdue = desk.overdue(began);
    let (mut report, over) = match &plan.plain {
        Some(plain) => {
            let report = probe_plain(plain, || plan.question(), moment.into(), plan.timeout_seconds, buffers).await;
            let over = began + report.timings.total();
            (report, over)
        }
        None => (probe_driven(plan.question(), plan.timeout_seconds, buffers).await, desk.clock.now()),
    };
    let spent = Spent {
        timeout: Duration::from_secs(u64::try_from(plan.timeout_seconds).unwrap_or(0)),
        took: over.since(began),
        overdue: desk.overdue(over).saturating_sub(overdue),
    };
    let address = || {
        let Question { handler, ports, pod_ip, .. } = plan.question();
        address_of(handler, ports, pod_ip)
    };
    if report.cause.is_answer()
        && let Some(address) = desk.doubts.covers(address)
    {
        // Boxed, because few attempts wait, and the future of every attempt would be as large as this one.
        match Box::pin(desk.doubts.word(address, PATIENCE, || desk.bell.notify_one())).await {
            Word::Own => {}
            Word::Foreign(why) => {
                let Question { handler, asker, .. } = plan.question();
                let outcome = refused(handler, address, asker, plan.timeout_seconds, &why);
                report = Report { outcome, cause: Cause::Refused, ..report };
            }
            Word::Unknown(why) => {
                let text = format!("which program answers at {address} is unknown: {why}");
                report = Report { outcome: error(false, text), cause: Cause::Cri, ..report };
            }
        }
    }
    EndedAttempt { ticket: start.ticket, began, held, spent, report }
}
