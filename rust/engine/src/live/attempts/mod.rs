//! Attempts over sockets: what they need, the tasks that carry them out, and the order in which many of them begin.

mod attempt;
mod connect_first;
mod heap_trimmer;
mod networks;
mod perform;
mod plan;
mod poller_waker;
mod pool;
mod task_context;

pub(super) use self::attempt::{ELSEWHERE, EndedAttempt, Start, Ticket};
pub(super) use self::connect_first::ConnectFirst;
pub(super) use self::networks::Network;
pub(super) use self::plan::{How, PlanTable, UNKNOWN};
pub(super) use self::pool::AttemptPool;
