#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""gmpsim explore, replay and shrink as a person uses them: exit statuses, files, mistakes."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

GMPSIM = os.path.abspath(sys.argv.pop(1))

ABBA = {
    "name": "abba", "why": "two locks in two orders",
    "objects": {"a": "mutex", "b": "mutex", "wg": "waitgroup"},
    "funcs": {
        "one": [{"lock": "a"}, {"lock": "b"}, {"unlock": "b"}, {"unlock": "a"}, {"done": "wg"}],
        "two": [{"lock": "b"}, {"lock": "a"}, {"unlock": "a"}, {"unlock": "b"}, {"done": "wg"}]},
    "main": [{"add": "wg", "n": 2}, {"go": "one"}, {"go": "two"}, {"wait": "wg"}]}
FINE = dict(ABBA, name="fine", main=[{"add": "wg", "n": 2}, {"go": "one"}, {"go": "one"},
                                     {"wait": "wg"}], funcs={"one": ABBA["funcs"]["one"]})


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("abba.json", ABBA)
        self.write("fine.json", FINE)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, what):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(what if isinstance(what, str) else json.dumps(what))

    def run_it(self, status, *words, typed=""):
        done = subprocess.run([GMPSIM, *words], cwd=self.folder.name, input=typed,
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr


class Explore(Case):
    def test_finds_repeats_and_shrinks(self):
        said = self.run_it(1, "explore", "abba.json", "--procs", "2")
        self.assertIn("all goroutines are asleep", said)
        self.assertIn("repeat: gmpsim replay abba.schedule", said)
        again = self.run_it(1, "replay", "abba.schedule")
        self.assertIn("the same run as recorded", again)
        self.assertIn("deadlock", self.run_it(1, "shrink", "abba.schedule", "--out", "s.schedule"))
        self.run_it(1, "replay", "s.schedule")

    def test_a_scenario_is_found_by_its_name(self):
        os.mkdir(os.path.join(self.folder.name, "scenarios"))
        os.rename(os.path.join(self.folder.name, "abba.json"),
                  os.path.join(self.folder.name, "scenarios", "a-b-b-a.json"))
        said = self.run_it(1, "explore", "a-b-b-a", "--procs", "2")
        again = re.search(r"^repeat: gmpsim (.*)$", said, re.M)[1]
        self.assertIn("the same run as recorded", self.run_it(1, *again.split()))
        self.assertIn("did you mean a-b-b-a?", self.run_it(2, "explore", "a-b-b"))

    def test_nothing_to_find(self):
        said = self.run_it(0, "explore", "fine.json", "--runs", "200")
        self.assertIn("nothing found in", said)
        self.run_it(4, "explore", "fine.json", "--runs", "200", "--strategy", "random", "--strict")
        self.run_it(1, "explore", "fine.json", "--runs", "200", "--expect", "finding")
        self.run_it(0, "explore", "abba.json", "--procs", "2", "--expect", "finding")

    def test_lateness_is_not_held_against_a_time_limit(self):
        self.write("soon.json", {
            "name": "soon", "until": "2ms", "expect": {"end": "finishes"},
            "objects": {"done": "chan"},
            "funcs": {"collects": [{"sleep": "20us"}, {"gc": True}, {"send": "done"}]},
            "main": [{"go": "collects"}, {"recv": "done"}]})
        for granularity in "sync", "op":
            self.run_it(0, "explore", "soon.json", "--procs", "2", "--granularity", granularity,
                        "--strategy", "random", "--runs", "300")

    def test_the_result_does_not_depend_on_the_day(self):
        words = ("explore", "abba.json", "--procs", "2", "--json", "--seeds", "0f3c9ab")
        first, second = json.loads(self.run_it(1, *words)), json.loads(self.run_it(1, *words))
        first["seconds"] = second["seconds"] = 0
        self.assertEqual(first, second)

    def test_the_page(self):
        said = self.run_it(1, "explore", "abba.json", "--strategy", "random")
        self.assertRegex(said, r"g\d+ one \[sync.Mutex.Lock\] at abba.json:1, waits for b "
                               r"\(locked\), held by g\d+ two since line 1")
        self.assertRegex(said, r"in a circle: g(\d+) -> [ab] -> g\d+ -> [ab] -> g\1")
        self.assertIn("lock a: free -> locked", said)
        self.assertIn("the other way round: it ends well", said)

    def test_files_of_a_finding(self):
        self.run_it(1, "explore", "abba.json", "--strategy", "random", "--out", "out")
        with open(self.path("out/finding.json"), encoding="utf-8") as f:
            page = json.load(f)
        self.assertEqual({s["object"] for s in page["stuck"]}, {"a", "b", "wg"})
        for pair in page["decides"]:
            first, second = (page["turns"][pair[k] - 1] for k in ("first", "second"))
            self.assertNotEqual(first["goroutine"], second["goroutine"])
            self.assertEqual(first["object"], second["object"])
        self.assertGreater(len(page["decides"]), 0)
        waits = "".join(xml.etree.ElementTree.parse(self.path("out/waits.svg")).getroot()
                        .itertext())
        self.assertIn("held since", waits)
        with open(self.path("out/waits.dot"), encoding="utf-8") as f:
            self.assertEqual(sum("->" in x and "color=" in x for x in f), 4)  # the circle is red
        svg = xml.etree.ElementTree.parse(self.path("out/finding.svg")).getroot()
        boxes = svg.findall("{http://www.w3.org/2000/svg}rect")
        self.assertEqual(len(boxes), len(page["turns"]) + 1)
        with open(self.path("out/finding.perfetto.json"), encoding="utf-8") as f:
            events = json.load(f)["traceEvents"]
        self.assertEqual(sum(e["ph"] == "X" for e in events), len(page["turns"]))
        with open(self.path("out/finding.txt"), encoding="utf-8") as f:
            self.assertIn("held by", f.read())
        self.write("taken", "")
        self.run_it(2, "explore", "abba.json", "--out", "taken/out")

    def test_operations_have_a_page_too(self):
        said = self.run_it(1, "explore", "abba.json", "--granularity", "op", "--strategy",
                           "random", "--out", "out")
        self.assertIn("waits for b", said)
        self.assertRegex(said, r"cas g\d+|P\d")

    def test_replay_looks_closer(self):
        self.run_it(1, "explore", "abba.json", "--strategy", "random")
        self.assertIn("whose order decides", self.run_it(1, "replay", "abba.schedule", "--explain"))
        self.assertRegex(self.run_it(1, "replay", "abba.schedule", "--trace-ops"),
                         r"mutex_lock:\d+ cas \S+ 0 -> 1")
        self.run_it(1, "replay", "abba.schedule", "--perfetto", "p.json")
        with open(self.path("p.json"), encoding="utf-8") as f:
            self.assertGreater(len(json.load(f)["traceEvents"]), 5)
        page = json.loads(self.run_it(1, "replay", "abba.schedule", "--explain", "--json"))
        self.assertEqual(len(page["stuck"]), 3)

    def test_steps_forwards_and_backwards(self):
        self.run_it(1, "explore", "abba.json", "--strategy", "random")
        said = self.run_it(1, "replay", "abba.schedule", "--step",
                           typed="n\n\np\n4\nw\n99\ns\nq\n")
        shown = re.findall(r"^#(\d+)", said, re.M)
        self.assertEqual(shown, ["1", "2", "3", "2", "4", "4", "4", "4"])
        self.assertIn("held by", said)
        self.run_it(1, "replay", "abba.schedule", "--step")  # the input ends

    def test_says_what_has_changed(self):
        self.run_it(1, "explore", "abba.json", "--strategy", "random")
        other = json.loads(json.dumps(ABBA))
        other["funcs"]["two"].insert(1, {"gosched": True})
        self.write("abba.json", other)
        self.assertIn("the program has changed (two)", self.run_it(2, "replay", "abba.schedule"))
        other = json.loads(json.dumps(ABBA))
        other["objects"]["spare"] = "mutex"
        self.write("abba.json", other)
        self.assertIn("the program has changed (objects)",
                      self.run_it(2, "replay", "abba.schedule"))
        self.write("abba.json", ABBA)
        with open(self.path("abba.schedule"), encoding="utf-8") as f:
            text = f.read()
        self.write("old.schedule", re.sub(r"^simulator .*$", "simulator 0.0.7", re.sub(
            r"^model .*$", "model 0123456789abcdef", text, flags=re.M), flags=re.M))
        self.assertIn("the simulator has changed (made by 0.0.7, this is",
                      self.run_it(2, "replay", "old.schedule"))

    def test_refuses_another_program(self):
        self.run_it(1, "explore", "abba.json", "--procs", "2")
        said = self.run_it(2, "replay", "abba.schedule", "--scenario", "fine.json")
        self.assertIn("the program has changed", said)
        self.write("broken.schedule", "gmpsim-schedule 1\nanswers x\n")
        self.assertIn("broken.schedule:2", self.run_it(2, "replay", "broken.schedule"))
        self.assertIn("not a schedule", self.run_it(2, "replay", "abba.json"))

    def test_mistakes(self):
        for words in (("--strategy", "luck"), ("--memory", "x86"), ("--procs", "0"),
                      ("--start", "late"), ("--expect", "nothing"), ("--seeds", "9-3"),
                      ("--profile", "go1.99"), ("--rule", "nope=1")):
            self.run_it(2, "explore", "abba.json", *words)

    def test_run_groups_its_runs(self):
        two = {"name": "two", "why": "stuck in one of two places",
               "objects": {"c": "chan", "d": "chan"},
               "funcs": {"f": [{"recv": "c"}], "g": [{"recv": "d"}]},
               "main": ["A", {"sleep": "1ms"}]}
        arms = '{"random": [{"do": [{"go": "f", "count": 2}]}, {"do": [{"go": "g"}]}]}'
        text = json.dumps(two).replace('"A"', arms).replace('[{"recv"', '[\n{"recv"')
        self.write("two.json", text)
        said = self.run_it(1, "run", "two.json", "--runs", "40", "--seed", "7")
        groups = re.findall(r"^ +(\d+)  leak: (\d of \w) \[chan receive\] at line (\d+) "
                            r"\(first with seed (\d+)\)$", said, re.M)
        self.assertEqual({(who, line) for _, who, line, _ in groups},
                         {("2 of f", "2"), ("1 of g", "3")})
        self.assertEqual(sum(int(n) for n, _, _, _ in groups), 40)
        self.assertGreaterEqual(int(groups[0][0]), int(groups[1][0]))
        self.assertEqual(min(int(seed) for _, _, _, seed in groups), 7)
        for _, who, line, seed in groups:
            self.assertIn("1 of" if "1" in who else "2 of",
                          self.run_it(1, "run", "two.json", "--seed", seed))
        said = self.run_it(0, "run", "fine.json", "--runs", "5")
        self.assertNotIn("first with seed", said)

    def test_run_says_that_it_does_not_search(self):
        self.assertIn("this is one schedule; `gmpsim explore fine.json` searches",
                      self.run_it(0, "run", "fine.json"))


class Lanes(Case):
    """What a lane of continuous integration uses."""

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read()

    def test_junit(self):
        self.run_it(1, "explore", "abba.json", "--junit", "x.xml")
        case = xml.etree.ElementTree.parse(self.path("x.xml")).getroot().find("*/testcase")
        self.assertEqual(case.get("name"), "abba")
        self.assertEqual(case.find("failure").get("message"), "deadlock")
        self.assertIn("\n  g1 main [sync.WaitGroup.Wait] at abba.json:1,",
                      case.find("failure").text)
        self.run_it(0, "explore", "fine.json", "--junit", "x.xml")
        suite = xml.etree.ElementTree.parse(self.path("x.xml")).getroot().find("testsuite")
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("errors")),
                         ("1", "0", "0"))
        words = ("explore", "fine.json", "--strategy", "random", "--runs", "5", "--strict")
        self.run_it(4, *words, "--junit", "x.xml")
        case = xml.etree.ElementTree.parse(self.path("x.xml")).getroot().find("*/testcase")
        self.assertIn("budget", case.find("error").get("message"))
        self.run_it(1, "explore", "fine.json", "--runs", "5", "--expect", "finding", "--junit",
                    "x.xml")
        case = xml.etree.ElementTree.parse(self.path("x.xml")).getroot().find("*/testcase")
        self.assertIn("expected", case.find("failure").get("message"))
        self.run_it(0, "explore", "abba.json", "--expect", "finding", "--junit", "x.xml")
        case = xml.etree.ElementTree.parse(self.path("x.xml")).getroot().find("*/testcase")
        self.assertIsNone(case.find("failure"))

    def test_github(self):
        self.write("a,b:100%.json", dict(ABBA, name="100%: a, b"))
        os.environ["GITHUB_STEP_SUMMARY"] = self.path("step.md")
        self.addCleanup(os.environ.pop, "GITHUB_STEP_SUMMARY")
        said = self.run_it(1, "explore", "a,b:100%.json", "--github")
        lines = said.splitlines()
        errors = [line for line in lines if line.startswith("::error ")]
        self.assertEqual(len(errors), 3)
        # What the program says stands between these two, and commands nothing.
        rest = [line for line in lines if line.startswith("::") and line not in errors]
        self.assertEqual(len(rest), 2)
        self.assertEqual(rest[0].replace("::stop-commands::", "::") + "::", rest[1])
        for line in errors:
            self.assertRegex(line, r"^::error file=a%2Cb%3A100%25.json,line=1,"
                                   r"title=deadlock%3A 100%25%3A a%2C b::g\d+ ")
        self.run_it(0, "explore", "fine.json", "--github", "--runs", "20")
        text = self.read("step.md")
        self.assertEqual(text.count("### "), 2)
        self.assertIn("whose order decides", text)

    def test_summary(self):
        self.run_it(1, "explore", "abba.json", "--summary", "s.md")
        self.assertIn("`abba.json`: deadlock", self.read("s.md"))
        self.run_it(2, "explore", "abba.json", "--summary", "none/s.md")

    def test_corpus(self):
        said = self.run_it(1, "explore", "abba.json", "--corpus", "known")
        self.assertIn("added to the corpus", said)
        self.run_it(0, "explore", "fine.json", "--corpus", "known", "--runs", "20")
        kept = os.listdir(self.path("known"))
        self.assertEqual(len(kept), 1)
        again = self.run_it(1, "explore", "abba.json", "--corpus", "known", "--runs", "1")
        self.assertIn("met again", again)
        self.assertEqual(os.listdir(self.path("known")), kept)
        # The program has changed, and has the defect still; then it has not.
        other = json.loads(json.dumps(ABBA))
        other["funcs"]["one"].insert(0, {"load": "v", "into": "x"})
        other["objects"]["v"] = "var"
        self.write("abba.json", other)
        self.assertIn("met again", self.run_it(1, "explore", "abba.json", "--corpus", "known"))
        self.write("abba.json", dict(FINE, name="abba"))
        self.run_it(0, "explore", "abba.json", "--corpus", "known", "--runs", "20")
        self.write("known/broken.schedule", "gmpsim-schedule 1\nanswers x\n")
        self.assertIn("cannot be used", self.run_it(0, "explore", "abba.json", "--corpus", "known",
                                                    "--runs", "20"))

    def search(self, status, *words):
        got = json.loads(self.run_it(status, "explore", "late.json", "--json", *words))
        got["seconds"] = 0
        return got

    def test_jobs_change_nothing(self):
        self.write("late.json", ABBA)
        words = ("--strategy", "random", "--runs", "1", "--seeds", "0x10-0x2f")
        one = self.search(1, *words)
        self.assertGreater(one["schedules"], 1)
        for jobs in ("2", "5", "0"):
            self.assertEqual(self.search(1, *words, "--jobs", jobs), one)
        self.assertEqual(self.search(1, *words, "--jobs", "3", "--journal", "j"), one)
        self.assertEqual(self.search(1, *words, "--journal", "j"), one)

    def test_jobs_take_time(self):
        self.write("late.json", FINE)
        got = json.loads(self.run_it(0, "explore", "late.json", "--json", "--strategy", "random",
                                     "--runs", "500", "--seeds", "1-2", "--jobs", "2"))
        self.assertGreater(got["seconds"], 0)

    def test_goes_on_where_it_was_killed(self):
        self.write("late.json", FINE)
        words = ("--strategy", "random", "--runs", "60", "--seeds", "1-300")
        whole = self.search(0, *words)
        for _ in range(3):
            child = subprocess.Popen([GMPSIM, "explore", "late.json", *words, "--journal", "j"],
                                     cwd=self.folder.name, stdout=subprocess.DEVNULL)
            had = self.read("j").count("\n") if os.path.exists(self.path("j")) else 0
            for _ in range(2000):
                if (child.poll() is not None or os.path.exists(self.path("j")) and
                        self.read("j").count("\n") > had + 5):
                    break
                time.sleep(0.002)
            child.kill()
            child.wait()
        with open(self.path("j"), "a", encoding="utf-8") as f:
            f.write('{"index":29')  # half a line
        self.assertEqual(self.search(0, *words, "--journal", "j"), whole)
        self.assertEqual(self.read("j").count("\n"), 301)
        self.assertIn("another search", self.run_it(2, "explore", "late.json", *words, "--depth",
                                                    "4", "--journal", "j"))
        self.write("j", self.read("j") + "nonsense\n")
        self.assertIn("j:302", self.run_it(2, "explore", "late.json", *words, "--journal", "j"))


if __name__ == "__main__":
    unittest.main()
