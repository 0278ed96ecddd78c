#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: what other tools measured becomes a scenario that runs at once and has the measured
latencies and load, or is refused with a place. Method: outputs of those tools (the fuzz target's
corpus), fitted, run, and compared with the numbers that stand in them.

usage: fit_test.py GMPSIM ROOT
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

GMPSIM = os.path.abspath(sys.argv.pop(1))
CORPUS = os.path.join(os.path.abspath(sys.argv.pop(1)), "tests", "fuzz", "corpus", "measured")


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_it(self, *args, status=0, text=None):
        done = subprocess.run([GMPSIM, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              cwd=self.folder.name, timeout=120, check=False, input=text)
        self.assertEqual(done.returncode, status, (done.stdout + done.stderr).decode())
        return done.stdout.decode(), done.stderr.decode()

    def fit(self, name, *args, text=None):
        path = os.path.join(CORPUS, name) if text is None else "-"
        return json.loads(self.run_it("fit", path, "--json", *args, text=text)[0])

    def fit_and_run(self, name, *args, until="1s", procs="8"):
        got = self.fit(name, *args)
        with open(os.path.join(self.folder.name, "s.json"), "w", encoding="utf-8") as f:
            json.dump(got["scenario"], f)
        run = self.run_it("run", "s.json", "--until", until, "--procs", procs, "--json")[0]
        return got, json.loads(run)

    def refused(self, text, place, *args):
        _, err = self.run_it("fit", "-", *args, status=2, text=text.encode())
        self.assertRegex(err, r"^gmpsim: -:%s: " % place)


class Latencies(Case):
    # The tail is what the file has no numbers for, so percentiles below it are compared.
    def near(self, run, **want):
        span = run["spans"]["request"]
        for point, ns in want.items():
            self.assertAlmostEqual(span[point] / ns, 1, delta=0.12, msg=point)

    def test_every_example_runs_at_once(self):
        for name in sorted(os.listdir(CORPUS)):
            with self.subTest(name):
                got, run = self.fit_and_run(name, until="20ms")
                self.assertEqual(run["verdict"], "time limit")
                self.assertTrue(got["not_known"])
                self.assertTrue(all(note in got["scenario"]["why"] for note in got["not_known"]
                                    if "\\" not in note))

    def test_wrk(self):
        got, run = self.fit_and_run("wrk.txt", "--cpu", "1us", "--clients", "20", until="300ms")
        self.assertEqual(got["count"], 22464657)
        self.near(run, p50=250e3, p90=700e3, p99=5.8e6)
        self.assertAlmostEqual(run["spans"]["request"]["mean"] / 635910, 1, delta=0.4)
        own = self.fit("wrk.txt")["scenario"]["objects"]["conn"]["fd"]
        self.assertEqual(own["clients"], 400)  # as its second line says

    def test_wrk2_asks_at_a_rate(self):
        got, run = self.fit_and_run("wrk2.txt", "--cpu", "1us")
        self.assertEqual(got["scenario"]["objects"]["conn"]["fd"], {"every": "499930ns"})
        self.near(run, p50=6.67e6, p90=9.14e6, p99=11.18e6)
        self.assertAlmostEqual(run["spans"]["request"]["per_second"], 2000, delta=30)

    def test_hey(self):
        got, run = self.fit_and_run("hey.txt", "--cpu", "1us", until="20s")
        self.assertAlmostEqual(got["per_second"], 109.4281)
        self.near(run, p50=61.1e6, p90=1.4502e9, p99=1.7651e9)

    def test_vegeta(self):
        for name, p50, p99, rate in (("vegeta.txt", 108.27e6, 247.77e6, 120),
                                     ("vegeta.json", 10.23e6, 38.9e6, 100.03334)):
            got, run = self.fit_and_run(name, "--cpu", "1us", until="40s")
            self.assertAlmostEqual(got["per_second"], rate)
            self.near(run, p50=p50, p99=p99)
            self.assertAlmostEqual(run["spans"]["request"]["per_second"] / rate, 1, delta=0.03)

    def test_results_one_by_one_have_arrivals(self):
        for name in ("vegeta.csv", "vlines.json"):  # 10 ms apart, each
            got = self.fit(name)
            self.assertAlmostEqual(got["per_second"], 100, delta=0.01, msg=name)
            every = got["scenario"]["objects"]["conn"]["fd"]["every"]
            self.assertAlmostEqual(int(every.removesuffix("ns")), 10000000, delta=300)
        every = self.fit("hey.csv")["scenario"]["objects"]["conn"]["fd"]["every"]["empirical"]
        self.assertEqual(sum(b["weight"] for b in every), 3)
        self.assertEqual(self.fit("hey.csv")["mean_ns"], (4 + 4.1 + 10 + 3) / 4 * 1e6)

    def test_a_list_and_its_units(self):
        self.assertAlmostEqual(self.fit("list.txt")["mean_ns"], (1.2e6 + 3e6 + 62.5e9 + 4e6) / 4)
        self.assertAlmostEqual(self.fit("ms.txt")["mean_ns"], 125.5e6 / 3)
        for unit, ns in (("us", 1e3), ("ns", 1)):
            got = self.fit(None, "--unit", unit, text=b"1\n2\n3\n")
            self.assertAlmostEqual(got["mean_ns"], 2 * ns)

    def test_prometheus(self):
        got, run = self.fit_and_run("prom.txt", "--cpu", "1us", "--label", 'code="200"', until="9s",
                                    *[])
        self.assertEqual((got["metric"], got["count"]), ("http_request_duration_seconds", 144320))
        span = run["spans"]["request"]
        # half of 144320 lie below the bucket from 0.1 to 0.2, in which they are even
        half = 0.1 + 0.1 * (72160 - 33444) / (100392 - 33444)
        self.assertAlmostEqual(span["p50"] / (half * 1e9), 1, delta=0.05)
        self.assertEqual(self.fit("prom.txt")["count"], 144322)
        self.assertEqual(self.fit("prom.txt", "--metric", "rpc_duration_seconds")["count"], 10)
        rate = self.fit("prom.txt", "--label", 'code="200"', "--over", "60s")["per_second"]
        self.assertAlmostEqual(rate, 144320 / 60)
        self.refused("x_bucket{le=\"1\"} 1\n", "1:1", "--metric", "y")

    def test_the_runtime_s_own_histograms_are_no_requests(self):
        text = 'go_gc_pauses_seconds_bucket{le="1"} 7\ngo_gc_pauses_seconds_bucket{le="+Inf"} 9\n'
        self.refused(text, "1:1")
        got = self.fit(None, "--metric", "go_gc_pauses_seconds", text=text.encode())
        self.assertEqual(got["count"], 9)

    def test_prometheus_in_any_order(self):
        lines = ['d_seconds_bucket{a="x",le="+Inf",b="y"} 10',
                 'd_seconds_bucket{le="1",b="y",a="x"} 4',
                 'd_seconds_sum{b="y",a="x"} 12', 'd_seconds_count{a="x",b="y"} 10']
        want = self.fit(None, text="\n".join(lines).encode())
        self.assertEqual((want["count"], want["mean_ns"]), (10, 1.2e9))
        self.assertFalse(any("labels" in n for n in want["not_known"]))
        again = self.fit(None, text="\r\n".join(reversed(lines)).encode())
        self.assertEqual(again["scenario"], want["scenario"])


class Scheduler(Case):
    def test_schedtrace_of_five_releases(self):
        for release in (19, 22, 24, 26, 27):
            name = "schedtrace-1.%d.txt" % release
            got, run = self.fit_and_run(name, procs="4", until="200ms")
            with open(os.path.join(CORPUS, name), encoding="utf-8") as f:
                lines = [dict(re.findall(r"(\w+)=(\d+)", line)) for line in f][1:]
            busy = sum(max(0, int(x["gomaxprocs"]) - int(x["idleprocs"]) -
                           int(x["spinningthreads"])) for x in lines) / len(lines)
            self.assertEqual(got["scenario"]["procs"], 4)
            self.assertEqual(any("schedticks" in n for n in got["not_known"]), release < 26)
            user = run["p_ns"]["user"] / run["makespan_ns"]
            self.assertAlmostEqual(user, busy, delta=0.15 * busy + 0.02, msg=name)

    def test_runtime_metrics(self):
        for name in ("metrics-1.26.txt", "metrics-1.27.txt", "metrics-plus.txt"):
            got, run = self.fit_and_run(name, procs="4", until="300ms")
            with open(os.path.join(CORPUS, name), encoding="utf-8") as f:
                v = dict(re.findall(r"^(/[^ ]*): ([\d.]+)$", f.read(), re.M))
            user = float(v["/cpu/classes/user:cpu-seconds"])
            total = float(v["/cpu/classes/total:cpu-seconds"])
            self.assertAlmostEqual(run["p_ns"]["user"] / sum(run["p_ns"].values()) / (user / total),
                                   1, delta=0.15)
            self.assertIn("Measured waits in run queues", got["scenario"]["why"])


class Refusals(Case):
    def test_a_place_for_each_mistake(self):
        self.refused("", "1:1")
        self.refused("hello\nworld\n", "1:1")
        self.refused("1ms\n2ms\nsoon\n", "3:1")
        self.refused("1ms\n2ms x\n", "2:5")
        self.refused('a_bucket{le="1"} many\n', "1:18")
        self.refused('a_bucket{le="x"} 1\n', "1:14")
        self.refused('a_bucket{le="1} 1\n', "1:18")
        self.refused('a_bucket{le="1"} 5\na_bucket{le="2"} 3\n', "1:1")
        self.refused("SCHED 1ms: gomaxprocs=2 idleprocs=3 spinningthreads=0 runqueue=0 [0 0]\n",
                     "1:11")
        self.refused("SCHED 1ms: gomaxprocs=2 idleprocs=1 spinningthreads=0 runqueue=0 [0 x]\n",
                     "1:69")
        self.refused("SCHED now\n", "1:7")
        self.refused('a_bucket{le="1e101"} 1\n', "1:14")
        self.refused("/sched/gomaxprocs:threads: 4\n/sched/latencies:seconds: &{[1 2] [0 x]}\n",
                     "2:38")
        self.refused("  Latency Distribution\n   50% 3ms\n   90% 2ms\n", "3:4")
        self.refused("Running 1s test @ x\n  1 threads and 2 connections\n", "1:1")
        self.refused('{"latencies": {"50th": "x"}}', "1:24")
        self.refused("Latencies [min, 50, max] 1ms, 2ms\n", "1:34")

    def test_buckets_of_less_than_one_are_none(self):
        self.refused("Bucket  #\n[1ms, 2ms]  0.9  90%\n", "1:1")

    def test_of_two_scrapes_in_a_file_the_last_counts(self):
        scrape = ('a_seconds_bucket{le="0.1"} %d\na_seconds_bucket{le="+Inf"} %d\n'
                  "a_seconds_sum %g\na_seconds_count %d\n")
        text = (scrape % (10, 10, 0.5, 10) + scrape % (50, 100, 30, 100)).encode()
        once = (scrape % (50, 100, 30, 100)).encode()
        self.assertEqual(self.fit("-", text=text), self.fit("-", text=once))

    def test_numbers_beyond_any_measurement(self):
        got = self.fit("prom-large.txt") # sums of its products are infinite less infinite
        self.assertEqual((got["count"], got["mean_ns"]), (9, 1e15))

    def test_options(self):
        list_ = os.path.join(CORPUS, "list.txt")
        for args in (("--rate", "x"), ("--rate", "-1"), ("--unit", "min"), ("--procs", "2000000"),
                     ("--clients", "1000000")):
            self.run_it("fit", list_, *args, status=2)

    def test_a_file_is_not_written_over(self):
        list_ = os.path.join(CORPUS, "list.txt")
        out, _ = self.run_it("fit", list_, "--out", "s.json")
        self.assertIn("run it: gmpsim run s.json", out)
        self.run_it("fit", list_, "--out", "s.json", status=2)

    def test_standard_output_is_the_scenario(self):
        out, err = self.run_it("fit", os.path.join(CORPUS, "wrk.txt"))
        self.assertEqual(json.loads(out)["name"], "fit of wrk.txt")
        self.assertIn("not known:", err)


if __name__ == "__main__":
    unittest.main()
