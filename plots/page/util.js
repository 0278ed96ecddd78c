// SPDX-License-Identifier: BSD-3-Clause
// Small things that the others share. Everything that comes from the data gets into the page as
// text (textContent, fillText), never as HTML.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

function make(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else if (name === "class") e.className = value;
    else e.setAttribute(name, value);
  }
  for (const c of children) if (c !== null && c !== undefined && c !== "") e.append(c);
  return e;
}

// 1.25ms: as the command prints it.
function time(ns) {
  const units = ["ns", "us", "ms", "s"];
  let u = 0, v = ns;
  while (u < 3 && Math.abs(v) >= 1000) { v /= 1000; u++; }
  const digits = u === 0 ? 0 : Math.abs(v) < 10 ? 3 : Math.abs(v) < 100 ? 2 : 1;
  return v.toFixed(digits) + units[u];
}

function count(n) { return n.toLocaleString("en-US").replace(/,/g, "\u202f"); }

// First index of sorted a at which a[i] > v.
function above(a, v) {
  let low = 0, high = a.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (a[middle] > v) high = middle; else low = middle + 1;
  }
  return low;
}

// "Nice" distances of ticks: 1, 2, 5 times a power of ten.
function step(span, most) {
  const raw = Math.max(span / most, 1), power = 10 ** Math.floor(Math.log10(raw));
  for (const k of [1, 2, 5, 10]) if (k * power >= raw) return k * power;
  return 10 * power;
}

// The style sheet's colours by name; asked for once per theme, as it is done for every box.
const inks = new Map();
function css(name) {
  if (!inks.has(name))
    inks.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return inks.get(name);
}

// 100us: of whole powers of ten.
function round(ns) {
  const units = ["ns", "us", "ms", "s"];
  let u = 0;
  while (u < 3 && ns >= 1000) { ns /= 1000; u++; }
  return Math.round(ns) + units[u];
}

// ---- colours ----

// Okabe and Ito's, and some more that can be told apart from them.
const GROUP_COLOURS = ["#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#999933",
                       "#6A5ACD"];
const OTHER = "#c49a6c", RUNTIME = "#808080";
const STATES = ["", "runnable", "running", "waiting", "syscall"];
const STATE_COLOURS = ["#00000000", "#E69F00", "#0072B2", "#9aa3ad66", "#F0E442"];
const CLASSES = [["user", "#0072B2"], ["gc", "#009E73"], ["scheduler", "#D55E00"],
                 ["spinning", "#E69F00"], ["syscall", "#CC79A7"], ["no cpu", "#F0E442"],
                 ["throttled", "#333333"], ["idle", "#8884"]];

function groupColour(run, name) {
  if (name === "runtime") return RUNTIME;
  const i = run.group_order.indexOf(name);
  return i >= 0 && i < GROUP_COLOURS.length ? GROUP_COLOURS[i] : OTHER;
}

// ---- theme ----

function applyTheme(theme) {
  document.documentElement.dataset.theme = theme;
  inks.clear();
  document.dispatchEvent(new Event("theme"));
}
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
applyTheme(prefersDark.matches ? "dark" : "light");
prefersDark.addEventListener("change", () => applyTheme(prefersDark.matches ? "dark" : "light"));

// ---- canvases ----

// Sized to the screen's pixels; gives the context in CSS pixels, empty.
function begin(canvas, height) {
  const ratio = devicePixelRatio || 1, width = canvas.clientWidth || 800;
  canvas.style.height = height + "px";
  const w = Math.round(width * ratio), h = Math.round(height * ratio);
  if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, width, height);
  return { c, width, height };
}

const tip = byId("tip");
function showTip(event, text) {
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const x = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
  const y = event.clientY + 18 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10
                                                               : event.clientY + 18;
  tip.style.left = x + "px";
  tip.style.top = y + "px";
}
