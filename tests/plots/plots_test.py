#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: every picture is drawn, says what it shows, and its data are the database's. Method: draw
all of them with gnuplot, as SVG and PNG, and without gnuplot.

usage: plots_test.py GMPSIM
"""
import json
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

GMPSIM = os.path.abspath(sys.argv.pop(1))
PICTURES = ("latency", "runq", "utilisation", "timeline")
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
                self.assertIn('width="1200" height="700"', text)

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot")
    def test_png(self):
        for picture in PICTURES:
            with self.subTest(picture):
                self.run_it(["plot", "x.db", picture, "--out", picture + ".png"])
                data = self.read(picture + ".png", "rb")
                self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
                self.assertEqual(struct.unpack(">II", data[16:24]), (1200, 700))

    def test_without_gnuplot(self):
        empty = os.path.join(self.folder, "empty")
        os.makedirs(empty, exist_ok=True)
        for picture in PICTURES:
            name = "none-" + picture
            _, err = self.run_it(["plot", "x.db", picture, "--out", name + ".svg"], status=2,
                                 path=empty)
            self.assertIn("apt install gnuplot-nox", err)
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
        self.assertEqual(len(blocks), 4)
        self.assertEqual(len(blocks[2]), len(blocks[3]))
        self.assertGreater(len(blocks[3]), 1)
        for line in blocks[3][1:]:
            x = [float(v) for v in line.split()]
            self.assertAlmostEqual(x[5] - x[4], 0.12)

    def test_a_store_of_the_first_version(self):
        empty = os.path.join(self.folder, "empty")
        os.makedirs(empty, exist_ok=True)
        db = sqlite3.connect(os.path.join(self.folder, "old.db"))
        here = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(here, "..", "store", "store_v1.sql"),
                  encoding="utf-8") as f:
            db.executescript(f.read())
        db.close()
        for picture in PICTURES:
            _, err = self.run_it(["plot", "old.db", picture, "--out", "old.svg"], status=2,
                                 path=empty)
            self.assertIn("apt install gnuplot-nox", err)

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
        mean = float(self.read("short.dat").split()[1])
        self.assertAlmostEqual(mean, int(area) / int(makespan), delta=0.001)
        self.assertGreater(mean, 1)  # three of the four wait for the one P

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot")
    def test_a_run_in_which_nothing_happens_is_drawn(self):
        self.record({"name": "nothing", "why": "test", "main": []}, "nothing.db")
        for picture in PICTURES:
            self.run_it(["plot", "nothing.db", picture, "--out", "nothing.svg"])
            self.assertIn("</svg>", self.read("nothing.svg"))

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
        self.assertIn("title 'rare: 1, p99 7.", script)
        self.assertIn("6 more are not drawn", script)

    def test_runs_are_compared_in_one_picture(self):
        for seed in ("1", "2", "3"):
            self.run_it(["run", "s.json", "--db", "three.db", "--seed", seed])
        self.without_gnuplot("three.db", "latency", "--run", "1", "--run", "3", "--out", "c.svg")
        script = self.read("c.gp")
        for part in ("'run 1: request: 200,", "'run 3: request: 200,", "compared: runs 1, 3"):
            self.assertIn(part, script)
        self.assertNotIn("run 2: ", script)
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
        block = self.read("g.dat").split("\n\n\n")[1].strip().split("\n")[1:]
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
        block = self.read("tiny.dat").split("\n\n\n")[1].strip().split("\n")[1:]
        self.assertLess(len(block), 4000)
        unit = 1e3 if makespan < 2e6 else 1e6
        drawn = sum((x[3] - x[2]) * unit * (x[5] - x[4]) / 0.76
                    for x in ([float(v) for v in line.split()] for line in block))
        self.assertAlmostEqual(drawn / ran, 1, delta=0.02)
        self.assertIn("joined", self.read("tiny.gp"))

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
