"""The style of the page. Colours name what they say; each also has a form, for those who do not see the difference."""

from typing import Final

STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c2430; --dim: #566170; --line: #dde3ea; --paper: #f6f8fa; --card: #fff;
  --good: #11663a; --good-bg: #dff3e6; --warn: #7a4d00; --warn-bg: #fdeecb; --bad: #a3161e; --bad-bg: #fde3e3;
  --rest-bg: #e9edf2; --focus: #0b5fd3; --beat: #4da877; --late: #c98a12; --fail: #d3303a; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e9f0; --dim: #9aa7b8; --line: #2c3643; --paper: #10151c; --card: #18202a; --good: #7fdca4;
    --good-bg: #143524; --warn: #f3c566; --warn-bg: #3a2c0c; --bad: #ff9c9c; --bad-bg: #431a1d;
    --rest-bg: #26303c; --focus: #6aa8ff; --beat: #3f8f63; --late: #d9a23a; --fail: #f0565f; } }
* { box-sizing: border-box; }
html { font-size: clamp(15px, 8px + .35vw, 20px); }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere; }
main, header { padding: 0 1.25rem; }
header { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; align-items: baseline; padding-top: 1rem; }
header p { margin: 0; }
h1 { font-size: 1.3rem; margin: 0; } h2 { font-size: 1rem; margin: 1.25rem 0 .4rem; }
.dim { color: var(--dim); } .push { margin-left: auto; font-variant-numeric: tabular-nums; }
button, input { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line);
  border-radius: .4rem; padding: .15rem .6rem; }
button { cursor: pointer; }
input[type=search] { width: 20rem; max-width: 100%; } input[type=checkbox] { accent-color: var(--focus); }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
#lost { flex-basis: 100%; color: var(--bad); }
.bar { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; align-items: baseline; }
ul { list-style: none; margin: 0; padding: 0; }
#open li, #mistakes li { background: var(--bad-bg); color: var(--bad); border-radius: .6rem; padding: .5rem .9rem;
  margin-bottom: .35rem; }
#open .calm { background: none; color: var(--dim); padding: 0; } #ended { font-size: .87rem; }
.chip { display: inline-block; border-radius: 1rem; padding: 0 .6rem; white-space: nowrap; font-size: .87rem;
  background: var(--rest-bg); max-width: 100%; overflow: hidden; text-overflow: ellipsis; vertical-align: bottom; }
.chip.good { background: var(--good-bg); } .chip.bad { background: var(--bad-bg); }
.chip.warn { background: var(--warn-bg); }
.good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
.legend { margin: 0 0 .5rem; font-size: .87rem; display: flex; flex-wrap: wrap; gap: 0 1.25rem; }
.legend[hidden] { display: none; } #about { font-size: .87rem; margin-bottom: .3rem; }
.legend .good { color: var(--beat); } .legend .warn { color: var(--late); } .legend .bad { color: var(--fail); }
#pods { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 46rem), 1fr)); gap: .35rem;
  align-items: start; }
.pod { container-type: inline-size; content-visibility: auto; contain-intrinsic-size: auto 3.6rem;
  background: var(--card); border: 1px solid var(--line); border-radius: .6rem; }
.pod[data-rank="0"] { border-color: var(--fail); } .pod[data-rank="1"] { border-color: var(--late); }
.pod summary { display: grid; gap: .15rem 1rem; padding: .45rem .8rem; cursor: pointer; list-style: none;
  grid-template-columns: 15rem 1fr; align-items: start; border-radius: .6rem; }
.pod summary::-webkit-details-marker { display: none; }
.who { display: flex; flex-wrap: wrap; gap: 0 .6rem; align-items: baseline; min-width: 0; }
.who b { font-weight: 600; } .who small { flex-basis: 100%; }
.containers { display: flex; flex-direction: column; gap: .3rem; min-width: 0; }
.container { display: flex; flex-wrap: wrap; gap: .1rem .8rem; align-items: end; }
.container > small { flex-basis: 100%; }
.probe { flex: 1 1 9rem; max-width: 22rem; min-width: 0; font-size: .8rem; line-height: 1.3; }
.probe > span { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 .6rem; }
.probe svg { display: block; width: 100%; height: 1.1rem; background: linear-gradient(var(--line), var(--line)) bottom /
  100% 1px no-repeat; }
.probe path { fill: none; stroke-width: 3; stroke: var(--beat); }
.probe .late, .probe .warning, .probe .error { stroke: var(--late); } .probe .failure { stroke: var(--fail); }
.notes { grid-column: 1 / -1; font-size: .87rem; } .notes span { display: block; }
.detail { padding: 0 .8rem .6rem; font-size: .87rem; } .detail h3 { font-size: .87rem; margin: .6rem 0 .1rem; }
.detail li { display: grid; grid-template-columns: auto auto 1fr; gap: 0 .8rem; font-variant-numeric: tabular-nums; }
#events { font-size: .87rem; }
#events li { display: grid; grid-template-columns: 6rem minmax(9rem, auto) minmax(0, 16rem) 1fr; gap: 0 .8rem;
  padding: .15rem 0; border-top: 1px solid var(--line); }
footer { margin: 1.5rem 0; font-size: .87rem; }
a { color: inherit; }
@container (max-width: 36rem) {
  .pod summary { grid-template-columns: 1fr; } .who small { flex-basis: auto; }
  .probe { flex-basis: 100%; max-width: none; }
  .containers { gap: .2rem; } }
@media (max-width: 45rem) {
  main, header { padding-left: .75rem; padding-right: .75rem; }
  .bar label:has([type=search]) { flex-basis: 100%; } input[type=search] { width: 100%; }
  #events li { grid-template-columns: auto 1fr; } #events li > :last-child { grid-column: 1 / -1; } }
"""
