//! What the two forks of this program do on their way into a container.
//!
//! The first one joins the cgroups and the namespaces. Only its child is in the PID namespace; the second one is that
//! child, which confines itself and starts the program. Each step is one that runc takes, in an order in which no step
//! needs what an earlier one has given up. Any failure ends the fork, and the runtime runs the command instead.

mod capabilities;
mod confine;
mod environment;
mod home;
mod join;
mod program;
mod report;
mod seccomp;

pub(crate) use join::{Descriptors, enter};
pub(crate) use report::{Message, REPORT_BYTES, read_report};
