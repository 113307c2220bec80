"""Image names, and the pull policy that follows from their tag."""

import pytest
from probelet.spec.rules.needed import require_image
from probelet.spec.rules.validate import validate
from probelet.spec.text.image import ImageNameError, default_pull_policy, with_tag

from tests.unit.spec.pods import pod_of

DIGEST = "sha256:" + "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("image", "tagged", "policy"),
    [
        ("busybox", "busybox:latest", "Always"),
        ("busybox:latest", "busybox:latest", "Always"),
        ("busybox:1.36", "busybox:1.36", "IfNotPresent"),
        ("localhost:5000/team/app", "localhost:5000/team/app:latest", "Always"),
        ("localhost:5000/team/app:v1", "localhost:5000/team/app:v1", "IfNotPresent"),
        ("[::1]:5000/app:v1", "[::1]:5000/app:v1", "IfNotPresent"),
        (f"busybox@{DIGEST}", f"busybox@{DIGEST}", "IfNotPresent"),
        (f"busybox:latest@{DIGEST}", f"busybox:latest@{DIGEST}", "Always"),
        (
            "registry.k8s.io/e2e-test-images/agnhost:2.59",
            "registry.k8s.io/e2e-test-images/agnhost:2.59",
            "IfNotPresent",
        ),
        ("a--b/c__d.e", "a--b/c__d.e:latest", "Always"),
    ],
)
def test_names_with_and_without_tags(image: str, tagged: str, policy: str) -> None:
    assert (with_tag(image), default_pull_policy(image)) == (tagged, policy)


@pytest.mark.parametrize(
    ("image", "error"),
    [
        ("Nginx", "invalid reference format: repository name (library/Nginx) must be lowercase"),
        ("a//b", "invalid reference format"),
        ("busybox:", "invalid reference format"),
        ("busy box", "invalid reference format"),
        ("busybox@sha256:12", "invalid reference format"),
        ("a" * 64, f"invalid repository name ({'a' * 64}), cannot specify 64-byte hexadecimal strings"),
        ("example.com/" + "a" * 256, "repository name must not be more than 255 characters"),
    ],
)
def test_malformed_image_names(image: str, error: str) -> None:
    with pytest.raises(ImageNameError) as raised:
        with_tag(image)
    assert str(raised.value) == error
    assert default_pull_policy(image) == "IfNotPresent"


def test_an_unknown_pull_policy() -> None:
    pod = pod_of({"containers": [{"name": "app", "image": "i", "imagePullPolicy": "Sometimes"}]})
    assert [str(error) for error in validate(pod)] == [
        'spec.containers[0].imagePullPolicy: Unsupported value: "Sometimes": '
        'supported values: "Always", "IfNotPresent", "Never"'
    ]


def test_a_cri_runtime_needs_an_image_of_every_container() -> None:
    pod = pod_of({"containers": [{"name": "a"}, {"name": "b", "image": " i "}, {"name": "c", "image": "i"}]})
    assert [str(error) for error in require_image(pod)] == [
        "spec.containers[0].image: Required value",
        'spec.containers[1].image: Invalid value: " i ": must not have leading or trailing whitespace',
    ]
