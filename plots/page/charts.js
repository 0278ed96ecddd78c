// SPDX-License-Identifier: BSD-3-Clause
// Latency: the share of requests that are slower, over latency, both logarithmic; a part of the axis
// may be marked (brushed), and what it holds is shown in the table and in the timeline.

const chart = { canvas: null, curves: [], low: 1, high: 10, least: 0.01, drag: null, range: null };

function curvesOf() {
  const curves = [], several = data.runs.length > 1;
  data.runs.forEach((run, r) => {
    const spans = run.latencies.filter((l) => l.kind === "span" && l.max > 0).sort((a, b) => b.max - a.max);
    const shown = spans.length > 0 ? spans.slice(0, 7)
      : run.latencies.filter((l) => l.kind === "life" && l.max > 0).slice(0, 7);
    shown.forEach((l, i) => curves.push({ run, l, colour: GROUP_COLOURS[(several ? r : i) % GROUP_COLOURS.length],
      dash: several ? [[], [6, 3], [2, 3], [8, 2, 2, 2]][i % 4] : [] }));
    const wait = run.latencies.find((l) => l.kind === "runq_wait" && l.max > 0);
    if (wait) curves.push({ run, l: wait, colour: several ? GROUP_COLOURS[r] : css("--quiet"), dash: [2, 4] });
    chart.left_out = Math.max(chart.left_out || 0, spans.length - 7);
  });
  return curves;
}

function nameOf(l) {
  return l.kind === "runq_wait" ? "wait in run queues" : l.kind === "life" ? "life of " + l.name : l.name;
}

function chartScale(width, height) {
  const left = 60, right = width - 12, top = 10, bottom = height - 30;
  const a = Math.log(chart.low), b = Math.log(chart.high), d = Math.log(chart.least);
  return { left, right, top, bottom,
    x: (ns) => left + (Math.log(Math.max(ns, 0.1)) - a) / (b - a) * (right - left),
    ns: (x) => Math.exp(a + (x - left) / (right - left) * (b - a)),
    y: (share) => top + Math.log(Math.max(share, chart.least)) / d * (bottom - top) };
}

function drawChart() {
  const { c, width, height } = begin(chart.canvas, 320), s = chartScale(width, height);
  c.font = "11px system-ui, 'DejaVu Sans', sans-serif";
  c.lineWidth = 1;
  const names = [[1, "all"], [0.5, "p50"], [0.1, "p90"], [0.01, "p99"], [0.001, "p99.9"], [0.0001, "p99.99"]];
  for (const [share, name] of names) {
    if (share < chart.least) continue;
    c.strokeStyle = css("--line");
    c.strokeRect(s.left, s.y(share), s.right - s.left, 0.01);
    c.fillStyle = css("--quiet");
    c.fillText(name, 8, s.y(share) + 4);
  }
  for (let t = 10 ** Math.ceil(Math.log10(chart.low)); t < chart.high * 0.9; t *= 10) {
    c.strokeRect(s.x(t), s.top, 0.01, s.bottom - s.top);
    c.fillText(round(t), s.x(t) - 14, s.bottom + 16);
  }
  c.save();
  c.beginPath();
  c.rect(s.left, s.top - 6, s.right - s.left, s.bottom - s.top + 8);
  c.clip();
  for (const curve of chart.curves) drawCurve(c, s, curve);
  c.restore();
  const r = chart.drag || chart.range;
  if (r) {
    c.fillStyle = "#0072B233";
    c.fillRect(s.x(r[0]), s.top, Math.max(s.x(r[1]) - s.x(r[0]), 1), s.bottom - s.top);
  }
}

function drawCurve(c, s, curve) {
  const points = curve.l.quantiles, least = 1 / curve.l.count;
  c.strokeStyle = curve.colour;
  c.lineWidth = 2;
  c.setLineDash(curve.dash);
  c.beginPath();
  for (let i = 0; i < points.length; i += 2) {
    const x = s.x(points[i + 1]), y = s.y(Math.max((1e6 - points[i]) / 1e6, least));
    if (i === 0) c.moveTo(x, y); else c.lineTo(x, y);
  }
  c.stroke();
  c.setLineDash([]);
  if (curve.l.count < 10) {
    c.fillStyle = curve.colour;
    for (let i = 0; i < points.length; i += 2)
      c.fillRect(s.x(points[i + 1]) - 2, s.y(Math.max((1e6 - points[i]) / 1e6, least)) - 2, 4, 4);
  }
}

function brush(range) {
  chart.range = range;
  const inside = (s) => s.took >= range[0] && s.took <= range[1];
  chosen.brush = null;
  if (range) {
    chosen.brush = new Set();
    for (const run of data.runs)
      for (const s of run.spans) if (inside(s) && run.byGoid.get(s.goid)) chosen.brush.add(run.byGoid.get(s.goid));
  }
  byId("brushed").textContent = range ? `${time(range[0])} to ${time(range[1])}; click there to take it back` : "";
  drawChart();
  showRequests();
  drawAll();
}

function chartKeys() {
  return make("div", { class: "bar" }, ...chart.curves.map((curve) => {
    const k = make("span", { class: "key" });
    k.style.background = curve.colour;
    const l = curve.l, run = data.runs.length > 1 ? `run ${curve.run.id}: ` : "";
    const p99 = l.p99 !== null ? `, p99 ${time(l.p99)}` : "";
    return make("span", {}, k, `${run}${nameOf(l)} \u2013 ${count(l.count)}${p99}, max ${time(l.max)}`);
  }));
}

function startChart() {
  const box = byId("latency");
  chart.curves = curvesOf();
  if (chart.curves.length === 0) {
    box.append(make("p", { class: "quiet" }, "No spans, and nothing that waited to run."));
    return;
  }
  const firsts = chart.curves.map((x) => x.l.kind === "runq_wait" ? x.l.p50 : x.l.quantiles[3]);
  chart.low = Math.max(1, Math.min(...firsts.filter((v) => v > 0), ...chart.curves.map((x) => x.l.max))) * 0.8;
  chart.high = Math.max(...chart.curves.map((x) => x.l.max)) * 1.25;
  chart.least = Math.max(1e-6, Math.min(0.05, ...chart.curves.map((x) => 0.9 / x.l.count)));
  chart.canvas = make("canvas", { class: "chart", "aria-label": "latency" });
  box.append(make("p", { class: "quiet" }, "The share that is slower, over latency. Mark a part of it to see whose it is. ",
    make("span", { id: "brushed" })), chart.canvas, chartKeys());
  if (chart.left_out > 0)
    box.append(make("p", { class: "quiet" }, `The 7 spans with the slowest requests; ${chart.left_out} more are in the table.`));
  const at = (e) => chartScale(chart.canvas.clientWidth, 320).ns(e.clientX - chart.canvas.getBoundingClientRect().left);
  chart.canvas.addEventListener("pointerdown", (e) => {
    chart.canvas.setPointerCapture(e.pointerId);
    chart.start = at(e);
    chart.drag = [chart.start, chart.start];
  });
  chart.canvas.addEventListener("pointermove", (e) => {
    if (!chart.drag) return;
    chart.drag = [Math.min(chart.start, at(e)), Math.max(chart.start, at(e))];
    drawChart();
  });
  chart.canvas.addEventListener("pointerup", () => {
    const r = chart.drag;
    chart.drag = null;
    if (r) brush(r[1] / r[0] > 1.02 ? r : null);
  });
  drawChart();
}
