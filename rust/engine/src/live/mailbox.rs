//! The batch that waits for Python, with a pipe that is readable while it does.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::batch::Batch;

/// The batch that waits, and its bell. [`Mailbox::post`] wakes no reader; [`Mailbox::ring`] does, without any lock
/// held, because the reader often runs at once on the same CPU, and would find the lock taken and sleep again.
#[derive(Debug)]
pub struct Mailbox {
    waiting: Mutex<Waiting>,
    reader: PipeReader,
    writer: PipeWriter,
}

#[derive(Debug, Default)]
struct Waiting {
    batch: Batch,
    is_rung: bool,
}

impl Mailbox {
    /// An empty mailbox.
    ///
    /// # Errors
    /// The process has no file descriptor left.
    pub fn new() -> std::io::Result<Self> {
        let (reader, writer) = std::io::pipe()?;
        Ok(Self { waiting: Mutex::default(), reader, writer })
    }

    /// The descriptor that is readable while something waits.
    pub fn fd(&self) -> RawFd {
        self.reader.as_raw_fd()
    }

    /// Adds a batch to the one that waits.
    pub fn post(&self, more: Batch) {
        if more.is_empty() {
            return;
        }
        let mut waiting = self.lock();
        if waiting.batch.is_empty() { waiting.batch = more } else { waiting.batch.absorb(more) }
    }

    /// Makes the descriptor readable if something waits.
    pub fn ring(&self) {
        let mut waiting = self.lock();
        let rings = !waiting.batch.is_empty() && !waiting.is_rung;
        waiting.is_rung |= rings;
        drop(waiting);
        if rings {
            // One byte per batch: the pipe never holds more than one, so neither end can block.
            let _ = (&self.writer).write(&[1]);
        }
    }

    /// Takes the whole batch.
    pub fn drain(&self) -> Batch {
        let Waiting { batch, is_rung } = std::mem::take(&mut *self.lock());
        if is_rung {
            // If `ring` has not written yet, wait for its byte, or the byte would signal an empty batch.
            let _ = (&self.reader).read(&mut [0]);
        }
        batch
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use probelet_core::results::ProbeResult;
    use probelet_core::spec::ProbeType;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::super::batch::Change;
    use super::super::batch::tests::with;
    use super::*;

    fn update(container: &str, result: ProbeResult) -> Change {
        let (probe_type, container_id, pod_uid) = (ProbeType::Liveness, container.into(), "u".into());
        Change { probe_type, container_id, pod_uid, result: Some(result) }
    }

    #[test]
    fn the_latest_update_of_an_entry_is_kept_once() {
        let mailbox = Mailbox::new().expect("a pipe");
        mailbox.post(with(|batch| batch.push_update(update("a", ProbeResult::Success))));
        mailbox.post(with(|batch| {
            batch.push_update(update("b", ProbeResult::Success));
            batch.push_update(update("a", ProbeResult::Failure));
        }));
        let batch = mailbox.drain();
        assert_eq!(batch.updates, [update("a", ProbeResult::Failure), update("b", ProbeResult::Success)]);
        assert!(mailbox.drain().is_empty());
    }

    /// Whether the descriptor is readable.
    fn is_rung(mailbox: &Mailbox) -> bool {
        let mut polled = [PollFd::new(&mailbox.reader, PollFlags::IN)];
        poll(&mut polled, Some(&Timespec::default())).expect("a descriptor") == 1
    }

    #[test]
    fn it_rings_once_for_what_waits_and_not_for_nothing() {
        let mailbox = Mailbox::new().expect("a pipe");
        mailbox.ring();
        assert!(!is_rung(&mailbox));
        for _ in 0..2 {
            mailbox.post(with(|batch| batch.push_sync("u".into())));
            mailbox.ring();
        }
        assert!(is_rung(&mailbox));
        assert!(!mailbox.drain().is_empty() && !is_rung(&mailbox));
        mailbox.ring();
        assert!(mailbox.drain().is_empty() && !is_rung(&mailbox));
    }

    #[test]
    fn what_is_taken_before_it_rings_is_not_rung_for() {
        let mailbox = Mailbox::new().expect("a pipe");
        mailbox.post(with(|batch| batch.push_sync("u".into())));
        assert!(!is_rung(&mailbox) && !mailbox.drain().is_empty());
        mailbox.ring();
        assert!(!is_rung(&mailbox));
        mailbox.post(with(|batch| batch.push_sync("u".into())));
        mailbox.ring();
        assert!(is_rung(&mailbox));
    }

    #[test]
    fn a_pod_is_synced_once_per_batch() {
        let mailbox = Mailbox::new().expect("a pipe");
        for _ in 0..3 {
            mailbox.post(with(|batch| batch.push_sync("u".into())));
        }
        assert_eq!(mailbox.drain().syncs.len(), 1);
    }
}
