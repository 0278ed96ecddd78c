#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: whatever it is given, the command ends in time, within its memory, with a status that says
whose fault it is: never by a signal, never with 3, never with a sanitizer's report. Method: seeded
attacks of several kinds; a finding is printed with the lines that do it again, and its files kept.

usage: hostile.py GMPSIM [KIND...] [--seconds N | --count N] [--seed N] [--keep DIR] | --canary

KINDs (default: all): scenarios  valid scenarios of the library, changed by one to four mutations
                      databases  stores with extreme and foreign values, in each command that reads
                      journals   of grids, searches and checks, damaged, merged, gone on with
                      options    every option of every command with values that nobody means
                      kills      run --db and whatif --db ended at random instants; nothing is lost
                      library    the whole library through --db, --jsonl, --perfetto, plots, report
"""
import argparse
import concurrent.futures
import copy
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
LIBRARY = os.path.join(ROOT, "scenarios")
SECONDS = 20  # for one command; a sanitizer's takes longer
# Of the host, in KiB: what a world may have is --memory, and an instrumented program has shadows.
MEMORY_KIB = {"plain": 700 << 10, "sanitized": 3 << 20}
SERVICE = {
    "name": "service", "why": "test", "procs": 2,
    "objects": {"wg": "waitgroup", "mu": "mutex"},
    "funcs": {"handle": [
        {"span": "request", "do": [{"cpu": {"exp": "30us"}}, {"lock": "mu"}, {"cpu": "1us"},
                                   {"unlock": "mu"}, {"syscall": "5us"},
                                   {"sleep": {"exp": "200us"}}]},
        {"done": "wg"}]},
    "main": [{"add": "wg", "n": 100},
             {"loop": 100, "do": [{"go": "handle", "group": "request"}, {"sleep": "20us"}]},
             {"wait": "wg"}],
}


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


class Done:
    def __init__(self, status, out, err, kib, late):
        self.status, self.out, self.err, self.kib, self.late = status, out, err, kib, late


class Attack:
    """What all kinds share: a folder, a command with bounds, findings."""
    COUNT = 0  # by default
    FEW = 8    # enough to see a canary

    def __init__(self, options):
        self.gmpsim = os.path.abspath(options.gmpsim)
        self.options = options
        self.folder = tempfile.mkdtemp(prefix="hostile")
        self.findings, self.tries, self.told = 0, 0, {}
        self.lock = threading.RLock()
        with open(self.gmpsim, "rb") as f:
            sanitized = b"__asan_init" in f.read()
        self.kib = MEMORY_KIB["sanitized" if sanitized else "plain"]
        self.seconds = SECONDS * (4 if sanitized else 1)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, args, seconds=None, env=None):
        """Ends it, all that it started too, when its time is over."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = subprocess.Popen([self.gmpsim, *args], stdin=subprocess.DEVNULL, stdout=out,
                                     stderr=err, cwd=self.folder, start_new_session=True, env=env)
            late = []

            def end():
                late.append(True)
                os.killpg(child.pid, signal.SIGKILL)
            timer = threading.Timer(seconds or self.seconds, end)
            timer.start()
            _, status, usage = os.wait4(child.pid, 0)
            timer.cancel()
            child.returncode = os.waitstatus_to_exitcode(status)
            texts = []
            for f in (out, err):
                f.seek(0)
                texts.append(f.read(1 << 24))
            return Done(child.returncode, *texts, usage.ru_maxrss, bool(late))

    def complaint(self, done, may_be_late=False):
        if done.late:
            return None if may_be_late else "not done in time"
        if done.status not in (0, 1, 2, 4):
            return "status %d" % done.status
        if re.search(rb"Sanitizer|runtime error", done.err):
            return "a sanitizer's report"
        if done.kib > self.kib:
            return "%d MiB" % (done.kib >> 10)
        if done.status == 2 and not done.err.strip():
            return "status 2 without a reason"
        return None

    def finding(self, why, args, done, files=()):
        with self.lock:
            self.findings += 1
            print("FINDING: %s\n  gmpsim %s" % (why, " ".join(map(repr, args))))
            if done is not None:
                print("  " + done.err[-1500:].decode("utf-8", "replace").replace("\n", "\n  "))
            for name in files:
                os.makedirs(self.options.keep, exist_ok=True)
                kept = os.path.join(self.options.keep, "%d-%s" % (self.findings, name))
                shutil.copy(self.path(name), kept)
                print("  kept: " + kept)
            sys.stdout.flush()

    def judge(self, args, done, files=(), may_be_late=False):
        self.tries += 1
        self.told[done.status] = self.told.get(done.status, 0) + 1
        why = self.complaint(done, may_be_late)
        if why is not None:
            self.finding(why, args, done, files)

    def go(self):
        """Numbers of attacks, until there were enough or time is over; two at a time."""
        end = time.monotonic() + self.options.seconds if self.options.seconds else None
        numbers = range(10**9) if end else range(self.options.count or self.COUNT)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            waiting = set()
            for n in numbers:
                if end and time.monotonic() > end:
                    break
                if len(waiting) >= 2 * os.cpu_count():
                    done, waiting = concurrent.futures.wait(
                        waiting, return_when=concurrent.futures.FIRST_COMPLETED)
                    for one in done:
                        one.result()
                draw = random.Random("%d %d" % (self.options.seed, n))
                waiting.add(pool.submit(self.attack, n, draw))
            for one in waiting:
                one.result()

    def close(self):
        shutil.rmtree(self.folder)

    def more(self):
        """To say of it at the end."""
        return ""

    def prepare(self):
        pass


# ---- scenarios -------------------------------------------------------------------

EXTREMES = [0, -1, 1, 2, 3, 255, 65535, 65536, 2**31 - 1, 2**31, 2**53, -2**63, 2**64, 0.5, 1e308,
            "0", "1ns", "1us", "1ms", "10s", "100h", "9223372036s", "", "x", None, True, [], {},
            "\u0001", "\u202e", "é" * 40, "a" * 300]
TIME = re.compile(r"^\d+(ns|us|ms|s|m|h)$")


def places(value, path=()):
    """All (container, key) of a tree."""
    items = value.items() if isinstance(value, dict) else enumerate(value) \
        if isinstance(value, list) else ()
    for key, item in list(items):
        yield value, key
        yield from places(item, path + (key,))


class Scenarios(Attack):
    COUNT = 150
    RUN = ["--memory", "64MB", "--until", "20ms"]

    def prepare(self):
        self.files = sorted(os.path.join(base, name) for base, _, names in os.walk(LIBRARY)
                            for name in names if name.endswith(".json") and base != LIBRARY)
        self.trees, self.taken = {}, 0

    def tree(self, draw):
        path = draw.choice(self.files)
        if path not in self.trees:
            self.trees[path] = json.loads(read(path))
        return copy.deepcopy(self.trees[path])

    def mutate(self, tree, draw):
        """Mostly what leaves a program: other values of the same kind, statements elsewhere."""
        container, key = draw.choice(list(places(tree)))
        old = container[key]
        what = draw.randrange(20)
        if what == 0:
            container[key] = draw.choice(EXTREMES)
        elif what == 1:
            del container[key]
        elif what == 2:  # what stands at a key of that name in another file
            those = [(c, k) for c, k in places(self.tree(draw)) if k == key]
            if those:
                other, there = draw.choice(those)
                container[key] = copy.deepcopy(other[there])
        elif isinstance(old, bool):
            container[key] = not old
        elif isinstance(old, (int, float)):
            container[key] = draw.choice((0, 1, 2, 7, 64, 1000, old * 2, old * 1000))
        elif isinstance(old, str) and TIME.match(old):
            container[key] = draw.choice(("1ns", "1us", "3us", "1ms", "10ms", "1s", "100h"))
        elif isinstance(old, str):
            names = [c[k] for c, k in places(tree) if k == key and isinstance(c[k], str)]
            container[key] = draw.choice(names)
        else:
            self.move(tree, draw)

    def move(self, tree, draw):
        """A statement is doubled, goes, changes places, or is done again and again."""
        lists = [c[k] for c, k in places(tree)
                 if isinstance(c[k], list) and c[k] and isinstance(c[k][0], dict)]
        if not lists:
            return
        here = draw.choice(lists)
        at = draw.randrange(len(here))
        what = draw.randrange(6)
        if what == 0:
            here[at:at] = [copy.deepcopy(here[at])] * draw.choice((1, 2, 50))
        elif what == 1 and len(here) > 1:
            del here[at]
        elif what == 2:
            other = draw.randrange(len(here))
            here[at], here[other] = here[other], here[at]
        elif what == 3:
            here.insert(at, copy.deepcopy(draw.choice(draw.choice(lists))))
        elif what == 4:
            here[at] = {"loop": draw.choice((3, "forever")), "do": [here[at]]}
        else:
            here[at] = {"go": [here[at]], "count": draw.choice((1, 3, 1000))}

    def attack(self, n, draw):
        tree = self.tree(draw)
        for _ in range(draw.randrange(1, 5)):
            if tree:
                self.mutate(tree, draw)
        name = "m%d.json" % n
        text = json.dumps(tree)
        write(self.path(name), text)
        verbs = [["run", name, *self.RUN], ["run", name, *self.RUN, "--json"],
                 ["run", name, *self.RUN, "--db", name + ".db"],
                 ["run", name, *self.RUN, "--jsonl", name + ".l", "--perfetto", name + ".p",
                  "--gotrace", name + ".t"],
                 ["whatif", name, *self.RUN, "--procs", "1,3", "--runs", "1", "--jobs", "1"],
                 ["explore", name, "--runs", "3", "--time", "2s"],
                 ["inspect", name, "--at", "1ms"], ["scenarios", "show", name, "--json"],
                 ["scenarios", "gen-go", name]]
        done = self.run(verbs[0])
        self.judge(verbs[0], done, [name])
        self.taken += done.status != 2
        for args in draw.sample(verbs[1:], 3 if done.status != 2 else 1):
            self.judge(args, self.run(args), [name])
        for ending in ("", ".db", ".db-wal", ".db-shm", ".l", ".p", ".t"):
            if os.path.exists(self.path(name + ending)):
                os.remove(self.path(name + ending))

    def more(self):
        return ", %d were programs" % self.taken


# ---- databases -------------------------------------------------------------------

NUMBERS = ["-9223372036854775808", "9223372036854775807", "-1", "0", "1", "4294967296",
           "9007199254740993", "-2147483649"]
TEXTS = ["''", "'x'", "char(27) || '[2J'", "char(0)", "'a' || char(10) || 'b' || char(9)",
         "'<script>&\"'' $(x) `x` %s %n'", "char(8238)", "cast(x'c328' AS TEXT)",
         "replace(hex(zeroblob(50000)), '0', 'y')"]
READERS = [["db", "list", "DB"], ["db", "check", "DB"], ["diff", "DB", "1", "2"],
           ["diff", "DB", "1", "2", "--json"], ["plot", "DB", "latency"], ["plot", "DB", "runq"],
           ["plot", "DB", "utilisation"], ["plot", "DB", "timeline"], ["plot", "DB", "whatif"],
           ["plot", "DB", "histogram"], ["plot", "DB", "heatmap"], ["plot", "DB", "queues"],
           ["plot", "DB", "steals"], ["plot", "DB", "threads"], ["plot", "DB", "throttling"],
           ["plot", "DB", "waits"], ["plot", "DB", "wakes"],
           ["plot", "DB", "timeline", "--from", "1ms", "--to", "2ms"],
           ["plot", "DB", "latency", "--run", "1", "--run", "2"], ["report", "DB"],
           ["report", "DB", "--run", "1", "--run", "2"],
           ["query", "DB", "SELECT * FROM g_transitions; SELECT * FROM procs", "--json"],
           ["db", "rm", "DB", "1"], ["db", "vacuum", "DB"], ["run", "service.json", "--db", "DB"]]


class Databases(Attack):
    COUNT = 40

    def prepare(self):
        write(self.path("service.json"), json.dumps(SERVICE))
        for args in (["run", "service.json", "--runs", "2", "--db", "good.db"],
                     ["whatif", "service.json", "--procs", "1,2", "--runs", "2", "--db",
                      "good.db"]):
            done = self.run(args)
            assert done.status == 0, done.err
        db = sqlite3.connect(self.path("good.db"))
        db.execute("PRAGMA journal_mode = DELETE")
        tables = [r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        self.columns = [(t, *r[1:3]) for t in tables
                        for r in db.execute("PRAGMA table_info(%s)" % t)]
        db.close()
        self.tables = sorted({t for t, _, kind in self.columns
                              if kind == "INTEGER" and t not in ("places", "reasons")})

    def extreme(self, path, wanted, value):
        """Every number of a table's rows, as far as its keys let them."""
        db = sqlite3.connect(path)
        db.execute("PRAGMA foreign_keys = 0")
        for table, column, kind in self.columns:
            if table == wanted and kind == "INTEGER" and \
                    column not in ("run", "id", "complete", "grid"):
                db.execute("UPDATE OR IGNORE %s SET %s = %s" % (table, column, value))
        db.commit()
        db.close()

    def damage(self, path, draw):
        db = sqlite3.connect(path)
        db.execute("PRAGMA foreign_keys = 0")
        for _ in range(draw.randrange(1, 7)):
            table, column, kind = draw.choice(self.columns)
            value = draw.choice(TEXTS if kind == "TEXT" else NUMBERS + ["NULL"])
            where = draw.choice(["", "", " WHERE random() % 3 = 0",
                                 " WHERE rowid IN (SELECT max(rowid) FROM %s)" % table])
            change = draw.choice(["UPDATE OR IGNORE %s SET %s = %s%s" %
                                  (table, column, value, where)] * 9 +
                                 ["DELETE FROM %s%s" % (table, where)])
            try:
                db.execute(change)
            except sqlite3.Error:
                pass  # what the table does not take, nobody can put there by SQL
        db.commit()
        db.close()

    def attack(self, n, draw):
        name = "d%d.db" % n
        shutil.copy(self.path("good.db"), self.path(name))
        if n < 2 * len(self.tables):
            self.extreme(self.path(name), self.tables[n // 2], NUMBERS[n % 2])
        else:
            self.damage(self.path(name), draw)
        shutil.copy(self.path(name), self.path(name + ".kept"))
        for reader in draw.sample(READERS[:-3], 10) + READERS[-3:]:
            args = [name if a == "DB" else a for a in reader]
            if reader[0] in ("plot", "report"):
                args += ["--out", name + (".svg" if reader[0] == "plot" else ".html")]
            self.judge(args, self.run(args), [name + ".kept"])
        for ending in ("", ".kept", "-wal", "-shm", ".html", ".svg", ".gp", ".dat", ".dot"):
            for full in (name + ending, name[:-3] + ending):
                if full != "good.db" and os.path.exists(self.path(full)):
                    os.remove(self.path(full))


# ---- journals --------------------------------------------------------------------

class Journals(Attack):
    COUNT = 60
    SEARCH = ["explore", "s.json", "--seeds", "1-6", "--runs", "1", "--strategy", "random",
              "--granularity", "sync"]
    KINDS = {"grid": ["whatif", "s.json", "--procs", "1,2", "--runs", "2"], "search": SEARCH,
             "check": ["scenarios", "check", "s.json", "t.json"]}

    def prepare(self):
        for name in ("s", "t"):
            write(self.path(name + ".json"), json.dumps({**SERVICE, "name": name}))
        for kind, args in self.KINDS.items():
            for part in "12":
                done = self.run([*args, "--shard", part + "/2", "--journal", kind + part])
                if done.status != 0:
                    self.finding("a part that is as it should be", args, done)

    def spoil(self, text, draw):
        lines = text.splitlines(True)
        at = draw.randrange(len(lines))
        kind = draw.randrange(7)
        if kind == 0:
            lines[at] = lines[at][:draw.randrange(len(lines[at]))]
        elif kind == 1:
            lines.insert(at, lines[draw.randrange(len(lines))])
        elif kind == 2:
            del lines[at]
        elif kind == 3:
            lines[at] = "".join(draw.choice("{}[]\",:0-9e\0 \n") if draw.random() < 0.02 else c
                                for c in lines[at])
        elif kind == 4:
            lines[at] = re.sub(r"\d+", lambda m: draw.choice(NUMBERS + [m[0]] * 3), lines[at])
        elif kind == 5:
            lines[at] = re.sub(r'"[a-z_]+":', lambda m: draw.choice(['"":', m[0], m[0]]), lines[at])
        else:
            lines[at] = "[" * draw.choice([1, 100, 100000]) + "\n"
        return "".join(lines)

    def attack(self, n, draw):
        kind = draw.choice(sorted(self.KINDS))
        with open(self.path(kind + draw.choice("12")), encoding="utf-8") as f:
            text = f.read()
        for _ in range(draw.randrange(1, 4)):
            text = self.spoil(text, draw) or "x"
        name = "j%d" % n
        for args in (["merge", name, kind + "1"], ["merge", kind + "2", name],
                     ["merge", "--json", name],
                     [*self.KINDS[kind], "--shard", "1/2", "--journal", name]):
            write(self.path(name), text)
            self.judge(args, self.run(args), [name])
        os.remove(self.path(name))


# ---- options ---------------------------------------------------------------------

VALUES = ["", "0", "-1", "1", "3", "999999999999999999999", "18446744073709551615", "1e9", "nan",
          "abc", "1ns", "2us", "300000h", "%s%n", "\x1b[2J", "a" * 5000, ".", "/", "/dev/null", "-",
          ",", "1,2", "1-", "2-1", "=", "x=", "=1", "0x10", "1.5", "none", "--help", "é", "1/2",
          "2/1", "auto", "all", "\n", "1..3", "50%", "main:p99<1ms", "local"]
BASES = {"run": ["FILE", "--until", "5ms"], "explore": ["FILE", "--runs", "5"],
         "record": ["--shallow", "--", "./none", "run", "."], "replay": ["x.schedule"],
         "shrink": ["x.schedule"], "stress": ["FILE", "--runs", "1"], "plot": ["x.db", "latency"],
         "report": ["x.db"], "whatif": ["FILE", "--until", "5ms", "--runs", "1", "--procs", "1"],
         "merge": ["x.j"], "inspect": ["FILE", "--at", "1ms"], "query": ["x.db", "SELECT 1"],
         "db": ["check", "x.db"], "diff": ["x.db", "1", "2"], "doctor": [],
         "calibrate": ["--samples", "20"], "validate": ["FILE", "--runs", "3"],
         "fit": ["x.wrk"], "trace": ["info", "x.trace"], "scenarios": ["check", "FILE"]}
WRK = """Running 1s test @ http://localhost:8080/
  2 threads and 10 connections
  Latency Distribution
     50%    1.00ms
     75%    2.00ms
     90%    3.00ms
     99%    9.00ms
  300 requests in 1.00s, 1.00MB read
Requests/sec:    300.00
"""
# Whoever asks for so much is given it.
MUCH = {"999999999999999999999", "18446744073709551615", "300000h", "1e9"}
# Names of options that say how long something goes on.
LONG = {"until", "runs", "for", "time", "repeat", "jobs", "count", "schedules"}


class Options(Attack):
    COUNT, FEW = 250, 150

    def prepare(self):
        write(self.path("s.json"), json.dumps(SERVICE))
        write(self.path("x.wrk"), WRK)
        for args in (["run", "s.json", "--runs", "2", "--db", "x.db"],
                     ["run", "s.json", "--gotrace", "x.trace"],
                     ["whatif", "s.json", "--procs", "1,2", "--runs", "1", "--journal", "x.j"],
                     ["explore", os.path.join(LIBRARY, "kernels", "etcd-7492.json"),
                      "--schedule", "x.schedule"]):
            done = self.run(args)
            assert done.status in (0, 1), done.err
        verbs = re.findall(r"^  ([a-z]+) ", self.run(["--help"]).out.decode(), re.M)
        missing = set(verbs) ^ set(BASES)
        assert not missing, "BASES does not have just the verbs: %s" % missing
        self.all = []
        for verb in verbs:
            text = self.run([verb, "--help"]).out.decode()
            for name, arg in re.findall(r"^  (?:-\w, )?--([\w-]+)(?: ([A-Z/=%]+))?", text, re.M):
                values = VALUES if arg else [None, "x"]
                self.all += [(verb, name, value) for value in values]
        random.Random(self.options.seed).shuffle(self.all)
        if self.options.seconds is None and self.options.count is None:
            return
        if self.options.count is not None and self.options.count <= 0:  # all of them
            self.options.count = len(self.all)

    def attack(self, n, draw):
        verb, name, value = self.all[n % len(self.all)]
        room = "o%d" % n
        os.mkdir(self.path(room))
        for file in ("s.json", "x.db", "x.trace", "x.j", "x.schedule", "x.wrk"):
            if file in " ".join(BASES[verb]) or file == "s.json":
                shutil.copy(self.path(file), self.path(os.path.join(room, file)))
        option = ["--" + name] if value is None else \
            ["--%s=%s" % (name, value)] if value == "x" else ["--" + name, value]
        base = ["s.json" if a == "FILE" else a for a in BASES[verb]]
        args = [verb, *option, *base]
        inside = Attack.__new__(Attack)
        inside.__dict__.update(self.__dict__, folder=self.path(room))
        long = name in LONG or value in MUCH
        done = inside.run(args, 3 if long else None)
        with self.lock:
            self.judge(args, done, may_be_late=long)
        shutil.rmtree(self.path(room))


# ---- kills -----------------------------------------------------------------------

class Kills(Attack):
    """One store that many are killed over: what was reported as recorded stays, whole."""
    COUNT = 30

    def prepare(self):
        big = copy.deepcopy(SERVICE)
        big["main"][0]["n"] = big["main"][1]["loop"] = 20000
        write(self.path("s.json"), json.dumps(SERVICE))
        write(self.path("big.json"), json.dumps(big))
        self.recorded, self.grids = {}, 0

    def sql(self, text):
        db = sqlite3.connect(self.path("x.db"), timeout=60)
        try:
            return db.execute(text).fetchall()
        finally:
            db.close()

    def look(self, args):
        """What is wrong with the store, None for nothing."""
        if self.sql("PRAGMA integrity_check") != [("ok",)]:
            return "the store is damaged"
        for run, fingerprint in self.recorded.items():
            rows = self.sql("SELECT complete, fingerprint FROM runs WHERE id = %d" % run)
            if rows != [(1, fingerprint)]:
                return "run %d is lost or another one: %s" % (run, rows)
            got = self.sql("SELECT count(*) FROM goroutines WHERE run = %d" % run)[0][0]
            want = self.sql("SELECT value FROM counters WHERE run = %d AND name = 'gocreated'" %
                            run)[0][0]
            if got != want:
                return "run %d has %d of %d goroutines" % (run, got, want)
        if self.sql("SELECT count(DISTINCT grid) FROM whatif")[0][0] < self.grids:
            return "a grid is lost"
        if self.sql("SELECT grid FROM whatif GROUP BY grid"
                    " HAVING count(DISTINCT procs || ' ' || seed) <> 8"):
            return "a grid is half there"
        return None

    def let_live(self):
        done = self.run(["run", "s.json", "--db", "x.db", "--seed", str(self.tries + 1), "--json"])
        if done.status != 0:
            self.finding("a run after a kill", ["run", "--db"], done)
            return
        run = self.sql("SELECT max(id) FROM runs WHERE complete = 1")[0][0]
        self.recorded[run] = json.loads(done.out)["fingerprint"]
        if self.sql("SELECT count(*) FROM runs WHERE complete = 0")[0][0]:
            self.finding("a dead run outlived the next one", ["run", "--db"], None)
        grid = self.run(["whatif", "s.json", "--procs", "1-4", "--runs", "2", "--db", "x.db"])
        self.grids += grid.status == 0

    def attack(self, n, draw):
        with self.lock:
            self.one(n, draw)

    def one(self, n, draw):
        if n % 5 == 0:
            self.let_live()
        args = draw.choice([["run", "big.json", "--db", "x.db"],
                            ["run", "s.json", "--runs", "50", "--db", "x.db"],
                            ["whatif", "big.json", "--procs", "1-4", "--runs", "2", "--db", "x.db"],
                            ["db", "vacuum", "x.db"]])
        child = subprocess.Popen([self.gmpsim, *args], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, cwd=self.folder, start_new_session=True)
        time.sleep(draw.random() ** 2 * 1.5)
        child.send_signal(draw.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM,
                                       signal.SIGINT]))
        child.wait()
        self.tries += 1
        for _ in range(100):  # the children of a grid end with it, soon
            try:
                os.killpg(child.pid, 0)
            except ProcessLookupError:
                break
            time.sleep(0.05)
        else:
            self.finding("children live on", args, None)
            os.killpg(child.pid, signal.SIGKILL)
        why = self.look(args)
        if why is not None:
            self.finding(why, args, None, ["x.db"])


# ---- the library -----------------------------------------------------------------

class Library(Attack):
    """All outputs of all files: 8 runs to a store, whose pictures and page are drawn together."""
    TOGETHER, FEW = 8, 1

    def prepare(self):
        self.files = sorted(os.path.join(base, name) for base, _, names in os.walk(LIBRARY)
                            for name in names if name.endswith(".json") and base != LIBRARY)
        self.COUNT = (len(self.files) + self.TOGETHER - 1) // self.TOGETHER
        self.options.seconds = None
        self.options.count = None

    def outputs(self, file, db, base):
        args = ["run", file, "--until", "20ms", "--db", db, "--jsonl", base + ".jsonl",
                "--perfetto", base + ".perfetto", "--gotrace", base + ".trace", "--json"]
        done = self.run(args)
        self.judge(args, done)
        if done.status not in (0, 1):
            self.finding("a file of the library", args, done)
            return
        json.loads(done.out)
        with open(self.path(base + ".jsonl"), encoding="utf-8") as f:
            for line in f:
                if not isinstance(json.loads(line)["time_ns"], (int, float)):
                    self.finding("a record without its time: " + line, args, None)
        for ending in (".perfetto", ".trace"):
            if os.path.getsize(self.path(base + ending)) == 0:
                self.finding("nothing in " + ending, args, None)

    def attack(self, n, draw):
        db, base = "l%d.db" % n, "l%d" % n
        for file in self.files[n * self.TOGETHER:(n + 1) * self.TOGETHER]:
            self.outputs(file, db, base)
        runs = self.run(["query", db, "SELECT id FROM runs"]).out.decode().split()
        each = [a for run in runs for a in ("--run", run)]
        calls = [["plot", db, "latency", *each], ["report", db, *each, "--out", base + ".html"],
                 ["db", "check", db]]
        calls += [["plot", db, picture, "--run", run] for run in runs
                  for picture in ("runq", "utilisation", "timeline", "histogram", "heatmap",
                                  "queues", "steals", "threads", "throttling", "waits", "wakes")]
        for args in calls:
            env = None
            if args[0] == "plot":
                args += ["--out", base + ".svg"]
            if args[0] == "plot" and args[2] != "latency":  # the data alone: gnuplot takes long
                env = {**os.environ, "PATH": self.folder}
            done = self.run(args, env=env)
            self.judge(args, done)
            if done.status != 0 and not (args[0] == "plot" and re.search(
                    rb"gnuplot|holds no|no spans|nothing", done.err)):
                self.finding("of a file of the library", args, done)


# ---- tests of the test -----------------------------------------------------------

# A command that does wrong what each kind looks for.
CANARIES = {
    "scenarios": 'case "$1" in inspect) exit 3;; scenarios) kill -SEGV $$;; esac',
    "databases": 'case "$1" in diff) echo "runtime error: overflow" >&2; exit 1;; esac',
    "journals": 'case "$1" in merge) kill -ABRT $$;; esac',
    "options": 'case "$2" in --*) case "$3" in 0|1) exit 2;; esac;; esac',
    "kills": 'case "$1" in whatif) sleep 60 & ;; esac',
    "library": 'case "$1" in report) exit 2;; esac',
}


def canary(options):
    """Each kind must find what is wrong with its canary."""
    folder, real = tempfile.mkdtemp(), os.path.abspath(options.gmpsim)
    silent = []
    for kind, wrong in CANARIES.items():
        options.gmpsim = os.path.join(folder, kind)
        write(options.gmpsim, '#!/bin/sh\n%s\nexec "%s" "$@"\n' % (wrong, real))
        os.chmod(options.gmpsim, 0o755)
        attack = KINDS[kind](copy.copy(options))
        out, sys.stdout = sys.stdout, open(os.devnull, "w", encoding="utf-8")
        try:
            attack.prepare()
            attack.COUNT = attack.FEW
            attack.go()
        finally:
            sys.stdout.close()
            sys.stdout = out
            attack.close()
        if attack.findings == 0:
            silent.append(kind)
    shutil.rmtree(folder)
    print("canary: %s" % ("all seen" if not silent else "not seen: %s" % silent))
    return 1 if silent else 0


KINDS = {"scenarios": Scenarios, "databases": Databases, "journals": Journals,
         "options": Options, "kills": Kills, "library": Library}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gmpsim")
    parser.add_argument("kinds", nargs="*")
    parser.add_argument("--seconds", type=int, help="so long for each kind")
    parser.add_argument("--count", type=int, help="so many attacks of each kind; 0: all options")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--canary", action="store_true", help="is what is wrong seen?")
    parser.add_argument("--keep", default="hostile-findings")
    options = parser.parse_args()
    options.keep = os.path.abspath(options.keep)
    if options.canary:
        options.keep = tempfile.mkdtemp()
        try:
            return canary(options)
        finally:
            shutil.rmtree(options.keep)
    bad = 0
    for kind in options.kinds or KINDS:
        began = time.monotonic()
        attack = KINDS[kind](copy.copy(options))
        try:
            attack.prepare()
            attack.go()
        finally:
            attack.close()
        bad += attack.findings
        print("%s: %d commands, %d findings, statuses %s, seed %d%s, %.0f s" %
              (kind, attack.tries, attack.findings, attack.told, options.seed, attack.more(),
               time.monotonic() - began))
        sys.stdout.flush()
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
