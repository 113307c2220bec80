import re

from tests.support.paths import ROOT
from tools.install.requirements import closure, runtime_lock


def test_an_installation_gets_what_probelet_needs_with_hashes_and_no_tool_of_its_developers() -> None:
    lock = runtime_lock(ROOT, "3.11.2")
    names = re.findall(r"^([\w.-]+)==", lock, re.MULTILINE)
    assert {"aiohttp", "multidict", "rich", "pygments", "grpcio", "protobuf"} <= set(names)
    assert not {"pytest", "mypy", "ruff", "maturin", "hypothesis", "matplotlib", "pip"} & set(names)
    assert all("--hash=sha256:" in part for part in re.split(r"^(?=\S)", lock, flags=re.MULTILINE) if part)
    whole = (ROOT / "requirements.lock").read_text()
    assert all(line in whole for line in lock.splitlines())


def test_an_older_python_than_that_of_the_developers_gets_its_backports() -> None:
    texts = ["idna", "backports-of-something; python_version < '3.12'"]
    assert closure(texts, "3.11.2") == {"idna", "backports-of-something"}
    assert closure(texts, "3.13.0") == {"idna"}
