#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: a what-if grid says the same however it ran: at once or in parts, killed or not, with more
processes or fewer; its words mean what they say; and what it concludes is what its numbers show.
Method: small services, run and looked at.

usage: whatif_test.py GMPSIM
"""
import csv
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

GMPSIM = os.path.abspath(sys.argv.pop(1))
# 20 000 requests per second of 50 us each: one CPU's worth of work
SERVICE = {
    "name": "service", "why": "test",
    "objects": {"conn": {"fd": {"every": {"exp": "50us"}, "end": "20ms"}}, "wg": "waitgroup"},
    "funcs": {"handle": {"params": ["t"], "do": [
        {"span": "request", "since": "t", "do": [{"cpu": {"exp": "50us"}}]}, {"done": "wg"}]}},
    "main": [{"deadline": "conn", "after": "20ms", "for": "read"},
             {"loop": "forever", "do": [
                 {"read": "conn", "into": "n", "time": "t"},
                 {"if": "n < 0", "then": [{"break": True}]},
                 {"add": "wg"}, {"go": "handle", "args": ["t"]}]}, {"wait": "wg"}]}
CLOSED = {
    "name": "closed", "why": "test",
    "funcs": {"connection": [
        {"make": "c", "as": {"fd": {"clients": 4, "think": "100us"}}},
        {"loop": "forever", "do": [
            {"read": "c", "into": "n", "time": "t"},
            {"span": "request", "since": "t", "do": [{"cpu": "10us"}]},
            {"write": "c", "value": "n"}]}]},
    "main": [{"go": "connection"}, {"sleep": "10ms"}], "until": "10ms"}
FOREVER = {"name": "for ever", "why": "test", "procs": 2,
           "funcs": {"f": [{"loop": "forever", "do": [{"cpu": "1us"}, {"gosched": True}]}]},
           "main": [{"go": "f", "count": 4}, {"sleep": "100h"}]}
PLAIN = {"name": "plain", "why": "test", "main": [{"cpu": "1ms"}]}
STUCK = {"name": "stuck", "why": "test", "objects": {"c": {"chan": 0}}, "main": [{"recv": "c"}]}


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def children(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as f:
            return [int(c) for c in f.read().split()]
    except FileNotFoundError:
        return []


class Case(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = self.temporary.name
        for name, content in (("service", SERVICE), ("closed", CLOSED), ("forever", FOREVER),
                              ("plain", PLAIN), ("stuck", STUCK)):
            with open(self.path(name + ".json"), "w", encoding="utf-8") as f:
                json.dump(content, f)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_it(self, *args, status=0, env=None):
        done = subprocess.run([GMPSIM, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              cwd=self.folder, timeout=240, check=False,
                              env={**os.environ, **(env or {})})
        out, err = done.stdout.decode(), done.stderr.decode()
        self.assertEqual(done.returncode, status, out + err)
        return out, err

    def table(self, *args, status=0):
        return json.loads(self.run_it("whatif", *args, "--json", status=status)[0])


class Axes(Case):
    def test_ranges_and_words_of_gomaxprocs(self):
        got = self.table("service.json", "--procs", "1-3,6..7,default,node,automaxprocs,go1.25",
                         "--cpus", "5", "--quota", "2500m", "--profile", "go1.24", "--runs", "1")
        self.assertEqual([(c["procs"], c["policy"]) for c in got["cells"]],
                         [(1, ""), (2, ""), (3, ""), (6, ""), (7, ""), (5, "default"), (5, "node"),
                          (2, "automaxprocs"), (3, "go1.25")])

    def test_words_without_much_of_a_quota(self):
        for quota, want in (("none", [4, 4]), ("500m", [1, 2]), ("4", [4, 4]), ("9", [4, 4])):
            got = self.table("service.json", "--procs", "automaxprocs,go1.25", "--cpus", "4",
                             "--quota", quota, "--profile", "go1.24", "--runs", "1")
            self.assertEqual([c["procs"] for c in got["cells"]], want, quota)

    def test_what_go_1_25_does_itself_is_the_word(self):
        for quota in ("1", "2", "2500m", "3", "none"):
            got = self.table("service.json", "--procs", "default,go1.25", "--cpus", "4", "--quota",
                             quota, "--profile", "go1.25", "--runs", "1")
            self.assertEqual(got["cells"][0]["procs"], got["cells"][1]["procs"], quota)

    def test_ranges_of_releases(self):
        got = self.table("plain.json", "--profile", "go1.24..go1.26,latest", "--runs", "1")
        self.assertEqual([c["profile"] for c in got["cells"]],
                         ["go1.24", "go1.25", "go1.26", "go1.27"])

    def test_the_load_is_an_axis(self):
        got = self.table("service.json", "--procs", "4", "--rate", "0.5x..2x", "--runs", "3")
        rates = [c["rate"] for c in got["cells"]]
        self.assertEqual(len(rates), 5)
        self.assertEqual((rates[0], rates[2], rates[4]), (0.5, 1, 2))
        for c in got["cells"]:
            count = c["series"]["request"]["count"]
            self.assertAlmostEqual(count / (400 * c["rate"]), 1, delta=0.15)

    def test_the_load_of_a_closed_loop_is_its_clients(self):
        got = self.table("closed.json", "--rate", "1x,3x", "--procs", "2", "--runs", "1")
        one, three = (c["series"]["request"]["count"] for c in got["cells"])
        self.assertAlmostEqual(three / one, 3, delta=0.5)

    def test_rate_one_is_the_scenario_s_own(self):
        args = ["service.json", "--procs", "2", "--runs", "1"]
        self.assertEqual(self.table(*args, "--rate", "1x")["cells"], self.table(*args)["cells"])

    def test_noise_is_on_unless_told(self):
        args = ["service.json", "--procs", "2", "--runs", "3"]
        on, off = (self.table(*args, "--noise", w)["cells"] for w in ("on", "off"))
        self.assertEqual(self.table(*args)["cells"], on)
        self.assertNotEqual(on, off)
        self.run_it("whatif", *args, "--journal", "noisy.jsonl")
        _, err = self.run_it("whatif", *args, "--noise", "off", "--journal", "noisy.jsonl",
                             status=2)
        self.assertIn("another grid", err)

    def test_mistakes(self):
        for args, hint in (
                (["--noise", "loud"], "want on, off or 1 to 1000"),
                (["--procs", "3-1"], "ends before it begins"),
                (["--procs", "1-x"], "want numbers from 1"),
                (["--procs", "automax"], "want numbers from 1"),
                (["--procs", "1-9999"], "more than 256"),
                (["--profile", "go1.27..go1.25"], "ends before it begins"),
                (["--rate", "2"], "want times of the scenario's own rate"),
                (["--rate", "0x"], "want times of"), (["--rate", "2x..1x"], "ends before"),
                (["--precision", "0"], "want from 0.1%"), (["--precision", "x%"], "want from"),
                (["--for", "p98"], "some of p50"), (["--span", "nope"], "no span 'nope'"),
                (["--capacity", "p99"], "want a promise"),
                (["--capacity", "p98<1ms"], "want a promise"),
                (["--capacity", "nope:p99<1ms"], "no span 'nope'"),
                (["--capacity", "p99<1ms", "--precision", "5%"], "goes without"),
                (["--shard", "1/2"], "--journal FILE"),
                (["--shard", "3/2", "--journal", "j"], "part 3 of 2 does not exist"),
                (["--shard", "0/2", "--journal", "j"], "does not exist"),
                (["--shard", "x", "--journal", "j"], "want I/N"),
                (["--json", "--csv"], "one of them")):
            with self.subTest(args):
                _, err = self.run_it("whatif", "service.json", "--runs", "1", *args, status=2)
                self.assertIn(hint, err)
        _, err = self.run_it("whatif", "plain.json", "--rate", "1x,2x", status=2)
        self.assertIn("nothing arrives in this scenario", err)
        _, err = self.run_it("whatif", "plain.json", "--capacity", "p99<1ms", status=2)
        self.assertIn("nothing arrives in this scenario", err)


class Conclusions(Case):
    def test_the_best_is_said_with_its_evidence(self):
        out = self.run_it("whatif", "service.json", "--procs", "1,4", "--runs", "5")[0]
        self.assertRegex(out, r"\nBest p99 of request: GOMAXPROCS 4: [\d.]+us ±[\d.]+%, \d+ per"
                              r" second \(100\.0 % of the most\)\.\n  Against GOMAXPROCS 1: ")
        got = self.table("service.json", "--procs", "1,4", "--runs", "5")
        self.assertEqual((got["advice"][0]["kind"], got["advice"][0]["best"]), ("choice", 1))
        self.assertEqual(got["span"], "request")

    def test_who_answers_fewer_is_not_best(self):
        # one P is far slower to answer at this load, and answers fewer
        got = self.table("service.json", "--procs", "1,2", "--rate", "4x", "--runs", "3")
        self.assertEqual(got["advice"][0]["best"], 1)

    def test_settings_that_do_not_differ_are_not_told_apart(self):
        out = self.run_it("whatif", "service.json", "--procs", "30,31", "--cpus", "32", "--runs",
                          "4")[0]
        self.assertIn("Not told apart from it by these runs: GOMAXPROCS 3", out)

    def test_how_much_quota_is_enough(self):
        out = self.run_it("whatif", "service.json", "--procs", "2", "--period", "5ms", "--quota",
                          "500m,1,2,4,none", "--runs", "3")[0]
        self.assertRegex(out, r"Enough for p99 of request: quota [24]: ")
        self.assertRegex(out, r"With 0\.5 CPUs it is [\d.]+ms ±[\d.]+%, \d+ per second,"
                              r" throttled for ")

    # Requests take turns at a P and pile up; those that ended by then are the short ones.
    PILING = {"name": "piling", "why": "test", "procs": 2, "until": "100ms",
              "host": {"cpus": 4, "quota": 2, "period": "10ms"},
              "objects": {"conn": {"fd": {"every": {"exp": "1ms"}}}},
              "funcs": {"handle": {"params": ["t"], "do": [{"span": "request", "since": "t", "do": [
                  {"loop": 10, "do": [{"cpu": "100us"}, {"sleep": "100us"}]}]}]}},
              "main": [{"loop": "forever", "do": [
                  {"read": "conn", "into": "n", "time": "t"}, {"go": "handle", "args": ["t"]}]}]}

    def test_who_only_answers_the_first_is_not_enough(self):
        with open(self.path("piling.json"), "w", encoding="utf-8") as f:
            json.dump(self.PILING, f)
        args = ("whatif", "piling.json", "--runs", "3")
        out = self.run_it(*args, "--quota", "200m,2", "--for", "p50")[0]
        self.assertRegex(out, r"\d+ of request not ended, ")
        self.assertRegex(out, r"Needed for p\d+ of request: quota 2: .* per second\.\n"
                              r" +With 0\.2 CPUs it is .* per second, throttled for .*, \d+ not"
                              r" ended\.")
        rows = list(csv.DictReader(io.StringIO(self.run_it(*args, "--quota", "200m", "--csv")[0])))
        self.assertGreater(float(rows[0]["open"]), float(rows[0]["count"]))
        text = self.run_it("run", "piling.json", "--quota", "200m")[0]
        self.assertRegex(text, r"\n  request: \d+ more began and have not ended, the oldest for ")
        self.assertNotIn("have not ended", self.run_it("run", "piling.json")[0])

    def test_a_promise_counts_those_that_have_not_ended(self):
        with open(self.path("piling.json"), "w", encoding="utf-8") as f:
            json.dump(self.PILING, f)
        cell, = json.loads(self.run_it("whatif", "piling.json", "--runs", "3", "--json",
                                       "--capacity", "request:p50<40ms")[0])["cells"]
        self.assertLess(cell["holds"]["rate"], 4)  # 2 CPUs bear 2000 per second
        self.assertGreater(cell["holds"]["per_second"], 1500)
        self.assertEqual([cell[k]["piles_up"] for k in ("holds", "breaks")], [False, True])

    def test_the_load_that_a_promise_bears(self):
        args = ["whatif", "service.json", "--procs", "1,4", "--capacity", "request:p99<500us"]
        got = json.loads(self.run_it(*args, "--json")[0])
        for cell in got["cells"]:
            holds, breaks = cell["holds"], cell["breaks"]
            self.assertLess(holds["p99"]["mean"], 500000)
            self.assertGreaterEqual(breaks["p99"]["mean"], 500000)
            self.assertLessEqual(breaks["rate"] / holds["rate"], 1.051)
        one, four = (c["holds"]["per_second"] for c in got["cells"])
        self.assertGreater(four / one, 3)
        self.assertLess(one, 20000)  # a CPU's worth
        self.assertEqual(self.run_it(*args, "--jobs", "1")[0], self.run_it(*args, "--jobs", "4")[0])

    def test_a_promise_that_cannot_be_kept(self):
        out = self.run_it("whatif", "service.json", "--procs", "1", "--capacity", "p50<1us")[0]
        self.assertIn("it never holds", out)


class Precision(Case):
    # without noise the rate, whose spread a table does not show, is known before the quantiles are
    ARGS = ["service.json", "--noise", "off", "--procs", "1,4", "--precision", "10%",
            "--runs", "30"]

    def test_a_cell_ends_when_its_numbers_are_known(self):
        got = self.table(*self.ARGS)
        runs = [c["runs"] for c in got["cells"]]
        for c in got["cells"]:
            self.assertGreaterEqual(c["runs"], 3)
            if c["runs"] < 30:
                for point in ("p50", "p99"):
                    s = c["series"]["request"][point]
                    self.assertLessEqual(s["half"], 0.1 * s["mean"])
        self.assertLess(min(runs), 30)
        self.assertNotEqual(runs[0], runs[1])
        # and not before: with one run less they were not
        for c, procs in zip(got["cells"], ("1", "4")):
            if not 3 < c["runs"] < 30:
                continue
            less = self.table("service.json", "--noise", "off", "--procs", procs,
                              "--runs", str(c["runs"] - 1))
            s = less["cells"][0]["series"]["request"]
            self.assertTrue(any(s[p]["half"] > 0.1 * s[p]["mean"] for p in ("p50", "p99")))

    def test_how_many_does_not_depend_on_jobs(self):
        one = self.run_it("whatif", *self.ARGS, "--jobs", "1")[0]
        self.assertEqual(one, self.run_it("whatif", *self.ARGS, "--jobs", "7")[0])


class Parts(Case):
    ARGS = ["service.json", "--procs", "1,2,4", "--quota", "1,none", "--runs", "3"]

    def lines(self, name):
        if not os.path.exists(self.path(name)):
            return []
        with open(self.path(name), encoding="utf-8") as f:
            return f.read().split("\n")[:-1]

    def test_parts_are_the_whole(self):
        whole = self.run_it("whatif", *self.ARGS)[0]
        names = []
        for i in range(1, 6):
            names.append("part%d.jsonl" % i)
            self.run_it("whatif", *self.ARGS, "--shard", "%d/5" % i, "--journal", names[-1])
        self.assertEqual(sum(len(self.lines(n)) - 1 for n in names), 18)
        self.assertEqual(self.run_it("merge", *names)[0], whole)
        self.assertEqual(self.run_it("merge", *reversed(names))[0], whole)
        self.assertEqual(self.run_it("merge", *names, "--json")[0],
                         self.run_it("whatif", *self.ARGS, "--json")[0])
        _, err = self.run_it("merge", *names[1:], status=2)
        self.assertIn("runs are missing", err)

    def test_parts_with_a_precision(self):
        args = ["service.json", "--procs", "1,2,4", "--precision", "15%", "--runs", "20"]
        whole = self.run_it("whatif", *args)[0]
        for i in (1, 2):
            self.run_it("whatif", *args, "--shard", "%d/2" % i, "--journal", "p%d.jsonl" % i)
        self.assertEqual(self.run_it("merge", "p1.jsonl", "p2.jsonl")[0], whole)

    def test_auto_reads_what_clusters_say(self):
        for env in ({"SLURM_ARRAY_TASK_ID": "6", "SLURM_ARRAY_TASK_COUNT": "3",
                     "SLURM_ARRAY_TASK_MIN": "5"},
                    {"SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_COUNT": "3",
                     "SLURM_ARRAY_TASK_MIN": "4", "SLURM_ARRAY_TASK_STEP": "3"},
                    {"JOB_COMPLETION_INDEX": "1", "GMPSIM_SHARDS": "3"},
                    {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "3"},
                    {"PMI_RANK": "1", "PMI_SIZE": "3"}):
            self.run_it("whatif", *self.ARGS, "--shard", "auto", "--journal", "auto.jsonl", env=env)
            auto = sorted(json.loads(x)["seed"] + str(json.loads(x)["cell"])
                          for x in self.lines("auto.jsonl")[1:])
            os.unlink(self.path("auto.jsonl"))
            self.run_it("whatif", *self.ARGS, "--shard", "2/3", "--journal", "two.jsonl")
            self.assertEqual(auto, sorted(json.loads(x)["seed"] + str(json.loads(x)["cell"])
                                          for x in self.lines("two.jsonl")[1:]), env)
            os.unlink(self.path("two.jsonl"))
        _, err = self.run_it("whatif", *self.ARGS, "--shard", "auto", "--journal", "x", status=2)
        self.assertIn("SLURM_ARRAY_TASK_ID", err)

    def test_what_was_killed_goes_on(self):
        whole = self.run_it("whatif", *self.ARGS)[0]
        args = [GMPSIM, "whatif", *self.ARGS, "--journal", "k.jsonl", "--jobs", "1"]
        for _ in range(20):  # until it is killed before it is done
            with subprocess.Popen(args, cwd=self.folder, stdout=subprocess.DEVNULL) as process:
                while process.poll() is None and len(self.lines("k.jsonl")) < 5:
                    pass
                process.kill()
            kept = self.lines("k.jsonl")
            if len(kept) < 19:
                break
            os.unlink(self.path("k.jsonl"))
        self.assertLess(len(kept), 19)
        with open(self.path("k.jsonl"), "a", encoding="utf-8") as f:
            f.write(kept[-1][:40])  # a line that a kill cut off
        self.assertEqual(self.run_it("whatif", *self.ARGS, "--journal", "k.jsonl")[0], whole)
        lines = self.lines("k.jsonl")
        self.assertEqual(lines[:len(kept)], kept)
        self.assertEqual(len(lines), 19)
        # all is there: nothing runs
        before = os.stat(self.path("k.jsonl")).st_mtime_ns
        self.assertEqual(self.run_it("whatif", *self.ARGS, "--journal", "k.jsonl")[0], whole)
        self.assertEqual(os.stat(self.path("k.jsonl")).st_mtime_ns, before)
        # more seeds: only those are added
        self.run_it("whatif", *self.ARGS[:-1], "4", "--journal", "k.jsonl")
        self.assertEqual(len(self.lines("k.jsonl")), 25)

    def test_another_grid_is_refused(self):
        self.run_it("whatif", *self.ARGS, "--journal", "a.jsonl")
        for other in (["service.json", "--procs", "1,2", "--runs", "3"],
                      ["closed.json", *self.ARGS[1:]], [*self.ARGS, "--seed", "9"],
                      [*self.ARGS, "--rule", "needspinning=off"], [*self.ARGS, "--until", "1ms"]):
            _, err = self.run_it("whatif", *other, "--journal", "a.jsonl", status=2)
            self.assertIn("holds the runs of another grid", err)
        self.run_it("whatif", *self.ARGS, "--seed", "9", "--journal", "b.jsonl")
        _, err = self.run_it("merge", "a.jsonl", "b.jsonl", status=2)
        self.assertIn("is of another grid", err)

    def test_hostile_journals(self):
        self.run_it("whatif", *self.ARGS, "--journal", "a.jsonl")
        lines = self.lines("a.jsonl")
        bad = {**json.loads(lines[1]), "cell": 10 ** 9}
        for text, hint in (("{}\n", "no journal"), ("x\n", "not a line of JSON"),
                           ("", "no journal"), ("[1]\n", "no journal"),
                           (lines[0] + "\n" + json.dumps(bad) + "\n", "not a run of this grid"),
                           (lines[0] + "\n" + lines[1].replace('s":[[', 's":[[-') + "\n",
                            "not a run of this grid"),
                           (lines[0].replace('"runs":3', '"runs":1e12') + "\n", "no journal"),
                           (lines[0].replace('"procs":1', '"procs":1e99') + "\n", "no journal")):
            with open(self.path("bad.jsonl"), "w", encoding="utf-8") as f:
                f.write(text)
            _, err = self.run_it("merge", "bad.jsonl", status=2)
            self.assertIn(hint, err, text[:80])


class Processes(Case):
    def watch(self, how):
        with subprocess.Popen([GMPSIM, "whatif", "forever.json", "--jobs", "3"], cwd=self.folder,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            until = time.monotonic() + 30
            while len(children(process.pid)) < 3:
                self.assertLess(time.monotonic(), until)
                time.sleep(0.01)
            pids = children(process.pid)
            process.send_signal(how)
            process.wait(10)
        until = time.monotonic() + 10
        while any(alive(p) for p in pids):
            self.assertLess(time.monotonic(), until, "children live on")
            time.sleep(0.01)

    def test_children_end_with_their_parent(self):
        for how in (signal.SIGTERM, signal.SIGKILL, signal.SIGINT):
            with self.subTest(how):
                self.watch(how)


class Outputs(Case):
    def test_csv(self):
        out = self.run_it("whatif", "service.json", "--procs", "1,node", "--runs", "2", "--csv")[0]
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertEqual([(r["procs"], r["policy"], r["span"]) for r in rows],
                         [("1", "", "request"), ("1", "", "run-queue wait"),
                          ("8", "node", "request"), ("8", "node", "run-queue wait")])
        got = self.table("service.json", "--procs", "1,node", "--runs", "2")
        self.assertEqual(float(rows[0]["p99_ns"]),
                         round(got["cells"][0]["series"]["request"]["p99"]["mean"]))

    def test_a_warm_up_is_that_of_its_runs(self):
        args = ["service.json", "--procs", "2", "--warmup", "2ms", "--noise", "off"]
        cell, = self.table(*args, "--runs", "3", "--db", "w.db")["cells"]
        runs = json.loads(self.run_it("run", *args, "--runs", "3", "--json")[0])
        for k in ("count", "per_second"):
            mean = sum(r["spans"]["request"][k] for r in runs) / 3
            self.assertAlmostEqual(cell["series"]["request"][k] / mean, 1, delta=1e-3)
        self.assertEqual([row.split("\t") for row in self.run_it(
            "query", "w.db", "SELECT DISTINCT warmup_ns FROM whatif")[0].split()], [["2000000"]])
        self.run_it("whatif", *args, "--runs", "2", "--journal", "warm.jsonl")
        _, err = self.run_it("whatif", "service.json", "--procs", "2", "--noise", "off", "--runs",
                             "2", "--journal", "warm.jsonl", status=2)
        self.assertIn("another grid", err)

    def test_the_store_has_what_varies(self):
        self.run_it("whatif", "service.json", "--procs", "1,node", "--rate", "1x,2x", "--runs", "1",
                    "--db", "w.db")
        out = self.run_it("query", "w.db", "SELECT DISTINCT procs, policy, rate FROM whatif"
                          " ORDER BY 1, 3")[0]
        self.assertEqual(out, "1\t\t1.0\n1\t\t2.0\n8\tnode\t1.0\n8\tnode\t2.0\n")

    def test_a_store_that_cannot_be_opened_is_said_before_the_first_run(self):
        began = time.monotonic()
        _, err = self.run_it("whatif", "forever.json", "--db", "no/such/x.db", status=2)
        self.assertIn("no/such/x.db", err)
        self.assertLess(time.monotonic() - began, 20)

    def test_status(self):
        self.run_it("whatif", "stuck.json", "--procs", "3", "--runs", "2", status=1)
        self.run_it("whatif", "service.json", "--procs", "3", "--runs", "1")

    def test_percentiles_of_few_are_not_printed(self):
        out = self.run_it("whatif", "service.json", "--procs", "4", "--runs", "1")[0]
        row = [line for line in out.split("\n") if line.startswith("    request ")][0].split()
        self.assertEqual(row[6], "-")  # p99.9 of 400
        self.assertNotEqual(row[5], "-")
        args = ("service.json", "--procs", "4", "--runs", "1")
        of = self.table(*args)["cells"][0]["series"]["request"]
        self.assertEqual((of["p99"] is None, of["p99.9"]), (False, None))
        row = next(csv.DictReader(io.StringIO(self.run_it("whatif", *args, "--csv")[0])))
        self.assertEqual((row["p99_ns"] == "", row["p99.9_ns"], row["p99.9_half_ns"]),
                         (False, "", ""))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[1:])
