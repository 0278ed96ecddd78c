#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: what is in the store is what happened, and nothing that goes wrong damages earlier runs.
Method: sums over rows against the report; then disk full, a file that cannot be written, a lock,
kill -9 in the middle, files that are something else.

usage: store_test.py GMPSIM
"""
import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
import unittest

GMPSIM = os.path.abspath(sys.argv.pop(1))
NOBODY = 65534


def service(requests):
    return {
        "name": "small service", "why": "test", "procs": 2,
        "objects": {"wg": "waitgroup", "mu": "mutex"},
        "funcs": {"handle": [
            {"span": "request", "do": [{"cpu": {"exp": "30us"}}, {"lock": "mu"},
                                       {"cpu": "1us"}, {"unlock": "mu"}, {"gosched": True},
                                       {"syscall": "30us"}, {"sleep": {"exp": "200us"}}]},
            {"done": "wg"}]},
        "main": [{"add": "wg", "n": requests},
                 {"loop": requests, "do": [{"go": "handle", "group": "request"},
                                           {"sleep": "20us"}]},
                 {"wait": "wg"}],
    }


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        os.chmod(self.folder, 0o777)
        for name, requests in (("small", 300), ("large", 1000000)):
            with open(self.path(name + ".json"), "w", encoding="utf-8") as f:
                json.dump(service(requests), f)
        self.db = self.path("x.db")

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_it(self, *args, status=0, **more):
        done = subprocess.run([GMPSIM, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              cwd=self.folder, timeout=120, check=False, **more)
        self.assertEqual(done.returncode, status, (done.stdout + done.stderr).decode())
        return done.stdout.decode(), done.stderr.decode()

    def record(self, *args, **more):
        return self.run_it("run", "small.json", "--db", self.db, *args, **more)

    def sql(self, query, path=None):
        db = sqlite3.connect(path or self.db)
        try:
            return db.execute(query).fetchall()
        finally:
            db.close()

    def assert_runs(self, complete, incomplete=0):
        self.assertEqual(self.sql("PRAGMA integrity_check"), [("ok",)])
        self.assertEqual(self.sql("PRAGMA foreign_key_check"), [])
        self.assertEqual(self.sql("SELECT sum(complete), sum(1 - complete) FROM runs"),
                         [(complete, incomplete)])


class Rows(Case):
    def setUp(self):
        super().setUp()
        self.report = json.loads(self.record("--json")[0])

    def test_the_run_and_its_counters(self):
        r = self.report
        self.assertEqual(
            self.sql("SELECT scenario, profile, procs, seed, host, verdict, fingerprint,"
                     " makespan_ns, complete FROM runs"),
            [("small service", "go1.27", 2, "1", "virtual", "finished", r["fingerprint"],
              r["makespan_ns"], 1)])
        self.assertEqual(dict(self.sql("SELECT name, value FROM counters")), r["counters"])

    def test_latencies(self):
        span = self.report["spans"]["request"]
        self.assertEqual(
            self.sql("SELECT count, min_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns"
                     " FROM latencies WHERE kind = 'span'"),
            [tuple(span[k] for k in ("count", "min", "p50", "p90", "p99", "p99.9", "max"))])
        self.assertEqual(self.sql("SELECT sum(count) FROM histograms WHERE kind = 'span'"),
                         [(300,)])
        self.assertEqual(self.sql("SELECT count(*), sum(end_ns - begin_ns) / 300 FROM spans"),
                         [(300, span["mean"])])
        wrong = self.sql("SELECT a.ppm FROM quantiles a JOIN quantiles b USING (run, kind, name)"
                         " WHERE a.ppm < b.ppm AND a.ns > b.ns")
        self.assertEqual(wrong, [])

    def test_a_goroutines_transitions_are_a_chain_without_gaps(self):
        broken = self.sql(
            "SELECT * FROM (SELECT g, from_state, end_time_ns - duration_ns AS began,"
            " lag(end_time_ns) OVER w AS before_ns, lag(to_state) OVER w AS before_state"
            " FROM g_transitions WINDOW w AS (PARTITION BY g ORDER BY id))"
            " WHERE from_state <> 'notexist'"
            " AND (abs(began - before_ns) > 1 OR from_state <> before_state)")
        self.assertEqual(broken, [])
        self.assertEqual(self.sql("SELECT count(*) FROM g_transitions WHERE to_state = 'running'"
                                  " AND from_state = 'runnable'")[0][0],
                         self.report["counters"]["switches"])

    def test_goroutines(self):
        self.assertEqual(self.sql("SELECT count(*), count(end_time_ns) FROM goroutines"
                                  " WHERE name = 'request'"), [(300, 300)])
        self.assertEqual(self.sql("SELECT count(*) FROM goroutines")[0][0],
                         self.report["counters"]["gocreated"])

    def test_times_of_groups_are_the_sums_of_transitions(self):
        group = self.report["groups"]["request"]
        for state in ("running", "runnable", "waiting", "syscall"):
            total = self.sql("SELECT ifnull(sum(duration_ns), 0) FROM g_transitions"
                             " JOIN goroutines USING (run, g) WHERE name = 'request'"
                             " AND from_state = '%s'" % state)[0][0]
            # every transition is rounded to ns
            self.assertAlmostEqual(total, group[state + "_ns"], delta=3000)

    def test_samples_add_up_to_the_whole_run(self):
        columns = {"user": "user", "scheduler": "scheduler", "spinning": "spinning", "gc": "gc",
                   "syscall": "syscall", "idle": "idle", "throttled": "throttled",
                   "no cpu": "no_cpu"}
        for name, column in columns.items():
            total = self.sql("SELECT sum(%s_ns) FROM samples" % column)[0][0]
            self.assertAlmostEqual(total, self.report["p_ns"][name],
                                   delta=1000 + self.report["p_ns"][name] / 1000)
        negative = " OR ".join("%s_ns < 0" % c for c in columns.values())
        self.assertEqual(self.sql("SELECT count(*) FROM samples WHERE " + negative), [(0,)])
        self.assertEqual(self.sql("SELECT max(runnable_max) FROM samples")[0][0],
                         self.report["runnable_max"])

    def test_short_runs_have_samples_and_rings_are_what_is_in_them(self):
        first = self.sql("SELECT time_ns FROM samples ORDER BY 1 LIMIT 20")
        self.assertEqual(first, [(1000 * (i + 1),) for i in range(20)])
        self.assertGreater(self.sql("SELECT max(interval_ns) FROM samples")[0][0], 2000)
        self.assertEqual(self.sql("SELECT s.time_ns FROM samples s LEFT JOIN (SELECT run, time_ns,"
                                  " sum(ring) AS n FROM p_samples GROUP BY 1, 2) q"
                                  " USING (run, time_ns) WHERE s.ring <> ifnull(q.n, 0)"), [])
        self.assertGreater(self.sql("SELECT count(*) FROM p_samples")[0][0], 0)

    def test_steals_and_what_concerns_all_ps(self):
        with open(self.path("gc.json"), "w", encoding="utf-8") as f:
            json.dump({"name": "gc", "why": "test", "procs": 4, "objects": {"wg": "waitgroup"},
                       "funcs": {"w": [{"cpu": "200us"}, {"done": "wg"}]},
                       "main": [{"add": "wg", "n": 40}, {"go": "w", "count": 40}, {"gc": True},
                                {"gc": True}, {"wait": "wg"}]}, f)
        self.run_it("run", "gc.json", "--db", self.path("gc.db"))
        sql = lambda query: self.sql(query, self.path("gc.db"))
        counters = dict(sql("SELECT name, value FROM counters"))
        self.assertGreater(counters["steals_won"], 2)
        self.assertEqual(sql("SELECT count(*) FROM steals"), [(counters["steals_won"],)])
        self.assertEqual(sql("SELECT count(*) FROM steals WHERE p = from_p OR count < 1"
                             " OR p NOT BETWEEN 0 AND 3 OR from_p NOT BETWEEN 0 AND 3"), [(0,)])
        # who is taken first runs on the P that took it
        wrong = sql("SELECT s.g FROM steals s WHERE NOT EXISTS (SELECT 1 FROM g_transitions t"
                    " WHERE t.run = s.run AND t.g = s.g AND t.to_state = 'running'"
                    " AND t.src_p = s.p AND t.end_time_ns >= s.time_ns)")
        self.assertEqual(wrong, [])
        bands = dict(sql("SELECT what, count(*) FROM bands GROUP BY what"))
        self.assertEqual(bands, {"gc": counters["gcs"], "stop": counters["stws"]})
        self.assertEqual(counters["gcs"], 2)
        self.assertEqual(sql("SELECT count(*) FROM bands JOIN runs ON runs.id = run"
                             " WHERE begin_ns < 0 OR end_ns < begin_ns OR end_ns > makespan_ns"),
                         [(0,)])

    def test_ps(self):
        self.assertEqual(self.sql("SELECT p FROM procs ORDER BY p"), [(0,), (1,)])

    def test_queries_cannot_write(self):
        for sql in ("DELETE FROM runs", "CREATE TABLE x(a)", "PRAGMA user_version = 7",
                    "PRAGMA query_only = 0; DELETE FROM runs"):
            _, err = self.run_it("query", self.db, sql, status=2) if "user_version" not in sql \
                else self.run_it("query", self.db, sql + "; DELETE FROM runs", status=2)
            self.assertIn("readonly", err.replace("read-only", "readonly"))
        self.assert_runs(1)

    def test_queries_reach_no_other_file(self):
        shutil.copy(self.db, self.path("other.db"))
        def files():  # beside those of WAL mode
            return {name for name in os.listdir(self.folder) if not name.startswith("x.db-")}
        before = files()
        for sql in ("ATTACH 'other.db' AS o", "ATTACH 'new.db' AS n", "VACUUM INTO 'new.db'",
                    "SELECT load_extension('./x')", "SELECT fts3_tokenizer('simple')",
                    "PRAGMA journal_mode = DELETE", "PRAGMA writable_schema = 1",
                    "PRAGMA temp_store_directory = '.'", "PRAGMA wal_checkpoint(TRUNCATE)"):
            _, err = self.run_it("query", self.db, sql, status=2)
            self.assertRegex(err, "not authorized|authorization denied", sql)
        self.assertEqual(files(), before)
        out, _ = self.run_it("query", self.db, "PRAGMA table_info(counters)")
        self.assertEqual(len(out.splitlines()), 3)

    def test_diff(self):
        self.record("--seed", "1")
        self.record("--procs", "4")
        out, _ = self.run_it("diff", self.db, "1", "2")
        self.assertIn("the same run", out)
        self.assertEqual(len(out.splitlines()), 1)
        out, _ = self.run_it("diff", self.db, "1", "3")
        self.assertIn("different runs", out)
        self.assertRegex(out, r"procs +2 +4 +x 2.000")
        _, err = self.run_it("diff", self.db, "1", "9", status=2)
        self.assertIn("no complete run 9", err)

    def test_a_run_on_threads_says_so(self):
        self.record("--host", "threads")
        self.assertEqual(self.sql("SELECT host FROM runs ORDER BY id"),
                         [("virtual",), ("threads",)])
        self.assertEqual(self.sql("SELECT run FROM schedules"), [(1,)])  # the other is not repeated

    def test_groups_of_one_name_are_one_group(self):
        """But for what is called as Go's own goroutines are."""
        groups = {"name": "names", "why": "test", "procs": 1, "objects": {"wg": "waitgroup"},
                  "funcs": {"runtime": [{"cpu": "1ms"}, {"done": "wg"}],
                            "work": [{"cpu": "2ms"}, {"done": "wg"}]},
                  "main": [{"add": "wg", "n": 6}, {"go": "runtime"}, {"go": "work"},
                           {"go": "work", "group": "main"}, {"go": "runtime", "group": "work"},
                           {"go": "work", "group": "context"}, {"go": "work", "group": "runtime"},
                           {"wait": "wg"}]}
        ours = ("context (the program's)", "main", "runtime", "runtime (the program's)", "work")
        with open(self.path("names.json"), "w", encoding="utf-8") as f:
            json.dump(groups, f)
        out, _ = self.run_it("run", "names.json", "--db", self.db, "--json")
        pairs = json.loads(out, object_pairs_hook=list)
        names = [name for name, _ in dict(pairs)["groups"]]
        self.assertEqual((sorted(names), names[-1]), ([*ours], "runtime"))
        rows = self.sql("SELECT name, created, running_ns FROM groups WHERE run = 2 ORDER BY 1")
        self.assertEqual([(n, c) for n, c, _ in rows if n != "runtime"],
                         [*zip((ours[0], *ours[1:2], *ours[3:]), (1, 2, 2, 2))])
        took = {name: ns for name, _, ns in rows}
        self.assertLess(took["runtime"], 1000000)
        for name, ms in (ours[0], 2), ("main", 2), (ours[3], 3), ("work", 3):
            self.assertAlmostEqual(took[name], ms * 1000000, delta=200000)
        self.assertEqual(
            self.sql("SELECT name, count FROM latencies WHERE run = 2 AND kind = 'life'"
                     " AND name <> 'runtime'"),
            [(ours[0], 1), ("main", 1), (ours[3], 2), ("work", 2)])  # main did not end

    def test_many_runs_in_one_file(self):
        self.record("--runs", "3")
        self.assert_runs(4)
        for table in ("g_transitions", "spans", "samples", "goroutines", "counters"):
            self.assertEqual(self.sql("SELECT count(DISTINCT run) FROM " + table), [(4,)])


class Trouble(Case):
    def setUp(self):
        super().setUp()
        self.record()

    def test_a_locked_database(self):
        db = sqlite3.connect(self.db, isolation_level=None)
        db.execute("BEGIN EXCLUSIVE")
        _, err = self.record(status=2)
        db.execute("ROLLBACK")
        db.close()
        self.assertIn("another process has locked", err)
        self.assert_runs(1)

    @unittest.skipUnless(os.getuid() == 0 and shutil.which("setpriv"), "needs root and setpriv")
    def test_a_file_that_cannot_be_written(self):
        os.chmod(self.db, 0o444)
        os.chmod(self.folder, 0o755)
        done = subprocess.run(
            ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups",
             GMPSIM, "run", self.path("small.json"), "--db", self.db],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if b"Permission denied" in done.stderr and b"gmpsim:" not in done.stderr:
            self.skipTest("the program is in a folder of root's own")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(b"x.db", done.stderr)
        self.assertRegex(done.stderr, b"cannot be (written|opened)")
        self.assert_runs(1)

    def as_nobody(self, *args):
        return subprocess.run(["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY),
                               "--clear-groups", GMPSIM, *args], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)

    @unittest.skipUnless(os.getuid() == 0 and shutil.which("setpriv"), "needs root and setpriv")
    def test_a_folder_that_cannot_be_written(self):
        folder = self.path("a %folder? #1")
        os.mkdir(folder)
        copy = os.path.join(folder, "x.db")
        shutil.copy(self.db, copy)
        os.chmod(folder, 0o555)
        done = self.as_nobody("query", copy, "SELECT verdict FROM runs")
        if b"Permission denied" in done.stderr and b"gmpsim:" not in done.stderr:
            self.skipTest("the program is in a folder of root's own")
        self.assertEqual((done.returncode, done.stdout), (0, b"finished\n"), done.stderr)
        with open(copy + "-wal", "wb") as f:
            f.write(b"something")
        done = self.as_nobody("query", copy, "SELECT verdict FROM runs")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"a run left it in the middle", done.stderr)

    def test_a_folder_that_does_not_exist(self):
        _, err = self.run_it("run", "small.json", "--db", "no/such/x.db", status=2)
        self.assertIn("cannot be opened", err)

    def test_a_full_disk(self):
        room = os.path.getsize(self.db) + 300000

        def little_room():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        _, err = self.run_it("run", "large.json", "--until", "1s", "--db", self.db, status=2,
                             preexec_fn=little_room)
        self.assertIn("is incomplete", err)
        self.assertIn("the disk is full", err)
        self.assert_runs(1, incomplete=1)
        _, err = self.record()
        self.assertIn("1 run that had been cut off is removed", err)
        self.assert_runs(2)

    def test_kill_in_the_middle(self):
        child = subprocess.Popen([GMPSIM, "run", self.path("large.json"), "--db", self.db],
                                 stdout=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline:
                if self.sql("SELECT count(*) FROM g_transitions WHERE run = 2")[0][0] > 10000:
                    break
                time.sleep(0.02)
            else:
                self.fail("nothing was recorded in 30 s")
            self.assertIsNone(child.poll())
        finally:
            child.kill()
            child.wait()
        self.assert_runs(1, incomplete=1)
        self.assertGreater(self.sql("SELECT count(*) FROM g_transitions WHERE run = 2")[0][0],
                           10000)
        out, _ = self.run_it("query", self.db, "SELECT verdict FROM runs WHERE complete")
        self.assertEqual(out, "finished\n")
        before = self.sql("SELECT count(*) FROM raw_g_transitions WHERE run = 1")
        _, err = self.record()
        self.assertIn("1 run that had been cut off is removed", err)
        self.assert_runs(2)
        self.assertEqual(self.sql("SELECT count(*) FROM raw_g_transitions WHERE run = 1"), before)
        self.assertEqual(self.run_it("db", "check", self.db)[0][:14], "complaints: 0;")

    def stop_between_writes(self, child):
        """Stops it where it is, but not while it has the file: nobody else could write then."""
        for _ in range(1000):
            child.send_signal(signal.SIGSTOP)
            db = sqlite3.connect(self.db, isolation_level=None, timeout=0)
            try:
                db.execute("BEGIN IMMEDIATE")
                db.execute("ROLLBACK")
                return
            except sqlite3.OperationalError:
                child.send_signal(signal.SIGCONT)
                time.sleep(0.003)
            finally:
                db.close()
        self.fail("it writes all the time")

    def test_a_run_that_goes_on_is_not_dead(self):
        child = subprocess.Popen([GMPSIM, "run", self.path("large.json"), "--until", "3s", "--db",
                                  self.db], stdout=subprocess.DEVNULL)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        while self.sql("SELECT count(*) FROM runs")[0][0] < 2:
            time.sleep(0.002)
        self.stop_between_writes(child)
        self.assertIsNone(child.poll())
        _, err = self.record()
        self.assertNotIn("removed", err)
        child.send_signal(signal.SIGCONT)
        self.assertEqual(child.wait(timeout=100), 0)
        self.assert_runs(3)

    def lock_for(self, seconds):
        """Another program that writes, and takes its time."""
        code = ("import sqlite3, sys, time; d = sqlite3.connect(sys.argv[1],"
                " isolation_level=None); d.execute('BEGIN IMMEDIATE'); print(flush=True);"
                " time.sleep(float(sys.argv[2])); d.execute('ROLLBACK')")
        other = subprocess.Popen([sys.executable, "-c", code, self.db, str(seconds)],
                                 stdout=subprocess.PIPE)
        other.stdout.readline()
        self.addCleanup(other.stdout.close)
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)

    def locked_while_it_runs(self, wait, seconds):
        """Status and errors of a run whose store another program locks in the middle."""
        runs = self.sql("SELECT count(*) FROM runs")[0][0]
        db = sqlite3.connect(self.db, isolation_level=None, timeout=60)
        child = subprocess.Popen([GMPSIM, "run", self.path("large.json"), "--until", "1s", "--db",
                                  self.db, "--db-wait", wait], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        while db.execute("SELECT count(*) FROM runs").fetchall()[0][0] == runs:
            time.sleep(0.001)
        db.execute("BEGIN IMMEDIATE")
        time.sleep(seconds)
        if seconds > 0:
            db.execute("ROLLBACK")
        err = child.communicate(timeout=100)[1].decode()
        db.close()
        return child.returncode, err

    def test_a_lock_is_waited_for_when_a_run_is_to_be_stored(self):
        status, err = self.locked_while_it_runs("60s", 7)  # longer than anybody waits to open
        self.assertEqual(status, 0, err)
        self.assertIn("another process has locked it for 2 s; waiting", err)
        self.assert_runs(2)
        status, err = self.locked_while_it_runs("1s", 0)
        self.assertEqual(status, 2, err)
        self.assertIn("is incomplete", err)
        line = err.split("into another file: ")[1].split("\n")[0].replace("OTHER", "other.db")
        self.run_it(*line.split()[1:])
        self.assertEqual(self.sql("SELECT complete FROM runs", self.path("other.db")), [(1,)])

    def test_a_grid_that_cannot_be_stored_is_stored_elsewhere(self):
        self.lock_for(100)
        out, err = self.run_it("whatif", "small.json", "--procs", "1-4", "--runs", "20", "--db",
                               self.db, "--db-wait", "1s", status=2)
        self.assertIn("request", out)
        self.assertIn("x.db.2 instead", err)
        self.assertEqual(self.sql("SELECT count(DISTINCT procs), count(DISTINCT seed) FROM whatif",
                                  self.db + ".2"), [(4, 20)])

    def test_a_grid_knows_at_once_that_its_file_is_none(self):
        began = time.monotonic()
        _, err = self.run_it("whatif", "large.json", "--procs", "1-64", "--runs", "100", "--db",
                             "no/such/x.db", status=2)
        self.assertIn("cannot be opened", err)
        self.assertLess(time.monotonic() - began, 10)

    def test_names_that_are_no_files(self):
        for name, why in (("", "is not the name of a file"), (":memory:", "is not the name of"),
                          ("/dev/null", "is not a file"), (self.folder, "is not a file")):
            for args in (["run", "small.json", "--db", name], ["query", name, "SELECT 1"],
                         ["whatif", "small.json", "--db", name], ["plot", name, "latency"],
                         ["report", name], ["diff", name, "1", "2"], ["db", "check", name]):
                _, err = self.run_it(*args, status=2)
                self.assertIn(why, err)

    def test_a_report_does_not_take_the_place_of_a_device(self):
        self.run_it("run", "small.json", "--db", "x.db")
        os.mkfifo(self.path("pipe"))
        _, err = self.run_it("report", "x.db", "-o", "pipe", status=2)
        self.assertIn("is not a file", err)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode))

    def test_a_name_is_a_name(self):
        for name in ("file:y.db", "file:y.db?mode=memory", ":x", "a?b#c%20.db"):
            self.run_it("run", "small.json", "--db", name)
            self.assertEqual(self.sql("SELECT count(*) FROM runs", self.path(name)), [(1,)])
            self.assertEqual(self.run_it("query", name, "SELECT count(*) FROM runs")[0], "1\n")

    def test_queries_end(self):
        endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT %s FROM c"
        for args, why in ((["--timeout", "200ms", "count(*)"], "not done after 200ms"),
                          (["max(x) OVER (ORDER BY random())", "--timeout", "200ms"], "not done")):
            sql = [endless % a if "(" in a else a for a in args]
            _, err = self.run_it("query", self.db, *sql, status=2)
            self.assertIn(why, err)
        self.assertEqual(self.run_it("query", self.db, "--limit", "3", endless % "x")[0],
                         "1\n2\n3\n")
        self.assertEqual(json.loads(self.run_it("query", self.db, "--json", "--limit", "2",
                                                endless % "x")[0]), [{"x": 1}, {"x": 2}])
        _, err = self.run_it("query", self.db, "WITH RECURSIVE c(x) AS (SELECT 'a' UNION ALL"
                             " SELECT x || x FROM c) SELECT sum(length(x)) FROM c", status=2)
        self.assertRegex(err, "out of memory|too big")
        child = subprocess.Popen([GMPSIM, "query", self.db, endless % "count(*)"],
                                 stdout=subprocess.DEVNULL)
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(timeout=5), -signal.SIGINT)

    def test_runs_are_removed_by_number(self):
        for seed in "2345":
            self.record("--seed", seed)
        self.assertEqual(len(self.run_it("db", "list", self.db)[0].splitlines()), 5)
        self.run_it("db", "rm", self.db, "2", "4-5")
        for table in ("runs", "raw_g_transitions", "spans", "samples", "quantiles"):
            column = "id" if table == "runs" else "run"
            self.assertEqual(self.sql("SELECT DISTINCT %s FROM %s ORDER BY 1" % (column, table)),
                             [(1,), (3,)])
        before = os.path.getsize(self.db)
        self.run_it("db", "vacuum", self.db)
        self.assertLess(os.path.getsize(self.db), before)
        self.assertEqual([r["id"] for r in json.loads(self.run_it("db", "list", self.db,
                                                                  "--json")[0])], [1, 3])
        self.assertEqual(json.loads(self.run_it("db", "check", self.db, "--json")[0])["what"], [])
        for args, why in ((["rm", self.db, "9"], "no complete run 9"), (["rm", self.db], "see"),
                          (["rm", self.db, "4-2"], "want a run"), (["rn", self.db], "is it rm"),
                          (["rm", self.db, "--grid", "1"], "no grid"),
                          (["list", "absent.db"], "cannot be opened")):
            self.assertIn(why, self.run_it("db", *args, status=2)[1])

    def test_check_sees_what_is_wrong(self):
        changes = {"INSERT INTO counters VALUES(77, 'x', 1)": "is of no run",
                   "DELETE FROM counters": "has no counters",
                   "DELETE FROM reasons WHERE text = 'sleep'": "without a reason's name",
                   "UPDATE raw_g_transitions SET end_time_ns = end_time_ns + 1000 WHERE rowid = 9":
                   "have gaps"}
        for change, complaint in changes.items():
            shutil.copy(self.db, self.path("y.db"))
            db = sqlite3.connect(self.path("y.db"))
            db.execute(change)
            db.commit()
            db.close()
            self.assertIn(complaint, self.run_it("db", "check", "y.db", status=1)[0])

    def test_tables_that_are_not_ours(self):
        endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT"
        changes = ["DROP VIEW schedules; CREATE VIEW schedules AS %s x AS run FROM c" % endless,
                   "DROP TABLE runs; CREATE VIEW runs AS %s x AS id, 1 AS complete FROM c"
                   % endless,
                   "ALTER TABLE samples ADD COLUMN more TEXT",
                   "CREATE TRIGGER t AFTER INSERT ON counters BEGIN DELETE FROM runs; END"]
        for change in changes:
            shutil.copy(self.db, self.path("y.db"))
            db = sqlite3.connect(self.path("y.db"))
            db.executescript(change)
            db.close()
            for args in (["run", "small.json", "--db", "y.db"], ["query", "y.db", "SELECT 1"],
                         ["plot", "y.db", "latency"], ["report", "y.db"], ["db", "check", "y.db"]):
                self.assertIn("its tables are not those of", self.run_it(*args, status=2)[1])
        db = sqlite3.connect(self.db)  # ... but one may add to them
        db.executescript("CREATE INDEX mine ON spans(run, g); CREATE VIEW v AS SELECT 1")
        db.close()
        self.record()

    def test_a_newer_version(self):
        db = sqlite3.connect(self.db)
        db.execute("PRAGMA user_version = 99")
        db.close()
        for args in (["run", "small.json", "--db", self.db], ["query", self.db, "SELECT 1"]):
            _, err = self.run_it(*args, status=2)
            self.assertIn("the store has version 99, this program knows version 1", err)

    def test_a_file_without_the_mark(self):
        db = sqlite3.connect(self.db)
        db.execute("PRAGMA application_id = -1")
        db.close()
        for args in (["run", "small.json", "--db", self.db], ["query", self.db, "SELECT 1"]):
            _, err = self.run_it(*args, status=2)
            self.assertIn("holds something else than gmpsim's runs", err)
        self.assert_runs(1)

    def test_codes_are_those_of_the_file(self):
        """A program that numbers its reasons differently adds runs that mean the same."""
        by_reason = ("SELECT reason, count(*) FROM g_transitions WHERE run = %d GROUP BY 1"
                     " ORDER BY 1")
        before = self.sql(by_reason % 1)
        self.assertGreater(len(before), 5)
        other = self.path("other.db")
        self.run_it("run", "small.json", "--db", other)
        db = sqlite3.connect(other)
        db.executescript("PRAGMA foreign_keys = 1; DELETE FROM runs;"
                         " UPDATE reasons SET code = 300 - code;"
                         " UPDATE reasons SET code = code - 100;"
                         " DELETE FROM reasons WHERE text IN ('sleep', 'gosched')")
        db.close()
        self.run_it("run", "small.json", "--db", other)
        self.assertEqual(self.sql(by_reason % 1, other), before)

    def damaged(self, content, draw):
        """The content with something wrong: cut off, bytes changed, a page in another's place."""
        page, bytes_ = 16384, bytearray(content)
        pages = len(content) // page
        what = draw.randrange(4)
        if what == 0:
            return bytes_[:draw.randrange(100, len(content))]
        if what == 1:
            for _ in range(20):
                bytes_[draw.randrange(100, len(content))] = draw.randrange(256)
        elif what == 2:
            for _ in range(3):
                bytes_[draw.randrange(1, pages) * page + draw.randrange(12)] = draw.randrange(256)
        else:
            a, b = draw.randrange(1, pages) * page, draw.randrange(pages) * page
            bytes_[a:a + page] = content[b:b + page]
        return bytes_

    def test_damaged_files(self):
        self.record("--seed", "2")
        with open(self.db, "rb") as f:
            content = f.read()
        draw, bad = random.Random(1), self.path("bad.db")
        verbs = [["query", bad, "SELECT * FROM g_transitions; SELECT * FROM procs;"
                  " SELECT * FROM spans; SELECT * FROM quantiles; SELECT * FROM runs"],
                 ["diff", bad, "1", "2"], ["run", "small.json", "--db", bad]]
        verbs += [["plot", bad, picture, "--out", self.path("x.svg")]
                  for picture in ("latency", "runq", "utilisation", "timeline")]
        refused = 0
        for _ in range(12):
            damaged = self.damaged(content, draw)
            for verb in verbs:
                for ending in ("", "-wal", "-shm"):
                    if os.path.exists(bad + ending):
                        os.remove(bad + ending)
                with open(bad, "wb") as f:
                    f.write(damaged)
                done = subprocess.run([GMPSIM, *verb], stdout=subprocess.PIPE, cwd=self.folder,
                                      stderr=subprocess.PIPE, timeout=60, check=False)
                # what is damaged may be something that the command does not look at
                if done.returncode != 0:
                    self.assertEqual(done.returncode, 2, (verb, done.stderr))
                    self.assertTrue(done.stderr.startswith(b"gmpsim: "), done.stderr)
                    self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
                    refused += 1
        self.assertGreater(refused, 20)

    def test_files_that_are_something_else(self):
        other = self.path("other.db")
        db = sqlite3.connect(other)
        db.execute("CREATE TABLE mine(a)")
        db.commit()
        db.close()
        _, err = self.run_it("run", "small.json", "--db", other, status=2)
        self.assertIn("holds something else", err)
        self.assertEqual(self.sql("SELECT name FROM sqlite_master", other), [("mine",)])
        _, err = self.run_it("run", "small.json", "--db", "small.json", status=2)
        self.assertIn("not a database", err)
        with open(self.path("small.json"), encoding="utf-8") as f:
            self.assertEqual(json.load(f), service(300))
        _, err = self.run_it("query", "absent.db", "SELECT 1", status=2)
        self.assertIn("cannot be opened", err)
        self.assertFalse(os.path.exists(self.path("absent.db")))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[1:])
