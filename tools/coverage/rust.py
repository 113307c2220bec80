"""Coverage of the Rust crates by their own tests, from rustc's instrumentation and LLVM's tools."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tools.coverage.table import Lines

TESTED = ["--workspace", "--exclude", "probelet-bindings", "--exclude", "probelet-benches"]


@dataclass(frozen=True)
class LlvmTools:
    profdata: str
    cov: str


class NoTools(Exception):
    """No LLVM tools on this machine read what this rustc writes."""


def find_tools() -> LlvmTools:
    """The tools of rustc's own LLVM: others refuse its profiles. From rustup's ``llvm-tools``, else from the system."""
    told = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    (major,) = re.findall(r"^LLVM version: (\d+)", told, re.MULTILINE)
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True).stdout.strip()
    for folder in Path(sysroot).glob("lib/rustlib/*/bin"):
        if (folder / "llvm-profdata").exists():
            return LlvmTools(str(folder / "llvm-profdata"), str(folder / "llvm-cov"))
    profdata, cov = shutil.which(f"llvm-profdata-{major}"), shutil.which(f"llvm-cov-{major}")
    if profdata is None or cov is None:
        raise NoTools(f"no LLVM {major} tools: rustup component add llvm-tools, or apt-get install llvm-{major}")
    return LlvmTools(profdata, cov)


def measure(root: Path, work: Path) -> dict[str, Lines]:
    """Lines by folder under ``rust/``; ``work`` receives the raw profiles. Raises ``NoTools``."""
    tools = find_tools()
    raw = work / "profiles"
    shutil.rmtree(raw, ignore_errors=True)
    environment = {
        **os.environ,
        "RUSTFLAGS": "-C instrument-coverage",
        "LLVM_PROFILE_FILE": str(raw / "%p-%m.profraw"),
        "PROPTEST_RNG_SEED": "1",
    }
    cargo = ["cargo", "test", *TESTED, "--target-dir", str(root / "target/coverage")]
    subprocess.run([*cargo, "--quiet"], cwd=root, env=environment, check=True)
    merged = work / "rust.profdata"
    profiles = sorted(str(file) for file in raw.glob("*.profraw"))
    subprocess.run([tools.profdata, "merge", "--sparse", *profiles, "-o", str(merged)], check=True)
    first, *others = _programs([*cargo, "--no-run", "--message-format", "json"], root, environment)
    objects = [first, *(f"--object={program}" for program in others)]
    export = [tools.cov, "export", "--summary-only", f"--instr-profile={merged}", *objects]
    told = subprocess.run(export, capture_output=True, text=True, check=True).stdout
    return by_folder(json.loads(told), root / "rust")


def _programs(command: list[str], root: Path, environment: dict[str, str]) -> list[str]:
    """The test programs that cargo has built."""
    told = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True).stdout
    messages = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
    return sorted({message["executable"] for message in messages if message.get("executable")})


def by_folder(exported: dict[str, list[dict[str, list[dict[str, object]]]]], rust: Path) -> dict[str, Lines]:
    """Sums of llvm-cov's summaries for each folder of sources, such as ``core/src/prober``; tests are not counted."""
    sums: dict[str, Lines] = {}
    for file in exported["data"][0]["files"]:
        path = Path(str(file["filename"]))
        if not path.is_relative_to(rust) or "src" not in path.relative_to(rust).parts:
            continue
        summary = file["summary"]
        assert isinstance(summary, dict)
        folder = path.parent.relative_to(rust).as_posix()
        sums[folder] = sums.get(folder, Lines(0, 0)) + Lines(summary["lines"]["count"], summary["lines"]["covered"])
    return sums
