//! `go_quote`: the engine's own quoting, so that texts from Python and from Rust escape the same characters.

use probelet_engine::golang::text::quote_whole;
use pyo3::prelude::*;

#[pyfunction]
pub(crate) fn go_quote(text: &[u8]) -> String {
    quote_whole(text)
}
