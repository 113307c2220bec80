//! The checks of a container before anything starts in it.

pub(crate) mod cgroups;
pub(crate) mod hierarchy;
pub(crate) mod identity;
pub(crate) mod labels;
pub(crate) mod leaf;
pub(crate) mod namespaces;
