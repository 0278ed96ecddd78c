#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: names and texts from outside stay names and texts wherever the command puts them. Method:
hostile scenarios, file names, arguments and databases through every command, on a terminal and into
files, and the outputs read by the rules of their formats.

usage: foreign_test.py GMPSIM
"""
import json
import os
import pty
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

GMPSIM = os.path.abspath(sys.argv.pop(1))
ESC, BEL, CSI, RLO = "\x1b[31;1mred", "\a", "\u009b31m", "\u202e"
STEERING = [chr(c) for c in (*range(9), 11, 12, *range(14, 32), 127, *range(128, 160))] + [RLO]
LONG = "\u4e2d\u6587" * 40
HOSTILE = "x%s%s%s%s\ty\nz\"'\\<&" % (ESC, BEL, CSI, RLO)


def scenario(name, **more):
    return {"name": name, "why": "why " + name, "procs": 2,
            "objects": {"wg": "waitgroup"},
            "funcs": {"w": [{"span": name, "do": [{"cpu": "5us"}]}, {"mark": name},
                            {"done": "wg"}]},
            "main": [{"add": "wg", "n": 9}, {"go": "w", "count": 9, "group": name},
                     {"wait": "wg"}, {"print": more.get("prints", name).replace("%", "%%")}]}


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("good.json", scenario("\u00e4\u4e2d it's \"fine\" <b> & \\ %s"))
        self.write("long.json", scenario(LONG))
        self.write("bad.json", scenario(HOSTILE))
        self.write("prints.json", scenario("prints", prints="a" + HOSTILE))

    def panics(self):
        """Says what the program says, and leaves a schedule."""
        name = "a`id` b'; $(id) \\ --x"
        self.write("panics.json", {"name": name, "why": "w", "procs": 2,
                                   "main": [{"panic": "%s\n::add-mask::y" % HOSTILE}]})
        self.raw("explore", "panics.json", "--runs", "2", "--schedule", "p.schedule", status=(1,))
        return name

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, content):
        with open(self.path(name), "w", encoding="utf-8") as f:
            json.dump(content, f)

    def raw(self, *args, status=(0,)):
        done = subprocess.run([GMPSIM, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              cwd=self.folder.name, timeout=60, check=False)
        self.assertIn(done.returncode, status, done.stdout + done.stderr)
        return done.stdout, done.stderr, done.returncode

    def text(self, *args, status=(0,)):
        out, err, _ = self.raw(*args, status=status)
        return out.decode(), err.decode()  # well-formed, or this throws

    def on_terminal(self, *args):
        """What a terminal gets to see, without the command's own sequences."""
        try:
            master, slave = pty.openpty()
        except OSError as e:
            self.skipTest("no pseudo-terminal here: %s" % e)
        with subprocess.Popen([GMPSIM, *args], stdout=slave, stderr=slave, stdin=slave,
                              cwd=self.folder.name) as process:
            os.close(slave)
            seen = b""
            while True:
                try:
                    part = os.read(master, 65536)
                except OSError:
                    break
                if not part:
                    break
                seen += part
            process.wait(timeout=60)
        os.close(master)
        text = seen.decode()
        for own in ("\r\n", "\x1b[1m", "\x1b[0m", "\x1b[K", "\r"):
            text = text.replace(own, "\n" if own == "\r\n" else "")
        return text

    def assert_steers_nothing(self, text):
        for c in STEERING:
            self.assertNotIn(c, text, repr(text))

    def test_nothing_steers_a_terminal(self):
        self.panics()
        os.mkdir(self.path("corpus"))
        os.link(self.path("p.schedule"), self.path("corpus/x%s.schedule" % ESC))
        for args in (["explore", "panics.json", "--runs", "2"], ["replay", "p.schedule"],
                     ["explore", "panics.json", "--runs", "2", "--corpus", "corpus"],
                     ["explore", "panics.json", "--runs", "2", "--github"],
                     ["replay", "p.schedule", "--explain"], ["replay", "p.schedule", "--trace-ops"],
                     ["shrink", "p.schedule"], ["scenarios", "check", "panics.json"],
                     ["run", "bad.json"], ["run", "bad.json", "--runs", "2"],
                     ["run", "prints.json"], ["run", "prints.json", "--prints"],
                     ["run", "bad.json", "--explain", HOSTILE], ["run", "bad.json", "--json"],
                     ["whatif", "bad.json", "--runs", "2"], ["inspect", "bad.json", "--at", "9us"],
                     ["scenarios", "list"], ["scenarios", "show", "bad.json"],
                     ["scenarios", "check", "bad.json"], ["scenarios", "gen-go", "bad.json"],
                     ["run", "no-such" + HOSTILE], ["run", "good.json", "--procs", HOSTILE],
                     ["run", "good.json", "--" + HOSTILE], [HOSTILE],
                     ["query", "no-such" + HOSTILE, "SELECT 1"]):
            with self.subTest(args):
                self.assert_steers_nothing(self.on_terminal(*args))

    def test_a_program_s_own_output_is_its_own_in_a_file(self):
        out, _, _ = self.raw("run", "prints.json", "--prints")
        self.assertEqual(out.decode(), "a" + HOSTILE + "\n")

    def test_json_is_json(self):
        for name in ("good.json", "long.json", "prints.json"):
            with open(self.path(name), encoding="utf-8") as f:
                want = json.load(f)["name"]
            got = json.loads(self.text("run", name, "--json")[0])
            self.assertEqual(got["scenario"], want)
            self.assertIn(want, got["spans"])
            got = json.loads(self.text("whatif", name, "--json", "--runs", "1")[0])
            self.assertTrue(got)
        self.assertEqual(json.loads(self.text("run", "prints.json", "--json")[0])["output"],
                         "a" + HOSTILE + "\n")
        broken = os.fsencode(self.folder.name) + b"/a\xffb.json"
        with open(broken, "w", encoding="utf-8") as f:
            json.dump(scenario("x"), f)
        got = json.loads(self.text("run", broken, "--json")[0])
        self.assertIn("a\ufffdb.json", got["file"])

    def test_the_line_that_repeats_survives_any_file_name(self):
        for name in (b"it's.json", b"a b$(id).json", b"n\nl.json", b"\xff\xfe.json", b"-x.json",
                     "\u202e\u009b.json".encode(), b"back\\slash.json"):
            with open(os.fsencode(self.folder.name) + b"/" + name, "w", encoding="utf-8") as f:
                json.dump(scenario("x"), f)
            out = self.text("run", "--seed", "3", "--", name)[0]
            line = [x for x in out.split("\n") if x.startswith("repeat: ")][0][len("repeat: "):]
            again = subprocess.run(["bash", "-c", line.replace("gmpsim", shlex.quote(GMPSIM), 1)],
                                   cwd=self.folder.name, stdout=subprocess.PIPE, check=True).stdout
            self.assertEqual(again.decode(), out)

    def test_the_line_that_replays_is_one_command(self):
        self.panics()
        out, _, _ = self.raw("explore", "panics.json", "--runs", "2", status=(1,))
        last = out.decode().strip().split("\n")[-1]
        self.assertTrue(last.startswith("repeat: gmpsim replay "), last)
        words = shlex.split(last[len("repeat: "):])
        self.assertEqual(len(words), 3, words)
        self.assertRegex(words[2], r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$")
        self.raw(*words[1:], status=(1,))
        out, _, _ = self.raw("explore", "panics.json", "--runs", "2", "--schedule", "-it's $(id)",
                             status=(1,))
        again = subprocess.run(["bash", "-c", out.decode().strip().split("\n")[-1][len("repeat: "):]
                                .replace("gmpsim", shlex.quote(GMPSIM), 1)],
                               cwd=self.folder.name, stdout=subprocess.PIPE, check=False)
        self.assertEqual(again.returncode, 1)

    def test_a_program_gives_no_commands_to_a_workflow(self):
        self.panics()
        out, _, _ = self.raw("explore", "panics.json", "--runs", "2", "--github", "--junit",
                             "j.xml", "--summary", "s.md", status=(1,))
        lines = out.decode().split("\n")
        self.assertRegex(lines[0], r"^::stop-commands::[0-9a-f]{32}$")
        end = "::%s::" % lines[0].split("::")[2]
        at = lines.index(end)
        self.assertIn("::add-mask::y", lines[:at])
        self.assertTrue(all(line.startswith("::error file=panics.json,line=") or not line
                            for line in lines[at + 1:]), lines[at:])
        again, _, _ = self.raw("explore", "panics.json", "--runs", "2", "--github", status=(1,))
        self.assertNotEqual(again.decode().split("\n")[0], lines[0])
        xml.dom.minidom.parse(self.path("j.xml"))
        with open(self.path("s.md"), encoding="utf-8") as f:
            self.assert_steers_nothing(f.read())

    def test_a_trace_s_file_name_is_a_name(self):
        recorded = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "replay",
                                "recorded", "deep-go26.trace.zst")
        for name in ("d%s\nx.trace" % ESC, "\u202e'`$(id)`.trace", "-x.trace"):
            shutil.copy(recorded, self.path(name))
            self.text("trace", "import", "--out", "i.json", "--", name)
            self.raw("run", "i.json", "--until", "1ms")
            for args in (["replay", "--", name], ["trace", "info", "--", name],
                         ["explore", "--runs", "2", "--schedule", "s", "--", name]):
                with self.subTest(args):
                    self.assert_steers_nothing(self.on_terminal(*args))

    def test_columns_are_columns(self):
        def wide(line):
            return sum(2 if "\u2e80" <= c <= "\u9fff" else 1 for c in line)
        out = self.text("run", "long.json")[0].split("\n")
        head = next(i for i, line in enumerate(out) if line.startswith("latency"))
        rows = out[head:head + 3]
        self.assertEqual(len({wide(row) for row in rows}), 1, rows)
        head = next(i for i, line in enumerate(out) if line.startswith("goroutines"))
        self.assertEqual(len({wide(row) for row in out[head:head + 3]}), 1, out)

    def database(self):
        """Recorded with a good name, which then becomes a hostile one."""
        self.raw("run", "good.json", "--db", "x.db")
        db = sqlite3.connect(self.path("x.db"))
        for table in ("latencies", "quantiles", "histograms"):
            db.execute("UPDATE %s SET name = ? WHERE kind IN ('span', 'life')" % table, (HOSTILE,))
        for table in ("spans", "goroutines"):
            db.execute("UPDATE %s SET name = ?" % table, (HOSTILE,))
        db.execute("UPDATE runs SET scenario = ?, profile = ?, rules = ?, text = ?, seed = ?",
                   (HOSTILE,) * 5)
        db.commit()
        return db

    def test_a_database_s_text_is_a_field(self):
        db = self.database()
        out = self.text("query", "x.db", "SELECT 1, name, 2 FROM spans LIMIT 3")[0]
        self.assertEqual(len(out.split("\n")), 4)
        for row in out.split("\n")[:3]:
            cells = row.split("\t")
            self.assertEqual(len(cells), 3)
            self.assertEqual(cells[1].encode().decode("unicode_escape"), HOSTILE)
        got = json.loads(self.text("query", "--json", "x.db", "SELECT name FROM spans LIMIT 1")[0])
        self.assertEqual(got[0]["name"], HOSTILE)
        db.execute("UPDATE spans SET name = cast(x'61ff0a62' AS TEXT)")
        db.commit()
        self.assertEqual(self.text("query", "x.db", "SELECT name FROM spans LIMIT 1")[0],
                         "a\ufffd\\nb\n")
        json.loads(self.text("query", "--json", "x.db", "SELECT name FROM spans")[0])
        self.raw("run", "good.json", "--db", "x.db")
        self.assert_steers_nothing(self.on_terminal("diff", "x.db", "1", "2"))
        self.assert_steers_nothing(self.on_terminal("query", "--header", "x.db",
                                                    "SELECT * FROM runs"))
        for picture in ("latency", "timeline"):
            self.text("plot", "x.db", picture, "--run", "1", "--out", "p.svg", status=(0, 2))
            with open(self.path("p.gp"), encoding="utf-8") as f:
                self.assert_steers_nothing(f.read())

    def test_a_name_never_becomes_go(self):
        self.write("go.json", scenario("m\nfunc init() { panic(1) }\n//"))
        out, _, status = self.raw("scenarios", "gen-go", "go.json", status=(0, 2))
        if status == 0:
            self.assertNotIn(b"\nfunc init()", out)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[1:])
