#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every kernel's defect is found within few schedules by default; without it, nothing is."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import kernels  # noqa: E402

GMPSIM = os.path.abspath(sys.argv[1])
MOST = 100  # schedules to the first finding


def explore(folder, name, body):
    path = os.path.join(folder, "kernel.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(kernels.scenario(name, body), f)
    done = subprocess.run([GMPSIM, "explore", path, "--json", "--runs", "300", "--schedule",
                           os.path.join(folder, "x.schedule")],
                          capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def main():
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (want, broken, fixed) in kernels.KERNELS.items():
            got = explore(folder, name, broken)
            found = got["finding"]["verdict"] if got["found"] else "nothing"
            if found != want or got["schedules_to_first"] > MOST:
                bad.append("%s: want %s, got %s" % (name, want, found))
            if fixed is not None and explore(folder, name, fixed)["found"]:
                bad.append("%s: a finding where nothing is wrong" % name)
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
