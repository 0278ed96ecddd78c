// SPDX-License-Identifier: BSD-3-Clause
// A run as the timeline wants it. In the data a goroutine is a flat list of its stretches; here each
// has columns, sorted by time, and each P has the stretches that ran on it.

// of: [begin, then per stretch: state + 8 * reason, length, P or -1, who made it end or -1]
function unpack(g) {
  const n = (g.of.length - 1) / 4;
  g.n = n;
  g.begin = new Float64Array(n);
  g.end = new Float64Array(n);
  g.state = new Uint8Array(n);
  g.reason = new Uint8Array(n);
  g.p = new Int16Array(n);
  g.by = new Float64Array(n);
  let at = g.of[0];
  for (let i = 0; i < n; i++) {
    const k = 1 + 4 * i;
    g.begin[i] = at;
    g.state[i] = g.of[k] & 7;
    g.reason[i] = g.of[k] >> 3;
    at += g.of[k + 1];
    g.end[i] = at;
    g.p[i] = g.of[k + 2];
    g.by[i] = g.of[k + 3];
  }
  delete g.of;
}

// Stretches of running, by P: which goroutine, which stretch of it.
function lanesOfPs(run) {
  const lists = Array.from({ length: run.procs }, () => []);
  for (const g of run.gs)
    for (let i = 0; i < g.n; i++)
      if (g.state[i] === 2 && g.p[i] >= 0 && g.p[i] < run.procs) lists[g.p[i]].push([g, i]);
  return lists.map((list) => {
    list.sort((a, b) => a[0].begin[a[1]] - b[0].begin[b[1]]);
    return { gs: list.map((x) => x[0]), at: list.map((x) => x[1]),
             begin: Float64Array.from(list, (x) => x[0].begin[x[1]]),
             end: Float64Array.from(list, (x) => x[0].end[x[1]]) };
  });
}

function prepare(run) {
  run.byGoid = new Map();
  run.groups_of = new Map();
  for (const [i, row] of run.goroutines.entries()) {
    const [goid, name, parent, created, ended] = row;
    const g = { goid, name: run.names[name], parent, created, ended, of: run.stretches[i], spans: [] };
    unpack(g);
    run.byGoid.set(goid, g);
    if (!run.groups_of.has(g.name)) run.groups_of.set(g.name, []);
    run.groups_of.get(g.name).push(g);
  }
  run.gs = [...run.byGoid.values()];
  delete run.stretches;
  delete run.goroutines;
  run.group_order = run.groups.map((g) => g[0]).filter((name) => name !== "runtime");
  for (const g of run.gs) g.colour = groupColour(run, g.name);
  run.lanes = lanesOfPs(run);
  run.spans = run.spans.map(([name, key, goid, begin, end]) =>
    ({ name: run.names[name], key, goid, begin, end, took: end - begin }));
  run.spans.sort((a, b) => b.took - a.took);
  for (const s of run.spans) {
    const g = run.byGoid.get(s.goid);
    if (g) g.spans.push(s);
  }
  run.label = `run ${run.id}: ${run.scenario}, ${run.profile}, GOMAXPROCS ${run.procs}`;
}

// What ran on P p between two instants, longest first: those who stood before somebody.
function ranMeanwhile(run, p, begin, end, but) {
  const lane = run.lanes[p], sums = new Map();
  if (!lane) return [];
  for (let i = Math.max(above(lane.begin, begin) - 1, 0); i < lane.begin.length && lane.begin[i] < end; i++) {
    const from = Math.max(lane.begin[i], begin), to = Math.min(lane.end[i], end);
    if (to > from && lane.gs[i] !== but) sums.set(lane.gs[i], (sums.get(lane.gs[i]) || 0) + to - from);
  }
  return [...sums].sort((a, b) => b[1] - a[1]);
}

function stalledMeanwhile(run, p, begin, end, why) {
  let sum = 0;
  for (const [sp, from, to, what] of run.stalls)
    if (sp === p && what === why && to > begin && from < end)
      sum += Math.min(to, end) - Math.max(from, begin);
  return sum;
}

for (const run of data.runs) prepare(run);
