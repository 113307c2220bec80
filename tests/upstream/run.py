"""One run of the suite: a cluster for it alone, upstream's tests against it, and what became of their pods."""

import shutil
import subprocess
from pathlib import Path

from tests.cluster.cluster import Cluster
from tests.cluster.control_plane.plane import ADMIN
from tests.cluster.record.notes import Notes
from tests.support.paths import BUILD
from tests.upstream.images.build import build as build_images
from tests.upstream.programs import Programs
from tests.upstream.selection.selection import Selection
from tests.upstream.side import Side

OUT = BUILD / "upstream"
REPORT, JUNIT, PODS, LOG = "report.json", "junit.xml", "pods.jsonl", "log"
LIMIT = "60m"
LIMIT_SECONDS = 75 * 60
"""For a ginkgo that does not end at its own limit."""


def play(side: Side, programs: Programs, chosen: Selection, processes: int) -> Path:
    """Returns the folder with ginkgo's reports, the notes and the logs, which are there after a failure too.

    Raises:
        RuntimeError: the cluster does not start, or there is no report.
        CalledProcessError: an image or a kubelet cannot be built, or a manifest cannot be applied.
        TimeoutExpired: ginkgo does not end.
    """
    out = OUT / side.value
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    build_images(programs, out / "images.tar")
    cluster = side.cluster(out)
    try:
        cluster.start()
        try:
            cluster.runtime.import_image(out / "images.tar")
            side.prepare(cluster, out)
            _noted(cluster, programs, chosen, processes, out)
        finally:
            cluster.keep_logs(out / "logs")
    finally:
        cluster.stop()
    if not (out / REPORT).exists():
        raise RuntimeError(f"ginkgo wrote no report: {out / LOG}")
    return out


def _noted(cluster: Cluster, programs: Programs, chosen: Selection, processes: int, out: Path) -> None:
    """Plays the tests while every change of pods and events is noted."""
    api = cluster.api.as_user(ADMIN)
    notes = [Notes(api, f"/api/v1/{kind}", out / f"{kind}.jsonl") for kind in ("pods", "events")]
    for one in notes:
        one.start()
    try:
        _ginkgo(cluster, programs, chosen, processes, out)
    finally:
        for one in notes:
            one.end()


def _ginkgo(cluster: Cluster, programs: Programs, chosen: Selection, processes: int, out: Path) -> None:
    """Its exit code says that a test failed, as its report does."""
    flags = [f"--procs={processes}", f"--timeout={LIMIT}", "--no-color", "--silence-skips", "--keep-going"]
    flags += [f"--output-dir={out}", f"--junit-report={JUNIT}", f"--json-report={REPORT}", *chosen.flags()]
    tests = [f"--kubeconfig={cluster.control.kubeconfig}", "--provider=skeleton", "--num-nodes=1"]
    # Upstream's framework waits for the pods of kube-system, and this cluster has none.
    tests += ["--allowed-not-ready-nodes=-1"]
    command = [*cluster.space.inside, str(programs.ginkgo), *flags, str(programs.tests), "--", *tests]
    with (out / LOG).open("wb") as log:
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False, timeout=LIMIT_SECONDS)
