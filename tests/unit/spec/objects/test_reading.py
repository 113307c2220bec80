"""ConfigMaps and Secrets of a manifest: what is taken, which mistakes are named, and that no value is shown."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from probelet.spec.objects.read import DATA_BYTES_MAX
from probelet.spec.read.load import Loaded, load, read_pods
from probelet.spec.read.objects import Rules

PASSWORD = "hunter2-of-nobody"
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [{"name": "app"}]}}


def an_object(kind: str, name: str = "conf", **fields: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, **fields}


def read(*documents: dict[str, Any]) -> Loaded:
    return read_pods(Path("conf.yaml"), yaml.dump_all(documents, Dumper=yaml.CSafeDumper), Rules())


def test_a_config_map_beside_a_pod() -> None:
    data = {"PORT": "8080", "app.properties": "a=b\n", "EMPTY": None}
    found = read(POD, an_object("ConfigMap", data=data, binaryData={"BIN": "AAE="}, immutable=True))
    assert (len(found.pods), found.problems) == (1, [])
    [config_map] = found.config_objects
    assert config_map.key == ("ConfigMap", "default", "conf")
    # Of binaryData a variable has nothing, as in the kubelet.
    assert config_map.data == {"PORT": b"8080", "app.properties": b"a=b\n", "EMPTY": b""}


def test_a_secret_has_the_texts_over_the_encoded_values() -> None:
    metadata = {"name": "keys", "namespace": "prod"}
    secret = an_object(
        "Secret",
        metadata=metadata,
        type="kubernetes.io/tls",
        data={"a": "AP8=", "b": "b2xk\n", "c": ""},
        stringData={"b": "new"},
    )
    [found] = read(secret).config_objects
    assert found.key == ("Secret", "prod", "keys")
    assert found.data == {"a": b"\0\xff", "b": b"new", "c": b""}


def test_objects_in_a_list_count_too() -> None:
    found = read({"apiVersion": "v1", "kind": "List", "items": [POD, an_object("Secret"), an_object("ConfigMap")]})
    assert (len(found.pods), [held.kind for held in found.config_objects]) == (1, ["Secret", "ConfigMap"])


REDACTED = '"<contents redacted>"'


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (an_object("Secret", data={"k": PASSWORD + "%"}), [f"data[k]: Invalid value: {REDACTED}: must be base64"]),
        (an_object("Secret", data={"k": "YQ"}), [f"data[k]: Invalid value: {REDACTED}: must be base64"]),
        (an_object("Secret", data=PASSWORD), [f"data: Invalid value: {REDACTED}: must be a mapping of texts"]),
        (
            an_object("Secret", stringData={"port": 4711}),
            [
                f"stringData[port]: Invalid value: {REDACTED}: must be a text; write a number or a word such as yes "
                "in quotes"
            ],
        ),
        (
            an_object("ConfigMap", data={"k": [PASSWORD]}),
            [f"data[k]: Invalid value: {REDACTED}: must be a text; write a number or a word such as yes in quotes"],
        ),
        (
            an_object("ConfigMap", data={"k": PASSWORD}, binaryData={"k": "AA=="}),
            ['data[k]: Invalid value: "k": duplicate of key present in binaryData'],
        ),
        (
            an_object("Secret", stringData={"k": PASSWORD * (DATA_BYTES_MAX // 16)}),
            [f"data: Too long: may not be more than {DATA_BYTES_MAX} bytes"],
        ),
        (an_object("Secret", "", stringData={"k": PASSWORD}), ["metadata.name: Required value: name or generateName"]),
        (an_object("Secret", "A", stringData={"k": PASSWORD}), ['metadata.name: Invalid value: "A": a lowercase RFC']),
        (
            an_object("Secret", stringData={"a/b": PASSWORD}),
            ['stringData[a/b]: Invalid value: "a/b": a valid config key'],
        ),
    ],
)
def test_a_mistake_leaves_the_object_out_and_shows_no_value(document: dict[str, Any], expected: list[str]) -> None:
    found = read(document)
    assert found.config_objects == []
    lines = [str(problem) for problem in found.problems]
    assert len(lines) == len(expected)
    for line, text in zip(lines, expected, strict=True):
        assert f": {text}" in line
        assert PASSWORD not in line
    assert all(problem.severity == "error" for problem in found.problems)


def test_an_unknown_field_is_a_warning_and_the_object_counts() -> None:
    found = read(an_object("ConfigMap", stringData={"k": PASSWORD}, data={"a": "b"}))
    assert len(found.config_objects) == 1
    assert [str(problem) for problem in found.problems] == [
        "conf.yaml:7: warning: ConfigMap conf: stringData: unknown field, ignored; did you mean binaryData?"
    ]


def test_two_objects_of_one_name_are_one_mistake(tmp_path: Path) -> None:
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    for path in (first, second):
        path.write_text(yaml.safe_dump_all([an_object("ConfigMap", data={"who": path.name}), an_object("Secret")]))
    found = load([first, second])
    assert [str(problem) for problem in found.errors] == [
        f'{second}:{line}: {kind} conf: metadata.name: Duplicate value: "default/conf": '
        f"{kind} already defined at {first}:{line}"
        for kind, line in (("ConfigMap", 1), ("Secret", 8))
    ]
    assert [held.path for held in found.config_objects] == [first, first]


def test_an_object_never_shows_its_values() -> None:
    [secret] = read(an_object("Secret", stringData={"k": PASSWORD})).config_objects
    assert PASSWORD in secret.data["k"].decode()
    for text in (repr(secret), str(secret), f"{secret!r}", repr({secret.key: secret})):
        assert PASSWORD not in text
        assert "conf" in text
