"""The Rust crates keep their layers, and the check that says so finds what breaks them."""

from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.tidy.rust_layers import DOCUMENT, floors_of, violations

CRATES = floors_of(DOCUMENT.read_text())


def test_the_crates_that_hold_logic_have_floors() -> None:
    names = ("core", "engine", "enter", "enter-protocol", "golang", "play", "target")
    assert CRATES.keys() == {f"rust/{name}" for name in names}


@pytest.mark.parametrize("crate", CRATES)
def test_the_crates_keep_their_floors(crate: str) -> None:
    assert violations(ROOT / crate, CRATES[crate]) == []


@pytest.mark.parametrize("crate", ["golang", "play"])
def test_a_pure_crate_has_the_bans_of_the_core_and_no_unsafe_code(crate: str) -> None:
    folder = ROOT / "rust" / crate
    assert (folder / "clippy.toml").resolve() == ROOT / "rust" / "core" / "clippy.toml"
    assert "#![forbid(unsafe_code)]" in (folder / "src" / "lib.rs").read_text()


def found(tmp_path: Path, changed: dict[str, str]) -> list[str]:
    """What is wrong with a crate of a few files, some of which hold something else than they should."""
    files = {
        "lib.rs": "mod http;\nmod live;\nmod net;\nmod words;\n",
        "words.rs": "pub struct Word;\n",
        "net/mod.rs": "mod dial;\npub use self::dial::dial;\n",
        "net/dial.rs": "use crate::words::Word;\npub fn dial(_: Word) {}\n",
        "http.rs": "use crate::words;\n",
        "live.rs": "use crate::{http, net::dial};\n",
    }
    crate = tmp_path / "made_up"
    for name, text in (files | changed).items():
        path = crate / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    floors = floors_of("```layers made_up\nlive\nhttp | net\nwords\n```\n")
    return violations(crate, floors["made_up"])


def test_a_crate_in_order_has_no_violation(tmp_path: Path) -> None:
    assert found(tmp_path, {}) == []


@pytest.mark.parametrize(
    "text",
    [
        "use crate::live;",
        "use crate::{\n    live::{Engine as E, State},\n};",
        "pub(crate) use super::live::Engine;",
        "fn late() -> crate::live::Engine { todo!() }",
        """fn quote() -> char { '"' }\nuse crate::live::Engine;\nfn end() -> char { '"' }""",
    ],
)
def test_an_import_of_an_upper_floor_is_a_violation(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, {"words.rs": text, "live.rs": ""}) == [
        "made_up: words.rs imports live.rs, but words stands no higher than live"
    ]


def test_names_of_one_floor_do_not_import_each_other(tmp_path: Path) -> None:
    assert found(tmp_path, {"http.rs": "use crate::net::Limit;"}) == [
        "made_up: http.rs imports net/mod.rs, but http stands no higher than net"
    ]


@pytest.mark.parametrize("parent", ["pub use self::dial::dial;", "pub use dial::dial;", "fn a() { dial::dial() }"])
@pytest.mark.parametrize("child", ["use super::Limit;", "use super::*;", "type L = crate::net::Limit;"])
def test_a_child_that_imports_the_parent_that_imports_it_is_a_circle(tmp_path: Path, parent: str, child: str) -> None:
    changed = {"net/mod.rs": f"mod dial;\n{parent}\npub struct Limit;\n", "net/dial.rs": child}
    assert found(tmp_path, changed) == [
        "made_up: these files import each other in a circle: net/dial.rs -> net/mod.rs -> net/dial.rs"
    ]


def test_a_circle_is_told_once_and_by_its_shortest_way(tmp_path: Path) -> None:
    changed = {
        "net/mod.rs": "mod a;\nmod b;\nmod c;\n",
        "net/dial.rs": "",
        "net/a.rs": "use super::b::B;\nuse super::c::C;",
        "net/b.rs": "use super::c::C;",
        "net/c.rs": "use super::a::A;",
    }
    assert found(tmp_path, changed) == [
        "made_up: these files import each other in a circle: net/a.rs -> net/c.rs -> net/a.rs"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "// use crate::live;",
        "/* use crate::live; */",
        'const HELP: &str = "use crate::live;";',
        'const HELP: &str = r#"say "use crate::live;""#;',
        "#[cfg(test)]\nmod tests {\n    use crate::live;\n    fn one() { if true {} }\n}",
        "#[cfg(test)]\nuse crate::live;",
        "use std::live;",
        "mod live;",
    ],
)
def test_what_is_no_import_is_no_violation(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, {"words.rs": text, "live.rs": ""}) == []


def test_a_file_without_a_floor_and_a_floor_without_a_file_are_violations(tmp_path: Path) -> None:
    (tmp_path / "made_up" / "src").mkdir(parents=True)
    (tmp_path / "made_up" / "src" / "new.rs").touch()
    assert found(tmp_path, {}) == ["made_up: new.rs has no floor"]
    (tmp_path / "made_up" / "src" / "new.rs").unlink()
    (tmp_path / "made_up" / "src" / "http.rs").unlink()
    crate = tmp_path / "made_up"
    floors = [["live"], ["http", "net"], ["words"]]
    assert violations(crate, floors) == ["made_up: no file belongs to http, which has a floor"]
