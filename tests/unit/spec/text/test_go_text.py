"""Texts as Go prints them."""

import pytest
from probelet.spec.text.golang import go_quote


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("cat /tmp/ok", '"cat /tmp/ok"'),
        ('say "hi" \\ there', r'"say \"hi\" \\ there"'),
        ("a\nb\tc\r\a\b\f\v", r'"a\nb\tc\r\a\b\f\v"'),
        ("nul\0 esc\x1b del\x7f", r'"nul\x00 esc\x1b del\x7f"'),
        ("grün 火", '"grün 火"'),
        ("\u200b\U000e0001", r'"\u200b\U000e0001"'),
        ("\U0001fae8 is in Unicode 15.0", '"\U0001fae8 is in Unicode 15.0"'),
        ("\U0001fae9 is in Unicode 16.0", r'"\U0001fae9 is in Unicode 16.0"'),
        ("half of a pair: \ud83e", r'"half of a pair: \xed\xa0\xbe"'),
    ],
)
def test_texts_are_quoted_as_go_quotes_them(text: str, quoted: str) -> None:
    assert go_quote(text) == quoted
