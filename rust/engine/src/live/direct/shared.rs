//! What callers and the engine's thread share of direct exec attempts, under the state's lock.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use probelet_enter_protocol::ANSWER_BYTES_MAX;
use probelet_enter_protocol::answer::{self, Bounds};
use probelet_enter_protocol::request::Words;
use socket2::SockRef;

use super::request::{Attempt, DirectStart, PythonsCommand};
use crate::live::attempts::Ticket;
use crate::live::exec::{EnteredExec, ExecAttempt, ExecEnd, Refusal};

/// Reads the first message of a helper, which says what it is bound by; afterwards only the engine reads its socket. None:
/// the helper has closed its socket.
///
/// # Errors
/// The helper cannot be used; a line for the log says why.
pub fn read_hello(socket: BorrowedFd<'_>) -> Result<Option<Bounds>, String> {
    let mut message = vec![0; ANSWER_BYTES_MAX];
    match (&*SockRef::from(&socket)).read(&mut message) {
        Ok(0) => Ok(None),
        Ok(length) => Bounds::read(&message[..length]).map(Some),
        Err(error) => Err(error.to_string()),
    }
}

/// The helper's process, as its owner knows it. The engine keeps descriptors of its own.
#[derive(Debug)]
pub struct HelperProcess {
    /// The packet socket to the helper, which nobody else reads.
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
    /// Commands for the helper.
    pub(in super::super) starts: Vec<DirectStart>,
    /// Commands that were described for a helper that is used no more, and that it did not get.
    pub(super) late: Vec<DirectStart>,
    /// Attempts of the engine that the helper has carried out.
    pub(in super::super) attempts: u64,
    /// Attempts of the engine that were meant for the helper and have neither ended nor been handed to Python.
    pub(in super::super) in_flight: u64,
    /// Python's commands that are not over.
    pub(in super::super) entered: HashSet<u64>,
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
        self.late.append(&mut self.starts);
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
        let Ok(words) = Words::new(exec.id, exec.timeout_seconds(), description.len(), exec.argv()) else {
            return Err(exec);
        };
        self.in_flight += 1;
        let (id, description) = (exec.id, Arc::clone(description));
        self.starts.push(DirectStart { id, attempt: Attempt::Engine(ticket, exec), words, description });
        Ok(())
    }

    /// Takes a command of Python's for the helper, or says why no helper can have it.
    pub(in super::super) fn enter(
        &mut self,
        id: u64,
        description: &[u8],
        argv: Vec<Box<str>>,
        timeout_seconds: i32,
    ) -> Result<(), Refusal> {
        if self.helper.is_none() {
            return Err(Refusal::of(answer::Refusal::Helper));
        }
        let words = Words::new(id, timeout_seconds, description.len(), &argv).map_err(Refusal::of)?;
        self.entered.insert(id);
        let attempt = Attempt::Python(PythonsCommand { argv, timeout_seconds });
        self.starts.push(DirectStart { id, attempt, words, description: description.into() });
        Ok(())
    }

    /// After a panic of the loop: the engine's attempts have been ended, and their answers will find nobody. Returns the
    /// ends of Python's attempts, which nobody else would tell, but for attempts that wait for the loop.
    pub(in super::super) fn recover(&mut self) -> impl Iterator<Item = EnteredExec> {
        for waiting in [&mut self.starts, &mut self.late] {
            waiting.retain(|start| matches!(start.attempt, Attempt::Python(_)));
        }
        self.in_flight = 0;
        let waiting = self.starts.iter().chain(&self.late).map(|start| start.id).collect();
        let entered = std::mem::replace(&mut self.entered, waiting);
        entered.into_iter().filter(|id| !self.entered.contains(id)).map(|id| EnteredExec {
            id,
            outcome: Some(Ok(ExecEnd::Error("the prober's own loop panicked".into()))),
            is_over: true,
        })
    }
}
