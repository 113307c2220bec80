import io
from datetime import datetime
from typing import Any

import pytest
from probelet.cli.ask.status_table import StatusTable, state_style
from probelet.server.pages.rows import pod_row
from rich.console import Console

from tests.unit.server.fake_view import FAILED, SITUATIONS, container, document, last, pod, probe


def on_the_page(status: dict[str, Any]) -> str:
    """All texts of the rows that the page has of the pods."""
    return " ".join(str(pod_row(found, datetime.fromisoformat(status["as_of"]))) for found in status["pods"])


def shown(status: dict[str, Any], *, width: int = 80, unicode: bool = True, color: bool = False) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=color, color_system="standard" if color else None)
    console.print(StatusTable(status, unicode=unicode))
    return stream.getvalue()


def test_a_terminal_without_unicode_gets_ascii() -> None:
    text = shown(SITUATIONS, unicode=False)
    assert text.isascii()
    assert "L+ R+ S+" in text
    assert "Lx2/3 Rx3/3" in text
    assert "L. Sx4/30" in text


LONG = "a-name-that-is-much-too-long-for-a-terminal-" * 3
FAILS = {"last": FAILED, "result": "Failure", "failure_threshold": 30}


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
@pytest.mark.parametrize("node", ["node-a", "ip-10-0-12-34.eu-central-1.compute.internal"])
def test_no_line_is_wider_than_the_terminal_and_none_is_broken(width: int, node: str) -> None:
    failing = container(
        "log-shipper-sidecar",
        state="waiting",
        reason="CreateContainerConfigError",
        probes={name: probe(**FAILS) for name in ("liveness", "readiness", "startup")},
    )
    long = pod(LONG, container(probes={"liveness": probe(last=FAILED)}), failing, namespace="shop-production")
    status = document(long, *SITUATIONS["pods"], node=node)
    lines = shown(status, width=width).splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) == len(shown(status, width=1_000).splitlines())
    assert [line for line in lines if line != line.rstrip()] == []


def test_a_narrow_terminal_keeps_readiness_state_and_probes() -> None:
    assert (
        shown(SITUATIONS, width=60)
        == """\
node-a: 6 pods, 1 ready at 14:02:11 UTC
POD           READY  STATE             RESTARTS  PROBES
web           1/1    Running           0         L✓ R✓ S✓
deadlock      0/1    Running           2         L✗2/3 R✗3/3
  └ liveness, 10s ago: HTTP probe failed …th statuscode: 500
  └ readiness, 10s ago: HTTP probe failed…th statuscode: 500
crasher       0/1    CrashLoopBackOff  3, next…
  └ exit 1, 12s ago: Error
slow-starter  0/1    Starting          0         L· S✗4/30
  └ startup, 10s ago: Get "http://127.8.…0: connect: refused
two           2/2    Running           0
  app         1/1    Running           0         R✓1/3
  proxy       1/1    Running           0         L✓
  migrate     0/1    Completed         0
job           0/1    Error (exit 137)  0
  └ exit 137: Killed
"""
    )
    assert (
        shown(SITUATIONS, width=40)
        == """\
node-a: 6 pods, 1 ready at 14:02:11 UTC
POD       READY  STATE       PROBES
web       1/1    Running     L✓ R✓ S✓
deadlock  0/1    Running     L✗2/3 R✗3/3
  └ liveness, 10s ago: HTTP pro…ode: 500
  └ readiness, 10s ago: HTTP pr…ode: 500
crasher   0/1    CrashLoop…
  └ exit 1, 12s ago: Error
slo…rter  0/1    Starting    L· S✗4/30
  └ startup, 10s ago: Get "htt…: refused
two       2/2    Running
  app     1/1    Running     R✓1/3
  proxy   1/1    Running     L✓
  m…rate  0/1    Completed
job       0/1    Error (ex…
  └ exit 137: Killed
"""
    )


def test_the_message_of_a_probe_keeps_its_end_and_the_output_of_a_container_its_beginning() -> None:
    refused = last("failure", f"dial tcp [fd00:10:244:1::5]:8443: {'x' * 80}: connection refused")
    exit_ = {"at": None, "exit_code": 1, "reason": "Error", "message": f"the port is taken {'x' * 80} end"}
    crashed = container(state="waiting", last_exit=exit_, probes={"liveness": probe(last=refused)})
    _, _, _, of_probe, of_exit = shown(document(pod("web", crashed)), width=80).splitlines()
    assert of_probe.startswith("  └ liveness, 10s ago: dial tcp [fd00:10:244:1::5]")
    assert of_probe.endswith("…xxxxxxxx: connection refused")
    assert of_exit.startswith("  └ exit 1: the port is taken xxx")
    assert of_exit.endswith("x…")


@pytest.mark.parametrize(
    ("width", "names"),
    [
        (80, ["shop-production/checkout-7d9f8b6c5-x2x9z", "shop-production/checkout-7d9f8b6c5-zz4q1", "default/web"]),
        (60, ["…/checkout-7d9f8b6c5-x2x9z", "…/checkout-7d9f8b6c5-zz4q1", "default/web"]),
        (40, ["shop-pr…c5-x2x9z", "shop-pr…c5-zz4q1", "default/web"]),
    ],
)
def test_a_name_that_is_cut_still_tells_its_pod(width: int, names: list[str]) -> None:
    pods = [pod(f"checkout-7d9f8b6c5-{end}", container(), namespace="shop-production") for end in ("x2x9z", "zz4q1")]
    lines = shown(document(*pods, pod("web", container())), width=width).splitlines()[2:]
    assert [line.split(" ")[0] for line in lines] == names


def test_a_prober_error_is_no_failure() -> None:
    status = document(
        pod("web", container(probes={"liveness": probe(last=last("error", "rpc error: code = Unavailable"))}))
    )
    assert shown(status).splitlines()[2:] == [
        "web  1/1    Running  0         L!",
        "  └ liveness, 10s ago: rpc error: code = Unavailable",
    ]
    assert "has a prober error" in on_the_page(status)


def test_a_long_name_is_cut_before_the_probes() -> None:
    long = pod("a-name-that-is-much-too-long-for-a-terminal-" * 3, container(probes={"liveness": probe()}))
    line = shown(document(long)).splitlines()[2]
    assert "a-name-that-is-much" in line
    assert "…" in line
    assert line.endswith("L✓")


def test_wide_characters_keep_the_columns() -> None:
    rows = shown(document(pod("漢字", container()), pod("ascii", container()))).splitlines()[2:]
    assert rows[0].index("1/1") + 2 == rows[1].index("1/1")


def test_a_message_cannot_command_the_terminal() -> None:
    message = "\x1b[2J\x1b]0;owned\x07 two\nlines \u202e\x9b"
    text = shown(document(pod("web", container(probes={"liveness": probe(last=last("failure", message))}))))
    assert all(char.isprintable() or char == "\n" for char in text)
    assert "two lines" in text


def test_markup_in_a_message_is_text() -> None:
    status = document(pod("web", container(probes={"liveness": probe(last=last("failure", "[red]no[/red] :smile:"))})))
    assert "[red]no[/red] :smile:" in shown(status)


@pytest.mark.parametrize(
    ("words", "code"), [("L✗2/3", "33"), ("R✗3/3", "31"), ("CrashLoopBackOff", "33"), ("L·", "2"), ("S✓", "32")]
)
def test_colours_follow_the_severity(words: str, code: str) -> None:
    assert f"\x1b[{code}m{words}\x1b[0m" in shown(SITUATIONS, color=True)


def test_mistakes_of_the_manifests_come_last_and_a_pod_that_they_hold_back_says_so() -> None:
    old = pod("web", container(), manifest_error="web.yaml:3: spec: x")
    two = pod("two", container("a"), container("b"), manifest_error="two.yaml:1: not YAML")
    error = {
        "path": "web.yaml",
        "line": 3,
        "kind": "Pod",
        "namespace": "",
        "name": "web",
        "field": "spec",
        "message": "x",
    }
    lines = shown(document(old, two, manifest_errors=[error], manifest_errors_total=3), width=120).splitlines()
    assert lines[3] == "  └ runs its earlier manifest, the newest has a mistake: web.yaml:3: spec: x"
    assert lines[5] == "  └ runs its earlier manifest, the newest has a mistake: two.yaml:1: not YAML"
    assert lines[-2:] == ["error: web.yaml:3: spec: x", "error: and 2 more in the manifests"]
    assert shown(document(manifest_errors=[error], manifest_errors_total=1)).splitlines()[1:] == [lines[-2]]


@pytest.mark.parametrize("containers", [1, 2])
def test_a_pod_that_waits_for_a_readiness_gate_says_so_once(containers: int) -> None:
    message = 'corresponding condition of pod readiness gate "lb" does not exist.'
    waiting = {"ready": False, "ready_reason": "ReadinessGatesNotReady", "ready_message": message}
    gated = pod("web", *(container(f"c{number}") for number in range(containers)), **waiting)
    unready = {"ready": False, "ready_reason": "ContainersNotReady", "ready_message": "containers with unready status"}
    status = document(gated, pod("other", container(), **unready))
    assert shown(status, width=120).count(f"└ not ready: {message}") == 1
    page = on_the_page(status)
    assert page.count("not ready: corresponding condition") == 1
    assert "unready status" not in shown(status) + page, "the containers' own sentences say that"


@pytest.mark.parametrize(
    ("state", "exit_code", "style"),
    [("running", None, ""), ("waiting", None, "yellow"), ("terminated", 0, "dim"), ("terminated", 137, "red")],
)
def test_a_completed_container_is_dim_and_a_failed_one_red(state: str, exit_code: int | None, style: str) -> None:
    assert state_style(container(state=state, exit_code=exit_code)) == style
