"""The findings of one file that its author accepts."""

from collections import defaultdict

from probelet.lint.finding import Finding
from probelet.lint.read.manifest import Placed, Read
from probelet.lint.read.text import lines_around
from probelet.lint.rule import Rule
from probelet.lint.suppress.annotation import ignored
from probelet.lint.suppress.comment import comments
from probelet.lint.suppress.entry import Entry


class Accepted:
    """The suppressions of a file, and the findings about them: those cannot be suppressed."""

    def __init__(self, read: Read) -> None:
        self.mistakes: list[Placed] = []
        """The findings about suppressions that suppress nothing."""
        self._by_line: defaultdict[int, set[str]] = defaultdict(set)
        self._by_object: defaultdict[str, set[str]] = defaultdict(set)
        self._name = read.source.name
        if read.text is not None:
            for comment in comments(read.text, read.roots):
                self._by_line[comment.line] |= comment.entry.rules
                self._report(comment.entry, *comment.position)
        for found in read.objects:
            for path, entry in ignored(found.root, found.workload.template):
                label = found.workload.label
                self._by_object[label] |= entry.rules
                self._report(entry, *found.text.place(found.root, path), label, path)

    def has(self, placed: Placed) -> bool:
        """True if the author accepts the finding."""
        rule = placed.finding.rule
        if placed.root is None:
            return False
        if rule in self._by_object.get(placed.finding.object, ()):
            return True
        if not self._by_line:
            return False
        return any(rule in self._by_line.get(line, ()) for line in lines_around(placed.root, placed.path))

    def _report(self, entry: Entry, line: int, column: int, label: str = "", path: str = "") -> None:
        if entry.mistake is None:
            return
        rule: Rule
        rule, message = entry.mistake
        finding = Finding(
            rule=rule.id,
            severity=rule.severity,
            object=label,
            path=path,
            file=self._name,
            line=line,
            column=column,
            message=message,
        )
        self.mistakes.append(Placed(finding))
