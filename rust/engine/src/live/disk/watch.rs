//! What the log says of a thread's writes: that one hangs, that the hanging one has ended, that they fail and work again.
//! A storm of failures is one line.

use std::io;
use std::time::Duration;

use probelet_core::time::Instant;

use super::super::batch::Notice;

/// Watches the writes of one thread.
#[derive(Debug)]
pub(in super::super) struct WriteWatch {
    /// What is written, as the first word of a line.
    name: &'static str,
    /// What a write that does not come means for the user.
    meaning: &'static str,
    /// Since when the thread has been writing; None while it is free.
    since: Option<Instant>,
    is_hanging: bool,
    is_failing: bool,
}

impl WriteWatch {
    pub(in super::super) const fn new(name: &'static str, meaning: &'static str) -> Self {
        Self { name, meaning, since: None, is_hanging: false, is_failing: false }
    }

    /// Whether the thread can be handed work.
    pub(in super::super) const fn is_free(&self) -> bool {
        self.since.is_none()
    }

    pub(in super::super) const fn is_failing(&self) -> bool {
        self.is_failing
    }

    pub(in super::super) const fn is_hanging(&self) -> bool {
        self.is_hanging
    }

    /// The thread was handed work.
    pub(in super::super) const fn handed(&mut self, now: Instant) {
        self.since = Some(now);
    }

    /// When a write that has not ended counts as hanging.
    pub(in super::super) fn deadline(&self) -> Option<Instant> {
        self.since.filter(|_| !self.is_hanging).map(|since| since + HANGS_AFTER)
    }

    /// The write has not ended: a line if it hangs since this moment.
    pub(in super::super) fn goes_on(&mut self, now: Instant) -> Option<Notice> {
        self.deadline().filter(|deadline| *deadline <= now)?;
        self.is_hanging = true;
        Some(Notice::warning(format!("{}: the disk hangs, a write has not ended; {}", self.name, self.meaning)))
    }

    /// The write has ended: the lines that this is worth.
    pub(in super::super) fn ended(&mut self, result: &io::Result<()>, now: Instant) -> Vec<Notice> {
        let name = self.name;
        let mut notices = Vec::new();
        if let Some(since) = self.since.take()
            && std::mem::take(&mut self.is_hanging)
        {
            let text = format!("{name}: the write that hung has ended, after {:?}", now.since(since));
            notices.push(Notice::info(text));
        }
        match result {
            Ok(()) if std::mem::take(&mut self.is_failing) => {
                notices.push(Notice::info(format!("{name}: written again")));
            }
            Err(error) if !std::mem::replace(&mut self.is_failing, true) => {
                notices.push(Notice::warning(format!("{name}: cannot be written: {error}; {}", self.meaning)));
            }
            _ => {}
        }
        notices
    }
}

/// A write that takes longer than this hangs: a disk that is only busy takes a few kilobytes sooner.
const HANGS_AFTER: Duration = Duration::from_secs(5);
