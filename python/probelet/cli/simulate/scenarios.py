"""The built-in scenarios, as a list and as files to start from."""

from typing import Literal, TypedDict

from probelet.cli.exit import CliError, Exit
from probelet.cli.terminal import print_json, print_lines


class ScenarioLine(TypedDict):
    """A built-in scenario."""

    name: str
    """The name that ``--scenario`` takes."""
    title: str
    """One line."""


class ScenariosDocument(TypedDict):
    """The built-in scenarios."""

    schema: Literal["probelet-scenarios/1"]
    scenarios: list[ScenarioLine]
    """The scenarios, by name."""


def print_list(output: str) -> int:
    """One line for each built-in scenario."""
    import msgspec

    from probelet.lab.scenario import builtin_names, load_scenario

    found = [ScenarioLine(name=name, title=load_scenario(name).scenario.title) for name in builtin_names()]
    if output == "json":
        print_json(msgspec.json.encode(ScenariosDocument(schema="probelet-scenarios/1", scenarios=found)))
    else:
        width = max(len(line["name"]) for line in found)
        print_lines(*(f"{line['name']:<{width}}  {line['title']}" for line in found))
    return Exit.GOOD


def print_scenario(name: str) -> int:
    """The file of a built-in scenario."""
    from probelet.lab.scenario import ScenarioError, builtin_text

    try:
        print_lines(builtin_text(name).rstrip("\n"))
    except ScenarioError as error:
        raise CliError(*map(str, error.problems), hint="probelet simulate --list") from error
    return Exit.GOOD


def print_schema() -> int:
    """The JSON schema of a scenario file."""
    import msgspec

    from probelet.lab.scenario.schema import scenario_schema

    print_json(msgspec.json.encode(scenario_schema()), indented=True)
    return Exit.GOOD
