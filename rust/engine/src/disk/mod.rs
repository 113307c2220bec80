//! Files that probelet writes for itself: how they are opened, and how their bytes are framed.

pub(crate) mod frame;
pub(crate) mod open;
