//! What callers and the engine's thread share of direct exec attempts, under the state's lock.

use std::collections::HashMap;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use probelet_enter_protocol::REQUEST_BYTES_MAX;
use probelet_enter_protocol::request::{HEAD_BYTES, command, head};

use crate::live::attempts::Ticket;
use crate::live::exec::ExecAttempt;

/// The helper's process, as its owner knows it. The engine keeps descriptors of its own.
#[derive(Debug)]
pub struct HelperProcess {
    /// The engine's end of a packet socket to the helper, which nobody else reads.
    pub(super) socket: OwnedFd,
    /// The process; the engine kills it if it hangs.
    pub(super) pidfd: OwnedFd,
}

impl HelperProcess {
    /// Duplicates both descriptors.
    ///
    /// # Errors
    /// The process has no file descriptor left.
    pub fn duplicate(socket: BorrowedFd<'_>, pidfd: BorrowedFd<'_>) -> io::Result<Self> {
        Ok(Self { socket: socket.try_clone_to_owned()?, pidfd: pidfd.try_clone_to_owned()? })
    }
}

/// An attempt that is to go to the helper. Only the engine's thread sends it.
#[derive(Debug)]
pub(in super::super) struct DirectStart {
    pub(super) ticket: Ticket,
    pub(super) exec: ExecAttempt,
    pub(super) head: [u8; HEAD_BYTES],
    pub(super) description: Arc<[u8]>,
    pub(super) command: Vec<u8>,
}

/// The helper, the containers that it can enter, and what waits for the engine's thread.
#[derive(Debug, Default)]
pub(in super::super) struct DirectExecs {
    pub(super) helper: Option<Arc<HelperProcess>>,
    /// How many helpers were handed over or lost, so that the engine's thread sees a change.
    pub(super) changes: u64,
    /// Why the last helper was lost.
    pub(super) why: String,
    /// What the helper needs of each container, by container ID. The caller bounds their number.
    containers: HashMap<Box<str>, Arc<[u8]>>,
    /// Attempts for the helper: at most one per worker is under way.
    pub(in super::super) starts: Vec<DirectStart>,
    /// Attempts that the helper has carried out.
    pub(in super::super) attempts: u64,
    /// Attempts that were meant for the helper and have neither ended nor been handed to Python.
    pub(in super::super) in_flight: u64,
}

impl DirectExecs {
    /// From now on attempts go to this helper. It may be bound otherwise than the one before, so that it needs every
    /// description anew.
    pub(in super::super) fn use_helper(&mut self, helper: HelperProcess) {
        self.change(Some(Arc::new(helper)), "another helper has taken its place");
    }

    /// There is no helper; its attempts in flight are prober errors with `why`.
    pub(in super::super) fn lose_helper(&mut self, why: &str) {
        self.change(None, why);
    }

    fn change(&mut self, helper: Option<Arc<HelperProcess>>, why: &str) {
        self.helper = helper;
        self.changes += 1;
        self.why = why.to_owned();
        self.containers.clear();
    }

    /// From now on attempts in this container go to the helper.
    pub(in super::super) fn describe(&mut self, container_id: &str, description: &[u8]) {
        if self.helper.is_some() {
            self.containers.insert(container_id.into(), description.into());
        }
    }

    /// From now on attempts in this container go to Python.
    pub(in super::super) fn forget(&mut self, container_id: &str) {
        self.containers.remove(container_id);
    }

    /// Takes an attempt for the helper, or gives it back: then it is Python's.
    pub(in super::super) fn take(&mut self, ticket: Ticket, exec: ExecAttempt) -> Result<(), ExecAttempt> {
        let Some(description) = self.containers.get(&exec.container_id) else { return Err(exec) };
        let head = head(exec.id, exec.timeout_seconds());
        let command = command(exec.argv());
        let Some(command) =
            command.filter(|command| head.len() + description.len() + command.len() <= REQUEST_BYTES_MAX)
        else {
            return Err(exec);
        };
        self.in_flight += 1;
        self.starts.push(DirectStart { ticket, exec, head, description: Arc::clone(description), command });
        Ok(())
    }

    /// After a panic of the loop: the attempts have been ended, and their answers will find nobody.
    pub(in super::super) fn recover(&mut self) {
        self.starts.clear();
        self.in_flight = 0;
    }
}
