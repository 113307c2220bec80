"""`probelet conformance` on handler cases: which answers count as equal, and which files it refuses."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from probelet_conformance.conformance import conformance
from probelet_conformance.handlers.case.case import Case
from probelet_conformance.handlers.compare import Seen, differences

from tests.support.paths import HANDLER_CASES

pytestmark = pytest.mark.e2e


def case(name: str, **expect: Any) -> dict[str, Any]:
    lines = [json.loads(line) for path in HANDLER_CASES.glob("*.jsonl") for line in path.read_text().splitlines()]
    [found] = [line for line in lines if line["name"] == name]
    return {**found, "schema": "kubelet-handler-case/1", "expect": {**found["expect"], **expect}}


def write(folder: Path, *cases: dict[str, Any]) -> Path:
    for each in cases:
        (folder / f"{each['name']}.json").write_text(json.dumps(each))
    return folder


def test_cases_may_lie_in_separate_files_without_certificates_beside_them(tmp_path: Path) -> None:
    report = conformance(write(tmp_path, case("status_404"), case("tls_cert_expired"), case("tcp_closes")))
    assert (report.total, report.equal, report.different) == (3, 3, [])


def test_a_report_names_the_section_that_differs(tmp_path: Path) -> None:
    report = conformance(write(tmp_path, case("status_404", output="HTTP probe failed with statuscode: 405")))
    assert report.equal == 0
    [finding] = report.different
    assert (finding.name, finding.section) == ("status_404", "text")
    assert finding.expected == "HTTP probe failed with statuscode: 405|"
    assert finding.got == "HTTP probe failed with statuscode: 404|"


def test_an_answer_may_equal_any_recorded_variant(tmp_path: Path) -> None:
    other = {"result": "success", "output": "", "error": None, "count": 1}
    seen = {"result": "failure", "output": "HTTP probe failed with statuscode: 404", "error": None, "count": 1}
    racy = case("status_404", **other, variants=[other, seen], varies=["result", "output"])
    assert conformance(write(tmp_path, racy)).different == []
    report = conformance(write(tmp_path, {**racy, "expect": {**racy["expect"], "variants": [other]}}))
    assert [finding.section for finding in report.different] == ["result", "text"]


def test_a_rule_gives_the_reason_of_a_known_difference(tmp_path: Path) -> None:
    unseen = {**case("tls_cipher_ECDHE_RSA_WITH_AES_256_CBC_SHA"), "name": "unseen"}
    unseen["server"]["listeners"][0]["tls"]["ciphers"] = ["TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA"]
    report = conformance(write(tmp_path, unseen))
    assert (report.equal, report.different) == (1, [])
    assert {known.reason for known in report.known} == {"rustls has no TLS 1.2 ECDHE AES-CBC suites"}


def test_a_server_that_refuses_a_handshake_gets_a_second_offer(tmp_path: Path) -> None:
    report = conformance(write(tmp_path, {**case("tls_handshake_alert"), "name": "unseen"}))
    assert [known.reason for known in report.known] == ["post-quantum groups are offered on a second connection"]


def test_a_grpc_case_may_be_recorded_without_the_offer_of_gzip(tmp_path: Path) -> None:
    old = case("grpc_go_named")
    [connection] = old["expect"]["received"]["PORT"]
    [headers] = [frame["headers"] for frame in connection["h2"] if frame["type"] == "HEADERS"]
    headers.remove(["grpc-accept-encoding", "gzip"])
    report = conformance(write(tmp_path, old))
    assert (report.equal, report.different) == (1, [])
    assert [known.reason for known in report.known] == ["recorded by a program that does not link grpc-go's gzip"]
    headers.remove(["te", "trailers"])
    assert [finding.section for finding in conformance(write(tmp_path, old)).different] == ["received"]


@pytest.mark.parametrize(("host", "is_equal"), [("localhost", True), ("127.0.0.1", False)])
def test_the_address_that_localhost_has_first_is_the_machines(host: str, is_equal: bool) -> None:
    raw = case("tcp_localhost_refused")
    raw["probe"]["tcpSocket"]["host"] = host
    asked = Case.of(raw, HANDLER_CASES)
    text = asked.expect["output"].replace("127.0.0.1:", "[::1]:")
    outcome = {"result": "failure", "output": text, "output_bytes": None, "error": None, "cause": "refused"}
    found = [one.section for one in differences(asked, Seen(outcome, connections=defaultdict(list)))]
    assert ("text" not in found) == is_equal


@pytest.mark.parametrize(
    ("name", "text", "answer"),
    [
        ("a.json", "{", "a.json: not a recording: "),
        ("a.json", '{"schema": "other/1"}', "a.json: not a recording: "),
        ("a.jsonl", "{}\n", "a.jsonl:1: not a handler case: Object missing required field `name`"),
        ("a.jsonl", "[]\n", "a.jsonl:1: not a handler case: "),
    ],
)
def test_a_file_that_is_no_recording_is_refused_by_name(tmp_path: Path, name: str, text: str, answer: str) -> None:
    (tmp_path / name).write_text(text)
    (line,) = conformance(tmp_path).refused
    assert line.startswith(f"{tmp_path}/{answer}")
