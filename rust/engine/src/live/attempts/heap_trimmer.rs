//! Gives memory back to the system after a burst. The allocator keeps what is freed, so hundreds of targets that made
//! buffers grow once would otherwise hold the node's memory for ever.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Counts the bytes of buffers that were too large to keep.
#[derive(Debug, Default)]
pub(super) struct HeapTrimmer {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// Bytes that were freed since the allocator last gave memory back.
    freed: usize,
    is_running: bool,
}

impl HeapTrimmer {
    /// Notes that an attempt's buffers were freed. If enough of them were, a thread gives the memory back a little
    /// later, because walking a large heap takes milliseconds.
    pub(super) fn freed(&self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        let mut state = lock(&self.state);
        state.freed += bytes;
        if state.freed < TRIMMED_BYTES_MIN || std::mem::replace(&mut state.is_running, true) {
            return;
        }
        let shared = Arc::clone(&self.state);
        let thread = thread::Builder::new().name("probelet-trim".into()).stack_size(STACK_BYTES);
        if thread.spawn(move || trim_after_the_burst(&shared)).is_err() {
            state.is_running = false;
        }
    }
}

/// Trims until nothing more is freed meanwhile.
fn trim_after_the_burst(state: &Mutex<State>) {
    loop {
        thread::sleep(BURST);
        lock(state).freed = 0;
        #[cfg(target_env = "gnu")]
        // SAFETY: the call has no precondition; it takes the allocator's own locks.
        unsafe {
            libc::malloc_trim(0);
        }
        let mut state = lock(state);
        if state.freed < TRIMMED_BYTES_MIN {
            state.is_running = false;
            return;
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Less is not worth the walk over the heap.
const TRIMMED_BYTES_MIN: usize = 8 << 20;
/// From the first buffers of a burst to the trim. Attempts that began together end together.
const BURST: Duration = Duration::from_secs(2);
const STACK_BYTES: usize = 64 << 10;
