#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Formats of deep recordings: a later one is refused by every command that would believe it, as a
trace is in which nothing is; what a deep recording says outlives --anonymize.

usage: formats_test.py GMPSIM
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

GMPSIM = os.path.abspath(sys.argv.pop(1))
RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded")


def call(*args):
    done = subprocess.run([GMPSIM, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, timeout=60)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class Formats(unittest.TestCase):
    def setUp(self):
        # pylint: disable=consider-using-with
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def cut(self, name, *more):
        path = os.path.join(self.folder.name, "cut.trace")
        code, _, err = call("trace", "cut", os.path.join(RECORDED, name), *more, "-o", path)
        self.assertEqual(code, 0, err)
        return path

    def test_a_later_format_is_refused(self):
        path = self.cut("deep2-go26.trace.zst")
        with open(path, "rb") as f:
            data = f.read()
        self.assertEqual(data.count(b"gmpsim2"), 1)
        with open(path, "wb") as f:
            f.write(data.replace(b"gmpsim2", b"gmpsim9"))
        for verb in (["replay"], ["run"], ["explore"], ["trace", "import"],
                     ["whatif", "--procs", "1"]):
            with self.subTest(verb):
                code, _, err = call(*verb, path)
                self.assertEqual(code, 2, err)
                self.assertIn("a deep recording of format 9; this version reads up to 3", err)

    def test_a_trace_that_was_not_finished_is_no_answer(self):
        path = os.path.join(self.folder.name, "none.trace")
        with open(self.cut("deep2-go26.trace.zst"), "rb") as f:
            data = f.read()
        with open(path, "wb") as f:
            f.write(data[:16])
        for verb in (["replay"], ["run"], ["explore"], ["whatif", "--procs", "1"]):
            with self.subTest(verb):
                code, _, err = call(*verb, path)
                self.assertEqual(code, 2, err)
                self.assertIn("none.trace: no goroutine is in the trace", err)

    def test_anonymous_is_as_deep(self):
        for name in ("deep-go26.trace.zst", "deep2-go26.trace.zst"):
            deep = []
            for path in os.path.join(RECORDED, name), self.cut(name, "--anonymize"):
                code, out, err = call("replay", "--anyway", "--json", path)
                self.assertEqual(code, 0, err)
                deep.append(json.loads(out)["deep"])
            self.assertGreater(deep[0], 100)
            self.assertEqual(*deep)


if __name__ == "__main__":
    unittest.main()
