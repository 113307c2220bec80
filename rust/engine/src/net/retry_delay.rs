//! Delays connections to a server that refuses one request after another.

use std::time::Duration;

use tokio::time::sleep;

/// The delay between one connection and the next. Go has none, so a server that refuses each request gets hundreds of
/// connections a second from Go.
#[derive(Debug, Default)]
pub(crate) struct RetryDelay {
    waited: u32,
}

impl RetryDelay {
    pub(crate) async fn wait(&mut self) {
        if self.waited > 0 {
            sleep(DELAY_MIN * 2u32.pow(self.waited.min(DELAY_DOUBLINGS_MAX))).await;
        }
        self.waited += 1;
    }
}

/// The second delay; another connection follows the first one at once.
const DELAY_MIN: Duration = Duration::from_millis(10);
const DELAY_DOUBLINGS_MAX: u32 = 4;
