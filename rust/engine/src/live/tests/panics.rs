//! A panic in the middle of a turn: whatever the loop had taken out, every worker goes on probing and can be removed.

use std::sync::mpsc::channel;
use std::time::Duration;

use probelet_play::pods::PodCalls;

use super::rig::{Rig, uid};
use super::trap::Moment;

const SOCKETS: usize = 3;
const PODS: usize = 5;

fn survives(moment: Moment) {
    let rig = Rig::in_one_turn(SOCKETS, PODS - SOCKETS);
    rig.probed(PODS, 1);
    let (sprung, panicked) = channel();
    rig.engine.shared.trap.set(moment, sprung);
    panicked.recv_timeout(Duration::from_secs(60)).expect("the trap is sprung");
    // One probe of each may still be in the channel from before.
    rig.probed(PODS, 3);
    for pod in 0..PODS {
        rig.engine.as_ref().remove_pod(&uid(pod));
    }
    rig.gone(PODS);
    let page = rig.engine.metrics();
    for line in [
        "probelet_engine_panics_total 1",
        "probelet_workers 0",
        "probelet_probe_attempts_in_flight 0",
        "probelet_exec_attempts_in_flight 0",
    ] {
        assert!(page.contains(&format!("\n{line}\n")), "{line}: {page}");
    }
    rig.into_engine().close();
}

#[test]
fn a_panic_between_attempts_that_have_ended() {
    survives(Moment::Finishing);
}

#[test]
fn a_panic_between_outputs() {
    survives(Moment::HandingOut);
}

#[test]
fn a_panic_between_attempts_that_begin() {
    survives(Moment::Launching);
}
