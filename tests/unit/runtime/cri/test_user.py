"""The user of ``run --user``, and what its programs get."""

import os
import pwd

import pytest
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.embedded.child import spawn
from probelet.runtime.embedded.child.user import User, UserError, find_user, user_of

WEB = User(1234, 1234, (1234, 33), "web", "/srv/web")


def test_a_name_and_its_number_are_the_same_user() -> None:
    entry = pwd.getpwuid(os.getuid())
    user = find_user(entry.pw_name)
    assert user == find_user(str(entry.pw_uid)) == user_of(entry.pw_uid)
    assert (user.uid, user.gid, user.home) == (entry.pw_uid, entry.pw_gid, entry.pw_dir)
    assert str(user) == f"{entry.pw_name} (uid {entry.pw_uid})"


def test_a_number_without_an_entry_has_no_group_of_others() -> None:
    user = find_user("1999999999")
    assert user == User(1_999_999_999, 1_999_999_999, (1_999_999_999,), "", "/")
    assert str(user) == "uid 1999999999"
    assert user.variables() == {b"HOME": b"/"}


@pytest.mark.parametrize("text", ["", "no-such-user", "-1", "root:root", "4294967295", "9" * 5000, "²", "a\0b"])
def test_what_is_no_user_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UserError) as refused:
        find_user(text)
    assert "\n" not in str(refused.value)


def test_a_user_gets_nothing_of_the_home_of_probelets_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environb", {b"PATH": b"/bin", b"HOME": b"/own", b"USER": b"root", b"TMPDIR": b"/own/t"})
    config = api_pb2.ContainerConfig(envs=[api_pb2.KeyValue(key="HOME", value=b"/data")])
    made = spawn.environment(api_pb2.ContainerConfig(), "id", "", "/r", user=WEB)
    assert {name: made.get(name) for name in (b"PATH", b"HOME", b"USER", b"TMPDIR")} == {
        b"PATH": b"/bin",
        b"HOME": b"/srv/web",
        b"USER": b"web",
        b"TMPDIR": None,
    }
    assert spawn.environment(config, "id", "", "/r", user=WEB)[b"HOME"] == b"/data"
