//! `go_quote`: the engine's own quoting, so that texts from Python and from Rust escape the same characters.

use probelet_golang::text::quote_whole;
use pyo3::prelude::*;

/// Quotes ``text`` as Go 1.26's ``strconv.Quote`` does: characters that Unicode 15.0 calls printable stay, any other
/// character and each byte that is not UTF-8 are escaped.
#[pyfunction]
pub(crate) fn go_quote(text: &[u8]) -> String {
    quote_whole(text)
}
