//! Connections that a server refuses one after another.

use std::time::Duration;

use tokio::time::sleep;

/// The pauses between one connection and the next. Go makes none; a server that refuses each request would see hundreds
/// of connections a second from it.
#[derive(Debug, Default)]
pub(crate) struct Pause {
    waited: u32,
}

impl Pause {
    pub(crate) async fn wait(&mut self) {
        if self.waited > 0 {
            sleep(PAUSE_MIN * 2u32.pow(self.waited.min(PAUSE_DOUBLINGS_MAX))).await;
        }
        self.waited += 1;
    }
}

/// The second pause; the first connection is followed by another at once.
const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_DOUBLINGS_MAX: u32 = 4;
