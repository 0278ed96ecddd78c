#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: every picture is drawn, says what it shows, and its data are the database's. Method: draw
all of them with gnuplot, as SVG and PNG, and without gnuplot.

usage: plots_test.py GMPSIM
"""
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

GMPSIM = os.path.abspath(sys.argv.pop(1))
DRAWN = ("latency", "histogram", "heatmap", "runq", "queues", "steals", "utilisation", "threads",
         "throttling", "waits", "timeline")  # by gnuplot
PICTURES = DRAWN + ("wakes",)
SCENARIO = {
    "name": "it's a 'service'", "why": "test", "procs": 3, "objects": {"wg": "waitgroup"},
    "funcs": {"handle": [{"span": "request", "do": [{"cpu": {"exp": "50us"}},
                                                    {"sleep": {"exp": "100us"}}]},
                         {"done": "wg"}]},
    "main": [{"add": "wg", "n": 200},
             {"loop": 200, "do": [{"go": "handle"}, {"sleep": "20us"}]}, {"wait": "wg"}],
}


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        with open(os.path.join(cls.folder, "s.json"), "w", encoding="utf-8") as f:
            json.dump(SCENARIO, f)
        cls.run_it(["run", "s.json", "--db", "x.db", "--seed", "77"])

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def run_it(cls, args, status=0, path=None):
        env = {**os.environ, **({"PATH": path} if path is not None else {})}
        done = subprocess.run([GMPSIM, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              cwd=cls.folder, env=env, timeout=60, check=False)
        if done.returncode != status:
            raise AssertionError("%s: %d\n%s" % (args, done.returncode, done.stderr.decode()))
        return done.stdout.decode(), done.stderr.decode()

    def read(self, name, mode="r"):
        with open(os.path.join(self.folder, name), mode,
                  encoding="utf-8" if mode == "r" else None) as f:
            return f.read()

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot")
    def test_svg(self):
        for picture in PICTURES:
            with self.subTest(picture):
                out, err = self.run_it(["plot", "x.db", picture])
                self.assertEqual((out, err), (picture + ".svg\n", ""))
                text = self.read(picture + ".svg")
                words = re.sub(r"<[^>]*>", "", text).replace("&#39;", "'")
                for part in ("it's a 'service'", "go1.27", "GOMAXPROCS 3", "seed 77"):
                    self.assertIn(part, words)
                if picture not in ("steals", "wakes"):
                    self.assertIn('width="1200" height="700"', text)

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot")
    def test_png(self):
        for picture in DRAWN:
            with self.subTest(picture):
                self.run_it(["plot", "x.db", picture, "--out", picture + ".png"])
                data = self.read(picture + ".png", "rb")
                self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
                self.assertEqual(struct.unpack(">II", data[16:24]),
                                 (1200, 900 if picture == "steals" else 700))
        _, err = self.run_it(["plot", "x.db", "wakes", "--out", "w.png"], status=2)
        self.assertIn("dot -Tpng", err)

    def test_without_gnuplot(self):
        empty = os.path.join(self.folder, "empty")
        os.makedirs(empty, exist_ok=True)
        for picture in DRAWN:
            name = "none-" + picture
            _, err = self.run_it(["plot", "x.db", picture, "--out", name + ".svg"], status=2,
                                 path=empty)
            self.assertIn("apt install gnuplot-nox", err)
            if picture == "throttling":  # without a quota it says so
                continue
            self.assertIn("plot './%s.dat'" % name, self.read(name + ".gp"))
            self.assertGreater(len(self.read(name + ".dat").splitlines()), 3)
            self.assertFalse(os.path.exists(os.path.join(self.folder, name + ".svg")))

    def test_the_data_are_the_databases(self):
        empty = os.path.join(self.folder, "empty")
        os.makedirs(empty, exist_ok=True)
        self.run_it(["plot", "x.db", "utilisation", "--out", "u.svg"], status=2, path=empty)
        rows = [[float(v) for v in line.split()] for line in self.read("u.dat").splitlines()]
        for row in rows:
            self.assertEqual(row[1:], sorted(row[1:]))  # cumulative
            self.assertAlmostEqual(row[-1], 100, delta=0.01)
        self.run_it(["plot", "x.db", "latency", "--out", "l.svg"], status=2, path=empty)
        p99 = self.run_it(["query", "x.db",
                           "SELECT p99_ns FROM latencies WHERE kind = 'span'"])[0].strip()
        self.assertIn("\n%s 0.01\n" % p99, self.read("l.dat"))

    def sql(self, db, query):
        return [[float(v) if re.fullmatch(r"-?[\d.]+", v) else v for v in row.split("\t")]
                for row in self.run_it(["query", db, query])[0].splitlines()]

    def test_histogram_and_heat_map_count_every_span(self):
        self.without_gnuplot("x.db", "histogram", "--out", "h.svg")
        bars = self.blocks("h.dat")[0]
        rows = self.sql("x.db", "SELECT low_ns, count FROM histograms WHERE kind = 'span'")
        self.assertEqual([[b[2], b[5]] for b in bars], rows)
        self.assertEqual(sum(b[5] for b in bars), 200)
        for a, b in zip(bars, bars[1:]):
            self.assertLessEqual(a[3], b[2])
        self.assertIn("request: 200, from", self.read("h.gp"))
        self.without_gnuplot("x.db", "heatmap", "--out", "m.svg")
        cells = self.blocks("m.dat")[0]
        self.assertEqual(sum(c[6] for c in cells), 200)
        low, high = self.sql("x.db", "SELECT min(end_ns - begin_ns), max(end_ns - begin_ns)"
                             " FROM spans")[0]
        self.assertTrue(any(c[4] <= low < c[5] for c in cells))  # none is cut off,
        self.assertTrue(any(c[4] <= high < c[5] for c in cells))  # least of all the slowest
        for begin, took in self.sql("x.db", "SELECT begin_ns, end_ns - begin_ns FROM spans"):
            self.assertTrue(any(c[2] - 1e-6 <= begin / 1e6 <= c[3] + 1e-6 and
                                c[4] * 0.999 <= took <= c[5] * 1.001 for c in cells)
                            or low > 2e9)

    def test_a_span_is_chosen(self):
        self.record({"name": "two", "why": "test", "main": [
            {"span": "a", "do": [{"cpu": "1us"}]}, {"span": "b", "do": [{"cpu": "9us"}]}]},
                    "two.db")
        for args, name in (([], "b"), (["--span", "a"], "a")):
            self.without_gnuplot("two.db", "histogram", *args, "--out", "two.svg")
            self.assertIn("'%s: 1, from" % name, self.read("two.gp").replace('"\\n" . ', ""))
        _, err = self.run_it(["plot", "two.db", "heatmap", "--span", "c"], status=2)
        self.assertIn("no span 'c'", err)
        for args in (["runq", "--span", "a"], ["runq", "--from", "1us"],
                     ["latency", "--grid", "1"]):
            _, err = self.run_it(["plot", "two.db", *args], status=2)
            self.assertIn("of these pictures only: ", err)

    def test_steals_queues_and_threads_are_the_stores(self):
        self.record({"name": "storm", "why": "test", "procs": 6, "objects": {"wg": "waitgroup"},
                     "funcs": {"w": [{"cpu": {"exp": "20us"}}, {"done": "wg"}]},
                     "main": [{"add": "wg", "n": 600}, {"go": "w", "count": 600}, {"wait": "wg"}]},
                    "storm.db")
        self.without_gnuplot("storm.db", "steals", "--out", "s.svg")
        cells = {(c[1], c[0]): c[6] for c in self.blocks("s.dat")[0]}
        rows = {(r[0], r[1]): r[2] for r in self.sql(
            "storm.db", "SELECT from_p, p, sum(count) FROM steals GROUP BY 1, 2")}
        self.assertGreater(len(rows), 4)
        self.assertEqual(cells, rows)
        self.without_gnuplot("storm.db", "queues", "--out", "q.svg")
        cells = self.blocks("q.dat")[0]
        for p, most in self.sql("storm.db", "SELECT p, max(ring) FROM p_samples GROUP BY p"
                                " UNION ALL SELECT -1, max(globrunq) FROM samples"):
            self.assertEqual(max([c[6] for c in cells if c[1] == p] or [0]), most)
        self.without_gnuplot("storm.db", "threads", "--out", "t.svg")
        rows = self.blocks("t.dat")[0]
        self.assertEqual(max(r[1] for r in rows),
                         self.sql("storm.db", "SELECT max(ms) FROM samples")[0][0])
        self.assertEqual(max(r[2] for r in rows),
                         self.sql("storm.db", "SELECT max(idle_ms) FROM samples")[0][0])
        makespan, spun = self.sql("storm.db", "SELECT max(makespan_ns), (SELECT sum(spinning_ns)"
                                  " FROM samples) FROM runs")[0]
        drawn = sum((b[0] - a[0]) * 1e3 * a[4] for a, b in zip(rows, rows[1:]))
        if makespan >= 2e6:
            drawn *= 1e3
        self.assertAlmostEqual(drawn / spun, 1, delta=0.05)

    def test_throttling_is_each_periods(self):
        self.run_it(["run", "s.json", "--db", "th.db", "--quota", "1ms", "--cpus", "2",
                     "--period", "4ms"])
        self.without_gnuplot("th.db", "throttling", "--out", "th.svg")
        bars = self.blocks("th.dat")[0]
        stalls = self.sql("th.db", "SELECT begin_ns, ifnull(end_ns, (SELECT makespan_ns FROM runs))"
                          " FROM p_stalls WHERE why = 'throttled' ORDER BY 1")
        self.assertGreater(len(stalls), 2)
        for i, bar in enumerate(bars):
            low, high = i * 4e6, (i + 1) * 4e6
            inside = [(max(a, low), min(b, high)) for a, b in stalls if b > low and a < high]
            union, until = 0, low
            for a, b in inside:
                union += max(0, b - max(a, until))
                until = max(until, b)
            self.assertAlmostEqual(bar[1], union / 1e6, places=4)
            self.assertAlmostEqual(bar[2], sum(b - a for a, b in inside) / 3 / 1e6, places=4)
        self.without_gnuplot("x.db", "throttling", "--out", "no.svg")
        self.assertIn("no CPU quota", self.read("no.gp"))

    def test_waits_are_by_reason_and_group(self):
        self.without_gnuplot("x.db", "waits", "--out", "waits.svg")
        script, blocks = self.read("waits.gp"), self.blocks("waits.dat")
        reasons = re.findall(r"'([^']*)' (\d+)[,)]", script.split("set ytics (")[1].split("\n")[0])
        self.assertIn("sleep", [r[0] for r in reasons])
        drawn = {}
        for block in blocks:
            for row in block:
                drawn[int(row[1])] = drawn.get(int(row[1]), 0) + row[3] - row[2]
        sums = dict(self.sql("x.db", """
            WITH t AS (SELECT g, from_state AS s, duration_ns AS ns, lag(reason) OVER (PARTITION BY
                       g ORDER BY id) AS why FROM g_transitions)
            SELECT CASE s WHEN 'waiting' THEN why WHEN 'runnable' THEN 'in a run queue'
                   ELSE 'system call' END, sum(ns) FROM t JOIN goroutines USING (g)
            WHERE s IN ('waiting', 'runnable', 'syscall') AND name <> 'runtime' GROUP BY 1"""))
        self.assertEqual({r[0] for r in reasons}, set(sums))
        unit = sums["sleep"] / drawn[int(dict(reasons)["sleep"])]
        for name, at in reasons:
            self.assertAlmostEqual(drawn[int(at)] * unit / sums[name], 1, delta=1e-4)
        self.assertIn("title 'handle'", script)

    def test_who_woke_whom(self):
        self.record({"name": "wakes", "why": "test", "objects": {"c": {"chan": 0}},
                     "funcs": {"send": [{"loop": 7, "do": [{"sleep": "10us"}, {"send": "c"}]}]},
                     "main": [{"go": "send"}, {"loop": 7, "do": [{"recv": "c"}]}]}, "wakes.db")
        out, _ = self.run_it(["plot", "wakes.db", "wakes"])
        self.assertEqual(out, "wakes.svg\n")
        dot = self.read("wakes.dot")
        nodes = {n: text for n, text in re.findall(r'(n\d+) \[shape=\w+, label="([^"]*)"', dot)}
        edges = {(nodes[a], nodes[b]): text for a, b, text in re.findall(
            r'(n\d+) -> (n\d+) \[[^]]*label="([^"]*)"', dot)}
        self.assertTrue(edges[("send", "main")].startswith("7 "))
        self.assertTrue(edges[("timers, network,", "send")].startswith("7 \u00d7 after 1"))
        words = "".join(ElementTree.parse(os.path.join(self.folder, "wakes.svg")).getroot()
                        .itertext())
        self.assertIn("7 \u00d7 after", words)
        if shutil.which("dot"):
            subprocess.run(["dot", "-Tsvg", "wakes.dot"], cwd=self.folder, check=True,
                           stdout=subprocess.DEVNULL)

    def test_a_window_of_the_timeline(self):
        empty = os.path.join(self.folder, "empty")
        os.makedirs(empty, exist_ok=True)
        self.run_it(["plot", "x.db", "timeline", "--from", "1ms", "--to", "2ms", "--out",
                     "t.svg"], status=2, path=empty)
        boxes = [line.split() for line in self.read("t.dat").splitlines() if line]
        for box in boxes[1:]:
            if box[0] == "-1":
                continue
            self.assertGreaterEqual(float(box[2]), 999.999)
            self.assertLessEqual(float(box[3]), 2000.001)

    def test_a_p_without_a_cpu_is_faded(self):
        empty = os.path.join(self.folder, "empty")
        os.makedirs(empty, exist_ok=True)
        self.run_it(["run", "s.json", "--db", "q.db", "--quota", "1ms", "--cpus",
                     "2", "--period", "4ms"])
        rows = self.run_it(["query", "q.db", "SELECT why, count(*), sum(ifnull(end_ns,"
                            " (SELECT makespan_ns FROM runs)) - begin_ns) FROM p_stalls"
                            " GROUP BY why ORDER BY why"])[0].split("\n")
        stalls = {row.split("\t")[0]: [int(v) for v in row.split("\t")[1:]] for row in rows[:-1]}
        self.assertEqual(sorted(stalls), ["no cpu", "throttled"])
        throttled = int(self.run_it(["query", "q.db", "SELECT throttled_ns FROM runs"])[0])
        # the kernel's sum is over CPUs, that of stalls over their Ps: not all threads have one
        self.assertGreater(stalls["throttled"][1], throttled * 0.5)
        self.assertLessEqual(stalls["throttled"][1], throttled * 1.001)
        self.run_it(["plot", "q.db", "timeline", "--out", "q.svg"], status=2, path=empty)
        blocks = [b.split("\n") for b in self.read("q.dat").strip().split("\n\n\n")]
        self.assertEqual(len(blocks), 5)
        self.assertEqual(len(blocks[3]), len(blocks[4]))
        self.assertGreater(len(blocks[4]), 1)
        for line in blocks[4][1:]:
            x = [float(v) for v in line.split()]
            self.assertAlmostEqual(x[5] - x[4], 0.12)

    def without_gnuplot(self, *args):
        empty = os.path.join(self.folder, "empty")
        os.makedirs(empty, exist_ok=True)
        self.run_it(["plot", *args], status=2, path=empty)

    def record(self, scenario, db, *args):
        with open(os.path.join(self.folder, db + ".json"), "w", encoding="utf-8") as f:
            json.dump(scenario, f)
        self.run_it(["run", db + ".json", "--db", db, *args])

    def test_a_run_of_less_than_a_sample_is_drawn_to_its_end(self):
        self.record({"name": "short", "why": "test", "procs": 1, "objects": {"wg": "waitgroup"},
                     "funcs": {"work": [{"cpu": "10us"}, {"done": "wg"}]},
                     "main": [{"add": "wg", "n": 4}, {"go": "work", "count": 4},
                              {"wait": "wg"}]}, "short.db")
        makespan, area = self.run_it(["query", "short.db",
                                      "SELECT makespan_ns, (SELECT sum(runnable_area) FROM samples)"
                                      " FROM runs"])[0].split()
        for picture in ("runq", "utilisation"):
            self.without_gnuplot("short.db", picture, "--out", "short.svg")
            rows = [[float(v) for v in line.split()] for line in self.read("short.dat").split("\n")
                    if line]
            self.assertEqual(rows[0][0], 0)
            self.assertAlmostEqual(rows[-1][0], int(makespan) / 1000)
            self.assertEqual(rows[-1][1:], rows[-2][1:])
        self.without_gnuplot("short.db", "runq", "--out", "short.svg")
        rows = [[float(v) for v in line.split()] for line in self.read("short.dat").split("\n")
                if line]
        self.assertGreater(len(rows), 10)  # some moments of a run of some microseconds
        drawn = sum((b[0] - a[0]) * 1000 * a[1] for a, b in zip(rows, rows[1:]))
        self.assertAlmostEqual(drawn / int(area), 1, delta=0.001)
        self.assertGreater(drawn / int(makespan), 1)  # three of the four wait for the one P

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot")
    def script(self, picture, name, program, *args):
        """What gnuplot is given, and the rows of its data, of a run of that program."""
        with open(os.path.join(self.folder, name + ".json"), "w", encoding="utf-8") as f:
            json.dump({"name": name, "why": "test", **program}, f)
        self.run_it(["run", name + ".json", "--db", name + ".db"])
        self.run_it(["plot", name + ".db", picture, "--out", name + ".svg", *args])
        return self.read(name + ".gp"), self.read(name + ".dat")

    def test_looking_for_work_is_not_the_scheduler(self):
        gp, data = self.script("timeline", "spins", {"procs": 2, "main": [{"cpu": "30us"}]})
        self.assertIn("'thin: scheduler'", gp)
        self.assertIn("'thin: spinning'", gp)
        rows = self.run_it(["query", "spins.db", "SELECT p, begin_ns, end_ns FROM p_spins",
                            "--json"])[0]
        spinning = {(r["p"], r["begin_ns"] / 1000, r["end_ns"] / 1000) for r in json.loads(rows)
                    if r["end_ns"] - r["begin_ns"] > 1000}
        colour = int(re.search(r"rgb '#(\w+)' title 'thin: spinning'", gp).group(1), 16)
        drawn = {(float(p), float(a), float(b)) for _, p, a, b, _, _, c in
                 (line.split() for line in data.splitlines() if line)
                 if int(c) == colour and float(b) - float(a) > 1}
        self.assertTrue(spinning)
        self.assertEqual(drawn, spinning)

    def test_percentiles_only_where_the_count_allows(self):
        for count, has in (1, []), (20, ["p50", "p90"]), (150, ["p50", "p90", "p99"]):
            program = {"main": [{"loop": count, "do": [
                {"span": "one", "do": [{"cpu": {"exp": "30us"}}]}]}]}
            gp, _ = self.script("latency", f"n{count}", program)
            self.assertEqual(", p99 " in gp.split("one: ")[1].splitlines()[0], "p99" in has)
            self.run_it(["plot", f"n{count}.db", "histogram", "--out", f"n{count}.svg"])
            marks = re.findall(r"set label '([\w.]+) ", self.read(f"n{count}.gp"))
            self.assertEqual(marks, has + ["slowest"])

    def test_an_axis_of_less_than_a_decade_says_where_it_is(self):
        gp, _ = self.script("histogram", "narrow", {"main": [
            {"span": "one", "do": [{"cpu": "30us"}]}]})
        labels = re.findall(r"'([\d.]+ us)'", re.search(r"set xtics \((.*)\)", gp).group(1))
        self.assertTrue(3 <= len(labels) <= 8, labels)

    def test_there_is_no_half_goroutine(self):
        for picture, axis in ("runq", "y"), ("threads", "y"), ("queues", "cb"):
            gp, _ = self.script(picture, "few", {"procs": 2, "main": [{"cpu": "30us"}]})
            self.assertIn(f"set {axis}tics 1\n", gp)

    def test_a_run_in_which_nothing_happens_is_drawn(self):
        self.record({"name": "nothing", "why": "test", "main": []}, "nothing.db")
        for picture in PICTURES:
            self.run_it(["plot", "nothing.db", picture, "--out", "nothing.svg"])
            self.assertIn("</svg>", self.read("nothing.svg"))

    def test_what_a_trace_does_not_tell_is_not_drawn_as_none(self):
        program = {"procs": 2, "main": [{"go": [{"cpu": "30us"}], "count": 9}, {"sleep": "1ms"}]}
        gp, _ = self.script("threads", "untold", program)
        self.assertIn("title 'idle, sampled'", gp)
        self.run_it(["run", "untold.json", "--gotrace", "untold.trace"])
        for picture in "queues", "steals", "throttling", "threads":
            self.run_it(["plot", "untold.trace", picture, "--out", "told.svg"])
            gp = self.read("told.gp")
            self.assertEqual("a Go trace does not tell this" in gp, picture != "threads")
            self.assertNotIn("sampled'", gp)
            self.assertIn("</svg>", self.read("told.svg"))

    def test_the_rare_slow_span_is_drawn(self):
        spans = [{"span": "often %d" % i, "do": [{"cpu": "1us"}]} for i in range(12)]
        self.record({"name": "rare", "why": "test", "procs": 2, "objects": {"wg": "waitgroup"},
                     "funcs": {"work": spans + [{"done": "wg"}],
                               "slow": [{"span": "rare", "do": [{"sleep": "7ms"}]},
                                        {"done": "wg"}]},
                     "main": [{"add": "wg", "n": 31}, {"go": "work", "count": 30}, {"go": "slow"},
                              {"wait": "wg"}]}, "rare.db")
        self.without_gnuplot("rare.db", "latency", "--out", "rare.svg")
        script = self.read("rare.gp")
        self.assertIn("title 'rare: 1, max 7.", script)
        self.assertIn("6 more are not drawn", script)

    def test_runs_are_compared_in_one_picture(self):
        for seed in ("1", "2", "3"):
            self.run_it(["run", "s.json", "--db", "three.db", "--seed", seed])
        self.without_gnuplot("three.db", "latency", "--run", "1", "--run", "3", "--out", "c.svg")
        script = self.read("c.gp")
        for part in ("'run 1 (seed 1): request: 200,", "'run 3 (seed 3): request: 200,",
                     "compared: runs 1, 3"):
            self.assertIn(part, script)
        self.assertNotIn("run 2: ", script)
        self.without_gnuplot("three.db", "histogram", "--run", "1", "--run", "3", "--out", "c.svg")
        self.assertEqual(len(self.blocks("c.dat")), 2)
        self.assertIn("title 'run 3 (seed 3)'", self.read("c.gp"))
        self.run_it(["run", "s.json", "--db", "three.db", "--seed", "1", "--profile", "go1.24",
                     "--procs", "2", "--quota", "1.5", "--cpus", "8"])
        self.without_gnuplot("three.db", "latency", "--run", "1", "--run", "4", "--out", "c.svg")
        for part in ("'run 1 (go1.27, 3 Ps, dedicated CPUs, no quota)",
                     "'run 4 (go1.24, 2 Ps, 8 CPUs, quota 1.5)"):
            self.assertIn(part, self.read("c.gp"))
        _, err = self.run_it(["plot", "three.db", "runq", "--run", "1", "--run", "3"], status=2)
        self.assertIn("shows one run", err)

    def test_the_window_is_the_slowest_request(self):
        self.record({"name": "long one", "why": "test", "procs": 2, "objects": {"wg": "waitgroup"},
                     "funcs": {"busy": [{"loop": 400, "do": [{"cpu": "50us"}, {"gosched": True}]},
                                        {"done": "wg"}],
                               "slow": [{"span": "slow", "do": [{"sleep": "9ms"}, {"cpu": "1ms"}]},
                                        {"done": "wg"}]},
                     "main": [{"add": "wg", "n": 5}, {"go": "busy", "count": 4}, {"go": "slow"},
                              {"wait": "wg"}]}, "window.db")
        begin, end = (int(v) for v in self.run_it(
            ["query", "window.db", "SELECT begin_ns, end_ns FROM spans"])[0].split())
        self.without_gnuplot("window.db", "timeline", "--out", "w.svg")
        low, high = (float(v) * 1e6 for v in re.search(
            r"set xrange \[([\d.e+]+):([\d.e+]+)\]", self.read("w.gp")).groups())
        self.assertLess(low, begin)
        self.assertGreater(high, end)
        self.assertLess(high - low, 1.2 * (end - begin))
        self.assertIn("around the slowest request: slow ", self.read("w.gp"))

    def test_goroutines_of_a_group_have_one_colour(self):
        self.without_gnuplot("x.db", "timeline", "--out", "g.svg")
        block = self.read("g.dat").split("\n\n\n")[2].strip().split("\n")[1:]
        colours = {int(line.split()[6]) for line in block}
        script = self.read("g.gp")
        for name in ("handle", "main"):
            colour = re.search("lc rgb '#(\\w+)' title '%s'" % name, script).group(1)
            self.assertIn(int(colour, 16), colours)
        self.assertLessEqual(len(colours), 4)  # handle, main, runtime, the slowest one

    def test_joined_boxes_keep_the_time(self):
        self.record({"name": "tiny", "why": "test", "procs": 2, "objects": {"wg": "waitgroup"},
                     "funcs": {"busy": [{"loop": 3000, "do": [{"cpu": "1us"}, {"gosched": True}]},
                                        {"done": "wg"}]},
                     "main": [{"add": "wg", "n": 4}, {"go": "busy", "count": 4}, {"wait": "wg"}]},
                    "tiny.db")
        makespan, ran = (int(v) for v in self.run_it(
            ["query", "tiny.db", "SELECT makespan_ns, (SELECT sum(duration_ns) FROM g_transitions"
             " WHERE from_state = 'running') FROM runs"])[0].split())
        self.without_gnuplot("tiny.db", "timeline", "--from", "0", "--to", "%dns" % makespan,
                             "--out", "tiny.svg")
        block = self.read("tiny.dat").split("\n\n\n")[2].strip().split("\n")[1:]
        self.assertLess(len(block), 4000)
        unit = 1e3 if makespan < 2e6 else 1e6
        drawn = sum((x[3] - x[2]) * unit * (x[5] - x[4]) / 0.76
                    for x in ([float(v) for v in line.split()] for line in block))
        self.assertAlmostEqual(drawn / ran, 1, delta=0.02)
        self.assertIn("joined", self.read("tiny.gp"))

    GRID = ["whatif", "s.json", "--procs", "1,2,4", "--profile", "go1.24,go1.27", "--runs", "3"]

    def blocks(self, name):
        return [[[float(v) for v in line.split()] for line in block.split("\n")
                 if line and not line.startswith("NaN")]
                for block in self.read(name).strip().split("\n\n\n")]

    def test_a_grid_is_drawn_as_its_table_says(self):
        empty = os.path.join(self.folder, "empty")
        os.makedirs(empty, exist_ok=True)
        self.run_it([*self.GRID, "--plot", "grid.svg"], status=2, path=empty)
        cells = json.loads(self.run_it([*self.GRID, "--json"])[0])["cells"]
        blocks, script = self.blocks("grid.dat"), self.read("grid.gp")
        self.assertEqual(len(blocks), 4 * 4)  # panels; two lines, two kinds of marks
        for panel, point in enumerate(("p50", "p99", "max", None)):
            for line, profile in enumerate(("go1.24", "go1.27")):
                rows = blocks[4 * panel + line]
                mine = [c["series"]["request"] for c in cells if c["profile"] == profile]
                self.assertEqual([r[0] for r in rows], [0, 1, 2])
                for row, series in zip(rows, mine):
                    if point is None:
                        self.assertAlmostEqual(row[1] / series["per_second"], 1, places=5)
                        continue
                    unit = row[1] / series[point]["mean"]
                    self.assertIn(round(-math.log10(unit)), (0, 3, 6))
                    self.assertAlmostEqual((row[3] - row[1]) / unit, series[point]["half"],
                                           delta=series[point]["mean"] / 1e5)
        for part in ("set xlabel 'GOMAXPROCS'", "'1' 0, '2' 1, '4' 2", "title 'go1.24'",
                     "it''s a ''service'', span request", "means over 3 seeds"):
            self.assertIn(part, script)

    def test_a_stored_grid_is_the_picture_of_the_command(self):
        empty = os.path.join(self.folder, "empty")
        os.makedirs(empty, exist_ok=True)
        self.run_it([*self.GRID, "--quota", "1,none", "--cpus", "4", "--db", "grids.db"])
        self.run_it([*self.GRID, "--db", "grids.db", "--plot", "g1.svg"], status=2, path=empty)
        self.run_it(["whatif", "s.json", "--runs", "2", "--profile", "go1.24,go1.27", "--db",
                     "grids.db"])
        self.without_gnuplot("grids.db", "whatif", "--grid", "2", "--out", "g2.svg")
        self.assertEqual(self.read("g1.dat"), self.read("g2.dat"))
        self.assertEqual(self.read("g1.gp").replace("g1.", "g2."), self.read("g2.gp"))
        self.without_gnuplot("grids.db", "whatif", "--out", "g3.svg")  # the latest
        self.assertIn("set xlabel 'release'", self.read("g3.gp"))
        for args, hint in ((["--grid", "9"], "no grid 9"), (["--run", "1"], "of a grid"),
                           (["--span", "nix"], "no span 'nix'")):
            _, err = self.run_it(["plot", "grids.db", "whatif", *args], status=2)
            self.assertIn(hint, err)
        _, err = self.run_it(["plot", "x.db", "whatif"], status=2)
        self.assertIn("no what-if grid", err)

    def test_what_is_best_and_where_more_is_in_vain_is_marked(self):
        # more work than one P can do
        with open(os.path.join(self.folder, "load.json"), "w", encoding="utf-8") as f:
            json.dump({"name": "load", "why": "test",
                       "objects": {"conn": {"fd": {"every": {"exp": "30us"}, "end": "20ms"}},
                                   "wg": "waitgroup"},
                       "funcs": {"work": {"params": ["t"], "do": [
                           {"span": "request", "since": "t", "do": [{"cpu": {"exp": "40us"}}]},
                           {"done": "wg"}]}},
                       "main": [{"deadline": "conn", "after": "20ms", "for": "read"},
                                {"loop": "forever", "do": [
                                    {"read": "conn", "into": "n", "time": "t"},
                                    {"if": "n < 0", "then": [{"break": True}]},
                                    {"add": "wg"}, {"go": "work", "args": ["t"]}]},
                                {"wait": "wg"}]}, f)
        empty = os.path.join(self.folder, "empty")
        os.makedirs(empty, exist_ok=True)
        args = ["whatif", "load.json", "--procs", "1-4", "--runs", "4"]
        self.run_it([*args, "--plot", "k.svg"], status=2, path=empty)
        grid = json.loads(self.run_it([*args, "--json"])[0])
        best = [a for a in grid["advice"] if a["kind"] == "choice"][0]["best"]
        p99 = [c["series"]["request"]["p99"]["mean"] for c in grid["cells"]]
        knee, star = self.blocks("k.dat")[4:6]  # of p99
        self.assertEqual([r[0] for r in star], [best])
        self.assertEqual([r[0] for r in knee],
                         [[i for i, v in enumerate(p99) if v <= 1.1 * min(p99)][0]])
        self.assertGreater(knee[0][0], 0)
        self.assertIn("knee: more helps", self.read("k.gp"))
        # of what no seed tells apart nothing is marked
        self.run_it(["whatif", "load.json", "--runs", "3", "--profile", "go1.25,go1.26,go1.27",
                     "--procs", "3", "--plot", "n.svg"], status=2, path=empty)
        self.assertNotIn("knee: ", self.read("n.gp"))
        self.assertNotIn("best, at", self.read("n.gp"))

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot")
    def test_grids_of_every_kind_are_drawn(self):
        for args in (["--runs", "1"], ["--runs", "2", "--procs", "default,node,go1.25,1-3",
                                       "--cpus", "2,4,dedicated", "--quota", "1,2,none"]):
            self.run_it(["whatif", "s.json", *args, "--plot", "any.svg"])
            self.assertIn("</svg>", self.read("any.svg"))
        self.assertNotIn("title 'nothing", self.read("any.gp"))
        self.run_it([*self.GRID, "--runs", "1", "--shard", "1/1", "--journal", "any.jsonl"])
        self.run_it(["merge", "any.jsonl", "--plot", "merged.png"])
        self.assertEqual(self.read("merged.png", "rb")[:4], b"\x89PNG")
        _, err = self.run_it([*self.GRID, "--shard", "1/1", "--journal", "b.jsonl", "--plot",
                              "b.svg"], status=2)
        self.assertIn("gmpsim merge", err)

    NAMES = ("it's <b>&\"x\"", "caf\u00e9 " + "\u4e2d" * 60,
             "a'; set output '|touch PWNED", "`touch PWNED`",
             "$(touch PWNED)", "n" * 200, "end\\")

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot")
    def test_hostile_names_stay_text(self):
        do = [{"span": name, "do": [{"cpu": "2us"}]} for name in self.NAMES]
        self.record({"name": self.NAMES[2], "why": "test", "procs": 2,
                     "objects": {"wg": "waitgroup"}, "funcs": {"w": do + [{"done": "wg"}]},
                     "main": [{"add": "wg", "n": len(self.NAMES)}] +
                             [{"go": "w", "group": name} for name in self.NAMES] +
                             [{"wait": "wg"}]}, "hostile.db")
        for picture in PICTURES:
            self.run_it(["plot", "hostile.db", picture, "--out", "hostile.svg"])
            text = ElementTree.parse(os.path.join(self.folder, "hostile.svg")).getroot()
            words = "".join(text.itertext())
            self.assertIn("touch PWNED", words)
            if picture == "latency":
                for name in self.NAMES:
                    self.assertTrue(name[:17] in words, name)  # none of them lost its curve
        self.assertFalse(os.path.exists(os.path.join(self.folder, "PWNED")))

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot")
    def test_hostile_file_names_are_files(self):
        for name in ("|touch PWNED;.svg", "-.svg", "it's.svg", "-e.svg", "< touch PWNED;.svg",
                     "a b`touch PWNED`.svg", "\u4e2d.png", "100%s.svg", "~.svg"):
            with self.subTest(name):
                self.run_it(["plot", "x.db", "latency", "--out=" + name])
                self.assertGreater(os.path.getsize(os.path.join(self.folder, name)), 1000)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "PWNED")))
        _, err = self.run_it(["plot", "x.db", "latency", "--out", "a\nb.svg"], status=2)
        self.assertIn("no control characters", err)

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot")
    def test_a_picture_that_cannot_be_drawn_leaves_no_file(self):
        fake = os.path.join(self.folder, "fake")
        os.makedirs(fake, exist_ok=True)
        with open(os.path.join(fake, "gnuplot"), "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\n: >broken.svg\n"
                    "printf '\\n   ^\\nline 7: no \\033[31mluck\\n' >&2\nexit 1\n")
        os.chmod(os.path.join(fake, "gnuplot"), 0o755)
        _, err = self.run_it(["plot", "x.db", "latency", "--out", "broken.svg"], status=2,
                             path=fake + ":/usr/bin:/bin")
        self.assertEqual(err, "gmpsim: gnuplot broken.gp failed: line 7: no \\x1b[31mluck\n")
        self.assertFalse(os.path.exists(os.path.join(self.folder, "broken.svg")))

    def test_mistakes(self):
        for args, hint in ((["x.db", "latency", "--out", "x.pdf"], ".svg or .png"),
                           (["x.db", "latency", "--run", "9"], "no complete run 9"),
                           (["x.db", "latency", "--out", "no/such/x.svg"], "No such file"),
                           (["x.db", "timeline", "--from", "9s", "--to", "10s"], "nothing ran")):
            _, err = self.run_it(["plot", *args], status=2)
            self.assertIn(hint, err)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[1:])
