"""Reading a manifest, however broken, yields pods and one-line problems, and never raises."""

import re
from pathlib import Path

import pytest
from probelet.spec import Manifest, Problem, decode_pod, encode_pod
from probelet.spec.read.load import PROBLEMS_MAX, read_file
from probelet.spec.read.objects import Rules

from fuzz.manifests.budget import SECONDS, SEED, numbers, replay
from fuzz.manifests.mutation import mutated

pytestmark = pytest.mark.timeout(SECONDS * 2 + 30)

# Problems of a file as a whole name no field.
WITHOUT_FIELD = (
    "not YAML: ",
    "not UTF-8: ",
    "no pod in this file",
    "nested deeper than ",
    "tag ",
    "alias ",
    "aliases expand to more than ",
    "a key must be a text",
    "<< must name a mapping",
)
WITHOUT_FIELD_WITHIN = (" is not a Kubernetes object", " more problems in this file", " is no number of JSON")
WITHOUT_LINE = ("no pod in this file", "cannot be read: ")
# YAML 1.1 counts more line breaks than an editor shows.
LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


def test_every_mistake_is_one_line_and_every_pod_survives_encoding_and_decoding(tmp_path: Path) -> None:
    path = tmp_path / "pod.yaml"
    for number in numbers(300):
        data = mutated(SEED, number)
        path.write_bytes(data)
        try:
            for runtime in (None, "process", "cri"):
                loaded = read_file(path, Rules(runtime=runtime, probe_options=None))
                examine(path, data, loaded.pods, loaded.problems)
        except Exception as error:
            raise AssertionError(f"{replay(number)}\n{data[:2000]!r}") from error


def examine(path: Path, data: bytes, pods: list[Manifest], problems: list[Problem]) -> None:
    assert pods or problems
    assert len(problems) <= PROBLEMS_MAX + 1
    lines = len(LINE_BREAK.split(data.decode(errors="replace")))
    for problem in problems:
        text = str(problem)
        assert text.isprintable(), "one line, and nothing that a terminal obeys"
        assert text.startswith(str(path))
        assert problem.line in range(1, lines + 1) or problem.message.startswith(WITHOUT_LINE) or hidden(problem)
        assert problem.field or names_no_field(problem), text
    for manifest in pods:
        assert manifest.line in range(1, lines + 1)
        assert decode_pod(encode_pod(manifest.pod)) == manifest.pod


def hidden(problem: Problem) -> bool:
    return problem.message.endswith(" more problems in this file")


def names_no_field(problem: Problem) -> bool:
    return problem.message.startswith(WITHOUT_FIELD) or any(words in problem.message for words in WITHOUT_FIELD_WITHIN)
