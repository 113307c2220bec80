"""``make install`` into a staging folder, which then becomes the machine, as a package does; and ``make uninstall``."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from probelet.cli.verbs import VERBS

from tests.support.example import run_an_example
from tests.support.paths import ROOT
from tests.support.required import missing

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(300)]

# Compiled programs name the sources of their lines, and a list of their parts where each was.
COMPILED = re.compile(r"\.so$|/probelet-(enter|target)$|/sboms/")


def make(target: str, prefix: Path, destination: Path | str) -> str:
    variables = (f"PREFIX={prefix}", f"DESTDIR={destination}", f"PYTHON={sys.executable}")
    ended = subprocess.run(["make", target, *variables], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stage")


@pytest.fixture(scope="module")
def prefix(stage: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an installation that was staged elsewhere."""
    place = tmp_path_factory.mktemp("machine") / "usr"
    make("install", place, stage)
    shutil.move(stage / place.relative_to("/"), place)
    return place


def run(*command: str | Path, **variables: str) -> str:
    ended = subprocess.run(
        [*map(str, command)], env={**os.environ, **variables}, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_symlink() or path.is_file()]


def test_nothing_names_the_checkout_or_the_staging_folder(prefix: Path, stage: Path) -> None:
    names = (str(ROOT).encode(), str(stage).encode(), b".probelet.new")
    content = {path: path.read_bytes() for path in files(prefix) if not COMPILED.search(str(path)) and path.is_file()}
    assert [str(path) for path, data in content.items() if any(name in data for name in names)] == []
    compiled = (prefix / "lib/probelet").glob("lib/python3*/site-packages/probelet/cli/__pycache__/app.*.pyc")
    assert [str(prefix).encode() in path.read_bytes() for path in compiled] == [True]


def test_the_launcher_runs_and_what_the_caller_has_installed_does_not_matter(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "probelet.py").write_text("raise SystemExit('not this one')\n")
    version = re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert version is not None
    assert run(prefix / "bin/probelet", "--version", PYTHONPATH=str(tmp_path)) == f"{version[1]}\n"


def test_it_runs_an_example_on_the_embedded_runtime(prefix: Path, tmp_path: Path) -> None:
    run_an_example(prefix / "bin/probelet", ROOT, tmp_path / "state")


def test_the_units_name_what_is_installed(prefix: Path) -> None:
    for folder in ("system", "user"):
        unit = (prefix / "lib/systemd" / folder / "probelet.service").read_text()
        named = re.findall(rf"{prefix}/[\w/.-]+", unit)
        assert str(prefix / "bin/probelet") in named
        assert [path for path in named if not Path(path).exists()] == []
        assert "/usr/local" not in unit


def test_the_sample_configuration_is_valid(prefix: Path) -> None:
    shown = run(prefix / "bin/probelet", "config", "show", "--config", prefix / "etc/probelet/config.yaml")
    assert "warning" not in shown
    assert list((prefix / "etc/probelet/manifests").iterdir()) == []


def test_prometheus_finds_the_installed_rules(prefix: Path) -> None:
    folder = prefix / "share/probelet/prometheus"
    assert {path.name for path in folder.iterdir()} == {"alerts.yaml", "prometheus.yaml"}
    if shutil.which("promtool") is None:
        missing("promtool", "no promtool; on Debian: apt-get install prometheus")
    said = run("promtool", "check", "config", folder / "prometheus.yaml")
    assert re.search(rf"Checking {re.escape(str(folder))}/alerts.yaml\n +SUCCESS: 13 rules found", said), said


def test_the_dashboard_is_that_of_the_checkout(prefix: Path) -> None:
    installed = json.loads((prefix / "share/probelet/grafana/probelet.json").read_text())
    assert installed == json.loads((ROOT / "deploy/grafana/probelet.json").read_text())


def test_the_schema_is_that_of_the_installed_version(prefix: Path) -> None:
    schema = prefix / "share/probelet/config.schema.json"
    assert json.loads(schema.read_text()) == json.loads(run(prefix / "bin/probelet", "config", "schema"))
    assert schema.stat().st_mode & 0o777 == 0o644


def test_each_verb_has_a_man_page(prefix: Path) -> None:
    found = {path.name for path in (prefix / "share/man/man1").iterdir()}
    assert found == {"probelet.1", *(f"probelet-{verb.name}.1" for verb in VERBS)}


ASK = {
    "bash": (
        ". '{script}'; COMP_WORDS=(probelet st); COMP_CWORD=1; _probelet; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        "share/bash-completion/completions/probelet",
    ),
    "fish": ("source '{script}'; complete -C 'probelet st'", "share/fish/vendor_completions.d/probelet.fish"),
    # Without a terminal zsh completes nothing: that it loads the function has to do.
    "zsh": (
        "fpath=('{script}'(:h) $fpath); autoload +X -Uz _cyclopts_probelet && print -l $functions[_cyclopts_probelet]",
        "share/zsh/site-functions/_cyclopts_probelet",
    ),
}


@pytest.mark.parametrize("shell", ASK)
def test_a_shell_completes_verbs(prefix: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        missing(shell, f"no {shell}; on Debian: apt-get install {shell}")
    program, script = ASK[shell]
    said = run(shell, "-c", program.format(script=prefix / script))
    assert "status" in said
    assert "stress" in said


def test_uninstall_leaves_nothing(prefix: Path) -> None:
    """The last test here, because it takes the installation away."""
    others = prefix / "share/man/man1/other.1"
    others.touch()
    assert (prefix / "share/probelet").is_dir()
    said = make("uninstall", prefix, "")
    assert "stays" not in said
    assert files(prefix) == [others]
    assert not (prefix / "lib/probelet").exists()
    assert not (prefix / "etc/probelet").exists()
    assert not (prefix / "share/probelet").exists()
