//! The parts of a prober's state.

pub(super) mod budget;
pub(super) mod by_options;
pub(super) mod change;
pub(super) mod memory;
pub(super) mod opted;
pub(super) mod phasing;
pub(super) mod pods;
pub(super) mod timer;
pub(super) mod view;
pub(super) mod worker;
