from pathlib import Path

import pytest

from tools.install.__main__ import enabling
from tools.install.layout import InstallError, Layout, remove_files, write_file


def test_a_staged_path_is_below_the_destination() -> None:
    layout = Layout(Path("/usr"), Path("/etc"), Path("/stage"))
    assert layout.staged(layout.launcher) == Path("/stage/usr/bin/probelet")
    assert layout.shebang == "#!/usr/lib/probelet/bin/python -I"
    assert Layout(Path("/usr"), Path("/etc"), None).staged(layout.launcher) == Path("/usr/bin/probelet")


@pytest.mark.parametrize(
    ("prefix", "line"),
    [
        ("usr", 'PREFIX: "usr" must be an absolute path without ".."'),
        ("/a/../b", 'PREFIX: "/a/../b" must be an absolute path without ".."'),
        ("/my programs", 'PREFIX: "/my programs" must have no white space and at most 98 bytes, because '),
        ("/" + "x" * 98, "must have no white space and at most 98 bytes, because the launcher's first line names it"),
    ],
)
def test_a_prefix_that_the_launcher_cannot_name_is_refused(prefix: str, line: str) -> None:
    with pytest.raises(InstallError) as caught:
        Layout(Path(prefix), Path("/etc"), None)
    assert line in str(caught.value)


def test_the_longest_prefix_fits_into_the_first_line_of_a_script() -> None:
    assert len(Layout(Path("/" + "x" * 97), Path("/etc"), None).shebang) == 127


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        ("/usr/local", "systemctl daemon-reload && systemctl enable --now probelet"),
        ("/usr", "systemctl daemon-reload && systemctl enable --now probelet"),
        ("/opt/probelet", "systemctl enable --now /opt/probelet/lib/systemd/system/probelet.service"),
    ],
)
def test_systemd_gets_the_path_of_a_unit_that_it_would_not_find(prefix: str, command: str) -> None:
    assert enabling(Layout(Path(prefix), Path("/etc"), None)) == command


def test_what_others_put_into_a_shared_folder_stays(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "usr", tmp_path / "etc", None)
    for path in (layout.schema, *layout.watching.values()):
        write_file(path, "ours")
    mine = layout.shared / "prometheus" / "mine.yaml"
    mine.write_text("mine")
    remove_files(layout)
    assert [path for path in layout.shared.rglob("*") if path.is_file()] == [mine]
    mine.unlink()
    remove_files(layout)
    assert not layout.shared.exists()
