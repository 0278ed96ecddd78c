// SPDX-License-Identifier: BSD-3-Clause
// What a person does with the timeline: wheel, drag, click, keys, search; and what a click shows.

// ---- what is under the pointer ----

function stretchAt(g, t, slack) {
  const i = above(g.begin, t) - 1;
  if (i >= 0 && t < g.end[i] + slack) return i;
  return i + 1 < g.n && g.begin[i + 1] - slack <= t ? i + 1 : -1;
}

function under(pane, event) {
  if (!panes.some((p) => p.drag)) use(pane);
  const box = pane.canvas.getBoundingClientRect(), x = event.clientX - box.left,
        y = event.clientY - box.top, s = scale(box.width), lane = laneAt(pane, y);
  if (!lane) return { x, y, t: s.t(x) };
  const t = s.t(x), slack = 2 / s.k, is = { lane, t, x, y };
  if (x < GUTTER) return is;
  if (lane.kind === "g") Object.assign(is, { g: lane.g, stretch: stretchAt(lane.g, t, slack) });
  if (lane.kind === "p") {
    const l = pane.run.lanes[lane.p], i = above(l.begin, t) - 1;
    const at = i >= 0 && t < l.end[i] + slack ? i : i + 1 < l.begin.length && l.begin[i + 1] - slack <= t ? i + 1 : -1;
    if (at >= 0) Object.assign(is, { g: l.gs[at], stretch: l.at[at] });
  }
  return is;
}

function who(run, goid) {
  const g = run.byGoid.get(goid);
  return `g${goid}` + (g ? ` (${g.name})` : "");
}

// ---- words for a stretch ----

function words(run, g, i) {
  const state = STATES[g.state[i]];
  if (state === "running") return g.p[i] >= 0 ? `runs on P${g.p[i]}` : "runs";
  if (state === "syscall") return "in a system call";
  if (state === "waiting")
    return `waits: ${run.reasons[g.reason[i]] || "?"}` + (g.by[i] > 0 ? `; woken by ${who(run, g.by[i])}` : "");
  return runnableWords(run, g, i);
}

function runnableWords(run, g, i) {
  const queued = i > 0 ? g.p[i - 1] : -1, parts = ["runnable"];
  if (queued >= 0) parts[0] += `, queued on P${queued}`;
  const others = ranMeanwhile(run, queued, g.begin[i], g.end[i], g);
  if (others.length > 0)
    parts.push("meanwhile there: " + others.slice(0, 6).map(([o, ns]) => `g${o.goid} (${o.name}) ${time(ns)}`).join(", ") +
               (others.length > 6 ? ` and ${others.length - 6} more` : ""));
  for (const why of ["throttled", "no cpu"]) {
    const ns = stalledMeanwhile(run, queued, g.begin[i], g.end[i], why);
    if (ns > 0) parts.push(`P${queued} had ${why === "throttled" ? "no quota" : "no CPU"} for ${time(ns)}`);
  }
  if (queued >= 0 && g.p[i] >= 0 && g.p[i] !== queued) parts.push(`then moved to P${g.p[i]}`);
  return parts.join("; ");
}

// ---- the panel ----

function totals(run, g) {
  const sums = new Map();
  for (let i = 0; i < g.n; i++) {
    const name = g.state[i] === 3 ? "waits: " + (run.reasons[g.reason[i]] || "?") : STATES[g.state[i]];
    if (name) sums.set(name, (sums.get(name) || 0) + g.end[i] - g.begin[i]);
  }
  return [...sums].sort((a, b) => b[1] - a[1]);
}

function showDetail() {
  const box = byId("detail"), { run, g } = chosen;
  box.replaceChildren();
  if (!g) {
    box.append(make("p", { class: "quiet" }, "Click a goroutine to see what it waited for."));
    return;
  }
  box.append(make("h3", {}, `g${g.goid} (${g.name})`,
    make("span", { class: "quiet" }, ` ${data.runs.length > 1 ? "of run " + run.id + ", " : ""}` +
      `created ${g.parent ? "by " + who(run, g.parent) + " " : ""}at ${time(g.created)}` +
      (g.ended !== null ? `, ended at ${time(g.ended)}` : ", had not ended"))));
  for (const s of g.spans.slice(0, 20))
    box.append(make("p", {}, `span ${s.name}, key ${s.key}: ${time(s.took)}, from ${time(s.begin)}`));
  box.append(make("p", {}, totals(run, g).map(([name, ns]) => `${name} ${time(ns)}`).join(" \u00b7 ")));
  const first = Math.max(0, chosen.stretch - 60), last = Math.min(g.n, first + 400);
  const body = make("tbody");
  for (let i = first; i < last; i++) {
    if (g.state[i] === 0) continue;
    const row = make("tr", { class: "go", tabindex: "0", onclick: () => goTo(run, g, i) },
      make("td", {}, time(g.begin[i])), make("td", {}, time(g.end[i] - g.begin[i])),
      make("td", { class: "text" }, words(run, g, i)));
    if (i === chosen.stretch) row.style.fontWeight = "700";
    body.append(row);
  }
  box.append(make("table", {}, make("thead", {}, make("tr", {}, make("th", {}, "at"), make("th", {}, "for"),
    make("th", { class: "text" }, "what"))), body));
  if (last < g.n) box.append(make("p", { class: "quiet" }, `and ${g.n - last} more`));
}

// ---- choosing ----

function paneOf(run) { return panes.find((p) => p.run === run); }

function select(run, g, stretch) {
  Object.assign(chosen, { run, g, stretch: stretch === undefined ? -1 : stretch });
  const pane = paneOf(run);
  if (pane) use(pane);
  if (g && pane && !pane.open.has(g.name)) {
    pane.open.add(g.name);
    layOut(pane);
  }
  const lane = g && pane ? laneOf(pane, g) : null;
  if (lane && (lane.y < pane.scroll + pane.pin || lane.y + lane.h > pane.scroll + pane.height - AXIS))
    pane.scroll = Math.max(0, Math.min(lane.y - (pane.height + pane.pin) / 2, pane.total + AXIS + 6 - pane.height));
  showDetail();
  drawAll();
}

function goTo(run, g, i) {
  const length = Math.max(g.end[i] - g.begin[i], 1);
  select(run, g, i);
  moveTo(g.begin[i] - length, g.end[i] + length);
}

function goToSpan(run, span) {
  const g = run.byGoid.get(span.goid), margin = Math.max(span.took / 12, 50);
  use(paneOf(run));
  if (g) select(run, g);
  moveTo(span.begin - margin, span.end + margin);
}

// ---- search ----

function search(words) {
  const wanted = words.trim().toLowerCase(), hits = [];
  chosen.hits = hits;
  chosen.hit = -1;
  if (wanted) {
    const goid = /^g?(\d+)$/.exec(wanted);
    for (const run of data.runs) {
      const exact = goid && run.byGoid.get(Number(goid[1]));
      if (exact) hits.push({ run, g: exact });
      for (const s of run.spans)
        if (`${s.name} ${s.key}`.toLowerCase().includes(wanted)) hits.push({ run, span: s });
      for (const g of run.gs)
        if (g.name.toLowerCase().includes(wanted)) hits.push({ run, g });
    }
  }
  byId("found").textContent = wanted ? `${count(hits.length)} found` : "";
  return hits.length;
}

function nextHit(by) {
  if (chosen.hits.length === 0) return;
  chosen.hit = (chosen.hit + by + chosen.hits.length) % chosen.hits.length;
  const hit = chosen.hits[chosen.hit];
  byId("found").textContent = `${chosen.hit + 1} of ${count(chosen.hits.length)}`;
  if (hit.span) goToSpan(hit.run, hit.span);
  else {
    select(hit.run, hit.g);
    const g = hit.g, length = Math.max(g.end[g.n - 1] - g.begin[0], 100);
    moveTo(g.begin[0] - length * 0.1, g.end[g.n - 1] + length * 0.1);
  }
}

// ---- pointer ----

function onWheel(pane, event) {
  event.preventDefault();
  use(pane);
  const s = scale(pane.canvas.clientWidth), x = event.clientX - pane.canvas.getBoundingClientRect().left;
  if (event.ctrlKey || event.metaKey) zoom(Math.exp(event.deltaY * 0.002), s.t(Math.max(x, GUTTER)));
  else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    const by = (event.deltaX || event.deltaY) / s.k;
    moveTo(view.from + by, view.to + by);
  } else if (pane.total + AXIS + 6 > pane.height) {
    pane.scroll = Math.max(0, Math.min(pane.scroll + event.deltaY, pane.total + AXIS + 6 - pane.height));
    drawAll();
  } else zoom(Math.exp(event.deltaY * 0.002), s.t(Math.max(x, GUTTER)));
}

function onDown(pane, event) {
  const is = under(pane, event);
  pane.canvas.setPointerCapture(event.pointerId);
  pane.drag = { x: is.x, y: is.y, from: view.from, scroll: pane.scroll, moved: false };
  if (event.shiftKey) pane.drag.select = is.x;
}

function onMove(pane, event) {
  const is = under(pane, event), d = pane.drag;
  if (!d) {
    hover(pane, event, is);
    return;
  }
  if (Math.abs(is.x - d.x) + Math.abs(is.y - d.y) > 3) d.moved = true;
  if (!d.moved) return;
  showTip(event, "");
  if (d.select !== undefined) d.select = is.x;
  else {
    const by = (d.x - is.x) / scale(pane.canvas.clientWidth).k, length = view.to - view.from;
    pane.scroll = Math.max(0, Math.min(d.scroll + d.y - is.y, Math.max(0, pane.total + AXIS + 6 - pane.height)));
    moveTo(d.from + by, d.from + by + length);
  }
  drawAll();
}

function onUp(pane, event) {
  const is = under(pane, event), d = pane.drag;
  pane.drag = null;
  if (!d) return;
  if (d.select !== undefined && d.moved) {
    const s = scale(pane.canvas.clientWidth);
    moveTo(s.t(Math.max(GUTTER, Math.min(d.x, d.select))), s.t(Math.max(d.x, d.select)));
  } else if (!d.moved) click(pane, is);
}

function click(pane, is) {
  if (is.lane && is.lane.kind === "group") {
    if (!pane.open.delete(is.lane.name)) pane.open.add(is.lane.name);
    layOut(pane);
    drawAll();
  } else if (is.lane && is.lane.kind === "g" && is.x < GUTTER) select(pane.run, is.lane.g);
  else if (is.g) select(pane.run, is.g, is.stretch);
  else select(pane.run, null);
}

function hover(pane, event, is) {
  pane.canvas.style.cursor = is.g || (is.lane && is.lane.kind === "group") ? "pointer" : "grab";
  if (is.g && is.stretch >= 0) {
    const g = is.g, i = is.stretch;
    showTip(event, `g${g.goid} (${g.name})\n${words(pane.run, g, i)}\n` +
                   `${time(g.end[i] - g.begin[i])}, from ${time(g.begin[i])}`);
  } else if (is.lane && is.lane.kind === "util" && is.x > GUTTER) showTip(event, sampleWords(pane.run, is.t));
  else if (is.lane && is.lane.kind === "group")
    showTip(event, `${is.lane.name}: ${is.lane.gs.length} goroutines in this report; running below, runnable above`);
  else showTip(event, "");
}

function sampleWords(run, t) {
  const u = run.samples, i = above(u.at, t) - 1;
  if (i < 0) return "";
  return `from ${time(u.at[i])}\n` + CLASSES.map(([name], k) => [name, u.share[k][i] / 10])
    .filter(([, share]) => share > 0).map(([name, share]) => `${name} ${share.toFixed(1)} %`).join("\n");
}

function onMap(pane, event) {
  if (event.buttons === 0) return;
  use(pane);
  const box = pane.map.getBoundingClientRect(), t = (event.clientX - box.left - GUTTER) / (box.width - GUTTER) * whole;
  const length = view.to - view.from;
  moveTo(t - length / 2, t + length / 2);
}

// ---- keys ----

const KEYS = [["w", "zoom in"], ["s", "zoom out"], ["a", "left"], ["d", "right"], ["0", "the whole run"],
  ["l", "the slowest request"], ["f", "the chosen goroutine"], ["[ ]", "its stretch before, after"],
  ["\u2191 \u2193", "lanes up, down"], ["/", "search"], ["n N", "next, previous found"],
  ["Esc", "choose nothing"], ["?", "these keys"],
  ["wheel", "lanes up and down; with Ctrl zooms, with Shift pans"], ["drag", "pans; with Shift zooms to what is marked"]];

function scrollBy(by) {
  for (const pane of panes)
    pane.scroll = Math.max(0, Math.min(pane.scroll + by, Math.max(0, pane.total + AXIS + 6 - pane.height)));
  drawAll();
}

function slowest() {
  const run = active.run;
  if (run.spans.length > 0) goToSpan(run, run.spans[0]);
}

function fit() {
  const g = chosen.g;
  if (!g) return;
  const length = Math.max(g.end[g.n - 1] - g.begin[0], 100);
  moveTo(g.begin[0] - length * 0.05, g.end[g.n - 1] + length * 0.05);
}

function neighbour(by) {
  const { run, g } = chosen, i = chosen.stretch + by;
  if (g && i >= 0 && i < g.n) goTo(run, g, i);
}

function showKeys() {
  const box = byId("keys");
  box.replaceChildren(make("h3", {}, "Keys"),
    make("table", {}, ...KEYS.map(([k, what]) => make("tr", {}, make("td", {}, make("kbd", {}, k)),
      make("td", { class: "text" }, what)))), make("button", { onclick: () => box.close() }, "close"));
  if (!box.open) box.showModal();
}

const actions = { w: () => zoom(0.6), s: () => zoom(1 / 0.6), "0": () => moveTo(0, whole),
  a: () => moveTo(view.from - (view.to - view.from) * 0.2, view.to - (view.to - view.from) * 0.2),
  d: () => moveTo(view.from + (view.to - view.from) * 0.2, view.to + (view.to - view.from) * 0.2),
  l: slowest, f: fit, "[": () => neighbour(-1), "]": () => neighbour(1), n: () => nextHit(1), N: () => nextHit(-1),
  ArrowUp: () => scrollBy(-60), ArrowDown: () => scrollBy(60), "?": showKeys,
  "/": () => byId("search").focus(), Escape: () => select(chosen.run, null) };

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
  if (event.target instanceof HTMLInputElement && event.target.type === "search") {
    if (event.key === "Enter") nextHit(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") event.target.blur();
    return;
  }
  const arrows = event.key.startsWith("Arrow");
  if (arrows && !(event.target instanceof HTMLCanvasElement)) return; // the page scrolls
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

// ---- setting up ----

function addPane(run) {
  const pane = { run, view: { from: 0, to: Math.max(run.makespan, 1) }, open: new Set(), scroll: 0, drag: null,
                 map: make("canvas", { class: "map", "aria-label": "minimap" }),
                 canvas: make("canvas", { tabindex: "0", role: "img", "aria-label": "timeline of " + run.label }) };
  if (run.gs.length <= 40) for (const name of run.groups_of.keys()) pane.open.add(name);
  const box = make("div", { class: "pane" });
  if (data.runs.length > 1) box.append(make("p", {}, run.label));
  box.append(pane.map, pane.canvas);
  byId("panes").append(box);
  pane.canvas.addEventListener("wheel", (e) => onWheel(pane, e), { passive: false });
  pane.canvas.addEventListener("pointerdown", (e) => onDown(pane, e));
  pane.canvas.addEventListener("pointermove", (e) => onMove(pane, e));
  pane.canvas.addEventListener("pointerup", (e) => onUp(pane, e));
  pane.canvas.addEventListener("pointerleave", (e) => showTip(e, ""));
  pane.canvas.addEventListener("dblclick", (e) => zoom(0.3, under(pane, e).t));
  pane.map.addEventListener("pointerdown", (e) => { pane.map.setPointerCapture(e.pointerId); onMap(pane, e); });
  pane.map.addEventListener("pointermove", (e) => onMap(pane, e));
  panes.push(pane);
  use(pane);
  layOut(pane);
}

function drawLegend() {
  const names = new Map();
  for (const run of data.runs)
    for (const name of run.groups_of.keys()) names.set(name, groupColour(run, name));
  const keys = [...names].slice(0, 12).map(([name, colour]) => [colour, name]);
  keys.push([STATE_COLOURS[1], "runnable"], [STATE_COLOURS[4], "system call"], ["#9aa3ad", "waiting"],
            ["var(--throttled)", "line: throttled"], ["#D55E00", "line: no CPU; dashed: moved to another P"],
            ["#009E73", "band: GC; arrow: wakes"], ["#b3261e", "band: the world is stopped"],
            ["#9aa3ad", "grey band: some P is throttled"]);
  byId("legend").replaceChildren(...keys.map(([colour, words]) => {
    const k = make("span", { class: "key" });
    k.style.background = colour;
    return make("span", {}, k, words);
  }));
}

function startTimeline() {
  for (const run of data.runs) addPane(run);
  drawLegend();
  document.addEventListener("keydown", onKey);
  byId("search").addEventListener("input", (e) => search(e.target.value));
  byId("arrows").addEventListener("change", drawAll);
  byId("bands").addEventListener("change", drawAll);
  byId("in").addEventListener("click", actions.w);
  byId("out").addEventListener("click", actions.s);
  byId("whole").addEventListener("click", actions["0"]);
  byId("slowest").addEventListener("click", slowest);
  byId("help").addEventListener("click", showKeys);
  byId("theme").addEventListener("click", () =>
    applyTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  byId("together").closest("label").hidden = data.runs.length === 1;
  for (const pane of [...panes].reverse()) {
    const run = pane.run, w = run.window;
    use(pane);
    if (run.spans.length > 0) goToSpan(run, run.spans[0]);
    else if (!w.whole) moveTo(w.from, w.to);
  }
}
