"""Plays manifests through a scenario, with advice, into a ``probelet-simulate/1`` document."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias, cast

import msgspec

from probelet._rust import version
from probelet.base.words import count
from probelet.config.gate import DEFAULT_VERSION
from probelet.lab.picture.document import (
    SCHEMA,
    AdviceRow,
    GuardRow,
    RunRow,
    ScenarioRow,
    SimulateDocument,
    SimulationRow,
    VerdictRow,
)
from probelet.lab.scenario.behave import unmatched
from probelet.lab.scenario.model import Scenario
from probelet.lab.scenario.read import ScenarioFile, load_scenario
from probelet.lab.simulate.advice.change import Change
from probelet.lab.simulate.advice.choose import Chooser
from probelet.lab.simulate.advice.holding import HOLD_KILLS, held_sentence, of_incidents
from probelet.lab.simulate.advice.ladders import Ladder, ladders
from probelet.lab.simulate.advice.together import of_dependencies, pairs
from probelet.lab.simulate.findings import findings
from probelet.lab.simulate.manifests import Manifests, Source, read_manifests
from probelet.lab.simulate.playing import Play, Played, Setting
from probelet.lab.simulate.rows import rows
from probelet.lab.simulate.rows.incidents import incidents
from probelet.lab.simulate.trouble import Trouble, troubles
from probelet.lab.simulate.verdict import verdict
from probelet.spec.text.duration import SECOND
from probelet.spec.text.problem import FieldError, Problem

DAY: Final = 86_400
TRIED_MAX: Final = 16
"""Single changes that are played for advice."""
TRIED_LONG: Final = 6
"""The same for a simulation of more than ``LONG_POD_DAYS``."""
TOGETHER_MAX: Final = 6
"""Changes of every probe that asks a dependency, and as many pairs, that are played beside the single ones."""
TOGETHER_LONG: Final = 2
"""The same for a simulation of more than ``LONG_POD_DAYS``."""
LONG_POD_DAYS: Final = 50
ADVISED_MAX: Final = 2
"""Workloads that get advice: those with the most trouble."""

ScenarioSource: TypeAlias = "str | Path | ScenarioFile"
"""The name of a built-in, or a file."""


@dataclass(frozen=True)
class Progress:
    """How far a simulation is."""

    what: str
    """The subject of the play: ``manifests``, ``against``, or the id of a piece of advice."""
    share: float
    """The share of it that has been played, 0 to 1."""


Watch: TypeAlias = Callable[[Progress], None]


def play(
    manifests: Source,
    scenario: ScenarioSource,
    *,
    against: "Source | None" = None,
    guard: Mapping[str, str] | None = None,
    seed: int = 1,
    duration: float | None = None,
    kubelet_version: str = DEFAULT_VERSION,
    advise: bool = True,
    command: str = "",
    watch: Watch | None = None,
    warn: Callable[[Problem], None] | None = None,
) -> SimulateDocument:
    """Plays manifests through a scenario.

    Args:
        manifests: files, directories, texts or objects, as ``probelet.VirtualCluster`` takes them.
        scenario: the name of a built-in, the path of a file, or a scenario that was read.
        against: another version of the manifests, played through the same scenario.
        guard: play the same manifests beside it with enhanced liveness, which has these settings, the data of the
            controller's ConfigMap. Not together with ``against``.
        seed: of all randomness; the same seed gives the same document.
        duration: seconds of traffic and faults. Default: the scenario's.
        kubelet_version: the release whose rules for probes apply, ``1.34`` to ``1.38``.
        advise: play changes that may help, and say which do.
        command: the command line that plays this again, for the document.
        watch: gets the progress, between a few and a few hundred times.
        warn: gets each warning about the manifests, and each entry of the scenario that matches no container.

    A ``KeyboardInterrupt`` while it plays ends the play; the document then has what there is so far.

    Raises:
        ManifestError: the manifests have a mistake, one line each.
        ScenarioError: the scenario has a mistake, or names something that the manifests do not have.
        ClusterError: a setting of ``guard`` is unknown or impossible.
    """
    file = scenario if isinstance(scenario, ScenarioFile) else load_scenario(scenario)
    setting = Setting(file, seed, kubelet_version)
    lasts = duration if duration is not None else file.scenario.duration / SECOND
    versions = [_Version(read_manifests([manifests]), setting)]
    if against is not None:
        first_budgets = replace(setting, budgets=versions[0].play.templates)
        versions.append(_Version(read_manifests([against]), first_budgets))
    elif guard is not None:
        # Of the same manifests the same changes may help, so advice is tried once.
        guarded = replace(setting, budgets=versions[0].play.templates, guard=guard)
        versions.append(_Version(read_manifests([manifests]), guarded))
        versions[1].is_advised = False
    if warn is not None:
        for problem in [*(each for version in versions for each in version.warnings), *_unmatched(file, versions[0])]:
            warn(problem)
    begins = max(version.play.settle() for version in versions)
    found = [each.run(what, begins, lasts, watch, advise=advise) for each, what in zip(versions, WHAT, strict=False)]
    first = versions[0].played
    assert first is not None
    shared = SimulationRow(
        schema=SCHEMA,
        probelet=version(),
        command=command,
        seed=seed,
        scenario=_scenario(file.scenario, first, begins + lasts),
    )
    document = cast(SimulateDocument, {**shared, **found[0]})
    if len(found) > 1:
        document["against"] = found[1]
    return document


WHAT: Final = ("manifests", "against")


class Tried(NamedTuple):
    """How many changes were played for advice."""

    single: int
    shared: int
    """Of every probe that asks one dependency."""
    paired: int

    @property
    def sentence(self) -> str:
        """The sentence for a person if none of the changes helps."""
        if not self.shared and not self.paired:
            return f"None of the {self.single} single changes that were tried helps."
        parts = [f"{self.single} single ones"]
        if self.shared:
            parts.append(f"{self.shared} of every probe that asks the same dependency")
        if self.paired:
            parts.append(count(self.paired, "pair"))
        return f"None of {sum(self)} changes that were tried helps: {', '.join(parts)}."


class _Version:
    """One version of the manifests, and its play."""

    def __init__(self, manifests: Manifests, setting: Setting) -> None:
        self._manifests = manifests
        self._setting = setting
        self.play = Play(setting, manifests.objects, manifests)
        self.played: Played | None = None
        self.is_advised = True
        # The verdict of the play in which kills waited; None if there was none.
        self._held: VerdictRow | None = None
        # Whether Ctrl-C ended the play of a change.
        self._is_stopped = False

    @property
    def warnings(self) -> list[Problem]:
        """The warnings about the manifests."""
        return self._manifests.warnings

    def run(self, what: str, begins: float, lasts: float, watch: Watch | None, *, advise: bool) -> RunRow:
        """The row of the whole play."""
        played = self.played = self.play.go(begins, lasts, _part(what, watch))
        manifests = self._manifests
        workloads = manifests.named(played.templates)
        trouble = troubles(played)
        base = verdict(played)
        row = RunRow(
            manifests=manifests.names,
            played_seconds=round(played.history.now, 3),
            services=rows.services(played.history, workloads),
            pods=rows.pods(played.history, workloads),
            events=rows.events(played.history, workloads),
            incidents=incidents(played.incidents, played.began),
            verdict=base,
            findings=findings(played, trouble, {name: name for name in workloads}),
            advice=[],
        )
        if (guard := self._setting.guard) is not None:
            decisions = sorted(played.decisions.items(), key=lambda item: (-item[1], item[0]))
            row["guard"] = GuardRow(settings=dict(guard), decisions=dict(decisions))
        if advise and self.is_advised and trouble and not played.interrupted:
            row["advice"], tried = self._advice(played, trouble, base, lasts, watch)
            if self._is_stopped:
                row["findings"].append("Not all changes that may help were tried: the simulation was interrupted.")
            elif tried.single and not row["advice"]:
                row["findings"].append(tried.sentence)
            if self._held is not None:
                row["findings"].append(held_sentence(base, self._held))
        return row

    def _advice(
        self, played: Played, trouble: list[Trouble], base: VerdictRow, lasts: float, watch: Watch | None
    ) -> tuple[list[AdviceRow], "Tried"]:
        workloads = self._manifests.named(played.templates)
        singles: list[Ladder] = []
        for each in trouble[:ADVISED_MAX]:
            singles += ladders(workloads[each.workload], each, whole=base["recovered"])
        offered = {change.effects for ladder in singles for change in ladder}
        together = [
            [change for change in ladder if change.effects not in offered]
            for ladder in of_dependencies(workloads, trouble)
        ]
        is_long = len(played.history.pods) * lasts / DAY > LONG_POD_DAYS
        most = TOGETHER_LONG if is_long else TOGETHER_MAX

        def trial(change: Change) -> VerdictRow | None:
            tried = self._with(change, played).go(played.began, lasts, _part(change.id, watch))
            self._is_stopped = tried.interrupted
            found = None if tried.interrupted else verdict(tried)
            if change.id == HOLD_KILLS:
                self._held = found
            return found

        chooser = Chooser(base, trial)
        single = chooser.add(singles, TRIED_LONG if is_long else TRIED_MAX)
        single += chooser.add(of_incidents(workloads, trouble, played.incidents), 1)
        shared = 0 if chooser.is_enough else chooser.add(together, most, beats=True)
        paired = 0 if chooser.is_enough else chooser.add(pairs(singles), most, beats=True)
        return chooser.best, Tried(single, shared, paired)

    def _with(self, change: Change, played: Played) -> Play:
        manifests = self._manifests
        for part in change.parts:
            manifests = replace(manifests, objects=manifests.changed(part.workload.index, part.fields))
        objects = manifests.objects
        file = self._setting.file
        changed = replace(file, scenario=change.scenario(file.scenario))
        budgets = self._setting.budgets or played.templates
        setting = replace(self._setting, file=changed, rates=played.rates, budgets=budgets)
        play = Play(setting, objects, self._manifests.replaced(objects))
        play.settle()
        return play


def _unmatched(file: ScenarioFile, version: _Version) -> Iterator[Problem]:
    """A warning for each entry of ``containers`` that matches nothing: it may be for another of several manifests."""
    for index in unmatched(file.scenario, version.play.templates):
        path, match = f"containers[{index}].match", file.scenario.containers[index].match
        problem = file.problem(FieldError(path, "Not found", match, "no container of the manifests matches"))
        yield msgspec.structs.replace(problem, severity="warning")


def _part(what: str, watch: Watch | None) -> Callable[[float], None] | None:
    return None if watch is None else lambda share: watch(Progress(what, share))


def _scenario(scenario: Scenario, played: Played, end: float) -> ScenarioRow:
    return ScenarioRow(
        name=scenario.name,
        title=scenario.title,
        text=scenario.text,
        assumed=played.assumed,
        duration_seconds=round(end, 3),
        faults=rows.faults(played.history),
    )
