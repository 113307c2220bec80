"""Which licences a package may have: an SPDX expression held against the allow-list in ``licences.toml``."""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tools.audit.packages import Package

ALLOW_LIST = Path(__file__).with_name("licences.toml")
_TOKEN = re.compile(r"\s*(\(|\)|[\w.+-]+)")


@dataclass(frozen=True)
class AllowList:
    allowed: frozenset[str]
    spelled: dict[str, str]
    """Texts that packages declare in place of an SPDX expression, with the expression that they mean."""
    packages: dict[str, str]
    """Packages that declare no short text at all, with the expression of the licence file that they ship."""

    def expression(self, package: Package) -> str:
        return self.packages.get(package.name, self.spelled.get(package.licence, package.licence))


def read(path: Path = ALLOW_LIST) -> AllowList:
    table = tomllib.loads(path.read_text())
    return AllowList(frozenset(table["allowed"]), table["spelled"], table["packages"])


def problems(packages: Iterable[Package], allow_list: AllowList) -> list[str]:
    """One line for each package whose licence is unknown or not allowed."""
    found = []
    for package in packages:
        expression = allow_list.expression(package)
        try:
            good = is_allowed(expression, allow_list.allowed)
        except ValueError:
            shown = " ".join(expression.split())[:60]
            found.append(f"{package}: declares no SPDX expression ({shown!r}): add it to licences.toml")
        else:
            if not good:
                found.append(f"{package}: licence {expression} is not in the allow-list")
    return found


def is_allowed(expression: str, allowed: frozenset[str]) -> bool:
    """Evaluate an SPDX expression: OR needs one allowed side, AND both. Raises ``ValueError`` if it is none."""
    # Cargo's old spelling: a slash for OR.
    tokens = _tokens(expression.replace("/", " OR "))
    good = _any(tokens, allowed)
    if tokens:
        raise ValueError(f"unexpected {tokens[0]}")
    return good


def _tokens(expression: str) -> list[str]:
    tokens, at = [], 0
    text = expression.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"unexpected {text[at]}")
        tokens.append(match[1])
        at = match.end()
    return tokens


def _any(tokens: list[str], allowed: frozenset[str]) -> bool:
    good = _all(tokens, allowed)
    while tokens and tokens[0] == "OR":
        del tokens[0]
        good = _all(tokens, allowed) or good
    return good


def _all(tokens: list[str], allowed: frozenset[str]) -> bool:
    good = _one(tokens, allowed)
    while tokens and tokens[0] == "AND":
        del tokens[0]
        good = _one(tokens, allowed) and good
    return good


def _one(tokens: list[str], allowed: frozenset[str]) -> bool:
    if not tokens or tokens[0] in (")", "OR", "AND", "WITH"):
        raise ValueError("a licence is missing")
    first = tokens.pop(0)
    if first == "(":
        good = _any(tokens, allowed)
        if not tokens or tokens.pop(0) != ")":
            raise ValueError("a bracket is missing")
        return good
    if tokens and tokens[0] == "WITH":
        first = f"{first} WITH {tokens[1] if len(tokens) > 1 else ''}"
        del tokens[:2]
    return first in allowed
