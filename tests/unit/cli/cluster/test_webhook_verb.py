"""``probelet webhook``: mistakes on its command line, and certificates that cannot serve."""

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Probelet


@pytest.fixture(autouse=True)
def in_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.parametrize(
    "flags",
    [
        [],
        ["--cert-file", "tls.crt"],
        ["--key-file", "tls.key"],
        ["--self-signed", "--cert-file", "tls.crt"],
        ["--self-signed", "--cert-file", "tls.crt", "--key-file", "tls.key"],
    ],
)
def test_it_wants_one_source_of_the_certificate(probelet: Probelet, flags: list[str]) -> None:
    ended = probelet("webhook", *flags)
    assert (ended.code, ended.err) == (
        2,
        "probelet webhook: want either --cert-file and --key-file, or --self-signed\n",
    )


@pytest.mark.parametrize("flags", [["--configuration", "zz-probelet"], ["--host", "127.0.0.1"]])
def test_flags_of_its_own_authority_are_refused_with_files(probelet: Probelet, flags: list[str]) -> None:
    ended = probelet("webhook", "--cert-file", "tls.crt", "--key-file", "tls.key", *flags)
    assert ended.code == 2
    assert "--configuration and --host are for --self-signed" in ended.err


@pytest.mark.parametrize("text", ["10", "59s", ""])
def test_a_fallback_that_names_no_time_is_refused_with_what_is_allowed(probelet: Probelet, text: str) -> None:
    ended = probelet("webhook", "--self-signed", f"--fallback={text}")
    said = f'--fallback: Invalid value: "{text}": must be a duration of at least 1m, or none'
    assert (ended.code, ended.err) == (2, f"probelet webhook: {said}\n")


@pytest.mark.parametrize("flag", ["--listen", "--listen-health"])
def test_an_address_names_its_flag(probelet: Probelet, flag: str) -> None:
    files = ("--cert-file", "tls.crt", "--key-file", "tls.key")
    given = ("--listen", "127.0.0.1:0") if flag != "--listen" else ()
    ended = probelet("webhook", *files, *given, flag, "9443")
    assert ended.code == 2
    assert ended.err.startswith(f"probelet webhook: {flag} '9443': want HOST:PORT")


def test_files_that_are_not_there_are_a_reason_not_to_start(probelet: Probelet) -> None:
    ended = probelet("webhook", "--listen", "127.0.0.1:0", "--cert-file", "tls.crt", "--key-file", "tls.key")
    assert (ended.code, ended.err) == (3, "probelet webhook: tls.crt: No such file or directory\n")


def test_an_api_server_that_nobody_names_is_one_line(probelet: Probelet) -> None:
    # The same exit code as that of the other verbs of a cluster.
    ended = probelet("webhook", "--listen", "127.0.0.1:0", "--self-signed")
    assert ended.code == 3
    assert ended.err.startswith("probelet webhook: ")
    assert ".kube/config" in ended.err
    assert ended.err.count("\n") == 1
