"""The built-in scenarios, as a list and as files to start from."""

from probelet.cli.exit import CliError, Exit
from probelet.cli.terminal import say, say_json


def print_list(output: str) -> int:
    """One line for each built-in scenario."""
    import msgspec

    from probelet.scenario import builtin_names, load_scenario

    found = {name: load_scenario(name).scenario.title for name in builtin_names()}
    if output == "json":
        say_json(msgspec.json.encode({"schema": "probelet-scenarios/1", "scenarios": found}))
    else:
        width = max(map(len, found))
        say(*(f"{name:<{width}}  {title}" for name, title in found.items()))
    return Exit.GOOD


def print_scenario(name: str) -> int:
    """The file of a built-in scenario."""
    from probelet.scenario import ScenarioError, builtin_text

    try:
        say(builtin_text(name).rstrip("\n"))
    except ScenarioError as error:
        raise CliError(*map(str, error.problems), hint="probelet simulate --list") from error
    return Exit.GOOD


def print_schema() -> int:
    """The JSON schema of a scenario file."""
    import msgspec

    from probelet.scenario.schema import scenario_schema

    say_json(msgspec.json.encode(scenario_schema()), indented=True)
    return Exit.GOOD
