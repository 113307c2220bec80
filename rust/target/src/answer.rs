//! The part of HTTP/1.1 that a probe's one request needs.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Reads a request's head and answers 200; the target reads nothing after the head. Calls `came` at the first byte.
pub(crate) async fn answer(mut stream: impl AsyncRead + AsyncWrite + Unpin, came: impl FnOnce()) -> io::Result<()> {
    let mut head = [0; HEAD_BYTES_MAX];
    let mut length = 0;
    let mut came = Some(came);
    while !head[..length].ends_with(b"\r\n\r\n") {
        match stream.read(&mut head[length..]).await? {
            0 => return Ok(()),
            more => length += more,
        }
        if let Some(came) = came.take() {
            came();
        }
    }
    stream.write_all(ANSWER).await?;
    stream.shutdown().await
}

const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
/// The head of a probe's request has about 120 bytes.
const HEAD_BYTES_MAX: usize = 2048;
