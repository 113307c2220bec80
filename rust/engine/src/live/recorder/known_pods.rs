//! The pods that a recording knows: a number for each, and what the last call said of its containers.

use std::collections::HashMap;
use std::sync::Arc;

use probelet_play::recording::{Call, Facts, PauseRecord, StatusRecord};

/// The pods by UID.
#[derive(Debug, Default)]
pub(super) struct KnownPods {
    pods: HashMap<Arc<str>, KnownPod>,
    next: u32,
}

/// A pod of a recording.
#[derive(Debug)]
pub(super) struct KnownPod {
    pub(super) number: u32,
    pub(super) is_supplied: bool,
    pub(super) facts: Option<StatusRecord>,
    /// The latest pause of each probe that was paused.
    pub(super) pauses: Vec<PauseRecord>,
}

impl KnownPods {
    /// The pod with this UID, and whether this call made it known.
    pub(super) fn ensure(&mut self, uid: &str) -> (&mut KnownPod, bool) {
        let is_new = !self.pods.contains_key(uid);
        if is_new {
            let number = self.next;
            // Numbers come around after four thousand million pods; the first ones are gone by then.
            self.next = self.next.wrapping_add(1);
            let pod = KnownPod { number, is_supplied: false, facts: None, pauses: Vec::new() };
            self.pods.insert(uid.into(), pod);
        }
        (self.pods.get_mut(uid).expect("it was inserted above"), is_new)
    }

    pub(super) fn get(&self, uid: &str) -> Option<&KnownPod> {
        self.pods.get(uid)
    }

    pub(super) fn forget(&mut self, uid: &str) {
        self.pods.remove(uid);
    }

    pub(super) fn uids(&self) -> impl Iterator<Item = &Arc<str>> {
        self.pods.keys()
    }
}

impl KnownPod {
    /// Keeps a pause, which the next segment says again.
    pub(super) fn keep(&mut self, pause: &PauseRecord) {
        self.pauses.retain(|it| (&it.container, it.probe_type) != (&pause.container, pause.probe_type));
        self.pauses.push(pause.clone());
    }

    /// Shortens a call that says what the last one said.
    pub(super) fn shorten(&mut self, call: &mut Call) {
        self.is_supplied |= matches!(call, Call::Take | Call::TakeStatus(_));
        let Some(facts) = call.facts_mut() else { return };
        let Facts::New(status) = facts else { return };
        if self.facts.as_ref() == Some(status) {
            *facts = Facts::Same;
        } else {
            self.facts = Some(status.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_says_the_same_again_is_short() {
        let mut pods = KnownPods::default();
        let (pod, _) = pods.ensure("u");
        let shortened = |pod: &mut KnownPod, regular| {
            let mut call = Call::Sync(Facts::New(StatusRecord { regular, ..StatusRecord::default() }));
            pod.shorten(&mut call);
            call == Call::Sync(Facts::Same)
        };
        assert_eq!([1, 1, 2, 1].map(|regular| shortened(pod, regular)), [false, true, false, false]);
    }
}
