"""The page for people: every pod a row of heartbeats, the worst first. It is the same for every reader; its script asks
for the data (``heartbeats``) and puts it in as text, so that no name or output of a program becomes markup."""

from typing import Final

from probelet.server.pages.script import SCRIPT
from probelet.server.pages.style import STYLE

PAGE: Final = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>probelet</title>
<style>{STYLE}</style>
</head>
<body>
<header>
<h1>probelet <span class="dim">on</span> <span id="node">…</span></h1>
<p id="counts" role="status"></p>
<span class="dim push" id="as-of"></span>
<button id="pause" type="button" aria-pressed="false">Pause</button>
<p id="lost" role="alert" hidden>The service does not answer; what stands below is out of date.</p>
<noscript><p>This page needs JavaScript. <a href="statusz">statusz</a> and <code>probelet status</code> do not.</p>
</noscript>
</header>
<main>
<section id="incidents" aria-labelledby="incidents-head" hidden>
<h2 id="incidents-head">Incidents</h2>
<ul id="open" role="status"></ul>
<ul id="ended" class="dim"></ul>
</section>
<section id="mistakes" aria-labelledby="mistakes-head" hidden>
<h2 id="mistakes-head">Mistakes in the manifests</h2>
<ul></ul>
</section>
<section aria-labelledby="pods-head">
<div class="bar">
<h2 id="pods-head">Pods</h2>
<label>Filter <input id="filter" type="search" autocomplete="off" spellcheck="false"
 placeholder="name, namespace, address, text"></label>
<label><input id="only" type="checkbox"> only in trouble</label>
<span id="shown" class="dim" role="status"></span>
</div>
<ul id="about" class="dim"></ul>
<p class="dim legend" data-of="pod">
<span><b class="good">▂</b> good</span> <span><b class="warn">▅</b> late or warning</span>
<span><b class="bad">█</b> failed</span> <span><b class="warn">▚</b> prober error</span>
<span>newest on the right</span></p>
<p class="dim legend" data-of="node" hidden><span><b class="good">▂</b> ten seconds without a failure</span>
<span><b class="warn">▅</b> a last attempt failed</span> <span><b class="bad">█</b> a probe is Failed</span>
<span><b class="warn">▚</b> nothing known</span> <span>newest on the right</span></p>
<ul id="pods"></ul>
</section>
<section aria-labelledby="events-head" data-of="pod">
<h2 id="events-head">Last events</h2>
<ul id="events"></ul>
</section>
<footer class="dim">Also here: <a href="statusz?history=64">statusz</a> and
<a href="incidents">incidents</a> (JSON for programs)<span data-of="pod">, <a href="metrics">metrics</a>,
<a href="metrics/probes">metrics/probes</a>, <a href="readyz">readyz</a></span>, <a href="healthz">healthz</a>.</footer>
</main>
<script>{SCRIPT}</script>
</body>
</html>
"""
