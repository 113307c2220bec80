//! The engine's clocks, its alarm, which deadlines share a wake-up, and how late its loop is.

pub(super) mod alarm;
pub(super) mod clock;
pub(super) mod overdue;
pub(super) mod wake_up;
