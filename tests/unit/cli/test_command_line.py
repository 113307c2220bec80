import importlib.metadata
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from importlib.metadata import EntryPoints
from pathlib import Path

import pytest
from probelet.cli.app import build_app
from probelet.cli.exit import Exit
from probelet.cli.verbs import ADDED, ENTRY_POINTS, VERBS, installed

from tests.support.paths import ROOT
from tests.unit.cli.conftest import Probelet
from tools.manual.command import install_completion_page, verb_pages

NAMES = [verb.name for verb in installed()]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("statu", 'probelet: there is no verb "statu"; did you mean "status"?\n  try: probelet --help\n'),
        ("zzz", 'probelet: there is no verb "zzz"\n  try: probelet --help\n'),
        ("status -o xml", 'Invalid value "xml" for -o. Choose from: "table", "json".\n  try: probelet status --help\n'),
        ("status --watched", "Unknown option: --watched. Did you mean --watch?\n  try: probelet status --help\n"),
        ("status --watch --duration 5", '"5" is not a duration above zero; want for example 60s, 1m30s or 500ms\n'),
        ("events --follow --duration 0s", '"0s" is not a duration above zero; want'),
        ("status --duration 5s", "probelet status: --duration is for --watch\n"),
        ("events --duration 5s", "probelet events: --duration is for --follow\n"),
        ("version extra", "probelet version: "),
        ("run", "probelet run: PATH is missing\n  try: probelet run --help\n"),
        ("run web --listen", "probelet run: --listen needs a value\n"),
        ("retry", "probelet retry: POD is missing\n"),
        ("whatif", "probelet whatif: RECORDING is missing\n"),
        ("probe http", "probelet probe http: --port is missing\n"),
        ("logs web --tail x", 'Invalid value for --tail: "x" is no whole number\n'),
        ("-v", 'probelet: there is no option "-v"\n  try: probelet --help\n'),
        ("bench udpx", 'there is no handler "udpx"; want http, https, tcp, grpc or exec\n'),
        ("probe https --port 1", 'probelet probe: there is no handler "https"; did you mean "http"?\n'),
        ("probe tcp --port 1 db", 'probelet probe tcp: unexpected: "db"\n'),
    ],
)
def test_bad_usage_is_one_line_and_a_hint(probelet: Probelet, line: str, text: str) -> None:
    ended = probelet(*line.split())
    assert (ended.code, ended.out) == (2, "")
    assert text in ended.err
    message, hint, end = ended.err.split("\n")
    assert message.startswith("probelet")
    assert hint.startswith("  try: probelet")
    assert end == ""


@pytest.mark.parametrize("line", ["status", "status --watch", "status -o json", "events", "events --follow"])
def test_without_a_service_a_verb_names_the_state_directory(probelet: Probelet, line: str, tmp_path: object) -> None:
    ended = probelet(*line.split(), "--state-dir", str(tmp_path))
    assert (ended.code, ended.out) == (3, "")
    verb = line.split()[0]
    assert ended.err.splitlines()[0] == f"probelet {verb}: no probelet runs in {tmp_path}"


def test_the_list_of_verbs_is_grouped_and_complete(probelet: Probelet) -> None:
    ended = probelet("--help")
    assert (ended.code, ended.err) == (0, "")
    assert all(f"│ {name} " in ended.out for name in NAMES)
    assert ended.out.index("Node") < ended.out.index("│ run ") < ended.out.index("│ status ") < ended.out.index("Tools")
    contributors = ended.out.index("For contributors")
    assert all(contributors < ended.out.index(f"│ {verb} ") for verb in ("stress", "conformance", "replay"))
    assert "Exit codes: 0 success;" in ended.out


def test_without_a_verb_help_is_shown(probelet: Probelet) -> None:
    assert probelet().out == probelet("--help").out


@pytest.mark.parametrize("name", NAMES)
def test_a_verbs_help_has_examples_and_fits_80_columns(probelet: Probelet, name: str) -> None:
    ended = probelet(name, "--help")
    assert (ended.code, ended.err) == (0, "")
    examples = ended.out.partition("\nExamples:\n")[2].splitlines()
    assert examples
    assert all(f"probelet {name}" in line for line in examples)
    assert max(map(len, ended.out.splitlines())) <= 80


@pytest.mark.parametrize("verb", installed(), ids=NAMES)
def test_the_help_of_a_verb_begins_with_its_line_in_the_list(probelet: Probelet, verb: object) -> None:
    # The list takes the line from the table, because it does not import the verb.
    assert verb.help in " ".join(probelet(verb.name, "--help").out.split())


@pytest.mark.parametrize("name", NAMES)
def test_every_example_is_a_command_line_that_parses(probelet: Probelet, name: str) -> None:
    for line in probelet(name, "--help").out.partition("\nExamples:\n")[2].splitlines():
        words = shlex.split(line.split("|")[0])
        assert words.pop(0) == "probelet"
        build_app().parse_args(words, exit_on_error=False, print_error=False)


def test_a_refusal_is_json_where_the_log_is(probelet: Probelet, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("kind: Pod\n")
    for flags in (("--log-format", "json"), ("--log-format=json",)):
        ended = probelet("run", str(tmp_path / "a.yaml"), "--state-dir", str(tmp_path), *flags)
        (line,) = map(json.loads, ended.err.splitlines())
        assert (ended.code, line["level"], line["verb"]) == (2, "error", "probelet run")
        assert "a.yaml:1: apiVersion: Required value" in line["message"]
    ended = probelet("run", "--nope", "--log-format", "json")
    assert json.loads(ended.err)["hint"] == "probelet run --help"


def test_a_negative_duration_is_a_value_and_no_option(probelet: Probelet) -> None:
    for arguments in (("run", "a.yaml", "--duration"), ("backoff", "table", "--initial"), ("logs", "web", "--since")):
        ended = probelet(*arguments, "-5s")
        assert ended.code == 2
        assert '"-5s" is not a duration' in ended.err


@pytest.mark.parametrize(
    "line",
    [
        *(
            "run ''",
            "explain ''",
            "lint ''",
            "simulate ''",
            "whatif ''",
            "run a.yaml --config ''",
            "explain a --against ''",
        ),
        *(
            "simulate a --against ''",
            "whatif a --change ''",
            "lint a --observed ''",
            "logs --from ''",
            "probe --from ''",
        ),
        *("status --state-dir ''", "backoff plot --out ''", "simulate a --scenario overload --html ''"),
    ],
)
def test_an_empty_path_is_not_this_directory(probelet: Probelet, line: str) -> None:
    ended = probelet(*shlex.split(line))
    assert (ended.code, ended.out) == (2, "")
    assert '"" is no path' in ended.err


@pytest.mark.parametrize("name", NAMES)
def test_a_help_shows_nothing_that_nobody_types_or_needs(probelet: Probelet, name: str) -> None:
    shown = probelet(name, "--help").out
    for line in shown.splitlines():
        assert not re.search(r"--[A-Z]{2}", line), line
        assert not re.search(r'default: (False|""|\(\)|[0-9]+\.0)\]', line), line


def test_no_line_of_a_help_is_broken_twice() -> None:
    # A line that is longer than a terminal is wrapped, and leaves a single word on the next one.
    for page in (*verb_pages(), install_completion_page()):
        assert max(map(len, page.more.splitlines()), default=0) <= 80, page.name
        assert all("\n" not in option.about for command in page.commands for option in command.options), page.name


def test_the_table_of_exit_codes_has_each_code() -> None:
    rows = [line.split("|")[1:3] for line in (ROOT / "docs" / "exit-codes.md").read_text().splitlines()]
    listed = {cells[1].strip(): cells[0].strip() for cells in rows if len(cells) == 2}
    assert {code.name: str(code.value) for code in Exit}.items() <= listed.items()


@pytest.fixture
def _probelet_alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installation without the package that has `replay` and `conformance`."""
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: EntryPoints())
    installed.cache_clear()
    yield
    installed.cache_clear()


@pytest.mark.usefixtures("_probelet_alone")
def test_a_verb_of_a_package_that_is_not_installed_is_not_listed(probelet: Probelet) -> None:
    assert installed() == VERBS
    listed = probelet("--help").out
    assert "│ run " in listed
    assert "replay" not in listed
    assert "conformance" not in listed


@pytest.mark.usefixtures("_probelet_alone")
@pytest.mark.parametrize("line", ["replay", "replay --help", "conformance tests", "help replay"])
def test_a_verb_of_a_package_that_is_not_installed_says_what_to_install(probelet: Probelet, line: str) -> None:
    ended = probelet(*line.split())
    assert (ended.code, ended.out) == (Exit.CANNOT, "")
    assert "is in the package probelet-conformance, which is not installed\n" in ended.err
    assert ended.err.endswith("  try: pip install probelet-conformance\n")


def test_the_added_verbs_are_the_entry_points_of_their_package() -> None:
    points = tomllib.loads((ROOT / "conformance/pyproject.toml").read_text())["project"]["entry-points"][ENTRY_POINTS]
    assert points.keys() == {verb.name for verb in ADDED}
