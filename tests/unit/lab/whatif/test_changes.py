"""Settings and manifests, and the recorded probes that they change."""

from pathlib import Path

import pytest
from probelet.lab.recording import Recording
from probelet.lab.whatif import SettingError, changes_of_manifests, settings_of
from probelet.lab.whatif.changes import Changes
from probelet.spec.read.load import load


def names(recording: Recording, changes: Changes) -> list[str]:
    pods = {place: recording.stretches[place[0]].pods[place[1]].name for place in changes}
    return sorted(
        f"{pods[place]}/{each.container}.{each.type}.{each.probe and each.probe.failure_threshold}"
        for place, found in changes.items()
        for each in found
    )


@pytest.mark.parametrize(
    ("setting", "changed"),
    [
        ("liveness.failureThreshold=9", ["db/postgres.liveness.9", "web/app.liveness.9"]),
        ("web/app.liveness.failureThreshold=9", ["web/app.liveness.9"]),
        ("default/web/app.liveness.failureThreshold=9", ["web/app.liveness.9"]),
        ("w*/*.liveness.failureThreshold=9", ["web/app.liveness.9"]),
        ("*/db/*.readiness.failureThreshold=9", ["db/postgres.readiness.9"]),
        ("web/app.liveness.failureThreshold=3", []),
    ],
)
def test_a_setting_is_of_the_probes_that_it_names(incident: Recording, setting: str, changed: list[str]) -> None:
    assert names(incident, settings_of(incident, [setting])) == changed


def test_settings_add_up_and_the_last_one_counts(incident: Recording) -> None:
    changes = settings_of(
        incident,
        [
            "web/app.liveness.failureThreshold=9",
            "web/app.liveness.periodSeconds=7",
            "web/app.liveness.failureThreshold=8",
        ],
    )
    [[change]] = changes.values()
    assert change.probe is not None
    assert (change.probe.failure_threshold, change.probe.period_seconds, change.probe.timeout_seconds) == (8, 7, 1)


@pytest.mark.parametrize(
    ("setting", "error"),
    [
        ("failureThreshold=9", "want TYPE.FIELD=NUMBER or POD/CONTAINER.TYPE.FIELD=NUMBER"),
        ("liveness.failureThreshold", "want TYPE.FIELD=NUMBER or POD/CONTAINER.TYPE.FIELD=NUMBER"),
        ("liveness.threshold=9", "no probe has the field 'threshold'; allowed: initialDelaySeconds, timeoutSeconds,"),
        ("alive.failureThreshold=9", "'alive' is no type of a probe; allowed: liveness, readiness, startup"),
        ("web.liveness.failureThreshold=9", "'web' is no POD/CONTAINER or NAMESPACE/POD/CONTAINER"),
        ("a/b/c/d.liveness.failureThreshold=9", "'a/b/c/d' is no POD/CONTAINER or NAMESPACE/POD/CONTAINER"),
        ("liveness.failureThreshold=0", "failureThreshold of a liveness probe: '0': must be from 1 to 2147483647"),
        ("liveness.timeoutSeconds=2147483648", "'2147483648': must be from 1 to 2147483647"),
        ("liveness.periodSeconds=-1", "periodSeconds of a liveness probe: '-1': must be from 1 to 2147483647"),
        ("liveness.periodSeconds=1.5", "periodSeconds of a liveness probe: '1.5': must be from 1 to 2147483647"),
        ("liveness.successThreshold=2", "successThreshold of a liveness probe: '2': must be 1"),
        ("startup.failureThreshold=9", "no such probe is in the recording; it has db/postgres.liveness, "),
        ("cache/app.liveness.failureThreshold=9", "no such probe is in the recording; it has db/postgres.liveness, "),
    ],
)
def test_a_setting_that_cannot_be_is_one_line(incident: Recording, setting: str, error: str) -> None:
    with pytest.raises(SettingError) as caught:
        settings_of(incident, [setting])
    text = str(caught.value)
    assert text.startswith(f"--set {setting}: ")
    assert error in text
    assert "\n" not in text


def manifest(folder: Path, kind: str, name: str, *containers: str) -> Path:
    spec = "{containers: [" + ", ".join(containers) + "]}"
    if kind != "Pod":
        meta = "metadata: {labels: {a: b}}"
        spec = f"{{selector: {{matchLabels: {{a: b}}}}, template: {{{meta}, spec: {spec}}}}}"
    path = folder / "new.yaml"
    version = "v1" if kind == "Pod" else "apps/v1"
    path.write_text(f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {spec}\n")
    return path


APP = "{name: app, image: i, livenessProbe: {tcpSocket: {port: 1}, periodSeconds: 2, failureThreshold: 6}}"


def test_a_manifest_changes_the_pod_of_its_name_to_its_probes(incident: Recording, tmp_path: Path) -> None:
    loaded = load([manifest(tmp_path, "Pod", "web", APP)])
    changes = changes_of_manifests(incident, loaded.pods)
    # It has no readiness probe any more.
    assert names(incident, changes) == ["web/app.liveness.6", "web/app.readiness.None"]


def test_settings_come_on_top_of_a_manifest(incident: Recording, tmp_path: Path) -> None:
    before = changes_of_manifests(incident, load([manifest(tmp_path, "Pod", "web", APP)]).pods)
    changes = settings_of(incident, ["liveness.failureThreshold=7"], before)
    assert names(incident, changes) == ["db/postgres.liveness.7", "web/app.liveness.7", "web/app.readiness.None"]


def test_a_manifest_of_other_pods_is_one_line(incident: Recording, tmp_path: Path) -> None:
    loaded = load([manifest(tmp_path, "Deployment", "shop", APP)])
    with pytest.raises(SettingError) as caught:
        changes_of_manifests(incident, loaded.pods)
    text = "--change: no pod of the manifests is in the recording; it has default/db, default/web"
    assert str(caught.value) == text
