// SPDX-License-Identifier: BSD-3-Clause
// What a test can ask and do; and the start.

const report = { ready: false, frames: 0, frame_ms: 0, get view() { return active.view; }, chosen, data, moveTo, zoom, search, select,
  panes, chart, laneOf, where(goid) { // the middle of a goroutine's first box on a P that is in view
    for (const pane of panes)
      for (const lane of pane.lanes)
        if (lane.kind === "p" && pane === active) {
          const l = pane.run.lanes[lane.p], box = pane.canvas.getBoundingClientRect(), s = scale(box.width);
          for (let i = 0; i < l.begin.length; i++)
            if (l.gs[i].goid === goid && l.end[i] > view.from && l.begin[i] < view.to)
              return [box.left + s.x((l.begin[i] + l.end[i]) / 2), box.top + middle(pane, lane)];
        }
    return null;
  } };
window.gmpsim = report;

startTables();
startTimeline();
startChart();
addEventListener("resize", () => { drawAll(); if (chart.canvas) drawChart(); });
document.addEventListener("theme", () => { drawAll(); if (chart.canvas) drawChart(); });
drawAll();
requestAnimationFrame(() => requestAnimationFrame(() => { report.ready = true; }));
