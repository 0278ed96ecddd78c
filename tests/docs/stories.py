#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: the stories of docs/stories happen as they are told. Method: files are written as they
stand there, every command is run, and what is shown of its output comes, line after line: `...`
stands for lines, or for the rest of one, and a number may be off by a twentieth, so that a cost
that was measured anew makes no story false.

usage: stories.py GMPSIM [STORY...]
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
FOLDER = os.path.join(ROOT, "docs", "stories")
GMPSIM = os.path.abspath(sys.argv[1])
SECONDS, SHARE, SMALL = 300, 0.05, 20
NUMBER = r"\d+(?:\.\d+)?"


def blocks(text):
    """(kind, name, content) of the fenced blocks."""
    return re.findall(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", text, re.M | re.S)


def commands(block):
    """(command, lines that are shown) of a session."""
    found = []
    for line in block.rstrip("\n").split("\n"):
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif not found:
            sys.exit("stories: output before a command: " + line)
        else:
            found[-1][1].append(line)
    return found


def same_number(shown, got):
    a, b = float(shown), float(got)
    if "." not in shown and a <= SMALL:
        return a == b
    return abs(a - b) <= SHARE * max(abs(a), abs(b))


def same_line(shown, got):
    whole = not shown.endswith("...")
    shown = shown[:-3] if not whole else shown
    words, theirs = (re.split("(%s)" % NUMBER, line.rstrip()) for line in (shown, got))
    if len(theirs) < len(words) or (whole and len(theirs) != len(words)):
        return False
    for i, (a, b) in enumerate(zip(words, theirs)):
        last = i + 1 == len(words) and not whole
        if i % 2 == 1:
            if not same_number(a, b):
                return False
        elif re.sub(r"\s+", " ", a) != re.sub(r"\s+", " ", b) and \
                not (last and re.sub(r"\s+", " ", b).startswith(re.sub(r"\s+", " ", a))):
            return False
    return True


def first_missing(shown, got):
    """What is shown and does not come, in this order; None: all of it comes."""
    at, jump = 0, False
    for line in shown:
        if line == "...":
            jump = True
            continue
        while at < len(got) and not same_line(line, got[at]):
            if not jump:
                return line
            at += 1
        if at == len(got):
            return line
        at, jump = at + 1, False
    return None if jump or at == len(got) or not shown else "the end, but there came: " + got[at]


def tell(name):
    """False: it does not happen like that."""
    with open(os.path.join(FOLDER, name), encoding="utf-8") as f:
        text = f.read()
    with tempfile.TemporaryDirectory() as room:
        os.mkdir(os.path.join(room, "bin"))
        os.symlink(GMPSIM, os.path.join(room, "bin", "gmpsim"))
        env = {**os.environ, "PATH": os.path.join(room, "bin") + ":" + os.environ["PATH"],
               "GMPSIM_SCENARIOS": os.path.join(ROOT, "scenarios")}
        ran = 0
        for kind, file, content in blocks(text):
            if kind == "json" and file:
                with open(os.path.join(room, file), "w", encoding="utf-8") as f:
                    f.write(content)
                continue
            for command, shown in commands(content):
                if "--plot" in command or " plot " in command:
                    if shutil.which("gnuplot") is None:
                        print("%s: not run, there is no gnuplot: %s" % (name, command))
                        continue
                done = subprocess.run(["sh", "-c", command], cwd=room, env=env, timeout=SECONDS,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, check=False)
                ran += 1
                got = done.stdout.decode().rstrip("\n").split("\n")
                missing = first_missing(shown, got)
                if missing is not None:
                    print("%s: %s\n  shown, and did not come: %s\n%s" %
                          (name, command, missing, "\n".join(got)))
                    return False
    print("%s: %d commands" % (name, ran))
    return ran > 0


def self_test():
    assert same_line("p99 561.3us x 1.176", "p99   570.0us x 1.18")
    assert not same_line("p99 561.3us", "p99 661.3us")
    assert not same_line("procs 2", "procs 3")
    assert not same_line("a", "b") and not same_line("a", "a b")
    assert same_line("nothing found in ...", "nothing found in 9 schedules")
    assert first_missing(["a", "...", "c"], ["a", "b", "c"]) is None
    assert first_missing(["a", "c"], ["a", "b", "c"]) == "c"
    assert first_missing(["a"], ["a", "b"]) is not None
    assert first_missing(["a", "..."], ["a", "b"]) is None
    assert commands("$ x\none\n$ y\n") == [("x", ["one"]), ("y", [])]


def main():
    self_test()
    names = sys.argv[2:] or sorted(os.listdir(FOLDER))
    if len(names) < 4 and not sys.argv[2:]:
        sys.exit("stories: some are missing")
    return 0 if all([tell(n) for n in names]) else 1


if __name__ == "__main__":
    sys.exit(main())
