#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: the reader says what Go's own reader says: every event with its time and stacks, and which
files are broken.

usage: reader.py TRACE_DUMP [FOLDER...]        compares with golden.tsv and mint/verdicts.tsv
       reader.py --golden ORACLE               makes golden.tsv anew (see oracle/build.py)
       reader.py --oracle ORACLE TRACE_DUMP FILE...  compares with Go here and now
       reader.py --suite ORACLE TRACE_DUMP FOLDER    Go's own tests (internal/trace/testdata/tests)

golden.tsv has the number of events and the SHA-256 of all that Go 1.27's reader prints of each
trace in recorded/. What only one side prints (clock snapshots, arguments of experiments)
is left out.
"""
import glob
import gzip
import hashlib
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ONLY_GO = re.compile(rb" Trace=\d+ Mono=.*|(?<= Name=)(\w+) Args=\[.*", re.M)
bad = 0


def wrong(text):
    global bad
    bad += 1
    print(text)


def dump(program, path):
    run = subprocess.run([program, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if run.returncode != 0:
        wrong("%s: exit status %d: %s" % (path, run.returncode, run.stderr[-300:]))
    return run.stdout


def go_dump(oracle, path):
    data = subprocess.run([oracle, "dump", path], stdout=subprocess.PIPE, check=True).stdout
    return ONLY_GO.sub(lambda m: m[1] or b"", data)


def plain(path, folder):
    """The trace, unpacked, as a file: Go's reader does not unpack."""
    if not path.endswith((".gz", ".zst")):
        return path
    out = os.path.join(folder, "plain.trace")
    with open(out, "wb") as f:
        if path.endswith(".gz"):
            f.write(gzip.open(path).read())
        else:
            subprocess.run(["zstd", "-dqc", path], stdout=f, check=True)
    return out


def summary(text):
    return (len(re.findall(rb"^M=-?\d+ P=", text, re.M)), hashlib.sha256(text).hexdigest())


def recorded():
    return sorted(glob.glob(os.path.join(HERE, "recorded", "*")))


def make_golden(oracle):
    with open(os.path.join(HERE, "golden.tsv"), "w") as out, tempfile.TemporaryDirectory() as tmp:
        out.write("# file\tevents\tSHA-256 of what Go's reader prints\n")
        for path in recorded():
            out.write("%s\t%d\t%s\n" % ((os.path.basename(path),) +
                                        summary(go_dump(oracle, plain(path, tmp)))))


def rows(name):
    with open(os.path.join(HERE, name)) as f:
        return [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]


def check_golden(program):
    for name, events, digest in rows("golden.tsv"):
        got = summary(dump(program, os.path.join(HERE, "recorded", name)))
        if got != (int(events), digest):
            wrong("%s: %d events, sha256 %s: Go has %s, %s" % ((name,) + got + (events, digest)))


def check_mint(program):
    for name, accepted, syncs, about in rows(os.path.join("mint", "verdicts.tsv")):
        text = dump(program, os.path.join(HERE, "mint", name))
        got = "no" if text.endswith(b"error\n") else "yes"
        found = len(re.findall(rb"^M=-1 P=-1 G=-1 Sync", text, re.M))
        if (got, found) != (accepted, int(syncs)):
            wrong("%s (%s): accepted: %s, %d syncs; Go: %s, %s"
                  % (name, about, got, found, accepted, syncs))


def check_oracle(oracle, program, paths):
    with tempfile.TemporaryDirectory() as tmp:
        for path in paths:
            if go_dump(oracle, plain(path, tmp)) != dump(program, path):
                wrong("%s: not what Go reads" % path)


def check_suite(oracle, program, folder):
    files = sorted(glob.glob(os.path.join(folder, "*.test")))
    if not files:
        print("no *.test in", folder)
        sys.exit(77)
    with tempfile.TemporaryDirectory() as tmp:
        for path in files:
            trace = os.path.join(tmp, "x.trace")
            with open(trace, "wb") as f:
                subprocess.run([oracle, "unpack", path], stdout=f, check=True)
            said = subprocess.run([oracle, "expect", path], stdout=subprocess.PIPE, check=True)
            text = dump(program, trace)
            got = b"FAILURE\n" if text.endswith(b"error\n") else b"SUCCESS\n"
            if got != said.stdout:
                wrong("%s: %s, the suite says %s" % (path, got, said.stdout))
            if text != go_dump(oracle, trace):
                wrong("%s: not what Go reads" % path)
    print("%d files of Go's suite" % len(files))


def main():
    args = sys.argv[1:]
    if args[0] == "--golden":
        make_golden(args[1])
    elif args[0] == "--oracle":
        check_oracle(args[1], args[2], args[3:])
    elif args[0] == "--suite":
        check_suite(args[1], args[2], args[3])
    else:
        check_golden(args[0])
        check_mint(args[0])
    sys.exit(1 if bad else 0)


main()
