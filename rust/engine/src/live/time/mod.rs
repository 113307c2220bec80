//! The engine's clocks, its alarm, and how late its loop is.

pub(super) mod alarm;
pub(super) mod clock;
pub(super) mod overdue;
