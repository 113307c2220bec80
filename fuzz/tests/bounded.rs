//! Every target for a bounded number of inputs, always the same: seeds, what once broke one, and mutations of them.

use probelet_fuzz::TARGETS;

#[test]
fn every_promise_is_kept_for_the_committed_inputs() {
    for target in TARGETS {
        assert!(target.play_corpus() > 0, "{}: seeds", target.name);
    }
}

#[test]
fn every_promise_is_kept_for_inputs_that_nearly_are() {
    for target in TARGETS {
        assert_eq!(target.play_mutated(1, 1..=INPUTS, None), INPUTS, "{}", target.name);
    }
}

/// Inputs per target: they take some seconds without optimisation. `make fuzz` plays more, for as long as its caller sets.
const INPUTS: u64 = 300;
