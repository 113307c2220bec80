"""Manifests from files, directories and standard input."""

import io
import os
import sys
from pathlib import Path

import pytest
from probelet.spec import Pod, load, validate
from probelet.spec.read.load import FILE_BYTES_MAX, PROBLEMS_MAX, STDIN, manifest_text
from probelet.spec.text.problem import FieldError

POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  containers:
  - name: app
    command: [sleep, "9"]
"""


@pytest.fixture(autouse=True)
def in_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages repeat a path as given, so the tests give short ones."""
    monkeypatch.chdir(tmp_path)


def write(name: str, text: str | bytes) -> Path:
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def lines(*paths: Path) -> list[str]:
    return [str(problem) for problem in load(list(paths)).problems]


def names(*paths: Path) -> list[str]:
    return [manifest.pod.metadata.name for manifest in load(list(paths)).pods]


def test_a_loaded_pod_has_defaults_a_uid_and_its_line() -> None:
    path = write("web.yaml", "# a comment\n" + POD.format(name="web"))
    [manifest] = load([path]).pods
    assert (manifest.path, manifest.line) == (path, 2)
    assert manifest.pod.spec.termination_grace_period_seconds == 30
    assert len(manifest.pod.metadata.uid) == 32


def test_one_file_may_hold_documents_lists_and_json() -> None:
    listed = '{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"c"},'
    listed += '"spec":{"containers":[{"name":"app"}]}}]}'
    many = write("many.yaml", "---\n".join([POD.format(name="a"), "", POD.format(name="b"), listed]))
    json = write("pod.json", listed.replace('"c"', '"d"').replace(",", ",\n\t"))
    assert lines(many, json) == []
    assert [(manifest.pod.metadata.name, manifest.line) for manifest in load([many, json]).pods] == [
        ("a", 1),
        ("b", 10),
        ("c", 18),
        ("d", 3),
    ]


def test_a_directory_is_read_in_order_without_dot_files_others_and_directories() -> None:
    for name in ("d/b.yaml", "d/a.yml", "d/c.json", "d/.hidden.yaml", "d/README.md", "d/x.yaml~"):
        write(name, POD.format(name=Path(name).stem.strip(".")))
    Path("d/sub.yaml").mkdir()
    assert names(Path("d")) == ["a", "b", "c"]
    assert lines(Path("d")) == []


def test_on_a_cri_runtime_every_file_of_a_directory_without_a_leading_dot_is_a_manifest() -> None:
    for name in ("d/b.yaml", "d/a", "d/c.manifest", "d/.hidden", "d/x.yaml~"):
        pod = POD.format(name=Path(name).name.strip(".~").replace(".", "-"))
        write(name, f"{pod}    image: i\n")
    Path("d/sub").mkdir()
    found = load([Path("d")], runtime="cri")
    assert [manifest.pod.metadata.name for manifest in found.pods] == ["a", "b-yaml", "c-manifest", "x-yaml"]
    assert names(write("alone", POD.format(name="alone"))) == ["alone"], "a file that is named needs no suffix"


def test_an_empty_directory_is_a_warning() -> None:
    Path("d").mkdir()
    assert lines(Path("d")) == [
        "d: warning: no manifest in this directory (*.yaml, *.yml, *.json; directories in it are not read)"
    ]
    [problem] = load([Path("d")], runtime="cri").problems
    assert problem.message == (
        "no manifest in this directory (every file without a leading dot; directories in it are not read)"
    )


def test_an_unreadable_path_is_named() -> None:
    os.mkfifo("pipe.yaml")
    write("latin.yaml", b"a: 1\nb: \xe9\n")
    write("big.yaml", b"#" * (FILE_BYTES_MAX + 1))
    assert lines(Path("none.yaml"), Path("pipe.yaml"), Path("latin.yaml"), Path("big.yaml")) == [
        "none.yaml: cannot be read: No such file or directory",
        "pipe.yaml: cannot be read: not a regular file",
        "latin.yaml:2: not UTF-8: byte 0xe9",
        "big.yaml: cannot be read: larger than 10485760 bytes",
    ]


def test_standard_input_is_read_to_its_end_within_the_bound_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def given(text: bytes) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))

    given(POD.format(name="web").encode())
    [manifest] = load([STDIN]).pods
    assert (manifest.path, manifest.line) == (Path("/dev/stdin"), 1)
    given(b"a: [")
    assert lines(STDIN)[0].startswith("/dev/stdin:1: not YAML: ")
    given(b"#" * (FILE_BYTES_MAX + 1))
    assert lines(STDIN) == ["/dev/stdin: cannot be read: larger than 10485760 bytes"]


def test_a_byte_order_mark_is_no_mistake() -> None:
    assert names(write("web.yaml", b"\xef\xbb\xbf" + POD.format(name="web").encode())) == ["web"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: [\n", "f.yaml:1: not YAML: did not find expected node content, while parsing a flow node"),
        ("hello", 'f.yaml:1: "hello" is not a Kubernetes object'),
        ("- a\n", 'f.yaml:1: ["a"] is not a Kubernetes object'),
        ("a: 1", "f.yaml:1: kind: Required value: a Kubernetes object has an apiVersion and a kind"),
        (
            "metadata:\n\tname: web",
            "f.yaml:2: not YAML: found character that cannot start any token, while scanning for the next token; "
            "indent with blanks, YAML allows no tab there",
        ),
        (
            "kind: Deployment",
            "f.yaml:1: apiVersion: Required value: a Kubernetes object has an apiVersion and a kind: "
            'a Deployment has "apps/v1"',
        ),
        (
            "kind: Deployment\napiVersion: extensions/v1beta1",
            'f.yaml:2: apiVersion: Unsupported value: "extensions/v1beta1": supported values: "apps/v1"',
        ),
        (
            "apiVersion: apps/v1\nkind: Deploymnet",
            'f.yaml:2: kind: Unsupported value: "Deploymnet": no kind of apps/v1; did you mean Deployment?',
        ),
        ("apiVersion: v1\nkind: List", "f.yaml:1: items: Required value: must be a list of objects"),
        (
            "apiVersion: v1\nkind: List\nitems: [{kind: Pod}]",
            "f.yaml:3: items[0].apiVersion: Required value: a Kubernetes object has an apiVersion and a kind: "
            'a Pod has "v1"',
        ),
        (
            "metadata: {name: {{ .Release.Name }}}",
            "f.yaml:1: a key must be a text, not a list or a mapping; a template has to be "
            "rendered first: helm template CHART | probelet run -",
        ),
        ("apiVersion: v1\nkind: List\nitems: [5]", "f.yaml:3: items[0]: 5 is not a Kubernetes object"),
    ],
)
def test_a_document_that_is_no_object_is_named(text: str, expected: str) -> None:
    assert lines(write("f.yaml", text)) == [expected]


def test_a_mistake_leaves_the_other_pods_alone() -> None:
    bad = POD.format(name="bad").replace("name: app", "name: App")
    path = write("f.yaml", f"{bad}---\n{POD.format(name='good')}")
    assert names(path) == ["good"]
    assert [line.partition("a lower")[0] for line in lines(path)] == [
        'f.yaml:6: spec.containers[0].name: Invalid value: "App": '
    ]


def test_problems_of_a_pod_come_in_the_order_of_its_lines() -> None:
    text = POD.format(name="web") + "    livenessProbe:\n      timeoutSeconds: -1\n      tcpSocket: {port: nope}\n"
    text += "      periodSeconds: 1s\n      extra: 1\n"
    assert lines(write("f.yaml", text)) == [
        "f.yaml:9: spec.containers[0].livenessProbe.timeoutSeconds: Invalid value: -1: "
        "must be greater than or equal to 0",
        'f.yaml:10: warning: spec.containers[0].livenessProbe.tcpSocket.port: Invalid value: "nope": '
        "names no port of container app, so every run is an error (named: none)",
        'f.yaml:11: spec.containers[0].livenessProbe.periodSeconds: Invalid value: "1s": must be an integer, '
        "not a string",
        "f.yaml:12: warning: spec.containers[0].livenessProbe.extra: unknown field, ignored",
    ]


def test_a_pod_in_a_list_has_the_lists_path() -> None:
    text = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n  spec: {}\n"
    assert lines(write("f.yaml", text)) == ["f.yaml:7: items[0].spec.containers: Required value"]


def test_a_second_pod_of_the_same_name_or_uid_is_left_out() -> None:
    first = write("a.yaml", POD.format(name="web"))
    second = write("b.yaml", f"{POD.format(name='web')}---\n{POD.format(name='x, uid: u')}")
    third = write("c.yaml", POD.format(name="z, uid: u"))
    assert names(first, second, third) == ["web", "x"]
    assert lines(first, second, third) == [
        'b.yaml:1: metadata.name: Duplicate value: "default/web": already defined at a.yaml:1',
        'c.yaml:1: metadata.uid: Duplicate value: "u": already defined at b.yaml:9',
    ]


def test_a_file_of_another_kind_does_not_fill_the_screen() -> None:
    fields = "".join(f"field{index}: 1\n" for index in range(500))
    found = lines(write("f.yaml", POD.format(name="web") + fields))
    assert len(found) == PROBLEMS_MAX + 1
    assert found[-1] == "f.yaml: warning: 450 more problems in this file"
    assert names(Path("f.yaml")) == ["web"]


def test_the_digest_changes_with_the_pod_and_not_with_the_layout() -> None:
    def digest(text: str) -> tuple[str, str]:
        [manifest] = load([write("f.yaml", text)]).pods
        return manifest.digest, manifest.pod.metadata.uid

    base = digest(POD.format(name="web"))
    assert digest("# comment\n" + POD.format(name="web") + "  restartPolicy: Always\n") == base
    other = digest(POD.format(name="web") + "  restartPolicy: Never\n")
    assert other[0] != base[0]
    assert other[1] != base[1]


def test_static_pods_of_different_files_have_different_uids() -> None:
    for name in ("a.yaml", "b.yaml"):
        write(name, POD.format(name="web"))
    uids = {load([Path(name)]).pods[0].pod.metadata.uid for name in ("a.yaml", "./a.yaml", "b.yaml")}
    assert len(uids) == 2


def test_a_port_name_may_be_a_number_in_quotes() -> None:
    probe = "    livenessProbe: {tcpSocket: {port: web}}\n    ports: [{name: web, containerPort: 80}]\n"
    assert lines(write("f.yaml", POD.format(name="a") + probe)) == []


def test_a_huge_value_is_quoted_from_its_beginning() -> None:
    [line] = lines(write("f.yaml", POD.format(name="web").replace("name: app", f"name: {'A' * 100_000}")))[:1]
    assert len(line) < 1000


def test_keys_cannot_write_to_the_terminal() -> None:
    [line] = lines(write("f.yaml", POD.format(name="web") + '"a\\e[31m\\nb": 1\n'))
    assert line == r"f.yaml:8: warning: a\x1b[31m\nb: unknown field, ignored"


def test_problems_of_the_process_runtime_have_line_numbers() -> None:
    path = write("web.yaml", "# a comment\n" + POD.format(name="web").replace('command: [sleep, "9"]', "image: nginx"))
    assert lines(path) == []
    words = load([path], runtime="process")
    assert [str(problem) for problem in words.problems] == [
        "web.yaml:7: spec.containers[0].command: Required value: the embedded runtime has no images, so name a program "
        "of this machine (or give run a --runtime, or --stand-in)",
    ]
    assert words.pods == []


def test_a_command_of_a_wrong_type_is_not_missing_as_well() -> None:
    path = write("web.yaml", POD.format(name="web").replace('[sleep, "9"]', "sleep 9"))
    assert [problem.message for problem in load([path], runtime="process").problems] == [
        'Invalid value: "sleep 9": must be a list, not a string'
    ]


def test_a_file_without_a_pod_is_a_warning() -> None:
    assert lines(write("empty.yaml", "# later\n")) == ["empty.yaml: warning: no pod in this file"]


def test_a_file_given_twice_is_loaded_once() -> None:
    path = write("d/web.yaml", POD.format(name="web"))
    assert lines(Path("d"), path, path.absolute()) == []


def test_a_mistake_in_a_rule_costs_its_file_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def validate_badly(pod: Pod) -> list[FieldError]:
        if pod.metadata.name == "bad":
            raise RecursionError("too deep")
        return validate(pod)

    monkeypatch.setattr("probelet.spec.read.objects.validate", validate_badly)
    bad, good = write("bad.yaml", POD.format(name="bad")), write("good.yaml", POD.format(name="good"))
    assert lines(bad, good) == ["bad.yaml: cannot be read: RecursionError: too deep"]
    assert names(bad, good) == ["good"]


def test_standard_input_that_the_shell_closed_is_one_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    # Python has no sys.stdin then.
    monkeypatch.setattr(sys, "stdin", None)
    text = manifest_text(STDIN)
    assert isinstance(text, OSError)
    assert text.strerror == "standard input is closed"
