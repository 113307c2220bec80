"""Builds the kubelet whose prober is ``probelet serve``: the published module with two hooks.

A kubelet makes its status manager and its prober by itself. A copy of the module has a hook in each of those two
constructors, and ``kubelet/main.go`` sets both. These are the places that a fork of a kubelet changes.
"""

import json
import shutil
from pathlib import Path

from tests.cluster.binaries.build import linker_flags, version
from tests.kubelet.goclient.build import MODULE, generate_messages, run, sources
from tests.support.paths import BUILD, built

WORK = BUILD / "served"
PARTS = ("cmd", "pkg", "plugin", "third_party")
"""Folders of the module that a kubelet has packages of."""
PROBER = Path("pkg/kubelet/prober/prober_manager.go")
STATUS = Path("pkg/kubelet/status/status_manager.go")
HOOKS = {
    PROBER: (
        "\trecorder record.EventRecorderLogger) Manager {\n",
        "\tif HandOver != nil {\n"
        "\t\treturn HandOver(livenessManager, readinessManager, startupManager, runner, recorder)\n"
        "\t}\n",
        "// HandOver makes another prober.\n"
        "var HandOver func(_, _, _ results.Manager, _ kubecontainer.CommandRunner, _ record.EventRecorderLogger) "
        "Manager\n",
    ),
    STATUS: (
        "podStartupLatencyHelper PodStartupLatencyStateHelper) Manager {\n",
        "\treturn Wrap(newManager(kubeClient, podManager, podDeletionSafety, podStartupLatencyHelper))\n}\n\n"
        "func newManager(\n\tkubeClient clientset.Interface, podManager PodManager, "
        "podDeletionSafety PodDeletionSafetyProvider,\n\tpodStartupLatencyHelper PodStartupLatencyStateHelper,\n"
        ") Manager {\n",
        "// Wrap adds to a status manager.\nvar Wrap = func(m Manager) Manager { return m }\n",
    ),
}
"""In each file: the last line of the constructor's head, what follows it now, and what ends the file."""


def build_kubelet() -> Path:
    """Builds the program and returns its path. Raises CalledProcessError, or ValueError in a release with other heads.

    A first build takes minutes, like that of the cluster's own kubelet.
    """
    return built(WORK / "kubelet", sources(), _build)


def hooked(name: Path, text: str) -> str:
    """The file of the module with its hook. Raises ValueError."""
    head, body, end = HOOKS[name]
    if text.count(head) != 1:
        raise ValueError(f"{name} of {version()} has no line {head.strip()!r}")
    return f"{text.replace(head, head + body)}\n{end}"


def _build(program: Path) -> None:
    module = Path(run("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes").strip())
    copy, rules, messages = WORK / "kubernetes", WORK / "go.mod", WORK / "overlay.json"
    shutil.rmtree(copy, ignore_errors=True)
    # Go replaces no single file of its cache of modules.
    for part in PARTS:
        shutil.copytree(module / part, copy / part, copy_function=shutil.copyfile)
    shutil.copyfile(module / "go.mod", copy / "go.mod")
    for name in HOOKS:
        (copy / name).write_text(hooked(name, (module / name).read_text()))
    rules.write_text(f"{(MODULE / 'go.mod').read_text()}\nreplace k8s.io/kubernetes => {copy}\n")
    shutil.copyfile(MODULE / "go.sum", rules.with_suffix(".sum"))
    messages.write_text(json.dumps({"Replace": generate_messages()}))
    where = ("-modfile", str(rules), "-overlay", str(messages), "-o", str(program))
    flags = ("-trimpath", "-buildvcs=false", "-ldflags", linker_flags())
    run("nice", "go", "build", *where, *flags, "./kubelet", CGO_ENABLED="0")
