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
            self.assertIn("plot '%s.dat'" % name, self.read(name + ".gp"))
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

    def test_mistakes(self):
        for args, hint in ((["x.db", "latency", "--out", "x.pdf"], ".svg or .png"),
                           (["x.db", "latency", "--run", "9"], "no complete run 9"),
                           (["x.db", "latency", "--out", "no/such/x.svg"], "No such file"),
                           (["x.db", "timeline", "--from", "9s", "--to", "10s"], "nothing ran")):
            _, err = self.run_it(["plot", *args], status=2)
            self.assertIn(hint, err)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[1:])
