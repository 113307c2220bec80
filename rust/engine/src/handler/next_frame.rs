//! Reads the frames of a connection that speaks HTTP/2.

use probelet_golang::http2::{Fields, Frame, Http2Error, Reader};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Waits for the next frame.
///
/// # Errors
/// Those of the reader, and [`Http2Error::Io`].
pub(super) async fn next_frame<F: Fields>(
    reader: &mut Reader<F>,
    link: &mut (impl AsyncRead + Unpin),
) -> Result<Frame<F>, Http2Error> {
    loop {
        if let Some(frame) = reader.frame()? {
            return Ok(frame);
        }
        match link.read_buf(reader.space()).await {
            Ok(0) => return Err(reader.ended()),
            Ok(_) => {}
            Err(_) => return Err(Http2Error::Io),
        }
    }
}
