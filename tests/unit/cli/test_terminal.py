"""No verb lets a foreign text reach the terminal as it is: escape sequences and reordered text are shown escaped."""

import io
import json
from typing import Any

import pytest
from probelet.base.printable import printable
from probelet.cli import terminal
from probelet.cli.console import line_of
from probelet.cli.terminal import complain, print_json, print_lines
from rich.text import Text

from tests.unit.cli.conftest import Probelet, Service
from tests.unit.server.fake_view import SITUATIONS, event

HOSTILE = "\x1b[2J\x1b]0;PWN\x07\x9b31m\u202ertl\u2066\x00\x7f\r\b\ufeff\u200b\U000e0041\ud800é✓"
SHOWN = r"\x1b[2J\x1b]0;PWN\a\u009b31m\u202ertl\u2066\x00\x7f\r\b\ufeff\u200b\U000e0041"


def is_harmless(text: str) -> bool:
    return all(char.isprintable() or char == "\n" for char in text)


def hostile(document: Any) -> Any:
    """The document with the hostile text in the place of every text that no code compares."""
    if isinstance(document, dict):
        kept = ("state", "phase", "as_of", "at", "kind", "schema", "type", "result", "cause", "probes", "container_id")
        return {key: value if key in kept or key.endswith("_at") else hostile(value) for key, value in document.items()}
    if isinstance(document, list):
        return [hostile(value) for value in document]
    return f"{document}{HOSTILE[:-3]}\nsecond line" if isinstance(document, str) else document


def test_every_unprintable_character_is_shown_escaped() -> None:
    assert printable(HOSTILE).startswith(SHOWN)
    assert is_harmless(printable(HOSTILE))
    assert printable("é✓ plain") == "é✓ plain"
    assert printable("a\nb\x1b", keep="\n") == "a\nb\\x1b"


def test_plain_lines_and_complaints_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    print_lines(HOSTILE[:-3], "two\nlines")
    complain(f"{HOSTILE[:-3]}\nforged")
    out, err = capsys.readouterr()
    assert out == f"{SHOWN}\ntwo\nlines\n"
    assert err == f"{SHOWN}\\nforged\n"


@pytest.mark.parametrize("indented", [False, True])
def test_a_json_document_keeps_its_values(capsys: pytest.CaptureFixture[str], indented: bool) -> None:
    document = {"a": HOSTILE.replace("\ud800", ""), HOSTILE[:5]: [1, None, "✓"]}
    print_json(json.dumps(document, ensure_ascii=False).encode(), indented=indented)
    out = capsys.readouterr().out
    assert is_harmless(out)
    assert json.loads(out) == document


def test_the_console_escapes_texts_and_keeps_its_own_colours() -> None:
    stream = io.StringIO()
    out = terminal.console(stream)
    out.print(Text(HOSTILE[:-3], "red"), soft_wrap=True)
    out.print(HOSTILE[:-3], soft_wrap=True)
    assert is_harmless(stream.getvalue())
    coloured = type(out)(file=(stream := io.StringIO()), force_terminal=True, color_system="standard", width=200)
    coloured.print(Text(HOSTILE[:-3], "red"))
    assert stream.getvalue().startswith("\x1b[31m\\x1b[2J")
    assert "\x1b[2J" not in stream.getvalue()


def test_a_text_of_a_table_is_one_line() -> None:
    assert line_of("b\nc\t\x1b", "red").plain == "b c \\x1b"


@pytest.mark.parametrize("output", ["table", "json"])
@pytest.mark.parametrize("verb", ["status", "top", "events", "retry", "reset"])
async def test_every_verb_that_asks_the_service_is_harmless(
    service: Service, verb: str, output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.view.document = hostile(SITUATIONS)
    service.view.kept = [hostile(event(1)), hostile(event(2, count=3))]
    for name in ("retry", "reset"):
        monkeypatch.setattr(type(service.view), name, lambda *_: [f"app{HOSTILE[:-3]}"])
    arguments = ["web"] if verb in ("retry", "reset") else []
    ended = await service.ask(verb, *arguments, "-o", output)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out
    assert is_harmless(ended.out)
    if (verb, output) == ("status", "table"):
        # The table has the last line of an output, as for any other text.
        assert "second line" in ended.out


async def test_an_error_of_the_service_is_one_harmless_line(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    from probelet.server.control.command import NoSuchPodError

    def refuse(*_: object) -> list[str]:
        raise NoSuchPodError(f"no such pod {HOSTILE[:-3]}\nforged")

    monkeypatch.setattr(type(service.view), "retry", refuse)
    ended = await service.ask("retry", "web")
    assert ended.code == 2
    assert is_harmless(ended.err)
    assert len(ended.err.splitlines()) == 2, "the error and its hint"


def test_a_word_of_the_command_line_is_harmless(probelet: Probelet) -> None:
    for arguments in ([HOSTILE[:8]], ["status", "--state-dir", f"/nowhere/{HOSTILE[:8]}"], ["top", HOSTILE[:8]]):
        ended = probelet(*arguments)
        assert ended.code
        assert is_harmless(ended.err + ended.out)
