//! HTTP/1.1, as much of it as a probe's one request needs.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Reads a request's head and answers 200; what follows in the request is nobody's.
pub(super) async fn answer(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
    let mut head = [0; HEAD_BYTES_MAX];
    let mut length = 0;
    while !head[..length].ends_with(b"\r\n\r\n") {
        match stream.read(&mut head[length..]).await? {
            0 => return Ok(()),
            more => length += more,
        }
    }
    stream.write_all(ANSWER).await?;
    stream.shutdown().await
}

const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
/// A probe's head is some 120 bytes.
const HEAD_BYTES_MAX: usize = 2048;
