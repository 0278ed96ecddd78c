// SPDX-License-Identifier: BSD-3-Clause
// The head, the tables (a click on a column's name sorts), the grid of what-if runs.

// ---- tables that sort ----

// columns: {name, text?, show?}; rows: arrays of values (and .go: what a click does)
function table(columns, rows, sorted) {
  const head = make("tr"), body = make("tbody"), order = [...rows];
  const fill = () => body.replaceChildren(...order.map((row) => {
    const tr = make("tr", row.go ? { class: "go", tabindex: "0", onclick: row.go } : {},
      ...columns.map((c, i) => make("td", { class: [c.text ? "text" : "", row.best && row.best.has(i) ? "best" : ""].join(" ").trim() },
        row[i] === null || row[i] === undefined ? "" : c.show ? c.show(row[i]) : String(row[i]))));
    if (row.go) tr.addEventListener("keydown", (e) => { if (e.key === "Enter") row.go(); });
    return tr;
  }));
  const sort = (i, th, downward) => {
    for (const other of head.children) other.removeAttribute("aria-sort");
    th.setAttribute("aria-sort", downward ? "descending" : "ascending");
    const sign = downward ? -1 : 1;
    order.sort((a, b) => {
      const x = a[i], y = b[i];
      if (x === y) return 0;
      if (x === null || x === undefined) return 1;
      if (y === null || y === undefined) return -1;
      return sign * (typeof x === "number" && typeof y === "number" ? x - y : String(x) < String(y) ? -1 : 1);
    });
    fill();
  };
  columns.forEach((c, i) => {
    const th = make("th", { class: c.text ? "text" : "", tabindex: "0" }, c.name);
    const turn = () => sort(i, th, th.getAttribute("aria-sort") !== "descending");
    th.addEventListener("click", turn);
    th.addEventListener("keydown", (e) => { if (e.key === "Enter") turn(); });
    head.append(th);
    if (sorted === i) th.setAttribute("aria-sort", "descending");
  });
  fill();
  return make("div", { class: "scroll" }, make("table", {}, make("thead", {}, head), body));
}

const several = data.runs.length > 1;
const runColumn = several ? [{ name: "run" }] : [];
const ofRun = (run) => several ? [run.id] : [];
const section = (parent, title, ...children) => parent.append(make("h2", {}, title), ...children);
const folded = (parent, title, ...children) => parent.append(make("details", {}, make("summary", {}, title), ...children));

// ---- the head ----

function machineWords(run) {
  if (run.host === "recorded")
    return `recorded: ${run.profile} trace, GOMAXPROCS ${run.procs}; ${time(run.makespan)}, ${run.threads} threads`;
  const quota = run.quota_us > 0 ? `, quota ${(run.quota_us / run.period_us).toFixed(2)} CPUs per ${time(run.period_us * 1000)}` : "";
  return `${run.profile}, GOMAXPROCS ${run.procs}, ${run.cpus > 0 ? run.cpus + " CPUs" : "a CPU per thread"}${quota}` +
         `${run.rules ? ", " + run.rules : ""}, seed ${run.seed}; ${time(run.makespan)} of virtual time, ${run.threads} threads`;
}

function headOf(run) {
  const good = run.complaints === "" && ["finished", "recorded", "time limit"].includes(run.verdict);
  const box = make("div", {}, make("h1", {}, several ? `run ${run.id}: ${run.scenario}` : run.scenario),
    make("p", { class: "verdict " + (good ? "good" : "bad") }, run.verdict + (run.text ? ": " + run.text.split("\n")[0] : "")));
  if (run.text.includes("\n")) box.append(make("pre", {}, run.text));
  if (run.complaints) box.append(make("pre", { class: "verdict bad" }, run.complaints));
  box.append(make("p", {}, machineWords(run)));
  if (run.nr_throttled > 0)
    box.append(make("p", {}, `throttled in ${count(run.nr_throttled)} of ${count(run.nr_periods)} periods, for ${time(run.throttled_ns)}`));
  box.append(make("p", {}, make("code", {}, run.repeat)));
  if (run.host !== "recorded")
    box.append(make("p", { class: "quiet" }, `fingerprint ${run.fingerprint}: the line gives the same run on every machine (gmpsim ${run.version})`));
  if (!run.window.whole)
    box.append(make("p", { class: "quiet" }, `Of ${count(run.window.all)} stretches the timeline holds the ${count(run.window.kept)} ` +
      `between ${time(run.window.from)} and ${time(run.window.to)}, and those of the slowest requests; of the rest an overview of the Ps.`));
  return box;
}

// ---- where the time of the slow ones went ----

const PART_COLOURS = { running: "#0072B2", "run queue": "#E69F00", throttled: "var(--throttled)", "no CPU": "#D55E00",
  "system call": "#F0E442", lock: "#882255", channel: "#56B4E9", timer: "#CC79A7", network: "#999933",
  "GC assist": "#009E73", "stop of the world": "#b3261e", "before it was taken up": "#a8a8a8" };

// What a part is called in a sentence, as the run's own report calls it.
const PART_WORDS = { "run queue": "waiting in run queues", throttled: "CPU throttling",
  "no CPU": "waiting for a CPU", lock: "waiting for locks", channel: "waiting on channels",
  "wait group": "waiting for other goroutines", timer: "sleeping", network: "waiting for the network",
  "system call": "system calls", "GC assist": "work for the collector",
  "stop of the world": "stops of the world", "before it was taken up": "waiting to be taken up",
  "handed over": "waiting between two goroutines" };

// "1.093ms lock cache, line 16, until worker ended it"
function waitText([, part, ns, who, object, place]) {
  return `${time(ns)} ${part}${object ? " " + object : ""}${place ? ", " + place : ""}` +
    (who ? (part === "run queue" ? `, behind ${who}` : `, until ${who} ended it`) : "");
}

function attributionOf(run) {
  const box = make("div", {});
  if (data.runs.length > 1)
    box.append(make("p", { class: "quiet" }, `run ${run.id}: ${machineWords(run)}`));
  for (const a of run.attribution) {
    const all = a.parts.reduce((sum, p) => sum + p[1], 0);
    if (all === 0) continue;
    const [name, ns] = a.parts[0];
    box.append(make("p", {}, make("strong", {}, `${Math.floor(100 * ns / all)} % of the time of slow ${a.name} spans is ${PART_WORDS[name] || name}`),
      `: ${time(ns / a.count)} of ${time(all / a.count)} each, over the slowest ${count(a.count)}.`));
    const bar = make("div", { class: "part", role: "img", "aria-label": "shares" });
    let k = 0;
    for (const [part, sum] of a.parts) {
      const s = make("span", { title: `${part}: ${time(sum / a.count)} each, ${(100 * sum / all).toFixed(1)} %` });
      s.style.background = PART_COLOURS[part] || GROUP_COLOURS[(2 + k++) % GROUP_COLOURS.length];
      s.style.flexGrow = String(sum);
      bar.append(s);
    }
    box.append(bar, make("p", { class: "quiet" }, a.parts.filter((p) => p[1] > 0.004 * all)
      .map(([part, sum]) => `${part} ${time(sum / a.count)} (${(100 * sum / all).toFixed(1)} %)`).join(" \u00b7 ")));
    const waits = run.waits.filter((w) => w[0] === a.name && w[2] * a.count > 0.01 * all).slice(0, 3);
    if (waits.length > 0)
      box.append(make("ul", { class: "quiet" }, ...waits.map((w) => make("li", {}, waitText(w)))));
  }
  return box;
}

// ---- tables of a run ----

function latencyTable() {
  const rows = [], spans = { span: 0, life: 1, runq_wait: 2, wait: 3 };
  for (const run of data.runs)
    for (const l of run.latencies) {
      if (l.kind === "wait") continue;
      const row = [...ofRun(run), nameOf(l), l.count, run.makespan > run.warmup ? l.count / (run.makespan - run.warmup) * 1e9 : null,
                   l.p50, l.p90, l.p99, l.p999, l.max];
      row.kind = spans[l.kind];
      rows.push(row);
    }
  rows.sort((a, b) => a.kind - b.kind);
  return table([...runColumn, { name: "latency", text: true }, { name: "count", show: count },
    { name: "per second", show: (v) => count(Math.round(v * 10) / 10) },
    ...["p50", "p90", "p99", "p99.9", "max"].map((name) => ({ name, show: time }))], rows);
}

function groupTable() {
  const rows = data.runs.flatMap((run) => run.groups.map((g) => [...ofRun(run), ...g]));
  return table([...runColumn, { name: "goroutines", text: true }, { name: "created", show: count }, { name: "ended", show: count },
    ...["running", "runnable", "waiting", "syscall"].map((name) => ({ name, show: time }))], rows);
}

function counterTable() {
  const names = data.runs[0].counters.map((c) => c[0]);
  const rows = names.map((name, i) => [name, ...data.runs.map((run) => run.counters[i] ? run.counters[i][1] : null)])
    .filter((row) => row.slice(1).some((v) => v > 0));
  return table([{ name: "counter", text: true }, ...data.runs.map((run) => ({ name: several ? `run ${run.id}` : "value", show: count }))], rows);
}

function blockedTable() {
  const rows = data.runs.flatMap((run) => run.blocked.map((b) => [...ofRun(run), ...b]));
  if (rows.length === 0) return null;
  return table([...runColumn, { name: "goroutine" }, { name: "group", text: true }, { name: "status", text: true },
    { name: "waits for", text: true }, { name: "since", show: time }, { name: "line" }], rows);
}

function showRequests() {
  const box = byId("requests"), rows = [];
  for (const run of data.runs)
    for (const s of run.spans) {
      if (chart.range && (s.took < chart.range[0] || s.took > chart.range[1])) continue;
      const row = [...ofRun(run), s.name, s.key, s.goid, s.begin, s.took];
      row.go = () => { goToSpan(run, s); byId("timeline").scrollIntoView({ behavior: "smooth" }); };
      rows.push(row);
    }
  rows.sort((a, b) => b[b.length - 1] - a[a.length - 1]);
  box.replaceChildren(table([...runColumn, { name: "span", text: true }, { name: "key" }, { name: "goroutine" },
    { name: "began", show: time }, { name: "took", show: time }], rows.slice(0, 100), 4 + runColumn.length),
    make("p", { class: "quiet" }, `${count(Math.min(rows.length, 100))} of ${count(rows.length)} in this report; ` +
      "it holds the slowest ones and a sample of the others. A click shows one in the timeline."));
}

// ---- what-if ----

function whatifTable() {
  const w = data.whatif;
  const rows = w.rows.map((r) => [r.profile, r.policy ? `${r.procs} (${r.policy})` : r.procs, r.cpus > 0 ? r.cpus : null,
    r.quota_us > 0 ? r.quota_us / 1e5 : null, r.load, r.name, r.runs, r.rate, r.p50, r.p90, r.p99, r.p999, r.max, r.half]);
  const names = new Set(rows.map((r) => r[5]));
  for (const name of names)
    for (const [column, sign] of [[7, -1], [8, 1], [9, 1], [10, 1], [11, 1], [12, 1]]) {
      const of = rows.filter((r) => r[5] === name && r[column] !== null);
      if (of.length < 2) continue;
      const best = of.reduce((a, b) => sign * a[column] <= sign * b[column] ? a : b);
      (best.best = best.best || new Set()).add(column);
    }
  return table([{ name: "profile", text: true }, { name: "procs" }, { name: "cpus" },
    { name: "quota", show: (v) => v.toFixed(2) }, { name: "load", show: (v) => v + "\u00d7" }, { name: "span", text: true }, { name: "runs" },
    { name: "per second", show: (v) => count(Math.round(v)) }, ...["p50", "p90", "p99", "p99.9", "max"].map((name) => ({ name, show: time })),
    { name: "\u00b1 p99", show: (v) => (100 * v).toFixed(1) + " %" }], rows);
}

function startTables() {
  byId("head").append(make("div", { class: "runs" }, ...data.runs.map(headOf)));
  document.title = data.runs.map((r) => r.scenario).join(" / ") + " \u2013 gmpsim";
  if (data.runs.some((r) => r.attribution.length > 0)) {
    byId("attribution").append(make("h2", {}, "Where the time of the slow ones went"),
      make("div", { class: "runs" }, ...data.runs.map(attributionOf)));
  }
  const box = byId("tables");
  section(box, "Percentiles", latencyTable());
  if (data.runs.some((r) => r.spans.length > 0)) {
    section(box, "Slow requests", make("div", { id: "requests" }));
    showRequests();
  } else box.append(make("div", { id: "requests", hidden: "" }));
  section(box, "Goroutines", groupTable());
  const blocked = blockedTable();
  if (blocked) section(box, "Not ended", blocked);
  folded(box, "Counters", counterTable());
  if (data.whatif) section(byId("whatif"), "What if", make("p", { class: "quiet" },
    `gmpsim whatif on ${data.whatif.scenario}: means over the seeds; the best of each column is marked.`), whatifTable());
}
