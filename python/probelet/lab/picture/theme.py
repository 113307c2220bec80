"""Colours, textures and the style sheet, once for light and once for dark.

Colours are concrete in each rule, because many readers of SVG do not know variables of CSS. They keep their order of
lightness for people who do not see their hue, and every state has a texture or a shape beside its colour.
"""

from string import Template
from typing import Final

LIGHT: Final = {
    "paper": "#ffffff",
    "ink": "#1a1f24",
    "soft": "#5a646e",
    "grid": "#e4e8ec",
    "edge": "#b9c1c9",
    "panel": "#f6f7f9",
    "band": "#c98a00",
    "ready": "#8fd0ba",
    "ready_edge": "#2b8a6b",
    "starting": "#a9d4f2",
    "starting_mark": "#1f6fa8",
    "starting_solid": "#4d9fd6",
    "unready": "#f5b942",
    "unready_mark": "#7a4b00",
    "back_off": "#7d57a6",
    "back_off_mark": "#e4d7f2",
    "terminating": "#c3c9cf",
    "terminating_mark": "#59636d",
    "late": "#f2c14e",
    "lost": "#cf3a2b",
    "kill": "#a80f1c",
    "refusal": "#b86a00",
    "good": "#1b7a5a",
    "fair": "#8f5a00",
    "bad": "#b3261e",
}
DARK: Final = {
    "paper": "#14181c",
    "ink": "#e8ebee",
    "soft": "#9aa5b0",
    "grid": "#262d34",
    "edge": "#48525c",
    "panel": "#1b2026",
    "band": "#e0a93a",
    "ready": "#2c7460",
    "ready_edge": "#58c7a4",
    "starting": "#285d86",
    "starting_mark": "#9bd0f5",
    "starting_solid": "#3f8fc4",
    "unready": "#d99a1c",
    "unready_mark": "#3b2500",
    "back_off": "#8d69c2",
    "back_off_mark": "#2e1d47",
    "terminating": "#59636d",
    "terminating_mark": "#c3c9cf",
    "late": "#e0ae33",
    "lost": "#d9503f",
    "kill": "#ff7a6e",
    "refusal": "#f2b84b",
    "good": "#5fd3ac",
    "fair": "#f2b84b",
    "bad": "#ff8378",
}

# The classes are short because a picture has thousands of them. A state's class is its first letter, `sb` its texture.
DRAWING: Final = Template("""
svg{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
svg text{fill:$ink}svg .z{fill:$soft;font-size:11px}svg .y{fill:$soft;font-size:10px}
svg .h{font-weight:600}svg .c{font-size:11px}
svg .V{font-size:26px;font-weight:700}svg .M{font:11px ui-monospace,Menlo,Consolas,monospace}
svg .G{fill:$good}svg .W{fill:$fair}svg .B{fill:$bad}
.g{stroke:$grid;fill:none}.e{stroke:$edge;fill:none}.P{fill:$panel}.bg{fill:$paper}
.F{fill:$band;fill-opacity:.13}.f{stroke:$band;fill:none;stroke-width:1.5}
.d{stroke:$ink;fill:none;stroke-width:1.2}.D{fill:$ink}
.r{fill:$ready}.rl{fill:none;stroke:$ready_edge;stroke-width:1.5}.w{fill:none;stroke:$ink;stroke-dasharray:4 3}
.s{fill:$starting}.u{fill:$unready}.b{fill:$back_off}.t{fill:$terminating}
.p{fill:$paper;stroke:$soft;stroke-dasharray:2 2}
.sb{fill:$starting_mark}.ub{stroke:$unready_mark;fill:none}.bb{stroke:$back_off_mark;fill:none}
.tb{stroke:$terminating_mark;fill:none}
.hr,.hs,.hu,.hb,.ht,.hp{fill:none}.hr{stroke:$ready}.hs{stroke:$starting_solid}.hu{stroke:$unready}
.hb{stroke:$back_off}.ht{stroke:$terminating}.hp{stroke:$edge}
.la{fill:$late}.lb{stroke:$unready_mark;stroke-opacity:.55;fill:none}.lo{fill:$lost}.o{fill:none;stroke:$ink;stroke-width:1}
.T{stroke:$edge;fill:none;stroke-dasharray:3 2}.k{stroke:$kill;fill:none;stroke-width:2.4;stroke-linecap:round}
.K{stroke:$paper;fill:none;stroke-width:5;stroke-linecap:round}.kt{stroke:$kill;fill:none}
.x{fill:$paper;stroke:$kill;stroke-width:1.6}
.a1{stroke:$ready_edge;stroke-linecap:round;stroke-width:3;fill:none}.a0{stroke:$ready_edge;stroke-opacity:.5;fill:none}
.a2{stroke:$lost;fill:none;stroke-width:1.6}.a3{stroke:$refusal;fill:none;stroke-width:1.3}
.a4{stroke:$back_off;fill:none;stroke-width:1.5}.a5{stroke:$soft;fill:none}
.i{fill:transparent}.hw{stroke-width:8}.kd{stroke:$kill;fill:none;stroke-linecap:round}
.kh{stroke:$paper;fill:none;stroke-linecap:round}
.E{stroke:$band;stroke-opacity:.55;fill:none;stroke-dasharray:2 3}
.qs{fill:url(#ts)}.qu{fill:url(#tu)}.qb{fill:url(#tb)}.qt{fill:url(#tt)}.ql{fill:url(#tl)}
""")


def style() -> str:
    """The style sheet of a drawing."""
    return themed(DRAWING)


def themed(rules: Template) -> str:
    """Rules in both themes. Paper is always light: only a screen can be dark."""
    return f"{_rules(rules, LIGHT)}@media screen and (prefers-color-scheme:dark){{{_rules(rules, DARK)}}}"


def _rules(rules: Template, colours: dict[str, str]) -> str:
    return rules.substitute(colours).replace("\n", "")


TEXTURES: Final = (
    '<pattern id="ts" width="4" height="4" patternUnits="userSpaceOnUse"><rect class="s" width="4" height="4"/>'
    '<circle class="sb" cx="1" cy="1" r=".8"/><circle class="sb" cx="3" cy="3" r=".8"/></pattern>'
    '<pattern id="tu" width="5" height="5" patternUnits="userSpaceOnUse"><rect class="u" width="5" height="5"/>'
    '<path class="ub" d="M-1 1l2-2M0 5l5-5M4 6l2-2"/></pattern>'
    '<pattern id="tb" width="5" height="5" patternUnits="userSpaceOnUse"><rect class="b" width="5" height="5"/>'
    '<path class="bb" d="M0 0l5 5M5 0l-5 5"/></pattern>'
    '<pattern id="tt" width="3" height="3" patternUnits="userSpaceOnUse"><rect class="t" width="3" height="3"/>'
    '<path class="tb" d="M1.5 0v3"/></pattern>'
    '<pattern id="tl" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="la" width="6" height="6"/>'
    '<path class="lb" d="M-1 1l2-2M0 6l6-6M5 7l2-2"/></pattern>'
)
"""The textures of states, and of late requests."""
