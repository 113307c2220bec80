"""A pod's entry: upstream's cases by name, and the M and S ids of docs/dev/enhanced-liveness-cases.md."""

from typing import Any

import pytest
from probelet.beside.guard.mapping.entry import Entry, entry_of
from probelet.beside.guard.objects.pod import read_pod

from tests.unit.beside.guard.kubernetes_objects import EXEC_ENTRY, TCP_ENTRY, pod, pod_object


def of(written: str, seen: dict[str, str] | None = None, **fields: Any) -> Entry:
    return entry_of(pod(context=written, **fields), "seed", seen)


def reasons(entry: Entry) -> list[str]:
    return [reason for reason, _ in entry.problems]


def test_upstream_generate_pod_probe_object_with_a_named_port() -> None:
    """The named port is resolved; pull request 1544 keeps the name, which its prober reads as 0."""
    entry = of(f"[{EXEC_ENTRY},{TCP_ENTRY}]")
    assert entry.problems == []
    assert entry.body == {
        "name": "pod1",
        "namespace": "default",
        "uid": "uid-pod1",
        "IP": "1.1.1.1",
        "probes": [
            {
                "name": "pod1-c1",
                "containerName": "c1",
                "probe": {
                    "exec": {"command": ["/healthy.sh"]},
                    "timeoutSeconds": 1,
                    "periodSeconds": 10,
                    "successThreshold": 1,
                    "failureThreshold": 3,
                },
            },
            {
                "name": "pod1-c2",
                "containerName": "c2",
                "probe": {
                    "tcpSocket": {"port": 8080},
                    "timeoutSeconds": 1,
                    "periodSeconds": 10,
                    "successThreshold": 1,
                    "failureThreshold": 3,
                },
            },
        ],
    }


def test_upstream_generate_pod_probe_object_without_config() -> None:
    assert of("[]").body is None
    assert read_pod(pod_object(context=None, opt_in=None)) is None


def test_m3_probes_are_in_the_order_of_the_containers() -> None:
    body = of(f"[{TCP_ENTRY},{EXEC_ENTRY}]").body
    assert body is not None
    assert [probe["containerName"] for probe in body["probes"]] == ["c1", "c2"]


def test_m4_an_unknown_container_is_named_and_the_others_are_mapped() -> None:
    entry = of(f'[{{"name":"gone","livenessProbe":{{"tcpSocket":{{"port":1}}}}}},{EXEC_ENTRY}]')
    assert reasons(entry) == ["ELPUnknownContainer"]
    assert entry.body is not None
    assert len(entry.body["probes"]) == 1


def test_m5_without_a_valid_probe_there_is_no_entry() -> None:
    assert of('[{"name":"c2","livenessProbe":{"tcpSocket":{"port":"nobody"}}}]').body is None


def test_m6_t9_defaults_of_the_api_are_filled_in() -> None:
    body = of(
        '[{"name":"c1","livenessProbe":{"httpGet":{"port":80}}},{"name":"c2","livenessProbe":{"grpc":{"port":9}}}]'
    ).body
    assert body is not None
    http, grpc = (probe["probe"] for probe in body["probes"])
    assert http["httpGet"] == {"path": "/", "port": 80, "scheme": "HTTP"}
    assert grpc["grpc"] == {"port": 9, "service": ""}
    assert (http["periodSeconds"], http["failureThreshold"]) == (10, 3)


def test_a_named_port_that_is_not_there_is_said() -> None:
    """3A.3 row 5."""
    entry = of('[{"name":"c1","livenessProbe":{"httpGet":{"port":"nobody"}}}]')
    assert entry.problems == [("ELPUnresolvedPort", "container c1 has no port named 'nobody'")]


def test_without_an_address_only_commands_run() -> None:
    """3A.3 row 4."""
    body = of(f"[{EXEC_ENTRY},{TCP_ENTRY}]", ip="").body
    assert body is not None
    assert [probe["name"] for probe in body["probes"]] == ["pod1-c1"]
    assert body["IP"] == ""


@pytest.mark.parametrize("written", ["{", "null", '{"name":"c1"}', '[{"name":1}]', "[[]]"])
def test_bad_json_is_said_and_nothing_is_probed(written: str) -> None:
    """3A.3 row 9."""
    entry = of(written)
    assert (entry.body, reasons(entry), entry.digests) == (None, ["ELPInvalidContext"], None)


def test_a_bad_value_is_said_with_its_field() -> None:
    [(reason, text)] = of('[{"name":"c1","livenessProbe":{"tcpSocket":{"port":99999}}}]').problems
    assert reason == "ELPInvalidContext"
    assert text == "[0].livenessProbe.tcpSocket.port: Invalid value: 99999: must be between 1 and 65535, inclusive"


@pytest.mark.parametrize(("host", "runs"), [("169.254.169.254", False), ("localhost", False), ("1.1.1.1", True)])
def test_s2_a_host_other_than_the_pods_address_is_refused(host: str, runs: bool) -> None:
    entry = of(f'[{{"name":"c1","livenessProbe":{{"httpGet":{{"port":80,"host":"{host}"}}}}}}]')
    assert (entry.body is not None) == runs
    assert reasons(entry) == ([] if runs else ["ELPHostRefused"])


def test_s1_a_command_that_was_changed_later_does_not_run() -> None:
    first = of(f"[{EXEC_ENTRY}]")
    assert first.digests is not None
    changed = of(f"[{EXEC_ENTRY.replace('/healthy.sh', 'steal')}]", first.digests)
    assert (changed.body, reasons(changed)) == (None, ["ELPExecChanged"])
    added = of(f"[{EXEC_ENTRY},{EXEC_ENTRY.replace('c1', 'c2')}]", first.digests)
    assert added.body is not None
    assert [probe["containerName"] for probe in added.body["probes"]] == ["c1"]
    again = of(f"[{EXEC_ENTRY}]", changed.digests)
    assert again.body == first.body


def test_s1_a_pod_that_ran_no_command_at_first_sight_never_runs_one() -> None:
    first = of(f"[{TCP_ENTRY}]")
    assert first.digests == {}
    assert reasons(of(f"[{EXEC_ENTRY}]", first.digests)) == ["ELPExecChanged"]


def test_names_beside_openkruise() -> None:
    """3A.3 row 2."""
    body = entry_of(pod(), "coexist", None).body
    assert body is not None
    assert body["probes"][0]["name"] == "enhanced-liveness_#c1"
