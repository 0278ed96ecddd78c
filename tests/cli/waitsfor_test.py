#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: of goroutines that wait for ever the report says what they wait for, who holds it or could
still do what is waited for, and where the circle is; in words, as DOT, SVG and JSON. Method: small
programs in which it is known.

usage: waitsfor_test.py GMPSIM
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

GMPSIM = os.path.abspath(sys.argv.pop(1))


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def run_it(self, *args, status=None):
        done = subprocess.run([GMPSIM, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              cwd=self.folder, timeout=60, check=False)
        self.assertIn(done.returncode, (0, 1) if status is None else (status,),
                      (done.stdout + done.stderr).decode())
        return done.stdout.decode(), done.stderr.decode()

    def waits(self, objects, funcs, main, *args):
        """The text's lines, and the JSON."""
        scenario = {"name": "waits", "why": "test", "procs": 2, "objects": objects,
                    "funcs": funcs, "main": main}
        with open(os.path.join(self.folder, "w.json"), "w", encoding="utf-8") as f:
            json.dump(scenario, f, indent=0)  # a statement per line, or more lines
        text, _ = self.run_it("run", "w.json", "--waits-for", "out.json", *args)
        with open(os.path.join(self.folder, "out.json"), encoding="utf-8") as f:
            found = json.load(f)
        if "who waits for whom\n" not in text:
            return [], found
        lines = text.split("who waits for whom\n")[1].split("\n\n")[0].split("\n")
        return [line.strip() for line in lines], found

    def by(self, found, name):
        of = [o for o in found["objects"] if o["object"] == name][0]
        return sorted((b["goroutine"], b["how"]) for b in of["by"])

    def g(self, found, group):
        return [g["goroutine"] for g in found["goroutines"] if g["group"] == group]

    def test_a_circle_of_three_mutexes(self):
        funcs = {n: [{"lock": a}, {"sleep": "1ms"}, {"lock": b}, {"unlock": b}, {"unlock": a}]
                 for n, a, b in (("one", "a", "b"), ("two", "b", "c"), ("three", "c", "a"))}
        lines, found = self.waits({x: "mutex" for x in "abc"}, funcs,
                                  [{"go": n} for n in funcs] + [{"sleep": "500us"}, {"lock": "a"}])
        one, two, three = (self.g(found, n)[0] for n in ("one", "two", "three"))
        self.assertEqual(self.by(found, "a"), [(one, "holds")])
        self.assertEqual(self.by(found, "b"), [(two, "holds")])
        self.assertEqual(self.by(found, "c"), [(three, "holds")])
        self.assertTrue(found["circle"])
        self.assertEqual(sorted(g["group"] for g in found["goroutines"] if g["in_circle"]),
                         ["one", "three", "two"])  # main waits for it, and is not in it
        circle = [line for line in lines if line.startswith("in a circle: ")][0]
        for n in ("one", "two", "three", " -> a -> ", " -> b -> ", " -> c -> "):
            self.assertIn(n, circle)

    def test_main_that_returned_could_do_nothing_more(self):
        funcs = {"sends": [{"send": "jobs"}],
                 "worker": [{"loop": "forever", "do": [{"recv": "jobs"}]}]}
        lines, found = self.waits({"jobs": "chan"}, funcs, [
            {"go": "worker"}, {"loop": 2, "do": [{"go": "sends"}]}, {"sleep": "1ms"}])
        self.assertEqual(self.by(found, "jobs"), [])
        self.assertIn("jobs (chan, open): nobody is left who could send", lines)

    def test_who_ended_with_a_lock_still_has_it(self):
        lines, found = self.waits({"mu": "mutex"}, {"f": [{"lock": "mu"}]},
                                  [{"go": "f"}, {"sleep": "1ms"}, {"lock": "mu"}])
        self.assertIn(", which has ended, since line ", "\n".join(lines))
        self.assertEqual([b["ended"] for b in found["objects"][0]["by"]], [True])
        self.assertFalse(found["circle"])

    def test_who_unlocks_has_it_no_more(self):
        # another goroutine than who locked it gives it back; a try that fails takes nothing
        _, found = self.waits({"mu": "mutex", "other": "mutex"},
                              {"f": [{"unlock": "mu"}, {"lock": "mu"}, {"trylock": "other", "into":
                                     "x"}, {"sleep": "1ms"}, {"lock": "other"}]},
                              [{"lock": "other"}, {"lock": "mu"}, {"go": "f"}, {"sleep": "500us"},
                               {"lock": "mu"}])
        f = self.g(found, "f")[0]
        self.assertEqual(self.by(found, "mu"), [(f, "holds")])
        self.assertEqual(self.by(found, "other"), [(1, "holds")])
        self.assertTrue(found["circle"])

    def test_a_goroutine_that_locks_twice_is_a_circle(self):
        lines, found = self.waits({"mu": "mutex"}, {}, [{"lock": "mu"}, {"lock": "mu"}])
        self.assertIn("in a circle: main g1 -> mu -> main g1", lines)
        self.assertTrue(found["circle"])

    def test_readers_and_a_writer(self):
        _, found = self.waits({"rw": "rwmutex", "c": {"chan": 0}},
                              {"reader": [{"rlock": "rw"}, {"recv": "c"}],
                               "writer": [{"lock": "rw"}, {"send": "c"}]},
                              [{"go": "reader", "count": 3}, {"sleep": "1ms"}, {"go": "writer"},
                               {"sleep": "1ms"}, {"rlock": "rw"}])
        readers, writer = self.g(found, "reader"), self.g(found, "writer")[0]
        self.assertEqual(self.by(found, "rw"), [(g, "read-locks") for g in readers])
        self.assertEqual(self.by(found, "c"), [(writer, "could")])
        self.assertTrue(found["circle"])  # a reader waits for the writer, who waits for readers

    def test_a_reader_that_gave_back_holds_nothing(self):
        _, found = self.waits({"rw": "rwmutex"},
                              {"reader": [{"rlock": "rw"}, {"runlock": "rw"}],
                               "writer": [{"lock": "rw"}]},
                              [{"go": "reader", "count": 3}, {"sleep": "1ms"}, {"go": "writer"},
                               {"sleep": "1ms"}, {"rlock": "rw"}])
        self.assertEqual([b[1] for b in self.by(found, "rw")], ["holds"])

    def test_nobody_is_left_to_receive(self):
        lines, found = self.waits({"c": {"chan": 0}}, {"ask": [{"send": "c"}]},
                                  [{"go": "ask", "count": 9}, {"recv": "c"}, {"sleep": "1ms"}])
        self.assertIn("c (chan, open): nobody is left who could receive", lines)
        self.assertIn("8 of ask, ", lines[0])  # alike: one line
        self.assertEqual(len(found["goroutines"]), 8)
        self.assertTrue(all(g["leaked"] for g in found["goroutines"]))

    def test_channels_in_a_circle(self):
        lines, found = self.waits({"a": {"chan": 0}, "b": {"chan": 0}},
                                  {"f": [{"recv": "b"}, {"send": "a"}]},
                                  [{"go": "f"}, {"recv": "a"}, {"send": "b"}])
        f = self.g(found, "f")[0]
        self.assertEqual((self.by(found, "a"), self.by(found, "b")),
                         ([(f, "could")], [(1, "could")]))
        self.assertTrue([line for line in lines if line.startswith("in a circle: ")], lines)

    def test_wait_groups_conds_and_selects(self):
        _, found = self.waits({"wg": "waitgroup", "mu": "mutex", "ready": {"cond": "mu"},
                               "a": {"chan": 0}, "b": {"chan": 0}},
                              {"worker": [{"lock": "mu"}, {"wait": "ready"},
                                          {"unlock": "mu"}, {"done": "wg"}],
                               "chooser": [{"select": [{"recv": "a", "do": []},
                                                       {"recv": "b", "do": []}]}]},
                              [{"add": "wg"}, {"go": "worker"}, {"go": "chooser"}, {"wait": "wg"},
                               {"send": "b"}])
        worker, chooser = self.g(found, "worker")[0], self.g(found, "chooser")[0]
        self.assertEqual(self.by(found, "wg"), [(worker, "could")])
        self.assertEqual(self.by(found, "ready"), [])
        self.assertEqual(self.by(found, "a"), [])
        self.assertEqual(self.by(found, "b"), [(1, "could")])
        waits = {g["goroutine"]: g["waits_for"] for g in found["goroutines"]}
        self.assertEqual(waits[chooser], ["a", "b"])
        self.assertEqual(waits[worker], ["ready"])

    def test_who_waits_in_a_cond_has_no_lock(self):
        _, found = self.waits({"mu": "mutex", "ready": {"cond": "mu"}, "never": {"chan": 0}},
                              {"first": [{"lock": "mu"}, {"wait": "ready"}]},
                              [{"go": "first"}, {"sleep": "1ms"}, {"lock": "mu"},
                               {"signal": "ready"}, {"recv": "never"}])
        first = [g for g in found["goroutines"] if g["group"] == "first"][0]
        self.assertEqual(first["waits_for"], ["mu"])  # signalled, it wants the lock back
        self.assertEqual(self.by(found, "mu"), [(1, "holds")])

    def test_locked_threads_and_objects_without_a_name(self):
        lines, found = self.waits({}, {"f": {"params": ["c"], "do": [{"lock_os_thread": True},
                                                                     {"recv": "c"}]}},
                                  [{"make": "c", "as": {"chan": 0}}, {"go": "f", "args": ["c"]},
                                   {"sleep": "1ms"}])
        self.assertEqual(len(found["goroutines"]), 1, lines)
        self.assertRegex(found["objects"][0]["object"], "^chan #[0-9]+$")

    def test_nobody_is_stuck(self):
        lines, found = self.waits({}, {}, [{"cpu": "1us"}])
        self.assertEqual((lines, found), ([], {"goroutines": [], "objects": [], "circle": False}))
        self.run_it("run", "w.json", "--waits-for", "none.svg")
        with open(os.path.join(self.folder, "none.svg"), encoding="utf-8") as f:
            self.assertIn("nobody waits for ever", f.read())

    def test_pictures_of_hostile_names(self):
        groups = ["it's <b>&\"x\"", "<script>alert(1)</script>", "]; x [label=\"y", "end\\",
                  "n" * 300, "\u4e2d\u6587" * 30]
        self.waits({"mu": "mutex", "c": {"chan": 0}},
                   {"f": [{"lock": "mu"}, {"recv": "c"}]},
                   [{"go": "f", "group": g} for g in groups] + [{"sleep": "1ms"}, {"lock": "mu"}])
        self.run_it("run", "w.json", "--waits-for", "w.svg")
        self.run_it("run", "w.json", "--waits-for", "w.dot")
        words = "".join(ElementTree.parse(os.path.join(self.folder, "w.svg")).getroot().itertext())
        self.assertIn("it's <b>&\"x\"", words)
        self.assertIn("<script>alert(1)</script>", words)
        with open(os.path.join(self.folder, "w.svg"), encoding="utf-8") as f:
            self.assertNotIn("<script>", f.read())
        if shutil.which("dot"):
            subprocess.run(["dot", "-Tsvg", "w.dot"], cwd=self.folder, check=True,
                           stdout=subprocess.DEVNULL)

    def test_the_circle_is_red(self):
        self.waits({"a": "mutex", "b": "mutex"},
                   {"f": [{"lock": "b"}, {"sleep": "1ms"}, {"lock": "a"}]},
                   [{"go": "f"}, {"lock": "a"}, {"sleep": "2ms"}, {"lock": "b"}])
        self.run_it("run", "w.json", "--waits-for", "w.dot")
        with open(os.path.join(self.folder, "w.dot"), encoding="utf-8") as f:
            dot = f.read()
        self.assertEqual(dot.count("penwidth=2"), 4)  # two goroutines, two locks
        self.assertEqual(sum("color=" in line for line in dot.split("\n") if "->" in line), 4)

    def test_a_report_without_being_asked(self):
        self.waits({"c": {"chan": 0}}, {}, [{"recv": "c"}])
        text, _ = self.run_it("run", "w.json")
        self.assertIn("who waits for whom\n  main g1, line ", text)
        self.assertLess(text.index("who waits"), text.index("repeat: "))
        plain, _ = self.run_it("run", "w.json", "--json")
        self.assertNotIn("who waits", plain)
        self.assertIn(json.loads(plain)["fingerprint"], text)  # following locks changes nothing

    def test_mistakes(self):
        self.waits({}, {}, [{"cpu": "1us"}])
        for args, hint in ((["--waits-for", "x.png"], "ends with .svg, .dot or .json"),
                           (["--waits-for", "no/such/x.svg"], "No such file"),
                           (["--host", "threads", "--waits-for", "x.svg"], "--waits-for")):
            _, err = self.run_it("run", "w.json", *args, status=2)
            self.assertIn(hint, err)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[1:])
