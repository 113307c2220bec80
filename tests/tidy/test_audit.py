"""``make audit`` fails for a licence that is not allowed and for a version with a known defect."""

import json
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tools.audit import __main__ as audit
from tools.audit import advisories, licences
from tools.audit.licences import AllowList, is_allowed
from tools.audit.packages import Package, crates, distributions

ALLOWED = frozenset({"MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"})
ALLOW_LIST = AllowList(ALLOWED, {"The MIT": "MIT"}, {"wordy": "MIT"})


def crate(name: str, version: str = "1.0.0", licence: str = "MIT") -> Package:
    return Package("crates.io", name, version, licence)


@pytest.mark.parametrize(
    ("expression", "good"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("GPL-3.0-only OR MIT", True),
        ("GPL-3.0-only/MIT", True),
        ("GPL-3.0-only AND MIT", False),
        ("MIT OR GPL-3.0-only AND GPL-2.0-only", True),
        ("(MIT OR GPL-3.0-only) AND GPL-2.0-only", False),
        ("(GPL-3.0-only OR (MIT)) AND Apache-2.0", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("MIT WITH LLVM-exception", False),
    ],
)
def test_an_expression_is_evaluated(expression: str, good: bool) -> None:
    assert is_allowed(expression, ALLOWED) is good


@pytest.mark.parametrize("text", ["", "MIT License", "(MIT", "MIT)", "MIT AND", "OR MIT", "MIT; see file", "MIT OR"])
def test_a_text_that_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"unexpected|missing"):
        is_allowed(text, ALLOWED)


def test_a_bad_licence_is_one_line() -> None:
    packages = [crate("good"), crate("bad", licence="GPL-3.0-only"), crate("vague", licence="see\nthe file")]
    assert licences.problems(packages, ALLOW_LIST) == [
        "crates.io bad 1.0.0: licence GPL-3.0-only is not in the allow-list",
        "crates.io vague 1.0.0: declares no SPDX expression ('see the file'): add it to licences.toml",
    ]


def test_the_allow_list_knows_other_spellings_and_packages_without_one() -> None:
    assert licences.problems([crate("a", licence="The MIT"), crate("wordy", licence="long text")], ALLOW_LIST) == []


def test_the_allow_list_names_no_package_that_is_not_locked() -> None:
    locked = {package.name for package in [*crates(ROOT), *distributions(ROOT)]}
    assert set(licences.read().packages) - locked == set()


def advisory(folder: Path, ecosystem: str, name: str, *events: dict[str, str], **more: object) -> Path:
    kind = "SEMVER" if ecosystem == "crates.io" else "ECOSYSTEM"
    ranges = [{"type": kind, "events": list(events)}]
    affected = [{"package": {"ecosystem": ecosystem, "name": name}, "ranges": ranges}]
    (folder / f"{name}.json").write_text(json.dumps({"id": "X-1", "summary": "bad", "affected": affected, **more}))
    return folder


@pytest.mark.parametrize(
    ("version", "found"),
    [
        ("0.9.0", False),
        ("1.0.0-rc.1", False),
        ("1.0.0", True),
        ("1.2.3-rc.10", True),
        ("1.2.3", False),
        ("2.0.0", True),
    ],
)
def test_a_crate_in_an_affected_range_is_found(version: str, found: bool, tmp_path: Path) -> None:
    database = advisory(
        tmp_path, "crates.io", "a", {"introduced": "1.0.0"}, {"fixed": "1.2.3"}, {"introduced": "2.0.0"}
    )
    expected = [f"crates.io a {version}: X-1 bad"] if found else []
    assert advisories.problems([crate("a", version), crate("b", version)], database) == expected


@pytest.mark.parametrize(("version", "found"), [("1.9", True), ("1.10", True), ("1.10.post1", False)])
def test_a_python_package_in_an_affected_range_is_found(version: str, found: bool, tmp_path: Path) -> None:
    database = advisory(tmp_path, "PyPI", "Some_Name", {"introduced": "0"}, {"last_affected": "1.10"})
    assert bool(advisories.problems([Package("PyPI", "some-name", version, "MIT")], database)) is found


def test_an_advisory_in_yaml_that_lists_versions_is_read(tmp_path: Path) -> None:
    text = "id: PYSEC-1\naffected:\n- package: {ecosystem: PyPI, name: a}\n  versions: ['1.0']\n"
    (tmp_path / "PYSEC-1.yaml").write_text(text)
    assert advisories.problems([Package("PyPI", "a", "1.0", "MIT")], tmp_path) == ["PyPI a 1.0: PYSEC-1"]
    assert advisories.problems([crate("a", "1.0.0")], tmp_path) == []


def test_a_withdrawn_advisory_does_not_count(tmp_path: Path) -> None:
    database = advisory(tmp_path, "crates.io", "a", {"introduced": "0"}, withdrawn="2026-01-01T00:00:00Z")
    assert advisories.problems([crate("a")], database) == []


def test_a_folder_without_advisories_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="holds no advisory"):
        advisories.problems([crate("a")], tmp_path)


def test_the_locked_packages_pass_and_advisories_are_skipped_in_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ADVISORY_DB", raising=False)
    assert audit.main() == 0
    assert "advisories: skipped, ADVISORY_DB names no database" in capsys.readouterr().out


def test_an_advisory_about_a_locked_package_fails_the_audit(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ADVISORY_DB", str(advisory(tmp_path, "crates.io", "tokio", {"introduced": "0"})))
    assert audit.main() == 1
    assert "tokio" in capsys.readouterr().err
