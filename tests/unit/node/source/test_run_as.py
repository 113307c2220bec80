"""``run --user``: no manifest chooses another user, and a stand-in is none of its programs."""

from pathlib import Path

import pytest
from probelet.cli.exit import CliError
from probelet.cli.serve.programs import Programs, read_user
from probelet.node.source.stand_ins import StandIns
from probelet.runtime.embedded.child.user import User
from probelet.spec.model.pod import Pod
from probelet.spec.read.load import read_pods
from probelet.spec.read.objects import Rules

WEB = User(1234, 1234, (1234,), "web", "/")
TEXT = """
apiVersion: v1
kind: Pod
metadata: {name: shop}
spec:
  securityContext: {runAsUser: 0}
  initContainers:
  - {name: first, command: [/bin/true], securityContext: {runAsUser: 0}}
  containers:
  - {name: own, command: [/bin/sleep, "60"], securityContext: {runAsUser: 0, privileged: true}}
  - {name: image, image: nginx, securityContext: {runAsUser: 0}}
"""


def users(pod: Pod) -> dict[str, int | None]:
    assert pod.spec.security_context is None
    contexts = ((each.name, each.security_context) for _, each in pod.spec.each_container())
    return {name: None if context is None else context.run_as_user for name, context in contexts}


def changed(programs: Programs) -> Pod:
    (found,) = read_pods(Path("shop.yaml"), TEXT, Rules(change=programs.change)).pods
    return found.pod


def test_every_program_of_a_manifest_has_the_user_and_nothing_of_the_manifests_own() -> None:
    assert users(changed(Programs(None, WEB))) == {"first": 1234, "own": 1234, "image": 1234}


def test_a_stand_in_runs_as_probelet_does() -> None:
    assert users(changed(Programs(StandIns(), WEB))) == {"first": 1234, "own": 1234, "image": None}


def test_without_the_flag_a_pod_stays_as_it_is() -> None:
    assert changed(Programs(None, None)).spec.security_context is not None


def test_a_user_without_root_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 4000)
    assert read_user("4000", on_host=True) is not None
    with pytest.raises(CliError, match="--user root: only root starts programs as another user; this is uid 4000"):
        read_user("root", on_host=True)


def test_a_cri_runtime_has_users_of_its_own() -> None:
    assert read_user(None, on_host=False) is None
    with pytest.raises(CliError, match="only for --runtime process"):
        read_user("root", on_host=False)


def test_the_fields_that_count_as_ignored_are_those_of_the_manifest() -> None:
    plain = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: [{name: a, command: [/bin/true]}]\n"
    rules = Rules(runtime="process", change=Programs(None, WEB).change)
    assert [found.ignored for found in read_pods(Path("a.yaml"), plain, rules).pods] == [()]
    (found,) = read_pods(
        Path("shop.yaml"), TEXT, Rules(runtime="process", change=Programs(StandIns(), WEB).change)
    ).pods
    assert "spec.containers[0].securityContext.privileged" in {each.field for each in found.ignored}
