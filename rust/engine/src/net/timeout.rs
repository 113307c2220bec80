//! The end of an attempt's time.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use tokio::time::{Instant, timeout_at};

/// The result of `work`, or none if `work` has not ended by `deadline`.
///
/// Before it drops `work`, it lets the reactor poll the sockets once more. If this thread is late, it may notice the
/// deadline before an answer that came in time: a process that was stopped and goes on sees its timers first, because
/// epoll_wait(2) ends with EINTR then. The container is not to blame for that.
pub(crate) async fn or_timeout<T>(deadline: Instant, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    if let Ok(done) = timeout_at(deadline, work.as_mut()).await {
        return Some(done);
    }
    tokio::task::yield_now().await;
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use tokio::io::AsyncReadExt;

    use super::*;

    /// Reads from a target that has said so much, when the time was over before anybody looked.
    fn read_late(said: &[u8]) -> Option<usize> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (mut target, probe) = UnixStream::pair().unwrap();
            target.write_all(said).unwrap();
            probe.set_nonblocking(true).unwrap();
            let mut probe = tokio::net::UnixStream::from_std(probe).unwrap();
            or_timeout(Instant::now(), probe.read(&mut [0; 8])).await.map(Result::unwrap)
        })
    }

    #[test]
    fn an_answer_that_had_come_is_taken_and_nothing_is_waited_for() {
        assert_eq!(read_late(b"ok"), Some(2));
        assert_eq!(read_late(b""), None);
    }
}
