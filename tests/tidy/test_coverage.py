"""The sums of ``make coverage``, from reports as the tools write them."""

from pathlib import Path

from tools.coverage.__main__ import PAGE, kept
from tools.coverage.python import by_package
from tools.coverage.rust import by_folder
from tools.coverage.table import Lines, markdown


def rust_file(name: str, count: int, covered: int) -> dict[str, object]:
    return {"path": list(Path(name).parts), "coverable": count, "covered": covered}


def test_rust_is_summed_by_folder_without_tests_and_dependencies() -> None:
    files = [
        rust_file("/w/rust/core/src/prober/run.rs", 10, 9),
        rust_file("/w/rust/core/src/prober/worker.rs", 10, 6),
        rust_file("/w/rust/core/tests/laws.rs", 100, 100),
        rust_file("/w/rust/bindings/src/lib.rs", 100, 0),
        rust_file("/registry/serde/src/lib.rs", 100, 0),
    ]
    assert by_folder({"files": files}, Path("/w/rust")) == {"core/src/prober": Lines(20, 15)}


def test_python_is_summed_by_package_without_generated_code() -> None:
    names = ["python/probelet/errors.py", "python/probelet/cli/ask/top.py", "python/probelet/runtime/cri/api_pb2.py"]
    names.append("conformance/probelet_conformance/play.py")
    files = {name: {"summary": {"num_statements": 4, "covered_lines": 3}} for name in names}
    assert by_package({"files": files}) == {".": Lines(4, 3), "cli": Lines(4, 3), "conformance": Lines(4, 3)}


def test_the_table_ends_with_the_sum() -> None:
    rows = markdown({"b": Lines(3, 1), "a": Lines(1, 1), "empty": Lines(0, 0)}).splitlines()[2:]
    assert rows == ["| `a` | 1 | 1 | 100.0 % |", "| `b` | 3 | 1 | 33.3 % |", "| together | 4 | 2 | 50.0 % |"]


def test_a_machine_that_cannot_measure_rust_keeps_its_table() -> None:
    part = kept(PAGE.read_text())
    assert part.startswith("## Rust\n\nMeasured on ")
    assert "| `core/src/prober` |" in part
    assert "Python\n" not in part
