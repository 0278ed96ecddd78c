#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: Go's own conformance suite of the trace format is accepted and rejected as it states.

usage: suite.py TRACE_DUMP WIRE_DEF

Method: internal/trace/testdata/tests/*.test of every installed Go are text; they are turned into
traces here and given to the reader. Exit status 77: no sources of Go are installed.
"""
import ast
import glob
import os
import re
import subprocess
import sys
import tempfile

PLACES = ["/usr/lib/go-*/src", "/usr/share/go-*/src", "/usr/local/go/src", "/opt/go*/src",
          "/usr/lib/go/src"]
TESTS = ["internal/trace/testdata/tests/*.test", "internal/trace/v2/testdata/tests/*.test"]


def varint(n):
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7f | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def event_numbers(path):
    with open(path) as f:
        found = re.findall(r'^WIRE\( *(\d+), \w+, +"(\w+)"', f.read(), re.M)
    return {name: int(number) for number, name in found}


def trace_of(text, numbers):
    lines = text.split("\n")
    head = re.match(r"Trace Go(1\.\d+)", lines[0])
    out = bytearray(("go %s trace" % head[1]).encode().ljust(16, b"\0"))
    for line in lines[1:]:
        line = line.split("#")[0] if "data=" not in line else line
        words = line.split()
        if not words:
            continue
        if line.strip().startswith("data="):
            data = ast.literal_eval("b" + line.strip()[5:])
            out += varint(len(data)) + data
            continue
        if words[0] in numbers:
            out.append(numbers[words.pop(0)])
        for word in words:
            out += varint(int(word.split("=")[1]))
    return bytes(out)


def main():
    program, numbers = sys.argv[1], event_numbers(sys.argv[2])
    roots = [os.environ["GOROOT"] + "/src"] if "GOROOT" in os.environ else []
    roots += [root for place in PLACES for root in glob.glob(place)]
    files = sorted({os.path.realpath(f) for root in roots for t in TESTS
                    for f in glob.glob(os.path.join(root, t))})
    if not files:
        print("no sources of Go with internal/trace/testdata/tests (Debian: golang-1.2x-src)")
        sys.exit(77)
    bad = 0
    with tempfile.TemporaryDirectory() as tmp:
        for path in files:
            with open(path) as f:
                expect, text = re.fullmatch(r"-- expect --\n(.*?)\n-- trace --\n(.*)", f.read(),
                                            re.S).groups()
            trace = os.path.join(tmp, "x.trace")
            with open(trace, "wb") as f:
                f.write(trace_of(text, numbers))
            run = subprocess.run([program, trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            rejected = run.returncode != 0 or run.stdout.endswith(b"error\n")
            if rejected != expect.startswith("FAILURE"):
                print("%s: the suite says %s, here: %s" % (path, expect, run.stderr.decode()))
                bad += 1
    print("%d files, %d wrong" % (len(files), bad))
    sys.exit(1 if bad else 0)


main()
