"""The script of the page. It asks for what is new, changes only that, and keeps focus, selection and what is open."""

from typing import Final

SCRIPT: Final = r"""
(() => {
  const $ = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";
  // The place of each kind of beat: how high it is, and whether it has a gap.
  const KINDS = { ".": ["good", 7], "~": ["late", 11], w: ["warning", 11], "!": ["failure", 16], "?": ["error", 16] };
  const BEATS = 64;
  const pods = new Map();
  let version = 0, order = [], paused = false, timer = 0, data = null;

  const make = (tag, className, ...children) => {
    const found = document.createElement(tag);
    if (className) found.className = className;
    found.append(...children);
    return found;
  };
  // A screen reader speaks again what is written again.
  const write = (node, text) => { if (node.textContent !== text) node.textContent = text; };
  const fill = (list, items, build) => {
    const text = JSON.stringify(items);
    if (list.dataset.items === text) return;
    list.dataset.items = text;
    list.replaceChildren(...items.map(build));
  };
  const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

  // Heartbeats.
  const said = (beats) => {
    if (!beats) return "no attempt yet";
    const failed = [...beats].filter((beat) => beat === "!").length;
    const run = beats.length - beats.replace(/[!]+$/, "").length, last = run ? `, the last ${run} in a row` : "";
    if (data?.words.beats === "times") return `${beats.length} times ten seconds, failed in ${failed}${last}`;
    return `${plural(beats.length, "attempt")}, ${failed} failed${last}`;
  };
  const draw = (picture, beats) => {
    if (picture.dataset.beats === beats) return;
    picture.dataset.beats = beats;
    picture.setAttribute("aria-label", said(beats));
    const lines = {};
    [...beats].forEach((beat, index) => {
      const [name, height] = KINDS[beat] ?? KINDS["?"];
      const x = (BEATS - beats.length + index) * 4 + 2;
      const line = name === "error" ? `M${x} 16v-6m0-4v-6` : `M${x} 16v-${height}`;
      lines[name] = (lines[name] ?? "") + line;
    });
    picture.replaceChildren(...Object.entries(lines).map(([name, line]) => {
      const path = document.createElementNS(SVG, "path");
      path.setAttribute("class", name);
      path.setAttribute("d", line);
      return path;
    }));
  };
  const makeProbe = (probe) => {
    const picture = document.createElementNS(SVG, "svg");
    picture.setAttribute("viewBox", `0 0 ${BEATS * 4} 16`);
    picture.setAttribute("preserveAspectRatio", "none");
    picture.setAttribute("role", "img");
    const says = make("span");
    const node = make("span", "probe", make("span", "", make("span", "dim", probe.type), says), picture);
    return { node, says, picture };
  };

  // Pods.
  const makePod = (row) => {
    const found = { name: make("b", "", row.name), where: make("small", "dim"), chip: make("span"), probes: [] };
    found.containers = make("span", "containers");
    found.notes = make("span", "notes");
    found.detail = make("div", "detail");
    const who = make("span", "who", found.name, found.chip, found.where);
    found.details = make("details", "", make("summary", "", who, found.containers, found.notes), found.detail);
    found.node = make("li", "pod", found.details);
    found.details.addEventListener("toggle", () => { if (found.details.open) fetchDetail(found); });
    return found;
  };
  const shape = (row) => JSON.stringify(row.containers.map((one) => [one.name, one.probes.map((probe) => probe.type)]));
  const buildContainers = (found, row) => {
    found.probes = [];
    found.heads = [];
    found.containers.replaceChildren(...row.containers.map((container) => {
      const head = make("small", "dim"), probes = container.probes.map(makeProbe);
      found.heads.push(head);
      found.probes.push(probes);
      return make("span", "container", head, ...probes.map((probe) => probe.node));
    }));
  };
  const showPod = (row) => {
    let found = pods.get(row.uid);
    if (!found) pods.set(row.uid, found = makePod(row));
    if (found.shape !== shape(row)) {
      found.shape = shape(row);
      buildContainers(found, row);
    }
    found.row = row;
    found.node.dataset.rank = row.rank;
    found.chip.className = `chip ${row.look}`;
    write(found.chip, row.says);
    write(found.where, [row.namespace, row.ip].filter(Boolean).join(" · "));
    row.containers.forEach((container, index) => {
      const restarts = container.restarts && `restarts ${container.restarts}`;
      const alone = row.containers.length === 1;
      const parts = [alone ? "" : [container.name, container.kind].filter(Boolean).join(", "),
        alone && container.look === "good" ? "" : container.says, restarts];
      const text = parts.filter(Boolean).join(" · ");
      found.heads[index].hidden = !text;
      write(found.heads[index], text);
      container.probes.forEach((probe, place) => {
        const shown = found.probes[index][place];
        shown.says.className = probe.look;
        write(shown.says, probe.says);
        draw(shown.picture, probe.beats);
      });
    });
    fill(found.notes, row.notes, (note) => make("span", "", note));
    const words = (one) => [one.name, one.says, ...one.probes.map((probe) => `${probe.type} ${probe.says}`)];
    const own = [row.namespace, row.name, row.ip, row.says, ...row.notes];
    found.text = [...own, ...row.containers.flatMap(words)].join(" ").toLowerCase();
  };

  // The last failures of a pod, with their texts: fetched only while the pod is open.
  const fetchDetail = async (found) => {
    try {
      const answer = await fetch(`statusz?${found.row.detail}`, { headers: { Accept: "application/json" } });
      const { pods, nodes } = await answer.json();
      if (pods?.length) showDetail(found.detail, pods[0]);
      if (nodes?.length) showStates(found.detail, nodes[0]);
    } catch { /* The next answer tries again. */ }
  };
  const took = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);
  const showDetail = (detail, pod) => {
    const probes = (container) => Object.entries(container.probes).map(([type, probe]) => {
      const last = probe.last, counts = `${probe.runs} runs, ${probe.failures} failures, ${probe.errors} errors`;
      const late = last ? `began ${took(last.lateness_ms)} late` : "";
      const ended = last ? `; the last one took ${took(last.duration_ms)} and ${late}` : "";
      const failures = (probe.history?.failures ?? []).toReversed();
      return { title: `${container.name} ${type}`, line: `${probe.handler}: ${counts}${ended}`, failures };
    });
    const parts = pod.containers.flatMap(probes);
    fill(detail, parts, (part) => make("div", "", make("h3", "", part.title), make("div", "dim", part.line),
      make("ul", "", ...part.failures.map((failure) => make("li", "",
        make("span", "dim", `${failure.at.slice(11, 19)} UTC`), make("span", "dim", took(failure.duration_ms)),
        make("span", "", `${failure.cause}: ${failure.message}`))))));
  };

  // A node's probes, the failing ones first.
  const showStates = (detail, node) => {
    const rank = (one) => (one.state === "Failed" ? 0 : one.failing ? 1 : 2);
    const states = node.states.toSorted((one, other) => rank(one) - rank(other));
    fill(detail, [states], (all) => make("ul", "", ...all.map((one) => make("li", "",
      make("span", "dim", one.since ? `${one.since.slice(11, 19)} UTC` : ""),
      make("span", ["bad", "warn", ""][rank(one)], one.failing ? `${one.state}: ${one.cause}` : one.state),
      make("span", "", `${one.pod} ${one.container}${one.message ? `: ${one.message}` : ""}`)))));
  };

  // A pod that moves takes its focus along.
  const arrange = () => {
    const list = $("pods"), focused = document.activeElement;
    const shown = new Set(order);
    for (const [uid, found] of pods) if (!shown.has(uid)) { found.node.remove(); pods.delete(uid); }
    let place = list.firstElementChild;
    for (const uid of order) {
      const node = pods.get(uid)?.node;
      if (!node) continue;
      if (node === place) place = place.nextElementSibling;
      else list.insertBefore(node, place);
    }
    if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
  };
  const filter = () => {
    const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean), only = $("only").checked;
    let count = 0;
    for (const found of pods.values()) {
      const fits = !(only && found.row.rank > 1) && words.every((word) => found.text.includes(word));
      if (found.node.hidden === fits) found.node.hidden = !fits;
      count += fits;
    }
    if (!data) return;
    const more = data.more ? `; ${data.more} more, which are better, are in the JSON document` : "";
    write($("shown"), data.pods === 0 ? data.words.empty : `${count} of ${data.pods} shown${more}`);
  };

  const show = (fresh) => {
    data = fresh;
    version = data.version;
    if (data.order) order = data.order;
    const { noun, good } = data.words;
    write($("pods-head"), `${noun[0].toUpperCase()}${noun.slice(1)}s`);
    for (const one of document.querySelectorAll("[data-of]")) one.hidden = one.dataset.of !== noun;
    fill($("about"), data.about, (text) => make("li", "", text));
    for (const row of data.rows) showPod(row);
    if (data.order) arrange();
    filter();
    write($("node"), data.node);
    write($("as-of"), `as of ${data.as_of.slice(11, 19)} UTC`);
    const trouble = data.trouble ? `${data.trouble} in trouble` : "all well";
    write($("counts"), data.pods ? `${plural(data.pods, noun)}, ${data.ready} ${good}, ${trouble}` : `no ${noun}s`);
    const open = data.open.length + data.open_more;
    document.title = `${open ? `${plural(open, "incident")}, ` : ""}${trouble} · ${data.node} · probelet`;
    $("incidents").hidden = !data.notices;
    const more = data.open_more ? [{ kind: "", text: `and ${data.open_more} more` }] : [];
    const calm = [{ kind: "", text: "No incident is open.", calm: true }];
    fill($("open"), open ? [...data.open, ...more] : calm, (one) => make("li", one.calm ? "calm" : "", one.text));
    fill($("ended"), data.ended, (text) => make("li", "", text));
    $("mistakes").hidden = !data.mistakes.length;
    const others = data.mistakes_more ? [`and ${data.mistakes_more} more in the manifests`] : [];
    fill($("mistakes").querySelector("ul"), [...data.mistakes, ...others], (text) => make("li", "", text));
    fill($("events"), data.events, (event) => make("li", "", make("span", "dim", event.ago),
      make("span", "", make("span", `chip ${event.look}`, event.reason), ` ${event.times}`),
      make("span", "dim", event.object), make("span", "", event.message)));
    for (const found of pods.values()) if (found.details.open) fetchDetail(found);
  };

  const ask = async () => {
    clearTimeout(timer);
    let next_ms = 2000;
    if (!paused && !document.hidden && !String(getSelection())) {
      try {
        const answer = await fetch(`heartbeats?since=${version}`);
        if (!answer.ok) throw new Error(answer.statusText);
        const fresh = await answer.json();
        show(fresh);
        next_ms = Math.max(fresh.next_ms, 500);
        $("lost").hidden = true;
      } catch (error) {
        console.error(error);
        $("lost").hidden = false;
      }
    }
    clearTimeout(timer);
    timer = setTimeout(ask, next_ms);
  };

  $("pause").addEventListener("click", () => {
    paused = !paused;
    $("pause").setAttribute("aria-pressed", paused);
    write($("pause"), paused ? "Resume" : "Pause");
    if (!paused) ask();
  });
  $("filter").addEventListener("input", () => {
    history.replaceState(null, "", $("filter").value ? `#${encodeURIComponent($("filter").value)}` : "#");
    filter();
  });
  $("only").addEventListener("change", filter);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) ask(); });
  try { $("filter").value = decodeURIComponent(location.hash.slice(1)); } catch { /* Not our own. */ }
  ask();
})();
"""
