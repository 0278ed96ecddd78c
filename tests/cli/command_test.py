#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: the command keeps its promises to people and scripts: exit statuses, suggestions, JSON, the
line that repeats a run, results that do not depend on --jobs. Method: run it and look.

usage: command_test.py GMPSIM
"""
import fcntl
import gzip
import json
import os
import pty
import re
import resource
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import perfetto  # noqa: E402

GMPSIM = os.path.abspath(sys.argv.pop(1))
SERVICE = {
    "name": "small service", "why": "test", "procs": 2,
    "objects": {"wg": "waitgroup", "mu": "mutex"},
    "funcs": {"handle": [
        {"span": "request", "do": [{"cpu": {"exp": "30us"}}, {"lock": "mu"}, {"cpu": "1us"},
                                   {"unlock": "mu"}, {"sleep": {"exp": "200us"}}]},
        {"done": "wg"}]},
    "main": [{"add": "wg", "n": 300},
             {"loop": 300, "do": [{"go": "handle", "group": "request"}, {"sleep": "20us"}]},
             {"wait": "wg"}],
}
HELLO = {"name": "hello", "why": "test", "main": [{"print": "hello"}]}
RATE_LIMITER = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                            "../../scenarios/everyday/rate-limiter.json")
DEADLOCK = {"name": "stuck", "why": "test", "objects": {"c": {"chan": 0}},
            "main": [{"recv": "c"}]}


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for name, content in (("service", SERVICE), ("hello", HELLO), ("stuck", DEADLOCK)):
            with open(self.path(name + ".json"), "w", encoding="utf-8") as f:
                json.dump(content, f)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_it(self, *args, status=0, env=None):
        done = subprocess.run([GMPSIM, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              cwd=self.folder.name, env={**os.environ, **(env or {})},
                              timeout=120, check=False)
        out, err = done.stdout.decode(), done.stderr.decode()
        if status is not None:
            self.assertEqual(done.returncode, status, out + err)
        return out, err


    def terminal(self):
        """A pair of descriptors; where the system has none to give, the test says so."""
        try:
            return pty.openpty()
        except OSError as e:
            return self.skipTest("no pseudo-terminal here: %s" % e)


class Usage(Case):
    def test_every_verb_has_help_with_an_example(self):
        commands = re.findall(r"^  ([a-z]+) ", self.run_it("--help")[0], re.M)
        self.assertIn("run", commands)
        for command in commands:
            out, _ = self.run_it(command, "--help")
            self.assertIn("usage: gmpsim " + command, out)
            self.assertIn("Example", out)

    def test_version(self):
        self.assertRegex(self.run_it("--version")[0], r"^gmpsim \d+\.\d+\.\d+\n$")

    def test_mistakes_are_suggested_away_with_status_2(self):
        for args, hint in (
                (["rnu", "x"], "did you mean run"),
                (["run", "--porcs", "2", "hello.json"], "did you mean --procs"),
                (["run", "--json=x", "hello.json"], "takes no argument"),
                (["run", "--profile", "go1.99", "hello.json"], "want go1.13"),
                (["run", "--rule", "needspining=off", "hello.json"], "did you mean needspinning"),
                (["run", "--rule", "needspinning=7", "hello.json"], "is from 0 to 1"),
                (["run", "--rule", "per_p_timers=off", "hello.json"], "wants per_p_timers=on"),
                (["run", "--rule", "steal_gives_up=on", "hello.json"], "wants per_p_timers=off"),
                (["run", "--until", "5", "hello.json"], "want a duration"),
                (["run", "--cpus", "0", "hello.json"], "want 1 to"),
                (["run", "--quota", "x", "hello.json"], "want CPUs"),
                (["run", "--procs", "0", "hello.json"], "a number from 1 on"),
                (["run", "--until", "0", "hello.json"], "longer than 0"),
                (["run", "--schedtrace", "0", "hello.json"], "longer than 0"),
                (["run", "--runs", "0", "hello.json"], "a number from 1 on"),
                (["run", "--quota", "1", "--period", "0", "hello.json"], "longer than 0"),
                (["run", "--quota", "1", "--period", "1us", "hello.json"], "want 1ms to 1s"),
                (["run", "--memory", "5", "hello.json"], "want 1MB to 1024GB"),
                (["run", "--memory", "1KB", "hello.json"], "want 1MB to 1024GB"),
                (["run", "--period", "10ms", "hello.json"], "add --quota"),
                (["whatif", "service.json", "--procs", "2,2"], "'2' and '2' are the same"),
                (["whatif", "service.json", "--profile", "latest,go1.22,go1.27"], "the same"),
                (["whatif", "service.json", "--quota", "2,200ms"], "the same setting"),
                (["whatif", "service.json", "--period", "10ms"], "add --quota"),
                (["run", "service.json", "--explain", "g0"], "no span 'g0'; spans: request"),
                (["run", "hello.json", "--explain", "request"], "has no spans"),
                (["run", "service.json", "--explain", "request", "--json"], "without --json"),
                (["run", "--quota", "0.000001", "hello.json"], "at least 1ms"),
                (["run", "--quota", "1us", "hello.json"], "at least 1ms"),
                (["run", "--quota", "5m", "hello.json"], "at least 1ms"),
                (["run", "--quota", "4800h", "hello.json"], "at most 1024 CPUs"),
                (["whatif", "--quota", "1,4800h", "service.json"], "at most 1024 CPUs"),
                (["run", "--quota", "nan", "hello.json"], "want CPUs"),
                (["run", "main.go"], "Go source is not what runs here"),
                (["run", "rate-limitr"], "no scenario of that name"),
                (["run", "--cpus", "5000", "hello.json"], "want 1 to 1024"),
                (["run", "--seed", "-1", "hello.json"], "want a number"),
                (["run"], "an argument is missing"),
                (["run", "a", "b"], "too many arguments"),
                (["run", "no-such-file.json"], "no-such-file.json"),
                (["run", "--procs"], "needs an argument"),
                (["plot", "x.db", "latencies"], "did you mean latency"),
                (["scenarios", "chek"], "did you mean check"),
                (["whatif", "service.json", "--procs", "1,x"], "want numbers"),
                (["run", "hello.json", "--json", "--jsonl", "-"], "both want standard output"),
                (["run", "hello.json", "--prints", "--perfetto", "-"], "both want standard"),
                (["run", "hello.json", "--gotrace", "-", "--perfetto", "-"], "both want standard"),
                (["run", "hello.json", "--step", "--json"], "without --json"),
                (["inspect", "hello.json", "--stepwise", "--json"], "no --json"),
                (["scenarios", "gen-go", "hello.json", "stuck.json"], "want one file"),
                ([], "usage")):
            with self.subTest(args):
                out, err = self.run_it(*args, status=2)
                self.assertEqual(out, "")
                self.assertIn(hint, err)

    def test_a_seed_that_the_environment_got_wrong(self):
        _, err = self.run_it("run", "hello.json", status=2, env={"GMPSIM_SEED": "x"})
        self.assertIn("GMPSIM_SEED", err)

    def test_a_full_disk_on_standard_output(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([GMPSIM, "run", self.path("service.json")], stdout=full,
                                  stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 2)


class Json(Case):
    """Every command, from one list, which must hold all of --help."""
    LIST = (
        ("run", ["run", "service.json"]),
        ("run", ["run", "service.json", "--runs", "2"]),
        ("run", ["run", "stuck.json"]),
        ("whatif", ["whatif", "service.json", "--procs", "1,2", "--runs", "2"]),
        ("whatif", ["whatif", "service.json", "--procs", "1,2", "--runs", "2", "--journal", "x.j"]),
        ("merge", ["merge", "x.j"]),
        ("inspect", ["inspect", "service.json", "--at", "2ms"]),
        ("query", ["query", "x.db", "SELECT *, 9e999 AS a, x'00' AS b, NULL AS c FROM runs;"
                                    "SELECT 'a\"b' AS d"]),
        ("query", ["query", "x.db", "SELECT 1 WHERE 0"]),
        ("diff", ["diff", "x.db", "1", "2"]),
        ("db", ["db", "list", "x.db"]),
        ("db", ["db", "check", "x.db"]),
        ("db", ["db", "vacuum", "x.db"]),
        ("plot", ["plot", "x.db", "runq"]),
        ("report", ["report", "x.db"]),
        ("doctor", ["doctor"]),
        ("explore", ["explore", "hello.json", "--runs", "10"]),
        ("explore", ["explore", "stuck.json", "--schedule", "x.schedule"]),
        ("stress", ["stress", "hello.json", "service.json", "--runs", "4"]),
        ("stress", ["stress", "stuck.json", "--runs", "2"]),
        ("fit", ["fit", "latencies.txt"]),
        ("calibrate", ["calibrate", "--samples", "20"]),
        ("validate", ["validate", "hello.json", "stuck.json", "--runs", "3", "--anyway"]),
        ("record", ["record", "--shallow", "--out", "r.trace", "--json", "--", "./go", "run", "."]),
        ("replay", ["replay", "x.schedule"]),
        ("shrink", ["shrink", "x.schedule"]),
        ("trace", ["trace", "info", "x.trace"]),
        ("scenarios", ["scenarios", "list", "hello.json", "stuck.json"]),
        ("scenarios", ["scenarios", "show", "service.json"]),
        ("scenarios", ["scenarios", "check", "hello.json", "stuck.json"]),
        ("scenarios", ["scenarios", "gen-go", "hello.json"]),
    )
    # Objects whose keys are names.
    BY_NAME = set("""counters p_ns scenario events_by_kind wire_events g_transitions p_transitions
        block_reasons stop_reasons metrics region_begins task_begins log_categories
        waiting_by_reason_ns""".split())

    def setUp(self):
        super().setUp()
        with open(self.path("latencies.txt"), "w", encoding="utf-8") as f:
            f.write("1ms\n2ms\n3ms\n")
        for seed in "12":
            self.run_it("run", "service.json", "--seed", seed, "--db", "x.db")
        self.run_it("explore", "stuck.json", "--schedule", "x.schedule", status=1)
        self.run_it("run", "service.json", "--gotrace", "x.trace")
        self.make_go(self.path("root"))

    # As much of a Go as a recording without locks needs: the program it builds copies a trace.
    def make_go(self, root):
        os.makedirs(os.path.join(root, "src", "runtime"))
        with open(os.path.join(root, "src", "runtime", "traceruntime.go"), "w",
                  encoding="utf-8") as f:
            f.write("func trace_userLog(id uint64) {\n\ttl.eventWriter(id)\n}\n")
        with open(self.path("program"), "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\necho of the program\ncp x.trace \"$GMPSIM_TRACE\"\n")
        with open(self.path("go"), "w", encoding="utf-8") as f:
            f.write("""#!/bin/sh
case "$1 $2" in
"env GOROOT") echo "$PWD/root" ;;
"env GOVERSION") echo go1.26.1 ;;
"list -f") printf 'main\\t%s\\tprogram\\n' "$PWD" ;;
build*) while [ "$1" != -o ]; do shift; done; cp program "$2" ;;
esac
""")
        for name in "program", "go":
            os.chmod(self.path(name), 0o755)

    def test_a_go_that_is_none_is_said(self):
        for command, hint in ((["./none", "run", "."], "./none"), (["./go", "vet"], "vet"),
                              (["./go", "run"], None), (["go"], "want --")):
            with self.subTest(command):
                _, err = self.run_it("record", "--shallow", "--", *command,
                                     status=0 if hint is None else 2)
                self.assertIn(hint or "recorded", err)

    def test_a_go_that_differs_is_said_with_the_line_that_is_missing(self):
        os.makedirs(self.path("root/src/sync"))
        with open(self.path("root/src/sync/mutex.go"), "w", encoding="utf-8") as f:
            f.write("package sync\n")
        _, err = self.run_it("record", "--", "./go", "run", ".", status=2)
        self.assertIn('mutex.go: no line "func (m *Mutex) Lock() {"', err)

    def fields(self, value):
        if isinstance(value, list):
            for item in value:
                yield from self.fields(item)
        elif isinstance(value, dict):
            for key, item in value.items():
                yield key
                if key in ("spans", "groups", "series", "ranges"):
                    item = list(item.values())
                if key in self.BY_NAME:
                    continue
                yield from self.fields(item)

    def test_every_verb_prints_one_document_whose_fields_are_documented(self):
        commands = re.findall(r"^  ([a-z]+) ", self.run_it("--help")[0], re.M)
        self.assertEqual(set(commands), {verb for verb, _ in self.LIST})
        here = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(here, "..", "..", "docs", "json.md"), encoding="utf-8") as f:
            sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", f.read(), re.M | re.S))
        distribution = "count exact min mean p50 p90 p99 p99.9 max half".split()
        for verb, args in self.LIST:
            with self.subTest(args):
                done = subprocess.run([GMPSIM, *args, "--json"], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, cwd=self.folder.name, check=False)
                if verb == "plot" and b"gnuplot" in done.stderr:
                    continue  # not installed here
                # Other tests have the machine.
                busy = (4,) if verb in ("calibrate", "validate") else ()
                self.assertIn(done.returncode, (0, 1, *busy), done.stderr)
                value = json.loads(done.stdout)
                if verb == "query":
                    continue  # its fields are the user's
                for field in set(self.fields(value)) - set(distribution):
                    self.assertIn("`%s`" % field, sections[verb])

    def test_a_query_has_the_types_of_its_columns(self):
        out, _ = self.run_it("query", "x.db", "--json", "SELECT 1 AS a, 1.5 AS b, 'x' AS c,"
                             " 9e999 AS d; SELECT 9007199254740993 AS e")
        self.assertEqual(json.loads(out), [{"a": 1, "b": 1.5, "c": "x", "d": None},
                                           {"e": 9007199254740993}])

    def test_a_diff_has_both_values(self):
        out = json.loads(self.run_it("diff", "x.db", "1", "2", "--json")[0])
        self.assertFalse(out["same"])
        self.assertIn({"section": "settings and result", "name": "seed", "a": "1", "b": "2"},
                      [{**d, "a": str(d["a"]), "b": str(d["b"])} for d in out["differences"]])
        out = json.loads(self.run_it("diff", "x.db", "1", "1", "--json")[0])
        self.assertTrue(out["same"])
        self.assertEqual(out["differences"], [])


class Progress(Case):
    FOREVER = {"name": "for ever", "why": "test", "procs": 2, "funcs": {"f": [
        {"loop": "forever", "do": [{"cpu": "1us"}, {"gosched": True}]}]},
               "main": [{"go": "f", "count": 4}, {"sleep": "100h"}]}

    def setUp(self):
        super().setUp()
        with open(self.path("forever.json"), "w", encoding="utf-8") as f:
            json.dump(self.FOREVER, f)

    def on_a_terminal(self, *args, columns=200, until=b"\x1b[K"):
        """What comes on stderr, a terminal, until that or the end is there: a line of progress."""
        ours, theirs = self.terminal()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
        with subprocess.Popen([GMPSIM, *args], stdout=subprocess.DEVNULL, stderr=theirs,
                              cwd=self.folder.name, start_new_session=True) as child:
            os.close(theirs)
            text = b""
            try:
                while until not in text:
                    text += os.read(ours, 4096)
            except OSError:
                pass  # the other end is closed
            os.close(ours)
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return text.decode()

    def test_long_work_on_a_terminal_says_how_far_it_is(self):
        for args, want in (
                (["run", "forever.json"],
                 r"^\rgmpsim run: virtual time [\d.]+\w+, [\d.]+ M records/s"),
                (["run", "forever.json", "--until", "1h", "--db", "x.db"],
                 r"^\rgmpsim run \[ {20}\]   0%: virtual time .* of 3600.0s"),
                (["run", "forever.json", "--until", "4s", "--runs", "2"],
                 r"%, \d+ s left: run 1 of 2: virtual time"),
                (["run", "forever.json", "--runs", "3", "--prints"], r"run 1 of 3: virtual time"),
                (["whatif", "forever.json", "--jobs", "2"],
                 r"^\rgmpsim whatif \[ {20}\]   0%: 0 of 5 runs"),
                (["scenarios", "check", "forever.json"], r"1 of 1, for ever: virtual time"),
                (["inspect", "forever.json", "--at", "50m"], r"gmpsim inspect \[.*of 3000.0s")):
            with self.subTest(args):
                self.assertRegex(self.on_a_terminal(*args), want)

    def test_the_line_is_no_wider_than_the_terminal(self):
        for columns, bar in (30, False), (40, False), (120, True), (200, True):
            text = self.on_a_terminal("run", "forever.json", "--until", "9s", columns=columns,
                                      until=b" left")
            line = text[:text.rindex("\x1b[K")].split("\r")[-1]
            self.assertLess(len(line), columns)
            self.assertRegex(line, r"^gmpsim run \[[# ]+\] +\d+%" if bar else r"^gmpsim run +\d+%")
            self.assertRegex(line, r"%, \d+ (s|min) left")
            self.assertEqual(line.endswith("M records/s"), bar)

    def test_short_work_says_nothing(self):
        self.assertEqual(self.on_a_terminal("run", "service.json"), "")

    def test_without_a_terminal_there_is_nothing(self):
        with subprocess.Popen([GMPSIM, "run", "forever.json"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, cwd=self.folder.name) as child:
            with self.assertRaises(subprocess.TimeoutExpired):
                child.wait(2)
            child.kill()
            self.assertEqual(child.stderr.read(), b"")


class Run(Case):
    def test_prints_alone(self):
        self.assertEqual(self.run_it("run", "--prints", "hello.json"), ("hello\n", ""))

    def test_a_finding_has_status_1_and_names_who_waits(self):
        out, _ = self.run_it("run", "stuck.json", status=1)
        self.assertIn("all goroutines are asleep - deadlock!", out)
        self.assertRegex(out, r"\n  g1 +main +waiting +chan receive +1 +blocked\n")

    def test_what_breaks_under_a_changed_rule_is_a_finding(self):
        out, _ = self.run_it("run", RATE_LIMITER, "--rule", "hchan_before_sched=off", status=1)
        self.assertIn("broken rule", out)
        self.assertIn("lock ordering problem", out)
        self.assertIn("repeat: gmpsim run", out)

    def broken(self, *args, status=3):
        """The report of a run in which an invariant broke, field by field."""
        _, err = self.run_it("run", "service.json", *args, status=status)
        return re.fullmatch(
            r"gmpsim: (?P<kind>[a-z ]+): (?P<what>.*) \((?P<who>.*)\)\n"
            r"seed (?P<seed>\d+), step (?P<step>\d+), time (?P<us>\d+\.\d{6}) us\n"
            r"M (?P<m>\d+)[a-z ]*, P (?P<p>-|\d+ [a-z]+), G (?P<g>-|\d+ [a-z]+) \((?P<in>.*)\)\n"
            r"last operations: .*\n(?P<ops>(?: +\d+ .*\n){20})repeat: (?P<line>.*)\n", err), err

    def test_a_broken_invariant_says_where_when_and_who(self):
        for plant, what in (
                ("status", "a G has a status that does not exist"),
                ("running", "a running G is not what its M runs"),
                ("queue", "a G is in two queues"),
                ("spinning", "nmspinning is not the number of spinning Ms"),
                ("idle_m", "an idle M is not idle"),
                ("lost_p", "everybody rests and a P is in no place or in two"),
                ("locks", "an idle M sleeps with locks")):
            with self.subTest(plant):
                found, err = self.broken("--plant", plant + "@2ms", "--seed", "5")
                self.assertIsNotNone(found, err)
                self.assertEqual((found["kind"], found["what"]), ("internal error", what))
                self.assertRegex(found["who"], r"G (-|\d+ .+), P (-|\d+ .+), M (-|\d+)")
                self.assertEqual(found["seed"], "5")
                self.assertGreater(float(found["us"]), 1900)
                last = found["ops"].splitlines()[-1].split()
                self.assertEqual(last[0], found["step"])
                self.assertEqual(last[1], found["us"] + "us")
                self.assertEqual(last[2], "M" + found["m"])
                if found["p"] != "-":
                    self.assertEqual(last[3], "P" + found["p"].split()[0])
                for op in found["ops"].splitlines():
                    self.assertRegex(op, r" (load|store|cas|xchg8?|add|or|and) +(sc|acq|rel|rlx) "
                                         r"+.+ \[.+\] +\S+.* \w+ \w+\.c:\d+$")
                self.assertIn(f"--plant {plant}@2ms --seed 5", found["line"])
                self.assertEqual(err, self.run_it(*found["line"].split()[1:], status=3)[1])

    def test_the_last_operations_are_those_of_the_run(self):
        found, _ = self.broken("--plant", "status@2ms")
        ops = self.run_it("run", "service.json", "--until", "2ms", "--trace-ops")[1].splitlines()
        ops = [o for o in ops if " == " not in o]
        self.assertEqual(ops[-20:], found["ops"].splitlines())

    def test_what_was_meant_to_break_is_a_finding(self):
        args = ("--plant", "queue@2ms", "--rule", "needspinning=off")
        found, err = self.broken(*args, status=1)
        self.assertIsNotNone(found, err)
        self.assertEqual(found["kind"], "broken rule")
        thrown = self.run_it("run", RATE_LIMITER, "--rule", "hchan_before_sched=off", status=1)[1]
        self.assertRegex(thrown, r"^gmpsim: broken rule: .*lock ordering problem.* "
                                 r"\(lockrank.c:\d+, \w+\)\nseed 1, step \d+, time [\d.]+ us\n"
                                 r"M \d+, P \d+ running, G \d+ running \(\w+, line \d+\)\n")

    def test_plants_that_cannot_be(self):
        for plant, words in (("quue@1ms", "is it 'queue'"), ("queue@x", "NAME@TIME"),
                             ("queue@9s", "before there was anything")):
            _, err = self.run_it("run", "service.json", "--plant", plant, status=2)
            self.assertIn(words, err)

    def test_an_expected_finding_has_status_0(self):
        with open(self.path("expected.json"), "w", encoding="utf-8") as f:
            json.dump({**DEADLOCK, "expect": {"end": "deadlock"}}, f)
        self.assertIn("as expected", self.run_it("run", "expected.json")[0])

    def test_the_repeat_line_repeats(self):
        out, _ = self.run_it("run", "service.json", "--profile", "go1.22", "--procs", "3",
                             "--cpus", "2", "--quota", "1.5", "--rule", "needspinning=off",
                             "--seed", "0x2a")
        line = re.search(r"^repeat: gmpsim (.*)$", out, re.M).group(1)
        self.assertIn("--seed 42", line)
        again, _ = self.run_it(*line.split())
        self.assertEqual(out, again)

    def test_what_changes_a_run_is_in_the_repeat_line(self):
        seen = set()
        for options in (("--schedtrace", "1ms", "--scheddetail"), ("--port", "arm64"),
                        ("--noise", "100"), ("--ties", "seed"), ("--sched", "fifo")):
            with self.subTest(options):
                out, _ = self.run_it("run", "service.json", *options)
                line = re.search(r"^repeat: gmpsim (.*)$", out, re.M).group(1)
                self.assertIn(" ".join(options[:2]), line)
                self.assertEqual(out, self.run_it(*line.split())[0])
                seen.add(re.search("fingerprint.*", out).group())
        self.assertGreater(len(seen), 2)

    def test_options_of_the_host_are_checked(self):
        for option, value in (("--port", "mips"), ("--noise", "1001"),
                              ("--noise", "loud"), ("--ties", "dice")):
            _, err = self.run_it("run", "service.json", option, value, status=2)
            self.assertIn("%s: want " % option, err)

    def test_the_repeat_line_survives_a_shell(self):
        for name in ("two words.json", "it's.json", "$HOME.json", "a;b.json", "-dash.json"):
            os.link(self.path("hello.json"), self.path(name))
            with self.subTest(name):
                out, _ = self.run_it("run", "--", name)
                line = re.search(r"^repeat: gmpsim (.*)$", out, re.M).group(1)
                self.assertEqual(os.path.basename(shlex.split(line)[1]), name)
                done = subprocess.run("'%s' %s" % (GMPSIM, line), shell=True, check=True,
                                      cwd=self.folder.name, stdout=subprocess.PIPE)
                self.assertEqual(*(re.search("fingerprint.*", t).group()
                                   for t in (out, done.stdout.decode())))

    def test_a_random_seed_is_said_first(self):
        with open(self.path("forever.json"), "w", encoding="utf-8") as f:
            json.dump({"name": "forever", "why": "test",
                       "main": [{"while": "true", "do": [{"cpu": "1us"}]}]}, f)
        # in a pipe of its own: it has to be there while the run goes on
        with subprocess.Popen([GMPSIM, "run", "forever.json", "--seed", "random"],
                              cwd=self.folder.name, stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL) as p:
            self.assertRegex(p.stderr.readline().decode(), r"^seed \d+\n$")
            p.kill()
        out, err = self.run_it("run", "hello.json", "--seed", "random")
        self.assertIn("--seed " + err.split()[1] + "\n", out)

    def small(self, main, **more):
        with open(self.path("small.json"), "w", encoding="utf-8") as f:
            json.dump({"name": "small", "why": "test", "main": main, **more}, f)
        return "small.json"

    def test_a_heap_ends_somewhere(self):
        huge = self.small([{"alloc": "100000GB", "live": True}, {"print": "not reached"}])
        out, _ = self.run_it("run", huge, status=1)
        self.assertIn("runtime: out of memory", out)
        self.assertNotIn("not reached", out)
        for live, status in ((True, 1), (False, 0)):
            loop = self.small([{"loop": 1100, "do": [{"alloc": "1GB", "live": live}]}])
            out, _ = self.run_it("run", loop, status=status)
            self.assertEqual("out of memory" in out, live)

    def test_a_world_has_a_memory_limit(self):
        bomb = self.small([{"loop": 1000000000, "do": [{"go": "stay"}]}, {"sleep": "1s"}],
                          funcs={"stay": [{"recv": "c"}]}, objects={"c": {"chan": 0}})
        out, _ = self.run_it("run", bomb, "--memory", "20MB", status=2)
        self.assertIn("limit: memory limit of 20 MiB reached", out)
        self.assertRegex(out, "repeat: .*--memory 20MB")

    def test_json_holds_the_first_thousand_goroutines_left(self):
        with open(self.path("many.json"), "w", encoding="utf-8") as f:
            json.dump({"name": "many", "why": "test", "objects": {"c": {"chan": 0}},
                       "funcs": {"stay": [{"recv": "c"}]},
                       "main": [{"loop": 1500, "do": [{"go": "stay"}]}, {"sleep": "1s"}]}, f)
        report = json.loads(self.run_it("run", "many.json", "--json", status=1)[0])
        self.assertEqual(len(report["not_ended"]), 1000)
        self.assertGreaterEqual(report["not_ended_more"], 500)

    def test_seeds(self):
        def fingerprint(*args, env=None):
            out, _ = self.run_it("run", "--json", "service.json", *args, env=env)
            return json.loads(out)["fingerprint"]
        seven = fingerprint("--seed", "7")
        self.assertEqual(seven, fingerprint(env={"GMPSIM_SEED": "7"}))
        self.assertNotEqual(seven, fingerprint("--seed", "8"))
        self.assertEqual(seven, fingerprint("--seed", "7", env={"GMPSIM_SEED": "9"}))

    def test_runs_have_the_fingerprints_of_single_runs(self):
        for many_noise, one_noise in (([], ["--noise", "on"]), (["--noise", "off"], [])):
            many = json.loads(self.run_it("run", "--json", "--runs", "3", *many_noise,
                                          "service.json")[0])
            for k, run in enumerate(many):
                one = json.loads(self.run_it("run", "--json", "--seed", str(k + 1), *one_noise,
                                             "service.json")[0])
                self.assertEqual(run, one)

    def test_json_agrees_with_the_text(self):
        text, _ = self.run_it("run", "service.json")
        run = json.loads(self.run_it("run", "--json", "service.json")[0])
        self.assertIn("fingerprint " + run["fingerprint"], text)
        self.assertEqual(run["spans"]["request"]["count"], 300)
        self.assertEqual(run["groups"]["request"]["ended"], 300)
        total = sum(run["p_ns"].values())
        self.assertAlmostEqual(total / run["makespan_ns"], 2, delta=0.01)
        self.assertEqual(run["counters"]["goexited"], 300)

    def test_records_do_not_change_the_run(self):
        plain = json.loads(self.run_it("run", "--json", "service.json")[0])
        recorded = json.loads(self.run_it("run", "--json", "service.json", "--db", "x.db",
                                          "--jsonl", "x.jsonl", "--perfetto", "x.json")[0])
        self.assertEqual(plain, recorded)

    def test_json_lines(self):
        self.run_it("run", "service.json", "--jsonl", "x.jsonl")
        with open(self.path("x.jsonl"), encoding="utf-8") as f:
            records = [json.loads(line) for line in f]
        created = [r for r in records if r["event"] == "g_create"]
        self.assertEqual(sum(r["group"] == "request" for r in created), 300)
        self.assertEqual(sum(r["event"] == "span_end" for r in records), 300)
        times = [r["time_ns"] for r in records]
        self.assertGreater(times[-1], times[0])

    def test_records_on_standard_output_are_alone_there(self):
        self.run_it("run", "hello.json", "--jsonl", "x.jsonl", "--perfetto", "x.json")
        for option, file in (("--jsonl", "x.jsonl"), ("--perfetto", "x.json")):
            out, err = self.run_it("run", "hello.json", option, "-", "--db", "x.db")
            with open(self.path(file), encoding="utf-8") as f:
                self.assertEqual(out, f.read())
            for part in ("hello", "makespan", "recorded: run"):
                self.assertIn(part, err)

    def test_a_line_per_atomic_operation_and_record(self):
        plain = json.loads(self.run_it("run", "service.json", "--json")[0])
        out, err = self.run_it("run", "service.json", "--json", "--trace-ops", "--jsonl",
                               "x.jsonl")
        self.assertEqual(json.loads(out), plain)
        ops = [line for line in err.splitlines() if " == " not in line]
        begins = re.compile(r" *(\d+) +\d+\.\d{6}us M\d+ +(?:P\d+|-) +"
                            r"(?:load|store|cas|xchg|xchg8|add|or|and) +(?:sc|acq|rel|rlx) +\w")
        ends = re.compile(r"\w+\.[ch]:\d+$")
        for number, line in enumerate(ops, 1):
            self.assertEqual(int(begins.match(line).group(1)), number)
            self.assertRegex(line.rsplit(" ", 1)[1], ends)
        self.assertTrue(any(re.search(r"cas +rel +pp->runqhead \[P\d\] +\d+ -> \d+ ", line)
                            for line in ops))
        self.assertTrue(any(re.search(r"gp->atomicstatus \[g\d+\] +1 -> 2 ", line)
                            for line in ops))
        with open(self.path("x.jsonl"), encoding="utf-8") as f:
            events = [json.loads(line)["event"] for line in f]
        told = [line.split(" == ")[1].split()[0] for line in err.splitlines() if " == " in line]
        self.assertEqual(told, events)

    def test_perfetto(self):
        for program, args in [("service.json", []), ("hello.json", []), ("stuck.json", []),
                              ("service.json", ["--procs", "4", "--cpus", "2", "--quota", "50ms"]),
                              ("service.json", ["--procs", "1", "--until", "3ms"])]:
            with self.subTest(program=program, args=args):
                self.run_it("run", program, "--perfetto", "x.json", *args, status=None)
                self.assertEqual(perfetto.mistakes(perfetto.load(self.path("x.json"))), [])

    def test_perfetto_shows_what_the_report_counts(self):
        report = json.loads(self.run_it("run", "service.json", "--json", "--perfetto", "x.json")[0])
        events = perfetto.load(self.path("x.json"))
        ends = [e for e in events if e["ph"] == "e"]
        self.assertEqual(len(ends), report["spans"]["request"]["count"])
        self.assertEqual({e["name"] for e in ends}, {"request"})
        tracks = perfetto.slices_by_track(events)
        ps = {tid: slices for (pid, tid), slices in tracks.items() if pid == 1}
        self.assertEqual(len(ps), report["procs"])
        for what, names in [("user", ["main", "request"]), ("scheduler", ["scheduler"]),
                            ("spinning", ["spinning"]), ("gc", ["runtime", "GC assist"]),
                            ("syscall", ["system call"]), ("no cpu", ["no CPU"])]:
            drawn = [e - b for slices in ps.values() for b, e, name in slices if name in names]
            self.assertAlmostEqual(sum(drawn), report["p_ns"][what], delta=len(drawn) + 1)
        steals = [e for e in events if e["ph"] == "s" and e["cat"] == "steal"]
        self.assertLessEqual(len(steals), report["counters"]["steals_won"])
        last = {}
        for e in events:  # a counter is said when it changes
            if e["ph"] == "C":
                was = last.setdefault(e["name"], {})
                self.assertFalse(set(e["args"].items()) & set(was.items()))
                was.update(e["args"])
        self.assertEqual(last["request"]["running"], 0)
        self.run_it("run", "service.json", "--perfetto", "y.json.gz")
        with gzip.open(self.path("y.json.gz"), "rt", encoding="utf-8") as f:
            self.assertEqual(json.load(f)["traceEvents"], events)

    def test_a_timeline_begins_after_the_warmup(self):
        self.run_it("run", "service.json", "--perfetto", "x.json")
        whole, since = perfetto.load(self.path("x.json")), 1000000
        part = json.loads(self.run_it("run", "service.json", "--json", "--perfetto", "y.json",
                                      "--warmup", "1ms")[0])
        events = perfetto.load(self.path("y.json"))
        self.assertEqual(perfetto.mistakes(events), [])
        self.assertGreaterEqual(min(perfetto.ns(e["ts"]) for e in events if "ts" in e), since)
        clipped = {track: [(max(b, since), e, name) for b, e, name in slices if e > since]
                   for track, slices in perfetto.slices_by_track(whole).items()}
        self.assertEqual(perfetto.slices_by_track(events), {t: s for t, s in clipped.items() if s})
        self.assertEqual(sum(e["ph"] == "e" for e in events), part["spans"]["request"]["count"])
        arrows = [e for e in whole if e["ph"] == "s" and perfetto.ns(e["ts"]) >= since]
        self.assertEqual(sum(e["ph"] == "s" for e in events), len(arrows))
        self.assertGreater(len(arrows), 0)

    def test_the_time_of_slow_spans_is_accounted_for(self):
        throttled = ["--procs", "2", "--cpus", "2", "--quota", "0.04"]
        for args in ([], ["--procs", "1"], throttled):
            r = json.loads(self.run_it("run", "service.json", "--json", "--db", "x.db", *args)[0])
            span = r["spans"]["request"]
            self.assertAlmostEqual(sum(span["parts"].values()), span["mean"], delta=20)
            slow = span["slow"]
            self.assertGreaterEqual(sum(slow["parts"].values()), span["p99"] * 0.85)
            self.assertLessEqual(slow["count"], span["count"] / 8)
            rows = self.run_it("query", "x.db", "SELECT part, slow_mean_ns FROM span_parts WHERE"
                               " run = (SELECT max(id) FROM runs) AND slow_mean_ns > 0")[0]
            stored = dict(line.rsplit("\t", 1) for line in rows.splitlines())
            self.assertEqual({k: str(v) for k, v in slow["parts"].items() if v > 0}, stored)
        out, _ = self.run_it("run", "service.json", *throttled)
        self.assertRegex(out, r"slow request: \d+ of 300, .* each; \d+ % of it is CPU throttling")

    def test_what_is_open_at_the_end_is_told(self):
        tight = {"cpu": "1s", "kind": "tight"}
        endless = self.small([{"go": [tight]}, tight])
        args = ["--procs", "2", "--profile", "go1.13", "--until", "20ms"]
        self.run_it("run", endless, "--db", "x.db", "--perfetto", "x.json", *args, status=None)
        tracks = perfetto.slices_by_track(perfetto.load(self.path("x.json")))
        ps = [slices[-1] for (pid, _), slices in sorted(tracks.items()) if pid == 1]
        self.assertEqual([end for _, end, _ in ps], [20000000, 20000000])
        self.assertGreater(min(end - begin for begin, end, _ in ps), 19000000)
        rows = self.run_it("query", "x.db", "SELECT g, to_state IS NULL FROM g_transitions WHERE"
                           " from_state = 'running' AND duration_ns > 19000000")[0].splitlines()
        self.assertEqual([row.split()[1] for row in rows], ["1", "1"])
        out, _ = self.run_it("run", "stuck.json", "--explain", "g1", status=1)
        self.assertRegex(out, "waits: chan receive, line .*until the end, nobody woke it")

    def library(self, name):
        here = os.path.dirname(os.path.abspath(__file__))
        return os.path.join(here, "..", "..", "scenarios", name + ".json")

    def test_who_runs_for_ever_runs_in_store_and_timeline(self):
        self.run_it("run", self.library("history/tight-loops"), "--profile", "go1.13", "--until",
                    "1s", "--db", "x.db", "--perfetto", "x.json", status=None)
        ran = self.run_it("query", "x.db", "SELECT sum(duration_ns) FROM g_transitions"
                          " WHERE from_state = 'running'")[0]
        self.assertGreater(int(ran), 3990000000)
        tracks = perfetto.slices_by_track(perfetto.load(self.path("x.json")))
        for p in range(1, 5):
            begin, end, name = max(tracks[1, p], key=lambda s: s[1] - s[0])
            self.assertEqual((name, end), ("loop", 1000000000))
            self.assertGreater(end - begin, 999000000)

    def test_where_somebody_waits_is_the_line_of_the_wait(self):
        out, _ = self.run_it("run", self.library("everyday/deadlock"), "--explain", "g7",
                             status=None)
        self.assertRegex(out, r"g7 +one +waiting +sync.Mutex.Lock +13 ")
        self.assertRegex(out, "waits: sync.Mutex.Lock, line 13; until the end, nobody woke it")
        out, _ = self.run_it("run", self.library("everyday/mutex-convoy"))
        self.assertIn(" lock m, line 16, until worker ended it", out)

    def test_who_has_not_begun_is_at_the_first_line(self):
        with open(self.path("begun.json"), "w", encoding="utf-8") as f:
            f.write("""{"name": "begun", "why": "test", "procs": 1, "objects": {"m": "mutex"},
                "funcs": {"f": [
                    {"sleep": "1ms"},
                    {"cpu": "1us"}
                ]},
                "main": [
                    {"go": "f"},
                    {"cpu": "10ms", "kind": "nopreempt"},
                    {"unlock": "m"}
                ]}""")
        out, _ = self.run_it("run", "begun.json", "--profile", "go1.25", status=1)
        self.assertRegex(out, r"goroutine \d+ \[runnable\]:\nmain.f \(line 3\)")
        out, _ = self.run_it("run", "begun.json", "--until", "1ms", status=None)
        self.assertRegex(out, r"g1 +main +running +8 ")
        self.assertRegex(out, r"g7 +f +runnable +3 ")
        out, _ = self.run_it("inspect", "begun.json", "--at", "1ms")
        self.assertRegex(out, r"g7 +runnable +f in f line 3\n")

    def test_operations_and_records_are_listed_in_the_order_of_time(self):
        _, err = self.run_it("run", self.library("everyday/worker-pool"), "--trace-ops", "--until",
                             "1ms", status=None)
        times = [float(t) for t in re.findall(r"^ *\d* +([\d.]+)us ", err, re.M)]
        self.assertGreater(len(times), 3000)
        self.assertGreater(err.count(" == "), 100)
        self.assertEqual(times, sorted(times))

    def test_a_cost_table(self):
        here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "costs")
        same, other = (os.path.join(here, n) for n in ("reference.json", "zen5-vm.json"))
        plain, with_reference, with_other = (
            json.loads(self.run_it("run", "--json", "service.json", *args)[0])["fingerprint"]
            for args in ([], ["--costs", same], ["--costs", other]))
        self.assertEqual(plain, with_reference)
        self.assertNotEqual(plain, with_other)
        _, err = self.run_it("run", "service.json", "--costs", "hello.json", status=2)
        self.assertIn("hello.json:1:", err)

    def test_explain_adds_up_to_the_slowest_span(self):
        report = json.loads(self.run_it("run", "--json", "service.json")[0])
        out, _ = self.run_it("run", "service.json", "--explain", "request")
        part = out[out.index("the slowest request"):].splitlines()
        units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}

        def ns(text):
            number, unit = re.match(r"([\d.]+)([a-z]+)$", text).groups()
            return float(number) * units[unit]
        slowest = report["spans"]["request"]["max"]
        self.assertAlmostEqual(ns(part[0].split()[3].rstrip(",")), slowest, delta=slowest / 1000)
        # the goroutine goes on for a moment after the span has ended
        total = sum(ns(line.split()[1]) for line in part[2:])
        self.assertAlmostEqual(total, slowest, delta=slowest / 50)
        self.assertTrue(any("waits: sleep" in line for line in part))
        _, err = self.run_it("run", "service.json", "--explain", "nothing", status=2)
        self.assertIn("spans: request", err)

    def explained(self, what, main, *args, **more):
        out, _ = self.run_it("run", self.small(main, **more), "--explain", what, *args)
        return out[out.index("  at  "):]

    def test_explain_says_from_when_until_when_it_was_throttled(self):
        # 20 ms of each period of 100 ms: used up at 20 ms, so throttled from there until 100 ms
        out = self.explained("work", [{"span": "work", "do": [{"cpu": "30ms"}]}],
                             "--procs", "1", "--cpus", "1", "--quota", "20ms")
        start, end = re.search(r"P0 was throttled from ([\d.]+)ms until ([\d.]+)ms", out).groups()
        self.assertAlmostEqual(float(start), 20, delta=1)
        self.assertAlmostEqual(float(end), 100, delta=1)

    def test_explain_says_why_idle_ps_did_not_come(self):
        # the runtime's own goroutines have made one M look, which takes its time; nobody wakes
        # a second one while one looks
        main = [{"go": [{"span": "first", "since": "0", "do": []}]}, {"cpu": "1ms"},
                {"sleep": "1ms"}]
        out = self.explained("first", main, "--procs", "3")
        self.assertRegex(out, "other Ps were idle from .*did not take it: .*runnext.*; 1 M was")
        out = self.explained("first", main, "--procs", "2")
        self.assertIn("no other P was idle, 1 M was looking for work already", out)
        out = self.explained("first", main, "--procs", "1")
        self.assertRegex(out, "no other P was idle\n")

    def test_a_time_limit_of_the_users_is_no_finding(self):
        out, _ = self.run_it("run", "service.json", "--until", "1ms")
        self.assertIn("time limit", out)
        self.assertIn("makespan 1.000ms", out)


class Threads(Case):
    """Real threads: nothing here asks how long anything took."""

    def test_everything_that_run_reports(self):
        out, _ = self.run_it("run", "--host", "threads", "service.json", "--json", "--db", "x.db",
                             "--jsonl", "x.jsonl", "--perfetto", "x.json")
        r = json.loads(out)
        self.assertEqual((r["host"], r["verdict"]), ("threads", "finished"))
        self.assertIsNone(r["fingerprint"])
        self.assertIn("--host threads", r["repeat"])
        self.assertEqual((r["spans"]["request"]["count"], r["spans"]["request"]["open"]), (300, 0))
        self.assertEqual(r["groups"]["request"]["ended"], 300)
        self.assertGreater(r["counters"]["switches"], 300)
        self.assertGreater(sum(r["p_ns"].values()), 0)
        with open(self.path("x.jsonl"), encoding="utf-8") as f:
            records = [json.loads(line) for line in f]
        self.assertEqual(sum(e["event"] == "span_end" for e in records), 300)
        times = [e["time_ns"] for e in records]
        self.assertEqual(times, sorted(times))
        events = perfetto.load(self.path("x.json"))
        self.assertEqual(perfetto.mistakes(events), [])
        self.assertEqual(sum(e["ph"] == "e" for e in events), 300)
        count = "SELECT count FROM latencies WHERE kind = 'span'"
        self.assertEqual(self.run_it("query", "x.db", count)[0].split(), ["300"])

    def test_the_report_says_where_and_how_to_repeat(self):
        out, _ = self.run_it("run", "--host", "threads", "--pin", "--cpus", "1", "service.json")
        self.assertIn("host threads, pinned", out)
        self.assertIn("cpus 1", out)
        self.assertNotIn("fingerprint", out)
        line = re.search(r"^repeat: gmpsim (.*)$", out, re.M).group(1)
        self.run_it(*shlex.split(line))
        out, _ = self.run_it("run", "--host", "threads", "--runs", "3", "hello.json")
        self.assertEqual(len(re.findall(r"^seed \d+ +finished", out, re.M)), 3)

    def test_the_class_of_the_threads_is_said_wherever_the_run_is(self):
        for name in ("other", "fifo"):
            option = ["run", "--host", "threads", "--sched", name, "service.json"]
            if name == "fifo" and subprocess.run([GMPSIM, *option, "--json"], cwd=self.folder.name,
                                                 capture_output=True, check=False).returncode == 2:
                _, err = self.run_it(*option, status=2)  # this user may not
                self.assertIn("scheduling class 'fifo'", err)
                continue
            out, _ = self.run_it(*option, "--json", "--db", "class.db")
            r = json.loads(out)
            self.assertEqual((r["sched"], r["pinned"]), (name, False))
            self.assertIn("--sched %s" % name, r["repeat"])
            self.assertEqual(self.run_it("query", "class.db", "SELECT sched FROM runs ORDER BY id"
                                         " DESC LIMIT 1")[0].split(), [name])
            self.assertIn(", class %s " % name, self.run_it(*option)[0])
        own = json.loads(self.run_it("run", "--host", "threads", "hello.json", "--json")[0])
        self.assertNotIn("--sched", own["repeat"])
        self.run_it("run", "--host", "threads", "--sched", "idle", "hello.json", status=2)
        self.run_it("run", "--sched", "idle", "hello.json", status=2)

    def test_cpu_time_is_said_of_each_p(self):
        r = json.loads(self.run_it("run", "--host", "threads", "service.json", "--procs", "2",
                                   "--json")[0])
        self.assertEqual(len(r["p_cpu_ns"]), 2)
        self.assertGreater(sum(r["p_cpu_ns"]), 0)
        self.assertLessEqual(sum(r["p_cpu_ns"]), r["cpu_ns"])
        virtual = json.loads(self.run_it("run", "service.json", "--json")[0])
        self.assertNotIn("p_cpu_ns", virtual)
        self.assertNotIn("sched", virtual)

    def test_system_calls_of_every_kind(self):
        """Two calls of 10 ms on one CPU: side by side or one after the other."""
        runs = {}
        for kind in ("blocking", "pipe", "short", "file"):
            with open(self.path("call.json"), "w", encoding="utf-8") as f:
                json.dump({"name": "call", "why": "t", "procs": 2, "objects": {"w": "waitgroup"},
                           "main": [{"add": "w", "n": 2}, {"go": "call", "count": 2},
                                    {"wait": "w"}, {"print": kind}],
                           "funcs": {"call": {"do": [{"syscall": "10ms", "kind": kind},
                                                         {"done": "w"}]}}}, f)
            r = json.loads(self.run_it("run", "call.json", "--cpus", "1", "--json")[0])
            runs[kind] = (r["makespan_ns"], r["fingerprint"])
            r = json.loads(self.run_it("run", "call.json", "--host", "threads", "--json")[0])
            self.assertEqual((r["output"], r["counters"]["syscalls"]), (kind + "\n", 2))
            self.run_it("scenarios", "gen-go", "call.json")
        self.assertEqual((runs["pipe"], runs["file"]), (runs["blocking"], runs["short"]))
        self.assertLess(runs["pipe"][0], 11e6)
        self.assertGreater(runs["file"][0], 20e6)

    def test_findings_and_limits_are_the_same(self):
        out, _ = self.run_it("run", "--host", "threads", "stuck.json", status=1)
        self.assertIn("all goroutines are asleep", out)
        self.assertIn("chan receive", out)
        with open(self.path("loop.json"), "w", encoding="utf-8") as f:
            json.dump({"name": "loop", "why": "t", "main": [
                {"loop": 1000000, "do": [{"sleep": "1ms"}]}]}, f)
        out, _ = self.run_it("run", "--host", "threads", "--until", "50ms", "loop.json", "--json")
        self.assertEqual(json.loads(out)["verdict"], "time limit")

    def test_an_interrupt_gives_the_report_so_far(self):
        with open(self.path("loop.json"), "w", encoding="utf-8") as f:
            json.dump({"name": "loop", "why": "t", "main": [
                {"loop": "forever", "do": [{"sleep": "1ms"}]}]}, f)
        with subprocess.Popen([GMPSIM, "run", "--host", "threads", "--schedtrace", "5ms",
                               self.path("loop.json"), "--json"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as p:
            self.assertIn(b"SCHED", p.stderr.readline())
            p.send_signal(signal.SIGINT)
            out, _ = p.communicate(timeout=60)
        self.assertEqual(p.returncode, 1)  # the file expects an end
        self.assertEqual(json.loads(out)["verdict"], "time limit")

    def test_an_interrupt_ends_stress_with_what_it_did(self):
        with open(self.path("loop.json"), "w", encoding="utf-8") as f:
            json.dump({"name": "loop", "why": "t", "until": "100s", "main": [
                {"loop": "forever", "do": [{"sleep": "1ms"}]}]}, f)
        with subprocess.Popen([GMPSIM, "stress", "--for", "100s", self.path("loop.json"), "--json"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
            while len(os.listdir("/proc/%d/task" % p.pid)) < 3:  # the world has its threads
                time.sleep(0.01)
            p.send_signal(signal.SIGINT)
            out, err = p.communicate(timeout=60)
        self.assertEqual(p.returncode, 0, err)
        said = json.loads(out)
        self.assertEqual((said["runs"], said["findings"]), (0, []))

    def test_what_is_about_virtual_time_is_refused(self):
        for option in (["--step"], ["--trace-ops"], ["--costs", "x"], ["--port", "arm64"],
                       ["--noise", "3"], ["--ties", "seed"], ["--plant", "queue"],
                       ["--explain", "g1"]):
            _, err = self.run_it("run", "--host", "threads", "hello.json", *option, status=2)
            self.assertIn("%s is for virtual time: on threads " % option[0], err)
        self.run_it("inspect", "--host", "threads", "hello.json", "--at", "1us", status=2)
        self.run_it("run", "--host", "moon", "hello.json", status=2)
        self.run_it("run", "--pin", "hello.json", status=2)
        self.run_it("run", "--host", "threads", "--cpus", "1000", "hello.json", status=2)

    def test_what_only_virtual_time_promises_is_said_not_judged(self):
        hello = dict(HELLO, expect=[{"output": ["hello"]},
                                    {"virtual": "numbers", "makespan": "< 1ns"}])
        with open(self.path("v.json"), "w", encoding="utf-8") as f:
            json.dump(hello, f)
        self.run_it("run", "v.json", status=1)
        out, _ = self.run_it("run", "--host", "threads", "v.json")
        self.assertIn("not judged here: expected a makespan < 1ns", out)
        self.assertIn("as expected", out)
        hello["expect"][0] = {"virtual": True, "output": ["bye"]}
        with open(self.path("v.json"), "w", encoding="utf-8") as f:
            json.dump(hello, f)
        self.run_it("run", "--host", "threads", "v.json")
        hello["expect"][0] = {"virtual": "numbers", "output": ["bye"]}
        with open(self.path("v.json"), "w", encoding="utf-8") as f:
            json.dump(hello, f)
        self.run_it("run", "--host", "threads", "v.json", status=1)


class Grid(Case):
    def test_the_result_does_not_depend_on_jobs(self):
        args = ["whatif", "service.json", "--procs", "1,2,4", "--profile", "go1.19,latest",
                "--runs", "3", "--json"]
        one, _ = self.run_it(*args, "--jobs", "1")
        many, _ = self.run_it(*args, "--jobs", "7", "--db", "w.db")
        self.assertEqual(one, many)
        cells = json.loads(one)["cells"]
        self.assertEqual([(c["profile"], c["procs"]) for c in cells],
                         [(p, n) for p in ("go1.19", "go1.27") for n in (1, 2, 4)])
        rows = self.run_it("query", "w.db", "SELECT count(*), count(DISTINCT seed) FROM whatif")[0]
        self.assertEqual(rows, "36\t3\n")  # 18 runs, a row per span and one for the run queues

    def test_a_cell_is_the_mean_of_its_runs(self):
        cell = json.loads(self.run_it("whatif", "service.json", "--procs", "2", "--runs", "3",
                                      "--json")[0])["cells"][0]
        runs = json.loads(self.run_it("run", "service.json", "--runs", "3", "--json")[0])
        mean = sum(r["spans"]["request"]["p99"] for r in runs) / 3
        self.assertAlmostEqual(cell["series"]["request"]["p99"]["mean"], mean)
        self.assertGreater(cell["series"]["request"]["p99"]["half"], 0)


    QUOTA = os.path.join(os.path.dirname(RATE_LIMITER), "../history/gomaxprocs-under-a-quota.json")

    def test_what_a_file_expects_is_about_its_own_settings(self):
        out, _ = self.run_it("whatif", self.QUOTA, "--profile", "go1.24", "--procs", "1,2",
                             "--until", "200ms", "--runs", "1")
        self.assertNotIn("not as", out)
        self.assertIn("per second", out)
        rate = float(re.search(r"request +\d+ +([\d.]+)", out).group(1))
        self.assertGreater(rate, 20000)
        self.assertLess(rate, 26000)
        # a cell with the file's own settings is still held to what the file expects ...
        with open(self.QUOTA, encoding="utf-8") as f:
            wrong = json.load(f)
        wrong["until"] = "20ms"
        with open(self.path("wrong.json"), "w", encoding="utf-8") as f:
            json.dump(wrong, f)
        out, _ = self.run_it("whatif", "wrong.json", "--runs", "1", status=1)
        self.assertIn("1 of 1 runs not as the file expects", out)
        # ... and one that ends in a way that no one expects is a finding
        bad = {"name": "stuck", "why": "test", "procs": 2, "objects": {"c": {"chan": 0}},
               "main": [{"recv": "c"}], "expect": {"end": "finishes"}}
        with open(self.path("bad.json"), "w", encoding="utf-8") as f:
            json.dump(bad, f)
        out, _ = self.run_it("whatif", "bad.json", "--procs", "3", "--runs", "1", status=1)
        self.assertIn("the run ended with: deadlock", out)

    def test_kubernetes_quantities(self):
        out, _ = self.run_it("run", "service.json", "--quota", "500m", "--json", status=0)
        half = json.loads(out)
        self.assertEqual(half["quota_us"], 50000)
        out, _ = self.run_it("run", "service.json", "--quota", "0.5", "--json")
        self.assertEqual(json.loads(out)["fingerprint"], half["fingerprint"])
        out, _ = self.run_it("run", "service.json", "--quota", "1500m", "--json")
        self.assertEqual(json.loads(out)["quota_us"], 150000)

    def test_none_is_a_quota_everywhere(self):
        out, _ = self.run_it("run", self.QUOTA, "--quota", "none", "--until", "50ms", "--json",
                             status=1)
        none = json.loads(out)
        self.assertEqual(none["quota_us"], 0)
        args = shlex.split(none["repeat"])[1:]
        again, _ = self.run_it(*args, "--json", status=1)
        self.assertEqual(json.loads(again)["fingerprint"], none["fingerprint"])
        self.run_it("inspect", self.QUOTA, "--quota", "none", "--at", "1ms")
        self.run_it("whatif", self.QUOTA, "--quota", "none,1500m", "--until", "20ms", "--runs", "1")


class Library(Case):
    def test_a_scenario_is_found_by_its_name(self):
        folder = os.path.join(self.folder.name, "lib", "deep")
        os.makedirs(folder)
        os.rename(self.path("hello.json"), os.path.join(folder, "hello.json"))
        here = {"GMPSIM_SCENARIOS": "/nowhere:" + os.path.join(self.folder.name, "lib")}
        out, _ = self.run_it("run", "hello", env=here)
        self.assertIn("repeat: gmpsim run %s/hello.json" % folder, out)
        self.assertIn("hello.json", self.run_it("scenarios", "list", env=here)[0])
        self.run_it("scenarios", "check", "hello", env=here)
        _, err = self.run_it("run", "helo", env=here, status=2)
        self.assertIn("did you mean hello?", err)
        self.run_it("run", "service.json", env=here)  # a file here comes first

    def test_what_was_built_and_not_installed_has_its_tree_s(self):
        tree = self.path("tree")
        os.makedirs(os.path.join(tree, "build", "demo", "bin"))
        os.makedirs(os.path.join(tree, "scenarios", "deep"))
        built = os.path.join(tree, "build", "demo", "bin", "gmpsim")
        shutil.copy(GMPSIM, built)
        os.rename(self.path("hello.json"), os.path.join(tree, "scenarios", "deep", "hello.json"))
        env = {k: v for k, v in os.environ.items() if k != "GMPSIM_SCENARIOS"}
        for status, schema in (2, None), (0, "schema.json"):
            if schema is not None:  # what has none is some other folder of that name
                shutil.copy(self.path("service.json"), os.path.join(tree, "scenarios", schema))
            done = subprocess.run([built, "run", "hello"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, cwd=self.folder.name, env=env,
                                  check=False)
            self.assertEqual(done.returncode, status, done.stderr)


class Inspect(Case):
    def test_queues_and_goroutines_agree(self):
        state = json.loads(self.run_it("inspect", "service.json", "--at", "2ms", "--json")[0])
        self.assertEqual(state["time_ns"], 2000000)
        queued = set(state["global_queue"])
        for p in state["ps"]:
            queued |= set(p["ring"]) | ({p["runnext"]} - {0})
        status = {g["goid"]: g["status"] for g in state["goroutines"]}
        self.assertGreater(len(status), 3)
        for goid in queued & set(status):
            self.assertEqual(status[goid], "runnable")
        running = {p["runs"] for p in state["ps"]} - {0}
        for goid in running & set(status):
            self.assertIn(status[goid], ("running", "syscall", "waiting", "runnable"))

    def test_stepping_back_comes_to_the_same_state(self):
        commands = "n\nn\nb\nat 3ms\nat 1ms\ng\nwhat\nat 9s\nq\nn\n"
        done = subprocess.run([GMPSIM, "inspect", "service.json", "--at", "1ms", "--step",
                               "20us"], input=commands.encode(), stdout=subprocess.PIPE,
                              cwd=self.folder.name, timeout=60, check=True)
        states = re.split(r"^(?=\d\S+ \(\d+ ns\))", done.stdout.decode(), flags=re.M)[1:]
        times = [int(re.search(r"\((\d+) ns\)", s).group(1)) for s in states]
        self.assertEqual(times[:6], [1000000, 1020000, 1040000, 1020000, 3000000, 1000000])
        self.assertEqual(states[1], states[3])
        self.assertNotEqual(states[0], states[1])
        self.assertTrue(states[5].startswith(states[0]))
        self.assertIn("waiting", states[5])  # g
        self.assertIn("a step back", states[5])  # the mistake
        self.assertIn("the run is over", done.stdout.decode())
        self.assertEqual(len(states), 7)

    def step(self, *args, commands):
        done = subprocess.run([GMPSIM, *args], input=commands.encode(), stdout=subprocess.PIPE,
                              cwd=self.folder.name, timeout=60, check=True)
        states = re.split(r"(?<=\n)(?= *\d+ +\d+\.\d{6}us )", done.stdout.decode())
        return [s for s in states if re.match(r" *\d+ ", s)]

    def test_stepping_by_operations(self):
        states = self.step("inspect", "service.json", "--after-op", "1000", "--stepwise",
                           commands="n\nn\nb\nop 1002\nop 999\n")
        numbers = [int(s.split()[0]) for s in states]
        self.assertEqual(numbers, [1000, 1001, 1002, 1001, 1002, 999])
        self.assertEqual(states[1], states[3])
        self.assertEqual(states[2], states[4])
        _, lines = self.run_it("run", "service.json", "--trace-ops")
        traced = {line.split()[0]: line for line in lines.splitlines() if " == " not in line}
        for state in states:
            self.assertEqual(state.splitlines()[0], traced[state.split()[0]])

    def test_stepping_by_records(self):
        states = self.step("run", "service.json", "--step", commands="n\n" * 30 + "b\n" * 29)
        self.assertEqual(len(states), 59)
        self.assertEqual(states[:29], states[30:][::-1])

    def test_a_state_after_an_operation(self):
        def look(n):
            return json.loads(self.run_it("inspect", "service.json", "--after-op", str(n),
                                          "--json")[0])
        self.assertEqual(look(3000), look(3000))
        self.assertLess(look(1000)["time_ns"], look(4000)["time_ns"])
        _, err = self.run_it("inspect", "hello.json", "--after-op", "999999")
        self.assertIn("had ended", err)
        _, err = self.run_it("inspect", "hello.json", "--after-op", "9", "--at", "1ms", status=2)
        self.assertIn("not both", err)

    def test_timers(self):
        state = json.loads(self.run_it("inspect", "service.json", "--at", "2ms", "--json")[0])
        sleepers = {g["goid"] for g in state["goroutines"] if g["reason"] == "sleep"}
        timers = {t["goid"] for p in state["ps"] for t in p["timers"]}
        self.assertGreater(len(sleepers), 3)
        self.assertLessEqual(len(sleepers - timers), 2)  # on the way to sleep, or just woken

    def test_after_the_end(self):
        _, err = self.run_it("inspect", "hello.json", "--at", "1s")
        self.assertIn("had ended", err)


class Doctor(Case):
    def test_two_processes_agree(self):
        first, _ = self.run_it("doctor", "--fingerprints")
        self.assertGreaterEqual(len(first.splitlines()), 12)
        self.assertEqual(first, self.run_it("doctor", "--fingerprints")[0])
        self.assertIn("every world repeats", self.run_it("doctor")[0])


class Scenarios(Case):
    def test_a_seed_of_the_environment_is_taken_whole_or_refused(self):
        out, _ = self.run_it("run", "hello.json", "--json", env={"GMPSIM_SEED": "0x10"})
        self.assertEqual(json.loads(out)["seed"], "16")
        for seed in ("99999999999999999999", "-1", "1x", "x"):
            _, err = self.run_it("run", "hello.json", status=2, env={"GMPSIM_SEED": seed})
            self.assertIn("GMPSIM_SEED", err)

    def test_a_machine_that_is_too_large_is_refused_where_it_is_said(self):
        with open(self.path("large.json"), "w", encoding="utf-8") as f:
            json.dump({**HELLO, "host": {"cpus": 1025}}, f)
        _, err = self.run_it("run", "large.json", status=2)
        self.assertRegex(err, r"large.json:1:\d+: .*1024")

    def test_a_file_that_may_not_grow_is_an_error(self):
        for option in ("--jsonl", "--perfetto", "--db"):
            done = subprocess.run(
                [GMPSIM, "run", "service.json", option, "out"], cwd=self.folder.name,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=60,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)))
            self.assertEqual(done.returncode, 2, option)
            self.assertNotEqual(done.stderr, b"")
            os.remove(self.path("out"))

    def test_a_file_without_an_end_is_refused(self):
        for verb in ("show", "gen-go", "check"):
            self.run_it("scenarios", verb, "/dev/zero", status=2)
        self.run_it("run", "/dev/zero", status=2)

    def test_check_finds_what_does_not_hold(self):
        with open(self.path("refused.json"), "w", encoding="utf-8") as f:
            f.write("{}")
        out, _ = self.run_it("scenarios", "check", "hello.json", "refused.json", status=2)
        self.assertIn("2 scenarios, 0 of 1 runs not as expected, 1 files refused", out)
        out, _ = self.run_it("scenarios", "check", "hello.json", "--repeat", "2")
        self.assertIn("0 of 1 runs not as expected", out)
        out, _ = self.run_it("scenarios", "check", "hello.json", "stuck.json", status=1)
        self.assertIn("1 of 2 runs not as expected", out)
        self.assertIn("stuck.json: go1.27: deadlock", out)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[1:])
