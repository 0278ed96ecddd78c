// SPDX-License-Identifier: BSD-3-Clause
// The timeline: a pane per run over one time axis. Lanes from the top: what the Ps did, runnable
// goroutines, a lane per P, then the groups, which open to a lane per goroutine.
//
// What is narrower than a pixel is joined into a column as high as the share of the time that it
// took, so a frame costs what is visible. Beyond the part of a long run of which the report holds
// every stretch, the lanes of the Ps show an overview, and those of goroutines say so.

const GUTTER = 132, AXIS = 22, MAP = 36, MOST_HEIGHT = 620, PIN_MOST = 340, ARROWS_MOST = 400;
const whole = Math.max(1, ...data.runs.map((r) => r.makespan));
// From when to when: of the pane that is drawn, or that somebody works with. Each pane has its own
// unless they are to move together.
let view = { from: 0, to: whole }, active = null;
const chosen = { run: null, g: null, stretch: -1, hits: [], hit: -1, brush: null };
const panes = [];

// ---- lanes ----

function layOut(pane) {
  const run = pane.run, thin = run.procs > 48;
  const lanes = [{ kind: "util", h: 48 }, { kind: "queue", h: 34 }];
  for (let p = 0; p < run.procs; p++) lanes.push({ kind: "p", p, h: thin ? 8 : 18 });
  const order = [...run.group_order.filter((n) => run.groups_of.has(n)),
                 ...[...run.groups_of.keys()].filter((n) => !run.group_order.includes(n))];
  for (const name of order) {
    const gs = run.groups_of.get(name), open = pane.open.has(name);
    lanes.push({ kind: "group", name, gs, open, h: 26 });
    if (open) for (const g of gs) lanes.push({ kind: "g", g, h: 14 });
  }
  let y = 0;
  pane.pin = 0;
  for (const lane of lanes) {
    lane.y = y;
    y += lane.h + 2;
    lane.pinned = run.procs * (thin ? 10 : 20) < PIN_MOST && ["util", "queue", "p"].includes(lane.kind);
    if (lane.pinned) pane.pin = y;
  }
  pane.lanes = lanes;
  pane.total = y;
  pane.ys = Float64Array.from(lanes, (l) => l.y);
  pane.height = Math.min(MOST_HEIGHT, AXIS + y + 6);
  pane.scroll = Math.max(0, Math.min(pane.scroll, y + AXIS + 6 - pane.height));
}

// Lanes above pane.pin stay; the others scroll below them.
function laneAt(pane, y) {
  const at = y - AXIS < pane.pin ? y - AXIS : y - AXIS + pane.scroll;
  if (y < AXIS || at < 0) return null;
  const lane = pane.lanes[above(pane.ys, at) - 1];
  return lane && at < lane.y + lane.h ? lane : null;
}

function topOf(pane, lane) { return AXIS + lane.y - (lane.pinned ? 0 : pane.scroll); }

function laneOf(pane, g) { return pane.lanes.find((l) => l.kind === "g" && l.g === g); }

// ---- time and pixels ----

function scale(width) {
  const k = (width - GUTTER) / (view.to - view.from);
  return { x: (t) => GUTTER + (t - view.from) * k, t: (x) => view.from + (x - GUTTER) / k, k };
}

function use(pane) {
  active = pane;
  view = pane.view;
}

function moveTo(from, to) {
  const least = 20, length = Math.max(least, Math.min(to - from, whole * 1.02));
  from = Math.max(-whole * 0.01, Math.min(from, whole * 1.01 - length));
  for (const pane of panes)
    if (pane === active || byId("together").checked) Object.assign(pane.view, { from, to: from + length });
  drawAll();
}

function zoom(factor, at) {
  const t = at === undefined ? (view.from + view.to) / 2 : at;
  moveTo(t - (t - view.from) * factor, t + (view.to - t) * factor);
}

// ---- boxes ----

// Draws boxes [begin(i), end(i)) in a lane; narrow ones are joined.
function boxes(c, s, y, h, begins, ends, colourOf, label) {
  let column = -1, busy = 0, most = 0, colour = "";
  const flush = () => {
    if (busy > 0) {
      const high = Math.max(h * 0.12, Math.min(busy, 1) * h);
      c.fillStyle = colour;
      c.fillRect(column, y + h - high, 1, high);
    }
    busy = most = 0;
  };
  for (let i = Math.max(above(begins, view.from) - 1, 0); i < begins.length && begins[i] < view.to; i++) {
    if (ends[i] <= view.from) continue;
    const is = colourOf(i);
    if (is === null) continue;
    const x0 = Math.max(s.x(begins[i]), GUTTER), x1 = s.x(Math.min(ends[i], view.to));
    if (x1 - x0 >= 1) {
      flush();
      c.fillStyle = is;
      c.fillRect(x0, y, x1 - x0 > 3 ? x1 - x0 - 0.5 : x1 - x0, h);
      if (label && x1 - x0 > 34 && h >= 10) label(i, x0, x1);
      continue;
    }
    const at = Math.floor(x0);
    if (at !== column) { flush(); column = at; }
    busy += x1 - x0;
    if (x1 - x0 >= most) { most = x1 - x0; colour = is; }
  }
  flush();
}

function text(c, words, x, y, room) {
  const most = Math.floor(room / 6.2);
  if (most < 2) return;
  c.fillText(words.length > most ? words.slice(0, most - 1) + "\u2026" : words, x, y);
}

function isDark(colour) {
  const n = parseInt(colour.slice(1, 7), 16);
  return 0.3 * (n >> 16) + 0.59 * (n >> 8 & 255) + 0.11 * (n & 255) < 140;
}

function isMeant(run, g) {
  return (chosen.g === g && chosen.run === run) || (chosen.brush && chosen.brush.has(g));
}

function drawP(pane, c, s, lane, y) {
  const run = pane.run, l = run.lanes[lane.p];
  drawOverview(pane, c, s, lane.p, y, lane.h);
  boxes(c, s, y, lane.h, l.begin, l.end,
        (i) => isMeant(run, l.gs[i]) ? css("--pick") : l.gs[i].colour,
        (i, x0, x1) => {
          const colour = isMeant(run, l.gs[i]) ? "#d00000" : l.gs[i].colour;
          c.fillStyle = isDark(colour) ? "#fff" : "#000";
          text(c, `${l.gs[i].name} ${l.gs[i].goid}`, x0 + 3, y + lane.h / 2 + 4, x1 - x0 - 4);
        });
}

// Where the report does not hold every stretch.
function drawOverview(pane, c, s, p, y, h) {
  const run = pane.run, o = run.overview;
  if (!o) return;
  const first = Math.max(0, Math.floor(view.from / o.width));
  for (let b = first; b < o.of[p].length && b * o.width < view.to; b++) {
    const code = o.of[p][b], share = (code & 255) / 255;
    if (share === 0 || (b * o.width >= run.window.from && (b + 1) * o.width <= run.window.to)) continue;
    const x = Math.max(s.x(b * o.width), GUTTER), g = code >> 8;
    c.globalAlpha = 0.55;
    c.fillStyle = g < run.group_order.length && g < GROUP_COLOURS.length ? GROUP_COLOURS[g]
                : g === 255 ? RUNTIME : OTHER;
    c.fillRect(x, y + h * (1 - share), Math.max(s.x((b + 1) * o.width) - x, 0.6), h * share);
    c.globalAlpha = 1;
  }
}

function drawG(pane, c, s, lane, y) {
  const g = lane.g;
  boxes(c, s, y + 2, lane.h - 4, g.begin, g.end, (i) => STATE_COLOURS[g.state[i]] || null,
        (i, x0, x1) => {
          const words = g.state[i] === 3 ? pane.run.reasons[g.reason[i]] || "waiting" : STATES[g.state[i]];
          c.fillStyle = g.state[i] === 2 ? "#fff" : g.state[i] === 3 ? css("--ink") : "#000";
          text(c, words, x0 + 3, y + lane.h / 2 + 3.5, x1 - x0 - 4);
        });
  c.fillStyle = css("--mark");
  for (const span of g.spans) {
    if (span.end < view.from || span.begin > view.to) continue;
    const x = Math.max(s.x(span.begin), GUTTER);
    c.fillRect(x, y, Math.max(s.x(Math.min(span.end, view.to)) - x, 1), 1.5);
  }
}

// How many of the group run and are runnable, over time.
function drawGroup(pane, c, s, lane, y, width) {
  const columns = Math.ceil(width - GUTTER), running = new Float64Array(columns + 1),
        ready = new Float64Array(columns + 1);
  for (const g of lane.gs) {
    for (let i = Math.max(above(g.begin, view.from) - 1, 0); i < g.n && g.begin[i] < view.to; i++) {
      const to = g.state[i] === 2 ? running : g.state[i] === 1 ? ready : null;
      if (!to || g.end[i] <= view.from) continue;
      const a = Math.max(s.x(g.begin[i]) - GUTTER, 0), b = Math.min(s.x(g.end[i]) - GUTTER, columns);
      for (let x = Math.floor(a); x < b; x++) to[x] += Math.min(b, x + 1) - Math.max(a, x);
    }
  }
  let most = 1;
  for (let x = 0; x < columns; x++) most = Math.max(most, running[x] + ready[x]);
  const k = (lane.h - 2) / most;
  for (let x = 0; x < columns; x++) {
    if (running[x] > 0) {
      c.fillStyle = groupColour(pane.run, lane.name);
      c.fillRect(GUTTER + x, y + lane.h - running[x] * k, 1, running[x] * k);
    }
    if (ready[x] > 0) {
      c.fillStyle = STATE_COLOURS[1];
      c.fillRect(GUTTER + x, y + lane.h - (running[x] + ready[x]) * k, 1, ready[x] * k);
    }
  }
}

function drawUtil(pane, c, s, lane, y) {
  const u = pane.run.samples;
  for (let i = Math.max(above(u.at, view.from) - 1, 0); i < u.at.length && u.at[i] < view.to; i++) {
    const end = i + 1 < u.at.length ? u.at[i + 1] : pane.run.makespan;
    if (end <= view.from) continue;
    const x0 = Math.max(s.x(u.at[i]), GUTTER), x1 = s.x(Math.min(end, view.to));
    let top = y + lane.h;
    for (let k = 0; k < CLASSES.length; k++) {
      const high = u.share[k][i] / 1000 * lane.h;
      c.fillStyle = CLASSES[k][0] === "throttled" ? css("--throttled") : CLASSES[k][1];
      if (high > 0) c.fillRect(x0, top - high, Math.max(x1 - x0, 0.7), high);
      top -= high;
    }
  }
}

function drawQueue(pane, c, s, lane, y) {
  const u = pane.run.samples;
  let most = 1;
  for (const v of u.most) most = Math.max(most, v);
  for (let i = Math.max(above(u.at, view.from) - 1, 0); i < u.at.length && u.at[i] < view.to; i++) {
    const end = i + 1 < u.at.length ? u.at[i + 1] : pane.run.makespan;
    if (end <= view.from) continue;
    const x0 = Math.max(s.x(u.at[i]), GUTTER), w = Math.max(s.x(Math.min(end, view.to)) - x0, 0.7);
    c.fillStyle = "#56B4E966";
    c.fillRect(x0, y + lane.h * (1 - u.most[i] / most), w, lane.h * u.most[i] / most);
    c.fillStyle = "#0072B2";
    c.fillRect(x0, y + lane.h * (1 - u.mean[i] / most), w, lane.h * u.mean[i] / most);
  }
  c.fillStyle = css("--quiet");
  c.fillText(String(most), GUTTER + 2, y + 10);
}

// ---- bands and arrows ----

function drawStalls(pane, c, s) {
  const wide = { throttled: css("--throttled"), "no cpu": "#D55E00" };
  for (const [p, from, to, why] of pane.run.stalls) {
    if (to <= view.from || from >= view.to) continue;
    const lane = pane.lanes[2 + p];
    if (!lane || lane.kind !== "p") continue;
    const y = topOf(pane, lane), x = Math.max(s.x(from), GUTTER),
          w = Math.max(s.x(Math.min(to, view.to)) - x, 1);
    c.globalAlpha = 0.6;
    c.fillStyle = css("--page");
    c.fillRect(x, y, w, lane.h);
    c.globalAlpha = 1;
    c.fillStyle = wide[why] || "#888";
    c.fillRect(x, y + lane.h / 2 - 1.5, w, 3);
  }
}

function drawBands(pane, c, s, height) {
  for (const [what, from, to] of pane.run.bands) {
    if (to <= view.from || from >= view.to) continue;
    const x = Math.max(s.x(from), GUTTER), w = Math.max(s.x(Math.min(to, view.to)) - x, 0.7);
    c.globalAlpha = what === "stop" ? 0.3 : 0.12;
    c.fillStyle = what === "GC" ? "#009E73" : what === "stop" ? "#b3261e" : css("--ink");
    c.fillRect(x, AXIS, w, height - AXIS);
    c.globalAlpha = 1;
  }
}

function arrow(c, x0, y0, x1, y1, colour) {
  const a = Math.atan2(y1 - y0, x1 - x0);
  c.strokeStyle = c.fillStyle = colour;
  c.beginPath();
  c.moveTo(x0, y0);
  c.lineTo(x1, y1);
  c.stroke();
  c.beginPath();
  c.moveTo(x1, y1);
  c.lineTo(x1 - 6 * Math.cos(a - 0.4), y1 - 6 * Math.sin(a - 0.4));
  c.lineTo(x1 - 6 * Math.cos(a + 0.4), y1 - 6 * Math.sin(a + 0.4));
  c.fill();
}

function middle(pane, lane) { return topOf(pane, lane) + lane.h / 2; }

// From who made it runnable to where it ran: a wake; dashed where another P ran it than the one it
// was queued on (stolen, or over the global queue).
function drawWakes(pane, c, s, g, own) {
  for (let i = Math.max(above(g.end, view.from) - 1, 0); i < g.n && g.begin[i] < view.to; i++) {
    const next = i + 1;
    if (g.state[i] !== 3 || next >= g.n || g.state[next] !== 1) continue;
    const woke = pane.lanes[2 + g.p[i]], ran = next + 1 < g.n ? pane.lanes[2 + g.p[next]] : null;
    const x = s.x(g.end[i]);
    if (x < GUTTER || g.p[i] < 0 || !woke || woke.kind !== "p") continue;
    if (own && middle(pane, own) > AXIS + pane.pin)
      arrow(c, x, middle(pane, woke), x, middle(pane, own), "#009E73");
    if (ran && ran.kind === "p" && g.p[next] >= 0 && g.p[next] !== g.p[i]) {
      c.setLineDash([4, 3]);
      arrow(c, x, middle(pane, woke), s.x(g.end[next]), middle(pane, ran), "#D55E00");
      c.setLineDash([]);
    }
  }
}

function drawArrows(pane, c, s) {
  if (!byId("arrows").checked) return;
  if (chosen.g && chosen.run === pane.run) {
    drawWakes(pane, c, s, chosen.g, laneOf(pane, chosen.g));
    return;
  }
  const seen = new Set();
  for (const l of pane.run.lanes)
    for (let i = Math.max(above(l.begin, view.from) - 1, 0); i < l.begin.length && l.begin[i] < view.to; i++) {
      seen.add(l.gs[i]);
      if (seen.size > ARROWS_MOST / 4) return; // too many to mean anything
    }
  for (const g of seen) drawWakes(pane, c, s, g, null);
}

// ---- a frame ----

function drawAxis(pane, c, s, width, height) {
  c.fillStyle = css("--page");
  c.fillRect(0, 0, width, AXIS);
  c.font = "11px system-ui, 'DejaVu Sans', sans-serif";
  const every = step(view.to - view.from, (width - GUTTER) / 90);
  for (let t = Math.ceil(Math.max(view.from, 0) / every) * every; t <= view.to; t += every) {
    const x = s.x(t);
    c.strokeStyle = css("--line");
    c.lineWidth = 1;
    c.beginPath();
    c.moveTo(x, AXIS - 5);
    c.lineTo(x, height);
    c.stroke();
    c.fillStyle = css("--quiet");
    c.fillText(tick(t, every), x + 3, AXIS - 8);
  }
}

function tick(t, every) {
  const units = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];
  const [unit, name] = units.find(([u]) => t >= u && every >= u / 1000) || units[units.length - 1];
  const digits = Math.max(0, Math.ceil(-Math.log10(every / unit) - 1e-9));
  return (t / unit).toFixed(Math.min(digits, 6)) + name;
}

function label(c, pane, lane, y) {
  const names = { util: "Ps", queue: "runnable" };
  let words = names[lane.kind];
  if (lane.kind === "p") words = lane.h < 12 && lane.p % 8 ? "" : "P" + lane.p;
  if (lane.kind === "group") words = `${lane.open ? "\u25be" : "\u25b8"} ${lane.name} (${lane.gs.length})`;
  if (lane.kind === "g") words = "  g" + lane.g.goid;
  c.fillStyle = lane.kind === "g" && isMeant(pane.run, lane.g) ? css("--pick") : css("--ink");
  text(c, words, 6, y + lane.h / 2 + 4, GUTTER - 10);
}

function drawLane(pane, c, s, lane, y, width) {
  if (lane.kind === "p" || lane.kind === "g") {
    c.fillStyle = css("--lane");
    c.fillRect(GUTTER, y, width - GUTTER, lane.h);
  }
  if (lane.kind === "util") drawUtil(pane, c, s, lane, y);
  else if (lane.kind === "queue") drawQueue(pane, c, s, lane, y);
  else if (lane.kind === "p") drawP(pane, c, s, lane, y);
  else if (lane.kind === "group") drawGroup(pane, c, s, lane, y, width);
  else drawG(pane, c, s, lane, y);
}

// What the report has no stretches of.
function drawUnknown(pane, c, s, height) {
  const w = pane.run.window;
  if (w.whole) return;
  const first = pane.lanes.find((l) => l.kind === "group");
  const y = first ? Math.max(AXIS + pane.pin, topOf(pane, first)) : height;
  c.globalAlpha = 0.5;
  c.fillStyle = css("--panel");
  for (const [a, b] of [[0, w.from], [w.to, pane.run.makespan]]) {
    const x0 = Math.max(s.x(a), GUTTER), x1 = s.x(Math.min(b, view.to));
    if (x1 <= x0 || y >= height) continue;
    c.fillRect(x0, y, x1 - x0, height - y);
    c.globalAlpha = 1;
    c.fillStyle = css("--quiet");
    text(c, "only an overview: gmpsim report --from --to holds another part", x0 + 8, y + 14, x1 - x0 - 12);
    c.globalAlpha = 0.5;
    c.fillStyle = css("--panel");
  }
  c.globalAlpha = 1;
}

// Those that scroll, then those that stay.
function drawLanes(pane, c, s, width, height, pinned) {
  const top = AXIS + (pinned ? 0 : pane.pin);
  c.save();
  c.beginPath();
  c.rect(0, top, width, height - top);
  c.clip();
  for (const lane of pane.lanes) {
    const y = topOf(pane, lane);
    if (lane.pinned !== pinned || y + lane.h < top || y > height) continue;
    drawLane(pane, c, s, lane, y, width);
    c.clearRect(0, y, GUTTER - 2, lane.h);
    label(c, pane, lane, y);
  }
  c.restore();
}

function draw(pane) {
  view = pane.view;
  const { c, width } = begin(pane.canvas, pane.height), height = pane.height, s = scale(width);
  c.save();
  drawAxis(pane, c, s, width, height);
  c.beginPath();
  c.rect(0, AXIS, width, height - AXIS);
  c.clip();
  drawLanes(pane, c, s, width, height, false);
  drawLanes(pane, c, s, width, height, true);
  drawStalls(pane, c, s);
  if (byId("bands").checked) drawBands(pane, c, s, height);
  drawUnknown(pane, c, s, height);
  drawArrows(pane, c, s);
  c.restore();
  if (pane.drag && pane.drag.select !== undefined) {
    c.fillStyle = "#0072B233";
    c.fillRect(Math.min(pane.drag.x, pane.drag.select), AXIS, Math.abs(pane.drag.select - pane.drag.x), height);
  }
  drawMap(pane);
}

function drawMap(pane) {
  const { c, width } = begin(pane.map, MAP), run = pane.run;
  const k = (width - GUTTER) / whole, lane = { h: MAP - 8 };
  view = { from: 0, to: whole };
  drawUtil(pane, c, scale(width), lane, 4);
  view = pane.view;
  c.fillStyle = css("--quiet");
  text(c, "whole run", 6, MAP / 2 + 4, GUTTER - 10);
  c.fillStyle = css("--page");
  c.globalAlpha = 0.65;
  const x0 = GUTTER + Math.max(view.from, 0) * k, x1 = GUTTER + Math.min(view.to, whole) * k;
  c.fillRect(GUTTER, 0, x0 - GUTTER, MAP);
  c.fillRect(x1, 0, width - x1, MAP);
  c.globalAlpha = 1;
  c.strokeStyle = css("--mark");
  c.strokeRect(x0, 1, Math.max(x1 - x0, 2), MAP - 2);
  if (chosen.g && chosen.run === run) {
    c.fillStyle = css("--pick");
    const g = chosen.g, a = GUTTER + g.begin[0] * k, b = GUTTER + g.end[g.n - 1] * k;
    c.fillRect(a, MAP - 4, Math.max(b - a, 2), 3);
  }
}

let asked = false;
function drawAll() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    const began = performance.now();
    for (const pane of panes) draw(pane);
    view = active.view;
    report.frame_ms = performance.now() - began;
    report.frames++;
  });
}
