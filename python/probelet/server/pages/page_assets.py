"""The style and the script of the status page, inline so that the page needs nothing else from anywhere."""

STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --dim: #5b6675; --line: #dde3ea; --paper: #f6f8fa; --card: #fff;
  --good: #11663a; --good-bg: #dff3e6; --warn: #7a4d00; --warn-bg: #fdeecb; --bad: #a3161e; --bad-bg: #fde3e3;
  --rest-bg: #e9edf2; --focus: #0b5fd3; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e9f0; --dim: #9aa7b8; --line: #2c3643; --paper: #10151c; --card: #18202a; --good: #7fdca4;
    --good-bg: #143524; --warn: #f3c566; --warn-bg: #3a2c0c; --bad: #ff9c9c; --bad-bg: #431a1d;
    --rest-bg: #26303c; --focus: #6aa8ff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main, header { max-width: 88rem; margin: 0 auto; padding: 0 1.25rem; }
header { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; align-items: baseline; padding-top: 1.5rem; }
h1 { font-size: 1.35rem; margin: 0; } h2 { font-size: 1rem; margin: 2rem 0 .5rem; }
.dim { color: var(--dim); } .push { margin-left: auto; }
button { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: .4rem;
  padding: .15rem .8rem; cursor: pointer; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
#lost { flex-basis: 100%; color: var(--bad); margin: 0; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(6rem, 1fr)); gap: .75rem; margin: 1.25rem 0;
  padding: 0; list-style: none; }
.tiles li { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .6rem .9rem; }
.tiles b { display: block; font-size: 1.6rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: .6rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .55rem .9rem; border-top: 1px solid var(--line); }
thead th.num { text-align: right; }
thead th { border-top: 0; font-size: .8rem; color: var(--dim); font-weight: 600; white-space: nowrap; }
tbody th { font-weight: 600; overflow-wrap: anywhere; min-width: 11rem; }
tbody th small { display: block; font-weight: 400; }
td.nowrap { white-space: nowrap; width: 1%; } td.text { overflow-wrap: anywhere; min-width: 12rem; width: 40%; }
.num { text-align: right; font-variant-numeric: tabular-nums; }
.chip { display: inline-block; border-radius: 1rem; padding: 0 .6rem; margin: 0 .3rem .15rem 0; white-space: nowrap;
  font-size: .87rem; background: var(--rest-bg); }
.good { color: var(--good); background: var(--good-bg); } .bad { color: var(--bad); background: var(--bad-bg); }
.warn { color: var(--warn); background: var(--warn-bg); }
.text p { margin: 0 0 .2rem; font-size: .9rem; } .none { padding: 1.5rem; margin: 0; }
footer { margin: 2rem 0; }
a { color: inherit; }
@media (max-width: 73rem) {
  main, header { padding: 0 .75rem; } header { padding-top: 1rem; }
  .tiles { grid-template-columns: repeat(4, 1fr); gap: .5rem; } .tiles li { padding: .5rem; font-size: .87rem; }
  table, tbody, tbody tr { display: block; } thead { display: none; }
  tbody tr { padding: .5rem .75rem; border-top: 1px solid var(--line); } tbody tr:first-child { border-top: 0; }
  #pods + .scroll tr:not(:has(th)) { border-top: 0; padding-top: 0; }
  tbody th { display: block; min-width: 0; } tbody td { display: inline; }
  tbody th, tbody td { border: 0; padding: 0 .5rem .2rem 0; }
  tbody td { overflow-wrap: anywhere; } td.num::before { content: "restarts "; color: var(--dim); }
  tbody td.text { display: block; width: auto; min-width: 0; } }
@media (prefers-reduced-motion: no-preference) { tr { transition: background .3s; } }
"""

# The script asks for the same page and puts the new middle in place, so that scrolling, selection and focus stay.
SCRIPT = """
(() => {
  const button = document.getElementById("pause"), lost = document.getElementById("lost");
  let paused = false;
  button.hidden = false;
  button.addEventListener("click", () => {
    paused = !paused;
    button.setAttribute("aria-pressed", paused);
    button.textContent = paused ? "Resume" : "Pause";
  });
  const refresh = async () => {
    if (!paused && !document.hidden && !String(getSelection())) {
      try {
        const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        for (const id of ["as-of", "live"]) document.getElementById(id).replaceWith(page.getElementById(id));
        document.title = page.title;
        lost.hidden = true;
      } catch { lost.hidden = false; }
    }
    setTimeout(refresh, 2000);
  };
  setTimeout(refresh, 2000);
})();
"""
