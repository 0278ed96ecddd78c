#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: the report of a run can be passed on: what it counts is what the records say, also after a
warm-up; its tables are the same as text and as CSV, with any names; the verdict stands out on a
terminal and nowhere else. Method: run small services, count again from the store, and look.

usage: report_test.py GMPSIM
"""
import csv
import io
import json
import os
import pty
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest

GMPSIM = os.path.abspath(sys.argv.pop(1))
LONG = "a span with a name that is longer than any column of any table would ever be, \"x\", =1+1"
WARMUP_NS = 20000000


def service(span, requests=300):
    return {
        "name": "service", "why": "test", "procs": 2, "objects": {"wg": "waitgroup", "mu": "mutex"},
        "funcs": {"handle": [
            {"span": span, "do": [{"cpu": {"exp": "30us"}}, {"lock": "mu"}, {"cpu": "1us"},
                                  {"unlock": "mu"}, {"sleep": {"exp": "200us"}}]},
            {"done": "wg"}]},
        "main": [{"add": "wg", "n": requests},
                 {"loop": requests,
                  "do": [{"go": "handle", "group": "request"}, {"sleep": "20us"}]},
                 {"wait": "wg"}],
    }


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for name, what in (("service", service("request")), ("long", service(LONG)),
                           ("few", service("request", 20))):
            with open(os.path.join(self.folder.name, name + ".json"), "w", encoding="utf-8") as f:
                json.dump(what, f)

    def run_it(self, *args, status=0):
        done = subprocess.run([GMPSIM, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              cwd=self.folder.name, timeout=120, check=False)
        self.assertEqual(done.returncode, status, done.stdout.decode() + done.stderr.decode())
        return done.stdout.decode()

    def rows(self, *args):
        return list(csv.DictReader(io.StringIO(self.run_it("run", *args, "--csv"))))

    def table(self, text, title):
        """Rows of a table of the report: cells are two spaces apart."""
        lines = text[text.index("\n" + title) + 1:].split("\n\n")[0].split("\n")
        head, rows = lines[0], lines[1:]
        return re.split(r" {2,}", head.strip()), [r for r in rows if not r.startswith("  (")]


class Report(Case):
    def test_a_rate_is_the_count_over_the_time(self):
        report = json.loads(self.run_it("run", "service.json", "--json"))
        row = self.rows("service.json")[0]
        self.assertEqual((row["name"], row["count"], row["seed"]), ("request", "300", "1"))
        rate = 300 / report["makespan_ns"] * 1e9
        self.assertAlmostEqual(float(row["per_second"]) / rate, 1, delta=1e-6)
        self.assertAlmostEqual(report["spans"]["request"]["per_second"] / rate, 1, delta=1e-6)
        self.assertIn("%.0f" % rate, self.run_it("run", "service.json"))

    def test_percentiles_only_where_the_count_allows(self):
        of = {r["name"]: r for f in ("service", "few") for r in self.rows(f + ".json")[:1]
              for r in [dict(r, name=f)]}
        self.assertEqual([of["service"][k] != "" for k in ("p90_ns", "p99_ns", "p999_ns")],
                         [True, True, False])
        self.assertEqual([of["few"][k] != "" for k in ("p90_ns", "p99_ns", "p999_ns")],
                         [True, False, False])
        titles, rows = self.table(self.run_it("run", "few.json"), "latency")
        cells = re.split(r" {2,}", rows[0].strip())
        self.assertEqual([cells[titles.index(t)] for t in ("p99", "p99.9")], ["-", "-"])
        points = ("p90", "p99", "p99.9")
        for name in "service", "few":
            found = json.loads(self.run_it("run", name + ".json", "--json", "--db", name + ".db"))
            self.assertEqual([found["spans"]["request"][p] is not None for p in points],
                             [of[name][k] != "" for k in ("p90_ns", "p99_ns", "p999_ns")])
            row = json.loads(self.run_it("query", name + ".db", "SELECT p90_ns, p99_ns, p999_ns"
                                         " FROM latencies WHERE kind = 'span'", "--json"))[0]
            self.assertEqual([*row.values()], [found["spans"]["request"][p] for p in points])

    def test_throttling_is_what_the_kernel_calls_it(self):
        args = ("service.json", "--cpus", "4", "--quota", "0.5", "--period", "2ms")
        report = json.loads(self.run_it("run", *args, "--json"))
        row, = self.rows(*args, "--table", "quota")
        self.assertEqual([int(row[k]) for k in ("nr_periods", "nr_throttled", "throttled_time_ns")],
                         [report[k] for k in ("nr_periods", "nr_throttled", "throttled_ns")])
        self.assertGreater(report["nr_throttled"], 0)
        self.assertRegex(self.run_it("run", *args),
                         r"CPU quota +nr_periods +nr_throttled +throttled_time\n")

    def test_long_names_do_not_break_columns(self):
        for name in ("service", "long"):
            text = self.run_it("run", name + ".json")
            for title in ("latency", "goroutines", "counters"):
                lines = text[text.index("\n" + title) + 1:].split("\n\n")[0].split("\n")
                last = re.search(r"what" if title == "counters" else r"\S+$", lines[0]).end()
                for line in lines[1:]:
                    if title == "counters" and not line.startswith("  ("):
                        self.assertEqual(line[last - len("what") - 2:last - len("what")], "  ")
                    elif title != "counters":
                        self.assertEqual(len(line), last, line)

    def test_the_order_is_the_same_everywhere(self):
        text = self.run_it("run", "service.json")
        titles, rows = self.table(text, "latency")
        names = [re.split(r" {2,}", r.strip())[0] for r in rows]
        self.assertEqual(names[0], "request")
        self.assertEqual(names[-1], "run-queue wait")
        self.assertEqual(names, [r["name"] for r in self.rows("service.json")])
        groups = [r["group"] for r in self.rows("service.json", "--table", "goroutines")]
        self.assertEqual(groups, list(json.loads(self.run_it("run", "service.json",
                                                             "--json"))["groups"]))
        self.assertEqual(groups[-1], "runtime")
        self.assertEqual([n for n in names if n.startswith("life of")],
                         ["life of " + g for g in groups if g == "request"])

    def test_counters_are_explained(self):
        report = json.loads(self.run_it("run", "service.json", "--json"))
        short = self.table(self.run_it("run", "service.json"), "counters")[1]
        self.assertLess(len(short), 14)
        for line in short:
            name, count, _, what = re.split(r" {2,}", line.strip())
            self.assertEqual(report["counters"][name], int(count))
            self.assertGreater(len(what.split()), 0)
        self.assertEqual({r["name"]: int(r["count"])
                          for r in self.rows("service.json", "--table", "counters")},
                         report["counters"])
        self.assertEqual(len(self.table(self.run_it("run", "service.json", "--counters"),
                                        "counters")[1]), len(report["counters"]))

    def test_foreign_text_is_a_field(self):
        raw = self.run_it("run", "long.json", "--csv", "--table", "slow")
        rows = list(csv.DictReader(io.StringIO(raw)))
        self.assertEqual({r["span"] for r in rows}, {LONG})
        with open(os.path.join(self.folder.name, "formula.json"), "w", encoding="utf-8") as f:
            json.dump(service("=cmd()"), f)
        self.assertNotEqual(self.rows("formula.json")[0]["name"][0], "=")

    def test_several_runs_are_rows_with_their_seeds(self):
        rows = self.rows("service.json", "--runs", "3", "--seed", "7", "--table", "ps")
        self.assertEqual(sorted({r["seed"] for r in rows}), ["7", "8", "9"])
        of = {}
        for r in rows:
            of[r["seed"]] = of.get(r["seed"], 0) + float(r["percent"])
        for total in of.values():
            self.assertAlmostEqual(total, 100, delta=0.01)

    def test_one_thing_on_standard_output(self):
        self.run_it("run", "service.json", "--csv", "--json", status=2)
        self.run_it("run", "service.json", "--table", "nothing", status=2)
        self.run_it("run", "service.json", "--table", "ps", "--prints", status=2)
        self.assertEqual(self.run_it("run", "service.json", "--table", "ps"),
                         self.run_it("run", "service.json", "--csv", "--table", "ps"))


class Terminal(Case):
    def on_a_terminal(self, **env):
        try:
            ours, theirs = pty.openpty()
        except OSError as e:
            self.skipTest("no pseudo-terminal here: %s" % e)
        with subprocess.Popen([GMPSIM, "run", "few.json"], stdout=theirs, stderr=subprocess.DEVNULL,
                              cwd=self.folder.name,
                              env={**os.environ, "TERM": "xterm", "NO_COLOR": "", **env}) as child:
            os.close(theirs)
            text = b""
            try:
                while True:
                    text += os.read(ours, 4096)
            except OSError:
                pass
            child.wait()
        os.close(ours)
        return text

    def test_the_verdict_is_first_and_bold(self):
        text = self.on_a_terminal()
        self.assertTrue(text.startswith(b"\x1b[1mservice: finished\x1b[0m"), text[:60])
        self.assertEqual(text.count(b"\x1b"), 2)

    def test_elsewhere_there_are_no_escapes(self):
        for text in (self.on_a_terminal(NO_COLOR="1"), self.on_a_terminal(TERM="dumb"),
                     self.run_it("run", "few.json").encode()):
            self.assertTrue(text.startswith(b"service: finished"), text[:60])
            self.assertNotIn(b"\x1b", text)


class WarmUp(Case):
    def setUp(self):
        super().setUp()
        self.run_it("run", "service.json", "--warmup", "20ms", "--db", "x.db")
        self.report = json.loads(self.run_it("run", "service.json", "--warmup", "20ms", "--json"))
        self.all = json.loads(self.run_it("run", "service.json", "--json"))
        self.db = sqlite3.connect(os.path.join(self.folder.name, "x.db"))
        self.addCleanup(self.db.close)

    def sql(self, text, *args):
        return self.db.execute(text, args).fetchall()

    def test_it_is_the_same_run(self):
        self.assertEqual(self.report["fingerprint"], self.all["fingerprint"])

    def test_it_is_said(self):
        self.assertEqual(self.report["warmup_ns"], WARMUP_NS)
        self.assertEqual(self.sql("SELECT warmup_ns FROM runs"), [(WARMUP_NS,)])
        self.assertIn(" --warmup 20ms ", self.report["repeat"])
        self.assertIn("warm-up 20ms: what began before it is not counted",
                      self.run_it("run", "service.json", "--warmup", "20ms"))

    def test_spans_are_those_that_began_after_it(self):
        lengths = sorted(n for n, in self.sql("SELECT end_ns - begin_ns FROM spans WHERE"
                                              " begin_ns >= ?", WARMUP_NS))
        span = self.report["spans"]["request"]
        self.assertEqual((span["count"], span["min"], span["max"]),
                         (len(lengths), lengths[0], lengths[-1]))
        self.assertLess(len(lengths), self.all["spans"]["request"]["count"] - 40)
        rate = len(lengths) / (self.report["makespan_ns"] - WARMUP_NS) * 1e9
        self.assertAlmostEqual(span["per_second"] / rate, 1, delta=1e-3)
        self.assertAlmostEqual(sum(span["parts"].values()) / span["mean"], 1, delta=1e-3)

    def test_goroutines_are_counted_and_timed_after_it(self):
        group = self.report["groups"]["request"]
        self.assertEqual((group["created"], group["ended"]),
                         self.sql("SELECT count(*) FILTER (WHERE create_time_ns >= ?1), count(*)"
                                  " FILTER (WHERE end_time_ns >= ?1) FROM goroutines WHERE"
                                  " name = 'request'", WARMUP_NS)[0])
        for state in ("running", "runnable", "waiting"):
            ns, = self.sql("SELECT sum(t.end_time_ns - max(t.end_time_ns - duration_ns, ?1))"
                           " FROM g_transitions t JOIN goroutines USING (run, g) WHERE"
                           " name = 'request' AND from_state = ?2 AND t.end_time_ns > ?1",
                           WARMUP_NS, state)[0]
            self.assertAlmostEqual(group[state + "_ns"] / ns, 1, delta=0.001, msg=state)

    def test_counters_and_ps_are_those_after_it(self):
        self.assertEqual(self.report["counters"]["gocreated"],
                         self.report["groups"]["request"]["created"])
        self.assertAlmostEqual(sum(self.report["p_ns"].values()),
                               2 * (self.report["makespan_ns"] - WARMUP_NS), delta=100)

    def test_samples_are_of_all_of_the_run(self):
        user, = self.sql("SELECT sum(user_ns) FROM samples")[0]
        self.assertAlmostEqual(user / self.all["p_ns"]["user"], 1, delta=0.001)

    def test_one_that_is_longer_than_the_run(self):
        text = self.run_it("run", "service.json", "--warmup", "10s")
        self.assertIn("the run was over before", text)
        self.assertNotIn("request ", text.split("goroutines")[0])
        r = json.loads(self.run_it("run", "service.json", "--warmup", "10s", "--json"))
        self.assertEqual((sum(r["counters"].values()), sum(r["p_ns"].values()), r["runnable_max"]),
                         (0, 0, 0))
        self.run_it("run", "service.json", "--warmup", "1s", "--until", "1s", status=2)

    def test_a_quota_is_counted_after_it(self):
        args = ("run", "service.json", "--cpus", "4", "--quota", "0.5", "--period", "2ms", "--json")
        all_, late = (json.loads(self.run_it(*args, *w)) for w in ((), ("--warmup", "20ms")))
        self.assertLess(all_["nr_periods"] - late["nr_periods"], 12)
        self.assertGreater(all_["nr_periods"] - late["nr_periods"], 8)
        self.assertLess(late["throttled_ns"], all_["throttled_ns"])

    def test_real_threads_have_it_too(self):
        r = json.loads(self.run_it("run", "service.json", "--host", "threads", "--warmup", "1h",
                                   "--json"))
        self.assertEqual(r["spans"]["request"]["count"], 0)
        self.assertEqual(r["counters"]["goexited"], 300)  # of all of the run, as the report says


class Explain(Case):
    START = {"name": "start", "why": "test", "procs": 1, "objects": {"wg": "waitgroup"},
             "funcs": {"handle": [{"span": "request", "do": [{"cpu": "20us"}, {"sleep": "30us"}]},
                                  {"done": "wg"}]},
             "main": [{"alloc": "20MB", "live": True}, {"add": "wg", "n": 300},
                      {"loop": 300, "do": [{"go": "handle"}, {"sleep": "100us"}]}, {"wait": "wg"}]}

    def setUp(self):
        super().setUp()
        with open(os.path.join(self.folder.name, "start.json"), "w", encoding="utf-8") as f:
            json.dump(self.START, f)
        self.run_it("run", "start.json", "--db", "x.db")
        self.db = sqlite3.connect(os.path.join(self.folder.name, "x.db"))
        self.addCleanup(self.db.close)

    def explained(self, *args):
        out = self.run_it("run", "start.json", "--explain", "request", *args)
        return re.search(r"the slowest request([^:]*): \S+ key (\d+)", out).groups(), out

    def slowest(self, since):
        return self.db.execute("SELECT key, begin_ns FROM spans WHERE begin_ns >= ? ORDER BY"
                               " end_ns - begin_ns DESC LIMIT 1", (since,)).fetchone()

    def test_the_collection_of_the_start_is_no_slow_request(self):
        (which, key), out = self.explained()
        self.assertEqual(which, " after the start")
        ended = re.search(r"went on until ([\d.]+)ms", out)
        self.assertIsNotNone(ended, out)
        start_key, began = self.slowest(0)
        self.assertIn("key %d," % start_key, out)  # it is said, but not explained
        self.assertNotEqual(int(key), start_key)
        self.assertLess(began, float(ended[1]) * 1e6)
        self.assertEqual(int(key), self.slowest(float(ended[1]) * 1e6 + 5000)[0])

    def test_after_a_warm_up(self):
        (_, key), out = self.explained("--warmup", "25ms")
        self.assertEqual(int(key), self.slowest(25000000)[0])
        self.assertNotIn("of the start", out)


if __name__ == "__main__":
    unittest.main()
