#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds Go's own trace reader as a program.

usage: build.py GO OUT

internal/trace cannot be imported from outside of Go's tree, so its sources are copied from the
toolchain GO and renamed. OUT is the program. Exit status 77: this toolchain has none (no sources,
or older than 1.25, whose reader has another shape).
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = {"testdata", "traceviewer"}


def copy(src, dst):
    for folder, folders, files in os.walk(src):
        folders[:] = [f for f in folders if f not in SKIPPED]
        for name in files:
            if not name.endswith(".go") or name.endswith("_test.go"):
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                text = f.read()
            if '"internal/testenv"' in text:
                continue
            text = re.sub(r'"internal/(trace|txtar)', r'"oracle/\1', text)
            to = os.path.join(dst, os.path.relpath(folder, src))
            os.makedirs(to, exist_ok=True)
            with open(os.path.join(to, name), "w", encoding="utf-8") as f:
                f.write(text)


def main():
    go, out = sys.argv[1], os.path.abspath(sys.argv[2])
    root = subprocess.run([go, "env", "GOROOT"], stdout=subprocess.PIPE, check=True,
                          env=dict(os.environ, GOTOOLCHAIN="local")).stdout.decode().strip()
    src = os.path.join(root, "src", "internal")
    if not os.path.exists(os.path.join(src, "trace", "tracev2")):
        print("%s has no sources of a trace reader of today" % go)
        sys.exit(77)
    with tempfile.TemporaryDirectory() as tmp:
        copy(os.path.join(src, "trace"), os.path.join(tmp, "trace"))
        copy(os.path.join(src, "txtar"), os.path.join(tmp, "txtar"))
        shutil.copy(os.path.join(HERE, "main.go"), tmp)
        with open(os.path.join(tmp, "go.mod"), "w", encoding="utf-8") as f:
            f.write("module oracle\n\ngo 1.24\n")
        env = dict(os.environ, GOTOOLCHAIN="local", GOFLAGS="", CGO_ENABLED="0", GO111MODULE="on",
                   GOPROXY="off", GOWORK="off")
        subprocess.run([go, "build", "-trimpath", "-o", out, "."], cwd=tmp, env=env, check=True)


main()
