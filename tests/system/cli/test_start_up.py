"""Imports of a verb: a query must not import the service, and the list of verbs must not import any verb."""

import os
import subprocess
import sys

import pytest
from probelet_conformance.handlers.server.certificate import OURS

from tests.support.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.e2e

HEAVY = ("aiohttp", "asyncio", "google.protobuf", "grpc", "structlog", "watchfiles", "yaml")


@pytest.mark.parametrize(
    ("line", "also_absent"),
    [
        ("--help", ("msgspec", "probelet.cli.ask.status", "probelet.cli.serve.run", "probelet.spec")),
        ("version", ("msgspec", "rich.table", "probelet.cli.serve.run", "probelet.spec")),
        ("status --help", ("msgspec", "probelet.cli.serve.run", "probelet.spec")),
        ("status --state-dir /proc/nowhere", ("probelet.cli.serve.run", "probelet.spec")),
        ("events --help", ("msgspec", "probelet.cli.serve.run", "probelet.spec")),
        ("probe --help", ("msgspec", "probelet.cli.probe.target", "probelet.cli.serve.run", "probelet.spec")),
        ("run --help", ("probelet.spec", "probelet.node")),
        ("lint --help", ("msgspec", "probelet.lint", "probelet.spec")),
        ("stress --help", ("msgspec", "probelet.lab.stress", "probelet.backoff", "probelet.spec")),
        ("backoff --help", ("msgspec", "probelet.backoff", "probelet.spec")),
        ("backoff table --help", ("msgspec", "probelet.backoff", "probelet.spec")),
    ],
)
def test_a_verb_imports_only_what_it_needs(line: str, also_absent: tuple[str, ...]) -> None:
    program = (
        "import sys\nfrom probelet.cli.app import run_command\nrun_command(sys.argv[1:])\n"
        f"print(*sorted(set({(*HEAVY, *also_absent)!r}) & set(sys.modules)), sep='\\n', file=sys.stderr)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, *line.split()], capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
    message = [word for word in ended.stderr.splitlines() if not word.startswith(("probelet ", "  try:"))]
    assert [word for word in message if word] == []


def test_a_node_by_itself_does_not_read_the_client_of_an_api_server() -> None:
    program = "import sys, probelet.daemon.run\nprint(*sorted({'httpx2', 'lightkube'} & set(sys.modules)))"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert (ended.returncode, ended.stdout.strip()) == (0, "")


AUTHORITIES = """
import asyncio, gc, ssl
import probelet.daemon.libraries
from probelet.server.post import JsonPost

def read():
    return sorted(found.cert_store_stats()["x509"] for found in gc.get_objects() if isinstance(found, ssl.SSLContext))

async def main():
    print(read())
    async with JsonPost("http://alertmanager"):
        print(read())
    async with JsonPost("https://alertmanager"):
        print(read())

asyncio.run(main())
"""


def test_a_service_reads_the_certificate_authorities_only_for_a_request_over_tls() -> None:
    environment = {**os.environ, "SSL_CERT_FILE": str(OURS / "ecdsa.pem"), "SSL_CERT_DIR": os.devnull}
    ended = subprocess.run(
        [sys.executable, "-c", AUTHORITIES], env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
    assert (ended.stdout.splitlines(), ended.stderr) == (["[0, 0]", "[0, 0]", "[0, 0, 1]"], "")


AUTHORITIES_OF_A_VERB = """
import gc, ssl, sys
from probelet.cli.app import run_command

run_command(sys.argv[2:])
assert sys.argv[1] in sys.modules
print(sorted(found.cert_store_stats()["x509"] for found in gc.get_objects() if isinstance(found, ssl.SSLContext)))
"""


@pytest.mark.parametrize(
    ("line", "service"),
    [
        ("run /dev/null", "probelet.daemon.run"),
        ("serve --listen nowhere", "probelet.daemon.serve"),
        ("agent --listen nowhere", "probelet.daemon.cluster.agent"),
        ("controller --listen nowhere", "probelet.daemon.cluster.controller"),
        ("webhook", "probelet.daemon.cluster.webhook"),
    ],
)
def test_a_verb_that_serves_starts_without_the_certificate_authorities(line: str, service: str) -> None:
    """Each line has a mistake that is found after everything is imported."""
    environment = {**os.environ, "SSL_CERT_FILE": str(OURS / "ecdsa.pem"), "SSL_CERT_DIR": os.devnull}
    ended = subprocess.run(
        [sys.executable, "-c", AUTHORITIES_OF_A_VERB, service, *line.split()],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert ended.stdout.splitlines() == ["[0, 0]"], ended.stderr


def test_the_log_of_a_service_reads_no_library_for_colours_and_help_has_them() -> None:
    program = (
        "import sys\nimport probelet.daemon.libraries, structlog, probelet.daemon.logging\n"
        "print('rich' in sys.modules)\nimport rich\nprint(structlog.dev.rich, rich.__name__)"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert (ended.stdout.splitlines(), ended.stderr) == (["False", "None rich"], "")


def test_the_embedded_runtime_reads_neither_manifests_nor_a_library_for_its_log() -> None:
    heavy = {"probelet.spec", "structlog", "yaml"}
    program = f"import sys, probelet.runtime.embedded.server\nprint(*sorted({heavy!r} & set(sys.modules)))"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert (ended.returncode, ended.stdout.strip()) == (0, "")


@pytest.mark.parametrize("line", ["--help", "status --help", "run --help"])
def test_a_terminal_without_unicode_is_no_error(line: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "probelet", *line.split()],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        timeout=PATIENCE_SECONDS,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert b"Usage: probelet" in ended.stdout


def test_a_reader_that_closes_the_pipe_is_no_error() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "probelet", "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as ended:
        assert ended.stdout is not None
        assert ended.stderr is not None
        ended.stdout.close()
        assert ended.stderr.read() == ""
    assert ended.returncode == 0
