"""The output of ``probelet backoff kep4603``."""

import textwrap
from collections import Counter

import msgspec

from probelet.cli.backoff.document import ClaimRow, ClaimsDocument
from probelet.cli.exit import Exit
from probelet.cli.terminal import print_json, print_lines
from probelet.lab.backoff.claim import Figure
from probelet.lab.backoff.kep4603 import claims

WIDTH = 80
MARGIN = " " * 5
VERDICTS = {
    "holds": "hold",
    "holds if": "hold if something is assumed",
    "does not hold": "do not hold",
    "not derived": "are measurements or constants",
}
READING = (
    '"KEP" is its figure, "here" what the model gives: a container that exits at once and no free restart, as the KEP '
    'counts, unless a line says otherwise; "as shipped" is with the free one.'
)


def show_claims(output: str) -> int:
    """Prints every claim with its verdict."""
    found = claims()
    if output == "json":
        rows: list[ClaimRow] = [
            {
                "claim": claim.number,
                "says": claim.says,
                "published": claim.published,
                "found": claim.reading.figure if claim.reading else None,
                "assumption": claim.reading.assumption if claim.reading else "",
                "verdict": claim.verdict,
                "detail": claim.detail,
            }
            for claim in found
        ]
        document: ClaimsDocument = {"schema": "probelet-kep4603/1", "claims": rows}
        print_json(msgspec.json.encode(document))
        return Exit.GOOD
    for claim in found:
        print_lines(*textwrap.wrap(claim.says, WIDTH, initial_indent=claim.number.ljust(5), subsequent_indent=MARGIN))
        figures = f"KEP {_text(claim.published)}"
        if claim.reading is not None:
            figures += f"; here {_text(claim.reading.figure)}"
        sentence = f"{figures}; {claim.sentence}."
        print_lines(*textwrap.wrap(sentence, WIDTH, initial_indent=MARGIN, subsequent_indent=MARGIN))
    count: Counter[str] = Counter(claim.verdict for claim in found)
    verdicts = ", ".join(f"{count[verdict]} {text}" for verdict, text in VERDICTS.items())
    print_lines("", *textwrap.wrap(f"{len(found)} claims: {verdicts}. {READING}", WIDTH))
    return Exit.GOOD


def _text(figure: Figure) -> str:
    if isinstance(figure, list):
        return ", ".join(map(_text, figure))
    return figure if isinstance(figure, str) else f"{figure:,.0f}" if figure == round(figure) else f"{figure:,.2f}"
