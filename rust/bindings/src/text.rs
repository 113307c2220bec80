//! `expand`: `$(VAR)` in a text of a manifest. `go_quote`: the engine's own quoting, so that texts from Python and from
//! Rust escape the same characters.

use probelet_core::expand as core;
use probelet_golang::text::quote_whole;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::InputError;

// The values of the variables have a limit because a few short variables that name each other can ask for more than a
// machine has.
/// Replaces ``$(NAME)``; an unknown name stays as written, ``$$`` is one dollar, so ``$$(NAME)`` is a text.
///
/// Raises:
///     InvalidInputError: the values of the variables together add more than 1 MiB.
#[pyfunction]
pub(crate) fn expand(text: &str, variables: &Bound<'_, PyDict>) -> PyResult<String> {
    let mut failed: PyResult<()> = Ok(());
    let mut room = core::Room::new(core::VALUES_BYTES_MAX);
    let value_of = |name: &str| variables.get_item(name)?.map(|value| value.extract::<String>()).transpose();
    let expanded = core::expand(text, |name| match value_of(name) {
        Ok(value) => value.filter(|value| room.take(value.len())),
        Err(error) => {
            failed = Err(error);
            None
        }
    });
    failed?;
    if room.is_exceeded() {
        let given = format!("a text of {} bytes", text.len());
        let allowed = format!("one whose variables have at most {} bytes", core::VALUES_BYTES_MAX);
        return Err(InputError::Argument { name: "text", given, allowed }.into());
    }
    Ok(expanded)
}

/// Quotes ``text`` as Go 1.26's ``strconv.Quote`` does: characters that Unicode 15.0 calls printable stay, any other
/// character and each byte that is not UTF-8 are escaped.
#[pyfunction]
pub(crate) fn go_quote(text: &[u8]) -> String {
    quote_whole(text)
}
