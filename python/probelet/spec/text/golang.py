"""Texts in the form that Go prints."""

from probelet import _rust


def go_quote(text: str) -> str:
    """Quotes ``text`` as Go's ``strconv.Quote`` does (``%q`` in messages of the API server and the kubelet)."""
    # A lone surrogate has no UTF-8: Go escapes its bytes like any others that are not UTF-8.
    return _rust.go_quote(text.encode("utf-8", "surrogatepass"))
