"""The man pages say what ``--help`` says."""

import re
from functools import cache

import pytest
from probelet.cli.verbs import installed

from tools.manual.page import pages
from tools.manual.roff import escaped, filled, verbatim


@cache
def made() -> dict[str, str]:
    return dict(pages())


def plain(page: str) -> str:
    """The text of a page without roff's escapes."""
    text = re.sub(r"\\f[BR]", "", made()[page])
    return text.replace("\\-", "-").replace("\\(aq", "'").replace("\\&", "").replace("\\e", "\\")


def test_there_is_a_page_for_each_verb_and_one_for_all() -> None:
    assert sorted(made()) == sorted(["probelet.1", *(f"probelet-{verb.name}.1" for verb in installed())])
    assert all(f"probelet-{verb.name}(1)\n{verb.help}" in plain("probelet.1") for verb in installed())


def test_a_page_has_usage_options_examples_and_exit_codes() -> None:
    page = plain("probelet-run.1")
    assert "probelet run [OPTIONS] PATH..." in page
    assert "--config FILE\nFile with Kubelet- and ProbeletConfiguration." in page
    assert "--log-level CHOICE\nLeast level to log. [choices: debug, info, warning, error] [default: info]" in page
    assert "\nprobelet run examples/web\n" in page
    assert "3\nthe verb cannot work here" in page


def test_a_verb_with_commands_has_the_options_of_each() -> None:
    page = plain("probelet-probe.1")
    assert page.index('.SH "PROBELET PROBE GRPC"') < page.index("--service NAME") < page.index("EXEC")


@pytest.mark.parametrize(
    ("text", "roff"),
    [(".PP", "\\&.PP"), ("a-b", "a\\-b"), ("it's", "it\\(aqs"), ("\\x", "\\ex"), ("~^`", "\\(ti\\(ha\\(ga")],
)
def test_text_is_no_request_of_roff(text: str, roff: str) -> None:
    assert escaped(text) == roff


def test_paragraphs_and_verbatim_lines() -> None:
    assert filled("a\nb\n\nc") == [".PP", "a", "b", ".PP", "c"]
    assert verbatim(["x"]) == [".PP", ".RS 4", ".nf", "x", ".fi", ".RE"]
