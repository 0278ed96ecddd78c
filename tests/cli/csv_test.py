#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: every table that a command prints is there as CSV, with the values of its JSON and any text
in one field. Method: both documents of every command are read, and compared cell by cell.

usage: csv_test.py GMPSIM ROOT
"""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

GMPSIM = os.path.abspath(sys.argv.pop(1))
ROOT = os.path.abspath(sys.argv.pop(1))
KERNEL = os.path.join(ROOT, "scenarios", "kernels", "etcd-7492.json")
NAME = "=1+1, \"quoted\" and more"


def service():
    return {
        "name": NAME, "why": "test", "procs": 2, "objects": {"wg": "waitgroup"},
        "funcs": {"handle": [{"span": NAME, "do": [{"cpu": "30us"}, {"sleep": "100us"}]},
                             {"done": "wg"}]},
        "main": [{"add": "wg", "n": 9}, {"go": "handle", "count": 9, "group": NAME},
                 {"wait": "wg"}],
    }


class Csv(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        with open(os.path.join(self.folder.name, "s.json"), "w", encoding="utf-8") as f:
            json.dump(service(), f)
        self.run_it("run", "s.json", "--db", "x.db", "--gotrace", "x.trace")
        self.run_it("run", "s.json", "--db", "x.db", "--seed", "2", "--procs", "1")
        self.run_it("explore", KERNEL, "--schedule", "x.schedule", status=1)

    def run_it(self, *args, status=0):
        done = subprocess.run([GMPSIM, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              cwd=self.folder.name, timeout=120, check=False)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stdout.decode() + done.stderr.decode())
        return done.stdout.decode()

    def rows(self, *args, status=0):
        text = self.run_it(*args, status=status)
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        if not text.strip():  # no rows, and so no columns
            return [], []
        self.assertEqual({len(r) for r in rows}, {len(rows[0])}, rows[:3])
        return rows[0], rows[1:]

    def plain(self, value):
        """A JSON value as a cell says it, with what is done against formulas."""
        if isinstance(value, bool):
            return str(value).lower()
        if value is None:
            return ""
        if isinstance(value, list):
            return " ".join(str(self.plain(v)) for v in value if not isinstance(v, dict))
        return value

    def same(self, cell, value):
        want = self.plain(value)
        if isinstance(want, (int, float)):
            self.assertEqual(float(cell), want)
        else:
            self.assertEqual(cell.lstrip("'"), want)

    def compare(self, header, rows, of):
        named = isinstance(of, dict)
        self.assertEqual(len(rows), len(of))
        for row, key in zip(rows, of):
            item = of[key] if named else key
            if named:
                self.same(row[0], key)
            for title, cell in list(zip(header, row))[1 if named else 0:]:
                value = item
                if title != "value":
                    for part in title.split("."):
                        value = value.get(part) if isinstance(value, dict) else None
                self.same(cell, value)
            if isinstance(item, dict):
                plain = {k for k, v in item.items() if not isinstance(v, (list, dict))}
                self.assertLessEqual(plain, set(header))

    def test_every_table_of_every_command(self):
        explore = ("explore", KERNEL, "--schedule", "y.schedule", "--seeds", "1")
        for args, table, status, main in (
                (("inspect", "s.json", "--at", "50us"), "goroutines", 0, True),
                (("inspect", "s.json", "--at", "50us"), "ps", 0, False),
                (("inspect", "s.json", "--at", "50us"), "ms", 0, False),
                (explore, "coverage", 1, True),
                (explore, "finding.turns", 1, False),
                (explore, "finding.stuck", 1, False),
                (explore, "finding.goroutines", 1, False),
                (("trace", "info", "x.trace"), "goroutines", 0, False),
                (("trace", "info", "x.trace"), "ranges", 0, False),
                (("trace", "info", "x.trace"), "regions", 0, False),
                (("trace", "info", "x.trace"), "procs", 0, False),
                (("diff", "x.db", "1", "2"), "differences", 0, True),
                (("db", "list", "x.db"), None, 0, True),
                (("doctor",), "worlds", 0, True),
                (("scenarios", "list", "s.json"), None, 0, True),
                (("scenarios", "check", "s.json"), "results", 0, True),
                (("scenarios", "language"), None, 0, True),
                (("whatif", os.path.join(ROOT, "scenarios", "everyday", "http-service.json"),
                  "--capacity", "request:p99<20ms", "--until", "5ms", "--runs", "1"), "cells", 0,
                 None)):
            with self.subTest(args=args, table=table):
                of = json.loads(self.run_it(*args, "--json", status=status))
                for part in table.split(".") if table else ():
                    of = of[part]
                wish = ("--csv",) if table is None or main is None else ("--table", table)
                header, rows = self.rows(*args, *wish, status=status)
                self.compare(header, rows, of)
                if main and table:
                    self.assertEqual(self.rows(*args, "--csv", status=status), (header, rows))

    def test_a_document_without_tables_is_a_row(self):
        header, rows = self.rows("replay", "x.schedule", "--csv", status=1)
        self.assertEqual(len(rows), 1)
        self.assertEqual(dict(zip(header, rows[0]))["verdict"], "deadlock")

    def tables(self, document, before=""):
        """Each table in it by name, and whether it is one row."""
        for key, v in document.items():
            kinds = {isinstance(x, (dict, list)) for x in v.values()} if isinstance(v, dict) else ()
            if isinstance(v, list) and all(isinstance(x, (dict, list)) for x in v) or kinds:
                yield before + key, v, len(kinds) == 2
            if len(kinds) == 2:
                yield from self.tables(v, f"{before}{key}.")

    def test_every_table_of_a_trace(self):
        document = json.loads(self.run_it("trace", "info", "x.trace", "--json"))
        tables = list(self.tables(document))
        self.assertLessEqual({"totals", "sched_latency", "sched_latency.buckets", "procs",
                              "work_conservation.longest"}, {name for name, _, _ in tables})
        for name, of, is_row in tables:
            with self.subTest(name):
                header, rows = self.rows("trace", "info", "x.trace", "--table", name)
                if isinstance(of, list) and of and isinstance(of[0], list):
                    self.assertEqual([[float(x) for x in row] for row in rows], of)
                else:
                    self.compare(header, rows, [of] if is_row else of)

    def test_a_query(self):
        sql = ("SELECT scenario, id, -1 AS minus, NULL AS no, 1.5 AS real, 'a,b' AS \"x,y\""
               " FROM runs ORDER BY id")
        header, rows = self.rows("query", "x.db", sql, "--csv")
        self.assertEqual(header, ["scenario", "id", "minus", "no", "real", "x,y"])
        self.assertEqual([r[0].lstrip("'") for r in rows], [NAME, NAME])
        self.assertEqual([r[1:] for r in rows], [["1", "-1", "", "1.5", "a,b"],
                                                 ["2", "-1", "", "1.5", "a,b"]])
        self.assertNotIn(rows[0][0][0], "=+-@")
        self.run_it("query", "x.db", "SELECT 1", "--csv", "--json", status=2)

    def test_a_table_that_is_none(self):
        done = subprocess.run([GMPSIM, "inspect", "s.json", "--table", "gs"], check=False,
                              cwd=self.folder.name, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"there are global_queue, ps, ms, goroutines", done.stderr)
        self.run_it("inspect", "s.json", "--csv", "--json", status=2)


if __name__ == "__main__":
    unittest.main()
