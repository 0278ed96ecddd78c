#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: the report page tells the truth about a recorded run, needs nothing but itself, and does
what its keys, clicks and searches promise. Method: the inlined data against the database; the page
in a headless Chromium, driven as a person would.

usage: report_test.py GMPSIM [Data | Browser]
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chromium

GMPSIM = os.path.abspath(sys.argv.pop(1))
SKIPPED = 77
EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>'\"`${alert(3)}&amp;"
SERVICE = {
    "name": "service", "why": "test", "procs": 2, "objects": {"wg": "waitgroup", "mu": "mutex"},
    "funcs": {"handle": [{"span": "request", "do": [
        {"cpu": {"exp": "50us"}}, {"lock": "mu"}, {"cpu": "60us"}, {"unlock": "mu"},
        {"sleep": {"exp": "100us"}}, {"cpu": "5us"}]}, {"done": "wg"}]},
    "main": [{"add": "wg", "n": 200}, {"loop": 200, "do": [{"go": "handle"}, {"sleep": "40us"}]},
             {"wait": "wg"}],
}


def scenario(**more):
    return {**SERVICE, **more}


def renamed(name):
    text = json.dumps(SERVICE).replace('"request"', json.dumps(name)).replace(
        '{"go": "handle"}', '{"go": "handle", "group": %s}' % json.dumps(name))
    return {**json.loads(text), "name": name}


BUSY = {  # more than 100 000 stretches
    "name": "busy", "why": "test", "procs": 8, "objects": {"wg": "waitgroup"},
    "funcs": {"work": [{"loop": 900, "do": [{"cpu": {"exp": "20us"}}, {"gosched": True}]},
                       {"span": "last", "do": [{"sleep": {"exp": "1ms"}}]}, {"done": "wg"}]},
    "main": [{"add": "wg", "n": 64}, {"go": "work", "count": 64}, {"wait": "wg"}]}


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = cls.temporary.name
        cls.record("service", SERVICE, "--seed", "5")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    @classmethod
    def run_it(cls, *args, status=0):
        done = subprocess.run([GMPSIM, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              cwd=cls.folder, timeout=240, check=False)
        if done.returncode != status:
            raise AssertionError("%s: %d\n%s" % (args, done.returncode, done.stderr.decode()))
        return done.stdout.decode(), done.stderr.decode()

    @classmethod
    def record(cls, name, content, *args):
        with open(cls.path(name + ".json"), "w", encoding="utf-8") as f:
            json.dump(content, f)
        cls.run_it("run", name + ".json", "--db", name + ".db", *args)

    def page(self, db, *args):
        self.run_it("report", db + ".db", "--out", db + ".html", *args)
        with open(self.path(db + ".html"), encoding="utf-8") as f:
            return f.read()

    def data(self, db, *args):
        text = self.page(db, *args)
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>',
                                    text, re.S).group(1))

    def query(self, db, sql):
        return json.loads(self.run_it("query", "--json", db + ".db", sql)[0])


def stretches(run):
    """(goid, state, reason, begin, end, p, by) of all."""
    for (goid, *_), flat in zip(run["goroutines"], run["stretches"]):
        at = flat[0]
        for i in range(1, len(flat), 4):
            code, length, p, by = flat[i:i + 4]
            yield goid, code & 7, run["reasons"][code >> 3], at, at + length, p, by
            at += length


class Data(Case):
    def test_one_file_that_asks_nobody(self):
        text = self.page("service")
        self.assertNotRegex(text, r"https?://|//[a-z]+\.[a-z]|@import|url\(")
        self.assertNotRegex(text, r"<(link|img|iframe|script)[^>]+(src|href)")
        self.assertNotRegex(text, r"@(CSS|JS|DATA)@")
        self.assertIn("default-src 'none'", text)
        self.assertEqual(text, self.page("service"))  # the same file again

    def test_the_stretches_are_the_database_s(self):
        run = self.data("service")["runs"][0]
        self.assertTrue(run["window"]["whole"])
        got = {}
        for goid, state, _, begin, end, _, _ in stretches(run):
            got[goid, state] = got.get((goid, state), 0) + end - begin
        states = ["notexist", "runnable", "running", "waiting", "syscall"]
        rows = self.query("service", "SELECT g, from_state, sum(duration_ns) AS ns FROM"
                          " g_transitions WHERE from_state <> 'notexist' GROUP BY 1, 2")
        self.assertGreater(len(rows), 600)
        ended = {g[0] for g in run["goroutines"] if g[4] is not None}
        self.assertGreater(len(ended), 199)
        for row in rows:
            if row["g"] in ended:
                self.assertEqual(got[row["g"], states.index(row["from_state"])], row["ns"])
            self.assertGreaterEqual(got[row["g"], states.index(row["from_state"])], row["ns"])
        self.assertEqual(len(run["spans"]), 200)

    def test_a_wait_has_the_reason_with_which_it_began(self):
        run = self.data("service")["runs"][0]
        got = {}
        for _, state, reason, begin, end, _, by in stretches(run):
            if state == 3 and end < run["makespan"]:
                n, ns, woken = got.get(reason, (0, 0, 0))
                got[reason] = n + 1, ns + end - begin, woken + (by > 0)
        rows = self.query("service", "WITH t AS (SELECT *, lag(reason) OVER (PARTITION BY g"
                          " ORDER BY id) AS why FROM g_transitions) SELECT why, count(*) AS n,"
                          " sum(duration_ns) AS ns FROM t WHERE from_state = 'waiting'"
                          " AND to_state = 'runnable' GROUP BY why")
        self.assertEqual({r["why"] or "": (r["n"], r["ns"]) for r in rows},
                         {k: v[:2] for k, v in got.items()})
        self.assertIn("sleep", got)
        self.assertGreater(got["sync.Mutex.Lock"][2], 0)

    def test_a_goroutine_that_never_goes_on_waits_to_the_end(self):
        self.record("stuck", {"name": "stuck", "why": "test", "objects": {"c": {"chan": 0}},
                              "funcs": {"f": [{"recv": "c"}]},
                              "main": [{"go": "f"}, {"sleep": "3ms"}],
                              "expect": {"end": "finishes",
                                         "blocked": [{"group": "f"}]}})
        run = self.data("stuck")["runs"][0]
        goid = [g[0] for g in run["goroutines"] if run["names"][g[1]] == "f"]
        last = [s for s in stretches(run) if s[2] == "chan receive" and s[0] in goid]
        self.assertEqual(len(last), 1)
        self.assertEqual(last[0][4], run["makespan"])
        self.assertGreater(last[0][4] - last[0][3], 2900000)

    def test_a_long_run_is_cut_honestly(self):
        run = self.data("service", "--stretches", "300")["runs"][0]
        window = run["window"]
        self.assertFalse(window["whole"])
        self.assertEqual(window["all"], self.query("service", "SELECT count(*) AS n FROM"
                                                   " g_transitions")[0]["n"])
        slowest = max(run["spans"], key=lambda s: s[4] - s[3])
        self.assertLess(window["from"], slowest[3] + 1)
        inside = {}
        for goid, state, _, begin, end, _, _ in stretches(run):
            if state in (1, 2):
                inside[goid] = inside.get(goid, 0) + end - begin
        # whoever is slowest is there whole, wherever the window is
        for _, _, goid, _, _ in sorted(run["spans"], key=lambda s: s[3] - s[4])[:10]:
            row = self.query("service", "SELECT sum(duration_ns) AS ns FROM g_transitions WHERE"
                             " g = %d AND from_state IN ('runnable', 'running')" % goid)[0]
            self.assertEqual(inside[goid], row["ns"])
        # the overview has the time of all of them
        drawn = sum(code & 255 for p in run["overview"]["of"] for code in p)
        ran = self.query("service", "SELECT sum(duration_ns) AS ns FROM g_transitions"
                         " WHERE from_state = 'running'")[0]["ns"]
        self.assertAlmostEqual(drawn / 255 * run["overview"]["width"] / ran, 1, delta=0.02)

    def test_a_window_that_was_asked_for(self):
        run = self.data("service", "--stretches", "200", "--from", "2ms", "--to", "3ms")["runs"][0]
        self.assertEqual((run["window"]["from"], run["window"]["to"]), (2000000, 3000000))

    def test_names_stay_names(self):
        self.record("evil", renamed(EVIL))
        text = self.page("evil")
        self.assertEqual(len(re.findall(r"</script", text, re.I)), 2)
        self.assertEqual(len(re.findall(r"<script", text, re.I)), 2)
        self.assertNotIn("<img", text)
        run = self.data("evil")["runs"][0]
        self.assertEqual(run["scenario"], EVIL)
        self.assertIn(EVIL, run["names"])

    def test_a_run_in_which_nothing_happens(self):
        self.record("nothing", {"name": "nothing", "why": "test", "main": []})
        self.assertEqual(self.data("nothing")["runs"][0]["spans"], [])

    def test_samples_add_up(self):
        run = self.data("service")["runs"][0]
        for i in range(len(run["samples"]["at"])):
            self.assertAlmostEqual(sum(k[i] for k in run["samples"]["share"]), 1000, delta=0.1)

    def test_what_if_is_in_it(self):
        self.run_it("whatif", "service.json", "--procs", "1,2", "--runs", "3", "--db", "service.db")
        rows = self.data("service")["whatif"]["rows"]
        self.assertEqual([(r["procs"], r["name"], r["runs"]) for r in rows],
                         [(1, "request", 3), (2, "request", 3)])

    def test_what_if_tells_loads_and_policies_apart(self):
        with open(self.path("load.json"), "w", encoding="utf-8") as f:
            json.dump({"name": "load", "why": "test",
                       "objects": {"conn": {"fd": {"every": {"exp": "50us"}, "end": "5ms"}}},
                       "main": [{"deadline": "conn", "after": "5ms", "for": "read"},
                                {"loop": "forever", "do": [
                                    {"read": "conn", "into": "n", "time": "t"},
                                    {"if": "n < 0", "then": [{"break": True}]},
                                    {"span": "r", "since": "t", "do": [{"cpu": "9us"}]}]}]}, f)
        self.record("grid", SERVICE)
        self.run_it("whatif", "load.json", "--procs", "2,node", "--cpus", "2", "--rate", "0.5x,2x",
                    "--runs", "2", "--db", "grid.db")
        rows = self.data("grid")["whatif"]["rows"]
        self.assertEqual(sorted((r["policy"], r["load"], r["runs"]) for r in rows),
                         [("", 0.5, 2), ("", 2, 2), ("node", 0.5, 2), ("node", 2, 2)])

    GC = {"name": "gc", "why": "test", "procs": 2, "objects": {"wg": "waitgroup"},
          "funcs": {"w": [{"span": "w", "do": [{"cpu": "300us"}]}, {"done": "wg"}]},
          "main": [{"add": "wg", "n": 40}, {"go": "w", "count": 40}, {"gc": True}, {"gc": True},
                   {"wait": "wg"}]}

    def test_bands_are_the_database_s(self):
        self.record("gc", self.GC, "--quota", "1ms", "--period", "2ms", "--cpus", "2")
        bands = self.data("gc")["runs"][0]["bands"]
        for what, kind in (("GC", "gc"), ("stop", "stop")):
            rows = self.query("gc", "SELECT begin_ns AS a, end_ns AS b FROM bands WHERE what = '%s'"
                              " ORDER BY 1" % kind)
            self.assertEqual(sorted(b[1:] for b in bands if b[0] == what),
                             [[r["a"], r["b"]] for r in rows])
            self.assertGreater(len(rows), 1)
        stalls = self.query("gc", "SELECT begin_ns AS a, ifnull(end_ns, (SELECT makespan_ns FROM"
                            " runs)) AS b FROM p_stalls WHERE why = 'throttled' ORDER BY 1")
        union = []
        for s in stalls:
            if union and s["a"] <= union[-1][1]:
                union[-1][1] = max(union[-1][1], s["b"])
            else:
                union.append([s["a"], s["b"]])
        self.assertGreater(len(union), 2)
        self.assertEqual([b[1:] for b in bands if b[0] == "throttled"], union)

    def test_where_the_time_went_is_the_database_s(self):
        parts = self.data("service")["runs"][0]["attribution"]
        self.assertEqual([a["name"] for a in parts], ["request"])
        rows = self.query("service", "SELECT part, slow_count AS n, slow_mean_ns * slow_count AS ns"
                          " FROM span_parts WHERE slow_mean_ns > 0 ORDER BY 3 DESC, 1")
        self.assertEqual(parts[0]["parts"], [[r["part"], r["ns"]] for r in rows])
        self.assertEqual(parts[0]["count"], rows[0]["n"])

    def test_mistakes(self):
        for args, hint in ((["no.db"], "no.db"),
                           (["service.db", "--run", "9"], "no complete run 9"),
                           (["service.db", "--out", "no/such/x.html"], "No such file"),
                           (["service.db", "--run", "x"], "want a run's number")):
            _, err = self.run_it("report", *args, status=2)
            self.assertIn(hint, err)
        self.assertFalse(os.path.exists(self.path("report.html.part")))

    def test_json_says_what_was_written(self):
        got = json.loads(self.run_it("report", "service.db", "--out", "j.html", "--json")[0])
        self.assertEqual((got["file"], got["runs"]), ("j.html", [1]))
        self.assertEqual(got["bytes"], os.path.getsize(self.path("j.html")))


class Browser(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = chromium.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        super().tearDownClass()

    def show(self, db, *args):
        self.page(db, *args)
        self.browser.complaints.clear()
        self.browser.requests.clear()
        self.browser.open(self.path(db + ".html"))
        self.browser.frame()
        return self.browser

    def assert_quiet(self):
        self.assertEqual(self.browser.complaints, [])
        self.assertTrue(all(r.startswith("file://") for r in self.browser.requests))
        self.assertLessEqual(len(self.browser.requests), 1)

    def detail(self):
        return self.browser.js("document.getElementById('detail').innerText")

    def test_it_opens_at_the_slowest_request(self):
        b = self.show("service")
        slowest = self.query("service", "SELECT g, begin_ns, end_ns FROM spans"
                             " ORDER BY end_ns - begin_ns DESC LIMIT 1")[0]
        view = b.js("[gmpsim.view.from, gmpsim.view.to]")
        self.assertLess(view[0], slowest["begin_ns"])
        self.assertGreater(view[1], slowest["end_ns"])
        self.assertLess(view[1] - view[0], 1.5 * (slowest["end_ns"] - slowest["begin_ns"]))
        self.assertEqual(b.js("gmpsim.chosen.g.goid"), slowest["g"])
        self.assertIn("g%d (handle)" % slowest["g"], self.detail())
        self.assert_quiet()

    def test_keys_zoom_and_move(self):
        b = self.show("service")
        length = "gmpsim.view.to - gmpsim.view.from"
        before = b.js(length)
        b.key("w")
        self.assertAlmostEqual(b.js(length) / before, 0.6, places=3)
        b.key("s")
        self.assertAlmostEqual(b.js(length) / before, 1, places=3)
        at = b.js("gmpsim.view.from")
        b.key("d")
        self.assertGreater(b.js("gmpsim.view.from"), at)
        b.key("0")
        self.assertGreater(b.js(length), self.query("service", "SELECT makespan_ns AS ns"
                                                    " FROM runs")[0]["ns"] * 0.99)
        b.key("l")
        self.assertAlmostEqual(b.js(length) / before, 1, places=3)
        b.key("Escape")
        self.assertIn("Click a goroutine", self.detail())
        b.key("?")
        self.assertTrue(b.js("document.getElementById('keys').open"))
        b.js("document.getElementById('keys').close()")
        self.assert_quiet()

    def canvas(self):
        return self.browser.js("(() => { const r = document"
                               ".querySelector('.pane canvas:last-child').getBoundingClientRect();"
                               " return [r.left, r.top, r.width]; })()")

    def test_wheel_and_drag(self):
        b = self.show("service")
        left, top, width = self.canvas()
        before = b.js("gmpsim.view.to - gmpsim.view.from")
        b.mouse("Wheel", left + width / 2, top + 60, deltaX=0, deltaY=-300, modifiers=2)  # Ctrl
        b.frame()
        b.wait("gmpsim.view.to - gmpsim.view.from < %f" % (before * 0.8))
        at = b.js("gmpsim.view.from")
        b.drag(left + width / 2, top + 100, left + width / 2 - 200, top + 100)
        self.assertGreater(b.js("gmpsim.view.from"), at)
        b.drag(left + 300, top + 100, left + 400, top + 100, modifiers=8)  # Shift: what is marked
        self.assertLess(b.js("gmpsim.view.to - gmpsim.view.from"), before * 0.3)
        self.assert_quiet()

    def test_a_click_shows_what_a_goroutine_waited_for(self):
        b = self.show("service")
        b.key("Escape")
        waited = self.query("service", "SELECT g, src_g FROM (SELECT g, src_g, from_state,"
                            " lag(reason) OVER (PARTITION BY g ORDER BY id) AS why, duration_ns"
                            " FROM g_transitions) WHERE why = 'sync.Mutex.Lock' AND"
                            " from_state = 'waiting' ORDER BY duration_ns DESC LIMIT 1")[0]
        b.js("gmpsim.search('g%d')" % waited["g"])
        b.key("n")
        b.key("Escape")
        x, y = b.js("gmpsim.where(%d)" % waited["g"])
        b.click(x, y)
        text = self.detail()
        self.assertIn("g%d (handle)" % waited["g"], text)
        self.assertIn("waits: sync.Mutex.Lock; woken by g%d (handle)" % waited["src_g"], text)
        self.assertIn("runs on P", text)
        self.assertRegex(text, r"runnable, queued on P\d")
        self.assert_quiet()

    def test_what_stood_in_the_queue_is_said(self):
        self.record("queue", {"name": "queue", "why": "test", "procs": 1,
                              "objects": {"wg": "waitgroup"},
                              "funcs": {"long": [{"cpu": "300us"}, {"done": "wg"}],
                                        "short": [{"span": "s", "do": [{"cpu": "1us"}]},
                                                  {"done": "wg"}]},
                              "main": [{"add": "wg", "n": 2}, {"go": "short"}, {"go": "long"},
                                       {"wait": "wg"}]})
        b = self.show("queue")
        self.assertRegex(self.detail(), r"runnable, queued on P0; meanwhile there: .*\(long\) 300")
        self.assert_quiet()

    def test_search(self):
        b = self.show("service")
        b.key("/")
        for c in "request 17":
            b.key(c)
        self.assertRegex(b.js("document.getElementById('found').textContent"), r"^\d+ found$")
        b.key("Enter")
        self.assertRegex(b.js("document.getElementById('found').textContent"), r"^1 of \d+$")
        self.assertIn("span request, key 17", self.detail())
        self.assertEqual(b.js("gmpsim.search('no such thing')"), 0)
        self.assertEqual(b.js("gmpsim.search('handle')"), 200)
        self.assert_quiet()

    def test_tables_sort(self):
        b = self.show("service")
        column = ("[...document.querySelectorAll('#tables table')[0]"
                  ".querySelectorAll('td:nth-child(%d)')].map((x) => x.textContent)")
        b.js("document.querySelectorAll('#tables th')[1].click()")
        down = [int(re.sub(r"\D", "", v)) for v in b.js(column % 2)]
        self.assertEqual(down, sorted(down, reverse=True))
        b.js("document.querySelectorAll('#tables th')[1].click()")
        up = [int(re.sub(r"\D", "", v)) for v in b.js(column % 2)]
        self.assertEqual(up, sorted(up))
        b.js("document.querySelector('#requests tr.go').click()")
        self.assertIn("span request", self.detail())
        self.assert_quiet()

    def test_a_part_of_the_latencies_is_marked(self):
        b = self.show("service")
        box = b.js("(() => { const c = document.querySelector('canvas.chart');"
                   " c.scrollIntoView(); const r = c.getBoundingClientRect();"
                   " return [r.left, r.top, r.width, r.height]; })()")
        b.drag(box[0] + box[2] * 0.8, box[1] + 100, box[0] + box[2] * 0.9, box[1] + 100)
        low, high = b.js("gmpsim.chart.range")
        self.assertLess(low, high)
        want = self.query("service", "SELECT count(*) AS n FROM spans WHERE end_ns - begin_ns"
                          " BETWEEN %f AND %f" % (low, high))[0]["n"]
        rows = b.js("document.querySelectorAll('#requests tbody tr').length")
        self.assertEqual(rows, min(want, 100))
        self.assertGreater(rows, 0)
        self.assertEqual(b.js("gmpsim.chosen.brush.size"), want)
        self.assert_quiet()

    def test_bands_are_drawn_and_can_be_taken_away(self):
        self.record("gc", Data.GC, "--quota", "1ms", "--period", "2ms", "--cpus", "2")
        b = self.show("gc")
        b.key("0")
        picture = "document.querySelector('.pane canvas:last-child').toDataURL()"
        with_bands = b.js(picture)
        b.js("document.getElementById('bands').click()")
        b.frame()
        without = b.js(picture)
        self.assertNotEqual(with_bands, without)
        b.js("document.getElementById('bands').click()")
        b.frame()
        self.assertEqual(b.js(picture), with_bands)
        self.assertIn("some P is throttled", b.js("document.getElementById('legend').innerText"))
        self.assert_quiet()

    def test_where_the_time_of_slow_ones_went(self):
        b = self.show("service")
        text = b.js("document.getElementById('attribution').innerText")
        part, ns = b.js("gmpsim.data.runs[0].attribution[0].parts[0]")
        words = {"timer": "sleeping", "run queue": "waiting in run queues",
                 "throttled": "CPU throttling", "lock": "waiting for locks"}.get(part, part)
        self.assertRegex(text, r"\d+ % of the time of slow request spans is " + re.escape(words))
        waits = b.js("[...document.querySelectorAll('#attribution li')].map((x) => x.innerText)")
        self.assertTrue(any(", behind " in w or ", line " in w for w in waits), waits)
        self.assertGreater(ns, 0)
        widths = b.js("[...document.querySelectorAll('#attribution .part span')]"
                      ".map((x) => x.getBoundingClientRect().width)")
        self.assertGreater(widths[0], 100)
        self.assertEqual(widths, sorted(widths, reverse=True))
        self.assert_quiet()

    def test_dark_and_light(self):
        b = self.show("service")
        colours = {}
        for theme in ("dark", "light"):
            b.theme(theme)
            colours[theme] = b.js("getComputedStyle(document.body).backgroundColor")
        self.assertNotEqual(colours["dark"], colours["light"])
        b.js("document.getElementById('theme').click()")
        b.frame()
        self.assertEqual(b.js("getComputedStyle(document.body).backgroundColor"), colours["dark"])
        self.assert_quiet()

    def test_two_runs_side_by_side(self):
        self.run_it("run", "service.json", "--db", "pair.db", "--seed", "5")
        self.run_it("run", "service.json", "--db", "pair.db", "--seed", "5", "--quota", "5ms",
                    "--period", "10ms")
        b = self.show("pair", "--run", "1", "--run", "2")
        self.assertEqual(b.js("gmpsim.panes.length"), 2)
        text = b.js("document.body.innerText")
        self.assertIn("run 1: service", text)
        self.assertIn("quota 0.50 CPUs", text)
        self.assertRegex(text, r"throttled in \d+ of \d+ periods")
        b.js("document.getElementById('together').click()")
        b.js("gmpsim.moveTo(1e6, 2e6)")
        self.assertEqual(b.js("gmpsim.panes.map((p) => p.view.from)"), [1e6, 1e6])
        self.assert_quiet()

    def test_a_scenario_that_is_a_script(self):
        self.record("evil", renamed(EVIL))
        b = self.show("evil")
        self.assertEqual(b.js("document.querySelector('h1').textContent"), EVIL)
        self.assertIn(EVIL, b.js("document.title"))
        self.assertEqual(b.js("document.querySelectorAll('script').length"), 2)
        self.assertEqual(b.js("document.querySelectorAll('img').length"), 0)
        b.js("gmpsim.search('alert')")
        b.key("n")
        self.assertIn("alert(1)", self.detail())
        self.assert_quiet()

    def test_a_run_in_which_nothing_happens(self):
        self.record("nothing", {"name": "nothing", "why": "test", "main": []})
        self.show("nothing")
        self.assert_quiet()

    def test_a_deadlock(self):
        self.record("dead", {"name": "dead", "why": "test", "objects": {"c": {"chan": 0}},
                             "main": [{"recv": "c"}], "expect": {"end": "deadlock"}})
        b = self.show("dead")
        text = b.js("document.body.innerText")
        self.assertIn("deadlock: fatal error: all goroutines are asleep", text)
        self.assertIn("chan receive", text)
        self.assert_quiet()

    def test_a_hundred_thousand_stretches_are_smooth(self):
        self.record("busy", BUSY)
        b = self.show("busy")
        kept = b.js("gmpsim.data.runs[0].window.kept")
        self.assertGreater(kept, 80000)
        self.assertLess(os.path.getsize(self.path("busy.html")), 5e6)
        b.key("0")
        # What a frame costs is what it draws: stretches narrower than a pixel are merged.
        b.js("""window.drawn = 0;
            for (const name of ["fillRect", "stroke", "fill", "fillText", "lineTo"]) {
                const real = CanvasRenderingContext2D.prototype[name];
                CanvasRenderingContext2D.prototype[name] = function (...args) {
                    window.drawn++;
                    return real.apply(this, args);
                };
            }""")
        most = 0
        for key in "ws" * 3:
            b.js("window.drawn = 0")
            b.key(key)
            most = max(most, b.js("window.drawn"))
        self.assertGreater(most, 100)
        self.assertLess(most, kept / 2)
        self.assert_quiet()


if __name__ == "__main__":
    if sys.argv[1:2] == ["Browser"] and chromium.find() is None:
        print("skipped: no chromium (Debian: apt install chromium)")
        # .ci/run installs it, and wants to hear if it is not there nevertheless.
        sys.exit(1 if "chromium" in os.environ.get("GMPSIM_REQUIRED", "").split() else SKIPPED)
    unittest.main(argv=[sys.argv[0]] + sys.argv[1:])
