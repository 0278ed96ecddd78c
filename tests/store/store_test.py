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
            self.sql("SELECT scenario, profile, procs, seed, verdict, fingerprint, makespan_ns,"
                     " complete FROM runs"),
            [("small service", "go1.27", 2, "1", "finished", r["fingerprint"], r["makespan_ns"],
              1)])
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
        self.record()
        self.assert_runs(2, incomplete=1)

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
        self.record()
        self.assert_runs(2, incomplete=1)

    def test_a_newer_version(self):
        db = sqlite3.connect(self.db)
        db.execute("PRAGMA user_version = 99")
        db.close()
        for args in (["run", "small.json", "--db", self.db], ["query", self.db, "SELECT 1"]):
            _, err = self.run_it(*args, status=2)
            self.assertIn("the store has version 99", err)

    def an_old_store(self):
        here = os.path.dirname(os.path.abspath(__file__))
        path = self.path("old.db")
        with open(os.path.join(here, "store_v1.sql"), encoding="utf-8") as f:
            db = sqlite3.connect(path)
            db.executescript(f.read())
            db.close()
        self.assertEqual(self.sql("PRAGMA user_version", path), [(1,)])
        return path

    def test_an_older_version_is_read_as_it_is(self):
        old = self.an_old_store()
        out, _ = self.run_it("query", old, "SELECT verdict, fingerprint FROM runs")
        self.assertEqual(out.split("\t")[0], "finished")
        self.assertEqual(self.sql("PRAGMA user_version", old), [(1,)])

    def test_an_older_version_is_migrated_when_a_run_is_added(self):
        old, here = self.an_old_store(), "SELECT %s FROM %s WHERE run = 1"
        change = "from_state, to_state, duration_ns, end_time_ns, src_g, src_m, src_p"
        queries = [here % ("*", table) for table in ("counters", "quantiles", "groups", "spans",
                                                      "samples", "procs")]
        queries += [here % ("g, reason, " + change, "g_transitions"),
                    here % ("p, " + change, "p_transitions")]
        before = [self.sql(query, old) for query in queries]
        self.assertTrue(all(before))
        self.run_it("run", "small.json", "--db", old)
        for query, rows in zip(queries, before):
            self.assertEqual(self.sql(query, old), rows, query)
        self.assertEqual(self.sql("SELECT id, verdict FROM runs", old),
                         [(1, "finished"), (2, "finished")])
        # ... to exactly what a new file has
        def schema(path):
            rows = self.sql("SELECT type, name, sql FROM sqlite_master ORDER BY type, name", path)
            return [(*row[:2], "".join((row[2] or "").split())) for row in rows]
        self.assertEqual(schema(old), schema(self.db))
        self.assertEqual(self.sql("PRAGMA user_version", old), self.sql("PRAGMA user_version"))
        self.assertEqual(self.sql("PRAGMA integrity_check", old), [("ok",)])
        self.assertEqual(self.sql("PRAGMA foreign_key_check", old), [])
        line = self.sql("SELECT repeat FROM schedules WHERE run = 2", old)[0][0]
        self.run_it(*line.split()[1:])

    def test_a_migration_that_fails_leaves_the_file_as_it_was(self):
        old = self.an_old_store()
        db = sqlite3.connect(old)
        db.execute("DROP TABLE schedules")  # the second version's first step cannot work
        db.commit()
        db.close()
        _, err = self.run_it("run", "small.json", "--db", old, status=2)
        self.assertIn("schedules", err)
        self.assertEqual(self.sql("PRAGMA user_version", old), [(1,)])
        self.assertEqual(self.sql("SELECT count(*) FROM runs", old), [(1,)])

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
                # what is damaged may be something that the verb does not look at
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
